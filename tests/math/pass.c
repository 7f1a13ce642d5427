/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `math`: what it rewrites at which shape and target, flush to zero, approximate forms, integer
 * powers, and every function of the documented special values of C99 annex F.
 */
#include "math/flat.h"
#include "check.h"
#include "op_list.h"
#include "pass/pass.h"

static ts_error err;

typedef struct kit {
    ts_arena arena, scratch;
    ts_fn *fn;
    flat run;
} kit;

/* x [, y] -> op, stored; the function is verified, rewritten, verified again. */
static void kit_make(kit *k, ts_op op, ts_type x_type, ts_type y_type, uint32_t attr, ts_target target, bool fast)
{
    ts_hints hints = {.fastmath = fast};
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, ts_alloc_default());
    ts__arena_init(&k->scratch, ts_alloc_default());
    ts_module *m = ts__module_create(&k->arena);
    k->fn = ts_fn_create(m, "f", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, k->fn);
    ts_val x = ts_fn_param(&b, x_type), y = ts__ops[op].n_opnd == 2 ? ts_fn_param(&b, y_type) : 0;
    ts_val p = ts_fn_param(&b, ts_type_ptr(m, x_type, TS_GLOBAL));
    ts_val z = ts_emit(&b, op, x_type, ts__ops[op].n_opnd == 2 ? 2 : 1, (ts_val[]){x, y}, attr, 0);
    ts_emit(&b, TS_OP_store_ptr_tko, TS_T_token, 2, (ts_val[]){p, z}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    ts_pass_env env = {&k->scratch, target, &hints, NULL};
    CHECK_OK(ts_fn_verify(k->fn, &err));
    CHECK_OK(ts__pass_math(k->fn, &env, &err));
    CHECK_OK(ts_fn_verify(k->fn, &err));
}

/* The same on tiles: broadcast parameters, no store (the run is not wanted). */
static void kit_make_tile(kit *k, ts_op op, ts_type elem, ts_target target)
{
    static const ts_hints hints = {0};
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, ts_alloc_default());
    ts__arena_init(&k->scratch, ts_alloc_default());
    ts_module *m = ts__module_create(&k->arena);
    k->fn = ts_fn_create(m, "f", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, k->fn);
    int64_t dims[2] = {4, 8};
    ts_type type = ts_type_tile(m, elem, 2, dims);
    ts_type y_type = op == TS_OP_fpowi ? ts_type_tile(m, TS_T_i32, 2, dims) : type;
    ts_val x = ts_fn_param(&b, elem), y = ts_fn_param(&b, ts_type_elem(m, y_type));
    x = ts_broadcast(&b, x, type);
    y = ts_broadcast(&b, y, y_type);
    ts_emit(&b, op, type, ts__ops[op].n_opnd == 2 ? 2 : 1, (ts_val[]){x, y}, 0, 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    ts_pass_env env = {&k->scratch, target, &hints, NULL};
    CHECK_OK(ts__pass_math(k->fn, &env, &err));
    CHECK_OK(ts_fn_verify(k->fn, &err));
}

static uint32_t kit_count(const kit *k, ts_op op, uint32_t attr)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < k->fn->inst.n; v++)
        n += ts_at(k->fn, v)->op == op && ts_at(k->fn, v)->aux == attr;
    return n;
}

static void kit_end(kit *k)
{
    if (k->run.fn)
        flat_deinit(&k->run);
    ts__arena_deinit(&k->arena);
    ts__arena_deinit(&k->scratch);
}

/* The first lane of the rewritten function on x, y payloads. */
static uint64_t kit_call(kit *k, ts_type x_type, ts_type y_type, uint64_t x, uint64_t y)
{
    if (!k->run.fn)
        for (ts_val v = 1; v < k->fn->inst.n; v++)
            if (ts_at(k->fn, v)->op == TS_OP_store_ptr_tko)
                flat_init(&k->run, k->fn, ts_opnd(k->fn, v, 1));
    for (int i = 0; i < FLAT_N; i++) {
        flat_put(flat_param(&k->run, 0), x_type, i, x);
        if (y_type)
            flat_put(flat_param(&k->run, 1), y_type, i, y);
    }
    return flat_get(flat_run(&k->run), x_type, 0);
}

