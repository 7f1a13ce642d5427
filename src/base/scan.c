/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums up to each item in the order of tiles (scan.h). Of a GPU's block each thread has neighbouring items:
 *
 *     thread 0   x0  x1  x2 ..            lanes are threads:    x0  y0 ..      sums of threads and of items are sums
 *     thread 1   y0  y1  y2 ..     -->    vectors turned        x1  y1 ..      of vectors, one item after the other
 *
 *     sums of threads --> up to each thread of 32, in steps of 1, 2, 4, 8, 16 --> of 32 after 32
 *     sums of tiles   --> 32 by 32, in pairs of pairs
 *
 * A tile stays in the nearest cache, turned, from when its sums are made until they are used. What is left of the last
 * one goes item by item. Both widths share the code: `wide` is constant where it is inlined.
 */
#include "base/scan.h"
#if defined(__x86_64__)
#include "base/turn.h"

enum {
    SCAN_THREADS = 256,
    SCAN_WARP = 32,
    SCAN_BYTES = 1 << 15 /* of a tile */
};

/* What tiles before this one have, for one of the types. */
#define SCAN_STATE(type)                                                                                            \
    typedef struct scan_##type {                                                                                    \
        type tiles[SCAN_WARP], groups[SCAN_WARP], span; /* sums of tiles of a group, of groups of a span, of spans */ \
        bool has_span;                                                                                              \
    } scan_##type;

/* Values put together in pairs, pairs of pairs, five times. */
#define SCAN_TREE(type)                                                                                             \
    static type scan_tree_##type(const type *values, int64_t n)                                                     \
    {                                                                                                               \
        type s[SCAN_WARP];                                                                                          \
        memcpy(s, values, (size_t)n * sizeof *s);                                                                   \
        for (; n > 1; n = (n + 1) / 2) {                                                                            \
            for (int64_t i = 0; i < n / 2; i++)                                                                     \
                s[i] = s[2 * i] + s[2 * i + 1];                                                                     \
            if (n % 2)                                                                                              \
                s[n / 2] = s[n - 1];                                                                                \
        }                                                                                                           \
        return s[0];                                                                                                \
    }

/* What comes before a tile: whether there is something. */
#define SCAN_BEFORE(type)                                                                                           \
    static bool scan_before_##type(const scan_##type *scan, int64_t tile, type *before)                             \
    {                                                                                                               \
        const int64_t of_tiles = tile % SCAN_WARP, of_groups = tile / SCAN_WARP % SCAN_WARP;                        \
        bool has = scan->has_span;                                                                                  \
        *before = scan->span;                                                                                       \
        for (int k = 0; k < 2; k++) {                                                                               \
            int64_t n = k ? of_tiles : of_groups;                                                                   \
            if (!n)                                                                                                 \
                continue;                                                                                           \
            type sum = scan_tree_##type(k ? scan->tiles : scan->groups, n);                                         \
            *before = has ? *before + sum : sum;                                                                    \
            has = true;                                                                                             \
        }                                                                                                           \
        return has;                                                                                                 \
    }

/* Notes what a full tile has. */
#define SCAN_AFTER(type)                                                                                            \
    static void scan_after_##type(scan_##type *scan, int64_t tile, type total)                                      \
    {                                                                                                               \
        const int64_t last = SCAN_WARP - 1, of_tiles = tile % SCAN_WARP, of_groups = tile / SCAN_WARP % SCAN_WARP;  \
        if (of_tiles < last) {                                                                                      \
            scan->tiles[of_tiles] = total;                                                                          \
            return;                                                                                                 \
        }                                                                                                           \
        total = scan_tree_##type(scan->tiles, last) + total;                                                        \
        if (of_groups < last) {                                                                                     \
            scan->groups[of_groups] = total;                                                                        \
            return;                                                                                                 \
        }                                                                                                           \
        total = scan_tree_##type(scan->groups, last) + total;                                                       \
        scan->span = scan->has_span ? scan->span + total : total;                                                   \
        scan->has_span = true;                                                                                      \
    }

