/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the host language in the dtype of a loop, as NumPy takes them: integers must fit.
 */
#include "numeric/numeric.h"
#include <math.h>

static uint64_t number_float(ts_dtype dtype, double x)
{
    uint64_t bits = 0;
    float narrow = (float)x;
    switch (dtype) {
    case TS_DTYPE_float16: return ts__f16_from_f64(x);
    case TS_DTYPE_bfloat16: return ts__bf16_from_f64(x);
    case TS_DTYPE_float32: memcpy(&bits, &narrow, sizeof narrow); return bits;
    default: memcpy(&bits, &x, sizeof x); return bits;
    }
}

static int number_int(const ts_nd_operand *number, const ts_dtype_info *info, uint64_t *bits)
{
    int64_t i = number->kind == 'f' ? (int64_t)number->f : number->i;
    bool negative = !number->is_big && i < 0;
    if (number->is_huge)
        return number->f < 0 ? -1 : 1;
    *bits = (uint64_t)i;
    if (info->kind == 'u')
        return negative ? -1 : info->bits < 64 && *bits >> info->bits ? 1 : 0;
    int64_t most = info->bits < 64 ? ((int64_t)1 << (info->bits - 1)) - 1 : INT64_MAX;
    return number->is_big || i > most ? 1 : i < -most - 1 ? -1 : 0;
}

static bool number_is_infinite(ts_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case TS_DTYPE_float16: return (bits & 0x7fff) == 0x7c00;
    case TS_DTYPE_bfloat16: return (bits & 0x7fff) == 0x7f80;
    case TS_DTYPE_float32: return (bits & 0x7fffffff) == 0x7f800000;
    default: return bits << 1 == (uint64_t)0x7ff << 53;
    }
}

/* A part in its dtype: 0, or ND_NUMBER_GROWS, ND_NUMBER_NONE. */
static int number_part(const ts_nd_operand *number, ts_dtype dtype, double x, uint64_t *bits)
{
    *bits = number_float(dtype, x);
    if (!isfinite(x))
        return number->is_huge ? ND_NUMBER_NONE : 0;
    return number_is_infinite(dtype, *bits) ? ND_NUMBER_GROWS : 0;
}

static double number_value(const ts_nd_operand *number)
{
    if (number->kind == 'f' || number->kind == 'c' || number->is_huge)
        return number->f;
    return number->is_big ? (double)(uint64_t)number->i : (double)number->i;
}

int ts__nd_number(const ts_nd_operand *number, ts_dtype dtype, uint64_t bits[2])
{
    const ts_dtype_info *info = ts_dtype_get(dtype);
    bits[0] = bits[1] = 0;
    switch (info->kind) {
    case 'b':
        bits[0] = number->kind == 'f' || number->kind == 'c' ? number->f != 0 || number->im != 0 : number->i != 0;
        return 0;
    case 'i':
    case 'u':
        return number_int(number, info, bits);
    case 'c': {
        int re = number_part(number, (ts_dtype)info->part, number_value(number), &bits[0]);
        int im = number_part(number, (ts_dtype)info->part, number->kind == 'c' ? number->im : 0, &bits[1]);
        return TS_MAX(re, im);
    }
    default: return number_part(number, dtype, number_value(number), &bits[0]);
    }
}

ts_nd_fn ts__nd_compare_far(ts_nd_fn fn, int side)
{
    bool above = side > 0;
    switch (fn) {
    case TS_ND_equal: return TS_ND_never;
    case TS_ND_not_equal: return TS_ND_always;
    case TS_ND_less:
    case TS_ND_less_equal: return above ? TS_ND_always : TS_ND_never;
    default: return above ? TS_ND_never : TS_ND_always;
    }
}
