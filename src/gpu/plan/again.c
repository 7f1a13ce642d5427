/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a kernel goes over the same memory in one loop after another, as norms in pieces do:
 *
 *     for %i:  load x[row, i]; sum          what the first loop read is to be in a cache still
 *     for %i:  load x[row, i]; store y      when the second one comes to it
 *
 * The rows of all blocks that run at once must fit L2 then, so few blocks with many warps and several trips of loads on
 * their way are better than many small ones (an H100 and layer norms of 64 KiB rows, in pieces of 1024: 16 warps and
 * four trips 4.1 ms, 4 warps and two trips 5.6 ms; of bfloat16 1.9 and 2.8 ms; their gradients 20 and 51 ms).
 *
 * Loops count where neither is within the other, and what several trips at once leave (ahead.c) counts with these.
 * Cost: the loads of loops, squared.
 */
#include "gpu/plan/again.h"
#include "pass/alias.h"

typedef struct again_load {
    ts_val loop;
    uint32_t root; /* the parameter that it leads back to */
} again_load;

bool ts__again_goes_on(const ts_fn *fn, ts_val loop)
{
    for (ts_val v = 1; v < loop; v++)
        if (ts_at(fn, v)->op == TS_OP_for && ts_opnd(fn, v, 1) == ts_opnd(fn, loop, 0))
            return true;
    return false;
}

/* The innermost `for` around `v`, unless it goes on where another one ended; 0: there is none. */
static ts_val again_loop(const ts_fn *fn, const ts_shape *shape, ts_val v)
{
    for (v = shape->parent[v]; v; v = shape->parent[v])
        if (ts_at(fn, v)->op == TS_OP_for)
            return ts__again_goes_on(fn, v) ? 0 : v;
    return 0;
}

static bool again_is_apart(const ts_shape *shape, ts_val x, ts_val y)
{
    return shape->end[x] < y || shape->end[y] < x;
}

bool ts__again(const ts_fn *fn, ts_arena *scratch)
{
    TS_VEC(again_load) loads = {0};
    ts_shape shape;
    ts_alias alias;
    if (!ts__has_op(fn, TS_OP_for) || !ts__shape_of(fn, scratch, &shape) || !ts__alias_of(fn, scratch, &alias))
        return false;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op != TS_OP_load_view_tko && inst->op != TS_OP_load_ptr_tko)
            continue;
        again_load load = {again_loop(fn, &shape, v), alias.root[ts_opnd(fn, v, 0)]};
        if (!load.loop || load.root == TS_ALIAS_UNKNOWN)
            continue;
        for (uint32_t i = 0; i < loads.n; i++)
            if (loads.at[i].root == load.root && again_is_apart(&shape, loads.at[i].loop, load.loop))
                return true;
        if (!TS_PUSH(scratch, &loads, load))
            return false;
    }
    return false;
}
