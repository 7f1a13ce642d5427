/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of the CPU device: load an object, run its entry over a grid. Blocks are split into ranges
 * over the pool; a launch that is expected to take less than waking a thread would runs in the caller.
 * What a program costs per block is learnt from its own runs. A fault becomes an error that names kernel,
 * line and block; text printed by the kernel is gathered per thread and written in block order.
 */
#include "base/lock.h"
#include "device/cpu/cpu.h"
#include <errno.h>
#include <unistd.h>


#define PROGRAM_INLINE_NS 5000.0   /* below, the pool is not worth its start */
#define PROGRAM_DYNAMIC_NS 200000.0 /* above, threads take small pieces as they become free */
#define PROGRAM_STEP_NS ((int64_t)1000000)
enum { PROGRAM_MEASURE_EVERY = 16, PROGRAM_PIECES = 16, PROGRAM_STEP_MAX = 4096 };
enum { PROGRAM_STACK = 1 << 14 }; /* bytes of scratch that lie on the caller's stack */

typedef struct cpu_program {
    ts_program base;
    void *image; /* NULL: the entry is not ours */
    size_t image_bytes;
    ts_cpu_entry *entry;
    _Atomic uint32_t references; /* the owner's and one per queued launch */
    _Atomic uint32_t n_runs;
    _Atomic uint64_t block_ps; /* time of one block on one thread in picoseconds; 0 = unknown */
} cpu_program;

/* ---- loading ------------------------------------------------------------------------------------- */

static void program_release(cpu_program *program)
{
    if (atomic_fetch_sub(&program->references, 1) != 1)
        return;
    if (program->image)
        ts__object_unload(program->image, program->image_bytes);
    ts__program_deinit(&program->base);
    ts__delete(program->base.device->alloc, program, sizeof *program);
}

static ts_status program_new(ts_device *device, const ts_code *code, const char *name, const char *file,
                             cpu_program **out, ts_error *err)
{
    cpu_program *program = ts__new(device->alloc, sizeof *program);
    if (!program)
        return ts_fail(err, TS_NOMEM, "out of memory while loading a kernel");
    atomic_store(&program->references, 1);
    ts_status status = ts__program_init(&program->base, device, code, name, file, err);
    if (status == TS_OK)
        *out = program;
    else
        program_release(program);
    return status;
}

ts_status cpu_program_load(ts_device *device, const ts_code *code, const char *name, const char *file,
                           ts_program **out, ts_error *err)
{
    cpu_program *program;
    TS_TRY(program_new(device, code, name, file, &program, err));
    ts_status status = ts__object_load(code->bytes, code->n_bytes, program->base.plan.name, &program->image,
                                      &program->image_bytes, &program->entry, err);
    if (status == TS_OK)
        *out = &program->base;
    else
        program_release(program);
    return status;
}

ts_status ts__cpu_program_wrap(ts_device *device, const ts_code *code, void *entry, const char *name,
                               const char *file, ts_program **out, ts_error *err)
{
    cpu_program *program;
    TS_TRY(program_new(device, code, name, file, &program, err));
    memcpy(&program->entry, &entry, sizeof entry); /* ISO C has no cast from object to function */
    *out = &program->base;
    return TS_OK;
}

void cpu_program_destroy(ts_program *program)
{
    program_release((cpu_program *)program);
}

/* ---- one run -------------------------------------------------------------------------------------- */

typedef struct cpu_run {
    cpu_program *program;
    cpu_watch *watch;            /* NULL: the caller is not to be asked */
    _Atomic uint32_t *stop;      /* not 0: the launch is to end */
    const uint64_t *params;
    const uint32_t *grid;
    const cpu_pool *pool;
    bool here;                   /* in its caller's thread, not a stream's */
    bool alone;                  /* the pool is held by this very thread */
    bool is_long;                /* TS_LAUNCH_LONG */
    bool measure;
    ts_text *prints; /* one per piece, or NULL */
    uint32_t n_prints;
    struct program_meeting *meeting; /* NULL: blocks do not wait for each other */
    _Atomic uint64_t block_ps; /* what a block took in piece 0 */
    ts_fault fault;            /* that of the first piece that has one */
    int64_t fault_piece;
} cpu_run;

typedef struct program_env { /* of one piece */
    ts_cpu_env base;
    cpu_run *run;
} program_env;

