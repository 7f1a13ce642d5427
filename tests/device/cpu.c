/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU device: every block runs once, streams keep order, faults become errors, fork and threads are
 * survived, memory is reused and failing allocations are reported.
 */
#include "setup.h"
#include "tessera/graph.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

static const ts_plan one_param = {.n_params = 1, .param_bytes = {8}};

static void every_block_runs_once(void)
{
    enum { N = 70000 };
    int32_t *data = calloc(N, sizeof *data);
    ts_device *device = device_new(4, NULL);
    ts_program *program = program_of(device, entry_count, one_param, NULL, 0);
    const int64_t sizes[] = {1, 2, 3, 5, 64, 999, N};
    for (int round = 0; round < 60; round++)
        for (size_t s = 0; s < TS_COUNT(sizes); s++)
            CHECK_OK(ts_program_launch(program, ts_device_default_stream(device),
                                       (uint32_t[3]){(uint32_t)sizes[s], 1, 1}, &(uint64_t){(uintptr_t)data}, 0,
                                       &err));
    CHECK_INT(data[0], 60 * 7);
    CHECK_INT(data[4], 60 * 4);
    CHECK_INT(data[999], 60);
    CHECK_INT(data[N - 1], 60);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
    free(data);
}

typedef struct spread_args {
    ts_device *device;
    _Atomic int64_t sum;
    _Atomic int parts, n_wrong;
    bool is_nested;
} spread_args;

static void spread_part(void *user, int64_t begin, int64_t end)
{
    spread_args *args = user, inner = {.device = args->device};
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&args->sum, i);
    atomic_fetch_add(&args->parts, 1);
    if (args->is_nested) {
        ts__device_spread(args->device, spread_part, &inner, 100);
        if (inner.sum != 99 * 100 / 2 || inner.parts != 1) /* all threads are busy */
            atomic_fetch_add(&args->n_wrong, 1);             /* CHECK counts without a lock */
    }
}

static void loops_in_c_are_spread_over_the_threads(void)
{
    for (uint32_t n_threads = 1; n_threads <= 4; n_threads++) {
        ts_device *device = device_new(n_threads, NULL);
        for (int64_t n = 0; n <= 1000; n = 3 * n + 1) {
            spread_args args = {.device = device, .is_nested = n > 100};
            ts__device_spread(device, spread_part, &args, n);
            CHECK_INT(args.sum, n ? n * (n - 1) / 2 : 0);
            CHECK_INT(args.parts, TS_MIN(n, (int64_t)n_threads));
            CHECK_INT(args.n_wrong, 0);
        }
        ts__cpu_destroy(device);
    }
}

typedef struct slow_args {
    _Atomic int64_t *sum;
    int64_t spin;
} slow_args;

static void entry_slow(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                       const ts_cpu_env *env)
{
    (void)grid, (void)scratch, (void)env;
    slow_args *args = (slow_args *)(uintptr_t)params[0];
    for (int64_t i = begin; i < end; i++) {
        for (volatile int64_t k = 0; k < args->spin; k++)
            ;
        atomic_fetch_add(args->sum, i);
    }
}

static void long_kernels_are_shared_in_pieces(void)
{
    ts_device *device = device_new(4, NULL);
    ts_program *program = program_of(device, entry_slow, one_param, NULL, 0);
    _Atomic int64_t sum = 0;
    slow_args args = {&sum, 2000};
    for (int round = 0; round < 8; round++)
        CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){10, 10, 5},
                                   &(uint64_t){(uintptr_t)&args}, 0, &err));
    CHECK_INT(sum, 8 * 499 * 500 / 2);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

typedef struct where_args {
    pthread_t caller;
    int caller_cpu;
    _Atomic int64_t n_worker, n_stacked;
} where_args;

static void entry_where(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                        const ts_cpu_env *env)
{
    (void)grid, (void)scratch, (void)env;
    where_args *args = (where_args *)(uintptr_t)params[0];
    if (!pthread_equal(pthread_self(), args->caller)) {
        atomic_fetch_add(&args->n_worker, 1);
        atomic_fetch_add(&args->n_stacked, sched_getcpu() == args->caller_cpu);
    }
    for (volatile int64_t k = 0; k < 100000 * (end - begin); k++)
        ;
}

static void *spin(void *stop)
{
    while (!atomic_load((_Atomic bool *)stop))
        ;
    return NULL;
}

/* The first CPU of `all` to *one, the second to *other; false: it has no two. */
static bool two_cpus(const cpu_set_t *all, cpu_set_t *one, cpu_set_t *other)
{
    cpu_set_t *next[] = {one, other};
    size_t n = 0;
    CPU_ZERO(one);
    CPU_ZERO(other);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET(cpu, all))
            CPU_SET(cpu, next[n++]);
    return n == 2;
}

static void launch_where(ts_device *device, where_args *args, int rounds)
{
    ts_program *program = program_of(device, entry_where, one_param, NULL, 0);
    for (int round = 0; round < rounds; round++) {
        usleep(1000); /* the worker goes to sleep */
        CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){64, 1, 1},
                                   &(uint64_t){(uintptr_t)args}, 0, &err));
    }
    ts_program_destroy(program);
}

