/* SPDX-License-Identifier: Apache-2.0
 *
 * What a loop surely comes to in its first trip: the instructions that it holds directly, before its first jump.
 *
 *     loop iter(%i = 0) : i32 {
 *       if cmpi lt %i, 64 { yield } else { break }      the first trip yields: 0 is below 64
 *       %a = ld nc n=1 %p : f32                         sure
 *       if %enough { break } else { yield }
 *       %b = ld nc n=1 %q : f32                         not sure
 *
 * A loop inside counts as one that ends. Cost: linear.
 */
#include "ir/scalar.h"
#include "pass/licm.h"

/* What the value is in the first trip of the loop, where that is a constant. */
static bool first_bits(const ts_fn *fn, ts_val loop, ts_val v, uint64_t *bits)
{
    const ts_inst *inst = ts_at(fn, v);
    if (inst->op == TS_OP_arg && v > loop && v <= loop + ts_at(fn, loop)->n_opnd && ts_at(fn, loop)->op == TS_OP_loop)
        v = ts_opnd(fn, loop, v - loop - 1);
    return ts__const_bits(fn, v, bits);
}

/* Is the condition decided in the first trip? */
static bool first_decides(const ts_fn *fn, ts_val loop, ts_val cond, uint64_t *taken)
{
    const ts_inst *inst = ts_at(fn, cond);
    uint64_t x[2];
    if (inst->op != TS_OP_cmpi)
        return first_bits(fn, loop, cond, taken);
    if (!first_bits(fn, loop, inst->opnd[0], &x[0]) || !first_bits(fn, loop, inst->opnd[1], &x[1]))
        return false;
    return ts__scalar_eval(fn->module, TS_OP_cmpi, inst->aux, ts_type_of(fn, inst->opnd[0]), TS_T_i1, x, taken);
}

/* Does a jump between the two instructions leave what the loop holds, or begin its next trip? */
static bool first_jumps(const ts_fn *fn, const ts_shape *shape, ts_val loop, ts_val from, ts_val to)
{
    for (ts_val v = from; v < to; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (!(ts_info(inst)->flags & TS_TERM) || inst->op == TS_OP_yield)
            continue;
        if (ts__term_target(fn, shape, v) <= loop)
            return true;
    }
    return false;
}

/* Does the first trip go on behind this region that the loop holds? */
static bool first_goes_on(const ts_fn *fn, const ts_shape *shape, ts_val loop, ts_val opener)
{
    uint64_t taken;
    ts_val from = opener, to = shape->end[opener], other = opener + 1;
    if (!first_jumps(fn, shape, loop, from, to))
        return true;
    if (ts_at(fn, opener)->op != TS_OP_if || !first_decides(fn, loop, ts_opnd(fn, opener, 0), &taken))
        return false;
    while (ts_at(fn, other)->op != TS_OP_else || shape->parent[other] != opener)
        other++;
    return taken & 1 ? !first_jumps(fn, shape, loop, from, other) : !first_jumps(fn, shape, loop, other, to);
}

void ts__first_trip(const ts_fn *fn, const ts_shape *shape, bool *sure)
{
    for (ts_val loop = 1; loop < fn->inst.n; loop++) {
        bool on = ts__is_loop(ts_at(fn, loop)->op);
        for (ts_val v = loop + 1; on && v < shape->end[loop]; v++) {
            sure[v] = true;
            if (!(ts_info(ts_at(fn, v))->flags & TS_REGION))
                continue;
            on = first_goes_on(fn, shape, loop, v);
            v = shape->end[v];
        }
    }
}
