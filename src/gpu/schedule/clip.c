/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles with more rows than their array (tma.h): a copy whose box reaches far beyond the array is slow (M = 16 under a
 * box of 64 rows: a third slower on an H200), so the launch cuts the box to the array's rows (ts_plan_tmap.clip). Then
 *   - fewer bytes arrive on a stage's barrier: counted here, once, from the array's extent;
 *   - TMA does not write the other rows of the stages: the consumers fill them with zeros, once.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/lower/code.h"

enum { CLIP_STORE = 16 }; /* bytes that a thread fills at once */

/* Rows of a tile that a copy brings: at least one, as the launch cannot make an empty box. */
static ts_val clip_rows(ts_lower *lw, const ts_tma_load *load)
{
    const ts_plan_tmap *map = &lw->env->plan->tmap[load->tmap];
    const ts_plan_num *rows = &map->dim[map->clip];
    if (rows->param < 0)
        return ts__lower_i32(lw, TS_MIN(rows->value, (int64_t)load->rows));
    ts_val extent = lw->values.scalar[rows->param + 1];
    return ts__lower_op(lw, TS_OP_maxi, ts__lower_op(lw, TS_OP_mini, extent, load->rows, 0), 1, 0);
}

static bool clip_is(const ts_lower *lw, const ts_tma_load *load)
{
    return !load->by_consumers && lw->env->plan->tmap[load->tmap].clip != 0;
}

static void clip_begin(ts_lower *lw)
{
    ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->loads.n; i++) {
        ts_tma_load *load = &tma->loads.at[i];
        ts_tma_group *group = &tma->groups.at[load->group];
        if (load->by_consumers)
            continue;
        ts_val bytes = ts__lower_i32(lw, load->bytes);
        if (clip_is(lw, load)) {
            load->rows_here = clip_rows(lw, load);
            bytes = ts__lower_op(lw, TS_OP_muli, load->rows_here, load->bytes / load->rows, 0);
        }
        group->arriving = group->arriving ? ts_op2(&lw->b, TS_OP_addi, group->arriving, bytes, 0) : bytes;
    }
}

/* All consumers: before they part into warpgroups. */
static uint32_t clip_threads(const ts_lower *lw)
{
    return 32u << ts_tma_consumers(&lw->assign.tma);
}

/* The consumers' threads side by side, 16 bytes each: from the first row that no copy brings to the panel's end. */
static void clip_fill_panel(ts_lower *lw, const ts_tma_load *load, ts_val panel)
{
    uint32_t threads = clip_threads(lw), span = load->span;
    ts_val first = ts_lower_op2(lw, TS_OP_addi, ts__lower_op(lw, TS_OP_muli, load->rows_here, span, 0),
                                ts__lower_op(lw, TS_OP_muli, lw->tid, CLIP_STORE, 0));
    ts_val opener = ts_for_begin(&lw->b, first, ts__lower_i32(lw, load->rows * span),
                                 ts__lower_i32(lw, CLIP_STORE * threads), 0, NULL, 0);
    ts_val zero = ts__lower_i32(lw, 0), zeros[4] = {zero, zero, zero, zero};
    ts__lower_st(lw, ts__lower_ptr(lw, panel, opener + 1, 0), 4, zeros, TS_CACHE_NONE, 0);
    ts_term(&lw->b, TS_OP_continue, 0, NULL);
    ts_end_like(&lw->b, opener);
}

static void clip_fill(ts_lower *lw, const ts_tma_load *load)
{
    const ts_tma_group *group = &lw->assign.tma.groups.at[load->group];
    uint32_t panels = load->bytes / (load->rows * load->span);
    ts_val end = ts__lower_i32(lw, group->bytes * group->stages), zero = ts__lower_i32(lw, 0);
    ts_val opener = ts_for_begin(&lw->b, zero, end, ts__lower_i32(lw, group->bytes), 0, NULL, 0), stage = opener + 1;
    for (uint32_t i = 0; i < panels; i++) {
        ts_val at = ts__shared_pointer(lw, TS_T_i32, group->base + load->offset + i * load->rows * load->span);
        clip_fill_panel(lw, load, ts__lower_ptr(lw, at, stage, 0));
    }
    ts_term(&lw->b, TS_OP_continue, 0, NULL);
    ts_end_like(&lw->b, opener);
}

/* if (a tile has more rows than its array) fill; fence; barrier */
static void clip_fill_if_short(ts_lower *lw, const ts_tma_load *load)
{
    ts_val all = ts__lower_i32(lw, load->rows);
    ts_val opener = ts_if_begin(&lw->b, ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, load->rows_here, all, 0));
    clip_fill(lw, load);
    ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0), 0);
    ts_emit(&lw->b, TS_OP_bar_sync, TS_T_none, 0, NULL, TS_S(0, clip_threads(lw), 0), 0);
    ts_if_end(&lw->b, opener);
}

static void clip_consumers(ts_lower *lw)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->loads.n; i++)
        if (clip_is(lw, &tma->loads.at[i]))
            clip_fill_if_short(lw, &tma->loads.at[i]);
}

const ts_strategy ts__strategy_clip = {
    .name = "clip",
    .begin = clip_begin,
    .consumers = clip_consumers,
};
