/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA device on a real GPU, with PTX of the test's own: launches, tensor maps, streams and events, memory,
 * fault records, assembler messages, and recovery from a sticky fault. Skips, and says so, without a GPU.
 */
#include "setup.h"
#include "tessera/launch.h"
#include "tessera/array.h"

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static ts_device *gpu;
static ts_target target;

static const char ptx_head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
static const char ptx_head_90[] = ".version 8.0\n.target sm_90a\n.address_size 64\n";

/* out[i] = a[i] + b[i] for float32; parameters as three arrays of rank 1. */
static const char ptx_add[] =
    ".visible .entry entry(.param .u64 p0, .param .u32 p1, .param .u32 p2, .param .u64 p3, .param .u32 p4,\n"
    "  .param .u32 p5, .param .u64 p6, .param .u32 p7, .param .u32 p8) {\n"
    ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>; .reg .pred %p;\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r1, %r3, %r2;\n"
    "ld.param.u32 %r4, [p1]; setp.ge.u32 %p, %r1, %r4; @%p ret; mul.wide.u32 %d1, %r1, 4;\n"
    "ld.param.u64 %d2, [p0]; add.u64 %d2, %d2, %d1; ld.global.f32 %f1, [%d2];\n"
    "ld.param.u64 %d3, [p3]; add.u64 %d3, %d3, %d1; ld.global.f32 %f2, [%d3]; add.f32 %f1, %f1, %f2;\n"
    "ld.param.u64 %d4, [p6]; add.u64 %d4, %d4, %d1; st.global.f32 [%d4], %f1; ret; }\n";

/* Stores to address 16. */
static const char ptx_wild[] = ".visible .entry entry() { .reg .b64 %d; .reg .b32 %r; mov.u64 %d, 16; mov.u32 %r, 1;\n"
                               "st.global.u32 [%d], %r; ret; }\n";

/* Claims the fault record and writes line 7 (offset 4). */
static const char ptx_fault[] =
    ".visible .entry entry(.param .u64 p0) { .reg .b64 %d; .reg .b32 %r<3>; .reg .pred %p; ld.param.u64 %d, [p0];\n"
    "atom.global.cas.b32 %r1, [%d], 0, 3; setp.ne.u32 %p, %r1, 0; @%p ret; mov.u32 %r2, 7;\n"
    "st.global.u32 [%d+4], %r2; ret; }\n";

/* Spins for p0 clock ticks. */
static const char ptx_spin[] =
    ".visible .entry entry(.param .u64 p0) { .reg .b64 %d<4>; .reg .pred %p; ld.param.u64 %d1, [p0];\n"
    "mov.u64 %d2, %clock64; again: mov.u64 %d3, %clock64; sub.u64 %d3, %d3, %d2; setp.lt.u64 %p, %d3, %d1;\n"
    "@%p bra again; ret; }\n";

/* Copies the 32 x 32 float32 tile at column 32 * ctaid.x, row 32 * ctaid.y to out by TMA and plain stores. */
static const char ptx_tile[] =
    ".visible .entry entry(.param .align 64 .b8 tm0[128], .param .u64 p0, .param .u32 p1, .param "
    ".u32 p2, .param .u32 p3,\n"
    "  .param .u64 p4) {\n"
    ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar; .reg .b32 %r<16>; .reg .b64 "
    "%d<8>; .reg .pred %p<3>;\n"
    ".reg .f32 %f; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r3, %tid.x; setp.ne.u32 %p1, %r3, "
    "0;\n"
    "@%p1 bra wait; mbarrier.init.shared.b64 [%r2], 1; fence.proxy.async.shared::cta;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 4096; mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, "
    "5;\n"
    "mov.u32 %r5, %ctaid.y; shl.b32 %r5, %r5, 5; mov.b64 %d1, tm0; cvta.param.u64 %d1, %d1;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d1, "
    "{%r4, %r5}], [%r2];\n"
    "wait: bar.sync 0; spin: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra spin;\n"
    "mov.u32 %r6, %nctaid.x; mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mad.lo.u32 %r7, %r8, "
    "%r6, %r7;\n"
    "shl.b32 %r7, %r7, 12; ld.param.u64 %d2, [p4]; cvt.u64.u32 %d3, %r7; add.u64 %d2, %d2, %d3; "
    "shl.b32 %r9, %r3, 2;\n"
    "cvt.u64.u32 %d4, %r9; add.u64 %d2, %d2, %d4; add.u32 %r9, %r9, %r1; mov.u32 %r10, 0;\n"
    "row: ld.shared.f32 %f, [%r9]; st.global.f32 [%d2], %f; add.u32 %r9, %r9, 128; add.u64 %d2, "
    "%d2, 128;\n"
    "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 32; @%p2 bra row; ret; }\n";

