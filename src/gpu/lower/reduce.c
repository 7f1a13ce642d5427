/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions along one axis (lower.h): a tree over the registers of each thread, butterflies (or `redux`) over
 * the lanes that share the axis, one exchange through shared memory over the warps that do. The order depends on
 * the layout alone, so results are the same in every run. Any number of inputs, any pure body.
 *
 * A body that does not commute for sure (ir/commute.h) needs the ascending order: assign.c deals the axis out so
 * that its warp bits are the highest, and its other bits, of registers or lanes, are combined from the lowest to
 * the highest, each time with the half whose bit is clear on the left.
 *
 *     thread   a tree of 2^regs            lanes    5 x (shuffle, body)
 *     warps    st.shared, bar.sync, 2^warps values in order
 *     blocks   of a cluster: st.async to all, mbarrier, 2^blocks values in order (cluster.c)
 *
 * Results lie in the layout without the axis: every thread that shared a row holds its result.
 */
#include "ir/commute.h"
#include "gpu/lower/cluster.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"

typedef struct reduce_state {
    ts_val v;
    uint32_t n;             /* inputs */
    uint32_t axis;          /* flat bits */
    const ts_linear *from, *to;
    bool symmetric;         /* the body is one commutative operation */
} reduce_state;

/* Bytes of shared memory that an exchange between thread blocks may keep for itself. */
enum { REDUCE_SEND_MOST = 16384, REDUCE_WARPS_MOST = 32 };

static void reduce_combine(ts_lower *lw, const reduce_state *s, ts_val *acc, const ts_val *x)
{
    ts_val out[TS_COMBINE_INPUTS];
    ts__lower_combine(lw, s->v, acc, x, out);
    memcpy(acc, out, s->n * sizeof *out);
}

/* The first operation of the body. */
static const ts_inst *reduce_body(const ts_lower *lw, ts_val v)
{
    while (ts_at(lw->tile, ++v)->op == TS_OP_arg)
        continue;
    return ts_at(lw->tile, v);
}

static bool reduce_symmetric(const ts_lower *lw, ts_val v)
{
    const ts_inst *inst = reduce_body(lw, v);
    return ts_at(lw->tile, v)->n_opnd == 1 && ts_info(inst)->flags & TS_COMM && inst->n_opnd == 2 &&
           inst->opnd[0] != inst->opnd[1] && inst->opnd[0] > v && inst->opnd[1] > v && inst[1].op == TS_OP_yield;
}

/* Register bits that run over the axis. */
static uint32_t reduce_axis_regs(const reduce_state *s)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < s->from->n_reg; i++)
        mask |= s->from->reg[i] & s->axis ? 1u << i : 0;
    return mask;
}

/* The result's register `k` as a register number of the operand's layout: k spread over the kept bits. */
static uint32_t reduce_kept(const reduce_state *s, uint32_t k)
{
    uint32_t r = 0, at = 0;
    for (uint32_t i = 0; i < s->from->n_reg; i++)
        if (s->from->reg[i] & ~s->axis)
            r |= (k >> at++ & 1) << i;
    return r;
}

/* Within the thread: pairs, then pairs of pairs, by ascending register bit. */
static void reduce_thread(ts_lower *lw, const reduce_state *s, const ts_val *const *in, uint32_t first, ts_val *acc)
{
    uint32_t regs = reduce_axis_regs(s), bits[TS_LAYOUT_REGS], n = 0;
    ts_assert(s->n <= TS_COMBINE_INPUTS && first >> s->from->n_reg == 0);
    for (uint32_t i = 0; i < s->from->n_reg; i++)
        if (regs >> i & 1)
            bits[n++] = 1u << i;
    ts_val *work = TS_NEW_N(lw->arena, ts_val, (size_t)s->n << n);
    for (uint32_t k = 0; work && k < 1u << n; k++)
        for (uint32_t i = 0; i < s->n; i++)
            work[k * s->n + i] = in[i][first ^ ts_xor_of(bits, n, k)];
    for (uint32_t half = n ? 1u << (n - 1) : 0; work && half; half >>= 1)
        for (uint32_t k = 0; k < half; k++) {
            memmove(work + k * s->n, work + 2 * k * s->n, s->n * sizeof *work);
            reduce_combine(lw, s, work + k * s->n, k ? work + (2 * k + 1) * s->n : work + s->n);
        }
    if (work)
        memcpy(acc, work, s->n * sizeof *acc);
}

