/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong with the description of an array, in words. The check itself: layout.h.
 */
#include "array/layout.h"
#include "base/base.h"
#include <stdio.h>

static void layout_tuple(const int64_t *values, int32_t n, char *room, size_t bytes)
{
    size_t at = (size_t)snprintf(room, bytes, "(");
    for (int32_t i = 0; i < n && at < bytes; i++)
        at += (size_t)snprintf(room + at, bytes - at, i ? ", %lld" : "%lld", (long long)values[i]);
    if (at < bytes)
        snprintf(room + at, bytes - at, n == 1 ? ",)" : ")");
}

void ts__layout_text(layout_flaw flaw, const ts_layout *layout, int32_t most_axes, char *room, size_t n)
{
    char shape[200] = "()", strides[200] = "row-major";
    bool has_shape = layout->rank >= 0 && layout->rank <= most_axes && layout->shape;
    if (has_shape)
        layout_tuple(layout->shape, layout->rank, shape, sizeof shape);
    if (has_shape && layout->strides)
        layout_tuple(layout->strides, layout->rank, strides, sizeof strides);
    switch (flaw) {
    case LAYOUT_GOOD:
        snprintf(room, n, "nothing is wrong with the array");
        break;
    case LAYOUT_RANK:
        snprintf(room, n, "the array has %d dimensions; the limit is %d", layout->rank, most_axes);
        break;
    case LAYOUT_NO_SHAPE:
        snprintf(room, n, "the array says it has %d dimensions but gives no shape", layout->rank);
        break;
    case LAYOUT_EXTENT:
        for (int32_t d = layout->rank; d-- > 0;)
            if (layout->shape[d] < 0)
                snprintf(room, n, "axis %d has the negative extent %lld", d, (long long)layout->shape[d]);
        break;
    case LAYOUT_COUNT:
        snprintf(room, n, "shape %s has more than 2^62 bytes", shape);
        break;
    case LAYOUT_REACH:
        snprintf(room, n, "shape and strides reach beyond the address space (address %p, shape %s, strides %s in %s)",
                 layout->data, shape, strides, layout->stride_bytes == 1 ? "bytes" : "elements");
        break;
    case LAYOUT_NO_DATA:
        snprintf(room, n, "an array of shape %s says that it lies at address 0", shape);
        break;
    }
}

ts_status ts__layout_fail(layout_flaw flaw, const ts_layout *layout, int32_t most_axes, ts_error *err)
{
    char text[700];
    ts__layout_text(flaw, layout, most_axes, text, sizeof text);
    bool is_shape = flaw == LAYOUT_EXTENT || flaw == LAYOUT_COUNT;
    return ts_fail(err, is_shape ? TS_SHAPE : TS_VALUE, "%s", text);
}

ts_status ts_layout_check(const ts_layout *layout, int32_t most_axes, ts_error *err)
{
    TS_NEED(err, layout);
    layout_span span;
    layout_flaw flaw = ts__layout_flaw(layout, most_axes, &span);
    return flaw == LAYOUT_GOOD ? TS_OK : ts__layout_fail(flaw, layout, most_axes, err);
}
