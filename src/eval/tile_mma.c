/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at tile level: matrix products, with the order of additions that eval.h defines.
 */
#include "eval/tile.h"
#include "ir/float.h"
#include <math.h>

/* a [B,]M,K  b [B,]K,N  c [B,]M,N */
typedef struct mma_shape {
    int64_t batch, m, n, k;
} mma_shape;

static ts_status mma_shape_of(eval_tile *t, ts_val v, mma_shape *s)
{
    ts_type a = eval_tile_type(t, v, 0), b = eval_tile_type(t, v, 1), c = ts_type_of(t->fn, v);
    uint32_t rank = ts_type_rank(t->module, c);
    if ((rank != 2 && rank != 3) || ts_type_rank(t->module, a) != rank || ts_type_rank(t->module, b) != rank)
        return eval_fail(&t->run, v, TS_VERIFY, "matrices of rank %u", rank);
    const int64_t *da = ts_type_dims(t->module, a) + rank - 2, *db = ts_type_dims(t->module, b) + rank - 2;
    *s = (mma_shape){rank == 3 ? da[-1] : 1, da[0], db[1], da[1]};
    if (db[0] != s->k || ts_type_count(t->module, c) != s->batch * s->m * s->n ||
        ts_type_count(t->module, b) != s->batch * s->k * s->n)
        return eval_fail(&t->run, v, TS_VERIFY, "the shapes of the matrices do not fit");
    return TS_OK;
}

/* Elements as doubles, exactly. NULL when memory is out. */
static double *mma_values(eval_tile *t, ts_type type, const uint64_t *x)
{
    int64_t n = ts_type_count(t->module, type);
    double *out = TS_NEW_N(&t->scratch, double, n);
    for (int64_t i = 0; out && i < n; i++)
        out[i] = ts__float_to_f64(ts_type_elem(t->module, type), x[i]);
    return out;
}

static uint64_t mma_dot(ts_type acc, const mma_shape *s, const double *a, const double *b, uint64_t start)
{
    if (acc == TS_T_f64) {
        double sum = ts_f64_of_bits(start);
        for (int64_t k = 0; k < s->k; k++)
            sum = fma(a[k], b[k * s->n], sum);
        return isnan(sum) ? ts__float_nan(acc) : ts_bits_of_f64(sum);
    }
    float sum = (float)ts__float_to_f64(acc, start);
    for (int64_t k = 0; k < s->k; k++)
        sum = fmaf((float)a[k], (float)b[k * s->n], sum);
    return ts__float_from_f64(acc, sum, TS_RN);
}

static ts_status mma_float(eval_tile *t, ts_val v, const mma_shape *s, const double *a, const double *b)
{
    ts_type acc = ts_type_elem(t->module, ts_type_of(t->fn, v));
    if (!a || !b)
        return eval_tile_nomem(t);
    for (int64_t i = 0; i < s->batch * s->m * s->n; i++) {
        int64_t col = i % s->n, row = i / s->n, batch = row / s->m;
        t->value[v][i] = mma_dot(acc, s, a + row * s->k, b + batch * s->k * s->n + col, eval_tile_opnd(t, v, 2)[i]);
    }
    return TS_OK;
}

ts_status eval_tile_mmaf(eval_tile *t, ts_val v)
{
    mma_shape s;
    TS_TRY(mma_shape_of(t, v, &s));
    ts_arena_mark mark = ts__arena_at(&t->scratch);
    double *a = mma_values(t, eval_tile_type(t, v, 0), eval_tile_opnd(t, v, 0));
    double *b = mma_values(t, eval_tile_type(t, v, 1), eval_tile_opnd(t, v, 1));
    ts_status status = mma_float(t, v, &s, a, b);
    ts__arena_rewind(&t->scratch, mark);
    return status;
}

static uint64_t mma_int(ts_type elem, uint64_t x, bool is_unsigned)
{
    uint32_t bits = ts__scalar_bits(elem);
    return is_unsigned ? x & (((uint64_t)1 << bits) - 1) : x;
}

