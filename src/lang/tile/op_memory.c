/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles of arrays: load, store, num_tiles, through partition views of the array's tensor view. Bool
 * arrays hold bytes: any byte but 0 is true. Part of the front end (lower.h); rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

/* ---- views --------------------------------------------------------------------------- */

/* An extent or stride: literal in the type when it is known, an operand otherwise. */
static void memory_number(const fr_value *v, int64_t *literal, ts_val *operands, uint32_t *n)
{
    if (fr_is_int(v, literal))
        return;
    *literal = TS_DYNAMIC;
    operands[(*n)++] = v->as.v;
}

ts_status fr_tensor_view(fr *f, fr_array *a)
{
    ts_val operands[1 + 2 * TS_ARRAY_RANK] = {a->base};
    int64_t dims[TS_ARRAY_RANK] = {0}, strides[TS_ARRAY_RANK] = {0};
    uint32_t n = 1;
    if (a->rank == 0)
        return TS_OK;
    for (uint32_t d = 0; d < a->rank; d++)
        memory_number(&a->extent[d], &dims[d], operands, &n);
    for (uint32_t d = 0; d < a->rank; d++)
        memory_number(&a->stride[d], &strides[d], operands, &n);
    ts_type_info info = {.kind = TS_KIND_TENSOR_VIEW,
                         .rank = a->rank,
                         .elem = fr_storage((ts_dtype)a->dtype),
                         .dims = dims,
                         .strides = strides};
    a->view =
        ts_emit(&f->b, TS_OP_make_tensor_view, ts_type_make(f->module, &info), n, operands, 0, 0);
    return TS_OK;
}

ts_type fr_storage(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_ ? TS_T_i8 : fr_ir(dtype);
}

fr_value fr_from_storage(fr *f, ts_dtype dtype, ts_val v)
{
    if (dtype == TS_DTYPE_bool_)
        v = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, v, ts_int(&f->b, ts_type_of(f->b.fn, v), 0), 0);
    return fr_tile(dtype, v);
}

ts_val fr_to_storage(fr *f, const fr_value *tile)
{
    return tile->dtype == TS_DTYPE_bool_
               ? ts_cast(&f->b, TS_OP_exti, tile->as.v, TS_T_i8, TS_A_UNSIGNED)
               : tile->as.v;
}

/* ---- shared arguments ---------------------------------------------------------------- */

ts_status fr_arg_padding(fr *f, const fr_call *c, uint32_t i, ts_dtype dtype, uint8_t *out)
{
    uint32_t mode;
    TS_TRY(fr_arg_enum(f, c, i, "PaddingMode", &mode));
    if (mode > TS_PAD_ZERO && fr_dtype_cat(dtype) != FR_FLOAT)
        return fr_error(
            f, c->at[i], TS_TILETYPE,
            "%s(): padding %s is for floats, found %s\n  help: PaddingMode.ZERO fits every dtype",
            fr_op_name(c), fr_enum_member("PaddingMode", mode), ts_dtype_name(dtype));
    *out = (uint8_t)mode;
    return TS_OK;
}

ts_status fr_arg_order(fr *f, const fr_call *c, uint32_t order, uint32_t scope, uint32_t allowed,
                       uint32_t *out)
{
    uint32_t o = *out & 7, s = *out >> 3 & 3;
    if (fr_given(c, order))
        TS_TRY(fr_arg_enum(f, c, order, "MemoryOrder", &o));
    if (fr_given(c, scope))
        TS_TRY(fr_arg_enum(f, c, scope, "MemoryScope", &s));
    if (!(allowed >> o & 1))
        return fr_error(f, c->at[order], TS_TILETYPE, "%s() does not take MemoryOrder.%s",
                        fr_op_name(c), fr_enum_member("MemoryOrder", o));
    if ((o == TS_WEAK) != (s == TS_SCOPE_NONE))
        return fr_error(f, c->node, TS_TILETYPE,
                        "%s(): MemoryOrder.%s %s a memory_scope\n  help: orders other than WEAK "
                        "need MemoryScope.BLOCK, "
                        "DEVICE or SYS",
                        fr_op_name(c), fr_enum_member("MemoryOrder", o), o == TS_WEAK ? "must not have" : "needs");
    *out = TS_M_ORDER(o) | TS_M_SCOPE(s);
    return TS_OK;
}

