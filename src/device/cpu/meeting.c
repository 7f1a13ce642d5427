/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of a cooperative launch (ts_plan.cooperative): each has a thread, so that it may wait for all others wherever
 * it is: those of the pool, where it is free and has enough, else threads made for the launch. Blocks that have ended
 * are not waited for. Waits look every CPU_TICK_NS whether the launch is to end.
 */
#include "device/cpu/cpu.h"
#include <signal.h>

#define MEETING_SPIN_NS ((int64_t)50000) /* before a block of the pool sleeps until the others have come */

typedef struct meeting_member {
    cpu_meeting *meeting;
    uint32_t block;
    pthread_t thread;
} meeting_member;

/* Under lock. */
static void meeting_open(cpu_meeting *m)
{
    m->n_waiting = 0;
    ts__signal_raise(&m->round);
}

static void meeting_leave(cpu_meeting *m)
{
    pthread_mutex_lock(&m->lock);
    m->n_present--;
    if (m->n_present && m->n_waiting == m->n_present)
        meeting_open(m);
    pthread_mutex_unlock(&m->lock);
}

static bool meeting_is_over(const cpu_meeting *m, uint32_t round)
{
    return atomic_load_explicit(&m->round.value, memory_order_acquire) != round;
}

/* Waits no longer, unless the others have come meanwhile. */
static void meeting_give_up(cpu_meeting *m, uint32_t round)
{
    pthread_mutex_lock(&m->lock);
    if (!meeting_is_over(m, round))
        m->n_waiting--;
    pthread_mutex_unlock(&m->lock);
}

void cpu_meeting_wait(cpu_meeting *m, bool (*ends)(const void *user), const void *user)
{
    pthread_mutex_lock(&m->lock);
    uint32_t round = atomic_load_explicit(&m->round.value, memory_order_relaxed);
    if (++m->n_waiting == m->n_present)
        meeting_open(m);
    pthread_mutex_unlock(&m->lock);
    while (!meeting_is_over(m, round)) {
        (void)ts__signal_wait(&m->round, round, m->spins ? MEETING_SPIN_NS : 0, ts__deadline(CPU_TICK_NS));
        if (!meeting_is_over(m, round) && ends(user)) {
            meeting_give_up(m, round);
            return;
        }
    }
}

/* Nobody begins before all are there. */
static void *meeting_thread(void *user)
{
    meeting_member *member = user;
    cpu_meeting *m = member->meeting;
    while (!atomic_load(&m->begun.value))
        (void)ts__signal_wait(&m->begun, 0, 0, TS_FOREVER);
    if (m->given_up)
        return NULL;
    cpu_fp_state state = cpu_fp_enter();
    m->work(m->user, member->block);
    cpu_fp_leave(state);
    meeting_leave(m);
    return NULL;
}

/* How many of the threads of blocks 1.. were made; signals are for the threads of the program. */
static uint32_t meeting_make(cpu_meeting *m, meeting_member *members, uint32_t n)
{
    sigset_t all, before;
    uint32_t made = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (bool ok = true; ok && made < n; made += ok) {
        members[made] = (meeting_member){.meeting = m, .block = made};
        ok = pthread_create(&members[made].thread, NULL, meeting_thread, &members[made]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

/* False: they could not all be made, and none ran. */
static bool meeting_run_threads(cpu_meeting *m, const ts_alloc *alloc, uint32_t n)
{
    meeting_member *members = ts__new(alloc, sizeof *members * n);
    if (!members)
        return false;
    uint32_t made = meeting_make(m, members, n);
    m->given_up = made < n;
    ts__signal_raise(&m->begun);
    if (made == n) {
        cpu_fp_state state = cpu_fp_enter();
        m->work(m->user, 0);
        cpu_fp_leave(state);
        meeting_leave(m);
    }
    for (uint32_t i = 1; i < made; i++)
        pthread_join(members[i].thread, NULL);
    ts__delete(alloc, members, sizeof *members * n);
    return made == n;
}

static void meeting_piece(void *user, const cpu_piece *piece)
{
    cpu_meeting *m = user;
    m->work(m->user, (uint32_t)piece->begin);
    meeting_leave(m);
}

bool cpu_meeting_run(cpu_meeting *m, cpu_pool *pool, uint32_t n)
{
    m->n_present = n;
    m->spins = true;
    pthread_mutex_init(&m->lock, NULL);
    bool ran = cpu_pool_run_all(pool, meeting_piece, m, n);
    m->spins = ran;
    if (!ran)
        ran = meeting_run_threads(m, pool->memory->alloc, n);
    pthread_mutex_destroy(&m->lock);
    return ran;
}
