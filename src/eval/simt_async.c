/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: mbarriers, TMA through the plan's tensor maps, bulk groups.
 *
 * A TMA load or st_async marks its bytes as in flight and is remembered; it is carried out when somebody waits for its
 * mbarrier, the latest moment that is correct. Stores and reductions read shared memory at once; until
 * the bulk group is waited for, writing those bytes again is an error.
 */
#include "eval/simt.h"
#include "ir/float.h"

/* ---- mbarriers --------------------------------------------------------------------------------------- */

static simt_mbar *async_find(const simt_place *p)
{
    for (uint32_t i = 0; i < p->cta->mbar.n; i++)
        if (p->cta->mbar.at[i].offset == p->offset)
            return &p->cta->mbar.at[i];
    return NULL;
}

static ts_status async_mbar(simt_warp *w, ts_val v, uint64_t address, simt_place *place, simt_mbar **bar)
{
    TS_TRY(simt_smem_place(w, v, address, 8, place));
    *bar = async_find(place);
    if (!*bar)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "warp %u: no mbarrier was made at shared byte %u", w->index,
                         place->offset);
    return TS_OK;
}

/* The phase is complete when all have arrived and all bytes have come. */
static void async_turn(simt_mbar *bar)
{
    if (bar->pending || bar->tx)
        return;
    bar->phase++;
    bar->pending = bar->count;
}

ts_status simt_mbar_init(simt_warp *w, ts_val v)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        uint64_t address = simt_opnd(w, v, 0)[lane];
        uint32_t count = inst->n_opnd > 1 ? (uint32_t)simt_opnd(w, v, 1)[lane] : TS_S_NUMBER(inst->aux);
        simt_place place;
        if (address % 8 || count == 0 || count >= 1u << 20)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "an mbarrier for %u arrivals at 0x%llx; it must be aligned to 8 bytes",
                             count, (unsigned long long)address);
        TS_TRY(simt_smem(w, v, address, 8, SIMT_WRITE, &place));
        memset(place.cta->shadow + place.offset, SIMT_HOLDS_MBAR, 8);
        simt_mbar bar = {.offset = place.offset, .count = count, .pending = count};
        if (!TS_PUSH(&w->cta->machine->arena, &place.cta->mbar, bar))
            return simt_nomem(w);
    }
    return TS_OK;
}

ts_status simt_mbar_inval(simt_warp *w, ts_val v)
{
    for (uint32_t m = w->active; m;) {
        simt_place place;
        simt_mbar *bar;
        TS_TRY(async_mbar(w, v, simt_opnd(w, v, 0)[simt_next(&m)], &place, &bar));
        memset(place.cta->shadow + place.offset, SIMT_PLAIN, 8);
        *bar = place.cta->mbar.at[--place.cta->mbar.n];
    }
    return TS_OK;
}

/* One arrival of each predicated lane, after expecting `bytes` (an operand) when there is one. */
static ts_status async_arrive(simt_warp *w, ts_val v, const uint64_t *bytes)
{
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        simt_place place;
        simt_mbar *bar;
        TS_TRY(async_mbar(w, v, simt_opnd(w, v, 0)[lane], &place, &bar));
        bar->tx += bytes ? (int64_t)(bytes[lane] & 0xFFFFFFFF) : 0;
        if (bar->pending == 0)
            return eval_fail(
                simt_run(w), v, TS_LAUNCH,
                "warp %u: one arrival more than the %u of the mbarrier at shared byte %u", w->index,
                bar->count, place.offset);
        bar->pending--;
        if (place.cta == w->cta) {
            simt_join(bar->clock, w->clock);
            w->clock[w->index]++;
        }
        async_turn(bar);
    }
    return TS_OK;
}

ts_status simt_mbar_arrive(simt_warp *w, ts_val v)
{
    return async_arrive(w, v, NULL);
}

