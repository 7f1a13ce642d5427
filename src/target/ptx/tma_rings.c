/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings of stages (tma.h): which loads form a group, how many stages each group's ring has, and where all of it lies in
 * shared memory. Cost: linear, times the few groups.
 */
#include "target/ptx/tma_plan.h"
#include "target/ptx/rotate.h"

static uint32_t tma_loop_index(tma_work *w, ts_val opener)
{
    for (uint32_t i = 0; i < w->out->loops.n; i++)
        if (w->out->loops.at[i].opener == opener)
            return i;
    (void)TS_PUSH(w->arena, &w->out->loops, ((ts_tma_loop){.opener = opener}));
    return w->out->loops.n - 1;
}

/* The `for` of `loop` that holds a product; 0: `loop` itself (or none) does, TS_NO: neither. */
static ts_val tma_within(const tma_work *w, ts_val loop, ts_val mma)
{
    ts_val at = mma;
    while (loop && at && w->shape.parent[at] != loop)
        at = w->shape.parent[at];
    if (!loop || at == mma)
        return 0;
    return at && ts_at(w->fn, at)->op == TS_OP_for ? at : TS_NO;
}

static void tma_read_last(ts_tma_group *group, const ts_wgmma *product, ts_val within)
{
    group->last = product->mma;
    group->within = within;
    group->late = !within && (product->late || product->deferred);
}

/* A stage is released after the product, or after a whole loop of products; loads outside loops never. */
static bool tma_join(tma_work *w, uint32_t load, const ts_wgmma *product)
{
    ts_tma_load *l = &w->out->loads.at[load];
    ts_val loop = w->shape.parent[l->load];
    ts_val within = tma_within(w, loop, product->mma);
    ts_tma_group *group = NULL;
    if (l->group != TS_NO) { /* a product before this one brought it in */
        group = &w->out->groups.at[l->group];
        bool alike = !group->within == !within;
        tma_read_last(group, product, within);
        return alike && within != TS_NO;
    }
    for (uint32_t i = 0; i < w->out->groups.n; i++)
        if (w->out->groups.at[i].loop == loop && w->out->groups.at[i].first == product->mma)
            group = &w->out->groups.at[i];
    if (!group) {
        ts_tma_group fresh = {.loop = loop, .first = product->mma, .at = TS_NO};
        tma_read_last(&fresh, product, within);
        if (loop)
            fresh.at = tma_loop_index(w, loop);
        if (!TS_PUSH(w->arena, &w->out->groups, fresh))
            return false;
        group = &w->out->groups.at[w->out->groups.n - 1];
    }
    l->group = (uint32_t)(group - w->out->groups.at);
    l->offset = group->bytes;
    group->bytes += (l->bytes + 1023) & ~1023u;
    return within != TS_NO;
}

/* What consumers make for a product has one place and no barriers of its own. */
static bool tma_join_made(tma_work *w, uint32_t load, const ts_wgmma *product)
{
    ts_tma_load *l = &w->out->loads.at[load];
    ts_tma_group group = {
        .first = product->mma, .last = product->mma, .at = TS_NO, .bytes = (l->bytes + 1023) & ~1023u};
    l->group = w->out->groups.n;
    return TS_PUSH(w->arena, &w->out->groups, group);
}

static bool tma_join_a(tma_work *w, const ts_wgmma *p)
{
    return p->a == TS_NO || (ts__tma_is_made(w, p) ? tma_join_made(w, p->a, p) : tma_join(w, p->a, p));
}

bool ts__tma_groups(tma_work *w)
{
    bool good = true;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *p = &w->out->products.at[i];
        good = good && tma_join_a(w, p) && tma_join(w, p->b, p);
    }
    return good;
}

static bool tma_is_rotated(const tma_work *w, ts_val loop)
{
    for (uint32_t i = 0; i < w->out->rotated.n; i++)
        if (w->out->rotated.at[i] == loop)
            return true;
    return false;
}

/* The ring whose stage of this step is awaited before load `v` and released behind it; NULL = there is none. Not in
 * rotated loops: reads of shared memory between their products cost a tenth (measured on an H200). */
