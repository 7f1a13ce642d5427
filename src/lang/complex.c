/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers: arithmetic written in operations on real and imaginary parts, for constants and for tiles. The IR
 * only moves complex values (make_complex, real, imag), so each operation below is the formula that it computes:
 *
 *     (a + bi) (c + di)   ac - bd, ad + bc, as NumPy: no repair of infinities. Error below 2.3 ulp of |result|
 *     (a + bi) / (c + di) Smith's method (CACM 5, 1962): by the larger of |c| and |d|, so that nothing overflows where
 *                         the quotient is in range; x / 0 as NumPy. Error below 6 ulp of |result|, unless d / c or
 *                         an intermediate underflows
 *     |a + bi|            hypot of table/math.def, which scales
 *
 * Part of the front end (lower.h). Next to read: src/math/complex.c, how the parts are separated in the IR.
 */
#include "ir/ir.h"
#include "lang/lower.h"
#include <math.h>

bool fr_is_complex(const fr_value *v)
{
    if (v->kind == FR_NUMBER)
        return v->cat == FR_COMPLEX;
    return v->kind == FR_TILE && fr_dtype_cat((ts_dtype)v->dtype) == FR_COMPLEX;
}

static ts_dtype complex_part(ts_dtype dtype)
{
    return (ts_dtype)ts_dtype_get(dtype)->part;
}

static fr_value complex_number(ts_dtype dtype, double re, double im)
{
    return (fr_value){.kind = FR_NUMBER, .cat = FR_COMPLEX, .dtype = (uint8_t)dtype, .as.c = {re, im}};
}

fr_value fr_complex_join(fr *f, ts_dtype dtype, ts_val re, ts_val im)
{
    ts_val x[] = {re, im};
    ts_type type = ts_type_with_elem(f->module, ts_type_of(f->b.fn, re), fr_ir(dtype));
    return fr_tile(dtype, ts_emit(&f->b, TS_OP_make_complex, type, 2, x, 0, 0));
}

static fr_value complex_take(fr *f, ts_op op, const fr_value *v)
{
    ts_dtype part = complex_part((ts_dtype)v->dtype);
    ts_type type = ts_type_with_elem(f->module, ts_type_of(f->b.fn, v->as.v), fr_ir(part));
    return fr_tile(part, ts_emit(&f->b, op, type, 1, &v->as.v, 0, 0));
}

ts_status fr_complex_parts(fr *f, const fr_value *v, fr_value *re, fr_value *im)
{
    fr_value whole = *v, zero = fr_number(0);
    if (v->kind == FR_NUMBER) {
        bool is_complex = v->cat == FR_COMPLEX;
        uint8_t part = is_complex ? (uint8_t)complex_part((ts_dtype)v->dtype) : v->dtype;
        *re = is_complex ? fr_real(whole.as.c[0]) : whole;
        *im = is_complex ? fr_real(whole.as.c[1]) : zero;
        re->dtype = part;
        im->dtype = is_complex ? part : 0;
        return TS_OK;
    }
    if (fr_is_complex(v)) {
        *re = complex_take(f, TS_OP_real, &whole);
        *im = complex_take(f, TS_OP_imag, &whole);
        return TS_OK;
    }
    fr_shape shape = fr_shape_of(f, v);
    *re = whole;
    *im = fr_tile((ts_dtype)v->dtype, fr_constant(f, &zero, (ts_dtype)v->dtype, &shape));
    return TS_OK;
}

/* ---- conversion ---------------------------------------------------------------------------------- */

static ts_status complex_to_bool(fr *f, const fr_value *re, const fr_value *im, fr_value *out)
{
    fr_value a, b;
    TS_TRY(fr_convert(f, re, TS_DTYPE_bool_, TS_RN, &a));
    TS_TRY(fr_convert(f, im, TS_DTYPE_bool_, TS_RN, &b));
    *out = a;
    if (a.kind == FR_NUMBER)
        *out = fr_strict(TS_DTYPE_bool_, a.as.i || b.as.i);
    else
        out->as.v = ts_op2(&f->b, TS_OP_ori, a.as.v, b.as.v, 0);
    return TS_OK;
}