ts_status simt_mbar_expect(simt_warp *w, ts_val v)
{
    return async_arrive(w, v, simt_opnd(w, v, 1));
}

/* Waits until the phase of the given parity is complete. All lanes of a warp go on together. */
ts_status simt_mbar_wait(simt_warp *w, ts_val v)
{
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        simt_place place;
        simt_mbar *bar;
        TS_TRY(async_mbar(w, v, simt_opnd(w, v, 0)[lane], &place, &bar));
        uint64_t parity = simt_opnd(w, v, 1)[lane] & 1;
        if ((bar->phase & 1) == parity)
            TS_TRY(simt_deliver(w, v, &place));
        if ((bar->phase & 1) == parity) {
            simt_block(w, SIMT_AT_MBAR);
            return TS_OK;
        }
        simt_join(w->clock, bar->clock);
    }
    w->synced++;
    return TS_OK;
}

ts_status simt_mapa(simt_warp *w, ts_val v)
{
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        uint64_t rank = simt_opnd(w, v, 1)[lane];
        simt_reg(w, v)[lane] = (simt_opnd(w, v, 0)[lane] & 0xFFFFFF) | (rank & 255) << SIMT_RANK_SHIFT;
    }
    return TS_OK;
}

/* ---- tensor maps ---------------------------------------------------------------------------------------- */

uint32_t simt_swizzle(uint32_t address, uint32_t mode)
{
    uint32_t bits = mode == 1 ? 1 : mode == 2 ? 3 : mode == 3 ? 7 : 0;
    return address ^ (address >> 7 & bits) << 4;
}

/* The element type of a tensor map by its CUtensorMapDataType. */
static ts_type async_elem(uint8_t dtype)
{
    for (ts_dtype d = 1; d < TS_DTYPE_COUNT; d++)
        if (ts_dtype_get(d)->tma == dtype)
            return d == TS_DTYPE_bool_ ? TS_T_i8 : ts_dtype_get(d)->scalar;
    return TS_T_none;
}

/* One element of a box: where it is in memory (if inside the array) and in the dense box. */
typedef struct async_box {
    const ts_plan_tmap *map;
    uint64_t base;
    uint32_t rank;
    int64_t dim[5], stride[5], count[5], coord[5];
    ts_type elem;
} async_box;

static int64_t async_num(const simt_warp *w, const ts_plan_num *num)
{
    const eval_run *run = simt_run(w);
    if (num->param < 0)
        return num->value;
    if ((size_t)num->param >= run->n_params)
        return 0;
    int64_t value = (int64_t)run->params[num->param];
    return w->cta->machine->plan->param_bytes[num->param] == 4 ? (int32_t)value : value;
}

/* The two dimensions that lead back to a slice (ts_plan_tmap). */
static void async_slice(async_box *box, const int64_t *coord)
{
    int64_t row = box->stride[box->map->slice];
    for (uint32_t d = box->rank; d < box->rank + 2; d++) {
        box->dim[d] = TS_SLICE_EXTENT;
        box->stride[d] = d == box->rank ? row : TS_SLICE_BYTES / box->map->elem_bytes - row;
        box->count[d] = 1;
        box->coord[d] = coord[d];
    }
    box->rank += 2;
}

