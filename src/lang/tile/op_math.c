/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations by name: ct.add(x, y, rounding_mode=...), ct.exp(x), ct.maximum(x, y), ...
 * Operators are in arith.c. Part of the front end (lower.h); rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

static ts_status math_number(fr *f, const fr_call *c, uint32_t i)
{
    const fr_value *v = &c->arg[i];
    return v->kind == FR_NUMBER || v->kind == FR_TILE
               ? TS_OK
               : fr_arg_error(f, c, i,
                              v->kind == FR_ARRAY
                                  ? "a tile or a number; load a tile of the array first"
                                  : "a tile or a number");
}

static ts_status math_restricted(fr *f, const fr_call *c, uint32_t i, const fr_value *v)
{
    if (!fr_dtype_is_restricted((ts_dtype)v->dtype))
        return TS_OK;
    return fr_error(f, c->at[i], TS_TILETYPE,
                    "%s() is not defined for %s: it is a storage type\n  help: convert with "
                    "ct.astype(x, ct.float32) first",
                    fr_op_name(c), ts_dtype_name((ts_dtype)v->dtype));
}

ts_status fr_arg_float(fr *f, const fr_call *c, uint32_t i, fr_value *out)
{
    TS_TRY(fr_arg_tile(f, c, i, out));
    TS_TRY(math_restricted(f, c, i, out));
    return fr_dtype_is_float((ts_dtype)out->dtype)
               ? TS_OK
               : fr_convert(f, out, TS_DTYPE_float32, TS_RN, out);
}

/* ---- two operands -------------------------------------------------------------------- */

ts_status fr_op_binary(fr *f, const fr_call *c, fr_value *out)
{
    ts_operator op = (ts_operator)c->op->x;
    fr_options options = {0};
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_number(f, c, 1));
    if (c->op->y) {
        ts_dtype dtype;
        TS_TRY(fr_common_dtype(f, fr_operator_sign(op), &c->arg[0], &c->arg[1], &dtype));
        if (op == TS_OPERATOR_Div && fr_dtype_cat(dtype) < FR_FLOAT)
            dtype = TS_DTYPE_float32;
        TS_TRY(fr_arg_attr(f, c, 2, 3, c->op->y, dtype, &options.attr));
        options.has_round = fr_given(c, 2);
    }
    return fr_binary(f, op, &c->arg[0], &c->arg[1], options, out);
}

ts_status fr_op_compare(fr *f, const fr_call *c, fr_value *out)
{
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_number(f, c, 1));
    return fr_compare(f, (ts_operator)c->op->x, &c->arg[0], &c->arg[1], out);
}

ts_status fr_op_minmax(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    uint32_t attr;
    bool nan;
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_number(f, c, 1));
    TS_TRY(fr_common_dtype(f, fr_op_name(c), &c->arg[0], &c->arg[1], &dtype));
    TS_TRY(fr_arg_attr(f, c, TS_NO, 2, 0, dtype, &attr));
    TS_TRY(fr_arg_flag(f, c, 3, false, &nan));
    return fr_minmax(f, c->op->x != 0, &c->arg[0], &c->arg[1], attr | (nan ? TS_A_NAN : 0), out);
}

ts_status fr_op_divmod(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    fr_value pair[2];
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_number(f, c, 1));
    TS_TRY(fr_common_dtype(f, "divmod", &c->arg[0], &c->arg[1], &dtype));
    if (fr_dtype_cat(dtype) != FR_INT)
        return fr_error(f, c->node, TS_TILETYPE,
                        "divmod() takes integers, found %s\n  help: use x // y and x %% y",
                        ts_dtype_name(dtype));
    TS_TRY(fr_binary(f, TS_OPERATOR_FloorDiv, &c->arg[0], &c->arg[1], (fr_options){0}, &pair[0]));
    TS_TRY(fr_binary(f, TS_OPERATOR_Mod, &c->arg[0], &c->arg[1], (fr_options){0}, &pair[1]));
    return fr_tuple(f, 2, pair, out);
}

ts_status fr_op_cdiv(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x = c->arg[0], y = c->arg[1], minus;
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_number(f, c, 1));
    if (x.kind == FR_NUMBER && y.kind == FR_NUMBER && x.cat != FR_FLOAT && y.cat != FR_FLOAT) {
        TS_TRY(fr_unary(f, TS_OPERATOR_USub, &x, &minus));
        TS_TRY(fr_binary(f, TS_OPERATOR_FloorDiv, &minus, &y, (fr_options){0}, out));
        return fr_unary(f, TS_OPERATOR_USub, out, out);
    }
    TS_TRY(fr_unify(f, "cdiv", &x, &y));
    if (!fr_dtype_is_int((ts_dtype)x.dtype))
        return fr_error(f, c->node, TS_TILETYPE, "cdiv() takes integers, found %s and %s",
                        fr_say(f, &c->arg[0]), fr_say(f, &c->arg[1]));
    uint32_t sign = fr_dtype_is_signed((ts_dtype)x.dtype) ? 0 : TS_A_UNSIGNED;
    *out = fr_tile((ts_dtype)x.dtype, fr_int_div(f, TS_OP_divi, x.as.v, y.as.v, sign | TS_RP));
    return TS_OK;
}

