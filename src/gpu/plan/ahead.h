/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that load small tiles take several trips at once (ahead.c).
 */
#ifndef TS_GPU_PLAN_AHEAD_H
#define TS_GPU_PLAN_AHEAD_H

#include "pass/pass.h"

/* Rewrites such loops of a tile function. */
TS_CHECKED ts_status ts__ahead_run(ts_fn *fn, ts_pass_env *env, ts_error *err);
/* Marks in copied[value] the loads that are to be copied to shared memory a trip ahead, by blocks of so many threads.
 * False when memory is out. */
bool ts__ahead_copies(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, uint32_t threads, uint8_t *copied);

#endif
