/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tiles, clusters and pieces of K make a matrix product in the least time: the time of every option is estimated
 * in clocks of one multiprocessor, and the least one taken. The constants are in gemm.def. Sums and
 * products of counts are exact in double for all that fits a memory.
 */
#include "lib/gemm.h"
#include <math.h>

#define GEMM_COST(name, value) static const double COST_##name = value;
#include "lib/gemm.def"

/* Rows, columns and steps of 128 bytes along K of a product; `batch`: how many; how much longer the lines of its
 * operands take than those that lie well. */
typedef struct cost_product {
    int64_t rows, cols, steps, batch;
    double row_lines, col_lines;
    int32_t after;
} cost_product;

typedef enum cost_ways { /* what there are kernels for */
    COST_WALK = 1,       /* blocks that walk over many tiles */
    COST_CUT = 2,        /* pieces of K */
    COST_ALONE = 4,      /* a block or a cluster for each tile, and tiles of other widths */
    COST_FINE = 8        /* with COST_CUT and COST_ALONE: more counts of pieces, clusters of four */
} cost_ways;

typedef struct cost_search {
    cost_product product;
    int64_t sms;
    cost_ways ways;
    bool has_best;
    double least;
    gemm_option best;
} cost_search;

/* ---- estimates ------------------------------------------------------------------------------------- */

/* Two times that hide behind each other in part. */
static double cost_together(double x, double y, double power)
{
    return pow(pow(x, power) + pow(y, power), 1 / power);
}

static double cost_instruction(int32_t columns)
{
    return columns == 0 ? 0 : columns >= 64 ? columns / 2.0 : COST_NARROW + columns / 4.0;
}

/* 128 bytes of K: products, or the operands' way to shared memory at `rate` bytes a clock. */
static double cost_step(const cost_product *product, int32_t rows, int32_t cols, int32_t more, double rate)
{
    double products = rows / 16.0 * (cost_instruction(cols) + cost_instruction(more));
    double operands = (rows * product->row_lines + (cols + more) * product->col_lines) * 128 / rate;
    double both = cost_together(products, operands, COST_TOGETHER);
    return more ? both * COST_WIDER : both;
}

static int64_t cost_rows(const cost_product *product, const gemm_option *option)
{
    return gemm_cdiv(product->rows, option->rows);
}

static int64_t cost_cols(const cost_product *product, const gemm_option *option)
{
    return gemm_cdiv(product->cols, option->cols + option->more);
}

/* A block for each tile, its pieces and its shares. */
static int64_t cost_blocks(const cost_product *product, const gemm_option *option)
{
    return product->batch * cost_rows(product, option) * cost_cols(product, option) * option->pieces *
           TS_MAX(1, option->ctas);
}

/* Whether blocks walk over many tiles. */
static bool cost_walks(const gemm_option *option)
{
    return !option->ctas && option->pieces == 1;
}

/* Tiles of another width have a power of two of stages. */
int32_t ts__gemm_stages(const gemm_option *option)
{
    int32_t room = option->shared ? GEMM_HALF : cost_walks(option) ? GEMM_WALKING : GEMM_WHOLE;
    int32_t most = TS_MIN(8, room / (128 * (option->rows + option->cols + option->more)));
    return option->more ? 1 << ts_log2((uint64_t)most) : most;
}

/* Bytes a clock that arrive in a multiprocessor; `neighbours`: two blocks on it read at once. */
static double cost_rate(const gemm_option *option, bool neighbours)
{
    int32_t on_the_way = ts__gemm_stages(option) * 128 * (option->rows + option->cols + option->more);
    return fmin(COST_ARRIVAL, (neighbours ? 2 : 1) * on_the_way / COST_LATENCY);
}

/* Clocks of the busiest multiprocessor for whole tiles and the parts of those that are left over. Small tiles are made
 * by two groups of warps in turn: what comes after one's products runs beside the next one's. */
static double cost_walk(const cost_product *product, const gemm_option *option, int64_t sms, double end)
{
    double rate = cost_rate(option, false), steps = (double)product->steps;
    int64_t tiles = cost_blocks(product, option), area = option->rows * option->cols;
    bool has_tail = option->tail > 1, in_turn = !option->more && area >= 1 << 13 && area <= 1 << 14;
    int64_t whole = has_tail ? tiles / sms : gemm_cdiv(tiles, sms), rest = has_tail ? tiles % sms : 0;
    double last = in_turn ? 2 * end : 0;
    if (in_turn)
        end = 0;
    double step = cost_step(product, option->rows, option->cols, option->more, rate);
    double work = (double)whole * (steps * step + end) + last;
    double part = steps * cost_step(product, option->rows, option->cols / option->tail, 0, rate) + end / option->tail;
    return work + (double)gemm_cdiv(rest * option->tail, sms) * part;
}

