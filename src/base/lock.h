/* SPDX-License-Identifier: Apache-2.0
 *
 * A lock that survives fork(). A child of fork has one thread; a mutex that another thread of the parent held at that
 * moment stays locked in the child for ever. So a ts_lock of the child is made anew before it is taken first, and fork
 * waits for no lock: one may be held as long as a compilation takes. What the thread that forks holds itself, it holds
 * in the child too, and gives back there.
 *
 * What a lock guards is found by the child as the holder left it: change it so that one last store publishes what is
 * new, as `entry->next = first; first = entry` does. What the holder had not published is lost to the child.
 */
#ifndef TS_BASE_LOCK_H
#define TS_BASE_LOCK_H

#include "base/base.h"
#include <pthread.h>

typedef struct ts_lock {
    pthread_mutex_t mutex;
    _Atomic uint32_t forks; /* how deep in forks the process was that made the mutex */
    bool again;             /* a thread that holds it may take it again, as a signal handler does */
    uint32_t n_again;       /* how often its holder has done so */
    struct ts_lock *next;   /* of those that its holder holds */
} ts_lock;

/* A lock with a fixed place, which needs no init. */
#define TS_LOCK_INIT {.mutex = PTHREAD_MUTEX_INITIALIZER}

/* Others. `again`: see ts_lock. Nobody holds or takes a lock when it is ended. */
void ts__lock_init(ts_lock *lock, bool again);
void ts__lock_deinit(ts_lock *lock);
void ts__lock_take(ts_lock *lock);
void ts__lock_give(ts_lock *lock);

#endif