/* A cooperative launch: what its blocks share. */
typedef struct program_meeting {
    cpu_meeting base;
    cpu_run *run;
    char *scratch; /* a piece of each_bytes for each block */
    size_t each_bytes;
} program_meeting;

static bool program_stopped(const cpu_run *run)
{
    return atomic_load_explicit(run->stop, memory_order_relaxed) != 0;
}

/* The caller asks whether to go on. */
static bool program_idle(void *user)
{
    cpu_run *run = user;
    if (!program_stopped(run) && cpu_watch_ask(run->watch))
        atomic_store(run->stop, 1);
    return program_stopped(run);
}

static bool program_look(const ts_cpu_env *env)
{
    cpu_run *run = ((const program_env *)env)->run;
    return env->attention == run->stop ? program_stopped(run) : program_idle(run);
}

static bool program_ends(const ts_cpu_env *env)
{
    return atomic_load_explicit(env->attention, memory_order_relaxed) && env->look(env);
}

static bool program_meeting_ends(const void *env)
{
    return program_ends(env);
}

static void program_meet(const ts_cpu_env *env)
{
    cpu_meeting_wait(&((const program_env *)env)->run->meeting->base, program_meeting_ends, env);
}

static void program_print(void *user, const char *text, size_t n)
{
    ts__text_put(user, text, n);
}

static void program_drop_print(void *user, const char *text, size_t n)
{
    (void)user;
    (void)text;
    (void)n;
}

/* Blocks from `begin` on, so many at a time that the launch can be stopped between them: about 1 ms, by what a
 * block is thought to take and then by what it takes. */
static void program_blocks(cpu_run *run, const cpu_piece *piece, void *scratch, const program_env *env)
{
    if (piece->end - piece->begin == 1 && !program_ends(&env->base)) {
        run->program->entry(run->params, run->grid, piece->begin, piece->end, scratch, &env->base);
        return;
    }
    int64_t block_ps = (int64_t)atomic_load_explicit(&run->program->block_ps, memory_order_relaxed);
    int64_t begin = piece->begin, step = block_ps ? PROGRAM_STEP_NS * 1000 / block_ps : 1, before = 0;
    while (begin < piece->end && !program_ends(&env->base)) {
        int64_t n = TS_MIN(TS_MIN(TS_MAX(step, 1), PROGRAM_STEP_MAX), piece->end - begin);
        run->program->entry(run->params, run->grid, begin, begin + n, scratch, &env->base);
        begin += n;
        if (begin < piece->end) {
            int64_t now = ts__now_ns();
            step = before && now - before > PROGRAM_STEP_NS ? n / 2 : 2 * n;
            before = now;
        }
    }
}

static ts_lock program_faults = TS_LOCK_INIT;

/* The first fault of a piece, whose blocks run one after the other. Pieces end in any order; the first one's stays. */
static void program_note_fault(cpu_run *run, const cpu_piece *piece, const ts_fault *fault)
{
    ts__lock_take(&program_faults);
    if (!run->fault.code || piece->number < run->fault_piece) {
        run->fault = *fault;
        run->fault_piece = piece->number;
    }
    ts__lock_give(&program_faults);
}

/* Piece 0 is timed: its own running time does not hold the waking of threads. */
static void program_enter(cpu_run *run, const cpu_piece *piece, void *scratch)
{
    ts_text *text = run->prints ? &run->prints[piece->number] : NULL;
    bool asks = run->watch && piece->worker == 0;
    ts_fault fault = {0};
    program_env env = {{&fault, text ? program_print : program_drop_print, text,
                        asks ? &run->watch->ask : run->stop, program_look, program_meet}, run};
    bool timed = run->measure && piece->number == 0;
    int64_t before = timed ? ts__now_ns() : 0;
    program_blocks(run, piece, scratch, &env);
    if (fault.code)
        program_note_fault(run, piece, &fault);
    if (timed)
        atomic_store(&run->block_ps, (uint64_t)((ts__now_ns() - before) * 1000 / (piece->end - piece->begin)) + 1);
}

static void program_work(void *user, const cpu_piece *piece)
{
    cpu_run *run = user;
    if (!program_stopped(run))
        program_enter(run, piece, cpu_pool_scratch(run->pool, piece->worker));
}

