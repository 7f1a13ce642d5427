/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators on the scalars of threads. Which dtypes they have says typing.c; values are NumPy's and numba's: integers
 * wrap, // floors, % has the sign of the divisor, division of an integer by zero is 0, shifts by 64 and more move every
 * bit out. Part of the front end (lower.h).
 */
#include "lang/simt/op.h"
#include "table/sm.h"
#include <math.h>

bool fr_simt_is_number(const fr_value *v)
{
    return v->kind == FR_NUMBER || (v->kind == FR_TILE && v->dtype);
}

ts_status fr_simt_dtype(fr *f, const fr_value *v, ts_dtype *out)
{
    *out = (ts_dtype)v->dtype;
    return v->kind == FR_NUMBER ? fr_default_dtype(f, v, out) : TS_OK;
}

/* ---- conversion ---------------------------------------------------------------------------------- */

/* A float beyond an integer dtype becomes its nearest end, a NaN the least integer, or of 32 bits to fewer 0: as GPUs
 * convert. */
static fr_value arith_saturated(double x, ts_dtype from, ts_dtype dtype)
{
    uint32_t bits = fr_dtype_bits(dtype);
    fr_int one = 1, high = (one << (fr_dtype_is_signed(dtype) ? bits - 1 : bits)) - 1;
    fr_int low = fr_dtype_is_signed(dtype) ? -(one << (bits - 1)) : 0;
    bool narrow = from && fr_dtype_bits(from) < 64 && bits < 64;
    if (isnan(x))
        return fr_strict(dtype, narrow ? 0 : one << (bits - 1));
    return fr_strict(dtype, x >= (double)high ? high : x <= (double)low ? low : (fr_int)x);
}

ts_status fr_simt_convert(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out)
{
    fr_value member;
    TS_TRY(fr_member_value(f, &v, &member));
    if (v->kind == FR_NUMBER && v->cat == FR_FLOAT && fr_dtype_is_int(dtype)) {
        *out = arith_saturated(v->as.f, (ts_dtype)v->dtype, dtype);
        return TS_OK;
    }
    if (!fr_simt_is_number(v))
        return fr_error(f, 0, TS_TILETYPE, "found %s where a number is wanted", fr_say(f, v));
    if (fr_is_complex(v) && fr_dtype_cat(dtype) != FR_COMPLEX && dtype != TS_DTYPE_bool_)
        return fr_error(f, 0, TS_TILETYPE, "%s cannot become %s: that would lose its imaginary part\n  help: take "
                        "z.real, z.imag or abs(z)", fr_say(f, v), ts_dtype_name(dtype));
    return fr_convert(f, v, dtype, dtype == TS_DTYPE_float8_e8m0fnu ? TS_RP : TS_RN, out); /* as CUDA's */
}

ts_status fr_simt_cast(fr *f, const fr_value *v, ts_dtype dtype, ts_val *out)
{
    fr_value made;
    TS_TRY(fr_simt_convert(f, v, dtype, &made));
    *out = made.kind == FR_NUMBER ? fr_constant(f, &made, dtype, NULL) : made.as.v;
    return TS_OK;
}

/* ---- constants ----------------------------------------------------------------------------------- */

