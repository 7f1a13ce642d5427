/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the pass `lockstep` share; lockstep.c says what it does.
 *
 *     lockstep.c       the walk, elementwise operations, the special registers
 *     lockstep_vary.c  which values may differ between threads, and from which loops threads leave one by one
 *     lockstep_flow.c  if, loop, for, and the jumps out of them, under masks
 *     lockstep_split.c kernels with barriers: what stands between them, a warp at a time
 *     lockstep_mem.c   loads, stores, atomics; shared and local memory
 *     lockstep_warp.c  exchanges within a warp; bits
 *     lockstep_mma.c   products by the warp
 *
 * A mask is a tile of i1 with an element for each thread of the tile; the value 0 stands for "all threads".
 */
#ifndef TS_PASS_LOCKSTEP_H
#define TS_PASS_LOCKSTEP_H

#include "pass/pass.h"

enum { LOCK_WARP = 32, LOCK_MOST = 240 /* values that one region carries; operands are counted in 8 bits */ };

/* What lockstep_vary.c finds out. */
typedef struct lock_vary {
    uint8_t *vary;  /* [value] may differ between the threads of a tile */
    uint8_t *parts; /* [loop] threads leave it, or begin its next turn, one by one */
    uint8_t *jumps; /* [opener] holds a jump that leaves it: LOCK_ bits */
} lock_vary;
enum { LOCK_TURNS = 1 /* break or continue */, LOCK_RETURNS = 2 };

/* A loop of the source that is being written. */
typedef struct lock_loop {
    struct lock_loop *outer;
    ts_val opener;
    bool parts;
    uint32_t n_carried, n_results; /* of the source */
    /* parts: threads that go on; the carried values of the next turn; the results */
    ts_val again;
    bool any_again;
    ts_val *next, *result;
    ts_val shared_next; /* for: the next index, when it is the same in all threads */
} lock_loop;

/* Kernels with barriers, a warp at a time: lockstep_split.c. */
typedef struct lock_split {
    uint8_t *level;  /* [value] of the block, not of a warp; NULL: the kernel is not split */
    uint8_t *depth;  /* operations that make the value from what is there in all runs */
    uint8_t *block;  /* [value] may differ between threads of the block */
    uint32_t *run;   /* number of the run that the instruction is in; 0: of the block */
    uint32_t *stamp; /* when the value was made for another run than its own */
    ts_val *slot;    /* where it is kept between runs, of the result; 0 it is not */
    uint32_t now, n_tiles;
    bool in_run;
} lock_split;

typedef struct lockstep {
    const ts_fn *fn;
    ts_module *m;
    ts_pass_env *env;
    ts_arena *scratch;
    ts_error *err;
    ts_status status;
    ts_shape shape;
    ts_builder b;
    lock_vary is;
    ts_val *map; /* [value of the source] */

    uint32_t block[3], n_threads;
    int64_t width;  /* threads of the tile: a power of two */
    bool by_warp;   /* a loop over the warps of the block, one tile each */
    bool alone;     /* a block of one thread, which asks nothing of its warp: all values are scalars */
    ts_val first;   /* number in the block of the first thread of the tile: i32, 0 where it is 0 */
    ts_val number;  /* of each thread in the block: tile of i32 */
    ts_val shared;  /* all shared memory of the block, where its addresses are handled as numbers; else 0 */
    ts_val dynamic; /* its dynamic part: pointer to i8 */

    ts_val mask;    /* threads that are here */
    bool any;       /* at least one thread is here, for sure */
    bool gone;      /* no thread gets here: behind a jump */
    bool closed;    /* the region of the result has its terminator */
    bool twice;     /* this is written twice: for all threads, and under a mask */
    ts_val alive;   /* threads that have not returned */
    ts_val any_of, any_is; /* the mask that lock_any was asked of last, and its answer */
    lock_loop *loop;
    lock_split split;
} lockstep;

/* ---- lockstep_vary.c ---- */

/* False when memory is out. */
bool ts__lock_vary(lockstep *c);
/* Do threads that have not returned leave the loop, or begin its next turn, one by one? */
bool lock_turns_part(const lockstep *c, ts_val loop);

/* ---- lockstep_split.c ---- */

/* Decides whether a kernel with barriers goes a warp at a time, and is ts__lock_vary. False when memory is out. */
bool ts__lock_split(lockstep *c);
void lock_split_body(lockstep *c);

/* ---- lockstep.c ---- */

