/* SPDX-License-Identifier: Apache-2.0
 *
 * The tile level's own rules: one function for each operation whose op.def rule is OWN, gathered in
 * ts__verify_tile at the end. Called by verify.c with operands that are known to be values.
 */
#include "ir/format.h"
#include "ir/scalar.h"
#include "ir/verify.h"

/* ---- helpers --------------------------------------------------------------------------------- */

static ts_type vt_elem(const ts__verify *c, ts_type t)
{
    return ts_type_elem(c->m, t);
}

static uint32_t vt_rank(const ts__verify *c, ts_type t)
{
    return ts_type_rank(c->m, t);
}

static bool vt_is_view(const ts_module *m, ts_type t)
{
    ts_kind kind = ts_type_kind(m, t);
    return kind == TS_KIND_PARTITION_VIEW || kind == TS_KIND_STRIDED_VIEW ||
           kind == TS_KIND_GATHER_SCATTER_VIEW;
}

/* t is a tile (or, for rank 0, the scalar) with exactly these extents and element. */
static bool vt_is_tile(const ts__verify *c, ts_type t, ts_type elem, uint32_t rank,
                       const int64_t *dims)
{
    return ts__is_tile_like(c->m, t) && vt_elem(c, t) == elem && vt_rank(c, t) == rank &&
           (rank == 0 || memcmp(ts_type_dims(c->m, t), dims, rank * sizeof *dims) == 0);
}

/* Optional token operand: flags say there is one, so its type must agree. */
static ts_status vt_token(const ts__verify *c)
{
    uint32_t at = ts__opnd_token(c->inst);
    if (at != TS_NO)
        TS__SAME_TYPE(c, ts__verify_opnd(c, at), TS_T_token, "the operand behind token= must be a token");
    return TS_OK;
}

static ts_status vt_index(const ts__verify *c, uint32_t from, uint32_t n)
{
    TS__WANT(c, c->n == from + n, "%s takes %u operands here, not %u", ts_info(c->inst)->name, from + n, c->n);
    for (uint32_t i = from; i < c->n; i++)
        TS__WANT_TYPE(c, ts__is_scalar_int(ts__verify_opnd(c, i)), ts__verify_opnd(c, i),
                      "operand %u must be one integer", i);
    return TS_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static ts_status vt_param(const ts__verify *c)
{
    bool scalar = ts_type_is_scalar(c->type) || ts_type_kind(c->m, c->type) == TS_KIND_PTR;
    TS__WANT(c, scalar || !c->fn->entry, "a kernel takes numbers and pointers; pass an array as pointer, extents and "
             "strides");
    return TS_OK;
}

/* Integers sign-extended, i1 0 or 1, floats without bits above their width: see ts__const_bits. */
static bool vt_is_canonical(const ts__verify *c, ts_type elem, uint64_t payload)
{
    if (ts_type_is_scalar(elem))
        return ts__scalar_wrap(elem, payload) == payload;
    return ts_type_bits(c->m, elem) == 64 || payload >> 32 == 0;
}

static ts_status vt_constant(const ts__verify *c)
{
    TS__WANT(c, ts__is_tile_like(c->m, c->type), "a constant is a tile or a scalar");
    if (!c->inst->aux) {
        TS__WANT(c, vt_is_canonical(c, vt_elem(c, c->type), ts__word64(c->inst->opnd)),
                 "payload 0x%llx is not in the form of its type (integers are sign-extended)",
                 (unsigned long long)ts__word64(c->inst->opnd));
        return TS_OK;
    }
    TS__WANT(c, c->inst->aux <= c->m->dense.n, "dense data %u does not exist", c->inst->aux - 1);
    uint64_t bits = (uint64_t)ts_type_count(c->m, c->type) * ts_type_bits(c->m, c->type);
    size_t found = c->m->dense.at[c->inst->aux - 1].n_bytes;
    TS__WANT(c, found == (bits + 7) / 8, "the data has %zu bytes, the type needs %llu", found,
             (unsigned long long)(bits + 7) / 8);
    return TS_OK;
}

static ts_status vt_iota(const ts__verify *c)
{
    ts_type elem = vt_elem(c, c->type);
    TS__WANT(c, vt_rank(c, c->type) == 1 && elem >= TS_T_i8 && elem <= TS_T_i64,
             "iota gives a 1-D tile of i8 to i64");
    return TS_OK;
}

static ts_status vt_fpowi(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0), e = ts__verify_opnd(c, 1);
    TS__WANT(c, ts__is_arith_float(vt_elem(c, x)) && c->type == x,
             "fpowi raises a float and keeps its type");
    TS__WANT(c, ts__same_shape(c->m, x, e) && ts__is_scalar_int(vt_elem(c, e)),
             "the exponent is an integer of the same shape");
    return TS_OK;
}

static ts_status vt_fn(const ts__verify *c)
{
    TS__WANT(c, c->inst->aux < TS_MATH_COUNT, "function %u does not exist", c->inst->aux);
    const ts_math_info *fn = &ts__math_fns[c->inst->aux];
    TS__WANT(c, c->n == fn->n_opnd, "%s takes %u operands, not %u", fn->name, fn->n_opnd, c->n);
    ts_type x = ts__verify_opnd(c, 0), y = ts__verify_opnd(c, fn->n_opnd - 1u);
    TS__WANT(c, ts__is_tile_like(c->m, x) && ts__is_arith_float(vt_elem(c, x)), "%s works on f16, bf16, f32 and f64",
             fn->name);
    TS__WANT(c, fn->kind != TS_MATH_XX || x == y, "the operands of %s have different types", fn->name);
    TS__WANT(c, fn->kind != TS_MATH_XN || (ts__same_shape(c->m, x, y) && vt_elem(c, y) == TS_T_i32),
             "the second operand of %s is an i32 of the same shape", fn->name);
    ts_type elem = ts__math_result(c->inst->aux, vt_elem(c, x));
    TS__WANT(c, ts__same_shape(c->m, x, c->type) && vt_elem(c, c->type) == elem, "%s gives %s of the operand's shape",
             fn->name, ts_scalar_name(elem));
    return TS_OK;
}

