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
    int64_t rows, cols, steps, batch, sms;
    double row_lines, col_lines;
    bool row_across, col_across; /* the lines lie along rows or columns, not along K */
    double out;                  /* clocks of a sum's way out of the registers */
    bool swapped, out_ragged;    /* rows lie along the lines of c; these begin between multiples of 128 bytes */
} cost_product;

typedef enum cost_ways { /* what there are kernels for */
    COST_WALK = 1,       /* blocks that walk over many tiles */
    COST_CUT = 2,        /* pieces of K */
    COST_CLUSTERS = 4    /* a block or a cluster for each tile, teams, and tiles of other widths */
} cost_ways;

typedef struct cost_search {
    cost_product product;
    cost_ways ways;
    bool has_best;
    double least;
    gemm_option best;
} cost_search;

/* Products side by side; columns of a panel of 128 bytes, and of an instruction. */
enum { COST_PARTS = 3, COST_PANEL = 64, COST_INSTRUCTION = 256 };

/* What one block makes of a tile, and the part of its operands that it brings itself (gpu/plan/team.c). */
typedef struct cost_block {
    int32_t rows, all_rows, all_cols; /* all: of the tile */
    int32_t parts[COST_PARTS];        /* its columns: products side by side */
    double row_part, col_part;
} cost_block;

/* ---- estimates ------------------------------------------------------------------------------------- */

/* Two times that hide behind each other in part. */
static double cost_together(double x, double y, double power)
{
    return pow(pow(x, power) + pow(y, power), 1 / power);
}

static double cost_instruction(int32_t columns)
{
    return columns == 0 ? 0 : COST_EACH + fmax(columns / 2.0, COST_NARROW + columns / 4.0);
}

static cost_block cost_block_of(const gemm_option *option)
{
    int32_t last = option->more & -option->more, next = option->more - last, n = TS_MAX(1, option->team);
    cost_block block = {option->rows, option->rows, option->cols + option->more,
                        {option->cols, next ? next : last, next ? last : 0}, 1, 1};
    if (n == 1)
        return block;
    int32_t least = option->more ? last : option->cols;
    bool by_rows = option->rows >= 128 * n || (least < 32 * n && option->rows >= 64 * n);
    block.rows /= by_rows ? n : 1;
    for (int i = 0; i < COST_PARTS; i++)
        block.parts[i] /= by_rows ? 1 : n;
    *(by_rows ? &block.col_part : &block.row_part) = 1.0 / n;
    return block;
}

static int32_t cost_columns(const cost_block *block)
{
    return block->parts[0] + block->parts[1] + block->parts[2];
}

/* Whether part `i` goes on where the one before ends (gpu/plan/tma_join.c): lines along K do, others fill panels. */
static bool cost_goes_on(const cost_product *product, const cost_block *block, int i)
{
    return i && block->parts[i] && (!product->col_across || block->parts[i - 1] % COST_PANEL == 0);
}

/* Clocks of the products of 32 bytes of K by 64 rows. */
static double cost_instructions(const cost_product *product, const cost_block *block)
{
    int32_t columns = 0;
    double clocks = 0;
    for (int i = 0; i < COST_PARTS; i++) {
        bool joined = cost_goes_on(product, block, i) && columns + block->parts[i] <= COST_INSTRUCTION;
        clocks += joined ? 0 : cost_instruction(columns);
        columns = block->parts[i] + (joined ? columns : 0);
    }
    return clocks + cost_instruction(columns);
}

/* Columns that are read: of a whole panel where a part goes on in it. */
static int32_t cost_read_columns(const cost_product *product, const cost_block *block)
{
    int32_t columns = 0;
    for (int i = 0; i < COST_PARTS; i++)
        columns += product->col_across && cost_goes_on(product, block, i) ? TS_MAX(COST_PANEL, block->parts[i])
                                                                         : block->parts[i];
    return columns;
}

/* Lines of 128 bytes of the columns' operand that a step asks L2 for. Those across K hold COST_PANEL columns, also
 * where fewer are wanted; a panel that goes on behind another one begins between lines. */
