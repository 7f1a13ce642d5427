/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass runner: runs passes by name over a function, verifies after each in debug builds, and
 * prints what the environment asks for: TS_DUMP=fold,dce (or all) before and after a pass, to
 * stderr; TS_STOP=name ends the list after that pass; names that no pass has are refused. Passes themselves are one file each, listed
 * in pass.def.
 */
#include "pass/pass.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct pass_row {
    const char *name;
    ts_level level;
    ts_pass_fn *run;
} pass_row;

static const pass_row pass_rows[] = {
#define B TS_LEVEL_B
#define T TS_LEVEL_T
#define S TS_LEVEL_S
#define TS_PASS(name, level, doc) {#name, level, ts__pass_##name},
#include "pass/pass.def"
#undef B
#undef T
#undef S
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
    ts_fn_print(fn, &text);
    fprintf(stderr, "// %s %s\n%s", when, name, ts__text_get(&text));
    ts__text_deinit(&text);
}

static ts_status pass_verify(const ts_fn *fn, const char *name, ts_error *err)
{
#ifndef NDEBUG
    ts_error broken;
    ts_status status = ts_fn_verify(fn, &broken);
    if (status == TS_VERIFY)
        return ts_fail(err, TS_INTERNAL, "after pass %s: %.5000s", name, broken.text);
    if (status != TS_OK)
        return ts_fail(err, status, "%.5000s", broken.text);
#else
    (void)fn;
    (void)name;
    (void)err;
#endif
    return TS_OK;
}

static ts_status pass_run(ts_fn *fn, const pass_row *pass, ts_pass_env *env, ts_error *err)
{
    if (!(fn->level & pass->level))
        return ts_fail(err, TS_INTERNAL, "pass %s does not work on the level of @%s", pass->name,
                       ts_str_get(fn->module, fn->name));
    ts_arena_mark mark = ts__arena_at(env->scratch);
    pass_dump(fn, "before", pass->name);
    ts_status status = pass->run(fn, env, err);
    ts__arena_rewind(env->scratch, mark);
    if (status != TS_OK)
        return status;
    if (ts_module_failed(fn->module) || env->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory in pass %s", pass->name);
    pass_dump(fn, "after", pass->name);
    return pass_verify(fn, pass->name, err);
}

ts_status ts__run_passes(ts_fn *fn, const char *names, ts_pass_env *env, ts_error *err)
{
    const char *stop = getenv("TS_STOP");
    TS_TRY(pass_variable("TS_DUMP", ",", "all, or a list with commas of ", err));
    TS_TRY(pass_variable("TS_STOP", "", "one of ", err));
    for (;;) {
        names += strspn(names, " ");
        size_t n = strcspn(names, " ");
        if (!n)
            return TS_OK;
        const pass_row *pass = pass_find(names, n);
        if (!pass)
            return ts_fail(err, TS_NOTFOUND, "there is no pass '%.*s': see src/pass/pass.def",
                           (int)n, names);
        TS_TRY(pass_run(fn, pass, env, err));
        if (stop && strcmp(stop, pass->name) == 0)
            return TS_OK;
        names += n;
    }
}
