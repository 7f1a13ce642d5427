/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events of a GPU: thin covers of the driver's. Ours do not wait for the legacy stream; the default
 * stream is the legacy one. A stream that was destroyed but is still held by memory acts as the default one.
 * Bounded waits ask the driver again and again, since it has no wait with a limit.
 */
#include "device/cuda/cuda.h"
#include <errno.h>
#include <sched.h>
#include <time.h>

#define STREAM_BUSY_NS ((int64_t)200000)    /* ask and ask */
#define STREAM_YIELD_NS ((int64_t)10000000) /* ask and let others run: pauses last 50 us longer than was asked for */
#define STREAM_PAUSE_PART 256               /* of the time waited, so that a wait is at most 1 % too long */
#define STREAM_PAUSE_MAX_NS ((int64_t)500000)

typedef struct cuda_event {
    ts_event base;
    cuda_event_t native;
    uint32_t epoch;
} cuda_event;

/* ---- life of streams ------------------------------------------------------------------------------- */

ts_status cuda_stream_of(const ts_stream *stream, cuda_stream_t *out, ts_error *err)
{
    const cuda_stream *own = stream->impl;
    *out = (cuda_stream_t)stream->native;
    if (!own || own->base.native == 0)
        return TS_OK;
    if (own->epoch != ts_device_epoch(stream->device))
        return ts_fail(err, TS_RUNTIME, "this stream was made before its device was reset; make a new one");
    if (own->closed)
        *out = NULL;
    return TS_OK;
}

ts_status cuda_stream_add(cuda_device *device, cuda_stream_t native, cuda_stream **out, ts_error *err)
{
    cuda_stream *stream = ts__new(device->base.alloc, sizeof *stream);
    *out = NULL;
    if (!stream)
        return ts_fail(err, TS_NOMEM, "out of memory for a stream");
    stream->base = (ts_stream){&device->base, (uintptr_t)native, stream};
    stream->references = 1;
    stream->epoch = ts_device_epoch(&device->base);
    pthread_mutex_lock(&device->lock);
    stream->next = device->streams;
    stream->link = &device->streams;
    if (stream->next)
        stream->next->link = &stream->next;
    device->streams = stream;
    pthread_mutex_unlock(&device->lock);
    *out = stream;
    return TS_OK;
}

ts_status cuda_stream_adopt(ts_device *handle, uintptr_t native, ts_stream **out, ts_error *err)
{
    cuda_stream *stream;
    TS_TRY(cuda_stream_add(cuda_of(handle), (cuda_stream_t)native, &stream, err));
    stream->adopted = true;
    *out = &stream->base;
    return TS_OK;
}

static cuda_result stream_new(const cuda_driver *fn, const ts_stream_options *options, cuda_stream_t *out)
{
    unsigned flags = options && options->blocking ? 0 : CUDA_STREAM_NON_BLOCKING;
    return options && options->has_priority ? fn->StreamCreateWithPriority(out, flags, options->priority)
                                            : fn->StreamCreate(out, flags);
}

ts_status cuda_stream_make(ts_device *handle, const ts_stream_options *options, ts_stream **out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    cuda_stream_t native;
    cuda_stream *stream = NULL;
    TS_TRY(cuda_enter(device, &before, err));
    cuda_result code = stream_new(fn, options, &native);
    ts_status status = code == CUDA_OK ? cuda_stream_add(device, native, &stream, err)
                                       : cuda_fail(device, code, err, "making a stream");
    if (stream)
        *out = &stream->base;
    else if (code == CUDA_OK)
        (void)fn->StreamDestroy(native);
    cuda_leave(device, before);
    return status;
}

void cuda_stream_retain(ts_stream *handle)
{
    cuda_device *device = cuda_of(handle->device);
    pthread_mutex_lock(&device->lock);
    ((cuda_stream *)handle->impl)->references++;
    pthread_mutex_unlock(&device->lock);
}

void cuda_stream_release(ts_stream *handle)
{
    cuda_device *device = cuda_of(handle->device);
    cuda_stream *stream = handle->impl;
    pthread_mutex_lock(&device->lock);
    bool last = --stream->references == 0;
    if (last) {
        cuda_drop_kept(device, stream, true); /* empty by now: closing gave it back */
        *stream->link = stream->next;
        if (stream->next)
            stream->next->link = stream->link;
    }
    pthread_mutex_unlock(&device->lock);
    if (last) {
        ts__delete(device->base.alloc, stream->kept, CUDA_CLASSES * sizeof *stream->kept);
        ts__delete(device->base.alloc, stream, sizeof *stream);
    }
}

