/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory while lowering (shared.h): scratch buffers for moves and reductions, and buffers that stay.
 *
 * A scratch buffer lives for one "write, barrier, read". The next buffer is placed behind the last one, so
 * that most need no barrier before their writes: only one that would overwrite bytes read since the last
 * barrier does. Large buffers start over at the bottom rather than make the block larger.
 */
#include "gpu/lower/code.h"

/* Bytes: of all banks once; what scratch may spread over before it starts over at the bottom. */
enum { SHARED_ALIGN = 128, SHARED_WINDOW = 49152 };

static bool shared_meets(const ts_shared_use *use, uint32_t begin, uint32_t end)
{
    return use->begin < end && begin < use->end;
}

/* The first place at or after `from` that keeps clear of what is taken. */
static uint32_t shared_clear(const ts_shared *shared, uint32_t from, uint32_t bytes)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < shared->fixed.n; i++)
            if (shared_meets(&shared->fixed.at[i], from, from + bytes)) {
                from = ts_round_up(shared->fixed.at[i].end, SHARED_ALIGN);
                moved = true;
            }
    }
    return from;
}

static void shared_grow(ts_lower *lw, uint32_t end, uint32_t bytes, ts_val why)
{
    ts_assert(end >= bytes); /* 32 bits have not come round */
    lw->shared.peak = TS_MAX(lw->shared.peak, end);
    if (end > lw->shared.limit)
        ts__lower_fail(lw, TS_TILEVALUE, why,
                      "'%s' needs %u bytes of shared memory, the block %u in all; this GPU has %u: use smaller tiles",
                      why ? ts_info(ts_at(lw->tile, why))->name : "the kernel", bytes, end, lw->shared.limit);
}

uint32_t ts__shared_fix(ts_lower *lw, uint32_t bytes, uint32_t align, ts_val why)
{
    ts_assert(ts_is_pow2(align));
    uint32_t begin = ts_round_up(lw->shared.peak, align);
    ts_assert(shared_clear(&lw->shared, begin, bytes) == begin); /* free */
    (void)TS_PUSH(lw->arena, &lw->shared.fixed, ((ts_shared_use){begin, begin + bytes}));
    shared_grow(lw, begin + bytes, bytes, why);
    return begin;
}

uint32_t ts__shared_take(ts_lower *lw, uint32_t bytes, ts_val why)
{
    ts_shared *shared = &lw->shared;
    bytes = ts_round_up(bytes, SHARED_ALIGN);
    uint32_t begin = shared_clear(shared, shared->next, bytes);
    if (begin + bytes > TS_MAX((uint32_t)SHARED_WINDOW, shared->peak))
        begin = shared_clear(shared, 0, bytes);
    ts_assert(begin % SHARED_ALIGN == 0 && shared_clear(shared, begin, bytes) == begin);
    bool dirty = shared->unknown;
    for (uint32_t i = 0; i < shared->reads.n; i++)
        dirty = dirty || shared_meets(&shared->reads.at[i], begin, begin + bytes);
    if (dirty)
        ts__lower_barrier(lw);
    shared->next = begin + bytes;
    (void)TS_PUSH(lw->arena, &shared->fixed, ((ts_shared_use){begin, begin + bytes})); /* until ts__shared_done */
    shared_grow(lw, begin + bytes, bytes, why);
    return begin;
}

void ts__shared_done(ts_lower *lw, uint32_t offset, uint32_t bytes)
{
    ts_shared *shared = &lw->shared;
    uint32_t n = shared->fixed.n;
    for (uint32_t i = 0; i < shared->fixed.n; i++)
        if (shared->fixed.at[i].begin == offset) {
            shared->fixed.at[i] = shared->fixed.at[--shared->fixed.n];
            break;
        }
    ts_assert(shared->fixed.n + 1 == n || lw->arena->failed); /* it was taken, once */
    (void)n;
    (void)TS_PUSH(lw->arena, &shared->reads, ((ts_shared_use){offset, offset + bytes}));
}

void ts__shared_cleared(ts_lower *lw)
{
    lw->shared.reads.n = 0;
    lw->shared.unknown = false;
}

void ts__shared_forget(ts_lower *lw)
{
    lw->shared.unknown = lw->shared.unknown || lw->shared.peak > 0 || lw->values.scope.n > 0;
}

ts_val ts__shared_of_cta(ts_lower *lw, ts_type elem, uint32_t offset, uint32_t cta)
{
    ts_type type = ts_type_ptr(lw->module, elem, TS_SHARED);
    ts_assert(offset * 8ull % ts_type_bits(lw->module, elem) == 0 && (cta == TS_NO || cta >> lw->assign.n_cta == 0));
    ts_val own = ts_emit(&lw->b, TS_OP_shared, type, 0, NULL, offset, 0);
    if (cta == TS_NO || !lw->assign.n_cta)
        return own;
    ts_val opnds[] = {own, ts__lower_i32(lw, cta)};
    return ts_emit(&lw->b, TS_OP_mapa, type, 2, opnds, 0, 0);
}

ts_val ts__shared_pointer(ts_lower *lw, ts_type elem, uint32_t offset)
{
    return ts__shared_of_cta(lw, elem, offset, 0);
}
