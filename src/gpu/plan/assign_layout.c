/* SPDX-License-Identifier: Apache-2.0
 *
 * The usual layouts (assign.h): a tile's elements dealt out to threads in vectors, along an axis or as they lie in
 * memory, so that neighbouring threads touch neighbouring addresses.
 */
#include "gpu/plan/assign.h"

ts_axis_bits ts__axis_of(const ts_module *module, ts_type type, uint32_t axis)
{
    const int64_t *dims = ts_type_dims(module, type);
    ts_axis_bits bits = {0, 0};
    for (uint32_t i = ts_type_rank(module, type); i-- > axis + 1;)
        bits.first += (uint32_t)ts_log2((uint64_t)dims[i]);
    bits.n = (uint32_t)ts_log2((uint64_t)dims[axis]);
    return bits;
}

const ts_linear *ts__assign_intern(ts_assign *assign, const ts_linear *layout)
{
    for (uint32_t i = 0; i < assign->interned.n; i++)
        if (ts__linear_equal(assign->interned.at[i], layout))
            return assign->interned.at[i];
    ts_linear *copy = TS_NEW(assign->arena, ts_linear);
    if (!copy) /* `layout` may be a caller's own: whoever asks last before all gives up needs one that stays */
        copy = &assign->spare[assign->n_spare++ % TS_COUNT(assign->spare)];
    *copy = *layout;
    if (!assign->arena->failed)
        (void)TS_PUSH(assign->arena, &assign->interned, copy);
    return copy;
}

/* Flat bits with axis `first` fastest, then the others from last to first. */
static void layout_order(const ts_module *module, ts_type type, uint32_t first, uint8_t *order)
{
    uint32_t n = 0, rank = ts_type_rank(module, type);
    for (uint32_t step = 0; step <= rank; step++) {
        uint32_t axis = step == 0 ? first : rank - step;
        if (axis >= rank || (step && axis == first))
            continue;
        ts_axis_bits bits = ts__axis_of(module, type, axis);
        for (uint32_t i = 0; i < bits.n; i++)
            order[n++] = (uint8_t)(bits.first + i);
    }
}

/* Moves the bits that would go to warps to the end and gives warps the uppermost ones: each warp then has one
 * piece of the tile, so that a scan crosses warps once, and few warps have elements beyond the end of an array. */
static void layout_warps_last(uint8_t *order, uint32_t bits, uint32_t first, uint32_t n_warp)
{
    uint8_t old[32];
    if (bits <= first + n_warp)
        return;
    memcpy(old, order, sizeof old);
    memcpy(order + first, old + bits - n_warp, n_warp);
    memcpy(order + first + n_warp, old + first, bits - n_warp - first);
}

/* The first bits of `order` are an axis of `n` bits: brings the first `vec` bits of the next one forward behind as many
 * of its own. */
static void layout_squares(uint8_t *order, uint32_t n, uint32_t vec)
{
    uint8_t rows[32];
    memcpy(rows, order + n, vec);
    memmove(order + 2 * vec, order + vec, n - vec);
    memcpy(order + vec, rows, vec);
}

/* Vectors of 2^vec elements along axis `first`; `square`: and as many along the next one; `pieces`: a warp's elements
 * are one piece. */
static const ts_linear *layout_deal(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first,
                                    uint32_t vec, bool square, bool pieces)
{
    uint8_t order[32];
    ts_linear layout;
    uint32_t bits = (uint32_t)ts_log2((uint64_t)ts_type_count(module, type));
    uint32_t threads = TS_LAYOUT_LANES + assign->n_warp, idle = bits > threads ? bits - threads : 0;
    uint32_t n = first < ts_type_rank(module, type) ? ts__axis_of(module, type, first).n : 0;
    layout_order(module, type, first, order);
    if (square && n > vec && bits >= n + vec) {
        layout_squares(order, n, vec);
        vec *= 2;
    }
    if (pieces)
        layout_warps_last(order, bits, TS_MIN(vec, idle) + TS_LAYOUT_LANES, assign->n_warp);
    if (!ts__linear_blocked(&layout, bits, order, TS_MIN(vec, idle), assign->n_warp))
        return NULL;
    return ts__assign_intern(assign, &layout);
}

const ts_linear *ts__assign_blocked(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first,
                                   uint32_t vec, bool square)
{
    return layout_deal(assign, module, type, first, vec, square, assign->scans);
}

const ts_linear *ts__assign_default(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first)
{
    return ts__assign_blocked(assign, module, type, first, assign->vec, false);
}

const ts_linear *ts__assign_for_view(ts_assign *assign, const ts_fn *fn, ts_val view, ts_type type)
{
    bool vectors = assign->scans || ts__view_has_vectors(fn, view);
    /* Rows of any length end within a tile: a warp whose piece lies in the array is spared all masks, and the padding
     * that comes with them (view_access.c, math/explog.c). */
    bool pieces = assign->scans || (assign->rows && !vectors);
    uint32_t vec = vectors ? assign->vec : 0;
    return layout_deal(assign, fn->module, type, ts__view_unit_axis(fn, view), vec, false, pieces);
}

const ts_linear *ts__assign_pairs(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first,
                                  uint32_t across)
{
    uint8_t order[32];
    ts_linear layout;
    uint32_t bits = (uint32_t)ts_log2((uint64_t)ts_type_count(module, type)), at = assign->vec, from = at;
    uint8_t pair = (uint8_t)ts__axis_of(module, type, across).first;
    if (bits <= TS_LAYOUT_LANES + assign->n_warp + at || ts__axis_of(module, type, first).n < at)
        return NULL;
    layout_order(module, type, first, order);
    while (order[from] != pair)
        from++;
    memmove(order + at + 1, order + at, from - at);
    order[at] = pair;
    return ts__linear_blocked(&layout, bits, order, at + 1, assign->n_warp) ? ts__assign_intern(assign, &layout) : NULL;
}