static fr_int arith_floor(fr_int a, fr_int b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static fr_int arith_fold_power(fr_int x, fr_int n, ts_dtype dtype)
{
    fr_value r = fr_strict(dtype, 1);
    if (n < 0)
        return x == 0 ? (fr_int)INT64_MIN : x == 1 || (x == -1 && n % 2 == 0) ? 1 : x == -1 ? -1 : 0;
    for (; n; n >>= 1) {
        if (n & 1)
            r = fr_strict(dtype, r.as.i * x);
        x = fr_strict(dtype, x * x).as.i;
    }
    return r.as.i;
}

static fr_int arith_fold_int(ts_operator op, fr_int a, fr_int b, ts_dtype dtype)
{
    bool least = fr_dtype_is_signed(dtype) && a == (fr_int)INT64_MIN && b == -1;
    switch (op) {
    case TS_OPERATOR_Add:
        return a + b;
    case TS_OPERATOR_Sub:
        return a - b;
    case TS_OPERATOR_Mult:
        return (fr_int)((uint64_t)a * (uint64_t)b);
    case TS_OPERATOR_FloorDiv:
        return b == 0 || least ? 0 : arith_floor(a, b);
    case TS_OPERATOR_Mod:
        return b == 0 || least ? 0 : a - arith_floor(a, b) * b;
    case TS_OPERATOR_Pow:
        return arith_fold_power(a, b, dtype);
    case TS_OPERATOR_LShift:
        return (uint64_t)b > 63 ? 0 : (fr_int)((uint64_t)a << b);
    case TS_OPERATOR_RShift:
        return (uint64_t)b > 63 ? (a < 0 ? -1 : 0) : a >> b;
    case TS_OPERATOR_BitOr:
        return a | b;
    case TS_OPERATOR_BitXor:
        return a ^ b;
    default:
        return a & b;
    }
}

static double arith_fold_mod(double a, double b)
{
    double r = fmod(a, b);
    return r == 0 ? copysign(0, b) : (r < 0) != (b < 0) ? r + b : r;
}

static double arith_fold_floor(double a, double b)
{
    double r = fmod(a, b), q = (a - r) / b;
    if (b == 0)
        return a / b;
    if (r != 0 && (r < 0) != (b < 0))
        q -= 1;
    double whole = floor(q);
    whole += q - whole > 0.5;
    return q == 0 ? copysign(0, a / b) : whole;
}

static double arith_fold_float(ts_operator op, double a, double b)
{
    return op == TS_OPERATOR_Add   ? a + b
           : op == TS_OPERATOR_Sub ? a - b
           : op == TS_OPERATOR_Mult ? a * b
           : op == TS_OPERATOR_Div  ? a / b
           : op == TS_OPERATOR_Mod  ? arith_fold_mod(a, b)
           : op == TS_OPERATOR_FloorDiv ? arith_fold_floor(a, b)
                                        : pow(a, b);
}

/* Operands of the rule's dtypes. */
static ts_status arith_fold(fr *f, ts_operator op, const fr_rule *rule, const fr_value *x, const fr_value *y,
                            fr_value *out)
{
    if (fr_dtype_cat(rule->result) == FR_FLOAT) {
        fr_value v = fr_real(arith_fold_float(op, fr_as_double(x), fr_as_double(y)));
        return fr_round(f, &v, rule->result, out);
    }
    *out = fr_strict(rule->result, arith_fold_int(op, x->as.i, y->as.i, rule->result));
    return TS_OK;
}

/* ---- code ------------------------------------------------------------------------------------------ */

static ts_val arith_zero(fr *f, ts_val like)
{
    return ts_bits(&f->b, ts_type_of(f->b.fn, like), 0);
}

static ts_val arith_not(fr *f, ts_val x)
{
    return ts_op2(&f->b, TS_OP_xori, x, ts_int(&f->b, TS_T_i1, 1), 0);
}

/* The remainder has the divisor's sign, a zero as well. */
static ts_val arith_float_mod(fr *f, ts_val x, ts_val y)
{
    ts_builder *b = &f->b;
    ts_val r = ts_op2(b, TS_OP_remf, x, y, 0), zero = arith_zero(f, x);
    ts_val differs = ts_op2(b, TS_OP_xori, ts_cmp(b, TS_OP_cmpf, TS_LT, r, zero, 0),
                            ts_cmp(b, TS_OP_cmpf, TS_LT, y, zero, 0), 0);
    ts_val is_zero = ts_cmp(b, TS_OP_cmpf, TS_EQ, r, zero, 0);
    ts_val made = ts_select(b, differs, ts_op2(b, TS_OP_addf, r, y, 0), r);
    return ts_select(b, is_zero, ts_math_call(b, TS_MATH_copysign, zero, y), made);
}

/* As CPython's: of x - remainder, which y divides nearly, the nearest whole number. */
static ts_val arith_float_floor(fr *f, ts_val x, ts_val y)
{
    ts_builder *b = &f->b;
    ts_type type = ts_type_of(b->fn, x);
    ts_val zero = arith_zero(f, x), one = ts_float(b, type, 1), r = ts_op2(b, TS_OP_remf, x, y, 0);
    ts_val differs = ts_op2(b, TS_OP_xori, ts_cmp(b, TS_OP_cmpf, TS_LT, r, zero, 0),
                            ts_cmp(b, TS_OP_cmpf, TS_LT, y, zero, 0), 0);
    ts_val inexact = ts_cmp(b, TS_OP_cmpf, TS_NE, r, zero, TS_A_UNORDERED);
    ts_val q = ts_op2(b, TS_OP_divf, ts_op2(b, TS_OP_subf, x, r, 0), y, 0), plain = ts_op2(b, TS_OP_divf, x, y, 0);
    q = ts_select(b, ts_op2(b, TS_OP_andi, differs, inexact, 0), ts_op2(b, TS_OP_subf, q, one, 0), q);
    ts_val whole = ts_op1(b, TS_OP_floor, q, 0), rest = ts_op2(b, TS_OP_subf, q, whole, 0);
    ts_val up = ts_cmp(b, TS_OP_cmpf, TS_GT, rest, ts_float(b, type, 0.5), 0);
    whole = ts_select(b, up, ts_op2(b, TS_OP_addf, whole, one, 0), whole);
    ts_val none = ts_cmp(b, TS_OP_cmpf, TS_EQ, q, zero, 0);
    whole = ts_select(b, none, ts_math_call(b, TS_MATH_copysign, zero, plain), whole);
    return ts_select(b, ts_cmp(b, TS_OP_cmpf, TS_EQ, y, zero, 0), plain, whole);
}

/* The least number by -1 has the quotient 0, as numba's. */
static ts_val arith_int_floor(fr *f, ts_val x, ts_val y, ts_dtype dtype)
{
    ts_builder *b = &f->b;
    int64_t known;
    ts_type type = ts_type_of(b->fn, x);
    bool is_signed = fr_dtype_is_signed(dtype);
    ts_val q = fr_int_div(f, TS_OP_divi, x, y, is_signed ? TS_RM : TS_A_UNSIGNED | TS_RZ);
    if (!is_signed || (ts__const_as_int(b->fn, y, &known) && known != -1) || fr_simt_width(f, x, 0) < 64)
        return q;
    ts_val least = ts_cmp(b, TS_OP_cmpi, TS_EQ, x, ts_int(b, type, INT64_MIN), 0);
    ts_val both = ts_op2(b, TS_OP_andi, least, ts_cmp(b, TS_OP_cmpi, TS_EQ, y, ts_int(b, type, -1), 0), 0);
    return ts_select(b, both, arith_zero(f, x), q);
}

static ts_val arith_int_mod(fr *f, ts_val x, ts_val y, ts_dtype dtype)
{
    ts_builder *b = &f->b;
    int64_t known;
    if (ts__const_as_int(b->fn, y, &known) && ts_is_pow2(known))
        return ts_op2(b, TS_OP_andi, x, ts_int(b, ts_type_of(b->fn, x), known - 1), 0);
    ts_val r = fr_int_div(f, TS_OP_remi, x, y, fr_dtype_is_signed(dtype) ? 0 : TS_A_UNSIGNED), zero = arith_zero(f, x);
    if (!fr_dtype_is_signed(dtype) || (fr_simt_width(f, x, 0) < 64 && fr_simt_width(f, y, 0) < 64))
        return r;
    ts_val differs = ts_cmp(b, TS_OP_cmpi, TS_LT, ts_op2(b, TS_OP_xori, r, y, 0), zero, 0);
    ts_val fix = ts_op2(b, TS_OP_andi, differs, ts_cmp(b, TS_OP_cmpi, TS_NE, r, zero, 0), 0);
    return ts_select(b, fix, ts_op2(b, TS_OP_addi, r, y, 0), r);
}

/* x to the power |n| in a loop, and what a negative n makes of it. */
ts_val fr_simt_int_power(fr *f, ts_dtype dtype, ts_val x, ts_val n, ts_dtype n_dtype)
{
    ts_builder *b = &f->b;
    ts_type type = ts_type_of(b->fn, x), n_type = ts_type_of(b->fn, n);
    bool real = fr_dtype_is_float(dtype), is_signed = fr_dtype_is_signed(n_dtype);
    ts_op mul = real ? TS_OP_mulf : TS_OP_muli;
    ts_val zero = ts_int(b, n_type, 0), one = real ? ts_float(b, type, 1) : ts_int(b, type, 1), negative = 0, count = n;
    if (is_signed) {
        negative = ts_cmp(b, TS_OP_cmpi, TS_LT, n, zero, 0);
        count = ts_select(b, negative, ts_op2(b, TS_OP_subi, zero, n, 0), n);
    }
    ts_val loop = ts_loop_begin(b, 3, (ts_val[]){one, x, count});
    ts_val made = ts_region_arg(b->fn, loop, 0), square = ts_region_arg(b->fn, loop, 1),
           left = ts_region_arg(b->fn, loop, 2);
    ts_val guard = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_NE, left, zero, 0));
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_break, 3, (ts_val[]){made, square, left});
    ts_end(b, guard, 0, NULL);
    ts_val odd = ts_cmp(b, TS_OP_cmpi, TS_NE, ts_op2(b, TS_OP_andi, left, ts_int(b, n_type, 1), 0), zero, 0);
    ts_val next = ts_select(b, odd, ts_op2(b, mul, made, square, 0), made);
    ts_term(b, TS_OP_continue, 3,
            (ts_val[]){next, ts_op2(b, mul, square, square, 0),
                       ts_op2(b, TS_OP_shri, left, ts_int(b, n_type, 1), TS_A_UNSIGNED)});
    ts_end_like(b, loop);
    made = b->fn->inst.n - 3;
    if (!is_signed)
        return made;
    if (real)
        return ts_select(b, negative, ts_op2(b, TS_OP_divf, one, made, 0), made);
    ts_val bits = ts_op2(b, TS_OP_addi, x, one, 0); /* 0, 1 and 2 of -1, 0 and 1 */
    ts_val unit = ts_op2(b, TS_OP_andi, ts_cmp(b, TS_OP_cmpi, TS_LE, bits, ts_int(b, type, 2), TS_A_UNSIGNED),
                         ts_cmp(b, TS_OP_cmpi, TS_NE, x, ts_int(b, type, 0), 0), 0);
    ts_val inverse = ts_select(b, unit, made, ts_int(b, type, 0));
    ts_val of_zero = ts_cmp(b, TS_OP_cmpi, TS_EQ, x, ts_int(b, type, 0), 0);
    inverse = ts_select(b, of_zero, ts_int(b, type, INT64_MIN), inverse);
    return ts_select(b, negative, inverse, made);
}

