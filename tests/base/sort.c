/* SPDX-License-Identifier: Apache-2.0
 * Numbers in order by vectors (src/base/sort.c), against qsort. */
#include "base/sort.h"
#include "check.h"
#include <stdlib.h>

enum { LANES_32 = SORT_VECTOR / 4, LANES_64 = SORT_VECTOR / 8 };

static uint64_t state = 88172645463325252u;
static uint64_t next(void) /* G. Marsaglia, "Xorshift RNGs", 2003 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int compare_32(const void *a, const void *b)
{
    int32_t x, y;
    memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int compare_64(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Number i of n: random, of few values, rising, falling, all but a few the same, the ends. */
static uint64_t number(int look, int64_t i, int64_t n)
{
    switch (look) {
    case 0: return next();
    case 1: return next() % 3;
    case 2: return (uint64_t)i;
    case 3: return (uint64_t)(n - i);
    case 4: return next() % 50 ? 7 : next();
    default: return next() % 2 ? 0x8000000080000000 : 0x7FFFFFFF7FFFFFFF;
    }
}

static sort_kind compared; /* by compare_kind */

static int compare_kind(const void *a, const void *b)
{
#define COMPARE(type)                                       \
    do {                                                    \
        type x, y;                                          \
        memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);   \
        return (x > y) - (x < y);                           \
    } while (0)
    switch (compared) {
    case SORT_INT_32: COMPARE(int32_t);
    case SORT_UINT_32: COMPARE(uint32_t);
    case SORT_FLOAT_32: COMPARE(float);
    case SORT_INT_64: COMPARE(int64_t);
    case SORT_UINT_64: COMPARE(uint64_t);
    default: COMPARE(double);
    }
}

/* The same as bits of a kind: no NaN, no -0. */
static uint64_t number_of(sort_kind kind, uint64_t x)
{
    if (kind == SORT_FLOAT_64) {
        x &= (x & 0x7FF0000000000000) == 0x7FF0000000000000 ? 0xFFF0000000000000 : UINT64_MAX;
        return x == 0x8000000000000000 ? 0 : x;
    }
    if (kind == SORT_FLOAT_32) {
        x &= (x & 0x7F800000) == 0x7F800000 ? 0xFF800000 : UINT32_MAX;
        return x == 0x80000000 ? 0 : x;
    }
    return x;
}

static void numbers_are_sorted_as_qsort_does(void)
{
    for (int64_t round = 0; round < 3600; round++) {
        const int64_t n = round < 2400 ? round / 2 : (int64_t)(next() % 6000);
        const size_t item = (compared = (sort_kind)(next() % 6)) < SORT_INT_64 ? 4 : 8, bytes = (size_t)(n + 1) * item;
        char *a = malloc(bytes), *b = malloc(bytes);
        int look = (int)(next() % 6);
        for (int64_t i = 0; i <= n; i++) {
            uint64_t x = number_of(compared, number(look, i, n)); /* little endian */
            memcpy(a + (size_t)i * item, &x, item);
        }
        memcpy(b, a, bytes);
        bool falls = false;
        for (int64_t i = 0; i + 1 < n; i++)
            falls |= compare_kind(a + (size_t)i * item, a + (size_t)(i + 1) * item) > 0;
        CHECK(ts__sort_falls(compared, a, n) == falls);
        ts__sort(compared, a, n, -1);
        qsort(b, (size_t)n, item, compare_kind);
        CHECK(memcmp(a, b, bytes) == 0);
        free(a), free(b);
    }
}