ts_status fr_op_atan2(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x, y;
    TS_TRY(fr_arg_float(f, c, 0, &x));
    TS_TRY(fr_arg_float(f, c, 1, &y));
    TS_TRY(fr_unify(f, "atan2", &x, &y));
    *out = fr_tile((ts_dtype)x.dtype, ts_op2(&f->b, TS_OP_atan2, x.as.v, y.as.v, 0));
    return TS_OK;
}

static fr_value math_call(fr *f, ts_math_fn fn, const fr_value *x, ts_val y)
{
    uint8_t kind = ts__math_fns[fn].kind;
    ts_dtype dtype = kind == TS_MATH_XB ? TS_DTYPE_bool_ : kind == TS_MATH_XI ? TS_DTYPE_int32 : (ts_dtype)x->dtype;
    return fr_tile(dtype, ts_math_call(&f->b, fn, x->as.v, y));
}

/* A tile of integers of any width as int32; what does not fit is far beyond the exponents of any float. */
static ts_status math_exponent(fr *f, const fr_call *c, fr_value *v)
{
    ts_dtype dtype = (ts_dtype)v->dtype;
    if (!fr_dtype_is_int(dtype))
        return fr_arg_error(f, c, 1, "an integer or a tile of integers");
    if (fr_dtype_bits(dtype) >= 32 && dtype != TS_DTYPE_int32) {
        ts_type type = ts_type_of(f->b.fn, v->as.v);
        uint32_t sign = fr_dtype_is_signed(dtype) ? 0 : TS_A_UNSIGNED;
        v->as.v = ts_op2(&f->b, TS_OP_mini, v->as.v, ts_int(&f->b, type, 1 << 20), sign);
        if (!sign)
            v->as.v = ts_op2(&f->b, TS_OP_maxi, v->as.v, ts_int(&f->b, type, -(1 << 20)), sign);
    }
    return fr_convert(f, v, TS_DTYPE_int32, TS_RN, v);
}

/* x is the row of table/math.def. */
ts_status fr_op_math(fr *f, const fr_call *c, fr_value *out)
{
    ts_math_fn fn = (ts_math_fn)c->op->x;
    const ts_math_info *info = &ts__math_fns[fn];
    fr_value x, y = {0};
    fr_shape a, b, shape;
    TS_TRY(fr_arg_float(f, c, 0, &x));
    if (info->kind == TS_MATH_XX) {
        TS_TRY(fr_arg_float(f, c, 1, &y));
        TS_TRY(fr_unify(f, info->name, &x, &y));
    } else if (info->kind == TS_MATH_XN) {
        TS_TRY(fr_arg_tile(f, c, 1, &y));
        TS_TRY(math_exponent(f, c, &y));
        a = fr_shape_of(f, &x);
        b = fr_shape_of(f, &y);
        TS_TRY(fr_broadcast_shapes(f, &a, &b, &shape));
        TS_TRY(fr_splat(f, &x, &shape, &x));
        TS_TRY(fr_splat(f, &y, &shape, &y));
    }
    *out = math_call(f, fn, &x, y.as.v);
    return TS_OK;
}

/* x and y are an operation or, from TS_OP_COUNT on, a row of table/math.def each: the two results. */
ts_status fr_op_math_pair(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x, pair[2];
    const uint32_t parts[] = {c->op->x, c->op->y};
    TS_TRY(fr_arg_float(f, c, 0, &x));
    for (int i = 0; i < 2; i++)
        if (parts[i] < TS_OP_COUNT)
            pair[i] = fr_tile((ts_dtype)x.dtype, ts_op1(&f->b, (ts_op)parts[i], x.as.v, 0));
        else
            pair[i] = math_call(f, (ts_math_fn)(parts[i] - TS_OP_COUNT), &x, 0);
    return fr_tuple(f, 2, pair, out);
}

/* ---- one operand --------------------------------------------------------------------- */

/* round, ftz: positions of the arguments, TS_NO when the operation lacks them. */
static ts_status math_unary(fr *f, const fr_call *c, uint32_t round, uint32_t ftz, fr_value *out)
{
    fr_value x;
    uint32_t attr;
    TS_TRY(fr_arg_float(f, c, 0, &x));
    TS_TRY(fr_arg_attr(f, c, round, ftz, c->op->y, (ts_dtype)x.dtype, &attr));
    *out = fr_tile((ts_dtype)x.dtype, ts_op1(&f->b, (ts_op)c->op->x, x.as.v, attr));
    return TS_OK;
}

ts_status fr_op_unary(fr *f, const fr_call *c, fr_value *out)
{
    return math_unary(f, c, 1, TS_NO, out);
}

ts_status fr_op_unary_flush(fr *f, const fr_call *c, fr_value *out)
{
    return math_unary(f, c, 1, 2, out);
}

ts_status fr_op_unary_only_flush(fr *f, const fr_call *c, fr_value *out)
{
    return math_unary(f, c, TS_NO, 1, out);
}

