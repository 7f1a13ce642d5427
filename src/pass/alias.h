/* SPDX-License-Identifier: Apache-2.0
 *
 * Which accesses to memory of one tile block may touch the same bytes. The IR's memory order is program
 * order; a target that moves a load past a store, or runs two accesses element by element in one loop,
 * asks here first.
 *
 * The rules, from the language (docs/reference/tile.md, "Memory order"):
 *     - an address belongs to the one parameter, alloca or global it was computed from (its root);
 *     - memory of different roots is apart, unless the launch says that arguments overlap (ts_fn.overlap);
 *     - an address whose root cannot be followed (out of a list of arrays, carried by a loop) may be anywhere;
 *     - tiles of one partition view with indices that surely differ are apart, and so are tiles of pointers with an
 *       even step, of which one is the other and a part of the step: real and imaginary parts;
 *     - a fence and an access of an order above relaxed keep their place among all others.
 *
 *     %3 = load_view_tko %view, %i          meets %4? yes, but in the same place: element by element the
 *     %4 = store_view_tko %view, %x, %i     same addresses, so one loop may read and write each in turn
 *     %6 = store_view_tko %view, %x, %5     %5 = addi %i, 1: apart from %3 and %4
 */
#ifndef TS_PASS_ALIAS_H
#define TS_PASS_ALIAS_H

#include "ir/ir.h"

#define TS_ALIAS_UNKNOWN UINT32_MAX

typedef struct ts_alias {
    const ts_fn *fn;
    uint32_t *root; /* of pointers, tiles of them and views: the value they come from, 0 none yet */
} ts_alias;

/* In `scratch`. False when memory is out. Cost: linear. */
bool ts__alias_of(const ts_fn *fn, ts_arena *scratch, ts_alias *alias);
/* May two memory instructions of the tile level touch one byte, or must they keep their order for another reason? */
bool ts__alias_meet(const ts_alias *alias, ts_val a, ts_val b);
/* Do two memory instructions surely touch memory of different roots, whatever their orders? */
bool ts__alias_apart(const ts_alias *alias, ts_val a, ts_val b);
/* Is element k of one access's tile at the very address of element k of the other's, for all k, no two elements at one
 * address, and neither access one that orders others? */
bool ts__alias_same_place(const ts_alias *alias, ts_val a, ts_val b);
/* Does an access order others beyond the bytes it touches: a fence, an acquire, a release? */
bool ts__alias_orders(const ts_fn *fn, ts_val v);
/* How many operands of an operation its result may point into, from operand *first; -1: cannot be told. */
int ts__alias_sources(const ts_inst *inst, uint32_t *first);

#endif
