/* SPDX-License-Identifier: Apache-2.0
 *
 * Builtins of Python and functions of math and NumPy on the scalars of threads: a table of names. Integers are computed
 * as float64, float32 stays, float16 is computed as float32. Part of the front end (lower.h).
 */
#include "lang/simt/op.h"
#include <stdlib.h>

typedef struct math_call {
    uint32_t node, n;
    const char *name;
    const fr_value *args;
    uint32_t x, y; /* of the row */
} math_call;

typedef ts_status math_fn(fr *f, const math_call *c, fr_value *out);

/* ---- arguments ------------------------------------------------------------------------------------- */

static ts_status math_number(fr *f, const math_call *c, uint32_t i, ts_dtype *out)
{
    if (!fr_simt_is_number(&c->args[i]))
        return fr_error(f, c->node, TS_TILETYPE, "%s() takes numbers\n  found: %s%s", c->name, fr_say(f, &c->args[i]),
                        c->args[i].kind == FR_ARRAY ? "\n  help: apply it to the elements, in a loop" : "");
    TS_TRY(fr_simt_dtype(f, &c->args[i], out));
    if (fr_dtype_cat(*out) == FR_COMPLEX)
        return fr_error(f, c->node, TS_TILETYPE, "%s() is not defined for complex numbers\n  found: %s\n  help: take "
                        "z.real, z.imag or abs(z)", c->name, fr_say(f, &c->args[i]));
    return TS_OK;
}

static ts_dtype math_float_of(ts_dtype dtype)
{
    return fr_dtype_is_float(dtype) ? dtype : TS_DTYPE_float64;
}

/* All arguments as floats of one dtype, in which it is computed; *own is that of the result. */
static ts_status math_floats(fr *f, const math_call *c, uint32_t n, ts_val *out, ts_dtype *own)
{
    *own = TS_DTYPE_NONE;
    for (uint32_t i = 0; i < n; i++) {
        ts_dtype dtype;
        TS_TRY(math_number(f, c, i, &dtype));
        *own = *own ? fr_simt_promote(*own, math_float_of(dtype)) : math_float_of(dtype);
    }
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(fr_simt_cast(f, &c->args[i], fr_dtype_bits(*own) < 32 ? TS_DTYPE_float32 : *own, &out[i]));
    return TS_OK;
}

static ts_status math_result(fr *f, ts_dtype own, ts_val v, fr_value *out)
{
    fr_value made = fr_tile(fr_dtype_bits(own) < 32 ? TS_DTYPE_float32 : own, v);
    return fr_simt_convert(f, &made, own, out);
}

/* ---- floats --------------------------------------------------------------------------------------------- */

/* x: an operation of the IR */
static ts_status math_op(fr *f, const math_call *c, fr_value *out)
{
    ts_val v[2];
    ts_dtype own;
    TS_TRY(math_floats(f, c, c->n, v, &own));
    ts_val made = c->n == 1 ? ts_op1(&f->b, (ts_op)c->x, v[0], 0) : ts_op2(&f->b, (ts_op)c->x, v[0], v[1], c->y);
    return math_result(f, own, made, out);
}

/* x: a function of math.def */
static ts_status math_function(fr *f, const math_call *c, fr_value *out)
{
    ts_val v[2] = {0};
    ts_dtype own;
    TS_TRY(math_floats(f, c, c->n, v, &own));
    return math_result(f, own, ts_math_call(&f->b, c->x, v[0], v[1]), out);
}

/* x: a function with the result true or false. Integers are finite numbers. */
static ts_status math_question(fr *f, const math_call *c, fr_value *out)
{
    ts_val v[1];
    ts_dtype own, given;
    TS_TRY(math_number(f, c, 0, &given));
    if (!fr_dtype_is_float(given)) {
        *out = fr_bool(c->x == TS_MATH_isfinite);
        return TS_OK;
    }
    TS_TRY(math_floats(f, c, 1, v, &own));
    ts_val made = c->x == TS_MATH_COUNT ? ts_cmp(&f->b, TS_OP_cmpf, TS_NE, v[0], v[0], TS_A_UNORDERED)
                                        : ts_math_call(&f->b, c->x, v[0], 0);
    if (ts_type_of(f->b.fn, made) != TS_T_i1)
        made = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, made, ts_int(&f->b, ts_type_of(f->b.fn, made), 0), 0);
    *out = fr_tile(TS_DTYPE_bool_, made);
    return TS_OK;
}

