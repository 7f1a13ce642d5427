/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass runner (src/pass/pass.c): it asks for what a pass needs, and TS_BISECT leaves out what may be left out.
 */
#include "pass/pass.h"
#include "math/math.h"
#include "check.h"
#include <stdlib.h>

static const char source[] = "entry @k(%p: ptr<f32>, %x: f32, %y: f32) {\n"
                             "  %a = mulf %x, %y : f32\n"
                             "  %b = addf %a, %y : f32\n"
                             "  %c = exp %b : f32\n"
                             "  %t = store_ptr_tko %p, %c : token\n"
                             "  return\n"
                             "}\n";

static const ts_hints hints;
static ts_error err;

typedef struct kit {
    ts_arena arena, scratch;
    ts_fn *fn;
    ts_pass_env env;
} kit;

static void kit_begin(kit *k)
{
    ts_module *module = NULL;
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, NULL);
    ts__arena_init(&k->scratch, NULL);
    CHECK_OK(ts__module_read(&k->arena, source, strlen(source), &module, &err));
    k->fn = module->fns.at[0];
    k->env = (ts_pass_env){&k->scratch, TS_TARGET_SM90, &hints, NULL, TS_FORM_KNOWN | TS_FORM_SOURCE, 0};
}

static void kit_end(kit *k)
{
    ts__arena_deinit(&k->scratch);
    ts__arena_deinit(&k->arena);
}

static uint32_t kit_count(const kit *k, ts_op op)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < k->fn->inst.n; v++)
        n += ts_at(k->fn, v)->op == op;
    return n;
}

static void a_pass_whose_needs_are_not_met_is_refused(void)
{
    static const struct {
        const char *passes, *words;
    } cases[] = {
        {"fold legalize", "'legalize' needs @k in the form PLAIN (no math function is left"},
        {"math fma", "'fma' needs @k in the form SOURCE (each rounding is one that the source asks for)"},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        kit k;
        kit_begin(&k);
        CHECK_INT(ts__run_passes(k.fn, cases[i].passes, &k.env, &err), TS_INTERNAL);
        CHECK(strstr(err.text, cases[i].words) != NULL);
        kit_end(&k);
    }
}

static void forms_follow_the_passes(void)
{
    kit k;
    kit_begin(&k);
    CHECK_OK(ts__run_passes(k.fn, "fold fma dce | math", &k.env, &err)); /* what follows a bar is not run */
    CHECK_INT(k.env.forms, TS_FORM_KNOWN | TS_FORM_SOURCE);
    CHECK_OK(ts__run_passes(k.fn, "math legalize fold", &k.env, &err));
    CHECK_INT(k.env.forms, TS_FORM_KNOWN | TS_FORM_PLAIN | TS_FORM_LEGAL);
    CHECK_OK(ts__pass_needs(k.fn, &k.env, TS_FORM_LEGAL, "lower", &err));
    CHECK(!ts__math_is_left(k.fn));
    kit_end(&k);
}

static void bisecting_leaves_out_optimisations_only(void)
{
    for (uint32_t n = 0; n < 4; n++) {
        kit k;
        char text[4];
        snprintf(text, sizeof text, "%u", n);
        CHECK_INT(setenv("TS_BISECT", text, 1), 0);
        kit_begin(&k);
        CHECK_OK(ts__run_passes(k.fn, "fold fma dce", &k.env, &err));
        CHECK_INT(kit_count(&k, TS_OP_fma), n >= 2);
        CHECK_INT(kit_count(&k, TS_OP_mulf), n < 3); /* a product without a user, until dce */
        CHECK_OK(ts__run_passes(k.fn, "math", &k.env, &err));
        CHECK_INT(kit_count(&k, TS_OP_exp), 0);
        CHECK_INT(k.env.n_steps, 3);
        kit_end(&k);
    }
    CHECK_INT(unsetenv("TS_BISECT"), 0);
}

int main(void)
{
    a_pass_whose_needs_are_not_met_is_refused();
    forms_follow_the_passes();
    bisecting_leaves_out_optimisations_only();
    return check_done();
}
