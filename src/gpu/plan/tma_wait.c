/* SPDX-License-Identifier: Apache-2.0
 *
 * When a product on wgmma, which runs by itself once it is issued, is waited for (ts_wgmma in tma.h):
 *
 *     late      behind the next trip's product: the accumulator only goes round the loop
 *     lazy      where its result is first read, further work of the same trip runs beside it
 *     deferred  in the next trip, by the wait of another product (the second product of attention)
 *     else      at once
 *
 * Cost: for each product the instructions of its loop. Next: tma_ring.c.
 */
#include "gpu/plan/tma_plan.h"

enum { WAIT_REGISTERS = 192 }; /* of 240 that a thread has; with 224 ptxas runs the products one after the other */

/* The loop that carries `v` as accumulator of this product alone: the product is the only reader of the
 * argument, and the next trip the only reader of the product. */
bool ts__tma_waits_next_step(const ts_tma_work *w, ts_val mma)
{
    ts_val loop = w->shape.parent[mma], c = ts_opnd(w->fn, mma, 2);
    if (!loop || ts_at(w->fn, loop)->op != TS_OP_for || w->uses[mma] != 1 || w->uses[c] != 1)
        return false;
    uint32_t i = c - loop - 2;
    ts_val last = w->shape.end[loop] - 1;
    const ts_inst *term = ts_at(w->fn, last);
    return ts_at(w->fn, c)->op == TS_OP_arg && w->shape.parent[c] == loop && c >= loop + 2 &&
           term->op == TS_OP_continue && i < term->n_opnd && ts_opnds(w->fn, term)[i] == mma;
}

static bool wait_reads(const ts_tma_work *w, ts_val reader, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, reader);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (ts_opnds(w->fn, inst)[i] == v)
            return true;
    return false;
}

/* The first reader of a value of a loop; its end when there is none. */
static ts_val wait_first_reader(const ts_tma_work *w, ts_val loop, ts_val value)
{
    for (ts_val v = loop + 1; v < w->shape.end[loop]; v++)
        if (wait_reads(w, v, value))
            return v;
    return w->shape.end[loop];
}

/* The wait for a product behind it, in the same trip, covers the deferred one too. */
static bool wait_is_over(const ts_tma_work *w, const ts_wgmma *deferred)
{
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *q = &w->out->products.at[i];
        if (q->mma > deferred->mma && w->shape.parent[q->mma] == w->shape.parent[deferred->mma] && q->lazy)
            return true;
    }
    return false;
}

/* Where a trip waits for a product first: that covers all that the trip before has deferred to it. */
static ts_val wait_first(const ts_tma_work *w, ts_val loop)
{
    ts_val first = w->shape.end[loop];
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *q = &w->out->products.at[i];
        if (w->shape.parent[q->mma] == loop && !q->deferred)
            first = TS_MIN(first, q->lazy ? wait_first_reader(w, loop, q->mma) : q->mma);
    }
    return first;
}

/* Registers of a thread that hold its part of tile `v`: one for each 2^log_threads elements. */
static uint32_t wait_held(const ts_tma_work *w, ts_val v, uint32_t log_threads)
{
    return (uint32_t)(ts_type_count(w->module, ts_type_of(w->fn, v)) >> log_threads);
}

/* Registers of a thread that products take while this one and all others that are deferred run into the next trip, up
 * to its first wait: their operands, the accumulators that go round, and those of what has been issued. */
static uint32_t wait_registers(const ts_tma_work *w, const ts_wgmma *more)
{
    ts_val loop = w->shape.parent[more->mma], until = wait_first(w, loop);
    uint32_t sum = 0, log_threads = 5 + w->out->n_warp;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *q = &w->out->products.at[i];
        if (w->shape.parent[q->mma] != loop)
            continue;
        bool runs = q == more || q->deferred;
        if (runs || q->mma <= until || !q->zero)
            sum += wait_held(w, q->mma, log_threads);
        if (runs && q->a == TS_NO)
            sum += wait_held(w, ts_opnd(w->fn, q->mma, 0), log_threads + 1); /* two of 16 bits in one */
    }
    return sum;
}

/* The result only goes round the loop, and before the next trip reads it there is the wait of another product: the
 * second product of attention. */
static bool wait_is_deferred(const ts_tma_work *w, const ts_wgmma *p)
{
    ts_val loop = w->shape.parent[p->mma];
    if (!loop || ts_at(w->fn, loop)->op != TS_OP_for || w->uses[p->mma] != 1)
        return false;
    const ts_inst *term = ts_at(w->fn, w->shape.end[loop] - 1);
    uint32_t i = 0;
    while (i < term->n_opnd && ts_opnds(w->fn, term)[i] != p->mma)
        i++;
    if (term->op != TS_OP_continue || i == term->n_opnd)
        return false;
    ts_val reader = wait_first_reader(w, loop, loop + 2 + i), before = 0;
    for (uint32_t k = 0; k < w->out->products.n; k++) {
        const ts_wgmma *q = &w->out->products.at[k];
        if (w->shape.parent[q->mma] != loop || q == p)
            continue;
        if (q->waits_next_step || (q->deferred && !wait_is_over(w, q) && wait_registers(w, p) > WAIT_REGISTERS))
            return false;
        ts_val waits = q->lazy ? wait_first_reader(w, loop, q->mma) : q->mma;
        before = !q->deferred && waits < reader && q->mma < p->mma ? q->mma : before;
    }
    return before != 0;
}

/* Read first behind further work of the same region, which then runs beside it; no product of a region between. */
static bool wait_is_lazy(const ts_tma_work *w, const ts_wgmma *p)
{
    ts_val region = w->shape.parent[p->mma], last = (region ? w->shape.end[region] : w->fn->inst.n) - 1;
    ts_val reader = p->mma + 1;
    while (reader < last && !wait_reads(w, reader, p->mma))
        reader++;
    if (reader == last || reader == p->mma + 1 || w->shape.parent[reader] != region)
        return false;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_val mma = w->out->products.at[i].mma;
        if (mma > p->mma && mma < reader && w->shape.parent[mma] != region)
            return false;
    }
    return true;
}

/* When each product is waited for. A lazy one has its reader in the same trip, a deferred one in the next. */
void ts__tma_plan_waits(ts_tma_work *w)
{
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_wgmma *p = &w->out->products.at[i];
        p->lazy = !p->waits_next_step && wait_is_lazy(w, p);
    }
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_wgmma *p = &w->out->products.at[i];
        p->deferred = !p->waits_next_step && !p->lazy && !ts__tma_by_consumers(w, p) && wait_is_deferred(w, p);
    }
}
