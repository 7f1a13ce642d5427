/* SPDX-License-Identifier: Apache-2.0
 *
 * How a tile gets from one layout to another (ts_move in layout.h): renaming registers, one shuffle a
 * register, or shared memory with an XOR swizzle that gives both sides different banks.
 *
 * The swizzle: low offset bits hold the flat bits that both sides have in registers (one vector). Above
 * them come the bank bits. A bank bit is one lane bit of the storing side XOR one lane bit of the loading
 * side, so that lanes of either side, taken alone, run through all banks; the second of the two also
 * gets an offset bit of its own further up, which keeps the map one to one.
 */
#include "gpu/layout/layout.h"

/* Columns of a basis, reduced; as in layout.c but over chosen columns only. */
typedef struct move_basis {
    uint32_t value[TS_LAYOUT_BITS], reg[TS_LAYOUT_BITS], lane[TS_LAYOUT_BITS];
} move_basis;

static bool move_reduce(const move_basis *basis, uint32_t *value, uint32_t *reg, uint32_t *lane)
{
    for (uint32_t i = TS_LAYOUT_BITS; i-- > 0;) {
        if (!(*value >> i & 1) || !basis->value[i])
            continue;
        *value ^= basis->value[i];
        *reg ^= basis->reg[i];
        *lane ^= basis->lane[i];
    }
    return *value == 0;
}

static void move_basis_add(move_basis *basis, uint32_t value, uint32_t reg, uint32_t lane)
{
    if (move_reduce(basis, &value, &reg, &lane))
        return;
    int top = ts_log2(value);
    basis->value[top] = value;
    basis->reg[top] = reg;
    basis->lane[top] = lane;
}

static move_basis move_basis_of(const ts_linear *layout, bool regs, bool lanes)
{
    move_basis basis = {0};
    for (uint32_t i = 0; lanes && i < TS_LAYOUT_LANES; i++)
        move_basis_add(&basis, layout->lane[i], 0, 1u << i);
    for (uint32_t i = 0; regs && i < layout->n_reg; i++)
        move_basis_add(&basis, layout->reg[i], 1u << i, 0);
    return basis;
}

/* word[i] = register word that makes up `columns[i]` (XOR `minus[i]`); false when one cannot. */
static bool move_solve(const move_basis *basis, uint32_t n, const uint32_t *columns, const uint32_t *minus,
                       uint32_t *reg, uint32_t *lane)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = columns[i] ^ (minus ? minus[i] : 0), none = 0;
        reg[i] = 0;
        if (!move_reduce(basis, &value, &reg[i], lane ? &lane[i] : &none))
            return false;
    }
    return true;
}

/* Beyond so many instructions shared memory takes fewer. */
enum { MOVE_MAX_SELECTS = 64, MOVE_MAX_SHUFFLES = 16 };
/* Shared memory: banks of 4 bytes; bytes that it gives a warp at once. */
enum { MOVE_BANKS = 32, MOVE_PHASE = 128 };

static uint32_t move_nonzero(uint32_t n, const uint32_t *word)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += word[i] != 0;
    return count;
}

static bool move_plan_regs(const ts_linear *from, const ts_linear *to, ts_move *move)
{
    move_basis regs = move_basis_of(from, true, false);
    *move = (ts_move){.kind = TS_MOVE_REGS};
    if (!move_solve(&regs, to->n_reg, to->reg, NULL, move->reg_reg, NULL) ||
        !move_solve(&regs, TS_LAYOUT_LANES, to->lane, from->lane, move->lane_reg, NULL) ||
        !move_solve(&regs, to->n_warp, to->warp, from->warp, move->warp_reg, NULL))
        return false;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        move->lane_lane[i] = 1u << i;
    uint32_t choices = move_nonzero(TS_LAYOUT_LANES, move->lane_reg) + move_nonzero(to->n_warp, move->warp_reg);
    return choices == 0 || ((1u << choices) - 1) << to->n_reg <= MOVE_MAX_SELECTS;
}

