/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensor-core path of sm_90a: matrix products by wgmma, their operands brought into swizzled shared
 * memory by TMA, loads running ahead of the products.
 *
 *     tma.c            before layout assignment: which products and loads take this path, by the steps of tma_plan.h
 *     tma_map.c        tensor maps
 *     schedule/producer.c   rings of stages, barriers, the producer warp, the carried step counters
 *     schedule/clip.c       tiles with more rows than their array
 *     depth.c          loops over k in steps too long for a ring
 *     team.c           blocks of a cluster that make a part of the results each
 *     walk.c           which tile blocks a thread block takes; resident.c: thread blocks of a multiprocessor
 *     copied.c         what TMA cannot bring: cp.async of all threads fills the ring instead of the producer
 *     tma_join.c       products side by side that become one instruction
 *     rotate_plan.c    loops of two chained products whose steps overlap; rotate.c lowers them
 *     pingpong.c          persistent loops whose tiles two consumer warpgroups take in turn
 *     wgmma.c          descriptors, the product itself, waiting and releasing
 *     schedule/split_k.c      a loop over k shared by the blocks of a cluster
 *     tma_store.c      the finished tile back to memory
 *
 * A block has 4 or 8 consumer warps, which run the tile function as everywhere else (lower.c), and one
 * producer warpgroup, of which one thread runs a slice of it: the loops that hold TMA loads and the
 * scalars that those need. Loads of one loop that feed the same product form a group; a group owns a ring
 * of stages with a `full` and an `empty` mbarrier each:
 *
 *     producer  count = 0                         consumer  count = 0
 *     loop      wait empty[s], parity ^ 1         loop      wait full[s], parity
 *               expect bytes on full[s]                     wgmma .. commit
 *               TMA .. -> full[s]                           wait for the product before; arrive empty[s - 1]
 *               count + 1                                   count + 1
 *
 * with s = count mod stages and parity = count / stages mod 2. The counters are carried by all loops
 * around the loads, so a loop over tiles around the loop over k goes on where it stopped. Loops over tiles one after
 * the other share a ring and its counter. Invariant: `full` has one arrival and the bytes of its copies, `empty` one
 * arrival of every consumer warp that works on a tile; a consumer waits for `full` of a step before it reads the stage,
 * and arrives at `empty` only after the wait for the last product that reads it.
 *
 * Where the blocks of a cluster make a part of the results each (team.c), each brings a part of the operand that all
 * read to all: `full` of each counts the bytes that come from all, and `empty` the arrivals of the consumers of all.
 *
 * Named barriers: 0 all threads, or all consumers; TS_BAR_WARPGROUP + i warpgroup i of the consumers; TS_BAR_TURN + i
 * it is the turn of warpgroup i to issue its products (rotated loops, ping-pong).
 */
#ifndef TS_GPU_PLAN_TMA_H
#define TS_GPU_PLAN_TMA_H

#include "ir/ir.h"
#include "pass/pass.h"
#include "gpu/layout/layout.h"

enum { TS_BAR_WARPGROUP = 1, TS_BAR_TURN = 3 };
/* Threads of a warpgroup; columns of a wgmma: at most, and the fewest (PTX ISA 9.0, wgmma.mma_async). */
enum { TS_WARPGROUP = 128, TS_WGMMA_COLUMNS = 256, TS_WGMMA_COLUMNS_LEAST = 8 };
/* Limits of the hardware (PTX ISA 9.0, tensors): rows of a box; bytes of the widest swizzle and of the narrowest, the
 * rows after which a swizzle repeats, and the alignment that the widest one needs; its number in a map. */
enum { TS_TMA_BOX = 256, TS_TMA_SPAN = 128, TS_TMA_SPAN_LEAST = 32, TS_TMA_ROWS_LEAST = 8, TS_TMA_ALIGN = 1024,
       TS_TMA_WIDEST = 3 };

/* One load of a tile of two extents > 1: `inner` lies side by side in memory, `rows` are the other. In
 * shared memory: panels of `span` bytes of the inner axis, row r of a panel at r * span, 16-byte chunks XORed with
 * the row as TMA's swizzle does. */
