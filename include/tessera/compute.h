/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms for programs without Python, on the CPU device and on GPUs: reductions, scans, sorts, also of many parts,
 * selections, searches, sets. Their kernels are those of tessera.compute, written once, in Python; they lie packed in
 * the library and are compiled for dtypes and operators at the first call, kept in the cache on disk like all others.
 * docs/guide/c.md shows them, examples/c/compute.c and parts.c are whole programs.
 *
 *     ts_reduce(NULL, &x, &sum, TS_COMBINE_add, NULL, &err);                   sum[0] = x[0] + x[1] + ..
 *     ts_scan(NULL, &x, &sums, TS_COMBINE_add, NULL, &err);                    sums[i] = x[0] + .. + x[i]
 *     ts_sort(NULL, (ts_arg[]){x, sorted}, NULL, NULL, &err);
 *
 * Arrays   ts_args of kind ARRAY, with one axis and any stride from 0 on, or with several and no gaps: then in the
 *          order of their memory. All of a call are on one device. Only ts_reduce, ts_scan, ts_transform and the sorts
 *          may write what they read: the last three all of it in its place.
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

/* X(name, what it gives). Orders of combining do not matter, but for the rounding of floats; of `own` the order is
 * that of the items, and only where they are put together first is open, so that it need not be commutative. */
#define TS_COMBINES(X)                                                     \
    X(add, "a + b")                                                        \
    X(multiply, "a * b")                                                   \
    X(min, "b if b < a else a")                                            \
    X(max, "b if a < b else a")                                            \
    X(and, "the bits that both have; of integers, as the two that follow") \
    X(or, "the bits that one has")                                         \
    X(xor, "the bits in which they differ")                                \
    X(own, "what the function in `own` of the options gives")

typedef enum ts_combine {
#define X(name, meaning) TS_COMBINE_##name,
    TS_COMBINES(X)
#undef X
    TS_COMBINE_COUNT
} ts_combine;

typedef enum ts_compute_flags {
    TS_COMPUTE_EXCLUSIVE = 1, /* scans: item i of the result is without item i; needs an initial value */
    TS_COMPUTE_DESCENDING = 2, /* sorts: the greatest first; equal keys stay in order, too */
    TS_COMPUTE_UPPER = 4,     /* searches: the last place where a value could stand, not the first */
    TS_COMPUTE_RIGHT = 8      /* differences: from the item behind, not from the one before */
} ts_compute_flags;

/* What a call may say beside its arrays; all zero, or NULL: nothing. */
typedef struct ts_compute_options {
    uint32_t flags;         /* ts_compute_flags */
    const ts_arg *initial;  /* reductions and scans: an INT, FLOAT, BOOL or SCALAR that comes before the first item;
                             * of integers an INT or FLOAT has to be one of them, a SCALAR is converted */
    const ts_arg *count;    /* an array of one integer on the device: how many items there are, which is read when the
                             * work runs; more than the arrays have are not taken, and none of fewer than 0 */
    const char *own;        /* with TS_COMBINE_own, of ts_transform and of what compares or asks: IR as text
                             * (docs/guide/ir.md), whose last function is called; it may use the others, and computes
                             * only: it reads no memory */
    void *memory;           /* temporary memory on the device, aligned to 256 bytes; NULL: of the device's pool */
    uint64_t memory_bytes;
    uint64_t *need;         /* not NULL: nothing is enqueued, and this becomes how many bytes `memory` has to have */
} ts_compute_options;

/* result[0] = initial op in[0] op in[1] .. One pass, in one launch.
 * Without items result[0] becomes the initial value; without that, too, it is left as it is.
 * An operator of the program takes two values of the result's dtype and gives one; it is associative:
 *
 *     options.own = "both func @product(%a: f32, %b: f32) : f32 {\n"
 *                   "  %c = mulf %a, %b : f32\n"
 *                   "  return %c\n"
 *                   "}";
 *
 * Errors: TS_VALUE for NULL, flags that are not of reductions, `own` without TS_COMBINE_own or that without `own`, an
 * initial value that the integers of the result do not have, a result without elements or read-only, arrays of
 * different devices, memory that is too small or not aligned; TS_TYPE for dtypes, for `and`, `or` and `xor` of floats,
 * and for arguments that are not arrays; TS_SHAPE for arrays with several axes and gaps; as ts_launch, of `own` when
 * the kernel is compiled, at the first launch. */
