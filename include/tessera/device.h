/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices: memory, streams, events, and programs, on the CPU and on GPUs through one set of functions.
 * The launch of kernels with Python-like arguments is one level up, in launch.h; arrays are in array.h.
 *
 * A device lives as long as the process; `ts_device_get` lends it. Everything here may be called from
 * any thread at once, except that one object is not destroyed while another call uses it.
 *
 *     ts_device *device;
 *     void *memory;
 *     ts_device_get(TS_DEVICE_CUDA, 0, &device, &err);
 *     ts_stream *stream = ts_device_default_stream(device);
 *     ts_mem_alloc(device, stream, n * sizeof *host, &memory, &err);
 *     ts_mem_copy(stream, memory, TS_MEM_DEVICE, host, TS_MEM_HOST, n * sizeof *host, &err);
 *     ts_stream_sync(stream, TS_FOREVER, &err);
 *
 * Order: work given to one stream runs in the order given; streams are independent unless an event ties
 * them. The default stream of the CPU is the calling thread itself: its work is done when the call
 * returns. Other CPU streams run in a thread of their own. On a GPU the default stream is the driver's
 * legacy stream (handle 0), which other libraries use too.
 *
 * Waiting functions take a limit in nanoseconds (TS_FOREVER waits without end) and return
 * TS_INTERRUPTED when it passes or a signal arrives, so that a caller can look at Ctrl-C and wait again.
 *
 * fork: in the child the CPU device works again by itself. Streams and events made before the fork give
 * TS_RUNTIME there; a GPU that the parent had opened cannot be used in the child (TS_RUNTIME says so).
 */
#ifndef TESSERA_DEVICE_H
#define TESSERA_DEVICE_H

#include "tessera/compile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_DEVICES(X) /* name, number, as users write it, in messages */ \
    X(CPU, 1, "cpu", "the CPU")                                           \
    X(CUDA, 2, "cuda", "CUDA device")

typedef enum ts_device_kind {
#define X(name, number, text, words) TS_DEVICE_##name = number,
    TS_DEVICES(X)
#undef X
    TS_DEVICE_KINDS /* one more than the last */
} ts_device_kind;

/* What a device is like, where callers must know. */
typedef enum ts_device_caps {
    TS_DEVICE_HOST_MEMORY = 1, /* its memory is the host's: read in place, copied and given back without a wait, kept
                                * by a reset */
    TS_DEVICE_NATIVE = 2       /* streams, events, pools and kernels are those of a driver: native.h */
} ts_device_caps;

typedef struct ts_device ts_device;
typedef struct ts_event ts_event;
typedef struct ts_program ts_program; /* code loaded on a device: one entry with its plan */

#define TS_FOREVER INT64_MAX
#define TS_DEVICE_ID(kind, ordinal) ((uint16_t)((kind) << 8 | (ordinal)))
#define TS_DEVICE_ID_KIND(id) ((ts_device_kind)((id) >> 8))
#define TS_DEVICE_ID_ORDINAL(id) ((id) & 255)

/* A stream. Those of ts_stream_create and ts_device_default_stream belong to the device; a stream of
 * another library is described on the spot: {device, (uintptr_t)handle, NULL}. For ts_launch a NULL
 * device means "the device of the arguments". A foreign stream must outlive memory allocated on it. */
typedef struct ts_stream {
    ts_device *device;
    uintptr_t native; /* identity: the CUstream, on the CPU an address; 0 is the default stream */
    void *impl;       /* private; NULL for foreign streams */
} ts_stream;

typedef struct ts_device_info {
    char name[128];        /* "NVIDIA H200", or the CPU's model name */
    ts_device_kind kind;
    int32_t ordinal;
    ts_target target;      /* what ts_compile is asked for */
    int32_t cc_major, cc_minor;      /* CUDA compute capability, 0 on the CPU */
    int32_t driver_version;          /* 13000 = CUDA 13.0; 0 on the CPU */
    int32_t units;                   /* SMs; CPU: threads of the pool */
    int32_t clock_khz, memory_clock_khz, memory_bus_bits; /* 0 = unknown */
    uint64_t memory_bytes, free_bytes, l2_bytes, shared_bytes_per_block;
    uint64_t pool_used_bytes, pool_kept_bytes; /* handed out; kept for reuse */
} ts_device_info;

/* ---- devices ------------------------------------------------------------------------------------ */

