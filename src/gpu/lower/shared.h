/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory while lowering (shared.c): scratch for one "write, barrier, read", and buffers that stay. All offsets
 * and sizes are bytes from the start of the block's dynamic shared memory.
 *
 *     uint32_t at = ts__shared_take(lw, bytes, v);     a barrier first, if another thread may still read there
 *     ...stores through ts__shared_pointer(lw, elem, at)...
 *     ts__lower_barrier(lw);
 *     ...loads...
 *     ts__shared_done(lw, at, bytes);                  free again; the reads count until the next barrier
 */
#ifndef TS_GPU_LOWER_SHARED_H
#define TS_GPU_LOWER_SHARED_H

#include "ir/ir.h"

typedef struct ts_lower ts_lower;

typedef struct ts_shared_use {
    uint32_t begin, end;
} ts_shared_use;

typedef struct ts_shared {
    uint32_t limit;              /* bytes a block may have */
    uint32_t next;               /* where the next scratch buffer is tried */
    uint32_t peak;               /* bytes the launch asks for */
    TS_VEC(ts_shared_use) reads; /* since the last barrier */
    TS_VEC(ts_shared_use) fixed; /* taken: for good, or until ts__shared_done */
    bool unknown;                /* anything may have been read: start of a region */
} ts_shared;

/* Bytes for the rest of the function, at a multiple of `align`, a power of two. Returns the offset. `why`: the tile
 * value that an error names, 0 = the kernel. */
uint32_t ts__shared_fix(ts_lower *lw, uint32_t bytes, uint32_t align, ts_val why);
/* Bytes for a moment: write, ts__lower_barrier, read, ts__shared_done. Emits a barrier first when another thread
 * may still be reading what lay there. */
uint32_t ts__shared_take(ts_lower *lw, uint32_t bytes, ts_val why);
void ts__shared_done(ts_lower *lw, uint32_t offset, uint32_t bytes);
void ts__shared_cleared(ts_lower *lw);  /* a barrier was emitted */
void ts__shared_forget(ts_lower *lw);   /* a region starts or ends: anything may be pending */
/* Where several thread blocks share the tile block: memory of the first of them, so that they have it in common. */
ts_val ts__shared_pointer(ts_lower *lw, ts_type elem, uint32_t offset);
ts_val ts__shared_of_cta(ts_lower *lw, ts_type elem, uint32_t offset, uint32_t cta); /* of that one; TS_NO: this one */

#endif
