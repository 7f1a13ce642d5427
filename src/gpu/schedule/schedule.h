/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of strategies (schedule.def), for their own files: the number of each is the place of its state.
 */
#ifndef TS_GPU_SCHEDULE_SCHEDULE_H
#define TS_GPU_SCHEDULE_SCHEDULE_H

#include "gpu/lower/strategy.h"

typedef enum ts_strategy_id {
#define TS_STRATEGY(name, what) TS_STRATEGY_##name,
#include "gpu/schedule/schedule.def"
    TS_STRATEGY_COUNT
} ts_strategy_id;

#define TS_STRATEGY(name, what) extern const ts_strategy ts__strategy_##name;
#include "gpu/schedule/schedule.def"

/* The whole lowering with all of them: leaves `fn` at thread level and the plan filled. `messages` are the texts that
 * faults name. */
TS_CHECKED ts_status ts__lower_run(ts_fn *fn, ts_pass_env *env, ts_text *messages, ts_error *err);

#endif
