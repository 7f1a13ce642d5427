/* SPDX-License-Identifier: Apache-2.0
 *
 * Types, interned strings, modules. Types are interned per module: equal contents, equal id, so
 * equality of types is `==`. Scalars have fixed ids (type.def) and need no module.
 */
#include "ir/ir.h"

const ts_op_info ts__ops[TS_OP_COUNT] = {
#define B TS_LEVEL_B
#define T TS_LEVEL_T
#define S TS_LEVEL_S
#define N TS_N
#define PURE TS_PURE
#define COMM TS_COMM
#define READ TS_READ
#define WRITE TS_WRITE
#define SIDE TS_SIDE
#define TERM TS_TERM
#define REGION TS_REGION
#define ELEM TS_ELEM
#define SLOW TS_SLOW
#define WRITTEN TS_WRITTEN
#define MOVES TS_MOVES
#define TS_OP(name, level, operands, results, rule, attr, flags, ptx, takes, doc)                                      \
    {#name, operands, results, level, TS_RULE_##rule, TS_ATTR_##attr, flags, ptx},
#include "tessera/op.def"
#undef B
#undef T
#undef S
#undef N
#undef PURE
#undef SLOW
#undef WRITTEN
#undef MOVES
#undef COMM
#undef READ
#undef WRITE
#undef SIDE
#undef TERM
#undef REGION
#undef ELEM
};

const ts_math_info ts__math_fns[TS_MATH_COUNT] = {
#define OPNDS_X 1
#define OPNDS_XX 2
#define OPNDS_XN 2
#define OPNDS_XB 1
#define OPNDS_XI 1
#define IN_F32 false
#define IN_ITSELF true
#define TS_MATH(name, kind, narrow, ...) {#name, TS_MATH_##kind, OPNDS_##kind, narrow},
#include "table/math.def"
#undef OPNDS_X
#undef OPNDS_XX
#undef OPNDS_XN
#undef OPNDS_XB
#undef OPNDS_XI
#undef IN_F32
#undef IN_ITSELF
};

ts_type ts__math_result(uint32_t fn, ts_type elem)
{
    switch (ts__math_fns[fn].kind) {
    case TS_MATH_XB:
        return TS_T_i1;
    case TS_MATH_XI:
        return TS_T_i32;
    default:
        return elem;
    }
}

ts_op ts_op_find(const char *name, size_t n)
{
    for (int op = 0; op < TS_OP_COUNT; op++)
        if (strlen(ts__ops[op].name) == n && memcmp(ts__ops[op].name, name, n) == 0)
            return (ts_op)op;
    return TS_OP_COUNT;
}

const char *ts_op_name(ts_op op)
{
    return (unsigned)op < TS_OP_COUNT ? ts__ops[op].name : NULL;
}

uint32_t ts_math_find(const char *name, size_t n)
{
    for (uint32_t fn = 0; fn < TS_MATH_COUNT; fn++)
        if (strlen(ts__math_fns[fn].name) == n && memcmp(ts__math_fns[fn].name, name, n) == 0)
            return fn;
    return UINT32_MAX;
}

/* ---- scalars -----------------------------------------------------------------------------------*/

enum { CLASS_I, CLASS_F, CLASS_R, CLASS_C };
static const struct {
    const char *name;
    uint8_t bits, class;
} type_scalars[] = {
    {"none", 0, CLASS_R},
#define TS_SCALAR(name, bits, class, tag) {#name, bits, CLASS_##class},
#include "tessera/type.def"
    {"token", 0, CLASS_R},
};
_Static_assert(TS_COUNT(type_scalars) == TS_T_FIRST_COMPOSITE, "one row for each fixed type id");

const char *ts_scalar_name(ts_type scalar)
{
    return scalar < TS_T_FIRST_COMPOSITE ? type_scalars[scalar].name : "?";
}

ts_type ts_scalar_find(const char *name, size_t n)
{
    for (ts_type t = 1; t < TS_T_token; t++)
        if (strlen(type_scalars[t].name) == n && memcmp(type_scalars[t].name, name, n) == 0)
            return t;
    return TS_T_none;
}

/* ---- modules and strings ------------------------------------------------------------------------*/

ts_module *ts__module_create(ts_arena *arena)
{
    ts_arena_mark start = ts__arena_at(arena);
    ts_module *module = TS_NEW(arena, ts_module);
    if (!module)
        return NULL;
    module->arena = arena;
    module->start = start.block ? start : (ts_arena_mark){arena->last, 0};
    ts_intern(module, "", 0);
    ts_loc_add(module, &(ts_loc_info){0});
    return arena->failed ? NULL : module;
}

bool ts__module_failed(const ts_module *module)
{
    return module->arena->failed;
}

/* Doubles an open-addressing table of (index + 1) once it is half full; `hash` gives entry i's hash. */
static bool type_rehash(ts_module *m, uint32_t **table, uint32_t *cap, uint32_t n,
                        uint64_t (*hash)(const ts_module *, uint32_t))
{
    if (*cap && n < *cap / 2)
        return true;
    uint32_t grown = *cap ? *cap * 2 : 128;
    ts_assert((grown & (grown - 1)) == 0 && grown > n); /* a probe ends at a free slot */
    uint32_t *fresh = TS_NEW_N(m->arena, uint32_t, grown);
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)hash(m, i) & (grown - 1);
        while (fresh[at])
            at = (at + 1) & (grown - 1);
        fresh[at] = i + 1;
    }
    *table = fresh;
    *cap = grown;
    return true;
}

