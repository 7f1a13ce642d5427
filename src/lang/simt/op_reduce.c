/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions of an array by one thread, as methods and as NumPy's functions: a loop for each axis that carries what was
 * found so far. Sums of integers are int64 or uint64, of floats their own dtype; mean, var and std are float64. Those
 * that skip NaN (nansum, ...) keep what was found so far where an element is one. Part of the front end (lower.h); rows
 * in simt_op.def.
 */
#include "lang/simt/op.h"
#include <math.h>

typedef struct reduce_call {
    fr *f;
    uint32_t kind;
    ts_dtype dtype;  /* of the elements */
    ts_dtype sum;    /* of what is carried */
    bool skips;      /* elements that are NaN */
    fr_value mean;   /* var: taken from each element */
} reduce_call;

static ts_status reduce_op(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    return fr_simt_binary(f, op, x, y, (fr_options){0}, out);
}

static ts_val reduce_extreme(const reduce_call *r, ts_val x, ts_val y)
{
    bool real = fr_dtype_is_float(r->dtype), up = r->kind == FR_REDUCE_MAX;
    uint32_t attr = real ? (r->skips ? 0 : TS_A_NAN) : fr_dtype_is_signed(r->dtype) ? 0 : TS_A_UNSIGNED;
    ts_op op = real ? (up ? TS_OP_maxf : TS_OP_minf) : up ? TS_OP_maxi : TS_OP_mini;
    return ts_op2(&r->f->b, r->dtype == TS_DTYPE_bool_ ? (up ? TS_OP_ori : TS_OP_andi) : op, x, y,
                  r->dtype == TS_DTYPE_bool_ ? 0 : attr);
}

static ts_val reduce_is_number(fr *f, ts_val v)
{
    return ts_cmp(&f->b, TS_OP_cmpf, TS_EQ, v, v, 0);
}

/* Is the element before what was found so far: less or greater, or the first NaN. */
static ts_status reduce_is_better(const reduce_call *r, const fr_value *v, const fr_value *best, ts_val *out)
{
    fr *f = r->f;
    fr_value less;
    TS_TRY(fr_simt_compare(f, r->kind == FR_REDUCE_ARGMIN ? TS_OPERATOR_Lt : TS_OPERATOR_Gt, v, best, &less));
    *out = less.as.v;
    if (!fr_dtype_is_float(r->dtype))
        return TS_OK;
    ts_val nan = ts_cmp(&f->b, TS_OP_cmpf, TS_NE, v->as.v, v->as.v, TS_A_UNORDERED);
    nan = ts_op2(&f->b, TS_OP_andi, nan, reduce_is_number(f, best->as.v), 0);
    *out = ts_op2(&f->b, TS_OP_ori, *out, nan, 0);
    return TS_OK;
}

/* The carried values after one more element: so far, and of argmin and argmax where it was and how many there were. */
static ts_status reduce_step(const reduce_call *r, const fr_value *v, const ts_val *from, ts_val *to)
{
    fr *f = r->f;
    fr_value sum = fr_tile(r->sum, from[0]), part;
    ts_val x;
    switch (r->kind) {
    case FR_REDUCE_SUM:
    case FR_REDUCE_MEAN:
    case FR_REDUCE_PROD:
        TS_TRY(fr_simt_convert(f, v, r->sum, &part));
        TS_TRY(reduce_op(f, r->kind == FR_REDUCE_PROD ? TS_OPERATOR_Mult : TS_OPERATOR_Add, &sum, &part, &part));
        return fr_simt_cast(f, &part, r->sum, to);
    case FR_REDUCE_NUMBERS:
        *to = ts_op2(&f->b, TS_OP_addi, from[0], ts_int(&f->b, TS_T_i64, 1), 0);
        return TS_OK;
    case FR_REDUCE_VAR:
        TS_TRY(reduce_op(f, TS_OPERATOR_Sub, v, &r->mean, &part));
        TS_TRY(reduce_op(f, TS_OPERATOR_Mult, &part, &part, &part));
        TS_TRY(reduce_op(f, TS_OPERATOR_Add, &sum, &part, &part));
        return fr_simt_cast(f, &part, r->sum, to);
    case FR_REDUCE_ANY:
    case FR_REDUCE_ALL:
    case FR_REDUCE_COUNT:
        TS_TRY(fr_simt_truth(f, v, &x));
        if (r->kind == FR_REDUCE_COUNT)
            *to = ts_op2(&f->b, TS_OP_addi, from[0], ts_cast(&f->b, TS_OP_exti, x, TS_T_i64, TS_A_UNSIGNED), 0);
        else
            *to = ts_op2(&f->b, r->kind == FR_REDUCE_ANY ? TS_OP_ori : TS_OP_andi, from[0], x, 0);
        return TS_OK;
    case FR_REDUCE_ARGMIN:
    case FR_REDUCE_ARGMAX:
        TS_TRY(reduce_is_better(r, v, &sum, &x));
        to[0] = ts_select(&f->b, x, v->as.v, from[0]);
        to[1] = ts_select(&f->b, x, from[2], from[1]);
        to[2] = ts_op2(&f->b, TS_OP_addi, from[2], ts_int(&f->b, TS_T_i64, 1), 0);
        return TS_OK;
    default:
        *to = reduce_extreme(r, from[0], v->as.v);
        return TS_OK;
    }
}

