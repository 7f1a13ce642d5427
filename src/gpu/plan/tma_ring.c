/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings of stages (tma.h): loads of one loop that feed the same product form a group, whose stages are filled and
 * released together. Rows and columns that the loop loads for other work come in the same stages. Loops over tiles one
 * after the other share a ring. Next: tma_stages.c gives the rings their depth and place.
 */
#include "gpu/plan/tma_plan.h"
#include "gpu/plan/rotate.h"

static uint32_t ring_loop_index(ts_tma_work *w, ts_val opener)
{
    for (uint32_t i = 0; i < w->out->loops.n; i++)
        if (w->out->loops.at[i].opener == opener)
            return i;
    (void)TS_PUSH(w->arena, &w->out->loops, ((ts_tma_loop){.opener = opener}));
    return w->out->loops.n - 1;
}

/* The `for` of `loop` that holds a product; 0: `loop` itself (or none) does, TS_NO: neither. */
static ts_val ring_within(const ts_tma_work *w, ts_val loop, ts_val mma)
{
    ts_val at = mma;
    while (loop && at && w->shape.parent[at] != loop)
        at = w->shape.parent[at];
    if (!loop || at == mma)
        return 0;
    return at && ts_at(w->fn, at)->op == TS_OP_for ? at : TS_NO;
}

static void ring_read_last(ts_tma_group *group, const ts_wgmma *product, ts_val within)
{
    group->last = product->mma;
    group->within = within;
    group->waits_next_step = !within && (product->waits_next_step || product->deferred);
}

static bool ring_waits_next_step(const ts_tma_work *w, ts_val mma)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        if (w->out->products.at[i].mma == mma)
            return w->out->products.at[i].waits_next_step;
    return false;
}

/* The group of operand a, where a product before this one reads it in the same step: TS_NO = there is none. What both
 * read comes and goes together, so that the loop needs one ring, of any number of stages. */
static uint32_t ring_of_other(const ts_tma_work *w, const ts_wgmma *product, ts_val loop)
{
    uint32_t group = product->a == TS_NO ? TS_NO : w->out->loads.at[product->a].group;
    const ts_tma_group *g = group == TS_NO ? NULL : &w->out->groups.at[group];
    bool together = g && loop && g->loop == loop && !g->within && w->shape.parent[g->first] == loop &&
                    w->shape.parent[product->mma] == loop && !ts__rotated(w->out, loop);
    return together && product->waits_next_step && ring_waits_next_step(w, g->first) ? group : TS_NO;
}

/* A stage is released after the product, or after a whole loop of products; loads outside loops never. */
static bool ring_join(ts_tma_work *w, uint32_t load, const ts_wgmma *product)
{
    ts_tma_load *l = &w->out->loads.at[load];
    ts_val loop = w->shape.parent[l->load];
    ts_val within = ring_within(w, loop, product->mma);
    ts_tma_group *group = NULL;
    if (l->group != TS_NO) { /* a product before this one brought it in */
        group = &w->out->groups.at[l->group];
        bool alike = !group->within == !within;
        ring_read_last(group, product, within);
        return alike && within != TS_NO;
    }
    uint32_t other = ring_of_other(w, product, loop);
    for (uint32_t i = 0; i < w->out->groups.n; i++)
        if (w->out->groups.at[i].loop == loop &&
            (w->out->copied || i == other || w->out->groups.at[i].first == product->mma))
            group = &w->out->groups.at[i];
    if (!group) {
        ts_tma_group fresh = {.loop = loop, .first = product->mma, .at = TS_NO};
        ring_read_last(&fresh, product, within);
        if (loop)
            fresh.at = ring_loop_index(w, loop);
        if (!TS_PUSH(w->arena, &w->out->groups, fresh))
            return false;
        group = &w->out->groups.at[w->out->groups.n - 1];
    }
    l->group = (uint32_t)(group - w->out->groups.at);
    l->offset = group->bytes;
    group->bytes += ts_round_up(l->bytes, TS_TMA_ALIGN);
    return within != TS_NO;
}

