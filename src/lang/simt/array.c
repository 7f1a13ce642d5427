/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of threads: one element, or a view, by a[...]. The address is base + sum of index * stride, in 32 bits where
 * the array is small enough for it and blocks have several threads; a negative index counts from the end, which costs
 * nothing where the index is seen not to be negative (fr_simt_width). A view is an array with another base, extents and
 * strides. Part of the front end.
 *
 *     a[i, j]        %o = i * stride0 + j * stride1;  %p = offset %base, %o;  ld n=1 %p
 *     a[1:n, k]      base + stride0 + k * stride1, extents (n - 1,), strides (stride0,)
 */
#include "lang/simt/op.h"
#include "tessera/compile.h"

ts_type fr_simt_storage(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_ ? TS_T_i8 : fr_ir(dtype);
}

/* ---- what is known of an index ------------------------------------------------------------------- */

static uint32_t array_constant_bits(const fr *f, ts_val v)
{
    int64_t x;
    if (!ts__const_as_int(f->b.fn, v, &x) || x < 0)
        return 64;
    uint32_t bits = 0;
    for (; x; x >>= 1)
        bits++;
    return bits;
}

/* A promise that begins at 0 or above; arguments of launches have it. */
static uint32_t array_assume_bits(const fr *f, const ts_inst *inst, uint32_t depth)
{
    const uint32_t *words = f->b.fn->pool.at + inst->aux;
    uint32_t inner = fr_simt_width(f, inst->opnd[0], depth);
    if (words[0] != TS_ASSUME_BOUNDED || !(words[1] & 1) || (int32_t)words[3] < 0)
        return inner;
    return TS_MIN(inner, ts_type_bits(f->module, inst->type) - 1);
}

enum { ARRAY_MOST_STEPS = 8 };

static uint32_t array_pair_bits(const fr *f, const ts_inst *inst, uint32_t depth)
{
    uint32_t x = fr_simt_width(f, inst->opnd[0], depth), y = fr_simt_width(f, inst->opnd[1], depth), bits;
    uint32_t width = ts_type_bits(f->module, inst->type) - 1; /* of numbers that are not negative */
    switch (inst->op) {
    case TS_OP_addi:
        bits = x == 64 || y == 64 ? 64 : TS_MAX(x, y) + 1;
        break;
    case TS_OP_muli:
    case TS_OP_mul_wide:
        bits = x == 64 || y == 64 ? 64 : x + y;
        break;
    case TS_OP_andi:
        return TS_MIN(x, y);
    case TS_OP_remi:
        return x == 64 ? 64 : TS_MIN(x, y);
    case TS_OP_maxi: /* with a sign: of two, one not negative */
        bits = inst->aux & TS_A_UNSIGNED || TS_MIN(x, y) == 64 ? 64 : TS_MIN(TS_MAX(x, y), width);
        break;
    default: /* divi, shri: of what is not negative, by what is not */
        bits = x == 64 || y == 64 ? 64 : x;
        break;
    }
    return bits > width ? 64 : bits;
}

/* The counter of a `for` that begins at 0 or above stays below its end. */
static uint32_t array_arg_bits(const fr *f, ts_val v, uint32_t depth)
{
    ts_val opener = v - 1;
    const ts_inst *inst = ts_at(f->b.fn, opener);
    if (inst->op != TS_OP_for)
        return 64;
    const uint32_t *opnds = inst->n_opnd <= 3 ? inst->opnd : f->b.fn->pool.at + inst->opnd[0];
    uint32_t stop = fr_simt_width(f, opnds[1], depth);
    if (fr_simt_width(f, opnds[0], depth) == 64 || (inst->aux & TS_A_UNSIGNED && stop == 64))
        return 64;
    return TS_MIN(stop, ts_type_bits(f->module, ts_type_of(f->b.fn, v)) - 1);
}

