/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the arrays that compute: storages, nodes of the graph, and who does what.
 *
 *   promote.c   dtypes: NEP 50, casting, the loop of a function
 *   graph.c     storages, arrays, views; what waits
 *   call.c      one call: dtypes, shapes, overlap, a node
 *   repeat.c    a call whose result has elements that lie at one place
 *   cut.c       nodes of one shape -> a group: what it reads, computes and stores, its axes, its key
 *   group.c     a group -> axes, key, IR (group.h)
 *   flat.c      groups of host memory that lie along too many axes
 *   loop.c      the same for processors: IR of loops over rows, without tiles
 *   kernels.c   kernels by key, launches
 *   emit*.c     what each function computes, as IR
 *   fold.c      reductions
 *   fold_direct.c   those whose order cannot be seen, of rows of host memory, without a kernel
 *   fold_sums.c     sums and products of complex numbers, running ones of all, of host memory
 *   product.c   products of vectors and small matrices
 *   matrix.c    products of matrices in host memory; matrix_loops.def: its loops for one width of vectors
 *   places.c    elements at places that arrays say
 *   check.c     division by zero and its like, of few elements
 *   check_fold.c   what went wrong in reductions of few
 *   check_product.c   the same in products, in host memory
 *   tell.c      the same, of many, by their kernels
 *   quick.c     small calls that look like one before
 *   compress.c  elements where a mask is true
 *   mask.c      the same in host memory
 *   direct.c    few elements of host memory, without a kernel
 *   pick.c      the same at places that several arrays say
 *   order.c     numbers of host memory, sorted
 *   order_vector.c   the same by vectors, rows side by side (order.h)
 *   count.c     how often numbers occur, and in which bins
 *   move.c      arrays to other devices, elements to host memory
 *   near.c      storages of a GPU that wait in host memory for calls on few elements
 *   watch.c     events, for tools
 *   items.c     arrays of bytes that are no numbers
 *
 * A storage is memory with, at times, a value that waits: the node that will compute its whole contents. Nodes are
 * values: they never change, and read buffers that nobody writes to while they wait. So a call that replaces all of a
 * storage's contents gives it another node, and a call that writes to a part of it, or to memory that others see,
 * first computes what waits.
 */
#ifndef TS_NUMERIC_NUMERIC_H
#define TS_NUMERIC_NUMERIC_H

#include "array/array.h"
#include "base/base.h"
#include "tessera/ir.h"
#include "tessera/numeric.h"

enum {
    ND_INPUTS = 5,      /* of a node: three operands, the mask of where=, what `out` held */
    ND_WAITING = 24,    /* nodes that wait, before all are computed */
    ND_WEIGHT = 40,     /* nodes and loads that one value is computed of: a 3 x 3 stencil with weights is 29 */
    ND_GROUP_NODES = ND_WAITING + ND_WEIGHT,
    ND_GROUP_MEMORY = 48, /* places that a group reads and writes */
    ND_KEY = 32 + 4 * ND_GROUP_MEMORY + 16 * ND_GROUP_NODES, /* bytes that say which kernel it is */
    ND_TILE = 1024,       /* elements of a tile of a kernel */
    ND_SQUARE = 64,       /* a side of its tiles where places lie transposed to each other */
    ND_ROW_BYTES = 1 << 17, /* of a row that one tile holds, so that its fold can be used in the same kernel */
    ND_COLUMN = 64        /* the same, of rows that do not lie along the last axis */
};

typedef struct nd_node nd_node;

/* An operand of a node. */
typedef struct nd_in {
    enum { ND_IN_NONE, ND_IN_NODE, ND_IN_LOAD, ND_IN_NUMBER } kind;
    uint8_t dtype;
    uint8_t at;        /* in the group that its node was added to last: its place, or its number (nd_group) */
    nd_node *node;     /* NODE: counted; of the same shape and order of axes */
    ts_buffer *buffer; /* LOAD: counted */
    char *data;        /* LOAD: of element [0, ...]; strides in the node's `strides` */
    uint64_t bits[2];  /* NUMBER, in `dtype`; the imaginary part second */
} nd_in;

/* A value that waits, or the one that is being computed.
 *
 * Rows: a fold along axes, as the maximum of each row, is a node of its operand's shape whose value is the same all
 * along these axes: it is narrow. So are functions of narrow values and numbers. Functions of narrow values and others
 * are nodes like any; a kernel with narrow ones holds whole rows in its tiles.
 *
 *     m = x.max(axis=1, keepdims=True)    (2000, 1) for the user; a node of (2000, 500), narrow along axis 1
 *     y = x - m                           a node of (2000, 500)
 */
