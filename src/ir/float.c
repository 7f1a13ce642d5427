/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact software arithmetic on all float formats, see float.h. A number is unpacked to
 * (-1)^neg * mant * 2^exp with a 128-bit integer mantissa; an operation gives such a number, with
 * "something nonzero was cut off" kept in the lowest bit (sticky), and float_pack rounds it once.
 * Next to read: scalar.c, the elementwise operations.
 */
#include "ir/float.h"
#include <math.h>

__extension__ typedef unsigned __int128 float_u128;

static const ts_float_format float_formats[TS_T_token] = {
#define TS_DTYPE(...)
#define TS_COMPLEX(...)
#define TS_FLOAT(name, scalar, kind, bytes, bits, sign, dlpack, typestr, format, tma, exp, mant, pad, bias, inf, nan, \
                 saturates)                                                                                           \
    [TS_T_##scalar] = {bits, exp, mant, pad, bias, sign, inf, nan, saturates},
#include "tessera/dtype.def"
};

enum float_class { FLOAT_FINITE, FLOAT_INF, FLOAT_NAN };
typedef struct float_num {
    enum float_class class;
    bool neg;
    int exp;
    float_u128 mant; /* 0: zero */
} float_num;

const ts_float_format *ts__float_format_of(ts_type scalar)
{
    return scalar < TS_T_token && float_formats[scalar].bits ? &float_formats[scalar] : NULL;
}

/* ---- codes -------------------------------------------------------------------------------------- */

static uint64_t float_exp_mask(const ts_float_format *f)
{
    return ((uint64_t)1 << f->exp_bits) - 1;
}

static uint64_t float_mant_mask(const ts_float_format *f)
{
    return ((uint64_t)1 << f->mant_bits) - 1;
}

uint64_t ts__float_sign_mask(ts_type type)
{
    const ts_float_format *f = &float_formats[type];
    ts_assert(f->bits);
    return f->is_signed ? (uint64_t)1 << (f->bits - 1) : 0;
}

/* The positive code (exponent and mantissa fields) of the greatest finite value. */
static uint64_t float_max_code(const ts_float_format *f)
{
    uint64_t all = float_exp_mask(f) << f->mant_bits | float_mant_mask(f);
    if (f->has_inf)
        return (float_exp_mask(f) << f->mant_bits) - 1;
    return f->has_nan ? all - 1 : all;
}

uint64_t ts__float_nan(ts_type type)
{
    const ts_float_format *f = &float_formats[type];
    ts_assert(f->bits);
    if (!f->has_nan)
        return float_max_code(f) << f->pad_bits;
    uint64_t mant = f->has_inf && type != TS_T_f8E5M2 ? (uint64_t)1 << (f->mant_bits - 1) : float_mant_mask(f);
    return (float_exp_mask(f) << f->mant_bits | mant) << f->pad_bits;
}

uint64_t ts__float_inf(ts_type type)
{
    const ts_float_format *f = &float_formats[type];
    ts_assert(f->bits);
    uint64_t code = f->has_inf ? float_exp_mask(f) << f->mant_bits : float_max_code(f);
    return code << f->pad_bits;
}

uint64_t ts__pad_bits(ts_type elem, uint8_t padding, bool checked)
{
    const ts_float_format *f = ts__float_format_of(elem);
    uint32_t bits = elem < TS_T_token ? ts_type_bits(NULL, elem) : 64; /* others are pointers */
    if (padding == TS_PAD_UNDEF && checked && !(f && f->has_nan))
        return 0x5555555555555555 >> (64 - bits);
    if (!f)
        return 0;
    switch (padding) {
    case TS_PAD_UNDEF:
        return checked ? ts__float_nan(elem) : 0;
    case TS_PAD_NEG_ZERO:
        return ts__float_sign_mask(elem);
    case TS_PAD_NAN:
        return ts__float_nan(elem);
    case TS_PAD_POS_INF:
        return ts__float_inf(elem);
    case TS_PAD_NEG_INF:
        return ts__float_inf(elem) | ts__float_sign_mask(elem);
    default:
        return 0;
    }
}

