/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layouts: who holds which element of a tile.
 *
 * Tiles have power-of-two extents, so a tile of 2^n elements has row-major flat indices of n bits
 * (last axis in the low bits). A layout is a matrix over GF(2) given by its columns: one flat-index
 * word for every register bit, lane bit and warp bit. The element in register r of lane l of warp w
 * is the XOR of the columns whose bits are set in r, l and w. A zero column means replication. Where several
 * thread blocks (a cluster) share a tile block, the uppermost warp bits number them.
 *
 *     tile<8x32>, one warp, two elements a thread next to each other, then lanes, then registers:
 *     reg  { 00000001, 01000000, 10000000 }   lane { 00000010 .. 00100000 }
 *
 * Reshape leaves columns as they are, permute moves their bits, a reduction deletes the bits of its
 * axis, a broadcast reads through deleted bits. Conversion between two layouts is planned by move.c
 * and written by lower/convert.c. Read lower.h next.
 */
#ifndef TS_GPU_LAYOUT_LAYOUT_H
#define TS_GPU_LAYOUT_LAYOUT_H

#include "base/base.h"

enum { TS_LAYOUT_REGS = 12, TS_LAYOUT_LANES = 5, TS_LAYOUT_WARPS = 9, TS_LAYOUT_BITS = 24 };

typedef struct ts_linear {
    uint8_t bits;          /* log2 of the elements of the tile */
    uint8_t n_reg, n_warp; /* bits of the register number and of the warp number */
    uint8_t zero;          /* padding, so that equality is memcmp */
    uint32_t reg[TS_LAYOUT_REGS], lane[TS_LAYOUT_LANES], warp[TS_LAYOUT_WARPS];
} ts_linear;

/* A place that holds an element. */
typedef struct ts_place {
    uint32_t reg, lane, warp;
} ts_place;

/* Counts within their limits, every column an element of the tile. */
static inline bool ts_linear_is_sound(const ts_linear *l)
{
    uint32_t any = 0;
    if (l->bits > TS_LAYOUT_BITS || l->n_reg > TS_LAYOUT_REGS || l->n_warp > TS_LAYOUT_WARPS)
        return false;
    for (uint32_t i = 0; i < l->n_reg; i++)
        any |= l->reg[i];
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        any |= l->lane[i];
    for (uint32_t i = 0; i < l->n_warp; i++)
        any |= l->warp[i];
    return any >> l->bits == 0;
}

bool ts__linear_equal(const ts_linear *a, const ts_linear *b);
uint32_t ts__linear_at(const ts_linear *layout, ts_place place); /* flat index */

/* Everything in one register of every thread: the layout of a splat, of any size. */
ts_linear ts__linear_all_same(uint32_t n_warp);
/* Elements dealt out in the order of `order` (flat bit numbers, fastest first, `bits` of them): 2^vec
 * next to each other in a thread, then over lanes, over warps, the rest in registers. Bits that do
 * not exist leave zero columns. False when more than 2^TS_LAYOUT_REGS registers would be needed. */
bool ts__linear_blocked(ts_linear *out, uint32_t bits, const uint8_t *order, uint32_t vec, uint32_t n_warp);

/* The same threads and registers over a smaller tile: flat bits of `mask` are deleted and the bits above
 * close up. Register columns that become zero stay (they are replicas). */
ts_linear ts__linear_delete(const ts_linear *layout, uint32_t mask);
/* As delete, but registers that became replicas are dropped too. */
ts_linear ts__linear_slice(const ts_linear *layout, uint32_t mask);
/* The inverse on bits: flat bits open up at `mask`, columns are zero there. */
ts_linear ts__linear_insert(const ts_linear *layout, uint32_t mask);
/* Flat bit i of the result is flat bit from[i] of the layout. */
ts_linear ts__linear_permute(const ts_linear *layout, const uint8_t *from);

/* log2 of how many consecutive elements (flat bits taken in `order`; NULL: 0, 1, 2, ..) each thread holds
 * in registers, starting at a multiple of that number. */
