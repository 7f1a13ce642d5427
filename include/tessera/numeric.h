/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that compute: NumPy's arrays and elementwise functions for any language. A call on large arrays is only noted;
 * when an element is wanted, what was noted becomes one kernel for each shape. docs/adr/0027-lazy-arrays.md.
 *
 *     ts_nd_graph *graph;
 *     ts_nd *x, *y;
 *     ts_nd_graph_create(device, &graph, &err);
 *     ts_nd_empty(graph, TS_DTYPE_float32, 1, (int64_t[]){1000000}, 0, &x, &err);
 *     ts_nd_call call = {.fn = TS_ND_add, .in = {{.array = x}, {.kind = 'f', .f = 1.5}}};
 *     ts_nd_run(graph, &call, &y, &err);                              float32, as NumPy's x + 1.5
 *     ts_nd_memory(y, &data, &err);                                   computes it
 *     ts_nd_release(x), ts_nd_release(y), ts_nd_graph_destroy(graph);
 *
 * Strides are bytes here, of any sign. Shapes have any rank up to TS_ND_RANK.
 * Threads: one at a time for all arrays of one graph; a client with several threads holds a lock of its own.
 */
#ifndef TESSERA_NUMERIC_H
#define TESSERA_NUMERIC_H

#include "tessera/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The greatest rank, as NumPy's. */
#define TS_ND_RANK 64

/* TS_ND_add ..: a row of tessera/numeric.def each. */
typedef enum ts_nd_fn {
#define TS_ND(name, n_in, loops, missing, result, how, emit, doc) TS_ND_##name,
#include "tessera/numeric.def"
    TS_ND_COUNT
} ts_nd_fn;

/* What a row says. */
typedef struct ts_nd_info {
    const char *name, *loops, *doc;
    uint8_t n_in, missing, result;
} ts_nd_info;
TS_API const ts_nd_info *ts_nd_get(ts_nd_fn fn);
/* The function of this name; TS_ND_COUNT when there is none. */
TS_API ts_nd_fn ts_nd_find(const char *name);

/* ---- dtypes -------------------------------------------------------------------------------------- */

/* How freely a result may change its dtype, from strict to any, as NumPy's casting=. */
typedef enum ts_nd_casting { TS_ND_NO, TS_ND_EQUIV, TS_ND_SAFE, TS_ND_SAME_KIND, TS_ND_UNSAFE } ts_nd_casting;
/* The dtype that holds both (NEP 50); TS_DTYPE_NONE when there is none. */
TS_API ts_dtype ts_nd_promote(ts_dtype a, ts_dtype b);
/* The dtype of a with a number of the host language of kind 'i', 'f' or 'c', which gives way to a's. a TS_DTYPE_NONE:
 * that number alone. */
TS_API ts_dtype ts_nd_promote_weak(ts_dtype a, char kind);
TS_API bool ts_nd_can_cast(ts_dtype from, ts_dtype to, ts_nd_casting casting);

/* ---- arrays -------------------------------------------------------------------------------------- */

typedef struct ts_nd_graph ts_nd_graph;
typedef struct ts_nd_store ts_nd_store;

/* Flags of an array. READONLY: calls that would write to it are refused (TS_VALUE). PRIVATE, of ts_nd_wrap: nobody else
 * looks at the memory. */
enum { TS_ND_READONLY = 1, TS_ND_PRIVATE = 2 };

/* A view of a storage. Read freely, never changed after it was made, but for its flags. */
typedef struct ts_nd {
    ts_nd_graph *graph;
    ts_nd_store *store;
    int64_t offset; /* of element [0, ...] in the storage, bytes */
    int64_t count;  /* elements */
    uint32_t references;
    uint8_t dtype, rank, flags;
    int64_t dims[]; /* extents, then strides in bytes */
} ts_nd;
static inline const int64_t *ts_nd_shape(const ts_nd *a)
{
    return a->dims;
}
static inline const int64_t *ts_nd_strides(const ts_nd *a)
{
    return a->dims + a->rank;
}

/* What holds the arrays of one device and the work that waits. `small`: calls on at most so many elements run at once.
 * Owns: *out, ended by ts_nd_graph_destroy when no array is left. */
TS_API TS_CHECKED ts_status ts_nd_graph_create(ts_device *device, ts_nd_graph **out, ts_error *err);
TS_API void ts_nd_graph_destroy(ts_nd_graph *graph);
TS_API int64_t ts_nd_graph_small(ts_nd_graph *graph, int64_t small); /* gives the one before; negative: only asks */
/* What the graph has done: kernels launched, kernels made, nodes that wait, bytes that kernels read and wrote. */
typedef struct ts_nd_stats {
    uint64_t n_launched, n_kernels, n_nodes, n_waiting, bytes;
} ts_nd_stats;
TS_API void ts_nd_graph_stats(const ts_nd_graph *graph, ts_nd_stats *out);

