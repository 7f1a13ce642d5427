/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of other code (cuda.declare_device): arguments are converted to the types of the declaration, pointers are
 * uint64 values and the addresses of arrays. And pointers that are used as arrays. Part of the front end (lower.h);
 * rows in simt_op.def.
 */
#include "lang/simt/op.h"

static ts_status foreign_address(fr *f, const fr_call *c, uint32_t node, const fr_value *array, ts_val *out)
{
    ts_val base = array->as.array->base;
    ts_type type = ts_type_of(f->b.fn, base);
    if (ts_type_get(f->module, type)->space != TS_GLOBAL)
        return fr_error(f, node, TS_TILETYPE, "%s(): arrays in shared and local memory have no address for other code\n"
                        "  help: pass an array that is an argument of the kernel", fr_op_name(c));
    *out = ts_emit(&f->b, TS_OP_ptr_to_int, TS_T_i64, 1, &base, 0, 0);
    return TS_OK;
}

ts_status fr_simt_from_buffer(fr *f, const fr_call *c, fr_value *out)
{
    ts_val address;
    if (c->arg[0].kind != FR_ARRAY)
        return fr_arg_error(f, c, 0, "an array");
    TS_TRY(foreign_address(f, c, c->at[0], &c->arg[0], &address));
    *out = fr_tile(TS_DTYPE_uint64, address);
    return TS_OK;
}

/* A pointer to elements of a dtype in global memory, of an array or an address. */
static ts_status foreign_pointer(fr *f, const fr_call *c, ts_dtype dtype, ts_val *out)
{
    ts_type type = ts_type_ptr(f->module, fr_simt_storage(dtype), TS_GLOBAL);
    ts_val address;
    if (c->arg[0].kind != FR_ARRAY && !fr_simt_is_number(&c->arg[0]))
        return fr_arg_error(f, c, 0, "a pointer");
    if (c->arg[0].kind == FR_ARRAY)
        TS_TRY(foreign_address(f, c, c->at[0], &c->arg[0], &address));
    else
        TS_TRY(fr_simt_cast(f, &c->arg[0], TS_DTYPE_int64, &address));
    *out = ts_cast(&f->b, TS_OP_int_to_ptr, address, type, 0);
    return TS_OK;
}

/* _pointer(address, dtype): a parameter declared as CPointer(dtype). It is indexed as an array of which nobody knows
 * the end: its length is 0, so that negative indices lie before it, as in C. */
ts_status fr_simt_pointer_of(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val base;
    fr_value none = fr_strict(TS_DTYPE_int64, 0);
    TS_TRY(fr_arg_dtype(f, c, 1, &dtype));
    TS_TRY(foreign_pointer(f, c, dtype, &base));
    TS_TRY(fr_simt_new_array(f, dtype, base, 1, &none, out));
    out->as.array->index_dtype = TS_DTYPE_int64;
    out->as.array->extent[0] = fr_strict(TS_DTYPE_int64, INT64_MAX);
    return TS_OK;
}

/* carray(pointer, shape, dtype=that of the pointer); y: farray, the first axis is the fastest. */
ts_status fr_simt_carray(fr *f, const fr_call *c, fr_value *out)
{
    bool is_tuple = c->arg[1].kind == FR_TUPLE;
    const fr_value *items = is_tuple ? c->arg[1].as.items : &c->arg[1];
    uint32_t n = is_tuple ? c->arg[1].n : 1;
    fr_value shape[TS_ARRAY_RANK];
    ts_dtype dtype = c->arg[0].kind == FR_ARRAY ? (ts_dtype)c->arg[0].as.array->dtype : TS_DTYPE_NONE;
    ts_val base;
    if (fr_given(c, 2) || !dtype)
        TS_TRY(fr_arg_dtype(f, c, 2, &dtype));
    if (n < 1 || n > TS_ARRAY_RANK)
        return fr_error(f, c->at[1], TS_TILETYPE, "%s(): an array of %u axes; it has 1 to %d", fr_op_name(c), n,
                        TS_ARRAY_RANK);
    for (uint32_t d = 0; d < n; d++) {
        if (!fr_simt_is_number(&items[d]))
            return fr_arg_error(f, c, 1, "an integer or a tuple of them");
        shape[c->op->y ? n - 1 - d : d] = items[d];
    }
    TS_TRY(foreign_pointer(f, c, dtype, &base));
    TS_TRY(fr_simt_new_array(f, dtype, base, n, shape, out));
    fr_array *a = out->as.array;
    a->index_dtype = TS_DTYPE_int64;
    for (uint32_t d = 0; c->op->y && d < n / 2; d++) {
        fr_value *turned[] = {a->shape, a->stride, a->extent};
        for (size_t i = 0; i < TS_COUNT(turned); i++) {
            fr_value other = turned[i][d];
            turned[i][d] = turned[i][n - 1 - d];
            turned[i][n - 1 - d] = other;
        }
    }
    return TS_OK;
}

static ts_status foreign_argument(fr *f, const fr_call *c, const fr_value *v, ts_dtype dtype, ts_val *out)
{
    if (v->kind == FR_ARRAY && dtype == TS_DTYPE_uint64)
        return foreign_address(f, c, c->node, v, out);
    if (!fr_simt_is_number(v))
        return fr_error(f, c->node, TS_TILETYPE, "%s() wants a value of type %s, found %s",
                        strrchr(c->arg[0].as.text, ' ') + 1, ts_dtype_name(dtype), fr_say(f, v));
    return fr_simt_cast(f, v, dtype, out);
}

/* _foreign("c f", result dtype or None, (dtypes..), values..): what cuda.declare_device gives calls it. */
ts_status fr_simt_foreign(fr *f, const fr_call *c, fr_value *out)
{
    const char *text = c->arg[0].as.text, *symbol = strrchr(text, ' ') + 1;
    const fr_value *types = &c->arg[2];
    bool is_void = c->arg[1].kind == FR_NONE;
    ts_dtype result = is_void ? TS_DTYPE_int32 : (ts_dtype)c->arg[1].dtype;
    ts_val *values = TS_NEW_N(f->arena, ts_val, c->n_rest + 1);
    if (!values)
        return fr_oom(f);
    if (c->n_rest != types->n)
        return fr_error(f, c->node, TS_TILETYPE, "%s() takes %u argument%s, got %u", symbol, types->n,
                        types->n == 1 ? "" : "s", c->n_rest);
    for (uint32_t i = 0; i < c->n_rest; i++)
        TS_TRY(foreign_argument(f, c, &c->rest[i], (ts_dtype)types->as.items[i].dtype, &values[i]));
    fr_at(f, c->node);
    uint32_t name = ts_intern(f->module, text, strlen(text));
    ts_val v = ts_emit(&f->b, TS_OP_foreign, fr_ir(result), c->n_rest, values, name, 0);
    *out = is_void ? fr_none() : fr_tile(result, v);
    return TS_OK;
}