static ts_status vt_offset(const ts__verify *c)
{
    ts_type p = ts__verify_opnd(c, 0), d = ts__verify_opnd(c, 1);
    TS__WANT(c, ts_type_is_ptr(c->m, p) && c->type == p,
             "offset moves a pointer and keeps its type");
    TS__WANT(c, ts__same_shape(c->m, p, d) && ts__is_scalar_int(vt_elem(c, d)),
             "the offset is an integer of the pointer's shape");
    return TS_OK;
}

/* make_complex from two parts; real and imag to one. */
static ts_status vt_complex(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    bool makes = c->inst->op == TS_OP_make_complex;
    ts_type whole = makes ? c->type : x, part = makes ? x : c->type;
    TS__WANT(c, ts_type_is_complex(c->m, whole), "%s is for c64 and c128", ts_info(c->inst)->name);
    TS__WANT(c, ts__same_shape(c->m, whole, part) && vt_elem(c, part) == ts_type_part(vt_elem(c, whole)),
             "the parts of c64 are f32, those of c128 f64, of the same shape");
    TS__WANT(c, !makes || ts__verify_opnd(c, 1) == x, "the two parts have different types");
    return TS_OK;
}

static ts_status vt_broadcast(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    uint32_t rank = vt_rank(c, x);
    TS__WANT(c, rank > 0 && rank == vt_rank(c, c->type) && vt_elem(c, x) == vt_elem(c, c->type),
             "broadcast keeps rank (above 0) and element type");
    const int64_t *from = ts_type_dims(c->m, x), *to = ts_type_dims(c->m, c->type);
    for (uint32_t i = 0; i < rank; i++)
        TS__WANT(c, from[i] == to[i] || from[i] == 1,
                 "axis %u of extent %lld cannot stretch to %lld", i, (long long)from[i],
                 (long long)to[i]);
    return TS_OK;
}

static ts_status vt_reshape(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    TS__WANT(c,
             ts__is_tile_like(c->m, x) && ts__is_tile_like(c->m, c->type) &&
                 vt_elem(c, x) == vt_elem(c, c->type),
             "reshape keeps the element type");
    TS__WANT(c, ts_type_count(c->m, x) == ts_type_count(c->m, c->type),
             "reshape from %lld to %lld elements", (long long)ts_type_count(c->m, x),
             (long long)ts_type_count(c->m, c->type));
    return TS_OK;
}

static ts_status vt_permute(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    const uint32_t *axes = ts_pool(c->fn, c->inst);
    uint32_t rank = vt_rank(c, x), seen = 0;
    TS__WANT(c,
             rank && axes[0] == rank && vt_rank(c, c->type) == rank &&
                 vt_elem(c, x) == vt_elem(c, c->type),
             "permute names each axis of its operand once and keeps the element type");
    for (uint32_t i = 0; i < rank; i++) {
        TS__WANT(c, axes[i + 1] < rank && !(seen >> axes[i + 1] & 1),
                 "axis %u is out of range or named twice", axes[i + 1]);
        seen |= 1u << axes[i + 1];
        TS__WANT(c, ts_type_dims(c->m, c->type)[i] == ts_type_dims(c->m, x)[axes[i + 1]],
                 "axis %u of the result has another extent than axis %u", i, axes[i + 1]);
    }
    return TS_OK;
}

static ts_status vt_cat(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0), y = ts__verify_opnd(c, 1);
    uint32_t rank = vt_rank(c, x), axis = c->inst->aux;
    TS__WANT(c, axis < rank, "axis %u is out of range for rank %u", axis, rank);
    TS__WANT(c,
             vt_rank(c, y) == rank && vt_rank(c, c->type) == rank &&
                 vt_elem(c, x) == vt_elem(c, y) && vt_elem(c, x) == vt_elem(c, c->type),
             "cat joins two tiles of one rank and element type");
    for (uint32_t i = 0; i < rank; i++) {
        int64_t a = ts_type_dims(c->m, x)[i], b = ts_type_dims(c->m, y)[i],
                r = ts_type_dims(c->m, c->type)[i];
        TS__WANT(c, i == axis ? a + b == r : a == b && a == r, "extents of axis %u do not fit", i);
    }
    return TS_OK;
}

/* extract (part of tile) and insert (part into tile): the part's extents divide the tile's. */
static ts_status vt_part(const ts__verify *c, ts_type tile, ts_type part, uint32_t first_index)
{
    uint32_t rank = vt_rank(c, tile);
    TS__WANT(c, rank && vt_rank(c, part) == rank && vt_elem(c, tile) == vt_elem(c, part),
             "tile and part have one rank and element type");
    for (uint32_t i = 0; i < rank; i++)
        TS__WANT(c, ts_type_dims(c->m, tile)[i] % ts_type_dims(c->m, part)[i] == 0,
                 "extent of axis %u of the part does not divide the tile's", i);
    TS_TRY(vt_index(c, first_index, rank));
    for (uint32_t i = 0; i < rank; i++) {
        int64_t at;
        bool known = ts__const_as_int(c->fn, c->opnd[first_index + i], &at);
        int64_t n = ts_type_dims(c->m, tile)[i] / ts_type_dims(c->m, part)[i];
        TS__WANT(c, !known || (at >= 0 && at < n),
                 "index %lld of axis %u is out of range, there are %lld parts", (long long)at, i,
                 (long long)n);
    }
    return TS_OK;
}

