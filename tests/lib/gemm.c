/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products without Python: results on the CPU device against a double loop, plans of a GPU run there (copies,
 * transposed products, pieces of K), and what is refused.
 */
#include "lib/gemm.h"
#include "matrix.h"
#include <pthread.h>

static ts_error err;

/* ---- results --------------------------------------------------------------------------------------- */

static void products_are_those_of_a_double_loop(void)
{
    static const struct {
        ts_dtype dtype, sums;
        int64_t batch, m, n, k;
        side a, b;
    } cases[] = {
        {TS_DTYPE_float32, TS_DTYPE_float32, 0, 33, 70, 50, ROWS, ROWS},
        {TS_DTYPE_float32, TS_DTYPE_float64, 0, 33, 70, 50, COLUMNS, ROWS},
        {TS_DTYPE_float64, TS_DTYPE_float64, 0, 17, 5, 90, ROWS, COLUMNS},
        {TS_DTYPE_float16, TS_DTYPE_float32, 0, 64, 64, 33, COLUMNS, COLUMNS},
        {TS_DTYPE_int8, TS_DTYPE_int32, 0, 20, 40, 60, ROWS, ROWS},
        {TS_DTYPE_float32, TS_DTYPE_float32, 3, 20, 33, 10, ROWS, COLUMNS},
        {TS_DTYPE_float32, TS_DTYPE_float32, 0, 1, 1, 1, ROWS, ROWS},
        {TS_DTYPE_float32, TS_DTYPE_float32, 0, 5, 7, 0, ROWS, ROWS}, /* sums of nothing */
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        matrix a, b, c;
        lay(&a, cases[i].dtype, cases[i].batch, cases[i].m, cases[i].k, cases[i].a, 0);
        lay(&b, cases[i].dtype, cases[i].batch, cases[i].k, cases[i].n, cases[i].b, 3);
        lay(&c, cases[i].sums, cases[i].batch, cases[i].m, cases[i].n, ROWS, 1);
        for (int again = 0; again < 2; again++)
            CHECK_OK(ts_gemm(NULL, &a.arg, &b.arg, &c.arg, 0, &err));
        CHECK_INT(wrong(&a, &b, &c), 0);
        end(&a, &b, &c);
    }
}

/* What GPUs are given, as their kernels compute it on the CPU device. Which plan a product gets follows from the table
 * of costs (tests/golden/gemm_plans.txt); together they are of all kinds. */
static void plans_of_a_gpu_compute_the_product(void)
{
    static const struct {
        ts_dtype dtype;
        int64_t m, n, k;
        side a, b;
        int64_t gap;
        ts_target target;
        int64_t units;
    } cases[] = {
        {TS_DTYPE_int8, 16, 300, 33, ROWS, ROWS, 0, TS_TARGET_SM90, 2},
        {TS_DTYPE_int8, 16, 40, 64, COLUMNS, COLUMNS, 0, TS_TARGET_SM80, 108},
        {TS_DTYPE_int8, 17, 300, 64, ROWS, COLUMNS, 0, TS_TARGET_SM90, 4},
        {TS_DTYPE_int8, 16, 128, 64, ROWS, ROWS, 0, TS_TARGET_SM90, 2},
        {TS_DTYPE_int8, 200, 16, 64, ROWS, ROWS, 0, TS_TARGET_SM90, 1},
        {TS_DTYPE_float16, 16, 40, 512, ROWS, ROWS, 1, TS_TARGET_SM90, 132},
        {TS_DTYPE_float16, 16, 40, 33, ROWS, ROWS, 1, TS_TARGET_SM90, 132},
        {TS_DTYPE_float16, 40, 16, 8191, ROWS, ROWS, 0, TS_TARGET_SM80, 108},
        {TS_DTYPE_float16, 16, 384, 33, COLUMNS, ROWS, 0, TS_TARGET_SM90, 2},
        {TS_DTYPE_float16, 130, 320, 72, ROWS, ROWS, 0, TS_TARGET_SM90, 1},
        {TS_DTYPE_float16, 100, 600, 136, COLUMNS, ROWS, 0, TS_TARGET_SM90, 4},
        {TS_DTYPE_float16, 16, 80, 2048, COLUMNS, ROWS, 0, TS_TARGET_SM80, 108},
        {TS_DTYPE_float16, 40, 48, 2048, ROWS, ROWS, 0, TS_TARGET_SM90, 4},
    };
    uint32_t kernels = 0, copied = 0, swapped = 0;
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        matrix a, b, c;
        gemm_ready ready;
        lay(&a, cases[i].dtype, 0, cases[i].m, cases[i].k, cases[i].a, cases[i].gap);
        lay(&b, cases[i].dtype, 0, cases[i].k, cases[i].n, cases[i].b, cases[i].gap);
        lay(&c, TS_DTYPE_float32, 0, cases[i].m, cases[i].n, ROWS, 0);
        ts_gemm_desc desc = {&a.arg, &b.arg, &c.arg, .target = cases[i].target, .units = cases[i].units};
        CHECK_OK(ts__gemm_make_ready(&desc, &ready, &err));
        const ts_gemm_plan *plan = &ready.plan;
        kernels |= 1u << plan->kernel;
        swapped |= 1u << plan->swapped;
        copied |= 1u << ((plan->copies[0].unit >= 0) + 2 * (plan->copies[1].unit >= 0));
        const ts_arg arrays[] = {a.arg, b.arg, c.arg};
        CHECK_OK(ts__gemm_run(NULL, &ready, arrays, &err));
        CHECK_INT(wrong(&a, &b, &c), 0);
        end(&a, &b, &c);
    }
    CHECK_INT(kernels, 1u << TS_LIB_gemm | 1u << TS_LIB_wide_gemm | 1u << TS_LIB_slender_gemm |
                           1u << TS_LIB_split_gemm | 1u << TS_LIB_wide_split_gemm | 1u << TS_LIB_raw_gemm |
                           1u << TS_LIB_raw_split_gemm);
    CHECK_INT(swapped, 3);
    CHECK((copied & 9) == 9 && copied & 6); /* none, both, one */
}

