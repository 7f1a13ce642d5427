/* SPDX-License-Identifier: Apache-2.0
 *
 * 16-, 8- and 4-bit floats and tf32 as integer code around f32: exact widening, and narrowing with one
 * rounding. The same code on every processor; only f16 uses F16C where there is one. The formats and
 * what they do with NaN, infinity and overflow: ir/float.h.
 */
#include "ir/float.h"
#include "target/llvm/cg.h"

static cg_ref narrow_bits(cg *e, uint32_t bits, cg_ref x)
{
    return cg_conv(e, "bitcast", CG_F32, CG_I32, bits, x);
}
static cg_ref narrow_float(cg *e, uint32_t bits, cg_ref x)
{
    return cg_conv(e, "bitcast", CG_I32, CG_F32, bits, x);
}
static cg_ref narrow_i(cg *e, const char *op, uint32_t bits, cg_ref x, uint32_t c)
{
    return cg_bin(e, op, CG_I32, bits, x, cg_const(e, CG_I32, bits, c));
}
static cg_ref narrow_cmp(cg *e, const char *op, uint32_t bits, cg_ref x, uint32_t c)
{
    return cg_cmp(e, op, CG_I32, bits, x, cg_const(e, CG_I32, bits, c));
}
static cg_ref narrow_sel(cg *e, uint32_t bits, cg_ref c, cg_ref x, cg_ref y)
{
    return cg_sel(e, CG_I32, bits, c, x, y);
}
static cg_ref narrow_const(cg *e, uint32_t bits, uint32_t c)
{
    return cg_const(e, CG_I32, bits, c);
}

static cg_reg narrow_reg(const ts_float_format *f)
{
    return f->bits == 16 ? CG_I16 : f->bits == 32 ? CG_F32 : CG_I8;
}

/* 2^n as f32 bits, -126 <= n <= 127. */
static uint32_t narrow_pow2(int n)
{
    return (uint32_t)(n + 127) << 23;
}

/* ---- to f32 -------------------------------------------------------------------------------------*/

static cg_ref narrow_half_native(cg *e, uint32_t bits, cg_ref x)
{
    const char *i = cg_type(e, CG_I16, bits), *f = cg_type(e, CG_F32, bits);
    const char *vector = bits ? strchr(i, ' ') : NULL;
    if (!vector) {
        cg_ref h = cg_new(e, "bitcast i16 %r to half", x);
        return cg_new(e, "fpext half %r to float", h);
    }
    cg_ref h = cg_new(e, "bitcast %s %r to <%d x half>", i, x, (int64_t)1 << bits);
    return cg_new(e, "fpext <%d x half> %r to %s", (int64_t)1 << bits, h, f);
}

/* e8m0: 2^(b-127); b = 0 is the subnormal 2^-127. */
static cg_ref narrow_widen_scale(cg *e, uint32_t bits, cg_ref b)
{
    cg_ref r = narrow_i(e, "shl", bits, b, 23);
    r = narrow_sel(e, bits, narrow_cmp(e, "icmp eq", bits, b, 0), narrow_const(e, bits, 0x00400000), r);
    r = narrow_sel(e, bits, narrow_cmp(e, "icmp eq", bits, b, 255), narrow_const(e, bits, 0x7FC00000), r);
    return narrow_float(e, bits, r);
}

/* Exponent and mantissa moved into place are the value times 2^(bias-127), subnormals included. */
static cg_ref narrow_widen_any(cg *e, const ts_float_format *f, uint32_t bits, cg_ref b)
{
    uint32_t sign = f->is_signed ? 1u << (f->bits - 1) : 0, top = ((1u << f->exp_bits) - 1) << f->mant_bits;
    uint32_t all = top | ((1u << f->mant_bits) - 1);
    cg_ref mag = narrow_i(e, "and", bits, b, all);
    cg_ref scaled = narrow_float(e, bits, narrow_i(e, "shl", bits, mag, 23u - f->mant_bits));
    scaled = cg_bin(e, "fmul", CG_F32, bits, scaled,
                    narrow_float(e, bits, narrow_const(e, bits, narrow_pow2(127 - f->bias))));
    cg_ref r = narrow_bits(e, bits, scaled);
    if (f->has_inf) {
        cg_ref special = narrow_i(e, "or", bits, narrow_i(e, "shl", bits, mag, 23u - f->mant_bits), 0x7F800000);
        r = narrow_sel(e, bits, narrow_cmp(e, "icmp uge", bits, mag, top), special, r);
    } else if (f->has_nan)
        r = narrow_sel(e, bits, narrow_cmp(e, "icmp eq", bits, mag, all), narrow_const(e, bits, 0x7FC00000), r);
    if (sign)
        r = cg_bin(e, "or", CG_I32, bits, r,
                   narrow_i(e, "shl", bits, narrow_i(e, "and", bits, b, sign), 32u - f->bits));
    return narrow_float(e, bits, r);
}

