/* SPDX-License-Identifier: Apache-2.0
 *
 * What waits becomes groups, one kernel each: nodes of one shape whose values lie in one order of axes, in the order of
 * their calls, with all that they are computed of. A value that a storage has is stored; others stay in registers.
 *
 *     b = a * 2           node 1     b is read later: stored
 *     c = b + 1           node 2     } one group: loads a; stores b and d
 *     d = sqrt(c)         node 3     c is gone: not stored
 */
#include "numeric/numeric.h"

void ts__nd_group_begin(nd_group *group, ts_nd_graph *graph, const nd_node *like)
{
    group->graph = graph;
    group->rank = like->rank;
    group->shape = like->shape;
    group->n_nodes = group->n_places = group->n_numbers = group->n_kept = 0;
    group->kept_args = 0;
    group->rows = 0;
    group->is_apart = false;
    group->tells = group->in_order = false;
}

static bool group_has(const nd_group *group, const nd_node *node)
{
    return node->at < group->n_nodes && group->nodes[node->at] == node;
}

/* *at: which place it is, where there is room for it. */
static bool group_place(nd_group *group, nd_place place, uint8_t *at)
{
    uint32_t i = 0;
    for (; i < group->n_places; i++) {
        const nd_place *p = &group->places[i];
        if (p->data == place.data && p->dtype == place.dtype && p->store == place.store &&
            nd_same(group->rank, p->strides, place.strides))
            break;
    }
    if (i == group->n_places && i + group->n_kept == ND_GROUP_MEMORY)
        return false;
    if (i == group->n_places)
        group->places[group->n_places++] = place;
    *at = (uint8_t)i;
    return true;
}

/* Where a node that was computed in an earlier group lies. */
static nd_place group_done(const nd_node *node)
{
    return (nd_place){ts_buffer_data(node->done), node->done, node->order, node->dtype, NULL};
}

static bool group_add(nd_group *group, nd_node *node);

static bool group_add_in(nd_group *group, nd_node *node, int i)
{
    nd_in *in = &node->in[i];
    switch (in->kind) {
    case ND_IN_NODE:
        return in->node->done ? group_place(group, group_done(in->node), &in->at) : group_add(group, in->node);
    case ND_IN_LOAD:
        return group_place(group, (nd_place){in->data, in->buffer, node->strides[i], in->dtype, NULL}, &in->at);
    case ND_IN_NUMBER:
        if (group->n_numbers == TS_COUNT(group->numbers))
            return false;
        in->at = (uint8_t)group->n_numbers;
        group->numbers[group->n_numbers++] = in;
        return true;
    default: return true;
    }
}

static bool group_add(nd_group *group, nd_node *node)
{
    if (group_has(group, node))
        return true;
    for (int i = 0; i < ND_INPUTS; i++)
        if (!group_add_in(group, node, i))
            return false;
    if (group->n_nodes == ND_GROUP_NODES)
        return false;
    node->at = (uint8_t)group->n_nodes;
    group->nodes[group->n_nodes++] = node;
    group->rows |= node->is_narrow ? node->rows : 0;
    group->tells |= node->told != 0;
    return true;
}

/* As much of a group as a node is added to. */
typedef struct cut_size {
    uint32_t nodes, places, numbers, kept, kept_args;
    uint64_t rows;
    bool tells;
} cut_size;

static cut_size cut_size_of(const nd_group *group)
{
    return (cut_size){group->n_nodes, group->n_places,   group->n_numbers, group->n_kept,
                      group->kept_args, group->rows, group->tells};
}

static void cut_back(nd_group *group, const cut_size *size)
{
    group->n_nodes = size->nodes, group->n_places = size->places, group->n_numbers = size->numbers;
    group->n_kept = size->kept, group->kept_args = size->kept_args;
    group->rows = size->rows;
    group->tells = size->tells;
}

bool ts__nd_group_add(nd_group *group, nd_node *node)
{
    cut_size before = cut_size_of(group);
    if (group_add(group, node))
        return true;
    cut_back(group, &before);
    return false;
}

/* Arguments of a place: its address, and a step along each axis where it makes one, but for one axis that it lies dense
 * along. Axes that are joined make them fewer. */
