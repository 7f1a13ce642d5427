/* SPDX-License-Identifier: Apache-2.0
 *
 * Tessera without Python: two kernels built as IR, compiled, launched, checked.
 *
 *     fused   out[i] = max(x[i] * scale + y[i], 0) * 0.5      tiles of 1024, one block each
 *     total   out[block] = sum of the block's 1024 elements of x
 *
 * Then the price of a client that builds its kernel at every call, as lazy arrays do: build, find, launch, on the CPU
 * device, with arrays of one tile.
 *
 *     cc examples/c/fused.c $(pkg-config --cflags --libs tessera) -lm && ./a.out [cached]
 *
 * `cached`: fails unless all code came from the cache on disk, which a run before has filled. Where there is a GPU the
 * kernels run there, too; under the mock driver (TESSERA_CUDA_DRIVER) they are launched but compute nothing.
 */
#include "example.h"
#include <math.h>

enum { TILE = 1024, N = 10000, BLOCKS = (N + TILE - 1) / TILE };

/* ---- building ------------------------------------------------------------------------------------- */

static void build_fused(ts_module *module, ts_builder *b)
{
    static const int64_t any = TS_DYNAMIC, one = 1, tile = TILE;
    ts_fn *fn = ts_fn_create(module, "fused", TS_LEVEL_T);
    ts_builder_reset(b, fn);
    ts_val x[3], y[3], out[3], view[3];
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, x);
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, y);
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, out);
    ts_val scale = ts_fn_param(b, TS_T_f32);
    const ts_val *arrays[3] = {x, y, out};
    for (int i = 0; i < 3; i++)
        view[i] = ts_partition_view(b, ts_tensor_view(b, arrays[i][0], 1, &any, &one, 1, &arrays[i][1]), &tile,
                                    TS_PAD_ZERO);
    ts_val at = ts_block_id(b, 0);
    ts_val a = ts_load_view(b, view[0], &at, 0), c = ts_load_view(b, view[1], &at, 0);
    ts_type type = ts_val_type(fn, a);
    ts_val sum = ts_op3(b, TS_OP_fma, a, ts_broadcast(b, scale, type), c, 0);
    ts_val positive = ts_op2(b, TS_OP_maxf, sum, ts_float(b, type, 0), 0);
    ts_store_view(b, view[2], ts_op2(b, TS_OP_mulf, positive, ts_float(b, type, 0.5), 0), &at, 0);
    ts_term(b, TS_OP_return, 0, NULL);
}

static void build_total(ts_module *module, ts_builder *b)
{
    static const int64_t any = TS_DYNAMIC, one = 1, tile = TILE, single = 1;
    static const uint64_t zero = 0x80000000u; /* -0 changes no sum */
    ts_fn *fn = ts_fn_create(module, "total", TS_LEVEL_T);
    ts_builder_reset(b, fn);
    ts_val x[3], out[3];
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, x);
    ts_fn_param_array(b, TS_T_f32, 1, TS_T_i32, out);
    ts_val from = ts_partition_view(b, ts_tensor_view(b, x[0], 1, &any, &one, 1, &x[1]), &tile, TS_PAD_ZERO);
    ts_val to = ts_partition_view(b, ts_tensor_view(b, out[0], 1, &any, &one, 1, &out[1]), &single, TS_PAD_UNDEF);
    ts_val at = ts_block_id(b, 0), loaded = ts_load_view(b, from, &at, 0);
    ts_val reduce = ts_reduce_begin(b, TS_OP_reduce, 0, false, 1, &loaded, &zero);
    ts_val sum = ts_op2(b, TS_OP_addf, ts_region_arg(fn, reduce, 0), ts_region_arg(fn, reduce, 1), 0);
    ts_term(b, TS_OP_yield, 1, &sum);
    ts_end_like(b, reduce);
    ts_type one_element = ts_type_tile(module, TS_T_f32, 1, &single);
    ts_store_view(b, to, ts_reshape(b, ts_res(b, reduce, 0), one_element), &at, 0);
    ts_term(b, TS_OP_return, 0, NULL);
}

/* ---- running --------------------------------------------------------------------------------------- */

static ts_kernel *kernel_of(const ts_module *module, const char *name, size_t n_arrays, bool has_scale)
{
    static const ts_param params[] = {
        {.flags = TS_PARAM_DENSE}, {.flags = TS_PARAM_DENSE}, {.flags = TS_PARAM_DENSE}, {.flags = 0}};
    const ts_param *first = params + (3 - n_arrays); /* arrays, then the scale */
    ts_kernel *kernel;
    ts_kernel_desc desc = {.name = name, .source = {.kind = TS_SOURCE_MODULE, .module = module}, .params = first,
                           .n_params = n_arrays + has_scale};
    check(ts_kernel_find(&desc, &kernel, &err), "find");
    return kernel;
}

static ts_arg vector_of(ts_device *device, void *data, const int64_t *shape)
{
    return array_of(device, TS_DTYPE_float32, 1, data, shape, NULL);
}

static ts_arg float_of(float value)
{
    ts_arg arg = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_float32};
    memcpy(&arg.value.bits, &value, sizeof value);
    return arg;
}

