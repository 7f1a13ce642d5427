/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of host memory where a mask is true: how many, read one after the other, written; and how many numbers are
 * not 0. Masks are bytes, and all but 0 are true. Processors with AVX-512 take 64 of them at a time:
 *
 *     mask       1 0 1 1 ..   -->  a bit each; none set: on to the next 64
 *     read       lanes of set bits move together in a register, and the whole register is stored while there is room
 *     written    lanes of set bits are stored, and values are spread over them first
 *
 * Many elements are read and written by all threads, each of which counts what is true before its own. Another thread
 * may change the mask after it was counted: nothing is read or written beyond what the counts say.
 */
#include "base/widths.h"
#include "device/device.h"
#include "numeric/numeric.h"
#if defined(__x86_64__)
#include <immintrin.h>
#define MASK_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")))
#endif

enum {
    MASK_RUN = 192,       /* that a byte counts */
    MASK_SPREAD = 1 << 19 /* bytes of elements from which on all threads read or write them, each some */
};

static int64_t mask_count_plain(const uint8_t *mask, int64_t n)
{
    int64_t count = 0, i = 0;
    for (; i + MASK_RUN <= n; i += MASK_RUN) {
        uint8_t some = 0;
        for (int j = 0; j < MASK_RUN; j++)
            some = (uint8_t)(some + (mask[i + j] != 0));
        count += some;
    }
    for (; i < n; i++)
        count += mask[i] != 0;
    return count;
}

/* Numbers of a width, other than 0 in these bits. */
#define MASK_COUNT(word)                                       \
    do {                                                       \
        for (int64_t i = 0; i < n; i++) {                      \
            word number;                                       \
            memcpy(&number, x + i * (int64_t)sizeof number, sizeof number); \
            count += (number & (word)bits) != 0;               \
        }                                                      \
    } while (0)

static int64_t mask_numbers_plain(const char *x, int64_t n, size_t item, uint64_t bits)
{
    int64_t count = 0;
    if (item == 1)
        return mask_count_plain((const uint8_t *)x, n);
    if (item == 2)
        MASK_COUNT(uint16_t);
    else if (item == 4)
        MASK_COUNT(uint32_t);
    else if (item == 8)
        MASK_COUNT(uint64_t);
    for (int64_t i = 0; item == 16 && i < n; i++) {
        uint64_t parts[2];
        memcpy(parts, x + 16 * i, sizeof parts);
        count += ((parts[0] | parts[1]) & bits) != 0;
    }
    return count;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* One store for each element, so that nothing depends on how the mask alternates; the last run ends with the last
 * element that is true. */
#define MASK_TAKE(type, value)                                                        \
    do {                                                                              \
        type *y = out;                                                                \
        int64_t i = 0, k = 0;                                                         \
        while ((i = ts__nd_mask_next(mask, i, n)) < n && k + ND_MASK_RUN <= count)    \
            for (int64_t end = TS_MIN(i + ND_MASK_RUN, n); i < end; i++) {            \
                y[k] = value;                                                         \
                k += mask[i] != 0;                                                    \
            }                                                                         \
        for (; i < n && k < count; i++) {                                             \
            y[k] = value;                                                             \
            k += mask[i] != 0;                                                        \
        }                                                                             \
    } while (0)

typedef struct mask_wide {
    uint64_t part[2];
} mask_wide;

static void mask_take_plain(const void *from, const uint8_t *mask, int64_t n, int64_t count, size_t item, void *out)
{
    const uint8_t *bytes = from;
    const uint16_t *halves = from;
    const uint32_t *words = from;
    const uint64_t *longs = from;
    const mask_wide *wide = from;
    switch (from ? item : 0) {
    case 1: MASK_TAKE(uint8_t, bytes[i]); break;
    case 2: MASK_TAKE(uint16_t, halves[i]); break;
    case 4: MASK_TAKE(uint32_t, words[i]); break;
    case 8: MASK_TAKE(uint64_t, longs[i]); break;
    case 16: MASK_TAKE(mask_wide, wide[i]); break;
    default: MASK_TAKE(int64_t, i);
    }
}

/* ---- writing ------------------------------------------------------------------------------------- */

#define MASK_PUT(bytes)                                                                 \
    for (int64_t i = 0; from < end && (i = ts__nd_mask_next(mask, i, n)) < n;)          \
        for (int64_t stop = TS_MIN(i + ND_MASK_RUN, n); i < stop && from < end; i++)    \
            if (mask[i]) {                                                              \
                memcpy(to + i * (bytes), from, bytes);                                  \
                from += step * (bytes);                                                 \
            }

static void mask_put_plain(size_t item, int64_t n, char *to, const uint8_t *mask, const char *from, int64_t count,
                           int step)
{
    const char *end = from + (size_t)count * item;
    switch (item) {
    case 1: MASK_PUT(1); break;
    case 2: MASK_PUT(2); break;
    case 4: MASK_PUT(4); break;
    case 8: MASK_PUT(8); break;
    default: MASK_PUT(16);
    }
}

/* ---- AVX-512 ------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Bits of the next 64 elements, or of as many as there are. */
MASK_WIDE static inline uint64_t mask_bits(const uint8_t *mask, int64_t left)
{
    __mmask64 there = left >= 64 ? UINT64_MAX : ((uint64_t)1 << left) - 1;
    __m512i flags = left >= 64 ? _mm512_loadu_si512(mask) : _mm512_maskz_loadu_epi8(there, mask);
    return _mm512_test_epi8_mask(flags, flags);
}

MASK_WIDE static int64_t mask_count_wide(const uint8_t *mask, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += 64)
        count += __builtin_popcountll(mask_bits(mask + i, n - i));
    return count;
}

