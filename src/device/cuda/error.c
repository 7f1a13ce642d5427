/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver results as errors: name, number, the driver's own sentence, what was being done, what helps. A sticky
 * fault is told once, with the kernels that may have caused it; afterwards the device only says that it is
 * lost, until it is reset.
 */
#include "device/cuda/cuda.h"
#include <stdio.h>

static const struct error_row {
    cuda_result code;
    bool is_sticky;
    const char *remedy;
} error_rows[] = {
    {2, false, "free arrays, call device.trim(), or use smaller ones"},
    {36, false, "install a newer NVIDIA driver"},
    {46, false, "another process holds the GPU exclusively"},
    {100, false, "check that nvidia-smi lists a GPU, that CUDA_VISIBLE_DEVICES does not hide it, and in a container "
                 "that it was started with --gpus all"},
    {101, false, "check CUDA_VISIBLE_DEVICES"},
    {201, false, "the context was destroyed by another library; call device.reset()"},
    {209, false, "the GPU is not one that this version compiles for"},
    {214, true, "the GPU's memory has failed; see nvidia-smi -q"},
    {218, false, "this is a mistake of our compiler; please report it with the kernel"},
    {221, false, "install the complete NVIDIA driver (libnvidia-ptxjitcompiler.so)"},
    {222, false, "install a newer NVIDIA driver"},
    {223, false, "unset CUDA_DISABLE_PTX_JIT"},
    {700, true, "a kernel read or wrote outside its arrays; run it with checked=True to find where"},
    {701, false, "the kernel needs more registers or shared memory than a block can have; use smaller tiles"},
    {702, true, "the kernel ran too long for a GPU with a display"},
    {710, true, "an assertion in a kernel failed"},
    {714, true, "a kernel failed; run it with checked=True"},
    {715, true, "this is a mistake of our compiler; please report it with the kernel"},
    {716, true, "an array is not aligned as its kernel was promised; this is a mistake of ours, please report it"},
    {717, true, "this is a mistake of our compiler; please report it with the kernel"},
    {718, true, "this is a mistake of our compiler; please report it with the kernel"},
    {719, true, "a kernel failed; run it with checked=True"},
    {803, false, "the kernel module and the library of the NVIDIA driver differ; reboot, or reinstall the driver"},
    {804, false, "this GPU does not support the driver's compatibility mode; install a matching driver"},
    {912, false, "the cluster is larger than this GPU allows; use a smaller num_ctas"},
};

static const struct error_row *error_find(cuda_result code)
{
    for (size_t i = 0; i < TS_COUNT(error_rows); i++)
        if (error_rows[i].code == code)
            return &error_rows[i];
    return NULL;
}

const char *cuda_remedy(cuda_result code)
{
    const struct error_row *row = error_find(code);
    return row ? row->remedy : "";
}

static void error_text(const cuda_driver *fn, cuda_result code, char *out, size_t n)
{
    const char *name = NULL, *text = NULL;
    if (fn->GetErrorName(code, &name) != CUDA_OK || !name)
        name = "an error unknown to this driver";
    if (fn->GetErrorString(code, &text) != CUDA_OK || !text)
        text = "no description";
    snprintf(out, n, "%s (%d: %s)", name, code, text);
}

static ts_status error_status(cuda_result code)
{
    return code == CUDA_OUT_OF_MEMORY ? TS_NOMEM : code == CUDA_NO_DEVICE || code == 101 ? TS_NODEVICE : TS_DEVICE;
}

ts_status cuda_fail_driver(const cuda_driver *fn, cuda_result code, ts_error *err, const char *doing)
{
    char what[512];
    const char *remedy = cuda_remedy(code);
    error_text(fn, code, what, sizeof what);
    ts_status status = ts_fail(err, error_status(code), "%s while %s%s%s", what, doing, *remedy ? "; " : "", remedy);
    if (err)
        err->driver_code = code;
    return status;
}

/* "kernel 'a'" or "one of the kernels 'a', 'b'"; under the lock. */
static void error_suspects(const cuda_device *device, char *out, size_t n)
{
    uint32_t count = TS_MIN(device->n_recent, (uint32_t)CUDA_RECENT);
    size_t at = 0;
    out[0] = 0;
    if (count == 0)
        snprintf(out, n, "work of another library");
    else if (count == 1)
        snprintf(out, n, "kernel '%s'", device->recent[0]);
    for (uint32_t i = 0; count > 1 && i < count && at < n; i++)
        at += (size_t)snprintf(out + at, n - at, "%s'%s'", i ? ", " : "one of the kernels ", device->recent[i]);
    if (device->n_recent > CUDA_RECENT && at < n)
        snprintf(out + at, n - at, " or one before");
}

/* The first report of a sticky fault; later ones only say that the device is lost. */
static ts_status error_sticky(cuda_device *device, cuda_result code, ts_error *err)
{
    char what[512], suspects[CUDA_RECENT * 72];
    pthread_mutex_lock(&device->lock);
    bool told = atomic_exchange(&device->lost, true);
    if (!told) {
        error_text(&device->cuda->fn, code, what, sizeof what);
        error_suspects(device, suspects, sizeof suspects);
        snprintf(device->lost_text, sizeof device->lost_text, "%s in %s", what, suspects);
    }
    pthread_mutex_unlock(&device->lock);
    ts_status status =
        told ? ts_fail(err, TS_DEVICE, "CUDA device %d cannot be used since %s; call device.reset()",
                       TS_DEVICE_ID_ORDINAL(device->base.id), device->lost_text)
             : ts_fail(err, TS_LAUNCH, "CUDA device %d: %s: %s. Its arrays are lost; call device.reset(), and if the "
                                     "driver refuses that, start a new process",
                       TS_DEVICE_ID_ORDINAL(device->base.id), device->lost_text, cuda_remedy(code));
    if (err)
        err->driver_code = code;
    return status;
}

ts_status cuda_fail(cuda_device *device, cuda_result code, ts_error *err, const char *format, ...)
{
    char doing[512], what[512];
    const struct error_row *row = error_find(code);
    if (row && row->is_sticky)
        return error_sticky(device, code, err);
    va_list args;
    va_start(args, format);
    vsnprintf(doing, sizeof doing, format, args);
    va_end(args);
    error_text(&device->cuda->fn, code, what, sizeof what);
    ts_status status = ts_fail(err, error_status(code), "CUDA device %d: %s while %s%s%s",
                               TS_DEVICE_ID_ORDINAL(device->base.id), what, doing, row ? "; " : "",
                               row ? row->remedy : "");
    if (err)
        err->driver_code = code;
    return status;
}
