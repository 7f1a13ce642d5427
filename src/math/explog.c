/* SPDX-License-Identifier: Apache-2.0
 *
 * exp, exp2, exp10, expm1, log, log2, log10, log1p.
 *
 * exp: k = round(x / ln 2), r = x - k ln 2 in two steps that are exact where they must be, exp(r) = 1 + r P(r), then
 * 2^k is added into the exponent field. Results that overflow or are subnormal take the cold path, which scales by
 * 2^(k/2) twice and so rounds once. What wants exp(r) - 1 takes r + r^2 P(r), right to the last places near 0.
 * log: x = 2^e (1 + f) with f in [-1/3, 1/3]; log(1 + f) = f + f^2 P(f) in f32; in f64, where P would be
 * long, f - f^2/2 + s (f^2/2 + s^2 Q(s^2)) with s = f / (2 + f). Subnormals and specials are cold.
 * exp10: 2^(x log2 10) with the product in two parts. expm1: 2^k expm1(r) + (2^k - 1). log10: log2's sum with e log10 2
 * in two parts. log1p: x itself is f where it is small; else 1 + x = u + c, and c / u is added to log u.
 */
#include "math/math.h"
#include <math.h>

typedef struct explog_table {
    double inv, hi, lo;         /* 1/ln 2; ln 2 with trailing zeros, and the rest */
    double fast;                /* |x| below this neither overflows nor becomes subnormal */
    double least, most;         /* beyond these exp is 0 or inf */
    double fast2, least2, most2; /* the same for exp2 */
    int n_exp, n_expm1, n_exp2, n_log;
    double exp[11], expm1[11], exp2[12], log[10], log2[10]; /* log2: f32 only, log's over ln 2 */
    double ln2_lo;              /* ln 2 - round(ln 2) */
    double log2e_lo;            /* 1/ln 2 - round(1/ln 2) */
} explog_table;

/* Coefficients: tools/minimax.py, tables exp_*, expm1_*, exp2_*, log_*. */
static const explog_table explog_tables[2] = {
    {0x1.715476p+0, 0x1.62e4p-1, 0x1.7f7d1cp-20, 87.0, -104.5, 89.0, 125.5, -151.0, 129.0, 6, 6, 6, 9,
     {1, 0.49999994, 0.166665196, 0.0416682474, 0.00836884044, 0.00138227502},
     {0.5, 0.166666657, 0.0416664593, 0.00833356287, 0.00139354519, 0.000197474379},
     {0.693147182, 0.240226477, 0.0555035919, 0.00961849838, 0.00133911893, 0.000153300556},
     {-0.5, 0.333332241, -0.249996886, 0.200100332, -0.166854709, 0.140110895, -0.121149465, 0.139615938,
      -0.131930932},
     {-0.72134757, 0.480896622, -0.360666066, 0.288690567, -0.240789577, 0.20204252, -0.174165919, 0.201835409,
      -0.192283422},
     -0x1.05c610p-29, 0x1.4ae0cp-26},
    {0x1.71547652b82fep+0, 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45, 708.0, -746.0, 710.0, 1021.5, -1076.0, 1025.0,
     11, 11, 12, 8,
     {0x1.0000000000000p+0, 0x1.000000000000ap-1, 0x1.55555555554fep-3, 0x1.555555555064ep-5, 0x1.1111111126aafp-7,
      0x1.6c16c1849d02cp-10, 0x1.a01a01305a8acp-13, 0x1.a01998de0b6a1p-16, 0x1.71df1750abc37p-19, 0x1.28ae85df3e854p-22,
      0x1.ad96c5eccfb07p-26},
     {0x1.0000000000000p-1, 0x1.555555555555bp-3, 0x1.555555555553ep-5, 0x1.111111110ee0fp-7,
      0x1.6c16c16c22224p-10, 0x1.a01a01b2e5a7dp-13, 0x1.a01a0166e5973p-16, 0x1.71ddf174e4147p-19,
      0x1.27e567a4068e1p-22, 0x1.af69d9797ad4cp-26, 0x1.1e9967e6cca93p-29},
     {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58ep-3, 0x1.c6b08d704a1d3p-5, 0x1.3b2ab6fba5193p-7,
      0x1.5d87fe7874a5bp-10, 0x1.430912f75d1cap-13, 0x1.ffcbfd46ce158p-17, 0x1.62c0270237f43p-20,
      0x1.b52338b905041p-24, 0x1.e4bc4b770cb87p-28, 0x1.ec6559d80d4ecp-32, 0x1.dfb0b9e8bcfcap-36},
     {0x1.555555555554fp-1, 0x1.999999999c187p-2, 0x1.24924921e32eep-2, 0x1.c71c7490da9f8p-3, 0x1.745c4a95d302fp-3,
      0x1.3b35c9f4e0ad0p-3, 0x1.0dcaf8ff65a11p-3, 0x1.1b85c50a90f11p-3},
     {0},
     0x1.abc9e3b39803fp-56, 0x1.777d0ffda0d24p-56},
};

