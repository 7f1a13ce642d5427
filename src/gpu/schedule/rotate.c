/* SPDX-License-Identifier: Apache-2.0
 *
 * The consumers' side of a rotated loop (rotate_plan.c tells which, ADR 0007 why). Scores of step j and
 * the second product of step j - 1 are in flight together, and the softmax between them runs behind the second:
 *
 *     if (lower < upper)
 *         FIRST(lower); wait; MIDDLE(lower)                  peeled
 *         for j from lower + step
 *             loads of FIRST(j)
 *             the other warpgroup lets this one begin
 *             products of FIRST(j)                           commit
 *             SECOND(j - 1)                                  rescale, commit
 *             let the other warpgroup begin
 *             wait: FIRST is done                            release its stages
 *             MIDDLE(j)
 *             wait: SECOND is done                           release its stages
 *             operands of SECOND(j) to 16 bits
 *         SECOND(last); wait
 *
 * Values of MIDDLE that SECOND reads are carried by the loop: operands a as packed words, others in their home
 * layout. The producer knows nothing of this: loads come in the order of the original loop. In the body every
 * `if` that only the first step takes is gone. Where an `if` asks whether the step has come to a bound, as for the
 * blocks that a mask cuts, the loop is two, one up to the bound and one behind it, neither of which asks.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/schedule/ring.h"
#include "gpu/schedule/turn.h"
#include "gpu/schedule/wgmma.h"
#include "gpu/plan/rotate.h"
#include "gpu/lower/code.h"

typedef struct rotate_job {
    ts_lower *lw;
    ts_val loop, last;
    ts_vals cross;  /* what SECOND reads of the other phases */
    ts_vals fresh;  /* written anew there: values without a home, constants */
    ts_val second[TS_ROTATE_PRODUCTS];
    uint32_t n_second;
    const ts_val *carried;                /* thread values of `cross`, then the fragments of each product */
    int64_t least, most;                  /* bounds of the induction variable, where known */
    bool has_least, has_most;
    ts_val asked;                         /* comparison of the induction variable with a bound; 0 = none */
    int answer;                           /* what it gives in the trips that are written: -1 not known */
} rotate_job;

static uint8_t rotate_phase(const rotate_job *job, ts_val v)
{
    return job->lw->assign.tma.phase[v];
}

static uint32_t rotate_n_args(const rotate_job *job)
{
    return ts_at(job->lw->tile, job->last)->n_opnd;
}

static bool rotate_in_body(const rotate_job *job, ts_val v)
{
    return v > job->loop && v < job->last;
}

static bool rotate_has(const ts_vals *list, ts_val v)
{
    for (uint32_t i = 0; i < list->v.n; i++)
        if (list->v.at[i] == v)
            return true;
    return false;
}

/* ---- what goes from one trip to the next ------------------------------------------------------------ */

static void rotate_cross(rotate_job *job, ts_val v)
{
    const ts_lower *lw = job->lw;
    const ts_inst *inst = ts_at(lw->tile, v);
    bool tile = ts_type_kind(lw->module, inst->type) == TS_KIND_TILE;
    bool fresh = inst->op == TS_OP_constant || (tile && !lw->assign.home[v] && inst->op != TS_OP_arg);
    if (!rotate_in_body(job, v) || rotate_phase(job, v) == TS_PHASE_SECOND || rotate_has(&job->cross, v) ||
        rotate_has(&job->fresh, v))
        return;
    for (uint32_t i = 0; fresh && i < inst->n_opnd && inst->op != TS_OP_constant; i++)
        rotate_cross(job, ts_opnds(lw->tile, inst)[i]);
    (void)TS_PUSH(lw->arena, fresh ? &job->fresh.v : &job->cross.v, v);
}

static void rotate_collect(rotate_job *job)
{
    ts_lower *lw = job->lw;
    for (ts_val v = job->loop + 1; v < job->last; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        if (rotate_phase(job, v) != TS_PHASE_SECOND || inst->op == TS_OP_arg)
            continue;
        bool product = ts__wgmma_of(&lw->assign.tma, v) != NULL;
        if (product)
            job->second[job->n_second++] = v;
        for (uint32_t i = product ? 2 : 0; i < inst->n_opnd; i++)
            rotate_cross(job, ts_opnds(lw->tile, inst)[i]);
    }
}

