/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of the CPU device; stream.c explains tickets.
 */
#include "device/cpu/cpu.h"

#define EVENT_SPIN_NS ((int64_t)50000)

typedef struct cpu_ticket {
    ts_signal done;        /* value 1 when the record has happened */
    _Atomic uint32_t references;
    uint32_t forks;
    int64_t stamp_ns;      /* valid when done */
    _Atomic(ts_notice *) notices; /* newest first; TICKET_CLOSED once done */
} cpu_ticket;

typedef struct cpu_event {
    ts_event base;
    _Atomic uint32_t references; /* who made it, and recorded tasks */
    _Atomic uint64_t recorder;   /* number of the stream whose graph has its last record; 0: a record that runs */
    pthread_mutex_t lock;
    cpu_ticket *newest;    /* one reference; NULL: never recorded */
} cpu_event;

typedef struct ticket_task {
    cpu_task base;
    cpu_ticket *ticket;    /* one reference */
} ticket_task;

/* In a graph: the event is recorded, or its last record waited for, at each launch. */
typedef struct event_task {
    cpu_task base;
    ts_event *event;       /* one reference */
} event_task;

static void ticket_release(ts_cpu *cpu, cpu_ticket *ticket)
{
    if (ticket && atomic_fetch_sub(&ticket->references, 1) == 1)
        cpu_memory_put(&cpu->memory, ticket);
}

/* The newest ticket with a reference for the caller; NULL: never recorded. */
static cpu_ticket *event_ticket(ts_event *handle)
{
    cpu_event *event = (cpu_event *)handle;
    pthread_mutex_lock(&event->lock);
    cpu_ticket *ticket = event->newest;
    if (ticket)
        atomic_fetch_add(&ticket->references, 1);
    pthread_mutex_unlock(&event->lock);
    return ticket;
}

static void event_set(cpu_event *event, cpu_ticket *ticket)
{
    pthread_mutex_lock(&event->lock);
    cpu_ticket *old = event->newest;
    event->newest = ticket;
    pthread_mutex_unlock(&event->lock);
    ticket_release(cpu_of(event->base.device), old);
}

static bool ticket_is_done(const cpu_ticket *ticket)
{
    return atomic_load(&ticket->done.value) != 0;
}

#define TICKET_CLOSED ((ts_notice *)(uintptr_t)1)

static void ticket_punch(cpu_ticket *ticket)
{
    ts_notice *oldest = NULL;
    ticket->stamp_ns = ts__now_ns();
    ts__signal_raise(&ticket->done);
    for (ts_notice *at = atomic_exchange(&ticket->notices, TICKET_CLOSED), *next; at; at = next) {
        next = at->next;
        at->next = oldest;
        oldest = at;
    }
    for (ts_notice *next; oldest; oldest = next) {
        next = oldest->next; /* the notice is its owner's again once called */
        oldest->call(oldest);
    }
}

/* False: the record has happened, and nothing calls the notice. */
static bool ticket_notify(cpu_ticket *ticket, ts_notice *notice)
{
    notice->next = atomic_load(&ticket->notices);
    while (notice->next != TICKET_CLOSED)
        if (atomic_compare_exchange_weak(&ticket->notices, &notice->next, notice))
            return true;
    return false;
}

/* Errors: TS_RUNTIME when the thread that would punch it is in another process. */
static ts_status ticket_check(ts_cpu *cpu, const cpu_ticket *ticket, ts_error *err)
{
    if (ticket_is_done(ticket) || ticket->forks == atomic_load(&cpu->forks))
        return TS_OK;
    return ts_fail(err, TS_RUNTIME, "this event was recorded before fork() in the parent process; record it again in "
                                    "the child");
}

static ts_status ticket_wait(ts_cpu *cpu, cpu_ticket *ticket, int64_t deadline_ns, ts_error *err)
{
    TS_TRY(ticket_check(cpu, ticket, err));
    if (ticket_is_done(ticket))
        return TS_OK;
    ts_waited waited = ts__signal_wait(&ticket->done, 0, EVENT_SPIN_NS, deadline_ns);
    if (waited == TS_WAIT_CHANGED)
        return TS_OK;
    return ts_fail(err, TS_INTERRUPTED, waited == TS_WAIT_SIGNAL ? "interrupted by a signal while waiting"
                                                                 : "the time to wait is over; the work goes on");
}

