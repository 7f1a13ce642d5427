/* SPDX-License-Identifier: Apache-2.0
 *
 * Items: elements that are bytes to the library. No kernel knows them; what moves them is a copy of their words, a
 * kernel like any other. docs/adr/0032-records.md.
 *
 *     records of 12 bytes, (5,) by strides (12,)   ─▶   words of 4 bytes, (5, 3) by strides (12, 4)
 */
#include "numeric/numeric.h"

ts_status ts__nd_numbers(const ts_nd *a, const char *function, ts_error *err)
{
    if (!a || a->dtype)
        return TS_OK;
    return ts_fail(err, TS_TYPE, "%s: the array holds items of %u bytes, which are no numbers; ts_nd_words() gives a "
                   "view that can be copied", function, a->item);
}

ts_status ts_nd_view_items(const ts_nd *a, int64_t offset, uint32_t item, uint32_t rank, const int64_t *shape,
                           const int64_t *strides, uint32_t flags, ts_nd **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, a);
    TS_NEED_N(err, shape, rank);
    TS_NEED_N(err, strides, rank);
    TS_TRY(ts_nd_view(a, offset, TS_DTYPE_NONE, rank, shape, strides, flags, out, err));
    (*out)->item = item;
    return TS_OK;
}

/* The greatest power of two, up to `most`, that the elements' size and all their addresses are multiples of. */
static uint32_t items_width(const ts_nd *a, uint32_t most)
{
    uint64_t bits = most | a->item | (uint64_t)a->offset;
    if (a->store->buffer)
        bits |= (uint64_t)(uintptr_t)ts_buffer_data(a->store->buffer);
    for (uint32_t d = 0; d < a->rank; d++)
        bits |= ts_nd_shape(a)[d] > 1 ? (uint64_t)ts_nd_strides(a)[d] : 0;
    return (uint32_t)(bits & (~bits + 1));
}

bool ts_nd_is_aligned(const ts_nd *a)
{
    uint64_t place = (uint64_t)a->offset;
    if (a->item < 2 || !a->dtype)
        return true;
    if (a->store->buffer)
        place += (uint64_t)(uintptr_t)ts_buffer_data(a->store->buffer);
    for (uint32_t d = 0; d < a->rank; d++)
        if (ts_nd_shape(a)[d] > 1 && ts_nd_strides(a)[d] % a->item)
            return false;
    return place % a->item == 0 || !a->count;
}

ts_status ts_nd_words(const ts_nd *a, uint32_t most, ts_nd **out, ts_error *err)
{
    static const ts_dtype words[] = {[1] = TS_DTYPE_uint8, [2] = TS_DTYPE_uint16, [4] = TS_DTYPE_uint32,
                                     [8] = TS_DTYPE_uint64};
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK];
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, a);
    if (most > 8 || !ts_is_pow2(most))
        return ts_fail(err, TS_VALUE, "ts_nd_words(): words have 1, 2, 4 or 8 bytes, not %u", most);
    if (a->rank == TS_ND_RANK)
        return ts_fail(err, TS_VALUE, "maximum supported dimension for an ndarray is currently 64, and items that are "
                       "moved need one more");
    uint32_t width = items_width(a, most);
    memcpy(shape, ts_nd_shape(a), a->rank * sizeof *shape);
    memcpy(strides, ts_nd_strides(a), a->rank * sizeof *strides);
    shape[a->rank] = a->item / width;
    strides[a->rank] = width;
    return ts_nd_view(a, 0, words[width], a->rank + 1u, shape, strides, a->flags, out, err);
}

/* Words that lie without gaps, by a copy where the array does not. */
static ts_status items_dense(ts_nd *a, ts_nd **out, ts_error *err)
{
    ts_nd *words;
    TS_TRY(ts_nd_words(a, 8, &words, err));
    ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = words}}, .order = 'C'};
    if (ts__nd_is_whole(words)) {
        *out = words;
        return TS_OK;
    }
    ts_status status = ts_nd_run(a->graph, &copy, out, err);
    ts_nd_release(words);
    return status;
}

ts_status ts__nd_items_to(ts_nd *a, ts_nd_graph *graph, ts_nd **out, ts_error *err)
{
    ts_nd *words, *moved;
    TS_TRY(items_dense(a, &words, err));
    ts_status status = ts_nd_to(words, graph, &moved, err);
    ts_nd_release(words);
    TS_TRY(status);
    status = ts_nd_view_items(moved, 0, a->item, a->rank, ts_nd_shape(a), ts_nd_strides(moved), 0, out, err);
    ts_nd_release(moved);
    if (status == TS_OK)
        (*out)->meaning = a->meaning;
    return status;
}

ts_status ts_nd_copy_items(ts_nd *from, ts_nd *to, ts_error *err)
{
    ts_nd *source = NULL, *target, *same;
    TS_NEED(err, from, to);
    if (from->item != to->item)
        return ts_fail(err, TS_VALUE, "elements of %u bytes are not copied to some of %u", from->item, to->item);
    if (!to->item)
        return TS_OK;
    uint32_t width = TS_MIN(items_width(from, 8), items_width(to, 8));
    TS_TRY(ts_nd_words(to, width, &target, err));
    ts_status status = ts_nd_words(from, width, &source, err);
    ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = source}}, .out = target};
    if (status == TS_OK)
        status = ts_nd_run(to->graph, &copy, &same, err);
    if (status == TS_OK)
        ts_nd_release(same);
    ts_nd_release(source), ts_nd_release(target);
    return status;
}