void cuda_stream_end(ts_stream *handle)
{
    cuda_device *device = cuda_of(handle->device);
    cuda_stream *stream = handle->impl;
    cuda_context before;
    if (stream->epoch == ts_device_epoch(handle->device) && cuda_enter(device, &before, NULL) == TS_OK) {
        pthread_mutex_lock(&device->lock);
        cuda_drop_kept(device, stream, false); /* in the order of the stream's work */
        stream->closed = true;
        pthread_mutex_unlock(&device->lock);
        (void)device->cuda->fn.StreamDestroy((cuda_stream_t)handle->native);
        cuda_leave(device, before);
    }
    stream->closed = true;
    cuda_stream_release(handle);
}

/* ---- waiting ------------------------------------------------------------------------------------------ */

static ts_status stream_interrupted(ts_error *err, const char *why)
{
    return ts_fail(err, TS_INTERRUPTED, "%s", why);
}

ts_status cuda_poll(cuda_device *device, cuda_result (*query)(void *), void *what, int64_t limit_ns, ts_error *err)
{
    int64_t start = ts__now_ns(), deadline = ts__deadline(limit_ns);
    for (;;) {
        cuda_result code = query(what);
        if (code != CUDA_NOT_READY)
            return code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "waiting for the device");
        int64_t now = ts__now_ns();
        if (now >= deadline)
            return stream_interrupted(err, "the time to wait is over; the work goes on");
        if (now - start < STREAM_BUSY_NS)
            continue;
        if (now - start < STREAM_YIELD_NS) {
            (void)sched_yield();
            continue;
        }
        struct timespec rest = {0, (long)TS_MIN((now - start) / STREAM_PAUSE_PART, STREAM_PAUSE_MAX_NS)};
        if (nanosleep(&rest, NULL) != 0 && errno == EINTR)
            return stream_interrupted(err, "interrupted by a signal while waiting");
    }
}

/* Makes the device's context current and gives the driver's stream; after an error there is nothing to leave. */
static ts_status stream_enter(const ts_stream *handle, cuda_context *before, cuda_stream_t *native, ts_error *err)
{
    cuda_device *device = cuda_of(handle->device);
    TS_TRY(cuda_enter(device, before, err));
    ts_status status = cuda_stream_of(handle, native, err);
    if (status != TS_OK)
        cuda_leave(device, *before);
    return status;
}

ts_status cuda_stream_sync(const ts_stream *handle, int64_t limit_ns, ts_error *err)
{
    cuda_device *device = cuda_of(handle->device);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(stream_enter(handle, &before, &native, err));
    ts_status status;
    if (limit_ns == TS_FOREVER) {
        cuda_result code = fn->StreamSynchronize(native);
        status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "waiting for a stream");
    } else
        status = cuda_poll(device, fn->StreamQuery, native, limit_ns, err);
    if (status == TS_OK)
        status = cuda_fault_collect(device, (uintptr_t)native, CUDA_ALL_FAULTS, err);
    cuda_leave(device, before);
    return status;
}

ts_status cuda_stream_done(const ts_stream *handle, bool *done, ts_error *err)
{
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(stream_enter(handle, &before, &native, err));
    cuda_result code = device->cuda->fn.StreamQuery(native);
    *done = code == CUDA_OK;
    bool known = code == CUDA_OK || code == CUDA_NOT_READY;
    ts_status status = known ? TS_OK : cuda_fail(device, code, err, "asking for the state of a stream");
    cuda_leave(device, before);
    return status;
}

ts_status cuda_stream_call(const ts_stream *handle, void (*function)(void *), void *user, ts_error *err)
{
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(stream_enter(handle, &before, &native, err));
    cuda_result code = device->cuda->fn.LaunchHostFunc(native, function, user);
    ts_status status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "queueing a call");
    cuda_leave(device, before);
    return status;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

ts_status cuda_event_adopt(ts_device *handle, uintptr_t native, uint32_t flags, ts_event **out, ts_error *err)
{
    cuda_event *event = ts__new(handle->alloc, sizeof *event);
    if (!event)
        return ts_fail(err, TS_NOMEM, "out of memory for an event");
    *event = (cuda_event){{handle, flags}, (cuda_event_t)native, ts_device_epoch(handle)};
    *out = &event->base;
    return TS_OK;
}

/* An event can be recorded on streams of its own context only; streams of ours are of the primary one. */
static cuda_result event_new(cuda_device *device, const ts_stream *stream, uint32_t flags, cuda_event_t *out)
{
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context own = NULL, before = NULL;
    if (!stream || stream->native <= CUDA_STREAM_PER_THREAD)
        return fn->EventCreate(out, flags);
    if (cuda_stream_is_primary(stream))
        own = device->context;
    else if (fn->StreamGetCtx((cuda_stream_t)stream->native, &own) != CUDA_OK)
        return fn->EventCreate(out, flags);
    if (fn->CtxGetCurrent(&before) || own == before || fn->CtxSetCurrent(own))
        return fn->EventCreate(out, flags);
    cuda_result code = fn->EventCreate(out, flags);
    (void)fn->CtxSetCurrent(before);
    return code;
}