typedef struct ts_tma_load {
    ts_val load;
    uint32_t tmap;
    uint32_t inner_axis, rows_axis; /* of the tile */
    uint32_t inner, rows, elem_bytes;
    uint32_t span, bytes;           /* swizzle width (128, 64 or 32); whole tile */
    uint32_t group, offset;         /* offset in a stage */
    bool by_consumers;                  /* by the consumers: `load` is what they computed, no map, no producer */
    uint32_t rows_dim;              /* of the tensor map */
    bool shared, by_rows;           /* the blocks of a team bring a part each, for all: panels, or rows of each */
    ts_val rows_here;               /* thread value: rows that a copy brings, when clipped (schedule/clip.c) */
    uint32_t slice_axis;            /* of the array, when the view is of a slice; */
    ts_val start, extent;           /* its first row and its rows, tile values; 0 = no slice */
} ts_tma_load;

/* A tile of one row, as it lies in memory: consumers read it themselves. */
static inline bool ts_tma_is_vector(const ts_tma_load *load)
{
    return load->inner_axis == load->rows_axis;
}

typedef struct ts_tma_group {
    ts_val loop;        /* the `for` directly around the loads, 0 = none */
    uint32_t at;        /* index of its ts_tma_loop, TS_NO when none */
    uint32_t bytes, stages;
    uint32_t base, full, empty; /* offsets in shared memory: stages, barriers */
    ts_val first, last; /* first and last product that reads it */
    bool waits_next_step;       /* the last one is waited for a step late: stages are released a step late */
    ts_val arriving;    /* thread value: bytes that fill a stage */
    ts_val within;      /* the `for` in `loop` that holds the products: awaited where loaded, released behind it */
    ts_val stage;       /* copied: thread value, which one this step reads (schedule/cp_async.c) */
} ts_tma_group;

/* A loop that holds groups; the steps its groups have taken, going on from the loop before where there is one ring. */
typedef struct ts_tma_loop {
    ts_val opener;
    ts_val count, start; /* thread values: now, and on entry */
} ts_tma_loop;

/* One product. Operand a may come from registers; b is always in shared memory. */
typedef struct ts_wgmma {
    ts_val mma;
    uint8_t row;             /* ts_mma */
    uint32_t a, b;           /* loads; a = TS_NO: registers */
    bool trans_a, trans_b;   /* MN-major */
    bool waits_next_step, zero;       /* accumulates in place over a loop; starts from zero */
    bool deferred;           /* only the next trip reads it, behind another product's wait: has none itself */
    bool lazy;               /* is waited for where its result is first read */
    ts_val with;             /* the product in whose instructions it is issued (tma_join.c); 0: in its own */
    uint32_t flying;         /* while lowering a lazy one that is not waited for yet: its number of commits; else 0 */
} ts_wgmma;

typedef struct ts_tma {
    TS_VEC(ts_tma_load) loads;
    TS_VEC(ts_tma_group) groups;
    TS_VEC(ts_tma_loop) loops;
    TS_VEC(ts_wgmma) products;
    TS_VEC(ts_val) rotated; /* loops; phase: ts_phase of each value in them (rotate.h) */
    uint8_t *phase;
    uint8_t *slice;   /* [value] the producer needs it */
    uint32_t n_warp;  /* log2 of consumer warps that work on a tile */
    bool one_ring;    /* all groups, of loops one after the other, use the stages and barriers of the first */
    bool pingpong;    /* two groups of as many warps take tiles in turn (pingpong.c) */
    uint32_t commits; /* groups of products that were issued so far in the order of the code */
    uint32_t blocks;  /* thread blocks that a multiprocessor holds at once (resident.h) */
    uint32_t shared;  /* bytes of all stages, the staging and barriers */
    uint32_t staging, staging_bytes; /* behind the stages: for stores inside loops */
    ts_val split, sum; /* loop whose trips 2^log_split blocks share, 0 = none; its result, */
    const ts_linear *share; /* dealt out to them */
    uint32_t log_split;
    ts_val rank;      /* of a block of a team whose blocks make a part of the results each (team.c), 0 = none; */
    uint32_t team;    /* how many they are, else 1: so many read what each of them fills */
    bool active, staged; /* staged: the function has stores through the staging */
    bool copied;         /* all threads bring the operands by cp.async (copied.c): no producer, no tensor maps */
} ts_tma;

