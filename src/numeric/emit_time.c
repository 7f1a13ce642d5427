/* SPDX-License-Identifier: Apache-2.0
 *
 * Dates and spans of time: int64 counts of a unit, of which the least number is NaT ("not a time"). What is computed of
 * NaT is NaT, and it is equal to nothing. Sums and products wrap, as NumPy's. Which function of NumPy's is which row,
 * and what units do, is said in python/tessera/numeric/_dates.py.
 *
 *   order    NaT is the least int64; where it must be the greatest (maximum, sort) one is subtracted, so that it wraps
 *   calendar the proleptic Gregorian one, in eras of 400 years that begin in March: H. Hinnant, "chrono-Compatible
 *            Low-Level Date Algorithms" (2013)
 */
#include "numeric/numeric.h"

#define OP2(op, x, y) ts__nd_emit_op2(e, TS_OP_##op, x, y)
#define IS(pred, x, y) ts__nd_emit_is(e, TS_##pred, x, y)
#define NUMBER(x) time_number(e, x)
#define PICK(c, x, y) ts__nd_emit_pick(e, c, x, y)
#define EITHER(c, d) ts__nd_emit_either(e, c, d)
#define REAL(x) ((nd_val){.re = (x)})

static ts_val time_number(const nd_emit *e, int64_t x)
{
    return ts_int(e->b, ts__nd_emit_type(e, e->scalar), x);
}

static ts_val time_none(const nd_emit *e, ts_val x)
{
    return IS(EQ, x, NUMBER(INT64_MIN));
}

/* Rounded towards zero, or down; the divisor is not 0. */
static ts_val time_quotient(const nd_emit *e, ts_val x, ts_val y, ts_round round)
{
    return ts_op2(e->b, TS_OP_divi, x, y, (uint32_t)round);
}

static ts_val time_down(const nd_emit *e, ts_val x, int64_t by)
{
    return time_quotient(e, x, NUMBER(by), TS_RM);
}

/* ---- arithmetic ---------------------------------------------------------------------------------- */

nd_val nd_emit_time_add(const nd_emit *e, const nd_val *x)
{
    ts_val none = EITHER(time_none(e, x[0].re), time_none(e, x[1].re));
    return REAL(PICK(none, NUMBER(INT64_MIN), OP2(addi, x[0].re, x[1].re)));
}

nd_val nd_emit_time_subtract(const nd_emit *e, const nd_val *x)
{
    ts_val none = EITHER(time_none(e, x[0].re), time_none(e, x[1].re));
    return REAL(PICK(none, NUMBER(INT64_MIN), OP2(subi, x[0].re, x[1].re)));
}

/* The second operand is a number. */
nd_val nd_emit_time_multiply(const nd_emit *e, const nd_val *x)
{
    return REAL(PICK(time_none(e, x[0].re), NUMBER(INT64_MIN), OP2(muli, x[0].re, x[1].re)));
}

/* Operands of a division without those that have no quotient: 0 / 1 in their place. */
static ts_val time_divisible(const nd_emit *e, ts_val none, nd_val *x)
{
    none = EITHER(EITHER(none, time_none(e, x[0].re)), IS(EQ, x[1].re, NUMBER(0)));
    x[0].re = PICK(none, NUMBER(0), x[0].re);
    x[1].re = PICK(none, NUMBER(1), x[1].re);
    return none;
}

/* By a number. */
nd_val nd_emit_time_divide(const nd_emit *e, const nd_val *x)
{
    nd_val both[2] = {x[0], x[1]};
    ts_val none = time_divisible(e, ts_int(e->b, ts__nd_emit_type(e, TS_T_i1), 0), both);
    return REAL(PICK(none, NUMBER(INT64_MIN), time_quotient(e, both[0].re, both[1].re, TS_RN)));
}

/* By another span: a number, 0 where there is none. */
nd_val nd_emit_time_floor_divide(const nd_emit *e, const nd_val *x)
{
    nd_val both[2] = {x[0], x[1]};
    (void)time_divisible(e, time_none(e, x[1].re), both);
    return REAL(time_quotient(e, both[0].re, both[1].re, TS_RM));
}

nd_val nd_emit_time_remainder(const nd_emit *e, const nd_val *x)
{
    nd_val both[2] = {x[0], x[1]};
    ts_val none = time_divisible(e, time_none(e, x[1].re), both);
    ts_val rest = ts_op2(e->b, TS_OP_remi, both[0].re, both[1].re, (uint32_t)TS_RM);
    return REAL(PICK(none, NUMBER(INT64_MIN), rest));
}

/* ---- order --------------------------------------------------------------------------------------- */

/* Of a comparison that NaT, the least number, could meet: the operand that must be a time. */
#define COMPARE(name, pred, i)                                                                  \
    nd_val nd_emit_time_##name(const nd_emit *e, const nd_val *x)                               \
    {                                                                                           \
        ts_val is_time = ts__nd_emit_not(e, time_none(e, x[i].re));                             \
        return REAL(ts__nd_emit_both(e, IS(pred, x[0].re, x[1].re), is_time));                  \
    }
COMPARE(equal, EQ, 0)
COMPARE(less, LT, 0)
COMPARE(less_equal, LE, 0)
COMPARE(greater, GT, 1)
COMPARE(greater_equal, GE, 1)

