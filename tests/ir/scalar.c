/* SPDX-License-Identifier: Apache-2.0
 * Elementwise operations on payloads (src/ir/scalar.c, src/ir/float.c). */
#include "ir/float.h"
#include "ir/scalar.h"
#include "check.h"
#include <fenv.h>
#include <math.h>

typedef struct sc_case {
    ts_op op;
    uint32_t attr;
    ts_type from, to;
    uint64_t x[3], wanted;
} sc_case;

#define F(x) ts_bits_of_f32(x)
#define D(x) ts_bits_of_f64(x)
#define U TS_A_UNSIGNED
#define ONES (~(uint64_t)0)
#define TRUE 1
#define LT TS_A_PRED(TS_LT)
#define NAN32 0x7FC00000u
#define INF32 0x7F800000u

/* One line for each fact about an operation; every elementwise op must appear. */
enum { SC_MAX = 256 };
static size_t sc_list(sc_case out[SC_MAX])
{
    const sc_case cases[] = {
        {TS_OP_absf, 0, TS_T_f32, TS_T_f32, {F(-2.0f)}, F(2.0f)},
        {TS_OP_absf, 0, TS_T_f16, TS_T_f16, {0x8000}, 0},
        {TS_OP_negf, 0, TS_T_f64, TS_T_f64, {D(0.0)}, D(-0.0)},
        {TS_OP_negf, 0, TS_T_f32, TS_T_f32, {0x7FC00001}, 0xFFC00001},
        {TS_OP_ceil, 0, TS_T_f32, TS_T_f32, {F(-0.5f)}, F(-0.0f)},
        {TS_OP_floor, 0, TS_T_bf16, TS_T_bf16, {0xBF00}, 0xBF80},
        {TS_OP_cos, 0, TS_T_f32, TS_T_f32, {F(0)}, F(1)},
        {TS_OP_cosh, 0, TS_T_f32, TS_T_f32, {F(0)}, F(1)},
        {TS_OP_sin, 0, TS_T_f32, TS_T_f32, {F(1)}, F(0.841470985f)},
        {TS_OP_sinh, 0, TS_T_f32, TS_T_f32, {F(0)}, F(0)},
        {TS_OP_tan, 0, TS_T_f32, TS_T_f32, {F(0)}, F(0)},
        {TS_OP_tanh, 0, TS_T_f32, TS_T_f32, {INF32}, F(1)},
        {TS_OP_log, 0, TS_T_f32, TS_T_f32, {F(1)}, F(0)},
        {TS_OP_log2, 0, TS_T_f16, TS_T_f16, {0x4800}, 0x4200},
        {TS_OP_exp, 0, TS_T_f32, TS_T_f32, {F(1)}, F(2.71828183f)},
        {TS_OP_exp2, 0, TS_T_f32, TS_T_f32, {F(-149)}, 1},
        {TS_OP_exp2, TS_A_FTZ, TS_T_f32, TS_T_f32, {F(-149)}, 0},
        {TS_OP_rsqrt, 0, TS_T_f32, TS_T_f32, {F(4)}, F(0.5f)},
        {TS_OP_sqrt, 0, TS_T_f32, TS_T_f32, {F(2)}, 0x3FB504F3},
        {TS_OP_sqrt, TS_RP, TS_T_f32, TS_T_f32, {F(2)}, 0x3FB504F4},
        {TS_OP_sqrt, 0, TS_T_f32, TS_T_f32, {F(-1)}, NAN32},
        {TS_OP_sqrt, 0, TS_T_f32, TS_T_f32, {F(-0.0f)}, F(-0.0f)},
        {TS_OP_sqrt, 0, TS_T_f64, TS_T_f64, {D(2)}, 0x3FF6A09E667F3BCD},
        {TS_OP_addf, 0, TS_T_f32, TS_T_f32, {F(1), F(0x1p-24f)}, F(1)},
        {TS_OP_addf, TS_RP, TS_T_f32, TS_T_f32, {F(1), F(0x1p-24f)}, 0x3F800001},
        {TS_OP_addf, TS_RM, TS_T_f32, TS_T_f32, {F(1), F(-1)}, F(-0.0f)},
        {TS_OP_addf, TS_RZ, TS_T_f32, TS_T_f32, {F(3e38f), F(3e38f)}, 0x7F7FFFFF},
        {TS_OP_addf, 0, TS_T_f32, TS_T_f32, {INF32, 0xFF800000}, NAN32},
        {TS_OP_addf, TS_A_FTZ, TS_T_f32, TS_T_f32, {1, 0x80000002}, 0},
        {TS_OP_addf, 0, TS_T_bf16, TS_T_bf16, {0x3F80, 0x3B80}, 0x3F80},
        {TS_OP_addf, 0, TS_T_bf16, TS_T_bf16, {0x3F80, 0x3B81}, 0x3F81},
        {TS_OP_subf, 0, TS_T_f16, TS_T_f16, {0x3C00, 0x3C01}, 0x9400},
        {TS_OP_mulf, 0, TS_T_f16, TS_T_f16, {0x7BFF, 0x4000}, 0x7C00},
        {TS_OP_mulf, TS_RZ, TS_T_f16, TS_T_f16, {0x7BFF, 0x4000}, 0x7BFF},
        {TS_OP_mulf, 0, TS_T_f32, TS_T_f32, {F(0x1p-100f), F(0x1p-49f)}, 1},
        {TS_OP_mulf, TS_A_FTZ, TS_T_f32, TS_T_f32, {F(-0x1p-100f), F(0x1p-49f)}, 0x80000000},
        {TS_OP_divf, 0, TS_T_f32, TS_T_f32, {F(1), F(3)}, 0x3EAAAAAB},
        {TS_OP_divf, TS_RZ, TS_T_f32, TS_T_f32, {F(1), F(3)}, 0x3EAAAAAA},
        {TS_OP_divf, 0, TS_T_f16, TS_T_f16, {0x3C00, 0x8000}, 0xFC00},
        {TS_OP_remf, 0, TS_T_f32, TS_T_f32, {F(-7.5f), F(2)}, F(-1.5f)},
        {TS_OP_maxf, 0, TS_T_f32, TS_T_f32, {F(-0.0f), F(0)}, F(0)},
        {TS_OP_maxf, 0, TS_T_f32, TS_T_f32, {NAN32, F(-3)}, F(-3)},
        {TS_OP_maxf, TS_A_NAN, TS_T_f32, TS_T_f32, {NAN32, F(-3)}, NAN32},
        {TS_OP_minf, 0, TS_T_f32, TS_T_f32, {F(0), F(-0.0f)}, F(-0.0f)},
        {TS_OP_minf, 0, TS_T_f32, TS_T_f32, {F(2), 0xFFC00000}, F(2)},
        {TS_OP_pow, 0, TS_T_f32, TS_T_f32, {F(2), F(10)}, F(1024)},
        {TS_OP_atan2, 0, TS_T_f32, TS_T_f32, {F(1), F(1)}, F(0.785398163f)},
        {TS_OP_fpowi, 0, TS_T_f32, TS_T_f32, {F(2), (uint64_t)-3}, F(0.125f)},
        {TS_OP_fma, 0, TS_T_f32, TS_T_f32, {0x3F800800, 0x3F800800, F(-1)}, 0x3A000400},
        {TS_OP_fma, 0, TS_T_f16, TS_T_f16, {0x3C10, 0x3C10, 0xBC00}, 0x2808},
        {TS_OP_fma, TS_RM, TS_T_f64, TS_T_f64, {D(1), D(1), D(-1)}, D(-0.0)},
        {TS_OP_cmpf, LT, TS_T_f32, TS_T_i1, {F(1), F(2)}, TRUE},
        {TS_OP_cmpf, LT, TS_T_f32, TS_T_i1, {F(1), NAN32}, 0},
        {TS_OP_cmpf, TS_A_PRED(TS_NE) | TS_A_UNORDERED, TS_T_f32, TS_T_i1, {NAN32, NAN32}, TRUE},
        {TS_OP_cmpf, TS_A_PRED(TS_EQ), TS_T_f32, TS_T_i1, {F(0), F(-0.0f)}, TRUE},
        {TS_OP_absi, 0, TS_T_i8, TS_T_i8, {(uint64_t)-128}, (uint64_t)-128},
        {TS_OP_absi, 0, TS_T_i32, TS_T_i32, {(uint64_t)-5}, 5},
        {TS_OP_negi, 0, TS_T_i16, TS_T_i16, {0x8000}, (uint64_t)-32768},
        {TS_OP_addi, 0, TS_T_i8, TS_T_i8, {127, 1}, (uint64_t)-128},
        {TS_OP_subi, 0, TS_T_i32, TS_T_i32, {(uint64_t)INT32_MIN, 1}, INT32_MAX},
        {TS_OP_muli, 0, TS_T_i32, TS_T_i32, {65536, 65536}, 0},
        {TS_OP_mulhii, 0, TS_T_i32, TS_T_i32, {(uint64_t)-1, (uint64_t)-1}, (uint64_t)-2},
        {TS_OP_mulhii, 0, TS_T_i64, TS_T_i64, {ONES, 2}, 1},
        {TS_OP_divi, 0, TS_T_i32, TS_T_i32, {(uint64_t)-7, 2}, (uint64_t)-3},
        {TS_OP_divi, TS_RM, TS_T_i32, TS_T_i32, {(uint64_t)-7, 2}, (uint64_t)-4},
        {TS_OP_divi, TS_RP, TS_T_i32, TS_T_i32, {7, 2}, 4},
        {TS_OP_divi, U | TS_RP, TS_T_i8, TS_T_i8, {(uint64_t)-1, 2}, (uint64_t)-128},
        {TS_OP_divi, 0, TS_T_i64, TS_T_i64, {(uint64_t)1 << 63, ONES}, (uint64_t)1 << 63},
        {TS_OP_remi, 0, TS_T_i32, TS_T_i32, {(uint64_t)-7, 2}, (uint64_t)-1},
        {TS_OP_remi, TS_RM, TS_T_i32, TS_T_i32, {(uint64_t)-7, 2}, 1},
        {TS_OP_remi, U, TS_T_i8, TS_T_i8, {(uint64_t)-1, 16}, 15},
        {TS_OP_maxi, 0, TS_T_i32, TS_T_i32, {(uint64_t)-1, 1}, 1},
        {TS_OP_maxi, U, TS_T_i32, TS_T_i32, {(uint64_t)-1, 1}, ONES},
        {TS_OP_mini, U, TS_T_i8, TS_T_i8, {(uint64_t)-1, 1}, 1},
        {TS_OP_andi, 0, TS_T_i32, TS_T_i32, {12, 10}, 8},
        {TS_OP_ori, 0, TS_T_i32, TS_T_i32, {12, 10}, 14},
        {TS_OP_xori, 0, TS_T_i1, TS_T_i1, {TRUE, TRUE}, 0},
        {TS_OP_shli, 0, TS_T_i32, TS_T_i32, {1, 31}, (uint64_t)INT32_MIN},
        {TS_OP_shli, 0, TS_T_i32, TS_T_i32, {1, 32}, 0},
        {TS_OP_shri, 0, TS_T_i32, TS_T_i32, {(uint64_t)-8, 1}, (uint64_t)-4},
        {TS_OP_shri, 0, TS_T_i32, TS_T_i32, {(uint64_t)-8, 99}, ONES},
        {TS_OP_shri, U, TS_T_i32, TS_T_i32, {(uint64_t)-8, 28}, 15},
        {TS_OP_cmpi, LT, TS_T_i32, TS_T_i1, {(uint64_t)-1, 1}, TRUE},
        {TS_OP_cmpi, LT | U, TS_T_i32, TS_T_i1, {(uint64_t)-1, 1}, 0},
        {TS_OP_bitcast, 0, TS_T_f32, TS_T_i32, {F(-0.0f)}, (uint64_t)INT32_MIN},
        {TS_OP_bitcast, 0, TS_T_i16, TS_T_f16, {(uint64_t)-1}, 0xFFFF},
        {TS_OP_exti, 0, TS_T_i8, TS_T_i32, {(uint64_t)-1}, ONES},
        {TS_OP_exti, U, TS_T_i8, TS_T_i32, {(uint64_t)-1}, 255},
        {TS_OP_exti, U, TS_T_i1, TS_T_i32, {TRUE}, 1},
        {TS_OP_exti, 0, TS_T_i1, TS_T_i32, {TRUE}, ONES},
        {TS_OP_trunci, 0, TS_T_i32, TS_T_i8, {0x1FF}, ONES},
        {TS_OP_itof, 0, TS_T_i32, TS_T_f32, {(uint64_t)-3}, F(-3)},
        {TS_OP_itof, U, TS_T_i32, TS_T_f32, {(uint64_t)-1}, F(4294967296.0f)},
        {TS_OP_itof, U | TS_RZ, TS_T_i64, TS_T_f64, {ONES}, 0x43EFFFFFFFFFFFFF},
        {TS_OP_itof, 0, TS_T_i32, TS_T_f16, {65520}, 0x7C00},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f16, {F(65519.0f)}, 0x7BFF},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_bf16, {0x3F808000}, 0x3F80},
        {TS_OP_ftof, TS_RA, TS_T_f32, TS_T_tf32, {0x3F801000}, 0x3F802000},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_tf32, {0x3F801000}, 0x3F800000},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f8E4M3FN, {F(500)}, 0x7E},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f8E4M3FN, {0xFF800000}, 0xFE},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f8E4M3FN, {F(0x1p-9f)}, 1},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f8E4M3FN, {NAN32}, 0x7F},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f8E5M2, {INF32}, 0x7B},
        {TS_OP_ftof, TS_RP, TS_T_f32, TS_T_f8E8M0FNU, {F(5)}, 130},
        {TS_OP_ftof, TS_RZ, TS_T_f32, TS_T_f8E8M0FNU, {F(5)}, 129},
        {TS_OP_ftof, 0, TS_T_f8E8M0FNU, TS_T_f32, {0}, 0x00400000},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f4E2M1FN, {F(-2.5f)}, 0xC},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f4E2M1FN, {F(3.5f)}, 6},
        {TS_OP_ftof, 0, TS_T_f4E2M1FN, TS_T_f16, {7}, 0x4600},
        {TS_OP_ftof, 0, TS_T_f32, TS_T_f8E5M3FNU, {F(1e9f)}, 0xFE},
        {TS_OP_ftof, 0, TS_T_f8E5M2, TS_T_f32, {0x7C}, INF32},
        {TS_OP_ftoi, 0, TS_T_f32, TS_T_i32, {F(-2.9f)}, (uint64_t)-2},
        {TS_OP_ftoi, 0, TS_T_f32, TS_T_i32, {F(3e9f)}, INT32_MAX},
        {TS_OP_ftoi, U, TS_T_f32, TS_T_i32, {F(3e9f)}, (uint64_t)(int32_t)3000000000u},
        {TS_OP_ftoi, U, TS_T_f32, TS_T_i8, {F(-1)}, 0},
        {TS_OP_ftoi, 0, TS_T_f32, TS_T_i8, {F(-1e9f)}, (uint64_t)-128},
        {TS_OP_ftoi, 0, TS_T_f32, TS_T_i64, {NAN32}, 0},
        {TS_OP_ftoi, U, TS_T_f64, TS_T_i64, {D(1e300)}, ONES},
        {TS_OP_select, 0, TS_T_i32, TS_T_i32, {TRUE, 4, 5}, 4},
        {TS_OP_select, 0, TS_T_i32, TS_T_i32, {0, 4, 5}, 5},
        {TS_OP_int_to_ptr, 0, TS_T_i64, TS_T_i64, {4096}, 4096},
        {TS_OP_ptr_to_int, 0, TS_T_i64, TS_T_i64, {4096}, 4096},
        {TS_OP_ptr_to_ptr, 0, TS_T_i64, TS_T_i64, {4096}, 4096},
    };
    _Static_assert(TS_COUNT(cases) <= SC_MAX, "the list fits");
    memcpy(out, cases, sizeof cases);
    return TS_COUNT(cases);
}

