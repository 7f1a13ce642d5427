/* SPDX-License-Identifier: Apache-2.0
 *
 * Directed rounding (towards zero, down, up) with operations that round to nearest, for the CPU, where
 * changing the rounding mode would cost more and vector code has none.
 *
 * f32, f16, bf16: the operation in f64, rounded to odd (cut, and the last bit set if anything was lost),
 * then one directed conversion; an odd last bit 29 places further down cannot mislead it (Boldo and
 * Melquiond). f64: the nearest result and the sign of its error, which an error-free transformation gives
 * (Knuth's two-sum; fma residuals; Boldo and Muller's for fma), then at most one step to the neighbour.
 * f64 products and quotients are examined on significands, and fma scaled by a power of two, so that
 * subnormal results are right too.
 */
#include "math/math.h"
#include "pass/legalize.h"
#include <math.h>

static bool round_is_directed(ts_round round)
{
    return round == TS_RZ || round == TS_RM || round == TS_RP;
}

static ts_val round_and(ts_math *m, ts_val x, ts_val y)
{
    return ts_op2(m->b, TS_OP_andi, x, y, 0);
}

/* ---- one step ------------------------------------------------------------------------------------------*/

/* The neighbour of x away from zero (`away`), otherwise towards it, by bits. */
static ts_val round_step(ts_math *m, ts_val x, ts_val away)
{
    return m_float(m, m_iadd(m, m_bits(m, x), m_sel(m, away, m_i(m, 1), m_i(m, -1))));
}

static ts_val round_is_negative(ts_math *m, ts_val x) /* by the sign bit */
{
    return m_icmp(m, TS_LT, m_bits(m, x), m_i(m, 0));
}

/* s is nearest; true value above s where `above`, below it where `below`: the directed result. */
static ts_val round_adjust(ts_math *m, ts_val s, ts_val above, ts_val below, ts_round round)
{
    ts_val negative = round_is_negative(m, s), positive = m_icmp(m, TS_GE, m_bits(m, s), m_i(m, 0));
    if (round == TS_RM)
        return m_sel(m, below, round_step(m, s, negative), s);
    if (round == TS_RP)
        return m_sel(m, above, round_step(m, s, positive), s);
    ts_val outside = m_sel(m, negative, above, below); /* the nearest one lies farther from zero */
    return m_sel(m, outside, m_float(m, m_isub(m, m_bits(m, s), m_i(m, 1))), s);
}

/* s rounded to odd, `error` having the sign of (true value - s). */
static ts_val round_odd(ts_math *m, ts_val s, ts_val error)
{
    ts_val bits = m_bits(m, s), zero = m_c(m, 0);
    ts_val even = m_icmp(m, TS_EQ, m_and(m, bits, 1), m_i(m, 0));
    ts_val move = round_and(m, even, m_cmp(m, TS_NE, error, zero));
    ts_val same = m_icmp(m, TS_GE, m_xor(m, bits, m_bits(m, error)), m_i(m, 0)); /* equal signs: away from zero */
    return m_sel(m, move, round_step(m, s, same), s);
}

ts_val ts__legal_round_to(ts_builder *b, ts_val x, ts_type elem, ts_round round)
{
    if (elem != TS_T_f32) /* narrow formats: the CPU rounds these by integers, in any direction */
        return ts_cast(b, TS_OP_ftof, x, elem, round);
    ts_val y = ts_cast(b, TS_OP_ftof, x, TS_T_f32, 0), back = ts_cast(b, TS_OP_ftof, y, TS_T_f64, 0);
    ts_math m;
    ts__math_init(&m, b, y, false);
    ts_val above = ts_cmp(b, TS_OP_cmpf, TS_LT, back, x, 0), below = ts_cmp(b, TS_OP_cmpf, TS_GT, back, x, 0);
    return round_adjust(&m, y, above, below, round);
}

/* ---- sums ------------------------------------------------------------------------------------------------*/

