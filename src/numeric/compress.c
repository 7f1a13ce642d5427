/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements where a mask is true, or their places. In host memory a loop; elsewhere two kernels: each block counts the
 * true elements of a chunk, the counts are summed, and each block writes its own behind those of the blocks before it.
 * What mask and elements are computed of is part of both kernels.
 *
 *     mask     1 0 1 1 | 0 0 1 0      counts  3 1      sums  3 4
 *     result   a c d     g            block 0 writes from 0 on, block 1 from 3 on
 */
#include "numeric/group.h"

enum { COMPRESS_TILES = 16 }; /* of a chunk */

typedef struct compress_of {
    group_kernel k;
    bool has_value, writes; /* false: it counts */
    uint32_t mask, value;   /* nodes of the group; value only if it has one */
    uint32_t counts, sums, out; /* places; the last two only if it writes */
} compress_of;

/* ---- in host memory ------------------------------------------------------------------------------ */

static int64_t compress_count(const uint8_t *mask, int64_t n)
{
    enum { RUN = 192 }; /* that a byte counts */
    int64_t count = 0, i = 0;
    for (; i + RUN <= n; i += RUN) {
        uint8_t some = 0;
        for (int j = 0; j < RUN; j++)
            some = (uint8_t)(some + (mask[i + j] != 0));
        count += some;
    }
    for (; i < n; i++)
        count += mask[i] != 0;
    return count;
}

enum { COMPRESS_RUN = 32 }; /* elements that are left out together where all are false */

/* The first element from i on that no such run of false ones begins at. */
static inline int64_t compress_next(const uint8_t *mask, int64_t i, int64_t n)
{
    uint64_t run[COMPRESS_RUN / 8];
    for (; i + COMPRESS_RUN <= n; i += COMPRESS_RUN) {
        memcpy(run, mask + i, sizeof run);
        if (run[0] | run[1] | run[2] | run[3])
            break;
    }
    return i;
}

/* One store for each element, so that nothing depends on how the mask alternates; the last run ends with the last
 * element that is true. */
#define COMPRESS_LOOP(type, value)                                                    \
    do {                                                                              \
        type *y = out;                                                                \
        int64_t i = 0, k = 0;                                                         \
        while ((i = compress_next(mask, i, n)) < n && k + COMPRESS_RUN <= count)      \
            for (int64_t end = TS_MIN(i + COMPRESS_RUN, n); i < end; i++) {           \
                y[k] = value;                                                         \
                k += mask[i] != 0;                                                    \
            }                                                                         \
        for (; i < n && k < count; i++) {                                             \
            y[k] = value;                                                             \
            k += mask[i] != 0;                                                        \
        }                                                                             \
    } while (0)

typedef struct compress_wide {
    uint64_t part[2];
} compress_wide;

static void compress_host(const void *from, const uint8_t *mask, int64_t n, int64_t count, size_t item, void *out)
{
    const uint8_t *bytes = from;
    const uint16_t *halves = from;
    const uint32_t *words = from;
    const uint64_t *longs = from;
    const compress_wide *wide = from;
    switch (from ? item : 0) {
    case 1: COMPRESS_LOOP(uint8_t, bytes[i]); break;
    case 2: COMPRESS_LOOP(uint16_t, halves[i]); break;
    case 4: COMPRESS_LOOP(uint32_t, words[i]); break;
    case 8: COMPRESS_LOOP(uint64_t, longs[i]); break;
    case 16: COMPRESS_LOOP(compress_wide, wide[i]); break;
    default: COMPRESS_LOOP(int64_t, i);
    }
}

