/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: clusters and their warps, the schedule, control flow with masks,
 * elementwise operations. eval/simt.h explains the machine; start there.
 */
#include "eval/simt.h"
#include "ir/float.h"
#include "math/math.h"
#include "table/sm.h"
#include <stdio.h>

/* ---- values and lanes ------------------------------------------------------------------------------ */

ts_status simt_nomem(const simt_warp *w)
{
    return ts_fail(simt_run(w)->err, TS_NOMEM, "out of memory while evaluating");
}

uint32_t simt_predicated(const simt_warp *w, ts_val v)
{
    uint32_t position = ts__opnd_mask(ts_at(simt_fn_of(w), v)), mask = 0;
    if (position == TS_NO)
        return w->active;
    const uint64_t *predicate = simt_opnd(w, v, position);
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        mask |= (uint32_t)(predicate[lane] & 1) << lane;
    }
    return mask;
}

uint64_t *simt_result(const simt_warp *w, ts_val v, uint32_t i)
{
    ts_val res = eval_find_res(simt_fn_of(w), v, v + 1, i);
    return res ? simt_reg(w, res) : NULL;
}

ts_type simt_result_type(const simt_warp *w, ts_val v)
{
    const ts_fn *fn = simt_fn_of(w);
    bool has = v + 1 < fn->inst.n && ts_at(fn, v + 1)->op == TS_OP_res && ts_at(fn, v + 1)->opnd[0] == v;
    return has ? ts_type_of(fn, v + 1) : TS_T_none;
}

ts_status simt_converged(const simt_warp *w, ts_val v)
{
    uint32_t all = w->lanes & ~w->exited;
    if (w->active == all)
        return TS_OK;
    return eval_fail(simt_run(w), v, TS_LAUNCH, "warp %u is divergent here: lanes %08x of %08x",
                     w->index, w->active, all);
}

void simt_block(simt_warp *w, simt_wait why)
{
    w->wait = why;
}

/* ---- control flow ------------------------------------------------------------------------------------ */

/* Gives operands skip.. of instruction `source` to targets 0.. for the lanes of `mask`, all at once. */
typedef struct simt_moves {
    ts_val source;
    uint32_t skip;
    ts_val opener; /* targets are its results, or its args from `first_arg` on when that is not 0 */
    ts_val first_arg;
} simt_moves;

static ts_val simt_target(const simt_warp *w, const simt_moves *moves, uint32_t i)
{
    if (moves->first_arg)
        return moves->first_arg + i;
    return eval_find_res(simt_fn_of(w), moves->opener, eval_after(simt_run(w), moves->opener), i);
}

static ts_status simt_move(simt_warp *w, const simt_moves *moves, uint32_t mask)
{
    const ts_fn *fn = simt_fn_of(w);
    ts_arena *arena = &w->cta->machine->arena;
    uint32_t n = ts_at(fn, moves->source)->n_opnd - moves->skip;
    ts_arena_mark mark = ts__arena_at(arena);
    uint64_t *copy = TS_NEW_N(arena, uint64_t, (size_t)n * SIMT_LANES);
    uint32_t *flight = TS_NEW_N(arena, uint32_t, n);
    if (!copy || !flight)
        return simt_nomem(w);
    for (uint32_t i = 0; i < n; i++) {
        ts_val from = ts_opnd(fn, moves->source, i + moves->skip);
        memcpy(copy + (size_t)i * SIMT_LANES, simt_reg(w, from), SIMT_LANES * sizeof *copy);
        flight[i] = w->flight[from];
    }
    for (uint32_t i = 0; i < n; i++) {
        ts_val to = simt_target(w, moves, i);
        for (uint32_t m = to ? mask : 0; m;) {
            uint32_t lane = simt_next(&m);
            simt_reg(w, to)[lane] = copy[(size_t)i * SIMT_LANES + lane];
        }
        w->flight[to] = flight[i];
    }
    ts__arena_rewind(arena, mark);
    return TS_OK;
}

static ts_status simt_resume(simt_warp *w);

static simt_frame *simt_top(simt_warp *w)
{
    return w->frame.n ? &w->frame.at[w->frame.n - 1] : NULL;
}

static ts_status simt_push(simt_warp *w, simt_frame frame)
{
    if (w->frame.n >= 200 && !ts__has_op(simt_fn_of(w), TS_OP_recur))
        return eval_fail(simt_run(w), frame.opener, TS_VERIFY, "regions nest more than 200 deep");
    return TS_PUSH(&w->cta->machine->arena, &w->frame, frame) ? TS_OK : simt_nomem(w);
}

