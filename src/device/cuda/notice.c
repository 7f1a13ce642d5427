/* SPDX-License-Identifier: Apache-2.0
 *
 * Notices of a GPU: being told that work is done, without a thread that waits. A notice of a stream is a
 * cuStreamAddCallback, which the driver calls also when the context has failed (a cuLaunchHostFunc it would
 * drop). A notice of an event is one on a stream of ours that waits for the event and for nothing else, so that it
 * comes neither with later work of the event's stream nor behind another event. There are few such streams: driver
 * 580 lets a caller wait as soon as 56 calls are behind events. A reset calls what is left.
 *
 *     ts_notice <- cell -> waiting stream    cell: what the driver is given; in device->notices while in flight
 */
#include "device/cuda/cuda.h"

typedef struct cuda_cell {
    struct cuda_cell *next, **link; /* in device->notices; under notice_lock */
    cuda_device *device;
    ts_notice *notice;              /* NULL: a reset has called it */
    cuda_waiter *waiter;            /* busy until the call; NULL: a notice of a stream */
} cuda_cell;

static void notice_link(cuda_cell *cell)
{
    cuda_device *device = cell->device;
    pthread_mutex_lock(&device->notice_lock);
    cell->next = device->notices;
    cell->link = &device->notices;
    if (cell->next)
        cell->next->link = &cell->next;
    device->notices = cell;
    pthread_mutex_unlock(&device->notice_lock);
}

/* The notice, for the one who calls it; under the lock. */
static ts_notice *notice_unlink(cuda_cell *cell)
{
    ts_notice *notice = cell->notice;
    if (!notice)
        return NULL;
    *cell->link = cell->next;
    if (cell->next)
        cell->next->link = cell->link;
    cell->notice = NULL;
    if (cell->waiter)
        cell->waiter->busy = false;
    return notice;
}

static ts_notice *notice_take(cuda_cell *cell)
{
    cuda_device *device = cell->device;
    pthread_mutex_lock(&device->notice_lock);
    ts_notice *notice = notice_unlink(cell);
    pthread_mutex_unlock(&device->notice_lock);
    ts__delete(device->base.alloc, cell, sizeof *cell);
    return notice;
}

static void notice_called(cuda_stream_t stream, cuda_result code, void *user)
{
    (void)stream, (void)code; /* the result is asked for by ts_stream_fault, in a thread that may ask the driver */
    ts_notice *notice = notice_take(user);
    if (notice)
        notice->call(notice);
}

/* With the context current. */
static ts_status notice_add(cuda_device *device, cuda_stream_t native, ts_notice *notice, cuda_waiter *waiter,
                            ts_error *err)
{
    cuda_cell *cell = ts__new(device->base.alloc, sizeof *cell);
    if (!cell)
        return ts_fail(err, TS_NOMEM, "out of memory for a notice");
    *cell = (cuda_cell){.device = device, .notice = notice, .waiter = waiter};
    notice_link(cell);
    cuda_result code = device->cuda->fn.StreamAddCallback(native, notice_called, cell, 0);
    if (code == CUDA_OK)
        return TS_OK;
    (void)notice_take(cell);
    return cuda_fail(device, code, err, "queueing a notice");
}

ts_status cuda_stream_notify(const ts_stream *handle, ts_notice *notice, ts_error *err)
{
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = cuda_stream_of(handle, &native, err);
    notice->mark = cuda_fault_mark(device);
    if (status == TS_OK)
        status = notice_add(device, native, notice, NULL, err);
    cuda_leave(device, before);
    return status;
}

ts_status cuda_stream_fault(const ts_stream *handle, uint64_t mark, ts_error *err)
{
    bool done;
    TS_TRY(cuda_stream_done(handle, &done, err)); /* tells a fault that has ended the context */
    return cuda_fault_collect(cuda_of(handle->device), handle->native, mark, err);
}

/* ---- events ---------------------------------------------------------------------------------------- */

/* A stream that nobody waits on, which the caller now holds; NULL: all are in use. */
static cuda_waiter *notice_waiter(cuda_device *device)
{
    cuda_waiter *found = NULL;
    ts_stream *lost = NULL;
    uint32_t epoch = ts_device_epoch(&device->base);
    pthread_mutex_lock(&device->notice_lock);
    for (uint32_t i = 0; i < CUDA_WAITERS && !found; i++) {
        cuda_waiter *waiter = &device->waiters[i];
        if (waiter->busy && waiter->epoch == epoch)
            continue;
        if (waiter->epoch != epoch) {
            lost = waiter->stream;
            *waiter = (cuda_waiter){.epoch = epoch};
        }
        waiter->busy = true;
        found = waiter;
    }
    pthread_mutex_unlock(&device->notice_lock);
    ts_stream_destroy(lost); /* the driver's went with the reset */
    return found;
}

static void notice_release(cuda_device *device, cuda_waiter *waiter)
{
    pthread_mutex_lock(&device->notice_lock);
    waiter->busy = false;
    pthread_mutex_unlock(&device->notice_lock);
}

ts_status cuda_event_notify(ts_event *event, ts_notice *notice, bool *taken, ts_error *err)
{
    cuda_device *device = cuda_of(event->device);
    cuda_context before;
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = TS_OK;
    cuda_waiter *waiter = notice_waiter(device);
    if (waiter && !waiter->stream)
        status = ts_stream_create(&device->base, &waiter->stream, err);
    if (waiter && status == TS_OK)
        status = ts_stream_wait_event(waiter->stream, event, err);
    if (waiter && status == TS_OK)
        status = notice_add(device, (cuda_stream_t)waiter->stream->native, notice, waiter, err);
    if (waiter && status != TS_OK)
        notice_release(device, waiter);
    cuda_leave(device, before);
    *taken = waiter && status == TS_OK;
    return status;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void cuda_notices_flush(cuda_device *device)
{
    for (;;) {
        pthread_mutex_lock(&device->notice_lock);
        ts_notice *notice = device->notices ? notice_unlink(device->notices) : NULL;
        pthread_mutex_unlock(&device->notice_lock);
        if (!notice)
            return;
        notice->call(notice); /* the cell stays: the driver may still call it, and it is small */
    }
}

void cuda_notices_deinit(cuda_device *device)
{
    cuda_notices_flush(device);
    for (uint32_t i = 0; i < CUDA_WAITERS; i++)
        ts_stream_destroy(device->waiters[i].stream);
    pthread_mutex_destroy(&device->notice_lock);
}
