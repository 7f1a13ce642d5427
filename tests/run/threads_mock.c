/* SPDX-License-Identifier: Apache-2.0
 *
 * Eight threads do everything at once: build, find, compile and launch kernels, hit, miss and evict the cache, take and
 * give back memory, make and drop views, streams and events, record and replay graphs, make and end devices. On
 * the CPU device, whose results are checked, and on a GPU of the mock driver. Under ThreadSanitizer (make tsan) this
 * is what shows races of the core; elsewhere it shows crashes, deadlocks and wrong results.
 */
#include "check.h"
#include "device/device.h"
#include "run/cache.h"
#include "tessera/graph.h"
#include "tessera/native.h"
#include "tessera/tessera.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 6, N = 16, KERNELS = 3 };

static ts_error err;

#if defined(__SANITIZE_THREAD__)
/* LLVM and the mock driver are not built for the sanitizer, which does not see how they lock. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:libLLVM\nrace:libcuda_mock\nmutex:libLLVM\ndeadlock:libLLVM\n";
}
#endif

/* What the threads share. */
static struct {
    ts_device *device;
    bool computes;           /* the mock GPU does not */
    ts_kernel *kernel;       /* of a constant: each value is a specialisation of its own */
    ts_array *array;         /* never written */
    ts_stream *stream;
    ts_event *event;
    ts_script *script;       /* NULL: the device has no graphs of ours */
    float replayed[N];       /* what the script fills */
    ts_cache *cache;
    pthread_barrier_t begin;
} all;

static _Atomic int n_good, n_bad;

/* CHECK of many threads. */
static void expect(bool good, const char *what, const ts_error *error)
{
    atomic_fetch_add(good ? &n_good : &n_bad, 1);
    if (!good)
        fprintf(stderr, "%s: %s\n", what, error ? error->text : "");
}
#define DO(call)                                                                                   \
    do {                                                                                           \
        ts_error e = {0};                                                                          \
        ts_status status = (call);                                                                 \
        e.text[sizeof e.text - 1] = 0;                                                             \
        expect(status == TS_OK, #call, &e);                                                        \
    } while (0)
#define EXPECT(condition) expect(condition, #condition, NULL)

/* ---- kernels ---------------------------------------------------------------------------------------- */

/* out[i] = x[i] * factor for one tile of N, found by its contents. */
static ts_kernel *kernel_times(double factor)
{
    static const ts_param params[] = {{.flags = TS_PARAM_DENSE}, {.flags = TS_PARAM_DENSE}};
    static const int64_t any = TS_DYNAMIC, one = 1, tile = N;
    ts_module *module = NULL;
    ts_builder *b = NULL;
    ts_kernel *kernel = NULL;
    DO(ts_module_create(NULL, &module, &e));
    ts_fn *fn = ts_fn_create(module, "times", TS_LEVEL_T);
    DO(ts_builder_create(fn, &b, &e));
    ts_val x[3], out[3];
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, x);
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, out);
    ts_val from = ts_partition_view(b, ts_tensor_view(b, x[0], 1, &any, &one, 1, &x[1]), &tile, TS_PAD_ZERO);
    ts_val to = ts_partition_view(b, ts_tensor_view(b, out[0], 1, &any, &one, 1, &out[1]), &tile, TS_PAD_ZERO);
    ts_val at = ts_block_id(b, 0), loaded = ts_load_view(b, from, &at, 0);
    ts_type type = ts_val_type(fn, loaded);
    ts_store_view(b, to, ts_op2(b, TS_OP_mulf, loaded, ts_float(b, type, factor), 0), &at, 0);
    ts_term(b, TS_OP_return, 0, NULL);
    ts_kernel_desc desc = {.name = "times", .source = {TS_SOURCE_MODULE, .module = module}, .params = params,
                           .n_params = 2};
    DO(ts_builder_status(b, &e));
    DO(ts_kernel_find(&desc, &kernel, &e));
    ts_builder_destroy(b);
    ts_module_destroy(module);
    return kernel;
}

static ts_array *array_new(const ts_stream *stream)
{
    static const int64_t shape = N;
    ts_array *array = NULL;
    DO(ts_array_zeros(all.device, stream, TS_DTYPE_float32, 1, &shape, &array, &e));
    return array;
}

