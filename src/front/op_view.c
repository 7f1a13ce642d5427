/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of arrays: Array.slice, tiled views (dense or with steps), raw memory, advanced indexing
 * (one axis chosen by a tile of indices). Part of the front end (lower.h); rows in tile_op.def.
 */
#include "front/lower.h"
#include "front/op.h"

static ts_status view_self(fr *f, const fr_call *c, fr_kind kind)
{
    return c->arg[0].kind == kind ? TS_OK
                                  : fr_arg_error(f, c, 0, "the value the method belongs to");
}

/* ---- slices -------------------------------------------------------------------------- */

static ts_status view_bound(fr *f, const fr_call *c, uint32_t i, ts_dtype dtype, fr_value *out)
{
    const fr_value *v = &c->arg[i];
    bool scalar =
        (v->kind == FR_NUMBER && v->cat != FR_FLOAT) ||
        (v->kind == FR_TILE && fr_dtype_is_int((ts_dtype)v->dtype) && !fr_shape_of(f, v).rank);
    if (!scalar)
        return fr_arg_error(f, c, i, "an integer scalar");
    return v->kind == FR_NUMBER ? fr_convert(f, v, dtype, TS_RN, out)
                                : fr_to_tile(f, v, dtype, out);
}

ts_status fr_op_array_slice(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a = TS_NEW(f->arena, fr_array), *from;
    uint32_t axis;
    fr_value start, stop, wide, stride, offset;
    TS_TRY(fr_arg_array(f, c, 0, &from));
    if (!a)
        return fr_oom(f);
    TS_TRY(fr_arg_axis(f, c, 1, from->rank, &axis));
    *a = *from;
    TS_TRY(view_bound(f, c, 2, (ts_dtype)a->index_dtype, &start));
    TS_TRY(view_bound(f, c, 3, (ts_dtype)a->index_dtype, &stop));
    TS_TRY(fr_binary(f, TS_OPERATOR_Sub, &stop, &start, (fr_options){0}, &a->shape[axis]));
    TS_TRY(fr_to_tile(f, &start, TS_DTYPE_int64, &wide));
    TS_TRY(fr_to_tile(f, &from->stride[axis], TS_DTYPE_int64, &stride));
    TS_TRY(fr_binary(f, TS_OPERATOR_Mult, &wide, &stride, (fr_options){0}, &offset));
    ts_val pair[] = {from->base, offset.as.v};
    a->base = ts_emit(&f->b, TS_OP_offset, ts_type_of(f->b.fn, from->base), 2, pair, 0, 0);
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    return fr_tensor_view(f, a);
}

ts_status fr_op_raw_memory(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a;
    TS_TRY(fr_arg_array(f, c, 0, &a));
    *out = (fr_value){.kind = FR_RAW, .as.array = a};
    return TS_OK;
}

/* ---- tiled views --------------------------------------------------------------------- */

static ts_status view_steps(fr *f, const fr_call *c, fr_view *view, bool *dense)
{
    const fr_value *v = &c->arg[3], *items = v->kind == FR_TUPLE ? v->as.items : v;
    *dense = true;
    memcpy(view->step, view->tile.dims, sizeof view->step);
    if (!fr_given(c, 3))
        return TS_OK;
    if ((v->kind == FR_TUPLE ? v->n : 1) != view->tile.rank)
        return fr_arg_error(f, c, 3,
                            fr_textf(f, "a tuple of %u positive integers", view->tile.rank));
    for (uint32_t d = 0; d < view->tile.rank; d++) {
        if (!fr_is_int(&items[d], &view->step[d]) || view->step[d] <= 0 ||
            view->step[d] > INT32_MAX)
            return fr_arg_error(f, c, 3,
                                fr_textf(f, "a tuple of %u positive integers", view->tile.rank));
        *dense &= view->step[d] == view->tile.dims[d];
    }
    return TS_OK;
}

