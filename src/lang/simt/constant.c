/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the host that a kernel names come as tuples of numbers. Where an index of run time reads one, or
 * const.array_like takes it, its elements become constant memory of the module: an array like any other. A tuple of
 * values that the kernel computes is read by a chain of selects. Part of the front end (lower.h).
 */
#include "ir/float.h"
#include "lang/simt/op.h"
#include "tessera/compile.h"
#include <stdio.h>

/* The common dtype of all numbers; NONE where there is none, or something else is among them. */
static ts_status constant_dtype(fr *f, const fr_value *v, bool *plain, ts_dtype *out)
{
    for (uint32_t i = 0; v->kind == FR_TUPLE && i < v->n && *plain; i++)
        TS_TRY(constant_dtype(f, &v->as.items[i], plain, out));
    if (v->kind == FR_TUPLE)
        return TS_OK;
    ts_dtype dtype = TS_DTYPE_NONE;
    *plain = v->kind == FR_NUMBER;
    if (*plain)
        TS_TRY(fr_simt_dtype(f, v, &dtype));
    *out = *out ? fr_simt_promote(*out, dtype) : dtype;
    return TS_OK;
}

/* The extents of nested tuples, which are those of the first items; false where others differ. */
static bool constant_shape(const fr_value *v, uint32_t depth, fr_shape *shape)
{
    if (v->kind != FR_TUPLE)
        return depth == shape->rank;
    if (depth == TS_MAX_RANK || (depth < shape->rank && shape->dims[depth] != v->n))
        return false;
    if (depth == shape->rank)
        shape->dims[shape->rank++] = v->n;
    bool same = true;
    for (uint32_t i = 0; i < v->n && same; i++)
        same = constant_shape(&v->as.items[i], depth + 1, shape);
    return same;
}

static ts_status constant_write(fr *f, const fr_value *v, ts_dtype dtype, uint8_t **at)
{
    fr_value made, re, im;
    ts_dtype part = (ts_dtype)ts_dtype_get(dtype)->part;
    for (uint32_t i = 0; v->kind == FR_TUPLE && i < v->n; i++)
        TS_TRY(constant_write(f, &v->as.items[i], dtype, at));
    if (v->kind == FR_TUPLE)
        return TS_OK;
    if (part) {
        TS_TRY(fr_complex_parts(f, v, &re, &im));
        TS_TRY(constant_write(f, &re, part, at));
        return constant_write(f, &im, part, at);
    }
    TS_TRY(fr_simt_convert(f, v, dtype, &made));
    uint64_t bits = made.cat == FR_FLOAT ? ts__float_written(fr_ir(dtype), made.as.f) : (uint64_t)made.as.i;
    for (size_t i = 0; i < ts_dtype_bytes(dtype); i++)
        *(*at)++ = (uint8_t)(bits >> (8 * i));
    return TS_OK;
}

/* The global that has these contents already; NULL: none. */
static const ts_global *constant_known(const fr *f, ts_type type, const uint8_t *data, size_t bytes)
{
    for (uint32_t i = 0; i < f->module->globals.n; i++) {
        const ts_global *global = &f->module->globals.at[i];
        if (global->type != type || !global->data || !global->constant)
            continue;
        const ts_dense *dense = &f->module->dense.at[global->data - 1];
        if (dense->n_bytes == bytes && memcmp(dense->bytes, data, bytes) == 0)
            return global;
    }
    return NULL;
}

/* A global of the module with `whole` elements, a power of two; its type is a tile of that many. */
static ts_val constant_global(fr *f, ts_type elem, const uint8_t *data, int64_t whole, size_t size, ts_status *status)
{
    char name[40];
    ts_type type = ts_type_tile(f->module, elem, 1, &whole), pointer = ts_type_ptr(f->module, elem, TS_GLOBAL);
    const ts_global *known = constant_known(f, type, data, size);
    *status = TS_OK;
    if (known)
        return ts_emit(&f->b, TS_OP_get_global, pointer, 0, NULL, known->name, 0);
    int n = snprintf(name, sizeof name, "constant%u", f->module->globals.n);
    ts_global global = {ts_intern(f->module, name, (size_t)n), type, f->module->dense.n + 1, 16, true};
    if (!TS_PUSH(f->module->arena, &f->module->dense, ((ts_dense){data, size})) ||
        !TS_PUSH(f->module->arena, &f->module->globals, global)) {
        *status = fr_oom(f);
        return 0;
    }
    return ts_emit(&f->b, TS_OP_get_global, pointer, 0, NULL, global.name, 0);
}

