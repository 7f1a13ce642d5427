/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU back end: tile IR after math and legalize -> thread IR, with the launch plan filled in. What follows is in
 * compile/pipeline.def: passes at thread level, then text (target/ptx).
 *
 *     layout/     who holds which element of a tile
 *     plan/       what is decided before code is written: a layout for every tile, the tensor-core path, tensor maps,
 *                 rings, waits
 *     lower/      the walk that writes thread code
 *     schedule/   what runs beside what: pipelines, the producer warp, rotated loops, ping-pong, clusters; each is
 *                 a strategy with hooks that the walk calls (lower/strategy.h), one row of schedule.def
 *
 * Read next: lower/lower.h, layout/layout.h.
 */
#include "gpu/gpu.h"
#include "gpu/plan/ahead.h"
#include "gpu/plan/depth.h"
#include "gpu/plan/halve.h"
#include "gpu/plan/team.h"
#include "gpu/plan/walk.h"
#include "gpu/schedule/schedule.h"

ts_status ts__gpu_lower(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    TS_TRY(ts__team_run(fn, env, err));
    TS_TRY(ts__halve_run(fn, env, err));
    TS_TRY(ts__depth_run(fn, env, err));
    TS_TRY(ts__walk_run(fn, env, err));
    TS_TRY(ts__ahead_run(fn, env, err));
    return ts__lower_run(fn, env, env->messages, err);
}
