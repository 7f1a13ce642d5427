/* SPDX-License-Identifier: Apache-2.0
 *
 * Lowered kernels compute what the tile kernels mean: each kernel of kernels.h runs in the interpreter at tile
 * level and, after lowering, thread by thread in lock-step with races on shared memory reported, also with
 * each tile block shared by 4 and by 16 thread blocks of a cluster; the
 * outputs are compared bit for bit, or within the case's tolerance where the order of sums is free.
 */
#include "eval/eval.h"
#include "gpu/schedule/schedule.h"
#include "check.h"
#include "target/kernels.h"
#include <math.h>

static ts_error err;
enum { MAX_BUFFERS = 6, MAX_WORDS = 65536 };

static uint32_t random_word(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void fill(uint32_t *words, uint32_t n, char kind, uint32_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = random_word(&seed), y = random_word(&seed);
        float f = (float)(x % 2000) / 1000 - 1;
        double g = (double)(y % 2000) / 1000 - 1;
        if (kind != 'd')
            words[i] = 0;
        if (kind == 'f')
            memcpy(&words[i], &f, 4);
        else if (kind == 'n')
            words[i] = i < n / 2 ? 0x7fc00000u : 0x80000000u;
        else if (kind == 'h')
            words[i] = ts__f16_from_f64(f) | (uint32_t)ts__f16_from_f64(g) << 16;
        else if (kind == 'b')
            words[i] = ts__bf16_from_f64(f) | (uint32_t)ts__bf16_from_f64(g) << 16;
        else if (kind == 'i')
            words[i] = x % 1000;
        else if (kind == 'd' && i % 2 == 0)
            memcpy(&words[i], &g, 8);
        else if (kind == 'e') /* e5m2: exponents near 1, so that sums stay finite */
            words[i] = (x & 0x83838383u) | (0x3C3C3C3Cu ^ (y & 0x04040404u));
        else if (kind == 'c')
            words[i] = x << 8 ^ y;
    }
}

static double value_at(const uint32_t *words, uint32_t i, char kind)
{
    float f;
    double d = 0;
    memcpy(&f, &words[i], 4);
    if (kind == 'd' && i % 2 == 0)
        memcpy(&d, &words[i], 8);
    if (kind == 'd')
        return d;
    return kind == 'f' ? (double)f : kind == 'h' ? ts__f16_to_f64((uint16_t)words[i]) : (double)(int32_t)words[i];
}

static uint32_t differences(const kernel_case *c, const uint32_t *found, const uint32_t *wanted)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < c->words; i++) {
        double a = value_at(found, i, c->compare), b = value_at(wanted, i, c->compare);
        if (found[i] == wanted[i] || (c->tolerance > 0 && fabs(a - b) <= c->tolerance * (1 + fabs(b))))
            continue;
        if (wrong++ < 3)
            fprintf(stderr, "  %s: word %u is %g (%08x), wanted %g (%08x)\n", c->name, i, a, found[i], b, wanted[i]);
    }
    return wrong;
}

typedef struct run {
    uint32_t *buffer[MAX_BUFFERS];
    uint64_t params[16];
    uint32_t n;
} run;

static void run_begin(run *r, const kernel_case *c)
{
    r->n = 0;
    for (uint32_t i = 0; i < c->n_buffers; i++) {
        r->buffer[i] = aligned_alloc(64, MAX_WORDS * 4);
        memset(r->buffer[i], 0, MAX_WORDS * 4);
        fill(r->buffer[i], c->words, c->fill[i], 17 + i);
        r->params[r->n++] = (uint64_t)(uintptr_t)r->buffer[i];
    }
    for (uint32_t i = 0; i < c->n_ints; i++)
        r->params[r->n++] = (uint32_t)c->ints[i];
}

static void run_end(run *r, const kernel_case *c)
{
    for (uint32_t i = 0; i < c->n_buffers; i++)
        free(r->buffer[i]);
}

