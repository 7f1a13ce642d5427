/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts for a walk over a function of threads: at each instruction what the conditions around it say (facts_cond.c),
 * and more of carried values and of differences than facts.c alone.
 *
 *     %4 = loop iter(%k = 0) { if %k < 1000 { yield } else { break %k }; .. continue %k + 1 }
 *         the sweeps of facts.c throw the bounds of %k to those of its type (widening); here it gets what really flows
 *         to it, 0 to 1000. A step down from what holds stays true: Cousot and Cousot, 1977.
 *     2 * t - (t & m)        not negative, where t is not: a part of t is taken from what is no less than t
 *
 * Integers of one element alone. Cost: that of facts.c.
 */
#include "pass/facts_axis.h"

enum { WALK_DOWN = 3, WALK_DEPTH = 8 };

typedef struct facts_flow {
    ts_fact *came; /* arg, res: join of what came in this sweep */
    bool *has;
} facts_flow_of;

struct ts_facts_walk {
    facts_ctx c;
    facts_flow_of flow;
    ts_facts facts;
    ts_val at; /* the instruction that the walk stands at */
};

static const ts_fact *walk_fact(const facts_ctx *c, ts_val v)
{
    return &c->facts->at[v];
}

void facts_gather(facts_ctx *c, ts_val into, ts_val with)
{
    struct facts_flow *flow = c->flow;
    const ts_fact *from = walk_fact(c, with);
    if (!flow)
        return;
    ts_fact *f = &flow->came[into];
    f->lo = flow->has[into] ? TS_MIN(f->lo, from->lo) : from->lo;
    f->hi = flow->has[into] ? TS_MAX(f->hi, from->hi) : from->hi;
    flow->has[into] = true;
}

/* ---- relations ------------------------------------------------------------------------------------ */

ts_val facts_inner(const facts_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool keeps = inst->op == TS_OP_exti && ts_type_of(c->fn, inst->opnd[0]) != TS_T_i1 &&
                 (!(inst->aux & TS_A_UNSIGNED) || walk_fact(c, inst->opnd[0])->lo >= 0);
    return keeps ? facts_inner(c, inst->opnd[0]) : inst->op == TS_OP_assume ? facts_inner(c, inst->opnd[0]) : v;
}

/* A sum or product that does not wrap, of a number that is not negative and of one that is at least `least`. */
static bool walk_grows(const facts_ctx *c, ts_val v, ts_op op, int64_t least)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t bits = ts_type_bits(c->m, inst->type);
    int64_t most;
    if (inst->op != op)
        return false;
    const ts_fact *a = walk_fact(c, inst->opnd[0]), *b = walk_fact(c, inst->opnd[1]);
    bool wraps = op == TS_OP_addi ? __builtin_add_overflow(a->hi, b->hi, &most)
                                  : __builtin_mul_overflow(a->hi, b->hi, &most);
    return a->lo >= 0 && b->lo >= least && !wraps && (bits == 64 || !(most >> (bits - 1)));
}

bool facts_is_part(const facts_ctx *c, ts_val y, ts_val x, uint32_t depth)
{
    y = facts_inner(c, y);
    x = facts_inner(c, x);
    if (y == x)
        return walk_fact(c, x)->lo >= 0;
    if (depth++ == WALK_DEPTH || walk_fact(c, y)->lo < 0 || walk_fact(c, x)->lo < 0)
        return false;
    const ts_inst *small = ts_at(c->fn, y), *great = ts_at(c->fn, x);
    bool shifts = small->op == TS_OP_shri, divides = small->op == TS_OP_remi || small->op == TS_OP_divi;
    if ((shifts || divides) && walk_fact(c, small->opnd[0])->lo >= 0 &&
        walk_fact(c, small->opnd[1])->lo >= (divides ? 1 : 0) && facts_is_part(c, small->opnd[0], x, depth))
        return true;
    for (uint32_t i = 0; i < 2 && small->op == TS_OP_andi; i++)
        if (walk_fact(c, small->opnd[i])->lo >= 0 && facts_is_part(c, small->opnd[i], x, depth))
            return true;
    bool scales = walk_grows(c, x, TS_OP_muli, 1), sums = !scales && walk_grows(c, x, TS_OP_addi, 0);
    return ((scales || sums) && facts_is_part(c, y, great->opnd[0], depth)) ||
           (sums && facts_is_part(c, y, great->opnd[1], depth));
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

/* One sweep, and then what flowed to an argument or result is what it can be. */
static void walk_down(facts_ctx *c)
{
    uint32_t n = c->fn->inst.n;
    memset(c->flow->has, 0, n * sizeof *c->flow->has);
    facts_sweep(c);
    for (ts_val v = 1; v < n; v++) {
        ts_fact *f = &c->facts->at[v];
        int64_t lo = TS_MAX(f->lo, c->flow->came[v].lo), hi = TS_MIN(f->hi, c->flow->came[v].hi);
        if (c->flow->has[v] && lo <= hi) {
            f->lo = lo;
            f->hi = hi;
        }
    }
}

ts_facts_walk *ts__facts_walk(const ts_fn *fn, int64_t most_blocks, ts_arena *scratch)
{
    ts_facts_walk *walk = TS_NEW(scratch, ts_facts_walk);
    if (!walk)
        return NULL;
    walk->flow.came = TS_NEW_N(scratch, ts_fact, fn->inst.n);
    walk->flow.has = TS_NEW_N(scratch, bool, fn->inst.n);
    walk->c = (facts_ctx){.fn = fn, .m = fn->module, .scratch = scratch, .facts = &walk->facts, .flow = &walk->flow,
                          .most_blocks = most_blocks};
    if (!walk->flow.came || !walk->flow.has || !facts_run(&walk->c, scratch))
        return NULL;
    for (int i = 0; i < WALK_DOWN; i++)
        walk_down(&walk->c);
    return walk;
}

void ts__facts_step(ts_facts_walk *walk, ts_val v)
{
    if (walk->at)
        facts_conditions(&walk->c, walk->at);
    facts_conditions_end(&walk->c, v);
    walk->at = v;
}

const ts_fact *ts__facts_here(const ts_facts_walk *walk, ts_val v)
{
    return walk_fact(&walk->c, v);
}
