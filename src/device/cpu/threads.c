/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread pool: one job at a time, spread over all threads with the caller as thread 0. Workers spin
 * for a bounded time between jobs (0.5 us from launch to work), then sleep in a futex (20 us to wake).
 * They start at the first job that wants them.
 *
 * A job is written under `lock` and published by opening its gate. Workers that are awake join it and take
 * pieces; when no piece is left the caller closes the gate and waits for those inside. A worker that wakes too
 * late finds the gate closed and is not waited for. So the job's members are never written while a worker
 * reads them, and a launch never takes longer than its caller alone would.
 *
 * Where no CPU is idle (other threads of the process that spin are enough: BLAS libraries do after each call),
 * Linux likes to wake a thread on the CPU of the one that wakes it, and leaves both there for many milliseconds.
 * A worker that finds itself on the caller's CPU moves away before it joins.
 */
#include "device/cpu/cpu.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define POOL_SPIN_NS ((int64_t)100000)
#define POOL_CLOSED 0x80000000u

typedef struct cpu_worker {
    cpu_pool *pool;
    uint32_t id, seen; /* seen: value of `start` when the thread was made */
} cpu_worker;

/* ---- floating-point mode ------------------------------------------------------------------------ */

#if defined(__x86_64__)
enum { FP_WANTED = 0x1F80, FP_STATUS = 0x3F }; /* all masked, nearest, no FTZ, no DAZ */
cpu_fp_state cpu_fp_enter(void)
{
    uint32_t state = __builtin_ia32_stmxcsr();
    if ((state & ~(uint32_t)FP_STATUS) != FP_WANTED)
        __builtin_ia32_ldmxcsr(FP_WANTED);
    return state;
}
void cpu_fp_leave(cpu_fp_state state)
{
    if (((uint32_t)state & ~(uint32_t)FP_STATUS) != FP_WANTED)
        __builtin_ia32_ldmxcsr((uint32_t)state);
}
#elif defined(__aarch64__)
cpu_fp_state cpu_fp_enter(void)
{
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    if (state)
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return state;
}
void cpu_fp_leave(cpu_fp_state state)
{
    if (state)
        __asm__ volatile("msr fpcr, %0" : : "r"(state));
}
#else
cpu_fp_state cpu_fp_enter(void)
{
    return 0;
}
void cpu_fp_leave(cpu_fp_state state)
{
    (void)state;
}
#endif

/* ---- how many ------------------------------------------------------------------------------------- */

static uint32_t threads_ratio(double quota, double period)
{
    double cpus = quota > 0 && period > 0 ? quota / period + 0.5 : 0;
    return cpus <= 0 ? 0 : cpus < 1 ? 1 : cpus > CPU_THREADS_MAX ? CPU_THREADS_MAX : (uint32_t)cpus;
}

/* Up to two numbers of a file; missing ones are 0. */
static void threads_numbers(const char *path, double *first, double *second)
{
    *first = *second = 0;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%lf %lf", first, second) < 1)
        *first = 0;
    if (file)
        fclose(file);
}

/* CPUs' worth of time that a cpu.max grants ("max 100000" or "150000 100000"); 0 = no limit. */
static uint32_t threads_quota(const char *path)
{
    double quota, period;
    threads_numbers(path, &quota, &period);
    return threads_ratio(quota, period);
}

/* The same in version 1, as a container sees its own group. */
static uint32_t threads_quota_v1(void)
{
    double quota, period, none;
    threads_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota, &none);
    threads_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period, &none);
    return threads_ratio(quota, period);
}

/* The tightest limit from this process's cgroup up to the root. */
static uint32_t threads_cgroup(void)
{
    char line[1024], path[2048];
    FILE *file = fopen("/proc/self/cgroup", "re");
    uint32_t least = threads_quota_v1();
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::", 3) != 0)
            continue;
        char *group = line + 3;
        group[strcspn(group, "\n")] = 0;
        for (;;) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", strcmp(group, "/") == 0 ? "" : group);
            uint32_t quota = threads_quota(path);
            if (quota && (!least || quota < least))
                least = quota;
            char *slash = strrchr(group, '/');
            if (!slash)
                break;
            *slash = 0;
        }
    }
    if (file)
        fclose(file);
    return least;
}

static uint32_t threads_usable(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    uint32_t quota = threads_cgroup(), count = n > 0 ? (uint32_t)n : 1;
    if (quota && quota < count)
        count = quota;
    return TS_MIN(count, (uint32_t)CPU_THREADS_MAX);
}

