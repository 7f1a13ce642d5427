/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans. Several axes are reduced one after the other, the last first. argmax is a
 * reduction of (value, index) pairs whose combination does not depend on the order, so that the
 * first of equal elements wins on every target. Part of the front end (lower.h); rows in
 * tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"
#include "ir/float.h"
#include <math.h>

enum { REDUCE_MAX_INPUTS = 8 };

/* An integer as constants hold it: the sign bit of its type repeated upwards, whatever the sign means. */
static uint64_t reduce_extend(ts_dtype dtype, uint64_t x)
{
    uint32_t up = 64 - fr_dtype_bits(dtype);
    return dtype == TS_DTYPE_bool_ ? x & 1 : (uint64_t)((int64_t)(x << up) >> up);
}

/* Payload of a number in a dtype: what `reduce` takes as identity. */
static uint64_t reduce_bits(ts_dtype dtype, const fr_value *number)
{
    double x = fr_as_double(number);
    if (fr_dtype_cat(dtype) != FR_FLOAT)
        return reduce_extend(dtype, (uint64_t)(number->cat == FR_FLOAT ? (fr_int)x : number->as.i));
    return ts__float_from_f64(fr_ir(dtype), x, TS_RN);
}

/* What max (or min) leaves alone: where NaN loses to any number that is NaN, since an infinity would
 * win over a line of NaNs. Integers are sign-extended as constants are. */
static uint64_t reduce_extreme(ts_dtype dtype, bool is_max, bool nan_wins)
{
    uint32_t bits = fr_dtype_bits(dtype);
    fr_value v = fr_real(!nan_wins ? NAN : is_max ? -INFINITY : INFINITY);
    if (fr_dtype_is_float(dtype))
        return reduce_bits(dtype, &v);
    if (dtype == TS_DTYPE_bool_)
        return !is_max;
    if (!fr_dtype_is_signed(dtype))
        return is_max ? 0 : UINT64_MAX;
    uint64_t low = UINT64_MAX << (bits - 1);
    return is_max ? low : ~low;
}

/* ---- axes ---------------------------------------------------------------------------- */

/* Axes as a bit mask: None is all, an int, a tuple. */
static ts_status reduce_axes(fr *f, const fr_call *c, uint32_t i, uint32_t rank, uint32_t *mask)
{
    const fr_value *v = &c->arg[i], *items = v->kind == FR_TUPLE ? v->as.items : v;
    *mask = (1u << rank) - 1;
    if (!fr_given(c, i))
        return TS_OK;
    *mask = 0;
    for (uint32_t k = 0; k < (v->kind == FR_TUPLE ? v->n : 1); k++) {
        fr_call one = *c;
        uint32_t axis;
        one.arg[i] = items[k];
        TS_TRY(fr_arg_axis(f, &one, i, rank, &axis));
        if (*mask >> axis & 1)
            return fr_error(f, c->at[i], TS_TILETYPE, "%s(): axis %u is given twice", fr_op_name(c),
                            axis);
        *mask |= 1u << axis;
    }
    return TS_OK;
}

static ts_status reduce_keep(fr *f, const fr_shape *from, uint32_t mask, bool keep, fr_value *v)
{
    fr_shape shape = *from;
    for (uint32_t d = 0; d < shape.rank; d++)
        if (mask >> d & 1)
            shape.dims[d] = 1;
    return keep ? fr_reshape_to(f, v, &shape, v) : TS_OK;
}

static ts_status reduce_input(fr *f, const fr_call *c, fr_value *out)
{
    TS_TRY(fr_arg_tile(f, c, 0, out));
    if (fr_dtype_is_restricted((ts_dtype)out->dtype))
        return fr_error(f, c->at[0], TS_TILETYPE,
                        "%s() is not defined for %s: it is a storage type\n  help: convert with "
                        "ct.astype(x, ct.float32) first",
                        fr_op_name(c), ts_dtype_name((ts_dtype)out->dtype));
    return TS_OK;
}

/* ---- one operation ------------------------------------------------------------------- */

typedef struct reduce_simple {
    ts_op region, op; /* reduce or scan; the operation between two elements */
    uint32_t attr;
    uint64_t identity;
    bool reverse;
} reduce_simple;

