/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that compute: NumPy's arrays and elementwise functions for any language. A call on large arrays is only noted;
 * when an element is wanted, what was noted becomes one kernel for each shape. docs/adr/0028-lazy-arrays.md.
 *
 * What computes is a graph: the arrays of one device, and the calls on them that wait. A call checks everything at
 * once, as NumPy does: dtypes, shapes, casts, whether it may write. What it gives is an array like any other; whether
 * its elements are there already cannot be seen. Writes are ordered with reads as the calls are.
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

/* The greatest rank, as NumPy's. Kernels know fewer axes (TS_MAX_RANK), counted after those that lie as one are
 * joined. */
#define TS_ND_RANK 64

/* TS_ND_add ..: a row of tessera/numeric.def each. */
typedef enum ts_nd_fn {
#define TS_ND(name, n_in, loops, missing, result, how, emit, doc) TS_ND_##name,
#include "tessera/numeric.def"
    TS_ND_COUNT
} ts_nd_fn;

/* What the dtype of a result is: that of the loop, bool, or of a complex loop its part. */
typedef enum ts_nd_outcome { TS_ND_IS_SAME, TS_ND_IS_BOOL, TS_ND_IS_PART } ts_nd_outcome;
/* What a row says: name and kinds of numbers of its loops (numeric.def), number of operands, what operands of other
 * kinds become (a number of the library's own), the ts_nd_outcome, and a sentence for users. */
typedef struct ts_nd_info {
    const char *name, *loops, *doc;
    uint8_t n_in, missing, result;
} ts_nd_info;
TS_API const ts_nd_info *ts_nd_get(ts_nd_fn fn);
/* The function of this name, which is NumPy's; TS_ND_COUNT when there is none. */
TS_API ts_nd_fn ts_nd_find(const char *name);

/* ---- dtypes -------------------------------------------------------------------------------------- */

/* How freely numbers may change their dtype, from strict to any, as NumPy's casting=: not at all; not at all (byte
 * order does not exist here); where no value changes; also within a kind, as float64 to float32; always. */
typedef enum ts_nd_casting { TS_ND_NO, TS_ND_EQUIV, TS_ND_SAFE, TS_ND_SAME_KIND, TS_ND_UNSAFE } ts_nd_casting;
/* The dtype that holds both (NEP 50), as float64 for int64 and float32; TS_DTYPE_NONE when there is none. */
TS_API ts_dtype ts_nd_promote(ts_dtype a, ts_dtype b);
/* The dtype of a with a number of the host language of kind 'i', 'f' or 'c', which gives way to a's. a TS_DTYPE_NONE:
 * that number alone. */
TS_API ts_dtype ts_nd_promote_weak(ts_dtype a, char kind);
/* Whether a conversion is allowed. */
TS_API bool ts_nd_can_cast(ts_dtype from, ts_dtype to, ts_nd_casting casting);

/* ---- arrays -------------------------------------------------------------------------------------- */

typedef struct ts_nd_graph ts_nd_graph;
typedef struct ts_nd_store ts_nd_store;

/* Flags of an array. READONLY: calls that would write to it are refused (TS_VALUE). PRIVATE, of ts_nd_wrap: nobody else
 * looks at the memory. LONGLONG, of 64-bit integers: the client, which has two dtypes for them, shows the other one;
 * carried on as `meaning` is, and nothing else depends on it. */
enum { TS_ND_READONLY = 1, TS_ND_PRIVATE = 2, TS_ND_LONGLONG = 4 };

/* A view of a storage: element [i, j, ...] lies at offset + i * strides[0] + j * strides[1] + ... bytes in it. Read
 * freely; made by the functions below and never changed afterwards, but for its flags. The storage may not have been
 * computed yet: its memory is asked for by ts_nd_memory. */
typedef struct ts_nd {
    ts_nd_graph *graph; /* where the storage lies now; ts_nd_graph_home: whose array it is */
    ts_nd_store *store;
    int64_t offset; /* of element [0, ...] in the storage, bytes */
    int64_t count;  /* elements */
    uint32_t references;
    uint8_t dtype, rank, flags; /* dtype: TS_DTYPE_NONE of items */
    uint16_t meaning; /* a number of the client's: what it takes the elements for, as dates. Carried on by views of the
                       * same dtype, other devices and selections of elements; calls neither read nor set it; 0: none */
    uint32_t item;    /* bytes of an element */
    int64_t *dims;  /* extents, then strides in bytes */
    struct ts_nd *next, **link; /* the storage's other arrays; of the library */
} ts_nd;
/* Extents of the axes, and their steps in bytes. An axis of extent 1 may have any step; one of a broadcast array has
 * 0. */
