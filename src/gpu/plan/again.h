/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that go over the same memory in one loop after another (again.c).
 */
#ifndef TS_GPU_PLAN_AGAIN_H
#define TS_GPU_PLAN_AGAIN_H

#include "pass/pass.h"

/* Whether a tile function does; false, too, when memory is out. */
bool ts__again(const ts_fn *fn, ts_arena *scratch);
/* A loop that goes on where another one ended, as what several trips at once leave does. */
bool ts__again_goes_on(const ts_fn *fn, ts_val loop);

#endif