static ts_status run_tile(const kernel_case *c, run *r)
{
    ts_arena arena;
    ts_module *m = NULL;
    ts_eval_env env = {0};
    ts__arena_init(&arena, NULL);
    ts_status status = ts__module_read(&arena, c->text, strlen(c->text), &m, &err);
    if (status == TS_OK)
        status = ts__eval_grid(m->fns.at[0], r->params, r->n, c->grid, &env, &err);
    ts__arena_deinit(&arena);
    return status;
}

/* The grid that the launch of a plan asks for. */
static const uint32_t *run_grid(const kernel_case *c, const ts_plan *plan)
{
    static uint32_t grid[3];
    memcpy(grid, c->grid, sizeof grid);
    grid[0] *= plan->cluster ? plan->cluster : 1;
    return grid;
}

static ts_status run_threads(const kernel_case *c, ts_target target, bool passes, uint8_t ctas, run *r)
{
    ts_arena arena, scratch;
    ts_module *m = NULL;
    ts_text messages;
    ts_plan plan = {.target = (uint32_t)target};
    ts_hints hints = {0};
    ts_pass_env pass = {&scratch, target, &hints, &plan};
    ts_eval_env env = {.check_races = true};
    ts__arena_init(&arena, NULL);
    ts__arena_init(&scratch, NULL);
    ts__text_init(&messages, NULL);
    ts_status status = ts__module_read(&arena, c->text, strlen(c->text), &m, &err);
    if (status == TS_OK)
        m->fns.at[0]->num_ctas = ctas;
    if (status == TS_OK && passes)
        status = ts__run_passes(m->fns.at[0], "fold dce licm math legalize fold dce licm", &pass, &err);
    if (status == TS_OK)
        status = ts__lower_run(m->fns.at[0], &pass, &messages, &err);
    if (status == TS_OK && passes)
        status = ts__run_passes(m->fns.at[0], "dce licm", &pass, &err);
    if (status == TS_OK)
        status = ts__eval_simt(m->fns.at[0], &plan, r->params, r->n, run_grid(c, &plan), &env, &err);
    ts__text_deinit(&messages);
    ts__arena_deinit(&scratch);
    ts__arena_deinit(&arena);
    return status;
}

static void threads_compute_what_the_tile_kernel_means(const kernel_case *c, ts_target target,
                                                       bool passes, uint8_t ctas)
{
    run tile, threads;
    run_begin(&tile, c);
    run_begin(&threads, c);
    CHECK_OK(run_tile(c, &tile));
    CHECK_OK(run_threads(c, target, passes, ctas, &threads));
    uint32_t wrong = differences(c, threads.buffer[0], tile.buffer[0]);
    CHECK_INT(wrong, 0);
    if (wrong || err.text[0])
        fprintf(stderr, "  in %s for sm_%d, %u blocks%s\n", c->name, (int)target, ctas,
                passes ? ", after the passes" : "");
    run_end(&tile, c);
    run_end(&threads, c);
}

int main(int argc, char **argv)
{
    static const ts_target targets[] = {TS_TARGET_SM80, TS_TARGET_SM90};
    for (size_t i = 0; i < TS_COUNT(kernel_cases); i += check_step(3))
        for (size_t t = 0; t < TS_COUNT(targets); t++) {
            const kernel_case *c = &kernel_cases[i];
            if (argc > 1 && strcmp(argv[1], c->name) != 0)
                continue;
            if (!c->needs_passes)
                threads_compute_what_the_tile_kernel_means(c, targets[t], false, 1);
            threads_compute_what_the_tile_kernel_means(c, targets[t], true, 1);
            for (uint8_t ctas = 4; targets[t] >= TS_TARGET_SM90 && ctas <= 16; ctas *= 4)
                threads_compute_what_the_tile_kernel_means(c, targets[t], true, ctas);
        }
    return check_done();
}
