/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of arrays to and from host memory of any strides, and between devices. On the CPU device elements
 * are walked where they lie. Elsewhere a contiguous array is one transfer; a strided one is moved as
 * the byte range it spans and picked apart on the host.
 */
#include "array/array.h"

/* ---- walking host memory -------------------------------------------------------------------------- */

/* Drops axes of extent 1 and joins neighbours that both sides pass through without a jump. */
static void walk_simplify(array_walk *walk)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < walk->rank; d++) {
        int64_t dim = walk->dims[d];
        if (dim == 1)
            continue;
        if (n && walk->to[n - 1] == walk->to[d] * dim && walk->from[n - 1] == walk->from[d] * dim) {
            walk->dims[n - 1] *= dim;
            walk->to[n - 1] = walk->to[d];
            walk->from[n - 1] = walk->from[d];
            continue;
        }
        walk->dims[n] = dim;
        walk->to[n] = walk->to[d];
        walk->from[n++] = walk->from[d];
    }
    walk->rank = n;
}

typedef struct walk_pair { /* complex128 */
    uint64_t word[2];
} walk_pair;

#define WALK_ROW(T)                                                                                \
    for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)                              \
    memcpy(to, from, sizeof(T))

static void walk_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, uint32_t bytes)
{
    if (to_step == bytes && from_step == bytes)
        memmove(to, from, (size_t)n * bytes);
    else if (bytes == 1)
        WALK_ROW(uint8_t);
    else if (bytes == 2)
        WALK_ROW(uint16_t);
    else if (bytes == 4)
        WALK_ROW(uint32_t);
    else if (bytes == 8)
        WALK_ROW(uint64_t);
    else
        WALK_ROW(walk_pair);
}

static void walk_axis(const array_walk *walk, uint32_t axis, char *to, const char *from)
{
    if (axis + 1 >= walk->rank) {
        walk_row(to, walk->to[axis], from, walk->from[axis], walk->dims[axis], walk->bytes);
        return;
    }
    for (int64_t i = 0; i < walk->dims[axis]; i++)
        walk_axis(walk, axis + 1, to + i * walk->to[axis], from + i * walk->from[axis]);
}

void ts__walk_copy(array_walk walk, char *to, const char *from)
{
    for (uint32_t d = 0; d < walk.rank; d++)
        if (walk.dims[d] == 0)
            return;
    walk_simplify(&walk);
    if (walk.rank == 0)
        memcpy(to, from, walk.bytes);
    else
        walk_axis(&walk, 0, to, from);
}

/* ---- strides in bytes -------------------------------------------------------------------------------- */

static void copy_strides(const ts_array *array, int64_t *out)
{
    for (uint32_t d = 0; d < array->rank; d++)
        out[d] = array->strides[d] * (int64_t)ts_dtype_bytes((ts_dtype)array->dtype);
}

static void copy_dense(const ts_array *array, int64_t *out)
{
    int64_t stride = (int64_t)ts_dtype_bytes((ts_dtype)array->dtype);
    for (uint32_t d = array->rank; d-- > 0; stride *= array->shape[d])
        out[d] = stride;
}

static array_walk copy_walk(const ts_array *array, const int64_t *to, const int64_t *from)
{
    array_walk walk = {.rank = array->rank, .bytes = (uint32_t)ts_dtype_bytes((ts_dtype)array->dtype)};
    memcpy(walk.dims, array->shape, sizeof walk.dims);
    memcpy(walk.to, to, sizeof *to * array->rank);
    memcpy(walk.from, from, sizeof *from * array->rank);
    return walk;
}

static bool copy_is_dense(const ts_array *array, const int64_t *strides)
{
    int64_t dense[TS_ARRAY_RANK];
    copy_dense(array, dense);
    for (uint32_t d = 0; d < array->rank; d++)
        if (array->shape[d] > 1 && strides[d] != dense[d])
            return false;
    return true;
}