/* One `redux` instead of butterflies: 32-bit integers over a whole warp. */
static bool reduce_redux(ts_lower *lw, const reduce_state *s, ts_val *acc)
{
    static const struct {
        ts_op op;
        ts_rmw mode, unsign;
    } rows[] = {{TS_OP_addi, TS_RMW_ADD, TS_RMW_ADD},  {TS_OP_maxi, TS_RMW_MAX, TS_RMW_UMAX},
                {TS_OP_mini, TS_RMW_MIN, TS_RMW_UMIN}, {TS_OP_andi, TS_RMW_AND, TS_RMW_AND},
                {TS_OP_ori, TS_RMW_OR, TS_RMW_OR},     {TS_OP_xori, TS_RMW_XOR, TS_RMW_XOR}};
    const ts_inst *body = reduce_body(lw, s->v);
    for (uint32_t bit = 0; bit < TS_LAYOUT_LANES; bit++)
        if (!(s->from->lane[bit] & s->axis))
            return false;
    for (uint32_t i = 0; s->symmetric && ts_type_of(lw->fn, acc[0]) == TS_T_i32 && i < TS_COUNT(rows); i++)
        if (rows[i].op == body->op) {
            ts_rmw mode = body->aux & TS_A_UNSIGNED ? rows[i].unsign : rows[i].mode;
            acc[0] = ts_emit(&lw->b, TS_OP_redux, TS_T_i32, 1, acc, TS_S(mode, 0, 0), 0);
            return true;
        }
    return false;
}

/* Over one lane bit: afterwards both lanes hold the result. */
static void reduce_lane(ts_lower *lw, const reduce_state *s, uint32_t bit, ts_val *acc)
{
    ts_val other[TS_COMBINE_INPUTS], lower[TS_COMBINE_INPUTS], upper[TS_COMBINE_INPUTS];
    for (uint32_t i = 0; i < s->n; i++)
        other[i] = ts__lower_shuffle(lw, acc[i], ts__lower_i32(lw, 1u << bit), TS_SHFL_BFLY);
    if (s->symmetric) {
        reduce_combine(lw, s, acc, other);
        return;
    }
    /* both lanes must combine in the same order to get the same result */
    ts_val mine = ts_op2(&lw->b, TS_OP_andi, lw->tid, ts__lower_i32(lw, 1u << bit), 0);
    ts_val low = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, mine, ts__lower_i32(lw, 0), 0);
    for (uint32_t i = 0; i < s->n; i++) {
        lower[i] = ts_select(&lw->b, low, acc[i], other[i]);
        upper[i] = ts_select(&lw->b, low, other[i], acc[i]);
    }
    reduce_combine(lw, s, lower, upper);
    memcpy(acc, lower, s->n * sizeof *acc);
}

/* Over the lanes of the axis: afterwards all of them hold the result. */
static void reduce_lanes(ts_lower *lw, const reduce_state *s, ts_val *acc)
{
    if (reduce_redux(lw, s, acc))
        return;
    for (uint32_t bit = 0; bit < TS_LAYOUT_LANES; bit++)
        if (s->from->lane[bit] & s->axis)
            reduce_lane(lw, s, bit, acc);
}

/* ---- in ascending order -------------------------------------------------------------------------------------- */

/* Over the registers and lanes of the axis, bit after bit. `work` has all inputs of each register in turn; results lie
 * in registers whose bits of the axis are clear. */
