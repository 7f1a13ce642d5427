/* SPDX-License-Identifier: Apache-2.0
 *
 * Indices of Python that count from the end where they are negative: loops that meet none are written without the
 * question. A loop has a second copy for the others:
 *
 *     for %i in (%a, %n, 1) {                          %first = addi %a, %t;  %last = addi (%n - 1), %t
 *       %x = addi %i, %t                               %ok = %first and %last are not negative, and %n - %a is small
 *       %negative = cmpi lt %x, 0              ─▶      if %ok { the loop with %negative = false }
 *       %y = select %negative, %x + %size, %x          else { the loop as it was }
 *       .. ld at %y ..
 *     }
 *
 * %x is a sum of invariants and of the counter times invariants, so that it rises or falls from the first turn to the
 * last one. Nothing on the way wraps where both ends have one sign and the way is short (UNWRAP_FAR turns, each by at
 * most UNWRAP_FACTOR for each of UNWRAP_TERMS). Then loads are of neighbours, for the lanes of a warp (lockstep.c), and
 * for LLVM where a block is one thread. Only loops without loops inside, and without anything that threads do together.
 * Cost: linear, and the copies.
 */
#include "pass/pass.h"

enum {
    UNWRAP_MOST = 256,   /* instructions of a loop */
    UNWRAP_INDICES = 16, /* of a loop that are asked for */
    UNWRAP_TERMS = 4,    /* of an index that hang on the counter */
    UNWRAP_DEPTH = 8
};
#define UNWRAP_FAR ((int64_t)1 << 40)
#define UNWRAP_FACTOR ((int64_t)1 << 20)

typedef struct unwrap_ctx {
    const ts_fn *fn;
    ts_builder b;
    ts_shape shape;
    ts_val *map;
    ts_val loop;
    uint32_t n, n_terms, n_factors; /* indices; terms and factors of all of them */
    ts_val index[UNWRAP_INDICES], factor[UNWRAP_INDICES * UNWRAP_TERMS];
} unwrap_ctx;

/* ---- indices --------------------------------------------------------------------------------------------- */

static bool unwrap_is_fixed(const unwrap_ctx *c, ts_val x)
{
    int64_t known;
    return x < c->loop || ts__const_as_int(c->fn, x, &known);
}

static bool unwrap_factor(unwrap_ctx *c, ts_val x)
{
    int64_t known;
    if (ts__const_as_int(c->fn, x, &known))
        return known >= -UNWRAP_FACTOR && known <= UNWRAP_FACTOR;
    if (x >= c->loop || c->n_factors == TS_COUNT(c->factor))
        return false;
    c->factor[c->n_factors++] = x;
    return true;
}

/* Is x linear in the counter? Notes the factors, and counts the terms. */
static bool unwrap_is_linear(unwrap_ctx *c, ts_val x, uint32_t depth)
{
    const ts_inst *inst = ts_at(c->fn, x);
    if (unwrap_is_fixed(c, x))
        return true;
    if (x == c->loop + 1)
        return ++c->n_terms <= UNWRAP_TERMS;
    if (depth++ == UNWRAP_DEPTH || inst->type != TS_T_i64)
        return false;
    if (inst->op == TS_OP_addi || inst->op == TS_OP_subi)
        return unwrap_is_linear(c, inst->opnd[0], depth) && unwrap_is_linear(c, inst->opnd[1], depth);
    if (inst->op == TS_OP_exti) /* of the counter, as it is */
        return inst->opnd[0] == c->loop + 1 && !(inst->aux & TS_A_UNSIGNED) && ++c->n_terms <= UNWRAP_TERMS;
    if (inst->op != TS_OP_muli)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (inst->opnd[i] == c->loop + 1)
            return unwrap_is_fixed(c, inst->opnd[1 - i]) && unwrap_factor(c, inst->opnd[1 - i]) &&
                   ++c->n_terms <= UNWRAP_TERMS;
    return false;
}