cg_ref cg_widen(cg *e, ts_type from, uint32_t bits, cg_ref x)
{
    const ts_float_format *f = ts__float_format_of(from);
    if (from == TS_T_tf32)
        return narrow_float(e, bits, narrow_i(e, "and", bits, narrow_bits(e, bits, x), 0xFFFFE000u));
    if (from == TS_T_f16 && e->host->f16c)
        return narrow_half_native(e, bits, x);
    cg_ref b = cg_conv(e, "zext", narrow_reg(f), CG_I32, bits, x);
    if (from == TS_T_bf16)
        return narrow_float(e, bits, narrow_i(e, "shl", bits, b, 16));
    return from == TS_T_f8E8M0FNU ? narrow_widen_scale(e, bits, b) : narrow_widen_any(e, f, bits, b);
}

/* ---- from f32 -----------------------------------------------------------------------------------*/

/* Round to odd: cut to f32; if that lost something, make the last bit 1 on the side of x. One further
 * rounding to at most 22 bits then is the rounding of x itself. */
cg_ref cg_odd(cg *e, uint32_t bits, cg_ref x)
{
    cg_ref near = cg_conv(e, "fptrunc", CG_F64, CG_F32, bits, x);
    cg_ref back = cg_conv(e, "fpext", CG_F32, CG_F64, bits, near);
    cg_ref lost = cg_cmp(e, "fcmp one", CG_F64, bits, back, x);
    cg_ref far = cg_cmp(e, "fcmp ogt", CG_F64, bits, cg_call1(e, "fabs", CG_F64, bits, back),
                        cg_call1(e, "fabs", CG_F64, bits, x));
    cg_ref i = narrow_bits(e, bits, near);
    cg_ref down = cg_bin(e, "sub", CG_I32, bits, i, cg_conv(e, "zext", CG_I1, CG_I32, bits, far));
    return narrow_float(e, bits, narrow_sel(e, bits, lost, narrow_i(e, "or", bits, down, 1), i));
}

static cg_ref narrow_half_to(cg *e, uint32_t bits, cg_ref x)
{
    if (!bits) {
        cg_ref h = cg_new(e, "fptrunc float %r to half", x);
        return cg_new(e, "bitcast half %r to i16", h);
    }
    cg_ref h = cg_new(e, "fptrunc %s %r to <%d x half>", cg_type(e, CG_F32, bits), x, (int64_t)1 << bits);
    return cg_new(e, "bitcast <%d x half> %r to %s", (int64_t)1 << bits, h, cg_type(e, CG_I16, bits));
}

/* What is added to the bits before they are cut `drop` places down, as the rounding asks. */
static cg_ref narrow_bump(cg *e, ts_round round, uint32_t bits, cg_ref mag, cg_ref negative, uint32_t drop)
{
    uint32_t ones = (1u << drop) - 1;
    switch (round) {
    case TS_RZ:
        return mag;
    case TS_RP:
    case TS_RM: {
        cg_ref up = narrow_i(e, "add", bits, mag, ones);
        return round == TS_RP ? narrow_sel(e, bits, negative, mag, up) : narrow_sel(e, bits, negative, up, mag);
    }
    case TS_RA:
        return narrow_i(e, "add", bits, mag, 1u << (drop - 1));
    default: {
        cg_ref odd = narrow_i(e, "and", bits, narrow_i(e, "lshr", bits, mag, drop), 1);
        return cg_bin(e, "add", CG_I32, bits, narrow_i(e, "add", bits, mag, ones >> 1), odd);
    }
    }
}

/* Subnormals of the format: shift the significand into units of the least one with its lost bits kept as
 * a sticky last bit, then round like any other. exponent e of f32 -> drop = 23 - mant + (emin - e). */