static int64_t constant_whole(int64_t count)
{
    int64_t whole = 1;
    while (whole < count)
        whole *= 2;
    return whole;
}

ts_val fr_simt_constant_bytes(fr *f, const void *bytes, size_t n, ts_status *status)
{
    int64_t whole = constant_whole((int64_t)n);
    uint8_t *data = TS_NEW_N(f->module->arena, uint8_t, (size_t)whole);
    *status = data ? TS_OK : fr_oom(f);
    if (!data)
        return 0;
    memcpy(data, bytes, n);
    return constant_global(f, TS_T_i8, data, whole, (size_t)whole, status);
}

/* A pointer to constant memory with the numbers; that of complex numbers holds their parts. */
static ts_val constant_numbers(fr *f, ts_dtype dtype, int64_t count, const fr_value *v, ts_status *status)
{
    ts_dtype part = (ts_dtype)ts_dtype_get(dtype)->part, stored = part ? part : dtype;
    int64_t whole = constant_whole(part ? 2 * count : count);
    size_t size = (size_t)whole * ts_dtype_bytes(stored);
    uint8_t *data = TS_NEW_N(f->module->arena, uint8_t, size), *at = data;
    *status = data ? constant_write(f, v, dtype, &at) : fr_oom(f);
    if (*status != TS_OK)
        return 0;
    ts_val base = constant_global(f, fr_simt_storage(stored), data, whole, size, status);
    ts_type wanted = ts_type_ptr(f->module, fr_simt_storage(dtype), TS_GLOBAL);
    return *status == TS_OK && part ? ts_cast(&f->b, TS_OP_ptr_to_ptr, base, wanted, 0) : base;
}

ts_status fr_simt_constant_array(fr *f, const fr_value *v, fr_value *out, bool *found)
{
    ts_dtype dtype = TS_DTYPE_NONE;
    ts_status status;
    fr_shape shape = {0};
    fr_value dims[TS_MAX_RANK];
    int64_t count = 1;
    bool plain = v->kind == FR_TUPLE;
    TS_TRY(constant_dtype(f, v, &plain, &dtype));
    *found = plain && constant_shape(v, 0, &shape);
    if (!*found)
        return TS_OK;
    dtype = dtype ? dtype : TS_DTYPE_float64; /* it is empty */
    for (uint32_t d = 0; d < shape.rank; d++) {
        count *= shape.dims[d];
        dims[d] = fr_number(shape.dims[d]);
    }
    ts_val base = constant_numbers(f, dtype, TS_MAX(count, 1), v, &status);
    TS_TRY(status);
    return fr_simt_new_array(f, dtype, base, shape.rank, dims, out);
}

ts_status fr_simt_array_like(fr *f, const fr_call *c, fr_value *out)
{
    bool found;
    *out = c->arg[0];
    if (out->kind == FR_ARRAY && ts_at(f->b.fn, out->as.array->base)->op == TS_OP_get_global)
        return TS_OK; /* it is constant already */
    TS_TRY(fr_simt_constant_array(f, &c->arg[0], out, &found));
    return found ? TS_OK : fr_arg_error(f, c, 0, "an array of numbers that the host has, at most 4096 elements");
}

/* ---- tuples with an index of run time ------------------------------------------------------------------ */

/* Number `i` of n leaves, the first of n values of one kind each: numbers, of the dtype that holds all, or pointers. */
static ts_status constant_choose_leaf(fr *f, ts_val i, uint32_t n, const fr_value *leaf, size_t step, fr_value *out)
{
    ts_dtype dtype = TS_DTYPE_NONE, own;
    bool same = true, numbers = leaf->kind == FR_NUMBER || leaf->dtype;
    ts_val chosen = 0, other;
    for (uint32_t k = 0; k < n; k++) {
        same &= fr_same(f, leaf, &leaf[k * step]);
        if (numbers)
            TS_TRY(fr_simt_dtype(f, &leaf[k * step], &own));
        dtype = !numbers ? TS_DTYPE_NONE : dtype ? fr_simt_promote(dtype, own) : own;
    }
    *out = *leaf;
    for (uint32_t k = same ? 0 : n; k-- > 0;) {
        other = leaf[k * step].as.v;
        if (numbers)
            TS_TRY(fr_simt_cast(f, &leaf[k * step], dtype, &other));
        ts_val here = ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, i, ts_int(&f->b, TS_T_i64, k), 0);
        chosen = chosen ? ts_select(&f->b, here, other, chosen) : other;
        *out = fr_tile(dtype, chosen);
    }
    return TS_OK;
}

