/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs every .tsir file below tests/golden (STYLE 3.10). A file is one story:
 *
 *     // RUN: pass=fold,dce            or read, or verify; then target=sm90 fastmath if it matters
 *     // RUN: ptx target=sm90          tile functions are lowered, then the text for the target is
 * the output
 *     // RUN: compile target=sm90     the whole compilation of the first kernel; the text for the target is the output
 *     // Why: one sentence
 *     ...input...
 *     // EXPECT: what is different     and the output; without it the output of read and passes is
 * the input again, and verify only has to succeed
 *     // ERROR: part of the message    instead of EXPECT when the run must fail
 *
 * Input is always read, verified (but for read) and printed. --bless writes what came out in the
 * place of what was expected; the reviewer reads the diff. Arguments that are no options name
 * single files.
 */
#include "target/ptx/ptx.h"
#include "pass/pass.h"
#include "gpu/schedule/schedule.h"
#include "check.h"
#include <dirent.h>
#include <sys/stat.h>

typedef struct golden {
    const char *path;
    char *text;
    size_t n;
    char run[256];
    const char *input, *expect,
        *error; /* into text; expect after its line, error after the colon */
    const char *expect_line;
} golden;

static bool bless;
static ts_error err;

/* ---- files ----------------------------------------------------------------------------------- */

static char *golden_load(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *n = (size_t)ftell(file);
        rewind(file);
        text = malloc(*n + 1);
        if (text && fread(text, 1, *n, file) != *n)
            *n = 0;
        if (text)
            text[*n] = 0;
    }
    if (file)
        fclose(file);
    return text;
}

static const char *golden_line(const char *text, const char *start) /* first line that begins so */
{
    size_t n = strlen(start);
    for (const char *at = text; (at = strstr(at, start)); at += n)
        if (at == text || at[-1] == '\n')
            return at;
    return NULL;
}

static bool golden_split(golden *g)
{
    const char *run = golden_line(g->text, "// RUN: ");
    if (!run)
        return false;
    snprintf(g->run, sizeof g->run, "%.*s", (int)strcspn(run + 8, "\n"), run + 8);
    g->input = g->text;
    g->expect_line = golden_line(g->text, "// EXPECT");
    if (g->expect_line)
        g->expect = g->expect_line + strcspn(g->expect_line, "\n") + 1;
    g->error = golden_line(g->text, "// ERROR: ");
    return true;
}

/* The input again, without comments at its head: what an unchanged module must print. */
static const char *golden_body(const char *text)
{
    while (strncmp(text, "//", 2) == 0 || *text == '\n')
        text += strcspn(text, "\n") + 1;
    return text;
}

/* ---- running --------------------------------------------------------------------------------- */

static ts_target golden_target(const char *run)
{
    const char *at = strstr(run, "target=");
    if (at && strncmp(at + 7, "sm", 2) == 0)
        return (ts_target)atoi(at + 9);
    return TS_TARGET_CPU;
}

static ts_status golden_passes(ts_module *m, const char *run)
{
    ts_arena scratch;
    ts_plan *plan = calloc(1, sizeof *plan);
    ts_hints hints = {.fastmath = strstr(run, "fastmath") != NULL};
    char names[128];
    snprintf(names, sizeof names, "%.*s", (int)strcspn(run + 5, " "), run + 5);
    for (char *p = names; *p; p++)
        if (*p == ',')
            *p = ' ';
    ts__arena_init(&scratch, NULL);
    ts_pass_env env = {&scratch, golden_target(run), &hints, plan};
    ts_status status = TS_OK;
    for (uint32_t i = 0; i < m->fns.n && status == TS_OK; i++)
        status = ts__run_passes(m->fns.at[i], names, &env, &err);
    ts__arena_deinit(&scratch);
    free(plan);
    return status;
}

/* The PTX of the first function, a block of 128 threads unless lowering decides. */
static ts_status golden_ptx(ts_module *m, const char *run, ts_text *out)
{
    ts_arena scratch;
    ts_text messages;
    ts_hints hints = {0};
    ts_plan *plan = calloc(1, sizeof *plan);
    ts_fn *fn = m->fns.at[0];
    ts__arena_init(&scratch, NULL);
    ts__text_init(&messages, NULL);
    ts_pass_env env = {&scratch, golden_target(run), &hints, plan};
    plan->target = (uint32_t)env.target;
    plan->threads = 128;
    ts_status status = TS_OK;
    if (fn->level != TS_LEVEL_S)
        status = ts__run_passes(fn, "complex", &env, &err);
    if (status == TS_OK && fn->level != TS_LEVEL_S)
        status = ts__lower_run(fn, &env, &messages, &err);
    if (status == TS_OK)
        status = ts__run_passes(fn, "dce", &env, &err);
    if (status == TS_OK)
        status = ts__ptx_emit(fn, plan, out, &err);
    ts__text_deinit(&messages);
    ts__arena_deinit(&scratch);
    free(plan);
    return status;
}