ts_status fr_arg_latency(fr *f, const fr_call *c, uint32_t i, uint32_t *out)
{
    int64_t latency = 0;
    if (!fr_given(c, i))
        return TS_OK;
    TS_TRY(fr_arg_int(f, c, i, &latency));
    if (latency < 1 || latency > 10)
        return fr_error(f, c->at[i], TS_TILEVALUE, "%s(): latency %lld is not from 1 to 10",
                        fr_op_name(c), (long long)latency);
    *out |= TS_M_LATENCY(latency);
    return TS_OK;
}

/* check_bounds, latency, allow_tma, memory_order, memory_scope: five arguments from `i` on. */
static ts_status memory_options(fr *f, const fr_call *c, uint32_t i, uint32_t rank, uint32_t orders,
                                uint32_t *out)
{
    *out = 0;
    TS_TRY(fr_arg_order(f, c, i + 3, i + 4, orders, out));
    return fr_arg_access(f, c, i, rank, out);
}

ts_status fr_arg_hints(fr *f, const fr_call *c, uint32_t i, uint32_t *out)
{
    bool tma;
    TS_TRY(fr_arg_latency(f, c, i, out));
    TS_TRY(fr_arg_flag(f, c, i + 1, true, &tma));
    if (fr_given(c, i + 1))
        *out |= TS_M_TMA(tma ? TS_TMA_ALLOWED : TS_TMA_FORBIDDEN);
    return TS_OK;
}

ts_status fr_arg_access(fr *f, const fr_call *c, uint32_t i, uint32_t rank, uint32_t *out)
{
    bool check;
    TS_TRY(fr_arg_flag(f, c, i, true, &check));
    if (!check)
        *out |= TS_M_INBOUNDS((1u << rank) - 1);
    return fr_arg_hints(f, c, i + 1, out);
}

/* order="C", "F" or a permutation: tile axis k reads array axis out[k]. */
static ts_status memory_axes(fr *f, const fr_call *c, uint32_t i, uint32_t rank, int32_t *out)
{
    const fr_value *v = &c->arg[i];
    uint32_t seen = 0;
    bool fortran = v->kind == FR_STR && strcmp(v->as.text, "F") == 0;
    for (uint32_t d = 0; d < rank; d++)
        out[d] = (int32_t)(fortran ? rank - 1 - d : d);
    if (!fr_given(c, i) || fortran || (v->kind == FR_STR && strcmp(v->as.text, "C") == 0))
        return TS_OK;
    if (v->kind != FR_TUPLE || v->n != rank)
        return fr_arg_error(f, c, i, fr_textf(f, "\"C\", \"F\" or a permutation of %u axes", rank));
    for (uint32_t d = 0; d < rank; d++) {
        int64_t axis;
        if (!fr_is_int(&v->as.items[d], &axis) || axis < -(int64_t)rank || axis >= (int64_t)rank ||
            seen >> (axis < 0 ? axis + rank : axis) & 1)
            return fr_arg_error(f, c, i,
                                fr_textf(f, "\"C\", \"F\" or a permutation of %u axes", rank));
        out[d] = (int32_t)(axis < 0 ? axis + rank : axis);
        seen |= 1u << out[d];
    }
    return TS_OK;
}

ts_dtype fr_index_dtype(const fr_value *v)
{
    bool wide = v->dtype ? fr_dtype_bits((ts_dtype)v->dtype) == 64 || v->dtype == TS_DTYPE_uint32
                         : !fr_fits(v, TS_DTYPE_int32);
    return wide ? TS_DTYPE_int64 : TS_DTYPE_int32;
}

