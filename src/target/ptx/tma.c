/* SPDX-License-Identifier: Apache-2.0
 *
 * Which matrix products run on wgmma and which loads become TMA copies (tma.h). A product qualifies when
 *   - its types have a wgmma form, m is a multiple of 64, n and k fit, the accumulator fits registers;
 *   - operand b, and a unless it is computed, is a tile loaded through a partition view for products
 *     alone, perhaps reshaped by ones, transposed, or rounded to tf32 on the way;
 *   - the view obeys TMA's rules: base a parameter aligned to 16 bytes, unit stride along one axis, other
 *     strides multiples of 16 bytes, extents parameters or constants, padding zero or NaN;
 *   - nothing stored by this function may be what is loaded, since the loads run ahead;
 *   - what the producer must know (bounds, indices) is scalar arithmetic.
 * Products that do not qualify keep the general way (lower_mma.c). Cost: linear, a few passes.
 */
#include "target/ptx/tma.h"
#include "target/ptx/lower.h"
#include "target/ptx/rotate.h"

typedef struct tma_work {
    const ts_fn *fn;
    const ts_module *module;
    const ts_pass_env *env;
    ts_arena *arena;
    ts_tma *out;
    ts_shape shape;
    uint32_t *uses;  /* without tokens */
    uint32_t *edges; /* uses on the way to a product's operand */
} tma_work;

static const ts_tma_load *tma_load_at(const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->loads.n; i++)
        if (tma->loads.at[i].load == v && !tma->loads.at[i].made)
            return &tma->loads.at[i];
    return NULL;
}

const ts_tma_load *ts_tma_load_of(const ts_tma *tma, ts_val v)
{
    return tma->active ? tma_load_at(tma, v) : NULL;
}

const ts_wgmma *ts_wgmma_of(const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; tma->active && i < tma->products.n; i++)
        if (tma->products.at[i].mma == v)
            return &tma->products.at[i];
    return NULL;
}

/* ---- types of products ---------------------------------------------------------------------------- */

typedef struct tma_row {
    uint8_t row, a, c, log_k; /* ts_mma; element types; log2 of k of one instruction */
    uint8_t mn_major, fast;   /* operands may be MN-major; only with fast accumulation */
} tma_row;
static const tma_row tma_rows[] = {
    {TS_MMA_m64k16_f16, TS_T_f16, TS_T_f32, 4, 1, 0},
    {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, 4, 1, 0},
    {TS_MMA_m64k8_tf32, TS_T_tf32, TS_T_f32, 3, 0, 0},
    {TS_MMA_m64k32_e4m3, TS_T_f8E4M3FN, TS_T_f32, 5, 0, 1}, /* sums keep 14 bits */
    {TS_MMA_m64k32_e5m2, TS_T_f8E5M2, TS_T_f32, 5, 0, 1},
    {TS_MMA_m64k32_s8, TS_T_i8, TS_T_i32, 5, 0, 0},
};

static ts_type tma_elem(const tma_work *w, ts_val v)
{
    return ts_type_elem(w->module, ts_type_of(w->fn, v));
}

static const tma_row *tma_row_of(const tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_type a = tma_elem(w, inst->opnd[0]), b = tma_elem(w, inst->opnd[1]), c = tma_elem(w, v);
    for (size_t i = 0; i < TS_COUNT(tma_rows); i++) {
        const tma_row *row = &tma_rows[i];
        if (row->a == a && a == b && row->c == c && (!row->fast || inst->aux & TS_A_FAST_ACC))
            return row;
    }
    return NULL;
}

/* ---- where an operand comes from -------------------------------------------------------------------- */

/* Follows axis `axis` of `v` one step back into its operand. Reshapes may only drop or add extents of 1. */
static bool tma_reshape_axis(const tma_work *w, ts_val v, uint32_t *axis)
{
    ts_type to = ts_type_of(w->fn, v), from = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    const int64_t *t = ts_type_dims(w->module, to), *f = ts_type_dims(w->module, from);
    uint32_t i = 0, j = 0, n = ts_type_rank(w->module, to), m = ts_type_rank(w->module, from), found = TS_NO;
    for (;; i++, j++) {
        while (i < n && t[i] == 1)
            i++;
        while (j < m && f[j] == 1)
            j++;
        if (i == n || j == m)
            break;
        if (t[i] != f[j])
            return false;
        found = i == *axis ? j : found;
    }
    *axis = found;
    return i == n && j == m && found != TS_NO;
}

static bool tma_looks_through(const ts_inst *inst)
{
    return inst->op == TS_OP_permute || inst->op == TS_OP_reshape || inst->op == TS_OP_ftof || inst->op == TS_OP_assume;
}

/* Counts the uses of every value that lead to operands of products, each once. */
static void tma_count_edges(tma_work *w)
{
    for (ts_val v = w->fn->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        for (uint32_t i = 0; product && i < 2; i++)
            w->edges[inst->opnd[i]]++;
        if (tma_looks_through(inst) && w->edges[v])
            w->edges[inst->opnd[0]]++;
    }
}

/* Operands of products that come down to `load`, by whatever way. */
static uint32_t tma_reached(const tma_work *w, ts_val load)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        for (uint32_t i = 0; product && i < 2; i++) {
            ts_val x = inst->opnd[i];
            while (tma_looks_through(ts_at(w->fn, x)))
                x = ts_opnd(w->fn, x, 0);
            n += x == load;
        }
    }
    return n;
}

/* Every reader of every load takes it from shared memory. */
static bool tma_all_from_shared(const tma_work *w)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < w->out->products.n; k++)
            n += (w->out->products.at[k].a == i ? 1u : 0u) + (w->out->products.at[k].b == i ? 1u : 0u);
        if (!w->out->loads.at[i].made && n != tma_reached(w, w->out->loads.at[i].load))
            return false;
    }
    return true;
}

/* The load behind an operand with its two axes, or 0. */
static ts_val tma_trace(const tma_work *w, ts_val v, ts_type want, uint32_t axes[2])
{
    for (uint32_t steps = 0; steps < 16; steps++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (w->uses[v] != w->edges[v])
            return 0;
        switch ((int)inst->op) {
        case TS_OP_load_view_tko:
            return v;
        case TS_OP_permute:
            axes[0] = ts_pool(w->fn, inst)[1 + axes[0]];
            axes[1] = ts_pool(w->fn, inst)[1 + axes[1]];
            break;
        case TS_OP_reshape:
            if (!tma_reshape_axis(w, v, &axes[0]) || !tma_reshape_axis(w, v, &axes[1]))
                return 0;
            break;
        case TS_OP_ftof: /* the copy itself rounds f32 to nearest tf32 */
            if (want != TS_T_tf32 || TS_A_ROUND(inst->aux) != TS_RN || tma_elem(w, inst->opnd[0]) != TS_T_f32)
                return 0;
            break;
        case TS_OP_assume:
            break;
        default:
            return 0;
        }
        v = inst->opnd[0];
    }
    return 0;
}