static const explog_table *explog_of(const ts_math *m)
{
    return &explog_tables[m->wide];
}

/* ---- exp ----------------------------------------------------------------------------------------*/

ts_val ts__math_exp_rest(ts_math *m, ts_val x, double bias, ts_val *k)
{
    const explog_table *t = explog_of(m);
    ts_val magic = m_c(m, m->fmt->magic + bias), u = m_fma(m, x, m_c(m, t->inv), magic);
    ts_val n = m_sub(m, u, magic);
    *k = m_bits(m, u);
    return m_fma(m, n, m_c(m, -t->lo), m_fma(m, n, m_c(m, -t->hi), x));
}

ts_val ts__math_expm1_rest(ts_math *m, ts_val r)
{
    const explog_table *t = explog_of(m);
    return m_fma(m, m_mul(m, r, r), ts__math_poly(m, r, t->expm1, t->n_expm1), r);
}

/* exp of the part of x that is left; *k has round(x / ln 2) + bias in its low bits. */
static ts_val exp_reduced(ts_math *m, ts_val x, double bias, ts_val *k)
{
    const explog_table *t = explog_of(m);
    ts_val r = ts__math_exp_rest(m, x, bias, k);
    return m_fma(m, ts__math_poly(m, r, t->exp, t->n_exp), r, m_c(m, 1));
}

static ts_val exp2_reduced(ts_math *m, ts_val x, double bias, ts_val *k)
{
    const explog_table *t = explog_of(m);
    ts_val magic = m_c(m, m->fmt->magic + bias), u = m_add(m, x, magic);
    ts_val r = m_sub(m, x, m_sub(m, u, magic));
    *k = m_bits(m, u);
    return m_fma(m, ts__math_poly(m, r, t->exp2, t->n_exp2), r, m_c(m, 1));
}

ts_val ts__math_exp2_less1(ts_math *m, ts_val head, ts_val tail, ts_val *k)
{
    const explog_table *t = explog_of(m);
    ts_val magic = m_c(m, m->fmt->magic + 2 * m->fmt->bias), u = m_add(m, head, magic);
    ts_val first = m_sub(m, head, m_sub(m, u, magic)), r = m_add(m, first, tail);
    ts_val lost = m_add(m, m_sub(m, first, r), tail), ln2 = m_c(m, t->exp2[0]);
    *k = m_bits(m, u);
    ts_val more = m_fma(m, m_mul(m, r, r), ts__math_poly(m, r, t->exp2 + 1, t->n_exp2 - 1), m_mul(m, lost, ln2));
    return m_fma(m, r, ln2, more);
}

typedef ts_val explog_reduced(ts_math *m, ts_val x, double bias, ts_val *k);

ts_val ts__math_scale(ts_math *m, ts_val y, ts_val k)
{
    ts_val half = m_shr(m, k, 1);
    ts_val first = m_float(m, m_shl(m, half, m->fmt->mant));
    ts_val second = m_float(m, m_shl(m, m_isub(m, k, half), m->fmt->mant));
    return m_mul(m, m_mul(m, y, first), second);
}

/* The whole range, overflow and subnormal results included. */
static ts_val exp_whole(ts_math *m, ts_val x, double least, double most, explog_reduced *reduced)
{
    ts_val k, y = reduced(m, m_min(m, m_max(m, x, least), most), 2 * m->fmt->bias, &k);
    return ts__math_scale(m, y, k);
}

