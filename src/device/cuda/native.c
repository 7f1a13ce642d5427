/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver has that is not ours: pools and kernels by handle (tessera/native.h). No cache, no
 * specialisation: one call of the driver each, with the errors of the device.
 */
#include "device/cuda/cuda.h"

/* What a capture would record as a node outlives the buffer's own free: such memory is the graph's to give. */
static ts_status pool_check_stream(const cuda_driver *fn, cuda_stream_t stream, ts_error *err)
{
    int capturing = 0;
    if (fn->StreamIsCapturing(stream, &capturing) != CUDA_OK || !capturing)
        return TS_OK; /* a stream that cannot be asked fails at the allocation */
    return ts_fail(err, TS_RUNTIME, "a pool cannot perform memory operations on a capturing stream "
                                    "(consider using GraphMemoryResource).");
}

ts_status cuda_pool_alloc(ts_device *handle, uintptr_t pool, const ts_stream *stream, uint64_t bytes, void **out,
                          ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    bool is_primary;
    cuda_stream_t native;
    cuda_ptr memory = 0;
    if (!fn->MemAllocFromPoolAsync)
        return ts_fail(err, TS_UNSUPPORTED, "the NVIDIA driver is too old for memory pools; install 525 or newer");
    TS_TRY(cuda_enter_chosen(device, &before, &is_primary, err));
    ts_status status = cuda_stream_of(stream, &native, err);
    if (status == TS_OK)
        status = pool_check_stream(fn, native, err);
    if (status == TS_OK) {
        cuda_result code = fn->MemAllocFromPoolAsync(&memory, bytes, (cuda_pool)pool, native);
        if (code != CUDA_OK)
            status = cuda_fail(device, code, err, "allocating %llu bytes of a pool", (unsigned long long)bytes);
    }
    *out = (void *)(uintptr_t)memory;
    cuda_leave(device, before);
    return status;
}

ts_status cuda_pool_free(ts_device *handle, const ts_stream *stream, void *memory, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    bool is_primary;
    cuda_stream_t native;
    TS_TRY(cuda_enter_chosen(device, &before, &is_primary, err));
    if (cuda_stream_of(stream, &native, NULL) != TS_OK)
        native = NULL; /* its stream is gone: in the order of the default one */
    cuda_result code = fn->MemFreeAsync((uintptr_t)memory, native);
    ts_status status = code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "freeing memory at %p", memory);
    cuda_leave(device, before);
    return status;
}

static cuda_result native_launch(const cuda_driver *fn, const ts_native_config *c, cuda_stream_t stream,
                                 cuda_function function, void **params)
{
    if (!c->n_attrs)
        return fn->LaunchKernel(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
                                c->shared_bytes, stream, params, NULL);
    cuda_launch config = {{c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]},
                          c->shared_bytes, stream, (cuda_launch_attr *)(uintptr_t)c->attrs, c->n_attrs};
    return fn->LaunchKernelEx(&config, function, params, NULL);
}

/* A CUfunction is of one context, and faster than a CUkernel, which the driver has to look up in the stream's. */
static cuda_function native_code(const ts_native_kernel *kernel, const ts_stream *stream, bool is_primary)
{
    bool is_default = stream->native <= CUDA_STREAM_PER_THREAD;
    bool same = kernel->function && (is_default ? is_primary : cuda_stream_is_primary(stream));
    return (cuda_function)(same ? kernel->function : kernel->handle);
}

ts_status cuda_native_launch(ts_device *handle, const ts_stream *stream, const ts_native_config *config,
                             const ts_native_kernel *kernel, void **params, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    bool is_primary;
    cuda_stream_t native;
    if (config->n_attrs && !fn->LaunchKernelEx)
        return ts_fail(err, TS_UNSUPPORTED, "the NVIDIA driver is too old for launch attributes; install 525 or newer");
    TS_TRY(cuda_enter_chosen(device, &before, &is_primary, err));
    ts_status status = cuda_stream_of(stream, &native, err);
    if (status == TS_OK) {
        cuda_note_launch(device, (const void *)kernel->handle, kernel->name);
        cuda_result code = native_launch(fn, config, native, native_code(kernel, stream, is_primary), params);
        if (code != CUDA_OK)
            status = cuda_fail(device, code, err, "launching a grid of %u x %u x %u blocks of %u x %u x %u threads",
                               config->grid[0], config->grid[1], config->grid[2], config->block[0], config->block[1],
                               config->block[2]);
    }
    cuda_leave(device, before);
    return status;
}

ts_status cuda_native_function(ts_device *handle, uintptr_t kernel, uintptr_t *out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    cuda_function function = NULL;
    if (!fn->KernelGetFunction)
        return ts_fail(err, TS_UNSUPPORTED,
                       "the NVIDIA driver is too old for kernels of libraries; install 525 or newer");
    TS_TRY(cuda_enter(device, &before, err));
    cuda_result code = fn->KernelGetFunction(&function, (cuda_kernel)kernel);
    cuda_leave(device, before);
    *out = (uintptr_t)function;
    return code == CUDA_OK ? TS_OK : cuda_fail(device, code, err, "loading a kernel");
}

ts_status cuda_native_param(ts_device *handle, uintptr_t kernel, bool is_function, size_t index, size_t *offset,
                            size_t *bytes, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    bool is_primary;
    if (is_function ? !fn->FuncGetParamInfo : !fn->KernelGetParamInfo)
        return ts_fail(err, TS_UNSUPPORTED, "this NVIDIA driver does not tell the parameters of kernels");
    TS_TRY(cuda_enter_chosen(device, &before, &is_primary, err));
    cuda_result code = is_function ? fn->FuncGetParamInfo((cuda_function)kernel, index, offset, bytes)
                                   : fn->KernelGetParamInfo((cuda_kernel)kernel, index, offset, bytes);
    cuda_leave(device, before);
    if (code == CUDA_OK)
        return TS_OK;
    if (code == CUDA_INVALID_VALUE)
        return ts_fail(err, TS_NOTFOUND, "the kernel has no parameter %zu", index);
    return cuda_fail(device, code, err, "asking for the parameters of a kernel");
}
