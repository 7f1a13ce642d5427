/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that count, written as such: what a `while` with a counter is.
 *
 *     %r = loop iter(%i = %a, %x = %y) : f32 {           %r = for %i in (%a, %n, %s) iter(%x = %y) : f32 {
 *       %go = cmpi lt %i, %n
 *       if %go { yield } else { break %x }         ─▶
 *       ..                                                 ..
 *       %j = addi %i, %s
 *       continue %j, %z                                    continue %z
 *     }                                                  }
 *
 * where %n and %s are made outside, %s is 1 or more, nothing else leaves the loop, and what the break gives is carried
 * or made outside. A `for` is what lockstep takes warp by warp without masks, and unwrap in two copies.
 *
 * A sum past the greatest number of 64 bits would end the `for`, where the loop goes on from the least one. It happens
 * only where %n lies less than %s below that number. Unless the facts exclude it, the `for` counts where it does not,
 * and the loop as it was follows, which then leaves at once:
 *
 *     %ok = cmpi le %n, max - (%s - 1)
 *     %x1 = for %i in (%a, select %ok, %n, %a, %s) iter(%x = %y) { .. }
 *     %r  = loop iter(%i = select %ok, %n, %a, %x = %x1) { .. }
 *
 * Cost: the facts, and one copy of the function; a second one of loops that may wrap.
 */
#include "pass/facts.h"
#include "pass/pass.h"

typedef struct counted_ctx {
    const ts_fn *fn;
    ts_builder b;
    ts_shape shape;
    ts_facts facts;
    ts_val *map;
    ts_arena *scratch;
} counted_ctx;

/* A loop that can be written so. */
typedef struct counted_loop {
    ts_val v, guard, last; /* the loop, its `if`, its `continue` */
    ts_val leave;          /* the `break` */
    ts_val stop, step;
    uint32_t i, n;         /* number of the counter among the n carried values */
} counted_loop;

static bool counted_outside(const counted_ctx *c, ts_val loop, ts_val x)
{
    int64_t known;
    return x < loop || ts__const_as_int(c->fn, x, &known);
}

/* x in the new function, made anew where it is a constant of the body. */
static ts_val counted_made(counted_ctx *c, ts_val loop, ts_val x)
{
    int64_t known;
    if (x > loop && ts__const_as_int(c->fn, x, &known))
        return ts_int(&c->b, ts_type_of(c->fn, x), known);
    return c->map[x];
}

/* The `if` at the head, with nothing but the break in it. */
static bool counted_guard(const counted_ctx *c, counted_loop *l)
{
    ts_val at = l->v + 1 + l->n;
    while (at < c->shape.end[l->v] && ts_info(ts_at(c->fn, at))->flags & TS_ELEM)
        at++;
    const ts_inst *inst = ts_at(c->fn, at);
    ts_val other = inst->op == TS_OP_if ? c->shape.other[at] : 0;
    if (!other || ts__n_res(c->fn, c->shape.end[at]) || other != at + 2 || ts_at(c->fn, at + 1)->op != TS_OP_yield ||
        c->shape.end[at] != other + 2 || ts_at(c->fn, other + 1)->op != TS_OP_break)
        return false;
    l->guard = at;
    l->leave = other + 1;
    return true;
}

/* The condition: a carried value below what is made outside. */
static bool counted_condition(const counted_ctx *c, counted_loop *l)
{
    const ts_inst *cond = ts_at(c->fn, ts_opnd(c->fn, l->guard, 0));
    ts_pred pred = TS_A_GET_PRED(cond->aux);
    if (cond->op != TS_OP_cmpi || cond->aux & TS_A_UNSIGNED || (pred != TS_LT && pred != TS_GT))
        return false;
    ts_val x = cond->opnd[pred == TS_GT];
    l->stop = cond->opnd[pred == TS_LT];
    l->i = x - (l->v + 1);
    return x > l->v && l->i < l->n && counted_outside(c, l->v, l->stop) && ts_type_of(c->fn, x) == TS_T_i64;
}

static bool counted_step(const counted_ctx *c, counted_loop *l)
{
    const ts_inst *sum = ts_at(c->fn, ts_opnd(c->fn, l->last, l->i));
    ts_val counter = l->v + 1 + l->i;
    if (sum->op != TS_OP_addi || (sum->opnd[0] != counter && sum->opnd[1] != counter))
        return false;
    l->step = sum->opnd[sum->opnd[0] == counter];
    return counted_outside(c, l->v, l->step) && c->facts.at[l->step].lo >= 1;
}

/* Nothing else leaves the loop or begins its next turn. */
static bool counted_is_plain(const counted_ctx *c, const counted_loop *l)
{
    for (ts_val k = l->v + 1; k < l->last; k++) {
        uint32_t op = ts_at(c->fn, k)->op;
        bool jumps = op == TS_OP_break || op == TS_OP_continue;
        if (op == TS_OP_return || (jumps && k != l->leave && ts__term_target(c->fn, &c->shape, k) == l->v))
            return false;
    }
    return true;
}

/* Are its results carried values, or made outside, or not asked for? */
static bool counted_results(const counted_ctx *c, const counted_loop *l)
{
    ts_val first = c->shape.end[l->v] + 1;
    for (uint32_t k = 0; k < ts_at(c->fn, l->leave)->n_opnd; k++) {
        ts_val x = ts_opnd(c->fn, l->leave, k);
        bool carried = x > l->v && x <= l->v + l->n && x != l->v + 1 + l->i;
        if (c->shape.uses[first + k] && !carried && !counted_outside(c, l->v, x))
            return false;
    }
    return true;
}