/* The same of 64 bytes at a time. */
#define MASK_NUMBERS(width, test)                                                                                   \
    for (; i + 64 <= bytes; i += 64) {                                                                              \
        __m512i v = _mm512_loadu_si512(x + i);                                                                      \
        count += __builtin_popcountll((unsigned long long)_mm512_test_epi##width##_mask(v, test));                  \
    }

MASK_WIDE static int64_t mask_numbers_wide(const char *x, int64_t n, size_t item, uint64_t bits)
{
    const int64_t bytes = n * (int64_t)item;
    const __m512i test = _mm512_set1_epi64((int64_t)bits);
    int64_t count = 0, i = 0;
    if (item == 1)
        MASK_NUMBERS(8, test)
    else if (item == 2)
        MASK_NUMBERS(16, test)
    else if (item == 4)
        MASK_NUMBERS(32, test)
    else if (item == 8)
        MASK_NUMBERS(64, test)
    for (; item == 16 && i + 64 <= bytes; i += 64) {
        unsigned both = _mm512_test_epi64_mask(_mm512_loadu_si512(x + i), test);
        count += __builtin_popcount((both | both >> 1) & 0x55);
    }
    return count + mask_numbers_plain(x + i, n - i / (int64_t)item, item, bits);
}

/* Where `bits` are set in 16 or 8 lanes; `left` places are left in the result. */
#define MASK_STORE(width, lanes, most)                                                                              \
    MASK_WIDE static inline int64_t mask_store_##width(void *to, __m512i v, most bits, int64_t left)                \
    {                                                                                                               \
        int64_t many = TS_MIN(__builtin_popcount(bits), left);                                                      \
        v = _mm512_maskz_compress_epi##width(bits, v);                                                              \
        if (left >= lanes)                                                                                          \
            _mm512_storeu_si512(to, v);                                                                             \
        else                                                                                                        \
            _mm512_mask_storeu_epi##width(to, (most)((1u << many) - 1), v);                                         \
        return many;                                                                                                \
    }
MASK_STORE(32, 16, __mmask16)
MASK_STORE(64, 8, __mmask8)

/* Lanes of elements that are not there are not read: the mask's bits say so. */
MASK_WIDE static void mask_take_32(const uint32_t *from, const uint8_t *mask, int64_t n, int64_t count, uint32_t *out)
{
    for (int64_t i = 0, k = 0; i < n && k < count; i += 64)
        for (uint64_t bits = mask_bits(mask + i, n - i), at = 0; bits; bits >>= 16, at += 16) {
            __mmask16 here = (__mmask16)bits;
            __m512i v = _mm512_maskz_loadu_epi32(here, from + i + at);
            k += mask_store_32(out + k, v, here, count - k);
        }
}

MASK_WIDE static void mask_take_64(const uint64_t *from, const uint8_t *mask, int64_t n, int64_t count, uint64_t *out)
{
    for (int64_t i = 0, k = 0; i < n && k < count; i += 64)
        for (uint64_t bits = mask_bits(mask + i, n - i), at = 0; bits; bits >>= 8, at += 8) {
            __mmask8 here = (__mmask8)bits;
            __m512i v = _mm512_maskz_loadu_epi64(here, from + i + at);
            k += mask_store_64(out + k, v, here, count - k);
        }
}

/* Both halves of four elements of 16 bytes. */
MASK_WIDE static inline __mmask8 mask_pairs(uint64_t bits)
{
    return (__mmask8)(_pdep_u32((uint32_t)bits & 15, 0x55) * 3);
}

MASK_WIDE static void mask_take_128(const uint64_t *from, const uint8_t *mask, int64_t n, int64_t count, uint64_t *out)
{
    for (int64_t i = 0, k = 0; i < n && k < 2 * count; i += 64)
        for (uint64_t bits = mask_bits(mask + i, n - i), at = 0; bits; bits >>= 4, at += 4) {
            __mmask8 here = mask_pairs(bits);
            __m512i v = _mm512_maskz_loadu_epi64(here, from + 2 * (i + (int64_t)at));
            k += mask_store_64(out + k, v, here, 2 * count - k);
        }
}

MASK_WIDE static void mask_places(const uint8_t *mask, int64_t n, int64_t count, uint64_t *out)
{
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    for (int64_t i = 0, k = 0; i < n && k < count; i += 64)
        for (uint64_t bits = mask_bits(mask + i, n - i), at = 0; bits; bits >>= 8, at += 8) {
            __m512i v = _mm512_add_epi64(lanes, _mm512_set1_epi64(i + (int64_t)at));
            k += mask_store_64(out + k, v, (__mmask8)bits, count - k);
        }
}

#define MASK_PUT_WIDE(width, lanes, word, most)                                                                     \
    MASK_WIDE static void mask_put_##width(int64_t n, word *to, const uint8_t *mask, const word *from,              \
                                           int64_t count, int step)                                                 \
    {                                                                                                               \
        const word *end = from + count;                                                                             \
        __m512i value = step ? _mm512_setzero_si512() : _mm512_set1_epi##width((int##width##_t)*from);              \
        for (int64_t i = 0; i < n; i += 64)                                                                         \
            for (uint64_t bits = mask_bits(mask + i, n - i), at = 0; bits; bits >>= lanes, at += lanes) {           \
                most here = (most)bits;                                                                             \
                if (step) {                                                                                         \
                    if (__builtin_popcount(here) > end - from)                                                      \
                        return;                                                                                     \
                    value = _mm512_maskz_expandloadu_epi##width(here, from);                                        \
                    from += __builtin_popcount(here);                                                               \
                }                                                                                                   \
                _mm512_mask_storeu_epi##width(to + i + at, here, value);                                            \
            }                                                                                                       \
    }
