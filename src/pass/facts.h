/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known about integers and pointers without running the program: bounds, divisors, and, for
 * tiles of them, how neighbours along each axis relate. Both targets and the layout passes ask this
 * to choose vector widths, TMA, unmasked paths and narrow index types.
 *
 * Sources: constants, `assume`, grid and lane numbers, loop bounds, arithmetic. Facts hold for
 * every execution in which the promises of `assume`, nsw and nuw hold. Arithmetic that may wrap
 * loses its bounds but keeps its divisor.
 *
 *     %4 = get_tile_block_id axis=0 : i32          lo 0, hi 2^24-1
 *     %5 = muli %4, 64                             lo 0, hi 2^30-64, divisor 64
 *     %6 = iota : tile<64xi32>                     contiguity 64, divisibility 64 (0 is divisible)
 *     %7 = broadcast (reshape %5)                  constancy 64, divisibility 64
 *     %8 = addi %7, %6                             contiguity 64, divisibility 64
 *     %9 = offset (splat %p), %8 : ptr<f32>        contiguity 64, divisibility 16 if %p is: a load
 * of four f32 at once is aligned
 */
#ifndef TS_PASS_FACTS_H
#define TS_PASS_FACTS_H

#include "ir/ir.h"

/* Per axis d of a tile of integers or pointers. Cut the axis into aligned runs of the given length:
 *   contiguity    in each run the values rise by 1, modulo their width (pointers: by one element)
 *   constancy     in each run the values are equal
 *   divisibility  this power of two divides the first value of each run of length `contiguity`
 *                 (pointers: in bytes). It divides every value when contiguity is 1.
 * All are powers of two >= 1; run lengths never exceed the extent. */
typedef struct ts_axis_fact {
    int64_t contiguity, divisibility, constancy;
} ts_axis_fact;

/* One value. For tiles lo, hi and divisor hold for every element. */
typedef struct ts_fact {
    int64_t lo, hi; /* signed bounds; the type's range when unknown (i1: 0, 1); pointers: all */
    int64_t
        divisor; /* power of two >= 1 that divides (pointers: in bytes). 0 divides by all: 2^62 */
    const ts_axis_fact
        *axis; /* ts_type_rank entries for tiles of integers and pointers, else NULL */
} ts_fact;

typedef struct ts_facts {
    ts_fact
        *at; /* by value; for other types than integers and pointers lo..hi is full and divisor 1 */
    uint32_t n;
} ts_facts;

/* Arrays live in `scratch`. False when memory is out. The function must be verified. */
bool ts__facts_of(const ts_fn *fn, ts_arena *scratch, ts_facts *facts);

/* Facts that also ask where a value is used: behind `if %i < %n` %i is below %n. For a walk over the function in
 * program order that calls ts__facts_step for each instruction before it asks of its operands. Functions of threads
 * only. */
typedef struct ts_facts_walk ts_facts_walk;
/* `most_blocks`: of ts_pass_env. NULL when memory is out. */
ts_facts_walk *ts__facts_walk(const ts_fn *fn, int64_t most_blocks, ts_arena *scratch);
void ts__facts_step(ts_facts_walk *walk, ts_val v);
const ts_fact *ts__facts_here(const ts_facts_walk *walk, ts_val v);

/* The value (of every element) is one known integer. */
static inline bool ts_fact_const(const ts_facts *facts, ts_val v, int64_t *value)
{
    *value = facts->at[v].lo;
    return facts->at[v].lo == facts->at[v].hi;
}
static inline bool ts_fact_divides(const ts_facts *facts, ts_val v, int64_t power_of_two)
{
    return facts->at[v].divisor >= power_of_two;
}
static inline bool ts_fact_within(const ts_facts *facts, ts_val v, int64_t lo, int64_t hi)
{
    return facts->at[v].lo >= lo && facts->at[v].hi <= hi;
}
/* How many neighbours along `axis` one access may take: run of consecutive addresses, all of it
 * aligned to its own size. For a tile of pointers to elements of `elem_bytes`. At least 1. */
int64_t ts__facts_vector(const ts_facts *facts, ts_val pointers, uint32_t axis, int64_t elem_bytes);

#endif
