/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that load without products: several trips load together (plan/ahead.c), the code asks for registers enough
 * (plan/resident.c), masks that neighbours share are made once (lower/elem.c).
 */
#include "gpu/gpu.h"
#include "pass/pass.h"
#include "check.h"
#include "target/kernels.h"

static ts_error err;

/* The thread code of a tile kernel for sm_90. */
typedef struct kit {
    ts_arena arena, scratch;
    ts_module *m;
    ts_fn *fn;
    ts_text messages;
    ts_plan plan;
} kit;

static void kit_begin_hints(kit *k, const char *source, const ts_hints *hints)
{
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, NULL);
    ts__arena_init(&k->scratch, NULL);
    ts__text_init(&k->messages, NULL);
    CHECK_OK(ts__module_read(&k->arena, source, strlen(source), &k->m, &err));
    k->fn = k->m->fns.at[0];
    ts_pass_env env = {&k->scratch, TS_TARGET_SM90, hints, &k->plan, .messages = &k->messages};
    CHECK_OK(ts__run_passes(k->fn, "fold fma dce licm math legalize fold dce licm", &env, &err));
    CHECK_OK(ts__gpu_lower(k->fn, &env, &err));
    CHECK_OK(ts__run_passes(k->fn, "dce licm", &env, &err));
}

static void kit_begin(kit *k, const char *source)
{
    static const ts_hints none;
    kit_begin_hints(k, source, &none);
}

static void kit_end(kit *k)
{
    ts__text_deinit(&k->messages);
    ts__arena_deinit(&k->scratch);
    ts__arena_deinit(&k->arena);
}

static uint32_t kit_count(const kit *k, ts_op op, ts_type type)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < k->fn->inst.n; v++)
        n += ts_at(k->fn, v)->op == op && (!type || ts_type_of(k->fn, ts_opnd(k->fn, v, 0)) == type);
    return n;
}

/* Sums of pieces of `size` f32. */
#define SUMS(size, lower) SUMS_WITH(size, lower, "")
#define SUMS_WITH(size, lower, hints) \
    "entry @sums(%1: ptr<f32>, %2: i32, %3: ptr<f32>)" hints " {\n  %4 = assume div_by(16) %2 : i32\n" \
    "  %21 = assume div_by(16) %1 : ptr<f32>\n" VIEW1("%5", "%21", "%4") \
    PART1("%6", "%5", size) "  %22 = assume div_by(16) %3 : ptr<f32>\n" \
    VIEW1("%7", "%22", "%4") PART1("%8", "%7", size) \
    "  %9 = constant " lower " : i32\n  %10 = constant 1 : i32\n  %11 = constant 0.0 : tile<" size "xf32>\n" \
    "  %19 = for %13 in (%9, %2, %10) iter(%14 = %11) : tile<" size "xf32> {\n" \
    "    %15 = load_view_tko %6, %13 : tile<" size "xf32>\n    %16 = addf %14, %15 : tile<" size "xf32>\n" \
    "    continue %16\n  }\n  %20 = store_view_tko %8, %19, %9 : token\n  return\n}\n"

static void small_loads_of_two_trips_go_together(void)
{
    kit k;
    kit_begin(&k, SUMS("4096", "0"));
    CHECK_INT(kit_count(&k, TS_OP_for, 0), 2);
    CHECK_INT(kit_count(&k, TS_OP_ld, 0), 6); /* two vectors a thread: two trips of 512 threads, and the rest */
    CHECK_INT(k.fn->occupancy, 0);
    kit_end(&k);
}

static void single_vectors_of_two_trips_go_together(void)
{
    kit k;
    kit_begin(&k, SUMS("512", "0"));
    CHECK_INT(kit_count(&k, TS_OP_for, 0), 2);
    CHECK_INT(kit_count(&k, TS_OP_ld, 0), 3); /* 16 bytes a thread: two trips, and the rest */
    kit_end(&k);
    kit_begin_hints(&k, SUMS("512", "0"), &(ts_hints){.num_stages = 4});
    CHECK_INT(kit_count(&k, TS_OP_ld, 0), 5); /* who asks for four gets them */
    kit_end(&k);
}

static void middling_loads_get_registers(void)
{
    kit k;
    kit_begin(&k, SUMS("8192", "0"));
    CHECK_INT(k.fn->occupancy, 2); /* of 512 threads with 16 elements each */
    kit_end(&k);
}

/* 64 elements a thread, of the loop and of a load; a few more than a quarter of the registers. */
static void blocks_asked_for_may_use_a_little_stack(void)
{
    kit k;
    kit_begin(&k, SUMS_WITH("8192", "0", " occupancy=4 num_warps=4"));
    CHECK_INT(k.fn->occupancy, 4);
    kit_end(&k);
    kit_begin(&k, SUMS_WITH("8192", "0", " occupancy=6 num_warps=4"));
    CHECK_INT(k.fn->occupancy, 4);
    kit_end(&k);
}

static void large_loads_stay_alone(void)
{
    kit k;
    kit_begin(&k, SUMS("16384", "0"));
    CHECK_INT(kit_count(&k, TS_OP_for, 0), 1);
    CHECK_INT(k.fn->occupancy, 0);
    kit_end(&k);
}

static void numbers_from_below_zero_are_not_counted(void)
{
    kit k;
    kit_begin(&k, SUMS("512", "-4"));
    CHECK_INT(kit_count(&k, TS_OP_for, 0), 1);
    kit_end(&k);
}

static void eight_neighbours_share_a_mask(void)
{
    kit k;
    kit_begin(&k,
              "entry @mask(%1: ptr<bf16>, %2: i32) {\n  %3 = assume div_by(16) %2 : i32\n"
              "  %20 = assume div_by(16) %1 : ptr<bf16>\n"
              "  %4 = make_tensor_view %20, %3 : tensor_view<?xbf16, strides=[1]>\n"
              "  %5 = make_partition_view %4 : partition_view<[1024], tensor_view<?xbf16, strides=[1]>>\n"
              "  %6 = constant 0 : i32\n  %7 = iota : tile<1024xi32>\n  %8 = reshape %3 : tile<1xi32>\n"
              "  %9 = broadcast %8 : tile<1024xi32>\n  %10 = cmpi lt %7, %9 : tile<1024xi1>\n"
              "  %11 = constant 1.0 : tile<1024xbf16>\n  %12 = constant 2.0 : tile<1024xbf16>\n"
              "  %13 = select %10, %11, %12 : tile<1024xbf16>\n"
              "  %14 = store_view_tko inbounds=1 %5, %13, %6 : token\n  return\n}\n");
    CHECK_INT(kit_count(&k, TS_OP_cmpi, TS_T_i32), 1);
    kit_end(&k);
}

int main(void)
{
    small_loads_of_two_trips_go_together();
    single_vectors_of_two_trips_go_together();
    middling_loads_get_registers();
    blocks_asked_for_may_use_a_little_stack();
    large_loads_stay_alone();
    numbers_from_below_zero_are_not_counted();
    eight_neighbours_share_a_mask();
    return check_done();
}
