/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of reductions (fold.c), written with a builder: folding two values, neutral elements, the walk over tiles of
 * the folded axes, the parts of pieces and their join, running reductions.
 */
#include "numeric/fold.h"
#include <math.h>

/* Arguments of a kernel behind those of its group. */
typedef struct fold_params {
    ts_val per_piece, count, pieces;
} fold_params;

/* ---- folding two values -------------------------------------------------------------------------- */

/* Accumulators: of one value its parts; of argument functions the index behind them. Of SPREAD the mean so far, what
 * the squares sum up to, and of how many elements. */
typedef struct fold_acc {
    nd_val value;
    ts_val index;
} fold_acc;

static ts_val fold_is_nan(const nd_emit *e, nd_val x)
{
    return ts__nd_emit_fn(e, TS_ND_isnan, &x).re;
}

/* Whether element x replaces the accumulator: it is better, the first NaN, or as good with a lesser index. */
static ts_val fold_wins(const nd_emit *e, ts_nd_fold fold, fold_acc x, fold_acc acc)
{
    nd_val both[2] = {x.value, acc.value};
    ts_val better = ts__nd_emit_fn(e, fold == TS_ND_ARGMAX ? TS_ND_greater : TS_ND_less, both).re;
    ts_val same = ts__nd_emit_fn(e, TS_ND_equal, both).re;
    ts_val nan = fold_is_nan(e, x.value), other = fold_is_nan(e, acc.value);
    better = ts__nd_emit_both(e, better, ts__nd_emit_not(e, other));
    better = ts__nd_emit_either(e, better, ts__nd_emit_both(e, nan, ts__nd_emit_not(e, other)));
    same = ts__nd_emit_either(e, same, ts__nd_emit_both(e, nan, other));
    ts_val before = ts_cmp(e->b, TS_OP_cmpi, TS_LT, x.index, acc.index, 0);
    return ts__nd_emit_either(e, better, ts__nd_emit_both(e, same, before));
}

/* The same where x comes later than the accumulator's element, as in a walk. */
static ts_val fold_wins_later(const nd_emit *e, ts_nd_fold fold, fold_acc x, fold_acc acc)
{
    nd_val both[2] = {x.value, acc.value};
    if (e->kind != 'f')
        return e->kind == 'c' ? fold_wins(e, fold, x, acc)
                              : ts__nd_emit_fn(e, fold == TS_ND_ARGMAX ? TS_ND_greater : TS_ND_less, both).re;
    ts_val other = fold_is_nan(e, acc.value);
    ts_val worse = ts__nd_emit_fn(e, fold == TS_ND_ARGMAX ? TS_ND_less_equal : TS_ND_greater_equal, both).re;
    return ts__nd_emit_not(e, ts__nd_emit_either(e, worse, other)); /* x NaN: nothing is worse */
}

static fold_acc fold_choice(const nd_emit *e, ts_val wins, fold_acc x, fold_acc acc)
{
    nd_val choice[3] = {{wins, 0}, x.value, acc.value};
    return (fold_acc){ts__nd_emit_fn(e, TS_ND_select, choice), ts_select(e->b, wins, x.index, acc.index)};
}

static ts_val fold_of_two(const nd_emit *e, ts_nd_fn fn, ts_val x, ts_val y)
{
    nd_val both[2] = {{.re = x}, {.re = y}};
    return ts__nd_emit_fn(e, fn, both).re;
}

/* Two parts of what is spread, `part` of whose elements are x's and `before` the accumulator's (T. Chan, G. Golub, R.
 * LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979). */
static nd_val fold_spread(const nd_emit *e, nd_val x, nd_val acc, ts_val part, ts_val before)
{
    ts_val away = fold_of_two(e, TS_ND_subtract, x.re, acc.re);
    ts_val moved = fold_of_two(e, TS_ND_multiply, away, part);
    ts_val more = fold_of_two(e, TS_ND_multiply, fold_of_two(e, TS_ND_multiply, away, moved), before);
    ts_val squares = x.im ? fold_of_two(e, TS_ND_add, acc.im, x.im) : acc.im;
    return (nd_val){fold_of_two(e, TS_ND_add, acc.re, moved), fold_of_two(e, TS_ND_add, squares, more)};
}

static ts_val fold_as_float(const nd_emit *e, ts_val n)
{
    return ts_cast(e->b, TS_OP_itof, n, e->scalar, 0);
}

/* Parts of nothing change nothing. */
static fold_acc fold_spreads(const nd_emit *e, fold_acc x, fold_acc acc)
{
    ts_val n = ts_op2(e->b, TS_OP_addi, acc.index, x.index, 0);
    ts_val some = ts_op2(e->b, TS_OP_maxi, n, ts_int(e->b, ts_val_type(e->fn, n), 1), 0);
    ts_val part = fold_of_two(e, TS_ND_divide, fold_as_float(e, x.index), fold_as_float(e, some));
    return (fold_acc){fold_spread(e, x.value, acc.value, part, fold_as_float(e, acc.index)), n};
}