ts_status fr_complex_convert(fr *f, const fr_value *v, ts_dtype to, uint32_t round, fr_value *out)
{
    fr_value re, im;
    ts_dtype part = complex_part(to);
    TS_TRY(fr_complex_parts(f, v, &re, &im));
    if (to == TS_DTYPE_bool_)
        return complex_to_bool(f, &re, &im, out);
    if (!part)
        return fr_error(f, 0, TS_TILETYPE, "%s cannot become %s: that would lose its imaginary part\n  help: take "
                        "ct.real(x), ct.imag(x) or ct.abs(x)", fr_say(f, v), ts_dtype_name(to));
    TS_TRY(fr_convert(f, &re, part, round, &re));
    TS_TRY(fr_convert(f, &im, part, round, &im));
    *out = re.kind == FR_NUMBER ? complex_number(to, re.as.f, im.as.f) : fr_complex_join(f, to, re.as.v, im.as.v);
    return TS_OK;
}

/* ---- constants: in double, by the same formulas ------------------------------------------------------ */

static ts_status complex_fold_divide(fr *f, const double x[2], const double y[2], double z[2])
{
    bool wide = fabs(y[0]) >= fabs(y[1]);
    double p = wide ? y[0] : y[1], q = wide ? y[1] : -y[0], a = wide ? x[0] : x[1], b = wide ? x[1] : -x[0];
    if (y[0] == 0 && y[1] == 0)
        return fr_error(f, 0, TS_TILEVALUE, "division of a constant by zero");
    double ratio = q / p, d = p + q * ratio;
    z[0] = (a + b * ratio) / d;
    z[1] = (b - a * ratio) / d;
    return TS_OK;
}

static ts_status complex_bad(fr *f, ts_operator op, const fr_value *x, const fr_value *y)
{
    return fr_error(f, 0, TS_TILETYPE, "'%s' has no meaning for complex numbers\n  found: %s%s%s\n  help: they have "
                    "+ - * / ** (by a constant from 0 to 4) == and !=; ct.real, ct.imag and ct.abs give real numbers",
                    fr_operator_sign(op), fr_say(f, x), y ? " and " : "", y ? fr_say(f, y) : "");
}

static void complex_doubles(const fr_value *v, double out[2])
{
    out[0] = v->cat == FR_COMPLEX ? v->as.c[0] : fr_as_double(v);
    out[1] = v->cat == FR_COMPLEX ? v->as.c[1] : 0;
}

static ts_status complex_fold(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    double a[2], b[2], z[2] = {0};
    ts_dtype dtype = TS_DTYPE_NONE;
    if (x->dtype || y->dtype)
        TS_TRY(fr_common_dtype(f, fr_operator_sign(op), x, y, &dtype));
    complex_doubles(x, a);
    complex_doubles(y, b);
    switch (op) {
    case TS_OPERATOR_Add:
    case TS_OPERATOR_Sub:
        for (int i = 0; i < 2; i++)
            z[i] = op == TS_OPERATOR_Add ? a[i] + b[i] : a[i] - b[i];
        break;
    case TS_OPERATOR_Mult:
        z[0] = a[0] * b[0] - a[1] * b[1];
        z[1] = a[0] * b[1] + a[1] * b[0];
        break;
    case TS_OPERATOR_Div:
        TS_TRY(complex_fold_divide(f, a, b, z));
        break;
    case TS_OPERATOR_Pow:
        if (y->cat != FR_INT || y->as.i < 0 || y->as.i > 4)
            return complex_bad(f, op, x, y);
        z[0] = 1;
        for (int n = (int)y->as.i; n > 0; n--) {
            double w[2] = {z[0], z[1]};
            z[0] = w[0] * a[0] - w[1] * a[1];
            z[1] = w[0] * a[1] + w[1] * a[0];
        }
        break;
    default:
        return complex_bad(f, op, x, y);
    }
    *out = complex_number(TS_DTYPE_NONE, z[0], z[1]);
    return dtype ? fr_convert(f, out, dtype, TS_RN, out) : TS_OK;
}