/* Clocks of the busiest multiprocessor. */
static double cost_work(const cost_product *product, const gemm_option *option, int64_t sms)
{
    double end = (double)((int64_t)option->rows * (option->cols + option->more) * product->after) * COST_OUT;
    if (cost_walks(option))
        return cost_walk(product, option, sms, end);
    int64_t blocks = cost_blocks(product, option), each = gemm_cdiv(blocks, sms);
    int64_t rounds = option->shared ? gemm_cdiv(blocks, 2 * sms) : each;
    int64_t depth = gemm_cdiv(product->steps, option->pieces * TS_MAX(1, option->ctas));
    double rate = cost_rate(option, option->shared && blocks > sms);
    double one = (double)depth * cost_step(product, option->rows, option->cols, 0, rate);
    return (double)each * one + (double)rounds * end + (double)(rounds - 1) * COST_ROUND;
}

/* That a product reads and writes. */
static double cost_bytes(const cost_product *product)
{
    double rows = (double)product->rows, cols = (double)product->cols;
    return (double)product->batch * ((rows + cols) * (double)product->steps * 128 + 2 * rows * cols);
}

/* Clocks until all of that has moved. */
static double cost_memory(const cost_product *product, const gemm_option *option)
{
    int64_t rows = cost_rows(product, option), cols = cost_cols(product, option);
    double again = (double)(product->rows * TS_MIN(1, cols - 1) + product->cols * TS_MIN(1, rows - 1));
    double more = COST_AGAIN * (double)product->batch * again * (double)product->steps * 128;
    return (cost_bytes(product) + more) / COST_MEMORY;
}

static double cost_pieces(int32_t pieces, double elements)
{
    return pieces > 1 ? COST_PIECES + 8 * pieces * elements / COST_PIECES_RATE : 0;
}

double ts__gemm_copying(int64_t bytes)
{
    return bytes ? COST_COPY + 2 * (double)bytes / COST_COPY_RATE : 0;
}

/* What it takes to add up sums of pieces or of a cluster's blocks. */
static double cost_adding(const cost_product *product, const gemm_option *option)
{
    double tile = option->rows * option->cols;
    double tiles = (double)cost_rows(product, option) * (double)cost_cols(product, option);
    if (option->pieces > 1)
        return cost_pieces(option->pieces, tiles * tile);
    return option->ctas > 1 ? COST_MEETING + COST_TRAVEL * tile * (option->ctas - 1) : 0;
}

static bool cost_starts_early(const cost_product *product, const gemm_option *option, int64_t sms, double work)
{
    double moved = cost_bytes(product);
    bool has_room = option->shared || option->pieces > 1 || cost_blocks(product, option) * 2 <= sms;
    return has_room || moved <= COST_EARLY_BYTES || work > COST_EARLY_WORK * moved / COST_MEMORY;
}

/* ---- options --------------------------------------------------------------------------------------- */

/* Options that take the same time are compared by their members in this order, and the first of them is taken. */
static bool cost_is_before(const gemm_option *x, const gemm_option *y)
{
    const int32_t of_x[] = {x->rows, x->cols, x->pieces, x->swapped, x->tail, x->ctas, x->more, x->shared, x->early};
    const int32_t of_y[] = {y->rows, y->cols, y->pieces, y->swapped, y->tail, y->ctas, y->more, y->shared, y->early};
    for (size_t i = 0; i < TS_COUNT(of_x); i++)
        if (of_x[i] != of_y[i])
            return of_x[i] < of_y[i];
    return false;
}

static void cost_keep(cost_search *search, gemm_option option, double clocks)
{
    bool is_less = !search->has_best || clocks < search->least;
    if (!is_less && (clocks > search->least || !cost_is_before(&option, &search->best)))
        return;
    search->has_best = true;
    search->least = clocks;
    search->best = option;
}

static void cost_consider(cost_search *search, gemm_option option)
{
    const cost_product *product = &search->product;
    double work = cost_work(product, &option, search->sms), memory = cost_memory(product, &option);
    option.early = cost_starts_early(product, &option, search->sms, work);
    double start = COST_START + cost_adding(product, &option) - (option.early ? COST_HEAD_START : 0);
    double across = option.swapped ? COST_ACROSS * option.rows * (option.cols + option.more) : 0;
    cost_keep(search, option, start + across + cost_together(work, memory, COST_OVERLAP));
}

