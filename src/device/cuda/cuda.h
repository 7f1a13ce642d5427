/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the CUDA device: the driver library (load.c), errors (error.c), contexts and queries
 * (cuda.c), memory (memory.c), streams and events (stream.c), programs and launches (program.c). Nothing here is
 * done before a GPU is asked for; the context is made at the first use of the device.
 *
 * Current context: calls make the device's primary context current for their duration, and restore what
 * another library had chosen; a thread without a context keeps ours.
 */
#ifndef TS_DEVICE_CUDA_CUDA_H
#define TS_DEVICE_CUDA_CUDA_H

#include "device/cuda/driver.h"
#include "device/device.h"

enum { CUDA_DEVICES_MAX = 64, CUDA_CLASSES = 4 * 64, CUDA_RECENT = 8, CUDA_FAULTS = 64, CUDA_WAITERS = 32 };

typedef struct cuda_device cuda_device;

struct ts_cuda {
    const ts_alloc *alloc;
    void *library;
    int version;               /* of the driver: 13000 */
    cuda_driver fn;
    int n_devices, n_room;     /* made; room in `devices` */
    cuda_device *devices;
    _Atomic bool forked;       /* this process is a child: the driver does not work here */
};

/* Freed memory kept for reuse by later work of the same stream. */
typedef struct cuda_kept {
    struct cuda_kept *next;
    cuda_ptr memory;
} cuda_kept;

typedef struct cuda_stream {
    ts_stream base;            /* impl points here */
    struct cuda_stream *next, **link; /* of the device; under its lock */
    uint32_t references;       /* under the device's lock */
    uint32_t epoch;
    _Atomic bool closed;       /* destroyed but held */
    bool adopted;              /* made elsewhere, maybe in another context than the primary one */
    uint32_t n_kept;           /* in all of `kept`; both under the device's lock */
    cuda_kept **kept;          /* CUDA_CLASSES lists, made with the first block that is kept; or NULL */
} cuda_stream;

/* What a tensor map is made of besides the plan. */
typedef struct cuda_tmap_key {
    uint64_t base, dims[5], strides[5];
    uint64_t rows; /* of the box, along a dimension where it is cut to the array */
} cuda_tmap_key;

/* The tensor map of the launch before: encoding one costs more than comparing. */
typedef struct cuda_tmap_kept {
    uint64_t words[16]; /* of a cuda_tmap */
    cuda_tmap_key key;  /* dims[0] 0: none */
} cuda_tmap_kept;

typedef struct cuda_program {
    ts_program base;
    cuda_library library;      /* one of the two */
    cuda_module module;
    cuda_function function;
    uint32_t n_attrs, resident; /* resident: blocks per SM of a persistent kernel */
    uint32_t most_threads, most_shared; /* of a block of a kernel of threads; shared memory in bytes */
    cuda_launch_attr attrs[2];
    atomic_flag keeps;         /* somebody reads or writes `kept`; others encode for themselves */
    cuda_tmap_kept *kept;      /* plan.n_tmaps of them */
} cuda_program;

/* One fault record in page-locked memory that a launch of a checked kernel may write. */
typedef struct cuda_fault {
    const cuda_program *program; /* NULL: free */
    uintptr_t stream;
    uint64_t serial;           /* of all launches that took a record */
} cuda_fault;

/* A stream on which a notice of an event waits for that event alone. */
typedef struct cuda_waiter {
    ts_stream *stream;         /* NULL: not made yet */
    uint32_t epoch;
    bool busy;
} cuda_waiter;