static bool counted_finds(const counted_ctx *c, ts_val v, counted_loop *l)
{
    *l = (counted_loop){.v = v, .n = ts_at(c->fn, v)->n_opnd, .last = c->shape.end[v] - 1};
    return ts_at(c->fn, l->last)->op == TS_OP_continue && counted_guard(c, l) && counted_condition(c, l) &&
           counted_step(c, l) && counted_is_plain(c, l) && counted_results(c, l);
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void counted_range(counted_ctx *c, ts_val from, ts_val to);

/* Whether the counter's last sum may be past the greatest number. */
static bool counted_may_wrap(const counted_ctx *c, const counted_loop *l)
{
    return c->facts.at[l->stop].hi > INT64_MAX - (c->facts.at[l->step].hi - 1);
}

/* What the values that the loop was left with are after the `for` of `opener`. */
static void counted_leave(counted_ctx *c, const counted_loop *l, ts_val opener)
{
    ts_val end = c->shape.end[l->v], first = l->v + 1;
    for (uint32_t k = 0; k < ts__n_res(c->fn, end); k++) {
        ts_val y = ts_opnd(c->fn, l->leave, k);
        uint32_t at = y - first - (y - first > l->i);
        bool carried = y > l->v && y <= l->v + l->n && y != first + l->i;
        c->map[end + 1 + k] = carried ? ts_res(&c->b, opener, at) : y == first + l->i ? 0 : counted_made(c, l->v, y);
    }
}

/* The loop as it was, from counter `start` and the carried values that the `for` of `opener` ended with. */
static void counted_rest(counted_ctx *c, const counted_loop *l, ts_val opener, ts_val start, ts_val *x)
{
    ts_val end = c->shape.end[l->v], first = l->v + 1;
    for (uint32_t k = 0, at = 0; k < l->n; k++)
        x[k] = k == l->i ? start : ts_res(&c->b, opener, at++);
    opener = ts_loop_begin(&c->b, l->n, x);
    c->map[l->v] = opener;
    for (uint32_t k = 0; k < l->n; k++)
        c->map[first + k] = ts_region_arg(c->b.fn, opener, k);
    for (ts_val v = first + l->n; v < end; v++)
        ts__copy(&c->b, c->fn, v, c->map);
    ts__copy(&c->b, c->fn, end, c->map);
    for (ts_val v = end + 1; v <= end + ts__n_res(c->fn, end); v++)
        ts__copy(&c->b, c->fn, v, c->map);
}

static void counted_write(counted_ctx *c, const counted_loop *l)
{
    ts_val *x = TS_NEW_N(c->scratch, ts_val, l->n + 1), first = l->v + 1;
    uint32_t n = 0;
    if (!x)
        return;
    bool wraps = counted_may_wrap(c, l);
    ts_val start = c->map[ts_opnd(c->fn, l->v, l->i)], rest = 0;
    ts_val stop = counted_made(c, l->v, l->stop), step = counted_made(c, l->v, l->step);
    if (wraps) {
        ts_val most = ts_op2(&c->b, TS_OP_subi, ts_int(&c->b, TS_T_i64, INT64_MAX),
                             ts_op2(&c->b, TS_OP_subi, step, ts_int(&c->b, TS_T_i64, 1), 0), 0);
        ts_val fine = ts_cmp(&c->b, TS_OP_cmpi, TS_LE, stop, most, 0);
        rest = stop = ts_select(&c->b, fine, stop, start);
    }
    for (uint32_t k = 0; k < l->n; k++)
        if (k != l->i)
            x[n++] = c->map[ts_opnd(c->fn, l->v, k)];
    ts_val opener = ts_for_begin(&c->b, start, stop, step, n, x, 0);
    c->map[first + l->i] = ts_region_arg(c->b.fn, opener, 0);
    for (uint32_t k = 0, at = 1; k < l->n; k++)
        if (k != l->i)
            c->map[first + k] = ts_region_arg(c->b.fn, opener, at++);
    counted_range(c, first + l->n, l->guard);
    counted_range(c, c->shape.end[l->guard] + 1, l->last);
    n = 0;
    for (uint32_t k = 0; k < l->n; k++)
        if (k != l->i)
            x[n++] = c->map[ts_opnd(c->fn, l->last, k)];
    ts_term(&c->b, TS_OP_continue, n, x);
    ts_end_like(&c->b, opener);
    if (wraps)
        counted_rest(c, l, opener, rest, x);
    else
        counted_leave(c, l, opener);
}

static void counted_range(counted_ctx *c, ts_val from, ts_val to)
{
    counted_loop l;
    for (ts_val v = from; v < to && !ts__module_failed(c->fn->module) && !c->scratch->failed; v++) {
        c->b.loc = c->fn->loc.at[v];
        if (ts_at(c->fn, v)->op == TS_OP_loop && counted_finds(c, v, &l)) {
            counted_write(c, &l);
            v = c->shape.end[v] + ts__n_res(c->fn, c->shape.end[v]);
        } else
            ts__copy(&c->b, c->fn, v, c->map);
    }
}

ts_status ts__pass_counted(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    counted_ctx c = {.fn = fn, .scratch = env->scratch};
    ts_fn *fresh = ts__fn_create_like(fn);
    c.map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    if (!fresh || !c.map || !ts__shape_of(fn, env->scratch, &c.shape) || !ts__facts_of(fn, env->scratch, &c.facts))
        return ts_fail(err, TS_NOMEM, "out of memory in pass counted");
    ts__builder_init(&c.b, fresh);
    counted_range(&c, 1, fn->inst.n);
    if (ts__module_failed(fn->module) || env->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory in pass counted");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
