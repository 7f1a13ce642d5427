/* SPDX-License-Identifier: Apache-2.0 */

/* clang-format off */
/*
 * Dead code elimination: drops what has no effect and no user, also loop-carried values, region results and whole
 * regions.
 *
 *     %5, %6 = for %3 in (%a, %b, %c) iter(%4 = %x, %7 = %y)         %5 = for %3 in (%a, %b, %c) iter(%4 = %x)
 *              : f32, f32 {                                                   : f32 {
 *       %8 = load_ptr_tko %p : f32                             ─▶
 *       %9 = addf %4, %4 : f32                                          %9 = addf %4, %4 : f32
 *       continue %9, %8                                                 continue %9
 *     }                              (only %5 is used)                }
 *
 * Marking from the roots (writes, side effects, ordered loads, returns out of regions, loops that may never end) to
 * what they need; a carried value or a result is a slot of its own. A live loop keeps the jumps that target it, and
 * with them the ifs around those. Then one copy of what is marked. Cost: linear. After Cytron et al., "Efficiently
 * computing SSA form and the control dependence graph" (1991).
 */
/* clang-format on */
#include "pass/pass.h"

typedef struct dce_ctx {
    const ts_fn *fn;
    ts_shape shape;
    ts_arena *scratch;
    bool *live;
    TS_VEC(ts_val) work;
    uint32_t *first_term, *next_term; /* terminators of an opener: yields, or jumps to the loop */
    uint32_t *first_res;              /* owner -> its first res; 0 = none */
    bool failed;
} dce_ctx;

/* ---- what is a root -------------------------------------------------------------------------- */

static bool dce_is_ordered_load(const ts_inst *inst)
{
    if (ts_info(inst)->attr == TS_ATTR_MEM)
        return TS_M_GET_ORDER(inst->aux) != TS_WEAK;
    uint32_t cache = TS_S_KIND(inst->aux);
    return inst->op == TS_OP_ld &&
           (cache == TS_CACHE_VOLATILE || cache == TS_CACHE_ACQUIRE || cache == TS_CACHE_RELAXED);
}

static bool dce_is_root(const ts_inst *inst)
{
    uint16_t flags = ts_info(inst)->flags;
    if (flags & (TS_WRITE | TS_SIDE) || inst->op == TS_OP_return || inst->op == TS_OP_param)
        return true;
    if (inst->op == TS_OP_loop) /* it may never end, and then nothing after it happens */
        return true;
    return flags & TS_READ && dce_is_ordered_load(inst);
}

/* ---- marking --------------------------------------------------------------------------------- */

static void dce_mark(dce_ctx *c, ts_val v)
{
    if (!v || c->live[v])
        return;
    c->live[v] = true;
    if (!TS_PUSH(c->scratch, &c->work, v))
        c->failed = true;
}

/* Operand i of every terminator `op` of the opener. */
static void dce_mark_flow(dce_ctx *c, ts_val opener, uint32_t op, uint32_t i)
{
    for (ts_val t = c->first_term[opener]; t; t = c->next_term[t])
        if (ts_at(c->fn, t)->op == op)
            dce_mark(c, ts_opnd(c->fn, t, i));
}

static void dce_mark_arg(dce_ctx *c, ts_val arg)
{
    ts_val opener = c->shape.parent[arg];
    uint32_t i = ts_at(c->fn, arg)->aux, op = ts_at(c->fn, opener)->op;
    if (op == TS_OP_for && i) {
        dce_mark(c, ts_opnd(c->fn, opener, i + 2));
        dce_mark_flow(c, opener, TS_OP_continue, i - 1);
    } else if (op == TS_OP_loop) {
        dce_mark(c, ts_opnd(c->fn, opener, i));
        dce_mark_flow(c, opener, TS_OP_continue, i);
    }
}

