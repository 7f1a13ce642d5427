/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads before the arithmetic between them, so that all are on their way while the first one's value is awaited:
 *
 *     %x = load_view_tko %v, %i                  %x = load_view_tko %v, %i
 *     %a = ftof %x : tile<1024xf32>        ->    %y = load_view_tko %w, %i
 *     %y = load_view_tko %w, %i                  %a = ftof %x : tile<1024xf32>
 *     %b = ftof %y : tile<1024xf32>              %b = ftof %y : tile<1024xf32>
 *
 * The branches around large loads keep the assembler from doing it. A load alone moves where much arithmetic stands in
 * front of it, random numbers of a counter, say. Between two accesses that write or order memory,
 * and within one region, loads through views whose place follows from scalars move up to the first of them, together
 * with those scalars, as long as what is alive then leaves two blocks room in the registers of a multiprocessor. Tiles
 * at constant places stay where they are: other blocks have brought them to L2, and so long as nobody needs them they
 * are better there. Functions with products are left alone: their operands travel by pipelines. Cost: linear, times the
 * loads of a run.
 */
#include "pass/pass.h"

/* Bytes of a block that tiles may take: two blocks of 256 threads with 96 registers each, of 128. */
enum { EARLY_BYTES = 96 << 10 };
/* Operations on tiles that are worth moving one load for: masks and offsets have fewer. */
enum { EARLY_WORK = 24 };

typedef struct early_job {
    ts_fn *fn;
    ts_builder b;
    ts_val *map;
    ts_val *last;   /* the last reader of each value */
    uint8_t *early; /* in the run at hand: a load that moves up, or what its place follows from */
} early_job;

static bool early_is_load(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    return (inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko) &&
           TS_M_GET_ORDER(inst->aux) == TS_WEAK && ts__opnd_token(inst) == TS_NO;
}

/* What may change places with a load. */
static bool early_is_free(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t flags = ts_info(inst)->flags;
    if (inst->op == TS_OP_param || inst->op == TS_OP_arg || inst->op == TS_OP_res || inst->op == TS_OP_token ||
        flags & (TS_REGION | TS_TERM))
        return false;
    return early_is_load(fn, v) || (flags & TS_PURE && !(flags & (TS_READ | TS_WRITE | TS_SIDE)));
}

static bool early_is_tile(const ts_fn *fn, ts_val v)
{
    ts_type type = ts_type_of(fn, v);
    return ts_type_kind(fn->module, type) == TS_KIND_TILE && ts_type_count(fn->module, type) > 1;
}

/* Bytes of a block's registers that a tile takes once it is computed with; those made where they are read take none. */
static uint64_t early_bytes(const ts_fn *fn, ts_val v)
{
    ts_op op = (ts_op)ts_at(fn, v)->op;
    if (!early_is_tile(fn, v) || op == TS_OP_constant || op == TS_OP_iota || op == TS_OP_broadcast)
        return 0;
    uint32_t bits = ts_type_bits(fn->module, ts_type_elem(fn->module, ts_type_of(fn, v)));
    return (uint64_t)ts_type_count(fn->module, ts_type_of(fn, v)) * TS_MAX(4u, bits / 8);
}

/* Marks what the place of `v` follows from within the run; false where that is more than scalars. */
static bool early_follow(early_job *job, ts_val first, ts_val v)
{
    if (v < first || job->early[v])
        return true;
    if (early_is_tile(job->fn, v) || early_is_load(job->fn, v))
        return false;
    const ts_inst *inst = ts_at(job->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!early_follow(job, first, ts_opnds(job->fn, inst)[i]))
            return false;
    job->early[v] = 1;
    return true;
}

/* The same tile in every block: weights of rows, say. */
static bool early_is_fixed(const ts_fn *fn, ts_val load)
{
    int64_t at;
    for (uint32_t i = 1; i < ts_at(fn, load)->n_opnd; i++)
        if (!ts__const_as_int(fn, ts_opnd(fn, load, i), &at))
            return false;
    return true;
}

