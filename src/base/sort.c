/* SPDX-License-Identifier: Apache-2.0
 *
 * Signed integers in order, of 32 or 64 bits, by vectors of 64 bytes. A comparison is a minimum and a maximum of two
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
 *                column to the next; the rows turned are the numbers in order
 *     many       quicksort: what is above a number of the middle moves to the end, by compressed vectors, until few
 *                are left; of one place that is wanted, the part with that place is left
 *
 * Widths share the code: `bits` is constant where it is inlined.
 */
#include "base/sort.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define SORT_INLINE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), always_inline)) static inline
#define SORT_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

enum {
    SORT_ROWS = 16,   /* rows that registers hold */
    SORT_AT_ONCE = 8, /* vectors that a partition reads from one side */
    SORT_SAMPLE = 64  /* numbers the middle one of which divides the others */
};

bool ts__sort_is_there(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* ---- vectors of either width --------------------------------------------------------------------- */

SORT_INLINE int sort_lanes(int bits)
{
    return SORT_VECTOR * 8 / bits;
}

SORT_INLINE __m512i sort_min(__m512i a, __m512i b, int bits)
{
    return bits == 32 ? _mm512_min_epi32(a, b) : _mm512_min_epi64(a, b);
}

SORT_INLINE __m512i sort_max(__m512i a, __m512i b, int bits)
{
    return bits == 32 ? _mm512_max_epi32(a, b) : _mm512_max_epi64(a, b);
}

/* The lanes whose number has bit `with`. */
SORT_INLINE __mmask16 sort_upper(int with)
{
    return with == 1 ? 0xAAAA : with == 2 ? 0xCCCC : with == 4 ? 0xF0F0 : 0xFF00;
}

/* `other` where `to` has a bit, else the least or greatest of a and b. */
SORT_INLINE __m512i sort_min_to(__m512i other, __mmask16 to, __m512i a, __m512i b, int bits)
{
    return bits == 32 ? _mm512_mask_min_epi32(other, to, a, b) : _mm512_mask_min_epi64(other, (__mmask8)to, a, b);
}

SORT_INLINE __m512i sort_max_to(__m512i other, __mmask16 to, __m512i a, __m512i b, int bits)
{
    return bits == 32 ? _mm512_mask_max_epi32(other, to, a, b) : _mm512_mask_max_epi64(other, (__mmask8)to, a, b);
}

/* Where lanes with the numbers of these ones, each with `apart` flipped, are found. */
SORT_INLINE __m512i sort_places(int apart, int bits)
{
    __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return bits == 32 ? _mm512_xor_si512(lanes, _mm512_set1_epi32(apart))
                      : _mm512_xor_si512(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(lanes)),
                                         _mm512_set1_epi64(apart));
}

/* Lane i of the result is lane i ^ apart, in lanes of `to`; others are those of `other`. */
SORT_INLINE __m512i sort_cross_to(__m512i other, __mmask16 to, __m512i v, int apart, int bits)
{
    return bits == 32 ? _mm512_mask_permutexvar_epi32(other, to, sort_places(apart, bits), v)
                      : _mm512_mask_permutexvar_epi64(other, (__mmask8)to, sort_places(apart, bits), v);
}

/* The same everywhere. Numbers in the instruction leave registers to the vectors, which are as many as there are. */
SORT_INLINE __m512i sort_cross(__m512i v, int apart, int bits)
{
    switch (apart * bits / 32) {
    case 1: return _mm512_shuffle_epi32(v, _MM_PERM_CDAB);
    case 2: return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
    case 3: return _mm512_shuffle_epi32(v, _MM_PERM_ABCD);
    case 4: return _mm512_shuffle_i32x4(v, v, _MM_PERM_CDAB);
    case 6: return _mm512_permutex_epi64(v, _MM_PERM_ABCD);
    case 8: return _mm512_shuffle_i32x4(v, v, _MM_PERM_BADC);
    default: return sort_cross_to(v, 0xFFFF, v, apart, bits);
    }
}