static ts_status simt_if(simt_warp *w, ts_val v)
{
    const uint64_t *cond = simt_opnd(w, v, 0);
    uint32_t yes = 0;
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        yes |= (uint32_t)(cond[lane] & 1) << lane;
    }
    simt_frame frame = {.opener = v, .outer = w->active, .other = w->active & ~yes};
    TS_TRY(simt_push(w, frame));
    w->active = yes;
    w->pc = v + 1;
    return TS_OK;
}

/* Lanes without the condition keep the operands; the others run the region. */
static ts_status simt_cold(simt_warp *w, ts_val v)
{
    TS_TRY(simt_move(w, &(simt_moves){v, 1, v, 0}, w->active));
    TS_TRY(simt_if(w, v));
    simt_top(w)->joined = simt_top(w)->other;
    simt_top(w)->other = 0;
    return TS_OK;
}

static int64_t simt_bound(const simt_warp *w, ts_val v, uint64_t x)
{
    uint32_t bits = ts__scalar_bits(ts_type_of(simt_fn_of(w), v + 1));
    bool cut = ts_at(simt_fn_of(w), v)->aux & TS_A_UNSIGNED && bits < 64;
    return (int64_t)(cut ? x & (((uint64_t)1 << bits) - 1) : x);
}

/* Lanes of `mask` for which another iteration begins; `first`: from the lower bound. Their counter is
 * set. */
static ts_status simt_for_lanes(simt_warp *w, ts_val v, bool first, uint32_t mask, uint32_t *go)
{
    bool is_unsigned = ts_at(simt_fn_of(w), v)->aux & TS_A_UNSIGNED;
    uint64_t *counter = simt_reg(w, v + 1);
    *go = 0;
    while (mask) {
        uint32_t lane = simt_next(&mask);
        int64_t lower = simt_bound(w, v, simt_opnd(w, v, 0)[lane]), upper = simt_bound(w, v, simt_opnd(w, v, 1)[lane]);
        int64_t step = simt_bound(w, v, simt_opnd(w, v, 2)[lane]), i = first ? lower : simt_bound(w, v, counter[lane]);
        if (step <= 0)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "the step of `for` is %lld; it must be positive", (long long)step);
        bool on = first ? (is_unsigned ? (uint64_t)i < (uint64_t)upper : i < upper)
                        : (uint64_t)upper - (uint64_t)i > (uint64_t)step;
        if (!on)
            continue;
        counter[lane] = ts__scalar_wrap(ts_type_of(simt_fn_of(w), v + 1), (uint64_t)(first ? i : i + step));
        *go |= 1u << lane;
    }
    return TS_OK;
}

/* Lanes of a `for` that are through: results are the carried values. */
static void simt_for_finish(simt_warp *w, ts_val v, uint32_t mask)
{
    const ts_fn *fn = simt_fn_of(w);
    for (uint32_t i = 0; i + 3 < ts_at(fn, v)->n_opnd && mask; i++) {
        ts_val to = eval_find_res(fn, v, simt_run(w)->shape.end[v] + 1, i);
        for (uint32_t m = to ? mask : 0; m;) {
            uint32_t lane = simt_next(&m);
            simt_reg(w, to)[lane] = simt_reg(w, v + 2 + i)[lane];
        }
        w->flight[to] = w->flight[v + 2 + i];
    }
}

static ts_status simt_for(simt_warp *w, ts_val v)
{
    simt_frame frame = {.opener = v, .outer = w->active};
    uint32_t go;
    TS_TRY(simt_move(w, &(simt_moves){v, 3, v, v + 2}, w->active));
    TS_TRY(simt_for_lanes(w, v, true, w->active, &go));
    frame.joined = w->active & ~go;
    simt_for_finish(w, v, frame.joined);
    TS_TRY(simt_push(w, frame));
    w->active = go;
    w->pc = v + 1;
    return TS_OK;
}

static ts_status simt_loop(simt_warp *w, ts_val v)
{
    TS_TRY(simt_move(w, &(simt_moves){v, 0, v, v + 1}, w->active));
    TS_TRY(simt_push(w, (simt_frame){.opener = v, .outer = w->active}));
    w->pc = v + 1;
    return TS_OK;
}

/* The lanes that call run the function and meet at its return. */
static ts_status simt_call(simt_warp *w, ts_val v)
{
    eval_linked callee = eval_callee(simt_run(w), v);
    TS_TRY(simt_move(w, &(simt_moves){v, 0, v, callee.base + 1}, w->active));
    TS_TRY(simt_push(w, (simt_frame){.opener = v, .outer = w->active}));
    w->pc = callee.base + 1 + callee.fn->n_params;
    return TS_OK;
}

/* ---- recursion --------------------------------------------------------------------------------------- */

