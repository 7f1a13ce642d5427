/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of arrays as they stand in the tile function, before any code is written: what layouts (assign*.c), tensor maps
 * (tma_map.c) and accesses (lower/view_access.c) ask.
 *
 *     %t = make_tensor_view %base, extents.., strides..     the array; operands for what its type leaves open
 *     %p = make_partition_view %t                           the view: tile axes, each along an axis of the array
 */
#ifndef TS_GPU_PLAN_VIEW_H
#define TS_GPU_PLAN_VIEW_H

#include "ir/ir.h"

/* The make_tensor_view behind a view; 0 = it is not seen here. */
ts_val ts__view_make(const ts_fn *fn, ts_val view);
/* Operand of make_tensor_view with the extent (or stride) of array axis `dim`; TS_NO when it is in the type. */
uint32_t ts__view_dynamic(const ts_type_info *tensor, bool stride, uint32_t dim);
/* The array axis that tile axis `axis` runs along. */
static inline uint32_t ts_view_array_axis(const ts_type_info *view, uint32_t axis)
{
    return view->dim_map ? (uint32_t)view->dim_map[axis] : axis;
}
/* The tile axis whose elements lie next to each other in memory; TS_NO when none is known to. One along an array axis
 * with more than one element is preferred: the others have stride 1 by name only. */
uint32_t ts__view_unit_axis(const ts_fn *fn, ts_val view);
/* Bytes, a power of two, at multiples of which all lines are known to begin; 0 where no axis is known to have
 * stride 1. */
int64_t ts__view_align(const ts_fn *fn, ts_val view);
/* False when base or strides are aligned to single elements only: no vectors whatever the layout. */
bool ts__view_has_vectors(const ts_fn *fn, ts_val view);

/* Powers of two that divide something are not followed further than this. */
#define TS_POWER_MAX ((int64_t)1 << 30)
/* The greatest power of two, to that limit, that divides `x`. */
static inline int64_t ts_power_in(int64_t x)
{
    uint64_t low = (uint64_t)x & -(uint64_t)x;
    return low && low < (uint64_t)TS_POWER_MAX ? (int64_t)low : TS_POWER_MAX;
}
/* A power of two that is known to divide a tile-level scalar (bytes for pointers). */
int64_t ts__lower_divisor(const ts_fn *fn, ts_val v);

#endif