static void rotate_push(ts_lower *lw, ts_vals *out, uint32_t n, const ts_val *values)
{
    for (uint32_t i = 0; i < n; i++)
        (void)TS_PUSH(lw->arena, &out->v, values[i]);
}

/* The carried values as the loop's continue gives them: accumulators come from SECOND when it ran. */
static void rotate_next(rotate_job *job, bool ran, ts_vals *out)
{
    ts_lower *lw = job->lw;
    for (uint32_t i = 0; i < rotate_n_args(job); i++) {
        ts_val arg = job->loop + 2 + i, next = ts_opnd(lw->tile, job->last, i);
        ts__lower_expand(lw, ran || rotate_phase(job, arg) != TS_PHASE_SECOND ? next : arg, arg, out);
    }
    for (uint32_t i = 0; i < job->cross.v.n; i++)
        ts__lower_expand(lw, job->cross.v.at[i], job->cross.v.at[i], out);
    for (uint32_t i = 0; i < job->n_second; i++) {
        uint32_t n;
        const ts_val *fragments = ts__wgmma_fragments(lw, job->second[i], &n);
        rotate_push(lw, out, n, fragments);
    }
    ts__ring_loop_next(lw, job->loop, out);
}

/* Gives the carried values, as arguments or results from `first` on, the thread values from `from` on. */
static const ts_val *rotate_bind(rotate_job *job, ts_val first, const ts_val *from)
{
    for (uint32_t i = 0; i < rotate_n_args(job); i++)
        from = ts__lower_bind(job->lw, first + i, from);
    return from;
}

/* ---- phases ----------------------------------------------------------------------------------------- */

/* FIRST in two parts: plain loads with what they need, then the products with their tiles. Branches and addresses of
 * loads between products would keep the next ones from the tensor cores. */
static void rotate_first(rotate_job *job, bool products)
{
    ts_lower *lw = job->lw;
    for (ts_val v = job->loop + 1; v < job->last && lw->status == TS_OK; v++) {
        bool product = ts__wgmma_of(&lw->assign.tma, v), tile = ts__tma_load_of(&lw->assign.tma, v);
        if (rotate_phase(job, v) != TS_PHASE_FIRST || (product || tile) != products)
            continue;
        if (product)
            ts__wgmma_start(lw, v, NULL);
        else
            (void)ts__lower_inst(lw, v);
    }
}

/* Frees the stages that products of this phase were the last to read, of step `count`. */
static void rotate_release(rotate_job *job, ts_phase phase, ts_val count)
{
    const ts_tma *tma = &job->lw->assign.tma;
    for (uint32_t i = 0; i < tma->groups.n; i++)
        if (tma->groups.at[i].loop == job->loop && rotate_phase(job, tma->groups.at[i].last) == phase)
            ts__wgmma_release(job->lw, &tma->groups.at[i], count);
}

/* The same for what the loop around loads, after the last product of this phase. */
static void rotate_leave(rotate_job *job, ts_phase phase)
{
    const ts_tma *tma = &job->lw->assign.tma;
    for (uint32_t i = 0; i < tma->groups.n; i++)
        if (tma->groups.at[i].within == job->loop && rotate_phase(job, tma->groups.at[i].last) == phase)
            ts__wgmma_release(job->lw, &tma->groups.at[i], tma->loops.at[tma->groups.at[i].at].count);
}

static ts_tma_loop *rotate_counter(rotate_job *job)
{
    ts_tma *tma = &job->lw->assign.tma;
    for (uint32_t i = 0; i < tma->loops.n; i++)
        if (tma->loops.at[i].opener == job->loop)
            return &tma->loops.at[i];
    return NULL;
}

/* What a signed comparison of the induction variable with `value` gives: 1, 0, or -1 when not known. */
static int rotate_compare(const rotate_job *job, ts_pred pred, int64_t value)
{
    bool over = job->has_least && job->least > value, least = job->has_least && job->least >= value;
    bool under = job->has_most && job->most < value, most = job->has_most && job->most <= value;
    switch (pred) {
    case TS_LT:
        return under ? 1 : least ? 0 : -1;
    case TS_LE:
        return most ? 1 : over ? 0 : -1;
    case TS_GE:
        return least ? 1 : under ? 0 : -1;
    case TS_GT:
        return over ? 1 : most ? 0 : -1;
    case TS_EQ:
        return over || under ? 0 : least && most ? 1 : -1;
    case TS_NE:
        return over || under ? 1 : least && most ? 0 : -1;
    }
    return -1;
}

