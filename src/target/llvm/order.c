/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory order: what makes the lazy code generator keep loads and stores of arrays in program order.
 *
 * A load makes no code where it stands: its elements are read where they are used, which may be behind a
 * store that overwrites them, or in the middle of one, since a nest of several roots takes all of them
 * element by element. One rule keeps this right, and it is applied wherever a store is met:
 *
 *     before a store, no load that it may overwrite (pass/alias.h) is left to be read later, unless each
 *     element is read in the store's own nest, at the store's own place, before that element is written.
 *
 *     x = load(a, i)        x is live: read where it is used
 *     store(b, i, x + 1)    b is another array: nothing to do
 *     store(a, i, x * 2)    the same place: read and written in turn. If x is used again below, it
 *                           becomes a buffer in this nest
 *     store(a, j, y)        might be the same place in another order: x would be put in memory first
 *
 * So the rule needs no knowledge of which roots will share a nest, and no later decision can break it. Stores in
 * a region run on some ways only, or again: what they may overwrite is read before the region.
 */
#include "target/llvm/cg.h"

/* ---- what an expression looks at ----------------------------------------------------------------*/

/* Reshapes between shapes of one order of elements: the same place in both. */
static bool order_same_reshape(const cg *e, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    uint32_t rank = ts_type_rank(e->m, inst->type);
    int64_t count = ts_type_count(e->m, inst->type);
    return cg_same_space(e, inst->type, from) ||
           (count == ts_type_count(e->m, from) && (rank <= 1 || ts_type_dims(e->m, inst->type)[rank - 1] == count));
}

static bool order_reach(cg *e, ts_val v, bool same, cg_reach_fn *fn, void *user);

static bool order_reach_operands(cg *e, ts_val v, bool same, cg_reach_fn *fn, void *user)
{
    const ts_inst *inst = ts_at(e->fn, v);
    if (inst->op == TS_OP_res) { /* of a cold region */
        ts_val opener = inst->opnd[0], yield = e->shape.end[opener] - 1;
        for (uint32_t i = 0; i < ts_at(e->fn, yield)->n_opnd; i++)
            if (order_reach(e, ts_opnd(e->fn, yield, i), same, fn, user))
                return true;
        inst = ts_at(e->fn, opener);
    } else if (inst->op == TS_OP_reshape)
        same = same && order_same_reshape(e, inst);
    else if (!(ts_info(inst)->flags & (TS_ELEM | TS_READ)) && inst->op != TS_OP_assume)
        same = false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (order_reach(e, ts_opnds(e->fn, inst)[i], same, fn, user))
            return true;
    return false;
}

static bool order_reach(cg *e, ts_val v, bool same, cg_reach_fn *fn, void *user)
{
    uint32_t *mark = &e->mark[2 * v + same];
    if (!v || *mark == e->n_mark)
        return false;
    *mark = e->n_mark;
    if (fn(e, v, same, user))
        return true;
    return e->val[v].form == CG_LAZY && order_reach_operands(e, v, same, fn, user);
}

bool cg_reach(cg *e, ts_val v, bool same, cg_reach_fn *fn, void *user)
{
    e->n_mark++;
    return order_reach(e, v, same, fn, user);
}

/* ---- reads --------------------------------------------------------------------------------------*/

/* Is v read from its array when it is used? Not a tile that was copied where the load stands. */
static bool order_from_array(const cg *e, ts_val v)
{
    const cg_val *val = &e->val[v];
    if (val->form != CG_LAZY)
        return false;
    ts_op op = (ts_op)ts_at(e->fn, v)->op;
    return op == TS_OP_load_ptr_tko || (op == TS_OP_load_view_tko && val->source && !val->source->slot);
}

static bool order_note_read(cg *e, ts_val v, bool same, void *user)
{
    cg_reads *out = user;
    const cg_val *val = &e->val[v];
    uint32_t slot = val->form == CG_BUF && val->mem ? val->mem->slot : 0;
    bool array = order_from_array(e, v);
    if ((array || slot) && !TS_PUSH(e->arena, out, ((cg_read){array ? v : 0, slot, same})))
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
    return false;
}

static void order_reads_of(cg *e, ts_val inst, cg_reads *out)
{
    const ts_inst *w = ts_at(e->fn, inst);
    e->n_mark++;
    for (uint32_t i = 0; i < w->n_opnd; i++)
        (void)order_reach(e, ts_opnds(e->fn, w)[i], true, order_note_read, out);
}

