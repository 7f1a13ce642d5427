/* SPDX-License-Identifier: Apache-2.0
 * Locks over fork (src/base/lock.h): each test forks while the lock is held, by another thread or by the one that
 * forks. */
#include "base/lock.h"
#include "check.h"
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static ts_lock fixed = TS_LOCK_INIT;
static _Atomic int held, may_give;

static void *hold(void *lock)
{
    ts__lock_take(lock);
    atomic_store(&held, 1);
    while (!atomic_load(&may_give))
        usleep(1000);
    ts__lock_give(lock);
    return NULL;
}

/* Whether a child of fork() does `work` and ends well; one that hangs is ended by its alarm. */
static bool child_can(bool (*work)(ts_lock *lock), ts_lock *lock)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(!work(lock));
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool take_and_give(ts_lock *lock)
{
    for (int i = 0; i < 3; i++) {
        ts__lock_take(lock);
        ts__lock_give(lock);
    }
    return true;
}

static bool take_twice(ts_lock *lock)
{
    ts__lock_take(lock);
    ts__lock_take(lock);
    ts__lock_give(lock);
    ts__lock_give(lock);
    return take_and_give(lock);
}

#if !defined(__SANITIZE_THREAD__) /* which ends a child of a process with threads that starts another */
static int counted;

static void *count(void *lock)
{
    for (int i = 0; i < 1000; i++) {
        ts__lock_take(lock);
        counted++;
        ts__lock_give(lock);
    }
    return NULL;
}

/* Several threads of the child meet a lock that none of them has made anew yet. */
static bool count_with_threads(ts_lock *lock)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, count, lock) != 0)
            return false;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return counted == 4000;
}

static bool a_grandchild_takes(ts_lock *lock)
{
    pthread_t thread;
    atomic_store(&held, 0);
    atomic_store(&may_give, 0);
    if (pthread_create(&thread, NULL, hold, lock) != 0)
        return false;
    while (!atomic_load(&held))
        usleep(1000);
    return child_can(take_and_give, lock);
}

#endif

static void a_child_takes_what_a_thread_of_the_parent_holds(ts_lock *lock)
{
    pthread_t thread;
    atomic_store(&held, 0);
    atomic_store(&may_give, 0);
    CHECK(pthread_create(&thread, NULL, hold, lock) == 0);
    while (!atomic_load(&held))
        usleep(1000);
    CHECK(child_can(take_and_give, lock));
#if !defined(__SANITIZE_THREAD__)
    CHECK(child_can(count_with_threads, lock));
    CHECK(child_can(a_grandchild_takes, lock));
#endif
    CHECK(!lock->again || child_can(take_twice, lock));
    CHECK(pthread_mutex_trylock(&lock->mutex) != 0); /* the parent's thread holds it still */
    atomic_store(&may_give, 1);
    pthread_join(thread, NULL);
    CHECK(take_and_give(lock));
}

#if !defined(__SANITIZE_THREAD__)
static _Atomic int taken;

static void *take(void *lock)
{
    ts__lock_take(lock);
    atomic_store(&taken, 1);
    ts__lock_give(lock);
    return NULL;
}

/* The caller holds the lock: another thread of the child gets it when the caller has given it back, not before. */
static bool hold_and_give(ts_lock *lock)
{
    pthread_t thread;
    atomic_store(&taken, 0);
    if (pthread_create(&thread, NULL, take, lock) != 0)
        return false;
    usleep(20000);
    bool waits = !atomic_load(&taken);
    ts__lock_give(lock);
    pthread_join(thread, NULL);
    return waits && atomic_load(&taken) && take_and_give(lock);
}

static bool a_grandchild_holds(ts_lock *lock)
{
    return child_can(hold_and_give, lock) && hold_and_give(lock);
}

static bool hold_twice(ts_lock *lock)
{
    ts__lock_give(lock);
    return hold_and_give(lock);
}

static void a_child_holds_what_its_thread_held(ts_lock *lock)
{
    ts_lock other;
    ts__lock_init(&other, false);
    ts__lock_take(lock);
    ts__lock_take(&other); /* given back in another order than taken */
    CHECK(child_can(hold_and_give, lock));
    CHECK(child_can(hold_and_give, &other));
    CHECK(child_can(a_grandchild_holds, lock));
    CHECK(hold_and_give(lock)); /* the parent holds it as before */
    ts__lock_give(&other);
    if (lock->again) {
        ts__lock_take(lock), ts__lock_take(lock);
        CHECK(child_can(hold_twice, lock));
        ts__lock_give(lock), ts__lock_give(lock);
    }
    CHECK(take_and_give(lock));
    ts__lock_deinit(&other);
}
#endif

int main(void)
{
    ts_lock plain, again;
    ts__lock_init(&plain, false);
    ts__lock_init(&again, true);
    a_child_takes_what_a_thread_of_the_parent_holds(&fixed);
    a_child_takes_what_a_thread_of_the_parent_holds(&plain);
    a_child_takes_what_a_thread_of_the_parent_holds(&again);
#if !defined(__SANITIZE_THREAD__)
    a_child_holds_what_its_thread_held(&fixed);
    a_child_holds_what_its_thread_held(&plain);
    a_child_holds_what_its_thread_held(&again);
#endif
    CHECK(take_twice(&again));
    ts__lock_deinit(&plain);
    ts__lock_deinit(&again);
    return check_done();
}