static ts_status async_open(simt_warp *w, ts_val v, uint32_t index, const int64_t *coord, async_box *box)
{
    const ts_plan *plan = w->cta->machine->plan;
    const simt_map *made = index >= TS_PLAN_TMAPS ? &w->cta->machine->made.at[index - TS_PLAN_TMAPS] : NULL;
    if (!made && index >= plan->n_tmaps)
        return eval_fail(simt_run(w), v, TS_VERIFY, "tensor map %u of %u", index, plan->n_tmaps);
    const ts_plan_tmap *map = made ? &made->map : &plan->tmap[index];
    *box = (async_box){.map = map, .elem = async_elem(map->dtype)};
    if (map->rank == 0 || map->rank > 5 || box->elem == TS_T_none ||
        ts__scalar_bits(box->elem) / 8 != map->elem_bytes ||
        (!made && (map->base < 0 || (size_t)map->base >= simt_run(w)->n_params)))
        return eval_fail(simt_run(w), v, TS_VERIFY,
                         "tensor map %u: rank %u, type %u of %u bytes, base parameter %d", index,
                         map->rank, map->dtype, map->elem_bytes, map->base);
    box->base = made ? made->base : simt_run(w)->params[map->base];
    for (uint32_t d = 0; d < map->rank; d++) {
        uint32_t step = map->step[d] ? map->step[d] : 1;
        box->dim[d] = async_num(w, &map->dim[d]);
        box->stride[d] = d ? async_num(w, &map->stride[d]) : 1;
        box->count[d] = (map->box[d] + step - 1) / step;
        if (d && d == map->clip)
            box->count[d] = TS_MAX(1, TS_MIN(box->dim[d], box->count[d]));
        box->coord[d] = coord[d];
    }
    box->rank = map->rank;
    if (map->slice)
        async_slice(box, coord);
    return TS_OK;
}

static int64_t async_count(const async_box *box)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < box->rank; d++)
        n *= box->count[d];
    return n;
}

/* Element number i of the box (dimension 0 fastest): its address, or false outside the array. */
static bool async_element(const async_box *box, int64_t i, uint64_t *address)
{
    uint64_t offset = 0;
    bool inside = true;
    for (uint32_t d = 0; d < box->rank; d++) {
        int64_t step = d < box->map->rank && box->map->step[d] ? box->map->step[d] : 1;
        int64_t at = box->coord[d] + i % box->count[d] * step;
        i /= box->count[d];
        inside &= at >= 0 && at < box->dim[d];
        offset += (uint64_t)at * (uint64_t)box->stride[d];
    }
    *address = box->base + offset * box->map->elem_bytes;
    return inside;
}

/* The hardware's rules for a tensor map (CUDA driver API, cuTensorMapEncodeTiled). */
static ts_status async_check_map(simt_warp *w, ts_val v, const async_box *box, uint64_t address)
{
    static const uint32_t span[] = {UINT32_MAX, 32, 64, 128};
    const ts_plan_tmap *map = box->map;
    uint32_t row = map->box[0] * map->elem_bytes;
    if (map->swizzle > 3 || row % 16 || row > span[map->swizzle])
        return eval_fail(simt_run(w), v, TS_LAUNCH, "a box row of %u bytes with swizzle mode %u", row, map->swizzle);
    if (box->base % 16 || address % 128)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "base 0x%llx must be aligned to 16, shared address 0x%llx to 128 bytes",
                         (unsigned long long)box->base, (unsigned long long)address);
    for (uint32_t d = 0; d < map->rank; d++)
        if (map->box[d] == 0 || map->box[d] > 256 || box->dim[d] <= 0 ||
            (d && box->dim[d] > 1 && box->stride[d] * map->elem_bytes % 16))
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "dimension %u: box %u, extent %lld, stride %lld elements", d,
                             map->box[d], (long long)box->dim[d], (long long)box->stride[d]);
    return TS_OK;
}

/* Coordinates of a TMA instruction: operands first.. of a lane. */
static void async_coordinates(const simt_warp *w, ts_val v, uint32_t first, uint32_t lane, int64_t coord[5])
{
    uint32_t rank = TS_S_NUMBER(ts_at(simt_fn_of(w), v)->aux);
    for (uint32_t d = 0; d < 5; d++)
        coord[d] = d < rank ? (int32_t)simt_opnd(w, v, first + d)[lane] : 0;
}

/* Place of element i in shared memory, for a box that begins at `offset`. */
static uint32_t async_shared_offset(const async_box *box, uint32_t offset, int64_t i)
{
    uint32_t address = SIMT_SHARED_BASE + offset + (uint32_t)i * box->map->elem_bytes;
    return simt_swizzle(address, box->map->swizzle) - SIMT_SHARED_BASE;
}

