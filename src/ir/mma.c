/* SPDX-License-Identifier: Apache-2.0
 *
 * Fragments of mma.sync (mma.h): the formulas of tessera/mma.def.
 */
#include "ir/mma.h"
#include "ir/scalar.h"

const ts_mma_row ts__mma_rows[TS_MMA_COUNT] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) {m, n, k, {TS_T_##a, TS_T_##b, TS_T_##c}, {ra, rb, rc}, sm},
#include "tessera/mma.def"
};

uint32_t ts__mma_per_register(const ts_mma_row *row, ts_mma_operand which)
{
    uint32_t bits = ts__scalar_bits(row->type[which]);
    return bits < 32 ? 32 / bits : 1;
}

uint32_t ts__mma_slots(const ts_mma_row *row, ts_mma_operand which)
{
    return row->regs[which] * ts__mma_per_register(row, which);
}

void ts__mma_place(ts_mma_operand which, uint32_t bits, uint32_t lane, uint32_t slot, uint32_t *row, uint32_t *col)
{
    uint32_t g = lane / 4, c = lane % 4;
    if (which == TS_MMA_C) {
        *row = g + 8 * (slot >> 1 & 1);
        *col = 8 * (slot >> 2) + 2 * c + (slot & 1);
        return;
    }
    uint32_t mn = which == TS_MMA_A ? g + 8 * (slot & 1) : g,
             k = c + 4 * (which == TS_MMA_A ? slot >> 1 : slot); /* 32 and 64 bits */
    if (bits == 16) {
        mn = which == TS_MMA_A ? g + 8 * (slot >> 1 & 1) : g;
        k = 2 * c + (slot & 1) + 8 * (which == TS_MMA_A ? slot >> 2 : slot >> 1);
    } else if (bits == 8) {
        mn = which == TS_MMA_A ? g + 8 * (slot >> 2 & 1) : g;
        k = 4 * c + (slot & 3) + 16 * (which == TS_MMA_A ? slot >> 3 : slot >> 2);
    }
    *row = which == TS_MMA_A ? mn : k;
    *col = which == TS_MMA_A ? k : mn;
}

uint32_t ts__mma_threads(const ts_fn *fn)
{
    if (ts__has_op(fn, TS_OP_wgmma))
        return 128;
    return ts__has_op(fn, TS_OP_mma_sync) || ts__has_op(fn, TS_OP_ldmatrix) || ts__has_op(fn, TS_OP_stmatrix) ? 32 : 0;
}