/* ldexp(x, n) */
static ts_status math_scaled(fr *f, const math_call *c, fr_value *out)
{
    math_call one = *c;
    ts_val x[1], n;
    ts_dtype own;
    one.n = 1;
    TS_TRY(math_floats(f, &one, 1, x, &own));
    TS_TRY(fr_simt_cast(f, &c->args[1], TS_DTYPE_int32, &n));
    return math_result(f, own, ts_math_call(&f->b, TS_MATH_ldexp, x[0], n), out);
}

/* frexp and modf: x, y are the two functions; the second of frexp is an int32. */
static ts_status math_pair(fr *f, const math_call *c, fr_value *out)
{
    ts_val x[1];
    ts_dtype own;
    fr_value pair[2];
    TS_TRY(math_floats(f, c, 1, x, &own));
    for (uint32_t i = 0; i < 2; i++) {
        ts_val v = ts_math_call(&f->b, i ? c->y : c->x, x[0], 0);
        if (ts_type_is_int(f->module, ts_type_of(f->b.fn, v)))
            pair[i] = fr_tile(TS_DTYPE_int32, v);
        else
            TS_TRY(math_result(f, own, v, &pair[i]));
    }
    return fr_tuple(f, 2, pair, out);
}

/* x * pi / 180 and back */
static ts_status math_angle(fr *f, const math_call *c, fr_value *out)
{
    static const double factor[] = {0.017453292519943295, 57.29577951308232};
    ts_val v[1];
    ts_dtype own;
    TS_TRY(math_floats(f, c, 1, v, &own));
    ts_val by = ts_float(&f->b, ts_type_of(f->b.fn, v[0]), factor[c->x]);
    return math_result(f, own, ts_op2(&f->b, TS_OP_mulf, v[0], by, 0), out);
}

/* ---- any number -------------------------------------------------------------------------------------------- */

/* abs: integers keep their dtype. */
static ts_status math_abs(fr *f, const math_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val v;
    const fr_value *x = &c->args[0];
    TS_TRY(math_number(f, c, 0, &dtype));
    if (x->kind == FR_NUMBER) {
        fr_value minus;
        bool negative = x->cat == FR_FLOAT ? x->as.f < 0 : x->as.i < 0;
        TS_TRY(fr_simt_unary(f, TS_OPERATOR_USub, x, &minus));
        *out = negative ? minus : *x;
        return TS_OK;
    }
    TS_TRY(fr_simt_cast(f, x, dtype, &v));
    bool with_sign = fr_dtype_is_int(dtype) && fr_dtype_is_signed(dtype);
    if (fr_dtype_is_float(dtype) || with_sign)
        v = ts_op1(&f->b, with_sign ? TS_OP_absi : TS_OP_absf, v, 0);
    *out = fr_tile(dtype, v);
    return TS_OK;
}

/* x: an operator, of as many operands as there are arguments */
static ts_status math_operator(fr *f, const math_call *c, fr_value *out)
{
    for (uint32_t i = 0; i < c->n; i++) {
        ts_dtype dtype;
        TS_TRY(math_number(f, c, i, &dtype));
    }
    if (c->n == 1)
        return fr_unary(f, (ts_operator)c->x, &c->args[0], out);
    return c->x >= TS_OPERATOR_Eq ? fr_compare(f, (ts_operator)c->x, &c->args[0], &c->args[1], out)
                                  : fr_binary(f, (ts_operator)c->x, &c->args[0], &c->args[1], (fr_options){0}, out);
}

/* int(x), float(x), bool(x): integers keep their dtype in int(), floats in float(). */
static ts_status math_cast(fr *f, const math_call *c, fr_value *out)
{
    ts_dtype own;
    const fr_value *x = &c->args[0];
    TS_TRY(math_number(f, c, 0, &own));
    bool keeps = c->x == TS_DTYPE_int64 ? fr_dtype_is_int(own) : c->x == TS_DTYPE_float64 && fr_dtype_is_float(own);
    *out = *x;
    return keeps ? TS_OK : fr_simt_convert(f, x, (ts_dtype)c->x, out);
}

