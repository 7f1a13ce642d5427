/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of complex numbers, given and made as their parts: tiles or scalars of f32 or f64. The languages and arrays
 * write them with these; no pass does.
 */
#ifndef TS_MATH_CMATH_H
#define TS_MATH_CMATH_H

#include "tessera/ir.h"

#define TS_CMATH(X)                                                                                                    \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(sin) X(cos) X(tan) X(sinh) X(cosh) X(tanh)      \
    X(asin) X(acos) X(atan) X(asinh) X(acosh) X(atanh) X(rect) /* of size and angle */
typedef enum ts_cmath {
#define X(name) TS_CMATH_##name,
    TS_CMATH(X)
#undef X
    TS_CMATH_COUNT
} ts_cmath;
void ts__cmath_call(ts_builder *b, ts_cmath which, const ts_val z[2], ts_val out[2]);
void ts__cmath_pow(ts_builder *b, const ts_val x[2], const ts_val y[2], ts_val out[2]);

#endif
