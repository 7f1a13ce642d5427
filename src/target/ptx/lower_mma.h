/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of mma.sync in shared memory: what lower_mma.c and pipeline_cp.c share.
 */
#ifndef TS_TARGET_PTX_LOWER_MMA_H
#define TS_TARGET_PTX_LOWER_MMA_H

#include "target/ptx/lower.h"

/* A tile in shared memory at element offsets XORed from `offset`; one thread's part of the address. */
typedef struct mma_box {
    ts_val base, thread;
    uint32_t taken, bits;
    const uint32_t *offset;
    uint32_t bytes;
} mma_box;
mma_box ts__mma_box(ts_lower *lw, ts_val base, const ts_layout *lanes, const uint32_t *offset, uint32_t bytes);
/* Pointer to the element whose flat index is this thread's XOR `flat`. */
ts_val ts__mma_address(ts_lower *lw, const mma_box *box, uint32_t flat);

/* Where an operand comes from: registers, or shared memory that it is written to first. */
typedef struct mma_source {
    ts_val x;
    ts_layout fragment, matrix; /* matrix: addresses of ldmatrix */
    ts_move move;
    bool shared, by_matrix, trans;
    uint32_t at, bytes, size;
    ts_val placed;              /* a pipeline has put it there already: pointer; 0 = no */
} mma_source;
/* The source of operand `side` (0 A, 1 B) of an mma.sync; false when it comes from registers. */
bool ts__mma_source(ts_lower *lw, ts_val mma, uint32_t side, mma_source *source);

#endif