static ts_val reduce_one(fr *f, const reduce_simple *r, uint32_t axis, ts_val x)
{
    ts_val opener = ts_reduce_begin(&f->b, r->region, axis, r->reverse, 1, &x, &r->identity);
    ts_val element = ts_region_arg(f->b.fn, opener, 0), acc = ts_region_arg(f->b.fn, opener, 1);
    ts_val both = ts_op2(&f->b, r->op, acc, element, r->attr);
    ts_term(&f->b, TS_OP_yield, 1, &both);
    ts_end_like(&f->b, opener);
    return f->b.fn->inst.n - 1;
}

/* Reduces every axis of the mask. Axes of size 1 only lose their dimension. */
static ts_status reduce_all(fr *f, const reduce_simple *r, uint32_t mask, bool keep, fr_value *v)
{
    fr_shape from = fr_shape_of(f, v), now = from;
    for (uint32_t d = from.rank; d-- > 0;) {
        if (!(mask >> d & 1))
            continue;
        for (uint32_t k = d; k + 1 < now.rank; k++)
            now.dims[k] = now.dims[k + 1];
        now.rank--;
        if (from.dims[d] == 1)
            TS_TRY(fr_reshape_to(f, v, &now, v));
        else
            v->as.v = reduce_one(f, r, d, v->as.v);
    }
    return reduce_keep(f, &from, mask, keep, v);
}

#define REDUCE_MODES (1u << TS_RN | 1u << TS_RZ | 1u << TS_RM | 1u << TS_RP)

/* Sum or product of `dtype`. A sum of negative zeros is one, so floats start at -0; rounding down,
 * -0 + 0 is -0 and 0 is the neutral one. */
static ts_status reduce_sum_of(fr *f, const fr_call *c, ts_dtype dtype, reduce_simple *r)
{
    bool add = c->op->x == TS_OPERATOR_Add, real = fr_dtype_is_float(dtype);
    TS_TRY(fr_arg_attr(f, c, 3, 4, REDUCE_MODES, dtype, &r->attr));
    double zero = (r->attr & TS_A_ROUND_MASK) == TS_RM ? 0.0 : -0.0;
    fr_value neutral = real ? fr_real(add ? zero : 1) : fr_number(!add);
    r->op = real ? (add ? TS_OP_addf : TS_OP_mulf) : (add ? TS_OP_addi : TS_OP_muli);
    r->identity = reduce_bits(dtype, &neutral);
    return TS_OK;
}

/* The sums of both parts. */
static ts_status reduce_complex(fr *f, const fr_call *c, fr_value *v)
{
    fr_call of = *c;
    fr_value part[2];
    ts_dtype dtype = (ts_dtype)v->dtype;
    TS_TRY(fr_complex_parts(f, v, &part[0], &part[1]));
    for (int i = 0; i < 2; i++) {
        of.arg[0] = part[i];
        TS_TRY(fr_op_sum(f, &of, &part[i]));
    }
    *v = fr_complex_join(f, dtype, part[0].as.v, part[1].as.v);
    return TS_OK;
}

ts_status fr_op_sum(fr *f, const fr_call *c, fr_value *out)
{
    reduce_simple r = {.region = TS_OP_reduce};
    uint32_t mask;
    bool keep;
    TS_TRY(reduce_input(f, c, out));
    if (fr_is_complex(out))
        return reduce_complex(f, c, out);
    if (out->dtype == TS_DTYPE_bool_)
        TS_TRY(fr_convert(f, out, TS_DTYPE_int32, TS_RN, out));
    TS_TRY(reduce_axes(f, c, 1, fr_shape_of(f, out).rank, &mask));
    TS_TRY(fr_arg_flag(f, c, 2, false, &keep));
    TS_TRY(reduce_sum_of(f, c, (ts_dtype)out->dtype, &r));
    return reduce_all(f, &r, mask, keep, out);
}

ts_status fr_op_running(fr *f, const fr_call *c, fr_value *out)
{
    reduce_simple r = {.region = TS_OP_scan};
    uint32_t axis = 0;
    TS_TRY(reduce_input(f, c, out));
    if (out->dtype == TS_DTYPE_bool_)
        TS_TRY(fr_convert(f, out, TS_DTYPE_int32, TS_RN, out));
    fr_shape shape = fr_shape_of(f, out);
    if (fr_given(c, 1))
        TS_TRY(fr_arg_axis(f, c, 1, shape.rank, &axis));
    else if (shape.rank == 0)
        return fr_error(f, c->node, TS_TILETYPE, "%s() of a scalar", fr_op_name(c));
    TS_TRY(fr_arg_flag(f, c, 2, false, &r.reverse));
    TS_TRY(reduce_sum_of(f, c, (ts_dtype)out->dtype, &r));
    out->as.v = reduce_one(f, &r, axis, out->as.v);
    return TS_OK;
}

