/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a thread stands in its block and grid. Part of the front end (lower.h); rows in simt_op.def.
 */
#include "lang/simt/op.h"

/* The extents of a block are read before its number: ptxas 13.0 keeps the first one of `number * extent` in a
 * uniform register, and a number takes 13 cycles to get there, on each axis. dce takes them away where unused. */
static ts_val thread_sreg(fr *f, uint32_t kind)
{
    if (kind >= TS_SREG_CTAID && kind <= TS_SREG_CTAID_Z)
        ts_emit(&f->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_NTID + (kind - TS_SREG_CTAID), 0, 0), 0);
    return ts_emit(&f->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(kind, 0, 0), 0);
}

ts_status fr_simt_sreg(fr *f, const fr_call *c, fr_value *out)
{
    *out = fr_tile(TS_DTYPE_int32, thread_sreg(f, c->op->x));
    return TS_OK;
}

ts_status fr_simt_warpsize(fr *f, const fr_call *c, fr_value *out)
{
    (void)f;
    (void)c;
    *out = fr_strict(TS_DTYPE_int32, 32);
    return TS_OK;
}

ts_status fr_simt_is_quick(fr *f, const fr_call *c, fr_value *out)
{
    (void)c;
    *out = fr_strict(TS_DTYPE_bool_, f->hints && f->hints->opt_level == 1);
    return TS_OK;
}

/* Of one axis: block * threads + thread, or the number of both, as an int64. */
static ts_val thread_axis(fr *f, bool size, uint32_t axis)
{
    uint32_t blocks = (size ? TS_SREG_NCTAID : TS_SREG_CTAID) + axis;
    ts_val pair[] = {thread_sreg(f, blocks), thread_sreg(f, TS_SREG_NTID + axis)};
    ts_val all = ts_emit(&f->b, TS_OP_mul_wide, TS_T_i64, 2, pair, TS_A_UNSIGNED, 0);
    if (size)
        return all;
    ts_val tid = ts_cast(&f->b, TS_OP_exti, thread_sreg(f, TS_SREG_TID + axis), TS_T_i64, TS_A_UNSIGNED);
    return ts_op2(&f->b, TS_OP_addi, all, tid, 0);
}

ts_status fr_simt_grid(fr *f, const fr_call *c, fr_value *out)
{
    fr_value axes[3];
    int64_t n;
    if (!fr_is_int(&c->arg[0], &n))
        return fr_error(f, c->at[0], TS_TILETYPE, "%s(): RequireLiteralValue: 'ndim' must be an integer known at "
                        "compile time\n  found: %s", fr_op_name(c), fr_say(f, &c->arg[0]));
    if (n < 1 || n > 3)
        return fr_error(f, c->at[0], TS_TILEVALUE, "%s(%lld): a grid has 1, 2 or 3 axes", fr_op_name(c), (long long)n);
    for (uint32_t i = 0; i < n; i++)
        axes[i] = fr_tile(TS_DTYPE_int64, thread_axis(f, c->op->x != 0, i));
    if (n > 1)
        return fr_tuple(f, (uint32_t)n, axes, out);
    *out = axes[0];
    return TS_OK;
}

/* The argument itself: loops over tuples are unrolled, and literals are known, without these. */
ts_status fr_simt_literal(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *v = &c->arg[0];
    bool unrolls = c->op->x == FR_TUPLE;
    if (unrolls ? v->kind != FR_TUPLE && v->kind != FR_RANGE : v->kind == FR_TILE || v->kind == FR_ARRAY)
        return fr_arg_error(f, c, 0, unrolls ? "a tuple" : "known at compile time");
    *out = *v;
    return TS_OK;
}