/* Rounding down, x + y = 0 is -0 unless both are +0. */
static ts_val round_zero_sum(ts_math *m, ts_val s, ts_val x, ts_val y, ts_round round)
{
    if (round != TS_RM)
        return s;
    ts_val signs = m_and(m, m_or(m, m_bits(m, x), m_bits(m, y)), m_sign(m));
    return m_sel(m, m_cmp(m, TS_EQ, s, m_c(m, 0)), m_float(m, signs), s);
}

/* ---- through f64 -------------------------------------------------------------------------------------------*/

static ts_val round_sum_odd(ts_math *m, ts_val x, ts_val y, ts_round round)
{
    ts_val s, e;
    ts__math_two_sum(m, x, y, &s, &e);
    return round_zero_sum(m, round_odd(m, s, e), x, y, round);
}

/* The operation on f64 copies of f32 (or narrower) values, rounded to odd. */
static ts_val round_wide(ts_math *m, ts_op op, const ts_val *x, ts_round round)
{
    ts_val q, error;
    switch ((int)op) {
    case TS_OP_addf:
        return round_sum_odd(m, x[0], x[1], round);
    case TS_OP_subf:
        return round_sum_odd(m, x[0], m_neg(m, x[1]), round);
    case TS_OP_mulf:
        return m_mul(m, x[0], x[1]); /* exact */
    case TS_OP_fma:
        return round_sum_odd(m, m_mul(m, x[0], x[1]), x[2], round);
    case TS_OP_divf:
        q = m_div(m, x[0], x[1]);
        error = m_fma(m, m_neg(m, q), x[1], x[0]);
        return round_odd(m, q, m_sel(m, round_is_negative(m, x[1]), m_neg(m, error), error));
    default:
        q = ts_op1(m->b, TS_OP_sqrt, x[0], 0);
        return round_odd(m, q, m_fma(m, m_neg(m, q), q, x[0]));
    }
}

static ts_val round_flush(ts_builder *b, ts_val x)
{
    return ts_op2(b, TS_OP_mulf, x, ts_float(b, ts_type_of(b->fn, x), 1), TS_A_FTZ);
}

static ts_val round_by_f64(const ts_legal *l, ts_round round)
{
    bool flush = l->attr & TS_A_FTZ && l->elem == TS_T_f32;
    ts_val wide[3];
    ts_math m;
    for (uint32_t i = 0; i < l->n && i < 3; i++)
        wide[i] = ts_cast(l->b, TS_OP_ftof, flush ? round_flush(l->b, l->x[i]) : l->x[i], TS_T_f64, 0);
    ts__math_init(&m, l->b, wide[0], false);
    ts_val r = ts__legal_round_to(l->b, round_wide(&m, l->op, wide, round), l->elem, round);
    return flush ? round_flush(l->b, r) : r;
}

/* ---- f64 ---------------------------------------------------------------------------------------------------*/

/* x 2^n for a result known to be of moderate size; n may exceed the exponent range, so in three parts. */
static ts_val round_scale(ts_math *m, ts_val x, ts_val n)
{
    ts_val third = ts_op2(m->b, TS_OP_divi, n, m_i(m, 3), 0), last = m_isub(m, m_isub(m, n, third), third);
    ts_val f = ts__math_power(m, third);
    return m_mul(m, m_mul(m, m_mul(m, x, f), f), ts__math_power(m, last));
}

