/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread pool: one job at a time, spread over all threads with the caller as thread 0. Workers spin
 * for a bounded time between jobs (0.5 us from launch to work), then sleep in a futex (20 us to wake).
 * They start at the first job that wants them.
 *
 * A job is written under `lock`, published by raising `start`, and over when `left` is zero; so its
 * members are never written while a worker reads them.
 */
#include "device/cpu/cpu.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define POOL_SPIN_NS ((int64_t)100000)

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

/* CPUs' worth of time that the cgroup file grants ("max 100000" or "150000 100000"); 0 = no limit. */
static uint32_t threads_quota(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    double quota = 0, period = 0;
    int n = fscanf(file, "%lf %lf", &quota, &period);
    fclose(file);
    if (n != 2 || quota <= 0 || period <= 0)
        return 0;
    double cpus = quota / period + 0.5;
    return cpus < 1 ? 1 : cpus > CPU_THREADS_MAX ? CPU_THREADS_MAX : (uint32_t)cpus;
}

/* The tightest cpu.max from this process's cgroup (version 2) up to the root. */
static uint32_t threads_cgroup(void)
{
    char line[1024], path[2048];
    FILE *file = fopen("/proc/self/cgroup", "re");
    uint32_t least = 0;
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

uint32_t cpu_count(void)
{
    const char *wish = getenv("TESSERA_NUM_THREADS");
    long wanted = wish ? strtol(wish, NULL, 10) : 0;
    if (wanted > 0)
        return wanted > CPU_THREADS_MAX ? CPU_THREADS_MAX : (uint32_t)wanted;
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    uint32_t quota = threads_cgroup(), count = n > 0 ? (uint32_t)n : 1;
    if (quota && quota < count)
        count = quota;
    return TS_MIN(count, (uint32_t)CPU_THREADS_MAX);
}

/* ---- jobs ------------------------------------------------------------------------------------------- */

static void pool_share(cpu_pool *pool, uint32_t worker, uint32_t n_workers)
{
    int64_t n = pool->n_items, chunk = pool->chunk;
    if (chunk == 0) {
        int64_t each = n / n_workers, more = n % n_workers; /* the first `more` get one more */
        int64_t begin = each * worker + TS_MIN((int64_t)worker, more);
        int64_t end = begin + each + (worker < more);
        if (begin < end)
            pool->work(pool->user, worker, begin, end);
        return;
    }
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&pool->next, chunk, memory_order_relaxed);
        if (begin >= n)
            return;
        pool->work(pool->user, worker, begin, TS_MIN(begin + chunk, n));
    }
}

static void *pool_main(void *argument)
{
    cpu_worker *worker = argument;
    cpu_pool *pool = worker->pool;
    uint32_t seen = worker->seen;
    cpu_fp_enter();
    for (;;) {
        ts_signal_wait(&pool->start, seen, POOL_SPIN_NS, TS_FOREVER);
        if (atomic_load_explicit(&pool->start.value, memory_order_acquire) == seen)
            continue;
        seen++;
        if (atomic_load(&pool->stop))
            return NULL;
        pool_share(pool, worker->id, pool->n_started + 1);
        if (atomic_fetch_sub(&pool->left, 1) == 1)
            ts_signal_raise(&pool->finished);
    }
}

/* Starts the workers that are missing; fewer than wanted is not an error, only slower. */
static void pool_start(cpu_pool *pool)
{
    sigset_t all, old;
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

static void pool_run_locked(cpu_pool *pool, cpu_work_fn *work, void *user, int64_t n_items, int64_t chunk)
{
    if (pool->n_started + 1 < pool->n_threads && !atomic_load(&pool->stop))
        pool_start(pool);
    pool->work = work;
    pool->user = user;
    pool->n_items = n_items;
    pool->chunk = chunk;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store(&pool->left, pool->n_started);
    uint32_t finished = atomic_load(&pool->finished.value);
    if (pool->n_started)
        ts_signal_raise(&pool->start);
    cpu_fp_state state = cpu_fp_enter();
    pool_share(pool, 0, pool->n_started + 1);
    cpu_fp_leave(state);
    while (pool->n_started && atomic_load_explicit(&pool->left, memory_order_acquire))
        ts_signal_wait(&pool->finished, finished, POOL_SPIN_NS, TS_FOREVER);
}

void cpu_pool_run(cpu_pool *pool, cpu_work_fn *work, void *user, int64_t n_items, int64_t chunk)
{
    pthread_mutex_lock(&pool->lock);
    pool_run_locked(pool, work, user, n_items, chunk);
    pthread_mutex_unlock(&pool->lock);
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

bool cpu_pool_run_scratch(cpu_pool *pool, cpu_work_fn *work, void *user, int64_t n_items, int64_t chunk,
                          size_t scratch_bytes)
{
    pthread_mutex_lock(&pool->lock);
    bool ok = pool_scratch(pool, scratch_bytes);
    if (ok)
        pool_run_locked(pool, work, user, n_items, chunk);
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
    ts_signal_raise(&pool->start);
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
    pool->n_started = 0;
    atomic_store(&pool->left, 0);
    atomic_store(&pool->start.sleepers, 0);
    atomic_store(&pool->finished.sleepers, 0);
}
