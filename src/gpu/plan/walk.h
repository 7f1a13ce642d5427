/* SPDX-License-Identifier: Apache-2.0
 *
 * In which order thread blocks take the tile blocks of a kernel whose products run on wgmma (walk.c).
 */
#ifndef TS_GPU_PLAN_WALK_H
#define TS_GPU_PLAN_WALK_H

#include "pass/pass.h"

/* Rewrites the function where that makes it faster; sets env->plan->persistent where its blocks then walk over the
 * grid. Before ts__assign_run. */
TS_CHECKED ts_status ts__walk_run(ts_fn *fn, ts_pass_env *env, ts_error *err);

#endif
