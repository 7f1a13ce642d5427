/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events of the CPU device. The default stream is its caller's thread, and comes after the work of streams
 * that block, as the driver's legacy stream does. Any other is a queue of tasks and one thread, started at the first
 * task, that runs them in order; kernels among them use the shared pool. A stream that is destroyed before its work is
 * done stays with its thread until then. A record of an event is a ticket: counted, done once; the event points at its
 * newest ticket, and whoever waits holds the ticket of the moment he began to wait.
 *
 *     submit -> | task | task | task | -> executor thread -> n_completed, raise `completed`
 */
#include "device/cpu/cpu.h"
#include <signal.h>

#define STREAM_SPIN_NS ((int64_t)50000)

/* The first of a stream's faults between two notices: what is waited for there is told of it. */
typedef struct stream_fault stream_fault;
struct stream_fault {
    stream_fault *next;
    uint64_t at;               /* number of the task */
    ts_error error;
};

struct cpu_stream {
    ts_stream base;            /* impl points here */
    cpu_stream *next, **link;  /* in cpu->streams; under cpu->lock */
    uint32_t references;       /* under cpu->lock */
    uint32_t forks;            /* cpu->forks when it was made */
    uint64_t number;           /* of all streams that the device has had, from 1 */
    _Atomic bool is_inline;    /* the default stream, and a destroyed one that is still held */
    bool blocking;             /* the default stream comes after its work */
    pthread_mutex_t lock;      /* queue, thread, fault */
    ts_piece *head, **tail;
    ts_piece *recorded, **recorded_tail; /* recorded_tail NULL: work is run */
    uint64_t n_submitted, n_taken, n_cancelled; /* tasks up to number n_cancelled are cancelled */
    bool has_thread, stop;
    bool dropped;              /* destroyed before its work was done; under cpu->lock */
    pthread_t thread;
    _Atomic uint64_t n_completed;
    _Atomic uint32_t cancelled; /* 1: the task that runs is */
    ts_signal submitted, completed;
    stream_fault *faults, *newest_fault; /* oldest first, until somebody waits; newest: where there are any */
    uint64_t n_noticed;        /* number of the last task that had a notice */
};

/* ---- finding the stream ------------------------------------------------------------------------- */

static ts_status stream_unknown(uintptr_t native, ts_error *err)
{
    return ts_fail(err, TS_VALUE, "stream handle 0x%llx is not a stream of the CPU device; use None or a stream made "
                                  "for this device", (unsigned long long)native);
}

/* The default streams of the driver, whose numbers are up to CU_STREAM_PER_THREAD, are the CPU's too. */
ts_status cpu_stream_find(ts_device *device, uintptr_t native, ts_stream *out, ts_error *err)
{
    enum { PER_THREAD = 2 };
    ts_cpu *cpu = cpu_of(device);
    if (native <= PER_THREAD) {
        *out = cpu->default_stream->base;
        return TS_OK;
    }
    pthread_mutex_lock(&cpu->lock);
    cpu_stream *stream = cpu->streams;
    while (stream && ((uintptr_t)stream != native || stream->dropped))
        stream = stream->next;
    if (stream)
        *out = stream->base;
    pthread_mutex_unlock(&cpu->lock);
    return stream ? TS_OK : stream_unknown(native, err);
}

static ts_status stream_of(const ts_stream *stream, cpu_stream **out, ts_error *err)
{
    ts_cpu *cpu = cpu_of(stream->device);
    *out = stream->impl ? stream->impl : cpu->default_stream;
    if (!stream->impl && stream->native)
        return stream_unknown(stream->native, err);
    if ((*out)->forks != atomic_load_explicit(&cpu->forks, memory_order_relaxed) && !(*out)->is_inline)
        return ts_fail(err, TS_RUNTIME, "this stream was made before fork() and its thread is in the parent "
                                        "process; make a new stream in the child");
    return TS_OK;
}

bool cpu_stream_is_inline(const ts_stream *stream)
{
    const cpu_stream *impl = stream->impl;
    return impl ? impl->is_inline : stream->native == 0;
}

/* ---- the executor --------------------------------------------------------------------------------- */

