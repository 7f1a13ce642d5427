/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile IR -> thread IR: what the files of gpu/lower share.
 *
 *     facts ─▶ plan/assign.c (layouts) ─▶ lower.c walks the tile function once and calls, by operation,
 *         elem.c        elementwise, constants, iota, broadcast, reshape, permute, cat, cold
 *         convert.c     moves between layouts (planned by layout/move.c), extract, insert, pack, unpack
 *         view_access.c loads and stores through views            ptr.c    pointers, atomics
 *         nibble.c      elements of 4 bits                        order.c  program order within a tile block
 *         reduce.c      reduce                                    scan.c   scan
 *         mma.c         products by mma.sync                      fma.c    products by fma
 *         misc.c        assert, print, alloca, ...                code.c   small pieces that all of them write
 *         shared.c      shared memory                             cluster.c  blocks that share a tile block
 *     and asks the strategies of schedule/ at the places that strategy.h draws
 *     ─▶ dce licm at thread level (gpu.c) ─▶ emit.c
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

#include "ir/note.h"
#include "pass/facts.h"
#include "pass/pass.h"
#include "gpu/plan/assign.h"

/* A value held in registers of one layout. Entries made inside a region vanish at its end. */
typedef struct ts_held {
    ts_val value;
    const ts_linear *layout;
    const ts_val *reg;
    uint32_t next; /* older entry of the same value, index + 1 */
} ts_held;

/* Shared memory (shared.c). */
typedef struct ts_shared_use {
    uint32_t begin, end; /* bytes read since the last barrier */
} ts_shared_use;

typedef struct ts_shared {
    uint32_t limit;       /* bytes a block may have */
    uint32_t next;        /* where the next scratch buffer is tried */
    uint32_t peak;        /* bytes the launch asks for */
    TS_VEC(ts_shared_use) reads;
    TS_VEC(ts_shared_use) fixed; /* taken: for good, or until ts__shared_done */
    bool unknown;         /* anything may have been read: start of a region */
} ts_shared;

/* Thread blocks that share the tile block (cluster.c). */
typedef struct ts_cluster {
    uint32_t bars; /* mbarriers of exchanges, in shared memory */
    bool apart;    /* at the cluster's barrier: arrived, not waited yet (all have started, or all have read a sum) */
    bool shares;   /* shared memory of other blocks is used between barriers of the cluster */
} ts_cluster;

/* An open region of the output and the tile-level opener it came from. */
typedef struct ts_open {
    ts_val tile, opener;
} ts_open;

/* Global memory seen by other threads of the block: what was touched since the last barrier. A root is a
 * pointer parameter (bit number; those from TS_ROOT_LAST on share a bit) or TS_ROOT_UNKNOWN. */
enum { TS_ROOT_LAST = 62, TS_ROOT_UNKNOWN = 63 };
typedef struct ts_hazards {
    uint64_t loaded, stored;        /* since the last barrier */
    uint64_t ever_loaded, ever_stored; /* in the whole function */
} ts_hazards;

/* A list of thread values that grows. */
typedef struct ts_vals {
    TS_VEC(ts_val) v;
} ts_vals;

typedef struct ts_lower {
    const ts_fn *tile; /* from */
    ts_fn *fn;         /* to */
    ts_module *module;
    ts_arena *arena;   /* scratch of this lowering */
    ts_pass_env *env;
    ts_error *err;
    ts_status status;  /* first failure, sticky */
    ts_builder b;
    ts_shape shape;    /* of `tile` */
    ts_assign assign;
    ts_val *scalar;    /* [tile value of rank 0] its thread value */
    uint32_t *newest;  /* [tile value] newest held entry, index + 1 */
    TS_VEC(ts_held) held;
    TS_VEC(uint32_t) scope;
    TS_VEC(ts_open) open;
    ts_shared shared;
    ts_cluster cluster;
    ts_hazards hazards;
    ts_facts facts;    /* of the tile function */
    uint32_t *tokens;  /* [value] how many of its uses are tokens */
    uint64_t *roots;   /* [pointer or view value] mask of roots it may point into */
    ts_val *nowhere;   /* where registers go after memory ran out */
    ts_val tid;        /* index of the thread in the tile block, i32 */
    ts_val fault;      /* pointer to the fault record, 0 until needed */
    ts_text messages;  /* NUL-separated */
    const struct ts_strategies *strategies; /* strategy.h */
    void **state;      /* of each of them */
} ts_lower;

