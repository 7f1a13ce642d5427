/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels with barriers, a warp at a time. What stands between two barriers is a run, done by one warp after the other;
 * control flow around a barrier is the block's, and takes scalars alone:
 *
 *     A                          for %w in (warps of the block) { A }
 *     for %k in (..) {           for %k in (..) {
 *       B                          for %w in (..) { B }
 *       bar_sync             ─▶    for %w in (..) { C }
 *       C                        }
 *     }
 *
 * A value that another run needs is made there again where that is cheap (thread numbers, addresses), and goes
 * through memory of the worker otherwise: its slot, with an element for each thread, or for each warp where it is the
 * same in the warp. What a loop of the block carries has a slot, too. A kernel whose barriers stand where threads might
 * part, or that returns early, takes the whole block as one tile instead.
 */
#include "pass/lockstep.h"

enum { SPLIT_DEPTH = 12 /* operations that are done again rather than kept */ };

/* ---- what belongs to the block -------------------------------------------------------------------------- */

static void split_mark(lockstep *c, ts_val v)
{
    for (ts_val at = c->shape.parent[v]; at; at = c->shape.parent[at])
        c->split.level[at] = true;
}

/* Regions with barriers, and those with a jump out of them to such a loop. */
static void split_levels(lockstep *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++)
        if (lock_is_barrier(ts_at(c->fn, v))) {
            c->split.level[v] = true;
            split_mark(c, v);
        }
    for (ts_val v = c->fn->inst.n; v-- > 1;) {
        uint32_t op = ts_at(c->fn, v)->op;
        ts_val loop = c->shape.parent[v];
        while (loop && !ts__is_loop(ts_at(c->fn, loop)->op))
            loop = c->shape.parent[loop];
        if ((op == TS_OP_break || op == TS_OP_continue) && loop && c->split.level[loop])
            split_mark(c, v);
    }
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        ts_val parent = c->shape.parent[v];
        bool of_block = !parent || c->split.level[parent];
        if ((ts_info(inst)->flags & TS_TERM || inst->op == TS_OP_arg) && of_block)
            c->split.level[v] = true;
        if (inst->op == TS_OP_res && c->split.level[inst->opnd[0]])
            c->split.level[v] = true;
    }
}

/* Do all threads of the block decide alike wherever its barriers need it? `is` is of the block. */
static bool split_agrees(const lockstep *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        if (inst->op == TS_OP_return && c->shape.parent[v])
            return false;
        if (c->split.level[v] && ((inst->op == TS_OP_if && c->is.vary[inst->opnd[0]]) ||
                                  (ts__is_loop(inst->op) && c->is.parts[v])))
            return false;
    }
    return true;
}

/* A run goes on behind regions that are its own: only the block's end it. */
static void split_runs(lockstep *c)
{
    uint32_t now = 1;
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        if (c->split.level[v] && ts_info(ts_at(c->fn, v))->flags & TS_REGION) {
            c->split.level[c->shape.end[v]] = true;
            if (c->shape.other[v])
                c->split.level[c->shape.other[v]] = true;
        }
        now += c->split.level[v];
        c->split.run[v] = c->split.level[v] ? 0 : now;
    }
}

/* ---- what is kept -------------------------------------------------------------------------------------------- */

/* Of the block, a scalar: in `map` wherever it can be used. */
static bool split_is_there(const lockstep *c, ts_val x)
{
    uint32_t op = ts_at(c->fn, x)->op;
    return op == TS_OP_param || op == TS_OP_shared_alloc ||
           ((op == TS_OP_arg || op == TS_OP_res) && c->split.level[x] && !c->split.block[x]);
}

static uint8_t split_depth(const lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint8_t depth = 0;
    bool again = ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_ptr_add || inst->op == TS_OP_mul_wide ||
                 inst->op == TS_OP_constant || inst->op == TS_OP_get_global || inst->op == TS_OP_shared ||
                 inst->op == TS_OP_local || inst->op == TS_OP_assume || (inst->op == TS_OP_sreg && !ts__is_clock(inst));
    if (split_is_there(c, v))
        return 1;
    if (!again || ts_info(inst)->flags & TS_SLOW || inst->op == TS_OP_divi || inst->op == TS_OP_remi)
        return SPLIT_DEPTH;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        depth = TS_MAX(depth, c->split.depth[ts_opnds(c->fn, inst)[i]]);
    return (uint8_t)TS_MIN(depth + 1, SPLIT_DEPTH);
}

