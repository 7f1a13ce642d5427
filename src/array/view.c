/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of arrays: the same buffer with another shape, strides, offset or dtype. Nothing is copied.
 */
#include "array/array.h"

/* A view with its own shape; shares the buffer. */
static ts_status view_new(const ts_array *array, void *data, uint32_t rank, const int64_t *shape,
                          const int64_t *strides, ts_array **out, ts_error *err)
{
    TS_TRY(ts__array_new(array->buffer, data, (ts_dtype)array->dtype, rank, shape, strides, array->flags, out, err));
    ts_buffer_retain(array->buffer);
    return TS_OK;
}

static char *view_at(const ts_array *array, uint32_t axis, int64_t index)
{
    return (char *)array->data + index * array->strides[axis] * (int64_t)ts_dtype_bytes((ts_dtype)array->dtype);
}

static ts_status view_check_axis(const ts_array *array, uint32_t axis, ts_error *err)
{
    if (axis < array->rank)
        return TS_OK;
    return ts_fail(err, TS_INDEX, "axis %u is out of range for an array of %u axes", axis, array->rank);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

/* Unsigned, because the distance of two 64-bit numbers needs 64 bits without a sign. */
static uint64_t view_steps(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0 && start < stop)
        return ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
    if (step < 0 && start > stop)
        return ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
    return 0;
}

ts_status ts_array_slice(const ts_array *array, uint32_t axis, int64_t start, int64_t stop, int64_t step,
                         ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK], last = start, offset;
    TS_TRY(view_check_axis(array, axis, err));
    if (step == 0)
        return ts_fail(err, TS_VALUE, "slice step cannot be zero");
    int64_t extent = array->shape[axis];
    uint64_t steps = view_steps(start, stop, step);
    int64_t n = steps > INT64_MAX ? INT64_MAX : (int64_t)steps;
    bool wild = n > 0 && (__builtin_mul_overflow(n - 1, step, &offset) || __builtin_add_overflow(start, offset, &last));
    if (n > 0 && (wild || start < 0 || start >= extent || last < 0 || last >= extent))
        return ts_fail(err, TS_INDEX, "slice from %lld to %lld is out of range for axis %u with size %lld",
                       (long long)start, (long long)stop, axis, (long long)extent);
    memcpy(shape, array->shape, sizeof shape);
    memcpy(strides, array->strides, sizeof strides);
    shape[axis] = n;
    if (n > 1) /* else it is never used, and might overflow */
        strides[axis] *= step;
    return view_new(array, n > 0 ? view_at(array, axis, start) : array->data, array->rank, shape, strides, out, err);
}

ts_status ts_array_pick(const ts_array *array, uint32_t axis, int64_t index, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    TS_TRY(view_check_axis(array, axis, err));
    if (index < 0 || index >= array->shape[axis])
        return ts_fail(err, TS_INDEX, "index %lld is out of bounds for axis %u with size %lld", (long long)index, axis,
                       (long long)array->shape[axis]);
    for (uint32_t d = 0, k = 0; d < array->rank; d++)
        if (d != axis) {
            shape[k] = array->shape[d];
            strides[k++] = array->strides[d];
        }
    return view_new(array, view_at(array, axis, index), array->rank - 1u, shape, strides, out, err);
}

ts_status ts_array_transpose(const ts_array *array, const uint32_t *axes, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    uint32_t seen = 0;
    for (uint32_t d = 0; d < array->rank; d++) {
        uint32_t from = axes ? axes[d] : array->rank - 1u - d;
        TS_TRY(view_check_axis(array, from, err));
        if (seen >> from & 1)
            return ts_fail(err, TS_VALUE, "axis %u is named twice in the transposition", from);
        seen |= 1u << from;
        shape[d] = array->shape[from];
        strides[d] = array->strides[from];
    }
    return view_new(array, array->data, array->rank, shape, strides, out, err);
}

/* ---- shapes ----------------------------------------------------------------------------------------- */

/* Replaces one -1 by what is left. */
static ts_status view_infer(const ts_array *array, uint32_t rank, const int64_t *asked, int64_t *shape, ts_error *err)
{
    int64_t count = ts_array_count(array), known = 1;
    uint32_t open = rank;
    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = asked[d];
        if (asked[d] == -1 && open == rank)
            open = d;
        else if (asked[d] < 0)
            return ts_fail(err, TS_SHAPE, "a shape may hold one -1 and no other negative extent");
        else if (__builtin_mul_overflow(known, asked[d], &known))
            return ts_fail(err, TS_SHAPE, "the new shape has too many elements");
    }
    if (open < rank) {
        if (known == 0 || count % known)
            return ts_fail(err, TS_SHAPE, "%lld elements cannot be shaped with the -1 beside %lld", (long long)count,
                           (long long)known);
        shape[open] = count / known;
        known *= shape[open];
    }
    if (known == count)
        return TS_OK;
    return ts_fail(err, TS_SHAPE, "cannot reshape %lld elements into %lld", (long long)count, (long long)known);
}

