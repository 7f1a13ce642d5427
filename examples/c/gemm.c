/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products without Python: asked for by shape and dtype, planned, compiled, kept and launched by the library.
 *
 *     c = a @ b      a (300, 200) read transposed, b (200, 260), of float32; and four such products in a batch
 *
 * Then what each step costs: a plan for an H200 and for this CPU, finding the kernel, a whole call with its plan known.
 *
 *     cc examples/c/gemm.c -Iinclude -Lbuild-test -ltessera && ./a.out [cached]
 *
 * `cached`: fails unless all code came from the cache on disk, which a run before has filled. Where there is a GPU the
 * products run there, too; under the mock driver (TESSERA_CUDA_DRIVER) they are launched but compute nothing.
 */
#include "example.h"

enum { M = 300, N = 260, K = 200, BATCH = 4 };

static float a[BATCH * M * K], b[BATCH * K * N], c[BATCH * M * N];

/* Matrices of one batch; the last two of the axes of a are exchanged, which costs nothing. */
static const int64_t shape_a[] = {BATCH, M, K}, shape_b[] = {BATCH, K, N}, shape_c[] = {BATCH, M, N};
static const int64_t strides_a[] = {M * K, 1, M};

static ts_arg matrix_of(ts_device *device, uint8_t rank, void *data, const int64_t *shape, const int64_t *strides)
{
    return array_of(device, TS_DTYPE_float32, rank, data, shape, strides);
}

/* Elements of c that are not those of a double loop; inputs are small whole numbers, so sums are exact. */
static int wrong_of(int batch)
{
    int wrong = 0;
    for (int i = 0; i < batch; i++)
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                float sum = 0;
                for (int k = 0; k < K; k++)
                    sum += a[i * M * K + k * M + m] * b[i * K * N + k * N + n];
                wrong += c[i * M * N + m * N + n] != sum;
            }
    return wrong;
}

/* The batch, or its first product (rank 2). Returns wrong elements; `*n_from_disk` grows by what the cache gave. */
static int multiply(ts_device *device, uint8_t rank, void *const memory[3], bool computes, uint64_t *n_from_disk)
{
    int skip = 3 - rank;
    const ts_stream *stream = ts_device_default_stream(device);
    ts_arg x = matrix_of(device, rank, memory[0], shape_a + skip, strides_a + skip);
    ts_arg y = matrix_of(device, rank, memory[1], shape_b + skip, NULL);
    ts_arg z = matrix_of(device, rank, memory[2], shape_c + skip, NULL);

    ts_gemm_desc desc = {.a = &x, .b = &y, .c = &z}; /* only to show what will run */
    ts_gemm_plan plan;
    ts_kernel *kernel;
    ts_kernel_stats before, after;
    check(ts_gemm_plan_make(&desc, &plan, &err), "plan");
    check(ts_lib_kernel_get(plan.kernel, &plan.hints, &kernel, &err), "kernel");
    ts_kernel_get_stats(kernel, &before);

    double begin = now_ns();
    check(ts_gemm(NULL, &x, &y, &z, 0, &err), "product");
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    double first = now_ns() - begin;

    ts_kernel_get_stats(kernel, &after);
    bool is_disk = after.n_from_disk > before.n_from_disk;
    *n_from_disk += is_disk;
    printf("  %-12s tile %lld x %lld x %lld, %lld blocks, %s, first call %.2f ms\n", ts_lib_kernel_name(plan.kernel),
           (long long)plan.constants[0], (long long)plan.constants[1], (long long)plan.constants[2],
           (long long)plan.grid[0], is_disk ? "from the cache on disk" : "compiled", first / 1e6);
    size_t bytes = sizeof c / (rank == 3 ? 1 : BATCH);
    check(ts_mem_copy(stream, c, TS_MEM_HOST, memory[2], TS_MEM_DEVICE, bytes, &err), "copy");
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    return computes ? wrong_of(rank == 3 ? BATCH : 1) : 0;
}

static int run_on(ts_device *device, bool computes, uint64_t *n_from_disk)
{
    void *memory[3] = {upload(device, a, sizeof a), upload(device, b, sizeof b), upload(device, c, sizeof c)};
    int wrong = multiply(device, 2, memory, computes, n_from_disk) + multiply(device, 3, memory, computes, n_from_disk);
    ts_mem_free(device, NULL, memory[0], sizeof a), ts_mem_free(device, NULL, memory[1], sizeof b);
    ts_mem_free(device, NULL, memory[2], sizeof c);
    return wrong;
}

/* ---- what a step costs ----------------------------------------------------------------------------- */

enum { ROUNDS = 21, CALLS = 200, STEPS = 4 };

/* Step `what` once. The product of the last one is tiny: 8 x 16 x 8. */
static void step(int what, ts_device *device)
{
    static const int64_t large[] = {4096, 4096}, of_x[] = {8, 8}, of_y[] = {8, 16}, of_z[] = {8, 16};
    ts_arg big = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float16, .rank = 2, .shape = large};
    ts_arg x = matrix_of(device, 2, a, of_x, NULL), y = matrix_of(device, 2, b, of_y, NULL);
    ts_arg z = matrix_of(device, 2, c, of_z, NULL);
    ts_gemm_desc desc = {.a = &big, .b = &big, .c = &big, .target = what ? TS_TARGET_CPU : TS_TARGET_SM90,
                         .units = what ? 8 : 132};
    ts_gemm_plan plan;
    ts_kernel *kernel;
    if (what < 2)
        check(ts_gemm_plan_make(&desc, &plan, &err), "plan");
    else if (what == 2)
        check(ts_lib_kernel_get(TS_LIB_gemm, NULL, &kernel, &err), "kernel");
    else
        check(ts_gemm(NULL, &x, &y, &z, 0, &err), "product");
}

static void price(ts_device *device)
{
    static const char *const names[STEPS] = {"plan for an H200, 4096 x 4096 x 4096", "plan for a CPU",
                                             "kernel by name and hints", "call with its plan known, and its work"};
    static double ns[ROUNDS];
    for (int what = 0; what < STEPS; what++) {
        for (int round = -1; round < ROUNDS; round++) { /* round -1 warms up */
            double begin = now_ns();
            for (int i = 0; i < CALLS; i++)
                step(what, device);
            if (round >= 0)
                ns[round] = (now_ns() - begin) / CALLS;
        }
        printf("  %-40s %8.0f ns\n", names[what], median(ns, ROUNDS));
    }
}

int main(int argc, char **argv)
{
    example e = {0};
    for (int i = 0; i < BATCH * M * K; i++)
        a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < BATCH * K * N; i++)
        b[i] = (float)(i % 5 - 2);
    price(example_on(&e, TS_DEVICE_CPU, 2, run_on));
    example_on(&e, TS_DEVICE_CUDA, 2, run_on);
    return example_end(&e, argc, argv);
}
