/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of a few operations: division and its remainders with NumPy's signs, powers, shifts, rounding. No element
 * may fault, so integers are divided by 1 where the divisor is 0, and give 0 there.
 */
#include "numeric/group.h"
#include "math/cmath.h"
#include <math.h>

#define OP1(op, x) ts__nd_emit_op1(e, TS_OP_##op, x)
#define OP2(op, x, y) ts__nd_emit_op2(e, TS_OP_##op, x, y)
#define IS(pred, x, y) ts__nd_emit_is(e, TS_##pred, x, y)
#define NUMBER(x) ts__nd_emit_number(e, x)
#define PICK(c, x, y) ts__nd_emit_pick(e, c, x, y)
#define REAL(x) ((nd_val){.re = (x)})

/* ---- division ------------------------------------------------------------------------------------ */

/* Integer division rounded as said, of elements whose divisor is not 0; the others give 0. */
static ts_val number_divide(const nd_emit *e, ts_op op, ts_round round, ts_val x, ts_val y)
{
    uint32_t sign = e->kind == 'u' ? TS_A_UNSIGNED : 0;
    ts_val none = IS(EQ, y, NUMBER(0)), safe = PICK(none, NUMBER(1), y);
    return PICK(none, NUMBER(0), ts_op2(e->b, op, x, safe, sign | (e->kind == 'u' ? 0 : (uint32_t)round)));
}

/* C's fmod, brought to the sign of the divisor; *quotient is the whole number that belongs to it. */
static ts_val number_divmod(const nd_emit *e, ts_val x, ts_val y, ts_val *quotient)
{
    ts_val zero = NUMBER(0), rest = OP2(remf, x, y), none = IS(EQ, y, zero);
    ts_val whole = OP2(divf, OP2(subf, x, rest), y);
    ts_val has_rest = IS(NE, rest, zero);
    ts_val signs = ts_op2(e->b, TS_OP_xori, IS(LT, y, zero), IS(LT, rest, zero), 0);
    ts_val turn = ts__nd_emit_both(e, has_rest, signs);
    ts_val mod = PICK(turn, OP2(addf, rest, y), PICK(has_rest, rest, ts__nd_emit_math(e, "copysign", zero, y)));
    whole = PICK(turn, OP2(subf, whole, NUMBER(1)), whole);
    ts_val down = OP1(floor, whole), above = IS(GT, OP2(subf, whole, down), NUMBER(0.5));
    down = PICK(above, OP2(addf, down, NUMBER(1)), down);
    ts_val nothing = ts__nd_emit_math(e, "copysign", zero, OP2(divf, x, y));
    *quotient = PICK(none, OP2(divf, x, y), PICK(IS(NE, whole, zero), down, nothing));
    return PICK(none, rest, mod);
}

nd_val nd_emit_floor_divide(const nd_emit *e, const nd_val *x)
{
    ts_val quotient;
    if (e->kind != 'f')
        return REAL(number_divide(e, TS_OP_divi, TS_RM, x[0].re, x[1].re));
    if (e->loop == TS_DTYPE_float16) { /* as NumPy: what is left is subtracted, and the rest divided, as float32 */
        nd_emit wide = ts__nd_emit_at(e, TS_DTYPE_float32);
        nd_val a = ts__nd_emit_cast(e, x[0], e->loop, wide.loop), b = ts__nd_emit_cast(e, x[1], e->loop, wide.loop);
        (void)number_divmod(&wide, a.re, b.re, &quotient);
        return ts__nd_emit_cast(e, REAL(quotient), wide.loop, e->loop);
    }
    (void)number_divmod(e, x[0].re, x[1].re, &quotient);
    return REAL(quotient);
}

nd_val nd_emit_remainder(const nd_emit *e, const nd_val *x)
{
    ts_val quotient;
    if (e->kind != 'f')
        return REAL(number_divide(e, TS_OP_remi, TS_RM, x[0].re, x[1].re));
    return REAL(number_divmod(e, x[0].re, x[1].re, &quotient));
}

nd_val nd_emit_fmod(const nd_emit *e, const nd_val *x)
{
    if (e->kind != 'f')
        return REAL(number_divide(e, TS_OP_remi, TS_RN, x[0].re, x[1].re));
    return REAL(OP2(remf, x[0].re, x[1].re));
}

