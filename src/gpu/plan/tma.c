/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides whether a function takes the tensor-core path of sm_90a (tma.h), step by step as tma_plan.h lists them. A
 * product qualifies when
 *   - its types have a wgmma form, m is a multiple of 64, n and k fit, the accumulator fits registers;
 *   - operand b, and a unless it is computed, is a tile loaded through a partition view for products alone;
 *   - those views obey TMA's rules (tma_map.c);
 *   - nothing stored by this function may be what is loaded, since the loads run ahead;
 *   - what the producer must know (bounds, indices) is scalar arithmetic.
 * Products that do not qualify keep the general path (lower/mma.c). Cost: linear, a few passes.
 */
#include "gpu/plan/tma_plan.h"
#include "ir/note.h"
#include "gpu/plan/team.h"
#include "gpu/plan/resident.h"
#include "gpu/plan/rotate.h"
#include "table/sm.h"

const ts_tma_load *ts__tma_load_at(const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->loads.n; i++)
        if (tma->loads.at[i].load == v && !tma->loads.at[i].by_consumers)
            return &tma->loads.at[i];
    return NULL;
}

const ts_tma_load *ts__tma_load_of(const ts_tma *tma, ts_val v)
{
    return tma->active ? ts__tma_load_at(tma, v) : NULL;
}

const ts_wgmma *ts__wgmma_of(const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; tma->active && i < tma->products.n; i++)
        if (tma->products.at[i].mma == v)
            return &tma->products.at[i];
    return NULL;
}

ts_val ts__tma_result_of(const ts_fn *fn, const ts_tma *tma, ts_type type)
{
    const ts_module *module = fn->module;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_type c = ts_type_of(fn, tma->products.at[i].mma);
        uint32_t rank = ts_type_rank(module, type), rank_c = ts_type_rank(module, c);
        bool same = ts_type_kind(module, type) == TS_KIND_TILE && rank >= 2 &&
                    ts_type_count(module, type) == ts_type_count(module, c);
        for (uint32_t k = 1; same && k <= 2; k++)
            same = ts_type_dims(module, type)[rank - k] == ts_type_dims(module, c)[rank_c - k];
        if (same)
            return tma->products.at[i].mma;
    }
    return 0;
}

/* ---- arrays --------------------------------------------------------------------------------------------------- */

enum { TMA_ROOT_STEPS = 64 }; /* operations between an access and its parameter */

int32_t ts__tma_root(const ts_fn *fn, ts_val v)
{
    for (uint32_t steps = 0; steps < TMA_ROOT_STEPS; steps++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_param)
            return (int32_t)v - 1;
        bool several = inst->op == TS_OP_select || inst->op == TS_OP_cat || inst->op == TS_OP_insert;
        if (!inst->n_opnd || !(ts_info(inst)->flags & TS_PURE) || several)
            return -1;
        v = ts_opnds(fn, inst)[0];
    }
    return -1;
}

bool ts__tma_is_stored(const ts_tma_work *w, int32_t base)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (!(ts_info(inst)->flags & TS_WRITE) || !inst->n_opnd)
            continue;
        int32_t root = ts__tma_root(w->fn, ts_opnds(w->fn, inst)[0]);
        if (root < 0 || root == base || w->fn->overlap)
            return true;
    }
    return false;
}

/* ---- all together --------------------------------------------------------------------------------------------- */

/* All products go back to the general path. */
static bool tma_refuse(const ts_tma_work *w, const char *why)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        ts__note(w->fn, w->out->products.at[i].mma, TS_NOTE_missed, "wgmma", "%s", why);
    return false;
}

/* Blocks and stages: fewer blocks than asked for where one of them would have a single stage, which stands still while
 * it is filled. Who asks for stages gets them. */
static bool tma_depths(ts_tma_work *w)
{
    bool asked = w->env->hints && w->env->hints->num_stages;
    w->out->blocks = ts__resident_products(w);
    for (; w->out->blocks > 1 && !asked; w->out->blocks--)
        if (ts__tma_stages(w, ts__resident_shared(TS_TARGET_SM90, w->out->blocks), 2))
            return true;
    return ts__tma_stages(w, ts__sm_find(TS_TARGET_SM90)->dynamic_shared, 1);
}

