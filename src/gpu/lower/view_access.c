/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and reductions through views (lower.h). An access is described axis by axis (coordinate of
 * the tile's corner, extent, stride); each thread adds its own coordinates once, registers add
 * constants. Elements that follow each other in memory move as vectors of up to 16 bytes.
 *
 *     whole tile inside, promised            vectors
 *     one vector, or the same in all blocks  vectors, each with its predicate
 *     otherwise                              if (tile, or a warp's piece, inside) vectors else vectors with predicates
 *
 * Where the extent is not a multiple of a vector, the thread whose vector reaches over the end goes element by
 * element.
 */
#include "ir/float.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"
#include "gpu/lower/strategy.h"
#include "gpu/lower/view_access.h"

/* ---- describing an access -------------------------------------------------------------------------------------- */

static bool view_is_sparse(const ts_type_info *info, uint32_t axis)
{
    return info->kind == TS_KIND_GATHER_SCATTER_VIEW && axis == info->sparse_dim;
}

/* i64 coordinates as soon as an extent or an index is 64 bits wide. */
static ts_type view_index_type(const ts_lower *lw, const view_access *a, ts_val v, uint32_t first)
{
    ts_val make = ts__view_make(lw->tile, a->view);
    for (uint32_t i = 0; i < a->rank; i++) {
        uint32_t at = ts__view_dynamic(a->tensor, false, i);
        if (at == TS_NO ? a->tensor->dims[i] > INT32_MAX
                        : ts_type_of(lw->tile, ts_opnd(lw->tile, make, at)) == TS_T_i64)
            return TS_T_i64;
        if (ts__lower_elem(lw, ts_opnd(lw->tile, v, first + i)) == TS_T_i64)
            return TS_T_i64;
    }
    return TS_T_i32;
}

static ts_val view_as(ts_lower *lw, ts_val x, ts_type type)
{
    ts_type from = ts_type_of(lw->fn, x);
    int64_t value;
    if (from == type)
        return x;
    if (ts__const_as_int(lw->fn, x, &value))
        return ts_int(&lw->b, type, value);
    return ts_cast(&lw->b, ts_type_bits(lw->module, from) < ts_type_bits(lw->module, type) ? TS_OP_exti : TS_OP_trunci,
                   x, type, 0);
}

static void view_numbers(ts_lower *lw, view_access *a, uint32_t axis)
{
    view_axis *x = &a->axis[axis];
    ts_val make = ts__view_make(lw->tile, a->view);
    uint32_t dim = ts_view_array_axis(a->info, axis);
    uint32_t extent = ts__view_dynamic(a->tensor, false, dim), stride = ts__view_dynamic(a->tensor, true, dim);
    if (extent == TS_NO) {
        x->extent = ts_int(&lw->b, a->index, a->tensor->dims[dim]);
        x->extent_div = a->tensor->dims[dim] & -a->tensor->dims[dim];
    } else {
        x->extent = view_as(lw, lw->values.scalar[ts_opnd(lw->tile, make, extent)], a->index);
        x->extent_div = ts__lower_divisor(lw->tile, ts_opnd(lw->tile, make, extent));
    }
    x->step = stride == TS_NO ? a->tensor->strides[dim] : 0;
    if (stride != TS_NO && !ts__const_as_int(lw->tile, ts_opnd(lw->tile, make, stride), &x->step))
        x->stride = lw->values.scalar[ts_opnd(lw->tile, make, stride)];
}

/* Known divisor of this axis' stride. */
static int64_t view_stride_divisor(const ts_lower *lw, const view_access *a, uint32_t axis)
{
    uint32_t at = ts__view_dynamic(a->tensor, true, ts_view_array_axis(a->info, axis));
    if (!a->axis[axis].stride)
        return a->axis[axis].step ? a->axis[axis].step & -a->axis[axis].step : (int64_t)1 << 30;
    return ts__lower_divisor(lw->tile, ts_opnd(lw->tile, ts__view_make(lw->tile, a->view), at));
}

ts_val ts__view_start(ts_lower *lw, const ts_type_info *info, uint32_t axis, ts_val tile_index, ts_type type)
{
    int64_t step = ts_view_step(info, axis), most = type == TS_T_i32 ? ((int64_t)1 << 31) : TS_VIEW_FAR, known;
    ts_val index = lw->values.scalar[tile_index], x = view_as(lw, index, type);
    if (ts__const_as_int(lw->fn, index, &known)) {
        int64_t start = ts_view_start(known, step);
        return ts_int(&lw->b, type, type == TS_T_i32 ? TS_MAX(TS_MIN(start, INT32_MAX), INT32_MIN) : start);
    }
    bool fits = type != ts_type_of(lw->fn, index) ||
                ts_fact_within(&lw->facts, tile_index, -(most / step), (most - 1) / step);
    if (step > 1 && !fits && info->kind == TS_KIND_PARTITION_VIEW) {
        x = ts_op2(&lw->b, TS_OP_mini, x, ts_int(&lw->b, type, (most - 1) / step + 1), TS_A_UNSIGNED);
    } else if (step > 1 && !fits) { /* tiles before the first may reach into the array */
        x = ts_op2(&lw->b, TS_OP_mini, x, ts_int(&lw->b, type, (most - 1) / step + 1), 0);
        x = ts_op2(&lw->b, TS_OP_maxi, x, ts_int(&lw->b, type, -(most / step)), 0);
    }
    return ts_op2(&lw->b, TS_OP_muli, x, ts_int(&lw->b, type, step), 0);
}

/* Coordinates of the corner, and of this thread. */
static void view_corner(ts_lower *lw, view_access *a, uint32_t axis, ts_val index)
{
    view_axis *x = &a->axis[axis];
    int64_t step = ts_view_step(a->info, axis);
    uint32_t lane[TS_LAYOUT_LANES] = {0}, warp[TS_LAYOUT_WARPS] = {0}, mask = ts_axis_mask(x->bits);
    if (view_is_sparse(a->info, axis)) {
        uint32_t all = a->layout->bits ? ~0u >> (32 - a->layout->bits) : 0;
        ts_linear slice = ts__linear_delete(a->layout, all & ~mask);
        x->index = ts__lower_get(lw, index, &slice);
        x->align = 1;
        return;
    }
    x->align = TS_MIN(ts__lower_divisor(lw->tile, index) * (step & -step), (int64_t)1 << 30);
    x->base = ts__view_start(lw, a->info, axis, index, a->index);
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        lane[i] = (a->layout->lane[i] & mask) >> x->bits.first;
    for (uint32_t i = 0; i < a->layout->n_warp; i++)
        warp[i] = (a->layout->warp[i] & mask) >> x->bits.first;
    ts_val mine = ts__lower_linear(lw, lane, warp);
    x->local = ts_op2(&lw->b, TS_OP_addi, x->base, view_as(lw, mine, a->index), 0);
}

/* Byte offset of coordinate `at` times the axis' stride, i64. */
static ts_val view_scaled(ts_lower *lw, const view_access *a, uint32_t axis, ts_val at)
{
    const view_axis *x = &a->axis[axis];
    ts_builder *b = &lw->b;
    int64_t bytes = x->step * (int64_t)a->bytes, known;
    if (!x->stride) {
        if (ts__const_as_int(lw->fn, at, &known))
            return ts_int(b, TS_T_i64, known * bytes);
        if (a->index == TS_T_i32 && bytes == (int32_t)bytes)
            return ts_op2(b, TS_OP_mul_wide, at, ts__lower_i32(lw, bytes), 0);
        return ts_op2(b, TS_OP_muli, view_as(lw, at, TS_T_i64), ts_int(b, TS_T_i64, bytes), 0);
    }
    ts_val offset;
    if (a->index == TS_T_i32 && ts_type_of(lw->fn, x->stride) == TS_T_i32)
        offset = ts_op2(b, TS_OP_mul_wide, at, x->stride, 0);
    else
        offset = ts_op2(b, TS_OP_muli, view_as(lw, at, TS_T_i64), view_as(lw, x->stride, TS_T_i64), 0);
    return ts_op2(b, TS_OP_shli, offset, ts_int(b, TS_T_i64, ts_log2(a->bytes)), 0);
}

/* Why accesses of `a` move less than 16 bytes. */
static void view_note_vectors(const ts_lower *lw, const view_access *a, ts_val v, int64_t align)
{
    uint32_t bytes = a->bytes << a->log_vec;
    if (bytes >= 16)
        return;
    if (a->unit == TS_NO || a->axis[a->unit].index)
        ts__note(lw->tile, v, TS_NOTE_missed, "vector", "no axis of the tile is known to have stride 1");
    else if (align < 16)
        ts__note(lw->tile, v, TS_NOTE_missed, "vector",
                "pointer, strides and index are known to be multiples of %lld bytes only",
                (long long)TS_MAX(align, (int64_t)a->bytes));
    else
        ts__note(lw->tile, v, TS_NOTE_missed, "vector", "a thread holds %u bytes side by side in this layout", bytes);
}

/* Notes how a load or store through a view is done. */
static void view_note(const ts_lower *lw, const view_access *a, ts_val v, ts_note_kind kind)
{
    const char *what = a->info->kind == TS_KIND_GATHER_SCATTER_VIEW ? "gather" : a->log_vec ? "vector" : "scalar";
    ts__note(lw->tile, v, kind, what, "%u bytes an access", a->bytes << a->log_vec);
    if (lw->env->target == TS_TARGET_SM90) /* unless the reason is known already */
        ts__note(lw->tile, v, TS_NOTE_missed, "tma", "only operands and results of products on wgmma travel by TMA");
}

/* How many elements a vector may have: registers side by side along the unit axis, alignment, 16 bytes. */
static void view_vectors(ts_lower *lw, view_access *a, ts_val v)
{
    a->log_vec = a->vector = 0;
    uint32_t unit = a->unit;
    int64_t align = ts__lower_divisor(lw->tile, ts_opnd(lw->tile, ts__view_make(lw->tile, a->view), 0));
    if (unit != TS_NO && !a->axis[unit].index) {
        for (uint32_t i = 0; i < a->rank; i++) {
            int64_t of = i == unit ? a->axis[i].align * a->bytes : view_stride_divisor(lw, a, i) * a->bytes;
            align = TS_MIN(align, of);
        }
        while (a->log_vec < a->axis[unit].bits.n && (int64_t)a->bytes << (a->log_vec + 1) <= TS_MIN(16, align)) {
            int reg = ts__linear_reg_bit(a->layout, a->axis[unit].bits.first + a->log_vec);
            if (reg < 0)
                break;
            a->member[a->log_vec++] = 1u << reg;
        }
    }
    uint32_t bit[4];
    memcpy(bit, a->member, sizeof bit);
    for (uint32_t i = 0; i < a->log_vec; i++)
        a->vector |= bit[i];
    for (uint32_t k = 0; k < 1u << a->log_vec; k++)
        a->member[k] = ts_xor_of(bit, a->log_vec, k);
    ts_assert(a->bytes << a->log_vec <= TS_MAX(16u, a->bytes));
    view_note_vectors(lw, a, v, align);
}

void ts__view_describe(ts_lower *lw, view_access *a, ts_val v, uint32_t first, const ts_linear *layout)
{
    uint32_t promised = TS_M_GET_INBOUNDS(ts_at(lw->tile, v)->aux);
    *a = (view_access){.view = ts_opnd(lw->tile, v, 0), .layout = layout};
    a->info = ts_type_get(lw->module, ts_type_of(lw->tile, a->view));
    a->tensor = ts_type_get(lw->module, a->info->elem);
    a->elem = a->tensor->elem;
    a->rank = a->info->rank;
    a->bytes = TS_MAX(1u, ts_type_bits(lw->module, a->elem) / 8);
    a->unit = ts__view_unit_axis(lw->tile, a->view);
    a->index = view_index_type(lw, a, v, first);
    ts_val offset = 0;
    uint32_t at = a->layout->bits;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        view_axis *x = &a->axis[axis];
        x->bits.n = (uint32_t)ts_log2((uint64_t)a->info->dims[axis]);
        at -= x->bits.n;
        x->bits.first = at;
        x->check = !(promised >> axis & 1);
        view_numbers(lw, a, axis);
        view_corner(lw, a, axis, ts_opnd(lw->tile, v, first + axis));
        if (x->index)
            continue;
        ts_val part = view_scaled(lw, a, axis, x->local);
        offset = offset ? ts_op2(&lw->b, TS_OP_addi, offset, part, 0) : part;
    }
    a->base = lw->values.scalar[ts_opnd(lw->tile, ts__view_make(lw->tile, a->view), 0)];
    a->offset = offset ? offset : ts_int(&lw->b, TS_T_i64, 0);
    a->corner = ts_type_bits(lw->module, a->elem) < 8 ? a->base : ts__lower_ptr(lw, a->base, offset, 0);
    view_vectors(lw, a, v);
}

/* ---- one register ------------------------------------------------------------------------------------------------ */

static uint32_t view_reg_coordinate(const view_access *a, uint32_t axis, uint32_t r)
{
    return (ts_lower_fixed(a->layout, r) & ts_axis_mask(a->axis[axis].bits)) >> a->axis[axis].bits.first;
}

ts_val ts__view_offset(ts_lower *lw, const view_access *a, uint32_t r, int64_t *fixed)
{
    ts_val offset = 0;
    *fixed = 0;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        const view_axis *x = &a->axis[axis];
        uint32_t at = view_reg_coordinate(a, axis, r);
        ts_val part = 0;
        if (x->index)
            part = view_scaled(lw, a, axis, view_as(lw, x->index[r], a->index));
        else if (!x->stride)
            *fixed += at * x->step * (int64_t)a->bytes;
        else if (at)
            part = view_scaled(lw, a, axis, ts_int(&lw->b, a->index, at));
        if (part)
            offset = offset ? ts_op2(&lw->b, TS_OP_addi, offset, part, 0) : part;
    }
    return offset;
}

