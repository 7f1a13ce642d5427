/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that come with Tessera, for programs without Python. They are written once, in the tile language
 * (python/tessera/lib/), and lie packed in the library; here one gets them by name, planned for arrays and a device,
 * compiled at the first launch, kept in the cache on disk like all others. docs/guide/c.md shows it, examples/c/gemm.c
 * is a whole program.
 *
 *     ts_gemm(NULL, &a, &b, &c, 0, &err);                             c = a @ b: planned, compiled, launched
 *
 * or step by step, for tools and for clients that launch themselves:
 *
 *     ts_gemm_plan_make(&desc, &plan, &err);                          which kernel, its constants and its grid
 *     ts_lib_kernel_get(plan.kernel, &plan.hints, &kernel, &err);     a ts_kernel for ts_launch or ts_kernel_report
 *     ts_launch(stream, plan.grid, kernel, args, n, plan.flags, &err) args: arrays, then ts_gemm_constants
 */
#ifndef TESSERA_LIB_H
#define TESSERA_LIB_H

#include "tessera/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kernels --------------------------------------------------------------------------------------- */

/* X(name, module, arrays): `name`_kernel of python/tessera/lib/`module`.py, where its documentation stands, and the
 * arrays that it takes first, in order. tools/gen_lib.py packs what is listed here. */
#define TS_LIB_KERNELS(X)                                    \
    X(gemm, gemm, "a b c")                                   \
    X(slender_gemm, gemm, "a b c")                           \
    X(wide_gemm, gemm, "a b c")                              \
    X(column_gemm, gemm, "a b c")                            \
    X(split_gemm, gemm, "a b parts")                         \
    X(wide_split_gemm, gemm, "a b parts")                    \
    X(raw_gemm, gemm, "a b c")                               \
    X(raw_split_gemm, gemm, "a b parts")                     \
    X(add_pieces, gemm, "parts c")                           \
    X(batched_gemm, gemm, "a b c")                           \
    X(gelu_gemm, gemm, "a b bias residual c")                \
    X(grouped_gemm, grouped_gemm, "a b offsets c")           \
    X(copy, _gpu_array, "x y")                               \
    X(copy_both, _gpu_array, "x y x2 y2")

typedef enum ts_lib_kernel {
#define X(name, module, arrays) TS_LIB_##name,
    TS_LIB_KERNELS(X)
#undef X
    TS_LIB_COUNT
} ts_lib_kernel;

/* "gemm"; NULL for a number that is not a kernel's. */
TS_API const char *ts_lib_kernel_name(ts_lib_kernel kernel);

/* What ts_kernel_create takes: name, file, source and parameters of the kernel, with the default hints. All of it is
 * borrowed for good. Errors: TS_VALUE for a number that is not a kernel's. */
TS_API TS_CHECKED ts_status ts_lib_kernel_desc(ts_lib_kernel kernel, ts_kernel_desc *out, ts_error *err);

/* The kernel with these hints (NULL: its own): made at the first call of the process, found by the others.
 * Owns: *out is borrowed for good; do not release it. Threads: safe. Errors: TS_VALUE as above, TS_NOMEM. */
TS_API TS_CHECKED ts_status ts_lib_kernel_get(ts_lib_kernel kernel, const ts_hints *hints, ts_kernel **out,
                                              ts_error *err);

/* ---- matrix products ------------------------------------------------------------------------------- */

typedef enum ts_gemm_flags {
    TS_GEMM_TF32 = 1,    /* round float32 operands to tf32, for the tensor cores of a GPU */
    TS_GEMM_PRECISE = 2, /* sum float8 products in float32 on a GPU too, not as its tensor cores do: 14 bits next to
                          * the largest */
    TS_GEMM_GELU = 4     /* plans only: for gelu_gemm, c = gelu(a @ b + bias) + residual */
} ts_gemm_flags;

