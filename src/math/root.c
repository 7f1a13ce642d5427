/* SPDX-License-Identifier: Apache-2.0
 *
 * cbrt, rcbrt, hypot, rhypot.
 *
 * Roots: |x| = a 2^(3 q), a in [1, 8); y = a^(-1/3) from a polynomial, made better by y += y (e/3 + 2 e^2/9) with
 * e = 1 - a y^3 (three times as many bits), in f64 once more by y += y e/3. cbrt is a y^2, corrected by what its cube
 * lacks; rcbrt is y, corrected by e from products in two parts.
 * hypot: sqrt(x^2 + y^2), corrected by what its square lacks, all squares in two parts (C. F. Borges, An improved
 * algorithm for hypot(a, b), 2019), on numbers scaled by a power of two so that no square leaves the format; rhypot
 * from the same sum.
 */
#include "math/math.h"
#include <math.h>

typedef struct root_table {
    int n;
    double c[6];
    double of2, of4; /* 2^(-1/3), 2^(-2/3) */
} root_table;

/* Coefficients of s^(-1/3) in s - 1.5: tools/minimax.py, tables root_*. */
static const root_table root_tables[2] = {
    {4, {0.873363078, -0.193613708, 0.0930408984, -0.050721392}, 0x1.965feap-1, 0x1.428a3p-1},
    {6, {0x1.bf4695672fc6fp-1, -0x1.8d9d415469a37p-3, 0x1.5ffa181c45018p-4, -0x1.6ab7f128a4418p-5,
         0x1.d1c2c15e0b110p-6, -0x1.1bc7508cee782p-6}, 0x1.965fea53d6e3dp-1, 0x1.428a2f98d728bp-1},
};

/* y = a^(-1/3) to nearly all bits, for a of |x| = a 2^(3 q). */
static ts_val root_inverse(ts_math *m, ts_val x, ts_val *a, ts_val *q)
{
    const root_table *t = &root_tables[m->wide];
    const int64_t up = m->wide ? 1101 : 201; /* makes the exponent positive, a multiple of 3 */
    ts_val e, s = ts__math_significand(m, m_abs(m, x), &e), one = m_c(m, 1);
    e = m_iadd(m, e, m_i(m, up));
    ts_val third = m_shr(m, ts_op2(m->b, TS_OP_muli, e, m_i(m, 21846), 0), 16);
    ts_val left = m_isub(m, e, ts_op2(m->b, TS_OP_muli, third, m_i(m, 3), 0));
    ts_val is1 = m_icmp(m, TS_EQ, left, m_i(m, 1)), is2 = m_icmp(m, TS_EQ, left, m_i(m, 2));
    ts_val y = ts__math_poly(m, m_sub(m, s, m_c(m, 1.5)), t->c, t->n);
    y = m_mul(m, y, m_sel(m, is1, m_c(m, t->of2), m_sel(m, is2, m_c(m, t->of4), one)));
    *a = m_mul(m, s, m_sel(m, is1, m_c(m, 2), m_sel(m, is2, m_c(m, 4), one)));
    *q = m_isub(m, third, m_i(m, up / 3));
    for (int i = 0; i <= (int)m->wide; i++) {
        ts_val rest = m_fma(m, m_neg(m, *a), m_mul(m, m_mul(m, y, y), y), one);
        ts_val part = m_c(m, 1.0 / 3);
        part = i ? part : m_fma(m, rest, m_c(m, 2.0 / 9), part);
        y = m_fma(m, m_mul(m, y, rest), part, y);
    }
    return y;
}

/* x is neither 0 nor infinite nor NaN. */
static ts_val root_plain(ts_math *m, ts_val x)
{
    ts_val bits = m_and(m, m_bits(m, x), ~m_sign(m));
    return m_ult(m, m_isub(m, bits, m_i(m, 1)), m_i(m, m->fmt->inf - 1));
}

ts_val ts__math_cbrt(ts_math *m, ts_val x)
{
    ts_val a, q, y = root_inverse(m, x, &a, &q), y2 = m_mul(m, y, y), z = m_mul(m, a, y2);
    ts_val z2 = m_mul(m, z, z), z2_rest = m_fma(m, z, z, m_neg(m, z2)), minus = m_neg(m, z);
    ts_val rest = m_fma(m, minus, z2_rest, m_fma(m, minus, z2, a));
    z = m_fma(m, m_mul(m, rest, y2), m_c(m, 1.0 / 3), z);
    z = m_with_sign(m, m_mul(m, z, ts__math_power(m, q)), x);
    return m_sel(m, root_plain(m, x), z, x);
}

