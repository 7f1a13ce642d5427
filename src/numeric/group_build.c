/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel of a group (group.c) reads, computes and stores, written with a builder: parameters, the block's place
 * in the grid, views of places, loads, functions, faults, stores. Pointers are arrays of no axes: bounds and strides
 * are the group's own numbers.
 */
#include "ir/ir.h"
#include "numeric/group.h"

ts_type ts__nd_memory_type(ts_dtype dtype)
{
    return dtype == TS_DTYPE_bool_ ? TS_T_i8 : ts_dtype_get(dtype)->scalar;
}

/* A pointer, or a step in elements, that is a multiple of `divisor`. */
static ts_val build_multiple(const group_build *g, ts_builder *b, ts_val x, uint32_t divisor)
{
    uint32_t words[] = {TS_ASSUME_DIV_BY, divisor, 0, 0, 0, 0};
    return ts_emit(b, TS_OP_assume, ts_val_type(g->e.fn, x), 1, &x, ts_pool_add(b, TS_COUNT(words), words), 0);
}

static void build_aligned(group_build *g, ts_builder *b)
{
    for (uint32_t p = 0; p < g->k->group->n_places; p++) {
        uint32_t item = (uint32_t)ts_dtype_bytes((ts_dtype)g->k->group->places[p].dtype);
        if (!g->k->aligned[p])
            continue;
        g->pointer[p] = build_multiple(g, b, g->pointer[p], ND_LINE);
        for (uint32_t d = 0; d < g->k->axes.rank && item < ND_LINE; d++)
            if (g->stride[p][d])
                g->stride[p][d] = build_multiple(g, b, g->stride[p][d], ND_LINE / item);
    }
}

static void build_params(group_build *g, ts_builder *b)
{
    const group_kernel *k = g->k;
    uint32_t r = k->axes.rank;
    for (uint32_t p = 0; p < k->group->n_places; p++)
        ts_fn_param_array(b, ts__nd_memory_type((ts_dtype)k->group->places[p].dtype), 0, k->index, &g->pointer[p]);
    if (k->group->tells)
        ts_fn_param_array(b, TS_T_i8, 0, k->index, &g->flags);
    for (uint32_t d = 0; d < r; d++)
        g->extent[d] = ts_fn_param(b, k->index);
    for (uint32_t p = 0; p < k->group->n_places; p++)
        for (uint32_t d = 0; d < r; d++)
            if (ts__nd_kernel_has_stride(k, p, d))
                g->stride[p][d] = ts_fn_param(b, k->index);
    for (uint32_t n = 0; n < k->group->n_numbers; n++) {
        ts_dtype dtype = (ts_dtype)k->group->numbers[n]->dtype;
        g->number[n].re = ts_fn_param(b, dtype == TS_DTYPE_bool_ ? TS_T_i32 : ts__nd_emit_scalar(dtype));
        if (nd_kind(dtype) == 'c')
            g->number[n].im = ts_fn_param(b, ts__nd_emit_scalar(dtype));
    }
}

static ts_val build_block_id(const group_build *g, ts_builder *b, uint32_t axis)
{
    ts_val at = ts_block_id(b, axis);
    return g->k->index == TS_T_i64 ? ts_cast(b, TS_OP_exti, at, TS_T_i64, 0) : at;
}

ts_val ts__nd_build_tiles(const group_build *g, ts_builder *b, uint32_t d)
{
    ts_type index = g->k->index;
    ts_val end = ts_op2(b, TS_OP_addi, g->extent[d], ts_int(b, index, g->k->tile[d] - 1), 0);
    return g->k->tile[d] == 1 ? g->extent[d] : ts_op2(b, TS_OP_divi, end, ts_int(b, index, g->k->tile[d]), 0);
}

void ts__nd_build_place_in_grid(group_build *g, ts_builder *b)
{
    const group_kernel *k = g->k;
    uint32_t outermost = 0, n = 0;
    ts_val rest = 0;
    build_aligned(g, b); /* behind all parameters */
    while (outermost + 1 < k->axes.rank && k->axes.folded[outermost])
        outermost++;
    for (uint32_t d = k->axes.rank; d-- > 0;) {
        if (k->axes.folded[d]) {
            g->at[d] = ts_int(b, k->index, 0);
            continue;
        }
        if (n++ < k->own) {
            g->at[d] = build_block_id(g, b, n - 1);
            continue;
        }
        rest = rest ? rest : build_block_id(g, b, k->own);
        ts_val tiles = d == outermost ? 0 : ts__nd_build_tiles(g, b, d);
        g->at[d] = tiles ? ts_op2(b, TS_OP_remi, rest, tiles, 0) : rest;
        rest = tiles ? ts_op2(b, TS_OP_divi, rest, tiles, 0) : rest;
    }
}

