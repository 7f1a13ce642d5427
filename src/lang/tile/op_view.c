/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of arrays: Array.slice, tiled views (dense or with steps), raw memory, advanced indexing
 * (one axis chosen by a tile of indices). Part of the front end (lower.h); rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

static ts_status view_self(fr *f, const fr_call *c, fr_kind kind)
{
    return c->arg[0].kind == kind ? TS_OK
                                  : fr_arg_error(f, c, 0, "the value the method belongs to");
}

/* ---- slices -------------------------------------------------------------------------- */

/* A bound: a constant of at least 0, or a signed integer scalar. */
static ts_status view_bound(fr *f, const fr_call *c, uint32_t i, fr_value *out)
{
    const fr_value *v = &c->arg[i];
    bool number = v->kind == FR_NUMBER && v->cat != FR_FLOAT;
    bool tile = v->kind == FR_TILE && fr_dtype_is_int((ts_dtype)v->dtype) && !fr_shape_of(f, v).rank;
    bool wraps = v->dtype && v->dtype != TS_DTYPE_bool_ && !fr_dtype_is_signed((ts_dtype)v->dtype);
    if ((!number && !tile) || wraps)
        return fr_arg_error(f, c, i, "a signed integer scalar");
    if (number && v->as.i < 0)
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): '%s' is %lld; bounds count from the start of the axis and are not negative\n"
                        "  help: write x.shape[axis] - n for n elements before the end",
                        fr_op_name(c), fr_arg_name(f, c, i), (long long)v->as.i);
    *out = number ? fr_number(TS_MIN(v->as.i, (fr_int)INT64_MAX)) : *v;
    return TS_OK;
}

static ts_status view_in(fr *f, const fr_value *v, ts_dtype dtype, fr_value *out)
{
    if (v->kind == FR_TILE)
        return fr_convert(f, v, dtype, TS_RN, out);
    *out = fr_strict(dtype, v->as.i);
    return TS_OK;
}

/* Checked mode: a bound as it was given is from `least` to `most`; `what` as for fr_report_bounds. */
static ts_status view_report_bound(fr *f, const char *what, const fr_value *v, const fr_value *least,
                                   const fr_value *most, const fr_value *named)
{
    fr_value low, high, index, extent;
    ts_dtype dtype = (ts_dtype)v->dtype;
    TS_TRY(fr_compare(f, TS_OPERATOR_GtE, v, least, &low));
    TS_TRY(fr_compare(f, TS_OPERATOR_LtE, v, most, &high));
    TS_TRY(fr_to_tile(f, &low, TS_DTYPE_bool_, &low));
    TS_TRY(fr_to_tile(f, &high, TS_DTYPE_bool_, &high));
    TS_TRY(fr_to_tile(f, v, dtype, &index));
    TS_TRY(fr_to_tile(f, named, dtype, &extent));
    fr_report_bounds(f, what, ts_op2(&f->b, TS_OP_andi, low.as.v, high.as.v, 0), index.as.v, extent.as.v);
    return TS_OK;
}

static ts_status view_report_slice(fr *f, const fr_call *c, uint32_t axis, const fr_value *start, const fr_value *stop,
                                   const fr_value *extent)
{
    fr_value zero = fr_strict((ts_dtype)extent->dtype, 0);
    const char *name = fr_op_name(c);
    if (!f->b.fn->checked)
        return TS_OK;
    TS_TRY(view_report_bound(f, fr_textf(f, "%s(), axis %u: start | is not from 0 to the extent |", name, axis),
                             start, &zero, extent, extent));
    TS_TRY(view_report_bound(f, fr_textf(f, "%s(), axis %u: stop | is not from 0 to the extent |", name, axis),
                             stop, &zero, extent, extent));
    return view_report_bound(f, fr_textf(f, "%s(), axis %u: stop | lies before start |", name, axis), stop, start,
                             extent, start);
}

/* Bounds of run time are moved into the array: 0 <= start <= stop <= extent. Of a slice with nothing in it the
 * start does not matter: a start beyond the array becomes 0 and not the extent, which keeps its alignment.
 * All in `dtype`, which holds every one of them. */
