/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of calls that check.c does not look at: those that wait, on many elements, or on another device. Their kernel
 * tells. It takes one look at results of functions with poles, and of quotients: is any not finite? Only a tile with
 * one is computed again, with all that went wrong beside each result, and stores a byte.
 * Nobody waits for it; who reads a value next finds it (ts_nd_graph_late).
 *
 *     flags    a row of 8 bytes for each function; byte i is 1 where a tile had the faults i (TS_ND_DIVIDE ..)
 *
 * Indices without a place (TS_ND_part_place) are told of in any case, by each element: who reads at those places waits
 * for what is told (_index.py).
 *
 * Sums, products and exponentials, which only overflow, tell nothing: of large arrays what divides, has a domain, or is
 * cast to fewer numbers, is worth the look.
 */
#include "numeric/group.h"
#include <math.h>

enum { TELL_ROW = 8 };
#define TELL_BYTES ((int64_t)TELL_ROW * TS_ND_COUNT)

bool ts__nd_tells(ts_nd_fn fn, ts_dtype loop, ts_dtype result)
{
    char kind = nd_kind(loop);
    if (fn == TS_ND_part_place)
        return true;
    if (fn == TS_ND_copy)
        return !ts__nd_check_is_safe(loop, result);
    if (ts__nd_check_orders(fn, loop))
        return true;
    if (kind != 'f' && kind != 'c')
        return kind != 'b' && ts__nd_check_divides(fn);
    switch (fn) {
    case TS_ND_divide: case TS_ND_floor_divide: case TS_ND_remainder: case TS_ND_fmod: case TS_ND_power:
    case TS_ND_float_power: case TS_ND_reciprocal: case TS_ND_sqrt: case TS_ND_log: case TS_ND_log2: case TS_ND_log10:
    case TS_ND_log1p: case TS_ND_sin: case TS_ND_cos: case TS_ND_tan: case TS_ND_arcsin: case TS_ND_arccos:
    case TS_ND_arccosh: case TS_ND_arctanh: case TS_ND_logaddexp: case TS_ND_logaddexp2: return true;
    default: return false;
    }
}

/* ---- in kernels ---------------------------------------------------------------------------------- */

static ts_val tell_number(const nd_emit *e, uint32_t faults)
{
    return ts_int(e->b, ts__nd_emit_type(e, TS_T_i32), faults);
}

static ts_val tell_pick(const nd_emit *e, ts_val c, uint32_t faults)
{
    return ts_select(e->b, c, tell_number(e, faults), tell_number(e, 0));
}

static ts_val tell_zero(const nd_emit *e, nd_val x)
{
    ts_val re = ts__nd_emit_is(e, TS_EQ, x.re, ts__nd_emit_number(e, 0));
    return x.im ? ts__nd_emit_both(e, re, ts__nd_emit_is(e, TS_EQ, x.im, ts__nd_emit_number(e, 0))) : re;
}

/* As check.c has it. */
static ts_val tell_integers(const nd_emit *e, ts_nd_fn fn, const nd_val *x)
{
    if (fn == TS_ND_reciprocal)
        return tell_pick(e, tell_zero(e, x[0]), TS_ND_DIVIDE | TS_ND_INVALID);
    ts_val code = tell_pick(e, tell_zero(e, x[1]), TS_ND_DIVIDE);
    bool of_times = fn == TS_ND_time_floor_divide;
    if (e->kind != 'i' || (fn != TS_ND_floor_divide && !of_times))
        return code;
    ts_val least = ts_int(e->b, ts__nd_emit_type(e, e->scalar), INT64_MIN >> (64 - ts_dtype_get(e->loop)->bits));
    ts_val first = ts__nd_emit_is(e, TS_EQ, x[0].re, least);
    if (of_times) { /* NaT */
        ts_val none = ts__nd_emit_either(e, first, ts__nd_emit_is(e, TS_EQ, x[1].re, least));
        return ts_select(e->b, none, tell_number(e, TS_ND_INVALID), code);
    }
    ts_val other = ts__nd_emit_is(e, TS_EQ, x[1].re, ts__nd_emit_number(e, -1));
    return ts_select(e->b, ts__nd_emit_both(e, first, other), tell_number(e, TS_ND_OVERFLOW), code);
}

static ts_val tell_compare(const nd_emit *e, uint32_t how, ts_val x, double y, uint32_t flags)
{
    return ts_cmp(e->b, TS_OP_cmpf, how, x, ts__nd_emit_number(e, y), flags);
}

/* From which number on a float dtype has infinity: half a step beyond its largest. */
static double tell_limit(ts_dtype dtype)
{
    switch (dtype) {
    case TS_DTYPE_float16: return 65520;
    case TS_DTYPE_bfloat16: return ldexp(2 - ldexp(1, -8), 127);
    default: return ldexp(2 - ldexp(1, -24), 127);
    }
}

