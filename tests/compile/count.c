/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting of work (src/compile/count.c): small kernels whose bytes, flops and trips are worked out by hand.
 */
#include "compile/count.h"
#include "check.h"

static ts_error err;

typedef struct kit {
    ts_arena arena;
    ts_module *module;
    ts_count count;
} kit;

/* Counts a kernel given as text, for parameters and a grid of `blocks`. */
static void kit_count(kit *k, const char *text, const uint64_t *params, size_t n, int64_t blocks)
{
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, NULL);
    ts_report_request request = {.params = params, .n_params = n, .grid = {blocks, 1, 1}};
    CHECK_OK(ts__module_read(&k->arena, text, strlen(text), &k->module, &err));
    CHECK_OK(ts_module_verify(k->module, &err));
    CHECK_OK(ts__count_run(k->module->fns.at[0], &request, &k->arena, &k->count, &err));
}

static void kit_end(kit *k)
{
    ts__arena_deinit(&k->arena);
}

#define TOTAL(k, kind) ((k).count.total[TS_WORK_##kind])

/* Parameters a, n: view %4 of a, tiles of 64. */
#define VIEW                                                                                       \
    "  %3 = make_tensor_view %1, %2 : tensor_view<?xf32, strides=[1]>\n"                           \
    "  %4 = make_partition_view %3 : partition_view<[64], tensor_view<?xf32, strides=[1]>>\n"

static void a_straight_kernel(void)
{
    kit k;
    uint64_t params[] = {0x1000, 200};
    kit_count(&k, "entry @k(%1: ptr<f32>, %2: i32) {\n" VIEW
                  "  %5 = get_tile_block_id axis=0 : i32\n"
                  "  %6 = load_view_tko %4, %5 : tile<64xf32>\n"
                  "  %7 = addf %6, %6 : tile<64xf32>\n"
                  "  %8 = fma %7, %6, %7 : tile<64xf32>\n"
                  "  %9 = exp %8 : tile<64xf32>\n"
                  "  %10 = divf %9, %7 : tile<64xf32>\n"
                  "  %11 = addi %5, %5 : i32\n"
                  "  %12 = store_view_tko %4, %10, %5 : token\n  return\n}\n",
              params, 2, 4);
    CHECK(k.count.evaluated && k.count.exact);
    CHECK_INT(TOTAL(k, load), 4 * 64 * 4);
    CHECK_INT(TOTAL(k, store), 4 * 64 * 4);
    CHECK_INT(TOTAL(k, f32), 4 * 64 * 3);
    CHECK_INT(k.count.busiest[TS_WORK_f32], 64 * 3);
    CHECK_INT(TOTAL(k, special), 4 * 64 * 2);
    CHECK_INT(TOTAL(k, integer), 0); /* scalars are free */
    CHECK_INT(k.count.arrays.n, 1);
    CHECK_INT(k.count.arrays.at[0].bytes, 800);
    CHECK_INT(k.count.dram_bytes, 2 * 800); /* whole tiles ask for more than the array has */
    kit_end(&k);
}

/* Grid (2), a loop of n / 16 steps: a product of 16x16x16 each, a reduction after it. */
static void a_loop_of_products(void)
{
    kit k;
    uint64_t params[] = {0x1000, 77};
    kit_count(&k,
              "entry @k(%1: ptr<f32>, %2: i32) {\n"
              "  %3 = constant 0 : i32\n  %4 = constant 1 : i32\n  %5 = constant 15 : i32\n  %6 = "
              "constant 4 : i32\n"
              "  %7 = addi %2, %5 : i32\n  %8 = shri unsigned %7, %6 : i32\n"
              "  %9 = constant 1.0 : tile<16x16xbf16>\n  %10 = constant 0.0 : tile<16x16xf32>\n"
              "  %15 = for %11 in (%3, %8, %4) iter(%12 = %10) : tile<16x16xf32> {\n"
              "    %13 = mmaf %9, %9, %12 : tile<16x16xf32>\n    continue %13\n  }\n"
              "  %20 = reduce axis=1 (%15) identity(0.0) args(%16, %17) : tile<16xf32> {\n"
              "    %18 = addf %16, %17 : f32\n    yield %18\n  }\n  return\n}\n",
              params, 2, 2);
    CHECK(k.count.exact);
    CHECK_INT(TOTAL(k, tensor_f16), 2 * 5 * (2 * 16 * 16 * 16));
    CHECK_INT(TOTAL(k, f32), 2 * 16 * 15);
    CHECK_INT(k.count.nests.n, 2);
    CHECK_STR(k.count.nests.at[1].trips, "cdiv(param1, 16)");
    CHECK_INT(k.count.nests.at[1].runs, 10);
    kit_end(&k);
}

