/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays: creation and life. Views are in view.c, bytes move in copy.c.
 */
#include "array/array.h"
#include "array/layout.h"

bool ts__array_dense(ts_dtype dtype, uint32_t rank, const int64_t *shape, int64_t *strides, uint64_t *bytes)
{
    int64_t stride = 1, total = (int64_t)ts_dtype_bytes(dtype);
    bool empty = false;
    for (uint32_t d = rank; d-- > 0;) {
        int64_t extent = shape[d];
        strides[d] = stride;
        empty |= extent == 0;
        if (extent > 1 && (__builtin_mul_overflow(stride, extent, &stride) ||
                           __builtin_mul_overflow(total, extent, &total)))
            return false;
    }
    *bytes = empty ? 0 : (uint64_t)total;
    return total <= (int64_t)1 << 62;
}

static ts_status array_check_shape(ts_dtype dtype, uint32_t rank, const int64_t *shape, ts_error *err)
{
    if (dtype <= TS_DTYPE_NONE || dtype >= TS_DTYPE_COUNT)
        return ts_fail(err, TS_TYPE, "dtype %d is unknown", (int)dtype);
    if (rank > TS_ARRAY_RANK)
        return ts_fail(err, TS_SHAPE, "an array of %u axes is not possible; the most is %d", rank, TS_ARRAY_RANK);
    for (uint32_t d = 0; d < rank; d++)
        if (shape[d] < 0)
            return ts_fail(err, TS_SHAPE, "axis %u has the negative extent %lld", d, (long long)shape[d]);
    return TS_OK;
}

ts_status ts__array_new(ts_buffer *buffer, void *data, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                        const int64_t *strides, uint32_t flags, ts_array **out, ts_error *err)
{
    const ts_alloc *alloc = buffer->device->alloc;
    ts_array *array = ts__new(alloc, sizeof *array);
    *out = NULL;
    if (!array)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    *array = (ts_array){.buffer = buffer, .data = data, .device = buffer->device, .dtype = (uint8_t)dtype,
                        .rank = (uint8_t)rank, .flags = (uint8_t)flags, .references = 1, .alloc = alloc};
    for (uint32_t d = 0; d < rank; d++) {
        array->shape[d] = shape[d];
        array->strides[d] = strides[d];
    }
    *out = array;
    return TS_OK;
}

ts_status ts_array_empty(ts_device *device, const ts_stream *stream, ts_dtype dtype, uint32_t rank,
                         const int64_t *shape, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_NEED_N(err, shape, rank);
    int64_t strides[TS_ARRAY_RANK];
    uint64_t bytes;
    ts_buffer *buffer;
    TS_TRY(array_check_shape(dtype, rank, shape, err));
    if (!ts__array_dense(dtype, rank, shape, strides, &bytes))
        return ts_fail(err, TS_SHAPE, "the array would have more than 2^62 bytes");
    TS_TRY(ts_buffer_create(device, stream, bytes, &buffer, err));
    ts_status status = ts__array_new(buffer, buffer->data, dtype, rank, shape, strides, 0, out, err);
    if (status != TS_OK)
        ts_buffer_release(buffer);
    return status;
}

ts_status ts_array_full(ts_device *device, const ts_stream *stream, ts_dtype dtype, uint64_t bits, uint32_t rank,
                        const int64_t *shape, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_NEED_N(err, shape, rank);
    TS_TRY(ts_array_empty(device, stream, dtype, rank, shape, out, err));
    if (!stream)
        stream = ts_device_default_stream(device);
    uint32_t bytes = (uint32_t)ts_dtype_bytes(dtype), word = TS_MIN(bytes, (uint32_t)sizeof bits);
    uint64_t words = (uint64_t)ts_array_count(*out) * (bytes / word);
    ts_status status = ts_mem_fill(stream, (*out)->data, bits, word, words, err);
    if (status != TS_OK) {
        ts_array_release(*out);
        *out = NULL;
    }
    return status;
}

ts_status ts_array_zeros(ts_device *device, const ts_stream *stream, ts_dtype dtype, uint32_t rank,
                         const int64_t *shape, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_NEED_N(err, shape, rank);
    return ts_array_full(device, stream, dtype, 0, rank, shape, out, err);
}

void ts__array_strides(const ts_layout *layout, bool empty, int64_t *strides)
{
    uint64_t dense = layout->stride_bytes == 1 ? layout->item_bytes : 1;
    for (int32_t d = layout->rank; d-- > 0;) {
        bool is_used = layout->strides && !empty && layout->shape[d] > 1;
        strides[d] = is_used ? layout->strides[d] : (int64_t)dense;
        dense *= layout->shape[d] > 1 ? (uint64_t)layout->shape[d] : 1;
    }
}

ts_status ts_array_of(ts_buffer *buffer, uint64_t offset, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                      const int64_t *strides, ts_array **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, buffer);
    TS_NEED_N(err, shape, rank);
    int64_t kept[TS_ARRAY_RANK];
    layout_span span = {0};
    TS_TRY(array_check_shape(dtype, rank, shape, err));
    TS_TRY(ts_buffer_check(buffer, err));
    uint32_t bytes = (uint32_t)ts_dtype_bytes(dtype);
    bool is_inside = offset <= buffer->bytes;
    ts_layout layout = {(char *)buffer->data + (is_inside ? offset : 0), (int32_t)rank, bytes, bytes, shape, strides};
    layout_flaw flaw = ts__layout_flaw(&layout, TS_ARRAY_RANK, &span);
    if (flaw == LAYOUT_EXTENT || flaw == LAYOUT_COUNT)
        return ts__layout_fail(flaw, &layout, TS_ARRAY_RANK, err);
    if (!is_inside || flaw == LAYOUT_REACH || span.low < -(int64_t)offset ||
        span.high > (int64_t)(buffer->bytes - offset))
        return ts_fail(err, TS_SHAPE, "the array would reach outside its buffer of %llu bytes",
                       (unsigned long long)buffer->bytes);
    ts__array_strides(&layout, span.empty, kept);
    TS_TRY(ts__array_new(buffer, (char *)buffer->data + offset, dtype, rank, shape, kept, 0, out, err));
    ts_buffer_retain(buffer);
    return TS_OK;
}

void ts_array_retain(ts_array *array)
{
    __atomic_fetch_add(&array->references, 1, __ATOMIC_RELAXED);
}

void ts_array_release(ts_array *array)
{
    if (!array || __atomic_fetch_sub(&array->references, 1, __ATOMIC_ACQ_REL) != 1)
        return;
    ts_buffer *buffer = array->buffer;
    ts__delete(array->alloc, array, sizeof *array);
    ts_buffer_release(buffer);
}

int64_t ts_array_count(const ts_array *array)
{
    int64_t count = 1;
    for (uint32_t d = 0; d < array->rank; d++)
        count *= array->shape[d];
    return count;
}

bool ts_array_is_contiguous(const ts_array *array)
{
    int64_t stride = 1;
    for (uint32_t d = 0; d < array->rank; d++)
        if (array->shape[d] == 0)
            return true;
    for (uint32_t d = array->rank; d-- > 0; stride *= array->shape[d])
        if (array->shape[d] != 1 && array->strides[d] != stride)
            return false;
    return true;
}

void ts_arg_of_array(const ts_array *array, ts_arg *out)
{
    *out = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = array->dtype, .rank = array->rank, .device = array->device->id,
                    .value.data = array->data, .shape = array->shape, .strides = array->strides,
                    .buffer = array->buffer, .readonly = (array->flags & TS_ARRAY_READONLY) != 0};
}