/* Tiles behind the last whole wave may be made in parts. */
static void cost_consider_tails(cost_search *search, gemm_option option)
{
    int64_t tiles = cost_blocks(&search->product, &option);
    bool is_large = option.rows * option.cols >= 1 << 14 && option.cols >= 128;
    int32_t most = is_large && tiles > search->sms && tiles % search->sms ? 4 : 1;
    for (option.tail = 1; option.tail <= most; option.tail *= 2)
        cost_consider(search, option);
}

/* Pieces of large tiles, so many that blocks fill more than half the chip. */
static void cost_consider_pieces(cost_search *search, gemm_option option)
{
    static const int32_t counts[] = {2, 3, 4, 8, 16};
    int64_t tiles = cost_blocks(&search->product, &option), sms = search->sms;
    for (size_t i = 0; i < TS_COUNT(counts) && option.rows * option.cols >= 1 << 13; i++) {
        int64_t halves = 2 * tiles * counts[i];
        option.pieces = counts[i];
        if (sms < halves && halves <= 2 * sms && search->product.steps >= 8 * counts[i])
            cost_consider(search, option);
    }
}

/* Pieces of four steps or more of any tile, up to two blocks for each multiprocessor. */
static void cost_consider_fine_pieces(cost_search *search, gemm_option option)
{
    static const int32_t counts[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16};
    int64_t tiles = cost_blocks(&search->product, &option);
    for (size_t i = 0; i < TS_COUNT(counts); i++) {
        option.pieces = counts[i];
        if (tiles * option.pieces <= 2 * search->sms && search->product.steps >= 4 * option.pieces)
            cost_consider(search, option);
    }
}

/* A block or a cluster of two or four for each tile; small tiles may lie two on a multiprocessor. */
static void cost_consider_fine_alone(cost_search *search, gemm_option option)
{
    static const struct {
        int32_t ctas, steps; /* of a cluster; the least along K */
    } clusters[] = {{1, 1}, {2, 8}, {4, 16}};
    int64_t tiles = cost_blocks(&search->product, &option);
    bool is_small = option.rows * option.cols <= 1 << 13 && option.rows <= 128;
    for (size_t i = 0; i < TS_COUNT(clusters); i++) {
        if (tiles * clusters[i].ctas > 2 * search->sms || search->product.steps < clusters[i].steps)
            continue;
        gemm_option both = option;
        option.ctas = both.ctas = clusters[i].ctas;
        both.shared = true;
        cost_consider(search, option);
        if (is_small && ts__gemm_stages(&both) >= 4 && clusters[i].ctas <= 2)
            cost_consider(search, both);
    }
}

/* A block for each tile, two on a multiprocessor where they find room with all stages, or with half of them; and a
 * cluster of the first of these. */
static void cost_consider_alone(cost_search *search, gemm_option option)
{
    const cost_product *product = &search->product;
    int64_t tiles = cost_blocks(product, &option);
    bool is_small = option.rows * option.cols <= 1 << 13 && option.rows <= 128;
    gemm_option both = option;
    option.ctas = both.ctas = 1;
    both.shared = true;
    bool only_both = is_small && ts__gemm_stages(&both) == 8 && option.rows == 64;
    if (tiles <= 2 * search->sms && !only_both)
        cost_consider(search, option);
    if (tiles <= 2 * search->sms && is_small && ts__gemm_stages(&both) >= 4)
        cost_consider(search, both);
    gemm_option cluster = only_both ? both : option;
    cluster.ctas = 2;
    bool is_line = cost_rows(product, &option) == 1 || cost_cols(product, &option) == 1;
    if (tiles <= search->sms && product->steps >= 16 && is_line)
        cost_consider(search, cluster);
}

static void cost_consider_all(cost_search *search, int32_t depth, bool swapped)
{
    static const int32_t tiles[][2] = {
#define GEMM_TILE(rows, cols) {rows, cols},
#include "lib/gemm.def"
    };
    static const int32_t wide[][3] = {
#define GEMM_WIDE(rows, cols, more) {rows, cols, more},
#include "lib/gemm.def"
    };
    for (size_t i = 0; i < TS_COUNT(tiles); i++) {
        gemm_option option = gemm_option_of(tiles[i][0], tiles[i][1], depth);
        option.swapped = swapped;
        if (!(search->ways & COST_ALONE) || cost_blocks(&search->product, &option) > search->sms)
            cost_consider_tails(search, option);
        bool is_fine = search->ways & COST_FINE;
        if (search->ways & COST_CUT)
            (is_fine ? cost_consider_fine_pieces : cost_consider_pieces)(search, option);
        if (search->ways & COST_ALONE)
            (is_fine ? cost_consider_fine_alone : cost_consider_alone)(search, option);
    }
    for (size_t i = 0; i < TS_COUNT(wide) && search->ways & COST_ALONE; i++) {
        gemm_option option = gemm_option_of(wide[i][0], wide[i][1], depth);
        option.more = wide[i][2], option.swapped = swapped;
        cost_consider(search, option);
    }
}

