/* SPDX-License-Identifier: Apache-2.0
 *
 * Indices that a loop carries: one that grows by the same amount in each trip is added to, instead of multiplied anew.
 * (Strength reduction.)
 *
 *     %5 = for %i in (%a, %n, %d) iter(%x = %x0) {         %2 = muli %a, %s; %i0 = addi %2, %t; %step = muli %d, %s
 *       %2 = muli %i, %s : i32                             %5, %6 = for %i in (%a, %n, %d) iter(%x = %x0, %at = %i0) {
 *       %3 = addi %2, %t : i32                      ->       %4 = offset %p, %at
 *       %4 = offset %p, %3                                   ..
 *       .. continue %y                                       %7 = addi %at, %step; continue %y, %7
 *     }                                                    }
 *
 * Sums wrap as products do, so this is right for every index, also one that is never looked at. Only for indices in
 * which the counter is multiplied by something that is not known when compiling: other products are part of the
 * addressing. It follows `address`, which makes the addresses of neighbours from each other. Besides the multiplication
 * the strides need not be kept in the loop, which ptxas schedules badly where they are (a loop of 32 dependent minima:
 * 534 cycles with a stride in it, 411 without). Cost: linear.
 */
#include "pass/pass.h"

enum { CARRY_MOST = 4, CARRY_DEPTH = 8 }; /* indices of a loop; operations of an index on the way to the counter */

typedef struct carry_loop {
    uint32_t n;
    ts_val index[CARRY_MOST], next[CARRY_MOST], step[CARRY_MOST]; /* in the old function; in the new one */
} carry_loop;

typedef struct carry_ctx {
    ts_shape shape;
    carry_loop **loop; /* a `for` that carries, and its end */
} carry_ctx;

/* ---- what is carried --------------------------------------------------------------------------------------- */

/* How v changes from one trip to the next: the greater one of a sum's. */
typedef enum carry_kind { CARRY_FIXED, CARRY_GROWS, CARRY_MULTIPLIED, CARRY_OTHER } carry_kind;

/* The low half of a sum or product hangs on the low halves alone: an index of 32 bits may be cut off one of 64, and
 * those on the way to it extended. */
static bool carry_is_cast(const ts_fn *fn, const ts_inst *inst, ts_type index)
{
    return inst->op == TS_OP_trunci ||
           (inst->op == TS_OP_exti && index == TS_T_i32 && ts_type_of(fn, inst->opnd[0]) == TS_T_i32);
}

static carry_kind carry_kind_of(const ts_fn *fn, ts_val loop, ts_val v, ts_type index, uint32_t depth)
{
    const ts_inst *inst = ts_at(fn, v);
    int64_t known;
    if (v <= loop + 1)
        return v <= loop ? CARRY_FIXED : CARRY_GROWS;
    bool sum = inst->op == TS_OP_addi || inst->op == TS_OP_subi;
    if (carry_is_cast(fn, inst, index) && depth < CARRY_DEPTH)
        return carry_kind_of(fn, loop, inst->opnd[0], index, depth + 1);
    if (depth == CARRY_DEPTH || (!sum && inst->op != TS_OP_muli) || !ts_type_is_scalar(inst->type))
        return CARRY_OTHER;
    carry_kind x = carry_kind_of(fn, loop, inst->opnd[0], index, depth + 1);
    carry_kind y = carry_kind_of(fn, loop, inst->opnd[1], index, depth + 1), most = TS_MAX(x, y);
    if (sum || most == CARRY_FIXED || most == CARRY_OTHER)
        return most;
    ts_val factor = x == CARRY_FIXED ? inst->opnd[0] : inst->opnd[1];
    if (x != CARRY_FIXED && y != CARRY_FIXED)
        return CARRY_OTHER;
    return ts__const_as_int(fn, factor, &known) ? most : CARRY_MULTIPLIED;
}

/* The innermost loop around v. */
static ts_val carry_around(const carry_ctx *c, const ts_fn *fn, ts_val v)
{
    do
        v = c->shape.parent[v];
    while (v && ts_at(fn, v)->op == TS_OP_if);
    return v;
}

/* Notes the index of the address v. False when memory is out. */
static bool carry_note(carry_ctx *c, const ts_fn *fn, ts_arena *scratch, ts_val v)
{
    ts_val index = ts_opnd(fn, v, 1), loop = carry_around(c, fn, v);
    if (!loop || ts_at(fn, loop)->op != TS_OP_for ||
        carry_kind_of(fn, loop, index, ts_type_of(fn, index), 0) != CARRY_MULTIPLIED)
        return true;
    carry_loop *l = c->loop[loop];
    if (!l && !(l = c->loop[loop] = c->loop[c->shape.end[loop]] = TS_NEW(scratch, carry_loop)))
        return false;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->index[i] == index)
            return true;
    if (l->n < CARRY_MOST)
        l->index[l->n++] = index;
    return true;
}

