/* SPDX-License-Identifier: Apache-2.0
 *
 * A long line as a matrix of rows x columns, whose sides are as even as its factors allow:
 *
 *     X[k + K m] = sum over c of w(N, c k) w(C, c m) * (sum over r of w(K, r k) x[r C + c])
 *
 * of K rows, C columns, N = K C. FFT_SIDE columns at a time are copied to where passes find them in a cache,
 * transformed, turned by w(N, c k) and put back; rows the same, whose results are columns of the result.
 */
#include "fft/fft.h"

/* ---- plans ------------------------------------------------------------------------------------------- */

static void *sides_get(const ts_fft *plan, size_t bytes)
{
    return plan->alloc->resize(plan->alloc->user, NULL, 0, bytes);
}

static bool sides_turns(ts_fft *plan)
{
    fft_sides *s = &plan->sides;
    int64_t rows = s->columns->length, blocks = (s->rows->length + FFT_SIDE - 1) / FFT_SIDE;
    fft_roots roots;
    s->far_bytes = (size_t)(blocks * rows) * 2 * sizeof(double);
    s->near_bytes = (size_t)rows * 2 * FFT_SIDE * sizeof(double);
    s->far = sides_get(plan, s->far_bytes);
    s->near = sides_get(plan, s->near_bytes);
    if (!s->far || !s->near || !ts__fft_roots_begin(&roots, plan->alloc, plan->length))
        return false;
    for (int64_t block = 0; block < blocks; block++)
        for (int64_t row = 0; row < rows; row++)
            ts__fft_root(&roots, block * FFT_SIDE * row, s->far + 2 * (block * rows + row));
    for (int64_t row = 0; row < rows; row++)
        for (int64_t l = 0; l < FFT_SIDE; l++) {
            double root[2];
            ts__fft_root(&roots, l * row, root);
            s->near[2 * row * FFT_SIDE + l] = root[0];
            s->near[(2 * row + 1) * FFT_SIDE + l] = root[1];
        }
    ts__fft_roots_end(&roots);
    return true;
}

ts_status ts__fft_sides_create(ts_fft *plan, ts_error *err)
{
    int64_t n = plan->length, rows = 1;
    for (int64_t d = 2; d * d <= n; d++)
        rows = n % d ? rows : d;
    TS_TRY(ts__fft_passes_create(plan->alloc, rows, &plan->sides.columns, err));
    TS_TRY(ts__fft_passes_create(plan->alloc, n / rows, &plan->sides.rows, err));
    plan->room = FFT_WHOLE(n) + FFT_SIDE * (n / rows);
    return sides_turns(plan) ? TS_OK
                             : ts_fail(err, TS_NOMEM, "out of memory for a transform of length %lld", (long long)n);
}

void ts__fft_sides_destroy(ts_fft *plan)
{
    fft_sides *s = &plan->sides;
    if (s->far)
        plan->alloc->resize(plan->alloc->user, s->far, s->far_bytes, 0);
    if (s->near)
        plan->alloc->resize(plan->alloc->user, s->near, s->near_bytes, 0);
    ts_fft_destroy(s->columns);
    ts_fft_destroy(s->rows);
}

/* ---- runs -------------------------------------------------------------------------------------------- */

