/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to neighbours by one thread become one access, of 16 bytes at most, where its address is known to be a
 * multiple of its size: what a thread reads or writes element by element, in an unrolled loop, of a record, of a pair.
 *
 *     %a = ld n=1 %p : f32                           %p is a multiple of 8
 *     %q = ptr_add %p, 4                      ->     %a, %b = ld n=2 %p : f32, f32
 *     %b = ld n=1 %q : f32
 *
 * Loads go to the first of them, stores to the last; all stand in one stretch of code without branches, so each of them
 * is made whenever one is. Nothing between may touch memory that they do: nothing but what reads, of loads of memory
 * that nobody writes nothing at all. Addresses are neighbours where `address` has made them from each other. Cost:
 * linear, and the length of a stretch for each group.
 */
#include "pass/alias.h"
#include "pass/facts.h"
#include "pass/pass.h"

enum { VECTOR_BYTES = 16, VECTOR_MOST = 16 /* elements */ };

typedef struct vector_access {
    ts_val v, root;      /* the instruction; what its address is so many bytes behind */
    int64_t at;
    ts_type elem;
    uint32_t bytes;      /* of an element */
} vector_access;

typedef struct vector_group {
    uint32_t n;
    ts_val member[VECTOR_MOST]; /* by address */
    ts_val root;
    int64_t at;
} vector_group;

typedef struct vector_ctx {
    const ts_fn *fn;
    ts_arena *scratch;
    ts_facts facts;
    ts_alias alias;
    const vector_group **group; /* instruction -> its group */
    ts_val *place;              /* the same: where the group stands */
    TS_VEC(vector_access) run;  /* accesses of the stretch */
    ts_builder b;
    ts_val *map;
} vector_ctx;

/* ---- which accesses -------------------------------------------------------------------------------------------- */

static bool vector_reads(const ts_inst *inst)
{
    return inst->op == TS_OP_ld;
}

/* An access to one number, that nothing decides about and nothing waits for. */
static bool vector_of(const vector_ctx *c, ts_val v, vector_access *out)
{
    const ts_fn *fn = c->fn;
    const ts_inst *inst = ts_at(fn, v);
    uint32_t kind = TS_S_KIND(inst->aux);
    if ((inst->op != TS_OP_ld && inst->op != TS_OP_st) || TS_S_NUMBER(inst->aux) != 1 || TS_S_EXTRA(inst->aux) ||
        kind > TS_CACHE_STREAM || ts__opnd_mask(inst) != TS_NO)
        return false;
    ts_type elem = inst->op == TS_OP_ld ? ts_type_of(fn, v + 1) : ts_type_of(fn, ts_opnd(fn, v, 1));
    uint8_t space = ts_type_get(fn->module, ts_type_of(fn, ts_opnd(fn, v, 0)))->space;
    uint32_t bits = ts_type_is_scalar(elem) ? ts_type_bits(fn->module, elem) : 0;
    *out = (vector_access){.v = v, .root = ts_opnd(fn, v, 0), .elem = elem, .bytes = bits / 8};
    int64_t more;
    while (ts_at(fn, out->root)->op == TS_OP_ptr_add && ts__const_as_int(fn, ts_opnd(fn, out->root, 1), &more)) {
        out->root = ts_opnd(fn, out->root, 0);
        out->at += more;
    }
    return bits >= 8 && ts_is_pow2(bits) && bits <= 64 && (space == TS_GLOBAL || space == TS_SHARED);
}

static bool vector_is_like(const vector_ctx *c, const vector_access *x, const vector_access *y)
{
    const ts_inst *a = ts_at(c->fn, x->v), *b = ts_at(c->fn, y->v);
    return a->op == b->op && a->aux == b->aux && x->root == y->root && x->elem == y->elem;
}

/* May the instruction not change its order with the access? */
static bool vector_blocks(const vector_ctx *c, ts_val access, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v), *of = ts_at(c->fn, access);
    uint16_t flags = ts_info(inst)->flags;
    bool acquires = inst->op == TS_OP_ld && TS_S_KIND(inst->aux) == TS_CACHE_ACQUIRE;
    bool other = acquires || flags & (TS_WRITE | TS_SIDE) || (flags & TS_READ && !vector_reads(of));
    if (!other || ts__is_readonly_load(of))
        return false;
    if ((inst->op != TS_OP_ld && inst->op != TS_OP_st) || TS_S_KIND(inst->aux) > TS_CACHE_STREAM)
        return true;
    const ts_module *m = c->fn->module;
    ts_val p = ts_opnd(c->fn, access, 0), q = ts_opnd(c->fn, v, 0);
    if (ts_type_get(m, ts_type_of(c->fn, p))->space != ts_type_get(m, ts_type_of(c->fn, q))->space)
        return false;
    return c->fn->overlap || !ts__alias_apart(&c->alias, access, v);
}

static bool vector_is_member(const vector_group *g, ts_val v)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->member[i] == v)
            return true;
    return false;
}