TS_API TS_CHECKED ts_status ts_reduce(const ts_stream *stream, const ts_arg *in, const ts_arg *result, ts_combine op,
                                      const ts_compute_options *options, ts_error *err);

/* out[i] = initial op in[0] op .. op in[i], or with TS_COMPUTE_EXCLUSIVE .. op in[i - 1]. One pass, in one launch.
 * Errors: as ts_reduce; TS_SHAPE for an `out` with fewer items than `in`. */
TS_API TS_CHECKED ts_status ts_scan(const ts_stream *stream, const ts_arg *in, const ts_arg *out, ts_combine op,
                                    const ts_compute_options *options, ts_error *err);

/* result[i] = initial op in[first] op .. op in[last], of part i of many: from parts[0][i] on, to before parts[1][i];
 * what is before the first item or behind the last is in no part. Parts may overlap; an empty one gives the initial
 * value, which has to be there. Items are read once, whatever the lengths of parts are: two launches.
 * Types    as ts_reduce; parts integers.
 * Errors: as ts_reduce; TS_VALUE for a count, without an initial value, and for a result in memory of what is read;
 * TS_SHAPE for a result, or a parts[1], with fewer items than parts[0]. */
TS_API TS_CHECKED ts_status ts_segmented_reduce(const ts_stream *stream, const ts_arg *in, const ts_arg *result,
                                                const ts_arg parts[2], ts_combine op,
                                                const ts_compute_options *options, ts_error *err);

/* ts_scan of each of many parts by itself; parts are as those of ts_segmented_reduce, and do not overlap. What is in no
 * part is not written. Three launches; 8 bytes of temporary memory for each item. Up to 2^31 - 1 items.
 * Errors: as ts_scan and ts_segmented_reduce. */
TS_API TS_CHECKED ts_status ts_segmented_scan(const ts_stream *stream, const ts_arg *in, const ts_arg *out,
                                              const ts_arg parts[2], ts_combine op, const ts_compute_options *options,
                                              ts_error *err);

/* Of each run of equal keys: keys[1] becomes the key, values[1] its values of values[0] put together in their order,
 * and count[0] how many runs there are. NaN is equal to nothing. One pass, in one launch. Up to 2^31 - 1 items.
 * Types    keys of one dtype of numbers or bools; values as ts_reduce; count an integer.
 * Errors: as ts_reduce; TS_SHAPE for values or results with fewer items than keys[0]; TS_VALUE for an initial value,
 * and where results share memory with what is read or with each other. */
TS_API TS_CHECKED ts_status ts_reduce_by_key(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                                             const ts_arg *count, ts_combine op, const ts_compute_options *options,
                                             ts_error *err);

/* Of each run of equal items: out[0] becomes the item, out[1] how many there are, and out[2][0] how many runs. One
 * pass, in one launch. Up to 2^31 - 1 items.
 * Types    `in` and out[0] of one dtype of numbers or bools; lengths and their number integers.
 * Errors: as ts_reduce_by_key; TS_VALUE for lengths that do not hold the number of items. */
TS_API TS_CHECKED ts_status ts_run_lengths(const ts_stream *stream, const ts_arg *in, const ts_arg out[3],
                                           const ts_compute_options *options, ts_error *err);

/* out[i] = own(in[0][i], in[1][i], ..), of 1 to TS_TRANSFORM_MOST inputs. Reads and writes each item once, one launch.
 * Types    those that `own` says: of each input its dtype, of the result that of `out` (float32 is f32, int8 and uint8
 *          are i8, bool is i1); bools too.
 *          `out` may be an input, in its place.
 * Errors: as ts_reduce; TS_VALUE for a number of inputs that there is none for; TS_SHAPE for an `out` with fewer items
 * than the inputs, or inputs of different numbers. */
