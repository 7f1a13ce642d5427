/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of complex numbers, written in real functions and operations on the two parts, which may have any shape.
 * Infinities, NaN and the signs of zero are those of C's Annex G and Python's cmath (which raises where the result is a
 * NaN). One branch of each formula is chosen by selects; what the others compute is dropped.
 *
 *     exp, sinh, cosh    e^x cos y ..; where e^x alone overflows in factors, the least first
 *     tanh               (t (1 + u^2), u / cosh^2 x) / (1 + (t u)^2), t = tanh x, u = tan y; beyond |x| = 22 its limit
 *     log                log hypot(x, y) and the angle; near |z| = 1 log1p((a - 1)(a + 1) + b^2) / 2
 *     sqrt               of the half plane x > 0, scaled; the other one is its mirror image
 *     asinh, acosh, acos, atanh   W. Kahan, Branch cuts for complex elementary functions (1987); beyond a quarter of
 *                        the greatest float log(2 z)
 *     sin, cos, tan, asin, atan   of the hyperbolic ones, turned by i
 *     pow                |a|^re(b) e^(-im(b) arg(a)), turned by the angle; 1 for b = 0, 0 and NaN for a = 0
 *
 * Bounds of the error in ulps of the size of the result: tests/python/simt/test_simt_complex.py.
 */
#include "math/cmath.h"
#include "ir/ir.h"
#include <float.h>
#include <math.h>

typedef struct cmath {
    ts_builder *b;
    ts_type type; /* of the parts */
    bool is_wide; /* f64 */
} cmath;

typedef void cmath_fn(const cmath *c, const ts_val z[2], ts_val out[2]);

/* ---- real operations ------------------------------------------------------------------------------ */

static ts_val cm_number(const cmath *c, double x)
{
    return ts_float(c->b, c->type, x);
}

/* One constant for each format. */
static ts_val cm_limit(const cmath *c, double wide, double narrow)
{
    return cm_number(c, c->is_wide ? wide : narrow);
}

static ts_val cm_add(const cmath *c, ts_val x, ts_val y)
{
    return ts_op2(c->b, TS_OP_addf, x, y, 0);
}

static ts_val cm_sub(const cmath *c, ts_val x, ts_val y)
{
    return ts_op2(c->b, TS_OP_subf, x, y, 0);
}

static ts_val cm_mul(const cmath *c, ts_val x, ts_val y)
{
    return ts_op2(c->b, TS_OP_mulf, x, y, 0);
}

static ts_val cm_div(const cmath *c, ts_val x, ts_val y)
{
    return ts_op2(c->b, TS_OP_divf, x, y, 0);
}

static ts_val cm_scale(const cmath *c, ts_val x, double by)
{
    return cm_mul(c, x, cm_number(c, by));
}

/* An operation of one operand: sin, exp, absf, .. */
static ts_val cm_op(const cmath *c, ts_op op, ts_val x)
{
    return ts_op1(c->b, op, x, 0);
}

static ts_val cm_neg(const cmath *c, ts_val x)
{
    return cm_op(c, TS_OP_negf, x);
}

static ts_val cm_abs(const cmath *c, ts_val x)
{
    return cm_op(c, TS_OP_absf, x);
}

static ts_val cm_hypot(const cmath *c, ts_val x, ts_val y)
{
    return ts_math_call(c->b, TS_MATH_hypot, x, y);
}

static ts_val cm_angle(const cmath *c, ts_val y, ts_val x)
{
    return ts_op2(c->b, TS_OP_atan2, y, x, 0);
}

static ts_val cm_sign(const cmath *c, ts_val size, ts_val sign)
{
    return ts_math_call(c->b, TS_MATH_copysign, size, sign);
}

static ts_val cm_is(const cmath *c, ts_pred pred, ts_val x, ts_val y)
{
    return ts_cmp(c->b, TS_OP_cmpf, pred, x, y, pred == TS_NE ? TS_A_UNORDERED : 0);
}

static ts_val cm_is_number(const cmath *c, ts_pred pred, ts_val x, double y)
{
    return cm_is(c, pred, x, cm_number(c, y));
}

static ts_val cm_is_nan(const cmath *c, ts_val x)
{
    return cm_is(c, TS_NE, x, x);
}

