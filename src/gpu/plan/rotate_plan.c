/* SPDX-License-Identifier: Apache-2.0
 *
 * Which loops are rotated (rotate.h), and how their bodies fall into three phases:
 *
 *     FIRST    products into fresh accumulators, with what they need       s = q k^T
 *              loads that depend on neither, so that they come in time     lse
 *     MIDDLE   everything else, in its order                               p = exp2(s - max), sums, shrink
 *     SECOND   products of what MIDDLE made, into accumulators that only   acc = acc * shrink + p v
 *              go round the loop, with the elementwise code on those
 *
 * Conditions, all of the program and none of its names: the accumulators of SECOND are read by SECOND alone; FIRST
 * needs nothing that another FIRST product or a region made; every SECOND product takes operand a from
 * registers and depends on FIRST; scores, accumulators and operands together fit the registers. Cost: a few passes over
 * the body.
 */
#include "gpu/plan/rotate.h"
#include "gpu/plan/tma_plan.h"

/* Registers, of 232 to 240 that a consumer has; operations behind a load that are looked at. */
enum { ROTATE_REGISTERS = 192, ROTATE_STEPS = 16 };

typedef struct rotate_plan {
    const ts_fn *fn;
    const ts_shape *shape;
    const uint32_t *uses;
    ts_tma *tma;
    uint8_t *phase;  /* tma->phase; written for this loop alone */
    uint8_t *scores; /* [value] made from a FIRST product */
    ts_val loop, last;
} rotate_plan;

bool ts__rotated(const ts_tma *tma, ts_val loop)
{
    for (uint32_t i = 0; i < tma->rotated.n; i++)
        if (tma->rotated.at[i] == loop)
            return true;
    return false;
}

/* ---- SECOND ---------------------------------------------------------------------------------------- */

/* Position among the operands of `continue`; TS_NO when it is not there. */
static uint32_t rotate_slot(const rotate_plan *r, ts_val v)
{
    const ts_inst *term = ts_at(r->fn, r->last);
    for (uint32_t i = 0; i < term->n_opnd; i++)
        if (ts_opnds(r->fn, term)[i] == v)
            return i;
    return TS_NO;
}

static bool rotate_is_candidate(const rotate_plan *r, const ts_wgmma *p)
{
    return r->shape->parent[p->mma] == r->loop && p->a == TS_NO && r->uses[p->mma] == 1 &&
           rotate_slot(r, p->mma) != TS_NO;
}

static uint32_t rotate_mark_accumulators(const rotate_plan *r)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->tma->products.n; i++) {
        const ts_wgmma *p = &r->tma->products.at[i];
        if (!rotate_is_candidate(r, p))
            continue;
        r->phase[r->loop + 2 + rotate_slot(r, p->mma)] = TS_PHASE_SECOND;
        n++;
    }
    return n <= TS_ROTATE_PRODUCTS ? n : 0;
}

