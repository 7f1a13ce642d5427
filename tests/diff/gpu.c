/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU lowering without a GPU: every kernel of the corpus at tile level against its thread-level form,
 * with races checked and warps in several orders. */
#include "gen.h"
#include "../target/kernels.h"

/* Buffers have the element of their pointer parameter; the corpus says how many 4-byte words. */
static bool gpu_case(const kernel_case *kernel, ts_arena *arena, diff_case *c)
{
    ts_error err;
    ts_module *m = NULL;
    *c = (diff_case){.name = kernel->name,
                     .n_buffers = kernel->n_buffers,
                     .n_ints = kernel->n_ints,
                     .tolerance = kernel->tolerance};
    CHECK_OK(ts_read_module(arena, kernel->text, strlen(kernel->text), &m, &err));
    if (!m)
        return false;
    c->fn = m->fns.at[0];
    memcpy(c->grid, kernel->grid, sizeof c->grid);
    for (uint32_t i = 0; i < kernel->n_buffers; i++) {
        ts_type elem = ts_type_get(m, ts_type_of(c->fn, i + 1))->elem;
        size_t n = (size_t)kernel->words * 32 / ts_type_bits(m, elem);
        c->buffer[i] = (diff_buffer){elem, n, kernel->fill[i] == 'z' ? 0 : i + 5, false, i == 0};
    }
    for (uint32_t i = 0; i < kernel->n_ints; i++)
        c->ints[i] = kernel->ints[i];
    return true;
}

static void the_corpus_means_the_same_at_thread_level(void)
{
    static const ts_target targets[] = {TS_TARGET_SM80, TS_TARGET_SM90, TS_TARGET_SM120};
    for (size_t i = 0; i < TS_COUNT(kernel_cases); i++) {
        ts_arena arena;
        diff_case c;
        ts_arena_init(&arena, NULL);
        for (size_t t = 0; t < 2 * TS_COUNT(targets) && gpu_case(&kernel_cases[i], &arena, &c); t++) {
            const char *passes = kernel_cases[i].needs_passes ? "math legalize" : "";
            diff_way way = {DIFF_SIMT, targets[t / 2], passes, t % 2 ? 7 : 1, NULL};
            char what[32];
            snprintf(what, sizeof what, "sm_%d", (int)targets[t / 2]);
            diff_check(&c, &way, what);
        }
        ts_arena_deinit(&arena);
    }
}

static void random_programs_mean_the_same_at_thread_level(void)
{
    static const char all[] = "fold dce licm legalize fold dce licm";
    static const diff_way ways[] = {{DIFF_SIMT, TS_TARGET_SM80, "", 1, NULL},
                                     {DIFF_SIMT, TS_TARGET_SM90, all, 7, "fold dce licm"},
                                     {DIFF_SIMT, TS_TARGET_SM90, all, 7, "fold dce licm", .ctas = 4}};
    static const char *const names[] = {"sm_80", "sm_90 after passes", "sm_90, clusters of 4"};
    gen_run_all(1, 60, NULL, ways, names, TS_COUNT(ways));
    gen_run_all(2000, 10, "math", ways, names, TS_COUNT(ways));
}

int main(void)
{
    random_programs_mean_the_same_at_thread_level();
    the_corpus_means_the_same_at_thread_level();
    return check_done();
}
