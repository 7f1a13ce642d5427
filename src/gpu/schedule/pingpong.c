/* SPDX-License-Identifier: Apache-2.0
 *
 * Ping-pong (tma.h): two consumer warpgroups take the trips of a persistent loop in turn, each with a whole tile, so
 * that one's products run while the other stores. Both read one ring of stages, which the producer fills as for one.
 *
 *     for tile in (from, to, step)            for tile in (from + w * step, to, 2 * step)    w: warpgroup, 0 or 1
 *         for k in ..                             unless it is the first tile: await the turn
 *             products                            for k in ..: products               count = w * trips at first
 *         store                                   pass the turn, if there is a tile behind this one
 *                                                 store;  count += trips
 *
 * `trips` is how often the loop of products runs, the same for every tile; count numbers the ring's steps. A
 * further loop over tiles, perhaps smaller ones, goes on with the turns and the count of the one before. The turn
 * keeps products apart, and it keeps a warpgroup from taking the parity of a phase for that of two phases before: when
 * its turn comes, every step up to its own has been waited for.
 *
 * plan/pingpong.c tells which loops. Source of the schedule: CUTLASS's description of its "ping-pong" kernels for
 * Hopper. Cost: linear.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/schedule/turn.h"
#include "gpu/lower/code.h"

typedef struct pingpong_state {
    ts_val warpgroup; /* index of the thread's warpgroup, 0 = no warpgroups, or not yet */
} pingpong_state;

static pingpong_state *pingpong_of(const ts_lower *lw)
{
    return ts_strategy_state(lw, TS_STRATEGY_pingpong);
}

/* Group i of loads: the loop of products around them. */
static ts_val pingpong_inner(const ts_tma *tma, uint32_t i)
{
    return tma->groups.at[i].loop;
}

static ts_val pingpong_bound(const ts_lower *lw, ts_val loop, uint32_t i)
{
    return lw->values.scalar[ts_opnd(lw->tile, loop, i)];
}

static void pingpong_consumers(ts_lower *lw)
{
    if (!lw->assign.tma.active || !lw->assign.tma.pingpong)
        return;
    pingpong_of(lw)->warpgroup = ts__lower_warpgroup(lw);
    lw->tid = ts_lower_op2(lw, TS_OP_andi, lw->tid, ts__lower_i32(lw, TS_WARPGROUP - 1));
}

/* Number of the group whose loop over tiles, or of products, this is; TS_NO when none. */
static uint32_t pingpong_find(const ts_lower *lw, ts_val loop, bool inner)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; pingpong_of(lw)->warpgroup && i < tma->groups.n; i++)
        if (loop == (inner ? pingpong_inner(tma, i) : lw->shape.parent[pingpong_inner(tma, i)]))
            return i;
    return TS_NO;
}

static ts_val pingpong_outer(const ts_lower *lw, uint32_t i)
{
    return lw->shape.parent[pingpong_inner(&lw->assign.tma, i)];
}

/* How often a loop runs. */
static ts_val pingpong_trips(ts_lower *lw, ts_val loop)
{
    ts_val step = pingpong_bound(lw, loop, 2);
    ts_val distance = ts_lower_op2(lw, TS_OP_subi, pingpong_bound(lw, loop, 1), pingpong_bound(lw, loop, 0));
    distance = ts_lower_op2(lw, TS_OP_maxi, distance, ts__lower_i32(lw, 0));
    distance = ts_lower_op2(lw, TS_OP_addi, distance, ts__lower_add(lw, step, -1));
    return ts_lower_op2(lw, TS_OP_divi, distance, step);
}

/* Tiles that the block makes in loops `from` to `to`. */
static ts_val pingpong_tiles(ts_lower *lw, uint32_t from, uint32_t to)
{
    ts_val sum = ts__lower_i32(lw, 0);
    for (uint32_t i = from; i < to; i++)
        sum = ts_lower_op2(lw, TS_OP_addi, sum, pingpong_trips(lw, pingpong_outer(lw, i)));
    return sum;
}

/* 1 when the other warpgroup takes the first tile of loop i. */
static ts_val pingpong_offset(ts_lower *lw, uint32_t i)
{
    ts_val turn = ts_lower_op2(lw, TS_OP_xori, pingpong_of(lw)->warpgroup, pingpong_tiles(lw, 0, i));
    return ts_lower_op2(lw, TS_OP_andi, turn, ts__lower_i32(lw, 1));
}

