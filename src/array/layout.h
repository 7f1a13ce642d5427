/* SPDX-License-Identifier: Apache-2.0
 *
 * The one check of an array that someone else describes (ts_layout): whatever it says, a walk over its elements that
 * was let through stays between two addresses that were computed without overflow. Inline, because every launch asks;
 * words are found only when something is wrong (layout.c).
 */
#ifndef TS_ARRAY_LAYOUT_H
#define TS_ARRAY_LAYOUT_H

#include "tessera/launch.h"

typedef enum layout_flaw {
    LAYOUT_GOOD,
    LAYOUT_RANK,     /* negative, or above the limit */
    LAYOUT_NO_SHAPE, /* axes, but no extents */
    LAYOUT_EXTENT,   /* a negative one */
    LAYOUT_COUNT,    /* more bytes than any machine has */
    LAYOUT_REACH,    /* elements outside the address space */
    LAYOUT_NO_DATA   /* elements, but no address */
} layout_flaw;

#define LAYOUT_SPAN_MAX ((int64_t)1 << 57) /* no processor's address space is larger */

/* Bytes from element [0, ...]: the elements are in [low, high). */
typedef struct layout_span {
    int64_t low, high;
    bool empty;
} layout_span;

/* True for most arrays there are, by a few instructions: no stride is negative, and extents and strides (in elements)
 * are so small that neither their sums nor the number of elements can overflow. `all` are all bits that are set in one
 * of them, strides of NULL left out. Says nothing of a missing address. */
static inline bool ts__layout_is_plain(const void *data, uint32_t rank, uint64_t all)
{
    /* rank x 2^(2 bits) x 8 bytes <= LAYOUT_SPAN_MAX, and 2^(rank x bits) elements too */
    static const uint8_t bits[TS_ARRAY_RANK + 1] = {26, 26, 26, 17, 13, 10, 8, 7, 6};
    return all >> bits[rank] == 0 && (uintptr_t)data >> 60 == 0;
}

static inline layout_flaw ts__layout_flaw(const ts_layout *layout, int32_t most_axes, layout_span *out)
{
    int64_t low = 0, high = 0, count = layout->item_bytes, span;
    int64_t dense = layout->stride_bytes == 1 ? layout->item_bytes : 1;
    bool far = false, many = false, empty = false;
    if (layout->rank < 0 || layout->rank > most_axes)
        return LAYOUT_RANK;
    if (layout->rank && !layout->shape)
        return LAYOUT_NO_SHAPE;
    for (int32_t d = layout->rank; d-- > 0;) {
        int64_t extent = layout->shape[d], stride = layout->strides ? layout->strides[d] : dense;
        if (extent < 0)
            return LAYOUT_EXTENT;
        empty |= extent == 0;
        int64_t steps = extent > 1 ? extent - 1 : 0;
        far |= __builtin_mul_overflow(steps, stride, &span) ||
               __builtin_add_overflow(span < 0 ? low : high, span, span < 0 ? &low : &high);
        many |= __builtin_mul_overflow(count, steps + 1, &count);
        if (!layout->strides)
            far |= __builtin_mul_overflow(dense, steps + 1, &dense);
    }
    *out = (layout_span){0, 0, empty};
    if (many || count > (int64_t)1 << 62)
        return LAYOUT_COUNT;
    if (empty)
        return LAYOUT_GOOD;
    far |= __builtin_mul_overflow(low, layout->stride_bytes, &out->low) ||
           __builtin_mul_overflow(high, layout->stride_bytes, &out->high) ||
           __builtin_add_overflow(out->high, (int64_t)layout->item_bytes, &out->high);
    if (!layout->data)
        return LAYOUT_NO_DATA;
    uintptr_t at = (uintptr_t)layout->data;
    far |= at + (uintptr_t)out->low > at || at + (uintptr_t)out->high < at || out->low < -LAYOUT_SPAN_MAX ||
           out->high > LAYOUT_SPAN_MAX;
    return far ? LAYOUT_REACH : LAYOUT_GOOD;
}

/* What is wrong, in words. */
void ts__layout_text(layout_flaw flaw, const ts_layout *layout, int32_t most_axes, char *room, size_t n);
TS_CHECKED ts_status ts__layout_fail(layout_flaw flaw, const ts_layout *layout, int32_t most_axes, ts_error *err);

#endif
