/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows ahead: in a loop in steps that are not known, over every so many rows, say, each thread copies what it will read
 * of the next trip's tiles to shared memory by cp.async, so that a multiprocessor has as much on its way as its blocks
 * have tiles, at the cost of no register:
 *
 *     for i:  x = load A[i]            copy A[lower]; commit
 *             ..               ->      for i:  wait; x = load of what this thread copied
 *                                              if (i + step < upper) copy A[i + step]; commit
 *                                              ..
 *
 * Nobody else reads what a thread copied, so there is no barrier, and one stage is enough: a thread has its elements in
 * registers before it copies over them. Which loads: plan/ahead.c. `num_stages=1` turns it off.
 *
 * Loops with products on mma.sync or multiply-adds take part where schedule/cp_async.c, whose stages hold operands as
 * they are loaded, does not: operands that are computed, as products of narrow floats with scales are.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/lower/code.h"
#include "gpu/lower/op.h"
#include "gpu/plan/ahead.h"
#include "gpu/plan/view.h"
#include "gpu/schedule/copy.h"
#include "ir/note.h"

typedef struct rows_load {
    ts_val loop, load;
    const ts_linear *home;
    uint32_t at; /* in shared memory */
} rows_load;

typedef struct rows_state {
    uint8_t *copied, *slice; /* [tile value] loads that may be; index arithmetic that is written anew */
    TS_VEC(rows_load) loads;
    uint32_t offset[TS_LAYOUT_BITS]; /* elements lie as they do in the tile */
} rows_state;

static rows_state *rows_of(const ts_lower *lw)
{
    return ts_strategy_state(lw, TS_STRATEGY_rows);
}

static void rows_plan(ts_lower *lw)
{
    rows_state *state = rows_of(lw);
    uint32_t n = lw->tile->inst.n;
    state->copied = TS_NEW_N(lw->arena, uint8_t, n);
    state->slice = TS_NEW_N(lw->arena, uint8_t, n);
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        state->offset[i] = 1u << i;
    if (!state->copied || !state->slice || lw->assign.n_cta || lw->assign.tma.active ||
        !ts__ahead_copies(lw->tile, lw->env, lw->arena, 32u << lw->assign.n_warp, state->copied))
        state->copied = NULL;
}

/* A thread has elements of its own, in vectors that cp.async can copy. */
static bool rows_fits(ts_lower *lw, ts_val loop, ts_val load)
{
    const ts_linear *home = lw->assign.home[load];
    ts_val view = ts_opnd(lw->tile, load, 0), make = ts__view_make(lw->tile, view);
    view_access a;
    if (!home || !make || make > loop || !ts__copy_slice(lw, loop, load, rows_of(lw)->slice) ||
        ts_type_get(lw->module, ts_type_of(lw->tile, view))->kind == TS_KIND_GATHER_SCATTER_VIEW)
        return false;
    ts_place same = ts__linear_replicas(home);
    if (same.reg || same.lane || same.warp)
        return false;
    ts__copy_rewrite(lw, rows_of(lw)->slice, loop, lw->values.scalar[ts_opnd(lw->tile, loop, 0)]);
    ts__view_describe(lw, &a, load, 1, home);
    return ts__copy_fits(&a, rows_of(lw)->offset);
}

/* if (iv < upper) { copies } commit */
static void rows_issue(ts_lower *lw, ts_val loop, ts_val iv)
{
    const ts_inst *inst = ts_at(lw->tile, loop);
    ts_val upper = lw->values.scalar[ts_opnds(lw->tile, inst)[1]];
    ts_val opener = ts_if_begin(&lw->b, ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, iv, upper, inst->aux & TS_A_UNSIGNED));
    ts__copy_rewrite(lw, rows_of(lw)->slice, loop, iv);
    for (uint32_t i = 0; i < rows_of(lw)->loads.n; i++) {
        const rows_load *row = &rows_of(lw)->loads.at[i];
        if (row->loop == loop)
            ts__copy_tile(lw, row->load, row->home, rows_of(lw)->offset,
                          ts__shared_pointer(lw, ts__lower_elem(lw, row->load), row->at));
    }
    ts_if_end(&lw->b, opener);
    ts_emit(&lw->b, TS_OP_cp_async_commit, TS_T_none, 0, NULL, 0, 0);
}