/* x with the counter at this number. */
static ts_val unwrap_at(unwrap_ctx *c, ts_val x, ts_val counter)
{
    const ts_inst inst = *ts_at(c->fn, x);
    int64_t known;
    if (x == c->loop + 1)
        return counter;
    if (x < c->loop)
        return c->map[x];
    if (ts__const_as_int(c->fn, x, &known))
        return ts_int(&c->b, inst.type, known);
    ts_val a = unwrap_at(c, inst.opnd[0], counter);
    if (inst.op == TS_OP_exti)
        return ts_cast(&c->b, TS_OP_exti, a, inst.type, 0);
    return ts_op2(&c->b, (ts_op)inst.op, a, unwrap_at(c, inst.opnd[1], counter), 0);
}

/* Is v the question whether an index is negative? */
static bool unwrap_asks(const unwrap_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    int64_t zero;
    return inst->op == TS_OP_cmpi && TS_A_GET_PRED(inst->aux) == TS_LT && !(inst->aux & TS_A_UNSIGNED) &&
           ts_type_of(c->fn, inst->opnd[0]) == TS_T_i64 && ts__const_as_int(c->fn, inst->opnd[1], &zero) && zero == 0;
}

static bool unwrap_has(const unwrap_ctx *c, ts_val x)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->index[i] == x)
            return true;
    return false;
}

static void unwrap_note(unwrap_ctx *c, ts_val v)
{
    ts_val x = ts_opnd(c->fn, v, 0);
    uint32_t n_factors = c->n_factors;
    if (!unwrap_asks(c, v) || unwrap_has(c, x) || c->n == UNWRAP_INDICES)
        return;
    c->n_terms = 0;
    if (unwrap_is_linear(c, x, 0))
        c->index[c->n++] = x;
    else
        c->n_factors = n_factors;
}

/* ---- loops ----------------------------------------------------------------------------------------------- */

/* Threads of one warp may run different copies: nothing that they do together (mma_sync is pure, and yet of all lanes),
 * nothing that prints or ends a kernel, no memory that would be there twice, no loop. */
static bool unwrap_may_copy(const ts_inst *inst)
{
    uint32_t op = inst->op, flags = ts_info(inst)->flags;
    return !(flags & TS_SIDE) && (!(flags & TS_REGION) || op == TS_OP_if) && op != TS_OP_mma_sync &&
           op != TS_OP_local && op != TS_OP_shared_alloc;
}

/* Finds the indices of a `for`; false: it stays as it is. */
static bool unwrap_finds(unwrap_ctx *c, ts_val v)
{
    ts_val end = c->shape.end[v];
    ts_type type = ts_type_of(c->fn, v + 1);
    c->loop = v, c->n = c->n_factors = 0;
    if (end - v > UNWRAP_MOST || (type != TS_T_i64 && type != TS_T_i32) || ts_at(c->fn, v)->aux & TS_A_UNSIGNED)
        return false;
    for (ts_val k = v + 1; k < end; k++) {
        if (!unwrap_may_copy(ts_at(c->fn, k)))
            return false;
        unwrap_note(c, k);
    }
    return c->n != 0;
}

static ts_val unwrap_both(unwrap_ctx *c, ts_val x, ts_val y)
{
    return ts_op2(&c->b, TS_OP_andi, x, y, 0);
}

