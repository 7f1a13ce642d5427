/* SPDX-License-Identifier: Apache-2.0
 *
 * Choices without branches: an `if` whose sides are a few quick operations without effects is computed on both sides,
 * and its results are selected.
 *
 *     %5 = if %c {                               %3 = mini %a, %b : i32
 *       yield %a                                 %4 = addi %3, %one : i32
 *     } else {                            ->     %5 = select %c, %a, %4 : i32
 *       %3 = mini %a, %b : i32
 *       %4 = addi %3, %one : i32
 *       yield %4
 *     }
 *
 * ptxas predicates such branches, but makes each wait for the predicate of the one before: a chain of 32 of them (a row
 * of edit distances) took 0.88 of the speed of selections. It runs after fma, so that products have the users that they
 * have on a CPU. Promises of no overflow hold on one side alone, and are dropped. Inner choices first: an `if` of `if`s
 * that are chosen counts their operations. Cost: linear.
 */
#include "pass/pass.h"

enum { CHOOSE_MOST = 8, CHOOSE_F64 = 3 }; /* operations of both sides; as how many one of f64 counts */

typedef struct choose_ctx {
    ts_shape shape;
    uint32_t *cost; /* if -> operations of its sides, CHOOSE_MOST + 1: it stays */
    bool *goes;     /* an if, and its end, else and yields: they go */
} choose_ctx;

/* What one instruction inside of an `if` costs it. */
static uint32_t choose_cost(const choose_ctx *c, const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t flags = ts_info(inst)->flags, never = CHOOSE_MOST + 1;
    if (inst->op == TS_OP_if)
        return c->cost[v];
    if (inst->op == TS_OP_else || inst->op == TS_OP_end || inst->op == TS_OP_res || inst->op == TS_OP_yield ||
        inst->op == TS_OP_constant)
        return 0;
    if (!(flags & TS_ELEM) || flags & TS_SLOW || inst->op == TS_OP_divi || inst->op == TS_OP_remi ||
        !ts_type_is_scalar(inst->type))
        return never;
    return inst->type == TS_T_f64 ? CHOOSE_F64 : 1;
}

/* The cost of an `if`, whose inner ones are known. */
static uint32_t choose_sides(const choose_ctx *c, const ts_fn *fn, ts_val opener)
{
    ts_val end = c->shape.end[opener];
    uint32_t sum = 0, n = ts__n_res(fn, end);
    for (uint32_t i = 0; i < n; i++)
        if (!ts_type_is_scalar(ts_type_of(fn, end + 1 + i)))
            return CHOOSE_MOST + 1;
    for (ts_val v = opener + 1; v < end && sum <= CHOOSE_MOST; v++)
        if (c->shape.parent[v] == opener)
            sum += choose_cost(c, fn, v);
    return n && sum <= CHOOSE_MOST ? sum + n : CHOOSE_MOST + 1;
}

static bool choose_plan(choose_ctx *c, const ts_fn *fn, ts_arena *scratch)
{
    uint32_t n = fn->inst.n;
    c->cost = TS_NEW_N(scratch, uint32_t, n);
    c->goes = TS_NEW_N(scratch, bool, n);
    if (!c->cost || !c->goes || !ts__shape_of(fn, scratch, &c->shape))
        return false;
    for (ts_val v = n; v-- > 1;) {
        if (ts_at(fn, v)->op != TS_OP_if)
            continue;
        c->cost[v] = choose_sides(c, fn, v);
        if (c->cost[v] > CHOOSE_MOST)
            continue;
        ts_val other = c->shape.other[v], end = c->shape.end[v];
        c->goes[v] = c->goes[other - 1] = c->goes[other] = c->goes[end - 1] = c->goes[end] = true;
    }
    return true;
}

static ts_val choose_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    const choose_ctx *c = user;
    const ts_inst *inst = ts_at(fn, v);
    ts_val around = c->shape.parent[v];
    if (c->goes[v])
        return TS_NO;
    if (inst->op == TS_OP_res && c->goes[inst->opnd[0]]) {
        ts_val opener = inst->opnd[0], yield = c->shape.other[opener] - 1, other = c->shape.end[opener] - 1;
        return ts_select(b, map[ts_opnd(fn, opener, 0)], map[ts_opnd(fn, yield, inst->aux)],
                         map[ts_opnd(fn, other, inst->aux)]);
    }
    uint32_t promises = TS_A_NSW | TS_A_NUW;
    if (!c->goes[around] || ts_info(inst)->attr != TS_ATTR_ARITH || !(inst->aux & promises))
        return 0;
    ts__copy(b, fn, v, map);
    b->fn->inst.at[map[v]].aux &= ~promises;
    return map[v];
}

ts_status ts__pass_choose(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    choose_ctx c = {0};
    if (!choose_plan(&c, fn, env->scratch))
        return ts_fail(err, TS_NOMEM, "out of memory in pass choose");
    return ts__rewrite(fn, env, "choose", choose_each, &c, err);
}
