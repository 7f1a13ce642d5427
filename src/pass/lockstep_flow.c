/* SPDX-License-Identifier: Apache-2.0
 *
 * Control flow in lock step. What all threads of the tile decide alike stays what it is. Else:
 *
 *     %r = if %c : f32 { .. yield %x } else { .. yield %y }        %c a tile
 *  ─▶ %t = andi %mask, %c    the first region, with loads, stores and further ifs under %t, behind `if any(%t)` where
 *     %e = andi %mask, not %c  it has effects or is long; the second one under %e; %r = select %c, %x, %y
 *
 *     loop iter(%a = %x) { .. break %u .. continue %v }            threads leave one by one
 *  ─▶ loop iter(%a = %x, %live = %mask, %r = 0) {                  while any thread is in it
 *       if any(%live) {} else { break %r }                         lanes that have left keep their %r
 *       break:     %r = select %here, %u, %r                       and nobody is here any more
 *       continue:  %next = select %here, %v, %next; %again |= %here
 *       continue %next, %again, %r
 *     }
 *
 * A `for` with bounds that differ becomes such a loop. A `return` inside a loop takes its threads out of the mask
 * `alive`, which the loops around it carry; one outside of loops puts the rest of the function into the other side of
 * its `if`.
 */
#include "pass/lockstep.h"

/* ---- masks -------------------------------------------------------------------------------------- */

static ts_type flow_mask_type(const lockstep *c)
{
    return lock_tile(c, TS_T_i1);
}

static ts_val flow_mask(lockstep *c, ts_val mask)
{
    return mask ? lock_spread(c, mask) : ts_bits(&c->b, flow_mask_type(c), 1);
}

ts_val lock_and(lockstep *c, ts_val x, ts_val y)
{
    if (!x || !y || x == y)
        return x ? x : y;
    return ts_op2(&c->b, TS_OP_andi, lock_spread(c, x), lock_spread(c, y), 0);
}

ts_val lock_not(lockstep *c, ts_val x)
{
    return ts_op2(&c->b, TS_OP_xori, x, ts_bits(&c->b, ts_type_of(c->b.fn, x), 1), 0);
}

ts_val lock_reduce(lockstep *c, ts_op op, uint32_t attr, uint64_t identity, ts_val x)
{
    uint32_t rank = ts_type_rank(c->m, ts_type_of(c->b.fn, x));
    ts_val opener = ts_reduce_begin(&c->b, TS_OP_reduce, rank - 1, false, 1, &x, &identity);
    ts_val y = ts_op2(&c->b, op, ts_region_arg(c->b.fn, opener, 0), ts_region_arg(c->b.fn, opener, 1), attr);
    ts_term(&c->b, TS_OP_yield, 1, &y);
    ts_end_like(&c->b, opener);
    return ts_res(&c->b, opener, 0);
}

ts_val lock_any(lockstep *c, ts_val mask)
{
    if (!mask)
        return ts_bits(&c->b, TS_T_i1, 1);
    if (c->any_of != mask) {
        c->any_is = lock_is_tile(c, mask) ? lock_reduce(c, TS_OP_ori, 0, 0, mask) : mask;
        c->any_of = mask;
    }
    return c->any_is;
}

ts_val lock_some(lockstep *c)
{
    return c->any || !c->mask ? 0 : lock_any(c, c->mask);
}

/* ---- what a region changes -------------------------------------------------------------------------- */

/* Masks and values that jumps inside a region write and that live on behind it. */
typedef struct flow_vars {
    ts_val *at[LOCK_MOST];
    uint32_t n;
    bool mask; /* and the mask of who is here */
} flow_vars;

static void flow_add(lockstep *c, flow_vars *vars, ts_val *var)
{
    if (vars->n == LOCK_MOST)
        lock_fail(c, 0, TS_UNSUPPORTED, "more than %d values are carried by a loop whose threads leave it one by one; "
                  "keep some of them in an array of the thread", LOCK_MOST);
    else
        vars->at[vars->n++] = var;
}

static void flow_vars_of(lockstep *c, ts_val opener, flow_vars *vars)
{
    uint8_t jumps = c->is.jumps[opener];
    lock_loop *loop = c->loop;
    *vars = (flow_vars){.n = 0};
    if (jumps & LOCK_RETURNS) {
        vars->mask = true;
        c->alive = flow_mask(c, c->alive);
        flow_add(c, vars, &c->alive);
    }
    if (!(jumps & LOCK_TURNS) || !loop || !loop->parts)
        return;
    vars->mask = true;
    flow_add(c, vars, &loop->again);
    for (uint32_t i = 0; i < loop->n_carried; i++)
        flow_add(c, vars, &loop->next[i]);
    for (uint32_t i = 0; i < loop->n_results; i++)
        if (loop->result[i])
            flow_add(c, vars, &loop->result[i]);
}