SORT_INLINE __m512i sort_most(int bits)
{
    return bits == 32 ? _mm512_set1_epi32(INT32_MAX) : _mm512_set1_epi64(INT64_MAX);
}

/* Lanes 0 to n - 1. */
SORT_INLINE __mmask16 sort_first(int64_t n)
{
    return n >= 16 ? 0xFFFF : n <= 0 ? 0 : (__mmask16)((1u << n) - 1);
}

SORT_INLINE __m512i sort_load_first(const void *from, int64_t n, int bits)
{
    return bits == 32 ? _mm512_mask_loadu_epi32(sort_most(bits), sort_first(n), from)
                      : _mm512_mask_loadu_epi64(sort_most(bits), (__mmask8)sort_first(n), from);
}

SORT_INLINE void sort_store_first(void *to, int64_t n, __m512i v, int bits)
{
    if (bits == 32)
        _mm512_mask_storeu_epi32(to, sort_first(n), v);
    else
        _mm512_mask_storeu_epi64(to, (__mmask8)sort_first(n), v);
}

SORT_INLINE void sort_two(__m512i *a, __m512i *b, int bits)
{
    __m512i least = sort_min(*a, *b, bits);
    *b = sort_max(*a, *b, bits);
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

SORT_INLINE void sort_network(__m512i v[SORT_ROWS], int bits)
{
#define SORT_COMPARE(i, j) sort_two(&v[i], &v[j], bits);
    SORT_NETWORK(SORT_COMPARE)
#undef SORT_COMPARE
}

/* Levels of a merge, of `rows` vectors that lie in order: rows / 2, rows / 4 .. 1 apart. */
SORT_INLINE void sort_clean(__m512i *v, int rows, int bits)
{
#pragma GCC unroll 4
    for (int apart = rows / 2; apart; apart /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            if (!(i & apart))
                sort_two(&v[i], &v[i | apart], bits);
}

/* Rows of columns, n of them; those beyond are greater than all. */
typedef struct sort_rows {
    char *at;
    int64_t n;
} sort_rows;

SORT_INLINE __m512i sort_load(sort_rows r, int64_t i, int bits, bool all)
{
    return all || i < r.n ? _mm512_load_si512(r.at + i * SORT_VECTOR) : sort_most(bits);
}

SORT_INLINE void sort_store(sort_rows r, int64_t i, __m512i v, bool all)
{
    if (all || i < r.n)
        _mm512_store_si512(r.at + i * SORT_VECTOR, v);
}

/* The first `levels` levels of a merge of two runs of m rows, from row `begin` on: `half` rows of each at a time. */
SORT_INLINE void sort_flip_levels(sort_rows r, int64_t begin, int64_t m, int half, int bits, bool all)
{
    __m512i v[SORT_ROWS];
    int64_t apart = m / half, last = begin + 2 * m - 1;
    for (int64_t i = begin; i < begin + apart; i++) {
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) {
            int64_t here = i + k * apart, there = last - (here - begin);
            v[k] = sort_load(r, here, bits, all);
            v[2 * half - 1 - k] = sort_load(r, there, bits, all);
            sort_two(&v[k], &v[2 * half - 1 - k], bits);
        }
        sort_clean(v, half, bits);
        sort_clean(v + half, half, bits);
#pragma GCC unroll 8
        for (int k = 0; k < half; k++) {
            int64_t here = i + k * apart;
            sort_store(r, here, v[k], all);
            sort_store(r, last - (here - begin), v[2 * half - 1 - k], all);
        }
    }
}

/* Four levels of a merge of rows from `begin` to before `end`: 8, 4, 2 and 1 times `apart` rows apart. */
SORT_INLINE void sort_clean_levels(sort_rows r, int64_t begin, int64_t end, int64_t apart, int bits, bool all)
{
    __m512i v[SORT_ROWS];
    for (; begin < end; begin += SORT_ROWS * apart)
        for (int64_t i = begin; i < begin + apart && i < r.n; i++) {
#pragma GCC unroll 16
            for (int k = 0; k < SORT_ROWS; k++)
                v[k] = sort_load(r, i + k * apart, bits, all);
            sort_clean(v, SORT_ROWS, bits);
#pragma GCC unroll 16
            for (int k = 0; k < SORT_ROWS; k++)
                sort_store(r, i + k * apart, v[k], all);
        }
}

SORT_INLINE void sort_flips(sort_rows r, int64_t begin, int64_t m, int levels, int bits, bool all)
{
    switch (levels) {
    case 1: sort_flip_levels(r, begin, m, 1, bits, all); break;
    case 2: sort_flip_levels(r, begin, m, 2, bits, all); break;
    case 3: sort_flip_levels(r, begin, m, 4, bits, all); break;
    default: sort_flip_levels(r, begin, m, 8, bits, all);
    }
}

/* Merges runs of m rows each, a power of two from SORT_ROWS on; the second may end early. */
SORT_INLINE void sort_merge(sort_rows r, int64_t begin, int64_t m, int bits)
{
    int levels = ts_log2((uint64_t)m) + 1;
    int64_t end = TS_MIN(begin + 2 * m, r.n), apart;
    bool all = end == begin + 2 * m;
    if (all)
        sort_flips(r, begin, m, (levels - 1) % 4 + 1, bits, true);
    else
        sort_flips(r, begin, m, (levels - 1) % 4 + 1, bits, false);
    for (levels -= (levels - 1) % 4 + 1; levels; levels -= 4) {
        apart = (int64_t)1 << (levels - 4);
        if (all || apart == 1)
            sort_clean_levels(r, begin, end, apart, bits, true);
        else
            sort_clean_levels(r, begin, end, apart, bits, false);
    }
}

/* Runs are merged as soon as there are two of a length, while they are near. */
SORT_INLINE void sort_columns(void *rows, int64_t n, int bits)
{
    sort_rows r = {rows, n};
    __m512i v[SORT_ROWS];
    for (int64_t end = SORT_ROWS; end <= n; end += SORT_ROWS) {
        char *at = r.at + (end - SORT_ROWS) * SORT_VECTOR;
#pragma GCC unroll 16
        for (int k = 0; k < SORT_ROWS; k++)
            v[k] = _mm512_load_si512(at + k * SORT_VECTOR);
        sort_network(v, bits);
#pragma GCC unroll 16
        for (int k = 0; k < SORT_ROWS; k++)
            _mm512_store_si512(at + k * SORT_VECTOR, v[k]);
        for (int64_t m = SORT_ROWS; m < end && (end % (2 * m) == 0 || end == n); m *= 2) {
            int64_t begin = (end - 1) / (2 * m) * 2 * m;
            if (begin + m < end)
                sort_merge(r, begin, m, bits);
        }
    }
}

SORT_WIDE void ts__sort_columns_32(int32_t *rows, int64_t n)
{
    sort_columns(rows, n, 32);
}

SORT_WIDE void ts__sort_columns_64(int64_t *rows, int64_t n)
{
    sort_columns(rows, n, 64);
}

/* ---- turned -------------------------------------------------------------------------------------- */

/* As many rows and columns of lanes change places, for each bit of their numbers: lanes with the bit of rows without
 * it, and the other way round. Of fewer rows each stands for lanes / rows columns, which are one behind the other. */
SORT_INLINE void sort_turn(__m512i *v, int rows, int bits)
{
    const int wide = sort_lanes(bits) / rows;
#pragma GCC unroll 4
    for (int apart = rows / 2; apart; apart /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            if (!(i & apart)) {
                __mmask16 upper = sort_upper(apart * wide);
                __m512i a = v[i], b = v[i | apart];
                v[i] = sort_cross_to(a, upper, b, apart * wide, bits);
                v[i | apart] = sort_cross_to(b, (__mmask16)~upper, a, apart * wide, bits);
            }
}

SORT_INLINE void sort_lines_in(char *const lines[], int64_t at, int64_t n, char *columns, int bits)
{
    __m512i v[SORT_ROWS];
    const int lanes = sort_lanes(bits);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        v[i] = n == lanes ? _mm512_loadu_si512(lines[i] + at) : sort_load_first(lines[i] + at, n, bits);
    sort_turn(v, lanes, bits);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        _mm512_store_si512(columns + i * SORT_VECTOR, v[i]);
}

SORT_INLINE void sort_lines_out(const char *columns, char *const lines[], int n_lines, int64_t at, int64_t n, int bits)
{
    __m512i v[SORT_ROWS];
    const int lanes = sort_lanes(bits);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        v[i] = _mm512_load_si512(columns + i * SORT_VECTOR);
    sort_turn(v, lanes, bits);
    if (n == lanes && n_lines == lanes)
#pragma GCC unroll 16
        for (int i = 0; i < lanes; i++)
            _mm512_storeu_si512(lines[i] + at, v[i]);
    else
#pragma GCC unroll 16
        for (int i = 0; i < lanes; i++)
            sort_store_first(lines[i] + at, i < n_lines ? n : 0, v[i], bits);
}

/* With the counts of whole squares known where that is compiled. */
#define SORT_LINES(bits, integer)                                                                                   \
    SORT_WIDE void ts__sort_lines_in_##bits(char *const lines[], int64_t at, int64_t n, integer *rows)              \
    {                                                                                                               \
        if (n == sort_lanes(bits))                                                                                  \
            sort_lines_in(lines, at, sort_lanes(bits), (char *)rows, bits);                                         \
        else                                                                                                        \
            sort_lines_in(lines, at, n, (char *)rows, bits);                                                        \
    }                                                                                                               \
    SORT_WIDE void ts__sort_lines_out_##bits(const integer *rows, char *const lines[], int n_lines, int64_t at,     \
                                             int64_t n)                                                             \
    {                                                                                                               \
        if (n == sort_lanes(bits) && n_lines == sort_lanes(bits))                                                   \
            sort_lines_out((const char *)rows, lines, sort_lanes(bits), at, sort_lanes(bits), bits);                \
        else                                                                                                        \
            sort_lines_out((const char *)rows, lines, n_lines, at, n, bits);                                        \
    }
SORT_LINES(32, int32_t)
SORT_LINES(64, int64_t)

/* ---- few ----------------------------------------------------------------------------------------- */

/* Lanes `apart` from each other, within each vector. */
SORT_INLINE void sort_lanes_apart(__m512i *v, int rows, int apart, int bits)
{
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        __m512i other = sort_cross(v[i], apart, bits);
        v[i] = sort_max_to(sort_min(v[i], other, bits), sort_upper(apart), v[i], other, bits);
    }
}

