/* SPDX-License-Identifier: Apache-2.0
 *
 * A group as a kernel of loops, for processors: rows of any length, element after element, where a kernel of tiles
 * would copy each tile that sticks out of its array, fill it up and compute what fills it.
 *
 *     for each row of this block        (rows: all axes but the last, counted as one)
 *         what lies still along a row is read
 *         for j = begin; j < end; j += 32             loads and stores under masks
 *
 *     grid     rank 1: pieces of a row; else rows, then pieces of a row
 *
 * Faults (tell.c): hints of all rounds are joined, and a row's part with one is walked again. That reads operands which
 * the first walk may have replaced; kernels where it may are tiles.
 *
 * Where masks are dear, for complex numbers, whose parts are read together only where all are there, and along one axis
 * for one or two functions, where reading and writing decides, and for faults, there are two loops in a row's place,
 * one of 64 without masks and one of 16 for the rest; both take twice as long to compile.
 * Values are those of a kernel of tiles: what a function computes of an element does not depend on what is beside it.
 */
#include "base/widths.h"
#include "numeric/group.h"

enum {
    LOOP_MASKED = 32,               /* elements of a round */
    LOOP_WIDE = 64, LOOP_TAIL = 16, /* of one without masks; of those for the rest */
    LOOP_PLAIN = 2,                 /* functions of a kernel that masks would slow down */
    LOOP_BLOCK = 1 << 14,           /* elements of a block, about */
    LOOP_ROW = 1 << 21,             /* of a shape of one axis: longer ones are stored past the caches */
    LOOP_PIECES = UINT16_MAX        /* along the grid's second axis */
};

/* A row, and where a block's part of it begins and ends. */
typedef struct loop_row {
    ts_val at[ND_GROUP_MEMORY];    /* a place's address at the row's first element */
    nd_val still[ND_GROUP_MEMORY]; /* of a place that makes no step along the row: its value, a number */
    ts_val begin, end;
} loop_row;

/* Whether a result goes where an operand lies. */
static bool loop_is_read(const nd_group *group, const nd_place *to)
{
    for (uint32_t p = 0; p < group->n_places; p++) {
        const nd_place *from = &group->places[p];
        if (!from->store && from->data == to->data && from->dtype == to->dtype &&
            memcmp(from->strides, to->strides, group->rank * sizeof *to->strides) == 0)
            return true;
    }
    return false;
}

/* Elements of a shape of one axis, at most: where all results replace operands, whose lines are in the caches then,
 * writing around these takes twice the time. */
static int64_t loop_longest(const nd_group *group)
{
    for (uint32_t p = 0; p < group->n_places; p++)
        if (group->places[p].store && !loop_is_read(group, &group->places[p]))
            return LOOP_ROW;
    return INT64_MAX;
}

bool ts__nd_loop_fits(const group_kernel *k)
{
    const nd_group *group = k->group;
    uint32_t inner = k->axes.rank - 1;
    if (!(ts_device_caps_of(group->graph->device) & TS_DEVICE_HOST_MEMORY) || k->tells_first ||
        k->axes.extent[inner] > (inner ? (int64_t)LOOP_BLOCK * LOOP_PIECES : loop_longest(group)))
        return false;
    for (uint32_t n = 0; n < group->n_nodes; n++)
        if (group->nodes[n]->fn == TS_ND_gather || group->nodes[n]->fn == TS_ND_iota)
            return false;
    return true;
}

void ts__nd_loop_grid(group_kernel *k, int64_t grid[3])
{
    uint32_t inner = k->axes.rank - 1;
    for (uint32_t d = 0; d < inner; d++)
        k->tile[d] = 1;
    k->tile[inner] = LOOP_WIDE; /* of the round that is widest */
    k->own = 0;
    ts__nd_loop_blocks(k->axes.rank, k->axes.extent, grid);
}

