/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the CPU device: thread pool (threads.c), memory pool (memory.c), streams and events
 * (stream.c), programs (program.c), launches whose blocks wait for each other (meeting.c), interruption (watch.c).
 * cpu.c puts them together; start reading there.
 */
#ifndef TS_DEVICE_CPU_CPU_H
#define TS_DEVICE_CPU_CPU_H

#include "device/device.h"
#include "runtime/entry.h"
#include "tessera/graph.h"

/* ---- memory: blocks of size classes, kept for reuse ------------------------------------------------- */

enum { CPU_CLASSES = 4 * 64, CPU_ALIGN = 64 };
#define CPU_HUGE ((size_t)2 << 20)

typedef struct cpu_block cpu_block;
typedef struct cpu_memory {
    const ts_alloc *alloc;
    pthread_mutex_t lock;
    cpu_block *kept[CPU_CLASSES]; /* free blocks by class, newest first */
    uint64_t used_bytes, kept_bytes, keep_limit;
} cpu_memory;

void cpu_memory_init(cpu_memory *memory, const ts_alloc *alloc);
void cpu_memory_deinit(cpu_memory *memory);
/* 64-byte aligned, from 2 MiB on 2 MiB aligned and on huge pages where the system has them; NULL when
 * memory is out even after trim. bytes > 0. */
void *cpu_memory_get(cpu_memory *memory, size_t bytes);
void cpu_memory_put(cpu_memory *memory, void *at); /* NULL is fine */
void cpu_memory_trim(cpu_memory *memory);

/* ---- threads ------------------------------------------------------------------------------------------ */

enum { CPU_THREADS_MAX = 512 };

/* Runs items begin <= i < end; `worker` < n_threads is unique among those running at once. Pieces are numbered
 * in the order of their items. */
typedef struct cpu_piece {
    uint32_t worker;
    int64_t number, begin, end;
} cpu_piece;
typedef void cpu_work_fn(void *user, const cpu_piece *piece);
/* Asked every CPU_TICK_NS while the caller waits. True: the job is to end; one that has not begun is given up. */
typedef bool cpu_idle_fn(void *user);
#define CPU_TICK_NS ((int64_t)50000000)

typedef struct cpu_pool {
    cpu_memory *memory;
    uint32_t n_threads;            /* the caller included; fixed at creation */
    uint32_t n_started;            /* workers running; under lock */
    pthread_mutex_t lock;          /* held while a job runs */
    pthread_t *threads;
    struct cpu_worker *workers;
    char *scratch;                 /* n_threads pieces of scratch_each bytes; under lock */
    size_t scratch_each;
    /* the job */
    cpu_work_fn *work;
    cpu_idle_fn *idle;             /* or NULL */
    void *user;
    int64_t n_items, chunk;        /* chunk 0: one equal piece per thread */
    _Atomic bool stop;
    _Atomic int caller_cpu;        /* where the newest job was started; a hint */
    _Alignas(64) ts_signal start;  /* raised for each job */
    _Alignas(64) _Atomic int64_t next;  /* piece to take */
    _Alignas(64) _Atomic uint32_t gate; /* workers in the job; POOL_CLOSED: nobody may join */
    ts_signal finished;            /* raised by the last to leave a closed job */
} cpu_pool;

ts_status cpu_pool_init(cpu_pool *pool, cpu_memory *memory, uint32_t n_threads, ts_error *err);
void cpu_pool_deinit(cpu_pool *pool); /* joins the workers */
void cpu_pool_stop(cpu_pool *pool);   /* joins the workers; jobs then run in their callers */
void cpu_pool_forget_threads(cpu_pool *pool); /* in the child of a fork: they are gone */
/* Spreads n_items over the threads and waits. Threads: while the pool is taken, the caller works alone; who holds
 * the pool may be waiting for a lock (Python's) that the caller has. */
void cpu_pool_run(cpu_pool *pool, cpu_work_fn *work, void *user, int64_t n_items, int64_t chunk);
/* The same in turn with other callers, with `scratch_bytes` for each worker, given to `work` through
 * cpu_pool_scratch. False: no memory, or given up. */
bool cpu_pool_run_scratch(cpu_pool *pool, cpu_work_fn *work, cpu_idle_fn *idle, void *user, int64_t n_items,
                          int64_t chunk, size_t scratch_bytes);
/* n items, each by a thread of its own, all at once: they may wait for each other. False: the pool is taken, or has
 * not so many threads; then none ran. */