/* Block b runs b + 1 steps. */
static const char *triangle = "entry @k(%1: ptr<f32>, %2: i32) {\n" VIEW
                              "  %5 = get_tile_block_id axis=0 : i32\n  %6 = constant 0 : i32\n  "
                              "%7 = constant 1 : i32\n  %8 = addi %5, %7 : i32\n"
                              "  for %9 in (%6, %8, %7) {\n"
                              "    %10 = load_view_tko %4, %9 : tile<64xf32>\n    %11 = "
                              "store_view_tko %4, %10, %9 : token\n    continue\n  }\n"
                              "  return\n}\n";

static void trips_that_follow_the_block(void)
{
    kit k;
    uint64_t params[] = {0x1000, 1 << 20};
    kit_count(&k, triangle, params, 2, 10);
    CHECK(k.count.exact);
    CHECK_INT(k.count.nests.at[1].runs, 55);
    CHECK_INT(TOTAL(k, load), 55 * 256);
    CHECK_STR(k.count.nests.at[1].trips, "(bid(0) + 1)");
    CHECK_INT(k.count.busiest[TS_WORK_load], 10 * 256); /* the last block */
    kit_end(&k);
}

static void many_blocks_are_sampled(void)
{
    kit k;
    uint64_t params[] = {0x1000, 1 << 20};
    double all = 100000, right = all * (all + 1) / 2;
    kit_count(&k, triangle, params, 2, (int64_t)all);
    CHECK(k.count.evaluated && !k.count.exact);
    CHECK(k.count.nests.at[1].runs > 0.99 * right && k.count.nests.at[1].runs < 1.01 * right);
    kit_end(&k);
}

/* A while loop from 10 down by 3, and an `if` of the block's number within. */
static void loops_and_ifs_are_followed(void)
{
    kit k;
    uint64_t params[] = {0x1000, 10};
    kit_count(&k, "entry @k(%1: ptr<f32>, %2: i32) {\n" VIEW
                  "  %5 = constant 0 : i32\n  %6 = constant 3 : i32\n  %7 = get_tile_block_id axis=0 : i32\n"
                  "  %20 = loop iter(%8 = %2) : i32 {\n"
                  "    %9 = cmpi le %8, %5 : i1\n"
                  "    if %9 {\n      break %8\n    } else {\n      yield\n    }\n"
                  "    %10 = cmpi eq %7, %5 : i1\n"
                  "    if %10 {\n      %11 = load_view_tko %4, %5 : tile<64xf32>\n"
                  "      %12 = store_view_tko %4, %11, %5 : token\n      yield\n    } else {\n      yield\n    }\n"
                  "    %13 = subi %8, %6 : i32\n    continue %13\n  }\n"
                  "  for %14 in (%20, %5, %6) {\n    %15 = load_view_tko %4, %5 : tile<64xf32>\n"
                  "    %16 = store_view_tko %4, %15, %5 : token\n    continue\n  }\n  return\n}\n",
              params, 2, 3);
    CHECK(k.count.exact);
    CHECK_INT(k.count.nests.at[1].runs, 3 * 5); /* 10 7 4 1 and the last look at -2 */
    CHECK_INT(TOTAL(k, load), 256 * (4 + 3));   /* block 0 alone, then each from -2 to 0 by 3 */
    kit_end(&k);
}

