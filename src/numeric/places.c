/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements at places that arrays say: gather is a node like others, so that index arithmetic is part of its kernel;
 * scatter is a kernel of its own. Where two values may go to one place, one block walks all tiles in order.
 */
#include "numeric/group.h"

ts_status ts_nd_gather(ts_nd *from, ts_nd *offsets, ts_nd **result, ts_error *err)
{
    ts_nd *first;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, from, offsets);
    TS_TRY(ts__nd_meet_few(offsets->count, (ts_nd *const[]){from, offsets}, 2, err));
    TS_TRY(ts__nd_numbers(from, "gather", err));
    TS_TRY(ts_nd_view(from, 0, (ts_dtype)from->dtype, 0, NULL, NULL, 0, &first, err));
    ts_nd_call call = {.fn = TS_ND_gather, .in = {{.array = first}, {.array = offsets}}};
    ts_status status = ts_nd_run(from->graph, &call, result, err);
    ts_nd_release(first);
    if (status == TS_OK)
        nd_means(*result, from);
    return status;
}

typedef struct places_scatter {
    group_kernel k;
    uint32_t to, value, offsets; /* the place; nodes of the group */
    bool unique;
} places_scatter;

/* Tiles in row-major order: axes from `d` on by loops, as the grid has one block. */
static void places_walk(group_build *g, ts_builder *b, const places_scatter *s, uint32_t d)
{
    ts_type index = g->k->index;
    if (d == g->e.rank) {
        ts__nd_build_values(g, b);
        ts__nd_build_told(g, b);
        ts__nd_build_scatter(g, b, s->to, s->value, s->offsets);
        return;
    }
    ts_val zero = ts_int(b, index, 0), one = ts_int(b, index, 1);
    ts_val loop = ts_for_begin(b, zero, ts__nd_build_tiles(g, b, d), one, 0, NULL, 0);
    g->at[d] = ts_region_arg(g->e.fn, loop, 0);
    places_walk(g, b, s, d + 1);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end_like(b, loop);
}

static void places_write(void *user, ts_module *module, ts_builder *b)
{
    const places_scatter *s = user;
    const ts_alloc *alloc = s->k.group->graph->alloc;
    group_build *g = ts__nd_build_begin(&s->k, "scatter", module, b);
    if (!g)
        return;
    if (s->unique) {
        ts__nd_build_place_in_grid(g, b);
        ts__nd_build_values(g, b);
        ts__nd_build_told(g, b);
        ts__nd_build_scatter(g, b, s->to, s->value, s->offsets);
    } else
        places_walk(g, b, s, 0);
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}

static ts_status places_run(places_scatter *s, nd_group *group, ts_error *err)
{
    nd_launch launch;
    int64_t grid[3] = {1, 1, 1};
    s->k.group = group;
    if (!ts__nd_axes_of(group, 0, &s->k.axes))
        return ts_fail(err, TS_UNSUPPORTED, "indices with more than %d axes that do not lie as one", TS_MAX_RANK);
    ts__nd_kernel_tiles(&s->k);
    ts__nd_kernel_places(&s->k);
    s->k.own = 0;
    if (s->unique)
        ts__nd_kernel_grid(&s->k, 2, grid);
    launch.n = launch.n_key = 0;
    launch.apart = launch.brief = false;
    ts__nd_launch_key(&launch, s->unique ? 'S' : 's');
    ts__nd_kernel_key(&s->k, &launch);
    ts__nd_kernel_args(&s->k, &launch);
    group->graph->stats.bytes += ts__nd_group_bytes(&s->k);
    return ts__nd_group_done(group, ts__nd_launch_run(group->graph, &launch, grid, places_write, s, err));
}

static ts_status places_into(ts_nd *to, nd_node *value, nd_node *offsets, bool unique, ts_error *err)
{
    static const int64_t none[TS_ND_RANK];
    nd_group group;
    places_scatter s = {.unique = unique};
    void *data;
    ts_buffer *buffer;
    TS_TRY(ts__nd_memory(to, TS_ND_CAUSE_places, false, &data, &buffer, err));
    ts__nd_group_begin(&group, to->graph, value);
    bool fits = ts__nd_group_add(&group, value);
    s.value = group.n_nodes - 1;
    fits = fits && ts__nd_group_add(&group, offsets);
    s.offsets = group.n_nodes - 1;
    s.to = group.n_places;
    if (!fits || !ts__nd_group_store(&group, value, data, buffer, none))
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    return places_run(&s, &group, err);
}

ts_status ts_nd_scatter(ts_nd *to, ts_nd *offsets, ts_nd *values, uint32_t flags, ts_error *err)
{
    nd_node *value = NULL, *places = NULL;
    ts_nd *own = values;
    TS_NEED(err, to, offsets, values);
    TS_TRY(ts__nd_meet_few(offsets->count, (ts_nd *const[]){to, offsets, values}, 3, err));
    if (to->flags & TS_ND_READONLY)
        return ts_fail(err, TS_VALUE, "assignment destination is read-only");
    if (!offsets->count)
        return TS_OK;
    TS_TRY(ts__nd_numbers(to, "scatter", err));
    TS_TRY(ts__nd_numbers(values, "scatter", err));
    TS_TRY(ts__nd_same_device(to->graph, offsets, "scatter", err));
    TS_TRY(ts__nd_same_device(to->graph, values, "scatter", err));
    TS_TRY(ts__nd_flush(to->graph, TS_ND_CAUSE_part, err)); /* nothing that waits may read what changes */
    if (ts_nd_shares(to, values, false)) {
        ts_nd_call call = {.fn = TS_ND_copy, .in = {{.array = values}}};
        TS_TRY(ts_nd_run(to->graph, &call, &own, err));
    }
    ts_status status = ts__nd_value_node(own, (ts_dtype)to->dtype, offsets, &value, err);
    if (status == TS_OK)
        status = ts__nd_value_node(offsets, TS_DTYPE_int64, offsets, &places, err);
    if (status == TS_OK)
        status = places_into(to, value, places, flags & TS_ND_UNIQUE, err);
    ts__nd_node_release(to->graph, value);
    ts__nd_node_release(to->graph, places);
    if (own != values)
        ts_nd_release(own);
    return status;
}
