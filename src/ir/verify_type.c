/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules of types: which parts a composite may have, sizes, powers of two. Part of the verifier, see
 * verify.h. Recursion ends because each kind may only contain simpler kinds.
 */
#include "ir/verify.h"

#define TYPE_MAX_ELEMENTS ((int64_t)1 << 24)

bool ts__is_tile_like(const ts_module *m, ts_type t)
{
    ts_kind kind = ts_type_kind(m, t);
    return kind == TS_KIND_SCALAR || kind == TS_KIND_TILE || kind == TS_KIND_PTR;
}

bool ts__same_shape(const ts_module *m, ts_type a, ts_type b)
{
    uint32_t rank = ts_type_rank(m, a);
    if (rank != ts_type_rank(m, b) || !ts__is_tile_like(m, a) || !ts__is_tile_like(m, b))
        return false;
    return rank == 0 || memcmp(ts_type_dims(m, a), ts_type_dims(m, b), rank * sizeof(int64_t)) == 0;
}

/* Extents of a tile or of a view's tile. */
static ts_status type_extents(const ts__verify *c, const ts_type_info *t)
{
    int64_t count = 1;
    TS__WANT(c, t->rank <= TS_MAX_RANK && (t->rank == 0 || t->dims),
             "a type has rank %u, the most is %d", t->rank, TS_MAX_RANK);
    for (uint32_t i = 0; i < t->rank; i++) {
        TS__WANT(c, ts_is_pow2(t->dims[i]), "extent %lld of axis %u is not a power of two",
                 (long long)t->dims[i], i);
        TS__WANT(c, t->dims[i] <= TYPE_MAX_ELEMENTS && (count *= t->dims[i]) <= TYPE_MAX_ELEMENTS,
                 "a tile has more than %lld elements", (long long)TYPE_MAX_ELEMENTS);
    }
    return TS_OK;
}

static ts_status type_tile(const ts__verify *c, const ts_type_info *t)
{
    TS__WANT(c, t->rank > 0, "a tile of rank 0 is written as the scalar itself");
    ts_kind elem = ts__type_known(c->m, t->elem) ? ts_type_kind(c->m, t->elem) : TS_KIND_NONE;
    TS__WANT(c, elem == TS_KIND_SCALAR || elem == TS_KIND_PTR,
             "elements of a tile are numbers or pointers");
    if (elem == TS_KIND_PTR)
        TS_TRY(ts__verify_type(c, t->elem));
    return type_extents(c, t);
}

static ts_status type_ptr(const ts__verify *c, const ts_type_info *t)
{
    TS__WANT(c, ts_type_is_scalar(t->elem), "a pointer points to a number");
    TS__WANT(c, t->space <= TS_LOCAL, "address space %u does not exist", t->space);
    return TS_OK;
}

/* Two 4-bit elements share a byte, so some axis must hold whole pairs. */
static ts_status type_pairs(const ts__verify *c, const ts_type_info *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->strides[i] == 1 && (t->dims[i] == TS_DYNAMIC || t->dims[i] % 2 == 0))
            return TS_OK;
    return ts__verify_fail(c, "a view of 4-bit elements needs an axis of stride 1 and even extent");
}

static ts_status type_tensor_view(const ts__verify *c, const ts_type_info *t)
{
    TS__WANT(c, ts_type_is_scalar(t->elem), "elements of a tensor view are numbers");
    TS__WANT(c, t->rank <= TS_MAX_RANK, "a tensor view has rank %u, the most is %d", t->rank,
             TS_MAX_RANK);
    TS__WANT(c, t->rank == 0 || (t->dims && t->strides), "a tensor view needs extents and strides");
    for (uint32_t i = 0; i < t->rank; i++) {
        TS__WANT(c, t->dims[i] >= 0 || t->dims[i] == TS_DYNAMIC,
                 "extent %lld of axis %u is negative", (long long)t->dims[i], i);
        TS__WANT(c, t->strides[i] >= 0 || t->strides[i] == TS_DYNAMIC,
                 "stride %lld of axis %u is negative", (long long)t->strides[i], i);
    }
    return t->elem == TS_T_f4E2M1FN || t->elem == TS_T_i4 ? type_pairs(c, t) : TS_OK;
}