static ts_status view_clamp(fr *f, fr_value *start, fr_value *stop, const fr_value *extent, ts_dtype dtype)
{
    fr_value zero = fr_strict(dtype, 0), begin, inside;
    TS_TRY(fr_minmax(f, true, start, &zero, 0, &begin));
    TS_TRY(fr_minmax(f, false, stop, extent, 0, stop));
    TS_TRY(fr_minmax(f, true, stop, &begin, 0, stop));
    TS_TRY(fr_binary(f, TS_OPERATOR_Sub, stop, &begin, (fr_options){0}, stop)); /* now the length */
    TS_TRY(fr_compare(f, TS_OPERATOR_LtE, &begin, extent, &inside));
    if (inside.kind == FR_NUMBER || (begin.kind == FR_NUMBER && begin.as.i == 0)) {
        *start = inside.kind == FR_NUMBER && !inside.as.i ? zero : begin;
        return TS_OK;
    }
    TS_TRY(fr_to_tile(f, &begin, dtype, start));
    start->as.v = ts_select(&f->b, inside.as.v, start->as.v, ts_int(&f->b, fr_ir(dtype), 0));
    return TS_OK;
}

/* base + start * stride */
static ts_status view_move_base(fr *f, fr_array *a, const fr_value *start, const fr_value *stride)
{
    fr_value wide, by, offset;
    int64_t none;
    if (fr_is_int(start, &none) && none == 0)
        return TS_OK;
    TS_TRY(fr_to_tile(f, start, TS_DTYPE_int64, &wide));
    TS_TRY(fr_to_tile(f, stride, TS_DTYPE_int64, &by));
    TS_TRY(fr_binary(f, TS_OPERATOR_Mult, &wide, &by, (fr_options){0}, &offset));
    ts_val pair[] = {a->base, offset.as.v};
    a->base = ts_emit(&f->b, TS_OP_offset, ts_type_of(f->b.fn, a->base), 2, pair, 0, 0);
    return TS_OK;
}

