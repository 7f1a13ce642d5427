/* SPDX-License-Identifier: Apache-2.0
 *
 * Single elements of arrays: gather, scatter, atomics, raw memory, items of a list of arrays.
 *
 *     offset = sum of index * stride in 64 bits; pointers = base + offset
 *     mask   = every index inside its extent (one unsigned comparison each) and the caller's mask
 *
 * In checked mode an index outside that the mask does not hide is reported by an `assert` for each axis.
 * Part of the front end (lower.h); rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"

typedef struct element_place {
    ts_dtype dtype;
    fr_shape shape;
    ts_val pointers, mask; /* mask 0: none */
} element_place;

/* ---- places -------------------------------------------------------------------------- */

static ts_status element_index(fr *f, const fr_call *c, uint32_t i, const fr_value *v,
                               fr_value *out)
{
    bool is_int = (v->kind == FR_NUMBER && v->cat != FR_FLOAT) ||
                  (v->kind == FR_TILE && fr_dtype_is_int((ts_dtype)v->dtype));
    if (!is_int)
        return fr_error(f, c->at[i], TS_TILETYPE,
                        "%s(): an index must be an integer tile or scalar\n  found: %s",
                        fr_op_name(c), fr_say(f, v));
    return fr_as_tile(f, v, out);
}

/* The indices of each axis, and the shape they broadcast to. */
static ts_status element_indices(fr *f, const fr_call *c, const fr_array *a, fr_value *indices,
                                 fr_shape *shape)
{
    const fr_value *v = &c->arg[1], *items = v->kind == FR_TUPLE ? v->as.items : v;
    uint32_t n = v->kind == FR_TUPLE ? v->n : 1;
    if (n != a->rank)
        return fr_error(f, c->at[1], TS_TILETYPE, "%s(): %u ind%s for an array of rank %u",
                        fr_op_name(c), n, n == 1 ? "ex" : "ices", a->rank);
    for (uint32_t d = 0; d < n; d++) {
        TS_TRY(element_index(f, c, 1, &items[d], &indices[d]));
        fr_shape s = fr_shape_of(f, &indices[d]);
        TS_TRY(fr_broadcast_shapes(f, shape, &s, shape));
    }
    return TS_OK;
}

/* One axis: 0 <= index < extent as one unsigned comparison, in the wider of both types. */
typedef struct element_bound {
    fr_value index, extent;
    ts_val inside;
} element_bound;

static ts_status element_inside(fr *f, const fr_value *index, const fr_value *extent, element_bound *out)
{
    bool wide = fr_dtype_bits((ts_dtype)index->dtype) == 64 || extent->dtype == TS_DTYPE_int64;
    ts_dtype dtype = wide ? TS_DTYPE_int64 : TS_DTYPE_int32;
    fr_shape shape = fr_shape_of(f, index);
    fr_value n;
    TS_TRY(fr_convert(f, index, dtype, TS_RN, &out->index));
    TS_TRY(fr_to_tile(f, extent, dtype, &out->extent));
    TS_TRY(fr_splat(f, &out->extent, &shape, &n));
    out->inside = ts_cmp(&f->b, TS_OP_cmpi, TS_LT, out->index.as.v, n.as.v, TS_A_UNSIGNED);
    return TS_OK;
}

static ts_val element_and(fr *f, ts_val a, ts_val b)
{
    return !a ? b : !b ? a : ts_op2(&f->b, TS_OP_andi, a, b, 0);
}

static ts_status element_splat(fr *f, ts_val v, ts_dtype dtype, const fr_shape *shape, ts_val *out)
{
    fr_value tile = fr_tile(dtype, v);
    TS_TRY(fr_splat(f, &tile, shape, &tile));
    *out = tile.as.v;
    return TS_OK;
}

static ts_val element_pointers(fr *f, ts_val base, ts_val offset, const fr_shape *shape)
{
    ts_type pointer = ts_type_of(f->b.fn, base);
    ts_type type = ts_type_tile(f->module, pointer, shape->rank, shape->dims);
    ts_val pair[] = {ts_broadcast(&f->b, base, type), offset};
    return offset ? ts_emit(&f->b, TS_OP_offset, type, 2, pair, 0, 0) : pair[0];
}