ts_status cpu_event_create(ts_device *device, const ts_stream *stream, uint32_t flags, ts_event **out, ts_error *err)
{
    (void)stream;
    cpu_event *event = ts__new(device->alloc, sizeof *event);
    if (!event)
        return ts_fail(err, TS_NOMEM, "out of memory for an event");
    event->base = (ts_event){device, flags};
    event->references = 1;
    pthread_mutex_init(&event->lock, NULL);
    *out = &event->base;
    return TS_OK;
}

void cpu_event_destroy(ts_event *handle)
{
    cpu_event *event = (cpu_event *)handle;
    if (atomic_fetch_sub(&event->references, 1) != 1)
        return;
    ticket_release(cpu_of(handle->device), event->newest);
    pthread_mutex_destroy(&event->lock);
    ts__delete(handle->device->alloc, event, sizeof *event);
}

static ts_status event_run_record(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop, (void)err;
    ticket_punch(((ticket_task *)task)->ticket);
    return TS_OK;
}

static ts_status event_run_wait(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop;
    return ticket_wait(cpu_of(task->piece.device), ((ticket_task *)task)->ticket, TS_FOREVER, err);
}

static void event_end_ticket(cpu_task *task)
{
    ticket_release(cpu_of(task->piece.device), ((ticket_task *)task)->ticket);
}

static ticket_task *event_ticket_task(ts_cpu *cpu, cpu_ticket *ticket, cpu_task_fn *run, ts_piece_kind kind)
{
    ticket_task *task = cpu_task_new(cpu, sizeof *task, run, kind);
    if (task) {
        task->base.end = event_end_ticket;
        task->ticket = ticket;
    }
    return task;
}

static ts_status event_replay_record(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop;
    return cpu_event_record(((event_task *)task)->event, task->piece.device->default_stream, err);
}

static ts_status event_replay_wait(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop;
    return cpu_stream_wait_event(task->piece.device->default_stream, ((event_task *)task)->event, err);
}

static void event_end_replay(cpu_task *task)
{
    cpu_event_destroy(((event_task *)task)->event);
}

static ts_status event_submit_replay(ts_event *event, const ts_stream *stream, cpu_task_fn *run, ts_piece_kind kind,
                                     ts_error *err)
{
    event_task *task = cpu_task_new(cpu_of(event->device), sizeof *task, run, kind);
    if (!task)
        return ts_fail(err, TS_NOMEM, "out of memory for an event of a graph");
    task->base.end = event_end_replay;
    task->event = event;
    atomic_fetch_add(&((cpu_event *)event)->references, 1);
    ts_status status = cpu_stream_submit(stream, &task->base, err);
    if (status != TS_OK)
        cpu_event_destroy(event);
    return status;
}

/* What a graph is being recorded with has not happened: only the stream that records it comes after it. */
static ts_status event_check(const ts_event *handle, uint64_t waiter, ts_error *err)
{
    uint64_t recorder = atomic_load(&((const cpu_event *)handle)->recorder);
    if (!recorder || recorder == waiter || !cpu_is_recorder(cpu_of(handle->device), recorder))
        return TS_OK;
    return ts_fail(err, TS_RUNTIME,
                   "this event was recorded by a stream that is recording a graph, and nothing else can "
                                    "wait for it; branches of a graph are made by split() and end by join() of its "
                                    "GraphBuilder");
}

ts_status cpu_event_record(ts_event *handle, const ts_stream *stream, ts_error *err)
{
    ts_cpu *cpu = cpu_of(handle->device);
    uint64_t recorder = cpu_stream_recorder(stream);
    atomic_store(&((cpu_event *)handle)->recorder, recorder);
    if (recorder)
        return event_submit_replay(handle, stream, event_replay_record, TS_PIECE_RECORD, err);
    bool now = cpu_stream_is_inline(stream);
    if (now)
        TS_TRY(cpu_streams_join(stream, TS_FOREVER, err));
    cpu_ticket *ticket = cpu_memory_get(&cpu->memory, sizeof *ticket);
    if (!ticket)
        return ts_fail(err, TS_NOMEM, "out of memory for recording an event");
    memset(ticket, 0, sizeof *ticket);
    ticket->forks = atomic_load(&cpu->forks);
    atomic_store(&ticket->references, now ? 1 : 2);
    if (now)
        ticket_punch(ticket);
    else {
        ticket_task *task = event_ticket_task(cpu, ticket, event_run_record, TS_PIECE_RECORD);
        ts_status status = task ? cpu_stream_submit(stream, &task->base, err)
                                : ts_fail(err, TS_NOMEM, "out of memory for recording an event");
        if (status != TS_OK) {
            cpu_memory_put(&cpu->memory, ticket);
            return status;
        }
    }
    event_set((cpu_event *)handle, ticket);
    return TS_OK;
}

