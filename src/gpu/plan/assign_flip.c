/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads of 16-bit elements whose tile is stored along another axis than it is read along (assign.h):
 *
 *     %x = load_view_tko %a ..      neighbours along axis 1 of the tile: `along`
 *     %y = permute %x [1, 0]
 *     store_view_tko %y, %b ..      neighbours along its axis 1, which is axis 0 of %x: `across`
 *
 * A thread reads two rows that lie next to each other, in vectors, and so has both halves of words that lie together in
 * the other array: one instruction (prmt) makes a word of them, and half as many accesses of shared memory do. It also
 * has more on its way (64 x 64 elements f16 in 8 warps, not in 16: 2048 x 8000 in 18.3 us, was 20.1, on an H200).
 *
 * Left: whole squares of 8 x 8 in registers, which need no shared memory, but write pieces of 64 bytes: 19.2 us, and
 * f32 in squares of 4 x 4 36.1, which takes 34.2 through shared memory. Cost: for each load the instructions behind it
 * until its store is found.
 */
#include "gpu/plan/assign.h"

enum { FLIP_STEPS = 12, FLIP_BITS = 16 }; /* readers on the way to the store; of an element */

static bool flip_is_tile(const ts_fn *fn, ts_val v)
{
    return ts_type_kind(fn->module, ts_type_of(fn, v)) == TS_KIND_TILE;
}

/* The store that `load` ends in, through elementwise work on its elements alone; of[i]: the bit of the load's flat
 * indices that is bit i of the stored tile's. 0: it ends elsewhere. */
static ts_val flip_store(const ts_fn *fn, ts_val load, uint8_t *of)
{
    ts_val v = load;
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        of[i] = (uint8_t)i;
    for (uint32_t step = 0; step < FLIP_STEPS; step++) {
        ts_val reader = ts__only_reader(fn, v);
        const ts_inst *inst = ts_at(fn, reader);
        uint8_t from[32] = {0}, old[TS_LAYOUT_BITS];
        if (reader && inst->op == TS_OP_store_view_tko)
            return ts_opnd(fn, reader, 1) == v ? reader : 0;
        if (!reader || !flip_is_tile(fn, reader))
            return 0;
        if (inst->op == TS_OP_permute) {
            ts__permute_bits(fn, reader, from);
            memcpy(old, of, sizeof old);
            for (int64_t n = ts_type_count(fn->module, inst->type), i = 0; n >> (i + 1); i++)
                of[i] = old[from[i]];
        } else if (inst->op != TS_OP_reshape && !(ts_info(inst)->flags & TS_ELEM))
            return 0;
        v = reader;
    }
    return 0;
}

/* The axis of the load's tile that flat bit `bit` belongs to; TS_NO: none. */
static uint32_t flip_axis(const ts_fn *fn, ts_val load, uint32_t bit)
{
    ts_type type = ts_type_of(fn, load);
    for (uint32_t axis = 0; axis < ts_type_rank(fn->module, type); axis++) {
        ts_axis_bits bits = ts__axis_of(fn->module, type, axis);
        if (bit >= bits.first && bit < bits.first + bits.n)
            return axis;
    }
    return TS_NO;
}

uint32_t ts__flip_across(const ts_fn *fn, ts_val load)
{
    uint8_t of[TS_LAYOUT_BITS];
    if (ts_at(fn, load)->op != TS_OP_load_view_tko || !flip_is_tile(fn, load) ||
        ts_type_bits(fn->module, ts_type_elem(fn->module, ts_type_of(fn, load))) != FLIP_BITS)
        return TS_NO;
    ts_val store = flip_store(fn, load, of), from = ts_opnd(fn, load, 0), to = store ? ts_opnd(fn, store, 0) : 0;
    if (!to || !ts__view_has_vectors(fn, from) || !ts__view_has_vectors(fn, to))
        return TS_NO;
    ts_axis_bits axis = ts__axis_of(fn->module, ts_type_of(fn, ts_opnd(fn, store, 1)), ts__view_unit_axis(fn, to));
    uint32_t across = axis.n ? flip_axis(fn, load, of[axis.first]) : TS_NO;
    return across == ts__view_unit_axis(fn, from) ? TS_NO : across;
}
