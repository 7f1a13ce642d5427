/* SPDX-License-Identifier: Apache-2.0
 *
 * Work in the background: background.h. A list, and a few threads that take from its front. The handler that waits at
 * exit is set at the first piece of work: so it runs before those of the libraries, the CUDA driver among them, that
 * were loaded earlier.
 */
#include "device/background.h"
#include "device/device.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BACKGROUND_THREADS = 8, BACKGROUND_FORK_S = 2 };

typedef struct background_piece {
    ts_background_fn *run;
    void *user;
    struct background_piece *next;
} background_piece;

static struct {
    pthread_once_t once;
    pthread_mutex_t mutex;
    pthread_cond_t idle, still, goes_on; /* no threads; no piece under way; forks are over */
    background_piece *first, *last;
    int n_threads, most_threads;
    int n_running;  /* pieces under way */
    int n_forks;    /* threads that are about to fork: no piece begins */
    bool has_ended; /* no piece is taken */
    _Atomic bool is_left; /* in a child of fork: pieces that have no thread */
} background = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER,
                .still = PTHREAD_COND_INITIALIZER, .goes_on = PTHREAD_COND_INITIALIZER};

static _Thread_local bool background_is_mine; /* this thread is one of those */

/* A child has the locks of LLVM and of other libraries as they are now, and no thread to open them: so no piece may be
 * under way. One that takes very long, or waits for what the caller holds, does not hold up the fork for good. */
static void background_before_fork(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += BACKGROUND_FORK_S;
    pthread_mutex_lock(&background.mutex);
    background.n_forks++;
    while (background.n_running && !background_is_mine &&
           pthread_cond_timedwait(&background.still, &background.mutex, &end) == 0)
        ;
}

static void background_in_parent(void)
{
    if (--background.n_forks == 0)
        pthread_cond_broadcast(&background.goes_on);
    pthread_mutex_unlock(&background.mutex);
}

static void background_in_child(void)
{
    background.n_threads = background.n_running = background.n_forks = 0;
    atomic_store_explicit(&background.is_left, background.first != NULL, memory_order_relaxed);
    background_is_mine = false;
    pthread_cond_init(&background.idle, NULL);
    pthread_cond_init(&background.still, NULL);
    pthread_cond_init(&background.goes_on, NULL);
    pthread_mutex_unlock(&background.mutex);
}

static void background_start(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    background.most_threads = cores < 1 ? 1 : (int)TS_MIN(cores, (long)BACKGROUND_THREADS);
    pthread_atfork(background_before_fork, background_in_parent, background_in_child);
    atexit(ts__background_end);
}

/* Under the mutex: the first piece, once no thread forks; NULL: there is none. */
static background_piece *background_take(void)
{
    while (background.n_forks)
        pthread_cond_wait(&background.goes_on, &background.mutex);
    background_piece *piece = background.first;
    if (piece)
        background.first = piece->next;
    return piece;
}

static void *background_thread(void *unused)
{
    background_is_mine = true;
    pthread_mutex_lock(&background.mutex);
    for (background_piece *piece = background_take(); piece; piece = background_take()) {
        background.n_running++;
        pthread_mutex_unlock(&background.mutex);
        piece->run(piece->user);
        ts__delete(ts_alloc_default(), piece, sizeof *piece);
        pthread_mutex_lock(&background.mutex);
        if (--background.n_running == 0)
            pthread_cond_broadcast(&background.still);
    }
    if (--background.n_threads == 0)
        pthread_cond_broadcast(&background.idle);
    pthread_mutex_unlock(&background.mutex);
    return unused;
}

/* Under the mutex: one more thread, up to the most. False: there is none. Signals go to threads of the program, whose
 * waits they end. */
static bool background_has_thread(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, old;
    if (background.n_threads >= background.most_threads || pthread_attr_init(&attr) != 0)
        return background.n_threads > 0;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    background.n_threads += pthread_create(&thread, &attr, background_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return background.n_threads > 0;
}

void ts__background_resume(void)
{
    if (!atomic_load_explicit(&background.is_left, memory_order_relaxed))
        return;
    pthread_mutex_lock(&background.mutex);
    bool is_left = background.first && !background.has_ended && !background_has_thread();
    atomic_store_explicit(&background.is_left, is_left, memory_order_relaxed);
    pthread_mutex_unlock(&background.mutex);
}

bool ts__background(ts_background_fn *run, void *user)
{
    pthread_once(&background.once, background_start);
    background_piece *piece = ts__new(ts_alloc_default(), sizeof *piece);
    if (!piece)
        return false;
    *piece = (background_piece){run, user, NULL};
    pthread_mutex_lock(&background.mutex);
    bool taken = !background.has_ended && background_has_thread();
    if (taken && background.first)
        background.last->next = piece;
    else if (taken)
        background.first = piece;
    if (taken)
        background.last = piece;
    pthread_mutex_unlock(&background.mutex);
    if (!taken)
        ts__delete(ts_alloc_default(), piece, sizeof *piece);
    return taken;
}

void ts__background_wait(void)
{
    if (background_is_mine)
        return;
    ts__background_resume();
    pthread_mutex_lock(&background.mutex);
    while (background.n_threads)
        pthread_cond_wait(&background.idle, &background.mutex);
    pthread_mutex_unlock(&background.mutex);
}

void ts__background_end(void)
{
    pthread_mutex_lock(&background.mutex);
    background.has_ended = true;
    pthread_mutex_unlock(&background.mutex);
    ts__background_wait();
}