/* ---- the tensor map ------------------------------------------------------------------------------------ */

static ts_val tma_through(const ts_fn *fn, ts_val v)
{
    while (ts_at(fn, v)->op == TS_OP_assume || ts_at(fn, v)->op == TS_OP_ptr_to_ptr)
        v = ts_opnd(fn, v, 0);
    return v;
}

/* A constant or a parameter. 64-bit extents mean arrays whose coordinates may not fit 32 bits. */
static bool tma_number(const ts_fn *fn, ts_val v, ts_plan_num *out)
{
    int64_t value;
    ts_val root = tma_through(fn, v);
    *out = (ts_plan_num){0, -1};
    if (ts_const_as_int(fn, root, &value)) {
        out->value = value;
        return value > 0 && value <= INT32_MAX;
    }
    out->param = (int32_t)root - 1;
    return ts_at(fn, root)->op == TS_OP_param && ts_type_of(fn, root) == TS_T_i32;
}

/* Number of extent or stride `dim`: from the type or the operands of make_tensor_view, *at counts those. */
static bool tma_dim(const ts_fn *fn, ts_val make, int64_t in_type, uint32_t *at, ts_plan_num *out)
{
    *out = (ts_plan_num){in_type, -1};
    if (in_type != TS_DYNAMIC)
        return in_type > 0 && in_type <= INT32_MAX;
    return *at < ts_at(fn, make)->n_opnd && tma_number(fn, ts_opnd(fn, make, (*at)++), out);
}

static int64_t tma_stride_divisor(const ts_fn *fn, ts_val make, int64_t in_type, uint32_t at)
{
    return in_type != TS_DYNAMIC ? (in_type & -in_type) : ts_lower_divisor(fn, ts_opnd(fn, make, at));
}

static uint8_t tma_dtype(ts_type elem, ts_type want)
{
    enum { U8 = 0, U16 = 1, S32 = 3, F16 = 6, F32 = 7, BF16 = 9, TF32 = 11 }; /* CUtensorMapDataType */
    if (elem == TS_T_i16 || elem == TS_T_i32)
        return elem == TS_T_i16 ? U16 : S32;
    if (want == TS_T_tf32 && elem == TS_T_f32)
        return TF32;
    return elem == TS_T_f16 ? F16 : elem == TS_T_bf16 ? BF16 : elem == TS_T_f32 || elem == TS_T_tf32 ? F32 : U8;
}

/* The value before it was widened. */
static ts_val tma_narrow(const ts_fn *fn, ts_val v)
{
    v = tma_through(fn, v);
    return ts_at(fn, v)->op == TS_OP_exti ? tma_through(fn, ts_opnd(fn, v, 0)) : v;
}

/* Operand of make_tensor_view with the dynamic extent (or stride) of an axis; 0 when it is in the type. */
static ts_val tma_view_operand(const ts_fn *fn, ts_val make, const ts_type_info *tensor, uint32_t axis, bool stride)
{
    uint32_t at = 1;
    for (uint32_t i = 0; i < (stride ? tensor->rank : axis); i++)
        at += tensor->dims[i] == TS_DYNAMIC;
    for (uint32_t i = 0; stride && i < axis; i++)
        at += tensor->strides[i] == TS_DYNAMIC;
    bool dynamic = (stride ? tensor->strides : tensor->dims)[axis] == TS_DYNAMIC;
    return dynamic && at < ts_at(fn, make)->n_opnd ? ts_opnd(fn, make, at) : 0;
}

/* The array behind the view is rows start .. start + extent of a parameter: base + start * stride of an axis. */
static bool tma_slice_behind(const ts_fn *fn, ts_val make, const ts_type_info *tensor, ts_tma_load *load)
{
    ts_val base = tma_through(fn, ts_opnd(fn, make, 0));
    if (ts_at(fn, base)->op != TS_OP_offset || tensor->rank > 3)
        return false;
    ts_val product = tma_through(fn, ts_opnd(fn, base, 1));
    for (uint32_t i = 0; i < tensor->rank && ts_at(fn, product)->op == TS_OP_muli; i++) {
        ts_val stride = tma_view_operand(fn, make, tensor, i, true), extent = tma_view_operand(fn, make, tensor, i, false);
        ts_val x = tma_narrow(fn, ts_opnd(fn, product, 0)), y = tma_narrow(fn, ts_opnd(fn, product, 1));
        ts_val start = stride && tma_narrow(fn, stride) == x ? y : stride && tma_narrow(fn, stride) == y ? x : 0;
        if (!start || !extent || ts_type_of(fn, start) != TS_T_i32 || ts_type_of(fn, extent) != TS_T_i32)
            continue;
        load->slice_axis = i;
        load->start = start;
        load->extent = extent;
        return true;
    }
    return false;
}

/* Parameter that the array, or what it is a slice of, begins at; 0 = another pointer. */
static ts_val tma_base(const ts_fn *fn, ts_val make, const ts_type_info *tensor, ts_tma_load *load)
{
    ts_val base = tma_through(fn, ts_opnd(fn, make, 0));
    if (tma_slice_behind(fn, make, tensor, load))
        base = tma_through(fn, ts_opnd(fn, base, 0));
    return ts_at(fn, base)->op == TS_OP_param ? base : 0;
}