/* ---- if ------------------------------------------------------------------------------------------- */

/* One side of an if. */
typedef struct flow_side {
    ts_val from, to, yield; /* instructions; `yield` 0: it ends in a jump */
    bool gone, closed;
    ts_val mask;
    ts_val *value;          /* of the results */
} flow_side;

typedef struct flow_if {
    ts_val v;
    uint32_t n;
    bool vary;
    flow_vars vars;
    flow_side side[2];
} flow_if;

/* Runs a side where the result stands. */
static void flow_run(lockstep *c, flow_if *f, flow_side *s, ts_val mask, bool any)
{
    c->mask = mask, c->any = any, c->gone = c->closed = false;
    lock_walk(c, s->from, s->to);
    s->gone = c->gone, s->closed = c->closed, s->mask = c->mask;
    for (uint32_t i = 0; i < f->n; i++) {
        ts_val res = c->shape.end[f->v] + 1 + i;
        bool tile = c->is.vary[res];
        s->value[i] = s->gone || !s->yield ? 0 : lock_value(c, ts_opnd(c->fn, s->yield, i), tile);
    }
}

/* The terminator of a side that stands in a region of its own; `ran`: or did not run. */
static void flow_yield(lockstep *c, flow_if *f, const flow_side *s, bool ran)
{
    ts_val out[2 * LOCK_MOST + 1];
    uint32_t n = 0;
    if (ran && s->closed)
        return;
    for (uint32_t i = 0; i < f->n; i++) {
        ts_val res = c->shape.end[f->v] + 1 + i;
        out[n++] = ran && s->value[i] ? s->value[i]
                                      : lock_zero(c, lock_type(c, ts_type_of(c->fn, res), c->is.vary[res]));
    }
    if (f->vars.mask)
        out[n++] = !ran || s->gone ? ts_bits(&c->b, flow_mask_type(c), 0) : flow_mask(c, s->mask);
    for (uint32_t i = 0; i < f->vars.n; i++)
        out[n++] = *f->vars.at[i];
    ts_term(&c->b, TS_OP_yield, n, out);
}

/* Closes the output's if; results, mask and variables are those that it gives. */
static void flow_end(lockstep *c, flow_if *f, ts_val opener, flow_side *s)
{
    ts_type types[2 * LOCK_MOST + 1];
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        ts_val res = c->shape.end[f->v] + 1 + i;
        types[n++] = lock_type(c, ts_type_of(c->fn, res), c->is.vary[res]);
    }
    if (f->vars.mask)
        types[n++] = flow_mask_type(c);
    for (uint32_t i = 0; i < f->vars.n; i++)
        types[n++] = ts_type_of(c->b.fn, *f->vars.at[i]);
    ts_end(&c->b, opener, n, types);
    ts_val at = n ? ts_res(&c->b, opener, 0) : 0;
    for (uint32_t i = 0; i < f->n; i++)
        s->value[i] = at++;
    if (f->vars.mask)
        s->mask = at++;
    for (uint32_t i = 0; i < f->vars.n; i++)
        *f->vars.at[i] = at++;
}

/* All threads go the same way. */
static void flow_if_same(lockstep *c, flow_if *f)
{
    ts_val mask = c->mask, before[LOCK_MOST];
    bool any = c->any;
    ts_val opener = ts_if_begin(&c->b, lock_opnd(c, f->v, 0));
    for (uint32_t i = 0; i < f->vars.n; i++)
        before[i] = *f->vars.at[i];
    for (uint32_t k = 0; k < 2; k++) {
        if (k)
            ts_else(&c->b);
        for (uint32_t i = 0; i < f->vars.n; i++)
            *f->vars.at[i] = before[i];
        c->any_of = 0;
        flow_run(c, f, &f->side[k], mask, any);
        flow_yield(c, f, &f->side[k], true);
    }
    c->any_of = 0;
    flow_side *s = &f->side[0];
    flow_end(c, f, opener, s);
    c->closed = false; /* where both sides have jumped, a terminator follows that nothing reaches */
    c->gone = f->side[0].gone && f->side[1].gone && !(f->side[0].closed && f->side[1].closed);
    c->mask = f->vars.mask ? s->mask : mask;
    c->any = any && !f->vars.mask;
    lock_set_results(c, f->v, f->n, s->value);
}