/* What all threads of a full tile have. */
#define SCAN_TOTAL(type)                                                                                            \
    static TURN_WIDE type scan_total_##type(const type *sums)                                                       \
    {                                                                                                               \
        type s[SCAN_THREADS / 2], other[SCAN_THREADS / 2];                                                          \
        for (int i = 0; i < SCAN_THREADS / 2; i++)                                                                  \
            s[i] = sums[2 * i] + sums[2 * i + 1];                                                                   \
        for (int i = 0; i < SCAN_THREADS / 4; i++)                                                                  \
            other[i] = s[2 * i] + s[2 * i + 1];                                                                     \
        for (int i = 0; i < SCAN_THREADS / 8; i++)                                                                  \
            s[i] = other[2 * i] + other[2 * i + 1];                                                                 \
        for (int i = 0; i < SCAN_THREADS / 16; i++)                                                                 \
            other[i] = s[2 * i] + s[2 * i + 1];                                                                     \
        type total = other[0] + other[1];                                                                           \
        for (int i = 2; i < SCAN_THREADS / 16; i += 2)                                                              \
            total = total + (other[i] + other[i + 1]);                                                              \
        return total;                                                                                               \
    }

/* Sums of threads to what comes before each: thread 0 has what comes before the tile, if there is something. */
#define SCAN_RUNNING(type)                                                                                          \
    TURN_INLINE void scan_step_##type(const type *s, type *other, int d)                                     \
    {                                                                                                               \
        for (int w = 0; w < SCAN_THREADS; w += SCAN_WARP) {                                                         \
            memcpy(other + w, s + w, (size_t)d * sizeof *s);                                                        \
            for (int lane = d; lane < SCAN_WARP; lane++)                                                            \
                other[w + lane] = s[w + lane - d] + s[w + lane];                                                    \
        }                                                                                                           \
    }                                                                                                               \
    static TURN_WIDE void scan_running_##type(type *s, bool has, type before)                                       \
    {                                                                                                               \
        type other[SCAN_THREADS], of_warps = 0;                                                                     \
        scan_step_##type(s, other, 1);                                                                              \
        scan_step_##type(other, s, 2);                                                                              \
        scan_step_##type(s, other, 4);                                                                              \
        scan_step_##type(other, s, 8);                                                                              \
        scan_step_##type(s, other, 16);                                                                             \
        for (int w = 0; w < SCAN_THREADS; w += SCAN_WARP) {                                                         \
            if (w)                                                                                                  \
                of_warps = w == SCAN_WARP ? other[w - 1] : of_warps + other[w - 1];                                 \
            s[w] = of_warps;                                                                                        \
            for (int lane = 1; lane < SCAN_WARP; lane++)                                                            \
                s[w + lane] = w ? of_warps + other[w + lane - 1] : other[w + lane - 1];                             \
        }                                                                                                           \
        for (int t = 1; has && t < SCAN_THREADS; t++)                                                               \
            s[t] = before + s[t];                                                                                   \
        s[0] = before;                                                                                              \
    }

/* Of a tile that ends early: sums of the whole threads from `first` on, and what each of their items and of the last
 * thread's comes to, item by item. `before`: what the first of them has before it. */
#define SCAN_REST(type)                                                                                             \
    static void scan_rest_sums_##type(const type *from, int64_t n, int64_t first, type *sums)                       \
    {                                                                                                               \
        const int64_t items = SCAN_BYTES / SCAN_THREADS / (int64_t)sizeof(type);                                    \
        memset(sums + first, 0, (size_t)(SCAN_THREADS - first) * sizeof *sums);                                     \
        for (int64_t t = first; t < n / items; t++) {                                                               \
            sums[t] = from[t * items];                                                                              \
            for (int64_t i = t * items + 1; i < (t + 1) * items; i++)                                               \
                sums[t] = sums[t] + from[i];                                                                        \
        }                                                                                                           \
    }                                                                                                               \
    static void scan_rest_##type(const type *from, type *to, int64_t n, int64_t first, const type *sums, bool has)  \
    {                                                                                                               \
        const int64_t items = SCAN_BYTES / SCAN_THREADS / (int64_t)sizeof(type);                                    \
        for (int64_t t = first; t * items < n; t++) {                                                               \
            type value = t || has ? sums[t] + from[t * items] : from[0];                                            \
            to[t * items] = value;                                                                                  \
            for (int64_t i = t * items + 1; i < TS_MIN((t + 1) * items, n); i++)                                    \
                to[i] = value = value + from[i];                                                                    \
        }                                                                                                           \
    }

/* ---- full tiles ---------------------------------------------------------------------------------- */

TURN_INLINE __m512i scan_add(__m512i a, __m512i b, bool wide)
{
    return wide ? _mm512_castpd_si512(_mm512_add_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)))
                : _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)));
}