ts_status fr_op_tiled_view(fr *f, const fr_call *c, fr_value *out)
{
    fr_view *view = TS_NEW(f->arena, fr_view);
    bool dense;
    int32_t axes[TS_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (!view)
        return fr_oom(f);
    TS_TRY(fr_arg_array(f, c, 0, &view->array));
    TS_TRY(fr_arg_shape(f, c, 1, &view->tile));
    TS_TRY(fr_arg_padding(f, c, 2, (ts_dtype)view->array->dtype, &view->padding));
    if (view->tile.rank != view->array->rank || !view->tile.rank)
        return fr_error(f, c->at[1], TS_TILETYPE,
                        "tiled_view(): the tile has shape %s, the array rank %u",
                        fr_say_shape(f, &view->tile), view->array->rank);
    TS_TRY(view_steps(f, c, view, &dense));
    ts_type_info info = {.kind = dense ? TS_KIND_PARTITION_VIEW : TS_KIND_STRIDED_VIEW,
                         .rank = (uint8_t)view->tile.rank,
                         .padding = view->padding,
                         .elem = ts_type_of(f->b.fn, view->array->view),
                         .dims = view->tile.dims,
                         .strides = dense ? NULL : view->step,
                         .dim_map = axes};
    view->view = ts_emit(&f->b, dense ? TS_OP_make_partition_view : TS_OP_make_strided_view,
                         ts_type_make(f->module, &info), 1, &view->array->view, 0, 0);
    *out = (fr_value){.kind = FR_VIEW, .as.view = view};
    return TS_OK;
}

static ts_status view_hints(fr *f, const fr_call *c, uint32_t latency, uint32_t tma, uint32_t *out)
{
    bool allowed;
    *out = 0;
    TS_TRY(fr_arg_latency(f, c, latency, out));
    TS_TRY(fr_arg_flag(f, c, tma, true, &allowed));
    if (fr_given(c, tma))
        *out |= TS_M_TMA(allowed ? TS_TMA_ALLOWED : TS_TMA_FORBIDDEN);
    return TS_OK;
}

ts_status fr_op_view_load(fr *f, const fr_call *c, fr_value *out)
{
    ts_val operands[1 + TS_MAX_RANK];
    uint32_t mem;
    TS_TRY(view_self(f, c, FR_VIEW));
    const fr_view *view = c->arg[0].as.view;
    operands[0] = view->view;
    TS_TRY(fr_arg_index(f, c, 1, view->tile.rank, operands + 1));
    TS_TRY(view_hints(f, c, 2, 3, &mem));
    ts_dtype dtype = (ts_dtype)view->array->dtype;
    ts_type type = ts_type_tile(f->module, fr_storage(dtype), view->tile.rank, view->tile.dims);
    *out = fr_from_storage(
        f, dtype, ts_emit(&f->b, TS_OP_load_view_tko, type, 1 + view->tile.rank, operands, mem, 0));
    return TS_OK;
}

/* The tile argument `i` as the view stores it. */
static ts_status view_value(fr *f, const fr_call *c, uint32_t i, const fr_view *view, ts_val *out)
{
    fr_value v;
    f->node = c->at[i];
    TS_TRY(fr_implicit(f, &c->arg[i], (ts_dtype)view->array->dtype,
                       fr_textf(f, "%s()", c->op->name), &v));
    fr_shape shape = fr_shape_of(f, &v), both;
    TS_TRY(fr_broadcast_shapes(f, &shape, &view->tile, &both));
    if (!fr_same_shape(&both, &view->tile))
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): a tile of shape %s does not fit the view's %s", c->op->name,
                        fr_say_shape(f, &shape), fr_say_shape(f, &view->tile));
    TS_TRY(fr_splat(f, &v, &view->tile, &v));
    f->node = c->node;
    *out = fr_to_storage(f, &v);
    return TS_OK;
}

ts_status fr_op_view_store(fr *f, const fr_call *c, fr_value *out)
{
    ts_val operands[2 + TS_MAX_RANK];
    uint32_t mem;
    TS_TRY(view_self(f, c, FR_VIEW));
    const fr_view *view = c->arg[0].as.view;
    operands[0] = view->view;
    TS_TRY(fr_arg_index(f, c, 1, view->tile.rank, operands + 2));
    TS_TRY(view_value(f, c, 2, view, &operands[1]));
    TS_TRY(view_hints(f, c, 3, 4, &mem));
    ts_emit(&f->b, TS_OP_store_view_tko, TS_T_token, 2 + view->tile.rank, operands, mem, 0);
    *out = fr_none();
    return TS_OK;
}

ts_status fr_op_view_atomic(fr *f, const fr_call *c, fr_value *out)
{
    ts_val operands[2 + TS_MAX_RANK];
    uint32_t mode;
    TS_TRY(view_self(f, c, FR_VIEW));
    const fr_view *view = c->arg[0].as.view;
    if (view->padding != TS_PAD_UNDEF)
        return fr_error(f, c->node, TS_TILETYPE, "%s() needs a view without padding_mode",
                        c->op->name);
    TS_TRY(fr_rmw_mode(f, c, (ts_rmw)c->op->x, (ts_dtype)view->array->dtype, &mode));
    TS_TRY(fr_update_dtype(f, c, 2, (ts_dtype)view->array->dtype));
    operands[0] = view->view;
    TS_TRY(fr_arg_index(f, c, 1, view->tile.rank, operands + 2));
    TS_TRY(view_value(f, c, 2, view, &operands[1]));
    uint32_t mem = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(mode);
    ts_emit(&f->b, TS_OP_atomic_red_view_tko, TS_T_token, 2 + view->tile.rank, operands, mem, 0);
    *out = fr_none();
    return TS_OK;
}

