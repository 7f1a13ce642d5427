/* SPDX-License-Identifier: Apache-2.0
 *
 * Assertions, the operations that order the grid (gdc, fences), and memory that a kernel brings with it (alloca, dense
 * constants). Read lower.h first.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"
#include "pass/faults.h"
#include <stdio.h>

/* ---- faults ------------------------------------------------------------------------------------------------- */

static ts_val misc_wide(ts_lower *lw, ts_val x)
{
    return ts_type_of(lw->fn, x) == TS_T_i64 ? x : ts_cast(&lw->b, TS_OP_exti, x, TS_T_i64, 0);
}

void ts__lower_assert(ts_lower *lw, ts_val v)
{
    bool bounds = ts_at(lw->tile, v)->n_opnd == 3;
    ts_val x = ts_opnd(lw->tile, v, 0), all = 0, outside = 0;
    const ts_linear *home = ts__lower_home(lw, x);
    const ts_val *cond = ts__lower_get(lw, x, home);
    const ts_val *index = bounds ? ts__lower_get(lw, ts_opnd(lw->tile, v, 1), home) : NULL;
    for (uint32_t r = 0; r < 1u << home->n_reg; r++)
        if (!(r & ts__lower_repeats(home))) {
            if (bounds)
                outside = outside ? ts_select(&lw->b, cond[r], outside, index[r]) : index[r];
            all = all ? ts_op2(&lw->b, TS_OP_andi, all, cond[r], 0) : cond[r];
        }
    ts_fault_values fault = {.record = lw->faults.record,
                             .code = ts__lower_i32(lw, bounds ? TS_FAULT_BOUNDS : TS_FAULT_ASSERT),
                             .place = ts__loc_of(lw->tile, v),
                             .text = ts_str_get(lw->module, ts_at(lw->tile, v)->aux)};
    ts_val opener = ts_if_begin(&lw->b, all);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_else(&lw->b);
    if (bounds) {
        fault.index = misc_wide(lw, outside);
        fault.extent = misc_wide(lw, ts__lower_scalar(lw, ts_opnd(lw->tile, v, 2)));
    }
    ts__fault_claim(&lw->b, &fault, &lw->faults.messages);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_end(&lw->b, opener, 0, NULL);
}

void ts__lower_fault(ts_lower *lw, ts_val v)
{
    ts_val x[6];
    for (uint32_t i = 0; i < 6; i++)
        x[i] = ts__lower_scalar(lw, ts_opnd(lw->tile, v, i));
    ts_fault_values fault = {lw->faults.record, x[0], x[1], x[2], {x[3], x[4], x[5]}, ts__loc_of(lw->tile, v),
                             ts_str_get(lw->module, ts_at(lw->tile, v)->aux)};
    ts__fault_claim(&lw->b, &fault, &lw->faults.messages);
}

/* ---- grid order ------------------------------------------------------------------------------------------------- */

void ts__lower_gdc(ts_lower *lw, ts_val v)
{
    ts_op op = (ts_op)ts_at(lw->tile, v)->op;
    if (op == TS_OP_memory_fence_alias_tko) {
        ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_GPU, 0, 0), 0);
        ts__lower_barrier(lw);
        return;
    }
    if (op == TS_OP_gdc_launch_dependents_tko && (lw->order.stored | lw->order.loaded))
        ts__lower_barrier(lw);
    if (lw->env->target >= TS_TARGET_SM90) /* earlier GPUs run kernels one after the other anyway */
        ts_emit(&lw->b, op == TS_OP_gdc_wait_tko ? TS_OP_gdc_wait : TS_OP_gdc_launch_dependents, TS_T_none, 0, NULL, 0,
                0);
}

/* ---- memory of the block ---------------------------------------------------------------------------------------- */

/* Shared memory, for the whole kernel. Barriers around its accesses come with the unknown root (lower/ptr.c). */
void ts__lower_alloca(ts_lower *lw, ts_val v)
{
    const uint32_t *attributes = ts_pool(lw->tile, ts_at(lw->tile, v));
    uint32_t at = ts__shared_fix(lw, attributes[0], TS_MAX(attributes[1], 16u), v);
    lw->values.scalar[v] = ts__shared_pointer(lw, ts_type_get(lw->module, ts_type_of(lw->tile, v))->elem, at);
}

/* A table in global memory that the emitter writes out. */
ts_val ts__lower_dense(ts_lower *lw, ts_val v)
{
    char name[32];
    ts_type type = ts_type_of(lw->tile, v);
    uint32_t data = ts_at(lw->tile, v)->aux;
    int n = snprintf(name, sizeof name, "ts_dense%u", data);
    ts_str string = ts_intern(lw->module, name, (size_t)n);
    bool known = false;
    for (uint32_t i = 0; i < lw->module->globals.n; i++)
        known = known || lw->module->globals.at[i].name == string;
    int64_t count = ts_type_count(lw->module, type);
    ts_type flat = ts_type_tile(lw->module, ts_type_elem(lw->module, type), 1, &count);
    if (!known && !TS_PUSH(lw->module->arena, &lw->module->globals, ((ts_global){string, flat, data, 16, true})))
        return 0;
    return ts_emit(&lw->b, TS_OP_get_global, ts_type_ptr(lw->module, ts_type_elem(lw->module, type), TS_GLOBAL), 0,
                   NULL, string, 0);
}
