/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: memory. Shared memory goes through simt_smem, which knows what is in
 * flight, what is still being read, and (when asked) who raced whom. Races are found with vector clocks:
 * each warp counts its synchronisations, a barrier joins the clocks of those that meet, and two accesses
 * to a byte conflict when neither warp's clock knows of the other's access.
 */
#include "eval/simt.h"

/* ---- shared memory ---------------------------------------------------------------------------------- */

void simt_join(uint64_t *clock, const uint64_t *other)
{
    for (uint32_t i = 0; i < SIMT_MAX_WARPS; i++)
        clock[i] = TS_MAX(clock[i], other[i]);
}

ts_status simt_smem_place(simt_warp *w, ts_val v, uint64_t address, uint64_t bytes, simt_place *place)
{
    simt_machine *machine = w->cta->machine;
    uint64_t rank = address >> SIMT_RANK_SHIFT, offset = (address & 0xFFFFFF) - SIMT_SHARED_BASE;
    if (rank >= machine->n_ctas || offset > machine->shared_bytes || bytes > machine->shared_bytes - offset)
        return eval_fail(
            simt_run(w), v, TS_INDEX,
            "warp %u: %llu bytes at shared address 0x%llx; the block has %u bytes from 0x%x",
            w->index, (unsigned long long)bytes, (unsigned long long)address,
            machine->shared_bytes, SIMT_SHARED_BASE);
    *place = (simt_place){&machine->cta[rank], (uint32_t)offset};
    return TS_OK;
}

static ts_status simt_check_shadow(simt_warp *w, ts_val v, const simt_place *p, uint64_t bytes)
{
    static const char *const why[] = {"", "a TMA load without its mbarrier wait",
                                      "a cp.async without its wait", "an mbarrier",
                                      "none of the arrays that shared_alloc made"};
    for (uint64_t i = 0; i < bytes; i++) {
        uint8_t state = p->cta->shadow[p->offset + i];
        if (state)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "warp %u touches shared byte %llu, which belongs to %s", w->index,
                             (unsigned long long)(p->offset + i), why[state % TS_COUNT(why)]);
    }
    return TS_OK;
}

/* A write where a wgmma or TMA store of some warp may still read. */
static ts_status simt_check_readers(simt_warp *w, ts_val v, const simt_place *p, uint64_t bytes)
{
    simt_machine *machine = w->cta->machine;
    for (uint32_t i = 0; i < machine->n_ctas * machine->n_warps; i++) {
        const simt_warp *other = &machine->cta[i / machine->n_warps].warp[i % machine->n_warps];
        uint32_t n = other->mma_read.n;
        for (uint32_t k = 0; k < n + other->bulk_read.n; k++) {
            const simt_reading *r = k < n ? &other->mma_read.at[k] : &other->bulk_read.at[k - n];
            if (r->rank == p->cta->rank && p->offset < r->to && p->offset + bytes > r->from)
                return eval_fail(
                    simt_run(w), v, TS_LAUNCH,
                    "warp %u writes shared byte %u, which %%%u of warp %u may still read", w->index,
                    p->offset, r->at, other->index);
        }
    }
    return TS_OK;
}

/* Data written by st must pass a proxy fence of its writer before TMA or wgmma reads it. */
static ts_status simt_check_fenced(simt_warp *w, ts_val v, const simt_place *p, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t mark = p->cta->generic[p->offset + i];
        if (mark && p->cta->warp[(mark >> 32) - 1].fences <= (uint32_t)mark)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "shared byte %llu was stored by warp %u without fence (proxy async) "
                             "before this asynchronous read",
                             (unsigned long long)(p->offset + i), (uint32_t)(mark >> 32) - 1);
    }
    return TS_OK;
}

static ts_status simt_check_race(simt_warp *w, ts_val v, const simt_place *p, uint64_t bytes, bool write)
{
    simt_race race;
    if (!p->cta->touched || p->cta != w->cta ||
        simt_touch(w, p->cta->touched + p->offset * simt_touch_bytes(w->cta->machine), bytes, write, &race))
        return TS_OK;
    return eval_fail(simt_run(w), v, TS_LAUNCH,
                     "race: warp %u at shared byte %u, which warp %u %s with no barrier between", w->index,
                     p->offset + race.byte, race.other, race.written ? "wrote" : "read");
}