struct nd_node {
    uint32_t references, mark; /* mark: of the count of values that met it last (call.c) */
    uint16_t fn;
    uint8_t loop, dtype, n_in; /* dtypes of the computation and of the result */
    uint8_t rank, has_where, weight;
    uint8_t at;    /* in the group that it was added to last: which node it is */
    uint8_t fold;  /* 0: a function of elements; else the ts_nd_fold + 1 of operand 0 along `rows` */
    bool is_narrow;
    bool is_now;   /* it runs at once, into a place that is there: its operands may lie in any order */
    bool is_apart; /* is_now: what it reads of the buffer that it writes to lies elsewhere in it */
    uint8_t told; /* faults (TS_ND_DIVIDE ..) that its kernel tells of (tell.c) */
    uint64_t rows; /* bits: axes along which it, or a value that it is computed of, is narrow */
    uint64_t quick[2]; /* the key of calls that look like its own (nd_quick); 0: none */
    int64_t count;
    uint32_t place;         /* of the call, where the graph is watched */
    ts_nd_store *store;     /* whose value it is; NULL: of none any more */
    ts_buffer *done;        /* computed: here, as the storage of a new array of this shape and order */
    nd_node *next, **link;  /* of the graph's list, while it has a store */
    nd_in in[ND_INPUTS];    /* operands; then mask and old contents if has_where */
    int64_t *shape, *order; /* extents; strides in bytes of the result, 0 along axes where it is narrow */
    int64_t *strides[ND_INPUTS]; /* of a LOAD, bytes */
};

struct ts_nd_store {
    uint32_t references;
    uint32_t place;    /* of the call whose value was stored here, while the graph was watched */
    bool lasting;      /* its memory is known outside */
    bool is_unread;    /* that value has not been read */
    uint8_t slot;      /* `early`: of the nd_quick that computed it */
    uint32_t early;    /* its contents could have waited: the graph's round in which they were computed; 0: no */
    uint8_t carried;   /* how often it came near (near.c) */
    uint32_t touched;  /* what calls cost since, that cost less there */
    ts_nd_graph *graph;
    ts_buffer *buffer; /* NULL: no memory yet */
    nd_node *value;    /* what its contents are going to be; NULL: the buffer holds them */
    ts_nd *arrays;     /* the first of its list */
    int64_t bytes;
};

enum { ND_LOOP_BITS = 7 };
/* The dtypes of calls of one function on operands of these dtypes (call.c). */
typedef struct nd_loop {
    uint32_t key; /* 0: none */
    uint8_t loop, result;
} nd_loop;

enum { ND_LONE = 2, ND_QUICK_BITS = 8, ND_QUICK_SHAPE = 6, ND_QUICK_AXES = 4, ND_NOTE_WORDS = 32 };
/* What is known of calls that look alike (quick.c). */
typedef struct nd_quick {
    uint64_t key[2]; /* 0: none */
    ts_program *program; /* NULL: not known yet */
    uint8_t loop, result;
    int8_t lone; /* of large calls: so often was such a value computed alone, up to ND_LONE */
    uint8_t look; /* what must be fine (nd_look), else faults are looked for */
    bool tells;  /* its kernel tells of faults */
} nd_quick;
/* The program and the words of the last launch, where they were wanted. */
typedef struct nd_note {
    bool wanted;
    ts_program *program;
    uint32_t n;
    uint64_t words[ND_NOTE_WORDS];
    int64_t grid[3];
} nd_note;

/* What arrays and nodes that ended leave for new ones: headers, storages, nodes, in host memory small buffers. */
enum { ND_SPARE_HEADERS = 32, ND_SPARE_RANK = 4, ND_SPARE_BUFFERS = 8, ND_SPARE_BYTES = 1 << 15 };
typedef struct nd_spare {
    uint32_t n_headers, n_stores, n_nodes, n_buffers;
    ts_nd *headers[ND_SPARE_HEADERS];
    nd_node *nodes[ND_SPARE_HEADERS];
    ts_nd_store *stores[ND_SPARE_HEADERS];
    ts_buffer *buffers[ND_SPARE_BUFFERS]; /* the one kept longest first */
} nd_spare;

struct ts_nd_graph {
    ts_nd_graph *near, *far; /* of a GPU's graph: that of host memory; of this one: the GPU's. NULL: none */
    uint32_t reads;          /* of elements of a storage before it comes near; 0: as its bytes say */
    uint32_t n_inside;       /* calls at work, during which no storage moves; of the GPU's graph */
    ts_device *device;
    const ts_alloc *alloc;
    nd_node *first, **last; /* nodes with a store, in the order of their calls */
    uint32_t n_waiting, n_arrays, mark;
    uint32_t round; /* grows where what waits is computed */
    int64_t small;
    ts_nd_stats stats;
    bool may_wait;   /* on memory known outside too: the caller computes at once */
    bool strict;     /* calls run at once and are looked at for faults, however large */
    uint32_t faults; /* of calls since they were asked for */
    uint8_t wants;   /* faults that kernels of calls from now on tell of */
    bool underflows; /* strict calls are looked at for them, too */
    bool is_late;    /* such kernels were launched since the flags were looked at */
    ts_array *flags; /* tell.c; NULL: none was wanted yet */
    struct nd_kernels *kernels; /* group.c */
    ts_module *module;
    ts_builder *builder;
    ts_buffer *counters;  /* fold.c; NULL: none yet */
    ts_program *matrices; /* matrix.c; NULL: none yet */
    int32_t units;        /* threads that it may have */
    ts_nd_watch *watch;   /* NULL: nobody is told of events */
    int64_t inside_ns;    /* watch.c */
    uint64_t told_bytes;  /* of stats.bytes, those of kernels that were told of */
    nd_spare spare;
    nd_note note;
    nd_quick quick[1 << ND_QUICK_BITS];
    nd_loop loops[1 << ND_LOOP_BITS];
};

/* What numeric.def says of missing loops. */
enum { ND_IS_NO, ND_IS_UP, ND_IS_HALF, ND_IS_DOUBLE, ND_IS_TRUTH, ND_IS_LONG };