ts_status fr_op_array_slice(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a = TS_NEW(f->arena, fr_array), *from;
    uint32_t axis;
    fr_value start, stop, extent;
    TS_TRY(fr_arg_array(f, c, 0, &from));
    if (!a)
        return fr_oom(f);
    TS_TRY(fr_arg_axis(f, c, 1, from->rank, &axis));
    TS_TRY(view_bound(f, c, 2, &start));
    TS_TRY(view_bound(f, c, 3, &stop));
    bool fixed = start.kind == FR_NUMBER && stop.kind == FR_NUMBER;
    fr_value length = fr_number(fixed ? stop.as.i - start.as.i : 0);
    if (length.as.i < 0)
        return fr_error(f, c->at[3], TS_TILETYPE, "%s(): 'stop' is %lld, before 'start', which is %lld", fr_op_name(c),
                        (long long)stop.as.i, (long long)start.as.i);
    *a = *from;
    ts_dtype index = (ts_dtype)a->index_dtype;
    bool wide = fr_index_dtype(&start) == TS_DTYPE_int64 || fr_index_dtype(&stop) == TS_DTYPE_int64;
    ts_dtype dtype = wide ? TS_DTYPE_int64 : index;
    TS_TRY(view_in(f, &start, dtype, &start));
    TS_TRY(view_in(f, &stop, dtype, &stop));
    TS_TRY(view_in(f, &from->extent[axis], dtype, &extent));
    TS_TRY(view_report_slice(f, c, axis, &start, &stop, &extent));
    TS_TRY(view_clamp(f, &start, &stop, &extent, dtype));
    TS_TRY(view_in(f, &start, index, &start));
    TS_TRY(view_in(f, &stop, index, &a->extent[axis]));
    a->shape[axis] = fixed && fr_fits(&length, index) ? fr_strict(index, length.as.i) : a->extent[axis];
    TS_TRY(view_move_base(f, a, &start, &from->stride[axis]));
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

/* Extents or strides of an array that is made: a tuple of signed integer scalars; *index becomes a dtype for all. */
static ts_status view_numbers(fr *f, const fr_call *c, uint32_t i, fr_value *out, uint32_t *n, ts_dtype *index)
{
    const fr_value *v = &c->arg[i];
    if (v->kind != FR_TUPLE || v->n > TS_ARRAY_RANK)
        return fr_arg_error(f, c, i, fr_textf(f, "a tuple of at most %d integer scalars", TS_ARRAY_RANK));
    *n = v->n;
    for (uint32_t d = 0; d < v->n; d++) {
        fr_call one = *c;
        one.arg[i] = v->as.items[d];
        TS_TRY(view_bound(f, &one, i, &out[d]));
        if (fr_index_dtype(&out[d]) == TS_DTYPE_int64)
            *index = TS_DTYPE_int64;
    }
    return TS_OK;
}

ts_status fr_op_from_foreign(fr *f, const fr_call *c, fr_value *out)
{
    fr_value extents[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
    uint32_t rank, n;
    ts_dtype index = TS_DTYPE_int32;
    fr_array *a = TS_NEW(f->arena, fr_array);
    if (!a)
        return fr_oom(f);
    if (c->arg[0].kind != FR_RAW)
        return fr_arg_error(f, c, 0, "the foreign_pointer of an array");
    TS_TRY(view_numbers(f, c, 1, extents, &rank, &index));
    TS_TRY(view_numbers(f, c, 2, strides, &n, &index));
    if (rank != n)
        return fr_error(f, c->at[2], TS_TILETYPE, "%s(): %u extents and %u strides; give one stride for each axis",
                        fr_op_name(c), rank, n);
    const fr_array *from = c->arg[0].as.array;
    *a = (fr_array){.dtype = from->dtype, .rank = (uint8_t)rank, .index_dtype = (uint8_t)index, .base = from->base};
    for (uint32_t d = 0; d < rank; d++) {
        TS_TRY(view_in(f, &extents[d], index, &a->shape[d]));
        a->extent[d] = a->shape[d];
        TS_TRY(view_in(f, &strides[d], index, &a->stride[d]));
    }
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    return fr_tensor_view(f, a);
}

/* ---- tiled views --------------------------------------------------------------------- */

static ts_status view_steps(fr *f, const fr_call *c, fr_view *view)
{
    const fr_value *v = &c->arg[3], *items = v->kind == FR_TUPLE ? v->as.items : v;
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
    }
    return TS_OK;
}

ts_status fr_tile_view(fr *f, fr_view *view)
{
    int32_t axes[TS_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    bool dense = memcmp(view->step, view->tile.dims, view->tile.rank * sizeof *view->step) == 0;
    ts_type_info info = {.kind = dense ? TS_KIND_PARTITION_VIEW : TS_KIND_STRIDED_VIEW,
                         .rank = (uint8_t)view->tile.rank,
                         .padding = view->padding,
                         .elem = ts_type_of(f->b.fn, view->array->view),
                         .dims = view->tile.dims,
                         .strides = dense ? NULL : view->step,
                         .dim_map = axes};
    view->view = ts_emit(&f->b, dense ? TS_OP_make_partition_view : TS_OP_make_strided_view,
                         ts_type_make(f->module, &info), 1, &view->array->view, 0, 0);
    return TS_OK;
}

ts_status fr_op_tiled_view(fr *f, const fr_call *c, fr_value *out)
{
    fr_view *view = TS_NEW(f->arena, fr_view);
    if (!view)
        return fr_oom(f);
    TS_TRY(fr_arg_array(f, c, 0, &view->array));
    TS_TRY(fr_arg_shape(f, c, 1, &view->shape));
    TS_TRY(fr_arg_padding(f, c, 2, (ts_dtype)view->array->dtype, &view->padding));
    if (!view->array->rank)
        return fr_error(f, c->at[0], TS_TILETYPE, "%s(): the array has no dimensions to divide into tiles\n"
                        "  help: ct.load(x, (), ()) reads its one element, ct.store(x, (), value) writes it",
                        fr_op_name(c));
    TS_TRY(fr_tile_of_array(f, c, 1, view->array, &view->shape, &view->tile));
    TS_TRY(view_steps(f, c, view));
    *out = (fr_value){.kind = FR_VIEW, .as.view = view};
    return fr_tile_view(f, view);
}

ts_status fr_op_view_load(fr *f, const fr_call *c, fr_value *out)
{
    ts_val operands[1 + TS_MAX_RANK];
    uint32_t mem = 0;
    TS_TRY(view_self(f, c, FR_VIEW));
    const fr_view *view = c->arg[0].as.view;
    operands[0] = view->view;
    TS_TRY(fr_arg_index(f, c, 1, view->tile.rank, operands + 1));
    TS_TRY(fr_arg_access(f, c, 2, view->tile.rank, &mem));
    TS_TRY(fr_check_promise(f, c, view, NULL, operands + 1, &mem));
    ts_dtype dtype = (ts_dtype)view->array->dtype;
    ts_type type = ts_type_tile(f->module, fr_storage(dtype), view->tile.rank, view->tile.dims);
    *out = fr_from_storage(
        f, dtype, ts_emit(&f->b, TS_OP_load_view_tko, type, 1 + view->tile.rank, operands, mem, 0));
    return view->shape.rank ? TS_OK : fr_reshape_to(f, out, &view->shape, out);
}

/* The tile argument `i` as the view stores it. */
static ts_status view_value(fr *f, const fr_call *c, uint32_t i, const fr_view *view, ts_val *out)
{
    fr_value v;
    f->node = c->at[i];
    TS_TRY(fr_implicit(f, &c->arg[i], (ts_dtype)view->array->dtype,
                       fr_textf(f, "%s()", fr_op_name(c)), &v));
    fr_shape shape = fr_shape_of(f, &v), both;
    TS_TRY(fr_broadcast_shapes(f, &shape, &view->shape, &both));
    if (!fr_same_shape(&both, &view->shape))
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): a tile of shape %s does not fit the view's %s", fr_op_name(c),
                        fr_say_shape(f, &shape), fr_say_shape(f, &view->shape));
    TS_TRY(fr_splat(f, &v, &view->tile, &v));
    f->node = c->node;
    *out = fr_to_storage(f, &v);
    return TS_OK;
}

