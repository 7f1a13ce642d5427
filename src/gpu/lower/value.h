/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile values while lowering: which registers hold them, in which layouts (lower.c). A value may be held in several
 * layouts at once; what a region adds is forgotten at its end.
 *
 *     ts__lower_get(lw, x, L) ─▶ held in L?  ─ yes ─▶ its registers
 *                                └ no ─▶ moved from its home (convert.c), or a free value written anew (elem.c)
 */
#ifndef TS_GPU_LOWER_VALUE_H
#define TS_GPU_LOWER_VALUE_H

#include "gpu/layout/layout.h"
#include "ir/ir.h"

typedef struct ts_lower ts_lower;

/* A value held in registers of one layout. */
typedef struct ts_held {
    ts_val value;
    const ts_linear *layout;
    const ts_val *reg;
    uint32_t next; /* older entry of the same value, index + 1 */
} ts_held;

typedef struct ts_values {
    ts_val *scalar;    /* [tile value of rank 0] its thread value */
    uint32_t *newest;  /* [tile value] newest held entry, index + 1 */
    TS_VEC(ts_held) held;
    TS_VEC(uint32_t) scope; /* of each open region: entries that were held before it */
    ts_val *nowhere;   /* where registers go after memory ran out */
} ts_values;

/* A list of thread values that grows. */
typedef struct ts_vals {
    TS_VEC(ts_val) v;
} ts_vals;

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
/* Writes a free value in a layout. */
const ts_val *ts__lower_free(ts_lower *lw, ts_val v, const ts_linear *layout);
/* Register bits whose column is zero: they repeat others. */
uint32_t ts__lower_repeats(const ts_linear *layout);
/* The type a tile element has in a thread. */
ts_type ts__lower_elem(const ts_lower *lw, ts_val v);
/* Pointer to the elements of a dense constant, in global memory. */
ts_val ts__lower_dense(ts_lower *lw, ts_val v);

/* Scopes follow the regions of the output. */
void ts__lower_open(ts_lower *lw);
void ts__lower_close(ts_lower *lw);
void ts__lower_drop(ts_lower *lw, uint32_t keep); /* forgets all but the oldest `keep` held entries */

/* Adds the registers of tile value `v`, in the home of `as`: none for tokens, one for scalars. */
void ts__lower_expand(ts_lower *lw, ts_val v, ts_val as, ts_vals *out);
/* The reverse: gives `v` as many of the thread values `from` as expand added; returns what is left. */
const ts_val *ts__lower_bind(ts_lower *lw, ts_val v, const ts_val *from);
/* Types of the thread values of the results of a tile-level opener. */
void ts__lower_result_types(ts_lower *lw, ts_val opener, ts_vals *types);

/* Copies the instructions of a region (after its args, up to `yield`) with args given; gives the yielded values. For
 * bodies of reduce and scan: scalars only. */
void ts__lower_inline(ts_lower *lw, ts_val opener, const ts_val *args, ts_val *out);
/* out = body(x, acc) of reduction or scan `v`: its region takes pairs of an element and an accumulator for each of at
 * most TS_COMBINE_INPUTS inputs. `out` is neither of the others. */
enum { TS_COMBINE_INPUTS = 8 };
void ts__lower_combine(ts_lower *lw, ts_val v, const ts_val *acc, const ts_val *x, ts_val *out);

#endif
