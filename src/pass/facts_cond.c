/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts from conditions: in the branch of an `if`, and behind one whose other branch leaves, the bounds that its
 * condition gives to the integers it compares.
 *
 *     %4 = cmpi lt 0, %1
 *     if %4 {                     %1 is 1 or more from here
 *       %5 = subi %1, 1           0 or more
 *     } else { return }
 *     %6 = subi %1, 1             here as well
 *
 * The bounds stand in the facts of the value while the sweep is where they hold, and are taken back behind.
 */
#include "pass/facts_axis.h"

enum { COND_DEPTH = 8 /* of conditions made of conditions */ };

static void cond_narrow(facts_ctx *c, ts_val v, int64_t lo, int64_t hi, ts_val end);

/* What bounds of a value say of what it is made of: an extension or a promise keeps them, a sum with a constant that
 * does not wrap is as far away. */
static void cond_sources(facts_ctx *c, ts_val v, ts_val end)
{
    const ts_inst *inst = ts_at(c->fn, v);
    const ts_fact *f = &c->facts->at[v], *x = &c->facts->at[inst->op == TS_OP_addi ? inst->opnd[0] : 0];
    int64_t by, lo, hi;
    if ((inst->op == TS_OP_exti && facts_inner(c, v) != v) || inst->op == TS_OP_assume)
        cond_narrow(c, inst->opnd[0], f->lo, f->hi, end);
    if (inst->op != TS_OP_addi || inst->type != TS_T_i64 || !ts__const_as_int(c->fn, inst->opnd[1], &by) ||
        __builtin_add_overflow(x->lo, by, &lo) || __builtin_add_overflow(x->hi, by, &hi))
        return;
    if (!__builtin_sub_overflow(f->lo, by, &lo) && !__builtin_sub_overflow(f->hi, by, &hi))
        cond_narrow(c, inst->opnd[0], lo, hi, end);
}

/* The value's bounds are at most these until instruction `end`. */
static void cond_narrow(facts_ctx *c, ts_val v, int64_t lo, int64_t hi, ts_val end)
{
    ts_fact *f = &c->facts->at[v];
    int64_t new_lo = TS_MAX(f->lo, lo), new_hi = TS_MIN(f->hi, hi);
    if (new_lo > new_hi || (new_lo == f->lo && new_hi == f->hi)) /* the first: this branch never runs */
        return;
    if (!TS_PUSH(c->scratch, &c->narrowed, ((facts_narrowed){v, end, f->lo, f->hi})))
        return; /* no harm: less is known */
    f->lo = new_lo;
    f->hi = new_hi;
    cond_sources(c, v, end);
}

/* x < y, or x <= y with `equal`. */
static void cond_less(facts_ctx *c, ts_val x, ts_val y, bool equal, ts_val end)
{
    int64_t x_lo = c->facts->at[x].lo, y_hi = c->facts->at[y].hi;
    if (!equal && (x_lo == INT64_MAX || y_hi == INT64_MIN))
        return;
    cond_narrow(c, x, INT64_MIN, y_hi - !equal, end);
    cond_narrow(c, y, x_lo + !equal, INT64_MAX, end);
}

/* x < y without a sign, x <= y with `equal`: what is below a number that is not negative is not negative either. */
static void cond_below(facts_ctx *c, ts_val x, ts_val y, bool equal, ts_val end)
{
    const ts_fact *most = &c->facts->at[y];
    if (most->lo >= 0 && (equal || most->hi > 0))
        cond_narrow(c, x, 0, most->hi - !equal, end);
}

static void cond_compare(facts_ctx *c, ts_val v, bool holds, ts_val end)
{
    static const ts_pred opposite[] = {[TS_EQ] = TS_NE, [TS_NE] = TS_EQ, [TS_LT] = TS_GE,
                                       [TS_LE] = TS_GT, [TS_GT] = TS_LE, [TS_GE] = TS_LT};
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val x = ts_opnd(c->fn, v, 0), y = ts_opnd(c->fn, v, 1);
    ts_pred pred = TS_A_GET_PRED(inst->aux);
    pred = holds ? pred : opposite[pred];
    if (ts_type_elem(c->m, ts_type_of(c->fn, x)) == TS_T_i1)
        return;
    if (inst->aux & TS_A_UNSIGNED && (c->facts->at[x].lo < 0 || c->facts->at[y].lo < 0)) {
        if (pred == TS_LT || pred == TS_LE)
            cond_below(c, x, y, pred == TS_LE, end);
        else if (pred == TS_GT || pred == TS_GE)
            cond_below(c, y, x, pred == TS_GE, end);
        return;
    }
    if (pred == TS_LT || pred == TS_LE)
        cond_less(c, x, y, pred == TS_LE, end);
    else if (pred == TS_GT || pred == TS_GE)
        cond_less(c, y, x, pred == TS_GE, end);
    else if (pred == TS_EQ) {
        ts_fact was = c->facts->at[x];
        cond_narrow(c, x, c->facts->at[y].lo, c->facts->at[y].hi, end);
        cond_narrow(c, y, was.lo, was.hi, end);
    }
}