/* Two runs of `columns` columns each, one behind the other: the first elements of one meet the last of the other. */
SORT_INLINE void sort_flip_columns(__m512i *v, int rows, int columns, int bits)
{
    const __mmask16 upper = sort_upper(columns);
    if (rows == 1) {
        __m512i other = sort_cross(v[0], 2 * columns - 1, bits);
        v[0] = sort_max_to(sort_min(v[0], other, bits), upper, v[0], other, bits);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows / 2; i++) {
        __m512i a = v[i], b = sort_cross(v[rows - 1 - i], 2 * columns - 1, bits);
        v[i] = sort_max_to(sort_min(a, b, bits), upper, a, b, bits);
        v[rows - 1 - i] = sort_cross(sort_min_to(sort_max(a, b, bits), upper, a, b, bits), 2 * columns - 1, bits);
    }
}

/* Sorts the columns of up to 8 rows. */
SORT_INLINE void sort_few_rows(__m512i *v, int rows, int bits)
{
#pragma GCC unroll 3
    for (int run = 1; run < rows; run *= 2)
#pragma GCC unroll 4
        for (int begin = 0; begin < rows; begin += 2 * run) {
#pragma GCC unroll 4
            for (int i = 0; i < run; i++)
                sort_two(&v[begin + i], &v[begin + 2 * run - 1 - i], bits);
            sort_clean(v + begin, run, bits);
            sort_clean(v + begin + run, run, bits);
        }
}