void ts__nd_loop_blocks(uint32_t rank, const int64_t *shape, int64_t grid[3])
{
    uint32_t inner = rank - 1;
    int64_t rows = 1, extent = shape[inner], pieces = (extent + LOOP_BLOCK - 1) / LOOP_BLOCK;
    int64_t per_block = TS_MAX(LOOP_BLOCK / TS_MAX(extent, 1), 1);
    for (uint32_t d = 0; d < inner; d++)
        rows *= shape[d];
    grid[0] = inner ? (rows + per_block - 1) / per_block : pieces;
    grid[1] = inner ? pieces : 1;
    grid[2] = 1;
}

/* ---- a round ------------------------------------------------------------------------------------- */

/* Offsets, from the first element of a round on. */
static ts_val loop_lanes(const group_build *g, ts_builder *b)
{
    const nd_emit *e = &g->e;
    ts_type index = g->k->index, line = ts_type_tile(e->module, index, 1, &e->tile[e->rank - 1]);
    return ts_reshape(b, ts_emit(b, TS_OP_iota, line, 0, NULL, 0, 0), ts__nd_emit_type(e, index));
}

static ts_val loop_stride(const group_build *g, ts_builder *b, uint32_t p)
{
    uint32_t inner = g->e.rank - 1;
    return g->k->unit[p] == inner ? ts_int(b, g->k->index, 1) : g->stride[p][inner];
}

/* Addresses of a round's elements. */
static ts_val loop_pointers(const group_build *g, ts_builder *b, uint32_t p, const loop_row *row, ts_val j)
{
    const nd_emit *e = &g->e;
    ts_type index = g->k->index;
    ts_val lanes = loop_lanes(g, b), step = loop_stride(g, b, p);
    ts_val first = ts_op2(b, TS_OP_offset, row->at[p], ts_op2(b, TS_OP_muli, j, step, 0), 0);
    if (g->k->unit[p] != e->rank - 1)
        lanes = ts_op2(b, TS_OP_muli, lanes, ts_broadcast(b, step, ts__nd_emit_type(e, index)), 0);
    return ts_op2(b, TS_OP_offset, ts_broadcast(b, first, ts__nd_emit_type(e, ts_val_type(e->fn, first))), lanes, 0);
}

static nd_val loop_wide(const nd_emit *e, nd_val x)
{
    x.re = ts_broadcast(e->b, x.re, ts__nd_emit_type(e, ts_val_type(e->fn, x.re)));
    if (x.im)
        x.im = ts_broadcast(e->b, x.im, ts__nd_emit_type(e, ts_val_type(e->fn, x.im)));
    return x;
}

