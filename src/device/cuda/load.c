/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA driver library: found by dlopen, its functions asked for by name and version, initialised once.
 * Nothing is linked, so that the library runs where there is no driver. Read next: cuda.c.
 */
#include "device/cuda/cuda.h"
#include "base/library.h"
#include <stdio.h>
#include <stdlib.h>

typedef cuda_result load_proc_fn(const char *symbol, void **out, int version, uint64_t flags, int *status);

static const ts_library_row load_rows[] = {
#define CU(name, symbol, version, need, params) {symbol, offsetof(cuda_driver, name), version, need},
#include "device/cuda/driver.def"
};

/* ---- the library ---------------------------------------------------------------------------------- */

static void *load_library(const char *path, ts_error *err)
{
    static const char *const usual[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
                                        "/run/opengl-driver/lib/libcuda.so.1"};
    const char *given = path ? path : getenv("TESSERA_CUDA_DRIVER");
    if (given && *given) {
        void *library = ts__library_open(given);
        if (!library)
            ts_fail(err, TS_NODEVICE, "the CUDA driver named by TESSERA_CUDA_DRIVER cannot be loaded: %s",
                    ts__library_problem());
        return library;
    }
    for (size_t i = 0; i < TS_COUNT(usual); i++) {
        void *library = ts__library_open(usual[i]);
        if (library)
            return library;
    }
    ts_fail(err, TS_NODEVICE, "the NVIDIA driver (libcuda.so.1) was not found on this machine. Kernels run on the CPU "
                              "without it; to use a GPU install NVIDIA's driver, and in a container start it with "
                              "--gpus all");
    return NULL;
}

/* A function in the form that CUDA had in a version. */
static void *load_find(const void *user, const ts_library_row *row)
{
    load_proc_fn *const *ask = user;
    void *found = NULL;
    int status = 0;
    return (*ask)(row->symbol, &found, row->version, 0, &status) == CUDA_OK ? found : NULL;
}

static ts_status load_functions(ts_cuda *cuda, ts_error *err)
{
    load_proc_fn *ask = NULL;
    ts__library_symbol(cuda->library, "cuGetProcAddress_v2", &ask);
    if (!ask)
        return ts_fail(err, TS_NODEVICE, "the NVIDIA driver is older than CUDA 12.0; install driver 525 or newer");
    const char *missing = ts__library_fill(cuda->library, load_rows, TS_COUNT(load_rows), load_find, &ask, &cuda->fn);
    return missing ? ts_fail(err, TS_NODEVICE, "the NVIDIA driver lacks %s; install driver 525 or newer", missing)
                   : TS_OK;
}

/* ---- the devices ------------------------------------------------------------------------------------- */

static ts_target load_target(int major, int minor)
{
    /* The last row that the GPU runs is the newest, as numbers ascend: ((0 < 1 ? 1 : MAX) < 80 ? 80 : MAX) < ... */
#define LOAD_OPEN(name, number, text) (
#define LOAD_NEXT(name, number, text) < (number) ? (number) : INT32_MAX)
    static_assert((TS_TARGETS(LOAD_OPEN) 0 TS_TARGETS(LOAD_NEXT)) < INT32_MAX, "numbers of TS_TARGETS ascend");
#undef LOAD_OPEN
#undef LOAD_NEXT
    ts_target best = TS_TARGET_SM80; /* older than anything we compile for: said when it is used */
#define X(name, number, text)                                                \
    if (number >= TS_TARGET_SM80 && number <= major * 10 + minor)            \
        best = TS_TARGET_##name;
    TS_TARGETS(X)
#undef X
    return best;
}

