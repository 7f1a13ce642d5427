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
 * Nobody else reads what a thread copied, so there is no barrier, and one slot is enough: a thread has its elements in
 * registers before it copies over them. Where a trip copies little, there is another slot, and it copies for the trip
 * after the next. Which loads: plan/ahead.c. `num_stages=1` turns it off.
 *
 * Loops with products on mma.sync or multiply-adds take part where schedule/cp_async.c, whose stages hold operands as
 * they are loaded, does not: operands that are computed, as products of narrow floats with scales are.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/lower/code.h"
#include "gpu/lower/op.h"
#include "gpu/plan/ahead.h"
#include "gpu/plan/resident.h"
#include "gpu/plan/view.h"
#include "gpu/schedule/copy.h"
#include "ir/note.h"

typedef struct rows_load {
    ts_val loop, load;
    const ts_linear *home;
    uint32_t at; /* in shared memory */
} rows_load;

/* A loop with rows ahead. Trip n reads slot n % slots, and copies what trip n + slots reads over it. */
typedef struct rows_loop {
    ts_val loop;
    uint32_t slots, bytes; /* of one slot */
    ts_val slot;           /* where the trip's own begins, in bytes behind the first; 0 = there is one slot */
} rows_loop;

/* Slots of a loop, bytes of a block that are on their way, and threads of a multiprocessor whose shared memory the
 * slots may share: one block of 256 threads a multiprocessor takes 277 instead of 320 us for RMS norms of 65536 rows of
 * 4096 bfloat16, two rows a trip, with two slots, 289 with three (H200). */
enum { ROWS_SLOTS = 2, ROWS_BYTES = 32768, ROWS_THREADS = 1024 };

typedef struct rows_state {
    uint8_t *copied, *slice; /* [tile value] loads that may be; index arithmetic that is written anew */
    TS_VEC(rows_load) loads;
    TS_VEC(rows_loop) loops;
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

static rows_loop *rows_loop_of(const ts_lower *lw, ts_val loop)
{
    rows_state *state = rows_of(lw);
    for (uint32_t i = 0; i < state->loops.n; i++)
        if (state->loops.at[i].loop == loop)
            return &state->loops.at[i];
    return NULL;
}

/* if (inside) { copies of trip iv to the slot } commit */
static void rows_issue(ts_lower *lw, const rows_loop *l, ts_val iv, ts_val inside, ts_val slot)
{
    ts_val opener = ts_if_begin(&lw->b, inside);
    ts__copy_rewrite(lw, rows_of(lw)->slice, l->loop, iv);
    for (uint32_t i = 0; i < rows_of(lw)->loads.n; i++) {
        const rows_load *row = &rows_of(lw)->loads.at[i];
        if (row->loop != l->loop)
            continue;
        ts_val base = ts__shared_pointer(lw, ts__lower_elem(lw, row->load), row->at);
        ts__copy_tile(lw, row->load, row->home, rows_of(lw)->offset, slot ? ts__lower_ptr(lw, base, slot, 0) : base);
    }
    ts_if_end(&lw->b, opener);
    ts_emit(&lw->b, TS_OP_cp_async_commit, TS_T_none, 0, NULL, 0, 0);
}

/* Trip iv comes, and `trips` after it comes too: upper - iv > trips * step, without wrapping around. */
static ts_val rows_comes(ts_lower *lw, ts_val loop, ts_val iv, uint32_t trips)
{
    const uint32_t *opnds = ts_opnds(lw->tile, ts_at(lw->tile, loop));
    ts_val left = ts_op2(&lw->b, TS_OP_subi, lw->values.scalar[opnds[1]], iv, 0), step = lw->values.scalar[opnds[2]];
    ts_val far = trips == 1 ? step : ts__lower_op(lw, TS_OP_muli, step, trips, 0);
    return ts_cmp(&lw->b, TS_OP_cmpi, TS_GT, left, far, TS_A_UNSIGNED);
}

static void rows_issue_first(ts_lower *lw, const rows_loop *l)
{
    const ts_inst *inst = ts_at(lw->tile, l->loop);
    const uint32_t *opnds = ts_opnds(lw->tile, inst);
    ts_val lower = lw->values.scalar[opnds[0]], upper = lw->values.scalar[opnds[1]], step = lw->values.scalar[opnds[2]];
    ts_val any = ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, lower, upper, inst->aux & TS_A_UNSIGNED);
    rows_issue(lw, l, lower, any, 0);
    for (uint32_t i = 1; i < l->slots; i++) {
        ts_val inside = ts_op2(&lw->b, TS_OP_andi, any, rows_comes(lw, l->loop, lower, i), 0);
        ts_val iv = ts_op2(&lw->b, TS_OP_addi, lower, ts__lower_op(lw, TS_OP_muli, step, i, 0), 0);
        rows_issue(lw, l, iv, inside, ts__lower_i32(lw, i * l->bytes));
    }
}

static uint32_t rows_bytes(const ts_lower *lw, ts_val v)
{
    return (uint32_t)ts_type_count(lw->module, ts_type_of(lw->tile, v)) *
           TS_MAX(1u, ts_type_bits(lw->module, ts__lower_elem(lw, v)) / 8);
}

static bool rows_has_products(const ts_lower *lw, ts_val loop)
{
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++)
        if (ts_at(lw->tile, v)->op == TS_OP_mmaf || ts_at(lw->tile, v)->op == TS_OP_mmai)
            return true;
    return false;
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