/* Branch of an `if` that is known to be taken: 1 then, 0 else, -1 not known. */
static int rotate_known(const rotate_job *job, ts_val condition)
{
    const ts_inst *inst = ts_at(job->lw->tile, condition);
    const ts_inst *asked = ts_at(job->lw->tile, job->asked);
    int64_t value;
    if (job->asked && inst->op == asked->op && inst->aux == asked->aux && inst->opnd[0] == asked->opnd[0] &&
        inst->opnd[1] == asked->opnd[1])
        return job->answer;
    if (inst->op != TS_OP_cmpi || inst->opnd[0] != job->loop + 1 || inst->aux & TS_A_UNSIGNED ||
        !ts__const_as_int(job->lw->tile, inst->opnd[1], &value))
        return -1;
    return rotate_compare(job, TS_A_GET_PRED(inst->aux), value);
}

static void rotate_middle(rotate_job *job, ts_val from, ts_val to);

/* Only the branch that is taken; its values become the results. Returns the last instruction handled. */
static ts_val rotate_branch(rotate_job *job, ts_val v, bool then)
{
    ts_lower *lw = job->lw;
    ts_val otherwise = lw->shape.other[v], end = lw->shape.end[v];
    ts_val yield = (then ? otherwise : end) - 1;
    rotate_middle(job, then ? v + 1 : otherwise + 1, yield);
    for (uint32_t i = 0; i < ts_at(lw->tile, yield)->n_opnd; i++) {
        ts_vals values = {0};
        ts__lower_expand(lw, ts_opnd(lw->tile, yield, i), end + 1 + i, &values);
        (void)ts__lower_bind(lw, end + 1 + i, values.v.at);
    }
    return end + ts_at(lw->tile, yield)->n_opnd;
}

static void rotate_middle(rotate_job *job, ts_val from, ts_val to)
{
    ts_lower *lw = job->lw;
    for (ts_val v = from; v < to && lw->status == TS_OK; v++) {
        if (rotate_phase(job, v) != TS_PHASE_MIDDLE)
            continue;
        int known = ts_at(lw->tile, v)->op == TS_OP_if ? rotate_known(job, ts_opnd(lw->tile, v, 0)) : -1;
        v = known < 0 ? ts__lower_inst(lw, v) : rotate_branch(job, v, known);
    }
}

/* Hides what is held of the values that belong to this trip, or shows it again. */
static void rotate_swap(rotate_job *job, const ts_vals *list, uint32_t *newest, ts_val *scalar)
{
    for (uint32_t i = 0; i < list->v.n; i++) {
        ts_val v = list->v.at[i], x = job->lw->values.scalar[v];
        uint32_t y = job->lw->values.newest[v];
        job->lw->values.newest[v] = newest[i];
        job->lw->values.scalar[v] = scalar[i];
        newest[i] = y;
        scalar[i] = x;
    }
}

static void rotate_issue(rotate_job *job)
{
    ts_lower *lw = job->lw;
    const ts_val *from = job->carried;
    for (uint32_t i = 0; i < job->cross.v.n; i++)
        from = ts__lower_bind(lw, job->cross.v.at[i], from);
    for (uint32_t i = 0; i < job->fresh.v.n; i++)
        (void)ts__lower_inst(lw, job->fresh.v.at[i]);
    for (ts_val v = job->loop + 1; v < job->last && lw->status == TS_OK; v++) {
        if (rotate_phase(job, v) != TS_PHASE_SECOND || ts_at(lw->tile, v)->op == TS_OP_arg)
            continue;
        if (ts__wgmma_of(&lw->assign.tma, v))
            from = ts__wgmma_start(lw, v, from);
        else
            (void)ts__lower_inst(lw, v);
    }
}

