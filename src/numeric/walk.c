/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of two elements in host memory, one element after the other, by the thread that asks: segments of an axis
 * joined to one element each, the results for the first elements of an axis, what is joined to elements at places
 * (pick.c). A kernel for each segment takes 100 us; NumPy's order of calls is kept, so its values are:
 *
 *     segments  first element, then f(so far, next); sums of floats pairwise, by eights, as NumPy's
 *     running   out[i] = f(out[i - 1], x[i])
 *     places    to[p[i]] = f(to[p[i]], y[i]), also where places are equal
 *
 * One row of `walk_rows` for each function and dtype that has loops here; others are left to who asks.
 */
#include "base/widths.h"
#include "numeric/walk.h"
#include <fenv.h>
#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef struct walk_c64 {
    float re, im;
} walk_c64;
typedef struct walk_c128 {
    double re, im;
} walk_c128;

/* ---- functions ------------------------------------------------------------------------------------- */

/* The greater and the lesser as kernels give them: of zeros +0 is greater, NaN is the one without a sign. The third and
 * fourth give numbers before NaN. Which of two is greater cannot be foretold, so there is a branch for 0 and NaN
 * alone. `best`: of n numbers beside each other, NaN left out; infinite or 0 where that does not say it. */
#define WALK_IS_ODD(a, b, best) __builtin_expect(__builtin_isunordered(a, b) || (best) == 0, 0)
#define WALK_ORDER(type)                                                                                            \
    static inline type type##_maximum(type a, type b)                                                               \
    {                                                                                                               \
        type greater = a > b ? a : b;                                                                               \
        return !WALK_IS_ODD(a, b, greater) ? greater : a != a || b != b ? (type)NAN : a == b ? a + b : greater;     \
    }                                                                                                               \
    static inline type type##_minimum(type a, type b)                                                               \
    {                                                                                                               \
        type lesser = a < b ? a : b;                                                                                \
        return !WALK_IS_ODD(a, b, lesser) ? lesser : a != a || b != b ? (type)NAN : a == b ? -(-a - b) : lesser;    \
    }                                                                                                               \
    static inline type type##_fmax(type a, type b)                                                                  \
    {                                                                                                               \
        type greater = a > b ? a : b;                                                                               \
        return !WALK_IS_ODD(a, b, greater) ? greater                                                                \
                                           : a != a ? b == b ? b : (type)NAN : b != b ? a : type##_maximum(a, b);   \
    }                                                                                                               \
    static inline type type##_fmin(type a, type b)                                                                  \
    {                                                                                                               \
        type lesser = a < b ? a : b;                                                                                \
        return !WALK_IS_ODD(a, b, lesser) ? lesser                                                                  \
                                          : a != a ? b == b ? b : (type)NAN : b != b ? a : type##_minimum(a, b);    \
    }
enum { WALK_BESIDE = 16 }; /* numbers that are compared side by side */
WALK_ORDER(float)
WALK_ORDER(double)

/* The best of many numbers beside each other, in vectors of what the processor has. */
#define WALK_BEST_OF(name, type)                                                                                    \
    static type name(int64_t n, const type *x, bool least)                                                          \
    {                                                                                                               \
        type lanes[WALK_BESIDE], best = (type)(least ? INFINITY : -INFINITY);                                       \
        int64_t i = 0;                                                                                              \
        for (int64_t k = 0; k < WALK_BESIDE; k++)                                                                   \
            lanes[k] = best;                                                                                        \
        for (; least && i + WALK_BESIDE <= n; i += WALK_BESIDE)                                                     \
            for (int64_t k = 0; k < WALK_BESIDE; k++)                                                               \
                lanes[k] = x[i + k] < lanes[k] ? x[i + k] : lanes[k];                                               \
        for (; !least && i + WALK_BESIDE <= n; i += WALK_BESIDE)                                                    \
            for (int64_t k = 0; k < WALK_BESIDE; k++)                                                               \
                lanes[k] = x[i + k] > lanes[k] ? x[i + k] : lanes[k];                                               \
        for (int64_t k = 0; k < WALK_BESIDE; k++)                                                                   \
            best = least ? type##_fmin(best, lanes[k]) : type##_fmax(best, lanes[k]);                               \
        for (; i < n; i++)                                                                                          \
            best = least ? type##_fmin(best, x[i]) : type##_fmax(best, x[i]);                                       \
        return best;                                                                                                \
    }