enum { REDUCE_CARRIED = 3 };

static ts_status reduce_loops(const reduce_call *r, uint32_t node, const fr_value *array, uint32_t n, ts_val *carried)
{
    fr *f = r->f;
    const fr_array *a = array->as.array;
    ts_val openers[TS_ARRAY_RANK], stop, address, zero = ts_int(&f->b, TS_T_i64, 0), one = ts_int(&f->b, TS_T_i64, 1);
    fr_value index[TS_ARRAY_RANK], at;
    for (uint32_t d = 0; d < a->rank; d++) {
        TS_TRY(fr_simt_cast(f, &a->shape[d], TS_DTYPE_int64, &stop));
        openers[d] = ts_for_begin(&f->b, zero, stop, one, n, carried, 0);
        index[d] = fr_tile(TS_DTYPE_int64, ts_region_arg(f->b.fn, openers[d], 0));
        for (uint32_t i = 0; i < n; i++)
            carried[i] = ts_region_arg(f->b.fn, openers[d], 1 + i);
    }
    TS_TRY(fr_tuple(f, a->rank, index, &at));
    TS_TRY(fr_simt_address(f, node, array, &at, FR_CHECKED, &address));
    fr_value v;
    TS_TRY(fr_simt_get(f, a, address, TS_CACHE_NONE, &v));
    ts_val next[REDUCE_CARRIED];
    TS_TRY(reduce_step(r, &v, carried, next));
    if (r->skips && fr_dtype_is_float(r->dtype) && r->kind < FR_REDUCE_MIN)
        *next = ts_select(&f->b, reduce_is_number(f, v.as.v), *next, *carried);
    for (uint32_t d = a->rank; d-- > 0;) {
        ts_term(&f->b, TS_OP_continue, n, next);
        ts_end_like(&f->b, openers[d]);
        for (uint32_t i = 0; i < n; i++)
            next[i] = f->b.fn->inst.n - n + i;
    }
    memcpy(carried, next, n * sizeof *next);
    return TS_OK;
}

/* What no element is after: the greatest number of the dtype for a minimum. Where NaN are skipped a NaN, which stays
 * where there is nothing else. */
static ts_val reduce_last(const reduce_call *r)
{
    ts_builder *b = &r->f->b;
    bool down = r->kind == FR_REDUCE_MAX || r->kind == FR_REDUCE_ARGMAX;
    ts_type type = fr_ir(r->dtype);
    uint32_t bits = fr_dtype_bits(r->dtype);
    if (fr_dtype_is_float(r->dtype))
        return ts_float(b, type, r->skips ? (double)NAN : down ? (double)-INFINITY : (double)INFINITY);
    if (r->dtype == TS_DTYPE_bool_ || !fr_dtype_is_signed(r->dtype))
        return ts_int(b, type, down ? 0 : r->dtype == TS_DTYPE_bool_ ? 1 : -1);
    int64_t least = INT64_MIN >> (64 - bits);
    return ts_int(b, type, down ? least : -(least + 1));
}

/* What is carried into the loops. */
static ts_status reduce_begin(const reduce_call *r, ts_val *carried)
{
    fr *f = r->f;
    fr_value start = fr_number(r->kind == FR_REDUCE_PROD || r->kind == FR_REDUCE_ALL);
    carried[1] = carried[2] = ts_int(&f->b, TS_T_i64, 0);
    if (r->kind < FR_REDUCE_MIN)
        return fr_simt_cast(f, &start, r->sum, carried);
    carried[0] = reduce_last(r);
    return TS_OK;
}

