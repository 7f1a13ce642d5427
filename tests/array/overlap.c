/* SPDX-License-Identifier: Apache-2.0
 *
 * Overlap of strided arrays: views that people make, and random ones against a count of every byte.
 */
#include "tessera/array.h"
#include "../check.h"

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static char memory[4096];

static ts_arg view(ts_dtype dtype, size_t offset, uint8_t rank, const int64_t *shape, const int64_t *strides)
{
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = rank};
    arg.value.data = memory + offset;
    arg.shape = shape;
    arg.strides = strides;
    return arg;
}

/* Both orders give one answer. */
static ts_overlap meet(ts_arg a, ts_arg b)
{
    ts_overlap met = ts_arg_overlap(&a, &b);
    CHECK_INT(ts_arg_overlap(&b, &a), met);
    return met;
}

static void the_same_elements_are_the_same_array(void)
{
    ts_arg a = view(TS_DTYPE_float32, 0, 2, INTS(4, 6), NULL);
    CHECK_INT(meet(a, view(TS_DTYPE_float32, 0, 2, INTS(4, 6), INTS(6, 1))), TS_OVERLAP_SAME);
    CHECK_INT(meet(a, view(TS_DTYPE_int32, 0, 2, INTS(4, 6), NULL)), TS_OVERLAP_SAME);
    CHECK_INT(meet(a, view(TS_DTYPE_float16, 0, 2, INTS(4, 6), NULL)), TS_OVERLAP_SOME);
    CHECK_INT(meet(a, view(TS_DTYPE_float32, 0, 2, INTS(6, 4), NULL)), TS_OVERLAP_SOME);
    CHECK_INT(meet(a, view(TS_DTYPE_float32, 0, 1, INTS(24), NULL)), TS_OVERLAP_SOME);
    ts_arg row = view(TS_DTYPE_float32, 0, 2, INTS(1, 6), INTS(99, 1));
    CHECK_INT(meet(row, view(TS_DTYPE_float32, 0, 2, INTS(1, 6), INTS(6, 1))), TS_OVERLAP_SAME);
}

static void views_of_one_matrix(void)
{
    ts_arg even = view(TS_DTYPE_float32, 0, 2, INTS(8, 3), INTS(5, 2));
    CHECK_INT(meet(even, view(TS_DTYPE_float32, 4, 2, INTS(8, 2), INTS(5, 2))), TS_OVERLAP_NONE);
    CHECK_INT(meet(even, view(TS_DTYPE_float32, 8, 2, INTS(8, 2), INTS(5, 2))), TS_OVERLAP_SOME);
    ts_arg square = view(TS_DTYPE_float32, 0, 2, INTS(9, 9), NULL);
    CHECK_INT(meet(square, view(TS_DTYPE_float32, 0, 2, INTS(9, 9), INTS(1, 9))), TS_OVERLAP_SOME);
    CHECK_INT(meet(square, view(TS_DTYPE_float32, 4 * 81, 2, INTS(9, 9), NULL)), TS_OVERLAP_NONE);
    CHECK_INT(meet(square, view(TS_DTYPE_float32, 4 * 80 + 3, 1, INTS(1), NULL)), TS_OVERLAP_SOME);
    ts_arg back = view(TS_DTYPE_float32, 4 * 7, 1, INTS(4), INTS(-2)); /* 7 5 3 1 */
    CHECK_INT(meet(back, view(TS_DTYPE_float32, 0, 1, INTS(4), INTS(2))), TS_OVERLAP_NONE);
    CHECK_INT(meet(back, view(TS_DTYPE_float32, 4, 1, INTS(1), INTS(2))), TS_OVERLAP_SOME);
    ts_arg upper = view(TS_DTYPE_float16, 2, 1, INTS(6), INTS(2)),
        lower = view(TS_DTYPE_float16, 0, 1, INTS(6), INTS(2));
    CHECK_INT(meet(upper, lower), TS_OVERLAP_NONE);
    CHECK_INT(meet(upper, view(TS_DTYPE_float32, 0, 1, INTS(1), NULL)), TS_OVERLAP_SOME);
}

