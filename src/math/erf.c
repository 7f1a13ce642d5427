/* SPDX-License-Identifier: Apache-2.0
 *
 * erf, erfc, erfcx, normcdf.
 *
 * From ERF_NEAR on, erfcx x = exp(x^2) erfc x = g(t) / (1 + 2x), g a polynomial in t = (x - k) / (x + k)
 * (M. M. Shepherd and J. G. Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < inf, 1981);
 * erfc is that times exp(-x^2), the square in two parts. Below it erfc x = (1 - x) - x P(x^2), where P is what
 * erf x = x + x P(x^2) takes up to 1. Of negative x beyond, erfc x = 2 - erfc(-x) and erfcx x = 2 exp(x^2) - erfcx(-x).
 * normcdf x = erfc(-x / sqrt 2) / 2: the same with k and 2 times sqrt 2 and 1 / sqrt 2 in two parts and half the
 * exponent; where |x / sqrt 2| is below ERF_NEAR, what x / sqrt 2 lacks is added by the derivative.
 */
#include "math/math.h"

#define ERF_NEAR 0.75 /* below, 1 - erf x cancels little */

typedef struct erf_table {
    double k, most; /* erfc, 1 / erfcx(-x) and normcdf(-sqrt(2) x) are 0 beyond */
    double large;   /* erfcx x is 1 / (x sqrt pi) beyond */
    int n_erf, n_mid;
    double erf[14], mid[25];
    double log2e[2], root[2]; /* 1 / ln 2 and sqrt 2 in two parts */
} erf_table;

/* Coefficients: tools/minimax.py, tables erf_*, erfcx_*. */
static const erf_table erf_tables[2] = {
    {2, 12, 0x1p20, 9, 12,
     {0.128379166, -0.37612626, 0.112835176, -0.026844183, 0.00513747334, -0.00067010714, -9.80241748e-05,
      0.000119932345, -3.23822351e-05},
     {1.27697837, -0.0927637741, -0.16603066, 0.164049298, -0.0542147011, -0.00801711436, 0.00869594049,
      0.00121188338, -0.00140288228, -0.000351523428, 0.000163527337, 6.08152659e-05},
     {0x1.715476p+0, 0x1.4ae0cp-26}, {0x1.6a09e6p+0, 0x1.9fcef4p-26}},
    {4, 30, 0x1p40, 14, 25,
     {0x1.06eba8214db68p-3, -0x1.812746b03798bp-2, 0x1.ce2f21a03dc99p-4, -0x1.b82ce310d82ffp-6, 0x1.565bccc1ac965p-8,
      -0x1.c02da3c822a21p-11, 0x1.f9a0f371a1e4cp-14, -0x1.f49f18f4a805cp-17, 0x1.b6b5994d16e1bp-20,
      -0x1.3c84537254dcbp-23, -0x1.e39717181acffp-33, 0x1.097cbf0efd9afp-27, -0x1.9e7513b1a4d00p-29,
      0x1.0378df621c76ap-31},
     {0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a28fp-3, 0x1.f7f5df66fc53cp-7, 0x1.16ecefcfa566bp-4, -0x1.9ddb23c3e3755p-4,
      0x1.7fee004e0e1d4p-4, -0x1.0fb06dfea4e5dp-4, 0x1.3079edf6baf08p-5, -0x1.096238788ab2ap-6, 0x1.49c672891f49ap-8,
      -0x1.8d4aa21df88e8p-11, -0x1.a1df314b9a3e9p-13, 0x1.3be0aa39308a2p-13, -0x1.995725ddf6283p-16,
      -0x1.78931cf31f205p-17, 0x1.7f0f7a47fdc22p-18, 0x1.3bea05717cc7cp-22, -0x1.b9ae82d25bef6p-21,
      0x1.433612dfd1a18p-24, 0x1.cd857e4c674b9p-24, -0x1.493d26bc0c4cap-26, -0x1.b7808eb94c3c0p-27,
      0x1.6dcd498b78478p-29, 0x1.15111866c201dp-30, -0x1.963daf2c9a3c8p-33},
     {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}, {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54}},
};

/* exp(s^2) erfc s for s = a (normal: s = a / sqrt 2) from 1 on. */
static ts_math_pair erf_scaled(ts_math *m, ts_val a, bool normal)
{
    const erf_table *t = &erf_tables[m->wide];
    double root = normal ? t->root[0] : 1, low = normal ? t->root[1] : 0;
    ts_val k = m_c(m, t->k * root), slope = m_c(m, 2 / (normal ? 2 : 1) * root), one = m_c(m, 1);
    ts_val top = m_sub(m, a, k), den = m_add(m, a, k);
    if (normal) {
        top = m_sub(m, top, m_c(m, t->k * low));
        den = m_add(m, den, m_c(m, t->k * low));
    }
    ts_val q = m_div(m, top, den);
    ts_val more = m_mul(m, q, ts__math_poly(m, q, t->mid + 1, t->n_mid - 1));
    ts_math_pair g = ts__math_fast_sum(m, m_c(m, t->mid[0]), more);
    ts_val bottom = m_fma(m, slope, a, one), lost = m_fma(m, slope, a, m_sub(m, one, bottom));
    if (normal)
        lost = m_fma(m, a, m_c(m, low), lost);
    ts_val y = m_div(m, g.head, bottom), minus = m_neg(m, y);
    ts_val rest = m_add(m, m_fma(m, minus, bottom, g.head), m_fma(m, minus, lost, g.tail));
    return (ts_math_pair){y, m_div(m, rest, bottom)};
}