/* Of the product as it is, or of the transposed one, whose operands are b.T and a.T. */
static cost_product cost_product_of(const gemm_shape *shape, bool swapped)
{
    return (cost_product){.rows = swapped ? shape->n : shape->m, .cols = swapped ? shape->m : shape->n,
                          .steps = gemm_cdiv(shape->k, 128 / shape->item_bytes), .batch = TS_MAX(1, shape->batch),
                          .row_lines = shape->ragged[swapped] ? COST_RAGGED : 1,
                          .col_lines = shape->ragged[!swapped] ? COST_RAGGED : 1, .after = shape->after};
}

gemm_option ts__gemm_cheapest(const gemm_shape *shape, double *clocks)
{
    int32_t depth = (int32_t)(128 / shape->item_bytes);
    cost_search search = {.product = cost_product_of(shape, false), .sms = shape->sms, .ways = COST_WALK};
    if (!shape->batch && shape->after == 1)
        search.ways |= shape->clusters ? COST_CUT | COST_ALONE : COST_CUT;
    if (shape->ragged[0] || shape->ragged[1] || shape->copied)
        search.ways |= COST_FINE;
    cost_consider_all(&search, depth, false);
    if (search.ways & COST_CUT) {
        search.product = cost_product_of(shape, true);
        cost_consider_all(&search, depth, true);
    }
    ts_assert(search.has_best);
    *clocks = search.least;
    return search.best;
}

/* ---- operands as they lie -------------------------------------------------------------------------- */

static double cost_raw(const gemm_shape *shape, const gemm_option *option, int64_t tiles)
{
    double area = option->rows * option->cols, m = (double)shape->m, n = (double)shape->n;
    double step = COST_RAW_PRODUCT * area + COST_RAW_OPERAND * (option->rows + option->cols);
    int64_t steps = gemm_cdiv(gemm_cdiv(shape->k, option->depth), option->pieces);
    double blocks = fmax(1, (double)(tiles * option->pieces) / ((double)shape->sms * COST_RAW_BLOCKS));
    double work = blocks * (double)steps * (COST_RAW_STEP + step * option->depth);
    double memory = 2 * ((m + n) * (double)shape->k + m * n) / COST_MEMORY;
    return cost_together(work, memory, COST_OVERLAP) + cost_pieces(option->pieces, area * (double)tiles);
}

gemm_option ts__gemm_raw(const gemm_shape *shape, double *clocks)
{
    static const int32_t tiles[][3] = {
#define GEMM_RAW(rows, cols, depth) {rows, cols, depth},
#include "lib/gemm.def"
    };
    cost_search search = {0};
    for (size_t i = 0; i < TS_COUNT(tiles); i++) {
        gemm_option option = gemm_option_of(tiles[i][0], tiles[i][1], tiles[i][2]);
        int64_t count = gemm_cdiv(shape->m, option.rows) * gemm_cdiv(shape->n, option.cols);
        for (option.pieces = 1; option.pieces <= 16; option.pieces *= 2)
            if (option.pieces == 1 || (count * option.pieces <= 6 * shape->sms && shape->k >= 96 * option.pieces))
                cost_keep(&search, option, cost_raw(shape, &option, count));
    }
    *clocks = search.least;
    return search.best;
}

/* ---- without wgmma --------------------------------------------------------------------------------- */

static const struct {
    gemm_kind kind;
    int32_t rows, cols, depth, percent;
} cost_others[] = {
#define GEMM_OTHER(kind, rows, cols, depth, percent) {GEMM_##kind, rows, cols, depth, percent},
#include "lib/gemm.def"
};