#define TS_TRANSFORM_MOST 3
TS_API TS_CHECKED ts_status ts_transform(const ts_stream *stream, const ts_arg *in, size_t n_in, const ts_arg *out,
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

/* keys[1] becomes the k least of keys[0] in ascending order, or with TS_COMPUTE_DESCENDING the k greatest in descending
 * order; values[1], if `values` is not NULL, those of values[0] that stand with them. Of equal keys those that stand
 * first are taken; NaNs are greater than all numbers, or with a sign least. Keys are read once for each 11 bits and
 * once more, the few are sorted; on a CPU they are read once where few are wanted. With a count of fewer items than k,
 * all of them are taken, and the results behind them stay as they are.
 * Arrays   results without gaps, in memory of their own; keys of one dtype, values of one of 4 or 8 bytes.
 * Errors: as ts_sort; TS_VALUE for a k below 0 or of more items than there are; TS_SHAPE for results of fewer. */
TS_API TS_CHECKED ts_status ts_top_k(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2], int64_t k,
                                     const ts_compute_options *options, ts_error *err);

/* out[0] becomes the item that stands at place n when all are sorted: nothing is. With a count of n or fewer items, the
 * last of them. Keys are read as by ts_top_k.
 * Errors: as ts_top_k; TS_VALUE for an n that is not the place of an item. */
TS_API TS_CHECKED ts_status ts_nth_element(const ts_stream *stream, const ts_arg *in, const ts_arg *out, int64_t n,
                                           const ts_compute_options *options, ts_error *err);

/* ts_sort of each of many parts by itself: part i has the items from parts[0][i] on, to before parts[1][i]; what is
 * before the first item or behind the last is in no part. Parts do not overlap; items in none stay where they are.
 * Stable. Two sorts of all items, by key and by part, and what goes along, so the lengths of parts do not matter.
 * Arrays   keys[0] without gaps; results may be their sources.
 * Types    keys those of ts_sort, values of any numbers or bools; parts integers.
 * Errors: as ts_sort; TS_SHAPE for a parts[1] with fewer items than parts[0]. */
TS_API TS_CHECKED ts_status ts_segmented_sort(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                                              const ts_arg parts[2], const ts_compute_options *options,
                                              ts_error *err);

/* ts_top_k of each of many parts, which are as those of ts_segmented_sort: the first few of part i come to places k * i
 * on. Of a part with fewer items all are taken, and the places behind them stay as they are. The parts are sorted.
 * Errors: as ts_segmented_sort; TS_VALUE for a k below 0, and results in memory of what is read; TS_SHAPE for results
 * with fewer than k items for each part. */
TS_API TS_CHECKED ts_status ts_segmented_top_k(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                                               const ts_arg parts[2], int64_t k, const ts_compute_options *options,
                                               ts_error *err);

/* out[i] = in[i] - in[i - 1], or own(in[i], in[i - 1]); the first item is copied. With TS_COMPUTE_RIGHT in[i + 1] takes
 * the place of in[i - 1], and the last item is copied. One launch, no temporary memory.
 * Types    one of numbers; differences of bools are taken by `own` alone.
 * Errors: as ts_reduce; TS_SHAPE for an `out` with fewer items; TS_VALUE where it shares memory with `in`. */
TS_API TS_CHECKED ts_status ts_adjacent_difference(const ts_stream *stream, const ts_arg *in, const ts_arg *out,
                                                   const ts_compute_options *options, ts_error *err);

/* out[0] becomes the items of `in` whose flag is not 0, in their order, and out[1][0] how many they are. One pass, in
 * one launch; what stands in out[0] after them stays as it is.
 * Types    `in` and out[0] of one dtype, bools too; flags any numbers or bools; out[1] an integer.
 * Errors: as ts_reduce; TS_SHAPE for flags or an out[0] with fewer items than `in`; TS_VALUE for results that share
 * memory with what is read or with each other, and for an out[1] that does not hold the number of items of `in`. */
TS_API TS_CHECKED ts_status ts_select_flagged(const ts_stream *stream, const ts_arg *in, const ts_arg *flags,
                                      const ts_arg out[2], const ts_compute_options *options, ts_error *err);