/* Where a float's cast to an integer is invalid: as check.c has it. Floats that are too narrow for the bounds are only
 * where they are not finite. */
static ts_val tell_whole(const nd_emit *e, ts_dtype to, ts_val x)
{
    const ts_dtype_info *info = ts_dtype_get(to);
    int bits = TS_MAX(info->bits, 32), wide = ts_dtype_get(e->loop)->bits;
    double most = info->kind == 'u' && info->bits >= 32 ? ldexp(1, bits) : ldexp(1, bits - 1);
    if (e->loop == TS_DTYPE_float16)
        return tell_compare(e, TS_GE, ts__nd_emit_op1(e, TS_OP_absf, x), INFINITY, TS_A_UNORDERED);
    bool has_next = wide == 64 && bits == 32; /* numbers between the least integer and the one below */
    ts_val below = tell_compare(e, has_next ? TS_LE : TS_LT, x, -ldexp(1, bits - 1) - has_next, TS_A_UNORDERED);
    return ts__nd_emit_either(e, below, tell_compare(e, TS_GE, x, most, 0));
}

/* Where a cast to fewer numbers has a fault; of complex numbers in either part. */
static ts_val tell_cast(const nd_emit *e, ts_dtype to, nd_val x)
{
    char kind = nd_kind(to);
    if (kind != 'f' && kind != 'c')
        return tell_whole(e, to, x.re);
    if (e->kind == 'i' || e->kind == 'u') {
        ts_val above = ts__nd_emit_is(e, TS_GE, x.re, ts__nd_emit_number(e, tell_limit(to)));
        return e->kind == 'u' ? above
                              : ts__nd_emit_either(e, above, ts__nd_emit_is(e, TS_LE, x.re,
                                                                         ts__nd_emit_number(e, -tell_limit(to))));
    }
    ts_dtype part = (ts_dtype)ts_dtype_get(to)->part;
    ts_val parts[2] = {x.re, kind == 'c' ? x.im : 0}, found = 0;
    for (int i = 0; i < 2 && parts[i]; i++) {
        ts_val size = ts__nd_emit_op1(e, TS_OP_absf, parts[i]);
        ts_val beyond = ts__nd_emit_both(e, tell_compare(e, TS_GE, size, tell_limit(part ? part : to), 0),
                                      tell_compare(e, TS_LT, size, INFINITY, 0));
        found = found ? ts__nd_emit_either(e, found, beyond) : beyond;
    }
    return found;
}

static ts_val tell_cast_code(const nd_emit *e, ts_dtype to, nd_val x)
{
    char kind = nd_kind(to);
    return tell_pick(e, tell_cast(e, to, x), kind == 'f' || kind == 'c' ? TS_ND_OVERFLOW : TS_ND_INVALID);
}

/* Where a function has a pole, whose value is infinite exactly; 0: it has none. */
static ts_val tell_pole(const nd_emit *e, ts_nd_fn fn, const nd_val *x)
{
    ts_val one = ts__nd_emit_number(e, 1), zero = ts__nd_emit_number(e, 0);
    switch (fn) {
    case TS_ND_divide: case TS_ND_floor_divide: return tell_zero(e, x[1]);
    case TS_ND_power: case TS_ND_float_power:
        return ts__nd_emit_both(e, tell_zero(e, x[0]), ts__nd_emit_is(e, TS_LT, x[1].re, zero));
    case TS_ND_reciprocal: case TS_ND_log: case TS_ND_log2: case TS_ND_log10: return tell_zero(e, x[0]);
    case TS_ND_log1p: return ts__nd_emit_is(e, TS_EQ, x[0].re, ts__nd_emit_number(e, -1));
    case TS_ND_arctanh: return ts__nd_emit_is(e, TS_EQ, ts__nd_emit_op1(e, TS_OP_absf, x[0].re), one);
    default: return 0;
    }
}

/* Where a part is NaN, or infinite; of several values where one is. */
static void tell_look(const nd_emit *e, nd_val x, ts_val *nan, ts_val *inf)
{
    ts_val parts[2] = {x.re, x.im}, most = ts__nd_emit_number(e, INFINITY);
    for (int i = 0; i < 2 && parts[i]; i++) {
        ts_val is_nan = ts__nd_emit_is(e, TS_NE, parts[i], parts[i]);
        ts_val is_inf = ts__nd_emit_is(e, TS_EQ, ts__nd_emit_op1(e, TS_OP_absf, parts[i]), most);
        *nan = *nan ? ts__nd_emit_either(e, *nan, is_nan) : is_nan;
        *inf = *inf ? ts__nd_emit_either(e, *inf, is_inf) : is_inf;
    }
}

