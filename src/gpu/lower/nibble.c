/* SPDX-License-Identifier: Apache-2.0
 *
 * 4-bit elements (i4, f4): two a byte in memory, low half first; one value each in registers. Loads read
 * the byte and shift; a store needs both halves of a byte in one thread, so its layout keeps pairs together.
 * pack and unpack go through shared memory with a byte for each element.
 */
#include "ir/float.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"
#include "gpu/lower/view_access.h"

static ts_val nibble_byte(ts_lower *lw, ts_val x)
{
    if (ts_type_of(lw->fn, x) != TS_T_i4)
        x = ts_cast(&lw->b, TS_OP_bitcast, x, TS_T_i4, 0);
    return ts_cast(&lw->b, TS_OP_exti, x, TS_T_i8, TS_A_UNSIGNED);
}

/* Two elements a byte, low half first: each side is laid out one byte an element in shared memory. */
void ts__lower_nibbles(ts_lower *lw, ts_val v)
{
    ts_val x = ts_opnd(lw->tile, v, 0);
    ts_type to = ts__lower_elem(lw, v);
    bool packs = ts_type_bits(lw->module, to) >= 8;
    const ts_linear *from = ts__lower_home(lw, x), *home = ts__lower_home(lw, v);
    ts_assert(from->bits == home->bits + 1 - 2 * !packs && from->n_warp == home->n_warp); /* two elements a byte */
    const ts_val *in = ts__lower_get(lw, x, from);
    ts_val *bytes = ts__lower_regs(lw, from), *out = ts__lower_regs(lw, home);
    uint32_t flat[TS_LAYOUT_BITS], lane[TS_LAYOUT_LANES], warp[TS_LAYOUT_WARPS] = {0};
    ts_layout_identity(flat);
    for (uint32_t r = 0; r < 1u << from->n_reg; r++)
        bytes[r] = packs ? nibble_byte(lw, in[r]) : in[r];
    uint32_t at = ts__lower_to_shared(lw, v, TS_T_i8, from, bytes, flat);
    ts__lower_barrier(lw);
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        lane[i] = packs ? home->lane[i] << 1 : home->lane[i] >> 1;
    for (uint32_t i = 0; i < home->n_warp; i++)
        warp[i] = packs ? home->warp[i] << 1 : home->warp[i] >> 1;
    ts_val base = ts__lower_ptr(lw, ts__shared_pointer(lw, TS_T_i8, at), ts__lower_linear(lw, lane, warp), 0);
    ts_val odd = ts_op2(&lw->b, TS_OP_andi, ts__lower_flat(lw, home), ts__lower_i32(lw, 1), 0);
    for (uint32_t r = 0; r < 1u << home->n_reg; r++) {
        uint32_t fixed = ts_lower_fixed(home, r);
        ts_val pair[2];
        ts__lower_ld(lw, TS_T_i8, ts__lower_ptr(lw, base, 0, packs ? fixed << 1 : fixed >> 1), packs ? 2 : 1,
                    TS_CACHE_NONE, 0, 0, pair);
        if (packs) {
            ts_val high = ts_op2(&lw->b, TS_OP_shli, pair[1], ts_int(&lw->b, TS_T_i8, 4), 0);
            out[r] = ts_op2(&lw->b, TS_OP_ori, pair[0], high, 0);
            out[r] = to == TS_T_i8 ? out[r] : ts_cast(&lw->b, TS_OP_bitcast, out[r], to, 0);
            continue;
        }
        ts_val half = ts_op2(&lw->b, TS_OP_xori, odd, ts__lower_i32(lw, fixed & 1), 0);
        half = ts_cast(&lw->b, TS_OP_trunci, ts_op2(&lw->b, TS_OP_shli, half, ts__lower_i32(lw, 2), 0), TS_T_i8, 0);
        ts_val nibble = ts_op2(&lw->b, TS_OP_shri, pair[0], half, TS_A_UNSIGNED);
        out[r] = ts_cast(&lw->b, TS_OP_trunci, nibble, TS_T_i4, 0);
        out[r] = to == TS_T_i4 ? out[r] : ts_cast(&lw->b, TS_OP_bitcast, out[r], to, 0);
    }
    ts__shared_done(lw, at, 1u << from->bits);
    ts__lower_set(lw, v, home, out);
}

/* ---- views ------------------------------------------------------------------------------------------------------ */

/* Element offset of register r from the array's base: i64. */
static ts_val nibble_offset(ts_lower *lw, const view_access *a, uint32_t r)
{
    int64_t fixed;
    ts_val more = ts__view_offset(lw, a, r, &fixed), at = a->offset;
    if (more)
        at = ts_op2(&lw->b, TS_OP_addi, at, more, 0);
    return ts__lower_add(lw, at, fixed);
}

