/* SPDX-License-Identifier: Apache-2.0
 *
 * The finished tile of a product on its way to memory (tma.h): accumulator fragments are far too scattered for
 * good stores, so they go through shared memory, which the stages no longer need, in the swizzled panels of TMA,
 * and one thread sends the panels off. Edges are clipped by the copy.
 *
 *     16 bits    stmatrix, four 8x8 blocks at once        32 bits    two columns of a row at once
 *
 * Neither has bank conflicts: the 16-byte chunk of a row is XORed with the row. Only for the layout of wgmma, at
 * the end of the function (no product after it), into an array that nothing else touches.
 */
#include "target/ptx/lower.h"

typedef struct store_job {
    ts_tma_load tile;      /* shape in shared memory */
    ts_plan_tmap map;
    const ts_layout *layout;
    const ts_val *regs;
    uint32_t log_m, log_n;
} store_job;

/* The accumulator layout with whole rows in a warpgroup, of two extents. */
static bool store_layout(const ts_lower *lw, ts_val x, store_job *job)
{
    ts_type type = ts_type_of(lw->tile, x);
    if (ts_type_kind(lw->module, type) != TS_KIND_TILE || ts_type_rank(lw->module, type) < 2)
        return false;
    uint32_t rank = ts_type_rank(lw->module, type);
    const int64_t *dims = ts_type_dims(lw->module, type);
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (dims[i] != 1)
            return false;
    job->log_m = (uint32_t)ts_log2((uint64_t)dims[rank - 2]);
    job->log_n = (uint32_t)ts_log2((uint64_t)dims[rank - 1]);
    job->layout = lw->assign.home[x];
    if (!job->layout || job->log_m < 4 + lw->assign.n_warp || job->log_n < 4)
        return false;
    ts_layout c = ts_wgmma_layout_c(job->log_m, job->log_n, lw->assign.n_warp);
    return ts_layout_equal(job->layout, &c);
}

static bool store_is_last(const ts_lower *lw, ts_val v)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; i < tma->products.n; i++)
        if (tma->products.at[i].mma > v)
            return false;
    return lw->shape.parent[v] == 0;
}

/* No other access may meet the array: the copy runs beside the threads' own memory order. */
static bool store_is_alone(ts_lower *lw, ts_val v)
{
    uint64_t roots = ts_lower_roots(lw, ts_opnd(lw->tile, v, 0));
    if (roots & (lw->hazards.ever_loaded | (uint64_t)1 << TS_ROOT_UNKNOWN))
        return false;
    for (ts_val other = 1; other < lw->tile->inst.n; other++) {
        const ts_inst *inst = ts_at(lw->tile, other);
        if (other != v && ts_info(inst)->flags & TS_WRITE && inst->n_opnd && ts_lower_roots(lw, ts_opnds(lw->tile, inst)[0]) & roots)
            return false;
    }
    return true;
}

static bool store_fits(ts_lower *lw, ts_val v, store_job *job)
{
    uint32_t stages = lw->assign.tma.groups.n ? lw->assign.tma.groups.at[0].full : 0;
    ts_val x = ts_opnd(lw->tile, v, 1);
    if (lw->env->target != TS_TARGET_SM90)
        return false;
    if (!lw->assign.tma.active || lw->env->plan->n_tmaps == TS_PLAN_TMAPS || !store_layout(lw, x, job))
        return ts_note(lw->tile, v, TS_NOTE_missed, "tma", "the tile is not in the fragments of a product on wgmma");
    if (!store_is_last(lw, v) || !store_is_alone(lw, v))
        return ts_note(lw->tile, v, TS_NOTE_missed, "tma", "a product follows the store, or another access meets the array");
    uint32_t rank = ts_type_rank(lw->module, ts_type_of(lw->tile, x)), axes[2] = {rank - 2, rank - 1};
    if (!ts_tma_describe(lw->tile, v, axes, TS_T_none, &job->tile, &job->map))
        return false;
    return (job->tile.inner_axis == rank - 1 && job->tile.span == 128 && job->tile.rows <= 256 && job->tile.bytes <= stages &&
            (job->tile.elem_bytes == 2 || job->tile.elem_bytes == 4)) ||
           ts_note(lw->tile, v, TS_NOTE_missed, "tma", "the tile has rows of less than 128 bytes, more than 256 rows, or does not fit "
                                                       "the stages");
}

/* ---- registers to shared memory ------------------------------------------------------------------- */

static ts_val store_op(ts_lower *lw, ts_op op, ts_val x, int64_t y, uint32_t attr)
{
    return ts_op2(&lw->b, op, x, ts_lower_i32(lw, y), attr);
}

/* Row of this thread's part: 16 rows a warp, the warpgroup's block, and `lane_row` of the lane. */
static ts_val store_row(ts_lower *lw, const store_job *job, ts_val lane_row)
{
    uint32_t none[TS_LAYOUT_LANES] = {0}, warp[TS_LAYOUT_WARPS] = {0};
    for (uint32_t i = 0; i < job->layout->n_warp; i++)
        warp[i] = job->layout->warp[i] >> job->log_n;
    return ts_op2(&lw->b, TS_OP_addi, ts_lower_linear(lw, none, warp), lane_row, 0);
}

/* Address of a thread's place in chunk 0 of panel 0, its chunk bits ready for an XOR. */
static ts_val store_thread(ts_lower *lw, ts_val row, ts_val chunk, ts_val more)
{
    ts_val swizzled = ts_op2(&lw->b, TS_OP_xori, chunk, store_op(lw, TS_OP_andi, row, 7, 0), 0);
    ts_val at = ts_op2(&lw->b, TS_OP_addi, store_op(lw, TS_OP_shli, row, 7, 0), store_op(lw, TS_OP_shli, swizzled, 4, 0), 0);
    return more ? ts_op2(&lw->b, TS_OP_addi, at, more, 0) : at;
}