/* Of two CPUs the caller has one and a spinning thread the other, as BLAS libraries leave it. */
static void workers_leave_the_cpu_of_their_caller(void)
{
    cpu_set_t all, one, other, both;
    pthread_t spinner;
    _Atomic bool stop = false;
    where_args args = {.caller = pthread_self()};
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    if (!two_cpus(&all, &one, &other)) {
        check_skipped++;
        return;
    }
    CPU_OR(&both, &one, &other);
    sched_setaffinity(0, sizeof both, &both);
    ts_device *device = device_new(2, NULL);
    launch_where(device, &args, 1); /* starts the worker, which may use both */
    sched_setaffinity(0, sizeof other, &other);
    CHECK(pthread_create(&spinner, NULL, spin, &stop) == 0);
    sched_setaffinity(0, sizeof one, &one);
    args.caller_cpu = sched_getcpu();
    atomic_store(&args.n_worker, 0);
    atomic_store(&args.n_stacked, 0);
    launch_where(device, &args, 40);
    CHECK(args.n_stacked * 4 <= args.n_worker); /* the system may move it back later */
    atomic_store(&stop, true);
    pthread_join(spinner, NULL);
    sched_setaffinity(0, sizeof all, &all);
    ts__cpu_destroy(device);
}

/* ---- interruption --------------------------------------------------------------------------------- */

typedef struct endless_args {
    _Atomic int32_t n_begun;
    int32_t n_endless; /* blocks below never end by themselves, as a `while` of compiled code */
} endless_args;

static void entry_endless(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                          const ts_cpu_env *env)
{
    (void)grid, (void)scratch;
    endless_args *args = (endless_args *)(uintptr_t)params[0];
    for (int64_t i = begin; i < end; i++) {
        atomic_fetch_add(&args->n_begun, 1);
        while (i < args->n_endless)
            if (atomic_load(env->attention) && env->look(env))
                return;
        for (volatile int64_t k = 0; k < 1000000; k++)
            ;
    }
}

static _Atomic int32_t n_asked;
static int32_t end_at; /* this many questions are answered with no */

static bool answer(void)
{
    return atomic_fetch_add(&n_asked, 1) >= end_at;
}

static ts_status launch_endless(ts_program *program, const ts_stream *stream, endless_args *args, uint32_t n_blocks)
{
    atomic_store(&n_asked, 0);
    return ts_program_launch(program, stream, (uint32_t[3]){n_blocks, 1, 1}, &(uint64_t){(uintptr_t)args}, 0, &err);
}

static void a_launch_asks_its_caller_and_can_be_ended(void)
{
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
        ts_device *device = device_new(n_threads, NULL);
        ts_program *program = program_of(device, entry_endless, one_param, NULL, 0);
        ts_stream *stream = ts_device_default_stream(device);
        ts_interrupt_set(answer);
        end_at = 1;
        for (int32_t n_endless = 1; n_endless <= 5; n_endless += 2) {
            endless_args args = {.n_endless = n_endless};
            CHECK_INT(launch_endless(program, stream, &args, 5), TS_INTERRUPTED);
            CHECK(strstr(err.text, "incomplete") != NULL);
            CHECK_INT(n_asked, 2); /* a no, a yes */
        }
        endless_args many = {.n_endless = 0};
        CHECK_INT(launch_endless(program, stream, &many, 100000), TS_INTERRUPTED); /* between blocks */
        CHECK(many.n_begun < 100000);
        end_at = INT32_MAX; /* the answer is no: the launch goes on to its end */
        endless_args few = {.n_endless = 0};
        CHECK_OK(launch_endless(program, stream, &few, 1500));
        CHECK_INT(few.n_begun, 1500);
        CHECK(n_asked > 0);
        ts_interrupt_set(NULL);
        ts_program_destroy(program);
        ts__cpu_destroy(device);
    }
}

static ts_program *again_program;
static int32_t again_data[100];

static bool answer_by_launching(void)
{
    ts_status status = ts_program_launch(again_program, ts_device_default_stream(again_program->device),
                                         (uint32_t[3]){100, 1, 1}, &(uint64_t){(uintptr_t)again_data}, 0, &err);
    return status == TS_OK && answer();
}

static void who_is_asked_may_launch(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_endless, one_param, NULL, 0);
    again_program = program_of(device, entry_count, one_param, NULL, 0);
    endless_args args = {.n_endless = 4};
    end_at = 1;
    ts_interrupt_set(answer_by_launching);
    CHECK_INT(launch_endless(program, ts_device_default_stream(device), &args, 4), TS_INTERRUPTED);
    ts_interrupt_set(NULL);
    CHECK_INT(again_data[99], 2);
    ts_program_destroy(again_program);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

