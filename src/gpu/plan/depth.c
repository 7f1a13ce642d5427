/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles of 128 x 128 and 128 x 256 elements of 16 bits fill shared memory with two stages: while one is read the
 * other one is all that is on its way. Half the step gives twice the stages, for the same bytes, and the same sums in
 * the same order, since wgmma adds up 32 bytes of k at a time anyway:
 *
 *     for %k in (0, n, 1)                                    for %k in (0, 2 n, 1)
 *       %a = load_view_tko [m, %k] : tile<128x128xf16>         %a = load_view_tko [m, %k] : tile<128x64xf16>
 *       %b = load_view_tko [%k, n] : tile<128x256xf16>   ->    %b = load_view_tko [%k, n] : tile<64x256xf16>
 *       %c = mmaf %a, %b, %c                                   %c = mmaf %a, %b, %c
 *
 * Only loops in which the step's number is read by these two loads alone. Steps become as long as the widest swizzle.
 * Cost: a plan of the products and a few passes.
 */
#include "gpu/plan/depth.h"
#include "gpu/plan/part.h"
#include "gpu/plan/tma.h"

enum { DEPTH_STAGES = 4 }; /* of a ring that is deep enough */

typedef struct depth_job {
    const ts_fn *fn;
    const ts_shape *shape;
    ts_builder b;
    ts_val *map;
    ts_val loop;
    uint32_t parts;
    ts_part_way a, b_operand;
} depth_job;

/* ---- finding ------------------------------------------------------------------------------------------------ */

/* Follows operand `v`, whose axis `axis` is k, back to its load at the step's number. */
static bool depth_follow(const depth_job *job, ts_val v, uint32_t axis, ts_part_way *out)
{
    return job->shape->parent[v] == job->loop && ts__part_follow(job->fn, job->shape, v, axis, 0, out) &&
           ts_opnd(job->fn, out->value[0], 1 + out->axis[0]) == job->loop + 1;
}

/* A loop over k from 0 in steps of 1, whose number only the loads of this product's operands read. */
static bool depth_fits(depth_job *job, const ts_tma *tma, const ts_wgmma *p)
{
    const ts_fn *fn = job->fn;
    int64_t lower, step;
    ts_val loop = job->loop = job->shape->parent[p->mma];
    if (!loop || ts_at(fn, loop)->op != TS_OP_for || !p->waits_next_step || p->a == TS_NO ||
        tma->loads.at[p->a].by_consumers || !ts__const_as_int(fn, ts_opnd(fn, loop, 0), &lower) || lower != 0 ||
        !ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step) || step != 1)
        return false;
    ts_val a = ts_opnd(fn, p->mma, 0), b = ts_opnd(fn, p->mma, 1);
    uint32_t rank = ts_type_rank(fn->module, ts_type_of(fn, a));
    int64_t bytes = ts_type_dims(fn->module, ts_type_of(fn, a))[rank - 1] * tma->loads.at[p->a].elem_bytes;
    job->parts = (uint32_t)(bytes / TS_TMA_SPAN);
    return job->parts > 1 && ts__part_uses(fn, loop + 1) == 2 && depth_follow(job, a, rank - 1, &job->a) &&
           depth_follow(job, b, rank - 2, &job->b_operand) && job->a.value[0] != job->b_operand.value[0];
}

/* ---- rewriting ------------------------------------------------------------------------------------------------ */

static void depth_rewrite(depth_job *job)
{
    const ts_fn *fn = job->fn;
    for (ts_val v = 1; v < fn->inst.n && !ts__module_failed(fn->module); v++) {
        if (ts__part_copy(&job->b, fn, &job->a, v, job->parts, job->map) ||
            ts__part_copy(&job->b, fn, &job->b_operand, v, job->parts, job->map))
            continue;
        ts_val upper = v == job->loop ? ts_opnd(fn, v, 1) : 0, kept = job->map[upper];
        if (upper)
            job->map[upper] = ts_op2(&job->b, TS_OP_muli, kept, ts_int(&job->b, ts_type_of(fn, upper), job->parts), 0);
        ts__copy(&job->b, fn, v, job->map);
        if (upper)
            job->map[upper] = kept;
    }
}

/* The first product whose ring has few stages and could have more. */
static bool depth_find(depth_job *job, const ts_tma *tma)
{
    for (uint32_t i = 0; i < tma->products.n; i++) {
        const ts_wgmma *p = &tma->products.at[i];
        const ts_tma_group *g = &tma->groups.at[tma->loads.at[p->b].group];
        if (g->stages < DEPTH_STAGES && !tma->split && depth_fits(job, tma, p))
            return true;
    }
    return false;
}

ts_status ts__depth_run(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_shape shape;
    ts_tma tma = {0}, after = {0};
    depth_job job = {.fn = fn, .shape = &shape};
    bool asked = env->hints && env->hints->num_stages;
    if (env->target != TS_TARGET_SM90 || ts__pass_plan(env) || fn->level != TS_LEVEL_T || asked)
        return TS_OK;
    ts_fn *fresh = ts__fn_create_like(fn);
    job.map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    if (!fresh || !job.map || !ts__shape_of(fn, env->scratch, &shape))
        return ts_fail(err, TS_NOMEM, "out of memory while planning the steps of a product");
    ts_status status = ts__tma_try(fn, env, &tma, err);
    if (status != TS_OK || !tma.active || !depth_find(&job, &tma))
        return status;
    ts__builder_init(&job.b, fresh);
    depth_rewrite(&job);
    TS_TRY(ts_builder_status(&job.b, err));
    status = ts__tma_try(fresh, env, &after, err);
    if (status == TS_OK && after.active && after.products.n == tma.products.n)
        ts__fn_replace(fn, fresh);
    return status;
}
