/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex numbers in kernels of threads: operators, attributes, and the functions of cmath, NumPy and Python that take
 * them, a table of names. Sums and products of constants are constants; all else is code (lang/complex.c,
 * math/cmath.c). Part of the front end (lower.h).
 */
#include "lang/simt/op.h"
#include "math/cmath.h"
#include <math.h>

static ts_dtype complex_of(ts_dtype dtype)
{
    return fr_simt_promote(dtype, TS_DTYPE_complex64);
}

static ts_dtype complex_part_of(ts_dtype dtype)
{
    return (ts_dtype)ts_dtype_get(dtype)->part;
}

/* The number as a complex one of run time, of the dtype or its own, and its parts. */
static ts_status complex_take(fr *f, const fr_value *v, ts_dtype dtype, ts_dtype *own, ts_val out[2])
{
    fr_value whole, re, im;
    TS_TRY(fr_simt_dtype(f, v, own));
    *own = dtype ? dtype : complex_of(*own);
    TS_TRY(fr_simt_convert(f, v, *own, &whole));
    TS_TRY(fr_complex_parts(f, &whole, &re, &im));
    TS_TRY(fr_simt_cast(f, &re, complex_part_of(*own), &out[0]));
    return fr_simt_cast(f, &im, complex_part_of(*own), &out[1]);
}

static ts_status complex_give(fr *f, ts_dtype dtype, const ts_val z[2], fr_value *out)
{
    *out = fr_complex_join(f, dtype, z[0], z[1]);
    return TS_OK;
}

/* ---- operators --------------------------------------------------------------------------------------- */

static ts_status complex_tile(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out)
{
    ts_dtype own;
    ts_val z[2];
    TS_TRY(complex_take(f, v, dtype, &own, z));
    return complex_give(f, dtype, z, out);
}

enum { COMPLEX_UNROLLED = 64 }; /* greatest constant exponent that becomes products */

/* A constant exponent that is a whole number, as an int or a complex one. */
static bool complex_whole(const fr_value *y, int64_t *n)
{
    bool is_complex = y->kind == FR_NUMBER && y->cat == FR_COMPLEX;
    double x = is_complex ? y->as.c[0] : 0;
    if (!is_complex)
        return fr_is_int(y, n) && *n >= -COMPLEX_UNROLLED && *n <= COMPLEX_UNROLLED;
    *n = x >= -COMPLEX_UNROLLED && x <= COMPLEX_UNROLLED ? (int64_t)x : INT64_MAX;
    return y->as.c[1] == 0 && (double)*n == x;
}

static ts_status complex_products(fr *f, const fr_value *x, int64_t n, fr_value *out)
{
    fr_value square = *x, one = fr_real(1);
    bool first = true;
    TS_TRY(complex_tile(f, &one, (ts_dtype)x->dtype, out));
    for (uint64_t left = (uint64_t)(n < 0 ? -n : n); left; left >>= 1) {
        if (left & 1 && first)
            *out = square;
        else if (left & 1)
            TS_TRY(fr_complex_binary(f, TS_OPERATOR_Mult, out, &square, out));
        first = first && !(left & 1);
        if (left > 1)
            TS_TRY(fr_complex_binary(f, TS_OPERATOR_Mult, &square, &square, &square));
    }
    if (n >= 0)
        return TS_OK;
    TS_TRY(complex_tile(f, &one, (ts_dtype)x->dtype, &square));
    return fr_complex_binary(f, TS_OPERATOR_Div, &square, out, out);
}

static ts_status complex_power(fr *f, const fr_value *x, const fr_value *y, ts_dtype dtype, fr_value *out)
{
    ts_val a[2], b[2];
    int64_t n;
    fr_value base;
    TS_TRY(complex_tile(f, x, dtype, &base));
    if (complex_whole(y, &n))
        return complex_products(f, &base, n, out);
    TS_TRY(complex_take(f, &base, dtype, &dtype, a));
    TS_TRY(complex_take(f, y, dtype, &dtype, b));
    ts__cmath_pow(&f->b, a, b, a);
    return complex_give(f, dtype, a, out);
}