static bool rotate_reads(const rotate_plan *r, ts_val v, uint8_t phase)
{
    const ts_inst *inst = ts_at(r->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (r->phase[ts_opnds(r->fn, inst)[i]] == phase)
            return true;
    return false;
}

/* What reads an accumulator joins SECOND, if it may. */
static bool rotate_may_be_second(const rotate_plan *r, ts_val v)
{
    const ts_inst *inst = ts_at(r->fn, v);
    const ts_wgmma *p = NULL;
    if (v == r->last)
        return true;
    for (uint32_t i = 0; i < r->tma->products.n; i++)
        p = r->tma->products.at[i].mma == v ? &r->tma->products.at[i] : p;
    if (p)
        return rotate_is_candidate(r, p) && r->phase[inst->opnd[0]] != TS_PHASE_SECOND;
    return r->shape->parent[v] == r->loop && (ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_broadcast);
}

/* Only products go on to the next trip, each to its own accumulator. */
static bool rotate_hands_on(const rotate_plan *r)
{
    const ts_inst *term = ts_at(r->fn, r->last);
    for (uint32_t i = 0; i < term->n_opnd; i++) {
        ts_val v = ts_opnds(r->fn, term)[i];
        bool product = ts_at(r->fn, v)->op == TS_OP_mmaf && r->phase[v] == TS_PHASE_SECOND;
        if ((r->phase[v] == TS_PHASE_SECOND) != (r->phase[r->loop + 2 + i] == TS_PHASE_SECOND) ||
            (r->phase[v] == TS_PHASE_SECOND && !product))
            return false;
    }
    return true;
}

static bool rotate_mark_second(const rotate_plan *r)
{
    for (ts_val v = r->loop + 1; v <= r->last; v++) {
        if (!rotate_reads(r, v, TS_PHASE_SECOND))
            continue;
        if (!rotate_may_be_second(r, v))
            return false;
        if (v != r->last)
            r->phase[v] = TS_PHASE_SECOND;
    }
    return rotate_hands_on(r);
}

/* ---- FIRST ----------------------------------------------------------------------------------------- */

static bool rotate_is_load(const rotate_plan *r, ts_val v)
{
    return ts__tma_load_at(r->tma, v) != NULL;
}

static bool rotate_mark_needed(const rotate_plan *r, ts_val v)
{
    const ts_inst *inst = ts_at(r->fn, v);
    if (v <= r->loop || inst->op == TS_OP_arg)
        return r->phase[v] != TS_PHASE_SECOND;
    if (r->phase[v] == TS_PHASE_FIRST)
        return inst->op != TS_OP_mmaf;
    bool simple = ts_info(inst)->flags & TS_PURE && !(ts_info(inst)->flags & (TS_REGION | TS_READ)) &&
                  inst->op != TS_OP_res && inst->op != TS_OP_mmaf;
    if (r->shape->parent[v] != r->loop || r->phase[v] == TS_PHASE_SECOND || !(simple || rotate_is_load(r, v)))
        return false;
    r->phase[v] = TS_PHASE_FIRST;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!rotate_mark_needed(r, ts_opnds(r->fn, inst)[i]))
            return false;
    return true;
}

static bool rotate_mark_first(const rotate_plan *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->tma->products.n; i++) {
        const ts_wgmma *p = &r->tma->products.at[i];
        if (r->shape->parent[p->mma] != r->loop || r->phase[p->mma] == TS_PHASE_SECOND)
            continue;
        if (p->a == TS_NO || r->tma->loads.at[p->a].by_consumers) /* its operand would have to be made first */
            return false;
        for (uint32_t k = 0; k < 3; k++)
            if (!rotate_mark_needed(r, ts_opnd(r->fn, p->mma, k)))
                return false;
        r->phase[p->mma] = TS_PHASE_FIRST;
        any = true;
    }
    return any;
}

static bool rotate_is_weak_load(const ts_inst *inst)
{
    return (inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko) && TS_M_GET_ORDER(inst->aux) == TS_WEAK;
}

/* Nothing that a product or a region made goes into it; `steps` bounds the walk. */
static bool rotate_is_early(const rotate_plan *r, ts_val v, uint32_t steps)
{
    const ts_inst *inst = ts_at(r->fn, v);
    if (v <= r->loop || inst->op == TS_OP_arg || r->phase[v] == TS_PHASE_FIRST)
        return r->phase[v] != TS_PHASE_SECOND && inst->op != TS_OP_mmaf;
    bool simple = ts_info(inst)->flags & TS_PURE && !(ts_info(inst)->flags & TS_REGION) && inst->op != TS_OP_res &&
                  inst->op != TS_OP_mmaf;
    if (r->shape->parent[v] != r->loop || r->scores[v] || !(simple || rotate_is_weak_load(inst)) ||
        steps == ROTATE_STEPS)
        return false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!rotate_is_early(r, ts_opnds(r->fn, inst)[i], steps + 1))
            return false;
    return true;
}

static void rotate_mark_early(const rotate_plan *r, ts_val v)
{
    const ts_inst *inst = ts_at(r->fn, v);
    if (v <= r->loop || inst->op == TS_OP_arg || r->phase[v] == TS_PHASE_FIRST)
        return;
    r->phase[v] = TS_PHASE_FIRST;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        rotate_mark_early(r, ts_opnds(r->fn, inst)[i]);
}

/* Plain loads of a body that writes nothing start with the products, so that their latency is hidden too. */
static void rotate_start_loads(const rotate_plan *r)
{
    for (ts_val v = r->loop + 1; v < r->last; v++)
        if (ts_info(ts_at(r->fn, v))->flags & (TS_WRITE | TS_SIDE))
            return;
    for (ts_val v = r->loop + 1; v < r->last; v++)
        if (rotate_is_weak_load(ts_at(r->fn, v)) && r->phase[v] == TS_PHASE_MIDDLE && !rotate_is_load(r, v) &&
            rotate_is_early(r, v, 0))
            rotate_mark_early(r, v);
}

