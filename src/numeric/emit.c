/* SPDX-License-Identifier: Apache-2.0
 *
 * What functions compute, as IR on tiles: the frame, casts, and what is one operation or few. Results are those of
 * NumPy bit for bit where IEEE 754 determines them: sums and products are `exact`, never joined to an fma.
 */
#include "numeric/numeric.h"
#include "math/cmath.h"
#include <math.h>

/* ---- words --------------------------------------------------------------------------------------- */

ts_type ts__nd_emit_scalar(ts_dtype dtype)
{
    ts_type scalar = ts_dtype_get(dtype)->scalar, part = ts_type_part(scalar);
    return part ? part : scalar;
}

nd_emit ts__nd_emit_at(const nd_emit *e, ts_dtype loop)
{
    nd_emit other = *e;
    other.loop = loop;
    other.kind = nd_kind(loop);
    other.scalar = ts__nd_emit_scalar(loop);
    return other;
}

ts_type ts__nd_emit_type(const nd_emit *e, ts_type scalar)
{
    return ts_type_tile(e->module, scalar, e->rank, e->tile);
}

static bool emit_is_float(const nd_emit *e)
{
    return e->kind == 'f' || e->kind == 'c';
}

ts_val ts__nd_emit_op1(const nd_emit *e, ts_op op, ts_val x)
{
    return ts_op1(e->b, op, x, 0);
}

ts_val ts__nd_emit_op2(const nd_emit *e, ts_op op, ts_val x, ts_val y)
{
    uint32_t attr = 0;
    switch (op) {
    case TS_OP_addf: case TS_OP_subf: case TS_OP_mulf:
        attr = TS_A_EXACT;
        break;
    case TS_OP_divi: case TS_OP_remi: case TS_OP_shri: case TS_OP_maxi: case TS_OP_mini:
        attr = e->kind == 'u' ? TS_A_UNSIGNED : 0;
        break;
    default:
        break;
    }
    return ts_op2(e->b, op, x, y, attr);
}

/* Of bools and unsigned integers unsigned; NE is true of NaN. */
ts_val ts__nd_emit_is(const nd_emit *e, ts_pred pred, ts_val x, ts_val y)
{
    if (emit_is_float(e))
        return ts_cmp(e->b, TS_OP_cmpf, pred, x, y, pred == TS_NE ? TS_A_UNORDERED : 0);
    return ts_cmp(e->b, TS_OP_cmpi, pred, x, y, e->kind == 'i' ? 0 : TS_A_UNSIGNED);
}

ts_val ts__nd_emit_number(const nd_emit *e, double x)
{
    ts_type type = ts__nd_emit_type(e, e->scalar);
    return emit_is_float(e) ? ts_float(e->b, type, x) : ts_int(e->b, type, (int64_t)x);
}

ts_val ts__nd_emit_both(const nd_emit *e, ts_val c, ts_val d)
{
    return ts_op2(e->b, TS_OP_andi, c, d, 0);
}

ts_val ts__nd_emit_either(const nd_emit *e, ts_val c, ts_val d)
{
    return ts_op2(e->b, TS_OP_ori, c, d, 0);
}

ts_val ts__nd_emit_not(const nd_emit *e, ts_val c)
{
    return ts_op2(e->b, TS_OP_xori, c, ts_int(e->b, ts_val_type(e->fn, c), 1), 0);
}

ts_val ts__nd_emit_pick(const nd_emit *e, ts_val c, ts_val x, ts_val y)
{
    return ts_select(e->b, c, x, y);
}

ts_val ts__nd_emit_math(const nd_emit *e, const char *name, ts_val x, ts_val y)
{
    return ts_math_call(e->b, ts_math_find(name, strlen(name)), x, y);
}

static ts_val emit_truth(const nd_emit *e, bool truth)
{
    return ts_int(e->b, ts__nd_emit_type(e, TS_T_i1), truth);
}

/* ---- casts --------------------------------------------------------------------------------------- */

static ts_val emit_to_bool(const nd_emit *from, nd_val x)
{
    ts_val zero = ts__nd_emit_number(from, 0), c = ts__nd_emit_is(from, TS_NE, x.re, zero);
    return from->kind == 'c' ? ts__nd_emit_either(from, c, ts__nd_emit_is(from, TS_NE, x.im, zero)) : c;
}

/* As NumPy on x86: by way of 32 bits, or 64 for more, where what does not fit, and NaN, is the least integer. Unsigned
 * ones of that width are those above its half less the half. Narrow floats become uint32 as half of 64 bits, as NumPy
 * has no vectors for them. `ftoi` gives the nearest integer for what does not fit. */
