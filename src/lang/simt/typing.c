/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread language's typing rules, which are numba's: what an operator's operands become, and its result. Literals
 * are int64 and float64, so `x + 1` of an int32 is an int64. Whole tables of all pairs, made from the rules in words by
 * Python, are in tests/golden/simt; a test compares. Part of the front end (lower.h).
 *
 *     kind      operators      integers and bool                   floats
 *     WIDE      + - *          64 bits, signed if any side is      the common type, nearly NumPy's
 *     DIVIDE    /              float64                             the same
 *     FLOOR     // %           as WIDE                             the same, at least float32
 *     POWER     **             as WIDE; bool ** int32: float32     as FLOOR; a float to an integer keeps the float
 *     BITS      & | ^          as WIDE; bool with bool: bool       none
 *     SHIFT     << >>          the left side, with 64 bits         none
 *     SIGN      + - of one     with 64 bits, computed before       the same
 *     INVERT    ~              the same; of a bool a bool          none
 *     COMPARE   == <           bool; integers exactly              bool
 */
#include "lang/simt/op.h"

typedef enum typing_kind {
    TYPING_NONE, TYPING_WIDE, TYPING_DIVIDE, TYPING_FLOOR, TYPING_POWER, TYPING_BITS, TYPING_SHIFT, TYPING_SIGN,
    TYPING_INVERT, TYPING_COMPARE
} typing_kind;

static const uint8_t typing_kinds[TS_OPERATOR_COUNT] = {
    [TS_OPERATOR_Add] = TYPING_WIDE,       [TS_OPERATOR_Sub] = TYPING_WIDE,      [TS_OPERATOR_Mult] = TYPING_WIDE,
    [TS_OPERATOR_Div] = TYPING_DIVIDE,     [TS_OPERATOR_FloorDiv] = TYPING_FLOOR, [TS_OPERATOR_Mod] = TYPING_FLOOR,
    [TS_OPERATOR_Pow] = TYPING_POWER,      [TS_OPERATOR_BitAnd] = TYPING_BITS,   [TS_OPERATOR_BitOr] = TYPING_BITS,
    [TS_OPERATOR_BitXor] = TYPING_BITS,    [TS_OPERATOR_LShift] = TYPING_SHIFT,  [TS_OPERATOR_RShift] = TYPING_SHIFT,
    [TS_OPERATOR_USub] = TYPING_SIGN,      [TS_OPERATOR_UAdd] = TYPING_SIGN,     [TS_OPERATOR_Invert] = TYPING_INVERT,
    [TS_OPERATOR_Eq] = TYPING_COMPARE,     [TS_OPERATOR_NotEq] = TYPING_COMPARE, [TS_OPERATOR_Lt] = TYPING_COMPARE,
    [TS_OPERATOR_LtE] = TYPING_COMPARE,    [TS_OPERATOR_Gt] = TYPING_COMPARE,    [TS_OPERATOR_GtE] = TYPING_COMPARE,
};

static bool typing_is_whole(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_ || fr_dtype_is_int(dtype);
}

/* The float whose integers hold those of the dtype, as NumPy chooses it. */
static ts_dtype typing_float_of(ts_dtype dtype)
{
    uint32_t bits = dtype == TS_DTYPE_bool_ ? 8 : fr_dtype_bits(dtype);
    return bits <= 8 ? TS_DTYPE_float16 : bits <= 16 ? TS_DTYPE_float32 : TS_DTYPE_float64;
}

static ts_dtype typing_int(bool is_signed, uint32_t bits)
{
    static const ts_dtype rows[2][4] = {{TS_DTYPE_uint8, TS_DTYPE_uint16, TS_DTYPE_uint32, TS_DTYPE_uint64},
                                        {TS_DTYPE_int8, TS_DTYPE_int16, TS_DTYPE_int32, TS_DTYPE_int64}};
    return rows[is_signed][bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3];
}

static ts_dtype typing_promote_ints(ts_dtype a, ts_dtype b)
{
    uint32_t x = fr_dtype_bits(a), y = fr_dtype_bits(b);
    if (fr_dtype_is_signed(a) == fr_dtype_is_signed(b))
        return x > y ? a : b;
    uint32_t with_sign = fr_dtype_is_signed(a) ? x : y, without = fr_dtype_is_signed(a) ? y : x;
    if (without == 64)
        return TS_DTYPE_float64;
    return typing_int(true, TS_MAX(with_sign, 2 * without));
}