static inline const int64_t *ts_nd_shape(const ts_nd *a)
{
    return a->dims;
}
static inline const int64_t *ts_nd_strides(const ts_nd *a)
{
    return a->dims + a->rank;
}

/* What holds the arrays of one device, the work that waits and the kernels that were made. Owns: *out, ended by
 * ts_nd_graph_destroy when no array is left. Errors: TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_nd_graph_create(ts_device *device, ts_nd_graph **out, ts_error *err);
TS_API void ts_nd_graph_destroy(ts_nd_graph *graph);
TS_API ts_device *ts_nd_graph_device(const ts_nd_graph *graph);
/* Lets storages of a graph whose elements are read one by one be carried to the memory of `host`, the CPU device,
 * where calls on few elements are loops; what is large, or asked for by ts_nd_home, is carried back. So an array's
 * `graph` may change in each call. `reads`: of elements of a storage, before it is carried; 0: as many as take the
 * time of its copy; UINT32_MAX: it never is. Called again it changes these. Errors: TS_NOMEM; TS_VALUE (the memory of
 * `host` is not the host's, or `graph` is one that arrays are carried to). */
TS_API TS_CHECKED ts_status ts_nd_graph_near(ts_nd_graph *graph, ts_device *host, uint32_t reads, ts_error *err);
/* The graph that was created, of one that its arrays are carried to; other graphs: themselves. */
TS_API ts_nd_graph *ts_nd_graph_home(ts_nd_graph *graph);
/* Calls on at most `small` elements run at once, for waiting costs more than it gains; negative: only asks. Returns the
 * number before. */
TS_API int64_t ts_nd_graph_small(ts_nd_graph *graph, int64_t small);
/* From now on calls run at once and are all watched where their elements lie in host memory, or no longer. */
TS_API void ts_nd_graph_strict(ts_nd_graph *graph, bool strict);
/* What calls that ran at once on few elements in host memory met since this was asked last, as bits: a pole (1 / 0),
 * a finite result that its dtype does not hold, no result (0 / 0). */
enum { TS_ND_DIVIDE = 1, TS_ND_OVERFLOW = 2, TS_ND_INVALID = 4,
       TS_ND_GROWS = 8 /* a number of the host language that its dtype does not hold */,
       TS_ND_UNDERFLOW = 16 /* a result that is not exact and less than the least number of full precision */ };
TS_API uint32_t ts_nd_graph_faults(ts_nd_graph *graph);
enum { TS_ND_LOOKED_AT = 4096 }; /* results are looked at one by one in calls on at most so many elements */
/* The same of all other calls: of quotients, powers, logarithms and functions with a domain, calls from
 * now on have kernels that tell of these faults (bits; 0, the default: of none), at little cost and without waiting.
 * Of TS_ND_UNDERFLOW calls tell that run at once on elements in host memory, and of no device's kernels.
 * Whether such kernels were launched since ts_nd_graph_late; and what they told, of each function, which waits for the
 * device.
 * Faults of values that nobody reads are never found. Errors: as ts_array_to_host. */
TS_API void ts_nd_graph_wants(ts_nd_graph *graph, uint32_t faults);
TS_API bool ts_nd_graph_is_late(const ts_nd_graph *graph);
TS_API TS_CHECKED ts_status ts_nd_graph_late(ts_nd_graph *graph, uint8_t faults[TS_ND_COUNT], ts_error *err);
/* What the graph has done: kernels launched, kernels made, nodes computed, nodes that wait, bytes that kernels read and
 * wrote, each place once for each kernel, storages that were carried (ts_nd_graph_near). For tests and tools that ask
 * how well calls were fused. */
typedef struct ts_nd_stats {
    uint64_t n_launched, n_kernels, n_nodes, n_waiting, bytes, n_carried;
} ts_nd_stats;
TS_API void ts_nd_graph_stats(const ts_nd_graph *graph, ts_nd_stats *out);

