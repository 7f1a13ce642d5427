/* SPDX-License-Identifier: Apache-2.0
 *
 * With num_ctas=2 or 4 the thread blocks of a cluster make a tile block's products together, an equal part of the rows
 * each (or of the columns, where rows are too few):
 *
 *     %r = for %k .. iter(%s = zeros)                        %h = rank of the block: 0 or 1
 *       %a = load_view_tko [%m, %k] : tile<256x64xf16>       %r = for %k .. iter(%s = zeros)
 *       %b = load_view_tko [%k, %n] : tile<64x256xf16>         %a = load_view_tko [2 %m + %h, %k] : tile<128x64xf16>
 *       %t = mmaf %a, %b, %s                            ->     %b = load_view_tko [%k, %n] : tile<64x256xf16>
 *       continue %t                                            %t = mmaf %a, %b, %s
 *     %c = ftof %r : tile<256x256xf16>                       ..
 *     store_view_tko %c, [%m, %n]                            store_view_tko %c, [2 %m + %h, %n]
 *
 * What all read (%b) each of them brings a part of, for all (schedule/producer.c): L2 is asked for a quarter to a half
 * less. Each element's sum stays what it was.
 *
 * Which tiles are parted, and along which axis, spreads from the products through elementwise work, reshapes and values
 * that loops carry, up to loads and stores. Constants and numbers (iota) are made anew for each reader of a part. The
 * function is left as it is where anything else reads a part, where something may be done once only, and where a loop
 * at its top shares its steps better (split_k.c): tiles must lie in a loop over tiles, or have more sums than a block
 * has registers for. Cost: a few passes.
 */
#include "gpu/plan/team.h"
#include "gpu/plan/part.h"
#include "ir/note.h"
#include "pass/alias.h"

/* Rows that each keeps of a product where it can, and must, columns that it must; log2 of the sums that eight warps
 * have registers for; bound of an index, far outside of every array of such tiles. */
enum { TEAM_ROWS = 128, TEAM_LEAST_ROWS = 64, TEAM_COLUMNS = 32, TEAM_LOG_SUMS = 15, TEAM_FAR = 1 << 25 };

typedef struct team_job {
    const ts_fn *fn;
    const ts_shape *shape;
    ts_builder b;
    ts_val *map, *whole; /* [value] in the new function; of constants and numbers, all of them */
    uint8_t *axis;  /* [value] 1 + the axis that is parted; 0 = it stays whole */
    uint32_t n;     /* blocks */
    uint32_t back;  /* of products: 1 the last axis, 2 the one before */
    ts_val rank;
    bool changed, failed;
} team_job;

/* ---- which products ----------------------------------------------------------------------------------------- */

static bool team_is_product(const ts_inst *inst)
{
    return inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
}

static bool team_is_access(const ts_inst *inst)
{
    return inst->op == TS_OP_load_view_tko || inst->op == TS_OP_store_view_tko;
}

static bool team_is_tile(const team_job *job, ts_val v)
{
    return ts_type_kind(job->fn->module, ts_type_of(job->fn, v)) == TS_KIND_TILE;
}

/* Nothing that only one block must do, and no access that depends on the order of others. */
static bool team_may(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        uint32_t flags = ts_info(inst)->flags;
        if (team_is_access(inst) ? TS_M_GET_ORDER(inst->aux) != TS_WEAK || inst->flags & TS_F_TOKEN
                                 : flags & (TS_READ | TS_WRITE | TS_SIDE) && !ts_part_orders_grids((ts_op)inst->op))
            return false;
        if (flags & TS_REGION && inst->op != TS_OP_for)
            return false;
    }
    return true;
}

/* Every store is into memory that nothing here loads. */
static bool team_is_apart(const ts_fn *fn, const ts_alias *alias)
{
    for (ts_val store = 1; store < fn->inst.n; store++)
        for (ts_val load = 1; load < fn->inst.n && ts_at(fn, store)->op == TS_OP_store_view_tko; load++)
            if (ts_at(fn, load)->op == TS_OP_load_view_tko && !ts__alias_apart(alias, store, load))
                return false;
    return true;
}

/* Parts of rows or of columns, for all products alike; false where the blocks had better not. */
static bool team_choose(team_job *job)
{
    const ts_fn *fn = job->fn;
    int64_t rows = INT64_MAX, columns = INT64_MAX, most = 0;
    bool nested = true;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        if (!team_is_product(ts_at(fn, v)))
            continue;
        const int64_t *end = ts_type_dims(fn->module, ts_type_of(fn, v)) +
                             ts_type_rank(fn->module, ts_type_of(fn, v));
        ts_val loop = job->shape->parent[v];
        nested = nested && loop && job->shape->parent[loop];
        rows = TS_MIN(rows, end[-2]);
        columns = TS_MIN(columns, end[-1]);
        most = TS_MAX(most, ts_type_count(fn->module, ts_type_of(fn, v)));
    }
    bool by_rows = rows >= job->n * TEAM_ROWS || (columns < job->n * TEAM_COLUMNS && rows >= job->n * TEAM_LEAST_ROWS);
    job->back = by_rows ? 2 : 1;
    return most && most >> TEAM_LOG_SUMS <= job->n && (nested || most >> TEAM_LOG_SUMS > 1) &&
           (by_rows || columns >= job->n * TEAM_COLUMNS);
}