ts_status simt_smem(simt_warp *w, ts_val v, uint64_t address, uint64_t bytes, simt_access access, simt_place *place)
{
    bool write = access == SIMT_WRITE || access == SIMT_ASYNC_WRITE;
    TS_TRY(simt_smem_place(w, v, address, bytes, place));
    TS_TRY(simt_check_shadow(w, v, place, bytes));
    if (access != SIMT_WRITE) /* a plain write is looked at when its value is known: simt_write */
        TS_TRY(simt_check_race(w, v, place, bytes, write));
    if (write)
        TS_TRY(simt_check_readers(w, v, place, bytes));
    if (access == SIMT_ASYNC_READ)
        TS_TRY(simt_check_fenced(w, v, place, bytes));
    for (uint64_t i = 0; i < bytes && write; i++)
        place->cta->generic[place->offset + i] = access == SIMT_WRITE ? (uint64_t)(w->index + 1) << 32 | w->fences : 0;
    return TS_OK;
}

/* Writes to shared memory. Two warps that write what is there already do not race: replicas of a value
 * are often stored by all that hold them. */
static ts_status simt_write(simt_warp *w, ts_val v, uint64_t address, const void *bytes, uint32_t n)
{
    simt_place place;
    TS_TRY(simt_smem(w, v, address, n, SIMT_WRITE, &place));
    if (memcmp(simt_bytes(&place), bytes, n) == 0)
        return TS_OK;
    TS_TRY(simt_check_race(w, v, &place, n, true));
    memcpy(simt_bytes(&place), bytes, n);
    return TS_OK;
}

/* ---- loads and stores --------------------------------------------------------------------------------- */

/* One access of `n` elements of type `elem` by a lane. */
typedef struct simt_span {
    ts_type elem;
    uint32_t bytes, n;
    ts_space space;
} simt_span;

static ts_status simt_span_of(simt_warp *w, ts_val v, ts_type elem, uint32_t n, simt_span *span)
{
    const ts_module *m = w->cta->machine->module;
    ts_type pointer = simt_opnd_type(w, v, 0);
    uint32_t bits = ts_type_bits(m, elem);
    if (ts_type_kind(m, pointer) != TS_KIND_PTR || bits < 8 || !ts_is_pow2(n) || n > 16)
        return eval_fail(simt_run(w), v, TS_VERIFY, "needs a pointer and 1, 2, 4, 8 or 16 elements of whole bytes");
    *span = (simt_span){elem, bits / 8, n, (ts_space)ts_type_get(m, pointer)->space};
    return TS_OK;
}

static ts_status simt_aligned(simt_warp *w, ts_val v, const simt_span *span, uint64_t address)
{
    uint64_t bytes = (uint64_t)span->bytes * span->n;
    if (address % bytes)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "warp %u: %llu bytes at address 0x%llx, which is not aligned to them",
                         w->index, (unsigned long long)bytes, (unsigned long long)address);
    return TS_OK;
}

/* Host memory behind an address, checked for bounds and alignment. */
static ts_status simt_fetch(simt_warp *w, ts_val v, const simt_span *span, uint64_t address, uint8_t **at)
{
    uint64_t bytes = (uint64_t)span->bytes * span->n;
    TS_TRY(simt_aligned(w, v, span, address));
    if (span->space == TS_SHARED) {
        simt_place place;
        TS_TRY(simt_smem(w, v, address, bytes, SIMT_READ, &place));
        *at = simt_bytes(&place);
        return TS_OK;
    }
    *at = (uint8_t *)(uintptr_t)address;
    return eval_check(simt_run(w), v, address, bytes);
}

/* Neither volatile nor ordered. */
static bool simt_is_plain(const simt_warp *w, ts_val v)
{
    return TS_S_KIND(ts_at(simt_fn_of(w), v)->aux) <= TS_CACHE_STREAM;
}