static ts_program *load(const char *head, const char *body, ts_plan plan)
{
    char text[4096];
    ts_program *program = NULL;
    plan.target = target;
    strcpy(plan.name, "entry");
    size_t n = (size_t)snprintf(text, sizeof text, "%s%s", head, body) + 1;
    ts_code code = {.plan = plan, .bytes = (uint8_t *)text, .n_bytes = n};
    CHECK_OK(ts_program_load(gpu, &code, "test_kernel", "test.py", &program, &err));
    return program;
}

static void vector_addition_is_right(void)
{
    enum { N = 100003 };
    ts_program *program = load(ptx_head, ptx_add, (ts_plan){.threads = 128, .n_params = 9,
                                                            .param_bytes = {8, 4, 4, 8, 4, 4, 8, 4, 4}});
    float *host = malloc(N * 4);
    ts_array *a, *b, *c;
    CHECK_OK(ts_array_empty(gpu, NULL, TS_DTYPE_float32, 1, INTS(N), &a, &err));
    CHECK_OK(ts_array_full(gpu, NULL, TS_DTYPE_float32, 0x3F800000, 1, INTS(N), &b, &err));
    CHECK_OK(ts_array_zeros(gpu, NULL, TS_DTYPE_float32, 1, INTS(N), &c, &err));
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    CHECK_OK(ts_array_from_host(a, NULL, host, NULL, &err));
    uint64_t params[9] = {(uintptr_t)a->data, N, 1, (uintptr_t)b->data, N, 1, (uintptr_t)c->data, N, 1};
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(gpu), (uint32_t[3]){(N + 127) / 128, 1, 1}, params, 0,
                               &err));
    CHECK_OK(ts_array_to_host(c, NULL, host, NULL, &err));
    int bad = 0;
    for (int i = 0; i < N; i++)
        bad += host[i] != (float)i + 1;
    CHECK_INT(bad, 0);
    ts_array_release(a);
    ts_array_release(b);
    ts_array_release(c);
    ts_program_destroy(program);
    free(host);
}

static void tensor_maps_load_tiles_and_zeros_outside(void)
{
    enum { ROWS = 50, COLS = 40 };
    if (target != TS_TARGET_SM90) {
        check_skipped++;
        return;
    }
    ts_plan plan = {.threads = 32, .n_params = 5, .param_bytes = {8, 4, 4, 4, 8}, .n_tmaps = 1};
    plan.tmap[0] = (ts_plan_tmap){.dtype = 7, .rank = 2, .elem_bytes = 4, .box = {32, 32}, .step = {1, 1},
                                  .dim = {{0, 2}, {0, 1}}, .stride = {{1, -1}, {0, 3}}};
    ts_program *program = load(ptx_head_90, ptx_tile, plan);
    float host[ROWS * COLS], found[4][32][32];
    ts_array *a, *out;
    CHECK_OK(ts_array_empty(gpu, NULL, TS_DTYPE_float32, 2, INTS(ROWS, COLS), &a, &err));
    CHECK_OK(ts_array_zeros(gpu, NULL, TS_DTYPE_float32, 3, INTS(4, 32, 32), &out, &err));
    for (int i = 0; i < ROWS * COLS; i++)
        host[i] = (float)(i + 1);
    CHECK_OK(ts_array_from_host(a, NULL, host, NULL, &err));
    uint64_t params[5] = {(uintptr_t)a->data, ROWS, COLS, COLS, (uintptr_t)out->data};
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(gpu), (uint32_t[3]){2, 2, 1}, params, 0, &err));
    CHECK_OK(ts_array_to_host(out, NULL, found, NULL, &err));
    int bad = 0;
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            bad += found[y / 32 * 2 + x / 32][y % 32][x % 32] != (y < ROWS && x < COLS ? host[y * COLS + x] : 0);
    CHECK_INT(bad, 0);
    ts_array_release(a);
    ts_array_release(out);
    ts_program_destroy(program);
}

