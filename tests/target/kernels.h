/* SPDX-License-Identifier: Apache-2.0
 *
 * A corpus of tile kernels as text, with what is needed to run them: parameters and a grid. Pointers come
 * first in each parameter list ("b" buffer of 4-byte words, read and written), then i32 numbers.
 */
#ifndef TS_TESTS_KERNELS_H
#define TS_TESTS_KERNELS_H

#include <stdint.h>

typedef struct kernel_case {
    const char *name, *text;
    uint32_t n_buffers, words;  /* of 4 bytes, each buffer */
    const char *fill;           /* one letter a buffer: f floats, h halves, b bf16, i small integers, z zeros */
    uint32_t n_ints;
    int32_t ints[6];
    uint32_t grid[3];
    double tolerance;           /* 0: bit for bit */
    char compare;               /* letter as in fill: how to read buffer 0 (the output) */
} kernel_case;

#define VIEW1(v, p, n) "  " v " = make_tensor_view " p ", " n " : tensor_view<?xf32, strides=[1]>\n"
#define PART1(v, t, size) \
    "  " v " = make_partition_view " t " : partition_view<[" size "], tensor_view<?xf32, strides=[1]>, padding=zero>\n"

static const kernel_case kernel_cases[] = {
    {"vector_add",
     "entry @vector_add(%1: ptr<f32>, %2: ptr<f32>, %3: ptr<f32>, %4: i32) {\n"
     "  %10 = assume div_by(16) %1 : ptr<f32>\n  %11 = assume div_by(16) %2 : ptr<f32>\n  %12 = assume div_by(16) %3 : ptr<f32>\n"
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
     "  %10 = assume div_by(16) %1 : ptr<f32>\n  %11 = assume div_by(16) %2 : ptr<f32>\n  %12 = assume div_by(16) %4 : i32\n"
     "  %13 = make_tensor_view %10, %3, %12, %12 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %14 = make_tensor_view %11, %3, %12, %12 : tensor_view<?x?xf32, strides=[?, 1]>\n"
     "  %15 = make_partition_view %13 : partition_view<[1, 1024], tensor_view<?x?xf32, strides=[?, 1]>>\n"
     "  %16 = make_partition_view %14 : partition_view<[1, 1024], tensor_view<?x?xf32, strides=[?, 1]>, padding=neg_inf>\n"
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
    {"gather",
     "entry @gather(%1: ptr<f32>, %2: ptr<f32>, %3: ptr<i32>, %4: i32) {\n"
     "  %10 = iota : tile<256xi32>\n  %11 = get_tile_block_id axis=0 : i32\n  %12 = constant 256 : i32\n"
     "  %13 = muli %11, %12 : i32\n  %14 = reshape %13 : tile<1xi32>\n  %15 = broadcast %14 : tile<256xi32>\n"
     "  %16 = addi %15, %10 : tile<256xi32>\n  %17 = reshape %4 : tile<1xi32>\n  %18 = broadcast %17 : tile<256xi32>\n"
     "  %19 = cmpi lt %16, %18 : tile<256xi1>\n"
     "  %20 = reshape %3 : tile<1xptr<i32>>\n  %21 = broadcast %20 : tile<256xptr<i32>>\n  %22 = offset %21, %16 : tile<256xptr<i32>>\n"
     "  %23 = load_ptr_tko %22 mask=%19 : tile<256xi32>\n"
     "  %24 = reshape %2 : tile<1xptr<f32>>\n  %25 = broadcast %24 : tile<256xptr<f32>>\n  %26 = offset %25, %23 : tile<256xptr<f32>>\n"
     "  %27 = constant 7.5 : tile<256xf32>\n"
     "  %28 = load_ptr_tko %26 mask=%19 pad=%27 : tile<256xf32>\n"
     "  %29 = reshape %1 : tile<1xptr<f32>>\n  %30 = broadcast %29 : tile<256xptr<f32>>\n  %31 = offset %30, %16 : tile<256xptr<f32>>\n"
     "  %32 = store_ptr_tko %31, %28 : token\n"
     "  return\n}\n",
     3, 1024, "zfi", 1, {700}, {3, 1, 1}, 0, 'f'},
    {"histogram",
     "entry @histogram(%1: ptr<i32>, %2: ptr<i32>, %4: i32) {\n"
     "  %10 = iota : tile<128xi32>\n"
     "  %20 = reshape %2 : tile<1xptr<i32>>\n  %21 = broadcast %20 : tile<128xptr<i32>>\n  %22 = offset %21, %10 : tile<128xptr<i32>>\n"
     "  %23 = load_ptr_tko %22 : tile<128xi32>\n  %24 = constant 15 : tile<128xi32>\n  %25 = andi %23, %24 : tile<128xi32>\n"
     "  %26 = reshape %1 : tile<1xptr<i32>>\n  %27 = broadcast %26 : tile<128xptr<i32>>\n  %28 = offset %27, %25 : tile<128xptr<i32>>\n"
     "  %29 = constant 1 : tile<128xi32>\n"
     "  %30 = atomic_rmw_tko add relaxed device %28, %29 : tile<128xi32>\n"
     "  return\n}\n",
     2, 1024, "zi", 1, {0}, {2, 1, 1}, 0, 'i'},
    {"gemm_f16",
     "entry @gemm_f16(%1: ptr<f32>, %2: ptr<f16>, %3: ptr<f16>, %4: i32, %5: i32, %6: i32) {\n"
     "  %7 = assume div_by(16) %1 : ptr<f32>\n  %8 = assume div_by(16) %2 : ptr<f16>\n  %9 = assume div_by(16) %3 : ptr<f16>\n"
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
};

#endif
