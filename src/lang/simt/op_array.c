/* SPDX-License-Identifier: Apache-2.0
 *
 * Other forms of an array: reshape, ravel and view give another array over the same memory; copy makes one in memory of
 * the thread; fill and item. What needs the array to be without gaps asks for it where the kernel runs (a trap), unless
 * that is known. Part of the front end (lower.h); rows in simt_op.def.
 *
 *     a.reshape(n, 3)       extents (n, 3), strides (3, 1), the same base
 *     a.view(np.int32)      of float32: the same extents; of uint8: the last extent divided by 4
 */
#include "lang/simt/op.h"
#include "tessera/compile.h"

static ts_status form_op(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out)
{
    return fr_simt_binary(f, op, x, y, (fr_options){0}, out);
}

/* An array, or one of the host that stands for it. */
static ts_status form_self(fr *f, const fr_call *c, fr_value *out)
{
    bool found;
    TS_TRY(fr_simt_constant_array(f, &c->arg[0], out, &found));
    if (!found)
        *out = c->arg[0];
    return out->kind == FR_ARRAY ? TS_OK : fr_arg_error(f, c, 0, "an array");
}

/* Ends the kernel where x and y differ, by an exception where these are reported; an error where they are known to. */
static ts_status form_check(fr *f, const fr_call *c, const fr_value *x, const fr_value *y, const char *wrong)
{
    int64_t a = 0, b = 0;
    ts_val u, v;
    if (fr_same(f, x, y))
        return TS_OK;
    bool is_known = fr_is_int(x, &a), is_wanted = fr_is_int(y, &b);
    if (is_known && is_wanted)
        return a == b ? TS_OK
                      : fr_error(f, c->node, TS_TILEVALUE, "%s(): %s: %lld and %lld\n  help: an array of "
                                 "another form is filled element by element", fr_op_name(c), wrong,
                                 (long long)a, (long long)b);
    TS_TRY(fr_simt_cast(f, x, TS_DTYPE_int64, &u));
    TS_TRY(fr_simt_cast(f, y, TS_DTYPE_int64, &v));
    if (fr_simt_reports(f, TS_CHECK_IMPLIED)) {
        const char *text = fr_textf(f, "ValueError: %s(): %s", fr_op_name(c), wrong);
        text = is_wanted ? fr_textf(f, "%s; wanted %lld", text, (long long)b) : text;
        fr_simt_check(f, ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, u, v, 0), &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
        return TS_OK;
    }
    ts_val opener = ts_if_begin(&f->b, ts_cmp(&f->b, TS_OP_cmpi, TS_NE, u, v, 0));
    ts_emit(&f->b, TS_OP_trap, TS_T_none, 0, NULL, 0, 0);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_else(&f->b);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_end(&f->b, opener, 0, NULL);
    return TS_OK;
}

/* x == of ? yes : no, of int64 */
static ts_status form_choose(fr *f, const fr_value *x, const fr_value *of, const fr_value *yes, const fr_value *no,
                             fr_value *out)
{
    int64_t a, b;
    ts_val same, u, v;
    fr_value equal;
    if (fr_is_int(x, &a) && fr_is_int(of, &b)) {
        *out = a == b ? *yes : *no;
        return TS_OK;
    }
    TS_TRY(fr_simt_compare(f, TS_OPERATOR_Eq, x, of, &equal));
    TS_TRY(fr_simt_truth(f, &equal, &same));
    TS_TRY(fr_simt_cast(f, yes, TS_DTYPE_int64, &u));
    TS_TRY(fr_simt_cast(f, no, TS_DTYPE_int64, &v));
    *out = fr_tile(TS_DTYPE_int64, ts_select(&f->b, same, u, v));
    return TS_OK;
}

/* Of an array of one axis any stride will do: *step. Others must be row-major and without gaps. */
static ts_status form_step(fr *f, const fr_call *c, const fr_array *a, fr_value *step)
{
    fr_value span = fr_strict(TS_DTYPE_int64, a->align ? fr_simt_item_bytes(a) : 1);
    *step = span;
    if (a->rank == 1)
        *step = a->stride[0];
    for (uint32_t d = a->rank; d-- > 0 && a->rank > 1;) {
        TS_TRY(form_check(f, c, &a->stride[d], &span, "the array has gaps or another order, which takes a copy"));
        TS_TRY(form_op(f, TS_OPERATOR_Mult, &span, &a->shape[d], &span));
    }
    return TS_OK;
}

/* Row-major strides of the extents, of elements `step` apart. */
static ts_status form_strides(fr *f, fr_array *a, const fr_value *step)
{
    fr_value stride = *step;
    for (uint32_t d = a->rank; d-- > 0;) {
        a->stride[d] = stride;
        a->extent[d] = a->shape[d];
        TS_TRY(form_op(f, TS_OPERATOR_Mult, &stride, &a->shape[d], &stride));
    }
    return TS_OK;
}

