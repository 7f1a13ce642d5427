/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators: folded when both sides are numbers, IR otherwise. Meaning is Python's: // floors, %
 * has the sign of the divisor, / of integers is float32, != of NaN is true. Part of the front end
 * (lower.h).
 */
#include "lang/lower.h"
#include <math.h>

static const struct {
    const char *sign, *verb;
    ts_op i, f;
    const char *method; /* of classes; that of the right side is __radd__ for __add__ */
} arith_rows[TS_OPERATOR_COUNT] = {
    [TS_OPERATOR_Add] = {"+", "add", TS_OP_addi, TS_OP_addf, "__add__"},
    [TS_OPERATOR_Sub] = {"-", "subtract", TS_OP_subi, TS_OP_subf, "__sub__"},
    [TS_OPERATOR_Mult] = {"*", "multiply", TS_OP_muli, TS_OP_mulf, "__mul__"},
    [TS_OPERATOR_Div] = {"/", "divide", TS_OP_none, TS_OP_divf, "__truediv__"},
    [TS_OPERATOR_FloorDiv] = {"//", "floor-divide", TS_OP_divi, TS_OP_divf, "__floordiv__"},
    [TS_OPERATOR_Mod] = {"%", "take the remainder of", TS_OP_remi, TS_OP_remf, "__mod__"},
    [TS_OPERATOR_Pow] = {"**", "raise", TS_OP_none, TS_OP_pow, "__pow__"},
    [TS_OPERATOR_MatMult] = {"@", "multiply", TS_OP_none, TS_OP_none, "__matmul__"},
    [TS_OPERATOR_LShift] = {"<<", "shift", TS_OP_shli, TS_OP_none, "__lshift__"},
    [TS_OPERATOR_RShift] = {">>", "shift", TS_OP_shri, TS_OP_none, "__rshift__"},
    [TS_OPERATOR_BitOr] = {"|", "combine", TS_OP_ori, TS_OP_none, "__or__"},
    [TS_OPERATOR_BitXor] = {"^", "combine", TS_OP_xori, TS_OP_none, "__xor__"},
    [TS_OPERATOR_BitAnd] = {"&", "combine", TS_OP_andi, TS_OP_none, "__and__"},
    [TS_OPERATOR_UAdd] = {"+", "take plus of", TS_OP_none, TS_OP_none, "__pos__"},
    [TS_OPERATOR_USub] = {"-", "negate", TS_OP_negi, TS_OP_negf, "__neg__"},
    [TS_OPERATOR_Invert] = {"~", "invert", TS_OP_xori, TS_OP_none, "__invert__"},
    [TS_OPERATOR_Not] = {"not", "negate", TS_OP_none, TS_OP_none},
    [TS_OPERATOR_And] = {"and", "combine", TS_OP_none, TS_OP_none},
    [TS_OPERATOR_Or] = {"or", "combine", TS_OP_none, TS_OP_none},
    [TS_OPERATOR_Eq] = {"==", "compare", TS_OP_none, TS_OP_none, "__eq__"},
    [TS_OPERATOR_NotEq] = {"!=", "compare", TS_OP_none, TS_OP_none, "__ne__"},
    [TS_OPERATOR_Lt] = {"<", "compare", TS_OP_none, TS_OP_none, "__lt__"},
    [TS_OPERATOR_LtE] = {"<=", "compare", TS_OP_none, TS_OP_none, "__le__"},
    [TS_OPERATOR_Gt] = {">", "compare", TS_OP_none, TS_OP_none, "__gt__"},
    [TS_OPERATOR_GtE] = {">=", "compare", TS_OP_none, TS_OP_none, "__ge__"},
    [TS_OPERATOR_Is] = {"is", "compare", TS_OP_none, TS_OP_none},
    [TS_OPERATOR_IsNot] = {"is not", "compare", TS_OP_none, TS_OP_none},
    [TS_OPERATOR_In] = {"in", "search", TS_OP_none, TS_OP_none, "__contains__"},
    [TS_OPERATOR_NotIn] = {"not in", "search", TS_OP_none, TS_OP_none},
};

const char *fr_operator_sign(ts_operator op)
{
    return arith_rows[op].sign ? arith_rows[op].sign : "?";
}

/* ---- methods of classes --------------------------------------------------------------- */

static bool arith_is_not_implemented(const fr *f, const fr_value *v)
{
    return v->kind == FR_OPAQUE && strcmp(fr_string(f, f->pack.objects[v->as.object].x), "NotImplementedType") == 0;
}

static ts_status arith_call(fr *f, const char *name, const fr_value *self, const fr_value *other, fr_value *out,
                            bool *done)
{
    fr_value method;
    TS_TRY(fr_record_method(f, self, name, &method, done));
    if (!*done)
        return TS_OK;
    TS_TRY(fr_call_value(f, &method, f->node, other ? 1 : 0, other, out));
    *done = !arith_is_not_implemented(f, out);
    return TS_OK;
}

/* The method of the right side: a < b asks b for b > a. */
static const char *arith_reflected(fr *f, ts_operator op)
{
    static const ts_operator mirror[TS_OPERATOR_COUNT] = {
        [TS_OPERATOR_Eq] = TS_OPERATOR_Eq,   [TS_OPERATOR_NotEq] = TS_OPERATOR_NotEq,
        [TS_OPERATOR_Lt] = TS_OPERATOR_Gt,   [TS_OPERATOR_Gt] = TS_OPERATOR_Lt,
        [TS_OPERATOR_LtE] = TS_OPERATOR_GtE, [TS_OPERATOR_GtE] = TS_OPERATOR_LtE,
    };
    return mirror[op] ? arith_rows[mirror[op]].method : fr_textf(f, "__r%s", arith_rows[op].method + 2);
}

/* By a method that the user wrote for the operator, of x or else of y; `done` where there is one. */
static ts_status arith_method(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out, bool *done)
{
    const fr_value left = *x, right = y ? *y : *x; /* *out may be one of them */
    *done = false;
    if (left.cls && arith_rows[op].method)
        TS_TRY(arith_call(f, arith_rows[op].method, &left, y ? &right : NULL, out, done));
    if (!*done && y && right.cls && arith_rows[op].method)
        TS_TRY(arith_call(f, arith_reflected(f, op), &right, &left, out, done));
    return TS_OK;
}

