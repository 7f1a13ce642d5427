/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams (tma.h): two teams of four consumer warps take the trips of a persistent loop in turn, each with a whole tile,
 * so that one team's products run while the other stores. Both read one ring of stages, which the producer fills as for
 * one team.
 *
 *     for tile in (from, to, step)            for tile in (from + team * step, to, 2 * step)    count = team * trips
 *         for k in ..                             unless it is the first tile: await my turn
 *             products                            for k in ..: products
 *         store                                   pass the turn, if there is a tile behind this one
 *                                                 store;  count += trips
 *
 * `trips` is how often the loop of products runs, the same for every tile; count numbers the ring's steps. A
 * further loop over tiles, perhaps smaller ones, goes on with the turns and the count of the one before. The turn
 * keeps products apart, and it keeps a team from taking the parity of a phase for that of two phases before: when its
 * turn comes, every step up to its own has been waited for.
 *
 * For loops of which a team can make every operation by itself: a product, elementwise work, stores of its result.
 * Source of the schedule: CUTLASS's description of its "ping-pong" kernels for Hopper. Cost: linear.
 */
#include "gpu/lower/lower.h"

/* log2 of a tile's elements: a team of four warps keeps 128 or 64 accumulators a thread. */
enum { TEAM_LEAST = 13, TEAM_MOST = 14 };
/* Steps of the loop, which are doubled, end far from the limit of i32. */
enum { TEAM_STEP = 1 << 24 };

/* ---- planning -------------------------------------------------------------------------------------------- */

static bool teams_is_plain_for(const ts_fn *fn, ts_val v)
{
    return v && ts_at(fn, v)->op == TS_OP_for && !(ts_at(fn, v)->aux & TS_A_UNSIGNED);
}

static bool teams_step(const ts_fn *fn, ts_val step)
{
    int64_t value;
    if (ts_const_as_int(fn, step, &value))
        return value > 0 && value <= TEAM_STEP;
    return ts_at(fn, step)->op == TS_OP_get_num_tile_blocks;
}

static ts_val teams_inner(const ts_tma *tma, uint32_t i)
{
    return tma->groups.at[i].loop;
}

/* Group i: a loop of products in a loop over tiles that carries nothing. How often the inner one runs is known before
 * the outer one, and how many tiles there are in all before the first. */
static bool teams_loops(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma, uint32_t i)
{
    ts_val inner = teams_inner(tma, i), outer = inner ? shape->parent[inner] : 0;
    if (!teams_is_plain_for(fn, inner) || !teams_is_plain_for(fn, outer) || shape->parent[outer] ||
        ts_at(fn, outer)->n_opnd != 3 || !teams_step(fn, ts_opnd(fn, outer, 2)))
        return false;
    for (uint32_t k = 0; k < 3; k++)
        if (ts_opnd(fn, inner, k) > outer || ts_opnd(fn, outer, k) > shape->parent[teams_inner(tma, 0)])
            return false;
    return true;
}

/* The first product is the one that most tiles are made by. */
static bool teams_products(const ts_fn *fn, const ts_tma *tma)
{
    if (!tma->groups.n || tma->products.n != tma->groups.n || (tma->groups.n > 1 && !tma->one_ring) || tma->rotated.n)
        return false;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_type type = ts_type_of(fn, tma->products.at[i].mma);
        uint32_t bits = (uint32_t)ts_log2((uint64_t)ts_type_count(fn->module, type));
        if (!tma->products.at[i].late || bits > TEAM_MOST || (i == 0 && bits < TEAM_LEAST))
            return false;
    }
    return true;
}

/* A store that goes through the team's staging. */
static bool teams_store(const ts_fn *fn, const ts_tma *tma, ts_val v)
{
    ts_tma_load access;
    ts_plan_tmap map;
    ts_type type = ts_type_of(fn, ts_opnd(fn, v, 1));
    uint32_t rank = ts_type_rank(fn->module, type), axes[2] = {rank - 2, rank - 1};
    return ts__tma_result_of(fn, tma, type) && ts__tma_describe(fn, v, axes, TS_T_none, &access, &map) &&
           access.inner_axis == rank - 1 && access.span >= TS_TMA_SPAN_LEAST &&
           (access.elem_bytes == 2 || access.elem_bytes == 4);
}

/* Inside a loop over tiles, or one of them or of the loops of products. */
static bool teams_inside(const ts_shape *shape, const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->groups.n; i++) {
        ts_val outer = shape->parent[teams_inner(tma, i)];
        if (v > outer && v < shape->end[outer])
            return true;
    }
    return false;
}

static bool teams_is_loop(const ts_shape *shape, const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->groups.n; i++)
        if (v == teams_inner(tma, i) || v == shape->parent[teams_inner(tma, i)])
            return true;
    return false;
}

static bool teams_op(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    switch ((int)inst->op) {
    case TS_OP_gdc_wait_tko:
    case TS_OP_gdc_launch_dependents_tko:
        return !teams_inside(shape, tma, v);
    case TS_OP_load_view_tko:
        return teams_inside(shape, tma, v);
    case TS_OP_store_view_tko:
        return teams_inside(shape, tma, v) && teams_store(fn, tma, v);
    case TS_OP_for:
        return teams_is_loop(shape, tma, v);
    default:
        return !(ts_info(inst)->flags & (TS_READ | TS_WRITE | TS_SIDE | TS_REGION));
    }
}

bool ts__teams_plan(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma)
{
    bool good = teams_products(fn, tma);
    for (uint32_t i = 0; i < tma->groups.n && good; i++)
        good = teams_loops(fn, shape, tma, i);
    for (ts_val v = 1; v < fn->inst.n && good; v++)
        good = teams_op(fn, shape, tma, v);
    return good;
}