nd_val nd_emit_time_not_equal(const nd_emit *e, const nd_val *x)
{
    return REAL(EITHER(IS(NE, x[0].re, x[1].re), time_none(e, x[0].re)));
}

/* With NaT as the greatest. */
static nd_val time_extreme(const nd_emit *e, ts_op op, const nd_val *x)
{
    ts_val one = NUMBER(1);
    return REAL(OP2(addi, ts__nd_emit_op2(e, op, OP2(subi, x[0].re, one), OP2(subi, x[1].re, one)), one));
}

nd_val nd_emit_time_maximum(const nd_emit *e, const nd_val *x)
{
    return time_extreme(e, TS_OP_maxi, x);
}

nd_val nd_emit_time_fmin(const nd_emit *e, const nd_val *x)
{
    return time_extreme(e, TS_OP_mini, x);
}

/* ---- units --------------------------------------------------------------------------------------- */

/* x * numerator / denominator, rounded down. */
nd_val nd_emit_time_scale(const nd_emit *e, const nd_val *x)
{
    ts_val none = time_none(e, x[0].re), times = OP2(muli, x[0].re, x[1].re);
    ts_val low = OP2(subi, times, OP2(subi, x[2].re, NUMBER(1)));
    times = PICK(IS(LT, x[0].re, NUMBER(0)), low, times);
    ts_val by = PICK(IS(GT, x[2].re, NUMBER(0)), x[2].re, NUMBER(1));
    return REAL(PICK(none, NUMBER(INT64_MIN), time_quotient(e, times, by, TS_RN)));
}

/* Days from 1970-01-01 to the first day of a month, 0 to 11, of a year counted from 1970. */
static ts_val time_days(const nd_emit *e, ts_val year, ts_val month)
{
    ts_val before = IS(LT, month, NUMBER(2)); /* March begins the year */
    year = OP2(addi, year, PICK(before, NUMBER(1969), NUMBER(1970)));
    month = OP2(addi, month, PICK(before, NUMBER(10), NUMBER(-2)));
    ts_val era = time_down(e, year, 400), of_era = OP2(subi, year, OP2(muli, era, NUMBER(400)));
    ts_val of_year = time_down(e, OP2(addi, OP2(muli, month, NUMBER(153)), NUMBER(2)), 5);
    ts_val leaps = OP2(subi, time_down(e, of_era, 4), time_down(e, of_era, 100));
    ts_val days = OP2(addi, OP2(addi, OP2(muli, of_era, NUMBER(365)), leaps), of_year);
    return OP2(addi, OP2(addi, OP2(muli, era, NUMBER(146097)), days), NUMBER(-719468));
}

/* The days of dates that count so many years. */
nd_val nd_emit_time_days_of_years(const nd_emit *e, const nd_val *x)
{
    ts_val days = time_days(e, OP2(muli, x[0].re, x[1].re), NUMBER(0));
    return REAL(PICK(time_none(e, x[0].re), NUMBER(INT64_MIN), days));
}

nd_val nd_emit_time_days_of_months(const nd_emit *e, const nd_val *x)
{
    ts_val months = OP2(muli, x[0].re, x[1].re), years = time_down(e, months, 12);
    ts_val days = time_days(e, years, OP2(subi, months, OP2(muli, years, NUMBER(12))));
    return REAL(PICK(time_none(e, x[0].re), NUMBER(INT64_MIN), days));
}

/* The year, from 1970, and the month, 0 to 11, in which a day lies. */
static ts_val time_civil(const nd_emit *e, ts_val day, ts_val *month)
{
    day = OP2(addi, day, NUMBER(719468));
    ts_val era = time_down(e, day, 146097), of_era = OP2(subi, day, OP2(muli, era, NUMBER(146097)));
    ts_val leaps = OP2(subi, OP2(addi, OP2(subi, of_era, time_down(e, of_era, 1460)), time_down(e, of_era, 36524)),
                       time_down(e, of_era, 146096));
    ts_val year = time_down(e, leaps, 365);
    ts_val first = OP2(subi, OP2(addi, OP2(muli, year, NUMBER(365)), time_down(e, year, 4)), time_down(e, year, 100));
    ts_val of_year = OP2(subi, of_era, first);
    ts_val from_march = time_down(e, OP2(addi, OP2(muli, of_year, NUMBER(5)), NUMBER(2)), 153);
    ts_val before = IS(GE, from_march, NUMBER(10));
    *month = OP2(addi, from_march, PICK(before, NUMBER(-10), NUMBER(2)));
    year = OP2(addi, OP2(addi, year, OP2(muli, era, NUMBER(400))), PICK(before, NUMBER(1), NUMBER(0)));
    return OP2(subi, year, NUMBER(1970));
}

nd_val nd_emit_time_years_of_days(const nd_emit *e, const nd_val *x)
{
    ts_val month, year = time_civil(e, x[0].re, &month);
    return REAL(PICK(time_none(e, x[0].re), NUMBER(INT64_MIN), year));
}

nd_val nd_emit_time_months_of_days(const nd_emit *e, const nd_val *x)
{
    ts_val month, year = time_civil(e, x[0].re, &month);
    month = OP2(addi, OP2(muli, year, NUMBER(12)), month);
    return REAL(PICK(time_none(e, x[0].re), NUMBER(INT64_MIN), month));
}
