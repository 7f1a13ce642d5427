/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes: which one two operands get, what a constant becomes, and the IR of each conversion.
 *
 *   left \ right   bool   same-sign int   other-sign int   f16    bf16   f32  f64  restricted
 *   bool           bool   that int        that int         f16    bf16   f32  f64  error
 *   int            -      the wider       error            f16    bf16   f32  f64  error
 *   f16, bf16      -                                       same kind, else error; f32, f64 win
 *   restricted                                                                     only with itself
 *   complex64      complex64 with all of these, but for f64 and complex128: complex128 (not restricted)
 *
 * A loose constant (a literal) takes the dtype of the tile it meets, unless its category (bool <
 * int < float < complex) is higher: then it counts as int32, float32 or complex64. Part of the front end (lower.h).
 */
#include "lang/lower.h"
#include "ir/float.h"
#include <math.h>

ts_type fr_ir(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->scalar;
}

bool fr_dtype_is_signed(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->is_signed;
}

bool fr_dtype_is_int(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->kind == 'i' || ts_dtype_get(dtype)->kind == 'u';
}

bool fr_dtype_is_float(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->kind == 'f';
}

bool fr_dtype_is_restricted(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->kind == 'r';
}

uint32_t fr_dtype_bits(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->bits;
}

fr_cat fr_dtype_cat(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_                 ? FR_BOOL
           : fr_dtype_is_int(dtype)                ? FR_INT
           : ts_dtype_get(dtype)->kind == 'c' ? FR_COMPLEX
                                                   : FR_FLOAT;
}

/* At least one is complex: the complex dtype whose parts hold both. */
static ts_dtype promote_complex(ts_dtype a, ts_dtype b)
{
    bool wide = a == TS_DTYPE_complex128 || b == TS_DTYPE_complex128 || a == TS_DTYPE_float64 || b == TS_DTYPE_float64;
    return wide ? TS_DTYPE_complex128 : TS_DTYPE_complex64;
}

ts_dtype fr_promote(ts_dtype a, ts_dtype b)
{
    if (a == b)
        return a;
    if (fr_dtype_is_restricted(a) || fr_dtype_is_restricted(b))
        return TS_DTYPE_NONE;
    if (fr_dtype_cat(a) == FR_COMPLEX || fr_dtype_cat(b) == FR_COMPLEX)
        return promote_complex(a, b);
    if (a == TS_DTYPE_bool_ || b == TS_DTYPE_bool_)
        return a == TS_DTYPE_bool_ ? b : a;
    bool float_a = fr_dtype_is_float(a), float_b = fr_dtype_is_float(b);
    if (float_a != float_b)
        return float_a ? a : b;
    if (float_a && fr_dtype_bits(a) == fr_dtype_bits(b)) /* float16 with bfloat16 */
        return TS_DTYPE_NONE;
    if (!float_a && fr_dtype_is_signed(a) != fr_dtype_is_signed(b))
        return TS_DTYPE_NONE;
    return fr_dtype_bits(a) > fr_dtype_bits(b) ? a : b;
}

/* ---- constants ----------------------------------------------------------------------- */

static bool promote_in_range(fr_int x, ts_dtype dtype)
{
    if (dtype == TS_DTYPE_bool_)
        return x == 0 || x == 1;
    uint32_t bits = fr_dtype_bits(dtype);
    fr_int one = 1, low = fr_dtype_is_signed(dtype) ? -(one << (bits - 1)) : 0;
    fr_int high = (one << (fr_dtype_is_signed(dtype) ? bits - 1 : bits)) - 1;
    return x >= low && x <= high;
}

bool fr_fits(const fr_value *v, ts_dtype dtype)
{
    if (v->cat > fr_dtype_cat(dtype))
        return false;
    return fr_dtype_cat(dtype) >= FR_FLOAT || v->cat == FR_BOOL || promote_in_range(v->as.i, dtype);
}

bool fr_joins(const fr_value *v, ts_dtype dtype)
{
    if (v->dtype)
        return v->dtype == dtype;
    return dtype && v->cat == fr_dtype_cat(dtype) && !fr_dtype_is_restricted(dtype) && fr_fits(v, dtype);
}