/* index * stride in 64 bits, at the index's own shape; 0 when the stride is 0. */
static ts_status element_scaled(fr *f, const fr_value *index, const fr_value *stride, fr_value *out)
{
    fr_value s = *stride;
    int64_t one;
    fr_shape shape = fr_shape_of(f, index);
    TS_TRY(fr_convert(f, index, TS_DTYPE_int64, TS_RN, out));
    if (fr_is_int(stride, &one) && one == 1)
        return TS_OK;
    TS_TRY(fr_to_tile(f, &s, TS_DTYPE_int64, &s));
    TS_TRY(fr_splat(f, &s, &shape, &s));
    out->as.v = ts_op2(&f->b, TS_OP_muli, out->as.v, s.as.v, 0);
    return TS_OK;
}

static ts_status element_offset(fr *f, const fr_array *a, const fr_value *indices,
                                const fr_shape *shape, ts_val *out)
{
    *out = 0;
    for (uint32_t d = 0; d < a->rank; d++) {
        fr_value term;
        TS_TRY(element_scaled(f, &indices[d], &a->stride[d], &term));
        TS_TRY(fr_splat(f, &term, shape, &term));
        *out = *out ? ts_op2(&f->b, TS_OP_addi, *out, term.as.v, 0) : term.as.v;
    }
    return TS_OK;
}

/* A value that goes with the indices: one for each of them, or fewer that broadcast. */
static ts_status element_spread(fr *f, const fr_call *c, uint32_t i, const fr_shape *shape, fr_value *v)
{
    fr_shape have = fr_shape_of(f, v), both = *shape;
    bool fits = have.rank <= shape->rank;
    for (uint32_t d = 0; fits && d < have.rank; d++)
        fits = have.dims[d] == 1 || have.dims[d] == both.dims[d + both.rank - have.rank];
    if (!fits)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s(): '%s' of shape %s does not broadcast to the indices' shape %s\n"
                        "  help: give an index for each element, for example with ct.arange, or reduce the value first",
                        fr_op_name(c), fr_arg_name(f, c, i), fr_say_shape(f, &have), fr_say_shape(f, shape));
    return fr_splat(f, v, shape, v);
}

static ts_status element_mask(fr *f, const fr_call *c, uint32_t i, const fr_shape *shape,
                              ts_val *out)
{
    fr_value mask;
    *out = 0;
    if (i == TS_NO || !fr_given(c, i))
        return TS_OK;
    TS_TRY(fr_arg_tile(f, c, i, &mask));
    if (mask.dtype != TS_DTYPE_bool_)
        return fr_arg_error(f, c, i, "a bool tile");
    TS_TRY(element_spread(f, c, i, shape, &mask));
    *out = mask.as.v;
    return TS_OK;
}

void fr_report_bounds(fr *f, const char *what, ts_val inside, ts_val index, ts_val extent)
{
    ts_val opnds[] = {inside, index, extent};
    ts_emit(&f->b, TS_OP_assert, TS_T_none, 3, opnds, ts_intern(f->module, what, strlen(what)), 0);
}

ts_status fr_report_index(fr *f, const char *what, const fr_value *index, const fr_value *extent)
{
    element_bound bound;
    if (!f->b.fn->checked)
        return TS_OK;
    TS_TRY(element_inside(f, index, extent, &bound));
    fr_report_bounds(f, what, bound.inside, bound.index.as.v, bound.extent.as.v);
    return TS_OK;
}

/* Where the index is outside and the caller's mask does not hide it. Axis TS_NO: the index is an offset. */
static ts_status element_report(fr *f, const fr_call *c, uint32_t axis, const element_bound *bound,
                                const element_place *p)
{
    ts_val opnds[3] = {bound->inside, 0, bound->extent.as.v};
    TS_TRY(element_splat(f, bound->index.as.v, (ts_dtype)bound->index.dtype, &p->shape, &opnds[1]));
    if (p->mask) {
        ts_val ones = ts_int(&f->b, ts_type_of(f->b.fn, p->mask), 1);
        opnds[0] = ts_op2(&f->b, TS_OP_ori, bound->inside, ts_op2(&f->b, TS_OP_xori, p->mask, ones, 0), 0);
    }
    const char *name = fr_op_name(c), *what = axis == TS_NO ? fr_textf(f, "%s()", name)
                                                            : fr_textf(f, "%s(), axis %u", name, axis);
    fr_report_bounds(f, what, opnds[0], opnds[1], opnds[2]);
    return TS_OK;
}

