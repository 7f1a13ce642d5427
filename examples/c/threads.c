/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of threads, built as IR without Python: what a CUDA kernel is made of.
 *
 *     counts[v] += 1     for each element v of x: a histogram in shared memory, added to the one in global memory
 *     roots[0] += the sum of the cube roots of all elements: sums of warps by shuffles, then one of the block
 *
 * It prints the PTX (`ptx`), runs the kernel by the reference interpreter, as it is written and as it is compiled for
 * sm_90, on the CPU device, and compares with C. Where there is a GPU it runs there, too; under the mock driver
 * (TESSERA_CUDA_DRIVER) it is launched but computes nothing.
 *
 *     cc examples/c/threads.c -Iinclude -Lbuild-test -ltessera -lm && ./a.out [ptx | cached]
 *
 * `cached`: fails unless the code came from the cache on disk, which a run before has filled.
 */
#include "example.h"
#include <math.h>

enum { N = 5000, BINS = 64, BLOCKS = 3, THREADS = 128, WARPS = THREADS / 32 };

static ts_module *module;

/* ---- building ------------------------------------------------------------------------------------- */

/* A device function: the sum of a number over the 32 lanes of a warp, in each of them. */
static ts_fn *build_warp_sum(ts_builder *b)
{
    static const ts_type f32 = TS_T_f32;
    ts_fn *fn = ts_fn_create(module, "warp_sum", TS_LEVEL_S);
    ts_builder_reset(b, fn);
    ts_fn_set_results(fn, 1, &f32);
    ts_val sum = ts_fn_param(b, TS_T_f32);
    for (int distance = 16; distance; distance /= 2) {
        ts_val other = ts_warp_shuffle(b, TS_SHFL_BFLY, sum, ts_int(b, TS_T_i32, distance));
        sum = ts_op2(b, TS_OP_addf, sum, other, 0);
    }
    ts_term(b, TS_OP_return, 1, &sum);
    return fn;
}

/* Each thread takes every (threads of the grid)-th element; gives the sum of its cube roots. */
static ts_val build_loop(ts_fn *fn, ts_builder *b, const ts_val *x, ts_val thread, ts_val counts)
{
    ts_val threads = ts_op2(b, TS_OP_muli, ts_num_threads(b, 0), ts_num_threads(b, 1), 0);
    ts_val before = ts_op2(b, TS_OP_muli, ts_block_id(b, 0), threads, 0);
    ts_val first = ts_op2(b, TS_OP_addi, before, thread, 0), zero = ts_float(b, TS_T_f32, 0);
    ts_val step = ts_op2(b, TS_OP_muli, ts_num_blocks(b, 0), threads, 0);
    ts_val loop = ts_for_begin(b, first, x[1], step, 1, &zero, 0);
    ts_val value = ts_load(b, ts_element(b, x[0], ts_region_arg(fn, loop, 0)), TS_CACHE_NC);
    ts_atomic(b, TS_RMW_ADD, ts_element(b, counts, value), ts_int(b, TS_T_i32, 1), TS_M_SCOPE(TS_SCOPE_BLOCK));
    ts_val number = ts_cast(b, TS_OP_itof, value, TS_T_f32, 0);
    ts_val root = ts_math_call(b, ts_math_find("cbrt", 4), number, 0);
    ts_val sum = ts_op2(b, TS_OP_addf, ts_region_arg(fn, loop, 1), root, 0);
    ts_term(b, TS_OP_continue, 1, &sum);
    ts_end_like(b, loop);
    return ts_res(b, loop, 0);
}

