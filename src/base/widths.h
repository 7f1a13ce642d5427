/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that compilers turn into vectors, compiled for each width of vectors that processors have:
 *
 *     TS_INLINE void sum_loops(const double *x, int64_t n, double *sum) { .. }
 *     TS_WIDTHS(sum, (const double *x, int64_t n, double *sum), (x, n, sum))        makes sum(x, n, &y)
 *
 * Nothing is joined to an fma, so what is computed in one order has the same bits at every width.
 */
#ifndef TS_BASE_WIDTHS_H
#define TS_BASE_WIDTHS_H

#include "base/base.h"

#include <stdatomic.h>

/* What TESSERA_VECTOR_BYTES allows. Errors: TS_VALUE for a value that means nothing; then 64. */
TS_CHECKED ts_status ts__vector_limit(uint32_t *bytes, ts_error *err);
uint32_t ts__vector_find(void);
extern _Atomic uint32_t ts__vector_width; /* 0 until it was found */

/* Bytes of the widest vectors of loops and of compiled code: 64 (AVX-512 with F, BW, DQ and VL), 32 (AVX2 with FMA),
 * 16. Threads: safe. */
static inline uint32_t ts__vector_bytes(void)
{
    uint32_t bytes = atomic_load_explicit(&ts__vector_width, memory_order_relaxed);
    return bytes ? bytes : ts__vector_find();
}

#define TS_INLINE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define TS_WIDTHS(name, parameters, arguments)                                                                      \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw"))) static void name##_avx512 parameters              \
    {                                                                                                               \
        name##_loops arguments;                                                                                     \
    }                                                                                                               \
    __attribute__((target("avx2"))) static void name##_avx2 parameters                                              \
    {                                                                                                               \
        name##_loops arguments;                                                                                     \
    }                                                                                                               \
    static void name parameters                                                                                     \
    {                                                                                                               \
        if (ts__vector_bytes() == 64)                                                                               \
            name##_avx512 arguments;                                                                                \
        else if (ts__vector_bytes() == 32)                                                                          \
            name##_avx2 arguments;                                                                                  \
        else                                                                                                        \
            name##_loops arguments;                                                                                 \
    }
#else
#define TS_WIDTHS(name, parameters, arguments)                                                                      \
    static void name parameters                                                                                     \
    {                                                                                                               \
        name##_loops arguments;                                                                                     \
    }
#endif

#endif