ts_status fr_simt_complex_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, ts_dtype dtype,
                                 fr_value *out)
{
    fr_value a, b;
    bool folds = op == TS_OPERATOR_Add || op == TS_OPERATOR_Sub || op == TS_OPERATOR_Mult;
    if (folds && x->kind == FR_NUMBER && y->kind == FR_NUMBER) {
        TS_TRY(fr_simt_convert(f, x, dtype, &a));
        TS_TRY(fr_simt_convert(f, y, dtype, &b));
        return fr_complex_binary(f, op, &a, &b, out);
    }
    if (op == TS_OPERATOR_Pow)
        return complex_power(f, x, y, dtype, out);
    TS_TRY(complex_tile(f, x, dtype, &a));
    TS_TRY(complex_tile(f, y, dtype, &b));
    return fr_complex_binary(f, op, &a, &b, out);
}

ts_status fr_simt_complex_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, ts_dtype dtype,
                                  fr_value *out)
{
    fr_value a, b;
    if (x->kind == FR_NUMBER && y->kind == FR_NUMBER)
        return fr_complex_compare(f, op, x, y, out);
    TS_TRY(complex_tile(f, x, dtype, &a));
    TS_TRY(complex_tile(f, y, dtype, &b));
    return fr_complex_compare(f, op, &a, &b, out);
}

/* ---- attributes ------------------------------------------------------------------------------------------ */

/* z.real and z.imag; a real number is its own real part. */
ts_status fr_simt_number_attribute(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found)
{
    bool is_real = strcmp(name, "real") == 0;
    fr_value re, im, zero = fr_number(0);
    ts_dtype dtype;
    *found = (is_real || strcmp(name, "imag") == 0) && fr_simt_is_number(of);
    if (!*found)
        return TS_OK;
    if (!fr_is_complex(of)) {
        *out = *of;
        TS_TRY(fr_simt_dtype(f, of, &dtype));
        return is_real ? TS_OK : fr_simt_convert(f, &zero, dtype, out);
    }
    TS_TRY(fr_complex_parts(f, of, &re, &im));
    *out = is_real ? re : im;
    return TS_OK;
}