static ts_val emit_float_to_int(const nd_emit *from, const nd_emit *to, ts_val x)
{
    if (ts_dtype_get(from->loop)->bits < 32) { /* whose constants are too small */
        nd_emit single = ts__nd_emit_at(from, TS_DTYPE_float32), wide = ts__nd_emit_at(from, TS_DTYPE_int64);
        bool is_half = to->loop == TS_DTYPE_uint32;
        ts_val y = emit_float_to_int(&single, is_half ? &wide : to, ts_cast(from->b, TS_OP_ftof, x, single.scalar, 0));
        return is_half ? ts_cast(from->b, TS_OP_trunci, y, to->scalar, 0) : y;
    }
    uint32_t bits = ts_dtype_get(to->loop)->bits > 32 ? 64 : 32;
    ts_type type = bits == 64 ? TS_T_i64 : TS_T_i32, tile = ts__nd_emit_type(from, type);
    ts_val half = ts__nd_emit_number(from, ldexp(1, (int)bits - 1));
    ts_val least = ts_int(from->b, tile, INT64_MIN >> (64 - bits));
    ts_val below = ts__nd_emit_is(from, TS_LT, x, half), made;
    if (to->kind != 'u' || ts_dtype_get(to->loop)->bits < 32) {
        made = ts_select(from->b, below, ts_cast(from->b, TS_OP_ftoi, x, type, TS_RZI), least);
    } else {
        ts_val above = ts__nd_emit_is(from, TS_GE, x, half), less = ts__nd_emit_op2(from, TS_OP_subf, x, half);
        ts_val fits = ts__nd_emit_is(from, TS_LT, less, half);
        ts_val high = ts_op2(from->b, TS_OP_xori, ts_cast(from->b, TS_OP_ftoi, less, type, TS_RZI), least, 0);
        ts_val low = ts_select(from->b, below, ts_cast(from->b, TS_OP_ftoi, x, type, TS_RZI), least);
        high = ts_select(from->b, fits, high, ts_int(from->b, tile, 0));
        made = ts_select(from->b, above, high, low);
    }
    return to->scalar == type ? made : ts_cast(from->b, TS_OP_trunci, made, to->scalar, 0);
}

static ts_val emit_cast_part(const nd_emit *from, const nd_emit *to, ts_val x)
{
    bool from_float = emit_is_float(from), to_float = emit_is_float(to);
    uint32_t sign = from->kind == 'i' ? 0 : TS_A_UNSIGNED;
    if (from->scalar == to->scalar)
        return x;
    if (from_float && to_float)
        return ts_cast(from->b, TS_OP_ftof, x, to->scalar, 0);
    if (from_float)
        return emit_float_to_int(from, to, x);
    if (to_float)
        return ts_cast(from->b, TS_OP_itof, x, to->scalar, sign);
    bool widens = from->kind == 'b' || ts_dtype_get(from->loop)->bits < ts_dtype_get(to->loop)->bits;
    if (widens)
        return ts_cast(from->b, TS_OP_exti, x, to->scalar, sign);
    return ts_cast(from->b, TS_OP_trunci, x, to->scalar, 0);
}

nd_val ts__nd_emit_cast(const nd_emit *e, nd_val x, ts_dtype from, ts_dtype to)
{
    nd_emit a = ts__nd_emit_at(e, from), b = ts__nd_emit_at(e, to);
    nd_val out = {0};
    if (from == to)
        return x;
    if (b.kind == 'b')
        return (nd_val){.re = emit_to_bool(&a, x)};
    out.re = emit_cast_part(&a, &b, x.re);
    if (b.kind == 'c')
        out.im = a.kind == 'c' ? emit_cast_part(&a, &b, x.im) : ts__nd_emit_number(&b, 0);
    return out;
}

/* ---- arithmetic ---------------------------------------------------------------------------------- */

static nd_val nd_emit_positive(const nd_emit *e, const nd_val *x)
{
    (void)e;
    return x[0];
}

/* Of each part; of bools and integers their own operation. */
static nd_val emit_parts(const nd_emit *e, ts_op truth, ts_op integer, ts_op real, const nd_val *x)
{
    ts_op op = e->kind == 'b' ? truth : emit_is_float(e) ? real : integer;
    nd_val out = {.re = ts__nd_emit_op2(e, op, x[0].re, x[1].re)};
    if (e->kind == 'c')
        out.im = ts__nd_emit_op2(e, op, x[0].im, x[1].im);
    return out;
}

