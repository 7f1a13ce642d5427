/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `legalize`: rewrites operations that the target lacks, or does badly, in ones it has. The
 * meaning is that of ir/scalar.h, bit for bit.
 *
 *     %q = divi rounding<negative_inf> %x, 7        GPU: multiply by 2^34/7, high half, shift
 *     %y = addf rounding<zero> %a, %b : f32         CPU: in f64, rounded to odd, then towards zero
 *     %h = ftof %x : f32 -> f8E5M2                  sm_80: integer operations on the bits of %x
 *     %d = mmaf %a, %b, %c : f8E4M3FN               sm_80: the same on f16
 *
 * Cost: one walk. Runs after `math`; fold, dce and licm clean up after it. Read next: legalize.h.
 */
#include "pass/legalize.h"
#include "pass/facts.h"

static ts_legal_fn *legalize_find(ts_op op)
{
    static ts_legal_fn *const rows[TS_OP_COUNT] = {
        [TS_OP_divi] = ts__legal_divide, [TS_OP_remi] = ts__legal_divide,   [TS_OP_shli] = ts__legal_shift,
        [TS_OP_shri] = ts__legal_shift,  [TS_OP_addf] = ts__legal_arith,    [TS_OP_subf] = ts__legal_arith,
        [TS_OP_mulf] = ts__legal_arith,  [TS_OP_divf] = ts__legal_arith,    [TS_OP_sqrt] = ts__legal_arith,
        [TS_OP_fma] = ts__legal_arith,   [TS_OP_itof] = ts__legal_itof,     [TS_OP_ftof] = ts__legal_ftof,
        [TS_OP_ftoi] = ts__legal_ftoi,   [TS_OP_maxf] = ts__legal_extreme,  [TS_OP_minf] = ts__legal_extreme,
        [TS_OP_mmaf] = ts__legal_mmaf,   [TS_OP_mmaf_scaled] = ts__legal_mmaf_scaled,
    };
    return rows[op];
}

typedef struct legalize_walk {
    ts_builder b;
    const ts_fn *from;
    ts_target target;
    ts_val *map;
    ts_facts facts; /* empty when nobody needs them */
} legalize_walk;

/* Facts are for divisions on a GPU. */
static bool legalize_wants_facts(const ts_fn *fn, ts_target target)
{
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_divi || ts_at(fn, v)->op == TS_OP_remi)
            return target != TS_TARGET_CPU;
    return false;
}

/* The value in place of instruction v, or 0 when it stays. */
static ts_val legalize_rewrite(legalize_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    ts_legal_fn *fn = legalize_find((ts_op)inst->op);
    ts_val x[8];
    if (!fn || inst->n_opnd > TS_COUNT(x) || inst->n_opnd == 0)
        return 0;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        x[i] = w->map[ts_opnds(w->from, inst)[i]];
    ts_module *m = w->b.fn->module;
    uint32_t attr = ts_info(inst)->attr == TS_ATTR_ARITH ? inst->aux : 0;
    ts_legal l = {&w->b, w->target, inst, (ts_op)inst->op, inst->type, ts_type_elem(m, inst->type),
                  ts_type_elem(m, ts_type_of(w->b.fn, x[0])), x, inst->n_opnd, attr, {false, false}};
    for (uint32_t i = 0; w->facts.n && i < TS_MIN(inst->n_opnd, 2u); i++)
        l.not_negative[i] = w->facts.at[ts_opnds(w->from, inst)[i]].lo >= 0;
    return fn(&l);
}

ts_status ts__pass_legalize(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    legalize_walk w = {.from = fn, .target = env->target, .map = TS_NEW_N(env->scratch, ts_val, fn->inst.n)};
    ts_fn *to = ts__fn_create_like(fn);
    bool facts = !legalize_wants_facts(fn, env->target) || ts__facts_of(fn, env->scratch, &w.facts);
    if (!w.map || !to || !facts)
        return ts_fail(err, TS_NOMEM, "out of memory while legalizing a function");
    ts__builder_init(&w.b, to);
    w.b.fold = true;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        w.b.loc = fn->loc.at[v];
        w.map[v] = legalize_rewrite(&w, v);
        if (!w.map[v])
            w.map[v] = ts__copy(&w.b, fn, v, w.map);
    }
    TS_TRY(ts_builder_status(&w.b, err));
    ts__fn_replace(fn, to);
    return TS_OK;
}