static uint64_t type_hash_string(const ts_module *m, uint32_t i)
{
    return ts__hash(m->str.at[i], strlen(m->str.at[i]), 1);
}

ts_str ts_intern(ts_module *m, const char *text, size_t n)
{
    ts_assert(text || n == 0);
    if (!type_rehash(m, &m->str_hash, &m->str_hash_cap, m->str.n, type_hash_string))
        return 0;
    uint32_t at = (uint32_t)ts__hash(text, n, 1) & (m->str_hash_cap - 1);
    for (; m->str_hash[at]; at = (at + 1) & (m->str_hash_cap - 1)) {
        const char *known = m->str.at[m->str_hash[at] - 1];
        if (strlen(known) == n && memcmp(known, text, n) == 0)
            return m->str_hash[at] - 1;
    }
    const char *copy = ts__arena_text(m->arena, text, n);
    if (!copy || !TS_PUSH(m->arena, &m->str, copy))
        return 0;
    m->str_hash[at] = m->str.n;
    return m->str.n - 1;
}

const char *ts_str_get(const ts_module *m, ts_str string)
{
    return string < m->str.n ? m->str.at[string] : "";
}

ts_loc ts_loc_add(ts_module *m, const ts_loc_info *info)
{
    if (m->locs.n && memcmp(&m->locs.at[m->locs.n - 1], info, sizeof *info) == 0)
        return m->locs.n - 1;
    return TS_PUSH(m->arena, &m->locs, *info) ? m->locs.n - 1 : 0;
}

const ts_loc_info *ts__loc_of(const ts_fn *fn, ts_val v)
{
    static const ts_loc_info unknown;
    ts_loc loc = v < fn->loc.n ? fn->loc.at[v] : 0;
    return loc && loc < fn->module->locs.n ? &fn->module->locs.at[loc] : &unknown;
}

/* ---- composite types ----------------------------------------------------------------------------*/

