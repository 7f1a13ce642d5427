/* SPDX-License-Identifier: Apache-2.0
 *
 * Short sequences of thread code that every lowering writes (code.c): indices, predicates, pointers, loads, stores,
 * barriers, shuffles. Values returned are thread values of lw->fn.
 */
#ifndef TS_GPU_LOWER_CODE_H
#define TS_GPU_LOWER_CODE_H

#include "gpu/lower/lower.h"

/* XOR of lane[i] over the lane bits and warp[i] over the warp bits that are set in this thread: i32. */
ts_val ts__lower_linear(ts_lower *lw, const uint32_t *lane, const uint32_t *warp);
/* The part of a flat index that lanes and warps give; registers XOR ts_lower_fixed(layout, reg). */
ts_val ts__lower_flat(ts_lower *lw, const ts_linear *layout);
static inline uint32_t ts_lower_fixed(const ts_linear *layout, uint32_t reg)
{
    ts_assert(reg >> layout->n_reg == 0);
    return ts_xor_of(layout->reg, layout->n_reg, reg);
}
/* i1: the lane and warp bits of `bits` are zero in this thread; 0 when there are none to test. */
ts_val ts__lower_is_first(ts_lower *lw, ts_place bits);
/* The index of this warp in the block, and of its warpgroup: uniform values. */
ts_val ts__lower_warp(ts_lower *lw);
ts_val ts__lower_warpgroup(ts_lower *lw);
uint32_t ts__lower_threads(const ts_lower *lw); /* of a block, with a producer's */

/* Arithmetic: a constant; x `op` y, by value and by number; x + value; both predicates (either may be 0 = true). */
ts_val ts__lower_i32(ts_lower *lw, int64_t value);
static inline ts_val ts_lower_op2(ts_lower *lw, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(&lw->b, op, x, y, 0);
}
ts_val ts__lower_op(ts_lower *lw, ts_op op, ts_val x, int64_t y, uint32_t attr);
ts_val ts__lower_add(ts_lower *lw, ts_val x, int64_t value);
ts_val ts__lower_and(ts_lower *lw, ts_val x, ts_val y);

/* A pointer `bytes` further; i32 or i64 offset value, and a constant. */
ts_val ts__lower_ptr(ts_lower *lw, ts_val pointer, ts_val offset, int64_t bytes);
/* Loads n elements, a power of two and at most 16, into out[0..]; pred and pad may be 0; pad TS_NO: masked ones may be
 * anything. Element type `elem`. */
void ts__lower_ld(ts_lower *lw, ts_type elem, ts_val pointer, uint32_t n, ts_cache_use cache, ts_val pred, ts_val pad,
                 ts_val *out);
void ts__lower_st(ts_lower *lw, ts_val pointer, uint32_t n, const ts_val *values, ts_cache_use cache, ts_val pred);
void ts__lower_barrier(ts_lower *lw);     /* of the tile block; all accesses before it are seen behind it */
void ts__lower_barrier_cta(ts_lower *lw); /* of this thread block alone when several share the tile block */
/* The value of `x` in lane `lane` (or at distance, by kind), any scalar type. */
ts_val ts__lower_shuffle(ts_lower *lw, ts_val x, ts_val lane, ts_shfl kind);
/* Where the tile of an index begins along an axis of a view (ts_view_start), in i32 or i64. In i32 a place that is too
 * far out may be a negative number or an unsigned one beyond 2^31: outside for every comparison that is unsigned, and
 * for a signed one with 0. */
ts_val ts__view_start(ts_lower *lw, const ts_type_info *view, uint32_t axis, ts_val tile_index, ts_type type);

#endif