void *cpu_task_new(ts_cpu *cpu, size_t bytes, cpu_task_fn *run, ts_piece_kind kind)
{
    cpu_task *task = cpu_memory_get(&cpu->memory, bytes);
    if (task) {
        memset(task, 0, bytes);
        task->run = run;
        task->piece.kind = kind;
        task->piece.device = &cpu->base;
        atomic_store_explicit(&task->piece.references, 1, memory_order_relaxed);
    }
    return task;
}

void cpu_task_end(cpu_task *task)
{
    if (task->end)
        task->end(task);
    cpu_memory_put(&cpu_of(task->piece.device)->memory, task);
}

/* NULL and *stop: nothing is left, and nothing will come; the stream is inline from here on. */
static cpu_task *stream_pop(cpu_stream *stream, bool *stop)
{
    pthread_mutex_lock(&stream->lock);
    cpu_task *task = (cpu_task *)stream->head;
    if (task) {
        stream->head = task->piece.next;
        if (!stream->head)
            stream->tail = &stream->head;
        atomic_store(&stream->cancelled, ++stream->n_taken <= stream->n_cancelled);
    }
    *stop = stream->stop;
    if (!task && stream->stop)
        atomic_store(&stream->is_inline, true);
    pthread_mutex_unlock(&stream->lock);
    return task;
}

/* A fault that nobody waits for on its stream: the device tells it at its next sync. */
static void stream_give_fault(ts_cpu *cpu, const ts_error *error)
{
    pthread_mutex_lock(&cpu->lock);
    if (!cpu->has_pending)
        cpu->pending = *error;
    cpu->has_pending = true;
    pthread_mutex_unlock(&cpu->lock);
}

static void stream_note_fault(cpu_stream *stream, ts_cpu *cpu, const ts_error *error)
{
    stream_fault *fault = cpu_memory_get(&cpu->memory, sizeof *fault);
    if (!fault) {
        stream_give_fault(cpu, error);
        return;
    }
    pthread_mutex_lock(&stream->lock);
    *fault = (stream_fault){NULL, stream->n_taken, *error};
    bool told = stream->faults && stream->newest_fault->at > stream->n_noticed;
    if (!told) {
        *(stream->faults ? &stream->newest_fault->next : &stream->faults) = fault;
        stream->newest_fault = fault;
    }
    pthread_mutex_unlock(&stream->lock);
    if (told)
        cpu_memory_put(&cpu->memory, fault);
}

static void stream_run(cpu_stream *stream, cpu_task *task)
{
    ts_notice *notice = task->notice;
    ts_cpu *cpu = cpu_of(task->piece.device);
    ts_error error;
    error.text[0] = 0;
    if (task->run(task, &stream->cancelled, &error) != TS_OK)
        stream_note_fault(stream, cpu, &error);
    if (notice)
        stream->n_noticed = stream->n_taken;
    cpu_task_end(task);
    if (stream->blocking)
        atomic_fetch_sub(&cpu->n_ahead, 1);
    atomic_fetch_add(&stream->n_completed, 1);
    ts__signal_raise(&stream->completed);
    if (notice)
        notice->call(notice);
}

static void *stream_main(void *argument)
{
    cpu_stream *stream = argument;
    for (bool stop = false;;) {
        uint32_t seen = atomic_load(&stream->submitted.value);
        cpu_task *task = stream_pop(stream, &stop);
        if (task)
            stream_run(stream, task);
        else if (stop)
            return NULL;
        else
            ts__signal_wait(&stream->submitted, seen, STREAM_SPIN_NS, TS_FOREVER);
    }
}

/* Under stream->lock. */
static bool stream_start(cpu_stream *stream)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    stream->has_thread = pthread_create(&stream->thread, NULL, stream_main, stream) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return stream->has_thread;
}

/* Under stream->lock. */
static ts_status stream_queue(cpu_stream *stream, cpu_task *task, ts_error *err)
{
    if (!stream->has_thread && !stream_start(stream))
        return ts_fail(err, TS_RUNTIME, "the system refused a thread for the stream; end other threads or use the "
                                        "default stream");
    *stream->tail = &task->piece;
    stream->tail = &task->piece.next;
    stream->n_submitted++;
    if (stream->blocking)
        atomic_fetch_add(&cpu_of(stream->base.device)->n_ahead, 1);
    if (task->notice)
        task->notice->mark = stream->n_submitted;
    return TS_OK;
}