static ts_val cm_is_inf(const cmath *c, ts_val x)
{
    return cm_is_number(c, TS_EQ, cm_abs(c, x), INFINITY);
}

static ts_val cm_and(const cmath *c, ts_val x, ts_val y)
{
    return ts_op2(c->b, TS_OP_andi, x, y, 0);
}

static ts_val cm_or(const cmath *c, ts_val x, ts_val y)
{
    return ts_op2(c->b, TS_OP_ori, x, y, 0);
}

static ts_val cm_select(const cmath *c, ts_val cond, ts_val x, ts_val y)
{
    return ts_select(c->b, cond, x, y);
}

/* Neither infinite nor NaN; and the opposite. */
static ts_val cm_is_finite(const cmath *c, ts_val x)
{
    return cm_is_number(c, TS_LT, cm_abs(c, x), INFINITY);
}

static ts_val cm_is_strange(const cmath *c, ts_val x)
{
    return cm_or(c, cm_is_nan(c, x), cm_is_inf(c, x));
}

/* a + bi -> i (a + bi), and -i (a + bi) */
static void cm_turn(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val re = z[0];
    out[0] = cm_neg(c, z[1]);
    out[1] = re;
}

/* -i f(i z): what a function of circles is by that of the hyperbola. */
static void cm_turned(const cmath *c, void (*of)(const cmath *c, const ts_val z[2], ts_val out[2]), const ts_val z[2],
                      ts_val out[2])
{
    ts_val turned[2];
    cm_turn(c, z, turned);
    of(c, turned, turned);
    ts_val re = turned[0];
    out[0] = turned[1];
    out[1] = cm_neg(c, re);
}

/* ---- exponentials ---------------------------------------------------------------------------------- */

/* x, or the limit with its sign where `size` (x or |x|) is beyond it; by^2 is e to the power of what was left off: the
 * result times by, twice, is that of x, also where y is so small that it is finite. */
static ts_val cm_drawn(const cmath *c, ts_val x, ts_val size, ts_val *by)
{
    ts_val limit = cm_limit(c, 708, 87), most = cm_limit(c, 1400, 160), rest = cm_sub(c, size, limit);
    ts_val big = cm_and(c, cm_is(c, TS_GT, size, limit), cm_is_finite(c, x));
    rest = cm_select(c, cm_is(c, TS_GT, rest, most), most, rest);
    *by = cm_op(c, TS_OP_exp, cm_scale(c, cm_select(c, big, rest, cm_number(c, 0)), 0.5));
    return cm_select(c, big, cm_sign(c, limit, x), x);
}

/* size (cos y, sin y); with y = 0 its sign alone, whatever the size. */
static void cm_rect(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val size = z[0], y = z[1], one = cm_number(c, 1), zero = cm_number(c, 0), strange = cm_is_strange(c, y);
    ts_val flat = cm_mul(c, cm_sign(c, one, size), y), none = cm_and(c, cm_is_number(c, TS_EQ, size, 0), strange);
    ts_val re = cm_mul(c, size, cm_op(c, TS_OP_cos, y)), im = cm_mul(c, size, cm_op(c, TS_OP_sin, y));
    re = cm_select(c, cm_and(c, cm_is_inf(c, size), strange), cm_abs(c, size), re);
    im = cm_select(c, cm_is_number(c, TS_EQ, y, 0), flat, im);
    out[0] = cm_select(c, none, zero, re);
    out[1] = cm_select(c, none, cm_sign(c, zero, y), im);
}

static void cm_exp_of(const cmath *c, ts_op op, ts_val x, ts_val angle, ts_val out[2])
{
    ts_val by, pair[2], lost = cm_and(c, cm_is_finite(c, x), cm_is_strange(c, angle)), none = cm_sub(c, angle, angle);
    if (op == TS_OP_exp)
        x = cm_drawn(c, x, x, &by);
    pair[0] = cm_op(c, op, x);
    pair[1] = angle;
    cm_rect(c, pair, out);
    for (int i = 0; i < 2; i++) {
        if (op == TS_OP_exp)
            out[i] = cm_mul(c, cm_mul(c, out[i], by), by);
        out[i] = cm_select(c, lost, none, out[i]); /* e^x may be infinite where x is not */
    }
}