/* The type of a value in its slot. */
static ts_type split_kept(const lockstep *c, ts_val v)
{
    ts_type type = ts_type_of(c->fn, v);
    return type == TS_T_i1 ? TS_T_i8 : ts_type_kind(c->m, type) == TS_KIND_PTR ? TS_T_i64 : type;
}

static void split_keep(lockstep *c, ts_val v)
{
    if (c->split.slot[v] || split_is_there(c, v) || c->split.depth[v] < SPLIT_DEPTH)
        return;
    ts_val owner = v; /* a for gives what it carries */
    if (c->split.level[v] && ts_at(c->fn, v)->op == TS_OP_res && ts_at(c->fn, ts_opnd(c->fn, v, 0))->op == TS_OP_for)
        owner = ts_opnd(c->fn, v, 0) + 2 + ts_at(c->fn, v)->aux;
    if (!c->split.slot[owner])
        c->split.slot[owner] = lock_memory_of(c, split_kept(c, v), c->split.n_tiles * (c->is.vary[v] ? LOCK_WARP : 1));
    c->split.slot[v] = c->split.slot[owner];
}

/* Slots for all that runs give each other, and for local memory. */
static void split_slots(lockstep *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++)
        c->split.depth[v] = split_depth(c, v);
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        if (c->split.level[v] && (inst->op == TS_OP_arg || inst->op == TS_OP_res))
            split_keep(c, v);
        for (uint32_t i = 0; i < inst->n_opnd && inst->op != TS_OP_res; i++) {
            ts_val x = ts_opnds(c->fn, inst)[i];
            if (!c->split.run[v] || c->split.run[x] != c->split.run[v])
                split_keep(c, x);
        }
        if (inst->op == TS_OP_local)
            c->split.slot[v] = lock_local_of(c, v, c->split.n_tiles * LOCK_WARP);
    }
}

bool ts__lock_split(lockstep *c)
{
    uint32_t n = c->fn->inst.n;
    lock_split *s = &c->split;
    *s = (lock_split){TS_NEW_N(c->scratch, uint8_t, n), TS_NEW_N(c->scratch, uint8_t, n), NULL,
                      TS_NEW_N(c->scratch, uint32_t, n), TS_NEW_N(c->scratch, uint32_t, n),
                      TS_NEW_N(c->scratch, ts_val, n), 0, 0};
    s->n_tiles = (c->n_threads + LOCK_WARP - 1) / LOCK_WARP;
    c->by_warp = false;
    if (!s->level || !s->depth || !s->run || !s->stamp || !s->slot || !ts__lock_vary(c))
        return false;
    split_levels(c);
    if (!split_agrees(c)) {
        s->level = NULL;
        return true;
    }
    s->block = c->is.vary;
    split_runs(c);
    c->by_warp = true;
    c->width = LOCK_WARP;
    return ts__lock_vary(c);
}

/* ---- values of other runs -------------------------------------------------------------------------------------- */

/* Where this warp's part of a slot is; outside of warps, that of the first one. */
static ts_val split_place(lockstep *c, ts_val v)
{
    ts_val at = !c->split.in_run ? ts_int(&c->b, TS_T_i32, 0) : c->is.vary[v] ? c->number : lock_warp_number(c);
    return lock_offset(c, c->split.slot[v], at);
}

static ts_val split_load(lockstep *c, ts_val v)
{
    ts_type type = ts_type_of(c->fn, v);
    ts_val x = lock_load(c, split_place(c, v), 0, 0, 0);
    if (type == TS_T_i1)
        return ts_cast(&c->b, TS_OP_trunci, x, TS_T_i1, 0);
    return ts_type_kind(c->m, type) == TS_KIND_PTR
               ? ts_cast(&c->b, TS_OP_int_to_ptr, x, lock_type(c, type, false), 0) : x;
}

