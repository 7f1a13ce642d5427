/* SPDX-License-Identifier: Apache-2.0
 *
 * Program order within a tile block (order.h). Threads run on their own, so two accesses that may touch the same
 * memory, one of them a store, need a barrier between them unless each byte belongs to the same thread in both.
 *
 *     %1 = load_view_tko %a ..      alias set {a}: loaded
 *     %2 = store_view_tko %b ..     alias set {b}: nothing of b was touched
 *     %3 = store_ptr_tko %p ..      %p from %a: a was loaded, barrier
 *
 * Pointer parameters count as different arrays, unless the launch says that arguments overlap (ts_fn.overlap). What was
 * touched since the last barrier is kept by array; at the edges of regions everything that the function ever touches
 * counts as touched. A store after a store of an array that is never loaded asks further (order_overwrites): loops that
 * store tile after tile, or run after run of addresses, need no barrier. The operands of an access may need barriers of
 * their own (changes of layout go through shared memory), so what it touches is noted behind those.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/view_access.h"

/* ---- which arrays ------------------------------------------------------------------------------------------- */

uint64_t ts__lower_alias_set(const ts_lower *lw, ts_val v)
{
    const ts_alias *alias = &lw->order.alias;
    uint32_t root = alias->root[v];
    ts_assert(root == TS_ALIAS_UNKNOWN || root < lw->tile->inst.n);
    const ts_inst *inst = root == TS_ALIAS_UNKNOWN ? NULL : ts_at(lw->tile, root);
    if (!inst || inst->op != TS_OP_param || lw->tile->overlap)
        return 1ull << TS_ALIAS_SET_UNKNOWN;
    return 1ull << TS_MIN(inst->aux, (uint32_t)TS_ALIAS_SET_LAST);
}

/* Counts the uses as tokens, and collects what the function ever loads and stores. */
static void order_scan(ts_lower *lw)
{
    for (ts_val v = 1; v < lw->tile->inst.n; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        uint32_t flags = ts_info(inst)->flags, token = ts__opnd_token(inst);
        bool access = flags & (TS_READ | TS_WRITE);
        if (inst->op == TS_OP_token)
            lw->order.tokens[inst->opnd[0]]++;
        else if (access && token != TS_NO)
            lw->order.tokens[ts_opnds(lw->tile, inst)[token]]++;
        if (!access)
            continue;
        uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
        lw->order.ever_loaded |= flags & TS_READ ? set : 0;
        lw->order.ever_stored |= flags & TS_WRITE ? set : 0;
    }
}

bool ts__order_init(ts_lower *lw)
{
    lw->order.tokens = TS_NEW_N(lw->arena, uint32_t, lw->tile->inst.n);
    if (!lw->order.tokens || !ts__alias_of(lw->tile, lw->arena, &lw->order.alias))
        return false;
    order_scan(lw);
    return true;
}

bool ts__lower_meets(uint64_t a, uint64_t b)
{
    uint64_t unknown = 1ull << TS_ALIAS_SET_UNKNOWN;
    return (a & b) || (a && b && ((a | b) & unknown));
}

/* ---- stores over stores --------------------------------------------------------------------------------------- */

/* The outermost loop that contains both; 0 = none. */
static ts_val order_loop(const ts_lower *lw, ts_val v, ts_val w)
{
    ts_val loop = 0;
    for (ts_val p = lw->shape.parent[v]; p; p = lw->shape.parent[p])
        if ((ts_at(lw->tile, p)->op == TS_OP_for || ts_at(lw->tile, p)->op == TS_OP_loop) && p < w &&
            w < lw->shape.end[p])
            loop = p;
    return loop;
}

/* Tiles of the view are the same or apart. */
static bool order_is_grid(const ts_lower *lw, ts_val view)
{
    const ts_type_info *info = ts_type_get(lw->module, ts_type_of(lw->tile, view));
    for (uint32_t d = 0; d < info->rank && info->kind == TS_KIND_STRIDED_VIEW; d++)
        if (info->strides[d] < info->dims[d])
            return false;
    return info->kind == TS_KIND_PARTITION_VIEW || info->kind == TS_KIND_STRIDED_VIEW;
}

