/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of neighbours: one that stands a little beside another is made from it, and steps known at compile time
 * become part of the access. (Straight-line strength reduction, and what compilers call separated constant offsets.)
 *
 *     %1 = muli %i, %s                              %3 = offset %p, (%i * %s + %j)
 *     %2 = addi %1, %j                              %a = ld %3
 *     %3 = offset %p, %2                            %7 = offset %3, -%s
 *     %a = ld %3                              ->    %b = ld %7
 *     %4 = subi %i, 1; %5 = muli %4, %s             %9 = ptr_add %3, 4
 *     %6 = addi %5, %j; %7 = offset %p, %6          %c = ld %9
 *     %b = ld %7
 *     %8 = addi %2, 1; %9 = offset %p, %8
 *     %c = ld %9
 *
 * An index is seen as a sum of products of at most two values, modulo its width. Of 32 bits in global memory: an access
 * that was made lies in its array, whose indices are below TS_INDEX32_MAX, so the difference of two of
 * them fits 32 bits, and is what was computed modulo 2^32. A step known at compile time is right by itself: two numbers
 * of 32 bits and a small step are equal where they are equal modulo 2^32. What an index is more than a value is such a
 * step, too. In shared memory, and of 64 bits, addresses wrap alike. Cost: linear times the addresses looked at
 * (ADDRESS_LOOKS).
 */
#include "pass/pass.h"

enum {
    ADDRESS_TERMS = 6,
    ADDRESS_LOOKS = 32,     /* addresses made last, and still known, that a new one is compared with */
    ADDRESS_STEP = 1 << 20  /* elements */
};

/* k * a, or k * a * b. */
typedef struct address_term {
    ts_val a, b;
    int64_t k;
} address_term;

typedef struct address_form {
    uint32_t n;
    address_term term[ADDRESS_TERMS];
    int64_t c;
} address_form;

/* A pointer that the code has come by. */
typedef struct address_known {
    ts_val pointer, base;
    const address_form *form;
    ts_val access;          /* through it; 0: none */
} address_known;

typedef struct address_ctx {
    const ts_fn *fn;
    ts_arena *scratch;
    ts_shape shape;
    const address_form **form;    /* of integers */
    bool *same;                   /* in all threads of a block, whatever they do */
    uint32_t *depth;              /* opener -> addresses known there */
    TS_VEC(address_known) known;
    ts_builder b;
    ts_val *map;
} address_ctx;

/* ---- indices as sums ------------------------------------------------------------------------------------------ */

static int64_t address_wrap(ts_type type, int64_t x)
{
    return type == TS_T_i32 ? (int32_t)(uint32_t)(uint64_t)x : x;
}

static int64_t address_times(ts_type type, int64_t x, int64_t y)
{
    return address_wrap(type, (int64_t)((uint64_t)x * (uint64_t)y));
}

/* Adds k * t to the sum; false where it has too many terms. */
static bool address_add(address_form *f, ts_type type, const address_term *t, int64_t k)
{
    k = address_times(type, k, t->k);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->term[i].a == t->a && f->term[i].b == t->b) {
            f->term[i].k = address_wrap(type, (int64_t)((uint64_t)f->term[i].k + (uint64_t)k));
            if (!f->term[i].k)
                f->term[i] = f->term[--f->n];
            return true;
        }
    if (f->n == ADDRESS_TERMS)
        return false;
    f->term[f->n++] = (address_term){t->a, t->b, k};
    return true;
}

/* f += k * g */
static bool address_sum(address_form *f, ts_type type, const address_form *g, int64_t k)
{
    f->c = address_wrap(type, (int64_t)((uint64_t)f->c + (uint64_t)address_times(type, k, g->c)));
    for (uint32_t i = 0; i < g->n; i++)
        if (!address_add(f, type, &g->term[i], k))
            return false;
    return true;
}

/* The value as another one and a constant: i of i + 1. */
static ts_val address_root(const address_ctx *c, ts_val v, int64_t *more)
{
    const ts_inst *inst = ts_at(c->fn, v);
    int64_t by;
    for (*more = 0;; inst = ts_at(c->fn, v)) {
        bool adds = inst->op == TS_OP_addi || inst->op == TS_OP_subi;
        if (!adds || !ts__const_as_int(c->fn, inst->opnd[1], &by))
            return v;
        *more = address_wrap(inst->type, (int64_t)((uint64_t)*more + (uint64_t)(inst->op == TS_OP_addi ? by : -by)));
        v = inst->opnd[0];
    }
}

