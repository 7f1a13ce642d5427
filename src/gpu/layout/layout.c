/* SPDX-License-Identifier: Apache-2.0
 *
 * The algebra of linear layouts (layout.h): evaluation, slicing, permuting, inversion. Every function is
 * a loop over columns; nothing here knows about tiles of values. Conversion plans are in move.c.
 */
#include "gpu/layout/layout.h"

bool ts__linear_equal(const ts_linear *a, const ts_linear *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

uint32_t ts__linear_at(const ts_linear *layout, ts_place place)
{
    return ts_xor_of(layout->reg, layout->n_reg, place.reg) ^
           ts_xor_of(layout->lane, TS_LAYOUT_LANES, place.lane) ^
           ts_xor_of(layout->warp, layout->n_warp, place.warp);
}

ts_linear ts__linear_all_same(uint32_t n_warp)
{
    return (ts_linear){.n_warp = (uint8_t)n_warp};
}

bool ts__linear_blocked(ts_linear *out, uint32_t bits, const uint8_t *order, uint32_t vec, uint32_t n_warp)
{
    ts_assert(n_warp <= TS_LAYOUT_WARPS && vec <= TS_LAYOUT_REGS);
    *out = (ts_linear){.bits = (uint8_t)bits, .n_warp = (uint8_t)n_warp};
    uint32_t at = 0;
    while (at < bits && at < vec)
        out->reg[out->n_reg++] = 1u << order[at++];
    for (uint32_t i = 0; i < TS_LAYOUT_LANES && at < bits; i++)
        out->lane[i] = 1u << order[at++];
    for (uint32_t i = 0; i < n_warp && at < bits; i++)
        out->warp[i] = 1u << order[at++];
    if (out->n_reg + (bits - at) > TS_LAYOUT_REGS)
        return false;
    while (at < bits)
        out->reg[out->n_reg++] = 1u << order[at++];
    return true;
}

/* Applies a function of columns to every column. */
typedef uint32_t layout_map(uint32_t column, const void *with);

static ts_linear layout_each(const ts_linear *layout, uint32_t bits, layout_map *map, const void *with)
{
    ts_linear out = *layout;
    ts_assert(ts_linear_is_sound(layout) && bits <= TS_LAYOUT_BITS);
    out.bits = (uint8_t)bits;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        out.reg[i] = map(layout->reg[i], with);
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        out.lane[i] = map(layout->lane[i], with);
    for (uint32_t i = 0; i < layout->n_warp; i++)
        out.warp[i] = map(layout->warp[i], with);
    ts_assert(ts_linear_is_sound(&out));
    return out;
}

/* Bits of x at the places of `mask` are squeezed out. */
static uint32_t layout_close(uint32_t x, const void *with)
{
    uint32_t mask = *(const uint32_t *)with, out = 0, at = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        if (!(mask >> i & 1))
            out |= (x >> i & 1) << at++;
    return out;
}

static uint32_t layout_open(uint32_t x, const void *with)
{
    uint32_t mask = *(const uint32_t *)with, out = 0, at = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        if (!(mask >> i & 1))
            out |= (x >> at++ & 1) << i;
    return out;
}

static uint32_t layout_pick(uint32_t x, const void *with)
{
    const uint8_t *from = with;
    uint32_t out = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        out |= from[i] < TS_LAYOUT_BITS ? (x >> from[i] & 1) << i : 0;
    return out;
}

ts_linear ts__linear_delete(const ts_linear *layout, uint32_t mask)
{
    uint32_t all = layout->bits ? ~0u >> (32 - layout->bits) : 0;
    return layout_each(layout, layout->bits - ts_popcount(mask & all), layout_close, &mask);
}

ts_linear ts__linear_slice(const ts_linear *layout, uint32_t mask)
{
    ts_linear out = ts__linear_delete(layout, mask);
    uint32_t n = 0;
    for (uint32_t i = 0; i < out.n_reg; i++)
        if (out.reg[i])
            out.reg[n++] = out.reg[i];
    for (uint32_t i = n; i < out.n_reg; i++)
        out.reg[i] = 0;
    out.n_reg = (uint8_t)n;
    return out;
}

ts_linear ts__linear_insert(const ts_linear *layout, uint32_t mask)
{
    return layout_each(layout, layout->bits + ts_popcount(mask), layout_open, &mask);
}

ts_linear ts__linear_permute(const ts_linear *layout, const uint8_t *from)
{
    uint8_t all[TS_LAYOUT_BITS];
    ts_assert(layout->bits <= TS_LAYOUT_BITS);
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        all[i] = i < layout->bits ? from[i] : TS_LAYOUT_BITS;
    return layout_each(layout, layout->bits, layout_pick, all);
}

int ts__linear_reg_bit(const ts_linear *layout, uint32_t bit)
{
    for (uint32_t i = 0; i < layout->n_reg; i++)
        if (layout->reg[i] == 1u << bit)
            return (int)i;
    return -1;
}

/* True when only the register column `reg` touches flat bit `bit`. */
static bool layout_owns(const ts_linear *layout, uint32_t bit, int reg)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        others |= (int)i == reg ? 0 : layout->reg[i];
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        others |= layout->lane[i];
    for (uint32_t i = 0; i < layout->n_warp; i++)
        others |= layout->warp[i];
    return !(others >> bit & 1);
}

