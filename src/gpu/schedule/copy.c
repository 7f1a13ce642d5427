/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies by cp.async (copy.h): which vectors there are, what of them lies in the array, and index arithmetic that is
 * written anew for a trip ahead.
 */
#include "gpu/schedule/copy.h"
#include "gpu/lower/code.h"
#include "gpu/lower/mma.h"
#include "gpu/lower/op.h"
#include "gpu/plan/tma.h"

bool ts__copy_slice(ts_lower *lw, ts_val loop, ts_val load, uint8_t *slice)
{
    const ts_type_info *info = ts_type_get(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, load, 0)));
    for (uint32_t i = 0; i < info->rank; i++)
        if (!ts__copied_slice(lw->tile, loop, ts_opnd(lw->tile, load, 1 + i), slice))
            return false;
    return true;
}

void ts__copy_rewrite(ts_lower *lw, const uint8_t *slice, ts_val loop, ts_val iv)
{
    lw->values.scalar[loop + 1] = iv;
    for (ts_val v = loop + 2; v < lw->shape.end[loop]; v++)
        if (slice[v] && ts_at(lw->tile, v)->op == TS_OP_constant)
            ts__lower_shape(lw, v);
        else if (slice[v])
            ts__lower_elementwise(lw, v);
}

bool ts__copy_fits(const view_access *a, const uint32_t *offset)
{
    uint32_t bytes = a->bytes << a->log_vec;
    const view_axis *unit = a->unit == TS_NO ? NULL : &a->axis[a->unit];
    if (!unit || bytes < 4 || bytes > 16)
        return false;
    for (uint32_t i = 0; i < a->log_vec; i++)
        if (offset[unit->bits.first + i] != 1u << i)
            return false;
    return unit->align >> a->log_vec != 0;
}

/* Bytes of register r's vector that lie in the array, the rest becomes zero; 0 = all, always. */
static ts_val copy_bytes(ts_lower *lw, const view_access *a, uint32_t r)
{
    ts_builder *b = &lw->b;
    const view_axis *unit = &a->axis[a->unit];
    ts_val inside = ts__view_inside(lw, a, r), bytes = ts__lower_i32(lw, a->bytes << a->log_vec);
    if (!inside)
        return 0;
    if (unit->check && !(unit->extent_div >> a->log_vec)) { /* the vector may reach over the edge */
        uint32_t at = (ts_lower_fixed(a->layout, r) & ts_axis_mask(unit->bits)) >> unit->bits.first;
        ts_val left = ts_op2(b, TS_OP_subi, unit->extent, ts__lower_add(lw, unit->local, at), 0);
        left = ts_op2(b, TS_OP_mini, left, ts_int(b, a->index, 1 << a->log_vec), 0);
        if (a->index != TS_T_i32)
            left = ts_cast(b, TS_OP_trunci, left, TS_T_i32, 0);
        bytes = ts_op2(b, TS_OP_muli, left, ts__lower_i32(lw, a->bytes), 0);
    }
    return ts_select(b, inside, bytes, ts__lower_i32(lw, 0));
}

void ts__copy_tile(ts_lower *lw, ts_val load, const ts_linear *home, const uint32_t *offset, ts_val base)
{
    view_access a;
    ts__view_describe(lw, &a, load, 1, home);
    ts__note(lw->tile, load, TS_NOTE_load, "cp.async", "%u bytes a copy", a.bytes << a.log_vec);
    mma_box box = ts__mma_box(lw, base, home, offset, a.bytes);
    uint32_t bytes = a.bytes << a.log_vec, repeats = ts__linear_replicas(home).reg;
    ts_assert(bytes == 4 || bytes == 8 || bytes == 16); /* PTX ISA, cp.async */
    for (uint32_t r = 0; r < 1u << home->n_reg; r++) {
        if (r & (a.vector | repeats))
            continue;
        ts_val size = copy_bytes(lw, &a, r);
        ts_val opnds[3] = {ts__mma_address(lw, &box, ts_lower_fixed(home, r)), ts__view_pointer(lw, &a, r), size};
        ts_emit(&lw->b, TS_OP_cp_async, TS_T_none, size ? 3 : 2, opnds, TS_S(0, bytes, 0), size ? TS_F_SRC : 0);
    }
}
