/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU as a device: the complete one and the model for others. This file makes it, answers queries,
 * moves memory, follows fork, and fills the table; threads.c, memory.c, stream.c, event.c and program.c
 * hold the rest.
 */
#include "device/cpu/cpu.h"
#include "base/widths.h"
#include <stdio.h>
#include <unistd.h>

#define CPU_COPY_CHUNK ((int64_t)1 << 20) /* bytes per piece of a copy spread over threads */

/* ---- queries -------------------------------------------------------------------------------------- */

static void cpu_model(char *out, size_t n)
{
    char line[512];
    snprintf(out, n, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0)
            continue;
        colon[1 + strcspn(colon + 1, "\n")] = 0;
        snprintf(out, n, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file)
        fclose(file);
}

static ts_status cpu_query(ts_device *device, ts_device_info *out, ts_error *err)
{
    (void)err;
    ts_cpu *cpu = cpu_of(device);
    long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES), free_pages = sysconf(_SC_AVPHYS_PAGES);
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    cpu_model(out->name, sizeof out->name);
    out->kind = TS_DEVICE_CPU;
    out->target = TS_TARGET_CPU;
    out->units = (int32_t)cpu->pool.n_threads;
    out->memory_bytes = pages > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    out->free_bytes = free_pages > 0 ? (uint64_t)free_pages * (uint64_t)page : 0;
    out->l2_bytes = l2 > 0 ? (uint64_t)l2 : 0;
    pthread_mutex_lock(&cpu->memory.lock);
    out->pool_used_bytes = cpu->memory.used_bytes;
    out->pool_kept_bytes = cpu->memory.kept_bytes;
    pthread_mutex_unlock(&cpu->memory.lock);
    return TS_OK;
}

static ts_status cpu_sync(ts_device *device, int64_t limit_ns, ts_error *err)
{
    return cpu_streams_sync(cpu_of(device), limit_ns, err);
}

static ts_status cpu_unheard(ts_device *device, ts_error *err)
{
    return cpu_streams_unheard(cpu_of(device), err);
}

/* Nothing on a CPU can break for good: wait, forget faults, give memory back. */
static ts_status cpu_reset(ts_device *device, ts_error *err)
{
    (void)err;
    while (cpu_streams_sync(cpu_of(device), TS_FOREVER, NULL) != TS_OK)
        ;
    cpu_memory_trim(&cpu_of(device)->memory);
    return TS_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static ts_status cpu_alloc(ts_device *device, const ts_stream *stream, uint64_t bytes, void **out, ts_error *err)
{
    (void)stream; /* free memory is free for every stream: it was put back when its stream was done with it */
    *out = cpu_memory_get(&cpu_of(device)->memory, (size_t)bytes);
    if (*out)
        return TS_OK;
    return ts_fail(err, TS_NOMEM, "out of host memory for an array of %llu bytes", (unsigned long long)bytes);
}

typedef struct free_task {
    cpu_task base;
    void *memory;
} free_task;

static ts_status cpu_run_free(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)task, (void)stop, (void)err; /* in a graph the memory is used again by the next launch */
    return TS_OK;
}

static void cpu_end_free(cpu_task *task)
{
    cpu_memory_put(&cpu_of(task->piece.device)->memory, ((free_task *)task)->memory);
}

static void cpu_free(ts_device *device, const ts_stream *stream, void *memory, uint64_t bytes)
{
    (void)bytes;
    ts_cpu *cpu = cpu_of(device);
    free_task *task = cpu_stream_is_inline(stream) ? NULL
                                                   : cpu_task_new(cpu, sizeof *task, cpu_run_free, TS_PIECE_OTHER);
    if (task) {
        task->base.end = cpu_end_free;
        task->memory = memory;
        if (cpu_stream_submit(stream, &task->base, NULL) == TS_OK)
            return;
    }
    cpu_stream_idle(stream); /* no memory for the task: wait instead */
    cpu_memory_put(&cpu->memory, memory);
}

static void cpu_free_shared(ts_device *device, void *memory, uint64_t bytes)
{
    (void)bytes;
    ts_cpu *cpu = cpu_of(device);
    if (cpu_streams_free(cpu, memory))
        return;
    cpu_streams_idle(cpu);
    cpu_memory_put(&cpu->memory, memory);
}

typedef struct move_task {
    cpu_task base;
    char *to;
    const char *from;      /* NULL: fill */
    uint64_t pattern, bytes;
    uint32_t elem_bytes;
} move_task;

/* The pattern is repeated to 8 bytes; pieces begin at multiples of 8. */
static void cpu_fill_piece(char *to, uint64_t pattern, uint64_t bytes)
{
    uint64_t i = 0;
    for (; i + 8 <= bytes; i += 8)
        memcpy(to + i, &pattern, 8);
    memcpy(to + i, &pattern, bytes - i);
}