/* A new array with undefined contents. `columns`: the first axis is the contiguous one, else the last.
 * Owns: *out is a new reference, ended by ts_nd_release. Errors: TS_TYPE (no dtype), TS_VALUE, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_nd_empty(ts_nd_graph *graph, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                                        bool columns, ts_nd **out, ts_error *err);
/* An array in memory of `buffer` (a NumPy array's, a file's, another library's), which gets a reference of its own;
 * strides in bytes. What lies outside the graph may
 * look at this memory and write to it at any time, so calls that read it or write to it run at once. */
TS_API TS_CHECKED ts_status ts_nd_wrap(ts_nd_graph *graph, ts_buffer *buffer, int64_t offset, ts_dtype dtype,
                                       uint32_t rank, const int64_t *shape, const int64_t *strides, uint32_t flags,
                                       ts_nd **out, ts_error *err);
/* Bytes of the storage that `a` is a view of; element [0, ...] lies at a->offset in it. */
TS_API int64_t ts_nd_store_bytes(const ts_nd *a);
/* Another view of the same storage, `offset` bytes behind element [0, ...] of `a`; it must lie inside, which nobody
 * checks here, and at multiples of an element's size, which kernels rely on. TS_DTYPE_NONE: items of the size of a's
 * elements. Reads nothing and computes nothing. */
TS_API TS_CHECKED ts_status ts_nd_view(const ts_nd *a, int64_t offset, ts_dtype dtype, uint32_t rank,
                                       const int64_t *shape, const int64_t *strides, uint32_t flags, ts_nd **out,
                                       ts_error *err);

/* Items: elements of any number of bytes that are no numbers, or none that kernels can read where they lie: records,
 * texts, numbers in another byte order or at places that are no multiples of their size. Nothing is computed of them;
 * they are made, viewed, read and copied to other devices, and moved as what ts_nd_words() sees in them. */
TS_API TS_CHECKED ts_status ts_nd_empty_items(ts_nd_graph *graph, uint32_t item, uint32_t rank, const int64_t *shape,
                                              bool columns, ts_nd **out, ts_error *err);
/* A view as ts_nd_view gives, of items of `item` bytes at any places. */
TS_API TS_CHECKED ts_status ts_nd_view_items(const ts_nd *a, int64_t offset, uint32_t item, uint32_t rank,
                                             const int64_t *shape, const int64_t *strides, uint32_t flags, ts_nd **out,
                                             ts_error *err);
/* The elements of any array as words along one more axis, the last: a view of uint8 to uint64, the widest of at most
 * `most` bytes that all places allow. Copying words moves elements.
 * Errors: TS_VALUE (`most` is not 1, 2, 4 or 8, or there is no room for another axis). */
TS_API TS_CHECKED ts_status ts_nd_words(const ts_nd *a, uint32_t most, ts_nd **out, ts_error *err);
/* Copies elements of one size, broadcast, byte by byte. Errors: TS_VALUE (of other sizes, read-only), TS_SHAPE. */
TS_API TS_CHECKED ts_status ts_nd_copy_items(ts_nd *from, ts_nd *to, ts_error *err);
/* Whether kernels can read elements of the dtype where they lie. */
TS_API bool ts_nd_is_aligned(const ts_nd *a);
/* One more reference, one less. What a storage waits for goes with its last array: it is never computed. NULL is fine
 * for release. */
TS_API void ts_nd_retain(ts_nd *a);
TS_API void ts_nd_release(ts_nd *a);

/* Whether it waits for something. */
TS_API bool ts_nd_waits(const ts_nd *a);
/* Computes what the array waits for; *data is the address of element [0, ...]. It may change with the next call on the
 * graph, unless `lasting`: then the storage stays there for as long as it lives, and calls on it run at once.
 * *buffer (may be NULL) is borrowed. Errors: as launches. */
TS_API TS_CHECKED ts_status ts_nd_memory(ts_nd *a, bool lasting, void **data, ts_buffer **buffer, ts_error *err);
/* Carries an array's storage to the graph that it was made in, from where ts_nd_graph_near let it go. Errors: those of
 * ts_nd_memory; then it stays where it is. */
TS_API TS_CHECKED ts_status ts_nd_home(ts_nd *a, ts_error *err);
/* Computes all that waits, in few kernels; the device may still be at work when it returns. */
TS_API TS_CHECKED ts_status ts_nd_flush(ts_nd_graph *graph, ts_error *err);
/* Computes what the array waits for and copies the element `offset` bytes behind element [0, ...], which must be one of
 * the array's, to host memory at `out`. */
