/* SPDX-License-Identifier: Apache-2.0
 *
 * Small pieces of thread code that every lowering writes: indices from lane and warp bits, pointers, loads and
 * stores, barriers (code.h). Index arithmetic is 32 bit and linear over GF(2): a run of bits that keep
 * their distance costs one mask and one shift.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/strategy.h"

ts_val ts__lower_i32(ts_lower *lw, int64_t value)
{
    return ts_int(&lw->b, TS_T_i32, value);
}

ts_val ts__lower_add(ts_lower *lw, ts_val x, int64_t value)
{
    return ts_op2(&lw->b, TS_OP_addi, x, ts_int(&lw->b, ts_type_of(lw->fn, x), value), 0);
}

ts_val ts__lower_and(ts_lower *lw, ts_val x, ts_val y)
{
    if (!x || !y || x == y)
        return x ? x : y;
    return ts_op2(&lw->b, TS_OP_andi, x, y, 0);
}

/* (tid & mask) moved up by `shift` bits (down when negative). */
static ts_val code_shifted(ts_lower *lw, uint32_t mask, int shift)
{
    uint32_t threads = 32u << lw->assign.n_warp;
    ts_builder *b = &lw->b;
    ts_val x = lw->tid;
    if (shift < 0) {
        x = ts_op2(b, TS_OP_shri, x, ts__lower_i32(lw, -shift), TS_A_UNSIGNED);
        if (mask >> -shift != (threads - 1) >> -shift)
            x = ts_op2(b, TS_OP_andi, x, ts__lower_i32(lw, mask >> -shift), 0);
        return x;
    }
    if (mask != threads - 1)
        x = ts_op2(b, TS_OP_andi, x, ts__lower_i32(lw, mask), 0);
    return shift ? ts_op2(b, TS_OP_shli, x, ts__lower_i32(lw, shift), 0) : x;
}

ts_val ts__lower_linear(ts_lower *lw, const uint32_t *lane, const uint32_t *warp)
{
    uint32_t n = TS_LAYOUT_LANES + lw->assign.n_warp, done = 0;
    ts_val sum = 0;
    for (int shift = -(int)n; shift < 32; shift++) {
        uint32_t mask = 0, bits;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t column = i < TS_LAYOUT_LANES ? lane[i] : warp[i - TS_LAYOUT_LANES];
            int to = (int)i + shift;
            mask |= to >= 0 && to < 32 ? (column >> to & 1) << i : 0;
        }
        if (!mask)
            continue;
        ts_val part = code_shifted(lw, mask, shift);
        bits = shift < 0 ? mask >> -shift : mask << shift;
        sum = !sum ? part : ts_op2(&lw->b, done & bits ? TS_OP_xori : TS_OP_ori, sum, part, 0);
        done |= bits;
    }
    return sum ? sum : ts__lower_i32(lw, 0);
}

ts_val ts__lower_op(ts_lower *lw, ts_op op, ts_val x, int64_t y, uint32_t attr)
{
    return ts_op2(&lw->b, op, x, ts__lower_i32(lw, y), attr);
}

ts_val ts__lower_warp(ts_lower *lw)
{
    return ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_WARPID, 0, 0), 0);
}

ts_val ts__lower_warpgroup(ts_lower *lw)
{
    return ts__lower_op(lw, TS_OP_shri, ts__lower_warp(lw), 2, TS_A_UNSIGNED);
}

ts_val ts__lower_flat(ts_lower *lw, const ts_linear *layout)
{
    return ts__lower_linear(lw, layout->lane, layout->warp);
}

ts_val ts__lower_is_first(ts_lower *lw, ts_place bits)
{
    uint32_t mask = bits.lane | (bits.warp & ((1u << lw->assign.n_warp) - 1)) << TS_LAYOUT_LANES;
    if (!mask)
        return 0;
    ts_val x = lw->tid;
    if (mask != (32u << lw->assign.n_warp) - 1)
        x = ts_op2(&lw->b, TS_OP_andi, x, ts__lower_i32(lw, mask), 0);
    return ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, x, ts__lower_i32(lw, 0), 0);
}

