/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device is to the library: a table of functions and the few members that every device has. A new
 * device is a folder beside cpu/ (complete, the model to copy) that fills ts_device_ops, and one row in
 * registry.c. device.c turns the public functions of tessera/device.h into calls of this table: it has
 * checked that arguments are not NULL and that streams and events belong to the device.
 *
 * Unless a member says otherwise: required, called from any thread with no lock of ours held, and returns
 * without waiting for the device.
 */
#ifndef TS_DEVICE_DEVICE_H
#define TS_DEVICE_DEVICE_H

#include "base/base.h"
#include "tessera/device.h"
#include "tessera/graph.h"
#include "tessera/native.h"
#include "tessera/report.h"
#include <pthread.h>
#include <stdatomic.h>

enum { TS_DEVICE_VERSION = 1 };

/* What a launch starts: blocks, each axis at least 1. Block, cluster and shared bytes are for kernels of threads
 * (plan.thread_kernel) alone, were checked against what every GPU has, and are zero for others. */
typedef struct ts_launch_shape {
    uint32_t grid[3], block[3];
    uint32_t cluster[3];   /* all zero or all 1 and more */
    uint32_t shared_bytes; /* dynamic, behind the plan's */
    const void *tables;    /* plan.table_bytes of tables of lists; NULL: they are not among the parameters */
} ts_launch_shape;

/* Items begin <= i < end of work that is spread. */
typedef void ts_spread_fn(void *user, int64_t begin, int64_t end);

