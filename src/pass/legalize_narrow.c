/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions from and to 8- and 4-bit floats by integer operations, for GPUs that lack them (the CPU
 * code generator and sm_89's e4m3 and e5m2 have their own). Formats and what they do with NaN, infinity
 * and overflow: ir/float.h.
 *
 * To f32: the code shifted to f32's fields, times 2^(127 - bias), which also is right for subnormals.
 * From f32: rounded in place and shifted; results below the least normal are |x| / unit rounded as a
 * number; then saturation, NaN and the sign.
 */
#include "ir/float.h"
#include "math/math.h"
#include "pass/legalize.h"
#include <math.h>

static bool narrow_is_small(ts_type elem)
{
    const ts_float_format *f = ts__float_format_of(elem);
    return f && f->bits <= 8;
}

/* ---- to f32 ----------------------------------------------------------------------------------------------*/

static ts_val narrow_where(ts_math *m, ts_val code, uint32_t is, uint32_t then, ts_val otherwise)
{
    return m_sel(m, m_icmp(m, TS_EQ, code, m_i(m, is)), m_i(m, then), otherwise);
}

static ts_val narrow_widen_scale(ts_math *m, ts_val code)
{
    return narrow_where(m, code, 0, 0x00400000, narrow_where(m, code, 255, 0x7FC00000, m_shl(m, code, 23)));
}

static ts_val narrow_widen_code(ts_math *m, ts_val code, ts_type elem)
{
    const ts_float_format *f = ts__float_format_of(elem);
    if (elem == TS_T_f8E8M0FNU)
        return narrow_widen_scale(m, code);
    uint32_t sign_bit = (uint32_t)ts__float_sign_mask(elem);
    ts_val mag = sign_bit ? m_and(m, code, sign_bit - 1) : code;
    ts_val small = m_float(m, m_shl(m, mag, 23 - f->mant_bits));
    ts_val bits = m_bits(m, m_mul(m, small, m_c(m, ldexp(1, 127 - f->bias))));
    if (f->has_inf)
        bits = narrow_where(m, mag, (uint32_t)ts__float_inf(elem), 0x7F800000, bits);
    if (f->has_nan) /* every code above infinity; without infinity there is only one */
        bits = m_sel(m,
                     m_icmp(m, TS_GE, mag,
                            m_i(m, f->has_inf ? (int64_t)ts__float_inf(elem) + 1
                                              : (int64_t)ts__float_nan(elem))),
                     m_i(m, 0x7FC00000), bits);
    return sign_bit ? m_or(m, bits, m_shl(m, m_and(m, code, sign_bit), 32 - f->bits)) : bits;
}

ts_val ts__legal_widen(ts_builder *b, ts_val x, ts_type elem)
{
    ts_type narrow = ts__float_format_of(elem)->bits == 4 ? TS_T_i4 : TS_T_i8;
    ts_val code = ts_cast(b, TS_OP_exti, ts_cast(b, TS_OP_bitcast, x, narrow, 0), TS_T_i32, TS_A_UNSIGNED);
    ts_math m;
    ts__math_init(&m, b, ts_cast(b, TS_OP_bitcast, code, TS_T_f32, 0), false);
    return m_float(&m, narrow_widen_code(&m, code, elem));
}

/* ---- from f32 ----------------------------------------------------------------------------------------------*/

/* Does this direction go away from zero for positive (negative) numbers? */
static bool narrow_goes_up(ts_round round, bool negative)
{
    return negative ? round == TS_RM : round == TS_RP;
}

/* What is added to the bits before `shift` of them are cut. */
static ts_val narrow_bump(ts_math *m, ts_val mag, ts_val negative, int shift, ts_round round)
{
    int64_t all = ((int64_t)1 << shift) - 1;
    if (round == TS_RZ)
        return m_i(m, 0);
    if (round == TS_RM || round == TS_RP)
        return m_sel(m, negative, m_i(m, narrow_goes_up(round, true) ? all : 0),
                     m_i(m, narrow_goes_up(round, false) ? all : 0));
    if (round == TS_RA)
        return m_i(m, all / 2 + 1);
    return m_iadd(m, m_i(m, all / 2), m_and(m, m_shr(m, mag, shift), 1));
}

/* n >= 0, less than 2^22, rounded to an integer. */
static ts_val narrow_integer(ts_math *m, ts_val n, ts_val negative, ts_round round)
{
    ts_val floor = ts_op1(m->b, TS_OP_floor, n, 0), r;
    if (round == TS_RZ)
        r = floor;
    else if (round == TS_RM || round == TS_RP) {
        ts_val ceil = ts_op1(m->b, TS_OP_ceil, n, 0);
        r = m_sel(m, negative, narrow_goes_up(round, true) ? ceil : floor, narrow_goes_up(round, false) ? ceil : floor);
    } else if (round == TS_RA)
        r = ts_op1(m->b, TS_OP_floor, m_add(m, n, m_c(m, 0.5)), 0);
    else
        return m_and(m, m_bits(m, m_add(m, n, m_c(m, 0x1p23))), 0x7FFFFF);
    return ts_cast(m->b, TS_OP_ftoi, r, TS_T_i32, 0);
}

/* Normal results: exponent rebased, fraction cut to its length. */
static ts_val narrow_normal(ts_math *m, ts_val mag, ts_val negative, ts_type elem, ts_round round)
{
    const ts_float_format *f = ts__float_format_of(elem);
    int shift = 23 - f->mant_bits;
    ts_val rebased = m_isub(m, mag, m_i(m, (int64_t)(127 - f->bias) << 23));
    return m_shr(m, m_iadd(m, rebased, narrow_bump(m, mag, negative, shift, round)), shift);
}

/* Results below the least normal: a count of units. */
static ts_val narrow_subnormal(ts_math *m, ts_val x, ts_val negative, ts_type elem, ts_round round)
{
    const ts_float_format *f = ts__float_format_of(elem);
    if (elem != TS_T_f8E8M0FNU)
        return narrow_integer(m, m_mul(m, m_abs(m, x), m_c(m, ldexp(1, f->bias - 1 + f->mant_bits))), negative, round);
    ts_val units = m_mul(m, m_mul(m, m_abs(m, x), m_c(m, 0x1p100)), m_c(m, 0x1p27)); /* of 2^-127, which is code 0 */
    ts_val code = m_isub(m, narrow_integer(m, units, negative, round), m_i(m, 1));
    return ts_op2(m->b, TS_OP_maxi, code, m_i(m, 0), 0);
}

static ts_val narrow_code(ts_math *m, ts_val x, ts_type elem, ts_round round)
{
    const ts_float_format *f = ts__float_format_of(elem);
    bool scale = elem == TS_T_f8E8M0FNU;
    if (scale && round == TS_RN) /* the one significand bit is odd: every tie goes up */
        round = TS_RA;
    ts_val bits = m_bits(m, x), mag = m_and(m, bits, 0x7FFFFFFF), negative = m_icmp(m, TS_LT, bits, m_i(m, 0));
    ts_val low = m_icmp(m, TS_LT, mag, m_i(m, (int64_t)(scale ? 1 : 128 - f->bias) << 23));
    ts_val code = m_sel(m, low, narrow_subnormal(m, x, negative, elem, round),
                        narrow_normal(m, mag, negative, elem, round));
    code = ts_op2(m->b, TS_OP_mini, code, m_i(m, (int64_t)ts__float_inf(elem) - (f->has_inf ? 1 : 0)), 0);
    if (f->is_signed)
        code = m_or(m, code, m_and(m, m_shr(m, bits, 32 - f->bits), (int64_t)ts__float_sign_mask(elem)));
    else
        code = m_sel(m, negative, m_i(m, 0), code);
    return m_sel(m, m_icmp(m, TS_GT, mag, m_i(m, 0x7F800000)), m_i(m, (int64_t)ts__float_nan(elem)), code);
}

ts_val ts__legal_narrow(ts_builder *b, ts_val x, ts_type elem, ts_round round)
{
    ts_math m;
    ts__math_init(&m, b, x, false);
    ts_type narrow = ts__float_format_of(elem)->bits == 4 ? TS_T_i4 : TS_T_i8;
    return ts_cast(b, TS_OP_bitcast, ts_cast(b, TS_OP_trunci, narrow_code(&m, x, elem, round), narrow, 0), elem, 0);
}

/* ---- the operations ------------------------------------------------------------------------------------------*/

/* The target converts this format by an instruction. */
static bool narrow_is_native(const ts_legal *l, ts_type elem)
{
    return (elem == TS_T_f8E4M3FN || elem == TS_T_f8E5M2) && l->target >= TS_TARGET_SM89;
}

/* Any float as f32; an f64 rounded to odd, so that rounding it again rounds once. */
static ts_val narrow_as_f32(const ts_legal *l, ts_val x, ts_type from)
{
    ts_builder *b = l->b;
    if (from == TS_T_f32)
        return x;
    if (narrow_is_small(from) && !narrow_is_native(l, from))
        return ts__legal_widen(b, x, from);
    if (from != TS_T_f64)
        return ts_cast(b, TS_OP_ftof, x, TS_T_f32, 0);
    ts_val cut = ts_cast(b, TS_OP_ftof, x, TS_T_f32, TS_RZ), back = ts_cast(b, TS_OP_ftof, cut, TS_T_f64, 0);
    ts_math m;
    ts__math_init(&m, b, cut, false);
    ts_val lost = ts_cmp(b, TS_OP_cmpf, TS_NE, back, x, 0);
    return m_float(&m, m_or(&m, m_bits(&m, cut), m_sel(&m, lost, m_i(&m, 1), m_i(&m, 0))));
}

ts_val ts__legal_ftof(const ts_legal *l)
{
    ts_round round = TS_A_ROUND(l->attr);
    bool directed = round == TS_RZ || round == TS_RM || round == TS_RP;
    if (l->elem == l->from && !narrow_is_small(l->elem))
        return l->x[0];
    if (!ts__legal_is_gpu(l)) /* the rest is native */
        return directed && l->from == TS_T_f64 && l->elem == TS_T_f32
                   ? ts__legal_round_to(l->b, l->x[0], l->elem, round)
                   : 0;
    bool to_small = narrow_is_small(l->elem), from_small = narrow_is_small(l->from);
    bool to_native = !to_small || (narrow_is_native(l, l->elem) && !directed && round != TS_RA);
    if (to_native && (!from_small || narrow_is_native(l, l->from)))
        return 0;
    ts_val x = narrow_as_f32(l, l->x[0], l->from);
    if (to_small && !to_native)
        return ts__legal_narrow(l->b, x, l->elem, round);
    return l->elem == TS_T_f32 ? x : ts_cast(l->b, TS_OP_ftof, x, l->elem, round);
}

/* A GPU's conversion of NaN gives the least integer where the source is f64 or the result has 64 bits, and 0 else. */
ts_val ts__legal_ftoi(const ts_legal *l)
{
    bool to_f32 = narrow_is_small(l->from) || l->from == TS_T_tf32,
         odd_nan = l->from == TS_T_f64 || l->elem == TS_T_i64;
    if (!ts__legal_is_gpu(l) || (!to_f32 && !odd_nan))
        return 0;
    ts_val x = to_f32 ? narrow_as_f32(l, l->x[0], l->from) : l->x[0];
    ts_val y = ts_cast(l->b, TS_OP_ftoi, x, l->elem, l->attr);
    return odd_nan ? ts_select(l->b, ts_cmp(l->b, TS_OP_cmpf, TS_EQ, x, x, 0), y, ts_int(l->b, l->type, 0)) : y;
}
