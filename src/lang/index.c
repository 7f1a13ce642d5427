/* SPDX-License-Identifier: Apache-2.0
 *
 * t[...] of tiles: None adds an axis, integers and slices take parts. A slice that begins at a multiple of its length
 * is one `extract`; a step that is a power of two is a part of the axis seen as (n / step, step); an axis is reversed
 * by exchanging halves, bit by bit; what else is contiguous is put together of equal pieces. Part of the front end
 * (lower.h).
 */
#include "lang/lower.h"

enum { INDEX_MOST_PIECES = 64 };

/* One source axis: a single index (of a tile where v is one), or `count` elements from `start`. */
typedef struct index_axis {
    bool single, full;
    fr_value v;
    int64_t start, step, count;
} index_axis;

static int64_t index_clamp(int64_t at, int64_t n, int64_t low, int64_t high)
{
    at = at < 0 ? at + n : at;
    return at < low ? low : at > high ? high : at;
}

ts_status fr_slice_range(fr *f, const fr_value *slice, int64_t n, int64_t *start, int64_t *step, int64_t *count)
{
    int64_t part[3] = {0, 0, 1};
    const fr_value *s = slice->as.items;
    for (uint32_t i = 0; i < 3; i++)
        if (s[i].kind != FR_NONE && !fr_is_int(&s[i], &part[i]))
            return fr_error(f, 0, TS_TILETYPE, "slices must be known at compile time, found %s", fr_say(f, &s[i]));
    if (part[2] == 0)
        return fr_error(f, 0, TS_TILEVALUE, "the step of a slice is zero");
    bool up = part[2] > 0;
    int64_t low = up ? 0 : -1, high = up ? n : n - 1;
    int64_t stop = s[1].kind == FR_NONE ? (up ? n : -1) : index_clamp(part[1], n, low, high);
    *start = s[0].kind == FR_NONE ? (up ? 0 : n - 1) : index_clamp(part[0], n, low, high);
    *step = part[2] < -n ? -n - 1 : part[2] > n ? n + 1 : part[2];
    int64_t span = up ? stop - *start : *start - stop, stride = up ? *step : -*step;
    *count = span > 0 ? (span + stride - 1) / stride : 0;
    return TS_OK;
}

/* ---- parts along one axis ------------------------------------------------------------ */

static ts_status index_extract(fr *f, const fr_value *tile, uint32_t axis, const fr_value *at, int64_t extent,
                               fr_value *out)
{
    fr_shape shape = fr_shape_of(f, tile);
    fr_value index[TS_MAX_RANK], dims[TS_MAX_RANK], args[3] = {*tile};
    for (uint32_t d = 0; d < shape.rank; d++) {
        index[d] = d == axis ? *at : fr_number(0);
        dims[d] = fr_number(d == axis ? extent : shape.dims[d]);
    }
    TS_TRY(fr_tuple(f, shape.rank, index, &args[1]));
    TS_TRY(fr_tuple(f, shape.rank, dims, &args[2]));
    return fr_call_op(f, f->node, "extract", 3, args, out);
}

static ts_status index_cat(fr *f, const fr_value *low, const fr_value *high, uint32_t axis, fr_value *out)
{
    fr_value args[2] = {{.kind = FR_NONE}, fr_number(axis)};
    TS_TRY(fr_tuple(f, 2, (fr_value[]){*low, *high}, &args[0]));
    return fr_call_op(f, f->node, "cat", 2, args, out);
}

/* Elements start .. start + count - 1 of the axis. */
static ts_status index_contiguous(fr *f, const fr_value *tile, uint32_t axis, int64_t start, int64_t count,
                                  fr_value *out)
{
    fr_value low, high, at;
    if (start % count == 0) {
        at = fr_number(start / count);
        return index_extract(f, tile, axis, &at, count, out);
    }
    TS_TRY(index_contiguous(f, tile, axis, start, count / 2, &low));
    TS_TRY(index_contiguous(f, tile, axis, start + count / 2, count / 2, &high));
    return index_cat(f, &low, &high, axis, out);
}

