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
 * `trips` is how often the loop of products runs, the same for every tile; count numbers the ring's steps. The turn
 * keeps products apart, and it keeps a team from taking the parity of a phase for that of two phases before: when its
 * turn comes, every step up to its own has been waited for.
 *
 * For loops of which a team can make every operation by itself: one product, elementwise work, stores of its result.
 * Source of the schedule: CUTLASS's description of its "ping-pong" kernels for Hopper. Cost: linear.
 */
#include "target/ptx/lower.h"

enum { TEAM_WARPS = 4, TEAM_THREADS = 128, TEAM_BOTH = 256 };
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

/* The loop around that of the products, when it carries nothing and the inner one runs equally often in each trip. */
static ts_val teams_loop(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma)
{
    ts_val inner = tma->groups.at[0].loop, outer = inner ? shape->parent[inner] : 0;
    if (!teams_is_plain_for(fn, inner) || !teams_is_plain_for(fn, outer) || shape->parent[outer] ||
        ts_at(fn, outer)->n_opnd != 3 || !teams_step(fn, ts_opnd(fn, outer, 2)))
        return 0;
    for (uint32_t i = 0; i < 3; i++)
        if (ts_opnd(fn, inner, i) > outer)
            return 0;
    return outer;
}

static bool teams_product(const ts_fn *fn, const ts_tma *tma)
{
    if (tma->products.n != 1 || tma->groups.n != 1 || tma->rotated.n || !tma->products.at[0].late)
        return false;
    ts_type type = ts_type_of(fn, tma->products.at[0].mma);
    uint32_t bits = (uint32_t)ts_log2((uint64_t)ts_type_count(fn->module, type));
    return bits >= TEAM_LEAST && bits <= TEAM_MOST;
}

/* A store that goes through the team's staging. */
static bool teams_store(const ts_fn *fn, const ts_tma *tma, ts_val v)
{
    ts_tma_load access;
    ts_plan_tmap map;
    ts_type type = ts_type_of(fn, ts_opnd(fn, v, 1));
    uint32_t rank = ts_type_rank(fn->module, type), axes[2] = {rank - 2, rank - 1};
    return ts_tma_result_of(fn, tma, type) && ts_tma_describe(fn, v, axes, TS_T_none, &access, &map) &&
           access.inner_axis == rank - 1 && access.span >= 32 && (access.elem_bytes == 2 || access.elem_bytes == 4);
}

static bool teams_op(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma, ts_val outer, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t flags = ts_info(inst)->flags;
    bool inside = v > outer && v < shape->end[outer];
    switch ((int)inst->op) {
    case TS_OP_gdc_wait_tko:
    case TS_OP_gdc_launch_dependents_tko:
        return !inside;
    case TS_OP_load_view_tko:
        return inside;
    case TS_OP_store_view_tko:
        return inside && teams_store(fn, tma, v);
    case TS_OP_for:
        return v == outer || v == tma->groups.at[0].loop;
    default:
        return !(flags & (TS_READ | TS_WRITE | TS_SIDE | TS_REGION));
    }
}

ts_val ts_teams_plan(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma)
{
    ts_val outer = teams_product(fn, tma) ? teams_loop(fn, shape, tma) : 0;
    for (ts_val v = 1; outer && v < fn->inst.n; v++)
        if (!teams_op(fn, shape, tma, outer, v))
            return 0;
    return outer;
}

/* ---- lowering -------------------------------------------------------------------------------------------------- */

static ts_val teams_bound(const ts_lower *lw, ts_val loop, uint32_t i)
{
    return lw->scalar[ts_opnd(lw->tile, loop, i)];
}

static ts_val teams_op2(ts_lower *lw, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(&lw->b, op, x, y, 0);
}

void ts_teams_begin(ts_lower *lw)
{
    if (!lw->assign.tma.taken)
        return;
    ts_val warp = ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_WARPID, 0, 0), 0);
    lw->team = ts_op2(&lw->b, TS_OP_shri, warp, ts_lower_i32(lw, ts_log2(TEAM_WARPS)), TS_A_UNSIGNED);
    lw->tid = teams_op2(lw, TS_OP_andi, lw->tid, ts_lower_i32(lw, TEAM_THREADS - 1));
}

void ts_teams_range(ts_lower *lw, ts_val v, ts_val range[3])
{
    if (!lw->team || v != lw->assign.tma.taken)
        return;
    range[0] = teams_op2(lw, TS_OP_addi, range[0], teams_op2(lw, TS_OP_muli, lw->team, range[2]));
    range[2] = teams_op2(lw, TS_OP_addi, range[2], range[2]);
}

/* How often the loop of products runs. */
static ts_val teams_trips(ts_lower *lw)
{
    ts_val loop = lw->assign.tma.groups.at[0].loop, step = teams_bound(lw, loop, 2);
    ts_val way = teams_op2(lw, TS_OP_subi, teams_bound(lw, loop, 1), teams_bound(lw, loop, 0));
    way = teams_op2(lw, TS_OP_maxi, way, ts_lower_i32(lw, 0));
    way = teams_op2(lw, TS_OP_addi, way, ts_lower_add(lw, step, -1));
    return teams_op2(lw, TS_OP_divi, way, step);
}

ts_val ts_teams_first(ts_lower *lw)
{
    return lw->team ? teams_op2(lw, TS_OP_muli, lw->team, teams_trips(lw)) : ts_lower_i32(lw, 0);
}

ts_val ts_teams_skip(ts_lower *lw, ts_val opener, ts_val count)
{
    bool other = lw->team && opener == lw->assign.tma.taken;
    return other ? teams_op2(lw, TS_OP_addi, count, teams_trips(lw)) : count;
}

static void teams_turn(ts_lower *lw, ts_op op, ts_val pred, ts_val id)
{
    ts_val opener = ts_if_begin(&lw->b, pred);
    ts_emit(&lw->b, op, TS_T_none, 1, &id, TS_S(0, TEAM_BOTH, 0), 0);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_else(&lw->b);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_end(&lw->b, opener, 0, NULL);
}

static bool teams_is_inner(const ts_lower *lw, ts_val loop)
{
    return lw->team && loop == lw->assign.tma.groups.at[0].loop;
}

void ts_teams_await(ts_lower *lw, ts_val loop)
{
    if (!teams_is_inner(lw, loop))
        return;
    ts_val outer = lw->assign.tma.taken;
    ts_val later = ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, lw->scalar[outer + 1], teams_bound(lw, outer, 0), 0);
    teams_turn(lw, TS_OP_bar_sync, later, ts_lower_add(lw, lw->team, TS_BAR_TURN));
}

void ts_teams_pass(ts_lower *lw, ts_val loop)
{
    if (!teams_is_inner(lw, loop))
        return;
    ts_val outer = lw->assign.tma.taken;
    ts_val next = teams_op2(lw, TS_OP_addi, lw->scalar[outer + 1], teams_bound(lw, outer, 2));
    ts_val more = ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, next, teams_bound(lw, outer, 1), 0);
    teams_turn(lw, TS_OP_bar_arrive, more, teams_op2(lw, TS_OP_subi, ts_lower_i32(lw, TS_BAR_TURN + 1), lw->team));
}