/* The sign of (true |x op y| - |s|) for products and quotients, by significands; 0 where exact or special. */
static ts_val round_magnitude_error(ts_math *m, ts_op op, ts_val x, ts_val y, ts_val s)
{
    ts_val zero = m_c(m, 0), inf = m_c(m, INFINITY), ax = m_abs(m, x), ay = m_abs(m, y), ex, ey, error;
    ts_val a = ts__math_significand(m, ax, &ex), b = ts__math_significand(m, ay, &ey);
    if (op == TS_OP_mulf) {
        ts_val near = round_scale(m, m_abs(m, s), m_isub(m, m_i(m, 0), m_iadd(m, ex, ey))), p = m_mul(m, a, b);
        error = m_add(m, m_sub(m, p, near), m_fma(m, a, b, m_neg(m, p)));
    } else
        error = m_fma(m, m_neg(m, round_scale(m, m_abs(m, s), m_isub(m, ey, ex))), b, a);
    ts_val plain = round_and(m, m_cmp(m, TS_LT, ax, inf), m_cmp(m, TS_LT, ay, inf));
    plain = round_and(m, plain, round_and(m, m_cmp(m, TS_GT, ax, zero), m_cmp(m, TS_GT, ay, zero)));
    plain = round_and(m, plain, m_cmp(m, TS_LT, m_abs(m, s), inf));
    return m_sel(m, plain, error, zero);
}

/* |x| no less than `least` unless it is zero: stands for any smaller number where only its sign counts. */
static ts_val round_at_least(ts_math *m, ts_val x, ts_val small, ts_val least)
{
    ts_val tiny = round_and(m, small, m_cmp(m, TS_NE, x, m_c(m, 0)));
    return m_sel(m, tiny, m_with_sign(m, least, x), x);
}

/* x[0] x[1], x[2] and r by one power of two, so that the product's residual neither underflows nor the
 * product overflows. Products (or sums) that only break ties are replaced by something harmless. */
static void round_fma_range(ts_math *m, ts_val *x, ts_val *r)
{
    ts_val one = m_c(m, 1), a0 = m_abs(m, x[0]), a1 = m_abs(m, x[1]), p = m_abs(m, m_mul(m, x[0], x[1]));
    ts_val tiny = m_c(m, 0x1p-500),
           small = round_and(m, m_cmp(m, TS_LT, p, tiny), m_cmp(m, TS_LT, m_abs(m, x[2]), tiny));
    ts_val big = m_cmp(m, TS_GE, p, m_c(m, 0x1p1000)), great = m_c(m, 0x1p400);
    ts_val half = m_c(m, 0x1p500), all = m_c(m, 0x1p1000), down = m_c(m, 0x1p-200);
    ts_val g0 = m_cmp(m, TS_GE, a0, great), g1 = m_cmp(m, TS_GE, a1, great), first = m_cmp(m, TS_GE, a0, one);
    ts_val up0 = m_sel(m, g0, one, m_sel(m, g1, all, half)), up1 = m_sel(m, g0, all, m_sel(m, g1, one, half));
    ts_val f0 = m_sel(m, small, up0, m_sel(m, round_and(m, big, first), down, one));
    ts_val f1 = m_sel(m, small, up1, m_sel(m, big, m_sel(m, first, one, down), one));
    ts_val f2 = m_sel(m, small, all, m_sel(m, big, down, one));
    ts_val lost = round_and(m, big, m_cmp(m, TS_LT, m_abs(m, x[2]), m_c(m, 0x1p-700)));
    x[0] = m_mul(m, x[0], f0);
    x[1] = m_mul(m, x[1], f1);
    x[2] = round_at_least(m, m_sel(m, lost, x[2], m_mul(m, x[2], f2)), lost, m_c(m, 0x1p-900));
    *r = m_mul(m, *r, f2);
    ts_val limit = m_sel(m, small, m_c(m, 0x1p-300), m_c(m, 0x1p-900));
    ts_val least = m_sel(m, small, m_c(m, 0x1p-150), m_c(m, 0x1p-450));
    ts_val sticky = m_cmp(m, TS_LT, m_abs(m, m_mul(m, x[0], x[1])), limit), zero = m_c(m, 0);
    sticky = round_and(m, sticky, round_and(m, m_cmp(m, TS_NE, x[0], zero), m_cmp(m, TS_NE, x[1], zero)));
    x[0] = round_at_least(m, x[0], sticky, least);
    x[1] = round_at_least(m, x[1], sticky, least);
}

