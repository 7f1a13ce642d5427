/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU back end as the compiler calls it.
 */
#ifndef TS_GPU_GPU_H
#define TS_GPU_GPU_H

#include "ir/pass.h"

/* Tile IR after math and legalize -> thread IR, with the launch plan and the messages of env filled in. */
TS_CHECKED ts_status ts__gpu_lower(ts_fn *fn, ts_pass_env *env, ts_error *err);

#endif
