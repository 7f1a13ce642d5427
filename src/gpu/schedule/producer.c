/* SPDX-License-Identifier: Apache-2.0
 *
 * The pipeline of TMA loads (tma.h): barriers, the producer and its slice of the function, the step counters
 * that both sides carry through the loops. The consumers' side of a loop is lower.c:
 * counters join the carried values when a `for` opens, continues and ends.
 *
 *     if (warp >= consumers)            producer warpgroup
 *         setmaxnreg.dec                registers go to the consumers
 *         if (first thread) slice
 *         return
 *     setmaxnreg.inc
 */
#include "gpu/schedule/schedule.h"
#include "gpu/schedule/ring.h"
#include "gpu/plan/resident.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"

static ts_tma *pipe_tma(ts_lower *lw)
{
    return &lw->assign.tma;
}

/* ---- stages and barriers --------------------------------------------------------------------------- */

static ts_val pipe_count(ts_lower *lw, const ts_tma_group *group)
{
    return group->at == TS_NO ? 0 : pipe_tma(lw)->loops.at[group->at].count;
}

static ts_val pipe_mask(ts_lower *lw, ts_val x, int64_t mask)
{
    return ts_op2(&lw->b, TS_OP_andi, x, ts__lower_i32(lw, mask), 0);
}

/* Which stage step `count` fills. Rings of a power of two are a mask and a shift. */
static ts_val pipe_stage(ts_lower *lw, const ts_tma_group *group, ts_val count)
{
    ts_assert(group->stages > 1 && ts_type_of(lw->fn, count) == TS_T_i32);
    if (ts_is_pow2(group->stages))
        return pipe_mask(lw, count, group->stages - 1);
    return ts_op2(&lw->b, TS_OP_remi, count, ts__lower_i32(lw, group->stages), TS_A_UNSIGNED);
}

ts_val ts__ring_stage(ts_lower *lw, const ts_tma_group *group)
{
    if (pipe_tma(lw)->copied)
        return group->stage;
    ts_val count = pipe_count(lw, group);
    return count && group->stages > 1 ? pipe_stage(lw, group, count) : 0;
}

ts_val ts__ring_barrier(ts_lower *lw, const ts_tma_group *group, uint32_t offset, ts_val count)
{
    ts_assert(group->stages && (offset == group->full || offset == group->empty));
    ts_val bar = ts__shared_pointer(lw, TS_T_i64, offset);
    if (!count || group->stages == 1)
        return bar;
    ts_val stage = pipe_stage(lw, group, count);
    return ts__lower_ptr(lw, bar, ts_op2(&lw->b, TS_OP_shli, stage, ts__lower_i32(lw, 3), 0), 0);
}

/* Parity of the phase that step `count` completes. */
static ts_val pipe_parity(ts_lower *lw, const ts_tma_group *group, ts_val count)
{
    if (!count)
        return ts__lower_i32(lw, 0);
    bool shift = ts_is_pow2(group->stages);
    ts_val by = ts__lower_i32(lw, shift ? (uint32_t)ts_log2(group->stages) : group->stages);
    return pipe_mask(lw, ts_op2(&lw->b, shift ? TS_OP_shri : TS_OP_divi, count, by, TS_A_UNSIGNED), 1);
}

static void pipe_wait(ts_lower *lw, ts_val bar, ts_val parity)
{
    ts_emit(&lw->b, TS_OP_mbar_wait, TS_T_none, 2, (ts_val[]){bar, parity}, 0, 0);
}

static bool pipe_is_first(const ts_tma *tma, const ts_tma_load *load)
{
    for (uint32_t i = 0; i < tma->loads.n; i++)
        if (tma->loads.at[i].group == load->group && tma->loads.at[i].load < load->load)
            return false;
    return true;
}

/* Consumer: the group's stage of this step is filled. One wait for all loads of the group; loads outside the loop of
 * their products were waited for where they stand. */
