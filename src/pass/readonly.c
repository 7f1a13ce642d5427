/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads of memory that the kernel only reads say so: a GPU takes them through its read-only path, and they may move
 * past stores and barriers, and out of loops.
 *
 *     %5 = ld n=1 %p : f32                    %5 = ld nc n=1 %p : f32
 *     st n=1 %q, %5                    ->     st n=1 %q, %5              %p and %q come from different parameters
 *
 * An array is what a parameter points to (alias.h). One that a store, an atomic or a copy may write stays as it is; so
 * do all, where the launch has found that arrays overlap, or the kernel writes to an address that cannot be followed.
 * Cost: linear.
 */
#include "pass/alias.h"
#include "pass/pass.h"

static bool readonly_is_global(const ts_fn *fn, ts_val pointer)
{
    const ts_type_info *type = ts_type_get(fn->module, ts_type_of(fn, pointer));
    return type && type->kind == TS_KIND_PTR && type->space == TS_GLOBAL;
}

/* The roots that are written; false: any may be. */
static bool readonly_written(const ts_alias *alias, bool *written)
{
    const ts_fn *fn = alias->fn;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_foreign || inst->op == TS_OP_asm) /* code of others does what it likes */
            return false;
        if (!(ts_info(inst)->flags & TS_WRITE) || !inst->n_opnd)
            continue;
        if (inst->op != TS_OP_st && inst->op != TS_OP_atom && inst->op != TS_OP_red)
            return false; /* copies of the asynchronous kinds: few kernels, and none that this is for */
        ts_val pointer = ts_opnd(fn, v, 0);
        if (!readonly_is_global(fn, pointer))
            continue;
        if (alias->root[pointer] == TS_ALIAS_UNKNOWN)
            return false;
        written[alias->root[pointer]] = true;
    }
    return true;
}

static bool readonly_may(const ts_alias *alias, const bool *written, ts_val v)
{
    const ts_fn *fn = alias->fn;
    const ts_inst *inst = ts_at(fn, v);
    if (inst->op != TS_OP_ld || TS_S_KIND(inst->aux) != TS_CACHE_NONE || !readonly_is_global(fn, ts_opnd(fn, v, 0)))
        return false;
    uint32_t root = alias->root[ts_opnd(fn, v, 0)];
    return root != TS_ALIAS_UNKNOWN && ts_at(fn, root)->op == TS_OP_param && !written[root];
}

ts_status ts__pass_readonly(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_alias alias;
    bool *written = TS_NEW_N(env->scratch, bool, fn->inst.n);
    if (!written || !ts__alias_of(fn, env->scratch, &alias))
        return ts_fail(err, TS_NOMEM, "out of memory in pass readonly");
    if (fn->overlap || !readonly_written(&alias, written))
        return TS_OK;
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (readonly_may(&alias, written, v)) {
            uint32_t aux = fn->inst.at[v].aux;
            fn->inst.at[v].aux = TS_S(TS_CACHE_NC, TS_S_NUMBER(aux), TS_S_EXTRA(aux));
        }
    return TS_OK;
}
