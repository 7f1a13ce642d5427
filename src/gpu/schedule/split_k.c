/* SPDX-License-Identifier: Apache-2.0
 *
 * Products that are deep but small: the thread blocks of a cluster (`num_ctas`) share the trips of the loop over K, so
 * that they keep more of the machine busy. Then each adds up its part of the sums and goes on with that part alone:
 *
 *     for k in (lo, hi)            for k in (lo + rank * each, min(hi, lo + (rank + 1) * each))
 *       acc += ..                    acc += ..
 *     store f(acc)                 write acc to own stages;   cluster barrier
 *                                  part = own + that of rank ^ 1 + that of rank ^ 2 ..;   arrive
 *                                  store f(part);   wait until no other block reads this block's memory
 *
 * Behind the loop the cluster is one large block whose upper warp bits number the blocks, as in kernels without
 * products (cluster.c): layouts deal tiles out to all of them, and every operation finds its elements there. A part is
 * laid out as the store wants it. Each element's sum has one order, whichever block comes first, so results are the
 * same bits each time; no memory outside the kernel is used. plan/split_k.c finds the loops.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/lower/cluster.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"

/* ---- the trips of this block ------------------------------------------------------------------------------- */

static ts_val split_rank(ts_lower *lw)
{
    return ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0), 0);
}

static void split_range(ts_lower *lw, ts_val loop, ts_val bound[3])
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
    ts__split_together(&lw->assign);
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
    ts_assert(blocks % batch == 0 && (elem == TS_T_f32 || elem == TS_T_i32));
    ts_op add = elem == TS_T_f32 ? TS_OP_addf : TS_OP_addi;
    ts_val *sum = ts__lower_regs(lw, share), *parts = TS_NEW_N(lw->arena, ts_val, batch * n);
    for (uint32_t from = 0; parts && from < blocks; from += batch) {
        split_fetch(lw, elem, move, from, batch, parts);
        for (uint32_t i = 0; i < batch * n; i++)
            sum[i % n] = sum[i % n] ? ts_lower_op2(lw, add, sum[i % n], parts[i]) : parts[i];
    }
    return sum;
}

static void split_join(ts_lower *lw, ts_val loop)
{
    const ts_tma *tma = &lw->assign.tma;
    if (!tma->active || tma->split != loop)
        return;
    ts_type elem = ts__lower_elem(lw, tma->sum);
    const ts_linear *whole = lw->assign.home[tma->sum];
    ts_assert(whole->bits == tma->share->bits);
    ts_move move;
    ts__move_plan_shared(tma->share, whole, ts_type_bits(lw->module, elem) / 8, TS_WHOLE_STORE, &move);
    const ts_val *regs = ts__lower_get(lw, tma->sum, whole);
    ts__lower_barrier(lw); /* all warps are through with the stages */
    ts__lower_store_shared(lw, elem, whole, regs, move.offset, tma->groups.at[0].base);
    split_meet(lw);
    split_unite(lw);
    ts__lower_set(lw, tma->sum, tma->share, split_sum(lw, elem, &move));
    ts__cluster_arrive(lw); /* meet when the others have read, too */
}

const ts_strategy ts__strategy_split_k = {
    .name = "split_k",
    .loop_range = split_range,
    .loop_end = split_join,
};
