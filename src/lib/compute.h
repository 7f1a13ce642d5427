/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the algorithms. A call goes through these hands:
 *
 *     compute.c         its arrays and options as they were given --> checked, with one axis; temporary memory;
 *                       reductions and scans
 *     compute_check.c   what they ask of arrays
 *     compute_sort.c    sorts
 *     compute_order.c   the same by vectors of a CPU, without a kernel
 *     compute_vector.c  scans by them
 *     compute_top.c     the first few
 *     compute_parts.c   sorts of parts, and the first few of each
 *     compute_sums.c    reductions and scans of parts
 *     compute_runs.c    reductions of runs of equal keys, and their lengths
 *     compute_choose.c  selections and searches
 *     compute_sets.c    sets
 *     compute_find.c    the first item that a condition holds for
 *     compute_each.c    transforms, merges
 *     compute_bins.c    histograms
 *     compute_words.c   which kernel, by words --> its choices
 *     compute_kernel.c  which kernel, made by which choices --> a ts_kernel, made once
 *     compute.def       the kernels, and the numbers that Python's side goes by, too: written by tools/gen_compute.py
 */
#ifndef TS_LIB_COMPUTE_H
#define TS_LIB_COMPUTE_H

#include "base/base.h"
#include "lib/compute.def"
#include "tessera/compute.h"

/* The index of a choice on the axis `pair`: dtype of the key, bytes of the value (4 or 8). */
#define COMPUTE_PAIR(dtype, bytes) ((uint32_t)(dtype) * 2 + ((bytes) == 8))

/* A choice of a kernel, and what the host needs to know of the kernel that it makes. */
typedef struct compute_choice {
    bool there;
    uint16_t first, n;  /* of its compute_changes */
    uint16_t tile;      /* items of a block */
    uint16_t record;    /* bytes of a record in temporary memory */
    uint8_t pieces;     /* words that a value is published as */
    uint8_t warps, occupancy; /* hints */
} compute_choice;

typedef struct compute_axis_choices {
    const compute_choice *at;
    uint32_t n;
} compute_axis_choices;

/* A kernel, and the index of a choice on each of its axes; the others are 0. */
typedef struct compute_key {
    compute_number number;
    uint8_t at[COMPUTE_AXES];
} compute_key;

/* The choice of a key on an axis; NULL where there is none. */
const compute_choice *ts__compute_choice(const compute_key *key, compute_axis axis);
/* The object of the kernel's pack that describes records in temporary memory; 0: it has none. */
uint32_t ts__compute_record(const compute_key *key);
/* The kernel, made at the first call of the process; `own`: IR of the program's operator, or NULL.
 * Owns: borrowed for good. Errors: TS_NOMEM. */
TS_CHECKED ts_status ts__compute_kernel(const compute_key *key, const char *own, ts_kernel **out, ts_error *err);

/* Its name, file, parameters and hints. Owns: nothing. */
void ts__compute_about(const compute_key *key, ts_kernel_desc *out);
/* What it is made of. Owns: out->source.bytes, which ts_compute_desc_deinit frees. Errors: TS_NOMEM; TS_VALUE where it
 * takes an operator of the program. */
TS_CHECKED ts_status ts__compute_desc_make(const compute_key *key, ts_kernel_desc *out, ts_error *err);

/* ---- calls --------------------------------------------------------------------------------------------- */

enum { COMPUTE_ROOMS = 9, COMPUTE_ARGS = 32 };

/* An array with one axis. */
typedef struct compute_array {
    ts_arg arg;
    int64_t n, stride;
} compute_array;

typedef struct compute_call {
    const char *name;  /* for messages */
    const ts_stream *stream;
    ts_stream own;
    ts_compute_options options;
    bool is_gpu;       /* kernels of GPUs, which tests run on the CPU, too */
    int64_t n;         /* items, at most */
    ts_arg *args;      /* of the launch that is put together */
    size_t n_args;
    void *rooms[COMPUTE_ROOMS]; /* temporary memory */
    uint64_t room_bytes[COMPUTE_ROOMS];
    size_t n_rooms, n_taken; /* of the pool; and of the caller's memory, too */
    ts_arg space[COMPUTE_ARGS];
} compute_call;