/* R. L. Smith, Algorithm 116 (1962): by the greater part of the divisor. */
static nd_val number_smith(const nd_emit *e, nd_val x, ts_val more, ts_val less, bool turned)
{
    ts_val ratio = OP2(divf, less, more), by = OP2(divf, NUMBER(1), OP2(addf, more, OP2(mulf, less, ratio)));
    ts_val re, im;
    if (turned) {
        re = OP2(addf, OP2(mulf, x.re, ratio), x.im);
        im = OP2(subf, OP2(mulf, x.im, ratio), x.re);
    } else {
        re = OP2(addf, x.re, OP2(mulf, x.im, ratio));
        im = OP2(subf, x.im, OP2(mulf, x.re, ratio));
    }
    return (nd_val){OP2(mulf, re, by), OP2(mulf, im, by)};
}

nd_val nd_emit_divide(const nd_emit *e, const nd_val *x)
{
    if (e->kind == 'f')
        return REAL(OP2(divf, x[0].re, x[1].re));
    ts_val re = OP1(absf, x[1].re), im = OP1(absf, x[1].im), zero = NUMBER(0);
    ts_val none = ts__nd_emit_both(e, IS(EQ, re, zero), IS(EQ, im, zero)), first = IS(GE, re, im);
    nd_val one = number_smith(e, x[0], x[1].re, x[1].im, false), two = number_smith(e, x[0], x[1].im, x[1].re, true);
    return (nd_val){PICK(none, OP2(divf, x[0].re, re), PICK(first, one.re, two.re)),
                    PICK(none, OP2(divf, x[0].im, re), PICK(first, one.im, two.im))};
}

/* By the greater part, too; not as 1 + 0i divided, whose zeros would have other signs. */
static nd_val number_inverse(const nd_emit *e, nd_val x)
{
    ts_val one = NUMBER(1), first = IS(GE, OP1(absf, x.re), OP1(absf, x.im));
    ts_val more = PICK(first, x.re, x.im), less = PICK(first, x.im, x.re), ratio = OP2(divf, less, more);
    ts_val by = OP2(addf, more, OP2(mulf, less, ratio)), a = OP2(divf, one, by), b = OP2(divf, ratio, by);
    return (nd_val){PICK(first, a, b), OP1(negf, PICK(first, b, a))};
}

nd_val nd_emit_reciprocal(const nd_emit *e, const nd_val *x)
{
    uint32_t bits = ts_dtype_get(e->loop)->bits;
    ts_val made;
    if (e->kind == 'i' || e->kind == 'u') {
        made = number_divide(e, TS_OP_divi, TS_RN, NUMBER(1), x[0].re);
        if (e->kind == 'u' || bits < 32) /* which converts to 32 bits at least, and 0 is what is left of that */
            return REAL(made);
        ts_val least = ts_int(e->b, ts__nd_emit_type(e, e->scalar), INT64_MIN >> (64 - bits));
        return REAL(PICK(IS(EQ, x[0].re, NUMBER(0)), least, made));
    }
    return e->kind == 'c' ? number_inverse(e, x[0]) : REAL(OP2(divf, NUMBER(1), x[0].re));
}

/* ---- powers -------------------------------------------------------------------------------------- */

/* By squares, wrapping: 64 turns at most, with a base and a result. Negative exponents were refused before. */
static ts_val number_power(const nd_emit *e, ts_val x, ts_val y)
{
    uint32_t bits = ts_dtype_get(e->loop)->bits;
    ts_val begin[3] = {NUMBER(1), x, y}, bound[3] = {ts_int(e->b, TS_T_i32, 0), ts_int(e->b, TS_T_i32, bits),
                                                     ts_int(e->b, TS_T_i32, 1)};
    ts_val loop = ts_for_begin(e->b, bound[0], bound[1], bound[2], 3, begin, 0);
    ts_val result = ts_region_arg(e->fn, loop, 1), base = ts_region_arg(e->fn, loop, 2);
    ts_val left = ts_region_arg(e->fn, loop, 3), zero = NUMBER(0), one = NUMBER(1);
    ts_val odd = IS(NE, ts__nd_emit_both(e, left, one), zero);
    ts_val next[3] = {PICK(odd, OP2(muli, result, base), result), OP2(muli, base, base),
                      ts_op2(e->b, TS_OP_shri, left, one, TS_A_UNSIGNED)};
    ts_term(e->b, TS_OP_continue, 3, next);
    ts_end_like(e->b, loop);
    return ts_res(e->b, loop, 0);
}

