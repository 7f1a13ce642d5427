/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements where a mask is true, or their places. In host memory loops (mask.c); elsewhere one kernel, which reads its
 * operands once and computes mask and elements as it goes. Blocks draw tickets for tiles, publish how many elements of
 * theirs are true, and look at what was published of all tiles before (D. Merrill and M. Garland, "Single-pass
 * parallel prefix scan with decoupled look-back", 2016). A block that takes several tiles keeps the sum of all windows
 * of 256 tiles before its own, so it looks at each once.
 *
 *     mask     1 0 1 1 | 0 0 1 0      published  3 1
 *     result   a c d     g            tile 0 writes from 0 on, tile 1 from 3 on
 *
 * The result is as long as the mask until the count is known. Where there is no memory for that, the kernel runs twice
 * and counts first.
 */
#include "numeric/group.h"

enum {
    COMPRESS_TILE = 4096, /* elements; H200: 2,257 GB/s of x[x > 0] by 4 warps, 2,113 by 8; of 2,048 1,967 by 4 */
    COMPRESS_LEAST = 1024, /* .. where they are complex128, of which more do not fit the registers */
    COMPRESS_WARPS = 4,
    COMPRESS_BLOCKS = 1024, /* at most; each takes tiles until there are none */
    COMPRESS_WINDOW = 256,  /* tiles */
    COMPRESS_SPARE = 4      /* a result that is shorter than one part in so many of its memory is copied */
};

/* Words by which blocks know of each other, all 0 before: the tickets that were drawn, the number of true elements, and
 * from COMPRESS_WINDOW on one for each tile, 1 << COMPRESS_THERE | its number of true elements when it is there. */
enum { COMPRESS_DRAWN, COMPRESS_COUNT, COMPRESS_THERE = 32 };

typedef struct compress_of {
    group_kernel k;
    bool has_value, writes; /* false: it counts */
    uint32_t mask, value;   /* nodes of the group; value only if it has one */
    uint32_t words, out;    /* places; the second only if it writes */
} compress_of;

/* ---- in host memory ------------------------------------------------------------------------------ */

static ts_status compress_on_host(ts_nd *from, ts_nd *mask, ts_nd **result, ts_error *err)
{
    void *flags, *data = NULL, *out;
    ts_dtype dtype = from ? (ts_dtype)from->dtype : TS_DTYPE_int64;
    if (from)
        TS_TRY(ts__nd_memory(from, TS_ND_CAUSE_places, false, &data, NULL, err));
    TS_TRY(ts__nd_memory(mask, TS_ND_CAUSE_places, false, &flags, NULL, err));
    int64_t count = ts__nd_mask_count(flags, mask->count);
    TS_TRY(ts_nd_empty(mask->graph, dtype, 1, &count, false, result, err));
    ts_status status = ts__nd_memory(*result, TS_ND_CAUSE_places, false, &out, NULL, err);
    if (status == TS_OK)
        ts__nd_mask_take(mask->graph->device, data, flags, mask->count, count, ts_dtype_bytes(dtype), out);
    else
        ts_nd_release(*result), *result = NULL;
    return status;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

/* Which elements of this tile are true. */
static ts_val compress_flags(const group_build *g, ts_builder *b, const compress_of *c)
{
    return ts_op2(b, TS_OP_andi, g->node[c->mask].re, ts__nd_build_inside(g, b, 1), 0);
}

static ts_val compress_numbers(const group_build *g, ts_val flags)
{
    return ts__nd_emit_cast(&g->e, (nd_val){.re = flags}, TS_DTYPE_bool_, TS_DTYPE_int32).re;
}

/* Of a tile of i32, as i64. */
static ts_val compress_sum(const nd_emit *tile, ts_val numbers)
{
    nd_emit e = ts__nd_emit_at(tile, TS_DTYPE_int32);
    nd_val sum = ts__nd_fold_tile(&e, TS_ND_SUM, (nd_val){.re = numbers}, 0, 1);
    return ts_cast(e.b, TS_OP_exti, ts_reshape(e.b, sum.re, TS_T_i32), TS_T_i64, 0);
}

static ts_val compress_running(const group_build *g, ts_builder *b, ts_val numbers)
{
    uint64_t neutral = 0;
    ts_val scan = ts_reduce_begin(b, TS_OP_scan, 0, false, 1, &numbers, &neutral);
    ts_val sum = ts_op2(b, TS_OP_addi, ts_region_arg(g->e.fn, scan, 0), ts_region_arg(g->e.fn, scan, 1), 0);
    ts_term(b, TS_OP_yield, 1, &sum);
    ts_end_like(b, scan);
    return ts_res(b, scan, 0);
}

/* Pointer to a word; `index` is an i32 or a tile of them. */
static ts_val compress_word(const group_build *g, ts_builder *b, const compress_of *c, ts_val index)
{
    const nd_emit *e = &g->e;
    ts_val pointer = g->pointer[c->words];
    ts_type type = ts_val_type(e->fn, index);
    if (ts_type_kind(e->module, type) == TS_KIND_TILE) {
        int64_t n = COMPRESS_WINDOW;
        pointer = ts_broadcast(b, pointer, ts_type_tile(e->module, ts_val_type(e->fn, pointer), 1, &n));
    }
    return ts_op2(b, TS_OP_offset, pointer, index, 0);
}

static const uint32_t compress_relaxed = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE);

static ts_val compress_add(const group_build *g, ts_builder *b, const compress_of *c, int word, ts_val x)
{
    ts_val opnds[2] = {compress_word(g, b, c, ts_int(b, TS_T_i32, word)), x};
    return ts_emit(b, TS_OP_atomic_rmw_tko, TS_T_i64, 2, opnds, compress_relaxed | TS_M_MODE(TS_RMW_ADD), 0);
}

static void compress_put(const group_build *g, ts_builder *b, const compress_of *c, ts_val word, ts_val x)
{
    ts_val opnds[2] = {compress_word(g, b, c, word), x};
    (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 2, opnds, compress_relaxed, 0);
}

/* The number of a tile that nobody has yet. */
static ts_val compress_ticket(const group_build *g, ts_builder *b, const compress_of *c)
{
    ts_val drawn = compress_add(g, b, c, COMPRESS_DRAWN, ts_int(b, TS_T_i64, 1));
    return ts_cast(b, TS_OP_trunci, drawn, TS_T_i32, 0);
}

static void compress_leave_if(ts_builder *b, ts_val cond, uint32_t n, const ts_val *values)
{
    ts_val opener = ts_if_begin(b, cond);
    ts_term(b, TS_OP_break, n, values);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, opener, 0, NULL);
}