static fold_acc fold_two(const nd_emit *e, ts_nd_fold fold, fold_acc x, fold_acc acc)
{
    if (fold == TS_ND_SPREAD)
        return fold_spreads(e, x, acc);

    static const ts_nd_fn fns[] = {[TS_ND_SUM] = TS_ND_add,     [TS_ND_PROD] = TS_ND_multiply,
                                   [TS_ND_MAX] = TS_ND_maximum, [TS_ND_MIN] = TS_ND_minimum,
                                   [TS_ND_ALL] = TS_ND_bitwise_and, [TS_ND_ANY] = TS_ND_bitwise_or};
    nd_val both[2] = {acc.value, x.value};
    if (!ts__nd_fold_is_arg(fold))
        return (fold_acc){.value = ts__nd_emit_fn(e, fns[fold], both)};
    return fold_choice(e, fold_wins(e, fold, x, acc), x, acc);
}

/* ---- neutral elements ---------------------------------------------------------------------------- */

/* Bits of the least or greatest number of a dtype, of its part if complex. */
static uint64_t fold_end(ts_dtype dtype, bool greatest)
{
    const ts_dtype_info *info = ts_dtype_get(dtype);
    ts_dtype part = info->part ? (ts_dtype)info->part : dtype;
    ts_nd_operand number = {.kind = 'f', .f = greatest ? (double)INFINITY : -(double)INFINITY};
    uint64_t bits[2], most = UINT64_MAX >> (65 - info->bits) % 64;
    if (info->kind == 'u')
        return greatest ? UINT64_MAX : 0; /* sign-extended, as all integers of the IR */
    if (info->kind == 'i')
        return greatest ? most : ~most;
    if (info->kind == 'b')
        return greatest;
    (void)ts__nd_number(&number, part, bits);
    return bits[0];
}

/* Of a sum of floats -0, which changes nothing; of argument functions an index beyond all. */
static uint64_t fold_neutral(ts_nd_fold fold, ts_dtype dtype, bool imaginary)
{
    uint64_t bits[2];
    const ts_dtype_info *info = ts_dtype_get(dtype);
    ts_dtype part = info->part ? (ts_dtype)info->part : dtype;
    ts_nd_operand number = {.kind = info->kind == 'f' || info->part ? 'f' : 'i', .f = -0.0};
    switch (fold) {
    case TS_ND_MAX: case TS_ND_ARGMAX: return fold_end(dtype, false);
    case TS_ND_MIN: case TS_ND_ARGMIN: return fold_end(dtype, true);
    case TS_ND_ALL: return 1;
    case TS_ND_ANY: case TS_ND_SPREAD: return 0;
    case TS_ND_PROD: number.f = imaginary ? 0 : 1, number.i = 1; break;
    default: break;
    }
    (void)ts__nd_number(&number, part, bits);
    return bits[0];
}

static ts_val fold_bits(const nd_emit *e, uint64_t bits)
{
    return ts_bits(e->b, ts__nd_emit_type(e, e->scalar), bits);
}

/* Without an index, which argument functions get where their walk begins. */
static fold_acc fold_begin(const nd_emit *e, ts_nd_fold fold)
{
    fold_acc acc = {{fold_bits(e, fold_neutral(fold, e->loop, false)), 0}, 0};
    if (e->kind == 'c' || fold == TS_ND_SPREAD)
        acc.value.im = fold_bits(e, fold_neutral(fold, e->loop, true));
    return acc;
}

/* What NumPy's sums begin with, so that those of nothing but -0 are 0. Running sums and parts begin with nothing. */
static fold_acc fold_zero(const nd_emit *e)
{
    ts_val zero = fold_bits(e, 0);
    return (fold_acc){.value = {zero, e->kind == 'c' ? zero : 0}};
}

/* ---- walking ------------------------------------------------------------------------------------- */

/* Accumulators as a list of values, for loops and reductions, and back. */
static uint32_t fold_pack(const fold_acc *acc, ts_val *out)
{
    uint32_t n = 0;
    out[n++] = acc->value.re;
    if (acc->value.im)
        out[n++] = acc->value.im;
    if (acc->index)
        out[n++] = acc->index;
    return n;
}

static fold_acc fold_unpack(const fold_acc *like, const ts_val *in)
{
    uint32_t n = 0;
    fold_acc acc = {.value.re = in[n++]};
    if (like->value.im)
        acc.value.im = in[n++];
    if (like->index)
        acc.index = in[n++];
    return acc;
}

static const nd_node *fold_node(const nd_group *group, const nd_node *node, uint32_t *at)
{
    for (*at = 0; *at < group->n_nodes; ++*at)
        if (group->nodes[*at] == node)
            return node;
    return NULL;
}

static uint32_t fold_axes(const fold_of *f)
{
    uint32_t axes = 0;
    for (uint32_t d = 0; d < f->k.axes.rank; d++)
        axes |= (uint32_t)f->k.axes.folded[d] << d;
    return axes;
}