static void cpu_move_work(void *user, const cpu_piece *piece)
{
    move_task *move = user;
    uint64_t at = (uint64_t)(piece->begin * CPU_COPY_CHUNK);
    uint64_t stop = TS_MIN((uint64_t)(piece->end * CPU_COPY_CHUNK), move->bytes);
    if (!move->from)
        cpu_fill_piece(move->to + at, move->pattern, stop - at);
    else
        memmove(move->to + at, move->from + at, stop - at);
}

static ts_status cpu_run_move(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    (void)stop, (void)err;
    move_task *move = (move_task *)task;
    uintptr_t to = (uintptr_t)move->to, from = (uintptr_t)move->from;
    bool apart = !from || to + move->bytes <= from || from + move->bytes <= to;
    int64_t n = (int64_t)((move->bytes + (uint64_t)CPU_COPY_CHUNK - 1) / (uint64_t)CPU_COPY_CHUNK);
    if (n >= 4 && apart)
        cpu_pool_run(&cpu_of(task->piece.device)->pool, cpu_move_work, move, n, 0);
    else if (from && !apart)
        memmove(move->to, move->from, move->bytes);
    else
        cpu_move_work(move, &(cpu_piece){.end = n});
    return TS_OK;
}

static ts_status cpu_move(const ts_stream *stream, const move_task *move, ts_error *err)
{
    ts_cpu *cpu = cpu_of(stream->device);
    if (cpu_stream_is_inline(stream)) {
        TS_TRY(cpu_streams_join(stream, TS_FOREVER, err));
        move_task now = *move;
        now.base.piece.device = &cpu->base;
        return cpu_run_move(&now.base, NULL, err);
    }
    move_task *task = cpu_task_new(cpu, sizeof *task, cpu_run_move, TS_PIECE_OTHER);
    if (!task)
        return ts_fail(err, TS_NOMEM, "out of memory for a copy");
    cpu_task base = task->base;
    *task = *move;
    task->base = base;
    task->base.piece.kind = move->from ? TS_PIECE_COPY : TS_PIECE_FILL;
    return cpu_stream_submit(stream, &task->base, err);
}

static ts_status cpu_copy(const ts_stream *stream, void *to, ts_mem_side to_side, const void *from,
                          ts_mem_side from_side, uint64_t bytes, ts_error *err)
{
    TS_TRY(cpu_move(stream, &(move_task){.to = to, .from = from, .bytes = bytes}, err));
    if (cpu_stream_is_inline(stream) || (to_side == TS_MEM_DEVICE && from_side == TS_MEM_DEVICE))
        return TS_OK;
    cpu_stream_idle(stream); /* the caller's memory must be done with */
    return TS_OK;
}

static ts_status cpu_fill(const ts_stream *stream, void *to, uint64_t pattern, uint32_t elem_bytes, uint64_t count,
                          ts_error *err)
{
    for (uint32_t bits = elem_bytes * 8; bits < 64; bits *= 2) {
        pattern &= ((uint64_t)1 << bits) - 1;
        pattern |= pattern << bits;
    }
    return cpu_move(stream, &(move_task){.to = to, .pattern = pattern, .bytes = count * elem_bytes}, err);
}

static ts_status cpu_host_alloc(ts_device *device, uint64_t bytes, void **out, ts_error *err)
{
    return cpu_alloc(device, NULL, bytes, out, err);
}

static void cpu_host_free(ts_device *device, void *memory, uint64_t bytes)
{
    (void)bytes;
    cpu_memory_put(&cpu_of(device)->memory, memory);
}

static void cpu_trim(ts_device *device)
{
    cpu_memory_trim(&cpu_of(device)->memory);
}

/* ---- life ----------------------------------------------------------------------------------------------- */

static void cpu_cancel(ts_device *device, const ts_stream *stream)
{
    cpu_streams_cancel(cpu_of(device), stream ? stream->impl : NULL);
}

typedef struct cpu_spread {
    ts_spread_fn *work;
    void *user;
} cpu_spread;

static void cpu_spread_piece(void *user, const cpu_piece *piece)
{
    const cpu_spread *spread = user;
    spread->work(spread->user, piece->begin, piece->end);
}

static void cpu_spread_run(ts_device *device, ts_spread_fn *work, void *user, int64_t n)
{
    cpu_pool_run(&cpu_of(device)->pool, cpu_spread_piece, &(cpu_spread){work, user}, n, 0);
}

