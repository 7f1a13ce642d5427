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
} fold_ctx;

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
