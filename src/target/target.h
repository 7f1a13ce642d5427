/* SPDX-License-Identifier: Apache-2.0
 *
 * A target turns verified, optimised tile IR into code with a launch plan.
 */
#ifndef TS_TARGET_TARGET_H
#define TS_TARGET_TARGET_H

#include "ir/ir.h"
#include "pass/pass.h"
#include "target/entry.h"
#include "tessera/compile.h"

/* CPU (src/target/llvm): `fn` after math and legalize; gives an object file with an entry as entry.h says. */
TS_CHECKED ts_status ts_target_llvm(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err);

/* GPU: tile IR -> layouts -> thread IR (src/target/ptx/lower*.c), then text (emit.c). */
TS_CHECKED ts_status ts_target_ptx(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err);
/* Thread-level function -> PTX text for plan->target. Adds to `text`. */
TS_CHECKED ts_status ts_ptx_emit(const ts_fn *fn, const ts_plan *plan, ts_text *text, ts_error *err);

#endif
