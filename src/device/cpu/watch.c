/* SPDX-License-Identifier: Apache-2.0
 *
 * Lets the caller of a long launch look up. A launch on the default stream runs in its caller's thread; where that
 * is the thread of ts_interrupt_set (Python's main thread, which alone sees Ctrl-C) it must ask now and then
 * whether to go on. The kernel cannot tell time, so a thread of the watch ticks while launches are made: one that
 * lasted a whole tick finds a word raised that kernels read anyway (runtime/entry.h), and asks. A second after the
 * last launch the thread sleeps for good, until the next one.
 *
 *     serial   0 | 1 (first launch runs) | 2 | 3 (second) | ...      ask   raised by the tick, cleared by the asker
 */
#include "device/cpu/cpu.h"
#include <signal.h>

enum { WATCH_IDLE_TICKS = 20 };

/* One look at the launches; false: nothing has been going on for long. */
static bool watch_tick(cpu_watch *watch, uint32_t *seen, uint32_t *n_idle)
{
    uint32_t serial = atomic_load(&watch->serial);
    bool same = serial == *seen;
    if (same && serial % 2)
        atomic_store(&watch->ask, 1);
    *n_idle = same && serial % 2 == 0 ? *n_idle + 1 : 0;
    *seen = serial;
    return *n_idle < WATCH_IDLE_TICKS;
}

static void *watch_main(void *argument)
{
    cpu_watch *watch = argument;
    uint32_t seen = 0, n_idle = 0;
    while (!atomic_load(&watch->stop)) {
        uint32_t wake = atomic_load(&watch->wake.value);
        int64_t until = ts__deadline(CPU_TICK_NS);
        if (!watch_tick(watch, &seen, &n_idle)) {
            atomic_store(&watch->awake, false);
            if (atomic_load(&watch->serial) == seen) /* else a launch began that saw a waking watch */
                until = TS_FOREVER;
            n_idle = 0;
        }
        (void)ts__signal_wait(&watch->wake, wake, 0, until);
        atomic_store(&watch->awake, true);
    }
    return NULL;
}

/* Without a thread nobody is asked; launches are not held up for that. */
static void watch_wake(cpu_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    if (!watch->has_thread && !atomic_load(&watch->stop)) {
        sigset_t all, old;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        atomic_store(&watch->awake, true);
        watch->has_thread = pthread_create(&watch->thread, NULL, watch_main, watch) == 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_mutex_unlock(&watch->lock);
    ts__signal_raise(&watch->wake);
}

bool cpu_watch_begin(cpu_watch *watch)
{
    uint32_t serial = atomic_load_explicit(&watch->serial, memory_order_relaxed);
    if (serial % 2 || !ts__interrupt_get())
        return false;
    atomic_store_explicit(&watch->ask, 0, memory_order_relaxed);
    atomic_store(&watch->serial, serial + 1);
    if (!atomic_load(&watch->awake))
        watch_wake(watch);
    return true;
}

void cpu_watch_end(cpu_watch *watch)
{
    atomic_fetch_add_explicit(&watch->serial, 1, memory_order_release);
}

bool cpu_watch_busy(const cpu_watch *watch)
{
    return atomic_load_explicit(&watch->serial, memory_order_relaxed) % 2 && ts__interrupt_get();
}

bool cpu_watch_ask(cpu_watch *watch)
{
    ts_interrupt_fn *asked = ts__interrupt_get();
    atomic_store(&watch->ask, 0);
    return asked && asked();
}

void cpu_watch_init(cpu_watch *watch)
{
    memset(watch, 0, sizeof *watch);
    pthread_mutex_init(&watch->lock, NULL);
}

void cpu_watch_stop(cpu_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    atomic_store(&watch->stop, true);
    ts__signal_raise(&watch->wake);
    if (watch->has_thread)
        pthread_join(watch->thread, NULL);
    watch->has_thread = false;
    pthread_mutex_unlock(&watch->lock);
}

void cpu_watch_deinit(cpu_watch *watch)
{
    cpu_watch_stop(watch);
    pthread_mutex_destroy(&watch->lock);
}

void cpu_watch_forget_thread(cpu_watch *watch)
{
    pthread_mutex_init(&watch->lock, NULL);
    watch->has_thread = false;
    atomic_store(&watch->awake, false);
    atomic_store(&watch->wake.sleepers, 0);
}
