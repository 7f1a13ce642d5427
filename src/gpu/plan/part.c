/* SPDX-License-Identifier: Apache-2.0
 *
 * See part.h. Cost: for each step of a way the instructions of the function, to count readers.
 */
#include "gpu/plan/part.h"

/* ---- finding ------------------------------------------------------------------------------------------------ */

uint32_t ts__part_uses(const ts_fn *fn, ts_val v)
{
    uint32_t n = 0;
    for (ts_val i = 1; i < fn->inst.n; i++)
        for (uint32_t k = 0; k < ts_at(fn, i)->n_opnd; k++)
            n += ts_opnds(fn, ts_at(fn, i))[k] == v;
    return n;
}

bool ts__part_is_splat(const ts_fn *fn, ts_val v)
{
    uint64_t bits;
    return ts_at(fn, v)->op == TS_OP_constant && !ts_at(fn, v)->aux && ts__const_bits(fn, v, &bits);
}

bool ts__part_follow(const ts_fn *fn, const ts_shape *shape, ts_val v, uint32_t axis, ts_op also, ts_part_way *out)
{
    ts_val way[TS_PART_WAY], region = shape->parent[v];
    uint32_t axes[TS_PART_WAY], n = 0;
    for (;; v = ts_opnd(fn, v, 0)) {
        const ts_inst *inst = ts_at(fn, v);
        if (n == TS_PART_WAY || axis == TS_NO || ts__part_uses(fn, v) != 1 || shape->parent[v] != region)
            return false;
        way[n] = v;
        axes[n++] = axis;
        if (inst->op == TS_OP_load_view_tko)
            break;
        if (inst->op == TS_OP_permute)
            axis = ts_pool(fn, inst)[1 + axis];
        else if (inst->op == TS_OP_reshape)
            axis = ts__type_axis_before(fn->module, inst->type, ts_type_of(fn, inst->opnd[0]), axis);
        else if (inst->op != TS_OP_assume && (!also || inst->op != also))
            return false;
    }
    out->n = n;
    for (uint32_t i = 0; i < n; i++) {
        out->value[i] = way[n - 1 - i];
        out->axis[i] = axes[n - 1 - i];
    }
    ts_val load = out->value[0];
    return ts_at(fn, ts_opnd(fn, load, 0))->op == TS_OP_make_partition_view && !(ts_at(fn, load)->flags & TS_F_TOKEN);
}

/* ---- rewriting ---------------------------------------------------------------------------------------------- */

ts_type ts__part_tile(const ts_fn *fn, ts_type type, uint32_t axis, uint32_t parts)
{
    int64_t dims[TS_MAX_RANK];
    uint32_t rank = ts_type_rank(fn->module, type);
    ts_assert(axis < rank && ts_type_dims(fn->module, type)[axis] % parts == 0);
    memcpy(dims, ts_type_dims(fn->module, type), rank * sizeof *dims);
    dims[axis] /= parts;
    return ts_type_tile(fn->module, ts_type_elem(fn->module, type), rank, dims);
}

ts_val ts__part_view(ts_builder *b, const ts_fn *fn, ts_val view, ts_val array, uint32_t axis, uint32_t parts)
{
    ts_type_info info = *ts_type_get(fn->module, ts_type_of(fn, view));
    int64_t dims[TS_MAX_RANK];
    ts_assert(axis < info.rank && info.dims[axis] % parts == 0);
    memcpy(dims, info.dims, info.rank * sizeof *dims);
    dims[axis] /= parts;
    info.dims = dims;
    return ts_emit(b, TS_OP_make_partition_view, ts_type_make(fn->module, &info), 1, &array, 0, 0);
}

bool ts__part_copy(ts_builder *b, const ts_fn *fn, const ts_part_way *way, ts_val v, uint32_t parts, ts_val *map)
{
    for (uint32_t i = 0; i < way->n; i++) {
        if (way->value[i] != v)
            continue;
        ts_type type = ts__part_tile(fn, ts_type_of(fn, v), way->axis[i], parts);
        ts_val view = i ? 0 : ts_opnd(fn, v, 0), kept = map[view];
        if (view)
            map[view] = ts__part_view(b, fn, view, map[ts_opnd(fn, view, 0)], way->axis[i], parts);
        ts__copy(b, fn, v, map);
        if (view)
            map[view] = kept;
        b->fn->inst.at[map[v]].type = type;
        return true;
    }
    return false;
}
