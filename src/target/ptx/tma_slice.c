/* SPDX-License-Identifier: Apache-2.0
 *
 * What the producer needs (tma.h): the loads, the loops around them, and the scalars that bounds and indices are made
 * of. It must be able to compute all of them by itself. Cost: linear.
 */
#include "target/ptx/tma_plan.h"

static bool tma_slice_value(tma_work *w, ts_val v);

static bool tma_slice_operands(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!tma_slice_value(w, ts_opnds(w->fn, inst)[i]))
            return false;
    return true;
}

/* A carried scalar of a `for`: its start and what each trip hands on. */
static bool tma_slice_arg(tma_work *w, ts_val v)
{
    ts_val loop = w->shape.parent[v], last = w->shape.end[loop] - 1;
    uint32_t i = ts_at(w->fn, v)->aux;
    if (ts_at(w->fn, loop)->op != TS_OP_for || ts_at(w->fn, last)->op != TS_OP_continue)
        return false;
    if (i == 0)
        return true;
    return tma_slice_value(w, ts_opnd(w->fn, loop, 2 + i)) && tma_slice_value(w, ts_opnd(w->fn, last, i - 1));
}

static bool tma_slice_view(tma_work *w, ts_val v)
{
    ts_val view = ts_opnd(w->fn, v, 0);
    while (ts_at(w->fn, view)->op != TS_OP_make_tensor_view)
        view = ts_opnd(w->fn, view, 0);
    return tma_slice_operands(w, view);
}

/* Marks a scalar and what it is made of; false when the producer cannot compute it. */
static bool tma_slice_value(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (w->out->slice[v])
        return true;
    if (ts_type_kind(w->module, inst->type) != TS_KIND_SCALAR && ts_type_kind(w->module, inst->type) != TS_KIND_PTR)
        return false;
    w->out->slice[v] = 1;
    switch ((int)inst->op) {
    case TS_OP_arg:
        return tma_slice_arg(w, v);
    case TS_OP_param:
    case TS_OP_constant:
    case TS_OP_get_tile_block_id:
    case TS_OP_get_num_tile_blocks:
        return true;
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        return tma_slice_view(w, v);
    case TS_OP_assume:
        return tma_slice_operands(w, v);
    default:
        return ts_info(inst)->flags & TS_ELEM && tma_slice_operands(w, v);
    }
}

/* The loops around a load must be `for`s that run to their end, down from the function's body. */
static bool tma_slice_load(tma_work *w, ts_val load)
{
    const ts_type_info *info = ts_type_get(w->module, ts_type_of(w->fn, ts_opnd(w->fn, load, 0)));
    for (uint32_t i = 0; i < info->rank; i++)
        if (!tma_slice_value(w, ts_opnd(w->fn, load, 1 + i)))
            return false;
    w->out->slice[load] = 1;
    for (ts_val p = w->shape.parent[load]; p; p = w->shape.parent[p]) {
        if (ts_at(w->fn, p)->op != TS_OP_for)
            return false;
        w->out->slice[p] = 1;
        for (uint32_t i = 0; i < 3; i++)
            if (!tma_slice_value(w, ts_opnd(w->fn, p, i)))
                return false;
    }
    return true;
}

/* A wait for the grid before that the producer would not come to. */
static bool tma_waits_elsewhere(const tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_gdc_wait_tko && w->shape.parent[v] && !w->out->slice[w->shape.parent[v]])
            return true;
    return false;
}

/* A `return` inside control flow would leave the producer behind. */
static bool tma_returns_early(const tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_return && w->shape.parent[v])
            return true;
    return false;
}

bool ts__tma_slice(tma_work *w)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (!w->out->loads.at[i].made && !tma_slice_load(w, w->out->loads.at[i].load))
            return false;
    return !tma_returns_early(w) && !tma_waits_elsewhere(w);
}