static void loop_round(const group_build *whole, group_build *g, ts_builder *b, const loop_row *row, ts_val j)
{
    const nd_group *group = whole->k->group;
    bool masked = whole->e.tile[whole->e.rank - 1] != LOOP_WIDE;
    *g = *whole;
    g->in_loop = true;
    nd_emit *e = &g->e;
    ts_val mask = 0;
    if (masked) {
        ts_val left = ts_op2(b, TS_OP_subi, row->end, j, 0);
        left = ts_broadcast(b, left, ts__nd_emit_type(e, g->k->index));
        mask = ts_cmp(b, TS_OP_cmpi, TS_LT, loop_lanes(g, b), left, 0);
    }
    g->lanes = mask;
    uint32_t more = masked ? TS_F_MASK : 0;
    for (uint32_t p = 0; p < group->n_places; p++) {
        ts_dtype dtype = (ts_dtype)group->places[p].dtype;
        if (group->places[p].store)
            continue;
        if (g->k->lacks[p] >> (e->rank - 1) & 1) {
            g->place[p] = loop_wide(e, row->still[p]);
            continue;
        }
        ts_val opnds[2] = {loop_pointers(g, b, p, row, j), mask};
        ts_type type = ts__nd_emit_type(e, ts__nd_memory_type(dtype));
        ts_val x = ts_emit(b, TS_OP_load_ptr_tko, type, masked ? 2 : 1, opnds, 0, more);
        g->place[p] = ts__nd_emit_loaded(e, x, dtype);
    }
    ts__nd_build_nodes(g, b);
    if (g->hint) /* whether any has; before stores, which share a loop with it */
        g->hint = ts__nd_tell_joined(e, mask ? ts_op2(b, TS_OP_andi, g->hint, mask, 0) : g->hint);
    for (uint32_t p = 0; p < group->n_places; p++) {
        const nd_place *place = &group->places[p];
        if (!place->store || g->tells)
            continue;
        nd_val value = g->node[ts__nd_group_index(group, place->store)];
        ts_val opnds[3] = {loop_pointers(g, b, p, row, j), ts__nd_emit_stored(e, value, (ts_dtype)place->dtype), mask};
        (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, masked ? 3 : 2, opnds, 0, more);
    }
    if (g->hint)
        g->hint = ts_reshape(b, g->hint, TS_T_i1);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* The rounds between two ends; whether their elements may have faults, as i1, 0: they have none to tell of. */
static ts_val loop_walk(const group_build *g, group_build *room, ts_builder *b, const loop_row *row,
                        const ts_val ends[2])
{
    bool hints = g->k->group->tells && !g->tells;
    ts_val n = ts_int(b, g->k->index, g->e.tile[g->e.rank - 1]), hint = 0;
    if (hints)
        hint = ts_int(b, TS_T_i1, 0);
    ts_val loop = ts_for_begin(b, ends[0], ends[1], n, hints, &hint, 0);
    ts_val before = hints ? ts_region_arg(g->e.fn, loop, 1) : 0;
    loop_round(g, room, b, row, ts_region_arg(g->e.fn, loop, 0));
    if (hints) /* of functions that tell by each element there is none */
        hint = room->hint ? ts_op2(b, TS_OP_ori, before, room->hint, 0) : before;
    ts_term(b, TS_OP_continue, hints, &hint);
    ts_end_like(b, loop);
    return hints ? ts_res(b, loop, 0) : 0;
}

static ts_val loop_rounds(group_build *g, group_build *room, ts_builder *b, const loop_row *row, ts_val begin,
                          int64_t width)
{
    ts_type index = g->k->index;
    uint32_t inner = g->e.rank - 1;
    ts_val n = ts_int(b, index, width), end = row->end;
    if (width == LOOP_WIDE) {
        ts_val whole = ts_op2(b, TS_OP_divi, ts_op2(b, TS_OP_subi, end, begin, 0), n, 0);
        end = ts_op2(b, TS_OP_addi, begin, ts_op2(b, TS_OP_muli, whole, n, 0), 0);
    }
    g->e.tile[inner] = g->narrow.tile[inner] = width;
    ts_val ends[2] = {begin, end}, hint = loop_walk(g, room, b, row, ends);
    if (!hint)
        return end;
    ts_val opener = ts_if_begin(b, hint);
    g->tells = true;
    (void)loop_walk(g, room, b, row, ends);
    g->tells = false;
    ts_if_end(b, opener);
    return end;
}

static void loop_row_begin(const group_build *g, ts_builder *b, const ts_val *at, loop_row *row)
{
    const nd_group *group = g->k->group;
    uint32_t inner = g->e.rank - 1;
    for (uint32_t p = 0; p < group->n_places; p++) {
        ts_dtype dtype = (ts_dtype)group->places[p].dtype;
        row->at[p] = g->pointer[p];
        for (uint32_t d = 0; d < inner; d++) {
            if (g->k->lacks[p] >> d & 1)
                continue;
            ts_val step = g->k->unit[p] == d ? at[d] : ts_op2(b, TS_OP_muli, at[d], g->stride[p][d], 0);
            row->at[p] = ts_op2(b, TS_OP_offset, row->at[p], step, 0);
        }
        if (group->places[p].store || !(g->k->lacks[p] >> inner & 1))
            continue;
        ts_val x = ts_emit(b, TS_OP_load_ptr_tko, ts__nd_memory_type(dtype), 1, &row->at[p], 0, 0);
        row->still[p] = ts__nd_emit_loaded(&g->e, x, dtype);
    }
}

static bool loop_is_split(const nd_group *group, uint32_t rank)
{
    bool split = rank == 1 && (group->tells || group->n_nodes <= LOOP_PLAIN);
    split |= ts__vector_bytes() < 64;
    for (uint32_t p = 0; p < group->n_places; p++)
        split |= nd_kind((ts_dtype)group->places[p].dtype) == 'c';
    return split;
}

static void loop_of_row(group_build *g, group_build *room, ts_builder *b, loop_row *row, const ts_val *at)
{
    loop_row_begin(g, b, at, row);
    if (!loop_is_split(g->k->group, g->e.rank)) {
        (void)loop_rounds(g, room, b, row, row->begin, LOOP_MASKED);
        return;
    }
    ts_val begin = loop_rounds(g, room, b, row, row->begin, LOOP_WIDE);
    (void)loop_rounds(g, room, b, row, begin, LOOP_TAIL);
}

/* This block's part along an axis of the grid: `per` at each place, of `all`. */
static void loop_part(const group_build *g, ts_builder *b, ts_val id, ts_val per, ts_val all, ts_val part[2])
{
    id = g->k->index == TS_T_i64 ? ts_cast(b, TS_OP_exti, id, TS_T_i64, 0) : id;
    part[0] = ts_op2(b, TS_OP_muli, id, per, 0);
    part[1] = ts_op2(b, TS_OP_mini, all, ts_op2(b, TS_OP_addi, part[0], per, 0), 0);
}

static void loop_rows(group_build *g, group_build *room, ts_builder *b, loop_row *row)
{
    ts_type index = g->k->index;
    uint32_t inner = g->e.rank - 1;
    ts_val extent = g->extent[inner], block = ts_int(b, index, LOOP_BLOCK), part[2], at[TS_MAX_RANK] = {0};
    loop_part(g, b, ts_block_id(b, inner ? 1 : 0), block, extent, part);
    row->begin = part[0];
    row->end = part[1];
    if (!inner) {
        loop_of_row(g, room, b, row, at);
        return;
    }
    ts_val all = g->extent[0], per = ts_op2(b, TS_OP_maxi, ts_op2(b, TS_OP_divi, block, extent, 0),
                                            ts_int(b, index, 1), 0);
    for (uint32_t d = 1; d < inner; d++)
        all = ts_op2(b, TS_OP_muli, all, g->extent[d], 0);
    loop_part(g, b, ts_block_id(b, 0), per, all, part);
    ts_val loop = ts_for_begin(b, part[0], part[1], ts_int(b, index, 1), 0, NULL, 0);
    ts_val rest = ts_region_arg(g->e.fn, loop, 0);
    for (uint32_t d = inner; d-- > 1; rest = ts_op2(b, TS_OP_divi, rest, g->extent[d], 0))
        at[d] = ts_op2(b, TS_OP_remi, rest, g->extent[d], 0);
    at[0] = rest;
    loop_of_row(g, room, b, row, at);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end_like(b, loop);
}

void ts__nd_loop_write(void *user, ts_module *module, ts_builder *b)
{
    const group_kernel *k = user;
    const ts_alloc *alloc = k->group->graph->alloc;
    group_build *g = ts__nd_build_begin(k, "elementwise", module, b), *room = ts__new(alloc, sizeof *room);
    loop_row *row = ts__new(alloc, sizeof *row);
    if (g && room && row) {
        loop_rows(g, room, b, row);
        ts_term(b, TS_OP_return, 0, NULL);
    }
    ts__delete(alloc, row, sizeof *row);
    ts__delete(alloc, room, sizeof *room);
    ts__delete(alloc, g, sizeof *g);
}