static ts_status type_dim_map(const ts__verify *c, const ts_type_info *t)
{
    uint32_t seen = 0;
    TS__WANT(c, t->rank == 0 || t->dim_map, "a view needs a dim_map");
    for (uint32_t i = 0; i < t->rank; i++) {
        TS__WANT(c, t->dim_map[i] >= 0 && t->dim_map[i] < t->rank && !(seen >> t->dim_map[i] & 1),
                 "the dim_map of a view is not a permutation");
        seen |= 1u << t->dim_map[i];
    }
    return TS_OK;
}

static ts_status type_view(const ts__verify *c, const ts_type_info *t)
{
    TS__WANT(c, ts__type_known(c->m, t->elem) && ts_type_kind(c->m, t->elem) == TS_KIND_TENSOR_VIEW,
             "a view is made from a tensor view");
    TS_TRY(ts__verify_type(c, t->elem));
    const ts_type_info *tensor = ts_type_get(c->m, t->elem);
    TS__WANT(c, t->rank == tensor->rank, "a view's tile has rank %u, its tensor %u", t->rank,
             tensor->rank);
    TS_TRY(type_extents(c, t));
    TS__WANT(c, t->padding <= TS_PAD_NEG_INF, "padding %u does not exist", t->padding);
    TS__WANT(c, t->padding <= TS_PAD_ZERO || ts_type_is_float(c->m, tensor->elem),
             "integers can only be padded with zero");
    if (t->kind == TS_KIND_GATHER_SCATTER_VIEW) {
        TS__WANT(c, t->sparse_dim < t->rank, "sparse_dim %u is out of range for rank %u",
                 t->sparse_dim, t->rank);
        return TS_OK;
    }
    if (t->kind == TS_KIND_STRIDED_VIEW) {
        TS__WANT(c, t->rank == 0 || t->strides, "a strided view needs its steps");
        for (uint32_t i = 0; i < t->rank; i++)
            TS__WANT(c, t->strides[i] > 0, "step %lld of axis %u is not positive",
                     (long long)t->strides[i], i);
    }
    return type_dim_map(c, t);
}

static ts_status type_func(const ts__verify *c, const ts_type_info *t)
{
    uint32_t n = (uint32_t)t->n_params + t->n_results;
    TS__WANT(c, n == 0 || t->sub, "a function type lacks its parts");
    for (uint32_t i = 0; i < n; i++) {
        TS__WANT(c,
                 ts__type_known(c->m, t->sub[i]) && ts_type_kind(c->m, t->sub[i]) != TS_KIND_FUNC,
                 "a function type holds no functions");
        TS_TRY(ts__verify_type(c, t->sub[i]));
    }
    return TS_OK;
}

ts_status ts__verify_type(const ts__verify *c, ts_type type)
{
    static ts_status (*const by_kind[])(const ts__verify *, const ts_type_info *) = {
        [TS_KIND_TILE] = type_tile,
        [TS_KIND_PTR] = type_ptr,
        [TS_KIND_TENSOR_VIEW] = type_tensor_view,
        [TS_KIND_PARTITION_VIEW] = type_view,
        [TS_KIND_STRIDED_VIEW] = type_view,
        [TS_KIND_GATHER_SCATTER_VIEW] = type_view,
        [TS_KIND_FUNC] = type_func,
    };
    TS__WANT(c, ts__type_known(c->m, type), "type %u does not exist in this module", type);
    if (type < TS_T_FIRST_COMPOSITE)
        return TS_OK;
    const ts_type_info *t = ts_type_get(c->m, type);
    TS__WANT(c, t->kind < TS_COUNT(by_kind) && by_kind[t->kind], "type kind %u does not exist",
             t->kind);
    return by_kind[t->kind](c, t);
}
