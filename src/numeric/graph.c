/* SPDX-License-Identifier: Apache-2.0
 *
 * Storages, arrays and the list of what waits. A node is in the list while some storage has it as its value; without
 * one it lives on as an operand of others, or goes: what nobody can read any more is never computed.
 */
#include "numeric/numeric.h"
#include <stdlib.h>

/* Headers of few axes are of one size, so that they can be kept; so are nodes. */
static size_t nd_bytes(uint32_t rank)
{
    return sizeof(ts_nd) + sizeof(int64_t) * 2 * TS_MAX(rank, ND_SPARE_RANK);
}

static size_t node_bytes(uint32_t rank)
{
    return sizeof(nd_node) + sizeof(int64_t) * TS_MAX(rank, ND_SPARE_RANK) * (2 + ND_INPUTS);
}

/* ---- graphs -------------------------------------------------------------------------------------- */

ts_status ts_nd_graph_create(ts_device *device, ts_nd_graph **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, device);
    ts_nd_graph *graph = ts__new(device->alloc, sizeof *graph);
    if (!graph)
        return ts_fail(err, TS_NOMEM, "out of memory for a graph of arrays");
    bool on_host = ts_device_caps_of(device) & TS_DEVICE_HOST_MEMORY;
    *graph = (ts_nd_graph){.device = device, .alloc = device->alloc, .small = on_host ? 1024 : 512, .round = 1};
    graph->last = &graph->first;
    *out = graph;
    return TS_OK;
}

void ts_nd_graph_destroy(ts_nd_graph *graph)
{
    if (!graph)
        return;
    ts_nd_graph_destroy(graph->near);
    ts__nd_kernels_destroy(graph);
    ts_buffer_release(graph->counters);
    ts_program_destroy(graph->matrices);
    ts_array_release(graph->flags);
    while (graph->spare.n_buffers)
        ts_buffer_release(graph->spare.buffers[--graph->spare.n_buffers]);
    while (graph->spare.n_stores)
        ts__delete(graph->alloc, graph->spare.stores[--graph->spare.n_stores], sizeof(ts_nd_store));
    while (graph->spare.n_nodes)
        graph->alloc->resize(graph->alloc->user, graph->spare.nodes[--graph->spare.n_nodes], node_bytes(0), 0);
    while (graph->spare.n_headers)
        graph->alloc->resize(graph->alloc->user, graph->spare.headers[--graph->spare.n_headers], nd_bytes(0), 0);
    ts__delete(graph->alloc, graph, sizeof *graph);
}

ts_device *ts_nd_graph_device(const ts_nd_graph *graph)
{
    return graph->device;
}

uint32_t ts_nd_graph_faults(ts_nd_graph *graph)
{
    uint32_t faults = graph->faults;
    graph->faults = 0;
    return faults;
}

void ts_nd_graph_strict(ts_nd_graph *graph, bool strict)
{
    graph->strict = strict;
}

int64_t ts_nd_graph_small(ts_nd_graph *graph, int64_t small)
{
    int64_t before = graph->small;
    if (small >= 0)
        graph->small = small;
    return before;
}

void ts_nd_graph_stats(const ts_nd_graph *graph, ts_nd_stats *out)
{
    *out = graph->stats;
    out->n_waiting = graph->n_waiting;
}

/* ---- nodes --------------------------------------------------------------------------------------- */

void ts__nd_clear(void *to, size_t bytes)
{
    memset(to, 0, bytes);
}

nd_node *ts__nd_node_new(ts_nd_graph *graph, ts_nd_fn fn, uint32_t rank, const int64_t *shape)
{
    nd_spare *spare = &graph->spare;
    nd_node *node = rank <= ND_SPARE_RANK && spare->n_nodes ? spare->nodes[--spare->n_nodes]
                        : graph->alloc->resize(graph->alloc->user, NULL, 0, node_bytes(rank));
    if (!node)
        return NULL;
    ts__nd_clear(node, sizeof *node);
    node->references = 1;
    node->fn = (uint16_t)fn;
    node->rank = (uint8_t)rank;
    node->count = 1;
    node->place = graph->watch ? graph->watch->place : 0;
    node->shape = (int64_t *)(node + 1);
    node->order = node->shape + rank;
    for (int i = 0; i < ND_INPUTS; i++)
        node->strides[i] = node->order + (1 + i) * (int64_t)rank;
    for (uint32_t d = 0; d < rank; d++) {
        node->shape[d] = shape[d];
        node->count *= shape[d];
    }
    return node;
}

