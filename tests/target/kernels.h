/* SPDX-License-Identifier: Apache-2.0
 *
 * A corpus of tile kernels as text, with what is needed to run them: parameters and a grid. Pointers come
 * first in each parameter list ("b" buffer of 4-byte words, read and written), then i32 numbers.
 */
#ifndef TS_TESTS_KERNELS_H
#define TS_TESTS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kernel_case {
    const char *name, *text;
    uint32_t n_buffers, words;  /* of 4 bytes, each buffer */
    const char *fill;           /* one letter a buffer: f floats, h halves, b bf16, i small integers, z zeros,
                                   n: half of them NaN, then half -0 */
    uint32_t n_ints;
    int32_t ints[6];
    uint32_t grid[3];
    double tolerance;           /* 0: bit for bit */
    char compare;               /* letter as in fill: how to read buffer 0 (the output) */
    bool needs_passes;          /* has operations that math and legalize rewrite */
} kernel_case;

#define VIEW1(v, p, n) "  " v " = make_tensor_view " p ", " n " : tensor_view<?xf32, strides=[1]>\n"
#define PART1(v, t, size) \
    "  " v " = make_partition_view " t " : partition_view<[" size "], tensor_view<?xf32, strides=[1]>, padding=zero>\n"

/* C (M, N) = A B in a pipelined loop over K. An operand lies by rows (R) or is the transpose of what lies by rows
 * (T). */
#define GEMM_ROWS(view, at, in, rows, columns, extents) \
    "  " at " = make_tensor_view " extents " : tensor_view<?x?x" in ", strides=[?, 1]>\n" \
    "  " view " = make_partition_view " at " : partition_view<[" rows ", " columns "], " \
    "tensor_view<?x?x" in ", strides=[?, 1]>, padding=zero>\n"
#define GEMM_A_R(in, m, n, k) GEMM_ROWS("%17", "%14", in, m, k, "%8, %10, %12, %12")
#define GEMM_A_T(in, m, n, k) GEMM_ROWS("%17", "%14", in, k, m, "%8, %12, %10, %10")
#define GEMM_B_R(in, m, n, k) GEMM_ROWS("%18", "%15", in, k, n, "%9, %12, %11, %11")
#define GEMM_B_T(in, m, n, k) GEMM_ROWS("%18", "%15", in, n, k, "%9, %11, %12, %12")
#define GEMM_LOAD_A_R(in, m, n, k) "    %33 = load_view_tko %17, %19, %30 : tile<" m "x" k "x" in ">\n"
#define GEMM_LOAD_A_T(in, m, n, k) \
    "    %32 = load_view_tko %17, %30, %19 : tile<" k "x" m "x" in ">\n" \
    "    %33 = permute [1, 0] %32 : tile<" m "x" k "x" in ">\n"
#define GEMM_LOAD_B_R(in, m, n, k) "    %35 = load_view_tko %18, %30, %20 : tile<" k "x" n "x" in ">\n"
#define GEMM_LOAD_B_T(in, m, n, k) \
    "    %34 = load_view_tko %18, %20, %30 : tile<" n "x" k "x" in ">\n" \
    "    %35 = permute [1, 0] %34 : tile<" k "x" n "x" in ">\n"
#define GEMM(a, b, in, out, mma, zero, m, n, k) GEMM_AND(a, b, in, out, mma, zero, m, n, k, "    continue %36")
#define GEMM_AND(a, b, in, out, mma, zero, m, n, k, more) \
    GEMM_BY(a, b, in, out, zero, m, n, k, \
            "    %36 = " mma " %33, %35, %31 : tile<" m "x" n "x" out ">\n" more)
/* Operands that are rounded on their way. */
#define GEMM_TF32(a, b, m, n, k) \
    GEMM_BY(a, b, "f32", "f32", "0.0", m, n, k, \
            "    %34 = ftof %33 : tile<" m "x" k "xtf32>\n    %36 = ftof %35 : tile<" k "x" n "xtf32>\n" \
            "    %37 = mmaf %34, %36, %31 : tile<" m "x" n "xf32>\n    continue %37")
#define GEMM_BY(a, b, in, out, zero, m, n, k, product) \
    "entry @gemm(%1: ptr<" out ">, %2: ptr<" in ">, %3: ptr<" in ">, %4: i32, %5: i32, %6: i32) {\n" \
    "  %7 = assume div_by(16) %1 : ptr<" out ">\n  %8 = assume div_by(16) %2 : ptr<" in ">\n" \
    "  %9 = assume div_by(16) %3 : ptr<" in ">\n" \
    "  %10 = assume div_by(16) %4 : i32\n  %11 = assume div_by(16) %5 : i32\n  %12 = assume div_by(16) %6 : i32\n" \
    "  %13 = make_tensor_view %7, %10, %11, %11 : tensor_view<?x?x" out ", strides=[?, 1]>\n" \
    "  %16 = make_partition_view %13 : partition_view<[" m ", " n "], tensor_view<?x?x" out ", strides=[?, 1]>>\n" \
    GEMM_A_##a(in, m, n, k) GEMM_B_##b(in, m, n, k) \
    "  %19 = get_tile_block_id axis=0 : i32\n  %20 = get_tile_block_id axis=1 : i32\n" \
    "  %21 = constant 0 : i32\n  %22 = constant 1 : i32\n  %23 = constant " zero " : tile<" m "x" n "x" out ">\n" \
    "  %24 = constant " k " : i32\n  %25 = addi %12, %24 : i32\n  %26 = subi %25, %22 : i32\n" \
    "  %27 = divi %26, %24 : i32\n" \
    "  %40 = for %30 in (%21, %27, %22) iter(%31 = %23) : tile<" m "x" n "x" out "> {\n" \
    GEMM_LOAD_A_##a(in, m, n, k) GEMM_LOAD_B_##b(in, m, n, k) \
    product "\n  }\n" \
    "  %41 = store_view_tko %16, %40, %19, %20 : token\n  return\n}\n"