void ts__ring_await(ts_lower *lw, const ts_tma_load *load)
{
    const ts_tma_group *group = &pipe_tma(lw)->groups.at[load->group];
    ts_val count = pipe_count(lw, group);
    if (ts_tma_produces(pipe_tma(lw)) && group->at != TS_NO && !group->within && pipe_is_first(pipe_tma(lw), load))
        pipe_wait(lw, ts__ring_barrier(lw, group, group->full, count), pipe_parity(lw, group, count));
}

/* The stage of this step has been awaited by the product before. */
static void pipe_read_vector(ts_lower *lw, const ts_tma_load *load)
{
    const ts_tma_group *group = &pipe_tma(lw)->groups.at[load->group];
    const ts_linear *home = ts__lower_home(lw, load->load);
    ts_type elem = ts__lower_elem(lw, load->load);
    ts_val *reg = ts__lower_regs(lw, home), stage = ts__ring_stage(lw, group);
    ts_val base = ts__shared_pointer(lw, elem, group->base + load->offset);
    uint32_t flat[TS_LAYOUT_BITS];
    ts_layout_identity(flat);
    if (stage)
        base = ts__lower_ptr(lw, base, ts_op2(&lw->b, TS_OP_muli, stage, ts__lower_i32(lw, group->bytes), 0), 0);
    ts__note(lw->tile, load->load, TS_NOTE_load, "tma", "%u bytes with the tiles of the products", load->bytes);
    ts__lower_load_shared(lw, elem, home, flat, base, reg);
    ts__lower_set(lw, load->load, home, reg);
}

static bool pipe_load(ts_lower *lw, ts_val v)
{
    const ts_tma_load *load = ts__tma_load_of(pipe_tma(lw), v);
    if (!load || pipe_tma(lw)->copied) /* those are made elsewhere (schedule/cp_async.c) */
        return load != NULL;
    const ts_tma_group *group = &pipe_tma(lw)->groups.at[load->group];
    if (ts_tma_is_vector(load)) {
        pipe_read_vector(lw, load);
        return true;
    }
    ts__note(lw->tile, v, TS_NOTE_load, "tma", "%u-byte rows, swizzled", load->span);
    ts_val count = pipe_count(lw, group);
    if ((group->at == TS_NO || group->within) && pipe_is_first(pipe_tma(lw), load))
        pipe_wait(lw, ts__ring_barrier(lw, group, group->full, count), pipe_parity(lw, group, count));
    return true;
}

/* ---- counters carried by loops ----------------------------------------------------------------------- */

static bool pipe_within(const ts_lower *lw, ts_val opener, ts_val outer)
{
    return opener == outer || (opener > outer && opener < lw->shape.end[outer]);
}

/* Steps before loop number i. */
static ts_val pipe_start(ts_lower *lw, uint32_t i)
{
    const ts_tma *tma = pipe_tma(lw);
    ts_val first = ts__hook_first_step(lw, tma->loops.at[i].opener);
    if (first)
        return first;
    return tma->one_ring && i ? tma->loops.at[i - 1].count : ts__lower_i32(lw, 0);
}

void ts__ring_loop_values(ts_lower *lw, ts_val opener, ts_vals *out)
{
    ts_tma *tma = pipe_tma(lw);
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->loops.n; i++) {
        ts_tma_loop *loop = &tma->loops.at[i];
        if (!pipe_within(lw, loop->opener, opener))
            continue;
        if (!loop->count)
            loop->count = pipe_start(lw, i);
        if (loop->opener == opener)
            loop->start = loop->count;
        (void)TS_PUSH(lw->arena, &out->v, loop->count);
    }
}

void ts__ring_loop_next(ts_lower *lw, ts_val opener, ts_vals *out)
{
    ts_tma *tma = pipe_tma(lw);
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->loops.n; i++) {
        const ts_tma_loop *loop = &tma->loops.at[i];
        if (pipe_within(lw, loop->opener, opener))
            (void)TS_PUSH(lw->arena, &out->v,
                          loop->opener == opener ? ts__lower_add(lw, loop->count, 1)
                                                 : ts__hook_skip_steps(lw, opener, loop->count));
    }
}