/* FFT_SIDE columns from column on, turned, to x; fewer where the matrix ends. */
TS_INLINE void sides_turn_loops(const ts_fft *plan, int64_t column, int64_t lanes, fft_planes z, fft_planes x)
{
    int64_t rows = plan->sides.columns->length, width = plan->sides.rows->length;
    const double *far = plan->sides.far + column / FFT_SIDE * rows * 2, *near = plan->sides.near;
    for (int64_t row = 0; row < rows; row++, far += 2, near += 2 * FFT_SIDE) {
        const double *zr = z.re + row * lanes, *zi = z.im + row * lanes;
        double *to_r = x.re + row * width + column, *to_i = x.im + row * width + column;
        int64_t l = 0;
        for (; l + FFT_LANES <= lanes; l += FFT_LANES) {
            fft_vector near_r = *(const fft_vector *)(near + l), near_i = *(const fft_vector *)(near + FFT_SIDE + l);
            fft_vector w_r = far[0] * near_r - far[1] * near_i, w_i = far[0] * near_i + far[1] * near_r;
            fft_vector re = *(const fft_vector *)(zr + l), im = *(const fft_vector *)(zi + l);
            *(fft_vector *)(to_r + l) = re * w_r - im * w_i;
            *(fft_vector *)(to_i + l) = re * w_i + im * w_r;
        }
        for (; l < lanes; l++) {
            double w_r = far[0] * near[l] - far[1] * near[FFT_SIDE + l];
            double w_i = far[0] * near[FFT_SIDE + l] + far[1] * near[l];
            to_r[l] = zr[l] * w_r - zi[l] * w_i;
            to_i[l] = zr[l] * w_i + zi[l] * w_r;
        }
    }
}
TS_WIDTHS(sides_turn, (const ts_fft *plan, int64_t column, int64_t lanes, fft_planes z, fft_planes x),
           (plan, column, lanes, z, x))

TS_INLINE void sides_copy_loops(const double *from, int64_t from_step, double *to, int64_t to_step, int64_t n,
                                 int64_t lanes)
{
    for (int64_t k = 0; k < n; k++, from += from_step, to += to_step) {
        int64_t l = 0;
        for (; l + FFT_LANES <= lanes; l += FFT_LANES)
            *(fft_vector *)(to + l) = *(const fft_vector *)(from + l);
        for (; l < lanes; l++)
            to[l] = from[l];
    }
}
TS_WIDTHS(sides_copy, (const double *from, int64_t from_step, double *to, int64_t to_step, int64_t n, int64_t lanes),
           (from, from_step, to, to_step, n, lanes))

/* Rows of n elements, which become columns. */
TS_INLINE void sides_flip_loops(const double *from, double *to, int64_t n, int64_t lanes)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t l = 0;
        const double *at = from + k;
        for (; l + FFT_LANES <= lanes; l += FFT_LANES) {
            fft_vector v = {at[l * n],       at[(l + 1) * n], at[(l + 2) * n], at[(l + 3) * n],
                            at[(l + 4) * n], at[(l + 5) * n], at[(l + 6) * n], at[(l + 7) * n]};
            *(fft_vector *)(to + k * lanes + l) = v;
        }
        for (; l < lanes; l++)
            to[k * lanes + l] = at[l * n];
    }
}
TS_WIDTHS(sides_flip, (const double *from, double *to, int64_t n, int64_t lanes), (from, to, n, lanes))

void ts__fft_matrix(const ts_fft *plan, fft_planes x, fft_planes y)
{
    const ts_fft *columns = plan->sides.columns, *rows = plan->sides.rows;
    int64_t height = columns->length, width = rows->length, behind = FFT_WHOLE(plan->length);
    fft_planes a = {x.re + behind, x.im + behind}, b = {y.re + behind, y.im + behind};
    for (int64_t c = 0; c < width; c += FFT_SIDE) {
        int64_t lanes = TS_MIN(width - c, FFT_SIDE);
        sides_copy(x.re + c, width, a.re, lanes, height, lanes);
        sides_copy(x.im + c, width, a.im, lanes, height, lanes);
        sides_turn(plan, c, lanes, ts__fft_transform(columns, lanes, a, b), x);
    }
    for (int64_t r = 0; r < height; r += FFT_SIDE) {
        int64_t lanes = TS_MIN(height - r, FFT_SIDE);
        sides_flip(x.re + r * width, a.re, width, lanes);
        sides_flip(x.im + r * width, a.im, width, lanes);
        fft_planes z = ts__fft_transform(rows, lanes, a, b);
        sides_copy(z.re, lanes, y.re + r, height, width, lanes);
        sides_copy(z.im, lanes, y.im + r, height, width, lanes);
    }
}
