/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices in the host's memory for tests of products, and the product as a double loop.
 */
#ifndef TS_TESTS_LIB_MATRIX_H
#define TS_TESTS_LIB_MATRIX_H

#include "../check.h"
#include "base/base.h"
#include "tessera/array.h"
#include "tessera/launch.h"

typedef enum side { ROWS, COLUMNS } side;

typedef struct matrix {
    ts_arg arg;
    int64_t shape[3], strides[3];
    void *memory;
    size_t bytes;
} matrix;

/* Small whole numbers, so that every sum is exact in any order. */
static inline int64_t element(int64_t seed, int64_t i)
{
    return (int64_t)(((uint64_t)(seed * 7919 + i) * 2654435761u >> 7) % 5) - 2;
}

static inline void put(const matrix *x, int64_t at, double value)
{
    if (x->arg.dtype == TS_DTYPE_float64)
        ((double *)x->arg.value.data)[at] = value;
    else if (x->arg.dtype == TS_DTYPE_float32)
        ((float *)x->arg.value.data)[at] = (float)value;
    else if (x->arg.dtype == TS_DTYPE_int32)
        ((int32_t *)x->arg.value.data)[at] = (int32_t)value;
    else if (x->arg.dtype == TS_DTYPE_int8)
        ((int8_t *)x->arg.value.data)[at] = (int8_t)value;
    else
        ((uint16_t *)x->arg.value.data)[at] = ts__f16_from_f64(value);
}

static inline double get(const matrix *x, int64_t batch, int64_t row, int64_t col)
{
    uint32_t rank = x->arg.rank;
    int64_t at = row * x->strides[rank - 2] + col * x->strides[rank - 1] + (rank == 3 ? batch * x->strides[0] : 0);
    const void *data = x->arg.value.data;
    return x->arg.dtype == TS_DTYPE_float64   ? ((const double *)data)[at]
           : x->arg.dtype == TS_DTYPE_float32 ? ((const float *)data)[at]
           : x->arg.dtype == TS_DTYPE_int32   ? ((const int32_t *)data)[at]
           : x->arg.dtype == TS_DTYPE_int8    ? ((const int8_t *)data)[at]
                                              : ts__f16_to_f64(((const uint16_t *)data)[at]);
}

/* `batch` 0: a matrix. `gap`: elements between rows or columns. */
static inline matrix *lay(matrix *x, ts_dtype dtype, int64_t batch, int64_t rows, int64_t cols, side unit, int64_t gap)
{
    uint8_t rank = batch ? 3 : 2;
    int64_t line = (unit == ROWS ? cols : rows) + gap, n = TS_MAX(1, batch) * line * (unit == ROWS ? rows : cols);
    *x = (matrix){.arg = {.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = rank,
                          .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0)}};
    x->bytes = ((size_t)n * ts_dtype_bytes(dtype) + 127) & ~(size_t)63;
    x->memory = aligned_alloc(64, x->bytes);
    memset(x->memory, 0, x->bytes);
    x->arg.value.data = x->memory;
    x->shape[0] = batch, x->strides[0] = n / TS_MAX(1, batch);
    x->shape[rank - 2] = rows, x->shape[rank - 1] = cols;
    x->strides[rank - 2] = unit == ROWS ? line : 1, x->strides[rank - 1] = unit == ROWS ? 1 : line;
    x->arg.shape = x->shape, x->arg.strides = x->strides;
    for (int64_t i = 0; i < n; i++)
        put(x, i, (double)element(rows + 31 * cols + (unit == ROWS), i));
    return x;
}

/* Elements of c that are not those of a @ b. */
static inline int64_t wrong(const matrix *a, const matrix *b, const matrix *c)
{
    uint32_t rank = c->arg.rank;
    int64_t n_wrong = 0, batch = rank == 3 ? c->shape[0] : 1, k = a->shape[rank - 1], n = c->shape[rank - 1];
    double *row_of_c = malloc(sizeof *row_of_c * (size_t)n);
    for (int64_t i = 0; i < batch; i++)
        for (int64_t row = 0; row < c->shape[rank - 2]; row++) {
            memset(row_of_c, 0, sizeof *row_of_c * (size_t)n);
            for (int64_t at = 0; at < k; at++) {
                double x = get(a, i, row, at);
                for (int64_t col = 0; col < n && x != 0; col++)
                    row_of_c[col] += x * get(b, i, at, col);
            }
            for (int64_t col = 0; col < n; col++)
                n_wrong += get(c, i, row, col) != row_of_c[col];
        }
    free(row_of_c);
    return n_wrong;
}

static inline void end(matrix *a, matrix *b, matrix *c)
{
    free(a->memory), free(b->memory), free(c->memory);
}

#endif