/* The view of a place along the axes that it has: its tiles, and where this block's lies. */
uint32_t ts__nd_build_view(group_build *g, ts_builder *b, uint32_t p, ts_val *view, ts_val *at)
{
    const group_kernel *k = g->k;
    uint32_t n = 0, n_strides = 0, r = k->axes.rank;
    int64_t dims[TS_MAX_RANK], strides[TS_MAX_RANK], tile[TS_MAX_RANK];
    ts_val dynamic[2 * TS_MAX_RANK], steps[TS_MAX_RANK];
    for (uint32_t d = 0; d < r; d++) {
        if (k->lacks[p] >> d & 1)
            continue;
        bool is_unit = d == k->unit[p];
        dims[n] = TS_DYNAMIC;
        strides[n] = is_unit ? 1 : TS_DYNAMIC;
        tile[n] = k->tile[d];
        dynamic[n] = g->extent[d];
        at[n++] = g->at[d];
        if (!is_unit)
            steps[n_strides++] = g->stride[p][d];
    }
    memcpy(dynamic + n, steps, n_strides * sizeof *steps);
    if (n)
        *view = ts_partition_view(b, ts_tensor_view(b, g->pointer[p], n, dims, strides, n + n_strides, dynamic), tile,
                                  TS_PAD_ZERO);
    return n;
}

/* A tile as one of the shape of `e`: axes that its place lacks are 1 wide, then spread. */
static ts_val build_spread(const group_build *g, const nd_emit *e, uint32_t p, ts_val x)
{
    int64_t dims[TS_MAX_RANK];
    ts_type elem = ts_type_elem(e->module, ts_val_type(e->fn, x));
    for (uint32_t d = 0; d < e->rank; d++)
        dims[d] = g->k->lacks[p] >> d & 1 ? 1 : e->tile[d];
    ts_type narrow = ts_type_tile(e->module, elem, e->rank, dims);
    return ts_broadcast(e->b, ts_reshape(e->b, x, narrow), ts__nd_emit_type(e, elem));
}

static nd_val build_wide(const nd_emit *e, nd_val x)
{
    x.re = ts_broadcast(e->b, x.re, ts__nd_emit_type(e, ts_type_elem(e->module, ts_val_type(e->fn, x.re))));
    if (x.im)
        x.im = ts_broadcast(e->b, x.im, ts_val_type(e->fn, x.re));
    return x;
}

nd_val ts__nd_emit_loaded(const nd_emit *e, ts_val x, ts_dtype dtype)
{
    ts_type part = ts_type_part(ts__nd_memory_type(dtype)), whole = ts_val_type(e->fn, x);
    if (dtype == TS_DTYPE_bool_)
        return (nd_val){.re = ts_cmp(e->b, TS_OP_cmpi, TS_NE, x, ts_int(e->b, whole, 0), TS_A_UNSIGNED)};
    if (!part)
        return (nd_val){.re = x};
    ts_type type = ts_type_with_elem(e->module, whole, part);
    return (nd_val){ts_emit(e->b, TS_OP_real, type, 1, &x, 0, 0), ts_emit(e->b, TS_OP_imag, type, 1, &x, 0, 0)};
}

ts_val ts__nd_emit_stored(const nd_emit *e, nd_val x, ts_dtype dtype)
{
    ts_type scalar = ts__nd_memory_type(dtype);
    ts_val parts[2] = {x.re, x.im};
    if (dtype == TS_DTYPE_bool_)
        return ts_cast(e->b, TS_OP_exti, x.re, scalar, TS_A_UNSIGNED);
    if (!ts_type_part(scalar))
        return x.re;
    ts_type whole = ts_type_with_elem(e->module, ts_val_type(e->fn, x.re), scalar);
    return ts_emit(e->b, TS_OP_make_complex, whole, 2, parts, 0, 0);
}