/* All bounds as one mask; 0 for an array of rank 0. The place has its shape and the caller's mask. */
static ts_status element_bounds(fr *f, const fr_call *c, const fr_array *a, const fr_value *indices,
                                const element_place *p, ts_val *out)
{
    *out = 0;
    for (uint32_t d = 0; d < a->rank; d++) {
        element_bound bound;
        TS_TRY(element_inside(f, &indices[d], &a->extent[d], &bound));
        TS_TRY(element_splat(f, bound.inside, TS_DTYPE_bool_, &p->shape, &bound.inside));
        if (f->b.fn->checked)
            TS_TRY(element_report(f, c, d, &bound, p));
        *out = element_and(f, *out, bound.inside);
    }
    return TS_OK;
}

/* Arguments 0 (array) and 1 (indices), with mask and check_bounds at the given positions. */
static ts_status element_of_array(fr *f, const fr_call *c, uint32_t mask, uint32_t check, element_place *out)
{
    fr_array *a;
    fr_value indices[TS_ARRAY_RANK];
    bool checks;
    ts_val offset, inside = 0;
    *out = (element_place){0};
    TS_TRY(fr_arg_array(f, c, 0, &a));
    TS_TRY(element_indices(f, c, a, indices, &out->shape));
    TS_TRY(fr_arg_flag(f, c, check, true, &checks));
    TS_TRY(element_offset(f, a, indices, &out->shape, &offset));
    TS_TRY(element_mask(f, c, mask, &out->shape, &out->mask));
    if (checks || f->b.fn->checked) /* a promise that does not hold is found, too */
        TS_TRY(element_bounds(f, c, a, indices, out, &inside));
    out->dtype = (ts_dtype)a->dtype;
    out->mask = element_and(f, inside, out->mask);
    out->pointers = element_pointers(f, a->base, offset, &out->shape);
    return TS_OK;
}

/* Elements from the first of an array to the last, in 64 bits; 0 when it has none. */
static ts_status element_span(fr *f, const fr_array *a, fr_value *out)
{
    fr_value one = fr_strict(TS_DTYPE_int64, 1), zero = fr_strict(TS_DTYPE_int64, 0), span = one, some = fr_bool(true);
    for (uint32_t d = 0; d < a->rank; d++) {
        fr_value n, stride, last, any, part;
        TS_TRY(fr_to_tile(f, &a->extent[d], TS_DTYPE_int64, &n));
        TS_TRY(fr_to_tile(f, &a->stride[d], TS_DTYPE_int64, &stride));
        TS_TRY(fr_binary(f, TS_OPERATOR_Sub, &n, &one, (fr_options){0}, &last));
        TS_TRY(fr_binary(f, TS_OPERATOR_Mult, &last, &stride, (fr_options){0}, &part));
        TS_TRY(fr_binary(f, TS_OPERATOR_Add, &span, &part, (fr_options){0}, &span));
        TS_TRY(fr_compare(f, TS_OPERATOR_Gt, &n, &zero, &any));
        TS_TRY(fr_binary(f, TS_OPERATOR_BitAnd, &some, &any, (fr_options){0}, &some));
    }
    TS_TRY(fr_to_tile(f, &span, TS_DTYPE_int64, out));
    TS_TRY(fr_to_tile(f, &some, TS_DTYPE_bool_, &some));
    out->as.v = ts_select(&f->b, some.as.v, out->as.v, ts_int(&f->b, TS_T_i64, 0));
    return TS_OK;
}

/* Checked mode: an offset that the mask does not hide lies in the memory that the array spans; others do nothing. */
static ts_status element_raw_bounds(fr *f, const fr_call *c, const fr_array *a, const fr_value *offset,
                                    element_place *out)
{
    fr_value span;
    element_bound bound;
    TS_TRY(element_span(f, a, &span));
    TS_TRY(element_inside(f, offset, &span, &bound));
    TS_TRY(element_report(f, c, TS_NO, &bound, out));
    out->mask = element_and(f, bound.inside, out->mask);
    return TS_OK;
}

