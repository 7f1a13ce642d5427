/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout assignment: which layout each tile value of a function lives in, and how many warps a block has.
 *
 * A value is either *placed* (its home is a layout) or *free*: made of constants, iota, broadcasts and
 * elementwise operations on such, it is written anew in whatever layout a user asks for, which costs less
 * than moving it. Anchors are loads and stores (coalesced), mma (fragments) and scans; elementwise
 * operations follow their placed operands; carried values of loops follow what the loop hands on.
 * Conversions are not in the IR: the lowering asks for a value in the layout it needs (lower.h).
 *
 *     assign.c          the sweeps
 *     assign_warps.c    warps, thread blocks, vectors of a thread
 *     assign_layout.c   the usual layouts, of tiles and of views
 *     assign_load.c     homes of loads, from who reads them; assign_vector.c: of rows and columns beside products
 *     assign_flip.c     tiles that are stored along another axis than they are read along
 *     assign_extract.c  parts of a tile that stay in the registers where they are
 *     assign_early.c    homes of free values that much work leads to
 *     assign_mma.c      paths and fragments of products; assign_fma.c: of those without tensor cores
 */
#ifndef TS_GPU_PLAN_ASSIGN_H
#define TS_GPU_PLAN_ASSIGN_H

#include "pass/pass.h"
#include "gpu/layout/layout.h"
#include "gpu/plan/tma.h"
#include "gpu/plan/view.h"

/* How an mma is carried out. */
typedef enum ts_mma_path { TS_MMA_PATH_NONE, TS_MMA_PATH_FMA, TS_MMA_PATH_SYNC, TS_MMA_PATH_WGMMA } ts_mma_path;

typedef struct ts_assign {
    uint32_t n_warp;           /* log2 of the warps of a tile block */
    uint32_t n_cta;            /* log2 of the thread blocks that share it; their number is the upper warp bits */
    uint32_t log_team;         /* log2 of the blocks that make a part of its products each, by their rank (team.c) */
    uint32_t vec;              /* log2 of the elements a thread holds side by side */
    /* the function has scans, or reductions in order: warps get the uppermost bits of tiles */
    bool scans;
    bool reduces;              /* it has reductions: warps get whole rows of products */
    bool rows;                 /* some along the last axis of a tile: warps get pieces of rows */
    const ts_linear **home;    /* [value]; NULL = free, scalar, view or token */
    const ts_linear **want;    /* [load, free value] the home that its readers want (assign_vector.c, assign_early.c) */
    const ts_linear **work;    /* [reduce, scan, atomic ..] the layout the operation works in */
    uint8_t *mma_path;             /* [mma] ts_mma_path */
    uint8_t *row;              /* [mma] ts_mma row for SYNC */
    ts_tma tma;                /* products on wgmma, loads by TMA */
    TS_VEC(const ts_linear *) interned;
    ts_linear spare[32]; /* in turn for what is not interned as memory is out, until all stops at the next operation */
    uint32_t n_spare;
    ts_arena *arena;
} ts_assign;

/* Everything lives in `arena`. Errors: TS_TILEVALUE when a tile does not fit the registers of a block. */
TS_CHECKED ts_status ts__assign_run(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_assign *out,
                                   ts_error *err);

/* The steps of ts__assign_run. First: n_warp, n_cta, vec, scans, reduces, rows; then `mma_path`, `row` of products. */
void ts__assign_warps(ts_assign *out, const ts_fn *fn, const ts_pass_env *env);
void ts__assign_mma_paths(ts_assign *out, const ts_fn *fn, ts_target target);
/* The blocks of a cluster, which work on their own up to the end of the loop over k that they share
 * (schedule/split_k.c), and then on parts of its sum: `apart` before the loop, `share` behind it, which gives the
 * home of the parts. */