/* Where elements are inside of all folded axes, and the mask lets them in; 0: everywhere. */
static ts_val fold_inside(const group_build *g, ts_builder *b, const fold_of *f)
{
    uint32_t at;
    ts_val inside = ts__nd_build_inside(g, b, fold_axes(f));
    if (f->mask && fold_node(f->k.group, f->mask, &at)) {
        ts_val in = g->node[at].re;
        inside = inside ? ts_op2(b, TS_OP_andi, inside, in, 0) : in;
    }
    return inside;
}

/* What is not inside becomes the neutral element, which wins over nothing. */
static fold_acc fold_masked(const nd_emit *e, ts_nd_fold fold, fold_acc x, ts_val inside)
{
    nd_val choice[3] = {{inside, 0}, x.value, fold_begin(e, fold).value};
    x.value = ts__nd_emit_fn(e, TS_ND_select, choice);
    return x;
}

/* Numbers of this block's elements along the folded axis, of which argument functions have one; 0 without one. */
static ts_val fold_numbers(const group_build *g, ts_builder *b, const fold_of *f)
{
    for (uint32_t d = g->e.rank; d-- > 0;)
        if (f->k.axes.folded[d])
            return ts__nd_build_numbers(g, b, d);
    return ts_int(b, ts__nd_emit_type(&g->e, g->k->index), 0);
}

/* The number of this block's piece. */
static ts_val fold_piece(const group_build *g, ts_builder *b)
{
    ts_val piece = ts_block_id(b, 2);
    return g->k->index == TS_T_i64 ? ts_cast(b, TS_OP_exti, piece, TS_T_i64, 0) : piece;
}

/* The first tile along folded axis d that this block walks. */
static ts_val fold_first(const group_build *g, ts_builder *b, const fold_of *f, uint32_t d)
{
    if (f->phase == FOLD_WHOLE || d != f->piece_axis)
        return ts_int(b, g->k->index, 0);
    return ts_op2(b, TS_OP_muli, fold_piece(g, b), g->extent[TS_MAX_RANK - 1], 0);
}

/* The accumulators of what is spread with one more element each, where they are inside: B. Welford's step (1962). Along
 * one axis elements are all inside until none is, so these have the number of the round. */
static fold_acc fold_step(const group_build *g, ts_builder *b, const fold_of *f, fold_acc x, fold_acc acc,
                          ts_val inside)
{
    nd_emit e = ts__nd_emit_at(&g->e, f->loop), one = e;
    ts_type counts = ts__nd_emit_type(&e, g->k->index), floats = ts__nd_emit_type(&e, e.scalar);
    uint32_t d = f->piece_axis, n_axes = 0;
    for (uint32_t i = 0; i < g->e.rank; i++)
        n_axes += f->k.axes.folded[i];
    x.index = ts_int(b, counts, 1);
    x.index = inside ? ts_select(b, inside, x.index, ts_int(b, counts, 0)) : x.index;
    if (n_axes != 1)
        return fold_spreads(&e, x, acc);
    one.rank = 0;
    ts_val before = ts_op2(b, TS_OP_subi, g->at[d], fold_first(g, b, f, d), 0);
    ts_val n = ts_op2(b, TS_OP_addi, before, ts_int(b, g->k->index, 1), 0);
    ts_val part = fold_of_two(&one, TS_ND_divide, ts_float(b, e.scalar, 1), fold_as_float(&one, n));
    part = ts_broadcast(b, part, floats);
    part = inside ? ts_select(b, inside, part, ts_float(b, floats, 0)) : part;
    before = ts_broadcast(b, fold_as_float(&one, before), floats);
    return (fold_acc){fold_spread(&e, x.value, acc.value, part, before),
                      ts_op2(b, TS_OP_addi, acc.index, x.index, 0)};
}

/* Accumulators of nothing. */
static fold_acc fold_start(const group_build *g, const nd_emit *e, const fold_of *f)
{
    fold_acc acc = f->fold == TS_ND_SUM ? fold_zero(e) : fold_begin(e, f->fold);
    if (f->fold == TS_ND_SPREAD)
        acc.index = ts_int(e->b, ts__nd_emit_type(e, g->k->index), 0);
    return acc;
}

/* The accumulators with this block's next tile. */
static fold_acc fold_tile(group_build *g, ts_builder *b, const fold_of *f, fold_acc acc)
{
    nd_emit e = ts__nd_emit_at(&g->e, f->walk);
    fold_acc x = {.index = 0};
    uint32_t at;
    ts__nd_build_values(g, b);
    ts_val inside = fold_inside(g, b, f);
    (void)fold_node(f->k.group, f->value, &at);
    x.value = g->node[at];
    x.index = ts__nd_fold_is_arg(f->fold) ? fold_numbers(g, b, f) : 0;
    acc.index = acc.index ? acc.index : x.index;
    if (inside && f->fold != TS_ND_SPREAD)
        x = fold_masked(&e, f->fold, x, inside);
    acc = f->fold == TS_ND_SPREAD ? fold_step(g, b, f, x, acc, inside)
          : acc.index ? fold_choice(&e, fold_wins_later(&e, f->fold, x, acc), x, acc) : fold_two(&e, f->fold, x, acc);
    ts__nd_build_told(g, b);
    return acc;
}