/* Arguments 0 (raw memory) and 1 (offset). */
static ts_status element_of_raw(fr *f, const fr_call *c, uint32_t mask, element_place *out)
{
    fr_value offset;
    *out = (element_place){0};
    TS_TRY(element_index(f, c, 1, &c->arg[1], &offset));
    out->shape = fr_shape_of(f, &offset);
    TS_TRY(fr_convert(f, &offset, TS_DTYPE_int64, TS_RN, &offset));
    TS_TRY(fr_splat(f, &offset, &out->shape, &offset));
    TS_TRY(element_mask(f, c, mask, &out->shape, &out->mask));
    const fr_array *a = c->arg[0].as.array;
    out->dtype = (ts_dtype)a->dtype;
    if (f->b.fn->checked)
        TS_TRY(element_raw_bounds(f, c, a, &offset, out));
    out->pointers = element_pointers(f, a->base, offset.as.v, &out->shape);
    f->b.fn->overlap = true; /* an offset may leave the array, and the launch cannot see how far */
    return TS_OK;
}

/* ---- reading and writing ------------------------------------------------------------- */

static ts_status element_value(fr *f, const fr_call *c, uint32_t i, const element_place *p,
                               ts_val *out)
{
    fr_value v;
    f->node = c->at[i];
    TS_TRY(fr_implicit(f, &c->arg[i], p->dtype, fr_textf(f, "%s()", fr_op_name(c)), &v));
    TS_TRY(element_spread(f, c, i, &p->shape, &v));
    f->node = c->node;
    *out = fr_to_storage(f, &v);
    return TS_OK;
}

static ts_status element_load(fr *f, const fr_call *c, const element_place *p, uint32_t pad,
                              uint32_t latency, fr_value *out)
{
    ts_val operands[3] = {p->pointers, p->mask};
    uint32_t mem = 0, n = 1, flags = 0;
    TS_TRY(fr_arg_latency(f, c, latency, &mem));
    if (p->mask) {
        fr_call zero = *c;
        if (zero.arg[pad].kind == FR_UNBOUND)
            zero.arg[pad] = fr_number(0);
        TS_TRY(element_value(f, &zero, pad, p, &operands[2]));
        n = 3;
        flags = TS_F_MASK | TS_F_PAD;
    }
    ts_type type = ts_type_tile(f->module, fr_storage(p->dtype), p->shape.rank, p->shape.dims);
    *out = fr_from_storage(f, p->dtype,
                           ts_emit(&f->b, TS_OP_load_ptr_tko, type, n, operands, mem, flags));
    return TS_OK;
}

static ts_status element_store(fr *f, const fr_call *c, const element_place *p, uint32_t value,
                               uint32_t latency, fr_value *out)
{
    ts_val operands[3] = {p->pointers, 0, p->mask};
    uint32_t mem = 0;
    TS_TRY(fr_arg_latency(f, c, latency, &mem));
    TS_TRY(element_value(f, c, value, p, &operands[1]));
    ts_emit(&f->b, TS_OP_store_ptr_tko, TS_T_token, p->mask ? 3 : 2, operands, mem,
            p->mask ? TS_F_MASK : 0);
    *out = fr_none();
    return TS_OK;
}

ts_status fr_op_gather(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_array(f, c, 2, 4, &p));
    return element_load(f, c, &p, 3, 5, out);
}

ts_status fr_op_scatter(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_array(f, c, 3, 4, &p));
    return element_store(f, c, &p, 2, 5, out);
}

ts_status fr_op_raw_load(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_raw(f, c, 2, &p));
    return element_load(f, c, &p, 3, 4, out);
}

ts_status fr_op_raw_store(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_raw(f, c, 3, &p));
    return element_store(f, c, &p, 2, 4, out);
}

/* ---- atomics ------------------------------------------------------------------------- */

/* The read-modify-write mode for the dtype, or an error that says which dtypes the operation has.
 */