ts_val ts__ring_loop_take(ts_lower *lw, ts_val opener, ts_val next)
{
    ts_tma *tma = pipe_tma(lw);
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->loops.n; i++)
        if (pipe_within(lw, tma->loops.at[i].opener, opener))
            tma->loops.at[i].count = next++;
    return next;
}

uint32_t ts__ring_loop_n(ts_lower *lw, ts_val opener)
{
    const ts_tma *tma = pipe_tma(lw);
    uint32_t n = 0;
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->loops.n; i++)
        n += pipe_within(lw, tma->loops.at[i].opener, opener);
    return n;
}

/* ---- the producer -------------------------------------------------------------------------------------- */

/* Row `x` of a slice as the tensor map counts (ts_plan_tmap); beyond the end for one before the slice, too. */
static ts_val pipe_slice_row(ts_lower *lw, const ts_tma_load *load, ts_val x)
{
    ts_val extent = lw->values.scalar[load->extent];
    x = ts_op2(&lw->b, TS_OP_mini, x, extent, TS_A_UNSIGNED);
    return ts_op2(&lw->b, TS_OP_addi, x, ts_op2(&lw->b, TS_OP_subi, ts__lower_i32(lw, TS_SLICE_ROWS), extent, 0), 0);
}

uint32_t ts__tma_coordinates(ts_lower *lw, ts_val v, const ts_tma_load *load, ts_val inner, ts_val row, ts_val *out)
{
    const ts_type_info *view = ts_type_get(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0)));
    uint32_t first = ts_at(lw->tile, v)->op == TS_OP_load_view_tko ? 1 : 2;
    ts_val at[TS_MAX_RANK] = {0};
    uint32_t n = 1, unit = ts_view_array_axis(view, load->inner_axis);
    for (uint32_t axis = 0; axis < view->rank; axis++) {
        uint32_t axis_of_array = ts_view_array_axis(view, axis);
        ts_val x = ts__view_start(lw, view, axis, ts_opnd(lw->tile, v, first + axis), TS_T_i32);
        if (load->start && axis_of_array == load->slice_axis)
            x = pipe_slice_row(lw, load, x);
        ts_val more = axis == load->inner_axis ? inner : axis == load->rows_axis ? row : 0;
        at[axis_of_array] = more ? ts_op2(&lw->b, TS_OP_addi, x, more, 0) : x;
    }
    out[0] = at[unit];
    for (uint32_t axis = view->rank; axis-- > 0;)
        if (axis != unit)
            out[n++] = at[axis];
    ts_assert(n == view->rank && (!load->start || n + 2 <= TS_MAX_RANK));
    if (load->start) {
        out[n++] = ts_op2(&lw->b, TS_OP_addi, lw->values.scalar[load->start], lw->values.scalar[load->extent], 0);
        out[n++] = ts__lower_i32(lw, TS_SLICE_ROWS);
    }
    return n;
}

/* What this block brings of a tile: all of it; or a part, to all blocks of a team. */
typedef struct pipe_share {
    uint32_t inner, rows, blocks; /* blocks: mask of those that get it, 0 = this one */
    ts_val inner_from, row_from, bytes_from; /* 0 = from the first on */
} pipe_share;

static pipe_share pipe_share_of(ts_lower *lw, const ts_tma_load *load)
{
    pipe_share share = {.inner = load->inner, .rows = load->rows};
    if (!load->shared)
        return share;
    uint32_t n = pipe_tma(lw)->team;
    ts_val rank = ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0), 0);
    *(load->by_rows ? &share.rows : &share.inner) /= n;
    *(load->by_rows ? &share.row_from : &share.inner_from) =
        ts__lower_op(lw, TS_OP_muli, rank, load->by_rows ? share.rows : share.inner, 0);
    uint32_t panel = load->rows * load->span;
    share.bytes_from = ts__lower_op(lw, TS_OP_muli, rank, (load->by_rows ? panel : load->bytes) / n, 0);
    share.blocks = (1u << n) - 1;
    return share;
}

