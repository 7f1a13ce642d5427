/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings of stages filled by TMA (plan/tma.h), as those who read the stages see them: producer.c keeps them.
 */
#ifndef TS_GPU_SCHEDULE_RING_H
#define TS_GPU_SCHEDULE_RING_H

#include "gpu/lower/lower.h"

/* Stage of the current step (0 = there is one only), barrier of step `count` (0 = no steps). */
ts_val ts__ring_stage(ts_lower *lw, const ts_tma_group *group);
ts_val ts__ring_barrier(ts_lower *lw, const ts_tma_group *group, uint32_t offset, ts_val count);
/* Waits until the stage of a load is filled. */
void ts__ring_await(ts_lower *lw, const ts_tma_load *load);
/* Counters of the loops in `opener`, itself included, as values that it carries: before it opens, at its `continue`, as
 * its arguments or results from `next` on (gives the one behind them); how many they are. */
void ts__ring_loop_values(ts_lower *lw, ts_val opener, ts_vals *out);
void ts__ring_loop_next(ts_lower *lw, ts_val opener, ts_vals *out);
ts_val ts__ring_loop_take(ts_lower *lw, ts_val opener, ts_val next);
uint32_t ts__ring_loop_n(ts_lower *lw, ts_val opener);
/* Coordinates of one copy of access `v`, `inner` and `row` (i32, 0 = none) into the tile: unit axis first, then the
 * tensor's other axes from last to first. Gives their number. */
uint32_t ts__tma_coordinates(ts_lower *lw, ts_val v, const ts_tma_load *load, ts_val inner, ts_val row, ts_val *out);

#endif
