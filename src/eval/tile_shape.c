/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at tile level: making and reshaping tiles, and the promises of `assume`.
 */
#include "eval/tile.h"

static int64_t shape_count(const eval_tile *t, ts_val v)
{
    return ts_type_count(t->module, ts_type_of(t->fn, v));
}

ts_status eval_tile_param(eval_tile *t, ts_val v)
{
    return eval_param(&t->run, v, t->value[v]);
}

ts_status eval_tile_constant(eval_tile *t, ts_val v)
{
    if (t->filled[v])
        return TS_OK;
    t->filled[v] = true;
    return eval_constant(&t->run, v, t->value[v], shape_count(t, v));
}

ts_status eval_tile_iota(eval_tile *t, ts_val v)
{
    ts_type elem = ts_type_elem(t->module, ts_type_of(t->fn, v));
    for (int64_t i = 0; i < shape_count(t, v); i++)
        t->value[v][i] = ts__scalar_wrap(elem, (uint64_t)i);
    return TS_OK;
}

ts_status eval_tile_get_tile_block_id(eval_tile *t, ts_val v)
{
    uint32_t axis = ts_at(t->fn, v)->aux;
    t->value[v][0] = axis < 3 ? t->run.block[axis] : 0;
    return axis < 3 ? TS_OK : eval_fail(&t->run, v, TS_VERIFY, "axis %u of a grid", axis);
}

ts_status eval_tile_get_num_tile_blocks(eval_tile *t, ts_val v)
{
    uint32_t axis = ts_at(t->fn, v)->aux;
    t->value[v][0] = axis < 3 ? t->run.grid[axis] : 0;
    return axis < 3 ? TS_OK : eval_fail(&t->run, v, TS_VERIFY, "axis %u of a grid", axis);
}

/* Blocks run one after the other here. */
ts_status eval_tile_grid_sync(eval_tile *t, ts_val v)
{
    const uint32_t *grid = t->run.grid;
    return grid[0] == 1 && grid[1] == 1 && grid[2] == 1
               ? TS_OK
               : eval_fail(&t->run, v, TS_UNSUPPORTED, "blocks that wait for each other are not run by the interpreter "
                           "of tiles; take one block");
}

/* Fills the result from operand 0: element `index` comes from `from(index)`. */
ts_status eval_tile_broadcast(eval_tile *t, ts_val v)
{
    ts_type to = ts_type_of(t->fn, v), from = eval_tile_type(t, v, 0);
    const int64_t *dims = ts_type_dims(t->module, to), *small = ts_type_dims(t->module, from);
    uint32_t rank = ts_type_rank(t->module, to);
    const uint64_t *x = eval_tile_opnd(t, v, 0);
    int64_t index[TS_MAX_RANK] = {0};
    if (ts_type_rank(t->module, from) != rank && ts_type_count(t->module, from) != 1)
        return eval_fail(&t->run, v, TS_VERIFY, "broadcast changes the rank");
    for (int64_t i = 0; i < shape_count(t, v); i++, eval_next(index, dims, rank)) {
        int64_t at = 0;
        for (uint32_t d = 0; d < rank && small; d++)
            at = at * small[d] + (small[d] == 1 ? 0 : index[d]);
        t->value[v][i] = x[at];
    }
    return TS_OK;
}

ts_status eval_tile_reshape(eval_tile *t, ts_val v)
{
    if (ts_type_count(t->module, eval_tile_type(t, v, 0)) != shape_count(t, v))
        return eval_fail(&t->run, v, TS_VERIFY, "reshape changes the number of elements");
    memcpy(t->value[v], eval_tile_opnd(t, v, 0), (size_t)shape_count(t, v) * sizeof(uint64_t));
    return TS_OK;
}

/* result[i0, i1, ..] = x[j] with j[axes[d]] = i[d]. */
ts_status eval_tile_permute(eval_tile *t, ts_val v)
{
    ts_type to = ts_type_of(t->fn, v), from = eval_tile_type(t, v, 0);
    const uint32_t *axes = ts_pool(t->fn, ts_at(t->fn, v)) + 1;
    uint32_t rank = ts_type_rank(t->module, to);
    int64_t index[TS_MAX_RANK] = {0}, other[TS_MAX_RANK] = {0};
    for (int64_t i = 0; i < shape_count(t, v); i++, eval_next(index, ts_type_dims(t->module, to), rank)) {
        for (uint32_t d = 0; d < rank; d++)
            other[axes[d] % TS_MAX_RANK] = index[d];
        t->value[v][i] = eval_tile_opnd(t, v, 0)[eval_linear(other, ts_type_dims(t->module, from), rank)];
    }
    return TS_OK;
}