static fold_acc fold_walk(group_build *g, ts_builder *b, const fold_of *f, uint32_t d, fold_acc acc);

/* A loop over tiles along axis d, between two ends. It counts from 0, so that loads of several trips may go ahead
 * together (gpu/plan/ahead.c). */
static fold_acc fold_trips(group_build *g, ts_builder *b, const fold_of *f, uint32_t d, const ts_val ends[2],
                          fold_acc acc)
{
    ts_type index = g->k->index;
    ts_val values[3], zero = ts_int(b, index, 0), n_trips = ts_op2(b, TS_OP_subi, ends[1], ends[0], 0);
    uint32_t n = fold_pack(&acc, values);
    ts_val loop = ts_for_begin(b, zero, n_trips, ts_int(b, index, 1), n, values, 0);
    g->at[d] = ts_op2(b, TS_OP_addi, ends[0], ts_region_arg(g->e.fn, loop, 0), 0);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_region_arg(g->e.fn, loop, 1 + i);
    fold_acc next = fold_walk(g, b, f, d + 1, fold_unpack(&acc, values));
    (void)fold_pack(&next, values);
    ts_term(b, TS_OP_continue, n, values);
    ts_end_like(b, loop);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_res(b, loop, i);
    return fold_unpack(&acc, values);
}

/* The tile at the end, if there is one that is not whole. */
static fold_acc fold_last(group_build *g, ts_builder *b, const fold_of *f, uint32_t d, const ts_val ends[2],
                          fold_acc acc)
{
    ts_val values[3];
    ts_type types[3];
    uint32_t n = fold_pack(&acc, values);
    for (uint32_t i = 0; i < n; i++)
        types[i] = ts_val_type(g->e.fn, values[i]);
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, ends[0], ends[1], 0));
    g->at[d] = ends[0];
    fold_acc next = fold_walk(g, b, f, d + 1, acc);
    (void)fold_pack(&next, values);
    ts_term(b, TS_OP_yield, n, values);
    ts_else(b);
    (void)fold_pack(&acc, values);
    ts_term(b, TS_OP_yield, n, values);
    ts_end(b, opener, n, types);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_res(b, opener, i);
    return fold_unpack(&acc, values);
}

/* Whether whole tiles along axis d, the last one that is folded, have a loop of their own, without masks. */
static bool fold_is_split(const fold_of *f, uint32_t d)
{
    for (uint32_t i = d + 1; i < f->k.axes.rank; i++)
        if (f->k.axes.folded[i])
            return false;
    return !ts__nd_is_host(f->k.group->graph) && f->k.tile[d] > 1 && !f->is_scan;
}

/* Loops over folded axes from `d` on, around fold_tile. */
static fold_acc fold_walk(group_build *g, ts_builder *b, const fold_of *f, uint32_t d, fold_acc acc)
{
    ts_type index = g->k->index;
    while (d < g->e.rank && !f->k.axes.folded[d])
        d++;
    if (d == g->e.rank)
        return fold_tile(g, b, f, acc);
    ts_val ends[2] = {fold_first(g, b, f, d), ts__nd_build_tiles(g, b, d)};
    if (f->phase != FOLD_WHOLE && d == f->piece_axis)
        ends[1] = ts_op2(b, TS_OP_mini, ends[1], ts_op2(b, TS_OP_addi, ends[0], g->extent[TS_MAX_RANK - 1], 0), 0);
    g->at[d] = ends[0];
    if (ts__nd_fold_is_arg(f->fold)) /* what is as good as the neutral one wins over nothing: the first stays */
        acc.index = fold_numbers(g, b, f);
    if (!fold_is_split(f, d))
        return fold_trips(g, b, f, d, ends, acc);
    ts_val whole = ts_op2(b, TS_OP_divi, g->extent[d], ts_int(b, index, f->k.tile[d]), 0);
    ts_val middle = ts_op2(b, TS_OP_mini, ts_op2(b, TS_OP_maxi, whole, ends[0], 0), ends[1], 0);
    g->whole = f->whole | 1u << d;
    acc = fold_trips(g, b, f, d, (ts_val[2]){ends[0], middle}, acc);
    g->whole = f->whole;
    return fold_last(g, b, f, d, (ts_val[2]){middle, ends[1]}, acc);
}

