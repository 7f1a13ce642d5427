/* SPDX-License-Identifier: Apache-2.0
 *
 * Unrolling: the trips of a loop whose number is known, one after the other, where they are short enough together.
 *
 *     %5 = for %3 in (0, 3, 1) iter(%4 = %x) : i32 {        %7 = muli %x, 0 : i32
 *       %6 = muli %4, %3 : i32                        ->    %8 = muli %7, 1 : i32
 *       continue %6                                         %9 = muli %8, 2 : i32
 *     }                                                     (uses of %5 are %9)
 *
 * It is the walk of fold.c, which meets the trips with their constants: bounds of an inner loop that depend on an outer
 * counter are known there, and so is a `loop` that halves a number until nothing is left. A loop is tried, and what
 * was written is taken back when a jump turns out to hang on data, or the trips become too long; then its inner loops
 * are tried. Loops that make memory of their own stay. Cost: linear, and what is taken back (UNROLL_TRIES).
 *
 * Of a `for` that stays and is small, four trips become one, so that a GPU waits for four loads at once; what is left
 * of the trips is the loop again:
 *
 *     for %i in (%a, %n, %s) {            %5 = for %i in (%a, %n - 3 * %s, 4 * %s) iter(%next = %a) { body of %i,
 *       body                       ->           %i + %s, %i + 2 * %s, %i + 3 * %s; continue %i + 4 * %s }
 *     }                                   for %j in (%5, %n, %s) { body }
 */
#include "pass/fold.h"

enum {
    UNROLL_MOST = 2048,  /* instructions of all trips of a loop */
    UNROLL_TRIPS = 256,
    UNROLL_TIMES = 4,    /* trips of a long loop that become one */
    UNROLL_SHORT = 64,   /* instructions of such a loop */
    UNROLL_TRIES = 1 << 15
};

typedef struct fold_unroll {
    struct fold_unroll *outer;
    ts_val loop;
    uint32_t kept, n; /* regions that stay around the loop; carried values */
    ts_val *values;   /* of the last jump */
    uint32_t how;     /* that jump, 0: none yet */
    bool gives_up;
} fold_unroll;

bool ts__fold_gives_up(const fold_ctx *c)
{
    for (const fold_unroll *u = c->unroll; u; u = u->outer)
        if (u->gives_up)
            return true;
    return false;
}

bool ts__fold_jump(fold_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->from, v);
    fold_unroll *u = c->unroll;
    if (!u || (inst->op != TS_OP_break && inst->op != TS_OP_continue) ||
        ts__term_target(c->from, &c->shape, v) != u->loop)
        return false;
    if (c->kept != u->kept)
        u->gives_up = true; /* whether the flow comes here is not known */
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        u->values[i] = c->map[ts_opnd(c->from, v, i)];
    u->how = inst->op;
    return true;
}

static bool unroll_makes_memory(const fold_ctx *c, ts_val loop)
{
    for (ts_val v = loop + 1; v < c->shape.end[loop]; v++)
        if (ts_at(c->from, v)->op == TS_OP_local || ts_at(c->from, v)->op == TS_OP_shared_alloc)
            return true;
    return false;
}

/* Lower bound, end and step of a `for`, where all are known. */
static bool unroll_bounds(const fold_ctx *c, ts_val v, int64_t bound[3])
{
    for (uint32_t i = 0; i < 3; i++)
        if (!ts__const_as_int(c->b.fn, c->map[ts_opnd(c->from, v, i)], &bound[i]))
            return false;
    bool fits = bound[2] > 0 && bound[0] < bound[1] && bound[1] <= INT64_MAX - bound[2] && bound[0] >= INT64_MIN / 2 &&
                (bound[1] - bound[0] - 1) / bound[2] < UNROLL_TRIPS;
    return fits && (!(ts_at(c->from, v)->aux & TS_A_UNSIGNED) || bound[0] >= 0);
}

/* One trip with the carried values of `u`; its jump leaves the next ones there. True when the flow ended in it. */
static bool unroll_trip(fold_ctx *c, fold_unroll *u, uint32_t first)
{
    for (uint32_t i = 0; i < u->n; i++)
        c->map[u->loop + 1 + first + i] = u->values[i];
    u->how = 0;
    return ts__fold_region(c, u->loop + 1 + first + u->n, c->shape.end[u->loop]) && !u->how;
}

