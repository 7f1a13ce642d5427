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