/* Too deep: the lanes end. */
static ts_status simt_too_deep(simt_warp *w, ts_val v, uint32_t depth)
{
    char text[128];
    uint32_t n = w->cta->machine->block[0], m = w->cta->machine->block[1];
    snprintf(text, sizeof text, TS_RECURSION_TEXT, depth);
    for (uint32_t mask = w->active; mask;) {
        uint32_t lane = simt_next(&mask), t = w->index * SIMT_LANES + lane;
        ts_fault fault = {.code = TS_FAULT_RAISE, .has_thread = 1, .thread = {t % n, t / n % m, t / n / m}};
        TS_TRY(eval_fault(simt_run(w), v, fault, text));
    }
    w->exited |= w->active;
    w->active = 0;
    return simt_resume(w);
}

/* Is there room for one more run of a region, for the recursion or recur `v`? The depth is that of the outermost. */
static ts_status simt_room_to_run(simt_warp *w, ts_val v, bool *fine)
{
    const ts_fn *fn = simt_fn_of(w);
    uint32_t n = 0, depth = ts_at(fn, v)->aux;
    for (uint32_t i = 0; i < w->frame.n; i++) {
        const ts_inst *inst = ts_at(fn, w->frame.at[i].opener);
        if (inst->op == TS_OP_recursion && !n)
            depth = inst->aux;
        n += inst->op == TS_OP_recursion || inst->op == TS_OP_recur;
    }
    *fine = n < depth;
    return *fine ? TS_OK : simt_too_deep(w, v, depth);
}

static ts_status simt_recursion(simt_warp *w, ts_val v)
{
    bool fine;
    TS_TRY(simt_room_to_run(w, v, &fine));
    if (!fine)
        return TS_OK;
    TS_TRY(simt_move(w, &(simt_moves){v, 0, v, v + 1}, w->active));
    TS_TRY(simt_push(w, (simt_frame){.opener = v, .outer = w->active}));
    w->pc = v + 1;
    return TS_OK;
}

/* The lanes that come here run the region anew; what its values were is kept. */
static ts_status simt_recur(simt_warp *w, ts_val v)
{
    const eval_run *run = simt_run(w);
    ts_val of = ts__recursion_of(run->fn, run->shape.parent, v);
    size_t n = (size_t)(run->shape.end[of] - of) * SIMT_LANES;
    bool fine;
    TS_TRY(simt_room_to_run(w, v, &fine));
    if (!fine)
        return TS_OK;
    ts_arena *arena = &w->cta->machine->arena;
    uint64_t *room = w->n_recurs < w->kept.n ? NULL : TS_NEW_N(arena, uint64_t, (size_t)run->fn->inst.n * SIMT_LANES);
    if (w->n_recurs == w->kept.n && (!room || !TS_PUSH(arena, &w->kept, room)))
        return simt_nomem(w);
    simt_frame frame = {.opener = v, .outer = w->active, .saved = w->kept.at[w->n_recurs++]};
    memcpy(frame.saved, simt_reg(w, of), n * sizeof *frame.saved);
    TS_TRY(simt_move(w, &(simt_moves){v, 0, v, of + 1}, w->active));
    TS_TRY(simt_push(w, frame));
    w->pc = of + 1;
    return TS_OK;
}

/* Lanes are through with the region that the recur of `frame` ran: their registers are again what they were. */
static ts_status simt_back(simt_warp *w, ts_val v, const simt_frame *frame)
{
    const ts_fn *fn = simt_fn_of(w);
    ts_arena *arena = &w->cta->machine->arena;
    ts_arena_mark mark = ts__arena_at(arena);
    ts_val of = ts__recursion_of(fn, simt_run(w)->shape.parent, frame->opener);
    uint32_t n = ts_at(fn, v)->n_opnd;
    uint64_t *given = TS_NEW_N(arena, uint64_t, (size_t)n * SIMT_LANES + 1);
    if (!given)
        return simt_nomem(w);
    for (uint32_t i = 0; i < n; i++)
        memcpy(given + (size_t)i * SIMT_LANES, simt_opnd(w, v, i), SIMT_LANES * sizeof *given);
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        for (ts_val x = of; x < simt_run(w)->shape.end[of]; x++)
            simt_reg(w, x)[lane] = frame->saved[(size_t)(x - of) * SIMT_LANES + lane];
        for (uint32_t i = 0; i < n; i++) {
            ts_val res = eval_find_res(fn, frame->opener, frame->opener + 1, i);
            if (res)
                simt_reg(w, res)[lane] = given[(size_t)i * SIMT_LANES + lane];
        }
    }
    ts__arena_rewind(arena, mark);
    return TS_OK;
}