WALK_BEST_OF(float_best, float)
WALK_BEST_OF(double_best, double)
#if defined(__x86_64__)
#define WALK_BEST_WIDE(type, suffix, mask, lanes)                                                                   \
    __attribute__((target("avx512f"))) static type type##_best_wide(int64_t n, const type *x, bool least)           \
    {                                                                                                               \
        __m512##mask best[4];                                                                                       \
        int64_t i = 0;                                                                                              \
        for (int k = 0; k < 4; k++)                                                                                 \
            best[k] = _mm512_set1_##suffix(least ? INFINITY : -INFINITY);                                           \
        for (; i + 4 * lanes <= n; i += 4 * lanes)                                                                  \
            for (int k = 0; k < 4; k++) { /* the second operand, where one is NaN */                                \
                __m512##mask v = _mm512_loadu_##suffix(x + i + k * lanes);                                          \
                best[k] = least ? _mm512_min_##suffix(v, best[k]) : _mm512_max_##suffix(v, best[k]);                \
            }                                                                                                       \
        for (int k = 1; k < 4; k++)                                                                                 \
            best[0] = least ? _mm512_min_##suffix(best[0], best[k]) : _mm512_max_##suffix(best[0], best[k]);        \
        type made = least ? _mm512_reduce_min_##suffix(best[0]) : _mm512_reduce_max_##suffix(best[0]);              \
        type rest = type##_best(n - i, x + i, least);                                                               \
        return least ? type##_fmin(made, rest) : type##_fmax(made, rest);                                           \
    }
WALK_BEST_WIDE(float, ps, , 16)
WALK_BEST_WIDE(double, pd, d, 8)
#define WALK_BEST_ALL(type) (ts__vector_bytes() == 64 ? type##_best_wide : type##_best)
#define WALK_WIDE(name) (ts__vector_bytes() >= 32 ? name##_wide : name)
#else
#define WALK_BEST_ALL(type) (type##_best)
#endif

