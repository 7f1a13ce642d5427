/* SPDX-License-Identifier: Apache-2.0
 *
 * Math functions written once as IR, used by every target, so that all give the same bits. Each
 * function of this folder is a small C function that builds IEEE add, sub, mul, fma, div, sqrt,
 * compares, selects and integer operations through the builder, at any shape; the pass `math`
 * (math.c) replaces sin, exp, ... by them. No function relies on fast-math; every fma is meant.
 *
 * f16 and bf16 are computed in f32 and rounded once. f32 and f64 share the algorithms; formats and
 * coefficients are tables (tools/minimax.py prints the latter: own minimax fits). Rare arguments
 * (huge for sin, subnormal for log) are in `cold` regions: cost one compare where none occurs.
 *
 * Each function is a row of table/math.def, with its bound in ulps of the exact result over every value; specials as
 * C99 annex F. Measured numbers and instructions: docs/reference/math.md; tests/math/ulp.c fails above a bound.
 */
#ifndef TS_MATH_MATH_H
#define TS_MATH_MATH_H

#include "ir/pass.h"

/* Facts of a binary format. */
typedef struct ts_math_fmt {
    int mant, bias;         /* stored fraction bits (23, 52, ..), exponent bias */
    int64_t min_normal, inf; /* bit patterns */
    double magic;           /* 1.5 * 2^mant: adding it rounds to an integer in the low bits */
    ts_type elem, int_elem;
} ts_math_fmt;

/* One rewrite in progress: f and i are the types of its values (float and equally wide integer). */
typedef struct ts_math {
    ts_builder *b;
    const ts_math_fmt *fmt;
    ts_type f, i;
    bool wide; /* f64 */
    bool cold; /* the target understands `cold`; otherwise slow paths are selects */
    bool near; /* of arguments of exp and exp2: results are normal */
} ts_math;

/* Sets up for values shaped like x, whose element is f32 or f64 (f16, bf16: only for what is exact by bits). */
void ts__math_init(ts_math *m, ts_builder *b, ts_val x, bool cold);
/* c0 + c1 x + c2 x^2 + .. by Horner. */
ts_val ts__math_poly(ts_math *m, ts_val x, const double *c, int n);
/* Sum of x and y as head and tail: exact for any order of magnitudes (6 operations). */
void ts__math_two_sum(ts_math *m, ts_val x, ts_val y, ts_val *head, ts_val *tail);

/* A number as the unevaluated sum of two: what an operation rounds away is kept in the tail. */
typedef struct ts_math_pair {
    ts_val head, tail;
} ts_math_pair;
/* x y, exact. */
ts_math_pair ts__math_product(ts_math *m, ts_val x, ts_val y);
/* x + y, exact, where |x| >= |y| or x = 0 (3 operations). */
ts_math_pair ts__math_fast_sum(ts_math *m, ts_val x, ts_val y);
/* x y without the product of the tails. */
ts_math_pair ts__math_times(ts_math *m, ts_math_pair x, ts_math_pair y);
/* log2 of x, x positive and finite (subnormals too). */
ts_math_pair ts__math_log2_pair(ts_math *m, ts_val x);

/* Pieces of exp: r = x - k ln 2 with k + bias in the low bits of *k; exp(r) - 1 for such an r. */
ts_val ts__math_exp_rest(ts_math *m, ts_val x, double bias, ts_val *k);
ts_val ts__math_expm1_rest(ts_math *m, ts_val r);
/* y 2^k, rounded once; the low bits of k hold the exponent + 2 bias (two factors of 2^(k/2)). */
ts_val ts__math_scale(ts_math *m, ts_val y, ts_val k);
/* 2^(head + tail); tail must be finite and small. */
ts_val ts__math_exp2_both(ts_math *m, ts_val head, ts_val tail);
/* p in [-0.3, 0.42] with 2^(head + tail) = (1 + p) 2^n and n + 2 bias in the low bits of *k; |head| < 1.5 bias. */
ts_val ts__math_exp2_less1(ts_math *m, ts_val head, ts_val tail, ts_val *k);
/* x = 2^e (1 + f), x normal and positive; f in [-1/3, 1/3]. *e holds e as a float, times 2^23 in f32. */
void ts__math_split(ts_math *m, ts_val x, ts_val *e, ts_val *f);