static ts_val tell_nan(const nd_emit *e, ts_val x, ts_val y)
{
    return ts__nd_emit_either(e, ts__nd_emit_is(e, TS_NE, x, x), ts__nd_emit_is(e, TS_NE, y, y));
}

/* As check.c has it. */
static ts_val tell_order(const nd_emit *e, const nd_val *x)
{
    ts_val same = ts__nd_emit_is(e, TS_EQ, x[0].re, x[1].re);
    ts_val im = ts__nd_emit_both(e, same, tell_nan(e, x[0].im, x[1].im));
    return ts__nd_emit_either(e, tell_nan(e, x[0].re, x[1].re), im);
}

/* Where a result is NaN of no NaN: of complex sums in either part, else in any. */
static ts_val tell_invalid(const nd_emit *e, const nd_node *node, const nd_val *x, nd_val y, ts_val nan, ts_val nan_in)
{
    if (e->kind != 'c' || (node->fn != TS_ND_add && node->fn != TS_ND_subtract))
        return ts__nd_emit_both(e, nan, ts__nd_emit_not(e, nan_in));
    ts_val re = ts__nd_emit_is(e, TS_NE, y.re, y.re), im = ts__nd_emit_is(e, TS_NE, y.im, y.im);
    re = ts__nd_emit_both(e, re, ts__nd_emit_not(e, tell_nan(e, x[0].re, x[1].re)));
    im = ts__nd_emit_both(e, im, ts__nd_emit_not(e, tell_nan(e, x[0].im, x[1].im)));
    return ts__nd_emit_either(e, re, im);
}

ts_val ts__nd_tell_code(const nd_emit *e, const nd_node *node, const nd_val *x, nd_val y)
{
    ts_nd_fn fn = (ts_nd_fn)node->fn;
    ts_val nan = 0, inf = 0, nan_in = 0, inf_in = 0;
    if (fn == TS_ND_copy)
        return tell_cast_code(e, (ts_dtype)node->dtype, x[0]);
    if (e->kind != 'f' && e->kind != 'c')
        return tell_integers(e, fn, x);
    if (ts__nd_check_orders(fn, e->loop))
        return tell_pick(e, tell_order(e, x), TS_ND_INVALID);
    tell_look(e, y, &nan, &inf);
    for (uint32_t i = 0; i < node->n_in; i++)
        tell_look(e, x[i], &nan_in, &inf_in);
    bool compares = fn == TS_ND_logaddexp || fn == TS_ND_logaddexp2; /* operands, of which NaN is invalid */
    ts_val invalid = compares ? nan : tell_invalid(e, node, x, y, nan, nan_in);
    ts_val odd = ts__nd_emit_either(e, nan_in, inf_in), beyond = ts__nd_emit_both(e, inf, ts__nd_emit_not(e, odd));
    ts_val pole = tell_pole(e, fn, x), kind = tell_number(e, ts__nd_check_beyond(fn, e->loop));
    if (pole)
        kind = ts_select(e->b, pole, tell_number(e, TS_ND_DIVIDE), kind);
    ts_val code = ts_select(e->b, beyond, kind, tell_number(e, 0));
    return ts_op2(e->b, TS_OP_ori, code, tell_pick(e, invalid, TS_ND_INVALID), 0);
}

ts_val ts__nd_tell_hint(const nd_emit *e, const nd_node *node, const nd_val *x, nd_val y)
{
    ts_val parts[2] = {y.re, y.im}, hint = 0;
    if (node->fn == TS_ND_part_place)
        return ts_cmp(e->b, TS_OP_cmpi, TS_GE, ts__nd_emit_wrapped(e, x), x[1].re, TS_A_UNSIGNED);
    if (node->fn == TS_ND_copy)
        return tell_cast(e, (ts_dtype)node->dtype, x[0]);
    if (e->kind != 'f' && e->kind != 'c')
        return ts_cmp(e->b, TS_OP_cmpi, TS_NE, tell_integers(e, (ts_nd_fn)node->fn, x), tell_number(e, 0), 0);
    if (ts__nd_check_orders((ts_nd_fn)node->fn, e->loop))
        return tell_order(e, x);
    for (int i = 0; i < 2 && parts[i]; i++) {
        ts_val size = ts__nd_emit_op1(e, TS_OP_absf, parts[i]);
        ts_val odd = ts_cmp(e->b, TS_OP_cmpf, TS_GE, size, ts__nd_emit_number(e, INFINITY), TS_A_UNORDERED);
        hint = hint ? ts__nd_emit_either(e, hint, odd) : odd;
    }
    return hint;
}