static cg_ref narrow_small(cg *e, const ts_float_format *f, ts_round round, uint32_t bits, cg_ref mag, cg_ref negative)
{
    uint32_t drop = 23u - f->mant_bits;
    int emin = 1 - f->bias + 127;
    cg_ref exp = narrow_i(e, "lshr", bits, mag, 23);
    cg_ref sub = narrow_cmp(e, "icmp eq", bits, exp, 0);
    cg_ref sig = narrow_i(e, "and", bits, mag, 0x7FFFFF);
    sig = narrow_sel(e, bits, sub, sig, narrow_i(e, "or", bits, sig, 0x800000));
    exp = narrow_sel(e, bits, sub, narrow_const(e, bits, 1), exp);
    cg_ref by = cg_bin(e, "sub", CG_I32, bits, narrow_const(e, bits, (uint32_t)emin), exp);
    by = narrow_sel(e, bits, narrow_cmp(e, "icmp sgt", bits, by, 26), narrow_const(e, bits, 26), by);
    by = narrow_sel(e, bits, narrow_cmp(e, "icmp slt", bits, by, 0), narrow_const(e, bits, 0), by);
    cg_ref cut = cg_bin(e, "lshr", CG_I32, bits, sig, by);
    cg_ref back = cg_bin(e, "shl", CG_I32, bits, cut, by);
    cg_ref lost = cg_cmp(e, "icmp ne", CG_I32, bits, back, sig);
    cut = cg_bin(e, "or", CG_I32, bits, cut, cg_conv(e, "zext", CG_I1, CG_I32, bits, lost));
    return narrow_i(e, "lshr", bits, narrow_bump(e, round, bits, cut, negative, drop), drop);
}

static cg_ref narrow_normal(cg *e, const ts_float_format *f, ts_round round, uint32_t bits, cg_ref mag, cg_ref negative)
{
    uint32_t drop = 23u - f->mant_bits;
    cg_ref r = narrow_i(e, "lshr", bits, narrow_bump(e, round, bits, mag, negative, drop), drop);
    return narrow_i(e, "sub", bits, r, (uint32_t)(127 - f->bias) << f->mant_bits);
}

/* The magnitude's code, before overflow is looked at, as an i32. */
static cg_ref narrow_code(cg *e, const ts_float_format *f, ts_round round, uint32_t bits, cg_ref mag, cg_ref negative)
{
    if (f->bias == 127 && f->mant_bits) /* bf16: the exponent range of f32 */
        return narrow_normal(e, f, round, bits, mag, negative);
    cg_ref normal = narrow_normal(e, f, round, bits, mag, negative);
    cg_ref small = narrow_small(e, f, round, bits, mag, negative);
    cg_ref is_small = narrow_cmp(e, "icmp ult", bits, mag, (uint32_t)(1 - f->bias + 127) << 23);
    return narrow_sel(e, bits, is_small, small, normal);
}

/* Rounding towards zero stops at the greatest finite value; otherwise too much is infinity. */
static cg_ref narrow_overflow(cg *e, ts_type to, const ts_float_format *f, ts_round round, uint32_t bits, cg_ref code,
                              cg_ref mag, cg_ref negative)
{
    uint32_t inf = (uint32_t)ts__float_inf(to), most = f->has_inf ? inf - 1 : inf;
    cg_ref cap = narrow_const(e, bits, f->saturates ? (f->has_inf ? most : inf) : inf),
           low = narrow_const(e, bits, most);
    if (!f->saturates && round == TS_RZ)
        cap = low;
    else if (!f->saturates && (round == TS_RP || round == TS_RM))
        cap = round == TS_RP ? narrow_sel(e, bits, negative, low, cap) : narrow_sel(e, bits, negative, cap, low);
    cg_ref over = narrow_cmp(e, "icmp sgt", bits, code, most);
    code = narrow_sel(e, bits, over, cap, code);
    if (!f->saturates)
        code = narrow_sel(e, bits, narrow_cmp(e, "icmp eq", bits, mag, 0x7F800000), narrow_const(e, bits, inf), code);
    return code;
}