static ts_status vt_extract(const ts__verify *c)
{
    TS__WANT(c, c->n > 0, "extract needs a tile");
    return vt_part(c, ts__verify_opnd(c, 0), c->type, 1);
}

static ts_status vt_insert(const ts__verify *c)
{
    TS__WANT(c, c->n > 1, "insert needs a tile and a part");
    TS__WANT(c, c->type == ts__verify_opnd(c, 0), "insert keeps the type of the tile");
    return vt_part(c, ts__verify_opnd(c, 0), ts__verify_opnd(c, 1), 2);
}

/* pack: a tile to its bytes; unpack: the other way. */
static ts_status vt_bytes(const ts__verify *c)
{
    ts_type x = ts__verify_opnd(c, 0);
    bool packs = c->inst->op == TS_OP_pack;
    ts_type bytes = packs ? c->type : x, tile = packs ? x : c->type;
    TS__WANT(c, vt_rank(c, bytes) == 1 && vt_elem(c, bytes) == TS_T_i8,
             "the bytes are a 1-D tile of i8");
    TS__WANT(c, vt_rank(c, tile) >= 1 && ts_type_is_scalar(vt_elem(c, tile)),
             "the values are a tile of numbers");
    TS__WANT(c,
             ts_type_count(c->m, tile) * ts_type_bits(c->m, tile) == ts_type_count(c->m, bytes) * 8,
             "the bytes are more or fewer than the values need");
    return TS_OK;
}

/* ---- reductions, matrix multiply ------------------------------------------------------------- */

/* The type of result i: the input without the reduced axis; a scan keeps the input's. */
static bool vt_reduced(const ts__verify *c, ts_type in, uint32_t axis, ts_type out)
{
    int64_t dims[TS_MAX_RANK];
    uint32_t n = 0;
    if (c->inst->op == TS_OP_scan)
        return in == out;
    for (uint32_t i = 0; i < vt_rank(c, in); i++)
        if (i != axis)
            dims[n++] = ts_type_dims(c->m, in)[i];
    return vt_is_tile(c, out, vt_elem(c, in), n, dims);
}

static ts_status vt_reduction(const ts__verify *c)
{
    const uint32_t *w = ts_pool(c->fn, c->inst);
    TS__WANT(c, c->n >= 1 && w[2] == c->n, "%u inputs need as many identities, not %u", c->n, w[2]);
    TS__WANT(c, w[1] <= 1 && (!w[1] || c->inst->op == TS_OP_scan), "%s cannot be reverse: only a scan can",
             ts_info(c->inst)->name);
    for (uint32_t i = 0; i < c->n; i++) {
        ts_type in = ts__verify_opnd(c, i), elem = vt_elem(c, in);
        TS__WANT(c, w[0] < vt_rank(c, in), "axis %u is out of range for rank %u", w[0],
                 vt_rank(c, in));
        TS__WANT(c, ts__same_shape(c->m, in, ts__verify_opnd(c, 0)),
                 "inputs of a reduction have one shape");
        TS__WANT(c, ts__is_arith_float(elem) || ts__is_scalar_int(elem),
                 "elements of a reduction are i1 to i64, f16, bf16, f32 or f64");
        TS__WANT(c, vt_is_canonical(c, elem, ts__word64(w + 3 + 2 * (size_t)i)),
                 "identity %u is not in the form of its type (integers are sign-extended)", i);
        bool fits = i < c->n_res[c->v] &&
                    vt_reduced(c, in, w[0], ts_type_of(c->fn, c->first_res[c->v] + i));
        TS__WANT(c, fits, "result %u is missing or has the wrong type", i);
    }
    return TS_OK;
}

static const struct {
    uint8_t op, a, b, c;
} vt_mma_types[] = {
    {TS_OP_mmaf, TS_T_f16, TS_T_f16, TS_T_f16},
    {TS_OP_mmaf, TS_T_f16, TS_T_f16, TS_T_f32},
    {TS_OP_mmaf, TS_T_bf16, TS_T_bf16, TS_T_f32},
    {TS_OP_mmaf, TS_T_f32, TS_T_f32, TS_T_f32},
    {TS_OP_mmaf, TS_T_tf32, TS_T_tf32, TS_T_f32},
    {TS_OP_mmaf, TS_T_f64, TS_T_f64, TS_T_f64},
    {TS_OP_mmaf, TS_T_f8E4M3FN, TS_T_f8E4M3FN, TS_T_f16},
    {TS_OP_mmaf, TS_T_f8E4M3FN, TS_T_f8E4M3FN, TS_T_f32},
    {TS_OP_mmaf, TS_T_f8E5M2, TS_T_f8E5M2, TS_T_f16},
    {TS_OP_mmaf, TS_T_f8E5M2, TS_T_f8E5M2, TS_T_f32},
    {TS_OP_mmai, TS_T_i8, TS_T_i8, TS_T_i32},
};

static bool vt_mma_knows(const ts__verify *c)
{
    for (size_t i = 0; i < TS_COUNT(vt_mma_types); i++)
        if (vt_mma_types[i].op == c->inst->op &&
            vt_mma_types[i].a == vt_elem(c, ts__verify_opnd(c, 0)) &&
            vt_mma_types[i].b == vt_elem(c, ts__verify_opnd(c, 1)) &&
            vt_mma_types[i].c == vt_elem(c, c->type))
            return true;
    return false;
}