/* Sends for a box: to shared memory at `address`, counted by the mbarrier at `mbar`. */
static ts_status async_send(simt_warp *w, ts_val v, simt_tma tma, uint64_t bytes, uint64_t address, uint64_t mbar)
{
    simt_place to, at;
    simt_mbar *bar;
    TS_TRY(async_mbar(w, v, mbar, &at, &bar));
    TS_TRY(simt_smem(w, v, address, bytes, SIMT_ASYNC_WRITE, &to));
    tma.to = to.offset;
    tma.rank = to.cta->rank;
    tma.mbar = at.offset;
    tma.mbar_rank = at.cta->rank;
    memset(to.cta->shadow + to.offset, SIMT_TMA_FLIGHT, bytes);
    return TS_PUSH(&w->cta->machine->arena, &at.cta->tma, tma) ? TS_OK : simt_nomem(w);
}

/* The same place in another block of the cluster. */
static uint64_t async_in_block(uint64_t address, uint32_t rank)
{
    return (address & (((uint64_t)1 << SIMT_RANK_SHIFT) - 1)) | (uint64_t)rank << SIMT_RANK_SHIFT;
}

ts_status simt_tma_load(simt_warp *w, ts_val v)
{
    uint32_t map = TS_S_KIND(ts_at(simt_fn_of(w), v)->aux), blocks = TS_S_EXTRA(ts_at(simt_fn_of(w), v)->aux);
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        async_box box;
        simt_tma tma = {.map = map, .at = v};
        uint64_t address = simt_opnd(w, v, 0)[lane], mbar = simt_opnd(w, v, 1)[lane];
        async_coordinates(w, v, 2, lane, tma.coord);
        TS_TRY(async_open(w, v, map, tma.coord, &box));
        TS_TRY(async_check_map(w, v, &box, address));
        uint64_t bytes = (uint64_t)async_count(&box) * box.map->elem_bytes;
        if (!blocks)
            TS_TRY(async_send(w, v, tma, bytes, address, mbar));
        for (uint32_t left = blocks; left; left &= left - 1) {
            uint32_t rank = (uint32_t)__builtin_ctz(left);
            TS_TRY(async_send(w, v, tma, bytes, async_in_block(address, rank), async_in_block(mbar, rank)));
        }
    }
    return TS_OK;
}

/* The map that the operands of a lane say; `first` of them stand before the extents. */
static ts_status async_make(simt_warp *w, ts_val v, uint32_t lane, uint32_t first, uint32_t *index)
{
    simt_machine *machine = w->cta->machine;
    const uint32_t *box = ts_pool(machine->fn, ts_at(machine->fn, v));
    uint32_t global = first == 3 ? 2 : 0, rank = box[0], dtype = 0;
    ts_type elem = ts_type_get(machine->module, simt_opnd_type(w, v, global))->elem;
    while (++dtype < TS_DTYPE_COUNT && (ts_dtype_get(dtype)->scalar != elem || ts_dtype_get(dtype)->tma < 0))
        ;
    dtype = dtype < TS_DTYPE_COUNT ? dtype : TS_DTYPE_uint8;
    simt_map made = {.base = simt_opnd(w, v, global)[lane]};
    made.map = (ts_plan_tmap){.dtype = (uint8_t)ts_dtype_get(dtype)->tma, .rank = (uint8_t)rank,
                              .elem_bytes = (ts_type_bits(machine->module, elem) + 7) / 8};
    for (uint32_t d = 0; d < rank; d++) {
        made.map.box[d] = box[1 + d];
        made.map.step[d] = 1;
        made.map.dim[d] = (ts_plan_num){(int64_t)simt_opnd(w, v, first + d)[lane], -1};
        made.map.stride[d] = (ts_plan_num){d ? (int64_t)simt_opnd(w, v, first + rank + d - 1)[lane] : 1, -1};
    }
    for (*index = 0; *index < machine->made.n; *index += 1)
        if (memcmp(&machine->made.at[*index], &made, sizeof made) == 0)
            break;
    if (*index == machine->made.n && !TS_PUSH(&machine->run.arena, &machine->made, made))
        return simt_nomem(w);
    *index += TS_PLAN_TMAPS;
    return TS_OK;
}