static bool cond_is(const facts_ctx *c, ts_val v, bool value)
{
    uint64_t bits;
    return ts__const_bits(c->fn, v, &bits) && (bits & 1) == value;
}

/* i1 `v` is known to be `holds` up to `end`. */
static void cond_learn(facts_ctx *c, ts_val v, bool holds, ts_val end, uint32_t depth)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (depth == 0 || inst->type != TS_T_i1)
        return;
    const uint32_t *x = ts_opnds(c->fn, inst);
    if (inst->op == TS_OP_cmpi)
        cond_compare(c, v, holds, end);
    else if (inst->op == (holds ? TS_OP_andi : TS_OP_ori)) {
        cond_learn(c, x[0], holds, end, depth - 1);
        cond_learn(c, x[1], holds, end, depth - 1);
    } else if (inst->op == TS_OP_xori && (cond_is(c, x[0], true) || cond_is(c, x[1], true)))
        cond_learn(c, x[cond_is(c, x[0], true)], !holds, end, depth - 1);
    else if (inst->op == TS_OP_select && cond_is(c, x[holds ? 2 : 1], !holds)) { /* a and b; a or b */
        cond_learn(c, x[0], holds, end, depth - 1);
        cond_learn(c, x[holds ? 1 : 2], holds, end, depth - 1);
    }
}

/* Does the branch that ends before `end` leave the statement around it? */
static bool cond_leaves(const facts_ctx *c, ts_val end)
{
    return ts_at(c->fn, end - 1)->op != TS_OP_yield;
}

/* Where the region that holds v ends. */
static ts_val cond_region_end(const facts_ctx *c, ts_val v)
{
    ts_val parent = c->shape.parent[v];
    if (!parent)
        return c->fn->inst.n;
    ts_val other = ts_at(c->fn, parent)->op == TS_OP_if ? c->shape.other[parent] : 0;
    return other && v < other ? other : c->shape.end[parent];
}

void facts_conditions(facts_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (inst->op == TS_OP_if && c->shape.other[v]) {
        c->opener[c->shape.other[v]] = c->opener[c->shape.end[v]] = v;
        cond_learn(c, ts_opnd(c->fn, v, 0), true, c->shape.other[v], COND_DEPTH);
    } else if (inst->op == TS_OP_else)
        cond_learn(c, ts_opnd(c->fn, c->opener[v], 0), false, c->shape.end[v], COND_DEPTH);
    else if (inst->op == TS_OP_end && c->opener[v]) {
        ts_val opener = c->opener[v], other = c->shape.other[opener];
        bool first = cond_leaves(c, other), second = cond_leaves(c, v);
        if (first != second)
            cond_learn(c, ts_opnd(c->fn, opener, 0), second, cond_region_end(c, opener), COND_DEPTH);
    }
}

static void cond_restore(facts_ctx *c, const facts_narrowed *n)
{
    c->facts->at[n->v].lo = n->lo;
    c->facts->at[n->v].hi = n->hi;
}

void facts_conditions_end(facts_ctx *c, ts_val v)
{
    while (c->narrowed.n && c->narrowed.at[c->narrowed.n - 1].end <= v)
        cond_restore(c, &c->narrowed.at[--c->narrowed.n]);
}

void facts_conditions_drop(facts_ctx *c, ts_val v)
{
    for (uint32_t i = c->narrowed.n; i-- > 0;)
        if (c->narrowed.at[i].v == v) {
            cond_restore(c, &c->narrowed.at[i]);
            c->narrowed.at[i].v = 0; /* value 0 is none: its facts are of no use */
        }
}