/* Products of some shapes, all threads at once, so that plans are found while others are kept. */
static void *multiply_some(void *out)
{
    int64_t *n_wrong = out;
    for (int64_t i = 0; i < 24; i++) {
        matrix a, b, c;
        ts_error mine;
        lay(&a, TS_DTYPE_float32, 0, 1 + i % 12, 9, ROWS, 0);
        lay(&b, TS_DTYPE_float32, 0, 9, 8, ROWS, 0);
        lay(&c, TS_DTYPE_float32, 0, 1 + i % 12, 8, ROWS, 0);
        *n_wrong += ts_gemm(NULL, &a.arg, &b.arg, &c.arg, 0, &mine) != TS_OK;
        *n_wrong += wrong(&a, &b, &c);
        end(&a, &b, &c);
    }
    return NULL;
}

static void threads_share_plans(void)
{
    pthread_t threads[4];
    int64_t n_wrong[4] = {0};
    for (int i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, multiply_some, &n_wrong[i]), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_INT(n_wrong[i], 0);
    }
}

/* Every kernel can be compiled from its pack, for arrays of the ranks that it takes. */
static void every_kernel_of_the_library_is_packed(void)
{
    for (int i = 0; i < TS_LIB_COUNT; i++) {
        ts_kernel *kernel, *again;
        ts_kernel_desc desc;
        char *text = NULL;
        size_t n;
        ts_spec spec[16] = {0};
        CHECK_OK(ts_lib_kernel_desc((ts_lib_kernel)i, &desc, &err));
        for (size_t p = 0; p < desc.n_params; p++) {
            bool is_constant = desc.params[p].flags & TS_PARAM_CONSTANT, is_row = !strcmp(desc.params[p].name, "bias");
            bool is_cube = i == TS_LIB_batched_gemm || !strcmp(desc.params[p].name, "parts") ||
                           (i == TS_LIB_grouped_gemm && p == 1);
            spec[p] = (ts_spec){.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .index_bits = 32,
                                .rank = is_row ? 1 : is_cube ? 3 : 2};
            if (i == TS_LIB_grouped_gemm && p == 2)
                spec[p].rank = 1, spec[p].dtype = TS_DTYPE_int32;
            if (is_constant)
                spec[p] = (ts_spec){.kind = desc.params[p].flags & TS_PARAM_BOOL ? TS_SPEC_BOOL : TS_SPEC_INT,
                                    .value = desc.params[p].flags & TS_PARAM_BOOL ? 0 : 16};
        }
        CHECK_OK(ts_lower_text(desc.source.bytes, desc.source.n, spec, desc.n_params, &desc.hints, NULL, &text, &n,
                               &err));
        CHECK(text && strstr(text, desc.name));
        if (text)
            ts_alloc_default()->resize(NULL, text, n + 1, 0);
        CHECK_OK(ts_lib_kernel_get((ts_lib_kernel)i, NULL, &kernel, &err));
        CHECK_OK(ts_lib_kernel_get((ts_lib_kernel)i, &desc.hints, &again, &err));
        CHECK(kernel == again);
        CHECK_STR(ts_kernel_name(kernel), desc.name);
    }
}