/* What `ts_reduce` and the others do, with a call that says its name and whether it is for a GPU. */
TS_CHECKED ts_status ts__compute_reduce(compute_call *call, const ts_arg *in, const ts_arg *result, ts_combine op,
                                        ts_error *err);
TS_CHECKED ts_status ts__compute_scan(compute_call *call, const ts_arg *in, const ts_arg *out, ts_combine op,
                                      ts_error *err);
TS_CHECKED ts_status ts__compute_transform(compute_call *call, const ts_arg *in, size_t n_in, const ts_arg *out,
                                           ts_error *err);
TS_CHECKED ts_status ts__compute_sort(compute_call *call, const ts_arg keys[2], const ts_arg values[2], ts_error *err);
TS_CHECKED ts_status ts__compute_top_k(compute_call *call, const ts_arg keys[2], const ts_arg values[2], int64_t k,
                                       ts_error *err);
TS_CHECKED ts_status ts__compute_nth(compute_call *call, const ts_arg *in, const ts_arg *out, int64_t n,
                                     ts_error *err);
TS_CHECKED ts_status ts__compute_count(compute_call *call, const ts_arg *in, const ts_arg *result, ts_error *err);
TS_CHECKED ts_status ts__compute_unique_by_key(compute_call *call, const ts_arg in[2], const ts_arg out[3],
                                               ts_error *err);
TS_CHECKED ts_status ts__compute_adjacent(compute_call *call, const ts_arg *in, const ts_arg *out, ts_error *err);
TS_CHECKED ts_status ts__compute_set(compute_call *call, ts_set_kind kind, const ts_arg keys[3],
                                     const ts_arg values[3], const ts_arg *count, ts_error *err);
TS_CHECKED ts_status ts__compute_reduce_parts(compute_call *call, const ts_arg *in, const ts_arg *result,
                                              const ts_arg parts[2], ts_combine op, ts_error *err);
TS_CHECKED ts_status ts__compute_scan_parts(compute_call *call, const ts_arg *in, const ts_arg *out,
                                            const ts_arg parts[2], ts_combine op, ts_error *err);
TS_CHECKED ts_status ts__compute_reduce_by_key(compute_call *call, const ts_arg keys[2], const ts_arg values[2],
                                               const ts_arg *count, ts_combine op, ts_error *err);
TS_CHECKED ts_status ts__compute_run_lengths(compute_call *call, const ts_arg *in, const ts_arg out[3],
                                             ts_error *err);
TS_CHECKED ts_status ts__compute_sort_parts(compute_call *call, const ts_arg keys[2], const ts_arg values[2],
                                            const ts_arg parts[2], ts_error *err);
TS_CHECKED ts_status ts__compute_top_parts(compute_call *call, const ts_arg keys[2], const ts_arg values[2],
                                           const ts_arg parts[2], int64_t k, ts_error *err);
/* `flags` NULL: the first items of runs. With three results the second takes the other items. */
TS_CHECKED ts_status ts__compute_select(compute_call *call, const ts_arg *in, const ts_arg *flags, const ts_arg *out,
                                        size_t n_out, ts_error *err);
/* `range`: levels on the device; NULL: bins of equal width between `levels`. */
TS_CHECKED ts_status ts__compute_histogram(compute_call *call, const ts_arg *samples, const ts_arg *levels,
                                           const ts_arg *range, const ts_arg *bins, ts_error *err);

/* A call with its options; `array` says the device. Errors: TS_VALUE, TS_TYPE. */
TS_CHECKED ts_status ts__compute_begin(compute_call *call, const char *name, const ts_stream *stream,
                                       const ts_arg *array, const ts_compute_options *options, ts_error *err);
/* Flags are among those taken, and the IR of an operator is there or not. Errors: TS_VALUE. */
TS_CHECKED ts_status ts__compute_flags(const compute_call *call, uint32_t taken, bool takes_own, ts_error *err);
/* An array of a call as one with one axis. Errors: TS_VALUE, TS_TYPE, TS_SHAPE, naming it. */
TS_CHECKED ts_status ts__compute_array(const compute_call *call, const char *name, const ts_arg *array, bool is_written,
                                       compute_array *out, ts_error *err);
