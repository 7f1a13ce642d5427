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
        if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&                             \
            __builtin_cpu_supports("avx512bw"))                                                                     \
            name##_avx512 arguments;                                                                                \
        else if (__builtin_cpu_supports("avx2"))                                                                    \
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