static void cm_exp(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_exp_of(c, TS_OP_exp, z[0], z[1], out);
}

static void cm_exp2(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_exp_of(c, TS_OP_exp2, z[0], cm_scale(c, z[1], 0.6931471805599453), out);
}

/* e^z - 1: (expm1 x cos y - 2 sin^2(y / 2), e^x sin y) */
static void cm_expm1(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val half = cm_op(c, TS_OP_sin, cm_scale(c, z[1], 0.5)), re = ts_math_call(c->b, TS_MATH_expm1, z[0], 0);
    ts_val end = cm_and(c, cm_is_inf(c, z[0]), cm_is_strange(c, z[1])), limit = re;
    re = cm_mul(c, re, cm_op(c, TS_OP_cos, z[1]));
    out[0] = cm_select(c, end, limit, cm_sub(c, re, cm_scale(c, cm_mul(c, half, half), 2)));
    out[1] = cm_mul(c, cm_op(c, TS_OP_exp, z[0]), cm_op(c, TS_OP_sin, z[1])); /* also where the first is infinite */
}

/* What two hyperbolic functions of x make of the angle: (first cos y, second sin y). */
static void cm_hyperbolic(const cmath *c, ts_op first, ts_op second, const ts_val z[2], ts_val out[2])
{
    ts_val by, x = cm_drawn(c, z[0], cm_abs(c, z[0]), &by), y = z[1];
    ts_val u = cm_op(c, first, x), v = cm_op(c, second, x), strange = cm_is_strange(c, y);
    ts_val re = cm_mul(c, cm_mul(c, cm_mul(c, u, cm_op(c, TS_OP_cos, y)), by), by);
    ts_val im = cm_mul(c, cm_mul(c, cm_mul(c, v, cm_op(c, TS_OP_sin, y)), by), by);
    ts_val sign = second == TS_OP_sinh ? cm_sign(c, cm_number(c, 1), x) : cm_number(c, 1);
    ts_val none = cm_and(c, cm_is_number(c, TS_EQ, x, 0), strange);
    re = cm_select(c, cm_and(c, cm_is_inf(c, x), strange), cm_number(c, INFINITY), re);
    im = cm_select(c, cm_is_number(c, TS_EQ, y, 0), cm_mul(c, sign, y), im);
    out[0] = first == TS_OP_sinh ? cm_select(c, none, x, re) : re;
    out[1] = second == TS_OP_sinh ? cm_select(c, none, x, im) : im;
}

static void cm_sinh(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_hyperbolic(c, TS_OP_sinh, TS_OP_cosh, z, out);
}

static void cm_cosh(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_hyperbolic(c, TS_OP_cosh, TS_OP_sinh, z, out);
}

static void cm_tanh(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val x = z[0], y = z[1], one = cm_number(c, 1), zero = cm_number(c, 0), size = cm_abs(c, x);
    ts_val t = cm_op(c, TS_OP_tanh, x), u = cm_op(c, TS_OP_tan, y), tu = cm_mul(c, t, u);
    ts_val down = cm_add(c, one, cm_mul(c, tu, tu)), w = cm_div(c, one, cm_op(c, TS_OP_cosh, x));
    ts_val re = cm_div(c, cm_mul(c, t, cm_add(c, one, cm_mul(c, u, u))), down);
    ts_val im = cm_mul(c, cm_mul(c, cm_div(c, u, down), w), w);
    ts_val wave = cm_mul(c, cm_op(c, TS_OP_sin, y), cm_op(c, TS_OP_cos, y));
    ts_val tail = cm_op(c, TS_OP_exp, cm_scale(c, size, -2)), far = cm_is(c, TS_GT, size, cm_limit(c, 22, 11));
    ts_val limit = cm_select(c, cm_is_finite(c, y), cm_mul(c, cm_scale(c, wave, 4), tail), zero);
    limit = cm_select(c, cm_and(c, cm_is_finite(c, x), cm_is_strange(c, y)), cm_mul(c, y, zero), limit);
    out[0] = cm_select(c, far, cm_sign(c, one, x), re);
    out[0] = cm_select(c, cm_and(c, cm_is_finite(c, x), cm_is_strange(c, y)), cm_sub(c, y, y), out[0]);
    out[0] = cm_select(c, cm_is_number(c, TS_EQ, x, 0), x, out[0]);
    out[1] = cm_select(c, far, limit, im);
    out[1] = cm_select(c, cm_is_number(c, TS_EQ, y, 0), y, out[1]);
}