/* 10.0 ** n for 0 <= n <= 308, from a table in constant memory: powers are exact as far as they can be. */
static ts_status math_power_of_ten(fr *f, ts_val n, fr_value *table, ts_val *out)
{
    enum { POWERS = 309 };
    fr_value *powers = TS_NEW_N(f->arena, fr_value, POWERS), made;
    fr_value index = fr_tile(TS_DTYPE_int64, n);
    bool found;
    for (uint32_t i = 0; powers && table->kind != FR_ARRAY && i < POWERS; i++)
        powers[i] = fr_real(strtod(fr_textf(f, "1e%u", i), NULL));
    if (!powers)
        return fr_oom(f);
    if (table->kind != FR_ARRAY) {
        TS_TRY(fr_container(f, FR_TUPLE, POWERS, powers, &made));
        TS_TRY(fr_simt_constant_array(f, &made, table, &found));
    }
    ts_val address;
    TS_TRY(fr_simt_address(f, 0, table, &index, FR_CHECKED, &address));
    *out = fr_simt_load(f, TS_DTYPE_float64, address, TS_CACHE_NONE).as.v;
    return TS_OK;
}

/* As CPython did before it had its own decimal arithmetic, and numba does: y = x * 10 ** n in two steps, so that only
 * the result may overflow; or x / 10 ** -n. What is no number, or overflows, stays. */
static ts_status math_round_digits(fr *f, ts_val x, ts_val n, ts_val *out)
{
    enum { EXACT = 22, MOST = 308, NONE_LEFT = 323 };
    ts_builder *b = &f->b;
    ts_val zero = ts_int(b, TS_T_i64, 0), least = ts_int(b, TS_T_i64, -MOST), first, second, p, q;
    fr_value table = fr_none();
    ts_val down = ts_cmp(b, TS_OP_cmpi, TS_LT, n, zero, 0);
    first = ts_select(b, down, ts_op2(b, TS_OP_subi, zero, ts_op2(b, TS_OP_maxi, n, least, 0), 0),
                      ts_op2(b, TS_OP_mini, n, ts_int(b, TS_T_i64, EXACT), 0));
    second = ts_op2(b, TS_OP_subi, n, ts_int(b, TS_T_i64, EXACT), 0);
    second = ts_op2(b, TS_OP_maxi, ts_op2(b, TS_OP_mini, second, ts_int(b, TS_T_i64, MOST - EXACT), 0), zero, 0);
    TS_TRY(math_power_of_ten(f, first, &table, &p));
    TS_TRY(math_power_of_ten(f, second, &table, &q));
    ts_val y = ts_select(b, down, ts_op2(b, TS_OP_divf, x, p, 0),
                         ts_op2(b, TS_OP_mulf, ts_op2(b, TS_OP_mulf, x, p, 0), q, 0));
    ts_val z = ts_math_call(b, TS_MATH_rint, y, 0);
    z = ts_select(b, down, ts_op2(b, TS_OP_mulf, z, p, 0),
                  ts_op2(b, TS_OP_divf, ts_op2(b, TS_OP_divf, z, q, 0), p, 0));
    ts_val none = ts_op2(b, TS_OP_mulf, x, ts_float(b, TS_T_f64, 0), 0);
    z = ts_select(b, ts_cmp(b, TS_OP_cmpi, TS_LT, n, least, 0), none, z);
    ts_val fine = ts_math_call(b, TS_MATH_isfinite, y, 0);
    if (ts_type_of(b->fn, fine) != TS_T_i1)
        fine = ts_cmp(b, TS_OP_cmpi, TS_NE, fine, ts_int(b, ts_type_of(b->fn, fine), 0), 0);
    ts_val all = ts_cmp(b, TS_OP_cmpi, TS_GT, n, ts_int(b, TS_T_i64, NONE_LEFT), 0);
    *out = ts_select(b, all, x, ts_select(b, fine, z, x));
    return TS_OK;
}