/* Is a region better left out where nobody needs it? It has effects, or reads memory, or is long. */
static bool flow_guards(const lockstep *c, const flow_side *s)
{
    enum { FLOW_LONG = 24 };
    uint32_t cost = 0;
    for (ts_val v = s->from; v < s->to; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        uint32_t flags = ts_info(inst)->flags;
        if (flags & (TS_READ | TS_WRITE | TS_SIDE) || inst->op == TS_OP_for || inst->op == TS_OP_loop)
            return true;
        cost += flags & TS_SLOW ? 16 : 1;
    }
    return cost > FLOW_LONG;
}

static void flow_guarded(lockstep *c, flow_if *f, flow_side *s, ts_val mask)
{
    ts_val before[LOCK_MOST], opener = ts_if_begin(&c->b, lock_any(c, mask));
    for (uint32_t i = 0; i < f->vars.n; i++)
        before[i] = *f->vars.at[i];
    flow_run(c, f, s, mask, true);
    flow_yield(c, f, s, true);
    ts_else(&c->b);
    for (uint32_t i = 0; i < f->vars.n; i++) {
        ts_val after = *f->vars.at[i];
        *f->vars.at[i] = before[i];
        before[i] = after;
    }
    flow_yield(c, f, s, false);
    c->any_of = 0;
    flow_end(c, f, opener, s);
}

/* Is what stands behind a condition worth to be written a second time, without masks, for warps that take it whole?
 * Not again inside of that. */
static bool flow_is_twice(const lockstep *c)
{
    return c->by_warp && !c->twice && !c->mask && !c->loop;
}

/* if all(mask) { the side without masks } else { if any(mask) { the side } } */
static void flow_twice(lockstep *c, flow_if *f, flow_side *s, ts_val mask)
{
    ts_val opener = ts_if_begin(&c->b, lock_reduce(c, TS_OP_andi, 0, 1, mask));
    c->twice = true, c->any_of = 0;
    flow_run(c, f, s, 0, true);
    flow_yield(c, f, s, true);
    ts_else(&c->b);
    c->any_of = 0;
    flow_guarded(c, f, s, mask);
    flow_yield(c, f, s, true);
    c->twice = false, c->any_of = 0;
    flow_end(c, f, opener, s);
}

/* Each thread goes its own way. */
static void flow_if_apart(lockstep *c, flow_if *f)
{
    ts_val outer = c->mask, cond = lock_opnd_tile(c, f->v, 0);
    bool any = c->any;
    for (uint32_t k = 0; k < 2; k++) {
        flow_side *s = &f->side[k];
        ts_val mask = lock_and(c, outer, k ? lock_not(c, cond) : cond);
        c->mask = outer;
        if (flow_guards(c, s) && !f->vars.mask && flow_is_twice(c))
            flow_twice(c, f, s, mask);
        else if (flow_guards(c, s))
            flow_guarded(c, f, s, mask);
        else
            flow_run(c, f, s, mask, false);
    }
    flow_side *s = f->side;
    c->gone = s[0].gone && s[1].gone;
    c->closed = false;
    c->mask = outer, c->any = any;
    if (f->vars.mask) {
        c->mask = s[0].gone || s[1].gone ? s[s[0].gone].mask : ts_op2(&c->b, TS_OP_ori, s[0].mask, s[1].mask, 0);
        c->any = false;
    }
    for (uint32_t i = 0; i < f->n && !c->gone; i++)
        if (!s[0].gone)
            s[0].value[i] = s[1].gone ? s[0].value[i] : ts_select(&c->b, cond, s[0].value[i], s[1].value[i]);
        else
            s[0].value[i] = s[1].value[i];
    if (!c->gone)
        lock_set_results(c, f->v, f->n, s[0].value);
}

static void flow_side_of(const lockstep *c, ts_val from, ts_val to, ts_val *value, flow_side *s)
{
    bool yields = to > from && ts_at(c->fn, to - 1)->op == TS_OP_yield;
    *s = (flow_side){.from = from, .to = to, .yield = yields ? to - 1 : 0, .value = value};
}

/* A side, and the rest of the function behind its if. */
static void flow_rest(lockstep *c, const flow_if *f, const flow_side *s, ts_val mask, bool any)
{
    ts_val alive = c->alive;
    c->any_of = 0, c->mask = mask, c->any = any, c->gone = c->closed = false;
    lock_walk(c, s->from, s->to);
    for (uint32_t i = 0; i < f->n && !c->gone; i++)
        c->map[c->shape.end[f->v] + 1 + i] = lock_value(c, ts_opnd(c->fn, s->yield, i), false);
    if (!c->gone && s->yield)
        lock_walk(c, c->shape.end[f->v] + 1 + f->n, c->fn->inst.n);
    c->alive = alive, c->any_of = 0; /* what was made here is not seen behind */
}