static void reduce_ascending(ts_lower *lw, const reduce_state *s, ts_val *work)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < s->from->n_reg; i++)
        done |= s->from->reg[i] ? 0 : 1u << i; /* replicas */
    for (uint32_t flat = 0; flat < s->from->bits; flat++) {
        uint32_t column = 1u << flat & s->axis;
        for (uint32_t bit = 0; column && bit < s->from->n_reg; bit++) {
            done |= s->from->reg[bit] == column ? 1u << bit : 0;
            for (uint32_t r = 0; s->from->reg[bit] == column && r < 1u << s->from->n_reg; r++)
                if (!(r & done))
                    reduce_combine(lw, s, work + r * s->n, work + (r | 1u << bit) * s->n);
        }
        for (uint32_t bit = 0; column && bit < TS_LAYOUT_LANES; bit++)
            for (uint32_t r = 0; s->from->lane[bit] == column && r < 1u << s->from->n_reg; r++)
                if (!(r & done))
                    reduce_lane(lw, s, bit, work + r * s->n);
    }
}

/* The axis is dealt out as reduce_ascending and the exchange behind it need: each of its bits in one place, warps
 * with the highest ones in ascending order. */
static bool reduce_is_ascending(const reduce_state *s)
{
    const struct {
        const uint32_t *at;
        uint32_t n;
    } columns[] = {{s->from->reg, s->from->n_reg}, {s->from->lane, TS_LAYOUT_LANES}, {s->from->warp, s->from->n_warp}};
    uint32_t seen = 0;
    for (size_t k = 0; k < TS_COUNT(columns); k++)
        for (uint32_t i = 0; i < columns[k].n; i++) {
            uint32_t column = columns[k].at[i];
            if (!(column & s->axis))
                continue;
            if (!ts_is_pow2(column) || seen & column || (k == 2 && column < seen))
                return false;
            seen |= column;
        }
    return seen == s->axis;
}

/* The part of each warp: acc[k * n + i] is register k of input i. */
static void reduce_in_order(ts_lower *lw, const reduce_state *s, const ts_val *const *in, ts_val *acc)
{
    uint32_t n_in = 1u << s->from->n_reg;
    ts_val *work = TS_NEW_N(lw->arena, ts_val, n_in * s->n);
    if (!reduce_is_ascending(s)) {
        ts__lower_fail(lw, TS_INTERNAL, s->v, "the layout of a reduction in order has its warps elsewhere");
        return;
    }
    for (uint32_t j = 0; work && j < n_in * s->n; j++)
        work[j] = in[j % s->n][j / s->n];
    if (!work)
        return;
    reduce_ascending(lw, s, work);
    for (uint32_t k = 0; k < 1u << s->to->n_reg; k++)
        memcpy(acc + k * s->n, work + reduce_kept(s, k) * s->n, s->n * sizeof *acc);
}

/* ---- over warps ---------------------------------------------------------------------------------------------- */

static uint32_t reduce_axis_warps(const reduce_state *s)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < s->from->n_warp; i++)
        mask |= s->from->warp[i] & s->axis ? 1u << i : 0;
    return mask;
}

/* One exchange through shared memory: the warp bits it combines, and whether other thread blocks take part. */
typedef struct reduce_round {
    uint32_t warps, n_warps;
    bool cluster;
} reduce_round;

/* Element offset of a partial result: kept flat index times 2^n_warps, plus the warp's number in the round. */
static ts_val reduce_slot(ts_lower *lw, const reduce_state *s, const reduce_round *round, bool with_warp,
                          uint32_t bytes)
{
    uint32_t lane[TS_LAYOUT_LANES], warp[TS_LAYOUT_WARPS] = {0}, at = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        lane[i] = (s->to->lane[i] << round->n_warps) * bytes;
    for (uint32_t i = 0; i < s->from->n_warp; i++) {
        warp[i] = (s->to->warp[i] << round->n_warps) * bytes;
        if (round->warps >> i & 1)
            warp[i] = with_warp ? (1u << at++) * bytes : 0;
    }
    return ts__lower_linear(lw, lane, warp);
}