ts_status fr_rmw_mode(fr *f, const fr_call *c, ts_rmw mode, ts_dtype dtype, uint32_t *out)
{
    bool word = fr_dtype_is_int(dtype) && fr_dtype_bits(dtype) >= 32,
         real = fr_dtype_is_float(dtype);
    bool fine =
        word ||
        (real && (mode == TS_RMW_ADD || (mode == TS_RMW_XCHG && fr_dtype_bits(dtype) >= 32)));
    if (!fine)
        return fr_error(f, c->at[0], TS_TILETYPE, "%s() does not exist for %s\n  help: it takes %s",
                        fr_op_name(c), ts_dtype_name(dtype),
                        mode == TS_RMW_ADD    ? "int32, int64, uint32, uint64 and floats"
                        : mode == TS_RMW_XCHG ? "int32, int64, uint32, uint64, float32 and float64"
                                              : "int32, int64, uint32 and uint64");
    *out = mode;
    if (mode == TS_RMW_ADD && real)
        *out = TS_RMW_ADDF;
    if (!real && !fr_dtype_is_signed(dtype) && (mode == TS_RMW_MAX || mode == TS_RMW_MIN))
        *out = mode == TS_RMW_MAX ? TS_RMW_UMAX : TS_RMW_UMIN;
    return TS_OK;
}

ts_status fr_update_dtype(fr *f, const fr_call *c, uint32_t i, ts_dtype dtype)
{
    bool exact = c->op->x == TS_RMW_AND || c->op->x == TS_RMW_OR || c->op->x == TS_RMW_XOR;
    if (exact && c->arg[i].dtype && c->arg[i].dtype != dtype)
        return fr_arg_error(f, c, i,
                            fr_textf(f, "of exactly the array's dtype, %s", ts_dtype_name(dtype)));
    return TS_OK;
}

static ts_status element_rmw(fr *f, const fr_call *c, const element_place *p, uint32_t order,
                             fr_value *out)
{
    ts_val operands[3] = {p->pointers, 0, p->mask};
    uint32_t mem = TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_DEVICE), mode;
    TS_TRY(fr_rmw_mode(f, c, (ts_rmw)c->op->x, p->dtype, &mode));
    TS_TRY(fr_update_dtype(f, c, 2, p->dtype));
    TS_TRY(fr_arg_order(f, c, order, order + 1, 0x1E, &mem));
    TS_TRY(element_value(f, c, 2, p, &operands[1]));
    ts_type type = ts_type_of(f->b.fn, operands[1]);
    *out = fr_tile(p->dtype, ts_emit(&f->b, TS_OP_atomic_rmw_tko, type, p->mask ? 3 : 2, operands,
                                     mem | TS_M_MODE(mode), p->mask ? TS_F_MASK : 0));
    return TS_OK;
}

static ts_status element_cas(fr *f, const fr_call *c, const element_place *p, uint32_t order,
                             fr_value *out)
{
    ts_val operands[4] = {p->pointers, 0, 0, p->mask};
    uint32_t mem = TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_DEVICE), mode;
    TS_TRY(fr_rmw_mode(f, c, TS_RMW_XCHG, p->dtype, &mode));
    TS_TRY(fr_arg_order(f, c, order, order + 1, 0x1E, &mem));
    TS_TRY(element_value(f, c, 2, p, &operands[1]));
    TS_TRY(element_value(f, c, 3, p, &operands[2]));
    ts_type type = ts_type_of(f->b.fn, operands[1]);
    *out = fr_tile(p->dtype, ts_emit(&f->b, TS_OP_atomic_cas_tko, type, p->mask ? 4 : 3, operands,
                                     mem, p->mask ? TS_F_MASK : 0));
    return TS_OK;
}

ts_status fr_op_atomic(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_array(f, c, TS_NO, 3, &p));
    return element_rmw(f, c, &p, 4, out);
}

ts_status fr_op_atomic_cas(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_array(f, c, TS_NO, 4, &p));
    return element_cas(f, c, &p, 5, out);
}

ts_status fr_op_raw_atomic(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_raw(f, c, 3, &p));
    return element_rmw(f, c, &p, 4, out);
}

ts_status fr_op_raw_atomic_cas(fr *f, const fr_call *c, fr_value *out)
{
    element_place p;
    TS_TRY(element_of_raw(f, c, 4, &p));
    return element_cas(f, c, &p, 5, out);
}

