/* SPDX-License-Identifier: Apache-2.0
 *
 * What fold.c (the walk), fold_elem.c (elementwise operations and the rows of fold.def) and
 * fold_shape.c (broadcast, reshape and friends) share.
 */
#ifndef TS_PASS_FOLD_H
#define TS_PASS_FOLD_H

#include "pass/number.h"
#include "pass/pass.h"

typedef struct fold_ctx {
    const ts_fn *from;
    ts_builder b;
    ts__numbers numbers;
    ts_arena *scratch;
    ts_shape shape; /* of `from` */
    ts_val *map;    /* value of `from` -> value being built */
    uint32_t cold;  /* depth of cold regions: their bodies keep one shape */
    uint32_t kept;  /* regions around the instruction at hand that stay */
    struct fold_unroll *unroll; /* the loops around it that are being unrolled; pass unroll alone */
    uint32_t tries; /* instructions that unrolling may still write in vain; 0: no loop is unrolled */
} fold_ctx;

/* Instructions from..to-1 of the old function. True when a terminator ended them early. */
bool ts__fold_region(fold_ctx *c, ts_val from, ts_val to);
bool ts__fold_failed(const fold_ctx *c);
/* Writes the trips of loop `v` one after the other, and says whether it did; true when the flow does not go on. */
bool ts__fold_unroll(fold_ctx *c, ts_val v, bool *dissolved);
/* Writes a short loop as one of four trips at once and the rest, and says whether it did. */
bool ts__fold_unroll_some(fold_ctx *c, ts_val v);
/* Notes a jump of a loop that is being unrolled; false for other terminators. */
bool ts__fold_jump(fold_ctx *c, ts_val v);
/* A loop around is not unrolled after all. */
bool ts__fold_gives_up(const fold_ctx *c);
/* The pass itself; `tries` as above. */
TS_CHECKED ts_status ts__fold(ts_fn *fn, ts_pass_env *env, uint32_t tries, ts_error *err);

/* An elementwise operation on values being built: a constant, an older value, or a new one. */
ts_val ts__fold_elem(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr);
/* broadcast, reshape, permute, extract, ... ; 0 when it must be copied as it is. `opnds` are new
 * values. */
ts_val ts__fold_shape(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux);
/* Emits and numbers. */
ts_val ts__fold_emit(fold_ctx *c, ts_op op, ts_type type, uint32_t n, const ts_val *opnds,
                     uint32_t aux, uint32_t flags);
ts_val ts__fold_bits(fold_ctx *c, ts_type type, uint64_t payload);

/* One row of fold.def, for the test of all rows. */
typedef struct ts__fold_rule {
    const char *name;
    ts_op op;
    const char *from, *to;
    uint8_t condition;
} ts__fold_rule;
extern const ts__fold_rule ts__fold_rules[];
extern const uint32_t ts__n_fold_rules;
enum { FOLD_ANY, FOLD_NOFTZ, FOLD_PLAIN, FOLD_WIDER };

#endif
