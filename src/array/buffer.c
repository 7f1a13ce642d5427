/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers: counted device memory, given back in the order of the stream it was allocated on, or when all
 * streams are done if others used it too.
 */
#include "array/array.h"

ts_status ts_buffer_create(ts_device *device, const ts_stream *stream, uint64_t bytes, ts_buffer **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    if (!stream)
        stream = ts_device_default_stream(device);
    ts_buffer *buffer = ts__new(device->alloc, sizeof *buffer);
    if (!buffer)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    buffer->epoch = ts_device_epoch(device);
    ts_status status = ts_mem_alloc(device, stream, bytes, &buffer->data, err);
    if (status != TS_OK) {
        ts__delete(device->alloc, buffer, sizeof *buffer);
        return status;
    }
    atomic_store(&buffer->references, 1);
    buffer->device = device;
    buffer->stream = *stream;
    buffer->bytes = bytes;
    if (stream->impl)
        device->ops->stream_retain(&buffer->stream);
    *out = buffer;
    return TS_OK;
}

ts_status ts_buffer_wrap(ts_device *device, void *data, uint64_t bytes, void (*release)(void *user), void *user,
                         ts_buffer **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    TS_NEED_N(err, data, bytes);
    ts_buffer *buffer = ts__new(device->alloc, sizeof *buffer);
    if (!buffer)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    atomic_store(&buffer->references, 1);
    buffer->device = device;
    buffer->epoch = ts_device_epoch(device);
    buffer->data = data;
    buffer->bytes = bytes;
    buffer->release = release;
    buffer->user = user;
    *out = buffer;
    return TS_OK;
}

void ts_buffer_retain(ts_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->references, 1, memory_order_relaxed);
}

/* The memory of a reset GPU went with the reset (that of the CPU is only out of bounds); the stream's hold
 * is dropped in any case. A wrapped buffer has no stream. */
static void buffer_give_back(ts_buffer *buffer)
{
    ts_device *device = buffer->device;
    bool is_there = buffer->epoch == ts_device_epoch(device) || device->ops->caps & TS_DEVICE_HOST_MEMORY;
    if (buffer->release)
        buffer->release(buffer->user);
    else if (buffer->stream.device && buffer->data && is_there) {
        if (atomic_load(&buffer->shared))
            device->ops->free_shared(device, buffer->data, buffer->bytes);
        else
            ts_mem_free(device, &buffer->stream, buffer->data, buffer->bytes);
    }
    if (buffer->stream.impl)
        device->ops->stream_release(&buffer->stream);
}

ts_status ts_buffer_free(ts_buffer *buffer, ts_error *err)
{
    TS_NEED(err, buffer);
    uint32_t lent = 0;
    if (atomic_compare_exchange_strong(&buffer->lent, &lent, BUFFER_FREED))
        buffer_give_back(buffer);
    else if (lent != BUFFER_FREED)
        return ts_fail(err, TS_BUFFER, "the array's memory is lent to another library (%u export%s); drop those first",
                       lent, lent == 1 ? "" : "s");
    return TS_OK;
}

/* A failing exchange reads the count anew: a free or another lend came between. */
ts_status ts_buffer_lend(ts_buffer *buffer, ts_error *err)
{
    TS_NEED(err, buffer);
    uint32_t lent = atomic_load(&buffer->lent);
    do {
        TS_TRY(ts_buffer_check(buffer, err));
        if (lent >= BUFFER_FREED - 1)
            return ts_fail(err, TS_BUFFER, "the array's memory has too many exports (%u); drop some first", lent);
    } while (!atomic_compare_exchange_weak(&buffer->lent, &lent, lent + 1));
    return TS_OK;
}

void ts_buffer_unlend(ts_buffer *buffer)
{
    atomic_fetch_sub(&buffer->lent, 1);
}

void ts_buffer_release(ts_buffer *buffer)
{
    if (!buffer || atomic_fetch_sub(&buffer->references, 1) != 1)
        return;
    if (atomic_load(&buffer->lent) != BUFFER_FREED)
        buffer_give_back(buffer);
    ts__delete(buffer->device->alloc, buffer, sizeof *buffer);
}

ts_status ts_buffer_check(const ts_buffer *buffer, ts_error *err)
{
    TS_NEED(err, buffer);
    if (ts__buffer_is_there(buffer))
        return TS_OK;
    return ts_fail(err, TS_BUFFER, atomic_load_explicit(&buffer->lent, memory_order_relaxed) == BUFFER_FREED
                                       ? "the memory of this array was freed"
                                       : "the memory of this array was lost when its device was reset");
}

void ts_buffer_note_stream(const ts_buffer *buffer, const ts_stream *stream)
{
    ts__buffer_note_stream(buffer, stream);
}

void *ts_buffer_data(const ts_buffer *buffer)
{
    return buffer->data;
}

uint64_t ts_buffer_bytes(const ts_buffer *buffer)
{
    return buffer->bytes;
}

ts_device *ts_buffer_device(const ts_buffer *buffer)
{
    return buffer->device;
}