static bool move_plan_shuffle(const ts_linear *from, const ts_linear *to, uint32_t bytes, ts_move *move)
{
    move_basis regs = move_basis_of(from, true, false), lanes = move_basis_of(from, false, true);
    *move = (ts_move){.kind = TS_MOVE_SHUFFLE};
    if (((bytes + 3) / 4) << to->n_reg > MOVE_MAX_SHUFFLES)
        return false;
    for (uint32_t i = 0; i < to->n_warp; i++)
        if (to->warp[i] != from->warp[i])
            return false;
    uint32_t none[TS_LAYOUT_LANES];
    if (!move_solve(&lanes, TS_LAYOUT_LANES, to->lane, NULL, none, move->lane_lane))
        return false;
    for (uint32_t i = 0; i < to->n_reg; i++) { /* registers first, the rest from other lanes */
        uint32_t value = to->reg[i], dummy = 0;
        move_reduce(&regs, &value, &move->reg_reg[i], &dummy);
        if (!move_reduce(&lanes, &value, &dummy, &move->reg_lane[i]))
            return false;
    }
    return true;
}

/* ---- shared memory ------------------------------------------------------------------------------------ */

typedef struct move_bits {
    uint8_t at[TS_LAYOUT_BITS];
    uint32_t n;
} move_bits;

static bool move_has(const move_bits *list, uint32_t bit)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i] == bit)
            return true;
    return false;
}

static void move_push(move_bits *list, uint32_t bit)
{
    if (list->n < TS_LAYOUT_BITS && !move_has(list, bit))
        list->at[list->n++] = (uint8_t)bit;
}

/* The first `n` flat bits that lanes run over, outside `not_in`. Only unit columns count. */
static move_bits move_lane_bits(const ts_linear *layout, const move_bits *not_in, uint32_t n)
{
    move_bits list = {.n = 0};
    for (uint32_t i = 0; i < TS_LAYOUT_LANES && list.n < n; i++)
        if (ts_is_pow2(layout->lane[i]) && !move_has(not_in, (uint32_t)ts_log2(layout->lane[i])))
            move_push(&list, (uint32_t)ts_log2(layout->lane[i]));
    return list;
}

static move_bits move_vector(const ts_linear *from, const ts_linear *to, uint32_t max, ts_whole whole)
{
    const ts_linear *side = whole == TS_WHOLE_STORE ? from : to;
    move_bits list = {.n = 0};
    for (uint32_t i = 0; i < side->n_reg && list.n < max; i++) {
        if (!ts_is_pow2(side->reg[i]))
            continue;
        uint32_t bit = (uint32_t)ts_log2(side->reg[i]);
        if (whole || ts__linear_reg_bit(from, bit) >= 0)
            move_push(&list, bit);
    }
    return list;
}

/* Deals out offset bits; see the opening paragraph. */
static void move_offsets(const ts_linear *from, const ts_linear *to, uint32_t bank_bits, const move_bits *vec,
                         uint32_t *offset)
{
    uint32_t at = 0;
    move_bits store = move_lane_bits(from, vec, bank_bits), load = move_lane_bits(to, vec, bank_bits), rest = {.n = 0};
    for (uint32_t i = 0; i < vec->n; i++)
        offset[vec->at[i]] = 1u << at++;
    move_bits only_store = {.n = 0}, only_load = {.n = 0};
    for (uint32_t i = 0; i < store.n; i++)
        if (move_has(&load, store.at[i]))
            offset[store.at[i]] = 1u << at++;
        else
            move_push(&only_store, store.at[i]);
    for (uint32_t i = 0; i < load.n; i++)
        if (!move_has(&store, load.at[i]))
            move_push(&only_load, load.at[i]);
    for (uint32_t i = 0; i < TS_MAX(only_store.n, only_load.n); i++, at++) {
        if (i < only_store.n)
            offset[only_store.at[i]] = 1u << at;
        if (i < only_load.n)
            offset[only_load.at[i]] = 1u << at;
        if (i < only_store.n && i < only_load.n)
            move_push(&rest, only_load.at[i]);
    }
    for (uint32_t bit = 0; bit < from->bits; bit++)
        if (!offset[bit])
            move_push(&rest, bit);
    for (uint32_t i = 0; i < rest.n; i++)
        offset[rest.at[i]] |= 1u << at++;
}