/* Joins the accumulators along an axis of their tile; it stays, with extent 1, and `e` is of such tiles then. */
static fold_acc fold_join(nd_emit *e, ts_nd_fold fold, uint32_t d, fold_acc acc)
{
    nd_emit one = *e;
    ts_val values[3], x[3], y[3];
    uint32_t n = fold_pack(&acc, values);
    uint64_t neutral[3] = {fold_neutral(fold, e->loop, false)};
    if (acc.value.im)
        neutral[1] = fold_neutral(fold, e->loop, true);
    if (ts__nd_fold_is_arg(fold))
        neutral[n - 1] = ts_type_elem(e->module, ts_val_type(e->fn, acc.index)) == TS_T_i32 ? INT32_MAX : INT64_MAX;
    one.rank = 0;
    ts_val reduce = ts_reduce_begin(e->b, TS_OP_reduce, d, false, n, values, neutral);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = ts_region_arg(e->fn, reduce, 2 * i);
        y[i] = ts_region_arg(e->fn, reduce, 2 * i + 1);
    }
    fold_acc both = fold_two(&one, fold, fold_unpack(&acc, x), fold_unpack(&acc, y));
    (void)fold_pack(&both, values);
    ts_term(e->b, TS_OP_yield, n, values);
    ts_end_like(e->b, reduce);
    e->tile[d] = 1;
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_res(e->b, reduce, i);
    for (uint32_t i = 0; i < n; i++) {
        ts_type elem = ts_type_elem(e->module, ts_val_type(e->fn, values[i]));
        values[i] = ts_reshape(e->b, values[i], ts__nd_emit_type(e, elem));
    }
    return fold_unpack(&acc, values);
}

nd_val ts__nd_fold_tile(const nd_emit *e, ts_nd_fold fold, nd_val x, ts_val inside, uint32_t axes)
{
    nd_emit tile = *e;
    fold_acc acc = {.value = x};
    if (inside)
        acc = fold_masked(e, fold, acc, inside);
    for (uint32_t d = 0; d < e->rank; d++)
        if (axes >> d & 1 && e->tile[d] > 1)
            acc = fold_join(&tile, fold, d, acc);
    if (fold == TS_ND_SUM && strchr("fc", e->kind))
        acc = fold_two(&tile, fold, acc, fold_zero(&tile));
    return acc.value;
}

/* Joins along all folded axes. */
static fold_acc fold_join_all(const group_build *g, nd_emit *e, const fold_of *f, fold_acc acc)
{
    for (uint32_t d = 0; d < g->e.rank; d++)
        if (f->k.axes.folded[d] && e->tile[d] > 1)
            acc = fold_join(e, f->fold, d, acc);
    return acc;
}

/* Stores the result; tiles of `e` are 1 wide along folded axes. */
static void fold_store(group_build *g, ts_builder *b, const fold_of *f, const nd_emit *e, fold_acc acc)
{
    bool is_short = ts__nd_fold_is_arg(f->fold) && f->k.index == TS_T_i32;
    nd_emit tile = g->e;
    memcpy(tile.tile, e->tile, sizeof tile.tile);
    if (f->fold == TS_ND_SPREAD)
        acc.value = (nd_val){.re = acc.value.im};
    nd_val result = ts__nd_fold_is_arg(f->fold)
                        ? (nd_val){.re = is_short ? ts_cast(b, TS_OP_exti, acc.index, TS_T_i64, 0) : acc.index}
                        : ts__nd_emit_cast(&tile, acc.value, f->loop, f->result);
    ts_val whole = ts__nd_emit_stored(&tile, result, f->result), view, at[TS_MAX_RANK];
    uint32_t n = ts__nd_build_view(g, b, f->out, &view, at);
    int64_t dims[TS_MAX_RANK];
    for (uint32_t d = 0, i = 0; d < g->e.rank; d++)
        if (!(f->k.lacks[f->out] >> d & 1))
            dims[i++] = tile.tile[d];
    ts_type elem = ts__nd_memory_type(f->result);
    if (n)
        ts_store_view(b, view, ts_reshape(b, whole, ts_type_tile(e->module, elem, n, dims)), at, 0);
    else {
        ts_val opnds[2] = {g->pointer[f->out], ts_reshape(b, whole, elem)};
        (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 2, opnds, 0, 0);
    }
}

/* ---- parts --------------------------------------------------------------------------------------- */

static uint32_t fold_kept_axes(const fold_of *f)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < f->k.axes.rank; d++)
        n += !f->k.axes.folded[d];
    return n;
}

ts_dtype ts__nd_fold_parts_dtype(const fold_of *f)
{
    if (f->fold != TS_ND_SPREAD)
        return f->loop;
    return f->loop == TS_DTYPE_float64 ? TS_DTYPE_complex128 : TS_DTYPE_complex64;
}

/* The view of parts at place p: pieces, in the place of the axis that is cut, each of them as the result lies. Its
 * tiles are of `rows` pieces, this one is at `row`; its shape is `dims`, and how many axes it has. */
