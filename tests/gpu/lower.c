/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile kernels become thread kernels (src/gpu/lower): the corpus of kernels.h is lowered for every
 * architecture, verified, written as PTX and assembled by ptxas without spills or remarks (skipped and counted
 * where ptxas is not installed). Every tile operation has a lowering.
 */
#include "target/ptx/ptx.h"
#include "gpu/schedule/schedule.h"
#include "assemble.h"
#include "check.h"
#include "target/kernels.h"

static ts_error err;
static bool have_ptxas;

typedef struct kit {
    ts_arena arena, scratch;
    ts_text text, messages;
    ts_module *m;
    ts_fn *fn;
    ts_plan plan;
} kit;

static void kit_begin(kit *k, const char *source)
{
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, NULL);
    ts__arena_init(&k->scratch, NULL);
    ts__text_init(&k->text, NULL);
    ts__text_init(&k->messages, NULL);
    CHECK_OK(ts__module_read(&k->arena, source, strlen(source), &k->m, &err));
    k->fn = k->m ? k->m->fns.at[0] : NULL;
}

static void kit_end(kit *k)
{
    ts__text_deinit(&k->text);
    ts__text_deinit(&k->messages);
    ts__arena_deinit(&k->scratch);
    ts__arena_deinit(&k->arena);
}

static ts_status kit_lower(kit *k, ts_target target)
{
    static const char passes[] = "fold fma dce licm math legalize fold dce licm";
    static const ts_hints none;
    ts_pass_env env = {&k->scratch, target, &none, &k->plan};
    k->plan.target = (uint32_t)target;
    strcpy(k->plan.name, "k");
    ts_status status = ts__run_passes(k->fn, passes, &env, &err);
    status = status ? status : ts__lower_run(k->fn, &env, &k->messages, &err);
    return status ? status : ts__run_passes(k->fn, "dce licm", &env, &err);
}

static const struct {
    ts_target target;
    const char *arch;
} archs[] = {{TS_TARGET_SM80, "sm_80"}, {TS_TARGET_SM86, "sm_86"}, {TS_TARGET_SM89, "sm_89"},
             {TS_TARGET_SM90, "sm_90a"}, {TS_TARGET_SM100, "sm_100a"}, {TS_TARGET_SM120, "sm_120a"}};

static void every_kernel_assembles_for_every_architecture(void)
{
    for (size_t i = 0; i < TS_COUNT(kernel_cases); i += check_step(3))
        for (size_t a = 0; a < TS_COUNT(archs); a++) {
            kit k;
            kit_begin(&k, kernel_cases[i].text);
            CHECK_OK(kit_lower(&k, archs[a].target));
            CHECK_OK(ts_fn_verify(k.fn, &err));
            CHECK_OK(ts__ptx_emit(k.fn, &k.plan, &k.text, &err));
            if (have_ptxas)
                CHECK(assembles(k.text.at, archs[a].arch, false));
            else
                check_skipped++;
            kit_end(&k);
        }
}

static void every_tile_operation_has_a_lowering(void)
{
    for (int op = 1; op < TS_OP_COUNT; op++) {
        /* written out before, by the passes inline, math and complex */
        bool rewritten = op == TS_OP_call || op == TS_OP_fn || (op >= TS_OP_make_complex && op <= TS_OP_imag);
        rewritten = rewritten || op == TS_OP_grid_sync; /* of threads (pass cooperate); in tiles on a CPU only */
        if (ts__ops[op].level & TS_LEVEL_T && !rewritten && !ts__lower_has((ts_op)op)) {
            fprintf(stderr, "no lowering: %s\n", ts__ops[op].name);
            CHECK(false);
        }
    }
}

static void small_tile_uses_one_warp(void)
{
    kit k;
    kit_begin(&k, "entry @k(%1: ptr<f32>) {\n"
                  "  %2 = make_tensor_view %1 : tensor_view<16xf32, strides=[1]>\n"
                  "  %3 = make_partition_view %2 : partition_view<[16], tensor_view<16xf32, strides=[1]>>\n"
                  "  %4 = constant 0 : i32\n  %5 = constant 1.0 : tile<16xf32>\n"
                  "  %6 = store_view_tko %3, %5, %4 : token\n  return\n}\n");
    CHECK_OK(kit_lower(&k, TS_TARGET_SM80));
    CHECK_INT(k.plan.threads, 32);
    CHECK_INT(k.plan.shared_bytes, 0);
    kit_end(&k);
}

/* What is stored along another axis than it is loaded along goes to shared memory by words, of 16-bit elements too. */
static void transpositions_move_words(void)
{
    for (size_t i = 0; i < TS_COUNT(kernel_cases); i++) {
        kit k;
        uint32_t words = 0;
        if (strcmp(kernel_cases[i].name, "transpose_f16") != 0)
            continue;
        kit_begin(&k, kernel_cases[i].text);
        CHECK_OK(kit_lower(&k, TS_TARGET_SM90));
        CHECK_INT(k.plan.threads, 512);
        for (ts_val v = 1; v < k.fn->inst.n; v++) {
            const ts_inst *inst = ts_at(k.fn, v);
            bool shared =
                inst->op == TS_OP_st && ts_type_get(k.m, ts_type_of(k.fn, ts_opnd(k.fn, v, 0)))->space == TS_SHARED;
            words += shared && inst->n_opnd >= 3; /* pointer and two halves */
            CHECK(!shared || inst->n_opnd >= 3);
        }
        CHECK_INT(words, 8); /* of 16 elements a thread */
        kit_end(&k);
    }
}