static nd_val nd_emit_add(const nd_emit *e, const nd_val *x)
{
    return emit_parts(e, TS_OP_ori, TS_OP_addi, TS_OP_addf, x);
}

static nd_val nd_emit_subtract(const nd_emit *e, const nd_val *x)
{
    return emit_parts(e, TS_OP_none, TS_OP_subi, TS_OP_subf, x);
}

static ts_val emit_mul(const nd_emit *e, ts_val x, ts_val y)
{
    return ts__nd_emit_op2(e, TS_OP_mulf, x, y);
}

nd_val nd_emit_multiply(const nd_emit *e, const nd_val *x)
{
    if (e->kind != 'c')
        return emit_parts(e, TS_OP_andi, TS_OP_muli, TS_OP_mulf, x);
    return (nd_val){ts__nd_emit_op2(e, TS_OP_subf, emit_mul(e, x[0].re, x[1].re), emit_mul(e, x[0].im, x[1].im)),
                    ts__nd_emit_op2(e, TS_OP_addf, emit_mul(e, x[0].re, x[1].im), emit_mul(e, x[0].im, x[1].re))};
}

static nd_val nd_emit_square(const nd_emit *e, const nd_val *x)
{
    nd_val both[2] = {x[0], x[0]};
    return nd_emit_multiply(e, both);
}

static nd_val nd_emit_negative(const nd_emit *e, const nd_val *x)
{
    ts_op op = emit_is_float(e) ? TS_OP_negf : TS_OP_negi;
    return (nd_val){ts__nd_emit_op1(e, op, x[0].re), e->kind == 'c' ? ts__nd_emit_op1(e, op, x[0].im) : 0};
}

static nd_val nd_emit_conjugate(const nd_emit *e, const nd_val *x)
{
    return (nd_val){x[0].re, e->kind == 'c' ? ts__nd_emit_op1(e, TS_OP_negf, x[0].im) : 0};
}

static nd_val nd_emit_absolute(const nd_emit *e, const nd_val *x)
{
    ts_val re = x[0].re;
    if (e->kind == 'c')
        return (nd_val){.re = ts__nd_emit_math(e, "hypot", re, x[0].im)};
    if (e->kind == 'i')
        return (nd_val){.re = ts__nd_emit_op1(e, TS_OP_absi, re)};
    return (nd_val){.re = e->kind == 'f' ? ts__nd_emit_op1(e, TS_OP_absf, re) : re};
}

/* ---- order --------------------------------------------------------------------------------------- */

/* Complex numbers are ordered by their real parts, then by the imaginary ones. */
static ts_val emit_order(const nd_emit *e, ts_pred pred, nd_val x, nd_val y)
{
    ts_val re = ts__nd_emit_is(e, pred, x.re, y.re);
    if (e->kind != 'c')
        return re;
    ts_val im = ts__nd_emit_is(e, pred, x.im, y.im);
    if (pred == TS_EQ)
        return ts__nd_emit_both(e, re, im);
    if (pred == TS_NE)
        return ts__nd_emit_either(e, re, im);
    ts_pred strict = pred == TS_LE ? TS_LT : pred == TS_GE ? TS_GT : pred;
    ts_val first = ts__nd_emit_is(e, strict, x.re, y.re), same = ts__nd_emit_is(e, TS_EQ, x.re, y.re);
    ts_val numbers = ts__nd_emit_both(e, ts__nd_emit_is(e, TS_EQ, x.im, x.im), ts__nd_emit_is(e, TS_EQ, y.im, y.im));
    first = ts__nd_emit_both(e, first, numbers);
    return ts__nd_emit_either(e, first, ts__nd_emit_both(e, same, im));
}

#define COMPARE(name, pred)                                             \
    static nd_val nd_emit_##name(const nd_emit *e, const nd_val *x)     \
    {                                                                   \
        return (nd_val){.re = emit_order(e, pred, x[0], x[1])};         \
    }
COMPARE(equal, TS_EQ)
COMPARE(not_equal, TS_NE)
COMPARE(less, TS_LT)
COMPARE(less_equal, TS_LE)
COMPARE(greater, TS_GT)
COMPARE(greater_equal, TS_GE)

