/* SPDX-License-Identifier: Apache-2.0
 *
 * tgamma, lgamma.
 *
 * Stirling's formula from 1 on: log gamma a = (a - 1/2) (log a - 1) + log(2 pi) / 2 - 1/2 + A(t) / a with a polynomial
 * A in t = (a - 1) / (a + 1); the logarithm and the sum in two words each.
 * tgamma: gamma |x| = gamma(|x| + 1) / |x|, of negative x -pi / (sin(pi |x|) gamma(|x| + 1)).
 * lgamma: from 3/4 to 5/2 (x - 1) (x - 2) T(t), t = (x - k) / (x + k), right to the last places at its zeros; below
 * that lgamma(|x| + 1) and the same reflection. Below -2 it has two zeros between neighbouring integers, which the sum
 * does not know: there the error is absolute.
 */
#include "math/math.h"
#include <math.h>

typedef struct gamma_table {
    double log2e[2], ln2[2], pi[2];
    double base[2][2]; /* log(2 pi) / 2 - 1/2, times 1 / ln 2 (tgamma) or not (lgamma), in two parts */
    double huge;       /* from here on tgamma x is infinite and tgamma(-x) 0 */
    int n_rest, n_middle;
    double rest[20], middle[20];
} gamma_table;

/* Coefficients: tools/minimax.py, tables gamma_*, lgamma_*. */
static const gamma_table gamma_tables[2] = {
    {{0x1.715476p+0, 0x1.4ae0cp-26}, {0x1.62e43p-1, -0x1.05c610p-29}, {0x1.921fb6p+1, -0x1.777a5cp-24},
     {{0x1.3573fcp-1, 0x1.edab6p-26}, {0x1.acfe3ap-2, -0x1.e6d052p-27}}, 50, 9, 10,
     {0.0810614675, 0.00769146997, -0.0112990299, 0.0105765471, -0.00796281546, 0.0052417214, -0.00283355592,
     0.00103940279, -0.000181874944},
     {0.502422512, -0.449072689, 0.128944531, -0.154504046, 0.0863358602, -0.0950173959, 0.0550779514, -0.0692281201,
     0.108292483, -0.0528198928}},
    {{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}, {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
     {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
     {{0x1.3573fcf6d5af9p-1, 0x1.0e57879459ce1p-55}, {0x1.acfe390c97d69p-2, 0x1.3494bc9001442p-56}}, 200, 20, 20,
     {0x1.4c071bcda0a5bp-4, 0x1.f813b2b8b29e8p-8, -0x1.725fc86e6c372p-7, 0x1.5c0276cbf5fa9p-7, -0x1.0d358ca89ea1dp-7,
     0x1.8f55968de977bp-8, -0x1.30b23b1cccc12p-8, 0x1.de73a992d4be2p-9, -0x1.7f91d23eb149fp-9, 0x1.3906e8df4329ap-9,
     -0x1.01675639427fbp-9, 0x1.a264e35973a2fp-10, -0x1.45aa8bd85146dp-10, 0x1.d1027f5590c5dp-11,
     -0x1.21c4c99a44757p-11, 0x1.2aef387241c3ep-12, -0x1.e13c6bad04a87p-14, 0x1.180751671beefp-15,
     -0x1.a005d48f4ff4dp-18, 0x1.26c998d88b4cep-21},
     {0x1.013d8539b9679p-1, -0x1.cbd9b54ed4b14p-2, 0x1.0818788efad84p-3, -0x1.3c6d0c1c42800p-3, 0x1.5fa9827c143e3p-4,
     -0x1.8532720a27b0cp-4, 0x1.06aee3553f51fp-4, -0x1.1996e8107d3eap-4, 0x1.a2a20e128d729p-5, -0x1.b96946b8b1370p-5,
     0x1.5bd73000a33b4p-5, -0x1.6afcb703ccf99p-5, 0x1.282b9c931183ep-5, -0x1.34b5ff60c5076p-5, 0x1.1210e04af8a40p-5,
     -0x1.06cddd938cf3fp-5, 0x1.0f2d1739b0ffcp-6, -0x1.0a2c18b0f7a30p-5, 0x1.f464a2f054561p-5, -0x1.60387abe3d081p-6}},
};

static const double gamma_middle = 1.375; /* k of T */

static ts_math_pair gamma_pair(ts_math *m, const double *parts)
{
    return (ts_math_pair){m_c(m, parts[0]), m_c(m, parts[1])};
}

/* log gamma a for a >= 1, to base 2 or e; a.tail is a rounding error of a.head. */
static ts_math_pair gamma_stirling(ts_math *m, ts_math_pair a, bool natural)
{
    const gamma_table *t = &gamma_tables[m->wide];
    ts_val one = m_c(m, 1), half = m_c(m, 0.5), inverse = m_div(m, one, a.head), log2e = m_c(m, t->log2e[0]);
    ts_math_pair l = ts__math_log2_pair(m, a.head), factor = {m_sub(m, a.head, half), 0}, sum, out;
    factor.tail = m_add(m, m_sub(m, m_sub(m, a.head, factor.head), half), a.tail);
    ts__math_two_sum(m, l.head, m_neg(m, log2e), &sum.head, &sum.tail);
    l.tail = m_fma(m, m_mul(m, a.tail, inverse), log2e, m_sub(m, l.tail, m_c(m, t->log2e[1])));
    sum.tail = m_add(m, sum.tail, l.tail);
    if (natural)
        sum = ts__math_times(m, sum, gamma_pair(m, t->ln2));
    sum = ts__math_times(m, factor, sum);
    ts_val q = m_div(m, m_sub(m, a.head, one), m_add(m, a.head, one));
    ts_val rest = m_mul(m, ts__math_poly(m, q, t->rest, t->n_rest), inverse);
    rest = natural ? rest : m_mul(m, rest, log2e);
    ts_math_pair base = gamma_pair(m, t->base[natural]);
    ts__math_two_sum(m, sum.head, base.head, &out.head, &out.tail);
    out.tail = m_add(m, m_add(m, m_add(m, out.tail, sum.tail), base.tail), rest);
    return out;
}

/* |x| + 1 */
static ts_math_pair gamma_up(ts_math *m, ts_val a)
{
    ts_math_pair up;
    ts__math_two_sum(m, a, m_c(m, 1), &up.head, &up.tail);
    return up;
}

ts_val ts__math_tgamma(ts_math *m, ts_val x)
{
    const gamma_table *t = &gamma_tables[m->wide];
    ts_val negative = m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), zero = m_c(m, 0), one = m_c(m, 1), k;
    ts_val a = m_abs(m, x), near = m_min(m, a, t->huge);
    ts_math_pair l = gamma_stirling(m, gamma_up(m, near), false);
    ts__math_two_sum(m, l.head, l.tail, &l.head, &l.tail);
    l.head = m_sel(m, negative, m_neg(m, l.head), l.head);
    l.tail = m_sel(m, negative, m_neg(m, l.tail), l.tail);
    ts_math_pair y = ts__math_fast_sum(m, one, ts__math_exp2_less1(m, l.head, l.tail, &k));
    ts_math_pair reflected = ts__math_times(m, y, gamma_pair(m, t->pi));
    ts_val top = m_sel(m, negative, reflected.head, y.head), top_tail = m_sel(m, negative, reflected.tail, y.tail);
    ts_val sine = ts__math_sinpi(m, x), bottom = m_sel(m, negative, sine, near), q = m_div(m, top, bottom);
    ts_val rest = m_add(m, m_fma(m, m_neg(m, q), bottom, top), top_tail);
    rest = m_sel(m, m_cmp(m, TS_LT, m_abs(m, rest), one), rest, zero); /* of infinities */
    q = m_add(m, q, m_sel(m, m_cmp(m, TS_LT, m_abs(m, q), m_c(m, INFINITY)), m_div(m, rest, bottom), zero));
    ts_val pole = ts_op2(m->b, TS_OP_andi, m_cmp(m, TS_EQ, bottom, zero), m_cmp(m, TS_LT, x, zero), 0);
    return m_sel(m, pole, m_c(m, NAN), ts__math_scale(m, q, k));
}

/* log gamma y = (y - 1) (y - 2) T for y from 3/4 to 5/2; less = y - 1, exact. */
static ts_math_pair gamma_small(ts_math *m, ts_val y, ts_val less)
{
    const gamma_table *t = &gamma_tables[m->wide];
    ts_val k = m_c(m, gamma_middle), q = m_div(m, m_sub(m, y, k), m_add(m, y, k)), one = m_c(m, 1);
    ts_val least = m_sub(m, less, one), lost = m_sub(m, less, m_add(m, least, one));
    ts_val more = m_mul(m, q, ts__math_poly(m, q, t->middle + 1, t->n_middle - 1));
    ts_math_pair zeros = ts__math_product(m, less, least), rest = ts__math_fast_sum(m, m_c(m, t->middle[0]), more);
    zeros.tail = m_fma(m, less, lost, zeros.tail);
    return ts__math_times(m, zeros, rest);
}

ts_val ts__math_lgamma(ts_math *m, ts_val x)
{
    const gamma_table *t = &gamma_tables[m->wide];
    ts_val a = m_abs(m, x), zero = m_c(m, 0), one = m_c(m, 1), inf = m_c(m, INFINITY);
    ts_val negative = m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0)), up = m_cmp(m, TS_LT, x, m_c(m, 0.75));
    ts_math_pair y = gamma_up(m, a);
    y.head = m_sel(m, up, y.head, a);
    y.tail = m_sel(m, up, y.tail, zero);
    ts_val large = m_cmp(m, TS_GT, y.head, m_c(m, 2.5));
    ts_math_pair l = gamma_stirling(m, y, true), small = gamma_small(m, y.head, m_sel(m, up, a, m_sub(m, a, one)));
    ts_val head = m_sel(m, large, l.head, small.head), tail = m_sel(m, large, l.tail, small.tail);
    ts_val sine = m_abs(m, m_mul(m, ts__math_sinpi(m, x), m_c(m, 1 / t->pi[0])));
    ts_val other = m_sel(m, up, m_sel(m, negative, sine, a), one), z, lost;
    ts_math_pair log = ts__math_times(m, ts__math_log2_pair(m, other), gamma_pair(m, t->ln2));
    ts_val sign = m_sel(m, negative, one, m_c(m, -1));
    ts__math_two_sum(m, head, m_mul(m, sign, log.head), &z, &lost);
    z = m_add(m, z, m_add(m, lost, m_fma(m, sign, log.tail, tail)));
    z = m_sel(m, negative, m_neg(m, z), z);
    ts_val infinite = ts_op2(m->b, TS_OP_ori, m_cmp(m, TS_EQ, head, inf), m_cmp(m, TS_EQ, other, zero), 0);
    return m_sel(m, infinite, inf, z);
}