ts_status cpu_count(uint32_t *out, ts_error *err)
{
    const char *wish = getenv("TESSERA_NUM_THREADS");
    char *end;
    *out = 0;
    if (!wish || !*wish) {
        *out = threads_usable();
        return TS_OK;
    }
    long wanted = strtol(wish, &end, 10);
    if (*end || wanted < 1 || wanted > CPU_THREADS_MAX)
        return ts_fail(err, TS_VALUE, "TESSERA_NUM_THREADS=%.100s is not a number of threads; give 1 to %d", wish,
                       CPU_THREADS_MAX);
    *out = (uint32_t)wanted;
    return TS_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------------- */

/* Takes pieces until none is left. */
static void pool_share(cpu_pool *pool, uint32_t worker)
{
    int64_t n = pool->n_items, chunk = pool->chunk, n_threads = pool->n_threads;
    int64_t each = n / n_threads, more = n % n_threads; /* chunk 0: the first `more` get one more */
    cpu_piece piece = {.worker = worker};
    for (;;) {
        piece.number = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        piece.begin = chunk ? piece.number * chunk : each * piece.number + TS_MIN(piece.number, more);
        piece.end = chunk ? TS_MIN(piece.begin + chunk, n) : piece.begin + each + (piece.number < more);
        if (piece.begin >= n || (!chunk && piece.number >= n_threads))
            return;
        pool->work(pool->user, &piece);
    }
}

/* True: inside, to be left by pool_leave. */
static bool pool_join(cpu_pool *pool)
{
    uint32_t gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
    while (!(gate & POOL_CLOSED))
        if (atomic_compare_exchange_weak(&pool->gate, &gate, gate + 1))
            return true;
    return false;
}

static void pool_leave(cpu_pool *pool)
{
    if (atomic_fetch_sub(&pool->gate, 1) == (POOL_CLOSED | 1))
        ts__signal_raise(&pool->finished);
}

/* Forbids itself the caller's CPU for a moment, which makes the system move it at once. */
static void pool_move_away(const cpu_pool *pool)
{
    cpu_set_t mask, others;
    int caller = atomic_load_explicit(&pool->caller_cpu, memory_order_relaxed);
    if (caller < 0 || caller >= CPU_SETSIZE || caller != sched_getcpu() ||
        sched_getaffinity(0, sizeof mask, &mask) != 0)
        return;
    others = mask;
    CPU_CLR((size_t)caller, &others);
    if (CPU_COUNT(&others) && sched_setaffinity(0, sizeof others, &others) == 0)
        (void)!sched_setaffinity(0, sizeof mask, &mask);
}

static void *pool_main(void *argument)
{
    cpu_worker *worker = argument;
    cpu_pool *pool = worker->pool;
    uint32_t seen = worker->seen;
    cpu_fp_enter();
    for (;;) {
        ts__signal_wait(&pool->start, seen, POOL_SPIN_NS, TS_FOREVER);
        seen = atomic_load_explicit(&pool->start.value, memory_order_acquire);
        if (atomic_load(&pool->stop))
            return NULL;
        pool_move_away(pool);
        if (pool_join(pool)) {
            pool_share(pool, worker->id);
            pool_leave(pool);
        }
    }
}

/* Starts the workers that are missing; fewer than wanted is not an error, only slower. */
static void pool_start(cpu_pool *pool)
{
    sigset_t all, old;
    if (pool->n_started + 1 >= pool->n_threads || atomic_load(&pool->stop))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
    while (pool->n_started + 1 < pool->n_threads) {
        cpu_worker *worker = &pool->workers[pool->n_started];
        *worker = (cpu_worker){pool, pool->n_started + 1, atomic_load(&pool->start.value)};
        if (pthread_create(&pool->threads[pool->n_started], NULL, pool_main, worker) != 0)
            break;
        pool->n_started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Until the workers have left the closed gate. */
static void pool_wait(cpu_pool *pool)
{
    for (;;) {
        uint32_t seen = atomic_load(&pool->finished.value);
        if (atomic_load(&pool->gate) == POOL_CLOSED)
            return;
        int64_t until = pool->idle ? ts__deadline(CPU_TICK_NS) : TS_FOREVER;
        if (ts__signal_wait(&pool->finished, seen, POOL_SPIN_NS, until) != TS_WAIT_CHANGED && pool->idle)
            (void)pool->idle(pool->user); /* `work` sees for itself that it is to end */
    }
}

static void pool_run_locked(cpu_pool *pool, cpu_work_fn *work, cpu_idle_fn *idle, void *user, int64_t n_items,
                            int64_t chunk)
{
    pool_start(pool);
    pool->work = work;
    pool->idle = idle;
    pool->user = user;
    pool->n_items = n_items;
    pool->chunk = chunk;
    atomic_store_explicit(&pool->caller_cpu, sched_getcpu(), memory_order_relaxed);
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->gate, 0, memory_order_release);
    if (pool->n_started)
        ts__signal_raise(&pool->start);
    cpu_fp_state state = cpu_fp_enter();
    pool_share(pool, 0);
    cpu_fp_leave(state);
    atomic_fetch_or(&pool->gate, POOL_CLOSED);
    pool_wait(pool);
}

void cpu_pool_run(cpu_pool *pool, cpu_work_fn *work, void *user, int64_t n_items, int64_t chunk)
{
    if (pthread_mutex_trylock(&pool->lock) != 0) {
        work(user, &(cpu_piece){.end = n_items});
        return;
    }
    pool_run_locked(pool, work, NULL, user, n_items, chunk);
    pthread_mutex_unlock(&pool->lock);
}

bool cpu_pool_run_all(cpu_pool *pool, cpu_work_fn *work, void *user, uint32_t n)
{
    if (n > pool->n_threads || pthread_mutex_trylock(&pool->lock) != 0)
        return false;
    pool_start(pool);
    bool ok = n <= pool->n_started + 1;
    if (ok)
        pool_run_locked(pool, work, NULL, user, n, 1);
    pthread_mutex_unlock(&pool->lock);
    return ok;
}

/* False: given up. */
static bool pool_lock(cpu_pool *pool, cpu_idle_fn *idle, void *user)
{
    if (!idle)
        return pthread_mutex_lock(&pool->lock) == 0;
    while (pthread_mutex_trylock(&pool->lock) != 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until); /* which this lock goes by */
        int64_t ns = until.tv_nsec + CPU_TICK_NS;
        until = (struct timespec){until.tv_sec + ns / 1000000000, ns % 1000000000};
        if (pthread_mutex_timedlock(&pool->lock, &until) == 0)
            break;
        if (idle(user))
            return false;
    }
    return true;
}

/* Under lock. */
static bool pool_scratch(cpu_pool *pool, size_t bytes)
{
    size_t each = (bytes + 4095) & ~(size_t)4095; /* no two threads on one page */
    if (each <= pool->scratch_each)
        return true;
    if (each > SIZE_MAX / pool->n_threads)
        return false;
    char *fresh = cpu_memory_get(pool->memory, each * pool->n_threads);
    if (!fresh)
        return false;
    cpu_memory_put(pool->memory, pool->scratch);
    pool->scratch = fresh;
    pool->scratch_each = each;
    return true;
}

bool cpu_pool_run_scratch(cpu_pool *pool, cpu_work_fn *work, cpu_idle_fn *idle, void *user, int64_t n_items,
                          int64_t chunk, size_t scratch_bytes)
{
    if (!pool_lock(pool, idle, user))
        return false;
    bool ok = pool_scratch(pool, scratch_bytes);
    if (ok)
        pool_run_locked(pool, work, idle, user, n_items, chunk);
    pthread_mutex_unlock(&pool->lock);
    return ok;
}

/* ---- life --------------------------------------------------------------------------------------------- */

ts_status cpu_pool_init(cpu_pool *pool, cpu_memory *memory, uint32_t n_threads, ts_error *err)
{
    const ts_alloc *alloc = memory->alloc;
    memset(pool, 0, sizeof *pool);
    pool->memory = memory;
    pool->n_threads = n_threads;
    atomic_store(&pool->gate, POOL_CLOSED);
    pthread_mutex_init(&pool->lock, NULL);
    pool->threads = ts__new(alloc, sizeof *pool->threads * n_threads);
    pool->workers = ts__new(alloc, sizeof *pool->workers * n_threads);
    if (pool->threads && pool->workers)
        return TS_OK;
    cpu_pool_deinit(pool);
    return ts_fail(err, TS_NOMEM, "out of memory for a pool of %u threads", n_threads);
}

void cpu_pool_stop(cpu_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stop, true);
    ts__signal_raise(&pool->start);
    for (uint32_t i = 0; i < pool->n_started; i++)
        pthread_join(pool->threads[i], NULL);
    pool->n_started = 0;
    pthread_mutex_unlock(&pool->lock);
}

void cpu_pool_deinit(cpu_pool *pool)
{
    const ts_alloc *alloc = pool->memory->alloc;
    cpu_pool_stop(pool);
    cpu_memory_put(pool->memory, pool->scratch);
    ts__delete(alloc, pool->threads, sizeof *pool->threads * pool->n_threads);
    ts__delete(alloc, pool->workers, sizeof *pool->workers * pool->n_threads);
    pthread_mutex_destroy(&pool->lock);
}

void cpu_pool_forget_threads(cpu_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL); /* of a job that runs in the parent */
    pool->scratch = NULL;                  /* the parent may have been exchanging it */
    pool->scratch_each = 0;
    pool->n_started = 0;
    atomic_store(&pool->gate, POOL_CLOSED);
    atomic_store(&pool->start.sleepers, 0);
    atomic_store(&pool->finished.sleepers, 0);
}
