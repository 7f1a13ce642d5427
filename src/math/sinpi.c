/* SPDX-License-Identifier: Apache-2.0
 *
 * sinpi, cospi: sin and cos of pi x.
 *
 * x mod 2 is exact, and so is r = x - n/2 in [-1/4, 1/4]; then a polynomial of sin(pi r) or cos(pi r), with pi in two
 * parts, and the sign of the quadrant n. No reduction by pi, so no argument is difficult.
 */
#include "math/math.h"
#include <math.h>

typedef struct sinpi_table {
    double pi[2];
    int n_sin, n_cos;
    double sin[7], cos[8];
} sinpi_table;

/* Coefficients: tools/minimax.py, tables sinpi_*, cospi_*. */
static const sinpi_table sinpi_tables[2] = {
    {{0x1.921fb6p+1, -0x1.777a5cp-24}, 3, 4, {-5.16770887, 2.54979467, -0.58928138},
     {-4.93480206, 4.05869627, -1.33473492, 0.228725046}},
    {{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}, 7, 8,
     {-0x1.4abbce625be53p+2, 0x1.466bc6775ab7cp+1, -0x1.32d2cce63af2ep-1, 0x1.5078349d897f6p-4, -0x1.e3076e910e816p-8,
      0x1.e9089874fd707p-12, -0x1.73bba6968e9eep-16},
     {-0x1.3bd3cc9be45dep+2, 0x1.03c1f081b5a35p+2, -0x1.55d3c7e3b8eb2p+0, 0x1.e1f5066264f30p-3, -0x1.a6d1c89e733e8p-6,
      0x1.f9a16c1daa2e8p-10, -0x1.97e5be24891c8p-14, -0x1.a8a3b1e5cedebp-16}},
};

/* sin(pi x + quarters pi / 2) for x >= 0 */
static ts_val sinpi_any(ts_math *m, ts_val x, int64_t quarters)
{
    const sinpi_table *t = &sinpi_tables[m->wide];
    ts_val two = m_c(m, 2), whole = ts_op1(m->b, TS_OP_floor, m_mul(m, x, m_c(m, 0.5)), 0);
    ts_val part = m_fma(m, m_neg(m, two), whole, x); /* x mod 2; NaN of an infinity */
    ts_val magic = m_c(m, m->fmt->magic), u = m_fma(m, part, two, magic), n = m_bits(m, u);
    ts_val r = m_fma(m, m_c(m, -0.5), m_sub(m, u, magic), part), z = m_mul(m, r, r);
    n = m_iadd(m, n, m_i(m, quarters));
    ts_val s = m_fma(m, m_mul(m, z, r), ts__math_poly(m, z, t->sin, t->n_sin), m_mul(m, r, m_c(m, t->pi[1])));
    s = m_fma(m, r, m_c(m, t->pi[0]), s);
    ts_val c = m_fma(m, z, ts__math_poly(m, z, t->cos, t->n_cos), m_c(m, 1));
    ts_val y = m_sel(m, m_icmp(m, TS_NE, m_and(m, n, 1), m_i(m, 0)), c, s);
    y = m_sel(m, m_icmp(m, TS_NE, m_and(m, n, 2), m_i(m, 0)), m_neg(m, y), y);
    return m_sel(m, m_cmp(m, TS_EQ, y, m_c(m, 0)), m_c(m, 0), y);
}

ts_val ts__math_sinpi(ts_math *m, ts_val x)
{
    ts_val y = sinpi_any(m, m_abs(m, x), 0), minus = m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0));
    return m_sel(m, minus, m_neg(m, y), y);
}

ts_val ts__math_cospi(ts_math *m, ts_val x)
{
    return sinpi_any(m, m_abs(m, x), 1);
}