static uint32_t group_place_args(const nd_group *group, ts_dtype dtype, const int64_t *strides)
{
    uint32_t n = 1, dense = 0;
    for (uint32_t d = 0; d < group->rank; d++) {
        n += group->shape[d] != 1 && strides[d];
        dense |= group->shape[d] != 1 && strides[d] == (int64_t)ts_dtype_bytes(dtype);
    }
    return n - dense;
}

/* Whether a launch has room for all arguments, those of kept places too. */
static bool group_fits(const nd_group *group)
{
    uint32_t n = group->tells + group->kept_args + TS_MAX(group->rank, 1) + 2 * group->n_numbers;
    if (n + group->n_places * (1 + group->rank) <= TS_LAUNCH_ARGS)
        return true;
    n = group->tells + group->kept_args + TS_MAX(group->rank, 1) + group->n_numbers;
    for (uint32_t i = 0; i < group->n_numbers; i++)
        n += nd_kind((ts_dtype)group->numbers[i]->dtype) == 'c';
    for (uint32_t i = 0; i < group->n_places; i++)
        n += group_place_args(group, (ts_dtype)group->places[i].dtype, group->places[i].strides);
    return n <= TS_LAUNCH_ARGS;
}

bool ts__nd_group_add_root(nd_group *group, nd_node *node)
{
    cut_size before = cut_size_of(group);
    bool is_first = !group->n_kept;
    if (!ts__nd_group_add(group, node))
        return false;
    group->kept_args += group_place_args(group, (ts_dtype)node->dtype, node->order);
    group->n_kept++;
    if (group->n_places + group->n_kept <= ND_GROUP_MEMORY && (is_first || group_fits(group)))
        return true;
    cut_back(group, &before);
    return false;
}

bool ts__nd_group_store(nd_group *group, nd_node *node, char *data, ts_buffer *buffer, const int64_t *strides)
{
    uint8_t at;
    group->n_kept -= group->n_kept > 0;
    return group_place(group, (nd_place){data, buffer, strides, node->dtype, node}, &at);
}

/* ---- all that waits ------------------------------------------------------------------------------ */

/* `like`: a node of the group that is not narrow, or its only ones. Rows of a group are along the same axes. */
static bool cut_fits(const nd_group *group, const nd_node *like, const nd_node *node)
{
    bool same_rows = !group->rows || !node->rows || group->rows == node->rows;
    return node->rank == group->rank && same_rows && nd_same(like->rank, node->shape, like->shape) &&
           nd_same_order(node, like);
}

/* Whether an operand of some node in the group is read from this buffer in another way than element for element. */
static bool cut_reads_otherwise(const nd_group *group, const ts_buffer *buffer, const int64_t *order)
{
    for (uint32_t i = 0; i < group->n_places; i++) {
        const nd_place *p = &group->places[i];
        if (p->buffer == buffer && !p->store && (p->data != ts_buffer_data(buffer) ||
                                                 memcmp(p->strides, order, group->rank * sizeof *order) != 0))
            return true;
    }
    return false;
}

static uint32_t cut_references(const ts_buffer *buffer)
{
    return atomic_load_explicit(&buffer->references, memory_order_relaxed);
}

/* References that operands of the group's nodes hold. */
static uint32_t cut_own_references(const nd_group *group, const ts_buffer *buffer)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->n_nodes; i++)
        for (int k = 0; k < ND_INPUTS; k++)
            n += group->nodes[i]->in[k].kind == ND_IN_LOAD && group->nodes[i]->in[k].buffer == buffer;
    return n;
}

/* Memory for the value of a node: its storage's old one where nothing else reads that, else new. */
static ts_status cut_target(nd_group *group, nd_node *node, ts_buffer **out, ts_error *err)
{
    ts_nd_store *store = node->store;
    bool is_free = store->buffer && cut_references(store->buffer) == 1 + cut_own_references(group, store->buffer) &&
                   !cut_reads_otherwise(group, store->buffer, node->order);
    *out = is_free ? store->buffer : NULL;
    if (!is_free)
        return ts__nd_store_memory(store, out, err);
    ts_buffer_retain(*out);
    return TS_OK;
}