/* On a stream of its own, from the array that all read. */
static void compile_and_launch(int id, int round)
{
    static const int64_t grid[3] = {1, 1, 1};
    double factor = 1 + (id + round) % KERNELS;
    float found[N];
    ts_stream *stream = NULL;
    DO(ts_stream_create(all.device, &stream, &e));
    ts_kernel *kernel = kernel_times(factor);
    ts_array *out = array_new(stream);
    ts_arg args[2];
    ts_arg_of_array(all.array, &args[0]);
    ts_arg_of_array(out, &args[1]);
    for (int i = 0; i < 4; i++)
        DO(ts_launch(stream, grid, kernel, args, 2, 0, &e));
    DO(ts_array_to_host(out, stream, found, NULL, &e));
    for (int i = 0; i < N && all.computes; i++)
        EXPECT(found[i] == (float)i * (float)factor);
    ts_array_release(out); /* its memory is given back in the order of the stream */
    ts_kernel_stats stats;
    ts_kernel_get_stats(kernel, &stats);
    EXPECT(stats.n_specialised >= 1);
    ts_kernel_release(kernel);
    ts_stream_destroy(stream);
}

static ts_status nothing_compile(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                                 ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *error)
{
    (void)source, (void)hints, (void)spec, (void)error;
    static const char text[] = ".version 8.0\n.target sm_90a\n";
    *out = (ts_code){.alloc = alloc, .plan = {.target = target, .n_params = 0}};
    strcpy(out->plan.name, "none");
    out->bytes = alloc->resize(alloc->user, NULL, 0, sizeof text);
    memcpy(out->bytes, text, sizeof text);
    out->n_bytes = sizeof text;
    return n_spec == 1 ? TS_OK : TS_INTERNAL;
}

/* All threads specialise one kernel, whose table grows under them; on the CPU the code is no object, so that loading
 * it fails, and the next asks anew. */
static void specialise(int id, int round)
{
    const ts_plan *plan;
    for (int64_t i = 0; i < 24; i++) {
        ts_arg arg = {.kind = TS_SPEC_INT, .value.i = (i * 7 + id) % 40 + round};
        ts_status status = ts_kernel_prepare(all.stream, all.kernel, &arg, 1, &plan, NULL);
        EXPECT(status == (all.computes ? TS_PARSE : TS_OK));
    }
}

/* ---- the cache ---------------------------------------------------------------------------------------- */