static void each_case_gives_the_wanted_bits(void)
{
    sc_case sc_cases[SC_MAX];
    size_t n = sc_list(sc_cases);
    for (size_t i = 0; i < n; i++) {
        const sc_case *c = &sc_cases[i];
        uint64_t out = 0;
        bool ok = ts__scalar_eval(NULL, c->op, c->attr, c->from, c->to, c->x, &out);
        CHECK(ok);
        if (out != c->wanted)
            fprintf(stderr, "case %zu, %s %s -> %s\n", i, ts__ops[c->op].name, ts_scalar_name(c->from),
                    ts_scalar_name(c->to));
        CHECK_INT(out, c->wanted);
    }
}

static void every_elementwise_op_has_a_case(void)
{
    sc_case sc_cases[SC_MAX];
    size_t n = sc_list(sc_cases);
    for (int op = 0; op < TS_OP_COUNT; op++) {
        bool own = op == TS_OP_offset || op == TS_OP_fn; /* tests of their own: below, tests/math */
        bool found = !(ts__ops[op].flags & TS_ELEM) || own;
        for (size_t i = 0; i < n; i++)
            found |= sc_cases[i].op == (ts_op)op;
        if (!found)
            fprintf(stderr, "no case for %s\n", ts__ops[op].name);
        CHECK(found);
    }
}