static ts_tma_group *tma_ring_around(const tma_work *w, ts_val v)
{
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        if (g->loop && g->loop == w->shape.parent[v] && !g->within && g->first < v && v < g->last &&
            !tma_is_rotated(w, g->loop))
            return g;
    }
    return NULL;
}

/* The one axis of a tile that is longer than 1; TS_NO when there are more, or none. */
static uint32_t tma_only_axis(const tma_work *w, ts_type type)
{
    uint32_t found = TS_NO, n = 0;
    for (uint32_t i = 0; i < ts_type_rank(w->module, type); i++)
        if (ts_type_dims(w->module, type)[i] > 1) {
            found = i;
            n++;
        }
    return n == 1 ? found : TS_NO;
}

/* Rows and columns that are loaded in a loop of products come with the tiles. */
void ts__tma_join_vectors(tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        ts_tma_group *ring =
            inst->op == TS_OP_load_view_tko && !ts__tma_load_at(w->out, v) ? tma_ring_around(w, v) : NULL;
        uint32_t axis = ring ? tma_only_axis(w, inst->type) : TS_NO;
        ts_tma_load load;
        ts_plan_tmap map;
        if (axis == TS_NO || w->env->plan->n_tmaps == TS_PLAN_TMAPS ||
            !ts_tma_describe(w->fn, v, (uint32_t[]){axis, axis}, TS_T_none, &load, &map) ||
            ts__tma_is_stored(w, map.base))
            continue;
        load.tmap = w->env->plan->n_tmaps;
        load.group = (uint32_t)(ring - w->out->groups.at);
        load.offset = ring->bytes;
        if (!TS_PUSH(w->arena, &w->out->loads, load))
            return;
        ring->bytes += (load.bytes + 1023) & ~1023u;
        w->env->plan->tmap[w->env->plan->n_tmaps++] = map;
    }
}

/* By TMA, not by consumers. */
static bool tma_is_filled(const tma_work *w, uint32_t group)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (w->out->loads.at[i].group == group && !w->out->loads.at[i].made)
            return true;
    return false;
}

static ts_val tma_outermost(const tma_work *w, ts_val v)
{
    while (w->shape.parent[v])
        v = w->shape.parent[v];
    return v;
}

/* Loops over tiles that follow each other, with one group each: the producer fills one ring for all. */
void ts__tma_share_ring(tma_work *w)
{
    uint32_t bytes = 0;
    w->out->one_ring = w->out->groups.n > 1;
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        const ts_tma_group *g = &w->out->groups.at[i];
        bytes = TS_MAX(bytes, g->bytes);
        if (!g->loop || g->within || !w->shape.parent[g->loop] || !tma_is_filled(w, i))
            w->out->one_ring = false;
        for (uint32_t k = 0; k < i && w->out->one_ring; k++)
            w->out->one_ring = tma_outermost(w, w->out->groups.at[k].loop) != tma_outermost(w, g->loop);
    }
    for (uint32_t i = 0; i < w->out->groups.n && w->out->one_ring; i++)
        w->out->groups.at[i].bytes = bytes;
}

/* With one stage the next step's data comes only after this step's product, so nothing may be late. */
static void tma_at_once(tma_work *w)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        w->out->products.at[i].late = w->out->products.at[i].deferred = false;
    for (uint32_t i = 0; i < w->out->groups.n; i++)
        w->out->groups.at[i].late = false;
    w->out->rotated.n = 0;
}

/* Left for moves between layouts while the rings stand; of one warpgroup for stores inside loops. */
enum { TMA_SCRATCH = 24 << 10, TMA_SCRATCH_LEAST = 2 << 10, TMA_STAGING = 16 << 10 };

/* Results are stored while products are still to come. */
static bool tma_stores_early(const tma_work *w)
{
    ts_val last = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++)
        last = TS_MAX(last, w->out->products.at[i].mma);
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool stores = inst->op == TS_OP_store_view_tko || inst->op == TS_OP_atomic_red_view_tko;
        if (stores && (w->shape.parent[v] || v < last) &&
            ts_tma_result_of(w->fn, w->out, ts_type_of(w->fn, ts_opnd(w->fn, v, 1))))
            return true;
    }
    return false;
}

