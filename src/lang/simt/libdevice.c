/* SPDX-License-Identifier: Apache-2.0
 *
 * What the functions of libdevice.def are in the operations of thread IR. Nearly all are one operation or one function
 * of table/math.def; the others are written here, from IEEE and integer operations, so that a CPU and a GPU give the
 * same bits (but for fast_*, where a GPU has an instruction of its own). Part of the front end (lower.h).
 *
 * jn, yn: forward recurrence f[k + 1] = 2 k / x f[k] - f[k - 1] from orders 0 and 1, which is stable for y, and for j
 * while k <= x. From there on j has no zero, and j[k] = j[k - 1] r[k] with r[k] = x / (2 k - x r[k + 1]), a continued
 * fraction begun far enough above n (W. Gautschi, Computational aspects of three-term recurrence relations, 1967).
 */
#include "lang/simt/op.h"
#include <math.h>
#include <string.h>

#define PAIR_FN(name) (TS_OP_COUNT + TS_MATH_##name)
#define PAIR_APPROX(name) (-(int32_t)TS_OP_##name)
#define ROUND_AWAY (-1) /* beside ts_round: halves away from zero */

typedef struct libdevice_row libdevice_row;
typedef void libdevice_how(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out);
struct libdevice_row {
    const char *types; /* as in the table */
    libdevice_how *how;
    int32_t a, b;
};

static ts_dtype libdevice_dtype(char letter)
{
    switch (letter) {
    case 'i':
        return TS_DTYPE_int32;
    case 'l':
        return TS_DTYPE_int64;
    case 'f':
        return TS_DTYPE_float32;
    case 'd':
        return TS_DTYPE_float64;
    default:
        return TS_DTYPE_int16;
    }
}

static ts_type libdevice_result(const libdevice_row *row)
{
    return fr_ir(libdevice_dtype(row->types[0]));
}

static uint32_t libdevice_count(const libdevice_row *row)
{
    return (uint32_t)strlen(strchr(row->types, ':') + 1);
}

static ts_val libdevice_int(ts_builder *b, ts_val like, int64_t value)
{
    return ts_int(b, ts_type_of(b->fn, like), value);
}

static ts_val libdevice_float(ts_builder *b, ts_val like, double value)
{
    return ts_float(b, ts_type_of(b->fn, like), value);
}

/* ---- one operation ----------------------------------------------------------------------------------------------- */

static void libdevice_op(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    *out = ts_emit(b, (ts_op)row->a, libdevice_result(row), libdevice_count(row), x, (uint32_t)row->b, 0);
}

static void libdevice_cast(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    libdevice_op(b, row, x, out);
}

static void libdevice_fn(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    *out = ts_math_call(b, (uint32_t)row->a, x[0], libdevice_count(row) > 1 ? x[1] : 0);
}

static void libdevice_test(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    libdevice_fn(b, row, x, out);
    *out = ts_cast(b, TS_OP_exti, *out, TS_T_i32, TS_A_UNSIGNED);
}

static ts_val libdevice_of_pair(ts_builder *b, int32_t what, ts_val x)
{
    if (what >= TS_OP_COUNT)
        return ts_math_call(b, (uint32_t)(what - TS_OP_COUNT), x, 0);
    return ts_op1(b, (ts_op)(what < 0 ? -what : what), x, what < 0 ? TS_APPROX : 0);
}