/* ---- the code ------------------------------------------------------------------------------------------------ */

/* v in front of the loop, with the counter at its first number. */
static ts_val carry_first(ts_builder *b, const ts_fn *fn, const ts_val *map, ts_val loop, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    if (v <= loop + 1)
        return map[v <= loop ? v : ts_opnd(fn, loop, 0)];
    ts_val x = carry_first(b, fn, map, loop, inst->opnd[0]);
    if (inst->n_opnd == 1)
        return ts_cast(b, (ts_op)inst->op, x, inst->type, inst->aux);
    return ts_op2(b, (ts_op)inst->op, x, carry_first(b, fn, map, loop, inst->opnd[1]), 0);
}

/* What v grows by, 0: by nothing. */
static ts_val carry_step(ts_builder *b, const ts_fn *fn, const ts_val *map, ts_val loop, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    if (v <= loop + 1)
        return v <= loop ? 0 : map[ts_opnd(fn, loop, 2)];
    ts_val x = carry_step(b, fn, map, loop, inst->opnd[0]);
    if (inst->n_opnd == 1)
        return x ? ts_cast(b, (ts_op)inst->op, x, inst->type, inst->aux) : 0;
    ts_val y = carry_step(b, fn, map, loop, inst->opnd[1]);
    if (!x && !y)
        return 0;
    if (inst->op == TS_OP_muli)
        return ts_op2(b, TS_OP_muli, x ? x : y, carry_first(b, fn, map, loop, inst->opnd[x ? 1 : 0]), 0);
    if (!x || !y)
        return x ? x : inst->op == TS_OP_subi ? ts_op1(b, TS_OP_negi, y, 0) : y;
    return ts_op2(b, (ts_op)inst->op, x, y, 0);
}

static void carry_begin(carry_loop *l, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    const ts_inst inst = *ts_at(fn, v);
    const ts_val *opnds = ts_opnds(fn, &inst);
    uint32_t n = inst.n_opnd - 3u;
    ts_val *inits = TS_NEW_N(fn->module->arena, ts_val, n + l->n);
    if (!inits)
        return;
    for (uint32_t i = 0; i < n; i++)
        inits[i] = map[opnds[3 + i]];
    for (uint32_t i = 0; i < l->n; i++) {
        inits[n + i] = carry_first(b, fn, map, v, l->index[i]);
        l->step[i] = carry_step(b, fn, map, v, l->index[i]);
    }
    map[v] = ts_for_begin(b, map[opnds[0]], map[opnds[1]], map[opnds[2]], n + l->n, inits, inst.aux);
    for (uint32_t i = 0; i <= n; i++)
        map[v + 1 + i] = ts_region_arg(b->fn, map[v], i);
    for (uint32_t i = 0; i < l->n; i++)
        l->next[i] = map[l->index[i]] = ts_region_arg(b->fn, map[v], 1 + n + i);
}

static void carry_continue(const carry_loop *l, ts_builder *b, const ts_fn *fn, ts_val v, const ts_val *map)
{
    uint32_t n = ts_at(fn, v)->n_opnd;
    ts_val *values = TS_NEW_N(fn->module->arena, ts_val, n + l->n);
    if (!values)
        return;
    for (uint32_t i = 0; i < n; i++)
        values[i] = map[ts_opnd(fn, v, i)];
    for (uint32_t i = 0; i < l->n; i++)
        values[n + i] = ts_op2(b, TS_OP_addi, l->next[i], l->step[i], 0);
    ts_term(b, TS_OP_continue, n + l->n, values);
}

static ts_val carry_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    carry_ctx *c = user;
    const ts_inst *inst = ts_at(fn, v);
    carry_loop *l = c->loop[v];
    if (map[v]) /* made with its loop */
        return map[v];
    if (l && inst->op == TS_OP_for) {
        carry_begin(l, b, fn, v, map);
        return map[v];
    }
    if (l && inst->op == TS_OP_end) {
        uint32_t n = ts__n_res(fn, v);
        ts_end_like(b, map[c->shape.parent[v - 1]]);
        for (uint32_t i = 0; i < n; i++)
            map[v + 1 + i] = b->fn->inst.n - n - l->n + i;
        return TS_NO;
    }
    l = inst->op == TS_OP_continue ? c->loop[ts__term_target(fn, &c->shape, v)] : NULL;
    if (l)
        carry_continue(l, b, fn, v, map);
    return l ? TS_NO : 0;
}

ts_status ts__pass_carry(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    carry_ctx c = {.loop = TS_NEW_N(env->scratch, carry_loop *, fn->inst.n)};
    bool fine = c.loop && ts__shape_of(fn, env->scratch, &c.shape);
    for (ts_val v = 1; fine && v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_offset)
            fine = carry_note(&c, fn, env->scratch, v);
    if (!fine)
        return ts_fail(err, TS_NOMEM, "out of memory in pass carry");
    return ts__rewrite(fn, env, "carry", carry_each, &c, err);
}