static ts_status load_device(ts_cuda *cuda, int ordinal, ts_error *err)
{
    const cuda_driver *fn = &cuda->fn;
    cuda_device *device = &cuda->devices[ordinal];
    size_t bytes = 0;
    cuda_result code = fn->DeviceGet(&device->handle, ordinal);
    if (code == CUDA_OK)
        code = fn->DeviceGetAttribute(&device->cc_major, CUDA_CC_MAJOR, device->handle);
    if (code == CUDA_OK)
        code = fn->DeviceGetAttribute(&device->cc_minor, CUDA_CC_MINOR, device->handle);
    if (code == CUDA_OK)
        code = fn->DeviceGetAttribute(&device->n_sms, CUDA_SM_COUNT, device->handle);
    if (code == CUDA_OK)
        code = fn->DeviceTotalMem(&bytes, device->handle);
    if (code != CUDA_OK)
        return cuda_fail_driver(fn, code, err, "asking for the properties of a GPU");
    device->cuda = cuda;
    device->total_bytes = bytes;
    device->keep_limit = bytes / 4;
    return ts__cuda_device_init(device, cuda->alloc, TS_DEVICE_ID(TS_DEVICE_CUDA, ordinal),
                                load_target(device->cc_major, device->cc_minor), err);
}

static ts_status load_devices(ts_cuda *cuda, ts_error *err)
{
    int n = 0;
    cuda_result code = cuda->fn.Init(0);
    if (code == CUDA_OK)
        code = cuda->fn.DriverGetVersion(&cuda->version);
    if (code == CUDA_OK)
        code = cuda->fn.DeviceGetCount(&n);
    if (code != CUDA_OK || n <= 0)
        return cuda_fail_driver(&cuda->fn, code ? code : CUDA_NO_DEVICE, err, "starting the NVIDIA driver");
    n = TS_MIN(n, (int)CUDA_DEVICES_MAX);
    cuda->n_room = n;
    cuda->devices = ts__new(cuda->alloc, sizeof *cuda->devices * (size_t)n);
    if (!cuda->devices)
        return ts_fail(err, TS_NOMEM, "out of memory for %d GPUs", n);
    for (cuda->n_devices = 0; cuda->n_devices < n; cuda->n_devices++)
        TS_TRY(load_device(cuda, cuda->n_devices, err));
    return TS_OK;
}

ts_status ts__cuda_open(const char *path, const ts_alloc *alloc, ts_cuda **out, ts_error *err)
{
    *out = NULL;
    ts_cuda *cuda = ts__new(alloc, sizeof *cuda);
    if (!cuda)
        return ts_fail(err, TS_NOMEM, "out of memory for the CUDA driver");
    cuda->alloc = alloc;
    cuda->library = load_library(path, err);
    ts_status status = cuda->library ? load_functions(cuda, err) : TS_NODEVICE;
    if (status == TS_OK)
        status = load_devices(cuda, err);
    if (status == TS_OK)
        *out = cuda;
    else
        ts__cuda_close(cuda);
    return status;
}

void ts__cuda_close(ts_cuda *cuda)
{
    if (!cuda)
        return;
    for (int i = 0; cuda->devices && i < cuda->n_devices; i++)
        ts__cuda_device_deinit(&cuda->devices[i]);
    ts__delete(cuda->alloc, cuda->devices, sizeof *cuda->devices * (size_t)cuda->n_room);
    ts__library_close(cuda->library);
    ts__delete(cuda->alloc, cuda, sizeof *cuda);
}

int ts__cuda_count(const ts_cuda *cuda)
{
    return cuda->n_devices;
}

ts_device *ts__cuda_device(ts_cuda *cuda, int ordinal)
{
    return &cuda->devices[ordinal].base;
}

int ts__cuda_current(ts_cuda *cuda)
{
    cuda_ordinal at = -1;
    if (atomic_load_explicit(&cuda->forked, memory_order_relaxed) || cuda->fn.CtxGetDevice(&at) != CUDA_OK)
        return -1;
    for (int i = 0; i < cuda->n_devices; i++)
        if (cuda->devices[i].handle == at)
            return i;
    return -1;
}

void ts__cuda_after_fork_in_child(ts_cuda *cuda)
{
    atomic_store(&cuda->forked, true);
}
