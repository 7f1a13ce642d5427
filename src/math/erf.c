/* SPDX-License-Identifier: Apache-2.0
 *
 * erf, erfc.
 *
 * erfcx x = exp(x^2) erfc x = g(t) / (1 + 2x), g a polynomial in t = (x - k) / (x + k) on the whole of [0, inf) (M. M.
 * Shepherd and J. G. Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < inf, 1981). erfc
 * is that times
 * exp(-x^2), the square in two parts; of negative x it is 2 - erfc(-x). erf is
 * x + x P(x^2) up to 1 and 1 - erfc beyond; erfc is 1 - erf up to 1/2.
 */
#include "math/math.h"

typedef struct erf_table {
    double k, most; /* erfc is 0 beyond */
    int n_erf, n_mid;
    double erf[14], mid[25];
    double log2e[2]; /* 1 / ln 2 in two parts */
} erf_table;

/* Coefficients: tools/minimax.py, tables erf_*, erfcx_*. */
static const erf_table erf_tables[2] = {
    {2, 12, 9, 12,
     {0.128379166, -0.37612626, 0.112835176, -0.026844183, 0.00513747334, -0.00067010714, -9.80241748e-05,
      0.000119932345, -3.23822351e-05},
     {1.27697837, -0.0927637741, -0.16603066, 0.164049298, -0.0542147011, -0.00801711436, 0.00869594049,
      0.00121188338, -0.00140288228, -0.000351523428, 0.000163527337, 6.08152659e-05},
     {0x1.715476p+0, 0x1.4ae0cp-26}},
    {4, 30, 14, 25,
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
     {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}},
};

/* exp(x^2) erfc x for x from 0 to `most` */
static ts_val erf_scaled(ts_math *m, ts_val x)
{
    const erf_table *t = &erf_tables[m->wide];
    ts_val k = m_c(m, t->k), one = m_c(m, 1), den = m_add(m, x, k), q = m_div(m, m_sub(m, x, k), den);
    ts_val bottom = m_fma(m, m_c(m, 2), x, one), top = ts__math_poly(m, q, t->mid, t->n_mid);
    ts_val y = m_div(m, top, bottom), lost = m_fma(m, m_c(m, 2), x, m_sub(m, one, bottom));
    return m_fma(m, m_neg(m, m_div(m, lost, bottom)), y, y);
}

/* exp(-x^2) */
static ts_val erf_exp(ts_math *m, ts_val x)
{
    const erf_table *t = &erf_tables[m->wide];
    ts_val square = m_mul(m, x, x), rest = m_fma(m, x, x, m_neg(m, square));
    ts_val scale = m_c(m, -t->log2e[0]), low = m_c(m, -t->log2e[1]);
    ts_val head = m_mul(m, square, scale), tail = m_fma(m, square, scale, m_neg(m, head));
    return ts__math_exp2_both(m, head, m_fma(m, square, low, m_fma(m, rest, scale, tail)));
}

/* erfc of |x| */
static ts_val erf_rest(ts_math *m, ts_val x)
{
    ts_val a = m_min(m, m_abs(m, x), erf_tables[m->wide].most);
    return m_mul(m, erf_scaled(m, a), erf_exp(m, a));
}

/* erf x for |x| up to 1 */
static ts_val erf_small(ts_math *m, ts_val x)
{
    const erf_table *t = &erf_tables[m->wide];
    return m_fma(m, x, ts__math_poly(m, m_mul(m, x, x), t->erf, t->n_erf), x);
}

ts_val ts__math_erfc(ts_math *m, ts_val x)
{
    ts_val y = erf_rest(m, x), two = m_c(m, 2), near = m_cmp(m, TS_LT, m_abs(m, x), m_c(m, 0.5));
    y = m_sel(m, m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), m_sub(m, two, y), y);
    return m_sel(m, near, m_sub(m, m_c(m, 1), erf_small(m, x)), y);
}

ts_val ts__math_erf(ts_math *m, ts_val x)
{
    ts_val one = m_c(m, 1), large = m_sub(m, one, erf_rest(m, x));
    return m_with_sign(m, m_sel(m, m_cmp(m, TS_LT, m_abs(m, x), one), erf_small(m, x), large), x);
}