static ts_val nibble_pointer(ts_lower *lw, const view_access *a, ts_val offset)
{
    ts_val base = ts_cast(&lw->b, TS_OP_ptr_to_ptr, a->base, ts_type_ptr(lw->module, TS_T_i8, TS_GLOBAL), 0);
    return ts__lower_ptr(lw, base, ts_op2(&lw->b, TS_OP_shri, offset, ts_int(&lw->b, TS_T_i64, 1), 0), 0);
}

void ts__lower_load_nibbles(ts_lower *lw, ts_val v)
{
    view_access a;
    const ts_linear *home = ts__lower_home(lw, v);
    ts_val *out = ts__lower_regs(lw, home);
    ts_type elem = ts__lower_elem(lw, v);
    ts__lower_before_load(lw, v);
    ts__view_describe(lw, &a, v, 1, home);
    ts__lower_accesses(lw, v);
    int64_t nibble = (int64_t)ts__pad_bits(elem, a.info->padding, lw->tile->checked);
    ts_val pad = ts_int(&lw->b, TS_T_i8, nibble | nibble << 4);
    for (uint32_t r = 0; r < 1u << home->n_reg; r++) {
        if (r & ts__lower_repeats(home)) {
            out[r] = out[r & ~ts__lower_repeats(home)];
            continue;
        }
        ts_val offset = nibble_offset(lw, &a, r), inside = ts__view_inside(lw, &a, r), byte;
        ts__lower_ld(lw, TS_T_i8, nibble_pointer(lw, &a, offset), 1, TS_CACHE_NONE, inside,
                    inside ? pad : 0, &byte);
        ts_val word = ts_cast(&lw->b, TS_OP_exti, byte, TS_T_i32, TS_A_UNSIGNED);
        ts_val half =
            ts_op2(&lw->b, TS_OP_andi, ts_cast(&lw->b, TS_OP_trunci, offset, TS_T_i32, 0), ts__lower_i32(lw, 1), 0);
        word =
            ts_op2(&lw->b, TS_OP_shri, word, ts_op2(&lw->b, TS_OP_shli, half, ts__lower_i32(lw, 2), 0), TS_A_UNSIGNED);
        out[r] = ts_cast(&lw->b, TS_OP_trunci, word, TS_T_i4, 0);
        out[r] = elem == TS_T_i4 ? out[r] : ts_cast(&lw->b, TS_OP_bitcast, out[r], elem, 0);
    }
    ts__lower_set(lw, v, home, out);
}

/* A layout that holds elements 2i and 2i + 1 of the unit axis in one thread. */
static const ts_linear *nibble_pairs(ts_lower *lw, ts_val x, uint32_t unit, int *pair)
{
    ts_type type = ts_type_of(lw->tile, x);
    ts_axis_bits axis = ts__axis_of(lw->module, type, unit);
    uint8_t order[32];
    uint32_t n = 0, bits = (uint32_t)ts_log2((uint64_t)ts_type_count(lw->module, type));
    order[n++] = (uint8_t)axis.first;
    for (uint32_t i = 0; i < bits; i++)
        if (i != axis.first)
            order[n++] = (uint8_t)i;
    ts_linear layout;
    if (!ts__linear_blocked(&layout, bits, order, 1, lw->assign.n_warp))
        ts__lower_fail(lw, TS_TILEVALUE, x,
                      "a tile of 2^%u 4-bit elements does not fit the registers; use smaller tiles", bits);
    *pair = ts__linear_reg_bit(&layout, axis.first);
    return ts__assign_intern(&lw->assign, &layout);
}

void ts__lower_store_nibbles(ts_lower *lw, ts_val v)
{
    view_access a;
    ts_val x = ts_opnd(lw->tile, v, 1);
    uint32_t unit = ts__view_unit_axis(lw->tile, ts_opnd(lw->tile, v, 0));
    int pair = -1;
    if (unit == TS_NO) {
        ts__lower_fail(lw, TS_UNSUPPORTED, v,
                      "a store of 4-bit elements needs a tile with at least two of them side by side in memory");
        return;
    }
    const ts_linear *layout = nibble_pairs(lw, x, unit, &pair);
    const ts_val *regs = ts__lower_get(lw, x, layout);
    ts__lower_before_store(lw, v);
    ts__view_describe(lw, &a, v, 2, layout);
    ts__lower_accesses(lw, v);
    ts_place same = ts__linear_replicas(layout);
    ts_val only = ts__lower_is_first(lw, same);
    for (uint32_t r = 0; pair >= 0 && r < 1u << layout->n_reg; r++) {
        if (r & (same.reg | 1u << pair))
            continue;
        ts_val low = nibble_byte(lw, regs[r]), high = nibble_byte(lw, regs[r | 1u << pair]);
        high = ts_op2(&lw->b, TS_OP_shli, high, ts_int(&lw->b, TS_T_i8, 4), 0);
        ts_val byte = ts_op2(&lw->b, TS_OP_ori, low, high, 0);
        ts__lower_st(lw, nibble_pointer(lw, &a, nibble_offset(lw, &a, r)), 1, &byte, TS_CACHE_NONE,
                    ts__lower_and(lw, only, ts__view_inside(lw, &a, r)));
    }
}
