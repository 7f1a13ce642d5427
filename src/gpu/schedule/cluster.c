/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels whose tile block is a cluster (num_ctas): when its thread blocks meet and part (lower/cluster.h).
 */
#include "gpu/schedule/schedule.h"
#include "gpu/lower/cluster.h"

/* Once, whatever way the region takes. */
static void cluster_region(ts_lower *lw, ts_val opener)
{
    ts_op op = (ts_op)ts_at(lw->tile, opener)->op;
    if (!lw->open.n && (op == TS_OP_for || op == TS_OP_loop || op == TS_OP_if))
        ts__cluster_meet(lw);
}

const ts_strategy ts__strategy_cluster = {
    .name = "cluster",
    .begin = ts__cluster_begin,
    .region = cluster_region,
    .leave = ts__cluster_leave,
    .barrier = ts__cluster_barrier,
};
