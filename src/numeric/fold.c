/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions: what the elements are computed of is part of the kernel, which keeps an accumulator for each place of its
 * tile and joins them at the end. The order depends on the shape, on a GPU also on whether rows begin at lines of 16
 * bytes, so results are the same each time, on any number of threads.
 *
 *     axes     as of an elementwise kernel; kept ones are spread over the grid, folded ones walked by loops, on a GPU
 *              over whole tiles without masks, then the one at the end
 *     few kept places of many elements: the outermost folded axis is cut into pieces, a block each; what they give are
 *     parts, which are joined by the block that is the last to end, in the order of the pieces
 *
 * Where memory is the host's, parts are joined by a second launch: a launch there may end early, by a fault, and would
 * leave counters behind. The order is the same. More parts than one block should join are an array of their own, which
 * is folded as any.
 */
#include "numeric/fold.h"

enum {
    FOLD_BLOCKS = 2048,     /* that keep a large device busy; fewer are cut into pieces */
    FOLD_AT_ONCE = 528,     /* of those along one or two axes, four a multiprocessor of an H200: more are slower */
    FOLD_PIECE = 1 << 14,   /* elements that a block folds at least, where it is a piece */
    FOLD_WIDTH = 128,       /* of a tile along kept axes, of the same in a running reduction */
    FOLD_SCAN_WIDTH = 32,
    FOLD_JOINED = 1 << 14,  /* parts that one block joins at most, of all places of its tile */
    FOLD_CHUNK = 1 << 10    /* of them at a time */
};

/* Kept places of a tile. */
static int64_t fold_kept_tile(const fold_of *f)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < f->k.axes.rank; d++)
        n *= f->k.axes.folded[d] ? 1 : f->k.tile[d];
    return n;
}

/* Tiles of kept axes are the blocks; pieces where those are few and the elements many. */
static void fold_grid(fold_of *f, int64_t grid[3])
{
    int64_t folded = 1, outer = 1;
    bool has_axis = false;
    ts__nd_kernel_grid(&f->k, 1, grid);
    f->piece_axis = 0;
    f->piece_count = 1;
    for (uint32_t d = f->k.axes.rank; d-- > 0;) {
        if (f->k.axes.folded[d]) {
            folded *= f->k.axes.extent[d];
            continue;
        }
        f->piece_count *= f->k.axes.extent[d];
    }
    for (uint32_t d = 0; d < f->k.axes.rank && !has_axis; d++)
        if (f->k.axes.folded[d]) {
            f->piece_axis = d;
            outer = f->k.n_tiles[d];
            has_axis = true;
        }
    f->pieces = 1;
    f->per_piece = outer;
    f->phase = FOLD_WHOLE;
    int64_t blocks = grid[0] * grid[1], total = folded * f->piece_count, tile = fold_kept_tile(f);
    int64_t wanted = f->k.axes.rank < 3 ? FOLD_AT_ONCE / blocks : (FOLD_BLOCKS + blocks - 1) / blocks;
    int64_t most = TS_MIN(TS_MIN(wanted, outer), total / blocks / FOLD_PIECE);
    if (ts__nd_fold_has_index(f->fold)) /* parts of them are no array that could be folded as any */
        most = TS_MIN(most, FOLD_JOINED / tile);
    if (most < 2 || f->is_scan)
        return;
    f->per_piece = (outer + most - 1) / most;
    f->pieces = (outer + f->per_piece - 1) / f->per_piece;
    f->chunk = TS_MAX(FOLD_CHUNK / tile, 1);
    f->phase = ts__nd_is_host(f->k.group->graph) || f->pieces * tile > FOLD_JOINED ? FOLD_PARTS : FOLD_BOTH;
}

/* Loads of tiles that no array ends in need no looks at where it does. */
static uint32_t fold_whole(const fold_of *f)
{
    uint32_t whole = 0;
    for (uint32_t d = 0; d < f->k.axes.rank && !f->is_scan && !ts__nd_is_host(f->k.group->graph); d++)
        whole |= (uint32_t)(!f->k.axes.folded[d] && f->k.axes.extent[d] % f->k.tile[d] == 0) << d;
    return whole;
}

