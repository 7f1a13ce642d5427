/* SPDX-License-Identifier: Apache-2.0
 *
 * How wide the vectors of this process are: as the processor has them, or as TESSERA_VECTOR_BYTES makes them narrower,
 * so that a machine with AVX-512 runs the code of one without.
 */
#include "base/widths.h"

#include <stdlib.h>

_Atomic uint32_t ts__vector_width;

static uint32_t widths_of_processor(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 64;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 32;
#endif
    return 16;
}

ts_status ts__vector_limit(uint32_t *bytes, ts_error *err)
{
    const char *wish = getenv("TESSERA_VECTOR_BYTES");
    *bytes = 64;
    if (!wish || !*wish || !strcmp(wish, "64"))
        return TS_OK;
    if (strcmp(wish, "32") && strcmp(wish, "16"))
        return ts_fail(err, TS_VALUE, "TESSERA_VECTOR_BYTES=%.100s: it takes 16, 32 or 64", wish);
    *bytes = *wish == '3' ? 32 : 16;
    return TS_OK;
}

uint32_t ts__vector_find(void)
{
    uint32_t limit, found = widths_of_processor();
    if (ts__vector_limit(&limit, NULL) == TS_OK) /* a wrong value: the CPU device says so */
        found = TS_MIN(found, limit);
    atomic_store_explicit(&ts__vector_width, found, memory_order_relaxed);
    return found;
}