/* (a + m) * (b + n) = a * b + n * a + m * b + m * n: two factors stay values, whatever they are sums of. */
static bool address_product(const address_ctx *c, ts_val v, address_form *f)
{
    const ts_inst *inst = ts_at(c->fn, v);
    const address_form *x = c->form[inst->opnd[0]], *y = c->form[inst->opnd[1]];
    int64_t m, n;
    if (!x->n)
        return address_sum(f, inst->type, y, x->c);
    if (!y->n)
        return address_sum(f, inst->type, x, y->c);
    ts_val a = address_root(c, inst->opnd[0], &m), b = address_root(c, inst->opnd[1], &n);
    address_term product = {TS_MIN(a, b), TS_MAX(a, b), 1};
    f->c = address_times(inst->type, m, n);
    return address_add(f, inst->type, &product, 1) && (!n || address_sum(f, inst->type, c->form[a], n)) &&
           (!m || address_sum(f, inst->type, c->form[b], m));
}

static bool address_combine(const address_ctx *c, ts_val v, address_form *f)
{
    const ts_inst *inst = ts_at(c->fn, v);
    const address_form *x = inst->n_opnd > 0 ? c->form[ts_opnd(c->fn, v, 0)] : NULL;
    const address_form *y = inst->n_opnd > 1 ? c->form[ts_opnd(c->fn, v, 1)] : NULL;
    switch ((int)inst->op) {
    case TS_OP_constant:
        return ts__const_as_int(c->fn, v, &f->c);
    case TS_OP_addi:
    case TS_OP_subi:
        return address_sum(f, inst->type, x, 1) && address_sum(f, inst->type, y, inst->op == TS_OP_addi ? 1 : -1);
    case TS_OP_negi:
        return address_sum(f, inst->type, x, -1);
    case TS_OP_muli:
        return address_product(c, v, f);
    case TS_OP_shli:
        return !y->n && y->c >= 0 && y->c < 31 && address_sum(f, inst->type, x, (int64_t)1 << y->c);
    default:
        return false;
    }
}

/* Is what the operation makes of equal operands the same in all threads of a block? */
static bool address_is_same(const ts_inst *inst)
{
    uint32_t kind = TS_S_KIND(inst->aux);
    switch ((int)inst->op) {
    case TS_OP_arg:
    case TS_OP_res:
    case TS_OP_local:
        return false;
    case TS_OP_sreg:
        return (kind >= TS_SREG_CTAID && kind <= TS_SREG_NTID_Z) || kind == TS_SREG_SHARED_BYTES;
    default:
        return ts_info(inst)->flags & TS_PURE;
    }
}

/* False when memory is out. */
static bool address_note(address_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t n = inst->n_opnd;
    c->same[v] = address_is_same(inst);
    for (uint32_t i = 0; i < n && c->same[v]; i++)
        c->same[v] = c->same[ts_opnd(c->fn, v, i)];
    if (inst->type != TS_T_i32 && inst->type != TS_T_i64)
        return true;
    address_form *f = TS_NEW(c->scratch, address_form);
    if (!f)
        return false;
    if (!address_combine(c, v, f))
        *f = (address_form){.n = 1, .term = {{v, 0, 1}}};
    c->form[v] = f;
    return true;
}

/* ---- from one address to the next ------------------------------------------------------------------------------ */

static bool address_is_param(const ts_fn *fn, ts_val v)
{
    while (ts_at(fn, v)->op == TS_OP_assume)
        v = ts_opnd(fn, v, 0);
    return ts_at(fn, v)->op == TS_OP_param;
}

/* Was the pointer surely accessed before v? In the branch that holds the access, and in what that holds. */
static bool address_is_accessed(const address_ctx *c, const address_known *k, ts_val v)
{
    ts_val around = c->shape.parent[k->access];
    if (!k->access || !around)
        return k->access != 0;
    ts_val other = c->shape.other[around];
    return v < c->shape.end[around] && (other < k->access || v < other);
}

