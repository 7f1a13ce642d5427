/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the bits of a number, all exact: isfinite, isinf, signbit, copysign, trunc, rint, round, nextafter,
 * ldexp, frexp, logb, ilogb, modf.
 *
 * rint adds and subtracts 2^mant, which leaves no room for a fraction. nextafter counts the bits up or down: those of a
 * magnitude are in the order of the numbers. ldexp takes the significand from [1, 2) to its place in two factors of
 * which only the second can round.
 */
#include "math/math.h"
#include <math.h>

static ts_val bits_magnitude(ts_math *m, ts_val x)
{
    return m_and(m, m_bits(m, x), ~m_sign(m));
}

ts_val ts__math_isfinite(ts_math *m, ts_val x)
{
    return m_icmp(m, TS_LT, bits_magnitude(m, x), m_i(m, m->fmt->inf));
}

ts_val ts__math_isinf(ts_math *m, ts_val x)
{
    return m_icmp(m, TS_EQ, bits_magnitude(m, x), m_i(m, m->fmt->inf));
}

ts_val ts__math_signbit(ts_math *m, ts_val x)
{
    return m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0));
}

ts_val ts__math_copysign(ts_math *m, ts_val x, ts_val y)
{
    return m_with_sign(m, x, y);
}

ts_val ts__math_trunc(ts_math *m, ts_val x)
{
    return m_with_sign(m, ts_op1(m->b, TS_OP_floor, m_abs(m, x), 0), x);
}

ts_val ts__math_rint(ts_math *m, ts_val x)
{
    ts_val whole = m_c(m, m->wide ? 0x1p52 : 0x1p23), a = m_abs(m, x);
    ts_val y = m_sub(m, m_add(m, a, whole), whole);
    return m_with_sign(m, m_sel(m, m_cmp(m, TS_LT, a, whole), y, x), x);
}

ts_val ts__math_round_away(ts_math *m, ts_val x)
{
    ts_val a = m_abs(m, x), t = ts_op1(m->b, TS_OP_floor, a, 0);
    ts_val up = m_cmp(m, TS_GE, m_sub(m, a, t), m_c(m, 0.5)); /* exact; NaN of an infinity is not up */
    return m_with_sign(m, m_sel(m, up, m_add(m, t, m_c(m, 1)), t), x);
}

ts_val ts__math_nextafter(ts_math *m, ts_val x, ts_val y)
{
    ts_val bits = m_bits(m, x), zero = m_c(m, 0);
    ts_val inward = ts_op2(m->b, TS_OP_xori, m_cmp(m, TS_GT, y, x), m_icmp(m, TS_GE, bits, m_i(m, 0)), 0);
    ts_val step = m_float(m, m_iadd(m, bits, m_sel(m, inward, m_i(m, -1), m_i(m, 1))));
    ts_val least = m_with_sign(m, m_float(m, m_i(m, 1)), y);
    ts_val z = m_sel(m, m_cmp(m, TS_EQ, x, zero), least, step);
    z = m_sel(m, m_cmp(m, TS_EQ, x, y), y, z);
    ts_val odd = ts_op2(m->b, TS_OP_ori, m_unless(m, TS_EQ, x, x), m_unless(m, TS_EQ, y, y), 0);
    return m_sel(m, odd, m_c(m, NAN), z);
}

/* x is neither 0 nor infinite nor NaN. */
static ts_val bits_plain(ts_math *m, ts_val x)
{
    return m_ult(m, m_isub(m, bits_magnitude(m, x), m_i(m, 1)), m_i(m, m->fmt->inf - 1));
}

ts_val ts__math_frexp_part(ts_math *m, ts_val x)
{
    ts_val e, s = ts__math_significand(m, m_abs(m, x), &e);
    return m_sel(m, bits_plain(m, x), m_with_sign(m, m_mul(m, s, m_c(m, 0.5)), x), x);
}

/* An exponent, as wide as the float, as an i32. */
static ts_val bits_i32(ts_math *m, ts_val e)
{
    return m->wide ? ts_cast(m->b, TS_OP_trunci, e, TS_T_i32, 0) : e;
}

ts_val ts__math_frexp_exponent(ts_math *m, ts_val x)
{
    ts_val e;
    ts__math_significand(m, m_abs(m, x), &e);
    return bits_i32(m, m_sel(m, bits_plain(m, x), m_iadd(m, e, m_i(m, 1)), m_i(m, 0)));
}

ts_val ts__math_ilogb(ts_math *m, ts_val x)
{
    ts_val e, inf = m_icmp(m, TS_EQ, bits_magnitude(m, x), m_i(m, m->fmt->inf));
    ts__math_significand(m, m_abs(m, x), &e);
    return bits_i32(m, m_sel(m, bits_plain(m, x), e, m_sel(m, inf, m_i(m, INT32_MAX), m_i(m, INT32_MIN))));
}

ts_val ts__math_logb(ts_math *m, ts_val x)
{
    ts_val e, a = m_abs(m, x), zero = m_cmp(m, TS_EQ, x, m_c(m, 0));
    ts__math_significand(m, a, &e);
    e = ts_cast(m->b, TS_OP_itof, bits_i32(m, e), m->fmt->elem, 0);
    return m_sel(m, bits_plain(m, x), e, m_sel(m, zero, m_c(m, -INFINITY), a));
}

ts_val ts__math_modf_part(ts_math *m, ts_val x)
{
    ts_val a = m_abs(m, x), part = m_sub(m, a, ts_op1(m->b, TS_OP_floor, a, 0));
    return m_with_sign(m, m_sel(m, m_cmp(m, TS_EQ, a, m_c(m, INFINITY)), m_c(m, 0), part), x);
}

static ts_val bits_clamp(ts_math *m, ts_val i, int64_t least, int64_t most)
{
    ts_type type = ts_type_of(m->b->fn, i);
    i = ts_op2(m->b, TS_OP_maxi, i, ts_int(m->b, type, least), 0);
    return ts_op2(m->b, TS_OP_mini, i, ts_int(m->b, type, most), 0);
}

ts_val ts__math_ldexp(ts_math *m, ts_val x, ts_val n)
{
    const int64_t bias = m->fmt->bias;
    ts_val e, s = ts__math_significand(m, m_abs(m, x), &e);
    n = bits_clamp(m, n, -4 * bias, 4 * bias);
    if (m->wide)
        n = ts_cast(m->b, TS_OP_exti, n, TS_T_i64, 0);
    e = bits_clamp(m, m_iadd(m, e, n), -bias - m->fmt->mant - 2, bias + 1);
    ts_val y = ts__math_scale(m, s, m_iadd(m, e, m_i(m, 2 * bias)));
    return m_sel(m, bits_plain(m, x), m_with_sign(m, y, x), x); /* 0, infinities and NaN stay */
}