static void nothing_overlaps_nothing(void)
{
    ts_arg none = view(TS_DTYPE_float32, 0, 2, INTS(4, 0), NULL), scalar = view(TS_DTYPE_float32, 0, 0, NULL, NULL);
    CHECK_INT(meet(none, none), TS_OVERLAP_NONE);
    CHECK_INT(meet(none, scalar), TS_OVERLAP_NONE);
    CHECK_INT(meet(scalar, scalar), TS_OVERLAP_SAME);
    CHECK_INT(meet(scalar, view(TS_DTYPE_int8, 3, 0, NULL, NULL)), TS_OVERLAP_SOME);
    CHECK_INT(meet(scalar, view(TS_DTYPE_int8, 4, 0, NULL, NULL)), TS_OVERLAP_NONE);
}

static void impossible_extents_overlap(void)
{
    ts_arg huge = view(TS_DTYPE_float64, 0, 2, INTS(INT64_MAX, 2), INTS(INT64_MAX, INT64_MIN));
    CHECK_INT(meet(huge, view(TS_DTYPE_float64, 0, 1, INTS(2), NULL)), TS_OVERLAP_SOME);
}

/* ---- random views ------------------------------------------------------------------------------------ */

static uint64_t state = 1;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

static ts_arg random_view(int64_t *dims)
{
    static const ts_dtype dtypes[] = {TS_DTYPE_int8, TS_DTYPE_float16, TS_DTYPE_float32, TS_DTYPE_float64};
    uint8_t rank = (uint8_t)below(4);
    for (int d = 0; d < rank; d++) {
        dims[d] = below(12) ? 1 + below(5) : 0;
        dims[TS_ARRAY_RANK + d] = below(3) ? below(9) - 4 : below(51) - 25;
    }
    return view(dtypes[below(4)], (size_t)(2000 + below(80)), rank, dims, dims + TS_ARRAY_RANK);
}

static size_t element_at(const ts_arg *arg, int64_t i)
{
    int64_t at = (char *)arg->value.data - memory;
    for (int d = 0; d < arg->rank; d++) {
        at += i % arg->shape[d] * arg->strides[d] * (int64_t)ts_dtype_bytes((ts_dtype)arg->dtype);
        i /= arg->shape[d];
    }
    return (size_t)at;
}

/* Adds `mark` to the bytes of all elements; true if one had another mark. */
static bool mark_bytes(const ts_arg *arg, char *marks, char mark)
{
    int64_t count = 1, item = (int64_t)ts_dtype_bytes((ts_dtype)arg->dtype);
    bool met = false;
    for (int d = 0; d < arg->rank; d++)
        count *= arg->shape[d];
    for (int64_t i = 0; i < count; i++)
        for (int64_t x = 0; x < item; x++) {
            char *byte = &marks[element_at(arg, i) + (size_t)x];
            *byte |= mark;
            met |= *byte != mark;
        }
    return met;
}

static void random_views_overlap_where_they_share_a_byte(void)
{
    int n_met = 0;
    for (int i = 0; i < 100000; i++) {
        static char marks[sizeof memory];
        int64_t dims[2][2 * TS_ARRAY_RANK];
        memset(marks, 0, sizeof marks);
        ts_arg a = random_view(dims[0]), b = random_view(dims[1]);
        mark_bytes(&a, marks, 1);
        bool share = mark_bytes(&b, marks, 2);
        CHECK_INT(meet(a, b) != TS_OVERLAP_NONE, share);
        
        n_met += share;
    }
    CHECK(n_met > 10000 && n_met < 90000);
}

static void no_strides_take_long(void)
{
    static const int64_t primes[] = {101, 103, 107, 109, 113, 127, 131, 137},
        more[] = {139, 149, 151, 157, 163, 167, 173, 179};
    static const int64_t shape[] = {9, 9, 9, 9, 9, 9, 9, 9};
    ts_arg a = view(TS_DTYPE_int8, 0, 8, shape, primes), b = view(TS_DTYPE_int8, 1, 8, shape, more);
    for (int i = 0; i < 1000; i++)
        CHECK(meet(a, b) != TS_OVERLAP_SAME);
}

int main(void)
{
    the_same_elements_are_the_same_array();
    views_of_one_matrix();
    nothing_overlaps_nothing();
    impossible_extents_overlap();
    random_views_overlap_where_they_share_a_byte();
    no_strides_take_long();
    return check_done();
}