static ts_status stream_run_here(cpu_task *task, ts_error *err)
{
    _Atomic uint32_t never = 0;
    ts_notice *notice = task->notice;
    ts_status status = task->run(task, &never, err);
    cpu_task_end(task);
    if (notice)
        notice->call(notice);
    return status;
}

ts_status cpu_stream_submit(const ts_stream *handle, cpu_task *task, ts_error *err)
{
    cpu_stream *stream;
    ts_cpu *cpu = cpu_of(handle->device);
    ts_status status = stream_of(handle, &stream, err);
    if (status == TS_OK) {
        pthread_mutex_lock(&stream->lock);
        if (stream->is_inline) { /* its thread has left since the caller looked */
            pthread_mutex_unlock(&stream->lock);
            return stream_run_here(task, err);
        }
        if (stream->recorded_tail) {
            *stream->recorded_tail = &task->piece;
            stream->recorded_tail = &task->piece.next;
        } else
            status = stream_queue(stream, task, err);
        pthread_mutex_unlock(&stream->lock);
    }
    if (status == TS_OK)
        ts__signal_raise(&stream->submitted);
    else
        cpu_memory_put(&cpu->memory, task);
    return status;
}

/* ---- recording, for graphs ------------------------------------------------------------------------ */

static ts_status stream_no_record(const cpu_stream *stream, bool wanted, ts_error *err)
{
    if (stream->is_inline)
        return ts_fail(err, TS_RUNTIME, "the default stream of the CPU cannot record a graph; use a stream of its own");
    if ((stream->recorded_tail != NULL) == wanted)
        return TS_OK;
    return ts_fail(err, TS_RUNTIME,
                   wanted ? "the stream does not record a graph" : "the stream records a graph already");
}