ts_status fr_op_exp2(fr *f, const fr_call *c, fr_value *out)
{
    return math_unary(f, c, 2, 1, out);
}

ts_status fr_op_unary_plain(fr *f, const fr_call *c, fr_value *out)
{
    return math_unary(f, c, TS_NO, TS_NO, out);
}

ts_status fr_op_whole(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    if (!fr_dtype_is_float((ts_dtype)x.dtype))
        return fr_arg_error(f, c, 0, "a float tile");
    *out = fr_tile((ts_dtype)x.dtype, ts_op1(&f->b, (ts_op)c->op->x, x.as.v, 0));
    return TS_OK;
}

ts_status fr_op_negative(fr *f, const fr_call *c, fr_value *out)
{
    TS_TRY(math_number(f, c, 0));
    return fr_unary(f, TS_OPERATOR_USub, &c->arg[0], out);
}

ts_status fr_op_bitwise_not(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x = c->arg[0];
    TS_TRY(math_number(f, c, 0));
    if (x.kind == FR_NUMBER && x.cat == FR_BOOL)
        x = fr_strict(TS_DTYPE_bool_, x.as.i);
    return fr_unary(f, TS_OPERATOR_Invert, &x, out);
}

ts_status fr_op_abs(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x = c->arg[0];
    TS_TRY(math_number(f, c, 0));
    if (fr_is_complex(&x))
        return fr_complex_abs(f, &x, out);
    if (x.kind == FR_NUMBER) {
        bool negative =
            x.cat == FR_FLOAT ? x.as.f < 0 || (x.as.f == 0 && 1 / x.as.f < 0) : x.as.i < 0;
        *out = x;
        return negative ? fr_unary(f, TS_OPERATOR_USub, &x, out) : TS_OK;
    }
    TS_TRY(math_restricted(f, c, 0, &x));
    *out = x;
    if (fr_dtype_is_float((ts_dtype)x.dtype))
        out->as.v = ts_op1(&f->b, TS_OP_absf, x.as.v, 0);
    else if (fr_dtype_is_int((ts_dtype)x.dtype) && fr_dtype_is_signed((ts_dtype)x.dtype))
        out->as.v = ts_op1(&f->b, TS_OP_absi, x.as.v, 0);
    return TS_OK;
}

/* real and imag (x: which part) of real numbers too; conj. */
ts_status fr_op_part(fr *f, const fr_call *c, fr_value *out)
{
    fr_value part[2];
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_restricted(f, c, 0, &c->arg[0]));
    TS_TRY(fr_complex_parts(f, &c->arg[0], &part[0], &part[1]));
    *out = part[c->op->x];
    return TS_OK;
}

ts_status fr_op_conj(fr *f, const fr_call *c, fr_value *out)
{
    fr_value re, im;
    *out = c->arg[0];
    TS_TRY(math_number(f, c, 0));
    TS_TRY(math_restricted(f, c, 0, out));
    if (!fr_is_complex(out))
        return TS_OK;
    if (out->kind == FR_NUMBER) {
        out->as.c[1] = -out->as.c[1];
        return TS_OK;
    }
    TS_TRY(fr_complex_parts(f, out, &re, &im));
    *out = fr_complex_join(f, (ts_dtype)out->dtype, re.as.v, ts_op1(&f->b, TS_OP_negf, im.as.v, 0));
    return TS_OK;
}

/* A number of two real ones. What is narrower than float32 becomes float32. */
ts_status fr_op_complex(fr *f, const fr_call *c, fr_value *out)
{
    fr_value re = c->arg[0], im = c->arg[1];
    for (uint32_t i = 0; i < 2; i++) {
        TS_TRY(math_number(f, c, i));
        TS_TRY(math_restricted(f, c, i, &c->arg[i]));
        if (fr_is_complex(&c->arg[i]))
            return fr_arg_error(f, c, i, "real");
    }
    if (re.kind == FR_NUMBER && im.kind == FR_NUMBER && !re.dtype && !im.dtype) {
        *out = (fr_value){.kind = FR_NUMBER, .cat = FR_COMPLEX, .as.c = {fr_as_double(&re), fr_as_double(&im)}};
        return TS_OK;
    }
    TS_TRY(fr_unify(f, "complex", &re, &im));
    ts_dtype part = re.dtype == TS_DTYPE_float64 ? TS_DTYPE_float64 : TS_DTYPE_float32;
    TS_TRY(fr_convert(f, &re, part, TS_RN, &re));
    TS_TRY(fr_convert(f, &im, part, TS_RN, &im));
    *out = fr_complex_join(f, part == TS_DTYPE_float64 ? TS_DTYPE_complex128 : TS_DTYPE_complex64, re.as.v, im.as.v);
    return TS_OK;
}

ts_status fr_op_isnan(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    TS_TRY(fr_arg_tile(f, c, 0, &x));
    if (!fr_dtype_is_float((ts_dtype)x.dtype))
        return fr_arg_error(f, c, 0, "a float tile");
    *out =
        fr_tile(TS_DTYPE_bool_, ts_cmp(&f->b, TS_OP_cmpf, TS_NE, x.as.v, x.as.v, TS_A_UNORDERED));
    return TS_OK;
}