/* Vectors of columns, which are in order one behind the other, to vectors of the numbers in order. */
SORT_INLINE void sort_as_numbers(__m512i *v, int rows, int bits)
{
    const int lanes = sort_lanes(bits), wide = lanes / rows;
    if (rows > lanes) {
        __m512i turned[SORT_ROWS];
        sort_turn(v, lanes, bits);
        sort_turn(v + lanes, lanes, bits);
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            turned[i] = v[i];
#pragma GCC unroll 8
        for (int i = 0; i < lanes; i++)
            v[2 * i] = turned[i], v[2 * i + 1] = turned[lanes + i];
        return;
    }
    sort_turn(v, rows, bits);
    if (wide == 1 || rows == 1)
        return;
    int32_t from[16]; /* lane (column, row) is at (row, column) */
#pragma GCC unroll 16
    for (int i = 0; i < lanes; i++)
        from[i] = i % rows * wide + i / rows;
    __m512i places = _mm512_loadu_si512(from);
    places = bits == 32 ? places : _mm512_cvtepi32_epi64(_mm512_castsi512_si256(places));
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
        v[i] = bits == 32 ? _mm512_permutexvar_epi32(places, v[i]) : _mm512_permutexvar_epi64(places, v[i]);
}

/* Sorts up to `rows` vectors of numbers. */
SORT_INLINE void sort_vectors(char *x, int64_t n, int rows, int bits)
{
    __m512i v[SORT_ROWS];
    const int lanes = sort_lanes(bits);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
        v[i] = sort_load_first(x + i * SORT_VECTOR, n - i * lanes, bits);
    if (rows == SORT_ROWS)
        sort_network(v, bits);
    else
        sort_few_rows(v, rows, bits);
#pragma GCC unroll 4
    for (int columns = 1; columns < lanes; columns *= 2) {
        sort_flip_columns(v, rows, columns, bits);
#pragma GCC unroll 4
        for (int apart = columns / 2; apart; apart /= 2)
            sort_lanes_apart(v, rows, apart, bits);
        sort_clean(v, rows, bits);
    }
    sort_as_numbers(v, rows, bits);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
        sort_store_first(x + i * SORT_VECTOR, n - i * lanes, v[i], bits);
}

