/* SPDX-License-Identifier: Apache-2.0
 *
 * sin, cos, tan, and their argument reduction.
 *
 * n = round(x / pi), d = x - n pi with pi in three truncated parts (three fma; the products are exact,
 * so d is right to half an ulp below `fast`), sin x = (-1)^n sin d. For cos n is a half-integer. sin d
 * is 0.75 d + d q(d^2): the correction q stays small at both ends of [-pi/2, pi/2], which costs one
 * fma and gains half an ulp over d + d^3 p(d^2). tan works with pi/2.
 *
 * Huge arguments are `cold`: x / pi mod 2 by an integer multiplication with the bits of 1/pi that
 * matter (Payne and Hanek, 1983), 64 bits for f32 and 128 for f64. All parts of pi are positive, so
 * that -0 stays -0 on its way.
 */
#include "math/math.h"
#include <math.h>

typedef struct trig_table {
    double pi[3];
    double fast; /* the greatest |x| of the three-part reduction */
    int n_sin, n_tan;
    double sin[9], tan[15];
} trig_table;

/* Coefficients: tools/minimax.py, tables sin_*, tan_*. */
static const trig_table trig_tables[2] = {
    {{0x1.921fb4p+1, 0x1.4442dp-23, 0x1.846988p-47}, 100000.0, 4, 7,
     {-0.166666597, 0.00833306927, -0.000198097769, 2.60609568e-06},
     {0.333333492, 0.133326754, 0.0540589318, 0.0212859884, 0.010828346, 9.6683194e-05, 0.00437367056}},
    {{0x1.921fb54442d18p+1, 0x1.1a62633145c06p-53, 0x1.c1cd129024e08p-106}, 0x1p30, 9, 15,
     {-0x1.5555555555555p-3, 0x1.11111111110cdp-7, -0x1.a01a01a0155a2p-13, 0x1.71de3a52f3be2p-19,
      -0x1.ae64550a57f8dp-26, 0x1.6123e0b36190ep-33, -0x1.ae4bb16c6cd62p-41, 0x1.8a01206a6379bp-49,
      -0x1.518d6772e09b0p-60},
     {0x1.555555555555ep-2, 0x1.11111111105d2p-3, 0x1.ba1ba1babf349p-5, 0x1.664f485d24bedp-6, 0x1.226e3a818082ap-7,
      0x1.d6d2e7aaa3ba3p-9, 0x1.7db18f26e5d8ep-10, 0x1.34bc191cd689ap-11, 0x1.ff2e9c29e9988p-13, 0x1.5e78899c7d2dcp-14,
      0x1.19f63898e3dd4p-14, -0x1.ae301e3e6083dp-16, 0x1.9810adaa4295cp-15, -0x1.9759d9439a260p-16,
      0x1.48dbad74505c3p-17}},
};

/* Bits of 1/pi after the point. f32: 64 bits from every 32nd, 32 zero bits first. */
static const uint64_t trig_windows[7] = {
    0x00000000517CC1B7, 0x517CC1B727220A94, 0x27220A94FE13ABE8, 0xFE13ABE8FA9A6EE0,
    0xFA9A6EE06DB14ACC, 0x6DB14ACC9E21C820, 0x9E21C820FF28B1D5};
/* f64: 64-bit words, a zero word first. */
static const uint64_t trig_words[20] = {
    0, 0x517CC1B727220A94, 0xFE13ABE8FA9A6EE0, 0x6DB14ACC9E21C820, 0xFF28B1D5EF5DE2B0, 0xDB92371D2126E970,
    0x0324977504E8C90E, 0x7F0EF58E5894D39F, 0x74411AFA975DA242, 0x74CE38135A2FBF20, 0x9CC8EB1CC1A99CFA,
    0x4E422FC5DEFC941D, 0x8FFC4BFFEF02CC07, 0xF79788C5AD05368F, 0xB69B3F6793E584DB, 0xA7A31FB34F2FF516,
    0xBA93DD63F5F2F8BD, 0x9E839CFBC5294975, 0x35FDAFD88FC6AE84, 0x2B0198237E3DB5D5};

