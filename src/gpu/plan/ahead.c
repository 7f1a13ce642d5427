/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop that loads a small tile in each trip has little on its way to a multiprocessor: a trip's load is issued when
 * the trip before is done with its own. Several trips at once issue their loads together:
 *
 *     %r = for %i in (0, n, 1) iter(%s = %z)            %m = n / 2 * 2
 *       %x = load_view_tko %v, %i                       %q = for %i in (0, %m, 2) iter(%s = %z)
 *       %t = addf %s, %x                          ->      %j = addi %i, 1
 *       continue %t                                       %x = load_view_tko %v, %i
 *                                                         %y = load_view_tko %v, %j
 *                                                         %t = addf %s, %x
 *                                                         %u = addf %t, %y
 *                                                         continue %u
 *                                                       %r = for %i in (%m, n, 1) iter(%s = %q)  .. as before
 *
 * Where steps are not known, as in loops over every so many rows, each trip loads for the next one. Behind the last
 * trip that reads what is not needed, or nothing, since accesses through views stop where their array ends:
 *
 *     for %i in (%a, %n, %s)                            %y = load_view_tko %v, %a
 *       %x = load_view_tko %v, %i             ->        for %i in (%a, %n, %s) iter(%x = %y)
 *       ..                                                %j = addi %i, %s
 *                                                         %z = load_view_tko %v, %j
 *                                                         ..
 *                                                         continue %z
 *
 * What would take too many registers travels to shared memory, which is left to the lowering (schedule/rows.c); there
 * loops with products take part too, with tiles that operands are computed from.
 *
 * Only loops without regions with control flow, or accesses that order others; loads whose place follows from
 * the loop's number, out of arrays that the loop does not write. Trips keep their order, so results stay what they are.
 * Cost: linear, and the code of a few trips.
 */
#include "gpu/plan/again.h"
#include "gpu/plan/ahead.h"
#include "ir/note.h"
#include "gpu/plan/assign.h"
#include "pass/alias.h"

/* Bytes of a thread that loads should have on their way; most trips at once; registers for what a thread loads and
 * carries, in blocks of at most 128 threads and in larger ones, of which fewer would fit a multiprocessor (measured on
 * layer norms on an H200); bounds of the loop's numbers, far from the limit of i32. */
enum { AHEAD_BYTES = 128, AHEAD_TRIPS = 4, AHEAD_REGISTERS = 48, AHEAD_REGISTERS_LARGE = 36, AHEAD_STEP = 1 << 20 };
enum { AHEAD_NEXT_BYTES = 32 }; /* of a thread, that a trip loads for the next one */
/* Loops of a known number of trips that all go at once are no loops any more where a thread loads so many bytes in all:
 * RMS norms f16 of 1024 columns in pieces of 512 took 94 us and take 70. Longer rows of kernels that read them again
 * are better with the registers of a loop, which leave room for fewer blocks (f32 of 2048 columns: 271 us, 289; H200).
 */
enum { AHEAD_WHOLE_BYTES = 32 };
/* Where a thread loads one vector of each tile, two trips keep 32 registers a thread, as one does: all threads that a
 * multiprocessor has room for have more on their way than the fewer ones of four trips, and a loop that turns out to be
 * of one trip loses nothing (RMS norms f16 of 1024 columns: 72 us with one trip at once, 92 with four, on an H200). */
enum { AHEAD_VECTOR_BYTES = 16, AHEAD_VECTOR_TRIPS = 2 };

enum { AHEAD_COPY_BYTES = 65536 }; /* of a block, that a trip copies to shared memory for the next one */

/* In `trips`: a loop whose trips load for the next one into registers, or copy for it into shared memory. */
enum { AHEAD_NEXT = UINT8_MAX, AHEAD_COPY = UINT8_MAX - 1 };

typedef struct ahead_job {
    const ts_fn *fn;
    ts_shape shape;
    ts_alias alias;
    ts_builder b;
    uint32_t threads;
    ts_val *map;       /* of the function */
    ts_val *trip;      /* [trip * n + value] of the loop at hand */
    uint8_t *early;    /* [value] of the loop at hand: a load that goes ahead, or what its place follows from */
    uint8_t *trips;    /* [loop] how many at once; 0: it stays */
    uint32_t most;     /* of them */
    bool asked;        /* for that many, by the hint num_stages */
    bool copies;       /* the target has cp.async */
    bool products;     /* the function has some */
    bool again;        /* loops go over the same memory */
    bool whole;        /* of the loop at hand: its trips at once are all there are */
    ts_val *values;    /* that the loop at hand carries */
} ahead_job;