ts_status fr_bad_operands(fr *f, ts_operator op, const fr_value *x, const fr_value *y,
                           const char *help)
{
    bool array = x->kind == FR_ARRAY || (y && y->kind == FR_ARRAY);
    if (array)
        help = f->dialect->elements;
    else if (!help && (x->kind == FR_TUPLE || (y && y->kind == FR_TUPLE)))
        help = f->dialect->tuples;
    if (!y)
        return fr_error(f, 0, TS_TILETYPE, "cannot %s %s with '%s'%s%s", arith_rows[op].verb,
                        fr_say(f, x), fr_operator_sign(op), help ? "\n  help: " : "",
                        help ? help : "");
    return fr_error(f, 0, TS_TILETYPE, "cannot %s %s and %s with '%s'%s%s", arith_rows[op].verb,
                    fr_say(f, x), fr_say(f, y), fr_operator_sign(op), help ? "\n  help: " : "",
                    help ? help : "");
}

/* ---- folding ------------------------------------------------------------------------- */

static bool arith_int_pow(fr_int x, fr_int n, fr_int *out)
{
    fr_int result = 1;
    for (; n; n >>= 1) {
        if (n & 1 && __builtin_mul_overflow(result, x, &result))
            return false;
        if (n > 1 && __builtin_mul_overflow(x, x, &x))
            return false;
    }
    *out = result;
    return true;
}