/* May an index of these two be told from the other by their difference? */
static bool address_may_step(const address_ctx *c, const address_known *k, ts_val v)
{
    ts_type index = ts_type_of(c->fn, ts_opnd(c->fn, v, 1));
    uint8_t space = ts_type_get(c->fn->module, ts_type_of(c->fn, v))->space;
    return index == TS_T_i64 || space == TS_SHARED ||
           (address_is_accessed(c, k, v) && address_is_param(c->fn, k->base));
}

/* How many operations the difference takes; UINT32_MAX: it is none of those that are worth it. */
static uint32_t address_cost(const address_ctx *c, const address_known *k, ts_val v, const address_form *by)
{
    uint32_t cost = 2 * by->n;
    if (by->c > ADDRESS_STEP || by->c < -ADDRESS_STEP)
        return UINT32_MAX;
    if (by->n == 0)
        return 0;
    if (by->n > 2 || !address_may_step(c, k, v))
        return UINT32_MAX;
    for (uint32_t i = 0; i < by->n; i++) {
        bool same = c->same[by->term[i].a] && (!by->term[i].b || c->same[by->term[i].b]);
        if (!same && (by->n > 1 || by->term[i].b || by->term[i].k != 1 || by->c))
            return UINT32_MAX;
        cost += (by->term[i].b ? 1u : 0u) + (by->term[i].k == 1 ? 0u : by->term[i].k == -1 ? 1u : 2u);
    }
    return cost + (by->c != 0);
}

/* The best address to begin from: its place among the known ones, or UINT32_MAX. */
static uint32_t address_best(const address_ctx *c, ts_val v, const address_form *form, address_form *by)
{
    uint32_t best = UINT32_MAX, least = UINT32_MAX, n = (uint32_t)c->known.n;
    ts_type index = ts_type_of(c->fn, ts_opnd(c->fn, v, 1));
    for (uint32_t i = n; i-- > 0 && n - i <= ADDRESS_LOOKS && least;) {
        const address_known *k = &c->known.at[i];
        address_form step = *form;
        if (k->base != ts_opnd(c->fn, v, 0) || ts_type_of(c->fn, k->pointer) != ts_type_of(c->fn, v) ||
            ts_type_of(c->fn, ts_opnd(c->fn, k->pointer, 1)) != index || !address_sum(&step, index, k->form, -1))
            continue;
        uint32_t cost = address_cost(c, k, v, &step);
        if (cost >= least)
            continue;
        least = cost;
        best = i;
        *by = step;
    }
    return best;
}

static ts_val address_value(address_ctx *c, ts_type type, const address_form *f)
{
    ts_builder *b = &c->b;
    ts_val sum = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const address_term *t = &f->term[i];
        ts_val x = c->map[t->a];
        if (t->b)
            x = ts_op2(b, TS_OP_muli, x, c->map[t->b], 0);
        if (t->k == -1)
            x = ts_op1(b, TS_OP_negi, x, 0);
        else if (t->k != 1)
            x = ts_op2(b, TS_OP_muli, x, ts_int(b, type, t->k), 0);
        sum = sum ? ts_op2(b, TS_OP_addi, sum, x, 0) : x;
    }
    return f->c ? ts_op2(b, TS_OP_addi, sum, ts_int(b, type, f->c), 0) : sum;
}

/* The pointer `from`, of the result, moved by the sum. */
static ts_val address_moved(address_ctx *c, ts_val v, ts_val from, const address_form *by)
{
    const ts_inst *inst = ts_at(c->fn, v);
    const ts_type_info *pointer = ts_type_get(c->fn->module, inst->type);
    int64_t bytes = by->c * (int64_t)(ts_type_bits(c->fn->module, pointer->elem) / 8);
    if (by->n) {
        ts_val to[] = {from, address_value(c, ts_type_of(c->fn, ts_opnd(c->fn, v, 1)), by)};
        return ts_emit(&c->b, TS_OP_offset, inst->type, 2, to, 0, 0);
    }
    ts_val to[] = {from, ts_int(&c->b, pointer->space == TS_SHARED ? TS_T_i32 : TS_T_i64, bytes)};
    return bytes ? ts_emit(&c->b, TS_OP_ptr_add, inst->type, 2, to, 0, 0) : from;
}