enum { ARITH_UNROLLED = 64 }; /* greatest constant exponent that becomes products */

static ts_val arith_constant_power(fr *f, ts_dtype dtype, ts_val x, int64_t n)
{
    ts_builder *b = &f->b;
    bool real = fr_dtype_is_float(dtype);
    ts_op mul = real ? TS_OP_mulf : TS_OP_muli;
    ts_val one = real ? ts_float(b, ts_type_of(b->fn, x), 1) : ts_int(b, ts_type_of(b->fn, x), 1), made = 0;
    for (uint64_t left = (uint64_t)(n < 0 ? -n : n); left; left >>= 1) {
        if (left & 1)
            made = made ? ts_op2(b, mul, made, x, 0) : x;
        if (left > 1)
            x = ts_op2(b, mul, x, x, 0);
    }
    made = made ? made : one;
    return n < 0 ? ts_op2(b, TS_OP_divf, one, made, 0) : made;
}

static ts_val arith_power(fr *f, const fr_rule *rule, ts_val x, ts_val y)
{
    bool real = fr_dtype_is_float(rule->x);
    int64_t n;
    if (real && fr_dtype_is_float(rule->y))
        return ts_op2(&f->b, TS_OP_pow, x, y, 0);
    if (ts__const_as_int(f->b.fn, y, &n) && n <= ARITH_UNROLLED && n >= (real ? -ARITH_UNROLLED : 0))
        return arith_constant_power(f, rule->x, x, n);
    return fr_simt_int_power(f, rule->x, x, y, rule->y);
}