/* ---- lists of arrays ----------------------------------------------------------------- */

/* Word `at` of the list's table; each array has a pointer, its extents and its strides. */
static ts_val element_word(fr *f, ts_val row, uint32_t at)
{
    ts_val pair[] = {row, ts_int(&f->b, TS_T_i64, at)};
    ts_val where = ts_emit(&f->b, TS_OP_offset, ts_type_of(f->b.fn, row), 2, pair, 0, 0);
    return ts_emit(&f->b, TS_OP_load_ptr_tko, TS_T_i64, 1, &where, 0, 0);
}

/* Checked mode: an index outside is reported, and the first item taken. */
static ts_status element_list_bounds(fr *f, const fr_list *list, fr_value *index)
{
    element_bound bound;
    fr_value length = fr_tile(TS_DTYPE_int32, list->length);
    if (!f->b.fn->checked)
        return TS_OK;
    TS_TRY(element_inside(f, index, &length, &bound));
    fr_report_bounds(f, "item of a list", bound.inside, bound.index.as.v, bound.extent.as.v);
    index->as.v = ts_select(&f->b, bound.inside, index->as.v, ts_int(&f->b, TS_T_i64, 0));
    return TS_OK;
}

/* Word `at` of the list's table as an extent or a stride. */
static ts_status element_number(fr *f, ts_val row, uint32_t at, ts_dtype dtype, ts_val *out)
{
    fr_value word = fr_tile(TS_DTYPE_int64, element_word(f, row, at));
    TS_TRY(fr_convert(f, &word, dtype, TS_RN, &word));
    *out = word.as.v;
    return TS_OK;
}

ts_status fr_list_item(fr *f, const fr_list *list, const fr_value *index, fr_value *out)
{
    const ts_spec *s = &list->element;
    fr_value i;
    if (s->rank > TS_ARRAY_RANK || !s->dtype || s->dtype >= TS_DTYPE_COUNT)
        return fr_error(f, 0, TS_TILETYPE, "the list's arrays have rank %u, dtype %u", s->rank,
                        s->dtype);
    if (!(index->kind == FR_NUMBER && index->cat == FR_INT) &&
        !(index->kind == FR_TILE && fr_dtype_is_int((ts_dtype)index->dtype) &&
          !fr_shape_of(f, index).rank))
        return fr_error(f, 0, TS_TILETYPE,
                        "the index of a list must be an integer scalar, found %s",
                        fr_say(f, index));
    fr_array *a = TS_NEW(f->arena, fr_array);
    if (!a)
        return fr_oom(f);
    ts_dtype dtype = s->index_bits == 64 ? TS_DTYPE_int64 : TS_DTYPE_int32;
    *a = (fr_array){.dtype = s->dtype, .rank = s->rank, .index_dtype = (uint8_t)dtype};
    TS_TRY(fr_to_tile(f, index, TS_DTYPE_int64, &i));
    TS_TRY(element_list_bounds(f, list, &i));
    ts_val offset =
        ts_op2(&f->b, TS_OP_muli, i.as.v, ts_int(&f->b, TS_T_i64, 1 + 2 * (int64_t)s->rank), 0);
    ts_val pair[] = {list->base, offset};
    ts_val row = ts_emit(&f->b, TS_OP_offset, ts_type_of(f->b.fn, list->base), 2, pair, 0, 0);
    ts_val base = ts_cast(&f->b, TS_OP_int_to_ptr, element_word(f, row, 0),
                          ts_type_ptr(f->module, fr_storage((ts_dtype)s->dtype), TS_GLOBAL), 0);
    a->base = fr_known_base(f, s, base);
    for (uint32_t d = 0; d < s->rank; d++) {
        ts_val extent, stride;
        TS_TRY(element_number(f, row, 1 + d, dtype, &extent));
        TS_TRY(element_number(f, row, 1 + s->rank + d, dtype, &stride));
        a->shape[d] = fr_known_extent(f, s, d, extent, dtype);
        a->stride[d] = fr_known_stride(f, s, d, stride, dtype);
    }
    memcpy(a->extent, a->shape, sizeof a->extent);
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    return fr_tensor_view(f, a);
}
