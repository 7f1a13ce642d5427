/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns of two warpgroups: named barriers at which the one waits until the other lets it issue its products.
 */
#ifndef TS_GPU_SCHEDULE_TURN_H
#define TS_GPU_SCHEDULE_TURN_H

#include "gpu/lower/code.h"

/* The barrier at which warpgroup `group` waits for its turn, and that of the other one. */
static inline ts_val ts_turn_of(ts_lower *lw, ts_val group)
{
    return ts__lower_add(lw, group, TS_BAR_TURN);
}

static inline ts_val ts_turn_of_other(ts_lower *lw, ts_val group)
{
    return ts_lower_op2(lw, TS_OP_subi, ts__lower_i32(lw, TS_BAR_TURN + 1), group);
}

/* bar_sync or bar_arrive of both there. */
static inline void ts_turn(ts_lower *lw, ts_op op, ts_val barrier)
{
    ts_assert(op == TS_OP_bar_sync || op == TS_OP_bar_arrive);
    ts_emit(&lw->b, op, TS_T_none, 1, &barrier, TS_S(0, 2 * TS_WARPGROUP, 0), 0);
}

#endif
