/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms without Python: the library has their kernels, compiles them at the first call and keeps them.
 *
 *     total       the sum of n numbers, and their greatest, of as many as a count on the device says
 *     sums        the sums of the first numbers, of int8 in int32
 *     keys        in order, the greatest first; places go where their keys go
 *
 * Results are compared with loops of C. Then what calls cost, the first and the others.
 *
 *     cc examples/c/compute.c -Iinclude -Lbuild-test -ltessera && ./a.out [cached]
 *
 * Where there is a GPU all runs there, too; under the mock driver (TESSERA_CUDA_DRIVER) it is launched but computes
 * nothing. `cached` is taken as by the other programs; first calls show whether code came from the disk.
 */
#include "example.h"

enum { N = 100000, FEW = 70000, CALLS = 200, ROUNDS = 11, ALGORITHMS = 4 };

static float x[N], sorted[N], total[2];
static int8_t steps[N];
static int32_t sums[N], places[N], moved[N], count = FEW;

typedef struct problem {
    ts_device *device;
    ts_arg x, total, greatest, steps, sums, sorted, places, moved, count;
} problem;

static const int64_t n = N, one = 1;

static ts_arg vector(ts_device *device, ts_dtype dtype, const void *host, const int64_t *length)
{
    return array_of(device, dtype, 1, upload(device, host, (size_t)*length * ts_dtype_bytes(dtype)), length, NULL);
}

static void begin(problem *p, ts_device *device)
{
    p->device = device;
    p->x = vector(device, TS_DTYPE_float32, x, &n), p->sorted = vector(device, TS_DTYPE_float32, sorted, &n);
    p->total = vector(device, TS_DTYPE_float32, total, &one);
    p->greatest = vector(device, TS_DTYPE_float32, total, &one);
    p->steps = vector(device, TS_DTYPE_int8, steps, &n), p->sums = vector(device, TS_DTYPE_int32, sums, &n);
    p->places = vector(device, TS_DTYPE_int32, places, &n), p->moved = vector(device, TS_DTYPE_int32, moved, &n);
    p->count = vector(device, TS_DTYPE_int32, &count, &one);
}

/* One of them; NULL streams are the device's default stream. */
static void run(const problem *p, int which)
{
    ts_compute_options counted = {.count = &p->count}, descending = {.flags = TS_COMPUTE_DESCENDING};
    const ts_arg keys[] = {p->x, p->sorted}, values[] = {p->places, p->moved};
    if (which == 0)
        check(ts_reduce(NULL, &p->x, &p->total, TS_COMBINE_add, NULL, &err), "sum");
    else if (which == 1)
        check(ts_reduce(NULL, &p->x, &p->greatest, TS_COMBINE_max, &counted, &err), "greatest");
    else if (which == 2)
        check(ts_scan(NULL, &p->steps, &p->sums, TS_COMBINE_add, NULL, &err), "scan");
    else
        check(ts_sort(NULL, keys, values, &descending, &err), "sort");
}

static void download(const problem *p, void *host, const ts_arg *array)
{
    size_t bytes = (size_t)array->shape[0] * ts_dtype_bytes((ts_dtype)array->dtype);
    const ts_stream *stream = ts_device_default_stream(p->device);
    check(ts_mem_copy(stream, host, TS_MEM_HOST, array->value.data, TS_MEM_DEVICE, bytes, &err), "copy");
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
}

static int wrong_of(const problem *p)
{
    float sum = 0, greatest = x[0];
    int32_t running = 0;
    int wrong = 0;
    download(p, &total[0], &p->total), download(p, &total[1], &p->greatest), download(p, sums, &p->sums);
    download(p, sorted, &p->sorted), download(p, moved, &p->moved);
    for (int i = 0; i < N; i++) {
        sum += x[i];
        greatest = i < FEW && x[i] > greatest ? x[i] : greatest;
        wrong += sums[i] != (running += steps[i]);
        wrong += sorted[i] != x[moved[i]];
        wrong += i > 0 && (sorted[i] > sorted[i - 1] || (sorted[i] == sorted[i - 1] && moved[i] < moved[i - 1]));
    }
    return wrong + (total[0] != sum) + (total[1] != greatest);
}

static void price(const problem *p, int which)
{
    static const char *const names[] = {"ts_reduce, add", "ts_reduce, max, counted", "ts_scan", "ts_sort, pairs"};
    static double ns[ROUNDS];
    const ts_stream *stream = ts_device_default_stream(p->device);
    double start = now_ns();
    run(p, which);
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    double first = now_ns() - start;
    for (int round = 0; round < ROUNDS; round++) {
        start = now_ns();
        for (int i = 0; i < CALLS / ROUNDS; i++)
            run(p, which);
        ns[round] = (now_ns() - start) / (CALLS / ROUNDS); /* on a GPU: of the host */
        check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    }
    printf("  %-24s first call %7.2f ms, others %8.2f us\n", names[which], first / 1e6, median(ns, ROUNDS) / 1e3);
}

static int run_on(ts_device *device, bool computes, uint64_t *n_from_disk)
{
    problem p;
    (void)n_from_disk;
    begin(&p, device);
    for (int which = 0; which < ALGORITHMS; which++)
        price(&p, which);
    int wrong = computes ? wrong_of(&p) : 0;
    const ts_arg *const arrays[] = {&p.x, &p.total, &p.greatest, &p.steps, &p.sums, &p.sorted, &p.places, &p.moved,
                                    &p.count};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ts_mem_free(device, NULL, arrays[i]->value.data,
                    (uint64_t)arrays[i]->shape[0] * ts_dtype_bytes((ts_dtype)arrays[i]->dtype));
    return wrong;
}

int main(int argc, char **argv)
{
    example e = {0};
    for (int i = 0; i < N; i++) {
        x[i] = (float)((i * 7919 + 13) % 41 - 20); /* small whole numbers, whose sums are exact */
        steps[i] = (int8_t)(i % 11 - 5);
        places[i] = i;
    }
    example_on(&e, TS_DEVICE_CPU, 0, run_on);
    example_on(&e, TS_DEVICE_CUDA, 0, run_on);
    return example_end(&e, argc, argv);
}