/* The axis seen as (n / inner, inner), as one axis more. */
static ts_status index_split(fr *f, const fr_value *tile, uint32_t axis, int64_t inner, fr_value *out)
{
    fr_shape shape = fr_shape_of(f, tile);
    if (shape.rank == TS_MAX_RANK)
        return fr_error(f, 0, TS_TILETYPE, "a slice with a step takes a tile of less than %d axes", TS_MAX_RANK);
    for (uint32_t d = shape.rank++; d > axis; d--)
        shape.dims[d] = shape.dims[d - 1];
    shape.dims[axis] /= inner;
    shape.dims[axis + 1] = inner;
    return fr_reshape_to(f, tile, &shape, out);
}

static ts_status index_reverse(fr *f, const fr_value *tile, uint32_t axis, fr_value *out)
{
    fr_shape shape = fr_shape_of(f, tile);
    fr_value low, high, parts, first = fr_number(0), second = fr_number(1);
    *out = *tile;
    for (int64_t inner = 1; inner < shape.dims[axis]; inner *= 2) { /* exchanges neighbours `inner` apart */
        TS_TRY(index_split(f, out, axis, 2 * inner, &parts));
        TS_TRY(index_split(f, &parts, axis + 1, inner, &parts));
        TS_TRY(index_extract(f, &parts, axis + 1, &first, 1, &low));
        TS_TRY(index_extract(f, &parts, axis + 1, &second, 1, &high));
        TS_TRY(index_cat(f, &high, &low, axis + 1, &parts));
        TS_TRY(fr_reshape_to(f, &parts, &shape, out));
    }
    return TS_OK;
}

/* Every step-th element from `start` on: a column of the axis seen as (n / step, step). */
static ts_status index_column(fr *f, const fr_value *tile, uint32_t axis, int64_t start, int64_t step, fr_value *out)
{
    fr_shape shape = fr_shape_of(f, tile);
    fr_value parts, at = fr_number(start % step);
    TS_TRY(index_split(f, tile, axis, step, &parts));
    TS_TRY(index_extract(f, &parts, axis + 1, &at, 1, &parts));
    shape.dims[axis] /= step;
    return fr_reshape_to(f, &parts, &shape, out);
}

static ts_status index_slice(fr *f, const fr_value *tile, uint32_t axis, const index_axis *a, fr_value *out)
{
    int64_t n = fr_shape_of(f, tile).dims[axis], start = a->start, step = a->step, piece = a->count & -a->count;
    *out = *tile;
    if (!ts_is_pow2(a->count))
        return fr_error(f, 0, TS_TILETYPE, "a slice of %lld elements of an axis of %lld is not a power of two long\n"
                        "  help: extents of tiles are powers of two", (long long)a->count, (long long)n);
    if (step < 0) {
        TS_TRY(index_reverse(f, tile, axis, out));
        start = n - 1 - start;
        step = -step;
    }
    if (a->count == 1)
        step = 1;
    if (!ts_is_pow2(step))
        return fr_error(f, 0, TS_TILETYPE, "a slice with a step of %lld\n  help: steps are powers of two",
                        (long long)a->step);
    if (step > 1) {
        TS_TRY(index_column(f, out, axis, start, step, out));
        start /= step;
    }
    if (start)
        piece = TS_MIN(piece, start & -start);
    if (a->count / piece > INDEX_MOST_PIECES)
        return fr_error(f, 0, TS_TILETYPE, "a slice of %lld elements that begins at %lld is made of %lld pieces; the "
                        "most are %d\n  help: begin at a multiple of a larger power of two", (long long)a->count,
                        (long long)a->start, (long long)(a->count / piece), INDEX_MOST_PIECES);
    return index_contiguous(f, out, axis, start, a->count, out);
}