static ts_status fold_launch(fold_of *f, nd_group *group, const int64_t tiles[3], ts_error *err)
{
    nd_launch launch;
    bool is_cut = f->phase == FOLD_PARTS || f->phase == FOLD_BOTH;
    int64_t grid[3] = {tiles[0], tiles[1], is_cut ? f->pieces : tiles[2]};
    launch.n = launch.n_key = 0;
    launch.apart = ts__nd_group_is_apart(group);
    launch.brief = nd_is_brief(group);
    ts__nd_launch_key(&launch, f->is_scan ? 'A' : 'F');
    ts__nd_launch_key(&launch, f->fold);
    ts__nd_launch_key(&launch, f->whole);
    ts__nd_launch_key(&launch, f->loop);
    ts__nd_launch_key(&launch, f->walk);
    ts__nd_launch_key(&launch, f->phase);
    ts__nd_launch_key(&launch, f->phase == FOLD_WHOLE ? 0 : (uint32_t)ts_log2((uint64_t)f->chunk));
    ts__nd_launch_key(&launch, f->mask ? group->n_nodes : 0);
    for (uint32_t d = 0; d < f->k.axes.rank; d++)
        ts__nd_launch_key(&launch, f->k.axes.folded[d]);
    ts__nd_kernel_key(&f->k, &launch);
    ts__nd_kernel_args(&f->k, &launch);
    ts__nd_launch_int(&launch, f->k.index, f->per_piece);
    ts__nd_launch_int(&launch, f->k.index, f->piece_count);
    ts__nd_launch_int(&launch, f->k.index, f->pieces);
    if (f->phase != FOLD_JOIN) {
        group->graph->stats.bytes += ts__nd_group_bytes(&f->k);
        group->graph->stats.n_nodes += group->n_nodes;
    }
    nd_build *write = f->is_scan ? ts__nd_scan_write : ts__nd_fold_write;
    return ts__nd_group_done(group, ts__nd_launch_run(group->graph, &launch, grid, write, f, err));
}

static ts_status fold_run(const ts_nd_reduction *r, bool is_scan, ts_nd *out, ts_error *err);

/* The fold of parts, a row for each piece, into `out`, which is dense. */
static ts_status fold_parts(const fold_of *f, const ts_nd_reduction *r, ts_nd *parts, ts_nd *out, ts_error *err)
{
    int64_t shape[2] = {1, f->piece_count}, item = (int64_t)ts_dtype_bytes((ts_dtype)out->dtype);
    int64_t strides[2] = {f->piece_count * item, item};
    ts_nd_reduction second = {.fold = r->fold, .x = parts, .axes = 1, .dtype = f->loop};
    ts_nd *row;
    TS_TRY(ts_nd_view(out, 0, (ts_dtype)out->dtype, 2, shape, strides, 0, &row, err));
    ts_status status = fold_run(&second, false, row, err);
    ts_nd_release(row);
    return status;
}

/* Memory as a place without axes, behind the others. */
static void fold_place(fold_of *f, nd_group *group, ts_dtype dtype, ts_buffer *buffer)
{
    static const int64_t none[TS_ND_RANK];
    memset(f->k.axes.stride[group->n_places], 0, sizeof f->k.axes.stride[0]);
    group->places[group->n_places++] = (nd_place){ts_buffer_data(buffer), buffer, none, (uint8_t)dtype, f->value};
}

/* Counters, which are all 0 between launches. */
static ts_status fold_counters(ts_nd_graph *graph, ts_buffer **out, ts_error *err)
{
    if (graph->counters && !ts__buffer_is_there(graph->counters)) {
        ts_buffer_release(graph->counters);
        graph->counters = NULL;
    }
    *out = graph->counters;
    if (*out)
        return TS_OK;
    ts_buffer *made;
    TS_TRY(ts_buffer_create(graph->device, NULL, FOLD_BLOCKS * sizeof(int32_t), &made, err));
    ts_status status = ts_mem_fill(graph->device->default_stream, ts_buffer_data(made), 0, 4, FOLD_BLOCKS, err);
    if (status == TS_OK)
        *out = graph->counters = made;
    else
        ts_buffer_release(made);
    return status;
}

