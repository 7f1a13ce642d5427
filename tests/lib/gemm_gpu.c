/* SPDX-License-Identifier: Apache-2.0
 *
 * Products from C on a GPU, where there is one: every dtype, layouts that are read as they are, transposed, swapped or
 * copied before, K in pieces, batches. Sums of small whole numbers are exact, so each element must be that of a loop.
 */
#include "matrix.h"
#include "tessera/device.h"
#include "tessera/lib.h"

static ts_error err;
static ts_device *gpu;

enum { CASES = 120, KINDS = 5 };

/* The same matrix in the GPU's memory. */
static ts_arg upload(const matrix *x)
{
    ts_arg arg = x->arg;
    arg.device = ts_device_id(gpu);
    CHECK_OK(ts_mem_alloc(gpu, NULL, x->bytes, &arg.value.data, &err));
    CHECK_OK(ts_mem_copy(ts_device_default_stream(gpu), arg.value.data, TS_MEM_DEVICE, x->memory, TS_MEM_HOST,
                         x->bytes, &err));
    return arg;
}

static void multiply(matrix *a, matrix *b, matrix *c, const char *what)
{
    ts_arg on_gpu[3] = {upload(a), upload(b), upload(c)};
    const ts_stream *stream = ts_device_default_stream(gpu);
    CHECK_OK(ts_gemm(stream, &on_gpu[0], &on_gpu[1], &on_gpu[2], 0, &err));
    CHECK_OK(ts_mem_copy(stream, c->memory, TS_MEM_HOST, on_gpu[2].value.data, TS_MEM_DEVICE, c->bytes, &err));
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    int64_t n_wrong = wrong(a, b, c);
    CHECK_INT(n_wrong, 0);
    if (n_wrong)
        fprintf(stderr, "  %s\n", what);
    ts_mem_free(gpu, NULL, on_gpu[0].value.data, a->bytes);
    ts_mem_free(gpu, NULL, on_gpu[1].value.data, b->bytes);
    ts_mem_free(gpu, NULL, on_gpu[2].value.data, c->bytes);
}

static int64_t pick(uint64_t *state, int64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*state >> 33) % (uint64_t)n);
}

/* Which plans were run, so that none stays untried. */
typedef struct tried {
    uint32_t kernels;
    int swapped, copied;
} tried;

/* The product of these as they lie on the GPU. */
static void product(matrix *a, matrix *b, matrix *c, tried *seen)
{
    char what[160];
    uint32_t r = a->arg.rank;
    snprintf(what, sizeof what, "%s, rank %u, %lld x %lld x %lld, strides of a %lld %lld, of b %lld %lld",
             ts_dtype_name((ts_dtype)a->arg.dtype), r, (long long)c->shape[r - 2], (long long)c->shape[r - 1],
             (long long)a->shape[r - 1], (long long)a->strides[r - 2], (long long)a->strides[r - 1],
             (long long)b->strides[r - 2], (long long)b->strides[r - 1]);
    ts_arg there = c->arg;
    there.device = ts_device_id(gpu);
    ts_gemm_desc desc = {.a = &a->arg, .b = &b->arg, .c = &there};
    ts_gemm_plan plan;
    CHECK_OK(ts_gemm_plan_make(&desc, &plan, &err));
    seen->kernels |= 1u << plan.kernel, seen->swapped += plan.swapped;
    seen->copied += plan.copies[0].unit >= 0 || plan.copies[1].unit >= 0;
    multiply(a, b, c, what);
    free(a->memory), free(b->memory), free(c->memory);
}

/* Extents from 1 to 300, deep ones to 6000 in few rows. */
static void random_case(uint64_t *state, tried *seen)
{
    static const ts_dtype dtypes[KINDS][2] = {{TS_DTYPE_float32, TS_DTYPE_float32},
                                              {TS_DTYPE_float64, TS_DTYPE_float64},
                                              {TS_DTYPE_float16, TS_DTYPE_float32},
                                              {TS_DTYPE_int8, TS_DTYPE_int32},
                                              {TS_DTYPE_float16, TS_DTYPE_float32}};
    const ts_dtype *dtype = dtypes[pick(state, KINDS)];
    bool is_deep = pick(state, 3) == 0, is_even = pick(state, 2) == 0;
    int64_t step = is_even ? 16 : 1, batch = pick(state, 4) ? 0 : 1 + pick(state, 3);
    int64_t m = step * (1 + pick(state, (is_deep ? 80 : 300) / step)), n = step * (1 + pick(state, 300 / step));
    int64_t k = step * (1 + pick(state, (is_deep ? 6000 : 300) / step));
    side of_a = pick(state, 2) ? ROWS : COLUMNS, of_b = pick(state, 2) ? ROWS : COLUMNS;
    int64_t gap = step * pick(state, 3);
    matrix a, b, c;
    lay(&a, dtype[0], batch, m, k, of_a, gap);
    lay(&b, dtype[0], batch, k, n, of_b, gap);
    lay(&c, dtype[1], batch, m, n, ROWS, pick(state, 2));
    product(&a, &b, &c, seen);
}

/* Few rows beside many columns: made as the transposed product. */
static void low_case(int64_t m, int64_t n, int64_t k, tried *seen)
{
    matrix a, b, c;
    lay(&a, TS_DTYPE_float16, 0, m, k, ROWS, 0);
    lay(&b, TS_DTYPE_float16, 0, k, n, ROWS, 0);
    lay(&c, TS_DTYPE_float32, 0, m, n, ROWS, 0);
    product(&a, &b, &c, seen);
}

int main(void)
{
    if (ts_device_get(TS_DEVICE_CUDA, 0, &gpu, &err) != TS_OK) {
        printf("skipped: %s\n", err.text);
        check_skipped = CASES;
        return check_done();
    }
    uint64_t state = 20261123;
    tried seen = {0};
    for (int i = 0; i < CASES; i++)
        random_case(&state, &seen);
    low_case(16, 4096, 512, &seen);
    low_case(136, 16, 14944, &seen);
    low_case(16, 2048, 4096, &seen);
    printf("%d swapped, %d with copies; kernels:", seen.swapped, seen.copied);
    for (int i = 0; i < TS_LIB_COUNT; i++)
        if (seen.kernels & 1u << i)
            printf(" %s", ts_lib_kernel_name((ts_lib_kernel)i));
    printf("\n");
    CHECK(seen.swapped && seen.copied);
    CHECK(seen.kernels & 1u << TS_LIB_split_gemm && seen.kernels & 1u << TS_LIB_batched_gemm);
    return check_done();
}