ts_val ts__view_pointer(ts_lower *lw, const view_access *a, uint32_t r)
{
    int64_t fixed;
    ts_val offset = ts__view_offset(lw, a, r, &fixed);
    return ts__lower_ptr(lw, ts__lower_ptr(lw, a->corner, offset, 0), 0, fixed);
}

/* i1: the element of register r lies in the array; 0 = always. */
ts_val ts__view_inside(ts_lower *lw, const view_access *a, uint32_t r)
{
    ts_val all = 0;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        const view_axis *x = &a->axis[axis];
        if (!x->check)
            continue;
        ts_val at =
            x->index ? view_as(lw, x->index[r], a->index) 
                     : ts__lower_add(lw, x->local, view_reg_coordinate(a, axis, r));
        all = ts__lower_and(lw, all, ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, at, x->extent, TS_A_UNSIGNED));
    }
    return all;
}

/* Behind the last coordinate along `axis` of all elements; where each warp has one piece of the tile, of this thread's
 * own. */
static ts_val view_end(ts_lower *lw, const view_access *a, uint32_t axis)
{
    const view_axis *x = &a->axis[axis];
    uint32_t mask = ts_axis_mask(x->bits), regs = 0, lanes = 0, warps = 0;
    for (uint32_t i = 0; i < a->layout->n_reg; i++)
        regs |= a->layout->reg[i] & mask;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        lanes |= a->layout->lane[i] & mask;
    for (uint32_t i = 0; i < a->layout->n_warp; i++)
        warps |= a->layout->warp[i] & mask;
    if (regs && warps && (regs | lanes) < (warps & -warps))
        return ts__lower_add(lw, x->local, (regs >> x->bits.first) + 1);
    return ts__lower_add(lw, x->base, a->info->dims[axis]);
}