static nd_val number_times(const nd_emit *e, nd_val x, nd_val y)
{
    nd_val both[2] = {x, y};
    return nd_emit_multiply(e, both);
}

static nd_val number_pick(const nd_emit *e, ts_val c, nd_val x, nd_val y)
{
    return (nd_val){PICK(c, x.re, y.re), PICK(c, x.im, y.im)};
}

/* A complex number to a whole power below 100, by squares; the first three without a factor of 1, as NumPy has it. */
static nd_val number_whole_power(const nd_emit *e, nd_val x, ts_val y)
{
    ts_type whole = ts__nd_emit_type(e, TS_T_i32);
    ts_val zero = ts_int(e->b, whole, 0), one = ts_int(e->b, whole, 1), few = ts_int(e->b, whole, 3);
    ts_val n = ts_cast(e->b, TS_OP_ftoi, OP1(absf, y), TS_T_i32, TS_RZI);
    ts_val small = ts__nd_emit_both(e, ts_cmp(e->b, TS_OP_cmpi, TS_LE, n, few, 0), IS(GT, y, NUMBER(0)));
    ts_val begin[6] = {NUMBER(1), NUMBER(0), x.re, x.im, n, small}, bound[3] = {ts_int(e->b, TS_T_i32, 0),
                       ts_int(e->b, TS_T_i32, 7), ts_int(e->b, TS_T_i32, 1)};
    ts_val loop = ts_for_begin(e->b, bound[0], bound[1], bound[2], 6, begin, 0), at[7];
    for (uint32_t i = 1; i < 7; i++)
        at[i] = ts_region_arg(e->fn, loop, i);
    nd_val made = {at[1], at[2]}, base = {at[3], at[4]};
    ts_val odd = ts_cmp(e->b, TS_OP_cmpi, TS_NE, ts__nd_emit_both(e, at[5], one), zero, 0);
    nd_val more = number_pick(e, at[6], base, number_times(e, made, base)), square = number_times(e, base, base);
    made = number_pick(e, odd, more, made);
    ts_val next[6] = {made.re, made.im, square.re, square.im, ts_op2(e->b, TS_OP_shri, at[5], one, TS_A_UNSIGNED),
                      ts__nd_emit_both(e, at[6], ts__nd_emit_not(e, odd))};
    ts_term(e->b, TS_OP_continue, 6, next);
    ts_end_like(e->b, loop);
    nd_val result = {ts_res(e->b, loop, 0), ts_res(e->b, loop, 1)}, quotient[2] = {{NUMBER(1), NUMBER(0)}, result};
    return number_pick(e, IS(LT, y, NUMBER(0)), nd_emit_divide(e, quotient), result);
}

/* Powers of 0 are 0, 1 or NaN; whole ones are products. */
static nd_val number_complex_power(const nd_emit *e, nd_val x, nd_val y)
{
    ts_val zero = NUMBER(0), one = NUMBER(1), nan = NUMBER(NAN), a[2] = {x.re, x.im}, b[2] = {y.re, y.im}, out[2];
    ts__cmath_pow(e->b, a, b, out);
    ts_val is_real = IS(EQ, y.im, zero), of_none = ts__nd_emit_both(e, IS(EQ, x.re, zero), IS(EQ, x.im, zero));
    ts_val whole = ts__nd_emit_math(e, "trunc", y.re, 0);
    ts_val is_whole = ts__nd_emit_both(e, IS(EQ, whole, y.re), IS(LT, OP1(absf, y.re), NUMBER(100)));
    ts_val is_none = ts__nd_emit_both(e, is_real, IS(EQ, y.re, zero));
    nd_val made = {out[0], out[1]};
    made = number_pick(e, ts__nd_emit_both(e, is_real, is_whole), number_whole_power(e, x, y.re), made);
    nd_val of_zero = number_pick(e, IS(GT, y.re, zero), (nd_val){zero, zero}, (nd_val){nan, nan});
    made = number_pick(e, of_none, of_zero, made);
    return number_pick(e, is_none, (nd_val){one, zero}, made);
}

nd_val nd_emit_power(const nd_emit *e, const nd_val *x)
{
    if (e->kind == 'f')
        return REAL(OP2(pow, x[0].re, x[1].re));
    return e->kind == 'c' ? number_complex_power(e, x[0], x[1]) : REAL(number_power(e, x[0].re, x[1].re));
}

