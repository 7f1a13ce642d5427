/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of views and of the numbers behind them (view.h). Cost: short chains of operands.
 */
#include "gpu/plan/view.h"

enum { VIEW_DEPTH = 16 }; /* operations behind a number that are looked at */

/* ---- numbers ----------------------------------------------------------------------------------------- */

static int64_t view_divisor(const ts_fn *fn, ts_val v, uint32_t depth)
{
    const ts_inst *inst = ts_at(fn, v);
    int64_t value;
    if (ts__const_as_int(fn, v, &value))
        return ts_power_in(value);
    if (depth > VIEW_DEPTH)
        return 1;
    int64_t x = inst->n_opnd > 0 && inst->n_opnd <= 3 ? view_divisor(fn, inst->opnd[0], depth + 1) : 1;
    switch ((int)inst->op) {
    case TS_OP_assume: {
        const uint32_t *w = ts_pool(fn, inst);
        return w[0] == TS_ASSUME_DIV_BY && !w[3] ? TS_MAX(x, (int64_t)w[1] & -(int64_t)w[1]) : x;
    }
    case TS_OP_exti:
    case TS_OP_trunci:
    case TS_OP_ptr_to_ptr:
        return x;
    case TS_OP_muli:
        return TS_MIN(x * view_divisor(fn, inst->opnd[1], depth + 1), TS_POWER_MAX);
    case TS_OP_shli:
        if (!ts__const_as_int(fn, inst->opnd[1], &value) || value < 0 || value >= 30)
            return 1;
        return TS_MIN(x << value, TS_POWER_MAX);
    case TS_OP_andi:
        return TS_MAX(x, view_divisor(fn, inst->opnd[1], depth + 1));
    case TS_OP_select:
        return TS_MIN(view_divisor(fn, inst->opnd[1], depth + 1), view_divisor(fn, inst->opnd[2], depth + 1));
    case TS_OP_mini:
    case TS_OP_maxi:
    case TS_OP_addi:
    case TS_OP_subi:
    case TS_OP_ori:
    case TS_OP_xori:
        return TS_MIN(x, view_divisor(fn, inst->opnd[1], depth + 1));
    case TS_OP_offset: {
        const ts_type_info *pointer = ts_type_get(fn->module, inst->type);
        int64_t bytes = TS_MAX(1, (int64_t)ts_type_bits(fn->module, pointer->elem) / 8);
        return TS_MIN(x, bytes * view_divisor(fn, inst->opnd[1], depth + 1));
    }
    default:
        return 1;
    }
}

int64_t ts__lower_divisor(const ts_fn *fn, ts_val v)
{
    return view_divisor(fn, v, 0);
}

/* ---- views ------------------------------------------------------------------------------------------- */

ts_val ts__view_make(const ts_fn *fn, ts_val view)
{
    while (view && ts_at(fn, view)->op != TS_OP_make_tensor_view)
        view = ts_at(fn, view)->n_opnd ? ts_opnd(fn, view, 0) : 0;
    return view;
}

uint32_t ts__view_dynamic(const ts_type_info *tensor, bool stride, uint32_t dim)
{
    uint32_t at = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        if (!stride && i == dim)
            return tensor->dims[i] == TS_DYNAMIC ? at : TS_NO;
        at += tensor->dims[i] == TS_DYNAMIC;
    }
    for (uint32_t i = 0; i < dim; i++)
        at += tensor->strides[i] == TS_DYNAMIC;
    return tensor->strides[dim] == TS_DYNAMIC ? at : TS_NO;
}

/* Stride of an axis of the array, TS_DYNAMIC when it is not known. */
static int64_t view_stride(const ts_fn *fn, ts_val view, const ts_type_info *tensor, uint32_t dim)
{
    int64_t value;
    ts_val make = ts__view_make(fn, view);
    uint32_t at = ts__view_dynamic(tensor, true, dim);
    if (at == TS_NO)
        return tensor->strides[dim];
    return make && ts__const_as_int(fn, ts_opnd(fn, make, at), &value) ? value : TS_DYNAMIC;
}

uint32_t ts__view_unit_axis(const ts_fn *fn, ts_val view)
{
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    const ts_type_info *tensor = ts_type_get(fn->module, info->elem);
    uint32_t found = TS_NO;
    for (uint32_t axis = info->rank; axis-- > 0;) {
        uint32_t of = ts_view_array_axis(info, axis);
        bool one = tensor->dims[of] == 1;
        if (info->dims[axis] > 1 && view_stride(fn, view, tensor, of) == 1 && (found == TS_NO || !one))
            found = axis;
    }
    return found;
}

int64_t ts__view_align(const ts_fn *fn, ts_val view)
{
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view)),
                       *tensor = ts_type_get(fn->module, info->elem);
    uint32_t unit = ts__view_unit_axis(fn, view), bytes = TS_MAX(1u, ts_type_bits(fn->module, tensor->elem) / 8);
    uint32_t skip = unit == TS_NO ? TS_NO : ts_view_array_axis(info, unit);
    ts_val make = ts__view_make(fn, view);
    int64_t align = ts__lower_divisor(fn, ts_opnd(fn, make, 0));
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint32_t at = ts__view_dynamic(tensor, true, i);
        int64_t stride = at == TS_NO ? ts_power_in(tensor->strides[i]) : ts__lower_divisor(fn, ts_opnd(fn, make, at));
        align = i == skip ? align : TS_MIN(align, stride * bytes);
    }
    return unit != TS_NO ? align : 0;
}

bool ts__view_has_vectors(const ts_fn *fn, ts_val view)
{
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    uint32_t bits = ts_type_bits(fn->module, ts_type_get(fn->module, info->elem)->elem);
    return ts__view_align(fn, view) >= 2 * (int64_t)TS_MAX(1u, bits / 8);
}