uint32_t fr_simt_width(const fr *f, ts_val v, uint32_t depth)
{
    const ts_inst *inst = ts_at(f->b.fn, v);
    if (depth++ > ARRAY_MOST_STEPS)
        return 64;
    switch (inst->op) {
    case TS_OP_constant:
        return array_constant_bits(f, v);
    case TS_OP_sreg:
        return inst->type == TS_T_i32 && TS_S_KIND(inst->aux) != TS_SREG_LANEMASK_LT ? 31 : 64;
    case TS_OP_exti:
        if (inst->aux & TS_A_UNSIGNED)
            return TS_MIN(fr_simt_width(f, inst->opnd[0], depth),
                          ts_type_bits(f->module, ts_type_of(f->b.fn, inst->opnd[0])));
        return fr_simt_width(f, inst->opnd[0], depth);
    case TS_OP_assume:
        return array_assume_bits(f, inst, depth);
    case TS_OP_addi:
    case TS_OP_muli:
    case TS_OP_mul_wide:
    case TS_OP_andi:
    case TS_OP_remi:
    case TS_OP_divi:
    case TS_OP_shri:
    case TS_OP_maxi:
        return array_pair_bits(f, inst, depth);
    case TS_OP_select: {
        uint32_t x = fr_simt_width(f, inst->opnd[1], depth), y = fr_simt_width(f, inst->opnd[2], depth);
        return TS_MAX(x, y);
    }
    case TS_OP_arg:
        return array_arg_bits(f, v, depth);
    default:
        return 64;
    }
}

/* Numbers of threads and of blocks, and products of those. */
static bool array_is_count(const fr *f, ts_val v, uint32_t depth)
{
    const ts_inst *inst = ts_at(f->b.fn, v);
    uint32_t kind = TS_S_KIND(inst->aux);
    if (depth++ > ARRAY_MOST_STEPS)
        return false;
    if (inst->op == TS_OP_sreg)
        return kind == TS_SREG_NTID || kind == TS_SREG_NTID_Y || kind == TS_SREG_NTID_Z || kind == TS_SREG_NCTAID ||
               kind == TS_SREG_NCTAID_Y || kind == TS_SREG_NCTAID_Z;
    if (inst->op == TS_OP_exti || inst->op == TS_OP_assume)
        return array_is_count(f, inst->opnd[0], depth);
    return (inst->op == TS_OP_muli || inst->op == TS_OP_mul_wide) && array_is_count(f, inst->opnd[0], depth) &&
           array_is_count(f, inst->opnd[1], depth);
}

fr_counts fr_simt_counts_up(const fr *f, ts_val start, ts_val stop, ts_val step)
{
    uint32_t bits = ts_type_bits(f->module, ts_type_of(f->b.fn, stop));
    if (bits != 64 || !array_is_count(f, step, 0) || fr_simt_width(f, step, 0) > 63)
        return FR_COUNTS_TURNS;
    if (fr_simt_width(f, step, 0) < 63 && fr_simt_width(f, stop, 0) < 63)
        return FR_COUNTS_UP;
    return fr_simt_width(f, start, 0) < 64 ? FR_COUNTS_UP_UNSIGNED : FR_COUNTS_TURNS;
}

/* The low 32 bits of an integer: sums and products are computed of their parts' low bits. An index as a whole (depth 0)
 * has no others, in an array whose elements 32 bits count. */
static ts_val array_narrow(fr *f, ts_val v, uint32_t depth)
{
    ts_builder *b = &f->b;
    const ts_inst inst = *ts_at(b->fn, v);
    int64_t known;
    if (ts_type_bits(f->module, inst.type) == 32)
        return v;
    if (ts__const_as_int(b->fn, v, &known))
        return ts_int(b, TS_T_i32, known);
    if (inst.op == TS_OP_exti && ts_type_of(b->fn, inst.opnd[0]) == TS_T_i32)
        return inst.opnd[0];
    if (inst.op == TS_OP_mul_wide)
        return ts_op2(b, TS_OP_muli, inst.opnd[0], inst.opnd[1], 0);
    if (depth < ARRAY_MOST_STEPS && (inst.op == TS_OP_addi || inst.op == TS_OP_subi || inst.op == TS_OP_muli)) {
        ts_val x = array_narrow(f, inst.opnd[0], depth + 1);
        return ts_op2(b, (ts_op)inst.op, x, array_narrow(f, inst.opnd[1], depth + 1), 0);
    }
    return ts_cast(b, TS_OP_trunci, v, TS_T_i32, depth ? 0 : TS_A_NSW);
}

/* ---- numbers of a view -------------------------------------------------------------------------------- */

static ts_status array_int64(fr *f, const fr_value *v, fr_value *out)
{
    return fr_simt_convert(f, v, TS_DTYPE_int64, out);
}

static ts_status array_op(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    return fr_simt_binary(f, op, x, y, (fr_options){0}, out);
}

