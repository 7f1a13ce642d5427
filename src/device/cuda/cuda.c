/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU as a device: its context, queries, waiting for everything, and reset. Read driver.def for what we
 * ask of the driver, then memory.c, stream.c, program.c.
 */
#include "device/cuda/cuda.h"
#include <stdio.h>

/* ---- the context ------------------------------------------------------------------------------------ */

/* Streams allocate in order from a pool of our own, which keeps what is freed. Without one, plain calls do. */
static void cuda_make_pool(cuda_device *device)
{
    const cuda_driver *fn = &device->cuda->fn;
    cuda_pool_props props = {.alloc_type = 1, .location = {1, device->handle}};
    uint64_t keep = UINT64_MAX;
    int supported = 0;
    device->pool = NULL;
    if (!fn->MemPoolCreate || !fn->MemPoolSetAttribute || !fn->MemAllocFromPoolAsync || !fn->MemFreeAsync ||
        fn->DeviceGetAttribute(&supported, CUDA_POOLS_SUPPORTED, device->handle) != CUDA_OK || !supported)
        return;
    if (fn->MemPoolCreate(&device->pool, &props) != CUDA_OK)
        device->pool = NULL;
    else
        (void)fn->MemPoolSetAttribute(device->pool, CUDA_POOL_RELEASE_THRESHOLD, &keep);
}

/* What was current before: nothing. The context of the first GPU, which all libraries take then, stays; that of
 * another would make it their choice. */
#define CUDA_NOTHING ((cuda_context)(uintptr_t)1)

static bool cuda_is_first(const cuda_device *device)
{
    return TS_DEVICE_ID_ORDINAL(device->base.id) == 0;
}

/* Under the lock. */
static ts_status cuda_make_context(cuda_device *device, ts_error *err)
{
    const cuda_driver *fn = &device->cuda->fn;
    if (atomic_load(&device->lost)) /* a reset that the driver refused */
        return ts_fail(err, TS_DEVICE, "CUDA device %d cannot be used by this process any more since %s; start a new "
                                       "process", TS_DEVICE_ID_ORDINAL(device->base.id), device->lost_text);
    if (device->cc_major < 8)
        return ts_fail(err, TS_NODEVICE, "CUDA device %d has compute capability %d.%d; 8.0 or newer is needed",
                       TS_DEVICE_ID_ORDINAL(device->base.id), device->cc_major, device->cc_minor);
    cuda_result code = fn->DevicePrimaryCtxRetain(&device->context, device->handle);
    if (code != CUDA_OK)
        return cuda_fail_driver(fn, code, err, "making a context on a GPU");
    cuda_context before = NULL;
    (void)fn->CtxGetCurrent(&before);
    (void)fn->CtxSetCurrent(device->context);
    cuda_make_pool(device);
    if (before || !cuda_is_first(device))
        (void)fn->CtxSetCurrent(before);
    atomic_store_explicit(&device->ready, true, memory_order_release);
    return TS_OK;
}

static ts_status cuda_ensure(cuda_device *device, ts_error *err)
{
    pthread_mutex_lock(&device->lock);
    ts_status status = atomic_load(&device->ready) ? TS_OK : cuda_make_context(device, err);
    pthread_mutex_unlock(&device->lock);
    return status;
}

ts_status cuda_enter(cuda_device *device, cuda_context *before, ts_error *err)
{
    const cuda_driver *fn = &device->cuda->fn;
    *before = NULL;
    if (atomic_load_explicit(&device->cuda->forked, memory_order_relaxed))
        return ts_fail(
            err, TS_RUNTIME,
            "the parent process opened the GPU before fork(), and the NVIDIA driver does not "
            "work in its children; start processes by spawn instead");
    if (!atomic_load_explicit(&device->ready, memory_order_acquire))
        TS_TRY(cuda_ensure(device, err));
    cuda_context now = NULL;
    (void)fn->CtxGetCurrent(&now);
    if (now == device->context)
        return TS_OK;
    cuda_result code = fn->CtxSetCurrent(device->context);
    if (code != CUDA_OK)
        return cuda_fail(device, code, err, "choosing the device");
    *before = now || cuda_is_first(device) ? now : CUDA_NOTHING;
    return TS_OK;
}

ts_status cuda_enter_chosen(cuda_device *device, cuda_context *before, bool *is_primary, ts_error *err)
{
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context now = NULL;
    cuda_ordinal at = -1;
    *before = NULL;
    *is_primary = true;
    if (atomic_load_explicit(&device->cuda->forked, memory_order_relaxed) ||
        !atomic_load_explicit(&device->ready, memory_order_acquire))
        return cuda_enter(device, before, err);
    (void)fn->CtxGetCurrent(&now);
    if (now == device->context)
        return TS_OK;
    *is_primary = !(now && fn->CtxGetDevice(&at) == CUDA_OK && at == device->handle);
    return *is_primary ? cuda_enter(device, before, err) : TS_OK;
}

