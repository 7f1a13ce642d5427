/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions that say how they round, and bits read as another dtype: what cuda.bf16 and cuda.fp8 are written with
 * (python/tessera/cuda/bf16.py). A float beyond an integer dtype becomes its nearest end. Part of the front end
 * (lower.h).
 */
#include "lang/simt/op.h"

static ts_status convert_rounding(fr *f, const fr_call *c, ts_round *out)
{
    *out = TS_RN;
    static const char *const names[] = {[TS_RN] = "rn", [TS_RZ] = "rz", [TS_RM] = "rd", [TS_RP] = "ru"};
    for (uint32_t i = 0; i < TS_COUNT(names) && c->arg[2].kind == FR_STR; i++)
        if (names[i] && strcmp(names[i], c->arg[2].as.text) == 0) {
            *out = (ts_round)i;
            return TS_OK;
        }
    return fr_arg_error(f, c, 2, "'rn', 'rz', 'rd' or 'ru'");
}

static ts_status convert_dtype(fr *f, const fr_call *c, ts_dtype *out)
{
    *out = (ts_dtype)c->arg[1].dtype;
    return c->arg[1].kind == FR_DTYPE && fr_dtype_bits(*out) >= 8 && fr_dtype_cat(*out) != FR_COMPLEX
               ? TS_OK
               : fr_arg_error(f, c, 1, "the dtype of a real number");
}

/* A float to an integer: rounded as a float, which loses nothing, then cut and kept in range. */
static ts_status convert_to_int(fr *f, const fr_value *v, ts_dtype dtype, ts_round round, fr_value *out)
{
    static const uint32_t whole[] = {[TS_RN] = TS_OP_COUNT + TS_MATH_rint, [TS_RZ] = TS_OP_COUNT + TS_MATH_trunc,
                                     [TS_RM] = TS_OP_floor, [TS_RP] = TS_OP_ceil};
    ts_dtype wide = fr_dtype_bits((ts_dtype)v->dtype) == 64 ? TS_DTYPE_float64 : TS_DTYPE_float32;
    ts_val x;
    TS_TRY(fr_simt_cast(f, v, wide, &x));
    uint32_t op = whole[round];
    x = op < TS_OP_COUNT ? ts_op1(&f->b, (ts_op)op, x, 0) : ts_math_call(&f->b, op - TS_OP_COUNT, x, 0);
    fr_value made = fr_tile(wide, x);
    return fr_simt_convert(f, &made, dtype, out);
}

/* Directed roundings one after the other are the directed rounding to the last format. */
static ts_status convert_number(fr *f, const fr_value *v, ts_dtype dtype, ts_round round, fr_value *out)
{
    fr_value wide;
    bool from_int = fr_dtype_cat((ts_dtype)v->dtype) != FR_FLOAT;
    if (fr_dtype_cat(dtype) != FR_FLOAT)
        return from_int ? fr_simt_convert(f, v, dtype, out) : convert_to_int(f, v, dtype, round, out);
    if (round == TS_RN)
        return fr_simt_convert(f, v, dtype, out);
    if (!from_int || fr_dtype_bits(dtype) >= 32)
        return fr_convert(f, v, dtype, round, out);
    TS_TRY(fr_convert(f, v, TS_DTYPE_float32, round, &wide));
    return fr_convert(f, &wide, dtype, round, out);
}

/* A number of run time, of its own dtype. */
static ts_status convert_take(fr *f, const fr_call *c, fr_value *out)
{
    ts_val v;
    ts_dtype own;
    if (!fr_simt_is_number(&c->arg[0]) || fr_is_complex(&c->arg[0]))
        return fr_arg_error(f, c, 0, "a real number");
    TS_TRY(fr_simt_dtype(f, &c->arg[0], &own));
    TS_TRY(fr_simt_cast(f, &c->arg[0], own, &v));
    *out = fr_tile(own, v);
    return TS_OK;
}

ts_status fr_simt_rounded(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    ts_round round;
    fr_value v;
    TS_TRY(convert_dtype(f, c, &dtype));
    TS_TRY(convert_rounding(f, c, &round));
    TS_TRY(convert_take(f, c, &v));
    return convert_number(f, &v, dtype, round, out);
}

ts_status fr_simt_reinterpreted(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype;
    fr_value v;
    TS_TRY(convert_dtype(f, c, &dtype));
    TS_TRY(convert_take(f, c, &v));
    if (fr_dtype_bits((ts_dtype)v.dtype) != fr_dtype_bits(dtype) || v.dtype == TS_DTYPE_bool_)
        return fr_arg_error(f, c, 0, fr_textf(f, "a number of %u bits, as %s has", fr_dtype_bits(dtype),
                                              ts_dtype_name(dtype)));
    bool same = fr_ir((ts_dtype)v.dtype) == fr_ir(dtype);
    *out = fr_tile(dtype, same ? v.as.v : ts_cast(&f->b, TS_OP_bitcast, v.as.v, fr_ir(dtype), 0));
    return TS_OK;
}
