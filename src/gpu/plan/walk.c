/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of one tile a block leaves the tensor cores idle while a block starts, loads its first tiles and stores its
 * result. Where every block has the same work, a few blocks that stay walk over all tiles, so that the next one's loads
 * run beside the end of the one before (and two warpgroups can take tiles in turn, pingpong.c):
 *
 *     %m = get_tile_block_id 0           for %t from this block, by the number of blocks, to x * y * z
 *     %n = get_tile_block_id 1     ->      %m = %t mod x      %n = %t / x mod y
 *     ..                                   ..
 *
 * The launch passes the grid as three parameters more (ts_plan.persistent). Axes whose number every load depends on (a
 * batch) come last: tiles that lie along another one read some of the same memory, at best while it is in L2.
 *
 * Where blocks of higher numbers have more to do, as under a causal mask, blocks stay what they are, but the long ones
 * of WALK_ROWS rows of the grid come first, so that the last ones to end are short:
 *
 *     %m = get_tile_block_id 0     ->    %m = x - 1 - place / rows
 *     %n = get_tile_block_id 1           %n = first row + place mod rows
 *
 * Only functions in which no block can see another one: no atomics, no ordered access, nothing that is reported. Cost:
 * a few passes and two plans of the products.
 */
#include "gpu/plan/walk.h"
#include "gpu/plan/tma.h"

/* How a value changes, by and large, as the block's number along x rises, all else being equal. */
typedef enum walk_trend { WALK_SAME, WALK_RISES, WALK_FALLS, WALK_UNKNOWN } walk_trend;
/* Operations looked at behind a bound; rows of the grid whose loads stay in L2 together (measured on attention). */
enum { WALK_STEPS = 24, WALK_ROWS = 4 };

/* ---- what bounds of loops depend on -------------------------------------------------------------------- */

static walk_trend walk_turned(walk_trend t)
{
    return t == WALK_RISES ? WALK_FALLS : t == WALK_FALLS ? WALK_RISES : t;
}

static walk_trend walk_both(walk_trend x, walk_trend y)
{
    return x == y || y == WALK_SAME ? x : x == WALK_SAME ? y : WALK_UNKNOWN;
}

static walk_trend walk_trend_of(const ts_fn *fn, ts_val v, uint32_t steps);

/* Of a product, quotient or shift by a positive constant. */
static walk_trend walk_scaled(const ts_fn *fn, ts_val v, uint32_t steps)
{
    int64_t by;
    walk_trend x = walk_trend_of(fn, ts_opnd(fn, v, 0), steps), y = walk_trend_of(fn, ts_opnd(fn, v, 1), steps);
    if (x == WALK_SAME && y == WALK_SAME)
        return WALK_SAME;
    return ts__const_as_int(fn, ts_opnd(fn, v, 1), &by) && by > 0 ? x : WALK_UNKNOWN;
}

static walk_trend walk_trend_of(const ts_fn *fn, ts_val v, uint32_t steps)
{
    const ts_inst *inst = ts_at(fn, v);
    if (steps == WALK_STEPS)
        return WALK_UNKNOWN;
    switch ((int)inst->op) {
    case TS_OP_param:
    case TS_OP_constant:
    case TS_OP_get_num_tile_blocks:
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        return WALK_SAME;
    case TS_OP_get_tile_block_id:
        return inst->aux == 0 ? WALK_RISES : WALK_UNKNOWN;
    case TS_OP_assume:
    case TS_OP_exti:
    case TS_OP_trunci:
        return walk_trend_of(fn, inst->opnd[0], steps + 1);
    case TS_OP_select: /* rounding up adds one or nothing */
        return ts_at(fn, inst->opnd[1])->op == TS_OP_constant && ts_at(fn, inst->opnd[2])->op == TS_OP_constant
                   ? WALK_SAME : WALK_UNKNOWN;
    case TS_OP_muli:
    case TS_OP_divi:
    case TS_OP_shli:
    case TS_OP_shri:
        return walk_scaled(fn, v, steps + 1);
    case TS_OP_addi:
    case TS_OP_mini:
    case TS_OP_maxi:
        return walk_both(walk_trend_of(fn, inst->opnd[0], steps + 1), walk_trend_of(fn, inst->opnd[1], steps + 1));
    case TS_OP_subi:
        return walk_both(walk_trend_of(fn, inst->opnd[0], steps + 1),
                         walk_turned(walk_trend_of(fn, inst->opnd[1], steps + 1)));
    default: {
        bool same = ts_info(inst)->flags & TS_ELEM;
        for (uint32_t i = 0; i < inst->n_opnd && same; i++)
            same = walk_trend_of(fn, ts_opnds(fn, inst)[i], steps + 1) == WALK_SAME;
        return same ? WALK_SAME : WALK_UNKNOWN;
    }
    }
}

