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
 * Cost: linear. Loads stay where they are.
 */
#include "target/ptx/lower.h"

enum { LATE_CONFLICT = UINT32_MAX };

static bool late_is_result(const ts_lower *lw, ts_val v)
{
    return lw->assign.home[v] && ts_tma_result_of(lw->tile, &lw->assign.tma, ts_type_of(lw->tile, v)) != 0;
}

static bool late_is_work(const ts_lower *lw, ts_val v, ts_val store)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    bool work = ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_reshape || inst->op == TS_OP_assume;
    return work && inst->n_opnd <= 3 && late_is_result(lw, v) && lw->shape.parent[v] == lw->shape.parent[store];
}

static void late_read(ts_lower *lw, ts_val v, uint32_t by)
{
    lw->late[v] = !lw->late[v] || lw->late[v] == by ? by : LATE_CONFLICT;
}

void ts_late_plan(ts_lower *lw)
{
    if (!lw->assign.tma.active)
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

/* Register r of a late value, with what it is made of. */
static ts_val late_make(ts_lower *lw, ts_val v, const ts_layout *layout, uint32_t r)
{
    ts_inst inst = *ts_at(lw->tile, v);
    ts_val opnds[3] = {0};
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        opnds[i] = ts_late_reg(lw, inst.opnd[i], layout, r);
    if (inst.op == TS_OP_reshape || inst.op == TS_OP_assume)
        return opnds[0];
    return ts_lower_one(lw, v, opnds);
}

ts_val ts_late_reg(ts_lower *lw, ts_val v, const ts_layout *layout, uint32_t r)
{
    if (!lw->late[v])
        return ts_lower_get(lw, v, layout)[r];
    ts_late_value *made = &lw->made[v];
    if (made->stamp != r + 1) /* one register after the other: the newest is enough */
        *made = (ts_late_value){late_make(lw, v, layout, r), r + 1};
    return made->value;
}