void cuda_leave(cuda_device *device, cuda_context before)
{
    if (before)
        (void)device->cuda->fn.CtxSetCurrent(before == CUDA_NOTHING ? NULL : before);
}

/* ---- which kernel was it ------------------------------------------------------------------------------- */

/* Keeps the names of the kernels launched since all was well; the same kernel again costs one load. */
void cuda_note_launch(cuda_device *device, const void *code, const char *name)
{
    if (atomic_load_explicit(&device->last, memory_order_relaxed) == code)
        return;
    pthread_mutex_lock(&device->lock);
    atomic_store_explicit(&device->last, code, memory_order_relaxed);
    uint32_t n = TS_MIN(device->n_recent, (uint32_t)CUDA_RECENT);
    bool known = false;
    for (uint32_t i = 0; i < n && !known; i++)
        known = strncmp(device->recent[i], name, sizeof device->recent[i] - 1) == 0;
    if (!known) {
        if (n == CUDA_RECENT)
            memmove(device->recent[0], device->recent[1], sizeof device->recent - sizeof device->recent[0]);
        snprintf(device->recent[TS_MIN(n, (uint32_t)CUDA_RECENT - 1)], sizeof device->recent[0], "%s", name);
        device->n_recent++;
    }
    pthread_mutex_unlock(&device->lock);
}

void cuda_note_well(cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    atomic_store_explicit(&device->last, NULL, memory_order_relaxed);
    device->n_recent = 0;
    pthread_mutex_unlock(&device->lock);
}

/* ---- queries and waiting ---------------------------------------------------------------------------------- */

static int cuda_attribute(const cuda_device *device, int attribute)
{
    int value = 0;
    if (device->cuda->fn.DeviceGetAttribute(&value, attribute, device->handle) != CUDA_OK)
        value = 0;
    return value;
}

static ts_status cuda_query(ts_device *handle, ts_device_info *out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    size_t free_bytes = 0, total_bytes = 0;
    TS_TRY(cuda_enter(device, &before, err));
    (void)fn->DeviceGetName(out->name, (int)sizeof out->name - 1, device->handle);
    (void)fn->MemGetInfo(&free_bytes, &total_bytes);
    cuda_leave(device, before);
    out->kind = TS_DEVICE_CUDA;
    out->ordinal = TS_DEVICE_ID_ORDINAL(handle->id);
    out->target = handle->target;
    out->cc_major = device->cc_major;
    out->cc_minor = device->cc_minor;
    out->driver_version = device->cuda->version;
    out->units = device->n_sms;
    out->clock_khz = cuda_attribute(device, CUDA_CLOCK_RATE);
    out->memory_clock_khz = cuda_attribute(device, CUDA_MEMORY_CLOCK_RATE);
    out->memory_bus_bits = cuda_attribute(device, CUDA_MEMORY_BUS_BITS);
    out->memory_bytes = device->total_bytes;
    out->free_bytes = free_bytes;
    out->l2_bytes = (uint64_t)cuda_attribute(device, CUDA_L2_BYTES);
    out->shared_bytes_per_block = (uint64_t)cuda_attribute(device, CUDA_SHARED_OPTIN);
    pthread_mutex_lock(&device->lock);
    out->pool_used_bytes = device->used_bytes;
    out->pool_kept_bytes = device->kept_bytes;
    pthread_mutex_unlock(&device->lock);
    return TS_OK;
}

/* With a limit: stream after stream by polling, then the rest (streams of other libraries) at once. */
static ts_status cuda_sync_streams(cuda_device *device, int64_t limit_ns, ts_error *err)
{
    int64_t deadline = ts__deadline(limit_ns);
    pthread_mutex_lock(&device->lock);
    cuda_stream *stream = device->streams;
    if (stream)
        stream->references++;
    pthread_mutex_unlock(&device->lock);
    ts_status status = TS_OK;
    while (stream) {
        if (status == TS_OK && !stream->closed)
            status = cuda_stream_sync(&stream->base, deadline - ts__now_ns(), err);
        pthread_mutex_lock(&device->lock);
        cuda_stream *next = stream->next;
        if (next)
            next->references++;
        pthread_mutex_unlock(&device->lock);
        cuda_stream_release(&stream->base);
        stream = next;
    }
    return status;
}

static ts_status cuda_sync(ts_device *handle, int64_t limit_ns, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    if (!atomic_load(&device->ready))
        return TS_OK; /* nothing was ever asked of it */
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = limit_ns == TS_FOREVER ? TS_OK : cuda_sync_streams(device, limit_ns, err);
    if (status == TS_OK) {
        cuda_result code = device->cuda->fn.CtxSynchronize();
        status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "waiting for the device");
    }
    if (status == TS_OK) {
        cuda_note_well(device);
        status = cuda_fault_collect(device, CUDA_ALL_STREAMS, CUDA_ALL_FAULTS, err);
    }
    cuda_leave(device, before);
    return status;
}