static ts_val pipe_from(ts_lower *lw, ts_val from, uint32_t at)
{
    return from ? ts__lower_add(lw, from, at) : at ? ts__lower_i32(lw, at) : 0;
}

static void pipe_copy(ts_lower *lw, const ts_tma_load *load, ts_val stage_at, ts_val bar)
{
    pipe_share share = pipe_share_of(lw, load);
    uint32_t panel = load->span / load->elem_bytes, step = TS_MIN(share.rows, (uint32_t)TS_TMA_BOX);
    ts_assert(share.inner % panel == 0 && share.rows % step == 0 && load->tmap < lw->env->plan->n_tmaps);
    for (uint32_t inner = 0; inner < share.inner; inner += panel)
        for (uint32_t row = 0; row < share.rows; row += step) {
            uint32_t offset = load->offset + inner / panel * load->rows * load->span + row * load->span;
            ts_val opnds[2 + TS_MAX_RANK] = {ts__lower_ptr(lw, stage_at, share.bytes_from, offset), bar};
            ts_val at = pipe_from(lw, share.inner_from, inner), from = pipe_from(lw, share.row_from, row);
            uint32_t rank = ts__tma_coordinates(lw, load->load, load, at, from, opnds + 2);
            ts_emit(&lw->b, TS_OP_tma_load, TS_T_none, 2 + rank, opnds, TS_S(load->tmap, rank, share.blocks), 0);
        }
}

/* Producer: waits until the stage is free, says how many bytes come, and sends for them. */
static void pipe_issue(ts_lower *lw, const ts_tma_load *load)
{
    const ts_tma_group *group = &pipe_tma(lw)->groups.at[load->group];
    ts_val count = pipe_count(lw, group), full = ts__ring_barrier(lw, group, group->full, count);
    if (pipe_is_first(pipe_tma(lw), load)) {
        ts_val parity = pipe_parity(lw, group, count);
        if (count)
            pipe_wait(lw, ts__ring_barrier(lw, group, group->empty, count),
                      ts_op2(&lw->b, TS_OP_xori, parity, ts__lower_i32(lw, 1), 0));
        ts_emit(&lw->b, TS_OP_mbar_expect, TS_T_none, 2, (ts_val[]){full, group->arriving}, 0, 0);
    }
    ts_val at = ts__shared_pointer(lw, TS_T_i8, group->base), stage = ts__ring_stage(lw, group);
    if (stage)
        at = ts__lower_ptr(lw, at, ts_op2(&lw->b, TS_OP_muli, stage, ts__lower_i32(lw, group->bytes), 0), 0);
    pipe_copy(lw, load, at, full);
}

static void pipe_slice(ts_lower *lw, ts_val from, ts_val to);