/* True elements of the first `count` tiles of a window, as soon as they are published; i64. */
static ts_val compress_window(const group_build *g, ts_builder *b, const compress_of *c, ts_val window, ts_val count)
{
    nd_emit w = ts__nd_emit_at(&g->e, TS_DTYPE_int32);
    int64_t n = COMPRESS_WINDOW;
    w.tile[0] = n;
    ts_type i32 = ts_type_tile(w.module, TS_T_i32, 1, &n), i64 = ts_type_tile(w.module, TS_T_i64, 1, &n);
    ts_val lanes = ts_emit(b, TS_OP_iota, i32, 0, NULL, 0, 0), words = ts_int(b, i64, 0);
    ts_val wanted = ts_cmp(b, TS_OP_cmpi, TS_LT, lanes, ts_broadcast(b, count, i32), 0);
    ts_val first = ts_op2(b, TS_OP_addi, window, ts_int(b, TS_T_i32, 1), 0);
    first = ts_op2(b, TS_OP_muli, first, ts_int(b, TS_T_i32, COMPRESS_WINDOW), 0);
    ts_val at = ts_op2(b, TS_OP_addi, lanes, ts_broadcast(b, first, i32), 0);
    ts_val loop = ts_loop_begin(b, 1, &words), pointers = compress_word(g, b, c, at);
    words = ts_emit(b, TS_OP_load_ptr_tko, i64, 1, &pointers, compress_relaxed, 0);
    ts_val there = ts_op2(b, TS_OP_shri, words, ts_int(b, i64, COMPRESS_THERE), TS_A_UNSIGNED);
    there = ts_select(b, wanted, ts_cast(b, TS_OP_trunci, there, TS_T_i32, 0), ts_int(b, i32, 1));
    there = ts_reshape(b, ts__nd_fold_tile(&w, TS_ND_MIN, (nd_val){.re = there}, 0, 1).re, TS_T_i32);
    compress_leave_if(b, ts_cmp(b, TS_OP_cmpi, TS_NE, there, ts_int(b, TS_T_i32, 0), 0), 1, &words);
    ts_term(b, TS_OP_continue, 1, &words);
    ts_end_like(b, loop);
    words = ts_cast(b, TS_OP_trunci, ts_res(b, loop, 0), TS_T_i32, 0);
    words = ts_select(b, wanted, words, ts_int(b, i32, 0));
    return compress_sum(&w, words);
}

