/* SPDX-License-Identifier: Apache-2.0
 *
 * atan2, by octants: t = min / max of |x|, |y|, or (min - max) / (min + max) in the upper half of the
 * octant, so that |t| <= tan(pi/8); the answer is j pi/4 +- atan t with the sign of y. The multiple of
 * pi/4 is added last, in two parts by fma.
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
