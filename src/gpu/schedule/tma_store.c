/* SPDX-License-Identifier: Apache-2.0
 *
 * The finished tile of a product on its way to memory (tma.h): accumulator fragments are far too scattered for
 * good stores, so they go through shared memory in the swizzled panels of TMA, unit by unit, and one thread of each
 * warpgroup sends the units off. A unit is 64 rows of at most 128 bytes, all of one warpgroup, so warpgroups
 * do not wait for each other. Edges are clipped by the copy.
 *
 *     16 bits    stmatrix, four 8x8 blocks at once        32 bits    two columns of a row at once
 *
 * Neither has bank conflicts: the 16-byte chunk of a row is XORed with the row. Where the array's rows lie along the
 * tile's columns (the result is stored transposed: `across`), a row of a unit is a column of the tile, 64 elements of
 * 16 bits, and stmatrix transposes. A sum (atomic_red_view_tko) takes the
 * same way: the copy adds. Where a unit waits:
 *
 *     in the stages       free behind the last product of the function: all units at once
 *     in the staging      inside loops: two units a warpgroup, the second is written while the first leaves; or all
 *                         units, which leave together (the wait then is the next tile's)
 *
 *     bar.sync            the thread that sends has seen that the unit's place is free
 *     write, fence
 *     bar.sync
 *     one thread          send; commit; wait until all but the newest have been read
 *
 * Only for the layout of wgmma, into an array that nothing else touches.
 */
#include "gpu/schedule/tma_store.h"
#include "gpu/schedule/ring.h"
#include "gpu/schedule/wgmma.h"
#include "gpu/lower/code.h"

/* The accumulator layout: extents, and how the second warpgroup's part lies to the first. */
static bool store_layout(const ts_lower *lw, ts_val x, store_job *job)
{
    ts_type type = ts_type_of(lw->tile, x);
    if (ts_type_kind(lw->module, type) != TS_KIND_TILE || ts_type_rank(lw->module, type) < 2)
        return false;
    uint32_t rank = ts_type_rank(lw->module, type), n_warp = lw->assign.n_warp;
    const int64_t *dims = ts_type_dims(lw->module, type);
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (dims[i] != 1)
            return false;
    job->log_m = (uint32_t)ts_log2((uint64_t)dims[rank - 2]);
    job->log_n = (uint32_t)ts_log2((uint64_t)dims[rank - 1]);
    job->layout = lw->assign.home[x];
    if (!job->layout || job->log_m < 6 || n_warp > 3)
        return false;
    ts_linear c = ts__wgmma_layout_c(job->log_m, job->log_n, n_warp);
    if (!ts__linear_equal(job->layout, &c))
        return false;
    job->rows_apart = n_warp > 2 ? c.warp[2] >> job->log_n : 0;
    job->columns_apart = n_warp > 2 ? c.warp[2] & ((1u << job->log_n) - 1) : 0;
    job->log_m -= job->rows_apart != 0;
    job->log_n -= job->columns_apart != 0;
    return true;
}

/* The stages are free: no product comes after. */
static bool store_is_last(const ts_lower *lw, ts_val v)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; i < tma->products.n; i++)
        if (tma->products.at[i].mma > v)
            return false;
    return lw->shape.parent[v] == 0;
}

static ts_val store_outermost(const ts_lower *lw, ts_val v)
{
    while (lw->shape.parent[v])
        v = lw->shape.parent[v];
    return v;
}

/* Stores of results in loops one after the other: between these all copies are waited for. */
static bool store_is_apart(const ts_lower *lw, ts_val v, ts_val other)
{
    ts_val loop = store_outermost(lw, v), last = store_outermost(lw, other);
    return lw->assign.tma.one_ring && ts_at(lw->tile, other)->op == TS_OP_store_view_tko && loop != last &&
           ts_at(lw->tile, loop)->op == TS_OP_for && ts_at(lw->tile, last)->op == TS_OP_for;
}

/* No other access may meet the array, and nothing may tell other blocks that it is written: the copy runs beside
 * the threads' own memory order. Sums through views are relaxed: they tell nothing. */
