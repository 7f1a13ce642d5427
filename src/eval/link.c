/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that calls functions becomes one program before it runs: its instructions, then those of
 * every function it reaches, each once. No function calls itself, so one set of values for each is
 * enough and a call is a jump:
 *
 *     1 ..  9   the kernel             7  call [1] %2, %3      aux is the index in run->linked
 *    10 .. 11   params of @f           copied from the operands of the call
 *    12 .. 20   body of @f            20  return %15           copied to the `res`es of the call
 *
 * A kernel without calls is its own program.
 * Complex numbers are split into their parts on the way. Part of the interpreter, see eval/part.h.
 */
#include "eval/part.h"
#include "math/math.h"

/* Index of the function in run->linked, which it joins when it is new. */
static uint32_t link_index(eval_run *run, const ts_fn *fn)
{
    uint32_t i = 0;
    while (i < run->linked.n && run->linked.at[i].fn->name != fn->name)
        i++;
    if (i == run->linked.n)
        (void)TS_PUSH(&run->arena, &run->linked, ((eval_linked){fn, 0}));
    return i;
}

static bool link_in_pool(const ts_inst *inst)
{
    uint8_t attr = ts_info(inst)->attr;
    return attr == TS_ATTR_INTS || attr == TS_ATTR_REDUCE || attr == TS_ATTR_ASSUME || attr == TS_ATTR_ALLOCA;
}

static bool link_append(eval_run *run, ts_fn *program, const ts_fn *fn, ts_val base)
{
    ts_arena *arena = &run->arena;
    uint32_t pool = program->pool.n;
    if (!TS_RESERVE(arena, &program->pool, (uint64_t)pool + fn->pool.n))
        return false;
    if (fn->pool.n)
        memcpy(program->pool.at + pool, fn->pool.at, fn->pool.n * sizeof *fn->pool.at);
    program->pool.n += fn->pool.n;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        ts_inst inst = *ts_at(fn, v);
        const uint32_t *opnds = ts_opnds(fn, ts_at(fn, v));
        uint32_t list = program->pool.n;
        for (uint32_t i = 0; i < inst.n_opnd; i++)
            if (inst.n_opnd <= 3)
                inst.opnd[i] = opnds[i] + base;
            else if (!TS_PUSH(arena, &program->pool, opnds[i] + base))
                return false;
        if (inst.n_opnd > 3)
            inst.opnd[0] = list;
        if (link_in_pool(&inst))
            inst.aux += pool;
        if (inst.op == TS_OP_call)
            inst.aux = link_index(run, ts__fn_find(run->module, inst.aux));
        if (!TS_PUSH(arena, &program->inst, inst) || !TS_PUSH(arena, &program->loc, fn->loc.at[v]))
            return false;
    }
    return true;
}

/* Complex numbers as their parts: in the kernel and in all functions, so that calls still fit. */
static ts_status link_split(eval_run *run, const ts_fn *fn, const ts_fn **out)
{
    return ts__complex_expand(fn, &run->arena, out, run->err);
}

ts_status eval_link(eval_run *run)
{
    const ts_fn *fn = run->fn;
    if (!ts__has_op(fn, TS_OP_call))
        return link_split(run, fn, &run->fn);
    TS_TRY(ts_module_verify(run->module, run->err));
    ts_fn *program = TS_NEW(&run->arena, ts_fn);
    if (program) {
        *program = *fn;
        memset(&program->inst, 0, sizeof program->inst);
        memset(&program->loc, 0, sizeof program->loc);
        memset(&program->pool, 0, sizeof program->pool);
        (void)TS_PUSH(&run->arena, &program->inst, (ts_inst){.op = TS_OP_none});
        (void)TS_PUSH(&run->arena, &program->loc, 0);
        link_index(run, fn);
    }
    for (uint32_t i = 0; i < run->linked.n && !run->arena.failed; i++) {
        const ts_fn *part = run->linked.at[i].fn;
        TS_TRY(ts__math_expand(part, &run->arena, &part, run->err)); /* as was done with the kernel */
        TS_TRY(link_split(run, part, &part));
        run->linked.at[i] = (eval_linked){part, program->inst.n - 1};
        (void)link_append(run, program, part, run->linked.at[i].base);
    }
    run->fn = program;
    return run->arena.failed ? ts_fail(run->err, TS_NOMEM, "out of memory while evaluating") : TS_OK;
}

eval_linked eval_origin(const eval_run *run, ts_val at)
{
    eval_linked found = {run->fn, 0};
    for (uint32_t i = 0; i < run->linked.n; i++)
        if (run->linked.at[i].base < at || i == 0)
            found = run->linked.at[i];
    return found;
}