/* The next pass through a loop's body for the lanes that continue. */
static ts_status simt_again(simt_warp *w, simt_frame *frame)
{
    uint32_t go = frame->again;
    ts_val v = frame->opener;
    if (ts_at(simt_fn_of(w), v)->op == TS_OP_for) {
        TS_TRY(simt_for_lanes(w, v, false, frame->again, &go));
        simt_for_finish(w, v, frame->again & ~go);
        frame->joined |= frame->again & ~go;
    }
    frame->again = 0;
    w->active = go;
    w->pc = v + 1;
    return TS_OK;
}

/* No lane is active any more: find the lanes that run next, or end the warp. */
static ts_status simt_resume(simt_warp *w)
{
    while (!w->active) {
        simt_frame *top = simt_top(w);
        if (!top) {
            w->wait = SIMT_DONE;
            return TS_OK;
        }
        if (top->other) {
            w->active = top->other;
            top->other = 0;
            top->in_else = true;
            w->pc = simt_run(w)->shape.other[top->opener] + 1;
        } else if (top->again) {
            TS_TRY(simt_again(w, top));
        } else {
            w->active = top->joined;
            w->pc = eval_after(simt_run(w), top->opener);
            w->n_recurs -= top->saved != NULL;
            w->frame.n--;
        }
    }
    return TS_OK;
}

/* Index of the innermost loop frame; -1 outside loops. */
static int64_t simt_loop_frame(const simt_warp *w)
{
    for (int64_t i = (int64_t)w->frame.n - 1; i >= 0; i--) {
        uint32_t op = ts_at(simt_fn_of(w), w->frame.at[i].opener)->op;
        if (op == TS_OP_for || op == TS_OP_loop)
            return i;
    }
    return -1;
}

static ts_status simt_leave_loop(simt_warp *w, ts_val v, bool is_break)
{
    int64_t at = simt_loop_frame(w);
    if (at < 0)
        return eval_fail(simt_run(w), v, TS_VERIFY, "outside a loop");
    simt_frame *frame = &w->frame.at[at];
    ts_val first = frame->opener + (ts_at(simt_fn_of(w), frame->opener)->op == TS_OP_for ? 2 : 1);
    TS_TRY(simt_move(w, &(simt_moves){v, 0, frame->opener, is_break ? 0 : first}, w->active));
    if (is_break)
        frame->joined |= w->active;
    else
        frame->again |= w->active;
    return TS_OK;
}

static ts_status simt_term(simt_warp *w, ts_val v)
{
    ts_op op = (ts_op)ts_at(simt_fn_of(w), v)->op;
    simt_frame *top = simt_top(w);
    bool from_call = top && ts_at(simt_fn_of(w), top->opener)->op == TS_OP_call;
    if (op == TS_OP_return && !from_call) {
        w->exited |= w->active;
    } else if (op == TS_OP_yield || op == TS_OP_return) {
        if (!top)
            return eval_fail(simt_run(w), v, TS_VERIFY, "outside a region");
        TS_TRY(top->saved ? simt_back(w, v, top) : simt_move(w, &(simt_moves){v, 0, top->opener, 0}, w->active));
        top->joined |= w->active;
    } else {
        TS_TRY(simt_leave_loop(w, v, op == TS_OP_break));
    }
    w->active = 0;
    return simt_resume(w);
}

/* ---- instructions ------------------------------------------------------------------------------------- */

static ts_status simt_prepare(simt_warp *w, ts_val v)
{
    simt_machine *machine = w->cta->machine;
    const ts_inst *inst = ts_at(machine->fn, v);
    ts_type from = simt_opnd_type(w, v, inst->op == TS_OP_select);
    ts_scalar *made = TS_NEW(&machine->run.arena, ts_scalar);
    if (!made)
        return simt_nomem(w);
    if (!ts__scalar_prepare(made, machine->module, (ts_op)inst->op, inst->aux, from, inst->type))
        return eval_fail(simt_run(w), v, TS_VERIFY, "not an operation on scalars");
    machine->scalar[v] = made;
    return TS_OK;
}

static ts_status simt_elem(simt_warp *w, ts_val v)
{
    const ts_scalar **scalar = (const ts_scalar **)w->cta->machine->scalar;
    if (!scalar[v])
        TS_TRY(simt_prepare(w, v));
    uint32_t n = ts_at(simt_fn_of(w), v)->n_opnd;
    const uint64_t *a = simt_opnd(w, v, 0), *b = n > 1 ? simt_opnd(w, v, 1) : a, *c = n > 2 ? simt_opnd(w, v, 2) : a;
    ts_scalar_fault fault = TS_SCALAR_OK;
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        uint64_t in[3] = {a[lane], b[lane], c[lane]};
        simt_reg(w, v)[lane] = ts__scalar_run(scalar[v], in, &fault);
    }
    return fault ? eval_fault(simt_run(w), v, (ts_fault){.code = TS_FAULT_DIV_ZERO},
                              "integer division by zero")
                 : TS_OK;
}