/* The box of a lane, in global memory and from `address` on in shared memory. */
static ts_status async_box_of(simt_warp *w, ts_val v, uint32_t lane, uint32_t first, simt_tma *tma, async_box *box)
{
    uint32_t rank = ts_pool(simt_fn_of(w), ts_at(simt_fn_of(w), v))[0];
    w->lane = lane;
    TS_TRY(async_make(w, v, lane, first, &tma->map));
    for (uint32_t d = 0; d < rank; d++)
        tma->coord[d] = (int32_t)simt_opnd(w, v, first + 2 * rank - 1 + d)[lane];
    TS_TRY(async_open(w, v, tma->map, tma->coord, box));
    return async_check_map(w, v, box, simt_opnd(w, v, first == 3 ? 0 : 1)[lane]);
}

ts_status simt_tensor_load(simt_warp *w, ts_val v)
{
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        async_box box;
        simt_tma tma = {.at = v};
        uint64_t to = simt_opnd(w, v, 0)[lane], from;
        TS_TRY(async_box_of(w, v, lane, 3, &tma, &box));
        uint32_t each = box.map->elem_bytes, n = (uint32_t)async_count(&box);
        TS_TRY(simt_watch_copy(w, v, to, n * each));
        for (uint32_t i = 0; i < n; i++)
            if (async_element(&box, i, &from))
                TS_TRY(simt_watch_plain(w, v, TS_GLOBAL, from, NULL, each));
        TS_TRY(async_send(w, v, tma, (uint64_t)n * each, to, simt_opnd(w, v, 1)[lane]));
    }
    return TS_OK;
}

ts_status simt_st_async(simt_warp *w, ts_val v)
{
    ts_type elem = simt_opnd_type(w, v, 1);
    uint32_t bytes = ts_type_bits(w->cta->machine->module, elem) / 8;
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        simt_place to, at;
        simt_mbar *bar;
        uint64_t address = simt_opnd(w, v, 0)[lane];
        TS_TRY(async_mbar(w, v, simt_opnd(w, v, 2)[lane], &at, &bar));
        TS_TRY(simt_smem(w, v, address, bytes, SIMT_ASYNC_WRITE, &to));
        if (to.cta != at.cta || address % bytes)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "st_async to 0x%llx: not aligned, or its barrier is in another block",
                             (unsigned long long)address);
        simt_tma sent = {.bytes = bytes, .value = simt_opnd(w, v, 1)[lane], .at = v, .to = to.offset,
                         .rank = to.cta->rank, .mbar = at.offset, .mbar_rank = at.cta->rank};
        memset(to.cta->shadow + to.offset, SIMT_TMA_FLIGHT, bytes);
        if (!TS_PUSH(&w->cta->machine->arena, &at.cta->tma, sent))
            return simt_nomem(w);
    }
    return TS_OK;
}

/* Bytes that a bulk copy moves: the operand of each lane. */
static ts_status async_bulk_bytes(simt_warp *w, ts_val v, uint32_t lane, uint32_t i, uint64_t shared, uint64_t global,
                                  uint32_t *bytes)
{
    *bytes = (uint32_t)simt_opnd(w, v, i)[lane];
    if (*bytes % 16 || shared % 16 || global % 16)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "lane %u: %u bytes between shared address 0x%llx and 0x%llx: all must be multiples of 16",
                         lane, *bytes, (unsigned long long)shared, (unsigned long long)global);
    return eval_check(simt_run(w), v, global, *bytes);
}

