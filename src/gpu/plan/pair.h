/* SPDX-License-Identifier: Apache-2.0
 *
 * Products that two thread blocks of a cluster make together (pair.c).
 */
#ifndef TS_GPU_PLAN_PAIR_H
#define TS_GPU_PLAN_PAIR_H

#include "pass/pass.h"

/* Gives each of the two blocks of a tile block half of its products' rows or columns. Before ts__halve_run. */
TS_CHECKED ts_status ts__pair_run(ts_fn *fn, ts_pass_env *env, ts_error *err);
/* The rank by which they take them; 0: the function is not for pairs. */
ts_val ts__pair_rank(const ts_fn *fn);

#endif