/* round(x): halves to even, an int64; round(x, n): a float, computed as float64. */
static ts_status math_round(fr *f, const math_call *c, fr_value *out)
{
    math_call one = *c;
    ts_val v[1], n;
    ts_dtype own, digits;
    one.n = 1;
    TS_TRY(math_number(f, c, 0, &own));
    if (c->n == 2) {
        TS_TRY(math_number(f, c, 1, &digits));
        if (!fr_dtype_is_int(digits))
            return fr_error(f, c->node, TS_TILETYPE, "round() takes its digits as an integer\n  found: %s",
                            fr_say(f, &c->args[1]));
    }
    int64_t known = -1;
    if (!fr_dtype_is_float(own) && c->n == 2 && (!fr_is_int(&c->args[1], &known) || known < 0))
        return fr_error(f, c->node, TS_TILETYPE, "round() of an integer takes digits that are known and not negative\n"
                        "  found: %s\n  help: round(float(x), n)", fr_say(f, &c->args[1]));
    if (!fr_dtype_is_float(own)) {
        *out = c->args[0];
        return TS_OK;
    }
    if (c->n == 1) {
        TS_TRY(math_floats(f, &one, 1, v, &own));
        ts_val nearest = ts_math_call(&f->b, TS_MATH_rint, v[0], 0);
        fr_value whole = fr_tile(fr_dtype_bits(own) < 32 ? TS_DTYPE_float32 : own, nearest);
        return fr_simt_convert(f, &whole, TS_DTYPE_int64, out);
    }
    TS_TRY(fr_simt_cast(f, &c->args[0], TS_DTYPE_float64, &v[0]));
    TS_TRY(fr_simt_cast(f, &c->args[1], TS_DTYPE_int64, &n));
    TS_TRY(math_round_digits(f, v[0], n, &v[0]));
    fr_value made = fr_tile(TS_DTYPE_float64, v[0]);
    return fr_simt_convert(f, &made, own, out);
}

static ts_status math_divmod(fr *f, const math_call *c, fr_value *out)
{
    fr_value pair[2];
    TS_TRY(fr_simt_binary(f, TS_OPERATOR_FloorDiv, &c->args[0], &c->args[1], (fr_options){0}, &pair[0]));
    TS_TRY(fr_simt_binary(f, TS_OPERATOR_Mod, &c->args[0], &c->args[1], (fr_options){0}, &pair[1]));
    return fr_tuple(f, 2, pair, out);
}

/* NumPy's minimum and maximum (y 0: a NaN wins), fmin and fmax (y 1: a number wins); x: is it the maximum. */
static ts_status math_extreme(fr *f, const math_call *c, fr_value *out)
{
    ts_dtype a, b;
    ts_val v[2];
    TS_TRY(math_number(f, c, 0, &a));
    TS_TRY(math_number(f, c, 1, &b));
    ts_dtype dtype = fr_simt_promote(a, b);
    bool real = fr_dtype_is_float(dtype), narrow = real && fr_dtype_bits(dtype) < 32;
    for (uint32_t i = 0; i < 2; i++)
        TS_TRY(fr_simt_cast(f, &c->args[i], narrow ? TS_DTYPE_float32 : dtype, &v[i]));
    ts_op op = real ? (c->x ? TS_OP_maxf : TS_OP_minf)
               : dtype == TS_DTYPE_bool_ ? (c->x ? TS_OP_ori : TS_OP_andi) : (c->x ? TS_OP_maxi : TS_OP_mini);
    bool without_sign = fr_dtype_is_int(dtype) && !fr_dtype_is_signed(dtype);
    uint32_t attr = real ? (c->y ? 0 : TS_A_NAN) : without_sign ? TS_A_UNSIGNED : 0;
    ts_val made = ts_op2(&f->b, op, v[0], v[1], attr);
    if (real)
        return math_result(f, dtype, made, out);
    *out = fr_tile(dtype, made);
    return TS_OK;
}

ts_status fr_simt_logical(fr *f, ts_op op, uint32_t n, const fr_value *args, fr_value *out)
{
    ts_val v[2];
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(fr_simt_truth(f, &args[i], &v[i]));
    v[1] = n == 1 ? ts_int(&f->b, TS_T_i1, 1) : v[1];
    *out = fr_tile(TS_DTYPE_bool_, ts_op2(&f->b, op, v[0], v[1], 0));
    return TS_OK;
}

