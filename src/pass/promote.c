/* SPDX-License-Identifier: Apache-2.0
 *
 * Promotion: the elements of a local array whose every index is known become values, which loops and branches carry.
 *
 *     %2 = local bytes=8 align=4 : ptr<i32, local>
 *     st n=1 %2, %x                                          (element 0 is %x)
 *     if %c {                                                %5 = if %c : i32 {
 *       st n=1 %2, %y                          ->              yield %y
 *       yield                                                } else {
 *     } else { yield }                                         yield %x
 *     %4 = ld n=1 %2 : i32                                   }            (uses of %4 are %5)
 *
 * `unroll` before it makes indices known. An array that has another use, or an element that is read in another type
 * than it is written, stays in memory; so does one of more than PROMOTE_MOST elements. What was never written is 0.
 * Cost: a copy of the function, and for each array its elements in the regions that write them.
 */
#include "pass/pass.h"

enum { PROMOTE_MOST = 64, PROMOTE_ALL = 256 };

typedef struct promote_ctx {
    ts_fn *fn;
    ts_builder b;
    ts_shape shape;
    ts_arena *scratch;
    ts_val *map, *opened, *openers; /* opener -> new one; end -> opener */
    ts_val *array;                  /* local, or a pointer into one -> the local; 0: none that goes */
    int64_t *at;                    /* of such a pointer: bytes from the array's begin */
    uint32_t *first;                /* local -> number of its first element, + 1 */
    uint32_t n;                     /* elements of all */
    ts_type *type;                  /* of an element */
    ts_val *now;                    /* its value */
} promote_ctx;

/* ---- which arrays ---------------------------------------------------------------------------------------- */

static uint32_t promote_size(const promote_ctx *c, ts_val local)
{
    return ts_type_bits(c->fn->module, ts_type_get(c->fn->module, ts_type_of(c->fn, local))->elem) / 8;
}

static bool promote_is_access(const promote_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool load = inst->op == TS_OP_ld && inst->n_opnd == 1, store = inst->op == TS_OP_st && inst->n_opnd == 2;
    return (load || store) && TS_S_NUMBER(inst->aux) == 1 && TS_S_KIND(inst->aux) == TS_CACHE_NONE;
}

/* Follows pointers from each local; one that is used in another way has first[] = 0 in the end. */
static void promote_follow(promote_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        int64_t index;
        if (inst->op == TS_OP_local) {
            uint32_t size = promote_size(c, v), bytes = ts_pool(c->fn, inst)[0];
            bool fits = size && bytes / size <= PROMOTE_MOST;
            c->array[v] = fits ? v : 0;
            c->first[v] = fits;
        } else if (inst->op == TS_OP_offset && c->array[inst->opnd[0]] &&
                   ts__const_as_int(c->fn, inst->opnd[1], &index)) {
            c->array[v] = c->array[inst->opnd[0]];
            c->at[v] = c->at[inst->opnd[0]] + index * promote_size(c, c->array[v]);
        } else {
            const uint32_t *opnds = ts_opnds(c->fn, inst);
            uint32_t n = inst->op == TS_OP_constant ? 0 : inst->n_opnd;
            for (uint32_t i = 0; i < n; i++)
                if (c->array[opnds[i]] && (i > 0 || !promote_is_access(c, v)))
                    c->first[c->array[opnds[i]]] = 0;
        }
    }
}

/* Accesses beyond the array and of other types keep it in memory. */
static void promote_check(promote_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        if (!promote_is_access(c, v))
            continue;
        ts_val pointer = ts_opnd(c->fn, v, 0), local = c->array[pointer];
        if (!local || !c->first[local])
            continue;
        ts_type elem = ts_type_get(c->fn->module, ts_type_of(c->fn, local))->elem;
        ts_type type = ts_at(c->fn, v)->op == TS_OP_st ? ts_type_of(c->fn, ts_opnd(c->fn, v, 1))
                       : ts_type_of(c->fn, v) ? ts_type_of(c->fn, v) : ts_type_of(c->fn, v + 1);
        if (type != elem || c->at[pointer] < 0 || c->at[pointer] >= ts_pool(c->fn, ts_at(c->fn, local))[0])
            c->first[local] = 0;
    }
}

