/* SPDX-License-Identifier: Apache-2.0
 *
 * Which loop over k the thread blocks of a cluster share (schedule/split_k.c), and the layouts of the tiles behind it.
 * ts__split_plan takes a loop of one product, at the top of a function that does nothing else before it and behind it
 * nothing but elementwise work, loads and stores through views. A part of the sum is laid out as the store wants it.
 */
#include "gpu/plan/assign.h"
#include "gpu/plan/part.h"
#include "ir/note.h"

/* ---- which loop ------------------------------------------------------------------------------------------ */

static bool split_acts_before(const ts_fn *fn, ts_val loop)
{
    for (ts_val v = 1; v < loop; v++)
        if (ts_info(ts_at(fn, v))->flags & (TS_WRITE | TS_SIDE) && !ts_part_orders_grids((ts_op)ts_at(fn, v)->op))
            return true;
    return false;
}

/* 1 up in each trip, one carried value, which starts from zero. */
static bool split_is_plain(const ts_fn *fn, ts_val loop)
{
    int64_t step;
    uint64_t bits;
    if (ts_at(fn, loop)->n_opnd != 4 || !ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step) || step != 1)
        return false;
    return ts__const_bits(fn, ts_opnd(fn, loop, 3), &bits) && bits == 0;
}

/* What the blocks can do with a part each. */
static bool split_divides(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    switch ((int)inst->op) {
    case TS_OP_mmaf:
    case TS_OP_mmai:
    case TS_OP_mmaf_scaled:
        return false;
    case TS_OP_load_view_tko:
    case TS_OP_store_view_tko:
        return TS_M_GET_ORDER(inst->aux) == TS_WEAK;
    default:
        return !(ts_info(inst)->flags & (TS_READ | TS_WRITE | TS_SIDE | TS_REGION)) ||
               ts_part_orders_grids((ts_op)inst->op);
    }
}

static bool split_divides_behind(const ts_fn *fn, ts_val v)
{
    for (; v < fn->inst.n && ts_at(fn, v)->op != TS_OP_return; v++)
        if (!split_divides(fn, v))
            return false;
    return true;
}

void ts__split_plan(const ts_fn *fn, const ts_shape *shape, ts_tma *tma)
{
    const ts_wgmma *product = tma->products.n == 1 ? &tma->products.at[0] : NULL;
    if (fn->num_ctas <= 1 || tma->rank || !product || !product->waits_next_step || tma->groups.n != 1)
        return;
    ts_val loop = shape->parent[product->mma];
    uint32_t stages = tma->groups.at[0].bytes * tma->groups.at[0].stages;
    bool good = !shape->parent[loop] && tma->groups.at[0].loop == loop && split_is_plain(fn, loop) &&
                !split_acts_before(fn, loop) && split_divides_behind(fn, shape->end[loop] + 1) &&
                (uint64_t)ts_type_count(fn->module, ts_type_of(fn, product->mma)) * 4 <= stages;
    if (!good) {
        ts__note(fn, product->mma, TS_NOTE_missed, "cluster",
                "num_ctas shares a loop over k that starts from zero, at the kernel's top, with nothing stored before "
                "and nothing but elementwise work, loads and stores behind it");
        return;
    }
    tma->split = loop;
    tma->sum = shape->end[loop] + 1;
    tma->log_split = TS_MIN(3u, (uint32_t)ts_log2(fn->num_ctas));
}

/* ---- layouts ----------------------------------------------------------------------------------------------- */

void ts__split_apart(ts_assign *assign)
{
    const ts_tma *tma = &assign->tma;
    if (!tma->split)
        return;
    assign->n_warp = tma->n_warp;
    assign->n_cta = 0;
    assign->home[tma->sum] = assign->home[tma->split + 2]; /* as the product leaves it */
}

void ts__split_together(ts_assign *assign)
{
    assign->n_cta = assign->tma.log_split;
    assign->n_warp = assign->tma.n_warp + assign->n_cta;
}

/* The store that the sum ends in; 0 = none. */
static ts_val split_store(const ts_fn *fn, ts_val sum)
{
    int64_t count = ts_type_count(fn->module, ts_type_of(fn, sum));
    for (ts_val v = sum + 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_store_view_tko &&
            ts_type_count(fn->module, ts_type_of(fn, ts_opnd(fn, v, 1))) == count)
            return v;
    return 0;
}

const ts_linear *ts__split_share(ts_assign *assign, const ts_fn *fn)
{
    ts_val sum = assign->tma.sum, store = split_store(fn, sum);
    ts_type type = ts_type_of(fn, store ? ts_opnd(fn, store, 1) : sum);
    ts__split_together(assign);
    assign->tma.share = store ? ts__assign_for_view(assign, fn, ts_opnd(fn, store, 0), type)
                              : ts__assign_default(assign, fn->module, type, TS_NO);
    return assign->tma.share;
}
