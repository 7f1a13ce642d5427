/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a tile that each thread has in registers (assign.h): real and imaginary parts of pairs, say. Where the bits
 * that a slice at a constant index fixes are register bits, the part stays where it is:
 *
 *     %x = load_view_tko ..          : tile<512x2xf16>     reg { 01, .. }
 *     %r = extract %x, %zero, %one   : tile<512x1xf16>     the same without that bit: its odd registers
 *
 * Otherwise the tile goes through shared memory (lower/convert.c). Cost: columns times bits.
 */
#include "gpu/plan/assign.h"

/* Flat bits of the tile that the indices fix, and those of them that are set; false where one is not known. */
static bool extract_bits(const ts_fn *fn, ts_val v, uint32_t *mask, uint32_t *set)
{
    ts_type whole = ts_type_of(fn, ts_opnd(fn, v, 0)), part = ts_type_of(fn, v);
    *mask = *set = 0;
    for (uint32_t axis = 0; axis < ts_type_rank(fn->module, whole); axis++) {
        ts_axis_bits of = ts__axis_of(fn->module, whole, axis), small = {0, 0};
        int64_t index;
        if (ts_type_rank(fn->module, part)) /* else one element */
            small = ts__axis_of(fn->module, part, axis);
        ts_axis_bits fixed = {of.first + small.n, of.n - small.n};
        if (fixed.n && !ts__const_as_int(fn, ts_opnd(fn, v, 1 + axis), &index))
            return false;
        *mask |= ts_axis_mask(fixed);
        *set |= fixed.n ? (uint32_t)index << fixed.first & ts_axis_mask(fixed) : 0;
    }
    return true;
}

/* The register bit that alone holds flat bit `bit`; -1: there is none. */
static int extract_register(const ts_linear *from, uint32_t bit)
{
    int found = ts__linear_reg_bit(from, bit);
    uint32_t others = 0;
    for (uint32_t i = 0; i < from->n_reg; i++)
        others |= (int)i == found ? 0 : from->reg[i];
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        others |= from->lane[i];
    for (uint32_t i = 0; i < from->n_warp; i++)
        others |= from->warp[i];
    return others >> bit & 1 ? -1 : found;
}

bool ts__extract_registers(const ts_fn *fn, ts_val v, const ts_linear *from, ts_linear *to, ts_part *part)
{
    uint32_t mask, set;
    *part = (ts_part){0};
    if (!extract_bits(fn, v, &mask, &set))
        return false;
    for (uint32_t bit = 0; bit < from->bits; bit++) {
        int reg = mask >> bit & 1 ? extract_register(from, bit) : 0;
        if (reg < 0)
            return false;
        part->dropped |= mask >> bit & 1 ? 1u << reg : 0;
        part->set |= set >> bit & 1 ? 1u << reg : 0;
    }
    *to = ts__linear_slice(from, mask);
    return to->n_reg + ts_popcount(mask) == from->n_reg;
}