gemm_option ts__gemm_without_wgmma(const gemm_shape *shape, gemm_kind kind)
{
    size_t best = TS_COUNT(cost_others);
    double least = 0;
    for (size_t i = 0; i < TS_COUNT(cost_others); i++) {
        int64_t rows = cost_others[i].rows, cols = cost_others[i].cols;
        int64_t tiles = gemm_cdiv(gemm_cdiv(shape->m, rows) * gemm_cdiv(shape->n, cols), shape->sms);
        double cost = (double)tiles * (double)(rows * cols * cost_others[i].percent);
        if (cost_others[i].kind != kind || (best < TS_COUNT(cost_others) && cost >= least))
            continue;
        best = i;
        least = cost;
    }
    ts_assert(best < TS_COUNT(cost_others));
    return gemm_option_of(cost_others[best].rows, cost_others[best].cols, cost_others[best].depth);
}

gemm_option ts__gemm_grouped(const gemm_shape *shape, bool wgmma, gemm_kind kind)
{
    static const int32_t tiles[][2] = {
#define GEMM_GROUPED(rows, cols) {rows, cols},
#include "lib/gemm.def"
    };
    const cost_product product = cost_product_of(shape, false);
    size_t best = 0;
    double least = 0;
    if (!wgmma) /* the first of the kind: the large tile */
        while (cost_others[best].kind != kind)
            best++;
    if (!wgmma)
        return gemm_option_of(cost_others[best].rows, cost_others[best].cols, cost_others[best].depth);
    for (size_t i = 0; i < TS_COUNT(tiles); i++) {
        double rows = tiles[i][0], waste = rows / 2; /* a group's last tile is half full */
        double step = cost_step(&product, tiles[i][0], tiles[i][1], 0, COST_ARRIVAL);
        double cost = ((double)shape->m + waste) / rows * (double)gemm_cdiv(shape->n, tiles[i][1]) * step;
        if (i && cost >= least)
            continue;
        best = i;
        least = cost;
    }
    return gemm_option_of(tiles[best][0], tiles[best][1], (int32_t)(128 / shape->item_bytes));
}

/* ---- the CPU --------------------------------------------------------------------------------------- */

/* Time in multiply-adds of `rows` x `cols` of c: steps, packing (4 an element), accumulators. */
static double cost_of_tile(double rows, double cols, double k, int64_t n_steps)
{
    return rows * (cols + 6) * (k + 4.0 * (double)n_steps) + 4 * k * (rows + cols) + 4 * rows * cols;
}

/* Of tiles that are packed, not of those that are so narrow that operands stay where they are. */
static bool cost_trims(const gemm_shape *shape, const gemm_option *option)
{
    int64_t panel = 256 / shape->item_bytes;
    return shape->trims && shape->n > panel && option->cols > panel && option->rows > 4;
}

static int64_t cost_whole(int64_t n, int64_t step)
{
    return gemm_cdiv(n, step) * step;
}

/* Padding and idle threads: as long as the thread that has most to do, at least the greatest tile. */
static double cost_on_cpu(const gemm_shape *shape, const gemm_option *option)
{
    int64_t rows = option->rows, cols = option->cols, depth = option->depth, n_steps = gemm_cdiv(shape->k, depth);
    int64_t tiles_m = gemm_cdiv(shape->m, rows), tiles_n = gemm_cdiv(shape->n, cols);
    int64_t tiles = TS_MAX(1, shape->batch) * tiles_m * tiles_n;
    if (!cost_trims(shape, option))
        return (double)gemm_cdiv(tiles, shape->sms) *
               cost_of_tile((double)rows, (double)cols, (double)(n_steps * depth), n_steps);
    int64_t m = cost_whole(shape->m, 4), n = cost_whole(shape->n, 64 / shape->item_bytes), k = cost_whole(shape->k, 4);
    double most = cost_of_tile((double)TS_MIN(m, rows), (double)TS_MIN(n, cols), (double)k, n_steps);
    double mean = cost_of_tile((double)m / (double)tiles_m, (double)n / (double)tiles_n, (double)k, n_steps);
    return TS_MAX(most, mean * (double)gemm_cdiv(tiles, shape->sms));
}

gemm_option ts__gemm_on_cpu(const gemm_shape *shape)
{
    gemm_option best = gemm_option_of(1, 16, 32);
    double least = INFINITY;
    for (int rows = 0; rows <= 8; rows++)
        for (int cols = 4; cols <= 8; cols++)
            for (int depth = shape->batch && shape->k <= 16 ? 4 : 5; depth <= 8; depth++) {
                gemm_option option = gemm_option_of(1 << rows, 1 << cols, 1 << depth);
                double cost = cost_on_cpu(shape, &option);
                if (cost >= least)
                    continue;
                best = option;
                least = cost;
            }
    return best;
}
