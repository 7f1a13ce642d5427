/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: what single threads do to memory that others see (ts_eval_env.check_threads). Two
 * threads that touch the same bytes, one of them writing, race unless something orders them:
 *
 *     of one warp      a barrier, or an exchange of the warp in between (syncwarp, shuffles, votes)
 *     of one block     a barrier in between: the clocks of eval/simt_mem.c
 *     of two blocks    nothing; nor is there a race where the one that came first has fenced since and the block of
 *                      the other has used atomics: that is how blocks, and threads, hand something over
 *
 * Each cell remembers its last write and its last two readers. A cell is 4 aligned bytes, or a narrower element;
 * accesses of both kinds to the same bytes are not compared. Writes of one value do not race with each other; atomic
 * and volatile accesses are not looked at. Shared memory that no thread has written must not be read.
 */
#include "eval/simt.h"
#include <stdio.h>

enum { WATCH_CELL = 4 };

typedef struct watch_access {
    uint32_t block, thread;  /* the number of the block, + 1; 0: nobody */
    ts_val at;
    uint64_t clock;          /* of the warp's own */
    uint32_t synced, fenced; /* of the warp; of the thread */
    bool writes;
    bool same;               /* a write of what was there already: none for who reads */
} watch_access;

typedef struct watch_cell {
    uint64_t key; /* address + 1; 0: free */
    watch_access wrote, read[2];
} watch_cell;

struct simt_watch {
    watch_cell *cell;
    uint32_t n, size; /* size: a power of two */
};

static uint32_t watch_slot(const struct simt_watch *t, uint64_t address)
{
    uint32_t at = (uint32_t)(ts_hash_mix(address, 0x9E3779B97F4A7C15u) >> 32) & (t->size - 1);
    while (t->cell[at].key && t->cell[at].key != address + 1)
        at = (at + 1) & (t->size - 1);
    return at;
}

static bool watch_grow(ts_arena *arena, struct simt_watch *t)
{
    struct simt_watch old = *t;
    t->size = old.size ? 2 * old.size : 1024;
    t->cell = TS_NEW_N(arena, watch_cell, t->size);
    for (uint32_t i = 0; i < old.size && t->cell; i++)
        if (old.cell[i].key)
            t->cell[watch_slot(t, old.cell[i].key - 1)] = old.cell[i];
    return t->cell != NULL;
}

/* Shared memory is the block's, global memory the launch's. NULL: out of memory. */
static watch_cell *watch_find(simt_warp *w, ts_space space, uint64_t address)
{
    simt_machine *machine = w->cta->machine;
    struct simt_watch **table = space == TS_SHARED ? &w->cta->watch : &machine->watch, *t;
    ts_arena *arena = space == TS_SHARED ? &machine->arena : &machine->run.arena;
    if (!*table)
        *table = TS_NEW(arena, struct simt_watch);
    t = *table;
    if (!t || (2 * t->n >= t->size && !watch_grow(arena, t)))
        return NULL;
    watch_cell *cell = &t->cell[watch_slot(t, address)];
    t->n += cell->key == 0;
    cell->key = address + 1;
    return cell;
}

/* ---- who they are --------------------------------------------------------------------------------------------- */

static uint32_t watch_block(const simt_warp *w)
{
    const uint32_t *grid = w->cta->machine->run.grid, *b = w->cta->block;
    return 1 + b[0] + grid[0] * (b[1] + grid[1] * b[2]);
}

static void watch_thread(const simt_machine *machine, uint32_t thread, uint32_t out[3])
{
    out[0] = thread % machine->block[0];
    out[1] = thread / machine->block[0] % machine->block[1];
    out[2] = thread / machine->block[0] / machine->block[1];
}

ts_status simt_report(const simt_warp *w, ts_val v, uint32_t lane, ts_fault_code code, const char *text)
{
    const eval_run *run = simt_run(w);
    ts_fault fault = {.code = code, .has_thread = 1};
    watch_thread(w->cta->machine, w->index * SIMT_LANES + lane, fault.thread);
    TS_TRY(eval_fault(run, v, fault, text));
    return ts_fail(run->err, TS_LAUNCH, "%s", text);
}

