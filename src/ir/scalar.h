/* SPDX-License-Identifier: Apache-2.0
 *
 * The meaning of every elementwise operation (flag ELEM in op.def) on one element. The evaluator runs
 * it for each element of a tile or each thread; fold.c calls it on constants.
 *
 * A payload is the 64 bits that stand for one element: integers sign-extended from their width, i1 as 0
 * or 1, floats as their bit pattern, pointers as addresses (32-bit for shared memory).
 * Operands may come in any extension; results are always in this form.
 *
 * Where Tile IR leaves a case undefined, we define (all targets do the same):
 *   shli, shri          the count is unsigned; at or above the width: 0, or the sign for signed shri.
 *   addi muli ...       wrap, whatever nsw and nuw promise.       absi, negi of the least value: itself.
 *   i1                  true is -1 where an operation reads it as signed (exti, itof, cmpi), 1 as unsigned.
 *   divi, remi          by zero: a fault.  least / -1: least, remainder 0.  remi follows divi's rounding:
 *                       x - y * (x divi y), so RN and RZ give the sign of x, RM the sign of y.
 *   ftoi                truncates; saturates to the integer's range; NaN gives 0.
 *   maxf, minf          IEEE 754-2019 maximumNumber (a number wins over NaN), +0 > -0; with TS_A_NAN
 *                       maximum (NaN wins). A NaN result is the positive quiet NaN.
 *   ftof to 8, 4 bits   saturates, see float.h.
 *   TS_A_FTZ            f32 only: subnormal inputs count as zero of their sign, a subnormal result (after
 *                       rounding) becomes zero of its sign.
 * sin, exp, pow, ... are computed by the host's double libm and rounded: an oracle for tests with a
 * tolerance. Their exact definition is what the math pass writes in their place.
 */
#ifndef TS_IR_SCALAR_H
#define TS_IR_SCALAR_H

#include "ir/ir.h"

typedef enum ts_scalar_fault {
    TS_SCALAR_OK,
    TS_SCALAR_DIV_ZERO /* divi or remi by zero */
} ts_scalar_fault;

/* One operation with its types, looked up once and run many times. */
typedef struct ts_scalar {
    uint64_t (*run)(const struct ts_scalar *op, const uint64_t *x, ts_scalar_fault *fault);
    uint32_t attr;
    ts_type from, to;       /* scalars; pointers appear as i64, shared ones as i32 */
    uint32_t pointee_bits;  /* of `offset` */
    bool to_shared;         /* the result is a 32-bit shared pointer: zero-extended */
    double (*host)(double); /* the libm function of sin, exp, ... */
} ts_scalar;

/* `from` is the element type of operand 0 (of operand 1 for select), `to` of the result. False when the
 * operation does not act on elements. */
bool ts__scalar_prepare(ts_scalar *out, const ts_module *module, ts_op op, uint32_t attr, ts_type from,
                       ts_type to);
/* fault may be NULL; it is set only when there is one (the result is then 0). */
uint64_t ts__scalar_run(const ts_scalar *op, const uint64_t *x, ts_scalar_fault *fault);

/* Both in one. False when the operation does not act on elements or faults. */
bool ts__scalar_eval(const ts_module *module, ts_op op, uint32_t attr, ts_type from, ts_type to,
                    const uint64_t *x, uint64_t *out);

/* Payload in canonical form for a scalar type: sign-extended integer, 0 or 1, or masked pattern. */
uint64_t ts__scalar_wrap(ts_type scalar, uint64_t bits);
/* Bits of the value: 1 for i1, otherwise as in memory. */
uint32_t ts__scalar_bits(ts_type scalar);
/* Equal payloads, or both NaN of a float type. */
bool ts__scalar_same(ts_type scalar, uint64_t a, uint64_t b);

/* Elements in memory: i1 is one byte (any non-zero is true), 4-bit types are packed low nibble first,
 * `bits` is ts_type_bits. `index` counts elements from `base`. */
uint64_t ts__scalar_read(const void *base, uint32_t bits, int64_t index);
void ts__scalar_write(void *base, uint32_t bits, int64_t index, uint64_t value);
/* The same by type: payloads in canonical form. */
uint64_t ts__scalar_load(const ts_module *module, ts_type elem, const void *base, int64_t index);
void ts__scalar_store(const ts_module *module, ts_type elem, void *base, int64_t index, uint64_t value);

#endif