static uint64_t float_magnitude(ts_type type, uint64_t bits)
{
    const ts_float_format *f = &float_formats[type];
    uint64_t all = (float_exp_mask(f) << f->mant_bits) | float_mant_mask(f);
    return bits >> f->pad_bits & all;
}

bool ts__float_is_nan(ts_type type, uint64_t bits)
{
    const ts_float_format *f = &float_formats[type];
    uint64_t code = float_magnitude(type, bits);
    if (f->has_inf)
        return code > float_exp_mask(f) << f->mant_bits;
    return f->has_nan && code > float_max_code(f);
}

bool ts__float_is_subnormal(ts_type type, uint64_t bits)
{
    const ts_float_format *f = &float_formats[type];
    uint64_t code = float_magnitude(type, bits);
    return code && !(code >> f->mant_bits) && type != TS_T_f8E8M0FNU;
}

static float_num float_unpack(ts_type type, uint64_t bits)
{
    const ts_float_format *f = &float_formats[type];
    uint64_t code = float_magnitude(type, bits), field = code >> f->mant_bits;
    float_num n = {FLOAT_FINITE, (bits & ts__float_sign_mask(type)) != 0, 0, code & float_mant_mask(f)};
    if (ts__float_is_nan(type, bits))
        n.class = FLOAT_NAN;
    else if (f->has_inf && field == float_exp_mask(f))
        n.class = FLOAT_INF;
    else if (type == TS_T_f8E8M0FNU) {
        n.mant = 1;
        n.exp = (int)field - f->bias;
    } else {
        n.exp = (field ? (int)field : 1) - f->bias - f->mant_bits;
        if (field)
            n.mant |= (float_u128)1 << f->mant_bits;
    }
    return n;
}

/* ---- rounding ------------------------------------------------------------------------------------ */

