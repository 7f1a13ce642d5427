/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts of products that have no tensor-core instruction (assign.h): outer products in registers.
 *
 *     a thread's accumulators        rows and columns in groups of 4, so that operands come as 16-byte loads
 *     lanes                          4 along n, 8 along m, the lowest two bits one of each: lanes that are
 *                                    neighbours in one axis read the same address of the other operand, and
 *                                    the loads of two such lanes become one
 *     warps                          halve the longer side, from the top
 *
 * An operand's fragment is what these accumulators need of it, for a chunk of k.
 */
#include "gpu/plan/assign.h"

enum { FMA_GROUP = 2 }; /* log2 of the rows and columns that lie side by side */

/* Bits of the axes that are not dealt out yet: [first, end) of n, m and batch. */
typedef struct fma_axes {
    uint32_t base[3], first[3], end[3];
} fma_axes;
enum { FMA_N, FMA_M, FMA_B };

/* The lowest bit left of `axis`, or of the next one that has any; 0 = none left. */
static uint32_t fma_low(fma_axes *axes, uint32_t axis)
{
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t at = (axis + i) % 3;
        if (axes->first[at] < axes->end[at])
            return 1u << (axes->base[at] + axes->first[at]++);
    }
    return 0;
}

/* The highest bit left: of the longer side (of the rows, if those come first). */
static uint32_t fma_high(fma_axes *axes, bool rows_first)
{
    uint32_t left[3];
    for (uint32_t i = 0; i < 3; i++)
        left[i] = axes->end[i] - axes->first[i];
    uint32_t at = left[FMA_M] && (rows_first || axes->end[FMA_M] >= axes->end[FMA_N] || !left[FMA_N]) ? FMA_M
                  : left[FMA_B] ? FMA_B : FMA_N;
    return left[at] ? 1u << (axes->base[at] + --axes->end[at]) : 0;
}

ts_linear ts__fma_layout_c(const int64_t *dims, uint32_t rank, uint32_t n_warp, bool rows_first)
{
    static const uint8_t lanes[TS_LAYOUT_LANES] = {FMA_N, FMA_M, FMA_N, FMA_M, FMA_M};
    uint32_t n = (uint32_t)ts_log2((uint64_t)dims[rank - 1]), m = (uint32_t)ts_log2((uint64_t)dims[rank - 2]);
    uint32_t b = rank == 3 ? (uint32_t)ts_log2((uint64_t)dims[0]) : 0, bits = n + m + b;
    uint32_t each = bits > TS_LAYOUT_LANES + n_warp ? bits - TS_LAYOUT_LANES - n_warp : 0;
    fma_axes axes = {{0, n, n + m}, {0, 0, 0}, {n, m, b}};
    ts_linear layout = {.bits = (uint8_t)bits, .n_warp = (uint8_t)n_warp};
    for (uint32_t i = 0; i < 2 * FMA_GROUP && layout.n_reg < each; i++) {
        uint32_t axis = i < FMA_GROUP ? FMA_N : FMA_M;
        if (axes.first[axis] < axes.end[axis])
            layout.reg[layout.n_reg++] = fma_low(&axes, axis);
    }
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        layout.lane[i] = fma_low(&axes, lanes[i]);
    for (uint32_t i = 0; i < n_warp; i++)
        layout.warp[i] = fma_high(&axes, rows_first);
    for (uint32_t bit; layout.n_reg < TS_LAYOUT_REGS && (bit = fma_low(&axes, FMA_N));)
        layout.reg[layout.n_reg++] = bit;
    return layout;
}

/* What a column of C means to an operand: its rows (A) or columns (B), and its batch. */
static uint32_t fma_column(const ts_mma_shape *s, bool is_b, uint32_t column)
{
    uint32_t n = column & ((1u << s->log_n) - 1), m = column >> s->log_n & ((1u << s->log_m) - 1);
    uint32_t batch = column >> (s->log_n + s->log_m);
    return is_b ? n | batch << (s->log_k + s->log_n) : m << s->log_k | batch << (s->log_k + s->log_m);
}

static void fma_regs(ts_linear *layout, const ts_linear *c, const ts_mma_shape *s, bool is_b)
{
    for (uint32_t i = 0; i < c->n_reg; i++) {
        uint32_t column = fma_column(s, is_b, c->reg[i]);
        if (column && layout->n_reg < TS_LAYOUT_REGS)
            layout->reg[layout->n_reg++] = column;
    }
}

ts_linear ts__fma_layout_operand(const ts_linear *c, const ts_mma_shape *s, bool is_b, bool k_first, uint32_t log_chunk)
{
    uint32_t k_bit = is_b ? s->log_n : 0;
    ts_linear layout = {.bits = (uint8_t)(s->log_b + s->log_k + (is_b ? s->log_n : s->log_m)), .n_warp = c->n_warp};
    if (!k_first)
        fma_regs(&layout, c, s, is_b);
    for (uint32_t i = 0; i < log_chunk && layout.n_reg < TS_LAYOUT_REGS; i++)
        layout.reg[layout.n_reg++] = 1u << (k_bit + i);
    if (k_first)
        fma_regs(&layout, c, s, is_b);
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        layout.lane[i] = fma_column(s, is_b, c->lane[i]);
    for (uint32_t i = 0; i < c->n_warp; i++)
        layout.warp[i] = fma_column(s, is_b, c->warp[i]);
    return layout;
}