static void streams_events_and_bounded_waits(void)
{
    ts_program *spin = load(ptx_head, ptx_spin, (ts_plan){.threads = 1, .n_params = 1, .param_bytes = {8}});
    ts_stream *stream;
    ts_event *begin, *end;
    double ns;
    bool done;
    CHECK_OK(ts_stream_create(gpu, &stream, &err));
    CHECK_OK(ts_event_create(gpu, &begin, &err));
    CHECK_OK(ts_event_create(gpu, &end, &err));
    CHECK_OK(ts_event_record(begin, stream, &err));
    CHECK_OK(ts_program_launch(spin, stream, (uint32_t[3]){1, 1, 1}, &(uint64_t){50000000}, 0, &err));
    CHECK_OK(ts_event_record(end, stream, &err));
    CHECK_OK(ts_stream_done(stream, &done, &err));
    CHECK(!done);
    CHECK_INT(ts_stream_sync(stream, 1000000, &err), TS_INTERRUPTED);
    CHECK_OK(ts_stream_wait_event(ts_device_default_stream(gpu), end, &err));
    CHECK_OK(ts_stream_sync(ts_device_default_stream(gpu), 5000000000, &err));
    CHECK_OK(ts_event_elapsed(begin, end, &ns, &err));
    CHECK(ns > 10e6 && ns < 1e9);
    ts_event_destroy(begin);
    ts_event_destroy(end);
    ts_stream_destroy(stream);
    ts_program_destroy(spin);
}

static void faults_are_recorded_without_losing_the_device(void)
{
    ts_program *program = load(ptx_head, ptx_fault, (ts_plan){.threads = 64, .error_param = 1});
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(gpu), (uint32_t[3]){100, 1, 1}, NULL, 0, &err));
    CHECK_INT(ts_device_sync(gpu, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_STR(err.text, "kernel 'test_kernel' (test.py, line 7), block (0, 0, 0): integer division by zero");
    CHECK_OK(ts_device_sync(gpu, TS_FOREVER, &err));
    ts_program_destroy(program);
}

static void bad_text_gives_the_assemblers_message(void)
{
    char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry entry() { nonsense; }\n";
    ts_program *program;
    ts_code code = {.plan = {.target = target, .name = "entry"}, .bytes = (uint8_t *)text, .n_bytes = sizeof text};
    CHECK_INT(ts_program_load(gpu, &code, "k", NULL, &program, &err), TS_DEVICE);
    CHECK(strstr(err.text, "nonsense") != NULL);
    printf("  %s\n", err.text);
}

static void memory_is_reused_and_runs_out_politely(void)
{
    void *a, *b;
    CHECK_OK(ts_mem_alloc(gpu, NULL, 1 << 20, &a, &err));
    ts_mem_free(gpu, NULL, a, 1 << 20);
    CHECK_OK(ts_mem_alloc(gpu, NULL, 1 << 20, &b, &err));
    CHECK(a == b);
    ts_mem_free(gpu, NULL, b, 1 << 20);
    CHECK_INT(ts_mem_alloc(gpu, NULL, (uint64_t)1 << 50, &a, &err), TS_NOMEM);
    printf("  %s\n", err.text);
    CHECK_OK(ts_mem_alloc(gpu, NULL, 1 << 20, &a, &err));
    ts_mem_free(gpu, NULL, a, 1 << 20);
}

static void a_reset_begins_afresh(void)
{
    ts_array *lost;
    ts_stream *stream;
    float host[4];
    CHECK_OK(ts_array_zeros(gpu, NULL, TS_DTYPE_float32, 1, INTS(4), &lost, &err));
    CHECK_OK(ts_stream_create(gpu, &stream, &err));
    CHECK_OK(ts_device_reset(gpu, &err));
    CHECK_INT(ts_array_to_host(lost, NULL, host, NULL, &err), TS_BUFFER);
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_RUNTIME);
    ts_array_release(lost);
    ts_stream_destroy(stream);
}

