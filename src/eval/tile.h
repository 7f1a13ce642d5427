/* SPDX-License-Identifier: Apache-2.0
 *
 * The tile level of the interpreter, private to src/ir/eval_tile*.c. A value is an array of payloads,
 * one for each element in row-major order; a view is 1 + 2 * TS_MAX_RANK words: base address, extents,
 * strides. Room for every value is made at the start; a loop overwrites it each time round.
 */
#ifndef TS_EVAL_TILE_H
#define TS_EVAL_TILE_H

#include "eval/part.h"

enum { EVAL_VIEW_WORDS = 1 + 2 * TS_MAX_RANK };

typedef struct eval_tile {
    eval_run run;
    const ts_fn *fn; /* run.fn */
    const ts_module *module;
    uint64_t **value;
    ts_scalar **scalar; /* prepared elementwise operations */
    bool *filled;       /* a constant's value is there already */
    ts_arena scratch;
    ts_val term;        /* terminator that ended the region run last; 0 = it ran to its end */
    uint32_t depth;     /* of nested regions */
} eval_tile;

typedef ts_status eval_tile_fn(eval_tile *t, ts_val v);
eval_tile_fn *eval_tile_op(ts_op op); /* operations on data; NULL for structure and regions */

static inline const uint64_t *eval_tile_opnd(const eval_tile *t, ts_val v, uint32_t i)
{
    return t->value[ts_opnd(t->fn, v, i)];
}
static inline ts_type eval_tile_type(const eval_tile *t, ts_val v, uint32_t i) /* of operand i */
{
    return ts_type_of(t->fn, ts_opnd(t->fn, v, i));
}
ts_status eval_tile_nomem(eval_tile *t);

/* Row-major odometer over dims: index[] of the next element. */
static inline void eval_next(int64_t *index, const int64_t *dims, uint32_t rank)
{
    for (uint32_t d = rank; d-- > 0;) {
        if (++index[d] < dims[d])
            return;
        index[d] = 0;
    }
}
/* Row-major position of index in dims. */
static inline int64_t eval_linear(const int64_t *index, const int64_t *dims, uint32_t rank)
{
    int64_t at = 0;
    for (uint32_t d = 0; d < rank; d++)
        at = at * dims[d] + index[d];
    return at;
}

/* eval/tile_mem.c, eval/tile_mma.c, eval/tile_shape.c */
#define EVAL_TILE_OPS(X)                                                                           \
    X(constant) X(iota) X(broadcast) X(reshape) X(permute) X(cat) X(extract) X(insert) X(pack)     \
    X(unpack) X(mmaf) X(mmai) X(mmaf_scaled) X(param) X(get_tile_block_id) X(get_num_tile_blocks)  \
    X(grid_sync)                                                                                   \
    X(make_tensor_view) X(make_partition_view) X(make_strided_view) X(make_gather_scatter_view)    \
    X(get_tensor_shape) X(get_index_space_shape) X(load_view_tko) X(store_view_tko)                \
    X(load_ptr_tko) X(store_ptr_tko) X(atomic_cas_tko) X(atomic_rmw_tko) X(atomic_red_view_tko)    \
    X(assume) X(assert) X(fault) X(print_tko) X(alloca) X(get_global)
#define X(name) ts_status eval_tile_##name(eval_tile *t, ts_val v);
EVAL_TILE_OPS(X)
#undef X

#endif