void ts__nd_node_release(ts_nd_graph *graph, nd_node *node)
{
    if (!node || --node->references)
        return;
    for (int i = 0; i < ND_INPUTS; i++) {
        if (node->in[i].kind == ND_IN_NODE)
            ts__nd_node_release(graph, node->in[i].node);
        if (node->in[i].kind == ND_IN_LOAD)
            ts_buffer_release(node->in[i].buffer);
    }
    ts_buffer_release(node->done);
    if (node->rank <= ND_SPARE_RANK && graph->spare.n_nodes < ND_SPARE_HEADERS)
        graph->spare.nodes[graph->spare.n_nodes++] = node;
    else
        graph->alloc->resize(graph->alloc->user, node, node_bytes(node->rank), 0);
}

/* ---- storages ------------------------------------------------------------------------------------ */

/* The storage's value is another one from now on, or none. */
void ts__nd_store_set(ts_nd_store *store, nd_node *node)
{
    ts_nd_graph *graph = store->graph;
    nd_node *old = store->value;
    store->value = node;
    if (old) {
        *old->link = old->next;
        if (old->next)
            old->next->link = old->link;
        else
            graph->last = old->link;
        old->store = NULL;
        old->next = NULL;
        graph->n_waiting--;
        ts__nd_node_release(graph, old);
    }
    if (node) {
        node->store = store;
        node->link = graph->last;
        *graph->last = node;
        graph->last = &node->next;
        graph->n_waiting++;
    }
}

void ts__nd_store_wait_last(ts_nd_store *store)
{
    nd_node *node = store->value;
    node->references++;
    ts__nd_store_set(store, NULL);
    ts__nd_store_set(store, node);
}

static ts_nd_store *store_new(ts_nd_graph *graph, int64_t bytes, ts_error *err)
{
    nd_spare *spare = &graph->spare;
    ts_nd_store *store = spare->n_stores ? spare->stores[--spare->n_stores] : ts__new(graph->alloc, sizeof *store);
    if (!store) {
        (void)ts_fail(err, TS_NOMEM, "out of memory for an array");
        return NULL;
    }
    *store = (ts_nd_store){.references = 1, .graph = graph, .bytes = bytes};
    return store;
}

/* Keeps the small buffer of a storage that ends, if nobody else knows it, in the place of the one kept longest. */
static bool spare_takes(ts_nd_store *store)
{
    nd_spare *spare = &store->graph->spare;
    ts_buffer *buffer = store->buffer;
    if (store->bytes > ND_SPARE_BYTES || store->lasting || !ts__buffer_is_alone(buffer) ||
        !(ts_device_caps_of(store->graph->device) & TS_DEVICE_HOST_MEMORY))
        return false;
    if (spare->n_buffers == ND_SPARE_BUFFERS) {
        ts_buffer_release(spare->buffers[0]);
        memmove(spare->buffers, spare->buffers + 1, --spare->n_buffers * sizeof buffer);
    }
    spare->buffers[spare->n_buffers++] = buffer;
    return true;
}

/* A buffer of so many bytes that was kept; NULL: there is none. */
static ts_buffer *spare_buffer(ts_nd_graph *graph, uint64_t bytes)
{
    nd_spare *spare = &graph->spare;
    for (uint32_t i = spare->n_buffers; i-- > 0;) {
        ts_buffer *buffer = spare->buffers[i];
        if (buffer->bytes != bytes || !ts__buffer_is_there(buffer))
            continue;
        memmove(spare->buffers + i, spare->buffers + i + 1, (--spare->n_buffers - i) * sizeof buffer);
        return buffer;
    }
    return NULL;
}

static void store_release(ts_nd_store *store)
{
    if (--store->references)
        return;
    ts__nd_store_set(store, NULL);
    if (store->is_unread)
        ts__nd_event_unread(store);
    if (store->buffer && !spare_takes(store))
        ts_buffer_release(store->buffer);
    nd_spare *spare = &store->graph->spare;
    if (spare->n_stores < ND_SPARE_HEADERS)
        spare->stores[spare->n_stores++] = store;
    else
        ts__delete(store->graph->alloc, store, sizeof *store);
}

ts_status ts__nd_store_fill(ts_nd_store *store, ts_error *err)
{
    return store->buffer ? TS_OK : ts__nd_store_memory(store, &store->buffer, err);
}

/* Three digits of a size in the unit that it is less than 1,024 of: "298. GiB". */
static void store_size(ts_text *text, int64_t bytes)
{
    static const char units[][4] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes / 1024;
    uint32_t unit = 0;
    if (bytes < 1024) {
        ts__text_printf(text, "%d bytes", (int)bytes);
        return;
    }
    for (; size >= 1023.5 && unit + 1 < TS_COUNT(units); unit++)
        size /= 1024;
    ts__text_printf(text, size < 999.5 ? "%#.3g %s" : "%#.0f %s", size, units[unit]);
}

