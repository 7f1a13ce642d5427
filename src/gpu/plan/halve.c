/* SPDX-License-Identifier: Apache-2.0
 *
 * A result of 256 x 256 sums fills all registers of a multiprocessor: it is a tile for GPUs that keep sums elsewhere.
 * Half of it at a time runs on wgmma, or on mma.sync without the stack, and reads one operand once more:
 *
 *     %r = for %k .. iter(%s = zeros)                        for %h in (0, 2, 1)
 *       %a = load_view_tko [%m, %k] : tile<256x64xf16>         %i = 2 %m + %h
 *       %b = load_view_tko [%k, %n] : tile<64x256xf16>         %r = for %k .. iter(%s = zeros)
 *       %t = mmaf %a, %b, %s                            ->       %a = load_view_tko [%i, %k] : tile<128x64xf16>
 *       continue %t                                              %b = load_view_tko [%k, %n] : tile<64x256xf16>
 *     %c = ftof %r : tile<256x256xf16>                           %t = mmaf %a, %b, %s
 *     store_view_tko %c, [%m, %n]                              ..
 *                                                              store_view_tko %c, [%i, %n]
 *
 * Rows while at least 128 are left, then columns. Each element's sum stays what it was. Only loops that do nothing
 * else, with elementwise work behind them up to one store, into memory that the loop does not load. The hint
 * num_stages=1 leaves tiles as they are. Cost: a few passes.
 */
#include "gpu/plan/halve.h"
#include "gpu/plan/part.h"
#include "ir/note.h"
#include "pass/alias.h"

/* log2 of the sums that eight warps have registers for; rows that a part keeps; bound of an index, far outside of every
 * array of tiles this large. */
enum { HALVE_LOG_SUMS = 15, HALVE_ROWS = 128, HALVE_FAR = 1 << 26 };

typedef struct halve_job {
    const ts_fn *fn;
    const ts_shape *shape;
    const ts_alias *alias;
    ts_builder b;
    ts_val *map;
    uint8_t *part;      /* [value] behind the loop: made of its result */
    ts_part_way way;    /* of the operand that gets shorter */
    ts_val loop, mma, store;
    uint32_t parts, back; /* back: 1 the last axis of the result gets shorter, 2 the one before */
} halve_job;

/* ---- finding ------------------------------------------------------------------------------------------------ */

static ts_val halve_result(const halve_job *job)
{
    return job->shape->end[job->loop] + 1;
}

static uint32_t halve_axis(const halve_job *job, ts_val v)
{
    return ts_type_rank(job->fn->module, ts_type_of(job->fn, v)) - job->back;
}

