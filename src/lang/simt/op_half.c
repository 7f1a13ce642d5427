/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda.fp16 and cuda.bf16: narrow floats by name. Sums, products and quotients have their dtype; functions are computed
 * as float32 and rounded once more. Part of the front end (lower.h); rows in simt_op.def.
 */
#include "lang/simt/op.h"

static ts_dtype half_dtype(const fr_call *c)
{
    return (ts_dtype)c->op->y;
}

static ts_status half_take(fr *f, const fr_call *c, uint32_t n, fr_value *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!fr_simt_is_number(&c->arg[i]))
            return fr_arg_error(f, c, i, "a number");
        TS_TRY(fr_simt_convert(f, &c->arg[i], half_dtype(c), &out[i]));
    }
    return TS_OK;
}

ts_status fr_simt_half(fr *f, const fr_call *c, fr_value *out)
{
    fr_value v[2];
    ts_operator op = (ts_operator)c->op->x;
    TS_TRY(half_take(f, c, 2, v));
    return op >= TS_OPERATOR_Eq ? fr_simt_compare(f, op, &v[0], &v[1], out)
                                : fr_simt_binary(f, op, &v[0], &v[1], (fr_options){0}, out);
}

ts_status fr_simt_half_fma(fr *f, const fr_call *c, fr_value *out)
{
    fr_value v[3];
    ts_val x[3];
    TS_TRY(half_take(f, c, 3, v));
    for (uint32_t i = 0; i < 3; i++)
        TS_TRY(fr_simt_cast(f, &v[i], half_dtype(c), &x[i]));
    *out = fr_tile(half_dtype(c), ts_op3(&f->b, TS_OP_fma, x[0], x[1], x[2], 0));
    return TS_OK;
}

ts_status fr_simt_half_extreme(fr *f, const fr_call *c, fr_value *out)
{
    fr_value v[2];
    bool done;
    TS_TRY(half_take(f, c, 2, v));
    return fr_simt_builtin(f, c->node, c->op->x ? "numpy.fmax" : "numpy.fmin", 2, v, out, &done);
}

ts_status fr_simt_half_sign(fr *f, const fr_call *c, fr_value *out)
{
    fr_value v;
    ts_val x;
    TS_TRY(half_take(f, c, 1, &v));
    TS_TRY(fr_simt_cast(f, &v, half_dtype(c), &x));
    *out = fr_tile(half_dtype(c), ts_op1(&f->b, (ts_op)c->op->x, x, 0));
    return TS_OK;
}

ts_status fr_simt_half_op(fr *f, const fr_call *c, fr_value *out)
{
    fr_value v;
    ts_val x;
    TS_TRY(half_take(f, c, 1, &v));
    TS_TRY(fr_simt_cast(f, &v, TS_DTYPE_float32, &x));
    ts_val made = c->op->x == TS_OP_divf ? ts_op2(&f->b, TS_OP_divf, ts_float(&f->b, TS_T_f32, 1), x, 0)
                  : c->op->x < TS_OP_COUNT ? ts_op1(&f->b, (ts_op)c->op->x, x, 0)
                                           : ts_math_call(&f->b, c->op->x - TS_OP_COUNT, x, 0);
    fr_value wide = fr_tile(TS_DTYPE_float32, made);
    return fr_simt_convert(f, &wide, half_dtype(c), out);
}