/* ---- 64-bit integer words -------------------------------------------------------------------------*/

typedef struct trig_wide {
    ts_builder *b;
    ts_type type; /* i64 of the shape at hand */
} trig_wide;

static ts_val trig_c(trig_wide *w, uint64_t value)
{
    return ts_bits(w->b, w->type, value);
}

static ts_val trig_op(trig_wide *w, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(w->b, op, x, y, op == TS_OP_shri ? TS_A_UNSIGNED : 0);
}

/* The 64 bits of a:b that begin `shift` bits into a; shift is 0 to 63. */
static ts_val trig_funnel(trig_wide *w, ts_val a, ts_val b, ts_val shift)
{
    ts_val back = trig_op(w, TS_OP_xori, shift, trig_c(w, 63));
    ts_val low = trig_op(w, TS_OP_shri, trig_op(w, TS_OP_shri, b, trig_c(w, 1)), back);
    return trig_op(w, TS_OP_ori, trig_op(w, TS_OP_shli, a, shift), low);
}

/* table[index], index < n: a tree of selects on the bits of index. */
static ts_val trig_pick(trig_wide *w, const uint64_t *table, int n, ts_val index)
{
    ts_val at[32] = {0};
    for (int i = 0; i < n; i++)
        at[i] = trig_c(w, table[i]);
    for (int bit = 0; n > 1; bit++, n = (n + 1) / 2) {
        ts_val set = trig_op(w, TS_OP_andi, index, trig_c(w, (uint64_t)1 << bit));
        ts_val odd = ts_cmp(w->b, TS_OP_cmpi, TS_NE, set, trig_c(w, 0), 0);
        for (int i = 0; i < (n + 1) / 2; i++)
            at[i] = 2 * i + 1 < n ? ts_select(w->b, odd, at[2 * i + 1], at[2 * i]) : at[2 * i];
    }
    return at[0];
}

/* ---- huge arguments -------------------------------------------------------------------------------*/

/* A reduced argument and what it lacks to be exact. */
typedef struct trig_angle {
    ts_val head, tail;
} trig_angle;

/* |x| / pi mod 2 as words of a fraction, the integer bit on top. */
typedef struct trig_turn {
    ts_val high, low; /* low: f64 only */
} trig_turn;

static trig_turn trig_huge_single(trig_wide *w, ts_val mantissa, ts_val exponent)
{
    ts_val offset = trig_op(w, TS_OP_subi, exponent, trig_c(w, 119));
    ts_val index = trig_op(w, TS_OP_shri, offset, trig_c(w, 5));
    ts_val shift = trig_op(w, TS_OP_andi, offset, trig_c(w, 31));
    ts_val a = trig_pick(w, trig_windows, 5, index), b = trig_pick(w, trig_windows + 2, 5, index);
    ts_val top = trig_funnel(w, a, b, shift);
    ts_val rest = trig_op(w, TS_OP_shri, trig_op(w, TS_OP_shli, b, shift), trig_c(w, 32));
    ts_val carry = trig_op(w, TS_OP_shri, trig_op(w, TS_OP_muli, mantissa, rest), trig_c(w, 32));
    return (trig_turn){trig_op(w, TS_OP_addi, trig_op(w, TS_OP_muli, mantissa, top), carry), 0};
}

/* a + b and the carry out of it as 0 or 1. */
static ts_val trig_add_carry(trig_wide *w, ts_val a, ts_val b, ts_val *carry)
{
    ts_val sum = trig_op(w, TS_OP_addi, a, b);
    ts_val over = ts_cmp(w->b, TS_OP_cmpi, TS_LT, sum, a, TS_A_UNSIGNED);
    *carry = ts_select(w->b, over, trig_c(w, 1), trig_c(w, 0));
    return sum;
}

