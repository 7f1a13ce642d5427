/* SPDX-License-Identifier: Apache-2.0
 *
 * How shared memory is dealt out (tma.h): as many stages as fit beside what stores and moves between layouts need.
 *
 *     0           base of ring 0    ring 1 ..    staging          full, empty of ring 0, 1 ..     shared
 *     |           |  stage 0, 1 ..  |            |  of stores     |  mbarriers, 8 bytes each      |
 *
 * Stages begin at multiples of 1024 bytes, the period of the widest swizzle.
 */
#include "gpu/plan/tma_plan.h"
#include "ir/note.h"

/* With one stage the next step's data comes only after this step's product, so no wait may come a step later. */
static void stages_at_once(ts_tma_work *w)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        w->out->products.at[i].waits_next_step = w->out->products.at[i].deferred = false;
    for (uint32_t i = 0; i < w->out->groups.n; i++)
        w->out->groups.at[i].waits_next_step = false;
    w->out->rotated.n = 0;
}

/* Bytes left for moves between layouts while the rings stand; the staging of one warpgroup for stores inside loops, a
 * tile of 64 x 128 results of 16 bits. */
enum { STAGES_SCRATCH = 24 << 10, STAGES_SCRATCH_LEAST = 2 << 10, STAGES_STAGING = 16 << 10 };

/* Results are stored while products are still to come. */
static bool stages_stores_early(const ts_tma_work *w)
{
    ts_val last = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++)
        last = TS_MAX(last, w->out->products.at[i].mma);
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool stores = inst->op == TS_OP_store_view_tko || inst->op == TS_OP_atomic_red_view_tko;
        if (stores && (w->shape.parent[v] || v < last) &&
            ts__tma_result_of(w->fn, w->out, ts_type_of(w->fn, ts_opnd(w->fn, v, 1))))
            return true;
    }
    return false;
}

enum { STAGES_VECTOR = 256 }; /* elements of a row or column, which is loaded as it is needed */

/* Something beside elementwise work on results: tiles may have to move from layout to layout. */
static bool stages_may_move(const ts_tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        switch ((int)inst->op) {
        case TS_OP_reduce: case TS_OP_scan: case TS_OP_cat: case TS_OP_extract: case TS_OP_insert: case TS_OP_pack:
        case TS_OP_unpack: case TS_OP_load_ptr_tko: case TS_OP_store_ptr_tko: case TS_OP_atomic_rmw_tko:
        case TS_OP_atomic_cas_tko: case TS_OP_cold:
            return true;
        case TS_OP_load_view_tko:
            if (!ts__tma_load_at(w->out, v) && !ts__tma_result_of(w->fn, w->out, inst->type) &&
                ts_type_count(w->module, inst->type) > STAGES_VECTOR)
                return true;
        }
    }
    return false;
}

void ts__tma_pingpong(ts_tma_work *w)
{
    bool single = w->env->hints && w->env->hints->num_worker_warps;
    w->out->pingpong = !single && !stages_may_move(w) && ts__pingpong_plan(w->fn, &w->shape, w->out);
    if (w->out->pingpong)
        w->out->n_warp = 2;
}

/* What the stages leave: a whole tile of 16-bit results of each warpgroup need not wait for the copies of its parts. */
static void stages_enlarge_staging(ts_tma_work *w, uint32_t left)
{
    uint32_t most = STAGES_STAGING << (ts_tma_consumers(w->out) - 1);
    if (w->out->pingpong && w->out->staging_bytes && left >= most - w->out->staging_bytes)
        w->out->staging_bytes = most;
}

/* By TMA; by copies, which take the time of every thread. */
enum { STAGES_MOST = 8, STAGES_MOST_COPIED = 5 };

/* Bytes of all rings with so many stages; loads outside loops need one. */
static uint32_t stages_bytes(const ts_tma_work *w, uint32_t stages)
{
    uint32_t sum = TS_TMA_ALIGN; /* the barriers */
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        const ts_tma_group *g = &w->out->groups.at[i];
        sum += w->out->one_ring && i ? 0 : g->bytes * (g->loop && !g->within ? stages : 1);
    }
    return sum;
}

static void stages_take(ts_tma_work *w, uint32_t stages)
{
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        g->stages = g->loop && !g->within ? stages : 1;
    }
    if (stages == 1)
        stages_at_once(w);
}

/* As many stages as fit, at most STAGES_MOST or the hint, the same for all loops, and no fewer than `least`. Several
 * rings get powers of two: their steps are short, and a division for each would show. */
bool ts__tma_stages(ts_tma_work *w, uint32_t limit, uint32_t least)
{
    uint32_t scratch = STAGES_SCRATCH;
    if (stages_stores_early(w)) {
        w->out->staging_bytes = STAGES_STAGING << (ts_tma_consumers(w->out) - 2);
        scratch = w->out->staging_bytes + (stages_may_move(w) ? STAGES_SCRATCH : STAGES_SCRATCH_LEAST);
    }
    uint32_t hint = w->env->hints ? w->env->hints->num_stages : 0;
    uint32_t most = w->out->copied ? STAGES_MOST_COPIED : STAGES_MOST;
    for (uint32_t stages = hint ? TS_MIN(most, hint) : most; stages >= least; stages--) {
        uint32_t sum = stages_bytes(w, stages) + scratch;
        if ((w->out->groups.n > 1 && !w->out->one_ring && !ts_is_pow2(stages)) || sum > limit)
            continue;
        stages_take(w, stages);
        stages_enlarge_staging(w, limit - sum);
        return true;
    }
    return false;
}

void ts__tma_place(ts_tma_work *w)
{
    uint32_t at = 0, n = w->out->one_ring ? 1 : w->out->groups.n;
    for (uint32_t i = 0; i < n; i++) {
        w->out->groups.at[i].base = at;
        at += w->out->groups.at[i].bytes * w->out->groups.at[i].stages;
    }
    w->out->staging = at;
    at += w->out->staging_bytes;
    for (uint32_t i = 0; i < n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        g->full = at;
        g->empty = at + 8 * g->stages;
        at += 16 * g->stages;
    }
    w->out->shared = ts_round_up(at, 128);
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i], *first = &w->out->groups.at[0];
        if (w->out->one_ring)
            g->base = first->base, g->full = first->full, g->empty = first->empty;
        if (w->out->copied)
            ts__note(w->fn, g->loop, TS_NOTE_pipeline, "cp.async", "%u stages of %u bytes", g->stages, g->bytes);
        else if (ts__tma_is_filled(w, i))
            ts__note(w->fn, g->first, TS_NOTE_pipeline, "tma", "%u stages of %u bytes, a producer warp%s",
                    g->stages, g->bytes, w->out->pingpong ? ", two warpgroups that take tiles in turn" : "");
        else
            ts__note(w->fn, g->first, TS_NOTE_move, "shared", "%u bytes, operand a", g->bytes);
    }
}