ts_val ts__nd_build_numbers(const group_build *g, ts_builder *b, uint32_t d)
{
    const nd_emit *e = &g->e;
    int64_t dims[TS_MAX_RANK];
    ts_type index = g->k->index, line = ts_type_tile(e->module, index, 1, &e->tile[d]);
    for (uint32_t i = 0; i < e->rank; i++)
        dims[i] = i == d ? e->tile[d] : 1;
    ts_val step = ts_reshape(b, ts_emit(b, TS_OP_iota, line, 0, NULL, 0, 0),
                             ts_type_tile(e->module, index, e->rank, dims));
    ts_val first = ts_op2(b, TS_OP_muli, g->at[d], ts_int(b, index, e->tile[d]), 0);
    ts_type whole = ts__nd_emit_type(e, index);
    return ts_op2(b, TS_OP_addi, ts_broadcast(b, step, whole), ts_broadcast(b, first, whole), 0);
}

ts_val ts__nd_build_inside(const group_build *g, ts_builder *b, uint32_t axes)
{
    ts_val inside = 0;
    for (uint32_t d = 0; d < g->e.rank; d++) {
        if (!((axes & ~g->whole) >> d & 1) || g->k->tile[d] == 1)
            continue;
        ts_val end = ts_broadcast(b, g->extent[d], ts__nd_emit_type(&g->e, g->k->index));
        ts_val in = ts_cmp(b, TS_OP_cmpi, TS_LT, ts__nd_build_numbers(g, b, d), end, 0);
        inside = inside ? ts_op2(b, TS_OP_andi, inside, in, 0) : in;
    }
    return inside;
}

static nd_val build_operand(const group_build *g, const nd_node *node, uint32_t i)
{
    bool narrow = node->is_narrow && !node->fold;
    uint32_t source = ts__nd_group_source(g->k->group, node, (int)i);
    if (source < ND_GROUP_NODES)
        return narrow ? g->narrow_node[source] : g->node[source];
    source -= ND_GROUP_NODES;
    if (source < ND_GROUP_MEMORY)
        return narrow ? g->narrow_place[source] : g->place[source];
    source -= ND_GROUP_MEMORY;
    return narrow ? g->narrow_number[source] : g->number[source];
}

/* Pointers to elements behind a place, and which of them are of elements that there are. */
static ts_val build_pointers(const group_build *g, ts_builder *b, uint32_t p, ts_val offsets)
{
    ts_type pointer = ts_val_type(g->e.fn, g->pointer[p]);
    return ts_op2(b, TS_OP_offset, ts_broadcast(b, g->pointer[p], ts__nd_emit_type(&g->e, pointer)), offsets, 0);
}

static nd_val build_gather(const group_build *g, const nd_node *node)
{
    ts_builder *b = g->e.b;
    uint32_t p = ts__nd_group_source(g->k->group, node, 0) - ND_GROUP_NODES;
    nd_val offsets = ts__nd_emit_cast(&g->e, build_operand(g, node, 1), (ts_dtype)node->in[1].dtype, TS_DTYPE_int64);
    ts_val opnds[2] = {build_pointers(g, b, p, offsets.re), ts__nd_build_inside(g, b, UINT32_MAX)};
    ts_dtype dtype = (ts_dtype)node->in[0].dtype;
    ts_type type = ts__nd_emit_type(&g->e, ts__nd_memory_type(dtype));
    bool masked = opnds[1] != 0;
    ts_val x = ts_emit(b, TS_OP_load_ptr_tko, type, masked ? 2 : 1, opnds, 0, masked ? TS_F_MASK : 0);
    return ts__nd_emit_loaded(&g->e, x, dtype);
}

/* The first operand, one number, and the place of each element along the only axis. */
static nd_val build_iota(const group_build *g, const nd_node *node)
{
    ts_builder *b = g->e.b;
    nd_val first = ts__nd_emit_cast(&g->e, build_operand(g, node, 0), (ts_dtype)node->in[0].dtype, TS_DTYPE_int64);
    ts_val at = ts__nd_build_numbers(g, b, 0);
    at = g->k->index == TS_T_i64 ? at : ts_cast(b, TS_OP_exti, at, TS_T_i64, 0);
    return (nd_val){.re = ts_op2(b, TS_OP_addi, first.re, at, 0)};
}