/* a [B,] M K, b [B,] K N, c [B,] M N */
static ts_status vt_mma_shape(const ts__verify *c)
{
    ts_type a = ts__verify_opnd(c, 0), b = ts__verify_opnd(c, 1), acc = ts__verify_opnd(c, 2);
    uint32_t rank = vt_rank(c, a);
    TS__WANT(c, (rank == 2 || rank == 3) && vt_rank(c, b) == rank && vt_rank(c, acc) == rank,
             "a matrix multiply has three tiles of rank 2, or 3 with a batch axis");
    const int64_t *da = ts_type_dims(c->m, a), *db = ts_type_dims(c->m, b),
                  *dc = ts_type_dims(c->m, acc);
    TS__WANT(c, rank == 2 || (da[0] == db[0] && da[0] == dc[0]),
             "batch extents %lld, %lld and %lld differ", (long long)da[0], (long long)db[0],
             (long long)dc[0]);
    const int64_t *ma = da + rank - 2, *mb = db + rank - 2, *mc = dc + rank - 2;
    TS__WANT(c, ma[1] == mb[0] && ma[0] == mc[0] && mb[1] == mc[1],
             "%lldx%lld times %lldx%lld does not give %lldx%lld", (long long)ma[0],
             (long long)ma[1], (long long)mb[0], (long long)mb[1], (long long)mc[0],
             (long long)mc[1]);
    TS__WANT(c, acc == c->type, "the result has another type than the accumulator");
    return TS_OK;
}

static ts_status vt_mma(const ts__verify *c)
{
    uint32_t known = c->inst->op == TS_OP_mmai ? TS_A_UNSIGNED | TS_A_UNSIGNED_B : TS_A_FAST_ACC;
    TS_TRY(vt_mma_shape(c));
    TS__WANT(c, vt_mma_knows(c), "no matrix multiply has these element types");
    TS__WANT(c, !(c->inst->aux & ~known), "attribute bits 0x%x mean nothing here",
             c->inst->aux & ~known);
    return TS_OK;
}

/* Element types of scaled operands and scales, and the block sizes they allow (bit = size / 16). */
static bool vt_scaled_knows(ts_type elem, ts_type scale, int64_t block)
{
    bool fp8 = elem == TS_T_f8E4M3FN || elem == TS_T_f8E5M2;
    if (fp8)
        return scale == TS_T_f8E8M0FNU && block == 32;
    if (elem != TS_T_f4E2M1FN)
        return false;
    return scale == TS_T_f8E4M3FN ? block == 16
                                  : (scale == TS_T_f8E8M0FNU || scale == TS_T_f8E5M3FNU) &&
                                        (block == 16 || block == 32);
}

static ts_status vt_mma_scaled(const ts__verify *c)
{
    TS__WANT(c, c->n == 5, "mmaf_scaled takes a, b, c and two scales");
    TS_TRY(vt_mma_shape(c));
    ts_type a = ts__verify_opnd(c, 0), b = ts__verify_opnd(c, 1), sa = ts__verify_opnd(c, 3),
            sb = ts__verify_opnd(c, 4);
    uint32_t rank = vt_rank(c, a);
    TS__WANT(c, vt_rank(c, sa) == rank && vt_rank(c, sb) == rank,
             "scales have the rank of what they scale");
    int64_t wanted_a[TS_MAX_RANK], wanted_b[TS_MAX_RANK], k = ts_type_dims(c->m, a)[rank - 1],
                                                          parts = ts_type_dims(c->m, sa)[rank - 1];
    memcpy(wanted_a, ts_type_dims(c->m, a), rank * sizeof *wanted_a);
    memcpy(wanted_b, ts_type_dims(c->m, b), rank * sizeof *wanted_b);
    wanted_a[rank - 1] = wanted_b[rank - 2] = parts;
    TS__WANT(c,
             vt_is_tile(c, sa, vt_elem(c, sa), rank, wanted_a) &&
                 vt_is_tile(c, sb, vt_elem(c, sa), rank, wanted_b),
             "scales are M x K/B and K/B x N of one element type");
    TS__WANT(c,
             vt_elem(c, a) == vt_elem(c, b) && vt_elem(c, c->type) == TS_T_f32 &&
                 vt_scaled_knows(vt_elem(c, a), vt_elem(c, sa), k / parts),
             "no scaled matrix multiply has these element types with blocks of %lld",
             (long long)(k / parts));
    return TS_OK;
}

/* ---- grid and views -------------------------------------------------------------------------- */

static ts_status vt_grid(const ts__verify *c)
{
    TS__WANT(c, c->inst->aux < 3, "the grid has axes 0 to 2, not %u", c->inst->aux);
    TS__WANT(c, c->type == TS_T_i32, "grid numbers are i32");
    return TS_OK;
}

static ts_status vt_make_tensor_view(const ts__verify *c)
{
    TS__WANT(c, ts_type_kind(c->m, c->type) == TS_KIND_TENSOR_VIEW && c->n >= 1,
             "make_tensor_view makes a tensor view from a pointer");
    const ts_type_info *t = ts_type_get(c->m, c->type);
    ts_type base = ts__verify_opnd(c, 0);
    TS__WANT(c, ts__is_ptr_to(c->m, base, TS_GLOBAL) && ts_type_get(c->m, base)->elem == t->elem,
             "operand 0, the base, must be a global pointer to %s, the view's elements", ts_scalar_name(t->elem));
    uint32_t dynamic = 0;
    for (uint32_t i = 0; i < t->rank; i++)
        dynamic += (uint32_t)(t->dims[i] == TS_DYNAMIC) + (uint32_t)(t->strides[i] == TS_DYNAMIC);
    return vt_index(c, 1, dynamic);
}

static ts_status vt_make_view(const ts__verify *c)
{
    static const uint8_t kinds[] = {TS_KIND_PARTITION_VIEW, TS_KIND_STRIDED_VIEW,
                                    TS_KIND_GATHER_SCATTER_VIEW};
    uint32_t which = c->inst->op == TS_OP_make_partition_view ? 0
                     : c->inst->op == TS_OP_make_strided_view ? 1
                                                              : 2;
    TS__WANT_TYPE(c, (uint8_t)ts_type_kind(c->m, c->type) == kinds[which], c->type, "%s makes another kind of view",
                  ts_info(c->inst)->name);
    TS__SAME_TYPE(c, ts_type_get(c->m, c->type)->elem, ts__verify_opnd(c, 0),
                  "the view's type names another tensor view than the operand's");
    return TS_OK;
}

