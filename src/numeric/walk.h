/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of functions of two elements, in order (walk.c), and who else uses them (pick.c).
 */
#ifndef TS_NUMERIC_WALK_H
#define TS_NUMERIC_WALK_H

#include "numeric/numeric.h"

/* Places along an axis, counted from the end where they are negative, all of them inside. */
typedef struct nd_walk_places {
    int64_t n, extent, step;
    const int64_t *places;
} nd_walk_places;

/* A function for one dtype. Steps are bytes. `loop`: out[i] = f(x[i], y[i]), one after the other, so x may be what was
 * written before; where x and out make no step, f of x and all of y. `at`: to[place] = f(to[place], y[i]). */
typedef struct nd_walk {
    uint8_t fn, dtype;
    void (*loop)(int64_t n, const char *x, int64_t x_step, const char *y, int64_t y_step, char *out, int64_t step);
    void (*at)(const nd_walk_places *places, char *to, const char *y, int64_t y_step);
} nd_walk;
/* NULL: there is none. */
const nd_walk *ts__nd_walk_of(ts_nd_fn fn, ts_dtype dtype);
/* Around loops: what went wrong becomes faults of the graph. `is_of_one`: loops at places of an array of one axis. */
void ts__nd_walk_begin(const nd_walk *walk, bool is_of_one);
void ts__nd_walk_end(const nd_walk *walk, bool is_of_one, ts_nd_graph *graph);

#endif