static bool early_load(early_job *job, ts_val first, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    if (inst->op != TS_OP_load_view_tko || early_is_fixed(job->fn, v))
        return false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!early_follow(job, first, ts_opnds(job->fn, inst)[i]))
            return false;
    job->early[v] = 1;
    return true;
}

/* Marks the loads of a run that move up; gives their number. */
static uint32_t early_mark(early_job *job, ts_val first, ts_val end)
{
    uint64_t bytes = 0;
    uint32_t n = 0;
    for (ts_val v = first; v < end; v++)
        n += early_is_load(job->fn, v);
    if (!n)
        return 0;
    n = 0;
    for (ts_val v = 1; v < first; v++)
        bytes += job->last[v] >= first ? early_bytes(job->fn, v) : 0;
    for (ts_val v = first; v < end; v++) {
        uint64_t more = early_is_load(job->fn, v) ? early_bytes(job->fn, v) : 0;
        if (!more || bytes + more > EARLY_BYTES || !early_load(job, first, v))
            continue;
        bytes += more;
        n++;
    }
    return n;
}

/* Arithmetic on tiles stands between two of the loads, or much of it before the first. */
static bool early_helps(const early_job *job, ts_val first, ts_val end)
{
    uint32_t before = 0, between = 0;
    bool load = false;
    for (ts_val v = first; v < end; v++) {
        bool moves = job->early[v] && early_is_load(job->fn, v), work = !moves && early_bytes(job->fn, v);
        if (moves && (between || before >= EARLY_WORK))
            return true;
        load = load || moves;
        between += load && work;
        before += !load && work;
    }
    return false;
}

static void early_run(early_job *job, ts_val first, ts_val end)
{
    bool moves = early_mark(job, first, end) && early_helps(job, first, end);
    for (ts_val v = first; moves && v < end; v++)
        if (job->early[v])
            ts__copy(&job->b, job->fn, v, job->map);
    for (ts_val v = first; v < end; v++)
        if (!moves || !job->early[v])
            ts__copy(&job->b, job->fn, v, job->map);
}

/* The last reader of each value; a loop reads to its end what was made before it. */
static void early_readers(early_job *job, const ts_shape *shape)
{
    const ts_fn *fn = job->fn;
    for (ts_val v = 1; v < fn->inst.n; v++)
        for (uint32_t i = 0; i < ts_at(fn, v)->n_opnd; i++) {
            ts_val x = ts_opnds(fn, ts_at(fn, v))[i], reader = v;
            for (ts_val p = shape->parent[v]; p && p > x; p = shape->parent[p])
                reader = ts__is_loop(ts_at(fn, p)->op) ? shape->end[p] : reader;
            job->last[x] = TS_MAX(job->last[x], reader);
        }
}

/* Is there anything to do: a load of a tile, no product? */
static bool early_concerns(const ts_fn *fn)
{
    uint32_t loads = 0;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        ts_op op = (ts_op)ts_at(fn, v)->op;
        if (op == TS_OP_mmaf || op == TS_OP_mmai || op == TS_OP_mmaf_scaled)
            return false;
        loads += op == TS_OP_load_view_tko;
    }
    return loads && !fn->checked;
}

ts_status ts__pass_early(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    early_job job = {.fn = fn};
    uint32_t n = fn->inst.n;
    ts_shape shape;
    if (!early_concerns(fn))
        return TS_OK;
    job.map = TS_NEW_N(env->scratch, ts_val, n);
    job.last = TS_NEW_N(env->scratch, ts_val, n);
    job.early = TS_NEW_N(env->scratch, uint8_t, n);
    ts_fn *fresh = ts__fn_create_like(fn);
    if (!job.map || !job.last || !job.early || !fresh || !ts__shape_of(fn, env->scratch, &shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass early");
    early_readers(&job, &shape);
    ts__builder_init(&job.b, fresh);
    for (ts_val v = 1; v < n && !ts__module_failed(fn->module);) {
        ts_val end = v;
        while (end < n && early_is_free(fn, end))
            end++;
        if (end > v)
            early_run(&job, v, end);
        else
            ts__copy(&job.b, fn, end++, job.map);
        v = end;
    }
    if (ts__module_failed(fn->module))
        return TS_OK; /* the runner says so */
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