/* The work of a block, from the loops of its products: all of them stand in no other region. */
static walk_trend walk_work(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma)
{
    walk_trend work = WALK_SAME;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_val loop = shape->parent[tma->products.at[i].mma];
        if (!loop || shape->parent[loop] || ts_at(fn, loop)->op != TS_OP_for)
            return WALK_UNKNOWN;
        work = walk_both(work, walk_turned(walk_trend_of(fn, ts_opnd(fn, loop, 0), 0)));
        work = walk_both(work, walk_trend_of(fn, ts_opnd(fn, loop, 1), 0));
        work = walk_both(work, walk_trend_of(fn, ts_opnd(fn, loop, 2), 0) == WALK_SAME ? WALK_SAME : WALK_UNKNOWN);
    }
    return work;
}

/* ---- what may be rewritten ------------------------------------------------------------------------------ */

static bool walk_is_ordered(const ts_inst *inst)
{
    return ts_info(inst)->attr == TS_ATTR_MEM && TS_M_GET_ORDER(inst->aux) != TS_WEAK;
}

/* No block sees another one, and the function ends at its end. */
static bool walk_may(const ts_fn *fn, const ts_shape *shape, const ts_pass_env *env)
{
    bool uses_block = false;
    if (ts__pass_plan(env) || env->target != TS_TARGET_SM90 || fn->level != TS_LEVEL_T || fn->checked)
        return false;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        uint32_t flags = ts_info(inst)->flags;
        if (flags & TS_SIDE || (flags & TS_READ && flags & TS_WRITE) || walk_is_ordered(inst) ||
            inst->op == TS_OP_get_num_tile_blocks || (inst->op == TS_OP_return && shape->parent[v]))
            return false;
        uses_block = uses_block || inst->op == TS_OP_get_tile_block_id;
    }
    return uses_block && ts_at(fn, fn->inst.n - 1)->op == TS_OP_return;
}

/* ---- rewriting ------------------------------------------------------------------------------------------- */

typedef struct walk_job {
    const ts_fn *fn;
    const ts_shape *shape;
    ts_builder b;
    ts_val *map;
    uint8_t *early;    /* [value] is the same for all tiles */
    ts_val grid[3], at[3];
} walk_job;

static void walk_copy_if(walk_job *job, bool early)
{
    const ts_fn *fn = job->fn;
    for (ts_val v = 1; v + 1 < fn->inst.n && !ts__module_failed(fn->module); v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_param || (job->early[v] != 0) != early)
            continue;
        if (inst->op == TS_OP_get_tile_block_id)
            job->map[v] = job->at[inst->aux];
        else
            ts__copy(&job->b, fn, v, job->map);
    }
}

/* Pure instructions outside regions that no block number goes into: constants, views, what loops run to. */
static void walk_find_early(walk_job *job)
{
    for (ts_val v = 1; v < job->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(job->fn, v);
        bool early = !job->shape->parent[v] && ts_info(inst)->flags & TS_PURE && ts_info(inst)->n_result == 1 &&
                     !(ts_info(inst)->flags & (TS_REGION | TS_READ)) && inst->op != TS_OP_res &&
                     inst->op != TS_OP_get_tile_block_id;
        for (uint32_t i = 0; i < inst->n_opnd && early; i++)
            early = job->early[ts_opnds(job->fn, inst)[i]];
        job->early[v] = early;
    }
}