/* ---- values ---------------------------------------------------------------------------------------- */

bool ts__lower_fail(ts_lower *lw, ts_status status, ts_val v, const char *format, ...) TS_PRINTF(4, 5);
/* Registers of tile value `v` in `layout` (moved or written anew when need be); 2^n_reg of them. Never NULL.
 * A scalar gives its value for any register. */
const ts_val *ts__lower_get(ts_lower *lw, ts_val v, const ts_linear *layout);
ts_val ts__lower_scalar(ts_lower *lw, ts_val v);
/* `reg` stays the caller's until the lowering ends, and is not written any more. */
void ts__lower_set(ts_lower *lw, ts_val v, const ts_linear *layout, const ts_val *reg);
/* A zeroed array of 2^n_reg values for `layout`. */
ts_val *ts__lower_regs(ts_lower *lw, const ts_linear *layout);
/* The layout to work in: home, or the usual one when the value is free. */
const ts_linear *ts__lower_home(ts_lower *lw, ts_val v);
/* Register bits whose column is zero: they repeat others. */
uint32_t ts__lower_repeats(const ts_linear *layout);
/* Scopes follow the regions of the output. */
void ts__lower_open(ts_lower *lw);
void ts__lower_close(ts_lower *lw);
void ts__lower_drop(ts_lower *lw, uint32_t keep); /* forgets all but the oldest `keep` held entries */
/* Pointer to the elements of a dense constant, in global memory. */
ts_val ts__lower_dense(ts_lower *lw, ts_val v);
/* The type a tile element has in a thread. */
ts_type ts__lower_elem(const ts_lower *lw, ts_val v);

/* ---- small code ------------------------------------------------------------------------------------- */

/* XOR of lane[i] over the lane bits and warp[i] over the warp bits that are set in this thread: i32. */
ts_val ts__lower_linear(ts_lower *lw, const uint32_t *lane, const uint32_t *warp);
/* The part of a flat index that lanes and warps give; registers XOR ts_lower_fixed(layout, reg). */
ts_val ts__lower_flat(ts_lower *lw, const ts_linear *layout);
static inline uint32_t ts_lower_fixed(const ts_linear *layout, uint32_t reg)
{
    return ts_xor_of(layout->reg, layout->n_reg, reg);
}
/* i1: the lane and warp bits of `bits` are zero in this thread; 0 when there are none to test. */
ts_val ts__lower_is_first(ts_lower *lw, ts_place bits);
ts_val ts__lower_i32(ts_lower *lw, int64_t value);
/* x `op` y, by value and by number. */
static inline ts_val ts_lower_op2(ts_lower *lw, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(&lw->b, op, x, y, 0);
}
ts_val ts__lower_op(ts_lower *lw, ts_op op, ts_val x, int64_t y, uint32_t attr);
/* The index of this warp in the block, and of its warpgroup: uniform values. */
ts_val ts__lower_warp(ts_lower *lw);
ts_val ts__lower_warpgroup(ts_lower *lw);
ts_val ts__lower_add(ts_lower *lw, ts_val x, int64_t value);
/* Both (either may be 0 = true). */
ts_val ts__lower_and(ts_lower *lw, ts_val x, ts_val y);
/* A pointer `bytes` further; i32 or i64 offset value, and a constant. */
ts_val ts__lower_ptr(ts_lower *lw, ts_val pointer, ts_val offset, int64_t bytes);
/* Loads 2^log elements into out[0..]; pred and pad may be 0; pad TS_NO: masked ones may be anything. Element type
 * `elem`. */
void ts__lower_ld(ts_lower *lw, ts_type elem, ts_val pointer, uint32_t n, ts_cache_use cache, ts_val pred, ts_val pad,
                 ts_val *out);
