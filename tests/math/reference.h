/* SPDX-License-Identifier: Apache-2.0
 *
 * References of table/math.def that <math.h> lacks, in long double.
 */
#ifndef TS_TESTS_MATH_REFERENCE_H
#define TS_TESTS_MATH_REFERENCE_H

#include "ir/float.h"
#include "ir/ir.h"
#include "math/bessel.h"
#include <math.h>

typedef long double ts_real;

/* Some powl are wrong for (-inf, -2^63). */
static inline ts_real ref_pow(ts_real x, ts_real y)
{
    return isfinite(x) && isfinite(y) ? powl(x, y) : (ts_real)pow((double)x, (double)y);
}

/* sin(pi x + quarters pi / 2); the reduction is exact. */
static inline ts_real ref_sinpi(ts_real x, int quarters)
{
    if (!isfinite(x))
        return NAN;
    ts_real r = fmodl(fabsl(x), 2);
    int n = (int)rintl(2 * r);
    r = 3.14159265358979323846264338327950288L * (r - (ts_real)n / 2);
    n += quarters;
    ts_real y = n & 1 ? cosl(r) : sinl(r);
    y = y == 0 ? 0 : n & 2 ? -y : y;
    return signbit(x) && !quarters ? -y : y;
}

static const ts_real ref_2_sqrtpi = 1.12837916709551257389615890312154517169L;

/* exp(x^2) erfc x; the square in two parts */
static inline ts_real ref_erfcx(ts_real x)
{
    if (x < -120)
        return INFINITY;
    if (x > 100) { /* the asymptotic series, here good to 2^-64 */
        ts_real z = 1 / (2 * x * x);
        return ref_2_sqrtpi / 2 / x * (1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z))));
    }
    ts_real square = x * x, rest = fmal(x, x, -square);
    return erfcl(x) * expl(square) * (1 + rest);
}

/* erfc(-x / sqrt 2) / 2, what the argument loses put back by the derivative */
static inline ts_real ref_normcdf(ts_real x)
{
    const ts_real root = 1.41421356237309504880168872420969808L, low = 3.7900651177865141593e-20L;
    ts_real s = -x / root, lost = (fmal(-s, root, -x) - s * low) / root;
    return isinf(x) || isnan(x) ? erfcl(s) / 2 : (erfcl(s) - ref_2_sqrtpi * expl(-s * s) * lost) / 2;
}

/* erfinv to some 1/400, of rest = 1 - x^2 (S. Winitzki, A handy approximation for the error function, 2008) */
static inline ts_real ref_erfinv_start(ts_real rest)
{
    ts_real half = logl(rest) / 2, sum = 4.3307467508L + half;
    return sqrtl(sqrtl(sum * sum - 2 * half / 0.147L) - sum);
}

/* y with erfc y = x for x up to 1/2: Newton on log erfc, then on erfc, which rounds less */
static inline ts_real ref_erfcinv_tail(ts_real x)
{
    ts_real y = ref_erfinv_start(x * (2 - x)), w = -logl(x);
    for (int i = 0; i < 3; i++) {
        ts_real e = erfcl(y);
        y += (logl(e) + w) * e * expl(y * y) / ref_2_sqrtpi;
    }
    return y + (erfcl(y) - x) * expl(y * y) / ref_2_sqrtpi;
}

/* y with erf y = x for x up to 1/2: Halley's iteration */
static inline ts_real ref_erfinv_middle(ts_real x)
{
    ts_real y = x < 0x1p-30L ? x / ref_2_sqrtpi : ref_erfinv_start(1 - x * x);
    for (int i = 0; i < 3; i++) {
        ts_real step = (erfl(y) - x) * expl(y * y) / ref_2_sqrtpi;
        y -= step / (1 + y * step);
    }
    return y;
}

/* 1 - x is exact for floats and doubles, from 1/2 to 2 for erfcinv. */
static inline ts_real ref_erfinv(ts_real x)
{
    ts_real a = fabsl(x), y = a <= 0.5L ? ref_erfinv_middle(a) : a < 1 ? ref_erfcinv_tail(1 - a) : INFINITY;
    return a <= 1 ? copysignl(y, x) : NAN;
}

static inline ts_real ref_erfcinv(ts_real x)
{
    if (x > 0 && x < 0.5L)
        return ref_erfcinv_tail(x);
    return x == 0 ? INFINITY : x >= 0 && x <= 2 ? ref_erfinv(1 - x) : NAN;
}

static inline ts_real ref_normcdfinv(ts_real x)
{
    return x == 0.5L ? 0 : -1.41421356237309504880168872420969808L * ref_erfcinv(2 * x);
}

/* The part of frexp or its exponent; 0 for what has none */
static inline ts_real ref_frexp(ts_real x, int exponent)
{
    int e = 0;
    ts_real part = isfinite(x) ? frexpl(x, &e) : x;
    return exponent ? e : part;
}

static inline ts_real ref_ilogb(ts_type type, ts_real x)
{
    int e = isnan(x) || x == 0 ? INT32_MIN : isinf(x) ? INT32_MAX : ilogbl(x);
    return type == TS_T_f64 ? (ts_real)e : (ts_real)(float)e; /* what the test compares with is as wide as x */
}

static inline ts_real ref_rhypot(ts_real x, ts_real y)
{
    return isinf(x) || isinf(y) ? 0 : 1 / hypotl(x, y);
}

static inline ts_real ref_nextafter(ts_type type, ts_real x, ts_real y)
{
    if (type == TS_T_f64)
        return nextafter((double)x, (double)y);
    if (type == TS_T_f32)
        return nextafterf((float)x, (float)y);
    if (isnan(x) || isnan(y) || x == y)
        return x == y ? y : x + y;
    uint64_t sign = x == 0 ? (uint64_t)(y < 0) << 15 : 0;
    uint64_t bits = x == 0 ? sign : ts__float_from_f64(type, (double)x, TS_RN);
    bits = x != 0 && (y > x) != (x > 0) ? bits - 1 : bits + 1;
    return ts__float_to_f64(type, bits);
}

#endif