static bool store_is_alone(ts_lower *lw, ts_val v)
{
    static const char why[] = "another access meets the array, or the kernel has atomics or fences";
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
    if (set & (uint64_t)1 << TS_ALIAS_SET_UNKNOWN)
        return ts__note(lw->tile, v, TS_NOTE_missed, "tma", why);
    for (ts_val other = 1; other < lw->tile->inst.n; other++) {
        const ts_inst *inst = ts_at(lw->tile, other);
        bool meets = other != v && ts_info(inst)->flags & (TS_READ | TS_WRITE) && inst->n_opnd &&
                     !store_is_apart(lw, v, other);
        if (meets && ts__lower_meets(ts__lower_alias_set(lw, ts_opnds(lw->tile, inst)[0]), set))
            return ts__note(lw->tile, v, TS_NOTE_missed, "tma", why);
        if (inst->op == TS_OP_atomic_rmw_tko || inst->op == TS_OP_atomic_cas_tko ||
            inst->op == TS_OP_memory_fence_alias_tko)
            return ts__note(lw->tile, v, TS_NOTE_missed, "tma", why);
    }
    return true;
}

/* Where the units go: the stages, or the staging. */
static bool store_place(ts_lower *lw, store_job *job)
{
    const ts_tma *tma = &lw->assign.tma;
    uint32_t groups = 1u << (ts_tma_consumers(tma) - 2), all = job->units * groups * ts__store_unit_bytes(job);
    if (store_is_last(lw, job->store) && all <= tma->staging) {
        job->at = 0;
        job->slots = job->units;
        job->stride = job->slots * ts__store_unit_bytes(job);
        return true;
    }
    job->at = tma->staging;
    job->stride = tma->staging_bytes / groups; /* the same for all stores: warpgroups do not wait for each other */
    job->slots = TS_MIN(job->units, job->stride / ts__store_unit_bytes(job));
    ts_assert(job->at % 128 == 0 && job->stride % 128 == 0); /* PTX ISA: TMA's side in shared memory */
    return job->slots > 0;
}

/* What the copy can add, with the rounding and order of `red`. */
static bool store_is_sum(const ts_lower *lw, ts_val v)
{
    return TS_M_GET_MODE(ts_at(lw->tile, v)->aux) == TS_RMW_ADDF &&
           ts__lower_elem(lw, ts_opnd(lw->tile, v, 1)) == TS_T_f32;
}

static bool store_shape(store_job *job, uint32_t rank)
{
    const ts_tma_load *tile = &job->tile;
    uint32_t rows_of = 0, bytes = tile->elem_bytes, n = 1u << job->log_n;
    job->across = tile->inner_axis != rank - 1;
    job->columns = job->across ? TS_MIN(n, (uint32_t)STORE_ROWS) : tile->span / bytes;
    bool fits = job->across ? bytes == 2 && tile->span == TS_TMA_SPAN && job->columns >= STORE_COLUMNS
                            : (bytes == 2 || bytes == 4) && tile->span >= TS_TMA_SPAN_LEAST && job->columns <= n;
    if (!fits)
        return false;
    job->units = (1u << job->log_m) / STORE_ROWS * ((1u << job->log_n) / job->columns);
    for (uint32_t i = 1; i < job->map.rank; i++)
        rows_of = job->map.box[i] > 1 ? i : rows_of;
    if (rows_of)
        job->map.box[rows_of] = job->across ? job->columns : STORE_ROWS;
    return true;
}

/* Rows of the tile in shared memory when TMA does not tell. */
static void store_rows_shape(ts_lower *lw, store_job *job, uint32_t rank)
{
    ts_type type = ts_type_of(lw->tile, ts_opnd(lw->tile, job->store, 1));
    uint32_t bytes = ts_type_bits(lw->module, ts_type_elem(lw->module, type)) / 8;
    uint32_t unit = ts__view_unit_axis(lw->tile, ts_opnd(lw->tile, job->store, 0));
    uint32_t axis = unit == rank - 2 ? unit : rank - 1, inner = (uint32_t)ts_type_dims(lw->module, type)[axis];
    job->tile = (ts_tma_load){.inner_axis = axis,
                              .elem_bytes = bytes,
                              .inner = inner,
                              .span = TS_MIN((uint32_t)TS_TMA_SPAN, inner * bytes)};
    job->map.rank = 0;
}