/* x is an operator of bits. */
static ts_status math_logical(fr *f, const math_call *c, fr_value *out)
{
    return fr_simt_logical(f, (ts_op)c->x, c->n, c->args, out);
}

static ts_status math_square(fr *f, const math_call *c, fr_value *out)
{
    ts_dtype dtype;
    TS_TRY(math_number(f, c, 0, &dtype));
    fr_value product;
    TS_TRY(fr_simt_binary(f, TS_OPERATOR_Mult, &c->args[0], &c->args[0], (fr_options){0}, &product));
    return fr_simt_convert(f, &product, dtype, out);
}

static ts_status math_sign(fr *f, const math_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val x, up, down, made;
    fr_value zero = fr_number(0), above, below;
    TS_TRY(math_number(f, c, 0, &dtype));
    TS_TRY(fr_simt_cast(f, &c->args[0], dtype, &x));
    fr_value v = fr_tile(dtype, x), one = fr_number(1), minus = fr_number(-1);
    TS_TRY(fr_simt_compare(f, TS_OPERATOR_Gt, &v, &zero, &above));
    TS_TRY(fr_simt_compare(f, TS_OPERATOR_Lt, &v, &zero, &below));
    TS_TRY(fr_simt_cast(f, &one, dtype, &up));
    TS_TRY(fr_simt_cast(f, &minus, dtype, &down));
    made = ts_select(&f->b, above.as.v, up, ts_select(&f->b, below.as.v, down, x)); /* zeros and NaN stay */
    *out = fr_tile(dtype, made);
    return TS_OK;
}