bool ts__compute_is_integer(uint8_t dtype); /* of those that algorithms have */
bool ts__compute_is_number(uint8_t dtype);  /* the same, or bool */

/* Checks of arrays: compute_check.c. Errors: TS_TYPE, TS_VALUE, TS_SHAPE, naming the array. */
/* Integers that hold a number up to n. */
TS_CHECKED ts_status ts__compute_check_holds(const compute_call *call, const char *name, const compute_array *array,
                                             int64_t n, ts_error *err);
/* Two arrays of one dtype of numbers. */
TS_CHECKED ts_status ts__compute_check_alike(const compute_call *call, const char *name, const compute_array *a,
                                             const char *other, const compute_array *b, ts_error *err);
TS_CHECKED ts_status ts__compute_check_items(const compute_call *call, const char *name, const compute_array *array,
                                             int64_t n, ts_error *err);
TS_CHECKED ts_status ts__compute_check_apart(const compute_call *call, const compute_array *out,
                                             const compute_array *other, ts_error *err);
/* Items of an input are at their places in the result, or nowhere in it. */
TS_CHECKED ts_status ts__compute_check_place(const compute_call *call, const compute_array *in,
                                             const compute_array *out, ts_error *err);
TS_CHECKED ts_status ts__compute_check_number(const compute_call *call, const char *name, const compute_array *array,
                                              ts_error *err);
/* The initial value and the count of the options. */
TS_CHECKED ts_status ts__compute_number_checks(const compute_call *call, bool takes_initial, ts_error *err);
/* Temporary memory of these sizes, which ts__compute_end gives back. *only_asks: the caller wants to know how much. */
TS_CHECKED ts_status ts__compute_rooms(compute_call *call, const uint64_t *bytes, size_t n, bool *only_asks,
                                       ts_error *err);
void ts__compute_end(compute_call *call);
/* Parts on the CPU device, of which each has `least` items or more. */
TS_CHECKED ts_status ts__compute_parts(const compute_call *call, int64_t n, int64_t least, int64_t *out, ts_error *err);

/* Words by which tiles learn what comes before them, as `_lookback.memory_of` says; `pieces` for each value. */
int64_t ts__compute_words(int64_t tiles, int64_t pieces);

/* Items that a kernel chooses: of class `Choice` in python/tessera/compute/_choose.py. */
typedef struct compute_choose {
    compute_key key;
    compute_array in[2], out[3];         /* the last of `out` becomes how many they are */
    const char *const *in_names, *const *out_names; /* for messages */
    size_t n_in, n_out;
    bool has_rest;                       /* out[1] takes the others */
    bool has_lengths;                    /* out[1] becomes how far chosen items are apart */
    int64_t blocks, chunk;               /* chunk: items of a block in a round, on a CPU */
    int64_t words[1], room[1], spare[1]; /* elements of temporary memory */
} compute_choose;

/* The key's kernel, whose arrays are those of the plan; what is not known of it is filled in. */
TS_CHECKED ts_status ts__compute_choose(compute_call *call, compute_choose *plan, ts_error *err);

/* A scan of values of a type, that of the key's axis `dtype`. */
typedef struct compute_scan {
    compute_key key;
    bool is_exact;         /* may be put together in any order */
    ts_dtype word;         /* of what blocks leave on a CPU */
    int64_t blocks, chunk; /* chunk: items of a block in a round, on a CPU */
    int64_t words[1];      /* elements of temporary memory */
    int64_t word_bytes;    /* of one, which may be a record */
} compute_scan;

/* How many blocks, and words of which dtype in temporary memory, call->n items take. */
TS_CHECKED ts_status ts__compute_scan_sizes(const compute_call *call, compute_scan *scan, ts_error *err);
/* The launch; all arguments but the last two are there. */
TS_CHECKED ts_status ts__compute_scan_launch(compute_call *call, const compute_scan *scan, size_t room, ts_error *err);