/* Fills dimensions and strides in the order of TMA: unit axis first, then the others from last to first. */
static bool tma_map_dims(const ts_fn *fn, ts_val make, const ts_type_info *tensor, uint32_t unit, const ts_tma_load *load,
                         ts_plan_tmap *map)
{
    ts_plan_num dim[5], stride[5];
    uint32_t at = 1, n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        bool known = tma_dim(fn, make, tensor->dims[i], &at, &dim[i]), slice = load->start && i == load->slice_axis;
        if (slice)
            dim[i] = (ts_plan_num){TS_SLICE_ROWS, -1};
        if (!known && !slice)
            return false;
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        int64_t divisor = tensor->strides[i] == TS_DYNAMIC && at >= ts_at(fn, make)->n_opnd
                              ? 1 : tma_stride_divisor(fn, make, tensor->strides[i], at);
        if (!tma_dim(fn, make, tensor->strides[i], &at, &stride[i]))
            return false;
        if (i != unit && tensor->dims[i] != 1 && divisor * map->elem_bytes % 16) /* nobody takes a step along one element */
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

static bool tma_padding(uint8_t padding, bool is_float, ts_plan_tmap *map)
{
    map->nan_fill = padding == TS_PAD_NAN;
    return padding == TS_PAD_UNDEF || padding == TS_PAD_ZERO || (padding == TS_PAD_NAN && is_float);
}

/* One row, not swizzled: a vector (ts_tma_is_vector). */
static bool tma_vector_shape(ts_tma_load *load, ts_plan_tmap *map)
{
    load->rows = 1;
    load->span = load->bytes = load->inner * load->elem_bytes;
    for (uint32_t i = 0; i < map->rank; i++)
        map->box[i] = map->step[i] = 1;
    map->box[0] = load->inner;
    return load->bytes % 16 == 0 && load->inner <= 256;
}

/* Shape of the tile in shared memory. The box: one panel of at most 256 rows. */
static bool tma_shape(const ts_type_info *view, ts_tma_load *load, ts_plan_tmap *map, uint32_t unit)
{
    uint32_t rank = view->rank;
    load->inner = (uint32_t)view->dims[load->inner_axis];
    load->rows = (uint32_t)view->dims[load->rows_axis];
    if (ts_tma_is_vector(load))
        return tma_vector_shape(load, map);
    uint32_t line = load->inner * load->elem_bytes;
    load->span = TS_MIN(line, 128u);
    load->bytes = load->inner * load->rows * load->elem_bytes;
    if (load->span < 32 || load->rows < 8)
        return false;
    map->swizzle = (uint8_t)(load->span == 128 ? 3 : load->span == 64 ? 2 : 1);
    for (uint32_t i = 0; i < rank; i++)
        if (view->dims[i] != 1 && i != load->inner_axis && i != load->rows_axis)
            return false;
    uint32_t n = 1, rows_of = view->dim_map ? (uint32_t)view->dim_map[load->rows_axis] : load->rows_axis;
    map->box[0] = load->span / load->elem_bytes;
    for (uint32_t i = rank; i-- > 0;)
        if (i != unit) {
            load->rows_dim = i == rows_of ? n : load->rows_dim;
            map->box[n++] = i == rows_of ? TS_MIN(load->rows, 256u) : 1;
        }
    for (uint32_t i = 0; i < rank; i++)
        map->step[i] = 1;
    return true;
}

/* Why the view behind access `v` has no tensor map; NULL when nothing speaks against one. */
static const char *tma_view_obstacle(const ts_fn *fn, ts_val v, const uint32_t axes[2])
{
    const ts_inst *inst = ts_at(fn, v);
    ts_val view = ts_opnd(fn, v, 0), make = ts_opnd(fn, view, 0);
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    if (info->kind != TS_KIND_PARTITION_VIEW || ts_at(fn, make)->op != TS_OP_make_tensor_view)
        return "the tile is not one of a plain tiling of an array";
    if (TS_M_GET_TMA(inst->aux) == 2)
        return "allow_tma=False";
    if (TS_M_GET_ORDER(inst->aux) != TS_WEAK && inst->op != TS_OP_atomic_red_view_tko)
        return "the access is ordered (memory_order)";
    uint32_t unit = ts_view_unit_axis(fn, view), first = inst->op == TS_OP_load_view_tko ? 1 : 2;
    if (ts_type_get(fn->module, info->elem)->rank > 5)
        return "the array has more than 5 axes";
    if (unit == TS_NO)
        return "no axis of the tile is known to have stride 1";
    if (unit != axes[0] && unit != axes[1])
        return "the axis of stride 1 is not one of the tile's two axes";
    ts_tma_load load = {0};
    ts_val base = tma_base(fn, make, ts_type_get(fn->module, info->elem), &load);
    if (!base)
        return "the array is not a plain argument or a slice of one (a list item or a computed pointer)";
    ts_val whole = load.start ? tma_through(fn, ts_opnd(fn, make, 0)) : make;
    if (ts_lower_divisor(fn, ts_opnd(fn, whole, 0)) < 16)
        return "the array is not aligned to 16 bytes";
    for (uint32_t i = 0; i < info->rank; i++)
        if (ts_type_of(fn, ts_opnd(fn, v, first + i)) != TS_T_i32)
            return "an index is 64 bits wide";
    return NULL;
}

bool ts_tma_describe(const ts_fn *fn, ts_val v, const uint32_t axes[2], ts_type want, ts_tma_load *load, ts_plan_tmap *map)
{
    ts_val view = ts_opnd(fn, v, 0), make = ts_opnd(fn, view, 0);
    const char *obstacle = tma_view_obstacle(fn, v, axes);
    if (obstacle)
        return ts_note(fn, v, TS_NOTE_missed, "tma", "%s", obstacle);
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    const ts_type_info *tensor = ts_type_get(fn->module, info->elem);
    uint32_t unit_axis = ts_view_unit_axis(fn, view);
    uint32_t unit = info->dim_map ? (uint32_t)info->dim_map[unit_axis] : unit_axis;
    *load = (ts_tma_load){.load = v, .inner_axis = unit_axis, .rows_axis = unit_axis == axes[0] ? axes[1] : axes[0]};
    ts_val base = tma_base(fn, make, tensor, load);
    load->elem_bytes = ts_type_bits(fn->module, tensor->elem) / 8;
    *map = (ts_plan_tmap){.base = (int32_t)base - 1, .rank = (uint8_t)tensor->rank, .elem_bytes = load->elem_bytes,
                          .dtype = tma_dtype(tensor->elem, want)};
    if (load->elem_bytes < 1 || tensor->rank < 2)
        return ts_note(fn, v, TS_NOTE_missed, "tma", "the array has one axis or elements of less than a byte");
    if (!tma_padding(info->padding, ts_type_is_float(fn->module, tensor->elem), map))
        return ts_note(fn, v, TS_NOTE_missed, "tma", "padding other than zero or NaN");
    if (!tma_map_dims(fn, make, tensor, unit, load, map))
        return ts_note(fn, v, TS_NOTE_missed, "tma", "a stride is not known to be a multiple of 16 bytes, or an extent is "
                                                     "64 bits wide");
    return tma_shape(info, load, map, unit) ||
           ts_note(fn, v, TS_NOTE_missed, "tma", "the tile has a row of less than 32 bytes, less than 8 rows, or more than "
                                                 "two axes");
}

/* Rows along M or N of an array that may have fewer than the tile. */
static bool tma_may_be_short(const ts_tma_load *load, const ts_plan_tmap *map, bool mn_major)
{
    const ts_plan_num *rows = &map->dim[load->rows_dim];
    return !mn_major && !map->nan_fill && load->rows <= 256 && (rows->param >= 0 || rows->value < load->rows);
}

/* Adds the load behind operand `v`; TS_NO when it cannot be made by TMA. */
static uint32_t tma_operand(tma_work *w, ts_val v, uint32_t rank, const tma_row *row, uint32_t k_axis, bool *mn_major)
{
    ts_tma_load load;
    ts_plan_tmap map;
    uint32_t axes[2] = {rank - 2, rank - 1};
    ts_val from = tma_trace(w, v, row->a, axes);
    if (!from || w->env->plan->n_tmaps == TS_PLAN_TMAPS || !ts_tma_describe(w->fn, from, axes, row->a, &load, &map))
        return TS_NO;
    *mn_major = load.inner_axis != axes[k_axis];
    if (*mn_major && !row->mn_major)
        return TS_NO;
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (w->out->loads.at[i].load == from)
            return w->env->plan->tmap[w->out->loads.at[i].tmap].dtype == map.dtype ? i : TS_NO;
    load.tmap = w->env->plan->n_tmaps;
    load.group = TS_NO;
    map.clip = tma_may_be_short(&load, &map, *mn_major) ? (uint8_t)load.rows_dim : 0;
    if (!TS_PUSH(w->arena, &w->out->loads, load))
        return TS_NO;
    w->env->plan->tmap[w->env->plan->n_tmaps++] = map;
    return w->out->loads.n - 1;
}

static bool tma_is_made(const tma_work *w, const ts_wgmma *p)
{
    return p->a != TS_NO && w->out->loads.at[p->a].made;
}

/* A computed tile that the product wants transposed is put into shared memory, in a place of its own: there the
 * hardware reads either order. Adds that place; TS_NO when the operand is not so. */
static uint32_t tma_make(tma_work *w, ts_val v, bool *mn_major)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (inst->op != TS_OP_permute || ts_type_rank(w->module, inst->type) != 2 || ts_pool(w->fn, inst)[1] != 1)
        return TS_NO;
    const int64_t *dims = ts_type_dims(w->module, ts_type_of(w->fn, inst->opnd[0]));
    ts_tma_load load = {.load = inst->opnd[0], .inner_axis = 1, .rows = (uint32_t)dims[0], .inner = (uint32_t)dims[1],
                        .elem_bytes = 2, .made = true};
    load.span = TS_MIN(load.inner * load.elem_bytes, 128u);
    load.bytes = load.rows * load.inner * load.elem_bytes;
    load.group = TS_NO;
    if (load.span < 32 || load.rows < 8 || !TS_PUSH(w->arena, &w->out->loads, load))
        return TS_NO;
    *mn_major = true;
    return w->out->loads.n - 1;
}