ts_status eval_tile_cat(eval_tile *t, ts_val v)
{
    uint32_t axis = ts_at(t->fn, v)->aux, rank = ts_type_rank(t->module, ts_type_of(t->fn, v));
    const int64_t *dims = ts_type_dims(t->module, ts_type_of(t->fn, v));
    const int64_t *first = ts_type_dims(t->module, eval_tile_type(t, v, 0));
    const int64_t *second = ts_type_dims(t->module, eval_tile_type(t, v, 1));
    int64_t index[TS_MAX_RANK] = {0};
    for (int64_t i = 0; i < shape_count(t, v); i++, eval_next(index, dims, rank)) {
        int64_t part[TS_MAX_RANK];
        bool in_first = index[axis] < first[axis];
        memcpy(part, index, sizeof part);
        if (!in_first)
            part[axis] -= first[axis];
        t->value[v][i] = eval_tile_opnd(t, v, !in_first)[eval_linear(part, in_first ? first : second, rank)];
    }
    return TS_OK;
}

/* Element origin of the slice that operands first.. count in units of `part`. A count outside wraps. */
static void shape_origin(eval_tile *t, ts_val v, uint32_t first, ts_type whole, ts_type part, int64_t *origin)
{
    for (uint32_t d = 0; d < ts_type_rank(t->module, whole); d++) {
        int64_t size = ts_type_dims(t->module, part)[d], index = (int64_t)*eval_tile_opnd(t, v, first + d);
        int64_t n = ts_type_dims(t->module, whole)[d] / size; /* a power of two */
        origin[d] = (index & (n - 1)) * size;
    }
}

/* Walks the elements of a part within a whole. */
static int64_t shape_within(const eval_tile *t, ts_type whole, const int64_t *origin, const int64_t *index)
{
    int64_t at[TS_MAX_RANK];
    uint32_t rank = ts_type_rank(t->module, whole);
    for (uint32_t d = 0; d < rank; d++)
        at[d] = origin[d] + index[d];
    return eval_linear(at, ts_type_dims(t->module, whole), rank);
}

