/* SPDX-License-Identifier: Apache-2.0
 *
 * What facts.c, facts_axis.c (arithmetic on axis facts), facts_cond.c (conditions) and facts_walk.c share. Public
 * meaning: facts.h.
 */
#ifndef TS_PASS_FACTS_AXIS_H
#define TS_PASS_FACTS_AXIS_H

#include "pass/facts.h"

#define FACTS_ANY_DIVISOR ((int64_t)1 << 62) /* of zero */

/* Bounds of a value as they were before a condition narrowed them, up to instruction `end`. */
typedef struct facts_narrowed {
    ts_val v, end;
    int64_t lo, hi;
} facts_narrowed;

struct facts_flow; /* facts_walk.c */

typedef struct facts_ctx {
    const ts_fn *fn;
    const ts_module *m;
    ts_arena *scratch;
    ts_facts *facts;
    ts_shape shape;
    ts_val *opener; /* else, end -> their if, in facts_cond.c */
    TS_VEC(facts_narrowed) narrowed;
    uint8_t *seen; /* arg, res: 0 = no value has flowed in yet; else how often it changed */
    bool changed;
    int64_t most_blocks; /* of ts_pass_env */
    struct facts_flow *flow; /* of a walk, else NULL */
} facts_ctx;
typedef void facts_fn(const facts_ctx *c, ts_val v, ts_fact *out);

/* y <= x, both not negative, by how y is made of x. */
bool facts_is_part(const facts_ctx *c, ts_val y, ts_val x, uint32_t depth);
/* Facts as of ts__facts_of in a context that is kept; false when memory is out. */
bool facts_run(facts_ctx *c, ts_arena *scratch);
void facts_sweep(facts_ctx *c);
/* The value that an extension or a promise keeps. */
ts_val facts_inner(const facts_ctx *c, ts_val v);
/* In a walk: joins a value into what has flowed to `into` in this sweep. */
void facts_gather(facts_ctx *c, ts_val into, ts_val with);

int64_t facts_pow2_of(int64_t value);             /* greatest power of two that divides it */
int64_t facts_pow2_product(int64_t a, int64_t b); /* of powers of two, at most FACTS_ANY_DIVISOR */
/* Bytes by which one step of contiguity moves a value: 1 for integers, the pointee's for pointers;
 * 0 for pointers to less than a byte, of which nothing is known. */
int64_t facts_unit(const facts_ctx *c, ts_val v);
/* No aligned run of the tile can hold both ends of the type's range, so extension keeps it rising.
 */
bool facts_never_wraps(const facts_ctx *c, ts_val v);

/* x + y (x - y) where divisibility is in bytes and a step of contiguity is `unit` bytes. */
ts_axis_fact facts_axis_add(ts_axis_fact x, ts_axis_fact y, int64_t unit, bool subtract);
/* The same values with runs no longer than `run`. */
ts_axis_fact facts_axis_cut(ts_axis_fact x, int64_t run, int64_t unit);
/* After a change of width: whole runs when nothing wraps (or the width shrinks), else aligned ones.
 */
ts_axis_fact facts_axis_unwrapped(ts_axis_fact x, bool safe, bool shrinks, int64_t divisor);
ts_axis_fact facts_axis_join(ts_axis_fact x, ts_axis_fact y, int64_t unit);

/* v was visited: what its condition says holds from here on. And before v is visited: what no longer holds. */
void facts_conditions(facts_ctx *c, ts_val v);
void facts_conditions_end(facts_ctx *c, ts_val v);
/* What flows into v now, an arg or res, comes by other ways than through the conditions here: they are forgotten. */
void facts_conditions_drop(facts_ctx *c, ts_val v);

void facts_copy(ts_fact *out, const ts_fact *x,
                uint32_t rank); /* contents; out keeps its own axis array */
bool facts_join(ts_fact *into, const ts_fact *with, uint32_t rank,
                int64_t unit); /* true when weakened */
/* Brings divisor and axes to what each implies for the other. */
void facts_settle(ts_fact *f, uint32_t rank);

#endif