/* The fold of more elements than blocks for each tile of kept places can walk in time. */
static ts_status fold_in_pieces(fold_of *f, const ts_nd_reduction *r, nd_group *group, ts_nd *out,
                                const int64_t grid[3], ts_error *err)
{
    ts_nd_graph *graph = group->graph;
    int64_t shape[2] = {f->pieces, f->piece_count};
    bool has_index = ts__nd_fold_has_index(f->fold), is_long = f->k.index == TS_T_i64;
    bool joined = f->pieces * fold_kept_tile(f) <= FOLD_JOINED;
    ts_nd *parts, *indices = NULL;
    ts_buffer *counters = NULL;
    TS_TRY(ts_nd_empty(graph, ts__nd_fold_parts_dtype(f), 2, shape, false, &parts, err));
    ts_status status = ts__nd_store_fill(parts->store, err);
    if (status == TS_OK && has_index)
        status = ts_nd_empty(graph, is_long ? TS_DTYPE_int64 : TS_DTYPE_int32, 2, shape, false, &indices, err);
    if (status == TS_OK && has_index)
        status = ts__nd_store_fill(indices->store, err);
    if (status == TS_OK && f->phase == FOLD_BOTH)
        status = fold_counters(graph, &counters, err);
    if (status == TS_OK) {
        f->part = group->n_places;
        fold_place(f, group, ts__nd_fold_parts_dtype(f), parts->store->buffer);
        if (has_index)
            fold_place(f, group, (ts_dtype)indices->dtype, indices->store->buffer);
        f->counter = group->n_places;
        if (f->phase == FOLD_BOTH)
            fold_place(f, group, TS_DTYPE_int32, counters);
        ts__nd_kernel_places(&f->k);
        status = fold_launch(f, group, grid, err);
    }
    if (status == TS_OK && f->phase == FOLD_PARTS && joined) {
        f->phase = FOLD_JOIN;
        status = fold_launch(f, group, grid, err);
    } else if (status == TS_OK && f->phase == FOLD_PARTS)
        status = fold_parts(f, r, parts, out, err);
    ts_nd_release(parts), ts_nd_release(indices);
    return status;
}

/* Sums of bytes and of two bytes are added up in int32 where a place of a tile cannot leave it. */
static ts_dtype fold_narrow(const fold_of *f)
{
    int64_t trips = 1;
    for (uint32_t d = 0; d < f->k.axes.rank; d++)
        trips *= f->k.axes.folded[d] ? f->k.n_tiles[d] : 1;
    if (f->is_scan || !ts__nd_fold_fits_word(f->k.group->graph, f->fold, f->value->loop, f->loop, trips))
        return f->loop;
    return f->value->dtype = TS_DTYPE_int32;
}

/* The fold of what the group computes into `out`, whose axes are those of the shape, folded ones with extent 1. */
static ts_status fold_into(fold_of *f, const ts_nd_reduction *r, ts_nd *out, ts_error *err)
{
    nd_group group;
    ts_nd_graph *graph = r->x->graph;
    int64_t strides[TS_ND_RANK], grid[3];
    TS_TRY(ts__nd_store_fill(out->store, err));
    for (uint32_t d = 0; d < r->x->rank; d++)
        strides[d] = r->axes >> d & 1 && !f->is_scan ? 0 : ts_nd_strides(out)[d];
    ts__nd_group_begin(&group, graph, f->value);
    bool fits = ts__nd_group_add(&group, f->value) && (!f->mask || ts__nd_group_add(&group, f->mask));
    f->out = group.n_places;
    fits = fits && group.n_places < ND_GROUP_MEMORY;
    if (fits)
        group.places[group.n_places++] = (nd_place){ts_buffer_data(out->store->buffer), out->store->buffer, strides,
                                                    (uint8_t)f->result, f->value};
    f->k.group = &group;
    if (!fits || !ts__nd_axes_of(&group, r->axes, &f->k.axes))
        return ts_fail(err, TS_UNSUPPORTED, "a reduction of arrays whose axes do not lie as %d or fewer is not "
                       "supported yet; copy them first", TS_MAX_RANK);
    ts__nd_kernel_walk_tiles(&f->k, f->is_scan ? FOLD_SCAN_WIDTH : FOLD_WIDTH);
    ts__nd_kernel_places(&f->k);
    f->walk = fold_narrow(f);
    f->whole = fold_whole(f);
    fold_grid(f, grid);
    bool fits_parts = f->phase == FOLD_WHOLE || group.n_places + 3 <= ND_GROUP_MEMORY;
    if (f->k.axes.rank == TS_MAX_RANK || ts__nd_kernel_is_wide(&f->k, 6) || !fits_parts)
        return ts_fail(err, TS_UNSUPPORTED, "a reduction that needs more than %d numbers", TS_LAUNCH_ARGS);
    return f->phase == FOLD_WHOLE ? fold_launch(f, &group, grid, err) : fold_in_pieces(f, r, &group, out, grid, err);
}

