/* SPDX-License-Identifier: Apache-2.0
 *
 * Work in the background: background.h. A list, and a few threads that take from its front. The handler that waits at
 * exit is set at the first piece of work: so it runs before those of the libraries, the CUDA driver among them, that
 * were loaded earlier.
 */
#include "device/background.h"
#include "device/device.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BACKGROUND_THREADS = 8 };

typedef struct background_piece {
    ts_background_fn *run;
    void *user;
    struct background_piece *next;
} background_piece;

static struct {
    pthread_once_t once;
    pthread_mutex_t mutex;
    pthread_cond_t idle;
    background_piece *first, *last;
    int n_threads, most_threads;
} background = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

static _Thread_local bool background_is_mine; /* this thread is one of those */

static void background_before_fork(void)
{
    pthread_mutex_lock(&background.mutex);
}

static void background_in_parent(void)
{
    pthread_mutex_unlock(&background.mutex);
}

static void background_in_child(void)
{
    background.first = NULL;
    background.n_threads = 0;
    background_is_mine = false;
    pthread_cond_init(&background.idle, NULL);
    pthread_mutex_unlock(&background.mutex);
}

static void background_start(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    background.most_threads = cores < 1 ? 1 : (int)TS_MIN(cores, (long)BACKGROUND_THREADS);
    pthread_atfork(background_before_fork, background_in_parent, background_in_child);
    atexit(ts__background_wait);
}

static void *background_thread(void *unused)
{
    background_is_mine = true;
    pthread_mutex_lock(&background.mutex);
    for (background_piece *piece = background.first; piece; piece = background.first) {
        background.first = piece->next;
        pthread_mutex_unlock(&background.mutex);
        piece->run(piece->user);
        ts__delete(ts_alloc_default(), piece, sizeof *piece);
        pthread_mutex_lock(&background.mutex);
    }
    if (--background.n_threads == 0)
        pthread_cond_broadcast(&background.idle);
    pthread_mutex_unlock(&background.mutex);
    return unused;
}

/* Under the mutex: one more thread, up to the most. False: there is none. */
static bool background_has_thread(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    if (background.n_threads >= background.most_threads || pthread_attr_init(&attr) != 0)
        return background.n_threads > 0;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    background.n_threads += pthread_create(&thread, &attr, background_thread, NULL) == 0;
    pthread_attr_destroy(&attr);
    return background.n_threads > 0;
}

bool ts__background(ts_background_fn *run, void *user)
{
    pthread_once(&background.once, background_start);
    background_piece *piece = ts__new(ts_alloc_default(), sizeof *piece);
    if (!piece)
        return false;
    *piece = (background_piece){run, user, NULL};
    pthread_mutex_lock(&background.mutex);
    bool taken = background_has_thread();
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
    pthread_mutex_lock(&background.mutex);
    while (background.n_threads)
        pthread_cond_wait(&background.idle, &background.mutex);
    pthread_mutex_unlock(&background.mutex);
}
