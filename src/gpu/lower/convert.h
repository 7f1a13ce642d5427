/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of layout, and tiles that pass through shared memory (convert.c). Offsets in shared memory are linear too:
 * bit i of an element's flat index moves it by offset[i] elements, XORed.
 */
#ifndef TS_GPU_LOWER_CONVERT_H
#define TS_GPU_LOWER_CONVERT_H

#include "gpu/lower/lower.h"

/* The registers of a tile in layout `to`, from those in `from`. Errors name tile value `why`. */
ts_val *ts__lower_convert(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                         const ts_linear *to);
/* The type that an element is kept as in memory (pointers i64, i1 and 4-bit values a byte each), and the conversions to
 * it and from it. */
ts_type ts__lower_memory_type(const ts_lower *lw, ts_type elem);
ts_val ts__lower_to_memory(ts_lower *lw, ts_val x);
ts_val ts__lower_from_memory(ts_lower *lw, ts_val x, ts_type elem);
/* Stores a tile to scratch at the element offsets XORed from `offset`; returns where. Barrier and ts__shared_done
 * are the caller's. */
uint32_t ts__lower_to_shared(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                            const uint32_t *offset);
/* The same into memory that was fixed. */
void ts__lower_store_shared(ts_lower *lw, ts_type elem, const ts_linear *from, const ts_val *reg,
                            const uint32_t *offset, uint32_t at);
/* Reads what lies in shared memory, of this thread block or another, at the element offsets XORed from `offset`. */
void ts__lower_load_shared(ts_lower *lw, ts_type elem, const ts_linear *layout, const uint32_t *offset, ts_val base,
                          ts_val *reg);
/* What the threads of `only` hold, given to their replicas too (through shared memory). */
ts_val *ts__lower_share(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *layout, const ts_val *reg,
                        ts_val only);

#endif
