/* SPDX-License-Identifier: Apache-2.0
 *
 * References of table/math.def that <math.h> lacks, in long double.
 */
#ifndef TS_TESTS_MATH_REFERENCE_H
#define TS_TESTS_MATH_REFERENCE_H

#include "ir/float.h"
#include "ir/ir.h"
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