static double cost_column_lines(const cost_product *product, const cost_block *block)
{
    double lines = 0;
    if (!product->col_across)
        return cost_columns(block) * product->col_lines;
    for (int i = 0; i < COST_PARTS; i++) {
        int32_t part = block->parts[i];
        bool is_between = part < COST_PANEL && cost_goes_on(product, block, i);
        double of_part = is_between ? COST_PANEL : fmax(part, part ? COST_PANEL * COST_LINE : 0);
        lines += of_part * (is_between ? COST_RAGGED : product->col_lines);
    }
    return lines;
}

/* Bytes that a step asks L2 for. Boxes that reach beyond an array take longer, where they are not cut to it
 * (gpu/schedule/clip.c). */
static double cost_bytes_a_step(const cost_product *product, const cost_block *block)
{
    double row_over = product->row_across && block->all_rows > product->rows ? COST_OVER : 1;
    double col_over = product->col_across && block->all_cols > product->cols ? COST_OVER : 1;
    return 128 * (block->rows * product->row_lines * row_over * block->row_part +
                  cost_column_lines(product, block) * col_over * block->col_part);
}

/* 128 bytes of K: products, or the operands' way to shared memory: from L2, and with what the others of a team bring
 * no faster than the block takes it in. */
static double cost_step(const cost_product *product, const cost_block *block)
{
    double products = block->rows / 16.0 * cost_instructions(product, block);
    double taken_in = 128.0 * (block->rows + cost_read_columns(product, block)) / COST_INGRESS;
    return cost_together(products, fmax(cost_bytes_a_step(product, block) / COST_ARRIVAL, taken_in), COST_TOGETHER);
}

static int64_t cost_rows(const cost_product *product, const gemm_option *option)
{
    return gemm_cdiv(product->rows, option->rows);
}

static int64_t cost_cols(const cost_product *product, const gemm_option *option)
{
    return gemm_cdiv(product->cols, option->cols + option->more);
}

static int64_t cost_tiles(const cost_product *product, const gemm_option *option)
{
    return product->batch * cost_rows(product, option) * cost_cols(product, option);
}

/* A block for each tile, its pieces and its shares. */
static int64_t cost_blocks(const cost_product *product, const gemm_option *option)
{
    return cost_tiles(product, option) * option->pieces * TS_MAX(1, option->ctas);
}

/* Whether blocks walk over many tiles. */
static bool cost_walks(const gemm_option *option)
{
    return !option->ctas && option->pieces == 1;
}

int64_t ts__gemm_clusters(int64_t sms, int32_t blocks)
{
    return TS_MAX(1, blocks <= 2 ? sms / TS_MAX(1, blocks) : (sms - sms / GEMM_APART) / blocks);
}

static int32_t cost_cluster(const gemm_option *option)
{
    return TS_MAX(1, TS_MAX(option->team, option->ctas));
}

/* Clusters, or single blocks, that run at once with one block on each multiprocessor. */
static int64_t cost_units(const cost_product *product, const gemm_option *option)
{
    return ts__gemm_clusters(product->sms, cost_cluster(option));
}

int32_t ts__gemm_stages(const gemm_option *option)
{
    if (option->stages)
        return option->stages;
    cost_block block = cost_block_of(option);
    int32_t room = option->shared ? GEMM_HALF : cost_walks(option) ? GEMM_WALKING : GEMM_WHOLE;
    return TS_MAX(1, TS_MIN(8, room / (128 * (block.rows + cost_columns(&block)))));
}

/* Two blocks on a multiprocessor read at once. */
static bool cost_has_neighbours(const cost_product *product, const gemm_option *option)
{
    return option->shared && cost_blocks(product, option) > product->sms;
}

/* What a kind of kernel needs for its steps. */
static double cost_kind(const cost_product *product, const gemm_option *option)
{
    double kind = cost_has_neighbours(product, option) ? COST_BOTH : COST_ALONE;
    kind *= option->more ? COST_WIDER : 1;
    return kind * (option->team > 2 ? COST_TEAM_OF_4 : option->team ? COST_TEAM : 1);
}

/* That a product reads. */
static double cost_read(const cost_product *product)
{
    double rows = (double)product->rows, cols = (double)product->cols;
    return (double)product->batch * (rows + cols) * (double)product->steps * 128;
}

static double cost_written(const cost_product *product)
{
    return (double)product->batch * 2 * (double)product->rows * (double)product->cols;
}

static bool cost_fits(const cost_product *product)
{
    return cost_read(product) + cost_written(product) <= COST_EARLY_BYTES;
}