/* An extent, and what it contributes to the product: 1 where it is -1, known or not. */
static ts_status form_extent(fr *f, const fr_call *c, const fr_value *given, uint32_t *open, fr_value *out,
                             fr_value *part)
{
    int64_t extent;
    fr_value minus = fr_number(-1), one = fr_strict(TS_DTYPE_int64, 1);
    bool known = fr_is_int(given, &extent);
    if (!fr_simt_is_number(given) || (given->kind == FR_TILE ? !fr_dtype_is_int((ts_dtype)given->dtype) : !known))
        return fr_error(f, c->node, TS_TILETYPE, "%s(): a shape is made of integers\n  found: %s\n  help: write "
                        "a.%s(2, 3), or a tuple of ints", fr_op_name(c), fr_say(f, given), fr_op_name(c));
    *open += known && extent == -1;
    if (known && (extent < -1 || *open > 1))
        return fr_error(f, c->node, TS_TILEVALUE, "%s(): one extent of a shape may be -1, the others are not "
                        "negative\n  found: %lld\n  help: -1 is what is left by the other extents", fr_op_name(c),
                        (long long)extent);
    TS_TRY(fr_simt_convert(f, given, TS_DTYPE_int64, out));
    return form_choose(f, out, &minus, &one, out, part);
}

/* The extents as given; one that is -1 is what is left of `size`. */
static ts_status form_shape(fr *f, const fr_call *c, const fr_value *given, uint32_t n, const fr_value *size,
                            fr_array *out)
{
    fr_value known = fr_strict(TS_DTYPE_int64, 1), all = known, part, rest, minus = fr_number(-1);
    uint32_t open = 0;
    if (n > TS_ARRAY_RANK)
        return fr_error(f, c->node, TS_TILETYPE, "%s(): an array of more than %d axes\n  help: put axes "
                        "together", fr_op_name(c), TS_ARRAY_RANK);
    for (uint32_t d = 0; d < n; d++) {
        TS_TRY(form_extent(f, c, &given[d], &open, &out->shape[d], &part));
        TS_TRY(form_op(f, TS_OPERATOR_Mult, &known, &part, &known));
    }
    TS_TRY(form_op(f, TS_OPERATOR_FloorDiv, size, &known, &rest));
    TS_TRY(fr_simt_convert(f, &rest, TS_DTYPE_int64, &rest));
    for (uint32_t d = 0; d < n; d++) {
        TS_TRY(form_choose(f, &out->shape[d], &minus, &rest, &out->shape[d], &out->shape[d]));
        TS_TRY(form_op(f, TS_OPERATOR_Mult, &all, &out->shape[d], &all));
    }
    out->rank = (uint8_t)n;
    return form_check(f, c, size, &all, "the array has another number of elements");
}

static ts_status form_reshape(fr *f, const fr_call *c, const fr_value *shape, uint32_t n, fr_value *out)
{
    fr_value self, size, step;
    bool found;
    TS_TRY(form_self(f, c, &self));
    TS_TRY(fr_simt_array_attribute(f, &self, "size", &size, &found));
    fr_array *made = TS_NEW(f->arena, fr_array);
    if (!made)
        return fr_oom(f);
    *made = *self.as.array;
    TS_TRY(form_step(f, c, self.as.array, &step));
    TS_TRY(form_shape(f, c, shape, n, &size, made));
    TS_TRY(form_strides(f, made, &step));
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    return TS_OK;
}

/* reshape(2, 3), reshape((2, 3)) */
ts_status fr_simt_reshape(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *shape = c->rest;
    uint32_t n = c->n_rest;
    if (n == 1 && shape->kind == FR_TUPLE) {
        n = shape->n;
        shape = shape->as.items;
    }
    return form_reshape(f, c, shape, n, out);
}

ts_status fr_simt_ravel(fr *f, const fr_call *c, fr_value *out)
{
    fr_value all = fr_number(-1);
    return form_reshape(f, c, &all, 1, out);
}

/* The last axis, whose elements follow each other, in elements of another size; others are as far apart in bytes. */
static ts_status form_resize(fr *f, const fr_call *c, const fr_array *a, int64_t from, int64_t to, fr_array *out)
{
    fr_value one = fr_strict(TS_DTYPE_int64, 1), old = fr_number(from), new = fr_number(to), rest, zero = fr_number(0);
    if (!a->rank)
        return fr_error(f, c->node, TS_TILETYPE, "view() of an array without axes keeps the size of its "
                        "element\n  help: take a.reshape(1).view(dtype)");
    uint32_t last = a->rank - 1;
    TS_TRY(form_check(f, c, &a->stride[last], &one, "elements of the last axis do not follow each other"));
    for (uint32_t d = 0; d <= last; d++) {
        fr_value *x = d == last ? &out->shape[d] : &out->stride[d];
        TS_TRY(form_op(f, TS_OPERATOR_Mult, d == last ? &a->shape[d] : &a->stride[d], &old, x));
        TS_TRY(form_op(f, TS_OPERATOR_Mod, x, &new, &rest));
        if (to > from)
            TS_TRY(form_check(f, c, &rest, &zero, "the bytes of a row are no whole elements"));
        TS_TRY(form_op(f, TS_OPERATOR_FloorDiv, x, &new, x));
    }
    out->extent[last] = out->shape[last];
    out->index_dtype = TS_DTYPE_int64;
    return TS_OK;
}

