/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX emitter: approximate powers of two beside matrix products. A multiprocessor's special function units give 16
 * results a clock. In attention of 64 columns that takes as long as the products, which wait for them; so a few of them
 * are computed by the units that add and multiply, as FlashAttention-4 does: 2^x = 2^n p(r), n = round(x), r = x - n,
 * p a polynomial within 2^-23 of 2^r, to whose exponent n is added.
 */
#include "target/ptx/emit.h"

enum {
    EXP2_EVERY = 8,    /* one of so many is computed by products and sums */
    EXP2_CLOCKS = 8,   /* of the special function units for one power of each thread of a warpgroup */
    EXP2_PER_CLOCK = 2 /* columns of a wgmma of 64 rows and 32 bytes along K */
};

typedef struct exp2_load {
    uint32_t powers, columns; /* of a loop, inner loops left out */
} exp2_load;

static bool exp2_is_power(const ts_inst *inst)
{
    return inst->op == TS_OP_exp2 && inst->type == TS_T_f32 && inst->aux & TS_A_FTZ &&
           TS_A_ROUND(inst->aux) == TS_APPROX;
}

/* Whether some loop has powers for three quarters of the time that its products take, or more. */
static bool exp2_hold_products(ts_ptx *e)
{
    exp2_load *loads = TS_NEW_N(&e->arena, exp2_load, e->fn->inst.n);
    if (!loads)
        return false;
    for (uint32_t v = 1; v < e->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(e->fn, v);
        exp2_load *load = &loads[ts__ptx_loop_of(e, v)];
        load->powers += exp2_is_power(inst);
        load->columns += inst->op == TS_OP_wgmma ? TS_MMA_N(inst->aux) : 0;
    }
    for (uint32_t v = 1; v < e->fn->inst.n; v++)
        if (loads[v].columns && 4 * EXP2_CLOCKS * loads[v].powers >= 3 * loads[v].columns / EXP2_PER_CLOCK)
            return true;
    return false;
}

bool ts__ptx_exp2_by_products(ts_ptx *e)
{
    if (!e->n_powers++)
        e->powers_hold_products = exp2_hold_products(e);
    return e->powers_hold_products && e->n_powers % EXP2_EVERY == 0;
}

void ts__ptx_exp2(ts_ptx *e, ts_reg x, ts_reg y)
{
    ts_reg n = ts__ptx_temp(e, TS_RC_F), r = ts__ptx_temp(e, TS_RC_F), p = ts__ptx_temp(e, TS_RC_F);
    ts_reg shifted = ts__ptx_temp(e, TS_RC_R), bits = ts__ptx_temp(e, TS_RC_R);
    PUT("max.NaN.f32 $r, $r, 0fC2FE0000;\nmin.NaN.f32 $r, $r, 0f43000000;\n", r, x, r, r); /* -127, 128 */
    PUT("add.rn.f32 $r, $r, 0f4B400000;\nmov.b32 $r, $r;\n", n, r, shifted, n);            /* 1.5 2^23: n in low bits */
    PUT("sub.rn.f32 $r, $r, 0f4B400000;\nsub.rn.f32 $r, $r, $r;\n", n, n, r, r, n);
    /* tools/minimax.py exp2_approx_f32 */
    PUT("fma.rn.f32 $r, $r, 0f3AADF3DA, 0f3C1E7577;\n", p, r);
    PUT("fma.rn.f32 $r, $r, $r, 0f3D635B64;\nfma.rn.f32 $r, $r, $r, 0f3E75FCDE;\n", p, p, r, p, p, r);
    PUT("fma.rn.f32 $r, $r, $r, 0f3F317215;\nfma.rn.f32 $r, $r, $r, 0f3F800000;\n", p, p, r, p, p, r);
    PUT("shl.b32 $r, $r, 23;\nmov.b32 $r, $r;\nadd.s32 $r, $r, $r;\nmov.b32 $r, $r;\n", shifted, shifted, bits, p, bits,
        bits, shifted, p, bits);
    PUT("fma.rn.ftz.f32 $r, $r, 0f00000000, $r;\n", y, r, p); /* results below normal ones become 0, NaN stays */
}