/* NaN as a GPU converts it: 0, or the least integer where the source is f64 or the result has 64 bits (PTX, cvt). */
static ts_status simt_ftoi(simt_warp *w, ts_val v)
{
    ts_type from = simt_opnd_type(w, v, 0), to = ts_type_of(simt_fn_of(w), v);
    TS_TRY(simt_elem(w, v));
    for (uint32_t m = from == TS_T_f64 || to == TS_T_i64 ? w->active : 0; m;) {
        uint32_t lane = simt_next(&m);
        if (ts__float_is_nan(from, simt_opnd(w, v, 0)[lane]))
            simt_reg(w, v)[lane] = ts__scalar_wrap(to, (uint64_t)1 << (ts__scalar_bits(to) - 1));
    }
    return TS_OK;
}

static simt_fn *simt_handler(ts_op op)
{
    static simt_fn *const run[TS_OP_COUNT] = {
        [TS_OP_if] = simt_if, [TS_OP_for] = simt_for, [TS_OP_loop] = simt_loop, [TS_OP_cold] = simt_cold,
        [TS_OP_call] = simt_call, [TS_OP_ftoi] = simt_ftoi, [TS_OP_recursion] = simt_recursion,
        [TS_OP_recur] = simt_recur,
#define X(name) [TS_OP_##name] = simt_##name,
        SIMT_OPS(X)
#undef X
    };
    return run[op];
}

/* Nothing to do here: structure, and operations that only order or hint. */
static bool simt_is_silent(ts_op op)
{
    static const bool silent[TS_OP_COUNT] = {
        [TS_OP_none] = true,         [TS_OP_arg] = true,        [TS_OP_res] = true,
        [TS_OP_else] = true,         [TS_OP_end] = true,        [TS_OP_wgmma_fence] = true,
        [TS_OP_setmaxnreg] = true,   [TS_OP_gdc_wait] = true,   [TS_OP_gdc_launch_dependents] = true,
        [TS_OP_tma_prefetch] = true, [TS_OP_nanosleep] = true,  [TS_OP_prefetch] = true,
    };
    return silent[op];
}

/* Values that a wgmma still writes may only be handed on or accumulated into. */
static ts_status simt_check_flight(const simt_warp *w, ts_val v)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    const uint32_t *opnds = ts_opnds(simt_fn_of(w), inst);
    if (!w->mma_used || inst->op == TS_OP_res || inst->op == TS_OP_wgmma ||
        ts_info(inst)->flags & (TS_REGION | TS_TERM))
        return TS_OK;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (w->flight[opnds[i]] > w->mma_retired)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "warp %u reads %%%u, which a wgmma without its wait still writes",
                             w->index, opnds[i]);
    return TS_OK;
}

static ts_status simt_one(simt_warp *w, ts_val v)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    simt_fn *run = simt_handler((ts_op)inst->op);
    TS_TRY(simt_check_flight(w, v));
    if (inst->op != TS_OP_res && inst->op != TS_OP_arg) /* these are written by others */
        w->flight[v] = 0;
    if (run)
        return run(w, v);
    if (ts_info(inst)->flags & TS_ELEM)
        return simt_elem(w, v);
    if (simt_is_silent((ts_op)inst->op))
        return TS_OK;
    return eval_fail(simt_run(w), v, TS_VERIFY, "%s does not exist at thread level", ts_info(inst)->name);
}

static bool simt_jumps(uint32_t op)
{
    return op == TS_OP_call || op == TS_OP_recur;
}

/* Runs a warp until it waits, ends, or has used its slice of instructions. */
static ts_status simt_run_warp(simt_warp *w, uint32_t slice)
{
    eval_run *run = &w->cta->machine->run;
    const ts_fn *fn = simt_fn_of(w);
    memcpy(run->block, w->cta->block, sizeof run->block);
    w->wait = SIMT_RUNS;
    while (w->wait == SIMT_RUNS && slice--) {
        if (w->pc >= fn->inst.n) { /* a body without a final return */
            w->exited |= w->active;
            w->active = 0;
        }
        if (!w->active) {
            TS_TRY(simt_resume(w));
            continue;
        }
        ts_val v = w->pc;
        uint16_t flags = ts_info(ts_at(fn, v))->flags;
        TS_TRY(eval_step(run, v));
        if (flags & TS_TERM) {
            TS_TRY(simt_term(w, v));
            continue;
        }
        TS_TRY(simt_one(w, v));
        if (w->wait == SIMT_RUNS && !(flags & TS_REGION) && !simt_jumps(ts_at(fn, v)->op))
            w->pc = v + 1;
        if (ts_at(fn, v)->op == TS_OP_nanosleep) /* others go on: this one may wait for them */
            return TS_OK;
    }
    return TS_OK;
}

