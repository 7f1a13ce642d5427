/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts of the registers of wgmma: the accumulator, and operand a where it is in registers.
 */
#include "gpu/plan/tma.h"

ts_wgmma_split ts__wgmma_split_of(uint32_t log_m, uint32_t log_n, uint32_t n_warp)
{
    ts_wgmma_split s = {log_m, log_n, {0}, {0}};
    for (uint32_t i = 2; i < n_warp; i++)
        if (s.log_m > 6)
            s.m[i] = 1u << --s.log_m;
        else if (s.log_n > 3)
            s.n[i] = 1u << --s.log_n;
    return s;
}

static void wgmma_reg(ts_linear *layout, uint32_t column)
{
    if (layout->n_reg < TS_LAYOUT_REGS)
        layout->reg[layout->n_reg++] = column;
}

/* Rows 16 w + g + 8 s, columns 8 j + 2 c + t of lane 4 g + c: registers t, s, j.., then blocks of 64 rows. */
static ts_linear wgmma_fragment(const ts_wgmma_split *s, uint32_t log_row, uint32_t log_column, uint32_t columns,
                                uint32_t n_warp, bool split_columns)
{
    ts_linear layout = {.bits = (uint8_t)(log_row + log_column), .n_warp = (uint8_t)n_warp};
    wgmma_reg(&layout, 1);
    wgmma_reg(&layout, 8u << log_column);
    for (uint32_t i = 3; i < columns; i++)
        wgmma_reg(&layout, 1u << i);
    for (uint32_t i = 6; i < s->log_m; i++)
        wgmma_reg(&layout, 1u << (log_column + i));
    layout.lane[0] = 2;
    layout.lane[1] = 4;
    for (uint32_t i = 0; i < 3; i++)
        layout.lane[2 + i] = 1u << (log_column + i);
    for (uint32_t i = 0; i < n_warp; i++)
        layout.warp[i] = i < 2 ? 16u << i << log_column : s->m[i] << log_column | (split_columns ? s->n[i] : 0);
    return layout;
}

ts_linear ts__wgmma_layout_c(uint32_t log_m, uint32_t log_n, uint32_t n_warp)
{
    ts_wgmma_split s = ts__wgmma_split_of(log_m, log_n, n_warp);
    return wgmma_fragment(&s, log_m, log_n, s.log_n, n_warp, true);
}

ts_linear ts__wgmma_layout_of(const ts_module *module, ts_type c, uint32_t n_warp)
{
    const int64_t *last = ts_type_dims(module, c) + ts_type_rank(module, c);
    return ts__wgmma_layout_c((uint32_t)ts_log2((uint64_t)last[-2]), (uint32_t)ts_log2((uint64_t)last[-1]), n_warp);
}

ts_linear ts__wgmma_layout_a(uint32_t log_m, uint32_t log_n, uint32_t log_k, uint32_t n_warp)
{
    ts_wgmma_split s = ts__wgmma_split_of(log_m, log_n, n_warp);
    return wgmma_fragment(&s, log_m, log_k, log_k, n_warp, false);
}
