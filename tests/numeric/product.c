/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of vectors and matrices by loops: each result has the same bits on any number of threads, and is right.
 */
#include "../device/setup.h"
#include "numeric/numeric.h"
#include <math.h>

/* A matrix (m, k) with elements as steps say, or its transpose as it lies, times a vector. */
typedef struct product_case {
    int64_t m, k;
    bool is_turned, vector_first;
    int64_t vector_step;
} product_case;

static const product_case cases[] = {
    {300, 700, false, false, 1},  {300, 700, true, false, 1}, {300, 700, false, true, 1}, {300, 700, true, true, 1},
    {20000, 9, false, true, 1},   {9, 20000, true, false, 1}, {9, 20000, false, true, 1}, {1031, 517, true, false, -3},
    {1031, 517, false, false, 2}, {8, 30000, true, false, 2}, {1, 200000, false, false, 1},
    {303, 700, false, false, 1},  {5003, 131, true, false, 1}};

static double value_of(int64_t i)
{
    return (double)(i * 2654435761 % 1009 - 504) / 64;
}

static ts_nd *array_of(ts_nd_graph *graph, ts_dtype dtype, uint32_t rank, const int64_t *shape)
{
    ts_nd *a;
    void *data;
    CHECK_OK(ts_nd_empty(graph, dtype, rank, shape, false, &a, &err));
    CHECK_OK(ts_nd_memory(a, false, &data, NULL, &err));
    for (int64_t i = 0; i < a->count * (dtype == TS_DTYPE_complex64 ? 2 : 1); i++)
        if (dtype == TS_DTYPE_float64)
            ((double *)data)[i] = value_of(i);
        else
            ((float *)data)[i] = (float)value_of(i);
    return a;
}

static ts_nd *view_of(ts_nd *a, int64_t offset, uint32_t rank, const int64_t *shape, const int64_t *strides)
{
    ts_nd *view;
    CHECK_OK(ts_nd_view(a, offset, (ts_dtype)a->dtype, rank, shape, strides, 0, &view, &err));
    ts_nd_release(a);
    return view;
}

/* The result's bytes, copied to `out`. */
static int64_t product_on(uint32_t n_threads, const product_case *c, ts_dtype dtype, void *out)
{
    ts_device *device = device_new(n_threads, NULL);
    ts_nd_graph *graph;
    ts_nd *matrix, *vector, *result;
    void *data;
    CHECK_OK(ts_nd_graph_create(device, &graph, &err));
    int64_t item = (int64_t)ts_dtype_bytes(dtype), n = c->vector_first ? c->m : c->k;
    int64_t lies[2] = {c->is_turned ? c->k : c->m, c->is_turned ? c->m : c->k}, far = llabs(c->vector_step);
    matrix = array_of(graph, dtype, 2, lies);
    if (c->is_turned)
        matrix = view_of(matrix, 0, 2, (int64_t[]){c->m, c->k}, (int64_t[]){item, c->m * item});
    vector = array_of(graph, dtype, 1, &(int64_t){n * far});
    vector = view_of(vector, c->vector_step < 0 ? (n - 1) * far * item : 0, 1, &n, &(int64_t){c->vector_step * item});
    if (c->vector_first)
        CHECK_OK(ts_nd_product(vector, matrix, &result, &err));
    else
        CHECK_OK(ts_nd_product(matrix, vector, &result, &err));
    CHECK_OK(ts_nd_memory(result, false, &data, NULL, &err));
    int64_t bytes = result->count * item;
    memcpy(out, data, (size_t)bytes);
    ts_nd_release(matrix), ts_nd_release(vector), ts_nd_release(result);
    ts_nd_graph_destroy(graph);
    ts__cpu_destroy(device);
    return bytes;
}

static void check_values(const product_case *c, const double *found)
{
    int64_t n = c->vector_first ? c->k : c->m, depth = c->vector_first ? c->m : c->k, far = llabs(c->vector_step);
    for (int64_t i = 0; i < n; i += n / 5 + 1) {
        long double sum = 0;
        for (int64_t j = 0; j < depth; j++) {
            int64_t row = c->vector_first ? j : i, column = c->vector_first ? i : j;
            int64_t at = c->is_turned ? column * c->m + row : row * c->k + column;
            sum += (long double)value_of(at) * value_of(c->vector_step < 0 ? (depth - 1 - j) * far : j * far);
        }
        CHECK(fabsl(found[i] - sum) < 1e-9L * depth);
    }
}

int main(void)
{
    static const ts_dtype dtypes[] = {TS_DTYPE_float32, TS_DTYPE_float64, TS_DTYPE_complex64};
    static char one[200000 * 8], more[200000 * 8];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t j = 0; j < sizeof dtypes / sizeof *dtypes; j++) {
            int64_t bytes = product_on(1, &cases[i], dtypes[j], one);
            for (uint32_t n_threads = 2; n_threads <= 7; n_threads += 5) {
                CHECK_INT(product_on(n_threads, &cases[i], dtypes[j], more), bytes);
                CHECK(memcmp(one, more, (size_t)bytes) == 0);
            }
            if (dtypes[j] == TS_DTYPE_float64)
                check_values(&cases[i], (const double *)(const void *)one);
        }
    return check_done();
}