static const struct {
    ts_op i, f;
} arith_ops[TS_OPERATOR_COUNT] = {
    [TS_OPERATOR_Add] = {TS_OP_addi, TS_OP_addf},    [TS_OPERATOR_Sub] = {TS_OP_subi, TS_OP_subf},
    [TS_OPERATOR_Mult] = {TS_OP_muli, TS_OP_mulf},   [TS_OPERATOR_Div] = {TS_OP_none, TS_OP_divf},
    [TS_OPERATOR_LShift] = {TS_OP_shli, TS_OP_none}, [TS_OPERATOR_RShift] = {TS_OP_shri, TS_OP_none},
    [TS_OPERATOR_BitAnd] = {TS_OP_andi, TS_OP_none}, [TS_OPERATOR_BitOr] = {TS_OP_ori, TS_OP_none},
    [TS_OPERATOR_BitXor] = {TS_OP_xori, TS_OP_none},
};

static ts_val arith_emit(fr *f, ts_operator op, const fr_rule *rule, ts_val x, ts_val y)
{
    bool real = fr_dtype_is_float(rule->x);
    switch (op) {
    case TS_OPERATOR_Pow:
        return arith_power(f, rule, x, y);
    case TS_OPERATOR_FloorDiv:
        return real ? arith_float_floor(f, x, y) : arith_int_floor(f, x, y, rule->x);
    case TS_OPERATOR_Mod:
        return real ? arith_float_mod(f, x, y) : arith_int_mod(f, x, y, rule->x);
    case TS_OPERATOR_RShift:
        return ts_op2(&f->b, TS_OP_shri, x, y, fr_dtype_is_signed(rule->x) ? 0 : TS_A_UNSIGNED);
    default:
        return ts_op2(&f->b, real ? arith_ops[op].f : arith_ops[op].i, x, y, 0);
    }
}

