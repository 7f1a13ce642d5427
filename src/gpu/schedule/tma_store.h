/* SPDX-License-Identifier: Apache-2.0
 *
 * A result on its way to memory: what tma_store.c, which writes its units to shared memory, and store_rows.c share.
 */
#ifndef TS_GPU_SCHEDULE_TMA_STORE_H
#define TS_GPU_SCHEDULE_TMA_STORE_H

#include "gpu/lower/view_access.h"
#include "gpu/schedule/schedule.h"

enum { STORE_ROWS = 64, STORE_COLUMNS = 16 }; /* of a unit; the fewest of one that is stored transposed */

typedef struct store_job {
    ts_val store;
    bool by_tma, sums;             /* sums: adds to the array */
    bool across;                   /* the array's rows lie along the tile's columns */
    ts_tma_load tile;
    ts_plan_tmap map;
    const ts_linear *layout;
    uint32_t log_m, log_n;         /* what one warpgroup keeps */
    uint32_t rows_apart, columns_apart; /* from a warpgroup to the next */
    uint32_t columns, units;       /* columns of a unit; units of a warpgroup */
    uint32_t at, slots;            /* first byte; units a warpgroup has room for */
    uint32_t stride;               /* from a warpgroup's first byte to the next one's */
    ts_val group;                  /* index of the warpgroup, 0 = there is one only */
} store_job;

static inline uint32_t ts__store_unit_bytes(const store_job *job)
{
    return STORE_ROWS * job->columns * job->tile.elem_bytes;
}
/* What the warpgroup adds: its index times `apart`; 0 = nothing. */
ts_val ts__store_apart(ts_lower *lw, const store_job *job, uint32_t apart);

/* The path without TMA, for arrays that it cannot describe or that others touch too. */
typedef struct store_rows {
    ts_linear whole, unit;           /* of the tile and of a unit: vectors, then lanes along a row */
    uint32_t offset[TS_LAYOUT_BITS]; /* of a unit's flat bits in shared memory, in elements */
    view_access access;              /* of the whole tile */
} store_rows;
bool ts__store_rows_plan(ts_lower *lw, const store_job *job, store_rows *rows);
/* Each warp sends the 16 rows of unit `i` that it wrote to `slot`. */
void ts__store_rows_send(ts_lower *lw, const store_job *job, const store_rows *rows, uint32_t i, uint32_t slot);

/* Work that is deferred to a store (epilogue.c). Register r of any value; sends for registers `first` .. of the tiles
 * that are loaded for this store. */
ts_val ts__epilogue_reg(ts_lower *lw, ts_val v, const ts_linear *layout, uint32_t r);
void ts__epilogue_fetch(ts_lower *lw, ts_val store, const ts_linear *layout, uint32_t first, uint32_t n);
/* The store itself, false when it must go another way; behind a loop, where what comes next may store to the same
 * array; before the function returns, as shared memory must live until what was sent has been read. */
bool ts__tma_store(ts_lower *lw, ts_val v);
void ts__tma_store_after(ts_lower *lw, ts_val loop);
void ts__tma_store_leave(ts_lower *lw);

#endif