static void libdevice_pair(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    out[0] = libdevice_of_pair(b, row->a, x[0]);
    out[1] = libdevice_of_pair(b, row->b, x[0]);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

static void libdevice_isnan(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val nan = ts_cmp(b, TS_OP_cmpf, TS_NE, x[0], x[0], TS_A_UNORDERED);
    *out = ts_cast(b, TS_OP_exti, nan, TS_T_i32, TS_A_UNSIGNED);
}

static void libdevice_rcp(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    *out = ts_op2(b, TS_OP_divf, libdevice_float(b, x[0], 1), x[0], (uint32_t)row->a);
}

/* In f64, whose errors no f32 shows. */
static void libdevice_frsqrt(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val root = ts_op1(b, TS_OP_sqrt, ts_cast(b, TS_OP_ftof, x[0], TS_T_f64, 0), 0);
    ts_val y = ts_op2(b, TS_OP_divf, libdevice_float(b, root, 1), root, 0);
    *out = ts_cast(b, TS_OP_ftof, y, TS_T_f32, 0);
}

static void libdevice_saturate(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val y = ts_op2(b, TS_OP_maxf, x[0], libdevice_float(b, x[0], 0), 0);
    *out = ts_op2(b, TS_OP_minf, y, libdevice_float(b, x[0], 1), 0);
}

static void libdevice_fast_exp10(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    *out = ts_op2(b, TS_OP_pow, libdevice_float(b, x[0], 10), x[0], TS_APPROX);
}

static void libdevice_fast_log10(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val y = ts_op1(b, TS_OP_log2, x[0], TS_APPROX);
    *out = ts_op2(b, TS_OP_mulf, y, libdevice_float(b, x[0], 0x1.344136p-2), 0);
}

/* A whole number first: ftoi leaves fractions out. */
static void libdevice_to_int(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val y = x[0];
    if (row->a == TS_RN || row->a == ROUND_AWAY)
        y = ts_math_call(b, row->a == TS_RN ? TS_MATH_rint : TS_MATH_round_away, y, 0);
    else if (row->a != TS_RZ)
        y = ts_op1(b, row->a == TS_RM ? TS_OP_floor : TS_OP_ceil, y, 0);
    *out = ts_cast(b, TS_OP_ftoi, y, libdevice_result(row), (uint32_t)row->b);
}

/* The lowest bits of the quotient: the multiple of y that remainder takes from x mod 8 y. An x below 8 y, which may
 * overflow, is that itself. */
static void libdevice_remquo(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val ax = ts_op1(b, TS_OP_absf, x[0], 0), ay = ts_op1(b, TS_OP_absf, x[1], 0);
    ts_val eight = libdevice_float(b, ay, 0.125), least = ts_op2(b, TS_OP_mulf, ax, eight, 0);
    ts_val wide = ts_op2(b, TS_OP_mulf, ay, libdevice_float(b, ay, 8), 0);
    ts_val rest = ts_math_call(b, TS_MATH_fmod, ax, wide);
    rest = ts_select(b, ts_cmp(b, TS_OP_cmpf, TS_LT, least, ay, 0), ax, rest);
    ts_val whole = ts_op2(b, TS_OP_subf, rest, ts_math_call(b, TS_MATH_remainder, rest, ay), 0);
    ts_val n = ts_cast(b, TS_OP_ftoi, ts_op2(b, TS_OP_divf, whole, ay, 0), TS_T_i32, TS_RN);
    n = ts_op2(b, TS_OP_andi, n, ts_int(b, TS_T_i32, 7), 0);
    ts_val sign = ts_math_call(b, TS_MATH_copysign, libdevice_float(b, ax, 1), x[0]);
    sign = ts_op2(b, TS_OP_mulf, sign, ts_math_call(b, TS_MATH_copysign, libdevice_float(b, ax, 1), x[1]), 0);
    ts_val minus = ts_cmp(b, TS_OP_cmpf, TS_LT, sign, libdevice_float(b, ax, 0), 0);
    out[0] = ts_math_call(b, TS_MATH_remainder, x[0], x[1]);
    out[1] = ts_select(b, minus, ts_op1(b, TS_OP_negi, n, 0), n);
}

/* ---- bits of floats ---------------------------------------------------------------------------------------------- */

static void libdevice_to_half(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    *out = ts_cast(b, TS_OP_bitcast, ts_cast(b, TS_OP_ftof, x[0], TS_T_f16, 0), TS_T_i16, 0);
}

static void libdevice_of_half(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    *out = ts_cast(b, TS_OP_ftof, ts_cast(b, TS_OP_bitcast, x[0], TS_T_f16, 0), TS_T_f32, 0);
}

static void libdevice_half_of(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val bits = ts_cast(b, TS_OP_bitcast, x[0], TS_T_i64, 0);
    bits = ts_op2(b, TS_OP_shri, bits, libdevice_int(b, bits, row->a), TS_A_UNSIGNED);
    *out = ts_cast(b, TS_OP_trunci, bits, TS_T_i32, 0);
}

/* high:low as an i64 */
static ts_val libdevice_join(ts_builder *b, ts_val high, ts_val low)
{
    high = ts_cast(b, TS_OP_exti, high, TS_T_i64, TS_A_UNSIGNED);
    high = ts_op2(b, TS_OP_shli, high, libdevice_int(b, high, 32), 0);
    return ts_op2(b, TS_OP_ori, high, ts_cast(b, TS_OP_exti, low, TS_T_i64, TS_A_UNSIGNED), 0);
}

static void libdevice_join_halves(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    *out = ts_cast(b, TS_OP_bitcast, libdevice_join(b, x[0], x[1]), TS_T_f64, 0);
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

/* The upper half of the signed product is that of the unsigned one less y where x < 0, and less x where y < 0. */
static void libdevice_mulhi(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val high = ts_op2(b, TS_OP_mulhii, x[0], x[1], 0), zero = libdevice_int(b, high, 0);
    for (int i = 0; i < 2; i++) {
        ts_val minus = ts_cmp(b, TS_OP_cmpi, TS_LT, x[i], zero, 0);
        high = ts_op2(b, TS_OP_subi, high, ts_select(b, minus, x[1 - i], zero), 0);
    }
    *out = high;
}

static void libdevice_mul24(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val eight = libdevice_int(b, x[0], 8), low[2];
    for (int i = 0; i < 2; i++)
        low[i] = ts_op2(b, TS_OP_shri, ts_op2(b, TS_OP_shli, x[i], eight, 0), eight, (uint32_t)row->a);
    *out = ts_op2(b, TS_OP_muli, low[0], low[1], 0);
}

static void libdevice_sad(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val most = ts_op2(b, TS_OP_maxi, x[0], x[1], (uint32_t)row->a);
    ts_val least = ts_op2(b, TS_OP_mini, x[0], x[1], (uint32_t)row->a);
    *out = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_subi, most, least, 0), x[2], 0);
}

