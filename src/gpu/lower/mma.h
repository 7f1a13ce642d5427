/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of products in shared memory: what lower/mma.c, lower/fma.c and schedule/cp_async.c share.
 */
#ifndef TS_GPU_LOWER_MMA_H
#define TS_GPU_LOWER_MMA_H

#include "gpu/lower/lower.h"

/* A tile in shared memory at element offsets XORed from `offset`; one thread's part of the address. */
typedef struct mma_box {
    ts_val base, thread;
    uint32_t taken, bits;
    const uint32_t *offset;
    uint32_t bytes;
} mma_box;
mma_box ts__mma_box(ts_lower *lw, ts_val base, const ts_linear *lanes, const uint32_t *offset, uint32_t bytes);
/* Pointer to the element whose flat index is this thread's XOR `flat`. */
ts_val ts__mma_address(ts_lower *lw, const mma_box *box, uint32_t flat);

/* Where an operand comes from: registers, or shared memory that it is written to first. */
typedef struct mma_source {
    ts_val x;
    const ts_linear *from;
    ts_linear fragment, matrix; /* matrix: addresses of ldmatrix */
    ts_move move;
    bool shared, by_matrix, trans;
    uint32_t at, bytes, size;
    ts_val placed;              /* a pipeline has put it there already: pointer; 0 = no */
    ts_val rounds;              /* as f32, which this conversion makes tf32; 0 = as it is */
    bool kept;                  /* a product before this one has written it */
} mma_source;
ts_mma_shape ts__mma_shape(const ts_lower *lw, ts_val mma);
/* The register whose fixed part is `flat` (bits that are not in registers are ignored). */
uint32_t ts__mma_reg(const ts_linear *layout, uint32_t flat);
/* The source of operand `side` (0 A, 1 B) of a product; false when it comes from registers. */
bool ts__mma_source(ts_lower *lw, ts_val mma, uint32_t side, mma_source *source);
/* Writes the operand to shared memory unless a pipeline has put it there; the barrier is the caller's. */
void ts__mma_prepare(ts_lower *lw, mma_source *source);

/* Reading a step ahead (ts_prefetch in strategy.h): whether the product can; loads the fragments of its first k step
 * from the current stage and adds them to `out`. */
bool ts__mma_goes_ahead(ts_lower *lw, ts_val mma);
void ts__mma_first(ts_lower *lw, ts_val mma, ts_vals *out);

/* Products by fma: lower/fma.c. */
bool ts__fma_goes_ahead(ts_lower *lw, ts_val mma);
void ts__fma_first(ts_lower *lw, ts_val mma, ts_vals *out);
void ts__fma_source(ts_lower *lw, ts_val mma, uint32_t side, mma_source *source);
void ts__lower_fma(ts_lower *lw, ts_val mma);
/* The loop of product `mma` has ended: frees its accumulators from the order in which they will be stored. */
void ts__fma_loosen(ts_lower *lw, ts_val loop, ts_val mma);

#endif
