/* SPDX-License-Identifier: Apache-2.0
 *
 * Folding of operations that move elements or ask for extents: splat constants keep their payload
 * in any shape, chains of broadcasts and reshapes become one, static extents become numbers. Called
 * by fold.c; each function gives the value that stands for the instruction, or 0.
 */
#include "pass/fold.h"

typedef ts_val shape_fold(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux);

/* A splat stays a splat whatever happens to its shape. */
static ts_val shape_splat(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    uint64_t bits;
    (void)aux;
    return ts__const_bits(c->b.fn, opnds[0], &bits) ? ts__fold_bits(c, inst->type, bits) : 0;
}

/* broadcast and reshape: nothing to do, or the same operation below is skipped. */
static ts_val shape_chain(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    ts_val x = opnds[0], v = shape_splat(c, inst, opnds, aux);
    if (v)
        return v;
    if (ts_at(c->b.fn, x)->op == inst->op)
        x = ts_opnd(c->b.fn, x, 0);
    if (ts_type_of(c->b.fn, x) == inst->type)
        return x;
    return x == opnds[0] ? 0 : ts__fold_emit(c, (ts_op)inst->op, inst->type, 1, &x, 0, 0);
}

static ts_val shape_permute(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    const uint32_t *axes = c->b.fn->pool.at + aux;
    for (uint32_t i = 0; i < axes[0]; i++)
        if (axes[i + 1] != i)
            return shape_splat(c, inst, opnds, aux);
    return opnds[0];
}

static ts_val shape_extract(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    return ts_type_of(c->b.fn, opnds[0]) == inst->type ? opnds[0]
                                                       : shape_splat(c, inst, opnds, aux);
}

static ts_val shape_cat(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    uint64_t a, b;
    bool same =
        ts__const_bits(c->b.fn, opnds[0], &a) && ts__const_bits(c->b.fn, opnds[1], &b) && a == b;
    return same ? shape_splat(c, inst, opnds, aux) : 0;
}

static ts_val shape_iota(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    (void)opnds;
    (void)aux;
    return ts_type_count(c->b.fn->module, inst->type) == 1 ? ts__fold_bits(c, inst->type, 0) : 0;
}

/* A static extent, or what the view was made with. */
static ts_val shape_extent(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    ts_val view = opnds[0];
    const ts_type_info *t = ts_type_get(c->b.fn->module, ts_type_of(c->b.fn, view));
    uint32_t at = 1;
    if (t->dims[aux] != TS_DYNAMIC)
        return inst->type == TS_T_i64 || t->dims[aux] <= INT32_MAX
                   ? ts__fold_bits(c, inst->type, (uint64_t)t->dims[aux])
                   : 0;
    while (ts_at(c->b.fn, view)->op == TS_OP_assume)
        view = ts_opnd(c->b.fn, view, 0);
    if (ts_at(c->b.fn, view)->op != TS_OP_make_tensor_view)
        return 0;
    for (uint32_t d = 0; d < aux; d++)
        at += t->dims[d] == TS_DYNAMIC;
    ts_val extent = ts_opnd(c->b.fn, view, at);
    return ts_type_of(c->b.fn, extent) == inst->type ? extent : 0;
}

static ts_val shape_index_space(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    const ts_type_info *view = ts_type_get(c->b.fn->module, ts_type_of(c->b.fn, opnds[0]));
    const ts_type_info *tensor = ts_type_get(c->b.fn->module, view->elem);
    int64_t extent = tensor->dims[view->dim_map ? view->dim_map[aux] : (int32_t)aux],
            step = view->strides ? view->strides[aux] : view->dims[aux];
    if (extent == TS_DYNAMIC)
        return 0;
    int64_t count = extent / step + (extent % step != 0);
    return inst->type == TS_T_i64 || count <= INT32_MAX
               ? ts__fold_bits(c, inst->type, (uint64_t)count)
               : 0;
}

static ts_val shape_join(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    (void)c;
    (void)aux;
    return inst->n_opnd == 1 ? opnds[0] : 0;
}

/* p + 0 = p;  (p + a) + b = p + (a + b) when the sum fits its type */
static ts_val shape_ptr_add(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    int64_t outer, inner, sum;
    const ts_fn *fn = c->b.fn;
    (void)aux;
    if (!ts__const_as_int(fn, opnds[1], &outer))
        return 0;
    if (outer == 0)
        return opnds[0];
    ts_val base = opnds[0];
    if (ts_at(fn, base)->op != TS_OP_ptr_add ||
        !ts__const_as_int(fn, ts_opnd(fn, base, 1), &inner) ||
        __builtin_add_overflow(outer, inner, &sum))
        return 0;
    ts_type type = ts_type_of(fn, opnds[1]);
    if (type == TS_T_i32 && (sum > INT32_MAX || sum < INT32_MIN))
        return 0;
    ts_val pair[] = {ts_opnd(fn, base, 0), 0};
    pair[1] = ts__fold_bits(c, type, (uint64_t)sum);
    return ts__fold_emit(c, TS_OP_ptr_add, inst->type, 2, pair, 0, 0);
}

ts_val ts__fold_shape(fold_ctx *c, const ts_inst *inst, const ts_val *opnds, uint32_t aux)
{
    static shape_fold *const table[TS_OP_COUNT] = {
        [TS_OP_broadcast] = shape_chain,
        [TS_OP_reshape] = shape_chain,
        [TS_OP_permute] = shape_permute,
        [TS_OP_extract] = shape_extract,
        [TS_OP_cat] = shape_cat,
        [TS_OP_iota] = shape_iota,
        [TS_OP_get_tensor_shape] = shape_extent,
        [TS_OP_get_index_space_shape] = shape_index_space,
        [TS_OP_join_tokens] = shape_join,
        [TS_OP_ptr_add] = shape_ptr_add,
    };
    return table[inst->op] ? table[inst->op](c, inst, opnds, aux) : 0;
}