/* ---- tiles -------------------------------------------------------------------------------------------- */

static ts_val complex_op(fr *f, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(&f->b, op, x, y, 0);
}

static void complex_multiply(fr *f, const ts_val x[2], const ts_val y[2], ts_val z[2])
{
    z[0] = complex_op(f, TS_OP_subf, complex_op(f, TS_OP_mulf, x[0], y[0]), complex_op(f, TS_OP_mulf, x[1], y[1]));
    z[1] = complex_op(f, TS_OP_addf, complex_op(f, TS_OP_mulf, x[0], y[1]), complex_op(f, TS_OP_mulf, x[1], y[0]));
}

/* With the roles of the parts exchanged where |d| > |c|: x / y = (-i x) / (-i y). */
static void complex_divide(fr *f, const ts_val x[2], const ts_val y[2], ts_val z[2])
{
    ts_builder *b = &f->b;
    ts_val size = ts_op1(b, TS_OP_absf, y[0], 0), zero = ts_float(b, ts_type_of(b->fn, x[0]), 0);
    ts_val wide = ts_cmp(b, TS_OP_cmpf, TS_GE, size, ts_op1(b, TS_OP_absf, y[1], 0), 0);
    ts_val p = ts_select(b, wide, y[0], y[1]), q = ts_select(b, wide, y[1], ts_op1(b, TS_OP_negf, y[0], 0));
    ts_val u = ts_select(b, wide, x[0], x[1]), v = ts_select(b, wide, x[1], ts_op1(b, TS_OP_negf, x[0], 0));
    ts_val none = ts_cmp(b, TS_OP_cmpf, TS_EQ, p, zero, 0), ratio = complex_op(f, TS_OP_divf, q, p);
    ts_val d = complex_op(f, TS_OP_addf, p, complex_op(f, TS_OP_mulf, q, ratio));
    ts_val re = complex_op(f, TS_OP_addf, u, complex_op(f, TS_OP_mulf, v, ratio));
    ts_val im = complex_op(f, TS_OP_subf, v, complex_op(f, TS_OP_mulf, u, ratio));
    d = ts_select(b, none, size, d); /* by zero: each part by itself */
    z[0] = complex_op(f, TS_OP_divf, ts_select(b, none, u, re), d);
    z[1] = complex_op(f, TS_OP_divf, ts_select(b, none, v, im), d);
}

ts_status fr_complex_binary(fr *f, ts_operator op, const fr_value *px, const fr_value *py, fr_value *out)
{
    fr_value x = *px, y = *py, part[4];
    if (x.kind == FR_NUMBER && y.kind == FR_NUMBER)
        return complex_fold(f, op, &x, &y, out);
    if (op != TS_OPERATOR_Add && op != TS_OPERATOR_Sub && op != TS_OPERATOR_Mult && op != TS_OPERATOR_Div)
        return complex_bad(f, op, &x, &y);
    TS_TRY(fr_unify(f, fr_operator_sign(op), &x, &y));
    TS_TRY(fr_complex_parts(f, &x, &part[0], &part[1]));
    TS_TRY(fr_complex_parts(f, &y, &part[2], &part[3]));
    ts_val a[2] = {part[0].as.v, part[1].as.v}, b[2] = {part[2].as.v, part[3].as.v}, z[2] = {0};
    if (op == TS_OPERATOR_Mult)
        complex_multiply(f, a, b, z);
    else if (op == TS_OPERATOR_Div)
        complex_divide(f, a, b, z);
    else
        for (int i = 0; i < 2; i++)
            z[i] = complex_op(f, op == TS_OPERATOR_Add ? TS_OP_addf : TS_OP_subf, a[i], b[i]);
    *out = fr_complex_join(f, (ts_dtype)x.dtype, z[0], z[1]);
    return TS_OK;
}

