/* SPDX-License-Identifier: Apache-2.0
 *
 * A packed function, or IR text, run by the reference interpreter: what a kernel means, without any target; or, for a
 * GPU target, what becomes of it: compiled, and its thread-level form run thread by thread as the launch would
 * start it. For tests and tools; slow. Read next: lang/front.h, eval/eval.h.
 */
#include "compile/compile.h"
#include "lang/front.h"
#include "eval/eval.h"
#include <stdio.h>

/* Blocks that a persistent kernel is started with: few, so that each takes several tile blocks. */
enum { INTERPRET_PERSISTENT = 2, INTERPRET_ADDED = 5 };

_Static_assert(sizeof(ts_interpret_range) == sizeof(ts_eval_range) &&
                   offsetof(ts_interpret_range, bytes) == offsetof(ts_eval_range, bytes),
               "the public name of a range of memory");

static ts_eval_env interpret_env(const ts_interpret *run, ts_level level)
{
    ts_eval_env env = {.print = run->print, .print_user = run->print_user, .max_steps = run->max_steps,
                       .check_races = level == TS_LEVEL_S, .schedule = run->schedule,
                       .ranges = (const ts_eval_range *)run->ranges, .n_ranges = run->n_ranges,
                       .dynamic_bytes = run->shared_bytes};
    memcpy(env.block_threads, run->block, sizeof env.block_threads);
    memcpy(env.cluster, run->cluster, sizeof env.cluster);
    return env;
}

/* As it is written. */
static ts_status interpret_plain(const ts_module *module, const ts_fn *fn, const ts_interpret *run, ts_error *err)
{
    TS_TRY(ts_module_verify(module, err));
    ts_eval_env env = interpret_env(run, (ts_level)fn->level);
    if (fn->level != TS_LEVEL_S)
        return ts__eval_grid(fn, run->params, run->n_params, run->grid, &env, err);
    ts_plan *plan = ts__arena_get(module->arena, sizeof *plan);
    if (!plan)
        return ts_fail(err, TS_NOMEM, "out of memory while evaluating");
    memset(plan, 0, sizeof *plan);
    return ts__eval_simt(fn, plan, run->params, run->n_params, run->grid, &env, err);
}

/* The fault of checked code as an error. */
static ts_status interpret_fault(const ts_fault *fault, const ts_code *code, ts_error *err)
{
    const char *text = code->messages;
    char thread[64] = "";
    for (uint32_t i = 0; text && i < fault->string; i++)
        text += strlen(text) + 1;
    if (fault->has_thread)
        snprintf(thread, sizeof thread, ", thread (%u, %u, %u)", fault->thread[0], fault->thread[1], fault->thread[2]);
    return fault->code == TS_FAULT_NONE
               ? TS_OK
               : ts_fail(err, TS_LAUNCH, "line %u, block (%u, %u, %u)%s: fault %u: %s", fault->line, fault->block[0],
                         fault->block[1], fault->block[2], thread, fault->code, text ? text : "");
}

/* Parameters and grid as a launch of the plan gives them. */
static ts_status interpret_launch(const ts_fn *fn, const ts_code *code, const ts_interpret *run, ts_error *err)
{
    const ts_plan *plan = &code->plan;
    uint64_t params[TS_PLAN_PARAMS + INTERPRET_ADDED];
    uint32_t grid[3], n = plan->n_params;
    ts_fault fault = {0};
    uint64_t counter = 0;
    ts_eval_env env = interpret_env(run, TS_LEVEL_S);
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
    if (plan->cooperative)
        params[n++] = (uint64_t)(uintptr_t)&counter;
    if (plan->error_param)
        params[n++] = (uint64_t)(uintptr_t)&fault;
    grid[0] *= plan->cluster ? plan->cluster : 1;
    TS_TRY(ts__eval_simt(fn, plan, params, n, grid, &env, err));
    return interpret_fault(&fault, code, err);
}

