/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread blocks that share a tile block (cluster.h): how they begin, meet and part, and exchanges by st.async.
 *
 * An exchange sends every partial result to all blocks, each with its bytes counted by an mbarrier of the block it
 * goes to. So no block waits for stores or loads of global memory, as a barrier of the cluster would (its release is a
 * fence of the whole GPU). Inside loops memory and mbarriers are double:
 *
 *     turn   buffer  mbarrier  parity       a block sends turn e + 2 when it has all of turn e + 1, thus after every
 *     0 1    0 1     0 1       0 0          block has sent for e + 1, thus after all threads of every block have read
 *     2 3    0 1     0 1       1 1          turn e, before the barrier of their block in turn e + 1
 *
 * The turn is a word of shared memory that the first thread of a block counts up between its barrier and its arrival.
 */
#include "gpu/lower/cluster.h"
#include "gpu/lower/code.h"

enum { CLUSTER_BAR = 8, CLUSTER_TURN = 2 * CLUSTER_BAR, CLUSTER_SITE = CLUSTER_TURN + 8 };

static ts_val cluster_first(ts_lower *lw)
{
    return ts__lower_is_first(lw, (ts_place){.lane = 31, .warp = (1u << (lw->assign.n_warp - lw->assign.n_cta)) - 1});
}

/* How many reductions stand before `v`. */
static uint32_t cluster_sites(const ts_fn *fn, ts_val v)
{
    uint32_t n = 0;
    for (ts_val i = 1; i < v; i++)
        n += ts_at(fn, i)->op == TS_OP_reduce;
    return n;
}

static ts_val cluster_word(ts_lower *lw, ts_type elem, uint32_t site, uint32_t offset)
{
    ts_assert(offset < CLUSTER_SITE && offset % (ts_type_bits(lw->module, elem) / 8) == 0);
    return ts__shared_of_cta(lw, elem, lw->cluster.bars + site * CLUSTER_SITE + offset, TS_NO);
}

static void cluster_init(ts_lower *lw, uint32_t n)
{
    ts_val opener = ts_if_begin(&lw->b, cluster_first(lw)), zero = ts__lower_i32(lw, 0);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            ts_val bar = cluster_word(lw, TS_T_i64, i, k * CLUSTER_BAR);
            ts_emit(&lw->b, TS_OP_mbar_init, TS_T_none, 1, &bar, TS_S(0, 1, 0), 0);
        }
        ts__lower_st(lw, cluster_word(lw, TS_T_i32, i, CLUSTER_TURN), 1, &zero, TS_CACHE_NONE, 0);
    }
    ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_MBAR_INIT, 0, 0), 0);
    ts_if_end(&lw->b, opener);
    ts__lower_barrier_cta(lw);
}

void ts__cluster_begin(ts_lower *lw)
{
    uint32_t n = cluster_sites(lw->tile, lw->tile->inst.n);
    if (!lw->assign.n_cta)
        return;
    if (n) {
        lw->cluster.bars = ts__shared_fix(lw, n * CLUSTER_SITE, CLUSTER_BAR, 0);
        cluster_init(lw, n);
    }
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, TS_S(1, 0, 0), 0);
    lw->cluster.apart = true;
}

void ts__cluster_meet(ts_lower *lw)
{
    if (lw->cluster.apart)
        ts_emit(&lw->b, TS_OP_cluster_wait, TS_T_none, 0, NULL, 0, 0);
    lw->cluster.apart = false;
}

void ts__cluster_leave(ts_lower *lw)
{
    ts__cluster_meet(lw);
    if (lw->cluster.shares)
        ts__lower_barrier(lw); /* memory of a thread block is gone when it ends: not before the others are done */
}

bool ts__cluster_barrier(ts_lower *lw)
{
    if (!lw->assign.n_cta)
        return false;
    ts__cluster_meet(lw);
    lw->cluster.shares = true;
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, 0, 0);
    ts_emit(&lw->b, TS_OP_cluster_wait, TS_T_none, 0, NULL, 0, 0);
    return true;
}

void ts__cluster_arrive(ts_lower *lw)
{
    ts_assert(!lw->cluster.apart); /* two arrivals of a thread in one phase are undefined (PTX ISA, barrier.cluster) */
    ts_emit(&lw->b, TS_OP_cluster_arrive, TS_T_none, 0, NULL, 0, 0);
    lw->cluster.apart = true;
}

static bool cluster_repeats(const ts_lower *lw, ts_val v)
{
    for (v = lw->shape.parent[v]; v; v = lw->shape.parent[v])
        if (ts_at(lw->tile, v)->op != TS_OP_if)
            return true;
    return false;
}