static uint32_t move_count(const uint32_t *column, uint32_t n, uint32_t bit)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += column[i] >> bit & 1;
    return count;
}

/* The flat bit is given by one register bit and by nothing else; a lane or warp bit that flips it too
 * would make a thread's vector begin in the middle. */
static bool move_owns(const ts_linear *layout, uint32_t bit)
{
    uint32_t others = move_count(layout->lane, TS_LAYOUT_LANES, bit) + move_count(layout->warp, layout->n_warp, bit);
    return ts__linear_reg_bit(layout, bit) >= 0 && others == 0 && move_count(layout->reg, layout->n_reg, bit) == 1;
}

/* How many low offset bits are single register bits of the layout. */
static uint32_t move_width(const ts_linear *layout, const uint32_t *offset, uint32_t max)
{
    uint32_t n = 0;
    for (; n < max; n++) {
        bool found = false;
        for (uint32_t bit = 0; bit < layout->bits; bit++)
            found = found || (offset[bit] == 1u << n && move_owns(layout, bit));
        if (!found)
            break;
    }
    return n;
}

void ts__move_plan_shared(const ts_linear *from, const ts_linear *to, uint32_t bytes, ts_whole whole, ts_move *move)
{
    ts_assert(from->bits == to->bits && ts_is_pow2(bytes) && bytes <= 16);
    *move = (ts_move){.kind = TS_MOVE_SHARED};
    uint32_t log_bytes = (uint32_t)ts_log2(bytes), max = 4 - log_bytes;
    move_bits vec = move_vector(from, to, max, whole);
    move_offsets(from, to, 7 - log_bytes - vec.n, &vec, move->offset);
    move->vec_store = move_width(from, move->offset, vec.n);
    move->vec_load = move_width(to, move->offset, vec.n);
    move->conflicts_store = ts__move_conflicts(from, move->offset, move->vec_store, bytes);
    move->conflicts_load = ts__move_conflicts(to, move->offset, move->vec_load, bytes);
}

void ts__move_plan(const ts_linear *from, const ts_linear *to, uint32_t bytes, ts_move *move)
{
    ts_assert(from->bits == to->bits && from->n_warp == to->n_warp);
    if (ts__linear_equal(from, to))
        *move = (ts_move){.kind = TS_MOVE_NONE};
    else if (!move_plan_regs(from, to, move) && !move_plan_shuffle(from, to, bytes, move))
        ts__move_plan_shared(from, to, bytes, TS_WHOLE_NONE, move);
}

uint32_t ts__move_offset(const ts_move *move, uint32_t bits, uint32_t flat)
{
    return ts_xor_of(move->offset, bits, flat);
}

/* Different words that the lanes first..first+n-1 want from the busiest bank. */
static uint32_t move_phase(const uint32_t *byte, uint32_t n, uint32_t width)
{
    uint32_t word[MOVE_PHASE], n_word = 0, busiest = 0, load[MOVE_BANKS] = {0};
    for (uint32_t lane = 0; lane < n; lane++)
        for (uint32_t at = 0; at < width; at += 4) {
            uint32_t w = (byte[lane] + at) / 4, k = 0;
            while (k < n_word && word[k] != w)
                k++;
            if (k < n_word)
                continue;
            word[n_word++] = w;
            load[w % MOVE_BANKS]++;
            busiest = TS_MAX(busiest, load[w % MOVE_BANKS]);
        }
    return busiest;
}

uint32_t ts__move_conflicts(const ts_linear *layout, const uint32_t *offset, uint32_t vec, uint32_t bytes)
{
    uint32_t byte[32], width = bytes << vec, n = TS_MIN(32u, MOVE_PHASE / width), extra = 0;
    ts_assert(width && width <= MOVE_PHASE);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t flat = ts__linear_at(layout, (ts_place){.lane = lane});
        byte[lane] = ts_xor_of(offset, layout->bits, flat) * bytes;
    }
    for (uint32_t first = 0; first < 32; first += n)
        extra += move_phase(byte + first, n, width) - 1;
    return extra;
}