/* Outside of loops, one side returns: the rest of the function belongs to the other side. True: it was written. */
static bool flow_if_returns(lockstep *c, flow_if *f)
{
    ts_val v = f->v;
    if (c->shape.parent[v] || c->loop)
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        flow_side *s = &f->side[k], *other = &f->side[1 - k];
        if (other->to == other->from || ts_at(c->fn, other->to - 1)->op != TS_OP_return || !s->yield)
            continue;
        ts_val cond = lock_opnd(c, v, 0), here = k ? lock_not(c, cond) : cond, outer = c->mask;
        bool any = c->any;
        if (flow_guards(c, other) || other->to - other->from > 1) { /* what is done before the return */
            ts_val mask = f->vary ? lock_and(c, outer, lock_spread(c, k ? cond : lock_not(c, cond))) : outer;
            ts_val opener = ts_if_begin(&c->b, f->vary ? lock_any(c, mask) : k ? cond : lock_not(c, cond));
            flow_rest(c, f, other, mask, f->vary || any);
            ts_if_end(&c->b, opener);
        }
        ts_val mask = f->vary ? lock_and(c, outer, here) : outer, all = 0;
        c->mask = outer;
        bool twice = f->vary && flow_is_twice(c);
        if (twice) {
            c->twice = true;
            all = ts_if_begin(&c->b, lock_reduce(c, TS_OP_andi, 0, 1, mask));
            flow_rest(c, f, s, 0, true);
            ts_term(&c->b, TS_OP_yield, 0, NULL);
            ts_else(&c->b);
            c->any_of = 0;
        }
        ts_val opener = ts_if_begin(&c->b, f->vary ? lock_any(c, mask) : here);
        flow_rest(c, f, s, mask, f->vary || any);
        ts_if_end(&c->b, opener);
        if (twice) {
            ts_term(&c->b, TS_OP_yield, 0, NULL);
            ts_end(&c->b, all, 0, NULL);
            c->twice = false;
        }
        c->any_of = 0;
        c->gone = true;
        return true;
    }
    return false;
}

void lock_if(lockstep *c, ts_val v)
{
    flow_if f = {.v = v, .n = lock_n_results(c, v), .vary = c->is.vary[ts_opnd(c->fn, v, 0)]};
    ts_val *value = TS_NEW_N(c->scratch, ts_val, 2 * (size_t)f.n + 2), other = c->shape.other[v];
    if (!value)
        return;
    flow_side_of(c, v + 1, other, value, &f.side[0]);
    flow_side_of(c, other + 1, c->shape.end[v], value + f.n, &f.side[1]);
    if (c->is.jumps[v] & LOCK_RETURNS && flow_if_returns(c, &f))
        return;
    flow_vars_of(c, v, &f.vars);
    if (f.n + f.vars.n > LOCK_MOST)
        lock_fail(c, v, TS_UNSUPPORTED, "an if that changes more than %d values; keep some of them in an array of "
                  "the thread", LOCK_MOST);
    else if (f.vary)
        flow_if_apart(c, &f);
    else
        flow_if_same(c, &f);
}

/* ---- loops that all threads go through together ------------------------------------------------------------ */

static void flow_enter(lockstep *c, lock_loop *loop, ts_val v, uint32_t skip)
{
    *loop = (lock_loop){.outer = c->loop, .opener = v, .parts = c->is.parts[v],
                        .n_carried = ts_at(c->fn, v)->n_opnd - skip, .n_results = lock_n_results(c, v)};
    loop->next = TS_NEW_N(c->scratch, ts_val, (size_t)loop->n_carried + 1);
    loop->result = TS_NEW_N(c->scratch, ts_val, (size_t)loop->n_results + 1);
}