static fr_int arith_floor_div(fr_int a, fr_int b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/* False when the result does not fit or is not defined. */
static bool arith_fold_int(ts_operator op, fr_int a, fr_int b, fr_int *out)
{
    switch (op) {
    case TS_OPERATOR_Add:
        return !__builtin_add_overflow(a, b, out);
    case TS_OPERATOR_Sub:
        return !__builtin_sub_overflow(a, b, out);
    case TS_OPERATOR_Mult:
        return !__builtin_mul_overflow(a, b, out);
    case TS_OPERATOR_FloorDiv:
        *out = arith_floor_div(a, b);
        return true;
    case TS_OPERATOR_Mod:
        *out = a - arith_floor_div(a, b) * b;
        return true;
    case TS_OPERATOR_Pow:
        return arith_int_pow(a, b, out);
    case TS_OPERATOR_LShift:
        if (b < 0 || b > 120)
            return false;
        return !__builtin_mul_overflow(a, (fr_int)1 << b, out);
    case TS_OPERATOR_RShift:
        if (b < 0)
            return false;
        *out = b > 126 ? (a < 0 ? -1 : 0) : a >> b;
        return true;
    case TS_OPERATOR_BitOr:
        *out = a | b;
        return true;
    case TS_OPERATOR_BitXor:
        *out = a ^ b;
        return true;
    case TS_OPERATOR_BitAnd:
        *out = a & b;
        return true;
    default:
        return false;
    }
}

static double arith_fold_float(ts_operator op, double a, double b)
{
    switch (op) {
    case TS_OPERATOR_Add:
        return a + b;
    case TS_OPERATOR_Sub:
        return a - b;
    case TS_OPERATOR_Mult:
        return a * b;
    case TS_OPERATOR_Div:
        return a / b;
    case TS_OPERATOR_FloorDiv:
        return floor(a / b);
    case TS_OPERATOR_Mod: {
        double r = fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    default:
        return pow(a, b);
    }
}

static bool arith_is_bitwise(ts_operator op)
{
    return op >= TS_OPERATOR_LShift && op <= TS_OPERATOR_BitAnd;
}

static bool arith_divides(ts_operator op)
{
    return op == TS_OPERATOR_Div || op == TS_OPERATOR_FloorDiv || op == TS_OPERATOR_Mod;
}

/* Both loose: as Python computes. */
static ts_status arith_fold_loose(fr *f, ts_operator op, const fr_value *x, const fr_value *y,
                                  fr_value *out)
{
    bool real = x->cat == FR_FLOAT || y->cat == FR_FLOAT || op == TS_OPERATOR_Div ||
                (op == TS_OPERATOR_Pow && y->as.i < 0);
    if (real && arith_is_bitwise(op))
        return fr_bad_operands(f, op, x, y, NULL);
    if (arith_divides(op) && fr_as_double(y) == 0)
        return fr_error(f, 0, TS_TILEVALUE, "division of a constant by zero");
    if (real) {
        double z = arith_fold_float(op, fr_as_double(x), fr_as_double(y));
        *out = fr_real(op == TS_OPERATOR_Mod && z == 0 ? copysign(0, fr_as_double(y)) : z);
        return TS_OK;
    }
    fr_int z = 0;
    if (!arith_fold_int(op, x->as.i, y->as.i, &z))
        return fr_error(f, 0, TS_TILEVALUE, "%s %s %s is not an integer of at most 126 bits",
                        fr_say(f, x), fr_operator_sign(op), fr_say(f, y));
    *out = fr_number(z);
    if (x->cat == FR_BOOL && y->cat == FR_BOOL && op >= TS_OPERATOR_BitOr &&
        op <= TS_OPERATOR_BitAnd)
        *out = fr_bool(z != 0);
    return TS_OK;
}

/* One side typed: computed in the common dtype. */
static ts_status arith_fold_strict(fr *f, ts_operator op, const fr_value *x, const fr_value *y,
                                   fr_value *out)
{
    ts_dtype dtype;
    TS_TRY(fr_common_dtype(f, "constant", x, y, &dtype));
    if (op == TS_OPERATOR_Div && fr_dtype_cat(dtype) != FR_FLOAT)
        dtype = TS_DTYPE_float32;
    fr_value a = *x, b = *y;
    bool real = fr_dtype_cat(dtype) == FR_FLOAT;
    if ((real && arith_is_bitwise(op)) || fr_dtype_is_restricted(dtype) ||
        (dtype == TS_DTYPE_bool_ && !arith_is_bitwise(op)))
        return fr_bad_operands(f, op, x, y, NULL);
    if (arith_divides(op) && !real && fr_as_double(y) == 0)
        return fr_error(f, 0, TS_TILEVALUE, "division of a constant by zero");
    TS_TRY(fr_convert(f, x, dtype, TS_RN, &a));
    TS_TRY(fr_convert(f, y, dtype, TS_RN, &b));
    if (real) {
        a = fr_real(arith_fold_float(op, a.as.f, b.as.f));
        return fr_convert(f, &a, dtype, TS_RN, out);
    }
    fr_int z = 0;
    if (!arith_fold_int(op, a.as.i, b.as.i, &z))
        return fr_bad_operands(f, op, x, y, NULL);
    *out = fr_strict(dtype, z);
    return TS_OK;
}

ts_status fr_fold_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    if (!x->dtype && !y->dtype)
        return arith_fold_loose(f, op, x, y, out);
    return arith_fold_strict(f, op, x, y, out);
}

/* ---- tiles --------------------------------------------------------------------------- */

static ts_status arith_restricted(fr *f, ts_operator op, const fr_value *x)
{
    return fr_error(f, 0, TS_TILETYPE,
                    "'%s' is not defined for %s: it is a storage type\n  help: convert to float16 "
                    "or float32 with ct.astype first",
                    fr_operator_sign(op), fr_say(f, x));
}

static ts_val arith_zero(fr *f, ts_val like)
{
    return ts_bits(&f->b, ts_type_of(f->b.fn, like), 0);
}

/* Integers divided by zero give 0 and the remainder 0, in tiles and scalars and on every device: the IR leaves that
 * case open, so what reaches it is a divisor of 1. Checked mode reports it for scalars; tiles reach over elements
 * outside of arrays, whose padding is often zero. */
ts_val fr_int_div(fr *f, ts_op op, ts_val x, ts_val y, uint32_t attr)
{
    static const char text[] = "integer division by zero";
    ts_builder *b = &f->b;
    ts_type type = ts_type_of(b->fn, y);
    int64_t known;
    if (ts__const_as_int(b->fn, y, &known) && known != 0)
        return ts_op2(b, op, x, y, attr);
    ts_val zero = ts_int(b, type, 0), fine = ts_cmp(b, TS_OP_cmpi, TS_NE, y, zero, 0);
    if (b->fn->checked && b->fn->level == TS_LEVEL_T && ts_type_rank(f->module, type) == 0)
        ts_emit(b, TS_OP_assert, TS_T_none, 1, &fine, ts_intern(f->module, text, sizeof text - 1), 0);
    ts_val r = ts_op2(b, op, x, ts_select(b, fine, y, ts_int(b, type, 1)), attr);
    return op == TS_OP_remi ? r : ts_select(b, fine, r, zero);
}

/* What is left of a division rounded down. Of floats it truncates; where it is not zero and has the other sign than
 * y, y is added. */
static ts_val arith_mod(fr *f, ts_val x, ts_val y, ts_dtype dtype)
{
    ts_builder *b = &f->b;
    uint32_t sign = fr_dtype_is_signed(dtype) ? 0 : TS_A_UNSIGNED;
    int64_t c;
    if (fr_dtype_is_float(dtype)) {
        ts_val r = ts_op2(b, TS_OP_remf, x, y, 0), zero = arith_zero(f, r);
        ts_val differs = ts_op2(b, TS_OP_xori, ts_cmp(b, TS_OP_cmpf, TS_LT, r, zero, 0),
                                ts_cmp(b, TS_OP_cmpf, TS_LT, y, zero, 0), 0);
        ts_val fix = ts_op2(b, TS_OP_andi, differs, ts_cmp(b, TS_OP_cmpf, TS_NE, r, zero, 0), 0);
        return ts_select(b, fix, ts_op2(b, TS_OP_addf, r, y, 0), r);
    }
    if (ts__const_as_int(b->fn, y, &c) && ts_is_pow2(c))
        return ts_op2(b, TS_OP_andi, x, ts_int(b, ts_type_of(b->fn, x), c - 1), 0);
    return fr_int_div(f, TS_OP_remi, x, y, sign ? sign : TS_RM);
}

static ts_status arith_typed(fr *f, ts_operator op, ts_dtype dtype, ts_val x, ts_val y,
                             uint32_t attr, fr_value *out)
{
    bool real = fr_dtype_is_float(dtype);
    uint32_t sign = fr_dtype_is_signed(dtype) ? 0 : TS_A_UNSIGNED;
    ts_val v;
    if (op == TS_OPERATOR_Mod) {
        v = arith_mod(f, x, y, dtype);
    } else if (op == TS_OPERATOR_FloorDiv) {
        v = real ? ts_op1(&f->b, TS_OP_floor, ts_op2(&f->b, TS_OP_divf, x, y, attr), 0)
                 : fr_int_div(f, TS_OP_divi, x, y, sign ? sign | TS_RZ : TS_RM);
    } else {
        bool by_sign = op == TS_OPERATOR_RShift;
        v = ts_op2(&f->b, real ? arith_rows[op].f : arith_rows[op].i, x, y,
                   real      ? attr
                   : by_sign ? sign
                             : 0);
    }
    *out = fr_tile(dtype, v);
    return TS_OK;
}

/* Bits: both sides of exactly one dtype. */
static ts_status arith_bits(fr *f, ts_operator op, fr_value x, fr_value y, fr_value *out)
{
    ts_dtype dtype = (ts_dtype)(x.dtype ? x.dtype : y.dtype);
    if (x.dtype && y.dtype && x.dtype != y.dtype)
        return fr_bad_operands(f, op, &x, &y,
                         "both sides must have the same dtype; convert one with ct.astype");
    if (fr_dtype_cat(dtype) >= FR_FLOAT || (x.kind == FR_NUMBER && x.cat > fr_dtype_cat(dtype)) ||
        (y.kind == FR_NUMBER && y.cat > fr_dtype_cat(dtype)))
        return fr_bad_operands(f, op, &x, &y, "bit operations take integers or bools of one dtype");
    TS_TRY(fr_unify(f, arith_rows[op].sign, &x, &y));
    return arith_typed(f, op, dtype, x.as.v, y.as.v, 0, out);
}

static ts_status arith_small_power(fr *f, const fr_value *x, int64_t n, uint32_t attr,
                                   fr_value *out)
{
    fr_value square = *x, result = *x;
    if (n == 0) {
        fr_shape shape = fr_shape_of(f, x);
        fr_value one = fr_number(1);
        *out = fr_tile((ts_dtype)x->dtype, fr_constant(f, &one, (ts_dtype)x->dtype, &shape));
        return TS_OK;
    }
    bool started = false;
    for (; n; n >>= 1) {
        if (n & 1) {
            if (started)
                TS_TRY(fr_binary(f, TS_OPERATOR_Mult, &result, &square, (fr_options){attr, false},
                                 &result));
            else
                result = square;
            started = true;
        }
        if (n > 1)
            TS_TRY(fr_binary(f, TS_OPERATOR_Mult, &square, &square, (fr_options){attr, false},
                             &square));
    }
    *out = result;
    return TS_OK;
}

/* A tile to a constant power that is written in products, whatever the dtype. */
static bool arith_is_small_power(const fr_value *x, const fr_value *y)
{
    int64_t n;
    return x->kind == FR_TILE && fr_is_int(y, &n) && !y->dtype && n >= 0 && n <= 4;
}

static ts_status arith_pow(fr *f, fr_value x, fr_value y, fr_options options, fr_value *out)
{
    int64_t n;
    bool whole = fr_is_int(&y, &n) && !y.dtype;
    if (x.kind == FR_TILE && whole && x.dtype != TS_DTYPE_bool_ && n >= 0 &&
        (n <= 4 || fr_dtype_is_int((ts_dtype)x.dtype)) && n < 64)
        return arith_small_power(f, &x, n, options.attr, out);
    if (x.kind == FR_TILE && fr_dtype_is_float((ts_dtype)x.dtype) &&
        (whole || (y.kind == FR_TILE && y.dtype == TS_DTYPE_int32))) {
        fr_shape a = fr_shape_of(f, &x), b = fr_shape_of(f, &y), shape;
        TS_TRY(fr_to_tile(f, &y, TS_DTYPE_int32, &y));
        TS_TRY(fr_broadcast_shapes(f, &a, &b, &shape));
        TS_TRY(fr_splat(f, &x, &shape, &x));
        TS_TRY(fr_splat(f, &y, &shape, &y));
        *out = fr_tile((ts_dtype)x.dtype, ts_op2(&f->b, TS_OP_fpowi, x.as.v, y.as.v, 0));
        return TS_OK;
    }
    ts_dtype dtype;
    TS_TRY(fr_common_dtype(f, "**", &x, &y, &dtype));
    if (!fr_dtype_is_float(dtype))
        return fr_bad_operands(f, TS_OPERATOR_Pow, &x, &y,
                         "integer powers need a constant exponent from 0 to 63; convert the base "
                         "to float32 otherwise");
    TS_TRY(fr_unify(f, "**", &x, &y));
    return arith_typed(f, TS_OPERATOR_Pow, dtype, x.as.v, y.as.v, 0, out);
}

static ts_status arith_tiles(fr *f, ts_operator op, fr_value x, fr_value y, fr_options options,
                             fr_value *out)
{
    ts_dtype dtype;
    if (op >= TS_OPERATOR_BitOr && op <= TS_OPERATOR_BitAnd)
        return arith_bits(f, op, x, y, out);
    TS_TRY(fr_common_dtype(f, arith_rows[op].sign, &x, &y, &dtype));
    if (fr_dtype_is_restricted(dtype))
        return arith_restricted(f, op, x.dtype == dtype ? &x : &y);
    if (dtype == TS_DTYPE_bool_ && op != TS_OPERATOR_Div)
        return fr_bad_operands(f, op, &x, &y, "convert the bools to int32 with ct.astype, or use & | ^");
    bool is_complex = fr_dtype_cat(dtype) == FR_COMPLEX;
    if (is_complex && (options.attr || options.has_round))
        return fr_error(f, 0, TS_TILETYPE, "rounding_mode and flush_to_zero are for floats, found %s",
                        ts_dtype_name(dtype));
    if (op == TS_OPERATOR_Pow && (!is_complex || arith_is_small_power(&x, &y)))
        return arith_pow(f, x, y, options, out);
    if (is_complex)
        return fr_complex_binary(f, op, &x, &y, out);
    if (arith_is_bitwise(op) && fr_dtype_cat(dtype) != FR_INT)
        return fr_bad_operands(f, op, &x, &y, "shifts take integers");
    TS_TRY(fr_unify(f, arith_rows[op].sign, &x, &y));
    if (op == TS_OPERATOR_Div && !fr_dtype_is_float(dtype)) {
        TS_TRY(fr_convert(f, &x, TS_DTYPE_float32, TS_RN, &x));
        TS_TRY(fr_convert(f, &y, TS_DTYPE_float32, TS_RN, &y));
        dtype = TS_DTYPE_float32;
    }
    if (options.attr & TS_A_FTZ && dtype != TS_DTYPE_float32)
        return fr_error(f, 0, TS_TILETYPE, "flush_to_zero is for float32, found %s",
                        ts_dtype_name(dtype));
    if (options.has_round && !fr_dtype_is_float(dtype))
        return fr_error(f, 0, TS_TILETYPE, "rounding_mode is for floats, found %s",
                        ts_dtype_name(dtype));
    return arith_typed(f, op, dtype, x.as.v, y.as.v, options.attr, out);
}

static bool arith_is_numeric(const fr_value *v)
{
    return v->kind == FR_NUMBER || v->kind == FR_TILE;
}

static ts_status arith_repeat(fr *f, const fr_value *tuple, int64_t times, fr_value *out)
{
    uint64_t n = times > 0 ? tuple->n * (uint64_t)TS_MIN(times, UINT16_MAX) : 0;
    fr_value *items = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!items)
        return fr_oom(f);
    for (uint64_t i = 0; i < n; i++)
        items[i] = tuple->as.items[i % tuple->n];
    if (n > UINT16_MAX || (times > UINT16_MAX && n))
        return fr_error(f, 0, TS_TILEVALUE, "a tuple of more than %d items", UINT16_MAX);
    return fr_container(f, FR_TUPLE, (uint32_t)n, items, out);
}

