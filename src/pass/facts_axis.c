/* SPDX-License-Identifier: Apache-2.0
 *
 * How contiguity, divisibility and constancy combine; see facts.h for their meaning. All numbers
 * are powers of two, so of two run lengths one divides the other and the start of a longer run is
 * the start of a shorter one.
 */
#include "pass/facts_axis.h"

int64_t facts_pow2_of(int64_t value)
{
    uint64_t low = (uint64_t)value & (0 - (uint64_t)value);
    return low == 0 || low > (uint64_t)FACTS_ANY_DIVISOR ? FACTS_ANY_DIVISOR : (int64_t)low;
}

int64_t facts_pow2_product(int64_t a, int64_t b)
{
    return a > FACTS_ANY_DIVISOR / b ? FACTS_ANY_DIVISOR : a * b;
}

int64_t facts_unit(const facts_ctx *c, ts_val v)
{
    ts_type elem = ts_type_elem(c->m, ts_type_of(c->fn, v));
    if (ts_type_kind(c->m, elem) != TS_KIND_PTR)
        return 1;
    return ts_type_bits(c->m, ts_type_get(c->m, elem)->elem) / 8;
}

bool facts_never_wraps(const facts_ctx *c, ts_val v)
{
    uint32_t bits = ts_type_bits(c->m, ts_type_of(c->fn, v));
    const ts_fact *f = &c->facts->at[v];
    if (bits >= 64)
        return true;
    return f->lo > -((int64_t)1 << (bits - 1)) || f->hi < ((int64_t)1 << (bits - 1)) - 1;
}

/* What divides the values at multiples of `run` along the axis. */
static int64_t facts_divides_at(ts_axis_fact x, int64_t run, int64_t unit)
{
    if (x.contiguity <= run)
        return x.divisibility;
    return unit ? TS_MIN(x.divisibility, facts_pow2_product(run, facts_pow2_of(unit))) : 1;
}

ts_axis_fact facts_axis_add(ts_axis_fact x, ts_axis_fact y, int64_t unit, bool subtract)
{
    int64_t rising_x = TS_MIN(x.contiguity, y.constancy),
            rising_y = subtract ? 1 : TS_MIN(x.constancy, y.contiguity);
    int64_t run = TS_MAX(TS_MAX(rising_x, rising_y), 1);
    ts_axis_fact sum = {run, TS_MIN(facts_divides_at(x, run, unit), facts_divides_at(y, run, unit)),
                        TS_MIN(x.constancy, y.constancy)};
    return sum;
}

ts_axis_fact facts_axis_cut(ts_axis_fact x, int64_t run, int64_t unit)
{
    int64_t contiguity = TS_MIN(x.contiguity, run);
    return (ts_axis_fact){contiguity, facts_divides_at(x, contiguity, unit),
                          TS_MIN(x.constancy, run)};
}

ts_axis_fact facts_axis_unwrapped(ts_axis_fact x, bool safe, bool shrinks, int64_t divisor)
{
    if (safe || shrinks || x.divisibility >= x.contiguity)
        return x;
    x.contiguity = TS_MAX(TS_MIN(x.contiguity, x.divisibility), 1);
    x.divisibility = TS_MAX(divisor, TS_MIN(x.divisibility, x.contiguity));
    return x;
}

ts_axis_fact facts_axis_join(ts_axis_fact x, ts_axis_fact y, int64_t unit)
{
    int64_t run = TS_MIN(x.contiguity, y.contiguity);
    return (ts_axis_fact){run,
                          TS_MIN(facts_divides_at(x, run, unit), facts_divides_at(y, run, unit)),
                          TS_MIN(x.constancy, y.constancy)};
}

void facts_copy(ts_fact *out, const ts_fact *x, uint32_t rank)
{
    out->lo = x->lo;
    out->hi = x->hi;
    out->divisor = x->divisor;
    for (uint32_t d = 0; out->axis && x->axis && d < rank; d++)
        ((ts_axis_fact *)out->axis)[d] = x->axis[d];
}

bool facts_join(ts_fact *into, const ts_fact *with, uint32_t rank, int64_t unit)
{
    bool weaker = with->lo < into->lo || with->hi > into->hi || with->divisor < into->divisor;
    into->lo = TS_MIN(into->lo, with->lo);
    into->hi = TS_MAX(into->hi, with->hi);
    into->divisor = TS_MIN(into->divisor, with->divisor);
    for (uint32_t d = 0; into->axis && with->axis && d < rank; d++) {
        ts_axis_fact both = facts_axis_join(into->axis[d], with->axis[d], unit);
        weaker |= memcmp(&both, &into->axis[d], sizeof both) != 0;
        ((ts_axis_fact *)into->axis)[d] = both;
    }
    return weaker;
}

void facts_settle(ts_fact *f, uint32_t rank)
{
    if (f->lo == f->hi)
        f->divisor = TS_MAX(f->divisor, facts_pow2_of(f->lo));
    for (uint32_t d = 0; f->axis && d < rank; d++)
        if (f->axis[d].contiguity == 1)
            f->divisor = TS_MAX(f->divisor, f->axis[d].divisibility);
    for (uint32_t d = 0; f->axis && d < rank; d++) {
        ts_axis_fact *a = &((ts_axis_fact *)f->axis)[d];
        a->divisibility = TS_MAX(a->divisibility, f->divisor);
    }
}