/* Items of as many threads as a vector has lanes, two vectors each, turned: `rows`; and their sums. */
TURN_INLINE void scan_in(const char *from, __m512i *rows, void *sums, bool wide)
{
    enum { MOST = TURN_VECTOR / 4 };
    const int lanes = wide ? MOST / 2 : MOST;
    __m512i v[MOST], sum = _mm512_setzero_si512();
    for (int half = 0; half < 2; half++) {
#pragma GCC unroll 16
        for (int t = 0; t < lanes; t++)
            v[t] = _mm512_loadu_si512(from + (2 * t + half) * TURN_VECTOR);
        turn_rows(v, lanes, wide);
        sum = half ? scan_add(sum, v[0], wide) : v[0];
#pragma GCC unroll 16
        for (int i = 1; i < lanes; i++)
            sum = scan_add(sum, v[i], wide);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; i++)
            rows[half * lanes + i] = v[i];
    }
    _mm512_storeu_si512(sums, sum);
}

/* The same back, each item after those before it; `alone`: lanes whose first item has none before it. */
TURN_INLINE void scan_out(const __m512i *rows, const void *before, __mmask16 alone, char *to, bool wide)
{
    enum { MOST = TURN_VECTOR / 4 };
    const int lanes = wide ? MOST / 2 : MOST;
    __m512i v[MOST], sum = _mm512_loadu_si512(before);
    for (int half = 0; half < 2; half++) {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; i++) {
            __m512i item = rows[half * lanes + i];
            sum = scan_add(sum, item, wide);
            if (!half && !i)
                sum = wide ? _mm512_mask_mov_epi64(sum, (__mmask8)alone, item)
                           : _mm512_mask_mov_epi32(sum, alone, item);
            v[i] = sum;
        }
        turn_rows(v, lanes, wide);
#pragma GCC unroll 16
        for (int t = 0; t < lanes; t++)
            _mm512_storeu_si512(to + (2 * t + half) * TURN_VECTOR, v[t]);
    }
}

#define SCAN_SUMS(type, bits, wide)                                                                                 \
    SCAN_STATE(type)                                                                                                \
    SCAN_TREE(type)                                                                                                 \
    SCAN_BEFORE(type)                                                                                               \
    SCAN_AFTER(type)                                                                                                \
    SCAN_TOTAL(type)                                                                                                \
    SCAN_RUNNING(type)                                                                                              \
    SCAN_REST(type)                                                                                                 \
    TURN_WIDE void ts__scan_sums_##bits(const type *from, type *to, int64_t n, const type *initial)                 \
    {                                                                                                               \
        enum { TILE = SCAN_BYTES / sizeof(type), LANES = TURN_VECTOR / sizeof(type), ROWS = 2 * LANES };            \
        __m512i rows[SCAN_BYTES / TURN_VECTOR];                                                                     \
        type sums[SCAN_THREADS], before;                                                                            \
        scan_##type scan = {.span = initial ? *initial : 0, .has_span = initial != NULL};                           \
        for (int64_t tile = 0; tile * TILE < n; tile++, from += TILE, to += TILE) {                                 \
            const int64_t here = TS_MIN(n - tile * TILE, TILE), whole = here / (ROWS * LANES) * LANES;              \
            const bool has = scan_before_##type(&scan, tile, &before);                                              \
            for (int64_t t = 0; t < whole; t += LANES)                                                              \
                scan_in((const char *)(from + t * ROWS), rows + t / LANES * ROWS, sums + t, wide);                  \
            scan_rest_sums_##type(from, here, whole, sums);                                                         \
            scan_after_##type(&scan, tile, scan_total_##type(sums));                                                \
            scan_running_##type(sums, has, before);                                                                 \
            for (int64_t t = 0; t < whole; t += LANES)                                                              \
                scan_out(rows + t / LANES * ROWS, sums + t, !has && !t, (char *)(to + t * ROWS), wide);             \
            scan_rest_##type(from, to, here, whole, sums, has);                                                     \
        }                                                                                                           \
    }
SCAN_SUMS(float, 32, false)
SCAN_SUMS(double, 64, true)

#else /* another processor */
void ts__scan_sums_32(const float *from, float *to, int64_t n, const float *initial)
{
    (void)from, (void)to, (void)n, (void)initial;
}

void ts__scan_sums_64(const double *from, double *to, int64_t n, const double *initial)
{
    (void)from, (void)to, (void)n, (void)initial;
}
#endif