static void cm_sin(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_turned(c, cm_sinh, z, out);
}

static void cm_cos(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val turned[2];
    cm_turn(c, z, turned);
    cm_cosh(c, turned, out);
}

static void cm_tan(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_turned(c, cm_tanh, z, out);
}

/* ---- logarithms and roots ------------------------------------------------------------------------------ */

/* log|z|: scaled by a half where hypot would overflow. */
static ts_val cm_log_size(const cmath *c, const ts_val z[2])
{
    ts_val a = cm_abs(c, z[0]), b = cm_abs(c, z[1]), swap = cm_is(c, TS_LT, a, b), one = cm_number(c, 1);
    ts_val more = cm_select(c, swap, b, a), less = cm_select(c, swap, a, b);
    ts_val big = cm_is(c, TS_GT, more, cm_limit(c, DBL_MAX / 4, FLT_MAX / 4));
    ts_val by = cm_select(c, big, cm_number(c, 0.5), one);
    ts_val size = cm_hypot(c, cm_mul(c, a, by), cm_mul(c, b, by)), plain = cm_op(c, TS_OP_log, size);
    plain = cm_add(c, plain, cm_select(c, big, cm_number(c, 0.6931471805599453), cm_number(c, 0)));
    ts_val rest = cm_mul(c, cm_sub(c, more, one), cm_add(c, more, one));
    ts_val near = ts_math_call(c->b, TS_MATH_log1p, cm_add(c, rest, cm_mul(c, less, less)), 0);
    ts_val is_near = cm_and(c, cm_is_number(c, TS_GT, size, 0.71), cm_is_number(c, TS_LT, size, 1.73));
    return cm_select(c, is_near, cm_scale(c, near, 0.5), plain);
}

static void cm_log(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val angle = cm_angle(c, z[1], z[0]);
    out[0] = cm_log_size(c, z);
    out[1] = angle;
}

static void cm_log_over(const cmath *c, double base, const ts_val z[2], ts_val out[2])
{
    cm_log(c, z, out);
    for (int i = 0; i < 2; i++)
        out[i] = cm_div(c, out[i], cm_number(c, base));
}

static void cm_log10(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_log_over(c, 2.302585092994046, z, out);
}

static void cm_log2(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_log_over(c, 0.6931471805599453, z, out);
}

/* log(1 + z): near 0 by log1p(x (x + 2) + y^2) / 2 */
static void cm_log1p(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val x = z[0], y = z[1], moved[2] = {cm_add(c, x, cm_number(c, 1)), y};
    ts_val square = cm_add(c, cm_mul(c, x, cm_add(c, x, cm_number(c, 2))), cm_mul(c, y, y));
    ts_val near = cm_scale(c, ts_math_call(c->b, TS_MATH_log1p, square, 0), 0.5);
    ts_val is_near = cm_and(c, cm_is_number(c, TS_LT, cm_abs(c, x), 0.5), cm_is_number(c, TS_LT, cm_abs(c, y), 0.5));
    cm_log(c, moved, out);
    out[0] = cm_select(c, is_near, near, out[0]);
}

static void cm_sqrt(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val x = z[0], y = z[1], a = cm_abs(c, x), b = cm_abs(c, y), zero = cm_number(c, 0);
    ts_val least = cm_limit(c, DBL_MIN, FLT_MIN);
    ts_val tiny = cm_and(c, cm_is(c, TS_LT, a, least), cm_is(c, TS_LT, b, least));
    ts_val up = cm_select(c, tiny, cm_limit(c, 0x1p53, 0x1p25), cm_number(c, 0.125));
    ts_val down = cm_select(c, tiny, cm_limit(c, 0x1p-27, 0x1p-13), cm_number(c, 2));
    ts_val scaled = cm_mul(c, a, up), size = cm_hypot(c, scaled, cm_mul(c, b, up));
    ts_val root = cm_mul(c, cm_op(c, TS_OP_sqrt, cm_add(c, scaled, size)), down);
    ts_val other = cm_div(c, b, cm_scale(c, root, 2)), right = cm_is_number(c, TS_GE, x, 0);
    ts_val none = cm_and(c, cm_is_number(c, TS_EQ, a, 0), cm_is_number(c, TS_EQ, b, 0)), high = cm_is_inf(c, b);
    ts_val re = cm_select(c, right, root, other), im = cm_sign(c, cm_select(c, right, other, root), y);
    out[0] = cm_select(c, high, b, cm_select(c, none, zero, re));
    out[1] = cm_select(c, cm_or(c, none, high), y, im);
}