static void program_run_piece(cpu_run *run, int64_t n_blocks, void *scratch)
{
    cpu_fp_state state = cpu_fp_enter();
    program_enter(run, &(cpu_piece){.end = n_blocks}, scratch);
    cpu_fp_leave(state);
}

static void program_inline_on_stack(cpu_run *run, int64_t n_blocks)
{
    _Alignas(64) char scratch[PROGRAM_STACK];
    program_run_piece(run, n_blocks, scratch);
}

static bool program_inline(ts_cpu *cpu, cpu_run *run, int64_t n_blocks)
{
    size_t scratch_bytes = (size_t)run->program->base.plan.scratch_bytes;
    if (scratch_bytes <= PROGRAM_STACK) {
        program_inline_on_stack(run, n_blocks);
        return true;
    }
    void *scratch = cpu_memory_get(&cpu->memory, scratch_bytes);
    if (!scratch)
        return false;
    program_run_piece(run, n_blocks, scratch);
    cpu_memory_put(&cpu->memory, scratch);
    return true;
}

static bool program_prints_begin(ts_cpu *cpu, cpu_run *run)
{
    if (!run->program->base.plan.uses_print)
        return true;
    run->prints = ts__new(cpu->base.alloc, sizeof *run->prints * run->n_prints);
    for (uint32_t i = 0; run->prints && i < run->n_prints; i++)
        ts__text_init(&run->prints[i], cpu->base.alloc);
    return run->prints != NULL;
}

/* What the caller wrote before comes first. */
static void program_prints_announce(const cpu_run *run)
{
    ts_print_fn *before = run->here ? ts__print_get() : NULL;
    size_t n = 0;
    for (uint32_t i = 0; run->prints && i < run->n_prints; i++)
        n += run->prints[i].n;
    if (before && n)
        before();
}

/* Piece order is block order. False: text was lost. */
static bool program_prints_end(ts_cpu *cpu, cpu_run *run)
{
    bool ok = true;
    program_prints_announce(run);
    for (uint32_t i = 0; run->prints && i < run->n_prints; i++) {
        ts__stdout_write(ts__text_get(&run->prints[i]), run->prints[i].n);
        ok &= !run->prints[i].failed;
        ts__text_deinit(&run->prints[i]);
    }
    ts__delete(cpu->base.alloc, run->prints, sizeof *run->prints * run->n_prints);
    return ok;
}

/* Learns the cost of a block: quickly when it was less than thought, slowly when more, because neighbours on
 * the machine only ever make it look dearer. */
static void program_learn(cpu_program *program, uint64_t fresh)
{
    uint64_t old = atomic_load_explicit(&program->block_ps, memory_order_relaxed);
    uint64_t value = old == 0 ? fresh : fresh < old ? old - (old - fresh) / 2
                                                    : old + (TS_MIN(fresh, 4 * old) - old) / 8;
    atomic_store_explicit(&program->block_ps, TS_MAX(value, (uint64_t)1), memory_order_relaxed);
}

static bool program_spread(ts_cpu *cpu, cpu_run *run, int64_t n_blocks)
{
    cpu_program *program = run->program;
    uint64_t block_ps = run->is_long ? 0 : atomic_load_explicit(&program->block_ps, memory_order_relaxed);
    double block_ns = (double)block_ps * 1e-3, total_ns = block_ns * (double)n_blocks;
    bool alone = run->alone || n_blocks == 1 || cpu->pool.n_threads == 1 ||
        (block_ns > 0 && total_ns < PROGRAM_INLINE_NS);
    int64_t chunk = run->is_long && !run->prints; /* each block for itself; 0: equal parts */
    if (!alone && total_ns > PROGRAM_DYNAMIC_NS && !run->prints)
        chunk = TS_MAX(n_blocks / ((int64_t)cpu->pool.n_threads * PROGRAM_PIECES), (int64_t)1);
    uint32_t count = atomic_fetch_add_explicit(&program->n_runs, 1, memory_order_relaxed);
    run->measure = !run->is_long && (count < 8 || count % PROGRAM_MEASURE_EVERY == 0);
    bool ok = alone ? program_inline(cpu, run, n_blocks)
                    : cpu_pool_run_scratch(&cpu->pool, program_work, run->watch ? program_idle : NULL, run, n_blocks,
                                           chunk, (size_t)program->base.plan.scratch_bytes);
    uint64_t fresh = atomic_load(&run->block_ps);
    if (fresh && count > 0) /* the first run pays for cold code and new memory */
        program_learn(program, fresh);
    return ok;
}

