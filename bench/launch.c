/* SPDX-License-Identifier: Apache-2.0
 *
 * Question: what does our launch path cost on top of the driver's own call, for three arrays of rank 1 whose
 * specialisation is known? Run with TESSERA_CUDA_DRIVER=.../libcuda_mock.so the driver costs nothing and the
 * whole time is ours (the budget is 0.3 us); on a GPU the plain cuLaunchKernel is measured beside it, turn by turn.
 * Prints one JSON line: nanoseconds per launch, median of 31 rounds of 200, and the quartiles.
 */
#include "device/cuda/cuda.h"
#include "tessera/array.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 31, LAUNCHES = 200 };

static const char bench_ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry entry(.param .u64 p0, .param .u32 p1, .param .u32 p2, .param .u64 p3, .param .u32 p4,\n"
    "  .param .u32 p5, .param .u64 p6, .param .u32 p7, .param .u32 p8) { ret; }\n";

static ts_status bench_compile(const ts_source *source, const ts_spec *spec, size_t n_spec,
                               const ts_hints *hints, ts_target target, const ts_alloc *alloc, ts_code *out,
                               ts_error *err)
{
    (void)source, (void)spec, (void)n_spec, (void)hints;
    *out = (ts_code){.plan = {.target = target,
                              .n_params = 9,
                              .param_bytes = {8, 4, 4, 8, 4, 4, 8, 4, 4},
                              .name = "entry",
                              .threads = 32},
                     .alloc = alloc};
    out->bytes = alloc->resize(alloc->user, NULL, 0, sizeof bench_ptx);
    if (!out->bytes)
        return ts_fail(err, TS_NOMEM, "out of memory");
    memcpy(out->bytes, bench_ptx, sizeof bench_ptx);
    out->n_bytes = sizeof bench_ptx;
    return TS_OK;
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void bench_check(ts_status status, const ts_error *err)
{
    if (status != TS_OK) {
        fprintf(stderr, "%s: %s\n", ts_status_name(status), err->text);
        exit(1);
    }
}

typedef struct bench {
    ts_device *device;
    ts_kernel *kernel;
    ts_program *program;
    ts_arg args[3];
    void *slots[9];
    uint64_t params[9];
    ts_error err;
} bench;

static void bench_ours(bench *b)
{
    static const int64_t grid[3] = {1, 1, 1};
    for (int i = 0; i < LAUNCHES; i++)
        bench_check(ts_launch(NULL, grid, b->kernel, b->args, 3, 0, &b->err), &b->err);
}

static void bench_driver(bench *b)
{
    const cuda_driver *fn = &cuda_of(b->device)->cuda->fn;
    cuda_function function = ((cuda_program *)b->program)->function;
    for (int i = 0; i < LAUNCHES; i++)
        if (fn->LaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, b->slots, NULL) != CUDA_OK)
            exit(1);
}

static double bench_time(bench *b, void (*what)(bench *))
{
    bench_check(ts_device_sync(b->device, TS_FOREVER, &b->err), &b->err);
    int64_t before = ts__now_ns();
    what(b);
    return (double)(ts__now_ns() - before) / LAUNCHES;
}

static void bench_prepare(bench *b)
{
    const int64_t shape[1] = {1000};
    ts_kernel_desc desc = {.name = "nothing", .source = {TS_SOURCE_CUSTOM, .compile = bench_compile}};
    ts_code code;
    ts_array *array;
    bench_check(ts_device_get(TS_DEVICE_CUDA, 0, &b->device, &b->err), &b->err);
    bench_check(ts_kernel_create(&desc, &b->kernel, &b->err), &b->err);
    for (int i = 0; i < 3; i++) {
        bench_check(ts_array_zeros(b->device, NULL, TS_DTYPE_float32, 1, shape, &array, &b->err), &b->err);
        ts_arg_of_array(array, &b->args[i]);
        b->params[3 * i] = (uintptr_t)array->data;
        b->params[3 * i + 1] = 1000;
        b->params[3 * i + 2] = 1;
    }
    for (int i = 0; i < 9; i++)
        b->slots[i] = &b->params[i];
    bench_check(bench_compile(NULL, NULL, 0, NULL, ts_device_target(b->device), ts_alloc_default(), &code, &b->err),
                &b->err);
    bench_check(ts_program_load(b->device, &code, "nothing", NULL, &b->program, &b->err), &b->err);
}

int main(void)
{
    static bench b;
    double ours[ROUNDS], driver[ROUNDS];
    ts_device_info info;
    bench_prepare(&b);
    bench_ours(&b); /* compiles and warms up */
    bench_driver(&b);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = bench_time(&b, bench_ours);
        driver[i] = bench_time(&b, bench_driver);
    }
    qsort(ours, ROUNDS, sizeof *ours, bench_compare);
    qsort(driver, ROUNDS, sizeof *driver, bench_compare);
    bench_check(ts_device_query(b.device, &info, &b.err), &b.err);
    printf("{\"bench\": \"launch\", \"device\": \"%s\", \"ours_ns\": %.0f, \"ours_q1\": %.0f, \"ours_q3\": %.0f, "
           "\"driver_ns\": %.0f, \"driver_q1\": %.0f, \"driver_q3\": %.0f, \"over_ns\": %.0f}\n",
           info.name, ours[ROUNDS / 2], ours[ROUNDS / 4], ours[3 * ROUNDS / 4], driver[ROUNDS / 2], driver[ROUNDS / 4],
           driver[3 * ROUNDS / 4], ours[ROUNDS / 2] - driver[ROUNDS / 2]);
    return 0;
}