static void dce_mark_res(dce_ctx *c, ts_val res)
{
    ts_val owner = ts_opnd(c->fn, res, 0);
    uint32_t i = ts_at(c->fn, res)->aux, op = ts_at(c->fn, owner)->op;
    dce_mark(c, owner);
    if (op == TS_OP_for)
        dce_mark(c, ts_region_arg(c->fn, owner, i + 1));
    else if (op == TS_OP_loop)
        dce_mark_flow(c, owner, TS_OP_break, i);
    else if (op == TS_OP_if || op == TS_OP_cold)
        dce_mark_flow(c, owner, TS_OP_yield, i);
    if (op == TS_OP_cold)
        dce_mark(c, ts_opnd(c->fn, owner, i + 1));
}

/* What an opener needs whatever its slots do. */
static void dce_mark_opener(dce_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t fixed = inst->op == TS_OP_for                            ? 3
                     : inst->op == TS_OP_if || inst->op == TS_OP_cold ? 1
                                                                      : 0;
    bool reduces = inst->op == TS_OP_reduce || inst->op == TS_OP_scan;
    for (uint32_t i = 0; i < (reduces ? inst->n_opnd : fixed); i++)
        dce_mark(c, ts_opnd(c->fn, v, i));
    for (ts_val t = c->first_term[v]; t; t = c->next_term[t]) {
        dce_mark(c, t);
        for (uint32_t i = 0; reduces && i < inst->n_opnd; i++)
            dce_mark(c, ts_opnd(c->fn, t, i));
    }
}

static void dce_mark_needs(dce_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    dce_mark(c, c->shape.parent[v]);
    if (inst->op == TS_OP_arg)
        dce_mark_arg(c, v);
    else if (inst->op == TS_OP_res)
        dce_mark_res(c, v);
    else if (ts_info(inst)->flags & TS_REGION)
        dce_mark_opener(c, v);
    else if (!(ts_info(inst)->flags & TS_TERM) || inst->op == TS_OP_return)
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            dce_mark(c, ts_opnds(c->fn, inst)[i]);
}

static bool dce_mark_all(dce_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        ts_val target = ts_info(inst)->flags & TS_TERM ? ts__term_target(c->fn, &c->shape, v) : 0;
        if (target) {
            c->next_term[v] = c->first_term[target];
            c->first_term[target] = v;
        }
        if (inst->op == TS_OP_res && inst->aux == 0)
            c->first_res[inst->opnd[0]] = v;
        if (dce_is_root(inst))
            dce_mark(c, v);
    }
    while (c->work.n && !c->failed)
        dce_mark_needs(c, c->work.at[--c->work.n]);
    return !c->failed;
}

/* ---- copying --------------------------------------------------------------------------------- */

/* Whether carried value / result i of an opener stays. */
static bool dce_keeps_carried(const dce_ctx *c, ts_val opener, uint32_t i)
{
    uint32_t op = ts_at(c->fn, opener)->op;
    if (op == TS_OP_for)
        return c->live[ts_region_arg(c->fn, opener, i + 1)];
    return op != TS_OP_loop || c->live[ts_region_arg(c->fn, opener, i)];
}

static bool dce_keeps_result(const dce_ctx *c, ts_val opener, uint32_t i)
{
    switch (ts_at(c->fn, opener)->op) {
    case TS_OP_for:
        return dce_keeps_carried(c, opener, i);
    case TS_OP_loop:
    case TS_OP_if:
    case TS_OP_cold:
        return c->live[c->first_res[opener] + i];
    default:
        return true;
    }
}

static bool dce_keeps_opnd(const dce_ctx *c, ts_val v, uint32_t i)
{
    const ts_inst *inst = ts_at(c->fn, v);
    switch (inst->op) {
    case TS_OP_for:
        return i < 3 || dce_keeps_carried(c, v, i - 3);
    case TS_OP_loop:
        return dce_keeps_carried(c, v, i);
    case TS_OP_cold:
        return i == 0 || dce_keeps_result(c, v, i - 1);
    case TS_OP_continue:
        return dce_keeps_carried(c, ts__term_target(c->fn, &c->shape, v), i);
    case TS_OP_break:
    case TS_OP_yield:
        return dce_keeps_result(c, ts__term_target(c->fn, &c->shape, v), i);
    default:
        return true;
    }
}