ts_status fr_default_dtype(fr *f, const fr_value *v, ts_dtype *out)
{
    const ts_dtype *ints = f->dialect->ints;
    *out = (ts_dtype)v->dtype;
    if (*out)
        return TS_OK;
    if (v->cat != FR_INT) {
        *out = v->cat == FR_BOOL ? TS_DTYPE_bool_ : v->cat == FR_FLOAT ? f->dialect->real : f->dialect->complex;
        return TS_OK;
    }
    for (uint32_t i = 0; i < TS_COUNT(f->dialect->ints); i++)
        if (promote_in_range(v->as.i, ints[i])) {
            *out = ints[i];
            return TS_OK;
        }
    return fr_error(f, 0, TS_TILEVALUE, "an integer constant fits neither int64 nor uint64");
}

/* What a float format cannot hold, or NULL. What is too great saturates or becomes infinite, as conversions of
 * run time do; infinity is kept where the format has one. */
static const char *promote_unheld(double x, ts_dtype dtype)
{
    const ts_float_format *format = ts__float_format_of(fr_ir(dtype));
    if (isnan(x))
        return format->has_nan ? NULL : "a NaN";
    return signbit(x) && !format->is_signed ? "a sign" : NULL;
}

ts_status fr_round(fr *f, const fr_value *v, ts_dtype to, fr_value *out)
{
    if (v->cat == FR_COMPLEX || fr_dtype_cat(to) == FR_COMPLEX)
        return fr_complex_convert(f, v, to, TS_RN, out);
    double x = fr_as_double(v);
    if (fr_dtype_cat(to) == FR_FLOAT) {
        const char *unheld = promote_unheld(x, to);
        if (unheld)
            return fr_error(f, 0, TS_TILEVALUE, "%s does not fit in %s, which cannot hold %s\n  help: choose "
                            "another value or dtype", fr_say(f, v), ts_dtype_name(to), unheld);
        x = ts__float_to_f64(fr_ir(to), ts__float_written(fr_ir(to), x));
        *out = (fr_value){.kind = FR_NUMBER, .dtype = (uint8_t)to, .cat = FR_FLOAT, .as.f = x};
        return TS_OK;
    }
    bool real = v->cat == FR_FLOAT;
    if (real && to != TS_DTYPE_bool_ && !(fabs(x) < 1e37))
        return fr_error(f, 0, TS_TILEVALUE, "%s cannot become %s", fr_say(f, v), ts_dtype_name(to));
    if (to == TS_DTYPE_bool_)
        *out = fr_strict(to, real ? x != 0 : v->as.i != 0);
    else
        *out = fr_strict(to, real ? (fr_int)x : v->as.i);
    return TS_OK;
}

/* A number that has the dtype, or is one that it holds. */
ts_val fr_constant(fr *f, const fr_value *v, ts_dtype dtype, const fr_shape *shape)
{
    ts_type type = fr_type(f, dtype, shape);
    if (fr_dtype_cat(dtype) == FR_COMPLEX) {
        ts_type part = ts_type_with_elem(f->module, type, ts_type_part(fr_ir(dtype)));
        bool whole = v->cat == FR_COMPLEX;
        ts_val re = ts_float(&f->b, part, whole ? v->as.c[0] : fr_as_double(v));
        return fr_complex_join(f, dtype, re, ts_float(&f->b, part, whole ? v->as.c[1] : 0)).as.v;
    }
    if (fr_dtype_cat(dtype) == FR_FLOAT)
        return ts_float(&f->b, type, fr_as_double(v));
    fr_int i = v->cat == FR_FLOAT ? (fr_int)v->as.f : v->as.i;
    return ts_int(&f->b, type, dtype == TS_DTYPE_bool_ ? i != 0 : (int64_t)(uint64_t)i);
}

/* ---- shapes -------------------------------------------------------------------------- */

fr_shape fr_shape_of(const fr *f, const fr_value *tile)
{
    fr_shape shape = {0};
    if (tile->kind != FR_TILE)
        return shape;
    ts_type type = ts_type_of(f->b.fn, tile->as.v);
    shape.rank = ts_type_rank(f->module, type);
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = ts_type_dims(f->module, type)[i];
    return shape;
}

ts_type fr_type(fr *f, ts_dtype dtype, const fr_shape *shape)
{
    return shape && shape->rank ? ts_type_tile(f->module, fr_ir(dtype), shape->rank, shape->dims)
                                : fr_ir(dtype);
}