ts_status fr_op_view_num_tiles(fr *f, const fr_call *c, fr_value *out)
{
    uint32_t axis;
    TS_TRY(view_self(f, c, FR_VIEW));
    const fr_view *view = c->arg[0].as.view;
    TS_TRY(fr_arg_axis(f, c, 1, view->tile.rank, &axis));
    return fr_tile_count(f, &view->array->shape[axis], view->step[axis],
                         (ts_dtype)view->array->index_dtype, out);
}

/* ---- advanced indexing --------------------------------------------------------------- */

/* ct.Slice(start, length): held as a slice of (start, length, None). */
ts_status fr_op_slice(fr *f, const fr_call *c, fr_value *out)
{
    fr_value *parts = TS_NEW_N(f->arena, fr_value, 3);
    int64_t length;
    if (!parts)
        return fr_oom(f);
    TS_TRY(view_bound(f, c, 0, TS_DTYPE_int32, &parts[0]));
    TS_TRY(fr_arg_int(f, c, 1, &length));
    if (!ts_is_pow2(length))
        return fr_error(f, c->at[1], TS_TILETYPE, "Slice(): length %lld is not a power of two",
                        (long long)length);
    parts[1] = fr_number(length);
    parts[2] = fr_text("Slice");
    *out = (fr_value){.kind = FR_SLICE, .as.items = parts};
    return TS_OK;
}

/* The view, index operands and tile shape of an advanced access. */
static ts_status view_advanced(fr *f, const fr_call *c, const fr_array *a, uint8_t padding,
                               ts_val *operands, fr_shape *tile)
{
    const fr_value *v = &c->arg[1];
    uint32_t sparse = TS_NO;
    const char *wanted = "a tuple of one 1-D integer tile and ct.Slice for every other axis";
    if (v->kind != FR_TUPLE || v->n != a->rank || a->rank < 2)
        return fr_arg_error(f, c, 1, wanted);
    *tile = (fr_shape){.rank = a->rank};
    for (uint32_t d = 0; d < a->rank; d++) {
        const fr_value *item = &v->as.items[d];
        fr_value start;
        if (item->kind == FR_SLICE && item->as.items[2].kind == FR_STR) {
            TS_TRY(fr_to_tile(f, &item->as.items[0], TS_DTYPE_int32, &start));
            operands[1 + d] = start.as.v;
            tile->dims[d] = (int64_t)item->as.items[1].as.i;
            continue;
        }
        fr_shape shape = fr_shape_of(f, item);
        if (item->kind != FR_TILE || !fr_dtype_is_int((ts_dtype)item->dtype) || shape.rank != 1 ||
            sparse != TS_NO)
            return fr_arg_error(f, c, 1, wanted);
        TS_TRY(fr_to_tile(f, item, TS_DTYPE_int32, &start));
        operands[1 + d] = start.as.v;
        tile->dims[d] = shape.dims[0];
        sparse = d;
    }
    if (sparse == TS_NO)
        return fr_arg_error(f, c, 1, wanted);
    ts_type_info info = {.kind = TS_KIND_GATHER_SCATTER_VIEW,
                         .rank = a->rank,
                         .padding = padding,
                         .sparse_dim = (uint8_t)sparse,
                         .elem = ts_type_of(f->b.fn, a->view),
                         .dims = tile->dims};
    operands[0] = ts_emit(&f->b, TS_OP_make_gather_scatter_view, ts_type_make(f->module, &info), 1,
                          &a->view, 0, 0);
    return TS_OK;
}

ts_status fr_op_load_advanced(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a;
    fr_shape tile;
    uint8_t padding;
    uint32_t mem;
    ts_val operands[1 + TS_MAX_RANK];
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(fr_arg_padding(f, c, 2, (ts_dtype)a->dtype, &padding));
    TS_TRY(view_hints(f, c, 3, 4, &mem));
    TS_TRY(view_advanced(f, c, a, padding, operands, &tile));
    ts_type type = ts_type_tile(f->module, fr_storage((ts_dtype)a->dtype), tile.rank, tile.dims);
    *out =
        fr_from_storage(f, (ts_dtype)a->dtype,
                        ts_emit(&f->b, TS_OP_load_view_tko, type, 1 + a->rank, operands, mem, 0));
    return TS_OK;
}

ts_status fr_op_store_advanced(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a;
    fr_shape tile;
    uint32_t mem;
    ts_val view[1 + TS_MAX_RANK], operands[2 + TS_MAX_RANK];
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(view_hints(f, c, 3, 4, &mem));
    TS_TRY(view_advanced(f, c, a, TS_PAD_UNDEF, view, &tile));
    fr_view fits = {.array = a, .tile = tile};
    TS_TRY(view_value(f, c, 2, &fits, &operands[1]));
    operands[0] = view[0];
    memcpy(operands + 2, view + 1, a->rank * sizeof *view);
    ts_emit(&f->b, TS_OP_store_view_tko, TS_T_token, 2 + a->rank, operands, mem, 0);
    *out = fr_none();
    return TS_OK;
}
