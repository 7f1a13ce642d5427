/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of 64 bytes turned (AVX-512): rows become columns. `wide`: lanes of 8 bytes, else of 4; it is constant where
 * it is inlined.
 */
#ifndef TS_BASE_TURN_H
#define TS_BASE_TURN_H

#include "base/base.h"
#include <immintrin.h>

#define TURN_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define TURN_INLINE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), always_inline)) static inline

enum { TURN_VECTOR = 64 }; /* bytes */

/* The lanes whose number has bit `with`. */
TURN_INLINE __mmask16 turn_upper(int with)
{
    return with == 1 ? 0xAAAA : with == 2 ? 0xCCCC : with == 4 ? 0xF0F0 : 0xFF00;
}

/* Where lanes with the numbers of these ones, each with `apart` flipped, are found. */
TURN_INLINE __m512i turn_places(int apart, bool wide)
{
    __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return wide ? _mm512_xor_si512(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(lanes)), _mm512_set1_epi64(apart))
                : _mm512_xor_si512(lanes, _mm512_set1_epi32(apart));
}

/* Lane i of the result is lane i ^ apart, in lanes of `to`; others are those of `other`. */
TURN_INLINE __m512i turn_cross_to(__m512i other, __mmask16 to, __m512i v, int apart, bool wide)
{
    return wide ? _mm512_mask_permutexvar_epi64(other, (__mmask8)to, turn_places(apart, wide), v)
                : _mm512_mask_permutexvar_epi32(other, to, turn_places(apart, wide), v);
}

/* Turns `rows` vectors in place: a power of two, at most as many as a vector has lanes. A vector is `rows` runs of
 * neighbouring lanes: in run j of vector i is then what was in run i of vector j. One step for each bit of the
 * numbers: of two vectors whose numbers differ in it, the runs with the bit of the first and those without it of the
 * second change places. */
TURN_INLINE void turn_rows(__m512i *v, int rows, bool wide)
{
    const int columns = TURN_VECTOR / (wide ? 8 : 4) / rows;
#pragma GCC unroll 4
    for (int apart = rows / 2; apart; apart /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            if (!(i & apart)) {
                __mmask16 upper = turn_upper(apart * columns);
                __m512i a = v[i], b = v[i | apart];
                v[i] = turn_cross_to(a, upper, b, apart * columns, wide);
                v[i | apart] = turn_cross_to(b, (__mmask16)~upper, a, apart * columns, wide);
            }
}

#endif