static void cancelling_ends_what_streams_run_and_hold(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_endless, one_param, NULL, 0);
    ts_stream *stream, *other;
    endless_args running = {.n_endless = 4}, waiting = {.n_endless = 0};
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_stream_create(device, &other, &err));
    for (int round = 0; round < 2; round++) {
        atomic_store(&running.n_begun, 0);
        CHECK_OK(launch_endless(program, stream, &running, 4));
        CHECK_OK(launch_endless(program, stream, &waiting, 4));
        while (!running.n_begun)
            usleep(1000);
        end_at = 0;
        ts_interrupt_set(answer); /* a launch that waits for the pool asks too */
        CHECK_INT(launch_endless(program, ts_device_default_stream(device), &waiting, 4), TS_INTERRUPTED);
        ts_interrupt_set(NULL);
        CHECK(ts_stream_cancel(other)); /* not this one */
        CHECK(!ts_stream_cancel(ts_device_default_stream(device)));
        CHECK_INT(ts_stream_sync(stream, 10000000, &err), TS_INTERRUPTED);
        CHECK(round ? ts_stream_cancel(stream) : ts_device_cancel(device));
        CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_LAUNCH);
        CHECK(strstr(err.text, "cancelled") != NULL);
        CHECK_INT(waiting.n_begun, 4 * round);
        CHECK_OK(launch_endless(program, stream, &waiting, 4));
        CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
        CHECK_INT(waiting.n_begun, 4 * round + 4);
    }
    ts_stream_destroy(other);
    ts_stream_destroy(stream);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

/* Each worker writes all of its scratch and reads it back. */
static void entry_scratch(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
                          void *scratch, const ts_cpu_env *env)
{
    (void)grid, (void)env;
    _Atomic int32_t *bad = (_Atomic int32_t *)(uintptr_t)params[0];
    unsigned char *bytes = scratch;
    memset(bytes, (int)(begin & 255), 5000);
    for (volatile int64_t k = 0; k < 1000 * (end - begin); k++)
        ;
    for (int i = 0; i < 5000; i++)
        if (bytes[i] != (begin & 255) || (uintptr_t)scratch % 64)
            atomic_fetch_add(bad, 1);
}

static void threads_have_their_own_scratch(void)
{
    ts_plan plan = one_param;
    plan.scratch_bytes = 5000;
    ts_device *device = device_new(4, NULL);
    ts_program *program = program_of(device, entry_scratch, plan, NULL, 0);
    _Atomic int32_t bad = 0;
    for (int round = 0; round < 50; round++)
        CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){round < 9 ? 1u : 41u, 1, 1},
                                   &(uint64_t){(uintptr_t)&bad}, 0, &err));
    CHECK_INT(bad, 0);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

/* Block 7 of (5, 2, 1) is at (2, 1, 0). */
static void entry_fault(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                        const ts_cpu_env *env)
{
    (void)scratch;
    for (int64_t i = begin; i < end; i++)
        if (i == 7) {
            *env->fault = (ts_fault){.code = (uint32_t)params[0],
                                     .line = 12,
                                     .string = (uint32_t)params[0],
                                     .index = 99,
                                     .extent = 10,
                                     .block = {(uint32_t)i % grid[0], (uint32_t)i / grid[0], 0}};
        }
}

static const char fault_texts[] = "file.py\0gather(), axis 1\0x must be positive";

static void fault_names_kernel_line_block_and_index(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_fault, one_param, fault_texts, sizeof fault_texts);
    const char *wanted[] = {"kernel 'k' (file.py, line 12), block (2, 1, 0): gather(), axis 1: index 99 is out of "
                            "bounds for size 10",
                            "kernel 'k' (file.py, line 12), block (2, 1, 0): assertion failed: x must be positive",
                            "kernel 'k' (file.py, line 12), block (2, 1, 0): integer division by zero"};
    for (uint64_t code = 1; code <= 3; code++) {
        CHECK_INT(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){5, 2, 1}, &code, 0, &err),
                  TS_LAUNCH);
        CHECK_STR(err.text, wanted[code - 1]);
    }
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

static void entry_only_fault(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                             const ts_cpu_env *env)
{
    (void)grid, (void)scratch;
    CHECK(begin == 0 && end == 1);
    if (params[0])
        *env->fault = (ts_fault){.code = (uint32_t)params[0], .line = 12, .string = 3};
}

static void a_brief_launch_tells_of_its_fault(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_only_fault, one_param, fault_texts, sizeof fault_texts);
    for (uint64_t round = 0; round < 6; round++) {
        uint64_t code = round % 2 ? 3 : 0;
        ts_status status = ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, &code,
                                             TS_LAUNCH_BRIEF, &err);
        CHECK_INT(status, code ? TS_LAUNCH : TS_OK);
    }
    CHECK_STR(err.text, "kernel 'k' (file.py, line 12), block (0, 0, 0): integer division by zero");
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

static void entry_longest(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                          const ts_cpu_env *env)
{
    (void)grid, (void)scratch, (void)env;
    _Atomic int64_t *longest = (_Atomic int64_t *)(uintptr_t)params[0];
    int64_t seen = atomic_load(longest);
    while (end - begin > seen && !atomic_compare_exchange_weak(longest, &seen, end - begin))
        ;
}