bool cpu_pool_run_all(cpu_pool *pool, cpu_work_fn *work, void *user, uint32_t n);
static inline void *cpu_pool_scratch(const cpu_pool *pool, uint32_t worker)
{
    return pool->scratch ? pool->scratch + worker * pool->scratch_each : NULL;
}
/* Threads this process may use: TESSERA_NUM_THREADS, else affinity and cgroup. Errors: TS_VALUE for the former. */
TS_CHECKED ts_status cpu_count(uint32_t *out, ts_error *err);

/* Round to nearest, subnormals kept, exceptions masked, as compiled kernels expect. */
typedef uint64_t cpu_fp_state;
cpu_fp_state cpu_fp_enter(void);
void cpu_fp_leave(cpu_fp_state state);

/* ---- blocks that wait for each other ---------------------------------------------------------------------- */

enum { CPU_MEETING_MOST = TS_CPU_COOPERATIVE_BLOCKS };
typedef void cpu_meeting_fn(void *user, uint32_t block);
typedef struct cpu_meeting {
    pthread_mutex_t lock;          /* the two counts */
    uint32_t n_present, n_waiting; /* blocks that have not ended; those of them that wait */
    ts_signal round, begun;        /* raised each time that all have met; once, for threads made for the launch */
    bool given_up, spins;
    cpu_meeting_fn *work;          /* this and `user` are the caller's, all else is cpu_meeting_run's */
    void *user;
} cpu_meeting;

/* Runs `work` for n blocks at once, block 0 in the caller. `pool` is not held by the caller. False: memory is out, or
 * the system has no more threads; then none ran. */
bool cpu_meeting_run(cpu_meeting *m, cpu_pool *pool, uint32_t n);
/* Called by a block: waits until all that have not ended wait here, or `ends` says that the launch does. */
void cpu_meeting_wait(cpu_meeting *m, bool (*ends)(const void *user), const void *user);

/* ---- interruption ------------------------------------------------------------------------------------- */

typedef struct cpu_watch {
    _Alignas(64) _Atomic uint32_t ask;    /* 1: the watched launch is to ask */
    _Alignas(64) _Atomic uint32_t serial; /* odd while a launch is watched */
    _Atomic bool awake, stop;
    ts_signal wake;
    pthread_mutex_t lock;                 /* thread */
    pthread_t thread;
    bool has_thread;
} cpu_watch;

void cpu_watch_init(cpu_watch *watch);
void cpu_watch_deinit(cpu_watch *watch);
void cpu_watch_stop(cpu_watch *watch); /* joins its thread; nobody is asked any more */
void cpu_watch_forget_thread(cpu_watch *watch); /* in the child of a fork */
/* False: this launch is not watched, because nobody wants to be asked in this thread. */
bool cpu_watch_begin(cpu_watch *watch);
void cpu_watch_end(cpu_watch *watch);
/* Is this thread inside a watched launch (and launches again, from what was asked)? */
bool cpu_watch_busy(const cpu_watch *watch);
bool cpu_watch_ask(cpu_watch *watch); /* true: the launch is to end */

/* ---- the device ---------------------------------------------------------------------------------------- */

typedef struct cpu_stream cpu_stream;
typedef struct ts_cpu {
    ts_device base;
    cpu_memory memory;
    cpu_pool pool;
    cpu_watch watch;
    pthread_mutex_t lock;          /* streams, pending */
    cpu_stream *streams;           /* all living ones of this process */
    cpu_stream *default_stream;
    bool has_pending;              /* a fault of a stream that was destroyed */
    ts_error pending;
    _Atomic uint64_t n_streams;    /* ever made */
    _Atomic uint64_t n_ahead;      /* tasks of blocking streams that are not done: the default stream waits for them */
    _Atomic uint32_t forks;        /* how deep in forks this process is; streams remember theirs */
} ts_cpu;

static inline ts_cpu *cpu_of(const ts_device *device)
{
    return (ts_cpu *)(uintptr_t)device;
}