static void offset_scales_by_the_pointee(void)
{
    ts_arena arena;
    ts__arena_init(&arena, NULL);
    ts_module *m = ts__module_create(&arena);
    ts_type p = ts_type_ptr(m, TS_T_f32, TS_GLOBAL), q = ts_type_ptr(m, TS_T_i16, TS_SHARED);
    uint64_t x[2] = {1000, (uint64_t)-2}, out = 0;
    CHECK(ts__scalar_eval(m, TS_OP_offset, 0, p, p, x, &out));
    CHECK_INT(out, 992);
    uint64_t y[2] = {0, (uint64_t)-1};
    CHECK(ts__scalar_eval(m, TS_OP_offset, 0, q, q, y, &out));
    CHECK_INT(out, 0xFFFFFFFE);
    ts__arena_deinit(&arena);
}

static void division_by_zero_is_a_fault(void)
{
    uint64_t x[2] = {5, 0}, out;
    CHECK(!ts__scalar_eval(NULL, TS_OP_divi, 0, TS_T_i32, TS_T_i32, x, &out));
    CHECK(!ts__scalar_eval(NULL, TS_OP_remi, U, TS_T_i8, TS_T_i8, (uint64_t[]){5, 256}, &out));
    CHECK(!ts__scalar_eval(NULL, TS_OP_iota, 0, TS_T_i32, TS_T_i32, x, &out));
}