ts_val ts__math_rcbrt(ts_math *m, ts_val x)
{
    ts_val a, q, y = root_inverse(m, x, &a, &q), y2 = m_mul(m, y, y), y2_rest = m_fma(m, y, y, m_neg(m, y2));
    ts_val p = m_mul(m, a, y), p_rest = m_fma(m, a, y, m_neg(m, p)), minus = m_neg(m, p);
    ts_val rest = m_fma(m, minus, y2, m_c(m, 1)); /* 1 - (p + p_rest) (y2 + y2_rest) */
    rest = m_fma(m, minus, y2_rest, m_fma(m, m_neg(m, p_rest), y2, rest));
    y = m_fma(m, m_mul(m, y, rest), m_c(m, 1.0 / 3), y);
    y = m_with_sign(m, m_mul(m, y, ts__math_power(m, m_isub(m, m_i(m, 0), q))), x);
    return m_sel(m, root_plain(m, x), y, m_div(m, m_c(m, 1), x));
}

/* sqrt(x^2 + y^2) = (h - more / (2 h)) / scale; scale is a power of two that keeps the squares in the format */
typedef struct root_sum {
    ts_val h, more, scale, back; /* back: 1 / scale */
    ts_val infinite;             /* x or y is */
} root_sum;

static root_sum root_of_squares(ts_math *m, ts_val x, ts_val y)
{
    ts_val ax = m_abs(m, x), ay = m_abs(m, y), less = m_cmp(m, TS_LT, ax, ay), inf = m_c(m, INFINITY);
    ts_val a = m_sel(m, less, ay, ax), b = m_sel(m, less, ax, ay), one = m_c(m, 1);
    ts_val big = m_cmp(m, TS_GT, a, m_c(m, m->wide ? 0x1p500 : 0x1p60));
    ts_val little = m_cmp(m, TS_LT, a, m_c(m, m->wide ? 0x1p-400 : 0x1p-40));
    double down = m->wide ? 0x1p-600 : 0x1p-70, up = m->wide ? 0x1p700 : 0x1p100;
    root_sum r = {.scale = m_sel(m, big, m_c(m, down), m_sel(m, little, m_c(m, up), one)),
                  .back = m_sel(m, big, m_c(m, 1 / down), m_sel(m, little, m_c(m, 1 / up), one)),
                  .infinite = ts_op2(m->b, TS_OP_ori, m_cmp(m, TS_EQ, ax, inf), m_cmp(m, TS_EQ, ay, inf), 0)};
    a = m_mul(m, a, r.scale);
    b = m_mul(m, b, r.scale);
    r.h = ts_op1(m->b, TS_OP_sqrt, m_fma(m, a, a, m_mul(m, b, b)), 0);
    ts_val h2 = m_mul(m, r.h, r.h), a2 = m_mul(m, a, a), h2_rest = m_fma(m, r.h, r.h, m_neg(m, h2));
    ts_val more = m_fma(m, m_neg(m, b), b, m_sub(m, h2, a2));
    r.more = m_add(m, more, m_sub(m, h2_rest, m_fma(m, a, a, m_neg(m, a2))));
    return r;
}

ts_val ts__math_hypot(ts_math *m, ts_val x, ts_val y)
{
    root_sum r = root_of_squares(m, x, y);
    ts_val twice = m_max(m, m_add(m, r.h, r.h), m->wide ? 0x1p-1000 : 0x1p-100);
    ts_val z = m_mul(m, m_sub(m, r.h, m_div(m, r.more, twice)), r.back);
    return m_sel(m, r.infinite, m_c(m, INFINITY), z);
}

/* 1 / (h - more / (2 h)) = q (1 + rest + more q^2 / 2) with q = 1 / h rounded and rest = 1 - q h */
ts_val ts__math_rhypot(ts_math *m, ts_val x, ts_val y)
{
    root_sum r = root_of_squares(m, x, y);
    ts_val one = m_c(m, 1), q = m_div(m, one, r.h), rest = m_fma(m, m_neg(m, q), r.h, one);
    rest = m_fma(m, m_mul(m, m_mul(m, q, q), m_c(m, 0.5)), r.more, rest);
    ts_val z = m_mul(m, m_fma(m, q, rest, q), r.scale);
    z = m_sel(m, m_cmp(m, TS_EQ, r.h, m_c(m, 0)), m_c(m, INFINITY), z);
    return m_sel(m, r.infinite, m_c(m, 0), z);
}
