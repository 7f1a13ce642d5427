/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks that survive fork(): lock.h. A counter says how deep in forks this process is; a lock whose number is another
 * was made by a parent, and its mutex is made anew. Only that work, which is short, holds up a fork. Each thread has a
 * list of the locks that it holds: in a child those of the thread that forked get the child's number, and stay held.
 */
#include "base/lock.h"
#include <stdatomic.h>

static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* making mutexes anew */
    _Atomic uint32_t n;   /* how deep in forks this process is */
} lock_forks = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local ts_lock *lock_mine; /* the newest of those that this thread holds */

static void lock_before_fork(void)
{
    pthread_mutex_lock(&lock_forks.lock);
}

static void lock_in_parent(void)
{
    pthread_mutex_unlock(&lock_forks.lock);
}

/* The one thread of the child goes on inside of what it held: its locks are those of the child. */
static void lock_in_child(void)
{
    uint32_t forks = atomic_fetch_add(&lock_forks.n, 1) + 1;
    for (ts_lock *lock = lock_mine; lock; lock = lock->next)
        atomic_store(&lock->forks, forks);
    pthread_mutex_unlock(&lock_forks.lock);
}

static void lock_follow_forks(void)
{
    pthread_atfork(lock_before_fork, lock_in_parent, lock_in_child);
}

static void lock_make_anew(ts_lock *lock, uint32_t forks)
{
    pthread_mutex_lock(&lock_forks.lock);
    if (atomic_load(&lock->forks) != forks)
        pthread_mutex_init(&lock->mutex, NULL);
    atomic_store_explicit(&lock->forks, forks, memory_order_release);
    pthread_mutex_unlock(&lock_forks.lock);
}

static bool lock_is_mine(const ts_lock *lock)
{
    const ts_lock *mine = lock_mine;
    while (mine && mine != lock)
        mine = mine->next;
    return mine != NULL;
}

void ts__lock_init(ts_lock *lock, bool again)
{
    *lock = (ts_lock){.again = again};
    pthread_mutex_init(&lock->mutex, NULL);
    atomic_store(&lock->forks, atomic_load(&lock_forks.n));
}

void ts__lock_deinit(ts_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

void ts__lock_take(ts_lock *lock)
{
    if (lock->again && lock_is_mine(lock)) {
        lock->n_again++;
        return;
    }
    pthread_once(&lock_forks.once, lock_follow_forks);
    uint32_t forks = atomic_load_explicit(&lock_forks.n, memory_order_relaxed);
    if (atomic_load_explicit(&lock->forks, memory_order_acquire) != forks)
        lock_make_anew(lock, forks);
    pthread_mutex_lock(&lock->mutex);
    lock->n_again = 0;
    lock->next = lock_mine;
    lock_mine = lock;
}

void ts__lock_give(ts_lock *lock)
{
    if (lock->n_again) {
        lock->n_again--;
        return;
    }
    ts_lock **at = &lock_mine;
    while (*at != lock)
        at = &(*at)->next;
    *at = lock->next;
    pthread_mutex_unlock(&lock->mutex);
}
