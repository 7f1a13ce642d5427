/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products that legalize writes in other types: evaluated before and after, on the same arrays.
 * Operands are small, so that every sum is exact and the bits must be equal.
 */
#include "../target/llvm_run.h"
#include "pass/pass.h"

typedef struct product {
    ts_type elem, scale; /* scale 0: plain mmaf */
    int64_t block;
} product;

/* An array parameter of codes of small numbers; scales are next to one. */
static ts_val numbers(run *r, ts_type elem, int64_t n)
{
    ts_val p = run_array(r, elem, n);
    for (int64_t i = 0; i < n; i++) {
        double x = elem == TS_T_f8E8M0FNU ? (double)(1 << i % 3) : (double)(i * 5 % 9) / 2 - 2;
        ts__scalar_store(NULL, elem, r->array[r->n_arrays - 1].eval, i, ts__float_from_f64(elem, x, TS_RN));
    }
    return p;
}

/* The whole array as one tile. */
static ts_val tile_of(run *r, ts_val p, ts_type elem, int64_t rows, int64_t cols)
{
    int64_t dims[2] = {rows, cols};
    ts_val zero = ts_int(&r->b, TS_T_i32, 0), at[2] = {zero, zero};
    return run_load(r, run_view(r, p, elem, 2, dims, dims), run_tile(r, elem, 2, dims), 2, at);
}

static void product_build(run *r, const product *c)
{
    enum { M = 16, N = 8, K = 64 };
    int64_t dims[2] = {M, N}, parts = c->scale ? K / c->block : 1;
    ts_type scale = c->scale ? c->scale : TS_T_f32;
    run_begin(r);
    ts_val out = run_array(r, TS_T_f32, M * N), a = numbers(r, c->elem, M * K), b = numbers(r, c->elem, K * N);
    ts_val acc = numbers(r, TS_T_f32, M * N), sa = numbers(r, scale, M * parts), sb = numbers(r, scale, parts * N);
    ts_val x[5] = {tile_of(r, a, c->elem, M, K), tile_of(r, b, c->elem, K, N), tile_of(r, acc, TS_T_f32, M, N),
                   tile_of(r, sa, scale, M, parts), tile_of(r, sb, scale, parts, N)};
    ts_val d = ts_emit(&r->b, c->scale ? TS_OP_mmaf_scaled : TS_OP_mmaf,
                       run_tile(r, TS_T_f32, 2, dims), c->scale ? 5 : 3, x, 0, 0);
    ts_val zero = ts_int(&r->b, TS_T_i32, 0), at[2] = {zero, zero};
    run_store(r, run_view(r, out, TS_T_f32, 2, dims, dims), d, 2, at);
    ts_term(&r->b, TS_OP_return, 0, NULL);
}

static void products_are_equal_after_legalize(const product *c, ts_target target)
{
    static const ts_hints hints = {0};
    ts_error err = {0};
    run before, after;
    product_build(&before, c);
    product_build(&after, c);
    ts_pass_env env = {&after.arena, target, &hints, NULL};
    CHECK_OK(ts__pass_legalize(after.fn, &env, &err));
    CHECK(run_eval(&before) && run_eval(&after));
    CHECK(memcmp(before.array[0].eval, after.array[0].eval, 16 * 8 * 4) == 0);
    CHECK(((const float *)before.array[0].eval)[3] != 0);
    uint32_t left = 0;
    for (ts_val v = 1; v < after.fn->inst.n; v++)
        left += ts_at(after.fn, v)->op == TS_OP_mmaf_scaled;
    CHECK_INT(left, 0);
    run_end(&before);
    run_end(&after);
}

int main(void)
{
    static const product products[] = {{TS_T_f8E4M3FN, 0, 0},
                                       {TS_T_f8E5M2, 0, 0},
                                       {TS_T_f8E4M3FN, TS_T_f8E8M0FNU, 32},
                                       {TS_T_f8E5M2, TS_T_f8E8M0FNU, 32},
                                       {TS_T_f4E2M1FN, TS_T_f8E8M0FNU, 32},
                                       {TS_T_f4E2M1FN, TS_T_f8E4M3FN, 16}};
    static const ts_target targets[] = {TS_TARGET_CPU, TS_TARGET_SM80, TS_TARGET_SM90};
    for (size_t p = 0; p < TS_COUNT(products); p++)
        for (size_t t = 0; t < TS_COUNT(targets); t++)
            products_are_equal_after_legalize(&products[p], targets[t]);
    return check_done();
}