static uint32_t parts_view(const group_build *g, const fold_of *f, const fold_params *params, uint32_t p, int64_t rows,
                           ts_val row, ts_val *view, ts_val *at, int64_t *dims)
{
    ts_builder *b = g->e.b;
    uint32_t n = 0, n_steps = 0;
    bool is_line = fold_kept_axes(f) == 0;
    int64_t extents[TS_MAX_RANK], strides[TS_MAX_RANK];
    ts_val dynamic[2 * TS_MAX_RANK], steps[TS_MAX_RANK];
    for (uint32_t d = 0; d < g->e.rank; d++) {
        bool is_piece = d == f->piece_axis, is_unit = is_piece ? is_line : d == f->k.unit[f->out];
        if (f->k.axes.folded[d] && !is_piece)
            continue;
        extents[n] = TS_DYNAMIC;
        strides[n] = is_unit ? 1 : TS_DYNAMIC;
        dims[n] = is_piece ? rows : f->k.tile[d];
        dynamic[n] = is_piece ? params->pieces : g->extent[d];
        at[n++] = is_piece ? row : g->at[d];
        if (!is_unit)
            steps[n_steps++] = is_piece ? params->count : g->stride[f->out][d];
    }
    memcpy(dynamic + n, steps, n_steps * sizeof *steps);
    ts_val tensor = ts_tensor_view(b, g->pointer[p], n, extents, strides, n + n_steps, dynamic);
    *view = ts_partition_view(b, tensor, dims, TS_PAD_ZERO);
    return n;
}

static void parts_store(const group_build *g, const fold_of *f, const fold_params *params, uint32_t p, ts_val x)
{
    ts_val view, at[TS_MAX_RANK];
    int64_t dims[TS_MAX_RANK];
    uint32_t n = parts_view(g, f, params, p, 1, fold_piece(g, g->e.b), &view, at, dims);
    ts_type elem = ts_type_elem(g->e.module, ts_val_type(g->e.fn, x));
    ts_store_view(g->e.b, view, ts_reshape(g->e.b, x, ts_type_tile(g->e.module, elem, n, dims)), at, 0);
}

/* A chunk of parts as tiles of `e`. */
static ts_val parts_load(const group_build *g, const fold_of *f, const fold_params *params, uint32_t p, ts_val row)
{
    ts_val view, at[TS_MAX_RANK];
    int64_t dims[TS_MAX_RANK];
    (void)parts_view(g, f, params, p, f->chunk, row, &view, at, dims);
    ts_val x = ts_load_view(g->e.b, view, at, 0);
    return ts_reshape(g->e.b, x, ts__nd_emit_type(&g->e, ts_type_elem(g->e.module, ts_val_type(g->e.fn, x))));
}

/* The index of no element, or how many those of no part are. */
static ts_val parts_no_index(const group_build *g, const fold_of *f)
{
    int64_t last = g->k->index == TS_T_i32 ? INT32_MAX : INT64_MAX;
    return ts_int(g->e.b, ts__nd_emit_type(&g->e, g->k->index), f->fold == TS_ND_SPREAD ? 0 : last);
}

/* One chunk of parts; what is beyond the last piece wins over nothing. */
static fold_acc parts_chunk(const group_build *g, const fold_of *f, const fold_params *params, ts_val row)
{
    ts_builder *b = g->e.b;
    nd_emit e = ts__nd_emit_at(&g->e, f->loop);
    fold_acc x = {.value = ts__nd_emit_loaded(&e, parts_load(g, f, params, f->part, row), ts__nd_fold_parts_dtype(f))};
    if (f->chunk > 1) {
        ts_val end = ts_broadcast(b, params->pieces, ts__nd_emit_type(&g->e, g->k->index));
        ts_val inside = ts_cmp(b, TS_OP_cmpi, TS_LT, ts__nd_build_numbers(g, b, f->piece_axis), end, 0);
        x = f->fold == TS_ND_SPREAD ? x : fold_masked(&e, f->fold, x, inside);
        if (ts__nd_fold_has_index(f->fold))
            x.index = ts_select(b, inside, parts_load(g, f, params, f->part + 1, row), parts_no_index(g, f));
    } else if (ts__nd_fold_has_index(f->fold))
        x.index = parts_load(g, f, params, f->part + 1, row);
    return x;
}

