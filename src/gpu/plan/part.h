/* SPDX-License-Identifier: Apache-2.0
 *
 * Shorter tiles in the place of those that a kernel names: what plan/depth.c (along k) and plan/halve.c (rows or
 * columns of a result) share with plan/team.c.
 */
#ifndef TS_GPU_PLAN_PART_H
#define TS_GPU_PLAN_PART_H

#include "ir/ir.h"

enum { TS_PART_WAY = 8 }; /* operations between a load and its product */

/* From a load up to what a product reads. */
typedef struct ts_part_way {
    ts_val value[TS_PART_WAY];
    uint32_t axis[TS_PART_WAY]; /* of each, the one that gets shorter */
    uint32_t n;
} ts_part_way;

/* It acts, but all blocks may do it. */
static inline bool ts_part_orders_grids(ts_op op)
{
    return op == TS_OP_gdc_wait_tko || op == TS_OP_gdc_launch_dependents_tko;
}

/* How often instructions read `v`. */
uint32_t ts__part_uses(const ts_fn *fn, ts_val v);
/* A constant with one value: it is the same in every part. */
bool ts__part_is_splat(const ts_fn *fn, ts_val v);
/* Follows operand `v` of a product back to its load from a partition view, through permutes, reshapes, assumptions and
 * `also` (0: nothing else); false unless every value on the way has one reader, in the product's region. */
bool ts__part_follow(const ts_fn *fn, const ts_shape *shape, ts_val v, uint32_t axis, ts_op also, ts_part_way *out);
/* A tile type, and a partition view of `array`, of 1 / parts along an axis. */
ts_type ts__part_tile(const ts_fn *fn, ts_type type, uint32_t axis, uint32_t parts);
ts_val ts__part_view(ts_builder *b, const ts_fn *fn, ts_val view, ts_val array, uint32_t axis, uint32_t parts);
/* Copies `v` with the operands of `map` when it lies on the way, as one of a shorter tile; false when it does not. */
bool ts__part_copy(ts_builder *b, const ts_fn *fn, const ts_part_way *way, ts_val v, uint32_t parts, ts_val *map);

#endif
