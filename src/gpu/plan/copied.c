/* SPDX-License-Identifier: Apache-2.0
 *
 * Products on wgmma whose operands TMA cannot bring (tma.h): arrays out of lists, computed pointers, places that
 * depend on data. All threads copy them by cp.async into a ring of the same swizzled panels; there is no producer.
 *
 *     for i:   wait for the copies of stage i; fence; barrier          (schedule/cp_async.c)
 *              copies of step i + S - 2 to the stage of step i - 2
 *              wgmma .. commit; wait for the product of step i - 1     (schedule/wgmma.c)
 *
 * At the barrier of step i every warp has waited for the product of step i - 2, whose stage is free then; that of
 * step i - 1 still runs. So a ring has S >= 3 stages, of which S - 2 are on their way.
 *
 * A function takes this path whole or not at all: each product reads tiles that its own `for` loads, in vectors of
 * 16 bytes, at places that follow from the loop's number; nothing in the loop stores to what they may be. The hint
 * num_stages below 3 keeps to mma.sync. Cost: linear for each product.
 */
#include "gpu/plan/tma_plan.h"
#include "gpu/plan/view.h"
#include "ir/note.h"
#include "pass/alias.h"
#include "table/sm.h"

/* Operations behind an index; least stages; least bytes of a copy, of which every thread has one or more. */
enum { COPIED_DEPTH = 64, COPIED_STAGES = 3, COPIED_BYTES = 4 };

/* ---- what a copy may be made of, a step ahead ----------------------------------------------------------- */

static bool copied_slice(const ts_fn *fn, ts_val loop, ts_val v, uint8_t *slice, uint32_t depth)
{
    const ts_inst *inst = ts_at(fn, v);
    if (v < loop || v == loop + 1)
        return true;
    if (depth > COPIED_DEPTH || ts_type_kind(fn->module, inst->type) != TS_KIND_SCALAR ||
        (!(ts_info(inst)->flags & TS_ELEM) && inst->op != TS_OP_constant))
        return false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!copied_slice(fn, loop, ts_opnds(fn, inst)[i], slice, depth + 1))
            return false;
    if (slice)
        slice[v] = 1;
    return true;
}

bool ts__copied_slice(const ts_fn *fn, ts_val loop, ts_val v, uint8_t *slice)
{
    return copied_slice(fn, loop, v, slice, 0);
}

bool ts__copied_view_fits(const ts_fn *fn, ts_val loop, ts_val view)
{
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    ts_val make = ts__view_make(fn, view);
    bool zero = info->padding == TS_PAD_ZERO || (info->padding == TS_PAD_UNDEF && !fn->checked);
    return make && make < loop && zero && info->kind != TS_KIND_GATHER_SCATTER_VIEW;
}

/* ---- the function --------------------------------------------------------------------------------------- */

/* No store of the loop may meet the load, and nothing in it orders accesses. */
static bool copied_reads_only(const ts_tma_work *w, const ts_alias *alias, ts_val loop, ts_val load)
{
    for (ts_val v = loop + 1; v < w->shape.end[loop]; v++)
        if (ts__alias_orders(w->fn, v) ||
            (ts_info(ts_at(w->fn, v))->flags & TS_WRITE && !ts__alias_apart(alias, v, load)))
            return false;
    return true;
}

static bool copied_load(const ts_tma_work *w, const ts_alias *alias, ts_val mma, uint32_t i)
{
    ts_val load = w->out->loads.at[i].load, loop = w->shape.parent[load], view = ts_opnd(w->fn, load, 0);
    if (!loop || ts_at(w->fn, loop)->op != TS_OP_for || w->shape.parent[mma] != loop ||
        !ts__copied_view_fits(w->fn, loop, view) || !copied_reads_only(w, alias, loop, load))
        return false;
    uint32_t rank = ts_type_get(w->module, ts_type_of(w->fn, view))->rank;
    if (w->out->loads.at[i].bytes < COPIED_BYTES * (32u << w->out->n_warp))
        return false;
    for (uint32_t k = 0; k < rank; k++)
        if (!ts__copied_slice(w->fn, loop, ts_opnd(w->fn, load, 1 + k), NULL))
            return false;
    return true;
}

static bool copied_fits(ts_tma_work *w, const ts_alias *alias)
{
    uint32_t products = 0;
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        ts_op op = (ts_op)ts_at(w->fn, v)->op;
        products += op == TS_OP_mmaf || op == TS_OP_mmai || op == TS_OP_mmaf_scaled;
    }
    if (!products || w->out->products.n != products || !ts__tma_all_from_shared(w) || !ts__tma_warps(w))
        return false;
    for (uint32_t i = 0; i < products; i++) {
        const ts_wgmma *p = &w->out->products.at[i];
        if (!copied_load(w, alias, p->mma, p->b) || (p->a != TS_NO && !copied_load(w, alias, p->mma, p->a)))
            return false;
    }
    ts__tma_plan_waits(w);
    w->out->blocks = 1;
    return ts__tma_groups(w) && ts__tma_stages(w, ts__sm_find(TS_TARGET_SM90)->dynamic_shared, COPIED_STAGES);
}

ts_status ts__copied_plan(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_tma *out, ts_error *err)
{
    ts_tma_work w = {.fn = fn, .module = fn->module, .env = env, .arena = arena, .out = out};
    ts_alias alias;
    if (out->active || env->target != TS_TARGET_SM90 || ts__pass_plan(env) > 1)
        return TS_OK;
    *out = (ts_tma){.copied = true, .team = 1};
    bool noting = fn->module->noting;
    fn->module->noting = false; /* why TMA cannot was said before */
    ts_status status = ts__tma_begin(&w, err);
    bool known = status == TS_OK && ts__alias_of(fn, arena, &alias);
    bool fits = known && copied_fits(&w, &alias);
    fn->module->noting = noting;
    if (fits)
        ts__tma_place(&w);
    for (uint32_t i = 0; fits && i < out->products.n; i++)
        ts__note_refile(fn, out->products.at[i].mma, TS_NOTE_missed, "wgmma", "tma");
    if (!fits)
        *out = (ts_tma){.team = 1};
    out->active = fits;
    return status == TS_OK && arena->failed
               ? ts_fail(err, TS_NOMEM, "out of memory while planning the operands of products") : status;
}
