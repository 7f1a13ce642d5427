/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes of results as NumPy 2 has them (NEP 50). Everything is computed from kinds and bits of dtype.def; the one
 * table here is which kinds a loop takes (numeric.def).
 *
 *   bool < integers < floats < complex      the higher kind wins, in a width that holds the other one
 *   u8 with i8    i16                       a sign costs a bit; u64 with i64: float64
 *   f16 with i8   f16, with i16 f32, with i32 f64     as many bits of mantissa as the integer needs, or most
 *   f16 with bf16 f32
 */
#include "numeric/numeric.h"

static const ts_nd_info promote_rows[TS_ND_COUNT] = {
#define TS_ND(name, n_in, loops, missing, result, how, emit, doc) \
    {#name, loops, doc, n_in, ND_IS_##missing, TS_ND_IS_##result},
#include "tessera/numeric.def"
};

const ts_nd_info *ts_nd_get(ts_nd_fn fn)
{
    return &promote_rows[fn];
}

ts_nd_fn ts_nd_find(const char *name)
{
    for (int fn = 0; fn < TS_ND_COUNT; fn++)
        if (strcmp(promote_rows[fn].name, name) == 0)
            return (ts_nd_fn)fn;
    return TS_ND_COUNT;
}

static uint32_t promote_bits(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->bits;
}

static bool promote_is_int(ts_dtype dtype)
{
    return nd_kind(dtype) == 'i' || nd_kind(dtype) == 'u';
}

static ts_dtype promote_complex(ts_dtype part)
{
    return part == TS_DTYPE_float64 ? TS_DTYPE_complex128 : TS_DTYPE_complex64;
}

/* The least float that counts as holding an integer of so many bits, and is not narrower than `least`. */
static ts_dtype promote_float(ts_dtype integer, ts_dtype least)
{
    uint32_t bits = integer == TS_DTYPE_bool_ ? 1 : promote_bits(integer);
    if (bits == 1 || least == TS_DTYPE_float64)
        return least;
    if (bits >= 32)
        return TS_DTYPE_float64;
    return bits == 8 || least == TS_DTYPE_float32 ? least : TS_DTYPE_float32;
}

static ts_dtype promote_ints(ts_dtype a, ts_dtype b)
{
    bool sign_a = nd_kind(a) == 'i', sign_b = nd_kind(b) == 'i';
    if (sign_a == sign_b)
        return promote_bits(a) >= promote_bits(b) ? a : b;
    ts_dtype with = sign_a ? a : b, without = sign_a ? b : a;
    if (promote_bits(with) > promote_bits(without))
        return with;
    if (without == TS_DTYPE_uint64)
        return TS_DTYPE_float64;
    return (ts_dtype)(without - TS_DTYPE_uint8 + TS_DTYPE_int8 + 1); /* twice as wide; rows of dtype.def ascend */
}
_Static_assert(TS_DTYPE_int64 - TS_DTYPE_int8 == 3 && TS_DTYPE_uint64 - TS_DTYPE_uint8 == 3, "rows ascend");

ts_dtype ts_nd_promote(ts_dtype a, ts_dtype b)
{
    char x = nd_kind(a), y = nd_kind(b);
    if (a == b)
        return a;
    if (x == 'r' || y == 'r' || !a || !b)
        return TS_DTYPE_NONE;
    if (x == 'c' || y == 'c') {
        ts_dtype part = ts_nd_promote(x == 'c' ? (ts_dtype)ts_dtype_get(a)->part : a,
                                      y == 'c' ? (ts_dtype)ts_dtype_get(b)->part : b);
        return promote_complex(part);
    }
    if (x == 'b' || y == 'b')
        return x == 'b' ? b : a;
    if (x != 'f' && y != 'f')
        return promote_ints(a, b);
    if (x != y)
        return x == 'f' ? promote_float(b, a) : promote_float(a, b);
    if (promote_bits(a) == promote_bits(b)) /* float16 with bfloat16 */
        return TS_DTYPE_float32;
    return promote_bits(a) > promote_bits(b) ? a : b;
}

ts_dtype ts_nd_promote_weak(ts_dtype a, char kind)
{
    if (kind == 'b')
        return a ? ts_nd_promote(a, TS_DTYPE_bool_) : TS_DTYPE_bool_;
    char x = a ? nd_kind(a) : 'b';
    if (kind == 'i')
        return x == 'b' ? TS_DTYPE_int64 : a;
    if (kind == 'f')
        return x == 'f' || x == 'c' ? a : TS_DTYPE_float64;
    return x == 'c' ? a : x == 'f' && a != TS_DTYPE_float64 ? TS_DTYPE_complex64 : TS_DTYPE_complex128;
}

/* ---- casting ------------------------------------------------------------------------------------- */

static int promote_level(ts_dtype dtype)
{
    switch (nd_kind(dtype)) {
    case 'b': return 0;
    case 'u': return 1;
    case 'i': return 2;
    case 'f': return 3;
    default: return 4;
    }
}

bool ts_nd_can_cast(ts_dtype from, ts_dtype to, ts_nd_casting casting)
{
    if (from == to || casting == TS_ND_UNSAFE)
        return true;
    if (casting < TS_ND_SAFE)
        return false;
    if (ts_nd_promote(from, to) == to)
        return true;
    return casting == TS_ND_SAME_KIND && promote_level(from) <= promote_level(to);
}

/* ---- loops --------------------------------------------------------------------------------------- */

static bool promote_has(const ts_nd_info *row, ts_dtype dtype)
{
    char kind = nd_kind(dtype);
    bool is_long = dtype == TS_DTYPE_int64 && strchr(row->loops, 'q');
    return is_long || strchr(row->loops, kind == 'b' ? '?' : kind == 'u' ? 'i' : kind) != NULL;
}

static ts_dtype promote_missing(const ts_nd_info *row, ts_dtype dtype)
{
    bool is_real = promote_is_int(dtype) || dtype == TS_DTYPE_bool_;
    switch (row->missing) {
    case ND_IS_UP: return dtype == TS_DTYPE_bool_ ? TS_DTYPE_int8 : TS_DTYPE_NONE;
    case ND_IS_HALF: return is_real ? promote_float(dtype, TS_DTYPE_float16) : TS_DTYPE_NONE;
    case ND_IS_DOUBLE: return is_real ? TS_DTYPE_float64 : TS_DTYPE_NONE;
    case ND_IS_TRUTH: return TS_DTYPE_bool_;
    case ND_IS_LONG: return is_real ? TS_DTYPE_int64 : TS_DTYPE_NONE;
    default: return TS_DTYPE_NONE;
    }
}

ts_dtype ts__nd_operand_dtype(ts_nd_fn fn, ts_dtype dtype)
{
    const ts_nd_info *row = &promote_rows[fn];
    bool is_missing = row->missing == ND_IS_HALF && !promote_has(row, dtype);
    ts_dtype half = is_missing ? promote_missing(row, dtype) : TS_DTYPE_NONE;
    return half ? half : dtype;
}

static ts_status promote_fail(const ts_nd_info *row, ts_dtype dtype, ts_error *err)
{
    if (dtype == TS_DTYPE_bool_ && strcmp(row->name, "subtract") == 0)
        return ts_fail(err, TS_TYPE, "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
                       "the `^` operator, or the logical_xor function instead.");
    if (dtype == TS_DTYPE_bool_ && strcmp(row->name, "negative") == 0)
        return ts_fail(err, TS_TYPE, "The numpy boolean negative, the `-` operator, is not supported, use the `~` "
                       "operator or the logical_not function instead.");
    if (nd_kind(dtype) == 'c' && strchr(row->loops, 'f'))
        return ts_fail(err, TS_TYPE, "ufunc '%s' is not supported for %s yet", row->name, ts_dtype_name(dtype));
    return ts_fail(err, TS_TYPE, "ufunc '%s' not supported for the input types, and the inputs could not be safely "
                   "coerced to any supported types according to the casting rule ''safe'': it has no loop for %s",
                   row->name, ts_dtype_name(dtype));
}

ts_status ts__nd_loop(ts_nd_fn fn, ts_dtype dtype, ts_dtype *loop, ts_dtype *result, ts_error *err)
{
    const ts_nd_info *row = &promote_rows[fn];
    *loop = promote_has(row, dtype) ? dtype : promote_missing(row, dtype);
    if (fn == TS_ND_float_power && nd_kind(*loop) == 'f')
        *loop = TS_DTYPE_float64;
    if (fn == TS_ND_float_power && nd_kind(*loop) == 'c')
        *loop = TS_DTYPE_complex128;
    if (!*loop)
        return promote_fail(row, dtype, err);
    bool is_part = row->result == TS_ND_IS_PART && nd_kind(*loop) == 'c';
    *result = row->result == TS_ND_IS_BOOL ? TS_DTYPE_bool_ : is_part ? (ts_dtype)ts_dtype_get(*loop)->part : *loop;
    return TS_OK;
}

const char *ts__nd_dtype_name(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_ ? "bool" : ts_dtype_name(dtype);
}

const char *ts__nd_casting_name(ts_nd_casting casting)
{
    static const char *const names[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
    return names[casting];
}