/* Sum of the block: of the warps into shared memory, of those by the first warp, which adds it to roots[0]. */
static void build_sum(ts_builder *b, ts_fn *warp_sum, ts_val thread, ts_val own, ts_val roots)
{
    ts_val zero = ts_int(b, TS_T_i32, 0), lane = ts_lane_id(b), partial = ts_shared_array(b, TS_T_f32, WARPS, 0);
    ts_val is_first = ts_cmp(b, TS_OP_cmpi, TS_EQ, lane, zero, 0);
    ts_val of_warp = ts_call(b, warp_sum, &own) + 1;
    ts_store_if(b, ts_element(b, partial, ts_warp_id(b)), of_warp, is_first, 0);
    ts_barrier(b);
    ts_val branch = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, thread, ts_int(b, TS_T_i32, 32), 0));
    ts_val has_warp = ts_cmp(b, TS_OP_cmpi, TS_LT, lane, ts_int(b, TS_T_i32, WARPS), 0);
    ts_val mine = ts_load_if(b, ts_element(b, partial, lane), has_warp, ts_float(b, TS_T_f32, 0), 0);
    ts_val sum = ts_call(b, warp_sum, &mine) + 1;
    ts_val only = ts_if_begin(b, is_first);
    ts_atomic(b, TS_RMW_ADDF, roots, sum, 0);
    ts_if_end(b, only);
    ts_if_end(b, branch);
}

static void build_histogram(ts_builder *b)
{
    ts_fn *warp_sum = build_warp_sum(b), *fn = ts_fn_create(module, "histogram", TS_LEVEL_S);
    ts_builder_reset(b, fn);
    ts_fn_set_warps(fn, WARPS); /* blocks have at most 128 threads, which may use more registers then */
    ts_val x[3], counts[3], roots[3];
    ts_fn_param_array(b, TS_T_i32, 1, TS_T_i32, x);
    ts_fn_param_array(b, TS_T_i32, 1, TS_T_i32, counts);
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, roots);
    ts_val own = ts_shared_array(b, TS_T_i32, BINS, 0), zero = ts_int(b, TS_T_i32, 0);
    ts_val row = ts_op2(b, TS_OP_muli, ts_thread_id(b, 1), ts_num_threads(b, 0), 0);
    ts_val thread = ts_op2(b, TS_OP_addi, row, ts_thread_id(b, 0), 0); /* its number in the block */
    ts_val has_bin = ts_cmp(b, TS_OP_cmpi, TS_LT, thread, ts_int(b, TS_T_i32, BINS), 0);

    ts_store_if(b, ts_element(b, own, thread), zero, has_bin, 0);
    ts_barrier(b);
    ts_val sum = build_loop(fn, b, x, thread, own);
    build_sum(b, warp_sum, thread, sum, roots[0]); /* its barrier is behind all counting */
    ts_val branch = ts_if_begin(b, has_bin);
    ts_val found = ts_load(b, ts_element(b, own, thread), 0);
    ts_atomic(b, TS_RMW_ADD, ts_element(b, counts[0], thread), found, 0);
    ts_if_end(b, branch);
    ts_term(b, TS_OP_return, 0, NULL);
}

/* ---- what is to come out ---------------------------------------------------------------------------- */

static int x[N], counts[BINS];
static float roots[1];

static void fill(void)
{
    for (int i = 0; i < N; i++)
        x[i] = i * 7 % BINS;
    memset(counts, 0, sizeof counts);
    roots[0] = 0;
}

/* Number of wrong elements. */
static int compare(const char *where)
{
    static int wanted[BINS];
    double sum = 0;
    int wrong = 0;
    memset(wanted, 0, sizeof wanted);
    for (int i = 0; i < N; i++)
        wanted[x[i]]++, sum += cbrt(x[i]);
    for (int i = 0; i < BINS; i++)
        wrong += counts[i] != wanted[i];
    wrong += !(fabs(roots[0] - sum) <= 1e-5 * sum);
    printf("  %-32s %d counts, sum of roots %.3f: %s\n", where, BINS, roots[0], wrong ? "WRONG" : "right");
    return wrong;
}

/* ---- running ---------------------------------------------------------------------------------------- */

/* By the reference interpreter, on any machine. `target` 0: as it is written; else after all passes for that GPU. */
static int interpret(const char *where, ts_target target)
{
    char *text;
    size_t n;
    uint64_t params[] = {(uintptr_t)x, N, 1, (uintptr_t)counts, BINS, 1, (uintptr_t)roots, 1, 1};
    ts_interpret run = {.params = params, .n_params = 9, .grid = {BLOCKS, 1, 1}, .block = {32, WARPS, 1},
                        .target = target};
    fill();
    check(ts_module_print(module, NULL, &text, &n, &err), "print");
    check(ts_interpret_text(text, n, "histogram", &run, &err), where);
    const ts_alloc *alloc = ts_alloc_default();
    alloc->resize(alloc->user, text, n + 1, 0);
    return compare(where);
}