/* ---- what is refused ------------------------------------------------------------------------------- */

/* Of a good product one thing is made wrong; c is as it was. */
typedef struct product {
    matrix a, b, c;
    const ts_arg *args[3];
    uint32_t flags;
} product;

static void begin(product *p)
{
    p->args[0] = &lay(&p->a, TS_DTYPE_float32, 0, 4, 6, ROWS, 0)->arg;
    p->args[1] = &lay(&p->b, TS_DTYPE_float32, 0, 6, 8, ROWS, 0)->arg;
    p->args[2] = &lay(&p->c, TS_DTYPE_float32, 0, 4, 8, ROWS, 0)->arg;
    p->flags = 0;
}

static void refused(product *p, ts_status status, const char *text)
{
    float before[32];
    memcpy(before, p->c.memory, sizeof before);
    err.text[0] = 0;
    CHECK_INT(ts_gemm(NULL, p->args[0], p->args[1], p->args[2], p->flags, &err), status);
    if (!strstr(err.text, text))
        CHECK_STR(err.text, text);
    CHECK(memcmp(before, p->c.memory, sizeof before) == 0);
    end(&p->a, &p->b, &p->c);
}

static void arrays_that_do_not_fit_are_refused(void)
{
    product p;
    for (int i = 0; i < 3; i++) {
        begin(&p), p.args[i] = NULL, refused(&p, TS_VALUE, "is NULL; pass an array");
        begin(&p), (i ? i > 1 ? &p.c : &p.b : &p.a)->arg.kind = TS_SPEC_INT, refused(&p, TS_TYPE, "is not an array");
        begin(&p), (i ? i > 1 ? &p.c : &p.b : &p.a)->arg.shape = NULL, refused(&p, TS_VALUE, "is NULL; pass 2 extents");
        begin(&p), (i ? i > 1 ? &p.c : &p.b : &p.a)->arg.rank = 1, refused(&p, TS_SHAPE, "has 1 axes, wanted 2");
    }
    begin(&p), p.b.shape[0] = 5, refused(&p, TS_SHAPE, "b has shape (5, 8), wanted (6, 8)");
    begin(&p), p.c.shape[1] = 7, refused(&p, TS_SHAPE, "c has shape (4, 7), wanted (4, 8)");
    begin(&p), p.a.shape[0] = -4, refused(&p, TS_SHAPE, "extent -4 of a");
    begin(&p), p.a.shape[0] = INT64_MAX, refused(&p, TS_SHAPE, "2^56 elements");
    begin(&p), p.a.shape[0] = p.a.shape[1] = (int64_t)1 << 40, refused(&p, TS_SHAPE, "2^56 elements");
    begin(&p), p.b.strides[0] = -8, refused(&p, TS_VALUE, "axis 0 of b has a negative stride");
    begin(&p), p.a.strides[0] = INT64_MAX, refused(&p, TS_VALUE, "");
    begin(&p), p.b.arg.rank = 3, p.b.shape[2] = 1, refused(&p, TS_SHAPE, "b has shape (6, 8, 1), wanted (6, 6, 1)");
}

static void dtypes_that_lose_something_are_refused(void)
{
    product p;
    begin(&p), p.a.arg.dtype = TS_DTYPE_NONE, refused(&p, TS_TYPE, "the dtype of a is 0");
    begin(&p), p.a.arg.dtype = 200, refused(&p, TS_TYPE, "the dtype of a is 200");
    begin(&p), p.a.arg.dtype = p.b.arg.dtype = TS_DTYPE_int32, refused(&p, TS_TYPE, "a is of int32, wanted int8");
    begin(&p), p.b.arg.dtype = TS_DTYPE_float16, refused(&p, TS_TYPE, "b is of float16, wanted float32, the dtype");
    begin(&p), p.c.arg.dtype = TS_DTYPE_int32, refused(&p, TS_TYPE, "does not hold sums of float32; wanted a float");
    begin(&p), p.a.arg.dtype = p.b.arg.dtype = TS_DTYPE_int8, p.c.arg.dtype = TS_DTYPE_int8;
    refused(&p, TS_TYPE, "wanted a float, int32 or int64");
}

