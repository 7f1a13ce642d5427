/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread level of the interpreter, private to src/eval/simt*.c.
 *
 * A warp is a state machine: a program counter, a stack of open regions and 32 lanes of every value. It
 * runs in lock-step under a mask until it has to wait (barrier, mbarrier, cluster), then the next warp
 * goes on. Structured regions make divergence simple:
 *
 *     if      lanes split: then-lanes run, wait in `joined` at their yield, then else-lanes run
 *     loop    lanes that `continue` gather in `again`, lanes that `break` in `joined`; the body is run
 *             anew for `again` until it is empty
 *     call    lanes that call run the function's body and wait in `joined` at its return
 *     recur   the same with the region of a recursion, whose registers are kept until the lane comes back
 *     a lane that leaves a region by break, continue or return is simply absent from the joins inside
 *
 * Shared memory is an array of bytes with a shadow: a byte may be in flight (TMA or cp.async wrote it and
 * nobody has waited) or hold an mbarrier. Asynchronous copies happen as late as possible, when a wait
 * needs them, so that a missing wait reads stale data and is reported.
 *
 *     eval/simt.c        grid, schedule, control flow        eval/simt_mem.c    ld st atom cp_async ldmatrix
 *     eval/simt_warp.c   shuffles, votes, bits, sreg         eval/simt_async.c  mbarrier, TMA, bulk groups
 *     eval/simt_mma.c    mma_sync, wgmma                     eval/simt_race.c   races on global memory
 *     eval/simt_watch.c  races of single threads, and memory that nobody has written
 */
#ifndef TS_EVAL_SIMT_H
#define TS_EVAL_SIMT_H

#include "eval/part.h"

enum { SIMT_LANES = 32, SIMT_BARS = 16, SIMT_MAX_WARPS = TS_BLOCK_THREADS / SIMT_LANES };
/* Where dynamic shared memory begins in the 32-bit window; the CTA's rank is in bits 24 and up. */
enum { SIMT_SHARED_BASE = 0x400, SIMT_RANK_SHIFT = 24, SIMT_MOST_TOGETHER = 256 };

/* What an axis counts at most, so that products of three do not overflow; the bytes behind each array of shared_alloc
 * that nobody may touch. */
enum { SIMT_AXIS_MAX = 1 << 20, SIMT_GAP = 16 };

/* What registers hold before they are written, and what a load may leave in them. */
#define SIMT_POISON 0xA5A5A5A5A5A5A5A5u

/* Shadow of one byte of shared memory. */
enum { SIMT_PLAIN, SIMT_TMA_FLIGHT, SIMT_CP_FLIGHT, SIMT_HOLDS_MBAR, SIMT_GUARD };

typedef enum simt_wait { SIMT_RUNS, SIMT_AT_BAR, SIMT_AT_MBAR, SIMT_AT_CLUSTER, SIMT_DONE } simt_wait;

typedef struct simt_frame {
    ts_val opener;
    bool in_else;
    uint32_t outer, other, joined, again;
    uint64_t *saved; /* of a recur: the registers of the run that goes on after it */
} simt_frame;

/* A cp.async of one lane that has not been waited for. */
typedef struct simt_copy {
    uint32_t lane, group, to, bytes, source_bytes;
    uint64_t from;
} simt_copy;

/* Shared bytes that an asynchronous reader (wgmma, TMA store) may still read. */
typedef struct simt_reading {
    uint32_t rank, from, to; /* offsets in that CTA's shared memory, `to` excluded */
    uint32_t lane, group;
    ts_val at;
} simt_reading;

typedef struct simt_warp {
    struct simt_cta *cta;
    uint32_t index;          /* in its CTA */
    uint32_t lanes, exited, active;
    ts_val pc;
    TS_VEC(simt_frame) frame;
    TS_VEC(uint64_t *) kept; /* room for registers, for each recur that is under way, outermost first */
    uint32_t n_recurs;       /* under way */
    uint64_t *reg;           /* [value * 32 + lane] */
    uint32_t *flight;        /* [value] wgmma group that writes it; 0 none */
    simt_wait wait;
    bool arrived, released;  /* at the barrier it stands at; what it waits for has happened */
    uint32_t at_bar;         /* which barrier it stands at */
    uint64_t clock[SIMT_MAX_WARPS]; /* vector clock for race checking */
    uint32_t fences;         /* proxy fences so far */
    uint32_t lane;           /* whose access is made */
    uint32_t synced;         /* how often its lanes have met */
    uint32_t fenced[SIMT_LANES]; /* fences so far */
    bool mma_used;
    uint32_t mma_open, mma_retired; /* wgmma groups: number of the open one, last one waited for */
    uint32_t cp_open[SIMT_LANES], bulk_open[SIMT_LANES]; /* groups committed so far */
    uint64_t cluster_phase;  /* phase of the cluster barrier it arrived in */
    TS_VEC(simt_copy) copy;
    TS_VEC(simt_reading) mma_read, bulk_read;
} simt_warp;