/* v + n where v is negative. */
static ts_status array_wrap(fr *f, const fr_value *v, const fr_value *n, fr_value *out)
{
    fr_value wide, wrapped;
    ts_val a, b;
    bool with_sign = v->kind == FR_NUMBER || fr_dtype_is_signed((ts_dtype)v->dtype);
    TS_TRY(array_int64(f, v, &wide));
    *out = wide;
    if (!with_sign || (wide.kind == FR_NUMBER ? wide.as.i >= 0 : fr_simt_width(f, wide.as.v, 0) < 64))
        return TS_OK;
    TS_TRY(array_op(f, TS_OPERATOR_Add, &wide, n, &wrapped));
    if (wide.kind == FR_NUMBER) {
        *out = wrapped;
        return TS_OK;
    }
    TS_TRY(fr_simt_cast(f, &wide, TS_DTYPE_int64, &a));
    TS_TRY(fr_simt_cast(f, &wrapped, TS_DTYPE_int64, &b));
    ts_val negative = ts_cmp(&f->b, TS_OP_cmpi, TS_LT, a, ts_int(&f->b, TS_T_i64, 0), 0);
    *out = fr_tile(TS_DTYPE_int64, ts_select(&f->b, negative, b, a));
    return TS_OK;
}

static bool array_is_index(const fr_value *v)
{
    return (v->kind == FR_NUMBER && v->cat <= FR_INT) ||
           (v->kind == FR_TILE && v->dtype && fr_dtype_cat((ts_dtype)v->dtype) <= FR_INT);
}

/* ---- addresses --------------------------------------------------------------------------------------------- */

/* index * stride of one axis, in the array's width. */
static ts_status array_step(fr *f, const fr_array *a, const fr_value *index, const fr_value *stride, ts_val *out)
{
    ts_val i, s;
    int64_t known;
    bool narrow = a->index_dtype == TS_DTYPE_int32 && !f->alone;
    TS_TRY(fr_simt_cast(f, index, TS_DTYPE_int64, &i));
    *out = narrow ? array_narrow(f, i, 0) : i;
    if (fr_is_int(stride, &known) && known == 1)
        return TS_OK;
    TS_TRY(fr_simt_cast(f, stride, TS_DTYPE_int64, &s));
    *out = ts_op2(&f->b, TS_OP_muli, *out, narrow ? array_narrow(f, s, 0) : s, 0);
    return TS_OK;
}

/* The array's base moved by indices that are wrapped already. */
static ts_status array_move(fr *f, const fr_array *a, const fr_value *index, const bool *moves, ts_val *out)
{
    ts_val sum = 0, part;
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t known;
        if (!moves[d] || (fr_is_int(&index[d], &known) && known == 0))
            continue;
        TS_TRY(array_step(f, a, &index[d], &a->stride[d], &part));
        sum = sum ? ts_op2(&f->b, TS_OP_addi, sum, part, 0) : part;
    }
    *out = sum ? ts_element(&f->b, a->base, sum) : a->base;
    return TS_OK;
}

static ts_status array_bad_index(fr *f, uint32_t node, const fr_value *v)
{
    return fr_error(f, node, TS_TILETYPE, "an array is indexed with integers and slices\n  found: %s%s", fr_say(f, v),
                    v->kind == FR_TILE || v->kind == FR_NUMBER ? "\n  help: convert it with int(x)"
                    : v->kind == FR_ARRAY ? "\n  help: index with its elements, in a loop" : "");
}

/* Items of a subscript with `...` spread: one for each axis, and None for each new one. */
static ts_status array_items(fr *f, uint32_t node, const fr_array *a, const fr_value *index, fr_value *out, uint32_t *n)
{
    const fr_value *items = index->kind == FR_TUPLE ? index->as.items : index;
    uint32_t given = index->kind == FR_TUPLE ? index->n : 1, used = 0, dots = 0;
    fr_value none = fr_none(), whole = {.kind = FR_SLICE, .as.items = TS_NEW_N(f->arena, fr_value, 3)};
    if (!whole.as.items)
        return fr_oom(f);
    if (index->kind == FR_TUPLE && index->cat)
        return fr_error(f, node, TS_TILETYPE, "a list as an index picks rows in NumPy; kernels index with integers and "
                        "slices\n  help: write a loop over the list, or x[i, j] for one element");
    for (uint32_t i = 0; i < 3; i++)
        whole.as.items[i] = none;
    for (uint32_t i = 0; i < given; i++) {
        used += items[i].kind != FR_NONE && items[i].kind != FR_ELLIPSIS;
        dots += items[i].kind == FR_ELLIPSIS;
        if (!array_is_index(&items[i]) && items[i].kind != FR_NONE && items[i].kind != FR_ELLIPSIS &&
            items[i].kind != FR_SLICE)
            return array_bad_index(f, node, &items[i]);
    }
    if (used > a->rank || dots > 1 || given > 2 * TS_ARRAY_RANK)
        return fr_error(f, node, TS_TILETYPE, "%u ind%s for an array of %u ax%s%s\n  help: %s", used,
                        used == 1 ? "ex" : "ices", a->rank, a->rank == 1 ? "is" : "es",
                        dots > 1 ? ", and '...' more than once" : "",
                        !a->rank ? "an array without axes is indexed with (): x[()]"
                                 : "index each axis once; cuda.grid(n) gives n of them, a tuple from 2 on");
    *n = 0;
    for (uint32_t i = 0; i < given; i++) {
        if (items[i].kind != FR_ELLIPSIS)
            out[(*n)++] = items[i];
        for (uint32_t k = used; items[i].kind == FR_ELLIPSIS && k < a->rank; k++)
            out[(*n)++] = whole;
    }
    for (uint32_t k = used; !dots && k < a->rank; k++)
        out[(*n)++] = whole;
    return TS_OK;
}