/* Can the members stand in one place: loads where the first does, stores where the last does? */
static bool vector_meets(const vector_ctx *c, const vector_group *g, ts_val *place)
{
    ts_val first = g->member[0], last = g->member[0];
    for (uint32_t i = 1; i < g->n; i++) {
        first = TS_MIN(first, g->member[i]);
        last = TS_MAX(last, g->member[i]);
    }
    *place = vector_reads(ts_at(c->fn, first)) ? first : last;
    for (ts_val v = first + 1; v < last; v++)
        if (!vector_is_member(g, v) && vector_blocks(c, first, v))
            return false;
    return true;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

/* The group of `bytes` around the access x of the run, if all of its elements are accessed from there on; where one is
 * stored twice, before that. */
static bool vector_collect(const vector_ctx *c, size_t first, uint32_t bytes, vector_group *g)
{
    const vector_access *x = &c->run.at[first];
    int64_t begin = x->at & -(int64_t)bytes;
    uint32_t found = 0;
    *g = (vector_group){.n = bytes / x->bytes, .root = x->root, .at = begin};
    for (size_t i = first; i < c->run.n && found < g->n; i++) {
        const vector_access *y = &c->run.at[i];
        if (c->group[y->v] || !vector_is_like(c, x, y) || y->at < begin || y->at >= begin + bytes ||
            (y->at - begin) % x->bytes)
            continue;
        ts_val *member = &g->member[(y->at - begin) / x->bytes];
        if (*member && !vector_reads(ts_at(c->fn, y->v)))
            break;
        found += !*member;
        *member = *member ? *member : y->v;
    }
    return found == g->n;
}

static bool vector_join(vector_ctx *c, size_t first)
{
    const vector_access *x = &c->run.at[first];
    vector_group g;
    ts_val place;
    for (uint32_t bytes = VECTOR_BYTES; bytes > x->bytes; bytes /= 2) {
        if (c->facts.at[x->root].divisor < bytes ||
            !vector_collect(c, first, bytes, &g) || !vector_meets(c, &g, &place))
            continue;
        vector_group *kept = TS_NEW(c->scratch, vector_group);
        if (!kept)
            return false;
        *kept = g;
        for (uint32_t i = 0; i < g.n; i++) {
            c->group[g.member[i]] = kept;
            c->place[g.member[i]] = place;
        }
        return true;
    }
    return true;
}

/* False when memory is out. */
static bool vector_stretch(vector_ctx *c)
{
    for (size_t i = 0; i < c->run.n; i++)
        if (!c->group[c->run.at[i].v] && !vector_join(c, i))
            return false;
    c->run.n = 0;
    return true;
}

static bool vector_find(vector_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        vector_access x;
        bool breaks = ts_info(inst)->flags & (TS_REGION | TS_TERM) || inst->op == TS_OP_else || inst->op == TS_OP_end;
        if (breaks && !vector_stretch(c))
            return false;
        if (!breaks && vector_of(c, v, &x) && !TS_PUSH(c->scratch, &c->run, x))
            return false;
    }
    return vector_stretch(c);
}

/* ---- writing them ------------------------------------------------------------------------------------------------ */

static void vector_write(vector_ctx *c, const vector_group *g)
{
    ts_builder *b = &c->b;
    const ts_fn *fn = c->fn;
    const ts_inst *inst = ts_at(fn, g->member[0]);
    ts_val opnds[1 + VECTOR_MOST] = {c->map[g->root]};
    ts_type pointer = ts_type_of(fn, ts_opnd(fn, g->member[0], 0)), types[VECTOR_MOST];
    ts_type address = ts_type_get(fn->module, pointer)->space == TS_SHARED ? TS_T_i32 : TS_T_i64;
    if (ts_type_of(fn, g->root) != pointer)
        opnds[0] = ts_cast(b, TS_OP_ptr_to_ptr, opnds[0], pointer, 0);
    if (g->at)
        opnds[0] = ts_emit(b, TS_OP_ptr_add, pointer, 2, (ts_val[]){opnds[0], ts_int(b, address, g->at)}, 0, 0);
    uint32_t aux = TS_S(TS_S_KIND(inst->aux), g->n, 0);
    for (uint32_t i = 0; i < g->n && !vector_reads(inst); i++)
        opnds[1 + i] = c->map[ts_opnd(fn, g->member[i], 1)];
    if (!vector_reads(inst)) {
        ts_emit(b, TS_OP_st, TS_T_none, 1 + g->n, opnds, aux, inst->flags);
        return;
    }
    for (uint32_t i = 0; i < g->n; i++)
        types[i] = ts_type_of(fn, g->member[i] + 1);
    ts_val v = ts_emit_multi(b, TS_OP_ld, 1, opnds, aux, inst->flags, g->n, types);
    for (uint32_t i = 0; i < g->n; i++)
        c->map[g->member[i] + 1] = v + 1 + i;
}

static bool vector_fn(vector_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const vector_group *g = c->group[v];
        c->b.loc = c->fn->loc.at[v];
        if (g && c->place[v] == v)
            vector_write(c, g);
        if (g && vector_reads(ts_at(c->fn, v)))
            v++; /* its result */
        else if (!g)
            ts__copy(&c->b, c->fn, v, c->map);
        if (ts__module_failed(c->fn->module))
            return false;
    }
    return true;
}

ts_status ts__pass_vector(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    uint32_t n = fn->inst.n;
    vector_ctx c = {.fn = fn, .scratch = env->scratch};
    ts_fn *fresh = ts__fn_create_like(fn);
    c.group = TS_NEW_N(env->scratch, const vector_group *, n);
    c.place = TS_NEW_N(env->scratch, ts_val, n);
    c.map = TS_NEW_N(env->scratch, ts_val, n);
    if (!fresh || !c.group || !c.place || !c.map || !ts__facts_of(fn, env->scratch, &c.facts) ||
        !ts__alias_of(fn, env->scratch, &c.alias) || !vector_find(&c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass vector");
    ts__builder_init(&c.b, fresh);
    if (!vector_fn(&c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass vector");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
