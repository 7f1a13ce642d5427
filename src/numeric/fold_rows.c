/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions along short rows: nodes of the graph, so that what is computed of their results is part of the same kernel
 * (group.c), whose tiles hold whole rows. And what reductions are computed in (fold.c).
 */
#include "numeric/group.h"

/* Integers of a row that a tile holds whole at most (sums of rows of 16,384 on an H200: int32 3,822 -> 4,339 GB/s, int8
 * 1,050 -> 2,411). */
enum { ROW_INTEGERS = 1 << 12 };

bool ts__nd_fold_is_arg(ts_nd_fold fold)
{
    return fold == TS_ND_ARGMAX || fold == TS_ND_ARGMIN;
}

bool ts__nd_fold_has_index(ts_nd_fold fold)
{
    return ts__nd_fold_is_arg(fold) || fold == TS_ND_SPREAD;
}

/* The dtype of accumulators: narrow floats are summed in float32, but for running sums, which are all stored. GPUs,
 * which compute in no bytes, would extend both of two bytes each time. */
ts_dtype ts__nd_fold_loop(const ts_nd_reduction *r, bool is_scan)
{
    bool is_byte = !r->dtype && ts_dtype_bytes((ts_dtype)r->x->dtype) == 1 && r->x->dtype != TS_DTYPE_bool_;
    if (!is_scan && !ts__nd_is_host(r->x->graph) && is_byte && (r->fold == TS_ND_MAX || r->fold == TS_ND_MIN))
        return TS_DTYPE_int32;
    bool narrow = !is_scan && (r->dtype == TS_DTYPE_float16 || r->dtype == TS_DTYPE_bfloat16);
    if (r->fold == TS_ND_ALL || r->fold == TS_ND_ANY)
        return TS_DTYPE_bool_;
    if (r->fold == TS_ND_SUM || r->fold == TS_ND_PROD || r->fold == TS_ND_SPREAD)
        return narrow ? TS_DTYPE_float32 : r->dtype ? r->dtype : (ts_dtype)r->x->dtype;
    return r->dtype && !ts__nd_fold_is_arg(r->fold) ? r->dtype : (ts_dtype)r->x->dtype;
}

/* Whether GPUs, which add 64 bits in two instructions, may add up so many elements of a dtype in int32. */
bool ts__nd_fold_fits_word(const ts_nd_graph *graph, ts_nd_fold fold, uint32_t from, ts_dtype loop, int64_t n)
{
    uint32_t bytes = (uint32_t)ts_dtype_bytes((ts_dtype)from);
    return fold == TS_ND_SUM && !ts__nd_is_host(graph) && strchr("iub", nd_kind((ts_dtype)from)) && bytes <= 2 &&
           (loop == TS_DTYPE_int64 || loop == TS_DTYPE_uint64) && n <= INT32_MAX >> 8 * bytes;
}

/* Whether tiles hold whole rows: several short ones. It depends on shape and dtype alone, as the order of sums does.
 * Along more axes than a kernel has they may not join, and a fold is computed of copies that do (fold.c). */
bool ts__nd_fold_is_row(const ts_nd_reduction *r)
{
    if (r->x->rank > TS_MAX_RANK && ts__nd_is_host(r->x->graph))
        return false;
    int64_t whole = ND_ROW_BYTES / TS_MAX(4, (int64_t)ts_dtype_bytes(ts__nd_fold_loop(r, false)));
    if (!ts__nd_is_host(r->x->graph) && strchr("iub", nd_kind((ts_dtype)r->x->dtype)))
        whole = ROW_INTEGERS; /* they seldom meet their row again */
    int64_t row = 1, most = whole, kept = 1;
    for (uint32_t d = 0; d < r->x->rank; d++) {
        bool folded = r->axes >> d & 1;
        int64_t extent = ts_nd_shape(r->x)[d];
        kept *= folded ? 1 : extent;
        row *= folded ? nd_up(TS_MIN(extent, 2 * whole)) : 1;
        if (row > whole)
            return false;
        if (extent > 1)
            most = folded ? whole : ND_COLUMN;
    }
    return r->x->count && !r->where && !ts__nd_fold_has_index(r->fold) && kept > 1 && row > 1 && row <= most;
}

/* The node of a fold along rows; `out` has the shape of x with extent 1 along them. */
static ts_status row_node(const ts_nd_reduction *r, const ts_nd *out, nd_node **result, ts_error *err)
{
    nd_node *node = ts__nd_node_new(r->x->graph, TS_ND_copy, r->x->rank, ts_nd_shape(r->x));
    *result = node;
    if (!node)
        return ts_fail(err, TS_NOMEM, "out of memory for an array");
    node->fold = (uint8_t)(r->fold + 1);
    node->loop = (uint8_t)ts__nd_fold_loop(r, false);
    if (ts__nd_fold_fits_word(r->x->graph, r->fold, r->x->dtype, (ts_dtype)node->loop, ROW_INTEGERS))
        node->loop = TS_DTYPE_int32;
    node->dtype = out->dtype;
    node->n_in = node->weight = 1;
    node->is_narrow = true;
    node->rows = r->axes;
    for (uint32_t d = 0; d < node->rank; d++)
        node->order[d] = r->axes >> d & 1 ? 0 : ts_nd_strides(out)[d];
    return ts__nd_take_array(node, 0, r->x, err);
}

static ts_status row_now(nd_node *node, ts_nd *out, ts_error *err)
{
    nd_group group;
    TS_TRY(ts__nd_store_fill(out->store, err));
    ts_buffer *buffer = out->store->buffer;
    ts__nd_group_begin(&group, out->graph, node);
    if (!ts__nd_group_add(&group, node) ||
        !ts__nd_group_store(&group, node, ts_buffer_data(buffer), buffer, node->order))
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    out->graph->stats.n_nodes += group.n_nodes;
    return ts__nd_group_run(&group, err);
}

ts_status ts__nd_fold_row(const ts_nd_reduction *r, ts_nd *out, ts_error *err)
{
    nd_node *node;
    ts_nd_graph *graph = r->x->graph;
    bool waits = r->x->count > graph->small && !r->x->store->lasting;
    ts_status status = row_node(r, out, &node, err);
    if (status == TS_OK && waits) {
        node->references++;
        ts__nd_store_set(out->store, node);
        status = ts__nd_flush_full(graph, err);
    } else if (status == TS_OK)
        status = row_now(node, out, err);
    ts__nd_node_release(graph, node);
    return status;
}