/* The fold of all parts, with tiles of *e. */
static fold_acc parts_fold(group_build *g, const fold_of *f, const fold_params *params, nd_emit *e)
{
    ts_builder *b = g->e.b;
    ts_type index = g->k->index;
    ts_val values[3], chunk = ts_int(b, index, f->chunk);
    for (uint32_t d = 0; d < g->e.rank; d++)
        g->e.tile[d] = f->k.axes.folded[d] ? 1 : f->k.tile[d];
    g->e.tile[f->piece_axis] = f->chunk;
    *e = ts__nd_emit_at(&g->e, f->loop);
    fold_acc acc = fold_begin(e, f->fold);
    acc.index = ts__nd_fold_has_index(f->fold) ? parts_no_index(g, f) : 0;
    uint32_t n = fold_pack(&acc, values);
    ts_val end = ts_op2(b, TS_OP_addi, params->pieces, ts_int(b, index, f->chunk - 1), 0);
    end = ts_op2(b, TS_OP_divi, end, chunk, 0);
    ts_val loop = ts_for_begin(b, ts_int(b, index, 0), end, ts_int(b, index, 1), n, values, 0);
    ts_val row = g->at[f->piece_axis] = ts_region_arg(g->e.fn, loop, 0);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_region_arg(g->e.fn, loop, 1 + i);
    fold_acc next = fold_two(e, f->fold, parts_chunk(g, f, params, row), fold_unpack(&acc, values));
    (void)fold_pack(&next, values);
    ts_term(b, TS_OP_continue, n, values);
    ts_end_like(b, loop);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_res(b, loop, i);
    return fold_join_all(g, e, f, fold_unpack(&acc, values));
}

/* Where the number of blocks of this tile that have ended is counted. */
static ts_val parts_counter(const group_build *g, const fold_of *f)
{
    ts_builder *b = g->e.b;
    ts_val row = ts_op2(b, TS_OP_muli, ts_block_id(b, 1), ts_num_blocks(b, 0), 0);
    return ts_op2(b, TS_OP_offset, g->pointer[f->counter], ts_op2(b, TS_OP_addi, row, ts_block_id(b, 0), 0), 0);
}

/* Whether this block is the last of its tile: then it sees what all have stored. */
static ts_val parts_is_last(const group_build *g, const fold_of *f)
{
    ts_builder *b = g->e.b;
    uint32_t memory = TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(TS_RMW_ADD);
    ts_val opnds[2] = {parts_counter(g, f), ts_int(b, TS_T_i32, 1)};
    ts_val before = ts_emit(b, TS_OP_atomic_rmw_tko, TS_T_i32, 2, opnds, memory, 0);
    ts_val last = ts_op2(b, TS_OP_subi, ts_num_blocks(b, 2), ts_int(b, TS_T_i32, 1), 0);
    return ts_cmp(b, TS_OP_cmpi, TS_EQ, before, last, 0);
}

static void parts_join(group_build *g, ts_builder *b, const fold_of *f, const fold_params *params)
{
    nd_emit e;
    ts_val last = f->phase == FOLD_BOTH ? ts_if_begin(b, parts_is_last(g, f)) : 0;
    fold_acc acc = parts_fold(g, f, params, &e);
    fold_store(g, b, f, &e, acc);
    if (!last)
        return;
    ts_val opnds[2] = {parts_counter(g, f), ts_int(b, TS_T_i32, 0)}; /* for the next launch */
    (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 2, opnds, 0, 0);
    ts_if_end(b, last);
}

void ts__nd_fold_write(void *user, ts_module *module, ts_builder *b)
{
    const fold_of *f = user;
    const ts_alloc *alloc = f->k.group->graph->alloc;
    group_build *g = ts__nd_build_begin(&f->k, "fold", module, b);
    if (!g)
        return;
    fold_params params = {ts_fn_param(b, f->k.index), ts_fn_param(b, f->k.index), ts_fn_param(b, f->k.index)};
    g->extent[TS_MAX_RANK - 1] = params.per_piece;
    g->whole = f->whole;
    ts__nd_build_place_in_grid(g, b);
    if (f->phase != FOLD_JOIN) {
        nd_emit walk = ts__nd_emit_at(&g->e, f->walk), e = ts__nd_emit_at(&g->e, f->loop);
        if (!ts__nd_is_host(f->k.group->graph))
            ts__nd_build_still(g, b, fold_axes(f));
        fold_acc acc = fold_walk(g, b, f, 0, fold_start(g, &walk, f));
        acc.value = ts__nd_emit_cast(&g->e, acc.value, f->walk, f->loop);
        acc = fold_join_all(g, &e, f, acc);
        if (f->phase == FOLD_WHOLE)
            fold_store(g, b, f, &e, acc);
        else
            parts_store(g, f, &params, f->part, ts__nd_emit_stored(&e, acc.value, ts__nd_fold_parts_dtype(f)));
        if (f->phase != FOLD_WHOLE && acc.index)
            parts_store(g, f, &params, f->part + 1, acc.index);
    }
    if (f->phase == FOLD_JOIN || f->phase == FOLD_BOTH)
        parts_join(g, b, f, &params);
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}

/* ---- running folds ------------------------------------------------------------------------------- */