static ts_status simt_put(simt_warp *w, ts_val v, const simt_span *span, uint64_t address, const void *bytes)
{
    uint32_t n = span->bytes * span->n;
    TS_TRY(simt_aligned(w, v, span, address));
    if (span->space != TS_SHARED)
        TS_TRY(eval_check(simt_run(w), v, address, n));
    if (simt_is_plain(w, v))
        TS_TRY(simt_watch_plain(w, v, span->space, address, bytes, n));
    if (span->space == TS_SHARED)
        return simt_write(w, v, address, bytes, n);
    if (span->space == TS_GLOBAL && simt_is_plain(w, v))
        TS_TRY(simt_global_touch(w, v, address, bytes, n));
    memcpy((void *)(uintptr_t)address, bytes, n);
    return TS_OK;
}

ts_status simt_ld(simt_warp *w, ts_val v)
{
    const ts_fn *fn = simt_fn_of(w);
    const ts_inst *inst = ts_at(fn, v);
    uint32_t n = TS_S_NUMBER(inst->aux) ? TS_S_NUMBER(inst->aux) : 1, pad_at = ts__opnd_pad(inst);
    uint32_t yes = simt_predicated(w, v);
    ts_type elem = simt_result_type(w, v);
    simt_span span;
    if (elem == TS_T_none)
        return TS_OK; /* nobody uses it */
    uint64_t anything = TS_S_EXTRA(inst->aux) & 1 && ts_type_is_scalar(elem) ? ts__scalar_wrap(elem, SIMT_POISON) : 0;
    TS_TRY(simt_span_of(w, v, elem, n, &span));
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        uint8_t *at = NULL;
        w->lane = lane;
        if (yes >> lane & 1)
            TS_TRY(simt_fetch(w, v, &span, simt_opnd(w, v, 0)[lane], &at));
        if (at && span.space == TS_GLOBAL && simt_is_plain(w, v))
            TS_TRY(simt_global_touch(w, v, (uint64_t)(uintptr_t)at, NULL, span.bytes * n));
        if (at && simt_is_plain(w, v))
            TS_TRY(simt_watch_plain(w, v, span.space, simt_opnd(w, v, 0)[lane], NULL, span.bytes * n));
        for (uint32_t i = 0; i < n; i++) {
            uint64_t *out = simt_result(w, v, i);
            if (out)
                out[lane] = at                ? ts__scalar_load(w->cta->machine->module, elem, at, i)
                            : pad_at != TS_NO ? simt_opnd(w, v, pad_at)[lane]
                                              : anything;
        }
    }
    return TS_OK;
}

ts_status simt_st(simt_warp *w, ts_val v)
{
    uint32_t n = TS_S_NUMBER(ts_at(simt_fn_of(w), v)->aux);
    simt_span span;
    TS_TRY(simt_span_of(w, v, simt_opnd_type(w, v, 1), n ? n : 1, &span));
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        uint8_t bytes[16 * 8];
        w->lane = lane;
        for (uint32_t i = 0; i < span.n && i < 16; i++)
            ts__scalar_store(w->cta->machine->module, span.elem, bytes, i, simt_opnd(w, v, 1 + i)[lane]);
        TS_TRY(simt_put(w, v, &span, simt_opnd(w, v, 0)[lane], bytes));
    }
    return TS_OK;
}

