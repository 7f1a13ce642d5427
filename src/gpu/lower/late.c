/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise work between a product's result and its store (lower.h). Done operation by operation, each over all
 * registers of the tile, it would keep several times the accumulator alive; done register by register while
 * the store takes them, little more than one.
 *
 *     %y = mulf %acc, %acc     late: all its readers lead to one store in the same region
 *     %z = addf %y, %bias      late
 *     store %z                 asks for register 0: its chain is written; then register 1, ..
 *
 * A tile of the same shape that is loaded for this alone (a residual) comes unit by unit, the next one while the
 * store is at work on one: all of it would take as many registers as the accumulator. Cost: linear.
 */
#include "gpu/lower/view_access.h"

enum { LATE_CONFLICT = UINT32_MAX };

static bool late_is_result(const ts_lower *lw, ts_val v)
{
    return lw->assign.home[v] && ts__tma_result_of(lw->tile, &lw->assign.tma, ts_type_of(lw->tile, v)) != 0;
}

/* From an array that this kernel never writes, so that it does not matter when. */
static bool late_is_load(ts_lower *lw, ts_val v)
{
    uint64_t roots = ts__lower_roots(lw, ts_opnd(lw->tile, v, 0));
    return !ts__tma_load_of(&lw->assign.tma, v) && ts_type_bits(lw->module, ts__lower_elem(lw, v)) >= 8 &&
           TS_M_GET_ORDER(ts_at(lw->tile, v)->aux) == TS_WEAK &&
           !(roots & (lw->hazards.ever_stored | (uint64_t)1 << TS_ROOT_UNKNOWN));
}

static bool late_is_work(ts_lower *lw, ts_val v, ts_val store)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    if (inst->op == TS_OP_load_view_tko)
        return late_is_result(lw, v) && late_is_load(lw, v) && lw->shape.parent[v] == lw->shape.parent[store];
    bool work = ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_reshape || inst->op == TS_OP_assume;
    return work && inst->n_opnd <= 3 && late_is_result(lw, v) && lw->shape.parent[v] == lw->shape.parent[store];
}

static void late_read(ts_lower *lw, ts_val v, uint32_t by)
{
    lw->late[v] = !lw->late[v] || lw->late[v] == by ? by : LATE_CONFLICT;
}

void ts__late_plan(ts_lower *lw)
{
    if (!lw->assign.tma.active || lw->assign.tma.split)
        return;
    for (ts_val v = lw->tile->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(lw->tile, v);
        bool store = inst->op == TS_OP_store_view_tko, work = !store && lw->late[v] && lw->late[v] != LATE_CONFLICT;
        if (!work || !late_is_work(lw, v, lw->late[v]))
            lw->late[v] = 0;
        for (uint32_t i = 0; inst->op != TS_OP_token && i < inst->n_opnd; i++)
            late_read(lw, ts_opnds(lw->tile, inst)[i], store && i == 1 ? v : lw->late[v] ? lw->late[v] : LATE_CONFLICT);
    }
}

/* ---- loads ------------------------------------------------------------------------------------------ */

struct ts_late_load {
    ts_late_load *next;
    ts_val load, *regs; /* 0 = not there yet */
    view_access access;
    ts_val pad;
};

static ts_late_load *late_open(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    ts_late_load *l = lw->late_loads;
    while (l && l->load != v)
        l = l->next;
    if (l)
        return l;
    l = TS_NEW(lw->arena, ts_late_load);
    if (!l)
        return NULL;
    *l = (ts_late_load){.next = lw->late_loads, .load = v, .regs = ts__lower_regs(lw, layout)};
    ts__view_describe(lw, &l->access, v, 1, layout);
    if (!ts__view_whole_vectors(&l->access))
        ts__view_single(&l->access);
    l->pad = ts__view_pad(lw, &l->access);
    ts__note(lw->tile, v, TS_NOTE_load, l->access.log_vec ? "vector" : "scalar", "%u bytes an access, into fragments",
            l->access.bytes << l->access.log_vec);
    return lw->late_loads = l;
}

/* The vector that register r belongs to. */
static void late_load(ts_lower *lw, ts_late_load *l, uint32_t r)
{
    const view_access *a = &l->access;
    ts_val values[16];
    if (l->regs[r])
        return;
    ts_val inside = ts__view_inside(lw, a, r & ~a->vector);
    ts__lower_ld(lw, a->elem, ts__view_pointer(lw, a, r & ~a->vector), 1u << a->log_vec,
                TS_CACHE_NONE, inside, inside ? l->pad : 0, values);
    for (uint32_t k = 0; k < 1u << a->log_vec; k++)
        l->regs[(r & ~a->vector) ^ a->member[k]] = values[k];
}

void ts__late_fetch(ts_lower *lw, ts_val store, const ts_linear *layout, uint32_t first, uint32_t n)
{
    for (ts_val v = 1; v < store; v++) {
        bool load = lw->late[v] == store && ts_at(lw->tile, v)->op == TS_OP_load_view_tko;
        ts_late_load *l = load ? late_open(lw, v, layout) : NULL;
        for (uint32_t r = first; l && r < first + n; r++)
            late_load(lw, l, r);
    }
}

/* ---- values ----------------------------------------------------------------------------------------- */

/* Register r of a late value, with what it is made of. */
static ts_val late_make(ts_lower *lw, ts_val v, const ts_linear *layout, uint32_t r)
{
    ts_inst inst = *ts_at(lw->tile, v);
    ts_val opnds[3] = {0};
    if (inst.op == TS_OP_load_view_tko) {
        ts_late_load *l = late_open(lw, v, layout);
        if (l)
            late_load(lw, l, r);
        return l ? l->regs[r] : 0;
    }
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        opnds[i] = ts__late_reg(lw, inst.opnd[i], layout, r);
    if (inst.op == TS_OP_reshape || inst.op == TS_OP_assume)
        return opnds[0];
    return ts__lower_one(lw, v, opnds);
}

ts_val ts__late_reg(ts_lower *lw, ts_val v, const ts_linear *layout, uint32_t r)
{
    if (!lw->late[v])
        return ts__lower_get(lw, v, layout)[r];
    ts_late_value *made = &lw->made[v];
    if (made->stamp != r + 1) /* one register after the other: the newest is enough */
        *made = (ts_late_value){late_make(lw, v, layout, r), r + 1};
    return made->value;
}