/* ---- signs, shifts, rounding --------------------------------------------------------------------- */

/* z / |z|; 0 of 0; of one infinite part its sign; NaN in both parts
 * where the size is NaN or both are infinite. */
static nd_val number_direction(const nd_emit *e, nd_val x)
{
    ts_val zero = NUMBER(0), nan = NUMBER(NAN), infinite = NUMBER(INFINITY);
    ts_val size = ts__nd_emit_math(e, "hypot", x.re, x.im);
    ts_val re = IS(EQ, OP1(absf, x.re), infinite), im = IS(EQ, OP1(absf, x.im), infinite), one = NUMBER(1);
    ts_val bad = ts__nd_emit_either(e, IS(NE, size, size), ts__nd_emit_both(e, re, im));
    nd_val made = {OP2(divf, x.re, size), OP2(divf, x.im, size)}, none = {zero, zero};
    made = number_pick(e, IS(EQ, size, zero), none, made);
    made = number_pick(e, re, (nd_val){ts__nd_emit_math(e, "copysign", one, x.re), zero}, made);
    made = number_pick(e, im, (nd_val){zero, ts__nd_emit_math(e, "copysign", one, x.im)}, made);
    return number_pick(e, bad, (nd_val){nan, nan}, made);
}

nd_val nd_emit_sign(const nd_emit *e, const nd_val *x)
{
    ts_val zero = NUMBER(0), one = NUMBER(1), re = x[0].re;
    if (e->kind == 'u')
        return REAL(PICK(IS(NE, re, zero), one, zero));
    if (e->kind == 'c')
        return number_direction(e, x[0]);
    return REAL(PICK(IS(GT, re, zero), one, PICK(IS(LT, re, zero), NUMBER(-1), PICK(IS(EQ, re, zero), zero, re))));
}

nd_val nd_emit_left_shift(const nd_emit *e, const nd_val *x)
{
    return REAL(OP2(shli, x[0].re, x[1].re));
}

nd_val nd_emit_right_shift(const nd_emit *e, const nd_val *x)
{
    return REAL(OP2(shri, x[0].re, x[1].re));
}

/* Whole numbers are themselves. */
static nd_val number_whole(const nd_emit *e, const nd_val *x, ts_op op, const char *fn)
{
    if (e->kind != 'f' && e->kind != 'c')
        return x[0];
    return REAL(op ? ts__nd_emit_op1(e, op, x[0].re) : ts__nd_emit_math(e, fn, x[0].re, 0));
}

nd_val nd_emit_floor(const nd_emit *e, const nd_val *x)
{
    return number_whole(e, x, TS_OP_floor, NULL);
}

nd_val nd_emit_ceil(const nd_emit *e, const nd_val *x)
{
    return number_whole(e, x, TS_OP_ceil, NULL);
}

nd_val nd_emit_trunc(const nd_emit *e, const nd_val *x)
{
    return number_whole(e, x, TS_OP_none, "trunc");
}

nd_val nd_emit_rint(const nd_emit *e, const nd_val *x)
{
    nd_val out = number_whole(e, x, TS_OP_none, "rint");
    if (e->kind == 'c')
        out.im = ts__nd_emit_math(e, "rint", x[0].im, 0);
    return out;
}

/* ---- floats -------------------------------------------------------------------------------------- */

nd_val nd_emit_degrees(const nd_emit *e, const nd_val *x)
{
    return REAL(OP2(mulf, x[0].re, NUMBER(180 / 3.14159265358979323846)));
}

nd_val nd_emit_radians(const nd_emit *e, const nd_val *x)
{
    return REAL(OP2(mulf, x[0].re, NUMBER(3.14159265358979323846 / 180)));
}

/* The greater one, and what the other adds; of equal ones, infinite too, one unit. */
static ts_val number_logadd(const nd_emit *e, const nd_val *x, bool binary)
{
    ts_val a = x[0].re, b = x[1].re, gap = OP1(negf, OP1(absf, OP2(subf, a, b)));
    ts_val rest = binary ? OP2(mulf, ts__nd_emit_math(e, "log1p", OP1(exp2, gap), 0), NUMBER(1.4426950408889634074))
                         : ts__nd_emit_math(e, "log1p", OP1(exp, gap), 0);
    ts_val more = ts_op2(e->b, TS_OP_maxf, a, b, TS_A_NAN), unit = NUMBER(binary ? 1 : 0.69314718055994530942);
    return PICK(IS(EQ, a, b), OP2(addf, a, unit), OP2(addf, more, rest));
}