void ts__split_apart(ts_assign *assign);
const ts_linear *ts__split_share(ts_assign *assign, const ts_fn *fn);
void ts__split_together(ts_assign *assign); /* behind the loop the blocks are one */
/* In each sweep: homes of a load through a view and of a product; NULL when the tile does not fit. */
const ts_linear *ts__assign_load(ts_assign *out, const ts_fn *fn, ts_val v);
const ts_linear *ts__assign_product(ts_assign *out, const ts_fn *fn, ts_val v);
/* Between two rounds: fills `want`; true when there is anything new. */
bool ts__assign_vectors(ts_assign *out, const ts_fn *fn, const ts_shape *shape);
bool ts__assign_early(ts_assign *out, const ts_fn *fn, const ts_shape *shape);

/* The one instruction that reads `v`; 0 when there are none or several. */
ts_val ts__only_reader(const ts_fn *fn, ts_val v);

/* Register bits of a tile that one of its parts does without, and their values. */
typedef struct ts_part {
    uint32_t dropped, set;
} ts_part;
/* Does every thread have its elements of part `v` of a tile in `from` among its registers? `to`: the part's layout. */
bool ts__extract_registers(const ts_fn *fn, ts_val v, const ts_linear *from, ts_linear *to, ts_part *part);

const ts_linear *ts__assign_intern(ts_assign *assign, const ts_linear *layout);
/* The usual layout of a tile type: axes from last to first, or from `first` when it is an axis. */
const ts_linear *ts__assign_default(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first);
/* Elements from axis `first` on dealt out in vectors of 2^vec, shorter ones where threads would idle; for `square`
 * each thread takes as many rows of them, so that it can pass them on along either axis. */
const ts_linear *ts__assign_blocked(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first,
                                   uint32_t vec, bool square);

/* The axis of a 16-bit load's tile along which it is stored, where it is read along another; else TS_NO. */
uint32_t ts__flip_across(const ts_fn *fn, ts_val load);
/* The usual vectors along axis `first`, two of them that are neighbours along `across` in each thread; NULL: threads
 * have less. */
const ts_linear *ts__assign_pairs(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first,
                                  uint32_t across);
/* from[i]: flat bit of the operand of permute `v` that becomes flat bit i of its result. */
void ts__permute_bits(const ts_fn *fn, ts_val v, uint8_t *from);

/* The usual layout for a tile of the view: coalesced vectors, or single elements side by side over the lanes. */
const ts_linear *ts__assign_for_view(ts_assign *assign, const ts_fn *fn, ts_val view, ts_type type);

/* Fragments of mma.sync, from the accumulator's layout: the operand layouts that give each warp its rows and
 * columns. Tiles are [batch,] M, K and [batch,] K, N. */
ts_linear ts__mma_layout_c(ts_mma row, const int64_t *dims, uint32_t rank, uint32_t n_warp, bool rows_first);
ts_linear ts__mma_layout_a(ts_mma row, const ts_linear *c, uint32_t log_b, uint32_t log_m, uint32_t log_n,
                          uint32_t log_k);
ts_linear ts__mma_layout_b(ts_mma row, const ts_linear *c, uint32_t log_b, uint32_t log_m, uint32_t log_n,
                          uint32_t log_k);

/* The same for products by fma (assign_fma.c). An operand's fragment holds 2^log_chunk of k in registers: as the
 * first ones when `k_first`, which is right for operands whose elements lie side by side along k. */
typedef struct ts_mma_shape {
    uint32_t log_b, log_m, log_n, log_k;
} ts_mma_shape;
ts_linear ts__fma_layout_c(const int64_t *dims, uint32_t rank, uint32_t n_warp, bool rows_first);
ts_linear ts__fma_layout_operand(const ts_linear *c, const ts_mma_shape *shape, bool is_b, bool k_first,
                                uint32_t log_chunk);

/* Flat bits of axis `axis` of a tile type: the first one and how many. */
typedef struct ts_axis_bits {
    uint32_t first, n;
} ts_axis_bits;
ts_axis_bits ts__axis_of(const ts_module *module, ts_type type, uint32_t axis);
static inline uint32_t ts_axis_mask(ts_axis_bits axis)
{
    return axis.n ? (~0u >> (32 - axis.n)) << axis.first : 0;
}

#endif
