/* SPDX-License-Identifier: Apache-2.0
 *
 * The object loader on damaged bytes, and that every tile operation has code on the CPU target.
 */
#include "target/llvm_run.h"

/* A kernel with constants, calls and a loop: all kinds of relocations that we make. */
static ts_status object_of(run *r, ts_code *code)
{
    int64_t n = 100, tile = 64;
    ts_plan plan = {0};
    ts_pass_env env = {&r->arena, TS_TARGET_CPU, NULL, &plan};
    ts_llvm_options options = {.level = 2};
    ts_val a = run_array(r, TS_T_f32, n), id = run_id(r, 0);
    ts_type type = run_tile(r, TS_T_f32, 1, &tile);
    ts_val view = run_view(r, a, TS_T_f32, 1, &n, &tile), x = run_load(r, view, type, 1, &id);
    run_store(r, view, ts_op2(&r->b, TS_OP_addf, x, ts_float(&r->b, type, 0.3), 0), 1, &id);
    ts_term(&r->b, TS_OP_return, 0, NULL);
    *code = (ts_code){.alloc = ts_alloc_default()};
    return ts__llvm_target(r->fn, &env, &r->host, &options, code, &r->err);
}

/* Loads bytes as they are; true when refused or loaded without a crash. */
static bool survives(const uint8_t *bytes, size_t n, uint32_t *refused)
{
    ts_error err;
    void *image;
    size_t image_bytes;
    ts_cpu_entry *entry;
    ts_status status = ts__object_load(bytes, n, "kernel", &image, &image_bytes, &entry, &err);
    *refused += status != TS_OK;
    if (status == TS_OK)
        ts__object_unload(image, image_bytes);
    return status == TS_OK ? entry != NULL : entry == NULL && image == NULL;
}

static void damaged_objects_are_refused_or_load(void)
{
    run r;
    ts_code code;
    uint32_t refused = 0, good = 0, bad = 0, seed = 1;
    run_begin(&r);
    CHECK(object_of(&r, &code) == TS_OK);
    uint8_t *copy = malloc(code.n_bytes + 8);
    for (size_t cut = 0; cut < code.n_bytes; cut += 7) {
        memcpy(copy, code.bytes, cut);
        bad += !survives(copy, cut, &refused);
    }
    CHECK(refused > 0);
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, code.bytes, code.n_bytes);
        for (int k = 0; k < 1 + i % 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % code.n_bytes] = (uint8_t)(seed >> 3 & 1 ? 0xFF : seed >> 24);
        }
        bad += !survives(copy, code.n_bytes, &good);
    }
    CHECK_INT(bad, 0);
    CHECK(good > 100 && good < 20000);
    free(copy);
    free(code.bytes);
    run_end(&r);
}

static void names_not_in_the_object_are_reported(void)
{
    run r;
    ts_code code;
    void *image;
    size_t n;
    ts_cpu_entry *entry;
    run_begin(&r);
    CHECK(object_of(&r, &code) == TS_OK);
    CHECK(ts__object_load(code.bytes, code.n_bytes, "other", &image, &n, &entry, &r.err) == TS_PARSE);
    CHECK_STR(r.err.text, "object file has no entry 'other'");
    free(code.bytes);
    run_end(&r);
}

/* Code for each tile-level operation: walked, made at its uses, or rewritten before by a pass (inline, math, complex).
 */
static void every_tile_operation_has_a_place(void)
{
    for (int op = 1; op < TS_OP_COUNT; op++) {
        bool rewritten = op == TS_OP_call || ts__ops[op].flags & TS_WRITTEN ||
                         (op >= TS_OP_make_complex && op <= TS_OP_imag);
        if (!(ts__ops[op].level & TS_LEVEL_T) || rewritten)
            continue;
        if (!ts__llvm_has_op((ts_op)op))
            fprintf(stderr, "the CPU target has no code for '%s'\n", ts__ops[op].name);
        CHECK(ts__llvm_has_op((ts_op)op));
    }
}