/* Skeleton instructions follow their opener; args and res of dropped slots go. */
static bool dce_keeps(const dce_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val opener = c->shape.parent[v];
    switch (inst->op) {
    case TS_OP_else:
    case TS_OP_yield:
    case TS_OP_continue:
    case TS_OP_break:
        return !opener || c->live[opener];
    case TS_OP_arg: {
        uint32_t op = ts_at(c->fn, opener)->op;
        return c->live[opener] &&
               (c->live[v] || !ts__is_loop(op) || (op == TS_OP_for && inst->aux == 0));
    }
    case TS_OP_res: {
        ts_val owner = inst->opnd[0];
        return c->live[owner] && (!(ts_info(ts_at(c->fn, owner))->flags & TS_REGION) ||
                                  dce_keeps_result(c, owner, inst->aux));
    }
    default:
        return c->live[v];
    }
}

static ts_val dce_copy(dce_ctx *c, ts_builder *b, ts_val v, ts_val *map, uint32_t *slot)
{
    ts_inst inst = *ts_at(c->fn, v);
    ts_val *opnds = TS_NEW_N(c->scratch, ts_val, inst.n_opnd + 1u);
    uint32_t n = 0;
    if (!opnds)
        return 0;
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        if (dce_keeps_opnd(c, v, i))
            opnds[n++] = map[ts_opnd(c->fn, v, i)];
    switch (inst.op) {
    case TS_OP_arg:
        return ts_emit(b, TS_OP_arg, inst.type, 0, NULL, slot[c->shape.parent[v]]++, 0);
    case TS_OP_res:
        return ts_emit(b, TS_OP_res, inst.type, 1, opnds, slot[inst.opnd[0]]++, 0);
    default:
        return ts_emit(b, (ts_op)inst.op, inst.type, n, opnds, inst.aux, inst.flags);
    }
}

static bool dce_changes(ts_op op)
{
    return op == TS_OP_arg || op == TS_OP_res || op == TS_OP_for || op == TS_OP_loop ||
           op == TS_OP_cold || op == TS_OP_continue || op == TS_OP_break || op == TS_OP_yield;
}

static bool dce_rebuild(dce_ctx *c, ts_fn *fn)
{
    ts_builder b;
    ts_fn *fresh = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(c->scratch, ts_val, fn->inst.n);
    uint32_t *slot =
        TS_NEW_N(c->scratch, uint32_t, fn->inst.n); /* next arg, then next res of an opener */
    if (!fresh || !map || !slot)
        return false;
    ts__builder_init(&b, fresh);
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        bool keeps = dce_keeps(c, v);
        if (inst->op == TS_OP_end) { /* shape.parent of an end is the opener outside */
            ts_val opener = c->shape.parent[v - 1];
            keeps = c->live[opener];
            slot[opener] = 0;
        }
        if (!keeps)
            continue;
        b.loc = fn->loc.at[v];
        if (dce_changes((ts_op)inst->op))
            map[v] = dce_copy(c, &b, v, map, slot);
        else
            ts__copy(&b, fn, v, map);
        if (ts__module_failed(fn->module) || c->scratch->failed)
            return false;
    }
    ts__fn_replace(fn, fresh);
    return true;
}

ts_status ts__pass_dce(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    dce_ctx c = {.fn = fn, .scratch = env->scratch};
    uint32_t n = fn->inst.n;
    c.live = TS_NEW_N(c.scratch, bool, n);
    c.first_term = TS_NEW_N(c.scratch, uint32_t, n);
    c.next_term = TS_NEW_N(c.scratch, uint32_t, n);
    c.first_res = TS_NEW_N(c.scratch, uint32_t, n);
    bool good = c.live && c.first_term && c.next_term && c.first_res &&
                ts__shape_of(fn, c.scratch, &c.shape) && dce_mark_all(&c) && dce_rebuild(&c, fn);
    return good ? TS_OK : ts_fail(err, TS_NOMEM, "out of memory in pass dce");
}