/* ---- slices -------------------------------------------------------------------------------------------------- */

typedef struct array_axis {
    fr_value start, count, stride;
} array_axis;

/* An end of a slice, wrapped and within low..high. */
static ts_status array_end(fr *f, const fr_value *given, const fr_value *n, const fr_value *low, const fr_value *high,
                           fr_value *out)
{
    TS_TRY(array_wrap(f, given, n, out));
    bool positive = out->kind == FR_NUMBER ? out->as.i >= 0 : fr_simt_width(f, out->as.v, 0) < 64;
    if (!positive)
        TS_TRY(fr_simt_minmax(f, true, out, low, 0, out));
    return fr_simt_minmax(f, false, out, high, 0, out);
}

static ts_status array_slice(fr *f, uint32_t node, const fr_value *slice, const fr_value *extent,
                             const fr_value *stride, array_axis *out)
{
    const fr_value *part = slice->as.items;
    fr_value n, high, stop, span, zero = fr_number(0), one = fr_number(1), minus = fr_number(-1);
    int64_t step = 1;
    for (uint32_t i = 0; i < 3; i++)
        if (part[i].kind != FR_NONE && !array_is_index(&part[i]))
            return array_bad_index(f, node, &part[i]);
    if (part[2].kind != FR_NONE && (!fr_is_int(&part[2], &step) || step == 0 || step == INT64_MIN))
        return fr_error(f, node, TS_TILETYPE,
                        "the step of a slice must be known at compile time and not 0\n  found: %s",
                        fr_say(f, &part[2]));
    bool up = step > 0;
    TS_TRY(array_int64(f, extent, &n));
    TS_TRY(array_op(f, TS_OPERATOR_Sub, &n, up ? &zero : &one, &high));
    out->start = up ? zero : high;
    stop = up ? n : minus;
    if (part[0].kind != FR_NONE)
        TS_TRY(array_end(f, &part[0], &n, up ? &zero : &minus, &high, &out->start));
    if (part[1].kind != FR_NONE)
        TS_TRY(array_end(f, &part[1], &n, up ? &zero : &minus, &high, &stop));
    TS_TRY(array_op(f, TS_OPERATOR_Sub, up ? &stop : &out->start, up ? &out->start : &stop, &span));
    if (part[0].kind != FR_NONE || part[1].kind != FR_NONE)
        TS_TRY(fr_simt_minmax(f, true, &span, &zero, 0, &span));
    fr_value size = fr_number(up ? step : -step), more = fr_number((up ? step : -step) - 1), by = fr_number(step);
    if (step != 1 && step != -1) {
        TS_TRY(array_op(f, TS_OPERATOR_Add, &span, &more, &span));
        TS_TRY(array_op(f, TS_OPERATOR_FloorDiv, &span, &size, &span));
    }
    TS_TRY(array_int64(f, &span, &out->count));
    TS_TRY(array_int64(f, stride, &out->stride));
    return step == 1 ? TS_OK : array_op(f, TS_OPERATOR_Mult, &out->stride, &by, &out->stride);
}

static bool array_is_whole(const fr_value *slice)
{
    const fr_value *s = slice->as.items;
    return s[0].kind == FR_NONE && s[1].kind == FR_NONE && s[2].kind == FR_NONE;
}