static ts_status arith_join(fr *f, ts_operator op, const fr_value *x, const fr_value *y,
                            fr_value *out)
{
    bool text = (x->kind == FR_STR || x->kind == FR_FSTRING) && (y->kind == FR_STR || y->kind == FR_FSTRING);
    int64_t times;
    if (op == TS_OPERATOR_Mult && x->kind == FR_TUPLE && fr_is_int(y, &times))
        return arith_repeat(f, x, times, out);
    if (op == TS_OPERATOR_Mult && y->kind == FR_TUPLE && fr_is_int(x, &times))
        return arith_repeat(f, y, times, out);
    if (text && op == TS_OPERATOR_Add)
        return fr_text_concat(f, x, y, out);
    if (x->kind == FR_TUPLE && y->kind == FR_TUPLE && op == TS_OPERATOR_Add) {
        fr_value *items = TS_NEW_N(f->arena, fr_value, x->n + y->n + 1);
        if (!items)
            return fr_oom(f);
        memcpy(items, x->as.items, x->n * sizeof *items);
        memcpy(items + x->n, y->as.items, y->n * sizeof *items);
        return fr_container(f, FR_TUPLE, x->n + y->n, items, out);
    }
    return fr_bad_operands(f, op, x, y, NULL);
}

ts_status fr_tiles_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options,
                          fr_value *out)
{
    if (op == TS_OPERATOR_MatMult)
        return fr_matmul(f, x, y, out);
    if (x->kind == FR_NUMBER && y->kind == FR_NUMBER)
        return fr_is_complex(x) || fr_is_complex(y) ? fr_complex_binary(f, op, x, y, out)
                                                    : fr_fold_binary(f, op, x, y, out);
    return arith_tiles(f, op, *x, *y, options, out);
}