/* The access of lane w->lane, which writes or reads, and the one before. */
static ts_status watch_race(const simt_warp *w, ts_val v, const watch_access *a, ts_space space, const char *does)
{
    bool wrote = a->writes;
    char text[400];
    const simt_machine *machine = w->cta->machine;
    const uint32_t *grid = machine->run.grid, b = a->block - 1;
    uint32_t t[3];
    watch_thread(machine, a->thread, t);
    snprintf(text, sizeof text, "race: it %s %s memory that thread (%u, %u, %u) of block (%u, %u, %u) %s in line %u, "
             "and nothing orders the two", does, space == TS_SHARED ? "shared" : "global", t[0],
             t[1], t[2], b % grid[0], b / grid[0] % grid[1], b / grid[0] / grid[1], wrote ? "wrote" : "read",
             ts__loc_of(simt_fn_of(w), a->at)->line);
    return simt_report(w, v, w->lane, TS_FAULT_RACE, text);
}

/* ---- what orders them ------------------------------------------------------------------------------------------- */

static bool watch_has_fenced(const simt_machine *machine, uint32_t block)
{
    return machine->fenced && machine->fenced[(block - 1) / 64] >> ((block - 1) % 64) & 1;
}

/* Does what the warp's lane does now come behind `a`? */
static bool watch_is_ordered(const simt_warp *w, const watch_access *a, const watch_access *now)
{
    if (!a->block || (a->block == now->block && a->thread == now->thread))
        return true;
    if (a->block != now->block)
        return w->cta->has_atomics && watch_has_fenced(w->cta->machine, a->block);
    const simt_warp *other = &w->cta->warp[a->thread / SIMT_LANES];
    if (other->fenced[a->thread % SIMT_LANES] > a->fenced && w->cta->has_atomics)
        return true;
    return other == w ? a->synced < w->synced : a->clock <= w->clock[other->index];
}

static ts_status watch_cell_touch(simt_warp *w, ts_val v, ts_space space, uint64_t address, bool writes, bool same)
{
    watch_access now = {watch_block(w), w->index * SIMT_LANES + w->lane, v, w->clock[w->index], w->synced,
                        w->fenced[w->lane], writes, same};
    const char *does = writes ? "writes" : "reads";
    watch_cell *c = watch_find(w, space, address);
    if (!c)
        return simt_nomem(w);
    if (same) {
        c->wrote = c->wrote.block ? c->wrote : now;
        return TS_OK;
    }
    if ((writes || !c->wrote.same) && !watch_is_ordered(w, &c->wrote, &now))
        return watch_race(w, v, &c->wrote, space, does);
    for (uint32_t i = 0; i < 2 && writes; i++)
        if (!watch_is_ordered(w, &c->read[i], &now))
            return watch_race(w, v, &c->read[i], space, does);
    if (writes)
        *c = (watch_cell){.key = c->key, .wrote = now};
    else {
        if (c->read[0].block != now.block || c->read[0].thread != now.thread)
            c->read[1] = c->read[0];
        c->read[0] = now;
    }
    return TS_OK;
}

/* ---- the accesses ------------------------------------------------------------------------------------------------ */

/* Notes which bytes of shared memory have been written; refuses to read others. */
static ts_status watch_written(simt_warp *w, ts_val v, uint64_t address, uint32_t n, bool reads, bool writes)
{
    char text[160];
    uint64_t at = (address & 0xFFFFFF) - SIMT_SHARED_BASE;
    uint8_t *written = w->cta->written;
    if (address >> SIMT_RANK_SHIFT || at >= w->cta->machine->shared_bytes || n > w->cta->machine->shared_bytes - at)
        return TS_OK; /* refused where it is made */
    for (uint32_t i = 0; i < n && reads; i++)
        if (!written[at + i]) {
            snprintf(text, sizeof text, "it reads shared memory that no thread has written (byte %llu of the block's)",
                     (unsigned long long)(at + i));
            return simt_report(w, v, w->lane, TS_FAULT_UNWRITTEN, text);
        }
    if (writes)
        memset(written + at, 1, n);
    return TS_OK;
}

ts_status simt_watch_plain(simt_warp *w, ts_val v, ts_space space, uint64_t address, const void *bytes, uint32_t n)
{
    bool shared = space == TS_SHARED;
    if (!simt_run(w)->env->check_threads || (!shared && (space != TS_GLOBAL || w->cta->machine->n_ctas > 1)))
        return TS_OK;
    const uint8_t *old = (const uint8_t *)(uintptr_t)address;
    if (shared) {
        TS_TRY(watch_written(w, v, address, n, !bytes, bytes != NULL));
        uint64_t at = (address & 0xFFFFFF) - SIMT_SHARED_BASE;
        old = at + n <= w->cta->machine->shared_bytes ? w->cta->smem + at : NULL;
    }
    bool same = bytes && old && memcmp(old, bytes, n) == 0;
    for (uint32_t i = 0; i < n; i += n < WATCH_CELL ? n : WATCH_CELL)
        TS_TRY(watch_cell_touch(w, v, space, address + i, bytes != NULL, same));
    return TS_OK;
}

