/* SPDX-License-Identifier: Apache-2.0
 *
 * Work in the background: all of it is done once, in other threads; who waits sees it; a child of fork is made between
 * two pieces, and does what waited for a thread; signals go to other threads; nothing is taken after the end.
 */
#include "check.h"
#include "device/background.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECES = 200 };

static _Atomic int n_done, n_here, is_held;
static pthread_t self;

static void count(void *user)
{
    while (atomic_load(&is_held))
        usleep(100);
    ts__background_wait(); /* at once: this is one of the threads */
    atomic_fetch_add(&n_here, pthread_equal(pthread_self(), self) != 0);
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void all_pieces_are_done(void)
{
    for (int i = 0; i < PIECES; i++)
        CHECK(ts__background(count, &n_done));
    ts__background_wait();
    CHECK(atomic_load(&n_done) == PIECES);
    CHECK(atomic_load(&n_here) == 0);
}

static _Atomic int n_slow;

static void slow(void *user)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    atomic_fetch_add(&n_here, !sigismember(&blocked, SIGINT));
    atomic_fetch_add((_Atomic int *)user, 1);
    usleep(3000);
    atomic_fetch_sub((_Atomic int *)user, 1);
}

static void children_are_made_between_pieces(void)
{
    enum { SLOW = 40 };
    int bad = 0;
    for (int i = 0; i < SLOW; i++)
        CHECK(ts__background(slow, &n_slow));
    for (int i = 0; i < 3; i++) {
        int status = 1;
        pid_t child = fork();
        if (child == 0)
            _exit(atomic_load(&n_slow));
        bad += child < 0 || waitpid(child, &status, 0) != child || status != 0;
    }
    CHECK_INT(bad, 0);
    ts__background_wait();
    CHECK(atomic_load(&n_slow) == 0 && atomic_load(&n_here) == 0);
}

/* One that does not end holds a fork up for a while alone; it is no work of the child's. */
static void a_child_leaves_what_is_under_way(void)
{
    atomic_store(&is_held, 1);
    CHECK(ts__background(count, &n_done));
    pid_t child = fork();
    if (child == 0) {
        atomic_store(&is_held, 0);
        ts__background_wait(); /* for nothing */
        int before = atomic_load(&n_done);
        bool works = ts__background(count, &n_done);
        ts__background_wait();
        _exit(works && atomic_load(&n_done) == before + 1 ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    atomic_store(&is_held, 0);
    ts__background_wait();
    CHECK(atomic_load(&n_done) == PIECES + 1);
}

static _Atomic int n_left;

/* Pieces that wait for a thread are the child's, too: each process does them for itself, a child when it is asked. */
static void a_child_goes_on_with_what_is_left(void)
{
    enum { LEFT = 50 };
    for (int i = 0; i < LEFT; i++)
        CHECK(ts__background(slow, &n_slow) && ts__background(count, &n_left));
    pid_t child = fork();
    if (child == 0) {
        int before = atomic_load(&n_left);
        usleep(20000);
        bool waits = atomic_load(&n_left) == before;
        ts__background_resume();
        ts__background_wait();
        _exit(waits && atomic_load(&n_left) == LEFT ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    ts__background_wait();
    CHECK(atomic_load(&n_left) == LEFT);
}

/* In a child of fork: how many pieces are done that waited for a thread, though at first none can be made. */
static int done_once_there_are_threads(void)
{
    pthread_attr_t attr;
    size_t bytes = 0;
    int before = atomic_load(&n_left);
    pthread_attr_init(&attr);
    pthread_attr_getstacksize(&attr, &bytes);
    pthread_attr_setstacksize(&attr, SIZE_MAX / 4); /* no stack: EAGAIN */
    pthread_setattr_default_np(&attr);
    ts__background_resume();
    ts__background_wait();
    bool waits = atomic_load(&n_left) == before;
    pthread_attr_setstacksize(&attr, bytes);
    pthread_setattr_default_np(&attr);
    ts__background_resume();
    ts__background_wait();
    return waits ? atomic_load(&n_left) : -1;
}

static void a_child_without_threads_tries_again(void)
{
    enum { LEFT = 50 };
    atomic_store(&n_left, 0);
    for (int i = 0; i < LEFT; i++)
        CHECK(ts__background(slow, &n_slow) && ts__background(count, &n_left));
    pid_t child = fork();
    if (child == 0)
        _exit(done_once_there_are_threads() == LEFT ? 0 : 1);
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    ts__background_wait();
    CHECK(atomic_load(&n_left) == LEFT);
}

int main(void)
{
    self = pthread_self();
    all_pieces_are_done();
    children_are_made_between_pieces();
    a_child_goes_on_with_what_is_left();
    a_child_without_threads_tries_again();
    a_child_leaves_what_is_under_way();
    ts__background_end();
    CHECK(!ts__background(count, &n_done));
    return check_done();
}