static ts_status golden_compile(const char *text, size_t n, const char *run, ts_text *out)
{
    ts_code code;
    TS_TRY(ts_compile_text(text, n, NULL, golden_target(run), NULL, &code, &err));
    ts__text_puts(out, (const char *)code.bytes);
    ts_code_deinit(&code);
    return TS_OK;
}

static ts_status golden_execute(const golden *g, ts_arena *arena, ts_text *out)
{
    ts_module *m;
    size_t n = g->expect_line ? (size_t)(g->expect_line - g->text) : g->n;
    TS_TRY(ts__module_read(arena, g->text, n, &m, &err));
    if (strcmp(g->run, "read") != 0)
        TS_TRY(ts_module_verify(m, &err));
    if (strncmp(g->run, "ptx", 3) == 0)
        return golden_ptx(m, g->run, out);
    if (strncmp(g->run, "compile", 7) == 0)
        return golden_compile(g->text, n, g->run, out);
    if (strncmp(g->run, "pass=", 5) == 0)
        TS_TRY(golden_passes(m, g->run));
    else if (strcmp(g->run, "read") != 0 && strcmp(g->run, "verify") != 0)
        return ts_fail(&err, TS_VALUE, "unknown RUN line: %s", g->run);
    ts__module_print(m, out);
    return TS_OK;
}

static void golden_write(const golden *g, const char *output)
{
    FILE *file = fopen(g->path, "wb");
    if (!file)
        return;
    size_t head = (size_t)((g->expect ? g->expect : golden_body(g->text)) - g->text);
    fwrite(g->text, 1, head, file);
    fputs(output, file);
    fclose(file);
}

static void golden_compare(const golden *g, const char *output)
{
    const char *wanted = g->expect ? g->expect : golden_body(g->text);
    if (strcmp(wanted, output) == 0) {
        check_passed++;
        return;
    }
    if (bless) {
        golden_write(g, output);
        printf("blessed %s\n", g->path);
        return;
    }
    check_failed++;
    fprintf(stderr, "%s: the output is\n%s--- wanted\n%s---\n", g->path, output, wanted);
}

static void golden_fails(const golden *g, ts_status status)
{
    char part[512];
    snprintf(part, sizeof part, "%.*s", (int)strcspn(g->error + 10, "\n"), g->error + 10);
    if (status != TS_OK && strstr(err.text, part)) {
        check_passed++;
        return;
    }
    check_failed++;
    fprintf(stderr, "%s: wanted an error with '%s', got %s: %s\n", g->path, part,
            ts_status_name(status), status ? err.text : "");
}

static void golden_file(const char *path)
{
    golden g = {.path = path};
    ts_arena arena;
    ts_text out;
    g.text = golden_load(path, &g.n);
    if (!g.text || !golden_split(&g)) {
        check_failed++;
        fprintf(stderr, "%s: not readable, or no RUN line\n", path);
        free(g.text);
        return;
    }
    ts__arena_init(&arena, NULL);
    ts__text_init(&out, NULL);
    ts_status status = golden_execute(&g, &arena, &out);
    if (g.error)
        golden_fails(&g, status);
    else if (status == TS_OK && !g.expect && strcmp(g.run, "verify") == 0)
        check_passed++;
    else if (status == TS_OK)
        golden_compare(&g, ts__text_get(&out));
    else {
        check_failed++;
        fprintf(stderr, "%s: %s: %s\n", path, ts_status_name(status), err.text);
    }
    ts__text_deinit(&out);
    ts__arena_deinit(&arena);
    free(g.text);
}

static void golden_folder(const char *folder)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024];
        struct stat info;
        const char *name = entry[i]->d_name, *dot = strrchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (name[0] != '.' && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            golden_folder(path);
        else if (dot && strcmp(dot, ".tsir") == 0)
            golden_file(path);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++)
        bless |= strcmp(argv[i], "--bless") == 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-' && ++files)
            golden_file(argv[i]);
    if (!files)
        golden_folder("tests/golden");
    CHECK(bless || check_passed + check_failed > 0);
    return check_done();
}
