/* SPDX-License-Identifier: Apache-2.0
 *
 * erfinv, erfcinv, normcdfinv.
 *
 * Functions of w = -log(1 - y^2) (M. Giles, Approximating the erfinv function, 2010): erfinv y = y P(w) up to w = 5,
 * beyond it u G((u - k) / (u + k)) with u = sqrt w and the sign of y; f64 has a second G for the tails that only
 * erfcinv and normcdfinv reach. These two have 1 - y^2 from their argument, also where y is rounded to 1.
 */
#include "math/math.h"
#include <math.h>

typedef struct erfinv_table {
    double k, k_far, far; /* of the two G; u where the second begins */
    int n_near, n_mid, n_far;
    double near[22], mid[26], tail[22];
    double root[2]; /* sqrt 2 in two parts */
} erfinv_table;

/* Coefficients: tools/minimax.py, tables erfinv_*. */
static const erfinv_table erfinv_tables[2] = {
    {4.75, 0, INFINITY, 11, 14, 0,
     {0.886226952, 0.23201257, 0.011556861, -0.00235531386, -0.000100130565, 2.41234447e-05, 1.32820733e-05,
     -4.59389912e-06, 6.66175765e-07, -5.06980413e-08, 1.67651293e-09},
     {0.967858195, 0.0849323645, -0.0839146599, 0.029907288, 0.0431925282, -0.117566273, 0.134249896, -0.228140399,
     1.04400229, -0.183717355, -7.65091753, 7.09114885, 15.7173281, -16.5316448},
     {0}, {0x1.6a09e6p+0, 0x1.9fcef4p-26}},
    {3.75, 13, 6.2, 22, 26, 22,
     {0x1.c5bf891b4ef6bp-1, 0x1.db29fb2fee4f1p-3, 0x1.7a72e72c3b012p-7, -0x1.321102634906bp-9, -0x1.0c86b639968abp-13,
     0x1.87012c6f0fe3bp-15, 0x1.0f23edc152ca6p-19, -0x1.0fe37c677b132p-20, -0x1.3cab33cfe4fbcp-25,
     0x1.7fd43d09f650cp-26, 0x1.33bb42efc9ef3p-30, -0x1.9e6dc891b9fd4p-31, 0x1.a8bca1a961b5ap-34,
     -0x1.1047ba1573bb2p-35, 0x1.ce37e2233139bp-37, -0x1.b8d6ed45a5cf4p-39, 0x1.f19fb1f5de9d3p-42,
     -0x1.4f04d3697babfp-45, 0x1.be7fe13908aafp-50, 0x1.a29ec5b224f01p-57, -0x1.2c26cb90ee48fp-58,
     0x1.2bde173ff7fe9p-63},
     {0x1.e9d04f8afc355p-1, 0x1.aa2692068df13p-4, -0x1.2e144a8fb18e8p-4, -0x1.063d5d1e73ca7p-5, 0x1.2ddb8cd79b99ap-3,
     -0x1.d7db1ca725125p-3, 0x1.68970db2f8bcbp-3, 0x1.56458aa7949d4p-2, -0x1.e6bd5e7577ad7p+0, 0x1.f25a4f0a179f4p+1,
     0x1.0925e158cd127p+0, -0x1.ba3df9d5a5c3ep+4, 0x1.a5c5dad617cdfp+5, 0x1.292d4a110703ap+6, -0x1.ab9c211509460p+8,
     0x1.f7d12a07839d8p+6, 0x1.0b995dfc3b385p+11, -0x1.171d21e4fe241p+11, -0x1.10745525b3e94p+13,
     0x1.6ae20d3ab0c37p+13, 0x1.0399db662f2efp+15, -0x1.1286b694cb383p+15, -0x1.abceb84d548c0p+16,
     0x1.9ad3140a52ccep+15, 0x1.91c950970b3e1p+17, 0x1.83f10a5b38f76p+11},
     {0x1.fc4a687e3cb1fp-1, 0x1.7a52a631f807dp-6, -0x1.1a0d33259bb95p-5, 0x1.371fb1f5c8f4cp-5, -0x1.34a9ffd5db096p-5,
     0x1.195cf89aefb3dp-5, -0x1.d868e53afd6ddp-6, 0x1.61753c5043d4ap-6, -0x1.aab753b8dd5fdp-7, 0x1.cb8816bf2d993p-9,
     0x1.b2e4ff0e8c4a2p-8, -0x1.18a98d2b3d54cp-6, 0x1.c6b346db990a1p-6, -0x1.38f0086a9817ap-5, 0x1.85022dbc5b5b1p-5,
     -0x1.cffdc7fb82b97p-5, 0x1.29a33bad3d657p-4, -0x1.5229244d3e19dp-4, 0x1.77872c72cfb54p-5, -0x1.6d511ab4c34b4p-5,
     0x1.92978b3b54330p-3, -0x1.b0d5bc97ea268p-3},
     {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54}},
};

