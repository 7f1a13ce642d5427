/* SPDX-License-Identifier: Apache-2.0
 *
 * Products that the thread blocks of a cluster make together (team.c).
 */
#ifndef TS_GPU_PLAN_TEAM_H
#define TS_GPU_PLAN_TEAM_H

#include "pass/pass.h"

/* Gives each of two or four blocks of a tile block a part of its products' rows or columns. Before ts__halve_run. */
TS_CHECKED ts_status ts__team_run(ts_fn *fn, ts_pass_env *env, ts_error *err);
/* The rank by which they take them; 0: the function is not for teams. */
ts_val ts__team_rank(const ts_fn *fn);

#endif