static trig_turn trig_huge_double(trig_wide *w, ts_val mantissa, ts_val exponent)
{
    ts_val offset = trig_op(w, TS_OP_subi, exponent, trig_c(w, 1012)), word[4], top[3], carry, carry2;
    ts_val index = trig_op(w, TS_OP_shri, offset, trig_c(w, 6));
    ts_val shift = trig_op(w, TS_OP_andi, offset, trig_c(w, 63));
    for (int i = 0; i < 4; i++)
        word[i] = trig_pick(w, trig_words + i, 17, index);
    for (int i = 0; i < 3; i++)
        top[i] = trig_funnel(w, word[i], word[i + 1], shift);
    ts_val low = trig_add_carry(w, trig_op(w, TS_OP_muli, mantissa, top[1]),
                                trig_op(w, TS_OP_mulhii, mantissa, top[2]), &carry);
    ts_val high = trig_add_carry(w, trig_op(w, TS_OP_muli, mantissa, top[0]),
                                 trig_op(w, TS_OP_mulhii, mantissa, top[1]), &carry2);
    return (trig_turn){trig_op(w, TS_OP_addi, high, carry), low};
}

/* One bit to the left. */
static trig_turn trig_shift(trig_wide *w, trig_turn t)
{
    ts_val one = trig_c(w, 1);
    if (!t.low)
        return (trig_turn){trig_op(w, TS_OP_shli, t.high, one), 0};
    return (trig_turn){trig_funnel(w, t.high, t.low, one), trig_op(w, TS_OP_shli, t.low, one)};
}

/* Unsigned integer below 2^63 as f64. */
static ts_val trig_to_double(trig_wide *w, ts_val x)
{
    return ts_cast(w->b, TS_OP_itof, x, TS_T_f64, 0);
}

/* pi times the fraction nearest to zero, without its sign, as head and tail; f32 needs one word, f64 two. */
static trig_angle trig_angle_single(ts_math *m, trig_wide *w, ts_val fraction)
{
    ts_val wide = trig_to_double(w, fraction);
    ts_val unit = ts_float(w->b, ts_type_of(w->b->fn, wide), 0x1.921fb54442d18p+1 * 0x1p-64);
    ts_val scaled = ts_op2(w->b, TS_OP_mulf, wide, unit, 0), d = ts_cast(w->b, TS_OP_ftof, scaled, TS_T_f32, 0);
    ts_val rest = ts_op2(w->b, TS_OP_subf, scaled, ts_cast(w->b, TS_OP_ftof, d, TS_T_f64, 0), 0);
    (void)m;
    return (trig_angle){d, ts_cast(w->b, TS_OP_ftof, rest, TS_T_f32, 0)};
}

static trig_angle trig_angle_double(ts_math *m, trig_wide *w, ts_val high, ts_val low)
{
    ts_val a = trig_to_double(w, trig_op(w, TS_OP_shri, high, trig_c(w, 32)));
    ts_val b = trig_to_double(w, trig_op(w, TS_OP_andi, high, trig_c(w, 0xFFFFFFFF)));
    ts_val c = trig_to_double(w, trig_op(w, TS_OP_shri, low, trig_c(w, 32)));
    ts_val rest = m_fma(m, c, m_c(m, 0x1p-96), m_mul(m, b, m_c(m, 0x1p-64)));
    ts_val head, tail, pi = m_c(m, 0x1.921fb54442d18p+1);
    ts__math_two_sum(m, m_mul(m, a, m_c(m, 0x1p-32)), rest, &head, &tail);
    ts_val product = m_mul(m, head, pi), error = m_fma(m, head, pi, m_neg(m, product));
    error = m_fma(m, head, m_c(m, 0x1.1a62633145c06p-53), m_fma(m, tail, pi, error));
    ts_val d = m_add(m, product, error);
    return (trig_angle){d, m_add(m, m_sub(m, product, d), error)};
}