/* SECOND of the step before the current one, from the carried values; its results are held when it returns. */
static void rotate_second(rotate_job *job)
{
    ts_lower *lw = job->lw;
    ts_tma_loop *counter = rotate_counter(job);
    uint32_t n_cross = job->cross.v.n, n_fresh = job->fresh.v.n, mark = lw->values.held.n;
    uint32_t *newest = TS_NEW_N(lw->arena, uint32_t, n_cross + n_fresh + 1);
    ts_val *scalar = TS_NEW_N(lw->arena, ts_val, n_cross + n_fresh + 1), count = counter->count;
    const ts_val *result[TS_ROTATE_PRODUCTS];
    if (!newest || !scalar)
        return; /* the arena remembers */
    counter->count = ts__lower_add(lw, count, -1);
    rotate_swap(job, &job->cross, newest, scalar);
    rotate_swap(job, &job->fresh, newest + n_cross, scalar + n_cross);
    rotate_issue(job);
    for (uint32_t i = 0; i < job->n_second; i++)
        result[i] = ts__lower_get(lw, job->second[i], ts__lower_home(lw, job->second[i]));
    ts__lower_drop(lw, mark);
    rotate_swap(job, &job->cross, newest, scalar);
    rotate_swap(job, &job->fresh, newest + n_cross, scalar + n_cross);
    for (uint32_t i = 0; i < job->n_second; i++)
        ts__lower_set(lw, job->second[i], ts__lower_home(lw, job->second[i]), result[i]);
    counter->count = count;
}

/* ---- turns ------------------------------------------------------------------------------------------- */

/* Two warpgroups in step would both want the tensor cores, then both the exponential: so they issue in turns, and one
 * has its softmax while the products of the other run. The second lets the first begin, once in the function. */
static bool rotate_in_turns(const ts_lower *lw)
{
    return lw->assign.n_warp == 3;
}

static void rotate_consumers(ts_lower *lw)
{
    if (!lw->assign.tma.active || !lw->assign.tma.rotated.n || !rotate_in_turns(lw))
        return;
    ts_val second = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, ts__lower_warpgroup(lw), ts__lower_i32(lw, 1), 0);
    ts_val opener = ts_if_begin(&lw->b, second);
    ts_emit(&lw->b, TS_OP_bar_arrive, TS_T_none, 0, NULL, TS_S(TS_BAR_TURN, 2 * TS_WARPGROUP, 0), 0);
    ts_if_end(&lw->b, opener);
}

/* ---- the loop --------------------------------------------------------------------------------------- */

/* The first step, up to what the loop carries. */
static void rotate_peel(rotate_job *job, const ts_val *start, ts_vals *out)
{
    ts_lower *lw = job->lw;
    uint32_t mark = lw->values.held.n;
    lw->values.scalar[job->loop + 1] = lw->values.scalar[ts_opnd(lw->tile, job->loop, 0)];
    job->has_least = job->has_most = ts__const_as_int(lw->fn, lw->values.scalar[job->loop + 1], &job->least);
    job->most = job->least;
    rotate_bind(job, job->loop + 2, start);
    rotate_first(job, false);
    rotate_first(job, true);
    ts__wgmma_wait(lw, 0);
    rotate_release(job, TS_PHASE_FIRST, rotate_counter(job)->count);
    rotate_middle(job, job->loop + 1, job->last);
    rotate_next(job, false, out);
    ts__lower_drop(lw, mark);
}

static void rotate_body(rotate_job *job, ts_vals *out)
{
    ts_lower *lw = job->lw;
    ts_val count = rotate_counter(job)->count;
    rotate_first(job, false);
    if (rotate_in_turns(lw))
        ts_turn(lw, TS_OP_bar_sync, ts_turn_of(lw, ts__lower_warpgroup(lw)));
    rotate_first(job, true);
    rotate_second(job);
    if (rotate_in_turns(lw))
        ts_turn(lw, TS_OP_bar_arrive, ts_turn_of_other(lw, ts__lower_warpgroup(lw)));
    ts__wgmma_wait(lw, job->n_second);
    rotate_release(job, TS_PHASE_FIRST, count);
    rotate_middle(job, job->loop + 1, job->last);
    ts__wgmma_wait(lw, 0);
    rotate_release(job, TS_PHASE_SECOND, ts__lower_add(lw, count, -1));
    rotate_next(job, true, out);
}

