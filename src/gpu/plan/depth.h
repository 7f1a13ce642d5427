/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops over k in steps too long for a ring of stages (depth.c).
 */
#ifndef TS_GPU_PLAN_DEPTH_H
#define TS_GPU_PLAN_DEPTH_H

#include "pass/pass.h"

/* Shortens the steps of a product's loop where that gives its ring more stages. Before ts__walk_run. */
TS_CHECKED ts_status ts__depth_run(ts_fn *fn, ts_pass_env *env, ts_error *err);

#endif