static void flow_loop_same(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t skip = inst->op == TS_OP_for ? 3 : 0;
    lock_loop loop;
    flow_enter(c, &loop, v, skip);
    ts_val *init = TS_NEW_N(c->scratch, ts_val, (size_t)inst->n_opnd + 1), mask = c->mask, arg = v + 1;
    ts_type *types = TS_NEW_N(c->scratch, ts_type, (size_t)loop.n_results + 1);
    bool any = c->any;
    if (!init || !types || !loop.next || !loop.result)
        return;
    for (uint32_t i = 0; i < loop.n_carried; i++)
        init[i] = lock_value(c, ts_opnd(c->fn, v, skip + i), c->is.vary[arg + (skip ? 1 : 0) + i]);
    ts_val opener = skip ? ts_for_begin(&c->b, lock_opnd(c, v, 0), lock_opnd(c, v, 1), lock_opnd(c, v, 2),
                                        loop.n_carried, init, inst->aux)
                         : ts_loop_begin(&c->b, loop.n_carried, init);
    for (uint32_t i = 0; i < loop.n_carried + (skip ? 1 : 0); i++)
        c->map[arg + i] = ts_region_arg(c->b.fn, opener, i);
    c->loop = &loop, c->any_of = 0, c->gone = c->closed = false;
    lock_walk(c, arg + loop.n_carried + (skip ? 1 : 0), c->shape.end[v]);
    for (uint32_t i = 0; i < loop.n_results; i++) {
        ts_val res = c->shape.end[v] + 1 + i;
        types[i] = lock_type(c, ts_type_of(c->fn, res), c->is.vary[res]);
    }
    ts_end(&c->b, opener, loop.n_results, types);
    for (uint32_t i = 0; i < loop.n_results; i++)
        c->map[c->shape.end[v] + 1 + i] = ts_res(&c->b, opener, i);
    c->loop = loop.outer, c->mask = mask, c->any = any, c->any_of = 0, c->gone = c->closed = false;
}

/* ---- loops that threads leave one by one --------------------------------------------------------------------- */

/* What is carried: [index] values, live mask, results, [alive]. */
typedef struct flow_parted {
    lock_loop loop;
    uint32_t skip, n;
    bool returns, index_vary;
    ts_val in[3 * LOCK_MOST];
    ts_val opener, upper, step, index, live;
} flow_parted;

/* A carried value of a `for` that differs stays as it was in threads that have left, and is then the result itself. */
static bool flow_stays(const lockstep *c, const flow_parted *p, uint32_t i)
{
    return p->skip && c->is.vary[p->loop.opener + 2 + i];
}

static void flow_parted_begin(lockstep *c, flow_parted *p)
{
    ts_val v = p->loop.opener, arg = v + 1 + (p->skip ? 1 : 0);
    if (p->skip) {
        p->index_vary = c->is.vary[v + 1];
        p->in[p->n++] = lock_value(c, ts_opnd(c->fn, v, 0), p->index_vary);
        p->upper = lock_opnd(c, v, 1), p->step = lock_opnd(c, v, 2);
    }
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        p->in[p->n++] = lock_value(c, ts_opnd(c->fn, v, p->skip + i), c->is.vary[arg + i]);
    p->in[p->n++] = flow_mask(c, c->mask);
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        if (!flow_stays(c, p, i))
            p->in[p->n++] = lock_zero(c, lock_type(c, ts_type_of(c->fn, c->shape.end[v] + 1 + i), true));
    if (p->returns)
        p->in[p->n++] = flow_mask(c, c->alive);
    p->opener = ts_loop_begin(&c->b, p->n, p->in);
    ts_val at = ts_region_arg(c->b.fn, p->opener, 0);
    if (p->skip)
        c->map[v + 1] = p->index = at++;
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        c->map[arg + i] = p->loop.next[i] = at++;
    p->live = at++;
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        p->loop.result[i] = flow_stays(c, p, i) ? 0 : at++;
    if (p->returns)
        c->alive = at++;
}

/* The values that the loop gives where it ends now. */
static uint32_t flow_parted_results(lockstep *c, const flow_parted *p, ts_val *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        out[n++] = p->loop.result[i] ? p->loop.result[i] : p->loop.next[i];
    if (p->returns)
        out[n++] = c->alive;
    return n;
}

/* Behind the head: a thread is here, or the loop has ended. */
static void flow_parted_head(lockstep *c, flow_parted *p)
{
    ts_val more = 0, out[2 * LOCK_MOST], v = p->loop.opener;
    c->any_of = 0;
    for (uint32_t i = 0; p->skip && i < p->loop.n_results; i++)
        if (p->loop.result[i])
            p->loop.result[i] = ts_select(&c->b, p->live, lock_spread(c, p->loop.next[i]), p->loop.result[i]);
    if (p->skip) {
        bool tile = lock_is_tile(c, p->index) || lock_is_tile(c, p->upper);
        ts_val x = tile ? lock_spread(c, p->index) : p->index, y = tile ? lock_spread(c, p->upper) : p->upper;
        more = ts_cmp(&c->b, TS_OP_cmpi, TS_LT, x, y, ts_at(c->fn, v)->aux & TS_A_UNSIGNED);
    }
    c->mask = lock_and(c, p->live, more);
    ts_val goes = ts_if_begin(&c->b, lock_any(c, c->mask));
    ts_term(&c->b, TS_OP_yield, 0, NULL);
    ts_else(&c->b);
    ts_term(&c->b, TS_OP_break, flow_parted_results(c, p, out), out);
    ts_end(&c->b, goes, 0, NULL);
    c->any = true;
}