static ts_dtype typing_promote_floats(ts_dtype a, ts_dtype b)
{
    if (a == b)
        return a;
    if (fr_dtype_bits(a) == fr_dtype_bits(b)) /* float16 with bfloat16 */
        return TS_DTYPE_float32;
    return fr_dtype_bits(a) > fr_dtype_bits(b) ? a : b;
}

ts_dtype fr_simt_promote(ts_dtype a, ts_dtype b)
{
    if (a == b)
        return a;
    if (fr_dtype_is_restricted(a) || fr_dtype_is_restricted(b))
        return TS_DTYPE_NONE;
    if (fr_dtype_cat(a) == FR_COMPLEX || fr_dtype_cat(b) == FR_COMPLEX) {
        ts_dtype x = fr_dtype_cat(a) == FR_COMPLEX ? (ts_dtype)ts_dtype_get(a)->part : a,
                 y = fr_dtype_cat(b) == FR_COMPLEX ? (ts_dtype)ts_dtype_get(b)->part : b;
        return fr_simt_promote(x, y) == TS_DTYPE_float64 ? TS_DTYPE_complex128 : TS_DTYPE_complex64;
    }
    if (a == TS_DTYPE_bool_ || b == TS_DTYPE_bool_)
        return a == TS_DTYPE_bool_ ? b : a;
    if (typing_is_whole(a) && typing_is_whole(b))
        return typing_promote_ints(a, b);
    return typing_promote_floats(typing_is_whole(a) ? typing_float_of(a) : a,
                                 typing_is_whole(b) ? typing_float_of(b) : b);
}

/* What an operator computes two numbers in, of which one is no integer. As NumPy's, but that an unsigned integer
 * becomes a signed one before it becomes a float: uint8 with float16 is float32. */
static ts_dtype typing_common(ts_dtype a, ts_dtype b)
{
    ts_dtype pair[] = {a, b};
    for (uint32_t i = 0; i < 2; i++)
        if (fr_dtype_is_int(pair[i]) && !fr_dtype_is_signed(pair[i]))
            pair[i] = typing_int(true, 2 * fr_dtype_bits(pair[i]));
    return fr_simt_promote(pair[0], pair[1]);
}

/* bool counts as signed. */
static ts_dtype typing_wide(ts_dtype a, ts_dtype b)
{
    bool is_signed = !(fr_dtype_is_int(a) && !fr_dtype_is_signed(a)) || !(fr_dtype_is_int(b) && !fr_dtype_is_signed(b));
    return typing_int(is_signed, 64);
}

/* At least float32: nothing narrower is computed. */
static ts_dtype typing_single(ts_dtype dtype)
{
    return fr_dtype_is_float(dtype) && fr_dtype_bits(dtype) < 32 ? TS_DTYPE_float32 : dtype;
}

static void typing_set(fr_rule *out, ts_dtype x, ts_dtype y, ts_dtype result)
{
    *out = (fr_rule){x, y, result};
}

static bool typing_power(ts_dtype x, ts_dtype y, fr_rule *out)
{
    bool whole_x = typing_is_whole(x), whole_y = typing_is_whole(y);
    ts_dtype base = typing_single(x);
    if (x == TS_DTYPE_bool_ && y == TS_DTYPE_int32) /* of its overloads the nearest is that of float32 */
        typing_set(out, TS_DTYPE_float32, y, TS_DTYPE_float32);
    else if (whole_x && whole_y)
        typing_set(out, typing_wide(x, y), typing_wide(x, y), typing_wide(x, y));
    else if (fr_dtype_is_float(x) && whole_y)
        typing_set(out, base, fr_dtype_is_int(y) ? y : TS_DTYPE_int32, base);
    else {
        ts_dtype common = typing_single(typing_common(x, y));
        typing_set(out, common, common, common);
    }
    return true;
}

static bool typing_whole(typing_kind kind, ts_dtype x, ts_dtype y, fr_rule *out)
{
    ts_dtype wide = typing_wide(x, y);
    if (kind == TYPING_DIVIDE)
        typing_set(out, TS_DTYPE_float64, TS_DTYPE_float64, TS_DTYPE_float64);
    else if (kind == TYPING_BITS && x == TS_DTYPE_bool_ && y == TS_DTYPE_bool_)
        typing_set(out, x, y, x);
    else if (kind == TYPING_SHIFT)
        typing_set(out, typing_wide(x, x), typing_wide(x, x), typing_wide(x, x));
    else
        typing_set(out, wide, wide, wide);
    return true;
}