/* ---- which loops ---------------------------------------------------------------------------------------------- */

static bool ahead_is_load(const ts_inst *inst)
{
    return inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko;
}

/* Bytes of a thread that tiles of this type take. */
static uint32_t ahead_bytes(const ahead_job *job, ts_type type)
{
    const ts_module *module = job->fn->module;
    if (ts_type_kind(module, type) != TS_KIND_TILE || !ts_type_bits(module, ts_type_elem(module, type)))
        return 0;
    uint64_t bits = (uint64_t)ts_type_count(module, type) * ts_type_bits(module, ts_type_elem(module, type));
    return (uint32_t)TS_MIN(bits / 8 / job->threads, 1u << 16);
}

/* Nothing in the loop but arithmetic, reductions, loads and stores that order nothing. */
static bool ahead_is_plain(const ahead_job *job, ts_val loop)
{
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++) {
        const ts_inst *inst = ts_at(job->fn, v);
        uint32_t flags = ts_info(inst)->flags;
        bool store = inst->op == TS_OP_store_view_tko || inst->op == TS_OP_store_ptr_tko;
        if (inst->op == TS_OP_for || inst->op == TS_OP_loop || inst->op == TS_OP_if || flags & TS_SIDE ||
            (flags & (TS_READ | TS_WRITE) && ((!ahead_is_load(inst) && !store) || ts__alias_orders(job->fn, v) ||
                                              TS_M_GET_ORDER(inst->aux) != TS_WEAK)))
            return false;
    }
    return true;
}

/* No store of the loop may meet the load. */
static bool ahead_is_read_only(const ahead_job *job, ts_val loop, ts_val load)
{
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++)
        if (ts_info(ts_at(job->fn, v))->flags & TS_WRITE && !ts__alias_apart(&job->alias, v, load))
            return false;
    return true;
}

static bool ahead_follow(ahead_job *job, ts_val loop, ts_val v);

/* All operands of `v`, then itself. */
static bool ahead_follow_operands(ahead_job *job, ts_val loop, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!ahead_follow(job, loop, ts_opnds(job->fn, inst)[i]))
            return false;
    job->early[v] = 1;
    return true;
}

/* Marks what the place of `v` follows from within the loop; false where it depends on a carried value or memory. */
static bool ahead_follow(ahead_job *job, ts_val loop, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    if (v <= loop + 1 || job->early[v])
        return true;
    if (job->shape.parent[v] != loop || !(ts_info(inst)->flags & TS_PURE) || ts_info(inst)->flags & TS_REGION ||
        inst->op == TS_OP_arg || inst->op == TS_OP_res || inst->op == TS_OP_token)
        return false;
    return ahead_follow_operands(job, loop, v);
}

/* Does the trip itself read what it loads, and not only a later one? */
static bool ahead_is_read(const ahead_job *job, ts_val loop, ts_val load)
{
    for (ts_val v = load + 1; v < job->shape.end[loop]; v++)
        for (uint32_t i = 0; i < ts_at(job->fn, v)->n_opnd; i++)
            if (ts_opnds(job->fn, ts_at(job->fn, v))[i] == load && ts_at(job->fn, v)->op != TS_OP_continue)
                return true;
    return false;
}

static bool ahead_load(ahead_job *job, ts_val loop, ts_val v)
{
    const ts_inst *inst = ts_at(job->fn, v);
    if (!ahead_is_load(inst) || !ahead_is_read(job, loop, v) || job->shape.parent[v] != loop ||
        ts__opnd_token(inst) != TS_NO || !ahead_is_read_only(job, loop, v))
        return false;
    return ahead_follow_operands(job, loop, v);
}