static void large_outputs_are_complete(void)
{
    run r;
    ts_code code = {.alloc = ts_alloc_default()};
    int64_t n = 5 << 20, tile = 1024;
    ts_plan plan = {0};
    ts_llvm_options options = {.level = 2};
    ts_cpu_entry *entry;
    void *image;
    size_t bytes;
    run_begin(&r);
    ts_pass_env env = {&r.arena, TS_TARGET_CPU, NULL, &plan};
    ts_val a = ts_fn_param(&r.b, ts_type_ptr(r.m, TS_T_i32, TS_GLOBAL)), id = run_id(&r, 0);
    ts_type type = run_tile(&r, TS_T_i32, 1, &tile);
    ts_val i = ts_emit(&r.b, TS_OP_iota, type, 0, NULL, 0, 0);
    ts_val base = ts_op2(&r.b, TS_OP_muli, id, ts_int(&r.b, TS_T_i32, tile), 0);
    run_store(&r, run_view(&r, a, TS_T_i32, 1, &n, &tile),
              ts_op2(&r.b, TS_OP_addi, i, ts_broadcast(&r.b, base, type), 0), 1, &id);
    ts_term(&r.b, TS_OP_return, 0, NULL);
    CHECK(ts__llvm_target(r.fn, &env, &r.host, &options, &code, &r.err) == TS_OK);
    CHECK(ts__object_load(code.bytes, code.n_bytes, "kernel", &image, &bytes, &entry, &r.err) == TS_OK);
    int32_t *out = aligned_alloc(64, (size_t)n * 4);
    void *memory = aligned_alloc(64, plan.scratch_bytes + 64);
    ts_cpu_env cpu = {.attention = &(_Atomic uint32_t){0}};
    entry((uint64_t[]){(uint64_t)(uintptr_t)out}, (uint32_t[]){(uint32_t)(n / tile), 1, 1}, 0, n / tile, memory, &cpu);
    int64_t wrong = 0;
    for (int64_t k = 0; k < n; k++)
        wrong += out[k] != k;
    CHECK_INT(wrong, 0);
    ts__object_unload(image, bytes);
    free(memory);
    free(out);
    free(code.bytes);
    ts__arena_deinit(&r.arena);
}

/* ---- out of memory ------------------------------------------------------------------------------*/

typedef struct failing {
    uint64_t left; /* allocations until it fails */
} failing;

static void *failing_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    failing *f = user;
    if (new_bytes && f->left-- == 0) {
        f->left = 0;
        return NULL;
    }
    return ts_alloc_default()->resize(NULL, block, old_bytes, new_bytes);
}

/* A function with most of the generator in it: staging, loops, a product, a reduction, homes. */
static void build_much(run *r)
{
    ts_builder *b = &r->b;
    int64_t n[] = {100, 100}, tile[] = {32, 32}, line[] = {32};
    ts_type type = run_tile(r, TS_T_f32, 2, tile), row = run_tile(r, TS_T_f32, 1, line);
    ts_val a = run_array(r, TS_T_f32, 10000), c = run_array(r, TS_T_f32, 10000), id[] = {run_id(r, 0), run_id(r, 1)};
    ts_val x = run_load(r, run_view(r, a, TS_T_f32, 2, n, tile), type, 2, id), zero = ts_int(b, TS_T_i32, 0);
    ts_val o = ts_for_begin(b, zero, ts_int(b, TS_T_i32, 3), ts_int(b, TS_T_i32, 1), 1, &x, 0);
    ts_val t[] = {x, ts_permute(b, ts_region_arg(r->fn, o, 1), (uint32_t[]){1, 0}), ts_region_arg(r->fn, o, 1)};
    ts_val y = ts_emit(b, TS_OP_mmaf, type, 3, t, 0, 0);
    ts_term(b, TS_OP_continue, 1, &y);
    ts_end_like(b, o);
    ts_val z = ts_res(b, o, 0), s = ts_reduce_begin(b, TS_OP_reduce, 1, false, 1, &z, (uint64_t[]){0});
    ts_val sum = ts_op2(b, TS_OP_addf, ts_region_arg(r->fn, s, 0), ts_region_arg(r->fn, s, 1), 0);
    ts_term(b, TS_OP_yield, 1, &sum);
    ts_end(b, s, 1, &row);
    ts_val w = ts_broadcast(b, ts_reshape(b, ts_res(b, s, 0), run_tile(r, TS_T_f32, 2, (int64_t[]){32, 1})), type);
    run_store(r, run_view(r, c, TS_T_f32, 2, n, tile), ts_op2(b, TS_OP_divf, z, w, 0), 2, id);
    ts_term(b, TS_OP_return, 0, NULL);
}

static void running_out_of_memory_is_an_error(void)
{
    run r;
    run_begin(&r);
    build_much(&r);
    ts_status status = TS_NOMEM;
    uint64_t n = 0;
    for (; status == TS_NOMEM && n < 100000; n++) {
        failing f = {n};
        ts_alloc alloc = {failing_resize, &f};
        ts_arena scratch;
        ts_text text;
        ts_plan plan = {0};
        ts_pass_env env = {&scratch, TS_TARGET_CPU, NULL, &plan};
        ts__arena_init(&scratch, &alloc);
        ts__text_init(&text, &alloc);
        status = ts__llvm_text(r.fn, &env, &r.host, &text, NULL, &r.err);
        ts__text_deinit(&text);
        ts__arena_deinit(&scratch);
    }
    CHECK_INT(status, TS_OK);
    CHECK(n > 10);
    run_end(&r);
}

int main(void)
{
    running_out_of_memory_is_an_error();
    damaged_objects_are_refused_or_load();
    names_not_in_the_object_are_reported();
    every_tile_operation_has_a_place();
    large_outputs_are_complete();
    return check_done();
}