static ts_dtype reduce_dtype(uint32_t kind, ts_dtype dtype)
{
    fr_rule rule;
    switch (kind) {
    case FR_REDUCE_SUM:
    case FR_REDUCE_PROD:
        return fr_dtype_is_float(dtype) || !fr_simt_rule(TS_OPERATOR_Add, dtype, dtype, &rule) ? dtype : rule.result;
    case FR_REDUCE_MEAN: /* of integers: no sum of them overflows */
        return fr_dtype_is_float(dtype) || fr_dtype_cat(dtype) == FR_COMPLEX ? dtype : TS_DTYPE_float64;
    case FR_REDUCE_VAR:
        return TS_DTYPE_float64;
    case FR_REDUCE_COUNT:
    case FR_REDUCE_NUMBERS:
        return TS_DTYPE_int64;
    case FR_REDUCE_ANY:
    case FR_REDUCE_ALL:
        return TS_DTYPE_bool_;
    default:
        return dtype;
    }
}

static ts_status reduce_run(fr *f, const fr_call *c, const fr_value *array, uint32_t kind, const fr_value *mean,
                            fr_value *out)
{
    ts_dtype dtype = (ts_dtype)array->as.array->dtype;
    reduce_call r = {f, kind, dtype, reduce_dtype(kind, dtype), c->op->y != 0, mean ? *mean : fr_none()};
    bool places = kind == FR_REDUCE_ARGMIN || kind == FR_REDUCE_ARGMAX;
    ts_val carried[REDUCE_CARRIED];
    TS_TRY(reduce_begin(&r, carried));
    TS_TRY(reduce_loops(&r, c->node, array, places ? REDUCE_CARRIED : 1, carried));
    *out = places ? fr_tile(TS_DTYPE_int64, carried[1]) : fr_tile(r.sum, carried[0]);
    return TS_OK;
}

/* How many elements a mean is of. */
static ts_status reduce_count(fr *f, const fr_call *c, const fr_value *array, fr_value *out)
{
    bool found;
    return c->op->y ? reduce_run(f, c, array, FR_REDUCE_NUMBERS, NULL, out)
                    : fr_simt_array_attribute(f, array, "size", out, &found);
}

static ts_status reduce_one(fr *f, const fr_value *number, fr_value *out)
{
    ts_val truth;
    TS_TRY(fr_simt_truth(f, number, &truth));
    *out = fr_tile(TS_DTYPE_int64, ts_cast(&f->b, TS_OP_exti, truth, TS_T_i64, TS_A_UNSIGNED));
    return TS_OK;
}

ts_status fr_simt_reduce(fr *f, const fr_call *c, fr_value *out)
{
    uint32_t kind = c->op->x;
    fr_value array = c->arg[0], size, mean, half = fr_real(0.5);
    bool found = fr_simt_is_number(&array);
    bool divides = kind == FR_REDUCE_MEAN || kind == FR_REDUCE_VAR || kind == FR_REDUCE_STD;
    if (found && kind == FR_REDUCE_COUNT) /* NumPy's of a number */
        return reduce_one(f, &array, out);
    TS_TRY(fr_simt_constant_array(f, &c->arg[0], &array, &found));
    if (array.kind != FR_ARRAY || array.as.array->element)
        return fr_arg_error(f, c, 0, "an array of numbers");
    bool adds = kind <= FR_REDUCE_COUNT || kind == FR_REDUCE_MEAN;
    if (fr_dtype_cat((ts_dtype)array.as.array->dtype) == FR_COMPLEX && (!adds || c->op->y))
        return fr_arg_error(f, c, 0, "an array of real numbers");
    TS_TRY(reduce_run(f, c, &array, divides ? FR_REDUCE_MEAN : kind, NULL, out));
    if (!divides)
        return TS_OK;
    TS_TRY(reduce_count(f, c, &array, &size));
    TS_TRY(reduce_op(f, TS_OPERATOR_Div, out, &size, &mean));
    *out = mean;
    if (kind == FR_REDUCE_MEAN)
        return TS_OK;
    TS_TRY(reduce_run(f, c, &array, FR_REDUCE_VAR, &mean, out));
    TS_TRY(reduce_op(f, TS_OPERATOR_Div, out, &size, out));
    return kind == FR_REDUCE_VAR ? TS_OK : reduce_op(f, TS_OPERATOR_Pow, out, &half, out);
}
