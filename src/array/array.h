/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside arrays: buffers, and strided copies between places in host memory.
 */
#ifndef TS_ARRAY_ARRAY_H
#define TS_ARRAY_ARRAY_H

#include "device/device.h"
#include "tessera/array.h"

enum { BUFFER_FREED = INT32_MAX }; /* of ts_buffer.lent */

struct ts_buffer {
    _Atomic uint32_t references;
    _Atomic uint32_t lent;  /* exports, or BUFFER_FREED: one word, so that lending and freeing exclude each other */
    _Atomic bool shared;    /* used by a stream that is not its own */
    ts_device *device;
    ts_stream stream;       /* where it was allocated; impl is held */
    uint32_t epoch;
    void *data;
    uint64_t bytes;
    void (*release)(void *user); /* memory of another owner; NULL: ours */
    void *user;
};

/* Whether the memory is there: neither freed nor lost in a reset of its device, which takes that of others too, unless
 * it is the host's. ts_buffer_check says what is wrong. */
static inline bool ts__buffer_is_there(const ts_buffer *buffer)
{
    return atomic_load_explicit(&buffer->lent, memory_order_relaxed) != BUFFER_FREED &&
           (buffer->epoch == atomic_load_explicit(&buffer->device->epoch, memory_order_relaxed) ||
            (buffer->release && buffer->device->ops->caps & TS_DEVICE_HOST_MEMORY));
}

/* Whether it is memory of ours that one reference alone knows, on its own stream. */
static inline bool ts__buffer_is_alone(const ts_buffer *buffer)
{
    return atomic_load_explicit(&buffer->references, memory_order_relaxed) == 1 && !buffer->release &&
           !atomic_load_explicit(&buffer->lent, memory_order_relaxed) &&
           !atomic_load_explicit(&buffer->shared, memory_order_relaxed);
}

/* ts_buffer_note_stream. */
static inline void ts__buffer_note_stream(const ts_buffer *buffer, const ts_stream *stream)
{
    if (stream->native != buffer->stream.native && buffer->stream.device)
        atomic_store_explicit((_Atomic bool *)(uintptr_t)&buffer->shared, true, memory_order_relaxed);
}

/* dims[d] elements of `bytes` each, strides in bytes of any sign; `to` and `from` are element [0, ...]. */
typedef struct array_walk {
    uint32_t rank, bytes;
    int64_t dims[TS_ARRAY_RANK], to[TS_ARRAY_RANK], from[TS_ARRAY_RANK];
} array_walk;
void ts__walk_copy(array_walk walk, char *to, const char *from);

/* A new array on `buffer`, taking that reference on success; shape and strides are copied. */
TS_CHECKED ts_status ts__array_new(ts_buffer *buffer, void *data, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                                   const int64_t *strides, uint32_t flags, ts_array **out, ts_error *err);
/* Strides of a layout that passed the check, in its unit; those of axes with fewer than two elements, which are never
 * used, become row-major, so that all can be scaled and added. */
void ts__array_strides(const ts_layout *layout, bool empty, int64_t *strides);
/* Row-major strides; false if the bytes of the array overflow. */
bool ts__array_dense(ts_dtype dtype, uint32_t rank, const int64_t *shape, int64_t *strides, uint64_t *bytes);

#endif