/* ---- operators --------------------------------------------------------------------------------------- */

static ts_status arith_rule(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_rule *rule)
{
    ts_dtype a, b = TS_DTYPE_NONE;
    TS_TRY(fr_simt_dtype(f, x, &a));
    if (y)
        TS_TRY(fr_simt_dtype(f, y, &b));
    if (fr_simt_rule(op, a, b, rule))
        return TS_OK;
    bool bits = op >= TS_OPERATOR_LShift && op <= TS_OPERATOR_BitAnd;
    return fr_bad_operands(f, op, x, y, bits ? "only integers and bools have bits; convert with int(x)" : NULL);
}

ts_status fr_simt_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options, fr_value *out)
{
    fr_rule rule;
    ts_val a, b;
    (void)options;
    TS_TRY(arith_rule(f, op, x, y, &rule));
    if (fr_dtype_cat(rule.x) == FR_COMPLEX)
        return fr_simt_complex_binary(f, op, x, y, rule.x, out);
    if ((op == TS_OPERATOR_Div || op == TS_OPERATOR_FloorDiv || op == TS_OPERATOR_Mod) &&
        fr_simt_reports(f, TS_CHECK_IMPLIED)) {
        TS_TRY(fr_simt_cast(f, y, rule.y, &b));
        fr_simt_check_zero(f, b);
    }
    if (x->kind == FR_NUMBER && y->kind == FR_NUMBER) {
        fr_value left, right;
        TS_TRY(fr_simt_convert(f, x, rule.x, &left));
        TS_TRY(fr_simt_convert(f, y, rule.y, &right));
        return arith_fold(f, op, &rule, &left, &right, out);
    }
    TS_TRY(fr_simt_cast(f, x, rule.x, &a));
    TS_TRY(fr_simt_cast(f, y, rule.y, &b));
    *out = fr_tile(rule.result, arith_emit(f, op, &rule, a, b));
    return TS_OK;
}

