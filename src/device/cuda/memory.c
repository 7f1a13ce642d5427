/* SPDX-License-Identifier: Apache-2.0
 *
 * GPU memory in stream order. Two levels: what a stream frees is kept by size class for later work of the same
 * stream, which costs no driver call (0.1 us against 1 to 2 us); below is the driver's pool, which orders
 * memory between streams by itself. Classes are those of the CPU's pool, from 512 bytes on.
 */
#include "device/cuda/cuda.h"

enum { MEMORY_MIN = 512 };

/* Class 4*p + q holds blocks of 2^p * (4 + q) / 4 bytes. */
static uint32_t memory_class(uint64_t bytes, uint64_t *rounded)
{
    if (bytes < MEMORY_MIN)
        bytes = MEMORY_MIN;
    uint32_t p = 63 - (uint32_t)__builtin_clzll(bytes);
    uint64_t base = (uint64_t)1 << p, quarter = base / 4, q = (bytes - base + quarter - 1) / quarter;
    *rounded = base + q * quarter;
    return 4 * p + (uint32_t)q;
}

static uint64_t memory_class_bytes(uint32_t class)
{
    return ((uint64_t)1 << class / 4) / 4 * (4 + class % 4);
}

/* Memory is kept per stream of ours; foreign streams may vanish, so theirs is not. */
static cuda_stream *memory_stream(const ts_stream *stream)
{
    cuda_device *device = cuda_of(stream->device);
    cuda_stream *own = stream->impl ? stream->impl : stream->native == 0 ? device->default_stream : NULL;
    return own && !own->closed &&
                   (own == device->default_stream || own->epoch == ts_device_epoch(stream->device))
               ? own
               : NULL;
}

/* ---- the driver's level ----------------------------------------------------------------------------------- */

static cuda_result memory_driver_get(cuda_device *device, cuda_ptr *out, uint64_t bytes, cuda_stream_t stream)
{
    const cuda_driver *fn = &device->cuda->fn;
    if (device->pool)
        return fn->MemAllocFromPoolAsync(out, bytes, device->pool, stream);
    return fn->MemAlloc(out, bytes);
}

static void memory_driver_put(cuda_device *device, cuda_ptr memory, cuda_stream_t stream)
{
    const cuda_driver *fn = &device->cuda->fn;
    if (device->pool)
        (void)fn->MemFreeAsync(memory, stream);
    else
        (void)fn->MemFree(memory); /* waits for the device */
}

void cuda_drop_kept(cuda_device *device, cuda_stream *stream, bool forget)
{
    for (uint32_t class = 0; stream->n_kept && class < CUDA_CLASSES; class++)
        while (stream->kept[class]) {
            cuda_kept *kept = stream->kept[class];
            stream->kept[class] = kept->next;
            stream->n_kept--;
            device->kept_bytes -= forget ? 0 : memory_class_bytes(class);
            if (!forget)
                memory_driver_put(device, kept->memory, (cuda_stream_t)stream->base.native);
            ts__delete(device->base.alloc, kept, sizeof *kept);
        }
}

void cuda_trim(ts_device *handle)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    if (!atomic_load(&device->ready) || cuda_enter(device, &before, NULL) != TS_OK)
        return;
    pthread_mutex_lock(&device->lock);
    for (cuda_stream *stream = device->streams; stream; stream = stream->next)
        cuda_drop_kept(device, stream, false);
    pthread_mutex_unlock(&device->lock);
    if (device->pool && fn->MemPoolTrimTo && fn->CtxSynchronize() == CUDA_OK)
        (void)fn->MemPoolTrimTo(device->pool, 0);
    cuda_leave(device, before);
}

/* ---- allocation ------------------------------------------------------------------------------------------------ */

static cuda_ptr memory_take_kept(cuda_device *device, cuda_stream *own, uint32_t class, uint64_t bytes)
{
    cuda_ptr memory = 0;
    pthread_mutex_lock(&device->lock);
    cuda_kept *kept = own && own->kept ? own->kept[class] : NULL;
    if (kept) {
        memory = kept->memory;
        own->kept[class] = kept->next;
        own->n_kept--;
        device->kept_bytes -= bytes;
        device->used_bytes += bytes;
    }
    pthread_mutex_unlock(&device->lock);
    ts__delete(device->base.alloc, kept, sizeof *kept);
    return memory;
}

static ts_status memory_get(cuda_device *device, const ts_stream *stream, uint64_t asked, void **out, ts_error *err)
{
    uint64_t bytes;
    uint32_t class = memory_class(asked, &bytes);
    cuda_stream_t native;
    TS_TRY(cuda_stream_of(stream, &native, err));
    cuda_ptr memory = memory_take_kept(device, memory_stream(stream), class, bytes);
    *out = (void *)(uintptr_t)memory;
    if (memory)
        return TS_OK;
    cuda_result code = memory_driver_get(device, &memory, bytes, native);
    if (code == CUDA_OUT_OF_MEMORY) {
        cuda_trim(&device->base);
        code = memory_driver_get(device, &memory, bytes, native);
    }
    if (code != CUDA_OK)
        return cuda_fail(device, code, err, "allocating %llu bytes", (unsigned long long)asked);
    pthread_mutex_lock(&device->lock);
    device->used_bytes += bytes;
    pthread_mutex_unlock(&device->lock);
    *out = (void *)(uintptr_t)memory;
    return TS_OK;
}

ts_status cuda_alloc(ts_device *handle, const ts_stream *stream, uint64_t bytes, void **out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = memory_get(device, stream, bytes, out, err);
    cuda_leave(device, before);
    return status;
}