/* i1, the same in the whole block or warp, but for warps that the array's end cuts: every element lies in the array.
 * 0 = always; *known false when elements must be looked at one by one (gathers). */
static ts_val view_all_inside(ts_lower *lw, const view_access *a, bool *known)
{
    ts_val all = 0;
    *known = true;
    for (uint32_t axis = 0; axis < a->rank; axis++) {
        const view_axis *x = &a->axis[axis];
        if (!x->check)
            continue;
        *known = *known && !x->index;
        if (x->index)
            continue;
        /* A corner is at most 2^31 (2^63), so its sum with the tile wraps as a signed number and not as an unsigned
         * one. */
        ts_val end = view_end(lw, a, axis);
        all = ts__lower_and(lw, all, ts_cmp(&lw->b, TS_OP_cmpi, TS_LE, end, x->extent, TS_A_UNSIGNED));
        all = ts__lower_and(lw, all, ts_cmp(&lw->b, TS_OP_cmpi, TS_GE, x->base, ts_int(&lw->b, a->index, 0), 0));
    }
    return all;
}

typedef enum view_way { VIEW_PLAIN, VIEW_PREDICATES, VIEW_BRANCH, VIEW_SINGLE } view_way;

/* Vectors may be predicated as a whole when the extent and the corner are multiples of their size. */
bool ts__view_whole_vectors(const view_access *a)
{
    return a->log_vec == 0 || !a->axis[a->unit].check ||
           (a->axis[a->unit].extent_div >> a->log_vec && a->axis[a->unit].align >> a->log_vec);
}