static const ts_device_ops cpu_ops = {
    .version = TS_DEVICE_VERSION,
    .caps = TS_DEVICE_HOST_MEMORY,
    .query = cpu_query,
    .sync = cpu_sync,
    .unheard = cpu_unheard,
    .reset = cpu_reset,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .free_shared = cpu_free_shared,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .host_alloc = cpu_host_alloc,
    .host_free = cpu_host_free,
    .trim = cpu_trim,
    .stream_create = cpu_stream_make,
    .cancel = cpu_cancel,
    .stream_destroy = cpu_stream_end,
    .stream_find = cpu_stream_find,
    .stream_retain = cpu_stream_retain,
    .stream_release = cpu_stream_release,
    .stream_sync = cpu_stream_sync,
    .stream_done = cpu_stream_done,
    .stream_wait_event = cpu_stream_wait_event,
    .stream_call = cpu_stream_call,
    .stream_notify = cpu_stream_notify,
    .stream_fault = cpu_stream_fault,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_sync = cpu_event_sync,
    .event_done = cpu_event_done,
    .event_notify = cpu_event_notify,
    .event_elapsed = cpu_event_elapsed,
    .program_load = cpu_program_load,
    .program_destroy = cpu_program_destroy,
    .launch = cpu_program_launch,
    .record_begin = cpu_record_begin,
    .record_end = cpu_record_end,
    .record_active = cpu_record_active,
    .piece_destroy = cpu_piece_destroy,
    .script_launch = cpu_script_launch,
    .spread = cpu_spread_run,
    .program_wrap = ts__cpu_program_wrap,
};

/* The device keeps threads apart by cache lines, so it is aligned by hand inside what the hook gives. */
typedef struct cpu_home {
    ts_cpu cpu;
    void *base;
} cpu_home;
#define CPU_HOME_BYTES (sizeof(cpu_home) + _Alignof(cpu_home))

ts_status ts__cpu_create(const ts_cpu_options *options, ts_device **out, ts_error *err)
{
    const ts_alloc *alloc = options->alloc ? options->alloc : ts_alloc_default();
    uint32_t n_threads = options->n_threads, vector_bytes;
    *out = NULL;
    TS_TRY(ts__vector_limit(&vector_bytes, err));
    if (!n_threads)
        TS_TRY(cpu_count(&n_threads, err));
    char *base = ts__new(alloc, CPU_HOME_BYTES);
    if (!base)
        return ts_fail(err, TS_NOMEM, "out of memory for the CPU device");
    uintptr_t aligned = ((uintptr_t)base + _Alignof(cpu_home) - 1) & ~(uintptr_t)(_Alignof(cpu_home) - 1);
    cpu_home *home = (cpu_home *)aligned;
    ts_cpu *cpu = &home->cpu;
    home->base = base;
    cpu->base.ops = &cpu_ops;
    cpu->base.alloc = alloc;
    cpu->base.id = TS_DEVICE_ID(TS_DEVICE_CPU, 0);
    cpu->base.target = TS_TARGET_CPU;
    atomic_store(&cpu->base.epoch, 1);
    pthread_mutex_init(&cpu->lock, NULL);
    cpu_memory_init(&cpu->memory, alloc);
    cpu_watch_init(&cpu->watch);
    ts_status status = cpu_pool_init(&cpu->pool, &cpu->memory, n_threads, err);
    ts_stream *stream;
    if (status == TS_OK) {
        status = cpu_stream_make(&cpu->base, NULL, &stream, err);
        if (status != TS_OK)
            cpu_pool_deinit(&cpu->pool);
    }
    if (status == TS_OK) {
        *out = &cpu->base;
        return TS_OK;
    }
    cpu_watch_deinit(&cpu->watch);
    cpu_memory_deinit(&cpu->memory);
    ts__delete(alloc, base, CPU_HOME_BYTES);
    return status;
}

void ts__cpu_quiesce(ts_device *device)
{
    cpu_streams_idle(cpu_of(device));
    cpu_pool_stop(&cpu_of(device)->pool);
    cpu_watch_stop(&cpu_of(device)->watch);
}

void ts__cpu_destroy(ts_device *device)
{
    ts_cpu *cpu = cpu_of(device);
    cpu_home *home = (cpu_home *)cpu;
    cpu_streams_end(cpu);
    cpu_pool_deinit(&cpu->pool);
    cpu_watch_deinit(&cpu->watch);
    cpu_memory_deinit(&cpu->memory);
    pthread_mutex_destroy(&cpu->lock);
    ts__delete(device->alloc, home->base, CPU_HOME_BYTES);
}

void ts__cpu_before_fork(ts_device *device)
{
    ts_cpu *cpu = cpu_of(device); /* a running job is not waited for: it may take for ever */
    pthread_mutex_lock(&cpu->lock);
    pthread_mutex_lock(&cpu->memory.lock);
}

void ts__cpu_after_fork(ts_device *device, bool in_child)
{
    ts_cpu *cpu = cpu_of(device);
    if (in_child) {
        cpu_pool_forget_threads(&cpu->pool);
        cpu_watch_forget_thread(&cpu->watch);
        cpu->streams = NULL; /* their threads are in the parent */
        cpu->has_pending = false;
        atomic_store(&cpu->n_ahead, 0);
        atomic_fetch_add(&cpu->forks, 1);
    }
    pthread_mutex_unlock(&cpu->memory.lock);
    pthread_mutex_unlock(&cpu->lock);
}