#define WALK_COMPLEX(type)                                                                                          \
    static inline type type##_add(type a, type b)                                                                   \
    {                                                                                                               \
        return (type){a.re + b.re, a.im + b.im};                                                                    \
    }                                                                                                               \
    static inline type type##_subtract(type a, type b)                                                              \
    {                                                                                                               \
        return (type){a.re - b.re, a.im - b.im};                                                                    \
    }                                                                                                               \
    static inline type type##_multiply(type a, type b)                                                              \
    {                                                                                                               \
        return (type){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                                        \
    }
WALK_COMPLEX(walk_c64)
WALK_COMPLEX(walk_c128)

/* NaN, of which comparisons tell: compilers may leave that to the instructions they take. */
static double walk_unordered(double nan)
{
    (void)feraiseexcept(FE_INVALID);
    return nan;
}

static inline double walk_told(double x)
{
    return __builtin_expect(x != x, 0) ? walk_unordered(x) : x;
}

/* The logarithm of the sum of powers, from the greater one on; of equal infinities no difference is made. */
static double walk_logaddexp_of(double a, double b)
{
    if (a == b)
        return a + 0.693147180559945309417232121458176568;
    double less = a - b;
    if (isnan(less))
        return walk_unordered(less);
    return less > 0 ? a + log1p(exp(-less)) : b + log1p(exp(less));
}
static double walk_logaddexp2_of(double a, double b)
{
    const double log2_e = 1.442695040888963407359924681001892137;
    if (a == b)
        return a + 1;
    double less = a - b;
    if (isnan(less))
        return walk_unordered(less);
    return less > 0 ? a + log2_e * log1p(exp2(-less)) : b + log2_e * log1p(exp2(less));
}

/* The greatest common divisor: factors of two apart, the greater one less the lesser has none but those of both. */
static uint64_t walk_divisor(uint64_t a, uint64_t b)
{
    if (a <= 1 || b <= 1)
        return !a ? b : !b ? a : 1;
    int twos = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    while (b) {
        b >>= __builtin_ctzll(b);
        uint64_t less = TS_MIN(a, b);
        b = a > b ? a - b : b - a;
        a = less;
    }
    return a << twos;
}
static uint64_t walk_distance(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* ---- loops ----------------------------------------------------------------------------------------- */

/* f of a and all that is beside each other; `expression` is of a and b. */
#define WALK_FOLD(name, type, expression)                                                                           \
    static type name(int64_t n, const type *y, type a)                                                              \
    {                                                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            type b = y[i];                                                                                          \
            a = expression;                                                                                         \
        }                                                                                                           \
        return a;                                                                                                   \
    }

/* A loop, and what is done at places. */
#define WALK_LOOP_BY(name, type, expression, fold)                                                                  \
    static void walk_##name(int64_t n, const char *x, int64_t x_step, const char *y, int64_t y_step, char *out,     \
                            int64_t step)                                                                           \
    {                                                                                                               \
        const int64_t size = sizeof(type);                                                                          \
        type a = *(const type *)x, b;                                                                               \
        if (!x_step && !step && y_step == size)                                                                     \
            a = fold(n, (const type *)y, a);                                                                        \
        else if (!x_step && !step)                                                                                  \
            for (int64_t i = 0; i < n; i++, y += y_step)                                                            \
                b = *(const type *)y, a = expression;                                                               \
        else if (x + step == out && x_step == step)                                                                 \
            for (int64_t i = 0; i < n; i++, y += y_step, out += step)                                               \
                b = *(const type *)y, *(type *)out = a = expression;                                                \
        else if (x_step == size && y_step == size && step == size)                                                  \
            for (int64_t i = 0; i < n; i++)                                                                         \
                a = ((const type *)x)[i], b = ((const type *)y)[i], ((type *)out)[i] = expression;                  \
        else                                                                                                        \
            for (int64_t i = 0; i < n; i++, x += x_step, y += y_step, out += step)                                  \
                a = *(const type *)x, b = *(const type *)y, *(type *)out = expression;                              \
        if (!x_step && !step)                                                                                       \
            *(type *)out = a;                                                                                       \
    }
#define WALK_AT_UNLESS(name, type, stays, expression)                                                               \
    static void walk_##name##_at(const nd_walk_places *p, char *to, const char *y, int64_t y_step)                  \
    {                                                                                                               \
        const int64_t *places = p->places, n = p->n, extent = p->extent, step = p->step; /* stores change none */   \
        for (int64_t i = 0; i < n; i++, y += y_step) {                                                              \
            int64_t place = places[i] + (places[i] >> 63 & extent);                                                 \
            type *at = (type *)(to + place * step);                                                                 \
            type a = *at, b = *(const type *)y;                                                                     \
            if (!(stays))                                                                                           \
                *at = expression;                                                                                   \
        }                                                                                                           \
    }