/* The same tile in every block: weights of rows, say. */
static bool view_is_fixed(const ts_lower *lw, const view_access *a)
{
    int64_t at;
    for (uint32_t axis = 0; axis < a->rank; axis++)
        if (a->axis[axis].index || !ts__const_as_int(lw->fn, a->axis[axis].base, &at))
            return false;
    return true;
}

enum { VIEW_REGISTERS = 65536 }; /* of a multiprocessor */

/* What stands between two loads that may be on their way together. */
static bool view_is_between(const ts_lower *lw, ts_val v)
{
    uint32_t flags = ts_info(ts_at(lw->tile, v))->flags;
    return flags & TS_PURE && !(flags & (TS_REGION | TS_TERM));
}

/* Another load through a view stands in the same run of arithmetic. */
static bool view_has_company(const ts_lower *lw, ts_val load)
{
    ts_val v = load + 1;
    while (v < lw->tile->inst.n && view_is_between(lw, v))
        v++;
    if (v < lw->tile->inst.n && ts_at(lw->tile, v)->op == TS_OP_load_view_tko)
        return true;
    for (v = load - 1; v && view_is_between(lw, v);)
        v--;
    return v && ts_at(lw->tile, v)->op == TS_OP_load_view_tko;
}

/* Halves of words are taken apart within the branch that loads them, which waits for them there: loads that could be on
 * their way together (pass/early.c) are straight code with predicates then. */
