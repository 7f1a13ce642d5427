/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of threads through the whole compiler: what the plan says of them, what is refused, that every optimisation
 * may be left out, that memory may run out anywhere, and what the short builders of tessera/ir.h make.
 * What they compute: tests/eval/simt.c and tests/fuzz/tiles/threads.py; their PTX: tests/golden/threads.
 */
#include "base/base.h"
#include "tessera/compile.h"
#include "tessera/ir.h"
#include "check.h"
#include "failing.h"
#include <stdlib.h>

static ts_error err;

static ts_status compile(const char *text, ts_target target, const ts_alloc *alloc, ts_code *code)
{
    return ts_compile_text(text, strlen(text), NULL, target, alloc, code, &err);
}

static const char moving[] = "thread entry @k(%from: ptr<f32>, %to: ptr<f32>, %no: ptr<f32>, %n: i32) num_warps=4 {\n"
                             "  %own = shared_alloc bytes=520 align=16 : ptr<f32, shared>\n"
                             "  %unused = shared_alloc bytes=4096 align=16 : ptr<f32, shared>\n"
                             "  %dynamic = shared offset=32 : ptr<f32, shared>\n"
                             "  %t = sreg tid.x : i32\n"
                             "  %p = offset %from, %t : ptr<f32>\n"
                             "  %s = offset %own, %t : ptr<f32, shared>\n"
                             "  cp_async bytes=4 %s, %p\n"
                             "  cp_async_commit\n"
                             "  cp_async_wait\n"
                             "  bar_sync\n"
                             "  %x = ld n=1 %s : f32\n"
                             "  %y = mulf %x, %x : f32\n"
                             "  %z = addf %y, %x : f32\n"
                             "  %e = fn cbrt %z : f32\n"
                             "  %d = offset %dynamic, %t : ptr<f32, shared>\n"
                             "  st n=1 %d, %e\n"
                             "  %q = offset %to, %t : ptr<f32>\n"
                             "  st n=1 %q, %e\n"
                             "  return\n"
                             "}\n";

static void the_plan_says_what_a_launch_must_know(void)
{
    ts_code code;
    CHECK_OK(compile(moving, TS_TARGET_SM90, NULL, &code));
    const ts_plan *plan = &code.plan;
    CHECK(plan->thread_kernel == 1 && plan->threads == 128 && plan->n_params == 4);
    CHECK_INT(plan->shared_bytes, 528); /* what nobody uses takes no room; dynamic memory begins at 16 bytes */
    CHECK_INT(plan->reads[0], 1); /* cp_async reads the first array */
    CHECK_INT(plan->writes[0], 2);
    CHECK(strstr((char *)code.bytes, ".maxntid 128, 1, 1") && strstr((char *)code.bytes, "smem+560"));
    CHECK(strstr((char *)code.bytes, "fma.rn.f32"));
    ts_code_deinit(&code);
}