ts_val ts__math_exp2_both(ts_math *m, ts_val head, ts_val tail)
{
    const explog_table *t = explog_of(m);
    ts_val magic = m_c(m, m->fmt->magic + 2 * m->fmt->bias);
    ts_val x = m_min(m, m_max(m, head, t->least2), t->most2), u = m_add(m, x, magic);
    ts_val r = m_add(m, m_sub(m, x, m_sub(m, u, magic)), tail);
    ts_val y = m_fma(m, ts__math_poly(m, r, t->exp2, t->n_exp2), r, m_c(m, 1));
    return ts__math_scale(m, y, m_bits(m, u));
}

static ts_val exp_scaled(ts_math *m, ts_val x, double fast, double least, double most, explog_reduced *reduced)
{
    if (!m->cold)
        return exp_whole(m, x, least, most, reduced);
    ts_val k, y = reduced(m, x, m->near ? m->fmt->bias : 0, &k);
    if (m->near) /* as a product: NaN stays one, whose bits are any */
        return m_mul(m, y, m_float(m, m_shl(m, k, m->fmt->mant)));
    y = m_float(m, m_iadd(m, m_bits(m, y), m_shl(m, k, m->fmt->mant)));
    ts_val odd = m_unless(m, TS_LT, m_abs(m, x), m_c(m, fast)), opener = ts_cold_begin(m->b, odd, 1, &y);
    /* What masks leave behind, -inf or nearly so, is 0 and needs no more than that. */
    ts_val zero = ts_op2(m->b, TS_OP_andi, odd, m_cmp(m, TS_LE, x, m_c(m, least)), 0);
    y = m_sel(m, zero, m_c(m, 0), y);
    odd = ts_op2(m->b, TS_OP_andi, odd, m_unless(m, TS_LE, x, m_c(m, least)), 0);
    ts_val inner = ts_cold_begin(m->b, odd, 1, &y);
    y = exp_whole(m, x, least, most, reduced);
    ts_term(m->b, TS_OP_yield, 1, &y);
    ts_end_like(m->b, inner);
    y = ts_res(m->b, inner, 0);
    ts_term(m->b, TS_OP_yield, 1, &y);
    ts_end_like(m->b, opener);
    return ts_res(m->b, opener, 0);
}

ts_val ts__math_exp(ts_math *m, ts_val x)
{
    const explog_table *t = explog_of(m);
    return exp_scaled(m, x, t->fast, t->least, t->most, exp_reduced);
}

ts_val ts__math_exp2(ts_math *m, ts_val x)
{
    const explog_table *t = explog_of(m);
    return exp_scaled(m, x, t->fast2, t->least2, t->most2, exp2_reduced);
}

ts_val ts__math_exp10(ts_math *m, ts_val x)
{
    x = m_min(m, m_max(m, x, m->wide ? -400 : -60), m->wide ? 400 : 60);
    ts_val log2_10 = m_c(m, m->wide ? 0x1.a934f0979a371p+1 : 0x1.a934f0p+1), head = m_mul(m, x, log2_10);
    ts_val low = m_c(m, m->wide ? 0x1.7f2495fb7fa6dp-53 : 0x1.2f346ep-24);
    return ts__math_exp2_both(m, head, m_fma(m, x, low, m_fma(m, x, log2_10, m_neg(m, head))));
}

ts_val ts__math_expm1(ts_math *m, ts_val x)
{
    ts_val k, a = m_min(m, m_max(m, x, m->wide ? -60 : -30), m->wide ? 710 : 88.9);
    ts_val big = m_cmp(m, TS_GT, a, m_c(m, m->wide ? 709 : 88)), r = ts__math_exp_rest(m, a, m->fmt->bias, &k);
    k = m_isub(m, k, m_sel(m, big, m_i(m, 1), m_i(m, 0)));
    ts_val power = m_float(m, m_shl(m, k, m->fmt->mant)), e = ts__math_expm1_rest(m, r);
    ts_val y = m_fma(m, e, power, m_sub(m, power, m_c(m, 1)));
    return m_with_sign(m, m_mul(m, y, m_sel(m, big, m_c(m, 2), m_c(m, 1))), x);
}

/* ---- log ----------------------------------------------------------------------------------------*/