static int float_top(float_u128 x) /* index of the highest bit; x > 0 */
{
    uint64_t high = (uint64_t)(x >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/* Does a value with mantissa `whole` and a cut-off rest go up in magnitude? `rest` is 0 none,
 * 1 below one half, 2 one half, 3 above. */
static bool float_goes_up(ts_round round, bool neg, bool odd, int rest)
{
    switch (round) {
    case TS_RZ:
    case TS_RZI:
        return false;
    case TS_RM:
        return neg && rest;
    case TS_RP:
        return !neg && rest;
    case TS_RA:
        return rest >= 2;
    default:
        return rest == 3 || (rest == 2 && odd);
    }
}

static float_u128 float_shift_round(float_u128 mant, int shift, bool neg, ts_round round)
{
    if (shift <= 0)
        return mant << -shift;
    if (shift > 127) /* far below the lowest bit: a rest under one half */
        return mant && float_goes_up(round, neg, false, 1);
    float_u128 whole = mant >> shift, rest = mant - (whole << shift), half = (float_u128)1 << (shift - 1);
    int kind = rest == 0 ? 0 : rest < half ? 1 : rest == half ? 2 : 3;
    return whole + float_goes_up(round, neg, whole & 1, kind);
}

static uint64_t float_overflow(ts_type type, bool neg, ts_round round)
{
    const ts_float_format *f = &float_formats[type];
    bool to_max = f->saturates || round == TS_RZ || (round == TS_RM && !neg) || (round == TS_RP && neg);
    return to_max || !f->has_inf ? float_max_code(f) : float_exp_mask(f) << f->mant_bits;
}

/* Powers of two only: 2^(code - 127), codes 0..254. */
static uint64_t float_pack_e8m0(const float_num *n, ts_round round)
{
    if (n->class == FLOAT_NAN)
        return 0xFF;
    if (n->neg || (n->class == FLOAT_FINITE && n->mant == 0))
        return 0;
    if (n->class == FLOAT_INF)
        return 0xFE;
    int top = float_top(n->mant), e = n->exp + top;
    float_u128 rest = n->mant - ((float_u128)1 << top);
    bool half = top && rest >= (float_u128)1 << (top - 1);
    bool up = round == TS_RP ? rest != 0 : round == TS_RN || round == TS_RA ? half : false;
    e += up;
    return e < -127 ? 0 : e > 127 ? 0xFE : (uint64_t)(e + 127);
}

static uint64_t float_pack_special(ts_type type, const float_num *n, ts_round round)
{
    const ts_float_format *f = &float_formats[type];
    if (n->class == FLOAT_NAN)
        return ts__float_nan(type);
    uint64_t code = f->saturates ? float_overflow(type, n->neg, round) : float_exp_mask(f) << f->mant_bits;
    return code << f->pad_bits | (n->neg ? ts__float_sign_mask(type) : 0);
}

static uint64_t float_pack(ts_type type, const float_num *n, ts_round round)
{
    const ts_float_format *f = &float_formats[type];
    if (type == TS_T_f8E8M0FNU)
        return float_pack_e8m0(n, round);
    if (n->neg && !f->is_signed && n->class != FLOAT_NAN)
        return 0;
    if (n->class != FLOAT_FINITE)
        return float_pack_special(type, n, round);
    uint64_t sign = n->neg ? ts__float_sign_mask(type) : 0;
    if (n->mant == 0)
        return sign;
    int e = n->exp + float_top(n->mant), lowest = 1 - f->bias;
    bool subnormal = e < lowest;
    if (subnormal)
        e = lowest;
    if (e > f->bias + 1)
        return float_overflow(type, n->neg, round) << f->pad_bits | sign;
    float_u128 m = float_shift_round(n->mant, e - f->mant_bits - n->exp, n->neg, round);
    /* m counts units of the last place; adding it to the biased exponent carries by itself */
    uint64_t code = ((uint64_t)(e + f->bias - 1) << f->mant_bits) + (uint64_t)m;
    if (code > float_max_code(f))
        code = float_overflow(type, n->neg, round);
    return code << f->pad_bits | sign;
}

/* ---- conversions --------------------------------------------------------------------------------- */

double ts__float_to_f64(ts_type type, uint64_t bits)
{
    if (type == TS_T_f64)
        return ts_f64_of_bits(bits);
    if (type == TS_T_f32)
        return (double)ts_f32_of_bits(bits);
    float_num n = float_unpack(type, bits);
    return ts_f64_of_bits(float_pack(TS_T_f64, &n, TS_RN));
}

uint64_t ts__float_from_f64(ts_type type, double x, ts_round round)
{
    float_num n = float_unpack(TS_T_f64, ts_bits_of_f64(x));
    return float_pack(type, &n, round);
}

uint64_t ts__float_written(ts_type type, double x)
{
    const ts_float_format *f = &float_formats[type];
    if (isinf(x) && f->has_inf)
        return float_exp_mask(f) << f->mant_bits << f->pad_bits | (x < 0 ? ts__float_sign_mask(type) : 0);
    return ts__float_from_f64(type, x, TS_RN);
}

uint64_t ts__float_from_int(ts_type type, bool negative, uint64_t magnitude, ts_round round)
{
    float_num n = {FLOAT_FINITE, negative && magnitude, 0, magnitude};
    return float_pack(type, &n, round);
}

/* ---- arithmetic ---------------------------------------------------------------------------------- */

/* Moves the highest bit to bit 125, which leaves room for one carry. */
static void float_normalise(float_num *n)
{
    int shift = 125 - float_top(n->mant);
    n->mant <<= shift;
    n->exp -= shift;
}

/* Shifts right and keeps "something was cut off" in the lowest bit. */
static float_u128 float_jam(float_u128 mant, int shift)
{
    if (shift > 126)
        return 1;
    float_u128 out = mant >> shift;
    return out | ((out << shift) != mant);
}

static float_num float_nan_num(void)
{
    return (float_num){FLOAT_NAN, false, 0, 0};
}

static float_num float_add_zero(const float_num *a, const float_num *b, ts_round round)
{
    float_num out = a->mant ? *a : *b;
    if (!a->mant && !b->mant && a->neg != b->neg)
        out.neg = round == TS_RM;
    return out;
}

static float_num float_add_num(float_num a, float_num b, ts_round round)
{
    if (a.class == FLOAT_NAN || b.class == FLOAT_NAN)
        return float_nan_num();
    if (a.class == FLOAT_INF)
        return b.class == FLOAT_INF && a.neg != b.neg ? float_nan_num() : a;
    if (b.class == FLOAT_INF)
        return b;
    if (!a.mant || !b.mant)
        return float_add_zero(&a, &b, round);
    float_normalise(&a);
    float_normalise(&b);
    if (a.exp < b.exp || (a.exp == b.exp && a.mant < b.mant)) {
        float_num t = a;
        a = b;
        b = t;
    }
    b.mant = float_jam(b.mant, a.exp - b.exp);
    a.mant = a.neg == b.neg ? a.mant + b.mant : a.mant - b.mant;
    if (!a.mant)
        a.neg = round == TS_RM;
    return a;
}

/* Exact for significands of up to 64 bits. */
static float_num float_mul_num(const float_num *a, const float_num *b)
{
    bool neg = a->neg != b->neg;
    if (a->class == FLOAT_NAN || b->class == FLOAT_NAN)
        return float_nan_num();
    if (a->class == FLOAT_INF || b->class == FLOAT_INF) {
        bool zero = (a->class == FLOAT_FINITE && !a->mant) || (b->class == FLOAT_FINITE && !b->mant);
        return zero ? float_nan_num() : (float_num){FLOAT_INF, neg, 0, 0};
    }
    return (float_num){FLOAT_FINITE, neg, a->exp + b->exp, a->mant * b->mant};
}

static float_num float_div_num(float_num a, const float_num *b)
{
    bool neg = a.neg != b->neg, a_inf = a.class == FLOAT_INF, b_inf = b->class == FLOAT_INF;
    if (a.class == FLOAT_NAN || b->class == FLOAT_NAN || (a_inf && b_inf))
        return float_nan_num();
    if (a_inf)
        return (float_num){FLOAT_INF, neg, 0, 0};
    if (b_inf)
        return (float_num){FLOAT_FINITE, neg, 0, 0};
    if (!b->mant)
        return a.mant ? (float_num){FLOAT_INF, neg, 0, 0} : float_nan_num();
    if (!a.mant)
        return (float_num){FLOAT_FINITE, neg, 0, 0};
    float_normalise(&a);
    float_u128 q = a.mant / b->mant;
    return (float_num){FLOAT_FINITE, neg, a.exp - b->exp, q | (q * b->mant != a.mant)};
}

/* floor(sqrt(x)), one result bit at a time. */
static float_u128 float_isqrt(float_u128 x)
{
    float_u128 root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        float_u128 trial = root | (float_u128)1 << bit;
        if (trial * trial <= x)
            root = trial;
    }
    return root;
}

static float_num float_sqrt_num(float_num a)
{
    bool zero = a.class == FLOAT_FINITE && !a.mant;
    if (a.class == FLOAT_NAN || (a.neg && !zero))
        return float_nan_num();
    if (zero || a.class == FLOAT_INF)
        return a;
    float_normalise(&a);
    if (a.exp & 1) {
        a.mant <<= 1;
        a.exp--;
    }
    float_u128 root = float_isqrt(a.mant);
    /* two more bits make room for the sticky one */
    return (float_num){FLOAT_FINITE, false, a.exp / 2 - 2, root << 2 | (root * root != a.mant)};
}

uint64_t ts__float_add(ts_type type, uint64_t a, uint64_t b, ts_round round)
{
    float_num n = float_add_num(float_unpack(type, a), float_unpack(type, b), round);
    return float_pack(type, &n, round);
}

uint64_t ts__float_mul(ts_type type, uint64_t a, uint64_t b, ts_round round)
{
    float_num x = float_unpack(type, a), y = float_unpack(type, b), n = float_mul_num(&x, &y);
    return float_pack(type, &n, round);
}

uint64_t ts__float_div(ts_type type, uint64_t a, uint64_t b, ts_round round)
{
    float_num y = float_unpack(type, b), n = float_div_num(float_unpack(type, a), &y);
    return float_pack(type, &n, round);
}

uint64_t ts__float_sqrt(ts_type type, uint64_t a, ts_round round)
{
    float_num n = float_sqrt_num(float_unpack(type, a));
    return float_pack(type, &n, round);
}

uint64_t ts__float_fma(ts_type type, uint64_t a, uint64_t b, uint64_t c, ts_round round)
{
    float_num x = float_unpack(type, a), y = float_unpack(type, b);
    float_num n = float_add_num(float_mul_num(&x, &y), float_unpack(type, c), round);
    return float_pack(type, &n, round);
}