/* ---- clusters ------------------------------------------------------------------------------------------ */

static ts_status simt_make_warp(simt_cta *cta, uint32_t index)
{
    simt_machine *machine = cta->machine;
    simt_warp *w = &cta->warp[index];
    uint32_t n = machine->fn->inst.n, left = machine->n_threads - index * SIMT_LANES;
    *w = (simt_warp){.cta = cta, .index = index, .pc = 1, .mma_open = 1};
    w->lanes = w->active = left >= SIMT_LANES ? UINT32_MAX : (1u << left) - 1;
    w->reg = TS_NEW_N(&machine->arena, uint64_t, (size_t)n * SIMT_LANES);
    w->flight = TS_NEW_N(&machine->arena, uint32_t, n);
    w->clock[index] = 1;
    for (size_t i = 0; w->reg && i < (size_t)n * SIMT_LANES; i++)
        w->reg[i] = SIMT_POISON;
    return w->reg && w->flight ? TS_OK : ts_fail(machine->run.err, TS_NOMEM, "out of memory for %u values", n);
}

/* What lies between the arrays of shared_alloc, and behind the last. */
static void simt_mark_between(simt_cta *cta)
{
    const simt_machine *machine = cta->machine;
    uint32_t end = machine->plan->shared_bytes + machine->run.env->dynamic_bytes;
    for (ts_val v = 1; v < machine->fn->inst.n; v++)
        if (ts_at(machine->fn, v)->op == TS_OP_shared_alloc) {
            memset(cta->shadow + end, SIMT_GUARD, machine->alloc_at[v] - end);
            end = machine->alloc_at[v] + ts_pool(machine->fn, ts_at(machine->fn, v))[0];
        }
    memset(cta->shadow + end, SIMT_GUARD, machine->shared_bytes - end);
}

static ts_status simt_make_cta(simt_machine *machine, uint32_t rank, const uint32_t block[3])
{
    simt_cta *cta = &machine->cta[rank];
    uint32_t bytes = machine->shared_bytes;
    *cta = (simt_cta){.machine = machine, .rank = rank};
    memcpy(cta->block, block, sizeof cta->block);
    cta->smem = ts__arena_get(&machine->arena, bytes);
    cta->shadow = ts__arena_get(&machine->arena, bytes);
    cta->generic = TS_NEW_N(&machine->arena, uint64_t, bytes);
    if (machine->run.env->check_races)
        cta->touched = TS_NEW_N(&machine->arena, uint8_t, bytes * simt_touch_bytes(machine));
    if (machine->run.env->check_threads)
        cta->written = TS_NEW_N(&machine->arena, uint8_t, bytes + 1);
    cta->warp = TS_NEW_N(&machine->arena, simt_warp, machine->n_warps);
    if (machine->arena.failed)
        return ts_fail(machine->run.err, TS_NOMEM, "out of memory for %u bytes of shared memory", bytes);
    memset(cta->smem, 0xCD, bytes);
    simt_mark_between(cta);
    for (uint32_t i = 0; i < machine->n_warps; i++)
        TS_TRY(simt_make_warp(cta, i));
    return TS_OK;
}

static const char *simt_wait_name(simt_wait wait)
{
    static const char *const names[] = {"runs", "waits at a barrier", "waits at an mbarrier",
                                        "waits for the cluster", "has ended"};
    return names[wait];
}

static ts_status simt_deadlock(const simt_machine *machine)
{
    char text[800];
    size_t n = 0;
    for (uint32_t i = 0; i < machine->n_ctas * machine->n_warps && n < sizeof text - 80; i++) {
        const simt_warp *w = &machine->cta[i / machine->n_warps].warp[i % machine->n_warps];
        if (w->wait != SIMT_DONE)
            n += (size_t)snprintf(text + n, sizeof text - n, "; warp %u of CTA %u %s at %%%u (%s)",
                                  w->index, w->cta->rank, simt_wait_name(w->wait), w->pc,
                                  ts_info(ts_at(machine->fn, w->pc))->name);
    }
    return ts_fail(machine->run.err, TS_LAUNCH, "@%s, block (%u, %u, %u): deadlock%s",
                   ts_str_get(machine->module, machine->fn->name), machine->cta[0].block[0],
                   machine->cta[0].block[1], machine->cta[0].block[2], text);
}