static ts_val store_pointer(ts_lower *lw, const store_job *job, ts_val thread, uint32_t row, uint32_t column)
{
    uint32_t byte = column * job->tile.elem_bytes, panel = byte / 128, chunk = byte % 128 / 16;
    ts_val at = chunk ? store_op(lw, TS_OP_xori, thread, (int64_t)chunk << 4, 0) : thread;
    return ts_lower_ptr(lw, ts_shared_pointer(lw, TS_T_i8, 0), at, (int64_t)panel * job->tile.rows * 128 + row * 128);
}

/* Register of (row offset, column) in the thread's fragment: t, s, j.., blocks of 64 rows. */
static ts_val store_reg(const store_job *job, uint32_t block, uint32_t half, uint32_t column, uint32_t t)
{
    return job->regs[block << (job->log_n - 1) | column / 8 << 2 | half << 1 | t];
}

static void store_matrices(ts_lower *lw, const store_job *job)
{
    ts_val lane = store_op(lw, TS_OP_andi, lw->tid, 31, 0);
    ts_val row = store_row(lw, job, store_op(lw, TS_OP_andi, lane, 15, 0));
    ts_val thread = store_thread(lw, row, store_op(lw, TS_OP_shri, lane, 4, TS_A_UNSIGNED), 0);
    for (uint32_t block = 0; block < job->tile.rows >> (4 + lw->assign.n_warp); block++)
        for (uint32_t column = 0; column < 1u << job->log_n; column += 16) {
            ts_val opnds[5] = {store_pointer(lw, job, thread, 64 * block, column)};
            for (uint32_t i = 0; i < 4; i++)
                opnds[1 + i] = ts_wgmma_pair(lw, store_reg(job, block, i & 1, column + 8 * (i >> 1), 0),
                                             store_reg(job, block, i & 1, column + 8 * (i >> 1), 1));
            ts_emit(&lw->b, TS_OP_stmatrix, TS_T_none, 5, opnds, TS_S(0, 4, 0), 0);
        }
}

static void store_pairs(ts_lower *lw, const store_job *job)
{
    ts_val lane = store_op(lw, TS_OP_andi, lw->tid, 31, 0);
    ts_val row = store_row(lw, job, store_op(lw, TS_OP_shri, lane, 2, TS_A_UNSIGNED));
    ts_val chunk = store_op(lw, TS_OP_shri, store_op(lw, TS_OP_andi, lane, 2, 0), 1, TS_A_UNSIGNED);
    ts_val more = store_op(lw, TS_OP_shli, store_op(lw, TS_OP_andi, lane, 1, 0), 3, 0);
    ts_val thread = store_thread(lw, row, chunk, more);
    for (uint32_t block = 0; block < job->tile.rows >> (4 + lw->assign.n_warp); block++)
        for (uint32_t half = 0; half < 2; half++)
            for (uint32_t column = 0; column < 1u << job->log_n; column += 8) {
                ts_val at = store_pointer(lw, job, thread, 64 * block + 8 * half, column);
                ts_val pair[2] = {store_reg(job, block, half, column, 0), store_reg(job, block, half, column, 1)};
                ts_lower_st(lw, at, 2, pair, TS_CACHE_NONE, 0);
            }
}

/* ---- shared memory to the array ---------------------------------------------------------------------- */

static void store_send(ts_lower *lw, ts_val v, const store_job *job)
{
    uint32_t panel = 128 / job->tile.elem_bytes;
    ts_val first = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, lw->tid, ts_lower_i32(lw, 0), 0), opener = ts_if_begin(&lw->b, first);
    for (uint32_t inner = 0; inner < job->tile.inner; inner += panel) {
        ts_val opnds[1 + TS_MAX_RANK] = {ts_shared_pointer(lw, TS_T_i8, inner / panel * job->tile.rows * 128)};
        uint32_t rank = ts_tma_coordinates(lw, v, &job->tile, inner, 0, opnds + 1);
        ts_emit(&lw->b, TS_OP_tma_store, TS_T_none, 1 + rank, opnds, TS_S(job->tile.tmap, rank, 0), 0);
    }
    ts_emit(&lw->b, TS_OP_bulk_commit, TS_T_none, 0, NULL, 0, 0);
    ts_emit(&lw->b, TS_OP_bulk_wait, TS_T_none, 0, NULL, TS_S(0, 0, 1), 0);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_else(&lw->b);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_end(&lw->b, opener, 0, NULL);
}

bool ts_tma_store(ts_lower *lw, ts_val v)
{
    store_job job = {0};
    if (!store_fits(lw, v, &job))
        return false;
    ts_note(lw->tile, v, TS_NOTE_store, "tma", "%u-byte rows through shared memory", job.tile.span);
    job.tile.tmap = lw->env->plan->n_tmaps;
    lw->env->plan->tmap[lw->env->plan->n_tmaps++] = job.map;
    job.regs = ts_lower_get(lw, ts_opnd(lw->tile, v, 1), job.layout);
    ts_lower_barrier(lw); /* every warp is through with the stages */
    if (job.tile.elem_bytes == 2)
        store_matrices(lw, &job);
    else
        store_pairs(lw, &job);
    ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0), 0);
    ts_lower_barrier(lw);
    store_send(lw, v, &job);
    ts_lower_barrier(lw); /* the stages may be written again */
    return true;
}