ts_status cpu_record_begin(const ts_stream *handle, ts_error *err)
{
    cpu_stream *stream;
    TS_TRY(stream_of(handle, &stream, err));
    pthread_mutex_lock(&stream->lock);
    ts_status status = stream_no_record(stream, false, err);
    if (status == TS_OK) {
        stream->recorded = NULL;
        stream->recorded_tail = &stream->recorded;
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

ts_status cpu_record_end(const ts_stream *handle, ts_piece **out, ts_error *err)
{
    cpu_stream *stream;
    *out = NULL;
    TS_TRY(stream_of(handle, &stream, err));
    pthread_mutex_lock(&stream->lock);
    ts_status status = stream_no_record(stream, true, err);
    if (status == TS_OK) {
        *out = stream->recorded;
        stream->recorded = NULL;
        stream->recorded_tail = NULL;
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static bool stream_is_recorder(cpu_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool recording = stream->recorded_tail != NULL;
    pthread_mutex_unlock(&stream->lock);
    return recording;
}

uint64_t cpu_stream_recorder(const ts_stream *handle)
{
    cpu_stream *stream = handle->impl;
    return stream && !stream->is_inline && stream_is_recorder(stream) ? stream->number : 0;
}

bool cpu_is_recorder(ts_cpu *cpu, uint64_t number)
{
    pthread_mutex_lock(&cpu->lock);
    cpu_stream *stream = cpu->streams;
    while (stream && stream->number != number)
        stream = stream->next;
    bool recording = stream && stream_is_recorder(stream);
    pthread_mutex_unlock(&cpu->lock);
    return recording;
}

/* ---- life -------------------------------------------------------------------------------------------- */

/* Under cpu->lock; true when that was the last. Streams from before a fork are in no list. */
static bool stream_drop(ts_cpu *cpu, cpu_stream *stream)
{
    if (--stream->references)
        return false;
    if (stream->link && stream->forks == atomic_load(&cpu->forks)) {
        *stream->link = stream->next;
        if (stream->next)
            stream->next->link = stream->link;
    }
    return true;
}

static void stream_release(ts_cpu *cpu, cpu_stream *stream)
{
    pthread_mutex_lock(&cpu->lock);
    bool last = stream_drop(cpu, stream);
    pthread_mutex_unlock(&cpu->lock);
    if (!last)
        return;
    if (stream->forks == atomic_load(&cpu->forks))
        pthread_mutex_destroy(&stream->lock);
    ts__delete(cpu->base.alloc, stream, sizeof *stream);
}

/* The first fault of the tasks up to number `mark`; theirs are then told. */
static ts_status stream_take_fault(cpu_stream *stream, uint64_t mark, ts_error *err)
{
    ts_cpu *cpu = cpu_of(stream->base.device);
    ts_status status = TS_OK;
    pthread_mutex_lock(&stream->lock);
    for (stream_fault *fault; (fault = stream->faults) && fault->at <= mark;) {
        if (status == TS_OK && err)
            *err = fault->error;
        status = status ? status : fault->error.status;
        stream->faults = fault->next;
        cpu_memory_put(&cpu->memory, fault);
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

/* Nothing more will come. True: there is work left to do. */
static bool stream_stop(cpu_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->stop = true;
    if (!stream->has_thread)
        atomic_store(&stream->is_inline, true);
    bool busy = atomic_load(&stream->n_completed) != stream->n_submitted;
    pthread_mutex_unlock(&stream->lock);
    ts__signal_raise(&stream->submitted);
    return busy;
}

/* Of a stopped stream: waits for its work, and ends what destroying it ends. */
static void stream_finish(cpu_stream *stream)
{
    ts_cpu *cpu = cpu_of(stream->base.device);
    ts_error unheard;
    if (stream->has_thread)
        pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&stream->lock);
    stream->has_thread = false;
    pthread_mutex_unlock(&stream->lock);
    if (stream_take_fault(stream, UINT64_MAX, &unheard) != TS_OK)
        stream_give_fault(cpu, &unheard);
    stream_release(cpu, stream);
}

/* Finishes the destroyed streams whose threads have left. */
static void streams_reap(ts_cpu *cpu)
{
    cpu_stream *stream;
    do {
        pthread_mutex_lock(&cpu->lock);
        for (stream = cpu->streams; stream && !(stream->dropped && stream->is_inline); stream = stream->next)
            ;
        if (stream)
            stream->dropped = false;
        pthread_mutex_unlock(&cpu->lock);
        if (stream)
            stream_finish(stream);
    } while (stream);
}

void cpu_stream_end(ts_stream *handle)
{
    cpu_stream *stream = handle->impl;
    ts_cpu *cpu = cpu_of(handle->device);
    if (stream->forks != atomic_load(&cpu->forks)) {
        stream_release(cpu, stream);
        return;
    }
    if (stream_stop(stream)) { /* its thread goes on, and is joined by who comes later */
        pthread_mutex_lock(&cpu->lock);
        stream->dropped = true;
        pthread_mutex_unlock(&cpu->lock);
    } else
        stream_finish(stream);
    streams_reap(cpu);
}

ts_status cpu_stream_make(ts_device *device, const ts_stream_options *options, ts_stream **out, ts_error *err)
{
    ts_cpu *cpu = cpu_of(device);
    streams_reap(cpu);
    cpu_stream *stream = ts__new(device->alloc, sizeof *stream);
    if (!stream)
        return ts_fail(err, TS_NOMEM, "out of memory for a stream");
    stream->base = (ts_stream){device, cpu->default_stream ? (uintptr_t)stream : 0, stream};
    stream->references = 1;
    stream->blocking = options && options->blocking; /* a priority changes nothing: threads of the pool have none */
    stream->forks = atomic_load(&cpu->forks);
    stream->number = atomic_fetch_add(&cpu->n_streams, 1) + 1;
    stream->tail = &stream->head;
    pthread_mutex_init(&stream->lock, NULL);
    if (!cpu->default_stream) { /* the first is the device's own */
        stream->is_inline = true;
        cpu->default_stream = stream;
        device->default_stream = &stream->base;
    } else {
        pthread_mutex_lock(&cpu->lock);
        stream->next = cpu->streams;
        stream->link = &cpu->streams;
        if (stream->next)
            stream->next->link = &stream->next;
        cpu->streams = stream;
        pthread_mutex_unlock(&cpu->lock);
    }
    *out = &stream->base;
    return TS_OK;
}

void cpu_streams_cancel(ts_cpu *cpu, const void *only)
{
    pthread_mutex_lock(&cpu->lock);
    for (cpu_stream *stream = cpu->streams; stream; stream = stream->next) {
        if (only && stream != only)
            continue;
        pthread_mutex_lock(&stream->lock);
        stream->n_cancelled = stream->n_submitted;
        atomic_store(&stream->cancelled, 1);
        pthread_mutex_unlock(&stream->lock);
    }
    pthread_mutex_unlock(&cpu->lock);
}

void cpu_stream_retain(ts_stream *handle)
{
    ts_cpu *cpu = cpu_of(handle->device);
    pthread_mutex_lock(&cpu->lock);
    ((cpu_stream *)handle->impl)->references++;
    pthread_mutex_unlock(&cpu->lock);
}

void cpu_stream_release(ts_stream *handle)
{
    stream_release(cpu_of(handle->device), handle->impl);
}

/* ---- waiting -------------------------------------------------------------------------------------------- */

static ts_status stream_interrupted(ts_waited waited, ts_error *err)
{
    return ts_fail(err, TS_INTERRUPTED, waited == TS_WAIT_SIGNAL ? "interrupted by a signal while waiting"
                                                                 : "the time to wait is over; the work goes on");
}

/* Faults stay. */
static ts_status stream_wait_idle(cpu_stream *stream, int64_t deadline_ns, ts_error *err)
{
    pthread_mutex_lock(&stream->lock);
    uint64_t target = stream->n_submitted;
    pthread_mutex_unlock(&stream->lock);
    for (;;) {
        uint32_t seen = atomic_load(&stream->completed.value);
        if (atomic_load(&stream->n_completed) >= target)
            return TS_OK;
        ts_waited waited = ts__signal_wait(&stream->completed, seen, STREAM_SPIN_NS, deadline_ns);
        if (waited != TS_WAIT_CHANGED)
            return stream_interrupted(waited, err);
    }
}

static ts_status stream_wait(cpu_stream *stream, int64_t deadline_ns, ts_error *err)
{
    TS_TRY(stream_wait_idle(stream, deadline_ns, err));
    return stream_take_fault(stream, UINT64_MAX, err);
}

/* What it was given has not begun, and nobody may wait for it. */
static ts_status stream_check_wait(cpu_stream *stream, ts_error *err)
{
    if (!stream_is_recorder(stream))
        return TS_OK;
    return ts_fail(err, TS_RUNTIME, "the stream is recording a graph: its work runs when the graph is launched, and "
                                    "cannot be waited for before; end_building() ends the recording");
}

ts_status cpu_stream_sync(const ts_stream *handle, int64_t limit_ns, ts_error *err)
{
    cpu_stream *stream;
    TS_TRY(stream_of(handle, &stream, err));
    TS_TRY(stream_check_wait(stream, err));
    return stream->is_inline ? cpu_streams_join(handle, limit_ns, err)
                             : stream_wait(stream, ts__deadline(limit_ns), err);
}

ts_status cpu_stream_done(const ts_stream *handle, bool *done, ts_error *err)
{
    cpu_stream *stream;
    TS_TRY(stream_of(handle, &stream, err));
    TS_TRY(stream_check_wait(stream, err));
    *done = atomic_load(&cpu_of(handle->device)->n_ahead) == 0;
    if (stream->is_inline)
        return TS_OK;
    pthread_mutex_lock(&stream->lock);
    *done = atomic_load(&stream->n_completed) == stream->n_submitted;
    pthread_mutex_unlock(&stream->lock);
    return TS_OK;
}

typedef ts_status stream_visit(cpu_stream *stream, int64_t deadline_ns, ts_error *err);

/* Each stream in turn until one fails; a reference keeps it in the list meanwhile. */
static ts_status stream_each(ts_cpu *cpu, stream_visit *visit, int64_t deadline_ns, ts_error *err)
{
    ts_status status = TS_OK;
    pthread_mutex_lock(&cpu->lock);
    cpu_stream *stream = cpu->streams;
    if (stream)
        stream->references++;
    pthread_mutex_unlock(&cpu->lock);
    while (stream) {
        if (status == TS_OK)
            status = visit(stream, deadline_ns, err);
        pthread_mutex_lock(&cpu->lock);
        cpu_stream *next = stream->next;
        if (next)
            next->references++;
        pthread_mutex_unlock(&cpu->lock);
        stream_release(cpu, stream);
        stream = next;
    }
    return status;
}

/* The fault that was left for the next wait of the whole device. */
static ts_status stream_take_pending(ts_cpu *cpu, ts_error *err)
{
    ts_status status = TS_OK;
    pthread_mutex_lock(&cpu->lock);
    if (cpu->has_pending) {
        status = cpu->pending.status;
        if (err)
            *err = cpu->pending;
        cpu->has_pending = false;
    }
    pthread_mutex_unlock(&cpu->lock);
    return status;
}

ts_status cpu_streams_sync(ts_cpu *cpu, int64_t limit_ns, ts_error *err)
{
    int64_t deadline = limit_ns ? ts__deadline(limit_ns) : 0; /* limit 0 means: do not wait, so the clock is not read */
    TS_TRY(stream_each(cpu, stream_wait, deadline, err));
    return stream_take_pending(cpu, err);
}

static ts_status stream_unheard(cpu_stream *stream, int64_t deadline_ns, ts_error *err)
{
    (void)deadline_ns;
    return stream_take_fault(stream, UINT64_MAX, err);
}

ts_status cpu_streams_unheard(ts_cpu *cpu, ts_error *err)
{
    TS_TRY(stream_each(cpu, stream_unheard, 0, err));
    return stream_take_pending(cpu, err);
}

/* ---- the default stream and those that block with it ----------------------------------------------------- */

static ts_status stream_wait_ahead(cpu_stream *stream, int64_t deadline_ns, ts_error *err)
{
    return stream->blocking ? stream_wait_idle(stream, deadline_ns, err) : TS_OK;
}

/* Is the caller what runs the work of a stream? It cannot wait for itself, nor for one that waits for it. */
static bool stream_is_here(ts_cpu *cpu)
{
    bool here = false;
    pthread_mutex_lock(&cpu->lock);
    for (cpu_stream *stream = cpu->streams; stream && !here; stream = stream->next) {
        pthread_mutex_lock(&stream->lock);
        here = stream->has_thread && pthread_equal(stream->thread, pthread_self());
        pthread_mutex_unlock(&stream->lock);
    }
    pthread_mutex_unlock(&cpu->lock);
    return here;
}

ts_status cpu_streams_join(const ts_stream *handle, int64_t limit_ns, ts_error *err)
{
    ts_cpu *cpu = cpu_of(handle->device);
    if (atomic_load(&cpu->n_ahead) == 0 || stream_is_here(cpu))
        return TS_OK;
    int64_t deadline = ts__deadline(limit_ns);
    ts_interrupt_fn *asked = ts__interrupt_get();
    for (;;) {
        int64_t slice = ts__deadline(CPU_TICK_NS);
        ts_status status = stream_each(cpu, stream_wait_ahead, TS_MIN(slice, deadline), err);
        if (status != TS_INTERRUPTED || slice >= deadline || (asked && asked()))
            return status;
    }
}

void cpu_stream_idle(const ts_stream *handle)
{
    cpu_stream *stream;
    while (stream_of(handle, &stream, NULL) == TS_OK && !stream->is_inline &&
           stream_wait_idle(stream, TS_FOREVER, NULL) == TS_INTERRUPTED)
        ;
}

void cpu_streams_idle(ts_cpu *cpu)
{
    while (stream_each(cpu, stream_wait_idle, TS_FOREVER, NULL) == TS_INTERRUPTED)
        ;
}

void cpu_streams_end(ts_cpu *cpu)
{
    while (cpu->streams) {
        (void)stream_stop(cpu->streams);
        stream_finish(cpu->streams);
    }
    stream_release(cpu, cpu->default_stream);
}

/* Memory that waits for several streams: each has a task, the last one frees. */
typedef struct shared_memory {
    _Atomic uint32_t left;
    ts_cpu *cpu;
    void *memory;
} shared_memory;

typedef struct shared_task {
    cpu_task base;
    shared_memory *shared;
} shared_task;

static void stream_shared_done(shared_memory *shared)
{
    if (atomic_fetch_sub(&shared->left, 1) != 1)
        return;
    cpu_memory *memory = &shared->cpu->memory;
    cpu_memory_put(memory, shared->memory);
    cpu_memory_put(memory, shared);
}

static ts_status stream_run_shared(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop, (void)err;
    stream_shared_done(((shared_task *)task)->shared);
    return TS_OK;
}

/* Under cpu->lock. A task behind the work that the stream has now, not in the graph that it may record; false: no
 * memory for it. */
static bool stream_share(cpu_stream *stream, shared_memory *shared)
{
    shared_task *task = NULL;
    pthread_mutex_lock(&stream->lock);
    bool busy = atomic_load(&stream->n_completed) != stream->n_submitted;
    if (busy && (task = cpu_task_new(shared->cpu, sizeof *task, stream_run_shared, TS_PIECE_OTHER))) {
        task->shared = shared;
        atomic_fetch_add(&shared->left, 1);
        (void)stream_queue(stream, &task->base, NULL); /* cannot fail: a stream with work has its thread */
    }
    pthread_mutex_unlock(&stream->lock);
    if (task)
        ts__signal_raise(&stream->submitted);
    return task || !busy;
}

bool cpu_streams_free(ts_cpu *cpu, void *memory)
{
    shared_memory *shared = cpu_memory_get(&cpu->memory, sizeof *shared);
    if (!shared)
        return false;
    bool ok = true;
    *shared = (shared_memory){1, cpu, memory};
    pthread_mutex_lock(&cpu->lock);
    for (cpu_stream *stream = cpu->streams; stream && ok; stream = stream->next)
        ok = stream_share(stream, shared);
    pthread_mutex_unlock(&cpu->lock);
    if (!ok)
        cpu_streams_idle(cpu);
    stream_shared_done(shared);
    return true;
}

/* ---- calls in stream order -------------------------------------------------------------------------------- */

typedef struct call_task {
    cpu_task base;
    void (*function)(void *user);
    void *user;
} call_task;

/* With floats as kernels have them: the caller's thread may round otherwise, or take small numbers for 0. */
static void stream_call_plainly(void (*function)(void *user), void *user)
{
    cpu_fp_state state = cpu_fp_enter();
    function(user);
    cpu_fp_leave(state);
}

static ts_status stream_run_call(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop, (void)err;
    call_task *call = (call_task *)task;
    stream_call_plainly(call->function, call->user);
    return TS_OK;
}

ts_status cpu_stream_call(const ts_stream *handle, void (*function)(void *), void *user, ts_error *err)
{
    cpu_stream *stream;
    TS_TRY(stream_of(handle, &stream, err));
    if (stream->is_inline) {
        TS_TRY(cpu_streams_join(handle, TS_FOREVER, err));
        stream_call_plainly(function, user);
        return TS_OK;
    }
    call_task *task = cpu_task_new(cpu_of(handle->device), sizeof *task, stream_run_call, TS_PIECE_HOST);
    if (!task)
        return ts_fail(err, TS_NOMEM, "out of memory for a task of a stream");
    task->function = function;
    task->user = user;
    return cpu_stream_submit(handle, &task->base, err);
}

static ts_status stream_run_nothing(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)task, (void)stop, (void)err;
    return TS_OK;
}

ts_status cpu_stream_notify(const ts_stream *handle, ts_notice *notice, ts_error *err)
{
    cpu_stream *stream;
    TS_TRY(stream_of(handle, &stream, err));
    TS_TRY(stream_check_wait(stream, err));
    cpu_task *task = stream->is_inline
        ? NULL : cpu_task_new(cpu_of(handle->device), sizeof *task, stream_run_nothing, TS_PIECE_OTHER);
    if (!task && !stream->is_inline)
        return ts_fail(err, TS_NOMEM, "out of memory for a task of a stream");
    if (!task) {
        notice->call(notice);
        return TS_OK;
    }
    task->notice = notice;
    return cpu_stream_submit(handle, task, err);
}

ts_status cpu_stream_fault(const ts_stream *handle, uint64_t mark, ts_error *err)
{
    cpu_stream *stream;
    TS_TRY(stream_of(handle, &stream, err));
    return stream_take_fault(stream, mark, err);
}
