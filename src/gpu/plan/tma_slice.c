/* SPDX-License-Identifier: Apache-2.0
 *
 * What the producer needs (tma.h): the slice of the function that leads to its loads, back from their indices through
 * scalar arithmetic, carried scalars and bounds of `for` loops to parameters, constants, block numbers and single
 * elements of arrays that are only read. Marks `slice`; refuses what the producer could not compute. Cost: linear.
 */
#include "gpu/plan/tma_plan.h"
#include "gpu/plan/view.h"

static bool slice_value(ts_tma_work *w, ts_val v);

static bool slice_operands(ts_tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!slice_value(w, ts_opnds(w->fn, inst)[i]))
            return false;
    return true;
}

/* A carried scalar of a `for`: its start and what each trip hands on. */
static bool slice_arg(ts_tma_work *w, ts_val v)
{
    ts_val loop = w->shape.parent[v], last = w->shape.end[loop] - 1;
    uint32_t i = ts_at(w->fn, v)->aux;
    if (ts_at(w->fn, loop)->op != TS_OP_for || ts_at(w->fn, last)->op != TS_OP_continue)
        return false;
    if (i == 0)
        return true;
    return slice_value(w, ts_opnd(w->fn, loop, 2 + i)) && slice_value(w, ts_opnd(w->fn, last, i - 1));
}

static bool slice_view(ts_tma_work *w, ts_val v)
{
    return slice_operands(w, ts__view_make(w->fn, ts_opnd(w->fn, v, 0)));
}

/* One element of an array that is only read: the producer loads it too. */
static bool slice_element(ts_tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (inst->op == TS_OP_reshape && ts_type_count(w->module, ts_type_of(w->fn, inst->opnd[0])) == 1) {
        w->out->slice[v] = 1;
        return slice_element(w, inst->opnd[0]);
    }
    if (inst->op != TS_OP_load_view_tko || ts_type_count(w->module, inst->type) != 1 ||
        TS_M_GET_ORDER(inst->aux) != TS_WEAK)
        return false;
    int32_t root = ts__tma_root(w->fn, ts_opnd(w->fn, v, 0));
    if (root < 0 || ts__tma_is_stored(w, root) || !slice_view(w, v))
        return false;
    w->out->slice[v] = 1;
    const ts_type_info *info = ts_type_get(w->module, ts_type_of(w->fn, ts_opnd(w->fn, v, 0)));
    for (uint32_t i = 0; i < info->rank; i++)
        if (!slice_value(w, ts_opnd(w->fn, v, 1 + i)))
            return false;
    return true;
}

/* Marks a scalar and what it is made of; false when the producer cannot compute it. */
static bool slice_value(ts_tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (w->out->slice[v])
        return true;
    if (ts_type_kind(w->module, inst->type) != TS_KIND_SCALAR && ts_type_kind(w->module, inst->type) != TS_KIND_PTR)
        return false;
    w->out->slice[v] = 1;
    switch ((int)inst->op) {
    case TS_OP_arg:
        return slice_arg(w, v);
    case TS_OP_param:
    case TS_OP_constant:
    case TS_OP_get_tile_block_id:
    case TS_OP_get_num_tile_blocks:
    case TS_OP_sreg:
        return true;
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        return slice_view(w, v);
    case TS_OP_assume:
        return slice_operands(w, v);
    case TS_OP_load_view_tko:
    case TS_OP_reshape:
        return slice_element(w, v);
    default:
        return ts_info(inst)->flags & TS_ELEM && slice_operands(w, v);
    }
}

/* The loops around a load must be `for`s that run to their end, down from the function's body. */
static bool slice_load(ts_tma_work *w, ts_val load)
{
    const ts_type_info *info = ts_type_get(w->module, ts_type_of(w->fn, ts_opnd(w->fn, load, 0)));
    for (uint32_t i = 0; i < info->rank; i++)
        if (!slice_value(w, ts_opnd(w->fn, load, 1 + i)))
            return false;
    w->out->slice[load] = 1;
    const ts_tma_load *l = ts__tma_load_at(w->out, load);
    if (l->start && (!slice_value(w, l->start) || !slice_value(w, l->extent)))
        return false;
    for (ts_val p = w->shape.parent[load]; p; p = w->shape.parent[p]) {
        if (ts_at(w->fn, p)->op != TS_OP_for)
            return false;
        w->out->slice[p] = 1;
        for (uint32_t i = 0; i < 3; i++)
            if (!slice_value(w, ts_opnd(w->fn, p, i)))
                return false;
    }
    return true;
}

/* A wait for the grid before that the producer would not come to. */
static bool slice_waits_elsewhere(const ts_tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_gdc_wait_tko && w->shape.parent[v] && !w->out->slice[w->shape.parent[v]])
            return true;
    return false;
}

/* A `return` inside control flow would leave the producer behind. */
static bool slice_returns_early(const ts_tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_return && w->shape.parent[v])
            return true;
    return false;
}

bool ts__tma_slice(ts_tma_work *w)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (!w->out->loads.at[i].by_consumers && !slice_load(w, w->out->loads.at[i].load))
            return false;
    return !slice_returns_early(w) && !slice_waits_elsewhere(w);
}