/* Sorts up to 16 vectors. A function of its own for each number of them: their vectors fill the registers. */
#define SORT_FEW(rows, bits)                                                                                        \
    SORT_WIDE static __attribute__((noinline)) void sort_##bits##_##rows(void *x, int64_t n)                        \
    {                                                                                                               \
        sort_vectors(x, n, rows, bits);                                                                             \
    }
SORT_FEW(1, 32) SORT_FEW(2, 32) SORT_FEW(4, 32) SORT_FEW(8, 32) SORT_FEW(16, 32)
SORT_FEW(1, 64) SORT_FEW(2, 64) SORT_FEW(4, 64) SORT_FEW(8, 64) SORT_FEW(16, 64)

SORT_INLINE void sort_few(void *x, int64_t n, int bits)
{
    typedef void few(void *, int64_t);
    static few *const sorts[2][5] = {{sort_32_1, sort_32_2, sort_32_4, sort_32_8, sort_32_16},
                                     {sort_64_1, sort_64_2, sort_64_4, sort_64_8, sort_64_16}};
    int64_t vectors = (n + sort_lanes(bits) - 1) / sort_lanes(bits);
    if (n > 1)
        sorts[bits == 64][vectors > 1 ? ts_log2((uint64_t)vectors - 1) + 1 : 0](x, n);
}

/* ---- many ---------------------------------------------------------------------------------------- */

