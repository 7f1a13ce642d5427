/* SPDX-License-Identifier: Apache-2.0
 *
 * atan2, atan, asin, acos.
 *
 * atan2, by octants: t = min / max of |x|, |y|, or (min - max) / (min + max) in the upper half of the
 * octant, so that |t| <= tan(pi/8); the answer is j pi/4 +- atan t with the sign of y. The multiple of
 * pi/4 is added last, in two parts by fma.
 * atan: the same with the rounding errors of numerator, denominator and quotient carried along.
 * asin: x + x^3 P(x^2) up to 1/2, beyond it pi/2 - 2 asin sqrt((1 - x) / 2) with what the root lacks; acos likewise.
 */
#include "math/math.h"
#include <math.h>

typedef struct atan_table {
    double quarter[2]; /* pi/4 in two parts */
    int n;
    double c[12];
} atan_table;

/* Coefficients: tools/minimax.py, tables atan_*. */
static const atan_table atan_tables[2] = {
    {{0x1.921fb6p-1, -0x1.777a5cp-26}, 5, {-0.333333164, 0.199985281, -0.14244391, 0.105991632, -0.0609002858}},
    {{0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}, 12,
     {-0x1.5555555555554p-2, 0x1.9999999999588p-3, -0x1.249249246f975p-3, 0x1.c71c71b486126p-4,
      -0x1.745d1458b42bep-4, 0x1.3b1365db94a3fp-4, -0x1.110bfb8b66365p-4, 0x1.e169251aa9a5dp-5,
      -0x1.ab4629920982cp-5, 0x1.7012ba290890ep-5, -0x1.104944d9ba2dfp-5, 0x1.ea4748b1a79d1p-7}},
};

/* atan(low / high) = base pi/4 + atan t; 0 <= low <= high. Both zero count as 0 / 1, both infinite as 1. */
static ts_val atan_quotient(ts_math *m, ts_val low, ts_val high, ts_val *base)
{
    ts_val zero = m_c(m, 0), one = m_c(m, 1);
    ts_val inf = m_c(m, INFINITY);
    ts_val infinite = ts_op2(m->b, TS_OP_andi, m_cmp(m, TS_EQ, low, inf), m_cmp(m, TS_EQ, high, inf), 0);
    low = m_sel(m, infinite, one, low);
    high = m_sel(m, infinite, one, m_sel(m, m_cmp(m, TS_EQ, high, zero), one, high));
    ts_val much = m_c(m, m->wide ? 0x1p1000 : 0x1p100); /* the sum must not overflow */
    ts_val scale = m_sel(m, m_cmp(m, TS_GT, high, much), m_c(m, 0.25), one);
    low = m_mul(m, low, scale);
    high = m_mul(m, high, scale);
    ts_val upper = m_cmp(m, TS_GT, low, m_mul(m, high, m_c(m, 0.41421356)));
    *base = m_sel(m, upper, one, zero);
    return m_div(m, m_sel(m, upper, m_sub(m, low, high), low), m_sel(m, upper, m_add(m, low, high), high));
}

ts_val ts__math_atan2(ts_math *m, ts_val y, ts_val x)
{
    const atan_table *t = &atan_tables[m->wide];
    ts_val ax = m_abs(m, x), ay = m_abs(m, y), base;
    ts_val steep = m_cmp(m, TS_GT, ay, ax), left = m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0));
    ts_val q = atan_quotient(m, m_sel(m, steep, ax, ay), m_sel(m, steep, ay, ax), &base);
    ts_val z = m_mul(m, q, q), a = m_fma(m, m_mul(m, z, q), ts__math_poly(m, z, t->c, t->n), q);
    base = m_sel(m, steep, m_sub(m, m_c(m, 2), base), base);
    a = m_sel(m, steep, m_neg(m, a), a);
    base = m_sel(m, left, m_sub(m, m_c(m, 4), base), base);
    a = m_sel(m, left, m_neg(m, a), a);
    a = m_fma(m, base, m_c(m, t->quarter[0]), m_fma(m, base, m_c(m, t->quarter[1]), a));
    return m_with_sign(m, a, y);
}

/* atan a = base pi/4 + atan t + tail for a >= 0 */
static ts_val atan_reduce(ts_math *m, ts_val a, ts_val *base, ts_val *tail)
{
    ts_val zero = m_c(m, 0), one = m_c(m, 1), minus = m_c(m, -1), sum, sum_rest, gap, gap_rest;
    ts_val low = m_cmp(m, TS_LT, a, m_c(m, 0.41421356)), high = m_cmp(m, TS_GT, a, m_c(m, 2.4142135));
    ts__math_two_sum(m, a, one, &sum, &sum_rest);
    ts__math_two_sum(m, a, minus, &gap, &gap_rest);
    ts_val n = m_sel(m, low, a, m_sel(m, high, minus, gap)), d = m_sel(m, low, one, m_sel(m, high, a, sum));
    ts_val middle = m_sel(m, low, zero, m_sel(m, high, zero, one));
    ts_val q = m_div(m, n, d), back = m_neg(m, q);
    ts_val rest = m_fma(m, back, d, n), more = m_fma(m, back, sum_rest, gap_rest);
    rest = m_add(m, rest, m_sel(m, m_cmp(m, TS_EQ, middle, one), more, zero));
    rest = m_sel(m, m_cmp(m, TS_LT, m_abs(m, rest), one), rest, zero); /* of infinities */
    *tail = m_div(m, rest, d);
    *base = m_sel(m, high, m_c(m, 2), middle);
    return q;
}

