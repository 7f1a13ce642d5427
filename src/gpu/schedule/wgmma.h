/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a product on wgmma (wgmma.c), for schedules that place them themselves.
 */
#ifndef TS_GPU_SCHEDULE_WGMMA_H
#define TS_GPU_SCHEDULE_WGMMA_H

#include "gpu/lower/lower.h"

/* The product without its wait, operand a from `fragments` when it is in registers (NULL: from its value; returns
 * what is left of them); the fragments of its operand, two 16-bit elements a word. */
const ts_val *ts__wgmma_start(ts_lower *lw, ts_val v, const ts_val *fragments);
const ts_val *ts__wgmma_fragments(ts_lower *lw, ts_val v, uint32_t *n);
/* Waits until at most `pending` of the groups committed last still run. */
void ts__wgmma_wait(ts_lower *lw, uint32_t pending);
/* One arrival of every consumer warp on the empty barrier of the stage of step `count`. */
void ts__wgmma_release(ts_lower *lw, const ts_tma_group *group, ts_val count);
/* Where the flat bits of a tile lie in its swizzled panels, in units of 2^log_unit elements, which lie side by side. */
void ts__wgmma_offsets(const ts_tma_load *load, uint32_t log_unit, uint32_t *offset);
/* Two 16-bit values as one word; those just rounded from f32 are rounded in pairs instead. */
ts_val ts__wgmma_pair(ts_lower *lw, ts_val x, ts_val y);

#endif