void ts__nd_build_scatter(group_build *g, ts_builder *b, uint32_t p, const nd_scatter *s)
{
    ts_dtype dtype = (ts_dtype)g->k->group->places[p].dtype;
    ts_val inside = ts__nd_build_inside(g, b, UINT32_MAX), kept = s->is_masked ? g->node[s->mask].re : 0;
    ts_val opnds[3] = {build_pointers(g, b, p, g->node[s->offsets].re),
                       ts__nd_emit_stored(&g->e, g->node[s->value], dtype),
                       inside && kept ? ts_op2(b, TS_OP_andi, inside, kept, 0) : kept ? kept : inside};
    uint32_t n = opnds[2] ? 3 : 2, flags = opnds[2] ? TS_F_MASK : 0;
    uint32_t greatest = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(TS_RMW_MAX);
    if (s->is_greatest)
        (void)ts_emit(b, TS_OP_atomic_rmw_tko, ts_val_type(g->e.fn, opnds[1]), n, opnds, greatest, flags);
    else
        (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, n, opnds, 0, flags);
}

/* Axes (bits) that the kernel folds: its tiles hold them whole. */
static uint32_t build_rows(const group_build *g)
{
    uint32_t rows = 0;
    for (uint32_t d = 0; d < g->e.rank; d++)
        rows |= (uint32_t)g->k->axes.folded[d] << d;
    return g->k->group->rows ? rows : 0;
}

/* Axes (bits) of the view of a place along which its tile is inside. */
static uint32_t build_whole(const group_build *g, uint32_t p)
{
    uint32_t whole = 0, n = 0;
    for (uint32_t d = 0; d < g->e.rank; d++)
        if (!(g->k->lacks[p] >> d & 1))
            whole |= (g->whole >> d & 1) << n++;
    return whole;
}

static void build_load(group_build *g, ts_builder *b, uint32_t p)
{
    ts_dtype dtype = (ts_dtype)g->k->group->places[p].dtype;
    uint32_t rows = build_rows(g);
    bool is_narrow = rows && (g->k->lacks[p] & rows) == rows;
    const nd_emit *e = is_narrow ? &g->narrow : &g->e;
    ts_val view, at[TS_MAX_RANK], x;
    if (ts__nd_build_view(g, b, p, &view, at))
        x = build_spread(g, e, p, ts_load_view(b, view, at, TS_M_INBOUNDS(build_whole(g, p))));
    else {
        x = ts_emit(b, TS_OP_load_ptr_tko, ts__nd_memory_type(dtype), 1, &g->pointer[p], 0, 0);
        x = ts_broadcast(b, x, ts__nd_emit_type(e, ts__nd_memory_type(dtype)));
    }
    g->place[p] = g->narrow_place[p] = ts__nd_emit_loaded(e, x, dtype);
    if (is_narrow)
        g->place[p] = build_wide(&g->e, g->place[p]);
}

static void build_number(group_build *g, ts_builder *b, uint32_t n)
{
    nd_val *x = &g->number[n];
    if (g->k->group->numbers[n]->dtype == TS_DTYPE_bool_)
        x->re = ts_cmp(b, TS_OP_cmpi, TS_NE, x->re, ts_int(b, TS_T_i32, 0), 0);
    if (g->k->group->rows)
        g->narrow_number[n] = build_wide(&g->narrow, *x);
    *x = build_wide(&g->e, *x);
}

/* Tells of the faults of a node, of the elements that there are and that its mask lets in. */
static void build_tell(group_build *g, const nd_node *node, const nd_emit *e, const nd_val *x, nd_val y)
{
    ts_builder *b = g->e.b;
    bool each = node->fn == TS_ND_part_place;
    if (g->tells && each)
        return;
    ts_val found = g->tells ? ts__nd_tell_code(e, node, x, y) : ts__nd_tell_hint(e, node, x, y);
    if (node->is_narrow)
        found = build_wide(&g->e, (nd_val){.re = found}).re;
    ts_val where = node->has_where ? build_operand(g, node, node->n_in).re : 0;
    if (!g->tells && !each) {
        found = where ? ts_op2(b, TS_OP_andi, found, where, 0) : found;
        g->hint = g->hint ? ts_op2(b, TS_OP_ori, g->hint, found, 0) : found;
        return;
    }
    ts_val inside = g->in_loop ? g->lanes : ts__nd_build_inside(g, b, UINT32_MAX);
    where = where && inside ? ts_op2(b, TS_OP_andi, inside, where, 0) : where ? where : inside;
    if (each) {
        ts__nd_tell_each(&g->e, TS_ND_part_place, g->flags, where ? ts_op2(b, TS_OP_andi, found, where, 0) : found);
        return;
    }
    if (where)
        found = ts_select(b, where, found, ts_int(b, ts_val_type(g->e.fn, found), 0));
    ts__nd_tell(&g->e, node, g->flags, found);
}