/* Devices of a kind on this machine; 0 when there are none (no driver, no GPU). */
TS_API int ts_device_count(ts_device_kind kind);

/* Lends device number `ordinal`. The first call for a GPU loads the driver (0.1 to 0.3 s).
 * Errors: TS_NODEVICE with what is missing and what to do, TS_VALUE for an unknown kind. */
TS_API TS_CHECKED ts_status ts_device_get(ts_device_kind kind, int ordinal, ts_device **out, ts_error *err);
/* The device as a number of 16 bits, and back: kind and ordinal, as arguments of launches carry it (ts_arg.device).
 * ts_device_by_id lends the device and fails as ts_device_get does. */
TS_API uint16_t ts_device_id(const ts_device *device);
TS_API TS_CHECKED ts_status ts_device_by_id(uint16_t id, ts_device **out, ts_error *err);
/* What ts_compile must be asked for so that the device can run the code. Never fails, costs nothing. */
TS_API ts_target ts_device_target(const ts_device *device);
/* What the device can do, as bits of ts_device_caps. Costs nothing. */
TS_API uint32_t ts_device_caps_of(const ts_device *device);
/* Fills *out with what the device is and how its memory stands at this moment. On a GPU this asks the driver (some
 * microseconds), and does not wait for work. Errors: TS_DEVICE, TS_RUNTIME after fork. */
TS_API TS_CHECKED ts_status ts_device_query(ts_device *device, ts_device_info *out, ts_error *err);

/* Waits for everything given to the device by this process. Reports faults of kernels (TS_LAUNCH). */
TS_API TS_CHECKED ts_status ts_device_sync(ts_device *device, int64_t limit_ns, ts_error *err);

/* Ends every stream, event, program and allocation of the device and begins afresh; the way out of a
 * sticky GPU fault where the driver allows it (580 does not: then TS_DEVICE, and only a new process can use the
 * GPU again; faults that checked kernels record are never sticky). Kernels are loaded again by themselves at their next
 * launch; arrays on the device are lost and say so when they are used. Other devices are untouched. */
TS_API TS_CHECKED ts_status ts_device_reset(ts_device *device, ts_error *err);
/* Ends kernels that run on the device's streams or wait there, without waiting for it: a kernel looks up between
 * blocks and in every round of a loop. What it wrote so far stays; the stream's next wait
 * tells TS_LAUNCH. The device and its streams stay usable. False: this device cannot (a GPU). */
TS_API bool ts_device_cancel(ts_device *device);
/* The same for one stream; false for the default one, too. */
TS_API bool ts_stream_cancel(const ts_stream *stream);
/* Asks the caller whether to go on, so that Ctrl-C can end a launch. `asked` is called every 50 ms or so, in the thread
 * that called ts_interrupt_set, while that thread waits for a launch on the CPU's default stream (its own, or others'
 * before it) or compiles a kernel (not within LLVM or another assembler, which end first). True ends the launch as
 * above, with TS_INTERRUPTED. It may launch kernels itself. One function for the process; NULL takes it away. */
typedef bool ts_interrupt_fn(void);
TS_API void ts_interrupt_set(ts_interrupt_fn *asked);
/* `before` is called before a launch on the CPU's default stream writes what its kernel printed, in its caller's
 * thread: who buffers standard output himself (Python) writes it out there. NULL takes it away. */
typedef void ts_print_fn(void);
TS_API void ts_print_set(ts_print_fn *before);
/* Calls `tell` with each fault of work that has ended and that no wait has reported, on all devices that this process
 * uses, and forgets it; gives their number. It neither waits nor asks a driver, so it can be called at the end of a
 * process while a kernel hangs; before the driver's library is unloaded (from `main`, not from atexit). */
typedef void ts_fault_fn(const ts_error *fault);
TS_API size_t ts_faults_tell(ts_fault_fn *tell);
/* `tell` is called at the exit of the process, which waits for the streams of the CPU device, with the faults there
 * that nothing has reported. NULL takes it away. */
TS_API void ts_fault_set(ts_fault_fn *tell);
/* Counts resets; an allocation of an earlier epoch is lost. */
TS_API uint32_t ts_device_epoch(const ts_device *device);
/* Gives memory kept for reuse back to the system. */
TS_API void ts_device_trim(ts_device *device);

/* ---- memory -------------------------------------------------------------------------------------- */