/* x + y = 2 (x & y) + (x ^ y) = 2 (x | y) - (x ^ y) */
static void libdevice_average(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val same = ts_op2(b, row->b ? TS_OP_ori : TS_OP_andi, x[0], x[1], 0), odd = ts_op2(b, TS_OP_xori, x[0], x[1], 0);
    odd = ts_op2(b, TS_OP_shri, odd, libdevice_int(b, odd, 1), (uint32_t)row->a);
    *out = ts_op2(b, row->b ? TS_OP_subi : TS_OP_addi, same, odd, 0);
}

static void libdevice_byte_perm(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val all = libdevice_join(b, x[1], x[0]), sum = 0;
    (void)row;
    for (int i = 0; i < 4; i++) {
        ts_val from = i ? ts_op2(b, TS_OP_shri, x[2], libdevice_int(b, x[2], 4 * i), TS_A_UNSIGNED) : x[2];
        from = ts_op2(b, TS_OP_andi, from, libdevice_int(b, from, 7), 0);
        from = ts_op2(b, TS_OP_shli, from, libdevice_int(b, from, 3), 0);
        ts_val byte = ts_op2(b, TS_OP_shri, all, ts_cast(b, TS_OP_exti, from, TS_T_i64, TS_A_UNSIGNED), TS_A_UNSIGNED);
        byte = ts_cast(b, TS_OP_trunci, byte, TS_T_i32, 0);
        byte = ts_op2(b, TS_OP_andi, byte, libdevice_int(b, byte, 255), 0);
        byte = i ? ts_op2(b, TS_OP_shli, byte, libdevice_int(b, byte, 8 * i), 0) : byte;
        sum = sum ? ts_op2(b, TS_OP_ori, sum, byte, 0) : byte;
    }
    *out = sum;
}

/* The bits of 0 in front of the lowest 1 alone: x & -x. Of 0 there are as many as bits. */
static void libdevice_ffs(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    (void)row;
    ts_val lowest = ts_op2(b, TS_OP_andi, x[0], ts_op1(b, TS_OP_negi, x[0], 0), 0);
    ts_val zeros = ts_emit(b, TS_OP_clz, TS_T_i32, 1, &lowest, 0, 0);
    ts_val bits = ts_int(b, TS_T_i32, ts_type_of(b->fn, x[0]) == TS_T_i64 ? 64 : 32);
    *out = ts_op2(b, TS_OP_subi, bits, zeros, 0);
}

