/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU back end as the compiler calls it.
 */
#ifndef TS_GPU_GPU_H
#define TS_GPU_GPU_H

#include "ir/pass.h"

/* Tile IR after math and legalize -> PTX text in code->bytes, with the launch plan of env filled in. */
TS_CHECKED ts_status ts__target_ptx(ts_fn *fn, ts_pass_env *env, ts_code *code, ts_error *err);

#endif
