/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks that survive fork(): lock.h. A counter says how deep in forks this process is; a lock whose number is another
 * was made by a parent, and its mutex is made anew. Only that work, which is short, holds up a fork.
 */
#include "base/lock.h"
#include <stdatomic.h>

static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* making mutexes anew */
    _Atomic uint32_t n;   /* how deep in forks this process is */
} lock_forks = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_before_fork(void)
{
    pthread_mutex_lock(&lock_forks.lock);
}

static void lock_in_parent(void)
{
    pthread_mutex_unlock(&lock_forks.lock);
}

static void lock_in_child(void)
{
    atomic_fetch_add(&lock_forks.n, 1);
    pthread_mutex_unlock(&lock_forks.lock);
}

static void lock_follow_forks(void)
{
    pthread_atfork(lock_before_fork, lock_in_parent, lock_in_child);
}

static void lock_make(ts_lock *lock)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, lock->again ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_DEFAULT);
    pthread_mutex_init(&lock->mutex, &kind);
    pthread_mutexattr_destroy(&kind);
}

static void lock_make_anew(ts_lock *lock, uint32_t forks)
{
    pthread_mutex_lock(&lock_forks.lock);
    if (atomic_load(&lock->forks) != forks)
        lock_make(lock);
    atomic_store_explicit(&lock->forks, forks, memory_order_release);
    pthread_mutex_unlock(&lock_forks.lock);
}

void ts__lock_init(ts_lock *lock, bool again)
{
    lock->again = again;
    lock_make(lock);
    atomic_store(&lock->forks, atomic_load(&lock_forks.n));
}

void ts__lock_deinit(ts_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

void ts__lock_take(ts_lock *lock)
{
    pthread_once(&lock_forks.once, lock_follow_forks);
    uint32_t forks = atomic_load_explicit(&lock_forks.n, memory_order_relaxed);
    if (atomic_load_explicit(&lock->forks, memory_order_acquire) != forks)
        lock_make_anew(lock, forks);
    pthread_mutex_lock(&lock->mutex);
}

void ts__lock_give(ts_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