TS_API TS_CHECKED ts_status ts_nd_read(ts_nd *a, int64_t offset, void *out, ts_error *err);
/* The elements as a new array of another graph, in memory of its device; the axes lie in the same order. The same graph
 * gives a copy. Owns: *out, a new reference. Errors: as launches, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_nd_to(ts_nd *a, ts_nd_graph *graph, ts_nd **out, ts_error *err);
/* Whether the elements of both may share memory: their bytes from first to last meet and, with `exact`, a byte is in
 * common. Storages that were made by ts_nd_wrap may share memory with each other. */
TS_API bool ts_nd_shares(const ts_nd *a, const ts_nd *b, bool exact);

/* ---- what happens, for tools --------------------------------------------------------------------- */

/* TS_ND_EVENT_read ..: a row of tessera/numeric_event.def each; NONE is of no event. */
typedef enum ts_nd_event_kind {
    TS_ND_EVENT_NONE,
#define TS_ND_EVENT(name, from, title, advice) TS_ND_EVENT_##name,
#define TS_ND_CAUSE(name, from, title, advice)
#include "tessera/numeric_event.def"
    TS_ND_EVENT_COUNT
} ts_nd_event_kind;
/* Why what waits was computed: the name of an event `cut`. */
typedef enum ts_nd_cause {
#define TS_ND_EVENT(name, from, title, advice)
#define TS_ND_CAUSE(name, from, title, advice) TS_ND_CAUSE_##name,
#include "tessera/numeric_event.def"
    TS_ND_CAUSE_COUNT
} ts_nd_cause;
/* Names and sentences of a kind or a cause; the advice is for places with so many of them. */
typedef struct ts_nd_event_info {
    const char *name, *title, *advice;
    uint32_t from; /* events of a place on which it helps */
} ts_nd_event_info;
/* Rows of tessera/numeric_event.def, for messages: both stay. */
TS_API const ts_nd_event_info *ts_nd_event_get(ts_nd_event_kind kind);
TS_API const ts_nd_event_info *ts_nd_cause_get(ts_nd_cause cause);

/* One event. `name`: of the function, or of the cause; NULL: it has none; it stays for as long as the library is there.
 * `place`: of the call it happened in; of `unread` that of the call whose value it was. `bytes`: read, written or
 * copied by it. `ns`: time on the host, without that of events inside of this one, which were told before. */
typedef struct ts_nd_event {
    ts_nd_event_kind kind;
    const char *name;
    uint32_t place;
    uint64_t bytes, ns;
} ts_nd_event;
/* Who is told of events, as a tool that says which line of a program costs what.
 *
 *     static void note(void *user, const ts_nd_event *event)
 *     {
 *         printf("line %u: %s\n", event->place, ts_nd_event_get(event->kind)->title);
 *     }
 *     ts_nd_watch watch = {note, NULL, 0};
 *     ts_nd_graph_watch(graph, &watch);
 *     watch.place = 12;                                              calls that follow are of line 12
 *
 * `event` is called in the midst of a call, by its thread: it may not call on arrays of the graph. */
typedef struct ts_nd_watch {
    void (*event)(void *user, const ts_nd_event *event);
    void *user;     /* the first argument of `event` */
    uint32_t place; /* a number of the client's own, set before calls; values that wait remember it */
} ts_nd_watch;
/* Tells of what happens from now on; NULL: no more. The watch is borrowed until then. Without one a graph keeps no
 * account and reads no clock. */
TS_API void ts_nd_graph_watch(ts_nd_graph *graph, ts_nd_watch *watch);

/* ---- calls --------------------------------------------------------------------------------------- */

/* An operand: an array, or a number of the host language, which gives way to the dtypes of arrays: 1.5 with a float32
 * array is a float32, and so is 1; a bool does not give way, it is of the least kind anyway. A number with a dtype of
 * its own counts as an array of no axes would. */
typedef struct ts_nd_operand {
    ts_nd *array;   /* borrowed; NULL: the number */
    ts_dtype dtype; /* of the number; 0: it gives way */
    char kind;    /* of the number: 'b', 'i', 'f', 'c' */
    bool is_big;  /* 'i': `i` holds 2^63 to 2^64 - 1 */
    bool is_huge; /* 'i': no 64 bits hold it; `f` has its sign */
    bool is_last; /* of an array: nobody reads it afterwards, so what it waits for need not be stored */
    int64_t i;
    double f, im;
} ts_nd_operand;

