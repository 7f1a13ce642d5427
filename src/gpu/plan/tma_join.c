/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of one step that multiply the same operand a by tiles which lie behind each other in a stage, as one
 * instruction of all their columns: tiles have powers of two of them, instructions any multiple of 8 up to 256.
 *
 *     %s = mmaf %x, %y : tile<128x128xf32>       wgmma m64n160k16  (%s, %t), %x, %y
 *     %t = mmaf %x, %z : tile<128x32xf32>   ->
 *
 * An instruction of 160 columns takes 80 clocks, one of 128 and one of 32 together 90, since each reads all of %x; and
 * the narrower the more. Registers of an accumulator are in the order of its columns, so those of the one follow those
 * of the other. Operand b: lines along K lie at one distance in all of a panel; lines along N in panels of 128 bytes,
 * which only a tile of whole panels fills. Cost: pairs of the products of a function, which are few.
 */
#include "gpu/plan/tma_plan.h"
#include "gpu/plan/rotate.h"
#include "ir/note.h"

static uint32_t join_columns(const ts_tma_work *w, const ts_wgmma *p)
{
    ts_type type = ts_type_of(w->fn, p->mma);
    return (uint32_t)ts_type_dims(w->module, type)[ts_type_rank(w->module, type) - 1];
}

/* A warpgroup makes all columns of its rows, and the accumulator only goes round the loop. */
static bool join_may(const ts_tma_work *w, const ts_wgmma *p)
{
    uint32_t columns = join_columns(w, p), log_n = (uint32_t)ts_log2(columns);
    uint32_t log_m = (uint32_t)ts_log2((uint64_t)ts_type_count(w->module, ts_type_of(w->fn, p->mma)) / columns);
    return p->a != TS_NO && !w->out->loads.at[p->a].by_consumers && p->waits_next_step && !p->zero &&
           !ts__rotated(w->out, w->shape.parent[p->mma]) &&
           ts__wgmma_split_of(log_m, log_n, w->out->n_warp).log_n == log_n;
}

/* The tile of `after` begins where that of `before`, of so many columns, ends, and goes on in the same order. */
static bool join_follows(const ts_tma_load *before, const ts_tma_load *after, bool mn_major, uint32_t columns)
{
    uint32_t line = (mn_major ? columns : before->inner) * before->elem_bytes;
    bool alike = before->group == after->group && before->span == after->span &&
                 after->offset == before->offset + before->bytes;
    return alike && (mn_major ? before->rows == after->rows && line % before->span == 0 : line == before->span);
}

/* Whether `p` can be issued with `first`, to whose instructions those up to `last` belong. */
static bool join_fits(const ts_tma_work *w, const ts_wgmma *first, const ts_wgmma *last, const ts_wgmma *p)
{
    return first->a == p->a && first->row == p->row && first->trans_b == p->trans_b &&
           w->shape.parent[first->mma] == w->shape.parent[p->mma] &&
           join_follows(&w->out->loads.at[last->b], &w->out->loads.at[p->b], p->trans_b,
                        join_columns(w, last));
}

void ts__tma_join(ts_tma_work *w)
{
    ts_wgmma *first = NULL, *last = NULL;
    uint32_t columns = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_wgmma *p = &w->out->products.at[i];
        bool may = join_may(w, p);
        if (may && first && columns + join_columns(w, p) <= TS_WGMMA_COLUMNS && join_fits(w, first, last, p)) {
            p->with = first->mma;
            columns += join_columns(w, p);
            ts__note(w->fn, p->mma, TS_NOTE_pipeline, "wgmma", "one instruction of %u columns with the product before",
                    columns);
        } else {
            first = may ? p : NULL;
            columns = join_columns(w, p);
        }
        last = p;
    }
}