uint32_t ts__nd_group_keep(nd_group *group, const nd_node *gone, nd_node **roots, ts_buffer **targets)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->n_nodes && n < ND_WAITING; i++) {
        nd_node *node = group->nodes[i];
        uint32_t n_places = group->n_places;
        if (!node->store || node->is_narrow || node == gone)
            continue;
        if (ts__nd_store_memory(node->store, &targets[n], NULL) != TS_OK)
            break;
        if (!ts__nd_group_store(group, node, ts_buffer_data(targets[n]), targets[n], node->order) ||
            !group_fits(group)) {
            group->n_places = n_places;
            ts_buffer_release(targets[n]);
            break;
        }
        roots[n++] = node;
    }
    return n;
}

void ts__nd_group_kept(const nd_group *group, ts_status status, nd_node **roots, ts_buffer **targets, uint32_t n)
{
    for (uint32_t i = 0; i < n && status != TS_OK; i++)
        ts_buffer_release(targets[i]);
    if (status != TS_OK)
        return;
    for (uint32_t i = 0; i < n; i++) {
        nd_node *node = roots[i];
        ts_nd_store *store = node->store;
        ts_buffer_release(store->buffer);
        store->buffer = targets[i];
        store->is_unread = group->graph->watch != NULL;
        store->place = node->place;
        if (node->references > 1) {
            node->done = targets[i];
            ts_buffer_retain(targets[i]);
        }
        ts__nd_store_set(store, NULL);
    }
    group->graph->stats.n_nodes += group->n_nodes;
}

/* One group of the list from a node on, or the value of that node alone. */
static ts_status cut_one(ts_nd_graph *graph, const nd_node *first, bool alone, ts_error *err)
{
    nd_group group;
    nd_node *roots[ND_WAITING + 1];
    ts_buffer *targets[ND_WAITING + 1];
    uint32_t n = 0, n_targets = 0;
    ts_status status = TS_OK;
    const nd_node *like = first;
    ts__nd_group_begin(&group, graph, like);
    for (nd_node *node = (nd_node *)(uintptr_t)first; node && n <= ND_WAITING && !(alone && n);
         node = node->next) {
        if (!cut_fits(&group, like, node))
            continue;
        if (!ts__nd_group_add_root(&group, node))
            break;
        like = like->is_narrow ? node : like;
        roots[n++] = node;
    }
    if (!n)
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    for (uint32_t i = 0; i < group.n_nodes; i++)
        if (group.nodes[i]->quick[0])
            ts__nd_quick_computed(graph, group.nodes[i], group.n_nodes == 1);
    for (; n_targets < n && status == TS_OK; n_targets++) {
        nd_node *node = roots[n_targets];
        status = cut_target(&group, node, &targets[n_targets], err);
        if (status == TS_OK)
            (void)ts__nd_group_store(&group, node, ts_buffer_data(targets[n_targets]), targets[n_targets], node->order);
    }
    if (status != TS_OK)
        n_targets--;
    else if (group.nodes[0]->count)
        status = ts__nd_group_run(&group, err);
    ts__nd_group_kept(&group, status, roots, targets, n_targets);
    return status;
}

/* Where a group failed, each value is computed alone, in the order of their calls: those that fail go on waiting. The
 * status is that of the last of them. */
static ts_status cut_rest(ts_nd_graph *graph, ts_error *err)
{
    ts_status status = TS_OK;
    for (uint32_t n = graph->n_waiting; n-- && graph->first;) {
        nd_node *node = graph->first;
        ts_error own;
        node->references++;
        ts_status one = cut_one(graph, node, true, &own);
        if (one != TS_OK && node->store) {
            ts__nd_store_wait_last(node->store);
            status = one;
            if (err)
                *err = own;
        }
        ts__nd_node_release(graph, node);
        if (one == TS_INTERRUPTED)
            break;
    }
    return status;
}

ts_status ts__nd_flush(ts_nd_graph *graph, ts_nd_cause cause, ts_error *err)
{
    ts_status status = TS_OK;
    bool any = graph->first != NULL;
    uint64_t before = graph->stats.bytes;
    nd_event event = nd_event_begin(graph);
    nd_round(graph);
    while (graph->first && status == TS_OK)
        status = cut_one(graph, graph->first, false, err);
    if (status != TS_OK && status != TS_INTERRUPTED)
        status = cut_rest(graph, err);
    nd_event_end(graph, &event, any ? TS_ND_EVENT_cut : TS_ND_EVENT_NONE, ts_nd_cause_get(cause)->name,
                 graph->stats.bytes - before);
    return status;
}

