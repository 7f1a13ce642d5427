/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether two strided arrays have a byte in common. Exact, so that neighbouring columns of one matrix are
 * told apart: most pairs are settled by the ends of their memory, the others by one equation.
 *
 * The bytes of an array lie at low + step[0] i[0] + step[1] i[1] + .. + x, with 0 <= i[d] <= most[d] and x a
 * byte of the element; negative strides count from their last element. Counted from the other end,
 * high - 1 - step[0] j[0] - .. - y. Both name one byte where
 *
 *     a.step[0] i[0] + .. + b.step[0] j[0] + .. + x + y = b.high - 1 - a.low
 *
 * which overlap_solve() answers from the largest step down.
 */
#include "tessera/array.h"
#include "base/base.h"

enum { OVERLAP_TERMS = 2 * TS_ARRAY_RANK, OVERLAP_WORK = 1 << 14 };

typedef struct overlap_term {
    uint64_t step, most;
} overlap_term;

/* `reach` and `unit` of the terms before: their greatest sum, and what divides all their sums. */
typedef struct overlap_sum {
    overlap_term term[OVERLAP_TERMS];
    uint64_t reach[OVERLAP_TERMS + 1], unit[OVERLAP_TERMS + 1];
    uint32_t n, work;
} overlap_sum;

typedef struct overlap_span {
    uint64_t low, high; /* addresses: the first byte, and behind the last */
    bool empty, wild;   /* wild: larger than any memory */
} overlap_span;

static overlap_span overlap_span_of(const ts_arg *arg)
{
    int64_t item = (int64_t)ts_dtype_bytes((ts_dtype)arg->dtype), dense = 1, down = 0, up = item, reach;
    overlap_span span = {0};
    for (uint32_t d = arg->rank; d-- > 0;) {
        int64_t extent = arg->shape[d], stride = arg->strides ? arg->strides[d] : dense;
        span.empty |= extent <= 0;
        span.wild |= __builtin_mul_overflow(extent, stride, &dense);
        if (extent <= 1)
            continue;
        span.wild |= __builtin_mul_overflow(extent - 1, stride, &reach) ||
            __builtin_mul_overflow(reach, item, &reach) ||
                     __builtin_add_overflow(reach, stride < 0 ? down : up, stride < 0 ? &down : &up);
    }
    span.wild |= up > (int64_t)1 << 61 || down < -((int64_t)1 << 61); /* two arrays' reach is a number, too */
    span.low = (uintptr_t)arg->value.data + (uint64_t)down;
    span.high = (uintptr_t)arg->value.data + (uint64_t)up;
    return span;
}

/* The axes of an array whose span is not wild. */
static void overlap_add(const ts_arg *arg, overlap_sum *sum)
{
    uint64_t item = ts_dtype_bytes((ts_dtype)arg->dtype);
    int64_t dense = 1;
    for (uint32_t d = arg->rank; d-- > 0;) {
        int64_t extent = arg->shape[d], stride = arg->strides ? arg->strides[d] : dense;
        dense = extent * stride;
        if (extent > 1 && stride)
            sum->term[sum->n++] =
                (overlap_term){(uint64_t)(stride < 0 ? -stride : stride) * item, (uint64_t)extent - 1};
    }
}

static bool overlap_is_same(const ts_arg *a, const ts_arg *b)
{
    uint64_t dense = 1;
    if (a->value.data != b->value.data || a->rank != b->rank ||
        ts_dtype_bytes((ts_dtype)a->dtype) != ts_dtype_bytes((ts_dtype)b->dtype))
        return false;
    for (uint32_t d = a->rank; d-- > 0;) {
        uint64_t extent = (uint64_t)a->shape[d];
        uint64_t first = a->strides ? (uint64_t)a->strides[d] : dense,
            second = b->strides ? (uint64_t)b->strides[d] : dense;
        if (a->shape[d] != b->shape[d] || (extent > 1 && first != second))
            return false;
        dense *= extent; /* wraps only for more memory than there is */
    }
    return true;
}

static uint64_t overlap_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Smallest steps first; a step that continues the one before it becomes part of it. */
static void overlap_order(overlap_sum *sum)
{
    overlap_term *term = sum->term;
    for (uint32_t i = 1; i < sum->n; i++) {
        overlap_term moved = term[i];
        uint32_t at = i;
        for (; at > 0 && term[at - 1].step > moved.step; at--)
            term[at] = term[at - 1];
        term[at] = moved;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < sum->n; i++) {
        overlap_term *last = n ? &term[n - 1] : NULL;
        if (last && term[i].step % last->step == 0 && term[i].step / last->step <= last->most + 1)
            last->most += term[i].step / last->step * term[i].most;
        else
            term[n++] = term[i];
    }
    sum->n = n;
    sum->reach[0] = sum->unit[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum->reach[i + 1] = sum->reach[i] + term[i].step * term[i].most;
        sum->unit[i + 1] = overlap_divisor(term[i].step, sum->unit[i]);
    }
}

/* Whether the first n terms can make `wanted`; also true when that takes too long to find out. */
static bool overlap_solve(overlap_sum *sum, uint32_t n, uint64_t wanted)
{
    if (n == 0 || wanted == 0)
        return wanted == 0;
    if (wanted > sum->reach[n] || wanted % sum->unit[n])
        return false;
    const overlap_term *term = &sum->term[n - 1];
    uint64_t rest = sum->reach[n - 1], most = TS_MIN(term->most, wanted / term->step);
    for (uint64_t i = wanted > rest ? (wanted - rest + term->step - 1) / term->step : 0; i <= most; i++)
        if (++sum->work > OVERLAP_WORK || overlap_solve(sum, n - 1, wanted - i * term->step))
            return true;
    return false;
}

ts_overlap ts_arg_overlap(const ts_arg *a, const ts_arg *b)
{
    overlap_span first = overlap_span_of(a), second = overlap_span_of(b);
    if (first.empty || second.empty)
        return TS_OVERLAP_NONE;
    if (first.wild || second.wild)
        return TS_OVERLAP_SOME;
    if (first.high <= second.low || second.high <= first.low)
        return TS_OVERLAP_NONE;
    if (overlap_is_same(a, b))
        return TS_OVERLAP_SAME;
    overlap_sum sum;
    sum.n = sum.work = 0;
    overlap_add(a, &sum);
    overlap_add(b, &sum);
    overlap_order(&sum);
    uint64_t wanted = second.high - 1 - first.low, unit = sum.unit[sum.n];
    uint64_t bytes = ts_dtype_bytes((ts_dtype)a->dtype) + ts_dtype_bytes((ts_dtype)b->dtype) - 2;
    if (!unit) /* two elements, whose ends overlap */
        return TS_OVERLAP_SOME;
    for (uint64_t x = wanted % unit; x <= TS_MIN(bytes, wanted); x += unit)
        if (overlap_solve(&sum, sum.n, wanted - x))
            return TS_OVERLAP_SOME;
    return TS_OVERLAP_NONE;
}