ts_status simt_bulk_load(simt_warp *w, ts_val v)
{
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        simt_place to, at;
        simt_mbar *bar;
        simt_tma sent = {.from = simt_opnd(w, v, 2)[lane], .at = v};
        uint64_t address = simt_opnd(w, v, 0)[lane];
        w->lane = lane;
        TS_TRY(async_bulk_bytes(w, v, lane, 3, address, sent.from, &sent.bytes));
        if (!sent.bytes)
            continue;
        TS_TRY(async_mbar(w, v, simt_opnd(w, v, 1)[lane], &at, &bar));
        TS_TRY(simt_smem(w, v, address, sent.bytes, SIMT_ASYNC_WRITE, &to));
        TS_TRY(simt_watch_copy(w, v, address, sent.bytes));
        TS_TRY(simt_watch_plain(w, v, TS_GLOBAL, sent.from, NULL, sent.bytes));
        sent.to = to.offset;
        sent.rank = to.cta->rank;
        sent.mbar = at.offset;
        sent.mbar_rank = at.cta->rank;
        memset(to.cta->shadow + to.offset, SIMT_TMA_FLIGHT, sent.bytes);
        if (!TS_PUSH(&w->cta->machine->arena, &at.cta->tma, sent))
            return simt_nomem(w);
    }
    return TS_OK;
}

static uint64_t async_fill(const async_box *box)
{
    bool nan = box->map->nan_fill && ts__float_format_of(box->elem);
    return nan ? ts__float_nan(box->elem) : 0;
}

static bool async_rounds_tf32(const async_box *box)
{
    return box->elem == TS_T_tf32;
}

/* Carries a load out. */
static ts_status async_loads(simt_warp *w, const simt_tma *tma, int64_t *n_bytes)
{
    simt_cta *cta = &w->cta->machine->cta[tma->rank];
    async_box box;
    TS_TRY(async_open(w, tma->at, tma->map, tma->coord, &box));
    int64_t n = async_count(&box);
    uint32_t bytes = box.map->elem_bytes;
    for (int64_t i = 0; i < n; i++) {
        uint64_t address, value = async_fill(&box);
        if (async_element(&box, i, &address))
            TS_TRY(eval_load(simt_run(w), tma->at, box.elem, address, 0, &value));
        if (async_rounds_tf32(&box))
            value = ts__float_from_f64(TS_T_tf32, (double)ts_f32_of_bits(value), TS_RN);
        ts__scalar_write(cta->smem + async_shared_offset(&box, tma->to, i), bytes * 8, 0, value);
    }
    *n_bytes = n * bytes;
    return TS_OK;
}

/* What was sent is there, and its bytes count at the mbarrier. */
static ts_status async_arrives(simt_warp *w, const simt_tma *tma)
{
    simt_cta *cta = &w->cta->machine->cta[tma->rank];
    simt_place at = {&w->cta->machine->cta[tma->mbar_rank], tma->mbar};
    simt_mbar *bar = async_find(&at);
    int64_t bytes = tma->bytes;
    if (tma->from)
        memcpy(cta->smem + tma->to, (const void *)(uintptr_t)tma->from, (size_t)bytes);
    else if (bytes)
        ts__scalar_write(cta->smem + tma->to, tma->bytes * 8, 0, tma->value);
    else
        TS_TRY(async_loads(w, tma, &bytes));
    memset(cta->shadow + tma->to, SIMT_PLAIN, (size_t)bytes);
    const size_t each = simt_touch_bytes(cta->machine);
    if (cta->touched) /* the mbarrier publishes the bytes to whoever waits for it */
        memset(cta->touched + tma->to * each, 0, (size_t)bytes * each);
    simt_watch_arrived(w, cta, tma->to, (uint32_t)bytes);
    if (bar) {
        bar->tx -= bytes;
        async_turn(bar);
    }
    return TS_OK;
}

