/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass runner: runs passes by name over a function, checks what each needs, and in debug builds what
 * it leaves: the function verifies, and is in the forms that its row says. Passes themselves are one file each,
 * listed in pass.def. The environment variables are described in pass.h; a value that means nothing is refused.
 */
#include "pass/pass.h"
#include "math/math.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum pass_kind { PASS_MAY, PASS_MUST } pass_kind;

typedef struct pass_row {
    const char *name;
    ts_level level;
    pass_kind kind;
    uint32_t needs, makes, keeps; /* TS_FORM_ bits */
    ts_pass_fn *run;
} pass_row;

/* The letters and words of pass.def. */
enum {
    B = TS_LEVEL_B, T = TS_LEVEL_T, S = TS_LEVEL_S,
    MAY = PASS_MAY, MUST = PASS_MUST,
    SOURCE = TS_FORM_SOURCE, PLAIN = TS_FORM_PLAIN, LEGAL = TS_FORM_LEGAL
};

static const pass_row pass_rows[] = {
#define TS_PASS(name, level, kind, needs, makes, keeps, doc)                                                           \
    {#name, (ts_level)level, (pass_kind)kind, needs, makes, keeps, ts__pass_##name},
#include "pass/pass.def"
};

static const pass_row *pass_find(const char *name, size_t n)
{
    for (size_t i = 0; i < TS_COUNT(pass_rows); i++)
        if (strlen(pass_rows[i].name) == n && memcmp(pass_rows[i].name, name, n) == 0)
            return &pass_rows[i];
    return NULL;
}

/* The name stands in a list separated by commas, or the list is "all". */
static bool pass_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    if (!list)
        return false;
    if (strcmp(list, "all") == 0)
        return true;
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == 0))
            return true;
    return false;
}

/* Refuses a variable that names what is no pass; `what` says what it takes. */
static ts_status pass_variable(const char *variable, const char *separators, const char *what, ts_error *err)
{
    const char *value = getenv(variable);
    if (!value || (*separators && strcmp(value, "all") == 0))
        return TS_OK;
    for (const char *at = value; *at;) {
        size_t n = *separators ? strcspn(at, separators) : strlen(at);
        if (!pass_find(at, n)) {
            ts_text names;
            ts__text_init(&names, NULL);
            for (size_t i = 0; i < TS_COUNT(pass_rows); i++)
                ts__text_printf(&names, "%s%s", i ? ", " : "", pass_rows[i].name);
            (void)ts_fail(err, TS_VALUE, "%s=%.200s: there is no pass '%.*s'; it takes %s%s", variable, value,
                          (int)TS_MIN(n, (size_t)100), at, what, ts__text_get(&names));
            ts__text_deinit(&names);
            return TS_VALUE;
        }
        at += n + (at[n] != 0);
    }
    return TS_OK;
}

static void pass_dump(const ts_fn *fn, const char *when, const char *name)
{
    ts_text text;
    if (!pass_listed(getenv("TS_DUMP"), name))
        return;
    ts__text_init(&text, fn->module->arena->alloc);
    ts__fn_print(fn, &text);
    fprintf(stderr, "// %s %s\n%s", when, name, ts__text_get(&text));
    ts__text_deinit(&text);
}

static ts_status pass_verify(const ts_fn *fn, const ts_pass_env *env, const char *name, ts_error *err)
{
#ifndef NDEBUG
    ts_error broken;
    ts_status status = ts_fn_verify(fn, &broken);
    if (status == TS_VERIFY)
        return ts_fail(err, TS_INTERNAL, "after pass %s: %.5000s", name, broken.text);
    if (status != TS_OK)
        return ts_fail(err, status, "%.5000s", broken.text);
    if (env->forms & TS_FORM_PLAIN && ts__math_is_left(fn))
        return ts_fail(err, TS_INTERNAL, "after pass %s: a math function is left, which its row in pass.def denies",
                       name);
#else
    (void)fn;
    (void)env;
    (void)name;
    (void)err;
#endif
    return TS_OK;
}

ts_status ts__pass_needs(const ts_fn *fn, const ts_pass_env *env, uint32_t needs, const char *who, ts_error *err)
{
    static const char *const names[] = {
#define X(name, doc) #name " (" doc ")",
        TS_FORMS(X)
#undef X
    };
    uint32_t missing = env->forms & TS_FORM_KNOWN ? needs & ~env->forms : 0;
    for (uint32_t i = 0; i < TS_FORM_COUNT; i++)
        if (missing >> i & 1)
            return ts_fail(err, TS_INTERNAL, "'%s' needs @%s in the form %s, and no pass before it sees to that: "
                           "see compile/pipeline.def", who, ts_str_get(fn->module, fn->name), names[i]);
    return TS_OK;
}

