/* SPDX-License-Identifier: Apache-2.0
 *
 * Which values may differ between the threads of a tile. Everything is the same until shown otherwise; a walk over the
 * function repeats until nothing changes:
 *
 *     sreg tid.x, local, atom, shfl        differ
 *     any other operation                  where an operand does
 *     results of an if                     where the condition or a yielded value does
 *     carried by a loop                    where the initial or a next value does; in a loop that threads leave one by
 *                                          one all that are still in it have made as many turns, so that a value with
 *                                          one `continue` stays the same
 *     results of a loop                    where a result does, or threads leave it one by one
 *
 * A loop parts its threads where a jump to it, or out of the function, stands under an `if` that they answer
 * differently, or where the bounds of a `for` differ. Cost: linear times nesting, in practice two walks.
 */
#include "pass/lockstep.h"

/* The thread number along the axis changes within a tile. */
static bool vary_thread(const lockstep *c, uint32_t axis)
{
    uint32_t below = 1; /* threads that share a number along this axis, in a row */
    for (uint32_t i = 0; i < axis; i++)
        below *= c->block[i];
    if (c->block[axis] == 1)
        return false;
    return !c->by_warp || axis == 0 || below % LOCK_WARP != 0;
}

static bool vary_sreg(const lockstep *c, const ts_inst *inst)
{
    switch (TS_S_KIND(inst->aux)) {
    case TS_SREG_TID:
    case TS_SREG_TID_Y:
    case TS_SREG_TID_Z:
        return vary_thread(c, TS_S_KIND(inst->aux) - TS_SREG_TID);
    case TS_SREG_LANEID:
    case TS_SREG_LANEMASK_LT:
        return true;
    case TS_SREG_WARPID:
        return !c->by_warp;
    default:
        return false;
    }
}

static bool vary_operands(const lockstep *c, const ts_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (c->is.vary[ts_opnds(c->fn, inst)[i]])
            return true;
    return false;
}

/* Do the threads in the target take the jump one by one? */
static bool vary_apart(const lockstep *c, ts_val jump, ts_val target)
{
    for (ts_val at = c->shape.parent[jump]; at != target; at = c->shape.parent[at])
        if (ts_at(c->fn, at)->op == TS_OP_if && c->is.vary[ts_opnd(c->fn, at, 0)])
            return true;
    return false;
}

static void vary_set(uint8_t *what, bool is, bool *changed)
{
    *changed |= is && !*what;
    *what |= is;
}

/* What operand i of the jumps `op` to an opener says, and how many there are. */
static uint32_t vary_jumps(const lockstep *c, ts_val opener, uint32_t op, uint32_t i, bool *vary)
{
    uint32_t n = 0;
    for (ts_val v = opener + 1; v < c->shape.end[opener]; v++) {
        bool here = op == TS_OP_yield ? c->shape.parent[v] == opener : ts__term_target(c->fn, &c->shape, v) == opener;
        if (ts_at(c->fn, v)->op != op || !here)
            continue;
        *vary |= i < ts_at(c->fn, v)->n_opnd && c->is.vary[ts_opnd(c->fn, v, i)];
        n++;
    }
    return n;
}

static bool vary_arg(const lockstep *c, ts_val v)
{
    ts_val opener = c->shape.parent[v];
    const ts_inst *of = ts_at(c->fn, opener);
    uint32_t i = ts_at(c->fn, v)->aux, skip = of->op == TS_OP_for ? 3 : 0;
    if (skip && !i)
        return c->is.vary[ts_opnd(c->fn, opener, 0)] || c->is.vary[ts_opnd(c->fn, opener, 2)];
    i -= skip ? 1 : 0;
    bool vary = c->is.vary[ts_opnd(c->fn, opener, skip + i)];
    uint32_t n = vary_jumps(c, opener, TS_OP_continue, i, &vary);
    return vary || (n > 1 && c->is.parts[opener]);
}