/* One product and what loads its operands; gives the product, or 0. */
static ts_val halve_body(const halve_job *job)
{
    const ts_fn *fn = job->fn;
    ts_val mma = 0, end = job->shape->end[job->loop];
    for (ts_val v = job->loop + 3; v + 1 < end; v++) {
        const ts_inst *inst = ts_at(fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        bool load = inst->op == TS_OP_load_view_tko && TS_M_GET_ORDER(inst->aux) == TS_WEAK;
        if ((product && mma) || (!product && !load && (!(ts_info(inst)->flags & TS_PURE) ||
                                                       ts_info(inst)->flags & (TS_REGION | TS_READ))))
            return 0;
        mma = product ? v : mma;
    }
    bool carries = mma && ts_at(fn, end - 1)->op == TS_OP_continue && ts_opnd(fn, end - 1, 0) == mma &&
                   ts_opnd(fn, mma, 2) == job->loop + 2 && ts__part_uses(fn, mma) == 1 &&
                   ts__part_uses(fn, job->loop + 2) == 1;
    return carries ? mma : 0;
}

/* How many parts, and along which axis. */
static bool halve_choose(halve_job *job)
{
    const ts_module *module = job->fn->module;
    ts_type type = ts_type_of(job->fn, job->mma);
    uint32_t rank = ts_type_rank(module, type);
    const int64_t *dims = ts_type_dims(module, type);
    int64_t parts = ts_type_count(module, type) >> HALVE_LOG_SUMS;
    job->parts = (uint32_t)parts;
    job->back = dims[rank - 2] >= HALVE_ROWS * parts ? 2 : 1;
    return parts > 1 && parts <= 8 && dims[rank - job->back] / parts >= (job->back == 2 ? HALVE_ROWS : 64);
}

/* The index of an access outside of the loop's number: one i32 that stands for this axis alone; 0: another. */
static ts_val halve_index(const halve_job *job, ts_val access, uint32_t first, uint32_t axis)
{
    const ts_fn *fn = job->fn;
    ts_val index = ts_opnd(fn, access, first + axis);
    for (uint32_t i = 0; i < ts_at(fn, access)->n_opnd; i++)
        if (i != first + axis && ts_opnd(fn, access, i) == index)
            return 0;
    bool inside = index > job->loop && index < job->shape->end[job->loop];
    return !inside && ts_type_of(fn, index) == TS_T_i32 ? index : 0;
}

static bool halve_operand(halve_job *job)
{
    const ts_fn *fn = job->fn;
    ts_val v = ts_opnd(fn, job->mma, job->back == 2 ? 0 : 1);
    return job->shape->parent[v] == job->loop &&
           ts__part_follow(fn, job->shape, v, halve_axis(job, v), TS_OP_ftof, &job->way) &&
           ts_opnd(fn, job->way.value[0], 0) < job->loop && halve_index(job, job->way.value[0], 1, job->way.axis[0]);
}

/* What an operand beside the result may be: the same for all parts. */
static bool halve_is_even(const halve_job *job, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    if (inst->op != TS_OP_broadcast)
        return ts__part_is_splat(job->fn, v);
    ts_type from = ts_type_of(job->fn, inst->opnd[0]);
    return !job->part[inst->opnd[0]] && ts_type_dims(job->fn->module, from)[halve_axis(job, inst->opnd[0])] == 1;
}

static bool halve_is_work(const halve_job *job, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    const ts_module *module = job->fn->module;
    ts_type whole = ts_type_of(job->fn, job->mma);
    uint32_t rank = ts_type_rank(module, inst->type), n = ts_type_rank(module, whole);
    if (!(ts_info(inst)->flags & TS_ELEM) && inst->op != TS_OP_reshape && inst->op != TS_OP_assume)
        return false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!job->part[ts_opnds(job->fn, inst)[i]] && !halve_is_even(job, ts_opnds(job->fn, inst)[i]))
            return false;
    const int64_t *dims = ts_type_dims(module, inst->type), *of = ts_type_dims(module, whole);
    return rank >= 2 && ts_type_count(module, inst->type) == ts_type_count(module, whole) &&
           dims[rank - 1] == of[n - 1] && dims[rank - 2] == of[n - 2];
}

static bool halve_is_store(const halve_job *job, ts_val v)
{
    const ts_fn *fn = job->fn;
    const ts_inst *inst = ts_at(fn, v);
    if (inst->op != TS_OP_store_view_tko || job->store || inst->flags & TS_F_TOKEN ||
        TS_M_GET_ORDER(inst->aux) != TS_WEAK || ts__part_uses(fn, v))
        return false;
    ts_val view = inst->n_opnd > 2 ? ts_opnd(fn, v, 0) : 0;
    if (!view || ts_at(fn, view)->op != TS_OP_make_partition_view)
        return false;
    for (ts_val load = job->loop + 3; load < job->shape->end[job->loop]; load++)
        if (ts_at(fn, load)->op == TS_OP_load_view_tko && !ts__alias_apart(job->alias, v, load))
            return false;
    return halve_index(job, v, 2, halve_axis(job, ts_opnd(fn, v, 1)));
}