/* Elements of a call up to which it runs at once; in host memory copies, which little is joined to, have more. */
static inline int64_t ts__nd_small(const ts_nd_graph *graph, ts_nd_fn fn)
{
    bool more = fn == TS_ND_copy && graph->small <= INT64_MAX / 4 &&
                ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY;
    return more ? 4 * graph->small : graph->small;
}
/* Bytes of the elements. */
static inline uint64_t nd_size_of(const ts_nd *a)
{
    return (uint64_t)a->count * a->item;
}
/* Whether shapes, or strides, are the same: of few axes, for which a call of memcmp takes longer. */
static inline bool nd_same(uint32_t rank, const int64_t *a, const int64_t *b)
{
    for (uint32_t d = 0; d < rank; d++)
        if (a[d] != b[d])
            return false;
    return true;
}
/* Makes memory zeros by a call of memset, where compilers would write a loop in microcode (`rep stos`) that takes 10 ns
 * to begin: of the few bytes that a call clears each time. */
void ts__nd_clear(void *to, size_t bytes);
/* The least power of two that is not less. */
static inline int64_t nd_up(int64_t extent)
{
    return extent > 1 ? (int64_t)2 << ts_log2((uint64_t)extent - 1) : 1;
}

/* ---- promote.c ----------------------------------------------------------------------------------- */

static inline char nd_kind(ts_dtype dtype)
{
    return ts_dtype_get(dtype)->kind;
}
/* The dtypes in which a function computes operands of `dtype` and gives its result. */
TS_CHECKED ts_status ts__nd_loop(ts_nd_fn fn, ts_dtype dtype, ts_dtype *loop, ts_dtype *result, ts_error *err);

/* What an operand counts as when the dtype of a call is found: where a function has loops of floats only, each integer
 * is the least float that holds it. */
ts_dtype ts__nd_operand_dtype(ts_nd_fn fn, ts_dtype dtype);
/* Names as NumPy has them in messages. */
const char *ts__nd_dtype_name(ts_dtype dtype);
const char *ts__nd_casting_name(ts_nd_casting casting);
static inline ts_nd_casting nd_casting(const ts_nd_call *call)
{
    return call->casting || call->says_casting ? call->casting : TS_ND_SAME_KIND;
}

/* ---- number.c ------------------------------------------------------------------------------------ */

/* A number of the host language in a dtype: 0; where an integer does not fit -1 if it lies below all, 1 if above; where
 * a finite number becomes an infinite float GROWS; where an integer is beyond all floats NONE. */
enum { ND_NUMBER_GROWS = 2, ND_NUMBER_NONE };
int ts__nd_number(const ts_nd_operand *number, ts_dtype dtype, uint64_t bits[2]);
/* A comparison whose second operand lies above (side 1) or below all numbers of its dtype: one that gives the same
 * answer for any first operand. */
ts_nd_fn ts__nd_compare_far(ts_nd_fn fn, int side);

/* ---- graph.c ------------------------------------------------------------------------------------- */

TS_CHECKED ts_status ts__nd_new(ts_nd_graph *graph, ts_nd_store *store, int64_t offset, ts_dtype dtype, uint32_t rank,
                                const int64_t *shape, const int64_t *strides, uint32_t flags, ts_nd **out,
                                ts_error *err);
/* Memory for a storage that has none. */
TS_CHECKED ts_status ts__nd_store_fill(ts_nd_store *store, ts_error *err);
/* A buffer of a storage's size, which is not given to it. */
TS_CHECKED ts_status ts__nd_store_memory(const ts_nd_store *store, ts_buffer **out, ts_error *err);
/* Gives a storage a value that waits, taking the node's reference. */
void ts__nd_store_set(ts_nd_store *store, nd_node *node);
void ts__nd_store_wait_last(ts_nd_store *store); /* its value goes to the end of the list of those that wait */
void ts__nd_node_release(ts_nd_graph *graph, nd_node *node);
/* Whether the array is all of its storage, each element once. */
bool ts__nd_is_whole(const ts_nd *a);
/* Axes of the result of a call, outermost first: as its operands lie, or as asked. */
void ts__nd_order_of(const ts_nd_call *call, uint32_t rank, uint8_t *order);

/* Strides of a new array, bytes: axis order[0] outermost. NULL: row-major. False if there are too many bytes. */
bool ts__nd_dense(uint32_t item, uint32_t rank, const int64_t *shape, const uint8_t *order, int64_t *strides,
                  int64_t *count, int64_t *bytes);
/* ts_nd_empty of a shape and a dtype that are known to be fine, along such an order. */
TS_CHECKED ts_status ts__nd_empty_along(ts_nd_graph *graph, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                                        const uint8_t *order, ts_nd **out, ts_error *err);
nd_node *ts__nd_node_new(ts_nd_graph *graph, ts_nd_fn fn, uint32_t rank, const int64_t *shape);
/* The array as argument of ts_arg_overlap; false where it has more axes than those know. `room` for two ranks. */
bool ts__nd_arg(const ts_nd *a, char *data, int64_t *room, ts_arg *out);
/* The same of elements that lie at `data`; strides in bytes. */
bool ts__nd_arg_at(uint32_t rank, const int64_t *shape, const int64_t *strides, ts_dtype dtype, char *data,
                   int64_t *room, ts_arg *out);

/* ---- items.c ------------------------------------------------------------------------------------- */

