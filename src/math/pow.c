/* SPDX-License-Identifier: Apache-2.0
 *
 * pow, integer powers, rsqrt.
 *
 * |x|^y = 2^(y log2 |x|) with log2 in two words, because its error is multiplied by up to 1075 times y:
 * x = 2^e m, q = (m - 1) / (m + 1) as quotient and residual, log m = 2 q (1 + q^2 (1/3 + q^2 Q(q^2))), only Q in one
 * word. Then C99's special cases by selects, the sign from the parity of y.
 */
#include "math/math.h"
#include <math.h>

typedef struct pow_table {
    double scale_lo, scale_hi; /* 2 / ln 2 */
    double third_lo, third_hi; /* 1/3 */
    int n;
    double c[9];
} pow_table;

/* Coefficients: tools/minimax.py, tables pow_*. */
static const pow_table pow_tables[2] = {
    {0x1.4ae0cp-25, 0x1.715476p+1, -0x1.555556p-27, 0x1.555556p-2, 4,
     {0.199999988, 0.142860398, 0.110853299, 0.0986861289}},
    {0x1.777d0ffda0d24p-55, 0x1.71547652b82fep+1, 0x1.5555555555555p-56, 0x1.5555555555555p-2, 9,
     {0x1.999999999999ap-3, 0x1.249249249232dp-3, 0x1.c71c71c75204dp-4, 0x1.745d172662138p-4, 0x1.3b13bba0ff9b9p-4,
      0x1.110efff7c8602p-4, 0x1.e262768793d2dp-5, 0x1.a5dd1ed1cd056p-5, 0x1.e2a5d48adfd02p-5}},
};

/* f / (2 + f) */
static ts_math_pair pow_quotient(ts_math *m, ts_val f)
{
    ts_math_pair g = ts__math_fast_sum(m, m_c(m, 2), f);
    ts_val inverse = m_div(m, m_c(m, 1), g.head), q = m_mul(m, f, inverse), minus = m_neg(m, q);
    ts_val rest = m_fma(m, minus, g.tail, m_fma(m, minus, g.head, f));
    return (ts_math_pair){q, m_mul(m, rest, inverse)};
}

ts_math_pair ts__math_log2_pair(ts_math *m, ts_val x)
{
    const pow_table *t = &pow_tables[m->wide];
    double up = m->wide ? 0x1p54 : 0x1p25, unit = m->wide ? 1 : 0x1p-23;
    ts_val small = m_icmp(m, TS_LT, m_bits(m, x), m_i(m, m->fmt->min_normal)), e, f;
    ts__math_split(m, m_sel(m, small, m_mul(m, x, m_c(m, up)), x), &e, &f);
    e = m_fma(m, e, m_c(m, unit), m_sel(m, small, m_c(m, -(m->fmt->mant + 2)), m_c(m, 0)));
    ts_math_pair q = pow_quotient(m, f), z = ts__math_product(m, q.head, q.head);
    z.tail = m_fma(m, m_add(m, q.head, q.head), q.tail, z.tail);
    ts_val small_part = m_mul(m, z.head, ts__math_poly(m, z.head, t->c, t->n));
    ts_math_pair p = ts__math_fast_sum(m, m_c(m, t->third_hi), small_part);
    p.tail = m_add(m, p.tail, m_c(m, t->third_lo));
    ts_math_pair tail = ts__math_times(m, q, ts__math_times(m, z, p)), l = ts__math_fast_sum(m, q.head, tail.head);
    l.tail = m_add(m, l.tail, m_add(m, tail.tail, q.tail));
    l = ts__math_times(m, l, (ts_math_pair){m_c(m, t->scale_hi), m_c(m, t->scale_lo)});
    ts_math_pair sum = ts__math_fast_sum(m, e, l.head);
    return (ts_math_pair){sum.head, m_add(m, sum.tail, l.tail)};
}

/* |x|^y for x = |x|; NaN when either is NaN, except that 1^y is 1. */
static ts_val pow_magnitude(ts_math *m, ts_val x, ts_math_pair y)
{
    ts_val zero = m_c(m, 0), inf = m_c(m, INFINITY), one = m_c(m, 1);
    ts_math_pair l = ts__math_log2_pair(m, x);
    l.head = m_sel(m, m_cmp(m, TS_EQ, x, zero), m_c(m, -INFINITY), l.head);
    l.head = m_sel(m, m_cmp(m, TS_LT, x, inf), l.head, x); /* inf, NaN */
    ts_math_pair p = ts__math_product(m, y.head, l.head);
    ts_val tail = m_fma(m, y.head, l.tail, p.tail);
    if (y.tail)
        tail = m_fma(m, y.tail, l.head, tail);
    ts_val far = m_unless(m, TS_LT, m_abs(m, p.head), m_c(m, m->wide ? 1100 : 160));
    ts_val r = ts__math_exp2_both(m, p.head, m_sel(m, far, zero, tail));
    return m_sel(m, m_cmp(m, TS_EQ, x, one), one, r);
}

