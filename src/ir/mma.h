/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of tessera/mma.def, and where the elements of a fragment stand in their matrices.
 */
#ifndef TS_IR_MMA_H
#define TS_IR_MMA_H

#include "ir/ir.h"

typedef enum ts_mma_operand { TS_MMA_A, TS_MMA_B, TS_MMA_C } ts_mma_operand;

typedef struct ts_mma_row {
    uint8_t m, n, k;       /* n 0: wgmma */
    uint8_t type[3];       /* of elements of a, b, c */
    uint8_t regs[3];       /* of a lane */
    uint8_t sm;
} ts_mma_row;

extern const ts_mma_row ts__mma_rows[TS_MMA_COUNT];

/* How many elements of the operand a lane of an mma_sync holds, and how many a register does. */
uint32_t ts__mma_per_register(const ts_mma_row *row, ts_mma_operand which);
uint32_t ts__mma_slots(const ts_mma_row *row, ts_mma_operand which);
/* Row and column (A: m, k; B: k, n; C: m, n) of slot `slot` of a lane, for elements of so many bits. Each bit of lane
 * and slot moves one of them, whatever the others are. */
void ts__mma_place(ts_mma_operand which, uint32_t bits, uint32_t lane, uint32_t slot, uint32_t *row, uint32_t *col);

/* How many threads do its products together, or move their matrices: 32, 128 with wgmma, 0 where it has none. A block
 * must have a multiple of them. */
uint32_t ts__mma_threads(const ts_fn *fn);
/* The message for another block: name of the kernel, extents of the block, that number. */
#define TS_MMA_BLOCK "kernel '%s': a block of (%u, %u, %u) threads; its products are made by whole warps: launch " \
                     "blocks of a multiple of %u threads"

#endif