/* ---- Bessel functions of any order ------------------------------------------------------------------------------- */

static ts_val libdevice_min64(ts_builder *b, ts_val x, ts_val y)
{
    return ts_op2(b, TS_OP_mini, x, y, 0);
}

/* 2 k as a float */
static ts_val libdevice_twice(ts_builder *b, ts_val k, ts_val like)
{
    ts_val y = ts_cast(b, TS_OP_itof, k, ts_type_of(b->fn, like), 0);
    return ts_op2(b, TS_OP_addf, y, y, 0);
}

/* f of order n from those of order 0 and 1; n is an i64 from 0 on. What is infinite stays. */
static ts_val libdevice_forward(ts_builder *b, ts_val x, ts_val n, ts_val f0, ts_val f1)
{
    ts_val one = ts_int(b, TS_T_i64, 1), pair[] = {f0, f1};
    ts_val opener = ts_for_begin(b, one, n, one, 2, pair, 0), k = ts_region_arg(b->fn, opener, 0);
    ts_val f = ts_region_arg(b->fn, opener, 2), before = ts_region_arg(b->fn, opener, 1);
    ts_val t = ts_op2(b, TS_OP_divf, libdevice_twice(b, k, x), x, 0);
    ts_val next = ts_op3(b, TS_OP_fma, t, f, ts_op1(b, TS_OP_negf, before, 0), 0);
    ts_val infinite = ts_cmp(b, TS_OP_cmpf, TS_EQ, f, libdevice_float(b, f, -INFINITY), 0);
    ts_term(b, TS_OP_continue, 2, (ts_val[]){f, ts_select(b, infinite, f, next)});
    ts_end_like(b, opener);
    ts_val high = ts_res(b, opener, 1);
    return ts_select(b, ts_cmp(b, TS_OP_cmpi, TS_LT, n, one, 0), f0, high);
}

/* r[from + 1] .. r[n] multiplied, of a positive x; `count` steps down to from + 1, the first above n */
static ts_val libdevice_ratios(ts_builder *b, ts_val x, ts_val from, ts_val n, ts_val count)
{
    ts_val zero = ts_int(b, TS_T_i64, 0), pair[] = {libdevice_float(b, x, 0), libdevice_float(b, x, 1)};
    ts_val opener = ts_for_begin(b, zero, count, ts_int(b, TS_T_i64, 1), 2, pair, 0);
    ts_val i = ts_region_arg(b->fn, opener, 0), r = ts_region_arg(b->fn, opener, 1);
    ts_val all = ts_region_arg(b->fn, opener, 2);
    ts_val k = ts_op2(b, TS_OP_addi, from, ts_op2(b, TS_OP_subi, count, i, 0), 0);
    ts_val below = ts_op3(b, TS_OP_fma, ts_op1(b, TS_OP_negf, x, 0), r, libdevice_twice(b, k, x), 0);
    r = ts_op2(b, TS_OP_divf, x, below, 0);
    ts_val inside = ts_cmp(b, TS_OP_cmpi, TS_LE, k, n, 0);
    all = ts_select(b, inside, ts_op2(b, TS_OP_mulf, all, r, 0), all);
    ts_term(b, TS_OP_continue, 2, (ts_val[]){r, all});
    ts_end_like(b, opener);
    return ts_res(b, opener, 1);
}

