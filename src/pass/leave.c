/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that are left in two places for the same values are left in one: the counter is asked for at the end of a trip,
 * together with the other reason.
 *
 *     %r = loop iter(%i = 0, %x = %a) {                     %r = loop iter(%i = 0, %x = %a) {
 *       %1 = cmpi lt %i, 64                                   .. %y, %c ..
 *       if %1 { yield } else { break %x }                     %next = addi %i, 1
 *       .. %y, %c ..                                 ->       %2 = cmpi ge %next, 64;  %3 = ori %c, %2
 *       if %c { break %y } else { yield }                     if %3 { break %y } else { yield }
 *       %next = addi %i, 1                                    continue %next, %y
 *       continue %next, %y                                  }
 *     }
 *
 * That is what `for` with a `break` becomes. A thread of a GPU then branches once in a trip. Only where the first trip
 * is known to run, the counter's question needs nothing of the trip, and what lies behind the other one is quick and
 * without effects. Cost: linear.
 */
#include "ir/scalar.h"
#include "pass/pass.h"

enum { LEAVE_TAIL = 6 }; /* operations behind the last question */

/* A loop that is changed. */
typedef struct leave_loop {
    ts_val cond, top; /* the counter's question, and its `if` */
    ts_val bottom;    /* the other `if`, and what lies behind it up to the last `continue` */
} leave_loop;

typedef struct leave_ctx {
    ts_shape shape;
    leave_loop **loop; /* of a last `if` */
    bool *goes;        /* of the first question */
} leave_ctx;

/* ---- which loops -------------------------------------------------------------------------------------------- */

/* An `if` of a `yield` and a `break` without more; the break, and whether the condition leads to it. */
static ts_val leave_break(const leave_ctx *c, const ts_fn *fn, ts_val v, bool *when)
{
    if (ts_at(fn, v)->op != TS_OP_if)
        return 0;
    ts_val other = c->shape.other[v], end = c->shape.end[v], side[] = {v + 1, other + 1};
    if (other != v + 2 || end != other + 2 || ts__n_res(fn, end))
        return 0;
    *when = ts_at(fn, side[0])->op == TS_OP_break;
    bool fits = ts_at(fn, side[*when ? 1 : 0])->op == TS_OP_yield && ts_at(fn, side[*when ? 0 : 1])->op == TS_OP_break;
    return fits ? side[*when ? 0 : 1] : 0;
}

static bool leave_is_quick(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t flags = ts_info(inst)->flags;
    return flags & TS_ELEM && !(flags & TS_SLOW) && inst->op != TS_OP_divi && inst->op != TS_OP_remi;
}

/* The last `if` that the loop holds, where only quick operations and the `continue` follow; 0: there is none. */
static ts_val leave_bottom(const leave_ctx *c, const ts_fn *fn, ts_val loop)
{
    ts_val v = c->shape.end[loop] - 1, last = v;
    if (ts_at(fn, v)->op != TS_OP_continue)
        return 0;
    for (v--; v > loop && leave_is_quick(fn, v) && last - v <= LEAVE_TAIL;)
        v--;
    if (ts_at(fn, v)->op != TS_OP_end)
        return 0;
    for (ts_val opener = loop + 1; opener < v; opener++)
        if (c->shape.end[opener] == v && ts_at(fn, opener)->op == TS_OP_if)
            return opener;
    return 0;
}

/* What a value of the loop is when the next trip begins, by the operands of its last `continue`. */
static ts_val leave_next(const leave_ctx *c, const ts_fn *fn, ts_val loop, ts_val v)
{
    return v <= loop ? v : ts_opnd(fn, c->shape.end[loop] - 1, v - loop - 1);
}

static bool leave_is_arg(const ts_fn *fn, ts_val loop, ts_val v)
{
    return v <= loop || v <= loop + ts_at(fn, loop)->n_opnd;
}

/* Does the first trip run? */
static bool leave_runs(const ts_fn *fn, ts_val loop, ts_val cond, bool leaves)
{
    const ts_inst *inst = ts_at(fn, cond);
    uint64_t x[2], holds;
    for (uint32_t i = 0; i < 2; i++) {
        ts_val v = inst->opnd[i];
        if (!ts__const_bits(fn, v > loop ? ts_opnd(fn, loop, v - loop - 1) : v, &x[i]))
            return false;
    }
    return ts__scalar_eval(fn->module, TS_OP_cmpi, inst->aux, ts_type_of(fn, inst->opnd[0]), TS_T_i1, x, &holds) &&
           (holds & 1) != leaves;
}

