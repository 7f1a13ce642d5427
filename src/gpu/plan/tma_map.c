/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensor map of a load or store (tma.h): whether the view behind it obeys TMA's rules, and the map that says so.
 * Rules: the base is a parameter aligned to 16 bytes, or a slice of one along an axis; one of the tile's axes has unit
 * stride, all other strides are multiples of 16 bytes; extents are parameters or constants of 31 bits; at most 5 axes;
 * padding zero or NaN. What speaks against a map is noted, so that a report can say it (ir/note.h).
 */
#include "ir/note.h"
#include "gpu/plan/tma.h"
#include "gpu/plan/view.h"

enum { MAP_RANK = 5, MAP_ALIGN = 16 }; /* axes of a map; bytes that its base and strides are multiples of */

static ts_val map_through(const ts_fn *fn, ts_val v)
{
    while (ts_at(fn, v)->op == TS_OP_assume || ts_at(fn, v)->op == TS_OP_ptr_to_ptr)
        v = ts_opnd(fn, v, 0);
    return v;
}

/* A constant or a parameter. 64-bit extents mean arrays whose coordinates may not fit 32 bits. */
static bool map_number(const ts_fn *fn, ts_val v, ts_plan_num *out)
{
    int64_t value;
    ts_val root = map_through(fn, v);
    *out = (ts_plan_num){0, -1};
    if (ts__const_as_int(fn, root, &value)) {
        out->value = value;
        return value > 0 && value <= INT32_MAX;
    }
    out->param = (int32_t)root - 1;
    return ts_at(fn, root)->op == TS_OP_param && ts_type_of(fn, root) == TS_T_i32;
}

/* Extent (or stride) of array axis `dim`. */
static bool map_dim(const ts_fn *fn, ts_val make, const ts_type_info *tensor, bool stride, uint32_t dim,
                    ts_plan_num *out)
{
    uint32_t at = ts__view_dynamic(tensor, stride, dim);
    if (at != TS_NO)
        return map_number(fn, ts_opnd(fn, make, at), out);
    *out = (ts_plan_num){(stride ? tensor->strides : tensor->dims)[dim], -1};
    return out->value > 0 && out->value <= INT32_MAX;
}

static int64_t map_stride_divisor(const ts_fn *fn, ts_val make, const ts_type_info *tensor, uint32_t dim)
{
    uint32_t at = ts__view_dynamic(tensor, true, dim);
    return at == TS_NO ? ts_power_in(tensor->strides[dim]) : ts__lower_divisor(fn, ts_opnd(fn, make, at));
}

/* The CUtensorMapDataType of elements in memory, read as `want`: f32 read as tf32 is rounded by the copy, tf32 in
 * memory is copied as the f32 that it is, and 16-bit integers are copied without their sign. */
static uint8_t map_dtype(ts_type elem, ts_type want)
{
    ts_type as = elem == TS_T_f32 && want == TS_T_tf32 ? TS_T_tf32 : elem == TS_T_tf32 ? TS_T_f32 : elem;
    for (ts_dtype d = 1; d < TS_DTYPE_COUNT; d++)
        if (ts_dtype_get(d)->scalar == as && ts_dtype_get(d)->tma >= 0)
            return (uint8_t)ts_dtype_get(d)->tma;
    return (uint8_t)ts_dtype_get(TS_DTYPE_uint8)->tma;
}

/* The value before it was widened. */
static ts_val map_narrow(const ts_fn *fn, ts_val v)
{
    v = map_through(fn, v);
    return ts_at(fn, v)->op == TS_OP_exti ? map_through(fn, ts_opnd(fn, v, 0)) : v;
}

/* The array behind the view is rows start .. start + extent of a parameter: base + start * stride of an axis. */
static bool map_slice_behind(const ts_fn *fn, ts_val make, const ts_type_info *tensor, ts_tma_load *load)
{
    ts_val base = map_through(fn, ts_opnd(fn, make, 0));
    if (ts_at(fn, base)->op != TS_OP_offset || tensor->rank + 2u > MAP_RANK)
        return false;
    ts_val product = map_through(fn, ts_opnd(fn, base, 1));
    for (uint32_t i = 0; i < tensor->rank && ts_at(fn, product)->op == TS_OP_muli; i++) {
        uint32_t stride_at = ts__view_dynamic(tensor, true, i), extent_at = ts__view_dynamic(tensor, false, i);
        if (stride_at == TS_NO || extent_at == TS_NO)
            continue;
        ts_val stride = map_narrow(fn, ts_opnd(fn, make, stride_at)), extent = ts_opnd(fn, make, extent_at);
        ts_val x = map_narrow(fn, ts_opnd(fn, product, 0)), y = map_narrow(fn, ts_opnd(fn, product, 1));
        ts_val start = stride == x ? y : stride == y ? x : 0;
        if (!start || ts_type_of(fn, start) != TS_T_i32 || ts_type_of(fn, extent) != TS_T_i32)
            continue;
        load->slice_axis = i;
        load->start = start;
        load->extent = extent;
        return true;
    }
    return false;
}