/* Is no index of the loop negative? */
static ts_val unwrap_ok(unwrap_ctx *c)
{
    ts_builder *b = &c->b;
    ts_type type = ts_type_of(c->fn, c->loop + 1);
    ts_val lower = c->map[ts_opnd(c->fn, c->loop, 0)], upper = c->map[ts_opnd(c->fn, c->loop, 1)], ends = 0;
    ts_val last = ts_op2(b, TS_OP_subi, upper, ts_int(b, type, 1), 0);
    ts_val way = ts_op2(b, TS_OP_subi, upper, lower, 0);
    if (type == TS_T_i32)
        way = ts_cast(b, TS_OP_exti, way, TS_T_i64, TS_A_UNSIGNED);
    ts_val ok = ts_cmp(b, TS_OP_cmpi, TS_LT, lower, upper, 0);
    ok = unwrap_both(c, ok, ts_cmp(b, TS_OP_cmpi, TS_LT, way, ts_int(b, TS_T_i64, UNWRAP_FAR), TS_A_UNSIGNED));
    for (uint32_t i = 0; i < c->n; i++) {
        ts_val both = ts_op2(b, TS_OP_ori, unwrap_at(c, c->index[i], lower), unwrap_at(c, c->index[i], last), 0);
        ends = ends ? ts_op2(b, TS_OP_ori, ends, both, 0) : both;
    }
    ok = unwrap_both(c, ok, ts_cmp(b, TS_OP_cmpi, TS_GE, ends, ts_int(b, TS_T_i64, 0), 0));
    for (uint32_t i = 0; i < c->n_factors; i++) {
        ts_val x = ts_op2(b, TS_OP_addi, c->map[c->factor[i]], ts_int(b, TS_T_i64, UNWRAP_FACTOR), 0);
        ok = unwrap_both(c, ok, ts_cmp(b, TS_OP_cmpi, TS_LE, x, ts_int(b, TS_T_i64, 2 * UNWRAP_FACTOR), TS_A_UNSIGNED));
    }
    return ok;
}

/* The loop once; with `sure` no index is asked for. Its results are in the map. */
static void unwrap_copy(unwrap_ctx *c, bool sure)
{
    ts_val end = c->shape.end[c->loop] + ts__n_res(c->fn, c->shape.end[c->loop]);
    for (ts_val v = c->loop; v <= end; v++) {
        c->b.loc = c->fn->loc.at[v];
        if (sure && unwrap_asks(c, v) && unwrap_has(c, ts_opnd(c->fn, v, 0)))
            c->map[v] = ts_bits(&c->b, TS_T_i1, 0);
        else
            ts__copy(&c->b, c->fn, v, c->map);
    }
}

static void unwrap_loop(unwrap_ctx *c, ts_arena *scratch)
{
    ts_val first = c->shape.end[c->loop] + 1;
    uint32_t n = ts__n_res(c->fn, first - 1);
    ts_type *types = TS_NEW_N(scratch, ts_type, n + 1);
    if (!types)
        return;
    for (uint32_t i = 0; i < n; i++)
        types[i] = ts_type_of(c->fn, first + i);
    ts_val opener = ts_if_begin(&c->b, unwrap_ok(c));
    unwrap_copy(c, true);
    ts_term(&c->b, TS_OP_yield, n, c->map + first);
    ts_else(&c->b);
    unwrap_copy(c, false);
    ts_term(&c->b, TS_OP_yield, n, c->map + first);
    ts_end(&c->b, opener, n, types);
    for (uint32_t i = 0; i < n; i++)
        c->map[first + i] = ts_res(&c->b, opener, i);
}

ts_status ts__pass_unwrap(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    unwrap_ctx c = {.fn = fn};
    ts_fn *fresh = ts__fn_create_like(fn);
    c.map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    if (!fresh || !c.map || !ts__shape_of(fn, env->scratch, &c.shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass unwrap");
    ts__builder_init(&c.b, fresh);
    for (ts_val v = 1; v < fn->inst.n; v++) {
        c.b.loc = fn->loc.at[v];
        if (ts_at(fn, v)->op == TS_OP_for && unwrap_finds(&c, v)) {
            unwrap_loop(&c, env->scratch);
            v = c.shape.end[v] + ts__n_res(fn, c.shape.end[v]);
        } else
            ts__copy(&c.b, fn, v, c.map);
        if (ts__module_failed(fn->module) || env->scratch->failed)
            return ts_fail(err, TS_NOMEM, "out of memory in pass unwrap");
    }
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
