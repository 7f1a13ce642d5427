/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of table/math.def for tests: how to build each function, where to try it, what it should give.
 */
#ifndef TS_TESTS_MATH_ROWS_H
#define TS_TESTS_MATH_ROWS_H

#include "math/reference.h"

typedef struct math_case {
    const char *name;
    ts_op op;
    ts_math_fn fn; /* of TS_OP_fn */
    ts_math_kind kind;
    double f32, f64, lo, hi; /* bounds; where to look closest */
    ts_real (*want)(ts_type type, ts_real x, ts_real y);
    ts_real (*least)(ts_real x); /* results below it count as it */
} math_case;

#define TS_MATH(name, kind, narrow, f32, f64, lo, hi, least, reference, ...)                       \
    static ts_real math_least_##name(ts_real x)                                                    \
    {                                                                                              \
        (void)x;                                                                                   \
        return least;                                                                              \
    }                                                                                              \
    static ts_real math_want_##name(ts_type type, ts_real x, ts_real y)                            \
    {                                                                                              \
        int n = isnan(y) ? 0 : (int)y;                                                             \
        (void)type, (void)n;                                                                       \
        return reference;                                                                          \
    }
#define TS_MATH_OP(op, kind, approx, f32, f64, reference, doc) TS_MATH(op, kind, 0, f32, f64, 0, 0, 0, reference, 0)
#include "table/math.def"

static const math_case math_cases[] = {
#define TS_MATH_OP(op, kind, approx, f32, f64, ...)                                                \
    {#op, TS_OP_##op, 0, TS_MATH_##kind, f32, f64, 0, 0, math_want_##op, math_least_##op},
#define TS_MATH(name, kind, narrow, f32, f64, lo, hi, ...)                                         \
    {#name, TS_OP_fn, TS_MATH_##name, TS_MATH_##kind, f32, f64, lo, hi, math_want_##name, math_least_##name},
#include "table/math.def"
};

static inline uint32_t math_operands(const math_case *c)
{
    return c->kind == TS_MATH_XX || c->kind == TS_MATH_XN ? 2 : 1;
}

/* Type of the second operand and of the result for elements of `type`. */
static inline ts_type math_second(const math_case *c, ts_type type)
{
    return c->kind == TS_MATH_XN ? TS_T_i32 : type;
}

static inline ts_val math_build(ts_builder *b, const math_case *c, ts_val x, ts_val y)
{
    if (c->op == TS_OP_fn)
        return ts_math_call(b, c->fn, x, y);
    return y ? ts_op2(b, c->op, x, y, 0) : ts_op1(b, c->op, x, 0);
}

/* The same with a truth value or an integer as a float of x's type, so that every function has a float to store. */
static inline ts_val math_build_float(ts_builder *b, const math_case *c, ts_val x, ts_val y)
{
    ts_type type = ts_type_of(b->fn, x);
    ts_val z = math_build(b, c, x, y);
    if (c->kind == TS_MATH_XI)
        return ts_cast(b, TS_OP_itof, z, ts_type_elem(b->fn->module, type), 0);
    return c->kind == TS_MATH_XB ? ts_select(b, z, ts_float(b, type, 1), ts_float(b, type, 0)) : z;
}

static inline uint64_t math_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