typedef struct ts_device_ops {
    uint32_t version; /* TS_DEVICE_VERSION */
    uint32_t caps;    /* ts_device_caps */

    /* ---- queries ---- */
    /* Fills everything; may ask the driver. */
    ts_status (*query)(ts_device *device, ts_device_info *out, ts_error *err);
    /* Waits for all work of this process, reports and forgets pending faults. */
    ts_status (*sync)(ts_device *device, int64_t limit_ns, ts_error *err);
    /* A fault of work that has ended and that no wait has reported: reports and forgets it. Neither waits nor asks a
     * driver. */
    ts_status (*unheard)(ts_device *device, ts_error *err);
    /* Optional (NULL: never): whether the device does not work in this process, a child of fork. */
    bool (*is_forked)(const ts_device *device);
    /* Ends all objects, then device->epoch is advanced by device.c. Waits. */
    ts_status (*reset)(ts_device *device, ts_error *err);
    /* Optional: NULL where running work cannot be ended. */
    void (*cancel)(ts_device *device, const ts_stream *stream); /* NULL: of all streams */

    /* ---- memory ---- */
    /* bytes > 0; stream-ordered; tries again after trim before it fails with TS_NOMEM. */
    ts_status (*alloc)(ts_device *device, const ts_stream *stream, uint64_t bytes, void **out, ts_error *err);
    /* Of the current epoch; stream-ordered; cannot fail. */
    void (*free)(ts_device *device, const ts_stream *stream, void *memory, uint64_t bytes);
    /* The same for memory that several streams may be using: all of them finish first. May wait. */
    void (*free_shared)(ts_device *device, void *memory, uint64_t bytes);
    /* bytes > 0. Host sides that are not page-locked are finished with on return. */
    ts_status (*copy)(const ts_stream *stream, void *to, ts_mem_side to_side, const void *from,
                      ts_mem_side from_side, uint64_t bytes, ts_error *err);
    /* count > 0; elem_bytes 1, 2, 4 or 8; `to` is aligned to it. */
    ts_status (*fill)(const ts_stream *stream, void *to, uint64_t pattern, uint32_t elem_bytes, uint64_t count,
                      ts_error *err);
    ts_status (*host_alloc)(ts_device *device, uint64_t bytes, void **out, ts_error *err);
    void (*host_free)(ts_device *device, void *memory, uint64_t bytes);
    void (*trim)(ts_device *device);

    /* ---- streams ---- */
    ts_status (*stream_create)(ts_device *device, const ts_stream_options *options, ts_stream **out, ts_error *err);
    /* Never the default stream, never NULL. */
    void (*stream_destroy)(ts_stream *stream);
    /* Counted holds on the stream's memory, for who will free memory on it later. Work given to a destroyed
     * stream that is still held is done at once. */
    void (*stream_retain)(ts_stream *stream);
    void (*stream_release)(ts_stream *stream);
    ts_status (*stream_sync)(const ts_stream *stream, int64_t limit_ns, ts_error *err); /* waits */
    ts_status (*stream_done)(const ts_stream *stream, bool *done, ts_error *err);
    ts_status (*stream_wait_event)(const ts_stream *stream, ts_event *event, ts_error *err);
    ts_status (*stream_call)(const ts_stream *stream, void (*function)(void *), void *user, ts_error *err);
    ts_status (*stream_notify)(const ts_stream *stream, ts_notice *notice, ts_error *err);
    ts_status (*stream_fault)(const ts_stream *stream, uint64_t mark, ts_error *err);

    /* ---- events ---- */
    /* `stream` may be NULL; flags are those of ts_event_flags. */
    ts_status (*event_create)(ts_device *device, const ts_stream *stream, uint32_t flags, ts_event **out,
                              ts_error *err);
    void (*event_destroy)(ts_event *event);
    ts_status (*event_record)(ts_event *event, const ts_stream *stream, ts_error *err);
    ts_status (*event_sync)(ts_event *event, int64_t limit_ns, ts_error *err); /* waits */
    ts_status (*event_done)(ts_event *event, bool *done, ts_error *err);
    ts_status (*event_notify)(ts_event *event, ts_notice *notice, bool *taken, ts_error *err);
    ts_status (*event_elapsed)(ts_event *begin, ts_event *end, double *ns, ts_error *err);

    /* ---- programs ---- */
    /* Makes a ts_program with ts__program_new, then loads code->bytes; may take long. */
    ts_status (*program_load)(ts_device *device, const ts_code *code, const char *name, const char *file,
                              ts_program **out, ts_error *err);
    void (*program_destroy)(ts_program *program);
    /* Optional (NULL: never): whether program_load failed because its assembler cannot make code of this text, as where
     * registers do not reach; a more modest plan may do (TS_PLANS). */
    bool (*program_is_beyond)(const ts_error *err);
    /* Optional (NULL: nothing is known): registers and local memory, for when the log does not say. */
    void (*program_resources)(const ts_program *program, ts_resources *out);
    /* Optional (NULL: 0): the driver's library of a program. */
    uint64_t (*program_library)(const ts_program *program);
    /* The hit path: no allocation, no lock, no formatting unless something fails. */
    ts_status (*launch)(ts_program *program, const ts_stream *stream, const ts_launch_shape *shape,
                        const uint64_t *params, uint32_t flags, ts_error *err);

    /* ---- graphs (tessera/graph.h); all optional together: NULL where the driver has its own ---- */
    ts_status (*record_begin)(const ts_stream *stream, ts_error *err);
    /* *out: the first of a list, with one reference of each. */
    ts_status (*record_end)(const ts_stream *stream, ts_piece **out, ts_error *err);
    bool (*record_active)(const ts_stream *stream);
    void (*piece_destroy)(ts_piece *piece); /* the last reference is gone */
    /* The stream is of the script's device. The script is borrowed: retain it for work that runs later. */
    ts_status (*script_launch)(ts_script *script, const ts_stream *stream, ts_error *err);

    /* Optional (NULL: its numbers are a driver's). Gives the stream with this number, which *out has. */
    ts_status (*stream_find)(ts_device *device, uintptr_t native, ts_stream *out, ts_error *err);

    /* ---- loops in C; both optional: NULL where the device has no threads of the host ---- */
    /* As ts__device_spread. */
    void (*spread)(ts_device *device, ts_spread_fn *work, void *user, int64_t n);
    /* As ts__device_program_wrap. */
    ts_status (*program_wrap)(ts_device *device, const ts_code *code, void *entry, const char *name, const char *file,
                              ts_program **out, ts_error *err);

    /* ---- the driver's own objects; all optional together: NULL where there is no driver ---- */
    ts_status (*stream_adopt)(ts_device *device, uintptr_t native, ts_stream **out, ts_error *err);
    ts_status (*event_adopt)(ts_device *device, uintptr_t native, uint32_t flags, ts_event **out, ts_error *err);
    uintptr_t (*event_native)(const ts_event *event);
    ts_status (*pool_alloc)(ts_device *device, uintptr_t pool, const ts_stream *stream, uint64_t bytes, void **out,
                            ts_error *err);
    ts_status (*pool_free)(ts_device *device, const ts_stream *stream, void *memory, ts_error *err);
    ts_status (*native_launch)(ts_device *device, const ts_stream *stream, const ts_native_config *config,
                               const ts_native_kernel *kernel, void **params, ts_error *err);
    ts_status (*native_function)(ts_device *device, uintptr_t kernel, uintptr_t *out, ts_error *err);
    ts_status (*native_param)(ts_device *device, uintptr_t kernel, bool is_function, size_t index, size_t *offset,
                              size_t *bytes, ts_error *err);
} ts_device_ops;

struct ts_device {
    const ts_device_ops *ops;
    const ts_alloc *alloc;
    uint16_t id;
    ts_target target;
    _Atomic uint32_t epoch;     /* starts at 1 */
    ts_stream *default_stream;
};

/* Head of a piece of recorded work; a device's own begins with it. */
struct ts_piece {
    ts_device *device;
    ts_piece *next;
    ts_piece_kind kind;
    _Atomic uint32_t references;
};

struct ts_script {
    ts_device *device;
    _Atomic uint32_t references;
    void (*end)(void *user);
    void *user;
    size_t n;
    ts_step steps[]; /* each holds a reference of its work */
};
void ts__script_retain(ts_script *script);

/* A device as messages name it, "CUDA device 1"; made in `room`. */
const char *ts__device_text(uint16_t id, char *room, size_t n);

/* Calls `work` for parts of n items that are as many as the device's threads, at once, and waits; the caller does all
 * of it where there are no threads or they have other work. For loops in C over memory of the host. */