/* Whether so many bytes are too many for L2: 0 none, 1 all of them. */
static double cost_beyond(double bytes)
{
    return fmin(1, fmax(0, 2 * bytes / COST_EARLY_BYTES - 1));
}

/* How much longer it takes to write a block's part of c whose lines begin and end between multiples of 128 bytes. */
static double cost_edges(const cost_product *product, const cost_block *block)
{
    int32_t parts = 1 + (block->parts[1] > 0) + (block->parts[2] > 0);
    double width = product->swapped ? block->rows : cost_columns(block) / (double)parts;
    return product->out_ragged ? 1 + COST_EDGE * COST_PANEL / width : 1;
}

/* Clocks of a tile's sums on their way out of the registers. */
static double cost_end(const cost_product *product, const cost_block *block)
{
    double sums = (double)((int64_t)block->rows * cost_columns(block));
    return sums * product->out * (cost_fits(product) ? 1 : COST_FAR) * cost_edges(product, block);
}

/* Clocks of the busiest multiprocessor for whole tiles and the parts of those that are left over. Small tiles are made
 * by two groups of warps in turn: what comes after one's products runs in part beside the next one's. */
static double cost_walk(const cost_product *product, const gemm_option *option, const cost_block *block)
{
    double steps = (double)product->steps, kind = cost_kind(product, option), end = cost_end(product, block);
    int64_t tiles = cost_tiles(product, option), units = cost_units(product, option);
    int32_t area = block->rows * block->parts[0];
    bool has_tail = option->tail > 1, in_turn = !option->more && area >= 1 << 13 && area <= 1 << 14;
    int64_t whole = has_tail ? tiles / units : gemm_cdiv(tiles, units), rest = has_tail ? tiles % units : 0;
    double step = cost_step(product, block) * kind, between = in_turn ? COST_TURN * end : end + COST_FILL;
    double work = (double)whole * (steps * step + between) + (in_turn ? end : 0) + COST_WALK_START;
    cost_block part = *block;
    part.parts[0] /= option->tail;
    double each = steps * cost_step(product, &part) * kind + end / option->tail + COST_FILL;
    return work + (has_tail ? (double)gemm_cdiv(rest * option->tail, units) * each * COST_TAIL : 0);
}

/* Clocks of the busiest multiprocessor. */
static double cost_work(const cost_product *product, const gemm_option *option)
{
    cost_block block = cost_block_of(option);
    if (cost_walks(option))
        return cost_walk(product, option, &block);
    int64_t clusters = cost_tiles(product, option) * option->pieces, units = cost_units(product, option);
    int64_t each = gemm_cdiv(clusters, units), rounds = option->shared ? gemm_cdiv(clusters, 2 * units) : each;
    int64_t depth = gemm_cdiv(product->steps, option->pieces * TS_MAX(1, option->ctas));
    double step = cost_step(product, &block) * cost_kind(product, option);
    return (double)each * ((double)depth * step + COST_FILL) + (double)rounds * cost_end(product, &block) +
           (double)(rounds - 1) * COST_ROUND;
}

/* Clocks in which L2 gives all that blocks ask it for. */
static double cost_asked(const cost_product *product, const gemm_option *option)
{
    cost_block block = cost_block_of(option);
    double blocks = (double)cost_tiles(product, option) * TS_MAX(1, option->team);
    return blocks * (double)product->steps * cost_bytes_a_step(product, &block) / COST_L2;
}

/* Bytes of the columns' operand that are read once more: by each further group of rows, where L2 does not hold them
 * beside the group's own rows. */
static double cost_read_again(const cost_product *product, const gemm_option *option)
{
    double line = (double)product->steps * 128, cols = (double)product->cols * line;
    int64_t rows = TS_MIN(product->rows, (int64_t)option->group * option->rows);
    int64_t times = product->batch * (gemm_cdiv(cost_rows(product, option), option->group) - 1);
    return COST_AGAIN * cost_beyond((double)rows * line + cols) * (double)times * cols;
}

/* Clocks until all has moved; what fits L2 may be there from the kernel before. */
static double cost_memory(const cost_product *product, const gemm_option *option)
{
    cost_block block = cost_block_of(option);
    double beyond = cost_beyond(cost_read(product) + cost_written(product));
    double read = cost_read(product) * (COST_FITS + (1 - COST_FITS) * beyond);
    double written = COST_WRITE * cost_written(product) * cost_edges(product, &block);
    return (read + cost_read_again(product, option) + written) / COST_MEMORY;
}

