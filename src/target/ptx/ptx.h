/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX text of thread-level functions. Inside the emitter: emit.h.
 */
#ifndef TS_TARGET_PTX_PTX_H
#define TS_TARGET_PTX_PTX_H

#include "ir/ir.h"
#include "tessera/compile.h"

/* Thread-level function -> PTX text for plan->target. Adds to `text`. */
TS_CHECKED ts_status ts__ptx_emit(const ts_fn *fn, const ts_plan *plan, ts_text *text, ts_error *err);

/* The same as code: bytes that end in NUL. */
TS_CHECKED ts_status ts__target_ptx(const ts_fn *fn, const ts_plan *plan, ts_code *code, ts_error *err);

#endif