/* ---- inverse functions ------------------------------------------------------------------------------------ */

/* Where |x| or |y| is so great that 1 beside it says nothing; and log|2 z| of such a number. */
static ts_val cm_is_far(const cmath *c, const ts_val z[2])
{
    ts_val most = cm_limit(c, DBL_MAX / 4, FLT_MAX / 4);
    return cm_or(c, cm_is(c, TS_GT, cm_abs(c, z[0]), most), cm_is(c, TS_GT, cm_abs(c, z[1]), most));
}

static ts_val cm_far_log(const cmath *c, const ts_val z[2])
{
    ts_val size = cm_hypot(c, cm_scale(c, z[0], 0.5), cm_scale(c, z[1], 0.5));
    return cm_add(c, cm_op(c, TS_OP_log, size), cm_number(c, 1.3862943611198906));
}

/* sqrt(u + x, y) */
static void cm_root_at(const cmath *c, double u, ts_val x, ts_val y, ts_val out[2])
{
    ts_val moved[2] = {cm_add(c, cm_number(c, u), x), y};
    cm_sqrt(c, moved, out);
}

static void cm_acos(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val x = z[0], y = z[1], s[2], t[2], far = cm_is_far(c, z), half_turn = cm_number(c, 1.5707963267948966);
    cm_root_at(c, 1, cm_neg(c, x), cm_neg(c, y), s);
    cm_root_at(c, 1, x, y, t);
    ts_val re = cm_scale(c, cm_angle(c, s[0], t[0]), 2);
    ts_val cross = cm_sub(c, cm_mul(c, t[0], s[1]), cm_mul(c, t[1], s[0]));
    ts_val im = ts_math_call(c->b, TS_MATH_asinh, cross, 0);
    re = cm_select(c, cm_and(c, cm_is_number(c, TS_EQ, x, 0), cm_is_nan(c, y)), half_turn, re);
    out[0] = cm_select(c, far, cm_angle(c, cm_abs(c, y), x), re);
    out[1] = cm_select(c, far, cm_sign(c, cm_far_log(c, z), cm_neg(c, y)), im);
}

static void cm_acosh(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val x = z[0], y = z[1], s[2], t[2], far = cm_is_far(c, z);
    cm_root_at(c, -1, x, y, s);
    cm_root_at(c, 1, x, y, t);
    ts_val dot = cm_add(c, cm_mul(c, s[0], t[0]), cm_mul(c, s[1], t[1]));
    ts_val re = ts_math_call(c->b, TS_MATH_asinh, dot, 0), im = cm_scale(c, cm_angle(c, s[1], t[0]), 2);
    ts_val turned = cm_and(c, cm_is_number(c, TS_EQ, x, 0), cm_is_nan(c, y));
    im = cm_select(c, turned, cm_number(c, 1.5707963267948966), im);
    out[0] = cm_select(c, far, cm_far_log(c, z), re);
    out[1] = cm_select(c, far, cm_angle(c, y, x), im);
}

static void cm_asinh(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val x = z[0], y = z[1], s[2], t[2], far = cm_is_far(c, z);
    cm_root_at(c, 1, y, cm_neg(c, x), s);
    cm_root_at(c, 1, cm_neg(c, y), x, t);
    ts_val cross = cm_sub(c, cm_mul(c, s[0], t[1]), cm_mul(c, t[0], s[1]));
    ts_val dot = cm_sub(c, cm_mul(c, s[0], t[0]), cm_mul(c, s[1], t[1]));
    ts_val re = ts_math_call(c->b, TS_MATH_asinh, cross, 0), im = cm_angle(c, y, dot);
    im = cm_select(c, cm_and(c, cm_is_nan(c, x), cm_is_number(c, TS_EQ, y, 0)), y, im);
    out[0] = cm_select(c, far, cm_sign(c, cm_far_log(c, z), x), re);
    out[1] = cm_select(c, far, cm_angle(c, y, cm_abs(c, x)), im);
}