/* A number with the sign of the error of r = x0 x1 + x2 rounded to nearest. */
static ts_val round_fma_error(ts_math *m, const ts_val *operands, ts_val r)
{
    ts_val x[3] = {operands[0], operands[1], operands[2]}, a1, a2, b1, b2;
    round_fma_range(m, x, &r);
    ts_val u1 = m_mul(m, x[0], x[1]), u2 = m_fma(m, x[0], x[1], m_neg(m, u1));
    ts__math_two_sum(m, x[2], u2, &a1, &a2);
    ts__math_two_sum(m, u1, a1, &b1, &b2);
    return m_add(m, m_add(m, m_sub(m, b1, r), b2), a2);
}

/* A finite operation that overflowed gives the greatest finite number in the directions that cut. */
static ts_val round_overflow(ts_math *m, const ts_legal *l, ts_val r, ts_round round)
{
    ts_val inf = m_c(m, INFINITY), over = m_cmp(m, TS_EQ, m_abs(m, r), inf), most = m_c(m, 0x1.fffffffffffffp1023);
    for (uint32_t i = 0; i < l->n; i++)
        over = round_and(m, over, m_cmp(m, TS_LT, m_abs(m, l->x[i]), inf));
    if (l->op == TS_OP_divf)
        over = round_and(m, over, m_cmp(m, TS_NE, l->x[1], m_c(m, 0)));
    ts_val up = round == TS_RP ? inf : most, down = round == TS_RM ? m_neg(m, inf) : m_neg(m, most);
    return m_sel(m, over, m_sel(m, round_is_negative(m, r), down, up), r);
}

static ts_val round_double_sum(ts_math *m, ts_val x, ts_val y, ts_val *error, ts_round round)
{
    ts_val s;
    ts__math_two_sum(m, x, y, &s, error);
    return round_zero_sum(m, s, x, y, round);
}

static ts_val round_double_sqrt(ts_math *m, ts_val x, ts_val *error)
{
    ts_val small = m_cmp(m, TS_LT, x, m_c(m, 0x1p-500)), s = ts_op1(m->b, TS_OP_sqrt, x, 0);
    ts_val up = m_sel(m, small, m_c(m, 0x1p600), m_c(m, 1)), half = m_sel(m, small, m_c(m, 0x1p300), m_c(m, 1));
    ts_val t = m_mul(m, s, half);
    *error = m_fma(m, m_neg(m, t), t, m_mul(m, x, up));
    return s;
}

/* The nearest result; *error gets a number with the sign of what it lacks. */
static ts_val round_double_nearest(ts_math *m, const ts_legal *l, ts_val *error, ts_round round)
{
    const ts_val *x = l->x;
    ts_val r;
    switch ((int)l->op) {
    case TS_OP_addf:
        return round_double_sum(m, x[0], x[1], error, round);
    case TS_OP_subf:
        return round_double_sum(m, x[0], m_neg(m, x[1]), error, round);
    case TS_OP_sqrt:
        return round_double_sqrt(m, x[0], error);
    case TS_OP_fma:
        r = ts_op3(m->b, TS_OP_fma, x[0], x[1], x[2], 0);
        *error = round_fma_error(m, x, r);
        return m_sel(m, m_cmp(m, TS_EQ, *error, m_c(m, 0)), /* a product that underflows is no zero */
                     round_zero_sum(m, r, m_mul(m, x[0], x[1]), x[2], round), r);
    default:
        r = ts_op2(m->b, l->op, x[0], x[1], 0);
        *error = round_magnitude_error(m, l->op, x[0], x[1], r);
        *error = m_sel(m, round_is_negative(m, r), m_neg(m, *error), *error);
        return r;
    }
}

static ts_val round_double(const ts_legal *l, ts_round round)
{
    ts_math m;
    ts_val error;
    ts__math_init(&m, l->b, l->x[0], false);
    ts_val r = round_double_nearest(&m, l, &error, round), zero = m_c(&m, 0);
    r = round_adjust(&m, r, m_cmp(&m, TS_GT, error, zero), m_cmp(&m, TS_LT, error, zero), round);
    return round_overflow(&m, l, r, round);
}