static void what_cannot_be_compiled_is_named(void)
{
    static const struct {
        const char *text;
        ts_target target;
        ts_status status;
        const char *words;
    } cases[] = {
        {"thread entry @k() num_warps=1 {\n  tma_prefetch map=0\n  return\n}\n", TS_TARGET_CPU, TS_UNSUPPORTED,
         "kernel 'k': 'tma_prefetch' is not compiled for the CPU; launch the kernel on a GPU, or do without it"},
        {"thread entry @k() {\n  return\n}\n", TS_TARGET_CPU, TS_VALUE,
         "kernel 'k' is written for threads, found a block of (0, 0, 0): say how many threads a block has, 1 to 1024"},
        {"thread entry @k() num_warps=1 {\n"
         "  %s = shared_alloc bytes=17000000 align=4 : ptr<f32, shared>\n"
         "  %x = ld volatile n=1 %s : f32\n  return\n}\n",
         TS_TARGET_CPU, TS_UNSUPPORTED,
         "17000000 bytes of static and 0 of dynamic shared memory are more than a block can have"},
        {"thread entry @k(%p: ptr<f32>) {\n  %s = shared_alloc bytes=200000 align=4 : ptr<f32, shared>\n"
         "  %x = ld n=1 %s : f32\n  st n=1 %p, %x\n  return\n}\n",
         TS_TARGET_SM80, TS_UNSUPPORTED, "needs 200000 bytes of shared memory, sm_80 has 166912; use smaller arrays"},
        {"thread entry @k(%p: ptr<f32>) {\n  %s = shared_alloc bytes=4000000000 align=4 : ptr<f32, shared>\n"
         "  %x = ld n=1 %s : f32\n  st n=1 %p, %x\n  return\n}\n",
         TS_TARGET_SM90, TS_UNSUPPORTED, "asks for more than 16777216 bytes of static shared memory (4000000000 of"},
        {"thread entry @k(%p: ptr<f32>) {\n  %s = shared offset=16777217 : ptr<f32, shared>\n"
         "  %x = ld n=1 %s : f32\n  st n=1 %p, %x\n  return\n}\n", /* and no static memory */
         TS_TARGET_SM90, TS_UNSUPPORTED, "offset 16777217 in dynamic shared memory is more than a block can have"},
        {"thread entry @k() {\n  %s = shared_alloc bytes=64 align=2048 : ptr<f32, shared>\n  return\n}\n",
         TS_TARGET_SM90, TS_VERIFY, "aligned to at most 1024 bytes"},
        {"thread entry @k() {\n  %s = shared_alloc bytes=64 align=4 : ptr<f32>\n  return\n}\n",
         TS_TARGET_SM90, TS_VERIFY, "shared_alloc gives a shared pointer"},
        {"thread entry @k() num_warps=33 {\n  return\n}\n", TS_TARGET_SM90, TS_VERIFY, "more than the 32 of a block"},
        {"thread entry @k() {\n  cluster_wait\n  return\n}\n", TS_TARGET_SM80, TS_UNSUPPORTED, "needs sm_90"},
        {"thread entry @k() {\n  tma_prefetch map=0\n  return\n}\n", TS_TARGET_SM90, TS_VERIFY, ""},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        ts_code code;
        ts_status status = compile(cases[i].text, cases[i].target, NULL, &code);
        CHECK(status != TS_OK && (status == cases[i].status || !*cases[i].words));
        if (!strstr(err.text, cases[i].words))
            fprintf(stderr, "case %zu: %s\n", i, err.text);
        CHECK(strstr(err.text, cases[i].words) != NULL);
    }
}

static ts_status interpret(const char *text, float *x, float *y, const uint32_t block[3], ts_target target)
{
    static float other[1];
    uint64_t params[] = {(uintptr_t)x, (uintptr_t)y, (uintptr_t)other, 100};
    ts_interpret run = {.params = params, .n_params = 4, .grid = {1, 1, 1}, .shared_bytes = 32 + 512, .target = target};
    memcpy(run.block, block, sizeof run.block);
    return ts_interpret_text(text, strlen(text), NULL, &run, &err);
}

/* TS_BISECT=n leaves out all but the first n optimisations: the result stays (x^2 + x is exact here). */
static void every_optimisation_may_be_left_out(void)
{
    float x[128], want[128], got[128];
    bool fewer = false;
    for (int i = 0; i < 128; i++)
        x[i] = (float)i;
    CHECK_OK(interpret(moving, x, want, (uint32_t[3]){128, 1, 1}, (ts_target)0));
    CHECK(want[0] == 0 && want[2] > 1.817f && want[2] < 1.818f);
    for (int n = 0; n < 10; n++) {
        char text[4];
        ts_code code;
        snprintf(text, sizeof text, "%d", n);
        CHECK_INT(setenv("TS_BISECT", text, 1), 0);
        memset(got, 0, sizeof got);
        CHECK_OK(interpret(moving, x, got, (uint32_t[3]){128, 1, 1}, TS_TARGET_SM90));
        CHECK(memcmp(got, want, sizeof want) == 0);
        CHECK_OK(compile(moving, TS_TARGET_SM90, NULL, &code));
        fewer |= code.plan.shared_bytes > 528; /* without dce the unused array stays */
        ts_code_deinit(&code);
    }
    CHECK_INT(unsetenv("TS_BISECT"), 0);
    CHECK(fewer);
}