/* Numbers the elements of those that go; false: there are none, or memory is out. */
static bool promote_number(promote_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        if (ts_at(c->fn, v)->op != TS_OP_local || !c->first[v])
            continue;
        uint32_t n = ts_pool(c->fn, ts_at(c->fn, v))[0] / promote_size(c, v);
        c->first[v] = c->n + n > PROMOTE_ALL ? 0 : c->n + 1;
        c->n += c->first[v] ? n : 0;
    }
    c->type = TS_NEW_N(c->scratch, ts_type, c->n + 1);
    c->now = TS_NEW_N(c->scratch, ts_val, c->n + 1);
    for (ts_val v = 1; c->type && v < c->fn->inst.n; v++)
        if (ts_at(c->fn, v)->op == TS_OP_local && c->first[v])
            for (uint32_t i = 0; i < ts_pool(c->fn, ts_at(c->fn, v))[0] / promote_size(c, v); i++)
                c->type[c->first[v] - 1 + i] = ts_type_get(c->fn->module, ts_type_of(c->fn, v))->elem;
    return c->n && c->type && c->now;
}

/* The element that an access is to; UINT32_MAX: none of ours. */
static uint32_t promote_element(const promote_ctx *c, ts_val v)
{
    ts_val pointer = promote_is_access(c, v) ? ts_opnd(c->fn, v, 0) : 0, local = c->array[pointer];
    if (!local || !c->first[local])
        return UINT32_MAX;
    return c->first[local] - 1 + (uint32_t)(c->at[pointer] / promote_size(c, local));
}

/* ---- regions ------------------------------------------------------------------------------------------------- */

/* The elements that are written between an opener and its end, in order. */
static uint32_t promote_written(const promote_ctx *c, ts_val opener, uint32_t *out)
{
    bool seen[PROMOTE_ALL] = {0};
    uint32_t n = 0;
    for (ts_val v = opener; v < c->shape.end[opener]; v++)
        if (ts_at(c->fn, v)->op == TS_OP_st && promote_element(c, v) != UINT32_MAX)
            seen[promote_element(c, v)] = true;
    for (uint32_t i = 0; i < c->n; i++)
        if (seen[i])
            out[n++] = i;
    return n;
}

/* Old operands from `skip` on, then the elements. */
static ts_val *promote_values(promote_ctx *c, ts_val v, uint32_t skip, uint32_t n, const uint32_t *elements)
{
    uint32_t old = ts_at(c->fn, v)->n_opnd - skip;
    ts_val *values = TS_NEW_N(c->scratch, ts_val, old + n + 1);
    for (uint32_t i = 0; values && i < old; i++)
        values[i] = c->map[ts_opnd(c->fn, v, skip + i)];
    for (uint32_t i = 0; values && i < n; i++)
        values[old + i] = c->now[elements[i]];
    return values;
}

/* Loops carry the elements that they write; branches give them. False where the opener stays as it is. */
static bool promote_open(promote_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t elements[PROMOTE_ALL], n = promote_written(c, v, elements), old = inst->n_opnd;
    bool counts = inst->op == TS_OP_for;
    ts_assert(!n || inst->op != TS_OP_cold); /* a cold path writes nothing (ir/verify.c) */
    if (!n || (!counts && inst->op != TS_OP_loop && inst->op != TS_OP_if))
        return false;
    if (inst->op == TS_OP_if) {
        c->opened[v] = ts_if_begin(&c->b, c->map[inst->opnd[0]]);
        return true;
    }
    ts_val *inits = promote_values(c, v, counts ? 3 : 0, n, elements);
    if (!inits)
        return false;
    old -= counts ? 3 : 0;
    c->opened[v] = counts ? ts_for_begin(&c->b, c->map[ts_opnd(c->fn, v, 0)], c->map[ts_opnd(c->fn, v, 1)],
                                         c->map[ts_opnd(c->fn, v, 2)], old + n, inits, inst->aux)
                          : ts_loop_begin(&c->b, old + n, inits);
    for (uint32_t i = 0; i < old + counts; i++)
        c->map[v + 1 + i] = ts_region_arg(c->b.fn, c->opened[v], i);
    for (uint32_t i = 0; i < n; i++)
        c->now[elements[i]] = ts_region_arg(c->b.fn, c->opened[v], old + counts + i);
    return true;
}

static bool promote_term(promote_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val opener = ts__term_target(c->fn, &c->shape, v);
    uint32_t elements[PROMOTE_ALL];
    if (!c->opened[opener])
        return false;
    uint32_t n = promote_written(c, opener, elements);
    ts_val *values = promote_values(c, v, 0, n, elements);
    if (!values)
        return false;
    ts_term(&c->b, (ts_op)inst->op, inst->n_opnd + n, values);
    return true;
}