ts_status fr_binary(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_options options,
                    fr_value *out)
{
    fr_value room[2];
    bool done = false;
    TS_TRY(fr_member_value(f, &x, &room[0]));
    TS_TRY(fr_member_value(f, &y, &room[1]));
    if (x->cls || y->cls)
        TS_TRY(arith_method(f, op, x, y, out, &done));
    if (done)
        return TS_OK;
    if (!arith_is_numeric(x) || !arith_is_numeric(y))
        return arith_join(f, op, x, y, out);
    return f->dialect->binary(f, op, x, y, options, out);
}

/* ---- unary --------------------------------------------------------------------------- */

static ts_status arith_unary_number(fr *f, ts_operator op, const fr_value *x, fr_value *out)
{
    fr_value zero = fr_number(0), minus = fr_number(-1);
    if (fr_dtype_is_restricted((ts_dtype)x->dtype))
        return arith_restricted(f, op, x);
    if (op == TS_OPERATOR_Invert) {
        if (x->cat == FR_FLOAT)
            return fr_bad_operands(f, op, x, NULL, "only integers and bool tiles have bits");
        if (x->cat == FR_BOOL && !x->dtype)
            return fr_bad_operands(f, op, x, NULL, "write `not x`, or ct.bitwise_not(x) for the bits");
        if (x->cat == FR_BOOL)
            *out = fr_strict(TS_DTYPE_bool_, !x->as.i);
        else
            return fr_fold_binary(f, TS_OPERATOR_BitXor, x, &minus, out);
        return TS_OK;
    }
    if (x->cat == FR_FLOAT) {
        *out = *x;
        out->as.f = op == TS_OPERATOR_USub ? -x->as.f : x->as.f;
        return TS_OK;
    }
    if (x->cat == FR_BOOL) {
        *out = fr_number(op == TS_OPERATOR_USub ? -x->as.i : x->as.i);
        out->dtype = x->dtype ? TS_DTYPE_int32 : 0;
        return TS_OK;
    }
    return fr_fold_binary(f, op == TS_OPERATOR_USub ? TS_OPERATOR_Sub : TS_OPERATOR_Add, &zero, x,
                          out);
}

static ts_status arith_unary_tile(fr *f, ts_operator op, fr_value x, fr_value *out)
{
    ts_dtype dtype = (ts_dtype)x.dtype;
    ts_type type = ts_type_of(f->b.fn, x.as.v);
    if (fr_dtype_is_restricted(dtype))
        return arith_restricted(f, op, &x);
    if (op == TS_OPERATOR_Invert) {
        if (fr_dtype_is_float(dtype))
            return fr_bad_operands(f, op, &x, NULL, "only integers and bools have bits");
        *out = fr_tile(dtype, ts_op2(&f->b, TS_OP_xori, x.as.v,
                                     ts_int(&f->b, type, dtype == TS_DTYPE_bool_ ? 1 : -1), 0));
        return TS_OK;
    }
    if (dtype == TS_DTYPE_bool_) {
        TS_TRY(fr_convert(f, &x, TS_DTYPE_int32, TS_RN, &x));
        dtype = TS_DTYPE_int32;
    }
    *out = x;
    if (op == TS_OPERATOR_USub)
        out->as.v = ts_op1(&f->b, fr_dtype_is_float(dtype) ? TS_OP_negf : TS_OP_negi, x.as.v, 0);
    return TS_OK;
}

static ts_status arith_not(fr *f, const fr_value *x, fr_value *out)
{
    bool known, truth;
    ts_val cond;
    TS_TRY(fr_condition(f, 0, x, &known, &truth, &cond));
    *out = known ? fr_bool(!truth)
                 : fr_tile(TS_DTYPE_bool_,
                           ts_op2(&f->b, TS_OP_xori, cond, ts_int(&f->b, TS_T_i1, 1), 0));
    return TS_OK;
}

ts_status fr_tiles_unary(fr *f, ts_operator op, const fr_value *x, fr_value *out)
{
    if (fr_is_complex(x) && op == TS_OPERATOR_Invert)
        return fr_bad_operands(f, op, x, NULL, "only integers and bools have bits");
    if (fr_is_complex(x)) {
        *out = *x;
        return op == TS_OPERATOR_USub ? fr_complex_negate(f, x, out) : TS_OK;
    }
    return x->kind == FR_NUMBER ? arith_unary_number(f, op, x, out) : arith_unary_tile(f, op, *x, out);
}

ts_status fr_unary(fr *f, ts_operator op, const fr_value *x, fr_value *out)
{
    fr_value room;
    bool done = false;
    TS_TRY(fr_member_value(f, &x, &room));
    if (op == TS_OPERATOR_Not)
        return arith_not(f, x, out);
    if (x->cls)
        TS_TRY(arith_method(f, op, x, NULL, out, &done));
    if (done)
        return TS_OK;
    return arith_is_numeric(x) ? f->dialect->unary(f, op, x, out) : fr_bad_operands(f, op, x, NULL, NULL);
}

/* ---- comparison ---------------------------------------------------------------------- */

bool fr_order_holds(ts_operator op, int order)
{
    switch (op) {
    case TS_OPERATOR_Eq:
        return order == 0;
    case TS_OPERATOR_NotEq:
        return order != 0;
    case TS_OPERATOR_Lt:
        return order == -1;
    case TS_OPERATOR_LtE:
        return order == -1 || order == 0;
    case TS_OPERATOR_Gt:
        return order == 1;
    default:
        return order == 1 || order == 0;
    }
}

/* -1, 0, 1; 2 with a NaN. */
int fr_order(const fr_value *x, const fr_value *y)
{
    if (x->cat != FR_FLOAT && y->cat != FR_FLOAT)
        return x->as.i < y->as.i ? -1 : x->as.i > y->as.i;
    double a = fr_as_double(x), b = fr_as_double(y);
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

static ts_status arith_compare_tiles(fr *f, ts_operator op, fr_value x, fr_value y, fr_value *out)
{
    static const ts_pred preds[] = {TS_EQ, TS_NE, TS_LT, TS_LE, TS_GT, TS_GE};
    ts_pred pred = preds[op - TS_OPERATOR_Eq];
    TS_TRY(fr_unify(f, arith_rows[op].sign, &x, &y));
    ts_dtype dtype = (ts_dtype)x.dtype;
    if (fr_dtype_is_restricted(dtype))
        return arith_restricted(f, op, &x);
    ts_val v;
    if (fr_dtype_is_float(dtype))
        v = ts_cmp(&f->b, TS_OP_cmpf, pred, x.as.v, y.as.v, pred == TS_NE ? TS_A_UNORDERED : 0);
    else
        v = ts_cmp(&f->b, TS_OP_cmpi, pred, x.as.v, y.as.v,
                   fr_dtype_is_signed(dtype) ? 0 : TS_A_UNSIGNED);
    *out = fr_tile(TS_DTYPE_bool_, v);
    return TS_OK;
}

static bool arith_same_dtype_text(const fr_value *x, const fr_value *y)
{
    return x->kind == FR_DTYPE && y->kind == FR_STR &&
           strcmp(ts_dtype_name((ts_dtype)x->dtype), y->as.text) == 0;
}

/* Two numbers or tiles. */
ts_status fr_tiles_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    if (fr_is_complex(x) || fr_is_complex(y))
        return fr_complex_compare(f, op, x, y, out);
    if (x->kind != FR_NUMBER || y->kind != FR_NUMBER)
        return arith_compare_tiles(f, op, *x, *y, out);
    for (int side = 0; side < 2; side++)
        if (fr_dtype_is_restricted((ts_dtype)(side ? y : x)->dtype))
            return arith_restricted(f, op, side ? y : x);
    *out = fr_bool(fr_order_holds(op, fr_order(x, y)));
    return TS_OK;
}

