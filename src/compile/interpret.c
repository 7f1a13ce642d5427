/* SPDX-License-Identifier: Apache-2.0
 *
 * A packed function run by the reference interpreter: what a kernel means, without any target; or, for a
 * GPU target, what becomes of it: compiled, and its thread-level form run thread by thread as the launch would
 * start it. For tests and tools; slow. Read next: lang/front.h, eval/eval.h.
 */
#include "compile/compile.h"
#include "lang/front.h"
#include "eval/eval.h"

/* Blocks that a persistent kernel is started with: few, so that each takes several tile blocks. */
enum { INTERPRET_PERSISTENT = 2, INTERPRET_ADDED = 4 };

_Static_assert(sizeof(ts_interpret_range) == sizeof(ts_eval_range) &&
                   offsetof(ts_interpret_range, bytes) == offsetof(ts_eval_range, bytes),
               "the public name of a range of memory");

static ts_eval_env interpret_env(const ts_interpret *run)
{
    return (ts_eval_env){.print = run->print, .print_user = run->print_user, .max_steps = run->max_steps,
                         .check_races = run->target != 0, .schedule = run->schedule,
                         .ranges = (const ts_eval_range *)run->ranges, .n_ranges = run->n_ranges};
}

static ts_status interpret_tile(const ts_module *module, const ts_interpret *run, ts_error *err)
{
    ts_eval_env env = interpret_env(run);
    TS_TRY(ts_module_verify(module, err));
    return ts__eval_grid(module->fns.at[0], run->params, run->n_params, run->grid, &env, err);
}

/* The fault of checked code as an error. */
static ts_status interpret_fault(const ts_fault *fault, const ts_code *code, ts_error *err)
{
    const char *text = code->messages;
    for (uint32_t i = 0; text && i < fault->string; i++)
        text += strlen(text) + 1;
    return fault->code == TS_FAULT_NONE
               ? TS_OK
               : ts_fail(err, TS_LAUNCH, "line %u, block (%u, %u, %u): fault %u: %s", fault->line, fault->block[0],
                         fault->block[1], fault->block[2], fault->code, text ? text : "");
}

/* Parameters and grid as a launch of the plan gives them. */
static ts_status interpret_launch(const ts_fn *fn, const ts_code *code, const ts_interpret *run, ts_error *err)
{
    const ts_plan *plan = &code->plan;
    uint64_t params[TS_PLAN_PARAMS + INTERPRET_ADDED];
    uint32_t grid[3], n = plan->n_params;
    ts_fault fault = {0};
    ts_eval_env env = interpret_env(run);
    if (run->n_params != n)
        return ts_fail(err, TS_VALUE, "%zu parameters given; the kernel takes %u", run->n_params, n);
    memcpy(params, run->params, n * sizeof *params);
    memcpy(grid, run->grid, sizeof grid);
    if (plan->persistent) {
        for (uint32_t axis = 0; axis < 3; axis++)
            params[n++] = grid[axis];
        grid[0] = TS_MIN(grid[0] * grid[1] * grid[2], INTERPRET_PERSISTENT);
        grid[1] = grid[2] = 1;
    }
    if (plan->error_param)
        params[n++] = (uint64_t)(uintptr_t)&fault;
    grid[0] *= plan->cluster ? plan->cluster : 1;
    TS_TRY(ts__eval_simt(fn, plan, params, n, grid, &env, err));
    return interpret_fault(&fault, code, err);
}

static ts_status interpret_threads(ts_module *module, const ts_hints *hints, const ts_interpret *run, ts_error *err)
{
    ts_code code;
    TS_TRY(ts__compile_module(module, NULL, hints, (ts_target)run->target, NULL, NULL, &code, err));
    ts_status status = interpret_launch(module->fns.at[0], &code, run, err); /* lowered in place */
    ts_code_deinit(&code);
    return status;
}

ts_status ts_interpret_pack(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                            const ts_hints *hints, const ts_interpret *run, ts_error *err)
{
    ts_arena arena;
    ts_module *module = NULL;
    if (run->target == TS_TARGET_CPU)
        return ts_fail(err, TS_VALUE, "the interpreter runs tile level (target 0) or a GPU's threads, not CPU code");
    ts__arena_init(&arena, NULL);
    ts_status status = ts__front(&arena, pack, n_pack, spec, n_spec, hints, &module, err);
    if (status == TS_OK)
        status = run->target ? interpret_threads(module, hints, run, err) : interpret_tile(module, run, err);
    ts__arena_deinit(&arena);
    return status;
}
