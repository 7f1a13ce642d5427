/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, for every n until nothing fails any more, over reading, verifying,
 * facts, passes and printing: each step says TS_NOMEM or works, and nothing leaks or crashes (run
 * under ASan). */
#include "ir/text.h"
#include "pass/facts.h"
#include "pass/pass.h"
#include "check.h"
#include "failing.h"

static ts_error err;

static char *walk_load(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 17);
    *n = file && text ? fread(text, 1, (1 << 17) - 1, file) : 0;
    if (file)
        fclose(file);
    char *expect = text ? strstr(text, "// EXPECT") : NULL; /* the input only */
    if (expect)
        *n = (size_t)(expect - text);
    return text;
}

static ts_status walk_fn(ts_fn *fn, const ts_alloc *alloc, ts_plan *plan)
{
    ts_arena scratch;
    ts_facts facts;
    ts_hints hints = {0};
    ts__arena_init(&scratch, alloc);
    ts_pass_env env = {&scratch, TS_TARGET_CPU, &hints, plan};
    ts_status status = ts__facts_of(fn, &scratch, &facts) ? TS_OK : TS_NOMEM;
    if (status == TS_OK)
        status = ts__run_passes(fn, fn->level == TS_LEVEL_T ? "inline fold fma dce licm" : "inline fold dce licm",
                               &env, &err);
    ts__arena_deinit(&scratch);
    return status;
}

static ts_status walk_module(const char *source, size_t n, const ts_alloc *alloc, ts_arena *arena,
                             ts_plan *plan)
{
    ts_module *m;
    ts_text text;
    TS_TRY(ts__module_read(arena, source, n, &m, &err));
    TS_TRY(ts_module_verify(m, &err));
    for (uint32_t i = 0; i < m->fns.n; i++)
        TS_TRY(walk_fn(m->fns.at[i], alloc, plan));
    ts__text_init(&text, alloc);
    ts__print_module(m, TS_PRINT_LOC, &text);
    ts_status status = text.failed ? TS_NOMEM : TS_OK;
    ts__text_deinit(&text);
    return status;
}

static void every_allocation_may_fail(const char *path, bool forever)
{
    size_t n;
    char *source = walk_load(path, &n);
    static ts_plan plan;
    CHECK(n > 0);
    for (int at = 0; at < 100000; at++) {
        failing f = {.fail_at = at, .forever = forever};
        ts_alloc alloc = {failing_resize, &f};
        ts_arena arena;
        ts__arena_init(&arena, &alloc);
        ts_status status = walk_module(source, n, &alloc, &arena, &plan);
        ts__arena_deinit(&arena);
        bool untouched = f.count <= at;
        CHECK_INT(status, untouched ? TS_OK : TS_NOMEM);
        if (check_failed)
            fprintf(stderr, "%s, allocation %d: %s\n", path, at, err.text);
        CHECK_INT(f.bytes, 0);
        if (untouched || check_failed)
            break;
    }
    free(source);
}

int main(void)
{
    static const char *const files[] = {
        "tests/golden/ir/every_op.tsir", "tests/golden/pass/fold/branches.tsir",
        "tests/golden/pass/licm/nest.tsir", "tests/golden/pass/dce/regions.tsir",
        "tests/golden/pass/inline/nested.tsir"};
    for (size_t i = 0; i < TS_COUNT(files); i++) {
        every_allocation_may_fail(files[i], false);
        every_allocation_may_fail(files[i], true);
    }
    return check_done();
}
