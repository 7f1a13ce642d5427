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
#include "gpu/plan/tma.h"

/* Stages of a ring that is deep enough; operations between a load and its product. */
enum { DEPTH_STAGES = 4, DEPTH_CHAIN = 8 };

typedef struct depth_operand {
    ts_val value[DEPTH_CHAIN]; /* from the load up to what the product reads */
    uint32_t axis[DEPTH_CHAIN]; /* along k */
    uint32_t n;
} depth_operand;

typedef struct depth_job {
    const ts_fn *fn;
    const ts_shape *shape;
    ts_builder b;
    ts_val *map;
    ts_val loop;
    uint32_t parts;
    depth_operand a, b_operand;
} depth_job;

/* ---- finding ------------------------------------------------------------------------------------------------ */

/* How often instructions read `v`. */
static uint32_t depth_uses(const ts_fn *fn, ts_val v)
{
    uint32_t n = 0;
    for (ts_val i = 1; i < fn->inst.n; i++)
        for (uint32_t k = 0; k < ts_at(fn, i)->n_opnd; k++)
            n += ts_opnds(fn, ts_at(fn, i))[k] == v;
    return n;
}

/* Follows operand `v`, whose axis `axis` is k, back to its load; every value on the way has one reader. */
static bool depth_follow(const depth_job *job, ts_val v, uint32_t axis, depth_operand *out)
{
    const ts_fn *fn = job->fn;
    ts_val way[DEPTH_CHAIN];
    uint32_t axes[DEPTH_CHAIN], n = 0;
    for (;; v = ts_opnd(fn, v, 0)) {
        const ts_inst *inst = ts_at(fn, v);
        if (n == DEPTH_CHAIN || axis == TS_NO || depth_uses(fn, v) != 1 || job->shape->parent[v] != job->loop)
            return false;
        way[n] = v;
        axes[n++] = axis;
        if (inst->op == TS_OP_load_view_tko)
            break;
        if (inst->op == TS_OP_permute)
            axis = ts_pool(fn, inst)[1 + axis];
        else if (inst->op == TS_OP_reshape)
            axis = ts__type_axis_before(fn->module, inst->type, ts_type_of(fn, inst->opnd[0]), axis);
        else if (inst->op != TS_OP_assume)
            return false;
    }
    out->n = n;
    for (uint32_t i = 0; i < n; i++) {
        out->value[i] = way[n - 1 - i];
        out->axis[i] = axes[n - 1 - i];
    }
    ts_val load = out->value[0], view = ts_opnd(fn, load, 0);
    return ts_at(fn, view)->op == TS_OP_make_partition_view && ts_opnd(fn, load, 1 + out->axis[0]) == job->loop + 1 &&
           (ts_at(fn, load)->flags & TS_F_TOKEN) == 0;
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
    return job->parts > 1 && depth_uses(fn, loop + 1) == 2 && depth_follow(job, a, rank - 1, &job->a) &&
           depth_follow(job, b, rank - 2, &job->b_operand) && job->a.value[0] != job->b_operand.value[0];
}

/* ---- rewriting ------------------------------------------------------------------------------------------------ */

static ts_type depth_shorter_tile(const depth_job *job, ts_type type, uint32_t axis)
{
    int64_t dims[TS_MAX_RANK];
    ts_module *module = job->fn->module;
    uint32_t rank = ts_type_rank(module, type);
    memcpy(dims, ts_type_dims(module, type), rank * sizeof *dims);
    dims[axis] /= job->parts;
    return ts_type_tile(module, ts_type_elem(module, type), rank, dims);
}

/* The view of a load with shorter tiles. */
static ts_val depth_view(depth_job *job, ts_val view, uint32_t axis)
{
    ts_type_info info = *ts_type_get(job->fn->module, ts_type_of(job->fn, view));
    int64_t dims[TS_MAX_RANK];
    memcpy(dims, info.dims, info.rank * sizeof *dims);
    dims[axis] /= job->parts;
    info.dims = dims;
    ts_val array = job->map[ts_opnd(job->fn, view, 0)];
    return ts_emit(&job->b, TS_OP_make_partition_view, ts_type_make(job->fn->module, &info), 1, &array, 0, 0);
}

/* Copies instruction `v` when it lies on an operand's way, as one of a shorter tile. */
static bool depth_copy(depth_job *job, const depth_operand *x, ts_val v)
{
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->value[i] != v)
            continue;
        ts_type type = depth_shorter_tile(job, ts_type_of(job->fn, v), x->axis[i]);
        ts_val view = i ? 0 : ts_opnd(job->fn, v, 0), kept = job->map[view];
        if (view)
            job->map[view] = depth_view(job, view, x->axis[i]);
        ts__copy(&job->b, job->fn, v, job->map);
        if (view)
            job->map[view] = kept;
        job->b.fn->inst.at[job->map[v]].type = type;
        return true;
    }
    return false;
}

static void depth_rewrite(depth_job *job)
{
    const ts_fn *fn = job->fn;
    for (ts_val v = 1; v < fn->inst.n && !ts__module_failed(fn->module); v++) {
        if (depth_copy(job, &job->a, v) || depth_copy(job, &job->b_operand, v))
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
