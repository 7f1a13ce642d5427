/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in order, of 32 or 64 bits, by vectors of 64 bytes. A comparison is a minimum and a maximum of two
 * vectors, so all lanes are sorted at once by what a network compares (K. Batcher, "Sorting networks and their
 * applications", 1968):
 *
 *     columns    16 rows by the network with 60 comparisons; then runs of m rows are merged, as bitonic ones
 *
 *                  0 -----+------- + -- +     the first rows of one run meet the last of the next ("flip"),
 *                  1 ---+-|------- | -- +     then rows m/2, m/4 .. 1 apart
 *                  2 ---+-|------- + -- +     16 rows are in registers at a time: four such levels
 *                  3 -----+------- + .. +
 *
 *     few        up to 16 vectors: their columns, then neighbouring columns are merged as runs that go on from one
 *                column to the next; the rows turned are the numbers in order. Up to 32: both halves, merged
 *     many       quicksort: what is above a number of the middle moves to the end, by compressed vectors, until few
 *                are left; of one place that is wanted, the part with that place is left
 *
 * Kinds of numbers share the code: `kind` is constant where it is inlined.
 */
#include "base/sort.h"
#include "base/widths.h"
#if defined(__x86_64__)
#include "base/turn.h"

#define SORT_INLINE TURN_INLINE
#define SORT_WIDE TURN_WIDE

enum {
    SORT_ROWS = 16,   /* rows that registers hold */
    SORT_AT_ONCE = 8, /* vectors that a partition reads from one side */
    SORT_SAMPLE = 64  /* numbers the middle one of which divides the others */
};

bool ts__sort_is_there(void)
{
    return ts__vector_bytes() == 64;
}

/* ---- vectors of either width --------------------------------------------------------------------- */

SORT_INLINE bool sort_is_narrow(int kind)
{
    return kind < SORT_INT_64;
}

SORT_INLINE bool sort_is_float(int kind)
{
    return kind == SORT_FLOAT_32 || kind == SORT_FLOAT_64;
}

SORT_INLINE int sort_bytes(int kind)
{
    return sort_is_narrow(kind) ? 4 : 8;
}

SORT_INLINE int sort_lanes(int kind)
{
    return SORT_VECTOR / sort_bytes(kind);
}

/* What differs by kind: an operation `what` of whole numbers, its operands; of floats. */
#define SORT_BY_KIND(what, a, b)                                                                                    \
    switch (kind) {                                                                                                 \
    case SORT_INT_32: return _mm512_##what##_epi32(a, b);                                                           \
    case SORT_UINT_32: return _mm512_##what##_epu32(a, b);                                                          \
    case SORT_INT_64: return _mm512_##what##_epi64(a, b);                                                           \
    case SORT_UINT_64: return _mm512_##what##_epu64(a, b);                                                          \
    case SORT_FLOAT_32:                                                                                             \
        return _mm512_castps_si512(_mm512_##what##_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));             \
    default: return _mm512_castpd_si512(_mm512_##what##_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)));        \
    }

SORT_INLINE __m512i sort_min(__m512i a, __m512i b, int kind)
{
    SORT_BY_KIND(min, a, b)
}

SORT_INLINE __m512i sort_max(__m512i a, __m512i b, int kind)
{
    SORT_BY_KIND(max, a, b)
}

/* The lanes of `in` where a is greater than b. */
SORT_INLINE __mmask16 sort_greater(__mmask16 in, __m512i a, __m512i b, int kind)
{
    switch (kind) {
    case SORT_INT_32: return _mm512_mask_cmpgt_epi32_mask(in, a, b);
    case SORT_UINT_32: return _mm512_mask_cmpgt_epu32_mask(in, a, b);
    case SORT_INT_64: return _mm512_mask_cmpgt_epi64_mask((__mmask8)in, a, b);
    case SORT_UINT_64: return _mm512_mask_cmpgt_epu64_mask((__mmask8)in, a, b);
    case SORT_FLOAT_32:
        return _mm512_mask_cmp_ps_mask(in, _mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_GT_OQ);
    default:
        return _mm512_mask_cmp_pd_mask((__mmask8)in, _mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_GT_OQ);
    }
}

SORT_INLINE __m512i sort_choose(__mmask16 of_b, __m512i a, __m512i b, int kind)
{
    return sort_is_narrow(kind) ? _mm512_mask_blend_epi32(of_b, a, b) : _mm512_mask_blend_epi64((__mmask8)of_b, a, b);
}

/* Lane i of the result is lane i ^ apart. Numbers in the instruction leave registers to the vectors, which are as many
 * as there are. */
SORT_INLINE __m512i sort_cross(__m512i v, int apart, int kind)
{
    switch (apart * sort_bytes(kind) / 4) {
    case 1: return _mm512_shuffle_epi32(v, _MM_PERM_CDAB);
    case 2: return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
    case 3: return _mm512_shuffle_epi32(v, _MM_PERM_ABCD);
    case 4: return _mm512_shuffle_i32x4(v, v, _MM_PERM_CDAB);
    case 6: return _mm512_permutex_epi64(v, _MM_PERM_ABCD);
    case 8: return _mm512_shuffle_i32x4(v, v, _MM_PERM_BADC);
    default: return turn_cross_to(v, 0xFFFF, v, apart, !sort_is_narrow(kind));
    }
}

/* The greatest and the least number of a kind. */
SORT_INLINE int64_t sort_end(bool is_most, int kind)
{
    switch (kind) {
    case SORT_INT_32: return is_most ? INT32_MAX : INT32_MIN;
    case SORT_UINT_32: return is_most ? UINT32_MAX : 0;
    case SORT_FLOAT_32: return is_most ? 0x7F800000 : 0xFF800000; /* infinities */
    case SORT_INT_64: return is_most ? INT64_MAX : INT64_MIN;
    case SORT_UINT_64: return is_most ? -1 : 0;
    default: return (int64_t)(is_most ? 0x7FF0000000000000 : 0xFFF0000000000000);
    }
}

SORT_INLINE __m512i sort_all(int64_t number, int kind)
{
    return sort_is_narrow(kind) ? _mm512_set1_epi32((int32_t)number) : _mm512_set1_epi64(number);
}

SORT_INLINE __m512i sort_most(int kind)
{
    return sort_all(sort_end(true, kind), kind);
}

/* Lanes 0 to n - 1. */
SORT_INLINE __mmask16 sort_first(int64_t n)
{
    return n >= 16 ? 0xFFFF : n <= 0 ? 0 : (__mmask16)((1u << n) - 1);
}

SORT_INLINE __m512i sort_load_first(const void *from, int64_t n, int kind)
{
    return sort_is_narrow(kind) ? _mm512_mask_loadu_epi32(sort_most(kind), sort_first(n), from)
                      : _mm512_mask_loadu_epi64(sort_most(kind), (__mmask8)sort_first(n), from);
}

SORT_INLINE void sort_store_first(void *to, int64_t n, __m512i v, int kind)
{
    if (sort_is_narrow(kind))
        _mm512_mask_storeu_epi32(to, sort_first(n), v);
    else
        _mm512_mask_storeu_epi64(to, (__mmask8)sort_first(n), v);
}

SORT_INLINE void sort_two(__m512i *a, __m512i *b, int kind)
{
    __m512i least = sort_min(*a, *b, kind);
    *b = sort_max(*a, *b, kind);
    *a = least;
}

/* ---- columns ------------------------------------------------------------------------------------- */

/* The network of 16 numbers with 60 comparisons (M. Green; D. Knuth, "The Art of Computer Programming", volume 3,
 * 5.3.4). */
#define SORT_NETWORK(C)                                                                                             \
    C(0, 1) C(2, 3) C(4, 5) C(6, 7) C(8, 9) C(10, 11) C(12, 13) C(14, 15) C(0, 2) C(1, 3) C(4, 6) C(5, 7) C(8, 10)  \
    C(9, 11) C(12, 14) C(13, 15) C(0, 4) C(1, 5) C(2, 6) C(3, 7) C(8, 12) C(9, 13) C(10, 14) C(11, 15) C(0, 8)      \
    C(1, 9) C(2, 10) C(3, 11) C(4, 12) C(5, 13) C(6, 14) C(7, 15) C(5, 10) C(6, 9) C(3, 12) C(13, 14) C(7, 11)      \
    C(4, 8) C(1, 2) C(1, 4) C(2, 8) C(7, 13) C(11, 14) C(2, 4) C(5, 6) C(9, 10) C(11, 13) C(3, 8) C(7, 12) C(6, 8)  \
    C(10, 12) C(3, 5) C(7, 9) C(3, 4) C(5, 6) C(7, 8) C(9, 10) C(11, 12) C(6, 7) C(8, 9)

SORT_INLINE void sort_network(__m512i v[SORT_ROWS], int kind)
{
#define SORT_COMPARE(i, j) sort_two(&v[i], &v[j], kind);
    SORT_NETWORK(SORT_COMPARE)
#undef SORT_COMPARE
}

/* Levels of a merge, of `rows` vectors that lie in order: rows / 2, rows / 4 .. 1 apart. */
SORT_INLINE void sort_clean(__m512i *v, int rows, int kind)
{
#pragma GCC unroll 4
    for (int apart = rows / 2; apart; apart /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            if (!(i & apart))
                sort_two(&v[i], &v[i | apart], kind);
}

/* Rows of columns, n of them; those beyond are greater than all. */
typedef struct sort_rows {
    char *at;
    int64_t n;
} sort_rows;

SORT_INLINE __m512i sort_load(sort_rows r, int64_t i, int kind, bool all)
{
    return all || i < r.n ? _mm512_load_si512(r.at + i * SORT_VECTOR) : sort_most(kind);
}

SORT_INLINE void sort_store(sort_rows r, int64_t i, __m512i v, bool all)
{
    if (all || i < r.n)
        _mm512_store_si512(r.at + i * SORT_VECTOR, v);
}

/* The first `levels` levels of a merge of two runs of m rows, from row `begin` on: `half` rows of each at a time. */
SORT_INLINE void sort_flip_levels(sort_rows r, int64_t begin, int64_t m, int half, int kind, bool all)
{
    __m512i v[SORT_ROWS];
    int64_t apart = m / half, last = begin + 2 * m - 1;
    for (int64_t i = begin; i < begin + apart; i++) {
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) {
            int64_t here = i + k * apart, there = last - (here - begin);
            v[k] = sort_load(r, here, kind, all);
            v[2 * half - 1 - k] = sort_load(r, there, kind, all);
            sort_two(&v[k], &v[2 * half - 1 - k], kind);
        }
        sort_clean(v, half, kind);
        sort_clean(v + half, half, kind);
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) {
            int64_t here = i + k * apart;
            sort_store(r, here, v[k], all);
            sort_store(r, last - (here - begin), v[2 * half - 1 - k], all);
        }
    }
}

/* Four levels of a merge of rows from `begin` to before `end`: 8, 4, 2 and 1 times `apart` rows apart. */
SORT_INLINE void sort_clean_levels(sort_rows r, int64_t begin, int64_t end, int64_t apart, int kind, bool all)
{
    __m512i v[SORT_ROWS];
    for (; begin < end; begin += SORT_ROWS * apart)
        for (int64_t i = begin; i < begin + apart && i < r.n; i++) {
#pragma GCC unroll 16
            for (int k = 0; k < SORT_ROWS; k++)
                v[k] = sort_load(r, i + k * apart, kind, all);
            sort_clean(v, SORT_ROWS, kind);
#pragma GCC unroll 16
            for (int k = 0; k < SORT_ROWS; k++)
                sort_store(r, i + k * apart, v[k], all);
        }
}

SORT_INLINE void sort_flips(sort_rows r, int64_t begin, int64_t m, int levels, int kind, bool all)
{
    switch (levels) {
    case 1: sort_flip_levels(r, begin, m, 1, kind, all); break;
    case 2: sort_flip_levels(r, begin, m, 2, kind, all); break;
    case 3: sort_flip_levels(r, begin, m, 4, kind, all); break;
    default: sort_flip_levels(r, begin, m, 8, kind, all);
    }
}

/* Merges runs of m rows each, a power of two from SORT_ROWS on; the second may end early. */
SORT_INLINE void sort_merge(sort_rows r, int64_t begin, int64_t m, int kind)
{
    int levels = ts_log2((uint64_t)m) + 1;
    int64_t end = TS_MIN(begin + 2 * m, r.n), apart;
    bool all = end == begin + 2 * m;
    if (all)
        sort_flips(r, begin, m, (levels - 1) % 4 + 1, kind, true);
    else
        sort_flips(r, begin, m, (levels - 1) % 4 + 1, kind, false);
    for (levels -= (levels - 1) % 4 + 1; levels; levels -= 4) {
        apart = (int64_t)1 << (levels - 4);
        if (all || apart == 1)
            sort_clean_levels(r, begin, end, apart, kind, true);
        else
            sort_clean_levels(r, begin, end, apart, kind, false);
    }
}

/* Runs are merged as soon as there are two of a length, while they are near. */
SORT_INLINE void sort_columns(void *rows, int64_t n, int kind)
{
    sort_rows r = {rows, n};
    __m512i v[SORT_ROWS];
    for (int64_t end = SORT_ROWS; end <= n; end += SORT_ROWS) {
        char *at = r.at + (end - SORT_ROWS) * SORT_VECTOR;
#pragma GCC unroll 16
        for (int k = 0; k < SORT_ROWS; k++)
            v[k] = _mm512_load_si512(at + k * SORT_VECTOR);
        sort_network(v, kind);
#pragma GCC unroll 16
        for (int k = 0; k < SORT_ROWS; k++)
            _mm512_store_si512(at + k * SORT_VECTOR, v[k]);
        for (int64_t m = SORT_ROWS; m < end && (end % (2 * m) == 0 || end == n); m *= 2) {
            int64_t begin = (end - 1) / (2 * m) * 2 * m;
            if (begin + m < end)
                sort_merge(r, begin, m, kind);
        }
    }
}

SORT_WIDE void ts__sort_columns_32(int32_t *rows, int64_t n)
{
    sort_columns(rows, n, SORT_INT_32);
}

SORT_WIDE void ts__sort_columns_64(int64_t *rows, int64_t n)
{
    sort_columns(rows, n, SORT_INT_64);
}

/* ---- turned -------------------------------------------------------------------------------------- */

SORT_INLINE void sort_lines_in(char *const lines[], int64_t at, int64_t n, char *columns, int kind)
{
    __m512i v[SORT_ROWS];
    const int lanes = sort_lanes(kind);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        v[i] = n == lanes ? _mm512_loadu_si512(lines[i] + at) : sort_load_first(lines[i] + at, n, kind);
    turn_rows(v, lanes, !sort_is_narrow(kind));
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        _mm512_store_si512(columns + i * SORT_VECTOR, v[i]);
}

SORT_INLINE void sort_lines_out(const char *columns, char *const lines[], int n_lines, int64_t at, int64_t n, int kind)
{
    __m512i v[SORT_ROWS];
    const int lanes = sort_lanes(kind);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        v[i] = _mm512_load_si512(columns + i * SORT_VECTOR);
    turn_rows(v, lanes, !sort_is_narrow(kind));
    if (n == lanes && n_lines == lanes)
#pragma GCC unroll 16
        for (int i = 0; i < lanes; i++)
            _mm512_storeu_si512(lines[i] + at, v[i]);
    else
#pragma GCC unroll 16
        for (int i = 0; i < lanes; i++)
            sort_store_first(lines[i] + at, i < n_lines ? n : 0, v[i], kind);
}

/* With the counts of whole squares known where that is compiled. */
#define SORT_LINES(bits, integer)                                                                                   \
    SORT_WIDE void ts__sort_lines_in_##bits(char *const lines[], int64_t at, int64_t n, integer *rows)              \
    {                                                                                                               \
        enum { KIND = SORT_INT_##bits, LANES = SORT_VECTOR * 8 / bits };                                            \
        if (n == LANES)                                                                                             \
            sort_lines_in(lines, at, LANES, (char *)rows, KIND);                                                    \
        else                                                                                                        \
            sort_lines_in(lines, at, n, (char *)rows, KIND);                                                        \
    }                                                                                                               \
    SORT_WIDE void ts__sort_lines_out_##bits(const integer *rows, char *const lines[], int n_lines, int64_t at,     \
                                             int64_t n)                                                             \
    {                                                                                                               \
        enum { KIND = SORT_INT_##bits, LANES = SORT_VECTOR * 8 / bits };                                            \
        if (n == LANES && n_lines == LANES)                                                                         \
            sort_lines_out((const char *)rows, lines, LANES, at, LANES, KIND);                                      \
        else                                                                                                        \
            sort_lines_out((const char *)rows, lines, n_lines, at, n, KIND);                                        \
    }
SORT_LINES(32, int32_t)
SORT_LINES(64, int64_t)

/* ---- few ----------------------------------------------------------------------------------------- */

/* Lanes `apart` from each other, within each vector. */
SORT_INLINE void sort_lanes_apart(__m512i *v, int rows, int apart, int kind)
{
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        __m512i other = sort_cross(v[i], apart, kind);
        v[i] = sort_choose(turn_upper(apart), sort_min(v[i], other, kind), sort_max(v[i], other, kind), kind);
    }
}

/* Two runs of `columns` columns each, one behind the other: the first elements of one meet the last of the other. */
SORT_INLINE void sort_flip_columns(__m512i *v, int rows, int columns, int kind)
{
    const __mmask16 upper = turn_upper(columns), lower = (__mmask16)~upper;
    if (rows == 1) {
        __m512i other = sort_cross(v[0], 2 * columns - 1, kind);
        v[0] = sort_choose(upper, sort_min(v[0], other, kind), sort_max(v[0], other, kind), kind);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows / 2; i++) {
        __m512i a = v[i], b = sort_cross(v[rows - 1 - i], 2 * columns - 1, kind);
        __m512i least = sort_min(a, b, kind), most = sort_max(a, b, kind);
        v[i] = sort_choose(upper, least, most, kind);
        v[rows - 1 - i] = sort_cross(sort_choose(lower, least, most, kind), 2 * columns - 1, kind);
    }
}

/* Sorts the columns of up to 8 rows. */
SORT_INLINE void sort_few_rows(__m512i *v, int rows, int kind)
{
#pragma GCC unroll 3
    for (int run = 1; run < rows; run *= 2)
#pragma GCC unroll 4
        for (int begin = 0; begin < rows; begin += 2 * run) {
#pragma GCC unroll 4
            for (int i = 0; i < run; i++)
                sort_two(&v[begin + i], &v[begin + 2 * run - 1 - i], kind);
            sort_clean(v + begin, run, kind);
            sort_clean(v + begin + run, run, kind);
        }
}

/* Vectors of columns, which are in order one behind the other, to vectors of the numbers in order. */
SORT_INLINE void sort_as_numbers(__m512i *v, int rows, int kind)
{
    const int lanes = sort_lanes(kind), wide = lanes / rows;
    if (rows > lanes) {
        __m512i turned[SORT_ROWS];
        turn_rows(v, lanes, !sort_is_narrow(kind));
        turn_rows(v + lanes, lanes, !sort_is_narrow(kind));
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            turned[i] = v[i];
#pragma GCC unroll 8
        for (int i = 0; i < lanes; i++)
            v[2 * i] = turned[i], v[2 * i + 1] = turned[lanes + i];
        return;
    }
    turn_rows(v, rows, !sort_is_narrow(kind));
    if (wide == 1 || rows == 1)
        return;
    int32_t from[16]; /* lane (column, row) is at (row, column) */
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        from[i] = i % rows * wide + i / rows;
    __m512i places = _mm512_loadu_si512(from);
    places = sort_is_narrow(kind) ? places : _mm512_cvtepi32_epi64(_mm512_castsi512_si256(places));
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
        v[i] = sort_is_narrow(kind) ? _mm512_permutexvar_epi32(places, v[i]) : _mm512_permutexvar_epi64(places, v[i]);
}

/* Sorts up to `rows` vectors of numbers. */
SORT_INLINE void sort_vectors(char *x, int64_t n, int rows, int kind)
{
    __m512i v[SORT_ROWS];
    const int lanes = sort_lanes(kind);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
        v[i] = sort_load_first(x + i * SORT_VECTOR, n - i * lanes, kind);
    if (rows == SORT_ROWS)
        sort_network(v, kind);
    else
        sort_few_rows(v, rows, kind);
#pragma GCC unroll 4
    for (int columns = 1; columns < lanes; columns *= 2) {
        sort_flip_columns(v, rows, columns, kind);
#pragma GCC unroll 4
        for (int apart = columns / 2; apart; apart /= 2)
            sort_lanes_apart(v, rows, apart, kind);
        sort_clean(v, rows, kind);
    }
    sort_as_numbers(v, rows, kind);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
        sort_store_first(x + i * SORT_VECTOR, n - i * lanes, v[i], kind);
}

/* Puts 16 vectors that lie in order as a bitonic run does. */
SORT_INLINE void sort_clean_numbers(__m512i *v, int kind)
{
    sort_clean(v, SORT_ROWS, kind);
#pragma GCC unroll 4
    for (int apart = sort_lanes(kind) / 2; apart; apart /= 2)
        sort_lanes_apart(v, SORT_ROWS, apart, kind);
}

/* Merges 16 vectors of numbers in order with up to 16 behind them. */
SORT_INLINE void sort_join(char *x, int64_t n, int kind)
{
    __m512i v[SORT_ROWS], above[SORT_ROWS];
    const int lanes = sort_lanes(kind);
#pragma GCC unroll 16
    for (int i = 0; i < SORT_ROWS; i++) {
        const int last = 2 * SORT_ROWS - 1 - i;
        __m512i b = sort_cross(sort_load_first(x + last * SORT_VECTOR, n - last * lanes, kind), lanes - 1, kind);
        v[i] = _mm512_loadu_si512(x + i * SORT_VECTOR);
        above[i] = sort_max(v[i], b, kind);
        v[i] = sort_min(v[i], b, kind);
    }
    sort_clean_numbers(v, kind);
#pragma GCC unroll 16
    for (int i = 0; i < SORT_ROWS; i++)
        _mm512_storeu_si512(x + i * SORT_VECTOR, v[i]);
    sort_clean_numbers(above, kind);
#pragma GCC unroll 16
    for (int i = 0; i < SORT_ROWS; i++)
        sort_store_first(x + (SORT_ROWS + i) * SORT_VECTOR, n - (SORT_ROWS + i) * lanes, above[i], kind);
}

/* Sorts up to 32 vectors. A function of its own for each number of them: their vectors fill the registers. */
#define SORT_FEW(kind, rows)                                                                                        \
    SORT_WIDE static __attribute__((noinline)) void sort_##kind##_##rows(void *x, int64_t n)                        \
    {                                                                                                               \
        sort_vectors(x, n, rows, kind);                                                                             \
    }
#define SORT_TWICE(kind)                                                                                            \
    SORT_WIDE static __attribute__((noinline)) void sort_##kind##_32(void *x, int64_t n)                            \
    {                                                                                                               \
        const int64_t half = SORT_ROWS * sort_lanes(kind), rest = n - half;                                         \
        sort_##kind##_16(x, half);                                                                                  \
        (rest > half / 2 ? sort_##kind##_16 : sort_##kind##_8)((char *)x + SORT_ROWS * SORT_VECTOR, rest);          \
        sort_join(x, n, kind);                                                                                      \
    }
#define SORT_FEWS(kind)                                                                                             \
    SORT_FEW(kind, 1) SORT_FEW(kind, 2) SORT_FEW(kind, 4) SORT_FEW(kind, 8) SORT_FEW(kind, 16) SORT_TWICE(kind)
#define SORT_ROW(kind)                                                                                              \
    {sort_##kind##_1, sort_##kind##_2, sort_##kind##_4, sort_##kind##_8, sort_##kind##_16, sort_##kind##_32}
SORT_FEWS(SORT_INT_32) SORT_FEWS(SORT_UINT_32) SORT_FEWS(SORT_FLOAT_32)
SORT_FEWS(SORT_INT_64) SORT_FEWS(SORT_UINT_64) SORT_FEWS(SORT_FLOAT_64)

SORT_INLINE void sort_few(void *x, int64_t n, int kind)
{
    typedef void few(void *, int64_t);
    static few *const sorts[][6] = {SORT_ROW(SORT_INT_32), SORT_ROW(SORT_UINT_32), SORT_ROW(SORT_FLOAT_32),
                                    SORT_ROW(SORT_INT_64), SORT_ROW(SORT_UINT_64), SORT_ROW(SORT_FLOAT_64)};
    int64_t vectors = (n + sort_lanes(kind) - 1) / sort_lanes(kind);
    if (n > 1)
        sorts[kind][vectors > 1 ? ts_log2((uint64_t)vectors - 1) + 1 : 0](x, n);
}

/* ---- many ---------------------------------------------------------------------------------------- */

SORT_INLINE int64_t sort_get(const void *x, int64_t i, int kind)
{
    return sort_is_narrow(kind) ? ((const int32_t *)x)[i] : ((const int64_t *)x)[i];
}

SORT_INLINE bool sort_is_above(int64_t a, int64_t b, int kind)
{
    return sort_greater(1, sort_all(a, kind), sort_all(b, kind), kind);
}

/* The number before this one, which is not the least. */
SORT_INLINE int64_t sort_before(int64_t x, int kind)
{
    const int64_t sign = sort_is_narrow(kind) ? INT32_MIN : INT64_MIN;
    if (!sort_is_float(kind) || (x & ~sign))
        return sort_is_float(kind) && x & sign ? x + 1 : x - 1;
    return sign | 1; /* of 0 the one nearest to it */
}

SORT_INLINE void sort_set(void *x, int64_t i, int64_t value, int kind)
{
    if (sort_is_narrow(kind))
        ((int32_t *)x)[i] = (int32_t)value;
    else
        ((int64_t *)x)[i] = value;
}

/* The middle one of some of the numbers, from places that no order of them knows. */
SORT_INLINE int64_t sort_middle(const char *x, int64_t n, uint64_t *random, int kind)
{
    int64_t sample[SORT_SAMPLE], count = n < 64 * SORT_SAMPLE ? sort_lanes(kind) : SORT_SAMPLE;
    for (int64_t i = 0; i < count; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u; /* D. Knuth's */
        sort_set(sample, i, sort_get(x, i * (n / count) + (int64_t)((*random >> 32) * (uint64_t)(n / count) >> 32),
                                     kind), kind);
    }
    sort_few(sample, count, kind);
    return sort_get(sample, count / 2, kind);
}

/* Where a partition writes: lesser numbers from the left on, greater ones from the right back. */
typedef struct sort_sides {
    char *left, *right;
} sort_sides;

/* Lanes of a vector to their sides. Intel's processors store compressed lanes as fast as others; AMD's want whole
 * vectors, of which the lesser numbers may be written beyond their lanes where `room` is left. */
SORT_INLINE void sort_to_sides(sort_sides *to, __m512i v, __m512i middle, int64_t n, bool packed, bool room, int kind)
{
    const __mmask16 in = (__mmask16)(sort_first(n) & sort_first(sort_lanes(kind)));
    __mmask16 greater = sort_greater(in, v, middle, kind);
    __mmask16 least = (__mmask16)(in ^ greater);
    int64_t n_greater = __builtin_popcount(greater), n_least = n - n_greater;
    to->right -= n_greater * sort_bytes(kind);
    if (packed && sort_is_narrow(kind)) {
        _mm512_mask_compressstoreu_epi32(to->left, least, v);
        _mm512_mask_compressstoreu_epi32(to->right, greater, v);
    } else if (packed) {
        _mm512_mask_compressstoreu_epi64(to->left, (__mmask8)least, v);
        _mm512_mask_compressstoreu_epi64(to->right, (__mmask8)greater, v);
    } else {
        __m512i low = sort_is_narrow(kind) ? _mm512_maskz_compress_epi32(least, v)
                                 : _mm512_maskz_compress_epi64((__mmask8)least, v);
        __m512i high = sort_is_narrow(kind) ? _mm512_maskz_compress_epi32(greater, v)
                                  : _mm512_maskz_compress_epi64((__mmask8)greater, v);
        sort_store_first(to->left, room ? SORT_VECTOR : n_least, low, kind);
        sort_store_first(to->right, n_greater, high, kind);
    }
    to->left += n_least * sort_bytes(kind);
}

/* What is not read yet. */
typedef struct sort_unread {
    const char *left, *right;
} sort_unread;

/* The next vectors, from the side with less room. */
SORT_INLINE void sort_read(sort_unread *from, const sort_sides *to, __m512i v[SORT_AT_ONCE])
{
    const int step = SORT_AT_ONCE * SORT_VECTOR;
    bool is_left = from->left - to->left <= to->right - from->right;
    from->right -= is_left ? 0 : step;
    const char *at = is_left ? from->left : from->right;
    from->left += is_left ? step : 0;
#pragma GCC unroll 8
    for (int i = 0; i < SORT_AT_ONCE; i++)
        v[i] = _mm512_loadu_si512(at + i * SORT_VECTOR);
}

/* Numbers not above the middle to the begin, others to the end; how many the first are. Vectors of both ends wait in
 * registers, so that there is always room on both sides: half of it is on one, and less would be made more by reading
 * there. What is read next is read before what was read is written, whose places are known late. */
SORT_INLINE int64_t sort_divide(char *x, int64_t n, int64_t at, bool packed, int kind)
{
    const int lanes = sort_lanes(kind), step = SORT_AT_ONCE * SORT_VECTOR;
    __m512i middle = sort_all(at, kind);
    __m512i first[SORT_AT_ONCE], last[SORT_AT_ONCE], rest[SORT_AT_ONCE], v[SORT_AT_ONCE], next[SORT_AT_ONCE];
    char *end = x + n * sort_bytes(kind);
    sort_unread from = {x + step, end - step};
    int64_t n_rest = (from.right - from.left) % step / sort_bytes(kind);
    sort_sides to = {x, end};
#pragma GCC unroll 8
    for (int i = 0; i < SORT_AT_ONCE; i++) {
        first[i] = _mm512_loadu_si512(x + i * SORT_VECTOR);
        last[i] = _mm512_loadu_si512(from.right + i * SORT_VECTOR);
    }
    for (int i = 0; i * lanes < n_rest; i++)
        rest[i] = sort_load_first(from.left + i * SORT_VECTOR, n_rest - i * lanes, kind);
    from.left += n_rest * sort_bytes(kind);
    if (from.left < from.right) {
        sort_read(&from, &to, v);
        while (from.left < from.right) {
            sort_read(&from, &to, next);
#pragma GCC unroll 8
            for (int i = 0; i < SORT_AT_ONCE; i++) {
                sort_to_sides(&to, v[i], middle, lanes, packed, true, kind);
                v[i] = next[i];
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < SORT_AT_ONCE; i++)
            sort_to_sides(&to, v[i], middle, lanes, packed, false, kind);
    }
    for (int i = 0; i < SORT_AT_ONCE; i++) {
        sort_to_sides(&to, first[i], middle, lanes, packed, false, kind);
        sort_to_sides(&to, last[i], middle, lanes, packed, false, kind);
    }
    for (int i = 0; i * lanes < n_rest; i++)
        sort_to_sides(&to, rest[i], middle, TS_MIN(n_rest - i * lanes, lanes), packed, false, kind);
    return (to.left - x) / sort_bytes(kind);
}

/* Puts x[i] where it belongs below it, in a heap of n. */
SORT_INLINE void sort_sift(void *x, int64_t i, int64_t n, int kind)
{
    int64_t value = sort_get(x, i, kind);
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && sort_is_above(sort_get(x, child + 1, kind), sort_get(x, child, kind), kind);
        if (!sort_is_above(sort_get(x, child, kind), value, kind))
            break;
        sort_set(x, i, sort_get(x, child, kind), kind);
    }
    sort_set(x, i, value, kind);
}

/* For numbers whose middle is never found. */
SORT_INLINE void sort_by_heap(void *x, int64_t n, int kind)
{
    for (int64_t i = n / 2; i-- > 0;)
        sort_sift(x, i, n, kind);
    for (int64_t end = n - 1; end > 0; end--) {
        int64_t most = sort_get(x, 0, kind);
        sort_set(x, 0, sort_get(x, end, kind), kind);
        sort_set(x, end, most, kind);
        sort_sift(x, 0, end, kind);
    }
}

/* Parts that wait are the greater ones, so there are few. From `kth` on, 0 or more, parts without that place are left
 * as they are: lesser numbers before it, greater ones behind. */
SORT_INLINE void sort_many(char *x, int64_t n, int64_t kth, bool packed, int kind)
{
    struct {
        char *x;
        int64_t n;
        int depth;
    } waiting[64];
    uint64_t random = (uint64_t)n;
    int n_waiting = 0, depth = 2 * ts_log2((uint64_t)TS_MAX(n, 1)) + 4;
    for (;;) {
        const bool are_few = n <= 2 * SORT_ROWS * sort_lanes(kind);
        if (are_few || !depth--) {
            if (are_few)
                sort_few(x, n, kind);
            else
                sort_by_heap(x, n, kind);
            if (!n_waiting--)
                return;
            x = waiting[n_waiting].x, n = waiting[n_waiting].n, depth = waiting[n_waiting].depth;
            continue;
        }
        int64_t middle = sort_middle(x, n, &random, kind), least = sort_divide(x, n, middle, packed, kind);
        if (least == n) { /* the middle is the greatest: those equal to it are in their places */
            bool alike = !sort_is_above(middle, sort_end(false, kind), kind);
            n = alike ? 0 : sort_divide(x, n, sort_before(middle, kind), packed, kind);
            n = kth >= n ? 0 : n;
            continue;
        }
        char *above = x + least * sort_bytes(kind);
        int64_t greater = n - least;
        if (kth >= 0) {
            bool is_above = kth >= least;
            x = is_above ? above : x;
            n = is_above ? greater : least;
            kth -= is_above ? least : 0;
            continue;
        }
        bool least_waits = least > greater;
        waiting[n_waiting].x = least_waits ? x : above;
        waiting[n_waiting].n = least_waits ? least : greater;
        waiting[n_waiting++].depth = depth;
        x = least_waits ? above : x;
        n = least_waits ? greater : least;
    }
}

#define SORT_MANY(kind)                                                                                             \
    SORT_WIDE static __attribute__((noinline)) void sort_##kind##_packed(void *x, int64_t n, int64_t kth)           \
    {                                                                                                               \
        sort_many(x, n, kth, true, kind);                                                                           \
    }                                                                                                               \
    SORT_WIDE static __attribute__((noinline)) void sort_##kind##_whole(void *x, int64_t n, int64_t kth)            \
    {                                                                                                               \
        sort_many(x, n, kth, false, kind);                                                                          \
    }
SORT_MANY(SORT_INT_32) SORT_MANY(SORT_UINT_32) SORT_MANY(SORT_FLOAT_32)
SORT_MANY(SORT_INT_64) SORT_MANY(SORT_UINT_64) SORT_MANY(SORT_FLOAT_64)

void ts__sort(sort_kind kind, void *x, int64_t n, int64_t kth)
{
    typedef void many(void *, int64_t, int64_t);
#define SORT_WAYS(kind) {sort_##kind##_whole, sort_##kind##_packed}
    static many *const sorts[][2] = {SORT_WAYS(SORT_INT_32), SORT_WAYS(SORT_UINT_32), SORT_WAYS(SORT_FLOAT_32),
                                     SORT_WAYS(SORT_INT_64), SORT_WAYS(SORT_UINT_64), SORT_WAYS(SORT_FLOAT_64)};
#undef SORT_WAYS
    sorts[kind][__builtin_cpu_is("intel") != 0](x, n, kth);
}

/* ---- keys ---------------------------------------------------------------------------------------- */

#define SORT_KEYS(bits, word, signed_word, most, infinity)                                                           \
    SORT_WIDE void ts__sort_flip_##bits(word *x, int64_t n, word flip)                                              \
    {                                                                                                               \
        for (int64_t i = 0; flip && i < n; i++)                                                                     \
            x[i] ^= flip;                                                                                           \
    }                                                                                                               \
    SORT_WIDE void ts__sort_floats_##bits(const word *from, word *to, int64_t n, word flip, bool *signs, bool *nans) \
    {                                                                                                               \
        const word sign = (word)1 << (bits - 1);                                                                    \
        word minus = 0, not_numbers = 0;                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            word is_minus = from[i] == sign ? (word)-1 : 0;                                                         \
            minus |= is_minus;                                                                                      \
            not_numbers |= (from[i] & (word)~sign) > infinity ? (word)-1 : 0;                                       \
            to[i] = (from[i] & (word)~is_minus) ^ flip;                                                             \
        }                                                                                                           \
        *signs |= minus != 0, *nans |= not_numbers != 0;                                                            \
    }                                                                                                               \
    SORT_WIDE void ts__sort_keys_##bits(word *x, int64_t n)                                                         \
    {                                                                                                               \
        for (int64_t i = 0; i < n; i++)                                                                             \
            x[i] ^= (word)((signed_word)x[i] >> (bits - 1) & most);                                                 \
    }
SORT_KEYS(32, uint32_t, int32_t, INT32_MAX, 0x7F800000)
SORT_KEYS(64, uint64_t, int64_t, INT64_MAX, 0x7FF0000000000000)

#define SORT_FALLS(type)                                                                                            \
    SORT_WIDE static bool sort_falls_##type(const void *from, int64_t n)                                            \
    {                                                                                                               \
        const type *x = from;                                                                                       \
        int falls = 0;                                                                                              \
        for (int64_t begin = 0, end; begin < n - 1 && !falls; begin = end) {                                        \
            end = TS_MIN(begin + 1024, n - 1);                                                                      \
            for (int64_t i = begin; i < end; i++)                                                                   \
                falls |= x[i + 1] < x[i];                                                                           \
        }                                                                                                           \
        return falls;                                                                                               \
    }
SORT_FALLS(int32_t) SORT_FALLS(uint32_t) SORT_FALLS(float) SORT_FALLS(int64_t) SORT_FALLS(uint64_t) SORT_FALLS(double)

bool ts__sort_falls(sort_kind kind, const void *x, int64_t n)
{
    static bool (*const falls[])(const void *, int64_t) = {sort_falls_int32_t, sort_falls_uint32_t, sort_falls_float,
                                                           sort_falls_int64_t, sort_falls_uint64_t, sort_falls_double};
    return falls[kind](x, n);
}

#else /* another processor */
bool ts__sort_is_there(void)
{
    return false;
}

void ts__sort(sort_kind kind, void *x, int64_t n, int64_t kth)
{
    (void)kind, (void)x, (void)n, (void)kth;
}

void ts__sort_columns_32(int32_t *rows, int64_t n)
{
    (void)rows, (void)n;
}

void ts__sort_columns_64(int64_t *rows, int64_t n)
{
    (void)rows, (void)n;
}

void ts__sort_lines_in_32(char *const lines[], int64_t at, int64_t n, int32_t *rows)
{
    (void)lines, (void)at, (void)n, (void)rows;
}

void ts__sort_lines_in_64(char *const lines[], int64_t at, int64_t n, int64_t *rows)
{
    (void)lines, (void)at, (void)n, (void)rows;
}

void ts__sort_lines_out_32(const int32_t *rows, char *const lines[], int n_lines, int64_t at, int64_t n)
{
    (void)rows, (void)lines, (void)n_lines, (void)at, (void)n;
}

void ts__sort_lines_out_64(const int64_t *rows, char *const lines[], int n_lines, int64_t at, int64_t n)
{
    (void)rows, (void)lines, (void)n_lines, (void)at, (void)n;
}

void ts__sort_flip_32(uint32_t *x, int64_t n, uint32_t flip)
{
    (void)x, (void)n, (void)flip;
}

void ts__sort_flip_64(uint64_t *x, int64_t n, uint64_t flip)
{
    (void)x, (void)n, (void)flip;
}

void ts__sort_floats_32(const uint32_t *from, uint32_t *to, int64_t n, uint32_t flip, bool *signs, bool *nans)
{
    (void)from, (void)to, (void)n, (void)flip, (void)signs, (void)nans;
}

void ts__sort_floats_64(const uint64_t *from, uint64_t *to, int64_t n, uint64_t flip, bool *signs, bool *nans)
{
    (void)from, (void)to, (void)n, (void)flip, (void)signs, (void)nans;
}

void ts__sort_keys_32(uint32_t *x, int64_t n)
{
    (void)x, (void)n;
}

void ts__sort_keys_64(uint64_t *x, int64_t n)
{
    (void)x, (void)n;
}

bool ts__sort_falls(sort_kind kind, const void *x, int64_t n)
{
    (void)kind, (void)x, (void)n;
    return false;
}
#endif
