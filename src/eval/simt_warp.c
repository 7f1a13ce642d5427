/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: special registers, bit operations, exchanges within a warp, block and
 * cluster barriers, printf and trap.
 */
#include "eval/simt.h"
#include "ir/float.h"

/* Sets lane `lane` of value v to `expression` for each active lane. */
#define SIMT_EACH(expression)                                                                      \
    do {                                                                                           \
        ts_type each_type_ = ts_type_of(simt_fn_of(w), v);                                         \
        for (uint32_t m_ = w->active; m_;) {                                                       \
            uint32_t lane = simt_next(&m_);                                                        \
            uint64_t each_ = (expression);                                                         \
            simt_reg(w, v)[lane] = ts_type_is_scalar(each_type_) ? ts__scalar_wrap(each_type_, each_) : each_; \
        }                                                                                          \
    } while (0)

static uint32_t warp_aux(const simt_warp *w, ts_val v)
{
    return ts_at(simt_fn_of(w), v)->aux;
}

/* ---- leaves ------------------------------------------------------------------------------------------ */

ts_status simt_param(simt_warp *w, ts_val v)
{
    uint64_t value;
    TS_TRY(eval_param(simt_run(w), v, &value));
    SIMT_EACH(value + 0 * lane);
    return TS_OK;
}

ts_status simt_constant(simt_warp *w, ts_val v)
{
    uint64_t value;
    TS_TRY(eval_constant(simt_run(w), v, &value, 1));
    SIMT_EACH(value + 0 * lane);
    return TS_OK;
}

ts_status simt_get_global(simt_warp *w, ts_val v)
{
    uint64_t at = eval_global(simt_run(w), warp_aux(w, v));
    SIMT_EACH(at + 0 * lane);
    return at ? TS_OK : eval_fail(simt_run(w), v, TS_VERIFY, "no such global");
}

ts_status simt_assume(simt_warp *w, ts_val v)
{
    const uint32_t *words = ts_pool(simt_fn_of(w), ts_at(simt_fn_of(w), v));
    int64_t a = (int64_t)(words[1] | (uint64_t)words[2] << 32);
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        int64_t x = (int64_t)simt_opnd(w, v, 0)[lane];
        bool broken = words[0] == TS_ASSUME_DIV_BY && a && x % a;
        if (words[0] == TS_ASSUME_BOUNDED)
            broken = (words[1] && x < (int64_t)(words[2] | (uint64_t)words[3] << 32)) ||
                     (words[4] && x > (int64_t)(words[5] | (uint64_t)words[6] << 32));
        if (broken)
            return eval_fail(simt_run(w), v, TS_LAUNCH, "%lld breaks what was promised of it", (long long)x);
        simt_reg(w, v)[lane] = (uint64_t)x;
    }
    return TS_OK;
}

static uint64_t warp_sreg(const simt_warp *w, uint32_t kind, uint32_t lane)
{
    const simt_machine *machine = w->cta->machine;
    const uint32_t *block = machine->block, *cluster = machine->cluster;
    uint32_t thread = w->index * SIMT_LANES + lane, axis = kind % 3;
    if (kind <= TS_SREG_TID_Z)
        return (axis == 0 ? thread : axis == 1 ? thread / block[0] : thread / block[0] / block[1]) % block[axis];
    if (kind <= TS_SREG_CTAID_Z)
        return w->cta->block[axis];
    if (kind <= TS_SREG_NCTAID_Z)
        return machine->run.grid[axis];
    if (kind <= TS_SREG_NTID_Z)
        return block[axis];
    switch (kind) {
    case TS_SREG_LANEID:
        return lane;
    case TS_SREG_WARPID:
        return w->index;
    case TS_SREG_CLUSTER_RANK:
        return w->cta->rank;
    case TS_SREG_CLUSTER_ID:
        return w->cta->block[0] / cluster[0];
    case TS_SREG_CLUSTER_SIZE:
        return cluster[0] * cluster[1] * cluster[2];
    case TS_SREG_NCLUSTER:
        return machine->run.grid[0] / cluster[0];
    case TS_SREG_CLOCK64:
        return machine->run.env->steps;
    case TS_SREG_LANEMASK_LT:
        return (1u << lane) - 1;
    case TS_SREG_SHARED_BYTES:
        return machine->run.env->dynamic_bytes;
    default:
        return 0; /* SMID */
    }
}