static bool view_goes_along(const ts_lower *lw, const view_access *a, ts_val v, uint32_t n)
{
    return a->bytes < 4 && n <= 3 && ts_at(lw->tile, v)->op == TS_OP_load_view_tko && view_has_company(lw, v);
}

/* Half of the registers that a thread can have. Behind a branch all of them hold the tile before anything reads it. */
static bool view_is_large(const ts_lower *lw, const view_access *a, ts_val v)
{
    uint32_t words = (a->bytes << a->layout->n_reg) / 4, threads = 32u << (lw->assign.n_warp - lw->assign.n_cta);
    return words >= VIEW_REGISTERS / threads / 2 && ts_at(lw->tile, v)->op == TS_OP_load_view_tko;
}

static view_way view_choose(ts_lower *lw, const view_access *a, ts_val v, ts_val *inside)
{
    bool known;
    *inside = view_all_inside(lw, a, &known);
    if (!known)
        return VIEW_SINGLE;
    if (!*inside)
        return VIEW_PLAIN;
    uint32_t n = a->layout->n_reg > a->log_vec ? a->layout->n_reg - a->log_vec : 0;
    if (ts__view_whole_vectors(a) && (n <= 1 || (n <= 4 && view_is_fixed(lw, a)) || view_goes_along(lw, a, v, n) ||
                                       view_is_large(lw, a, v)))
        return VIEW_PREDICATES; /* straight code: a branch would hold all of a block's weights in registers at once */
    return VIEW_BRANCH;
}

void ts__view_single(view_access *a)
{
    a->log_vec = a->vector = 0;
    a->member[0] = 0;
}

/* ---- loads ------------------------------------------------------------------------------------------------------ */

ts_val ts__view_pad(ts_lower *lw, const view_access *a)
{
    return ts_bits(&lw->b, a->elem, ts__pad_bits(a->elem, a->info->padding, lw->tile->checked));
}

/* i1: this thread's vector at register r lies in the array, 0 = always. */
static ts_val view_vector_inside(ts_lower *lw, const view_access *a, uint32_t r)
{
    uint32_t last = ts__view_whole_vectors(a) ? 0 : a->member[(1u << a->log_vec) - 1];
    return ts__lower_and(lw, a->only, ts__view_inside(lw, a, r ^ last));
}

/* Opens an `if` for the threads whose vector at register r the end of the array cuts; 0 when there are none. */
static ts_val view_cut_begin(ts_lower *lw, const view_access *a, uint32_t r, ts_val whole)
{
    if (ts__view_whole_vectors(a) || !whole)
        return 0;
    ts_val begins = ts__lower_and(lw, a->only, ts__view_inside(lw, a, r));
    ts_val not_whole = ts_op2(&lw->b, TS_OP_xori, whole, ts_int(&lw->b, TS_T_i1, 1), 0);
    return ts_if_begin(&lw->b, ts__lower_and(lw, begins, not_whole));
}

static void view_load_cut(ts_lower *lw, const view_access *a, uint32_t r, ts_val whole, ts_val pad, ts_val *values)
{
    uint32_t n = 1u << a->log_vec;
    ts_type types[16];
    ts_val opener = view_cut_begin(lw, a, r, whole), single[16];
    if (!opener)
        return;
    for (uint32_t k = 0; k < n; k++) {
        ts_val inside = ts__view_inside(lw, a, r ^ a->member[k]);
        types[k] = a->elem;
        ts__lower_ld(lw, a->elem, ts__view_pointer(lw, a, r ^ a->member[k]), 1, a->cache, inside, pad, &single[k]);
    }
    ts_term(&lw->b, TS_OP_yield, n, single);
    ts_else(&lw->b);
    ts_term(&lw->b, TS_OP_yield, n, values);
    ts_end(&lw->b, opener, n, types);
    for (uint32_t k = 0; k < n; k++)
        values[k] = lw->fn->inst.n - n + k;
}