static void pingpong_range(ts_lower *lw, ts_val v, ts_val range[3])
{
    uint32_t i = pingpong_find(lw, v, false);
    if (i == TS_NO)
        return;
    range[0] = ts_lower_op2(lw, TS_OP_addi, range[0], ts_lower_op2(lw, TS_OP_muli, pingpong_offset(lw, i), range[2]));
    range[2] = ts_lower_op2(lw, TS_OP_addi, range[2], range[2]);
}

static ts_val pingpong_first_step(ts_lower *lw, ts_val inner)
{
    uint32_t at = pingpong_find(lw, inner, true);
    if (at == TS_NO)
        return 0;
    ts_val sum = ts_lower_op2(lw, TS_OP_muli, pingpong_offset(lw, at), pingpong_trips(lw, inner));
    for (uint32_t i = 0; i < at; i++)
        sum = ts_lower_op2(lw, TS_OP_addi, sum,
                        ts_lower_op2(lw, TS_OP_muli, pingpong_trips(lw, pingpong_outer(lw, i)),
                                  pingpong_trips(lw, pingpong_inner(&lw->assign.tma, i))));
    return sum;
}

static ts_val pingpong_skip_steps(ts_lower *lw, ts_val opener, ts_val count)
{
    uint32_t i = pingpong_find(lw, opener, false);
    if (i == TS_NO)
        return count;
    return ts_lower_op2(lw, TS_OP_addi, count, pingpong_trips(lw, pingpong_inner(&lw->assign.tma, i)));
}

static void pingpong_turn(ts_lower *lw, ts_op op, ts_val pred, ts_val barrier)
{
    ts_val opener = ts_if_begin(&lw->b, pred);
    ts_turn(lw, op, barrier);
    ts_if_end(&lw->b, opener);
}

static void pingpong_await(ts_lower *lw, ts_val loop)
{
    uint32_t i = pingpong_find(lw, loop, true);
    if (i == TS_NO)
        return;
    ts_val outer = pingpong_outer(lw, i), before = pingpong_tiles(lw, 0, i);
    ts_val later = ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, lw->values.scalar[outer + 1], pingpong_bound(lw, outer, 0), 0);
    later = ts_lower_op2(lw, TS_OP_ori, later, ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, before, ts__lower_i32(lw, 0), 0));
    pingpong_turn(lw, TS_OP_bar_sync, later, ts_turn_of(lw, pingpong_of(lw)->warpgroup));
}

static void pingpong_pass(ts_lower *lw, ts_val loop)
{
    uint32_t i = pingpong_find(lw, loop, true);
    if (i == TS_NO)
        return;
    ts_val outer = pingpong_outer(lw, i), behind = pingpong_tiles(lw, i + 1, lw->assign.tma.groups.n);
    ts_val next = ts_lower_op2(lw, TS_OP_addi, lw->values.scalar[outer + 1], pingpong_bound(lw, outer, 2));
    ts_val more = ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, next, pingpong_bound(lw, outer, 1), 0);
    more = ts_lower_op2(lw, TS_OP_ori, more, ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, behind, ts__lower_i32(lw, 0), 0));
    pingpong_turn(lw, TS_OP_bar_arrive, more, ts_turn_of_other(lw, pingpong_of(lw)->warpgroup));
}

/* Threads of a warpgroup only. */
static bool pingpong_barrier(ts_lower *lw)
{
    ts_val warpgroup = pingpong_of(lw)->warpgroup;
    if (!warpgroup)
        return false;
    ts_val id = ts__lower_add(lw, warpgroup, TS_BAR_WARPGROUP);
    ts_emit(&lw->b, TS_OP_bar_sync, TS_T_none, 1, &id, TS_S(0, 32u << lw->assign.n_warp, 0), 0);
    return true;
}

const ts_strategy ts__strategy_pingpong = {
    .name = "pingpong",
    .state = sizeof(pingpong_state),
    .consumers = pingpong_consumers,
    .loop_range = pingpong_range,
    .loop_open = pingpong_await,
    .loop_end = pingpong_pass,
    .first_step = pingpong_first_step,
    .skip_steps = pingpong_skip_steps,
    .barrier = pingpong_barrier,
};