ts_status simt_sreg(simt_warp *w, ts_val v)
{
    SIMT_EACH(warp_sreg(w, TS_S_KIND(warp_aux(w, v)), lane));
    return TS_OK;
}

ts_status simt_shared(simt_warp *w, ts_val v)
{
    uint64_t at = (uint64_t)SIMT_SHARED_BASE + ((uint64_t)w->cta->rank << SIMT_RANK_SHIFT) + warp_aux(w, v);
    SIMT_EACH(at + 0 * lane);
    return TS_OK;
}

ts_status simt_shared_alloc(simt_warp *w, ts_val v)
{
    uint64_t at = (uint64_t)SIMT_SHARED_BASE + ((uint64_t)w->cta->rank << SIMT_RANK_SHIFT);
    SIMT_EACH(at + w->cta->machine->alloc_at[v] + 0 * lane);
    return TS_OK;
}

ts_status simt_local(simt_warp *w, ts_val v)
{
    const uint32_t *words = ts_pool(simt_fn_of(w), ts_at(simt_fn_of(w), v));
    size_t bytes = ((size_t)words[0] + 15) & ~(size_t)15;
    uint8_t *at = eval_own(&w->cta->machine->run, bytes * SIMT_LANES, 16, 0xCD);
    if (!at)
        return simt_nomem(w);
    SIMT_EACH((uint64_t)(uintptr_t)(at + bytes * lane));
    return TS_OK;
}

/* ---- bits --------------------------------------------------------------------------------------------- */

/* Pointers wrap at their width. */
static uint64_t warp_pointer(const simt_warp *w, ts_val v, uint64_t address)
{
    return ts_type_bits(w->cta->machine->module, ts_type_of(simt_fn_of(w), v)) == 32 ? address & 0xFFFFFFFF : address;
}

ts_status simt_ptr_add(simt_warp *w, ts_val v)
{
    SIMT_EACH(warp_pointer(w, v, simt_opnd(w, v, 0)[lane] + simt_opnd(w, v, 1)[lane]));
    return TS_OK;
}

static uint64_t warp_cut(uint64_t x, uint32_t bits)
{
    return bits >= 64 ? x : x & (((uint64_t)1 << bits) - 1);
}

ts_status simt_mul_wide(simt_warp *w, ts_val v)
{
    uint32_t cut = warp_aux(w, v) & TS_A_UNSIGNED ? ts__scalar_bits(simt_opnd_type(w, v, 0)) : 64;
    SIMT_EACH(warp_cut(simt_opnd(w, v, 0)[lane], cut) * warp_cut(simt_opnd(w, v, 1)[lane], cut));
    return TS_OK;
}

static uint64_t warp_narrow(uint32_t attr, uint64_t x)
{
    ts_round round = TS_A_ROUND(attr) == TS_APPROX || TS_A_ROUND(attr) == TS_FULL ? TS_RN : TS_A_ROUND(attr);
    return ts__float_from_f64(TS_A_GET_ELEM(attr), ts__float_to_f64(TS_T_f32, x), round);
}

ts_status simt_cvt_pack(simt_warp *w, ts_val v)
{
    uint32_t attr = warp_aux(w, v), bits = ts__scalar_bits(TS_A_GET_ELEM(attr));
    if (!ts__float_format_of(TS_A_GET_ELEM(attr)))
        return eval_fail(simt_run(w), v, TS_VERIFY, "needs the element type of its result");
    SIMT_EACH(warp_narrow(attr, simt_opnd(w, v, 0)[lane]) | warp_narrow(attr, simt_opnd(w, v, 1)[lane]) << bits);
    return TS_OK;
}