/* The same, and out[1] becomes the others, in their order; how many have a flag comes to out[2][0]. */
TS_API TS_CHECKED ts_status ts_partition_flagged(const ts_stream *stream, const ts_arg *in, const ts_arg *flags,
                                                 const ts_arg out[3], const ts_compute_options *options, ts_error *err);

/* The same as ts_select_flagged of the first item of each run of equal ones. NaN is equal to nothing. */
TS_API TS_CHECKED ts_status ts_unique(const ts_stream *stream, const ts_arg *in, const ts_arg out[2],
                                      const ts_compute_options *options, ts_error *err);

/* The same of keys: out[0] becomes the first key of each run of equal ones, out[1] the item of in[1] at its place, and
 * out[2][0] how many runs there are. */
TS_API TS_CHECKED ts_status ts_unique_by_key(const ts_stream *stream, const ts_arg in[2], const ts_arg out[3],
                                             const ts_compute_options *options, ts_error *err);

/* places[i] becomes the first place of `sorted`, which is in order, where values[i] could stand, or the last one
 * (TS_COMPUTE_UPPER). NaNs come last, and are equal. A count is of the sorted items. One thread for each value, no
 * temporary memory. With `own`, a function of two values to i1, in the order of that: whether the first comes before
 * the second.
 * Types    `sorted` and values of one dtype; places integers that hold the number of items.
 * Errors: as ts_reduce; TS_SHAPE for fewer places than values; TS_VALUE for places that do not hold the number of
 * items, or share memory with what is read. */
TS_API TS_CHECKED ts_status ts_search(const ts_stream *stream, const ts_arg *sorted, const ts_arg *values,
                                      const ts_arg *places, const ts_compute_options *options, ts_error *err);

/* place[0] becomes the place of the first item for which `own`, a function of one item to i1, gives true; without one
 * the number of items. Blocks of items after one that was found are not read; no temporary memory, two launches.
 * Types    items any numbers or bools; place int64.
 * Errors: as ts_reduce; TS_VALUE for a place in the memory of the items. */
TS_API TS_CHECKED ts_status ts_find(const ts_stream *stream, const ts_arg *in, const ts_arg *place,
                                    const ts_compute_options *options, ts_error *err);

/* result[0] becomes how many items there are for which `own`, a function of one item to i1, gives true.
 * Types    items any numbers or bools; the result int64.
 * Errors: as ts_find. */
TS_API TS_CHECKED ts_status ts_count_if(const ts_stream *stream, const ts_arg *in, const ts_arg *result,
                                        const ts_compute_options *options, ts_error *err);

/* place[0] becomes the first place where two sequences of one dtype differ, by `own`, a function of two items to i1
 * that says whether they are equal, or without it by ==; where they do not, the number of items of in[0].
 * Errors: as ts_find; TS_TYPE for arrays of several dtypes; TS_SHAPE for an in[1] with fewer items than in[0]. */
TS_API TS_CHECKED ts_status ts_mismatch(const ts_stream *stream, const ts_arg in[2], const ts_arg *place,
                                        const ts_compute_options *options, ts_error *err);

/* result[0], a bool, becomes whether they do not differ. */
TS_API TS_CHECKED ts_status ts_equal(const ts_stream *stream, const ts_arg in[2], const ts_arg *result,
                                     const ts_compute_options *options, ts_error *err);

/* `out` becomes the items of two sequences in order as one in order; of equal ones those of in[0] come first. With
 * TS_COMPUTE_DESCENDING the greatest are first; NaNs come last in both. With `own`, a function of two values to i1, in
 * the order of that: whether the first comes before the second. One thread for each item, no temporary memory; counts
 * are not taken.
 * Errors: as ts_reduce; TS_TYPE for arrays of several dtypes; TS_SHAPE for an `out` with fewer items than both have;
 * TS_VALUE where it shares memory with one. */
TS_API TS_CHECKED ts_status ts_merge(const ts_stream *stream, const ts_arg in[2], const ts_arg *out,
                                     const ts_compute_options *options, ts_error *err);