/* A function of elements, in tiles as wide as the node's value. */
static nd_val build_function(group_build *g, const nd_node *node)
{
    ts_dtype loop = (ts_dtype)node->loop, result = loop;
    const ts_nd_info *row = ts_nd_get((ts_nd_fn)node->fn);
    const nd_emit *tile = node->is_narrow ? &g->narrow : &g->e;
    nd_emit e = ts__nd_emit_at(tile, loop);
    nd_val x[3] = {{0}};
    for (uint32_t i = 0; i < node->n_in && node->fn != TS_ND_gather; i++) {
        bool is_condition = node->fn == TS_ND_select && i == 0;
        x[i] = ts__nd_emit_cast(tile, build_operand(g, node, i), (ts_dtype)node->in[i].dtype,
                             is_condition ? TS_DTYPE_bool_ : loop);
    }
    nd_val y = node->fn == TS_ND_gather ? build_gather(g, node)
               : node->fn == TS_ND_iota ? build_iota(g, node)
                                        : ts__nd_emit_fn(&e, (ts_nd_fn)node->fn, x);
    if (node->told)
        build_tell(g, node, &e, x, y);
    if (row->result == TS_ND_IS_BOOL)
        result = TS_DTYPE_bool_;
    else if (row->result == TS_ND_IS_PART && e.kind == 'c')
        result = (ts_dtype)ts_dtype_get(loop)->part;
    y = ts__nd_emit_cast(tile, y, result, (ts_dtype)node->dtype);
    if (node->has_where) {
        nd_emit own = ts__nd_emit_at(tile, (ts_dtype)node->dtype);
        nd_val all[3] = {build_operand(g, node, node->n_in), y, build_operand(g, node, node->n_in + 1)};
        y = ts__nd_emit_fn(&own, TS_ND_select, all);
    }
    return y;
}

/* The fold of whole rows. */
static nd_val build_fold(const group_build *g, ts_builder *b, const nd_node *node)
{
    uint32_t rows = build_rows(g);
    nd_emit e = ts__nd_emit_at(&g->e, (ts_dtype)node->loop);
    nd_val x = ts__nd_emit_cast(&g->e, build_operand(g, node, 0), (ts_dtype)node->in[0].dtype, (ts_dtype)node->loop);
    x = ts__nd_fold_tile(&e, (ts_nd_fold)(node->fold - 1), x, ts__nd_build_inside(g, b, rows), rows);
    return ts__nd_emit_cast(&g->narrow, x, (ts_dtype)node->loop, (ts_dtype)node->dtype);
}

/* Whether a place is the same for every row of a kernel that folds rows: it is read where it is wanted first, which is
 * most often behind the folds, where fewer values live. */
static bool build_is_late(const group_build *g, uint32_t p)
{
    uint32_t rows = build_rows(g), lacks = g->k->lacks[p];
    return rows && lacks & ~rows && (lacks & rows) != rows;
}

static void build_late_loads(group_build *g, ts_builder *b, const nd_node *node)
{
    for (int i = 0; i < ND_INPUTS; i++) {
        uint32_t p = node->in[i].kind == ND_IN_LOAD ? ts__nd_group_source(g->k->group, node, i) - ND_GROUP_NODES : 0;
        if (node->in[i].kind == ND_IN_LOAD && build_is_late(g, p) && !g->place[p].re)
            build_load(g, b, p);
    }
}