ts_status fr_op_view_store(fr *f, const fr_call *c, fr_value *out)
{
    ts_val operands[2 + TS_MAX_RANK];
    uint32_t mem = 0;
    TS_TRY(view_self(f, c, FR_VIEW));
    const fr_view *view = c->arg[0].as.view;
    operands[0] = view->view;
    TS_TRY(fr_arg_index(f, c, 1, view->tile.rank, operands + 2));
    TS_TRY(view_value(f, c, 2, view, &operands[1]));
    TS_TRY(fr_arg_access(f, c, 3, view->tile.rank, &mem));
    TS_TRY(fr_check_promise(f, c, view, NULL, operands + 2, &mem));
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
                        fr_op_name(c));
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
    const fr_value *start = &c->arg[0];
    if (!(start->kind == FR_NUMBER && start->cat != FR_FLOAT) &&
        !(start->kind == FR_TILE && fr_dtype_is_int((ts_dtype)start->dtype) && !fr_shape_of(f, start).rank))
        return fr_arg_error(f, c, 0, "an integer scalar");
    parts[0] = *start;
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
        if (item->kind == FR_SLICE && item->as.items[2].kind == FR_STR) {
            const fr_value *start = &item->as.items[0];
            TS_TRY(fr_index(f, start, fr_index_dtype(start), &operands[1 + d]));
            tile->dims[d] = (int64_t)item->as.items[1].as.i;
            continue;
        }
        fr_shape shape = fr_shape_of(f, item);
        if (item->kind != FR_TILE || !fr_dtype_is_int((ts_dtype)item->dtype) || shape.rank != 1 ||
            sparse != TS_NO)
            return fr_arg_error(f, c, 1, wanted);
        TS_TRY(fr_index(f, item, fr_index_dtype(item), &operands[1 + d]));
        TS_TRY(fr_report_index(f, fr_textf(f, "%s(), axis %u", fr_op_name(c), d), item, &a->extent[d]));
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
    uint32_t mem = 0;
    ts_val operands[1 + TS_MAX_RANK];
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(fr_arg_padding(f, c, 2, (ts_dtype)a->dtype, &padding));
    TS_TRY(fr_arg_hints(f, c, 3, &mem));
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
    uint32_t mem = 0;
    ts_val view[1 + TS_MAX_RANK], operands[2 + TS_MAX_RANK];
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(fr_arg_hints(f, c, 3, &mem));
    TS_TRY(view_advanced(f, c, a, TS_PAD_UNDEF, view, &tile));
    fr_view fits = {.array = a, .tile = tile, .shape = tile};
    TS_TRY(view_value(f, c, 2, &fits, &operands[1]));
    operands[0] = view[0];
    memcpy(operands + 2, view + 1, a->rank * sizeof *view);
    ts_emit(&f->b, TS_OP_store_view_tko, TS_T_token, 2 + a->rank, operands, mem, 0);
    *out = fr_none();
    return TS_OK;
}