/* What consumers make for a product has one place and no barriers of its own. */
static bool ring_join_by_consumers(ts_tma_work *w, uint32_t load, const ts_wgmma *product)
{
    ts_tma_load *l = &w->out->loads.at[load];
    ts_tma_group group = {.first = product->mma, .last = product->mma, .at = TS_NO};
    group.bytes = ts_round_up(l->bytes, TS_TMA_ALIGN);
    l->group = w->out->groups.n;
    return TS_PUSH(w->arena, &w->out->groups, group);
}

static bool ring_join_a(ts_tma_work *w, const ts_wgmma *p)
{
    return p->a == TS_NO || (ts__tma_by_consumers(w, p) ? ring_join_by_consumers(w, p->a, p) : ring_join(w, p->a, p));
}

bool ts__tma_groups(ts_tma_work *w)
{
    bool good = true;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *p = &w->out->products.at[i];
        good = good && ring_join_a(w, p) && ring_join(w, p->b, p);
    }
    return good;
}

/* The ring whose stage of this step is awaited before load `v` and released behind it; NULL = there is none. Not in
 * rotated loops: together with waits where results are read it cost a tenth there on an H200. */
static ts_tma_group *ring_around(const ts_tma_work *w, ts_val v)
{
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        if (g->loop && g->loop == w->shape.parent[v] && !g->within && g->first < v && v < g->last &&
            !ts__rotated(w->out, g->loop))
            return g;
    }
    return NULL;
}

/* The one axis of a tile that is longer than 1; TS_NO when there are more, or none. */
static uint32_t ring_only_axis(const ts_tma_work *w, ts_type type)
{
    uint32_t found = TS_NO, n = 0;
    for (uint32_t i = 0; i < ts_type_rank(w->module, type); i++)
        if (ts_type_dims(w->module, type)[i] > 1) {
            found = i;
            n++;
        }
    return n == 1 ? found : TS_NO;
}

void ts__tma_join_vectors(ts_tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        ts_tma_group *ring = inst->op == TS_OP_load_view_tko && !ts__tma_load_at(w->out, v) ? ring_around(w, v) : NULL;
        uint32_t axis = ring ? ring_only_axis(w, inst->type) : TS_NO;
        ts_tma_load load;
        ts_plan_tmap map;
        if (axis == TS_NO || w->env->plan->n_tmaps == TS_PLAN_TMAPS ||
            !ts__tma_describe(w->fn, v, (uint32_t[]){axis, axis}, TS_T_none, &load, &map) ||
            ts__tma_is_stored(w, map.base))
            continue;
        load.tmap = w->env->plan->n_tmaps;
        load.group = (uint32_t)(ring - w->out->groups.at);
        load.offset = ring->bytes;
        if (!TS_PUSH(w->arena, &w->out->loads, load))
            return;
        ring->bytes += ts_round_up(load.bytes, TS_TMA_ALIGN);
        w->env->plan->tmap[w->env->plan->n_tmaps++] = map;
    }
}

bool ts__tma_is_filled(const ts_tma_work *w, uint32_t group)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (w->out->loads.at[i].group == group && !w->out->loads.at[i].by_consumers)
            return true;
    return false;
}

static ts_val ring_outermost(const ts_tma_work *w, ts_val v)
{
    while (w->shape.parent[v])
        v = w->shape.parent[v];
    return v;
}

void ts__tma_share_ring(ts_tma_work *w)
{
    uint32_t bytes = 0;
    w->out->one_ring = w->out->groups.n > 1;
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        const ts_tma_group *g = &w->out->groups.at[i];
        bytes = TS_MAX(bytes, g->bytes);
        if (!g->loop || g->within || !w->shape.parent[g->loop] || !ts__tma_is_filled(w, i))
            w->out->one_ring = false;
        for (uint32_t k = 0; k < i && w->out->one_ring; k++)
            w->out->one_ring = ring_outermost(w, w->out->groups.at[k].loop) != ring_outermost(w, g->loop);
    }
    for (uint32_t i = 0; i < w->out->groups.n && w->out->one_ring; i++)
        w->out->groups.at[i].bytes = bytes;
}
