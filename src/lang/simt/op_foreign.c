/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of other code (cuda.declare_device): arguments are converted to the types of the declaration, pointers are
 * uint64 values and the addresses of arrays. Part of the front end (lower.h); rows in simt_op.def.
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