/* c = a @ b: sums over k of a[.., m, k] * b[.., k, n].
 * Shapes   a (M, K), b (K, N), c (M, N), or with a batch before all three. Any extent may be 0: without K c becomes 0.
 * Strides  any that are not negative: a transposed operand costs nothing. Rows aligned to 16 bytes are fastest; on a
 *          GPU others are copied first, into memory of the stream's order. For 8-bit operands and tf32, K of unit
 *          stride.
 * Types    a and b of one dtype: int8, float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64. Sums are
 *          float32 (float64 of float64, int32 of int8); c holds them: any of the floats, or int32 and int64 for int8.
 * Stream   as ts_launch; up to three launches, in order. Nothing is enqueued unless everything is right, but for what
 *          only a kernel's compilation finds.
 * Result   the same bits in every run on one device; one plan for all arrays that look alike.
 * Threads  safe. The plans of 4096 looks are kept for good; further ones are made anew at each call.
 * Errors   TS_SHAPE for shapes that do not fit or more than 2^56 elements; TS_TYPE for dtypes and for arguments that
 *          are not arrays; TS_VALUE for NULL, flags, arrays of different devices, a c that is read-only or shares
 *          memory with a or b; as ts_launch. */
TS_API TS_CHECKED ts_status ts_gemm(const ts_stream *stream, const ts_arg *a, const ts_arg *b, const ts_arg *c,
                                    uint32_t flags, ts_error *err);

/* What to plan. Of the arrays dtype, rank, shape and strides count, of `data` the alignment (NULL is aligned), of c
 * the device. Ranks say which product: (2, 2, 2) one, (3, 3, 3) a batch, (2, 3, 2) grouped_gemm, whose b has a matrix
 * for each group of rows of a. */
typedef struct ts_gemm_desc {
    const ts_arg *a, *b, *c;
    uint32_t flags;    /* ts_gemm_flags */
    int64_t tile[3];   /* rows, columns and depth of a tile, powers of two; zeros: chosen. For one product alone */
    int64_t group;     /* with `tile`: rows of tiles whose operands shall stay in L2; 0: 8 */
    ts_target target;  /* with `units`: plan for this machine; 0: for the device of c */
    int64_t units;     /* multiprocessors of a GPU, threads of a CPU */
} ts_gemm_desc;

/* A copy of an operand that the tensor memory accelerator (TMA) could not read where it is. */
typedef struct ts_gemm_copy {
    int32_t unit;      /* axis of unit stride; -1: the operand is read as it is */
    int64_t shape[2];  /* extents of the other axis and of that one, which ends in zeros to units of 16 bytes */
} ts_gemm_copy;

/* Tiles of the kernels copy and copy_both, and of add_pieces: their constants, behind the number of pieces. */
enum { TS_GEMM_COPY_ROWS = 32, TS_GEMM_COPY_COLUMNS = 128, TS_GEMM_ADD_ROWS = 16, TS_GEMM_ADD_COLUMNS = 128 };

#define TS_GEMM_CONSTANTS 7

typedef struct ts_gemm_plan {
    ts_lib_kernel kernel;
    ts_hints hints;
    uint32_t flags;          /* ts_launch_flags */
    int64_t grid[3];         /* grid[0] == 0: nothing to do */
    uint32_t n_constants;
    int64_t constants[TS_GEMM_CONSTANTS]; /* in the order of the kernel's parameters behind the arrays */
    bool swapped;            /* the kernel makes c.T = b.T @ a.T: pass the arrays as (b.T, a.T, c.T) */
    ts_gemm_copy copies[2];  /* of a and b, made before */
    /* The kernels of pieces of K (split_gemm, wide_split_gemm, raw_split_gemm): the shape of their third array, which
     * add_pieces then adds up into c; else 0. */
    int64_t parts[3];
    uint8_t sums;            /* ts_dtype of that array, and of all sums */
} ts_gemm_plan;

/* The fastest way known to run a product: from tables of costs measured on an H200 (src/lib/gemm.def), without asking a
 * device when the desc names the machine. Takes 1 to 60 us. Errors: as ts_gemm; TS_DEVICE, TS_NODEVICE. */
TS_API TS_CHECKED ts_status ts_gemm_plan_make(const ts_gemm_desc *desc, ts_gemm_plan *out, ts_error *err);

/* The constants of a plan as arguments of a launch, to stand behind the arrays. Returns how many. */
TS_API size_t ts_gemm_constants(const ts_gemm_plan *plan, ts_arg out[TS_GEMM_CONSTANTS]);

#ifdef __cplusplus
}
#endif
#endif