/* stream.c */
ts_status cpu_stream_make(ts_device *device, const ts_stream_options *options, ts_stream **out, ts_error *err);
void cpu_stream_end(ts_stream *stream);
ts_status cpu_stream_find(ts_device *device, uintptr_t native, ts_stream *out, ts_error *err);
void cpu_stream_retain(ts_stream *stream);
void cpu_stream_release(ts_stream *stream);
ts_status cpu_stream_sync(const ts_stream *stream, int64_t limit_ns, ts_error *err);
ts_status cpu_stream_done(const ts_stream *stream, bool *done, ts_error *err);
ts_status cpu_stream_wait_event(const ts_stream *stream, ts_event *event, ts_error *err);
ts_status cpu_stream_call(const ts_stream *stream, void (*function)(void *), void *user, ts_error *err);
ts_status cpu_stream_notify(const ts_stream *stream, ts_notice *notice, ts_error *err);
ts_status cpu_stream_fault(const ts_stream *stream, uint64_t mark, ts_error *err);
ts_status cpu_event_create(ts_device *device, const ts_stream *stream, uint32_t flags, ts_event **out, ts_error *err);
void cpu_event_destroy(ts_event *event);
ts_status cpu_event_record(ts_event *event, const ts_stream *stream, ts_error *err);
ts_status cpu_event_sync(ts_event *event, int64_t limit_ns, ts_error *err);
ts_status cpu_event_done(ts_event *event, bool *done, ts_error *err);
ts_status cpu_event_notify(ts_event *event, ts_notice *notice, bool *taken, ts_error *err);
ts_status cpu_event_elapsed(ts_event *begin, ts_event *end, double *ns, ts_error *err);
ts_status cpu_streams_sync(ts_cpu *cpu, int64_t limit_ns, ts_error *err);
ts_status cpu_streams_unheard(ts_cpu *cpu, ts_error *err);
/* What runs in its caller's thread calls it first: waits for what blocking streams were given, as the driver's legacy
 * stream does. Work that they are given later comes behind it by itself. Nothing in the thread of a stream. Errors:
 * TS_INTERRUPTED, when the caller is asked (ts_interrupt_set) and does not want to go on, or the limit passes. */
TS_CHECKED ts_status cpu_streams_join(const ts_stream *stream, int64_t limit_ns, ts_error *err);
void cpu_stream_idle(const ts_stream *stream); /* waits whatever happens; faults stay for who asks */
void cpu_streams_idle(ts_cpu *cpu);        /* the same for all streams */
/* Launches that run or wait in streams now end early; the first is told at the stream's next wait. */
void cpu_streams_cancel(ts_cpu *cpu, const void *only); /* the cpu_stream, NULL: all */
void cpu_streams_end(ts_cpu *cpu);  /* drains and ends all, the default one too */

/* One piece of queued work. `run` may fail; the first failure of a stream is kept until the next wait. It can be
 * repeated, for graphs (graph.c), and then in several threads at once: it changes nothing of the task. `stop`, of who
 * runs it: not 0 once the work is cancelled. What the task holds is given back by `end`. The executor frees it. */
typedef struct cpu_task cpu_task;
typedef ts_status cpu_task_fn(cpu_task *task, _Atomic uint32_t *stop, ts_error *err);
struct cpu_task {
    ts_piece piece; /* first: a recorded task is the piece; its references are those of graphs */
    cpu_task_fn *run;
    void (*end)(cpu_task *task); /* NULL: it holds nothing */
    ts_notice *notice; /* NULL, or called once the task is counted as done */
};
/* True: the stream runs in its caller, who does the work himself at once. */
bool cpu_stream_is_inline(const ts_stream *stream);
/* From here on what is submitted is recorded; until the end, which gives it in order. */
ts_status cpu_record_begin(const ts_stream *stream, ts_error *err);
ts_status cpu_record_end(const ts_stream *stream, ts_piece **out, ts_error *err);
/* graph.c */
bool cpu_record_active(const ts_stream *stream);
void cpu_piece_destroy(ts_piece *piece);
ts_status cpu_script_launch(ts_script *script, const ts_stream *stream, ts_error *err);
/* The stream's number while it records, else 0; and whether the stream of a number does. */
uint64_t cpu_stream_recorder(const ts_stream *stream);
bool cpu_is_recorder(ts_cpu *cpu, uint64_t number);
/* Frees `memory` when every stream has done what it has now; false: no memory for that, nothing done. */
bool cpu_streams_free(ts_cpu *cpu, void *memory);
/* NULL when memory is out. */
void *cpu_task_new(ts_cpu *cpu, size_t bytes, cpu_task_fn *run, ts_piece_kind kind);
/* Ends the task and frees it. */
void cpu_task_end(cpu_task *task);
/* Takes the task, also on failure. */
ts_status cpu_stream_submit(const ts_stream *stream, cpu_task *task, ts_error *err);

/* program.c */
ts_status cpu_program_load(ts_device *device, const ts_code *code, const char *name, const char *file,
                           ts_program **out, ts_error *err);
void cpu_program_destroy(ts_program *program);
ts_status cpu_program_launch(ts_program *program, const ts_stream *stream, const ts_launch_shape *shape,
                             const uint64_t *params, uint32_t flags, ts_error *err);

#endif