/* ---- products ------------------------------------------------------------------------------------------- */

/* The loop that carries `v` as accumulator of this product alone: the product is the only reader of the
 * argument, and the next trip the only reader of the product. */
static bool tma_is_late(const tma_work *w, ts_val mma)
{
    ts_val loop = w->shape.parent[mma], c = ts_opnd(w->fn, mma, 2);
    if (!loop || ts_at(w->fn, loop)->op != TS_OP_for || w->uses[mma] != 1 || w->uses[c] != 1)
        return false;
    uint32_t i = c - loop - 2;
    ts_val last = w->shape.end[loop] - 1;
    const ts_inst *term = ts_at(w->fn, last);
    return ts_at(w->fn, c)->op == TS_OP_arg && w->shape.parent[c] == loop && c >= loop + 2 &&
           term->op == TS_OP_continue && i < term->n_opnd && ts_opnds(w->fn, term)[i] == mma;
}

static bool tma_reads(const tma_work *w, ts_val reader, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, reader);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (ts_opnds(w->fn, inst)[i] == v)
            return true;
    return false;
}

/* The first reader of a value of a loop; its end when there is none. */
static ts_val tma_first_reader(const tma_work *w, ts_val loop, ts_val value)
{
    for (ts_val v = loop + 1; v < w->shape.end[loop]; v++)
        if (tma_reads(w, v, value))
            return v;
    return w->shape.end[loop];
}

/* The wait for a product behind it, in the same trip, covers the deferred one too. */
static bool tma_is_over(const tma_work *w, const ts_wgmma *deferred)
{
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *q = &w->out->products.at[i];
        if (q->mma > deferred->mma && w->shape.parent[q->mma] == w->shape.parent[deferred->mma] && q->lazy)
            return true;
    }
    return false;
}

/* The result only goes round the loop, and before the next trip reads it there is the wait of another product: the
 * second product of attention. */
static bool tma_is_deferred(const tma_work *w, const ts_wgmma *p)
{
    ts_val loop = w->shape.parent[p->mma];
    if (!loop || ts_at(w->fn, loop)->op != TS_OP_for || w->uses[p->mma] != 1)
        return false;
    const ts_inst *term = ts_at(w->fn, w->shape.end[loop] - 1);
    uint32_t i = 0;
    while (i < term->n_opnd && ts_opnds(w->fn, term)[i] != p->mma)
        i++;
    if (term->op != TS_OP_continue || i == term->n_opnd)
        return false;
    ts_val reader = tma_first_reader(w, loop, loop + 2 + i), before = 0;
    for (uint32_t k = 0; k < w->out->products.n; k++) {
        const ts_wgmma *q = &w->out->products.at[k];
        if (w->shape.parent[q->mma] != loop || q == p)
            continue;
        if (q->late || (q->deferred && !tma_is_over(w, q)))
            return false;
        ts_val waits = q->lazy ? tma_first_reader(w, loop, q->mma) : q->mma;
        before = !q->deferred && waits < reader && q->mma < p->mma ? q->mma : before;
    }
    return before != 0;
}

/* Read first behind further work of the same region, which then runs beside it; no product of a region between. */
static bool tma_is_lazy(const tma_work *w, const ts_wgmma *p)
{
    ts_val region = w->shape.parent[p->mma], last = (region ? w->shape.end[region] : w->fn->inst.n) - 1;
    ts_val reader = p->mma + 1;
    while (reader < last && !tma_reads(w, reader, p->mma))
        reader++;
    if (reader == last || reader == p->mma + 1 || w->shape.parent[reader] != region)
        return false;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_val mma = w->out->products.at[i].mma;
        if (mma > p->mma && mma < reader && w->shape.parent[mma] != region)
            return false;
    }
    return true;
}