/* Groups of old axes i.. and new axes j.. with equal products; the ends of the first such group. */
static bool view_group(const int64_t *dims, uint32_t n, const int64_t *shape, uint32_t rank, uint32_t *i, uint32_t *j)
{
    int64_t have = dims[*i], want = shape[*j];
    ++*i, ++*j;
    while (have != want) {
        if (have < want ? *i >= n : *j >= rank)
            return false;
        if (have < want)
            have *= dims[(*i)++];
        else
            want *= shape[(*j)++];
    }
    return true;
}

/* Strides of the new shape over the old memory: within a group the old axes must follow each other without
 * gaps. False: only a copy can do it. There is at least one element. */
static bool view_regroup(const ts_array *array, uint32_t rank, const int64_t *shape, int64_t *strides)
{
    int64_t dims[TS_ARRAY_RANK], olds[TS_ARRAY_RANK];
    uint32_t n = 0, i = 0, j = 0;
    for (uint32_t d = 0; d < array->rank; d++)
        if (array->shape[d] != 1) {
            dims[n] = array->shape[d];
            olds[n++] = array->strides[d];
        }
    while (i < n && j < rank) {
        uint32_t i_begin = i, j_begin = j;
        if (!view_group(dims, n, shape, rank, &i, &j))
            return false;
        for (uint32_t d = i_begin; d + 1 < i; d++)
            if (olds[d] != olds[d + 1] * dims[d + 1])
                return false;
        int64_t stride = olds[i - 1];
        for (uint32_t d = j; d-- > j_begin; stride *= shape[d])
            strides[d] = stride;
    }
    for (; j < rank; j++) /* what is left has extent 1 */
        strides[j] = 1;
    return true;
}

ts_status ts_array_reshape(const ts_array *array, uint32_t rank, const int64_t *asked, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    if (!asked && rank)
        return ts__fail_null(err, __func__, "shape");
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    uint64_t bytes;
    if (rank > TS_ARRAY_RANK)
        return ts_fail(err, TS_SHAPE, "an array of %u axes is not possible; the most is %d", rank, TS_ARRAY_RANK);
    TS_TRY(view_infer(array, rank, asked, shape, err));
    if (ts_array_is_contiguous(array)) {
        if (!ts__array_dense((ts_dtype)array->dtype, rank, shape, strides, &bytes))
            return ts_fail(err, TS_SHAPE, "the new shape is too large");
    } else if (!view_regroup(array, rank, shape, strides))
        return ts_fail(err, TS_BUFFER, "this reshape needs a copy because the array is not contiguous; copy it first");
    return view_new(array, array->data, rank, shape, strides, out, err);
}

/* ---- dtypes ------------------------------------------------------------------------------------------ */

/* Shape and strides counted in elements of `to` bytes instead of `from`. */
static ts_status view_resize(uint32_t rank, int64_t *shape, int64_t *strides, int64_t from, int64_t to, ts_error *err)
{
    uint32_t last = rank - 1;
    if (rank == 0 || (strides[last] != 1 && shape[last] > 1))
        return ts_fail(err, TS_BUFFER, "a view with another element size needs a contiguous last axis");
    if (shape[last] * from % to)
        return ts_fail(err, TS_SHAPE, "the last axis of %lld bytes does not divide into elements of %lld",
                       (long long)(shape[last] * from), (long long)to);
    for (uint32_t d = 0; d < last; d++) {
        if (strides[d] * from % to)
            return ts_fail(err, TS_BUFFER, "the stride of axis %u does not divide into elements of %lld bytes", d,
                           (long long)to);
        strides[d] = strides[d] * from / to;
    }
    shape[last] = shape[last] * from / to;
    strides[last] = 1;
    return TS_OK;
}

ts_status ts_array_view(const ts_array *array, ts_dtype dtype, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    int64_t from = (int64_t)ts_dtype_bytes((ts_dtype)array->dtype), to = (int64_t)ts_dtype_bytes(dtype);
    if (dtype <= TS_DTYPE_NONE || dtype >= TS_DTYPE_COUNT)
        return ts_fail(err, TS_TYPE, "dtype %d is unknown", (int)dtype);
    memcpy(shape, array->shape, sizeof shape);
    memcpy(strides, array->strides, sizeof strides);
    if (from != to)
        TS_TRY(view_resize(array->rank, shape, strides, from, to, err));
    if ((uintptr_t)array->data % (uintptr_t)to)
        return ts_fail(err, TS_BUFFER, "the array is not aligned to elements of %lld bytes", (long long)to);
    TS_TRY(ts__array_new(array->buffer, array->data, dtype, array->rank, shape, strides, array->flags, out, err));
    ts_buffer_retain(array->buffer);
    return TS_OK;
}
