/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of any dtype, as tests of algorithms fill and read them: of whole numbers.
 */
#ifndef TEST_COMPUTE_ARRAYS_H
#define TEST_COMPUTE_ARRAYS_H

#include "../check.h"
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

static inline ts_arg array_of(void *data, ts_dtype dtype, const int64_t *n)
{
    return (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = 1, .shape = n, .value.data = data,
                    .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0)};
}

static inline void put(void *data, ts_dtype dtype, int64_t i, int64_t value)
{
    size_t bytes = ts_dtype_bytes(dtype);
    double d = (double)value;
    float f = (float)value;
    uint32_t f_bits;
    uint16_t h = ts__f16_from_f64(d);
    memcpy(&f_bits, &f, 4);
    f_bits >>= 16;
    const void *from = dtype == TS_DTYPE_float64    ? (const void *)&d
                       : dtype == TS_DTYPE_float32  ? (const void *)&f
                       : dtype == TS_DTYPE_bfloat16 ? (const void *)&f_bits
                       : dtype == TS_DTYPE_float16  ? (const void *)&h
                                                    : (const void *)&value;
    memcpy((char *)data + (size_t)i * bytes, from, bytes);
}

static inline int64_t get(const void *data, ts_dtype dtype, int64_t i)
{
    size_t bytes = ts_dtype_bytes(dtype);
    const char *at = (const char *)data + (size_t)i * bytes;
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    float f;
    double d;
    uint32_t high = (uint32_t)bits << 16;
    memcpy(&f, dtype == TS_DTYPE_bfloat16 ? (const void *)&high : (const void *)at, 4 * (bytes != 1));
    memcpy(&d, at, bytes == 8 ? 8 : 0);
    if (dtype == TS_DTYPE_float64)
        return (int64_t)d;
    if (dtype == TS_DTYPE_float32 || dtype == TS_DTYPE_bfloat16)
        return (int64_t)f;
    if (dtype == TS_DTYPE_float16)
        return (int64_t)ts__f16_to_f64((uint16_t)bits);
    bool is_negative = ts_dtype_get(dtype)->is_signed && bits >> (8 * bytes - 1) && bytes < 8;
    return is_negative ? (int64_t)(bits | ~UINT64_C(0) << 8 * bytes) : (int64_t)bits;
}

static inline bool is_float(ts_dtype dtype)
{
    return dtype == TS_DTYPE_float16 || dtype == TS_DTYPE_bfloat16 || dtype == TS_DTYPE_float32 ||
           dtype == TS_DTYPE_float64;
}

static inline uint64_t chance(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

#endif