static void what_depends_on_data_is_guessed(void)
{
    kit k;
    uint64_t params[] = {0x1000, 64};
    kit_count(&k,
              "entry @k(%1: ptr<f32>, %2: i32) {\n" VIEW
              "  %5 = constant 0 : i32\n  %6 = constant 1 : i32\n"
              "  %7 = load_ptr_tko %1 : f32\n  %8 = ftoi %7 : i32\n  %9 = cmpi eq %8, %5 : i1\n"
              "  if %9 {\n    %10 = load_view_tko %4, %5 : tile<64xf32>\n    %11 = store_view_tko "
              "%4, %10, %5 : token\n"
              "    yield\n  } else {\n    %12 = load_view_tko %4, %6 : tile<64xf32>\n"
              "    %13 = store_view_tko %4, %12, %6 : token\n    yield\n  }\n"
              "  for %14 in (%5, %8, %6) {\n    %15 = load_view_tko %4, %5 : tile<64xf32>\n"
              "    %16 = store_view_tko %4, %15, %5 : token\n    continue\n  }\n  return\n}\n",
              params, 2, 1);
    CHECK(k.count.evaluated && !k.count.exact);
    CHECK_INT(TOTAL(k, load), 4 + 3 * 256);
    CHECK_STR(k.count.nests.at[3].trips, "?");
    kit_end(&k);
}

/* 3 blocks walk 7 tiles: for t in range(bid, cdiv(n, 64), num_blocks). */
static void persistent_loops_and_tile_counts(void)
{
    kit k;
    uint64_t params[] = {0x1000, 6 * 64 + 1};
    kit_count(&k, "entry @k(%1: ptr<f32>, %2: i32) {\n" VIEW
                  "  %5 = get_tile_block_id axis=0 : i32\n  %6 = get_num_tile_blocks axis=0 : i32\n"
                  "  %7 = get_index_space_shape axis=0 %4 : i32\n"
                  "  for %8 in (%5, %7, %6) {\n    %9 = load_view_tko %4, %8 : tile<64xf32>\n"
                  "    %10 = store_view_tko %4, %9, %8 : token\n    continue\n  }\n  return\n}\n",
              params, 2, 3);
    CHECK(k.count.exact);
    CHECK_INT(k.count.nests.at[1].runs, 7);
    CHECK_STR(k.count.nests.at[1].trips, "cdiv(cdiv(param1, 64) - bid(0), num_blocks(0))");
    kit_end(&k);
}

static void an_endless_loop_ends(void)
{
    kit k;
    uint64_t params[] = {0x1000, 1};
    kit_count(&k,
              "entry @k(%1: ptr<f32>, %2: i32) {\n  %3 = loop iter(%4 = %2) : i32 {\n    continue "
              "%4\n  }\n  return\n}\n",
              params, 2, 1);
    CHECK(k.count.evaluated && !k.count.exact);
    kit_end(&k);
}

static void without_arguments_there_are_only_formulas(void)
{
    kit k;
    kit_count(&k, triangle, NULL, 0, 0);
    CHECK(!k.count.evaluated);
    CHECK_INT(k.count.nests.at[1].work[TS_WORK_load], 256);
    CHECK_INT(TOTAL(k, load), 0);
    kit_end(&k);
}

int main(void)
{
    a_straight_kernel();
    a_loop_of_products();
    trips_that_follow_the_block();
    many_blocks_are_sampled();
    loops_and_ifs_are_followed();
    what_depends_on_data_is_guessed();
    persistent_loops_and_tile_counts();
    an_endless_loop_ends();
    without_arguments_there_are_only_formulas();
    return check_done();
}