ts_status ts__nd_flush_full(ts_nd_graph *graph, ts_error *err)
{
    ts_status status = graph->n_waiting >= ND_WAITING ? ts__nd_flush(graph, TS_ND_CAUSE_full, err) : TS_OK;
    return status == TS_INTERRUPTED ? status : TS_OK; /* who reads a value that failed is told */
}

/* Whether a value, or what it is computed of, reads memory of a buffer, which another buffer may know too. Nodes with
 * the mark do not. */
static bool cut_reads(nd_node *node, const ts_buffer *buffer, uint32_t mark)
{
    if (node->mark == mark)
        return false;
    node->mark = mark;
    const char *begin = ts_buffer_data(buffer), *end = begin + ts_buffer_bytes(buffer);
    for (int i = -1; i < ND_INPUTS; i++) {
        const nd_in *in = i < 0 ? NULL : &node->in[i];
        const ts_buffer *read = !in ? node->done : in->kind == ND_IN_LOAD ? in->buffer : NULL;
        const char *data = read ? ts_buffer_data(read) : end;
        if (data < end && begin < data + ts_buffer_bytes(read))
            return true;
        if (in && !node->done && in->kind == ND_IN_NODE && cut_reads(in->node, buffer, mark))
            return true;
    }
    return false;
}

/* The first value that waits and reads the storage's memory, or is to be its contents; NULL: there is none. */
static nd_node *cut_reader(const ts_nd_store *store)
{
    nd_node *node = store->value;
    uint32_t mark = ++store->graph->mark;
    for (nd_node *n = store->graph->first; n && !node && store->buffer; n = n->next)
        node = cut_reads(n, store->buffer, mark) ? n : NULL;
    return node;
}

ts_status ts__nd_settle(const ts_nd *to, ts_nd_cause cause, ts_error *err)
{
    const ts_nd_store *store = to->store;
    bool is_alone = !store->buffer || cut_references(store->buffer) == 1;
    if (!store->graph->first || (is_alone && !store->lasting && !store->value))
        return TS_OK;
    ts_status status = ts__nd_flush(store->graph, cause, err);
    if (status == TS_OK || status == TS_INTERRUPTED)
        return status;
    for (nd_node *node; (node = cut_reader(store));)
        TS_TRY(cut_one(store->graph, node, true, err)); /* its own reason */
    return TS_OK;
}

ts_status ts__nd_compute(ts_nd *a, ts_nd_cause cause, ts_error *err)
{
    const ts_nd_store *store = a->store;
    nd_round(a->graph);
    ts_status status = store->value ? ts__nd_flush(a->graph, cause, err) : TS_OK;
    if (status == TS_INTERRUPTED)
        return status;
    if (status == TS_OK || !store->value)
        return TS_OK;
    return cut_one(a->graph, store->value, true, err); /* its own reason */
}

ts_status ts_nd_flush(ts_nd_graph *graph, ts_error *err)
{
    TS_NEED(err, graph);
    if (graph->near)
        TS_TRY(ts__nd_flush(graph->near, TS_ND_CAUSE_flush, err));
    return ts__nd_flush(graph, TS_ND_CAUSE_flush, err);
}

ts_status ts_nd_memory(ts_nd *a, bool lasting, void **data, ts_buffer **buffer, ts_error *err)
{
    TS_NEED(err, a, data);
    nd_event event = nd_event_begin(a->graph);
    bool is_first = lasting && !a->store->lasting;
    ts_status status = ts__nd_memory(a, TS_ND_CAUSE_memory, lasting, data, buffer, err);
    nd_event_end(a->graph, &event, is_first ? TS_ND_EVENT_exposed : TS_ND_EVENT_NONE, NULL, nd_size_of(a));
    return status;
}

ts_status ts__nd_memory(ts_nd *a, ts_nd_cause cause, bool lasting, void **data, ts_buffer **buffer, ts_error *err)
{
    TS_TRY(ts__nd_compute(a, cause, err));
    TS_TRY(ts__nd_store_fill(a->store, err));
    a->store->lasting |= lasting;
    a->store->is_unread = false;
    *data = (char *)ts_buffer_data(a->store->buffer) + a->offset;
    if (buffer)
        *buffer = a->store->buffer;
    return TS_OK;
}