/* The view of items that are spread. */
static ts_status array_view(fr *f, uint32_t node, const fr_array *a, const fr_value *items, uint32_t n, fr_value *out)
{
    fr_array *made = TS_NEW(f->arena, fr_array);
    fr_value start[TS_ARRAY_RANK];
    bool moves[TS_ARRAY_RANK] = {0};
    if (!made)
        return fr_oom(f);
    *made = *a;
    made->rank = 0;
    for (uint32_t i = 0, d = 0; i < n; i++) {
        array_axis axis = {fr_number(0), fr_strict(TS_DTYPE_int64, 1), fr_strict(TS_DTYPE_int64, 0)};
        if (items[i].kind == FR_SLICE && array_is_whole(&items[i])) {
            axis.count = a->shape[d];
            axis.stride = a->stride[d++];
        } else if (items[i].kind == FR_SLICE) {
            TS_TRY(array_slice(f, node, &items[i], &a->shape[d], &a->stride[d], &axis));
            start[d] = axis.start;
            moves[d++] = true;
        } else if (items[i].kind != FR_NONE) {
            TS_TRY(array_wrap(f, &items[i], &a->shape[d], &start[d]));
            moves[d++] = true;
            continue;
        }
        if (made->rank == TS_ARRAY_RANK)
            return fr_error(f, node, TS_TILETYPE, "a view of more than %d axes", TS_ARRAY_RANK);
        made->shape[made->rank] = made->extent[made->rank] = axis.count;
        made->stride[made->rank++] = axis.stride;
    }
    TS_TRY(array_move(f, a, start, moves, &made->base));
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    return TS_OK;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

fr_value fr_simt_loaded(fr *f, ts_dtype dtype, ts_val v)
{
    if (dtype == TS_DTYPE_bool_)
        v = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, v, ts_int(&f->b, TS_T_i8, 0), 0);
    return fr_tile(dtype, v);
}

fr_value fr_simt_load(fr *f, ts_dtype dtype, ts_val address, uint32_t cache)
{
    return fr_simt_loaded(f, dtype, ts_load(&f->b, address, cache));
}

ts_status fr_simt_stored(fr *f, ts_dtype dtype, const fr_value *value, ts_val *out)
{
    ts_dtype from;
    if (!fr_simt_is_number(value))
        return fr_error(f, 0, TS_TILETYPE, "an element of %s takes a number\n  found: %s", ts_dtype_name(dtype),
                        fr_say(f, value));
    TS_TRY(fr_simt_dtype(f, value, &from));
    if (fr_dtype_cat(from) == FR_COMPLEX && fr_dtype_cat(dtype) != FR_COMPLEX)
        return fr_error(f, 0, TS_TILETYPE, "an element of %s takes no complex number\n  found: %s\n  help: choose its "
                        "part, z.real", ts_dtype_name(dtype), fr_say(f, value));
    TS_TRY(fr_simt_cast(f, value, dtype, out));
    if (dtype == TS_DTYPE_bool_)
        *out = ts_cast(&f->b, TS_OP_exti, *out, TS_T_i8, TS_A_UNSIGNED);
    return TS_OK;
}

ts_status fr_simt_store(fr *f, ts_dtype dtype, ts_val address, const fr_value *value, uint32_t cache)
{
    ts_val v;
    TS_TRY(fr_simt_stored(f, dtype, value, &v));
    ts_store(&f->b, address, v, cache);
    return TS_OK;
}

static ts_status array_element(fr *f, const fr_array *a, const fr_value *items, ts_val *out)
{
    fr_value index[TS_ARRAY_RANK];
    bool moves[TS_ARRAY_RANK];
    for (uint32_t d = 0; d < a->rank; d++) {
        TS_TRY(array_wrap(f, &items[d], &a->shape[d], &index[d]));
        moves[d] = true;
    }
    return array_move(f, a, index, moves, out);
}

/* Indices as the user gave them, where those out of bounds are reported. */
static ts_status array_check(fr *f, const fr_array *a, const fr_value *items, uint32_t n)
{
    ts_val at, extent;
    for (uint32_t i = 0, d = 0; i < n && fr_simt_reports(f, TS_CHECK_BOUNDS); i++) {
        bool is_index = array_is_index(&items[i]);
        if (is_index) {
            TS_TRY(fr_simt_cast(f, &items[i], TS_DTYPE_int64, &at));
            TS_TRY(fr_simt_cast(f, &a->shape[d], TS_DTYPE_int64, &extent));
            fr_simt_check_index(f, at, extent,
                                &(fr_fault){TS_FAULT_BOUNDS,
                                            fr_textf(f, "index | is out of bounds for axis %u with size |", d), at,
                                            extent});
        }
        d += is_index || items[i].kind == FR_SLICE;
    }
    return TS_OK;
}

static bool array_all_numbers(const fr_value *items, uint32_t n, uint32_t rank)
{
    bool all = n == rank;
    for (uint32_t i = 0; i < n; i++)
        all &= array_is_index(&items[i]);
    return all;
}

