/* SPDX-License-Identifier: Apache-2.0
 *
 * Products that are deep but small: the thread blocks of a cluster (`num_ctas`) share the trips of the loop over K, so
 * that they keep more of the machine busy, and their sums meet in the first block, which goes on alone.
 *
 *     for k in (lo, hi)            for k in (lo + rank * each, min(hi, lo + (rank + 1) * each))
 *       acc += ..                    acc += ..
 *     ...                          rank > 0:  write acc to own stages;   cluster barrier;  cluster barrier;  return
 *                                  rank 0:    cluster barrier;  acc += those of ranks 1, 2 ..;  cluster barrier
 *                                  ...
 *
 * The order of the sums is that of the ranks, whoever comes first, so results are the same bits each time; no memory
 * outside the kernel is used. The producers take part in both barriers, and the last keeps memory alive until it was
 * read. ts_split_plan decides in tma.c's terms: a loop of one product, at the top of a function that does nothing else
 * before it.
 */
#include "target/ptx/lower.h"
#include "target/ptx/tma.h"

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

ts_val ts_split_plan(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma)
{
    const ts_wgmma *product = tma->products.n == 1 ? &tma->products.at[0] : NULL;
    if (fn->num_ctas <= 1 || !product || !product->late || tma->groups.n != 1)
        return 0;
    ts_val loop = shape->parent[product->mma];
    uint32_t stages = tma->groups.at[0].bytes * tma->groups.at[0].stages;
    bool good = !shape->parent[loop] && tma->groups.at[0].loop == loop && split_is_plain(fn, loop) &&
                !split_acts_before(fn, loop) &&
                (uint64_t)ts_type_count(fn->module, ts_type_of(fn, product->mma)) * 4 <= stages;
    if (!good)
        ts_note(fn, product->mma, TS_NOTE_missed, "cluster",
                "num_ctas shares a loop over k that starts from zero, at the kernel's top, with nothing stored before");
    return good ? loop : 0;
}

/* ---- the trips of this block ------------------------------------------------------------------------------- */

static ts_val split_rank(ts_lower *lw)
{
    return ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0), 0);
}

void ts_split_bounds(ts_lower *lw, ts_val loop, ts_val bound[2])
{
    const ts_tma *tma = &lw->assign.tma;
    if (!tma->active || tma->split != loop)
        return;
    ts_val count = ts_lower_op2(lw, TS_OP_subi, bound[1], bound[0]), log = ts_lower_i32(lw, tma->log_split);
    ts_val each = ts_lower_op2(lw, TS_OP_shri, ts_lower_add(lw, count, (1 << tma->log_split) - 1), log);
    ts_val low = ts_lower_op2(lw, TS_OP_addi, bound[0], ts_lower_op2(lw, TS_OP_muli, split_rank(lw), each));
    bound[1] = ts_lower_op2(lw, TS_OP_mini, bound[1], ts_lower_op2(lw, TS_OP_addi, low, each));
    bound[0] = low;
}

/* ---- the sums ------------------------------------------------------------------------------------------------ */

void ts_split_meet(ts_lower *lw)
{
    if (!lw->assign.tma.split)
        return;
    ts_emit(&lw->b, TS_OP_warp_sync, TS_T_none, 0, NULL, 0, 0);
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, 0, 0);
    ts_emit(&lw->b, TS_OP_cluster_wait, TS_T_none, 0, NULL, 0, 0);
}

/* Registers 4 i .. 4 i + 3 of this thread, 16 bytes, in a block's stages: threads side by side. */
static ts_val split_place(ts_lower *lw, ts_val base, uint32_t i)
{
    uint32_t threads = 32u << lw->assign.n_warp;
    ts_val mine = ts_lower_op2(lw, TS_OP_muli, lw->tid, ts_lower_i32(lw, 16));
    return ts_lower_ptr(lw, base, mine, (int64_t)i * threads * 16);
}

/* if (rank > 0) hand over and end */
static void split_leave(ts_lower *lw, ts_val rank, const ts_val *regs, uint32_t n)
{
    ts_val other = ts_cmp(&lw->b, TS_OP_cmpi, TS_GT, rank, ts_lower_i32(lw, 0), 0), opener = ts_if_begin(&lw->b, other);
    ts_val base = ts_shared_pointer(lw, ts_type_of(lw->fn, regs[0]), lw->assign.tma.groups.at[0].base);
    for (uint32_t i = 0; i < n / 4; i++)
        ts_lower_st(lw, split_place(lw, base, i), 4, regs + 4 * i, TS_CACHE_NONE, 0);
    ts_split_meet(lw);
    ts_split_meet(lw);
    ts_term(&lw->b, TS_OP_return, 0, NULL);
    ts_else(&lw->b);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_end(&lw->b, opener, 0, NULL);
}

/* Loads of another block's memory take long: as many as registers allow are under way together. */
enum { SPLIT_BATCH = 64 };

static void split_add(ts_lower *lw, uint32_t rank, ts_val *regs, uint32_t n)
{
    ts_type elem = ts_type_of(lw->fn, regs[0]);
    ts_val own = ts_shared_pointer(lw, elem, lw->assign.tma.groups.at[0].base), part[SPLIT_BATCH];
    ts_val base = ts_emit(&lw->b, TS_OP_mapa, ts_type_of(lw->fn, own), 2, (ts_val[]){own, ts_lower_i32(lw, rank)}, 0, 0);
    for (uint32_t from = 0; from < n; from += SPLIT_BATCH) {
        uint32_t count = TS_MIN((uint32_t)SPLIT_BATCH, n - from);
        for (uint32_t i = 0; i < count; i += 4)
            ts_lower_ld(lw, elem, split_place(lw, base, (from + i) / 4), 4, TS_CACHE_NONE, 0, 0, part + i);
        for (uint32_t i = 0; i < count; i++)
            regs[from + i] = ts_op2(&lw->b, elem == TS_T_f32 ? TS_OP_addf : TS_OP_addi, regs[from + i], part[i], 0);
    }
}

void ts_split_join(ts_lower *lw, ts_val loop)
{
    const ts_tma *tma = &lw->assign.tma;
    if (!tma->active || tma->split != loop)
        return;
    ts_val result = lw->shape.end[loop] + 1;
    ts_layout layout = ts_wgmma_layout_of(lw->module, ts_type_of(lw->tile, result), lw->assign.n_warp);
    uint32_t n = 1u << layout.n_reg;
    ts_val *regs = ts_lower_regs(lw, &layout);
    memcpy(regs, ts_lower_get(lw, result, &layout), n * sizeof *regs);
    ts_lower_barrier(lw); /* both warpgroups are through with the stages */
    split_leave(lw, split_rank(lw), regs, n);
    ts_split_meet(lw);
    for (uint32_t i = 1; i < 1u << tma->log_split; i++)
        split_add(lw, i, regs, n);
    ts_split_meet(lw);
    ts_lower_set(lw, result, &layout, regs);
}