ts_status fr_index(fr *f, const fr_value *v, ts_dtype dtype, ts_val *out)
{
    fr_value index = *v; /* what int64 lacks is beyond every array: it must not come out before one */
    if (v->kind == FR_NUMBER)
        index = fr_number(TS_MAX(TS_MIN(v->as.i, (fr_int)INT64_MAX), (fr_int)INT64_MIN));
    if (v->kind == FR_TILE && v->dtype == TS_DTYPE_uint64) {
        ts_val most = ts_int(&f->b, ts_type_of(f->b.fn, v->as.v), INT64_MAX);
        index.as.v = ts_op2(&f->b, TS_OP_mini, v->as.v, most, TS_A_UNSIGNED);
    }
    TS_TRY(fr_to_tile(f, &index, dtype, &index));
    *out = index.as.v;
    return TS_OK;
}

/* Tile indices as integer scalars of one width. */
ts_status fr_arg_index(fr *f, const fr_call *c, uint32_t i, uint32_t rank, ts_val *out)
{
    const fr_value *v = &c->arg[i], *items = v;
    uint32_t n = 1;
    ts_dtype dtype = TS_DTYPE_int32;
    if (v->kind == FR_TUPLE) {
        items = v->as.items;
        n = v->n;
    } else if (v->kind != FR_NUMBER && v->kind != FR_TILE) {
        return fr_arg_error(f, c, i, "a tuple of integers");
    }
    if (n != rank)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s(): '%s' has %u item%s for %u dimension%s",
                        fr_op_name(c), fr_arg_name(f, c, i), n, n == 1 ? "" : "s", rank,
                        rank == 1 ? "" : "s");
    for (uint32_t d = 0; d < n; d++) {
        bool is_int = items[d].kind == FR_NUMBER
                          ? items[d].cat != FR_FLOAT
                          : items[d].kind == FR_TILE && fr_dtype_is_int((ts_dtype)items[d].dtype) &&
                                !fr_shape_of(f, &items[d]).rank;
        if (!is_int)
            return fr_error(f, c->at[i], TS_TILETYPE,
                            "%s(): item %u of '%s' must be an integer scalar\n  found: %s",
                            fr_op_name(c), d, fr_arg_name(f, c, i), fr_say(f, &items[d]));
        if (fr_index_dtype(&items[d]) == TS_DTYPE_int64)
            dtype = TS_DTYPE_int64;
    }
    for (uint32_t d = 0; d < n; d++)
        TS_TRY(fr_index(f, &items[d], dtype, &out[d]));
    return TS_OK;
}

/* ---- load and store ------------------------------------------------------------------ */

static ts_val memory_partition(fr *f, const fr_array *a, const fr_shape *tile, const int32_t *axes,
                               uint8_t padding)
{
    ts_type_info info = {.kind = TS_KIND_PARTITION_VIEW,
                         .rank = a->rank,
                         .padding = padding,
                         .elem = ts_type_of(f->b.fn, a->view),
                         .dims = tile->dims,
                         .dim_map = axes};
    return ts_emit(&f->b, TS_OP_make_partition_view, ts_type_make(f->module, &info), 1, &a->view, 0,
                   0);
}

ts_status fr_tile_of_array(fr *f, const fr_call *c, uint32_t i, const fr_array *a, const fr_shape *given,
                           fr_shape *out)
{
    *out = *given;
    if (given->rank == 0) {
        out->rank = a->rank;
        for (uint32_t d = 0; d < a->rank; d++)
            out->dims[d] = 1;
    }
    if (out->rank != a->rank)
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): the tile has shape %s, the array rank %u\n  help: give one size for "
                        "each dimension of the array; "
                        "ct.reshape changes the rank of tiles",
                        fr_op_name(c), fr_say_shape(f, given), a->rank);
    return TS_OK;
}