MASK_PUT_WIDE(32, 16, uint32_t, __mmask16)
MASK_PUT_WIDE(64, 8, uint64_t, __mmask8)

MASK_WIDE static void mask_put_128(int64_t n, uint64_t *to, const uint8_t *mask, const uint64_t *from, int64_t count,
                                   int step)
{
    const uint64_t *end = from + 2 * count;
    __m512i value = step ? _mm512_setzero_si512() : _mm512_broadcast_i64x2(_mm_loadu_si128((const __m128i *)from));
    for (int64_t i = 0; i < n; i += 64)
        for (uint64_t bits = mask_bits(mask + i, n - i), at = 0; bits; bits >>= 4, at += 4) {
            __mmask8 here = mask_pairs(bits);
            if (step) {
                if (__builtin_popcount(here) > end - from)
                    return;
                value = _mm512_maskz_expandloadu_epi64(here, from);
                from += __builtin_popcount(here);
            }
            _mm512_mask_storeu_epi64(to + 2 * (i + (int64_t)at), here, value);
        }
}

static bool mask_is_wide(void)
{
    return ts__vector_bytes() == 64 && __builtin_cpu_supports("bmi2");
}
#endif

/* ---- either way ---------------------------------------------------------------------------------- */

int64_t ts__nd_mask_count(const uint8_t *mask, int64_t n)
{
#if defined(__x86_64__)
    if (mask_is_wide())
        return mask_count_wide(mask, n);
#endif
    return mask_count_plain(mask, n);
}

static int64_t mask_numbers(const char *x, int64_t n, size_t item, uint64_t bits)
{
#if defined(__x86_64__)
    if (mask_is_wide())
        return mask_numbers_wide(x, n, item, bits);
#endif
    return mask_numbers_plain(x, n, item, bits);
}