/* Something beside elementwise work on results: tiles may have to move from layout to layout. */
static bool tma_may_move(const tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        switch ((int)inst->op) {
        case TS_OP_reduce: case TS_OP_scan: case TS_OP_cat: case TS_OP_extract: case TS_OP_insert: case TS_OP_pack:
        case TS_OP_unpack: case TS_OP_load_ptr_tko: case TS_OP_store_ptr_tko: case TS_OP_atomic_rmw_tko:
        case TS_OP_atomic_cas_tko: case TS_OP_cold:
            return true;
        case TS_OP_load_view_tko:
            if (!ts__tma_load_at(w->out, v) && !ts_tma_result_of(w->fn, w->out, inst->type) &&
                ts_type_count(w->module, inst->type) > 256)
                return true;
        }
    }
    return false;
}

/* A tile for each team of four warps, unless the number of warps is asked for. */
void ts__tma_teams(tma_work *w)
{
    bool single = w->env->hints && w->env->hints->num_worker_warps;
    w->out->teams = !single && !tma_may_move(w) && ts_teams_plan(w->fn, &w->shape, w->out);
    if (w->out->teams)
        w->out->n_warp = 2;
}

/* What the stages leave: a whole tile of 16-bit results of each warpgroup need not wait for the copies of its parts. */
static void tma_enlarge_staging(tma_work *w, uint32_t left)
{
    uint32_t most = TMA_STAGING << (ts_tma_consumers(w->out) - 1);
    if (w->out->teams && w->out->staging_bytes && left >= most - w->out->staging_bytes)
        w->out->staging_bytes = most;
}

/* As many stages as fit, at most 8 or the hint, the same for all loops; loads outside loops need one. */
bool ts__tma_stages(tma_work *w, uint32_t limit)
{
    uint32_t scratch = TMA_SCRATCH;
    if (tma_stores_early(w)) {
        w->out->staging_bytes = TMA_STAGING << (ts_tma_consumers(w->out) - 2);
        scratch = w->out->staging_bytes + (tma_may_move(w) ? TMA_SCRATCH : TMA_SCRATCH_LEAST);
    }
    uint32_t hint = w->env->hints ? w->env->hints->num_stages : 0;
    for (uint32_t log = hint ? TS_MIN(4u, (uint32_t)ts_log2(hint) + 1) : 4; log-- > 0;) {
        uint32_t sum = 1024;
        for (uint32_t i = 0; i < w->out->groups.n; i++) {
            ts_tma_group *g = &w->out->groups.at[i];
            g->log_stages = g->loop && !g->within ? log : 0;
            sum += w->out->one_ring && i ? 0 : g->bytes << g->log_stages;
        }
        if (log == 0)
            tma_at_once(w);
        if (sum + scratch <= limit) {
            tma_enlarge_staging(w, limit - sum - scratch);
            return true;
        }
    }
    return false;
}

/* Offsets: stages first, each 1024-aligned for the swizzle, the staging and barriers behind them. */
void ts__tma_place(tma_work *w)
{
    uint32_t at = 0, n = w->out->one_ring ? 1 : w->out->groups.n;
    for (uint32_t i = 0; i < n; i++) {
        w->out->groups.at[i].base = at;
        at += w->out->groups.at[i].bytes << w->out->groups.at[i].log_stages;
    }
    w->out->staging = at;
    at += w->out->staging_bytes;
    for (uint32_t i = 0; i < n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        g->full = at;
        g->empty = at + (8u << g->log_stages);
        at += 16u << g->log_stages;
    }
    w->out->shared = (at + 127) & ~127u;
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i], *first = &w->out->groups.at[0];
        if (w->out->one_ring)
            g->base = first->base, g->full = first->full, g->empty = first->empty;
        if (tma_is_filled(w, i))
            ts_note(w->fn, g->first, TS_NOTE_pipeline, "tma", "%u stages of %u bytes, a producer warp%s",
                    1u << g->log_stages, g->bytes, w->out->teams ? ", two teams that take tiles in turn" : "");
        else
            ts_note(w->fn, g->first, TS_NOTE_move, "shared", "%u bytes, operand a", g->bytes);
    }
}