/* The first of some neighbours: x[i + 3] is three elements behind x[i], whose address may be known to be a multiple of
 * more. Indices are so far from the ends of 32 bits that what is left does not wrap. */
static bool address_first(address_ctx *c, ts_val v)
{
    int64_t more;
    ts_val index = ts_opnd(c->fn, v, 1), root = address_root(c, index, &more);
    if (more <= 0 || more > ADDRESS_STEP)
        return false;
    ts_val to[] = {c->map[ts_opnd(c->fn, v, 0)], c->map[root]};
    const address_form by = {.c = more};
    c->map[v] = address_moved(c, v, ts_emit(&c->b, TS_OP_offset, ts_type_of(c->fn, v), 2, to, 0, 0), &by);
    return true;
}

/* False where the address stays as it is. */
static bool address_offset(address_ctx *c, ts_val v)
{
    const ts_fn *fn = c->fn;
    const ts_type_info *pointer = ts_type_get(fn->module, ts_type_of(fn, v));
    ts_val base = ts_opnd(fn, v, 0);
    const address_form *form = c->form[ts_opnd(fn, v, 1)];
    address_form by;
    if (pointer->kind != TS_KIND_PTR || (pointer->space != TS_GLOBAL && pointer->space != TS_SHARED) || !form ||
        ts_type_bits(fn->module, pointer->elem) % 8)
        return false;
    if (!form->n && form->c <= ADDRESS_STEP && form->c >= -ADDRESS_STEP) {
        c->map[v] = address_moved(c, v, c->map[base], form);
        return true;
    }
    uint32_t best = address_best(c, v, form, &by);
    if (best != UINT32_MAX)
        c->map[v] = address_moved(c, v, c->map[c->known.at[best].pointer], &by);
    address_known known = {v, base, form, 0};
    if (!TS_PUSH(c->scratch, &c->known, known))
        c->scratch->failed = true;
    return best != UINT32_MAX || address_first(c, v);
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* What is made in a region is known there alone. */
static void address_scope(address_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (ts_info(inst)->flags & TS_REGION)
        c->depth[v] = (uint32_t)c->known.n;
    if (inst->op == TS_OP_else)
        c->known.n = c->depth[c->shape.parent[v]];
    if (inst->op == TS_OP_end)
        c->known.n = c->depth[v];
}

static void address_accessed(address_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool access = inst->op == TS_OP_ld || inst->op == TS_OP_st || inst->op == TS_OP_atom || inst->op == TS_OP_red;
    if (!access || ts__opnd_mask(inst) != TS_NO)
        return;
    for (uint32_t i = 0; i < c->known.n; i++) {
        address_known *k = &c->known.at[i];
        if (k->pointer == ts_opnd(c->fn, v, 0) && !address_is_accessed(c, k, v))
            k->access = v;
    }
}

static bool address_fn(address_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++)
        if (ts_info(ts_at(c->fn, v))->flags & TS_REGION)
            c->depth[c->shape.end[v]] = v; /* its opener, until the end is met */
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        c->b.loc = c->fn->loc.at[v];
        if (ts_at(c->fn, v)->op == TS_OP_end)
            c->depth[v] = c->depth[c->depth[v]];
        address_scope(c, v);
        if (!address_note(c, v))
            return false;
        if (ts_at(c->fn, v)->op != TS_OP_offset || !address_offset(c, v))
            ts__copy(&c->b, c->fn, v, c->map);
        address_accessed(c, v);
        if (ts__module_failed(c->fn->module) || c->scratch->failed)
            return false;
    }
    return true;
}

ts_status ts__pass_address(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    uint32_t n = fn->inst.n;
    address_ctx c = {.fn = fn, .scratch = env->scratch};
    ts_fn *fresh = ts__fn_create_like(fn);
    c.form = TS_NEW_N(env->scratch, const address_form *, n);
    c.same = TS_NEW_N(env->scratch, bool, n);
    c.depth = TS_NEW_N(env->scratch, uint32_t, n);
    c.map = TS_NEW_N(env->scratch, ts_val, n);
    if (!fresh || !c.form || !c.same || !c.depth || !c.map || !ts__shape_of(fn, env->scratch, &c.shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass address");
    ts__builder_init(&c.b, fresh);
    if (!address_fn(&c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass address");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
