/* SPDX-License-Identifier: Apache-2.0
 *
 * Scoped value numbering: of equal instructions the first that dominates is kept. Used while a
 * function is built: emit an instruction, then ask ts__number whether it was there before; if so it
 * is taken back. Loads are equal while no write came between (the caller counts those as `epoch`);
 * other instructions within one `domain` (bodies of reductions take nothing from outside but what
 * they use).
 */
#ifndef TS_PASS_NUMBER_H
#define TS_PASS_NUMBER_H

#include "ir/ir.h"

typedef struct ts__number_entry {
    uint64_t hash;
    uint64_t epoch; /* or domain */
    ts_val value;
    uint32_t next;
} ts__number_entry;

typedef struct ts__numbers {
    ts_fn *fn;
    ts_arena *scratch;
    uint32_t *bucket; /* index + 1 of the newest entry */
    uint32_t n_buckets;
    TS_VEC(ts__number_entry) entry;
    TS_VEC(uint32_t) scope; /* entries at each open region */
    uint64_t epoch, domain; /* the caller's */
    bool failed;
} ts__numbers;

bool ts__numbers_init(ts__numbers *n, ts_fn *fn, ts_arena *scratch);
void ts__numbers_open(ts__numbers *n);
void ts__numbers_close(ts__numbers *n);
/* The newest instruction of the function (pool as it was before in `pool_n`): itself, or an equal
 * one, and then the newest is gone. */
ts_val ts__number(ts__numbers *n, uint32_t pool_n);
/* A pure operation or weak load with one result and no region. */
bool ts__can_number(const ts_inst *inst);

#endif