static bool tma_fits(ts_tma_work *w)
{
    for (uint32_t i = 0; i < w->env->plan->n_tmaps; i++)
        if (ts__tma_is_stored(w, w->env->plan->tmap[i].base))
            return tma_refuse(w, "an array that is loaded is also stored to");
    if (!w->out->products.n || w->arena->failed)
        return false;
    if (!ts__tma_all_from_shared(w))
        return tma_refuse(w, "a tile is read by a product on wgmma and by another that is not");
    if (!ts__tma_warps(w))
        return tma_refuse(w, "the accumulator takes more than 128 registers of a thread");
    if (!ts__pass_plan(w->env)) {
        ts__tma_plan_waits(w);
        ts__rotate_plan(w->fn, &w->shape, w->uses, w->arena, w->out);
    }
    if (!ts__tma_groups(w))
        return tma_refuse(w, "a tile is loaded in another loop than the product that reads it");
    ts__tma_join_vectors(w);
    ts__tma_share_ring(w);
    if (!ts__tma_slice(w))
        return tma_refuse(w, "an index of a load depends on data, on a `while` loop or on an early return, or the "
                             "kernel waits for the grid before it inside control flow");
    ts__tma_pingpong(w);
    if (!tma_depths(w))
        return tma_refuse(w, "the tiles do not fit shared memory");
    ts__tma_place(w);
    ts__tma_join(w);
    ts__split_plan(w->fn, &w->shape, w->out);
    return true;
}

static void tma_count_uses(ts_tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        uint32_t n = inst->n_opnd - (inst->flags & TS_F_TOKEN ? 1u : 0u);
        if (inst->op == TS_OP_token || inst->op == TS_OP_join_tokens)
            continue;
        for (uint32_t i = 0; i < n; i++)
            w->uses[ts_opnds(w->fn, inst)[i]]++;
    }
}

static void tma_find_own(ts_tma_work *w)
{
    for (ts_val v = w->out->rank; v && v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        w->own[v] = v == w->out->rank;
        for (uint32_t i = 0; i < inst->n_opnd && !w->own[v]; i++)
            w->own[v] = w->own[ts_opnds(w->fn, inst)[i]];
    }
}

ts_status ts__tma_begin(ts_tma_work *w, ts_error *err)
{
    const ts_fn *fn = w->fn;
    w->uses = TS_NEW_N(w->arena, uint32_t, fn->inst.n);
    w->edges = TS_NEW_N(w->arena, uint32_t, fn->inst.n);
    w->own = TS_NEW_N(w->arena, uint8_t, fn->inst.n);
    w->out->slice = TS_NEW_N(w->arena, uint8_t, fn->inst.n);
    if (!w->uses || !w->edges || !w->own || !w->out->slice || !ts__shape_of(fn, w->arena, &w->shape))
        return ts_fail(err, TS_NOMEM, "out of memory while planning the operands of products");
    tma_count_uses(w);
    tma_find_own(w);
    ts__tma_count_edges(w);
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_mmaf || ts_at(fn, v)->op == TS_OP_mmai)
            ts__tma_product(w, v);
    return TS_OK;
}

ts_status ts__tma_plan(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_tma *out, ts_error *err)
{
    ts_tma_work w = {.fn = fn, .module = fn->module, .env = env, .arena = arena, .out = out};
    *out = (ts_tma){.rank = ts__team_rank(fn), .team = 1};
    if (out->rank)
        out->team = fn->num_ctas;
    if (env->target != TS_TARGET_SM90 || ts__pass_plan(env) > 1)
        return TS_OK;
    uint32_t n_tmaps = env->plan->n_tmaps;
    TS_TRY(ts__tma_begin(&w, err));
    out->active = tma_fits(&w);
    if (!out->active) {
        env->plan->n_tmaps = n_tmaps;
        out->rotated.n = 0;
    }
    return arena->failed ? ts_fail(err, TS_NOMEM, "out of memory while planning TMA loads") : TS_OK;
}

ts_status ts__tma_try(const ts_fn *fn, ts_pass_env *env, ts_tma *out, ts_error *err)
{
    uint32_t n_tmaps = env->plan->n_tmaps;
    bool noting = fn->module->noting;
    fn->module->noting = false;
    ts_status status = ts__tma_plan(fn, env, env->scratch, out, err);
    env->plan->n_tmaps = n_tmaps;
    fn->module->noting = noting;
    return status;
}