static bool store_fits(ts_lower *lw, store_job *job)
{
    ts_val v = job->store, x = ts_opnd(lw->tile, v, 1);
    if (lw->env->target != TS_TARGET_SM90)
        return false;
    if (!lw->assign.tma.active || !store_layout(lw, x, job))
        return ts__note(lw->tile, v, TS_NOTE_missed, "tma", "the tile is not in the fragments of a product on wgmma");
    uint32_t rank = ts_type_rank(lw->module, ts_type_of(lw->tile, x)), axes[2] = {rank - 2, rank - 1};
    job->by_tma = lw->env->plan->n_tmaps < TS_PLAN_TMAPS && store_is_alone(lw, v) &&
                  ts__tma_describe(lw->tile, v, axes, TS_T_none, &job->tile, &job->map);
    if (!job->by_tma)
        store_rows_shape(lw, job, rank);
    return (store_shape(job, rank) && store_place(lw, job)) ||
           ts__note(
               lw->tile, v, TS_NOTE_missed, "tma",
               "elements of neither 2 nor 4 bytes, rows too short, or no room in shared memory");
}

/* ---- registers to shared memory ------------------------------------------------------------------- */

ts_val ts__store_apart(ts_lower *lw, const store_job *job, uint32_t apart)
{
    return job->group && apart ? ts__lower_op(lw, TS_OP_muli, job->group, apart, 0) : 0;
}

/* Row of this thread in a unit: 16 rows a warp, and `lane_row` of the lane. */
static ts_val store_row(ts_lower *lw, ts_val lane_row)
{
    ts_val warp = ts__lower_op(lw, TS_OP_andi, ts__lower_op(lw, TS_OP_shri, lw->tid, 5, TS_A_UNSIGNED), 3, 0);
    return ts_op2(&lw->b, TS_OP_ori, ts__lower_op(lw, TS_OP_shli, warp, 4, 0), lane_row, 0);
}

/* Address of a thread's place in chunk 0 of the warpgroup's first unit, its chunk bits ready for an XOR. */
static ts_val store_thread(ts_lower *lw, const store_job *job, ts_val row, ts_val chunk, ts_val more)
{
    uint32_t log_span = (uint32_t)ts_log2(job->tile.span);
    ts_assert(ts_is_pow2(job->tile.span) && log_span <= 7);
    ts_val turn =
        ts__lower_op(lw, TS_OP_andi, ts__lower_op(lw, TS_OP_shri, row, 7 - log_span, TS_A_UNSIGNED),
                 (job->tile.span >> 4) - 1, 0);
    ts_val swizzled = ts_op2(&lw->b, TS_OP_xori, chunk, turn, 0);
    ts_val at = ts_op2(&lw->b, TS_OP_addi, ts__lower_op(lw, TS_OP_shli, row, log_span, 0),
                       ts__lower_op(lw, TS_OP_shli, swizzled, 4, 0), 0);
    ts_val group = ts__store_apart(lw, job, job->stride);
    at = more ? ts_op2(&lw->b, TS_OP_addi, at, more, 0) : at;
    return group ? ts_op2(&lw->b, TS_OP_addi, at, group, 0) : at;
}

typedef struct store_unit {
    uint32_t block, column, slot; /* of 64 rows; first column; place */
    ts_val thread;
} store_unit;

static ts_val store_pointer(ts_lower *lw, const store_job *job, const store_unit *unit, uint32_t row, uint32_t column)
{
    ts_assert(unit->slot < job->slots && row < STORE_ROWS && column < job->columns);
    uint32_t chunk = column * job->tile.elem_bytes / 16;
    ts_val at = chunk ? ts__lower_op(lw, TS_OP_xori, unit->thread, (int64_t)chunk << 4, 0) : unit->thread;
    return ts__lower_ptr(lw, ts__shared_pointer(lw, TS_T_i8, job->at), at,
                        unit->slot * ts__store_unit_bytes(job) + row * job->tile.span);
}

/* Register of (row half, column of the unit) in the thread's fragment: t, s, j.., blocks of 64 rows. */
static ts_val store_reg(ts_lower *lw, const store_job *job, const store_unit *unit, uint32_t half,
                        uint32_t column, uint32_t t)
{
    uint32_t r = unit->block << (job->log_n - 1) | (unit->column + column) / 8 << 2 | half << 1 | t;
    return ts__epilogue_reg(lw, ts_opnd(lw->tile, job->store, 1), job->layout, r);
}

