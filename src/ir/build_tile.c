/* SPDX-License-Identifier: Apache-2.0
 *
 * Short ways of the builder to arrays and tiles: the parameters of an array argument, views on it, loads and stores of
 * tiles. Each is one instruction, or few, that ts_emit could make as well.
 */
#include "ir/ir.h"

void ts_fn_param_array(ts_builder *b, ts_type elem, uint32_t rank, ts_type index, ts_val *out)
{
    out[0] = ts_fn_param(b, ts_type_ptr(b->fn->module, elem, TS_GLOBAL));
    for (uint32_t i = 1; i <= 2 * rank; i++)
        out[i] = ts_fn_param(b, index);
}

/* Too many operands are a failure of the builder, not of memory. */
static ts_val tile_too_many(ts_builder *b)
{
    b->too_many = b->fn->module->arena->failed = true;
    return 0;
}

ts_val ts_tensor_view(ts_builder *b, ts_val base, uint32_t rank, const int64_t *dims, const int64_t *strides,
                      uint32_t n_dynamic, const ts_val *dynamic)
{
    ts_module *m = b->fn->module;
    ts_val opnds[1 + 2 * TS_MAX_RANK] = {base};
    ts_type pointer = ts_type_of(b->fn, base);
    if (rank > TS_MAX_RANK || n_dynamic > 2 * rank)
        return tile_too_many(b);
    if (n_dynamic)
        memcpy(opnds + 1, dynamic, n_dynamic * sizeof *dynamic);
    if (ts_type_kind(m, pointer) != TS_KIND_PTR)
        return ts_emit(b, TS_OP_make_tensor_view, TS_T_none, 1 + n_dynamic, opnds, 0, 0); /* the verifier objects */
    ts_type_info info = {.kind = TS_KIND_TENSOR_VIEW, .rank = (uint8_t)rank, .elem = ts_type_get(m, pointer)->elem,
                         .dims = dims, .strides = strides};
    return ts_emit(b, TS_OP_make_tensor_view, ts_type_make(m, &info), 1 + n_dynamic, opnds, 0, 0);
}

ts_val ts_partition_view(ts_builder *b, ts_val tensor_view, const int64_t *tile, ts_padding padding)
{
    static const int32_t axes[TS_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    ts_module *m = b->fn->module;
    ts_type tensor = ts_type_of(b->fn, tensor_view);
    if (ts_type_kind(m, tensor) != TS_KIND_TENSOR_VIEW)
        return ts_emit(b, TS_OP_make_partition_view, TS_T_none, 1, &tensor_view, 0, 0); /* the verifier objects */
    ts_type_info info = {.kind = TS_KIND_PARTITION_VIEW, .rank = ts_type_get(m, tensor)->rank,
                         .padding = (uint8_t)padding, .elem = tensor, .dims = tile, .dim_map = axes};
    return ts_emit(b, TS_OP_make_partition_view, ts_type_make(m, &info), 1, &tensor_view, 0, 0);
}

/* The tile of a view; its rank and the rank of its index. 0 when the value is no view of tiles. */
static ts_type tile_of_view(const ts_builder *b, ts_val view, uint32_t *rank)
{
    ts_module *m = b->fn->module;
    ts_type type = ts_type_of(b->fn, view);
    ts_kind kind = ts_type_kind(m, type);
    *rank = 0;
    if (kind < TS_KIND_PARTITION_VIEW || kind > TS_KIND_GATHER_SCATTER_VIEW)
        return TS_T_none;
    const ts_type_info *info = ts_type_get(m, type);
    *rank = info->rank;
    return ts_type_tile(m, ts_type_get(m, info->elem)->elem, info->rank, info->dims);
}

ts_val ts_load_view(ts_builder *b, ts_val view, const ts_val *index, uint32_t mem)
{
    uint32_t rank;
    ts_type tile = tile_of_view(b, view, &rank);
    ts_val opnds[1 + TS_MAX_RANK] = {view};
    if (rank)
        memcpy(opnds + 1, index, rank * sizeof *index);
    return ts_emit(b, TS_OP_load_view_tko, tile, 1 + rank, opnds, mem, 0);
}

void ts_store_view(ts_builder *b, ts_val view, ts_val tile, const ts_val *index, uint32_t mem)
{
    uint32_t rank;
    (void)tile_of_view(b, view, &rank);
    ts_val opnds[2 + TS_MAX_RANK] = {view, tile};
    if (rank)
        memcpy(opnds + 2, index, rank * sizeof *index);
    ts_emit(b, TS_OP_store_view_tko, TS_T_token, 2 + rank, opnds, mem, 0);
}