typedef struct simt_mbar {
    uint32_t offset, count;
    int64_t pending, tx;
    uint64_t phase; /* completed phases */
    uint64_t clock[SIMT_MAX_WARPS];
} simt_mbar;

/* A TMA load, bulk_load or st_async that has not arrived. */
typedef struct simt_tma {
    uint32_t bytes;          /* of a bulk_load or st_async, else 0 */
    uint64_t value, from;    /* of an st_async; of a bulk_load, else 0 */
    uint32_t map, to;        /* tensor map; shared offset in `rank` */
    uint32_t rank;
    uint32_t mbar_rank, mbar; /* offset of the mbarrier */
    int64_t coord[5];
    ts_val at;
} simt_tma;

typedef struct simt_bar {
    uint32_t arrived, wanted; /* threads; wanted 0 = all that have not exited */
    uint64_t clock[SIMT_MAX_WARPS];
} simt_bar;

typedef struct simt_cta {
    struct simt_machine *machine;
    uint32_t rank, block[3];
    uint8_t *smem, *shadow;
    uint64_t *generic;       /* per byte: (warp + 1) << 32 | that warp's fences when it wrote; 0 = clean */
    uint8_t *touched;        /* per byte who touched it, simt_touch_bytes each, when races are checked */
    struct simt_race_table *race; /* the same for global memory: eval/simt_race.c */
    struct simt_watch *watch; /* accesses of threads, when they are checked: eval/simt_watch.c */
    uint8_t *written;        /* the same: 1 for each byte of shared memory that was written */
    bool has_atomics;        /* some thread has used them */
    simt_bar bar[SIMT_BARS];
    uint64_t cluster_clock[SIMT_MAX_WARPS];
    TS_VEC(simt_mbar) mbar;
    TS_VEC(simt_tma) tma;
    simt_warp *warp;
} simt_cta;

/* A tensor map that a tensor_load or tensor_store makes of its operands. Its number follows those of the plan. */
typedef struct simt_map {
    ts_plan_tmap map;
    uint64_t base;
} simt_map;

typedef struct simt_machine {
    eval_run run;
    const ts_fn *fn;
    const ts_module *module;
    const ts_plan *plan;
    ts_scalar **scalar;      /* prepared elementwise operations */
    ts_arena arena;          /* of the cluster that runs now */
    uint32_t block[3], cluster[3]; /* threads of a block, blocks of a cluster */
    uint32_t n_threads, n_warps, n_ctas;
    uint32_t shared_bytes;   /* of a block, with what follows */
    uint32_t *alloc_at;      /* [value] offset of a shared_alloc */
    simt_cta *cta;
    uint64_t cluster_phase;
    uint64_t random;
    TS_VEC(simt_map) made;
    void *mma_tiles; /* scratch of eval/simt_mma.c */
    struct simt_watch *watch; /* of global memory */
    uint64_t *fenced;        /* a bit for each block that has fenced */
} simt_machine;

typedef ts_status simt_fn(simt_warp *w, ts_val v);

static inline const eval_run *simt_run(const simt_warp *w)
{
    return &w->cta->machine->run;
}
static inline const ts_fn *simt_fn_of(const simt_warp *w)
{
    return w->cta->machine->fn;
}
static inline uint64_t *simt_reg(const simt_warp *w, ts_val v)
{
    return w->reg + (size_t)v * SIMT_LANES;
}
static inline const uint64_t *simt_opnd(const simt_warp *w, ts_val v, uint32_t i)
{
    return simt_reg(w, ts_opnd(simt_fn_of(w), v, i));
}
static inline ts_type simt_opnd_type(const simt_warp *w, ts_val v, uint32_t i)
{
    return ts_type_of(simt_fn_of(w), ts_opnd(simt_fn_of(w), v, i));
}
/* Takes the lowest lane out of a mask. */
static inline uint32_t simt_next(uint32_t *mask)
{
    uint32_t lane = (uint32_t)__builtin_ctz(*mask);
    *mask &= *mask - 1;
    return lane;
}
/* Active lanes whose predicate operand (if there is one) holds. */
uint32_t simt_predicated(const simt_warp *w, ts_val v);
/* Result i of an instruction without a region; NULL when nobody uses it. */
uint64_t *simt_result(const simt_warp *w, ts_val v, uint32_t i);
ts_type simt_result_type(const simt_warp *w, ts_val v); /* of the first one; none when there is none */
/* Fails unless all lanes that have not exited are here. */
TS_CHECKED ts_status simt_converged(const simt_warp *w, ts_val v);
ts_status simt_nomem(const simt_warp *w);
/* The warp stops here and tries the instruction again later: `arrived` tells the second time from the
 * first, `released` that it may go on. */
void simt_block(simt_warp *w, simt_wait why);

/* ---- shared memory: eval/simt_mem.c ---- */

