/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the CUDA driver other code has made or will see: streams and events by handle, memory pools,
 * kernels that Tessera did not compile. The CPU device has streams and events with options too; of the
 * rest it says that it cannot (TS_UNSUPPORTED). Read device.h first.
 *
 *     ts_stream *stream;
 *     ts_stream_adopt(device, (uintptr_t)custream, &stream, &err);     now the library's to destroy
 *     ts_native_kernel kernel = {.handle = (uintptr_t)cufunction, .name = "axpy"};
 *     ts_native_config config = {.grid = {n / 128, 1, 1}, .block = {128, 1, 1}};
 *     ts_native_launch(device, stream, &config, &kernel, (void *[]){&a, &x, &y}, &err);
 *
 * Handles are the driver's own as uintptr_t, so that no header of CUDA is needed; nobody checks that they are what they
 * are said to be. Threads: safe. Streams: what is given to one keeps its order with everything of device.h.
 *
 * Current context: these calls keep the context that is current if it is one of the device (a green
 * context, one of the user's), and use the primary context otherwise.
 */
#ifndef TESSERA_NATIVE_H
#define TESSERA_NATIVE_H

#include "tessera/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- streams and events ----------------------------------------------------------------------------- */

/* All false: as ts_stream_create makes it. */
typedef struct ts_stream_options {
    bool blocking;     /* ordered with the legacy default stream, as the driver's own streams are */
    bool has_priority;
    int32_t priority;  /* smaller is more urgent; the driver clamps it */
} ts_stream_options;

typedef enum ts_event_flags {
    TS_EVENT_BLOCKING = 1, /* a waiting thread sleeps */
    TS_EVENT_UNTIMED = 2,  /* cheaper to record; has no elapsed time */
    TS_EVENT_SHARED = 4    /* can be given to other processes; must be untimed */
} ts_event_flags;          /* the bits of CUevent_flags */

/* A stream with options, on any device; the CPU has no priorities. Owns: *out, ended by
 * ts_stream_destroy. Errors: as ts_stream_create. */
TS_API TS_CHECKED ts_status ts_stream_create_with(ts_device *device, const ts_stream_options *options,
                                                  ts_stream **out, ts_error *err);
/* Takes a stream that the driver has made: it is destroyed with *out. On failure it is still the caller's. GPU only:
 * TS_UNSUPPORTED on the CPU. */
TS_API TS_CHECKED ts_status ts_stream_adopt(ts_device *device, uintptr_t native, ts_stream **out, ts_error *err);
/* The stream of a device by its number, `native` of another ts_stream. Numbers below 3 are default streams. A GPU's
 * are taken as they are, as the driver does. Borrowed: *out is valid for as long as the stream. Errors: TS_VALUE for
 * a number that no stream of the CPU device has. */
TS_API TS_CHECKED ts_status ts_stream_find(ts_device *device, uintptr_t native, ts_stream *out, ts_error *err);
/* An event with flags (ts_event_flags), made in the context of `stream`, which may be NULL. Owns: *out, ended by
 * ts_event_destroy. Errors: TS_NOMEM, TS_DEVICE, also for flags that do not go together. */
TS_API TS_CHECKED ts_status ts_event_create_with(ts_device *device, const ts_stream *stream, uint32_t flags,
                                                 ts_event **out, ts_error *err);
/* Takes an event that the driver has made: it is destroyed with *out. `flags` are those it was made with. GPU only. */
TS_API TS_CHECKED ts_status ts_event_adopt(ts_device *device, uintptr_t native, uint32_t flags, ts_event **out,
                                           ts_error *err);
/* The CUevent, borrowed; on the CPU an address that names the event. */
TS_API uintptr_t ts_event_native(const ts_event *event);
/* The flags that the event was made with. */
TS_API uint32_t ts_event_flags_of(const ts_event *event);

/* ---- pools --------------------------------------------------------------------------------------------- */

/* `bytes` of a CUmemoryPool in stream order. Errors: TS_NOMEM, TS_DEVICE. */
TS_API TS_CHECKED ts_status ts_pool_alloc(ts_device *device, uintptr_t pool, const ts_stream *stream, uint64_t bytes,
                                          void **out, ts_error *err);
/* Gives memory of any pool back in stream order. Unlike ts_mem_free it can fail: the caller may have freed it. */
TS_API TS_CHECKED ts_status ts_pool_free(ts_device *device, const ts_stream *stream, void *memory, ts_error *err);

/* ---- kernels ------------------------------------------------------------------------------------------- */

/* How to launch. Attributes are those of cuLaunchKernelEx, borrowed during the call; NULL with n_attrs 0. */
typedef struct ts_native_config {
    uint32_t grid[3], block[3]; /* blocks, threads */
    uint32_t shared_bytes;      /* dynamic shared memory */
    uint32_t n_attrs;
    const void *attrs;          /* CUlaunchAttribute[n_attrs] */
} ts_native_config;

/* What to launch: code that somebody else has loaded into the driver. */
typedef struct ts_native_kernel {
    uintptr_t handle;   /* CUkernel or CUfunction */
    uintptr_t function; /* its CUfunction in the device's primary context, or 0: faster where it fits the stream */
    const char *name;   /* for the message about a fault; copied */
} ts_native_kernel;

/* Launches a kernel; params[i] points at the i-th parameter, which is copied. Enqueued on `stream`; waits only while
 * the stream's queue is full. Errors: TS_DEVICE with the driver's words (sizes, too many resources, a bad handle);
 * TS_LAUNCH for the fault of an earlier kernel; TS_UNSUPPORTED on the CPU. */
TS_API TS_CHECKED ts_status ts_native_launch(ts_device *device, const ts_stream *stream, const ts_native_config *config,
                                             const ts_native_kernel *kernel, void **params, ts_error *err);
/* The CUfunction of a CUkernel in the device's primary context; loads the code, which may wait for the device. */
TS_API TS_CHECKED ts_status ts_native_function(ts_device *device, uintptr_t kernel, uintptr_t *out, ts_error *err);
/* Place and size of parameter `index`. TS_NOTFOUND past the last one, TS_UNSUPPORTED where the driver (before
 * CUDA 12.4) cannot tell. */
TS_API TS_CHECKED ts_status ts_native_param(ts_device *device, uintptr_t kernel, bool is_function, size_t index,
                                            size_t *offset, size_t *bytes, ts_error *err);
/* The driver's ordinal of the thread's current context; -1: none. Never makes a context. */
TS_API int ts_native_current(void);

#ifdef __cplusplus
}
#endif
#endif