void ts__lower_st(ts_lower *lw, ts_val pointer, uint32_t n, const ts_val *values, ts_cache_use cache, ts_val pred);
void ts__lower_barrier(ts_lower *lw); /* of the tile block; clears all hazards */
uint32_t ts__lower_threads(const ts_lower *lw); /* of a block, with a producer's */
void ts__lower_barrier_cta(ts_lower *lw); /* of this thread block alone when several share the tile block */
/* Copies the instructions of a region (after its args, up to `yield`) with args mapped already in lw->scalar;
 * gives the yielded values. For bodies of reduce and scan: scalars only. */
void ts__lower_inline(ts_lower *lw, ts_val opener, const ts_val *args, ts_val *out);
/* out = body(x, acc) of reduction or scan `v`: its region takes pairs of an element and an accumulator for each of at
 * most TS_COMBINE_INPUTS inputs. `out` is neither of the others. */
enum { TS_COMBINE_INPUTS = 8 };
void ts__lower_combine(ts_lower *lw, ts_val v, const ts_val *acc, const ts_val *x, ts_val *out);
/* Adds the registers of tile value `v`, in the home of `as`: none for tokens, one for scalars. */
void ts__lower_expand(ts_lower *lw, ts_val v, ts_val as, ts_vals *out);
/* The other way: gives `v` as many of the thread values `from` as expand made; returns what is left. */
const ts_val *ts__lower_bind(ts_lower *lw, ts_val v, const ts_val *from);
/* Types of the thread values of the results of a tile-level opener. */
void ts__lower_result_types(ts_lower *lw, ts_val opener, ts_vals *types);

/* Where the tile of an index begins along an axis of a view (ts_view_start), in i32 or i64. In i32 a place that is too
 * far out may be a negative number or an unsigned one beyond 2^31: outside for every comparison that is unsigned, and
 * for a signed one with 0. */
ts_val ts__view_start(ts_lower *lw, const ts_type_info *view, uint32_t axis, ts_val tile_index, ts_type type);

/* ---- shared memory: shared.c ------------------------------------------------------------------------- */

/* Bytes for the rest of the function, aligned. Returns the offset. */
uint32_t ts__shared_fix(ts_lower *lw, uint32_t bytes, uint32_t align, ts_val why);
/* Bytes for a moment: write, ts__lower_barrier, read, ts__shared_done. Emits a barrier first when another thread
 * may still be reading what lay there. */
uint32_t ts__shared_take(ts_lower *lw, uint32_t bytes, ts_val why);
void ts__shared_done(ts_lower *lw, uint32_t offset, uint32_t bytes);
void ts__shared_cleared(ts_lower *lw);  /* a barrier was emitted */
void ts__shared_forget(ts_lower *lw);   /* a region starts or ends: anything may be pending */
/* Where several thread blocks share the tile block: memory of the first of them, so that they have it in common. */
ts_val ts__shared_pointer(ts_lower *lw, ts_type elem, uint32_t offset);
ts_val ts__shared_of_cta(ts_lower *lw, ts_type elem, uint32_t offset, uint32_t cta); /* of that one; TS_NO: this one */

/* Lowers one instruction; returns the last one it handled. */
ts_val ts__lower_inst(ts_lower *lw, ts_val v);

/* ---- operations ------------------------------------------------------------------------------------- */

typedef void ts_lower_fn(ts_lower *lw, ts_val v);
ts_val *ts__lower_convert(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                         const ts_linear *to);
/* The type that an element is kept as in memory (pointers i64, i1 and 4-bit values a byte each), and the way there and
 * back. */
ts_type ts__lower_memory_type(const ts_lower *lw, ts_type elem);
ts_val ts__lower_to_memory(ts_lower *lw, ts_val x);
ts_val ts__lower_from_memory(ts_lower *lw, ts_val x, ts_type elem);
/* Stores a tile to scratch at the element offsets XORed from `offset`; returns where. Barrier and ts__shared_done
 * are the caller's. */
uint32_t ts__lower_to_shared(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *from, const ts_val *reg,
                            const uint32_t *offset);
/* The same into memory that was fixed. */
void ts__lower_store_shared(ts_lower *lw, ts_type elem, const ts_linear *from, const ts_val *reg, const uint32_t *offset,
                           uint32_t at);