static ts_status interpret_compiled(ts_module *module, ts_fn *fn, const ts_hints *hints, const ts_interpret *run,
                                    ts_error *err)
{
    ts_code code;
    const char *entry = ts_str_get(module, fn->name);
    ts_spec block = {.kind = TS_SPEC_BLOCK, .index_bits = 32, .value = run->shared_bytes};
    for (uint32_t i = 0; i < 3; i++) {
        block.dims[i] = run->block[i];
        block.index_bits = run->grid[i] > TS_FEW_BLOCKS ? 64 : block.index_bits;
    }
    bool has_block = run->block[0] != 0;
    TS_TRY(ts__compile_module(module, entry, hints, (ts_target)run->target, has_block ? &block : NULL, NULL, NULL,
                              &code, err));
    ts_eval_env env = interpret_env(run, TS_LEVEL_T);
    ts_status status = run->target == TS_TARGET_CPU /* lowered in place */
                           ? ts__eval_grid(fn, run->params, run->n_params, run->grid, &env, err)
                           : interpret_launch(fn, &code, run, err);
    ts_code_deinit(&code);
    return status;
}

static ts_status interpret_module(ts_module *module, const char *entry, const ts_hints *hints, const ts_interpret *run,
                                  ts_error *err)
{
    ts_fn *fn;
    TS_TRY(ts__compile_entry(module, entry, &fn, err));
    if (run->target == TS_TARGET_CPU && fn->level != TS_LEVEL_S)
        return ts_fail(err, TS_VALUE, "the interpreter runs a kernel of tiles as it is written (target 0) or the "
                       "threads of a GPU, not CPU code");
    return run->target ? interpret_compiled(module, fn, hints, run, err) : interpret_plain(module, fn, run, err);
}

ts_status ts_interpret_pack(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                            const ts_hints *hints, const ts_interpret *run, ts_error *err)
{
    TS_NEED(err, run);
    TS_NEED_N(err, pack, n_pack);
    TS_NEED_N(err, spec, n_spec);
    ts_arena arena;
    ts_module *module = NULL;
    ts__arena_init(&arena, NULL);
    ts_status status = ts__front(&arena, &(ts_source){.bytes = pack, .n = n_pack}, spec, n_spec, hints, &module,
                                 err);
    if (status == TS_OK)
        status = interpret_module(module, NULL, hints, run, err);
    ts__arena_deinit(&arena);
    return status;
}

ts_status ts_interpret_text(const char *text, size_t n, const char *entry, const ts_interpret *run, ts_error *err)
{
    TS_NEED(err, run);
    TS_NEED_N(err, text, n);
    ts_arena arena;
    ts_module *module = NULL;
    ts__arena_init(&arena, NULL);
    ts_status status = ts__module_read(&arena, text, n, &module, err);
    if (status == TS_OK)
        status = ts_module_verify(module, err);
    if (status == TS_OK)
        status = interpret_module(module, entry, NULL, run, err);
    ts__arena_deinit(&arena);
    return status;
}

/* ---- threads that are watched -------------------------------------------------------------------------------- */

static void watched_texts(const ts_module *module, const ts_eval_env *env, const ts_watched *job)
{
    const char *texts[] = {"", env->fault_text, ts_str_get(module, env->fault_place->file),
                           ts_str_get(module, env->fault_place->function)};
    for (size_t i = 0; i < TS_COUNT(texts); i++)
        ts__text_put(job->messages, texts[i], strlen(texts[i]) + 1);
    job->fault->string = 1;
    job->fault->file = 2;
    job->fault->function = 3;
}

static ts_status watched_module(ts_module *module, const ts_watched *job, ts_error *err)
{
    ts_fn *fn;
    ts_plan *plan = TS_NEW(module->arena, ts_plan);
    ts_eval_env env = interpret_env(job->run, TS_LEVEL_S);
    env.check_races = false;
    env.check_threads = true;
    env.fault = job->fault;
    env.ends = job->ends;
    if (!plan)
        return ts_fail(err, TS_NOMEM, "out of memory while evaluating");
    TS_TRY(ts_module_verify(module, err));
    TS_TRY(ts__compile_entry(module, NULL, &fn, err));
    ts_status status = ts__eval_simt(fn, plan, job->run->params, job->run->n_params, job->run->grid, &env, err);
    if (job->fault->code)
        watched_texts(module, &env, job);
    return status;
}

ts_status ts__interpret_watched(const ts_watched *job, ts_error *err)
{
    ts_arena arena;
    ts_module *module = NULL;
    size_t n = job->n_spec;
    (void)ts__compile_block(job->spec, &n);
    ts__arena_init(&arena, NULL);
    ts_status status = ts__compile_lower(&arena, job->source, job->spec, n, job->hints, &module, err);
    if (status == TS_OK)
        status = watched_module(module, job, err);
    ts__arena_deinit(&arena);
    return status;
}