/* ---- TS_BISECT -------------------------------------------------------------------------------------------------- */

/* The number in TS_BISECT; UINT32_MAX without one. */
static ts_status pass_bisect(uint32_t *limit, ts_error *err)
{
    const char *value = getenv("TS_BISECT");
    char *end = NULL;
    *limit = UINT32_MAX;
    if (!value || !*value)
        return TS_OK;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n >= UINT32_MAX)
        return ts_fail(err, TS_VALUE, "TS_BISECT=%.200s: not a number of steps; give 0 (no step that may be left out) "
                       "or more", value);
    *limit = (uint32_t)n;
    return TS_OK;
}

/* Counts a step that may be left out; is it beyond the limit, or named in TS_SKIP? */
static bool pass_is_left_out(const ts_fn *fn, const pass_row *pass, ts_pass_env *env, uint32_t limit)
{
    if (pass->kind == PASS_MUST)
        return false;
    env->n_steps++;
    if (env->n_steps == limit)
        fprintf(stderr, "TS_BISECT=%u: step %u is %s at %s level, of @%s\n", limit, limit, pass->name,
                fn->level == TS_LEVEL_S ? "thread" : "tile", ts_str_get(fn->module, fn->name));
    return env->n_steps > limit || pass_listed(getenv("TS_SKIP"), pass->name);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static ts_status pass_run(ts_fn *fn, const pass_row *pass, ts_pass_env *env, ts_error *err)
{
    if (!(fn->level & pass->level))
        return ts_fail(err, TS_INTERNAL, "pass %s does not work on the level of @%s", pass->name,
                       ts_str_get(fn->module, fn->name));
    TS_TRY(ts__pass_needs(fn, env, pass->needs, pass->name, err));
    ts_arena_mark mark = ts__arena_at(env->scratch);
    pass_dump(fn, "before", pass->name);
    ts_status status = pass->run(fn, env, err);
    ts__arena_rewind(env->scratch, mark);
    if (status != TS_OK)
        return status;
    if (ts__module_failed(fn->module) || env->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory in pass %s", pass->name);
    env->forms = (env->forms & (pass->keeps | TS_FORM_KNOWN)) | pass->makes;
    pass_dump(fn, "after", pass->name);
    return pass_verify(fn, env, pass->name, err);
}

ts_status ts__pass_in_time(const ts_fn *fn, const ts_pass_env *env, const char *who, ts_error *err)
{
    if (!env->deadline_ns || ts__now_ns() <= env->deadline_ns)
        return TS_OK;
    return ts_fail(err, TS_TIMEOUT, "kernel '%s' was not compiled within %.3g s; it was about to run '%s'\n"
                   "  help: allow more (ct.compiler_timeout(seconds)), or split the kernel",
                   ts_str_get(fn->module, fn->name), (double)env->limit_ns * 1e-9, who);
}

ts_status ts__run_passes(ts_fn *fn, const char *names, ts_pass_env *env, ts_error *err)
{
    const char *stop = getenv("TS_STOP");
    uint32_t limit;
    TS_TRY(pass_variable("TS_DUMP", ",", "all, or a list with commas of ", err));
    TS_TRY(pass_variable("TS_STOP", "", "one of ", err));
    TS_TRY(pass_variable("TS_SKIP", ",", "all, or a list with commas of ", err));
    TS_TRY(pass_bisect(&limit, err));
    for (;;) {
        names += strspn(names, " ");
        size_t n = strcspn(names, " |");
        if (!n)
            return TS_OK;
        const pass_row *pass = pass_find(names, n);
        if (!pass)
            return ts_fail(err, TS_NOTFOUND, "there is no pass '%.*s': see src/pass/pass.def",
                           (int)n, names);
        TS_TRY(ts__pass_in_time(fn, env, pass->name, err));
        if (!pass_is_left_out(fn, pass, env, limit))
            TS_TRY(pass_run(fn, pass, env, err));
        if (stop && strcmp(stop, pass->name) == 0)
            return TS_OK;
        names += n;
    }
}

/* ---- passes that look at one instruction at a time ------------------------------------------------------- */

ts_status ts__rewrite(ts_fn *fn, ts_pass_env *env, const char *pass, ts_rewrite_fn *each, void *user, ts_error *err)
{
    ts_builder b;
    ts_fn *fresh = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    bool failed = !fresh || !map;
    if (!failed)
        ts__builder_init(&b, fresh);
    for (ts_val v = 1; !failed && v < fn->inst.n; v++) {
        b.loc = fn->loc.at[v];
        map[v] = each(user, &b, fn, v, map);
        if (!map[v])
            ts__copy(&b, fn, v, map);
        failed = ts__module_failed(fn->module);
    }
    if (failed)
        return ts_fail(err, TS_NOMEM, "out of memory in pass %s", pass);
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
