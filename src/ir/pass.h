/* SPDX-License-Identifier: Apache-2.0
 *
 * What every pass is given. The passes and their order: pass/pass.h.
 */
#ifndef TS_IR_PASS_H
#define TS_IR_PASS_H

#include "ir/ir.h"
#include "tessera/compile.h"

typedef struct ts_pass_env {
    ts_arena *scratch;        /* rewound after each pass */
    ts_target target;
    const ts_hints *hints;
    ts_plan *plan;            /* what the launch must know; passes fill it */
} ts_pass_env;

typedef ts_status ts_pass_fn(ts_fn *fn, ts_pass_env *env, ts_error *err);

#endif
