/* SPDX-License-Identifier: Apache-2.0
 *
 * sinh, cosh, tanh, asinh, acosh, atanh, on |x| with the sign put back.
 *
 * sinh, cosh: |x| = k ln 2 + r, then the addition theorem: sinh |x| = Sk C + Ck S with Sk = (2^k - 2^-k) / 2,
 * Ck = (2^k + 2^-k) / 2 from exponent bits, S = sinh r and C = cosh r short polynomials. No division, no
 * cancellation: k = 0 gives S and C themselves. Where 2^(k-1) would overflow, k is one less and the
 * result doubled.
 * asinh, acosh, atanh: log(1 + z), with z and its rounding error from x + x^2 / (1 + sqrt(1 + x^2)), with t = x - 1
 * from t + sqrt(t^2 + 2 t), and from 2x / (1 - x). Where x^2 would be all that counts, log x + ln 2.
 * tanh: e / (e + 2) with e = exp(2|x|) - 1, which is 2^k expm1(r) + (2^k - 1).
 */
#include "math/math.h"
#include <math.h>

typedef struct hyper_table {
    double big, most; /* from `big` on k is lowered by one; beyond `most` all is infinite */
    double flat;      /* tanh is 1 from here on */
    int n_sinh, n_cosh;
    double sinh[6], cosh[7];
} hyper_table;

/* Coefficients: tools/minimax.py, tables sinh_*, cosh_*. */
static const hyper_table hyper_tables[2] = {
    {88.5, 89.5, 10, 3, 4,
     {0.166666672, 0.00833317544, 0.000199740229},
     {0.5, 0.0416666679, 0.00138885842, 2.50045123e-05}},
    {709.5, 710.5, 20, 6, 7,
     {0x1.5555555555555p-3, 0x1.1111111111385p-7, 0x1.a01a019ea3173p-13, 0x1.71de4071386bap-19,
      0x1.ae4d29a6b6153p-26, 0x1.821a6ea275c40p-33},
     {0x1.0000000000000p-1, 0x1.5555555555555p-5, 0x1.6c16c16c16f9ap-10, 0x1.a01a019e6d5dfp-16,
      0x1.27e501652b176p-22, 0x1.1ed9b9a03e031p-29, 0x1.c68aa22256caep-37}},
};

/* same * C + cross * S, where same and cross are Sk and Ck (sinh) or the other way round (cosh); `lost` is
 * what `same` lacks to be exact. */
static ts_val hyper_sum(ts_math *m, ts_val r, ts_val same, ts_val lost, ts_val cross)
{
    const hyper_table *t = &hyper_tables[m->wide];
    ts_val z = m_mul(m, r, r);
    ts_val s = m_fma(m, m_mul(m, z, r), ts__math_poly(m, z, t->sinh, t->n_sinh), r);
    ts_val c = m_mul(m, z, ts__math_poly(m, z, t->cosh, t->n_cosh)); /* cosh r - 1 */
    return m_add(m, same, m_fma(m, cross, s, m_fma(m, same, c, lost)));
}

static ts_val hyper_any(ts_math *m, ts_val a, bool even)
{
    const hyper_table *t = &hyper_tables[m->wide];
    const int64_t one = (int64_t)1 << m->fmt->mant;
    ts_val k, x = m_min(m, a, t->most), r = ts__math_exp_rest(m, x, m->fmt->bias - 1, &k);
    ts_val big = m_cmp(m, TS_GT, x, m_c(m, t->big));
    ts_val up = m_shl(m, m_isub(m, k, m_sel(m, big, m_i(m, 1), m_i(m, 0))), m->fmt->mant); /* 2^(k-1) */
    ts_val down = m_isub(m, m_i(m, 2 * (m->fmt->bias - 1) * one), up);                      /* 2^(-k-1) */
    down = ts_op2(m->b, TS_OP_maxi, down, m_i(m, 0), 0);
    ts_val high = m_float(m, up), low = m_float(m, down), ck = m_add(m, high, low), sk = m_sub(m, high, low), y;
    if (even)
        y = hyper_sum(m, r, ck, m_add(m, m_sub(m, high, ck), low), sk);
    else
        y = hyper_sum(m, r, sk, m_sub(m, m_sub(m, high, sk), low), ck);
    return m_mul(m, y, m_sel(m, big, m_c(m, 2), m_c(m, 1)));
}

ts_val ts__math_sinh(ts_math *m, ts_val x)
{
    return m_with_sign(m, hyper_any(m, m_abs(m, x), false), x);
}

