/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU target as the compiler calls it, and with its choices open, for tests and experiments: another processor,
 * other passes.
 */
#ifndef TS_TARGET_LLVM_EMIT_H
#define TS_TARGET_LLVM_EMIT_H

#include "target/llvm/llvm.h"
#include "ir/pass.h"
#include "runtime/entry.h"

/* The CPU target: `fn` after math and legalize -> an object file with an entry as runtime/entry.h says. */
TS_CHECKED ts_status ts__target_llvm(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err);

/* LLVM IR text of the entry, and the NUL-separated messages of its asserts (may be NULL). */
TS_CHECKED ts_status ts__llvm_text(const ts_fn *fn, ts_pass_env *env, const ts_llvm_host *host,
                                   ts_text *out, ts_text *messages, ts_error *err);
TS_CHECKED ts_status ts__llvm_target(ts_fn *fn, ts_pass_env *env, const ts_llvm_host *host,
                                     const ts_llvm_options *options,
                                     ts_code *code, ts_error *err);

/* Does the code generator itself have a case for this operation? */
bool ts__llvm_has_op(ts_op op);

#endif