static void view_load_all(ts_lower *lw, const view_access *a, bool checked, ts_val *out)
{
    uint32_t repeats = ts__lower_repeats(a->layout);
    ts_val pad = ts__view_pad(lw, a);
    for (uint32_t r = 0; r < 1u << a->layout->n_reg; r++) {
        ts_val values[16];
        if (r & (repeats | a->vector))
            continue;
        ts_val inside = checked ? view_vector_inside(lw, a, r) : a->only;
        ts__lower_ld(lw, a->elem, ts__view_pointer(lw, a, r), 1u << a->log_vec, a->cache, inside, inside ? pad : 0,
                    values);
        if (checked)
            view_load_cut(lw, a, r, inside, pad, values);
        for (uint32_t k = 0; k < 1u << a->log_vec; k++)
            out[r ^ a->member[k]] = values[k];
    }
    for (uint32_t r = 0; r < 1u << a->layout->n_reg; r++)
        out[r] = out[r & ~repeats];
}

static void view_yield(ts_lower *lw, const view_access *a, const ts_val *regs, ts_vals *out)
{
    for (uint32_t r = 0; r < 1u << a->layout->n_reg; r++)
        if (!(r & ts__lower_repeats(a->layout)))
            (void)TS_PUSH(lw->arena, &out->v, regs[r]);
}

/* if (inside) vectors else predicated; both hand their registers to the results of the `if`. */
static void view_load_branch(ts_lower *lw, view_access *a, ts_val inside, ts_val *out)
{
    ts_vals yields = {0};
    ts_val opener = ts_if_begin(&lw->b, inside);
    view_load_all(lw, a, false, out);
    view_yield(lw, a, out, &yields);
    uint32_t n = yields.v.n, repeats = ts__lower_repeats(a->layout);
    ts_term(&lw->b, TS_OP_yield, n, yields.v.at);
    ts_else(&lw->b);
    view_load_all(lw, a, true, out);
    yields.v.n = 0;
    view_yield(lw, a, out, &yields);
    ts_term(&lw->b, TS_OP_yield, n, yields.v.at);
    ts_vals types = {0};
    for (uint32_t i = 0; i < n; i++)
        (void)TS_PUSH(lw->arena, &types.v, a->elem);
    ts_end(&lw->b, opener, n, types.v.at);
    ts_val next = lw->fn->inst.n - n;
    for (uint32_t r = 0; r < 1u << a->layout->n_reg; r++)
        out[r] = r & repeats ? out[r & ~repeats] : next++;
}

/* Loads as `a` describes. */
static void view_load(ts_lower *lw, view_access *a, ts_val v, ts_val *out)
{
    ts_val inside;
    switch (view_choose(lw, a, v, &inside)) {
    case VIEW_PLAIN:
        view_load_all(lw, a, false, out);
        break;
    case VIEW_BRANCH:
        view_load_branch(lw, a, inside, out);
        break;
    default:
        view_load_all(lw, a, true, out);
    }
}

void ts__view_load_copied(ts_lower *lw, ts_val v, const ts_linear *home, uint32_t at, ts_val slot)
{
    view_access a;
    ts_val *out = ts__lower_regs(lw, home);
    ts__view_describe(lw, &a, v, 1, home);
    int64_t step = 1;
    for (uint32_t axis = a.rank; axis-- > 0; step *= a.info->dims[axis]) {
        a.axis[axis].stride = 0;
        a.axis[axis].step = step;
    }
    ts_val mine = ts__lower_op(lw, TS_OP_muli, ts__lower_flat(lw, home), a.bytes, 0);
    if (slot)
        mine = ts_op2(&lw->b, TS_OP_addi, mine, slot, 0);
    a.corner = ts__lower_ptr(lw, ts__shared_pointer(lw, a.elem, at), mine, 0);
    ts__lower_accesses(lw, v);
    if (ts__pad_bits(a.elem, a.info->padding, lw->tile->checked)) /* copies fill up with zeros */
        view_load(lw, &a, v, out);
    else
        view_load_all(lw, &a, false, out);
    ts__lower_set(lw, v, home, out);
}

