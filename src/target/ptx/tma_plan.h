/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that plan the tensor-core path of sm_90a share (tma.h): tma.c goes through the products and asks the
 * others in the order of this header.
 */
#ifndef TS_TARGET_PTX_TMA_PLAN_H
#define TS_TARGET_PTX_TMA_PLAN_H

#include "target/ptx/lower.h"

typedef struct tma_work {
    const ts_fn *fn;
    const ts_module *module;
    const ts_pass_env *env;
    ts_arena *arena;
    ts_tma *out;
    ts_shape shape;
    uint32_t *uses;  /* without tokens */
    uint32_t *edges; /* uses on the way to a product's operand */
} tma_work;

/* tma.c. The copy of value `v`, NULL = there is none; whether operand a is made by the consumers; whether the function
 * stores to parameter `base`. */
const ts_tma_load *ts__tma_load_at(const ts_tma *tma, ts_val v);
bool ts__tma_is_made(const tma_work *w, const ts_wgmma *p);
bool ts__tma_is_stored(const tma_work *w, int32_t base);

/* tma_waits.c. Fills late, deferred and lazy of the products; the first is known product by product. */
bool ts__tma_is_late(const tma_work *w, ts_val mma);
void ts__tma_plan_waits(tma_work *w);

/* tma_rings.c. Groups of loads; false when a load and its product stand in different loops. Vectors join them, loops
 * that follow each other share a ring, teams take tiles in turn; then the number of stages, false when none fits
 * `limit` bytes, and their places. */
bool ts__tma_groups(tma_work *w);
void ts__tma_join_vectors(tma_work *w);
void ts__tma_share_ring(tma_work *w);
void ts__tma_teams(tma_work *w);
bool ts__tma_stages(tma_work *w, uint32_t limit);
void ts__tma_place(tma_work *w);

/* tma_slice.c. Marks what the producer computes; false when it cannot. */
bool ts__tma_slice(tma_work *w);

#endif