static void long_blocks_are_spread_whatever_short_ones_took(void)
{
    ts_device *device = device_new(2, NULL);
    ts_stream *own;
    ts_program *program = program_of(device, entry_longest, one_param, NULL, 0);
    _Atomic int64_t longest = 0;
    uint64_t param = (uintptr_t)&longest;
    CHECK_OK(ts_stream_create(device, &own, &err));
    const ts_stream *const streams[] = {ts_device_default_stream(device), own};
    for (int i = 0; i < 2; i++) {
        for (int round = 0; round < 20; round++) /* blocks that take nothing: all in one thread */
            CHECK_OK(ts_program_launch(program, streams[i], (uint32_t[3]){4, 1, 1}, &param, 0, &err));
        CHECK_OK(ts_stream_sync(streams[i], TS_FOREVER, &err));
        CHECK_INT(atomic_load(&longest), 4);
        atomic_store(&longest, 0);
        CHECK_OK(ts_program_launch(program, streams[i], (uint32_t[3]){4, 1, 1}, &param, TS_LAUNCH_LONG, &err));
        CHECK_OK(ts_stream_sync(streams[i], TS_FOREVER, &err));
        CHECK_INT(atomic_load(&longest), 1);
        atomic_store(&longest, 0);
    }
    ts_stream_destroy(own);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

static void fault_on_a_stream_is_told_once_at_the_wait(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_fault, one_param, fault_texts, sizeof fault_texts);
    ts_stream *stream;
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){5, 2, 1}, &(uint64_t){3}, 0, &err));
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){5, 2, 1}, &(uint64_t){3}, 0, &err));
    ts_stream_destroy(stream);
    CHECK_INT(ts_device_sync(device, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_OK(ts_device_sync(device, TS_FOREVER, &err));
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

typedef struct counted {
    ts_notice base;
    _Atomic int n;
} counted;

static void count_call(ts_notice *notice)
{
    atomic_fetch_add(&((counted *)notice)->n, 1);
}

static void launch_fault(ts_program *program, const ts_stream *stream, uint64_t code, int count)
{
    for (int i = 0; i < count; i++)
        CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){5, 2, 1}, &code, 0, &err));
}

/* Each notice is told of the first fault between the one before and itself, however late it asks. */
static void each_notice_has_the_fault_of_its_own_work(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_fault, one_param, fault_texts, sizeof fault_texts);
    ts_stream *stream;
    counted notices[3] = {{{count_call}, 0}, {{count_call}, 0}, {{count_call}, 0}};
    static const char *const words[] = {NULL, "division by zero", "assertion failed"};
    CHECK_OK(ts_stream_create(device, &stream, &err));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            launch_fault(program, stream, i ? 4 - (uint64_t)i : 0, 2);
            CHECK_OK(ts_stream_notify(stream, &notices[i].base, &err));
        }
        launch_fault(program, stream, 1, 1);
        for (int i = 0; i < 2000 && notices[2].n <= round; i++)
            usleep(1000);
        CHECK_OK(ts_stream_fault(stream, notices[0].base.mark, &err));
        for (int i = 1; i < 3; i++) {
            CHECK_INT(ts_stream_fault(stream, notices[i].base.mark, &err), TS_LAUNCH);
            CHECK(strstr(err.text, words[i]) != NULL);
            CHECK_OK(ts_stream_fault(stream, notices[i].base.mark, &err));
        }
        CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_LAUNCH);
        CHECK(strstr(err.text, "out of bounds") != NULL);
    }
    launch_fault(program, stream, 2, 3);
    ts_stream_destroy(stream);
    CHECK_INT(ts_device_sync(device, TS_FOREVER, &err), TS_LAUNCH);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

typedef struct letter {
    char *text;
    _Atomic int *n;
    char c;
} letter;

static void put_letter(void *user)
{
    letter *l = user;
    l->text[atomic_fetch_add(l->n, 1)] = l->c;
}

static void streams_keep_order_and_events_tie_them(void)
{
    ts_device *device = device_new(2, NULL);
    ts_stream *a, *b;
    ts_event *event;
    char text[64] = "";
    _Atomic int n = 0;
    letter first = {text, &n, 'a'}, second = {text, &n, 'b'};
    CHECK_OK(ts_stream_create(device, &a, &err));
    CHECK_OK(ts_stream_create(device, &b, &err));
    CHECK_OK(ts_event_create(device, &event, &err));
    for (int i = 0; i < 20; i++)
        CHECK_OK(ts_stream_call(a, put_letter, &first, &err));
    CHECK_OK(ts_event_record(event, a, &err));
    CHECK_OK(ts_stream_wait_event(b, event, &err));
    CHECK_OK(ts_stream_call(b, put_letter, &second, &err));
    CHECK_OK(ts_stream_sync(b, TS_FOREVER, &err));
    CHECK_STR(text, "aaaaaaaaaaaaaaaaaaaab");
    ts_event_destroy(event);
    ts_stream_destroy(a);
    ts_stream_destroy(b);
    ts__cpu_destroy(device);
}

static void snooze(void *user)
{
    usleep(*(useconds_t *)user);
}

static void waits_end_at_their_limit_and_events_tell_time(void)
{
    ts_device *device = device_new(2, NULL);
    ts_stream *stream;
    ts_event *begin, *end;
    useconds_t us = 30000;
    bool done;
    double ns;
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_event_create(device, &begin, &err));
    CHECK_OK(ts_event_create(device, &end, &err));
    CHECK_INT(ts_event_elapsed(begin, end, &ns, &err), TS_RUNTIME);
    CHECK_OK(ts_event_record(begin, stream, &err));
    CHECK_OK(ts_stream_call(stream, snooze, &us, &err));
    CHECK_OK(ts_event_record(end, stream, &err));
    CHECK_INT(ts_stream_sync(stream, 1000000, &err), TS_INTERRUPTED);
    CHECK_OK(ts_event_done(end, &done, &err));
    CHECK(!done);
    CHECK_INT(ts_event_sync(end, 1000000, &err), TS_INTERRUPTED);
    CHECK_OK(ts_event_sync(end, TS_FOREVER, &err));
    CHECK_OK(ts_event_elapsed(begin, end, &ns, &err));
    CHECK(ns >= 30e6 && ns < 30e9);
    ts_event_destroy(begin);
    ts_event_destroy(end);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
}