/* True elements of all tiles before this one: of the windows in *carry, which are *windows, and of what is behind. */
static ts_val compress_before(const group_build *g, ts_builder *b, const compress_of *c, ts_val tile, ts_val *windows,
                              ts_val *carry)
{
    ts_val width = ts_int(b, TS_T_i32, COMPRESS_WINDOW), one = ts_int(b, TS_T_i32, 1);
    ts_val whole = ts_op2(b, TS_OP_divi, tile, width, 0);
    ts_val loop = ts_for_begin(b, *windows, whole, one, 1, carry, 0);
    ts_val sum = compress_window(g, b, c, ts_region_arg(g->e.fn, loop, 0), width);
    sum = ts_op2(b, TS_OP_addi, ts_region_arg(g->e.fn, loop, 1), sum, 0);
    ts_term(b, TS_OP_continue, 1, &sum);
    ts_end_like(b, loop);
    *carry = ts_res(b, loop, 0);
    *windows = whole;
    return ts_op2(b, TS_OP_addi, *carry, compress_window(g, b, c, whole, ts_op2(b, TS_OP_remi, tile, width, 0)), 0);
}

/* A tile on its way: its number, how many of its elements are true and which, what they are. */
typedef struct compress_tile {
    ts_val at, count, flags;
    nd_val value;
} compress_tile;

enum { COMPRESS_TILE_VALUES = 5 };

static uint32_t compress_pack(const compress_tile *tile, ts_val *out)
{
    uint32_t n = 0;
    out[n++] = tile->at, out[n++] = tile->count, out[n++] = tile->flags;
    out[n++] = tile->value.re;
    if (tile->value.im)
        out[n++] = tile->value.im;
    return n;
}

static compress_tile compress_unpack(const compress_tile *like, const ts_val *in)
{
    uint32_t n = 0;
    compress_tile tile = {.at = in[n++]};
    tile.count = in[n++], tile.flags = in[n++];
    tile.value.re = in[n++];
    if (like->value.im)
        tile.value.im = in[n++];
    return tile;
}

/* Draws a tile, reads it and publishes its count; what is behind the last one nobody looks at. */
static compress_tile compress_draw(group_build *g, ts_builder *b, const compress_of *c, ts_val tiles)
{
    compress_tile tile = {.at = compress_ticket(g, b, c)};
    nd_val number[TS_COUNT(g->number)], narrow[TS_COUNT(g->narrow_number)];
    memcpy(number, g->number, sizeof number);
    memcpy(narrow, g->narrow_number, sizeof narrow);
    ts_val at = ts_op2(b, TS_OP_mini, tile.at, ts_op2(b, TS_OP_subi, tiles, ts_int(b, TS_T_i32, 1), 0), 0);
    g->at[0] = g->k->index == TS_T_i64 ? ts_cast(b, TS_OP_exti, at, TS_T_i64, 0) : at;
    ts__nd_build_values(g, b);
    ts__nd_build_told(g, b);
    memcpy(g->number, number, sizeof number); /* made into tiles within a region, they are of no use outside */
    memcpy(g->narrow_number, narrow, sizeof narrow);
    tile.flags = compress_flags(g, b, c);
    tile.count = compress_sum(&g->e, compress_numbers(g, tile.flags));
    tile.value = c->has_value ? g->node[c->value] : (nd_val){.re = ts__nd_build_numbers(g, b, 0)};
    if (!c->writes)
        return tile;
    ts_val word = ts_op2(b, TS_OP_mini, tile.at, tiles, 0), there = ts_int(b, TS_T_i64, (int64_t)1 << COMPRESS_THERE);
    word = ts_op2(b, TS_OP_addi, word, ts_int(b, TS_T_i32, COMPRESS_WINDOW), 0);
    compress_put(g, b, c, word, ts_op2(b, TS_OP_ori, tile.count, there, 0));
    return tile;
}