/* Of |x|: far out x / |z|^2, at 1 the pole, else log1p; the sign of x comes last. */
static void cm_atanh(const cmath *c, const ts_val z[2], ts_val out[2])
{
    ts_val one = cm_number(c, 1), zero = cm_number(c, 0), x = cm_abs(c, z[0]), b = cm_abs(c, z[1]);
    ts_val turn = cm_sign(c, one, z[0]), y = cm_mul(c, z[1], turn), quarter = cm_number(c, 1.5707963267948966);
    ts_val most = cm_limit(c, 0x1p510, 0x1p62), least = cm_limit(c, 0x1p-511, 0x1p-63);
    ts_val far = cm_or(c, cm_is(c, TS_GT, x, most), cm_is(c, TS_GT, b, most));
    ts_val half = cm_hypot(c, cm_scale(c, x, 0.5), cm_scale(c, b, 0.5));
    ts_val away = cm_div(c, cm_div(c, cm_scale(c, x, 0.25), half), half);
    away = cm_select(c, cm_or(c, cm_is_inf(c, x), cm_is_inf(c, b)), zero, away);
    ts_val pole = cm_and(c, cm_is_number(c, TS_EQ, x, 1), cm_is(c, TS_LT, b, least));
    ts_val near = cm_op(c, TS_OP_log, cm_div(c, cm_op(c, TS_OP_sqrt, cm_hypot(c, b, cm_number(c, 2))),
                                             cm_op(c, TS_OP_sqrt, b)));
    ts_val near_im = cm_scale(c, cm_sign(c, cm_angle(c, cm_number(c, 2), cm_neg(c, b)), y), 0.5);
    near_im = cm_select(c, cm_is_number(c, TS_EQ, b, 0), y, near_im);
    ts_val back = cm_sub(c, one, x), square = cm_mul(c, b, b);
    ts_val ratio = cm_div(c, cm_scale(c, x, 4), cm_add(c, cm_mul(c, back, back), square));
    ts_val re = cm_scale(c, ts_math_call(c->b, TS_MATH_log1p, ratio, 0), 0.25);
    re = cm_select(c, cm_is_number(c, TS_EQ, x, 0), x, re);
    ts_val low = cm_sub(c, cm_mul(c, back, cm_add(c, one, x)), square);
    ts_val im = cm_scale(c, cm_angle(c, cm_scale(c, y, 2), low), 0.5);
    ts_val far_im = cm_select(c, cm_is_inf(c, b), quarter, cm_select(c, cm_is_nan(c, x), x, quarter));
    far_im = cm_select(c, cm_is_nan(c, y), y, cm_sign(c, far_im, y));
    re = cm_select(c, far, away, cm_select(c, pole, near, re));
    im = cm_select(c, far, far_im, cm_select(c, pole, near_im, im));
    out[0] = cm_mul(c, re, turn);
    out[1] = cm_mul(c, im, turn);
}

static void cm_asin(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_turned(c, cm_asinh, z, out);
}