static const kernel_case kernel_cases[] = {
    {"gemm_f32", GEMM(R, R, "f32", "f32", "mmaf", "0.0", "32", "64", "16"), 3, 16384, "zff", 3, {48, 80, 112},
     {2, 2, 1}, 0, 'f'},
    {"gemm_f32_tt", GEMM(T, T, "f32", "f32", "mmaf", "0.0", "64", "32", "8"), 3, 16384, "zff", 3, {80, 48, 48},
     {2, 2, 1}, 0, 'f'},
    {"gemm_f32_nt", GEMM(R, T, "f32", "f32", "mmaf", "0.0", "128", "128", "16"), 3, 16384, "zff", 3, {112, 128, 112},
     {1, 1, 1}, 0, 'f'},
    {"gemm_f32_chunks", GEMM(R, T, "f32", "f32", "mmaf", "0.0", "16", "32", "128"), 3, 16384, "zff", 3, {16, 32, 160},
     {1, 1, 1}, 0, 'f'},
    {"gemm_f32_large", GEMM(R, R, "f32", "f32", "mmaf", "0.0", "128", "128", "16"), 3, 16384, "zff", 3,
     {112, 128, 48}, {1, 1, 1}, 0, 'f'},
    {"gemm_f32_two", GEMM_AND(R, R, "f32", "f32", "mmaf", "0.0", "32", "32", "16",
     "    %37 = load_view_tko %17, %20, %30 : tile<32x16xf32>\n"
     "    %38 = load_view_tko %18, %30, %19 : tile<16x32xf32>\n"
     "    %39 = mmaf %37, %38, %36 : tile<32x32xf32>\n    continue %39"),
     3, 16384, "zff", 3, {80, 80, 48}, {3, 3, 1}, 0, 'f'},
    {"gemm_f32_early", GEMM_AND(R, R, "f32", "f32", "mmaf", "0.0", "32", "32", "16",
     "    %37 = cmpi eq %30, %22 : i1\n    if %37 {\n      continue %31\n    } else {\n      yield\n    }\n"
     "    continue %36"),
     3, 16384, "zff", 3, {48, 48, 48}, {2, 2, 1}, 0, 'f'},
    {"gemm_f64", GEMM(R, R, "f64", "f64", "mmaf", "0.0", "32", "64", "16"), 3, 32768, "zdd", 3, {48, 80, 112},
     {2, 2, 1}, 0, 'd'},
    {"gemm_f64_tt", GEMM(T, T, "f64", "f64", "mmaf", "0.0", "32", "32", "8"), 3, 16384, "zdd", 3, {48, 48, 48},
     {2, 2, 1}, 0, 'd'},
    {"gemm_f64_large", GEMM(R, T, "f64", "f64", "mmaf", "0.0", "64", "128", "16"), 3, 32768, "zdd", 3, {64, 112, 32},
     {1, 1, 1}, 0, 'd'},
    {"gemm_tf32", GEMM(R, R, "tf32", "f32", "mmaf", "0.0", "64", "64", "16"), 3, 16384, "zff", 3, {80, 96, 48},
     {2, 2, 1}, 0, 'f'},
    {"gemm_tf32_tt", GEMM(T, T, "tf32", "f32", "mmaf", "0.0", "32", "64", "16"), 3, 16384, "zff", 3, {48, 80, 48},
     {2, 2, 1}, 0, 'f'},
    {"gemm_tf32_rounded", GEMM_TF32(R, R, "32", "64", "16"), 3, 16384, "zff", 3, {48, 80, 112}, {2, 2, 1}, 1e-5, 'f'},
    {"gemm_tf32_rounded_t", GEMM_TF32(T, R, "64", "32", "32"), 3, 16384, "zff", 3, {80, 48, 64}, {2, 2, 1}, 1e-5, 'f'},
    {"gemm_s8", GEMM(R, T, "i8", "i32", "mmai", "0", "64", "64", "64"), 3, 16384, "zcc", 3, {80, 96, 112}, {2, 2, 1},
     0, 'i'},
    {"gemm_s8_rows", GEMM(R, R, "i8", "i32", "mmai", "0", "32", "64", "32"), 3, 16384, "zcc", 3, {48, 80, 112},
     {2, 2, 1}, 0, 'i'},
    {"gemm_i32", GEMM(R, R, "i8", "i32", "mmai", "0", "32", "64", "16"), 3, 16384, "zcc", 3, {48, 80, 48}, {2, 2, 1},
     0, 'i'},
    {"gemm_f16_tn", GEMM(T, R, "f16", "f32", "mmaf", "0.0", "64", "64", "32"), 3, 16384, "zhh", 3, {80, 96, 112},
     {2, 2, 1}, 1e-5, 'f'}, /* blocks of a cluster share the sums */
    {"vector_add",
     "entry @vector_add(%1: ptr<f32>, %2: ptr<f32>, %3: ptr<f32>, %4: i32) {\n"
     "  %10 = assume div_by(16) %1 : ptr<f32>\n  %11 = assume div_by(16) %2 : ptr<f32>\n"
     "  %12 = assume div_by(16) %3 : ptr<f32>\n"
     VIEW1("%13", "%10", "%4") VIEW1("%14", "%11", "%4") VIEW1("%15", "%12", "%4")
     PART1("%16", "%13", "1024") PART1("%17", "%14", "1024") PART1("%18", "%15", "1024")
     "  %19 = get_tile_block_id axis=0 : i32\n"
     "  %20 = load_view_tko %17, %19 : tile<1024xf32>\n"
     "  %21 = load_view_tko %18, %19 : tile<1024xf32>\n"
     "  %22 = addf %20, %21 : tile<1024xf32>\n"
     "  %23 = store_view_tko %16, %22, %19 : token\n"
     "  return\n}\n",
     3, 4096, "zff", 1, {3001}, {3, 1, 1}, 0, 'f'},
    {"softmax",
     "entry @softmax(%1: ptr<f32>, %2: ptr<f32>, %3: i32, %4: i32) {\n"
     "  %10 = assume div_by(16) %1 : ptr<f32>\n  %11 = assume div_by(16) %2 : ptr<f32>\n"
     "  %12 = assume div_by(16) %4 : i32\n"
     "  %13 = make_tensor_view %10, %3, %12, %12 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %14 = make_tensor_view %11, %3, %12, %12 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %15 = make_partition_view %13 : partition_view<[1, 1024], tensor_view<?x?xf32, strides=[?, 1]>>\n"
     "  %16 = make_partition_view %14 : partition_view<[1, 1024], tensor_view<?x?xf32, strides=[?, 1]>, "
     "padding=neg_inf>\n"
     "  %17 = get_tile_block_id axis=0 : i32\n  %18 = constant 0 : i32\n"
     "  %19 = load_view_tko %16, %17, %18 : tile<1x1024xf32>\n"
     "  %29 = reduce axis=1 (%19) identity(-inf) args(%20, %21) : tile<1xf32> {\n"
     "    %22 = maxf %20, %21 : f32\n    yield %22\n  }\n"
     "  %30 = reshape %29 : tile<1x1xf32>\n  %31 = broadcast %30 : tile<1x1024xf32>\n"
     "  %32 = subf %19, %31 : tile<1x1024xf32>\n  %33 = mulf %32, %32 : tile<1x1024xf32>\n"
     "  %49 = reduce axis=1 (%33) identity(0.0) args(%40, %41) : tile<1xf32> {\n"
     "    %42 = addf %40, %41 : f32\n    yield %42\n  }\n"
     "  %50 = reshape %49 : tile<1x1xf32>\n  %51 = broadcast %50 : tile<1x1024xf32>\n"
     "  %52 = divf %33, %51 : tile<1x1024xf32>\n"
     "  %53 = store_view_tko %15, %52, %17, %18 : token\n"
     "  return\n}\n",
     2, 4096, "zf", 2, {4, 1024}, {4, 1, 1}, 1e-5, 'f'},
    {"transpose",
     "entry @transpose(%1: ptr<f32>, %2: ptr<f32>, %3: i32, %4: i32) {\n"
     "  %10 = assume div_by(16) %1 : ptr<f32>\n  %11 = assume div_by(16) %2 : ptr<f32>\n"
     "  %12 = assume div_by(16) %4 : i32\n  %9 = assume div_by(16) %3 : i32\n"
     "  %13 = make_tensor_view %10, %12, %9, %9 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %14 = make_tensor_view %11, %9, %12, %12 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %15 = make_partition_view %13 : partition_view<[64, 32], tensor_view<?x?xf32, strides=[?, 1]>>\n"
     "  %16 = make_partition_view %14 : partition_view<[32, 64], tensor_view<?x?xf32, strides=[?, 1]>>\n"
     "  %17 = get_tile_block_id axis=0 : i32\n  %18 = get_tile_block_id axis=1 : i32\n"
     "  %19 = load_view_tko %16, %17, %18 : tile<32x64xf32>\n"
     "  %20 = permute [1, 0] %19 : tile<64x32xf32>\n"
     "  %21 = store_view_tko %15, %20, %18, %17 : token\n"
     "  return\n}\n",
     2, 8192, "zf", 2, {80, 96}, {3, 2, 1}, 0, 'f'},
    {"transpose_f16", /* in squares of threads' registers, beyond both ends of the array */
     "entry @transpose_f16(%1: ptr<f16>, %2: ptr<f16>, %3: i32, %4: i32) {\n"
     "  %10 = assume div_by(16) %1 : ptr<f16>\n  %11 = assume div_by(16) %2 : ptr<f16>\n"
     "  %12 = assume div_by(16) %4 : i32\n  %9 = assume div_by(16) %3 : i32\n"
     "  %13 = make_tensor_view %10, %12, %9, %9 : tensor_view<?x?xf16, strides=[?, 1]>\n"
     "  %14 = make_tensor_view %11, %9, %12, %12 : tensor_view<?x?xf16, strides=[?, 1]>\n"
     "  %15 = make_partition_view %13 : partition_view<[64, 128], tensor_view<?x?xf16, strides=[?, 1]>>\n"
     "  %16 = make_partition_view %14 : partition_view<[128, 64], tensor_view<?x?xf16, strides=[?, 1]>>\n"
     "  %17 = get_tile_block_id axis=0 : i32\n  %18 = get_tile_block_id axis=1 : i32\n"
     "  %19 = load_view_tko %16, %17, %18 : tile<128x64xf16>\n"
     "  %20 = negf %19 : tile<128x64xf16>\n  %21 = reshape %20 : tile<1x128x64xf16>\n"
     "  %22 = permute [0, 2, 1] %21 : tile<1x64x128xf16>\n  %23 = reshape %22 : tile<64x128xf16>\n"
     "  %24 = store_view_tko %15, %23, %18, %17 : token\n"
     "  return\n}\n",
     2, 8192, "zh", 2, {176, 80}, {2, 2, 1}, 0, 'h'},
    {"gather",
     "entry @gather(%1: ptr<f32>, %2: ptr<f32>, %3: ptr<i32>, %4: i32) {\n"
     "  %10 = iota : tile<256xi32>\n  %11 = get_tile_block_id axis=0 : i32\n  %12 = constant 256 : i32\n"
     "  %13 = muli %11, %12 : i32\n  %14 = reshape %13 : tile<1xi32>\n  %15 = broadcast %14 : tile<256xi32>\n"
     "  %16 = addi %15, %10 : tile<256xi32>\n  %17 = reshape %4 : tile<1xi32>\n  %18 = broadcast %17 : tile<256xi32>\n"
     "  %19 = cmpi lt %16, %18 : tile<256xi1>\n"
     "  %20 = reshape %3 : tile<1xptr<i32>>\n  %21 = broadcast %20 : tile<256xptr<i32>>\n"
     "  %22 = offset %21, %16 : tile<256xptr<i32>>\n"
     "  %23 = load_ptr_tko %22 mask=%19 : tile<256xi32>\n"
     "  %24 = reshape %2 : tile<1xptr<f32>>\n  %25 = broadcast %24 : tile<256xptr<f32>>\n"
     "  %26 = offset %25, %23 : tile<256xptr<f32>>\n"
     "  %27 = constant 7.5 : tile<256xf32>\n"
     "  %28 = load_ptr_tko %26 mask=%19 pad=%27 : tile<256xf32>\n"
     "  %29 = reshape %1 : tile<1xptr<f32>>\n  %30 = broadcast %29 : tile<256xptr<f32>>\n"
     "  %31 = offset %30, %16 : tile<256xptr<f32>>\n"
     "  %32 = store_ptr_tko %31, %28 : token\n"
     "  return\n}\n",
     3, 1024, "zfi", 1, {700}, {3, 1, 1}, 0, 'f'},
    {"histogram",
     "entry @histogram(%1: ptr<i32>, %2: ptr<i32>, %4: i32) {\n"
     "  %10 = iota : tile<128xi32>\n"
     "  %20 = reshape %2 : tile<1xptr<i32>>\n  %21 = broadcast %20 : tile<128xptr<i32>>\n"
     "  %22 = offset %21, %10 : tile<128xptr<i32>>\n"
     "  %23 = load_ptr_tko %22 : tile<128xi32>\n  %24 = constant 15 : tile<128xi32>\n"
     "  %25 = andi %23, %24 : tile<128xi32>\n"
     "  %26 = reshape %1 : tile<1xptr<i32>>\n  %27 = broadcast %26 : tile<128xptr<i32>>\n"
     "  %28 = offset %27, %25 : tile<128xptr<i32>>\n"
     "  %29 = constant 1 : tile<128xi32>\n"
     "  %30 = atomic_rmw_tko add relaxed device %28, %29 : tile<128xi32>\n"
     "  return\n}\n",
     2, 1024, "zi", 1, {0}, {2, 1, 1}, 0, 'i'},
    {"gemm_f16",
     "entry @gemm_f16(%1: ptr<f32>, %2: ptr<f16>, %3: ptr<f16>, %4: i32, %5: i32, %6: i32) {\n"
     "  %7 = assume div_by(16) %1 : ptr<f32>\n  %8 = assume div_by(16) %2 : ptr<f16>\n"
     "  %9 = assume div_by(16) %3 : ptr<f16>\n"
     "  %10 = assume div_by(16) %4 : i32\n  %11 = assume div_by(16) %5 : i32\n  %12 = assume div_by(16) %6 : i32\n"
     "  %13 = make_tensor_view %7, %10, %11, %11 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %14 = make_tensor_view %8, %10, %12, %12 : tensor_view<?x?xf16, strides=[?, 1]>\n"
     "  %15 = make_tensor_view %9, %12, %11, %11 : tensor_view<?x?xf16, strides=[?, 1]>\n"
     "  %16 = make_partition_view %13 : partition_view<[64, 64], tensor_view<?x?xf32, strides=[?, 1]>>\n"
     "  %17 = make_partition_view %14 : partition_view<[64, 32], tensor_view<?x?xf16, strides=[?, 1]>, padding=zero>\n"
     "  %18 = make_partition_view %15 : partition_view<[32, 64], tensor_view<?x?xf16, strides=[?, 1]>, padding=zero>\n"
     "  %19 = get_tile_block_id axis=0 : i32\n  %20 = get_tile_block_id axis=1 : i32\n"
     "  %21 = constant 0 : i32\n  %22 = constant 1 : i32\n  %23 = constant 0.0 : tile<64x64xf32>\n"
     "  %24 = get_index_space_shape axis=1 %17 : i32\n"
     "  %40 = for %30 in (%21, %24, %22) iter(%31 = %23) : tile<64x64xf32> {\n"
     "    %32 = load_view_tko %17, %19, %30 : tile<64x32xf16>\n"
     "    %33 = load_view_tko %18, %30, %20 : tile<32x64xf16>\n"
     "    %34 = mmaf %32, %33, %31 : tile<64x64xf32>\n"
     "    continue %34\n  }\n"
     "  %41 = store_view_tko %16, %40, %19, %20 : token\n"
     "  return\n}\n",
     3, 16384, "zhh", 3, {96, 80, 112}, {2, 2, 1}, 1e-4, 'f'},
    {"cumsum",
     "entry @cumsum(%1: ptr<f32>, %2: ptr<f32>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<8x512xf32, strides=[512, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<8x512xf32, strides=[512, 1]>\n"
     "  %12 = make_partition_view %10 : partition_view<[8, 512], tensor_view<8x512xf32, strides=[512, 1]>>\n"
     "  %13 = make_partition_view %11 : partition_view<[8, 512], tensor_view<8x512xf32, strides=[512, 1]>>\n"
     "  %14 = constant 0 : i32\n"
     "  %15 = load_view_tko %13, %14, %14 : tile<8x512xf32>\n"
     "  %29 = scan axis=1 (%15) identity(0.0) args(%20, %21) : tile<8x512xf32> {\n"
     "    %22 = addf %20, %21 : f32\n    yield %22\n  }\n"
     "  %39 = scan axis=0 reverse (%29) identity(0.0) args(%30, %31) : tile<8x512xf32> {\n"
     "    %32 = addf %30, %31 : f32\n    yield %32\n  }\n"
     "  %40 = store_view_tko %12, %39, %14, %14 : token\n"
     "  return\n}\n",
     2, 4096, "zf", 0, {0}, {1, 1, 1}, 1e-3, 'f'},
    {"parts",
     "entry @parts(%1: ptr<i32>, %2: ptr<i32>, %3: i32) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<64x32xi32, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<32x32xi32, strides=[32, 1]>\n"
     "  %12 = make_partition_view %10 : partition_view<[64, 32], tensor_view<64x32xi32, strides=[32, 1]>>\n"
     "  %13 = make_partition_view %11 : partition_view<[32, 32], tensor_view<32x32xi32, strides=[32, 1]>>\n"
     "  %14 = constant 0 : i32\n"
     "  %15 = load_view_tko %13, %14, %14 : tile<32x32xi32>\n"
     "  %16 = extract %15, %3, %14 : tile<8x16xi32>\n"
     "  %17 = addi %16, %16 : tile<8x16xi32>\n"
     "  %18 = insert %15, %17, %3, %3 : tile<32x32xi32>\n"
     "  %19 = permute [1, 0] %15 : tile<32x32xi32>\n"
     "  %20 = cat axis=0 %18, %19 : tile<64x32xi32>\n"
     "  %21 = store_view_tko %12, %20, %14, %14 : token\n"
     "  return\n}\n",
     2, 2048, "zi", 1, {1}, {1, 1, 1}, 0, 'i'},
    {"mm_bf16_t",
     "entry @mm(%1: ptr<f32>, %2: ptr<bf16>, %3: ptr<bf16>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<64x32xf32, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<64x64xbf16, strides=[64, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<32x64xbf16, strides=[64, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[64, 32], tensor_view<64x32xf32, strides=[32, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[64, 64], tensor_view<64x64xbf16, strides=[64, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[32, 64], tensor_view<32x64xbf16, strides=[64, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<64x64xbf16>\n"
     "  %18 = load_view_tko %15, %16, %16 : tile<32x64xbf16>\n  %19 = permute [1, 0] %18 : tile<64x32xbf16>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<64x32xf32>\n  %21 = mmaf %17, %19, %20 : tile<64x32xf32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 4096, "fbb", 0, {0}, {1, 1, 1}, 0.0001, 'f'},
    {"mm_tf32",
     "entry @mm(%1: ptr<f32>, %2: ptr<tf32>, %3: ptr<tf32>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<32x64xf32, strides=[64, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<32x32xtf32, strides=[32, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<32x64xtf32, strides=[64, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[32, 64], tensor_view<32x64xf32, strides=[64, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[32, 32], tensor_view<32x32xtf32, strides=[32, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[32, 64], tensor_view<32x64xtf32, strides=[64, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<32x32xtf32>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<32x64xtf32>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<32x64xf32>\n  %21 = mmaf %17, %19, %20 : tile<32x64xf32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 4096, "fff", 0, {0}, {1, 1, 1}, 0.001, 'f'},
    {"mm_f32",
     "entry @mm(%1: ptr<f32>, %2: ptr<f32>, %3: ptr<f32>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<32x32xf32, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<32x16xf32, strides=[16, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<16x32xf32, strides=[32, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[32, 32], tensor_view<32x32xf32, strides=[32, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[32, 16], tensor_view<32x16xf32, strides=[16, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[16, 32], tensor_view<16x32xf32, strides=[32, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<32x16xf32>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<16x32xf32>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<32x32xf32>\n  %21 = mmaf %17, %19, %20 : tile<32x32xf32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 4096, "fff", 0, {0}, {1, 1, 1}, 1e-05, 'f'},
    {"mm_s8",
     "entry @mm(%1: ptr<i32>, %2: ptr<i8>, %3: ptr<i8>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<64x64xi32, strides=[64, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<64x64xi8, strides=[64, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<64x64xi8, strides=[64, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[64, 64], tensor_view<64x64xi32, strides=[64, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[64, 64], tensor_view<64x64xi8, strides=[64, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[64, 64], tensor_view<64x64xi8, strides=[64, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<64x64xi8>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<64x64xi8>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<64x64xi32>\n  %21 = mmai %17, %19, %20 : tile<64x64xi32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 4096, "icc", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"mm_u8",
     "entry @mm(%1: ptr<i32>, %2: ptr<i8>, %3: ptr<i8>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<16x16xi32, strides=[16, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<16x32xi8, strides=[32, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<16x32xi8, strides=[32, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[16, 16], tensor_view<16x16xi32, strides=[16, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[16, 32], tensor_view<16x32xi8, strides=[32, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[16, 32], tensor_view<16x32xi8, strides=[32, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<16x32xi8>\n"
     "  %18 = load_view_tko %15, %16, %16 : tile<16x32xi8>\n  %19 = permute [1, 0] %18 : tile<32x16xi8>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<16x16xi32>\n"
     "  %21 = mmai unsigned %17, %19, %20 : tile<16x16xi32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 4096, "icc", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"mm_f64",
     "entry @mm(%1: ptr<f64>, %2: ptr<f64>, %3: ptr<f64>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<16x32xf64, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<16x16xf64, strides=[16, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<16x32xf64, strides=[32, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[16, 32], tensor_view<16x32xf64, strides=[32, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[16, 16], tensor_view<16x16xf64, strides=[16, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[16, 32], tensor_view<16x32xf64, strides=[32, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<16x16xf64>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<16x32xf64>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<16x32xf64>\n  %21 = mmaf %17, %19, %20 : tile<16x32xf64>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 4096, "zdd", 0, {0}, {1, 1, 1}, 1e-09, 'd'},
    {"mm_f16acc",
     "entry @mm(%1: ptr<f16>, %2: ptr<f16>, %3: ptr<f16>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<64x64xf16, strides=[64, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<64x32xf16, strides=[32, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<32x64xf16, strides=[64, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[64, 64], tensor_view<64x64xf16, strides=[64, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[64, 32], tensor_view<64x32xf16, strides=[32, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[32, 64], tensor_view<32x64xf16, strides=[64, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<64x32xf16>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<32x64xf16>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<64x64xf16>\n  %21 = mmaf %17, %19, %20 : tile<64x64xf16>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 2048, "zhh", 0, {0}, {1, 1, 1}, 0.004, 'h'},
    {"mm_small",
     "entry @mm(%1: ptr<f32>, %2: ptr<f16>, %3: ptr<f16>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<8x8xf32, strides=[8, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<8x8xf16, strides=[8, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<8x8xf16, strides=[8, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[8, 8], tensor_view<8x8xf32, strides=[8, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[8, 8], tensor_view<8x8xf16, strides=[8, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[8, 8], tensor_view<8x8xf16, strides=[8, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<8x8xf16>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<8x8xf16>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<8x8xf32>\n  %21 = mmaf %17, %19, %20 : tile<8x8xf32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 512, "fhh", 0, {0}, {1, 1, 1}, 0.0001, 'f'},
    {"mm_thin",
     "entry @mm(%1: ptr<f32>, %2: ptr<f16>, %3: ptr<f16>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<4x16xf32, strides=[16, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<4x16xf16, strides=[16, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<16x16xf16, strides=[16, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[4, 16], tensor_view<4x16xf32, strides=[16, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[4, 16], tensor_view<4x16xf16, strides=[16, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[16, 16], tensor_view<16x16xf16, strides=[16, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<4x16xf16>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<16x16xf16>\n"
     "  %20 = load_view_tko %13, %16, %16 : tile<4x16xf32>\n  %21 = mmaf %17, %19, %20 : tile<4x16xf32>\n"
     "  %22 = store_view_tko %13, %21, %16, %16 : token\n  return\n}\n",
     3, 512, "fhh", 0, {0}, {1, 1, 1}, 0.0001, 'f'},
    {"attention",
     "entry @attention(%1: ptr<f32>, %2: ptr<f16>, %3: ptr<f16>, %4: ptr<f16>) {\n"
     "  %6 = assume div_by(16) %2 : ptr<f16>\n  %7 = assume div_by(16) %3 : ptr<f16>\n"
     "  %8 = assume div_by(16) %4 : ptr<f16>\n"
     "  %10 = make_tensor_view %1 : tensor_view<64x64xf32, strides=[64, 1]>\n"
     "  %11 = make_tensor_view %6 : tensor_view<64x64xf16, strides=[64, 1]>\n"
     "  %12 = make_tensor_view %7 : tensor_view<128x64xf16, strides=[64, 1]>\n"
     "  %13 = make_tensor_view %8 : tensor_view<128x64xf16, strides=[64, 1]>\n"
     "  %14 = make_partition_view %10 : partition_view<[64, 64], tensor_view<64x64xf32, strides=[64, 1]>>\n"
     "  %15 = make_partition_view %11 : partition_view<[64, 64], tensor_view<64x64xf16, strides=[64, 1]>>\n"
     "  %16 = make_partition_view %12 : partition_view<[32, 64], tensor_view<128x64xf16, strides=[64, 1]>>\n"
     "  %17 = make_partition_view %13 : partition_view<[32, 64], tensor_view<128x64xf16, strides=[64, 1]>>\n"
     "  %20 = constant 0 : i32\n  %21 = constant 4 : i32\n  %22 = constant 1 : i32\n"
     "  %23 = load_view_tko %15, %20, %20 : tile<64x64xf16>\n  %24 = constant -inf : tile<64x1xf32>\n"
     "  %25 = constant 0.0 : tile<64x1xf32>\n  %26 = constant 0.0 : tile<64x64xf32>\n"
     "  %27 = constant 0.0 : tile<64x32xf32>\n"
     "  %80, %81, %82 = for %30 in (%20, %21, %22) iter(%31 = %24, %32 = %25, %33 = %26) : tile<64x1xf32>, "
     "tile<64x1xf32>, tile<64x64xf32> {\n"
     "    %34 = load_view_tko %16, %30, %20 : tile<32x64xf16>\n"
     "    %35 = permute [1, 0] %34 : tile<64x32xf16>\n    %36 = mmaf %23, %35, %27 : tile<64x32xf32>\n"
     "    %45 = reduce axis=1 (%36) identity(-inf) args(%40, %41) : tile<64xf32> {\n"
     "      %42 = maxf %40, %41 : f32\n      yield %42\n    }\n    %46 = reshape %45 : tile<64x1xf32>\n"
     "    %47 = maxf %31, %46 : tile<64x1xf32>\n    %48 = broadcast %47 : tile<64x32xf32>\n"
     "    %49 = subf %36, %48 : tile<64x32xf32>\n    %50 = mulf %49, %49 : tile<64x32xf32>\n"
     "    %55 = reduce axis=1 (%50) identity(0.0) args(%51, %52) : tile<64xf32> {\n"
     "      %53 = addf %51, %52 : f32\n      yield %53\n    }\n    %56 = reshape %55 : tile<64x1xf32>\n"
     "    %57 = addf %32, %56 : tile<64x1xf32>\n    %58 = ftof %50 : tile<64x32xf16>\n"
     "    %59 = load_view_tko %17, %30, %20 : tile<32x64xf16>\n    %60 = broadcast %57 : tile<64x64xf32>\n"
     "    %61 = addf %33, %60 : tile<64x64xf32>\n    %62 = mmaf %58, %59, %61 : tile<64x64xf32>\n"
     "    continue %47, %57, %62\n  }\n  %83 = broadcast %81 : tile<64x64xf32>\n"
     "  %84 = divf %82, %83 : tile<64x64xf32>\n  %85 = store_view_tko %14, %84, %20, %20 : token\n  return\n"
     "}\n",
     4, 4096, "zhhh", 0, {0}, {1, 1, 1}, 0.002, 'f'},
    {"argmax",
     "entry @argmax(%1: ptr<i32>, %2: ptr<f32>) {\n"
     "  %10 = make_tensor_view %2 : tensor_view<32x128xf32, strides=[128, 1]>\n"
     "  %11 = make_partition_view %10 : partition_view<[32, 128], tensor_view<32x128xf32, strides=[128, 1]>>\n"
     "  %12 = constant 0 : i32\n  %13 = load_view_tko %11, %12, %12 : tile<32x128xf32>\n"
     "  %14 = iota : tile<128xi32>\n  %15 = reshape %14 : tile<1x128xi32>\n"
     "  %16 = broadcast %15 : tile<32x128xi32>\n"
     "  %30, %31 = reduce axis=1 (%13, %16) identity(-inf, 0) args(%20, %21, %22, %23) : tile<32xf32>, tile<32xi32> {\n"
     "    %24 = cmpf gt %20, %21 : i1\n    %25 = select %24, %20, %21 : f32\n    %26 = cmpf eq %20, %21 : i1\n"
     "    %27 = mini %22, %23 : i32\n    %28 = select %24, %22, %23 : i32\n"
     "    %29 = select %26, %27, %28 : i32\n    yield %25, %29\n  }\n  %40 = iota : tile<32xi32>\n"
     "  %41 = reshape %1 : tile<1xptr<i32>>\n  %42 = broadcast %41 : tile<32xptr<i32>>\n"
     "  %43 = offset %42, %40 : tile<32xptr<i32>>\n  %44 = store_ptr_tko %43, %31 : token\n  return\n}\n",
     2, 4096, "zf", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"reduce_axes",
     "entry @reduce_axes(%1: ptr<i32>, %2: ptr<i32>) {\n"
     "  %10 = make_tensor_view %2 : tensor_view<8x16x32xi32, strides=[512, 32, 1]>\n"
     "  %11 = make_partition_view %10 : partition_view<[8, 16, 32], tensor_view<8x16x32xi32, strides=[512, 32, 1]>>\n"
     "  %12 = constant 0 : i32\n  %13 = load_view_tko %11, %12, %12, %12 : tile<8x16x32xi32>\n"
     "  %20 = reduce axis=1 (%13) identity(0) args(%14, %15) : tile<8x32xi32> {\n"
     "    %16 = addi %14, %15 : i32\n    yield %16\n  }\n"
     "  %30 = reduce axis=0 (%20) identity(0) args(%21, %22) : tile<32xi32> {\n    %23 = maxi %21, %22 : i32\n"
     "    yield %23\n  }\n  %40 = reduce axis=0 (%30) identity(0) args(%31, %32) : i32 {\n"
     "    %33 = xori %31, %32 : i32\n    yield %33\n  }\n  %41 = reshape %40 : tile<1xi32>\n"
     "  %42 = broadcast %41 : tile<32xi32>\n  %43 = addi %30, %42 : tile<32xi32>\n"
     "  %44 = make_tensor_view %1 : tensor_view<20xi32, strides=[1]>\n"
     "  %45 = make_partition_view %44 : partition_view<[32], tensor_view<20xi32, strides=[1]>>\n"
     "  %46 = store_view_tko %45, %43, %12 : token\n  return\n}\n",
     2, 4096, "zi", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"control",
     "entry @control(%1: ptr<f32>, %2: ptr<f32>, %3: i32) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<16x64xf32, strides=[64, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<16x64xf32, strides=[64, 1]>\n"
     "  %12 = make_partition_view %10 : partition_view<[16, 64], tensor_view<16x64xf32, strides=[64, 1]>>\n"
     "  %13 = make_partition_view %11 : partition_view<[16, 64], tensor_view<16x64xf32, strides=[64, 1]>>\n"
     "  %14 = constant 0 : i32\n  %15 = constant 1 : i32\n"
     "  %16 = load_view_tko %13, %14, %14 : tile<16x64xf32>\n  %17 = constant 3 : i32\n"
     "  %18 = constant 1.5 : tile<16x64xf32>\n"
     "  %40, %41 = loop iter(%20 = %14, %21 = %16) : i32, tile<16x64xf32> {\n    %22 = addi %20, %15 : i32\n"
     "    %23 = cmpi ge %20, %3 : i1\n    %30 = if %23 : i32 {\n      break %22, %21\n    } else {\n"
     "      yield %20\n    }\n    %31 = mulf %21, %18 : tile<16x64xf32>\n    continue %22, %31\n  }\n"
     "  %50 = cmpi gt %40, %17 : i1\n  %60 = if %50 : tile<16x64xf32> {\n"
     "    %51 = subf %41, %16 : tile<16x64xf32>\n    yield %51\n  } else {\n"
     "    %52 = permute [1, 0] %41 : tile<64x16xf32>\n    %53 = reshape %52 : tile<16x64xf32>\n    yield %53\n"
     "  }\n  %61 = store_view_tko %12, %60, %14, %14 : token\n  return\n}\n",
     2, 1024, "zf", 1, {2}, {1, 1, 1}, 0, 'f'},
    {"pointer_loop",
     "entry @pointer_loop(%1: ptr<f32>, %2: ptr<f32>, %3: i32) {\n  %10 = iota : tile<128xi32>\n"
     "  %11 = reshape %2 : tile<1xptr<f32>>\n  %12 = broadcast %11 : tile<128xptr<f32>>\n"
     "  %13 = offset %12, %10 : tile<128xptr<f32>>\n  %14 = constant 0.0 : tile<128xf32>\n"
     "  %15 = constant 0 : i32\n  %16 = constant 1 : i32\n  %17 = constant 128 : tile<128xi32>\n"
     "  %30, %31 = for %20 in (%15, %3, %16) iter(%21 = %13, %22 = %14) : tile<128xptr<f32>>, tile<128xf32> {\n"
     "    %23 = load_ptr_tko %21 : tile<128xf32>\n    %24 = addf %22, %23 : tile<128xf32>\n"
     "    %25 = offset %21, %17 : tile<128xptr<f32>>\n    continue %25, %24\n  }\n"
     "  %32 = reshape %1 : tile<1xptr<f32>>\n  %33 = broadcast %32 : tile<128xptr<f32>>\n"
     "  %34 = offset %33, %10 : tile<128xptr<f32>>\n  %35 = store_ptr_tko %34, %31 : token\n  return\n}\n",
     2, 1024, "zf", 1, {5}, {1, 1, 1}, 0, 'f'},
    {"atomics",
     "entry @atomics(%1: ptr<i32>, %2: ptr<i32>) {\n  %10 = iota : tile<64xi32>\n"
     "  %11 = reshape %1 : tile<1xptr<i32>>\n  %12 = broadcast %11 : tile<64xptr<i32>>\n"
     "  %13 = offset %12, %10 : tile<64xptr<i32>>\n  %14 = constant 33 : tile<64xi32>\n"
     "  %15 = cmpi lt %10, %14 : tile<64xi1>\n"
     "  %16 = atomic_rmw_tko max relaxed device %13, %14 mask=%15 : tile<64xi32>\n"
     "  %17 = atomic_cas_tko acq_rel device %13, %14, %16 : tile<64xi32>\n  %18 = constant 64 : tile<64xi32>\n"
     "  %19 = offset %13, %18 : tile<64xptr<i32>>\n  %20 = store_ptr_tko %19, %17 : token\n"
     "  %21 = constant 5 : i32\n  %22 = atomic_rmw_tko add relaxed device %2, %21 : i32\n"
     "  %23 = offset %1, %21 : ptr<i32>\n  %24 = store_ptr_tko %23, %22 : token\n  return\n}\n",
     2, 256, "ii", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"views",
     "entry @views(%1: ptr<f32>, %2: ptr<f32>, %3: ptr<i32>) {\n"
     "  %10 = make_tensor_view %2 : tensor_view<32x32xf32, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %1 : tensor_view<64x32xf32, strides=[32, 1]>\n"
     "  %12 = make_strided_view %10 : strided_view<[8, 16], tensor_view<32x32xf32, strides=[32, 1]>, steps=[4, 8], "
     "padding=nan>\n"
     "  %13 = make_gather_scatter_view %10 : gather_scatter_view<[8, 16], tensor_view<32x32xf32, strides=[32, 1]>, "
     "sparse_dim=0, padding=zero>\n"
     "  %14 = make_gather_scatter_view %11 : gather_scatter_view<[8, 16], tensor_view<64x32xf32, strides=[32, 1]>, "
     "sparse_dim=0>\n"
     "  %15 = make_partition_view %11 : partition_view<[8, 16], tensor_view<64x32xf32, strides=[32, 1]>>\n"
     "  %20 = constant 7 : i32\n  %21 = constant 1 : i32\n  %22 = constant 2 : i32\n"
     "  %23 = load_view_tko %12, %20, %22 : tile<8x16xf32>\n"
     "  %24 = store_view_tko %15, %23, %22, %21 : token\n  %25 = iota : tile<8xi32>\n"
     "  %26 = reshape %3 : tile<1xptr<i32>>\n  %27 = broadcast %26 : tile<8xptr<i32>>\n"
     "  %28 = offset %27, %25 : tile<8xptr<i32>>\n  %29 = load_ptr_tko %28 : tile<8xi32>\n"
     "  %30 = constant 31 : tile<8xi32>\n  %31 = andi %29, %30 : tile<8xi32>\n"
     "  %32 = load_view_tko %13, %31, %20 : tile<8x16xf32>\n  %33 = constant 40 : tile<8xi32>\n"
     "  %34 = addi %25, %33 : tile<8xi32>\n  %35 = store_view_tko %14, %32, %34, %22 : token\n"
     "  %36 = atomic_red_view_tko addf relaxed device %15, %32, %21, %21 : token\n  return\n}\n",
     3, 2048, "ffi", 0, {0}, {1, 1, 1}, 0, 'f'},
    {"mixed_types",
     "entry @mixed_types(%1: ptr<f32>, %2: ptr<bf16>, %3: ptr<f32>, %4: ptr<i8>) {\n"
     "  %10 = assume div_by(16) %2 : ptr<bf16>\n  %11 = assume div_by(16) %3 : ptr<f32>\n"
     "  %12 = make_tensor_view %10 : tensor_view<8x256xbf16, strides=[256, 1]>\n"
     "  %13 = make_tensor_view %11 : tensor_view<256xf32, strides=[1]>\n"
     "  %14 = make_tensor_view %4 : tensor_view<8x256xi8, strides=[256, 1]>\n"
     "  %15 = make_tensor_view %1 : tensor_view<8x256xf32, strides=[256, 1]>\n"
     "  %16 = make_partition_view %12 : partition_view<[8, 256], tensor_view<8x256xbf16, strides=[256, 1]>>\n"
     "  %17 = make_partition_view %13 : partition_view<[256], tensor_view<256xf32, strides=[1]>>\n"
     "  %18 = make_partition_view %14 : partition_view<[8, 256], tensor_view<8x256xi8, strides=[256, 1]>>\n"
     "  %19 = make_partition_view %15 : partition_view<[8, 256], tensor_view<8x256xf32, strides=[256, 1]>>\n"
     "  %20 = constant 0 : i32\n  %21 = load_view_tko %16, %20, %20 : tile<8x256xbf16>\n"
     "  %22 = load_view_tko %17, %20 : tile<256xf32>\n  %23 = load_view_tko %18, %20, %20 : tile<8x256xi8>\n"
     "  %24 = ftof %21 : tile<8x256xf32>\n  %25 = reshape %22 : tile<1x256xf32>\n"
     "  %26 = broadcast %25 : tile<8x256xf32>\n  %27 = itof unsigned %23 : tile<8x256xf32>\n"
     "  %28 = fma %24, %26, %27 : tile<8x256xf32>\n  %29 = store_view_tko %19, %28, %20, %20 : token\n"
     "  return\n}\n",
     4, 2048, "zbfc", 0, {0}, {1, 1, 1}, 0, 'f'},
    {"in_place",
     "entry @in_place(%1: ptr<i32>) {\n  %10 = make_tensor_view %1 : tensor_view<32x32xi32, strides=[32, 1]>\n"
     "  %11 = make_partition_view %10 : partition_view<[32, 32], tensor_view<32x32xi32, strides=[32, 1]>>\n"
     "  %12 = constant 0 : i32\n  %13 = constant 3 : i32\n  %14 = constant 1 : i32\n"
     "  for %20 in (%12, %13, %14) {\n    %21 = load_view_tko %11, %12, %12 : tile<32x32xi32>\n"
     "    %22 = permute [1, 0] %21 : tile<32x32xi32>\n    %23 = addi %22, %21 : tile<32x32xi32>\n"
     "    %24 = permute [1, 0] %23 : tile<32x32xi32>\n    %27 = muli %24, %21 : tile<32x32xi32>\n"
     "    %25 = permute [1, 0] %27 : tile<32x32xi32>\n    %26 = store_view_tko %11, %25, %12, %12 : token\n"
     "    continue\n  }\n  return\n}\n",
     1, 1024, "i", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"scalars",
     "entry @scalars(%1: ptr<i32>, %2: ptr<i32>) {\n  %10 = get_tile_block_id axis=0 : i32\n"
     "  %11 = offset %2, %10 : ptr<i32>\n  %12 = load_ptr_tko %11 : i32\n"
     "  %13 = get_num_tile_blocks axis=0 : i32\n  %14 = addi %12, %13 : i32\n"
     "  %15 = offset %1, %10 : ptr<i32>\n  %16 = store_ptr_tko %15, %14 : token\n  return\n}\n",
     2, 64, "zi", 0, {0}, {7, 1, 1}, 0, 'i'},
    {"bytes",
     "entry @bytes(%1: ptr<i32>, %2: ptr<i16>) {\n"
     "  %10 = make_tensor_view %2 : tensor_view<256xi16, strides=[1]>\n"
     "  %11 = make_partition_view %10 : partition_view<[256], tensor_view<256xi16, strides=[1]>>\n"
     "  %12 = constant 0 : i32\n  %13 = load_view_tko %11, %12 : tile<256xi16>\n"
     "  %14 = pack %13 : tile<512xi8>\n  %15 = unpack %14 : tile<128xi32>\n"
     "  %16 = make_tensor_view %1 : tensor_view<128xi32, strides=[1]>\n"
     "  %17 = make_partition_view %16 : partition_view<[128], tensor_view<128xi32, strides=[1]>>\n"
     "  %18 = constant dense \"0100000002000000030000000400000005000000060000000700000008000000\" : tile<8xi32>\n"
     "  %19 = reshape %18 : tile<8x1xi32>\n  %20 = broadcast %19 : tile<8x16xi32>\n"
     "  %21 = reshape %20 : tile<128xi32>\n  %22 = xori %15, %21 : tile<128xi32>\n"
     "  %23 = store_view_tko %17, %22, %12 : token\n  return\n}\n",
     2, 128, "zc", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"cold",
     "entry @cold(%1: ptr<f32>, %2: ptr<f32>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<16x64xf32, strides=[64, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<16x64xf32, strides=[64, 1]>\n"
     "  %12 = make_partition_view %10 : partition_view<[16, 64], tensor_view<16x64xf32, strides=[64, 1]>>\n"
     "  %13 = make_partition_view %11 : partition_view<[16, 64], tensor_view<16x64xf32, strides=[64, 1]>>\n"
     "  %14 = constant 0 : i32\n  %15 = load_view_tko %13, %14, %14 : tile<16x64xf32>\n"
     "  %16 = constant 0.9 : tile<16x64xf32>\n  %17 = cmpf gt %15, %16 : tile<16x64xi1>\n"
     "  %30 = cold %17 (%15) : tile<16x64xf32> {\n    %20 = mulf %15, %16 : tile<16x64xf32>\n"
     "    %21 = addf %20, %16 : tile<16x64xf32>\n    yield %21\n  }\n"
     "  %31 = store_view_tko %12, %30, %14, %14 : token\n  return\n}\n",
     2, 1024, "zf", 0, {0}, {1, 1, 1}, 0, 'f'},
    {"scan_pairs",
     "entry @scan_pairs(%1: ptr<i32>, %2: ptr<i32>) {\n  %10 = iota : tile<2048xi32>\n"
     "  %11 = reshape %2 : tile<1xptr<i32>>\n  %12 = broadcast %11 : tile<2048xptr<i32>>\n"
     "  %13 = offset %12, %10 : tile<2048xptr<i32>>\n  %14 = load_ptr_tko %13 : tile<2048xi32>\n"
     "  %15 = constant 3 : tile<2048xi32>\n  %16 = andi %14, %15 : tile<2048xi32>\n"
     "  %40, %41 = scan axis=0 (%14, %16) identity(0, 0) args(%20, %21, %22, %23) : tile<2048xi32>, tile<2048xi32> {\n"
     "    %24 = addi %20, %21 : i32\n    %25 = maxi %22, %23 : i32\n    yield %24, %25\n  }\n"
     "  %42 = addi %40, %41 : tile<2048xi32>\n  %43 = reshape %1 : tile<1xptr<i32>>\n"
     "  %44 = broadcast %43 : tile<2048xptr<i32>>\n  %45 = offset %44, %10 : tile<2048xptr<i32>>\n"
     "  %46 = store_ptr_tko %45, %42 : token\n  return\n}\n",
     2, 2048, "zi", 0, {0}, {1, 1, 1}, 0, 'i'},
    /* each block waits for the total of every block before it; more threads than words, so that copies must agree */
    {"look_back",
     "entry @look_back(%1: ptr<i32>, %2: ptr<i32>, %3: ptr<i32>) {\n"
     "  %10 = assume div_by(16) %1 : ptr<i32>\n  %11 = assume div_by(16) %2 : ptr<i32>\n"
     "  %13 = make_tensor_view %10 : tensor_view<1024xi32, strides=[1]>\n"
     "  %14 = make_tensor_view %11 : tensor_view<1024xi32, strides=[1]>\n"
     "  %15 = make_tensor_view %3 : tensor_view<4xi32, strides=[1]>\n"
     "  %16 = make_partition_view %13 : partition_view<[256], tensor_view<1024xi32, strides=[1]>>\n"
     "  %17 = make_partition_view %14 : partition_view<[256], tensor_view<1024xi32, strides=[1]>>\n"
     "  %18 = make_partition_view %15 : partition_view<[1], tensor_view<4xi32, strides=[1]>>\n"
     "  %19 = make_partition_view %15 : partition_view<[4], tensor_view<4xi32, strides=[1]>>\n"
     "  %20 = get_tile_block_id axis=0 : i32\n  %21 = load_view_tko %17, %20 : tile<256xi32>\n"
     "  %28 = reduce axis=0 (%21) identity(0) args(%22, %23) : i32 {\n    %24 = addi %23, %22 : i32\n    yield %24\n"
     "  }\n"
     "  %30 = constant 1 : i32\n  %31 = addi %28, %30 : i32\n  %32 = reshape %31 : tile<1xi32>\n"
     "  %33 = store_view_tko relaxed device %18, %32, %20 : token\n"
     "  %34 = iota : tile<4xi32>\n  %35 = reshape %20 : tile<1xi32>\n  %36 = broadcast %35 : tile<4xi32>\n"
     "  %37 = cmpi le %34, %36 : tile<4xi1>\n  %38 = constant 0 : tile<4xi32>\n  %39 = constant 0 : i32\n"
     "  %70 = loop iter(%41 = %38) : tile<4xi32> {\n"
     "    %42 = load_view_tko acquire device %19, %39 : tile<4xi32>\n    %43 = cmpi eq %42, %38 : tile<4xi1>\n"
     "    %44 = andi %37, %43 : tile<4xi1>\n    %45 = exti unsigned %44 : tile<4xi32>\n"
     "    %55 = reduce axis=0 (%45) identity(0) args(%50, %51) : i32 {\n      %52 = ori %51, %50 : i32\n"
     "      yield %52\n    }\n"
     "    %56 = cmpi eq %55, %39 : i1\n    if %56 {\n      break %42\n    } else {\n      yield\n    }\n"
     "    continue %42\n  }\n"
     "  %71 = select %37, %70, %38 : tile<4xi32>\n"
     "  %85 = reduce axis=0 (%71) identity(0) args(%80, %81) : i32 {\n    %82 = addi %81, %80 : i32\n    yield %82\n"
     "  }\n"
     "  %86 = reshape %85 : tile<1xi32>\n  %87 = broadcast %86 : tile<256xi32>\n  %88 = addi %21, %87 : tile<256xi32>\n"
     "  %89 = store_view_tko release device %16, %88, %20 : token\n  return\n}\n",
     3, 1024, "ziz", 0, {0}, {4, 1, 1}, 0, 'i'},
    {"nibbles",
     "entry @nibbles(%1: ptr<i32>, %2: ptr<i4>) {\n"
     "  %10 = make_tensor_view %2 : tensor_view<16x32xi4, strides=[32, 1]>\n"
     "  %11 = make_partition_view %10 : partition_view<[8, 16], tensor_view<16x32xi4, strides=[32, 1]>>\n"
     "  %12 = constant 0 : i32\n  %13 = constant 1 : i32\n"
     "  %14 = load_view_tko %11, %13, %13 : tile<8x16xi4>\n  %15 = exti %14 : tile<8x16xi32>\n"
     "  %16 = addi %15, %15 : tile<8x16xi32>\n  %17 = trunci %16 : tile<8x16xi4>\n"
     "  %18 = store_view_tko %11, %17, %12, %13 : token\n"
     "  %19 = load_view_tko %11, %12, %13 : tile<8x16xi4>\n  %20 = exti unsigned %19 : tile<8x16xi32>\n"
     "  %21 = permute [1, 0] %17 : tile<16x8xi4>\n  %22 = reshape %21 : tile<128xi4>\n  %23 = pack %22 : tile<64xi8>\n"
     "  %24 = unpack %23 : tile<128xi4>\n  %25 = exti %24 : tile<128xi32>\n  %26 = reshape %25 : tile<8x16xi32>\n"
     "  %27 = addi %20, %26 : tile<8x16xi32>\n"
     "  %28 = make_tensor_view %1 : tensor_view<8x16xi32, strides=[16, 1]>\n"
     "  %29 = make_partition_view %28 : partition_view<[8, 16], tensor_view<8x16xi32, strides=[16, 1]>>\n"
     "  %30 = store_view_tko %29, %27, %12, %12 : token\n  return\n}\n",
     2, 128, "zc", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"alloca",
     "entry @alloca(%1: ptr<i32>, %2: ptr<i32>) {\n"
     "  %3 = alloca bytes=512 align=16 : ptr<i32>\n  %10 = iota : tile<128xi32>\n  %11 = constant 127 : tile<128xi32>\n"
     "  %12 = reshape %3 : tile<1xptr<i32>>\n  %13 = broadcast %12 : tile<128xptr<i32>>\n"
     "  %14 = offset %13, %10 : tile<128xptr<i32>>\n"
     "  %15 = reshape %2 : tile<1xptr<i32>>\n  %16 = broadcast %15 : tile<128xptr<i32>>\n"
     "  %17 = offset %16, %10 : tile<128xptr<i32>>\n"
     "  %18 = load_ptr_tko %17 : tile<128xi32>\n  %19 = store_ptr_tko %14, %18 : token\n"
     "  %20 = xori %10, %11 : tile<128xi32>\n  %21 = offset %13, %20 : tile<128xptr<i32>>\n"
     "  %22 = load_ptr_tko %21 : tile<128xi32>\n"
     "  %23 = reshape %1 : tile<1xptr<i32>>\n  %24 = broadcast %23 : tile<128xptr<i32>>\n"
     "  %25 = offset %24, %10 : tile<128xptr<i32>>\n"
     "  %26 = store_ptr_tko %25, %22 : token\n  return\n}\n",
     2, 128, "zi", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"roots", /* of all kinds of floats: several registers are tested at once for what is rare */
     "entry @roots(%1: ptr<f32>, %2: ptr<f32>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<1024xf32, strides=[1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<1024xf32, strides=[1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[512], tensor_view<1024xf32, strides=[1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<1024xf32, strides=[1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = constant 1 : i32\n"
     "  %9 = load_view_tko %6, %7 : tile<512xf32>\n  %10 = load_view_tko %6, %8 : tile<512xf32>\n"
     "  %11 = absf %10 : tile<512xf32>\n"
     "  %12 = sqrt %9 : tile<512xf32>\n  %13 = sqrt %11 : tile<512xf32>\n"
     "  %14 = store_view_tko %5, %12, %7 : token\n  %15 = store_view_tko %5, %13, %8 : token\n  return\n}\n",
     2, 1024, "zc", 0, {0}, {1, 1, 1}, 0, 'i'},
    {"math_f32",
     "entry @math_f32(%1: ptr<f32>, %2: ptr<f32>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<512xf32, strides=[1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<512xf32, strides=[1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[512], tensor_view<512xf32, strides=[1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<512xf32, strides=[1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = load_view_tko %6, %7 : tile<512xf32>\n  %10 = sin %8 : tile<512xf32>\n"
     "  %11 = cos %8 : tile<512xf32>\n  %12 = exp %10 : tile<512xf32>\n  %13 = mulf %11, %12 : tile<512xf32>\n"
     "  %14 = absf %13 : tile<512xf32>\n  %15 = log %14 : tile<512xf32>\n  %98 = tanh %15 : tile<512xf32>\n"
     "  %99 = store_view_tko %5, %98, %7 : token\n  return\n}\n",
     2, 1024, "zf", 0, {0}, {1, 1, 1}, 1e-5, 'f', true},
    {"math_bf16",
     "entry @math_bf16(%1: ptr<f32>, %2: ptr<bf16>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<512xf32, strides=[1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<512xbf16, strides=[1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[512], tensor_view<512xf32, strides=[1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<512xbf16, strides=[1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = load_view_tko %6, %7 : tile<512xbf16>\n  %10 = exp %8 : tile<512xbf16>\n"
     "  %11 = addf %10, %8 : tile<512xbf16>\n  %12 = divf %11, %10 : tile<512xbf16>\n"
     "  %98 = ftof %12 : tile<512xf32>\n  %99 = store_view_tko %5, %98, %7 : token\n  return\n}\n",
     2, 1024, "zb", 0, {0}, {1, 1, 1}, 0, 'f', true},
    {"fp8",
     "entry @fp8(%1: ptr<f32>, %2: ptr<f8E4M3FN>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<512xf32, strides=[1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<512xf8E4M3FN, strides=[1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[512], tensor_view<512xf32, strides=[1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<512xf8E4M3FN, strides=[1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = load_view_tko %6, %7 : tile<512xf8E4M3FN>\n"
     "  %10 = ftof %8 : tile<512xf32>\n  %11 = constant 1.25 : tile<512xf32>\n"
     "  %12 = mulf %10, %11 : tile<512xf32>\n  %13 = ftof %12 : tile<512xf8E5M2>\n"
     "  %98 = ftof %13 : tile<512xf32>\n  %99 = store_view_tko %5, %98, %7 : token\n  return\n}\n",
     2, 1024, "zc", 0, {0}, {1, 1, 1}, 0, 'i', true},
    {"fp4",
     "entry @fp4(%1: ptr<f32>, %2: ptr<f4E2M1FN>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<512xf32, strides=[1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<512xf4E2M1FN, strides=[1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[512], tensor_view<512xf32, strides=[1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<512xf4E2M1FN, strides=[1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = load_view_tko %6, %7 : tile<512xf4E2M1FN>\n"
     "  %10 = ftof %8 : tile<512xf32>\n  %11 = addf %10, %10 : tile<512xf32>\n"
     "  %12 = ftof %11 : tile<512xf4E2M1FN>\n  %98 = ftof %12 : tile<512xf32>\n"
     "  %99 = store_view_tko %5, %98, %7 : token\n  return\n}\n",
     2, 1024, "zc", 0, {0}, {1, 1, 1}, 0, 'f', true},
    {"division",
     "entry @division(%1: ptr<i32>, %2: ptr<i32>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<512xi32, strides=[1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<512xi32, strides=[1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[512], tensor_view<512xi32, strides=[1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[512], tensor_view<512xi32, strides=[1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = load_view_tko %6, %7 : tile<512xi32>\n"
     "  %10 = constant 7 : tile<512xi32>\n  %11 = divi rm %8, %10 : tile<512xi32>\n"
     "  %12 = remi %8, %10 : tile<512xi32>\n  %13 = mulhii %8, %11 : tile<512xi32>\n"
     "  %14 = addi %12, %13 : tile<512xi32>\n  %98 = addi %14, %11 : tile<512xi32>\n"
     "  %99 = store_view_tko %5, %98, %7 : token\n  return\n}\n",
     2, 1024, "zc", 0, {0}, {1, 1, 1}, 0, 'i', true},
    {"mm_fp8",
     "entry @mm(%1: ptr<f32>, %2: ptr<f8E5M2>, %3: ptr<f8E5M2>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<32x32xf32, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<32x64xf8E5M2, strides=[64, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<64x32xf8E5M2, strides=[32, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[32, 32], tensor_view<32x32xf32, strides=[32, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[32, 64], tensor_view<32x64xf8E5M2, strides=[64, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[64, 32], tensor_view<64x32xf8E5M2, strides=[32, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<32x64xf8E5M2>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<64x32xf8E5M2>\n  %20 = constant 0.0 : tile<32x32xf32>\n"
     "  %21 = mmaf %17, %19, %20 : tile<32x32xf32>\n  %22 = store_view_tko %13, %21, %16, %16 : token\n"
     "  return\n}\n",
     3, 1024, "zee", 0, {0}, {1, 1, 1}, 0.001, 'f', true},
    {"mm_f64_mixed",
     "entry @mm(%1: ptr<f64>, %2: ptr<f64>, %3: ptr<f64>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<8x16xf64, strides=[16, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<8x8xf64, strides=[8, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<8x16xf64, strides=[16, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[8, 16], tensor_view<8x16xf64, strides=[16, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[8, 8], tensor_view<8x8xf64, strides=[8, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[8, 16], tensor_view<8x16xf64, strides=[16, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<8x8xf64>\n"
     "  %19 = load_view_tko %15, %16, %16 : tile<8x16xf64>\n  %20 = constant 0.0 : tile<8x16xf64>\n"
     "  %21 = mmaf %17, %19, %20 : tile<8x16xf64>\n  %22 = store_view_tko %13, %21, %16, %16 : token\n"
     "  return\n}\n",
     3, 256, "zdd", 0, {0}, {1, 1, 1}, 1e-09, 'd', true},
    {"mm_scaled",
     "entry @mm_scaled(%1: ptr<f32>, %2: ptr<f8E5M2>, %3: ptr<f8E5M2>) {\n"
     "  %10 = make_tensor_view %1 : tensor_view<32x32xf32, strides=[32, 1]>\n"
     "  %11 = make_tensor_view %2 : tensor_view<32x64xf8E5M2, strides=[64, 1]>\n"
     "  %12 = make_tensor_view %3 : tensor_view<64x32xf8E5M2, strides=[32, 1]>\n"
     "  %13 = make_partition_view %10 : partition_view<[32, 32], tensor_view<32x32xf32, strides=[32, 1]>>\n"
     "  %14 = make_partition_view %11 : partition_view<[32, 64], tensor_view<32x64xf8E5M2, strides=[64, 1]>>\n"
     "  %15 = make_partition_view %12 : partition_view<[64, 32], tensor_view<64x32xf8E5M2, strides=[32, 1]>>\n"
     "  %16 = constant 0 : i32\n  %17 = load_view_tko %14, %16, %16 : tile<32x64xf8E5M2>\n"
     "  %18 = load_view_tko %15, %16, %16 : tile<64x32xf8E5M2>\n  %19 = constant 0x80 : tile<32x2xf8E8M0FNU>\n"
     "  %20 = constant 0x7e : tile<2x32xf8E8M0FNU>\n  %21 = constant 0.5 : tile<32x32xf32>\n"
     "  %22 = mmaf_scaled %17, %18, %21, %19, %20 : tile<32x32xf32>\n"
     "  %23 = store_view_tko %13, %22, %16, %16 : token\n  return\n}\n",
     3, 1024, "zee", 0, {0}, {1, 1, 1}, 0.001, 'f', true},
    {"row_softmax",
     "entry @row_softmax(%1: ptr<f32>, %2: ptr<bf16>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<4x512xf32, strides=[512, 1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<4x512xbf16, strides=[512, 1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[1, 512], tensor_view<4x512xf32, strides=[512, 1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[1, 512], tensor_view<4x512xbf16, strides=[512, 1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = get_tile_block_id axis=0 : i32\n"
     "  %9 = load_view_tko %6, %8, %7 : tile<1x512xbf16>\n  %10 = ftof %9 : tile<1x512xf32>\n"
     "  %15 = reduce axis=1 (%10) identity(-inf) args(%11, %12) : tile<1xf32> {\n"
     "    %13 = maxf %11, %12 : f32\n    yield %13\n  }\n  %16 = reshape %15 : tile<1x1xf32>\n"
     "  %17 = broadcast %16 : tile<1x512xf32>\n  %18 = subf %10, %17 : tile<1x512xf32>\n"
     "  %19 = exp %18 : tile<1x512xf32>\n"
     "  %25 = reduce axis=1 (%19) identity(0.0) args(%21, %22) : tile<1xf32> {\n"
     "    %23 = addf %21, %22 : f32\n    yield %23\n  }\n  %26 = reshape %25 : tile<1x1xf32>\n"
     "  %27 = broadcast %26 : tile<1x512xf32>\n  %28 = divf %19, %27 : tile<1x512xf32>\n"
     "  %29 = store_view_tko %5, %28, %8, %7 : token\n  return\n}\n",
     2, 2048, "zb", 0, {0}, {4, 1, 1}, 1e-05, 'f', true},
    {"gemm_ragged",
     "entry @gemm_ragged(%1: ptr<f32>, %2: ptr<bf16>, %3: ptr<bf16>, %4: i32, %5: i32, %6: i32) {\n"
     "  %7 = assume div_by(16) %1 : ptr<f32>\n  %8 = assume div_by(16) %2 : ptr<bf16>\n"
     "  %9 = assume div_by(16) %3 : ptr<bf16>\n"
     "  %13 = make_tensor_view %7, %4, %5 : tensor_view<?x?xf32, strides=[128, 1]>\n"
     "  %14 = make_tensor_view %8, %4, %6 : tensor_view<?x?xbf16, strides=[64, 1]>\n"
     "  %15 = make_tensor_view %9, %5, %6 : tensor_view<?x?xbf16, strides=[64, 1]>\n"
     "  %16 = make_partition_view %13 : partition_view<[32, 64], tensor_view<?x?xf32, strides=[128, 1]>>\n"
     "  %17 = make_partition_view %14 : partition_view<[32, 16], tensor_view<?x?xbf16, strides=[64, 1]>, "
     "padding=zero>\n"
     "  %18 = make_partition_view %15 : partition_view<[64, 16], tensor_view<?x?xbf16, strides=[64, 1]>, "
     "padding=zero>\n"
     "  %19 = get_tile_block_id axis=0 : i32\n  %20 = get_tile_block_id axis=1 : i32\n"
     "  %21 = constant 0 : i32\n  %22 = constant 1 : i32\n  %23 = constant 0.0 : tile<32x64xf32>\n"
     "  %24 = get_index_space_shape axis=1 %17 : i32\n"
     "  %40 = for %30 in (%21, %24, %22) iter(%31 = %23) : tile<32x64xf32> {\n"
     "    %32 = load_view_tko %17, %19, %30 : tile<32x16xbf16>\n"
     "    %33 = load_view_tko %18, %20, %30 : tile<64x16xbf16>\n    %34 = permute [1, 0] %33 : tile<16x64xbf16>\n"
     "    %35 = mmaf %32, %34, %31 : tile<32x64xf32>\n"
     "    continue %35\n  }\n"
     "  %41 = store_view_tko %16, %40, %19, %20 : token\n"
     "  return\n}\n",
     3, 12000, "zbb", 3, {70, 99, 53}, {3, 2, 1}, 1e-4, 'f'},
    {"extremes",
     "entry @extremes(%1: ptr<f32>, %2: ptr<f32>) {\n"
     "  %3 = make_tensor_view %1 : tensor_view<2x8xf32, strides=[8, 1]>\n"
     "  %4 = make_tensor_view %2 : tensor_view<8x256xf32, strides=[256, 1]>\n"
     "  %5 = make_partition_view %3 : partition_view<[1, 8], tensor_view<2x8xf32, strides=[8, 1]>>\n"
     "  %6 = make_partition_view %4 : partition_view<[8, 256], tensor_view<8x256xf32, strides=[256, 1]>>\n"
     "  %7 = constant 0 : i32\n  %8 = constant 1 : i32\n  %9 = load_view_tko %6, %7, %7 : tile<8x256xf32>\n"
     "  %15 = reduce axis=1 (%9) identity(0x7fc00000) args(%11, %12) : tile<8xf32> {\n"
     "    %13 = maxf %11, %12 : f32\n    yield %13\n  }\n  %16 = reshape %15 : tile<1x8xf32>\n"
     "  %25 = reduce axis=1 (%9) identity(0x7fc00000) args(%21, %22) : tile<8xf32> {\n"
     "    %23 = minf %21, %22 : f32\n    yield %23\n  }\n  %26 = reshape %25 : tile<1x8xf32>\n"
     "  %27 = store_view_tko %5, %16, %7, %7 : token\n"
     "  %28 = store_view_tko %5, %26, %8, %7 : token\n  return\n}\n",
     2, 2048, "zn", 0, {0}, {1, 1, 1}, 0, 'f'},
};

#endif