static ts_status compress_on_host(ts_nd *from, ts_nd *mask, ts_nd **result, ts_error *err)
{
    void *flags, *data = NULL, *out;
    ts_dtype dtype = from ? (ts_dtype)from->dtype : TS_DTYPE_int64;
    if (from)
        TS_TRY(ts__nd_memory(from, TS_ND_CAUSE_places, false, &data, NULL, err));
    TS_TRY(ts__nd_memory(mask, TS_ND_CAUSE_places, false, &flags, NULL, err));
    int64_t count = compress_count(flags, mask->count);
    TS_TRY(ts_nd_empty(mask->graph, dtype, 1, &count, false, result, err));
    ts_status status = ts__nd_memory(*result, TS_ND_CAUSE_places, false, &out, NULL, err);
    if (status == TS_OK)
        compress_host(data, flags, mask->count, count, ts_dtype_bytes(dtype), out);
    else
        ts_nd_release(*result), *result = NULL;
    return status;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

/* Which elements of this tile are true, as i1 and as i32. */
static ts_val compress_flags(const group_build *g, ts_builder *b, const compress_of *c, ts_val *numbers)
{
    nd_val flags = {.re = ts_op2(b, TS_OP_andi, g->node[c->mask].re, ts__nd_build_inside(g, b, 1), 0)};
    *numbers = ts__nd_emit_cast(&g->e, flags, TS_DTYPE_bool_, TS_DTYPE_int32).re;
    return flags.re;
}

static ts_val compress_sum(const group_build *g, ts_val numbers)
{
    nd_emit e = ts__nd_emit_at(&g->e, TS_DTYPE_int32);
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

static ts_val compress_at(const group_build *g, ts_builder *b, uint32_t p)
{
    ts_val place = ts_op2(b, TS_OP_offset, g->pointer[p], ts_block_id(b, 0), 0);
    return ts_emit(b, TS_OP_load_ptr_tko, TS_T_i64, 1, &place, 0, 0);
}

/* Writes this tile's elements from `base` on. */
static void compress_write(const group_build *g, ts_builder *b, const compress_of *c, ts_val flags, ts_val numbers,
                           ts_val base)
{
    nd_emit e = ts__nd_emit_at(&g->e, TS_DTYPE_int64);
    ts_type wide = ts__nd_emit_type(&e, TS_T_i64);
    ts_dtype dtype = (ts_dtype)c->k.group->places[c->out].dtype;
    ts_val running = ts_cast(b, TS_OP_exti, compress_running(g, b, numbers), TS_T_i64, 0);
    ts_val first = ts_op2(b, TS_OP_subi, base, ts_int(b, TS_T_i64, 1), 0);
    ts_val offsets = ts_op2(b, TS_OP_addi, running, ts_broadcast(b, first, wide), 0);
    ts_type pointer = ts__nd_emit_type(&e, ts_val_type(e.fn, g->pointer[c->out]));
    nd_val value = {.re = 0};
    if (c->has_value)
        value = g->node[c->value];
    else
        value.re = ts__nd_build_numbers(g, b, 0);
    if (!c->has_value && g->k->index == TS_T_i32)
        value.re = ts_cast(b, TS_OP_exti, value.re, TS_T_i64, 0);
    ts_val opnds[3] = {ts_op2(b, TS_OP_offset, ts_broadcast(b, g->pointer[c->out], pointer), offsets, 0),
                       ts__nd_emit_stored(&g->e, value, dtype), flags};
    (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 3, opnds, 0, TS_F_MASK);
}

/* One block for a chunk: its tiles in order, with the number of true elements so far. */
static void compress_emit(void *user, ts_module *module, ts_builder *b)
{
    const compress_of *c = user;
    const ts_alloc *alloc = c->k.group->graph->alloc;
    group_build *g = ts__nd_build_begin(&c->k, "compress", module, b);
    if (!g)
        return;
    ts_type index = g->k->index;
    ts_val block = ts_block_id(b, 0), numbers, one = ts_int(b, index, 1);
    block = index == TS_T_i64 ? ts_cast(b, TS_OP_exti, block, TS_T_i64, 0) : block;
    ts_val begin = ts_op2(b, TS_OP_muli, block, ts_int(b, index, COMPRESS_TILES), 0);
    ts_val tiles = ts_op2(b, TS_OP_addi, g->extent[0], ts_int(b, index, g->k->tile[0] - 1), 0);
    tiles = ts_op2(b, TS_OP_divi, tiles, ts_int(b, index, g->k->tile[0]), 0);
    ts_val end = ts_op2(b, TS_OP_addi, begin, ts_int(b, index, COMPRESS_TILES), 0);
    ts_val so_far = ts_int(b, TS_T_i64, 0);
    if (c->writes)
        so_far = ts_op2(b, TS_OP_subi, compress_at(g, b, c->sums), compress_at(g, b, c->counts), 0);
    ts_val loop = ts_for_begin(b, begin, ts_op2(b, TS_OP_mini, end, tiles, 0), one, 1, &so_far, 0);
    g->at[0] = ts_region_arg(g->e.fn, loop, 0);
    so_far = ts_region_arg(g->e.fn, loop, 1);
    ts__nd_build_values(g, b);
    ts__nd_build_told(g, b);
    ts_val flags = compress_flags(g, b, c, &numbers);
    if (c->writes)
        compress_write(g, b, c, flags, numbers, so_far);
    so_far = ts_op2(b, TS_OP_addi, so_far, compress_sum(g, numbers), 0);
    ts_term(b, TS_OP_continue, 1, &so_far);
    ts_end_like(b, loop);
    so_far = ts_res(b, loop, 0);
    if (!c->writes) {
        ts_val opnds[2] = {ts_op2(b, TS_OP_offset, g->pointer[c->counts], ts_block_id(b, 0), 0), so_far};
        (void)ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 2, opnds, 0, 0);
    }
    ts_term(b, TS_OP_return, 0, NULL);
    ts__delete(alloc, g, sizeof *g);
}

/* ---- running ------------------------------------------------------------------------------------- */

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

/* Counts (sums and out NULL), or writes. */
static ts_status compress_run(nd_node *value, nd_node *mask, ts_nd *counts, ts_nd *sums, ts_nd *out, ts_error *err)
{
    nd_group group;
    compress_of c = {.has_value = value != NULL, .writes = out != NULL};
    nd_launch launch;
    ts__nd_group_begin(&group, counts->graph, mask);
    bool fits = ts__nd_group_add(&group, mask);
    c.mask = group.n_nodes - 1;
    if (value && out) {
        fits = fits && ts__nd_group_add(&group, value);
        c.value = group.n_nodes - 1;
    }
    if (!fits)
        return ts_fail(err, TS_INTERNAL, "a value of arrays is too large for a kernel");
    TS_TRY(compress_place(&group, mask, counts, &c.counts, err));
    if (out) {
        TS_TRY(compress_place(&group, mask, sums, &c.sums, err));
        TS_TRY(compress_place(&group, mask, out, &c.out, err));
    }
    c.k.group = &group;
    if (!ts__nd_axes_of(&group, 0, &c.k.axes) || c.k.axes.rank != 1)
        return ts_fail(err, TS_INTERNAL, "a mask of one axis became %u axes", c.k.axes.rank);
    c.k.own = 0;
    ts__nd_kernel_tiles(&c.k);
    ts__nd_kernel_places(&c.k);
    launch.n = launch.n_key = 0;
    launch.apart = false;
    ts__nd_launch_key(&launch, c.writes ? 'C' : 'N');
    ts__nd_launch_key(&launch, c.has_value);
    ts__nd_launch_key(&launch, group.n_nodes);
    ts__nd_kernel_key(&c.k, &launch);
    ts__nd_kernel_args(&c.k, &launch);
    group.graph->stats.bytes += ts__nd_group_bytes(&c.k);
    int64_t grid[3] = {(c.k.n_tiles[0] + COMPRESS_TILES - 1) / COMPRESS_TILES, 1, 1};
    return ts__nd_group_done(&group, ts__nd_launch_run(group.graph, &launch, grid, compress_emit, &c, err));
}

/* The result's length is read from the device: the sum of all counts. */
static ts_status compress_length(ts_nd *counts, ts_nd **sums, int64_t *n, ts_error *err)
{
    ts_nd_reduction running = {.fold = TS_ND_SUM, .x = counts, .axes = 1, .dtype = TS_DTYPE_int64};
    ts_nd *last;
    TS_TRY(ts_nd_accumulate(counts->graph, &running, sums, err));
    TS_TRY(ts_nd_view(*sums, 8 * (counts->count - 1), TS_DTYPE_int64, 0, NULL, NULL, 0, &last, err));
    ts_status status = ts__nd_read(last, 0, TS_ND_EVENT_read, "a[mask]", n, err);
    ts_nd_release(last);
    return status;
}

ts_status ts__nd_compress_by_kernels(ts_nd *from, ts_nd *mask, ts_nd **result, ts_error *err)
{
    nd_node *value = NULL, *flags = NULL;
    ts_nd *counts = NULL, *sums = NULL;
    ts_nd_graph *graph = mask->graph;
    int64_t chunk = (int64_t)ND_TILE * COMPRESS_TILES, n_chunks = (mask->count + chunk - 1) / chunk, n = 0;
    ts_status status = ts__nd_value_node(mask, TS_DTYPE_bool_, mask, &flags, err);
    if (status == TS_OK && from)
        status = ts__nd_value_node(from, (ts_dtype)from->dtype, mask, &value, err);
    if (status == TS_OK)
        status = ts_nd_empty(graph, TS_DTYPE_int64, 1, &n_chunks, false, &counts, err);
    if (status == TS_OK)
        status = compress_run(value, flags, counts, NULL, NULL, err);
    if (status == TS_OK)
        status = compress_length(counts, &sums, &n, err);
    if (status == TS_OK)
        status = ts_nd_empty(graph, from ? (ts_dtype)from->dtype : TS_DTYPE_int64, 1, &n, false, result, err);
    if (status == TS_OK && n)
        status = compress_run(value, flags, counts, sums, *result, err);
    ts__nd_node_release(graph, value);
    ts__nd_node_release(graph, flags);
    ts_nd_release(counts), ts_nd_release(sums);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
    }
    return status;
}