static uint64_t sc_seed(uint64_t *state)
{
    *state = ts_hash_mix(*state, 0x5DEECE66D);
    return *state;
}

/* A double with exponent near `centre`, so that sums cancel and products meet the subnormals. */
static double sc_random(uint64_t *state, int centre)
{
    uint64_t bits = sc_seed(state);
    int e = centre + (int)(bits >> 52 & 63) - 32;
    return ts_f64_of_bits((bits & 0x800FFFFFFFFFFFFF) | (uint64_t)(e + 1023) << 52);
}

typedef double sc_host2(double, double);
static double sc_add(double a, double b)
{
    volatile double x = a, y = b;
    return x + y;
}
static double sc_mul(double a, double b)
{
    volatile double x = a, y = b;
    return x * y;
}
static double sc_div(double a, double b)
{
    volatile double x = a, y = b;
    return x / y;
}

/* The host's FPU in each rounding mode is an independent judge of f64. */
static void f64_arithmetic_equals_the_host_in_every_mode(void)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    static const ts_round rounds[] = {TS_RN, TS_RZ, TS_RM, TS_RP};
    uint64_t state = 7;
    int wrong = 0;
    for (int i = 0; i < 40000; i++) {
        double a = sc_random(&state, i & 1 ? 0 : -510), b = sc_random(&state, i & 1 ? 0 : -510);
        double c = sc_random(&state, i & 1 ? 0 : -985);
        volatile double add, mul, div, root, fused;
        fesetround(modes[i & 3]);
        add = sc_add(a, b), mul = sc_mul(a, b), div = sc_div(a, b);
        volatile double positive = fabs(a);
        root = sqrt(positive);
        fused = fma(a, b, c);
        fesetround(FE_TONEAREST);
        ts_round r = rounds[i & 3];
        wrong += ts__float_add(TS_T_f64, D(a), D(b), r) != D(add);
        wrong += ts__float_mul(TS_T_f64, D(a), D(b), r) != D(mul);
        wrong += ts__float_div(TS_T_f64, D(a), D(b), r) != D(div);
        wrong += ts__float_sqrt(TS_T_f64, D(fabs(a)), r) != D(root);
        wrong += ts__float_fma(TS_T_f64, D(a), D(b), D(c), r) != D(fused);
    }
    CHECK_INT(wrong, 0);
}