/* u G((u - k) / (u + k)) for u = sqrt w */
static ts_val erfinv_tail(ts_math *m, ts_val w, bool normal)
{
    const erfinv_table *t = &erfinv_tables[m->wide];
    ts_val u = ts_op1(m->b, TS_OP_sqrt, w, 0), k = m_c(m, t->k), far = m_c(m, t->k_far);
    ts_val g = ts__math_poly(m, m_div(m, m_sub(m, u, k), m_add(m, u, k)), t->mid, t->n_mid);
    if (t->n_far) {
        ts_val q = m_div(m, m_sub(m, u, far), m_add(m, u, far));
        g = m_sel(m, m_cmp(m, TS_GT, u, m_c(m, t->far)), ts__math_poly(m, q, t->tail, t->n_far), g);
    }
    u = normal ? ts_op1(m->b, TS_OP_sqrt, m_add(m, w, w), 0) : u;
    return m_mul(m, u, g);
}

/* erfinv(y + lost), rest = 1 - (y + lost)^2; normal: times sqrt 2. */
static ts_val erfinv_any(ts_math *m, ts_math_pair y, ts_val rest, bool normal)
{
    const erfinv_table *t = &erfinv_tables[m->wide];
    ts_val w = m_neg(m, ts__math_log(m, rest)), five = m_c(m, 5);
    ts_val p = ts__math_poly(m, w, t->near, t->n_near);
    if (normal)
        y = ts__math_times(m, y, (ts_math_pair){m_c(m, t->root[0]), m_c(m, t->root[1])});
    ts_val z = m_fma(m, y.head, p, m_mul(m, y.tail, p));
    ts_val opener = ts_cold_begin(m->b, m_cmp(m, TS_GE, w, five), 1, &z);
    z = m_sel(m, m_cmp(m, TS_LT, w, m_c(m, INFINITY)), erfinv_tail(m, w, normal), w);
    z = m_with_sign(m, z, y.head);
    ts_term(m->b, TS_OP_yield, 1, &z);
    ts_end_like(m->b, opener);
    return ts_res(m->b, opener, 0);
}

ts_val ts__math_erfinv(ts_math *m, ts_val x)
{
    return erfinv_any(m, (ts_math_pair){x, m_mul(m, x, m_c(m, 0))}, m_fma(m, m_neg(m, x), x, m_c(m, 1)), false);
}

/* x (2 - x), which is 1 - (1 - x)^2; negative beyond 2. */
static ts_val erfinv_rest(ts_math *m, ts_val x)
{
    x = m_min(m, x, 4);
    return m_fma(m, m_neg(m, x), x, m_add(m, x, x));
}

ts_val ts__math_erfcinv(ts_math *m, ts_val x)
{
    ts_val one = m_c(m, 1), y = m_sub(m, one, x);
    return erfinv_any(m, (ts_math_pair){y, m_sub(m, m_sub(m, one, y), x)}, erfinv_rest(m, x), false);
}

ts_val ts__math_normcdfinv(ts_math *m, ts_val x)
{
    ts_val one = m_c(m, 1), twice = m_add(m, x, x), y = m_sub(m, twice, one);
    return erfinv_any(m, (ts_math_pair){y, m_sub(m, twice, m_add(m, y, one))}, erfinv_rest(m, twice), true);
}