/* Host memory that there is not, in NumPy's words; the first array of the storage says its shape. */
static ts_status store_fail(const ts_nd_store *store, ts_error *err)
{
    const ts_nd *a = store->arrays;
    ts_text text;
    for (const ts_nd *next = a; next; next = next->next)
        a = ts__nd_is_whole(next) ? next : a;
    if (!a || !a->dtype || !ts__nd_is_whole(a))
        return ts_fail(err, TS_NOMEM, "out of host memory for an array of %lld bytes", (long long)store->bytes);
    ts__text_init(&text, NULL);
    ts__text_puts(&text, "Unable to allocate ");
    store_size(&text, store->bytes);
    ts__text_puts(&text, " for an array with shape (");
    for (uint32_t d = 0; d < a->rank; d++)
        ts__text_printf(&text, d ? ", %lld" : "%lld", (long long)ts_nd_shape(a)[d]);
    ts__text_printf(&text, "%s) and data type %s", a->rank == 1 ? "," : "", ts__nd_dtype_name((ts_dtype)a->dtype));
    ts_status status = ts_fail(err, TS_NOMEM, "%s", ts__text_get(&text));
    ts__text_deinit(&text);
    return status;
}

ts_status ts__nd_store_memory(const ts_nd_store *store, ts_buffer **out, ts_error *err)
{
    uint64_t bytes = (uint64_t)TS_MAX(store->bytes, 1);
    *out = spare_buffer(store->graph, bytes);
    ts_status status = *out ? TS_OK : ts_buffer_create(store->graph->device, NULL, bytes, out, err);
    return status == TS_NOMEM && ts__nd_is_host(store->graph) ? store_fail(store, err) : status;
}

/* ---- arrays -------------------------------------------------------------------------------------- */

ts_status ts__nd_new(ts_nd_graph *graph, ts_nd_store *store, int64_t offset, ts_dtype dtype, uint32_t rank,
                     const int64_t *shape, const int64_t *strides, uint32_t flags, ts_nd **out, ts_error *err)
{
    nd_spare *spare = &graph->spare;
    ts_nd *a = rank <= ND_SPARE_RANK && spare->n_headers ? spare->headers[--spare->n_headers]
                   : graph->alloc->resize(graph->alloc->user, NULL, 0, nd_bytes(rank));
    *out = NULL;
    if (!a)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    *a = (ts_nd){.graph = graph, .store = store, .offset = offset, .count = 1, .references = 1,
                 .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .flags = (uint8_t)flags,
                 .item = dtype ? (uint32_t)ts_dtype_bytes(dtype) : 0, .dims = (int64_t *)(a + 1),
                 .next = store->arrays, .link = &store->arrays};
    store->arrays = a;
    if (a->next)
        a->next->link = &a->next;
    for (uint32_t d = 0; d < rank; d++) {
        a->dims[d] = shape[d];
        a->dims[rank + d] = strides[d];
        a->count *= shape[d];
    }
    graph->n_arrays++;
    *out = a;
    return TS_OK;
}

void ts_nd_retain(ts_nd *a)
{
    a->references++;
}

void ts_nd_release(ts_nd *a)
{
    if (!a || --a->references)
        return;
    ts_nd_graph *graph = a->graph;
    graph->n_arrays--;
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    store_release(a->store);
    if (a->rank <= ND_SPARE_RANK && graph->spare.n_headers < ND_SPARE_HEADERS)
        graph->spare.headers[graph->spare.n_headers++] = a;
    else
        graph->alloc->resize(graph->alloc->user, a, nd_bytes(a->rank), 0);
}

bool ts__nd_dense(uint32_t item, uint32_t rank, const int64_t *shape, const uint8_t *order, int64_t *strides,
                  int64_t *count, int64_t *bytes)
{
    int64_t stride = item, n = 1;
    bool is_empty = false;
    for (uint32_t i = rank; i-- > 0;) {
        uint32_t d = order ? order[i] : i;
        int64_t extent = TS_MAX(shape[d], 1);
        strides[d] = stride;
        is_empty |= shape[d] == 0;
        if (__builtin_mul_overflow(stride, extent, &stride) || __builtin_mul_overflow(n, extent, &n))
            return false;
    }
    *count = is_empty ? 0 : n;
    *bytes = is_empty ? 0 : stride;
    return stride <= (int64_t)1 << 62;
}