/* Whether a scan is done without a kernel, and the launch: compute_vector.c. */
bool ts__compute_scan_fits(const compute_call *call, const compute_array *in, const compute_array *out, ts_combine op);
TS_CHECKED ts_status ts__compute_scan_by_vectors(compute_call *call, const compute_array *in, const compute_array *out,
                                                 ts_error *err);

/* Room `room`, or nothing yet, as an array of n items. */
void ts__compute_room_array(const compute_call *call, size_t room, uint8_t dtype, int64_t n, compute_array *out);
/* A call that this one makes: its temporary memory is the pool's, or, where this one has the caller's, room `room`. */
void ts__compute_below(const compute_call *call, size_t room, compute_call *out);

/* out[i] = i; out[i] = items[places[i]]. */
TS_CHECKED ts_status ts__compute_sequence(compute_call *call, const compute_array *out, ts_error *err);
TS_CHECKED ts_status ts__compute_gather(compute_call *call, const compute_array *items, const compute_array *places,
                                        const compute_array *out, ts_error *err);

/* How many blocks merge n items, at least one; the choice of their kernel goes into the key. */
int64_t ts__compute_merge_blocks(const compute_call *call, int64_t n, compute_key *key);

/* Dtypes of a call that combines, the key's among them. Errors: TS_TYPE, TS_VALUE. */
TS_CHECKED ts_status ts__compute_types(const compute_call *call, const compute_key *key, const ts_arg *in,
                                       const ts_arg *out, ts_combine op, ts_error *err);

/* Where parts begin, and before which item they end. Errors: TS_TYPE, TS_SHAPE. */
TS_CHECKED ts_status ts__compute_bounds(const compute_call *call, const ts_arg given[2], compute_array out[2],
                                        ts_error *err);
void ts__compute_put_bound(compute_call *call, const compute_array *bound); /* among the items there are */
/* Groups of items, of which alike numbers are a part: the scan of rooms 0 and 1, for its words and for them. `alone`:
 * items in no part have one each. */
TS_CHECKED ts_status ts__compute_group_sizes(const compute_call *call, bool alone, compute_scan *out, ts_error *err);
TS_CHECKED ts_status ts__compute_group(compute_call *call, const compute_array ends[2], const compute_scan *groups,
                                       ts_error *err);

/* compute_order.c: whether two arrays of keys, and two of values if they are not NULL, are sorted without a kernel;
 * sorts keys[0] into keys[1], which may be in its place, as ts_sort does. `ends`: of parts, as those of
 * ts_segmented_sort, or NULL. */
bool ts__compute_order_fits(const compute_call *call, const compute_array *keys, const compute_array *values);
TS_CHECKED ts_status ts__compute_order(compute_call *call, const compute_array keys[2], const compute_array *values,
                                       const compute_array *ends, ts_error *err);

/* Arguments, one after the other. */
void ts__compute_begin_args(compute_call *call);
void ts__compute_put(compute_call *call, ts_arg arg);
void ts__compute_put_int(compute_call *call, int64_t value);
void ts__compute_put_bool(compute_call *call, bool value);
void ts__compute_put_tuple(compute_call *call, int64_t n);
void ts__compute_put_array(compute_call *call, const compute_array *array); /* as an iterator's state */
void ts__compute_put_count(compute_call *call);
/* Room `i` as an array; `shape` is borrowed until the launch. */
void ts__compute_put_room(compute_call *call, size_t i, ts_dtype dtype, uint8_t rank, const int64_t *shape);
/* The same, of records that the key's kernel has; both extents are borrowed until the launch. */
void ts__compute_put_records(compute_call *call, size_t i, const compute_key *key, const int64_t *shape,
                             const int64_t *bytes);
/* The initial value of the options, as a number; without one 0. */
void ts__compute_put_initial(compute_call *call);
TS_CHECKED ts_status ts__compute_launch(compute_call *call, const compute_key *key, int64_t blocks, uint32_t threads,
                                        ts_error *err);

static inline int64_t compute_cdiv(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

#endif
