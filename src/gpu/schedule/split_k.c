/* SPDX-License-Identifier: Apache-2.0
 *
 * Products that are deep but small: the thread blocks of a cluster (`num_ctas`) share the trips of the loop over K, so
 * that they keep more of the machine busy. Then each adds up its part of the sums and goes on with that part alone:
 *
 *     for k in (lo, hi)            for k in (lo + rank * each, min(hi, lo + (rank + 1) * each))
 *       acc += ..                    acc += ..
 *     store f(acc)                 write acc to own stages;   cluster barrier
 *                                  part = own + that of rank ^ 1 + that of rank ^ 2 ..;   arrive
 *                                  store f(part);   wait until nobody reads this block's memory any more
 *
 * Behind the loop the cluster is one large block whose upper warp bits number the blocks, as in kernels without
 * products (cluster.c): layouts deal tiles out to all of them, and every operation finds its elements there. A part is
 * laid out as the store wants it. Each element's sum has one order, whoever comes first, so results are the same bits
 * each time; no memory outside the kernel is used. ts__split_plan takes a loop of one product, at the top of a function
 * that does nothing else before it and behind it nothing but elementwise work, loads and stores through views.
 */
#include "gpu/layout/assign.h"
#include "gpu/lower/lower.h"

/* ---- which loop ------------------------------------------------------------------------------------------ */

static bool split_orders_grids(ts_op op)
{
    return op == TS_OP_gdc_wait_tko || op == TS_OP_gdc_launch_dependents_tko;
}

static bool split_acts_before(const ts_fn *fn, ts_val loop)
{
    for (ts_val v = 1; v < loop; v++)
        if (ts_info(ts_at(fn, v))->flags & (TS_WRITE | TS_SIDE) && !split_orders_grids((ts_op)ts_at(fn, v)->op))
            return true;
    return false;
}

/* 1 up in each trip, one carried value, which starts from zero. */
static bool split_is_plain(const ts_fn *fn, ts_val loop)
{
    int64_t step;
    uint64_t bits;
    if (ts_at(fn, loop)->n_opnd != 4 || !ts_const_as_int(fn, ts_opnd(fn, loop, 2), &step) || step != 1)
        return false;
    return ts_const_bits(fn, ts_opnd(fn, loop, 3), &bits) && bits == 0;
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
               split_orders_grids((ts_op)inst->op);
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
    if (fn->num_ctas <= 1 || !product || !product->late || tma->groups.n != 1)
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

static void split_together(ts_assign *assign)
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
    split_together(assign);
    assign->tma.share = store ? ts__assign_for_view(assign, fn, ts_opnd(fn, store, 0), type)
                              : ts__assign_default(assign, fn->module, type, TS_NO);
    return assign->tma.share;
}

/* ---- the trips of this block ------------------------------------------------------------------------------- */

static ts_val split_rank(ts_lower *lw)
{
    return ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0), 0);
}

void ts__split_bounds(ts_lower *lw, ts_val loop, ts_val bound[2])
{
    const ts_tma *tma = &lw->assign.tma;
    if (!tma->active || tma->split != loop)
        return;
    ts_val count = ts_lower_op2(lw, TS_OP_subi, bound[1], bound[0]), log = ts__lower_i32(lw, tma->log_split);
    ts_val each = ts_lower_op2(lw, TS_OP_shri, ts__lower_add(lw, count, (1 << tma->log_split) - 1), log);
    ts_val low = ts_lower_op2(lw, TS_OP_addi, bound[0], ts_lower_op2(lw, TS_OP_muli, split_rank(lw), each));
    bound[1] = ts_lower_op2(lw, TS_OP_mini, bound[1], ts_lower_op2(lw, TS_OP_addi, low, each));
    bound[0] = low;
}

/* ---- the sums ------------------------------------------------------------------------------------------------ */

static void split_meet(ts_lower *lw)
{
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, 0, 0);
    ts_emit(&lw->b, TS_OP_cluster_wait, TS_T_none, 0, NULL, 0, 0);
}

/* From now on the threads of all blocks are numbered through. */
static void split_unite(ts_lower *lw)
{
    uint32_t shift = TS_LAYOUT_LANES + lw->assign.n_warp;
    ts_val rank = ts_lower_op2(lw, TS_OP_shli, split_rank(lw), ts__lower_i32(lw, shift));
    split_together(&lw->assign);
    lw->assign.home[lw->assign.tma.sum] = lw->assign.tma.share;
    lw->tid = ts_lower_op2(lw, TS_OP_ori, lw->tid, rank);
}

/* Loads of another block's memory take long: as many as registers allow are under way together. */
enum { SPLIT_BATCH = 64 };

/* The parts that blocks rank ^ `from`, .. have of this thread's registers. */
static void split_fetch(ts_lower *lw, ts_type elem, const ts_move *move, uint32_t from, uint32_t n, ts_val *parts)
{
    const ts_linear *share = lw->assign.tma.share;
    ts_val own = ts__shared_of_cta(lw, elem, lw->assign.tma.groups.at[0].base, TS_NO), rank = split_rank(lw);
    for (uint32_t i = 0; i < n; i++) {
        ts_val opnds[] = {own, ts_lower_op2(lw, TS_OP_xori, rank, ts__lower_i32(lw, from + i))};
        ts_val base = ts_emit(&lw->b, TS_OP_mapa, ts_type_of(lw->fn, own), 2, opnds, 0, 0);
        ts__lower_load_shared(lw, elem, share, move->offset, base, parts + (i << share->n_reg));
    }
}

static ts_val *split_sum(ts_lower *lw, ts_type elem, const ts_move *move)
{
    const ts_linear *share = lw->assign.tma.share;
    uint32_t n = 1u << share->n_reg, blocks = 1u << lw->assign.tma.log_split;
    uint32_t batch = TS_MIN(blocks, TS_MAX(1u, SPLIT_BATCH / n));
    ts_op add = elem == TS_T_f32 ? TS_OP_addf : TS_OP_addi;
    ts_val *sum = ts__lower_regs(lw, share), *parts = TS_NEW_N(lw->arena, ts_val, batch * n);
    for (uint32_t from = 0; parts && from < blocks; from += batch) {
        split_fetch(lw, elem, move, from, batch, parts);
        for (uint32_t i = 0; i < batch * n; i++)
            sum[i % n] = sum[i % n] ? ts_lower_op2(lw, add, sum[i % n], parts[i]) : parts[i];
    }
    return sum;
}

void ts__split_join(ts_lower *lw, ts_val loop)
{
    const ts_tma *tma = &lw->assign.tma;
    if (!tma->active || tma->split != loop)
        return;
    ts_type elem = ts__lower_elem(lw, tma->sum);
    const ts_linear *whole = lw->assign.home[tma->sum];
    ts_move move;
    ts__move_plan_shared(tma->share, whole, ts_type_bits(lw->module, elem) / 8, TS_WHOLE_STORE, &move);
    const ts_val *regs = ts__lower_get(lw, tma->sum, whole);
    ts__lower_barrier(lw); /* all warps are through with the stages */
    ts__lower_store_shared(lw, elem, whole, regs, move.offset, tma->groups.at[0].base);
    split_meet(lw);
    split_unite(lw);
    ts__lower_set(lw, tma->sum, tma->share, split_sum(lw, elem, &move));
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, 0, 0);
    lw->cluster.apart = true; /* until the others have read, too */
}