/* Carried scalars that the slice needs, then the counters. */
static void pipe_slice_for(ts_lower *lw, ts_val v)
{
    const uint8_t *slice = pipe_tma(lw)->slice;
    const ts_inst *inst = ts_at(lw->tile, v);
    const uint32_t *opnds = ts_opnds(lw->tile, inst);
    ts_val last = lw->shape.end[v] - 1;
    ts_vals values = {0};
    for (uint32_t i = 3; i < inst->n_opnd; i++)
        if (slice[v + i - 1])
            (void)TS_PUSH(lw->arena, &values.v, lw->values.scalar[opnds[i]]);
    ts__ring_loop_values(lw, v, &values);
    ts_val range[] = {lw->values.scalar[opnds[0]], lw->values.scalar[opnds[1]], lw->values.scalar[opnds[2]]};
    ts__hook_loop_range(lw, v, range);
    ts_val opener = ts_for_begin(&lw->b, range[0], range[1], range[2], values.v.n, values.v.at, inst->aux);
    ts_val next = opener + 1;
    lw->values.scalar[v + 1] = next++;
    for (uint32_t i = 3; i < inst->n_opnd; i++)
        if (slice[v + i - 1])
            lw->values.scalar[v + i - 1] = next++;
    ts__ring_loop_take(lw, v, next);
    pipe_slice(lw, v + 1, lw->shape.end[v]);
    values.v.n = 0;
    for (uint32_t i = 3; i < inst->n_opnd; i++)
        if (slice[v + i - 1])
            (void)TS_PUSH(lw->arena, &values.v, lw->values.scalar[ts_opnd(lw->tile, last, i - 3)]);
    ts__ring_loop_next(lw, v, &values);
    ts_term(&lw->b, TS_OP_continue, values.v.n, values.v.at);
    ts_end_like(&lw->b, opener);
    ts__ring_loop_take(lw, v, lw->fn->inst.n - ts__ring_loop_n(lw, v));
}

static void pipe_slice(ts_lower *lw, ts_val from, ts_val to)
{
    const ts_tma *tma = pipe_tma(lw);
    for (ts_val v = from; v < to && lw->status == TS_OK; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        const ts_tma_load *load = tma->slice[v] ? ts__tma_load_of(tma, v) : NULL;
        bool region = ts_info(inst)->flags & TS_REGION;
        if (load)
            pipe_issue(lw, load);
        else if (tma->slice[v] && region)
            pipe_slice_for(lw, v);
        else if (inst->op == TS_OP_gdc_wait_tko) /* loads behind it read what the grid before has written */
            ts__lower_gdc(lw, v);
        else if (tma->slice[v] && inst->op != TS_OP_param && inst->op != TS_OP_arg)
            ts__lower_inst(lw, v);
        if (region)
            v = lw->shape.end[v];
    }
}

/* The slice has scalars of its own: those of the consumers are made later, outside this region. */
static void pipe_producer(ts_lower *lw)
{
    ts_val *scalar = lw->values.scalar;
    ts_tma *tma = pipe_tma(lw);
    uint32_t n = lw->tile->inst.n;
    lw->values.scalar = TS_NEW_N(lw->arena, ts_val, n);
    if (!lw->values.scalar) {
        lw->values.scalar = scalar;
        lw->status = ts_fail(lw->err, TS_NOMEM, "out of memory while lowering a kernel");
        return;
    }
    memcpy(lw->values.scalar, scalar, n * sizeof *scalar);
    for (uint32_t i = 0; i < lw->env->plan->n_tmaps; i++)
        ts_emit(&lw->b, TS_OP_tma_prefetch, TS_T_none, 0, NULL, TS_S(i, 0, 0), 0);
    pipe_slice(lw, 1, n);
    lw->values.scalar = scalar;
    for (uint32_t i = 0; i < tma->loops.n; i++)
        tma->loops.at[i].count = tma->loops.at[i].start = 0;
}

/* The blocks of a team; relaxed: the barriers of all are made, nothing else is said of memory. */
static void pipe_meet(ts_lower *lw, bool relaxed)
{
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, TS_S(relaxed, 0, 0), 0);
    ts_emit(&lw->b, TS_OP_cluster_wait, TS_T_none, 0, NULL, 0, 0);
}