static void notices_come_in_stream_order_and_at_once_when_nothing_is_left(void)
{
    ts_device *device = device_new(1, NULL);
    ts_stream *stream;
    ts_event *event;
    useconds_t us = 30000;
    bool taken = false;
    counted of_stream = {{count_call}, 0}, of_event = {{count_call}, 0}, idle = {{count_call}, 0};
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_event_create(device, &event, &err));
    CHECK_OK(ts_event_notify(event, &idle.base, &taken, &err)); /* never recorded */
    CHECK(taken && idle.n == 1);
    CHECK_OK(ts_stream_call(stream, snooze, &us, &err));
    CHECK_OK(ts_event_record(event, stream, &err));
    CHECK_OK(ts_event_notify(event, &of_event.base, &taken, &err));
    CHECK_OK(ts_stream_notify(stream, &of_stream.base, &err));
    CHECK(taken && of_event.n == 0 && of_stream.n == 0);
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    for (int i = 0; i < 1000 && !of_stream.n; i++)
        usleep(1000); /* a wait of the stream may end first */
    CHECK(of_event.n == 1 && of_stream.n == 1);
    CHECK_OK(ts_event_notify(event, &of_event.base, &taken, &err));
    CHECK_OK(ts_stream_notify(ts_device_default_stream(device), &idle.base, &err));
    CHECK(of_event.n == 2 && idle.n == 2);
    ts_event_destroy(event);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
}

static void on_alarm(int number)
{
    (void)number;
}

static _Atomic int steps[3];
static _Atomic int n_steps;

typedef struct step_args {
    useconds_t pause;
    int which;
} step_args;

static void step(void *user)
{
    step_args *args = user;
    usleep(args->pause);
    atomic_store(&steps[args->which], atomic_fetch_add(&n_steps, 1) + 1);
}

typedef struct inside_args {
    ts_device *device;
    ts_status status;
} inside_args;

static void call_default_inside(void *user)
{
    inside_args *inside = user;
    step_args args = {0, 2};
    inside->status = ts_stream_call(ts_device_default_stream(inside->device), step, &args, NULL);
}

static void the_default_stream_comes_after_streams_that_block(void)
{
    for (int blocking = 0; blocking < 2; blocking++) {
        ts_device *device = device_new(2, NULL);
        ts_stream *stream;
        ts_stream_options options = {.blocking = blocking != 0};
        step_args slow = {40000, 0}, quick = {0, 1};
        inside_args inside = {device, TS_OK};
        bool done;
        n_steps = 0;
        CHECK_OK(ts_stream_create_with(device, &options, &stream, &err));
        CHECK_OK(ts_stream_call(stream, step, &slow, &err));
        CHECK_OK(ts_stream_done(ts_device_default_stream(device), &done, &err));
        CHECK(done == !blocking);
        CHECK_OK(ts_stream_call(ts_device_default_stream(device), step, &quick, &err));
        CHECK_INT(steps[1], blocking ? 2 : 1);
        CHECK_OK(ts_stream_call(stream, call_default_inside, &inside, &err)); /* it does not wait for itself */
        CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
        CHECK(inside.status == TS_OK && steps[2] == 3);
        CHECK_OK(ts_stream_done(ts_device_default_stream(device), &done, &err));
        CHECK(done);
        ts_stream_destroy(stream);
        ts__cpu_destroy(device);
    }
}

static void who_waits_for_streams_that_block_can_give_up(void)
{
    ts_device *device = device_new(2, NULL);
    ts_stream *stream, *of_device = ts_device_default_stream(device);
    ts_stream_options options = {.blocking = true};
    useconds_t us = 300000;
    int32_t data = 0;
    CHECK_OK(ts_stream_create_with(device, &options, &stream, &err));
    CHECK_OK(ts_stream_call(stream, snooze, &us, &err));
    CHECK_INT(ts_stream_sync(of_device, 1000000, &err), TS_INTERRUPTED);
    end_at = 0;
    ts_interrupt_set(answer);
    CHECK_INT(ts_mem_fill(of_device, &data, 7, 4, 1, &err), TS_INTERRUPTED);
    ts_interrupt_set(NULL);
    CHECK_INT(data, 0);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
}

static void a_stream_is_found_by_its_number(void)
{
    ts_device *device = device_new(2, NULL);
    ts_stream *own = NULL, found;
    CHECK_OK(ts_stream_create(device, &own, &err));
    CHECK_OK(ts_stream_find(device, own->native, &found, &err));
    CHECK(found.impl == own->impl && found.native == own->native && found.device == device);
    for (uintptr_t number = 0; number < 3; number++) {
        CHECK_OK(ts_stream_find(device, number, &found, &err));
        CHECK(found.impl == ts_device_default_stream(device)->impl);
    }
    uintptr_t number = own->native;
    ts_stream_destroy(own);
    CHECK_INT(ts_stream_find(device, number, &found, &err), TS_VALUE);
    CHECK(!found.device && !found.native && !found.impl);
    CHECK(strstr(err.text, "is not a stream of the CPU device") != NULL);
    ts__cpu_destroy(device);
}