/* Reads what lies in shared memory, of this thread block or another, at the element offsets XORed from `offset`. */
void ts__lower_load_shared(ts_lower *lw, ts_type elem, const ts_linear *layout, const uint32_t *offset, ts_val base,
                          ts_val *reg);
/* What the threads of `only` hold, given to their replicas too (through shared memory). */
ts_val *ts__lower_share(ts_lower *lw, ts_val why, ts_type elem, const ts_linear *layout, const ts_val *reg, ts_val only);
/* Writes a free value in a layout. */
const ts_val *ts__lower_free(ts_lower *lw, ts_val v, const ts_linear *layout);
void ts__lower_load_view(ts_lower *lw, ts_val v);
void ts__lower_store_view(ts_lower *lw, ts_val v);
void ts__lower_load_ptr(ts_lower *lw, ts_val v);
void ts__lower_store_ptr(ts_lower *lw, ts_val v);
void ts__lower_atomic(ts_lower *lw, ts_val v);
void ts__lower_atomic_view(ts_lower *lw, ts_val v);
void ts__lower_elementwise(ts_lower *lw, ts_val v);
/* One register of elementwise `v`, from those of its operands. */
ts_val ts__lower_one(ts_lower *lw, ts_val v, const ts_val *opnds);
void ts__lower_cold(ts_lower *lw, ts_val v);
void ts__lower_shape(ts_lower *lw, ts_val v); /* reshape, permute, assume of placed values */
void ts__lower_cat(ts_lower *lw, ts_val v);
void ts__lower_extract(ts_lower *lw, ts_val v);
void ts__lower_insert(ts_lower *lw, ts_val v);
void ts__lower_pack(ts_lower *lw, ts_val v);
void ts__lower_reduce(ts_lower *lw, ts_val v);
void ts__lower_scan(ts_lower *lw, ts_val v);
void ts__lower_mma(ts_lower *lw, ts_val v);
void ts__lower_view_query(ts_lower *lw, ts_val v);
void ts__lower_assert(ts_lower *lw, ts_val v);
void ts__lower_print(ts_lower *lw, ts_val v);
void ts__lower_alloca(ts_lower *lw, ts_val v);
void ts__lower_gdc(ts_lower *lw, ts_val v);

/* Memory accesses of other threads (lower/order.c): call before the loads or stores of instruction v, and
 * ts__lower_accesses when its operands are there and no barrier comes before its first load or store. */
void ts__lower_before_load(ts_lower *lw, ts_val v);
void ts__lower_before_store(ts_lower *lw, ts_val v);
void ts__lower_accesses(ts_lower *lw, ts_val v);
uint64_t ts__lower_roots(ts_lower *lw, ts_val pointer_or_view);
bool ts__lower_meets(uint64_t a, uint64_t b); /* may memory of roots a and of roots b be the same? */
/* Memory order of an access, by its attribute: the cache operation; the barriers a block needs around it. */
ts_cache_use ts__lower_cache(uint32_t attr, bool load);
bool ts__lower_releases(uint32_t attr); /* before */
bool ts__lower_acquires(uint32_t attr); /* after */
/* i1: threads that carry out an ordered load. Others may write what it reads, so threads that hold the same element
 * must not each read it: they could see different values. 0 = all. */
ts_val ts__lower_reader(ts_lower *lw, uint32_t attr, const ts_linear *layout);

/* The value of `x` in lane `lane` (or at distance, by kind), any scalar type. */
ts_val ts__lower_shuffle(ts_lower *lw, ts_val x, ts_val lane, ts_shfl kind);
void ts__lower_nibbles(ts_lower *lw, ts_val v); /* pack, unpack of 4-bit elements */
/* Fills in which pointer parameters are ever loaded and stored. */
void ts__lower_scan_memory(ts_lower *lw);
/* True when tile-level operation `op` has a lowering. */
bool ts__lower_has(ts_op op);

/* The whole pass, with these strategies: leaves `fn` at thread level and the plan filled. `messages` are the texts that
 * faults name. */
TS_CHECKED ts_status ts__lower_with(ts_fn *fn, ts_pass_env *env, const struct ts_strategies *strategies,
                                    ts_text *messages, ts_error *err);

#endif