/* ---- reset ---------------------------------------------------------------------------------------------------- */

/* Nothing of the old context may be given to the driver again: what we keep is only forgotten. */
static void cuda_forget(cuda_device *device)
{
    for (cuda_stream *stream = device->streams; stream; stream = stream->next)
        cuda_drop_kept(device, stream, true);
    device->pool = NULL;
    device->context = NULL;
    device->used_bytes = device->kept_bytes = 0;
    device->empty = NULL;
    device->fault_records = NULL;
    device->n_recent = 0;
    device->has_pending = false;
    memset(device->faults, 0, sizeof device->faults);
    atomic_store(&device->last, NULL);
    atomic_store(&device->ready, false);
}

/* Drivers differ: some give a process a new context after a sticky fault, some (580 is one) never again. */
static ts_status cuda_renew(cuda_device *device, ts_error *err)
{
    bool was_lost = atomic_exchange(&device->lost, false);
    ts_status status = cuda_make_context(device, err);
    if (status == TS_OK || !was_lost)
        return status;
    atomic_store(&device->lost, true);
    return cuda_make_context(device, err);
}

static bool cuda_is_forked(const ts_device *handle)
{
    return atomic_load(&cuda_of(handle)->cuda->forked);
}

static ts_status cuda_reset(ts_device *handle, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    if (atomic_load(&device->cuda->forked))
        return ts_fail(err, TS_RUNTIME, "a GPU cannot be reset in a child of fork(); start processes by spawn");
    pthread_mutex_lock(&device->lock);
    if (atomic_load(&device->ready)) {
        (void)fn->DevicePrimaryCtxRelease(device->handle); /* our hold; a lost context refuses, which is fine */
        (void)fn->DevicePrimaryCtxReset(device->handle);
    }
    cuda_forget(device);
    ts_status status = cuda_renew(device, err);
    pthread_mutex_unlock(&device->lock);
    cuda_notices_flush(device);
    return status;
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static const ts_device_ops cuda_ops = {
    .version = TS_DEVICE_VERSION,
    .caps = TS_DEVICE_NATIVE,
    .query = cuda_query,
    .sync = cuda_sync,
    .unheard = cuda_unheard,
    .is_forked = cuda_is_forked,
    .reset = cuda_reset,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .free_shared = cuda_free_shared,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .trim = cuda_trim,
    .stream_create = cuda_stream_make,
    .stream_destroy = cuda_stream_end,
    .stream_retain = cuda_stream_retain,
    .stream_release = cuda_stream_release,
    .stream_sync = cuda_stream_sync,
    .stream_done = cuda_stream_done,
    .stream_wait_event = cuda_stream_wait_event,
    .stream_call = cuda_stream_call,
    .stream_notify = cuda_stream_notify,
    .stream_fault = cuda_stream_fault,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_sync = cuda_event_sync,
    .event_done = cuda_event_done,
    .event_notify = cuda_event_notify,
    .event_elapsed = cuda_event_elapsed,
    .program_load = cuda_program_load,
    .program_destroy = cuda_program_destroy,
    .program_is_beyond = cuda_program_is_beyond,
    .program_resources = cuda_program_resources,
    .program_library = cuda_program_library,
    .launch = cuda_program_launch,
    .stream_adopt = cuda_stream_adopt,
    .event_adopt = cuda_event_adopt,
    .event_native = cuda_event_native,
    .pool_alloc = cuda_pool_alloc,
    .pool_free = cuda_pool_free,
    .native_launch = cuda_native_launch,
    .native_function = cuda_native_function,
    .native_param = cuda_native_param,
};

ts_status ts__cuda_device_init(cuda_device *device, const ts_alloc *alloc, uint16_t id, ts_target target, ts_error *err)
{
    device->base = (ts_device){.ops = &cuda_ops, .alloc = alloc, .id = id, .target = target};
    atomic_store(&device->base.epoch, 1);
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->notice_lock, NULL);
    TS_TRY(cuda_stream_add(device, NULL, &device->default_stream, err));
    device->base.default_stream = &device->default_stream->base;
    return TS_OK;
}

void ts__cuda_device_deinit(cuda_device *device)
{
    cuda_context before;
    bool entered = atomic_load(&device->ready) && cuda_enter(device, &before, NULL) == TS_OK;
    if (entered)
        (void)device->cuda->fn.CtxSynchronize();
    cuda_notices_deinit(device);
    if (entered) {
        cuda_trim(&device->base);
        if (device->fault_records)
            (void)device->cuda->fn.MemFreeHost(device->fault_records);
        (void)device->cuda->fn.DevicePrimaryCtxRelease(device->handle);
        (void)device->cuda->fn.CtxSetCurrent(before == CUDA_NOTHING ? NULL : before);
    }
    if (device->default_stream)
        cuda_stream_release(&device->default_stream->base);
    pthread_mutex_destroy(&device->lock);
}