static void a_stream_that_is_destroyed_ends_its_work_first(void)
{
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_fault, one_param, fault_texts, sizeof fault_texts);
    ts_stream *stream;
    step_args slow = {40000, 0}, next = {0, 1};
    n_steps = 0;
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_stream_call(stream, step, &slow, &err));
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){5, 2, 1}, &(uint64_t){3}, 0, &err));
    CHECK_OK(ts_stream_call(stream, step, &next, &err));
    ts_stream_destroy(stream);
    CHECK_INT(n_steps, 0);
    CHECK_INT(ts_device_sync(device, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_INT(steps[1], 2);
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_stream_call(stream, step, &next, &err));
    ts_stream_destroy(stream);
    ts_program_destroy(program);
    ts__cpu_destroy(device); /* with a stream that may be at work */
    CHECK_INT(n_steps, 3);
}

static void a_signal_ends_a_wait(void)
{
    ts_device *device = device_new(1, NULL);
    ts_stream *stream;
    useconds_t us = 300000;
    struct sigaction action = {.sa_handler = on_alarm}, old;
    sigaction(SIGALRM, &action, &old);
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_stream_call(stream, snooze, &us, &err));
    ualarm(20000, 0);
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_INTERRUPTED);
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    sigaction(SIGALRM, &old, NULL);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
}

static void memory_is_reused_and_aligned(void)
{
    ts_device *device = device_new(1, NULL);
    ts_device_info info;
    void *first, *second, *big;
    CHECK_OK(ts_mem_alloc(device, NULL, 1000, &first, &err));
    ts_mem_free(device, NULL, first, 1000);
    CHECK_OK(ts_mem_alloc(device, NULL, 1020, &second, &err));
    CHECK(first == second && (uintptr_t)first % 64 == 0);
    CHECK_OK(ts_mem_alloc(device, NULL, 5 << 20, &big, &err));
    CHECK_INT((uintptr_t)big % (2 << 20), 0);
    memset(big, 1, 5 << 20);
    ts_mem_free(device, NULL, big, 5 << 20);
    ts_mem_free(device, NULL, second, 1020);
    ts_device_trim(device);
    CHECK_OK(ts_device_query(device, &info, &err));
    CHECK_INT(info.pool_used_bytes, 0);
    CHECK_INT(info.pool_kept_bytes, 0);
    CHECK(info.name[0] && info.units == 1 && info.memory_bytes > 0);
    CHECK_INT(ts_mem_alloc(device, NULL, (uint64_t)1 << 61, &big, &err), TS_NOMEM);
    ts__cpu_destroy(device);
}

static void memory_freed_on_a_stream_waits_for_its_work(void)
{
    ts_device *device = device_new(1, NULL);
    ts_stream *stream;
    useconds_t us = 20000;
    void *first, *second;
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_mem_alloc(device, stream, 4096, &first, &err));
    CHECK_OK(ts_stream_call(stream, snooze, &us, &err));
    ts_mem_free(device, stream, first, 4096);
    CHECK_OK(ts_mem_alloc(device, stream, 4096, &second, &err));
    CHECK(first != second);
    ts_mem_free(device, stream, second, 4096);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
}

static void copies_and_fills_of_all_widths(void)
{
    enum { N = 9 << 20 };
    ts_device *device = device_new(3, NULL);
    ts_stream *stream;
    char *a = malloc(N), *b = malloc(N);
    CHECK_OK(ts_stream_create(device, &stream, &err));
    for (uint32_t width = 1; width <= 8; width *= 2) {
        uint64_t pattern = 0x8877665544332211;
        CHECK_OK(ts_mem_fill(stream, a, pattern, width, (N - 8) / width, &err));
        CHECK_OK(ts_mem_copy(stream, b, TS_MEM_DEVICE, a, TS_MEM_HOST, N - 8, &err));
        CHECK(memcmp(b + N - 8 - width, &pattern, width) == 0 && memcmp(a, b, N - 8) == 0);
    }
    CHECK_OK(ts_mem_copy(stream, a + 1, TS_MEM_HOST, a, TS_MEM_HOST, N - 1, &err)); /* overlapping */
    CHECK(a[1] == 0x11 && a[N - 8] == (char)0x88);
    CHECK_INT(ts_mem_fill(stream, a + 1, 0, 4, 1, &err), TS_VALUE);
    CHECK_INT(ts_mem_fill(stream, a, 0, 3, 1, &err), TS_VALUE);
    free(a);
    free(b);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
}

static void entry_print(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                        const ts_cpu_env *env)
{
    (void)params, (void)grid, (void)scratch;
    for (int64_t i = begin; i < end; i++) {
        char text[32];
        env->print(env->print_user, text, (size_t)snprintf(text, sizeof text, "%d,", (int)i));
    }
}

static void prints_come_in_block_order(void)
{
    int ends[2], saved = dup(1);
    char found[512] = "", wanted[512] = "";
    ts_plan plan = one_param;
    plan.uses_print = 1;
    ts_device *device = device_new(4, NULL);
    ts_program *program = program_of(device, entry_print, plan, NULL, 0);
    CHECK_INT(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], 1);
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){100, 1, 1}, &(uint64_t){0}, 0,
                               &err));
    dup2(saved, 1);
    CHECK(read(ends[0], found, sizeof found - 1) > 0);
    for (int i = 0, n = 0; i < 100; i++)
        n += snprintf(wanted + n, sizeof wanted - (size_t)n, "%d,", i);
    CHECK_STR(found, wanted);
    close(ends[0]), close(ends[1]), close(saved);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

