/* SPDX-License-Identifier: Apache-2.0
 *
 * Bools of host memory as bits, eight to a byte, and back, by the thread that asks. Eight bytes of 0 or 1 become one
 * by a product, whose leading byte has bit i from byte i; the other way it has bit 7 - i in byte i, which has room for
 * copies of a byte that are 9 bits apart:
 *
 *     packed       bytes * (2^56 + 2^49 .. + 2^7) >> 56
 *     unpacked     byte * (1 + 2^9 .. + 2^63) >> 7, the lowest bit of each
 */
#include "base/widths.h"
#include "numeric/numeric.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const uint64_t bits_lowest = 0x0101010101010101;

/* 64 bools as bits, the first one the lowest. */
static inline uint64_t bits_of_64(const char *from)
{
    uint64_t made = 0;
#if defined(__SSE2__)
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(from + 16 * i));
        int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128()));
        made |= (uint64_t)(~zeros & 0xFFFF) << 16 * i;
    }
#else
    for (int i = 0; i < 8; i++) {
        uint64_t x, low = 0x7F * bits_lowest;
        memcpy(&x, from + 8 * i, 8);
        x = ((((x & low) + low) | x) & ~low) >> 7; /* 1 for other bytes than 0 */
        made |= (x * 0x0102040810204080) >> 56 << 8 * i;
    }
#endif
    return made;
}

/* The bits of each byte, the last one first. */
static inline uint64_t bits_turned(uint64_t x)
{
    x = (x >> 1 & 0x55 * bits_lowest) | (x & 0x55 * bits_lowest) << 1;
    x = (x >> 2 & 0x33 * bits_lowest) | (x & 0x33 * bits_lowest) << 2;
    return (x >> 4 & 0x0F * bits_lowest) | (x & 0x0F * bits_lowest) << 4;
}

#if defined(__x86_64__)
/* 64 bools at a time; how many were taken. */
__attribute__((target("avx512f,avx512bw"))) static int64_t bits_pack_wide(const char *from, char *to, int64_t n,
                                                                         bool little)
{
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i x = _mm512_loadu_si512(from + i);
        uint64_t bits = _mm512_test_epi8_mask(x, x);
        bits = little ? bits : bits_turned(bits);
        memcpy(to + i / 8, &bits, 8);
    }
    return i;
}
#endif

static void bits_pack(const char *from, char *to, int64_t n, bool little)
{
    int64_t i = 0;
#if defined(__x86_64__)
    if (ts__vector_bytes() == 64)
        i = bits_pack_wide(from, to, n, little);
#endif
    for (; i < n; i += 64) {
        char last[64] = {0};
        int64_t here = TS_MIN(n - i, 64);
        const char *at = from + i;
        if (here < 64)
            at = memcpy(last, at, (size_t)here);
        uint64_t bits = bits_of_64(at);
        bits = little ? bits : bits_turned(bits);
        memcpy(to + i / 8, &bits, (size_t)(here + 7) / 8);
    }
}

#if defined(__x86_64__)
/* Eight bytes at a time, whose bits say where 64 bytes are 1; how many were taken. */
__attribute__((target("avx512f,avx512bw"))) static int64_t bits_unpack_wide(const char *from, char *to, int64_t n,
                                                                           bool little)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t bits;
        memcpy(&bits, from + i, 8);
        bits = little ? bits : bits_turned(bits);
        _mm512_storeu_si512(to + 8 * i, _mm512_maskz_set1_epi8(bits, 1));
    }
    return i;
}
#endif

static void bits_unpack(const char *from, char *to, int64_t n, bool little)
{
    int64_t i = 0;
#if defined(__x86_64__)
    if (ts__vector_bytes() == 64)
        i = bits_unpack_wide(from, to, n, little);
#endif
    for (; i < n; i++) {
        uint64_t bits = ((uint8_t)from[i] * 0x8040201008040201) >> 7 & bits_lowest;
        bits = little ? __builtin_bswap64(bits) : bits;
        memcpy(to + 8 * i, &bits, 8);
    }
}

ts_status ts_nd_bits(ts_nd *a, bool packs, bool little, ts_nd **result, ts_error *err)
{
    int64_t shape[TS_ND_RANK];
    void *from, *to;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a);
    if (a->dtype != (packs ? TS_DTYPE_bool_ : TS_DTYPE_uint8) || a->meaning || !a->rank || !a->count ||
        !nd_is_direct(a) || !nd_is_dense(a, 0))
        return TS_OK;
    uint32_t last = a->rank - 1u;
    int64_t n = ts_nd_shape(a)[last], rows = a->count / n, made = packs ? (n + 7) / 8 : 8 * n;
    memcpy(shape, ts_nd_shape(a), a->rank * sizeof *shape);
    shape[last] = made;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    TS_TRY(ts_nd_empty(a->graph, TS_DTYPE_uint8, a->rank, shape, false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    for (int64_t i = 0; i < rows && status == TS_OK; i++)
        (packs ? bits_pack : bits_unpack)((char *)from + i * n, (char *)to + i * made, n, little);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    return status;
}
