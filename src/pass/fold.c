/* SPDX-License-Identifier: Apache-2.0
 *
 * Folding: constants, algebraic identities, common subexpressions, in one walk that builds the
 * function anew. Operands of an instruction are already folded when it is reached, so chains
 * collapse at once.
 *
 *     %3 = constant 4 : i32                          %3 = constant 4 : i32
 *     %4 = addi %1, %3 : i32                         %4 = addi %1, %3 : i32
 *     %5 = addi %1, %3 : i32                  ->     %5 = constant 12 : i32
 *     %6 = addi %5, 8 : i32                          %6 = addi %1, %5 : i32
 *     %7 = if true { yield %4 } else { yield %6 }    (uses of %7 are %4)
 *
 * An `if` on a constant becomes its branch; a `for` of no trip its first values, of one trip its
 * body. Equal loads are one while nothing between them may write (a loop that writes counts as a
 * write when it begins). Cost: linear, with a hash table; dce drops what became unused. Rules:
 * fold.def, fold_elem.c, fold_shape.c; numbering: number.c.
 */
#include "pass/fold.h"
#include "ir/text.h"

/* ---- emitting -------------------------------------------------------------------------------- */

ts_val ts__fold_emit(fold_ctx *c, ts_op op, ts_type type, uint32_t n, const ts_val *opnds,
                     uint32_t aux, uint32_t flags)
{
    uint32_t pool_n = c->b.fn->pool.n;
    ts_val v = ts_emit(&c->b, op, type, n, opnds, aux, flags);
    if (!v || !ts__can_number(ts_at(c->b.fn, v)))
        return v;
    return ts__number(&c->numbers, pool_n);
}

ts_val ts__fold_bits(fold_ctx *c, ts_type type, uint64_t payload)
{
    ts_val words[] = {(ts_val)payload, (ts_val)(payload >> 32)};
    return ts__fold_emit(c, TS_OP_constant, type, 0, words, 0, 0);
}

bool ts__fold_failed(const fold_ctx *c)
{
    return ts__module_failed(c->b.fn->module) || c->scratch->failed || c->numbers.failed;
}

/* ---- one instruction ------------------------------------------------------------------------- */

static bool fold_writes(const ts_inst *inst)
{
    const ts_op_info *info = ts_info(inst);
    if (info->flags & (TS_WRITE | TS_SIDE))
        return true;
    return info->flags & TS_READ && info->attr == TS_ATTR_MEM &&
           TS_M_GET_ORDER(inst->aux) != TS_WEAK;
}

static ts_val fold_new(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    if (ts_info(inst)->flags & TS_ELEM)
        return ts__fold_elem(c, (ts_op)inst->op, inst->type, opnds, aux);
    return ts__fold_shape(c, inst, opnds, aux);
}

static void fold_plain(fold_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->from, v);
    ts_val opnds[3] = {0};
    c->numbers.epoch += fold_writes(inst);
    if (inst->n_opnd <= 3 && ts_info(inst)->n_result == 1 && inst->op != TS_OP_constant) {
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            opnds[i] = c->map[ts_opnd(c->from, v, i)];
        uint32_t words = ts__attr_words(c->from, inst), pool_n = c->b.fn->pool.n;
        uint32_t aux = words ? ts_pool_add(&c->b, words, ts_pool(c->from, inst)) : inst->aux;
        if (ts__fold_failed(c))
            return;
        c->b.loc = c->from->loc.at[v];
        c->map[v] = fold_new(c, inst, opnds, aux);
        if (c->map[v])
            return;
        c->b.fn->pool.n = pool_n;
    }
    uint32_t pool_n = c->b.fn->pool.n;
    ts__copy(&c->b, c->from, v, c->map);
    if (c->map[v] && ts__can_number(ts_at(c->b.fn, c->map[v])))
        c->map[v] = ts__number(&c->numbers, pool_n);
}

/* ---- regions --------------------------------------------------------------------------------- */

/* The results of a region that has been dissolved are the operands of its terminator. */
static void fold_results_are(fold_ctx *c, ts_val end, ts_val term)
{
    for (uint32_t i = 0; i < ts__n_res(c->from, end); i++)
        c->map[end + 1 + i] = c->map[ts_opnd(c->from, term, i)];
}

/* `if` on a constant: the branch taken stands in its place. True when the flow does not go on. */
static bool fold_if(fold_ctx *c, ts_val v, bool *dissolved)
{
    ts_val other = c->shape.other[v], end = c->shape.end[v];
    uint64_t cond;
    *dissolved = ts__const_bits(c->b.fn, c->map[ts_opnd(c->from, v, 0)], &cond);
    if (!*dissolved)
        return false;
    ts_val first = cond ? v + 1 : other + 1, term = (cond ? other : end) - 1;
    bool yields = ts_at(c->from, term)->op == TS_OP_yield;
    bool left = ts__fold_region(c, first, yields ? term : term + 1);
    if (yields && !left)
        fold_results_are(c, end, term);
    return left;
}

/* Some `continue` other than the last instruction repeats the loop. */
static bool fold_repeats_early(const fold_ctx *c, ts_val v)
{
    for (ts_val t = v + 1; t < c->shape.end[v] - 1; t++) {
        ts_val opener = c->shape.parent[t];
        if (ts_at(c->from, t)->op != TS_OP_continue)
            continue;
        while (ts_at(c->from, opener)->op == TS_OP_if)
            opener = c->shape.parent[opener];
        if (opener == v)
            return true;
    }
    return ts_at(c->from, c->shape.end[v] - 1)->op != TS_OP_continue;
}