ts_status cuda_event_create(ts_device *handle, const ts_stream *stream, uint32_t flags, ts_event **out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    cuda_event_t native;
    bool is_primary;
    TS_TRY(cuda_enter_chosen(device, &before, &is_primary, err));
    cuda_result code = event_new(device, stream, flags, &native);
    ts_status status = code == CUDA_OK ? cuda_event_adopt(handle, (uintptr_t)native, flags, out, err)
                                       : cuda_fail(device, code, err, "making an event");
    if (status != TS_OK && code == CUDA_OK)
        (void)fn->EventDestroy(native);
    cuda_leave(device, before);
    return status;
}

uintptr_t cuda_event_native(const ts_event *event)
{
    return (uintptr_t)((const cuda_event *)event)->native;
}

void cuda_event_destroy(ts_event *handle)
{
    cuda_event *event = (cuda_event *)handle;
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    if (event->epoch == ts_device_epoch(handle->device) && cuda_enter(device, &before, NULL) == TS_OK) {
        (void)device->cuda->fn.EventDestroy(event->native);
        cuda_leave(device, before);
    }
    ts__delete(handle->device->alloc, event, sizeof *event);
}

static ts_status event_check(const cuda_event *event, ts_error *err)
{
    if (event->epoch == ts_device_epoch(event->base.device))
        return TS_OK;
    return ts_fail(err, TS_RUNTIME, "this event was made before its device was reset; make a new one");
}

/* Everything an event call begins with. */
static ts_status event_enter(const cuda_event *event, cuda_context *before, ts_error *err)
{
    TS_TRY(event_check(event, err));
    return cuda_enter(cuda_of(event->base.device), before, err);
}

ts_status cuda_event_record(ts_event *handle, const ts_stream *stream, ts_error *err)
{
    cuda_event *event = (cuda_event *)handle;
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(event_enter(event, &before, err));
    ts_status status = cuda_stream_of(stream, &native, err);
    if (status == TS_OK) {
        cuda_result code = device->cuda->fn.EventRecord(event->native, native);
        status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "recording an event");
    }
    cuda_leave(device, before);
    return status;
}

ts_status cuda_stream_wait_event(const ts_stream *stream, ts_event *handle, ts_error *err)
{
    cuda_event *event = (cuda_event *)handle;
    cuda_device *device = cuda_of(stream->device);
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(event_check(event, err));
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = cuda_stream_of(stream, &native, err);
    if (status == TS_OK) {
        cuda_result code = device->cuda->fn.StreamWaitEvent(native, event->native, 0);
        status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "letting a stream wait for an event");
    }
    cuda_leave(device, before);
    return status;
}

ts_status cuda_event_sync(ts_event *handle, int64_t limit_ns, ts_error *err)
{
    cuda_event *event = (cuda_event *)handle;
    cuda_device *device = cuda_of(handle->device);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    TS_TRY(event_enter(event, &before, err));
    ts_status status;
    if (limit_ns == TS_FOREVER) {
        cuda_result code = fn->EventSynchronize(event->native);
        status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "waiting for an event");
    } else
        status = cuda_poll(device, fn->EventQuery, event->native, limit_ns, err);
    cuda_leave(device, before);
    return status;
}

ts_status cuda_event_done(ts_event *handle, bool *done, ts_error *err)
{
    cuda_event *event = (cuda_event *)handle;
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    TS_TRY(event_enter(event, &before, err));
    cuda_result code = device->cuda->fn.EventQuery(event->native);
    *done = code == CUDA_OK;
    ts_status status = code == CUDA_OK || code == CUDA_NOT_READY
                           ? TS_OK
                           : cuda_fail(device, code, err, "asking for the state of an event");
    cuda_leave(device, before);
    return status;
}

ts_status cuda_event_elapsed(ts_event *begin, ts_event *end, double *ns, ts_error *err)
{
    cuda_event *from = (cuda_event *)begin, *to = (cuda_event *)end;
    cuda_device *device = cuda_of(begin->device);
    cuda_context before;
    float ms = 0;
    TS_TRY(event_check(to, err));
    TS_TRY(event_enter(from, &before, err));
    cuda_result code = device->cuda->fn.EventElapsedTime(&ms, from->native, to->native);
    ts_status status = TS_OK;
    if (code == CUDA_NOT_READY)
        status = ts_fail(err, TS_RUNTIME, "One or both events have not completed. Wait for the later one first");
    else if (code == CUDA_INVALID_HANDLE)
        status = ts_fail(err, TS_RUNTIME, "Both Events must be recorded on a stream first; one never was recorded");
    else if (code != CUDA_OK)
        status = cuda_fail(device, code, err, "measuring between two events");
    cuda_leave(device, before);
    *ns = (double)ms * 1e6;
    return status;
}