/* Marks the work behind the loop, up to its one store; between them only what may as well come before the loop. */
static bool halve_behind(halve_job *job)
{
    const ts_fn *fn = job->fn;
    ts_val result = halve_result(job), region = job->shape->parent[job->loop];
    job->part[result] = 1;
    job->store = 0;
    for (ts_val v = result + 1; v < fn->inst.n; v++) {
        bool reads = false;
        for (uint32_t i = 0; i < ts_at(fn, v)->n_opnd; i++)
            reads = reads || job->part[ts_opnds(fn, ts_at(fn, v))[i]];
        if (!reads) {
            bool plain = ts_info(ts_at(fn, v))->flags & TS_PURE && !(ts_info(ts_at(fn, v))->flags & TS_REGION);
            if (!job->store && !plain)
                return false;
            continue;
        }
        if (job->shape->parent[v] != region)
            return false;
        if (halve_is_store(job, v))
            job->store = v;
        else if (job->store || !halve_is_work(job, v))
            return false;
        job->part[v] = 1;
    }
    return job->store != 0;
}

static bool halve_fits(halve_job *job, ts_val loop)
{
    const ts_inst *inst = ts_at(job->fn, loop);
    job->loop = loop;
    if (inst->op != TS_OP_for || inst->n_opnd != 4 || !ts__part_is_splat(job->fn, ts_opnd(job->fn, loop, 3)))
        return false;
    job->mma = halve_body(job);
    memset(job->part, 0, job->fn->inst.n);
    return job->mma && halve_choose(job) && halve_operand(job) && halve_behind(job);
}

/* ---- rewriting ---------------------------------------------------------------------------------------------- */

/* Copies `v` as a tile of one part. */
static void halve_copy(halve_job *job, ts_val v)
{
    ts__copy(&job->b, job->fn, v, job->map);
    if (!ts__module_failed(job->fn->module))
        job->b.fn->inst.at[job->map[v]].type = ts__part_tile(job->fn, ts_type_of(job->fn, v), halve_axis(job, v),
                                                             job->parts);
}

/* The same with operands that do not come from the result; those stay what they were for others. */
static void halve_copy_work(halve_job *job, ts_val v)
{
    ts_val kept[16], n = ts_at(job->fn, v)->n_opnd;
    ts_assert(n <= TS_COUNT(kept));
    for (uint32_t i = 0; i < n; i++) {
        ts_val x = ts_opnd(job->fn, v, i);
        kept[i] = job->map[x];
        if (!job->part[x])
            halve_copy(job, x);
    }
    halve_copy(job, v);
    for (uint32_t i = 0; i < n; i++)
        if (!job->part[ts_opnd(job->fn, v, i)])
            job->map[ts_opnd(job->fn, v, i)] = kept[i];
}

/* Number of the part's tile, where the whole one has number `index`. */
static ts_val halve_number(halve_job *job, ts_val index, ts_val h)
{
    ts_builder *b = &job->b;
    ts_val x = ts_op2(b, TS_OP_mini, job->map[index], ts_int(b, TS_T_i32, HALVE_FAR), 0);
    x = ts_op2(b, TS_OP_maxi, x, ts_int(b, TS_T_i32, -HALVE_FAR), 0);
    return ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_muli, x, ts_int(b, TS_T_i32, job->parts), 0), h, 0);
}

