/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: mma (exact dtypes, the caller's accumulator), matmul and @ (promoted, the result
 * in the inputs' dtype). Part of the front end (lower.h); rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

/* Inputs and the accumulators they may have; the first is what matmul uses. */
static const struct {
    ts_dtype input, acc[2];
} mma_rows[] = {
    {TS_DTYPE_float16, {TS_DTYPE_float16, TS_DTYPE_float32}},
    {TS_DTYPE_bfloat16, {TS_DTYPE_float32, TS_DTYPE_NONE}},
    {TS_DTYPE_float32, {TS_DTYPE_float32, TS_DTYPE_NONE}},
    {TS_DTYPE_tfloat32, {TS_DTYPE_float32, TS_DTYPE_NONE}},
    {TS_DTYPE_float64, {TS_DTYPE_float64, TS_DTYPE_NONE}},
    {TS_DTYPE_float8_e4m3fn, {TS_DTYPE_float16, TS_DTYPE_float32}},
    {TS_DTYPE_float8_e5m2, {TS_DTYPE_float16, TS_DTYPE_float32}},
    {TS_DTYPE_int8, {TS_DTYPE_int32, TS_DTYPE_NONE}},
    {TS_DTYPE_uint8, {TS_DTYPE_int32, TS_DTYPE_NONE}},
};

static uint32_t mma_row(ts_dtype dtype)
{
    uint32_t i = 0;
    while (i < TS_COUNT(mma_rows) && mma_rows[i].input != dtype)
        i++;
    return i;
}

static ts_status mma_shapes(fr *f, const fr_value *x, const fr_value *y, fr_shape *out)
{
    fr_shape a = fr_shape_of(f, x), b = fr_shape_of(f, y);
    if (a.rank < 2 || b.rank < 2 || a.rank > 3 || b.rank > 3)
        return fr_error(
            f, 0, TS_TILETYPE,
            "matrix product of shapes %s and %s\n  help: both must have two or three dimensions",
            fr_say_shape(f, &a), fr_say_shape(f, &b));
    int64_t m = a.dims[a.rank - 2], k = a.dims[a.rank - 1], k2 = b.dims[b.rank - 2],
            n = b.dims[b.rank - 1];
    if (k != k2)
        return fr_error(
            f, 0, TS_TILETYPE,
            "matrix product of shapes %s and %s: the inner dimensions %lld and %lld differ",
            fr_say_shape(f, &a), fr_say_shape(f, &b), (long long)k, (long long)k2);
    int64_t ba = a.rank == 3 ? a.dims[0] : 1, bb = b.rank == 3 ? b.dims[0] : 1;
    if (ba != bb && ba != 1 && bb != 1)
        return fr_error(f, 0, TS_TILETYPE,
                        "matrix product of shapes %s and %s: the batches %lld and %lld differ",
                        fr_say_shape(f, &a), fr_say_shape(f, &b), (long long)ba, (long long)bb);
    *out = (fr_shape){.rank = TS_MAX(a.rank, b.rank)};
    out->dims[0] = TS_MAX(ba, bb);
    out->dims[out->rank - 2] = m;
    out->dims[out->rank - 1] = n;
    return TS_OK;
}

/* The operand with the batch dimension of the result. */
static ts_status mma_batch(fr *f, const fr_shape *result, fr_value *v)
{
    fr_shape shape = fr_shape_of(f, v), wide = {.rank = result->rank};
    if (result->rank == 2)
        return TS_OK;
    wide.dims[0] = result->dims[0];
    wide.dims[1] = shape.dims[shape.rank - 2];
    wide.dims[2] = shape.dims[shape.rank - 1];
    return fr_splat(f, v, &wide, v);
}

static ts_status mma_emit(fr *f, fr_value x, fr_value y, const fr_value *acc, uint32_t attr,
                          const fr_shape *shape, fr_value *out)
{
    TS_TRY(mma_batch(f, shape, &x));
    TS_TRY(mma_batch(f, shape, &y));
    bool ints = fr_dtype_is_int((ts_dtype)x.dtype);
    if (ints)
        attr = (x.dtype == TS_DTYPE_uint8 ? TS_A_UNSIGNED : 0) |
               (y.dtype == TS_DTYPE_uint8 ? TS_A_UNSIGNED_B : 0);
    ts_val v = ts_emit(&f->b, ints ? TS_OP_mmai : TS_OP_mmaf, ts_type_of(f->b.fn, acc->as.v), 3,
                       (ts_val[]){x.as.v, y.as.v, acc->as.v}, attr, 0);
    *out = fr_tile((ts_dtype)acc->dtype, v);
    return TS_OK;
}

ts_status fr_op_mma(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x, y, acc;
    fr_shape shape;
    bool fast;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    TS_TRY(fr_arg_tile(f, c, 1, &y));
    TS_TRY(fr_arg_tile(f, c, 2, &acc));
    TS_TRY(fr_arg_flag(f, c, 3, false, &fast));
    bool bytes = (x.dtype == TS_DTYPE_int8 || x.dtype == TS_DTYPE_uint8) &&
                 (y.dtype == TS_DTYPE_int8 || y.dtype == TS_DTYPE_uint8);
    uint32_t row = mma_row((ts_dtype)x.dtype);
    if (row == TS_COUNT(mma_rows) || (x.dtype != y.dtype && !bytes))
        return fr_error(f, c->node, TS_TILETYPE,
                        "mma() of %s and %s\n  help: both sides have one dtype of float16, "
                        "bfloat16, float32, tfloat32, float64, "
                        "float8_e4m3fn, float8_e5m2; int8 and uint8 mix",
                        ts_dtype_name((ts_dtype)x.dtype), ts_dtype_name((ts_dtype)y.dtype));
    if (!acc.dtype || (acc.dtype != mma_rows[row].acc[0] && acc.dtype != mma_rows[row].acc[1]))
        return fr_error(f, c->at[2], TS_TILETYPE, "mma() of %s accumulates in %s%s%s, found %s\n  help: begin with "
                        "ct.zeros((m, n), dtype) for a product of shape (m, n)",
                        ts_dtype_name((ts_dtype)x.dtype), ts_dtype_name(mma_rows[row].acc[0]),
                        mma_rows[row].acc[1] ? " or " : "",
                        mma_rows[row].acc[1] ? ts_dtype_name(mma_rows[row].acc[1]) : "",
                        fr_say(f, &acc));
    TS_TRY(mma_shapes(f, &x, &y, &shape));
    fr_shape have = fr_shape_of(f, &acc);
    if (!fr_same_shape(&have, &shape))
        return fr_error(f, c->at[2], TS_TILETYPE,
                        "mma(): the accumulator has shape %s, the product %s\n  help: begin with ct.zeros(%s, dtype)",
                        fr_say_shape(f, &have), fr_say_shape(f, &shape), fr_say_shape(f, &shape));
    if (fast && x.dtype != TS_DTYPE_float8_e4m3fn && x.dtype != TS_DTYPE_float8_e5m2)
        return fr_error(f, c->at[3], TS_TILETYPE,
                        "mma(): use_fast_acc is for float8 inputs\n  help: leave it out for %s",
                        ts_dtype_name((ts_dtype)x.dtype));
    return mma_emit(f, x, y, &acc, fast ? TS_A_FAST_ACC : 0, &shape, out);
}

/* A vector becomes a row (left) or a column (right). */
static ts_status mma_vector(fr *f, fr_value *v, bool left, bool *was)
{
    fr_shape shape = fr_shape_of(f, v), grown = {.rank = 2, .dims = {shape.dims[0], 1}};
    *was = shape.rank == 1;
    if (!*was)
        return TS_OK;
    if (left) {
        grown.dims[0] = 1;
        grown.dims[1] = shape.dims[0];
    }
    return fr_reshape_to(f, v, &grown, v);
}

ts_status fr_matmul(fr *f, const fr_value *px, const fr_value *py, fr_value *out)
{
    fr_value x = *px, y = *py, acc, zero = fr_number(0);
    fr_shape shape, kept = {0};
    ts_dtype dtype;
    bool row, column;
    if (x.kind != FR_TILE || y.kind != FR_TILE || !fr_shape_of(f, &x).rank ||
        !fr_shape_of(f, &y).rank)
        return fr_error(f, 0, TS_TILETYPE,
                        "matrix product of %s and %s\n  help: both sides must be tiles of one to "
                        "three dimensions",
                        fr_say(f, &x), fr_say(f, &y));
    TS_TRY(fr_common_dtype(f, "@", &x, &y, &dtype)); /* bytes of both signs mix in mma() alone */
    uint32_t i = mma_row(dtype);
    if (i == TS_COUNT(mma_rows))
        return fr_error(f, 0, TS_TILETYPE,
                        "matrix product of %s and %s\n  help: convert to float32, float16, "
                        "bfloat16, float64 or int8",
                        fr_say(f, &x), fr_say(f, &y));
    TS_TRY(fr_convert(f, &x, dtype, TS_RN, &x));
    TS_TRY(fr_convert(f, &y, dtype, TS_RN, &y));
    TS_TRY(mma_vector(f, &x, true, &row));
    TS_TRY(mma_vector(f, &y, false, &column));
    TS_TRY(mma_shapes(f, &x, &y, &shape));
    acc = fr_tile(mma_rows[i].acc[0], fr_constant(f, &zero, mma_rows[i].acc[0], &shape));
    TS_TRY(mma_emit(f, x, y, &acc, 0, &shape, out));
    TS_TRY(fr_convert(f, out, dtype, TS_RN, out));
    for (uint32_t d = 0; d < shape.rank; d++)
        if (!(row && d == shape.rank - 2) && !(column && d == shape.rank - 1))
            kept.dims[kept.rank++] = shape.dims[d];
    return row || column ? fr_reshape_to(f, out, &kept, out) : TS_OK;
}

ts_status fr_op_matmul(fr *f, const fr_call *c, fr_value *out)
{
    return fr_matmul(f, &c->arg[0], &c->arg[1], out);
}

/* Block-scaled product: one scale for each `block` elements along K. */
ts_status fr_op_mma_scaled(fr *f, const fr_call *c, fr_value *out)
{
    fr_value v[5];
    fr_shape shape, x_scale, y_scale, x, y, acc;
    for (uint32_t i = 0; i < 5; i++)
        TS_TRY(fr_arg_tile(f, c, i, &v[i]));
    bool f8 = v[0].dtype == TS_DTYPE_float8_e4m3fn || v[0].dtype == TS_DTYPE_float8_e5m2,
         f4 = v[0].dtype == TS_DTYPE_float4_e2m1fn;
    if ((!f8 && !f4) || v[0].dtype != v[2].dtype)
        return fr_error(f, c->node, TS_TILETYPE,
                        "mma_scaled() takes two tiles of one of float8_e4m3fn, float8_e5m2 and float4_e2m1fn, found "
                        "%s and %s",
                        fr_say(f, &v[0]), fr_say(f, &v[2]));
    if (v[4].dtype != TS_DTYPE_float32)
        return fr_arg_error(f, c, 4, "a float32 tile");
    TS_TRY(mma_shapes(f, &v[0], &v[2], &shape));
    x = fr_shape_of(f, &v[0]);
    y = fr_shape_of(f, &v[2]);
    x_scale = fr_shape_of(f, &v[1]);
    y_scale = fr_shape_of(f, &v[3]);
    acc = fr_shape_of(f, &v[4]);
    if (x_scale.rank < 2 || x_scale.rank > shape.rank || y_scale.rank < 2 || y_scale.rank > shape.rank ||
        !fr_same_shape(&acc, &shape))
        return fr_error(f, c->node, TS_TILETYPE,
                        "mma_scaled(): the accumulator must have shape %s, found %s; the scales 2 to %u dimensions, "
                        "found %u and %u", fr_say_shape(f, &shape), fr_say_shape(f, &acc), shape.rank, x_scale.rank,
                        y_scale.rank);
    int64_t k = x.dims[x.rank - 1], blocks = x_scale.dims[x_scale.rank - 1];
    bool fits = blocks > 0 && y_scale.dims[y_scale.rank - 2] == blocks &&
                (k / blocks == 32 || (f4 && k / blocks == 16)) && k % blocks == 0 &&
                x_scale.dims[x_scale.rank - 2] == x.dims[x.rank - 2] &&
                y_scale.dims[y_scale.rank - 1] == y.dims[y.rank - 1];
    bool dtypes = v[1].dtype == v[3].dtype &&
                  (v[1].dtype == TS_DTYPE_float8_e8m0fnu ||
                   (f4 && k / TS_MAX(blocks, 1) == 16 && v[1].dtype == TS_DTYPE_float8_e4m3fn) ||
                   (f4 && v[1].dtype == TS_DTYPE_float8_e5m3fnu));
    if (!fits || !dtypes)
        return fr_error(f, c->at[1], TS_TILETYPE,
                        "mma_scaled(): scales %s and %s do not fit\n  help: float8 takes one "
                        "float8_e8m0fnu for 32 elements along K; "
                        "float4 one for 16 or 32, or one float8_e4m3fn for 16",
                        fr_say(f, &v[1]), fr_say(f, &v[3]));
    for (uint32_t i = 0; i < 4; i++)
        TS_TRY(mma_batch(f, &shape, &v[i]));
    ts_val operands[] = {v[0].as.v, v[2].as.v, v[4].as.v, v[1].as.v, v[3].as.v};
    *out = fr_tile(TS_DTYPE_float32, ts_emit(&f->b, TS_OP_mmaf_scaled,
                                             ts_type_of(f->b.fn, v[4].as.v), 5, operands, 0, 0));
    return TS_OK;
}