struct cuda_device {
    ts_device base;
    ts_cuda *cuda;
    cuda_ordinal handle;
    int cc_major, cc_minor, n_sms;
    uint64_t total_bytes;
    _Atomic bool ready;        /* the context is there */
    cuda_context context;
    pthread_mutex_t lock;      /* everything below, and making the context */
    cuda_pool pool;            /* NULL: the driver has none */
    cuda_stream *streams;
    cuda_stream *default_stream;
    uint64_t used_bytes, kept_bytes, keep_limit;
    _Atomic(void *) empty;     /* zeroed memory that stands for arrays without elements; NULL until needed */
    /* faults */
    _Atomic bool lost;         /* a sticky fault happened and was reported */
    char lost_text[1152];
    _Atomic(const void *) last; /* cuda_program, or handle of a kernel; compared, never followed */
    uint32_t n_recent;         /* kernels launched since the device was last known to be well */
    char recent[CUDA_RECENT][64];
    ts_fault *fault_records;   /* CUDA_FAULTS of them, page-locked; NULL until needed */
    cuda_fault faults[CUDA_FAULTS];
    uint64_t n_faults;         /* records ever taken */
    bool has_pending;          /* a fault of a program that is gone */
    ts_error pending;
    pthread_mutex_t notice_lock; /* never held around a call of the driver, which may call us from its threads */
    struct cuda_cell *notices; /* in flight */
    cuda_waiter waiters[CUDA_WAITERS];
};

static inline cuda_device *cuda_of(const ts_device *device)
{
    return (cuda_device *)(uintptr_t)device;
}

/* Whether the stream was made by us, hence in the primary context. */
static inline bool cuda_stream_is_primary(const ts_stream *stream)
{
    const cuda_stream *own = stream->impl;
    return own && !own->adopted;
}

/* ---- error.c --------------------------------------------------------------------------------------- */

/* The status and sentence of a driver result: its name, number and text, what was done, what helps. After a
 * sticky fault the device is lost. */
ts_status cuda_fail(cuda_device *device, cuda_result code, ts_error *err, const char *format, ...) TS_PRINTF(4, 5);
/* The same before there is a device. */
ts_status cuda_fail_driver(const cuda_driver *fn, cuda_result code, ts_error *err, const char *doing);
const char *cuda_remedy(cuda_result code); /* "" when we know none */

/* ---- cuda.c ------------------------------------------------------------------------------------------ */

ts_status ts__cuda_device_init(cuda_device *device, const ts_alloc *alloc, uint16_t id, ts_target target,
                               ts_error *err);
void ts__cuda_device_deinit(cuda_device *device);
/* Makes the context (once) and makes it current; *before is for cuda_leave. */
ts_status cuda_enter(cuda_device *device, cuda_context *before, ts_error *err);
void cuda_leave(cuda_device *device, cuda_context before);
/* The same, but a current context of this device stays: the user has chosen it. */
ts_status cuda_enter_chosen(cuda_device *device, cuda_context *before, bool *is_primary, ts_error *err);
void cuda_note_launch(cuda_device *device, const void *code, const char *name);
void cuda_note_well(cuda_device *device); /* everything launched so far is known to have ended well */

/* ---- memory.c ----------------------------------------------------------------------------------------- */

ts_status cuda_alloc(ts_device *device, const ts_stream *stream, uint64_t bytes, void **out, ts_error *err);
void cuda_free(ts_device *device, const ts_stream *stream, void *memory, uint64_t bytes);
void cuda_free_shared(ts_device *device, void *memory, uint64_t bytes);
ts_status cuda_copy(const ts_stream *stream, void *to, ts_mem_side to_side, const void *from, ts_mem_side from_side,
                    uint64_t bytes, ts_error *err);
ts_status cuda_fill(const ts_stream *stream, void *to, uint64_t pattern, uint32_t elem_bytes, uint64_t count,
                    ts_error *err);
ts_status cuda_host_alloc(ts_device *device, uint64_t bytes, void **out, ts_error *err);
void cuda_host_free(ts_device *device, void *memory, uint64_t bytes);
void cuda_trim(ts_device *device);
/* Under the lock, context current: gives the stream's kept memory back to the driver, or only forgets it. */
void cuda_drop_kept(cuda_device *device, cuda_stream *stream, bool forget);

/* ---- stream.c -------------------------------------------------------------------------------------------- */