/* From a number that is no less than zero on, in steps that are known: numbers of trips do not wrap. */
static bool ahead_counts(const ts_fn *fn, ts_val loop)
{
    int64_t lower, step;
    return ts__const_as_int(fn, ts_opnd(fn, loop, 0), &lower) && ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step) &&
           lower >= 0 && lower < AHEAD_STEP && step > 0 && step < AHEAD_STEP &&
           ts_type_of(fn, ts_opnd(fn, loop, 0)) == TS_T_i32 && !(ts_at(fn, loop)->aux & TS_A_UNSIGNED);
}

/* Trips of a loop whose numbers are all known; no more than UINT32_MAX. */
static uint32_t ahead_known(const ts_fn *fn, ts_val loop)
{
    int64_t lower, upper, step;
    if (!ts__const_as_int(fn, ts_opnd(fn, loop, 0), &lower) || !ts__const_as_int(fn, ts_opnd(fn, loop, 1), &upper) ||
        !ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step) || step <= 0)
        return UINT32_MAX;
    return upper <= lower ? 0 : (uint32_t)TS_MIN((upper - lower + step - 1) / step, (int64_t)UINT32_MAX);
}

/* May a load that goes ahead be made for a trip that does not come? Places outside the array read nothing. */
static bool ahead_is_safe(const ahead_job *job, ts_val load)
{
    const ts_inst *inst = ts_at(job->fn, load);
    return inst->op == TS_OP_load_view_tko && !TS_M_GET_INBOUNDS(inst->aux);
}

/* How a loop in steps that are not known loads `bytes` a thread for the next trip. Copies are made for trips that come
 * alone, by sm_80 and later ones. */
static uint32_t ahead_next_trip(const ahead_job *job, ts_val loop, uint32_t bytes, bool safe)
{
    if (!bytes || ts_type_of(job->fn, loop + 1) != TS_T_i32 || job->most < 2)
        return 0;
    if (bytes <= AHEAD_NEXT_BYTES)
        return safe ? AHEAD_NEXT : 0;
    return (uint64_t)bytes * job->threads <= AHEAD_COPY_BYTES && job->copies ? AHEAD_COPY : 0;
}

/* Trips at once; 0: one. Marks what goes ahead. */
static uint32_t ahead_trips(ahead_job *job, ts_val loop)
{
    bool counts = false, safe = true;
    uint32_t loads = 0, held = 0, trips = 1, room = job->threads > 128 ? AHEAD_REGISTERS_LARGE : AHEAD_REGISTERS;
    uint32_t widest = 0, most = job->most;
    if (ts_at(job->fn, loop)->op != TS_OP_for || !ahead_is_plain(job, loop))
        return 0;
    counts = ahead_counts(job->fn, loop);
    memset(job->early + loop, 0, job->shape.end[loop] - loop);
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++) {
        if (ts_at(job->fn, v)->op == TS_OP_arg)
            held += ahead_bytes(job, ts_type_of(job->fn, v)) / 4;
        else if (ahead_load(job, loop, v)) {
            uint32_t bytes = ahead_bytes(job, ts_type_of(job->fn, v));
            loads += bytes;
            widest = TS_MAX(widest, bytes);
            safe = safe && ahead_is_safe(job, v);
        }
    }
    if (job->products)
        return loads > AHEAD_VECTOR_BYTES && ahead_next_trip(job, loop, loads, false) == AHEAD_COPY ? AHEAD_COPY : 0;
    if (!counts)
        return ahead_next_trip(job, loop, loads, safe);
    if (widest <= AHEAD_VECTOR_BYTES && !job->asked && !job->again)
        most = TS_MIN(most, (uint32_t)AHEAD_VECTOR_TRIPS);
    uint32_t known = ahead_known(job->fn, loop);
    most = TS_MIN(most, known);
    while (loads && 2 * trips <= most && trips * loads < AHEAD_BYTES && 2 * trips * loads / 4 + held <= room)
        trips *= 2;
    job->whole = trips == known && trips * loads <= AHEAD_WHOLE_BYTES;
    return trips > 1 ? trips : 0;
}

/* ---- rewriting ------------------------------------------------------------------------------------------------ */

static ts_val ahead_carried(const ahead_job *job, ts_val loop, uint32_t i)
{
    return ts_region_arg(job->fn, loop, 1 + i);
}