static void f32_arithmetic_equals_the_host(void)
{
    uint64_t state = 11;
    int wrong = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t r = sc_seed(&state);
        volatile float a = ts_f32_of_bits(r), b = ts_f32_of_bits(r >> 32), c = ts_f32_of_bits(sc_seed(&state));
        if (a != a || b != b || c != c)
            continue;
        volatile float add = a + b, mul = a * b, div = a / b, fused = fmaf(a, b, c);
        wrong += !ts__scalar_same(TS_T_f32, ts__float_add(TS_T_f32, F(a), F(b), TS_RN), F(add));
        wrong += !ts__scalar_same(TS_T_f32, ts__float_mul(TS_T_f32, F(a), F(b), TS_RN), F(mul));
        wrong += !ts__scalar_same(TS_T_f32, ts__float_div(TS_T_f32, F(a), F(b), TS_RN), F(div));
        wrong += !ts__scalar_same(TS_T_f32, ts__float_fma(TS_T_f32, F(a), F(b), F(c), TS_RN), F(fused));
        wrong += !ts__scalar_same(TS_T_f32, ts__float_from_f64(TS_T_f32, (double)a * b, TS_RN),
                                 F(mul)); /* the product is exact */
    }
    CHECK_INT(wrong, 0);
}

/* base.c converts f16 and bf16 by other means. */
static void narrow_floats_round_as_base_does(void)
{
    int wrong = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        wrong += !ts__scalar_same(TS_T_f64, D(ts__f16_to_f64((uint16_t)bits)), D(ts__float_to_f64(TS_T_f16, bits)));
        wrong += !ts__scalar_same(TS_T_f64, D(ts__bf16_to_f64((uint16_t)bits)), D(ts__float_to_f64(TS_T_bf16, bits)));
    }
    uint64_t state = 3;
    for (int i = 0; i < 100000; i++) {
        double x = sc_random(&state, -10);
        wrong += ts__f16_from_f64(x) != ts__float_from_f64(TS_T_f16, x, TS_RN);
        wrong += ts__bf16_from_f64(x) != ts__float_from_f64(TS_T_bf16, x, TS_RN);
    }
    CHECK_INT(wrong, 0);
}