/* How many tiles of an axis lie wholly in its array. */
static ts_status memory_whole_tiles(fr *f, const fr_value *extent, ts_dtype dtype, int64_t tile, int64_t step,
                                    fr_value *out)
{
    fr_value size = fr_strict(dtype, tile), by = fr_strict(dtype, step);
    fr_value one = fr_strict(dtype, 1), zero = fr_strict(dtype, 0);
    if (step == tile)
        return fr_binary(f, TS_OPERATOR_FloorDiv, extent, &size, (fr_options){0}, out);
    TS_TRY(fr_binary(f, TS_OPERATOR_Sub, extent, &size, (fr_options){0}, out));
    TS_TRY(fr_binary(f, TS_OPERATOR_FloorDiv, out, &by, (fr_options){0}, out));
    TS_TRY(fr_binary(f, TS_OPERATOR_Add, out, &one, (fr_options){0}, out));
    return fr_minmax(f, true, out, &zero, 0, out);
}

ts_status fr_check_promise(fr *f, const fr_call *c, const fr_view *view, const int32_t *axes, const ts_val *index,
                           uint32_t *mem)
{
    const fr_array *a = view->array;
    if (!f->b.fn->checked || !TS_M_GET_INBOUNDS(*mem))
        return TS_OK;
    *mem = TS_M_WITHOUT_INBOUNDS(*mem);
    for (uint32_t d = 0; d < a->rank; d++) {
        fr_value whole;
        bool wide = ts_type_of(f->b.fn, index[d]) == TS_T_i64;
        fr_value at = fr_tile(wide ? TS_DTYPE_int64 : TS_DTYPE_int32, index[d]);
        TS_TRY(memory_whole_tiles(f, &a->extent[axes ? (uint32_t)axes[d] : d], (ts_dtype)a->index_dtype,
                                  view->tile.dims[d], view->step[d], &whole));
        const char *what = fr_textf(f, "%s(), axis %u: index | is not of a whole tile, of which there are | "
                                       "(check_bounds=False)", fr_op_name(c), d);
        TS_TRY(fr_report_index(f, what, &at, &whole));
    }
    return TS_OK;
}

/* The same for the tiles of an array, without steps. */
static ts_status memory_check_promise(fr *f, const fr_call *c, fr_array *a, const fr_shape *tile, const int32_t *axes,
                                      const ts_val *index, uint32_t *mem)
{
    fr_view view = {.array = a, .tile = *tile};
    memcpy(view.step, tile->dims, sizeof view.step);
    return fr_check_promise(f, c, &view, axes, index, mem);
}

/* An array without dimensions holds one element. */
static ts_status memory_load_element(fr *f, const fr_array *a, uint32_t mem, fr_value *out)
{
    ts_val v = ts_emit(&f->b, TS_OP_load_ptr_tko, fr_storage((ts_dtype)a->dtype), 1, &a->base,
                       mem & 0xFFFF, 0);
    *out = fr_from_storage(f, (ts_dtype)a->dtype, v);
    return TS_OK;
}

ts_status fr_op_load(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a;
    fr_shape shape, tile;
    int32_t axes[TS_MAX_RANK];
    uint8_t padding;
    uint32_t mem;
    ts_val operands[1 + TS_MAX_RANK];
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(fr_arg_shape(f, c, 2, &shape));
    TS_TRY(fr_tile_of_array(f, c, 2, a, &shape, &tile));
    TS_TRY(memory_axes(f, c, 3, a->rank, axes));
    TS_TRY(fr_arg_padding(f, c, 4, (ts_dtype)a->dtype, &padding));
    TS_TRY(memory_options(f, c, 5, a->rank, 1u << TS_WEAK | 1u << TS_RELAXED | 1u << TS_ACQUIRE,
                          &mem));
    TS_TRY(fr_arg_index(f, c, 1, a->rank, operands + 1));
    if (a->rank == 0)
        return memory_load_element(f, a, mem, out);
    TS_TRY(memory_check_promise(f, c, a, &tile, axes, operands + 1, &mem));
    operands[0] = memory_partition(f, a, &tile, axes, padding);
    ts_type type = ts_type_tile(f->module, fr_storage((ts_dtype)a->dtype), tile.rank, tile.dims);
    ts_val v = ts_emit(&f->b, TS_OP_load_view_tko, type, 1 + a->rank, operands, mem, 0);
    *out = fr_from_storage(f, (ts_dtype)a->dtype, v);
    return shape.rank ? TS_OK : fr_reshape_to(f, out, &shape, out);
}