ts_val ts__lower_ptr(ts_lower *lw, ts_val pointer, ts_val offset, int64_t bytes)
{
    ts_builder *b = &lw->b;
    const ts_type_info *info = ts_type_get(lw->module, ts_type_of(lw->fn, pointer));
    ts_assert(info && info->kind == TS_KIND_PTR);
    int64_t value;
    if (offset && ts__const_as_int(lw->fn, offset, &value)) {
        bytes += value;
        offset = 0;
    }
    if (offset)
        pointer = ts_op2(b, TS_OP_ptr_add, pointer, offset, 0);
    ts_type index = info && info->space == TS_SHARED ? TS_T_i32 : TS_T_i64;
    return bytes ? ts_op2(b, TS_OP_ptr_add, pointer, ts_int(b, index, bytes), 0) : pointer;
}

void ts__lower_ld(ts_lower *lw, ts_type elem, ts_val pointer, uint32_t n, ts_cache_use cache, ts_val pred, ts_val pad,
                 ts_val *out)
{
    ts_assert(ts_is_pow2(n) && ts_type_bits(lw->module, elem) * n <= 128); /* a vector of PTX has 16 bytes at most */
    ts_val opnds[3] = {pointer};
    ts_type types[16] = {0};
    uint32_t n_opnd = 1, flags = 0;
    if (pred) {
        opnds[n_opnd++] = pred;
        flags |= TS_F_MASK;
    }
    uint32_t any = pred && pad == TS_NO;
    if (pred && pad && !any) {
        opnds[n_opnd++] = pad;
        flags |= TS_F_PAD;
    }
    for (uint32_t i = 0; i < n; i++)
        types[i] = elem;
    ts_val v = ts_emit_multi(&lw->b, TS_OP_ld, n_opnd, opnds, TS_S(cache, n, any), flags, n, types);
    for (uint32_t i = 0; i < n; i++)
        out[i] = v + 1 + i;
}

void ts__lower_st(ts_lower *lw, ts_val pointer, uint32_t n, const ts_val *values, ts_cache_use cache, ts_val pred)
{
    ts_assert(ts_is_pow2(n) && n * ts_type_bits(lw->module, ts_type_of(lw->fn, *values)) <= 128);
    ts_assert(!pred || ts_type_of(lw->fn, pred) == TS_T_i1);
    ts_val opnds[18] = {pointer};
    memcpy(opnds + 1, values, n * sizeof *values);
    if (pred)
        opnds[n + 1] = pred;
    ts_emit(&lw->b, TS_OP_st, TS_T_none, n + 1 + (pred != 0), opnds, TS_S(cache, n, 0), pred ? TS_F_MASK : 0);
}

uint32_t ts__lower_threads(const ts_lower *lw)
{
    const ts_tma *tma = &lw->assign.tma;
    if (ts_tma_produces(tma))
        return (32u << ts_tma_consumers(tma)) + TS_WARPGROUP;
    return 32u << (lw->assign.n_warp - lw->assign.n_cta);
}

void ts__lower_barrier_cta(ts_lower *lw)
{
    if (lw->assign.n_cta)
        ts_emit(&lw->b, TS_OP_bar_sync, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
    else
        ts__lower_barrier(lw);
}

void ts__lower_barrier(ts_lower *lw)
{
    uint32_t threads = ts_tma_produces(&lw->assign.tma) ? 32u << lw->assign.n_warp : 0; /* not the producer */
    if (!ts__hook_barrier(lw))
        ts_emit(&lw->b, TS_OP_bar_sync, TS_T_none, 0, NULL, TS_S(0, threads, 0), 0);
    ts__shared_cleared(lw);
    lw->order.loaded = lw->order.stored = 0;
}