void ts__lower_load_view(ts_lower *lw, ts_val v)
{
    if (ts__hook_defers(lw, v))
        return;
    view_access a;
    const ts_linear *home = ts__lower_home(lw, v);
    uint32_t attr = ts_at(lw->tile, v)->aux;
    ts_val *out = ts__lower_regs(lw, home);
    if (ts_type_bits(lw->module, ts__lower_elem(lw, v)) < 8) {
        ts__lower_load_nibbles(lw, v);
        return;
    }
    ts__lower_before_load(lw, v);
    ts__view_describe(lw, &a, v, 1, home);
    view_note(lw, &a, v, TS_NOTE_load);
    a.only = ts__lower_reader(lw, attr, home);
    a.cache = ts__lower_cache(attr, true);
    ts__lower_accesses(lw, v);
    view_load(lw, &a, v, out);
    if (a.only) /* has a barrier, which an acquire wants anyway */
        out = ts__lower_share(lw, v, a.elem, home, out, a.only);
    else if (ts__lower_acquires(attr))
        ts__lower_barrier(lw);
    ts__lower_set(lw, v, home, out);
}

/* ---- stores ----------------------------------------------------------------------------------------------------- */

static void view_store_cut(ts_lower *lw, const view_access *a, uint32_t r, ts_val whole, const ts_val *values)
{
    ts_val opener = view_cut_begin(lw, a, r, whole);
    if (!opener)
        return;
    for (uint32_t k = 0; k + 1 < 1u << a->log_vec; k++) {
        ts_val inside = ts__view_inside(lw, a, r ^ a->member[k]);
        ts__lower_st(lw, ts__view_pointer(lw, a, r ^ a->member[k]), 1, &values[k], a->cache, inside);
    }
    ts_if_end(&lw->b, opener);
}

void ts__view_store_vector(ts_lower *lw, const view_access *a, uint32_t r, const ts_val *values)
{
    ts_val inside = view_vector_inside(lw, a, r);
    ts__lower_st(lw, ts__view_pointer(lw, a, r), 1u << a->log_vec, values, a->cache, inside);
    view_store_cut(lw, a, r, inside, values);
}

static void view_store_all(ts_lower *lw, const view_access *a, bool checked, const ts_val *regs)
{
    uint32_t repeats = ts__linear_replicas(a->layout).reg;
    for (uint32_t r = 0; r < 1u << a->layout->n_reg; r++) {
        ts_val values[16];
        if (r & (repeats | a->vector))
            continue;
        for (uint32_t k = 0; k < 1u << a->log_vec; k++)
            values[k] = regs[r ^ a->member[k]];
        if (checked)
            ts__view_store_vector(lw, a, r, values);
        else
            ts__lower_st(lw, ts__view_pointer(lw, a, r), 1u << a->log_vec, values, a->cache, a->only);
    }
}

static void view_store_branch(ts_lower *lw, view_access *a, ts_val inside, const ts_val *regs)
{
    ts_val opener = ts_if_begin(&lw->b, inside);
    view_store_all(lw, a, false, regs);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_else(&lw->b);
    view_store_all(lw, a, true, regs);
    ts_term(&lw->b, TS_OP_yield, 0, NULL);
    ts_end(&lw->b, opener, 0, NULL);
}

enum { VIEW_SECTOR = 32 }; /* bytes that memory moves at once */

/* Bytes that neighbouring registers and lanes of a layout cover in one piece along `axis`; no limit for all of it. */
static uint32_t view_run_bytes(const ts_linear *layout, ts_axis_bits axis, uint32_t bytes)
{
    uint32_t n = 0;
    for (; n < axis.n; n++) {
        bool found = ts__linear_reg_bit(layout, axis.first + n) >= 0;
        for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
            found = found || layout->lane[i] == 1u << (axis.first + n);
        if (!found)
            break;
    }
    return n == axis.n ? UINT32_MAX : bytes << n;
}

/* The home of the stored value when its pieces fill 32-byte sectors, else the coalesced layout. */
const ts_linear *ts__view_store_layout(ts_lower *lw, ts_val v)
{
    ts_val view = ts_opnd(lw->tile, v, 0), x = ts_opnd(lw->tile, v, 1);
    ts_type type = ts_type_of(lw->tile, x);
    uint32_t unit = ts__view_unit_axis(lw->tile, view);
    const ts_linear *home = lw->assign.home[x], *usual = NULL;
    uint32_t bytes = TS_MAX(1u, ts_type_bits(lw->module, ts_type_elem(lw->module, type)) / 8);
    if (ts_type_kind(lw->module, type) != TS_KIND_TILE)
        return ts__lower_home(lw, x);
    ts_axis_bits axis = unit == TS_NO ? (ts_axis_bits){0, 0} : ts__axis_of(lw->module, type, unit);
    bool single = axis.n && !lw->assign.scans && !ts__view_has_vectors(lw->tile, view); /* runs would scatter */
    bool runs = home && axis.n && ts__linear_reg_bit(home, axis.first) >= 0;
    if (home && (unit == TS_NO || (view_run_bytes(home, axis, bytes) >= VIEW_SECTOR && !(single && runs))))
        return home;
    usual = ts__assign_for_view(&lw->assign, lw->tile, view, type);
    return usual ? usual : ts__lower_home(lw, x);
}