/* A new array with undefined contents. `columns`: the first axis is the contiguous one, else the last.
 * Owns: *out is a new reference, ended by ts_nd_release. Errors: TS_SHAPE, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_nd_empty(ts_nd_graph *graph, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                                        bool columns, ts_nd **out, ts_error *err);
/* An array in memory of `buffer`, which gets a reference of its own; strides in bytes. What lies outside the graph may
 * look at this memory and write to it at any time, so calls that read it or write to it run at once. */
TS_API TS_CHECKED ts_status ts_nd_wrap(ts_nd_graph *graph, ts_buffer *buffer, int64_t offset, ts_dtype dtype,
                                       uint32_t rank, const int64_t *shape, const int64_t *strides, uint32_t flags,
                                       ts_nd **out, ts_error *err);
/* Another view of the same storage, `offset` bytes behind element [0, ...] of `a`; it must lie inside, which nobody
 * checks here. Reads nothing and computes nothing. */
TS_API TS_CHECKED ts_status ts_nd_view(const ts_nd *a, int64_t offset, ts_dtype dtype, uint32_t rank,
                                       const int64_t *shape, const int64_t *strides, uint32_t flags, ts_nd **out,
                                       ts_error *err);
TS_API void ts_nd_retain(ts_nd *a);
TS_API void ts_nd_release(ts_nd *a); /* NULL is fine */

/* Computes what the array waits for; *data is the address of element [0, ...]. It may change with the next call on the
 * graph, unless `lasting`: then the storage stays there for as long as it lives, and calls on it run at once.
 * *buffer (may be NULL) is borrowed. Errors: as launches. */
TS_API TS_CHECKED ts_status ts_nd_memory(ts_nd *a, bool lasting, void **data, ts_buffer **buffer, ts_error *err);
/* Computes all that waits. */
TS_API TS_CHECKED ts_status ts_nd_flush(ts_nd_graph *graph, ts_error *err);
/* Whether the elements of both may share memory: same storage and, with `exact`, a byte in common. */
TS_API bool ts_nd_shares(const ts_nd *a, const ts_nd *b, bool exact);

/* ---- calls --------------------------------------------------------------------------------------- */

/* An operand: an array, or a number of the host language, which gives way to the dtypes of arrays. */
typedef struct ts_nd_operand {
    ts_nd *array; /* borrowed; NULL: the number */
    char kind;    /* of the number: 'b', 'i', 'f', 'c' */
    bool is_big;  /* 'i': `i` holds 2^63 to 2^64 - 1 */
    bool is_huge; /* 'i': no 64 bits hold it; `f` has its sign */
    int64_t i;
    double f, im;
} ts_nd_operand;

/* One call of an elementwise function. Zero members are defaults. */
typedef struct ts_nd_call {
    ts_nd_fn fn;
    ts_nd_operand in[3];
    ts_nd *out;            /* NULL: a new array */
    ts_nd *where;          /* bool; where it is false, the result keeps what `out` holds */
    ts_dtype dtype;        /* of the loop; 0: as NumPy chooses */
    ts_nd_casting casting; /* of operands to the loop and of the result to `out`; 0 (NO) counts as SAME_KIND */
    char order;            /* of a new array: 'C', 'F', or 0: as the operands lie */
} ts_nd_call;
/* Owns: *result, a new reference (of `out` if given). Errors: TS_SHAPE (extents that do not fit), TS_TYPE (no loop,
 * casting), TS_OVERFLOW (a number that its dtype does not hold), TS_VALUE (`out` is read-only). */
TS_API TS_CHECKED ts_status ts_nd_run(ts_nd_graph *graph, const ts_nd_call *call, ts_nd **result, ts_error *err);

/* The shape that both broadcast to, in place of *rank and *shape. Errors: TS_SHAPE. */
TS_API TS_CHECKED ts_status ts_nd_broadcast(uint32_t *rank, int64_t *shape, uint32_t other_rank, const int64_t *other,
                                            ts_error *err);

/* ---- reductions ---------------------------------------------------------------------------------- */

typedef enum ts_nd_fold {
    TS_ND_SUM, TS_ND_PROD, TS_ND_MAX, TS_ND_MIN, TS_ND_ALL, TS_ND_ANY, TS_ND_ARGMAX, TS_ND_ARGMIN, TS_ND_FOLDS
} ts_nd_fold;
typedef struct ts_nd_reduction {
    ts_nd_fold fold;
    ts_nd *x;
    ts_nd *where;     /* bool of x's shape, or NULL */
    uint64_t axes;    /* bit d: axis d is reduced; of the argument functions one bit, or all */
    ts_dtype dtype;   /* to compute in, and of the result; argument functions and all, any: of x */
    bool keeps;       /* reduced axes stay, with extent 1 */
} ts_nd_reduction;
/* The function of all elements along the axes; of no elements the fold's neutral one (0, 1, true, false; MAX and MIN:
 * TS_VALUE). Owns: *result, a new array: int64 of the argument functions, bool of ALL and ANY. */
TS_API TS_CHECKED ts_status ts_nd_reduce(ts_nd_graph *graph, const ts_nd_reduction *reduction, ts_nd **result,
                                         ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