static uint32_t reduce_bytes(const ts_lower *lw, ts_type elem)
{
    return ts_type_bits(lw->module, ts__lower_memory_type(lw, elem)) / 8;
}

/* Shared memory of one input in a round. */
static uint32_t reduce_size(const ts_lower *lw, const reduce_state *s, const reduce_round *round, ts_val x)
{
    return ts_round_up(reduce_bytes(lw, ts_type_of(lw->fn, x)) << (s->to->bits + round->n_warps), 16);
}

static ts_val reduce_place(ts_lower *lw, const reduce_state *s, const reduce_round *round, ts_val base, uint32_t k,
                           bool with_warp, uint32_t bytes)
{
    int64_t fixed = ((int64_t)ts_lower_fixed(s->to, k) << round->n_warps) * bytes;
    return ts__lower_ptr(lw, base, reduce_slot(lw, s, round, with_warp, bytes), fixed);
}

static void reduce_read(ts_lower *lw, const reduce_state *s, const reduce_round *round, ts_val base, ts_type elem,
                        uint32_t k, ts_val *out)
{
    ts_type memory = ts__lower_memory_type(lw, elem);
    uint32_t bytes = reduce_bytes(lw, elem), n = 1u << round->n_warps, step = TS_MIN(n, 16 / bytes);
    ts_val at = reduce_place(lw, s, round, base, k, false, bytes);
    for (uint32_t i = 0; i < n; i += step)
        ts__lower_ld(lw, memory, ts__lower_ptr(lw, at, 0, i * bytes), step, TS_CACHE_NONE, 0, 0, out + i);
    for (uint32_t i = 0; i < n; i++)
        out[i] = ts__lower_from_memory(lw, out[i], elem);
}

static uint32_t reduce_local(const ts_lower *lw)
{
    return (1u << (lw->assign.n_warp - lw->assign.n_cta)) - 1;
}

/* Register k of an input, to the memory `base` of some thread block. */
static void reduce_write(ts_lower *lw, const reduce_state *s, const reduce_round *round, ts_val base, uint32_t k,
                         ts_val x)
{
    ts_type elem = ts_type_of(lw->fn, x);
    uint32_t same = ts__linear_replicas(s->from).warp | (round->cluster ? reduce_axis_warps(s) & reduce_local(lw) : 0);
    ts_val once = ts__lower_is_first(lw, (ts_place){.warp = same});
    x = ts__lower_to_memory(lw, x);
    ts__lower_st(lw, reduce_place(lw, s, round, base, k, true, reduce_bytes(lw, elem)), 1, &x, TS_CACHE_NONE, once);
}

/* acc[i]: the results of one register; combines those of all warps of the round, in order. */
static void reduce_gather(ts_lower *lw, const reduce_state *s, const reduce_round *round, const ts_val *base,
                          uint32_t k, ts_val *acc)
{
    ts_val parts[TS_COMBINE_INPUTS][REDUCE_WARPS_MOST];
    for (uint32_t i = 0; i < s->n; i++)
        reduce_read(lw, s, round, base[i], ts_type_of(lw->fn, acc[i]), k, parts[i]);
    for (uint32_t w = 0; w < 1u << round->n_warps; w++) {
        ts_val x[TS_COMBINE_INPUTS];
        for (uint32_t i = 0; i < s->n; i++)
            x[i] = parts[i][w];
        if (w == 0)
            memcpy(acc, x, s->n * sizeof *x);
        else
            reduce_combine(lw, s, acc, x);
    }
}

static reduce_round reduce_round_of(uint32_t warps, bool cluster)
{
    return (reduce_round){warps, ts_popcount(warps), cluster};
}