/* Takes arguments or results of a thread-level region, which follow each other from `first` on, for the tile-level
 * ones from `to` on. */
static void rotate_enter(rotate_job *job, const ts_vals *like, ts_val to, ts_val first)
{
    ts_lower *lw = job->lw;
    ts_val *values = TS_NEW_N(lw->arena, ts_val, like->v.n + 1);
    for (uint32_t i = 0; values && i < like->v.n; i++)
        values[i] = first + i;
    if (!values)
        return;
    job->carried = rotate_bind(job, to, values);
    ts__ring_loop_take(lw, job->loop, first + like->v.n - ts__ring_loop_n(lw, job->loop));
}

static void rotate_rest(rotate_job *job)
{
    ts_lower *lw = job->lw;
    rotate_leave(job, TS_PHASE_FIRST);
    rotate_second(job);
    ts__wgmma_wait(lw, 0);
    rotate_leave(job, TS_PHASE_SECOND);
    if (lw->shape.parent[job->loop]) /* else the stage is never filled again */
        rotate_release(job, TS_PHASE_SECOND, ts__lower_add(lw, rotate_counter(job)->count, -1));
}

/* Trips from `from` to `to` with the carried `values`, which are the results afterwards. */
static void rotate_trips(rotate_job *job, ts_val from, ts_val to, ts_vals *values)
{
    ts_lower *lw = job->lw;
    ts_val step = lw->values.scalar[ts_opnd(lw->tile, job->loop, 2)];
    ts_val opener =
        ts_for_begin(&lw->b, from, to, step, values->v.n, values->v.at, ts_at(lw->tile, job->loop)->aux);
    ts__lower_open(lw);
    lw->values.scalar[job->loop + 1] = opener + 1;
    rotate_enter(job, values, job->loop + 2, opener + 2);
    values->v.n = 0;
    rotate_body(job, values);
    ts_term(&lw->b, TS_OP_continue, values->v.n, values->v.at);
    ts__lower_close(lw);
    ts_end_like(&lw->b, opener);
    ts_val first = lw->fn->inst.n - values->v.n;
    for (uint32_t i = 0; i < values->v.n; i++)
        values->v.at[i] = first + i;
    rotate_enter(job, values, job->loop + 2, first);
}

/* An `if` of the body that asks whether the step has come to a bound, a value from before the loop. */
static ts_val rotate_find_asked(const rotate_job *job)
{
    const ts_lower *lw = job->lw;
    int64_t by;
    bool plain = !(ts_at(lw->tile, job->loop)->aux & TS_A_UNSIGNED) &&
                 ts__const_as_int(lw->tile, ts_opnd(lw->tile, job->loop, 2), &by) && by == 1;
    for (ts_val v = job->loop + 1; v < job->last && plain; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        if (inst->op != TS_OP_if || rotate_phase(job, v) != TS_PHASE_MIDDLE || rotate_known(job, inst->opnd[0]) >= 0)
            continue;
        const ts_inst *asked = ts_at(lw->tile, inst->opnd[0]);
        ts_pred pred = TS_A_GET_PRED(asked->aux);
        if (asked->op == TS_OP_cmpi && asked->opnd[0] == job->loop + 1 && asked->opnd[1] < job->loop &&
            !(asked->aux & TS_A_UNSIGNED) && pred != TS_EQ && pred != TS_NE)
            return inst->opnd[0];
    }
    return 0;
}

/* The first step, between `from` and `to`, at which the answer is another one. `to` is above the loop's lower bound. */
static ts_val rotate_bound(rotate_job *job, ts_val from, ts_val to)
{
    ts_lower *lw = job->lw;
    const ts_inst *asked = ts_at(lw->tile, job->asked);
    ts_pred pred = TS_A_GET_PRED(asked->aux);
    ts_val bound = lw->values.scalar[asked->opnd[1]];
    if (pred == TS_GT || pred == TS_LE) /* the bound itself is before it */
        bound = ts__lower_add(lw, ts_op2(&lw->b, TS_OP_mini, bound, ts__lower_add(lw, to, -1), 0), 1);
    else
        bound = ts_op2(&lw->b, TS_OP_mini, bound, to, 0);
    return ts_op2(&lw->b, TS_OP_maxi, bound, from, 0);
}

