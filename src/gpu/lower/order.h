/* SPDX-License-Identifier: Apache-2.0
 *
 * Program order of memory accesses within a tile block (order.c): threads run on their own, so an access that may touch
 * what another thread stored or loaded since the last barrier needs one before it. Arrays are told apart by the alias
 * analysis (pass/alias.h); a set of them is a mask, one bit for each pointer parameter and one for memory that may be
 * anywhere.
 */
#ifndef TS_GPU_LOWER_ORDER_H
#define TS_GPU_LOWER_ORDER_H

#include "gpu/layout/layout.h"
#include "pass/alias.h"

typedef struct ts_lower ts_lower;

/* Bits of an alias set: the parameter's number (those from TS_ALIAS_SET_LAST on share a bit), or anywhere. */
enum { TS_ALIAS_SET_LAST = 62, TS_ALIAS_SET_UNKNOWN = 63 };

typedef struct ts_access_order {
    ts_alias alias;                    /* of the tile function */
    uint32_t *tokens;                  /* [value] how many of its uses are tokens */
    uint64_t loaded, stored;           /* alias sets: since the last barrier */
    uint64_t ever_loaded, ever_stored; /* in the whole function */
} ts_access_order;

/* False when memory is out. */
bool ts__order_init(ts_lower *lw);
/* Call before the loads or stores of instruction v, and ts__lower_accesses when its operands are there and no barrier
 * comes before its first load or store. */
void ts__lower_before_load(ts_lower *lw, ts_val v);
void ts__lower_before_store(ts_lower *lw, ts_val v);
void ts__lower_accesses(ts_lower *lw, ts_val v);
/* The arrays that an access through a pointer or view may touch. */
uint64_t ts__lower_alias_set(const ts_lower *lw, ts_val pointer_or_view);
bool ts__lower_meets(uint64_t a, uint64_t b); /* may memory of alias sets a and b be the same? */
/* Memory order of an access, by its attribute: the cache operation; the barriers a block needs around it. */
ts_cache_use ts__lower_cache(uint32_t attr, bool load);
bool ts__lower_releases(uint32_t attr); /* before */
bool ts__lower_acquires(uint32_t attr); /* after */
/* i1: threads that carry out an ordered load. Others may write what it reads, so threads that hold the same element
 * must not each read it: they could see different values. 0 = all. */
ts_val ts__lower_reader(ts_lower *lw, uint32_t attr, const ts_linear *layout);

/* The layout in which a store through pointers writes: where those or the value live, the usual one when both are free
 * (ptr.c). */
const ts_linear *ts__ptr_store_layout(ts_lower *lw, ts_val v);

#endif