/* Which warp goes next and for how long: in turn, or (schedule != 0) a reproducible shuffle. */
static uint32_t simt_pick(simt_machine *machine, uint32_t turn, uint32_t *slice)
{
    uint32_t n = machine->n_ctas * machine->n_warps, schedule = machine->run.env->schedule;
    *slice = 100000;
    if (schedule == 0)
        return turn % n;
    if (schedule == 1)
        return n - 1 - turn % n;
    machine->random = ts_hash_mix(machine->random, schedule + turn);
    *slice = 1 + (uint32_t)(machine->random >> 40) % 64;
    return (uint32_t)(machine->random >> 8) % n;
}

/* Can this warp do something now? A waiting one is tried again; it counts as progress only if it moves. */
static ts_status simt_schedule(simt_machine *machine)
{
    uint32_t n = machine->n_ctas * machine->n_warps, done = 0, idle = 0;
    for (uint32_t turn = 0; done < n; turn++) {
        uint32_t slice, pick = simt_pick(machine, turn, &slice);
        if (idle > n) /* random picks may miss a warp: look at each in turn before giving up */
            pick = idle % n;
        simt_warp *w = &machine->cta[pick / machine->n_warps].warp[pick % machine->n_warps];
        if (w->wait == SIMT_DONE) {
            idle++;
        } else {
            ts_val before = w->pc;
            uint64_t steps = machine->run.env->steps;
            TS_TRY(simt_run_warp(w, slice));
            bool moved = w->pc != before || w->wait == SIMT_RUNS || w->wait == SIMT_DONE ||
                         machine->run.env->steps > steps + 1;
            idle = moved ? 0 : idle + 1;
            done += w->wait == SIMT_DONE;
        }
        if (idle > 3 * n)
            return simt_deadlock(machine);
    }
    return TS_OK;
}

static ts_status simt_cluster(simt_machine *machine, const uint32_t first[3])
{
    ts_arena_mark mark = ts__arena_at(&machine->arena);
    machine->cluster_phase = 0;
    machine->random = 1;
    machine->cta = TS_NEW_N(&machine->arena, simt_cta, machine->n_ctas);
    if (!machine->cta)
        return ts_fail(machine->run.err, TS_NOMEM, "out of memory while evaluating");
    const uint32_t *c = machine->cluster;
    for (uint32_t rank = 0; rank < machine->n_ctas; rank++)
        TS_TRY(simt_make_cta(machine, rank, (uint32_t[]){first[0] + rank % c[0], first[1] + rank / c[0] % c[1],
                                                         first[2] + rank / c[0] / c[1]}));
    TS_TRY(simt_schedule(machine));
    for (uint32_t rank = 0; rank < machine->n_ctas; rank++)
        TS_TRY(simt_deliver_all(&machine->cta[rank].warp[0], 0));
    ts__arena_rewind(&machine->arena, mark);
    return TS_OK;
}

static ts_status simt_grid(simt_machine *machine)
{
    const uint32_t *grid = machine->run.grid, *c = machine->cluster;
    uint32_t b[3];
    for (uint32_t axis = 0; axis < 3; axis++)
        if (grid[axis] % c[axis])
            return ts_fail(machine->run.err, TS_VALUE,
                           "a grid of %u blocks along axis %u does not divide into clusters "
                           "of %u", grid[axis], axis, c[axis]);
    for (b[2] = 0; b[2] < grid[2]; b[2] += c[2])
        for (b[1] = 0; b[1] < grid[1]; b[1] += c[1])
            for (b[0] = 0; b[0] < grid[0]; b[0] += c[0])
                TS_TRY(simt_cluster(machine, b));
    return TS_OK;
}