/* Decides for the function. Never fails for lack of fitting: then nothing is active. Tensor maps go to env->plan. */
TS_CHECKED ts_status ts__tma_plan(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_tma *out, ts_error *err);
/* The same for a function that may not be taken: nothing of it stays in env->plan or in the notes, which are those of
 * the plan that is taken. */
TS_CHECKED ts_status ts__tma_try(const ts_fn *fn, ts_pass_env *env, ts_tma *out, ts_error *err);
/* Whether a load or store through a view can be made by TMA, for a tile whose extents above 1 are along `axes`;
 * fills the access and its map. `want`: element type that the copy shall give (tf32 from f32), or 0. */
bool ts__tma_describe(const ts_fn *fn, ts_val v, const uint32_t axes[2], ts_type want, ts_tma_load *load,
                     ts_plan_tmap *map);
/* As ts__tma_plan, of a function whose operands TMA cannot bring: by cp.async (copied.c). Leaves what is active. */
TS_CHECKED ts_status ts__copied_plan(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_tma *out,
                                     ts_error *err);
/* What copies a step of `loop` ahead must see to: that `v` follows from the loop's number and from what stands before
 * it, by scalar arithmetic, which is marked in `slice` unless that is NULL; that the array was there before it and
 * padding is zero. */
bool ts__copied_slice(const ts_fn *fn, ts_val loop, ts_val v, uint8_t *slice);
bool ts__copied_view_fits(const ts_fn *fn, ts_val loop, ts_val view);
/* Whether the tile of a load lies in memory so that copies of 16 bytes bring it; fills the load. */
bool ts__copied_describe(const ts_fn *fn, ts_val v, const uint32_t axes[2], ts_tma_load *load);
/* A producer warpgroup fills the rings. */
static inline bool ts_tma_produces(const ts_tma *tma)
{
    return tma->active && !tma->copied;
}
/* log2 of all consumer warps. */
static inline uint32_t ts_tma_consumers(const ts_tma *tma)
{
    return tma->n_warp + tma->pingpong;
}
/* Whether two warpgroups can take the tiles in turn. */
bool ts__pingpong_plan(const ts_fn *fn, const ts_shape *shape, const ts_tma *tma);
/* Finds the loop whose trips the blocks of a cluster can share, in a function that asks for it (schedule/split_k.c). */
void ts__split_plan(const ts_fn *fn, const ts_shape *shape, ts_tma *tma);
/* NULL when the value is none of them. */
const ts_tma_load *ts__tma_load_of(const ts_tma *tma, ts_val v);
const ts_wgmma *ts__wgmma_of(const ts_tma *tma, ts_val v);
/* A product whose result has the extents of this tile type, perhaps behind extents of 1; 0 = none. */
ts_val ts__tma_result_of(const ts_fn *fn, const ts_tma *tma, ts_type type);
/* Warps beyond the first four take the top bits of m, down to 64 rows, then of n. */
typedef struct ts_wgmma_split {
    uint32_t log_m, log_n;             /* what one warpgroup keeps */
    uint32_t m[TS_LAYOUT_WARPS], n[TS_LAYOUT_WARPS]; /* extents each further warp bit stands for */
} ts_wgmma_split;
ts_wgmma_split ts__wgmma_split_of(uint32_t log_m, uint32_t log_n, uint32_t n_warp);
/* Layout of the accumulator of a product of extents m x n over 2^n_warp warps, and of its operand a in
 * registers (m x k). */
ts_linear ts__wgmma_layout_c(uint32_t log_m, uint32_t log_n, uint32_t n_warp);
ts_linear ts__wgmma_layout_of(const ts_module *module, ts_type c, uint32_t n_warp); /* of the accumulator's type */
ts_linear ts__wgmma_layout_a(uint32_t log_m, uint32_t log_n, uint32_t log_k, uint32_t n_warp);

#endif