static cg_ref narrow_any(cg *e, ts_type to, const ts_float_format *f, ts_round round, uint32_t bits, cg_ref x)
{
    cg_ref i = narrow_bits(e, bits, x), mag = narrow_i(e, "and", bits, i, 0x7FFFFFFF);
    cg_ref negative = narrow_cmp(e, "icmp slt", bits, i, 0);
    cg_ref code = narrow_overflow(e, to, f, round, bits, narrow_code(e, f, round, bits, mag, negative), mag, negative);
    if (f->is_signed)
        code = cg_bin(e, "or", CG_I32, bits, code,
                      narrow_i(e, "lshr", bits, narrow_i(e, "and", bits, i, 0x80000000u), 32u - f->bits));
    else
        code = narrow_sel(e, bits, negative, narrow_const(e, bits, 0), code);
    cg_ref nan = narrow_cmp(e, "icmp ugt", bits, mag, 0x7F800000);
    return narrow_sel(e, bits, nan, narrow_const(e, bits, (uint32_t)ts__float_nan(to)), code);
}

/* e8m0 has an exponent and nothing else: 0 and negative values become its least value. */
static cg_ref narrow_scale(cg *e, ts_round round, uint32_t bits, cg_ref x)
{
    cg_ref i = narrow_bits(e, bits, x), mag = narrow_i(e, "and", bits, i, 0x7FFFFFFF);
    cg_ref negative = narrow_cmp(e, "icmp slt", bits, i, 0);
    /* nearest: the one significand bit is odd, so every tie goes up (float.h) */
    uint32_t bump = round == TS_RZ || round == TS_RM ? 0 : round == TS_RP ? 0x7FFFFF : 0x400000;
    cg_ref up = bump ? narrow_i(e, "add", bits, mag, bump) : mag;
    cg_ref code = narrow_i(e, "lshr", bits, up, 23);
    /* below 2^-126 the f32 is subnormal: 2^-127 is 0x400000 */
    cg_ref tiny = narrow_cmp(e, "icmp ult", bits, mag, 0x00800000);
    uint32_t from = round == TS_RP ? 0x00400001 : round == TS_RZ || round == TS_RM ? 0x00800000 : 0x00600000;
    cg_ref low = cg_conv(e, "zext", CG_I1, CG_I32, bits, narrow_cmp(e, "icmp uge", bits, mag, from));
    code = narrow_sel(e, bits, tiny, low, code);
    code = narrow_sel(e, bits, narrow_cmp(e, "icmp ugt", bits, code, 254), narrow_const(e, bits, 254), code);
    code = narrow_sel(e, bits, negative, narrow_const(e, bits, 0), code);
    return narrow_sel(e, bits, narrow_cmp(e, "icmp ugt", bits, mag, 0x7F800000), narrow_const(e, bits, 255), code);
}

/* tf32 keeps the f32 layout: round to 10 fraction bits in place. */
static cg_ref narrow_tf32(cg *e, ts_round round, uint32_t bits, cg_ref x)
{
    cg_ref i = narrow_bits(e, bits, x), mag = narrow_i(e, "and", bits, i, 0x7FFFFFFF);
    cg_ref negative = narrow_cmp(e, "icmp slt", bits, i, 0);
    cg_ref r = narrow_i(e, "and", bits, narrow_bump(e, round, bits, mag, negative, 13), 0xFFFFE000u);
    r = narrow_sel(e, bits, narrow_cmp(e, "icmp uge", bits, mag, 0x7F800000),
                   narrow_i(e, "and", bits, mag, 0xFFFFE000u), r);
    r = narrow_sel(e, bits, narrow_cmp(e, "icmp ugt", bits, mag, 0x7F800000), narrow_const(e, bits, 0x7FC00000), r);
    cg_ref nan = narrow_cmp(e, "icmp ugt", bits, mag, 0x7F800000);
    cg_ref sign = narrow_sel(e, bits, nan, narrow_const(e, bits, 0), narrow_i(e, "and", bits, i, 0x80000000u));
    return narrow_float(e, bits, cg_bin(e, "or", CG_I32, bits, r, sign));
}

cg_ref cg_narrow(cg *e, ts_type to, ts_round round, uint32_t bits, cg_ref x)
{
    const ts_float_format *f = ts__float_format_of(to);
    if (to == TS_T_tf32)
        return narrow_tf32(e, round, bits, x);
    if (to == TS_T_f16 && round == TS_RN && e->host->f16c)
        return narrow_half_to(e, bits, x);
    cg_ref code = to == TS_T_f8E8M0FNU ? narrow_scale(e, round, bits, x) : narrow_any(e, to, f, round, bits, x);
    return cg_conv(e, "trunc", CG_I32, narrow_reg(f), bits, code);
}