/* When each product is waited for. A lazy one has its reader in the same trip, a deferred one in the next. */
static void tma_plan_waits(tma_work *w)
{
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_wgmma *p = &w->out->products.at[i];
        p->lazy = !p->late && tma_is_lazy(w, p);
    }
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_wgmma *p = &w->out->products.at[i];
        p->deferred = !p->late && !p->lazy && !tma_is_made(w, p) && tma_is_deferred(w, p);
    }
}

static bool tma_is_zero(const tma_work *w, ts_val v)
{
    uint64_t bits;
    while (ts_at(w->fn, v)->op == TS_OP_broadcast || ts_at(w->fn, v)->op == TS_OP_reshape)
        v = ts_opnd(w->fn, v, 0);
    return ts_const_bits(w->fn, v, &bits) && bits == 0;
}

/* Extents of the product as log2; false when a batch or an extent is out of range. */
static bool tma_extents(const tma_work *w, ts_val v, const tma_row *row, uint32_t log[3])
{
    ts_type tc = ts_type_of(w->fn, v), ta = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    uint32_t rank = ts_type_rank(w->module, tc);
    const int64_t *c = ts_type_dims(w->module, tc), *a = ts_type_dims(w->module, ta);
    if (rank == 3 && c[0] != 1)
        return false;
    log[0] = (uint32_t)ts_log2((uint64_t)c[rank - 2]);
    log[1] = (uint32_t)ts_log2((uint64_t)c[rank - 1]);
    log[2] = (uint32_t)ts_log2((uint64_t)a[rank - 1]);
    return log[0] >= 6 && log[1] >= 4 && log[2] >= row->log_k && log[0] + log[1] <= 15;
}

static void tma_product(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    const tma_row *row = tma_row_of(w, v);
    uint32_t log[3], rank = ts_type_rank(w->module, ts_type_of(w->fn, v));
    ts_wgmma product = {.mma = v, .a = TS_NO};
    if (!row || inst->aux & (TS_A_UNSIGNED | TS_A_UNSIGNED_B)) {
        ts_note(w->fn, v, TS_NOTE_missed, "wgmma", "there is no wgmma for these element types%s",
                row ? " without sign" : ts_type_bits(w->module, tma_elem(w, inst->opnd[0])) == 8 ? " (fp8 needs fast accumulation)" : "");
        return;
    }
    if (!tma_extents(w, v, row, log)) {
        ts_note(w->fn, v, TS_NOTE_missed, "wgmma", "the product's extents: M at least 64, N 16, K %u, M*N at most 32768, no batch",
                1u << row->log_k);
        return;
    }
    uint32_t n_tmaps = w->env->plan->n_tmaps, n_loads = w->out->loads.n;
    product.row = row->row;
    product.b = tma_operand(w, inst->opnd[1], rank, row, 0, &product.trans_b);
    product.a = product.b == TS_NO ? TS_NO : tma_operand(w, inst->opnd[0], rank, row, 1, &product.trans_a);
    if (product.b != TS_NO && product.a == TS_NO && row->log_k == 4)
        product.a = tma_make(w, inst->opnd[0], &product.trans_a);
    bool in_regs = product.a == TS_NO;
    if (product.b == TS_NO || (in_regs && row->log_k != 4)) {
        w->env->plan->n_tmaps = n_tmaps;
        w->out->loads.n = n_loads;
        ts_note(w->fn, v, TS_NOTE_missed, "wgmma", "operand %s does not come straight from an array by TMA",
                product.b == TS_NO ? "b" : "a");
        return;
    }
    product.zero = tma_is_zero(w, inst->opnd[2]);
    product.late = !in_regs && !tma_is_made(w, &product) && tma_is_late(w, v);
    (void)TS_PUSH(w->arena, &w->out->products, product);
}

/* 4 warps for each 64 rows, at most 8; one accumulator may take 128 registers of a thread. */
static bool tma_warps(tma_work *w)
{
    uint32_t rows = 0, hint = w->env->hints ? w->env->hints->num_worker_warps : 0, most = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_type type = ts_type_of(w->fn, w->out->products.at[i].mma);
        const int64_t *c = ts_type_dims(w->module, type);
        rows = TS_MAX(rows, (uint32_t)c[ts_type_rank(w->module, type) - 2]);
        most = TS_MAX(most, (uint32_t)ts_log2((uint64_t)ts_type_count(w->module, type)));
    }
    w->out->n_warp = rows > 64 || most > 14 || hint == 8 ? 3 : 2;
    return most <= 14 + (w->out->n_warp == 3);
}

/* ---- stores --------------------------------------------------------------------------------------------------- */

/* Parameter index of the array behind a view or pointer; -1 when unknown. */
static int32_t tma_root(const ts_fn *fn, ts_val v)
{
    for (uint32_t steps = 0; steps < 64; steps++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_param)
            return (int32_t)v - 1;
        if (!inst->n_opnd || !(ts_info(inst)->flags & TS_PURE))
            return -1;
        v = ts_opnds(fn, inst)[0];
    }
    return -1;
}

static bool tma_is_stored(const tma_work *w, int32_t base)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (!(ts_info(inst)->flags & TS_WRITE) || !inst->n_opnd)
            continue;
        int32_t root = tma_root(w->fn, ts_opnds(w->fn, inst)[0]);
        if (root < 0 || root == base)
            return true;
    }
    return false;
}

/* ---- groups and stages -------------------------------------------------------------------------------------- */

static uint32_t tma_loop_index(tma_work *w, ts_val opener)
{
    for (uint32_t i = 0; i < w->out->loops.n; i++)
        if (w->out->loops.at[i].opener == opener)
            return i;
    (void)TS_PUSH(w->arena, &w->out->loops, ((ts_tma_loop){.opener = opener}));
    return w->out->loops.n - 1;
}

/* The `for` of `loop` that holds a product; 0: `loop` itself (or none) does, TS_NO: neither. */
static ts_val tma_within(const tma_work *w, ts_val loop, ts_val mma)
{
    ts_val at = mma;
    while (loop && at && w->shape.parent[at] != loop)
        at = w->shape.parent[at];
    if (!loop || at == mma)
        return 0;
    return at && ts_at(w->fn, at)->op == TS_OP_for ? at : TS_NO;
}

static void tma_read_last(ts_tma_group *group, const ts_wgmma *product, ts_val within)
{
    group->last = product->mma;
    group->within = within;
    group->late = !within && (product->late || product->deferred);
}