static void memory_that_is_shared_is_refused(void)
{
    product p;
    begin(&p), p.c.arg.value.data = p.a.memory, refused(&p, TS_VALUE, "c shares memory with a");
    begin(&p), p.c.arg.value.data = (float *)p.b.memory + 3, refused(&p, TS_VALUE, "c shares memory with b");
    begin(&p), p.c.arg.readonly = 1, refused(&p, TS_VALUE, "c is read-only");
    begin(&p), p.c.strides[0] = 0, refused(&p, TS_VALUE, "elements of c along axis 0 share memory");
    begin(&p), p.a.arg.value.data = NULL, refused(&p, TS_VALUE, "address");
    begin(&p), p.b.arg.device = TS_DEVICE_ID(TS_DEVICE_CUDA, 0), refused(&p, TS_VALUE, "b and c are on different");
    begin(&p), p.flags = 64, refused(&p, TS_VALUE, "flags are 0x40");
    begin(&p), p.flags = TS_GEMM_GELU, refused(&p, TS_VALUE, "GELU takes a bias");
}

static void products_without_elements_do_nothing(void)
{
    product p;
    begin(&p);
    p.a.shape[0] = p.c.shape[0] = 0;
    p.c.arg.value.data = NULL;
    CHECK_OK(ts_gemm(NULL, p.args[0], p.args[1], p.args[2], 0, &err));
    end(&p.a, &p.b, &p.c);
}

static void bad_requests_of_plans_and_kernels_are_refused(void)
{
    product p;
    ts_gemm_plan plan;
    ts_kernel *kernel;
    ts_kernel_desc desc;
    begin(&p);
    ts_gemm_desc asked = {p.args[0], p.args[1], p.args[2], .target = TS_TARGET_SM90};
    CHECK_INT(ts_gemm_plan_make(&asked, &plan, &err), TS_VALUE); /* no units */
    asked.units = INT64_MAX;
    CHECK_INT(ts_gemm_plan_make(&asked, &plan, &err), TS_VALUE);
    asked.units = 132, asked.tile[0] = 16;
    CHECK_INT(ts_gemm_plan_make(&asked, &plan, &err), TS_VALUE);
    CHECK(strstr(err.text, "tile is (16, 0, 0), wanted 3 powers of two") != NULL);
    asked.tile[1] = 32, asked.tile[2] = 16, asked.group = 4;
    CHECK_OK(ts_gemm_plan_make(&asked, &plan, &err));
    CHECK(plan.constants[1] == 32 && plan.constants[3] == 4 && plan.grid[0] == 1);
    asked.flags = TS_GEMM_GELU;
    CHECK_INT(ts_gemm_plan_make(&asked, &plan, &err), TS_VALUE);
    asked.flags = 0, asked.target = (ts_target)7;
    CHECK_INT(ts_gemm_plan_make(&asked, &plan, &err), TS_VALUE);
    CHECK(strstr(err.text, "target is 7, wanted 0 for that of c's device, or one of 1 (cpu), 80 (sm_80)") != NULL);
    CHECK(strstr(err.text, ", 120 (sm_120)") != NULL);
    CHECK_INT(ts_lib_kernel_get((ts_lib_kernel)TS_LIB_COUNT, NULL, &kernel, &err), TS_VALUE);
    CHECK_INT(ts_lib_kernel_desc((ts_lib_kernel)-1, &desc, &err), TS_VALUE);
    CHECK(kernel == NULL && ts_lib_kernel_name((ts_lib_kernel)99) == NULL);
    end(&p.a, &p.b, &p.c);
}

int main(void)
{
    products_are_those_of_a_double_loop();
    plans_of_a_gpu_compute_the_product();
    threads_share_plans();
    every_kernel_of_the_library_is_packed();
    arrays_that_do_not_fit_are_refused();
    dtypes_that_lose_something_are_refused();
    memory_that_is_shared_is_refused();
    products_without_elements_do_nothing();
    bad_requests_of_plans_and_kernels_are_refused();
    return check_done();
}