/* The next index, or one that ends the loop where it would pass the greatest number of its type. */
static ts_val flow_next_index(lockstep *c, const flow_parted *p)
{
    int64_t one;
    uint32_t sign = ts_at(c->fn, p->loop.opener)->aux & TS_A_UNSIGNED;
    bool tile = p->index_vary;
    ts_val x = p->index, step = tile ? lock_spread(c, p->step) : p->step;
    ts_val next = ts_op2(&c->b, TS_OP_addi, x, step, 0);
    if (ts__const_as_int(c->fn, ts_opnd(c->fn, p->loop.opener, 2), &one) && one == 1)
        return next;
    if (lock_is_tile(c, p->upper) && !tile) { /* each thread has its own end, above all of them there is none */
        uint32_t bits = ts_type_bits(c->m, ts_type_of(c->b.fn, x));
        ts_val most = ts_int(&c->b, ts_type_of(c->b.fn, x), sign ? -1 : (int64_t)(((uint64_t)1 << (bits - 1)) - 1));
        return ts_select(&c->b, ts_cmp(&c->b, TS_OP_cmpi, TS_GT, next, x, sign), next, most);
    }
    return ts_select(&c->b, ts_cmp(&c->b, TS_OP_cmpi, TS_GT, next, x, sign), next,
                     tile ? lock_spread(c, p->upper) : p->upper);
}

static void flow_parted_end(lockstep *c, flow_parted *p)
{
    ts_val v = p->loop.opener, out[3 * LOCK_MOST];
    ts_type types[2 * LOCK_MOST];
    uint32_t n = 0, arg = v + 1 + (p->skip ? 1 : 0);
    if (p->skip)
        out[n++] = flow_next_index(c, p);
    for (uint32_t i = 0; i < p->loop.n_carried; i++) {
        ts_val next = p->loop.next[i];
        if (flow_stays(c, p, i))
            next = ts_select(&c->b, p->loop.again, next, c->map[arg + i]);
        out[n++] = next;
    }
    out[n++] = p->loop.again;
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        if (p->loop.result[i])
            out[n++] = p->loop.result[i];
    if (p->returns)
        out[n++] = c->alive;
    ts_term(&c->b, TS_OP_continue, n, out);
    n = 0;
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        types[n++] = lock_type(c, ts_type_of(c->fn, c->shape.end[v] + 1 + i), true);
    if (p->returns)
        types[n++] = flow_mask_type(c);
    ts_end(&c->b, p->opener, n, types);
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        c->map[c->shape.end[v] + 1 + i] = ts_res(&c->b, p->opener, i);
    if (p->returns)
        c->alive = ts_res(&c->b, p->opener, p->loop.n_results);
}

static void flow_loop_apart(lockstep *c, ts_val v)
{
    flow_parted *p = TS_NEW(c->scratch, flow_parted);
    ts_val mask = c->mask;
    bool any = c->any;
    if (!p)
        return;
    p->skip = ts_at(c->fn, v)->op == TS_OP_for ? 3 : 0;
    p->returns = c->is.jumps[v] & LOCK_RETURNS;
    flow_enter(c, &p->loop, v, p->skip);
    if (!p->loop.next || !p->loop.result)
        return;
    uint32_t n = p->loop.n_carried + 4; /* an index, two masks, and its results where they are not what is carried */
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        n += !flow_stays(c, p, i);
    if (n > LOCK_MOST) {
        lock_fail(c, v, TS_UNSUPPORTED, "more than %d values are carried by a loop whose threads leave it one by one; "
                  "keep some of them in an array of the thread", LOCK_MOST - 4);
        return;
    }
    flow_parted_begin(c, p);
    flow_parted_head(c, p);
    p->loop.again = ts_bits(&c->b, flow_mask_type(c), 0);
    c->loop = &p->loop, c->gone = c->closed = false;
    lock_walk(c, v + 1 + (p->skip ? 1 : 0) + p->loop.n_carried, c->shape.end[v]);
    c->loop = p->loop.outer;
    flow_parted_end(c, p);
    c->mask = p->returns ? lock_and(c, mask, c->alive) : mask;
    c->any = any && !p->returns, c->any_of = 0, c->gone = c->closed = false;
}