/* Last: the driver may refuse the GPU to this process afterwards. */
static void a_sticky_fault_is_told_once_and_never_crashes(void)
{
    ts_program *program = load(ptx_head, ptx_wild, (ts_plan){.threads = 1});
    ts_array *array;
    float host[4];
    CHECK_OK(ts_array_zeros(gpu, NULL, TS_DTYPE_float32, 1, INTS(4), &array, &err));
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(gpu), (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    CHECK_INT(ts_device_sync(gpu, TS_FOREVER, &err), TS_LAUNCH);
    printf("  %s\n", err.text);
    CHECK(strstr(err.text, "kernel 'test_kernel'") != NULL);
    CHECK_INT(ts_array_to_host(array, NULL, host, NULL, &err), TS_DEVICE);
    printf("  %s\n", err.text);
    ts_status status = ts_device_reset(gpu, &err);
    printf("  reset: %s\n", status == TS_OK ? "the device works again" : err.text);
    CHECK(status == TS_OK || (status == TS_DEVICE && strstr(err.text, "start a new process")));
    CHECK_INT(ts_array_to_host(array, NULL, host, NULL, &err), TS_BUFFER);
    ts_array_release(array);
    ts_program_destroy(program);
    CHECK_INT(ts_array_zeros(gpu, NULL, TS_DTYPE_float32, 1, INTS(4), &array, &err), status);
    ts_array_release(array);
}

/* Blocks of 256 threads turn their elements around in 200 KiB of dynamic shared memory, in clusters of two that wait
 * for each other. */
static void threads_have_clusters_and_much_shared_memory(void)
{
    static const char text[] =
        "thread entry @turn(%x: ptr<i32>, %n: i32, %s: i32) num_warps=8 {\n"
        "  %own = shared offset=0 : ptr<i32, shared>\n  %t = sreg tid.x : i32\n  %block = sreg ctaid.x : i32\n"
        "  %threads = sreg ntid.x : i32\n  %first = muli %block, %threads : i32\n  %i = addi %first, %t : i32\n"
        "  %place = offset %x, %i : ptr<i32>\n  %v = ld n=1 %place : i32\n  %far = constant 200 : i32\n"
        "  %a = muli %t, %far : i32\n  %mine = offset %own, %a : ptr<i32, shared>\n  st n=1 %mine, %v\n"
        "  cluster_arrive\n  cluster_wait\n  %last = constant 255 : i32\n  %u = subi %last, %t : i32\n"
        "  %b = muli %u, %far : i32\n  %theirs = offset %own, %b : ptr<i32, shared>\n  %w = ld n=1 %theirs : i32\n"
        "  st n=1 %place, %w\n  return\n}\n";
    enum { BLOCKS = 4, THREADS = 256, N = BLOCKS * THREADS };
    ts_kernel_desc desc = {.name = "turn", .source = {TS_SOURCE_TEXT, .bytes = text, .n = sizeof text - 1}};
    ts_launch_config config = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}, .cluster = {2, 1, 1},
                               .shared_bytes = THREADS * 200 * 4};
    ts_kernel *kernel;
    ts_array *array;
    ts_arg arg;
    int host[N], bad = 0;
    if (target < TS_TARGET_SM90) {
        check_skipped++;
        return;
    }
    for (int i = 0; i < N; i++)
        host[i] = i;
    CHECK_OK(ts_array_empty(gpu, NULL, TS_DTYPE_int32, 1, INTS(N), &array, &err));
    CHECK_OK(ts_array_from_host(array, NULL, host, NULL, &err));
    CHECK_OK(ts_kernel_create(&desc, &kernel, &err));
    ts_arg_of_array(array, &arg);
    CHECK_OK(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err));
    CHECK_OK(ts_array_to_host(array, NULL, host, NULL, &err));
    for (int i = 0; i < N; i++)
        bad += host[i] != i / THREADS * THREADS + THREADS - 1 - i % THREADS;
    CHECK_INT(bad, 0);
    config.shared_bytes = 300000;
    CHECK_INT(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err), TS_VALUE);
    config.shared_bytes = THREADS * 200 * 4, config.cluster[0] = 3;
    CHECK_INT(ts_launch_config_run(NULL, &config, kernel, &arg, 1, &err), TS_VALUE);
    ts_kernel_release(kernel);
    ts_array_release(array);
}

int main(void)
{
    ts_device_info info;
    if (ts_device_get(TS_DEVICE_CUDA, 0, &gpu, &err) != TS_OK) {
        printf("skipped: %s\n", err.text);
        check_skipped = 10;
        return check_done();
    }
    target = ts_device_target(gpu);
    CHECK_OK(ts_device_query(gpu, &info, &err));
    printf("%s, %d SMs, compute capability %d.%d, driver %d\n", info.name, info.units, info.cc_major, info.cc_minor,
           info.driver_version);
    vector_addition_is_right();
    tensor_maps_load_tiles_and_zeros_outside();
    streams_events_and_bounded_waits();
    faults_are_recorded_without_losing_the_device();
    threads_have_clusters_and_much_shared_memory();
    bad_text_gives_the_assemblers_message();
    memory_is_reused_and_runs_out_politely();
    a_reset_begins_afresh();
    vector_addition_is_right();
    tensor_maps_load_tiles_and_zeros_outside();
    a_sticky_fault_is_told_once_and_never_crashes();
    return check_done();
}