static void program_meeting_block(void *user, uint32_t block)
{
    const program_meeting *m = user;
    const cpu_piece piece = {.worker = block, .number = block, .begin = block, .end = (int64_t)block + 1};
    program_enter(m->run, &piece, m->scratch ? m->scratch + block * m->each_bytes : NULL);
}

/* All blocks at once, whatever the pool is doing. */
static bool program_cooperate(ts_cpu *cpu, cpu_run *run, int64_t n_blocks)
{
    size_t each = ((size_t)run->program->base.plan.scratch_bytes + 4095) & ~(size_t)4095;
    program_meeting meeting = {.base.work = program_meeting_block, .run = run, .each_bytes = each};
    meeting.base.user = &meeting;
    meeting.scratch = each ? cpu_memory_get(&cpu->memory, each * (size_t)n_blocks) : NULL;
    if (each && !meeting.scratch)
        return false;
    run->meeting = &meeting;
    bool ran = cpu_meeting_run(&meeting.base, &cpu->pool, (uint32_t)n_blocks);
    cpu_memory_put(&cpu->memory, meeting.scratch);
    return ran;
}

/* Only part of the blocks ran, or none. */
static ts_status program_unfinished(const cpu_run *run, ts_error *err)
{
    const ts_program *program = &run->program->base;
    if (program_stopped(run))
        return ts_fail(err, run->watch ? TS_INTERRUPTED : TS_LAUNCH,
                       "kernel '%s' was cancelled before its end; what it "
                                                                     "wrote is incomplete", program->name);
    if (program->plan.cooperative)
        return ts_fail(err, TS_NOMEM, "the blocks of kernel '%s' wait for each other, and the system has no memory or "
                       "threads for %u x %u x %u of them at once; launch fewer", program->name, run->grid[0],
                       run->grid[1], run->grid[2]);
    return ts_fail(err, TS_NOMEM, "out of memory for kernel '%s': it needs %llu bytes of scratch on each of %u threads",
                   program->name, (unsigned long long)program->plan.scratch_bytes, run->pool->n_threads);
}

static ts_status program_failed(const cpu_run *run, ts_error *err)
{
    const ts_program *program = &run->program->base;
    ts_error said;
    ts_status status = ts__fault_report(program, &run->fault, &said);
    if (run->here && ts__print_get())
        ts__print_get()(); /* what an assert says follows what the caller wrote */
    if (ts__fault_is_printed(program, &run->fault))
        ts__fault_print(&said);
    if (err)
        *err = said;
    return status;
}

static ts_status program_run(cpu_run *run, ts_error *err)
{
    cpu_program *program = run->program;
    ts_cpu *cpu = cpu_of(program->base.device);
    int64_t n_blocks = (int64_t)run->grid[0] * run->grid[1] * run->grid[2];
    bool together = program->base.plan.cooperative;
    run->n_prints = together ? (uint32_t)n_blocks : cpu->pool.n_threads;
    bool ran = program_prints_begin(cpu, run) &&
               (together ? program_cooperate(cpu, run, n_blocks) : program_spread(cpu, run, n_blocks));
    bool printed = program_prints_end(cpu, run);
    if (run->fault.code)
        return program_failed(run, err);
    if (!ran || program_stopped(run))
        return program_unfinished(run, err);
    if (!printed)
        return ts_fail(err, TS_NOMEM, "out of memory for the text printed by kernel '%s'; some of it is missing",
                       program->base.name);
    return TS_OK;
}

/* In the caller's thread. What is asked there may be a Python handler that forks or launches. */
static ts_status program_run_here(cpu_program *program, const uint32_t grid[3], const uint64_t *params,
                                  uint32_t flags, ts_error *err)
{
    ts_cpu *cpu = cpu_of(program->base.device);
    _Atomic uint32_t stop = 0;
    cpu_run run = {.program = program, .stop = &stop, .params = params, .grid = grid, .pool = &cpu->pool,
                   .here = true, .alone = cpu_watch_busy(&cpu->watch), .is_long = flags & TS_LAUNCH_LONG};
    if (!cpu_watch_begin(&cpu->watch))
        return program_run(&run, err);
    run.watch = &cpu->watch;
    uint32_t forks = atomic_load_explicit(&cpu->forks, memory_order_relaxed);
    ts_status status = program_run(&run, err);
    cpu_watch_end(&cpu->watch);
    if (forks != atomic_load_explicit(&cpu->forks, memory_order_relaxed))
        return ts_fail(err, TS_RUNTIME, "a signal handler forked while kernel '%s' ran: this process, the child, has "
                                        "only part of its results", program->base.name);
    return status;
}