typedef enum trig_kind { TRIG_SIN, TRIG_COS, TRIG_TAN } trig_kind;

/* Turns counted in pi (tan: pi/2), a quarter added for cos. */
static trig_turn trig_huge_turn(ts_math *m, trig_wide *w, ts_val x, trig_kind kind)
{
    ts_val bits = m_and(m, m_bits(m, x), ~m_sign(m));
    ts_val exponent = m_shr(m, bits, m->fmt->mant);
    ts_val mantissa = m_or(m, m_and(m, bits, m->fmt->min_normal - 1), m_i(m, m->fmt->min_normal));
    trig_turn t;
    if (m->wide)
        t = trig_huge_double(w, mantissa, exponent);
    else
        t = trig_huge_single(w, ts_cast(m->b, TS_OP_exti, mantissa, TS_T_i64, TS_A_UNSIGNED),
                             ts_cast(m->b, TS_OP_exti, exponent, TS_T_i64, TS_A_UNSIGNED));
    if (kind == TRIG_TAN)
        t = trig_shift(w, t);
    if (kind == TRIG_COS)
        t.high = trig_op(w, TS_OP_addi, t.high, trig_c(w, (uint64_t)1 << 62));
    return t;
}

/* The reduced |x| before the sign of x; *parity has the number of half turns in its lowest bit. */
static trig_angle trig_huge_angle(ts_math *m, trig_wide *w, trig_turn t, ts_val *parity)
{
    ts_val turns = trig_op(w, TS_OP_shri, trig_op(w, TS_OP_addi, t.high, trig_c(w, (uint64_t)1 << 62)), trig_c(w, 63));
    *parity = m->wide ? turns : ts_cast(m->b, TS_OP_trunci, turns, TS_T_i32, 0);
    t = trig_shift(w, t);
    ts_val minus = ts_op2(m->b, TS_OP_shri, t.high, trig_c(w, 63), 0); /* all ones when negative */
    ts_val negative = ts_cmp(m->b, TS_OP_cmpi, TS_LT, t.high, trig_c(w, 0), 0);
    ts_val high = trig_op(w, TS_OP_xori, t.high, minus);
    trig_angle a = m->wide ? trig_angle_double(m, w, high, trig_op(w, TS_OP_xori, t.low, minus))
                           : trig_angle_single(m, w, high);
    return (trig_angle){m_sel(m, negative, m_neg(m, a.head), a.head), m_sel(m, negative, m_neg(m, a.tail), a.tail)};
}

static trig_angle trig_huge(ts_math *m, ts_val x, trig_kind kind, ts_val *parity)
{
    trig_wide w = {m->b, ts_type_with_elem(m->b->fn->module, m->f, TS_T_i64)};
    trig_angle a = trig_huge_angle(m, &w, trig_huge_turn(m, &w, x, kind), parity);
    ts_val unit = m_c(m, kind == TRIG_TAN ? 0.5 : 1), minus = m_neg(m, unit);
    if (kind != TRIG_COS)
        unit = m_sel(m, m_cmp(m, TS_LT, x, m_c(m, 0)), minus, unit);
    unit = m_sel(m, m_cmp(m, TS_LT, m_abs(m, x), m_c(m, INFINITY)), unit, m_c(m, NAN));
    return (trig_angle){m_mul(m, a.head, unit), m_mul(m, a.tail, unit)};
}

/* ---- reduction ------------------------------------------------------------------------------------*/