static uint64_t type_hash_info(const ts_type_info *t)
{
    uint64_t head[] = {t->kind | (uint64_t)t->rank << 8 | (uint64_t)t->space << 16 | (uint64_t)t->padding << 24 |
                           (uint64_t)t->elem << 32,
                       t->sparse_dim | (uint64_t)t->n_params << 8 | (uint64_t)t->n_results << 32};
    uint64_t h = ts__hash(head, sizeof head, 2);
    if (t->dims)
        h = ts__hash(t->dims, t->rank * sizeof *t->dims, h);
    if (t->strides)
        h = ts__hash(t->strides, t->rank * sizeof *t->strides, h);
    if (t->dim_map)
        h = ts__hash(t->dim_map, t->rank * sizeof *t->dim_map, h);
    return t->sub ? ts__hash(t->sub, ((size_t)t->n_params + t->n_results) * sizeof *t->sub, h) : h;
}

static bool type_same_array(const void *a, const void *b, size_t bytes)
{
    return !a == !b && (!a || memcmp(a, b, bytes) == 0);
}

static bool type_equal(const ts_type_info *a, const ts_type_info *b)
{
    return a->kind == b->kind && a->rank == b->rank && a->space == b->space && a->padding == b->padding &&
           a->sparse_dim == b->sparse_dim && a->n_params == b->n_params && a->n_results == b->n_results &&
           a->elem == b->elem && type_same_array(a->dims, b->dims, a->rank * sizeof *a->dims) &&
           type_same_array(a->strides, b->strides, a->rank * sizeof *a->strides) &&
           type_same_array(a->dim_map, b->dim_map, a->rank * sizeof *a->dim_map) &&
           type_same_array(a->sub, b->sub, ((size_t)a->n_params + a->n_results) * sizeof *a->sub);
}

static uint64_t type_hash_entry(const ts_module *m, uint32_t i)
{
    return type_hash_info(&m->type.at[i]);
}

static const void *type_keep(ts_module *m, const void *bytes, size_t n)
{
    if (!bytes)
        return NULL;
    void *copy = ts__arena_get(m->arena, n ? n : 1);
    if (copy && n)
        memcpy(copy, bytes, n);
    return copy;
}

ts_type ts_type_make(ts_module *m, const ts_type_info *info)
{
    ts_assert(info->kind >= TS_KIND_TILE && info->kind <= TS_KIND_FUNC);
    ts_assert(info->rank <= TS_MAX_RANK);
    if (!type_rehash(m, &m->type_hash, &m->type_hash_cap, m->type.n, type_hash_entry))
        return TS_T_none;
    uint32_t at = (uint32_t)type_hash_info(info) & (m->type_hash_cap - 1);
    for (; m->type_hash[at]; at = (at + 1) & (m->type_hash_cap - 1))
        if (type_equal(&m->type.at[m->type_hash[at] - 1], info))
            return m->type_hash[at] - 1 + TS_T_FIRST_COMPOSITE;
    ts_type_info t = *info;
    t.dims = type_keep(m, info->dims, info->rank * sizeof *t.dims);
    t.strides = type_keep(m, info->strides, info->rank * sizeof *t.strides);
    t.dim_map = type_keep(m, info->dim_map, info->rank * sizeof *t.dim_map);
    t.sub = type_keep(m, info->sub, ((size_t)t.n_params + t.n_results) * sizeof *t.sub);
    if (m->arena->failed || !TS_PUSH(m->arena, &m->type, t))
        return TS_T_none;
    m->type_hash[at] = m->type.n;
    return m->type.n - 1 + TS_T_FIRST_COMPOSITE;
}

ts_type ts_type_tile(ts_module *m, ts_type elem, uint32_t rank, const int64_t *dims)
{
    ts_assert(rank <= TS_MAX_RANK && (dims || rank == 0));
    if (rank == 0)
        return elem;
    return ts_type_make(m, &(ts_type_info){.kind = TS_KIND_TILE, .rank = (uint8_t)rank, .elem = elem, .dims = dims});
}

ts_type ts_type_ptr(ts_module *m, ts_type pointee, ts_space space)
{
    return ts_type_make(m, &(ts_type_info){.kind = TS_KIND_PTR, .space = (uint8_t)space, .elem = pointee});
}