ts_status simt_watch_copy(simt_warp *w, ts_val v, uint64_t address, uint32_t n)
{
    if (!simt_run(w)->env->check_threads)
        return TS_OK;
    TS_TRY(watch_written(w, v, address, n, false, true));
    for (uint32_t i = 0; i < n; i += WATCH_CELL)
        TS_TRY(watch_cell_touch(w, v, TS_SHARED, address + i, true, false));
    return TS_OK;
}

void simt_watch_arrived(const simt_warp *w, simt_cta *cta, uint32_t offset, uint32_t n)
{
    struct simt_watch *t = cta->watch;
    if (!simt_run(w)->env->check_threads || !t || !t->size)
        return;
    for (uint32_t i = 0; i < n; i += WATCH_CELL) {
        watch_cell *cell = &t->cell[watch_slot(t, SIMT_SHARED_BASE + offset + i)];
        if (cell->key)
            *cell = (watch_cell){.key = cell->key};
    }
}

ts_status simt_watch_atomic(simt_warp *w, ts_val v, ts_space space, uint64_t address, uint32_t n)
{
    if (!simt_run(w)->env->check_threads)
        return TS_OK;
    w->cta->has_atomics = true;
    return space == TS_SHARED ? watch_written(w, v, address, n, true, true) : TS_OK;
}

void simt_watch_fence(simt_warp *w)
{
    simt_machine *machine = w->cta->machine;
    const uint32_t *grid = machine->run.grid;
    uint32_t block = watch_block(w) - 1;
    uint64_t n = (uint64_t)grid[0] * grid[1] * grid[2];
    for (uint32_t m = w->active; m;)
        w->fenced[simt_next(&m)]++;
    if (!simt_run(w)->env->check_threads)
        return;
    if (!machine->fenced)
        machine->fenced = TS_NEW_N(&machine->run.arena, uint64_t, n / 64 + 1);
    if (machine->fenced)
        machine->fenced[block / 64] |= (uint64_t)1 << block % 64;
}

/* Is nothing left to do from instruction v on, until the kernel ends? Of what may go either way: no. */
static bool watch_is_idle(const simt_warp *w, ts_val v)
{
    const ts_fn *fn = simt_fn_of(w);
    for (; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        uint16_t flags = ts_info(inst)->flags;
        if (inst->op == TS_OP_else)
            v = simt_run(w)->shape.end[v];
        else if (inst->op == TS_OP_return)
            return true;
        else if (inst->op != TS_OP_yield && inst->op != TS_OP_end && inst->op != TS_OP_res &&
                 (flags & (TS_TERM | TS_REGION) || !(flags & TS_PURE)))
            return false;
    }
    return true;
}

/* Lanes that wait for others of the warp with nothing more to do: a `return` further up has sent them there. They count
 * as ended. */
static void watch_end_idle(simt_warp *w)
{
    const ts_shape *shape = &simt_run(w)->shape;
    for (uint32_t i = 0; i < w->frame.n; i++) {
        const simt_frame *f = &w->frame.at[i];
        bool is_if = ts_at(simt_fn_of(w), f->opener)->op == TS_OP_if;
        if (is_if && f->joined && watch_is_idle(w, shape->end[shape->other[f->opener]]))
            w->exited |= f->joined;
        if (is_if && f->other && watch_is_idle(w, shape->other[f->opener] + 1))
            w->exited |= f->other;
    }
}

ts_status simt_watch_barrier(simt_warp *w, ts_val v)
{
    char text[300];
    uint32_t t[3];
    if (!simt_run(w)->env->check_threads)
        return TS_OK;
    watch_end_idle(w);
    uint32_t missing = w->lanes & ~w->exited & ~w->active;
    if (!missing)
        return TS_OK;
    watch_thread(w->cta->machine, w->index * SIMT_LANES + simt_next(&missing), t);
    snprintf(text, sizeof text, "it waits for others of its %s where not all come: thread (%u, %u, %u) does not; move "
             "it out of the branch, or let every thread go there",
             ts_at(simt_fn_of(w), v)->op == TS_OP_bar_sync ? "block" : "warp", t[0], t[1], t[2]);
    return simt_report(w, v, (uint32_t)__builtin_ctz(w->active), TS_FAULT_BARRIER, text);
}