static bool typing_one(typing_kind kind, ts_dtype x, fr_rule *out)
{
    if (kind != TYPING_SIGN && kind != TYPING_INVERT)
        return false;
    if (!typing_is_whole(x)) {
        typing_set(out, x, TS_DTYPE_NONE, x);
        return kind == TYPING_SIGN;
    }
    bool stays = kind == TYPING_INVERT && x == TS_DTYPE_bool_;
    typing_set(out, x == TS_DTYPE_bool_ && !stays ? TS_DTYPE_int64 : x, TS_DTYPE_NONE, stays ? x : typing_wide(x, x));
    return true;
}

bool fr_simt_rule(ts_operator op, ts_dtype x, ts_dtype y, fr_rule *out)
{
    typing_kind kind = typing_kinds[op];
    if (fr_dtype_is_restricted(x) || (y && fr_dtype_is_restricted(y)) || !kind)
        return false;
    if (!y)
        return typing_one(kind, x, out);
    bool whole = typing_is_whole(x) && typing_is_whole(y);
    ts_dtype common = whole ? fr_simt_promote(x, y) : typing_common(x, y);
    if (kind == TYPING_COMPARE) {
        bool exact = fr_dtype_is_int(x) && fr_dtype_is_int(y) && fr_dtype_is_signed(x) != fr_dtype_is_signed(y);
        typing_set(out, exact ? typing_int(fr_dtype_is_signed(x), 64) : common,
                   exact ? typing_int(fr_dtype_is_signed(y), 64) : common, TS_DTYPE_bool_);
        return fr_dtype_cat(common) != FR_COMPLEX || op == TS_OPERATOR_Eq || op == TS_OPERATOR_NotEq;
    }
    if (kind == TYPING_POWER)
        return typing_power(x, y, out);
    if (whole)
        return typing_whole(kind, x, y, out);
    if (kind == TYPING_BITS || kind == TYPING_SHIFT || (kind == TYPING_FLOOR && fr_dtype_cat(common) == FR_COMPLEX))
        return false;
    common = kind == TYPING_FLOOR ? typing_single(common) : common;
    typing_set(out, common, common, common);
    return true;
}

/* int32 of int32 and narrower signed ones, uint64 of unsigned ones, else int64; what range() leaves out is a bool. */
ts_dtype fr_simt_counter(uint32_t n, const ts_dtype *dtypes)
{
    bool narrow = true, without_sign = true;
    for (uint32_t i = 0; i < n; i++) {
        if (dtypes[i] == TS_DTYPE_bool_)
            continue;
        narrow &= fr_dtype_is_signed(dtypes[i]) && fr_dtype_bits(dtypes[i]) <= 32;
        without_sign &= !fr_dtype_is_signed(dtypes[i]);
    }
    return without_sign ? TS_DTYPE_uint64 : narrow ? TS_DTYPE_int32 : TS_DTYPE_int64;
}

/* ---- types in words -------------------------------------------------------------------------------------- */

static const char *typing_items(fr *f, const fr_value *tuple)
{
    const char *text = "";
    for (uint32_t i = 0; i < tuple->n; i++)
        text = fr_textf(f, "%s%s%s", text, i ? ", " : "", fr_simt_type_text(f, &tuple->as.items[i]));
    return fr_textf(f, "Tuple(%s)", text);
}

const char *fr_simt_type_text(fr *f, const fr_value *v)
{
    int64_t i, step;
    ts_dtype dtype = v->kind == FR_TILE || v->kind == FR_NUMBER ? (ts_dtype)v->dtype : TS_DTYPE_NONE;
    const fr_array *a = v->kind == FR_ARRAY ? v->as.array : NULL;
    if (v->kind == FR_NUMBER && !dtype && fr_is_int(v, &i))
        return fr_textf(f, "Literal[int](%lld)", (long long)i);
    if (v->kind == FR_NUMBER && !dtype && fr_default_dtype(f, v, &dtype) != TS_OK)
        return fr_say(f, v);
    if (dtype)
        return dtype == TS_DTYPE_bool_ ? "bool" : ts_dtype_name(dtype);
    if (a && !a->element) {
        bool unit = a->rank == 1 && fr_is_int(&a->stride[0], &step) && step == 1;
        return fr_textf(f, "array(%s, %ud, %c)", ts_dtype_name((ts_dtype)a->dtype), a->rank, unit ? 'C' : 'A');
    }
    if (v->kind == FR_DTYPE)
        return fr_textf(f, "class(%s)", ts_dtype_name((ts_dtype)v->dtype));
    return v->kind == FR_TUPLE ? typing_items(f, v) : v->kind == FR_NONE ? "none" : fr_say(f, v);
}