typedef enum simt_access { SIMT_READ, SIMT_WRITE, SIMT_ASYNC_READ, SIMT_ASYNC_WRITE } simt_access;
typedef struct simt_place {
    simt_cta *cta;
    uint32_t offset;
} simt_place;
/* CTA and offset of a shared address; fails outside shared memory. */
TS_CHECKED ts_status simt_smem_place(simt_warp *w, ts_val v, uint64_t address, uint64_t bytes, simt_place *place);
/* The same, with everything that makes the access wrong: data in flight, bytes still being read, an
 * mbarrier, a missing proxy fence, a race. */
TS_CHECKED ts_status simt_smem(simt_warp *w, ts_val v, uint64_t address, uint64_t bytes, simt_access access,
                               simt_place *place);
static inline uint8_t *simt_bytes(const simt_place *place)
{
    return place->cta->smem + place->offset;
}
void simt_join(uint64_t *clock, const uint64_t *other);

/* ---- races between warps: eval/simt_race.c ---- */

typedef struct simt_race {
    uint32_t byte, other; /* of those that were touched; the warp that did so before */
    bool written;         /* by it, or read */
} simt_race;
/* Room for what is known of one byte, for a block of so many warps; zeros: nobody touched it. */
size_t simt_touch_bytes(const simt_machine *machine);
/* Notes that a warp reads or writes n bytes, of which `touched` is known. False: it races, and says with whom. */
bool simt_touch(const simt_warp *w, uint8_t *touched, uint64_t n, bool write, simt_race *race);
/* Notes a plain access to global memory, a write of `bytes` or (NULL) a read; fails when it races with another warp of
 * the block. Before the bytes are written. */
TS_CHECKED ts_status simt_global_touch(simt_warp *w, ts_val v, uint64_t address, const void *bytes, uint32_t n);

/* ---- threads one by one: eval/simt_watch.c ---- */

/* An access of lane w->lane, a write of `bytes` or (NULL) a read, before it is made. Errors: TS_LAUNCH, with the fault
 * noted, for a race, or a read of shared memory that nobody has written. Nothing where threads are not checked. */
TS_CHECKED ts_status simt_watch_plain(simt_warp *w, ts_val v, ts_space space, uint64_t address, const void *bytes,
                                      uint32_t n);
/* A write by an asynchronous copy, whose bytes are not known yet: when it begins, and again when who began it has
 * waited for it. What a barrier counts is there for whoever waits for that: `simt_watch_arrived`. */
TS_CHECKED ts_status simt_watch_copy(simt_warp *w, ts_val v, uint64_t address, uint32_t n);
void simt_watch_arrived(const simt_warp *w, simt_cta *cta, uint32_t offset, uint32_t n);
TS_CHECKED ts_status simt_watch_atomic(simt_warp *w, ts_val v, ts_space space, uint64_t address, uint32_t n);
void simt_watch_fence(simt_warp *w);
/* Lanes that wait for others of the warp or block: all must be here. */
TS_CHECKED ts_status simt_watch_barrier(simt_warp *w, ts_val v);
/* Notes the fault of a thread, and ends the run. */
TS_CHECKED ts_status simt_report(const simt_warp *w, ts_val v, uint32_t lane, ts_fault_code code, const char *text);

/* ---- TMA: eval/simt_async.c ---- */

/* Delivers what was sent towards an mbarrier. */
TS_CHECKED ts_status simt_deliver(simt_warp *w, ts_val v, const simt_place *mbar);
/* Finishes everything still under way (end of a CTA). */
TS_CHECKED ts_status simt_deliver_all(simt_warp *w, ts_val v);
/* XOR of the swizzle modes none, 32, 64, 128 bytes (0..3) on a shared address. */
uint32_t simt_swizzle(uint32_t address, uint32_t mode);

#define SIMT_OPS(X)                                                                                \
    X(param) X(constant) X(get_global) X(assume) X(sreg) X(shared) X(shared_alloc) X(local)        \
    X(ptr_add) X(ld) X(st) X(atom) X(red) X(mul_wide) X(cvt_pack) X(pack2) X(unpack2) X(prmt)      \
    X(popc) X(clz) X(brev) X(shfl) X(vote) X(redux) X(match) X(elect) X(bar_sync) X(bar_arrive)    \
    X(warp_sync) X(grid_sync) X(cluster_arrive) X(cluster_wait) X(fence) X(cp_async) X(foreign)    \
    X(cp_async_commit) X(cp_async_wait) X(mbar_init) X(mbar_inval) X(mbar_arrive) X(mbar_expect) X(mbar_wait)         \
    X(mapa) X(st_async) X(tensor_load) X(tensor_store) X(tma_load) X(tma_store) X(tma_reduce)     \
    X(bulk_commit) X(bulk_wait)                                                                    \
    X(bulk_load) X(bulk_store) X(asm)                                                              \
    X(ldmatrix) X(stmatrix) X(mma_sync) X(wgmma) X(wgmma_commit) X(wgmma_wait) X(trap) X(fault) X(printf)
#define X(name) ts_status simt_##name(simt_warp *w, ts_val v);
SIMT_OPS(X)
#undef X

#endif