static void rotate_loop(rotate_job *job, const ts_val *start)
{
    ts_lower *lw = job->lw;
    const uint32_t *bound = ts_opnds(lw->tile, ts_at(lw->tile, job->loop));
    ts_val step = lw->values.scalar[bound[2]], second, upper = lw->values.scalar[bound[1]];
    ts_vals values = {0};
    int64_t by;
    rotate_peel(job, start, &values);
    second = ts_op2(&lw->b, TS_OP_addi, lw->values.scalar[bound[0]], step, 0);
    job->has_most = false;
    job->has_least = job->has_least && ts__const_as_int(lw->fn, step, &by);
    job->least += job->has_least ? by : 0;
    job->asked = rotate_find_asked(job);
    if (job->asked) {
        ts_pred pred = TS_A_GET_PRED(ts_at(lw->tile, job->asked)->aux);
        ts_val middle = rotate_bound(job, second, upper);
        job->answer = pred == TS_LT || pred == TS_LE;
        rotate_trips(job, second, middle, &values);
        job->answer = !job->answer;
        second = middle;
    }
    rotate_trips(job, second, upper, &values);
    job->asked = 0;
    rotate_rest(job);
}

/* ---- around it ---------------------------------------------------------------------------------------- */

static ts_val rotate_result(const rotate_job *job, uint32_t i)
{
    return job->lw->shape.end[job->loop] + 1 + i;
}

/* What the loop gives, from the values of its `continue` or, when it does not run, from its starts. */
static void rotate_yield(rotate_job *job, bool ran, uint32_t n_counts, const ts_val *counts)
{
    ts_lower *lw = job->lw;
    ts_vals values = {0};
    for (uint32_t i = 0; i < rotate_n_args(job); i++) {
        ts_val arg = job->loop + 2 + i, from = ts_opnd(lw->tile, job->loop, 3 + i);
        if (ran)
            from = rotate_phase(job, arg) == TS_PHASE_SECOND ? ts_opnd(lw->tile, job->last, i) : arg;
        ts__lower_expand(lw, from, rotate_result(job, i), &values);
    }
    rotate_push(lw, &values, n_counts, counts);
    ts_term(&lw->b, TS_OP_yield, values.v.n, values.v.at);
}

static void rotate_counts(rotate_job *job, ts_vals *out)
{
    out->v.n = 0;
    ts__ring_loop_values(job->lw, job->loop, out);
}

static ts_val rotate_for(ts_lower *lw, ts_val v)
{
    if (!ts__rotated(&lw->assign.tma, v))
        return 0;
    rotate_job job = {.lw = lw, .loop = v, .last = lw->shape.end[v] - 1};
    const uint32_t *bound = ts_opnds(lw->tile, ts_at(lw->tile, v));
    ts_vals start = {0}, before = {0}, after = {0}, types = {0};
    rotate_collect(&job);
    for (uint32_t i = 0; i < rotate_n_args(&job); i++)
        ts__lower_expand(lw, bound[3 + i], v + 2 + i, &start);
    rotate_counts(&job, &before);
    ts_val runs = ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, lw->values.scalar[bound[0]], lw->values.scalar[bound[1]],
                         ts_at(lw->tile, v)->aux & TS_A_UNSIGNED);
    ts_val opener = ts_if_begin(&lw->b, runs);
    ts__lower_open(lw);
    rotate_loop(&job, start.v.at);
    rotate_counts(&job, &after);
    rotate_yield(&job, true, after.v.n, after.v.at);
    ts__lower_close(lw);
    ts_else(&lw->b);
    ts__lower_open(lw);
    rotate_leave(&job, TS_PHASE_FIRST);
    rotate_leave(&job, TS_PHASE_SECOND);
    rotate_yield(&job, false, before.v.n, before.v.at);
    ts__lower_result_types(lw, v, &types);
    ts__lower_close(lw);
    ts_end(&lw->b, opener, types.v.n, types.v.at);
    rotate_enter(&job, &types, rotate_result(&job, 0), lw->fn->inst.n - types.v.n);
    return rotate_result(&job, rotate_n_args(&job)) - 1;
}

const ts_strategy ts__strategy_rotate = {
    .name = "rotate",
    .consumers = rotate_consumers,
    .loop = rotate_for,
};