/* A stage is released after the product, or after a whole loop of products; loads outside loops never. */
static bool tma_join(tma_work *w, uint32_t load, const ts_wgmma *product)
{
    ts_tma_load *l = &w->out->loads.at[load];
    ts_val loop = w->shape.parent[l->load];
    ts_val within = tma_within(w, loop, product->mma);
    ts_tma_group *group = NULL;
    if (l->group != TS_NO) { /* a product before this one brought it in */
        group = &w->out->groups.at[l->group];
        bool alike = !group->within == !within;
        tma_read_last(group, product, within);
        return alike && within != TS_NO;
    }
    for (uint32_t i = 0; i < w->out->groups.n; i++)
        if (w->out->groups.at[i].loop == loop && w->out->groups.at[i].first == product->mma)
            group = &w->out->groups.at[i];
    if (!group) {
        ts_tma_group fresh = {.loop = loop, .first = product->mma, .at = TS_NO};
        tma_read_last(&fresh, product, within);
        if (loop)
            fresh.at = tma_loop_index(w, loop);
        if (!TS_PUSH(w->arena, &w->out->groups, fresh))
            return false;
        group = &w->out->groups.at[w->out->groups.n - 1];
    }
    l->group = (uint32_t)(group - w->out->groups.at);
    l->offset = group->bytes;
    group->bytes += (l->bytes + 1023) & ~1023u;
    return within != TS_NO;
}

/* What consumers make for a product has one place and no barriers of its own. */
static bool tma_join_made(tma_work *w, uint32_t load, const ts_wgmma *product)
{
    ts_tma_load *l = &w->out->loads.at[load];
    ts_tma_group group = {.first = product->mma, .last = product->mma, .at = TS_NO, .bytes = (l->bytes + 1023) & ~1023u};
    l->group = w->out->groups.n;
    return TS_PUSH(w->arena, &w->out->groups, group);
}

static bool tma_join_a(tma_work *w, const ts_wgmma *p)
{
    return p->a == TS_NO || (tma_is_made(w, p) ? tma_join_made(w, p->a, p) : tma_join(w, p->a, p));
}

static bool tma_groups(tma_work *w)
{
    bool good = true;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *p = &w->out->products.at[i];
        good = good && tma_join_a(w, p) && tma_join(w, p->b, p);
    }
    return good;
}

static bool tma_is_rotated(const tma_work *w, ts_val loop)
{
    for (uint32_t i = 0; i < w->out->rotated.n; i++)
        if (w->out->rotated.at[i] == loop)
            return true;
    return false;
}

/* The ring whose stage of this step is awaited before load `v` and released behind it; NULL = there is none. Not in
 * rotated loops: together with waits where results are read it cost a tenth there on an H200. */
static ts_tma_group *tma_ring_around(const tma_work *w, ts_val v)
{
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        if (g->loop && g->loop == w->shape.parent[v] && !g->within && g->first < v && v < g->last &&
            !tma_is_rotated(w, g->loop))
            return g;
    }
    return NULL;
}

/* The one axis of a tile that is longer than 1; TS_NO when there are more, or none. */
static uint32_t tma_only_axis(const tma_work *w, ts_type type)
{
    uint32_t found = TS_NO, n = 0;
    for (uint32_t i = 0; i < ts_type_rank(w->module, type); i++)
        if (ts_type_dims(w->module, type)[i] > 1) {
            found = i;
            n++;
        }
    return n == 1 ? found : TS_NO;
}

/* Rows and columns that are loaded in a loop of products come with the tiles. */
static void tma_join_vectors(tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        ts_tma_group *ring = inst->op == TS_OP_load_view_tko && !tma_load_at(w->out, v) ? tma_ring_around(w, v) : NULL;
        uint32_t axis = ring ? tma_only_axis(w, inst->type) : TS_NO;
        ts_tma_load load;
        ts_plan_tmap map;
        if (axis == TS_NO || w->env->plan->n_tmaps == TS_PLAN_TMAPS ||
            !ts_tma_describe(w->fn, v, (uint32_t[]){axis, axis}, TS_T_none, &load, &map) || tma_is_stored(w, map.base))
            continue;
        load.tmap = w->env->plan->n_tmaps;
        load.group = (uint32_t)(ring - w->out->groups.at);
        load.offset = ring->bytes;
        if (!TS_PUSH(w->arena, &w->out->loads, load))
            return;
        ring->bytes += (load.bytes + 1023) & ~1023u;
        w->env->plan->tmap[w->env->plan->n_tmaps++] = map;
    }
}

/* By TMA, not by consumers. */
static bool tma_is_filled(const tma_work *w, uint32_t group)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (w->out->loads.at[i].group == group && !w->out->loads.at[i].made)
            return true;
    return false;
}

static ts_val tma_outermost(const tma_work *w, ts_val v)
{
    while (w->shape.parent[v])
        v = w->shape.parent[v];
    return v;
}

/* Loops over tiles that follow each other, with one group each: the producer fills one ring for all. */
static void tma_share_ring(tma_work *w)
{
    uint32_t bytes = 0;
    w->out->one_ring = w->out->groups.n > 1;
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        const ts_tma_group *g = &w->out->groups.at[i];
        bytes = TS_MAX(bytes, g->bytes);
        if (!g->loop || g->within || !w->shape.parent[g->loop] || !tma_is_filled(w, i))
            w->out->one_ring = false;
        for (uint32_t k = 0; k < i && w->out->one_ring; k++)
            w->out->one_ring = tma_outermost(w, w->out->groups.at[k].loop) != tma_outermost(w, g->loop);
    }
    for (uint32_t i = 0; i < w->out->groups.n && w->out->one_ring; i++)
        w->out->groups.at[i].bytes = bytes;
}

/* With one stage the next step's data comes only after this step's product, so nothing may be late. */
static void tma_at_once(tma_work *w)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        w->out->products.at[i].late = w->out->products.at[i].deferred = false;
    for (uint32_t i = 0; i < w->out->groups.n; i++)
        w->out->groups.at[i].late = false;
    w->out->rotated.n = 0;
}

/* Left for moves between layouts while the rings stand; of one warpgroup for stores inside loops. */
enum { TMA_SCRATCH = 24 << 10, TMA_SCRATCH_LEAST = 2 << 10, TMA_STAGING = 16 << 10 };

ts_val ts_tma_result_of(const ts_fn *fn, const ts_tma *tma, ts_type type)
{
    const ts_module *module = fn->module;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_type c = ts_type_of(fn, tma->products.at[i].mma);
        uint32_t rank = ts_type_rank(module, type), rank_c = ts_type_rank(module, c);
        bool same = ts_type_kind(module, type) == TS_KIND_TILE && rank >= 2 && ts_type_count(module, type) == ts_type_count(module, c);
        for (uint32_t k = 1; same && k <= 2; k++)
            same = ts_type_dims(module, type)[rank - k] == ts_type_dims(module, c)[rank_c - k];
        if (same)
            return tma->products.at[i].mma;
    }
    return 0;
}