static void pipe_init(ts_lower *lw)
{
    const ts_tma *tma = pipe_tma(lw);
    uint32_t warps = tma->team << lw->assign.n_warp;
    ts_val first = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, lw->tid, ts__lower_i32(lw, 0), 0),
           opener = ts_if_begin(&lw->b, first);
    for (uint32_t i = 0; i < (tma->one_ring ? 1 : tma->groups.n); i++)
        for (uint32_t s = 0; s < tma->groups.at[i].stages; s++) {
            ts_val full = ts__shared_pointer(lw, TS_T_i64, tma->groups.at[i].full + 8 * s);
            ts_val empty = ts__shared_pointer(lw, TS_T_i64, tma->groups.at[i].empty + 8 * s);
            ts_emit(&lw->b, TS_OP_mbar_init, TS_T_none, 1, &full, TS_S(0, 1, 0), 0);
            ts_emit(&lw->b, TS_OP_mbar_init, TS_T_none, 1, &empty, TS_S(0, warps, 0), 0);
        }
    ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_MBAR_INIT, 0, 0), 0);
    ts_if_end(&lw->b, opener);
    ts_emit(&lw->b, TS_OP_bar_sync, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
    if (tma->rank)
        pipe_meet(lw, true);
}

/* Memory of a block is gone when it ends: not before the others have arrived for the last time. */
static void pipe_leave(ts_lower *lw)
{
    if (ts_tma_produces(pipe_tma(lw)) && pipe_tma(lw)->rank)
        pipe_meet(lw, false);
}

static void pipe_setmaxnreg(ts_lower *lw, bool producer)
{
    const ts_tma *tma = pipe_tma(lw);
    uint32_t launch = ts__resident_registers(tma->blocks, ts__lower_threads(lw));
    if (ts_tma_consumers(tma) <= 2 || launch <= TS_PRODUCER_REGISTERS)
        return;
    uint32_t registers = producer ? TS_PRODUCER_REGISTERS : ts__resident_consumer(tma, tma->blocks);
    ts_assert(registers % 8 == 0 && registers >= 24 && registers <= 256); /* PTX ISA, setmaxnreg */
    ts_emit(&lw->b, TS_OP_setmaxnreg, TS_T_none, 0, NULL, TS_S(0, registers, !producer), 0);
}

/* if (first thread of the producer) slice */
static void pipe_elected(ts_lower *lw)
{
    ts_val one = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, lw->tid, ts__lower_i32(lw, 32 << ts_tma_consumers(pipe_tma(lw))), 0);
    ts_val opener = ts_if_begin(&lw->b, one);
    pipe_producer(lw);
    ts_if_end(&lw->b, opener);
}

static void pipe_begin(ts_lower *lw)
{
    const ts_tma *tma = pipe_tma(lw);
    if (!tma->active)
        return;
    uint32_t at = ts__shared_fix(lw, tma->shared, TS_TMA_ALIGN, 0);
    ts_assert(at == 0);
    (void)at;
    if (ts_tma_produces(tma))
        pipe_init(lw);
}

static void pipe_split_warps(ts_lower *lw)
{
    const ts_tma *tma = pipe_tma(lw);
    if (!ts_tma_produces(tma))
        return;
    ts_val warp = ts__lower_warp(lw);
    ts_val producer = ts_cmp(&lw->b, TS_OP_cmpi, TS_GE, warp, ts__lower_i32(lw, 1 << ts_tma_consumers(tma)), 0);
    ts_val opener = ts_if_begin(&lw->b, producer);
    pipe_setmaxnreg(lw, true);
    pipe_elected(lw);
    ts_term(&lw->b, TS_OP_return, 0, NULL);
    ts_else(&lw->b);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_end(&lw->b, opener, 0, NULL);
    pipe_setmaxnreg(lw, false);
}

static void pipe_loop_types(ts_lower *lw, ts_val opener, ts_vals *types)
{
    for (uint32_t i = ts__ring_loop_n(lw, opener); i-- > 0;)
        (void)TS_PUSH(lw->arena, &types->v, TS_T_i32);
}

const ts_strategy ts__strategy_producer = {
    .name = "producer",
    .begin = pipe_begin,
    .split_warps = pipe_split_warps,
    .loop_values = ts__ring_loop_values,
    .loop_enter = ts__ring_loop_take,
    .loop_next = ts__ring_loop_next,
    .loop_types = pipe_loop_types,
    .loop_results = ts__ring_loop_take,
    .leave = pipe_leave,
    .load = pipe_load,
};