/* Which way a call goes: KNOWN: only where it is like one before, on few elements, and nothing is to be told of: else
 * there is no result, and the same call is made once more as a LONG one, in which what decides about faults
 * (ts_nd_graph_strict, ts_nd_graph_wants) counts. */
typedef enum ts_nd_pace { TS_ND_EITHER, TS_ND_KNOWN, TS_ND_LONG } ts_nd_pace;

/* One call of an elementwise function, as NumPy's f(x, y, out=, where=, dtype=, casting=, order=). Zero members are
 * defaults. Operands and `out` may overlap in any way: the result is as if operands were copied first. Arrays lie on
 * the graph's device; operands of no axes may lie in host memory too. */
typedef struct ts_nd_call {
    ts_nd_fn fn;
    ts_nd_operand in[3];   /* as many as the function takes */
    ts_nd *out;            /* NULL: a new array */
    ts_nd *where;          /* bool; where it is false, the result keeps what `out` holds */
    ts_dtype dtype;        /* of the result; 0: as NumPy chooses */
    ts_dtype loop;         /* what operands are computed in; 0: as NumPy chooses */
    ts_nd_casting casting; /* of operands to the loop and of the result to `out`; 0: SAME_KIND, unless .. */
    bool says_casting;     /* .. this is set, so 0 is NO */
    char order;            /* of a new array: 'C', 'F', or 0: as the operands lie */
    ts_nd_pace pace;
} ts_nd_call;
/* Owns: *result, a new reference (of `out` if given); NULL where a call of the pace KNOWN is none. Errors: TS_SHAPE
 * (extents that do not fit), TS_TYPE (no loop, casting), TS_OVERFLOW (a number that its dtype does not hold), TS_VALUE
 * (no function, an operand that was left out, `out` is read-only, or an array lies on another device than the
 * graph's). */
TS_API TS_CHECKED ts_status ts_nd_run(ts_nd_graph *graph, const ts_nd_call *call, ts_nd **result, ts_error *err);

/* The shape that both broadcast to, in place of *rank and *shape, which has room for TS_ND_RANK: axes are compared from
 * the last one on, and an extent of 1 becomes the other's. Errors: TS_SHAPE. */
TS_API TS_CHECKED ts_status ts_nd_broadcast(uint32_t *rank, int64_t *shape, uint32_t other_rank, const int64_t *other,
                                            ts_error *err);

/* ---- reductions ---------------------------------------------------------------------------------- */

/* What elements are folded to: their sum, product, greatest or least (NaN where one is NaN), whether all or any are
 * true, the place of the greatest or least (the first of equal ones; of NaN if there is one), the sum of the squares of
 * what floats differ from their mean by, read once. */
typedef enum ts_nd_fold {
    TS_ND_SUM, TS_ND_PROD, TS_ND_MAX, TS_ND_MIN, TS_ND_ALL, TS_ND_ANY, TS_ND_ARGMAX, TS_ND_ARGMIN, TS_ND_SPREAD,
    TS_ND_FOLDS
} ts_nd_fold;
/* NumPy's name of it: "sum", "argmax" .. */
TS_API const char *ts_nd_fold_name(ts_nd_fold fold);
/* One reduction. What x waits for is computed in the same kernel, and not stored by it. */
typedef struct ts_nd_reduction {
    ts_nd_fold fold;
    ts_nd *x;         /* borrowed */
    ts_nd *where;     /* bool of x's shape, or NULL */
    uint64_t axes;    /* bit d: axis d is reduced; of the argument functions one bit, or all */
    ts_dtype dtype;   /* to compute in, and of the result; argument functions and all, any: of x */
    bool keeps;       /* reduced axes stay, with extent 1 */
    bool looks;       /* sums and products of few elements in host memory are looked at: ts_nd_graph_faults */
    uint32_t wanted;  /* faults to be found however many elements there are; TS_ND_UNDERFLOW: only where it is here */
} ts_nd_reduction;
/* The function of all elements along the axes; of no elements the fold's neutral one (0, 1, true, false; MAX and MIN:
 * TS_VALUE). Sums are in an order that depends on the shape alone; narrow floats are summed in float32.
 * Owns: *result, a new array: int64 of the argument functions, bool of ALL and ANY. */