bool fr_same_shape(const fr_shape *a, const fr_shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

ts_status fr_broadcast_shapes(fr *f, const fr_shape *a, const fr_shape *b, fr_shape *out)
{
    fr_shape s = {.rank = TS_MAX(a->rank, b->rank)};
    for (uint32_t i = 0; i < s.rank; i++) {
        int64_t x = i < s.rank - a->rank ? 1 : a->dims[i - (s.rank - a->rank)];
        int64_t y = i < s.rank - b->rank ? 1 : b->dims[i - (s.rank - b->rank)];
        if (x != y && x != 1 && y != 1)
            return fr_error(f, 0, TS_TILETYPE,
                            "shapes %s and %s do not broadcast: axis %u is %lld on one side and "
                            "%lld on the other\n"
                            "  help: axes are aligned at the right and must be equal or 1; "
                            "ct.expand_dims or ct.reshape adds axes",
                            fr_say_shape(f, a), fr_say_shape(f, b), i, (long long)x, (long long)y);
        s.dims[i] = x == 1 ? y : x;
    }
    *out = s;
    return TS_OK;
}

/* To a shape it broadcasts to; rank grows on the left. */
ts_status fr_splat(fr *f, const fr_value *tile, const fr_shape *shape, fr_value *out)
{
    fr_shape have = fr_shape_of(f, tile), wide = {.rank = shape->rank};
    ts_type elem = ts_type_elem(f->module, ts_type_of(f->b.fn, tile->as.v));
    *out = *tile;
    if (fr_same_shape(&have, shape))
        return TS_OK;
    for (uint32_t i = 0; i < wide.rank; i++)
        wide.dims[i] = i < wide.rank - have.rank ? 1 : have.dims[i - (wide.rank - have.rank)];
    ts_val v = ts_reshape(&f->b, tile->as.v, ts_type_tile(f->module, elem, wide.rank, wide.dims));
    out->as.v = ts_broadcast(&f->b, v, ts_type_tile(f->module, elem, shape->rank, shape->dims));
    return TS_OK;
}

/* ---- conversion ---------------------------------------------------------------------- */

static ts_val promote_to_bool(fr *f, ts_val x, ts_dtype from)
{
    ts_type type = ts_type_of(f->b.fn, x);
    if (fr_dtype_cat(from) == FR_INT)
        return ts_cmp(&f->b, TS_OP_cmpi, TS_NE, x, ts_int(&f->b, type, 0), 0);
    if (fr_dtype_is_restricted(from)) {
        x = ts_cast(&f->b, TS_OP_ftof, x, TS_T_f32, 0);
        type = ts_type_of(f->b.fn, x);
    }
    return ts_cmp(&f->b, TS_OP_cmpf, TS_NE, x, ts_float(&f->b, type, 0), TS_A_UNORDERED);
}

static ts_val promote_int_to(fr *f, ts_val x, ts_dtype from, ts_dtype to, uint32_t round)
{
    uint32_t sign = fr_dtype_is_signed(from) ? 0 : TS_A_UNSIGNED;
    uint32_t bits_from = from == TS_DTYPE_bool_ ? 1 : fr_dtype_bits(from),
             bits_to = fr_dtype_bits(to);
    if (fr_dtype_is_restricted(to)) {
        x = ts_cast(&f->b, TS_OP_itof, x, TS_T_f32, sign);
        return ts_cast(&f->b, TS_OP_ftof, x, fr_ir(to), round);
    }
    if (fr_dtype_is_float(to))
        return ts_cast(&f->b, TS_OP_itof, x, fr_ir(to), sign | round);
    if (bits_to > bits_from)
        return ts_cast(&f->b, TS_OP_exti, x, fr_ir(to), sign);
    return bits_to < bits_from ? ts_cast(&f->b, TS_OP_trunci, x, fr_ir(to), 0) : x;
}

static ts_val promote_float_to(fr *f, ts_val x, ts_dtype from, ts_dtype to, uint32_t round)
{
    if (!fr_dtype_is_int(to))
        return ts_cast(&f->b, TS_OP_ftof, x, fr_ir(to), round);
    if (fr_dtype_is_restricted(from))
        x = ts_cast(&f->b, TS_OP_ftof, x, TS_T_f32, 0);
    return ts_cast(&f->b, TS_OP_ftoi, x, fr_ir(to),
                   TS_RZI | (fr_dtype_is_signed(to) ? 0 : TS_A_UNSIGNED));
}

ts_status fr_convert(fr *f, const fr_value *v, ts_dtype to, uint32_t round, fr_value *out)
{
    fr_value member;
    TS_TRY(fr_member_value(f, &v, &member));
    if (v->kind == FR_NUMBER)
        return fr_round(f, v, to, out);
    if (v->kind != FR_TILE)
        return fr_error(f, 0, TS_TILETYPE,
                        "cannot convert %s to %s\n  help: only numbers and tiles have a dtype",
                        fr_say(f, v), ts_dtype_name(to));
    ts_dtype from = (ts_dtype)v->dtype;
    ts_val x = v->as.v;
    if (from != to && (fr_dtype_cat(from) == FR_COMPLEX || fr_dtype_cat(to) == FR_COMPLEX))
        return fr_complex_convert(f, v, to, round, out);
    if (from != to) {
        if (to == TS_DTYPE_bool_)
            x = promote_to_bool(f, x, from);
        else if (fr_dtype_cat(from) != FR_FLOAT)
            x = promote_int_to(f, x, from, to, round);
        else
            x = promote_float_to(f, x, from, to, round);
    }
    *out = fr_tile(to, x);
    return TS_OK;
}

ts_status fr_tiles_cast(fr *f, const fr_value *v, ts_dtype to, fr_value *out)
{
    return fr_convert(f, v, to, to == TS_DTYPE_float8_e8m0fnu ? TS_RZ : TS_RN, out);
}

ts_status fr_not_fitting(fr *f, const fr_value *v, ts_dtype dtype)
{
    const char *name = ts_dtype_name(dtype), *how = "wraps", *wanted = "a dtype that holds it";
    if (v->cat == FR_FLOAT)
        wanted = "a floating-point dtype", how = "cuts the fraction off";
    else if (fr_dtype_is_int(dtype) && !fr_dtype_is_signed(dtype) && v->as.i < 0)
        wanted = fr_textf(f, "a signed dtype (%s has no negative numbers)", name);
    else if (fr_dtype_is_int(dtype))
        wanted = "a wider dtype";
    return fr_error(f, 0, TS_TILEVALUE,
                    "%s does not fit in %s\n  help: use %s, or convert explicitly: ct.%s(...) %s", fr_say(f, v), name,
                    wanted, name, how);
}

ts_status fr_to_tile(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out)
{
    if (v->kind == FR_TILE)
        return fr_convert(f, v, dtype, TS_RN, out);
    if (v->kind != FR_NUMBER)
        return fr_error(f, 0, TS_TILETYPE, "found %s where a tile or a number is wanted",
                        fr_say(f, v));
    if (!v->dtype && !fr_fits(v, dtype))
        return fr_not_fitting(f, v, dtype);
    fr_value number;
    TS_TRY(fr_round(f, v, dtype, &number));
    *out = fr_tile(dtype, fr_constant(f, &number, dtype, NULL));
    return TS_OK;
}

ts_status fr_as_tile(fr *f, const fr_value *v, fr_value *out)
{
    ts_dtype dtype;
    *out = *v;
    if (v->kind == FR_TILE)
        return TS_OK;
    if (v->kind != FR_NUMBER)
        return fr_error(
            f, 0, TS_TILETYPE, "found %s where a tile or a number is wanted%s", fr_say(f, v),
            v->kind == FR_ARRAY
                ? "\n  help: arrays are in memory; read a tile of one with ct.load or ct.gather"
                : "");
    TS_TRY(fr_default_dtype(f, v, &dtype));
    return fr_to_tile(f, v, dtype, out);
}

/* ---- two operands -------------------------------------------------------------------- */

static bool promote_is_loose(const fr_value *v)
{
    return v->kind == FR_NUMBER && !v->dtype;
}

/* The dtype a loose number gets beside `other`. */
static ts_status promote_loose(fr *f, const fr_value *number, ts_dtype other, ts_dtype *out)
{
    if (number->cat <= fr_dtype_cat(other)) {
        *out = other;
        return TS_OK;
    }
    return fr_default_dtype(f, number, out);
}

ts_status fr_common_dtype(fr *f, const char *what, const fr_value *x, const fr_value *y,
                          ts_dtype *out)
{
    ts_dtype a = (ts_dtype)x->dtype, b = (ts_dtype)y->dtype;
    if (promote_is_loose(x) && promote_is_loose(y)) {
        TS_TRY(fr_default_dtype(f, x, &a));
        TS_TRY(fr_default_dtype(f, y, &b));
        if (a != b && fr_dtype_cat(a) == FR_INT &&
            fr_dtype_cat(b) == FR_INT) { /* of two literals the wider */
            *out = TS_MAX(a, b);
            return TS_OK;
        }
    } else if (promote_is_loose(x)) {
        TS_TRY(promote_loose(f, x, b, &a));
    } else if (promote_is_loose(y)) {
        TS_TRY(promote_loose(f, y, a, &b));
    }
    *out = fr_promote(a, b);
    if (*out)
        return TS_OK;
    return fr_error(
        f, 0, TS_TILETYPE,
        "%s: %s and %s have no common dtype, no implicit promotion\n  found: %s and %s\n"
        "  help: convert one side explicitly, for example ct.astype(x, ct.%s)",
        what, ts_dtype_name(a), ts_dtype_name(b), fr_say(f, x), fr_say(f, y),
        fr_dtype_is_int(a) ? ts_dtype_name(a) : "float32");
}

ts_status fr_unify(fr *f, const char *what, fr_value *x, fr_value *y)
{
    ts_dtype dtype;
    fr_shape a, b, shape;
    for (int side = 0; side < 2; side++) {
        const fr_value *v = side ? y : x;
        if (v->kind != FR_TILE && v->kind != FR_NUMBER)
            return fr_error(
                f, 0, TS_TILETYPE, "%s: wanted tiles or numbers, found %s%s", what, fr_say(f, v),
                v->kind == FR_ARRAY
                    ? "\n  help: arrays are in memory; read a tile of one with ct.load or ct.gather"
                    : "");
    }
    TS_TRY(fr_common_dtype(f, what, x, y, &dtype));
    a = fr_shape_of(f, x);
    b = fr_shape_of(f, y);
    TS_TRY(fr_broadcast_shapes(f, &a, &b, &shape));
    TS_TRY(fr_to_tile(f, x, dtype, x));
    TS_TRY(fr_to_tile(f, y, dtype, y));
    TS_TRY(fr_splat(f, x, &shape, x));
    return fr_splat(f, y, &shape, y);
}

/* ---- implicit conversion ------------------------------------------------------------- */

ts_status fr_implicit(fr *f, const fr_value *v, ts_dtype to, const char *what, fr_value *out)
{
    if (v->kind == FR_NUMBER && !v->dtype) {
        if (to == TS_DTYPE_bool_ && v->cat == FR_INT && (v->as.i == 0 || v->as.i == 1))
            return fr_to_tile(f, &(fr_value){.kind = FR_NUMBER, .cat = FR_BOOL, .as.i = v->as.i}, to, out);
        if (v->cat > fr_dtype_cat(to))
            return fr_error(
                f, 0, TS_TILETYPE,
                "%s: %s cannot become %s implicitly\n  help: convert it explicitly, ct.%s(...)",
                what, fr_say(f, v), ts_dtype_name(to), ts_dtype_name(to));
        return fr_to_tile(f, v, to, out);
    }
    if (v->kind != FR_TILE && v->kind != FR_NUMBER)
        return fr_error(f, 0, TS_TILETYPE, "%s: wanted a tile or a number, found %s", what,
                        fr_say(f, v));
    if (v->dtype != to && fr_promote((ts_dtype)v->dtype, to) != to)
        return fr_error(
            f, 0, TS_TILETYPE,
            "%s: %s does not convert to %s implicitly, it could lose information\n  found: %s\n"
            "  help: convert it explicitly, ct.astype(value, ct.%s)",
            what, ts_dtype_name((ts_dtype)v->dtype), ts_dtype_name(to), fr_say(f, v),
            ts_dtype_name(to));
    return fr_to_tile(f, v, to, out);
}