/* atom and red: cas has its comparison before the value. Atomics do not race with each other. */
static ts_status simt_atomic(simt_warp *w, ts_val v, uint64_t *old)
{
    ts_rmw mode = TS_M_GET_MODE(ts_at(simt_fn_of(w), v)->aux);
    const ts_module *module = w->cta->machine->module;
    uint32_t value_at = mode == TS_RMW_CAS ? 2 : 1;
    simt_span span;
    TS_TRY(simt_span_of(w, v, simt_opnd_type(w, v, 1), 1, &span));
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        uint64_t address = simt_opnd(w, v, 0)[lane];
        uint8_t *at = (uint8_t *)(uintptr_t)address;
        w->lane = lane;
        TS_TRY(simt_watch_atomic(w, v, span.space, address, span.bytes));
        if (span.space == TS_SHARED) {
            simt_place place;
            TS_TRY(simt_smem_place(w, v, address, span.bytes, &place));
            TS_TRY(simt_check_shadow(w, v, &place, span.bytes));
            at = simt_bytes(&place);
        } else {
            TS_TRY(simt_fetch(w, v, &span, address, &at));
        }
        uint64_t before = ts__scalar_load(module, span.elem, at, 0);
        uint64_t cmp = mode == TS_RMW_CAS ? simt_opnd(w, v, 1)[lane] : 0;
        ts__scalar_store(
            module, span.elem, at, 0,
            eval_rmw(module, mode, span.elem, before, simt_opnd(w, v, value_at)[lane], cmp));
        if (old)
            old[lane] = before;
    }
    return TS_OK;
}

ts_status simt_atom(simt_warp *w, ts_val v)
{
    return simt_atomic(w, v, simt_reg(w, v));
}

ts_status simt_red(simt_warp *w, ts_val v)
{
    return simt_atomic(w, v, NULL);
}

/* ---- cp.async -------------------------------------------------------------------------------------------- */

ts_status simt_cp_async(simt_warp *w, ts_val v)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    const ts_module *module = w->cta->machine->module;
    ts_type elem = ts_type_get(module, simt_opnd_type(w, v, 0))->elem;
    uint32_t bytes = TS_S_NUMBER(inst->aux), unit = TS_MAX(ts_type_bits(module, elem) / 8, 1u);
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        uint64_t to = simt_opnd(w, v, 0)[lane], from = simt_opnd(w, v, 1)[lane];
        w->lane = lane;
        uint64_t source = inst->flags & TS_F_SRC ? simt_opnd(w, v, 2)[lane] & 0xFFFFFFFF : bytes;
        simt_place place;
        if (source > bytes || source % unit || to % bytes || (source && from % bytes))
            return eval_fail(
                simt_run(w), v, TS_LAUNCH,
                "lane %u copies %llu of %u bytes from 0x%llx to 0x%llx: too many, parts of elements, or not aligned",
                lane, (unsigned long long)source, bytes, (unsigned long long)from,
                (unsigned long long)to);
        if (source)
            TS_TRY(eval_check(simt_run(w), v, from, source));
        TS_TRY(simt_global_touch(w, v, from, NULL, (uint32_t)source));
        TS_TRY(simt_watch_plain(w, v, TS_GLOBAL, from, NULL, (uint32_t)source));
        TS_TRY(simt_smem(w, v, to, bytes, SIMT_WRITE, &place));
        TS_TRY(simt_check_race(w, v, &place, bytes, true));
        TS_TRY(simt_watch_copy(w, v, to, bytes));
        if (place.cta != w->cta)
            return eval_fail(simt_run(w), v, TS_LAUNCH, "cp_async into another block of the cluster");
        memset(place.cta->shadow + place.offset, SIMT_CP_FLIGHT, bytes);
        simt_copy copy = {lane, w->cp_open[lane], place.offset, bytes, (uint32_t)source, from};
        if (!TS_PUSH(&w->cta->machine->arena, &w->copy, copy))
            return simt_nomem(w);
    }
    return TS_OK;
}

ts_status simt_cp_async_commit(simt_warp *w, ts_val v)
{
    (void)v;
    for (uint32_t m = w->active; m;)
        w->cp_open[simt_next(&m)]++;
    return TS_OK;
}

static ts_status simt_copy_now(simt_warp *w, ts_val v, const simt_copy *c)
{
    uint8_t *to = w->cta->smem + c->to;
    memset(to, 0, c->bytes);
    if (c->source_bytes)
        memcpy(to, (const void *)(uintptr_t)c->from, c->source_bytes);
    memset(w->cta->shadow + c->to, SIMT_PLAIN, c->bytes);
    for (uint32_t i = 0; i < c->bytes; i++) /* written now, by the generic proxy */
        w->cta->generic[c->to + i] = (uint64_t)(w->index + 1) << 32 | w->fences;
    w->lane = c->lane;
    return simt_watch_copy(w, v, SIMT_SHARED_BASE + c->to, c->bytes);
}