/* Lane l has column l % 8 of matrix l / 8: of the upper or lower 8 rows, then 8 columns further. */
static ts_val store_thread_across(ts_lower *lw, const store_job *job, ts_val lane)
{
    ts_val further = ts__lower_op(lw, TS_OP_shli, ts__lower_op(lw, TS_OP_shri, lane, 4, TS_A_UNSIGNED), 3, 0);
    ts_val row = ts_op2(&lw->b, TS_OP_ori, ts__lower_op(lw, TS_OP_andi, lane, 7, 0), further, 0);
    ts_val lower = ts__lower_op(lw, TS_OP_andi, ts__lower_op(lw, TS_OP_shri, lane, 3, TS_A_UNSIGNED), 1, 0);
    ts_val warp = ts__lower_op(lw, TS_OP_andi, ts__lower_op(lw, TS_OP_shri, lw->tid, 5, TS_A_UNSIGNED), 3, 0);
    ts_val chunk = ts_op2(&lw->b, TS_OP_ori, ts__lower_op(lw, TS_OP_shli, warp, 1, 0), lower, 0);
    return store_thread(lw, job, row, chunk, 0);
}

static ts_val store_thread_of_matrices(ts_lower *lw, const store_job *job)
{
    ts_val lane = ts__lower_op(lw, TS_OP_andi, lw->tid, 31, 0);
    if (job->across)
        return store_thread_across(lw, job, lane);
    ts_val row = store_row(lw, ts__lower_op(lw, TS_OP_andi, lane, 15, 0));
    return store_thread(lw, job, row, ts__lower_op(lw, TS_OP_shri, lane, 4, TS_A_UNSIGNED), 0);
}

static void store_matrices(ts_lower *lw, const store_job *job, const store_unit *unit)
{
    for (uint32_t column = 0; column < job->columns; column += 16) {
        ts_val opnds[5] = {job->across ? store_pointer(lw, job, unit, column, 0)
                                       : store_pointer(lw, job, unit, 0, column)};
        for (uint32_t i = 0; i < 4; i++)
            opnds[1 + i] = ts__wgmma_pair(lw, store_reg(lw, job, unit, i & 1, column + 8 * (i >> 1), 0),
                                         store_reg(lw, job, unit, i & 1, column + 8 * (i >> 1), 1));
        ts_emit(&lw->b, TS_OP_stmatrix, TS_T_none, 5, opnds, TS_S(0, 4, job->across), 0);
    }
}

static ts_val store_thread_of_pairs(ts_lower *lw, const store_job *job)
{
    ts_val lane = ts__lower_op(lw, TS_OP_andi, lw->tid, 31, 0);
    ts_val row = store_row(lw, ts__lower_op(lw, TS_OP_shri, lane, 2, TS_A_UNSIGNED));
    ts_val chunk = ts__lower_op(lw, TS_OP_shri, ts__lower_op(lw, TS_OP_andi, lane, 2, 0), 1, TS_A_UNSIGNED);
    ts_val half = ts__lower_op(lw, TS_OP_shli, ts__lower_op(lw, TS_OP_andi, lane, 1, 0), 3, 0);
    return store_thread(lw, job, row, chunk, half);
}

static void store_pairs(ts_lower *lw, const store_job *job, const store_unit *unit)
{
    for (uint32_t half = 0; half < 2; half++)
        for (uint32_t column = 0; column < job->columns; column += 8) {
            ts_val pair[2] = {store_reg(lw, job, unit, half, column, 0), store_reg(lw, job, unit, half, column, 1)};
            ts__lower_st(lw, store_pointer(lw, job, unit, 8 * half, column), 2, pair, TS_CACHE_NONE, 0);
        }
}

/* ---- shared memory to the array ---------------------------------------------------------------------- */

static store_unit store_unit_of(const store_job *job, uint32_t i, ts_val thread)
{
    uint32_t across = (1u << job->log_n) / job->columns;
    ts_assert(job->slots && across && i <= job->units);
    return (store_unit){.block = i / across,
                        .column = i % across * job->columns,
                        .slot = i % job->slots,
                        .thread = thread};
}