void lock_fail(lockstep *c, ts_val v, ts_status status, const char *format, ...) TS_PRINTF(4, 5);
/* Instructions from `from` up to, not including, `to`. */
void lock_walk(lockstep *c, ts_val from, ts_val to);
void lock_one(lockstep *c, ts_val v);
/* A loop over the warps of the block, or nothing where there is one tile: between them c is that of a warp. */
ts_val lock_tiles_begin(lockstep *c);
void lock_tiles_end(lockstep *c, ts_val opener);
ts_val lock_warp_number(lockstep *c);
/* Do the threads of a block wait for each other at it? For an mbarrier they do here: what has to arrive there has done
 * so when all have come. */
bool lock_is_barrier(const ts_inst *inst);
/* A barrier of all blocks: the device meets them. */
void lock_grid_sync(lockstep *c, ts_val v);
/* The type of the result: shared and local pointers are global ones; with `tile` one element for each thread. */
ts_type lock_type(const lockstep *c, ts_type type, bool tile);
ts_type lock_tile(const lockstep *c, ts_type elem); /* of an element type of the result */
/* Operand i of v as a tile, or as it is. */
ts_val lock_spread(lockstep *c, ts_val x);
ts_val lock_opnd(lockstep *c, ts_val v, uint32_t i);
ts_val lock_opnd_tile(lockstep *c, ts_val v, uint32_t i);
ts_val lock_value(lockstep *c, ts_val source, bool tile);
ts_val lock_zero(lockstep *c, ts_type type);
bool lock_is_tile(const lockstep *c, ts_val x); /* of the result */
void lock_set_results(lockstep *c, ts_val v, uint32_t n, const ts_val *values); /* the `res`es of v */
uint32_t lock_n_results(const lockstep *c, ts_val v);

/* ---- masks: lockstep_flow.c ---- */

ts_val lock_and(lockstep *c, ts_val x, ts_val y); /* of masks; 0 is all */
ts_val lock_not(lockstep *c, ts_val x);
ts_val lock_any(lockstep *c, ts_val mask); /* i1 scalar; 0: constant true */
/* Whether a thread is here, as i1; 0: surely. */
ts_val lock_some(lockstep *c);
void lock_if(lockstep *c, ts_val v);
void lock_for(lockstep *c, ts_val v);
void lock_jump(lockstep *c, ts_val v);
/* A reduction of a tile along its last axis by one operation; without the axis. */
ts_val lock_reduce(lockstep *c, ts_op op, uint32_t attr, uint64_t identity, ts_val x);

/* ---- lockstep_mem.c, lockstep_warp.c, lockstep_mma.c ---- */

/* Memory for the block's shared arrays: before anything else. */
void lock_shared_begin(lockstep *c);
/* A pointer to memory of the worker for one element of each thread. */
ts_val lock_scratch(lockstep *c, ts_type elem);
ts_val lock_memory_of(lockstep *c, ts_type elem, uint32_t n); /* a pointer to n elements */
ts_val lock_local_of(lockstep *c, ts_val v, uint32_t n);      /* to n copies of the memory of `local` v */
ts_val lock_offset(lockstep *c, ts_val p, ts_val index);
ts_val lock_load(lockstep *c, ts_val p, ts_val mask, ts_val pad, uint32_t mem); /* mask, pad: 0 none */
void lock_store(lockstep *c, ts_val p, ts_val value, ts_val mask, uint32_t mem);
ts_val lock_lane(lockstep *c); /* of each thread: tile of i32 */
/* Is v, of the source, a scalar and `stride` times the number of the thread in its warp? */
bool lock_affine(lockstep *c, ts_val v, ts_val *base, int64_t *stride);

/* Thread after thread of those in the mask (0: all): a loop, and the branch to close where it is not 0; *at is the
 * number in the tile. Element `at` of a tile is a scalar. */
ts_val lock_each_begin(lockstep *c, ts_val mask, ts_val *at, ts_val *branch);
void lock_each_end(lockstep *c, ts_val opener, ts_val branch);
ts_val lock_element(lockstep *c, ts_val x, ts_val at);
/* The value that thread `lane` (0 to 31) of the same warp has. */
ts_val lock_of_lane(lockstep *c, ts_val x, ts_val lane);
/* Two values side by side, as pack2. */
ts_val lock_join(lockstep *c, ts_val low, ts_val high, ts_type to);

bool lock_memory(lockstep *c, ts_val v); /* false: not one of theirs */
bool lock_warp(lockstep *c, ts_val v);
bool lock_mma(lockstep *c, ts_val v);

#endif