uint32_t ts__linear_vector(const ts_linear *layout, const uint8_t *order)
{
    uint32_t n = 0;
    for (; n < layout->bits; n++) {
        uint32_t bit = order ? order[n] : n;
        int reg = ts__linear_reg_bit(layout, bit);
        if (reg < 0 || !layout_owns(layout, bit, reg))
            break;
    }
    return n;
}

/* ---- elimination ------------------------------------------------------------------------------------ */

/* Reduced rows: `value[i]` has pivot bit i and is the XOR of the columns at `of[i]`. */
typedef struct layout_rows {
    uint32_t value[TS_LAYOUT_BITS];
    ts_place of[TS_LAYOUT_BITS];
} layout_rows;

static void layout_add_place(ts_place *to, ts_place x)
{
    to->reg ^= x.reg;
    to->lane ^= x.lane;
    to->warp ^= x.warp;
}

/* Reduces `value`; adds it as a row when something is left. False: it was dependent. */
static bool layout_row_add(layout_rows *rows, uint32_t value, ts_place of)
{
    for (uint32_t i = TS_LAYOUT_BITS; i-- > 0;) {
        if (!(value >> i & 1))
            continue;
        if (!rows->value[i]) {
            rows->value[i] = value;
            rows->of[i] = of;
            return true;
        }
        value ^= rows->value[i];
        layout_add_place(&of, rows->of[i]);
    }
    return false;
}

/* Rows from register, lane, warp columns in that order; returns the bits that add nothing. */
static ts_place layout_rows_of(const ts_linear *layout, layout_rows *rows)
{
    ts_place same = {0, 0, 0};
    *rows = (layout_rows){0};
    for (uint32_t i = 0; i < layout->n_reg; i++)
        if (!layout_row_add(rows, layout->reg[i], (ts_place){.reg = 1u << i}))
            same.reg |= 1u << i;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        if (!layout_row_add(rows, layout->lane[i], (ts_place){.lane = 1u << i}))
            same.lane |= 1u << i;
    for (uint32_t i = 0; i < layout->n_warp; i++)
        if (!layout_row_add(rows, layout->warp[i], (ts_place){.warp = 1u << i}))
            same.warp |= 1u << i;
    return same;
}

ts_place ts__linear_replicas(const ts_linear *layout)
{
    layout_rows rows;
    return layout_rows_of(layout, &rows);
}

bool ts__linear_invert(const ts_linear *layout, ts_layout_inverse *inverse)
{
    layout_rows rows;
    ts_assert(ts_linear_is_sound(layout));
    layout_rows_of(layout, &rows);
    for (uint32_t i = 0; i < layout->bits; i++) {
        ts_place of = {0, 0, 0};
        uint32_t left = 1u << i;
        for (uint32_t k = i + 1; k-- > 0;) {
            if (!(left >> k & 1))
                continue;
            if (!rows.value[k])
                return false;
            left ^= rows.value[k];
            layout_add_place(&of, rows.of[k]);
        }
        inverse->of[i] = of;
    }
    return true;
}

bool ts__linear_covers(const ts_linear *layout)
{
    ts_layout_inverse inverse;
    return ts__linear_invert(layout, &inverse);
}

ts_place ts__linear_find(const ts_layout_inverse *inverse, uint32_t bits, uint32_t flat)
{
    ts_place of = {0, 0, 0};
    ts_assert(bits <= TS_LAYOUT_BITS && flat >> bits == 0);
    for (uint32_t i = 0; i < bits; i++)
        if (flat >> i & 1)
            layout_add_place(&of, inverse->of[i]);
    return of;
}