/* Block, cluster and shared memory of the plan, or of the environment where it says them. */
static ts_status simt_check_shape(simt_machine *machine, const ts_plan *plan, const ts_eval_env *env, ts_error *err)
{
    const uint32_t *block = env->block_threads, *cluster = env->cluster;
    bool has_block = block[0] | block[1] | block[2], has_cluster = cluster[0] | cluster[1] | cluster[2];
    uint64_t threads = 1, ctas = 1, bytes = (uint64_t)plan->shared_bytes + env->dynamic_bytes;
    for (uint32_t axis = 0; axis < 3; axis++) {
        machine->block[axis] = has_block ? block[axis] : axis ? 1 : plan->threads;
        machine->cluster[axis] = has_cluster ? cluster[axis] : axis ? 1 : TS_MAX(plan->cluster, 1u);
        threads *= TS_MIN(machine->block[axis], SIMT_AXIS_MAX + 1);
        ctas *= TS_MIN(machine->cluster[axis], SIMT_AXIS_MAX + 1);
    }
    if (threads == 0 || threads > TS_BLOCK_THREADS)
        return ts_fail(err, TS_VALUE, "a block of (%u, %u, %u) threads; 1 to %d are possible", machine->block[0],
                       machine->block[1], machine->block[2], TS_BLOCK_THREADS);
    if (bytes > ts__sm_most_shared())
        return ts_fail(err, TS_VALUE, "%llu bytes of shared memory; at most %u are possible", (unsigned long long)bytes,
                       ts__sm_most_shared());
    if (ctas == 0 || ctas > TS_CLUSTER_BLOCKS || plan->n_tmaps > TS_PLAN_TMAPS)
        return ts_fail(err, TS_VALUE, "cluster of (%u, %u, %u) blocks or %u tensor maps are too many",
                       machine->cluster[0], machine->cluster[1], machine->cluster[2], plan->n_tmaps);
    machine->n_threads = (uint32_t)threads;
    machine->n_warps = (machine->n_threads + SIMT_LANES - 1) / SIMT_LANES;
    machine->n_ctas = (uint32_t)ctas;
    machine->shared_bytes = (uint32_t)bytes;
    return TS_OK;
}

/* A place for each shared_alloc, with a gap behind it. */
static ts_status simt_place_shared(simt_machine *machine)
{
    const ts_fn *fn = machine->fn;
    machine->alloc_at = TS_NEW_N(&machine->run.arena, uint32_t, fn->inst.n);
    if (!machine->alloc_at)
        return ts_fail(machine->run.err, TS_NOMEM, "out of memory while evaluating");
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op != TS_OP_shared_alloc)
            continue;
        const uint32_t *words = ts_pool(fn, inst);
        uint64_t at = ((uint64_t)machine->shared_bytes + words[1] - 1) / words[1] * words[1], end = at + words[0];
        if (end > ts__sm_most_shared())
            return eval_fail(&machine->run, v, TS_VALUE, "%llu bytes of shared memory; at most %u are possible",
                             (unsigned long long)end, ts__sm_most_shared());
        machine->alloc_at[v] = (uint32_t)at;
        machine->shared_bytes = (uint32_t)end + SIMT_GAP;
    }
    return TS_OK;
}

/* Blocks that wait for each other run together, as those of one cluster. */
static ts_status simt_gather(simt_machine *machine)
{
    bool together = machine->plan->cooperative;
    const uint32_t *grid = machine->run.grid;
    for (ts_val v = 1; v < machine->fn->inst.n && !together; v++)
        together = ts_at(machine->fn, v)->op == TS_OP_grid_sync;
    if (!together)
        return TS_OK;
    if ((double)grid[0] * grid[1] * grid[2] > SIMT_MOST_TOGETHER || machine->n_ctas != 1)
        return ts_fail(machine->run.err, TS_VALUE, "the blocks of @%s wait for each other; the interpreter runs up to "
                       "%d of them together, without clusters, not %u x %u x %u", ts_str_get(machine->module,
                       machine->fn->name), SIMT_MOST_TOGETHER, grid[0], grid[1], grid[2]);
    memcpy(machine->cluster, grid, sizeof machine->cluster);
    machine->n_ctas = grid[0] * grid[1] * grid[2];
    return TS_OK;
}

static ts_status simt_start(simt_machine *machine)
{
    TS_TRY(simt_gather(machine));
    TS_TRY(simt_place_shared(machine));
    machine->scalar = TS_NEW_N(&machine->run.arena, ts_scalar *, machine->fn->inst.n);
    return machine->scalar ? simt_grid(machine)
                           : ts_fail(machine->run.err, TS_NOMEM, "out of memory while evaluating");
}

ts_status ts__eval_simt(const ts_fn *fn, const ts_plan *plan, const uint64_t *params, size_t n, const uint32_t grid[3],
                       ts_eval_env *env, ts_error *err)
{
    simt_machine machine = {.module = fn->module, .plan = plan};
    TS_TRY(simt_check_shape(&machine, plan, env, err));
    ts__arena_init(&machine.arena, env->alloc);
    ts_status status = ts__math_expand(fn, &machine.arena, &fn, err);
    if (status != TS_OK) {
        ts__arena_deinit(&machine.arena);
        return status;
    }
    status = eval_run_init(&machine.run, fn, env, err);
    machine.fn = machine.run.fn;
    machine.run.params = params;
    machine.run.n_params = n;
    memcpy(machine.run.grid, grid, sizeof machine.run.grid);
    if (status == TS_OK)
        status = simt_start(&machine);
    ts__arena_deinit(&machine.arena);
    eval_run_deinit(&machine.run);
    return status;
}