/* A signed integer, as its 64 bits, and an unsigned one: below 0 it is less than all of these. */
static nd_val emit_mixed(const nd_emit *e, ts_pred pred, const nd_val *x)
{
    ts_val negative = ts_cmp(e->b, TS_OP_cmpi, TS_LT, x[0].re, ts__nd_emit_number(e, 0), 0);
    ts_val among = ts__nd_emit_is(e, pred, x[0].re, x[1].re);
    bool is_below = pred == TS_LT || pred == TS_LE || pred == TS_NE;
    if (is_below)
        return (nd_val){.re = ts__nd_emit_either(e, negative, among)};
    return (nd_val){.re = ts__nd_emit_both(e, ts__nd_emit_not(e, negative), among)};
}

#define MIXED(name, pred)                                                 \
    static nd_val nd_emit_mixed_##name(const nd_emit *e, const nd_val *x) \
    {                                                                     \
        return emit_mixed(e, pred, x);                                    \
    }
MIXED(equal, TS_EQ)
MIXED(not_equal, TS_NE)
MIXED(less, TS_LT)
MIXED(less_equal, TS_LE)
MIXED(greater, TS_GT)
MIXED(greater_equal, TS_GE)

static nd_val nd_emit_always(const nd_emit *e, const nd_val *x)
{
    (void)x;
    return (nd_val){.re = emit_truth(e, true)};
}

static nd_val nd_emit_never(const nd_emit *e, const nd_val *x)
{
    (void)x;
    return (nd_val){.re = emit_truth(e, false)};
}

static nd_val emit_choose(const nd_emit *e, ts_val c, nd_val x, nd_val y)
{
    return (nd_val){ts_select(e->b, c, x.re, y.re), e->kind == 'c' ? ts_select(e->b, c, x.im, y.im) : 0};
}

static ts_val emit_is_nan(const nd_emit *e, nd_val x)
{
    ts_val re = ts__nd_emit_is(e, TS_NE, x.re, x.re);
    return e->kind == 'c' ? ts__nd_emit_either(e, re, ts__nd_emit_is(e, TS_NE, x.im, x.im)) : re;
}

/* The operand that `pred` prefers. Complex: `nan` says whether one that is NaN is preferred or left. */
static nd_val emit_extreme(const nd_emit *e, ts_pred pred, bool nan, const nd_val *x)
{
    bool greater = pred == TS_GE;
    ts_op real = greater ? TS_OP_maxf : TS_OP_minf, integer = greater ? TS_OP_maxi : TS_OP_mini;
    if (e->kind == 'f')
        return (nd_val){.re = ts_op2(e->b, real, x[0].re, x[1].re, nan ? TS_A_NAN : 0)};
    if (e->kind != 'c')
        return emit_parts(e, greater ? TS_OP_ori : TS_OP_andi, integer, real, x);
    ts_val first = ts__nd_emit_either(e, emit_order(e, pred, x[0], x[1]), emit_is_nan(e, x[nan ? 0 : 1]));
    if (!nan)
        return emit_choose(e, ts__nd_emit_both(e, first, ts__nd_emit_not(e, emit_is_nan(e, x[0]))), x[0],
                           emit_choose(e, emit_is_nan(e, x[1]), x[0], x[1]));
    return emit_choose(e, first, x[0], x[1]);
}

static nd_val nd_emit_maximum(const nd_emit *e, const nd_val *x)
{
    return emit_extreme(e, TS_GE, true, x);
}

static nd_val nd_emit_minimum(const nd_emit *e, const nd_val *x)
{
    return emit_extreme(e, TS_LE, true, x);
}

static nd_val nd_emit_fmax(const nd_emit *e, const nd_val *x)
{
    return emit_extreme(e, TS_GE, false, x);
}

static nd_val nd_emit_fmin(const nd_emit *e, const nd_val *x)
{
    return emit_extreme(e, TS_LE, false, x);
}

static nd_val nd_emit_select(const nd_emit *e, const nd_val *x)
{
    return emit_choose(e, x[0].re, x[1], x[2]);
}

/* group.c writes it: it needs places. */
static nd_val nd_emit_gather(const nd_emit *e, const nd_val *x)
{
    (void)e;
    return x[0];
}

ts_val ts__nd_emit_wrapped(const nd_emit *e, const nd_val *x)
{
    ts_val is_back = ts__nd_emit_is(e, TS_LT, x[0].re, ts__nd_emit_number(e, 0));
    return ts_select(e->b, is_back, ts_op2(e->b, TS_OP_addi, x[0].re, x[1].re, 0), x[0].re);
}

static nd_val nd_emit_part_place(const nd_emit *e, const nd_val *x)
{
    ts_val at = ts__nd_emit_wrapped(e, x);
    ts_val is_there = ts_cmp(e->b, TS_OP_cmpi, TS_LT, at, x[1].re, TS_A_UNSIGNED);
    return (nd_val){.re = ts_select(e->b, is_there, at, ts__nd_emit_number(e, 0))};
}