void ts__math_split(ts_math *m, ts_val x, ts_val *e, ts_val *f)
{
    const int64_t two_thirds = m->wide ? 0x3FE5555555555555 : 0x3F2AAAAB;
    const int64_t exponent = -((int64_t)1 << m->fmt->mant);
    ts_val bits = m_bits(m, x), field = m_and(m, m_isub(m, bits, m_i(m, two_thirds)), exponent);
    *f = m_sub(m, m_float(m, m_isub(m, bits, field)), m_c(m, 1));
    if (m->wide) { /* 32 bits suffice, and 64-bit conversions are slow or missing on some machines */
        ts_val narrow = ts_cast(m->b, TS_OP_trunci, m_sar(m, field, 52), TS_T_i32, 0);
        *e = ts_cast(m->b, TS_OP_itof, narrow, TS_T_f64, 0);
    } else
        *e = ts_cast(m->b, TS_OP_itof, field, TS_T_f32, 0);
}

/* log(1 + f) - f in f64 */
static ts_val log_rest(ts_math *m, ts_val f)
{
    const explog_table *t = explog_of(m);
    ts_val s = m_div(m, f, m_add(m, f, m_c(m, 2))), w = m_mul(m, s, s);
    ts_val half = m_mul(m, f, m_c(m, 0.5)); /* s f = h - s h with h = f^2 / 2, exact in the last fma */
    ts_val part = m_fma(m, w, ts__math_poly(m, w, t->log, t->n_log), m_mul(m, half, f));
    return m_fma(m, m_neg(m, half), f, m_mul(m, s, part));
}

static ts_val log_normal(ts_math *m, ts_val x, double shift)
{
    const explog_table *t = explog_of(m);
    ts_val e, f;
    ts__math_split(m, x, &e, &f);
    if (shift != 0)
        e = m_add(m, e, m_c(m, m->wide ? shift : shift * 0x1p23));
    if (m->wide) {
        ts_val low = m_fma(m, e, m_c(m, t->ln2_lo), log_rest(m, f));
        return m_fma(m, e, m_c(m, 0x1.62e42fefa39efp-1), m_add(m, f, low));
    }
    ts_val p = ts__math_poly(m, f, t->log, t->n_log);
    return m_fma(m, e, m_c(m, 0x1.62e43p-24), m_fma(m, m_mul(m, f, f), p, f));
}

static ts_val log2_normal(ts_math *m, ts_val x, double shift)
{
    const explog_table *t = explog_of(m);
    ts_val e, f, inv = m_c(m, t->inv);
    ts__math_split(m, x, &e, &f);
    e = m->wide ? e : m_mul(m, e, m_c(m, 0x1p-23));
    if (shift != 0)
        e = m_add(m, e, m_c(m, shift));
    ts_val high = m_mul(m, f, inv), high_rest = m_fma(m, f, inv, m_neg(m, high));
    ts_val sum = m_add(m, e, high), sum_rest = m_add(m, m_sub(m, e, sum), high); /* |e| > |high| or e = 0 */
    ts_val low = m_fma(m, f, m_c(m, t->log2e_lo), high_rest);
    if (m->wide)
        low = m_fma(m, log_rest(m, f), inv, low);
    else
        low = m_fma(m, m_mul(m, f, f), ts__math_poly(m, f, t->log2, t->n_log), low);
    return m_add(m, sum, m_add(m, sum_rest, low));
}

typedef ts_val explog_normal(ts_math *m, ts_val x, double shift);

/* y = log x for every x: subnormals scaled into the normal range, then the special values. */
static ts_val log_whole(ts_math *m, ts_val x, explog_normal *normal)
{
    const int up = m->fmt->mant + 2;
    double scale = m->wide ? 0x1p54 : 0x1p25;
    ts_val y = normal(m, m_mul(m, x, m_c(m, scale)), -up);
    y = m_sel(m, m_icmp(m, TS_GE, m_bits(m, x), m_i(m, m->fmt->inf)), m_add(m, x, x), y); /* +inf, +NaN */
    y = m_sel(m, m_unless(m, TS_GE, x, m_c(m, 0)), m_c(m, NAN), y);
    return m_sel(m, m_cmp(m, TS_EQ, x, m_c(m, 0)), m_c(m, -INFINITY), y);
}