/* f32 that products want as tf32 travels as it is, steps ahead. */
static void rounded_operands_are_copied(void)
{
    for (size_t i = 0; i < TS_COUNT(kernel_cases); i++) {
        kit k;
        uint32_t copies = 0;
        if (strcmp(kernel_cases[i].name, "gemm_tf32_rounded") != 0)
            continue;
        kit_begin(&k, kernel_cases[i].text);
        CHECK_OK(kit_lower(&k, TS_TARGET_SM90));
        for (ts_val v = 1; v < k.fn->inst.n; v++)
            copies += ts_at(k.fn, v)->op == TS_OP_cp_async;
        CHECK(copies > 0);
        kit_end(&k);
    }
}

static void too_large_a_tile_is_a_clear_error(void)
{
    kit k;
    kit_begin(&k, "entry @k(%1: ptr<f32>) {\n"
                  "  %2 = make_tensor_view %1 : tensor_view<16777216xf32, strides=[1]>\n"
                  "  %3 = make_partition_view %2 : partition_view<[16777216], tensor_view<16777216xf32, strides=[1]>>\n"
                  "  %4 = constant 0 : i32\n  %5 = load_view_tko %3, %4 : tile<16777216xf32>\n"
                  "  %6 = store_view_tko %3, %5, %4 : token\n  return\n}\n");
    CHECK_INT(kit_lower(&k, TS_TARGET_SM80), TS_TILEVALUE);
    CHECK(strstr(err.text, "use smaller tiles") != NULL);
    kit_end(&k);
}

static void *no_memory(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    return new_bytes > old_bytes ? NULL : ts_alloc_default()->resize(user, block, old_bytes, new_bytes);
}

/* Rows that are copied to shared memory a trip ahead; lowered in `room` bytes of scratch memory. */
static ts_status rows_in(size_t room, bool *copies)
{
    enum { ALL = 1 << 24 };
    static const ts_alloc none = {no_memory, NULL};
    static const ts_hints hints;
    kit k;
    kit_begin(&k, "entry @k(%1: ptr<f32>, %2: ptr<f32>, %3: i32) {\n"
                  "  %4 = assume div_by(16) %1 : ptr<f32>\n"
                  "  %5 = make_tensor_view %4, %3 : tensor_view<?x8192xf32, strides=[8192, 1]>\n"
                  "  %6 = make_partition_view %5 : partition_view<[2, 8192], "
                  "tensor_view<?x8192xf32, strides=[8192, 1]>>\n"
                  "  %7 = make_tensor_view %2 : tensor_view<2x8192xf32, strides=[8192, 1]>\n"
                  "  %8 = make_partition_view %7 : partition_view<[2, 8192], "
                  "tensor_view<2x8192xf32, strides=[8192, 1]>>\n"
                  "  %9 = get_tile_block_id axis=0 : i32\n  %10 = get_num_tile_blocks axis=0 : i32\n"
                  "  %11 = constant 0 : i32\n  %12 = constant 0.0 : tile<2x8192xf32>\n"
                  "  %13 = for %14 in (%9, %3, %10) iter(%15 = %12) : tile<2x8192xf32> {\n"
                  "    %16 = load_view_tko %6, %14, %11 : tile<2x8192xf32>\n"
                  "    %17 = addf %15, %16 : tile<2x8192xf32>\n    continue %17\n  }\n"
                  "  %18 = store_view_tko %8, %13, %11, %11 : token\n  return\n}\n");
    ts_pass_env env = {&k.scratch, TS_TARGET_SM90, &hints, &k.plan};
    CHECK_OK(ts__run_passes(k.fn, "fold fma dce licm math legalize fold dce licm", &env, &err));
    CHECK(ts__arena_get(&k.scratch, ALL));
    ts__arena_rewind(&k.scratch, (ts_arena_mark){ts__arena_at(&k.scratch).block, 0});
    CHECK(ts__arena_get(&k.scratch, ALL - room));
    const ts_alloc *alloc = k.scratch.alloc;
    k.scratch.alloc = &none;
    ts_status status = ts__lower_run(k.fn, &env, &k.messages, &err);
    k.scratch.alloc = alloc;
    for (ts_val v = 1; v < k.fn->inst.n; v++)
        *copies = *copies || ts_at(k.fn, v)->op == TS_OP_cp_async;
    kit_end(&k);
    return status;
}

static void rows_ahead_do_without_memory(void)
{
    enum { STEP = 256 };
    ts_status status = TS_NOMEM;
    bool copies = false;
    size_t room = STEP;
    for (; status == TS_NOMEM && room < (1 << 20); room += STEP)
        status = rows_in(room, &copies);
    CHECK_OK(status);
    CHECK(copies);
}

int main(void)
{
    have_ptxas = has_assembler();
    if (!have_ptxas)
        fprintf(stderr, "ptxas is not installed: kernels are not assembled\n");
    every_kernel_assembles_for_every_architecture();
    every_tile_operation_has_a_lowering();
    small_tile_uses_one_warp();
    transpositions_move_words();
    rounded_operands_are_copied();
    too_large_a_tile_is_a_clear_error();
    rows_ahead_do_without_memory();
    return check_done();
}
