/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements at places that arrays say: gather is a node like others, so that index arithmetic is part of its kernel;
 * scatter is a kernel of its own. Where two values may go to one place, the last one stays. In host memory one block
 * walks all tiles in order, and the elements of a tile are written in order, too. Elsewhere two launches over all
 * values find and write the last ones; few values for a large array, or for one without memory for `last`, are written
 * one by one:
 *
 *     offsets  2 0 2 1         last[offsets[i]] = the greatest i     last  1 3 2
 *     values   a b c d         written where last[offsets[i]] == i   to    b d c
 */
#include "numeric/group.h"

enum { PLACES_SPREAD = 1 << 20 }; /* elements to fill in the time in which one value is written */

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
    uint32_t to; /* the place */
    nd_scatter of;
    bool unique;
} places_scatter;

static bool places_on_host(const ts_nd_graph *graph)
{
    return ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY;
}

/* Tiles in row-major order: axes from `d` on by loops, as the grid has one block. */
static void places_walk(group_build *g, ts_builder *b, const places_scatter *s, uint32_t d)
{
    ts_type index = g->k->index;
    if (d == g->e.rank) {
        ts__nd_build_values(g, b);
        ts__nd_build_told(g, b);
        ts__nd_build_scatter(g, b, s->to, &s->of);
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
        ts__nd_build_scatter(g, b, s->to, &s->of);
    } else
        places_walk(g, b, s, 0);
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}

/* Tiles whose elements are written in order, one tile after the other: on the host they have several elements along the
 * last axis and those axes behind which all lies in one tile; elsewhere elements of a tile are written in any order. */
static void places_tiles_in_order(group_kernel *k)
{
    bool is_whole = places_on_host(k->group->graph);
    for (uint32_t d = k->axes.rank; d-- > 0;) {
        if (!is_whole)
            k->tile[d] = 1;
        is_whole = is_whole && k->tile[d] >= k->axes.extent[d];
    }
}

static ts_status places_run(places_scatter *s, nd_group *group, ts_error *err)
{
    nd_launch launch;
    int64_t grid[3] = {1, 1, 1};
    s->k.group = group;
    if (!ts__nd_axes_of(group, 0, &s->k.axes))
        return ts_fail(err, TS_UNSUPPORTED, "indices with more than %d axes that do not lie as one", TS_MAX_RANK);
    ts__nd_kernel_tiles(&s->k);
    if (!s->unique)
        places_tiles_in_order(&s->k);
    ts__nd_kernel_places(&s->k);
    s->k.own = 0;
    if (s->unique)
        ts__nd_kernel_grid(&s->k, 2, grid);
    launch.n = launch.n_key = 0;
    launch.apart = launch.brief = false;
    ts__nd_launch_key(&launch, s->of.is_greatest ? 'G' : s->of.is_masked ? 'M' : s->unique ? 'S' : 's');
    ts__nd_kernel_key(&s->k, &launch);
    ts__nd_kernel_args(&s->k, &launch);
    group->graph->stats.bytes += ts__nd_group_bytes(&s->k);
    return ts__nd_group_done(group, ts__nd_launch_run(group->graph, &launch, grid, places_write, s, err));
}

/* Where no two values go to one place, or the greatest may stay: `kept` (or NULL) says which are written at all. */
typedef struct places_how {
    bool unique, is_greatest;
    ts_nd *kept;
} places_how;