/* What == takes beside numbers, tiles and tuples: values that are wholly known at compile time. */
static bool arith_is_plain(const fr_value *v)
{
    static const bool plain[] = {[FR_NONE] = true,   [FR_ELLIPSIS] = true, [FR_STR] = true,
                                 [FR_DTYPE] = true,  [FR_ENUM] = true,     [FR_MODULE] = true,
                                 [FR_OP] = true,     [FR_BUILTIN] = true,  [FR_FUNC] = true,
                                 [FR_OPAQUE] = true};
    return v->kind < TS_COUNT(plain) && plain[v->kind];
}

ts_status fr_constants_equal(fr *f, const fr_value *x, const fr_value *y, bool *out)
{
    fr_value room[2], equal;
    TS_TRY(fr_member_value(f, &x, &room[0]));
    TS_TRY(fr_member_value(f, &y, &room[1]));
    *out = fr_same(f, x, y);
    bool alike = x->kind == y->kind && (x->kind == FR_TUPLE || (x->kind == FR_RECORD && x->cls == y->cls));
    if (!*out && alike && x->n == y->n) {
        *out = true;
        for (uint32_t i = 0; i < x->n && *out; i++)
            TS_TRY(fr_constants_equal(f, &x->as.items[i], &y->as.items[i], out));
    } else if (!*out && x->kind == FR_NUMBER && y->kind == FR_NUMBER && (fr_is_complex(x) || fr_is_complex(y))) {
        TS_TRY(fr_complex_compare(f, TS_OPERATOR_Eq, x, y, &equal));
        *out = equal.as.i;
    } else if (!*out && x->kind == FR_NUMBER && y->kind == FR_NUMBER) {
        *out = fr_order(x, y) == 0;
    }
    return TS_OK;
}

/* == of two values that are wholly known: what fr_constants_equal says, and a dtype is equal to its name. */
static ts_status arith_plain_equal(fr *f, const fr_value *x, const fr_value *y, bool *out)
{
    TS_TRY(fr_constants_equal(f, x, y, out));
    *out = *out || arith_same_dtype_text(x, y) || arith_same_dtype_text(y, x);
    return TS_OK;
}

/* `so_far` and `next`, or `so_far` or `next`: constants decide where they can. */
static ts_status arith_join_truths(fr *f, ts_operator op, const fr_value *next, fr_value *so_far)
{
    bool decides = op == TS_OPERATOR_BitOr, truth;
    if (fr_truth(so_far, &truth)) {
        if (truth != decides)
            *so_far = *next;
        return TS_OK;
    }
    if (!fr_truth(next, &truth))
        return fr_binary(f, op, so_far, next, (fr_options){0}, so_far);
    if (truth == decides)
        *so_far = *next;
    return TS_OK;
}

static ts_status arith_item_equal(fr *f, const fr_value *x, const fr_value *y, fr_value *out);

/* Every pair of items is looked at: what cannot be compared is an error wherever it stands. */
static ts_status arith_tuple_equal(fr *f, const fr_value *x, const fr_value *y, fr_value *out)
{
    *out = fr_bool(x->n == y->n);
    for (uint32_t i = 0; i < x->n && x->n == y->n; i++) {
        fr_value equal;
        TS_TRY(arith_item_equal(f, &x->as.items[i], &y->as.items[i], &equal));
        TS_TRY(arith_join_truths(f, TS_OPERATOR_BitAnd, &equal, out));
    }
    return TS_OK;
}

/* x == y inside a tuple: a bool known at compile time, or a scalar of run time. */
static ts_status arith_item_equal(fr *f, const fr_value *x, const fr_value *y, fr_value *out)
{
    fr_value room[2];
    bool equal = false;
    TS_TRY(fr_member_value(f, &x, &room[0]));
    TS_TRY(fr_member_value(f, &y, &room[1]));
    for (int side = 0; side < 2; side++) {
        const fr_value *v = side ? y : x;
        bool scalar = arith_is_numeric(v) && !fr_shape_of(f, v).rank;
        if (!scalar && v->kind != FR_TUPLE && v->kind != FR_RECORD && !arith_is_plain(v))
            return fr_error(f, 0, TS_TILETYPE,
                            "items of tuples are compared as scalars\n  found: %s\n  help: compare tiles with "
                            "each other, outside of a tuple; arrays are in memory",
                            fr_say(f, v));
    }
    if (x->kind == FR_RECORD || y->kind == FR_RECORD)
        return fr_compare(f, TS_OPERATOR_Eq, x, y, out);
    if (arith_is_numeric(x) && arith_is_numeric(y))
        return f->dialect->compare(f, TS_OPERATOR_Eq, x, y, out);
    if (x->kind == FR_TUPLE && y->kind == FR_TUPLE)
        return arith_tuple_equal(f, x, y, out);
    if (arith_is_plain(x) && arith_is_plain(y))
        TS_TRY(arith_plain_equal(f, x, y, &equal));
    *out = fr_bool(equal);
    return TS_OK;
}

/* -1, 0 or 1 for two tuples whose items are known at compile time; 2 where that says nothing. */
static ts_status arith_tuple_order(fr *f, const fr_value *x, const fr_value *y, int *order)
{
    for (uint32_t i = 0; i < x->n && i < y->n; i++) {
        bool equal, less, greater;
        fr_value v[2];
        TS_TRY(fr_constants_equal(f, &x->as.items[i], &y->as.items[i], &equal));
        if (equal)
            continue;
        TS_TRY(fr_compare(f, TS_OPERATOR_Lt, &x->as.items[i], &y->as.items[i], &v[0]));
        TS_TRY(fr_compare(f, TS_OPERATOR_Gt, &x->as.items[i], &y->as.items[i], &v[1]));
        if (!fr_truth(&v[0], &less) || !fr_truth(&v[1], &greater))
            return fr_error(f, 0, TS_TILETYPE, "tuples of what the kernel computes have == and !=\n  found: %s and %s\n"
                            "  help: compare their items one by one", fr_say(f, x), fr_say(f, y));
        *order = less ? -1 : greater ? 1 : 2;
        return TS_OK;
    }
    *order = x->n < y->n ? -1 : x->n > y->n;
    return TS_OK;
}