ts_status simt_cp_async_wait(simt_warp *w, ts_val v)
{
    uint32_t allowed = TS_S_NUMBER(ts_at(simt_fn_of(w), v)->aux), kept = 0;
    for (uint32_t i = 0; i < w->copy.n; i++) {
        simt_copy copy = w->copy.at[i];
        bool waits = w->active >> copy.lane & 1 && copy.group + allowed < w->cp_open[copy.lane];
        if (waits)
            TS_TRY(simt_copy_now(w, v, &copy));
        else
            w->copy.at[kept++] = copy;
    }
    w->copy.n = kept;
    return TS_OK;
}

/* ---- matrices of 8 x 8 16-bit elements -------------------------------------------------------------------- */

/* The 16-byte row that lane 8 * i + r gives for row r of matrix i. */
static ts_status simt_matrix_row(simt_warp *w, ts_val v, uint32_t lane, simt_access access, simt_place *row)
{
    uint64_t address = simt_opnd(w, v, 0)[lane];
    if (address % 16)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "lane %u: row address 0x%llx is not aligned to 16 bytes", lane,
                         (unsigned long long)address);
    w->lane = lane;
    TS_TRY(access == SIMT_READ ? simt_watch_plain(w, v, TS_SHARED, address, NULL, 16) : TS_OK);
    return simt_smem(w, v, address, 16, access, row);
}

/* Lane l's register of a matrix holds elements (l / 4, 2 * (l % 4)) and the next one; transposed: of the
 * matrix read by columns. Copies between registers and the matrix x[row][column]. */
static void simt_matrix_deal(uint16_t x[8][8], bool transposed, bool to_registers, uint64_t *reg)
{
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        uint32_t g = lane / 4, c = 2 * (lane % 4);
        uint16_t *low = transposed ? &x[c][g] : &x[g][c], *high = transposed ? &x[c + 1][g] : &x[g][c + 1];
        if (to_registers) {
            reg[lane] = ts__scalar_wrap(TS_T_i32, *low | (uint64_t)*high << 16);
        } else {
            *low = (uint16_t)reg[lane];
            *high = (uint16_t)(reg[lane] >> 16);
        }
    }
}

ts_status simt_ldmatrix(simt_warp *w, ts_val v)
{
    uint32_t aux = ts_at(simt_fn_of(w), v)->aux;
    TS_TRY(simt_converged(w, v));
    for (uint32_t i = 0; i < TS_S_NUMBER(aux) && i < 4; i++) {
        uint16_t x[8][8];
        uint64_t *out = simt_result(w, v, i);
        for (uint32_t r = 0; r < 8; r++) {
            simt_place row;
            TS_TRY(simt_matrix_row(w, v, 8 * i + r, SIMT_READ, &row));
            memcpy(x[r], simt_bytes(&row), 16);
        }
        if (out)
            simt_matrix_deal(x, TS_S_EXTRA(aux) & 1, true, out);
    }
    return TS_OK;
}

ts_status simt_stmatrix(simt_warp *w, ts_val v)
{
    uint32_t aux = ts_at(simt_fn_of(w), v)->aux;
    TS_TRY(simt_converged(w, v));
    for (uint32_t i = 0; i < TS_S_NUMBER(aux) && i < 4; i++) {
        uint64_t regs[SIMT_LANES];
        uint16_t x[8][8];
        memcpy(regs, simt_opnd(w, v, 1 + i), sizeof regs);
        simt_matrix_deal(x, TS_S_EXTRA(aux) & 1, false, regs);
        for (uint32_t r = 0; r < 8; r++) {
            simt_place row;
            TS_TRY(simt_matrix_row(w, v, 8 * i + r, SIMT_WRITE, &row));
            TS_TRY(simt_watch_plain(w, v, TS_SHARED, simt_opnd(w, v, 0)[8 * i + r], x[r], 16));
            TS_TRY(simt_write(w, v, simt_opnd(w, v, 0)[8 * i + r], x[r], 16));
        }
    }
    return TS_OK;
}