/* Is there another `continue` of the loop than its last one? */
static bool leave_goes_round(const leave_ctx *c, const ts_fn *fn, ts_val loop)
{
    for (ts_val v = loop + 1; v < c->shape.end[loop] - 1; v++)
        if (ts_at(fn, v)->op == TS_OP_continue && ts__term_target(fn, &c->shape, v) == loop)
            return true;
    return false;
}

static bool leave_plan(const leave_ctx *c, const ts_fn *fn, ts_val loop, leave_loop *out)
{
    bool when_top, when_bottom;
    ts_val cond = loop + 1 + ts_at(fn, loop)->n_opnd, top = cond + 1, bottom = leave_bottom(c, fn, loop);
    const ts_inst *asks = ts_at(fn, cond);
    if (!bottom || bottom <= top || asks->op != TS_OP_cmpi || ts_opnd(fn, top, 0) != cond ||
        !leave_is_arg(fn, loop, asks->opnd[0]) || !leave_is_arg(fn, loop, asks->opnd[1]))
        return false;
    ts_val first = leave_break(c, fn, top, &when_top), last = leave_break(c, fn, bottom, &when_bottom);
    if (!first || !last || !leave_runs(fn, loop, cond, when_top) || leave_goes_round(c, fn, loop))
        return false;
    for (uint32_t i = 0; i < ts_at(fn, first)->n_opnd; i++) {
        ts_val v = ts_opnd(fn, first, i);
        if (!leave_is_arg(fn, loop, v) || leave_next(c, fn, loop, v) != ts_opnd(fn, last, i))
            return false;
    }
    *out = (leave_loop){.cond = cond, .top = top, .bottom = bottom};
    return true;
}

/* ---- the code ------------------------------------------------------------------------------------------------- */

static const uint8_t leave_inverse[] = {[TS_EQ] = TS_NE, [TS_NE] = TS_EQ, [TS_LT] = TS_GE,
                                        [TS_LE] = TS_GT, [TS_GT] = TS_LE, [TS_GE] = TS_LT};

/* The condition of the `if` at the bottom, made to cover both reasons. */
static ts_val leave_asks(const leave_ctx *c, ts_builder *b, const ts_fn *fn, const leave_loop *l, ts_val *map)
{
    ts_val loop = c->shape.parent[l->bottom], end = c->shape.end[loop];
    const ts_inst *asks = ts_at(fn, l->cond);
    bool when_top, when_bottom;
    (void)leave_break(c, fn, l->top, &when_top);
    (void)leave_break(c, fn, l->bottom, &when_bottom);
    for (ts_val v = c->shape.end[l->bottom] + 1; v < end - 1; v++)
        ts__copy(b, fn, v, map);
    ts_val x = map[leave_next(c, fn, loop, asks->opnd[0])], y = map[leave_next(c, fn, loop, asks->opnd[1])];
    ts_pred pred = TS_A_GET_PRED(asks->aux); /* of leaving where the bottom's condition leaves, else of staying */
    pred = when_top == when_bottom ? pred : (ts_pred)leave_inverse[pred];
    ts_val also = ts_cmp(b, TS_OP_cmpi, pred, x, y, asks->aux & TS_A_UNSIGNED);
    return ts_op2(b, when_bottom ? TS_OP_ori : TS_OP_andi, map[ts_opnd(fn, l->bottom, 0)], also, 0);
}

static ts_val leave_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    const leave_ctx *c = user;
    if (c->goes[v])
        return TS_NO;
    if (map[v]) /* made before its turn */
        return map[v];
    return c->loop[v] && v == c->loop[v]->bottom ? ts_if_begin(b, leave_asks(c, b, fn, c->loop[v], map)) : 0;
}

ts_status ts__pass_leave(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    uint32_t n = fn->inst.n;
    leave_ctx c = {.loop = TS_NEW_N(env->scratch, leave_loop *, n), .goes = TS_NEW_N(env->scratch, bool, n)};
    if (!c.loop || !c.goes || !ts__shape_of(fn, env->scratch, &c.shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass leave");
    for (ts_val v = 1; v < n; v++) {
        leave_loop *l, found;
        if (ts_at(fn, v)->op != TS_OP_loop || !leave_plan(&c, fn, v, &found))
            continue;
        if (!(l = TS_NEW(env->scratch, leave_loop)))
            return ts_fail(err, TS_NOMEM, "out of memory in pass leave");
        *l = found;
        c.loop[l->bottom] = l;
        for (ts_val i = l->top; i <= c.shape.end[l->top]; i++)
            c.goes[i] = true;
    }
    return ts__rewrite(fn, env, "leave", leave_each, &c, err);
}
