/* SPDX-License-Identifier: Apache-2.0
 *
 * Contraction: a product used once, by a sum or difference of the same rounding, joins it.
 *
 *     %4 = mulf %1, %2 : f32                        %5 = fma %1, %2, %3 : f32
 *     %5 = addf %4, %3 : f32              ->
 *     %5 = subf %4, %3                              %n = negf %3    %5 = fma %1, %2, %n
 *     %5 = subf %3, %4                              %n = negf %1    %5 = fma %n, %2, %3
 *
 * The tile language asks for it (mul and add are always contracted); it runs before `math`, whose
 * functions are written with the roundings they mean. Only round to nearest, flags equal and not `exact`. dce takes
 * the product away. Cost: one copy of the function.
 */
#include "pass/pass.h"

/* `v` is a product that only the instruction at hand uses, with its attributes. */
static bool fma_is_product(const ts_fn *fn, const ts_shape *shape, ts_val v, uint32_t attr)
{
    const ts_inst *inst = ts_at(fn, v);
    return inst->op == TS_OP_mulf && inst->aux == attr && shape->uses[v] == 1;
}

/* The fma for an addf or subf, or 0. */
static ts_val fma_contract(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    const ts_shape *shape = user;
    const ts_inst *inst = ts_at(fn, v);
    bool subtracts = inst->op == TS_OP_subf;
    if ((inst->op != TS_OP_addf && !subtracts) || TS_A_ROUND(inst->aux) != TS_RN || inst->aux & TS_A_EXACT)
        return 0;
    uint32_t which = fma_is_product(fn, shape, inst->opnd[0], inst->aux) ? 0 : 1;
    if (which == 1 && !fma_is_product(fn, shape, inst->opnd[1], inst->aux))
        return 0;
    const ts_inst *product = ts_at(fn, inst->opnd[which]);
    ts_val x = map[product->opnd[0]], y = map[product->opnd[1]], z = map[inst->opnd[1 - which]];
    if (subtracts && which == 0)
        z = ts_op1(b, TS_OP_negf, z, 0);
    else if (subtracts)
        x = ts_op1(b, TS_OP_negf, x, 0);
    return ts_op3(b, TS_OP_fma, x, y, z, inst->aux);
}

ts_status ts__pass_fma(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_shape shape;
    if (!ts__shape_of(fn, env->scratch, &shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass fma");
    return ts__rewrite(fn, env, "fma", fma_contract, &shape, err);
}
