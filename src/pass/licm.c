/* SPDX-License-Identifier: Apache-2.0
 *
 * Loop-invariant code motion: pure instructions whose operands come from outside a loop move before
 * it, as far out as their operands allow.
 *
 *     for %i in (...) {                     %c = muli %n, %m : i32
 *       %c = muli %n, %m : i32        ->    for %i in (...) {
 *       %d = addi %c, %i : i32                %d = addi %c, %i : i32
 *
 * What may not run where it did not run before stays: divisions that could be by zero, assumptions
 * (they may hold only in their branch), and loads, unless the loop is known to run, comes to the load in its
 * first trip (licm_first.c) and writes nothing that it could read. What costs less than the registers it would hold for
 * a whole loop stays too: steps of the descriptors that wgmma reads, where its products leave few. Out of an `if` only
 * constants and scalars move, out of `cold` only constants (its point is not to run), out of reductions nothing. Cost:
 * linear times nesting.
 */
#include "pass/licm.h"
#include "pass/facts.h"
#include "pass/pass.h"

enum { LICM_REGISTERS = 128 }; /* of 240 that a thread of a kernel with wgmma has */

typedef struct licm_ctx {
    const ts_fn *fn;
    ts_shape shape;
    ts_val *before;       /* instruction -> the loop it moves before; 0 = it stays */
    ts_val *first, *last; /* loop -> instructions to move before it, in order */
    ts_val *next;
    uint8_t *step;        /* a descriptor plus a constant, for wgmma alone */
    bool *sure;           /* the loop around comes to it */
    ts_facts facts;       /* empty where no loop divides by what is not a constant */
} licm_ctx;

static ts_val licm_loop_of(const licm_ctx *c, ts_val v)
{
    do
        v = c->shape.parent[v];
    while (v && !ts__is_loop(ts_at(c->fn, v)->op));
    return v;
}

static bool licm_divides_safely(const licm_ctx *c, ts_val v)
{
    int64_t by;
    const ts_inst *inst = ts_at(c->fn, v);
    if (inst->op != TS_OP_divi && inst->op != TS_OP_remi)
        return true;
    if (ts__const_as_int(c->fn, ts_opnd(c->fn, v, 1), &by))
        return by != 0;
    return c->facts.n && c->facts.at[ts_opnd(c->fn, v, 1)].lo > 0;
}

/* Whether to know more of divisors than that they are constants. */
static bool licm_wants_facts(const licm_ctx *c)
{
    int64_t by;
    bool wants = false;
    for (ts_val v = 1; v < c->fn->inst.n && !wants; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        wants = (inst->op == TS_OP_divi || inst->op == TS_OP_remi) && licm_loop_of(c, v) &&
                !ts__const_as_int(c->fn, ts_opnd(c->fn, v, 1), &by);
    }
    return wants;
}

static bool licm_is_weak_load(const ts_inst *inst)
{
    return (inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko) &&
           TS_M_GET_ORDER(inst->aux) == TS_WEAK;
}

static bool licm_is_load(const ts_inst *inst)
{
    return licm_is_weak_load(inst) || ts__is_readonly_load(inst);
}

/* Registers of a thread that a product adds to those of the products before it: operand a, and the accumulators where
 * it is the first to use them. */
static uint32_t licm_held(const licm_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v), *from = ts_at(c->fn, ts_opnd(c->fn, v, 0));
    bool chained = from->op == TS_OP_res && ts_at(c->fn, from->opnd[0])->op == TS_OP_wgmma;
    return (chained ? 0 : TS_MMA_N(inst->aux) / 2) + (TS_MMA_FLAGS(inst->aux) & TS_MMA_A_REGS ? 4 : 0);
}

/* Steps stay in loops whose products leave few registers. Elsewhere they move: made in the loop, they overwrite uniform
 * registers that the product before must have read first. `held` [loop] is zero. */
static void licm_find_steps(const licm_ctx *c, uint32_t *held)
{
    int64_t by;
    for (ts_val v = 1; v < c->fn->inst.n; v++)
        if (ts_at(c->fn, v)->op == TS_OP_wgmma)
            held[licm_loop_of(c, v)] += licm_held(c, v);
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        if (inst->op != TS_OP_wgmma || held[licm_loop_of(c, v)] <= LICM_REGISTERS)
            continue;
        for (uint32_t i = 0; i < inst->n_opnd; i++) {
            ts_val x = ts_opnds(c->fn, inst)[i];
            c->step[x] = ts_at(c->fn, x)->op == TS_OP_addi && ts__const_as_int(c->fn, ts_opnd(c->fn, x, 1), &by);
        }
    }
}

static bool licm_can_move(const licm_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    const ts_op_info *info = ts_info(inst);
    if (c->step[v])
        return false;
    if (licm_is_load(inst))
        return true;
    if (inst->op == TS_OP_res) /* stays behind its load */
        return c->before[inst->opnd[0]] && ts__is_readonly_load(ts_at(c->fn, inst->opnd[0]));
    if (!(info->flags & TS_PURE) || info->flags & TS_REGION || info->n_result != 1)
        return false;
    if (inst->op == TS_OP_param || inst->op == TS_OP_arg ||
        inst->op == TS_OP_token || inst->op == TS_OP_assume || ts__is_clock(inst))
        return false;
    return licm_divides_safely(c, v);
}