ts_status simt_pack2(simt_warp *w, ts_val v)
{
    uint32_t bits = ts__scalar_bits(simt_opnd_type(w, v, 0));
    SIMT_EACH(warp_cut(simt_opnd(w, v, 0)[lane], bits) | simt_opnd(w, v, 1)[lane] << (bits & 63));
    return TS_OK;
}

ts_status simt_unpack2(simt_warp *w, ts_val v)
{
    ts_type half = simt_result_type(w, v);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t *out = simt_result(w, v, i);
        for (uint32_t m = out ? w->active : 0; m;) {
            uint32_t lane = simt_next(&m);
            out[lane] = ts__scalar_wrap(half, simt_opnd(w, v, 0)[lane] >> (i * ts__scalar_bits(half)));
        }
    }
    return TS_OK;
}

/* Byte i of the result is byte selector[i] & 7 of b:a, or with bit 3 that byte's sign, eight times. */
static uint64_t warp_prmt(uint64_t a, uint64_t b, uint32_t selector)
{
    uint64_t both = (a & 0xFFFFFFFF) | b << 32, out = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = selector >> (4 * i) & 15;
        uint64_t byte = both >> (8 * (nibble & 7)) & 255;
        if (nibble & 8)
            byte = byte & 128 ? 255 : 0;
        out |= byte << (8 * i);
    }
    return out;
}

ts_status simt_prmt(simt_warp *w, ts_val v)
{
    SIMT_EACH(warp_prmt(simt_opnd(w, v, 0)[lane], simt_opnd(w, v, 1)[lane], TS_S_NUMBER(warp_aux(w, v))));
    return TS_OK;
}

ts_status simt_popc(simt_warp *w, ts_val v)
{
    uint32_t bits = ts__scalar_bits(simt_opnd_type(w, v, 0));
    SIMT_EACH((uint64_t)__builtin_popcountll(warp_cut(simt_opnd(w, v, 0)[lane], bits)));
    return TS_OK;
}

static uint64_t warp_clz(uint64_t x, uint32_t bits)
{
    x = warp_cut(x, bits);
    return x ? (uint64_t)__builtin_clzll(x) - (64 - bits) : bits;
}

ts_status simt_clz(simt_warp *w, ts_val v)
{
    uint32_t bits = ts__scalar_bits(simt_opnd_type(w, v, 0));
    SIMT_EACH(warp_clz(simt_opnd(w, v, 0)[lane], bits));
    return TS_OK;
}

static uint64_t warp_brev(uint64_t x, uint32_t bits)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < bits; i++)
        out |= (x >> i & 1) << (bits - 1 - i);
    return out;
}

ts_status simt_brev(simt_warp *w, ts_val v)
{
    uint32_t bits = ts__scalar_bits(simt_opnd_type(w, v, 0));
    SIMT_EACH(warp_brev(simt_opnd(w, v, 0)[lane], bits));
    return TS_OK;
}

/* ---- exchanges within a warp ----------------------------------------------------------------------------- */

/* The lane that `lane` reads. `word` is the third operand of shfl.sync: clamp in bits 0-4, segment mask
 * in bits 8-12. */
static uint32_t warp_source(uint32_t kind, uint32_t lane, uint32_t b, uint32_t word)
{
    uint32_t clamp = word & 31, mask = word >> 8 & 31, low = lane & mask, high = low | (clamp & ~mask);
    uint32_t from = kind == TS_SHFL_UP     ? lane - (b & 31)
                    : kind == TS_SHFL_DOWN ? lane + (b & 31)
                    : kind == TS_SHFL_BFLY ? lane ^ (b & 31)
                                           : low | (b & 31 & ~mask);
    bool inside = kind == TS_SHFL_UP ? (int32_t)from >= (int32_t)high : from <= high;
    return inside ? from & 31 : lane;
}