nd_val nd_emit_logaddexp(const nd_emit *e, const nd_val *x)
{
    return REAL(number_logadd(e, x, false));
}

nd_val nd_emit_logaddexp2(const nd_emit *e, const nd_val *x)
{
    return REAL(number_logadd(e, x, true));
}

nd_val nd_emit_heaviside(const nd_emit *e, const nd_val *x)
{
    ts_val zero = NUMBER(0), re = x[0].re;
    return REAL(PICK(IS(EQ, re, zero), x[1].re, PICK(IS(LT, re, zero), zero, PICK(IS(GT, re, zero), NUMBER(1), re))));
}

/* Of equal numbers, which zeros of two signs are, the second; NumPy's function of float16 gives the first. */
nd_val nd_emit_nextafter(const nd_emit *e, const nd_val *x)
{
    ts_val next = ts__nd_emit_math(e, "nextafter", x[0].re, x[1].re);
    return REAL(e->loop == TS_DTYPE_float16 ? PICK(IS(EQ, x[0].re, x[1].re), x[0].re, next) : next);
}

/* ---- parts --------------------------------------------------------------------------------------- */

nd_val nd_emit_part_exponent(const nd_emit *e, const nd_val *x)
{
    ts_val exponent = ts__nd_emit_math(e, "frexp_exponent", x[0].re, 0);
    return REAL(ts_cast(e->b, TS_OP_itof, exponent, e->scalar, TS_RN));
}

/* Eight bits with the byte's digits in each byte of a number. */
static ts_val number_bytes(const nd_emit *e, uint8_t byte)
{
    return ts_int(e->b, ts__nd_emit_type(e, e->scalar), (int64_t)(byte * UINT64_C(0x0101010101010101)));
}

static ts_val number_right(const nd_emit *e, ts_val x, int64_t n)
{
    return ts_op2(e->b, TS_OP_shri, x, ts_int(e->b, ts__nd_emit_type(e, e->scalar), n), TS_A_UNSIGNED);
}

/* Sums of pairs of bits, of fours, of bytes; a product adds the bytes in the highest one. */
nd_val nd_emit_part_bits(const nd_emit *e, const nd_val *x)
{
    int64_t bits = ts_dtype_get(e->loop)->bits;
    ts_val n = e->kind == 'i' ? OP1(absi, x[0].re) : x[0].re, two = number_bytes(e, 0x33);
    n = OP2(subi, n, OP2(andi, number_right(e, n, 1), number_bytes(e, 0x55)));
    n = OP2(addi, OP2(andi, n, two), OP2(andi, number_right(e, n, 2), two));
    n = OP2(andi, OP2(addi, n, number_right(e, n, 4)), number_bytes(e, 0x0F));
    return REAL(bits == 8 ? n : number_right(e, OP2(muli, n, number_bytes(e, 1)), bits - 8));
}

/* Euclid's, of all elements until none has a rest. */
nd_val nd_emit_part_divisor(const nd_emit *e, const nd_val *x)
{
    bool is_signed = e->kind == 'i';
    ts_val both[2] = {is_signed ? OP1(absi, x[0].re) : x[0].re, is_signed ? OP1(absi, x[1].re) : x[1].re};
    ts_val loop = ts_loop_begin(e->b, 2, both), zero = NUMBER(0);
    ts_val a = ts_region_arg(e->fn, loop, 0), b = ts_region_arg(e->fn, loop, 1), some = IS(NE, b, zero);
    both[0] = a;
    both[1] = b;
    ts_val done = ts_if_begin(e->b, ts_op2(e->b, TS_OP_xori, ts__nd_tell_any(e, some), ts_int(e->b, TS_T_i1, 1), 0));
    ts_term(e->b, TS_OP_break, 2, both);
    ts_else(e->b);
    ts_term(e->b, TS_OP_yield, 0, NULL);
    ts_end(e->b, done, 0, NULL);
    ts_val rest = ts_op2(e->b, TS_OP_remi, a, PICK(some, b, NUMBER(1)), TS_A_UNSIGNED);
    both[0] = PICK(some, b, a);
    both[1] = PICK(some, rest, zero);
    ts_term(e->b, TS_OP_continue, 2, both);
    ts_end_like(e->b, loop);
    return REAL(ts_res(e->b, loop, 0));
}