static void the_interpreter_wants_a_block_and_finds_races(void)
{
    static const char racing[] = "thread entry @k(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %n: i32) {\n"
                                 "  %s = shared_alloc bytes=512 align=4 : ptr<i32, shared>\n"
                                 "  %t = sreg tid.x : i32\n"
                                 "  %l = constant 127 : i32\n"
                                 "  %u = subi %l, %t : i32\n"
                                 "  %p = offset %s, %t : ptr<i32, shared>\n"
                                 "  %q = offset %s, %u : ptr<i32, shared>\n"
                                 "  st n=1 %p, %t\n"
                                 "  %x = ld n=1 %q : i32\n"
                                 "  st n=1 %a, %x\n"
                                 "  return\n"
                                 "}\n";
    float x[128] = {0}, y[128];
    CHECK_INT(interpret(moving, x, y, (uint32_t[3]){0, 0, 0}, (ts_target)0), TS_VALUE);
    CHECK(strstr(err.text, "threads; 1 to 1024 are possible"));
    CHECK_INT(interpret(racing, x, y, (uint32_t[3]){128, 1, 1}, (ts_target)0), TS_LAUNCH);
    CHECK(strstr(err.text, "race: warp"));
    CHECK_INT(interpret("entry @k(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %n: i32) {\n  return\n}\n", x, y,
                        (uint32_t[3]){32, 1, 1}, TS_TARGET_CPU), TS_VALUE);
    CHECK(strstr(err.text, "not CPU code"));
}

/* As it is written, and as the tile function that code for the CPU is made of. */
static void the_cpu_gets_the_same_in_lock_step(void)
{
    float x[128], want[128], got[128];
    for (int i = 0; i < 128; i++)
        x[i] = (float)i / 4;
    CHECK_OK(interpret(moving, x, want, (uint32_t[3]){128, 1, 1}, (ts_target)0));
    CHECK_OK(interpret(moving, x, got, (uint32_t[3]){128, 1, 1}, TS_TARGET_CPU));
    CHECK(memcmp(got, want, sizeof want) == 0);
}

static void memory_may_run_out_anywhere(void)
{
    ts_status status = TS_NOMEM;
    int n = 0;
    for (; status != TS_OK && n < 5000; n++) {
        failing f = {.fail_at = n, .forever = n % 2};
        const ts_alloc alloc = {failing_resize, &f};
        ts_code code;
        status = compile(moving, TS_TARGET_SM90, &alloc, &code);
        CHECK(status == TS_OK || status == TS_NOMEM);
        if (status == TS_OK)
            ts_code_deinit(&code);
        CHECK_INT(f.bytes, 0);
    }
    CHECK(n > 20 && n < 5000);
}

/* ---- the builder ------------------------------------------------------------------------------------------------ */

/* Both levels ask for blocks by the same names. */
static void blocks_are_asked_for_at_both_levels(void)
{
    static const ts_level levels[] = {TS_LEVEL_T, TS_LEVEL_S};
    static const char *const wanted[] = {"get_num_tile_blocks axis=2", "sreg nctaid.z"};
    for (size_t i = 0; i < TS_COUNT(levels); i++) {
        ts_module *m;
        ts_builder *b;
        char *text;
        size_t n;
        CHECK_OK(ts_module_create(NULL, &m, &err));
        CHECK_OK(ts_builder_create(ts_fn_create(m, "k", levels[i]), &b, &err));
        ts_op2(b, TS_OP_addi, ts_block_id(b, 1), ts_num_blocks(b, 2), 0);
        ts_term(b, TS_OP_return, 0, NULL);
        CHECK_OK(ts_module_verify(m, &err));
        CHECK_OK(ts_module_print(m, NULL, &text, &n, &err));
        CHECK(strstr(text, wanted[i]) != NULL);
        ts_alloc_default()->resize(ts_alloc_default()->user, text, n + 1, 0);
        ts_builder_destroy(b);
        ts_module_destroy(m);
    }
}