/* Errors: a stream of before a reset; a destroyed one gives the default stream. */
ts_status cuda_stream_of(const ts_stream *stream, cuda_stream_t *out, ts_error *err);
ts_status cuda_stream_add(cuda_device *device, cuda_stream_t native, cuda_stream **out, ts_error *err);
ts_status cuda_stream_make(ts_device *device, const ts_stream_options *options, ts_stream **out, ts_error *err);
ts_status cuda_stream_adopt(ts_device *device, uintptr_t native, ts_stream **out, ts_error *err);
void cuda_stream_end(ts_stream *stream);
void cuda_stream_retain(ts_stream *stream);
void cuda_stream_release(ts_stream *stream);
ts_status cuda_stream_sync(const ts_stream *stream, int64_t limit_ns, ts_error *err);
ts_status cuda_stream_done(const ts_stream *stream, bool *done, ts_error *err);
ts_status cuda_stream_wait_event(const ts_stream *stream, ts_event *event, ts_error *err);
ts_status cuda_stream_call(const ts_stream *stream, void (*function)(void *), void *user, ts_error *err);
ts_status cuda_event_create(ts_device *device, const ts_stream *stream, uint32_t flags, ts_event **out, ts_error *err);
ts_status cuda_event_adopt(ts_device *device, uintptr_t native, uint32_t flags, ts_event **out, ts_error *err);
uintptr_t cuda_event_native(const ts_event *event);
void cuda_event_destroy(ts_event *event);
ts_status cuda_event_record(ts_event *event, const ts_stream *stream, ts_error *err);
ts_status cuda_event_sync(ts_event *event, int64_t limit_ns, ts_error *err);
ts_status cuda_event_done(ts_event *event, bool *done, ts_error *err);
ts_status cuda_event_elapsed(ts_event *begin, ts_event *end, double *ns, ts_error *err);
/* Asks `query` until it is done: busily at first, then with growing pauses. */
ts_status cuda_poll(cuda_device *device, cuda_result (*query)(void *), void *what, int64_t limit_ns, ts_error *err);

/* ---- native.c ------------------------------------------------------------------------------------------------- */

ts_status cuda_pool_alloc(ts_device *device, uintptr_t pool, const ts_stream *stream, uint64_t bytes, void **out,
                          ts_error *err);
ts_status cuda_pool_free(ts_device *device, const ts_stream *stream, void *memory, ts_error *err);
ts_status cuda_native_launch(ts_device *device, const ts_stream *stream, const ts_native_config *config,
                             const ts_native_kernel *kernel, void **params, ts_error *err);
ts_status cuda_native_function(ts_device *device, uintptr_t kernel, uintptr_t *out, ts_error *err);
ts_status cuda_native_param(ts_device *device, uintptr_t kernel, bool is_function, size_t index, size_t *offset,
                            size_t *bytes, ts_error *err);

/* ---- program.c, fault.c --------------------------------------------------------------------------------------- */

ts_status cuda_program_load(ts_device *device, const ts_code *code, const char *name, const char *file,
                            ts_program **out, ts_error *err);
void cuda_program_destroy(ts_program *program);
bool cuda_program_is_beyond(const ts_error *err);
void cuda_program_resources(const ts_program *program, ts_resources *out);
uint64_t cuda_program_library(const ts_program *program);
ts_status cuda_program_launch(ts_program *program, const ts_stream *stream, const ts_launch_shape *shape,
                              const uint64_t *params, uint32_t flags, ts_error *err);
/* A record for one launch; waits for the device when all are in use. */
ts_status cuda_fault_take(cuda_program *program, uintptr_t stream, ts_fault **out, ts_error *err);
/* Looks at the records of a stream (ALL: of all) up to serial `until`, whose launches are done: TS_LAUNCH for the
 * first one written. */
#define CUDA_ALL_STREAMS UINTPTR_MAX
ts_status cuda_fault_collect(cuda_device *device, uintptr_t stream, uint64_t until, ts_error *err);
/* A fault that is in a record and that nothing has reported; running kernels keep their records. */
ts_status cuda_unheard(ts_device *handle, ts_error *err);
#define CUDA_ALL_FAULTS UINT64_MAX
uint64_t cuda_fault_mark(cuda_device *device); /* the newest serial */

/* ---- notice.c -------------------------------------------------------------------------------------------------- */

ts_status cuda_stream_notify(const ts_stream *stream, ts_notice *notice, ts_error *err);
ts_status cuda_stream_fault(const ts_stream *stream, uint64_t mark, ts_error *err);
ts_status cuda_event_notify(ts_event *event, ts_notice *notice, bool *taken, ts_error *err);
/* Calls every notice in flight: their work will not end any more. */
void cuda_notices_flush(cuda_device *device);
void cuda_notices_deinit(cuda_device *device);

#endif