ts_status fr_simt_conjugate(fr *f, const fr_call *c, fr_value *out)
{
    bool done;
    if (!fr_simt_is_number(&c->arg[0]))
        return fr_arg_error(f, c, 0, "a number");
    return fr_simt_complex_call(f, c->node, "numpy.conjugate", 1, c->arg, out, &done);
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

typedef struct complex_call {
    uint32_t node, n;
    const char *name;
    const fr_value *args;
    uint32_t x; /* of the row */
} complex_call;

typedef ts_status complex_fn(fr *f, const complex_call *c, fr_value *out);

/* x: a function of cmath.c */
static ts_status complex_function(fr *f, const complex_call *c, fr_value *out)
{
    ts_val z[2];
    ts_dtype dtype;
    TS_TRY(complex_take(f, &c->args[0], 0, &dtype, z));
    ts__cmath_call(&f->b, (ts_cmath)c->x, z, z);
    return complex_give(f, dtype, z, out);
}

/* log(z, base) */
static ts_status complex_log(fr *f, const complex_call *c, fr_value *out)
{
    fr_value base;
    ts_dtype a, b;
    TS_TRY(complex_function(f, c, out));
    if (c->n == 1)
        return TS_OK;
    complex_call other = {c->node, 1, c->name, &c->args[1], c->x};
    TS_TRY(complex_function(f, &other, &base));
    TS_TRY(fr_simt_dtype(f, out, &a));
    TS_TRY(fr_simt_dtype(f, &base, &b));
    return fr_simt_complex_binary(f, TS_OPERATOR_Div, out, &base, fr_simt_promote(a, b), out);
}

static ts_status complex_operator(fr *f, const complex_call *c, fr_value *out)
{
    if (c->n == 1)
        return fr_unary(f, (ts_operator)c->x, &c->args[0], out);
    return c->x >= TS_OPERATOR_Eq ? fr_compare(f, (ts_operator)c->x, &c->args[0], &c->args[1], out)
                                  : fr_binary(f, (ts_operator)c->x, &c->args[0], &c->args[1], (fr_options){0}, out);
}

/* x: a part, 0 or 1; 2: the angle; 3: the size */
enum { COMPLEX_REAL, COMPLEX_IMAG, COMPLEX_ANGLE, COMPLEX_SIZE };
static ts_status complex_real(fr *f, const complex_call *c, fr_value *out)
{
    ts_val z[2];
    ts_dtype dtype;
    TS_TRY(complex_take(f, &c->args[0], 0, &dtype, z));
    ts_val part = c->x == COMPLEX_ANGLE  ? ts_op2(&f->b, TS_OP_atan2, z[1], z[0], 0)
                  : c->x == COMPLEX_SIZE ? ts_math_call(&f->b, TS_MATH_hypot, z[0], z[1])
                                         : z[c->x == COMPLEX_IMAG];
    *out = fr_tile(complex_part_of(dtype), part);
    return TS_OK;
}

static ts_status complex_polar(fr *f, const complex_call *c, fr_value *out)
{
    fr_value pair[2];
    complex_call size = *c, angle = *c;
    size.x = COMPLEX_SIZE;
    angle.x = COMPLEX_ANGLE;
    TS_TRY(complex_real(f, &size, &pair[0]));
    TS_TRY(complex_real(f, &angle, &pair[1]));
    return fr_tuple(f, 2, pair, out);
}

/* complex(), complex(x), complex(re, im); x: rect(size, angle) */
static ts_status complex_make(fr *f, const complex_call *c, fr_value *out)
{
    fr_value part[2] = {fr_real(0), fr_real(0)};
    ts_dtype a = TS_DTYPE_float64, b = TS_DTYPE_NONE;
    ts_val z[2];
    for (uint32_t i = 0; i < c->n; i++)
        part[i] = c->args[i];
    TS_TRY(fr_simt_dtype(f, &part[0], &a));
    if (c->n == 1)
        return complex_tile(f, &part[0], complex_of(a), out);
    TS_TRY(fr_simt_dtype(f, &part[1], &b));
    if (fr_dtype_cat(a) == FR_COMPLEX || fr_dtype_cat(b) == FR_COMPLEX)
        return fr_error(f, c->node, TS_TILETYPE, "%s() takes two real numbers\n  found: %s and %s", c->name,
                        fr_say(f, &part[0]), fr_say(f, &part[1]));
    ts_dtype dtype = complex_of(fr_simt_promote(a, b));
    TS_TRY(fr_simt_cast(f, &part[0], complex_part_of(dtype), &z[0]));
    TS_TRY(fr_simt_cast(f, &part[1], complex_part_of(dtype), &z[1]));
    if (c->x)
        ts__cmath_call(&f->b, TS_CMATH_rect, z, z);
    return complex_give(f, dtype, z, out);
}

static ts_val complex_is_nan(fr *f, ts_val x)
{
    return ts_cmp(&f->b, TS_OP_cmpf, TS_NE, x, x, TS_A_UNORDERED);
}

/* What Python's and NumPy's isnan, isinf (either part) and isfinite (both) say of the parts. */
enum { COMPLEX_ISNAN, COMPLEX_ISINF, COMPLEX_ISFINITE };
static ts_status complex_question(fr *f, const complex_call *c, fr_value *out)
{
    ts_val z[2], answer[2];
    ts_dtype dtype;
    TS_TRY(complex_take(f, &c->args[0], 0, &dtype, z));
    for (int i = 0; i < 2; i++) {
        ts_val infinite = ts_float(&f->b, ts_type_of(f->b.fn, z[i]), INFINITY);
        ts_val size = ts_op1(&f->b, TS_OP_absf, z[i], 0);
        answer[i] = c->x == COMPLEX_ISNAN   ? complex_is_nan(f, z[i])
                    : c->x == COMPLEX_ISINF ? ts_cmp(&f->b, TS_OP_cmpf, TS_EQ, size, infinite, 0)
                                            : ts_cmp(&f->b, TS_OP_cmpf, TS_LT, size, infinite, 0);
    }
    ts_op both = c->x == COMPLEX_ISFINITE ? TS_OP_andi : TS_OP_ori;
    *out = fr_tile(TS_DTYPE_bool_, ts_op2(&f->b, both, answer[0], answer[1], 0));
    return TS_OK;
}

static ts_status complex_conjugate(fr *f, const complex_call *c, fr_value *out)
{
    ts_val z[2];
    ts_dtype dtype;
    *out = c->args[0];
    if (!fr_is_complex(out))
        return TS_OK;
    TS_TRY(complex_take(f, &c->args[0], 0, &dtype, z));
    z[1] = ts_op1(&f->b, TS_OP_negf, z[1], 0);
    return complex_give(f, dtype, z, out);
}

static ts_status complex_square(fr *f, const complex_call *c, fr_value *out)
{
    return fr_binary(f, TS_OPERATOR_Mult, &c->args[0], &c->args[0], (fr_options){0}, out);
}

static ts_status complex_reciprocal(fr *f, const complex_call *c, fr_value *out)
{
    fr_value one = fr_number(1);
    ts_dtype dtype;
    TS_TRY(fr_simt_dtype(f, &c->args[0], &dtype));
    return fr_simt_complex_binary(f, TS_OPERATOR_Div, &one, &c->args[0], dtype, out);
}

static ts_status complex_bool(fr *f, const complex_call *c, fr_value *out)
{
    return fr_simt_convert(f, &c->args[0], TS_DTYPE_bool_, out);
}

/* x: an operation of bits */
static ts_status complex_logical(fr *f, const complex_call *c, fr_value *out)
{
    return fr_simt_logical(f, (ts_op)c->x, c->n, c->args, out);
}

/* ---- NumPy's order: by the real parts, then by the imaginary ones ------------------------------------------ */

static ts_val complex_has_nan(fr *f, const ts_val z[2])
{
    return ts_op2(&f->b, TS_OP_ori, complex_is_nan(f, z[0]), complex_is_nan(f, z[1]), 0);
}

/* A NaN in an imaginary part is in no order to another number; equal real parts are ordered by `pred` of the others. */
static ts_val complex_in_order(fr *f, ts_pred pred, const ts_val x[2], const ts_val y[2])
{
    ts_builder *b = &f->b;
    ts_pred strict = pred == TS_GE || pred == TS_GT ? TS_GT : TS_LT;
    ts_val beyond = ts_cmp(b, TS_OP_cmpf, strict, x[0], y[0], 0), same = ts_cmp(b, TS_OP_cmpf, TS_EQ, x[0], y[0], 0);
    ts_val nan = ts_op2(b, TS_OP_ori, complex_is_nan(f, x[1]), complex_is_nan(f, y[1]), 0);
    beyond = ts_op2(b, TS_OP_andi, beyond, ts_op2(b, TS_OP_xori, nan, ts_int(b, TS_T_i1, 1), 0), 0);
    same = ts_op2(b, TS_OP_andi, same, ts_cmp(b, TS_OP_cmpf, pred, x[1], y[1], 0), 0);
    return ts_op2(b, TS_OP_ori, beyond, same, 0);
}

/* Both operands in one dtype. */
static ts_status complex_two(fr *f, const complex_call *c, ts_dtype *dtype, ts_val x[2], ts_val y[2])
{
    ts_dtype a, b;
    TS_TRY(fr_simt_dtype(f, &c->args[0], &a));
    TS_TRY(fr_simt_dtype(f, &c->args[1], &b));
    *dtype = complex_of(fr_simt_promote(a, b));
    TS_TRY(complex_take(f, &c->args[0], *dtype, &a, x));
    return complex_take(f, &c->args[1], *dtype, &b, y);
}

/* x: a ts_pred */
static ts_status complex_order(fr *f, const complex_call *c, fr_value *out)
{
    ts_val x[2], y[2];
    ts_dtype dtype;
    TS_TRY(complex_two(f, c, &dtype, x, y));
    *out = fr_tile(TS_DTYPE_bool_, complex_in_order(f, (ts_pred)c->x, x, y));
    return TS_OK;
}

/* x: COMPLEX_ bits. A NaN is what comes out, of the first operand before the second, or what does not. */
enum { COMPLEX_GREATEST = 1, COMPLEX_NO_NAN = 2 };
static ts_status complex_extreme(fr *f, const complex_call *c, fr_value *out)
{
    ts_val x[2], y[2];
    ts_dtype dtype;
    TS_TRY(complex_two(f, c, &dtype, x, y));
    ts_val first = complex_in_order(f, c->x & COMPLEX_GREATEST ? TS_GE : TS_LE, x, y);
    first = ts_op2(&f->b, TS_OP_ori, first, complex_has_nan(f, c->x & COMPLEX_NO_NAN ? y : x), 0);
    for (uint32_t i = 0; i < 2; i++)
        x[i] = ts_select(&f->b, first, x[i], y[i]);
    return complex_give(f, dtype, x, out);
}

enum { COMPLEX_CMATH = 1, COMPLEX_NUMPY = 2, COMPLEX_BUILTIN = 4 };

static const struct complex_row {
    const char *name;
    uint8_t where, least, most;
    complex_fn *lower;
    uint32_t x;
} complex_rows[] = {
#define FN(name, fn) {name, COMPLEX_CMATH | COMPLEX_NUMPY, 1, 1, complex_function, TS_CMATH_##fn}
#define NP(name, fn) {name, COMPLEX_NUMPY, 1, 1, complex_function, TS_CMATH_##fn}
#define ARC(short, long, fn)                                                                                           \
    {short, COMPLEX_CMATH, 1, 1, complex_function, TS_CMATH_##fn},                                                     \
        {long, COMPLEX_NUMPY, 1, 1, complex_function, TS_CMATH_##fn}
#define OPERATOR(name, n, operator) {name, COMPLEX_NUMPY, n, n, complex_operator, TS_OPERATOR_##operator}
#define QUESTION(name, which) {name, COMPLEX_CMATH | COMPLEX_NUMPY, 1, 1, complex_question, which}
    FN("exp", exp), FN("log10", log10), FN("sqrt", sqrt), FN("sin", sin), FN("cos", cos), FN("tan", tan),
    FN("sinh", sinh), FN("cosh", cosh), FN("tanh", tanh), NP("exp2", exp2), NP("expm1", expm1), NP("log2", log2),
    NP("log1p", log1p), NP("log", log), ARC("asin", "arcsin", asin), ARC("acos", "arccos", acos),
    ARC("atan", "arctan", atan), ARC("asinh", "arcsinh", asinh), ARC("acosh", "arccosh", acosh),
    ARC("atanh", "arctanh", atanh), QUESTION("isnan", COMPLEX_ISNAN),
    QUESTION("isinf", COMPLEX_ISINF), QUESTION("isfinite", COMPLEX_ISFINITE),
    {"log", COMPLEX_CMATH, 1, 2, complex_log, TS_CMATH_log},
    {"phase", COMPLEX_CMATH, 1, 1, complex_real, COMPLEX_ANGLE},
    {"angle", COMPLEX_NUMPY, 1, 1, complex_real, COMPLEX_ANGLE},
    {"polar", COMPLEX_CMATH, 1, 1, complex_polar, 0},
    {"rect", COMPLEX_CMATH, 2, 2, complex_make, 1},
    {"complex", COMPLEX_BUILTIN, 0, 2, complex_make, 0},
    {"abs", COMPLEX_BUILTIN | COMPLEX_NUMPY, 1, 1, complex_real, COMPLEX_SIZE},
    {"absolute", COMPLEX_NUMPY, 1, 1, complex_real, COMPLEX_SIZE},
    {"bool", COMPLEX_BUILTIN, 1, 1, complex_bool, 0},
    {"pow", COMPLEX_BUILTIN, 2, 2, complex_operator, TS_OPERATOR_Pow},
    {"real", COMPLEX_NUMPY, 1, 1, complex_real, COMPLEX_REAL},
    {"imag", COMPLEX_NUMPY, 1, 1, complex_real, COMPLEX_IMAG},
    {"conjugate", COMPLEX_NUMPY, 1, 1, complex_conjugate, 0},
    {"conj", COMPLEX_NUMPY, 1, 1, complex_conjugate, 0},
    {"square", COMPLEX_NUMPY, 1, 1, complex_square, 0},
    {"reciprocal", COMPLEX_NUMPY, 1, 1, complex_reciprocal, 0},
    {"logical_and", COMPLEX_NUMPY, 2, 2, complex_logical, TS_OP_andi},
    {"logical_or", COMPLEX_NUMPY, 2, 2, complex_logical, TS_OP_ori},
    {"logical_xor", COMPLEX_NUMPY, 2, 2, complex_logical, TS_OP_xori},
    {"logical_not", COMPLEX_NUMPY, 1, 1, complex_logical, TS_OP_xori},
    OPERATOR("add", 2, Add), OPERATOR("subtract", 2, Sub), OPERATOR("multiply", 2, Mult), OPERATOR("divide", 2, Div),
    OPERATOR("true_divide", 2, Div), OPERATOR("power", 2, Pow), OPERATOR("float_power", 2, Pow),
    OPERATOR("negative", 1, USub), OPERATOR("positive", 1, UAdd), OPERATOR("equal", 2, Eq),
    OPERATOR("not_equal", 2, NotEq),
    {"less", COMPLEX_NUMPY, 2, 2, complex_order, TS_LT},
    {"less_equal", COMPLEX_NUMPY, 2, 2, complex_order, TS_LE},
    {"greater", COMPLEX_NUMPY, 2, 2, complex_order, TS_GT},
    {"greater_equal", COMPLEX_NUMPY, 2, 2, complex_order, TS_GE},
    {"maximum", COMPLEX_NUMPY, 2, 2, complex_extreme, COMPLEX_GREATEST},
    {"minimum", COMPLEX_NUMPY, 2, 2, complex_extreme, 0},
    {"fmax", COMPLEX_NUMPY, 2, 2, complex_extreme, COMPLEX_GREATEST | COMPLEX_NO_NAN},
    {"fmin", COMPLEX_NUMPY, 2, 2, complex_extreme, COMPLEX_NO_NAN},
#undef FN
#undef NP
#undef ARC
#undef OPERATOR
#undef QUESTION
};

static const struct complex_row *complex_find(const char *name, uint32_t where)
{
    for (uint32_t i = 0; i < TS_COUNT(complex_rows); i++)
        if (complex_rows[i].where & where && strcmp(complex_rows[i].name, name) == 0)
            return &complex_rows[i];
    return NULL;
}

static bool complex_is_among(uint32_t n, const fr_value *args)
{
    bool found = false;
    for (uint32_t i = 0; i < n; i++)
        found |= fr_is_complex(&args[i]);
    return found;
}

ts_status fr_simt_complex_call(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args, fr_value *out,
                               bool *done)
{
    bool is_cmath = strncmp(name, "cmath.", 6) == 0, is_numpy = strncmp(name, "numpy.", 6) == 0;
    const char *bare = is_cmath || is_numpy ? name + 6 : name;
    const struct complex_row *row =
        complex_find(bare, is_cmath ? COMPLEX_CMATH : is_numpy ? COMPLEX_NUMPY : COMPLEX_BUILTIN);
    static const char *const alone[] = {"complex", "real", "imag", "conjugate", "conj", "angle"}; /* of real ones */
    bool mine = is_cmath || complex_is_among(n, args);
    for (uint32_t i = 0; i < TS_COUNT(alone) && row; i++)
        mine |= strcmp(alone[i], bare) == 0;
    *done = mine && (row || is_cmath || is_numpy || strncmp(name, "math.", 5) == 0);
    if (!*done)
        return TS_OK;
    if (!row)
        return fr_error(f, node, TS_TILETYPE, "%s() is not defined for complex numbers%s", name,
                        is_cmath ? " in kernels"
                                 : "\n  help: cmath has functions of them; z.real, z.imag and abs(z) are real");
    if (n < row->least || n > row->most)
        return fr_error(f, node, TS_TILETYPE, "%s() takes %u to %u arguments, got %u", name, row->least, row->most, n);
    for (uint32_t i = 0; i < n; i++)
        if (!fr_simt_is_number(&args[i]))
            return fr_error(f, node, TS_TILETYPE, "%s() takes numbers\n  found: %s", name, fr_say(f, &args[i]));
    return row->lower(f, &(complex_call){node, n, name, args, row->x}, out);
}
