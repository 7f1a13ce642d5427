/* SPDX-License-Identifier: Apache-2.0
 *
 * Results that TMA cannot store (rows not aligned to 16 bytes, arrays that are also loaded, kernels with atomics):
 * a unit in shared memory (tma_store.c) is read back row by row and leaves in vectors as wide as the alignment allows,
 * the lanes of a warp side by side. A warp reads only the 16 rows that it wrote; of one that is stored transposed
 * (`across`) columns of all four warps.
 *
 *     registers of a unit        vector, columns left over, rows left over (across: vector, columns left over)
 *     registers of the tile      those, then units side by side, then blocks of 64 rows
 */
#include "gpu/schedule/tma_store.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/view_access.h"

static uint32_t rows_log(uint32_t x)
{
    return (uint32_t)ts_log2(x);
}

static void rows_reg(ts_linear *layout, uint32_t column)
{
    if (layout->n_reg < TS_LAYOUT_REGS)
        layout->reg[layout->n_reg++] = column;
}

/* 64 rows of a unit: 2^log_vec elements a thread, then lanes along the row and down the 16 rows of a warp. `log_row`:
 * log2 of the elements from row to row. */
static ts_linear rows_unit(const ts_lower *lw, const store_job *job, uint32_t log_vec, uint32_t log_row)
{
    ts_linear layout = {.bits = (uint8_t)(log_row + 6), .n_warp = (uint8_t)lw->assign.n_warp};
    uint32_t n = 0, log_columns = rows_log(job->columns);
    for (uint32_t i = 0; i < log_vec; i++)
        rows_reg(&layout, 1u << i);
    for (uint32_t i = log_vec; i < log_columns; i++)
        if (n < TS_LAYOUT_LANES)
            layout.lane[n++] = 1u << i;
        else
            rows_reg(&layout, 1u << i);
    for (uint32_t i = 0; i < 4; i++)
        if (n < TS_LAYOUT_LANES)
            layout.lane[n++] = 1u << (log_row + i);
        else
            rows_reg(&layout, 1u << (log_row + i));
    layout.warp[0] = 16u << log_row;
    layout.warp[1] = 32u << log_row;
    return layout;
}

/* Vectors down a column, the lanes of a warp too, then columns. */
static ts_linear rows_unit_across(const ts_lower *lw, const store_job *job, uint32_t log_vec, uint32_t log_row)
{
    ts_linear layout = {.bits = (uint8_t)(log_row + 6), .n_warp = (uint8_t)lw->assign.n_warp};
    uint32_t n = 0, log_columns = rows_log(job->columns);
    for (uint32_t i = 0; i < 6 + log_columns; i++) {
        uint32_t column = i < 6 ? 1u << (log_row + i) : 1u << (i - 6);
        if (i < log_vec || n == TS_LAYOUT_LANES + 2)
            rows_reg(&layout, column);
        else if (n < TS_LAYOUT_LANES)
            layout.lane[n++] = column;
        else
            layout.warp[n++ - TS_LAYOUT_LANES] = column;
    }
    return layout;
}

/* The same rows of every unit: the tile has more columns, more rows, and a second warpgroup's part. */
static ts_linear rows_whole(const ts_lower *lw, const store_job *job, uint32_t log_vec)
{
    uint32_t log_row = job->log_n + (job->columns_apart != 0);
    ts_linear layout = job->across ? rows_unit_across(lw, job, log_vec, log_row)
                                   : rows_unit(lw, job, log_vec, log_row);
    layout.bits = job->layout->bits;
    for (uint32_t i = rows_log(job->columns); i < job->log_n; i++)
        rows_reg(&layout, 1u << i);
    for (uint32_t i = 6; i < job->log_m; i++)
        rows_reg(&layout, 1u << (log_row + i));
    for (uint32_t i = 2; i < lw->assign.n_warp; i++)
        layout.warp[i] = job->layout->warp[i];
    return layout;
}

/* Where TMA's swizzle would put the flat bits of a unit: linear, rows XOR their number into the chunk. */
static void rows_offsets(const store_job *job, store_rows *rows)
{
    uint32_t log_columns = rows_log(job->columns), span = job->tile.span;
    uint32_t *along = rows->offset + (job->across ? log_columns : 0);
    uint32_t *down = rows->offset + (job->across ? 0 : log_columns);
    for (uint32_t i = 0; i < (job->across ? 6 : log_columns); i++)
        along[i] = 1u << i;
    for (uint32_t i = 0; i < (job->across ? log_columns : 6); i++) {
        uint32_t turn = (1u << i) >> (7 - rows_log(span)) & ((span >> 4) - 1);
        down[i] = ((span << i) ^ turn << 4) / job->tile.elem_bytes;
    }
}

bool ts__store_rows_plan(ts_lower *lw, const store_job *job, store_rows *rows)
{
    uint32_t log_vec = TS_MIN(4 - rows_log(job->tile.elem_bytes), job->across ? 6 : rows_log(job->columns));
    for (;; log_vec = rows->access.log_vec) {
        rows->whole = rows_whole(lw, job, log_vec);
        ts__view_describe(lw, &rows->access, job->store, 2, &rows->whole);
        if (rows->access.unit != rows->access.rank - (job->across ? 2 : 1))
            return false;
        if (rows->access.log_vec >= log_vec)
            break;
    }
    rows->unit = job->across ? rows_unit_across(lw, job, log_vec, rows_log(job->columns))
                             : rows_unit(lw, job, log_vec, rows_log(job->columns));
    rows_offsets(job, rows);
    return true;
}

void ts__store_rows_send(ts_lower *lw, const store_job *job, const store_rows *rows, uint32_t i, uint32_t slot)
{
    const view_access *a = &rows->access;
    ts_assert(i < job->units && slot < job->slots && i + 1ull <= 1ull << rows->whole.n_reg >> rows->unit.n_reg);
    ts_val *regs = ts__lower_regs(lw, &rows->unit);
    ts_val group = ts__store_apart(lw, job, job->stride);
    ts_val base = ts__shared_pointer(lw, a->elem, job->at + slot * ts__store_unit_bytes(job));
    ts_emit(&lw->b, TS_OP_warp_sync, TS_T_none, 0, NULL, 0, 0);
    ts__lower_load_shared(lw, a->elem, &rows->unit, rows->offset, group ? ts__lower_ptr(lw, base, group, 0) : base,
                          regs);
    for (uint32_t r = 0; r < 1u << rows->unit.n_reg; r++) {
        uint32_t whole = i << rows->unit.n_reg | r;
        ts_val values[16];
        if (r & a->vector)
            continue;
        for (uint32_t k = 0; k < 1u << a->log_vec; k++)
            values[k] = regs[r ^ a->member[k]];
        ts__view_store_vector(lw, a, whole, values);
    }
}
