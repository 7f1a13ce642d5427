/* SPDX-License-Identifier: Apache-2.0
 *
 * The lowering with all strategies of schedule.def.
 */
#include "gpu/schedule/schedule.h"

static const ts_strategy *const schedule_all[] = {
#define TS_STRATEGY(name, what) &ts__strategy_##name,
#include "gpu/schedule/schedule.def"
};

static const ts_strategies schedule_table = {TS_COUNT(schedule_all), schedule_all};

ts_status ts__lower_run(ts_fn *fn, ts_pass_env *env, ts_text *messages, ts_error *err)
{
    return ts__lower_with(fn, env, &schedule_table, messages, err);
}