static bool rows_has(const ts_lower *lw, ts_val loop)
{
    for (uint32_t i = 0; i < rows_of(lw)->loads.n; i++)
        if (rows_of(lw)->loads.at[i].loop == loop)
            return true;
    return false;
}

static uint32_t rows_bytes(const ts_lower *lw, ts_val v)
{
    return (uint32_t)ts_type_count(lw->module, ts_type_of(lw->tile, v)) *
           TS_MAX(1u, ts_type_bits(lw->module, ts__lower_elem(lw, v)) / 8);
}

/* Shared memory that the loop's copies may take: half of it, but for the operands of its products, which are written
 * there in each trip. Another pipeline of the loop counts its own copies, so there is none then. */
static uint32_t rows_room(ts_lower *lw, ts_val loop)
{
    uint32_t operands = 0;
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        if (inst->op == TS_OP_load_view_tko && ts__hook_skips(lw, v))
            return 0;
        if (inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai)
            operands += rows_bytes(lw, ts_opnd(lw->tile, v, 0)) + rows_bytes(lw, ts_opnd(lw->tile, v, 1));
    }
    uint32_t taken = operands + operands / 8 + lw->shared.peak; /* rows of operands are padded */
    return taken > lw->shared.limit ? 0 : TS_MIN(lw->shared.limit / 2, lw->shared.limit - taken);
}

static void rows_begin(ts_lower *lw, ts_val loop, ts_vals *values)
{
    uint32_t room = rows_room(lw, loop), all = 0;
    rows_state *state = rows_of(lw);
    (void)values;
    for (ts_val v = loop + 1; state->copied && lw->status == TS_OK && v < lw->shape.end[loop]; v++) {
        if (!state->copied[v] || lw->shape.parent[v] != loop || !rows_fits(lw, loop, v))
            continue;
        uint32_t bytes = rows_bytes(lw, v);
        if (bytes > room)
            continue;
        room -= bytes;
        all += bytes;
        rows_load row = {loop, v, lw->assign.home[v], ts__shared_fix(lw, bytes, 16, v)};
        ts__lower_before_load(lw, v);
        (void)TS_PUSH(lw->arena, &state->loads, row);
    }
    if (!all)
        return;
    ts__note(lw->tile, loop, TS_NOTE_pipeline, "cp.async", "each trip copies %u bytes for the next one", all);
    rows_issue(lw, loop, lw->values.scalar[ts_opnd(lw->tile, loop, 0)]);
}

static ts_val rows_enter(ts_lower *lw, ts_val loop, ts_val next)
{
    ts_val iv = lw->values.scalar[loop + 1];
    if (!rows_has(lw, loop))
        return next;
    ts_emit(&lw->b, TS_OP_cp_async_wait, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
    ts__copy_rewrite(lw, rows_of(lw)->slice, loop, iv);
    for (uint32_t i = 0; i < rows_of(lw)->loads.n; i++) {
        const rows_load *row = &rows_of(lw)->loads.at[i];
        if (row->loop == loop)
            ts__view_load_copied(lw, row->load, row->home, row->at);
    }
    rows_issue(lw, loop, ts_op2(&lw->b, TS_OP_addi, iv, lw->values.scalar[ts_opnd(lw->tile, loop, 2)], 0));
    lw->values.scalar[loop + 1] = iv;
    return next;
}

static void rows_end(ts_lower *lw, ts_val loop)
{
    if (rows_has(lw, loop)) /* a loop of no trip leaves copies on their way */
        ts_emit(&lw->b, TS_OP_cp_async_wait, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
}

static bool rows_skips(ts_lower *lw, ts_val v)
{
    for (uint32_t i = 0; i < rows_of(lw)->loads.n; i++)
        if (rows_of(lw)->loads.at[i].load == v)
            return true;
    return false;
}

const ts_strategy ts__strategy_rows = {
    .name = "rows",
    .state = sizeof(rows_state),
    .plan = rows_plan,
    .loop_values = rows_begin,
    .loop_enter = rows_enter,
    .loop_end = rows_end,
    .skips = rows_skips,
};