static uint32_t ahead_n_carried(const ahead_job *job, ts_val loop)
{
    return ts_at(job->fn, loop)->n_opnd - 3u;
}

/* The end of the trips that come several at once. */
static ts_val ahead_middle(ahead_job *job, ts_val loop, int64_t group)
{
    ts_builder *b = &job->b;
    ts_val lower = job->map[ts_opnd(job->fn, loop, 0)], upper = job->map[ts_opnd(job->fn, loop, 1)];
    ts_val span = ts_op2(b, TS_OP_subi, ts_op2(b, TS_OP_maxi, upper, lower, 0), lower, 0);
    ts_val by = ts_int(b, TS_T_i32, group);
    span = ts_op2(b, TS_OP_muli, ts_op2(b, TS_OP_divi, span, by, TS_A_UNSIGNED), by, 0);
    return ts_op2(b, TS_OP_addi, lower, span, 0);
}

/* Instructions of the loop's body but its end, with operands by `map`: those that go ahead, or the others. */
static void ahead_copy(ahead_job *job, ts_val loop, ts_val *map, bool early)
{
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++) {
        const ts_inst *inst = ts_at(job->fn, v);
        bool own = job->shape.parent[v] == loop;
        if ((own && (inst->op == TS_OP_arg || inst->op == TS_OP_continue)) || (job->early[v] != 0) != early)
            continue;
        ts__copy(&job->b, job->fn, v, map);
    }
}

static ts_val ahead_continue(const ahead_job *job, ts_val loop)
{
    ts_val v = job->shape.end[loop] - 1;
    ts_assert(ts_at(job->fn, v)->op == TS_OP_continue);
    return v;
}

/* The trips of one group from `first` on: all of their loads, then the rest of each. */
static void ahead_group(ahead_job *job, ts_val loop, ts_val first, ts_val *values)
{
    ts_builder *b = &job->b;
    const ts_fn *fn = job->fn;
    uint32_t n = ahead_n_carried(job, loop), trips = job->trips[loop], all = fn->inst.n;
    int64_t step = 0;
    (void)ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step);
    for (uint32_t t = 0; t < trips; t++) {
        ts_val *map = job->trip + (size_t)t * all;
        memcpy(map, job->map, all * sizeof *map);
        map[loop + 1] = t ? ts_op2(b, TS_OP_addi, first, ts_int(b, TS_T_i32, step * t), 0) : first;
        ahead_copy(job, loop, map, true);
    }
    for (uint32_t t = 0; t < trips; t++) {
        ts_val *map = job->trip + (size_t)t * all;
        for (uint32_t i = 0; i < n; i++)
            map[ahead_carried(job, loop, i)] = values[i];
        ahead_copy(job, loop, map, false);
        for (uint32_t i = 0; i < n; i++)
            values[i] = map[ts_opnd(fn, ahead_continue(job, loop), i)];
    }
}

/* The loop over groups of trips, or the only one; `values` are what it carries, before and after. */
static void ahead_groups(ahead_job *job, ts_val loop, ts_val middle, ts_val *values)
{
    ts_builder *b = &job->b;
    const ts_fn *fn = job->fn;
    uint32_t n = ahead_n_carried(job, loop), trips = job->trips[loop];
    int64_t step = 0;
    (void)ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step);
    ts_val lower = job->map[ts_opnd(fn, loop, 0)];
    ts__note(fn, loop, TS_NOTE_pipeline, "registers", "loads of %u trips at once", trips);
    if (job->whole) {
        ahead_group(job, loop, lower, values);
        return;
    }
    ts_val opener = ts_for_begin(b, lower, middle, ts_int(b, TS_T_i32, step * trips), n, values, 0);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_region_arg(b->fn, opener, 1 + i);
    ahead_group(job, loop, ts_region_arg(b->fn, opener, 0), values);
    ts_term(b, TS_OP_continue, n, values);
    ts_end_like(b, opener);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_res(b, opener, i);
}