static ts_status fold_empty(const ts_nd_reduction *r, ts_nd *out, ts_error *err)
{
    static const int64_t neutral[] = {[TS_ND_PROD] = 1, [TS_ND_ALL] = 1, [TS_ND_FOLDS] = 0};
    ts_nd *same;
    if (!out->count)
        return ts__nd_store_fill(out->store, err);
    if (r->fold == TS_ND_MAX || r->fold == TS_ND_MIN)
        return ts_fail(err, TS_VALUE, "zero-size array to reduction operation %s which has no identity",
                       r->fold == TS_ND_MAX ? "maximum" : "minimum");
    if (ts__nd_fold_is_arg(r->fold))
        return ts_fail(err, TS_VALUE, "attempt to get %s of an empty sequence", ts_nd_fold_name(r->fold));
    ts_nd_call call = {.fn = TS_ND_copy, .in = {{.kind = 'i', .i = neutral[r->fold]}}, .out = out,
                       .casting = TS_ND_UNSAFE};
    TS_TRY(ts_nd_run(r->x->graph, &call, &same, err));
    ts_nd_release(same);
    return TS_OK;
}

static ts_status fold_run(const ts_nd_reduction *r, bool is_scan, ts_nd *out, ts_error *err)
{
    fold_of f; /* large, and filled as far as it is used */
    f.k.lines = true;
    f.k.warps = 0;
    f.fold = r->fold;
    f.is_scan = is_scan;
    f.loop = ts__nd_fold_loop(r, is_scan);
    f.result = (ts_dtype)out->dtype;
    f.value = f.mask = NULL;
    ts_nd_graph *graph = r->x->graph;
    if (!r->x->count)
        return fold_empty(r, out, err);
    ts_status status = ts__nd_value_node(r->x, f.loop, r->x, &f.value, err);
    if (status == TS_OK && r->where)
        status = ts__nd_value_node(r->where, TS_DTYPE_bool_, r->x, &f.mask, err);
    if (status == TS_OK)
        status = fold_into(&f, r, out, err);
    ts__nd_node_release(graph, f.value);
    ts__nd_node_release(graph, f.mask);
    return status;
}

/* ---- axes that do not join ----------------------------------------------------------------------- */

/* A dense copy of an array, spread over the shape of another one, with the axes in an order. */
static ts_status fold_ordered(ts_nd *a, const ts_nd *like, const uint8_t *order, ts_nd **out, ts_error *err)
{
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK];
    uint32_t up = like->rank - a->rank;
    ts_nd *view;
    for (uint32_t i = 0; i < like->rank; i++) {
        uint32_t d = order[i];
        shape[i] = ts_nd_shape(like)[d];
        strides[i] = d < up || ts_nd_shape(a)[d - up] != shape[i] ? 0 : ts_nd_strides(a)[d - up];
    }
    TS_TRY(ts_nd_view(a, 0, (ts_dtype)a->dtype, like->rank, shape, strides, 0, &view, err));
    ts_nd_call call = {.fn = TS_ND_copy, .in = {{.array = view}}, .order = 'C'};
    ts_status status = ts_nd_run(a->graph, &call, out, err);
    ts_nd_release(view);
    return status == TS_OK ? ts__nd_compute(*out, TS_ND_CAUSE_shape, err) : status; /* not read where it came from */
}

/* The same fold of copies whose kept axes lie before the folded ones, so that each of both are one; in a scan axes stay
 * where they are. */