/* ---- loops over neighbours ----------------------------------------------------------------------------------- */

/* A `for` whose first index grows by `stride` from thread to thread, with one end and step for all:
 *
 *    for %i in (%first + lane * k, %n, %step)  ─▶  for %s in (%first, %n, %step) { %live = lane * k < %n - %s; .. }
 *
 * ends when thread 0, which has the least index, does; until the last round all threads are in it, and need no mask. */
typedef struct flow_near {
    lock_loop loop;
    ts_val base, s, opener, live, outer, *arg;
    int64_t stride;
    bool any;
} flow_near;

static bool flow_is_near(lockstep *c, ts_val v, flow_near *p)
{
    if (ts_at(c->fn, v)->op != TS_OP_for || c->is.jumps[v] & LOCK_RETURNS || c->is.vary[ts_opnd(c->fn, v, 1)] ||
        c->is.vary[ts_opnd(c->fn, v, 2)] || ts_at(c->fn, c->shape.end[v] - 1)->op != TS_OP_continue)
        return false;
    for (ts_val k = v + 1; k < c->shape.end[v]; k++)
        if (c->is.jumps[k] && ts_at(c->fn, k)->op == TS_OP_if)
            return false;
    for (uint32_t i = 0; i + 3 < ts_at(c->fn, v)->n_opnd; i++)
        if (!c->is.vary[v + 2 + i])
            return false;
    return lock_affine(c, ts_opnd(c->fn, v, 0), &p->base, &p->stride) && p->stride > 0 && p->stride <= 1 << 16;
}

/* The body once, for threads in the mask; yields the next values. */
static void flow_near_body(lockstep *c, flow_near *p, ts_val mask, bool any)
{
    ts_val v = p->loop.opener;
    p->loop.any_again = false;
    memcpy(p->loop.next, p->arg, p->loop.n_carried * sizeof *p->arg);
    c->mask = mask, c->any = any, c->any_of = 0, c->gone = c->closed = false;
    lock_walk(c, v + 2 + p->loop.n_carried, c->shape.end[v]);
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        if (mask)
            p->loop.next[i] = ts_select(&c->b, mask, p->loop.next[i], p->arg[i]);
}

/* Both bodies; the next values are in p->loop.next. */
static void flow_near_bodies(lockstep *c, flow_near *p, ts_val all)
{
    ts_type types[LOCK_MOST];
    bool twice = c->twice;
    if (p->outer || twice) {
        flow_near_body(c, p, lock_and(c, p->outer, p->live), p->any && !p->outer);
        return;
    }
    c->twice = true;
    ts_val branch = ts_if_begin(&c->b, all);
    flow_near_body(c, p, 0, true);
    ts_term(&c->b, TS_OP_yield, p->loop.n_carried, p->loop.next);
    ts_else(&c->b);
    flow_near_body(c, p, p->live, true);
    ts_term(&c->b, TS_OP_yield, p->loop.n_carried, p->loop.next);
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        types[i] = ts_type_of(c->b.fn, p->arg[i]);
    ts_end(&c->b, branch, p->loop.n_carried, types);
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        p->loop.next[i] = ts_res(&c->b, branch, i);
    c->twice = twice;
}

