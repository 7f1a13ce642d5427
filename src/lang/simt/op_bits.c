/* SPDX-License-Identifier: Apache-2.0
 *
 * Bits of integers, and numbers that GPUs have an instruction for. Part of the front end (lower.h); rows in
 * simt_op.def.
 */
#include "lang/simt/op.h"

static ts_val bits_count(fr *f, ts_op op, ts_val x)
{
    return ts_emit(&f->b, op, TS_T_i32, 1, &x, 0, 0);
}

/* The lowest bit's number, from 1; 0 of 0: how many bits x ^ (x - 1) has. */
static ts_val bits_first(fr *f, ts_val x)
{
    ts_builder *b = &f->b;
    ts_type type = ts_type_of(b->fn, x);
    ts_val low = ts_op2(b, TS_OP_xori, x, ts_op2(b, TS_OP_subi, x, ts_int(b, type, 1), 0), 0);
    ts_val none = ts_cmp(b, TS_OP_cmpi, TS_EQ, x, ts_int(b, type, 0), 0);
    return ts_select(b, none, ts_int(b, TS_T_i32, 0), bits_count(f, TS_OP_popc, low));
}

static ts_val bits_emit(fr *f, uint32_t kind, ts_val x, uint32_t bits)
{
    ts_builder *b = &f->b;
    switch (kind) {
    case FR_BITS_POPC:
        return bits_count(f, TS_OP_popc, x);
    case FR_BITS_CLZ:
        x = bits_count(f, TS_OP_clz, x);
        return bits < 32 ? ts_op2(b, TS_OP_subi, x, ts_int(b, TS_T_i32, 32 - (int64_t)bits), 0) : x;
    case FR_BITS_FFS:
        return bits_first(f, x);
    default:
        return ts_emit(b, TS_OP_brev, ts_type_of(b->fn, x), 1, &x, 0, 0);
    }
}

ts_status fr_simt_bits(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val x;
    const fr_value *v = &c->arg[0];
    bool reverses = c->op->x == FR_BITS_BREV;
    if (!fr_simt_is_number(v))
        return fr_arg_error(f, c, 0, "an integer");
    TS_TRY(fr_simt_dtype(f, v, &dtype));
    if (!fr_dtype_is_int(dtype))
        return fr_arg_error(f, c, 0, "an integer");
    uint32_t bits = fr_dtype_bits(dtype);
    ts_dtype same = bits == 64 ? TS_DTYPE_uint64 : bits == 32 ? TS_DTYPE_uint32 : bits == 16 ? TS_DTYPE_uint16
                                                                                            : TS_DTYPE_uint8;
    fr_value raw = *v;
    if (c->op->y)
        TS_TRY(fr_call_builtin(f, c->node, "abs", 1, v, &raw));
    v = &raw;
    if (v->kind == FR_TILE)
        raw = fr_tile(same, v->as.v);
    TS_TRY(fr_simt_convert(f, &raw, same, &raw));
    TS_TRY(fr_simt_cast(f, &raw, bits == 64 ? TS_DTYPE_uint64 : TS_DTYPE_uint32, &x));
    if (reverses && bits < 32)
        return fr_arg_error(f, c, 0, "an integer of 32 or 64 bits");
    ts_val made = bits_emit(f, c->op->x, x, bits);
    if (reverses) {
        *out = fr_tile(same, made);
        return TS_OK;
    }
    fr_value count = fr_tile(TS_DTYPE_uint32, made);
    return fr_simt_convert(f, &count, c->op->x == FR_BITS_FFS ? TS_DTYPE_uint32 : dtype, out);
}

/* The common dtype of the arguments from i on; of floats at least float32 where `real`. */
static ts_status bits_common(fr *f, const fr_call *c, uint32_t first, uint32_t n, bool real, ts_dtype *out)
{
    *out = TS_DTYPE_NONE;
    for (uint32_t i = first; i < first + n; i++) {
        ts_dtype dtype;
        if (!fr_simt_is_number(&c->arg[i]))
            return fr_arg_error(f, c, i, "a number");
        TS_TRY(fr_simt_dtype(f, &c->arg[i], &dtype));
        *out = *out ? fr_simt_promote(*out, dtype) : dtype;
    }
    if (real && fr_dtype_cat(*out) != FR_FLOAT)
        *out = TS_DTYPE_float64;
    return TS_OK;
}

ts_status fr_simt_fma(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val v[3];
    TS_TRY(bits_common(f, c, 0, 3, true, &dtype));
    for (uint32_t i = 0; i < 3; i++)
        TS_TRY(fr_simt_cast(f, &c->arg[i], dtype, &v[i]));
    *out = fr_tile(dtype, ts_op3(&f->b, TS_OP_fma, v[0], v[1], v[2], 0));
    return TS_OK;
}

ts_status fr_simt_cbrt(fr *f, const fr_call *c, fr_value *out)
{
    bool done;
    return fr_simt_builtin(f, c->node, "math.cbrt", 1, c->arg, out, &done);
}

ts_status fr_simt_selp(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_val p, v[2];
    TS_TRY(bits_common(f, c, 1, 2, false, &dtype));
    TS_TRY(fr_simt_truth(f, &c->arg[0], &p));
    for (uint32_t i = 0; i < 2; i++)
        TS_TRY(fr_simt_cast(f, &c->arg[1 + i], dtype, &v[i]));
    *out = fr_tile(dtype, ts_select(&f->b, p, v[0], v[1]));
    return TS_OK;
}
