/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact arithmetic on every float format of dtype.def, in software: an operation is computed exactly (with
 * a sticky bit) and rounded once, so the answer depends on no compiler flag and no host rounding mode.
 * Values are bit patterns in the low bits of a uint64_t. scalar.c builds the elementwise operations on it.
 *
 * What we define where formats differ from IEEE 754:
 *   NaN        every NaN made by arithmetic or conversion is the one positive quiet NaN of the format.
 *   f8E4M3FN   no infinity; 0x7F and 0xFF are NaN.       f8E5M3FNU  unsigned, 0xFF is NaN.
 *   f8E8M0FNU  unsigned powers of two 2^(b-127), no zero, 0xFF is NaN.
 *   f4E2M1FN   neither infinity nor NaN; a NaN converts to +6.
 *   The five 8- and 4-bit formats saturate: what is too great (infinities too) becomes the greatest finite
 *   value, as cvt.satfinite does. Negative values given to an unsigned format become its least value.
 *   tf32       the upper 19 bits of an f32; the lower 13 are ignored when read and zero when made.
 */
#ifndef TS_IR_FLOAT_H
#define TS_IR_FLOAT_H

#include "ir/ir.h"

typedef struct ts_float_format {
    uint8_t bits, exp_bits, mant_bits;
    uint8_t pad_bits; /* unused low bits (tf32: 13) */
    int16_t bias;
    bool is_signed, has_inf, has_nan, saturates;
} ts_float_format;

/* NULL when the type is no float scalar. */
const ts_float_format *ts__float_format_of(ts_type scalar);

bool ts__float_is_nan(ts_type type, uint64_t bits);
bool ts__float_is_subnormal(ts_type type, uint64_t bits);
uint64_t ts__float_sign_mask(ts_type type); /* 0 for unsigned formats */
uint64_t ts__float_nan(ts_type type);
uint64_t ts__float_inf(ts_type type); /* the greatest finite value where there is no infinity */

/* What a load gives outside its array, for a scalar type and the ts_padding of its view. TS_PAD_UNDEF is zero; in a
 * checked function it is a value that shows in results: NaN, or bytes 0x55 where the type has none (integers, f4). */
uint64_t ts__pad_bits(ts_type elem, uint8_t padding, bool checked);

/* Exact. */
double ts__float_to_f64(ts_type type, uint64_t bits);
/* One rounding. TS_RA rounds to nearest, ties away from zero; modes that name no direction are TS_RN. */
uint64_t ts__float_from_f64(ts_type type, double x, ts_round round);
/* A number as it is written: to nearest, but infinity is itself where the format has one, also where conversions
 * saturate (f8E5M2). */
uint64_t ts__float_written(ts_type type, double x);
/* An integer, rounded once: magnitude and sign. */
uint64_t ts__float_from_int(ts_type type, bool negative, uint64_t magnitude, ts_round round);

/* Rounded once to `type`, which all operands have. */
uint64_t ts__float_add(ts_type type, uint64_t a, uint64_t b, ts_round round);
uint64_t ts__float_mul(ts_type type, uint64_t a, uint64_t b, ts_round round);
uint64_t ts__float_div(ts_type type, uint64_t a, uint64_t b, ts_round round);
uint64_t ts__float_sqrt(ts_type type, uint64_t a, ts_round round);
uint64_t ts__float_fma(ts_type type, uint64_t a, uint64_t b, uint64_t c, ts_round round);

static inline uint64_t ts_bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}
static inline double ts_f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}
static inline uint64_t ts_bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}
static inline float ts_f32_of_bits(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, 4);
    return x;
}

#endif