/* Results are stored while products are still to come. */
static bool tma_stores_early(const tma_work *w)
{
    ts_val last = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++)
        last = TS_MAX(last, w->out->products.at[i].mma);
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool stores = inst->op == TS_OP_store_view_tko || inst->op == TS_OP_atomic_red_view_tko;
        if (stores && (w->shape.parent[v] || v < last) &&
            ts_tma_result_of(w->fn, w->out, ts_type_of(w->fn, ts_opnd(w->fn, v, 1))))
            return true;
    }
    return false;
}

/* Something beside elementwise work on results: tiles may have to move from layout to layout. */
static bool tma_may_move(const tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        switch ((int)inst->op) {
        case TS_OP_reduce: case TS_OP_scan: case TS_OP_cat: case TS_OP_extract: case TS_OP_insert: case TS_OP_pack:
        case TS_OP_unpack: case TS_OP_load_ptr_tko: case TS_OP_store_ptr_tko: case TS_OP_atomic_rmw_tko:
        case TS_OP_atomic_cas_tko: case TS_OP_cold:
            return true;
        case TS_OP_load_view_tko:
            if (!tma_load_at(w->out, v) && !ts_tma_result_of(w->fn, w->out, inst->type) && ts_type_count(w->module, inst->type) > 256)
                return true;
        }
    }
    return false;
}

/* A tile for each team of four warps, unless the number of warps is asked for. */
static void tma_teams(tma_work *w)
{
    bool single = w->env->hints && w->env->hints->num_worker_warps;
    w->out->teams = !single && !tma_may_move(w) && ts_teams_plan(w->fn, &w->shape, w->out);
    if (w->out->teams)
        w->out->n_warp = 2;
}

/* What the stages leave: a whole tile of 16-bit results of each warpgroup need not wait for the copies of its parts. */
static void tma_enlarge_staging(tma_work *w, uint32_t left)
{
    uint32_t most = TMA_STAGING << (ts_tma_consumers(w->out) - 1);
    if (w->out->teams && w->out->staging_bytes && left >= most - w->out->staging_bytes)
        w->out->staging_bytes = most;
}

/* As many stages as fit, at most 8 or the hint, the same for all loops; loads outside loops need one. */
static bool tma_stages(tma_work *w, uint32_t limit)
{
    uint32_t scratch = TMA_SCRATCH;
    if (tma_stores_early(w)) {
        w->out->staging_bytes = TMA_STAGING << (ts_tma_consumers(w->out) - 2);
        scratch = w->out->staging_bytes + (tma_may_move(w) ? TMA_SCRATCH : TMA_SCRATCH_LEAST);
    }
    uint32_t hint = w->env->hints ? w->env->hints->num_stages : 0;
    for (uint32_t log = hint ? TS_MIN(4u, (uint32_t)ts_log2(hint) + 1) : 4; log-- > 0;) {
        uint32_t sum = 1024;
        for (uint32_t i = 0; i < w->out->groups.n; i++) {
            ts_tma_group *g = &w->out->groups.at[i];
            g->log_stages = g->loop && !g->within ? log : 0;
            sum += w->out->one_ring && i ? 0 : g->bytes << g->log_stages;
        }
        if (log == 0)
            tma_at_once(w);
        if (sum + scratch <= limit) {
            tma_enlarge_staging(w, limit - sum - scratch);
            return true;
        }
    }
    return false;
}

/* Offsets: stages first, each 1024-aligned for the swizzle, the staging and barriers behind them. */
static void tma_place(tma_work *w)
{
    uint32_t at = 0, n = w->out->one_ring ? 1 : w->out->groups.n;
    for (uint32_t i = 0; i < n; i++) {
        w->out->groups.at[i].base = at;
        at += w->out->groups.at[i].bytes << w->out->groups.at[i].log_stages;
    }
    w->out->staging = at;
    at += w->out->staging_bytes;
    for (uint32_t i = 0; i < n; i++) {
        ts_tma_group *g = &w->out->groups.at[i];
        g->full = at;
        g->empty = at + (8u << g->log_stages);
        at += 16u << g->log_stages;
    }
    w->out->shared = (at + 127) & ~127u;
    for (uint32_t i = 0; i < w->out->groups.n; i++) {
        ts_tma_group *g = &w->out->groups.at[i], *first = &w->out->groups.at[0];
        if (w->out->one_ring)
            g->base = first->base, g->full = first->full, g->empty = first->empty;
        if (tma_is_filled(w, i))
            ts_note(w->fn, g->first, TS_NOTE_pipeline, "tma", "%u stages of %u bytes, a producer warp%s",
                    1u << g->log_stages, g->bytes, w->out->teams ? ", two teams that take tiles in turn" : "");
        else
            ts_note(w->fn, g->first, TS_NOTE_move, "shared", "%u bytes, operand a", g->bytes);
    }
}

/* ---- what the producer needs ------------------------------------------------------------------------------ */

static bool tma_slice_value(tma_work *w, ts_val v);

static bool tma_slice_operands(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (!tma_slice_value(w, ts_opnds(w->fn, inst)[i]))
            return false;
    return true;
}

/* A carried scalar of a `for`: its start and what each trip hands on. */
static bool tma_slice_arg(tma_work *w, ts_val v)
{
    ts_val loop = w->shape.parent[v], last = w->shape.end[loop] - 1;
    uint32_t i = ts_at(w->fn, v)->aux;
    if (ts_at(w->fn, loop)->op != TS_OP_for || ts_at(w->fn, last)->op != TS_OP_continue)
        return false;
    if (i == 0)
        return true;
    return tma_slice_value(w, ts_opnd(w->fn, loop, 2 + i)) && tma_slice_value(w, ts_opnd(w->fn, last, i - 1));
}

static bool tma_slice_view(tma_work *w, ts_val v)
{
    ts_val view = ts_opnd(w->fn, v, 0);
    while (ts_at(w->fn, view)->op != TS_OP_make_tensor_view)
        view = ts_opnd(w->fn, view, 0);
    return tma_slice_operands(w, view);
}

