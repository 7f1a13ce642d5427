/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms for programs without Python, on the CPU device and on GPUs: reductions, scans, sorts, selections,
 * searches. Their kernels are those of tessera.compute, written once, in Python; they lie packed in the library and are
 * compiled for dtypes and operators at the first call, kept in the cache on disk like all others. docs/guide/c.md shows
 * them, examples/c/compute.c is a whole program.
 *
 *     ts_reduce(NULL, &x, &sum, TS_COMBINE_add, NULL, &err);                   sum[0] = x[0] + x[1] + ..
 *     ts_scan(NULL, &x, &sums, TS_COMBINE_add, NULL, &err);                    sums[i] = x[0] + .. + x[i]
 *     ts_sort(NULL, (ts_arg[]){x, sorted}, NULL, NULL, &err);
 *
 * Arrays   ts_args of kind ARRAY, with one axis and any stride from 0 on, or with several and no gaps: then in the
 *          order of their memory. All of a call are on one device. Only ts_scan and ts_sort may write what they read,
 *          all of it in its place.
 * Types    int8 to uint64, float16, bfloat16, float32, float64. Values are converted to the dtype of the result before
 *          they are combined, so sums of small integers wrap as those of that dtype do.
 * Bits     of floats are the same in each run, on the CPU and on every GPU: the order in which values are combined
 *          follows from their number.
 * Stream   as ts_launch: work is enqueued, nothing waits for the device. Temporary memory comes and goes in the order
 *          of the stream, or is the caller's.
 * Threads  safe.
 */
#ifndef TESSERA_COMPUTE_H
#define TESSERA_COMPUTE_H

#include "tessera/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, what it gives). Orders of combining do not matter, but for the rounding of floats. */
#define TS_COMBINES(X)                                                     \
    X(add, "a + b")                                                        \
    X(multiply, "a * b")                                                   \
    X(min, "b if b < a else a")                                            \
    X(max, "b if a < b else a")                                            \
    X(and, "the bits that both have; of integers, as the two that follow") \
    X(or, "the bits that one has")                                         \
    X(xor, "the bits in which they differ")

typedef enum ts_combine {
#define X(name, meaning) TS_COMBINE_##name,
    TS_COMBINES(X)
#undef X
    TS_COMBINE_COUNT
} ts_combine;

typedef enum ts_compute_flags {
    TS_COMPUTE_EXCLUSIVE = 1, /* scans: item i of the result is without item i; needs an initial value */
    TS_COMPUTE_DESCENDING = 2, /* sorts: the greatest first; equal keys stay in order, too */
    TS_COMPUTE_UPPER = 4      /* searches: the last place where a value could stand, not the first */
} ts_compute_flags;

/* What a call may say beside its arrays; all zero, or NULL: nothing. */
typedef struct ts_compute_options {
    uint32_t flags;         /* ts_compute_flags */
    const ts_arg *initial;  /* reductions and scans: an INT, FLOAT, BOOL or SCALAR that comes before the first item */
    const ts_arg *count;    /* an array of one integer on the device: how many items there are, which is read when the
                             * work runs; more than the arrays have are not taken, and none of fewer than 0 */
    void *memory;           /* temporary memory on the device, aligned to 256 bytes; NULL: of the device's pool */
    uint64_t memory_bytes;
    uint64_t *need;         /* not NULL: nothing is enqueued, and this becomes how many bytes `memory` has to have */
} ts_compute_options;

/* result[0] = initial op in[0] op in[1] .. One pass, in one launch.
 * Without items result[0] becomes the initial value; without that, too, it is left as it is.
 * Errors: TS_VALUE for NULL, flags that are not of reductions, a result without elements or read-only, arrays of
 * different devices, memory that is too small or not aligned; TS_TYPE for dtypes, for `and`, `or` and `xor` of floats,
 * and for arguments that are not arrays; TS_SHAPE for arrays of several axes with gaps; as ts_launch. */
TS_API TS_CHECKED ts_status ts_reduce(const ts_stream *stream, const ts_arg *in, const ts_arg *result, ts_combine op,
                                      const ts_compute_options *options, ts_error *err);

/* out[i] = initial op in[0] op .. op in[i], or with TS_COMPUTE_EXCLUSIVE .. op in[i - 1]. One pass, in one launch.
 * Errors: as ts_reduce; TS_SHAPE for an `out` with fewer items than `in`. */
TS_API TS_CHECKED ts_status ts_scan(const ts_stream *stream, const ts_arg *in, const ts_arg *out, ts_combine op,
                                    const ts_compute_options *options, ts_error *err);

/* keys[1] becomes the items of keys[0] in order; values[1], if `values` is not NULL, those of values[0], each where its
 * key goes. Stable. NaNs come last, those with a sign first; -0.0 and 0.0 are equal.
 * By digits of eight bits: on a GPU items are read once, and read and written once for each digit in which keys
 * differ, as many launches as a key has bytes, and one; few items are sorted by one block in one launch.
 * Arrays   without gaps; both of a pair have one dtype, values one of 4 or 8 bytes. keys[1] may be keys[0], or share no
 *          memory with it.
 * Errors: as ts_reduce; TS_SHAPE for strides and for a result with fewer items than there are. */
TS_API TS_CHECKED ts_status ts_sort(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                                    const ts_compute_options *options, ts_error *err);

/* out[0] becomes the items of `in` whose flag is not 0, in their order, and out[1][0] how many they are. One pass, in
 * one launch; what stands in out[0] after them stays as it is.
 * Types    `in` and out[0] of one dtype, bools too; flags any numbers or bools; out[1] an integer.
 * Errors: as ts_reduce; TS_SHAPE for flags or an out[0] with fewer items than `in`; TS_VALUE for results that share
 * memory with what is read or with each other, and for an out[1] that does not hold the number of items of `in`. */
TS_API TS_CHECKED ts_status ts_select_flagged(const ts_stream *stream, const ts_arg *in, const ts_arg *flags,
                                      const ts_arg out[2], const ts_compute_options *options, ts_error *err);

/* The same of the first item of each run of equal ones. NaN is equal to nothing. */
TS_API TS_CHECKED ts_status ts_unique(const ts_stream *stream, const ts_arg *in, const ts_arg out[2],
                                      const ts_compute_options *options, ts_error *err);

/* places[i] becomes the first place of `sorted`, which is in order, where values[i] could stand, or the last one
 * (TS_COMPUTE_UPPER). A count is of the sorted items. One thread for each value, no temporary memory.
 * Types    `sorted` and values of one dtype; places integers that hold the number of items.
 * Errors: as ts_reduce; TS_SHAPE for fewer places than values; TS_VALUE for places that do not hold the number of
 * items, or share memory with what is read. */
TS_API TS_CHECKED ts_status ts_search(const ts_stream *stream, const ts_arg *sorted, const ts_arg *values,
                                      const ts_arg *places, const ts_compute_options *options, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
