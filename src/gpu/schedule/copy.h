/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles copied to shared memory by cp.async before their trip of a loop comes: what schedule/cp_async.c (operands of
 * products) and schedule/rows.c (tiles that threads copy for themselves) share.
 */
#ifndef TS_GPU_SCHEDULE_COPY_H
#define TS_GPU_SCHEDULE_COPY_H

#include "gpu/lower/view_access.h"

/* The indices of a load follow from the loop's number; marks in slice[tile value] what they are made of, which is
 * written anew for another number. */
bool ts__copy_slice(ts_lower *lw, ts_val loop, ts_val load, uint8_t *slice);
/* Writes it anew, for the number `iv`. */
void ts__copy_rewrite(ts_lower *lw, const uint8_t *slice, ts_val loop, ts_val iv);
/* Do the vectors of a copy, 4 to 16 bytes, lie together in shared memory? offset[flat bit]: in elements. */
bool ts__copy_fits(const view_access *a, const uint32_t *offset);
/* Each thread copies what it holds of the tile in layout `home`; zeros for what lies outside the array. */
void ts__copy_tile(ts_lower *lw, ts_val load, const ts_linear *home, const uint32_t *offset, ts_val base);

#endif