/* TS_TYPE where the array holds items, which nothing can be computed of; NULL holds numbers. */
TS_CHECKED ts_status ts__nd_numbers(const ts_nd *a, const char *function, ts_error *err);
/* ts_nd_to of items. */
TS_CHECKED ts_status ts__nd_items_to(ts_nd *a, ts_nd_graph *graph, ts_nd **out, ts_error *err);

/* ---- move.c -------------------------------------------------------------------------------------- */

typedef struct ts_nd_name {
    char text[16];
} ts_nd_name;
void ts__nd_device_name(const ts_nd_graph *graph, ts_nd_name *out); /* "cpu", "cuda:0" */
/* ts_nd_read, as an event of this kind. */
TS_CHECKED ts_status ts__nd_read(ts_nd *a, int64_t offset, ts_nd_event_kind kind, const char *name, void *out,
                                 ts_error *err);
bool ts__nd_is_host(const ts_nd_graph *graph); /* whether its arrays lie in host memory */
/* product.c: whether a product is of few vectors that lie densely, as rows of the matrix do. */
bool ts__nd_product_is_thin(const ts_nd *a, const ts_nd *b);
/* TS_VALUE where the array lies on another device than the graph's; NULL lies anywhere. */
TS_CHECKED ts_status ts__nd_same_device(const ts_nd_graph *graph, const ts_nd *a, const char *function, ts_error *err);

/* ---- near.c -------------------------------------------------------------------------------------- */

/* What a call costs on a GPU, in units of a launch. */
enum { ND_COSTS_LAUNCH = 1, ND_COSTS_READ = 2, ND_COSTS_RESULT = 3 };
/* A call on arrays of a graph and of the one that they are carried to. */
typedef struct nd_meeting {
    ts_nd_graph *graph; /* of the call; then where it computes */
    int64_t count;      /* elements that it computes on */
    uint32_t costs;     /* of a few of them; ND_COSTS_RESULT: its result is read, and the device waited for */
    bool looks;         /* its results are looked at for faults before it returns */
} nd_meeting;
TS_CHECKED ts_status ts__nd_meet(nd_meeting *meeting, ts_nd *const *arrays, uint32_t n, ts_error *err);
/* The same of so many elements, where the first array lies; others may be NULL. */
TS_CHECKED ts_status ts__nd_meet_few(int64_t count, ts_nd *const *arrays, uint32_t n, ts_error *err);
/* Elements of a storage are read: it is near from now on if that pays. */
void ts__nd_near_read(ts_nd *a);
/* Whether arrays of a call may have to meet: the graph is one of two, and no call is at work, whose arrays have met. */
static inline bool nd_may_meet(const ts_nd_graph *graph)
{
    return (graph->near && !graph->n_inside) || (graph->far && !graph->far->n_inside);
}
/* Around a call whose arrays have met: what it calls leaves them where they are. */
static inline void nd_inside_begin(ts_nd_graph *graph)
{
    (graph->far ? graph->far : graph)->n_inside++;
}
static inline void nd_inside_end(ts_nd_graph *graph)
{
    (graph->far ? graph->far : graph)->n_inside--;
}

/* Whether the values of two nodes of one shape lie in the same order of axes; their elements may differ in size. */
static inline bool nd_same_order(const nd_node *a, const nd_node *b)
{
    if (a->is_narrow || b->is_narrow)
        return true;
    if (a->dtype == b->dtype)
        return nd_same(a->rank, a->order, b->order);
    int64_t x = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype), y = (int64_t)ts_dtype_bytes((ts_dtype)b->dtype);
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->order[d] * y != b->order[d] * x)
            return false;
    return true;
}

/* Elements of `to` are elements of `from`: they mean the same. */
static inline void nd_means(ts_nd *to, const ts_nd *from)
{
    to->meaning = from->meaning;
    to->flags |= from->flags & TS_ND_LONGLONG;
}

/* ---- direct.c, pick.c, order.c, fold_direct.c, fold_sums.c ---------------------------------------- */

/* Elements of a dtype of ours (items have none) in host memory, and nobody is to be told of calls, which the long way
 * does. */
static inline bool nd_is_direct(const ts_nd *a)
{
    return a->dtype && !a->graph->watch && ts_device_caps_of(a->graph->device) & TS_DEVICE_HOST_MEMORY;
}

/* Whether such an array's memory holds its values, and those are all that there is to know. */
static inline bool nd_is_there(const ts_nd *a)
{
    return nd_is_direct(a) && !a->store->value && a->store->buffer && ts__buffer_is_there(a->store->buffer);
}

/* Whether what waits may read its memory, which is there and about to change. */
static inline bool nd_is_read(const ts_nd *a)
{
    return a->graph->first && (a->store->lasting ||
                               atomic_load_explicit(&a->store->buffer->references, memory_order_relaxed) != 1);
}

enum { ND_DIRECT_BYTES = 1 << 17 }; /* of a result up to which one thread is as fast as a kernel */
/* Whether axes from `first` on lie row-major without gaps. */
static inline bool nd_is_dense(const ts_nd *a, uint32_t first)
{
    int64_t step = a->item;
    for (uint32_t d = a->rank; d-- > first; step *= ts_nd_shape(a)[d])
        if (ts_nd_shape(a)[d] != 1 && ts_nd_strides(a)[d] != step)
            return false;
    return true;
}

