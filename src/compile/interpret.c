/* SPDX-License-Identifier: Apache-2.0
 *
 * A packed function run by the reference interpreter: what a kernel means, without any target. For
 * tests and tools; slow. Read next: front/front.h, ir/eval.h.
 */
#include "front/front.h"
#include "ir/eval.h"
#include "tessera/compile.h"

static ts_status interpret_module(const ts_module *module, const ts_interpret *run, ts_error *err)
{
    ts_eval_env env = {
        .print = run->print, .print_user = run->print_user, .max_steps = run->max_steps};
    TS_TRY(ts_verify_module(module, err));
    return ts_eval_grid(module->fns.at[0], run->params, run->n_params, run->grid, &env, err);
}

ts_status ts_interpret_pack(const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                            const ts_hints *hints, const ts_interpret *run, ts_error *err)
{
    ts_arena arena;
    ts_module *module = NULL;
    ts_arena_init(&arena, NULL);
    ts_status status = ts_front(&arena, pack, n_pack, spec, n_spec, hints, &module, err);
    if (status == TS_OK)
        status = interpret_module(module, run, err);
    ts_arena_deinit(&arena);
    return status;
}