SORT_INLINE int64_t sort_get(const void *x, int64_t i, int bits)
{
    return bits == 32 ? ((const int32_t *)x)[i] : ((const int64_t *)x)[i];
}

SORT_INLINE void sort_set(void *x, int64_t i, int64_t value, int bits)
{
    if (bits == 32)
        ((int32_t *)x)[i] = (int32_t)value;
    else
        ((int64_t *)x)[i] = value;
}

/* The middle one of some of the numbers, from places that no order of them knows. */
SORT_INLINE int64_t sort_middle(const char *x, int64_t n, uint64_t *random, int bits)
{
    int64_t sample[SORT_SAMPLE], count = n < 64 * SORT_SAMPLE ? sort_lanes(bits) : SORT_SAMPLE;
    for (int64_t i = 0; i < count; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u; /* D. Knuth's */
        sort_set(sample, i, sort_get(x, i * (n / count) + (int64_t)((*random >> 32) * (uint64_t)(n / count) >> 32),
                                     bits), bits);
    }
    sort_few(sample, count, bits);
    return sort_get(sample, count / 2, bits);
}

/* Where a partition writes: lesser numbers from the left on, greater ones from the right back. */
typedef struct sort_sides {
    char *left, *right;
} sort_sides;

/* Lanes of a vector to their sides. Intel's processors store compressed lanes as fast as others; AMD's want whole
 * vectors, of which the lesser numbers may be written beyond their lanes where `room` is left. */