static void reduce_note(const ts_lower *lw, const reduce_state *s, const reduce_round *round, uint32_t bytes)
{
    ts__note(lw->tile, s->v, TS_NOTE_move, "shared", "%u bytes, partial results of %u %s", bytes, 1u << round->n_warps,
            round->cluster ? "thread blocks" : "warps");
}

/* Over warps: one buffer for each input, one barrier for all. acc[k * n + i]: register k of input i. */
static void reduce_exchange(ts_lower *lw, const reduce_state *s, uint32_t warps, bool cluster, ts_val *acc)
{
    reduce_round round = reduce_round_of(warps, cluster);
    uint32_t total = 0, region[TS_COMBINE_INPUTS] = {0};
    ts_val own[TS_COMBINE_INPUTS] = {0};
    if (!round.n_warps)
        return;
    for (uint32_t i = 0; i < s->n; i++) {
        region[i] = total;
        total += reduce_size(lw, s, &round, acc[i]);
    }
    uint32_t first = ts__shared_take(lw, total, s->v);
    reduce_note(lw, s, &round, total);
    for (uint32_t i = 0; i < s->n; i++) {
        ts_type memory = ts__lower_memory_type(lw, ts_type_of(lw->fn, acc[i]));
        own[i] = ts__shared_of_cta(lw, memory, first + region[i], TS_NO);
        for (uint32_t cta = 0; cta < (cluster ? 1u << lw->assign.n_cta : 1); cta++) {
            ts_val base = cluster ? ts__shared_of_cta(lw, memory, first + region[i], cta) : own[i];
            for (uint32_t k = 0; k < 1u << s->to->n_reg; k++)
                reduce_write(lw, s, &round, base, k, acc[k * s->n + i]);
        }
    }
    if (cluster)
        ts__lower_barrier(lw);
    else
        ts__lower_barrier_cta(lw);
    for (uint32_t k = 0; k < 1u << s->to->n_reg; k++)
        reduce_gather(lw, s, &round, own, k, acc + k * s->n);
    ts__shared_done(lw, first, total);
}

/* ---- over thread blocks ---------------------------------------------------------------------------------------- */

/* Stores that count at an mbarrier have 32 or 64 bits, and what is exchanged keeps its memory. */
static bool reduce_sends(const ts_lower *lw, const reduce_state *s, const ts_val *acc)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (reduce_bytes(lw, ts_type_of(lw->fn, acc[i])) < 4)
            return false;
        total += reduce_bytes(lw, ts_type_of(lw->fn, acc[i])) << (s->to->bits + s->from->n_warp);
    }
    return total <= REDUCE_SEND_MOST;
}

/* One thread of a block sends each of its results. */
static void reduce_send(ts_lower *lw, const reduce_state *s, const reduce_round *round, const ts_exchange *x,
                        ts_val base, uint32_t k, ts_val value)
{
    ts_place same = ts__linear_replicas(s->to);
    same.warp = (same.warp & reduce_local(lw)) | (ts__linear_replicas(s->from).warp & ~reduce_local(lw));
    uint32_t bytes = reduce_bytes(lw, ts_type_of(lw->fn, value));
    ts__exchange_send(lw, x, reduce_place(lw, s, round, base, k, true, bytes), value, same);
}

