/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of host memory several times in turn, by the thread that asks: along an axis each part of the axes behind it
 * is written as often as its count says.
 *
 *     a (2, 3), axis 0, counts 2, 1       rows 0, 0, 1: parts of three elements, one behind the other
 */
#include "numeric/numeric.h"

typedef struct times_of {
    int64_t before, n, part; /* elements in front of the axis, along it; bytes of a part */
    const int64_t *counts;
    int64_t step; /* 0: one count for all */
} times_of;

/* Parts of one size, which is constant where it is inlined. */
static inline __attribute__((always_inline)) void times_write(const times_of *t, const char *from, char *to,
                                                              int64_t part)
{
    for (int64_t i = 0; i < t->before; i++)
        for (int64_t k = 0; k < t->n; k++, from += part)
            for (int64_t left = t->counts[k * t->step]; left > 0; left--, to += part)
                memcpy(to, from, (size_t)part);
}

/* The extent of the result along the axis; -1: a count is negative, or they are too many. */
static int64_t times_extent(const times_of *t)
{
    int64_t sum = 0, count = t->counts[0], most = INT64_MAX / TS_MAX(t->before * t->part, 1);
    bool fits = t->step || (count >= 0 && !__builtin_mul_overflow(count, t->n, &sum));
    for (int64_t k = 0; t->step && k < t->n && fits; k++)
        fits = t->counts[k] >= 0 && !__builtin_add_overflow(sum, t->counts[k], &sum);
    return fits && sum <= most ? sum : -1;
}

ts_status ts_nd_repeat(ts_nd *a, ts_nd *counts, uint32_t axis, ts_nd **result, ts_error *err)
{
    int64_t shape[TS_ND_RANK];
    void *from, *to, *data;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, counts);
    if (axis >= a->rank || !a->count || !nd_is_direct(a) || !nd_is_dense(a, 0) || counts->graph != a->graph ||
        counts->dtype != TS_DTYPE_int64 || counts->meaning || !nd_is_dense(counts, 0) ||
        (counts->count != 1 && counts->count != ts_nd_shape(a)[axis]))
        return TS_OK;
    TS_TRY(ts_nd_memory(counts, false, &data, NULL, err));
    times_of t = {.before = 1, .n = ts_nd_shape(a)[axis], .part = a->item, .counts = data,
                  .step = counts->count == 1 ? 0 : 1};
    for (uint32_t d = 0; d < a->rank; d++) {
        shape[d] = ts_nd_shape(a)[d];
        t.before *= d < axis ? shape[d] : 1;
        t.part *= d > axis ? shape[d] : 1;
    }
    shape[axis] = times_extent(&t);
    if (shape[axis] < 0)
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, a->rank, shape, false, result, err));
    nd_means(*result, a);
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    else if (t.part == 8)
        times_write(&t, from, to, 8);
    else if (t.part == 4)
        times_write(&t, from, to, 4);
    else if (t.part == 1)
        times_write(&t, from, to, 1);
    else
        times_write(&t, from, to, t.part);
    return status;
}