ts_status fr_simt_address(fr *f, uint32_t node, const fr_value *array, const fr_value *index, fr_checks checks,
                          ts_val *out)
{
    fr_value items[3 * TS_ARRAY_RANK];
    uint32_t n;
    const fr_array *a = array->as.array;
    TS_TRY(array_items(f, node, a, index, items, &n));
    if (checks)
        TS_TRY(array_check(f, a, items, n));
    if (!array_all_numbers(items, n, a->rank))
        return fr_error(f, node, TS_TILETYPE, "one element is wanted: an index for each of %u axes\n  found: %s",
                        a->rank, fr_say(f, index));
    return array_element(f, a, items, out);
}

ts_status fr_simt_get_item(fr *f, uint32_t node, const fr_value *of, const fr_value *index, fr_value *out)
{
    fr_value items[3 * TS_ARRAY_RANK];
    uint32_t n;
    ts_val address;
    const fr_array *a = of->as.array;
    const fr_field *field;
    TS_TRY(fr_simt_index_field(f, node, of, index, &field));
    if (field)
        return fr_simt_field(f, node, of, field, out);
    TS_TRY(array_items(f, node, a, index, items, &n));
    TS_TRY(array_check(f, a, items, n));
    if (!array_all_numbers(items, n, a->rank))
        return array_view(f, node, a, items, n, out);
    TS_TRY(array_element(f, a, items, &address));
    return fr_simt_get(f, a, address, TS_CACHE_NONE, out);
}

/* ---- assignment to views -------------------------------------------------------------------------------------- */

/* Which element of an axis with that extent is read for element `index` of the result: an axis of one element is
 * repeated, and where extents differ nothing behind the axis is read. */
static ts_status array_repeat(fr *f, const fr_value *extent, const fr_value *index, fr_value *out)
{
    int64_t known;
    ts_val all;
    *out = fr_number(0);
    if (fr_is_int(extent, &known) && known == 1)
        return TS_OK;
    TS_TRY(fr_simt_cast(f, extent, TS_DTYPE_int64, &all));
    ts_val last = ts_op2(&f->b, TS_OP_subi, all, ts_int(&f->b, TS_T_i64, 1), 0);
    *out = fr_tile(TS_DTYPE_int64, ts_op2(&f->b, TS_OP_mini, index->as.v, last, 0));
    return TS_OK;
}

/* The item of `from` at these indices of `a`; a number is every item. */
static ts_status array_item(fr *f, const fr_array *a, const fr_value *index, const fr_value *from, fr_value *out)
{
    fr_value at[TS_ARRAY_RANK];
    ts_val address;
    const fr_array *source = from->kind == FR_ARRAY && from->as.array->rank ? from->as.array : NULL;
    *out = *from;
    if (!source)
        return TS_OK;
    if (source->rank > a->rank)
        return fr_error(f, 0, TS_TILETYPE, "an array of %u axes does not fit in one of %u", source->rank, a->rank);
    for (uint32_t d = 0; d < source->rank; d++)
        TS_TRY(array_repeat(f, &source->shape[d], &index[d + a->rank - source->rank], &at[d]));
    TS_TRY(array_element(f, source, at, &address));
    return fr_simt_get(f, source, address, TS_CACHE_NONE, out);
}

/* Axis i of an array, as one of `wanted` elements: it has one element, or as many. What is known is refused, and what
 * is not is reported where the kernel is compiled for it. */