/* The array of a view is the same in all trips of `loop`. */
static bool order_is_invariant(const ts_lower *lw, ts_val make, ts_val loop)
{
    for (uint32_t i = 0; loop && i < ts_at(lw->tile, make)->n_opnd; i++)
        if (ts_opnd(lw->tile, make, i) > loop)
            return false;
    return true;
}

/* An index of tile stores v and w that is a constant in both and differs. */
static bool order_differs(const ts_lower *lw, ts_val v, ts_val w)
{
    const ts_type_info *info = ts_type_get(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0)));
    for (uint32_t d = 0; d < info->rank; d++) {
        int64_t i, j;
        if (ts__const_as_int(lw->tile, ts_opnd(lw->tile, v, 2 + d), &i) &&
            ts__const_as_int(lw->tile, ts_opnd(lw->tile, w, 2 + d), &j) && i != j)
            return true;
    }
    return false;
}

/* Addresses of a tile of n elements of one axis: a sum of `common`, which are the same in all elements and trips of
 * `loop`, of multiples of n that are the same in all elements, and for element k of k. */
typedef struct order_comb {
    int64_t n;
    uint32_t n_common;
    ts_val loop, common[4];
} order_comb;

/* The same in all elements. */
static bool order_is_splat(const ts_lower *lw, ts_val x)
{
    ts_type type = ts_type_of(lw->tile, x);
    const ts_axis_fact *axis = lw->facts.at[x].axis;
    return ts_type_count(lw->module, type) == 1 || (axis && axis[0].constancy >= ts_type_count(lw->module, type));
}

/* Is x, the same in all elements, a sum of common values, which are noted, and of multiples? */
static bool order_is_base(const ts_lower *lw, ts_val x, order_comb *comb)
{
    const ts_inst *inst = ts_at(lw->tile, x);
    if (!ts_type_is_ptr(lw->module, ts_type_elem(lw->module, ts_type_of(lw->tile, x))) &&
        ts_fact_divides(&lw->facts, x, comb->n))
        return true;
    if (inst->op == TS_OP_exti || inst->op == TS_OP_broadcast || inst->op == TS_OP_reshape)
        return order_is_base(lw, inst->opnd[0], comb);
    if (inst->op == TS_OP_addi)
        return order_is_base(lw, inst->opnd[0], comb) && order_is_base(lw, inst->opnd[1], comb);
    if ((comb->loop && x > comb->loop) || comb->n_common == TS_COUNT(comb->common))
        return false;
    comb->common[comb->n_common++] = x;
    return true;
}

/* Is x, numbers or pointers, of the kind above? */
static bool order_is_comb(const ts_lower *lw, ts_val x, order_comb *comb)
{
    const ts_inst *inst = ts_at(lw->tile, x);
    const ts_axis_fact *axis = lw->facts.at[x].axis;
    ts_type elem = ts_type_elem(lw->module, ts_type_of(lw->tile, x));
    bool is_ptr = ts_type_is_ptr(lw->module, elem);
    if (is_ptr && ts_type_bits(lw->module, ts_type_get(lw->module, elem)->elem) < 8)
        return false; /* two elements in a byte */
    if (!is_ptr && axis && axis[0].contiguity >= comb->n && axis[0].divisibility >= comb->n)
        return true;
    if (inst->op == TS_OP_exti)
        return order_is_comb(lw, inst->opnd[0], comb);
    if (inst->op != TS_OP_addi && inst->op != TS_OP_offset)
        return false;
    uint32_t k = order_is_splat(lw, inst->opnd[0]) ? 0 : 1;
    return order_is_splat(lw, inst->opnd[k]) && order_is_base(lw, inst->opnd[k], comb) &&
           order_is_comb(lw, inst->opnd[1 - k], comb);
}

/* Stores through pointers, as loops over the columns of a row make them: an address has one remainder by the tile's
 * extent, and with it one element and one thread, in both.
 *
 *     for %i { store_ptr_tko (base + row * stride) + (%i * 512 + iota) } */
static bool order_is_sieve(ts_lower *lw, ts_val v, ts_val w, ts_val loop)
{
    ts_val at = ts_opnd(lw->tile, v, 0), other = ts_opnd(lw->tile, w, 0);
    ts_type type = ts_type_of(lw->tile, at);
    order_comb a = {.loop = loop, .n = ts_type_count(lw->module, type)}, b = a;
    return ts_type_rank(lw->module, type) == 1 && ts_type_of(lw->tile, other) == type && order_is_comb(lw, at, &a) &&
           order_is_comb(lw, other, &b) && !memcmp(&a, &b, sizeof a) &&
           ts__linear_equal(ts__ptr_store_layout(lw, v), ts__ptr_store_layout(lw, w));
}