static ts_val log_any(ts_math *m, ts_val x, explog_normal *normal)
{
    const ts_math_fmt *fmt = m->fmt;
    ts_val y = normal(m, x, 0);
    ts_val odd = ts_cmp(m->b, TS_OP_cmpi, TS_GE, m_isub(m, m_bits(m, x), m_i(m, fmt->min_normal)),
                        m_i(m, fmt->inf - fmt->min_normal), TS_A_UNSIGNED);
    ts_val opener = ts_cold_begin(m->b, odd, 1, &y);
    y = log_whole(m, x, normal);
    ts_term(m->b, TS_OP_yield, 1, &y);
    ts_end_like(m->b, opener);
    return ts_res(m->b, opener, 0);
}

ts_val ts__math_log(ts_math *m, ts_val x)
{
    return log_any(m, x, log_normal);
}

ts_val ts__math_log2(ts_math *m, ts_val x)
{
    return log_any(m, x, log2_normal);
}

static ts_val log10_normal(ts_math *m, ts_val x, double shift)
{
    const explog_table *t = explog_of(m);
    ts_val e, f, inv = m_c(m, m->wide ? 0x1.bcb7b1526e50ep-2 : 0x1.bcb7b2p-2);
    ts__math_split(m, x, &e, &f);
    e = m->wide ? e : m_mul(m, e, m_c(m, 0x1p-23));
    if (shift != 0)
        e = m_add(m, e, m_c(m, shift));
    ts_val ten = m_mul(m, e, m_c(m, m->wide ? 0x1.34413509f6p-2 : 0x1.344p-2)); /* exact */
    ts_val high = m_mul(m, f, inv), high_rest = m_fma(m, f, inv, m_neg(m, high));
    ts_val sum = m_add(m, ten, high), sum_rest = m_add(m, m_sub(m, ten, sum), high); /* |ten| > |high| or ten = 0 */
    ts_val low = m_fma(m, f, m_c(m, m->wide ? 0x1.95355baaafad3p-57 : -0x1.5b235ep-27), high_rest);
    low = m_fma(m, e, m_c(m, m->wide ? 0x1.9fef311f12b36p-42 : 0x1.3509f8p-18), low);
    if (m->wide)
        low = m_fma(m, log_rest(m, f), inv, low);
    else
        low = m_fma(m, m_mul(m, m_mul(m, f, f), inv), ts__math_poly(m, f, t->log, t->n_log), low);
    return m_add(m, sum, m_add(m, sum_rest, low));
}

ts_val ts__math_log10(ts_math *m, ts_val x)
{
    return log_any(m, x, log10_normal);
}

ts_val ts__math_log1p_both(ts_math *m, ts_val x, ts_val tail, ts_val doublings)
{
    const explog_table *t = explog_of(m);
    ts_val e, f, u, c, zero = m_c(m, 0);
    ts__math_two_sum(m, m_c(m, 1), x, &u, &c);
    ts__math_split(m, u, &e, &f);
    ts_val small = m_cmp(m, TS_LT, m_abs(m, x), m_c(m, 0.33));
    f = m_sel(m, small, x, f);
    e = m_sel(m, small, zero, e);
    ts_val rest = m_div(m, m_add(m, m_sel(m, small, zero, c), tail), u);
    if (doublings)
        e = m_add(m, e, m_mul(m, doublings, m_c(m, m->wide ? 1 : 0x1p23)));
    if (m->wide) {
        ts_val low = m_fma(m, e, m_c(m, t->ln2_lo), m_add(m, log_rest(m, f), rest));
        return m_fma(m, e, m_c(m, 0x1.62e42fefa39efp-1), m_add(m, f, low));
    }
    ts_val p = ts__math_poly(m, f, t->log, t->n_log);
    return m_fma(m, e, m_c(m, 0x1.62e43p-24), m_add(m, f, m_fma(m, m_mul(m, f, f), p, rest)));
}

ts_val ts__math_log1p(ts_math *m, ts_val x)
{
    ts_val minus = m_c(m, -1), inf = m_c(m, INFINITY), y = ts__math_log1p_both(m, x, m_c(m, 0), 0);
    y = m_sel(m, m_cmp(m, TS_EQ, x, inf), inf, y);
    y = m_sel(m, m_unless(m, TS_GE, x, minus), m_c(m, NAN), y);
    y = m_sel(m, m_cmp(m, TS_EQ, x, minus), m_neg(m, inf), y);
    return m_with_sign(m, y, x);
}