/* More keys than the memory level holds, of which some are of all threads. */
static void cache_keys(int id, int round)
{
    for (int i = 0; i < 40; i++) {
        uint64_t key[2] = {(uint64_t)(i % 2 ? i : i + 100 * (id + 1)), (uint64_t)round};
        ts_code code = {.alloc = ts_alloc_default(), .bytes = (uint8_t *)key, .n_bytes = sizeof key}, found;
        if (ts__cache_get(all.cache, key, sizeof key, ts_alloc_default(), &found) == TS_CACHE_MISS) {
            ts__cache_put(all.cache, key, sizeof key, &code);
            continue;
        }
        EXPECT(found.n_bytes == sizeof key && memcmp(found.bytes, key, sizeof key) == 0);
        ts_code_deinit(&found);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static void memory(int id, int round)
{
    static const int64_t shape[2] = {4, 32};
    void *block[8];
    for (int i = 0; i < 8; i++)
        DO(ts_mem_alloc(all.device, NULL, (uint64_t)64 << (i + id + round) % 9, &block[i], &e));
    for (int i = 0; i < 8; i++)
        ts_mem_free(all.device, i % 2 ? NULL : all.stream, block[i], (uint64_t)64 << (i + id + round) % 9);
    ts_array *array = NULL, *view = NULL, *back = NULL;
    ts_dl_managed *managed = NULL;
    DO(ts_array_full(all.device, all.stream, TS_DTYPE_int32, 7, 2, shape, &array, &e));
    DO(ts_array_slice(array, 1, 0, 32, 2, &view, &e));
    DO(ts_buffer_lend(array->buffer, &e));
    ts_buffer_note_stream(array->buffer, ts_device_default_stream(all.device));
    ts_buffer_unlend(array->buffer);
    ts_array_release(array);
    DO(ts_array_to_dlpack(view, &managed, &e));
    DO(ts_array_from_dlpack(managed, &back, &e));
    ts_array_release(view);
    ts_array_release(back);
    if (id == 0)
        ts_device_trim(all.device);
}

/* References of the array that all have, views of it, exports, and marks of the streams that used it. */
static void shared_array(int id, int round)
{
    (void)round;
    for (int i = 0; i < 20; i++) {
        ts_array *view = NULL;
        ts_array_retain(all.array);
        DO(ts_array_slice(all.array, 0, id, N, 1, &view, &e));
        DO(ts_buffer_lend(all.array->buffer, &e));
        ts_buffer_note_stream(all.array->buffer, i % 2 ? all.stream : ts_device_default_stream(all.device));
        EXPECT(ts_array_count(view) == N - id);
        ts_buffer_unlend(all.array->buffer);
        ts_array_release(view);
        ts_array_release(all.array);
    }
}

/* ---- streams and events --------------------------------------------------------------------------------- */

typedef struct told {
    ts_notice base;
    _Atomic int n;
} told;

static void told_call(ts_notice *notice)
{
    atomic_fetch_add(&((told *)notice)->n, 1);
}

static void told_call_user(void *user)
{
    atomic_fetch_add(&((told *)user)->n, 1);
}

static void streams(int id, int round)
{
    ts_stream *mine = NULL;
    ts_event *event = NULL, *later = NULL;
    told one = {.base.call = told_call}, two = {.base.call = told_call};
    bool taken = false, done;
    double ns;
    DO(ts_stream_create(all.device, &mine, &e));
    DO(ts_event_create(all.device, &event, &e));
    DO(ts_event_create(all.device, &later, &e));
    DO(ts_event_record(event, mine, &e));
    DO(ts_event_record(all.event, id % 2 ? mine : all.stream, &e));
    DO(ts_stream_wait_event(mine, all.event, &e));
    DO(ts_stream_call(mine, told_call_user, &two, &e));
    DO(ts_stream_wait_event(all.stream, event, &e));
    DO(ts_stream_notify(mine, &one.base, &e));
    DO(ts_event_notify(event, &two.base, &taken, &e));
    DO(ts_event_record(later, mine, &e));
    DO(ts_stream_done(all.stream, &done, &e));
    DO(ts_event_done(all.event, &done, &e));
    DO(ts_event_sync(all.event, TS_FOREVER, &e));
    DO(ts_event_sync(later, TS_FOREVER, &e));
    DO(ts_event_elapsed(event, later, &ns, &e));
    DO(ts_stream_sync(mine, round % 2 ? TS_FOREVER : (int64_t)60000000000, &e));
    while (atomic_load(&one.n) != 1 || atomic_load(&two.n) != (taken ? 2 : 1)) /* they come after the work */
        usleep(100);
    ts_event_destroy(event);
    ts_event_destroy(later);
    ts_stream_destroy(mine);
    DO(ts_stream_sync(all.stream, TS_FOREVER, &e));
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

static void run_script(const ts_stream *stream)
{
    DO(ts_script_launch(all.script, stream, &e));
    DO(ts_stream_sync(stream, TS_FOREVER, &e));
}

/* One that all launch, on streams of their own and on the default one; and one of each thread. */
static void graphs(int id, int round)
{
    static const int64_t grid[3] = {1, 1, 1};
    if (!all.script)
        return;
    ts_stream *mine = NULL;
    ts_piece *work = NULL;
    ts_script *script = NULL;
    ts_array *out = array_new(NULL);
    ts_kernel *kernel = kernel_times(2);
    ts_arg args[2];
    float found[N];
    ts_arg_of_array(all.array, &args[0]);
    ts_arg_of_array(out, &args[1]);
    DO(ts_stream_create(all.device, &mine, &e));
    run_script((id + round) % 2 ? mine : ts_device_default_stream(all.device));
    DO(ts_record_begin(mine, &e));
    DO(ts_launch(mine, grid, kernel, args, 2, 0, &e));
    DO(ts_record_end(mine, &work, &e));
    DO(ts_script_create(all.device, &(ts_step){.op = TS_STEP_RUN, .work = work}, 1, NULL, NULL, &script, &e));
    ts_piece_release(work);
    for (int i = 0; i < 3; i++)
        DO(ts_script_launch(script, i % 2 ? all.stream : mine, &e));
    DO(ts_script_launch(script, ts_device_default_stream(all.device), &e));
    ts_script_release(script);
    DO(ts_stream_sync(all.stream, TS_FOREVER, &e));
    DO(ts_array_to_host(out, mine, found, NULL, &e));
    for (int i = 0; i < N; i++)
        EXPECT(found[i] == (float)i * 2);
    ts_array_release(out);
    ts_kernel_release(kernel);
    ts_stream_destroy(mine);
}

/* ---- devices ------------------------------------------------------------------------------------------- */

static bool go_on(void)
{
    return false;
}

static void before_print(void)
{
}

static void devices(int id, int round)
{
    ts_device *own = NULL, *found = NULL;
    ts_device_info info;
    void *block;
    ts_interrupt_set(round % 2 ? go_on : NULL);
    ts_print_set(round % 2 ? before_print : NULL);
    DO(ts_device_get(id % 2 ? TS_DEVICE_CPU : TS_DEVICE_CUDA, 0, &found, &e));
    DO(ts_device_query(all.device, &info, &e));
    DO(ts__cpu_create(&(ts_cpu_options){2, NULL}, &own, &e));
    DO(ts_mem_alloc(own, NULL, 4096, &block, &e));
    DO(ts_mem_fill(ts_device_default_stream(own), block, 0, 8, 512, &e));
    ts_mem_free(own, NULL, block, 4096);
    ts__cpu_destroy(own);
    if (all.computes)
        DO(ts_device_sync(all.device, TS_FOREVER, &e));
}

/* ---- the threads ------------------------------------------------------------------------------------------ */

static void *thread_main(void *user)
{
    static void (*const jobs[])(int id, int round) = {compile_and_launch, streams, memory,  graphs,
                                                      specialise,         devices, cache_keys, shared_array};
    enum { JOBS = sizeof jobs / sizeof *jobs };
    int id = (int)(intptr_t)user;
    pthread_barrier_wait(&all.begin);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < JOBS; i++)
            jobs[round % 2 ? i : (i + id) % JOBS](id, round); /* all the same, and each another */
    return NULL;
}

static ts_script *script_new(void)
{
    ts_stream *stream;
    ts_piece *work;
    ts_script *script;
    CHECK_OK(ts_stream_create(all.device, &stream, &err));
    CHECK_OK(ts_record_begin(stream, &err));
    CHECK_OK(ts_mem_copy(stream, all.replayed, TS_MEM_HOST, all.array->data, TS_MEM_DEVICE, 0, &err));
    CHECK_OK(ts_event_record(all.event, stream, &err));
    CHECK_OK(ts_stream_wait_event(stream, all.event, &err));
    CHECK_OK(ts_record_end(stream, &work, &err));
    ts_step steps[2] = {{.op = TS_STEP_RUN, .work = work}, {.op = TS_STEP_RUN, .work = ts_piece_next(work)}};
    CHECK_OK(ts_script_create(all.device, steps, 2, NULL, NULL, &script, &err));
    ts_piece_release(steps[1].work);
    ts_piece_release(steps[0].work);
    ts_stream_destroy(stream);
    return script;
}

static void threads_share_a_device(ts_device_kind kind)
{
    static const ts_param params[] = {{"n", TS_PARAM_CONSTANT, 0, 0, 0}};
    char dir[256], command[300];
    pthread_t threads[THREADS];
    float host[N];
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    snprintf(dir, sizeof dir, "%s/tessera-threads-XXXXXX", check_tmp());
    CHECK(mkdtemp(dir) != NULL);
    CHECK_OK(ts_device_get(kind, 0, &all.device, &err));
    all.computes = kind == TS_DEVICE_CPU;
    all.cache = ts__cache_create(&(ts_cache_options){dir, 1 << 16, NULL});
    all.array = array_new(NULL);
    CHECK_OK(ts_array_from_host(all.array, NULL, host, NULL, &err));
    CHECK_OK(ts_stream_create(all.device, &all.stream, &err));
    CHECK_OK(ts_event_create(all.device, &all.event, &err));
    ts_kernel_desc desc = {.name = "k", .params = params, .n_params = 1,
                           .source = {TS_SOURCE_CUSTOM, .compile = nothing_compile}};
    CHECK_OK(ts_kernel_create(&desc, &all.kernel, &err));
    all.script = all.computes ? script_new() : NULL;
    pthread_barrier_init(&all.begin, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all.begin);
    ts_script_release(all.script);
    ts_kernel_release(all.kernel);
    ts_event_destroy(all.event);
    ts_array_release(all.array);
    ts_stream_destroy(all.stream);
    ts__cache_destroy(all.cache);
    ts_interrupt_set(NULL);
    ts_print_set(NULL);
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK_INT(system(command), 0);
    CHECK_INT(atomic_load(&n_bad), 0);
    CHECK(atomic_load(&n_good) > THREADS * ROUNDS * 100);
}

int main(void)
{
    enum { SKIPPED = 77 };
    ts_device *gpu;
    if (ts_device_get(TS_DEVICE_CUDA, 0, &gpu, &err) != TS_OK) {
        fprintf(stderr, "give the mock driver, TESSERA_CUDA_DRIVER=libcuda_mock.so: %s\n", err.text);
        return SKIPPED;
    }
    threads_share_a_device(TS_DEVICE_CPU);
    threads_share_a_device(TS_DEVICE_CUDA);
    return check_done();
}