static ts_status fold_run_ordered(const ts_nd_reduction *r, bool is_scan, ts_nd *out, ts_error *err)
{
    uint8_t order[TS_ND_RANK];
    int64_t shape[TS_ND_RANK], strides[TS_ND_RANK];
    uint32_t n = 0, rank = r->x->rank;
    ts_nd *x = NULL, *where = NULL, *view = NULL;
    for (uint32_t folded = 0; folded < 2; folded++)
        for (uint32_t d = 0; d < rank; d++)
            if (is_scan ? !folded : (r->axes >> d & 1) == folded)
                order[n++] = (uint8_t)d;
    ts_nd_reduction ordered = *r;
    ordered.axes = is_scan ? r->axes : 0;
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = ts_nd_shape(out)[order[i]];
        strides[i] = ts_nd_strides(out)[order[i]];
        ordered.axes |= (r->axes >> order[i] & 1) << i;
    }
    ts_status status = fold_ordered(r->x, r->x, order, &x, err);
    if (status == TS_OK && r->where)
        status = fold_ordered(r->where, r->x, order, &where, err);
    if (status == TS_OK)
        status = ts_nd_view(out, 0, (ts_dtype)out->dtype, rank, shape, strides, 0, &view, err);
    ordered.x = x;
    ordered.where = where;
    if (status == TS_OK)
        status = fold_run(&ordered, is_scan, view, err);
    ts_nd_release(x), ts_nd_release(where), ts_nd_release(view);
    return status;
}

/* The fold along any axes: where they do not join to as many as a kernel has, of copies. */
static ts_status fold_run_any(const ts_nd_reduction *r, bool is_scan, ts_nd *out, ts_error *err)
{
    ts_status status = fold_run(r, is_scan, out, err);
    bool may_join = status == TS_UNSUPPORTED && r->x->rank > TS_MAX_RANK && ts__nd_is_host(r->x->graph);
    return may_join ? fold_run_ordered(r, is_scan, out, err) : status;
}

/* ---- folding an array --------------------------------------------------------------------------- */

/* Where a reduction is computed whose arrays may lie near by (near.c). */
static ts_status fold_meet(ts_nd_graph **graph, const ts_nd_reduction *r, ts_error *err)
{
    ts_nd *const arrays[] = {r->x, r->where};
    nd_meeting meeting = {.graph = *graph, .count = r->x->count, .costs = ND_COSTS_LAUNCH,
                          .looks = ts__nd_check_folds(r) && r->wanted};
    if (!nd_may_meet(*graph))
        return TS_OK;
    TS_TRY(ts__nd_meet(&meeting, arrays, 2, err));
    *graph = meeting.graph;
    return TS_OK;
}

static ts_status fold_reduce(ts_nd_graph *graph, const ts_nd_reduction *r, ts_nd **result, ts_error *err)
{
    int64_t shape[TS_ND_RANK], kept[TS_ND_RANK], strides[TS_ND_RANK];
    uint32_t rank = 0;
    TS_TRY(ts__nd_numbers(r->x, "reduce", err));
    nd_quick_operand(r->x);
    if (r->fold == TS_ND_SPREAD && (r->where || nd_kind(r->dtype ? r->dtype : (ts_dtype)r->x->dtype) != 'f'))
        return ts_fail(err, TS_VALUE, "a spread is one of floats, without a mask");
    bool is_truth = r->fold == TS_ND_ALL || r->fold == TS_ND_ANY;
    TS_TRY(ts__nd_same_device(r->x->graph, r->where, "reduce", err));
    ts_dtype dtype = is_truth ? TS_DTYPE_bool_ : ts__nd_fold_is_arg(r->fold) ? TS_DTYPE_int64
                                                : r->dtype            ? r->dtype
                                                                      : (ts_dtype)r->x->dtype;
    ts_nd *out, *view;
    for (uint32_t d = 0; d < r->x->rank; d++)
        shape[d] = r->axes >> d & 1 ? 1 : ts_nd_shape(r->x)[d];
    TS_TRY(ts_nd_empty(graph, dtype, r->x->rank, shape, false, &out, err));
    bool is_row = ts__nd_fold_is_row(r), done = false;
    ts_status status = ts__nd_fold_sums(r, out, &done, err);
    if (status == TS_OK && !done)
        status = ts__nd_fold_direct(r, out, is_row, &done, err);
    if (status == TS_OK && !done)
        status = is_row ? ts__nd_fold_row(r, out, err) : fold_run_any(r, false, out, err);
    if (status == TS_OK)
        status = ts__nd_check_fold(r, false, out, err);
    for (uint32_t d = 0; d < r->x->rank; d++)
        if (!(r->axes >> d & 1)) {
            kept[rank] = shape[d];
            strides[rank++] = ts_nd_strides(out)[d];
        }
    if (status == TS_OK && !r->keeps) {
        status = ts_nd_view(out, 0, dtype, rank, kept, strides, 0, &view, err);
        ts_nd_release(out);
        out = status == TS_OK ? view : NULL;
    }
    if (status == TS_OK)
        *result = out;
    else
        ts_nd_release(out);
    return status;
}