TS_API TS_CHECKED ts_status ts_nd_reduce(ts_nd_graph *graph, const ts_nd_reduction *reduction, ts_nd **result,
                                         ts_error *err);

/* The same of the first elements along one axis, for each number of them, in that order: an array of x's shape. Of SUM,
 * PROD, MAX, MIN, ALL and ANY, without `where`. Owns: *result, a new array. */
TS_API TS_CHECKED ts_status ts_nd_accumulate(ts_nd_graph *graph, const ts_nd_reduction *reduction, ts_nd **result,
                                             ts_error *err);

/* Carries two arrays to where their product is computed (ts_nd_graph_near), as it does itself. */
TS_API TS_CHECKED ts_status ts_nd_product_meet(ts_nd *a, ts_nd *b, ts_error *err);
/* The product of two matrices or vectors of one dtype, a (M, K) or (K) and b (K, N) or (K), as a fold of products: for
 * vectors and small matrices. Its axes are M and N, those that there are. In host memory one of float32 or
 * float64 with a vector runs at once, without a kernel, and small ones of matrices and complex numbers do, and those of
 * a matrix and few vectors; the order of its sums follows from shape and strides.
 * Owns: *result, a new array. Errors: TS_SHAPE. */
TS_API TS_CHECKED ts_status ts_nd_product(ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err);
/* The sum along an axis of the products of a and b, which broadcast, in the dtype of both; of bool whether any is true.
 * No faults of it are kept. Owns: *result, a new array. Errors: TS_SHAPE. */
TS_API TS_CHECKED ts_status ts_nd_sum_products(ts_nd *a, ts_nd *b, uint32_t axis, ts_nd **result, ts_error *err);
/* What went wrong in a product in host memory, as bits of ts_nd_graph_faults: x is a (.., M, K), b (.., K, N) and the
 * product (.., M, N), whose axes in front broadcast; has_rows false: M is absent, has_columns false: N is. A product
 * that waits is looked at only where `waits`, which computes it. Of many results with NaN or infinity the first ones
 * are. TS_ND_UNDERFLOW is not found. */
TS_API TS_CHECKED ts_status ts_nd_product_faults(ts_nd *const x[3], bool has_rows, bool has_columns, bool waits,
                                                 uint32_t *faults, ts_error *err);
/* Whether it is one that runs at once. */
TS_API bool ts_nd_product_is_direct(const ts_nd *a, const ts_nd *b);

/* A product of two matrices of float32 or float64 in host memory, for which there are loops: by all threads, each
 * element summed with k ascending by fma. In three steps, since it may take long: a client that has a lock around calls
 * on the graph needs it for begin and end, and none while it runs. Zeros are no job. */
typedef struct ts_nd_matrices {
    ts_nd *array[3]; /* a, b, the result; held */
    ts_buffer *buffer[3];
    void *data[3];
} ts_nd_matrices;
/* Whether it is such a product, of more multiplications than ts_nd_product() is for. */
TS_API bool ts_nd_matrices_are(const ts_nd *a, const ts_nd *b);
/* Computes what both wait for and makes the result. Owns: *job, ended by ts_nd_matrices_end. Errors: TS_VALUE. */
TS_API TS_CHECKED ts_status ts_nd_matrices_begin(ts_nd *a, ts_nd *b, ts_nd_matrices *job, ts_error *err);
TS_API TS_CHECKED ts_status ts_nd_matrices_run(const ts_nd_matrices *job, ts_error *err);
/* Owns: *result, the product; where `result` is NULL that goes. */
TS_API void ts_nd_matrices_end(ts_nd_matrices *job, ts_nd **result);

/* ---- elements at places -------------------------------------------------------------------------- */

/* Few elements of host memory, at once and without a kernel. What is no such call is left: *done false, or *result
 * NULL, without an error; the functions below do it. Arrays that are read-only, places out of range are among these.
 *
 * The element `offset` bytes behind the first one becomes a number, without a fault that NumPy would tell of. */
TS_API TS_CHECKED ts_status ts_nd_set(ts_nd *a, int64_t offset, const ts_nd_operand *number, bool *done,
                                      ts_error *err);
/* Rows along an axis, of 2^22 elements in all and of more where few threads would do it, sorted: *values, and where
 * each came from, *places, either of which may be NULL, not wanted. Equal ones stay in their order; every NaN is last.
 * With `kth` from 0 on, at least that place has what belongs there, and what is before and behind it belongs there; -1:
 * all have. Owns: both, new arrays that lie row-major. */