/* One element of an array that is only read: the producer loads it too. */
static bool tma_slice_element(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (inst->op == TS_OP_reshape && ts_type_count(w->module, ts_type_of(w->fn, inst->opnd[0])) == 1) {
        w->out->slice[v] = 1;
        return tma_slice_element(w, inst->opnd[0]);
    }
    if (inst->op != TS_OP_load_view_tko || ts_type_count(w->module, inst->type) != 1 || TS_M_GET_ORDER(inst->aux) != TS_WEAK)
        return false;
    int32_t root = tma_root(w->fn, ts_opnd(w->fn, v, 0));
    if (root < 0 || tma_is_stored(w, root) || !tma_slice_view(w, v))
        return false;
    w->out->slice[v] = 1;
    const ts_type_info *info = ts_type_get(w->module, ts_type_of(w->fn, ts_opnd(w->fn, v, 0)));
    for (uint32_t i = 0; i < info->rank; i++)
        if (!tma_slice_value(w, ts_opnd(w->fn, v, 1 + i)))
            return false;
    return true;
}

/* Marks a scalar and what it is made of; false when the producer cannot compute it. */
static bool tma_slice_value(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (w->out->slice[v])
        return true;
    if (ts_type_kind(w->module, inst->type) != TS_KIND_SCALAR && ts_type_kind(w->module, inst->type) != TS_KIND_PTR)
        return false;
    w->out->slice[v] = 1;
    switch ((int)inst->op) {
    case TS_OP_arg:
        return tma_slice_arg(w, v);
    case TS_OP_param:
    case TS_OP_constant:
    case TS_OP_get_tile_block_id:
    case TS_OP_get_num_tile_blocks:
        return true;
    case TS_OP_get_tensor_shape:
    case TS_OP_get_index_space_shape:
        return tma_slice_view(w, v);
    case TS_OP_assume:
        return tma_slice_operands(w, v);
    case TS_OP_load_view_tko:
    case TS_OP_reshape:
        return tma_slice_element(w, v);
    default:
        return ts_info(inst)->flags & TS_ELEM && tma_slice_operands(w, v);
    }
}

/* The loops around a load must be `for`s that run to their end, down from the function's body. */
static bool tma_slice_load(tma_work *w, ts_val load)
{
    const ts_type_info *info = ts_type_get(w->module, ts_type_of(w->fn, ts_opnd(w->fn, load, 0)));
    for (uint32_t i = 0; i < info->rank; i++)
        if (!tma_slice_value(w, ts_opnd(w->fn, load, 1 + i)))
            return false;
    w->out->slice[load] = 1;
    const ts_tma_load *l = tma_load_at(w->out, load);
    if (l->start && (!tma_slice_value(w, l->start) || !tma_slice_value(w, l->extent)))
        return false;
    for (ts_val p = w->shape.parent[load]; p; p = w->shape.parent[p]) {
        if (ts_at(w->fn, p)->op != TS_OP_for)
            return false;
        w->out->slice[p] = 1;
        for (uint32_t i = 0; i < 3; i++)
            if (!tma_slice_value(w, ts_opnd(w->fn, p, i)))
                return false;
    }
    return true;
}

/* A wait for the grid before that the producer would not come to. */
static bool tma_waits_elsewhere(const tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_gdc_wait_tko && w->shape.parent[v] && !w->out->slice[w->shape.parent[v]])
            return true;
    return false;
}

/* A `return` inside control flow would leave the producer behind. */
static bool tma_returns_early(const tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++)
        if (ts_at(w->fn, v)->op == TS_OP_return && w->shape.parent[v])
            return true;
    return false;
}

static bool tma_slice(tma_work *w)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (!w->out->loads.at[i].made && !tma_slice_load(w, w->out->loads.at[i].load))
            return false;
    return !tma_returns_early(w) && !tma_waits_elsewhere(w);
}

/* ---- all together --------------------------------------------------------------------------------------------- */

/* All products go back to the general way. */
static bool tma_refuse(const tma_work *w, const char *why)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        ts_note(w->fn, w->out->products.at[i].mma, TS_NOTE_missed, "wgmma", "%s", why);
    return false;
}

static bool tma_fits(tma_work *w)
{
    for (uint32_t i = 0; i < w->env->plan->n_tmaps; i++)
        if (tma_is_stored(w, w->env->plan->tmap[i].base))
            return tma_refuse(w, "an array that is loaded is also stored to");
    tma_plan_waits(w);
    if (!w->out->products.n || w->arena->failed)
        return false;
    if (!tma_all_from_shared(w))
        return tma_refuse(w, "a tile is read by a product on wgmma and by another that is not");
    if (!tma_warps(w))
        return tma_refuse(w, "the accumulator takes more than 128 registers of a thread");
    ts_rotate_plan(w->fn, &w->shape, w->uses, w->arena, w->out);
    if (!tma_groups(w))
        return tma_refuse(w, "a tile is loaded in another loop than the product that reads it");
    tma_join_vectors(w);
    tma_share_ring(w);
    if (!tma_slice(w))
        return tma_refuse(w, "an index of a load depends on data, on a `while` loop or on an early return, or the kernel waits "
                             "for the grid before it inside control flow");
    tma_teams(w);
    if (!tma_stages(w, 232448))
        return tma_refuse(w, "the tiles do not fit shared memory");
    tma_place(w);
    w->out->split = ts_split_plan(w->fn, &w->shape, w->out);
    w->out->log_split = w->out->split ? TS_MIN(3u, (uint32_t)ts_log2(w->fn->num_ctas)) : 0;
    return true;
}

static void tma_count_uses(tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        uint32_t n = inst->n_opnd - (inst->flags & TS_F_TOKEN ? 1u : 0u);
        if (inst->op == TS_OP_token || inst->op == TS_OP_join_tokens)
            continue;
        for (uint32_t i = 0; i < n; i++)
            w->uses[ts_opnds(w->fn, inst)[i]]++;
    }
}

ts_status ts_tma_plan(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_tma *out, ts_error *err)
{
    tma_work w = {.fn = fn, .module = fn->module, .env = env, .arena = arena, .out = out};
    *out = (ts_tma){0};
    if (env->target != TS_TARGET_SM90)
        return TS_OK;
    uint32_t n_tmaps = env->plan->n_tmaps;
    w.uses = TS_NEW_N(arena, uint32_t, fn->inst.n);
    w.edges = TS_NEW_N(arena, uint32_t, fn->inst.n);
    out->slice = TS_NEW_N(arena, uint8_t, fn->inst.n);
    if (!w.uses || !w.edges || !out->slice || !ts_shape_of(fn, arena, &w.shape))
        return ts_fail(err, TS_NOMEM, "out of memory while planning TMA loads");
    tma_count_uses(&w);
    tma_count_edges(&w);
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_mmaf || ts_at(fn, v)->op == TS_OP_mmai)
            tma_product(&w, v);
    out->active = tma_fits(&w);
    if (!out->active)
        env->plan->n_tmaps = n_tmaps;
    return arena->failed ? ts_fail(err, TS_NOMEM, "out of memory while planning TMA loads") : TS_OK;
}
