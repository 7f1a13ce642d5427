/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the plans of matrix products. A way to run one is a gemm_option; the parts that know a kind of product each
 * return the cheapest of theirs:
 *
 *     gemm_cost.c   products on wgmma and those that read operands as they lie, by the estimated time of every option;
 *                   tiles of the others, of grouped products and of the CPU
 *     gemm_deep.c   products without wgmma that are deep but small: pieces of K
 *     gemm_plan.c   arrays as they lie: which of these to ask, copies, grid and constants of the kernel
 *     gemm.c        the launch
 */
#ifndef TS_LIB_GEMM_H
#define TS_LIB_GEMM_H

#include "base/base.h"
#include "tessera/lib.h"

enum {
#define GEMM_COUNT(name, value) GEMM_##name = value,
#include "lib/gemm.def"
};

typedef enum gemm_kind { /* of operands, where there is no wgmma */
    GEMM_FLOAT32,
    GEMM_FLOAT64,
    GEMM_FLOAT8,
    GEMM_KINDS
} gemm_kind;

/* m x k times k x n on a GPU. `batch` 0: of two axes. `after`: what is done with a sum, by the cost of rounding and
 * storing it. */
typedef struct gemm_shape {
    int64_t m, n, k, batch;
    int64_t item_bytes; /* of an operand's element */
    int64_t sms;        /* multiprocessors; of a CPU its threads */
    int32_t after;
    bool clusters;      /* the GPU's blocks can share a product's loop over K: with wgmma */
    bool ragged[2];     /* lines of a, of b do not begin at multiples of 128 bytes */
    bool across[2];     /* lines of a, of b do not lie along K */
    int32_t raw_step[2]; /* elements of 16 bits of which lines of a, of b, are multiples, up to 8; of aligned arrays */
    bool trims;         /* the CPU's code leaves out most of what lies beyond the arrays (target/llvm/mma.c) */
} gemm_shape;

typedef struct gemm_option {
    int32_t rows, cols, depth; /* of a tile */
    int32_t more;    /* further columns of a tile */
    int32_t group;   /* rows of tiles whose operands shall stay in L2 */
    int32_t pieces;  /* of K */
    int32_t tail;    /* parts of the tiles that are left over behind the last whole wave */
    int32_t ctas;    /* blocks of a cluster that share a tile's steps along K; 0: none, a block makes many tiles */
    int32_t team;    /* blocks of a cluster that make a part of a tile each; 0: none */
    int32_t stages;  /* of the pipeline; 0: as many as fit */
    bool swapped;    /* c is made transposed */
    bool shared;     /* two blocks share a multiprocessor */
    bool early;      /* the kernel starts before the one before it ends */
} gemm_option;

static inline int64_t gemm_cdiv(int64_t x, int64_t y)
{
    return x / y + (x % y > 0);
}

/* A plain option of a tile. */
static inline gemm_option gemm_option_of(int32_t rows, int32_t cols, int32_t depth)
{
    return (gemm_option){.rows = rows, .cols = cols, .depth = depth, .group = 8, .pieces = 1, .tail = 1, .early = true};
}

/* The cheapest option on wgmma, and its clocks. */
gemm_option ts__gemm_cheapest(const gemm_shape *shape, double *clocks);
/* The same of options that read operands of 16-bit elements as they lie. */
gemm_option ts__gemm_raw(const gemm_shape *shape, double *clocks);
/* Clocks of copies of so many bytes. */
double ts__gemm_copying(int64_t bytes);
/* How many clusters of so many blocks run at once, one on each multiprocessor; 0 or 1: single blocks. */
int64_t ts__gemm_clusters(int64_t sms, int32_t blocks);
/* How many stages a block's pipeline gets. */
int32_t ts__gemm_stages(const gemm_option *option);
/* The tile without wgmma that leaves the busiest multiprocessor the least to do. */
gemm_option ts__gemm_without_wgmma(const gemm_shape *shape, gemm_kind kind);
/* The tile with which `m` rows, a group in the mean, take the least time. */
gemm_option ts__gemm_grouped(const gemm_shape *shape, bool wgmma, gemm_kind kind);
/* The cheapest tile of a CPU; large products get 256 x 256 x 256. */
gemm_option ts__gemm_on_cpu(const gemm_shape *shape);

/* Deep products without wgmma; false: whole tiles keep the chip busy, or the products are not what takes time. */
bool ts__gemm_deep_other(const gemm_shape *shape, gemm_kind kind, gemm_option *out);

/* A plan with what its launch needs. */
typedef struct gemm_ready {
    ts_gemm_plan plan;
    ts_kernel *kernel; /* borrowed for good, as all of the library */
    size_t n_constants;
    ts_arg constants[TS_GEMM_CONSTANTS];
} gemm_ready;

TS_CHECKED ts_status ts__gemm_make_ready(const ts_gemm_desc *desc, gemm_ready *out, ts_error *err);
/* Runs a plan of arrays that look as these do and may be multiplied; the plan may be another machine's. */
TS_CHECKED ts_status ts__gemm_run(const ts_stream *stream, const gemm_ready *ready, const ts_arg arrays[3],
                                  ts_error *err);

#endif