/* `bytes` of device memory, aligned to 64 bytes or better (2 MiB where large), usable by work given to
 * `stream` from now on; NULL stream = default. Zero bytes give NULL. Contents are undefined. */
TS_API TS_CHECKED ts_status ts_mem_alloc(ts_device *device, const ts_stream *stream, uint64_t bytes,
                                         void **out, ts_error *err);
/* Gives memory back once the work given to `stream` so far is done; does not wait. */
TS_API void ts_mem_free(ts_device *device, const ts_stream *stream, void *memory, uint64_t bytes);

/* Copies in stream order between any of host (TS_MEM_HOST) and device memory. Memory allocated by
 * ts_host_alloc is copied asynchronously; with plain host memory the call returns when the host side may
 * be reused (host to device) or is complete (device to host). On the CPU device both are host memory. */
typedef enum ts_mem_side { TS_MEM_HOST, TS_MEM_DEVICE } ts_mem_side;
TS_API TS_CHECKED ts_status ts_mem_copy(const ts_stream *stream, void *to, ts_mem_side to_side, const void *from,
                                        ts_mem_side from_side, uint64_t bytes, ts_error *err);
/* Fills `count` elements of 1, 2, 4 or 8 bytes with the low bytes of `pattern`, in stream order. */
TS_API TS_CHECKED ts_status ts_mem_fill(const ts_stream *stream, void *to, uint64_t pattern, uint32_t elem_bytes,
                                        uint64_t count, ts_error *err);
/* Page-locked host memory for fast copies (on the CPU device: ordinary pooled memory). Owns: *out, ended by
 * ts_host_free with the same device and size. Errors: TS_NOMEM, TS_DEVICE. */
TS_API TS_CHECKED ts_status ts_host_alloc(ts_device *device, uint64_t bytes, void **out, ts_error *err);
TS_API void ts_host_free(ts_device *device, void *memory, uint64_t bytes);

/* ---- streams --------------------------------------------------------------------------------------- */

/* The device's default stream: the calling thread itself on the CPU, the driver's legacy stream on a GPU. Borrowed,
 * lives as long as the process, never NULL. */
TS_API ts_stream *ts_device_default_stream(ts_device *device);
/* A stream of its own, independent of the default one: a thread of the library on the CPU, a non-blocking CUstream on a
 * GPU. Owns: *out, ended by ts_stream_destroy. Errors: TS_NOMEM, TS_DEVICE, TS_RUNTIME after fork. */
TS_API TS_CHECKED ts_status ts_stream_create(ts_device *device, ts_stream **out, ts_error *err);
/* Waits for nothing: work that the stream has is done, and a fault in it is told by the next ts_device_sync. NULL is
 * fine. */
TS_API void ts_stream_destroy(ts_stream *stream);
/* Waits until everything given so far is done. Errors: TS_LAUNCH for the first fault of a kernel since
 * the last wait (then forgotten), TS_DEVICE, TS_INTERRUPTED, TS_RUNTIME after fork. */
TS_API TS_CHECKED ts_status ts_stream_sync(const ts_stream *stream, int64_t limit_ns, ts_error *err);
/* *done tells whether nothing is left to do; never waits. */
TS_API TS_CHECKED ts_status ts_stream_done(const ts_stream *stream, bool *done, ts_error *err);
/* Later work of the stream waits for the event's last record (nothing, if never recorded). */
TS_API TS_CHECKED ts_status ts_stream_wait_event(const ts_stream *stream, ts_event *event, ts_error *err);
/* Calls function(user) in stream order in a thread of the library, on the CPU with floats rounded as in kernels; it
 * must not call the library. */
TS_API TS_CHECKED ts_status ts_stream_call(const ts_stream *stream, void (*function)(void *user), void *user,
                                           ts_error *err);

/* Being told without waiting. `call` is called once, in a thread of the library or of the driver, also when the
 * device has failed or was reset meanwhile, and from within the request itself when nothing is left to do. It must
 * not call the library. The notice is the caller's and lives until then. */
typedef struct ts_notice ts_notice;
struct ts_notice {
    void (*call)(ts_notice *notice);
    uint64_t mark;   /* for ts_stream_fault, once requested */
    ts_notice *next; /* the library's until the call, then the caller's */
};
/* Requests a call when everything given to the stream so far is done. */
TS_API TS_CHECKED ts_status ts_stream_notify(const ts_stream *stream, ts_notice *notice, ts_error *err);
/* The first fault of a kernel since the last wait, as ts_stream_sync would tell it, without waiting: of work
 * given before the notice with this `mark`, which has been called; UINT64_MAX: of a stream that is done. */