/* Writes this tile's elements from `base` on. */
static void compress_write(const group_build *g, ts_builder *b, const compress_of *c, const compress_tile *tile,
                           ts_val base)
{
    nd_emit e = ts__nd_emit_at(&g->e, TS_DTYPE_int64);
    ts_type wide = ts__nd_emit_type(&e, TS_T_i64);
    ts_dtype dtype = (ts_dtype)c->k.group->places[c->out].dtype;
    ts_val running = ts_cast(b, TS_OP_exti, compress_running(g, b, compress_numbers(g, tile->flags)), TS_T_i64, 0);
    ts_val first = ts_op2(b, TS_OP_subi, base, ts_int(b, TS_T_i64, 1), 0);
    ts_val offsets = ts_op2(b, TS_OP_addi, running, ts_broadcast(b, first, wide), 0);
    nd_val value = tile->value;
    ts_type pointer = ts__nd_emit_type(&e, ts_val_type(e.fn, g->pointer[c->out]));
    if (!c->has_value && g->k->index == TS_T_i32)
        value.re = ts_cast(b, TS_OP_exti, value.re, TS_T_i64, 0);
    ts_val opnds[3] = {ts_op2(b, TS_OP_offset, ts_broadcast(b, g->pointer[c->out], pointer), offsets, 0),
                       ts__nd_emit_stored(&g->e, value, dtype), tile->flags};
    (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 3, opnds, 0, TS_F_MASK);
}

/* Tile after tile, until all have somebody. The next tile's count is published before this one's place is looked for.
 * The block of the last one knows how many elements are true; where nothing is written, all add what they counted. */
static void compress_emit(void *user, ts_module *module, ts_builder *b)
{
    const compress_of *c = user;
    const ts_alloc *alloc = c->k.group->graph->alloc;
    group_build *g = ts__nd_build_begin(&c->k, "compress", module, b);
    if (!g)
        return;
    ts_val tiles = ts__nd_build_tiles(g, b, 0), values[2 + COMPRESS_TILE_VALUES];
    tiles = g->k->index == TS_T_i64 ? ts_cast(b, TS_OP_trunci, tiles, TS_T_i32, 0) : tiles;
    compress_tile tile = compress_draw(g, b, c, tiles);
    values[0] = ts_int(b, TS_T_i32, 0);
    values[1] = ts_int(b, TS_T_i64, 0);
    uint32_t n = 2 + compress_pack(&tile, values + 2);
    ts_val loop = ts_loop_begin(b, n, values);
    for (uint32_t i = 0; i < n; i++)
        values[i] = ts_region_arg(g->e.fn, loop, i);
    tile = compress_unpack(&tile, values + 2);
    compress_leave_if(b, ts_cmp(b, TS_OP_cmpi, TS_GE, tile.at, tiles, 0), n, values);
    compress_tile next = compress_draw(g, b, c, tiles);
    if (c->writes) {
        ts_val before = compress_before(g, b, c, tile.at, &values[0], &values[1]);
        compress_write(g, b, c, &tile, before);
        ts_val last = ts_op2(b, TS_OP_subi, tiles, ts_int(b, TS_T_i32, 1), 0);
        ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, tile.at, last, 0));
        compress_put(g, b, c, ts_int(b, TS_T_i32, COMPRESS_COUNT), ts_op2(b, TS_OP_addi, before, tile.count, 0));
        ts_if_end(b, opener);
    } else
        values[1] = ts_op2(b, TS_OP_addi, values[1], tile.count, 0);
    (void)compress_pack(&next, values + 2);
    ts_term(b, TS_OP_continue, n, values);
    ts_end_like(b, loop);
    if (!c->writes)
        (void)compress_add(g, b, c, COMPRESS_COUNT, ts_res(b, loop, 1));
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}

/* ---- running ------------------------------------------------------------------------------------- */

/* Elements of a tile: of 16 bytes, stored or on the way, fewer. */
static int64_t compress_width(const nd_group *group)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < group->n_places; p++)
        bytes = TS_MAX(bytes, ts_dtype_bytes((ts_dtype)group->places[p].dtype));
    for (uint32_t n = 0; n < group->n_nodes; n++)
        bytes = TS_MAX(bytes, ts_dtype_bytes((ts_dtype)group->nodes[n]->loop));
    return bytes > 8 ? COMPRESS_LEAST : COMPRESS_TILE;
}

static int64_t compress_tiles(int64_t n, int64_t width)
{
    return (n + width - 1) / width;
}