/* Text in text; a flag in flags. False: it is neither. */
static ts_status arith_is_part(fr *f, const fr_value *x, const fr_value *y, fr_value *out, bool *done)
{
    fr_value room[2];
    bool flag = x->kind == FR_ENUM;
    TS_TRY(fr_member_value(f, &x, &room[0]));
    TS_TRY(fr_member_value(f, &y, &room[1]));
    *done = x->kind == FR_STR && y->kind == FR_STR;
    if (*done)
        *out = fr_bool(strstr(y->as.text, x->as.text) != NULL);
    if (!flag || x->kind != FR_NUMBER || y->kind != FR_NUMBER || x->cat > FR_INT || y->cat > FR_INT)
        return TS_OK;
    *done = true;
    *out = fr_bool((x->as.i & y->as.i) == x->as.i);
    return TS_OK;
}

static ts_status arith_search(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    uint32_t step = y->kind == FR_DICT ? 2 : 1; /* key, value, key, .. */
    bool known = false, truth = false, done;
    TS_TRY(arith_is_part(f, x, y, out, &done));
    if (done)
        return TS_OK;
    if (y->kind != FR_TUPLE && y->kind != FR_ITER && y->kind != FR_DICT)
        return fr_bad_operands(f, op, x, y, "`in` searches tuples, dicts and texts known at compile time");
    *out = fr_bool(false);
    for (uint32_t i = 0; i < y->n && !(known && truth); i++) {
        fr_value equal;
        TS_TRY(arith_item_equal(f, x, &y->as.items[step * i], &equal));
        TS_TRY(arith_join_truths(f, TS_OPERATOR_BitOr, &equal, out));
        known = fr_truth(out, &truth);
    }
    return TS_OK;
}

static ts_status arith_contains(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    bool done = false;
    if (y->cls)
        TS_TRY(arith_call(f, "__contains__", y, x, out, &done));
    if (!done)
        TS_TRY(arith_search(f, op, x, y, out));
    return op == TS_OPERATOR_In ? TS_OK : fr_unary(f, TS_OPERATOR_Not, out, out);
}

static ts_status arith_compare_tuples(fr *f, ts_operator op, const fr_value *x, const fr_value *y,
                                      fr_value *out)
{
    int order = 0;
    if (op == TS_OPERATOR_Eq || op == TS_OPERATOR_NotEq) {
        TS_TRY(arith_tuple_equal(f, x, y, out));
        return op == TS_OPERATOR_Eq ? TS_OK : fr_unary(f, TS_OPERATOR_Not, out, out);
    }
    TS_TRY(arith_tuple_order(f, x, y, &order));
    *out = fr_bool(fr_order_holds(op, order));
    return TS_OK;
}

/* What a dataclass compares of itself: a tuple of its fields. */
static ts_status arith_record_key(fr *f, const fr_value *v, fr_value *out)
{
    uint32_t n, kept = 0;
    const uint32_t *fields = ts_pack_fields(&f->pack, v->cls, &n);
    fr_value *items = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!items)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++)
        if (fields[TS_RECORD_FIELD * i + 2] & TS_FIELD_COMPARE)
            items[kept++] = v->as.items[i];
    return fr_container(f, FR_TUPLE, kept, items, out);
}

/* Instances of dataclasses, by the user's methods or as @dataclass compares; `done`: no other way is tried. */
static ts_status arith_compare_records(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out,
                                       bool *done)
{
    fr_value a, b;
    bool equality = op == TS_OPERATOR_Eq || op == TS_OPERATOR_NotEq;
    TS_TRY(arith_method(f, op, x, y, out, done));
    if (!*done && op == TS_OPERATOR_NotEq) {
        TS_TRY(arith_method(f, TS_OPERATOR_Eq, x, y, out, done));
        if (*done)
            return fr_unary(f, TS_OPERATOR_Not, out, out);
    }
    if (*done || (x->kind != FR_RECORD && y->kind != FR_RECORD) || x->kind == FR_NONE || y->kind == FR_NONE)
        return TS_OK;
    uint32_t flags = x->kind == FR_RECORD ? fr_record_flags(f, x->cls) : 0;
    *done = x->kind != FR_TILE && y->kind != FR_TILE && x->kind != FR_ARRAY && y->kind != FR_ARRAY;
    if (x->cls == y->cls && !(flags & (equality ? TS_RECORD_EQ : TS_RECORD_ORDER)))
        return fr_bad_operands(f, op, x, y, equality ? "its class has eq=False; compare fields"
                                               : "its class has no order; @dataclass(order=True) gives one");
    if (x->cls != y->cls) {
        *out = fr_bool(op == TS_OPERATOR_NotEq);
        return *done && equality ? TS_OK : fr_bad_operands(f, op, x, y, NULL);
    }
    TS_TRY(arith_record_key(f, x, &a));
    TS_TRY(arith_record_key(f, y, &b));
    return arith_compare_tuples(f, op, &a, &b, out);
}

/* Constants are one object each: `n is 3` holds for every 3. */
static bool arith_has_identity(const fr_value *v)
{
    return v->kind == FR_NUMBER || arith_is_plain(v);
}

static bool arith_is_known(const fr_value *v)
{
    return v->kind == FR_NUMBER || v->kind == FR_TUPLE || arith_is_plain(v);
}

/* Numbers without identity: the same where they are equal and of one type, if the dialect says so. */
static ts_status arith_is_equal(fr *f, bool is, const fr_value *x, const fr_value *y, fr_value *out)
{
    ts_dtype a = (ts_dtype)x->dtype, b = (ts_dtype)y->dtype;
    TS_TRY(!a && x->kind == FR_NUMBER ? fr_default_dtype(f, x, &a) : TS_OK);
    TS_TRY(!b && y->kind == FR_NUMBER ? fr_default_dtype(f, y, &b) : TS_OK);
    *out = fr_bool(!is);
    return a == b ? f->dialect->compare(f, is ? TS_OPERATOR_Eq : TS_OPERATOR_NotEq, x, y, out) : TS_OK;
}