static ts_val walk_uint(walk_job *job, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(&job->b, op, x, y, TS_A_UNSIGNED);
}

/* The parameters of `fn`, and the grid behind them. */
static void walk_params(walk_job *job, bool grid)
{
    for (ts_val v = 1; v < job->fn->inst.n && ts_at(job->fn, v)->op == TS_OP_param; v++)
        ts__copy(&job->b, job->fn, v, job->map);
    for (uint32_t axis = 0; axis < 3 && grid; axis++)
        job->grid[axis] = ts_fn_param(&job->b, TS_T_i32);
}

/* Bit i: value `v` depends on the block's number along axis i. `seen` stops at what has been looked at. */
static uint32_t walk_axes_of(const ts_fn *fn, ts_val v, uint8_t *seen)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t axes = inst->op == TS_OP_get_tile_block_id ? 1u << inst->aux : 0;
    if (seen[v])
        return 0;
    seen[v] = 1;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        axes |= walk_axes_of(fn, ts_opnds(fn, inst)[i], seen);
    return axes;
}

/* The axes in which tiles follow each other: first those along which some load stays where it is. */
static void walk_order(const walk_job *job, const ts_tma *tma, uint8_t *seen, uint32_t order[3])
{
    uint32_t all = 7, n = 0;
    for (uint32_t i = 0; i < tma->loads.n; i++) {
        const ts_tma_load *load = &tma->loads.at[i];
        memset(seen, 0, job->fn->inst.n);
        if (!load->by_consumers)
            all &= walk_axes_of(job->fn, load->load, seen);
    }
    for (uint32_t last = 0; last < 2; last++)
        for (uint32_t axis = 0; axis < 3; axis++)
            if ((all >> axis & 1) == last)
                order[n++] = axis;
}

static void walk_over_grid(walk_job *job, const uint32_t order[3])
{
    ts_builder *b = &job->b;
    walk_params(job, true);
    walk_copy_if(job, true);
    ts_val first = ts_emit(b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 0, 0);
    ts_val blocks = ts_emit(b, TS_OP_get_num_tile_blocks, TS_T_i32, 0, NULL, 0, 0);
    ts_val plane = ts_op2(b, TS_OP_muli, job->grid[0], job->grid[1], 0);
    ts_val loop = ts_for_begin(b, first, ts_op2(b, TS_OP_muli, plane, job->grid[2], 0), blocks, 0, NULL, 0);
    ts_val rest = ts_region_arg(b->fn, loop, 0);
    for (uint32_t i = 0; i < 2; i++) {
        job->at[order[i]] = walk_uint(job, TS_OP_remi, rest, job->grid[order[i]]);
        rest = walk_uint(job, TS_OP_divi, rest, job->grid[order[i]]);
    }
    job->at[order[2]] = rest;
    walk_copy_if(job, false);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end_like(b, loop);
    ts_term(b, TS_OP_return, 0, NULL);
}

/* Long blocks first: block number `place` of a group of rows is row `place mod rows`, and the further back in x the
 * earlier. */
