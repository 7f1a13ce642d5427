/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX in kernels: cuda.asm. Part of the front end (lower.h); rows in simt_op.def.
 *
 *     high = cuda.asm("mul.hi.u32 $0, $1, $2;", np.uint32, x, y)          %high = asm "mul.hi.u32 .." %x, %y : i32
 */
#include "ir/format.h"
#include "lang/simt/op.h"
#include <string.h>

enum { ASM_MOST = 32 /* results, and values */ };

static bool asm_is_register(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_ || (fr_dtype_cat(dtype) != FR_COMPLEX && fr_dtype_bits(dtype) >= 16);
}

static ts_status asm_results(fr *f, const fr_call *c, uint32_t *n, ts_dtype *dtypes)
{
    const fr_value *v = &c->arg[1];
    *n = v->kind == FR_NONE ? 0 : v->kind == FR_TUPLE ? v->n : 1;
    if (*n > ASM_MOST)
        return fr_arg_error(f, c, 1, fr_textf(f, "at most %d dtypes", ASM_MOST));
    for (uint32_t i = 0; i < *n; i++) {
        fr_call one = *c;
        one.arg[1] = v->kind == FR_TUPLE ? v->as.items[i] : *v;
        TS_TRY(fr_arg_dtype(f, &one, 1, &dtypes[i]));
        if (!asm_is_register(dtypes[i]))
            return fr_error(f, c->at[1], TS_TILETYPE, "%s(): registers hold bool and numbers of 16, 32 and 64 bits\n"
                            "  found: %s", fr_op_name(c), ts_dtype_name(dtypes[i]));
    }
    return TS_OK;
}

/* A number as it is, an array as the address of its first element: 32 bits in shared memory, else 64. */
static ts_status asm_value(fr *f, const fr_call *c, const fr_value *v, ts_val *out)
{
    ts_dtype dtype;
    if (v->kind == FR_ARRAY) {
        ts_val base = v->as.array->base;
        bool shared = fr_simt_space(f, v->as.array) == TS_SHARED;
        *out = ts_cast(&f->b, TS_OP_ptr_to_int, base, shared ? TS_T_i32 : TS_T_i64, 0);
        return TS_OK;
    }
    if (!fr_simt_is_number(v))
        return fr_error(f, c->node, TS_TILETYPE, "%s() takes numbers and arrays\n  found: %s", fr_op_name(c),
                        fr_say(f, v));
    TS_TRY(fr_simt_dtype(f, v, &dtype));
    if (!asm_is_register(dtype))
        return fr_error(f, c->node, TS_TILETYPE, "%s(): registers hold bool and numbers of 16, 32 and 64 bits\n  "
                        "found: %s\n  help: convert it, such as with np.int32(x)", fr_op_name(c), ts_dtype_name(dtype));
    return fr_simt_cast(f, v, dtype, out);
}

/* Registers that the text names are there. */
static ts_status asm_places(fr *f, const fr_call *c, const char *text, uint32_t n_results, uint32_t n)
{
    uint32_t number;
    for (const char *at = strchr(text, '$'); at; at = strchr(at, '$')) {
        at += ts__asm_place(at, &number);
        if (number != TS_NO && number >= n)
            return fr_error(f, c->at[0], TS_TILEVALUE, "%s(): $%u, but there are %u result%s and %u value%s: $0 to $%d"
                            "\n  help: results come first, then the values; $$ is a $", fr_op_name(c), number,
                            n_results, n_results == 1 ? "" : "s", n - n_results, n - n_results == 1 ? "" : "s",
                            (int)n - 1);
    }
    return TS_OK;
}

ts_status fr_simt_asm(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtypes[ASM_MOST];
    ts_type types[ASM_MOST];
    ts_val values[ASM_MOST];
    fr_value items[ASM_MOST];
    uint32_t n;
    if (c->arg[0].kind != FR_STR)
        return fr_arg_error(f, c, 0, "a constant text, PTX");
    if (c->n_rest > ASM_MOST)
        return fr_error(f, c->node, TS_TILETYPE, "%s() takes at most %d values", fr_op_name(c), ASM_MOST);
    const char *text = c->arg[0].as.text;
    TS_TRY(asm_results(f, c, &n, dtypes));
    TS_TRY(asm_places(f, c, text, n, n + c->n_rest));
    for (uint32_t i = 0; i < c->n_rest; i++)
        TS_TRY(asm_value(f, c, &c->rest[i], &values[i]));
    for (uint32_t i = 0; i < n; i++)
        types[i] = fr_ir(dtypes[i]);
    fr_at(f, c->node);
    uint32_t word = ts_intern(f->module, text, strlen(text));
    ts_val v = ts_emit_multi(&f->b, TS_OP_asm, c->n_rest, values, word, 0, n, types);
    for (uint32_t i = 0; i < n; i++)
        items[i] = fr_tile(dtypes[i], v + 1 + i);
    *out = n ? items[0] : fr_none();
    return c->arg[1].kind == FR_TUPLE ? fr_tuple(f, n, items, out) : TS_OK;
}