ts_status fr_op_extreme(fr *f, const fr_call *c, fr_value *out)
{
    uint32_t mask, flush;
    bool keep, nan;
    TS_TRY(reduce_input(f, c, out));
    ts_dtype dtype = (ts_dtype)out->dtype;
    TS_TRY(reduce_axes(f, c, 1, fr_shape_of(f, out).rank, &mask));
    TS_TRY(fr_arg_flag(f, c, 2, false, &keep));
    TS_TRY(fr_arg_attr(f, c, TS_NO, 3, 0, dtype, &flush));
    TS_TRY(fr_arg_flag(f, c, 4, false, &nan));
    bool real = fr_dtype_is_float(dtype), is_max = c->op->x != 0;
    reduce_simple r = {.region = TS_OP_reduce, .identity = reduce_extreme(dtype, is_max, nan)};
    r.op = real                      ? (is_max ? TS_OP_maxf : TS_OP_minf)
           : dtype == TS_DTYPE_bool_ ? (is_max ? TS_OP_ori : TS_OP_andi)
           : is_max                  ? TS_OP_maxi
                                     : TS_OP_mini;
    if (real)
        r.attr = flush | (nan ? TS_A_NAN : 0);
    else if (dtype != TS_DTYPE_bool_ && !fr_dtype_is_signed(dtype))
        r.attr = TS_A_UNSIGNED;
    return reduce_all(f, &r, mask, keep, out);
}

/* ---- argmax, argmin ------------------------------------------------------------------ */

/* 0, 1, 2, .. along `axis` of the shape, as int32. */
static ts_status reduce_iota(fr *f, const fr_shape *shape, uint32_t axis, fr_value *out)
{
    fr_shape line = {1, {shape->dims[axis]}}, column = *shape;
    for (uint32_t d = 0; d < column.rank; d++)
        column.dims[d] = d == axis ? shape->dims[d] : 1;
    *out = fr_tile(TS_DTYPE_int32,
                   ts_emit(&f->b, TS_OP_iota, fr_type(f, TS_DTYPE_int32, &line), 0, NULL, 0, 0));
    TS_TRY(fr_reshape_to(f, out, &column, out));
    return fr_splat(f, out, shape, out);
}

static ts_val reduce_both(fr *f, ts_op op, ts_val a, ts_val b)
{
    return ts_op2(&f->b, op, a, b, 0);
}

/* Does the pair (x, i) win over (a, j)? Better value, or equal value and smaller index. A NaN loses
 * to any number, or with `nan` wins over it; of two NaNs the smaller index wins. */
static ts_val reduce_wins(fr *f, const fr_value *like, bool is_max, bool nan, ts_val x, ts_val i,
                          ts_val a, ts_val j)
{
    ts_builder *b = &f->b;
    ts_dtype dtype = (ts_dtype)like->dtype;
    bool real = fr_dtype_is_float(dtype);
    ts_op cmp = real ? TS_OP_cmpf : TS_OP_cmpi;
    uint32_t sign = !real && !fr_dtype_is_signed(dtype) ? TS_A_UNSIGNED : 0;
    ts_val first = ts_cmp(b, TS_OP_cmpi, TS_LT, i, j, 0);
    ts_val better = ts_cmp(b, cmp, is_max ? TS_GT : TS_LT, x, a, sign);
    ts_val tie = reduce_both(f, TS_OP_andi, ts_cmp(b, cmp, TS_EQ, x, a, sign), first);
    ts_val wins = reduce_both(f, TS_OP_ori, better, tie);
    if (!real)
        return wins;
    ts_val x_nan = ts_cmp(b, cmp, TS_NE, x, x, TS_A_UNORDERED),
           a_nan = ts_cmp(b, cmp, TS_NE, a, a, TS_A_UNORDERED);
    ts_val loser = nan ? x_nan : a_nan,
           other = nan ? a_nan : x_nan; /* the pair wins if `loser` holds and not `other` */
    ts_val not_other = reduce_both(f, TS_OP_xori, other, ts_int(b, TS_T_i1, 1));
    ts_val by_nan = reduce_both(f, TS_OP_andi, loser, reduce_both(f, TS_OP_ori, not_other, first));
    return reduce_both(f, TS_OP_ori, wins, by_nan);
}