/* ---- what is parted ----------------------------------------------------------------------------------------- */

/* Each reader has a part or the whole of it, as it wants. */
static bool team_is_free(const ts_fn *fn, ts_val v)
{
    return ts__part_is_splat(fn, v) || ts_at(fn, v)->op == TS_OP_iota;
}

static void team_set(team_job *job, ts_val v, uint32_t axis)
{
    ts_type type = ts_type_of(job->fn, v);
    if (team_is_free(job->fn, v) || job->axis[v] == axis + 1)
        return;
    bool fits = axis != TS_NO && !job->axis[v] && team_is_tile(job, v) && axis < ts_type_rank(job->fn->module, type) &&
                ts_type_dims(job->fn->module, type)[axis] % job->n == 0;
    job->failed = job->failed || !fits;
    job->changed = true;
    job->axis[v] = fits ? (uint8_t)(axis + 1) : 0;
}

/* Two values of one shape, of which one is parted. */
static void team_tie(team_job *job, ts_val x, ts_val y)
{
    if (job->axis[x] && !job->axis[y])
        team_set(job, y, job->axis[x] - 1u);
    else if (job->axis[y])
        team_set(job, x, job->axis[y] - 1u);
}

static void team_product(team_job *job, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    ts_val operand = inst->opnd[job->back == 2 ? 0 : 1], other = inst->opnd[job->back == 2 ? 1 : 0];
    team_set(job, v, ts_type_rank(job->fn->module, inst->type) - job->back);
    team_set(job, operand, ts_type_rank(job->fn->module, ts_type_of(job->fn, operand)) - job->back);
    team_tie(job, v, inst->opnd[2]);
    job->failed = job->failed || job->axis[other];
}

static bool team_moves(const ts_inst *inst)
{
    return inst->op == TS_OP_broadcast || inst->op == TS_OP_reshape || inst->op == TS_OP_permute ||
           inst->op == TS_OP_assume;
}

/* The axis of the operand of `v`, which moves nothing else, that is axis `axis` of `v`. */
static uint32_t team_axis_before(const team_job *job, ts_val v, uint32_t axis)
{
    const ts_inst *inst = ts_at(job->fn, v);
    if (inst->op == TS_OP_permute)
        return ts_pool(job->fn, inst)[1 + axis];
    if (inst->op == TS_OP_reshape)
        return ts__type_axis_before(job->fn->module, inst->type, ts_type_of(job->fn, inst->opnd[0]), axis);
    return axis;
}

/* Whether it repeats one element of its operand along `axis`. */
static bool team_repeats(const team_job *job, ts_val v, uint32_t axis)
{
    const ts_inst *inst = ts_at(job->fn, v);
    return inst->op == TS_OP_broadcast &&
           ts_type_dims(job->fn->module, ts_type_of(job->fn, inst->opnd[0]))[axis] == 1;
}

static void team_moved(team_job *job, ts_val v)
{
    ts_val x = ts_opnd(job->fn, v, 0);
    if (job->axis[v] && !team_repeats(job, v, job->axis[v] - 1u))
        team_set(job, x, team_axis_before(job, v, job->axis[v] - 1u));
    for (uint32_t i = 0; job->axis[x] && i < ts_type_rank(job->fn->module, ts_type_of(job->fn, v)); i++)
        if (team_axis_before(job, v, i) == job->axis[x] - 1u)
            team_set(job, v, i);
    job->failed = job->failed || (job->axis[x] && !job->axis[v]);
}

static void team_elementwise(team_job *job, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        team_tie(job, v, ts_opnds(job->fn, inst)[i]);
}

/* Initial value, carried value, what a trip hands on and the result of each. */
static void team_loop(team_job *job, ts_val loop)
{
    ts_val end = job->shape->end[loop], last = end - 1;
    for (uint32_t i = 3; i < ts_at(job->fn, loop)->n_opnd; i++) {
        ts_val arg = loop + i - 1, result = end + 1 + i - 3;
        team_tie(job, arg, ts_opnd(job->fn, loop, i));
        team_tie(job, arg, ts_opnd(job->fn, last, i - 3));
        team_tie(job, arg, result);
    }
}