/* y exp(sign s^2), s as above and not beyond `most`. */
static ts_val erf_times_exp(ts_math *m, ts_math_pair y, ts_val a, bool normal, double sign)
{
    const erf_table *t = &erf_tables[m->wide];
    ts_math_pair square = ts__math_product(m, a, a);
    double unit = normal ? sign / 2 : sign;
    ts_val scale = m_c(m, unit * t->log2e[0]), low = m_c(m, unit * t->log2e[1]), k;
    ts_math_pair head = ts__math_product(m, square.head, scale);
    ts_val tail = m_fma(m, square.head, low, m_fma(m, square.tail, scale, head.tail));
    ts_val p = ts__math_exp2_less1(m, head.head, tail, &k);
    return ts__math_scale(m, m_add(m, y.head, m_fma(m, y.head, p, y.tail)), k);
}

/* |x|, not beyond `most` */
static ts_val erf_magnitude(ts_math *m, ts_val x, bool normal)
{
    return m_min(m, m_abs(m, x), erf_tables[m->wide].most * (normal ? 1.5 : 1));
}

/* P(x^2): erf x = x + x P(x^2) for |x| up to 1 */
static ts_val erf_small(ts_math *m, ts_val x)
{
    const erf_table *t = &erf_tables[m->wide];
    return ts__math_poly(m, m_mul(m, x, x), t->erf, t->n_erf);
}

/* 1 - erf x for |x| up to 1 */
static ts_val erf_rest(ts_math *m, ts_val x)
{
    return m_fma(m, m_neg(m, x), erf_small(m, x), m_sub(m, m_c(m, 1), x));
}

static ts_val erf_is_near(ts_math *m, ts_val a)
{
    return m_cmp(m, TS_LT, a, m_c(m, ERF_NEAR));
}

ts_val ts__math_erfc(ts_math *m, ts_val x)
{
    ts_val a = erf_magnitude(m, x, false), y = erf_times_exp(m, erf_scaled(m, a, false), a, false, -1);
    y = m_sel(m, m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), m_sub(m, m_c(m, 2), y), y);
    return m_sel(m, erf_is_near(m, a), erf_rest(m, x), y);
}

ts_val ts__math_erf(ts_math *m, ts_val x)
{
    ts_val one = m_c(m, 1), a = erf_magnitude(m, x, false), y = erf_times_exp(m, erf_scaled(m, a, false), a, false, -1);
    y = m_sel(m, m_cmp(m, TS_LT, a, one), m_fma(m, x, erf_small(m, x), x), m_sub(m, one, y));
    return m_with_sign(m, y, x);
}

ts_val ts__math_erfcx(ts_math *m, ts_val x)
{
    const erf_table *t = &erf_tables[m->wide];
    ts_val a = m_abs(m, x), large = m_cmp(m, TS_GT, a, m_c(m, t->large)), near = erf_is_near(m, a);
    ts_math_pair far = erf_scaled(m, m_min(m, a, t->large), false);
    ts_val y = m_add(m, far.head, far.tail), zero = m_c(m, 0);
    y = m_sel(m, large, m_div(m, m_c(m, 0.56418958354775628695), a), y);
    /* times exp(x^2): 1 - erf x near 0, 2 of negative x */
    ts_val z = erf_times_exp(m, (ts_math_pair){m_sel(m, near, erf_rest(m, x), m_c(m, 2)), zero},
                             erf_magnitude(m, x, false), false, 1);
    y = m_sel(m, m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), m_sub(m, z, y), y);
    return m_sel(m, near, z, y);
}

ts_val ts__math_normcdf(ts_math *m, ts_val x)
{
    const erf_table *t = &erf_tables[m->wide];
    ts_val a = erf_magnitude(m, x, true), half = m_c(m, 0.5), one = m_c(m, 1), unit = m_c(m, t->root[0] / 2);
    ts_val s = m_mul(m, a, unit), lost = m_fma(m, a, m_c(m, t->root[1] / 2), m_fma(m, a, unit, m_neg(m, s)));
    ts_val near = erf_is_near(m, s);
    ts_math_pair y = erf_scaled(m, a, true);
    y.head = m_sel(m, near, one, m_mul(m, half, y.head)); /* near 0: exp(-x^2 / 2) alone, for the derivative */
    y.tail = m_sel(m, near, m_c(m, 0), m_mul(m, half, y.tail));
    ts_val z = erf_times_exp(m, y, a, true, -1);
    ts_val slope = m_mul(m, z, m_mul(m, lost, m_c(m, -1.12837916709551257390)));
    ts_val small = m_add(m, m_sub(m, one, s), m_fma(m, m_neg(m, s), erf_small(m, s), slope));
    z = m_sel(m, near, m_mul(m, half, small), z);
    return m_sel(m, m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), z, m_sub(m, one, z));
}