/* `v` says which slot. */
static void split_store(lockstep *c, ts_val v, ts_val x)
{
    ts_type type = ts_type_of(c->fn, v);
    if (type == TS_T_i1)
        x = ts_cast(&c->b, TS_OP_exti, x, TS_T_i8, TS_A_UNSIGNED);
    else if (ts_type_kind(c->m, type) == TS_KIND_PTR)
        x = ts_cast(&c->b, TS_OP_ptr_to_int, x, TS_T_i64, 0);
    lock_store(c, split_place(c, v), x, 0, 0);
}

static void split_need(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    lock_split *s = &c->split;
    if (split_is_there(c, v) || s->stamp[v] == s->now)
        return;
    s->stamp[v] = s->now;
    if (s->slot[v] && inst->op != TS_OP_local) {
        c->map[v] = split_load(c, v);
        return;
    }
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        split_need(c, ts_opnds(c->fn, inst)[i]);
    lock_one(c, v);
}

/* A scalar that the block's control flow takes. */
static ts_val split_scalar(lockstep *c, ts_val x)
{
    c->split.now++;
    c->mask = 0, c->any = true;
    split_need(c, x);
    return c->map[x];
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

/* Operand `i` of what stands behind a run goes to the slot of this value; 0: to none. */
static ts_val split_target(const lockstep *c, ts_val u, uint32_t i)
{
    const ts_inst *inst = ts_at(c->fn, u);
    ts_val opener = ts__is_loop(inst->op) ? u : c->shape.parent[u], to = 0;
    while (opener && inst->op != TS_OP_yield && !ts__is_loop(ts_at(c->fn, opener)->op))
        opener = c->shape.parent[opener];
    uint32_t skip = opener && ts_at(c->fn, opener)->op == TS_OP_for ? 1 : 0;
    if (inst->op == TS_OP_yield || inst->op == TS_OP_break)
        to = c->shape.end[opener] + 1 + i;
    else if (inst->op == TS_OP_continue)
        to = opener + 1 + skip + i;
    else if (ts__is_loop(inst->op) && i >= 3 * skip)
        to = opener + 1 + skip + i - 3 * skip;
    return to && c->split.block[to] ? to : 0;
}

static bool split_gives(const lockstep *c, ts_val u)
{
    for (uint32_t i = 0; u && i < ts_at(c->fn, u)->n_opnd; i++)
        if (split_target(c, u, i))
            return true;
    return false;
}

static void split_needs(lockstep *c, ts_val from, ts_val to, uint32_t run)
{
    for (ts_val v = from; v < to; v++)
        for (uint32_t i = 0; i < ts_at(c->fn, v)->n_opnd && ts_at(c->fn, v)->op != TS_OP_res; i++)
            if (c->split.run[ts_opnd(c->fn, v, i)] != run)
                split_need(c, ts_opnd(c->fn, v, i));
}

/* What stands behind takes its values from the slots; all are read before one is written. */
static void split_give(lockstep *c, ts_val u)
{
    uint32_t n = ts_at(c->fn, u)->n_opnd;
    ts_val *x = TS_NEW_N(c->scratch, ts_val, (size_t)n + 1);
    for (uint32_t i = 0; x && i < n; i++) {
        ts_val to = split_target(c, u, i);
        x[i] = to ? lock_value(c, ts_opnd(c->fn, u, i), c->is.vary[to]) : 0;
    }
    for (uint32_t i = 0; x && i < n; i++)
        if (x[i])
            split_store(c, split_target(c, u, i), x[i]);
}

static void split_run(lockstep *c, ts_val from, ts_val to, ts_val behind)
{
    bool gives = split_gives(c, behind);
    uint32_t run = from < to ? c->split.run[from] : UINT32_MAX;
    if (from == to && !gives)
        return;
    ts_val opener = lock_tiles_begin(c);
    c->split.now++, c->split.in_run = true;
    split_needs(c, from, to, run);
    for (uint32_t i = 0; gives && i < ts_at(c->fn, behind)->n_opnd; i++)
        if (split_target(c, behind, i) && c->split.run[ts_opnd(c->fn, behind, i)] != run)
            split_need(c, ts_opnd(c->fn, behind, i));
    lock_walk(c, from, to);
    for (ts_val v = from; v < to; v++)
        if (c->split.slot[v] && ts_at(c->fn, v)->op != TS_OP_local && c->map[v])
            split_store(c, v, lock_value(c, v, c->is.vary[v]));
    if (gives)
        split_give(c, behind);
    lock_tiles_end(c, opener);
    c->split.in_run = false;
}

/* ---- the block's control flow ------------------------------------------------------------------------------------ */

static void split_range(lockstep *c, ts_val from, ts_val to);

static void split_end(lockstep *c, ts_val v, ts_val opener)
{
    uint32_t all = lock_n_results(c, v), n = 0;
    ts_type *types = TS_NEW_N(c->scratch, ts_type, (size_t)all + 1);
    for (uint32_t i = 0; types && i < all; i++)
        if (!c->split.block[c->shape.end[v] + 1 + i])
            types[n++] = lock_type(c, ts_type_of(c->fn, c->shape.end[v] + 1 + i), false);
    ts_end(&c->b, opener, n, types);
    ts_val at = n ? ts_res(&c->b, opener, 0) : 0;
    for (uint32_t i = 0; i < all; i++)
        if (!c->split.block[c->shape.end[v] + 1 + i])
            c->map[c->shape.end[v] + 1 + i] = at++;
}

static void split_if(lockstep *c, ts_val v)
{
    ts_val opener = ts_if_begin(&c->b, split_scalar(c, ts_opnd(c->fn, v, 0)));
    split_range(c, v + 1, c->shape.other[v]);
    ts_else(&c->b);
    split_range(c, c->shape.other[v] + 1, c->shape.end[v]);
    split_end(c, v, opener);
}

static void split_loop(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t skip = inst->op == TS_OP_for ? 3 : 0, n = 0, first = v + 1 + (skip ? 1 : 0);
    ts_val *in = TS_NEW_N(c->scratch, ts_val, (size_t)inst->n_opnd + 1), bound[3] = {0};
    if (!in)
        return;
    for (uint32_t i = 0; i < skip; i++)
        bound[i] = split_scalar(c, ts_opnd(c->fn, v, i));
    for (uint32_t i = skip; i < inst->n_opnd; i++)
        if (!c->split.block[first + i - skip])
            in[n++] = split_scalar(c, ts_opnd(c->fn, v, i));
    ts_val opener = skip ? ts_for_begin(&c->b, bound[0], bound[1], bound[2], n, in, inst->aux)
                         : ts_loop_begin(&c->b, n, in);
    ts_val at = opener + 1;
    if (skip)
        c->map[v + 1] = at++;
    for (uint32_t i = skip; i < inst->n_opnd; i++)
        if (!c->split.block[first + i - skip])
            c->map[first + i - skip] = at++;
    split_range(c, first + inst->n_opnd - skip, c->shape.end[v]);
    split_end(c, v, opener);
}

/* With the scalars alone; split_give has seen to the rest. */
static void split_term(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t n = 0;
    ts_val *out = TS_NEW_N(c->scratch, ts_val, (size_t)inst->n_opnd + 1);
    for (uint32_t i = 0; out && i < inst->n_opnd; i++)
        if (!split_target(c, v, i))
            out[n++] = split_scalar(c, ts_opnd(c->fn, v, i));
    if (out && inst->op != TS_OP_return)
        ts_term(&c->b, (ts_op)inst->op, n, out);
}

static ts_val split_next(const lockstep *c, ts_val v)
{
    return (ts_info(ts_at(c->fn, v))->flags & TS_REGION ? c->shape.end[v] : v) + 1;
}

static void split_range(lockstep *c, ts_val from, ts_val to)
{
    while (from < to && c->status == TS_OK) {
        ts_val v = from;
        while (v < to && !c->split.level[v])
            v = split_next(c, v);
        split_run(c, from, v, v < to ? v : 0);
        if (v == to)
            return;
        uint32_t op = ts_at(c->fn, v)->op;
        c->b.loc = c->fn->loc.at[v];
        if (op == TS_OP_if)
            split_if(c, v);
        else if (ts__is_loop(op))
            split_loop(c, v);
        else if (op == TS_OP_grid_sync)
            lock_grid_sync(c, v);
        else if (ts_info(ts_at(c->fn, v))->flags & TS_TERM)
            split_term(c, v);
        from = split_next(c, v);
    }
}

void lock_split_body(lockstep *c)
{
    split_slots(c);
    split_range(c, 1 + c->fn->n_params, c->fn->inst.n);
}