/* Operand i says for each lane which take part with it; without it all do. */
static uint32_t warp_lanes(simt_warp *w, ts_val v, uint32_t i, uint32_t lane)
{
    return ts_at(simt_fn_of(w), v)->n_opnd > i ? (uint32_t)simt_opnd(w, v, i)[lane] : UINT32_MAX;
}

/* All lanes that take part with one that is here are here, too, and it is one of them. */
static ts_status warp_together(simt_warp *w, ts_val v, uint32_t i)
{
    w->synced++;
    if (ts_at(simt_fn_of(w), v)->n_opnd <= i) {
        TS_TRY(simt_watch_barrier(w, v));
        return simt_converged(w, v);
    }
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m), lanes = warp_lanes(w, v, i, lane);
        if (!(lanes >> lane & 1) || (lanes & w->lanes & ~w->exited & ~w->active))
            return eval_fail(simt_run(w), v, TS_LAUNCH, "lane %u of warp %u is here for lanes %08x; here are %08x",
                             lane, w->index, lanes, w->active);
    }
    return TS_OK;
}

ts_status simt_shfl(simt_warp *w, ts_val v)
{
    uint32_t aux = warp_aux(w, v);
    uint64_t value[SIMT_LANES];
    TS_TRY(warp_together(w, v, 2));
    memcpy(value, simt_opnd(w, v, 0), sizeof value);
    SIMT_EACH(value[warp_source(TS_S_KIND(aux), lane, (uint32_t)simt_opnd(w, v, 1)[lane], TS_S_NUMBER(aux))]);
    return TS_OK;
}

static uint32_t warp_ballot(const simt_warp *w, const uint64_t *predicate)
{
    uint32_t mask = 0;
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        mask |= (uint32_t)(predicate[lane] & 1) << lane;
    }
    return mask;
}

static uint64_t warp_said(uint32_t kind, uint32_t yes, uint32_t active, uint32_t lanes)
{
    yes &= lanes;
    return kind == TS_VOTE_BALLOT ? yes : kind == TS_VOTE_ANY ? yes != 0 : yes == (active & lanes);
}

ts_status simt_vote(simt_warp *w, ts_val v)
{
    if (TS_S_KIND(warp_aux(w, v)) == TS_VOTE_ACTIVE) {
        SIMT_EACH(w->active + 0 * lane);
        return TS_OK;
    }
    TS_TRY(warp_together(w, v, 1));
    uint32_t yes = warp_ballot(w, simt_opnd(w, v, 0)), kind = TS_S_KIND(warp_aux(w, v));
    SIMT_EACH(warp_said(kind, yes, w->active, warp_lanes(w, v, 1, lane)));
    return TS_OK;
}

ts_status simt_redux(simt_warp *w, ts_val v)
{
    TS_TRY(simt_converged(w, v));
    ts_rmw mode = (ts_rmw)TS_S_KIND(warp_aux(w, v));
    uint32_t m = w->active;
    uint64_t out = simt_opnd(w, v, 0)[simt_next(&m)];
    while (m)
        out = eval_rmw(w->cta->machine->module, mode, ts_type_of(simt_fn_of(w), v), out,
                       simt_opnd(w, v, 0)[simt_next(&m)], 0);
    SIMT_EACH(out + 0 * lane);
    return TS_OK;
}

static uint64_t warp_equals(const simt_warp *w, const uint64_t *value, uint32_t lane)
{
    uint64_t mask = 0;
    for (uint32_t m = w->active; m;) {
        uint32_t other = simt_next(&m);
        mask |= (uint64_t)(value[other] == value[lane]) << other;
    }
    return mask;
}