ts_status fr_op_store(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a;
    fr_shape shape, tile;
    int32_t axes[TS_MAX_RANK];
    uint32_t mem;
    fr_value v;
    ts_val operands[2 + TS_MAX_RANK];
    TS_TRY(fr_arg_array(f, c, 0, &a));
    if (c->arg[2].kind == FR_ARRAY)
        return fr_arg_error(f, c, 2, "a tile or a number");
    f->node = c->at[2];
    TS_TRY(fr_implicit(f, &c->arg[2], (ts_dtype)a->dtype, "store()", &v));
    f->node = c->node;
    shape = fr_shape_of(f, &v);
    TS_TRY(fr_tile_of_array(f, c, 2, a, &shape, &tile));
    TS_TRY(memory_axes(f, c, 3, a->rank, axes));
    TS_TRY(memory_options(f, c, 4, a->rank, 1u << TS_WEAK | 1u << TS_RELAXED | 1u << TS_RELEASE,
                          &mem));
    TS_TRY(fr_arg_index(f, c, 1, a->rank, operands + 2));
    *out = fr_none();
    if (a->rank == 0) {
        ts_val pair[] = {a->base, fr_to_storage(f, &v)};
        ts_emit(&f->b, TS_OP_store_ptr_tko, TS_T_token, 2, pair, mem & 0xFFFF, 0);
        return TS_OK;
    }
    TS_TRY(memory_check_promise(f, c, a, &tile, axes, operands + 2, &mem));
    TS_TRY(fr_splat(f, &v, &tile, &v));
    operands[0] = memory_partition(f, a, &tile, axes, TS_PAD_UNDEF);
    operands[1] = fr_to_storage(f, &v);
    ts_emit(&f->b, TS_OP_store_view_tko, TS_T_token, 2 + a->rank, operands, mem, 0);
    return TS_OK;
}

/* ceil(extent / tile) as a scalar of the array's index type. */
ts_status fr_tile_count(fr *f, const fr_value *extent, int64_t step, ts_dtype index, fr_value *out)
{
    int64_t n;
    if (fr_is_int(extent, &n)) {
        *out = fr_strict(index, (n + step - 1) / step);
        return TS_OK;
    }
    ts_val by = ts_int(&f->b, fr_ir(index), step);
    *out = fr_tile(index,
                   step == 1 ? extent->as.v : ts_op2(&f->b, TS_OP_divi, extent->as.v, by, TS_RP));
    return TS_OK;
}

ts_status fr_op_num_tiles(fr *f, const fr_call *c, fr_value *out)
{
    fr_array *a;
    fr_shape shape, tile;
    int32_t axes[TS_MAX_RANK];
    uint32_t axis;
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(fr_arg_axis(f, c, 1, a->rank, &axis));
    TS_TRY(fr_arg_shape(f, c, 2, &shape));
    TS_TRY(fr_tile_of_array(f, c, 2, a, &shape, &tile));
    TS_TRY(memory_axes(f, c, 3, a->rank, axes));
    return fr_tile_count(f, &a->shape[axes[axis]], tile.dims[axis], (ts_dtype)a->index_dtype, out);
}

ts_status fr_op_grid(fr *f, const fr_call *c, fr_value *out)
{
    int64_t axis;
    TS_TRY(fr_arg_int(f, c, 0, &axis));
    if (axis < 0 || axis > 2)
        return fr_error(f, c->at[0], TS_TILETYPE, "%s(): axis %lld is not 0, 1 or 2", fr_op_name(c),
                        (long long)axis);
    *out = fr_tile(TS_DTYPE_int32,
                   ts_emit(&f->b, (ts_op)c->op->x, TS_T_i32, 0, NULL, (uint32_t)axis, 0));
    return TS_OK;
}