/* The index of an access along the parted axis: one i32 that stands for no other; 0: another. */
static ts_val team_index(const team_job *job, ts_val access, ts_val tile)
{
    const ts_fn *fn = job->fn;
    uint32_t at = job->axis[tile] - 1u + (ts_at(fn, access)->op == TS_OP_load_view_tko ? 1 : 2);
    ts_val index = ts_opnd(fn, access, at);
    for (uint32_t i = 0; i < ts_at(fn, access)->n_opnd; i++)
        if (i != at && ts_opnd(fn, access, i) == index)
            return 0;
    return ts_type_of(fn, index) == TS_T_i32 && ts_at(fn, ts_opnd(fn, access, 0))->op == TS_OP_make_partition_view
               ? index : 0;
}

/* A load may be parted, a store must be. */
static void team_access(team_job *job, ts_val v)
{
    bool stores = ts_at(job->fn, v)->op == TS_OP_store_view_tko;
    ts_val tile = stores ? ts_opnd(job->fn, v, 1) : v;
    if (job->axis[tile])
        job->failed = job->failed || !team_index(job, v, tile);
}

/* What knows no parts. */
static void team_whole(team_job *job, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    job->failed = job->failed || job->axis[v];
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        job->failed = job->failed || job->axis[ts_opnds(job->fn, inst)[i]];
}

static void team_visit(team_job *job, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    uint32_t flags = ts_info(inst)->flags;
    if (team_is_product(inst))
        team_product(job, v);
    else if (team_is_access(inst))
        team_access(job, v);
    else if (inst->op == TS_OP_for)
        team_loop(job, v);
    else if (team_moves(inst))
        team_moved(job, v);
    else if (flags & TS_ELEM)
        team_elementwise(job, v);
    else if (inst->op != TS_OP_arg && inst->op != TS_OP_res && inst->op != TS_OP_continue)
        team_whole(job, v);
}

static bool team_stores_parts(const team_job *job)
{
    for (ts_val v = 1; v < job->fn->inst.n; v++)
        if (ts_at(job->fn, v)->op == TS_OP_store_view_tko && !job->axis[ts_opnd(job->fn, v, 1)])
            return false;
    return true;
}

static bool team_spread(team_job *job)
{
    do {
        job->changed = false;
        for (ts_val v = 1; v < job->fn->inst.n && !job->failed; v++)
            team_visit(job, v);
    } while (job->changed && !job->failed);
    return !job->failed && team_stores_parts(job);
}

/* ---- rewriting ---------------------------------------------------------------------------------------------- */

static void team_retype(team_job *job, ts_val v, uint32_t axis)
{
    if (!ts__module_failed(job->fn->module))
        job->b.fn->inst.at[job->map[v]].type = ts__part_tile(job->fn, ts_type_of(job->fn, v), axis, job->n);
}

/* Number of this block's part, where the whole tile has number `index`. */
static ts_val team_number(team_job *job, ts_val index)
{
    ts_builder *b = &job->b;
    ts_val x = ts_op2(b, TS_OP_mini, job->map[index], ts_int(b, TS_T_i32, TEAM_FAR), 0);
    x = ts_op2(b, TS_OP_maxi, x, ts_int(b, TS_T_i32, -TEAM_FAR), 0);
    return ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_muli, x, ts_int(b, TS_T_i32, job->n), 0), job->rank, 0);
}

static void team_copy_access(team_job *job, ts_val v, ts_val tile)
{
    const ts_fn *fn = job->fn;
    ts_val view = ts_opnd(fn, v, 0), index = team_index(job, v, tile), views = job->map[view], whole = job->map[index];
    job->map[index] = team_number(job, index);
    job->map[view] = ts__part_view(&job->b, fn, view, job->map[ts_opnd(fn, view, 0)], job->axis[tile] - 1u, job->n);
    ts__copy(&job->b, fn, v, job->map);
    job->map[index] = whole, job->map[view] = views;
}

/* The axis along which operand `i` of `v` is read parted; TS_NO: none. */
static uint32_t team_wanted(const team_job *job, ts_val v, uint32_t i)
{
    const ts_inst *inst = ts_at(job->fn, v);
    ts_val as = 0; /* a value of the same shape */
    if (inst->op == TS_OP_for)
        as = i >= 3 ? v + i - 1 : 0;
    else if (inst->op == TS_OP_continue)
        as = job->shape->parent[v] + 2 + i;
    else if (ts_info(inst)->flags & TS_ELEM || team_moves(inst) || (team_is_product(inst) && i == 2))
        as = v;
    if (!as || !job->axis[as] || (team_moves(inst) && team_repeats(job, v, job->axis[v] - 1u)))
        return TS_NO;
    return team_moves(inst) ? team_axis_before(job, v, job->axis[v] - 1u) : job->axis[as] - 1u;
}