uint32_t ts__linear_vector(const ts_linear *layout, const uint8_t *order);
/* The register bit whose column is exactly flat bit `bit`; -1 if there is none. */
int ts__linear_reg_bit(const ts_linear *layout, uint32_t bit);
/* Register, lane and warp bits that may be held at zero with every element still held exactly once. */
ts_place ts__linear_replicas(const ts_linear *layout);
/* True when some place holds every element. */
bool ts__linear_covers(const ts_linear *layout);

/* Pseudo-inverse: where each flat bit lives. Registers are preferred, then lanes, then warps; the place of
 * an element is the XOR of the places of its bits. False when the layout does not cover the tile. */
typedef struct ts_layout_inverse {
    ts_place of[TS_LAYOUT_BITS];
} ts_layout_inverse;
bool ts__linear_invert(const ts_linear *layout, ts_layout_inverse *inverse);
ts_place ts__linear_find(const ts_layout_inverse *inverse, uint32_t bits, uint32_t flat);

/* ---- conversion ---------------------------------------------------------------------------------- */

typedef enum ts_move_kind {
    TS_MOVE_NONE,    /* equal */
    TS_MOVE_REGS,    /* each thread has what it needs: registers renamed, chosen by lane and warp bits */
    TS_MOVE_SHUFFLE, /* one shuffle for each register */
    TS_MOVE_SHARED   /* through shared memory */
} ts_move_kind;

/* REGS, SHUFFLE: destination register r of lane l of warp w takes source register
 *     reg(r) ^ lane_reg(l) ^ warp_reg(w)   of lane   reg_lane(r) ^ lane_lane(l)
 * where each function XORs the words of the set bits. SHUFFLE has lane_reg and warp_reg zero.
 * SHARED: element `flat` lies at element offset XOR of offset[i] over its set bits; 2^vec_store and
 * 2^vec_load elements move at once. `conflicts_*` is the number of bank passes beyond the least. */
typedef struct ts_move {
    ts_move_kind kind;
    uint32_t reg_reg[TS_LAYOUT_REGS], lane_reg[TS_LAYOUT_LANES], warp_reg[TS_LAYOUT_WARPS];
    uint32_t reg_lane[TS_LAYOUT_REGS], lane_lane[TS_LAYOUT_LANES];
    uint32_t offset[TS_LAYOUT_BITS];
    uint32_t vec_store, vec_load;
    uint32_t conflicts_store, conflicts_load;
} ts_move;

/* Both layouts cover tiles of the same size with the same warps. `bytes`: 1, 2, 4, 8 an element. */
void ts__move_plan(const ts_linear *from, const ts_linear *to, uint32_t bytes, ts_move *move);
/* Only through shared memory. A whole side keeps each of its vectors (16 bytes at most) in one piece, as ldmatrix
 * needs of the loads and cp.async of the stores, whatever that does to the other side. */
typedef enum ts_whole { TS_WHOLE_NONE, TS_WHOLE_LOAD, TS_WHOLE_STORE } ts_whole;
void ts__move_plan_shared(const ts_linear *from, const ts_linear *to, uint32_t bytes, ts_whole whole, ts_move *move);
/* Bank passes of one warp-wide access of 2^vec elements at the offsets of `layout`, beyond the least. */
uint32_t ts__move_conflicts(const ts_linear *layout, const uint32_t *offset, uint32_t vec, uint32_t bytes);
/* Element offset of a flat index. */
uint32_t ts__move_offset(const ts_move *move, uint32_t bits, uint32_t flat);

/* XOR of word[i] over the set bits of `index`. */
static inline uint32_t ts_xor_of(const uint32_t *word, uint32_t n, uint32_t index)
{
    uint32_t x = 0;
    for (uint32_t i = 0; i < n && index >> i; i++)
        x ^= index >> i & 1 ? word[i] : 0;
    return x;
}

/* Offsets of elements that lie in the order of their flat bits. */
static inline void ts_layout_identity(uint32_t *offset)
{
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        offset[i] = 1u << i;
}

#endif