TS_API TS_CHECKED ts_status ts_stream_fault(const ts_stream *stream, uint64_t mark, ts_error *err);

/* ---- events ---------------------------------------------------------------------------------------- */

/* A mark in the order of a stream, for waiting and for measuring: "record" puts it behind the work given so far, and
 * may be called again, which moves it. Owns: *out, ended by ts_event_destroy. Errors: TS_NOMEM, TS_DEVICE. */
TS_API TS_CHECKED ts_status ts_event_create(ts_device *device, ts_event **out, ts_error *err);
TS_API void ts_event_destroy(ts_event *event); /* NULL is fine; pending records still happen */
/* Enqueued on `stream`, of the event's device; returns at once. */
TS_API TS_CHECKED ts_status ts_event_record(ts_event *event, const ts_stream *stream, ts_error *err);
/* Waits until the last record has happened, at most limit_ns; at once if there is none. Errors: as ts_stream_sync. */
TS_API TS_CHECKED ts_status ts_event_sync(ts_event *event, int64_t limit_ns, ts_error *err);
/* *done: the last record has happened, or there is none; never waits. */
TS_API TS_CHECKED ts_status ts_event_done(ts_event *event, bool *done, ts_error *err);
/* Requests a call when the event's last record has happened. *taken is false, and nothing requested, while too
 * many notices of events are in flight on a GPU (more than 32): ask ts_event_done from time to time instead. */
TS_API TS_CHECKED ts_status ts_event_notify(ts_event *event, ts_notice *notice, bool *taken, ts_error *err);
/* Device time between two completed records. Errors: TS_RUNTIME if one is not recorded or not done. */
TS_API TS_CHECKED ts_status ts_event_elapsed(ts_event *begin, ts_event *end, double *ns, ts_error *err);

/* ---- programs --------------------------------------------------------------------------------------- */

/* Loads compiled code (copied; the caller keeps `code`). GPU: assembles the PTX in the driver, whose log
 * becomes the error text. `name` and `file` are what faults call the kernel; both may be NULL. */
TS_API TS_CHECKED ts_status ts_program_load(ts_device *device, const ts_code *code, const char *name,
                                            const char *file, ts_program **out, ts_error *err);
/* The program must not be running. NULL is fine. */
TS_API void ts_program_destroy(ts_program *program);
/* What the compiler decided for the code: parameters, threads, shared memory, tensor maps. Borrowed. */
TS_API const ts_plan *ts_program_plan(const ts_program *program);
/* What the driver's assembler had to say (registers, spills, warnings); "" on the CPU and when the driver answered
 * from its own cache. A warning C75xx means that tensor-core work was serialised: a mistake of our compiler. */
TS_API const char *ts_program_log(const ts_program *program);
TS_API bool ts_program_is_serialised(const ts_program *program); /* the log has a C75xx */

typedef enum ts_launch_flags {
    TS_LAUNCH_PDL = 1, /* GPU: may start before the kernel ahead of it has ended (it waits by itself) */
    TS_LAUNCH_PREPARE = 2, /* compiles and loads, and runs nothing: a launch like this one finds the code then */
    TS_LAUNCH_BRIEF = 4, /* CPU: a launch of one block ends in microseconds, whatever its arguments say: it runs in its
                          * caller's thread, and nobody is asked meanwhile whether to go on */
    TS_LAUNCH_KEPT = 8, /* loads code that is kept, and neither compiles nor runs: TS_NOTFOUND where none is */
    TS_LAUNCH_LONG = 16 /* CPU: each block is worth waking a thread, whatever blocks of other launches took */
} ts_launch_flags;

/* Runs the program over grid blocks (each axis 1 to 2^24-1). `params` has plan.n_params slots of 8 bytes,
 * narrow values in the low bytes, without the parameters that the device adds itself (see ts_plan:
 * tensor maps, the grid of persistent kernels, the fault record). Copied before the call returns.
 * Errors: TS_LAUNCH for a fault (CPU default stream: of this launch; else of an earlier one), TS_DEVICE. */
TS_API TS_CHECKED ts_status ts_program_launch(ts_program *program, const ts_stream *stream, const uint32_t grid[3],
                                              const uint64_t *params, uint32_t flags, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