/* Trips of a `for` with known bounds: 0, 1, or 2 for more and for unknown. */
static int fold_trips(const fold_ctx *c, ts_val v)
{
    int64_t bound[3], next;
    for (uint32_t i = 0; i < 3; i++)
        if (!ts__const_as_int(c->b.fn, c->map[ts_opnd(c->from, v, i)], &bound[i]))
            return 2;
    if (ts_at(c->from, v)->aux & TS_A_UNSIGNED && (bound[0] < 0 || bound[1] < 0))
        return 2;
    if (bound[0] >= bound[1])
        return 0;
    return __builtin_add_overflow(bound[0], bound[2], &next) || next >= bound[1] ? 1 : 2;
}

static bool fold_for(fold_ctx *c, ts_val v, bool *dissolved)
{
    int trips = fold_trips(c, v);
    ts_val end = c->shape.end[v];
    *dissolved = trips == 0 || (trips == 1 && !fold_repeats_early(c, v));
    if (!*dissolved)
        return false;
    for (uint32_t i = 0; i + 3 < ts_at(c->from, v)->n_opnd; i++)
        c->map[trips ? v + 2 + i : end + 1 + i] = c->map[ts_opnd(c->from, v, i + 3)];
    if (!trips)
        return false;
    c->map[v + 1] = c->map[ts_opnd(c->from, v, 0)];
    bool left = ts__fold_region(c, v + 1 + ts_at(c->from, v)->n_opnd - 2, end - 1);
    if (!left)
        fold_results_are(c, end, end - 1);
    return left;
}

static bool fold_body_writes(const fold_ctx *c, ts_val v)
{
    for (ts_val i = v + 1; i < c->shape.end[v]; i++)
        if (fold_writes(ts_at(c->from, i)))
            return true;
    return false;
}

static void fold_structure(fold_ctx *c,
                           ts_val v) /* opener, arg, else, end, res, terminator: as it is */
{
    ts__copy(&c->b, c->from, v, c->map);
}

static void fold_keep_region(fold_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->from, v);
    ts_val other = c->shape.other[v], end = c->shape.end[v];
    bool loops = inst->op == TS_OP_for || inst->op == TS_OP_loop,
         reduces = inst->op == TS_OP_reduce || inst->op == TS_OP_scan;
    uint64_t domain = c->numbers.domain;
    c->numbers.epoch += loops && fold_body_writes(c, v);
    c->cold += inst->op == TS_OP_cold;
    c->kept++;
    fold_structure(c, v);
    if (reduces)
        c->numbers.domain = v;
    ts__numbers_open(&c->numbers);
    ts__fold_region(c, v + 1, other ? other : end);
    ts__numbers_close(&c->numbers);
    if (other) {
        fold_structure(c, other);
        ts__numbers_open(&c->numbers);
        ts__fold_region(c, other + 1, end);
        ts__numbers_close(&c->numbers);
    }
    fold_structure(c, end);
    for (uint32_t i = 0; i < ts__n_res(c->from, end); i++)
        fold_structure(c, end + 1 + i);
    c->cold -= inst->op == TS_OP_cold;
    c->kept--;
    c->numbers.domain = domain;
}

/* Openers; true when the flow does not go on behind. */
static bool fold_opener(fold_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->from, v);
    bool dissolved = false, left = false;
    if (inst->op == TS_OP_if)
        left = fold_if(c, v, &dissolved);
    else if (inst->op == TS_OP_for)
        left = fold_for(c, v, &dissolved);
    if (!dissolved && c->tries)
        left = ts__fold_unroll(c, v, &dissolved);
    if (!dissolved && c->tries)
        dissolved = ts__fold_unroll_some(c, v);
    if (!dissolved)
        fold_keep_region(c, v);
    return left;
}

bool ts__fold_region(fold_ctx *c, ts_val from, ts_val to)
{
    for (ts_val v = from; v < to && !ts__fold_failed(c) && !ts__fold_gives_up(c); v++) {
        const ts_inst *inst = ts_at(c->from, v);
        const ts_op_info *info = ts_info(inst);
        c->b.loc = c->from->loc.at[v];
        if (info->flags & TS_REGION) {
            if (fold_opener(c, v))
                return true;
            v = c->shape.end[v] + ts__n_res(c->from, c->shape.end[v]);
        } else if (info->flags & TS_TERM) {
            if (!ts__fold_jump(c, v))
                fold_structure(c, v);
            return true;
        } else if (inst->op == TS_OP_arg || inst->op == TS_OP_res || inst->op == TS_OP_param)
            fold_structure(c, v);
        else
            fold_plain(c, v);
    }
    return false;
}

ts_status ts__fold(ts_fn *fn, ts_pass_env *env, uint32_t tries, ts_error *err)
{
    fold_ctx c = {.from = fn, .scratch = env->scratch, .tries = tries};
    ts_fn *fresh = ts__fn_create_like(fn);
    c.map = TS_NEW_N(c.scratch, ts_val, fn->inst.n);
    if (!fresh || !c.map || !ts__shape_of(fn, c.scratch, &c.shape) ||
        !ts__numbers_init(&c.numbers, fresh, c.scratch))
        return ts_fail(err, TS_NOMEM, "out of memory in pass fold");
    ts__builder_init(&c.b, fresh);
    ts__fold_region(&c, 1, fn->inst.n);
    if (ts__fold_failed(&c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass fold");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}

ts_status ts__pass_fold(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    return ts__fold(fn, env, 0, err);
}