/* Parameter that the array, or what it is a slice of, begins at; 0 = another pointer. */
static ts_val map_base(const ts_fn *fn, ts_val make, const ts_type_info *tensor, ts_tma_load *load)
{
    ts_val base = map_through(fn, ts_opnd(fn, make, 0));
    if (map_slice_behind(fn, make, tensor, load))
        base = map_through(fn, ts_opnd(fn, base, 0));
    return ts_at(fn, base)->op == TS_OP_param ? base : 0;
}

/* Fills dimensions and strides in the order of TMA: unit axis first, then the others from last to first. */
static bool map_dims(const ts_fn *fn, ts_val make, const ts_type_info *tensor, uint32_t unit, const ts_tma_load *load,
                     ts_plan_tmap *map)
{
    ts_plan_num dim[MAP_RANK] = {0}, stride[MAP_RANK] = {0};
    uint32_t n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        bool slice = load->start && i == load->slice_axis;
        bool steps = i != unit && tensor->dims[i] != 1; /* no index moves along one element */
        if (slice)
            dim[i] = (ts_plan_num){TS_SLICE_ROWS, -1};
        else if (!map_dim(fn, make, tensor, false, i, &dim[i]))
            return false;
        if (!map_dim(fn, make, tensor, true, i, &stride[i]) ||
            (steps && map_stride_divisor(fn, make, tensor, i) * map->elem_bytes % MAP_ALIGN))
            return false;
    }
    map->dim[0] = dim[unit];
    map->stride[0] = (ts_plan_num){1, -1};
    for (uint32_t i = tensor->rank; i-- > 0;)
        if (i != unit) {
            map->slice = load->start && i == load->slice_axis ? (uint8_t)n : map->slice;
            map->dim[n] = dim[i];
            map->stride[n++] = stride[i];
        }
    return true;
}

static bool map_padding(const ts_fn *fn, uint8_t padding, bool is_float, ts_plan_tmap *map)
{
    if (padding == TS_PAD_UNDEF) /* as ts__pad_bits */
        padding = fn->checked ? TS_PAD_NAN : TS_PAD_ZERO;
    map->nan_fill = padding == TS_PAD_NAN;
    return padding == TS_PAD_ZERO || (padding == TS_PAD_NAN && is_float);
}

/* One row, not swizzled: a vector (ts_tma_is_vector). */
static bool map_vector_shape(ts_tma_load *load, ts_plan_tmap *map)
{
    load->rows = 1;
    load->span = load->bytes = load->inner * load->elem_bytes;
    for (uint32_t i = 0; i < map->rank; i++)
        map->box[i] = map->step[i] = 1;
    map->box[0] = load->inner;
    return load->bytes % MAP_ALIGN == 0 && load->inner <= TS_TMA_BOX;
}

/* Shape of the tile in shared memory. The box: one panel of at most 256 rows. */
static bool map_shape(const ts_type_info *view, ts_tma_load *load, ts_plan_tmap *map, uint32_t unit)
{
    uint32_t rank = view->rank;
    load->inner = (uint32_t)view->dims[load->inner_axis];
    load->rows = (uint32_t)view->dims[load->rows_axis];
    if (ts_tma_is_vector(load))
        return map_vector_shape(load, map);
    uint32_t line = load->inner * load->elem_bytes;
    load->span = TS_MIN(line, (uint32_t)TS_TMA_SPAN);
    load->bytes = load->inner * load->rows * load->elem_bytes;
    if (load->span < TS_TMA_SPAN_LEAST || load->rows < TS_TMA_ROWS_LEAST)
        return false;
    map->swizzle = (uint8_t)(load->span == TS_TMA_SPAN ? TS_TMA_WIDEST : load->span == 64 ? 2 : 1);
    for (uint32_t i = 0; i < rank; i++)
        if (view->dims[i] != 1 && i != load->inner_axis && i != load->rows_axis)
            return false;
    uint32_t n = 1, rows_of = ts_view_array_axis(view, load->rows_axis);
    map->box[0] = load->span / load->elem_bytes;
    for (uint32_t i = rank; i-- > 0;)
        if (i != unit) {
            load->rows_dim = i == rows_of ? n : load->rows_dim;
            map->box[n++] = i == rows_of ? TS_MIN(load->rows, (uint32_t)TS_TMA_BOX) : 1;
        }
    for (uint32_t i = 0; i < rank; i++)
        map->step[i] = 1;
    return true;
}