/* Over the warps of each block as above, then over the blocks by stores that the receivers wait for. */
static void reduce_cluster(ts_lower *lw, const reduce_state *s, uint32_t warps, uint32_t ctas, ts_val *acc)
{
    reduce_round inner = reduce_round_of(warps, false), outer = reduce_round_of(ctas, true);
    uint32_t total = 0, sent = 0, n_out = 1u << s->to->n_reg;
    ts_val in[TS_COMBINE_INPUTS] = {0}, out[TS_COMBINE_INPUTS] = {0};
    for (uint32_t i = 0; i < s->n; i++) {
        total += reduce_size(lw, s, &inner, acc[i]) + reduce_size(lw, s, &outer, acc[i]);
        sent += reduce_bytes(lw, ts_type_of(lw->fn, acc[i])) << (s->to->bits + outer.n_warps);
    }
    ts_exchange x = ts__exchange_begin(lw, s->v, total);
    for (uint32_t i = 0, at = 0; i < s->n; i++) {
        in[i] = ts__exchange_memory(lw, &x, ts_type_of(lw->fn, acc[i]), at);
        at += reduce_size(lw, s, &inner, acc[i]);
        out[i] = ts__exchange_memory(lw, &x, ts_type_of(lw->fn, acc[i]), at);
        at += reduce_size(lw, s, &outer, acc[i]);
    }
    reduce_note(lw, s, &inner, total);
    reduce_note(lw, s, &outer, sent);
    for (uint32_t j = 0; j < n_out * s->n && warps; j++)
        reduce_write(lw, s, &inner, in[j % s->n], j / s->n, acc[j]);
    ts__exchange_expect(lw, &x, sent);
    for (uint32_t k = 0; k < n_out && warps; k++)
        reduce_gather(lw, s, &inner, in, k, acc + k * s->n);
    for (uint32_t j = 0; j < n_out * s->n; j++)
        reduce_send(lw, s, &outer, &x, out[j % s->n], j / s->n, acc[j]);
    ts__exchange_wait(lw, &x);
    for (uint32_t k = 0; k < n_out; k++)
        reduce_gather(lw, s, &outer, out, k, acc + k * s->n);
}

/* Over the warps of each thread block, then over the blocks that share the tile. */
static void reduce_warps(ts_lower *lw, const reduce_state *s, ts_val *acc)
{
    uint32_t warps = reduce_axis_warps(s), local = reduce_local(lw);
    if (warps & ~local && reduce_sends(lw, s, acc)) {
        reduce_cluster(lw, s, warps & local, warps & ~local, acc);
        return;
    }
    reduce_exchange(lw, s, warps & local, false, acc);
    reduce_exchange(lw, s, warps & ~local, true, acc);
}

void ts__lower_reduce(ts_lower *lw, ts_val v)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    reduce_state s = {.v = v, .n = inst->n_opnd, .from = lw->assign.work[v]};
    if (s.n > TS_COMBINE_INPUTS) {
        ts__lower_fail(lw, TS_UNSUPPORTED, v, "a reduction of %u tiles at once; at most %d", s.n, TS_COMBINE_INPUTS);
        return;
    }
    s.axis =
        ts_axis_mask(ts__axis_of(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0)),
                                 ts_pool(lw->tile, inst)[0]));
    ts_linear slice = ts__linear_slice(s.from, s.axis);
    s.to = &slice;
    s.symmetric = reduce_symmetric(lw, v);
    const ts_val *in[TS_COMBINE_INPUTS];
    uint32_t n_out = 1u << slice.n_reg;
    ts_val *acc = TS_NEW_N(lw->arena, ts_val, n_out * s.n);
    for (uint32_t i = 0; i < s.n; i++)
        in[i] = ts__lower_get(lw, ts_opnd(lw->tile, v, i), s.from);
    if (!acc)
        return;
    if (!ts__body_commutes(lw->tile, v))
        reduce_in_order(lw, &s, in, acc);
    else
        for (uint32_t k = 0; k < n_out; k++) {
            reduce_thread(lw, &s, in, reduce_kept(&s, k), acc + k * s.n);
            reduce_lanes(lw, &s, acc + k * s.n);
        }
    reduce_warps(lw, &s, acc);
    for (uint32_t i = 0; i < s.n; i++) {
        ts_val *out = ts__lower_regs(lw, &slice);
        for (uint32_t k = 0; k < n_out; k++)
            out[k] = acc[k * s.n + i];
        ts__lower_set(lw, lw->shape.end[v] + 1 + i, &slice, out);
    }
}