/* 1e-40 * 1 is not zero unless subnormals are flushed. */
static void entry_subnormal(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
                            void *scratch, const ts_cpu_env *env)
{
    (void)grid, (void)scratch, (void)env;
    for (int64_t i = begin; i < end; i++) {
        volatile float tiny = 1e-40f, one = 1.0f;
        ((float *)(uintptr_t)params[0])[i] = tiny * one;
    }
}

static void kernels_keep_subnormals_whatever_the_caller_set(void)
{
    float out[8] = {0};
    ts_device *device = device_new(2, NULL);
    ts_program *program = program_of(device, entry_subnormal, one_param, NULL, 0);
#if defined(__x86_64__)
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040);
#endif
    for (uint32_t n = 1; n <= 8; n += 7)
        CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){n, 1, 1},
                                   &(uint64_t){(uintptr_t)out}, 0, &err));
#if defined(__x86_64__)
    CHECK_INT(__builtin_ia32_stmxcsr() & 0x8040, 0x8040);
    __builtin_ia32_ldmxcsr(before);
#endif
    for (int i = 0; i < 8; i++)
        CHECK(out[i] != 0);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

typedef struct shared_launch {
    ts_program *program;
    int32_t data[1000];
} shared_launch;

static void *launch_many(void *user)
{
    shared_launch *s = user;
    for (int i = 0; i < 500; i++)
        if (ts_program_launch(s->program, ts_device_default_stream(s->program->device), (uint32_t[3]){1000, 1, 1},
                              &(uint64_t){(uintptr_t)s->data}, 0, NULL) != TS_OK)
            return s;
    return NULL;
}

static void threads_may_launch_at_once(void)
{
    static shared_launch shared[3];
    ts_device *device = device_new(3, NULL);
    ts_program *program = program_of(device, entry_count, one_param, NULL, 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        shared[i].program = program;
        pthread_create(&threads[i], NULL, launch_many, &shared[i]);
    }
    for (int i = 0; i < 3; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(!failed);
        for (int k = 0; k < 1000; k++)
            CHECK(shared[i].data[k] == 500);
    }
    ts_program_destroy(program);
    ts__cpu_destroy(device);
}

/* In the child of a fork: 0 when everything behaves. */
static int child_check(ts_program *program, ts_stream *old_stream, int32_t *data)
{
    ts_stream *stream;
    ts_device *device = program->device;
    uint64_t params[1] = {(uintptr_t)data};
    for (int i = 0; i < 10; i++)
        if (ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){500, 1, 1}, params, 0, &err))
            return 1;
    if (ts_program_launch(program, old_stream, (uint32_t[3]){1, 1, 1}, params, 0, &err) != TS_RUNTIME)
        return 2;
    if (!strstr(err.text, "fork"))
        return 3;
    ts_stream_destroy(old_stream);
    if (ts_stream_create(device, &stream, &err) ||
        ts_program_launch(program, stream, (uint32_t[3]){500, 1, 1}, params, 0, &err) ||
        ts_stream_sync(stream, TS_FOREVER, &err))
        return 4;
    return data[499] == 11 ? 0 : 5;
}

static void a_forked_child_computes_again(void)
{
    int32_t data[500] = {0};
    ts_device *device;
    ts_stream *stream;
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &device, &err));
    ts_program *program = program_of(device, entry_count, one_param, NULL, 0);
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){400, 1, 1}, &(uint64_t){(uintptr_t)data}, 0, &err));
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    memset(data, 0, sizeof data);
    pid_t child = fork();
    if (child == 0)
        _exit(child_check(program, stream, data));
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){400, 1, 1}, &(uint64_t){(uintptr_t)data}, 0, &err));
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    CHECK_INT(data[399], 1);
    ts_stream_destroy(stream);
    ts_program_destroy(program);
}

/* A whole small life of the device; any step may fail for want of memory, none may leak or crash. */
static ts_status small_life(const ts_alloc *alloc)
{
    ts_device *device;
    ts_stream *stream = NULL;
    ts_event *event = NULL;
    ts_program *program = NULL;
    int32_t data[4] = {0};
    void *entry, *memory = NULL;
    ts_cpu_entry *function = entry_count;
    memcpy(&entry, &function, sizeof entry);
    ts_code code = {.plan = {.target = TS_TARGET_CPU, .n_params = 1, .uses_print = 1, .scratch_bytes = 100}};
    TS_TRY(ts__cpu_create(&(ts_cpu_options){2, alloc}, &device, &err));
    ts_status status = ts_stream_create(device, &stream, &err);
    status = status ? status : ts_event_create(device, &event, &err);
    status = status ? status : ts__cpu_program_wrap(device, &code, entry, "k", "f", &program, &err);
    status = status ? status : ts_mem_alloc(device, stream, 100, &memory, &err);
    status = status ? status : ts_program_launch(program, stream, (uint32_t[3]){4, 1, 1},
                                                 &(uint64_t){(uintptr_t)data}, 0, &err);
    status = status ? status : ts_event_record(event, stream, &err);
    status = status ? status : ts_event_sync(event, TS_FOREVER, &err);
    status = status ? status : ts_stream_sync(stream, TS_FOREVER, &err);
    status = status ? status : ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){4, 1, 1},
                                                 &(uint64_t){(uintptr_t)data}, 0, &err);
    CHECK_INT(data[3], status ? data[3] : 2);
    ts_mem_free(device, stream, memory, 100);
    ts_program_destroy(program);
    ts_event_destroy(event);
    ts_stream_destroy(stream);
    ts__cpu_destroy(device);
    return status;
}