/* The sign bit of x where y is odd. */
static ts_val pow_signed(ts_math *m, ts_val magnitude, ts_val x, ts_val odd)
{
    ts_val sign = m_sel(m, odd, m_and(m, m_bits(m, x), m_sign(m)), m_i(m, 0));
    return m_float(m, m_or(m, m_bits(m, magnitude), sign));
}

ts_val ts__math_pow(ts_math *m, ts_val x, ts_val y)
{
    ts_val zero = m_c(m, 0), one = m_c(m, 1), whole = ts_op1(m->b, TS_OP_floor, y, 0);
    ts_val half = m_mul(m, y, m_c(m, 0.5)), integer = m_cmp(m, TS_EQ, whole, y);
    ts_val uneven = m_cmp(m, TS_NE, ts_op1(m->b, TS_OP_floor, half, 0), half);
    ts_val odd = ts_op2(m->b, TS_OP_andi, integer, uneven, 0);
    ts_val r = pow_signed(m, pow_magnitude(m, m_abs(m, x), (ts_math_pair){y, 0}), x, odd);
    ts_val negative = ts_op2(m->b, TS_OP_andi, m_cmp(m, TS_LT, x, zero), m_cmp(m, TS_GT, x, m_c(m, -INFINITY)), 0);
    ts_val broken = ts_op2(m->b, TS_OP_andi, negative, m_cmp(m, TS_NE, whole, y), 0);
    r = m_sel(m, broken, m_c(m, NAN), r);
    r = m_sel(m, m_unless(m, TS_EQ, y, y), y, r);
    ts_val unit = ts_op2(m->b, TS_OP_ori, m_cmp(m, TS_EQ, x, one), m_cmp(m, TS_EQ, y, zero), 0);
    return m_sel(m, unit, one, r);
}

/* n as a pair of floats; integers of 64 bits keep what matters (f32: beyond 2^40 all overflow). */
static ts_math_pair powi_pair(ts_math *m, ts_val n, ts_type elem)
{
    ts_builder *b = m->b;
    ts_type type = ts_type_of(b->fn, n);
    bool wide = elem == TS_T_i64;
    int low_bits = m->wide ? 32 : wide ? 24 : 8;
    if (wide && !m->wide) {
        ts_val most = ts_int(b, type, (int64_t)1 << 40), least = ts_int(b, type, -((int64_t)1 << 40));
        n = ts_op2(b, TS_OP_maxi, ts_op2(b, TS_OP_mini, n, most, 0), least, 0);
    }
    if (m->wide && !wide)
        return (ts_math_pair){ts_cast(b, TS_OP_itof, n, TS_T_f64, 0), 0};
    int64_t mask = ((int64_t)1 << low_bits) - 1;
    ts_val low = ts_op2(b, TS_OP_andi, n, ts_int(b, type, mask), 0);
    ts_val high = ts_op2(b, TS_OP_subi, n, low, 0);
    return ts__math_fast_sum(m, ts_cast(b, TS_OP_itof, high, m->fmt->elem, 0),
                             ts_cast(b, TS_OP_itof, low, m->fmt->elem, 0));
}

ts_val ts__math_fpowi(ts_math *m, ts_val x, ts_val n)
{
    ts_builder *b = m->b;
    ts_type elem = ts_type_elem(b->fn->module, ts_type_of(b->fn, n));
    if (elem != TS_T_i64 && elem != TS_T_i32) {
        n = ts_cast(b, TS_OP_exti, n, TS_T_i32, 0);
        elem = TS_T_i32;
    }
    ts_type type = ts_type_of(b->fn, n);
    ts_val bit = ts_op2(b, TS_OP_andi, n, ts_int(b, type, 1), 0), none = ts_int(b, type, 0);
    ts_val odd = ts_cmp(b, TS_OP_cmpi, TS_NE, bit, none, 0), is_zero = ts_cmp(b, TS_OP_cmpi, TS_EQ, n, none, 0);
    ts_val r = pow_signed(m, pow_magnitude(m, m_abs(m, x), powi_pair(m, n, elem)), x, odd);
    return m_sel(m, is_zero, m_c(m, 1), r);
}

/* Two IEEE operations; a third rounding correction would cost three times as much. */
ts_val ts__math_rsqrt(ts_math *m, ts_val x)
{
    return m_div(m, m_c(m, 1), ts_op1(m->b, TS_OP_sqrt, x, 0));
}
