/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile IR -> thread IR: the state of one lowering, which every file of gpu/lower and gpu/schedule shares.
 *
 *     facts ─▶ plan/assign.c (layouts) ─▶ lower.c walks the tile function once and calls, by operation (op.h),
 *         elem.c        elementwise, constants, iota, broadcast, reshape, permute, cat, cold
 *         convert.c     moves between layouts (planned by layout/move.c), extract, insert, pack, unpack
 *         view_access.c loads and stores through views            ptr.c    pointers, atomics
 *         nibble.c      elements of 4 bits                        misc.c   assert, print, alloca, ...
 *         reduce.c      reduce                                    scan.c   scan
 *         mma.c         products by mma.sync                      fma.c    products by fma
 *     and asks the strategies of schedule/ at the places that strategy.h draws
 *     ─▶ dce licm at thread level (gpu.c) ─▶ emit.c
 *
 * What they all use stands by topic, each with its part of the state:
 *
 *     value.h    tile values in registers, scopes             code.h     short sequences of instructions
 *     shared.h   shared memory                                convert.h  changes of layout, tiles in shared memory
 *     order.h    barriers between accesses of threads         cluster.h  thread blocks that share a tile block
 *
 * A tile value of layout L is an array of 2^L.n_reg thread values, one for each register number; entries
 * whose register bit has a zero column repeat others. A scalar (rank 0) is one thread value that is the
 * same in every thread, so control flow of the tile function is uniform over the block and barriers may
 * stand anywhere in it.
 *
 * To lower an operation in another way where that is better: a strategy (strategy.h, schedule/schedule.def). It reads
 * operands with ts__lower_get / ts__lower_scalar, gives results with ts__lower_set, takes memory from ts__shared_*.
 * To take over a whole loop: its `loop` hook lowers it and returns the last instruction handled (its last `res`).
 */
#ifndef TS_GPU_LOWER_LOWER_H
#define TS_GPU_LOWER_LOWER_H

#include "gpu/lower/cluster.h"
#include "gpu/lower/order.h"
#include "gpu/lower/shared.h"
#include "gpu/lower/value.h"
#include "gpu/plan/assign.h"
#include "ir/note.h"
#include "pass/facts.h"
#include "pass/pass.h"

/* An open region of the output and the tile-level opener it came from. */
typedef struct ts_open {
    ts_val tile, opener;
} ts_open;

/* What a fault reports (misc.c). */
typedef struct ts_faults {
    ts_val record;     /* pointer to the fault record, 0: the function cannot fault */
    ts_text messages;  /* NUL-separated */
} ts_faults;

/* An operand of a product that stays in shared memory for the next one (mma.c). */
typedef struct ts_kept {
    ts_val x;
    const ts_linear *from;
    uint32_t offset[TS_LAYOUT_BITS], at, bytes;
} ts_kept;

typedef struct ts_lower {
    const ts_fn *tile; /* from */
    ts_fn *fn;         /* to */
    ts_module *module;
    ts_arena *arena;   /* scratch of this lowering */
    ts_pass_env *env;
    ts_error *err;
    ts_status status;  /* first failure, sticky */
    ts_builder b;      /* of `fn` */
    ts_shape shape;    /* of `tile` */
    ts_facts facts;    /* of `tile` */
    ts_assign assign;  /* layouts of `tile` */
    ts_val tid;        /* index of the thread in the tile block, i32 */
    TS_VEC(ts_open) open;
    ts_values values;
    ts_shared shared;
    ts_access_order order;
    ts_cluster cluster;
    ts_faults faults;
    TS_VEC(ts_kept) kept;
    const struct ts_strategies *strategies; /* strategy.h */
    void **state;                           /* of each of them */
} ts_lower;

/* Records the first failure, with the kernel's name and the line of tile value `v`. Returns false. */
bool ts__lower_fail(ts_lower *lw, ts_status status, ts_val v, const char *format, ...) TS_PRINTF(4, 5);
/* Lowers one instruction; returns the last one it handled. */
ts_val ts__lower_inst(ts_lower *lw, ts_val v);
/* True when tile-level operation `op` has a lowering. */
bool ts__lower_has(ts_op op);
/* The whole pass, with these strategies: leaves `fn` at thread level and the plan filled. `messages` are the texts that
 * faults name. */
TS_CHECKED ts_status ts__lower_with(ts_fn *fn, ts_pass_env *env, const struct ts_strategies *strategies,
                                    ts_text *messages, ts_error *err);

#endif