enum { ND_MOVE_AXES = 8 };
/* Elements that go from one place to another; steps in bytes. */
typedef struct nd_move {
    uint32_t rank;
    size_t item;
    int64_t shape[ND_MOVE_AXES], to[ND_MOVE_AXES], from[ND_MOVE_AXES];
} nd_move;
void ts__nd_move(const nd_move *move, char *to, const char *from);
/* A row-major copy of few elements of host memory that lie along other axes; *result NULL: it is another one. */
TS_CHECKED ts_status ts__nd_turn(ts_nd *a, ts_nd **result, ts_error *err);
/* The element that a number becomes without anything to tell of; false: it is another kind of number. */
bool ts__nd_element(const ts_nd_operand *number, ts_dtype dtype, char element[16]);

/* A reduction of rows that lie there into `out`, dense, with extent 1 along them; *done false: this is none. Of rows
 * that a kernel could hold, with what is computed of the result (`is_row`), those of few bytes are reduced. */
TS_CHECKED ts_status ts__nd_fold_direct(const ts_nd_reduction *r, ts_nd *out, bool is_row, bool *done, ts_error *err);
/* Sums and products of complex numbers, and running ones of all numbers, into `out`; *done false: this is none. */
TS_CHECKED ts_status ts__nd_fold_sums(const ts_nd_reduction *r, ts_nd *out, bool *done, ts_error *err);
TS_CHECKED ts_status ts__nd_scan_sums(const ts_nd_reduction *r, ts_nd *out, bool *done, ts_error *err);

/* ---- watch.c ------------------------------------------------------------------------------------- */

/* An event that is going on: when it began, and the time of events inside of the one around it. Zero where nobody
 * watches. */
typedef struct nd_event {
    int64_t begun_ns, outside_ns;
} nd_event;
void ts__nd_event_begin(ts_nd_graph *graph, nd_event *event);
void ts__nd_event_end(ts_nd_graph *graph, const nd_event *event, ts_nd_event_kind kind, const char *name,
                      uint64_t bytes);
/* What a call was, as an event, and its end. */
void ts__nd_event_call(ts_nd_graph *graph, const nd_event *event, const ts_nd_call *call, const ts_nd *result);
/* The end of a storage. */
void ts__nd_event_unread(const ts_nd_store *store);
static inline nd_event nd_event_begin(ts_nd_graph *graph)
{
    nd_event event = {0, 0};
    if (graph->watch)
        ts__nd_event_begin(graph, &event);
    return event;
}
static inline void nd_event_end(ts_nd_graph *graph, const nd_event *event, ts_nd_event_kind kind, const char *name,
                                uint64_t bytes)
{
    if (graph->watch)
        ts__nd_event_end(graph, event, kind, name, bytes);
}

/* ---- call.c -------------------------------------------------------------------------------------- */

/* Operand `i` of a node, whose shape and order are set, is `a` broadcast: what it waits for becomes part of the node's
 * value, or is computed. */
TS_CHECKED ts_status ts__nd_take_array(nd_node *node, int i, ts_nd *a, ts_error *err);

/* A node whose value is `x` in another dtype, broadcast to the shape of `like`; narrow values below it are computed. */
TS_CHECKED ts_status ts__nd_value_node(ts_nd *x, ts_dtype dtype, const ts_nd *like, nd_node **out, ts_error *err);

/* ---- cut.c, group.c, kernels.c ------------------------------------------------------------------------------ */

/* ts_nd_flush and ts_nd_memory, with the reason. */
TS_CHECKED ts_status ts__nd_flush(ts_nd_graph *graph, ts_nd_cause cause, ts_error *err);
/* The same where too many nodes wait; that some cannot be computed is no error of the call at hand, but Ctrl-C is. */
TS_CHECKED ts_status ts__nd_flush_full(ts_nd_graph *graph, ts_error *err);
/* Before the array's memory changes: computes what waits, if some of it may read there. That a value cannot be computed
 * is an error if it reads there, or is to be the contents; else it goes on waiting. */
TS_CHECKED ts_status ts__nd_settle(const ts_nd *to, ts_nd_cause cause, ts_error *err);
/* Computes what an array waits for. Other values that cannot be computed go on waiting, and are no error. */
TS_CHECKED ts_status ts__nd_compute(ts_nd *a, ts_nd_cause cause, ts_error *err);
TS_CHECKED ts_status ts__nd_memory(ts_nd *a, ts_nd_cause cause, bool lasting, void **data, ts_buffer **buffer,
                                   ts_error *err);

/* Nodes of one shape with what they read and write. */
typedef struct nd_place {
    char *data;
    ts_buffer *buffer;
    const int64_t *strides; /* bytes, along the group's shape */
    uint8_t dtype;
    nd_node *store; /* NULL: it is read; else where this value goes */
} nd_place;
typedef struct nd_group {
    ts_nd_graph *graph;
    uint32_t rank, n_nodes, n_places, n_numbers;
    uint32_t n_kept, kept_args; /* places kept for values of its roots, and their arguments */
    uint64_t rows; /* of its narrow nodes; 0: it has none */
    bool is_apart; /* places of one buffer have no memory in common */
    bool tells;    /* a node has faults to tell of */
    bool in_order; /* elements are walked as the axes are written, however they lie */
    const int64_t *shape;
    nd_node *nodes[ND_GROUP_NODES]; /* operands before those who use them */
    nd_place places[ND_GROUP_MEMORY];
    const nd_in *numbers[ND_GROUP_NODES * 2];
} nd_group;
void ts__nd_group_begin(nd_group *group, ts_nd_graph *graph, const nd_node *like);
/* Adds a node with all that it needs. False: no room for it, and the group is as it was. */
bool ts__nd_group_add(nd_group *group, nd_node *node);
/* The same, and keeps room for a place for its value. False, too, where the arguments become too many for a launch,
 * unless it is the first root. */