/* The rest of the trips, and the results. */
static void ahead_rest(ahead_job *job, ts_val loop, ts_val middle, ts_val *values)
{
    ts_builder *b = &job->b;
    const ts_fn *fn = job->fn;
    uint32_t n = ahead_n_carried(job, loop);
    ts_val upper = job->map[ts_opnd(fn, loop, 1)], first = job->shape.end[loop] + 1;
    uint32_t known = ahead_known(fn, loop);
    if (known != UINT32_MAX && known % job->trips[loop] == 0) {
        memcpy(job->map + first, values, n * sizeof *values);
        return;
    }
    ts_val opener = ts_for_begin(b, middle, upper, job->map[ts_opnd(fn, loop, 2)], n, values, 0);
    job->map[loop + 1] = ts_region_arg(b->fn, opener, 0);
    for (uint32_t i = 0; i < n; i++)
        job->map[ahead_carried(job, loop, i)] = ts_region_arg(b->fn, opener, 1 + i);
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++)
        if (job->shape.parent[v] != loop || ts_at(fn, v)->op != TS_OP_arg)
            ts__copy(b, fn, v, job->map);
    ts_end_like(b, opener);
    for (uint32_t i = 0; i < n; i++)
        job->map[first + i] = ts_res(b, opener, i);
}

/* The loop whose trips load for the next one. */
static void ahead_next(ahead_job *job, ts_val loop)
{
    ts_builder *b = &job->b;
    const ts_fn *fn = job->fn;
    uint32_t n = ahead_n_carried(job, loop), all = n;
    ts_val *now = job->map, *next = job->trip, *values = job->values;
    ts_val lower = now[ts_opnd(fn, loop, 0)], step = now[ts_opnd(fn, loop, 2)];
    ts__note(fn, loop, TS_NOTE_pipeline, "registers", "each trip loads for the next one");
    memcpy(next, now, fn->inst.n * sizeof *next);
    next[loop + 1] = lower;
    ahead_copy(job, loop, next, true);
    for (uint32_t i = 0; i < n; i++)
        values[i] = now[ts_opnd(fn, loop, 3 + i)];
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++)
        if (job->early[v] && ahead_is_load(ts_at(fn, v)))
            values[all++] = next[v];
    ts_val opener = ts_for_begin(b, lower, now[ts_opnd(fn, loop, 1)], step, all, values, ts_at(fn, loop)->aux);
    for (uint32_t i = 0; i <= n; i++)
        now[loop + 1 + i] = ts_region_arg(b->fn, opener, i);
    next[loop + 1] = ts_op2(b, TS_OP_addi, now[loop + 1], step, 0);
    ahead_copy(job, loop, next, true);
    all = n;
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++) {
        bool own = job->shape.parent[v] == loop, load = job->early[v] && ahead_is_load(ts_at(fn, v));
        if (load)
            now[v] = ts_region_arg(b->fn, opener, 1 + all++);
        else if (!own || (ts_at(fn, v)->op != TS_OP_arg && ts_at(fn, v)->op != TS_OP_continue))
            ts__copy(b, fn, v, now);
    }
    for (uint32_t i = 0; i < n; i++)
        values[i] = now[ts_opnd(fn, ahead_continue(job, loop), i)];
    all = n;
    for (ts_val v = loop + 1; v < job->shape.end[loop]; v++)
        if (job->early[v] && ahead_is_load(ts_at(fn, v)))
            values[all++] = next[v];
    ts_term(b, TS_OP_continue, all, values);
    ts_end_like(b, opener);
    for (uint32_t i = 0; i < n; i++)
        now[job->shape.end[loop] + 1 + i] = ts_res(b, opener, i);
}

static void ahead_loop(ahead_job *job, ts_val loop)
{
    const ts_fn *fn = job->fn;
    uint32_t n = ahead_n_carried(job, loop);
    ts_val *values = job->values;
    int64_t step = 0;
    (void)ahead_trips(job, loop);
    if (job->trips[loop] == AHEAD_NEXT) {
        ahead_next(job, loop);
        return;
    }
    (void)ts__const_as_int(fn, ts_opnd(fn, loop, 2), &step);
    for (uint32_t i = 0; i < n; i++)
        values[i] = job->map[ts_opnd(fn, loop, 3 + i)];
    ts_val middle = ahead_middle(job, loop, step * job->trips[loop]);
    ahead_groups(job, loop, middle, values);
    ahead_rest(job, loop, middle, values);
}