static fr_int arith_fold_one(ts_operator op, const fr_value *x)
{
    return op == TS_OPERATOR_Invert ? (x->dtype == TS_DTYPE_bool_ ? !x->as.i : ~x->as.i)
           : op == TS_OPERATOR_USub ? -x->as.i
                                    : x->as.i;
}

static ts_status arith_unary_number(fr *f, ts_operator op, const fr_rule *rule, const fr_value *x, fr_value *out)
{
    fr_value v;
    TS_TRY(fr_simt_convert(f, x, rule->x, &v));
    *out = v;
    if (v.cat == FR_FLOAT)
        out->as.f = op == TS_OPERATOR_USub ? -v.as.f : v.as.f;
    else
        *out = fr_strict(rule->result, fr_strict(rule->x, arith_fold_one(op, &v)).as.i);
    return TS_OK;
}

ts_status fr_simt_unary(fr *f, ts_operator op, const fr_value *x, fr_value *out)
{
    fr_rule rule;
    ts_val v;
    TS_TRY(arith_rule(f, op, x, NULL, &rule));
    *out = *x;
    if (fr_is_complex(x))
        return op == TS_OPERATOR_USub ? fr_complex_negate(f, x, out) : TS_OK;
    if (x->kind == FR_NUMBER)
        return arith_unary_number(f, op, &rule, x, out);
    TS_TRY(fr_simt_cast(f, x, rule.x, &v));
    if (op == TS_OPERATOR_USub)
        v = ts_op1(&f->b, fr_dtype_is_float(rule.x) ? TS_OP_negf : TS_OP_negi, v, 0);
    if (op == TS_OPERATOR_Invert)
        v = ts_op2(&f->b, TS_OP_xori, v, ts_int(&f->b, ts_type_of(f->b.fn, v), rule.x == TS_DTYPE_bool_ ? 1 : -1), 0);
    fr_value made = fr_tile(rule.x, v);
    return fr_simt_convert(f, &made, rule.result, out);
}

/* ---- comparison -------------------------------------------------------------------------------------- */

/* An int64 with a uint64: a negative one is less than all of the other side. */
static ts_val arith_compare_mixed(fr *f, ts_pred pred, ts_val x, ts_val y, bool signed_left)
{
    ts_val side = signed_left ? x : y, negative = ts_cmp(&f->b, TS_OP_cmpi, TS_LT, side, arith_zero(f, side), 0);
    ts_val plain = ts_cmp(&f->b, TS_OP_cmpi, pred, x, y, TS_A_UNSIGNED);
    bool holds = pred == TS_NE || (signed_left ? pred == TS_LT || pred == TS_LE : pred == TS_GT || pred == TS_GE);
    return ts_op2(&f->b, holds ? TS_OP_ori : TS_OP_andi, plain, holds ? negative : arith_not(f, negative), 0);
}

static ts_val arith_compare(fr *f, ts_pred pred, const fr_rule *rule, ts_val x, ts_val y)
{
    bool signed_x = fr_dtype_is_signed(rule->x);
    if (fr_dtype_is_float(rule->x))
        return ts_cmp(&f->b, TS_OP_cmpf, pred, x, y, pred == TS_NE ? TS_A_UNORDERED : 0);
    if (rule->x == TS_DTYPE_bool_)
        return ts_cmp(&f->b, TS_OP_cmpi, pred, x, y, TS_A_UNSIGNED);
    if (signed_x != fr_dtype_is_signed(rule->y))
        return arith_compare_mixed(f, pred, x, y, signed_x);
    return ts_cmp(&f->b, TS_OP_cmpi, pred, x, y, signed_x ? 0 : TS_A_UNSIGNED);
}