static void every_failing_allocation_is_reported_and_nothing_leaks(void)
{
    ts_status status = TS_NOMEM;
    int64_t n = 1;
    for (; n < 200 && status != TS_OK; n++) {
        counting count = {.fail_at = n};
        ts_alloc alloc = {counting_resize, &count};
        status = small_life(&alloc);
        CHECK(status == TS_OK || status == TS_NOMEM);
        CHECK_INT(count.bytes_out, 0);
    }
    CHECK(status == TS_OK && n > 10);
}

static void wrong_use_is_answered(void)
{
    ts_device *device = device_new(1, NULL), *other = device_new(1, NULL), *found;
    ts_program *program = program_of(device, entry_count, one_param, NULL, 0);
    uint64_t params[1] = {0};
    ts_stream foreign = {device, 0x1234, NULL};
    CHECK_INT(ts_program_launch(program, ts_device_default_stream(other), (uint32_t[3]){1, 1, 1}, params, 0, &err),
              TS_VALUE);
    CHECK_INT(ts_program_launch(program, &foreign, (uint32_t[3]){1, 1, 1}, params, 0, &err), TS_VALUE);
    CHECK_INT(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 0, 1}, params, 0, &err),
              TS_VALUE);
    CHECK_INT(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1u << 24, 1}, params, 0,
                                &err),
              TS_VALUE);
    CHECK_INT(ts_device_get((ts_device_kind)7, 0, &found, &err), TS_VALUE);
    CHECK_INT(ts_device_get(TS_DEVICE_CPU, 1, &found, &err), TS_NODEVICE);
    ts_program_destroy(program);
    ts__cpu_destroy(device);
    ts__cpu_destroy(other);
}

static void graphs_of_impossible_steps_are_refused(void)
{
    ts_device *device = device_new(2, NULL);
    uint32_t condition = 0;
    const struct {
        ts_step step;
        const char *says;
    } cases[] = {
        {{.op = TS_STEP_RUN}, "step 0 of the graph runs nothing"},
        {{.op = TS_STEP_SET}, "step 0 of the graph needs the address of a condition"},
        {{.op = TS_STEP_JUMP_IF, .target = 1}, "step 0 of the graph needs the address of a condition"},
        {{.op = TS_STEP_JUMP_UNLESS, .target = 2, .condition = &condition}, "step 0 of the graph jumps to step 2 of 1"},
        {{.op = TS_STEP_JUMP, .target = UINT32_MAX}, "step 0 of the graph jumps to step 4294967295 of 1"},
        {{.op = (ts_step_op)7}, "step 0 of the graph has the unknown kind 7"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        ts_script *script = (ts_script *)&condition;
        CHECK_INT(ts_script_create(device, &cases[i].step, 1, NULL, NULL, &script, &err), TS_VALUE);
        CHECK(!script && strstr(err.text, cases[i].says));
    }
    ts_script *script;
    const ts_step set = {.op = TS_STEP_SET, .condition = &condition, .value = 5};
    CHECK_OK(ts_script_create(device, &set, 1, NULL, NULL, &script, &err));
    CHECK_OK(ts_script_launch(script, ts_device_default_stream(device), &err));
    CHECK_INT(condition, 5);
    ts_script_release(script);
    ts__cpu_destroy(device);
}

int main(void)
{
    every_block_runs_once();
    loops_in_c_are_spread_over_the_threads();
    long_kernels_are_shared_in_pieces();
    workers_leave_the_cpu_of_their_caller();
    a_launch_asks_its_caller_and_can_be_ended();
    who_is_asked_may_launch();
    cancelling_ends_what_streams_run_and_hold();
    threads_have_their_own_scratch();
    fault_names_kernel_line_block_and_index();
    a_brief_launch_tells_of_its_fault();
    long_blocks_are_spread_whatever_short_ones_took();
    fault_on_a_stream_is_told_once_at_the_wait();
    each_notice_has_the_fault_of_its_own_work();
    streams_keep_order_and_events_tie_them();
    waits_end_at_their_limit_and_events_tell_time();
    notices_come_in_stream_order_and_at_once_when_nothing_is_left();
    the_default_stream_comes_after_streams_that_block();
    who_waits_for_streams_that_block_can_give_up();
    a_stream_is_found_by_its_number();
    a_stream_that_is_destroyed_ends_its_work_first();
    a_signal_ends_a_wait();
    memory_is_reused_and_aligned();
    memory_freed_on_a_stream_waits_for_its_work();
    copies_and_fills_of_all_widths();
    prints_come_in_block_order();
    kernels_keep_subnormals_whatever_the_caller_set();
    threads_may_launch_at_once();
    a_forked_child_computes_again();
    every_failing_allocation_is_reported_and_nothing_leaks();
    wrong_use_is_answered();
    graphs_of_impossible_steps_are_refused();
    return check_done();
}