/* j of x >= 0: up to the order below x, then down from 20 + 3 sqrt n orders above n. Beyond 2 x + 600 it is 0. */
static ts_val libdevice_jn(ts_builder *b, ts_val n, ts_val x)
{
    ts_type type = ts_type_of(b->fn, x);
    ts_val zero = ts_int(b, TS_T_i64, 0), finite = ts_math_call(b, TS_MATH_isfinite, x, 0);
    ts_val from = libdevice_min64(b, n, ts_cast(b, TS_OP_ftoi, x, TS_T_i64, TS_RZ));
    from = ts_select(b, finite, from, zero);
    ts_val j0 = ts_math_call(b, TS_MATH_j0, x, 0), j1 = ts_math_call(b, TS_MATH_j1, x, 0);
    ts_val f = libdevice_forward(b, x, from, j0, j1), order = ts_cast(b, TS_OP_itof, n, type, 0);
    ts_val two = ts_float(b, type, 2), limit = ts_op3(b, TS_OP_fma, x, two, ts_float(b, type, 600), 0);
    ts_val tiny = ts_cmp(b, TS_OP_cmpf, TS_GT, order, limit, 0);
    ts_val above = ts_op2(b, TS_OP_mulf, ts_op1(b, TS_OP_sqrt, order, 0), ts_float(b, type, 3), 0);
    above = ts_op2(b, TS_OP_addi, ts_cast(b, TS_OP_ftoi, above, TS_T_i64, TS_RZ), ts_int(b, TS_T_i64, 20), 0);
    ts_val count = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_subi, n, from, 0), above, 0);
    ts_val idle = ts_op2(b, TS_OP_ori, tiny, ts_cmp(b, TS_OP_cmpi, TS_LE, n, from, 0), 0);
    idle = ts_op2(b, TS_OP_ori, idle, ts_cmp(b, TS_OP_cmpi, TS_EQ, ts_select(b, finite, n, zero), zero, 0), 0);
    f = ts_op2(b, TS_OP_mulf, f, libdevice_ratios(b, x, from, n, ts_select(b, idle, zero, count)), 0);
    return ts_select(b, tiny, ts_float(b, type, 0), f);
}

static ts_val libdevice_yn(ts_builder *b, ts_val n, ts_val x)
{
    ts_val zero = ts_int(b, TS_T_i64, 0), count = ts_select(b, ts_math_call(b, TS_MATH_isfinite, x, 0), n, zero);
    ts_val y0 = ts_math_call(b, TS_MATH_y0, x, 0), y1 = ts_math_call(b, TS_MATH_y1, x, 0);
    return libdevice_forward(b, x, count, y0, y1);
}

/* j of a negative x and odd n is negative. */
static void libdevice_bessel_n(ts_builder *b, const libdevice_row *row, const ts_val *x, ts_val *out)
{
    ts_val n = ts_cast(b, TS_OP_exti, x[0], TS_T_i64, 0), zero = ts_int(b, TS_T_i64, 0);
    ts_val none = ts_cmp(b, TS_OP_cmpi, TS_LT, n, zero, 0), nan = libdevice_float(b, x[1], NAN);
    n = ts_select(b, none, zero, n);
    if (row->a) {
        *out = ts_select(b, none, nan, libdevice_yn(b, n, x[1]));
        return;
    }
    ts_val y = libdevice_jn(b, n, ts_op1(b, TS_OP_absf, x[1], 0)), one = ts_int(b, TS_T_i64, 1);
    ts_val odd = ts_cmp(b, TS_OP_cmpi, TS_EQ, ts_op2(b, TS_OP_andi, n, one, 0), one, 0);
    ts_val minus = ts_op2(b, TS_OP_andi, odd, ts_math_call(b, TS_MATH_signbit, x[1], 0), 0);
    *out = ts_select(b, none, nan, ts_select(b, minus, ts_op1(b, TS_OP_negf, y, 0), y));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const libdevice_row libdevice_rows[TS_LIBDEVICE_COUNT] = {
#define TS_LIBDEVICE(name, arguments, types, how, a, b, doc) {types, libdevice_##how, (int32_t)(a), (int32_t)(b)},
#include "lang/simt/libdevice.def"
};

ts_status fr_simt_libdevice(fr *f, const fr_call *c, fr_value *out)
{
    const libdevice_row *row = &libdevice_rows[c->op->x];
    const char *letter = strchr(row->types, ':') + 1;
    ts_val x[3] = {0}, made[2] = {0};
    fr_value pair[2];
    for (uint32_t i = 0; letter[i]; i++) {
        if (!fr_simt_is_number(&c->arg[i]) || fr_is_complex(&c->arg[i]))
            return fr_arg_error(f, c, i, "a real number");
        TS_TRY(fr_simt_cast(f, &c->arg[i], libdevice_dtype(letter[i]), &x[i]));
    }
    row->how(&f->b, row, x, made);
    for (uint32_t i = 0; i < 2; i++)
        pair[i] = fr_tile(libdevice_dtype(row->types[i]), made[i]);
    if (row->types[1] != ':')
        return fr_tuple(f, 2, pair, out);
    *out = pair[0];
    return TS_OK;
}