/* log(1 + x + tail) + doublings * ln 2 for 1 + x > 0; tail is a rounding error of x, doublings a whole float or 0. */
ts_val ts__math_log1p_both(ts_math *m, ts_val x, ts_val tail, ts_val doublings);
/* 2^e from an integer in the exponent range of normal numbers. */
ts_val ts__math_power(ts_math *m, ts_val e);
/* sin(x + eighths pi / 4 + more), x > 0, eighths 1 or -1, |more| below 0.1; the angle is rounded once. */
ts_val ts__math_sin_beside(ts_math *m, ts_val x, int eighths, ts_val more);
/* sin x and cos x, the same bits as one by one, with one cold region. */
void ts__math_sincos(ts_math *m, ts_val x, ts_val out[2]);
/* a > 0 as significand in [1, 2) and exponent. */
ts_val ts__math_significand(ts_math *m, ts_val a, ts_val *e);

/* The functions, by kind (table/math.def). */
typedef ts_val ts__math_x(ts_math *m, ts_val x);
typedef ts_val ts__math_xx(ts_math *m, ts_val x, ts_val y);
#define TS_MATH_TYPE_X ts__math_x
#define TS_MATH_TYPE_XB ts__math_x
#define TS_MATH_TYPE_XI ts__math_x /* gives i32 */
#define TS_MATH_TYPE_XX ts__math_xx
#define TS_MATH_TYPE_XN ts__math_xx /* the second is i32; that of fpowi i8 to i64 */
#define TS_MATH(name, kind, ...) TS_MATH_TYPE_##kind ts__math_##name;
#define TS_MATH_OP(op, kind, ...) TS_MATH_TYPE_##kind ts__math_##op;
#include "table/math.def"

/* ---- the words the functions are written in ------------------------------------------------------- */