/* round(x / pi) and its integer in low bits; cos: round(x / pi - 1/2) + 1/2, the integer one more. */
static ts_val trig_round(ts_math *m, ts_val x, trig_kind kind, ts_val *n)
{
    double per_pi = m->wide ? 0x1.45f306dc9c883p-2 : 0x1.45f306p-2;
    ts_val scale = m_c(m, kind == TRIG_TAN ? 2 * per_pi : per_pi);
    ts_val magic = m_c(m, m->fmt->magic + (kind == TRIG_COS)), half = m_c(m, 0.5);
    ts_val u = kind == TRIG_COS ? m_add(m, m_fma(m, x, scale, m_c(m, -0.5)), magic) : m_fma(m, x, scale, magic);
    *n = m_bits(m, u);
    ts_val q = m_sub(m, u, magic);
    return kind == TRIG_COS ? m_add(m, q, half) : q;
}

/* x - q pi (tan: pi/2), the head alone. */
static ts_val trig_reduce(ts_math *m, ts_val x, ts_val q)
{
    const trig_table *t = &trig_tables[m->wide];
    for (int i = 0; i < 3; i++)
        x = m_fma(m, q, m_c(m, -t->pi[i]), x);
    return x;
}

/* The same with a tail: product and sum with their rounding errors. The signs of the exact zeros are
 * arranged so that x = -0 gives head and tail -0. */
static trig_angle trig_reduce_both(ts_math *m, ts_val x, ts_val q)
{
    const trig_table *t = &trig_tables[m->wide];
    ts_val first = m_fma(m, q, m_c(m, -0.5 * t->pi[0]), x); /* exact */
    ts_val p = m_mul(m, q, m_c(m, -0.5 * t->pi[1])), p_rest = m_neg(m, m_fma(m, q, m_c(m, 0.5 * t->pi[1]), p));
    ts_val head = m_add(m, first, p), head_rest = m_sub(m, p, m_sub(m, head, first));
    return (trig_angle){head, m_add(m, head_rest, m_fma(m, q, m_c(m, -0.5 * t->pi[2]), p_rest))};
}

static ts_val trig_is_huge(ts_math *m, ts_val x)
{
    return m_cmp(m, TS_GT, m_abs(m, x), m_c(m, trig_tables[m->wide].fast));
}

/* sin d for d in [-pi/2, pi/2], with the sign of n, odd or even */
static ts_val trig_half_wave(ts_math *m, ts_val d, ts_val n)
{
    const trig_table *t = &trig_tables[m->wide];
    ts_val z = m_mul(m, d, d), q = m_fma(m, ts__math_poly(m, z, t->sin, t->n_sin), z, m_c(m, 0.25));
    ts_val y = m_fma(m, d, m_c(m, 0.75), m_mul(m, d, q));
    return m_float(m, m_xor(m, m_bits(m, y), m_shl(m, n, m->wide ? 63 : 31)));
}

static ts_val trig_sine(ts_math *m, ts_val x, trig_kind kind)
{
    ts_val pair[2], d = trig_reduce(m, x, trig_round(m, x, kind, &pair[1]));
    pair[0] = d;
    ts_val opener = ts_cold_begin(m->b, trig_is_huge(m, x), 2, pair);
    pair[0] = trig_huge(m, x, kind, &pair[1]).head;
    ts_term(m->b, TS_OP_yield, 2, pair);
    ts_end_like(m->b, opener);
    return trig_half_wave(m, ts_res(m->b, opener, 0), ts_res(m->b, opener, 1));
}

void ts__math_sincos(ts_math *m, ts_val x, ts_val out[2])
{
    ts_val four[4];
    four[0] = trig_reduce(m, x, trig_round(m, x, TRIG_SIN, &four[1]));
    four[2] = trig_reduce(m, x, trig_round(m, x, TRIG_COS, &four[3]));
    ts_val opener = ts_cold_begin(m->b, trig_is_huge(m, x), 4, four);
    four[0] = trig_huge(m, x, TRIG_SIN, &four[1]).head;
    four[2] = trig_huge(m, x, TRIG_COS, &four[3]).head;
    ts_term(m->b, TS_OP_yield, 4, four);
    ts_end_like(m->b, opener);
    for (uint32_t i = 0; i < 4; i++)
        four[i] = ts_res(m->b, opener, i);
    out[0] = trig_half_wave(m, four[0], four[1]);
    out[1] = trig_half_wave(m, four[2], four[3]);
}