static void build_all(ts_builder *b, ts_val out)
{
    ts_val t = ts_thread_id(b, 0), one = ts_int(b, TS_T_i32, 1), zero = ts_int(b, TS_T_i32, 0);
    ts_val dynamic = ts_shared_dynamic(b, TS_T_i32, 16), local = ts_local_array(b, TS_T_i32, 4);
    ts_val mine = ts_element(b, dynamic, t), odd = ts_cast(b, TS_OP_trunci, t, TS_T_i1, 0);
    ts_store(b, mine, t, 0);
    ts_store(b, local, one, 0);
    ts_warp_sync(b);
    ts_memory_fence(b, TS_FENCE_CTA);
    ts_val left = ts_warp_shuffle(b, TS_SHFL_UP, t, one);            /* t - 1, the first lane its own */
    ts_val found = ts_atomic_cas(b, mine, t, left, 0);               /* t */
    ts_val votes = ts_warp_vote(b, TS_VOTE_BALLOT, odd);             /* 0xAAAAAAAA */
    ts_val swapped = ts_atomic(b, TS_RMW_XCHG, mine, votes, 0);      /* left */
    ts_val other = ts_load_if(b, local, odd, zero, 0);               /* 1 in odd lanes */
    ts_val place = ts_op2(b, TS_OP_muli, t, ts_int(b, TS_T_i32, 4), 0);
    ts_val values[] = {found, swapped, other, ts_load(b, mine, TS_CACHE_VOLATILE)};
    for (int i = 0; i < 4; i++) {
        ts_val at = ts_op2(b, TS_OP_addi, place, ts_int(b, TS_T_i32, i), 0);
        ts_store_if(b, ts_element(b, out, at), values[i], ts_cmp(b, TS_OP_cmpi, TS_LT, ts_lane_id(b),
                                                                ts_num_threads(b, 0), 0), 0);
    }
    ts_term(b, TS_OP_return, 0, NULL);
}

static void short_builders_make_what_they_say(void)
{
    static int32_t out[32 * 4];
    ts_module *m;
    ts_builder *b;
    char *text;
    size_t n;
    CHECK_OK(ts_module_create(NULL, &m, &err));
    CHECK_OK(ts_builder_create(ts_fn_create(m, "k", TS_LEVEL_S), &b, &err));
    build_all(b, ts_fn_param(b, ts_type_ptr(m, TS_T_i32, TS_GLOBAL)));
    CHECK_OK(ts_builder_status(b, &err));
    CHECK_OK(ts_module_verify(m, &err));
    CHECK_OK(ts_module_print(m, NULL, &text, &n, &err));
    for (int target = 0; target <= 90; target += 90) {
        uint64_t params[] = {(uintptr_t)out};
        ts_interpret run = {.params = params, .n_params = 1, .grid = {1, 1, 1}, .block = {32, 1, 1},
                            .shared_bytes = 16 + 128, .target = (uint32_t)target};
        memset(out, 0, sizeof out);
        CHECK_OK(ts_interpret_text(text, n, "k", &run, &err));
        for (int32_t t = 0; t < 32; t++) {
            CHECK(out[4 * t] == t && out[4 * t + 1] == (t ? t - 1 : 0) && out[4 * t + 2] == (t & 1));
            CHECK_INT((uint32_t)out[4 * t + 3], 0xAAAAAAAAu);
        }
    }
    ts_alloc_default()->resize(ts_alloc_default()->user, text, n + 1, 0);
    ts_builder_destroy(b);
    ts_module_destroy(m);
}

/* An axis beyond z: nothing else is made of it, the verifier names it. */
static void what_builders_cannot_make_is_refused(void)
{
    static const char *const words[] = {"kind 255 of sreg does not exist", "kind 255 of sreg does not exist",
                                        "kind 255 of sreg does not exist", "kind 255 of sreg does not exist"};
    for (size_t i = 0; i < TS_COUNT(words); i++) {
        ts_module *m;
        ts_builder *b;
        CHECK_OK(ts_module_create(NULL, &m, &err));
        CHECK_OK(ts_builder_create(ts_fn_create(m, "k", TS_LEVEL_S), &b, &err));
        ts_val made = i == 0   ? ts_thread_id(b, 3)
                      : i == 1 ? ts_num_threads(b, 3)
                      : i == 2 ? ts_block_id(b, UINT32_MAX)
                               : ts_num_blocks(b, 3);
        CHECK(made != 0);
        ts_term(b, TS_OP_return, 0, NULL);
        CHECK_INT(ts_module_verify(m, &err), TS_VERIFY);
        CHECK(strstr(err.text, words[i]) != NULL);
        ts_builder_destroy(b);
        ts_module_destroy(m);
    }
}

int main(void)
{
    the_plan_says_what_a_launch_must_know();
    what_cannot_be_compiled_is_named();
    every_optimisation_may_be_left_out();
    the_interpreter_wants_a_block_and_finds_races();
    the_cpu_gets_the_same_in_lock_step();
    memory_may_run_out_anywhere();
    blocks_are_asked_for_at_both_levels();
    short_builders_make_what_they_say();
    what_builders_cannot_make_is_refused();
    return check_done();
}