/* One element of the axis, which stays with an extent of 1. Negative positions count from the end. */
static ts_status index_single(fr *f, const fr_value *tile, uint32_t axis, const fr_value *v, fr_value *out)
{
    int64_t n = fr_shape_of(f, tile).dims[axis], i;
    fr_value at = *v, extent = fr_number(n), below, end;
    if (fr_is_int(v, &i)) {
        if (i < -n || i >= n)
            return fr_error(f, 0, TS_TILEVALUE, "index %lld is out of range for axis %u of extent %lld", (long long)i,
                            axis, (long long)n);
        at = fr_number(i < 0 ? i + n : i);
    } else if (fr_dtype_is_signed((ts_dtype)v->dtype)) {
        fr_value zero = fr_number(0), select[3];
        TS_TRY(fr_compare(f, TS_OPERATOR_Lt, v, &zero, &below));
        TS_TRY(fr_binary(f, TS_OPERATOR_Add, v, &extent, (fr_options){0}, &end));
        memcpy(select, (fr_value[]){below, end, *v}, sizeof select);
        TS_TRY(fr_call_op(f, f->node, "where", 3, select, &at));
    }
    return index_extract(f, tile, axis, &at, 1, out);
}

/* ---- reading the index --------------------------------------------------------------- */

static ts_status index_read(fr *f, const fr_value *item, int64_t n, index_axis *out)
{
    const fr_value *s = item->as.items;
    fr_value room;
    TS_TRY(fr_member_value(f, &item, &room));
    *out = (index_axis){.v = *item};
    if (item->kind == FR_SLICE) {
        out->full = s[0].kind == FR_NONE && s[1].kind == FR_NONE && s[2].kind == FR_NONE;
        return fr_slice_range(f, item, n, &out->start, &out->step, &out->count);
    }
    out->single = true;
    bool scalar = item->kind == FR_TILE && !fr_shape_of(f, item).rank && fr_dtype_is_int((ts_dtype)item->dtype);
    if (scalar || (item->kind == FR_NUMBER && item->cat == FR_INT))
        return TS_OK;
    return fr_error(f, 0, TS_TILETYPE,
                    "tiles are indexed with integers, slices, None and ..., found %s\n  help: ct.where selects by a "
                    "mask, ct.load and ct.gather read arrays at an index", fr_say(f, item));
}

ts_status fr_index_tile(fr *f, const fr_value *tile, const fr_value *index, fr_value *out)
{
    const fr_value *items = index->kind == FR_TUPLE ? index->as.items : index;
    uint32_t n = index->kind == FR_TUPLE ? index->n : 1, axes = 0, dots = 0;
    fr_shape shape = fr_shape_of(f, tile), made = {0};
    for (uint32_t i = 0; i < n; i++) {
        axes += items[i].kind != FR_NONE && items[i].kind != FR_ELLIPSIS;
        dots += items[i].kind == FR_ELLIPSIS;
    }
    if (!shape.rank && axes)
        return fr_error(f, 0, TS_TILETYPE, "%s has no items to index\n  help: a number is used as it is, x[i] reads an "
                        "array", fr_say(f, tile));
    if (axes > shape.rank || dots > 1 || n > 2 * TS_MAX_RANK)
        return fr_error(f, 0, TS_TILETYPE, "%u axes are indexed in a tile of rank %u", axes, shape.rank);
    *out = *tile;
    for (uint32_t i = 0, at = 0; i < n + !dots; i++) {
        uint32_t take = i == n || items[i].kind == FR_ELLIPSIS ? shape.rank - axes : items[i].kind != FR_NONE;
        if (made.rank + take + 1 > TS_MAX_RANK)
            return fr_error(f, 0, TS_TILETYPE, "a tile of more than %d dimensions", TS_MAX_RANK);
        bool all = i == n || items[i].kind == FR_ELLIPSIS;
        for (uint32_t k = 0; k < take; k++, at++) {
            index_axis a = {.full = true};
            if (!all)
                TS_TRY(index_read(f, &items[i], shape.dims[at], &a));
            if (a.single)
                TS_TRY(index_single(f, out, at, &a.v, out));
            else if (!a.full)
                TS_TRY(index_slice(f, out, at, &a, out));
            if (!a.single)
                made.dims[made.rank++] = a.full ? shape.dims[at] : a.count;
        }
        if (i < n && items[i].kind == FR_NONE)
            made.dims[made.rank++] = 1;
    }
    return fr_reshape_to(f, out, &made, out);
}