static ts_status reduce_arg(fr *f, const fr_call *c, const fr_value *x, uint32_t axis, bool nan,
                            fr_value *out)
{
    fr_value index;
    fr_shape shape = fr_shape_of(f, x);
    ts_dtype dtype = (ts_dtype)x->dtype;
    bool is_max = c->op->x != 0;
    TS_TRY(reduce_iota(f, &shape, axis, &index));
    uint64_t identities[] = {reduce_extreme(dtype, is_max, nan), INT32_MAX};
    ts_val inputs[] = {x->as.v, index.as.v};
    ts_val opener = ts_reduce_begin(&f->b, TS_OP_reduce, axis, false, 2, inputs, identities), v[4],
           yields[2];
    for (uint32_t i = 0; i < 4; i++)
        v[i] = ts_region_arg(f->b.fn, opener,
                      i); /* element, accumulator of the value; the same of the index */
    ts_val wins = reduce_wins(f, x, is_max, nan, v[0], v[2], v[1], v[3]);
    yields[0] = ts_select(&f->b, wins, v[0], v[1]);
    yields[1] = ts_select(&f->b, wins, v[2], v[3]);
    ts_term(&f->b, TS_OP_yield, 2, yields);
    ts_end_like(&f->b, opener);
    *out = fr_tile(TS_DTYPE_int32, f->b.fn->inst.n - 1);
    return TS_OK;
}

ts_status fr_op_arg_extreme(fr *f, const fr_call *c, fr_value *out)
{
    fr_value x;
    uint32_t axis = 0;
    bool keep, nan;
    TS_TRY(reduce_input(f, c, &x));
    TS_TRY(fr_arg_flag(f, c, 2, false, &keep));
    TS_TRY(fr_arg_flag(f, c, 3, false, &nan));
    if (x.dtype == TS_DTYPE_bool_)
        TS_TRY(fr_convert(f, &x, TS_DTYPE_int32, TS_RN, &x));
    fr_shape from = fr_shape_of(f, &x);
    if (fr_given(c, 1)) {
        TS_TRY(fr_arg_axis(f, c, 1, from.rank, &axis));
        TS_TRY(reduce_arg(f, c, &x, axis, nan, out));
        return reduce_keep(f, &from, 1u << axis, keep, out);
    }
    fr_shape flat = {1, {1}};
    for (uint32_t d = 0; d < from.rank; d++)
        flat.dims[0] *= from.dims[d];
    TS_TRY(fr_reshape_to(f, &x, &flat, &x));
    TS_TRY(reduce_arg(f, c, &x, 0, nan, out));
    return reduce_keep(f, &from, UINT32_MAX, keep, out);
}

/* ---- functions of the user ----------------------------------------------------------- */

typedef struct reduce_fold {
    uint32_t n, axis;
    fr_value x[REDUCE_MAX_INPUTS];
    ts_val inputs[REDUCE_MAX_INPUTS];
    uint64_t identities[REDUCE_MAX_INPUTS];
} reduce_fold;

static ts_status reduce_fold_inputs(fr *f, const fr_call *c, reduce_fold *r)
{
    const fr_value *x = &c->arg[0], *ids = &c->arg[3];
    fr_shape shape = {0};
    r->n = x->kind == FR_TUPLE ? x->n : 1;
    if (r->n == 0 || r->n > REDUCE_MAX_INPUTS)
        return fr_arg_error(f, c, 0,
                            fr_textf(f, "a tile or a tuple of 1 to %d tiles", REDUCE_MAX_INPUTS));
    if ((ids->kind == FR_TUPLE ? ids->n : 1) != r->n)
        return fr_arg_error(
            f, c, 3, fr_textf(f, "%u constant%s, one for each tile", r->n, r->n == 1 ? "" : "s"));
    for (uint32_t i = 0; i < r->n; i++) {
        fr_call one = *c;
        one.arg[0] = x->kind == FR_TUPLE ? x->as.items[i] : *x;
        TS_TRY(reduce_input(f, &one, &r->x[i]));
        fr_shape s = fr_shape_of(f, &r->x[i]);
        TS_TRY(fr_broadcast_shapes(f, &shape, &s, &shape));
    }
    TS_TRY(fr_arg_axis(f, c, 1, shape.rank, &r->axis));
    for (uint32_t i = 0; i < r->n; i++) {
        fr_value id = ids->kind == FR_TUPLE ? ids->as.items[i] : *ids;
        if (id.kind != FR_NUMBER)
            return fr_arg_error(f, c, 3, "constants");
        TS_TRY(fr_convert(f, &id, (ts_dtype)r->x[i].dtype, TS_RN, &id));
        TS_TRY(fr_splat(f, &r->x[i], &shape, &r->x[i]));
        r->inputs[i] = r->x[i].as.v;
        r->identities[i] = reduce_bits((ts_dtype)r->x[i].dtype, &id);
    }
    return TS_OK;
}