static bool vary_res(const lockstep *c, ts_val v)
{
    ts_val owner = ts_opnd(c->fn, v, 0);
    const ts_inst *of = ts_at(c->fn, owner);
    uint32_t i = ts_at(c->fn, v)->aux;
    bool vary = false;
    switch ((int)of->op) {
    case TS_OP_if:
        vary = c->is.vary[of->opnd[0]];
        (void)vary_jumps(c, owner, TS_OP_yield, i, &vary);
        return vary;
    case TS_OP_for:
        return c->is.parts[owner] || c->is.vary[ts_region_arg(c->fn, owner, i + 1)];
    case TS_OP_loop:
        (void)vary_jumps(c, owner, TS_OP_break, i, &vary);
        return vary || c->is.parts[owner];
    default:
        return c->is.vary[owner];
    }
}

static bool vary_one(const lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    switch ((int)inst->op) {
    case TS_OP_sreg:
        return vary_sreg(c, inst);
    case TS_OP_arg:
        return vary_arg(c, v);
    case TS_OP_res:
        return vary_res(c, v);
    case TS_OP_local:
    case TS_OP_atom:
    case TS_OP_shfl:
    case TS_OP_match:
    case TS_OP_elect:
    case TS_OP_mma_sync:
    case TS_OP_ldmatrix:
    case TS_OP_wgmma:
        return true;
    case TS_OP_vote:
    case TS_OP_redux:
        return !c->by_warp;
    default:
        return !(ts_info(inst)->flags & TS_REGION) && vary_operands(c, inst);
    }
}

bool lock_turns_part(const lockstep *c, ts_val loop)
{
    const ts_inst *inst = ts_at(c->fn, loop);
    for (uint32_t i = 0; i < 3 && inst->op == TS_OP_for; i++)
        if (c->is.vary[ts_opnd(c->fn, loop, i)])
            return true;
    for (ts_val v = loop + 1; v < c->shape.end[loop]; v++) {
        uint32_t op = ts_at(c->fn, v)->op;
        if ((op == TS_OP_break || op == TS_OP_continue) && ts__term_target(c->fn, &c->shape, v) == loop &&
            vary_apart(c, v, loop))
            return true;
    }
    return false;
}

static bool vary_parts(const lockstep *c, ts_val loop)
{
    for (ts_val v = loop + 1; v < c->shape.end[loop]; v++)
        if (ts_at(c->fn, v)->op == TS_OP_return) /* other warps go on, so it is never a jump of the result */
            return true;
    return lock_turns_part(c, loop);
}

/* Jumps that leave the regions around them. */
static void vary_note_jumps(lockstep *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        uint32_t op = ts_at(c->fn, v)->op;
        bool turns = op == TS_OP_break || op == TS_OP_continue;
        if (!turns && (op != TS_OP_return || c->alone)) /* one thread returns */
            continue;
        ts_val target = ts__term_target(c->fn, &c->shape, v);
        for (ts_val at = c->shape.parent[v]; at && at != target; at = c->shape.parent[at])
            c->is.jumps[at] |= turns ? LOCK_TURNS : LOCK_RETURNS;
    }
}

bool ts__lock_vary(lockstep *c)
{
    uint32_t n = c->fn->inst.n;
    c->is = (lock_vary){TS_NEW_N(c->scratch, uint8_t, n), TS_NEW_N(c->scratch, uint8_t, n),
                        TS_NEW_N(c->scratch, uint8_t, n)};
    if (!c->is.vary || !c->is.parts || !c->is.jumps)
        return false;
    vary_note_jumps(c);
    if (c->alone)
        return true;
    for (bool changed = true; changed;) {
        changed = false;
        for (ts_val v = 1; v < n; v++) {
            if (ts__is_loop(ts_at(c->fn, v)->op))
                vary_set(&c->is.parts[v], vary_parts(c, v), &changed);
            vary_set(&c->is.vary[v], vary_one(c, v), &changed);
        }
    }
    return true;
}
