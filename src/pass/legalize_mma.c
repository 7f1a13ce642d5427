/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products of element types that the target's tensor cores lack: 8-bit floats as f16 (which holds
 * every e4m3 and e5m2 value), scaled products as plain ones of bf16 (GPU) or f32 (CPU) with the scales
 * multiplied in, exact because significands of at most 4 bits and powers of two or 4-bit scales meet.
 */
#include "ir/float.h"
#include "pass/legalize.h"

/* A float tile as another element type, legal at once. */
static ts_val mma_convert(const ts_legal *l, ts_val x, ts_type elem)
{
    ts_builder *b = l->b;
    ts_type type = ts_type_with_elem(b->fn->module, ts_type_of(b->fn, x), elem);
    ts_legal cast = *l;
    cast.op = TS_OP_ftof;
    cast.from = ts_type_elem(b->fn->module, ts_type_of(b->fn, x));
    cast.type = type;
    cast.elem = elem;
    cast.attr = 0;
    cast.x = &x;
    cast.n = 1;
    ts_val y = ts__legal_ftof(&cast);
    return y ? y : ts_cast(b, TS_OP_ftof, x, elem, 0);
}

ts_val ts__legal_mmaf(const ts_legal *l)
{
    ts_type b_elem = ts_type_elem(l->b->fn->module, ts_type_of(l->b->fn, l->x[1]));
    const ts_float_format *f = ts__float_format_of(l->from);
    if (!ts__legal_is_gpu(l) || !f || f->bits > 8 || (l->target >= TS_TARGET_SM89 && l->from == b_elem))
        return 0;
    ts_val opnds[3] = {mma_convert(l, l->x[0], TS_T_f16), mma_convert(l, l->x[1], TS_T_f16), l->x[2]};
    return ts_emit(l->b, TS_OP_mmaf, l->type, 3, opnds, l->attr & ~(uint32_t)TS_A_FAST_ACC, 0);
}

/* scale, whose extent on `axis` is that of `like` divided by the block length, repeated to like's shape. */
static ts_val mma_spread(const ts_legal *l, ts_val scale, ts_val like, uint32_t axis)
{
    ts_builder *b = l->b;
    ts_module *m = b->fn->module;
    ts_type full = ts_type_of(b->fn, like), type = ts_type_of(b->fn, scale);
    uint32_t rank = ts_type_rank(m, full);
    int64_t dims[TS_MAX_RANK + 1], parts = ts_type_dims(m, type)[axis], block = ts_type_dims(m, full)[axis] / parts;
    for (uint32_t i = 0, at = 0; i < rank; i++) {
        dims[at++] = ts_type_dims(m, type)[i];
        if (i == axis)
            dims[at++] = 1;
    }
    ts_val split = ts_reshape(b, scale, ts_type_tile(m, TS_T_f32, rank + 1, dims));
    dims[axis + 1] = block;
    split = ts_broadcast(b, split, ts_type_tile(m, TS_T_f32, rank + 1, dims));
    return ts_reshape(b, split, ts_type_with_elem(m, full, TS_T_f32));
}

static ts_val mma_scaled(const ts_legal *l, ts_val x, ts_val scale, uint32_t axis)
{
    ts_val wide = mma_convert(l, x, TS_T_f32);
    ts_val factor = mma_spread(l, mma_convert(l, scale, TS_T_f32), wide, axis);
    ts_val product = ts_op2(l->b, TS_OP_mulf, wide, factor, 0);
    return ts__legal_is_gpu(l) ? ts_cast(l->b, TS_OP_ftof, product, TS_T_bf16, 0) : product;
}

/* Operands: a [.., M, K], b [.., K, N], c, scales of a [.., M, K/B] and b [.., K/B, N]. */
ts_val ts__legal_mmaf_scaled(const ts_legal *l)
{
    uint32_t rank = ts_type_rank(l->b->fn->module, ts_type_of(l->b->fn, l->x[0]));
    if (rank >= TS_MAX_RANK)
        return 0;
    ts_val a = mma_scaled(l, l->x[0], l->x[3], rank - 1), b = mma_scaled(l, l->x[1], l->x[4], rank - 2);
    ts_val opnds[3] = {a, b, l->x[2]};
    return ts_emit(l->b, TS_OP_mmaf, l->type, 3, opnds, 0, 0);
}