static bool promote_end(promote_ctx *c, ts_val end)
{
    ts_val opener = c->openers[end];
    if (!c->opened[opener])
        return false;
    uint32_t elements[PROMOTE_ALL], n = promote_written(c, opener, elements), old = ts__n_res(c->fn, end);
    ts_type *types = TS_NEW_N(c->scratch, ts_type, old + n + 1);
    if (!types)
        return false;
    for (uint32_t i = 0; i < old; i++)
        types[i] = ts_type_of(c->fn, end + 1 + i);
    for (uint32_t i = 0; i < n; i++)
        types[old + i] = c->type[elements[i]];
    ts_end(&c->b, c->opened[opener], old + n, types);
    ts_val first = c->b.fn->inst.n - (old + n);
    for (uint32_t i = 0; i < old; i++)
        c->map[end + 1 + i] = first + i;
    for (uint32_t i = 0; i < n; i++)
        c->now[elements[i]] = first + old + i;
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------------------------- */

/* `before` [opener] holds the elements at the begin of an `if`. True when the instruction is done. */
static bool promote_inst(promote_ctx *c, ts_val v, ts_val **before)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t element = promote_element(c, v);
    if (element != UINT32_MAX && inst->op == TS_OP_st)
        c->now[element] = c->map[inst->opnd[1]];
    else if (element != UINT32_MAX)
        c->map[inst->type ? v : v + 1] = c->now[element];
    if (element != UINT32_MAX || (c->array[v] && c->first[c->array[v]]))
        return true;
    if (inst->op == TS_OP_res && promote_element(c, inst->opnd[0]) != UINT32_MAX)
        return true;
    if (ts_info(inst)->flags & TS_REGION) {
        bool done = promote_open(c, v);
        if (inst->op == TS_OP_if && (before[v] = TS_NEW_N(c->scratch, ts_val, c->n)))
            memcpy(before[v], c->now, c->n * sizeof *c->now);
        return done;
    }
    if (inst->op == TS_OP_else && before[c->shape.parent[v]])
        memcpy(c->now, before[c->shape.parent[v]], c->n * sizeof *c->now);
    if (inst->op == TS_OP_end)
        return promote_end(c, v);
    if (inst->op == TS_OP_arg)
        return c->opened[c->shape.parent[v]] != 0;
    if (inst->op == TS_OP_res)
        return c->opened[inst->opnd[0]] != 0;
    return ts_info(inst)->flags & TS_TERM && promote_term(c, v);
}

static bool promote_fn(promote_ctx *c)
{
    uint32_t n = c->fn->inst.n;
    ts_val **before = TS_NEW_N(c->scratch, ts_val *, n);
    bool begun = false;
    for (ts_val v = 1; before && v < n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        c->b.loc = c->fn->loc.at[v];
        if (!begun && inst->op != TS_OP_param) {
            for (uint32_t i = 0; i < c->n; i++)
                c->now[i] = ts_bits(&c->b, c->type[i], 0);
            begun = true;
        }
        if (!promote_inst(c, v, before))
            ts__copy(&c->b, c->fn, v, c->map);
        if (ts__module_failed(c->fn->module) || c->scratch->failed)
            return false;
    }
    return before != NULL;
}

ts_status ts__pass_promote(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    uint32_t n = fn->inst.n;
    promote_ctx c = {.fn = fn, .scratch = env->scratch};
    c.array = TS_NEW_N(env->scratch, ts_val, n);
    c.at = TS_NEW_N(env->scratch, int64_t, n);
    c.first = TS_NEW_N(env->scratch, uint32_t, n);
    if (!c.array || !c.at || !c.first)
        return ts_fail(err, TS_NOMEM, "out of memory in pass promote");
    promote_follow(&c);
    promote_check(&c);
    if (!promote_number(&c))
        return env->scratch->failed ? ts_fail(err, TS_NOMEM, "out of memory in pass promote") : TS_OK;
    ts_fn *fresh = ts__fn_create_like(fn);
    c.map = TS_NEW_N(env->scratch, ts_val, n);
    c.opened = TS_NEW_N(env->scratch, ts_val, n);
    c.openers = TS_NEW_N(env->scratch, ts_val, n);
    if (!fresh || !c.map || !c.opened || !c.openers || !ts__shape_of(fn, env->scratch, &c.shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass promote");
    for (ts_val v = 1; v < n; v++)
        if (ts_info(ts_at(fn, v))->flags & TS_REGION)
            c.openers[c.shape.end[v]] = v;
    ts__builder_init(&c.b, fresh);
    if (!promote_fn(&c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass promote");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
