/* SPDX-License-Identifier: Apache-2.0
 *
 * Properties of linear layouts and of conversion plans: random layouts, conversions carried out on integers
 * exactly as the lowering will (registers, shuffles, a shared array) and compared element by element.
 */
#include "check.h"
#include "gpu/layout/layout.h"

static uint32_t seed = 12345;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void shuffle(uint8_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = (uint8_t)i;
    for (uint32_t i = n; i-- > 1;) {
        uint32_t k = rnd(i + 1);
        uint8_t t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}

/* A covering layout of `bits` bits: a random dealing of flat bits, sometimes mixed by a random matrix. */
static ts_linear random_layout(uint32_t bits, uint32_t n_warp, bool mixed)
{
    uint8_t order[TS_LAYOUT_BITS];
    ts_linear layout;
    shuffle(order, bits);
    ts__linear_blocked(&layout, bits, order, rnd(4), n_warp);
    for (uint32_t i = 0; mixed && i + 1 < layout.n_reg; i++)
        layout.reg[i] ^= rnd(2) ? layout.reg[i + 1] : 0;
    for (uint32_t i = 0; mixed && i + 1 < TS_LAYOUT_LANES; i++)
        layout.lane[i] ^= rnd(2) ? layout.lane[i + 1] : 0;
    return layout;
}

static void inverse_finds_every_element(void)
{
    for (int round = 0; round < 200; round++) {
        ts_linear layout = random_layout(3 + rnd(10), rnd(4), round & 1);
        ts_layout_inverse inverse;
        CHECK(ts__linear_invert(&layout, &inverse));
        int wrong = 0;
        for (uint32_t flat = 0; flat < 1u << layout.bits; flat++)
            wrong += ts__linear_at(&layout, ts__linear_find(&inverse, layout.bits, flat)) != flat;
        CHECK_INT(wrong, 0);
    }
}

static void singular_layout_has_no_inverse(void)
{
    ts_linear layout = ts__linear_all_same(2);
    layout.bits = 1;
    CHECK(!ts__linear_covers(&layout));
}

static void delete_undoes_insert(void)
{
    for (int round = 0; round < 100; round++) {
        ts_linear layout = random_layout(8, 2, true);
        uint32_t mask = rnd(1 << 9);
        ts_linear wide = ts__linear_insert(&layout, mask), back = ts__linear_delete(&wide, mask);
        CHECK(ts__linear_equal(&back, &layout));
    }
}

static void permute_moves_bits(void)
{
    uint8_t from[3] = {2, 0, 1};
    ts_linear layout, out;
    ts__linear_blocked(&layout, 3, (const uint8_t[]){0, 1, 2}, 3, 0);
    out = ts__linear_permute(&layout, from);
    CHECK_INT(out.reg[0], 2);
    CHECK_INT(out.reg[1], 4);
    CHECK_INT(out.reg[2], 1);
}

static void replicas_of_a_small_tile_are_the_idle_lanes(void)
{
    ts_linear layout;
    ts__linear_blocked(&layout, 4, (const uint8_t[]){0, 1, 2, 3}, 2, 2);
    ts_place same = ts__linear_replicas(&layout);
    CHECK_INT(same.reg, 0);
    CHECK_INT(same.lane, 28);
    CHECK_INT(same.warp, 3);
    CHECK_INT(ts__linear_vector(&layout, NULL), 2);
}

/* Runs a plan for every destination place on the integers that are the elements' own indices. */
static uint32_t moved(const ts_linear *from, const ts_linear *to, const ts_move *move, ts_place at)
{
    uint32_t flat = ts__linear_at(to, at);
    ts_place source = {.reg = ts_xor_of(move->reg_reg, to->n_reg, at.reg) ^
                              ts_xor_of(move->lane_reg, 5, at.lane) ^ ts_xor_of(move->warp_reg, to->n_warp, at.warp),
                       .lane = ts_xor_of(move->reg_lane, to->n_reg, at.reg) ^ ts_xor_of(move->lane_lane, 5, at.lane),
                       .warp = at.warp};
    if (move->kind == TS_MOVE_NONE)
        return ts__linear_at(from, at);
    return move->kind == TS_MOVE_SHARED ? flat : ts__linear_at(from, source);
}

static int wrong_places(const ts_linear *from, const ts_linear *to, const ts_move *move)
{
    int wrong = 0;
    for (uint32_t warp = 0; warp < 1u << to->n_warp; warp++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t reg = 0; reg < 1u << to->n_reg; reg++) {
                ts_place at = {reg, lane, warp};
                wrong += moved(from, to, move, at) != ts__linear_at(to, at);
            }
    return wrong;
}

static void plans_move_every_element(void)
{
    int kinds[4] = {0};
    for (int round = 0; round < 600; round++) {
        uint32_t bits = 2 + rnd(10), warps = rnd(3);
        ts_linear from = random_layout(bits, warps, round % 3 == 0), to = random_layout(bits, warps, false);
        ts_move move;
        if (round % 4 == 1) { /* registers renamed only, or lanes only */
            to = from;
            uint32_t a = rnd(5), b = rnd(5), t = to.lane[a];
            to.lane[a] = to.lane[b], to.lane[b] = t;
        }
        ts__move_plan(&from, &to, 1u << rnd(4), &move);
        kinds[move.kind]++;
        CHECK_INT(wrong_places(&from, &to, &move), 0);
    }
    for (int kind = 0; kind < 4; kind++)
        CHECK(kinds[kind] > 0);
}

static void shared_offsets_are_one_to_one(void)
{
    for (int round = 0; round < 200; round++) {
        uint32_t bits = 2 + rnd(10);
        ts_linear from = random_layout(bits, 1, round & 1), to = random_layout(bits, 1, false);
        ts_move move;
        static uint8_t seen[1 << 12];
        memset(seen, 0, sizeof seen);
        ts__move_plan_shared(&from, &to, 4, (ts_whole)(round % 3), &move);
        int twice = 0;
        for (uint32_t flat = 0; flat < 1u << bits; flat++) {
            uint32_t at = ts__move_offset(&move, bits, flat);
            twice += at >> bits || seen[at]++;
        }
        CHECK_INT(twice, 0);
    }
}

static void transpose_has_no_bank_conflicts(void)
{
    ts_linear rows, columns;
    ts_move move;
    uint8_t by_row[12], by_column[12];
    for (uint8_t i = 0; i < 12; i++) {
        by_row[i] = i;
        by_column[i] = (uint8_t)((i + 6) % 12);
    }
    ts__linear_blocked(&rows, 12, by_row, 2, 3);
    ts__linear_blocked(&columns, 12, by_column, 2, 3);
    ts__move_plan(&rows, &columns, 4, &move);
    CHECK_INT(move.kind, TS_MOVE_SHARED);
    CHECK_INT(move.conflicts_store, 0);
    CHECK_INT(move.conflicts_load, 0);
}

/* bf16 tile 64x64 stored by rows in 16-byte vectors, read as ldmatrix rows. */
static void ldmatrix_rows_have_no_bank_conflicts(void)
{
    ts_linear rows, matrix = {.bits = 12, .n_reg = 7};
    ts_move move;
    uint8_t order[12];
    for (uint8_t i = 0; i < 12; i++)
        order[i] = i;
    ts__linear_blocked(&rows, 12, order, 3, 2);
    for (uint32_t i = 0; i < 3; i++)
        matrix.reg[i] = 1u << i;
    for (uint32_t i = 0; i < 4; i++)
        matrix.lane[i] = 1u << (6 + i);
    matrix.lane[4] = 1u << 3;
    ts__move_plan_shared(&rows, &matrix, 2, TS_WHOLE_LOAD, &move);
    CHECK_INT(move.vec_store, 3);
    CHECK_INT(move.vec_load, 3);
    CHECK_INT(move.conflicts_store, 0);
    CHECK_INT(move.conflicts_load, 0);
}

int main(void)
{
    inverse_finds_every_element();
    singular_layout_has_no_inverse();
    delete_undoes_insert();
    permute_moves_bits();
    replicas_of_a_small_tile_are_the_idle_lanes();
    plans_move_every_element();
    shared_offsets_are_one_to_one();
    transpose_has_no_bank_conflicts();
    ldmatrix_rows_have_no_bank_conflicts();
    return check_done();
}