/* Why the view behind access `v` has no tensor map; NULL when nothing speaks against one. */
static const char *map_view_obstacle(const ts_fn *fn, ts_val v, const uint32_t axes[2])
{
    const ts_inst *inst = ts_at(fn, v);
    ts_val view = ts_opnd(fn, v, 0), make = ts_opnd(fn, view, 0);
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    if (info->kind != TS_KIND_PARTITION_VIEW || ts_at(fn, make)->op != TS_OP_make_tensor_view)
        return "the tile is not one of a plain tiling of an array";
    if (TS_M_GET_TMA(inst->aux) == TS_TMA_FORBIDDEN)
        return "allow_tma=False";
    if (TS_M_GET_ORDER(inst->aux) != TS_WEAK && inst->op != TS_OP_atomic_red_view_tko)
        return "the access is ordered (memory_order)";
    uint32_t unit = ts__view_unit_axis(fn, view), first = inst->op == TS_OP_load_view_tko ? 1 : 2;
    if (ts_type_get(fn->module, info->elem)->rank > MAP_RANK)
        return "the array has more than 5 axes";
    if (unit == TS_NO)
        return "no axis of the tile is known to have stride 1";
    if (unit != axes[0] && unit != axes[1])
        return "the axis of stride 1 is not one of the tile's two axes";
    ts_tma_load load = {0};
    ts_val base = map_base(fn, make, ts_type_get(fn->module, info->elem), &load);
    if (!base)
        return "the array is not a plain argument or a slice of one (a list item or a computed pointer)";
    ts_val whole = load.start ? map_through(fn, ts_opnd(fn, make, 0)) : make;
    if (ts__lower_divisor(fn, ts_opnd(fn, whole, 0)) < MAP_ALIGN)
        return "the array is not aligned to 16 bytes";
    for (uint32_t i = 0; i < info->rank; i++)
        if (ts_type_of(fn, ts_opnd(fn, v, first + i)) != TS_T_i32)
            return "an index is 64 bits wide";
    return NULL;
}

bool ts__copied_describe(const ts_fn *fn, ts_val v, const uint32_t axes[2], ts_tma_load *load)
{
    ts_val view = ts_opnd(fn, v, 0), make = ts_opnd(fn, view, 0);
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    if (info->kind != TS_KIND_PARTITION_VIEW || ts_at(fn, make)->op != TS_OP_make_tensor_view ||
        TS_M_GET_ORDER(ts_at(fn, v)->aux) != TS_WEAK)
        return false;
    const ts_type_info *tensor = ts_type_get(fn->module, info->elem);
    uint32_t axis = ts__view_unit_axis(fn, view), bytes = ts_type_bits(fn->module, tensor->elem) / 8;
    if (axis == TS_NO || (axis != axes[0] && axis != axes[1]) || tensor->rank < 2 || tensor->rank > MAP_RANK || !bytes)
        return false;
    ts_plan_tmap map = {.rank = (uint8_t)tensor->rank};
    uint32_t unit = ts_view_array_axis(info, axis);
    *load = (ts_tma_load){.load = v, .inner_axis = axis, .rows_axis = axis == axes[0] ? axes[1] : axes[0],
                          .elem_bytes = bytes};
    bool aligned = ts__lower_divisor(fn, ts_opnd(fn, make, 0)) >= MAP_ALIGN;
    for (uint32_t i = 0; i < tensor->rank; i++)
        aligned = aligned && (i == unit || tensor->dims[i] == 1 ||
                              map_stride_divisor(fn, make, tensor, i) * bytes % MAP_ALIGN == 0);
    return aligned && map_shape(info, load, &map, unit);
}

bool ts__tma_describe(const ts_fn *fn, ts_val v, const uint32_t axes[2], ts_type want, ts_tma_load *load,
                     ts_plan_tmap *map)
{
    ts_val view = ts_opnd(fn, v, 0), make = ts_opnd(fn, view, 0);
    const char *obstacle = map_view_obstacle(fn, v, axes);
    if (obstacle)
        return ts__note(fn, v, TS_NOTE_missed, "tma", "%s", obstacle);
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    const ts_type_info *tensor = ts_type_get(fn->module, info->elem);
    uint32_t unit_axis = ts__view_unit_axis(fn, view), unit = ts_view_array_axis(info, unit_axis);
    *load = (ts_tma_load){.load = v, .inner_axis = unit_axis, .rows_axis = unit_axis == axes[0] ? axes[1] : axes[0]};
    ts_val base = map_base(fn, make, tensor, load);
    load->elem_bytes = ts_type_bits(fn->module, tensor->elem) / 8;
    *map = (ts_plan_tmap){.base = (int32_t)base - 1, .rank = (uint8_t)tensor->rank, .elem_bytes = load->elem_bytes,
                          .dtype = map_dtype(tensor->elem, want)};
    if (load->elem_bytes < 1 || tensor->rank < 2)
        return ts__note(fn, v, TS_NOTE_missed, "tma", "the array has one axis or elements of less than a byte");
    if (!map_padding(fn, info->padding, ts_type_is_float(fn->module, tensor->elem), map))
        return ts__note(fn, v, TS_NOTE_missed, "tma", "padding other than zero or NaN");
    if (!map_dims(fn, make, tensor, unit, load, map))
        return ts__note(fn, v, TS_NOTE_missed, "tma",
                       "a stride is not known to be a multiple of 16 bytes, or an extent is 64 bits wide");
    return map_shape(info, load, map, unit) ||
           ts__note(fn, v, TS_NOTE_missed, "tma",
                   "the tile has a row of less than 32 bytes, less than 8 rows, or more than two axes");
}