/* Adds memory as a place without axes that the kernel itself looks at. */
static ts_status compress_place(nd_group *group, nd_node *node, ts_nd *a, uint32_t *place, ts_error *err)
{
    static const int64_t none[TS_ND_RANK];
    void *data;
    ts_buffer *buffer;
    TS_TRY(ts__nd_memory(a, TS_ND_CAUSE_places, false, &data, &buffer, err));
    if (group->n_places == ND_GROUP_MEMORY)
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    *place = group->n_places;
    group->places[group->n_places++] = (nd_place){data, buffer, none, a->dtype, node};
    return TS_OK;
}

/* Counts (out NULL), or writes. `words` are all 0. */
static ts_status compress_run(nd_node *value, nd_node *mask, ts_nd *words, ts_nd *out, ts_error *err)
{
    nd_group group;
    compress_of c = {.has_value = value != NULL, .writes = out != NULL};
    nd_launch launch;
    ts__nd_group_begin(&group, words->graph, mask);
    bool fits = ts__nd_group_add(&group, mask);
    c.mask = group.n_nodes - 1;
    if (value && out) {
        fits = fits && ts__nd_group_add(&group, value);
        c.value = group.n_nodes - 1;
    }
    if (!fits)
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    TS_TRY(compress_place(&group, mask, words, &c.words, err));
    if (out)
        TS_TRY(compress_place(&group, mask, out, &c.out, err));
    c.k.group = &group;
    if (!ts__nd_axes_of(&group, 0, &c.k.axes) || c.k.axes.rank != 1)
        return ts_fail(err, TS_INTERNAL, "a mask of one axis became %u axes", c.k.axes.rank);
    c.k.own = 0;
    c.k.warps = COMPRESS_WARPS;
    c.k.tile[0] = compress_width(&group);
    ts__nd_kernel_places(&c.k);
    launch.n = launch.n_key = 0;
    launch.apart = launch.brief = false;
    ts__nd_launch_key(&launch, c.writes ? 'C' : 'N');
    ts__nd_launch_key(&launch, c.has_value);
    ts__nd_launch_key(&launch, group.n_nodes);
    ts__nd_kernel_key(&c.k, &launch);
    ts__nd_kernel_args(&c.k, &launch);
    group.graph->stats.bytes += ts__nd_group_bytes(&c.k);
    int64_t grid[3] = {TS_MIN(compress_tiles(mask->count, c.k.tile[0]), COMPRESS_BLOCKS), 1, 1};
    return ts__nd_group_done(&group, ts__nd_launch_run(group.graph, &launch, grid, compress_emit, &c, err));
}

static ts_status compress_clear(ts_nd *words, ts_error *err)
{
    TS_TRY(ts__nd_store_fill(words->store, err));
    return ts_mem_fill(words->graph->device->default_stream, ts_buffer_data(words->store->buffer), 0, 8,
                       (size_t)words->count, err);
}

/* How many elements were true, read from the device. */
static ts_status compress_length(ts_nd *words, int64_t *n, ts_error *err)
{
    ts_nd *count;
    TS_TRY(ts_nd_view(words, 8 * COMPRESS_COUNT, TS_DTYPE_int64, 0, NULL, NULL, 0, &count, err));
    ts_status status = ts__nd_read(count, 0, TS_ND_EVENT_read, "a[mask]", n, err);
    ts_nd_release(count);
    return status;
}

/* The first n elements of *a: a view, or a copy if it keeps little of the memory. */
static ts_status compress_cut(ts_nd **a, int64_t n, ts_error *err)
{
    ts_nd *all = *a, *part;
    int64_t item = (int64_t)ts_dtype_bytes((ts_dtype)all->dtype);
    if (n == all->count)
        return TS_OK;
    TS_TRY(ts_nd_view(all, 0, (ts_dtype)all->dtype, 1, &n, &item, 0, &part, err));
    ts_nd_release(all);
    *a = part;
    if (n > all->count / COMPRESS_SPARE)
        return TS_OK;
    ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = part}}};
    TS_TRY(ts_nd_run(part->graph, &copy, a, err));
    ts_nd_release(part);
    return TS_OK;
}

/* Counts, then writes into a result of just that length. */
static ts_status compress_twice(nd_node *value, nd_node *flags, ts_nd *words, ts_dtype dtype, ts_nd **result,
                                ts_error *err)
{
    int64_t n = 0;
    TS_TRY(compress_clear(words, err));
    TS_TRY(compress_run(value, flags, words, NULL, err));
    TS_TRY(compress_length(words, &n, err));
    TS_TRY(ts_nd_empty(words->graph, dtype, 1, &n, false, result, err));
    TS_TRY(compress_clear(words, err));
    return n ? compress_run(value, flags, words, *result, err) : TS_OK;
}