/* The index, from the front. */
static ts_status constant_index(fr *f, const fr_value *index, uint32_t count, ts_val *out)
{
    fr_value n = fr_number(count), wrapped, at, negative, zero = fr_number(0);
    ts_val v, other;
    TS_TRY(fr_simt_convert(f, index, TS_DTYPE_int64, &at));
    TS_TRY(fr_simt_binary(f, TS_OPERATOR_Add, &at, &n, (fr_options){0}, &wrapped));
    TS_TRY(fr_simt_compare(f, TS_OPERATOR_Lt, &at, &zero, &negative));
    TS_TRY(fr_simt_cast(f, &at, TS_DTYPE_int64, &v));
    TS_TRY(fr_simt_cast(f, &wrapped, TS_DTYPE_int64, &other));
    *out = ts_select(&f->b, negative.as.v, other, v);
    return TS_OK;
}

static bool constant_is_alike(const fr *f, const fr_value *a, const fr_value *b)
{
    if (!fr_same_skeleton(f, a, b))
        return false;
    return a->kind != FR_ARRAY || ts_type_of(f->b.fn, a->as.array->base) == ts_type_of(f->b.fn, b->as.array->base);
}

/* One of items that are alike: numbers, arrays of one dtype and rank, tuples of such. */
static ts_status constant_choose(fr *f, uint32_t node, const fr_value *tuple, const fr_value *index, fr_value *out)
{
    const fr_value *items = tuple->as.items;
    uint32_t n = fr_flatten(items, NULL);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, (size_t)n * (tuple->n + 1) + 1), *chosen = leaves + n * tuple->n;
    const fr_value *next = chosen;
    ts_val i;
    if (!leaves)
        return fr_oom(f);
    for (uint32_t k = 0; k < tuple->n; k++) {
        if (!constant_is_alike(f, items, &items[k]))
            return fr_error(f, node, TS_TILETYPE,
                            "the index of this tuple must be known at compile time: its items are not alike\n"
                            "  found: %s", fr_say(f, tuple));
        fr_flatten(&items[k], leaves + (size_t)n * k);
    }
    TS_TRY(constant_index(f, index, tuple->n, &i));
    for (uint32_t j = 0; j < n; j++)
        TS_TRY(constant_choose_leaf(f, i, tuple->n, leaves + j, n, &chosen[j]));
    return fr_rebuild(f, items, &next, out);
}

ts_status fr_simt_index_tuple(fr *f, uint32_t node, const fr_value *tuple, const fr_value *index, fr_value *out)
{
    fr_value array;
    bool found, number = fr_simt_is_number(index);
    if (number && fr_dtype_cat((ts_dtype)index->dtype) <= FR_INT && fr_simt_reports(f, TS_CHECK_IMPLIED)) {
        static const char text[] = "tuple index out of range: index | of a tuple or array with | items";
        ts_val at, extent = ts_int(&f->b, TS_T_i64, tuple->n);
        TS_TRY(fr_simt_cast(f, index, TS_DTYPE_int64, &at));
        fr_simt_check_index(f, at, extent, &(fr_fault){TS_FAULT_BOUNDS, text, at, extent});
    }
    TS_TRY(fr_simt_constant_array(f, tuple, &array, &found));
    if (found)
        return fr_simt_get_item(f, node, &array, index, out);
    if (number && tuple->n && fr_dtype_cat((ts_dtype)index->dtype) <= FR_INT)
        return constant_choose(f, node, tuple, index, out);
    return fr_error(f, node, TS_TILETYPE, "the index of a tuple must be an integer, found %s", fr_say(f, index));
}
