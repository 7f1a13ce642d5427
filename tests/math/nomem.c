/* SPDX-License-Identifier: Apache-2.0
 *
 * math and legalize when memory runs out at the n-th request, for every n until they succeed: an error, never
 * a crash.
 */
#include "check.h"
#include "pass/pass.h"

typedef struct failing {
    ts_alloc alloc;
    uint32_t left; /* requests that still succeed */
} failing;

static void *failing_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    failing *f = user;
    const ts_alloc *real = ts_alloc_default();
    if (new_bytes && !f->left)
        return NULL;
    f->left -= new_bytes != 0;
    return real->resize(real->user, block, old_bytes, new_bytes);
}

/* sin, pow, a directed addition and a division by a constant, rewritten. */
static ts_status rewrite_all(ts_arena *arena, ts_arena *scratch, ts_target target, ts_error *err)
{
    static const ts_hints hints = {0};
    ts_module *m = ts__module_create(arena);
    ts_fn *fn = m ? ts_fn_create(m, "f", TS_LEVEL_T) : NULL;
    if (!fn)
        return ts_fail(err, TS_NOMEM, "no function");
    ts_builder b;
    ts__builder_init(&b, fn);
    ts_val x = ts_fn_param(&b, TS_T_f64), i = ts_fn_param(&b, TS_T_i32);
    ts_val y = ts_op2(&b, TS_OP_pow, ts_op1(&b, TS_OP_sin, x, 0), x, 0);
    ts_op2(&b, TS_OP_mulf, y, x, TS_RM);
    ts_op2(&b, TS_OP_divi, i, ts_int(&b, TS_T_i32, 7), 0);
    ts_term(&b, TS_OP_return, 0, NULL);
    TS_TRY(ts_builder_status(&b, err));
    ts_pass_env env = {scratch, target, &hints, NULL};
    TS_TRY(ts__pass_math(fn, &env, err));
    return ts__pass_legalize(fn, &env, err);
}

static void every_failed_request_is_an_error(ts_target target)
{
    ts_status status = TS_NOMEM;
    for (uint32_t n = 0; status != TS_OK && n < 1000; n++) {
        failing f = {{failing_resize, &f}, n};
        ts_arena arena, scratch;
        ts_error err = {0};
        ts__arena_init(&arena, &f.alloc);
        ts__arena_init(&scratch, &f.alloc);
        status = rewrite_all(&arena, &scratch, target, &err);
        CHECK(status == TS_OK || status == TS_NOMEM);
        ts__arena_deinit(&scratch);
        ts__arena_deinit(&arena);
    }
    CHECK(status == TS_OK);
}

int main(void)
{
    every_failed_request_is_an_error(TS_TARGET_CPU);
    every_failed_request_is_an_error(TS_TARGET_SM90);
    return check_done();
}