ts_status simt_match(simt_warp *w, ts_val v)
{
    TS_TRY(warp_together(w, v, 1));
    SIMT_EACH(warp_equals(w, simt_opnd(w, v, 0), lane) & warp_lanes(w, v, 1, lane));
    return TS_OK;
}

/* The lowest lane is elected. */
ts_status simt_elect(simt_warp *w, ts_val v)
{
    TS_TRY(simt_converged(w, v));
    uint32_t leader = (uint32_t)__builtin_ctz(w->active);
    SIMT_EACH(lane == leader);
    return TS_OK;
}

ts_status simt_warp_sync(simt_warp *w, ts_val v)
{
    return warp_together(w, v, 0);
}

/* ---- barriers ----------------------------------------------------------------------------------------------- */

/* A warp passes on what it knows: its clock, and then it begins a new interval of its own. */
static void warp_release(simt_warp *w, uint64_t *clock)
{
    simt_join(clock, w->clock);
    w->clock[w->index]++;
    w->synced++;
}

static uint32_t warp_living(const simt_cta *cta)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < cta->machine->n_warps; i++)
        n += cta->warp[i].wait != SIMT_DONE;
    return n;
}

/* Opens the barrier when enough threads are there. */
static void warp_bar_check(simt_cta *cta, uint32_t id)
{
    simt_bar *bar = &cta->bar[id];
    uint32_t wanted = bar->wanted ? bar->wanted : SIMT_LANES * warp_living(cta);
    if (bar->arrived < wanted)
        return;
    for (uint32_t i = 0; i < cta->machine->n_warps; i++) {
        simt_warp *w = &cta->warp[i];
        if (w->arrived && w->at_bar == id) {
            w->released = true;
            simt_join(w->clock, bar->clock);
        }
    }
    *bar = (simt_bar){0};
}

static uint32_t warp_bar_id(simt_warp *w, ts_val v)
{
    bool given = ts_at(simt_fn_of(w), v)->n_opnd > 0;
    return given ? (uint32_t)simt_opnd(w, v, 0)[__builtin_ctz(w->active)] : TS_S_KIND(warp_aux(w, v));
}

static ts_status warp_bar_arrive(simt_warp *w, ts_val v)
{
    uint32_t id = warp_bar_id(w, v), wanted = TS_S_NUMBER(warp_aux(w, v));
    TS_TRY(simt_watch_barrier(w, v));
    TS_TRY(simt_converged(w, v));
    if (id >= SIMT_BARS || wanted % SIMT_LANES)
        return eval_fail(simt_run(w), v, TS_VERIFY,
                         "barrier %u for %u threads; there are 16, for multiples of 32", id,
                         wanted);
    simt_bar *bar = &w->cta->bar[id];
    if (bar->arrived && bar->wanted != wanted)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "warp %u expects %u threads at barrier %u, others expect %u", w->index,
                         wanted, id, bar->wanted);
    bar->wanted = wanted;
    bar->arrived += SIMT_LANES;
    warp_release(w, bar->clock);
    if (wanted && bar->arrived > wanted)
        return eval_fail(simt_run(w), v, TS_LAUNCH, "%u threads at barrier %u for %u", bar->arrived, id, wanted);
    return TS_OK;
}

ts_status simt_bar_sync(simt_warp *w, ts_val v)
{
    uint32_t id = warp_bar_id(w, v);
    if (!w->arrived) {
        TS_TRY(warp_bar_arrive(w, v));
        w->arrived = true;
        w->at_bar = id;
    }
    if (!w->released)
        warp_bar_check(w->cta, id);
    if (!w->released) {
        simt_block(w, SIMT_AT_BAR);
        return TS_OK;
    }
    w->arrived = w->released = false;
    return TS_OK;
}

ts_status simt_bar_arrive(simt_warp *w, ts_val v)
{
    TS_TRY(warp_bar_arrive(w, v));
    warp_bar_check(w->cta, warp_bar_id(w, v));
    return TS_OK;
}