static void walk_backwards(walk_job *job)
{
    ts_builder *b = &job->b;
    ts_val id[3], n[3], most;
    walk_params(job, false);
    for (uint32_t axis = 0; axis < 3; axis++) {
        id[axis] = ts_emit(b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, axis, 0);
        n[axis] = ts_emit(b, TS_OP_get_num_tile_blocks, TS_T_i32, 0, NULL, axis, 0);
    }
    most = ts_int(b, TS_T_i32, WALK_ROWS);
    ts_val row = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_muli, id[2], n[1], 0), id[1], 0);
    ts_val first = ts_op2(b, TS_OP_muli, walk_uint(job, TS_OP_divi, row, most), most, 0);
    ts_val left = ts_op2(b, TS_OP_subi, ts_op2(b, TS_OP_muli, n[1], n[2], 0), first, 0);
    ts_val rows = ts_op2(b, TS_OP_mini, left, most, 0);
    ts_val place = ts_op2(b, TS_OP_muli, ts_op2(b, TS_OP_subi, row, first, 0), n[0], 0);
    place = ts_op2(b, TS_OP_addi, place, id[0], 0);
    ts_val last = ts_op2(b, TS_OP_subi, n[0], ts_int(b, TS_T_i32, 1), 0);
    job->at[0] = ts_op2(b, TS_OP_subi, last, walk_uint(job, TS_OP_divi, place, rows), 0);
    row = ts_op2(b, TS_OP_addi, first, walk_uint(job, TS_OP_remi, place, rows), 0);
    job->at[1] = walk_uint(job, TS_OP_remi, row, n[1]);
    job->at[2] = walk_uint(job, TS_OP_divi, row, n[1]);
    memset(job->early, 0, job->fn->inst.n);
    walk_copy_if(job, false);
    ts_term(b, TS_OP_return, 0, NULL);
}

/* ---- all together ------------------------------------------------------------------------------------------ */

/* Least number of stages of the rings that run ahead. */
static uint32_t walk_stages(const ts_tma *tma)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < tma->groups.n; i++)
        if (tma->groups.at[i].loop && !tma->groups.at[i].within)
            least = TS_MIN(least, tma->groups.at[i].stages);
    return least;
}

/* One product, or the two of attention: with more of them, as in its gradients, the staging of results costs more than
 * the walk brings. */
enum { WALK_PRODUCTS = 2 };

/* The walk does not pay where its loop leaves pipelines fewer stages than they had, or fewer than two. */
static bool walk_is_better(const ts_tma *before, const ts_tma *after)
{
    return after->active && after->products.n == before->products.n && after->rotated.n == before->rotated.n &&
           walk_stages(after) >= TS_MIN(walk_stages(before), 4u) && walk_stages(after) >= 2;
}

static ts_status walk_rewrite(ts_fn *fn, ts_pass_env *env, const ts_shape *shape, const ts_tma *before, bool over_grid,
                              ts_error *err)
{
    walk_job job = {.fn = fn, .shape = shape};
    uint32_t order[3];
    ts_tma after = {0};
    ts_fn *fresh = ts__fn_create_like(fn);
    job.map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    job.early = TS_NEW_N(env->scratch, uint8_t, fn->inst.n);
    if (!fresh || !job.map || !job.early)
        return ts_fail(err, TS_NOMEM, "out of memory while planning the walk over a grid");
    ts__builder_init(&job.b, fresh);
    walk_order(&job, before, job.early, order);
    walk_find_early(&job);
    if (over_grid)
        walk_over_grid(&job, order);
    else
        walk_backwards(&job);
    TS_TRY(ts_builder_status(&job.b, err));
    if (over_grid) {
        ts_status status = ts__tma_try(fresh, env, &after, err);
        if (status != TS_OK || !walk_is_better(before, &after))
            return status;
        env->plan->persistent = 1;
    }
    ts__fn_replace(fn, fresh);
    return TS_OK;
}

ts_status ts__walk_run(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_shape shape;
    ts_tma tma = {0};
    if (!ts__shape_of(fn, env->scratch, &shape))
        return ts_fail(err, TS_NOMEM, "out of memory while planning the walk over a grid");
    if (!walk_may(fn, &shape, env))
        return TS_OK;
    ts_status status = ts__tma_try(fn, env, &tma, err);
    if (status == TS_OK && tma.active && !tma.split) {
        walk_trend work = walk_work(fn, &shape, &tma);
        bool walks = work == WALK_SAME && tma.products.n <= WALK_PRODUCTS;
        if (walks || work == WALK_RISES)
            status = walk_rewrite(fn, env, &shape, &tma, walks, err);
    }
    return status;
}