ts_val ts__math_cosh(ts_math *m, ts_val x)
{
    return hyper_any(m, m_abs(m, x), true);
}

ts_val ts__math_tanh(ts_math *m, ts_val x)
{
    ts_val k, a = m_min(m, m_abs(m, x), hyper_tables[m->wide].flat);
    ts_val r = ts__math_exp_rest(m, m_add(m, a, a), m->fmt->bias, &k);
    ts_val power = m_float(m, m_shl(m, k, m->fmt->mant)); /* 2^k */
    ts_val e = m_fma(m, ts__math_expm1_rest(m, r), power, m_sub(m, power, m_c(m, 1)));
    ts_val two = m_c(m, 2), den = m_add(m, e, two), den_rest = m_sub(m, e, m_sub(m, den, two));
    ts_val q = m_div(m, e, den), minus = m_neg(m, q);
    ts_val rest = m_fma(m, minus, den_rest, m_fma(m, minus, den, e)); /* what q lacks, times den */
    ts_val inverse = m_fma(m, minus, m_c(m, 0.5), m_c(m, 0.5));       /* 1 / den = (1 - q) / 2 */
    inverse = m_sel(m, m_cmp(m, TS_LT, e, m_c(m, 64)), inverse, m_c(m, 0)); /* needless and wrong beyond */
    return m_with_sign(m, m_fma(m, rest, inverse, q), x);
}

/* ---- inverses --------------------------------------------------------------------------------------*/

/* log(1 + z + tail), of large x log(2 x) */
static ts_val hyper_log(ts_math *m, ts_val x, ts_val z, ts_val tail)
{
    ts_val large = m_cmp(m, TS_GE, x, m_c(m, m->wide ? 0x1p30 : 0x1p14)), zero = m_c(m, 0), inf = m_c(m, INFINITY);
    z = m_sel(m, large, m_sub(m, x, m_c(m, 1)), z);
    tail = m_sel(m, large, zero, tail);
    ts_val y = ts__math_log1p_both(m, z, tail, m_sel(m, large, m_c(m, 1), zero));
    return m_sel(m, m_cmp(m, TS_EQ, x, inf), inf, y);
}

ts_val ts__math_asinh(ts_math *m, ts_val x)
{
    ts_val a = m_abs(m, x), one = m_c(m, 1), root = ts_op1(m->b, TS_OP_sqrt, m_fma(m, a, a, one), 0);
    ts_val q = m_div(m, m_mul(m, a, a), m_add(m, one, root)), z = m_add(m, a, q); /* q < a */
    return m_with_sign(m, hyper_log(m, a, z, m_sub(m, q, m_sub(m, z, a))), x);
}

ts_val ts__math_acosh(ts_math *m, ts_val x)
{
    ts_val t = m_sub(m, x, m_c(m, 1)), twice = m_add(m, t, t), square = m_fma(m, t, t, twice);
    ts_val root = ts_op1(m->b, TS_OP_sqrt, square, 0), lost = m_fma(m, t, t, m_sub(m, twice, square)), z, tail;
    ts_val rest = m_div(m, m_add(m, m_fma(m, m_neg(m, root), root, square), lost),
                        m_max(m, m_add(m, root, root), m->wide ? 0x1p-1000 : 0x1p-100));
    ts__math_two_sum(m, t, root, &z, &tail);
    ts_val y = hyper_log(m, x, z, m_add(m, tail, rest));
    return m_sel(m, m_unless(m, TS_GE, x, m_c(m, 1)), m_c(m, NAN), y);
}

ts_val ts__math_atanh(ts_math *m, ts_val x)
{
    ts_val a = m_abs(m, x), one = m_c(m, 1), den = m_sub(m, one, a), lost = m_sub(m, m_sub(m, one, den), a);
    ts_val twice = m_add(m, a, a), z = m_div(m, twice, den), minus = m_neg(m, z);
    ts_val tail = m_div(m, m_fma(m, minus, lost, m_fma(m, minus, den, twice)), den);
    ts_val y = m_mul(m, ts__math_log1p_both(m, z, tail, 0), m_c(m, 0.5));
    y = m_sel(m, m_cmp(m, TS_LT, a, m_c(m, m->wide ? 0x1p-30 : 0x1p-14)), a, y);
    y = m_sel(m, m_cmp(m, TS_EQ, a, one), m_c(m, INFINITY), y);
    return m_with_sign(m, m_sel(m, m_unless(m, TS_LE, a, one), m_c(m, NAN), y), x);
}
