/* SPDX-License-Identifier: Apache-2.0
 *
 * What the op_*.c files share: the lowering functions named in tile_op.def, storage of bools, common
 * arguments of memory operations.
 */
#ifndef TS_LANG_TILE_OP_H
#define TS_LANG_TILE_OP_H

#include "lang/lower.h"

#define TS_TILE_OP(name, signature, function, x, y, numbers)                                                          \
    ts_status fr_op_##function(fr *f, const fr_call *c, fr_value *out);
#include "lang/tile/tile_op.def"

ts_status fr_tensor_view(fr *f, fr_array *array);

/* Element type in memory (bools are bytes), and tiles to and from it. */
ts_type fr_storage(ts_dtype dtype);
fr_value fr_from_storage(fr *f, ts_dtype dtype, ts_val v);
ts_val fr_to_storage(fr *f, const fr_value *tile);

/* The tile of an array's rank that a given shape means: () stands for ones. */
ts_status fr_tile_of_array(fr *f, const fr_call *c, uint32_t i, const fr_array *a, const fr_shape *given,
                           fr_shape *out);
ts_status fr_arg_padding(fr *f, const fr_call *c, uint32_t i, ts_dtype dtype, uint8_t *out);
/* *out holds the defaults (TS_M_ORDER | TS_M_SCOPE) and gets the result. */
ts_status fr_arg_order(fr *f, const fr_call *c, uint32_t order, uint32_t scope, uint32_t allowed, uint32_t *out);
ts_status fr_arg_latency(fr *f, const fr_call *c, uint32_t i, uint32_t *out);
/* An index into a view: the dtype it wants (int32 or int64), and its value as one of the two. */
ts_dtype fr_index_dtype(const fr_value *v);
ts_status fr_index(fr *f, const fr_value *v, ts_dtype dtype, ts_val *out);
ts_status fr_arg_index(fr *f, const fr_call *c, uint32_t i, uint32_t rank, ts_val *out);
ts_status fr_tile_count(fr *f, const fr_value *extent, int64_t step, ts_dtype index, fr_value *out);
/* The ts_rmw for a dtype, or an error. */
ts_status fr_rmw_mode(fr *f, const fr_call *c, ts_rmw mode, ts_dtype dtype, uint32_t *out);
/* Bitwise updates have exactly the dtype of what they change. */
ts_status fr_update_dtype(fr *f, const fr_call *c, uint32_t i, ts_dtype dtype);
/* Checked mode: reports each element that is not `inside`, as ts__bounds_text puts it. The index has the shape of
 * `inside`, the extent is a scalar. */
void fr_report_bounds(fr *f, const char *what, ts_val inside, ts_val index, ts_val extent);
/* Checked mode: reports the elements of an index that are not from 0 to below the extent. */
ts_status fr_report_index(fr *f, const char *what, const fr_value *index, const fr_value *extent);
/* The arguments latency and allow_tma of an access to tiles, from `i` on, with check_bounds before them; *out gets them
 * besides what it holds. */
ts_status fr_arg_hints(fr *f, const fr_call *c, uint32_t i, uint32_t *out);
ts_status fr_arg_access(fr *f, const fr_call *c, uint32_t i, uint32_t rank, uint32_t *out);
/* Checked mode: the promise of check_bounds=False, that the tile lies wholly in its array, is looked at and not relied
 * on. `axes` of the array for those of the view, NULL: the same. */
ts_status fr_check_promise(fr *f, const fr_call *c, const fr_view *view, const int32_t *axes, const ts_val *index,
                           uint32_t *mem);
/* The value with its elements as float32 when they are bools or integers. */
ts_status fr_arg_float(fr *f, const fr_call *c, uint32_t i, fr_value *out);

#endif