void ts__device_spread(ts_device *device, ts_spread_fn *work, void *user, int64_t n);
/* A program whose entry is a C function, a ts_cpu_entry: launches of it are as those of others. Owns: *out. Errors:
 * TS_UNSUPPORTED (no threads of the host). */
TS_CHECKED ts_status ts__device_program_wrap(ts_device *device, const ts_code *code, void *entry, const char *name,
                                             const char *file, ts_program **out, ts_error *err);

struct ts_event {
    ts_device *device;
    uint32_t flags; /* ts_event_flags */
};

/* Common head of a loaded program. Owns the strings. */
struct ts_program {
    ts_device *device;
    ts_plan plan;
    uint32_t epoch;
    uint32_t n_messages; /* bytes */
    char *name, *file, *messages;
    char *log;           /* NULL: none */
};

/* ---- helpers for devices ---------------------------------------------------------------------------- */

/* Zeroed memory from the hook; NULL when it is out. */
void *ts__new(const ts_alloc *alloc, size_t bytes);
void ts__delete(const ts_alloc *alloc, void *block, size_t bytes);
char *ts__string(const ts_alloc *alloc, const char *text); /* "" for NULL */
void ts__string_delete(const ts_alloc *alloc, char *text);

/* The driver's library of a program; 0: there is none. */
uint64_t ts__program_library(const ts_program *program);

/* Fills the head of a program; undone by program_deinit. */
TS_CHECKED ts_status ts__program_init(ts_program *program, ts_device *device, const ts_code *code, const char *name,
                                      const char *file, ts_error *err);
void ts__program_deinit(ts_program *program);

/* The sentence for a fault record: kernel, file and line, block, what happened. Returns TS_LAUNCH. */
ts_status ts__fault_report(const ts_program *program, const ts_fault *fault, ts_error *err);
/* What an assert of a kernel says is text of the kernel: whoever finds such a fault writes its sentence to standard
 * output besides, once and with no lock held, as the text of the kernel's prints. */
bool ts__fault_is_printed(const ts_program *program, const ts_fault *fault);
void ts__fault_print(const ts_error *said);
/* Writes everything or gives up at the first error that is not an interruption. */
void ts__stdout_write(const char *text, size_t n);

/* ---- time and waiting ------------------------------------------------------------------------------ */

static inline int64_t ts__deadline(int64_t limit_ns)
{
    int64_t now = limit_ns == TS_FOREVER ? 0 : ts__now_ns();
    return limit_ns >= TS_FOREVER - now ? TS_FOREVER : now + limit_ns;
}

/* A word that threads wait on to change: they spin for a bounded time, then sleep. */
typedef struct ts_signal {
    _Atomic uint32_t value, sleepers;
} ts_signal;
typedef enum ts_waited { TS_WAIT_CHANGED, TS_WAIT_TIMEOUT, TS_WAIT_SIGNAL } ts_waited;
void ts__signal_raise(ts_signal *signal); /* value + 1, wakes all */
/* Waits while value == seen. */
ts_waited ts__signal_wait(ts_signal *signal, uint32_t seen, int64_t spin_ns, int64_t deadline_ns);

/* The function of ts_interrupt_set if this is its thread, else NULL. */
ts_interrupt_fn *ts__interrupt_get(void);
ts_print_fn *ts__print_get(void); /* the function of ts_print_set, or NULL */
ts_fault_fn *ts__fault_get(void); /* that of ts_fault_set */

/* ---- devices of this build --------------------------------------------------------------------------- */

typedef struct ts_cpu_options {
    uint32_t n_threads;     /* 0 = as the machine and TESSERA_NUM_THREADS say */
    const ts_alloc *alloc;  /* NULL = default */
} ts_cpu_options;
TS_CHECKED ts_status ts__cpu_create(const ts_cpu_options *options, ts_device **out, ts_error *err);
void ts__cpu_destroy(ts_device *device);
void ts__cpu_quiesce(ts_device *device); /* at exit: drains streams, ends threads; the device stays usable */
/* Around fork, in this order: before (takes the locks), then after in parent or in child. */
void ts__cpu_before_fork(ts_device *device);
void ts__cpu_after_fork(ts_device *device, bool in_child);
/* A program whose entry is a C function, for tests and precompiled operations. */
TS_CHECKED ts_status ts__cpu_program_wrap(ts_device *device, const ts_code *code, void *entry, const char *name,
                                          const char *file, ts_program **out, ts_error *err);

/* The driver library: `path` NULL means TESSERA_CUDA_DRIVER or libcuda.so.1. */
typedef struct ts_cuda ts_cuda;
TS_CHECKED ts_status ts__cuda_open(const char *path, const ts_alloc *alloc, ts_cuda **out, ts_error *err);
void ts__cuda_close(ts_cuda *cuda);
int ts__cuda_count(const ts_cuda *cuda);
ts_device *ts__cuda_device(ts_cuda *cuda, int ordinal);
int ts__cuda_current(ts_cuda *cuda); /* ordinal of the current context; -1: none */
void ts__cuda_after_fork_in_child(ts_cuda *cuda);

#endif