/* ---- all together ----------------------------------------------------------------------------------- */

/* Values made from FIRST products; what a region makes of them counts for its opener too. */
static void rotate_follow_scores(const rotate_plan *r)
{
    for (ts_val v = r->loop + 1; v < r->last; v++) {
        const ts_inst *inst = ts_at(r->fn, v);
        bool from = inst->op == TS_OP_mmaf && r->phase[v] == TS_PHASE_FIRST;
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            from = from || (ts_opnds(r->fn, inst)[i] > r->loop && r->scores[ts_opnds(r->fn, inst)[i]]);
        for (ts_val p = v; from && p != r->loop; p = r->shape->parent[p])
            r->scores[p] = 1;
    }
}

/* Registers of a thread that accumulators and operands a take while both products run. */
static uint32_t rotate_registers(const rotate_plan *r, uint32_t n_warp)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < r->tma->products.n; i++) {
        ts_val v = r->tma->products.at[i].mma;
        if (r->shape->parent[v] != r->loop)
            continue;
        sum += (uint32_t)(ts_type_count(r->fn->module, ts_type_of(r->fn, v)) >> (5 + n_warp));
        if (r->phase[v] == TS_PHASE_SECOND)
            sum += (uint32_t)(ts_type_count(r->fn->module, ts_type_of(r->fn, ts_opnd(r->fn, v, 0))) >> (6 + n_warp));
    }
    return sum;
}

/* No way out of the body but its end, no product in a loop or branch within. */
static bool rotate_is_plain(const rotate_plan *r)
{
    if (ts_at(r->fn, r->last)->op != TS_OP_continue)
        return false;
    for (ts_val v = r->loop + 1; v < r->last; v++) {
        ts_op op = (ts_op)ts_at(r->fn, v)->op;
        ts_val in = r->shape->parent[v];
        while (in != r->loop && ts_at(r->fn, in)->op == TS_OP_if)
            in = r->shape->parent[in];
        if (in == r->loop && (op == TS_OP_continue || op == TS_OP_break || op == TS_OP_return))
            return false;
    }
    for (uint32_t i = 0; i < r->tma->products.n; i++) {
        ts_val v = r->tma->products.at[i].mma;
        if (v > r->loop && v < r->last && r->shape->parent[v] != r->loop)
            return false;
    }
    return true;
}

static bool rotate_seconds_use_scores(const rotate_plan *r)
{
    for (uint32_t i = 0; i < r->tma->products.n; i++) {
        ts_val v = r->tma->products.at[i].mma;
        if (r->shape->parent[v] == r->loop && r->phase[v] == TS_PHASE_SECOND && !r->scores[ts_opnd(r->fn, v, 0)])
            return false;
    }
    return true;
}

static bool rotate_fits(const rotate_plan *r)
{
    if (!rotate_is_plain(r) || !rotate_mark_accumulators(r) || !rotate_mark_second(r) || !rotate_mark_first(r))
        return false;
    rotate_follow_scores(r);
    return rotate_seconds_use_scores(r) && rotate_registers(r, r->tma->n_warp) <= ROTATE_REGISTERS;
}

static void rotate_settle(const rotate_plan *r, ts_arena *arena)
{
    rotate_start_loads(r);
    (void)TS_PUSH(arena, &r->tma->rotated, r->loop);
    for (uint32_t i = 0; i < r->tma->products.n; i++)
        if (r->shape->parent[r->tma->products.at[i].mma] == r->loop)
            r->tma->products.at[i].waits_next_step = r->tma->products.at[i].deferred =
                r->tma->products.at[i].lazy = false;
}

void ts__rotate_plan(const ts_fn *fn, const ts_shape *shape, const uint32_t *uses, ts_arena *arena, ts_tma *tma)
{
    rotate_plan r = {.fn = fn, .shape = shape, .uses = uses, .tma = tma};
    tma->phase = r.phase = TS_NEW_N(arena, uint8_t, fn->inst.n);
    r.scores = TS_NEW_N(arena, uint8_t, fn->inst.n);
    for (ts_val v = 1; r.phase && r.scores && v < fn->inst.n; v++) {
        if (ts_at(fn, v)->op != TS_OP_for)
            continue;
        r.loop = v;
        r.last = shape->end[v] - 1;
        if (rotate_fits(&r))
            rotate_settle(&r, arena);
        else
            memset(r.phase + v, 0, r.last + 1 - v);
    }
}