static void print_ptx(void)
{
    ts_spec spec[3] = {{.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_int32, .rank = 1, .index_bits = 32},
                       {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_int32, .rank = 1, .index_bits = 32},
                       {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 1, .index_bits = 32}};
    ts_source source = {.kind = TS_SOURCE_MODULE, .module = module};
    ts_code code;
    check(ts_compile_source(&source, spec, 3, NULL, TS_TARGET_SM90, NULL, &code, &err), "compile");
    printf("%s", (const char *)code.bytes);
    ts_code_deinit(&code);
}

/* Grid, block and the rest in one structure; here blocks of 32 x 4 threads. Adds what the cache on disk gave. */
static void launch(ts_device *device, ts_arg *args, uint64_t *n_from_disk)
{
    const ts_launch_config config = {.grid = {BLOCKS, 1, 1}, .block = {32, WARPS, 1}};
    ts_kernel_desc desc = {.name = "histogram", .source = {.kind = TS_SOURCE_MODULE, .module = module}};
    ts_kernel_stats stats;
    ts_kernel *kernel;
    check(ts_kernel_create(&desc, &kernel, &err), "kernel");
    check(ts_launch_config_run(ts_device_default_stream(device), &config, kernel, args, 3, &err), "launch");
    ts_kernel_get_stats(kernel, &stats);
    *n_from_disk += stats.n_from_disk;
    ts_kernel_release(kernel);
}

static int run_on(ts_device *device, bool computes, uint64_t *n_from_disk)
{
    static const int64_t n = N, n_counts = BINS, one = 1;
    const ts_stream *stream = ts_device_default_stream(device);
    fill();
    ts_arg args[3] = {array_of(device, TS_DTYPE_int32, 1, upload(device, x, sizeof x), &n, NULL),
                      array_of(device, TS_DTYPE_int32, 1, upload(device, counts, sizeof counts), &n_counts, NULL),
                      array_of(device, TS_DTYPE_float32, 1, upload(device, roots, sizeof roots), &one, NULL)};
    launch(device, args, n_from_disk);
    check(ts_mem_copy(stream, counts, TS_MEM_HOST, args[1].value.data, TS_MEM_DEVICE, sizeof counts, &err), "copy");
    check(ts_mem_copy(stream, roots, TS_MEM_HOST, args[2].value.data, TS_MEM_DEVICE, sizeof roots, &err), "copy");
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    for (int i = 0; i < 3; i++)
        ts_mem_free(device, stream, args[i].value.data, (uint64_t)args[i].shape[0] * 4);
    if (!computes)
        printf("  launched on the mock driver, which computes nothing\n");
    return computes ? compare(ts_device_id(device) == TS_DEVICE_ID(TS_DEVICE_CPU, 0) ? "CPU" : "GPU") : 0;
}

int main(int argc, char **argv)
{
    example e = {0};
    ts_builder *b;
    check(ts_module_create(NULL, &module, &err), "module");
    check(ts_builder_create(ts_fn_create(module, "none", TS_LEVEL_S), &b, &err), "builder");
    check(ts_module_clear(module, &err), "clear");
    build_histogram(b);
    check(ts_builder_status(b, &err), "build");
    check(ts_module_verify(module, &err), "verify");

    if (argc > 1 && strcmp(argv[1], "ptx") == 0)
        print_ptx();
    e.wrong = interpret("interpreter, as written", (ts_target)0);
    e.wrong += interpret("interpreter, compiled for sm_90", TS_TARGET_SM90);
    example_on(&e, TS_DEVICE_CPU, 1, run_on);
    example_on(&e, TS_DEVICE_CUDA, 1, run_on);
    ts_builder_destroy(b);
    ts_module_destroy(module);
    return example_end(&e, argc, argv);
}