ts_status eval_tile_mmai(eval_tile *t, ts_val v)
{
    mma_shape s;
    TS_TRY(mma_shape_of(t, v, &s));
    uint32_t attr = ts_at(t->fn, v)->aux;
    const uint64_t *a = eval_tile_opnd(t, v, 0), *b = eval_tile_opnd(t, v, 1), *c = eval_tile_opnd(t, v, 2);
    ts_type elem = ts_type_elem(t->module, eval_tile_type(t, v, 0)),
            acc = ts_type_elem(t->module, ts_type_of(t->fn, v));
    for (int64_t i = 0; i < s.batch * s.m * s.n; i++) {
        int64_t col = i % s.n, row = i / s.n, batch = row / s.m;
        uint64_t sum = c[i];
        for (int64_t k = 0; k < s.k; k++)
            sum += mma_int(elem, a[row * s.k + k], attr & TS_A_UNSIGNED) *
                   mma_int(elem, b[(batch * s.k + k) * s.n + col], attr & TS_A_UNSIGNED_B);
        t->value[v][i] = ts__scalar_wrap(acc, sum);
    }
    return TS_OK;
}

/* x[i, j] *= scale in f32. The scale has as many entries as x along `axis` (0 or 1), fewer along the
 * other, which is K. */
static void mma_scale(double *x, const double *scale, const int64_t *dims, const int64_t *scale_dims, int axis)
{
    int64_t ratio = dims[1 - axis] / (scale_dims[1 - axis] ? scale_dims[1 - axis] : 1);
    int64_t rows = dims[0], cols = dims[1], scale_cols = scale_dims[1], scale_rows = scale_dims[0];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            int64_t si = axis == 1 ? i / ratio : i, sj = axis == 0 ? j / ratio : j;
            ts_assert(si < scale_rows && sj < scale_cols);
            x[i * cols + j] = (double)((float)x[i * cols + j] * (float)scale[si * scale_cols + sj]);
        }
}

static ts_status mma_scale_all(eval_tile *t, ts_val v, uint32_t which, int axis, double *x, const mma_shape *s)
{
    ts_type type = eval_tile_type(t, v, which), scale_type = eval_tile_type(t, v, which + 3);
    uint32_t rank = ts_type_rank(t->module, type);
    double *scale = mma_values(t, scale_type, eval_tile_opnd(t, v, which + 3));
    if (!x || !scale)
        return eval_tile_nomem(t);
    const int64_t *dims = ts_type_dims(t->module, type) + rank - 2;
    const int64_t *scale_dims = ts_type_dims(t->module, scale_type) + rank - 2;
    if (ts_type_rank(t->module, scale_type) != rank || scale_dims[axis] != dims[axis] ||
        dims[1 - axis] % scale_dims[1 - axis])
        return eval_fail(&t->run, v, TS_VERIFY, "the scale of operand %u has not its shape", which);
    for (int64_t b = 0; b < s->batch; b++)
        mma_scale(x + b * dims[0] * dims[1], scale + b * scale_dims[0] * scale_dims[1], dims, scale_dims, axis);
    return TS_OK;
}

ts_status eval_tile_mmaf_scaled(eval_tile *t, ts_val v)
{
    mma_shape s;
    TS_TRY(mma_shape_of(t, v, &s));
    ts_arena_mark mark = ts__arena_at(&t->scratch);
    double *a = mma_values(t, eval_tile_type(t, v, 0), eval_tile_opnd(t, v, 0));
    double *b = mma_values(t, eval_tile_type(t, v, 1), eval_tile_opnd(t, v, 1));
    TS_TRY(mma_scale_all(t, v, 0, 0, a, &s));
    TS_TRY(mma_scale_all(t, v, 1, 1, b, &s));
    ts_status status = mma_float(t, v, &s, a, b);
    ts__arena_rewind(&t->scratch, mark);
    return status;
}