/* Refuses what is the number of no dtype. */
static ts_status nd_check_dtype(const char *function, ts_dtype dtype, ts_error *err)
{
    if ((uint32_t)dtype < TS_DTYPE_COUNT && dtype != TS_DTYPE_NONE)
        return TS_OK;
    return ts_fail(err, TS_TYPE, "%s(): %u is the number of no dtype; those are 1 to %u (TS_DTYPE_..)", function,
                   (uint32_t)dtype, TS_DTYPE_COUNT - 1);
}

#define ND_MOST_BYTES ((int64_t)1 << 47) /* of an address space: more is refused at once, not when it is read */

/* `order`: as ts__nd_dense takes it. */
static ts_status nd_empty_along(ts_nd_graph *graph, ts_dtype dtype, uint32_t item, uint32_t rank, const int64_t *shape,
                                const uint8_t *order, ts_nd **out, ts_error *err)
{
    int64_t strides[TS_ND_RANK], count, bytes;
    if (!ts__nd_dense(item, rank, shape, order, strides, &count, &bytes))
        return ts_fail(err, TS_VALUE, "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum "
                       "possible size.");
    ts_nd_store *store = store_new(graph, bytes, err);
    if (!store)
        return TS_NOMEM;
    ts_status status = ts__nd_new(graph, store, 0, dtype, rank, shape, strides, 0, out, err);
    if (status != TS_OK) {
        store_release(store);
        return status;
    }
    (*out)->item = item;
    if (bytes <= ND_MOST_BYTES)
        return TS_OK;
    status = store_fail(store, err);
    ts_nd_release(*out);
    *out = NULL;
    return status;
}

ts_status ts__nd_empty_along(ts_nd_graph *graph, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                             const uint8_t *order, ts_nd **out, ts_error *err)
{
    *out = NULL;
    return nd_empty_along(graph, dtype, (uint32_t)ts_dtype_bytes(dtype), rank, shape, order, out, err);
}

static ts_status nd_empty(ts_nd_graph *graph, ts_dtype dtype, uint32_t item, uint32_t rank, const int64_t *shape,
                          bool columns, ts_nd **out, ts_error *err)
{
    uint8_t order[TS_ND_RANK];
    if (rank > TS_ND_RANK)
        return ts_fail(err, TS_VALUE, "maximum supported dimension for an ndarray is currently 64, found %u", rank);
    for (uint32_t d = 0; d < rank; d++) {
        order[d] = (uint8_t)(rank - 1 - d);
        if (shape[d] < 0)
            return ts_fail(err, TS_VALUE, "negative dimensions are not allowed");
    }
    return nd_empty_along(graph, dtype, item, rank, shape, columns ? order : NULL, out, err);
}

ts_status ts_nd_empty(ts_nd_graph *graph, ts_dtype dtype, uint32_t rank, const int64_t *shape, bool columns,
                      ts_nd **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, graph);
    TS_NEED_N(err, shape, rank);
    TS_TRY(nd_check_dtype("ts_nd_empty", dtype, err));
    return nd_empty(graph, dtype, (uint32_t)ts_dtype_bytes(dtype), rank, shape, columns, out, err);
}

ts_status ts_nd_empty_items(ts_nd_graph *graph, uint32_t item, uint32_t rank, const int64_t *shape, bool columns,
                            ts_nd **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, graph);
    TS_NEED_N(err, shape, rank);
    return nd_empty(graph, TS_DTYPE_NONE, item, rank, shape, columns, out, err);
}

ts_status ts_nd_wrap(ts_nd_graph *graph, ts_buffer *buffer, int64_t offset, ts_dtype dtype, uint32_t rank,
                     const int64_t *shape, const int64_t *strides, uint32_t flags, ts_nd **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, graph, buffer);
    TS_NEED_N(err, shape, rank);
    TS_NEED_N(err, strides, rank);
    TS_TRY(nd_check_dtype("ts_nd_wrap", dtype, err));
    ts_nd_store *store = store_new(graph, (int64_t)ts_buffer_bytes(buffer), err);
    if (!store)
        return TS_NOMEM;
    ts_status status = ts__nd_new(graph, store, offset, dtype, rank, shape, strides, flags, out, err);
    if (status == TS_OK) {
        store->buffer = buffer;
        store->lasting = !(flags & TS_ND_PRIVATE);
        ts_buffer_retain(buffer);
    } else
        store_release(store);
    return status;
}

int64_t ts_nd_store_bytes(const ts_nd *a)
{
    return a->store->bytes;
}