/* One launch; says where its code came from, and counts what came from the disk. */
static void launch(const ts_stream *stream, const char *name, ts_kernel *kernel, const ts_arg *args, size_t n,
                   uint64_t *n_from_disk)
{
    static const int64_t grid[3] = {BLOCKS, 1, 1};
    ts_kernel_stats before, after;
    ts_kernel_get_stats(kernel, &before);
    double begin = now_ns();
    check(ts_launch(stream, grid, kernel, args, n, 0, &err), name);
    double ns = now_ns() - begin;
    ts_kernel_get_stats(kernel, &after);
    bool is_disk = after.n_from_disk > before.n_from_disk, is_new = after.n_compiled > before.n_compiled;
    *n_from_disk += is_disk;
    printf("  %-6s %s, first launch %.2f ms\n", name, is_disk  ? "from the cache on disk"
                                                 : is_new ? "compiled"
                                                          : "from memory", ns / 1e6);
}

/* Both kernels on one device; the number of wrong elements. `*n_from_disk` grows by what the cache gave. */
static int run_on(ts_device *device, bool computes, uint64_t *n_from_disk)
{
    static float x[N], y[N], out[N], sums[BLOCKS];
    static const int64_t n = N, n_sums = BLOCKS;
    const ts_stream *stream = ts_device_default_stream(device);
    ts_module *module;
    ts_builder *b;
    int wrong = 0;
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 17), y[i] = (float)(i % 5) - 20;
    void *dx = upload(device, x, sizeof x), *dy = upload(device, y, sizeof y), *dout = upload(device, out, sizeof out);
    void *dsums = upload(device, sums, sizeof sums);

    check(ts_module_create(NULL, &module, &err), "module");
    check(ts_builder_create(ts_fn_create(module, "none", TS_LEVEL_T), &b, &err), "builder");
    check(ts_module_clear(module, &err), "clear");
    build_fused(module, b);
    check(ts_builder_status(b, &err), "build");
    check(ts_module_verify(module, &err), "verify");
    ts_kernel *fused = kernel_of(module, "fused", 3, true);
    ts_arg args[4] = {vector_of(device, dx, &n), vector_of(device, dy, &n), vector_of(device, dout, &n), float_of(2)};
    launch(stream, "fused", fused, args, 4, n_from_disk);

    check(ts_module_clear(module, &err), "clear");
    build_total(module, b);
    check(ts_builder_status(b, &err), "build");
    check(ts_module_verify(module, &err), "verify");
    ts_kernel *total = kernel_of(module, "total", 2, false);
    ts_arg two[2] = {vector_of(device, dout, &n), vector_of(device, dsums, &n_sums)};
    launch(stream, "total", total, two, 2, n_from_disk);

    check(ts_mem_copy(stream, out, TS_MEM_HOST, dout, TS_MEM_DEVICE, sizeof out, &err), "copy");
    check(ts_mem_copy(stream, sums, TS_MEM_HOST, dsums, TS_MEM_DEVICE, sizeof sums, &err), "copy");
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    float wanted[BLOCKS] = {0};
    for (int i = 0; i < N; i++) {
        float value = fmaxf(x[i] * 2 + y[i], 0) * 0.5f;
        wrong += out[i] != value;
        wanted[i / TILE] += value; /* small halves: any order of summing is exact */
    }
    for (int i = 0; i < BLOCKS; i++)
        wrong += sums[i] != wanted[i];
    ts_kernel_release(fused), ts_kernel_release(total);
    ts_builder_destroy(b);
    ts_module_destroy(module);
    ts_mem_free(device, stream, dx, sizeof x), ts_mem_free(device, stream, dy, sizeof y);
    ts_mem_free(device, stream, dout, sizeof out), ts_mem_free(device, stream, dsums, sizeof sums);
    return computes ? wrong : 0;
}

/* ---- what a step costs ------------------------------------------------------------------------------- */

enum { ROUNDS = 31, CALLS = 200 };

/* Medians of ROUNDS rounds of CALLS calls each, in nanoseconds: build; build and find; build, find and launch. */
static void price(ts_device *device)
{
    static float data[3][TILE];
    static const int64_t n = TILE, grid[3] = {1, 1, 1};
    static double ns[3][ROUNDS];
    ts_module *module;
    ts_builder *b;
    check(ts_module_create(NULL, &module, &err), "module");
    check(ts_builder_create(ts_fn_create(module, "none", TS_LEVEL_T), &b, &err), "builder");
    ts_arg args[4] = {vector_of(device, data[0], &n), vector_of(device, data[1], &n), vector_of(device, data[2], &n),
                      float_of(2)};
    for (int round = -1; round < ROUNDS; round++) /* round -1 warms up */
        for (int what = 0; what < 3; what++) {
            double begin = now_ns();
            for (int i = 0; i < CALLS; i++) {
                check(ts_module_clear(module, &err), "clear");
                build_fused(module, b);
                if (what == 0)
                    continue;
                ts_kernel *kernel = kernel_of(module, "fused", 3, true);
                if (what == 2)
                    check(ts_launch(NULL, grid, kernel, args, 4, 0, &err), "launch");
                ts_kernel_release(kernel);
            }
            if (round >= 0)
                ns[what][round] = (now_ns() - begin) / CALLS;
        }
    double build = median(ns[0], ROUNDS), find = median(ns[1], ROUNDS), all = median(ns[2], ROUNDS);
    printf("  build, 12 operations, 10 parameters  %6.0f ns\n  key and hit                          %6.0f ns\n"
           "  launch, one tile, with its work      %6.0f ns\n  together                             %6.0f ns\n",
           build, find - build, all - find, all);
    ts_builder_destroy(b);
    ts_module_destroy(module);
}

int main(int argc, char **argv)
{
    example e = {0};
    price(example_on(&e, TS_DEVICE_CPU, 2, run_on));
    example_on(&e, TS_DEVICE_CUDA, 2, run_on);
    return example_end(&e, argc, argv);
}