/* Where the array's bytes begin relative to element [0, ...], and how many they span. */
static int64_t copy_span(const ts_array *array, uint64_t *bytes)
{
    int64_t strides[TS_ARRAY_RANK], low = 0, high = (int64_t)ts_dtype_bytes((ts_dtype)array->dtype);
    copy_strides(array, strides);
    for (uint32_t d = 0; d < array->rank; d++) {
        int64_t reach = (array->shape[d] - 1) * strides[d];
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    *bytes = (uint64_t)(high - low);
    return low;
}

/* ---- host <-> array ------------------------------------------------------------------------------------- */

typedef struct copy_job {
    const ts_array *array;
    const ts_stream *stream;
    char *host;               /* element [0, ...] */
    const int64_t *host_strides;
    bool to_host;
} copy_job;

/* One transfer, waited for: the host side may be page-locked memory of another library. The wait has no
 * limit, because the host memory must not be given back while the device is at it. */
static ts_status copy_move(const copy_job *job, char *host, char *device, uint64_t bytes, ts_error *err)
{
    if (job->to_host)
        TS_TRY(ts_mem_copy(job->stream, host, TS_MEM_HOST, device, TS_MEM_DEVICE, bytes, err));
    else
        TS_TRY(ts_mem_copy(job->stream, device, TS_MEM_DEVICE, host, TS_MEM_HOST, bytes, err));
    if (job->array->device->ops->caps & TS_DEVICE_HOST_MEMORY)
        return TS_OK; /* its copies of host memory are done on return */
    return ts_stream_sync(job->stream, TS_FOREVER, err);
}

static ts_status copy_whole(const copy_job *job, ts_error *err)
{
    const ts_array *array = job->array;
    uint64_t bytes = (uint64_t)ts_array_count(array) * ts_dtype_bytes((ts_dtype)array->dtype);
    return copy_move(job, job->host, array->data, bytes, err);
}

/* Elements lie in host memory: wait for the stream, then walk. */
static ts_status copy_on_cpu(const copy_job *job, ts_error *err)
{
    int64_t strides[TS_ARRAY_RANK];
    copy_strides(job->array, strides);
    TS_TRY(ts_stream_sync(job->stream, TS_FOREVER, err));
    if (job->to_host)
        ts__walk_copy(copy_walk(job->array, job->host_strides, strides), job->host, job->array->data);
    else
        ts__walk_copy(copy_walk(job->array, strides, job->host_strides), job->array->data, job->host);
    return TS_OK;
}

/* Through `room`, which holds the bytes that the array spans, as they lie on the device. */
static ts_status copy_staged(const copy_job *job, char *room, int64_t low, uint64_t bytes, ts_error *err)
{
    int64_t strides[TS_ARRAY_RANK];
    const ts_array *array = job->array;
    char *device = (char *)array->data + low, *first = room - low;
    copy_strides(array, strides);
    if (job->to_host || !ts_array_is_contiguous(array)) { /* bytes between the elements must survive */
        copy_job fetch = *job;
        fetch.to_host = true;
        TS_TRY(copy_move(&fetch, room, device, bytes, err));
    }
    if (job->to_host) {
        ts__walk_copy(copy_walk(array, job->host_strides, strides), job->host, first);
        return TS_OK;
    }
    ts__walk_copy(copy_walk(array, strides, job->host_strides), first, job->host);
    return copy_move(job, room, device, bytes, err);
}

static ts_status copy_off_cpu(const copy_job *job, ts_error *err)
{
    const ts_alloc *alloc = job->array->alloc;
    uint64_t bytes;
    int64_t low = copy_span(job->array, &bytes);
    char *room = alloc->resize(alloc->user, NULL, 0, bytes);
    if (!room)
        return ts_fail(err, TS_NOMEM, "out of host memory for %llu bytes of a strided copy", (unsigned long long)bytes);
    ts_status status = copy_staged(job, room, low, bytes, err);
    ts__delete(alloc, room, bytes);
    return status;
}

static ts_status copy_host(copy_job job, ts_error *err)
{
    int64_t dense[TS_ARRAY_RANK];
    TS_TRY(ts_buffer_check(job.array->buffer, err));
    if (ts_array_count(job.array) == 0)
        return TS_OK;
    if (!job.host)
        return ts_fail(err, TS_VALUE, "cannot copy an array from or to address 0");
    if (!job.stream)
        job.stream = ts_device_default_stream(job.array->device);
    copy_dense(job.array, dense);
    if (!job.host_strides)
        job.host_strides = dense;
    ts_buffer_note_stream(job.array->buffer, job.stream);
    if (ts_array_is_contiguous(job.array) && copy_is_dense(job.array, job.host_strides))
        return copy_whole(&job, err);
    return job.array->device->ops->caps & TS_DEVICE_HOST_MEMORY ? copy_on_cpu(&job, err) : copy_off_cpu(&job, err);
}

ts_status ts_array_from_host(ts_array *array, const ts_stream *stream, const void *host, const int64_t *host_strides,
                             ts_error *err)
{
    TS_NEED(err, array);
    if (array->flags & TS_ARRAY_READONLY)
        return ts_fail(err, TS_BUFFER, "the array is read-only; copy it to change it");
    return copy_host((copy_job){array, stream, (char *)(uintptr_t)host, host_strides, false}, err);
}

ts_status ts_array_to_host(const ts_array *array, const ts_stream *stream, void *host, const int64_t *host_strides,
                           ts_error *err)
{
    TS_NEED(err, array);
    return copy_host((copy_job){array, stream, host, host_strides, true}, err);
}

/* ---- array -> array --------------------------------------------------------------------------------------- */

/* Through host memory, or straight where one side is host memory. */
static ts_status copy_across(const ts_array *from, ts_array *to, const ts_stream *stream, ts_error *err)
{
    int64_t strides[TS_ARRAY_RANK];
    const ts_alloc *alloc = from->alloc;
    const ts_stream *to_stream = to->device == from->device ? stream : NULL;
    uint64_t bytes = (uint64_t)ts_array_count(from) * ts_dtype_bytes((ts_dtype)from->dtype);
    copy_strides(from, strides);
    if (from->device->ops->caps & TS_DEVICE_HOST_MEMORY) {
        TS_TRY(ts_stream_sync(stream, TS_FOREVER, err));
        return ts_array_from_host(to, to_stream, from->data, strides, err);
    }
    if (to->device->ops->caps & TS_DEVICE_HOST_MEMORY)
        return ts_array_to_host(from, stream, to->data, NULL, err);
    void *room = alloc->resize(alloc->user, NULL, 0, bytes);
    if (!room)
        return ts_fail(err, TS_NOMEM, "out of host memory for %llu bytes of a copy", (unsigned long long)bytes);
    ts_status status = ts_array_to_host(from, stream, room, NULL, err);
    if (status == TS_OK)
        status = ts_array_from_host(to, to_stream, room, NULL, err);
    ts__delete(alloc, room, bytes);
    return status;
}

ts_status ts_array_copy(const ts_array *array, ts_device *device, const ts_stream *stream, ts_array **out,
                        ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, array);
    TS_TRY(ts_buffer_check(array->buffer, err));
    if (!device)
        device = array->device;
    if (!stream || stream->device != array->device)
        stream = ts_device_default_stream(array->device);
    TS_TRY(ts_array_empty(device, stream->device == device ? stream : NULL, (ts_dtype)array->dtype, array->rank,
                          array->shape, out, err));
    ts_array *to = *out;
    ts_status status = TS_OK;
    uint64_t bytes = (uint64_t)ts_array_count(array) * ts_dtype_bytes((ts_dtype)array->dtype);
    ts_buffer_note_stream(array->buffer, stream);
    if (bytes && device == array->device && ts_array_is_contiguous(array))
        status = ts_mem_copy(stream, to->data, TS_MEM_DEVICE, array->data, TS_MEM_DEVICE, bytes, err);
    else if (bytes)
        status = copy_across(array, to, stream, err);
    if (status != TS_OK) {
        ts_array_release(to);
        *out = NULL;
    }
    return status;
}