/* One constant is written, as where elements raise flags: no order tells the stores apart. Not where two elements share
 * a byte, which a store reads first. */
static bool order_writes_same(const ts_lower *lw, ts_val v, ts_val w)
{
    ts_val x = ts_opnd(lw->tile, v, 1), y = ts_opnd(lw->tile, w, 1);
    ts_type elem = ts_type_elem(lw->module, ts_type_of(lw->tile, x));
    uint64_t a, b;
    return elem == ts_type_elem(lw->module, ts_type_of(lw->tile, y)) && ts_type_bits(lw->module, elem) >= 8 &&
           ts__const_bits(lw->tile, x, &a) && ts__const_bits(lw->tile, y, &b) && a == b;
}

/* Stores v and w write different bytes, or each byte by the same thread, or the same. */
static bool order_is_apart(ts_lower *lw, ts_val v, ts_val w, ts_val loop)
{
    const ts_inst *a = ts_at(lw->tile, v), *b = ts_at(lw->tile, w);
    if (!ts_type_rank(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, v, 1))) &&
        !ts_type_rank(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, w, 1))))
        return true; /* scalars: the first thread */
    if (a->op == TS_OP_store_ptr_tko && b->op == TS_OP_store_ptr_tko)
        return order_writes_same(lw, v, w) || order_is_sieve(lw, v, w, loop);
    if (a->op != TS_OP_store_view_tko || b->op != TS_OP_store_view_tko)
        return false;
    ts_val view = ts_opnd(lw->tile, v, 0), other = ts_opnd(lw->tile, w, 0), make = ts__view_make(lw->tile, view);
    bool grids = order_is_grid(lw, view) && order_is_grid(lw, other);
    if (grids && ts_tma_produces(&lw->assign.tma) && lw->shape.parent[v])
        return true; /* results of loops of products: slices or tails, which the warps do not wait for */
    if (!grids || ts_type_of(lw->tile, view) != ts_type_of(lw->tile, other) ||
        make != ts__view_make(lw->tile, other) || !order_is_invariant(lw, make, loop))
        return false;
    return v == w || order_differs(lw, v, w) ||
           (!lw->assign.tma.active && ts__linear_equal(ts__view_store_layout(lw, v), ts__view_store_layout(lw, w)));
}

/* May store v write what an earlier store of the same array has written by another thread? */
static bool order_overwrites(ts_lower *lw, ts_val v)
{
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
    for (ts_val w = 1; w < lw->tile->inst.n; w++) {
        const ts_inst *inst = ts_at(lw->tile, w);
        if (!(ts_info(inst)->flags & TS_WRITE) || !inst->n_opnd ||
            !ts__lower_meets(set, ts__lower_alias_set(lw, ts_opnds(lw->tile, inst)[0])))
            continue;
        ts_val loop = order_loop(lw, v, w);
        if ((w < v || loop) && !order_is_apart(lw, v, w, loop))
            return true;
    }
    return false;
}

/* ---- before an access ------------------------------------------------------------------------------------------ */

void ts__lower_before_load(ts_lower *lw, ts_val v)
{
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
    if (ts__lower_meets(set, lw->order.stored))
        ts__lower_barrier(lw);
}

void ts__lower_before_store(ts_lower *lw, ts_val v)
{
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
    if (ts__lower_meets(set, lw->order.loaded) ||
        (ts__lower_meets(set, lw->order.stored) &&
         (ts__lower_meets(set, lw->order.ever_loaded) || order_overwrites(lw, v))))
        ts__lower_barrier(lw);
}

void ts__lower_accesses(ts_lower *lw, ts_val v)
{
    ts_assert(ts_info(ts_at(lw->tile, v))->flags & (TS_READ | TS_WRITE));
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
    uint32_t flags = ts_info(ts_at(lw->tile, v))->flags;
    lw->order.stored |= flags & TS_WRITE ? set : 0;
    lw->order.loaded |= flags & TS_WRITE ? 0 : set;
}
