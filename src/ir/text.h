/* SPDX-License-Identifier: Apache-2.0
 *
 * What print.c, read.c and verify.c share: how packed attribute words are cut into named fields,
 * and access to operands and pool words that cannot leave the pool, whatever the instruction says.
 *
 * A field is some bits of `aux`. It is written as one word when the value has a name (`ftz`, `rz`,
 * `acquire`), else as `label=number`; a zero is silent unless `always`. So `cmpi lt unsigned %1,
 * %2` and `ld nc n=4 %1` need no code of their own.
 */
#ifndef TS_IR_TEXT_H
#define TS_IR_TEXT_H

#include "ir/ir.h"

typedef struct ts__field {
    const char *label;
    const char *const *names; /* by value; NULL entries have no word */
    uint8_t n_names, shift, width;
    bool always;
} ts__field;

typedef struct ts__fields {
    const ts__field *at;
    uint32_t n;
} ts__fields;

/* The fields of an operation's attribute word; none for attributes kept in the pool. */
ts__fields ts__fields_of(ts_op op);
/* All bits that belong to some field. */
uint32_t ts__fields_mask(ts__fields fields);

enum { TS__MAX_NEST = 200, TS__MAX_OPNDS = 0x3FFF, TS__MAX_TYPE_NEST = 8 };
enum { TS__ROLES = TS_F_TOKEN | TS_F_MASK | TS_F_PAD | TS_F_SRC };
#define TS__N_ROLES 4
/* Optional operands come last, in this order. */
typedef struct ts__role {
    const char *name;
    uint8_t flag;
} ts__role;
extern const ts__role ts__roles[TS__N_ROLES];
extern const char *const ts__paddings[TS_PAD_NEG_INF + 1], *const ts__spaces[TS_LOCAL + 1];

/* Operands, or NULL when they would lie outside the pool. */
const uint32_t *ts__opnds_checked(const ts_fn *fn, const ts_inst *inst);
/* Number of pool words of the attribute (0 when it needs none); TS_NO when outside the pool. */
uint32_t ts__attr_words(const ts_fn *fn, const ts_inst *inst);
/* Operands without the optional ones; TS_NO when the flags promise more than there are. */
uint32_t ts__n_plain(const ts_inst *inst);
/* The type exists: a fixed id or an entry of the module's table. */
bool ts__type_known(const ts_module *m, ts_type type);
static inline uint64_t ts__word64(const uint32_t *w)
{
    return w[0] | (uint64_t)w[1] << 32;
}

enum { TS_PRINT_LOC = 1 }; /* write `loc(...)` after each instruction that has one */
void ts__print_fn(const ts_fn *fn, uint32_t flags, ts_text *out);
void ts__print_module(const ts_module *module, uint32_t flags, ts_text *out);
/* One instruction on one line, never failing on a broken one. */
void ts__print_inst(const ts_fn *fn, ts_val v, ts_text *out);

/* A payload (see ts__const_bits) as text: integers in decimal, floats in decimal when that reads
 * back to the same bits, else the bits in hexadecimal. */
void ts__print_payload(ts_type elem, uint64_t payload, ts_text *out);
/* What the reader makes of mantissa * 10^exponent10 (|mantissa| < 2^53, |exponent10| <= 22): both
 * are exact in double, so one correctly rounded operation gives the value, in any locale. */
double ts__decimal(int64_t mantissa, int exponent10);
uint64_t ts__float_payload(ts_type elem, double value);
static inline bool ts__has_decimal(ts_type elem) /* floats that the decimal form serves */
{
    return elem == TS_T_f16 || elem == TS_T_bf16 || elem == TS_T_f32 || elem == TS_T_tf32 ||
           elem == TS_T_f64;
}

#endif
