/* SPDX-License-Identifier: Apache-2.0
 *
 * A target turns verified, optimised tile IR into code with a launch plan.
 */
#ifndef TS_TARGET_TARGET_H
#define TS_TARGET_TARGET_H

#include "ir/ir.h"
#include "pass/pass.h"
#include "tessera/compile.h"

/* CPU (src/target/llvm): `fn` after math and legalize. Gives an object file whose entry is
 *     void name(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
 *               void *scratch, const ts_cpu_env *env)
 * which runs the tile blocks begin <= linear id < end; id = x + grid.x * (y + grid.y * z). Parameters
 * are one 8-byte slot each (narrow values in the low bytes). scratch has plan.scratch_bytes, 64-byte
 * aligned, one per worker. Safe to call from several threads at once with distinct scratch. */
typedef struct ts_cpu_env {
    ts_fault *fault;                                    /* first fault wins (code is claimed by compare-exchange) */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
} ts_cpu_env;
typedef void ts_cpu_entry(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
                          void *scratch, const ts_cpu_env *env);
TS_CHECKED ts_status ts_target_llvm(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err);
/* Maps the object into executable memory and finds the entry; no LLVM needed. */
TS_CHECKED ts_status ts_object_load(const void *bytes, size_t n, const char *name, void **image,
                                    size_t *image_bytes, ts_cpu_entry **entry, ts_error *err);
void ts_object_unload(void *image, size_t image_bytes);

/* GPU: tile IR -> layouts -> thread IR (src/target/ptx/lower*.c), then text (emit.c). */
TS_CHECKED ts_status ts_target_ptx(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err);
/* Thread-level function -> PTX text for plan->target. Adds to `text`. */
TS_CHECKED ts_status ts_ptx_emit(const ts_fn *fn, const ts_plan *plan, ts_text *text, ts_error *err);

#endif