static ts_val store_sum(ts_lower *lw, ts_val x, uint32_t y)
{
    return x ? ts__lower_add(lw, x, y) : y ? ts__lower_i32(lw, y) : 0;
}

static void store_copy(ts_lower *lw, const store_job *job, const store_unit *unit)
{
    ts_val opnds[1 + TS_MAX_RANK] = {ts__shared_pointer(lw, TS_T_i8, job->at + unit->slot * ts__store_unit_bytes(job))};
    ts_val group = ts__store_apart(lw, job, job->stride);
    ts_val column = store_sum(lw, ts__store_apart(lw, job, job->columns_apart), unit->column);
    ts_val row = store_sum(lw, ts__store_apart(lw, job, job->rows_apart), STORE_ROWS * unit->block);
    opnds[0] = group ? ts__lower_ptr(lw, opnds[0], group, 0) : opnds[0];
    uint32_t rank = job->across ? ts__tma_coordinates(lw, job->store, &job->tile, row, column, opnds + 1)
                                : ts__tma_coordinates(lw, job->store, &job->tile, column, row, opnds + 1);
    ts_emit(&lw->b, job->sums ? TS_OP_tma_reduce : TS_OP_tma_store, TS_T_none, 1 + rank, opnds,
            TS_S(job->tile.tmap, rank, job->sums ? TS_RMW_ADDF : 0), 0);
}

/* if (first thread of the warpgroup) */
static ts_val store_elect(ts_lower *lw)
{
    ts_val thread = ts__lower_op(lw, TS_OP_andi, lw->tid, TS_WARPGROUP - 1, 0);
    return ts_if_begin(&lw->b, ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, thread, ts__lower_i32(lw, 0), 0));
}

/* All but the newest `pending` groups of copies have read their units. */
static void store_wait(ts_lower *lw, uint32_t pending)
{
    ts_emit(&lw->b, TS_OP_bulk_wait, TS_T_none, 0, NULL, TS_S(0, pending, 1), 0);
}

void ts__tma_store_after(ts_lower *lw, ts_val loop)
{
    if (!lw->assign.tma.staged || !lw->assign.tma.one_ring || lw->shape.parent[loop])
        return;
    ts_val opener = store_elect(lw);
    ts_emit(&lw->b, TS_OP_bulk_wait, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
    ts_if_end(&lw->b, opener);
}

static void store_barrier(ts_lower *lw, const store_job *job)
{
    ts_val id = job->group ? ts__lower_add(lw, job->group, TS_BAR_WARPGROUP) : 0;
    ts_emit(&lw->b, TS_OP_bar_sync, TS_T_none, id ? 1 : 0, &id, TS_S(id ? 0 : TS_BAR_WARPGROUP, TS_WARPGROUP, 0), 0);
}

/* What is loaded for unit `i`: its registers follow each other. */
static void store_fetch(ts_lower *lw, const store_job *job, uint32_t i)
{
    store_unit unit = store_unit_of(job, i, 0);
    if (i < job->units)
        ts__epilogue_fetch(lw, job->store, job->layout,
                      unit.block << (job->log_n - 1) | unit.column / 8 << 2, job->columns / 2);
}

static void store_write(ts_lower *lw, const store_job *job, uint32_t i, ts_val thread)
{
    store_unit unit = store_unit_of(job, i, thread);
    store_fetch(lw, job, i + 1);
    if (job->tile.elem_bytes == 2)
        store_matrices(lw, job, &unit);
    else
        store_pairs(lw, job, &unit);
}

static bool store_in_stages(const store_job *job)
{
    return job->at == 0 && job->slots == job->units;
}

/* All units in the staging: what the trip before sent has had a trip's time to be read. */
static bool store_waits_before(const store_job *job)
{
    return !store_in_stages(job) && job->slots == job->units;
}

/* The slots may be written. */
static void store_begin(ts_lower *lw, const store_job *job)
{
    ts_val opener = store_elect(lw);
    store_wait(lw, 0);
    ts_if_end(&lw->b, opener);
    store_barrier(lw, job);
}

/* Units `from` to `to`, which lie in different slots. */
static void store_step(ts_lower *lw, const store_job *job, uint32_t from, uint32_t to, ts_val thread)
{
    for (uint32_t i = from; i < to; i++)
        store_write(lw, job, i, thread);
    ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0), 0);
    store_barrier(lw, job);
    ts_val opener = store_elect(lw);
    for (uint32_t i = from; i < to; i++) {
        store_unit unit = store_unit_of(job, i, thread);
        store_copy(lw, job, &unit);
    }
    ts_emit(&lw->b, TS_OP_bulk_commit, TS_T_none, 0, NULL, 0, 0);
    if (!store_waits_before(job))
        store_wait(lw, to - from == 1 ? job->slots - 1 : 0);
    ts_if_end(&lw->b, opener);
}