static void one_place_has_what_belongs_there(void)
{
    for (int64_t round = 0; round < 600; round++) {
        int64_t n = 1 + (int64_t)(next() % (round < 300 ? 300 : 6000)), kth = (int64_t)(next() % (uint64_t)n);
        int64_t *c = malloc((size_t)n * 8 + 8), *d = malloc((size_t)n * 8 + 8);
        int kind = (int)(next() % 6);
        for (int64_t i = 0; i < n; i++)
            d[i] = c[i] = (int64_t)number(kind, i, n);
        c[n] = -5;
        ts__sort(SORT_INT_64, c, n, kth);
        qsort(d, (size_t)n, 8, compare_64);
        CHECK(c[kth] == d[kth] && c[n] == -5);
        for (int64_t i = 0; i < n; i++)
            CHECK(i < kth ? c[i] <= c[kth] : c[i] >= c[kth]);
        qsort(c, (size_t)n, 8, compare_64);
        CHECK(memcmp(c, d, (size_t)n * 8) == 0);
        free(c), free(d);
    }
}

static void columns_are_sorted_side_by_side(void)
{
    int32_t *a = aligned_alloc(SORT_VECTOR, SORT_COLUMN_MOST * SORT_VECTOR);
    int32_t *before = malloc(SORT_COLUMN_MOST * SORT_VECTOR);
    int32_t column[SORT_COLUMN_MOST];
    int64_t wide[SORT_COLUMN_MOST];
    for (int64_t n = SORT_TURNED; n <= SORT_COLUMN_MOST; n += SORT_TURNED) {
        int64_t *c = (int64_t *)a, *old = (int64_t *)before;
        int kind = (int)(n / SORT_TURNED % 6);
        for (int64_t i = 0; i < n * LANES_32; i++)
            a[i] = before[i] = (int32_t)(uint32_t)number(kind, i, n);
        ts__sort_columns_32(a, n);
        for (int l = 0; l < LANES_32; l++) {
            for (int64_t i = 0; i < n; i++)
                column[i] = before[i * LANES_32 + l];
            qsort(column, (size_t)n, 4, compare_32);
            for (int64_t i = 0; i < n; i++)
                CHECK_INT(a[i * LANES_32 + l], column[i]);
        }
        for (int64_t i = 0; i < n * LANES_64; i++)
            c[i] = old[i] = (int64_t)number(kind, i, n);
        ts__sort_columns_64(c, n);
        for (int l = 0; l < LANES_64; l++) {
            for (int64_t i = 0; i < n; i++)
                wide[i] = old[i * LANES_64 + l];
            qsort(wide, (size_t)n, 8, compare_64);
            for (int64_t i = 0; i < n; i++)
                CHECK(c[i * LANES_64 + l] == wide[i]);
        }
    }
    free(a), free(before);
}

static void lines_become_columns_and_come_back(void)
{
    _Alignas(SORT_VECTOR) int32_t columns[LANES_32 * LANES_32];
    int32_t from[LANES_32][LANES_32 + 1], to[LANES_32][LANES_32 + 1];
    char *lines[LANES_32], *out[LANES_32];
    for (int n = 1; n <= LANES_32; n++) {
        for (int l = 0; l < LANES_32; l++) {
            for (int i = 0; i <= LANES_32; i++)
                from[l][i] = 100 * l + i, to[l][i] = -1;
            lines[l] = (char *)from[l], out[l] = (char *)to[l];
        }
        ts__sort_lines_in_32(lines, 4, n, columns);
        for (int i = 0; i < n; i++)
            for (int l = 0; l < LANES_32; l++)
                CHECK_INT(columns[i * LANES_32 + l], 100 * l + i + 1);
        ts__sort_lines_out_32(columns, out, 3, 4, n);
        for (int l = 0; l < LANES_32; l++)
            for (int i = 0; i <= LANES_32; i++)
                CHECK_INT(to[l][i], l < 3 && i >= 1 && i <= n ? 100 * l + i : -1);
    }
}

int main(void)
{
    if (!ts__sort_is_there())
        return check_done();
    numbers_are_sorted_as_qsort_does();
    one_place_has_what_belongs_there();
    columns_are_sorted_side_by_side();
    lines_become_columns_and_come_back();
    return check_done();
}
