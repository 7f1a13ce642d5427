/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether two consumer warpgroups can take the tiles of a persistent loop in turn (schedule/pingpong.c): for loops
 * of which one warpgroup can make every operation by itself: a product, elementwise work, stores of its result.
 * Cost: linear.
 */
#include "gpu/plan/tma.h"

/* log2 of a tile's elements: a warpgroup keeps 128 or 64 accumulators a thread. */
enum { PINGPONG_LEAST = 13, PINGPONG_MOST = 14 };
/* Steps of the loop, which are doubled, end far from the limit of i32. */
enum { PINGPONG_STEP = 1 << 24 };

static bool pingpong_is_plain_for(const ts_fn *fn, ts_val v)
{
    return v && ts_at(fn, v)->op == TS_OP_for && !(ts_at(fn, v)->aux & TS_A_UNSIGNED);
}

static bool pingpong_step(const ts_fn *fn, ts_val step)
{
    int64_t value;
    if (ts__const_as_int(fn, step, &value))
        return value > 0 && value <= PINGPONG_STEP;
    return ts_at(fn, step)->op == TS_OP_get_num_tile_blocks;
}

static ts_val pingpong_inner(const ts_tma *tma, uint32_t i)
{
    return tma->groups.at[i].loop;
}

/* Group i: a loop of products in a loop over tiles that carries nothing. How often the inner one runs is known before
 * the outer one, and how many tiles there are in all before the first. */
static bool pingpong_loops(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma, uint32_t i)
{
    ts_val inner = pingpong_inner(tma, i), outer = inner ? shape->parent[inner] : 0;
    if (!pingpong_is_plain_for(fn, inner) || !pingpong_is_plain_for(fn, outer) || shape->parent[outer] ||
        ts_at(fn, outer)->n_opnd != 3 || !pingpong_step(fn, ts_opnd(fn, outer, 2)))
        return false;
    for (uint32_t k = 0; k < 3; k++)
        if (ts_opnd(fn, inner, k) > outer || ts_opnd(fn, outer, k) > shape->parent[pingpong_inner(tma, 0)])
            return false;
    return true;
}

/* The first product is the one that most tiles are made by. */
static bool pingpong_products(const ts_fn *fn, const ts_tma *tma)
{
    if (!tma->groups.n || tma->products.n != tma->groups.n || (tma->groups.n > 1 && !tma->one_ring) || tma->rotated.n)
        return false;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_type type = ts_type_of(fn, tma->products.at[i].mma);
        uint32_t bits = (uint32_t)ts_log2((uint64_t)ts_type_count(fn->module, type));
        if (!tma->products.at[i].waits_next_step || bits > PINGPONG_MOST || (i == 0 && bits < PINGPONG_LEAST))
            return false;
    }
    return true;
}

/* A store that goes through the warpgroup's staging. */
static bool pingpong_store(const ts_fn *fn, const ts_tma *tma, ts_val v)
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
static bool pingpong_inside(const ts_shape *shape, const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->groups.n; i++) {
        ts_val outer = shape->parent[pingpong_inner(tma, i)];
        if (v > outer && v < shape->end[outer])
            return true;
    }
    return false;
}

static bool pingpong_is_loop(const ts_shape *shape, const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->groups.n; i++)
        if (v == pingpong_inner(tma, i) || v == shape->parent[pingpong_inner(tma, i)])
            return true;
    return false;
}

static bool pingpong_op(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    switch ((int)inst->op) {
    case TS_OP_gdc_wait_tko:
    case TS_OP_gdc_launch_dependents_tko:
        return !pingpong_inside(shape, tma, v);
    case TS_OP_load_view_tko:
        return pingpong_inside(shape, tma, v);
    case TS_OP_store_view_tko:
        return pingpong_inside(shape, tma, v) && pingpong_store(fn, tma, v);
    case TS_OP_for:
        return pingpong_is_loop(shape, tma, v);
    default:
        return !(ts_info(inst)->flags & (TS_READ | TS_WRITE | TS_SIDE | TS_REGION));
    }
}

bool ts__pingpong_plan(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma)
{
    bool good = pingpong_products(fn, tma);
    for (uint32_t i = 0; i < tma->groups.n && good; i++)
        good = pingpong_loops(fn, shape, tma, i);
    for (ts_val v = 1; v < fn->inst.n && good; v++)
        good = pingpong_op(fn, shape, tma, v);
    return good;
}
