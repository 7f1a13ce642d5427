/* SPDX-License-Identifier: Apache-2.0
 *
 * Products without wgmma that are deep but small: how many pieces of K keep a GPU busy, and which tile then takes the
 * least time. Times are in clocks of one multiprocessor of an H200; the tables are in gemm.def.
 */
#include "lib/gemm.h"
#include <math.h>

typedef struct deep_best {
    bool has_any;
    double least;
    gemm_option option;
} deep_best;

static void deep_keep(deep_best *best, double cost, gemm_option option)
{
    if (best->has_any && cost >= best->least)
        return;
    *best = (deep_best){true, cost, option};
}

enum { DEEP_SPEEDS = 8, DEEP_PIECES = 64 };

typedef struct deep_other {
    gemm_kind kind;
    int32_t rows, cols, depth;
    int32_t speeds[DEEP_SPEEDS]; /* percent, by blocks at a time; 0 behind the last */
} deep_other;

/* INFINITY where the blocks do not run at once. Counts of clocks are whole. */
static double deep_other_cost(const gemm_shape *shape, const deep_other *tile, int32_t pieces)
{
    int64_t tiles = gemm_cdiv(shape->m, tile->rows) * gemm_cdiv(shape->n, tile->cols);
    int64_t blocks = gemm_cdiv(tiles * pieces, shape->sms), n = 0;
    while (n < DEEP_SPEEDS && tile->speeds[n])
        n++;
    if (pieces > 1 && blocks > n)
        return INFINITY;
    double steps = (double)gemm_cdiv(gemm_cdiv(shape->k, tile->depth), pieces);
    double work = steps * tile->depth * (double)blocks * tile->rows * tile->cols;
    double sums = pieces * (double)shape->m * (double)shape->n * 2 * (tile->kind == GEMM_FLOAT64 ? 8 : 4);
    double adding = pieces > 1 ? GEMM_DEEP_ADDING + floor(sums / GEMM_DEEP_RATE) : 0;
    return floor(work * 100 / tile->speeds[TS_MIN(blocks, n) - 1]) + adding * GEMM_MULTIPLY_ADDS;
}

bool ts__gemm_deep_other(const gemm_shape *shape, gemm_kind kind, gemm_option *out)
{
    static const deep_other tiles[] = {
#define GEMM_DEEP_OTHER(kind, rows, cols, depth, ...) {GEMM_##kind, rows, cols, depth, {__VA_ARGS__}},
#include "lib/gemm.def"
    };
    if (shape->m * shape->n >= shape->sms * 128 * 128 * 2)
        return false;
    deep_best best = {0};
    for (size_t i = 0; i < TS_COUNT(tiles); i++) {
        gemm_option option = gemm_option_of(tiles[i].rows, tiles[i].cols, tiles[i].depth);
        for (option.pieces = 1; option.pieces <= DEEP_PIECES && tiles[i].kind == kind; option.pieces++)
            if (option.pieces == 1 || shape->k >= 128 * option.pieces)
                deep_keep(&best, deep_other_cost(shape, &tiles[i], option.pieces), option);
    }
    *out = best.option;
    return best.has_any && best.option.pieces > 1;
}
