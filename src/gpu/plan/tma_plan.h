/* SPDX-License-Identifier: Apache-2.0
 *
 * The planning of the tensor-core path, shared by its files; everybody else reads the outcome in tma.h. ts__tma_plan
 * (tma.c) calls them in this order:
 *
 *     tma_product.c   products and the loads of their operands; tma_map.c describes each load
 *     tma_wait.c      when each product is waited for
 *     tma_ring.c      groups of loads and their rings
 *     tma_slice.c     what the producer warp computes
 *     tma_stages.c    depth and place of the rings in shared memory
 *     tma_join.c      which products share instructions
 *
 * Functions that return bool give false when the function cannot take this path; tma.c says why and gives it up.
 */
#ifndef TS_GPU_PLAN_TMA_PLAN_H
#define TS_GPU_PLAN_TMA_PLAN_H

#include "gpu/plan/tma.h"

typedef struct ts_tma_work {
    const ts_fn *fn;
    const ts_module *module;
    const ts_pass_env *env;
    ts_arena *arena;
    ts_tma *out;
    ts_shape shape;
    uint32_t *uses;  /* [value] without tokens */
    uint32_t *edges; /* [value] uses on the way to a product's operand */
    uint8_t *own;    /* [value] follows from the rank of the block (out->rank), which loops do not carry */
} ts_tma_work;

/* ---- tma.c ---- */

/* Begins a plan: counts uses and finds the products that can run on wgmma. */
TS_CHECKED ts_status ts__tma_begin(ts_tma_work *w, ts_error *err);
/* As ts__tma_load_of, while it is open whether the function takes this path. */
const ts_tma_load *ts__tma_load_at(const ts_tma *tma, ts_val v);
/* Parameter index of the array behind a view or pointer; -1 when unknown. */
int32_t ts__tma_root(const ts_fn *fn, ts_val v);
/* Whether the function may write to the array of parameter `base`. */
bool ts__tma_is_stored(const ts_tma_work *w, int32_t base);

/* ---- tma_product.c ---- */

/* Counts the uses of every value that lead to operands of products, each once. */
void ts__tma_count_edges(ts_tma_work *w);
/* Adds product `v` and its loads when it can run on wgmma, else notes why not. */
void ts__tma_product(ts_tma_work *w, ts_val v);
/* Whether operand a is computed by the consumers and put into shared memory by them. */
bool ts__tma_by_consumers(const ts_tma_work *w, const ts_wgmma *p);
/* Every reader of every load takes it from shared memory. */
bool ts__tma_all_from_shared(const ts_tma_work *w);
/* 4 warps for each 64 rows, at most 8; one accumulator may take 128 registers of a thread. */
bool ts__tma_warps(ts_tma_work *w);

/* ---- tma_wait.c ---- */

/* The loop that carries `mma` as accumulator carries it for this product alone. */
bool ts__tma_waits_next_step(const ts_tma_work *w, ts_val mma);
/* Decides lazy and deferred of all products; the number of warps is known. */
void ts__tma_plan_waits(ts_tma_work *w);

/* ---- tma_ring.c ---- */

/* Puts every load of a product in a group. */
bool ts__tma_groups(ts_tma_work *w);
/* Rows and columns that are loaded in a loop of products come with the tiles. */
void ts__tma_join_vectors(ts_tma_work *w);
/* One ring for loops over tiles that follow each other, with one group each, where that can be. */
void ts__tma_share_ring(ts_tma_work *w);
/* Whether TMA fills the stages of a group, not consumers. */
bool ts__tma_is_filled(const ts_tma_work *w, uint32_t group);

/* ---- tma_slice.c ---- */

bool ts__tma_slice(ts_tma_work *w);

/* ---- tma_stages.c ---- */

/* A tile for each consumer warpgroup, where warpgroups can take turns and the number of warps is not asked for. */
void ts__tma_pingpong(ts_tma_work *w);
/* Depth of the rings, at least `least` stages, within `limit` bytes of shared memory. */
bool ts__tma_stages(ts_tma_work *w, uint32_t limit, uint32_t least);
/* Offsets in shared memory, from the depths. */
void ts__tma_place(ts_tma_work *w);

/* ---- tma_join.c ---- */

/* Marks the products that are issued with another one. All else is decided. */
void ts__tma_join(ts_tma_work *w);

#endif