ts_type ts_type_with_elem(ts_module *m, ts_type type, ts_type elem)
{
    return ts_type_tile(m, elem, ts_type_rank(m, type), ts_type_dims(m, type));
}

/* ---- questions ----------------------------------------------------------------------------------*/

const ts_type_info *ts_type_get(const ts_module *m, ts_type type)
{
    ts_assert(type >= TS_T_FIRST_COMPOSITE && type - TS_T_FIRST_COMPOSITE < m->type.n);
    return &m->type.at[type - TS_T_FIRST_COMPOSITE];
}

ts_kind ts_type_kind(const ts_module *m, ts_type type)
{
    if (type == TS_T_none)
        return TS_KIND_NONE;
    if (type < TS_T_token)
        return TS_KIND_SCALAR;
    return type == TS_T_token ? TS_KIND_TOKEN : (ts_kind)ts_type_get(m, type)->kind;
}

ts_type ts_type_elem(const ts_module *m, ts_type type)
{
    return ts_type_kind(m, type) == TS_KIND_TILE ? ts_type_get(m, type)->elem : type;
}

uint32_t ts_type_rank(const ts_module *m, ts_type type)
{
    return ts_type_kind(m, type) == TS_KIND_TILE ? ts_type_get(m, type)->rank : 0;
}

const int64_t *ts_type_dims(const ts_module *m, ts_type type)
{
    return ts_type_kind(m, type) == TS_KIND_TILE ? ts_type_get(m, type)->dims : NULL;
}

int64_t ts_type_count(const ts_module *m, ts_type type)
{
    int64_t n = 1;
    const int64_t *dims = ts_type_dims(m, type);
    for (uint32_t i = 0; i < ts_type_rank(m, type); i++)
        n *= dims[i];
    return n;
}

uint32_t ts_type_bits(const ts_module *m, ts_type type)
{
    ts_type elem = ts_type_elem(m, type);
    if (elem < TS_T_FIRST_COMPOSITE)
        return type_scalars[elem].bits;
    const ts_type_info *t = ts_type_get(m, elem);
    return t->kind == TS_KIND_PTR ? (t->space == TS_SHARED ? 32 : 64) : 0;
}

static bool type_has_class(const ts_module *m, ts_type type, int class)
{
    ts_type elem = ts_type_elem(m, type);
    return ts_type_is_scalar(elem) && type_scalars[elem].class == class;
}

bool ts_type_is_float(const ts_module *m, ts_type type)
{
    return type_has_class(m, type, CLASS_F) || type_has_class(m, type, CLASS_R);
}

bool ts_type_is_int(const ts_module *m, ts_type type)
{
    return type_has_class(m, type, CLASS_I);
}

bool ts_type_is_restricted(const ts_module *m, ts_type type)
{
    return type_has_class(m, type, CLASS_R);
}

bool ts_type_is_complex(const ts_module *m, ts_type type)
{
    return type_has_class(m, type, CLASS_C);
}

ts_type ts_type_part(ts_type scalar)
{
    return scalar == TS_T_c64 ? TS_T_f32 : scalar == TS_T_c128 ? TS_T_f64 : TS_T_none;
}

bool ts_type_is_ptr(const ts_module *m, ts_type type)
{
    return ts_type_kind(m, ts_type_elem(m, type)) == TS_KIND_PTR;
}

uint32_t ts__type_axis_before(const ts_module *module, ts_type to, ts_type from, uint32_t axis)
{
    const int64_t *t = ts_type_dims(module, to), *f = ts_type_dims(module, from);
    uint32_t i = 0, j = 0, n = ts_type_rank(module, to), m = ts_type_rank(module, from), found = TS_NO;
    for (;; i++, j++) {
        while (i < n && t[i] == 1)
            i++;
        while (j < m && f[j] == 1)
            j++;
        if (i == n || j == m)
            return i == n && j == m ? found : TS_NO;
        if (t[i] != f[j])
            return TS_NO;
        found = i == axis ? j : found;
    }
}