static double cost_pieces(int32_t pieces, double elements)
{
    return pieces > 1 ? COST_PIECES + pieces * (COST_PIECE + 8 * elements / COST_PIECES_RATE) : 0;
}

double ts__gemm_copying(int64_t bytes)
{
    return bytes ? COST_COPY + 2 * (double)bytes / COST_COPY_RATE : 0;
}

/* What it takes to add up sums of pieces and of a cluster's blocks. */
static double cost_adding(const cost_product *product, const gemm_option *option)
{
    double tile = (double)option->rows * (option->cols + option->more);
    double travels = COST_TRAVEL * option->rows * option->cols * (option->ctas - 1);
    double meeting = option->ctas > 1 ? COST_MEETING + travels : 0;
    return meeting + cost_pieces(option->pieces, (double)cost_tiles(product, option) * tile);
}

static bool cost_starts_early(const cost_product *product, const gemm_option *option, double work)
{
    double moved = cost_read(product) + cost_written(product);
    int64_t blocks = cost_blocks(product, option) * TS_MAX(1, option->team);
    bool has_room = option->shared || option->pieces > 1 || blocks * 2 <= product->sms;
    return has_room || cost_fits(product) || work > COST_EARLY_WORK * moved / COST_MEMORY;
}

/* ---- options --------------------------------------------------------------------------------------- */

/* Options that take the same time are compared by their members in this order, and the first of them is taken. */
static bool cost_is_before(const gemm_option *x, const gemm_option *y)
{
    const int32_t of_x[] = {x->rows, x->cols, x->pieces, x->swapped, x->tail, x->ctas, x->more, x->shared, x->team};
    const int32_t of_y[] = {y->rows, y->cols, y->pieces, y->swapped, y->tail, y->ctas, y->more, y->shared, y->team};
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
    double work = cost_work(product, &option), memory = cost_memory(product, &option);
    double asked = cost_asked(product, &option);
    option.early = cost_starts_early(product, &option, work);
    double start = COST_START + cost_adding(product, &option) + (option.team ? COST_TEAM_START : 0) +
                   (option.early ? 0 : COST_LATE);
    cost_keep(search, option, start + cost_together(work + asked, memory, COST_OVERLAP));
}

/* Tiles behind the last whole wave may be made in parts. */
static void cost_consider_tails(cost_search *search, gemm_option option, int32_t most)
{
    int64_t tiles = cost_tiles(&search->product, &option), units = cost_units(&search->product, &option);
    bool is_large = option.rows * option.cols >= 1 << 14 && option.cols >= 128 && !option.more;
    most = is_large && tiles > units && tiles % units ? most : 1;
    for (option.tail = 1; option.tail <= most; option.tail *= 2)
        cost_consider(search, option);
}

/* Pieces of four steps or more, so many that blocks fill a third of the chip, up to three on each multiprocessor. */
static void cost_consider_pieces(cost_search *search, gemm_option option)
{
    static const int32_t counts[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16};
    int64_t tiles = cost_tiles(&search->product, &option), sms = search->product.sms;
    for (size_t i = 0; i < TS_COUNT(counts); i++) {
        int64_t blocks = tiles * counts[i];
        option.pieces = counts[i];
        if (sms <= 3 * blocks && blocks <= 3 * sms && search->product.steps >= 4 * counts[i])
            cost_consider(search, option);
    }
}

/* Pieces whose steps clusters share. */
static void cost_consider_shared_pieces(cost_search *search, gemm_option option)
{
    int64_t tiles = cost_tiles(&search->product, &option), sms = search->product.sms;
    for (option.pieces = 2; option.pieces <= 16; option.pieces *= 2)
        for (option.ctas = 2; option.ctas <= 8; option.ctas *= 2) {
            int64_t blocks = tiles * option.pieces * option.ctas;
            if (blocks <= 2 * sms && blocks * 8 >= sms && search->product.steps >= 3 * option.pieces * option.ctas)
                cost_consider(search, option);
        }
}

/* A block for each tile, or a cluster that shares its steps; small tiles may lie two on a multiprocessor, not for
 * fewer stages where each has one to itself. */