/* A kernel that takes several rows a trip has few blocks, as many as there are multiprocessors, say; one that takes a
 * row has many, and enough on their way: another slot costs softmax of 4096 columns 1.5 % (H200). */
static bool rows_are_several(const ts_lower *lw, ts_val load)
{
    ts_type type = ts_type_of(lw->tile, load);
    uint32_t rank = ts_type_rank(lw->module, type);
    return rank && ts_type_count(lw->module, type) > ts_type_dims(lw->module, type)[rank - 1];
}

/* Another slot, where the shared memory of ROWS_THREADS threads has room for it, and one has little on its way. */
static uint32_t rows_slots(const ts_lower *lw, uint32_t bytes)
{
    uint32_t blocks = TS_MAX(1u, (uint32_t)ROWS_THREADS / (32u << lw->assign.n_warp));
    uint32_t room = ts__resident_shared(lw->env->target, blocks), slots = 1;
    while (slots < ROWS_SLOTS && (slots + 1) * bytes <= ROWS_BYTES && (slots + 1) * bytes <= room)
        slots++;
    return slots;
}

/* The loads of the loop that are copied, one behind the other; bytes of all. */
static uint32_t rows_loads(ts_lower *lw, ts_val loop)
{
    uint32_t room = rows_room(lw, loop), all = 0;
    rows_state *state = rows_of(lw);
    for (ts_val v = loop + 1; state->copied && lw->status == TS_OK && v < lw->shape.end[loop]; v++) {
        if (!state->copied[v] || lw->shape.parent[v] != loop || !rows_fits(lw, loop, v))
            continue;
        uint32_t bytes = ts_round_up(rows_bytes(lw, v), 16);
        if (bytes > room - all)
            continue;
        rows_load row = {loop, v, lw->assign.home[v], all};
        ts__lower_before_load(lw, v);
        all += TS_PUSH(lw->arena, &state->loads, row) ? bytes : 0;
    }
    return all;
}

static void rows_begin(ts_lower *lw, ts_val loop, ts_vals *values)
{
    rows_state *state = rows_of(lw);
    uint32_t first = state->loads.n, bytes = rows_loads(lw, loop);
    if (!bytes)
        return;
    bool one = rows_has_products(lw, loop) || !rows_are_several(lw, state->loads.at[first].load);
    rows_loop l = {.loop = loop, .bytes = bytes, .slots = one ? 1 : rows_slots(lw, bytes)};
    uint32_t at = ts__shared_fix(lw, l.slots * bytes, 16, state->loads.at[first].load);
    for (uint32_t i = first; i < state->loads.n; i++)
        state->loads.at[i].at += at;
    if (l.slots > 1)
        (void)TS_PUSH(lw->arena, &values->v, ts__lower_i32(lw, 0));
    ts__note(lw->tile, loop, TS_NOTE_pipeline, "cp.async", "each trip copies %u bytes for the %s", bytes,
             l.slots == 1 ? "next one" : "one after the next");
    (void)TS_PUSH(lw->arena, &state->loops, l);
    rows_issue_first(lw, &l);
}

static ts_val rows_enter(ts_lower *lw, ts_val loop, ts_val next)
{
    rows_loop *l = rows_loop_of(lw, loop);
    ts_val iv = lw->values.scalar[loop + 1], step = lw->values.scalar[ts_opnd(lw->tile, loop, 2)];
    if (!l)
        return next;
    l->slot = l->slots > 1 ? next++ : 0;
    ts_emit(&lw->b, TS_OP_cp_async_wait, TS_T_none, 0, NULL, TS_S(0, l->slots - 1, 0), 0);
    ts__copy_rewrite(lw, rows_of(lw)->slice, loop, iv);
    for (uint32_t i = 0; i < rows_of(lw)->loads.n; i++) {
        const rows_load *row = &rows_of(lw)->loads.at[i];
        if (row->loop == loop)
            ts__view_load_copied(lw, row->load, row->home, row->at, l->slot);
    }
    ts_val far = l->slots == 1 ? step : ts__lower_op(lw, TS_OP_muli, step, l->slots, 0);
    rows_issue(lw, l, ts_op2(&lw->b, TS_OP_addi, iv, far, 0), rows_comes(lw, loop, iv, l->slots), l->slot);
    lw->values.scalar[loop + 1] = iv;
    return next;
}

/* The next trip's slot: around at the end. */
static void rows_next(ts_lower *lw, ts_val loop, ts_vals *values)
{
    const rows_loop *l = rows_loop_of(lw, loop);
    if (!l || l->slots == 1)
        return;
    ts_val last = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, l->slot, ts__lower_i32(lw, (l->slots - 1) * l->bytes), 0);
    ts_val slot = ts_select(&lw->b, last, ts__lower_i32(lw, 0), ts__lower_add(lw, l->slot, l->bytes));
    (void)TS_PUSH(lw->arena, &values->v, slot);
}

static void rows_types(ts_lower *lw, ts_val loop, ts_vals *types)
{
    const rows_loop *l = rows_loop_of(lw, loop);
    if (l && l->slots > 1)
        (void)TS_PUSH(lw->arena, &types->v, TS_T_i32);
}

static void rows_end(ts_lower *lw, ts_val loop)
{
    if (rows_loop_of(lw, loop)) /* a loop of no trip leaves copies on their way */
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
    .loop_next = rows_next,
    .loop_types = rows_types,
    .loop_end = rows_end,
    .skips = rows_skips,
};
