/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of a cooperative launch (ts_plan.cooperative): each is a thread of its own, so that it may wait for all others
 * wherever it is. Blocks that have ended are not waited for. Waits look every CPU_TICK_NS whether the launch is to end.
 */
#include "device/cpu/cpu.h"
#include <signal.h>
#include <time.h>

typedef struct meeting_member {
    cpu_meeting *meeting;
    uint32_t block;
    pthread_t thread;
} meeting_member;

/* Under lock. */
static void meeting_open(cpu_meeting *m)
{
    m->n_waiting = 0;
    m->round++;
    pthread_cond_broadcast(&m->changed);
}

static void meeting_leave(cpu_meeting *m)
{
    pthread_mutex_lock(&m->lock);
    m->n_present--;
    if (m->n_present && m->n_waiting == m->n_present)
        meeting_open(m);
    pthread_mutex_unlock(&m->lock);
}

/* Under lock, for a tick at most. */
static void meeting_sleep(cpu_meeting *m)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + CPU_TICK_NS;
    until = (struct timespec){until.tv_sec + ns / 1000000000, ns % 1000000000};
    pthread_cond_timedwait(&m->changed, &m->lock, &until);
}

void cpu_meeting_wait(cpu_meeting *m, bool (*ends)(const void *user), const void *user)
{
    pthread_mutex_lock(&m->lock);
    uint64_t round = m->round;
    if (++m->n_waiting == m->n_present)
        meeting_open(m);
    while (m->round == round) {
        meeting_sleep(m);
        pthread_mutex_unlock(&m->lock);
        bool over = ends(user);
        pthread_mutex_lock(&m->lock);
        if (over && m->round == round) {
            m->n_waiting--;
            break;
        }
    }
    pthread_mutex_unlock(&m->lock);
}

/* Nobody begins before all are there. */
static void *meeting_thread(void *user)
{
    meeting_member *member = user;
    cpu_meeting *m = member->meeting;
    pthread_mutex_lock(&m->lock);
    while (!m->begun)
        pthread_cond_wait(&m->changed, &m->lock);
    bool given_up = m->given_up;
    pthread_mutex_unlock(&m->lock);
    if (given_up)
        return NULL;
    cpu_fp_state state = cpu_fp_enter();
    m->work(m->user, member->block);
    cpu_fp_leave(state);
    meeting_leave(m);
    return NULL;
}

static void meeting_begin(cpu_meeting *m, bool given_up)
{
    pthread_mutex_lock(&m->lock);
    m->begun = true;
    m->given_up = given_up;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
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

bool cpu_meeting_run(cpu_meeting *m, const ts_alloc *alloc, uint32_t n, cpu_meeting_fn *work, void *user)
{
    meeting_member *members = ts__new(alloc, sizeof *members * n);
    if (!members)
        return false;
    *m = (cpu_meeting){.n_present = n, .work = work, .user = user};
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    uint32_t made = meeting_make(m, members, n);
    meeting_begin(m, made < n);
    if (made == n) {
        cpu_fp_state state = cpu_fp_enter();
        work(user, 0);
        cpu_fp_leave(state);
        meeting_leave(m);
    }
    for (uint32_t i = 1; i < made; i++)
        pthread_join(members[i].thread, NULL);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    ts__delete(alloc, members, sizeof *members * n);
    return made == n;
}