void cg_order_reads(cg *e, const cg_root *root, cg_reads *out)
{
    if (root->kind == CG_STORE)
        (void)cg_reach(e, root->val, true, order_note_read, out);
    else
        order_reads_of(e, root->inst, out);
}

void cg_order_load(cg *e, ts_val v)
{
    if (order_from_array(e, v) && !TS_PUSH(e->arena, &e->live, v))
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
}

/* ---- stores -------------------------------------------------------------------------------------*/

/* May two accesses run element by element in one nest, or in any order? */
static bool order_in_turn(const cg *e, ts_val a, bool same, ts_val b)
{
    return !ts__alias_meet(&e->alias, a, b) || (same && ts__alias_same_place(&e->alias, a, b));
}

/* Does the open group read or write what w writes, in another order? */
static bool order_clashes(const cg *e, ts_val w)
{
    const cg_group *g = &e->group;
    for (uint32_t i = 0; i < g->root.n; i++)
        if (g->root.at[i].writes && !order_in_turn(e, g->root.at[i].inst, true, w))
            return true;
    for (uint32_t i = 0; i < g->read.n; i++)
        if (g->read.at[i].load && !order_in_turn(e, g->read.at[i].load, g->read.at[i].same, w))
            return true;
    return false;
}

/* The tile that a loop carries is overwritten at the end of each round. */
bool cg_order_scratch(const cg *e, const cg_root *root)
{
    const cg_group *g = &e->group;
    for (uint32_t i = 0; i < g->read.n && g->open && root->kind == CG_STORE && root->mem.slot; i++)
        if (g->read.at[i].slot == root->mem.slot && !g->read.at[i].same)
            return true;
    return false;
}

typedef enum order_need {
    ORDER_FREE,  /* nothing is read after w, or w leaves it alone */
    ORDER_JOIN,  /* element by element in the nest of w */
    ORDER_FIRST  /* all of it before w */
} order_need;

/* What must become of live load v before store w, whose nest reads `used`. */
static order_need order_need_of(const cg *e, ts_val v, ts_val w, bool joins, const cg_reads *used)
{
    bool later = e->plan.last[v] > w, here = false, elsewhere = false;
    for (uint32_t i = 0; i < used->n; i++) {
        here |= used->at[i].load == v;
        elsewhere |= used->at[i].load == v && !used->at[i].same;
    }
    if ((!later && !here) || !ts__alias_meet(&e->alias, v, w))
        return ORDER_FREE;
    if (!joins || elsewhere || !ts__alias_same_place(&e->alias, v, w))
        return ORDER_FIRST;
    return later ? ORDER_JOIN : ORDER_FREE;
}

/* Drops what is no longer live, keeps in memory what has this need; true if there was any. */
static bool order_keep(cg *e, ts_val w, bool joins, const cg_reads *used, order_need need)
{
    uint32_t n = 0;
    bool any = false;
    for (uint32_t i = 0; i < e->live.n; i++) {
        ts_val v = e->live.at[i];
        if (e->plan.last[v] < e->at || !order_from_array(e, v))
            continue;
        if (order_need_of(e, v, w, joins, used) == need) {
            cg_keep(e, v);
            any = true;
        } else
            e->live.at[n++] = v;
    }
    e->live.n = n;
    return any;
}

void cg_order(cg *e, ts_val w, bool joins)
{
    cg_reads used = {0};
    if (e->group.open && (!joins || order_clashes(e, w)))
        cg_flush(e);
    if (joins)
        order_reads_of(e, w, &used);
    if (order_keep(e, w, joins, &used, ORDER_FIRST))
        cg_flush(e);
    if (joins)
        (void)order_keep(e, w, joins, &used, ORDER_JOIN);
}

void cg_order_region(cg *e, ts_val opener)
{
    static const cg_reads none;
    bool any = false;
    for (ts_val w = opener + 1; w < e->shape.end[opener]; w++)
        if (ts_info(ts_at(e->fn, w))->flags & TS_WRITE || ts__alias_orders(e->fn, w))
            any |= order_keep(e, w, false, &none, ORDER_FIRST);
    if (any)
        cg_flush(e);
}