/* A constant that the other side's dtype holds is compared in it: `i < 10` of an int32 needs no more bits. */
static void arith_narrow(const fr_value *x, const fr_value *y, fr_rule *rule)
{
    const fr_value *number = x->kind == FR_NUMBER ? x : y, *other = x->kind == FR_NUMBER ? y : x;
    if (number->kind == FR_NUMBER && number->cat <= FR_INT && fr_dtype_is_int((ts_dtype)other->dtype) &&
        number->as.i >= 0 && fr_fits(number, (ts_dtype)other->dtype))
        rule->x = rule->y = (ts_dtype)other->dtype;
}

ts_status fr_simt_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    static const ts_pred preds[] = {TS_EQ, TS_NE, TS_LT, TS_LE, TS_GT, TS_GE};
    fr_rule rule;
    ts_val a, b;
    TS_TRY(arith_rule(f, op, x, y, &rule));
    if (fr_dtype_cat(rule.x) == FR_COMPLEX)
        return fr_simt_complex_compare(f, op, x, y, rule.x, out);
    if (x->kind == FR_NUMBER && y->kind == FR_NUMBER) {
        *out = fr_bool(fr_order_holds(op, fr_order(x, y)));
        return TS_OK;
    }
    arith_narrow(x, y, &rule);
    TS_TRY(fr_simt_cast(f, x, rule.x, &a));
    TS_TRY(fr_simt_cast(f, y, rule.y, &b));
    *out = fr_tile(TS_DTYPE_bool_, arith_compare(f, preds[op - TS_OPERATOR_Eq], &rule, a, b));
    return TS_OK;
}

/* The second where it is beyond the first, as Python chooses: a NaN stays where it stands first. */
ts_status fr_simt_minmax(fr *f, bool is_max, const fr_value *x, const fr_value *y, uint32_t attr, fr_value *out)
{
    ts_dtype a, b;
    (void)attr;
    TS_TRY(fr_simt_dtype(f, x, &a));
    TS_TRY(fr_simt_dtype(f, y, &b));
    ts_dtype dtype = fr_simt_promote(a, b);
    if (!dtype || a == TS_DTYPE_bool_ || b == TS_DTYPE_bool_ || fr_dtype_cat(dtype) == FR_COMPLEX)
        return fr_error(f, 0, TS_TILETYPE, "%s() compares real numbers\n  found: %s and %s\n  help: convert bools with "
                        "int(x)", is_max ? "max" : "min", fr_say(f, x), fr_say(f, y));
    fr_value left, right, beyond;
    TS_TRY(fr_simt_convert(f, x, dtype, &left));
    TS_TRY(fr_simt_convert(f, y, dtype, &right));
    TS_TRY(fr_simt_compare(f, is_max ? TS_OPERATOR_Gt : TS_OPERATOR_Lt, &right, &left, &beyond));
    if (beyond.kind == FR_NUMBER) {
        *out = beyond.as.i ? right : left;
        return TS_OK;
    }
    ts_val u, v;
    TS_TRY(fr_simt_cast(f, &left, dtype, &u));
    TS_TRY(fr_simt_cast(f, &right, dtype, &v));
    *out = fr_tile(dtype, ts_select(&f->b, beyond.as.v, v, u));
    return TS_OK;
}

ts_status fr_simt_truth(fr *f, const fr_value *v, ts_val *out)
{
    bool known, truth;
    TS_TRY(fr_condition(f, 0, v, &known, &truth, out));
    if (known)
        *out = ts_int(&f->b, TS_T_i1, truth);
    return TS_OK;
}