/* ---- the operations -----------------------------------------------------------------------------------------*/

ts_val ts__legal_arith(const ts_legal *l)
{
    ts_round round = TS_A_ROUND(l->attr);
    bool narrow = l->elem == TS_T_f16 || l->elem == TS_T_bf16;
    if (!round_is_directed(round))
        return 0;
    if (!ts__legal_is_gpu(l))
        return l->elem == TS_T_f64 ? round_double(l, round) : round_by_f64(l, round);
    if (!narrow || l->op != TS_OP_fma)
        return 0;
    ts_val wide[3]; /* cut in f32, then in f16: cut once */
    for (int i = 0; i < 3; i++)
        wide[i] = ts_cast(l->b, TS_OP_ftof, l->x[i], TS_T_f32, 0);
    return ts_cast(l->b, TS_OP_ftof, ts_op3(l->b, TS_OP_fma, wide[0], wide[1], wide[2], round), l->elem, round);
}

/* 64-bit integers as two exact f64 numbers, others as one. */
ts_val ts__legal_itof(const ts_legal *l)
{
    ts_round round = TS_A_ROUND(l->attr);
    ts_builder *b = l->b;
    uint32_t sign = l->attr & TS_A_UNSIGNED;
    ts_math m;
    if (ts__legal_is_gpu(l) || !round_is_directed(round))
        return 0;
    if (l->from != TS_T_i64) {
        ts_val exact = ts_cast(b, TS_OP_itof, l->x[0], TS_T_f64, sign);
        return l->elem == TS_T_f64 ? exact : ts__legal_round_to(b, exact, l->elem, round);
    }
    ts_val mask = ts_int(b, ts_type_of(b->fn, l->x[0]), 0xFFFFFFFF), low = ts_op2(b, TS_OP_andi, l->x[0], mask, 0);
    ts_val high = ts_cast(b, TS_OP_itof, ts_op2(b, TS_OP_subi, l->x[0], low, 0), TS_T_f64, sign), s, e;
    ts__math_init(&m, b, high, false);
    ts__math_two_sum(&m, high, ts_cast(b, TS_OP_itof, low, TS_T_f64, 0), &s, &e);
    if (l->elem != TS_T_f64)
        return ts__legal_round_to(b, round_odd(&m, s, e), l->elem, round);
    return round_adjust(&m, s, m_cmp(&m, TS_GT, e, m_c(&m, 0)), m_cmp(&m, TS_LT, e, m_c(&m, 0)), round);
}

/* On the CPU a maximum with a constant is one comparison, not the five operations of two unknowns. */
ts_val ts__legal_extreme(const ts_legal *l)
{
    double c;
    bool is_wide = l->elem == TS_T_f32 || l->elem == TS_T_f64, nan = l->attr & TS_A_NAN;
    if (ts__legal_is_gpu(l) || !is_wide || l->attr & TS_A_FTZ)
        return 0;
    ts_val x = l->x[0], y = l->x[1];
    if (ts__const_as_float(l->b->fn, x, &c)) {
        x = l->x[1];
        y = l->x[0];
    } else if (!ts__const_as_float(l->b->fn, y, &c))
        return 0;
    bool max = l->op == TS_OP_maxf;
    if (isnan(c) || (c == 0 && (nan || max == !!signbit(c)))) /* zeros: max(-0, +0) = +0 must come out */
        return 0;
    ts_pred keep = max ? TS_GT : TS_LT, take = max ? TS_LT : TS_GT;
    if (nan)
        return ts_select(l->b, ts_cmp(l->b, TS_OP_cmpf, take, x, y, 0), y, x);
    return ts_select(l->b, ts_cmp(l->b, TS_OP_cmpf, keep, x, y, 0), x, y);
}