static void build_node(group_build *g, ts_builder *b, uint32_t n)
{
    const nd_node *node = g->k->group->nodes[n];
    build_late_loads(g, b, node);
    if (node->fold)
        g->narrow_node[n] = build_fold(g, b, node);
    else
        g->node[n] = g->narrow_node[n] = build_function(g, node);
    if (node->is_narrow)
        g->node[n] = build_wide(&g->e, g->narrow_node[n]);
}
void ts__nd_build_store(group_build *g, ts_builder *b, uint32_t p)
{
    const nd_place *place = &g->k->group->places[p];
    bool narrow = place->store->is_narrow;
    uint32_t node = ts__nd_group_index(g->k->group, place->store), n;
    int64_t dims[TS_MAX_RANK];
    ts_val view, at[TS_MAX_RANK];
    if (!(n = ts__nd_build_view(g, b, p, &view, at)))
        return;
    ts_val x = ts__nd_emit_stored(narrow ? &g->narrow : &g->e, narrow ? g->narrow_node[node] : g->node[node],
                                  (ts_dtype)place->dtype);
    for (uint32_t d = 0, i = 0; d < g->e.rank; d++)
        if (!(g->k->lacks[p] >> d & 1))
            dims[i++] = g->e.tile[d];
    if (narrow)
        x = ts_reshape(b, x, ts_type_tile(g->e.module, ts__nd_memory_type((ts_dtype)place->dtype), n, dims));
    ts_store_view(b, view, x, at, TS_M_INBOUNDS(build_whole(g, p)));
}

static void build_loads(group_build *g, ts_builder *b)
{
    for (uint32_t p = 0; p < g->k->group->n_places; p++)
        if (build_is_late(g, p))
            g->place[p].re = 0;
        else if (!g->k->group->places[p].store && !g->still[p])
            build_load(g, b, p);
}

/* Values of nodes, where numbers are tiles already. */
static void build_functions(group_build *g, ts_builder *b)
{
    g->hint = 0;
    for (uint32_t n = 0; n < g->k->group->n_nodes; n++)
        build_node(g, b, n);
}

void ts__nd_build_values(group_build *g, ts_builder *b)
{
    build_loads(g, b);
    ts__nd_build_nodes(g, b);
}

static void build_numbers(group_build *g, ts_builder *b)
{
    for (uint32_t n = 0; n < g->k->group->n_numbers && !g->has_numbers; n++)
        build_number(g, b, n);
}

void ts__nd_build_still(group_build *g, ts_builder *b, uint32_t axes)
{
    for (uint32_t p = 0; p < g->k->group->n_places; p++) {
        bool still = !g->k->group->places[p].store && (g->k->lacks[p] & axes) == axes;
        if (still)
            build_load(g, b, p);
        g->still[p] = still;
    }
    build_numbers(g, b);
    g->has_numbers = true;
}

void ts__nd_build_nodes(group_build *g, ts_builder *b)
{
    build_numbers(g, b);
    build_functions(g, b);
}

void ts__nd_build_told(const group_build *g, ts_builder *b)
{
    const ts_alloc *alloc = g->k->group->graph->alloc;
    group_build *again = g->hint ? ts__new(alloc, sizeof *again) : NULL;
    if (!again) /* no faults; or no memory, which the builder will find, too */
        return;
    ts_val inside = ts__nd_build_inside(g, b, UINT32_MAX);
    ts_val any = ts__nd_tell_any(&g->e, inside ? ts_op2(b, TS_OP_andi, g->hint, inside, 0) : g->hint);
    ts_val opener = ts_if_begin(b, any);
    *again = *g;
    again->tells = true;
    /* at a place that no pass knows to be the same, so that these values are not kept for it */
    ts_type index = g->k->index;
    ts_val one = ts_cast(b, TS_OP_exti, any, index, TS_A_UNSIGNED);
    again->at[0] = ts_op2(b, TS_OP_addi, g->at[0], ts_op2(b, TS_OP_subi, one, ts_int(b, index, 1), 0), 0);
    build_loads(again, b);
    build_functions(again, b);
    ts_if_end(b, opener);
    ts__delete(alloc, again, sizeof *again);
}

group_build *ts__nd_build_begin(const group_kernel *k, const char *name, ts_module *module, ts_builder *b)
{
    ts_fn *fn = ts_fn_create(module, name, TS_LEVEL_T);
    group_build *g = ts__new(k->group->graph->alloc, sizeof *g);
    if (!g)
        return NULL;
    ts_builder_reset(b, fn);
    ts_builder_fold(b, true);
    g->k = k;
    g->e = (nd_emit){.b = b, .fn = fn, .module = module, .rank = k->axes.rank};
    memcpy(g->e.tile, k->tile, sizeof k->tile);
    g->narrow = g->e;
    fn->num_warps = k->warps;
    for (uint32_t d = 0; d < k->axes.rank; d++)
        g->narrow.tile[d] = k->axes.folded[d] ? 1 : k->tile[d];
    build_params(g, b);
    return g;
}