ts_val ts__math_atan(ts_math *m, ts_val x)
{
    const atan_table *t = &atan_tables[m->wide];
    ts_val base, tail, q = atan_reduce(m, m_abs(m, x), &base, &tail), z = m_mul(m, q, q);
    ts_val a = m_add(m, q, m_fma(m, m_mul(m, z, q), ts__math_poly(m, z, t->c, t->n), tail));
    a = m_fma(m, base, m_c(m, t->quarter[0]), m_fma(m, base, m_c(m, t->quarter[1]), a));
    return m_with_sign(m, a, x);
}

typedef struct asin_table {
    int n;
    double c[12];
} asin_table;

/* Coefficients: tools/minimax.py, tables asin_*. */
static const asin_table asin_tables[2] = {
    {5, {0.166667536, 0.0749524906, 0.0454769395, 0.0241448879, 0.0422287472}},
    {12, {0x1.5555555555383p-3, 0x1.3333333370116p-4, 0x1.6db6db416fa67p-5, 0x1.f1c72c91609c6p-6, 0x1.6e89ebc0bbc5dp-6,
          0x1.1c6c64df177aep-6, 0x1.c6f36891f1298p-7, 0x1.8f084c9d55dc9p-7, 0x1.a96ca134aaaabp-8, 0x1.419dc933fe376p-6,
          -0x1.0c7930c77cca0p-6, 0x1.065966830d4f4p-5}},
};

/* asin s + tail = s + *more where s is a up to 1/2 and sqrt((1 - a) / 2) beyond (`far`). */
static ts_val asin_half(ts_math *m, ts_val a, ts_val far, ts_val *more)
{
    const asin_table *t = &asin_tables[m->wide];
    ts_val half = m_c(m, 0.5), left = m_fma(m, m_neg(m, half), a, half);
    ts_val root = ts_op1(m->b, TS_OP_sqrt, left, 0), rest = m_fma(m, m_neg(m, root), root, left);
    ts_val tail = m_div(m, rest, m_max(m, m_add(m, root, root), m->wide ? 0x1p-1000 : 0x1p-100));
    ts_val s = m_sel(m, far, root, a), z = m_sel(m, far, left, m_mul(m, a, a));
    tail = m_sel(m, far, tail, m_c(m, 0));
    *more = m_fma(m, m_mul(m, z, s), ts__math_poly(m, z, t->c, t->n), tail);
    return s;
}

ts_val ts__math_asin(ts_math *m, ts_val x)
{
    const atan_table *t = &atan_tables[m->wide];
    ts_val a = m_abs(m, x), far = m_cmp(m, TS_GT, a, m_c(m, 0.5)), more, s = asin_half(m, a, far, &more);
    ts_val minus = m_c(m, -2), right = m_fma(m, minus, more, m_c(m, 2 * t->quarter[1]));
    ts_val y = m_fma(m, minus, s, m_c(m, 2 * t->quarter[0])); /* pi/2 - 2 s, with what its rounding lost */
    ts_val lost = m_fma(m, minus, s, m_sub(m, m_c(m, 2 * t->quarter[0]), y));
    y = m_add(m, y, m_add(m, lost, right));
    return m_with_sign(m, m_sel(m, far, y, m_add(m, s, more)), x);
}

ts_val ts__math_acos(ts_math *m, ts_val x)
{
    const atan_table *t = &atan_tables[m->wide];
    ts_val a = m_abs(m, x), far = m_cmp(m, TS_GT, a, m_c(m, 0.5)), more, s = asin_half(m, a, far, &more);
    ts_val zero = m_c(m, 0), left = m_cmp(m, TS_LT, x, zero);
    /* base - factor (s + more): pi/2 - x; beyond 1/2: 0 + 2 .. or pi - 2 .. */
    ts_val factor = m_sel(m, far, m_sel(m, left, m_c(m, -2), m_c(m, 2)), m_sel(m, left, m_c(m, 1), m_c(m, -1)));
    ts_val quarters = m_sel(m, far, m_sel(m, left, m_c(m, 4), zero), m_c(m, 2));
    ts_val base = m_mul(m, quarters, m_c(m, t->quarter[0])), small = m_mul(m, quarters, m_c(m, t->quarter[1]));
    ts_val y = m_fma(m, factor, s, base), lost = m_fma(m, factor, s, m_sub(m, base, y));
    return m_add(m, y, m_add(m, lost, m_fma(m, factor, more, small)));
}