/* len of an array: its first extent */
static ts_status math_len(fr *f, const math_call *c, fr_value *out)
{
    const fr_array *a = c->args[0].as.array;
    if (!a->rank && a->element && a->element->chars)
        return fr_simt_text_length(f, &c->args[0], out), TS_OK;
    if (!a->rank && a->element) {
        *out = fr_number(a->element->n_fields);
        return TS_OK;
    }
    if (!a->rank)
        return fr_error(f, c->node, TS_TILETYPE, "len() of an array without axes");
    return fr_simt_convert(f, &a->shape[0], TS_DTYPE_int64, out);
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

enum { MATH_BOTH = 1, MATH_MATH, MATH_NUMPY, MATH_BUILTIN };

static const struct math_row {
    const char *name;
    uint8_t where, least, most;
    math_fn *lower;
    uint32_t x, y;
} math_rows[] = {
#define OP(name, op) {name, MATH_BOTH, 1, 1, math_op, TS_OP_##op, 0}
#define FN(name, fn) {name, MATH_BOTH, 1, 1, math_function, TS_MATH_##fn, 0}
#define FN2(name, fn) {name, MATH_BOTH, 2, 2, math_function, TS_MATH_##fn, 0}
#define ARC(name, short, fn)                                                                                           \
    {short, MATH_MATH, 1, 1, math_function, TS_MATH_##fn, 0}, {name, MATH_NUMPY, 1, 1, math_function, TS_MATH_##fn, 0}
#define NP(name, n, operator) {name, MATH_NUMPY, n, n, math_operator, TS_OPERATOR_##operator, 0}
    OP("exp", exp), OP("exp2", exp2), OP("log", log), OP("log2", log2), OP("sin", sin), OP("cos", cos),
    OP("tan", tan), OP("sinh", sinh), OP("cosh", cosh), OP("tanh", tanh), OP("sqrt", sqrt), OP("floor", floor),
    OP("ceil", ceil), FN("trunc", trunc), FN("rint", rint), FN("expm1", expm1), FN("log10", log10),
    FN("log1p", log1p), FN("cbrt", cbrt), FN("erf", erf), FN("erfc", erfc), FN("gamma", tgamma),
    FN("lgamma", lgamma), ARC("arcsin", "asin", asin), ARC("arccos", "acos", acos), ARC("arctan", "atan", atan),
    ARC("arcsinh", "asinh", asinh), ARC("arccosh", "acosh", acosh), ARC("arctanh", "atanh", atanh),
    FN2("hypot", hypot), FN2("copysign", copysign), FN2("nextafter", nextafter),
    {"remainder", MATH_MATH, 2, 2, math_function, TS_MATH_remainder, 0},
    {"atan2", MATH_MATH, 2, 2, math_op, TS_OP_atan2, 0},
    {"arctan2", MATH_NUMPY, 2, 2, math_op, TS_OP_atan2, 0},
    {"fmod", MATH_BOTH, 2, 2, math_op, TS_OP_remf, 0},
    {"pow", MATH_MATH, 2, 2, math_operator, TS_OPERATOR_Pow, 0},
    {"fabs", MATH_BOTH, 1, 1, math_op, TS_OP_absf, 0},
    {"ldexp", MATH_BOTH, 2, 2, math_scaled, 0, 0},
    {"frexp", MATH_BOTH, 1, 1, math_pair, TS_MATH_frexp_part, TS_MATH_frexp_exponent},
    {"modf", MATH_BOTH, 1, 1, math_pair, TS_MATH_modf_part, TS_MATH_trunc},
    {"radians", MATH_BOTH, 1, 1, math_angle, 0, 0},
    {"degrees", MATH_BOTH, 1, 1, math_angle, 1, 0},
    {"deg2rad", MATH_NUMPY, 1, 1, math_angle, 0, 0},
    {"rad2deg", MATH_NUMPY, 1, 1, math_angle, 1, 0},
    {"isnan", MATH_BOTH, 1, 1, math_question, TS_MATH_COUNT, 0},
    {"isinf", MATH_BOTH, 1, 1, math_question, TS_MATH_isinf, 0},
    {"isfinite", MATH_BOTH, 1, 1, math_question, TS_MATH_isfinite, 0},
    {"abs", MATH_BUILTIN, 1, 1, math_abs, 0, 0},
    {"absolute", MATH_NUMPY, 1, 1, math_abs, 0, 0},
    {"abs", MATH_NUMPY, 1, 1, math_abs, 0, 0},
    {"round", MATH_BUILTIN, 1, 2, math_round, 0, 0},
    {"int", MATH_BUILTIN, 1, 1, math_cast, TS_DTYPE_int64, 0},
    {"float", MATH_BUILTIN, 1, 1, math_cast, TS_DTYPE_float64, 0},
    {"bool", MATH_BUILTIN, 1, 1, math_cast, TS_DTYPE_bool_, 0},
    {"pow", MATH_BUILTIN, 2, 2, math_operator, TS_OPERATOR_Pow, 0},
    {"divmod", MATH_BUILTIN, 2, 2, math_divmod, 0, 0},
    {"divmod", MATH_NUMPY, 2, 2, math_divmod, 0, 0},
    {"maximum", MATH_NUMPY, 2, 2, math_extreme, 1, 0},
    {"minimum", MATH_NUMPY, 2, 2, math_extreme, 0, 0},
    {"fmax", MATH_NUMPY, 2, 2, math_extreme, 1, 1},
    {"fmin", MATH_NUMPY, 2, 2, math_extreme, 0, 1},
    {"logical_and", MATH_NUMPY, 2, 2, math_logical, TS_OP_andi, 0},
    {"logical_or", MATH_NUMPY, 2, 2, math_logical, TS_OP_ori, 0},
    {"logical_xor", MATH_NUMPY, 2, 2, math_logical, TS_OP_xori, 0},
    {"logical_not", MATH_NUMPY, 1, 1, math_logical, TS_OP_xori, 0},
    {"square", MATH_NUMPY, 1, 1, math_square, 0, 0},
    {"sign", MATH_NUMPY, 1, 1, math_sign, 0, 0},
    NP("add", 2, Add), NP("subtract", 2, Sub), NP("multiply", 2, Mult), NP("divide", 2, Div),
    NP("true_divide", 2, Div), NP("floor_divide", 2, FloorDiv), NP("remainder", 2, Mod), NP("mod", 2, Mod),
    NP("power", 2, Pow), NP("bitwise_and", 2, BitAnd), NP("bitwise_or", 2, BitOr), NP("bitwise_xor", 2, BitXor),
    NP("left_shift", 2, LShift), NP("right_shift", 2, RShift), NP("invert", 1, Invert), NP("bitwise_not", 1, Invert),
    NP("negative", 1, USub), NP("positive", 1, UAdd), NP("equal", 2, Eq), NP("not_equal", 2, NotEq),
    NP("less", 2, Lt), NP("less_equal", 2, LtE), NP("greater", 2, Gt), NP("greater_equal", 2, GtE),
#undef OP
#undef FN
#undef FN2
#undef ARC
#undef NP
};

static const struct math_row *math_find(const char *bare, bool is_math, bool is_numpy)
{
    for (uint32_t i = 0; i < TS_COUNT(math_rows); i++) {
        const struct math_row *row = &math_rows[i];
        bool here = is_math    ? row->where == MATH_BOTH || row->where == MATH_MATH
                    : is_numpy ? row->where == MATH_BOTH || row->where == MATH_NUMPY
                               : row->where == MATH_BUILTIN;
        if (here && strcmp(row->name, bare) == 0)
            return row;
    }
    return NULL;
}

typedef struct math_each {
    uint32_t node;
    const char *name;
} math_each;

static ts_status math_item(fr *f, void *user, uint32_t n, const fr_value *items, fr_value *out)
{
    const math_each *each = user;
    bool done;
    return fr_simt_builtin(f, each->node, each->name, n, items, out, &done);
}

/* np.sin(x, out): for all elements of out. */
static ts_status math_into(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out)
{
    math_each each = {node, name};
    *out = args[n - 1];
    return fr_simt_each(f, out->as.array, n - 1, args, math_item, &each);
}

ts_status fr_simt_builtin(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out,
                          bool *done)
{
    bool is_math = strncmp(name, "math.", 5) == 0, is_numpy = strncmp(name, "numpy.", 6) == 0;
    const char *bare = is_math ? name + 5 : is_numpy ? name + 6 : name;
    const struct math_row *row = math_find(bare, is_math, is_numpy);
    *done = is_numpy && row && n == row->most + 1u && args[n - 1].kind == FR_ARRAY;
    if (*done)
        return math_into(f, node, name, n, args, out);
    if (strcmp(name, "numpy.isnat") == 0 && n == 1 && args->kind == FR_RECORD) { /* of a date: its method */
        fr_value method;
        TS_TRY(fr_record_method(f, args, "__isnat__", &method, done));
        return *done ? fr_call_value(f, &method, node, 0, NULL, out) : TS_OK;
    }
    if (n && args->kind == FR_RECORD && !is_math && !is_numpy) { /* it may have a method for it */
        *done = false;
        return TS_OK;
    }
    TS_TRY(fr_simt_complex_call(f, node, name, n, args, out, done));
    if (*done || (n == 1 && args->kind == FR_STR)) /* float("nan") */
        return TS_OK;
    *done = n == 0 || args->kind != FR_RECORD; /* methods of a class: __bool__, __abs__, .. */
    if (!*done)
        return TS_OK;
    if (!is_math && !is_numpy && strcmp(name, "len") == 0 && n == 1 && args->kind == FR_ARRAY)
        return math_len(f, &(math_call){.node = node, .name = name, .n = n, .args = args}, out);
    bool one = is_numpy && n && strcmp(bare, "count_nonzero") == 0; /* takes a number, too */
    if (is_numpy && n && (args->kind == FR_ARRAY || args->kind == FR_TUPLE || one)) { /* np.sum(a) is a.sum() */
        const char *method = strcmp(bare, "amin") == 0 ? "min" : strcmp(bare, "amax") == 0 ? "max" : bare;
        const char *op = fr_textf(f, "array_%s", method);
        if (fr_op_find(f, op) < f->dialect->n_ops)
            return fr_call_op(f, node, op, n, args, out);
    }
    if (row) {
        if (n < row->least || n > row->most)
            return fr_error(f, node, TS_TILETYPE, "%s() takes %u argument%s, got %u", name, row->least,
                            row->least > 1 ? "s" : "", n);
        return row->lower(f, &(math_call){node, n, name, args, row->x, row->y}, out);
    }
    *done = false;
    if (is_numpy)
        return fr_error(f, node, TS_TILETYPE, "'%s' is not part of the thread language%s", name,
                        fr_call_help(f, name, NULL));
    return TS_OK;
}