ts_status eval_tile_extract(eval_tile *t, ts_val v)
{
    ts_type part = ts_type_of(t->fn, v), whole = eval_tile_type(t, v, 0);
    uint32_t rank = ts_type_rank(t->module, whole);
    int64_t origin[TS_MAX_RANK] = {0}, index[TS_MAX_RANK] = {0};
    int64_t ones[TS_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t *dims = ts_type_rank(t->module, part) == rank ? ts_type_dims(t->module, part) : ones;
    if (dims == ones && rank) /* a scalar out of a tile */
        part = ts_type_tile(t->fn->module, ts_type_elem(t->module, whole), rank, ones);
    shape_origin(t, v, 1, whole, part, origin);
    for (int64_t i = 0; i < shape_count(t, v); i++, eval_next(index, dims, rank))
        t->value[v][i] = eval_tile_opnd(t, v, 0)[shape_within(t, whole, origin, index)];
    return TS_OK;
}

ts_status eval_tile_insert(eval_tile *t, ts_val v)
{
    ts_type whole = ts_type_of(t->fn, v), part = eval_tile_type(t, v, 1);
    uint32_t rank = ts_type_rank(t->module, whole);
    int64_t origin[TS_MAX_RANK] = {0}, index[TS_MAX_RANK] = {0}, n = ts_type_count(t->module, part);
    int64_t ones[TS_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t *dims = ts_type_rank(t->module, part) == rank ? ts_type_dims(t->module, part) : ones;
    if (dims == ones && rank)
        part = ts_type_tile(t->fn->module, ts_type_elem(t->module, whole), rank, ones);
    shape_origin(t, v, 2, whole, part, origin);
    memcpy(t->value[v], eval_tile_opnd(t, v, 0), (size_t)shape_count(t, v) * sizeof(uint64_t));
    for (int64_t i = 0; i < n; i++, eval_next(index, dims, rank))
        t->value[v][shape_within(t, whole, origin, index)] = eval_tile_opnd(t, v, 1)[i];
    return TS_OK;
}

/* ---- bytes ------------------------------------------------------------------------------------------ */

/* The tile's elements as in memory, in scratch. NULL when memory is out. */
static uint8_t *shape_bytes(eval_tile *t, ts_type type, const uint64_t *value, size_t *n)
{
    int64_t count = ts_type_count(t->module, type);
    *n = ((size_t)count * ts_type_bits(t->module, type) + 7) / 8;
    uint8_t *bytes = ts__arena_get(&t->scratch, *n);
    for (int64_t i = 0; bytes && i < count; i++)
        ts__scalar_store(t->module, ts_type_elem(t->module, type), bytes, i, value[i]);
    return bytes;
}

static ts_status shape_recast(eval_tile *t, ts_val v)
{
    ts_arena_mark mark = ts__arena_at(&t->scratch);
    ts_type to = ts_type_of(t->fn, v);
    size_t n;
    const uint8_t *bytes = shape_bytes(t, eval_tile_type(t, v, 0), eval_tile_opnd(t, v, 0), &n);
    if (!bytes)
        return eval_tile_nomem(t);
    if (((size_t)shape_count(t, v) * ts_type_bits(t->module, to) + 7) / 8 != n)
        return eval_fail(&t->run, v, TS_VERIFY, "%zu bytes do not make this tile", n);
    for (int64_t i = 0; i < shape_count(t, v); i++)
        t->value[v][i] = ts__scalar_load(t->module, ts_type_elem(t->module, to), bytes, i);
    ts__arena_rewind(&t->scratch, mark);
    return TS_OK;
}

ts_status eval_tile_pack(eval_tile *t, ts_val v)
{
    return shape_recast(t, v);
}

ts_status eval_tile_unpack(eval_tile *t, ts_val v)
{
    return shape_recast(t, v);
}

/* ---- assume ------------------------------------------------------------------------------------------ */

static int64_t shape_pair(const uint32_t *words)
{
    return (int64_t)(words[0] | (uint64_t)words[1] << 32);
}

/* div_by: every element, or with `every` each element whose index along the axis is its multiple. */
static ts_status shape_assume_div(eval_tile *t, ts_val v, const uint32_t *w)
{
    ts_type type = ts_type_of(t->fn, v);
    int64_t divisor = shape_pair(w + 1), every = w[3] ? (int64_t)w[4] : 1, index[TS_MAX_RANK] = {0};
    uint32_t along = w[5] < TS_MAX_RANK ? w[5] : 0, rank = ts_type_rank(t->module, type);
    for (int64_t i = 0; i < shape_count(t, v); i++, eval_next(index, ts_type_dims(t->module, type), rank))
        if (divisor && every > 0 && index[along] % every == 0 && (int64_t)t->value[v][i] % divisor)
            return eval_fail(&t->run, v, TS_LAUNCH, "%lld is no multiple of %lld as promised",
                             (long long)t->value[v][i], (long long)divisor);
    return TS_OK;
}

static ts_status shape_assume_same(eval_tile *t, ts_val v, const uint32_t *w)
{
    ts_type type = ts_type_of(t->fn, v);
    const int64_t *dims = ts_type_dims(t->module, type);
    uint32_t rank = ts_type_rank(t->module, type);
    int64_t index[TS_MAX_RANK] = {0}, head[TS_MAX_RANK];
    for (int64_t i = 0; i < shape_count(t, v); i++, eval_next(index, dims, rank)) {
        for (uint32_t d = 0; d < rank; d++)
            head[d] = d < w[1] && w[2 + d] ? index[d] - index[d] % (int64_t)w[2 + d] : index[d];
        if (t->value[v][i] != t->value[v][eval_linear(head, dims, rank)])
            return eval_fail(&t->run, v, TS_LAUNCH, "element %lld differs within its group", (long long)i);
    }
    return TS_OK;
}

static ts_status shape_assume_bounded(eval_tile *t, ts_val v, const uint32_t *w)
{
    for (int64_t i = 0; i < shape_count(t, v); i++) {
        int64_t x = (int64_t)t->value[v][i];
        if ((w[1] && x < shape_pair(w + 2)) || (w[4] && x > shape_pair(w + 5)))
            return eval_fail(&t->run, v, TS_LAUNCH, "%lld lies outside the bounds promised", (long long)x);
    }
    return TS_OK;
}

ts_status eval_tile_assume(eval_tile *t, ts_val v)
{
    const uint32_t *w = ts_pool(t->fn, ts_at(t->fn, v));
    ts_kind kind = ts_type_kind(t->module, ts_type_of(t->fn, v));
    bool view = kind >= TS_KIND_TENSOR_VIEW && kind <= TS_KIND_GATHER_SCATTER_VIEW;
    size_t words = view ? EVAL_VIEW_WORDS : (size_t)shape_count(t, v);
    memcpy(t->value[v], eval_tile_opnd(t, v, 0), words * sizeof(uint64_t));
    if (view)
        return TS_OK;
    switch (w[0]) {
    case TS_ASSUME_DIV_BY:
        return shape_assume_div(t, v, w);
    case TS_ASSUME_SAME:
        return shape_assume_same(t, v, w);
    default:
        return shape_assume_bounded(t, v, w);
    }
}