static void cm_atan(const cmath *c, const ts_val z[2], ts_val out[2])
{
    cm_turned(c, cm_atanh, z, out);
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static cmath cm_begin(ts_builder *b, const ts_val z[2])
{
    ts_type type = ts_type_of(b->fn, z[0]);
    return (cmath){b, type, ts_type_elem(b->fn->module, type) == TS_T_f64};
}

void ts__cmath_call(ts_builder *b, ts_cmath which, const ts_val z[2], ts_val out[2])
{
    static cmath_fn *const functions[TS_CMATH_COUNT] = {
#define X(name) cm_##name,
        TS_CMATH(X)
#undef X
    };
    ts_val given[2] = {z[0], z[1]};
    cmath c = cm_begin(b, z);
    functions[which](&c, given, out);
}

/* Whether a number is neither 0 nor infinite or NaN. */
static ts_val cm_is_normal(const cmath *c, ts_val x)
{
    return cm_and(c, cm_is_finite(c, x), cm_is_number(c, TS_NE, x, 0));
}

/* e to the product of y and a logarithm, both parts of which are NaN: where a part of either is infinite, the product
 * is that of signs times infinity, as C multiplies (Annex G.5.1), so the power is infinite or 0. */
static void cm_recovered(const cmath *c, const ts_val y[2], const ts_val log[2], ts_val out[2])
{
    ts_val x[2][2] = {{y[0], y[1]}, {log[0], log[1]}}, none = cm_number(c, 0), one = cm_number(c, 1), any = 0;
    for (int i = 0; i < 2; i++) {
        ts_val big = cm_or(c, cm_is_inf(c, x[i][0]), cm_is_inf(c, x[i][1])), *other = x[1 - i];
        for (int k = 0; k < 2; k++) {
            ts_val sign = cm_sign(c, cm_select(c, cm_is_inf(c, x[i][k]), one, none), x[i][k]);
            x[i][k] = cm_select(c, big, sign, x[i][k]);
            other[k] = cm_select(c, cm_and(c, big, cm_is_nan(c, other[k])), cm_sign(c, none, other[k]), other[k]);
        }
        any = any ? cm_or(c, any, big) : big;
    }
    ts_val re = cm_sub(c, cm_mul(c, x[0][0], x[1][0]), cm_mul(c, x[0][1], x[1][1]));
    ts_val im = cm_add(c, cm_mul(c, x[0][0], x[1][1]), cm_mul(c, x[0][1], x[1][0]));
    ts_val above = cm_and(c, any, cm_is_number(c, TS_GT, re, 0)), below = cm_and(c, any, cm_is_number(c, TS_LT, re, 0));
    out[0] = cm_select(c, above, cm_number(c, INFINITY), cm_select(c, below, none, cm_number(c, NAN)));
    out[1] = cm_select(c, below, cm_sign(c, none, im), cm_number(c, NAN));
}

void ts__cmath_pow(ts_builder *b, const ts_val x[2], const ts_val y[2], ts_val out[2])
{
    const cmath c = cm_begin(b, x);
    ts_val size = cm_hypot(&c, x[0], x[1]), at = cm_angle(&c, x[1], x[0]), one = cm_number(&c, 1);
    ts_val zero = cm_number(&c, 0), nan = cm_number(&c, NAN), real = cm_is_number(&c, TS_EQ, y[1], 0);
    ts_val length = ts_op2(b, TS_OP_pow, size, y[0], 0), turn = cm_mul(&c, at, y[0]);
    ts_val lost = cm_mul(&c, at, y[1]), by = cm_op(&c, TS_OP_exp, cm_neg(&c, lost)), log = cm_op(&c, TS_OP_log, size);
    ts_val phase = cm_add(&c, turn, cm_mul(&c, y[1], log));
    /* factors that are out of range, while the product is in it */
    ts_val far = cm_op(&c, TS_OP_exp, cm_sub(&c, cm_mul(&c, y[0], log), lost));
    ts_val fine = cm_and(&c, cm_is_normal(&c, length), cm_is_normal(&c, by));
    length = cm_select(&c, real, length, cm_select(&c, fine, cm_mul(&c, length, by), far));
    ts_val unit = cm_and(&c, real, cm_is_number(&c, TS_EQ, y[0], 0));
    ts_val none = cm_is_number(&c, TS_EQ, size, 0);
    ts_val of_none = cm_select(&c, cm_is_number(&c, TS_GT, y[0], 0), zero, nan);
    ts_val polar[2] = {length, phase}, parts[2] = {log, at}, recovered[2];
    ts_val odd = cm_and(&c, cm_is_nan(&c, phase), cm_is_nan(&c, cm_sub(&c, cm_mul(&c, y[0], log), lost)));
    cm_rect(&c, polar, polar);
    cm_recovered(&c, y, parts, recovered);
    for (int i = 0; i < 2; i++)
        polar[i] = cm_select(&c, odd, recovered[i], polar[i]);
    out[0] = cm_select(&c, unit, one, cm_select(&c, none, of_none, polar[0]));
    out[1] = cm_select(&c, unit, zero, cm_select(&c, none, of_none, polar[1]));
}