#define WALK_AT(name, type, expression) WALK_AT_UNLESS(name, type, false, expression)
#define WALK_LOOP(name, type, expression)                                                                           \
    WALK_FOLD(walk_fold_##name, type, expression)                                                                   \
    WALK_LOOP_BY(name, type, expression, walk_fold_##name)
#define WALK_LOOPS(name, type, expression)                                                                          \
    WALK_LOOP(name, type, expression)                                                                               \
    WALK_AT(name, type, expression)

/* Of integers, whose order cannot be seen: in vectors. */
#if defined(__x86_64__)
#define WALK_WORD(name, type, expression)                                                                           \
    WALK_FOLD(walk_fold_##name, type, expression)                                                                   \
    __attribute__((target("avx2"))) WALK_FOLD(walk_fold_##name##_wide, type, expression)                            \
    WALK_LOOP_BY(name, type, expression, WALK_WIDE(walk_fold_##name))                                               \
    WALK_AT(name, type, expression)
#else
#define WALK_WORD WALK_LOOPS
#endif

#define WALK_WORDS(bits)                                                                                            \
    WALK_WORD(add_##bits, uint##bits##_t, (uint##bits##_t)(a + b))                                                  \
    WALK_WORD(subtract_##bits, uint##bits##_t, (uint##bits##_t)(a - b))                                             \
    WALK_WORD(multiply_##bits, uint##bits##_t, (uint##bits##_t)(1u * a * b))                                        \
    WALK_WORD(and_##bits, uint##bits##_t, (uint##bits##_t)(a & b))                                                  \
    WALK_WORD(or_##bits, uint##bits##_t, (uint##bits##_t)(a | b))                                                   \
    WALK_WORD(xor_##bits, uint##bits##_t, (uint##bits##_t)(a ^ b))                                                  \
    WALK_WORD(maximum_u##bits, uint##bits##_t, a > b ? a : b)                                                       \
    WALK_WORD(minimum_u##bits, uint##bits##_t, a < b ? a : b)                                                       \
    WALK_WORD(maximum_i##bits, int##bits##_t, a > b ? a : b)                                                        \
    WALK_WORD(minimum_i##bits, int##bits##_t, a < b ? a : b)                                                        \
    WALK_LOOPS(divisor_u##bits, uint##bits##_t, (uint##bits##_t)walk_divisor(a, b))                                 \
    WALK_LOOPS(divisor_i##bits, int##bits##_t, (int##bits##_t)walk_divisor(walk_distance(a), walk_distance(b)))
WALK_WORDS(8)
WALK_WORDS(16)
WALK_WORDS(32)
WALK_WORDS(64)

/* Functions whose order cannot be seen, of many numbers beside each other. */
#define WALK_BEST(name, type, least)                                                                                \
    static void walk_##name##_##type(int64_t n, const char *x, int64_t x_step, const char *y, int64_t y_step,       \
                                     char *out, int64_t step)                                                       \
    {                                                                                                               \
        bool is_all = !x_step && !step && y_step == sizeof(type) && n >= 2 * WALK_BESIDE;                           \
        type best = is_all ? WALK_BEST_ALL(type)(n, (const type *)y, least) : 0;                                    \
        if (is_all && best != 0 && isfinite(best))                                                                  \
            *(type *)out = type##_##name(*(const type *)x, best);                                                   \
        else                                                                                                        \
            walk_each_##name##_##type(n, x, x_step, y, y_step, out, step);                                          \
    }

#define WALK_FLOATS(type)                                                                                           \
    WALK_LOOPS(next_##type, type, a + b)                                                                            \
    WALK_LOOPS(subtract_##type, type, a - b)                                                                        \
    WALK_LOOPS(multiply_##type, type, a * b)                                                                        \
    WALK_LOOPS(divide_##type, type, a / b)                                                                          \
    WALK_LOOP(maximum_##type, type, type##_maximum(a, b))                                                           \
    WALK_LOOP(minimum_##type, type, type##_minimum(a, b))                                                           \
    WALK_AT_UNLESS(maximum_##type, type, a >= b && b != 0, (type)walk_told(type##_maximum(a, b)))                   \
    WALK_AT_UNLESS(minimum_##type, type, a <= b && b != 0, (type)walk_told(type##_minimum(a, b)))                   \
    WALK_LOOPS(each_fmax_##type, type, type##_fmax(a, b))                                                           \
    WALK_LOOPS(each_fmin_##type, type, type##_fmin(a, b))                                                           \
    WALK_LOOPS(logaddexp_##type, type, (type)walk_logaddexp_of(a, b))                                               \
    WALK_LOOPS(logaddexp2_##type, type, (type)walk_logaddexp2_of(a, b))                                             \
    WALK_BEST(fmax, type, false)                                                                                    \
    WALK_BEST(fmin, type, true)
WALK_FLOATS(float)
WALK_FLOATS(double)

#define WALK_PAIRS(type)                                                                                            \
    WALK_LOOPS(next_##type, type, type##_add(a, b))                                                                 \
    WALK_LOOPS(subtract_##type, type, type##_subtract(a, b))                                                        \
    WALK_LOOPS(multiply_##type, type, type##_multiply(a, b))
WALK_PAIRS(walk_c64)
WALK_PAIRS(walk_c128)

enum { WALK_EIGHT = 8, WALK_PAIRWISE = 128 };

/* Sums of n numbers: few in their order, more in eight sums, many as two halves. What stands first in a sum is -0, to
 * which every number is itself. Complex numbers have four sums of pairs, and halves of half as many. */
#define WALK_SUM(type)                                                                                              \
    static type walk_sum_##type(int64_t n, const char *x, int64_t step)                                             \
    {                                                                                                               \
        type r[WALK_EIGHT], sum = (type)-0.0;                                                                       \
        int64_t i = 0, half = n / 2;                                                                                \
        if (n > WALK_PAIRWISE) {                                                                                    \
            half -= half % WALK_EIGHT;                                                                              \
            return walk_sum_##type(half, x, step) + walk_sum_##type(n - half, x + half * step, step);               \
        }                                                                                                           \
        if (n >= WALK_EIGHT) {                                                                                      \
            for (; i < WALK_EIGHT; i++)                                                                             \
                r[i] = *(const type *)(x + i * step);                                                               \
            for (; i < n - n % WALK_EIGHT; i += WALK_EIGHT)                                                         \
                for (int64_t k = 0; k < WALK_EIGHT; k++)                                                            \
                    r[k] += *(const type *)(x + (i + k) * step);                                                    \
            sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                                \
        }                                                                                                           \
        for (; i < n; i++)                                                                                          \
            sum += *(const type *)(x + i * step);                                                                   \
        return sum;                                                                                                 \
    }                                                                                                               \
    static void walk_add_##type(int64_t n, const char *x, int64_t x_step, const char *y, int64_t y_step, char *out, \
                                int64_t step)                                                                       \
    {                                                                                                               \
        if (x_step || step)                                                                                         \
            walk_next_##type(n, x, x_step, y, y_step, out, step);                                                   \
        else                                                                                                        \
            *(type *)out = *(const type *)x + walk_sum_##type(n, y, y_step);                                        \
    }
WALK_SUM(float)
WALK_SUM(double)

#define WALK_SUM_OF_PAIRS(type, part)                                                                               \
    static type walk_sum_##type(int64_t n, const char *x, int64_t step)                                             \
    {                                                                                                               \
        type r[WALK_EIGHT / 2], sum = {(part)-0.0, (part)-0.0};                                                     \
        int64_t i = 0, four = WALK_EIGHT / 2;                                                                       \
        if (n > WALK_PAIRWISE / 2) {                                                                                \
            int64_t half = (n - n % WALK_EIGHT) / 2;                                                                \
            return type##_add(walk_sum_##type(half, x, step), walk_sum_##type(n - half, x + half * step, step));    \
        }                                                                                                           \
        if (n >= four) {                                                                                            \
            for (; i < four; i++)                                                                                   \
                r[i] = *(const type *)(x + i * step);                                                               \
            for (; i < n - n % four; i += four)                                                                     \
                for (int64_t k = 0; k < four; k++)                                                                  \
                    r[k] = type##_add(r[k], *(const type *)(x + (i + k) * step));                                   \
            sum = type##_add(type##_add(r[0], r[1]), type##_add(r[2], r[3]));                                       \
        }                                                                                                           \
        for (; i < n; i++)                                                                                          \
            sum = type##_add(sum, *(const type *)(x + i * step));                                                   \
        return sum;                                                                                                 \
    }                                                                                                               \
    static void walk_add_##type(int64_t n, const char *x, int64_t x_step, const char *y, int64_t y_step, char *out, \
                                int64_t step)                                                                       \
    {                                                                                                               \
        if (x_step || step)                                                                                         \
            walk_next_##type(n, x, x_step, y, y_step, out, step);                                                   \
        else                                                                                                        \
            *(type *)out = type##_add(*(const type *)x, walk_sum_##type(n, y, y_step));                             \
    }
WALK_SUM_OF_PAIRS(walk_c64, float)
WALK_SUM_OF_PAIRS(walk_c128, double)

/* ---- rows ------------------------------------------------------------------------------------------ */

#define WALK_ROW(fn, dtype, name) {TS_ND_##fn, TS_DTYPE_##dtype, walk_##name, walk_##name##_at},
#define WALK_BEST_ROW(fn, dtype, type) {TS_ND_##fn, TS_DTYPE_##dtype, walk_##fn##_##type, walk_each_##fn##_##type##_at},
#define WALK_SUM_ROW(dtype, name) {TS_ND_add, TS_DTYPE_##dtype, walk_add_##name, walk_next_##name##_at},
#define WALK_INTEGER_ROWS(dtype, bits, sign)                                                                        \
    WALK_ROW(add, dtype, add_##bits)                                                                                \
    WALK_ROW(subtract, dtype, subtract_##bits)                                                                      \
    WALK_ROW(multiply, dtype, multiply_##bits)                                                                      \
    WALK_ROW(bitwise_and, dtype, and_##bits)                                                                        \
    WALK_ROW(bitwise_or, dtype, or_##bits)                                                                          \
    WALK_ROW(bitwise_xor, dtype, xor_##bits)                                                                        \
    WALK_ROW(maximum, dtype, maximum_##sign##bits)                                                                  \
    WALK_ROW(minimum, dtype, minimum_##sign##bits)                                                                  \
    WALK_ROW(fmax, dtype, maximum_##sign##bits)                                                                     \
    WALK_ROW(fmin, dtype, minimum_##sign##bits)                                                                     \
    WALK_ROW(part_divisor, dtype, divisor_##sign##bits)
#define WALK_FLOAT_ROWS(dtype, type)                                                                                \
    WALK_SUM_ROW(dtype, type)                                                                                       \
    WALK_ROW(subtract, dtype, subtract_##type)                                                                      \
    WALK_ROW(multiply, dtype, multiply_##type)                                                                      \
    WALK_ROW(divide, dtype, divide_##type)                                                                          \
    WALK_ROW(maximum, dtype, maximum_##type)                                                                        \
    WALK_ROW(minimum, dtype, minimum_##type)                                                                        \
    WALK_ROW(logaddexp, dtype, logaddexp_##type)                                                                    \
    WALK_ROW(logaddexp2, dtype, logaddexp2_##type)                                                                  \
    WALK_BEST_ROW(fmax, dtype, type)                                                                                \
    WALK_BEST_ROW(fmin, dtype, type)
#define WALK_COMPLEX_ROWS(dtype, type)                                                                              \
    WALK_SUM_ROW(dtype, type)                                                                                       \
    WALK_ROW(subtract, dtype, subtract_##type)                                                                      \
    WALK_ROW(multiply, dtype, multiply_##type)
#define WALK_TRUTH_ROW(fn, name) WALK_ROW(fn, bool_, name##_8)

static const nd_walk walk_rows[] = {
    WALK_FLOAT_ROWS(float64, double)
    WALK_FLOAT_ROWS(float32, float)
    WALK_INTEGER_ROWS(int64, 64, i)
    WALK_TRUTH_ROW(add, or)
    WALK_TRUTH_ROW(multiply, and)
    WALK_TRUTH_ROW(maximum, or)
    WALK_TRUTH_ROW(minimum, and)
    WALK_TRUTH_ROW(fmax, or)
    WALK_TRUTH_ROW(fmin, and)
    WALK_TRUTH_ROW(bitwise_and, and)
    WALK_TRUTH_ROW(bitwise_or, or)
    WALK_TRUTH_ROW(bitwise_xor, xor)
    WALK_TRUTH_ROW(logical_and, and)
    WALK_TRUTH_ROW(logical_or, or)
    WALK_TRUTH_ROW(logical_xor, xor)
    WALK_INTEGER_ROWS(int32, 32, i)
    WALK_INTEGER_ROWS(uint8, 8, u)
    WALK_INTEGER_ROWS(int8, 8, i)
    WALK_INTEGER_ROWS(uint16, 16, u)
    WALK_INTEGER_ROWS(int16, 16, i)
    WALK_INTEGER_ROWS(uint32, 32, u)
    WALK_INTEGER_ROWS(uint64, 64, u)
    WALK_COMPLEX_ROWS(complex64, walk_c64)
    WALK_COMPLEX_ROWS(complex128, walk_c128)
};

const nd_walk *ts__nd_walk_of(ts_nd_fn fn, ts_dtype dtype)
{
    for (size_t i = 0; i < sizeof walk_rows / sizeof *walk_rows; i++)
        if (walk_rows[i].fn == fn && walk_rows[i].dtype == dtype)
            return &walk_rows[i];
    return NULL;
}

/* Whether the processor's flags say what NumPy tells of; comparisons with NaN set one, too: of extremes NumPy tells of
 * them at places of an array of one axis alone. */
static bool walk_has_faults(const nd_walk *walk, bool is_of_one)
{
    char kind = ts_dtype_get((ts_dtype)walk->dtype)->kind;
    return (kind == 'f' || kind == 'c') &&
           (walk->fn == TS_ND_add || walk->fn == TS_ND_subtract || walk->fn == TS_ND_multiply ||
            walk->fn == TS_ND_divide || walk->fn == TS_ND_logaddexp || walk->fn == TS_ND_logaddexp2 ||
            (is_of_one && (walk->fn == TS_ND_maximum || walk->fn == TS_ND_minimum)));
}

void ts__nd_walk_begin(const nd_walk *walk, bool is_of_one)
{
    if (walk_has_faults(walk, is_of_one))
        feclearexcept(FE_ALL_EXCEPT);
}

void ts__nd_walk_end(const nd_walk *walk, bool is_of_one, ts_nd_graph *graph)
{
    int flags = walk_has_faults(walk, is_of_one) ? fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID) : 0;
    graph->faults |= (flags & FE_DIVBYZERO ? TS_ND_DIVIDE : 0u) | (flags & FE_OVERFLOW ? TS_ND_OVERFLOW : 0u) |
                     (flags & FE_INVALID ? TS_ND_INVALID : 0u);
}

/* ---- along an axis --------------------------------------------------------------------------------- */

/* One axis of an array and of the result, and another whose elements are lanes beside each other. */
typedef struct walk_axis {
    const nd_walk *walk;
    const int64_t *begins; /* of segments; NULL: results for the first elements */
    int64_t n, n_begins, step, out_step;
    int64_t lanes, lane_step, out_lane;
    size_t item;
    bool by_rows; /* all lanes take one step, then the next */
} walk_axis;

static void walk_running(const walk_axis *w, const char *x, char *out)
{
    for (int64_t lane = 0; lane < w->lanes; lane++)
        memcpy(out + lane * w->out_lane, x + lane * w->lane_step, w->item);
    for (int64_t i = 1; i < w->n && w->by_rows; i++)
        w->walk->loop(w->lanes, out + (i - 1) * w->out_step, w->out_lane, x + i * w->step, w->lane_step,
                      out + i * w->out_step, w->out_lane);
    for (int64_t lane = 0; lane < w->lanes && !w->by_rows; lane++)
        w->walk->loop(w->n - 1, out + lane * w->out_lane, w->out_step, x + lane * w->lane_step + w->step, w->step,
                      out + lane * w->out_lane + w->out_step, w->out_step);
}

/* The segment of so many elements from x on, one at least. */
static void walk_segment(const walk_axis *w, int64_t count, const char *x, char *out)
{
    for (int64_t lane = 0; lane < w->lanes && !w->by_rows; lane++)
        w->walk->loop(count - 1, x + lane * w->lane_step, 0, x + lane * w->lane_step + w->step, w->step,
                      out + lane * w->out_lane, 0);
    if (!w->by_rows)
        return;
    for (int64_t lane = 0; lane < w->lanes; lane++)
        memcpy(out + lane * w->out_lane, x + lane * w->lane_step, w->item);
    for (int64_t i = 1; i < count; i++)
        w->walk->loop(w->lanes, out, w->out_lane, x + i * w->step, w->lane_step, out, w->out_lane);
}

static void walk_segments(const walk_axis *w, const char *x, char *out)
{
    for (int64_t i = 0; i < w->n_begins; i++) {
        int64_t begin = w->begins[i], end = i + 1 < w->n_begins ? w->begins[i + 1] : w->n;
        walk_segment(w, TS_MAX(end - begin, 1), x + begin * w->step, out + i * w->out_step);
    }
}

/* All lines of elements along the axis. */
static void walk_all(const walk_axis *w, const ts_nd *a, const ts_nd *out, uint32_t axis, uint32_t lane, const char *x,
                     char *to)
{
    int64_t at[TS_ND_RANK] = {0};
    uint32_t d;
    do {
        if (w->begins)
            walk_segments(w, x, to);
        else
            walk_running(w, x, to);
        for (d = a->rank; d-- > 0;) {
            if (d == axis || d == lane)
                continue;
            x += ts_nd_strides(a)[d];
            to += ts_nd_strides(out)[d];
            if (++at[d] < ts_nd_shape(a)[d])
                break;
            x -= ts_nd_strides(a)[d] * at[d];
            to -= ts_nd_strides(out)[d] * at[d];
            at[d] = 0;
        }
    } while (d != UINT32_MAX);
}

/* Whether segments begin at places along the axis. */
static bool walk_begins_are(const walk_axis *w)
{
    bool are = true;
    for (int64_t i = 0; i < w->n_begins; i++)
        are &= w->begins[i] >= 0 && w->begins[i] < w->n;
    return are;
}

enum { WALK_LANES = 4 }; /* that are worth a row */

static void walk_axes(walk_axis *w, const ts_nd *a, const ts_nd *out, uint32_t axis, uint32_t lane)
{
    bool pairwise = w->begins && walk_has_faults(w->walk, false) && w->walk->fn == TS_ND_add;
    w->step = ts_nd_strides(a)[axis];
    w->out_step = ts_nd_strides(out)[axis];
    w->item = a->item;
    w->lanes = 1;
    if (lane == axis)
        return;
    w->lanes = ts_nd_shape(a)[lane];
    w->lane_step = ts_nd_strides(a)[lane];
    w->out_lane = ts_nd_strides(out)[lane];
    w->by_rows = lane > axis && w->lanes >= WALK_LANES && !pairwise;
}

ts_status ts_nd_walk(ts_nd *a, ts_nd_fn fn, uint32_t axis, ts_nd *begins, ts_nd **result, ts_error *err)
{
    void *from, *places = NULL, *to;
    int64_t shape[TS_ND_RANK];
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a);
    walk_axis w = {.walk = ts__nd_walk_of(fn, (ts_dtype)a->dtype)};
    if (!w.walk || !nd_is_direct(a) || a->meaning || axis >= a->rank ||
        (begins && (begins->graph != a->graph || begins->dtype != TS_DTYPE_int64 || begins->meaning ||
                    begins->rank != 1 || !nd_is_dense(begins, 0))))
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    if (begins)
        TS_TRY(ts_nd_memory(begins, false, &places, NULL, err));
    w.n = ts_nd_shape(a)[axis];
    w.begins = places;
    w.n_begins = begins ? begins->count : 0;
    if (!walk_begins_are(&w))
        return TS_OK;
    memcpy(shape, ts_nd_shape(a), a->rank * sizeof *shape);
    shape[axis] = begins ? w.n_begins : w.n;
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, a->rank, shape, false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    else if ((*result)->count && a->count) {
        uint32_t lane = axis + 1 < a->rank ? a->rank - 1u : axis ? axis - 1 : axis;
        walk_axes(&w, a, *result, axis, lane);
        ts__nd_walk_begin(w.walk, false);
        walk_all(&w, a, *result, axis, lane, from, to);
        ts__nd_walk_end(w.walk, false, a->graph);
    }
    return status;
}