static ts_status ahead_rewrite(ahead_job *job, ts_fn *fn, ts_fn *fresh, ts_error *err)
{
    ts__builder_init(&job->b, fresh);
    job->b.fold = true;
    for (ts_val v = 1; v < fn->inst.n && !ts__module_failed(fn->module); v++) {
        if (!job->trips[v]) {
            ts__copy(&job->b, fn, v, job->map);
            continue;
        }
        ahead_loop(job, v);
        v = job->shape.end[v] + ahead_n_carried(job, v);
    }
    TS_TRY(ts_builder_status(&job->b, err));
    ts__fn_replace(fn, fresh);
    return TS_OK;
}

static bool ahead_has_products(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_mmaf || ts_at(fn, v)->op == TS_OP_mmai || ts_at(fn, v)->op == TS_OP_mmaf_scaled)
            return true;
    return false;
}

/* Looks at all loops; false when memory is out. */
static bool ahead_plan(ahead_job *job, const ts_pass_env *env, ts_arena *arena)
{
    uint32_t n = job->fn->inst.n, asked = env->hints ? env->hints->num_stages : 0;
    job->asked = asked != 0;
    job->most = asked ? TS_MIN(asked, (uint32_t)AHEAD_TRIPS) : AHEAD_TRIPS;
    job->copies = env->target >= TS_TARGET_SM80;
    job->products = ahead_has_products(job->fn);
    job->again = ts__again(job->fn, arena);
    job->early = TS_NEW_N(arena, uint8_t, n);
    job->trips = TS_NEW_N(arena, uint8_t, n);
    if (!job->early || !job->trips || !ts__shape_of(job->fn, arena, &job->shape) ||
        !ts__alias_of(job->fn, arena, &job->alias))
        return false;
    for (ts_val v = 1; v < n; v++)
        job->trips[v] = (uint8_t)ahead_trips(job, v);
    return true;
}

static bool ahead_applies(const ts_fn *fn, const ts_pass_env *env)
{
    return !ts__pass_plan(env) && fn->level == TS_LEVEL_T;
}

/* Not what is left of a loop that takes several trips at once: it begins where that ended, and has few trips. */
static bool ahead_is_copied(const ahead_job *job, ts_val loop)
{
    return job->trips[loop] == AHEAD_COPY && !ts__again_goes_on(job->fn, loop);
}

bool ts__ahead_copies(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, uint32_t threads, uint8_t *copied)
{
    ahead_job job = {.fn = fn, .threads = threads};
    if (!ahead_applies(fn, env))
        return true;
    if (!ahead_plan(&job, env, arena))
        return false;
    for (ts_val loop = 1; loop < fn->inst.n; loop++)
        for (ts_val v = loop + 1; ahead_is_copied(&job, loop) && v < job.shape.end[loop]; v++)
            copied[v] = job.early[v] && ts_at(fn, v)->op == TS_OP_load_view_tko;
    return true;
}

ts_status ts__ahead_run(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ahead_job job = {.fn = fn};
    ts_assign assign = {0};
    uint32_t n = fn->inst.n, loops = 0;
    if (!ahead_applies(fn, env) || ahead_has_products(fn))
        return TS_OK;
    ts__assign_warps(&assign, fn, env);
    job.threads = 32u << assign.n_warp;
    job.map = TS_NEW_N(env->scratch, ts_val, n);
    job.trip = TS_NEW_N(env->scratch, ts_val, (size_t)n * AHEAD_TRIPS);
    job.values = TS_NEW_N(env->scratch, ts_val, n);
    if (!job.values || !job.map || !job.trip || !ahead_plan(&job, env, env->scratch))
        return ts_fail(err, TS_NOMEM, "out of memory while planning loads ahead");
    for (ts_val v = 1; v < n; v++) {
        job.trips[v] = job.trips[v] == AHEAD_COPY ? 0 : job.trips[v];
        loops += job.trips[v] != 0;
    }
    if (!loops)
        return TS_OK;
    ts_fn *fresh = ts__fn_create_like(fn);
    return fresh ? ahead_rewrite(&job, fn, fresh, err)
                 : ts_fail(err, TS_NOMEM, "out of memory while planning loads ahead");
}
