/* SPDX-License-Identifier: Apache-2.0
 *
 * Products whose results no block has registers for (halve.c).
 */
#ifndef TS_GPU_PLAN_HALVE_H
#define TS_GPU_PLAN_HALVE_H

#include "pass/pass.h"

/* Makes such a result in parts, one after the other. Before ts__depth_run. */
TS_CHECKED ts_status ts__halve_run(ts_fn *fn, ts_pass_env *env, ts_error *err);

#endif