static void nothing_is_left_at_any_shape_type_and_target(void)
{
    static const ts_type types[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
    static const ts_target targets[] = {TS_TARGET_CPU, TS_TARGET_SM90};
    op_list ops = op_list_of(OP_FLOATS | 1u << TS_RULE_OWN, true);
    for (size_t o = 0; o < ops.n; o++)
        for (size_t i = 0; i < TS_COUNT(types) * TS_COUNT(targets); i++) {
            kit k;
            kit_make_tile(&k, ops.at[o], types[i % 4], targets[i / 4]);
            CHECK_INT(kit_count(&k, ops.at[o], 0), 0);
            kit_end(&k);
            kit_make(&k, ops.at[o], types[i % 4],
                     ops.at[o] == TS_OP_fpowi ? TS_T_i64 : types[i % 4], 0, targets[i / 4], false);
            CHECK_INT(kit_count(&k, ops.at[o], 0), 0);
            kit_end(&k);
        }
}

static void approximate_stays_native_on_gpu_only(void)
{
    kit k;
    kit_make(&k, TS_OP_exp2, TS_T_f32, 0, TS_APPROX, TS_TARGET_SM90, false);
    CHECK_INT(kit_count(&k, TS_OP_exp2, TS_APPROX), 1);
    kit_end(&k);
    kit_make(&k, TS_OP_exp, TS_T_f32, 0, TS_APPROX, TS_TARGET_SM90, false);
    CHECK_INT(kit_count(&k, TS_OP_exp2, TS_APPROX), 1);
    kit_end(&k);
    kit_make(&k, TS_OP_exp, TS_T_f32, 0, TS_APPROX, TS_TARGET_CPU, false);
    CHECK_INT(kit_count(&k, TS_OP_exp2, TS_APPROX) + kit_count(&k, TS_OP_exp, TS_APPROX), 0);
    kit_end(&k);
    kit_make(&k, TS_OP_sin, TS_T_f64, 0, TS_APPROX, TS_TARGET_SM90, false);
    CHECK_INT(kit_count(&k, TS_OP_sin, TS_APPROX), 0);
    kit_end(&k);
}

static void fastmath_makes_gpu_functions_approximate(void)
{
    kit k;
    kit_make(&k, TS_OP_cos, TS_T_f32, 0, 0, TS_TARGET_SM90, true);
    CHECK_INT(kit_count(&k, TS_OP_cos, TS_APPROX), 1);
    kit_end(&k);
    kit_make(&k, TS_OP_cos, TS_T_f32, 0, 0, TS_TARGET_CPU, true);
    CHECK_INT(kit_count(&k, TS_OP_cos, TS_APPROX), 0);
    kit_end(&k);
}

static void fastmath_covers_division_and_square_root(void)
{
    kit k;
    kit_make(&k, TS_OP_divf, TS_T_f32, TS_T_f32, 0, TS_TARGET_SM90, true);
    CHECK_INT(kit_count(&k, TS_OP_divf, TS_APPROX), 1);
    kit_end(&k);
    kit_make(&k, TS_OP_divf, TS_T_f32, TS_T_f32, TS_RZ, TS_TARGET_SM90, true);
    CHECK_INT(kit_count(&k, TS_OP_divf, TS_RZ), 1);
    kit_end(&k);
    kit_make(&k, TS_OP_sqrt, TS_T_f64, 0, 0, TS_TARGET_SM90, true);
    CHECK_INT(kit_count(&k, TS_OP_sqrt, 0), 1);
    kit_end(&k);
}

static void flush_to_zero_covers_arguments_and_results(void)
{
    kit k;
    kit_make(&k, TS_OP_exp2, TS_T_f32, 0, TS_A_FTZ, TS_TARGET_CPU, false);
    CHECK_INT(kit_call(&k, TS_T_f32, 0, ts_bits_of_f32(-130.0f), 0), 0);
    CHECK_INT(kit_call(&k, TS_T_f32, 0, ts_bits_of_f32(-126.0f), 0), 0x00800000);
    kit_end(&k);
    kit_make(&k, TS_OP_rsqrt, TS_T_f32, 0, TS_A_FTZ, TS_TARGET_CPU, false);
    CHECK_INT(kit_call(&k, TS_T_f32, 0, 0x00012345, 0), 0x7F800000);
    CHECK_INT(kit_call(&k, TS_T_f32, 0, 0x80012345, 0), 0xFF800000);
    kit_end(&k);
}

/* Greatest error of x^n over a grid, in ulps of f32 or f64. */
static double powi_error(kit *k, ts_type type, ts_type n_type)
{
    static const int64_t ns[] = {0,
                                 1,
                                 -1,
                                 2,
                                 3,
                                 -3,
                                 5,
                                 10,
                                 31,
                                 -64,
                                 100,
                                 127,
                                 -128,
                                 1000,
                                 16777217,
                                 -2147483647,
                                 2147483647,
                                 1LL << 40,
                                 -(1LL << 50) - 1,
                                 INT64_MAX,
                                 INT64_MIN};
    static const double xs[] = {0.0,  -0.0,   1,           -1,        2,          -2,
                                0.5,  1.5,    -3.25,       1.0000001, -0.9999999, 1e-3,
                                1e30, -1e-30, 1 + 0x1p-50, INFINITY,  -INFINITY};
    double worst = 0;
    for (size_t i = 0; i < TS_COUNT(ns); i++)
        for (size_t j = 0; j < TS_COUNT(xs); j++) {
            int64_t n = (int64_t)ts__scalar_wrap(n_type, (uint64_t)ns[i]);
            double x = type == TS_T_f32 ? (double)(float)xs[j] : xs[j];
            uint64_t bits = type == TS_T_f32 ? ts_bits_of_f32((float)x) : ts_bits_of_f64(x);
            uint64_t got = kit_call(k, type, n_type, bits, (uint64_t)n);
            double y = type == TS_T_f32 ? (double)ts_f32_of_bits(got) : ts_f64_of_bits(got);
            long double want = powl(fabsl((long double)x), (long double)n) * (signbit(x) && n % 2 ? -1 : 1);
            bool wide = type == TS_T_f64, sign = !!signbit(y) == !!signbit(want);
            int e = want == 0 ? 0 : TS_MAX(ilogbl(want) - (wide ? 52 : 23), wide ? -1074 : -149);
            if (fabsl(want) >= ldexpl(1, wide ? 1024 : 128) || want == 0)
                worst = sign && (want == 0 ? y == 0 : isinf(y)) ? worst : INFINITY;
            else {
                double error = (double)(fabsl((long double)y - want) / ldexpl(1, e));
                worst = error <= worst ? worst : error; /* NaN stays */
            }
        }
    return worst;
}

static void integer_powers_are_right_for_every_width(void)
{
    static const ts_type floats[] = {TS_T_f32, TS_T_f64}, ints[] = {TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
    for (size_t f = 0; f < TS_COUNT(floats); f++)
        for (size_t i = 0; i < TS_COUNT(ints); i++) {
            kit k;
            kit_make(&k, TS_OP_fpowi, floats[f], ints[i], 0, TS_TARGET_CPU, false);
            double worst = powi_error(&k, floats[f], ints[i]);
            printf("fpowi  %s^%s measured %.3f\n", ts_scalar_name(floats[f]), ts_scalar_name(ints[i]), worst);
            CHECK(worst <= 1.0);
            kit_end(&k);
        }
}

int main(void)
{
    nothing_is_left_at_any_shape_type_and_target();
    approximate_stays_native_on_gpu_only();
    fastmath_makes_gpu_functions_approximate();
    fastmath_covers_division_and_square_root();
    flush_to_zero_covers_arguments_and_results();
    integer_powers_are_right_for_every_width();
    return check_done();
}