ts_status ts_nd_view(const ts_nd *a, int64_t offset, ts_dtype dtype, uint32_t rank, const int64_t *shape,
                     const int64_t *strides, uint32_t flags, ts_nd **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, a);
    TS_NEED_N(err, shape, rank);
    TS_NEED_N(err, strides, rank);
    if (dtype)
        TS_TRY(nd_check_dtype("ts_nd_view", dtype, err));
    TS_TRY(ts__nd_new(a->graph, a->store, a->offset + offset, dtype, rank, shape, strides, flags, out, err));
    a->store->references++;
    if (!dtype)
        (*out)->item = a->item;
    if (dtype == (ts_dtype)a->dtype)
        (*out)->meaning = a->meaning;
    else
        (*out)->flags &= (uint8_t)~TS_ND_LONGLONG;
    return TS_OK;
}

/* Strides are those of a permutation of dense axes, and the elements fill the storage. */
bool ts__nd_is_whole(const ts_nd *a)
{
    const int64_t *shape = ts_nd_shape(a), *strides = ts_nd_strides(a);
    int64_t item = a->item, reach = 0;
    if (a->offset || a->count * item != a->store->bytes)
        return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        if (shape[d] > 1 && strides[d] < item)
            return false;
        reach += shape[d] > 1 ? (shape[d] - 1) * strides[d] : 0;
    }
    return a->count == 0 || reach + item == a->store->bytes;
}

bool ts__nd_arg_at(uint32_t rank, const int64_t *shape, const int64_t *strides, ts_dtype dtype, char *data,
                   int64_t *room, ts_arg *out)
{
    int64_t unit = (int64_t)ts_dtype_bytes(dtype);
    uint32_t n = 0;
    for (uint32_t d = 0; d < rank; d++) {
        if (shape[d] == 1)
            continue;
        if (n == TS_ARRAY_RANK || strides[d] % unit)
            return false;
        room[n] = shape[d];
        room[TS_ARRAY_RANK + n++] = strides[d] / unit;
    }
    *out = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = (uint8_t)n, .value.data = data,
                    .shape = room, .strides = room + TS_ARRAY_RANK};
    return true;
}

bool ts__nd_arg(const ts_nd *a, char *data, int64_t *room, ts_arg *out)
{
    int64_t shape[TS_ND_RANK + 1], strides[TS_ND_RANK + 1];
    if (a->dtype)
        return ts__nd_arg_at(a->rank, ts_nd_shape(a), ts_nd_strides(a), (ts_dtype)a->dtype, data, room, out);
    memcpy(shape, ts_nd_shape(a), a->rank * sizeof *shape);
    memcpy(strides, ts_nd_strides(a), a->rank * sizeof *strides);
    shape[a->rank] = a->item; /* items count as their bytes, along one more axis */
    strides[a->rank] = 1;
    return ts__nd_arg_at(a->rank + 1, shape, strides, TS_DTYPE_uint8, data, room, out);
}

/* Whether the bytes from the first to the last element of two arrays meet; `at`: their first elements. */
static bool nd_meets(const ts_nd *a, const char *at_a, const ts_nd *b, const char *at_b)
{
    const ts_nd *both[] = {a, b};
    const char *low[] = {at_a, at_b}, *high[2];
    for (int i = 0; i < 2; i++) {
        const int64_t *shape = ts_nd_shape(both[i]), *strides = ts_nd_strides(both[i]);
        high[i] = low[i] + (both[i]->dtype ? ts_dtype_bytes((ts_dtype)both[i]->dtype) : both[i]->item);
        for (uint32_t d = 0; d < both[i]->rank; d++)
            *(strides[d] < 0 ? &low[i] : &high[i]) += (shape[d] - 1) * strides[d];
    }
    return low[0] < high[1] && low[1] < high[0];
}

bool ts_nd_shares(const ts_nd *a, const ts_nd *b, bool exact)
{
    int64_t one[2 * TS_ARRAY_RANK], two[2 * TS_ARRAY_RANK];
    ts_arg x, y;
    char *base_a = a->store->buffer ? ts_buffer_data(a->store->buffer) : NULL;
    char *base_b = b->store->buffer ? ts_buffer_data(b->store->buffer) : NULL;
    bool is_one = a->store == b->store;
    if (!is_one && !(a->store->lasting && b->store->lasting))
        return false;
    if (is_one)
        base_a = base_b = (char *)(uintptr_t)4096;
    if (!a->count || !b->count || !nd_meets(a, base_a + a->offset, b, base_b + b->offset))
        return false;
    if (!exact || !ts__nd_arg(a, base_a + a->offset, one, &x) || !ts__nd_arg(b, base_b + b->offset, two, &y))
        return true;
    return ts_arg_overlap(&x, &y) != TS_OVERLAP_NONE;
}

bool ts_nd_waits(const ts_nd *a)
{
    return a && a->store->value;
}