ts_val ts__math_sin(ts_math *m, ts_val x)
{
    return trig_sine(m, x, TRIG_SIN);
}

ts_val ts__math_cos(ts_math *m, ts_val x)
{
    return trig_sine(m, x, TRIG_COS);
}

/* x = n pi + head + tail, head in [-pi/2, pi/2] (tan: half of both); the lowest bit of *n is right. */
static trig_angle trig_half_turns(ts_math *m, ts_val x, trig_kind kind, ts_val *n)
{
    ts_val q = trig_round(m, x, kind, n);
    trig_angle a = trig_reduce_both(m, x, kind == TRIG_TAN ? q : m_add(m, q, q));
    ts_val three[3] = {a.head, a.tail, *n}, opener = ts_cold_begin(m->b, trig_is_huge(m, x), 3, three);
    a = trig_huge(m, x, kind, &three[2]);
    three[0] = a.head;
    three[1] = a.tail;
    ts_term(m->b, TS_OP_yield, 3, three);
    ts_end_like(m->b, opener);
    *n = ts_res(m->b, opener, 2);
    return (trig_angle){ts_res(m->b, opener, 0), ts_res(m->b, opener, 1)};
}

/* The quarter of pi is added in two parts, less pi where it would leave [-pi/2, pi/2]; the sum is rounded once. */
ts_val ts__math_sin_beside(ts_math *m, ts_val x, int eighths, ts_val more)
{
    double part = eighths > 0 ? 1 : -1, high = m->wide ? 0x1.921fb54442d18p-1 : 0x1.921fb6p-1;
    double low = m->wide ? 0x1.1a62633145c07p-55 : -0x1.777a5cp-26;
    double far_high = m->wide ? 0x1.2d97c7f3321d2p+1 : 0x1.2d97c8p+1;
    double far_low = m->wide ? 0x1.a79394c9e8a0ap-54 : -0x1.99bc5cp-28;
    ts_val n, t, t2, quarter = m_c(m, part * high);
    trig_angle a = trig_half_turns(m, x, TRIG_SIN, &n);
    ts_val over = m_cmp(m, eighths > 0 ? TS_GT : TS_LT, a.head, quarter);
    ts_val shift = m_sel(m, over, m_c(m, -part * far_high), quarter);
    ts_val rest = m_add(m, a.tail, m_sel(m, over, m_c(m, -part * far_low), m_c(m, part * low)));
    ts__math_two_sum(m, a.head, shift, &shift, &t);
    ts__math_two_sum(m, shift, more, &shift, &t2);
    n = m_iadd(m, n, m_sel(m, over, m_i(m, 1), m_i(m, 0)));
    return trig_half_wave(m, m_add(m, shift, m_add(m, t2, m_add(m, t, rest))), n);
}

/* tan (d + e) = d + (d^3 T(d^2) + e (1 + d^2)); between the poles its negative reciprocal. */
ts_val ts__math_tan(ts_math *m, ts_val x)
{
    const trig_table *t = &trig_tables[m->wide];
    ts_val n;
    trig_angle a = trig_half_turns(m, x, TRIG_TAN, &n);
    ts_val d = a.head, e = a.tail, z = m_mul(m, d, d);
    ts_val y = m_fma(m, m_mul(m, z, d), ts__math_poly(m, z, t->tan, t->n_tan), m_fma(m, e, z, e));
    y = m_add(m, d, y);
    ts_val odd = m_icmp(m, TS_NE, m_and(m, n, 1), m_i(m, 0));
    return m_div(m, m_sel(m, odd, m_c(m, -1), y), m_sel(m, odd, y, m_c(m, 1)));
}