ts_status simt_deliver(simt_warp *w, ts_val v, const simt_place *mbar)
{
    simt_cta *cta = mbar->cta;
    uint32_t kept = 0;
    (void)v;
    for (uint32_t i = 0; i < cta->tma.n; i++) {
        simt_tma tma = cta->tma.at[i];
        if (tma.mbar == mbar->offset)
            TS_TRY(async_arrives(w, &tma));
        else
            cta->tma.at[kept++] = tma;
    }
    cta->tma.n = kept;
    return TS_OK;
}

/* At the end of a block nothing may be left that nobody waited for. */
ts_status simt_deliver_all(simt_warp *w, ts_val v)
{
    simt_cta *cta = w->cta;
    if (cta->tma.n)
        return eval_fail(simt_run(w), cta->tma.at[0].at, TS_LAUNCH, "nobody waits for this copy before the block ends");
    for (uint32_t i = 0; i < cta->machine->n_warps; i++)
        if (cta->warp[i].copy.n)
            return eval_fail(simt_run(w), v, TS_LAUNCH, "warp %u ends with a cp_async under way", i);
    return TS_OK;
}

/* ---- stores ------------------------------------------------------------------------------------------------ */

/* What a reduction of the map's type does; integer modes on floats mean the float operation. */
static uint64_t async_reduce(const simt_warp *w, ts_rmw mode, ts_type elem, uint64_t old, uint64_t value)
{
    bool is_float = ts__float_format_of(elem) != NULL;
    if (is_float && mode == TS_RMW_ADD)
        mode = TS_RMW_ADDF;
    uint64_t x[] = {old, value}, out = old;
    if (is_float && (mode == TS_RMW_MAX || mode == TS_RMW_MIN))
        return ts__scalar_eval(NULL, mode == TS_RMW_MAX ? TS_OP_maxf : TS_OP_minf, 0, elem, elem, x, &out) ? out : old;
    return eval_rmw(w->cta->machine->module, mode, elem, old, value, 0);
}

static ts_status async_write_box(simt_warp *w, ts_val v, const async_box *box, const simt_place *from, bool reduce)
{
    ts_rmw mode = (ts_rmw)TS_S_EXTRA(ts_at(simt_fn_of(w), v)->aux);
    uint32_t bits = box->map->elem_bytes * 8;
    ts_type elem = box->elem == TS_T_tf32 ? TS_T_f32 : box->elem;
    for (int64_t i = 0; i < async_count(box); i++) {
        uint64_t address, old, value;
        if (!async_element(box, i, &address))
            continue;
        value = ts__scalar_wrap(
            elem,
            ts__scalar_read(from->cta->smem + async_shared_offset(box, from->offset, i), bits, 0));
        if (reduce) {
            TS_TRY(eval_load(simt_run(w), v, elem, address, 0, &old));
            value = async_reduce(w, mode, elem, old, value);
        }
        TS_TRY(eval_store(simt_run(w), v, elem, address, 0, value));
    }
    return TS_OK;
}

static ts_status async_put(simt_warp *w, ts_val v, bool reduce)
{
    uint32_t map = TS_S_KIND(ts_at(simt_fn_of(w), v)->aux);
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m);
        uint64_t address = simt_opnd(w, v, 0)[lane];
        int64_t coord[5];
        async_box box;
        simt_place from;
        async_coordinates(w, v, 1, lane, coord);
        TS_TRY(async_open(w, v, map, coord, &box));
        TS_TRY(async_check_map(w, v, &box, address));
        uint32_t bytes = (uint32_t)async_count(&box) * box.map->elem_bytes;
        TS_TRY(simt_smem(w, v, address, bytes, SIMT_ASYNC_READ, &from));
        TS_TRY(async_write_box(w, v, &box, &from, reduce));
        simt_reading reading = {from.cta->rank, from.offset, from.offset + bytes, lane, w->bulk_open[lane], v};
        if (!TS_PUSH(&w->cta->machine->arena, &w->bulk_read, reading))
            return simt_nomem(w);
    }
    return TS_OK;
}