ts_status ts_nd_reduce(ts_nd_graph *graph, const ts_nd_reduction *reduction, ts_nd **result, ts_error *err)
{
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, graph, reduction);
    TS_NEED(err, reduction->x);
    TS_TRY(fold_meet(&graph, reduction, err));
    nd_inside_begin(graph);
    ts_status status = fold_reduce(graph, reduction, result, err);
    nd_inside_end(graph);
    return status;
}

/* Of one element or none: itself. */
static ts_status scan_none(const ts_nd_reduction *r, ts_nd *out, ts_error *err)
{
    ts_nd_call call = {.fn = TS_ND_copy, .in = {{.array = r->x}}, .out = out, .casting = TS_ND_UNSAFE};
    ts_nd *same;
    TS_TRY(ts_nd_run(r->x->graph, &call, &same, err));
    ts_nd_release(same);
    return TS_OK;
}

static ts_status fold_accumulate(ts_nd_graph *graph, const ts_nd_reduction *r, ts_nd **result, ts_error *err)
{
    TS_TRY(ts__nd_numbers(r->x, "accumulate", err));
    bool is_truth = r->fold == TS_ND_ALL || r->fold == TS_ND_ANY;
    ts_dtype dtype = is_truth ? TS_DTYPE_bool_ : r->dtype ? r->dtype : (ts_dtype)r->x->dtype;
    if (ts__nd_fold_has_index(r->fold) || r->where || !ts_is_pow2((int64_t)r->axes))
        return ts_fail(err, TS_VALUE, "an accumulation is of one axis, without a mask, and of no argument function or "
                       "spread");
    if (ts_log2(r->axes) >= r->x->rank)
        return ts_fail(err, TS_VALUE, "axis %u is out of bounds for array of dimension %u", (uint32_t)ts_log2(r->axes),
                       r->x->rank);
    TS_TRY(ts_nd_empty(graph, dtype, r->x->rank, ts_nd_shape(r->x), false, result, err));
    int64_t extent = ts_nd_shape(r->x)[ts_log2(r->axes)];
    bool moves = extent > 1 && r->x->count, done = false;
    ts_status status = moves ? ts__nd_scan_sums(r, *result, &done, err) : scan_none(r, *result, err);
    if (status == TS_OK && moves && !done)
        status = fold_run_any(r, true, *result, err);
    if (status == TS_OK)
        status = ts__nd_check_fold(r, true, *result, err);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
    }
    return status;
}

ts_status ts_nd_accumulate(ts_nd_graph *graph, const ts_nd_reduction *reduction, ts_nd **result, ts_error *err)
{
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, graph, reduction);
    TS_NEED(err, reduction->x);
    TS_TRY(fold_meet(&graph, reduction, err));
    nd_inside_begin(graph);
    ts_status status = fold_accumulate(graph, reduction, result, err);
    nd_inside_end(graph);
    return status;
}

const char *ts_nd_fold_name(ts_nd_fold fold)
{
    static const char *const names[TS_ND_FOLDS] = {
        [TS_ND_SUM] = "sum", [TS_ND_PROD] = "prod", [TS_ND_MAX] = "max",       [TS_ND_MIN] = "min",
        [TS_ND_ALL] = "all", [TS_ND_ANY] = "any",   [TS_ND_ARGMAX] = "argmax", [TS_ND_ARGMIN] = "argmin",
        [TS_ND_SPREAD] = "spread"};
    return names[fold];
}