void ts__lower_store_view(ts_lower *lw, ts_val v)
{
    view_access a;
    uint32_t attr = ts_at(lw->tile, v)->aux;
    ts_val x = ts_opnd(lw->tile, v, 1), inside;
    if (TS_M_GET_ORDER(attr) == TS_WEAK && ts__hook_store(lw, v))
        return;
    const ts_linear *layout = ts__view_store_layout(lw, v);
    if (ts_type_bits(lw->module, ts__lower_elem(lw, x)) < 8) {
        ts__lower_store_nibbles(lw, v);
        return;
    }
    const ts_val *regs = ts__lower_get(lw, x, layout);
    ts__lower_before_store(lw, v);
    ts__view_describe(lw, &a, v, 2, layout);
    view_note(lw, &a, v, TS_NOTE_store);
    a.only = ts__lower_is_first(lw, ts__linear_replicas(layout));
    a.cache = ts__lower_cache(attr, false);
    if (ts__lower_releases(attr))
        ts__lower_barrier(lw);
    ts__lower_accesses(lw, v);
    switch (view_choose(lw, &a, v, &inside)) {
    case VIEW_PLAIN:
        view_store_all(lw, &a, false, regs);
        break;
    case VIEW_BRANCH:
        view_store_branch(lw, &a, inside, regs);
        break;
    default:
        view_store_all(lw, &a, true, regs);
    }
}

/* By TMA, or each element once, by `red`. */
void ts__lower_atomic_view(ts_lower *lw, ts_val v)
{
    view_access a;
    ts_val x = ts_opnd(lw->tile, v, 1);
    if (ts__hook_store(lw, v))
        return;
    const ts_linear *layout = ts__view_store_layout(lw, v);
    const ts_val *regs = ts__lower_get(lw, x, layout);
    ts__lower_before_store(lw, v);
    ts__view_describe(lw, &a, v, 2, layout);
    ts__view_single(&a);
    ts__note(lw->tile, v, TS_NOTE_store, "atomic", "%u bytes an access", a.bytes);
    ts_val only = ts__lower_is_first(lw, ts__linear_replicas(layout));
    ts__lower_accesses(lw, v);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        if (r & ts__linear_replicas(layout).reg)
            continue;
        ts_val pred = ts__lower_and(lw, only, ts__view_inside(lw, &a, r)),
               opnds[] = {ts__view_pointer(lw, &a, r), regs[r], pred};
        ts_emit(&lw->b, TS_OP_red, TS_T_none, pred ? 3 : 2, opnds, TS_M_WITHOUT_INBOUNDS(ts_at(lw->tile, v)->aux),
                pred ? TS_F_MASK : 0);
    }
}

/* ---- queries ---------------------------------------------------------------------------------------------------- */

void ts__lower_view_query(ts_lower *lw, ts_val v)
{
    ts_inst inst = *ts_at(lw->tile, v);
    const ts_type_info *info = ts_type_get(lw->module, ts_type_of(lw->tile, inst.opnd[0]));
    bool space = inst.op == TS_OP_get_index_space_shape;
    const ts_type_info *tensor = info->kind == TS_KIND_TENSOR_VIEW ? info : ts_type_get(lw->module, info->elem);
    uint32_t dim = space ? ts_view_array_axis(info, inst.aux) : inst.aux, at = ts__view_dynamic(tensor, false, dim);
    ts_val make = ts__view_make(lw->tile, inst.opnd[0]);
    ts_val extent = at == TS_NO ? ts_int(&lw->b, inst.type, tensor->dims[dim])
                                : view_as(lw, lw->values.scalar[ts_opnd(lw->tile, make, at)], inst.type);
    int64_t step = space ? ts_view_step(info, inst.aux) : 1;
    if (step > 1) {
        extent = ts__lower_add(lw, extent, step - 1);
        extent = ts_is_pow2(step) ? ts_op2(&lw->b, TS_OP_shri, extent,
                                           ts_int(&lw->b, inst.type, ts_log2((uint64_t)step)), TS_A_UNSIGNED)
                                  : ts_op2(&lw->b, TS_OP_divi, extent, ts_int(&lw->b, inst.type, step), TS_A_UNSIGNED);
    }
    lw->values.scalar[v] = extent;
}