/* Opens the barrier of the cluster when every warp that has not ended is there. */
static void warp_cluster_check(simt_machine *machine)
{
    for (uint32_t i = 0; i < machine->n_ctas * machine->n_warps; i++) {
        const simt_warp *w = &machine->cta[i / machine->n_warps].warp[i % machine->n_warps];
        if (w->wait != SIMT_DONE && w->cluster_phase <= machine->cluster_phase)
            return;
    }
    machine->cluster_phase++;
}

ts_status simt_cluster_arrive(simt_warp *w, ts_val v)
{
    simt_machine *machine = w->cta->machine;
    TS_TRY(simt_converged(w, v));
    w->cluster_phase = machine->cluster_phase + 1;
    warp_release(w, w->cta->cluster_clock); /* within a CTA it is a barrier too */
    warp_cluster_check(machine);
    return TS_OK;
}

ts_status simt_cluster_wait(simt_warp *w, ts_val v)
{
    (void)v;
    warp_cluster_check(w->cta->machine); /* others may have ended */
    if (w->cta->machine->cluster_phase < w->cluster_phase)
        simt_block(w, SIMT_AT_CLUSTER);
    else
        simt_join(w->clock, w->cta->cluster_clock);
    return TS_OK;
}

/* The machine then has all blocks of the grid: simt_gather. */
ts_status simt_grid_sync(simt_warp *w, ts_val v)
{
    if (ts_at(simt_fn_of(w), v)->aux)
        return TS_OK;
    if (!w->arrived)
        TS_TRY(simt_cluster_arrive(w, v));
    w->arrived = true;
    TS_TRY(simt_cluster_wait(w, v));
    if (w->wait == SIMT_RUNS)
        w->arrived = false;
    return TS_OK;
}

ts_status simt_fence(simt_warp *w, ts_val v)
{
    if (TS_S_KIND(warp_aux(w, v)) == TS_FENCE_PROXY_ASYNC)
        w->fences++;
    simt_watch_fence(w);
    return TS_OK;
}

/* ---- ends ---------------------------------------------------------------------------------------------------- */

ts_status simt_trap(simt_warp *w, ts_val v)
{
    return eval_fail(simt_run(w), v, TS_LAUNCH, "trap in warp %u, lanes %08x", w->index, w->active);
}

ts_status simt_fault(simt_warp *w, ts_val v)
{
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        uint64_t opnd[6];
        for (uint32_t i = 0; i < 6; i++)
            opnd[i] = simt_opnd(w, v, i)[lane];
        TS_TRY(eval_fault_op(simt_run(w), v, opnd));
    }
    return TS_OK;
}

/* Functions of other code, which are linked on a GPU. */
ts_status simt_foreign(simt_warp *w, ts_val v)
{
    return eval_fail(simt_run(w), v, TS_UNSUPPORTED, "the interpreter has no code of foreign \"%s\"",
                     ts_str_get(simt_run(w)->module, warp_aux(w, v)));
}

ts_status simt_asm(simt_warp *w, ts_val v)
{
    return eval_fail(simt_run(w), v, TS_UNSUPPORTED, "the interpreter does not run PTX: asm \"%s\"",
                     ts_str_get(simt_run(w)->module, warp_aux(w, v)));
}

ts_status simt_printf(simt_warp *w, ts_val v)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    if (inst->n_opnd > 32)
        return eval_fail(simt_run(w), v, TS_VERIFY, "%u values in one printf", inst->n_opnd);
    for (uint32_t m = w->active; m;) {
        uint32_t lane = simt_next(&m);
        eval_arg args[32];
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            args[i] = (eval_arg){simt_opnd_type(w, v, i), simt_opnd(w, v, i) + lane};
        TS_TRY(eval_print(simt_run(w), v, inst->aux, args, inst->n_opnd));
    }
    return TS_OK;
}