/* Has the loop a first trip? */
static bool licm_runs(const licm_ctx *c, ts_val loop)
{
    int64_t lower, upper;
    if (ts_at(c->fn, loop)->op == TS_OP_loop)
        return true;
    return ts__const_as_int(c->fn, ts_opnd(c->fn, loop, 0), &lower) &&
           ts__const_as_int(c->fn, ts_opnd(c->fn, loop, 1), &upper) && lower < upper && lower >= 0;
}

/* A `for` that runs at least once, and nothing in it writes or orders memory. */
static bool licm_reads_only(const licm_ctx *c, ts_val loop)
{
    if (ts_at(c->fn, loop)->op != TS_OP_for || !licm_runs(c, loop))
        return false;
    for (ts_val v = loop + 1; v < c->shape.end[loop]; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        uint16_t flags = ts_info(inst)->flags;
        if (flags & (TS_WRITE | TS_SIDE) || (flags & TS_READ && !licm_is_weak_load(inst)))
            return false;
    }
    return true;
}

/* May the instruction leave this region? `held` is what the region holds directly: the instruction, or a region around
 * it. */
static bool licm_may_leave(const licm_ctx *c, ts_val v, ts_val held, ts_val opener)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool constant = inst->op == TS_OP_constant,
         scalar = ts_type_rank(c->fn->module, inst->type) == 0;
    switch (ts_at(c->fn, opener)->op) {
    case TS_OP_for:
    case TS_OP_loop:
        if (!licm_is_load(inst))
            return true;
        return c->sure[held] && (ts__is_readonly_load(inst) ? licm_runs(c, opener) : licm_reads_only(c, opener));
    case TS_OP_if:
        return constant || (scalar && !licm_is_load(inst));
    case TS_OP_cold:
        return constant;
    default:
        return false;
    }
}

/* Where the value will be made, `opener` is not around it. */
static bool licm_is_outside(const licm_ctx *c, ts_val value, ts_val opener)
{
    ts_val around = c->before[value] ? c->shape.parent[c->before[value]] : c->shape.parent[value];
    while (around && around != opener)
        around = c->shape.parent[around];
    return around != opener;
}

static bool licm_opnds_outside(const licm_ctx *c, ts_val v, ts_val opener)
{
    const ts_inst *inst = ts_at(c->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!licm_is_outside(c, ts_opnds(c->fn, inst)[i], opener))
            return false;
    return true;
}

static void licm_place(licm_ctx *c, ts_val v)
{
    ts_val best = 0, held = v;
    for (ts_val opener = c->shape.parent[v]; opener; held = opener, opener = c->shape.parent[opener]) {
        if (!licm_may_leave(c, v, held, opener) || !licm_opnds_outside(c, v, opener))
            break;
        if (ts__is_loop(ts_at(c->fn, opener)->op))
            best = opener;
    }
    if (!best)
        return;
    c->before[v] = best;
    if (c->last[best])
        c->next[c->last[best]] = v;
    else
        c->first[best] = v;
    c->last[best] = v;
}

static bool licm_rebuild(licm_ctx *c, ts_fn *fn, ts_arena *scratch)
{
    ts_builder b;
    ts_fn *fresh = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(scratch, ts_val, fn->inst.n);
    if (!fresh || !map)
        return false;
    ts__builder_init(&b, fresh);
    for (ts_val v = 1; v < fn->inst.n; v++) {
        for (ts_val moved = c->first[v]; moved; moved = c->next[moved])
            ts__copy(&b, fn, moved, map);
        if (!c->before[v])
            ts__copy(&b, fn, v, map);
        if (ts__module_failed(fn->module))
            return false;
    }
    ts__fn_replace(fn, fresh);
    return true;
}

ts_status ts__pass_licm(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    licm_ctx c = {.fn = fn};
    uint32_t n = fn->inst.n, moved = 0;
    c.before = TS_NEW_N(env->scratch, ts_val, n);
    c.first = TS_NEW_N(env->scratch, ts_val, n);
    c.last = TS_NEW_N(env->scratch, ts_val, n);
    c.next = TS_NEW_N(env->scratch, ts_val, n);
    c.step = TS_NEW_N(env->scratch, uint8_t, n);
    c.sure = TS_NEW_N(env->scratch, bool, n);
    uint32_t *held = TS_NEW_N(env->scratch, uint32_t, n);
    if (!c.before || !c.first || !c.last || !c.next || !c.step || !c.sure || !held ||
        !ts__shape_of(fn, env->scratch, &c.shape) ||
        (licm_wants_facts(&c) && !ts__facts_of(fn, env->scratch, &c.facts)))
        return ts_fail(err, TS_NOMEM, "out of memory in pass licm");
    ts__first_trip(fn, &c.shape, c.sure);
    licm_find_steps(&c, held);
    for (ts_val v = 1; v < n; v++)
        if (c.shape.parent[v] && licm_can_move(&c, v)) {
            licm_place(&c, v);
            moved += c.before[v] != 0;
        }
    if (moved && !licm_rebuild(&c, fn, env->scratch))
        return ts_fail(err, TS_NOMEM, "out of memory in pass licm");
    return TS_OK;
}