static void cost_consider_alone(cost_search *search, gemm_option option)
{
    static const struct {
        int32_t ctas, steps; /* of a cluster; the least along K */
    } clusters[] = {{1, 1}, {2, 6}, {4, 12}, {8, 24}};
    int64_t tiles = cost_tiles(&search->product, &option), sms = search->product.sms;
    bool is_small = option.rows * option.cols <= 1 << 13 && option.rows <= 128;
    for (size_t i = 0; i < TS_COUNT(clusters); i++) {
        int64_t blocks = tiles * clusters[i].ctas;
        bool fits = clusters[i].ctas < 4 ? blocks <= 4 * sms : 4 * blocks <= 5 * sms;
        if (!fits || search->product.steps < clusters[i].steps)
            continue;
        option.ctas = clusters[i].ctas;
        option.shared = false;
        cost_consider(search, option);
        int32_t stages = ts__gemm_stages(&option);
        option.shared = true;
        bool has_stages = ts__gemm_stages(&option) >= (blocks > sms ? 3 : stages);
        if (is_small && has_stages && 2 * blocks > sms)
            cost_consider(search, option);
    }
}

static void cost_consider_team(cost_search *search, gemm_option option)
{
    int64_t tiles = cost_tiles(&search->product, &option), units = cost_units(&search->product, &option);
    cost_consider_tails(search, option, 2);
    if (option.more && !option.team)
        cost_consider_pieces(search, option);
    if (option.more || option.rows * option.cols <= 1 << 15)
        return;
    for (option.pieces = 2; option.pieces <= 8; option.pieces += option.pieces < 4 ? 1 : 2)
        if (tiles * option.pieces <= 2 * units && search->product.steps >= 6 * option.pieces)
            cost_consider(search, option);
}

/* Most of the tile lies in the product. */
static bool cost_suits(const cost_product *product, int32_t rows, int32_t cols)
{
    return (rows <= 64 || rows < 2 * product->rows) && (cols <= 16 || cols < 2 * product->cols);
}

static void cost_consider_all(cost_search *search, int32_t depth, bool swapped)
{
    static const int32_t tiles[][2] = {
#define GEMM_TILE(rows, cols) {rows, cols},
#include "lib/gemm.def"
    };
    static const int32_t wide[][4] = {
#define GEMM_WIDE(rows, cols, more) {rows, cols, more, 0},
#include "lib/gemm.def"
#define GEMM_TEAM(blocks, rows, cols, more) {rows, cols, more, blocks},
#include "lib/gemm.def"
    };
    const cost_product *product = &search->product;
    for (size_t i = 0; i < TS_COUNT(tiles); i++) {
        gemm_option option = gemm_option_of(tiles[i][0], tiles[i][1], depth);
        option.swapped = swapped;
        if (!cost_suits(product, option.rows, option.cols) && option.rows * option.cols != 64 * 64)
            continue;
        cost_consider_tails(search, option, 4);
        if (search->ways & COST_CUT)
            cost_consider_pieces(search, option);
        if (search->ways & COST_CLUSTERS) {
            cost_consider_alone(search, option);
            cost_consider_shared_pieces(search, option);
        }
    }
    for (size_t i = 0; i < TS_COUNT(wide) && search->ways & COST_CLUSTERS; i++) {
        gemm_option option = gemm_option_of(wide[i][0], wide[i][1], depth);
        option.more = wide[i][2], option.swapped = swapped, option.team = wide[i][3];
        if (cost_suits(product, option.rows, option.cols + option.more))
            cost_consider_team(search, option);
    }
}

/* Of the product as it is, or of the transposed one, whose operands are b.T and a.T. */
static cost_product cost_product_of(const gemm_shape *shape, bool swapped)
{
    double out = COST_OUT * (shape->n % 8 ? COST_OUT_ROUGH : 1);
    return (cost_product){.rows = swapped ? shape->n : shape->m, .cols = swapped ? shape->m : shape->n,
                          .steps = gemm_cdiv(shape->k, 128 / shape->item_bytes), .batch = TS_MAX(1, shape->batch),
                          .sms = shape->sms, .row_lines = shape->ragged[swapped] ? COST_RAGGED : 1,
                          .col_lines = shape->ragged[!swapped] ? COST_RAGGED : 1,
                          .swapped = swapped, .out_ragged = shape->n % COST_PANEL != 0,
                          .row_across = shape->across[swapped], .col_across = shape->across[!swapped],
                          .out = shape->after * (out + (swapped ? COST_ACROSS : 0))};
}

