/* SPDX-License-Identifier: Apache-2.0 */
#include "pass/quick.h"

/* Root and half of its reciprocal from the approximate one; the remainder x - root^2 is exact. */
ts_val ts__quick_root(ts_builder *b, ts_val x)
{
    ts_val y = ts_op1(b, TS_OP_rsqrt, x, TS_APPROX | TS_A_FTZ), root = ts_op2(b, TS_OP_mulf, x, y, 0);
    ts_val rest = ts_op3(b, TS_OP_fma, ts_op1(b, TS_OP_negf, root, 0), root, x, 0);
    ts_val half = ts_op2(b, TS_OP_mulf, y, ts_float(b, TS_T_f32, 0.5), 0);
    return ts_op3(b, TS_OP_fma, rest, half, root, 0);
}

ts_val ts__quick_root_word(ts_builder *b, ts_val x)
{
    ts_val bits = ts_cast(b, TS_OP_bitcast, x, TS_T_i32, 0);
    return ts_op2(b, TS_OP_subi, bits, ts_int(b, TS_T_i32, 0x0D000000), 0);
}

ts_val ts__quick_inverse(ts_builder *b, ts_val x)
{
    ts_val one = ts_float(b, TS_T_f32, 1), y = ts_op2(b, TS_OP_divf, one, x, TS_APPROX | TS_A_FTZ);
    return ts_op3(b, TS_OP_fma, ts_op3(b, TS_OP_fma, ts_op1(b, TS_OP_negf, x, 0), y, one, 0), y, y, 0);
}

ts_val ts__quick_inverse_word(ts_builder *b, ts_val x)
{
    ts_val bits = ts_cast(b, TS_OP_bitcast, x, TS_T_i32, 0), twice = ts_op2(b, TS_OP_addi, bits, bits, 0);
    return ts_op2(b, TS_OP_subi, twice, ts_int(b, TS_T_i32, 0x01000000), 0);
}
