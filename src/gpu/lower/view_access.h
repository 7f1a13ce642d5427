/* SPDX-License-Identifier: Apache-2.0
 *
 * An access through a view, described for one layout: what lower/view_access.c and lower/nibble.c share.
 */
#ifndef TS_GPU_LOWER_VIEW_ACCESS_H
#define TS_GPU_LOWER_VIEW_ACCESS_H

#include "gpu/lower/lower.h"

typedef struct view_axis {
    ts_val base, extent, stride; /* thread values; stride 0 = constant `step` */
    int64_t step, align;         /* known divisor of the corner's coordinate */
    int64_t extent_div;
    ts_axis_bits bits;
    const ts_val *index;         /* sparse axis: the element index of each register */
    ts_val local;                /* coordinate of this thread's register 0 */
    bool check;
} view_axis;

typedef struct view_access {
    ts_val view;                 /* tile value */
    const ts_type_info *info, *tensor;
    ts_type elem, index;         /* i32 or i64 coordinates */
    uint32_t bytes, rank, unit;  /* unit: axis with stride 1, or TS_NO */
    view_axis axis[TS_MAX_RANK];
    const ts_linear *layout;
    ts_val base, offset;         /* of the array; bytes (4-bit: elements) to this thread's register 0, i64 */
    ts_val corner;               /* pointer to this thread's register 0 */
    uint32_t log_vec, member[16], vector;
    ts_val only;                 /* threads that act; 0 = all */
    ts_cache_use cache;
} view_access;

/* The layout in which store v writes its tile. */
const ts_linear *ts__view_store_layout(ts_lower *lw, ts_val v);
/* Index operands start at operand `first` of instruction v. */
void ts__view_describe(ts_lower *lw, view_access *a, ts_val v, uint32_t first, const ts_linear *layout);
/* What register r adds to a->offset: a value (0 = nothing) and a constant. */
ts_val ts__view_offset(ts_lower *lw, const view_access *a, uint32_t r, int64_t *fixed);
ts_val ts__view_pointer(ts_lower *lw, const view_access *a, uint32_t r);
/* i1: the element of register r lies in the array; 0 = always. */
ts_val ts__view_inside(ts_lower *lw, const view_access *a, uint32_t r);
/* Vectors may be predicated as a whole: the extent and the corner are multiples of their size. */
bool ts__view_whole_vectors(const view_access *a);
void ts__view_single(view_access *a); /* no vectors */
/* The vector of register r, or as much of it as lies in the array. */
void ts__view_store_vector(ts_lower *lw, const view_access *a, uint32_t r, const ts_val *values);
ts_val ts__view_pad(ts_lower *lw, const view_access *a); /* an element outside the array */
/* Load `v`, whose elements each thread has copied to shared memory for itself, as they lie in the tile, from byte `at`
 * + slot on; a slot of 0 is none. */
void ts__view_load_copied(ts_lower *lw, ts_val v, const ts_linear *home, uint32_t at, ts_val slot);
void ts__lower_load_nibbles(ts_lower *lw, ts_val v);
void ts__lower_store_nibbles(ts_lower *lw, ts_val v);

#endif
