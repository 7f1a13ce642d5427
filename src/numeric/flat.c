/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups in host memory whose places lie along more axes than a kernel has, or between elements: what they read is
 * copied row-major first, and what they write is moved from there. Then all axes are one.
 *
 *     shape (2, 2, ... 20 axes)   x, row-major; y, by turns along its axes   ─▶   x, a copy of y, each of one axis
 */
#include "numeric/numeric.h"

enum { FLAT_ITEMS = 5 /* sizes of elements: 1 to 16 bytes */ };

typedef struct flat_of {
    nd_group *group;
    uint32_t n;                               /* places that are another one */
    nd_place place[ND_GROUP_MEMORY];          /* as they were */
    ts_buffer *made[ND_GROUP_MEMORY];         /* where they are */
    int64_t strides[FLAT_ITEMS][TS_ND_RANK]; /* row-major, by the logarithm of the elements' size */
} flat_of;

/* Elements along any axes, as few as they can be joined to; steps in bytes. */
typedef struct flat_axes {
    uint32_t rank;
    int64_t shape[TS_ND_RANK], to[TS_ND_RANK], from[TS_ND_RANK];
} flat_axes;

static void flat_join(flat_axes *axes, uint32_t rank, const int64_t *shape, const int64_t *to, const int64_t *from)
{
    axes->rank = 0;
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t last = axes->rank - 1;
        if (shape[d] == 1)
            continue;
        bool one = axes->rank && axes->to[last] == to[d] * shape[d] && axes->from[last] == from[d] * shape[d];
        last += !one;
        axes->shape[last] = one ? axes->shape[last] * shape[d] : shape[d];
        axes->to[last] = to[d];
        axes->from[last] = from[d];
        axes->rank = last + 1;
    }
}

/* Elements to memory that overlaps nothing of theirs. */
static void flat_move(size_t item, uint32_t rank, const int64_t *shape, char *to, const int64_t *to_strides,
                      const char *from, const int64_t *from_strides)
{
    flat_axes axes;
    nd_move inner = {.item = item};
    int64_t at[TS_ND_RANK] = {0};
    flat_join(&axes, rank, shape, to_strides, from_strides);
    uint32_t outer = axes.rank > ND_MOVE_AXES ? axes.rank - ND_MOVE_AXES : 0, d;
    inner.rank = axes.rank - outer;
    memcpy(inner.shape, axes.shape + outer, inner.rank * sizeof *axes.shape);
    memcpy(inner.to, axes.to + outer, inner.rank * sizeof *axes.to);
    memcpy(inner.from, axes.from + outer, inner.rank * sizeof *axes.from);
    do {
        ts__nd_move(&inner, to, from);
        for (d = outer; d-- > 0;) {
            to += axes.to[d];
            from += axes.from[d];
            if (++at[d] < axes.shape[d])
                break;
            to -= axes.to[d] * at[d];
            from -= axes.from[d] * at[d];
            at[d] = 0;
        }
    } while (d != UINT32_MAX);
}

/* Operands of the group's nodes that are read at a place are read from a buffer as it lies now. */
static void flat_replace(const nd_group *group, const nd_place *place, ts_buffer *made, const int64_t *strides)
{
    size_t bytes = group->rank * sizeof *strides;
    int64_t before[TS_ND_RANK]; /* the place's own may be a node's, which change */
    memcpy(before, place->strides, bytes);
    for (uint32_t n = 0; n < group->n_nodes; n++)
        for (int i = 0; i < ND_INPUTS; i++) {
            nd_node *node = group->nodes[n];
            nd_in *in = &node->in[i];
            bool is_done = in->kind == ND_IN_NODE && in->node->done;
            const char *data = is_done ? ts_buffer_data(in->node->done) : in->data;
            if ((in->kind != ND_IN_LOAD && !is_done) || data != place->data || in->dtype != place->dtype ||
                memcmp(is_done ? in->node->order : node->strides[i], before, bytes) != 0)
                continue;
            if (is_done)
                ts__nd_node_release(group->graph, in->node);
            else
                ts_buffer_release(in->buffer);
            ts_buffer_retain(made);
            *in = (nd_in){.kind = ND_IN_LOAD, .dtype = place->dtype, .at = in->at, .buffer = made,
                          .data = ts_buffer_data(made)};
            memcpy(node->strides[i], strides, bytes);
        }
}

/* A place of the group, row-major. */
static ts_status flat_place(flat_of *f, nd_place *place, ts_error *err)
{
    nd_group *group = f->group;
    size_t item = ts_dtype_bytes((ts_dtype)place->dtype);
    const int64_t *strides = f->strides[ts_log2(item)];
    ts_buffer *made;
    if (memcmp(place->strides, strides, group->rank * sizeof *strides) == 0)
        return TS_OK;
    TS_TRY(ts_buffer_create(group->graph->device, NULL, (uint64_t)group->nodes[0]->count * item, &made, err));
    f->place[f->n] = *place;
    f->made[f->n++] = made;
    if (!place->store) {
        flat_move(item, group->rank, group->shape, ts_buffer_data(made), strides, place->data, place->strides);
        flat_replace(group, place, made, strides);
    }
    *place = (nd_place){ts_buffer_data(made), made, strides, place->dtype, place->store};
    return TS_OK;
}

static void flat_end(flat_of *f, ts_status status)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const nd_place *place = &f->place[i];
        size_t item = ts_dtype_bytes((ts_dtype)place->dtype);
        if (status == TS_OK && place->store)
            flat_move(item, f->group->rank, f->group->shape, place->data, place->strides,
                            ts_buffer_data(f->made[i]), f->strides[ts_log2(item)]);
        ts_buffer_release(f->made[i]);
    }
}

ts_status ts__nd_group_run_flat(nd_group *group, ts_error *err)
{
    flat_of f; /* large, and filled as far as it is used */
    int64_t count, bytes;
    ts_status status = TS_OK;
    if (group->rows || !ts__nd_is_host(group->graph))
        return ts_fail(err, TS_UNSUPPORTED, "arrays whose strides are no multiples of their elements, or with more "
                       "than %d axes that do not lie as one, are not supported yet; copy them first", TS_MAX_RANK);
    f.group = group;
    f.n = 0;
    for (uint32_t i = 0; i < FLAT_ITEMS; i++)
        (void)ts__nd_dense(1u << i, group->rank, group->shape, NULL, f.strides[i], &count, &bytes);
    for (uint32_t p = 0; p < group->n_places && status == TS_OK; p++)
        status = flat_place(&f, &group->places[p], err);
    if (status == TS_OK)
        status = ts__nd_group_run(group, err);
    flat_end(&f, status);
    return status;
}