ts_exchange ts__exchange_begin(ts_lower *lw, ts_val v, uint32_t bytes)
{
    ts_assert(lw->assign.n_cta && ts_at(lw->tile, v)->op == TS_OP_reduce); /* the sites that cluster_sites counts */
    ts_exchange x = {.site = cluster_sites(lw->tile, v)};
    bool repeats = cluster_repeats(lw, v);
    bytes = ts_round_up(bytes, 16);
    ts__cluster_meet(lw);
    x.at = ts__shared_fix(lw, bytes << repeats, 16, v);
    x.bar = cluster_word(lw, TS_T_i64, x.site, 0);
    x.parity = ts__lower_i32(lw, 0);
    if (!repeats)
        return x;
    ts__lower_ld(lw, TS_T_i32, cluster_word(lw, TS_T_i32, x.site, CLUSTER_TURN), 1, TS_CACHE_NONE, 0, 0, &x.turn);
    ts_val half = ts_op2(&lw->b, TS_OP_andi, x.turn, ts__lower_i32(lw, 1), 0);
    x.offset = ts_op2(&lw->b, TS_OP_muli, half, ts__lower_i32(lw, bytes), 0);
    x.bar = ts__lower_ptr(lw, x.bar, ts_op2(&lw->b, TS_OP_muli, half, ts__lower_i32(lw, CLUSTER_BAR), 0), 0);
    x.parity = ts_op2(&lw->b, TS_OP_andi, ts_op2(&lw->b, TS_OP_shri, x.turn, ts__lower_i32(lw, 1), TS_A_UNSIGNED),
                      ts__lower_i32(lw, 1), 0);
    return x;
}

ts_val ts__exchange_memory(ts_lower *lw, const ts_exchange *x, ts_type elem, uint32_t offset)
{
    ts_val own = ts__shared_of_cta(lw, elem, x->at + offset, TS_NO);
    return x->offset ? ts__lower_ptr(lw, own, x->offset, 0) : own;
}

void ts__exchange_expect(ts_lower *lw, const ts_exchange *x, uint32_t bytes)
{
    ts_val first = cluster_first(lw), opnds[] = {x->bar, ts__lower_i32(lw, bytes), first};
    ts__lower_barrier_cta(lw);
    if (x->turn) {
        ts_val next = ts__lower_add(lw, x->turn, 1);
        ts__lower_st(lw, cluster_word(lw, TS_T_i32, x->site, CLUSTER_TURN), 1, &next, TS_CACHE_NONE, first);
    }
    ts_emit(&lw->b, TS_OP_mbar_expect, TS_T_none, 3, opnds, 0, TS_F_MASK);
}

/* As many bits of `lanes` side by side as number the thread blocks; 0 = there are not so many. */
static uint32_t cluster_lanes(const ts_lower *lw, uint32_t lanes)
{
    uint32_t ctas = (1u << lw->assign.n_cta) - 1;
    for (uint32_t bit = 0; bit < TS_LAYOUT_LANES; bit++)
        if ((lanes >> bit & ctas) == ctas)
            return ctas << bit;
    return 0;
}

static void cluster_send(ts_lower *lw, const ts_exchange *x, ts_val at, ts_val value, ts_val rank, ts_val pred)
{
    ts_val to[] = {at, rank}, bar[] = {x->bar, rank};
    ts_val opnds[] = {ts_emit(&lw->b, TS_OP_mapa, ts_type_of(lw->fn, at), 2, to, 0, 0), value,
                      ts_emit(&lw->b, TS_OP_mapa, ts_type_of(lw->fn, x->bar), 2, bar, 0, 0), pred};
    ts_emit(&lw->b, TS_OP_st_async, TS_T_none, pred ? 4 : 3, opnds, 0, pred ? TS_F_MASK : 0);
}

void ts__exchange_send(ts_lower *lw, const ts_exchange *x, ts_val at, ts_val value, ts_place same)
{
    ts_assert(ts_type_bits(lw->module, ts_type_of(lw->fn, value)) == 32 ||
              ts_type_bits(lw->module, ts_type_of(lw->fn, value)) == 64); /* what st.async takes */
    uint32_t spread = cluster_lanes(lw, same.lane);
    ts_val pred = ts__lower_is_first(lw, (ts_place){.lane = same.lane & ~spread, .warp = same.warp});
    if (spread) {
        ts_val lane = ts__lower_op(lw, TS_OP_andi, lw->tid, spread, 0);
        ts_val rank = ts__lower_op(lw, TS_OP_shri, lane, __builtin_ctz(spread), TS_A_UNSIGNED);
        cluster_send(lw, x, at, value, rank, pred);
        return;
    }
    for (uint32_t cta = 0; cta < 1u << lw->assign.n_cta; cta++)
        cluster_send(lw, x, at, value, ts__lower_i32(lw, cta), pred);
}

void ts__exchange_wait(ts_lower *lw, const ts_exchange *x)
{
    ts_emit(&lw->b, TS_OP_mbar_wait, TS_T_none, 2, (ts_val[]){x->bar, x->parity}, 0, 0);
}