SORT_INLINE void sort_to_sides(sort_sides *to, __m512i v, __m512i middle, int64_t n, bool packed, bool room, int bits)
{
    const __mmask16 in = (__mmask16)(sort_first(n) & sort_first(sort_lanes(bits)));
    __mmask16 greater = bits == 32 ? _mm512_mask_cmpgt_epi32_mask(in, v, middle)
                                   : _mm512_mask_cmpgt_epi64_mask((__mmask8)in, v, middle);
    __mmask16 least = (__mmask16)(in ^ greater);
    int64_t n_greater = __builtin_popcount(greater), n_least = n - n_greater;
    to->right -= n_greater * (bits / 8);
    if (packed && bits == 32) {
        _mm512_mask_compressstoreu_epi32(to->left, least, v);
        _mm512_mask_compressstoreu_epi32(to->right, greater, v);
    } else if (packed) {
        _mm512_mask_compressstoreu_epi64(to->left, (__mmask8)least, v);
        _mm512_mask_compressstoreu_epi64(to->right, (__mmask8)greater, v);
    } else {
        __m512i low = bits == 32 ? _mm512_maskz_compress_epi32(least, v)
                                 : _mm512_maskz_compress_epi64((__mmask8)least, v);
        __m512i high = bits == 32 ? _mm512_maskz_compress_epi32(greater, v)
                                  : _mm512_maskz_compress_epi64((__mmask8)greater, v);
        sort_store_first(to->left, room ? SORT_VECTOR : n_least, low, bits);
        sort_store_first(to->right, n_greater, high, bits);
    }
    to->left += n_least * (bits / 8);
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
SORT_INLINE int64_t sort_divide(char *x, int64_t n, int64_t at, bool packed, int bits)
{
    const int lanes = sort_lanes(bits), step = SORT_AT_ONCE * SORT_VECTOR;
    __m512i middle = bits == 32 ? _mm512_set1_epi32((int32_t)at) : _mm512_set1_epi64(at);
    __m512i first[SORT_AT_ONCE], last[SORT_AT_ONCE], rest[SORT_AT_ONCE], v[SORT_AT_ONCE], next[SORT_AT_ONCE];
    char *end = x + n * (bits / 8);
    sort_unread from = {x + step, end - step};
    int64_t n_rest = (from.right - from.left) % step / (bits / 8);
    sort_sides to = {x, end};
#pragma GCC unroll 8
    for (int i = 0; i < SORT_AT_ONCE; i++) {
        first[i] = _mm512_loadu_si512(x + i * SORT_VECTOR);
        last[i] = _mm512_loadu_si512(from.right + i * SORT_VECTOR);
        rest[i] = sort_load_first(from.left + i * SORT_VECTOR, n_rest - i * lanes, bits);
    }
    from.left += n_rest * (bits / 8);
    if (from.left < from.right) {
        sort_read(&from, &to, v);
        while (from.left < from.right) {
            sort_read(&from, &to, next);
#pragma GCC unroll 8
            for (int i = 0; i < SORT_AT_ONCE; i++) {
                sort_to_sides(&to, v[i], middle, lanes, packed, true, bits);
                v[i] = next[i];
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < SORT_AT_ONCE; i++)
            sort_to_sides(&to, v[i], middle, lanes, packed, false, bits);
    }
    for (int i = 0; i < SORT_AT_ONCE; i++) {
        sort_to_sides(&to, first[i], middle, lanes, packed, false, bits);
        sort_to_sides(&to, last[i], middle, lanes, packed, false, bits);
        sort_to_sides(&to, rest[i], middle, TS_MAX(TS_MIN(n_rest - i * lanes, lanes), 0), packed, false, bits);
    }
    return (to.left - x) / (bits / 8);
}

/* Puts x[i] where it belongs below it, in a heap of n. */
SORT_INLINE void sort_sift(void *x, int64_t i, int64_t n, int bits)
{
    int64_t value = sort_get(x, i, bits);
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && sort_get(x, child + 1, bits) > sort_get(x, child, bits);
        if (sort_get(x, child, bits) <= value)
            break;
        sort_set(x, i, sort_get(x, child, bits), bits);
    }
    sort_set(x, i, value, bits);
}

/* For numbers whose middle is never found. */
SORT_INLINE void sort_by_heap(void *x, int64_t n, int bits)
{
    for (int64_t i = n / 2; i-- > 0;)
        sort_sift(x, i, n, bits);
    for (int64_t end = n - 1; end > 0; end--) {
        int64_t most = sort_get(x, 0, bits);
        sort_set(x, 0, sort_get(x, end, bits), bits);
        sort_set(x, end, most, bits);
        sort_sift(x, 0, end, bits);
    }
}

/* Parts that wait are the greater ones, so there are few. From `kth` on, 0 or more, parts without that place are left
 * as they are: lesser numbers before it, greater ones behind. */
SORT_INLINE void sort_many(char *x, int64_t n, int64_t kth, bool packed, int bits)
{
    struct {
        char *x;
        int64_t n;
        int depth;
    } waiting[64];
    uint64_t random = (uint64_t)n;
    int n_waiting = 0, depth = 2 * ts_log2((uint64_t)TS_MAX(n, 1)) + 4;
    for (;;) {
        if (n <= SORT_ROWS * sort_lanes(bits) || !depth--) {
            if (n <= SORT_ROWS * sort_lanes(bits))
                sort_few(x, n, bits);
            else
                sort_by_heap(x, n, bits);
            if (!n_waiting--)
                return;
            x = waiting[n_waiting].x, n = waiting[n_waiting].n, depth = waiting[n_waiting].depth;
            continue;
        }
        int64_t middle = sort_middle(x, n, &random, bits), least = sort_divide(x, n, middle, packed, bits);
        if (least == n) { /* the middle is the greatest: those equal to it are in their places */
            bool alike = middle == (bits == 32 ? INT32_MIN : INT64_MIN);
            n = alike ? 0 : sort_divide(x, n, middle - 1, packed, bits);
            n = kth >= n ? 0 : n;
            continue;
        }
        char *above = x + least * (bits / 8);
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

SORT_WIDE static void sort_32_packed(int32_t *x, int64_t n, int64_t kth)
{
    sort_many((char *)x, n, kth, true, 32);
}

SORT_WIDE static void sort_64_packed(int64_t *x, int64_t n, int64_t kth)
{
    sort_many((char *)x, n, kth, true, 64);
}

SORT_WIDE static void sort_32_whole(int32_t *x, int64_t n, int64_t kth)
{
    sort_many((char *)x, n, kth, false, 32);
}

SORT_WIDE static void sort_64_whole(int64_t *x, int64_t n, int64_t kth)
{
    sort_many((char *)x, n, kth, false, 64);
}

void ts__sort_32(int32_t *x, int64_t n, int64_t kth)
{
    (__builtin_cpu_is("intel") ? sort_32_packed : sort_32_whole)(x, n, kth);
}

void ts__sort_64(int64_t *x, int64_t n, int64_t kth)
{
    (__builtin_cpu_is("intel") ? sort_64_packed : sort_64_whole)(x, n, kth);
}

/* ---- keys ---------------------------------------------------------------------------------------- */

#define SORT_KEYS(bits, word, signed_word, most)                                                                    \
    SORT_WIDE void ts__sort_flip_##bits(word *x, int64_t n, word flip)                                              \
    {                                                                                                               \
        for (int64_t i = 0; flip && i < n; i++)                                                                     \
            x[i] ^= flip;                                                                                           \
    }                                                                                                               \
    SORT_WIDE bool ts__sort_zeros_##bits(const word *from, word *to, int64_t n)                                     \
    {                                                                                                               \
        const word sign = (word)1 << (bits - 1);                                                                    \
        word some = 0;                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            word is_minus = from[i] == sign ? (word)-1 : 0;                                                         \
            some |= is_minus;                                                                                       \
            to[i] = from[i] & (word)~is_minus;                                                                      \
        }                                                                                                           \
        return some != 0;                                                                                           \
    }                                                                                                               \
    SORT_WIDE void ts__sort_floats_##bits(word *x, int64_t n, word flip)                                            \
    {                                                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            word key = x[i] ^ flip;                                                                                 \
            x[i] = key ^ (word)((signed_word)key >> (bits - 1) & most);                                             \
        }                                                                                                           \
    }                                                                                                               \
    SORT_WIDE bool ts__sort_falls_##bits(const signed_word *x, int64_t n)                                           \
    {                                                                                                               \
        int falls = 0;                                                                                              \
        for (int64_t begin = 0, end; begin < n - 1 && !falls; begin = end) {                                        \
            end = TS_MIN(begin + 1024, n - 1);                                                                      \
            for (int64_t i = begin; i < end; i++)                                                                   \
                falls |= x[i + 1] < x[i];                                                                           \
        }                                                                                                           \
        return falls;                                                                                               \
    }
SORT_KEYS(32, uint32_t, int32_t, INT32_MAX)
SORT_KEYS(64, uint64_t, int64_t, INT64_MAX)

#else /* another processor */
bool ts__sort_is_there(void)
{
    return false;
}

void ts__sort_32(int32_t *x, int64_t n, int64_t kth)
{
    (void)x, (void)n, (void)kth;
}

void ts__sort_64(int64_t *x, int64_t n, int64_t kth)
{
    (void)x, (void)n, (void)kth;
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

bool ts__sort_zeros_32(const uint32_t *from, uint32_t *to, int64_t n)
{
    (void)from, (void)to, (void)n;
    return false;
}

bool ts__sort_zeros_64(const uint64_t *from, uint64_t *to, int64_t n)
{
    (void)from, (void)to, (void)n;
    return false;
}

void ts__sort_floats_32(uint32_t *x, int64_t n, uint32_t flip)
{
    (void)x, (void)n, (void)flip;
}

void ts__sort_floats_64(uint64_t *x, int64_t n, uint64_t flip)
{
    (void)x, (void)n, (void)flip;
}

bool ts__sort_falls_32(const int32_t *x, int64_t n)
{
    (void)x, (void)n;
    return false;
}

bool ts__sort_falls_64(const int64_t *x, int64_t n)
{
    (void)x, (void)n;
    return false;
}
#endif