bool ts__nd_group_add_root(nd_group *group, nd_node *node);
/* Adds a place that a node's value is written to, a kept one if there is one. */
bool ts__nd_group_store(nd_group *group, nd_node *node, char *data, ts_buffer *buffer, const int64_t *strides);
/* Stores what else the group computes and arrays wait for, but for `gone`, which would be computed once more: values as
 * far as there are memory, places and arguments; how many, up to ND_WAITING. After the run they are there, or nothing
 * was kept of them. */
uint32_t ts__nd_group_keep(nd_group *group, const nd_node *gone, nd_node **roots, ts_buffer **targets);
void ts__nd_group_kept(const nd_group *group, ts_status status, nd_node **roots, ts_buffer **targets, uint32_t n);
TS_CHECKED ts_status ts__nd_group_run(nd_group *group, ts_error *err);
/* The same where places lie along too many axes: in host memory, by row-major copies of them (flat.c). */
TS_CHECKED ts_status ts__nd_group_run_flat(nd_group *group, ts_error *err);
void ts__nd_kernels_destroy(ts_nd_graph *graph);

/* A kernel in the making: its key, and the arguments of this launch. */
typedef struct nd_launch {
    uint32_t n, n_key;
    bool apart; /* all memory is of the device's own buffers, and what is written is not read */
    bool brief; /* few elements: it ends in microseconds */
    uint8_t key[ND_KEY];
    ts_arg args[TS_LAUNCH_ARGS];
} nd_launch;
/* One more byte of the key; what is no byte, or does not fit, is a mistake of the library. */
static inline void ts__nd_launch_key(nd_launch *launch, uint32_t byte)
{
    ts_assert(byte <= UINT8_MAX && launch->n_key < ND_KEY);
    launch->key[launch->n_key++] = (uint8_t)byte;
}
enum { ND_BRIEF = 1 << 12 }; /* elements */
static inline bool nd_is_brief(const nd_group *group)
{
    return group->n_nodes && group->nodes[0]->count <= ND_BRIEF;
}
void ts__nd_launch_pointer(nd_launch *launch, char *data, ts_buffer *buffer, ts_dtype dtype);
void ts__nd_launch_scalar(nd_launch *launch, ts_dtype dtype, uint64_t bits);
void ts__nd_launch_int(nd_launch *launch, ts_type type, int64_t value); /* i32 or i64 */
void ts__nd_launch_number(nd_launch *launch, ts_dtype dtype, const uint64_t bits[2]);
struct launch_frame;
/* The program that a launch of these arguments, which was made, ran; NULL: unknown. Its words are in the frame.
 * `apart`: as if no arrays shared memory. */
ts_program *ts__nd_launch_program(const ts_device *device, const ts_kernel *kernel, const nd_launch *launch,
                                  bool apart, struct launch_frame *frame);
typedef void nd_build(void *user, ts_module *module, ts_builder *b);
/* Launches the kernel of this key, which `build` writes where it is not known yet. */
TS_CHECKED ts_status ts__nd_launch_run(ts_nd_graph *graph, nd_launch *launch, const int64_t grid[3], nd_build *build,
                                    void *user, ts_error *err);

/* ---- repeat.c ------------------------------------------------------------------------------------ */

/* Whether an axis of more than one element makes no step. */
bool ts__nd_repeats(const ts_nd *out);
/* Whether elements may have memory in common. */
bool ts__nd_overlaps(const ts_nd *out);
/* A call with an `out` that repeats, or that may overlap itself where there is a mask; *done false: its operands do not
 * fit, and nothing was done. */
TS_CHECKED ts_status ts__nd_run_last(ts_nd_graph *graph, const ts_nd_call *call, bool *done, ts_error *err);

/* ---- check.c ------------------------------------------------------------------------------------- */

typedef struct nd_check {
    bool wanted, underflows;
    char *kept, copy[8192]; /* memory that the call replaces, which was an operand, as it was; NULL: none is */
} nd_check;
void ts__nd_check_begin(nd_check *check, const nd_node *node, const ts_nd *out);
/* Faults (TS_ND_DIVIDE ..) of a node whose values are at `data`, where what does not fit in uint32 becomes NumPy's. */
uint32_t ts__nd_check_end(const nd_check *check, const nd_node *node, char *data);

bool ts__nd_check_is_safe(ts_dtype from, ts_dtype to); /* whether a cast has no faults to tell of */
bool ts__nd_check_divides(ts_nd_fn fn);                /* whether it divides, so integers have faults to tell of too */
/* The faults of an infinite result of finite numbers that is no pole: floors of floats, which NumPy takes from the
 * quotient, are invalid too, but for float16, whose quotients do not overflow before they are rounded. */
uint32_t ts__nd_check_beyond(ts_nd_fn fn, ts_dtype loop);
bool ts__nd_check_orders(ts_nd_fn fn, ts_dtype loop);   /* whether it orders complex numbers; of NaN it is invalid */