static inline ts_val m_c(ts_math *m, double value) /* a constant */
{
    return ts_float(m->b, m->f, value);
}
static inline ts_val m_i(ts_math *m, int64_t value) /* an integer constant */
{
    return ts_int(m->b, m->i, value);
}
static inline ts_val m_add(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_addf, x, y, 0);
}
static inline ts_val m_sub(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_subf, x, y, 0);
}
static inline ts_val m_mul(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_mulf, x, y, 0);
}
static inline ts_val m_div(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_divf, x, y, 0);
}
static inline ts_val m_fma(ts_math *m, ts_val x, ts_val y, ts_val z) /* x * y + z */
{
    return ts_op3(m->b, TS_OP_fma, x, y, z, 0);
}
static inline ts_val m_neg(ts_math *m, ts_val x)
{
    return ts_op1(m->b, TS_OP_negf, x, 0);
}
static inline ts_val m_abs(ts_math *m, ts_val x)
{
    return ts_op1(m->b, TS_OP_absf, x, 0);
}
static inline ts_val m_min(ts_math *m, ts_val x, double limit) /* NaN stays */
{
    return ts_op2(m->b, TS_OP_minf, x, m_c(m, limit), TS_A_NAN);
}
static inline ts_val m_max(ts_math *m, ts_val x, double limit)
{
    return ts_op2(m->b, TS_OP_maxf, x, m_c(m, limit), TS_A_NAN);
}
static inline ts_val m_bits(ts_math *m, ts_val x) /* float -> integer of the same bits */
{
    return ts_cast(m->b, TS_OP_bitcast, x, m->fmt->int_elem, 0);
}
static inline ts_val m_float(ts_math *m, ts_val i)
{
    return ts_cast(m->b, TS_OP_bitcast, i, m->fmt->elem, 0);
}
static inline ts_val m_iadd(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_addi, x, y, 0);
}
static inline ts_val m_isub(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_subi, x, y, 0);
}
static inline ts_val m_and(ts_math *m, ts_val x, int64_t mask)
{
    return ts_op2(m->b, TS_OP_andi, x, m_i(m, mask), 0);
}
static inline ts_val m_or(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_ori, x, y, 0);
}
static inline ts_val m_xor(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_xori, x, y, 0);
}
static inline ts_val m_shl(ts_math *m, ts_val x, int n)
{
    return ts_op2(m->b, TS_OP_shli, x, m_i(m, n), 0);
}
static inline ts_val m_sar(ts_math *m, ts_val x, int n) /* keeps the sign */
{
    return ts_op2(m->b, TS_OP_shri, x, m_i(m, n), 0);
}
static inline ts_val m_shr(ts_math *m, ts_val x, int n) /* shifts zeros in */
{
    return ts_op2(m->b, TS_OP_shri, x, m_i(m, n), TS_A_UNSIGNED);
}
static inline ts_val m_cmp(ts_math *m, ts_pred pred, ts_val x, ts_val y) /* false on NaN */
{
    return ts_cmp(m->b, TS_OP_cmpf, pred, x, y, 0);
}
static inline ts_val m_unless(ts_math *m, ts_pred pred, ts_val x, ts_val y) /* not pred: true on NaN */
{
    static const ts_pred opposite[] = {[TS_EQ] = TS_NE, [TS_NE] = TS_EQ, [TS_LT] = TS_GE,
                                       [TS_LE] = TS_GT, [TS_GT] = TS_LE, [TS_GE] = TS_LT};
    return ts_cmp(m->b, TS_OP_cmpf, opposite[pred], x, y, TS_A_UNORDERED);
}
static inline ts_val m_icmp(ts_math *m, ts_pred pred, ts_val x, ts_val y)
{
    return ts_cmp(m->b, TS_OP_cmpi, pred, x, y, 0);
}
static inline ts_val m_ult(ts_math *m, ts_val x, ts_val y)
{
    return ts_cmp(m->b, TS_OP_cmpi, TS_LT, x, y, TS_A_UNSIGNED);
}
static inline ts_val m_sel(ts_math *m, ts_val c, ts_val x, ts_val y)
{
    return ts_select(m->b, c, x, y);
}
static inline int64_t m_sign(const ts_math *m) /* the sign bit */
{
    return m->wide ? INT64_MIN : m->fmt->int_elem == TS_T_i16 ? INT16_MIN : INT32_MIN;
}
static inline ts_val m_with_sign(ts_math *m, ts_val x, ts_val sign) /* |x| with the sign bit of `sign` */
{
    ts_val s = m_and(m, m_bits(m, sign), m_sign(m));
    return m_float(m, m_or(m, m_and(m, m_bits(m, x), ~m_sign(m)), s));
}

/* Is there a math function that the pass below would write out? The machine's approximate ones stay. */
bool ts__math_is_left(const ts_fn *fn);

/* The pass `math`: operations that no target has become calls of the functions above, inlined. */
TS_CHECKED ts_status ts__pass_math(ts_fn *fn, ts_pass_env *env, ts_error *err);
/* The meaning of `fn`: *out is the function with each `fn` written out and all else as it is; fn itself where it has
 * none. For the evaluator. Owns: nothing; *out lives in the module. */
TS_CHECKED ts_status ts__math_expand(const ts_fn *fn, ts_arena *scratch, const ts_fn **out, ts_error *err);

/* The pass `complex`: complex numbers become pairs of real ones (complex.c). */
TS_CHECKED ts_status ts__pass_complex(ts_fn *fn, ts_pass_env *env, ts_error *err);
/* The same for the evaluator: *out is fn itself where it has none, else a function that lives in the module. */
TS_CHECKED ts_status ts__complex_expand(const ts_fn *fn, ts_arena *scratch, const ts_fn **out, ts_error *err);

#endif
