/* SPDX-License-Identifier: Apache-2.0
 *
 * How often numbers occur, and which bins numbers lie in, in host memory: loops over elements one after the other, so
 * that sums of weights are NumPy's to the bit. What lies elsewhere, or is of another dtype, is left to who asks.
 */
#include "numeric/numeric.h"

/* Of one axis and this dtype, in host memory. */
static bool count_takes(const ts_nd *x, ts_dtype dtype)
{
    return ts_device_caps_of(x->graph->device) & TS_DEVICE_HOST_MEMORY && x->rank == 1 && x->dtype == dtype &&
           !x->meaning;
}

/* Of n numbers, `step` bytes from one to the next, the greatest, or the first negative one; -1: there is none. */
static int64_t count_greatest(const char *x, int64_t step, int64_t n)
{
    int64_t greatest = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t number = *(const int64_t *)(x + i * step);
        if (number < 0)
            return number;
        greatest = TS_MAX(greatest, number);
    }
    return greatest;
}

ts_status ts_nd_count(ts_nd *x, ts_nd *weights, int64_t least, ts_nd **result, ts_error *err)
{
    void *from, *added = NULL, *to;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, x);
    if (!count_takes(x, TS_DTYPE_int64) ||
        (weights && (!count_takes(weights, TS_DTYPE_float64) || weights->graph != x->graph ||
                     weights->count != x->count)))
        return TS_OK;
    TS_TRY(ts_nd_memory(x, false, &from, NULL, err));
    if (weights)
        TS_TRY(ts_nd_memory(weights, false, &added, NULL, err));
    int64_t step = *ts_nd_strides(x), add_step = weights ? *ts_nd_strides(weights) : 0;
    int64_t greatest = count_greatest(from, step, x->count);
    if (x->count && greatest < 0)
        return ts_fail(err, TS_VALUE, "'list' argument must have no negative elements");
    if (greatest == INT64_MAX)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    int64_t n = TS_MAX(least, greatest + 1);
    ts_dtype dtype = weights ? TS_DTYPE_float64 : TS_DTYPE_int64;
    TS_TRY(ts_nd_empty(x->graph, dtype, 1, &n, false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
        return status;
    }
    memset(to, 0, (size_t)n * 8);
    int64_t *counts = to;
    double *sums = to;
    for (int64_t i = 0; i < x->count && !weights; i++)
        counts[*(const int64_t *)((const char *)from + i * step)]++;
    for (int64_t i = 0; i < x->count && weights; i++)
        sums[*(const int64_t *)((const char *)from + i * step)] += *(const double *)((char *)added + i * add_step);
    return TS_OK;
}

/* The bin of each number as NumPy finds it: by the width of all, in numbers of `wide`, then one to the left or to the
 * right where an edge says so; n, which is none, of what lies outside. */
#define COUNT_BINS(name, type, wide)                                                                                \
    static void count_bins_##name(const char *x, int64_t step, int64_t count, const type *edges, int64_t n,         \
                                  wide width, int64_t *out)                                                         \
    {                                                                                                               \
        type first = edges[0], last = edges[n];                                                                     \
        for (int64_t i = 0; i < count; i++) {                                                                       \
            type number = *(const type *)(x + i * step);                                                            \
            wide at = (wide)(number - first) / width * (wide)n;                                                     \
            out[i] = n;                                                                                             \
            if (!(number >= first && number <= last))                                                               \
                continue;                                                                                           \
            int64_t bin = !(at > 0) ? 0 : at >= (wide)n ? n - 1 : (int64_t)at;                                      \
            bin -= bin && number < edges[bin];                                                                      \
            bin += bin != n - 1 && number >= edges[bin + 1];                                                        \
            out[i] = bin;                                                                                           \
        }                                                                                                           \
    }
COUNT_BINS(float, float, float)
COUNT_BINS(float_in_double, float, double)
COUNT_BINS(double, double, double)

ts_status ts_nd_bins(ts_nd *x, ts_nd *edges, double width, ts_nd **result, ts_error *err)
{
    void *from, *bounds, *to;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, x, edges);
    ts_dtype dtype = (ts_dtype)x->dtype;
    if ((dtype != TS_DTYPE_float32 && dtype != TS_DTYPE_float64) || !count_takes(x, dtype) ||
        !count_takes(edges, dtype) || edges->graph != x->graph || edges->count < 2 ||
        *ts_nd_strides(edges) != (int64_t)ts_dtype_bytes(dtype))
        return TS_OK;
    TS_TRY(ts_nd_memory(x, false, &from, NULL, err));
    TS_TRY(ts_nd_memory(edges, false, &bounds, NULL, err));
    TS_TRY(ts_nd_empty(x->graph, TS_DTYPE_int64, 1, &x->count, false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    if (status != TS_OK)
        return status;
    int64_t step = *ts_nd_strides(x), n = edges->count - 1;
    if (dtype == TS_DTYPE_float64)
        count_bins_double(from, step, x->count, bounds, n,
                          width > 0 ? width : ((double *)bounds)[n] - *(double *)bounds, to);
    else if (width > 0)
        count_bins_float_in_double(from, step, x->count, bounds, n, width, to);
    else
        count_bins_float(from, step, x->count, bounds, n, ((float *)bounds)[n] - *(float *)bounds, to);
    return TS_OK;
}
