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

/* Extents from 1 to 300, deep ones to 6000 in few rows; `kinds`: which were taken, so that none stays untried. */
static void random_case(uint64_t *state, uint32_t *kernels, int *n_swapped, int *n_copied)
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
    char what[160];
    lay(&a, dtype[0], batch, m, k, of_a, gap);
    lay(&b, dtype[0], batch, k, n, of_b, gap);
    lay(&c, dtype[1], batch, m, n, ROWS, pick(state, 2));
    snprintf(what, sizeof what, "%s, batch %lld, %lld x %lld x %lld, a by %s, b by %s, gap %lld",
             ts_dtype_name(dtype[0]), (long long)batch, (long long)m, (long long)n, (long long)k,
             of_a == ROWS ? "rows" : "columns", of_b == ROWS ? "rows" : "columns", (long long)gap);
    ts_arg c_there = c.arg;
    c_there.device = ts_device_id(gpu);
    ts_gemm_desc desc = {.a = &a.arg, .b = &b.arg, .c = &c_there};
    ts_gemm_plan plan;
    CHECK_OK(ts_gemm_plan_make(&desc, &plan, &err));
    *kernels |= 1u << plan.kernel, *n_swapped += plan.swapped;
    *n_copied += plan.copies[0].unit >= 0 || plan.copies[1].unit >= 0;
    multiply(&a, &b, &c, what);
    free(a.memory), free(b.memory), free(c.memory);
}

int main(void)
{
    if (ts_device_get(TS_DEVICE_CUDA, 0, &gpu, &err) != TS_OK) {
        printf("skipped: %s\n", err.text);
        check_skipped = CASES;
        return check_done();
    }
    uint64_t state = 20261123;
    uint32_t kernels = 0;
    int n_swapped = 0, n_copied = 0;
    for (int i = 0; i < CASES; i++)
        random_case(&state, &kernels, &n_swapped, &n_copied);
    printf("%d swapped, %d with copies; kernels:", n_swapped, n_copied);
    for (int i = 0; i < TS_LIB_COUNT; i++)
        if (kernels & 1u << i)
            printf(" %s", ts_lib_kernel_name((ts_lib_kernel)i));
    printf("\n");
    CHECK(n_swapped && n_copied && kernels & 1u << TS_LIB_split_gemm && kernels & 1u << TS_LIB_batched_gemm);
    return check_done();
}