ts_status fr_complex_compare(fr *f, ts_operator op, const fr_value *px, const fr_value *py, fr_value *out)
{
    fr_value x = *px, y = *py, part[4];
    bool equal = op == TS_OPERATOR_Eq;
    if (!equal && op != TS_OPERATOR_NotEq)
        return complex_bad(f, op, &x, &y);
    if (x.kind == FR_NUMBER && y.kind == FR_NUMBER) {
        double a[2], b[2];
        complex_doubles(&x, a);
        complex_doubles(&y, b);
        *out = fr_bool((a[0] == b[0] && a[1] == b[1]) == equal);
        return TS_OK;
    }
    TS_TRY(fr_unify(f, fr_operator_sign(op), &x, &y));
    TS_TRY(fr_complex_parts(f, &x, &part[0], &part[1]));
    TS_TRY(fr_complex_parts(f, &y, &part[2], &part[3]));
    ts_pred pred = equal ? TS_EQ : TS_NE;
    uint32_t attr = equal ? 0 : TS_A_UNORDERED;
    ts_val re = ts_cmp(&f->b, TS_OP_cmpf, pred, part[0].as.v, part[2].as.v, attr);
    ts_val im = ts_cmp(&f->b, TS_OP_cmpf, pred, part[1].as.v, part[3].as.v, attr);
    *out = fr_tile(TS_DTYPE_bool_, ts_op2(&f->b, equal ? TS_OP_andi : TS_OP_ori, re, im, 0));
    return TS_OK;
}

ts_status fr_complex_negate(fr *f, const fr_value *x, fr_value *out)
{
    fr_value re, im;
    if (x->kind == FR_NUMBER) {
        *out = complex_number((ts_dtype)x->dtype, -x->as.c[0], -x->as.c[1]);
        return TS_OK;
    }
    ts_dtype dtype = (ts_dtype)x->dtype;
    TS_TRY(fr_complex_parts(f, x, &re, &im));
    *out = fr_complex_join(f, dtype, ts_op1(&f->b, TS_OP_negf, re.as.v, 0), ts_op1(&f->b, TS_OP_negf, im.as.v, 0));
    return TS_OK;
}

ts_status fr_complex_abs(fr *f, const fr_value *x, fr_value *out)
{
    fr_value re, im;
    TS_TRY(fr_complex_parts(f, x, &re, &im));
    *out = re;
    if (x->kind != FR_NUMBER)
        out->as.v = ts_math_call(&f->b, TS_MATH_hypot, re.as.v, im.as.v);
    else {
        out->as.f = hypot(re.as.f, im.as.f);
        return re.dtype ? fr_convert(f, out, (ts_dtype)re.dtype, TS_RN, out) : TS_OK;
    }
    return TS_OK;
}

/* ---- what is not defined -------------------------------------------------------------------------------- */

static bool complex_is_inside(const fr_value *v)
{
    ts_dtype dtype = TS_DTYPE_NONE;
    if (v->kind == FR_NUMBER)
        return v->cat == FR_COMPLEX;
    if (v->kind == FR_TILE || v->kind == FR_DTYPE)
        dtype = (ts_dtype)v->dtype;
    else if (v->kind == FR_ARRAY || v->kind == FR_RAW)
        dtype = (ts_dtype)v->as.array->dtype;
    else if (v->kind == FR_VIEW)
        dtype = (ts_dtype)v->as.view->array->dtype;
    for (uint32_t i = 0; v->kind == FR_TUPLE && i < v->n; i++)
        if (complex_is_inside(&v->as.items[i]))
            return true;
    return ts_dtype_get(dtype)->kind == 'c';
}

ts_status fr_only_real(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args)
{
    for (uint32_t i = 0; i < n; i++)
        if (complex_is_inside(&args[i]))
            return fr_error(f, node, TS_TILETYPE,
                            "%s() is not defined for complex numbers\n  found: %s\n"
                            "  help: it takes real ones: ct.real(x), ct.imag(x) or ct.abs(x)",
                            name, fr_say(f, &args[i]));
    return TS_OK;
}
