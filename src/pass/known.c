/* SPDX-License-Identifier: Apache-2.0
 *
 * What facts decide: integers that can only be one number become constants, and selections by such a condition their
 * operand. Indices of arrays are the use: Python's may be negative, and a kernel seldom has such.
 *
 *     %4 = cmpi lt 0, %1 : i1                      %4 = cmpi lt 0, %1 : i1
 *     if %4 {                                      if %4 {
 *       %5 = subi %1, 1 : i64                        %5 = subi %1, 1 : i64
 *       %6 = cmpi lt %5, 0 : i1             ->       %6 = constant false : i1
 *       %7 = select %6, %2, %5 : i64                 (uses of %7 are %5)
 *
 * Cost: the facts (facts.c), and one copy of the function.
 */
#include "pass/facts.h"
#include "pass/pass.h"

static bool known_number(const ts_fn *fn, const ts_facts *facts, ts_val v, int64_t *value)
{
    const ts_inst *inst = ts_at(fn, v);
    return inst->op != TS_OP_constant && ts_info(inst)->flags & TS_ELEM && ts_type_is_int(fn->module, inst->type) &&
           ts_fact_const(facts, v, value);
}

/* What stands for v in the new function; 0: a copy. */
static ts_val known_value(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    const ts_facts *facts = user;
    const ts_inst *inst = ts_at(fn, v);
    int64_t value;
    if (known_number(fn, facts, v, &value))
        return ts_int(b, inst->type, value);
    if (inst->op == TS_OP_select && ts_fact_const(facts, inst->opnd[0], &value))
        return map[inst->opnd[value ? 1 : 2]];
    return 0;
}

ts_status ts__pass_known(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_facts facts;
    if (!ts__facts_of(fn, env->scratch, &facts))
        return ts_fail(err, TS_NOMEM, "out of memory in pass known");
    return ts__rewrite(fn, env, "known", known_value, &facts, err);
}