ts_status cpu_stream_wait_event(const ts_stream *stream, ts_event *handle, ts_error *err)
{
    ts_cpu *cpu = cpu_of(handle->device);
    uint64_t recorder = cpu_stream_recorder(stream);
    TS_TRY(event_check(handle, recorder, err));
    if (recorder)
        return event_submit_replay(handle, stream, event_replay_wait, TS_PIECE_WAIT, err);
    cpu_ticket *ticket = event_ticket(handle);
    ts_status status = TS_OK;
    if (!ticket)
        return TS_OK;
    if (ticket_is_done(ticket))
        ticket_release(cpu, ticket);
    else if (cpu_stream_is_inline(stream)) {
        status = ticket_wait(cpu, ticket, TS_FOREVER, err);
        ticket_release(cpu, ticket);
    } else {
        ticket_task *task = event_ticket_task(cpu, ticket, event_run_wait, TS_PIECE_WAIT);
        status = task ? cpu_stream_submit(stream, &task->base, err)
                      : ts_fail(err, TS_NOMEM, "out of memory for waiting on an event");
        if (status != TS_OK)
            ticket_release(cpu, ticket);
    }
    return status;
}

ts_status cpu_event_sync(ts_event *handle, int64_t limit_ns, ts_error *err)
{
    ts_cpu *cpu = cpu_of(handle->device);
    TS_TRY(event_check(handle, 0, err));
    cpu_ticket *ticket = event_ticket(handle);
    if (!ticket)
        return TS_OK;
    ts_status status = ticket_wait(cpu, ticket, ts__deadline(limit_ns), err);
    ticket_release(cpu, ticket);
    return status;
}

ts_status cpu_event_done(ts_event *handle, bool *done, ts_error *err)
{
    (void)err;
    cpu_ticket *ticket = event_ticket(handle);
    *done = !ticket || ticket_is_done(ticket);
    ticket_release(cpu_of(handle->device), ticket);
    return TS_OK;
}

ts_status cpu_event_notify(ts_event *handle, ts_notice *notice, bool *taken, ts_error *err)
{
    ts_cpu *cpu = cpu_of(handle->device);
    TS_TRY(event_check(handle, 0, err));
    cpu_ticket *ticket = event_ticket(handle);
    ts_status status = ticket ? ticket_check(cpu, ticket, err) : TS_OK;
    *taken = status == TS_OK;
    if (*taken && !(ticket && ticket_notify(ticket, notice)))
        notice->call(notice);
    ticket_release(cpu, ticket);
    return status;
}

/* False with a message if the event has no completed record. */
static ts_status event_stamp(ts_event *handle, const char *which, int64_t *stamp_ns, ts_error *err)
{
    cpu_ticket *ticket = event_ticket(handle);
    ts_status status = TS_OK;
    if (!ticket)
        status =
            ts_fail(err, TS_RUNTIME, "Both Events must be recorded on a stream first; the %s one never was", which);
    else if (!ticket_is_done(ticket))
        status = ts_fail(err, TS_RUNTIME, "One or both events have not completed. Wait for the %s one first", which);
    else
        *stamp_ns = ticket->stamp_ns;
    ticket_release(cpu_of(handle->device), ticket);
    return status;
}

ts_status cpu_event_elapsed(ts_event *begin, ts_event *end, double *ns, ts_error *err)
{
    int64_t from, to;
    TS_TRY(event_stamp(begin, "first", &from, err));
    TS_TRY(event_stamp(end, "second", &to, err));
    *ns = (double)(to - from);
    return TS_OK;
}