static ts_status vt_shape(const ts__verify *c)
{
    ts_type view = ts__verify_opnd(c, 0);
    bool tensor = c->inst->op == TS_OP_get_tensor_shape;
    TS__WANT_TYPE(c, tensor ? ts_type_kind(c->m, view) == TS_KIND_TENSOR_VIEW : vt_is_view(c->m, view), view,
                  "%s takes a %s", ts_info(c->inst)->name,
                  tensor ? "tensor view" : "partition, strided or gather_scatter view");
    TS__WANT(c, c->inst->aux < ts_type_get(c->m, view)->rank, "axis %u is out of range for rank %u",
             c->inst->aux, ts_type_get(c->m, view)->rank);
    TS__WANT(c, c->type == TS_T_i32 || c->type == TS_T_i64, "an extent is i32 or i64");
    return TS_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum {
    O_WEAK = 1 << TS_WEAK,
    O_RELAXED = 1 << TS_RELAXED,
    O_ACQUIRE = 1 << TS_ACQUIRE,
    O_RELEASE = 1 << TS_RELEASE,
    O_ACQ_REL = 1 << TS_ACQ_REL
};

ts_status ts__verify_order(const ts__verify *c, uint32_t allowed)
{
    ts_order order = TS_M_GET_ORDER(c->inst->aux);
    TS__WANT(c, allowed >> order & 1, "%s does not know memory order %d", ts_info(c->inst)->name,
             (int)order);
    bool scoped = TS_M_GET_SCOPE(c->inst->aux) != TS_SCOPE_NONE;
    TS__WANT(c, scoped == (order != TS_WEAK), "%s",
             scoped ? "a weak access has no scope; leave it out, or give an order such as relaxed"
                    : "an ordered access needs a scope: block, device or sys");
    TS__WANT(c, TS_M_GET_LATENCY(c->inst->aux) <= 10, "latency %u is more than 10",
             TS_M_GET_LATENCY(c->inst->aux));
    TS__WANT(c, TS_M_GET_TMA(c->inst->aux) <= TS_TMA_FORBIDDEN, "tma hint %u does not exist",
             TS_M_GET_TMA(c->inst->aux));
    return TS_OK;
}

ts_status ts__verify_rmw(const ts__verify *c, ts_type elem)
{
    ts_rmw mode = TS_M_GET_MODE(c->inst->aux);
    bool word = elem == TS_T_i32 || elem == TS_T_i64, flt = ts__is_arith_float(elem);
    TS__WANT(c, mode <= TS_RMW_XCHG, "atomic mode %d does not exist here", (int)mode);
    if (mode == TS_RMW_ADDF)
        TS__WANT(c, flt, "an atomic addf adds f16, bf16, f32 or f64");
    else if (mode == TS_RMW_XCHG)
        TS__WANT(c, word || elem == TS_T_f32 || elem == TS_T_f64,
                 "an exchange is of 32 or 64 bits");
    else
        TS__WANT(c, word, "this atomic mode works on i32 and i64");
    return TS_OK;
}

static ts_status vt_no_mode(const ts__verify *c)
{
    TS__WANT(c, TS_M_GET_MODE(c->inst->aux) == 0, "%s has no atomic mode", ts_info(c->inst)->name);
    return TS_OK;
}

/* View at operand `view`, the tile type it moves, indices from operand `first` on. */
static ts_status vt_view_access(const ts__verify *c, ts_type tile, uint32_t first)
{
    ts_type view = ts__verify_opnd(c, 0);
    TS__WANT_TYPE(c, vt_is_view(c->m, view), view, "operand 0 must be a partition, strided or gather_scatter view");
    const ts_type_info *t = ts_type_get(c->m, view);
    TS__WANT_TYPE(c, vt_is_tile(c, tile, ts_type_get(c->m, t->elem)->elem, t->rank, t->dims), tile,
                  "the tile's type is not the view's");
    TS__WANT(c, c->n == first + t->rank, "the view wants %u indices, found %u", t->rank,
             c->n - first);
    for (uint32_t i = 0; i < t->rank; i++) {
        ts_type index = ts__verify_opnd(c, first + i);
        bool sparse = t->kind == TS_KIND_GATHER_SCATTER_VIEW && i == t->sparse_dim;
        TS__WANT_TYPE(c,
                      ts__is_scalar_int(vt_elem(c, index)) && vt_rank(c, index) == sparse &&
                          (!sparse || ts_type_dims(c->m, index)[0] == t->dims[i]),
                      index, "index %u must be %s", i, sparse ? "a tile of integers of the view's extent" : "one "
                      "integer");
    }
    TS__WANT(c, TS_M_GET_INBOUNDS(c->inst->aux) >> t->rank == 0,
             "inbounds names axes beyond rank %u", t->rank);
    return vt_token(c);
}

static ts_status vt_load_view(const ts__verify *c)
{
    TS__WANT(c, c->n >= 1, "load_view_tko needs a view");
    TS_TRY(vt_view_access(c, c->type, 1));
    TS_TRY(vt_no_mode(c));
    return ts__verify_order(c, O_WEAK | O_RELAXED | O_ACQUIRE);
}

static ts_status vt_store_view(const ts__verify *c)
{
    TS__WANT(c, c->n >= 2 && c->type == TS_T_token,
             "store_view_tko takes a view and a tile and gives a token");
    TS_TRY(vt_view_access(c, ts__verify_opnd(c, 1), 2));
    TS_TRY(vt_no_mode(c));
    return ts__verify_order(c, O_WEAK | O_RELAXED | O_RELEASE);
}

static ts_status vt_red_view(const ts__verify *c)
{
    TS__WANT(c, c->n >= 2 && c->type == TS_T_token,
             "atomic_red_view_tko takes a view and a tile and gives a token");
    TS_TRY(vt_view_access(c, ts__verify_opnd(c, 1), 2));
    const ts_type_info *t = ts_type_get(c->m, ts__verify_opnd(c, 0));
    TS__WANT(c, t->kind != TS_KIND_GATHER_SCATTER_VIEW && !t->padding,
             "an atomic works on partition and strided views without padding");
    TS__WANT(c, TS_M_GET_MODE(c->inst->aux) != TS_RMW_XCHG,
             "an exchange without its result is a store");
    TS_TRY(ts__verify_rmw(c, vt_elem(c, ts__verify_opnd(c, 1))));
    return ts__verify_order(c, O_RELAXED);
}

/* Pointers, `values` operands of the pointee type and shape, mask of that shape, token. */
static ts_status vt_ptr_access(const ts__verify *c, uint32_t n_values)
{
    TS__WANT(c, c->n == 1 + n_values, "%s takes %u operands, not %u", ts_info(c->inst)->name,
             1 + n_values, c->n);
    ts_type p = ts__verify_opnd(c, 0), elem = vt_elem(c, p);
    TS__WANT_TYPE(c, ts_type_is_ptr(c->m, p), p, "operand 0 must be a pointer or a tile of pointers");
    ts_type pointee = ts_type_get(c->m, elem)->elem;
    for (uint32_t i = 1; i < c->n; i++)
        TS__WANT_TYPE(c,
                      ts__same_shape(c->m, p, ts__verify_opnd(c, i)) && vt_elem(c, ts__verify_opnd(c, i)) == pointee,
                      ts__verify_opnd(c, i), "operand %u is not of the pointers' shape and pointee", i);
    uint32_t mask = ts__opnd_mask(c->inst);
    if (mask != TS_NO)
        TS__WANT_TYPE(c,
                      ts__same_shape(c->m, p, ts__verify_opnd(c, mask)) &&
                          vt_elem(c, ts__verify_opnd(c, mask)) == TS_T_i1,
                      ts__verify_opnd(c, mask), "the mask must be i1 of the pointers' shape");
    TS__WANT(c, TS_M_GET_INBOUNDS(c->inst->aux) == 0, "inbounds belongs to views");
    return vt_token(c);
}

static ts_status vt_gives_pointee(const ts__verify *c)
{
    ts_type p = ts__verify_opnd(c, 0);
    TS__WANT_TYPE(c,
                  ts__same_shape(c->m, p, c->type) && vt_elem(c, c->type) == ts_type_get(c->m, vt_elem(c, p))->elem,
                  c->type, "the result is not of the pointers' shape and pointee");
    return TS_OK;
}

static ts_status vt_load_ptr(const ts__verify *c)
{
    TS_TRY(vt_ptr_access(c, 0));
    TS_TRY(vt_gives_pointee(c));
    uint32_t pad = ts__opnd_pad(c->inst);
    TS__WANT(c,
             pad == TS_NO || (ts__opnd_mask(c->inst) != TS_NO && ts__verify_opnd(c, pad) == c->type),
             "padding needs a mask and has the result's type");
    TS_TRY(vt_no_mode(c));
    return ts__verify_order(c, O_WEAK | O_RELAXED | O_ACQUIRE);
}

static ts_status vt_store_ptr(const ts__verify *c)
{
    TS_TRY(vt_ptr_access(c, 1));
    TS__WANT(c, c->type == TS_T_token, "a store gives a token");
    TS_TRY(vt_no_mode(c));
    return ts__verify_order(c, O_WEAK | O_RELAXED | O_RELEASE);
}

static ts_status vt_cas(const ts__verify *c)
{
    TS_TRY(vt_ptr_access(c, 2));
    TS_TRY(vt_gives_pointee(c));
    ts_type elem = vt_elem(c, c->type);
    TS__WANT(c, elem == TS_T_i32 || elem == TS_T_i64 || elem == TS_T_f32 || elem == TS_T_f64,
             "a compare-and-swap is of 32 or 64 bits");
    TS_TRY(vt_no_mode(c));
    return ts__verify_order(c, O_RELAXED | O_ACQUIRE | O_RELEASE | O_ACQ_REL);
}

static ts_status vt_rmw(const ts__verify *c)
{
    TS_TRY(vt_ptr_access(c, 1));
    TS_TRY(vt_gives_pointee(c));
    TS_TRY(ts__verify_rmw(c, vt_elem(c, c->type)));
    return ts__verify_order(c, O_RELAXED | O_ACQUIRE | O_RELEASE | O_ACQ_REL);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static ts_status vt_token_of(const ts__verify *c)
{
    uint32_t op = ts_at(c->fn, c->opnd[0])->op;
    TS__WANT(c, c->type == TS_T_token, "token gives a token");
    TS__WANT(c,
             op == TS_OP_load_view_tko || op == TS_OP_load_ptr_tko || op == TS_OP_atomic_cas_tko ||
                 op == TS_OP_atomic_rmw_tko,
             "only loads and atomics have a token beside their value");
    return TS_OK;
}

/* All operands are tokens and so is the result. */
static ts_status vt_tokens(const ts__verify *c)
{
    TS__WANT(c, c->type == TS_T_token, "%s gives a token", ts_info(c->inst)->name);
    for (uint32_t i = 0; i < c->inst->n_opnd; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), TS_T_token, "operand %u must be a token", i);
    TS__WANT(c, c->inst->op != TS_OP_join_tokens || c->n, "join_tokens joins at least one");
    bool gdc = c->inst->op == TS_OP_gdc_wait_tko || c->inst->op == TS_OP_gdc_launch_dependents_tko;
    TS__WANT(c, !gdc || c->n == 0, "the only operand of %s is a token", ts_info(c->inst)->name);
    return TS_OK;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static ts_status vt_assume(const ts__verify *c)
{
    const uint32_t *w = ts_pool(c->fn, c->inst);
    ts_type elem = vt_elem(c, c->type);
    bool whole = ts__is_scalar_int(elem), tile = ts__is_tile_like(c->m, c->type);
    uint32_t rank = tile ? vt_rank(c, c->type) : 0;
    bool view = ts_type_kind(c->m, c->type) == TS_KIND_TENSOR_VIEW;
    TS__WANT(c, c->type == ts__verify_opnd(c, 0), "assume keeps its operand's type");
    if (w[0] == TS_ASSUME_SAME) {
        TS__WANT(c, tile && w[1] == rank, "same has a group size for each of %u axes", rank);
        for (uint32_t i = 0; i < rank; i++)
            TS__WANT(c, w[2 + i] && ts_type_dims(c->m, c->type)[i] % w[2 + i] == 0,
                     "group size %u does not divide axis %u", w[2 + i], i);
        return TS_OK;
    }
    if (w[0] == TS_ASSUME_BOUNDED) {
        TS__WANT(c, whole, "only integers have bounds");
        TS__WANT(c, !(w[1] && w[4]) || (int64_t)ts__word64(w + 2) <= (int64_t)ts__word64(w + 5),
                 "the lower bound is above the upper");
        return TS_OK;
    }
    TS__WANT(c, whole || ts_type_is_ptr(c->m, c->type) || view,
             "only integers, pointers and views have divisors");
    TS__WANT(c, ts_is_pow2((int64_t)ts__word64(w + 1)), "divisor %lld is not a power of two",
             (long long)ts__word64(w + 1));
    TS__WANT(c, !w[3] || (w[4] && w[5] < rank), "every %u along axis %u does not fit rank %u", w[4],
             w[5], rank);
    return TS_OK;
}

static ts_status vt_assert(const ts__verify *c)
{
    bool bounds = c->inst->n_opnd == 3;
    TS__WANT(c, (bounds || c->inst->n_opnd == 1) && vt_elem(c, ts__verify_opnd(c, 0)) == TS_T_i1,
             "assert takes an i1, and may take an index and an extent");
    if (!bounds)
        return TS_OK;
    ts_type index = ts__verify_opnd(c, 1), extent = ts__verify_opnd(c, 2);
    TS__WANT(c, ts__same_shape(c->m, ts__verify_opnd(c, 0), index) && ts__is_scalar_int(vt_elem(c, index)) &&
                    ts__is_scalar_int(extent),
             "the index of an assert is an integer tile of the condition's shape, the extent an integer");
    return TS_OK;
}

static ts_status vt_fault(const ts__verify *c)
{
    static const ts_type types[] = {TS_T_i32, TS_T_i64, TS_T_i64, TS_T_i32, TS_T_i32, TS_T_i32};
    TS__WANT(c, c->inst->n_opnd == TS_COUNT(types), "fault takes 6 operands, not %u", c->inst->n_opnd);
    for (uint32_t i = 0; i < TS_COUNT(types); i++)
        TS__WANT(c, ts__verify_opnd(c, i) == types[i], "operand %u of fault is not an %s", i,
                 types[i] == TS_T_i32 ? "i32" : "i64");
    return TS_OK;
}

int ts__format_args(const char *s)
{
    int count = 0;
    while ((s = strchr(s, '%'))) {
        ts__conversion c = {.n = 2};
        if (s[1] != '%' && !ts__conversion_at(s, &c))
            return -1;
        count += s[1] == '%' ? 0 : c.pair ? 2 : 1;
        s += c.n;
    }
    return count;
}

/* Both parts of a complex number are floats of one type. */
static ts_status vt_pairs(const ts__verify *c)
{
    uint32_t at = 0;
    for (const char *s = ts_str_get(c->m, c->inst->aux); (s = strchr(s, '%'));) {
        ts__conversion found = {.n = 2};
        if (s[1] != '%' && ts__conversion_at(s, &found)) {
            ts_type type = ts__verify_opnd(c, at);
            TS__WANT(c, !found.pair || c->inst->op == TS_OP_print_tko, "%%j%c is for print_tko", found.letter);
            TS__WANT(c,
                     !found.pair || (ts_type_is_float(c->m, ts_type_elem(c->m, type)) &&
                                     type == ts__verify_opnd(c, at + 1)),
                     "%%j%c prints two floats of one type", found.letter);
            at += found.pair ? 2 : 1;
        }
        s += found.n;
    }
    return TS_OK;
}

ts_status ts__verify_format(const ts__verify *c)
{
    int wanted = ts__format_args(ts_str_get(c->m, c->inst->aux));
    TS__WANT(c, wanted >= 0, "the format has a conversion that is malformed or not supported");
    TS__WANT(c, (uint32_t)wanted == c->n, "the format wants %d values, found %u", wanted, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        TS__WANT(c, ts__is_tile_like(c->m, ts__verify_opnd(c, i)), "value %u cannot be printed", i);
    return vt_pairs(c);
}

static ts_status vt_print(const ts__verify *c)
{
    TS__WANT(c, c->type == TS_T_token, "print_tko gives a token");
    TS_TRY(ts__verify_format(c));
    return vt_token(c);
}

static ts_status vt_alloca(const ts__verify *c)
{
    const uint32_t *w = ts_pool(c->fn, c->inst);
    TS__WANT(c, ts_type_kind(c->m, c->type) == TS_KIND_PTR, "%s gives a pointer",
             ts_info(c->inst)->name);
    TS__WANT(c, w[0] > 0 && ts_is_pow2(w[1]) && w[2] <= 1,
             "%u bytes aligned to %u: the alignment is a power of two", w[0], w[1]);
    ts_space space = (ts_space)ts_type_get(c->m, c->type)->space;
    TS__WANT(c, c->inst->op != TS_OP_local || space == TS_LOCAL, "local memory has local pointers");
    TS__WANT(c, c->inst->op != TS_OP_shared_alloc || (space == TS_SHARED && w[1] <= 1024 && !w[2]),
             "shared_alloc gives a shared pointer, aligned to at most 1024 bytes");
    return TS_OK;
}

static ts_status vt_get_global(const ts__verify *c)
{
    for (uint32_t i = 0; i < c->m->globals.n; i++) {
        const ts_global *g = &c->m->globals.at[i];
        if (g->name != c->inst->aux)
            continue;
        TS__WANT(c,
                 ts__type_known(c->m, g->type) && ts__is_ptr_to(c->m, c->type, TS_GLOBAL) &&
                     ts_type_get(c->m, c->type)->elem == vt_elem(c, g->type),
                 "the result must be a global pointer to %s, the elements of @%s", ts_scalar_name(vt_elem(c, g->type)),
                 ts_str_get(c->m, g->name));
        return TS_OK;
    }
    return ts__verify_fail(c, "the module has no global @%s; declare it: global @%s : tile<..> = dense \"..\"",
                           ts_str_get(c->m, c->inst->aux), ts_str_get(c->m, c->inst->aux));
}

static ts_status vt_grid_sync(const ts__verify *c)
{
    TS__WANT(c, c->inst->aux <= 1, "grid_sync takes no attribute but `asks`");
    return TS_OK;
}

const ts__verify_rule ts__verify_tile[TS_OP_COUNT] = {
    [TS_OP_param] = {vt_param, 0},
    [TS_OP_constant] = {vt_constant, 0},
    [TS_OP_iota] = {vt_iota, 0},
    [TS_OP_fpowi] = {vt_fpowi, 0},
    [TS_OP_fn] = {vt_fn, 0},
    [TS_OP_offset] = {vt_offset, 0},
    [TS_OP_make_complex] = {vt_complex, 0},
    [TS_OP_real] = {vt_complex, 0},
    [TS_OP_imag] = {vt_complex, 0},
    [TS_OP_broadcast] = {vt_broadcast, 0},
    [TS_OP_reshape] = {vt_reshape, 0},
    [TS_OP_permute] = {vt_permute, 0},
    [TS_OP_cat] = {vt_cat, 0},
    [TS_OP_extract] = {vt_extract, 0},
    [TS_OP_insert] = {vt_insert, 0},
    [TS_OP_pack] = {vt_bytes, 0},
    [TS_OP_unpack] = {vt_bytes, 0},
    [TS_OP_reduce] = {vt_reduction, 0},
    [TS_OP_scan] = {vt_reduction, 0},
    [TS_OP_mmaf] = {vt_mma, 0},
    [TS_OP_mmai] = {vt_mma, 0},
    [TS_OP_mmaf_scaled] = {vt_mma_scaled, 0},
    [TS_OP_get_tile_block_id] = {vt_grid, 0},
    [TS_OP_get_num_tile_blocks] = {vt_grid, 0},
    [TS_OP_make_tensor_view] = {vt_make_tensor_view, 0},
    [TS_OP_make_partition_view] = {vt_make_view, 0},
    [TS_OP_make_strided_view] = {vt_make_view, 0},
    [TS_OP_make_gather_scatter_view] = {vt_make_view, 0},
    [TS_OP_get_tensor_shape] = {vt_shape, 0},
    [TS_OP_get_index_space_shape] = {vt_shape, 0},
    [TS_OP_load_view_tko] = {vt_load_view, TS_F_TOKEN},
    [TS_OP_store_view_tko] = {vt_store_view, TS_F_TOKEN},
    [TS_OP_load_ptr_tko] = {vt_load_ptr, TS_F_MASK | TS_F_PAD | TS_F_TOKEN},
    [TS_OP_store_ptr_tko] = {vt_store_ptr, TS_F_MASK | TS_F_TOKEN},
    [TS_OP_atomic_cas_tko] = {vt_cas, TS_F_MASK | TS_F_TOKEN},
    [TS_OP_atomic_rmw_tko] = {vt_rmw, TS_F_MASK | TS_F_TOKEN},
    [TS_OP_atomic_red_view_tko] = {vt_red_view, TS_F_TOKEN},
    [TS_OP_token] = {vt_token_of, 0},
    [TS_OP_make_token] = {vt_tokens, 0},
    [TS_OP_join_tokens] = {vt_tokens, 0},
    [TS_OP_memory_fence_alias_tko] = {vt_tokens, 0},
    [TS_OP_gdc_launch_dependents_tko] = {vt_tokens, TS_F_TOKEN},
    [TS_OP_gdc_wait_tko] = {vt_tokens, TS_F_TOKEN},
    [TS_OP_assume] = {vt_assume, 0},
    [TS_OP_assert] = {vt_assert, 0},
    [TS_OP_fault] = {vt_fault, 0},
    [TS_OP_print_tko] = {vt_print, TS_F_TOKEN},
    [TS_OP_alloca] = {vt_alloca, 0},
    [TS_OP_local] = {vt_alloca, 0},
    [TS_OP_shared_alloc] = {vt_alloca, 0},
    [TS_OP_get_global] = {vt_get_global, 0},
    [TS_OP_grid_sync] = {vt_grid_sync, 0},
    [TS_OP_call] = {ts__verify_call, 0},
};