/* Sees to it that the box may be written, and notes that its shared memory is read. */
static ts_status async_put_box(simt_warp *w, ts_val v, const async_box *box, uint64_t address)
{
    uint32_t each = box->map->elem_bytes, n = (uint32_t)async_count(box);
    simt_place from;
    uint64_t to;
    TS_TRY(simt_watch_plain(w, v, TS_SHARED, address, NULL, n * each));
    TS_TRY(simt_smem(w, v, address, n * each, SIMT_ASYNC_READ, &from));
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *bytes = simt_bytes(&from) + (size_t)i * each;
        if (!async_element(box, i, &to))
            continue;
        TS_TRY(eval_check(simt_run(w), v, to, each));
        TS_TRY(simt_watch_plain(w, v, TS_GLOBAL, to, bytes, each));
        TS_TRY(simt_global_touch(w, v, to, bytes, each));
    }
    TS_TRY(async_write_box(w, v, box, &from, false));
    simt_reading reading = {from.cta->rank, from.offset, from.offset + n * each, w->lane, w->bulk_open[w->lane], v};
    return TS_PUSH(&w->cta->machine->arena, &w->bulk_read, reading) ? TS_OK : simt_nomem(w);
}

ts_status simt_tensor_store(simt_warp *w, ts_val v)
{
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        async_box box;
        simt_tma tma = {.at = v};
        TS_TRY(async_box_of(w, v, lane, 2, &tma, &box));
        TS_TRY(async_put_box(w, v, &box, simt_opnd(w, v, 1)[lane]));
    }
    return TS_OK;
}

ts_status simt_tma_store(simt_warp *w, ts_val v)
{
    return async_put(w, v, false);
}

ts_status simt_tma_reduce(simt_warp *w, ts_val v)
{
    return async_put(w, v, true);
}

ts_status simt_bulk_store(simt_warp *w, ts_val v)
{
    for (uint32_t m = simt_predicated(w, v); m;) {
        uint32_t lane = simt_next(&m), bytes;
        uint64_t to = simt_opnd(w, v, 0)[lane], address = simt_opnd(w, v, 1)[lane];
        simt_place from;
        w->lane = lane;
        TS_TRY(async_bulk_bytes(w, v, lane, 2, address, to, &bytes));
        TS_TRY(simt_watch_plain(w, v, TS_SHARED, address, NULL, bytes));
        TS_TRY(simt_smem(w, v, address, bytes, SIMT_ASYNC_READ, &from));
        TS_TRY(simt_watch_plain(w, v, TS_GLOBAL, to, simt_bytes(&from), bytes));
        TS_TRY(simt_global_touch(w, v, to, simt_bytes(&from), bytes));
        memcpy((void *)(uintptr_t)to, simt_bytes(&from), bytes);
        simt_reading reading = {from.cta->rank, from.offset, from.offset + bytes, lane, w->bulk_open[lane], v};
        if (!TS_PUSH(&w->cta->machine->arena, &w->bulk_read, reading))
            return simt_nomem(w);
    }
    return TS_OK;
}

ts_status simt_bulk_commit(simt_warp *w, ts_val v)
{
    (void)v;
    for (uint32_t m = w->active; m;)
        w->bulk_open[simt_next(&m)]++;
    return TS_OK;
}

ts_status simt_bulk_wait(simt_warp *w, ts_val v)
{
    uint32_t allowed = TS_S_NUMBER(ts_at(simt_fn_of(w), v)->aux), kept = 0;
    for (uint32_t i = 0; i < w->bulk_read.n; i++) {
        simt_reading r = w->bulk_read.at[i];
        if (!(w->active >> r.lane & 1) || r.group + allowed >= w->bulk_open[r.lane])
            w->bulk_read.at[kept++] = r;
    }
    w->bulk_read.n = kept;
    return TS_OK;
}