/* The array along one axis, row-major: itself, a view, or a copy. */
static ts_status compress_flat(ts_nd *a, ts_nd **flat, ts_error *err)
{
    int64_t item = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype), step = item;
    bool dense = true;
    *flat = NULL;
    for (uint32_t d = a->rank; d-- > 0; step *= ts_nd_shape(a)[d])
        dense &= ts_nd_shape(a)[d] == 1 || ts_nd_strides(a)[d] == step;
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
    bool on_host = ts_device_caps_of(mask->graph->device) & TS_DEVICE_HOST_MEMORY;
    if (mask->dtype != TS_DTYPE_bool_ || (from && from->count != mask->count))
        return ts_fail(err, TS_VALUE, "a mask is bool and has as many elements as the array");
    TS_TRY(ts__nd_numbers(from, "compress", err));
    TS_TRY(ts__nd_same_device(mask->graph, from, "compress", err));
    ts_status status = compress_flat(mask, &flags, err);
    if (status == TS_OK && from)
        status = compress_flat(from, &values, err);
    if (status == TS_OK)
        status = (on_host || !mask->count ? compress_on_host : ts__nd_compress_by_kernels)(values, flags, result, err);
    ts_nd_release(flags), ts_nd_release(values);
    if (status == TS_OK && from)
        (*result)->meaning = from->meaning;
    return status;
}