/* Every code of a narrow format converts to double and back to itself, and nearest means nearest. */
static void each_narrow_code_survives_the_round_trip(void)
{
    static const ts_type types[] = {TS_T_f8E4M3FN, TS_T_f8E5M2, TS_T_f8E8M0FNU, TS_T_f4E2M1FN, TS_T_f8E5M3FNU};
    for (size_t t = 0; t < TS_COUNT(types); t++)
        for (uint64_t code = 0; code < (uint64_t)1 << ts__scalar_bits(types[t]); code++) {
            double x = ts__float_to_f64(types[t], code);
            if (isinf(x))
                continue; /* saturates by definition */
            CHECK(ts__scalar_same(types[t], ts__float_from_f64(types[t], x, TS_RN), code));
        }
    CHECK(ts__float_to_f64(TS_T_f8E4M3FN, 0x7E) == 448);
    CHECK(ts__float_to_f64(TS_T_f8E5M2, 0x7B) == 57344);
    CHECK(ts__float_to_f64(TS_T_f8E5M3FNU, 0xFE) == 114688);
    CHECK(ts__float_to_f64(TS_T_f8E8M0FNU, 127) == 1);
    CHECK(ts__float_to_f64(TS_T_f4E2M1FN, 1) == 0.5);
}

static void four_bit_elements_pack_low_nibble_first(void)
{
    uint8_t bytes[2] = {0, 0};
    ts__scalar_store(NULL, TS_T_i4, bytes, 0, 5);
    ts__scalar_store(NULL, TS_T_i4, bytes, 1, (uint64_t)-1);
    ts__scalar_store(NULL, TS_T_i4, bytes, 2, 7);
    CHECK_INT(bytes[0], 0xF5);
    CHECK_INT(bytes[1], 0x07);
    CHECK_INT((int64_t)ts__scalar_load(NULL, TS_T_i4, bytes, 1), -1);
    CHECK_INT(ts__scalar_load(NULL, TS_T_f4E2M1FN, bytes, 1), 15);
}

int main(void)
{
    each_case_gives_the_wanted_bits();
    every_elementwise_op_has_a_case();
    offset_scales_by_the_pointee();
    division_by_zero_is_a_fault();
    f64_arithmetic_equals_the_host_in_every_mode();
    f32_arithmetic_equals_the_host();
    narrow_floats_round_as_base_does();
    each_narrow_code_survives_the_round_trip();
    four_bit_elements_pack_low_nibble_first();
    return check_done();
}
