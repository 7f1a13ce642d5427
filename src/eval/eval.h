/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference interpreter: what a function of the IR means, run slowly and obviously on host memory.
 * Every rewrite and both targets are tested against it. eval/tile.c runs tile level, eval/simt.c
 * thread level; scalar.h holds the elementwise operations, eval/part.h what the two share.
 *
 * Parameters are one 8-byte slot each, narrow values in the low bytes; pointers are host addresses.
 * Blocks run one after the other, x fastest. What Tile IR leaves open we define:
 *   views       a tile wholly or partly outside the array: loads give the view's padding there (zero
 *               when undetermined), stores and reductions drop it. Indices are signed.
 *   mmaf        each element starts at c and adds products with k ascending by fma in the accumulator's
 *               type (one rounding each); f16 accumulators work in f32 and are rounded once at the end.
 *   mmaf_scaled both factors are first multiplied by their scale in f32, then as mmaf.
 *   reduce      acc = identity; for each element in ascending index order: acc = body(element, acc).
 *               Targets may start at an element instead: the identity is to be neutral (ts_reduce_begin).
 *   scan        the same, each step's acc is a result; descending when reverse.
 *   atomics     sequential, in row-major element order. A masked element of atomic_rmw gives 0.
 *   masked ld   without padding gives 0.
 *   alloca      filled with 0xCD bytes.
 *   cold        its region runs, then select(cond, yielded, operand).
 */
#ifndef TS_EVAL_EVAL_H
#define TS_EVAL_EVAL_H

#include "ir/ir.h"
#include "tessera/compile.h"

/* Memory that the function may touch. */
typedef struct ts_eval_range {
    const void *at;
    size_t bytes;
} ts_eval_range;

enum { EVAL_SAID = 512 };

/* Everything may be zero or NULL. */
typedef struct ts_eval_env {
    const ts_eval_range *ranges; /* n_ranges == 0: any address is taken as it is */
    size_t n_ranges;
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
    ts_fault *fault; /* first assert or division by zero is noted here and the run goes on; without
                        it they are errors */
    const char *fault_text;         /* out, with the fault: what happened */
    const ts_loc_info *fault_place; /* out, with the fault: where, of the module */
    char said[EVAL_SAID];           /* room for texts */
    bool (*ends)(void); /* NULL, or asked now and then: true ends the run, with TS_INTERRUPTED */
    uint64_t max_steps; /* instructions (tile level) or warp instructions (thread level); 0 = no limit */
    const ts_alloc *alloc;
    bool check_threads; /* thread level: races of single threads, reads of shared memory that nobody has written, and
                         * barriers that not all reach, as faults that end the run: eval/simt_watch.c */
    bool check_races; /* thread level: shared memory written and touched by two warps without a barrier */
    uint32_t schedule; /* thread level: 0 warps in turn, 1 last warp first, others: a reproducible shuffle */
    /* thread level: block and cluster when not all zero, else plan->threads in x and plan->cluster; bytes of dynamic
     * shared memory behind the plan's */
    uint32_t block_threads[3], cluster[3], dynamic_bytes;
    uint64_t steps;   /* out: how many were run */
} ts_eval_env;

/* Runs every block of a tile-level function. Errors: TS_INDEX an access outside the ranges, TS_LAUNCH a
 * fault, a broken `assume` or bounds promise, or too many steps; TS_VERIFY IR that cannot be run;
 * TS_NOMEM. Messages name function, instruction, source line and block. */
TS_CHECKED ts_status ts__eval_grid(const ts_fn *fn, const uint64_t *params, size_t n, const uint32_t grid[3],
                                  ts_eval_env *env, ts_error *err);

/* Runs every block of a thread-level function: warps in lock-step under a mask, each until it has to wait. The blocks
 * of a cluster run together. What shared_alloc asks for lies behind all other shared memory, and a few bytes that
 * nobody may touch behind each. Besides the errors above: TS_LAUNCH for a deadlock (says where each warp waits), a
 * barrier misused, a read of data that is still in flight (TMA or cp.async or wgmma without its wait). */
TS_CHECKED ts_status ts__eval_simt(const ts_fn *fn, const ts_plan *plan, const uint64_t *params, size_t n,
                                  const uint32_t grid[3], ts_eval_env *env, ts_error *err);

#endif