static void unroll_trips(fold_ctx *c, fold_unroll *u, const int64_t *bound, bool *left)
{
    uint32_t begin = c->b.fn->inst.n, first = bound != NULL;
    int64_t at = bound ? bound[0] : 0;
    for (uint32_t trip = 0; !*left && !u->gives_up && (!bound || at < bound[1]); trip++) {
        if (bound) {
            c->map[u->loop + 1] = ts__fold_bits(c, ts_type_of(c->from, u->loop + 1), (uint64_t)at);
            at += bound[2];
        }
        *left = unroll_trip(c, u, first);
        u->gives_up |= trip >= UNROLL_TRIPS || c->b.fn->inst.n - begin > UNROLL_MOST || ts__fold_failed(c);
        if (u->how == TS_OP_break)
            break;
    }
}

bool ts__fold_unroll(fold_ctx *c, ts_val v, bool *dissolved)
{
    const ts_inst *inst = ts_at(c->from, v);
    ts_fn *fn = c->b.fn;
    int64_t bound[3];
    bool left = false, counts = inst->op == TS_OP_for;
    if ((!counts && inst->op != TS_OP_loop) || (counts && !unroll_bounds(c, v, bound)) || unroll_makes_memory(c, v))
        return false;
    uint32_t first = counts ? 3 : 0, n_inst = fn->inst.n, n_pool = fn->pool.n;
    fold_unroll u = {.outer = c->unroll, .loop = v, .kept = c->kept, .n = inst->n_opnd - first};
    u.values = TS_NEW_N(c->scratch, ts_val, TS_MAX(u.n, ts__n_res(c->from, c->shape.end[v])) + 1);
    if (!u.values)
        return false;
    for (uint32_t i = 0; i < u.n; i++)
        u.values[i] = c->map[ts_opnd(c->from, v, first + i)];
    c->unroll = &u;
    ts__numbers_open(&c->numbers);
    unroll_trips(c, &u, counts ? bound : NULL, &left);
    ts__numbers_close(&c->numbers);
    c->unroll = u.outer;
    *dissolved = !u.gives_up;
    if (u.gives_up) {
        c->kept = u.kept;
        c->tries -= TS_MIN(c->tries, fn->inst.n - n_inst);
        fn->inst.n = fn->loc.n = n_inst;
        fn->pool.n = n_pool;
        return false;
    }
    for (uint32_t i = 0; !left && i < ts__n_res(c->from, c->shape.end[v]); i++)
        c->map[c->shape.end[v] + 1 + i] = u.values[i];
    return left;
}

/* ---- some trips at once ---------------------------------------------------------------------------------- */

/* A `for` over 32 bits whose body is short, has no loop and no barrier, and goes on at its end alone. */
static bool unroll_is_short(const fold_ctx *c, ts_val v)
{
    ts_val end = c->shape.end[v];
    if (ts_at(c->from, v)->op != TS_OP_for || ts_type_of(c->from, v + 1) != TS_T_i32 || end - v > UNROLL_SHORT)
        return false;
    for (ts_val i = v + 1; i < end; i++) {
        const ts_inst *inst = ts_at(c->from, i);
        bool jumps = inst->op == TS_OP_break || inst->op == TS_OP_return ||
                     (inst->op == TS_OP_continue && i + 1 != end);
        bool loops = ts_info(inst)->flags & TS_REGION && inst->op != TS_OP_if;
        if (jumps || loops || (ts_info(inst)->flags & TS_SIDE && !(ts_info(inst)->flags & TS_WRITE)))
            return false;
    }
    return ts_at(c->from, end - 1)->op == TS_OP_continue;
}

/* The largest step of which four are a step. */
static int64_t unroll_most(bool is_unsigned)
{
    return (is_unsigned ? UINT32_MAX : INT32_MAX) / UNROLL_TIMES;
}

/* Four steps, and in *stop the smallest number, which ends the loop at once, where they are none. */
static ts_val unroll_step(fold_ctx *c, ts_val step, bool is_unsigned, ts_val *stop)
{
    ts_builder *b = &c->b;
    int64_t known;
    uint32_t attr = is_unsigned ? TS_A_UNSIGNED : 0;
    ts_val by = step;
    if (!ts__const_as_int(b->fn, step, &known)) {
        ts_val most = ts_int(b, TS_T_i32, unroll_most(is_unsigned));
        ts_val many = ts_cmp(b, TS_OP_cmpi, TS_GT, step, most, attr);
        by = ts_op2(b, TS_OP_mini, step, most, attr);
        *stop = ts_select(b, many, ts_int(b, TS_T_i32, is_unsigned ? 0 : INT32_MIN), *stop);
    }
    return ts_op2(b, TS_OP_muli, by, ts_int(b, TS_T_i32, UNROLL_TIMES), 0);
}