static ts_status places_into(ts_nd *to, nd_node *value, nd_node *offsets, nd_node *kept, const places_how *how,
                             ts_error *err)
{
    static const int64_t none[TS_ND_RANK];
    nd_group group;
    places_scatter s = {.unique = how->unique, .of = {.is_greatest = how->is_greatest, .is_masked = kept != NULL}};
    void *data;
    ts_buffer *buffer;
    TS_TRY(ts__nd_memory(to, TS_ND_CAUSE_places, false, &data, &buffer, err));
    ts__nd_group_begin(&group, to->graph, value);
    group.in_order = !how->unique;
    bool fits = ts__nd_group_add(&group, value);
    s.of.value = group.n_nodes - 1;
    fits = fits && ts__nd_group_add(&group, offsets);
    s.of.offsets = group.n_nodes - 1;
    fits = fits && (!kept || ts__nd_group_add(&group, kept));
    s.of.mask = group.n_nodes - 1;
    s.to = group.n_places;
    if (!fits || !ts__nd_group_store(&group, value, data, buffer, none))
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    return places_run(&s, &group, err);
}

static ts_status places_write_all(ts_nd *to, ts_nd *offsets, ts_nd *values, const places_how *how, ts_error *err)
{
    nd_node *value = NULL, *places = NULL, *kept = NULL;
    ts_status status = ts__nd_value_node(values, (ts_dtype)to->dtype, offsets, &value, err);
    if (status == TS_OK)
        status = ts__nd_value_node(offsets, TS_DTYPE_int64, offsets, &places, err);
    if (status == TS_OK && how->kept)
        status = ts__nd_value_node(how->kept, TS_DTYPE_bool_, offsets, &kept, err);
    if (status == TS_OK)
        status = places_into(to, value, places, kept, how, err);
    ts__nd_node_release(to->graph, value);
    ts__nd_node_release(to->graph, places);
    ts__nd_node_release(to->graph, kept);
    return status;
}

/* ---- the last value of each place ----------------------------------------------------------------- */

ts_status ts_nd_iota(ts_nd_graph *graph, int64_t first, int64_t n, ts_nd **result, ts_error *err)
{
    TS_NEED(err, graph, result);
    TS_TRY(ts_nd_empty(graph, TS_DTYPE_int64, 1, &n, false, result, err));
    ts_nd_call call = {.fn = TS_ND_iota, .in = {{.kind = 'i', .i = first}}, .out = *result};
    ts_nd *same = NULL;
    ts_status status = n ? ts_nd_run(graph, &call, &same, err) : TS_OK;
    ts_nd_release(same);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    return status;
}

/* An array's elements from the lowest one in memory to the highest, counted from its first. */
static void places_span(const ts_nd *to, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (uint32_t d = 0; d < to->rank; d++) {
        int64_t step = ts_nd_strides(to)[d] / (int64_t)ts_dtype_bytes((ts_dtype)to->dtype);
        *(step < 0 ? low : high) += step * (ts_nd_shape(to)[d] - 1);
    }
}

/* Arrays on the way to which values are the last ones of their places. */
enum { LAST_OF, LAST_PLACES, LAST_ORDER, LAST_SEEN, LAST_ARRAYS };

static ts_status places_last_of(ts_nd *offsets, int64_t low, int64_t n, ts_nd *own[LAST_ARRAYS], ts_nd **kept,
                                ts_error *err)
{
    ts_nd_graph *graph = offsets->graph;
    ts_dtype dtype = offsets->count <= INT32_MAX ? TS_DTYPE_int32 : TS_DTYPE_int64;
    places_how greatest = {.unique = true, .is_greatest = true};
    ts_nd *same = NULL, *along;
    TS_TRY(ts_nd_empty(graph, dtype, 1, &n, false, &own[LAST_OF], err));
    ts_nd_call none = {.fn = TS_ND_copy, .in = {{.kind = 'i', .i = -1}}, .out = own[LAST_OF]};
    TS_TRY(ts_nd_run(graph, &none, &same, err));
    ts_nd_release(same);
    ts_nd_call from_low = {.fn = TS_ND_subtract, .in = {{.array = offsets}, {.kind = 'i', .i = low}}};
    TS_TRY(ts_nd_run(graph, &from_low, &own[LAST_PLACES], err));
    TS_TRY(ts_nd_iota(graph, 0, offsets->count, &along, err));
    int64_t strides[TS_ND_RANK], step = 8;
    for (uint32_t d = offsets->rank; d-- > 0; step *= ts_nd_shape(offsets)[d])
        strides[d] = step;
    ts_status status = ts_nd_view(along, 0, TS_DTYPE_int64, offsets->rank, ts_nd_shape(offsets), strides, 0,
                                  &own[LAST_ORDER], err);
    ts_nd_release(along);
    TS_TRY(status);
    TS_TRY(places_write_all(own[LAST_OF], own[LAST_PLACES], own[LAST_ORDER], &greatest, err));
    TS_TRY(ts_nd_gather(own[LAST_OF], own[LAST_PLACES], &own[LAST_SEEN], err));
    ts_nd_call is_last = {.fn = TS_ND_equal, .in = {{.array = own[LAST_SEEN]}, {.array = own[LAST_ORDER]}}};
    return ts_nd_run(graph, &is_last, kept, err);
}