/* X(name, of k and l equal ones of two sequences, those that are in the result) */
#define TS_SETS(X)                                                                     \
    X(union, "max(k, l), those of the first before the others")                       \
    X(intersection, "min(k, l), the first ones of the first")                         \
    X(difference, "max(k - l, 0), the last ones of the first")                        \
    X(symmetric_difference, "those beyond min(k, l), which are the last ones of one")

typedef enum ts_set_kind {
#define X(name, meaning) TS_SET_##name,
    TS_SETS(X)
#undef X
    TS_SET_COUNT
} ts_set_kind;

/* keys[2] becomes a set of two sequences that are in order, keys[0] and keys[1], in order, too; values[2], if `values`
 * is not NULL, those of values[0] and values[1] that stand with them; count[0] how many they are. With
 * TS_COMPUTE_DESCENDING the greatest are first; NaNs come last, and are equal. With `own`, a function of two keys to
 * i1, in the order of that: whether the first comes before the second. A merge says which items stay, then these are
 * selected: two launches, one more for values; each item is looked at once. Counts are not taken.
 * Types    keys of one dtype, values of one, numbers or bools; count an integer.
 * Errors: as ts_reduce; TS_SHAPE for results with fewer items than keys[0] has, or, of what is merged, than both have;
 * TS_VALUE where results share memory with what is read or with each other. */
TS_API TS_CHECKED ts_status ts_set(const ts_stream *stream, ts_set_kind kind, const ts_arg keys[3],
                                   const ts_arg values[3], const ts_arg *count, const ts_compute_options *options,
                                   ts_error *err);

/* bins[i] becomes how many samples are in the i-th of n bins of equal width, between two levels: INTs, or FLOATs, of
 * which samples are compared as float64. Samples below the first, not below the second, and NaN are in no bin.
 * Types    samples any numbers or bools; bins integers of 4 or 8 bytes, without gaps; counts wrap as those of their
 *          dtype do.
 * Errors: as ts_reduce; TS_VALUE for no bins, levels that are not ascending finite numbers of one kind, and memory that
 * is shared. */
TS_API TS_CHECKED ts_status ts_histogram_even(const ts_stream *stream, const ts_arg *samples, const ts_arg levels[2],
                                              const ts_arg *bins, const ts_compute_options *options, ts_error *err);

/* The same of bins of any width: the i-th has samples from levels[i] on, and before levels[i + 1]. `levels` is an array
 * on the device, ascending, with one element more than there are bins; TS_SHAPE for another number. */
TS_API TS_CHECKED ts_status ts_histogram_range(const ts_stream *stream, const ts_arg *samples, const ts_arg *levels,
                                               const ts_arg *bins, const ts_compute_options *options, ts_error *err);

/* ---- kernels ------------------------------------------------------------------------------------------------ */

/* One of the kernels that these calls launch, for front ends that launch them themselves, as tessera.compute does at
 * the first call of a known operator: by its name and a choice on each of its axes, which are those of
 * python/tessera/compute/_packed.py.
 *
 *     ts_compute_desc("reduce_gpu dtype=float32 combine=add initial=1 counted=0", &desc, &err);
 *     ts_compute_desc("sort_count_pairs_gpu pair=int32/8 descending=0 counted=0", &desc, &err);
 *
 * Axes that are not named have their first choice; kernels that take an operator of the program have no words.
 * *out is what ts_kernel_create takes.
 * Owns: out->source.bytes, which ts_compute_desc_deinit frees; the rest is borrowed for good.
 * Errors: TS_VALUE for NULL, a kernel, an axis or a choice that there is not, or that takes an operator; TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_compute_desc(const char *choices, ts_kernel_desc *out, ts_error *err);
TS_API void ts_compute_desc_deinit(ts_kernel_desc *desc);
/* Its name, file, parameters and hints alone, which costs next to nothing: out->source is zero. Kernels that take an
 * operator of the program are found, too. Owns: nothing; all is borrowed for good. Errors: as ts_compute_desc. */
TS_API TS_CHECKED ts_status ts_compute_about(const char *choices, ts_kernel_desc *out, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
