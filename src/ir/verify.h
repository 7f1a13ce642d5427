/* SPDX-License-Identifier: Apache-2.0
 *
 * What the three files of the verifier share. verify.c walks the function and knows structure,
 * elementwise rules and operand counts; verify_type.c the rules of types; verify_tile.c and
 * verify_simt.c one function for each operation whose rule is OWN.
 */
#ifndef TS_IR_VERIFY_H
#define TS_IR_VERIFY_H

#include "ir/text.h"

/* One instruction under the lens. Operands are known to be values that dominate it. */
typedef struct ts__verify {
    const ts_fn *fn;
    const ts_module *m;
    ts_error *err;
    ts_val v;
    const ts_inst *inst;
    const uint32_t *opnd;
    uint32_t n; /* operands without the optional ones */
    ts_type type;
    const uint32_t *first_res; /* for each instruction with `res`es: index of the first */
    const uint32_t *n_res;
} ts__verify;

/* Sets the message "@fn %v: text", the instruction and its place, and gives TS_VERIFY. */
TS_CHECKED ts_status ts__verify_fail(const ts__verify *c, const char *format, ...) TS_PRINTF(2, 3);
/* The same, and says the types that disagree behind it: "text: found i32, wanted f32". wanted TS_T_none: only what was
 * found. */
TS_CHECKED ts_status ts__verify_fail_type(const ts__verify *c, ts_type found, ts_type wanted, const char *format, ...)
    TS_PRINTF(4, 5);
#define TS__WANT(c, condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return ts__verify_fail((c), __VA_ARGS__);                                              \
    } while (0)

/* One type must be another; a condition on one type. */
#define TS__SAME_TYPE(c, found, wanted, ...)                                                                           \
    do {                                                                                                               \
        ts_type found_ = (found), wanted_ = (wanted);                                                                  \
        if (found_ != wanted_)                                                                                         \
            return ts__verify_fail_type((c), found_, wanted_, __VA_ARGS__);                                            \
    } while (0)
#define TS__WANT_TYPE(c, condition, found, ...)                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return ts__verify_fail_type((c), (found), TS_T_none, __VA_ARGS__);                                         \
    } while (0)

typedef ts_status ts__verify_fn(const ts__verify *c);
typedef struct ts__verify_rule {
    ts__verify_fn *check;
    uint8_t roles; /* optional operands it may have: TS_F_* */
} ts__verify_rule;
extern const ts__verify_rule ts__verify_tile[TS_OP_COUNT], ts__verify_simt[TS_OP_COUNT];

TS_CHECKED ts_status ts__verify_type(const ts__verify *c, ts_type type);

/* Type of operand i; TS_T_none beyond the last. */
static inline ts_type ts__verify_opnd(const ts__verify *c, uint32_t i)
{
    return i < c->inst->n_opnd ? ts_type_of(c->fn, c->opnd[i]) : TS_T_none;
}
static inline bool ts__is_ptr_to(const ts_module *m, ts_type t, ts_space space) /* scalar pointer */
{
    return ts_type_kind(m, t) == TS_KIND_PTR && ts_type_get(m, t)->space == space;
}
bool ts__same_shape(const ts_module *m, ts_type a, ts_type b);
/* Tile or scalar of numbers or pointers: what elementwise operations work on. */
bool ts__is_tile_like(const ts_module *m, ts_type t);
static inline bool ts__is_scalar_int(ts_type t)
{
    return t >= TS_T_i1 && t <= TS_T_i64;
}
static inline bool ts__is_arith_float(ts_type elem)
{
    return elem == TS_T_f16 || elem == TS_T_bf16 || elem == TS_T_f32 || elem == TS_T_f64;
}
/* What a function may hold, operations and calls: a kernel those of its level; a function that is `both` those
 * that both levels have, so that kernels of both may call it. */
static inline bool ts__level_fits(const ts_fn *fn, uint8_t level)
{
    return fn->entry ? (level & fn->level) != 0 : (level & fn->level) == fn->level;
}
static inline const char *ts__level_name(const ts_fn *fn)
{
    return fn->level == TS_LEVEL_T   ? "tile level"
           : fn->level == TS_LEVEL_S ? "thread level"
                                     : "operations of both levels";
}
/* The rule of `call`, and that no function of the module calls itself: verify_call.c. */
TS_CHECKED ts_status ts__verify_call(const ts__verify *c);
TS_CHECKED ts_status ts__verify_calls(const ts_module *m, ts_error *err);
/* Conversions of a C format string; -1 when one of them is malformed or unsupported. */
int ts__format_args(const char *format);
/* Rules common to both levels. */
TS_CHECKED ts_status ts__verify_order(const ts__verify *c, uint32_t allowed_orders);
TS_CHECKED ts_status ts__verify_rmw(const ts__verify *c, ts_type elem);
TS_CHECKED ts_status ts__verify_format(const ts__verify *c);

#endif