/* The same for tuples: item by item. */
static ts_status arith_tuples_are(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    bool alike = x->n == y->n && x->cls == y->cls;
    for (uint32_t i = 0; i < x->n && alike; i++) {
        fr_value one;
        TS_TRY(fr_compare(f, TS_OPERATOR_Is, &x->as.items[i], &y->as.items[i], &one));
        alike = one.kind != FR_NUMBER || one.as.i;
    }
    *out = fr_bool(op == TS_OPERATOR_IsNot);
    if (!alike)
        return TS_OK;
    return arith_compare_tuples(f, op == TS_OPERATOR_Is ? TS_OPERATOR_Eq : TS_OPERATOR_NotEq, x, y, out);
}

/* Where arguments that are members of an Enum come as their values: a member beside a number is its value. */
static ts_status arith_plain_members(fr *f, const fr_value **x, const fr_value **y, fr_value room[2])
{
    const fr_value **both[] = {x, y};
    for (uint32_t i = 0; i < 2 && f->dialect->numbers_are; i++)
        if ((*both[i])->kind == FR_ENUM && arith_is_numeric(*both[1 - i])) {
            TS_TRY(fr_object(f, f->pack.objects[(*both[i])->as.object].z, &room[i]));
            *both[i] = &room[i];
        }
    return TS_OK;
}

ts_status fr_compare(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    bool done = false;
    if (op == TS_OPERATOR_In || op == TS_OPERATOR_NotIn)
        return arith_contains(f, op, x, y, out);
    if (op == TS_OPERATOR_Is || op == TS_OPERATOR_IsNot) {
        bool none = x->kind == FR_NONE || y->kind == FR_NONE;
        if (f->dialect->numbers_are && arith_is_numeric(x) && arith_is_numeric(y))
            return arith_is_equal(f, op == TS_OPERATOR_Is, x, y, out);
        if (f->dialect->numbers_are && x->kind == FR_TUPLE && y->kind == FR_TUPLE)
            return arith_tuples_are(f, op, x, y, out);
        if (!none && (!arith_has_identity(x) || !arith_has_identity(y)))
            return fr_bad_operands(f, op, x, y, "`is` compares constants; use == for what the kernel computes");
        bool same = none ? x->kind == y->kind : fr_same(f, x, y);
        *out = fr_bool(same == (op == TS_OPERATOR_Is));
        return TS_OK;
    }
    fr_value room[2];
    TS_TRY(fr_member_value(f, &x, &room[0]));
    TS_TRY(fr_member_value(f, &y, &room[1]));
    if (x->cls || y->cls)
        TS_TRY(arith_compare_records(f, op, x, y, out, &done));
    if (done)
        return TS_OK;
    TS_TRY(arith_plain_members(f, &x, &y, room));
    if (arith_is_numeric(x) && arith_is_numeric(y))
        return f->dialect->compare(f, op, x, y, out);
    if (x->kind == FR_TUPLE && y->kind == FR_TUPLE)
        return arith_compare_tuples(f, op, x, y, out);
    if (f->dialect->compare_array && (x->kind == FR_ARRAY || y->kind == FR_ARRAY))
        TS_TRY(f->dialect->compare_array(f, op, x, y, out, &done));
    if (done)
        return TS_OK;
    if (x->kind == FR_STR && y->kind == FR_STR && op != TS_OPERATOR_Eq && op != TS_OPERATOR_NotEq) {
        int order = strcmp(x->as.text, y->as.text); /* UTF-8 is in the order of code points */
        *out = fr_bool(fr_order_holds(op, order < 0 ? -1 : order > 0));
        return TS_OK;
    }
    bool is_none = x->kind == FR_NONE || y->kind == FR_NONE, equality = op == TS_OPERATOR_Eq || op == TS_OPERATOR_NotEq;
    if (equality && x->kind != y->kind && arith_is_known(x) && arith_is_known(y) &&
        !(arith_is_plain(x) && arith_is_plain(y))) {
        *out = fr_bool(op == TS_OPERATOR_NotEq); /* a number, a tuple and a text are never equal */
        return TS_OK;
    }
    if (x->kind == FR_ARRAY || y->kind == FR_ARRAY || (op != TS_OPERATOR_Eq && op != TS_OPERATOR_NotEq) ||
        (!is_none && (!arith_is_plain(x) || !arith_is_plain(y))))
        return fr_bad_operands(f, op, x, y, NULL);
    bool equal;
    TS_TRY(arith_plain_equal(f, x, y, &equal));
    *out = fr_bool(equal == (op == TS_OPERATOR_Eq));
    return TS_OK;
}

/* ---- min, max ------------------------------------------------------------------------ */

ts_status fr_tiles_minmax(fr *f, bool is_max, const fr_value *px, const fr_value *py, uint32_t attr,
                    fr_value *out)
{
    fr_value x = *px, y = *py;
    const char *what = is_max ? "maximum" : "minimum";
    TS_TRY(fr_only_real(f, 0, what, 1, px));
    TS_TRY(fr_only_real(f, 0, what, 1, py));
    if (x.kind == FR_NUMBER && y.kind == FR_NUMBER && x.dtype == y.dtype) {
        bool is_nan = x.cat == FR_FLOAT && isnan(x.as.f); /* the other one, but where a NaN is wanted */
        bool second = fr_order(&y, &x) == 2 ? is_nan != ((attr & TS_A_NAN) != 0)
                                               : fr_order(&y, &x) == (is_max ? 1 : -1);
        *out = second ? y : x;
        return TS_OK;
    }
    TS_TRY(fr_unify(f, what, &x, &y));
    ts_dtype dtype = (ts_dtype)x.dtype;
    if (fr_dtype_is_restricted(dtype))
        return arith_restricted(f, is_max ? TS_OPERATOR_Gt : TS_OPERATOR_Lt, &x);
    ts_op op = fr_dtype_is_float(dtype)  ? (is_max ? TS_OP_maxf : TS_OP_minf)
               : dtype == TS_DTYPE_bool_ ? (is_max ? TS_OP_ori : TS_OP_andi)
                                         : (is_max ? TS_OP_maxi : TS_OP_mini);
    uint32_t sign = fr_dtype_is_int(dtype) && !fr_dtype_is_signed(dtype) ? TS_A_UNSIGNED : 0;
    *out =
        fr_tile(dtype, ts_op2(&f->b, op, x.as.v, y.as.v, fr_dtype_is_float(dtype) ? attr : sign));
    return TS_OK;
}

ts_status fr_minmax(fr *f, bool is_max, const fr_value *x, const fr_value *y, uint32_t attr, fr_value *out)
{
    return f->dialect->minmax(f, is_max, x, y, attr, out);
}
