/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the pass `legalize` share. legalize.c walks and dispatches; legalize_int.c has division
 * and shifts, legalize_round.c directed roundings, legalize_narrow.c 8- and 4-bit floats, legalize_mma.c
 * matrix products.
 */
#ifndef TS_PASS_LEGALIZE_H
#define TS_PASS_LEGALIZE_H

#include "ir/ir.h"
#include "pass/pass.h"

/* One instruction about to be written; operands are values of the function being built. */
typedef struct ts_legal {
    ts_builder *b;
    ts_target target;
    const ts_inst *inst; /* of the old function; its type and attributes are to be read */
    ts_op op;
    ts_type type, elem;  /* of the result */
    ts_type from;        /* element type of the first operand */
    const ts_val *x;     /* operands */
    uint32_t n, attr;    /* ARITH bits, or 0 */
    bool not_negative[2]; /* the first and the second operand, integers, are known to be >= 0 (signed) */
} ts_legal;

static inline bool ts__legal_is_gpu(const ts_legal *l)
{
    return l->target != TS_TARGET_CPU;
}

/* A rewrite gives the value that takes the instruction's place, or 0 to keep the instruction. */
typedef ts_val ts_legal_fn(const ts_legal *l);

ts_legal_fn ts__legal_divide;     /* divi, remi */
ts_legal_fn ts__legal_shift;      /* shli, shri */
ts_legal_fn ts__legal_arith;      /* addf subf mulf divf sqrt fma with directed rounding */
ts_legal_fn ts__legal_itof;
ts_legal_fn ts__legal_ftof;
ts_legal_fn ts__legal_ftoi;
ts_legal_fn ts__legal_extreme;    /* maxf, minf */
ts_legal_fn ts__legal_mmaf;
ts_legal_fn ts__legal_mmaf_scaled;

/* x, an f32 or f64 (rounded to odd if it came from a longer number), to `elem` in the given direction, by
 * operations that round to nearest; for targets without directed conversions. */
ts_val ts__legal_round_to(ts_builder *b, ts_val x, ts_type elem, ts_round round);
/* Conversions of 8- and 4-bit floats by integers. to: from f32; from: to f32. */
ts_val ts__legal_narrow(ts_builder *b, ts_val x, ts_type elem, ts_round round);
ts_val ts__legal_widen(ts_builder *b, ts_val x, ts_type elem);

#endif