static ts_status reduce_fold_body(fr *f, const fr_call *c, const reduce_fold *r, ts_val opener)
{
    fr_value args[2 * REDUCE_MAX_INPUTS], result;
    ts_val yields[REDUCE_MAX_INPUTS];
    for (uint32_t i = 0; i < r->n; i++) { /* the accumulators, then the elements */
        args[i] = fr_tile((ts_dtype)r->x[i].dtype, ts_region_arg(f->b.fn, opener, 2 * i + 1));
        args[r->n + i] = fr_tile((ts_dtype)r->x[i].dtype, ts_region_arg(f->b.fn, opener, 2 * i));
    }
    ts_val from = f->b.fn->inst.n;
    const char *outer = f->pure;
    f->pure = fr_op_name(c);
    TS_TRY(fr_call_value(f, &c->arg[2], c->at[2], 2 * r->n, args, &result));
    f->pure = outer;
    const fr_value *items = result.kind == FR_TUPLE ? result.as.items : &result;
    if ((result.kind == FR_TUPLE ? result.n : 1) != r->n)
        return fr_error(f, c->at[2], TS_TILETYPE,
                        "%s(): the function must give %u value%s\n  found: %s", fr_op_name(c), r->n,
                        r->n == 1 ? "" : "s", fr_say(f, &result));
    for (uint32_t i = 0; i < r->n; i++) {
        fr_value v;
        TS_TRY(fr_implicit(f, &items[i], (ts_dtype)r->x[i].dtype, fr_textf(f, "%s()", fr_op_name(c)),
                           &v));
        if (fr_shape_of(f, &v).rank)
            return fr_error(f, c->at[2], TS_TILETYPE,
                            "%s(): the function must give scalars, found %s", fr_op_name(c),
                            fr_say(f, &v));
        yields[i] = v.as.v;
    }
    for (ts_val v = from; v < f->b.fn->inst.n; v++)
        if (!(ts_info(ts_at(f->b.fn, v))->flags & TS_PURE) ||
            ts_info(ts_at(f->b.fn, v))->flags & TS_REGION)
            return fr_not_pure(f, fr_op_name(c), c->at[2],
                               fr_textf(f, "one of them in line %u", ts__loc_of(f->b.fn, v)->line));
    ts_term(&f->b, TS_OP_yield, r->n, yields);
    return TS_OK;
}

ts_status fr_op_fold(fr *f, const fr_call *c, fr_value *out)
{
    reduce_fold r = {0};
    bool flag, is_scan = c->op->x == TS_OP_scan;
    fr_value results[REDUCE_MAX_INPUTS];
    TS_TRY(reduce_fold_inputs(f, c, &r));
    TS_TRY(fr_arg_flag(f, c, 4, false, &flag));
    fr_shape shape = fr_shape_of(f, &r.x[0]);
    ts_val opener = ts_reduce_begin(&f->b, (ts_op)c->op->x, r.axis, is_scan && flag, r.n, r.inputs,
                                    r.identities);
    TS_TRY(reduce_fold_body(f, c, &r, opener));
    fr_at(f, c->node);
    ts_end_like(&f->b, opener);
    ts_val first = f->b.fn->inst.n - r.n;
    for (uint32_t i = 0; i < r.n; i++) {
        results[i] = fr_tile((ts_dtype)r.x[i].dtype, first + i);
        TS_TRY(reduce_keep(f, &shape, 1u << r.axis, !is_scan && flag, &results[i]));
    }
    *out = results[0];
    return c->arg[0].kind == FR_TUPLE ? fr_tuple(f, r.n, results, out) : TS_OK;
}
