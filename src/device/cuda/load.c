/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA driver library: found, loaded and resolved once. */
#include "device/device.h"

ts_status ts__cuda_open(const char *path, const ts_alloc *alloc, ts_cuda **out, ts_error *err)
{
    (void)path, (void)alloc;
    *out = NULL;
    return ts_fail(err, TS_NODEVICE, "this build has no CUDA device");
}
void ts__cuda_close(ts_cuda *cuda)
{
    (void)cuda;
}
int ts__cuda_count(const ts_cuda *cuda)
{
    (void)cuda;
    return 0;
}
ts_device *ts__cuda_device(ts_cuda *cuda, int ordinal)
{
    (void)cuda, (void)ordinal;
    return NULL;
}
void ts__cuda_after_fork_in_child(ts_cuda *cuda)
{
    (void)cuda;
}