static ts_status compress_once(nd_node *value, nd_node *flags, ts_nd *words, ts_nd **result, ts_error *err)
{
    int64_t n = 0;
    TS_TRY(compress_clear(words, err));
    TS_TRY(compress_run(value, flags, words, *result, err));
    TS_TRY(compress_length(words, &n, err));
    return compress_cut(result, n, err);
}

ts_status ts__nd_compress_by_kernels(ts_nd *from, ts_nd *mask, bool twice, ts_nd **result, ts_error *err)
{
    nd_node *value = NULL, *flags = NULL;
    ts_nd *words = NULL;
    ts_nd_graph *graph = mask->graph;
    ts_dtype dtype = from ? (ts_dtype)from->dtype : TS_DTYPE_int64;
    int64_t windows = (compress_tiles(mask->count, COMPRESS_LEAST) + COMPRESS_WINDOW - 1) / COMPRESS_WINDOW;
    int64_t n_words = (windows + 2) * COMPRESS_WINDOW;
    ts_status status = ts__nd_value_node(mask, TS_DTYPE_bool_, mask, &flags, err);
    if (status == TS_OK && from)
        status = ts__nd_value_node(from, dtype, mask, &value, err);
    if (status == TS_OK)
        status = ts_nd_empty(graph, TS_DTYPE_int64, 1, &n_words, false, &words, err);
    if (status == TS_OK)
        status = ts_nd_empty(graph, dtype, 1, &mask->count, false, result, err);
    if (status == TS_OK && !twice) {
        status = ts__nd_store_fill((*result)->store, err);
        twice = status == TS_NOMEM;
    }
    if (twice && *result) {
        ts_nd_release(*result);
        *result = NULL;
        status = compress_twice(value, flags, words, dtype, result, err);
    } else if (status == TS_OK)
        status = compress_once(value, flags, words, result, err);
    ts__nd_node_release(graph, value);
    ts__nd_node_release(graph, flags);
    ts_nd_release(words);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
    }
    return status;
}

/* The array along one axis, row-major: itself, a view, or a copy. */
static ts_status compress_flat(ts_nd *a, ts_nd **flat, ts_error *err)
{
    int64_t item = a->item;
    bool dense = nd_is_dense(a, 0);
    *flat = NULL;
    if (dense && a->rank == 1) {
        ts_nd_retain(a);
        *flat = a;
        return TS_OK;
    }
    ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = a}}, .order = 'C'};
    ts_nd *lies = a;
    if (dense)
        ts_nd_retain(a);
    else
        TS_TRY(ts_nd_run(a->graph, &copy, &lies, err));
    ts_status status = ts_nd_view(lies, 0, (ts_dtype)a->dtype, 1, &a->count, &item, 0, flat, err);
    ts_nd_release(lies);
    return status;
}

ts_status ts_nd_compress(ts_nd *from, ts_nd *mask, ts_nd **result, ts_error *err)
{
    ts_nd *flags = NULL, *values = NULL;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, mask);
    TS_TRY(ts__nd_meet_few(mask->count, (ts_nd *const[]){mask, from}, 2, err));
    bool on_host = ts_device_caps_of(mask->graph->device) & TS_DEVICE_HOST_MEMORY;
    if (mask->dtype != TS_DTYPE_bool_ || (from && from->count != mask->count))
        return ts_fail(err, TS_VALUE, "a mask is bool and has as many elements as the array");
    TS_TRY(ts__nd_numbers(from, "compress", err));
    TS_TRY(ts__nd_same_device(mask->graph, from, "compress", err));
    nd_inside_begin(mask->graph);
    ts_status status = compress_flat(mask, &flags, err);
    if (status == TS_OK && from)
        status = compress_flat(from, &values, err);
    if (status == TS_OK)
        status = on_host || !mask->count ? compress_on_host(values, flags, result, err)
                                         : ts__nd_compress_by_kernels(values, flags, false, result, err);
    nd_inside_end(mask->graph);
    ts_nd_release(flags), ts_nd_release(values);
    if (status == TS_OK && from)
        nd_means(*result, from);
    return status;
}