/* What says that nothing went wrong in a call without a mask: one look at all of its results, which are finite; at its
 * divisors, which are neither 0 nor -1; at its operand, which is in the range of integers. ALL: each element is looked
 * at with its operands, as where such a look finds something. */
typedef enum nd_look { ND_LOOK_NOWHERE, ND_LOOK_RESULT, ND_LOOK_DIVISORS, ND_LOOK_RANGE, ND_LOOK_ALL } nd_look;
nd_look ts__nd_check_look(ts_nd_fn fn, ts_dtype from, ts_dtype loop, ts_dtype result); /* from: of operand 0 */
/* Those looks at n elements, `step` bytes from one to the next; false where their dtype is not looked at. */
bool ts__nd_check_finite(ts_dtype dtype, int64_t n, const char *data); /* without gaps */
bool ts__nd_check_divisors(ts_dtype from, ts_dtype loop, int64_t n, const char *data, int64_t step);
bool ts__nd_check_range(ts_dtype from, ts_dtype to, int64_t n, const char *data, int64_t step);
/* An element as two doubles, enough to say what it is. */
void ts__nd_check_read(const void *data, ts_dtype dtype, double x[2]);

/* ---- check_fold.c -------------------------------------------------------------------------------- */

/* Whether the result of a reduction is one that shows faults, and is looked at for them. */
bool ts__nd_check_folds(const ts_nd_reduction *r);
/* Looks at it, where that is so; faults are the graph's. */
TS_CHECKED ts_status ts__nd_check_fold(const ts_nd_reduction *r, bool is_scan, ts_nd *out, ts_error *err);

/* ---- tell.c -------------------------------------------------------------------------------------- */

/* Whether kernels tell of faults of a function that computes in `loop`. */
bool ts__nd_tells(ts_nd_fn fn, ts_dtype loop, ts_dtype result);
/* Makes room for what they tell; false: there is no memory for it. */
bool ts__nd_tell_begin(ts_nd_graph *graph);

/* ---- quick.c ------------------------------------------------------------------------------------- */

/* An operand, or the result, of such a call. */
typedef struct nd_quick_place {
    char *data;
    const ts_nd *array;
    uint8_t dtype, lacks, unit; /* as in group_kernel */
    bool into;                  /* the result goes there */
    int64_t step[ND_QUICK_SHAPE]; /* along the call's shape, elements */
} nd_quick_place;
/* A call as it was looked at. */
typedef struct nd_quick_call {
    const ts_nd_call *call;
    uint64_t key[2];
    bool is_large, at_once; /* its elements are many; yet it does not wait */
    bool is_checked;        /* they are so few that results are looked at; else its kernel tells of faults */
    uint32_t n_dims, rank, n_places; /* places: of operands, each once, then the result's */
    uint8_t of[3];                   /* of an operand that is an array: its place */
    int64_t count, shape[ND_QUICK_SHAPE], extent[ND_QUICK_AXES], stride[4][ND_QUICK_AXES];
    nd_quick_place place[4];
} nd_quick_call;
/* False: it goes the long way. */
bool ts__nd_quick_begin(const ts_nd_graph *graph, const ts_nd_call *call, nd_quick_call *q);
/* The call, if one that looks like it is known; else *result stays NULL, its launch is noted, and ts__nd_quick_note
 * keeps it. */
TS_CHECKED ts_status ts__nd_quick_run(ts_nd_graph *graph, nd_quick_call *q, ts_nd **result, ts_error *err);
void ts__nd_quick_launched(ts_nd_graph *graph, const ts_kernel *kernel, const nd_launch *launch,
                           const int64_t grid[3]);
/* What waited is computed: the one value of a group, or one of several. */
void ts__nd_quick_computed(ts_nd_graph *graph, const nd_node *node, bool alone);
/* A value that did not wait is an operand: had it waited, both would be one group. */
void ts__nd_quick_joins(ts_nd_graph *graph, ts_nd_store *store);
/* What waits is computed now, or would be if any did. */
static inline void nd_round(ts_nd_graph *graph)
{
    graph->round += graph->round == UINT32_MAX ? 2 : 1;
}
static inline void nd_quick_operand(const ts_nd *a)
{
    if (a && a->store->early)
        ts__nd_quick_joins(a->graph, a->store);
}
void ts__nd_quick_note(ts_nd_graph *graph, nd_quick_call *q, ts_dtype loop, const ts_nd *out);
void ts__nd_quick_forget(ts_nd_graph *graph); /* the kernels go */

/* ---- mask.c -------------------------------------------------------------------------------------- */

int64_t ts__nd_mask_count(const uint8_t *mask, int64_t n); /* of true elements */
/* The `count` elements that are true, of `item` bytes, one after the other; from NULL: their places. */
void ts__nd_mask_take(ts_device *device, const void *from, const uint8_t *mask, int64_t n, int64_t count, size_t item,
                      void *out);
/* Elements that are true become the `count` values of `from`, one after the other; or all become one value. */
void ts__nd_mask_put(ts_device *device, size_t item, int64_t n, void *to, const uint8_t *mask, const void *from,
                     int64_t count);
void ts__nd_mask_fill(size_t item, int64_t n, void *to, const uint8_t *mask, const void *value);

