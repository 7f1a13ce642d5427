/* SPDX-License-Identifier: Apache-2.0
 *
 * fdim, remf, fmod, remainder.
 *
 * remf: x - y trunc(x / y), exact, with the sign of x.
 *
 * Where the quotient is below 2^22 (f64: 2^50) one fma gives the remainder, at most one y too small.
 * Greater quotients are cold: both significands as numbers in [1, 2), the remainder multiplied by up to
 * 2^22 (2^50) and reduced again until the difference of the exponents is used up; 13 (42) steps do for
 * any two numbers.
 */
#include "math/math.h"
#include <math.h>

/* r mod y for 0 <= r < 2^(mant - 1) y. */
static ts_val rem_step(ts_math *m, ts_val r, ts_val y, ts_val quotient)
{
    ts_val n = ts_op1(m->b, TS_OP_floor, quotient, 0), rest = m_fma(m, m_neg(m, n), y, r);
    return m_sel(m, m_cmp(m, TS_LT, rest, m_c(m, 0)), m_add(m, rest, y), rest);
}

ts_val ts__math_fdim(ts_math *m, ts_val x, ts_val y)
{
    return m_sel(m, m_cmp(m, TS_LE, x, y), m_c(m, 0), m_sub(m, x, y));
}

ts_val ts__math_power(ts_math *m, ts_val e)
{
    return m_float(m, m_shl(m, m_iadd(m, e, m_i(m, m->fmt->bias)), m->fmt->mant));
}

ts_val ts__math_significand(ts_math *m, ts_val a, ts_val *e)
{
    const int up = m->fmt->mant + 2;
    ts_val small = m_icmp(m, TS_LT, m_bits(m, a), m_i(m, m->fmt->min_normal));
    a = m_sel(m, small, m_mul(m, a, m_c(m, m->wide ? 0x1p54 : 0x1p25)), a);
    ts_val bits = m_bits(m, a), bias = m_sel(m, small, m_i(m, m->fmt->bias + up), m_i(m, m->fmt->bias));
    *e = m_isub(m, m_shr(m, bits, m->fmt->mant), bias);
    ts_val one = m_i(m, (int64_t)m->fmt->bias << m->fmt->mant);
    return m_float(m, m_or(m, m_and(m, bits, m->fmt->min_normal - 1), one));
}

static ts_val rem_far(ts_math *m, ts_val ax, ts_val ay)
{
    const int step = m->fmt->mant - 2, steps = ((m->wide ? 2098 : 277) + step - 1) / step;
    ts_val ex, ey, r = ts__math_significand(m, ax, &ex), y = ts__math_significand(m, ay, &ey);
    ts_val left = m_isub(m, ex, ey);
    r = rem_step(m, r, y, m_div(m, r, y));
    for (int i = 0; i < steps; i++) {
        ts_val now = ts_op2(m->b, TS_OP_mini, left, m_i(m, step), 0);
        r = m_mul(m, r, ts__math_power(m, now));
        r = rem_step(m, r, y, m_div(m, r, y));
        left = m_isub(m, left, now);
    }
    ts_val half = m_sar(m, ey, 1); /* 2^ey in two factors: the result may be subnormal, but is exact */
    r = m_mul(m, m_mul(m, r, ts__math_power(m, half)), ts__math_power(m, m_isub(m, ey, half)));
    ts_val good = ts_op2(m->b, TS_OP_andi, m_cmp(m, TS_LT, ax, m_c(m, INFINITY)), m_cmp(m, TS_GT, ay, m_c(m, 0)), 0);
    return m_sel(m, good, r, m_c(m, NAN));
}

ts_val ts__math_remf(ts_math *m, ts_val x, ts_val y)
{
    ts_val ax = m_abs(m, x), ay = m_abs(m, y), quotient = m_div(m, ax, ay);
    ts_val r = m_sel(m, m_cmp(m, TS_LT, ax, ay), ax, rem_step(m, ax, ay, quotient));
    ts_val far = m_unless(m, TS_LT, quotient, m_c(m, m->wide ? 0x1p50 : 0x1p21));
    ts_val opener = ts_cold_begin(m->b, far, 1, &r);
    r = rem_far(m, ax, ay);
    ts_term(m->b, TS_OP_yield, 1, &r);
    ts_end_like(m->b, opener);
    return m_with_sign(m, ts_res(m->b, opener, 0), x);
}

ts_val ts__math_fmod(ts_math *m, ts_val x, ts_val y)
{
    return ts__math_remf(m, x, y);
}

/* r = x mod 2y, from which y is taken while r is beyond the half; all exact. Where 2y would overflow, both are
 * scaled, and an x so small that it would suffer is the result. */
ts_val ts__math_remainder(ts_math *m, ts_val x, ts_val y)
{
    ts_val ax = m_abs(m, x), ay = m_abs(m, y), one = m_c(m, 1);
    ts_val huge = m_cmp(m, TS_GT, ay, m_c(m, m->wide ? 0x1p1022 : 0x1p126));
    ts_val same = ts_op2(m->b, TS_OP_andi, huge, m_cmp(m, TS_LT, ax, m_mul(m, ay, m_c(m, 0.5))), 0);
    ts_val scale = m_sel(m, huge, m_c(m, 0.25), one), back = m_sel(m, huge, m_c(m, 4), one);
    ts_val half = m_mul(m, ay, scale), r = ts__math_remf(m, m_mul(m, ax, scale), m_add(m, half, half));
    ts_val over = m_cmp(m, TS_GT, m_add(m, r, r), half), less = m_sub(m, r, half);
    less = m_sel(m, m_cmp(m, TS_GE, m_add(m, less, less), half), m_sub(m, less, half), less);
    r = m_sel(m, same, ax, m_mul(m, m_sel(m, over, less, r), back));
    return m_sel(m, m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), m_neg(m, r), r);
}