/* The bits that elements of a tile have together, a tile of one element; the last axis first, as stores walk. */
static ts_val tell_joined(nd_emit *tile, ts_val x)
{
    for (uint32_t d = tile->rank; d-- > 0; tile->tile[d] = 1)
        if (tile->tile[d] > 1)
            x = ts__nd_fold_tile(tile, TS_ND_ANY, (nd_val){.re = x}, 0, UINT32_C(1) << d).re;
    return x;
}

ts_val ts__nd_tell_joined(const nd_emit *e, ts_val c)
{
    nd_emit tile = ts__nd_emit_at(e, TS_DTYPE_bool_);
    return tell_joined(&tile, c);
}

ts_val ts__nd_tell_any(const nd_emit *e, ts_val c)
{
    return ts_reshape(e->b, ts__nd_tell_joined(e, c), TS_T_i1);
}

/* Stores a byte for elements of a mask: in the row of a function, where the code says. */
static void tell_store(const nd_emit *e, ts_nd_fn fn, ts_val flags, ts_val code, ts_val mask)
{
    ts_val row = tell_number(e, (uint32_t)fn * TELL_ROW);
    ts_val pointer = ts_broadcast(e->b, flags, ts__nd_emit_type(e, ts_val_type(e->fn, flags)));
    ts_val opnds[3] = {ts_op2(e->b, TS_OP_offset, pointer, ts_op2(e->b, TS_OP_addi, row, code, 0), 0),
                       ts_int(e->b, ts__nd_emit_type(e, TS_T_i8), 1), mask};
    (void)ts_emit(e->b, TS_OP_store_ptr_tko, TS_T_token, 3, opnds, 0, TS_F_MASK);
}

void ts__nd_tell(const nd_emit *e, const nd_node *node, ts_val flags, ts_val code)
{
    nd_emit tile = ts__nd_emit_at(e, TS_DTYPE_int32);
    code = tell_joined(&tile, code);
    code = ts_op2(e->b, TS_OP_andi, code, tell_number(&tile, node->told), 0);
    ts_val some = ts_cmp(e->b, TS_OP_cmpi, TS_NE, code, tell_number(&tile, 0), 0);
    tell_store(&tile, (ts_nd_fn)node->fn, flags, code, some);
}

void ts__nd_tell_each(const nd_emit *e, ts_nd_fn fn, ts_val flags, ts_val found)
{
    nd_emit tile = ts__nd_emit_at(e, TS_DTYPE_int32);
    tell_store(&tile, fn, flags, tell_number(&tile, TS_ND_INVALID), found);
}

/* ---- the flags ----------------------------------------------------------------------------------- */

static ts_status tell_flags(ts_nd_graph *graph, ts_array **out, ts_error *err)
{
    return ts_array_zeros(graph->device, NULL, TS_DTYPE_uint8, 1, (int64_t[]){TELL_BYTES}, out, err);
}

bool ts__nd_tell_begin(ts_nd_graph *graph)
{
    return graph->flags || tell_flags(graph, &graph->flags, NULL) == TS_OK;
}

void ts_nd_graph_wants(ts_nd_graph *graph, uint32_t faults)
{
    graph->wants = (uint8_t)(faults & (TS_ND_DIVIDE | TS_ND_OVERFLOW | TS_ND_INVALID));
    graph->underflows = faults & TS_ND_UNDERFLOW;
}

bool ts_nd_graph_is_late(const ts_nd_graph *graph)
{
    return graph->is_late || (graph->near && graph->near->is_late);
}

/* Adds what kernels of one graph told. */
static ts_status tell_late(ts_nd_graph *graph, uint8_t faults[TS_ND_COUNT], ts_error *err)
{
    uint8_t flags[TELL_BYTES];
    bool any = false;
    TS_TRY(ts_array_to_host(graph->flags, NULL, flags, NULL, err));
    for (int64_t fn = 0; fn < TS_ND_COUNT; fn++) {
        uint64_t row; /* most often all of them are 0 */
        memcpy(&row, flags + fn * TELL_ROW, sizeof row);
        for (int i = 0; row && i < TELL_ROW; i++)
            faults[fn] |= (uint8_t)(flags[fn * TELL_ROW + i] ? i : 0);
        any |= row != 0;
    }
    if (any) {
        ts_array *fresh;
        TS_TRY(tell_flags(graph, &fresh, err));
        ts_array_release(graph->flags);
        graph->flags = fresh;
    }
    graph->is_late = false;
    return TS_OK;
}

ts_status ts_nd_graph_late(ts_nd_graph *graph, uint8_t faults[TS_ND_COUNT], ts_error *err)
{
    TS_NEED(err, graph, faults);
    memset(faults, 0, TS_ND_COUNT);
    if (graph->near && graph->near->is_late)
        TS_TRY(tell_late(graph->near, faults, err));
    return graph->is_late ? tell_late(graph, faults, err) : TS_OK;
}