ts_status fr_simt_view(fr *f, const fr_call *c, fr_value *out)
{
    fr_value self;
    ts_dtype dtype;
    TS_TRY(form_self(f, c, &self));
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    const fr_array *a = self.as.array;
    fr_array *made = TS_NEW(f->arena, fr_array);
    int64_t from = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype), to = (int64_t)ts_dtype_bytes(dtype);
    if (!made)
        return fr_oom(f);
    if (fr_dtype_cat(dtype) == FR_COMPLEX || fr_dtype_cat((ts_dtype)a->dtype) == FR_COMPLEX)
        return fr_arg_error(f, c, 1, "a dtype of real numbers, of real numbers");
    if (a->element || (a->align && from != to))
        return fr_error(f, c->node, TS_TILETYPE, "view() takes numbers that lie at multiples of their size\n"
                        "  found: %s%s\n  help: view the array on the host, or make its dtype with align=True",
                        fr_say(f, &self), a->element ? "" : ", at any bytes");
    *made = *a;
    made->dtype = (uint8_t)dtype;
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    if (a->align)
        return TS_OK;
    ts_space space = (ts_space)ts_type_get(f->module, ts_type_of(f->b.fn, a->base))->space;
    ts_type type = ts_type_ptr(f->module, fr_simt_storage(dtype), space);
    if (type != ts_type_of(f->b.fn, a->base))
        made->base = ts_cast(&f->b, TS_OP_ptr_to_ptr, a->base, type, 0);
    if (from != to)
        TS_TRY(form_resize(f, c, a, from, to, made));
    return TS_OK;
}

/* In memory of the thread: the extents must be known. */
ts_status fr_simt_copy(fr *f, const fr_call *c, fr_value *out)
{
    enum { MOST_BYTES = 1 << 16 };
    fr_value self, shape, dtype, args[2], all = {.kind = FR_ELLIPSIS};
    int64_t total = 1, extent;
    bool found;
    TS_TRY(form_self(f, c, &self));
    const fr_array *a = self.as.array;
    for (uint32_t d = 0; d < a->rank && total > 0; d++)
        total = fr_is_int(&a->shape[d], &extent) && extent > 0 && extent <= MOST_BYTES ? total * extent : 0;
    if (total <= 0 || total * (int64_t)fr_simt_item_bytes(a) > MOST_BYTES)
        return fr_error(f, c->node, TS_TILETYPE, "copy() makes an array of this thread, so its extents must be known "
                        "at compile time, and it has at most %d bytes\n  found: %s\n  help: copy element by "
                        "element to cuda.local.array(n, dtype)", MOST_BYTES, fr_say(f, &self));
    TS_TRY(fr_simt_array_attribute(f, &self, "shape", &shape, &found));
    TS_TRY(fr_simt_array_attribute(f, &self, "dtype", &dtype, &found));
    args[0] = shape, args[1] = dtype;
    TS_TRY(fr_call_op(f, c->node, "local_array", 2, args, out));
    return fr_simt_set_item(f, c->node, out, &all, &self);
}

ts_status fr_simt_array_fill(fr *f, const fr_call *c, fr_value *out)
{
    fr_value all = {.kind = FR_ELLIPSIS};
    *out = fr_none();
    if (c->arg[0].kind != FR_ARRAY)
        return fr_arg_error(f, c, 0, "an array");
    return fr_simt_set_item(f, c->node, &c->arg[0], &all, &c->arg[1]);
}

/* The only element. */
ts_status fr_simt_item(fr *f, const fr_call *c, fr_value *out)
{
    fr_value self, size, one = fr_strict(TS_DTYPE_int64, 1), zeros[TS_ARRAY_RANK], at;
    bool found;
    TS_TRY(form_self(f, c, &self));
    TS_TRY(fr_simt_array_attribute(f, &self, "size", &size, &found));
    TS_TRY(form_check(f, c, &size, &one, "an array of other than one element"));
    for (uint32_t d = 0; d < self.as.array->rank; d++)
        zeros[d] = fr_number(0);
    TS_TRY(fr_tuple(f, self.as.array->rank, zeros, &at));
    return fr_simt_get_item(f, c->node, &self, &at, out);
}