/* Under the lock. */
static bool memory_has_lists(cuda_device *device, cuda_stream *own)
{
    if (!own->kept)
        own->kept = ts__new(device->base.alloc, CUDA_CLASSES * sizeof *own->kept);
    return own->kept;
}

static bool memory_keep(cuda_device *device, cuda_stream *own, uint32_t class, uint64_t bytes, cuda_ptr memory)
{
    cuda_kept *kept = own ? ts__new(device->base.alloc, sizeof *kept) : NULL;
    bool keep = false;
    pthread_mutex_lock(&device->lock);
    device->used_bytes -= bytes;
    if (kept && !own->closed && device->kept_bytes + bytes <= device->keep_limit && memory_has_lists(device, own)) {
        keep = true;
        *kept = (cuda_kept){own->kept[class], memory};
        own->kept[class] = kept;
        own->n_kept++;
        device->kept_bytes += bytes;
    }
    pthread_mutex_unlock(&device->lock);
    if (!keep)
        ts__delete(device->base.alloc, kept, sizeof *kept);
    return keep;
}

void cuda_free(ts_device *handle, const ts_stream *stream, void *memory, uint64_t asked)
{
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    uint64_t bytes;
    uint32_t class = memory_class(asked, &bytes);
    cuda_ptr at = (uintptr_t)memory;
    cuda_stream_t native = NULL;
    if (atomic_load(&device->cuda->forked) || memory_keep(device, memory_stream(stream), class, bytes, at))
        return;
    if (cuda_enter(device, &before, NULL) != TS_OK)
        return;
    if (cuda_stream_of(stream, &native, NULL) != TS_OK)
        native = NULL;
    memory_driver_put(device, at, native);
    cuda_leave(device, before);
}

void cuda_free_shared(ts_device *handle, void *memory, uint64_t bytes)
{
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    if (cuda_enter(device, &before, NULL) != TS_OK)
        return;
    (void)device->cuda->fn.CtxSynchronize();
    cuda_leave(device, before);
    cuda_free(handle, &device->default_stream->base, memory, bytes);
}

ts_status cuda_host_alloc(ts_device *handle, uint64_t bytes, void **out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    TS_TRY(cuda_enter(device, &before, err));
    cuda_result code = device->cuda->fn.MemHostAlloc(out, bytes, CUDA_HOST_PORTABLE);
    cuda_leave(device, before);
    return code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "allocating %llu bytes of page-locked memory",
                                               (unsigned long long)bytes);
}

void cuda_host_free(ts_device *handle, void *memory, uint64_t bytes)
{
    (void)bytes;
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    if (cuda_enter(device, &before, NULL) != TS_OK)
        return;
    (void)device->cuda->fn.MemFreeHost(memory);
    cuda_leave(device, before);
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

ts_status cuda_copy(const ts_stream *stream, void *to, ts_mem_side to_side, const void *from, ts_mem_side from_side,
                    uint64_t bytes, ts_error *err)
{
    cuda_device *device = cuda_of(stream->device);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    cuda_stream_t native;
    cuda_result code = CUDA_OK;
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = cuda_stream_of(stream, &native, err);
    if (status == TS_OK) {
        if (to_side == TS_MEM_HOST && from_side == TS_MEM_HOST)
            code = fn->StreamSynchronize(native);
        else if (to_side == TS_MEM_HOST)
            code = fn->MemcpyDtoHAsync(to, (uintptr_t)from, bytes, native);
        else if (from_side == TS_MEM_HOST)
            code = fn->MemcpyHtoDAsync((uintptr_t)to, from, bytes, native);
        else
            code = fn->MemcpyAsync((uintptr_t)to, (uintptr_t)from, bytes, native);
        if (code != CUDA_OK)
            status = cuda_fail(device, code, err, "copying %llu bytes", (unsigned long long)bytes);
        else if (to_side == TS_MEM_HOST && from_side == TS_MEM_HOST)
            memmove(to, from, bytes);
    }
    cuda_leave(device, before);
    return status;
}

static cuda_result memory_fill(const cuda_driver *fn, cuda_ptr to, uint64_t pattern,
                               uint32_t elem_bytes, uint64_t count, cuda_stream_t stream)
{
    uint32_t low = (uint32_t)pattern, high = (uint32_t)(pattern >> 32);
    switch (elem_bytes) {
    case 1:
        return fn->MemsetD8Async(to, (unsigned char)pattern, count, stream);
    case 2:
        return fn->MemsetD16Async(to, (unsigned short)pattern, count, stream);
    case 4:
        return fn->MemsetD32Async(to, low, count, stream);
    default: /* the halves of 8 bytes are columns of a matrix two words wide */
        if (low == high)
            return fn->MemsetD32Async(to, low, count * 2, stream);
        cuda_result code = fn->MemsetD2D32Async(to, 8, low, 1, count, stream);
        return code == CUDA_OK ? fn->MemsetD2D32Async(to + 4, 8, high, 1, count, stream) : code;
    }
}

ts_status cuda_fill(const ts_stream *stream, void *to, uint64_t pattern, uint32_t elem_bytes, uint64_t count,
                    ts_error *err)
{
    cuda_device *device = cuda_of(stream->device);
    cuda_context before;
    cuda_stream_t native;
    TS_TRY(cuda_enter(device, &before, err));
    ts_status status = cuda_stream_of(stream, &native, err);
    if (status == TS_OK) {
        cuda_result code = memory_fill(&device->cuda->fn, (uintptr_t)to, pattern, elem_bytes, count, native);
        if (code != CUDA_OK)
            status = cuda_fail(device, code, err, "filling %llu elements", (unsigned long long)count);
    }
    cuda_leave(device, before);
    return status;
}