gemm_option ts__gemm_cheapest(const gemm_shape *shape, double *clocks)
{
    int32_t depth = (int32_t)(128 / shape->item_bytes);
    cost_search search = {.product = cost_product_of(shape, false), .ways = COST_WALK};
    if (!shape->batch && shape->after == 1)
        search.ways |= shape->clusters ? COST_CUT | COST_CLUSTERS : COST_CUT;
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

/* Clocks of an element of an operand that travels by itself, or in copies of more than one. */
static double cost_raw_element(int32_t step)
{
    return step == 1 ? COST_RAW_OPERAND : COST_RAW_COPY * 2 / step;
}

/* Bytes a clock from memory, of the greater operand: element by element, or by copies of lines of 128 bytes or less. */
static double cost_raw_rate(const gemm_shape *shape, const gemm_option *option)
{
    bool is_b = shape->m < shape->n;
    int32_t line = !shape->across[is_b] ? option->depth : is_b != option->swapped ? option->cols : option->rows;
    return shape->raw_step[is_b] == 1 ? COST_RAW_MEMORY : COST_RAW_COPIES * fmin(1, line / 64.0);
}

static double cost_raw(const gemm_shape *shape, const gemm_option *option, int64_t tiles)
{
    double area = option->rows * option->cols, m = (double)shape->m, n = (double)shape->n;
    bool swapped = option->swapped;
    double operands = option->rows * cost_raw_element(shape->raw_step[swapped]) +
                      option->cols * cost_raw_element(shape->raw_step[!swapped]);
    double step = COST_RAW_PRODUCT * area + operands;
    int64_t steps = gemm_cdiv(gemm_cdiv(shape->k, option->depth), option->pieces);
    double blocks = fmax(1, (double)(tiles * option->pieces) / ((double)shape->sms * COST_RAW_BLOCKS));
    double out = area * (COST_RAW_OUT + (swapped ? COST_RAW_ACROSS : 0));
    double work = blocks * ((double)steps * (COST_RAW_STEP + step * option->depth) + out);
    double memory = 2 * ((m + n) * (double)shape->k + m * n) / cost_raw_rate(shape, option);
    return COST_RAW_START + cost_together(work, memory, 2) + cost_pieces(option->pieces, area * (double)tiles);
}

static void cost_consider_raw(cost_search *search, const gemm_shape *shape, gemm_option option)
{
    static const int32_t counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    int64_t rows = option.swapped ? shape->n : shape->m, cols = option.swapped ? shape->m : shape->n;
    int64_t tiles = gemm_cdiv(rows, option.rows) * gemm_cdiv(cols, option.cols);
    if (option.rows >= 4 * TS_MAX(rows, 16) || option.cols >= 4 * TS_MAX(cols, 16))
        return;
    for (size_t i = 0; i < TS_COUNT(counts); i++) {
        option.pieces = counts[i];
        if (counts[i] == 1 || (tiles * counts[i] <= 8 * shape->sms && shape->k >= 96 * counts[i]))
            cost_keep(search, option, cost_raw(shape, &option, tiles));
    }
}

gemm_option ts__gemm_raw(const gemm_shape *shape, double *clocks)
{
    static const int32_t tiles[][3] = {
#define GEMM_RAW(rows, cols, depth) {rows, cols, depth},
#include "lib/gemm.def"
    };
    cost_search search = {0};
    for (size_t i = 0; i < 2 * TS_COUNT(tiles); i++) {
        gemm_option option = gemm_option_of(tiles[i / 2][0], tiles[i / 2][1], tiles[i / 2][2]);
        option.swapped = i % 2;
        cost_consider_raw(&search, shape, option);
    }
    ts_assert(search.has_best);
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
        double step = cost_step(&product, &(cost_block){tiles[i][0], 0, 0, {tiles[i][1]}, 1, 1});
        double cost = ((double)shape->m + waste) / rows * (double)gemm_cdiv(shape->n, tiles[i][1]) * step;
        if (i && cost >= 0.95 * least) /* near a tie the first one stays: low tiles read the matrices more often */
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