TS_API TS_CHECKED ts_status ts_nd_order(ts_nd *a, uint32_t axis, bool descending, int64_t kth, ts_nd **values,
                                        ts_nd **places, ts_error *err);
/* The different elements of an array of one axis, sorted, and what else is wanted, as bits: where each occurs first,
 * which of them each element of the array is, how often each occurs. `equal_nan`: NaN is one of them, else each NaN is.
 * Owns: results[0], the elements; [1], [2] and [3], of int64, what is wanted; others are NULL, and all are where these
 * are no such numbers of host memory, or too many. */
enum { TS_ND_FIRST = 1, TS_ND_INVERSE = 2, TS_ND_COUNTS = 4 };
TS_API TS_CHECKED ts_status ts_nd_unique(ts_nd *a, uint32_t wants, bool equal_nan, ts_nd *results[4], ts_error *err);
/* Whether each element of an array is among those of another one of the same dtype and one axis: of integers of host
 * memory that are close together. *result NULL: these are others. Owns: *result, of bool. */
TS_API TS_CHECKED ts_status ts_nd_among(ts_nd *a, ts_nd *others, ts_nd **result, ts_error *err);
/* Each part along an axis as often as counts say, int64, one for each or one for all. *result NULL: it is no array of
 * host memory that lies row-major, or a count is negative. Owns: *result, a new array. */
TS_API TS_CHECKED ts_status ts_nd_repeat(ts_nd *a, ts_nd *counts, uint32_t axis, ts_nd **result, ts_error *err);
/* Bools of the last axis as bits, eight to a byte, the last byte filled with zeros, or (not `packs`) the bits of bytes
 * as bytes; the first one is a byte's highest, or lowest (`little`). *result NULL: it is no such array of host memory
 * that lies row-major. Owns: *result, of uint8. */
TS_API TS_CHECKED ts_status ts_nd_bits(ts_nd *a, bool packs, bool little, ts_nd **result, ts_error *err);
/* Sums of products of a vector with `count` stretches of another one, which begin at `begin`, `begin` + 1, ...; what
 * lies outside takes no part. *result NULL: they are not vectors of one dtype of 4 or 8 bytes, in host memory without
 * gaps, or threads take less time. Owns: *result. */
TS_API TS_CHECKED ts_status ts_nd_slide(ts_nd *a, ts_nd *v, int64_t begin, int64_t count, ts_nd **result,
                                        ts_error *err);
/* How many elements of a sorted array of one axis are below each key, or not above it (`right`). Owns: *result, of
 * int64. */
TS_API TS_CHECKED ts_status ts_nd_search(ts_nd *a, ts_nd *keys, bool right, ts_nd **result, ts_error *err);
/* A part of an array, as ts_nd_view() takes it: bytes behind the first element, extents, steps in bytes. */
typedef struct ts_nd_part {
    int64_t offset;
    uint32_t rank;
    const int64_t *shape, *strides;
} ts_nd_part;
/* The part becomes an array's elements, which are broadcast to it: of the same dtype, in memory of their own, or the
 * part itself, for which nothing is to be done. */
TS_API TS_CHECKED ts_status ts_nd_fill(ts_nd *a, const ts_nd_part *part, ts_nd *value, bool *done, ts_error *err);
/* Elements at places that arrays of one shape say, each along an axis of the part, counted from the end where they are
 * negative. In the result the axes of the indices stand in place of the first of theirs, or in `front`. */
typedef struct ts_nd_pick {
    ts_nd_part part;
    uint32_t n;
    ts_nd *const *indices;
    const uint32_t *axes;
    bool front;
} ts_nd_pick;
/* Owns: *result, a new array. */
TS_API TS_CHECKED ts_status ts_nd_pick_from(ts_nd *a, const ts_nd_pick *pick, ts_nd **result, ts_error *err);
/* One after the other: an array of the dtype, broadcast to the result's shape, or a number. */
TS_API TS_CHECKED ts_status ts_nd_pick_to(ts_nd *a, const ts_nd_pick *pick, const ts_nd_operand *values, bool *done,
                                          ts_error *err);
/* a[key] = f(a[key], value), one after the other, so that equal places count as often as they occur; any number of
 * elements. Values as above; dtypes and functions as of ts_nd_walk(). Faults are the graph's. */