static ts_status array_fits_axis(fr *f, const fr_value *given, const fr_value *wanted, uint32_t i)
{
    int64_t n, all;
    ts_val x, y;
    ts_builder *b = &f->b;
    bool known = fr_is_int(given, &n), both = known && fr_is_int(wanted, &all);
    if (fr_same(f, given, wanted) || (known && n == 1) || (both && n == all))
        return TS_OK;
    if (both)
        return fr_error(f, f->node, TS_TILEVALUE, "an array of %lld elements along axis %u does not fit in one of "
                        "%lld\n  help: give a slice of as many elements, or an array of one, which is repeated",
                        (long long)n, i, (long long)all);
    if (!fr_simt_reports(f, TS_CHECK_IMPLIED))
        return TS_OK;
    TS_TRY(fr_simt_cast(f, given, TS_DTYPE_int64, &x));
    TS_TRY(fr_simt_cast(f, wanted, TS_DTYPE_int64, &y));
    ts_val one = ts_cmp(b, TS_OP_cmpi, TS_EQ, x, ts_int(b, TS_T_i64, 1), 0);
    ts_val fine = ts_op2(b, TS_OP_ori, one, ts_cmp(b, TS_OP_cmpi, TS_EQ, x, y, 0), 0);
    const char *text = fr_textf(f, "ValueError: the array that is assigned has another number of elements along "
                                "axis %u", i);
    fr_simt_check(f, fine, &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
    return TS_OK;
}

/* An array whose items are to be those of `a`, axis by axis from the last. */
static ts_status array_fits(fr *f, const fr_array *a, const fr_value *from)
{
    const fr_array *source = from->kind == FR_ARRAY ? from->as.array : NULL;
    for (uint32_t i = 0; source && source->rank <= a->rank && i < source->rank; i++)
        TS_TRY(array_fits_axis(f, &source->shape[i], &a->shape[i + a->rank - source->rank], i));
    return TS_OK;
}

ts_status fr_simt_each(fr *f, const fr_array *a, uint32_t n, const fr_value *from, fr_each *make, void *user)
{
    ts_val openers[TS_ARRAY_RANK], address, zero = ts_int(&f->b, TS_T_i64, 0), one = ts_int(&f->b, TS_T_i64, 1), stop;
    fr_value index[TS_ARRAY_RANK], items[FR_EACH_MOST], made;
    ts_assert(n && n <= FR_EACH_MOST);
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(array_fits(f, a, &from[i]));
    for (uint32_t d = 0; d < a->rank; d++) {
        TS_TRY(fr_simt_cast(f, &a->shape[d], TS_DTYPE_int64, &stop));
        openers[d] = ts_for_begin(&f->b, zero, stop, one, 0, NULL, 0);
        index[d] = fr_tile(TS_DTYPE_int64, ts_region_arg(f->b.fn, openers[d], 0));
    }
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(array_item(f, a, index, &from[i], &items[i]));
    made = items[0];
    if (make)
        TS_TRY(make(f, user, n, items, &made));
    TS_TRY(array_element(f, a, index, &address));
    TS_TRY(fr_simt_put(f, a, address, &made, TS_CACHE_NONE));
    for (uint32_t d = a->rank; d-- > 0;) {
        ts_term(&f->b, TS_OP_continue, 0, NULL);
        ts_end_like(&f->b, openers[d]);
    }
    return TS_OK;
}

ts_status fr_simt_fill(fr *f, const fr_array *a, const fr_value *value)
{
    return fr_simt_each(f, a, 1, value, NULL, NULL);
}

ts_status fr_simt_set_item(fr *f, uint32_t node, const fr_value *of, const fr_value *index, const fr_value *value)
{
    fr_value items[3 * TS_ARRAY_RANK], view;
    uint32_t n;
    ts_val address;
    if (of->kind != FR_ARRAY)
        return fr_error(f, node, TS_TILETYPE, "%s takes no item assignment\n  help: %s", fr_say(f, of),
                        of->kind == FR_TUPLE ? "tuples, and arrays of the host that a kernel names, are constants; "
                                               "pass the array as an argument"
                                             : "only arrays can be changed; pass an array of one element for a number");
    const fr_array *a = of->as.array;
    const fr_field *field;
    TS_TRY(fr_simt_index_field(f, node, of, index, &field));
    if (field)
        return fr_simt_set_field(f, node, of, field, value);
    TS_TRY(array_items(f, node, a, index, items, &n));
    TS_TRY(array_check(f, a, items, n));
    if (!array_all_numbers(items, n, a->rank)) {
        TS_TRY(array_view(f, node, a, items, n, &view));
        return fr_simt_fill(f, view.as.array, value);
    }
    TS_TRY(array_element(f, a, items, &address));
    return fr_simt_put(f, a, address, value, TS_CACHE_NONE);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static ts_status array_product(fr *f, const fr_array *a, fr_value *out)
{
    *out = fr_strict(TS_DTYPE_int64, 1);
    for (uint32_t d = 0; d < a->rank; d++) {
        fr_value n;
        TS_TRY(array_int64(f, &a->shape[d], &n));
        if (d)
            TS_TRY(array_op(f, TS_OPERATOR_Mult, out, &n, out));
        else
            *out = n;
    }
    return TS_OK;
}

/* Extents, or strides in bytes, as a tuple of int64. */
static ts_status array_numbers(fr *f, const fr_array *a, const fr_value *numbers, int64_t factor, fr_value *out)
{
    fr_value items[TS_ARRAY_RANK], by = fr_number(factor);
    for (uint32_t d = 0; d < a->rank; d++) {
        TS_TRY(array_int64(f, &numbers[d], &items[d]));
        if (factor != 1)
            TS_TRY(array_op(f, TS_OPERATOR_Mult, &items[d], &by, &items[d]));
    }
    return fr_tuple(f, a->rank, items, out);
}

static ts_status array_transposed(fr *f, const fr_array *a, fr_value *out)
{
    fr_array *made = TS_NEW(f->arena, fr_array);
    if (!made)
        return fr_oom(f);
    *made = *a;
    for (uint32_t d = 0; d < a->rank; d++) {
        made->shape[d] = made->extent[d] = a->shape[a->rank - 1 - d];
        made->stride[d] = a->stride[a->rank - 1 - d];
    }
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    return TS_OK;
}

/* The real or imaginary parts, as a view of floats. */
static ts_status array_part(fr *f, const fr_array *a, bool imaginary, fr_value *out)
{
    fr_array *made = TS_NEW(f->arena, fr_array);
    fr_value two = fr_number(2);
    ts_builder *b = &f->b;
    ts_dtype part = (ts_dtype)ts_dtype_get((ts_dtype)a->dtype)->part;
    if (!made)
        return fr_oom(f);
    *made = *a;
    made->dtype = (uint8_t)part;
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    if (a->align) {
        fr_simt_move_bytes(f, made, imaginary ? (int64_t)ts_dtype_bytes(part) : 0);
        return TS_OK;
    }
    made->index_dtype = TS_DTYPE_int64;
    ts_space space = (ts_space)ts_type_get(f->module, ts_type_of(b->fn, a->base))->space;
    made->base = ts_cast(b, TS_OP_ptr_to_ptr, a->base, ts_type_ptr(f->module, fr_simt_storage(part), space), 0);
    if (imaginary)
        made->base = ts_element(b, made->base, ts_int(b, TS_T_i32, 1));
    for (uint32_t d = 0; d < a->rank; d++) {
        TS_TRY(array_int64(f, &a->stride[d], &made->stride[d]));
        TS_TRY(array_op(f, TS_OPERATOR_Mult, &made->stride[d], &two, &made->stride[d]));
    }
    return TS_OK;
}

ts_status fr_simt_new_array(fr *f, ts_dtype dtype, ts_val base, uint32_t rank, const fr_value *shape, fr_value *out)
{
    fr_array *a = TS_NEW(f->arena, fr_array);
    fr_value stride = fr_strict(TS_DTYPE_int64, 1);
    if (!a)
        return fr_oom(f);
    *a = (fr_array){.dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .index_dtype = TS_DTYPE_int32, .base = base};
    for (uint32_t d = rank; d-- > 0;) {
        a->stride[d] = stride;
        TS_TRY(array_int64(f, &shape[d], &a->shape[d]));
        a->extent[d] = a->shape[d];
        TS_TRY(array_op(f, TS_OPERATOR_Mult, &stride, &a->shape[d], &stride));
    }
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    return TS_OK;
}

ts_status fr_simt_array_attribute(fr *f, const fr_value *of, const char *name, fr_value *out, bool *found)
{
    const fr_array *a = of->as.array;
    const fr_field *field = fr_field_of(a->element, name);
    int64_t bytes = fr_simt_item_bytes(a);
    fr_value by = fr_number(bytes);
    *found = true;
    if (field && !a->rank) /* of an array its own attributes come first */
        return fr_simt_field(f, f->node, of, field, out);
    if (strcmp(name, "dtype") == 0)
        *out = a->element ? (fr_value){.kind = FR_ELEMENT, .as.element = a->element}
                          : fr_dtype_value((ts_dtype)a->dtype);
    else if (strcmp(name, "ndim") == 0)
        *out = fr_number(a->rank);
    else if (strcmp(name, "itemsize") == 0)
        *out = fr_number(bytes);
    else if (strcmp(name, "shape") == 0)
        return array_numbers(f, a, a->shape, 1, out);
    else if (strcmp(name, "strides") == 0)
        return array_numbers(f, a, a->stride, a->align ? 1 : bytes, out);
    else if (strcmp(name, "size") == 0)
        return array_product(f, a, out);
    else if (strcmp(name, "nbytes") == 0) {
        TS_TRY(array_product(f, a, out));
        return array_op(f, TS_OPERATOR_Mult, out, &by, out);
    } else if (strcmp(name, "T") == 0)
        return array_transposed(f, a, out);
    else if (!a->element && fr_dtype_cat((ts_dtype)a->dtype) == FR_COMPLEX &&
             (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0))
        return array_part(f, a, name[0] == 'i', out);
    else if (!a->element && strcmp(name, "real") == 0)
        *out = *of;
    else if (field)
        return fr_simt_field(f, f->node, of, field, out);
    else
        *found = false;
    return TS_OK;
}
