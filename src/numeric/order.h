/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as keys, and what the ways to sort rows of them share: order.c by digits and merges, order_vector.c by
 * vectors.
 */
#ifndef TS_NUMERIC_ORDER_H
#define TS_NUMERIC_ORDER_H

#include "numeric/numeric.h"

/* A row, and where its elements and places go, which may be NULL; step in bytes, out_step in elements. */
typedef struct order_row {
    const char *from;
    char *values;
    int64_t *places;
    int64_t n, step, out_step;
    int64_t kth; /* the place that alone need have what belongs there, lesser ones before it; -1: all */
    ts_dtype dtype;
    bool descending;
    char *scratch; /* at a multiple of SORT_VECTOR, of as many bytes as order_scratch() says */
} order_row;

/* A float of `width` bits as a key; from `infinity` on, as integers, they are no numbers. */
static inline uint64_t order_float(uint64_t bits, int width, uint64_t infinity)
{
    const uint64_t zero = (uint64_t)1 << (width - 1);
    uint64_t magnitude = bits & (zero - 1);
    return magnitude > infinity ? zero | (zero - 1) : bits & zero ? zero - magnitude : zero + magnitude;
}

/* A number of some bytes; little endian, as all of the library's hosts are. */
static inline uint64_t order_load(const char *at, size_t bytes)
{
    uint64_t x = 0;
    memcpy(&x, at, bytes);
    return x;
}

static inline __attribute__((always_inline)) uint64_t order_key(const char *at, ts_dtype dtype)
{
    switch (dtype) {
    case TS_DTYPE_bool_: return *at != 0; /* views of other bytes hold more than 1 */
    case TS_DTYPE_int8: return order_load(at, 1) ^ 0x80u;
    case TS_DTYPE_int16: return order_load(at, 2) ^ 0x8000u;
    case TS_DTYPE_int32: return order_load(at, 4) ^ 0x80000000u;
    case TS_DTYPE_int64: return order_load(at, 8) ^ (uint64_t)1 << 63;
    case TS_DTYPE_uint16: return order_load(at, 2);
    case TS_DTYPE_uint32: return order_load(at, 4);
    case TS_DTYPE_uint64: return order_load(at, 8);
    case TS_DTYPE_float16: return order_float(order_load(at, 2), 16, 0x7C00);
    case TS_DTYPE_bfloat16: return order_float(order_load(at, 2), 16, 0x7F80);
    case TS_DTYPE_float32: return order_float(order_load(at, 4), 32, 0x7F800000);
    case TS_DTYPE_float64: return order_float(order_load(at, 8), 64, 0x7FF0000000000000);
    default: return order_load(at, 1);
    }
}

/* Whether the array's numbers have keys, and lie where the host reads them. */
bool ts__nd_order_may(const ts_nd *a);
/* One row, into contiguous values or others. */
void ts__order_one(const order_row *row);
/* Words of a row, in order but for runs that are alike in their leading 32 bits; the others are places. Puts runs in
 * the order of their whole keys. `items`: room of 32 n bytes. */
void ts__order_runs(const order_row *row, uint64_t *words, void *items);

/* ---- order_vector.c ------------------------------------------------------------------------------ */

/* The same of one row whose places are not wanted; false: not without vectors, or not of this dtype. */
bool ts__order_values(const order_row *row);
/* Many rows that are short, or lie beside each other; from[i], to[i] are where they begin, bytes and elements. How many
 * of the first ones are done; 0: they should be done one by one. */
int64_t ts__order_beside(const order_row *all, const int64_t *from, const int64_t *to, int64_t rows);

enum {
    ORDER_BESIDE = 16,       /* rows that are done together */
    ORDER_COUNTED = 1 << 15, /* numbers of 16 bits that are counted, not compared */
    ORDER_COUNTS = 1 << 10   /* bytes that counts of numbers of 8 bits take, of 16 bits 256 times as many */
};

#endif