static void halve_loop(halve_job *job, ts_val h)
{
    const ts_fn *fn = job->fn;
    ts_builder *b = &job->b;
    ts_val loop = job->loop, load = job->way.value[0], init = ts_opnd(fn, loop, 3), kept = job->map[init];
    ts_val index = halve_index(job, load, 1, job->way.axis[0]), whole = job->map[index];
    halve_copy(job, init);
    ts_val value = job->map[init], number = halve_number(job, index, h);
    job->map[init] = kept;
    ts_val opener = ts_for_begin(b, job->map[ts_opnd(fn, loop, 0)], job->map[ts_opnd(fn, loop, 1)],
                                 job->map[ts_opnd(fn, loop, 2)], 1, &value, ts_at(fn, loop)->aux);
    job->map[loop + 1] = ts_region_arg(b->fn, opener, 0);
    job->map[loop + 2] = ts_region_arg(b->fn, opener, 1);
    for (ts_val v = loop + 3; v < job->shape->end[loop]; v++) {
        job->map[index] = v == load ? number : whole;
        if (v == job->mma)
            halve_copy(job, v);
        else if (!ts__part_copy(b, fn, &job->way, v, job->parts, job->map))
            ts__copy(b, fn, v, job->map);
    }
    job->map[index] = whole;
    ts_end_like(b, opener);
    job->map[halve_result(job)] = ts_res(b, opener, 0);
}

static void halve_store(halve_job *job, ts_val h)
{
    const ts_fn *fn = job->fn;
    ts_val v = job->store, view = ts_opnd(fn, v, 0), array = job->map[ts_opnd(fn, view, 0)];
    uint32_t axis = halve_axis(job, ts_opnd(fn, v, 1));
    ts_val index = halve_index(job, v, 2, axis), whole = job->map[index], kept = job->map[view];
    job->map[index] = halve_number(job, index, h);
    job->map[view] = ts__part_view(&job->b, fn, view, array, axis, job->parts);
    ts__copy(&job->b, fn, v, job->map);
    job->map[index] = whole;
    job->map[view] = kept;
}

static void halve_parts(halve_job *job)
{
    ts_builder *b = &job->b;
    ts_val zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1);
    for (ts_val v = halve_result(job) + 1; v < job->store; v++)
        if (!job->part[v])
            ts__copy(b, job->fn, v, job->map);
    ts_val opener = ts_for_begin(b, zero, ts_int(b, TS_T_i32, job->parts), one, 0, NULL, 0);
    ts_val h = ts_region_arg(b->fn, opener, 0);
    halve_loop(job, h);
    for (ts_val v = halve_result(job) + 1; v < job->store; v++)
        if (job->part[v])
            halve_copy_work(job, v);
    halve_store(job, h);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end_like(b, opener);
}

static void halve_rewrite(halve_job *job)
{
    for (ts_val v = 1; v < job->fn->inst.n && !ts__module_failed(job->fn->module); v++) {
        if (v == job->loop) {
            halve_parts(job);
            v = job->store;
        } else
            ts__copy(&job->b, job->fn, v, job->map);
    }
}

static bool halve_find(halve_job *job)
{
    for (ts_val v = 1; v < job->fn->inst.n; v++)
        if (halve_fits(job, v))
            return true;
    return false;
}

ts_status ts__halve_run(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_shape shape;
    ts_alias alias;
    halve_job job = {.fn = fn, .shape = &shape, .alias = &alias};
    bool single = env->hints && env->hints->num_stages == 1;
    if (env->target != TS_TARGET_SM90 || ts__pass_plan(env) || fn->level != TS_LEVEL_T || single)
        return TS_OK;
    job.map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    job.part = TS_NEW_N(env->scratch, uint8_t, fn->inst.n);
    if (!job.map || !job.part || !ts__shape_of(fn, env->scratch, &shape) || !ts__alias_of(fn, env->scratch, &alias))
        return ts_fail(err, TS_NOMEM, "out of memory while planning the parts of a product");
    if (!halve_find(&job))
        return TS_OK;
    ts_fn *fresh = ts__fn_create_like(fn);
    if (!fresh)
        return ts_fail(err, TS_NOMEM, "out of memory while planning the parts of a product");
    ts__builder_init(&job.b, fresh);
    halve_rewrite(&job);
    TS_TRY(ts_builder_status(&job.b, err));
    ts__note(fn, job.mma, TS_NOTE_pipeline, "parts", "%u groups of %s, one after the other: the sums of all of the "
             "tile would fill the registers", job.parts, job.back == 2 ? "rows" : "columns");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