enum { ND_MASK_RUN = 32 }; /* elements that are left out together where all are false */
/* The first element from i on that no such run of false ones begins at. */
static inline int64_t ts__nd_mask_next(const uint8_t *mask, int64_t i, int64_t n)
{
    uint64_t run[ND_MASK_RUN / 8];
    for (; i + ND_MASK_RUN <= n; i += ND_MASK_RUN) {
        memcpy(run, mask + i, sizeof run);
        if (run[0] | run[1] | run[2] | run[3])
            break;
    }
    return i;
}

/* ---- compress.c ---------------------------------------------------------------------------------- */

/* ts_nd_compress of arrays of one axis, as on devices whose memory is not the host's; `twice`: as where a result as
 * long as the mask has no memory. */
TS_CHECKED ts_status ts__nd_compress_by_kernels(ts_nd *from, ts_nd *mask, bool twice, ts_nd **result, ts_error *err);

/* ---- fold.c -------------------------------------------------------------------------------------- */

typedef struct nd_val nd_val;
typedef struct nd_emit nd_emit;
/* A tile folded along axes (bits), which stay with extent 1; what is not inside (0: all is) does not count. */
nd_val ts__nd_fold_tile(const nd_emit *e, ts_nd_fold fold, nd_val x, ts_val inside, uint32_t axes);

/* ---- emit.c -------------------------------------------------------------------------------------- */

/* A value in a kernel: complex ones as their parts. */
struct nd_val {
    ts_val re, im;
};
/* What functions are written with: a builder, the dtype of the loop, the shape of the tiles. */
struct nd_emit {
    ts_builder *b;
    ts_fn *fn;
    ts_module *module;
    ts_dtype loop;
    char kind;      /* of the loop: b i u f c */
    ts_type scalar; /* of the loop, of its part if complex */
    uint32_t rank;
    int64_t tile[TS_MAX_RANK];
};
typedef nd_val nd_emitter(const nd_emit *e, const nd_val *x);
nd_emit ts__nd_emit_at(const nd_emit *e, ts_dtype loop);
ts_type ts__nd_emit_type(const nd_emit *e, ts_type scalar); /* a tile of these elements */
nd_val ts__nd_emit_cast(const nd_emit *e, nd_val x, ts_dtype from, ts_dtype to);
/* What was loaded as a value, a value as what is stored: bools are bytes, complex numbers pairs. */
nd_val ts__nd_emit_loaded(const nd_emit *e, ts_val x, ts_dtype dtype);
ts_val ts__nd_emit_stored(const nd_emit *e, nd_val x, ts_dtype dtype);
nd_val ts__nd_emit_fn(const nd_emit *e, ts_nd_fn fn, const nd_val *x);
/* An index of an axis and its length: the place, which is below 0, or not below the length, where there is none. */
ts_val ts__nd_emit_wrapped(const nd_emit *e, const nd_val *x);
ts_type ts__nd_emit_scalar(ts_dtype dtype); /* of a dtype, or of its part */
ts_type ts__nd_memory_type(ts_dtype dtype); /* as it lies in memory */

/* emit_number.c: rows of numeric.def by name */
nd_emitter nd_emit_floor_divide, nd_emit_remainder, nd_emit_fmod, nd_emit_power, nd_emit_degrees, nd_emit_radians,
    nd_emit_logaddexp, nd_emit_logaddexp2, nd_emit_heaviside, nd_emit_nextafter, nd_emit_rint, nd_emit_floor,
    nd_emit_ceil, nd_emit_trunc, nd_emit_reciprocal, nd_emit_sign, nd_emit_left_shift, nd_emit_right_shift,
    nd_emit_divide, nd_emit_multiply, nd_emit_part_exponent, nd_emit_part_bits, nd_emit_part_divisor;

/* emit_time.c: those of times */
nd_emitter nd_emit_time_add, nd_emit_time_subtract, nd_emit_time_multiply, nd_emit_time_divide,
    nd_emit_time_floor_divide, nd_emit_time_remainder, nd_emit_time_equal,
    nd_emit_time_not_equal, nd_emit_time_less, nd_emit_time_less_equal, nd_emit_time_greater,
    nd_emit_time_greater_equal, nd_emit_time_maximum, nd_emit_time_fmin, nd_emit_time_scale,
    nd_emit_time_days_of_years, nd_emit_time_days_of_months, nd_emit_time_years_of_days,
    nd_emit_time_months_of_days;

/* Short words of emitters. */
ts_val ts__nd_emit_op1(const nd_emit *e, ts_op op, ts_val x);
ts_val ts__nd_emit_op2(const nd_emit *e, ts_op op, ts_val x, ts_val y); /* signs and rounding as the loop asks */
ts_val ts__nd_emit_is(const nd_emit *e, ts_pred pred, ts_val x, ts_val y);
ts_val ts__nd_emit_number(const nd_emit *e, double x);
ts_val ts__nd_emit_both(const nd_emit *e, ts_val c, ts_val d);
ts_val ts__nd_emit_either(const nd_emit *e, ts_val c, ts_val d);
ts_val ts__nd_emit_not(const nd_emit *e, ts_val c);
ts_val ts__nd_emit_pick(const nd_emit *e, ts_val c, ts_val x, ts_val y);
ts_val ts__nd_emit_math(const nd_emit *e, const char *name, ts_val x, ts_val y); /* of math.def; y 0: it takes one */

#endif