/* group.c adds the places. */
static nd_val nd_emit_iota(const nd_emit *e, const nd_val *x)
{
    (void)e;
    return x[0];
}

/* ---- bits and tests ------------------------------------------------------------------------------ */

static nd_val nd_emit_bitwise_and(const nd_emit *e, const nd_val *x)
{
    return (nd_val){.re = ts_op2(e->b, TS_OP_andi, x[0].re, x[1].re, 0)};
}

static nd_val nd_emit_bitwise_or(const nd_emit *e, const nd_val *x)
{
    return (nd_val){.re = ts_op2(e->b, TS_OP_ori, x[0].re, x[1].re, 0)};
}

static nd_val nd_emit_bitwise_xor(const nd_emit *e, const nd_val *x)
{
    return (nd_val){.re = ts_op2(e->b, TS_OP_xori, x[0].re, x[1].re, 0)};
}

static nd_val nd_emit_invert(const nd_emit *e, const nd_val *x)
{
    return (nd_val){.re = ts_op2(e->b, TS_OP_xori, x[0].re, ts__nd_emit_number(e, e->kind == 'b' ? 1 : -1), 0)};
}

static nd_val nd_emit_isnan(const nd_emit *e, const nd_val *x)
{
    return (nd_val){.re = emit_is_float(e) ? emit_is_nan(e, x[0]) : emit_truth(e, false)};
}

static ts_val emit_is_inf(const nd_emit *e, ts_val x)
{
    return ts__nd_emit_is(e, TS_EQ, ts__nd_emit_op1(e, TS_OP_absf, x), ts__nd_emit_number(e, INFINITY));
}

static nd_val nd_emit_isinf(const nd_emit *e, const nd_val *x)
{
    if (!emit_is_float(e))
        return (nd_val){.re = emit_truth(e, false)};
    ts_val re = emit_is_inf(e, x[0].re);
    return (nd_val){.re = e->kind == 'c' ? ts__nd_emit_either(e, re, emit_is_inf(e, x[0].im)) : re};
}

static nd_val nd_emit_isfinite(const nd_emit *e, const nd_val *x)
{
    if (!emit_is_float(e))
        return (nd_val){.re = emit_truth(e, true)};
    ts_val bad = ts__nd_emit_either(e, nd_emit_isnan(e, x).re, nd_emit_isinf(e, x).re);
    return (nd_val){.re = ts__nd_emit_not(e, bad)};
}

/* ---- the table ----------------------------------------------------------------------------------- */

/* A row is an operation of the IR, a function of math.def, or an emitter. */
typedef struct emit_row {
    nd_emitter *emit;
    const char *name;
    ts_op op; /* TS_OP_none: `name` is one of math.def */
} emit_row;

#define ROW_OP(text) {.op = TS_OP_##text, .name = #text}
#define ROW_FN(text) {.name = #text}
#define ROW_OWN(name) {.emit = nd_emit_##name}
static const emit_row emit_rows[TS_ND_COUNT] = {
#define TS_ND(name, n_in, loops, missing, result, how, emit, doc) ROW_##how(emit),
#include "tessera/numeric.def"
};

static nd_val emit_complex(const nd_emit *e, const char *name, nd_val x)
{
    static const char *const names[TS_CMATH_COUNT] = {
#define X(text) #text,
        TS_CMATH(X)
#undef X
    };
    ts_val z[2] = {x.re, x.im}, out[2] = {0, 0};
    for (int fn = 0; fn < TS_CMATH_COUNT; fn++)
        if (strcmp(names[fn], name) == 0)
            ts__cmath_call(e->b, (ts_cmath)fn, z, out);
    ts_assert(out[0]);
    return (nd_val){out[0], out[1]};
}

nd_val ts__nd_emit_fn(const nd_emit *e, ts_nd_fn fn, const nd_val *x)
{
    const emit_row *row = &emit_rows[fn];
    if (row->emit)
        return row->emit(e, x);
    if (e->kind == 'c')
        return emit_complex(e, row->name, x[0]);
    if (!row->op)
        return (nd_val){.re = ts__nd_emit_math(e, row->name, x[0].re, x[1].re)};
    return (nd_val){.re = ts_nd_get(fn)->n_in == 2 ? ts__nd_emit_op2(e, row->op, x[0].re, x[1].re)
                                               : ts__nd_emit_op1(e, row->op, x[0].re)};
}