/* This block's part of the numbers 0, 1, .. of `x`, which a copy of it begins with. */
static void team_renumber(team_job *job, ts_val x)
{
    ts_builder *b = &job->b;
    if (ts__module_failed(job->fn->module))
        return;
    ts_type type = ts_type_of(b->fn, job->map[x]), elem = ts_type_elem(job->fn->module, type);
    const int64_t one = 1;
    ts_val first = ts_op2(b, TS_OP_muli, job->rank, ts_int(b, TS_T_i32, ts_type_count(job->fn->module, type)), 0);
    if (elem != TS_T_i32)
        first = ts_cast(b, ts_type_bits(job->fn->module, elem) > 32 ? TS_OP_exti : TS_OP_trunci, first, elem, 0);
    first = ts_broadcast(b, ts_reshape(b, first, ts_type_tile(job->fn->module, elem, 1, &one)), type);
    job->map[x] = ts_op2(b, TS_OP_addi, job->map[x], first, 0);
}

/* The part of constant or iota `x` that a reader wants. */
static void team_copy_free(team_job *job, ts_val x, uint32_t axis)
{
    ts__copy(&job->b, job->fn, x, job->map);
    team_retype(job, x, axis);
    if (ts_at(job->fn, x)->op == TS_OP_iota)
        team_renumber(job, x);
}

/* Copies `v`, with parts of what is free where it reads those. */
static void team_copy(team_job *job, ts_val v)
{
    const ts_fn *fn = job->fn;
    for (uint32_t i = 0; i < ts_at(fn, v)->n_opnd && ts_at(fn, v)->op != TS_OP_constant; i++) {
        ts_val x = ts_opnd(fn, v, i);
        uint32_t axis = team_is_free(fn, x) && team_is_tile(job, x) ? team_wanted(job, v, i) : TS_NO;
        if (axis != TS_NO)
            team_copy_free(job, x, axis);
    }
    ts__copy(&job->b, fn, v, job->map);
    for (uint32_t i = 0; i < ts_at(fn, v)->n_opnd && ts_at(fn, v)->op != TS_OP_constant; i++)
        if (team_is_free(fn, ts_opnd(fn, v, i)))
            job->map[ts_opnd(fn, v, i)] = job->whole[ts_opnd(fn, v, i)];
    if (team_is_free(fn, v))
        job->whole[v] = job->map[v];
}

static void team_rewrite(team_job *job)
{
    const ts_fn *fn = job->fn;
    ts_val v = 1;
    for (; v < fn->inst.n && ts_at(fn, v)->op == TS_OP_param; v++)
        ts__copy(&job->b, fn, v, job->map);
    job->rank = ts_emit(&job->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0), 0);
    for (; v < fn->inst.n && !ts__module_failed(fn->module); v++) {
        const ts_inst *inst = ts_at(fn, v);
        ts_val tile = inst->op == TS_OP_store_view_tko ? ts_opnd(fn, v, 1) : v;
        if (team_is_access(inst) && job->axis[tile])
            team_copy_access(job, v, tile);
        else
            team_copy(job, v);
        if (job->axis[v])
            team_retype(job, v, job->axis[v] - 1u);
    }
}

ts_val ts__team_rank(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n && fn->level == TS_LEVEL_T; v++)
        if (ts_at(fn, v)->op == TS_OP_sreg && TS_S_KIND(ts_at(fn, v)->aux) == TS_SREG_CLUSTER_RANK)
            return v;
    return 0;
}

ts_status ts__team_run(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_shape shape;
    ts_alias alias;
    team_job job = {.fn = fn, .shape = &shape, .n = fn->num_ctas};
    bool wanted = fn->num_ctas == 2 || fn->num_ctas == 4;
    if (env->target != TS_TARGET_SM90 || ts__pass_plan(env) || fn->level != TS_LEVEL_T || !wanted || !team_may(fn))
        return TS_OK;
    job.map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    job.whole = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    job.axis = TS_NEW_N(env->scratch, uint8_t, fn->inst.n);
    if (!job.map || !job.whole || !job.axis || !ts__shape_of(fn, env->scratch, &shape) ||
        !ts__alias_of(fn, env->scratch, &alias))
        return ts_fail(err, TS_NOMEM, "out of memory while planning the parts of products");
    if (!team_is_apart(fn, &alias) || !team_choose(&job) || !team_spread(&job))
        return TS_OK;
    ts_fn *fresh = ts__fn_create_like(fn);
    if (!fresh)
        return ts_fail(err, TS_NOMEM, "out of memory while planning the parts of products");
    ts__builder_init(&job.b, fresh);
    team_rewrite(&job);
    TS_TRY(ts_builder_status(&job.b, err));
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (team_is_product(ts_at(fn, v)))
            ts__note(fn, v, TS_NOTE_pipeline, "cluster", "%u thread blocks, a part of the %s each", job.n,
                     job.back == 2 ? "rows" : "columns");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