TS_API TS_CHECKED ts_status ts_nd_pick_with(ts_nd *a, ts_nd_fn fn, const ts_nd_pick *pick, const ts_nd_operand *values,
                                            bool *done, ts_error *err);
/* A function of two elements along an axis, in order, in host memory: of the elements of each segment that `begins`, of
 * int64, says, which ends where the next one begins and has one element at least; NULL: of the first elements, for each
 * number of them. *result NULL: there is no loop for the function and dtype (add, subtract, multiply, divide, maximum,
 * minimum, fmax, fmin, bitwise_*, logical_*, of numbers of 8 bits and more but float16), or a segment begins outside.
 * Owns: *result, a new array of a's dtype. Faults are the graph's. */
TS_API TS_CHECKED ts_status ts_nd_walk(ts_nd *a, ts_nd_fn fn, uint32_t axis, ts_nd *begins, ts_nd **result,
                                       ts_error *err);
/* a[indices], rows along the first axis, which may be counted from the end. Owns: *result, a new array. */
TS_API TS_CHECKED ts_status ts_nd_take(ts_nd *a, ts_nd *indices, ts_nd **result, ts_error *err);
/* a[indices] = values, one after the other: an array of the rows' dtype and shape, or a number. `indices` may be a mask
 * of a's shape, for an array of values, of any number, or for a number. */
TS_API TS_CHECKED ts_status ts_nd_put(ts_nd *a, ts_nd *indices, const ts_nd_operand *values, bool *done,
                                      ts_error *err);

/* How often each number of 0 to the greatest occurs in x, int64 of one axis, `least` numbers at least; with
 * `weights`, float64 of as many elements, their sums, added in order. In host memory; *result is NULL elsewhere, and of
 * other dtypes.
 * Owns: *result, a new array, int64 or float64. Errors: TS_VALUE (a negative number). */
TS_API TS_CHECKED ts_status ts_nd_count(ts_nd *x, ts_nd *weights, int64_t least, ts_nd **result, ts_error *err);
/* *n = how many elements of x are not 0; -1: of other memory than the host's, with gaps, of another kind of dtype. */
TS_API TS_CHECKED ts_status ts_nd_count_nonzero(ts_nd *x, int64_t *n, ts_error *err);
/* Which of even bins each number of x lies in, float32 or float64 of one axis; `edges`: of all bins, of x's dtype,
 * without gaps; `width`: of all, for which numbers count as float64, or 0: that of the edges, and they count as
 * themselves. A bin has its left edge, the last one both; what lies in none gets their number. *result NULL: as
 * ts_nd_count. Owns: *result, a new array of int64. */
TS_API TS_CHECKED ts_status ts_nd_bins(ts_nd *x, ts_nd *edges, double width, ts_nd **result, ts_error *err);

/* result[i] = the element `offsets[i]` elements behind element [0, ...] of `from`; they must lie inside, which nobody
 * checks here. `offsets` is int64. Owns: *result, a new reference. */
TS_API TS_CHECKED ts_status ts_nd_gather(ts_nd *from, ts_nd *offsets, ts_nd **result, ts_error *err);
/* The numbers first, first + 1, .. of int64, n of them, which take no memory until it is wanted. Owns: *result. */
TS_API TS_CHECKED ts_status ts_nd_iota(ts_nd_graph *graph, int64_t first, int64_t n, ts_nd **result, ts_error *err);
/* The other way: writes `values`, broadcast to the shape of `offsets`, into `to`, at once. Of values that go to one
 * place the last one stays, in row-major order; UNIQUE of `flags` promises that no two do, BY_ALL lets all blocks of
 * the device write where one might be quicker. Errors: TS_VALUE (read-only). */
TS_API TS_CHECKED ts_status ts_nd_scatter(ts_nd *to, ts_nd *offsets, ts_nd *values, uint32_t flags, ts_error *err);
enum { TS_ND_UNIQUE = 1, TS_ND_BY_ALL = 2 };
/* The elements of `from` where `mask`, bool and of as many elements, is true, in row-major order; `from` NULL: their
 * places among all elements, int64. Its length is read from the device. Owns: *result, a new array of one axis.
 * Errors: TS_VALUE. */
TS_API TS_CHECKED ts_status ts_nd_compress(ts_nd *from, ts_nd *mask, ts_nd **result, ts_error *err);

#ifdef __cplusplus
}
#endif
#endif