/* The end of the trips that are done in fours: upper - 3 * step, where that does not wrap. */
static ts_val unroll_stop(fold_ctx *c, ts_val upper, ts_val step, bool is_unsigned)
{
    ts_builder *b = &c->b;
    uint32_t attr = is_unsigned ? TS_A_UNSIGNED : 0;
    ts_val wide = ts_cast(b, TS_OP_exti, upper, TS_T_i64, attr), by = ts_cast(b, TS_OP_exti, step, TS_T_i64, attr);
    ts_val reach = ts_op2(b, TS_OP_muli, by, ts_int(b, TS_T_i64, UNROLL_TIMES - 1), 0);
    ts_val stop = ts_op2(b, TS_OP_subi, wide, reach, 0);
    stop = ts_op2(b, TS_OP_maxi, stop, ts_int(b, TS_T_i64, is_unsigned ? 0 : INT32_MIN), 0);
    return ts_cast(b, TS_OP_trunci, stop, TS_T_i32, 0);
}

/* The four trips in the body of the loop `opener`; leaves the carried values in u->values. */
static void unroll_fours(fold_ctx *c, fold_unroll *u, ts_val opener, ts_val step)
{
    ts_val counter = ts_region_arg(c->b.fn, opener, 0), at = counter;
    for (uint32_t i = 0; i < u->n; i++)
        u->values[i] = ts_region_arg(c->b.fn, opener, 2 + i);
    for (uint32_t trip = 0; trip < UNROLL_TIMES; trip++) {
        c->map[u->loop + 1] = at;
        unroll_trip(c, u, 1);
        at = ts_op2(&c->b, TS_OP_addi, at, step, 0);
    }
    ts_val *next = TS_NEW_N(c->scratch, ts_val, u->n + 1);
    if (!next)
        return;
    next[0] = at;
    memcpy(next + 1, u->values, u->n * sizeof *next);
    ts_term(&c->b, TS_OP_continue, u->n + 1, next);
}

/* What is left: the loop from `lower` on with the carried values `inits`. */
static void unroll_rest(fold_ctx *c, ts_val v, ts_val lower, ts_val upper, ts_val step, uint32_t n, const ts_val *inits)
{
    ts_val end = c->shape.end[v];
    ts_val opener = ts_for_begin(&c->b, lower, upper, step, n, inits, ts_at(c->from, v)->aux);
    for (uint32_t i = 0; i <= n; i++)
        c->map[v + 1 + i] = ts_region_arg(c->b.fn, opener, i);
    c->kept++;
    ts__numbers_open(&c->numbers);
    ts__fold_region(c, v + 2 + n, end);
    ts__numbers_close(&c->numbers);
    c->kept--;
    ts_end_like(&c->b, opener);
    for (uint32_t i = 0; i < n; i++)
        c->map[end + 1 + i] = c->b.fn->inst.n - n + i;
}

bool ts__fold_unroll_some(fold_ctx *c, ts_val v)
{
    if (!unroll_is_short(c, v))
        return false;
    const ts_inst inst = *ts_at(c->from, v);
    const ts_val *old = ts_opnds(c->from, &inst);
    ts_val lower = c->map[old[0]], upper = c->map[old[1]], step = c->map[old[2]];
    uint32_t n = inst.n_opnd - 3u;
    int64_t known;
    bool is_unsigned = inst.aux & TS_A_UNSIGNED;
    if (ts__const_as_int(c->b.fn, step, &known) &&
        (is_unsigned ? (int64_t)(uint32_t)known : known) > unroll_most(is_unsigned))
        return false;
    fold_unroll u = {.outer = c->unroll, .loop = v, .kept = c->kept + 1, .n = n};
    ts_val *inits = TS_NEW_N(c->scratch, ts_val, n + 1);
    u.values = TS_NEW_N(c->scratch, ts_val, n + 1);
    if (!inits || !u.values)
        return false;
    inits[0] = lower;
    for (uint32_t i = 0; i < n; i++)
        inits[1 + i] = c->map[old[3 + i]];
    ts_val stop = unroll_stop(c, upper, step, is_unsigned), by = unroll_step(c, step, is_unsigned, &stop);
    ts_val opener = ts_for_begin(&c->b, lower, stop, by, n + 1, inits, inst.aux);
    c->unroll = &u;
    c->kept++;
    c->numbers.epoch++;
    ts__numbers_open(&c->numbers);
    unroll_fours(c, &u, opener, step);
    ts__numbers_close(&c->numbers);
    c->kept--;
    c->unroll = u.outer;
    ts_end_like(&c->b, opener);
    ts_val first = c->b.fn->inst.n - (n + 1);
    for (uint32_t i = 0; i < n; i++)
        inits[i] = first + 1 + i;
    c->numbers.epoch++;
    unroll_rest(c, v, first, upper, step, n, inits);
    return true;
}

ts_status ts__pass_unroll(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    return ts__fold(fn, env, fn->opt_level == 1 ? 0 : UNROLL_TRIES, err); /* 1: code that is quickly made */
}
