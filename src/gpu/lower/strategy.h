/* SPDX-License-Identifier: Apache-2.0
 *
 * What a strategy may take over while a tile function becomes thread code. lower.c walks the function and asks the
 * strategies at the places below, in the order of their table (schedule/schedule.def); it knows none of them by name,
 * and none knows another. Every hook may be NULL.
 *
 *     plan, begin                    lower.c has read the function; its first code is written
 *     split_warps, consumers         warps that do other work branch off; the first code of those that stay
 *     for:  loop_values, loop_range, loop_open
 *           loop_enter               the loop is open, its own carried values have been taken
 *           loop_next                at its `continue`
 *           loop_types, loop_results, loop_end
 *     leave                          before a `return`
 *
 * Hooks that return bool (or a value) answer false (or 0) for what is not theirs; the first answer counts. Those that
 * return nothing are all asked.
 */
#ifndef TS_GPU_LOWER_STRATEGY_H
#define TS_GPU_LOWER_STRATEGY_H

#include "gpu/lower/lower.h"

/* Fragments of a product that are read a step of its loop before they are used. */
typedef struct ts_prefetch {
    ts_val carried; /* the first value of this step that holds them */
    ts_vals next;   /* those of the next step: the product adds them */
} ts_prefetch;

typedef struct ts_strategy {
    const char *name;
    size_t state; /* bytes of its own during a lowering, zeroed (ts__strategy_state) */

    /* The function. */
    void (*plan)(ts_lower *lw);
    void (*begin)(ts_lower *lw);
    void (*split_warps)(ts_lower *lw);
    void (*consumers)(ts_lower *lw);
    void (*leave)(ts_lower *lw);

    /* Loops: `for` as a whole (returns the last instruction handled), or at the places of the drawing. */
    ts_val (*loop)(ts_lower *lw, ts_val loop);
    void (*loop_values)(ts_lower *lw, ts_val loop, ts_vals *values);        /* adds carried values of its own */
    void (*loop_range)(ts_lower *lw, ts_val loop, ts_val range[3]);
    void (*loop_open)(ts_lower *lw, ts_val loop);
    ts_val (*loop_enter)(ts_lower *lw, ts_val loop, ts_val next);           /* its values are from `next` on; */
    ts_val (*loop_results)(ts_lower *lw, ts_val loop, ts_val next);         /* both return the value behind them */
    void (*loop_next)(ts_lower *lw, ts_val loop, ts_vals *values);
    void (*loop_types)(ts_lower *lw, ts_val loop, ts_vals *types);
    void (*loop_end)(ts_lower *lw, ts_val loop);
    /* Steps of a ring: the number of the first one of `loop`; the count after a trip of a loop around it. */
    ts_val (*first_step)(ts_lower *lw, ts_val loop);
    ts_val (*skip_steps)(ts_lower *lw, ts_val loop, ts_val count);

    /* Instructions. */
    bool (*skips)(ts_lower *lw, ts_val v);   /* no code stands in its place: the strategy makes it elsewhere */
    bool (*defers)(ts_lower *lw, ts_val v);  /* the same, register by register, where it is read */
    void (*recalls)(ts_lower *lw, ts_val v); /* it is read in another way after all: computed as a whole */
    void (*region)(ts_lower *lw, ts_val opener); /* before a region opens */
    bool (*load)(ts_lower *lw, ts_val v);
    bool (*product)(ts_lower *lw, ts_val v);
    bool (*store)(ts_lower *lw, ts_val v);
    void (*read)(ts_lower *lw, ts_val v);    /* before registers of `v` are read */
    bool (*barrier)(ts_lower *lw);           /* of the threads that work on the tile */

    /* Operands of products that lie in shared memory already: pointer. A product whose first fragments come a step
     * early reads them from `carried`, calls advance before its last step along k, and reads those for the next. */
    ts_val (*operand)(ts_lower *lw, ts_val x);
    ts_val (*rounds)(ts_lower *lw, ts_val x); /* the conversion that such an operand still lacks */
    ts_prefetch *(*prefetch)(ts_lower *lw, ts_val product);
    void (*advance)(ts_lower *lw, ts_val product);
} ts_strategy;

/* The strategies of a lowering, in the order in which they are asked. */
typedef struct ts_strategies {
    uint32_t n;
    const ts_strategy *const *at;
} ts_strategies;

/* The state of strategy number i. */
static inline void *ts_strategy_state(const ts_lower *lw, uint32_t i)
{
    return lw->state[i];
}

/* False when memory ran out. */
bool ts__strategies_open(ts_lower *lw, const ts_strategies *strategies);

/* Each asks all strategies. */
void ts__hook_plan(ts_lower *lw);
void ts__hook_begin(ts_lower *lw); /* begin, split_warps, consumers */
void ts__hook_leave(ts_lower *lw);
ts_val ts__hook_loop(ts_lower *lw, ts_val loop);
void ts__hook_loop_values(ts_lower *lw, ts_val loop, ts_vals *values);
void ts__hook_loop_range(ts_lower *lw, ts_val loop, ts_val range[3]);
void ts__hook_loop_open(ts_lower *lw, ts_val loop);
ts_val ts__hook_loop_enter(ts_lower *lw, ts_val loop, ts_val next);
ts_val ts__hook_loop_results(ts_lower *lw, ts_val loop, ts_val next);
void ts__hook_loop_next(ts_lower *lw, ts_val loop, ts_vals *values);
void ts__hook_loop_types(ts_lower *lw, ts_val loop, ts_vals *types);
void ts__hook_loop_end(ts_lower *lw, ts_val loop);
ts_val ts__hook_first_step(ts_lower *lw, ts_val loop);               /* 0 = no strategy knows */
ts_val ts__hook_skip_steps(ts_lower *lw, ts_val loop, ts_val count); /* `count` itself when none skips */
bool ts__hook_skips(ts_lower *lw, ts_val v);
bool ts__hook_defers(ts_lower *lw, ts_val v);
void ts__hook_recalls(ts_lower *lw, ts_val v);
void ts__hook_region(ts_lower *lw, ts_val opener);
bool ts__hook_load(ts_lower *lw, ts_val v);
bool ts__hook_product(ts_lower *lw, ts_val v);
bool ts__hook_store(ts_lower *lw, ts_val v);
void ts__hook_read(ts_lower *lw, ts_val v);
bool ts__hook_barrier(ts_lower *lw);
ts_val ts__hook_operand(ts_lower *lw, ts_val x);
ts_val ts__hook_rounds(ts_lower *lw, ts_val x);
ts_prefetch *ts__hook_prefetch(ts_lower *lw, ts_val product);
void ts__hook_advance(ts_lower *lw, ts_val product);

#endif
