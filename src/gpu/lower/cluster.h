/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread blocks that share a tile block, as lower.c and strategies see them: how they meet, and exchanges between them.
 */
#ifndef TS_GPU_LOWER_CLUSTER_H
#define TS_GPU_LOWER_CLUSTER_H

#include "gpu/layout/layout.h"
#include "ir/ir.h"

typedef struct ts_lower ts_lower;

/* What of it concerns the whole function. */
typedef struct ts_cluster {
    uint32_t bars; /* mbarriers of exchanges, in shared memory */
    bool apart;    /* at the cluster's barrier: arrived, not waited yet (all have started, or all have read a sum) */
    bool shares;   /* shared memory of other blocks is used between barriers of the cluster */
} ts_cluster;

/* The first code of a kernel whose tile block is a cluster; all blocks have started after _meet. */
void ts__cluster_begin(ts_lower *lw);
void ts__cluster_meet(ts_lower *lw);
void ts__cluster_leave(ts_lower *lw);
/* A barrier of the whole cluster; false where the tile block is one thread block. */
bool ts__cluster_barrier(ts_lower *lw);
/* Arrives at the cluster's barrier; the next _meet waits for it. */
void ts__cluster_arrive(ts_lower *lw);

/* An exchange of `bytes` for instruction `v`: begin; write to and read from _memory within the thread block; _expect,
 * which is a barrier of it; _send; _wait; read from _memory what all have sent. */
typedef struct ts_exchange {
    uint32_t site, at;            /* number of the exchange; its shared memory */
    ts_val bar, parity;
    ts_val turn, offset;          /* in a loop: how often it has run; bytes to the memory of this turn. Else 0 */
} ts_exchange;
ts_exchange ts__exchange_begin(ts_lower *lw, ts_val v, uint32_t bytes);
ts_val ts__exchange_memory(ts_lower *lw, const ts_exchange *x, ts_type elem, uint32_t offset);
void ts__exchange_expect(ts_lower *lw, const ts_exchange *x, uint32_t bytes);
/* Stores 32 or 64 bits at the place `at` of _memory, in all blocks: once for threads that differ in the lane and warp
 * bits `same` only, which hold the same; a lane for each block where there are enough of them. */
void ts__exchange_send(ts_lower *lw, const ts_exchange *x, ts_val at, ts_val value, ts_place same);
void ts__exchange_wait(ts_lower *lw, const ts_exchange *x);

#endif