/* Which values are the last ones of their places: *kept; NULL where they had better be written in order. */
static ts_status places_last(ts_nd *to, ts_nd *offsets, bool by_all, ts_nd **kept, ts_error *err)
{
    int64_t low, high;
    ts_nd *own[LAST_ARRAYS] = {NULL};
    ts_error none;
    *kept = NULL;
    places_span(to, &low, &high);
    bool on_host = places_on_host(to->graph);
    if (!by_all && (on_host || (high - low) / PLACES_SPREAD >= offsets->count))
        return TS_OK;
    ts_status status = places_last_of(offsets, low, high - low + 1, own, kept, &none);
    for (uint32_t i = 0; i < LAST_ARRAYS; i++)
        ts_nd_release(own[i]);
    if (status != TS_OK && status != TS_NOMEM) /* without memory for it, they are written one by one */
        return ts_fail(err, status, "%s", none.text);
    return TS_OK;
}

/* An array, or its elements as they are now where it shares memory with what is written: *own is released then. */
static ts_status places_apart(const ts_nd *to, ts_nd *a, ts_nd **own, ts_error *err)
{
    void *there;
    *own = a;
    if (!ts_nd_shares(to, a, false))
        return TS_OK;
    ts_nd_call call = {.fn = TS_ND_copy, .in = {{.array = a}}};
    TS_TRY(ts_nd_run(to->graph, &call, own, err));
    ts_status status = ts__nd_memory(*own, TS_ND_CAUSE_part, false, &there, NULL, err); /* before anything is written */
    if (status != TS_OK)
        ts_nd_release(*own), *own = a;
    return status;
}

/* Arrays that lie in one graph and stay there; nothing that waits reads what changes. */
static ts_status places_put(ts_nd *to, ts_nd *offsets, ts_nd *values, uint32_t flags, ts_error *err)
{
    ts_nd *own = values, *at = offsets;
    places_how how = {.unique = flags & TS_ND_UNIQUE || values->count == 1};
    ts_status status = places_apart(to, values, &own, err);
    if (status == TS_OK)
        status = places_apart(to, offsets, &at, err);
    if (status == TS_OK && !how.unique)
        status = places_last(to, at, flags & TS_ND_BY_ALL, &how.kept, err);
    how.unique |= how.kept != NULL;
    if (status == TS_OK)
        status = places_write_all(to, at, own, &how, err);
    ts_nd_release(how.kept);
    if (own != values)
        ts_nd_release(own);
    if (at != offsets)
        ts_nd_release(at);
    return status;
}

ts_status ts_nd_scatter(ts_nd *to, ts_nd *offsets, ts_nd *values, uint32_t flags, ts_error *err)
{
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
    TS_TRY(ts__nd_settle(to, TS_ND_CAUSE_part, err));
    nd_inside_begin(to->graph);
    ts_status status = places_put(to, offsets, values, flags, err);
    nd_inside_end(to->graph);
    return status;
}