/* Values with what came before them in their first place along the axis, so that a scan goes on from there. */
static fold_acc scan_joined(const group_build *g, ts_builder *b, const fold_of *f, fold_acc x, fold_acc carry)
{
    nd_emit e = ts__nd_emit_at(&g->e, f->loop);
    uint32_t d = f->piece_axis;
    if (g->e.tile[d] == 1)
        return fold_two(&e, f->fold, x, carry);
    ts_val first = ts_op2(b, TS_OP_muli, g->at[d], ts_int(b, g->k->index, e.tile[d]), 0);
    ts_val start = ts_broadcast(b, first, ts__nd_emit_type(&e, g->k->index));
    ts_val is_first = ts_cmp(b, TS_OP_cmpi, TS_EQ, ts__nd_build_numbers(g, b, d), start, 0);
    nd_val choice[3] = {{is_first, 0}, fold_two(&e, f->fold, x, carry).value, x.value};
    return (fold_acc){.value = ts__nd_emit_fn(&e, TS_ND_select, choice)};
}

static fold_acc scan_tile(const group_build *g, ts_builder *b, const fold_of *f, fold_acc x)
{
    nd_emit e = ts__nd_emit_at(&g->e, f->loop), one = e;
    ts_val values[3], element[3], before[3];
    uint64_t neutral[2] = {fold_neutral(f->fold, f->loop, false), fold_neutral(f->fold, f->loop, true)};
    uint32_t n = fold_pack(&x, values);
    if (g->e.tile[f->piece_axis] == 1)
        return x;
    one.rank = 0;
    ts_val scan = ts_reduce_begin(b, TS_OP_scan, f->piece_axis, false, n, values, neutral);
    for (uint32_t i = 0; i < n; i++) {
        element[i] = ts_region_arg(e.fn, scan, 2 * i);
        before[i] = ts_region_arg(e.fn, scan, 2 * i + 1);
    }
    fold_acc both = fold_two(&one, f->fold, fold_unpack(&x, element), fold_unpack(&x, before));
    (void)fold_pack(&both, values);
    ts_term(b, TS_OP_yield, n, values);
    ts_end_like(b, scan);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_res(b, scan, i);
    return fold_unpack(&x, values);
}

/* The last of each row of a tile, everywhere in the row. */
static ts_val scan_last(const group_build *g, ts_builder *b, const fold_of *f, ts_val x)
{
    const nd_emit *e = &g->e;
    uint32_t d = f->piece_axis;
    ts_type elem = ts_type_elem(e->module, ts_val_type(e->fn, x));
    int64_t dims[TS_MAX_RANK];
    ts_val opnds[1 + TS_MAX_RANK] = {x};
    memcpy(dims, e->tile, sizeof dims);
    dims[d] = 1;
    for (uint32_t i = 0; i < e->rank; i++)
        opnds[1 + i] = ts_int(b, TS_T_i32, i == d ? e->tile[d] - 1 : 0);
    ts_type last = ts_type_tile(e->module, elem, e->rank, dims);
    return ts_broadcast(b, ts_emit(b, TS_OP_extract, last, 1 + e->rank, opnds, 0, 0), ts__nd_emit_type(e, elem));
}

static void scan_step(group_build *g, ts_builder *b, const fold_of *f, fold_acc *carry)
{
    uint32_t at;
    ts_val view, place[TS_MAX_RANK];
    ts__nd_build_values(g, b);
    ts__nd_build_told(g, b);
    (void)fold_node(f->k.group, f->value, &at);
    fold_acc x = scan_tile(g, b, f, scan_joined(g, b, f, (fold_acc){.value = g->node[at]}, *carry));
    nd_val result = ts__nd_emit_cast(&g->e, x.value, f->loop, f->result);
    if (ts__nd_build_view(g, b, f->out, &view, place))
        ts_store_view(b, view, ts__nd_emit_stored(&g->e, result, f->result), place, 0);
    carry->value.re = scan_last(g, b, f, x.value.re);
    if (x.value.im)
        carry->value.im = scan_last(g, b, f, x.value.im);
}

void ts__nd_scan_write(void *user, ts_module *module, ts_builder *b)
{
    const fold_of *f = user;
    const ts_alloc *alloc = f->k.group->graph->alloc;
    group_build *g = ts__nd_build_begin(&f->k, "scan", module, b);
    if (!g)
        return;
    ts_type index = f->k.index;
    fold_params unused = {ts_fn_param(b, index), ts_fn_param(b, index), ts_fn_param(b, index)};
    (void)unused;
    ts_val values[3];
    nd_emit e = ts__nd_emit_at(&g->e, f->loop);
    ts__nd_build_place_in_grid(g, b);
    fold_acc carry = fold_begin(&e, f->fold);
    uint32_t d = f->piece_axis, n = fold_pack(&carry, values);
    ts_val end = ts__nd_build_tiles(g, b, d);
    ts_val loop = ts_for_begin(b, ts_int(b, index, 0), end, ts_int(b, index, 1), n, values, 0);
    g->at[d] = ts_region_arg(g->e.fn, loop, 0);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_region_arg(g->e.fn, loop, 1 + i);
    carry = fold_unpack(&carry, values);
    scan_step(g, b, f, &carry);
    (void)fold_pack(&carry, values);
    ts_term(b, TS_OP_continue, n, values);
    ts_end_like(b, loop);
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}