static void flow_loop_near(lockstep *c, ts_val v, flow_near *p)
{
    flow_enter(c, &p->loop, v, 3);
    p->arg = TS_NEW_N(c->scratch, ts_val, (size_t)p->loop.n_carried + 1);
    if (!p->arg || !p->loop.next || !p->loop.result || p->loop.n_carried > LOCK_MOST)
        return;
    p->outer = c->mask, p->any = c->any;
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        p->arg[i] = lock_opnd_tile(c, v, 3 + i);
    p->opener = ts_for_begin(&c->b, p->base, lock_opnd(c, v, 1), lock_opnd(c, v, 2), p->loop.n_carried, p->arg,
                             ts_at(c->fn, v)->aux);
    p->s = ts_region_arg(c->b.fn, p->opener, 0);
    ts_type type = ts_type_of(c->b.fn, p->s);
    ts_val lane = lock_lane(c), k = ts_int(&c->b, ts_type_of(c->b.fn, lane), p->stride);
    lane = p->stride == 1 ? lane : ts_op2(&c->b, TS_OP_muli, lane, k, 0);
    ts_val left = ts_op2(&c->b, TS_OP_subi, lock_opnd(c, v, 1), p->s, 0);
    ts_val last = ts_int(&c->b, type, (LOCK_WARP - 1) * p->stride + 1);
    ts_val all = ts_cmp(&c->b, TS_OP_cmpi, TS_GE, left, last, TS_A_UNSIGNED);
    left = ts_op2(&c->b, TS_OP_mini, left, last, TS_A_UNSIGNED);
    ts_val wide = lane;
    if (type == TS_T_i64) {
        left = ts_cast(&c->b, TS_OP_trunci, left, TS_T_i32, 0);
        wide = ts_cast(&c->b, TS_OP_exti, lane, TS_T_i64, 0);
    }
    p->live = ts_cmp(&c->b, TS_OP_cmpi, TS_LT, lane, lock_spread(c, left), TS_A_UNSIGNED);
    c->map[v + 1] = ts_op2(&c->b, TS_OP_addi, lock_spread(c, p->s), wide, 0);
    for (uint32_t i = 0; i < p->loop.n_carried; i++)
        c->map[v + 2 + i] = p->arg[i] = ts_region_arg(c->b.fn, p->opener, 1 + i);
    c->loop = &p->loop;
    flow_near_bodies(c, p, all);
    c->loop = p->loop.outer;
    ts_term(&c->b, TS_OP_continue, p->loop.n_carried, p->loop.next);
    ts_end_like(&c->b, p->opener);
    for (uint32_t i = 0; i < p->loop.n_results; i++)
        c->map[c->shape.end[v] + 1 + i] = ts_res(&c->b, p->opener, i);
    c->mask = p->outer, c->any = p->any, c->any_of = 0, c->gone = c->closed = false;
}

void lock_for(lockstep *c, ts_val v)
{
    flow_near near = {.stride = 0};
    if (c->is.parts[v] && flow_is_near(c, v, &near) &&
        (ts_type_of(c->fn, v + 1) == TS_T_i32 || ts_type_of(c->fn, v + 1) == TS_T_i64))
        flow_loop_near(c, v, &near);
    else if (c->is.parts[v])
        flow_loop_apart(c, v);
    else
        flow_loop_same(c, v);
}

/* ---- jumps ---------------------------------------------------------------------------------------------------- */

/* All threads take it: it stays a jump. */
static void flow_jump_same(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val opener = c->loop->opener, *out = TS_NEW_N(c->scratch, ts_val, (size_t)inst->n_opnd + 1);
    bool is_break = inst->op == TS_OP_break;
    ts_val first = is_break ? c->shape.end[opener] + 1 : opener + (ts_at(c->fn, opener)->op == TS_OP_for ? 2 : 1);
    for (uint32_t i = 0; out && i < inst->n_opnd; i++)
        out[i] = lock_value(c, ts_opnd(c->fn, v, i), c->is.vary[first + i]);
    if (out)
        ts_term(&c->b, (ts_op)inst->op, inst->n_opnd, out);
    c->gone = c->closed = true;
}

static void flow_jump_apart(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    lock_loop *loop = c->loop;
    ts_val here = flow_mask(c, c->mask);
    if (inst->op == TS_OP_break) {
        for (uint32_t i = 0; i < loop->n_results; i++)
            loop->result[i] = ts_select(&c->b, here, lock_opnd_tile(c, v, i), loop->result[i]);
    } else {
        ts_val arg = loop->opener + (ts_at(c->fn, loop->opener)->op == TS_OP_for ? 2 : 1);
        for (uint32_t i = 0; i < loop->n_carried; i++) {
            ts_val next = lock_value(c, ts_opnd(c->fn, v, i), c->is.vary[arg + i]);
            loop->next[i] = loop->any_again && c->is.vary[arg + i] ? ts_select(&c->b, here, next, loop->next[i]) : next;
        }
        loop->again = loop->any_again ? ts_op2(&c->b, TS_OP_ori, loop->again, here, 0) : here;
        loop->any_again = true;
    }
    c->gone = true;
}

void lock_jump(lockstep *c, ts_val v)
{
    if (ts_at(c->fn, v)->op == TS_OP_return && c->alone && c->shape.parent[v]) {
        ts_term(&c->b, TS_OP_return, 0, NULL);
        c->gone = c->closed = true;
    } else if (ts_at(c->fn, v)->op == TS_OP_return) {
        if (c->loop)
            c->alive = lock_and(c, c->alive, c->mask ? lock_not(c, c->mask) : ts_bits(&c->b, flow_mask_type(c), 0));
        c->gone = true;
    } else if (c->loop->parts)
        flow_jump_apart(c, v);
    else
        flow_jump_same(c, v);
}