ts_status ts_nd_count_nonzero(ts_nd *x, int64_t *n, ts_error *err)
{
    void *data;
    TS_NEED(err, n);
    *n = -1;
    TS_NEED(err, x);
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)x->dtype);
    uint32_t part = info->part ? info->bits / 2 : info->bits;
    bool is_float = info->kind == 'f' || info->part, is_bool = info->kind == 'b';
    if (!(ts_device_caps_of(x->graph->device) & TS_DEVICE_HOST_MEMORY) || x->meaning || !x->dtype ||
        !nd_is_dense(x, 0) || (!is_float && !is_bool && info->kind != 'i' && info->kind != 'u') ||
        (!is_bool && part % 8) || (is_float && part < 16))
        return TS_OK;
    TS_TRY(ts_nd_memory(x, false, &data, NULL, err));
    uint64_t most = UINT64_MAX >> is_float, bits = 0;
    most = part == 64 || is_bool ? most : ((uint64_t)1 << (part - is_float)) - 1;
    for (uint32_t at = 0; at < 64; at += is_bool ? 64 : part) /* in each number of the word */
        bits |= most << at;
    *n = mask_numbers(data, x->count, (size_t)x->item, bits);
    return TS_OK;
}

static void mask_take(const void *from, const uint8_t *mask, int64_t n, int64_t count, size_t item, void *out)
{
#if defined(__x86_64__)
    if ((!from || item == 4 || item == 8 || item == 16) && mask_is_wide()) {
        if (!from)
            mask_places(mask, n, count, out);
        else if (item == 4)
            mask_take_32(from, mask, n, count, out);
        else
            (item == 8 ? mask_take_64 : mask_take_128)(from, mask, n, count, out);
        return;
    }
#endif
    mask_take_plain(from, mask, n, count, item, out);
}

static void mask_put(size_t item, int64_t n, void *to, const uint8_t *mask, const void *from, int64_t count, int step)
{
#if defined(__x86_64__)
    if ((item == 4 || item == 8 || item == 16) && mask_is_wide()) {
        if (item == 4)
            mask_put_32(n, to, mask, from, count, step);
        else
            (item == 8 ? mask_put_64 : mask_put_128)(n, to, mask, from, count, step);
        return;
    }
#endif
    mask_put_plain(item, n, to, mask, from, count, step);
}

/* ---- on all threads ------------------------------------------------------------------------------ */

/* Elements one after the other, in `dense`, and those of a mask. */
typedef struct mask_spread {
    char *dense, *masked;
    const uint8_t *mask;
    int64_t count;
    size_t item;
    bool writes; /* to `masked` */
} mask_spread;

/* Elements begin <= i < end; those that are true before are counted anew. */
static void mask_part(void *user, int64_t begin, int64_t end)
{
    const mask_spread *s = user;
    const uint8_t *mask = s->mask + begin;
    int64_t before = ts__nd_mask_count(s->mask, begin), n = end - begin;
    int64_t count = TS_MIN(ts__nd_mask_count(mask, n), s->count - before);
    char *masked = s->masked + begin * (int64_t)s->item, *dense = s->dense + before * (int64_t)s->item;
    if (count > 0 && s->writes)
        mask_put(s->item, n, masked, mask, dense, count, 1);
    else if (count > 0)
        mask_take(masked, mask, n, count, s->item, dense);
}

void ts__nd_mask_take(ts_device *device, const void *from, const uint8_t *mask, int64_t n, int64_t count, size_t item,
                      void *out)
{
    mask_spread spread = {out, (char *)(uintptr_t)from, mask, count, item, false};
    if (from && n * (int64_t)item >= MASK_SPREAD)
        ts__device_spread(device, mask_part, &spread, n);
    else
        mask_take(from, mask, n, count, item, out);
}

void ts__nd_mask_put(ts_device *device, size_t item, int64_t n, void *to, const uint8_t *mask, const void *from,
                     int64_t count)
{
    mask_spread spread = {(char *)(uintptr_t)from, to, mask, count, item, true};
    if (n * (int64_t)item >= MASK_SPREAD)
        ts__device_spread(device, mask_part, &spread, n);
    else
        mask_put(item, n, to, mask, from, count, 1);
}

void ts__nd_mask_fill(size_t item, int64_t n, void *to, const uint8_t *mask, const void *value)
{
    mask_put(item, n, to, mask, value, 1, 0);
}