/* TS_LAUNCH_BRIEF: what is learnt, asked and spread of other launches would take longer than the block does. */
static bool program_is_brief(const cpu_program *program, const uint32_t grid[3], uint32_t flags)
{
    const ts_plan *plan = &program->base.plan;
    return flags & TS_LAUNCH_BRIEF && grid[0] == 1 && grid[1] == 1 && grid[2] == 1 && !plan->uses_print &&
           !plan->cooperative && plan->scratch_bytes <= PROGRAM_STACK;
}

static ts_status program_run_brief(cpu_program *program, const uint32_t grid[3], const uint64_t *params, ts_error *err)
{
    _Atomic uint32_t stop = 0;
    cpu_run run = {.program = program, .stop = &stop, .params = params, .grid = grid,
                   .pool = &cpu_of(program->base.device)->pool, .here = true};
    program_inline_on_stack(&run, 1);
    return run.fault.code ? program_failed(&run, err) : TS_OK;
}

/* ---- launching ---------------------------------------------------------------------------------------- */

typedef struct launch_task {
    cpu_task base;
    cpu_program *program; /* one reference */
    uint32_t grid[3], flags;
    uint64_t params[];
} launch_task;

static ts_status program_run_task(cpu_task *task, _Atomic uint32_t *stop, ts_error *err)
{
    launch_task *launch = (launch_task *)task;
    cpu_run run = {.program = launch->program, .stop = stop, .params = launch->params, .grid = launch->grid,
                   .pool = &cpu_of(launch->program->base.device)->pool, .is_long = launch->flags & TS_LAUNCH_LONG};
    return program_run(&run, err);
}

static void program_end_task(cpu_task *task)
{
    program_release(((launch_task *)task)->program);
}

ts_status cpu_program_launch(ts_program *handle, const ts_stream *stream, const ts_launch_shape *shape,
                             const uint64_t *params, uint32_t flags, ts_error *err)
{
    const uint32_t *grid = shape->grid;
    cpu_program *program = (cpu_program *)handle;
    bool is_here = cpu_stream_is_inline(stream);
    if (is_here && program_is_brief(program, grid, flags)) {
        TS_TRY(cpu_streams_join(stream, TS_FOREVER, err));
        return program_run_brief(program, grid, params, err);
    }
    if ((double)grid[0] * grid[1] * grid[2] > 0x1p62)
        return ts_fail(err, TS_VALUE, "a grid of %u x %u x %u blocks is more than can be counted; use fewer",
                       grid[0], grid[1], grid[2]);
    if (handle->plan.cooperative && (double)grid[0] * grid[1] * grid[2] > CPU_MEETING_MOST)
        return ts_fail(err, TS_VALUE, "kernel '%s': its blocks wait for each other, and the CPU device runs %d of them "
                       "at once, not %u x %u x %u; launch fewer", handle->name, CPU_MEETING_MOST, grid[0], grid[1],
                       grid[2]);
    if (is_here) {
        TS_TRY(cpu_streams_join(stream, TS_FOREVER, err));
        return program_run_here(program, grid, params, flags, err);
    }
    size_t bytes = sizeof(uint64_t) * handle->plan.n_params;
    launch_task *task = cpu_task_new(cpu_of(handle->device), sizeof *task + bytes, program_run_task, TS_PIECE_KERNEL);
    if (!task)
        return ts_fail(err, TS_NOMEM, "out of memory for a launch of kernel '%s'", handle->name);
    task->program = program;
    task->base.end = program_end_task;
    task->flags = flags;
    memcpy(task->grid, grid, sizeof shape->grid);
    memcpy(task->params, params, bytes);
    atomic_fetch_add(&program->references, 1);
    ts_status status = cpu_stream_submit(stream, &task->base, err);
    if (status != TS_OK)
        program_release(program);
    return status;
}