/* ---- lowering -------------------------------------------------------------------------------------------------- */

static ts_val teams_bound(const ts_lower *lw, ts_val loop, uint32_t i)
{
    return lw->scalar[ts_opnd(lw->tile, loop, i)];
}

void ts__teams_begin(ts_lower *lw)
{
    if (!lw->assign.tma.teams)
        return;
    lw->team = ts__lower_warpgroup(lw);
    lw->tid = ts_lower_op2(lw, TS_OP_andi, lw->tid, ts__lower_i32(lw, TS_WARPGROUP - 1));
}

/* Number of the group whose loop over tiles, or of products, this is; TS_NO when none. */
static uint32_t teams_find(const ts_lower *lw, ts_val loop, bool inner)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; lw->team && i < tma->groups.n; i++)
        if (loop == (inner ? teams_inner(tma, i) : lw->shape.parent[teams_inner(tma, i)]))
            return i;
    return TS_NO;
}

static ts_val teams_outer(const ts_lower *lw, uint32_t i)
{
    return lw->shape.parent[teams_inner(&lw->assign.tma, i)];
}

/* How often a loop runs. */
static ts_val teams_trips(ts_lower *lw, ts_val loop)
{
    ts_val step = teams_bound(lw, loop, 2);
    ts_val way = ts_lower_op2(lw, TS_OP_subi, teams_bound(lw, loop, 1), teams_bound(lw, loop, 0));
    way = ts_lower_op2(lw, TS_OP_maxi, way, ts__lower_i32(lw, 0));
    way = ts_lower_op2(lw, TS_OP_addi, way, ts__lower_add(lw, step, -1));
    return ts_lower_op2(lw, TS_OP_divi, way, step);
}

/* Tiles that the block makes in loops `from` to `to`. */
static ts_val teams_tiles(ts_lower *lw, uint32_t from, uint32_t to)
{
    ts_val sum = ts__lower_i32(lw, 0);
    for (uint32_t i = from; i < to; i++)
        sum = ts_lower_op2(lw, TS_OP_addi, sum, teams_trips(lw, teams_outer(lw, i)));
    return sum;
}

/* 1 when the other team takes the first tile of loop i. */
static ts_val teams_offset(ts_lower *lw, uint32_t i)
{
    ts_val turn = ts_lower_op2(lw, TS_OP_xori, lw->team, teams_tiles(lw, 0, i));
    return ts_lower_op2(lw, TS_OP_andi, turn, ts__lower_i32(lw, 1));
}

void ts__teams_range(ts_lower *lw, ts_val v, ts_val range[3])
{
    uint32_t i = teams_find(lw, v, false);
    if (i == TS_NO)
        return;
    range[0] = ts_lower_op2(lw, TS_OP_addi, range[0], ts_lower_op2(lw, TS_OP_muli, teams_offset(lw, i), range[2]));
    range[2] = ts_lower_op2(lw, TS_OP_addi, range[2], range[2]);
}

ts_val ts__teams_first(ts_lower *lw, ts_val inner)
{
    uint32_t at = teams_find(lw, inner, true);
    ts_val sum = ts_lower_op2(lw, TS_OP_muli, teams_offset(lw, at), teams_trips(lw, inner));
    for (uint32_t i = 0; i < at; i++)
        sum = ts_lower_op2(lw, TS_OP_addi, sum,
                        ts_lower_op2(lw, TS_OP_muli, teams_trips(lw, teams_outer(lw, i)),
                                  teams_trips(lw, teams_inner(&lw->assign.tma, i))));
    return sum;
}

ts_val ts__teams_skip(ts_lower *lw, ts_val opener, ts_val count)
{
    uint32_t i = teams_find(lw, opener, false);
    return i == TS_NO ? count : ts_lower_op2(lw, TS_OP_addi, count, teams_trips(lw, teams_inner(&lw->assign.tma, i)));
}

static void teams_turn(ts_lower *lw, ts_op op, ts_val pred, ts_val barrier)
{
    ts_val opener = ts_if_begin(&lw->b, pred);
    ts__turn(lw, op, barrier);
    ts_if_end(&lw->b, opener);
}

void ts__teams_await(ts_lower *lw, ts_val loop)
{
    uint32_t i = teams_find(lw, loop, true);
    if (i == TS_NO)
        return;
    ts_val outer = teams_outer(lw, i), before = teams_tiles(lw, 0, i);
    ts_val later = ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, lw->scalar[outer + 1], teams_bound(lw, outer, 0), 0);
    later = ts_lower_op2(lw, TS_OP_ori, later, ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, before, ts__lower_i32(lw, 0), 0));
    teams_turn(lw, TS_OP_bar_sync, later, ts__turn_of(lw, lw->team));
}

void ts__teams_pass(ts_lower *lw, ts_val loop)
{
    uint32_t i = teams_find(lw, loop, true);
    if (i == TS_NO)
        return;
    ts_val outer = teams_outer(lw, i), behind = teams_tiles(lw, i + 1, lw->assign.tma.groups.n);
    ts_val next = ts_lower_op2(lw, TS_OP_addi, lw->scalar[outer + 1], teams_bound(lw, outer, 2));
    ts_val more = ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, next, teams_bound(lw, outer, 1), 0);
    more = ts_lower_op2(lw, TS_OP_ori, more, ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, behind, ts__lower_i32(lw, 0), 0));
    teams_turn(lw, TS_OP_bar_arrive, more, ts__turn_of_other(lw, lw->team));
}