/* The stages hold everything, so all goes in one step; the staging one unit after the other. */
static void store_by_tma(ts_lower *lw, store_job *job, ts_val thread)
{
    job->tile.tmap = lw->env->plan->n_tmaps;
    lw->env->plan->tmap[lw->env->plan->n_tmaps++] = job->map;
    ts__note(lw->tile, job->store, TS_NOTE_store, "tma", "%u-byte rows through shared memory", job->tile.span);
    if (store_in_stages(job)) {
        store_step(lw, job, 0, job->units, thread);
        return;
    }
    uint32_t at_once = store_waits_before(job) ? job->units : 1;
    for (uint32_t i = 0; i < job->units; i += at_once) {
        if (i == 0)
            store_begin(lw, job);
        else
            store_barrier(lw, job);
        store_step(lw, job, i, i + at_once, thread);
    }
    lw->assign.tma.staged = true;
}

/* A slot is written again after a barrier of the warp that read it, or of the warpgroup: across, each warp sends
 * columns that all have written. What TMA still reads there is waited for. */
static void store_by_rows(ts_lower *lw, const store_job *job, const store_rows *rows, ts_val thread)
{
    ts__note(lw->tile, job->store, TS_NOTE_store, "vector", "%u bytes an access, through shared memory",
            rows->access.bytes << rows->access.log_vec);
    if (store_in_stages(job))
        store_barrier(lw, job);
    else
        store_begin(lw, job);
    for (uint32_t i = 0; i < job->units; i++) {
        if (!job->across)
            ts_emit(&lw->b, TS_OP_warp_sync, TS_T_none, 0, NULL, 0, 0);
        else if (i && job->slots == 1)
            store_barrier(lw, job);
        store_write(lw, job, i, thread);
        if (job->across)
            store_barrier(lw, job);
        ts__store_rows_send(lw, job, rows, i, i % job->slots);
    }
}

static void store_groups(ts_lower *lw, store_job *job)
{
    if (ts_tma_consumers(&lw->assign.tma) <= 2)
        return;
    job->group = ts__lower_warpgroup(lw);
}

bool ts__tma_store(ts_lower *lw, ts_val v)
{
    store_job job = {.store = v, .sums = ts_at(lw->tile, v)->op == TS_OP_atomic_red_view_tko};
    store_rows rows = {0};
    if (lw->assign.n_cta) /* each block has a part, laid out for plain stores */
        return false;
    if ((job.sums && !store_is_sum(lw, v)) || !store_fits(lw, &job) ||
        (!job.by_tma && (job.sums || !ts__store_rows_plan(lw, &job, &rows))))
        return false;
    ts__lower_before_store(lw, v);
    store_groups(lw, &job);
    ts_val thread = job.tile.elem_bytes == 2 ? store_thread_of_matrices(lw, &job) : store_thread_of_pairs(lw, &job);
    store_fetch(lw, &job, 0);
    if (store_in_stages(&job))
        ts__lower_barrier(lw); /* every warp is through with them */
    ts__lower_accesses(lw, v);
    if (job.by_tma)
        store_by_tma(lw, &job, thread);
    else
        store_by_rows(lw, &job, &rows, thread);
    if (store_in_stages(&job))
        ts__lower_barrier(lw); /* and they may be written again */
    return true;
}

void ts__tma_store_leave(ts_lower *lw)
{
    if (!lw->assign.tma.staged)
        return;
    ts_val opener = store_elect(lw);
    store_wait(lw, 0);
    ts_if_end(&lw->b, opener);
}
