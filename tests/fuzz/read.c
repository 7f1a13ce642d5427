/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target for the reader, verifier, printer and passes: any bytes may come.
 *
 *   - reading and verifying never crash;
 *   - what was read prints, and the print reads and prints the same;
 *   - what verifies survives facts and the generic passes, and still verifies after each; calls and recursions, which
 *     only two passes know, are taken out first.
 *
 * Plain build: `read [seconds [seed]]` mutates the golden files; a failure writes fuzz-read.tsir.
 * With libFuzzer: clang -DTS_LIBFUZZER -fsanitize=fuzzer,address tests/fuzz/read.c and the core.
 */
#include "pass/facts.h"
#include "pass/pass.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *fuzz_data;
static size_t fuzz_size;

static void fuzz_fail(const char *what, const char *text)
{
    FILE *file = fopen("fuzz-read.tsir", "wb");
    if (file) {
        fwrite(fuzz_data, 1, fuzz_size, file);
        fclose(file);
    }
    fprintf(stderr, "%s: %s\n(input in fuzz-read.tsir)\n", what, text);
    abort();
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void fuzz_reprint(ts_arena *arena, const ts_module *m, ts_error *err)
{
    ts_text first, second;
    ts_module *again;
    ts__text_init(&first, NULL);
    ts__text_init(&second, NULL);
    ts__module_print(m, &first);
    if (ts__module_read(arena, ts__text_get(&first), first.n, &again, err) != TS_OK)
        fuzz_fail("the print does not read", err->text);
    ts__module_print(again, &second);
    if (strcmp(ts__text_get(&first), ts__text_get(&second)) != 0)
        fuzz_fail("the print prints differently", ts__text_get(&first));
    ts__text_deinit(&first);
    ts__text_deinit(&second);
}

static void fuzz_passes(ts_module *m, ts_error *err)
{
    ts_arena scratch;
    ts_plan *plan = calloc(1, sizeof *plan);
    ts_hints hints = {0};
    ts__arena_init(&scratch, NULL);
    ts_pass_env env = {&scratch, TS_TARGET_CPU, &hints, plan};
    for (uint32_t i = 0; i < m->fns.n; i++) {
        ts_facts facts;
        if (!ts__facts_of(m->fns.at[i], &scratch, &facts))
            fuzz_fail("facts", "out of memory");
        const char *names = m->fns.at[i]->level == TS_LEVEL_T ? "fold fma dce licm fold dce"
                                                              : "fold dce licm fold dce";
        const char *first = m->fns.at[i]->level == TS_LEVEL_S ? "inline recursion" : "inline";
        if (ts__run_passes(m->fns.at[i], first, &env, err) == TS_UNSUPPORTED)
            continue; /* too much of it */
        if (ts__run_passes(m->fns.at[i], names, &env, err) != TS_OK)
            fuzz_fail("passes", err->text);
    }
    if (ts_module_verify(m, err) != TS_OK)
        fuzz_fail("after the passes", err->text);
    ts__arena_deinit(&scratch);
    free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ts_error err;
    ts_arena arena;
    ts_module *m;
    fuzz_data = data;
    fuzz_size = size;
    if (size > FUZZ_SIZE)
        return 0;
    ts__arena_init(&arena, NULL);
    if (ts__module_read(&arena, (const char *)data, size, &m, &err) == TS_OK) {
        fuzz_reprint(&arena, m, &err);
        if (ts_module_verify(m, &err) == TS_OK)
            fuzz_passes(m, &err);
    }
    ts__arena_deinit(&arena);
    return 0;
}

/* ---- the plain loop -------------------------------------------------------------------------- */

#ifndef TS_LIBFUZZER

static void fuzz_seeds(const char *text, size_t n)
{
    uint8_t *bytes = calloc(1, FUZZ_SIZE);
    memcpy(bytes, text, n);
    fuzz_add(bytes, n);
}

/* Replaces n bytes at `at` by `with`. */
static size_t fuzz_splice(uint8_t *text, size_t size, size_t at, size_t n, const uint8_t *with,
                          size_t n_with)
{
    n = TS_MIN(n, size - at);
    if (size - n + n_with > FUZZ_SIZE)
        return size;
    memmove(text + at + n_with, text + at + n, size - at - n);
    if (n_with)
        memcpy(text + at, with, n_with);
    return size - n + n_with;
}

static size_t fuzz_token(const uint8_t *text, size_t size, size_t at)
{
    size_t n = 0;
    while (at + n < size && (text[at + n] == '_' || (text[at + n] >= '0' && text[at + n] <= '9') ||
                             ((text[at + n] | 32) >= 'a' && (text[at + n] | 32) <= 'z')))
        n++;
    return n;
}

static size_t fuzz_mutate(uint8_t *text, size_t size)
{
    static const char *const words[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "7",
                                        "64",
                                        "16777216",
                                        "4294967295",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "i1",
                                        "i32",
                                        "i64",
                                        "f32",
                                        "f16",
                                        "?",
                                        "tile<4xf32>",
                                        "tile<2x2xi32>",
                                        "token",
                                        "ptr<f32>",
                                        "}",
                                        "yield",
                                        "continue",
                                        "break",
                                        "return",
                                        "(",
                                        ")",
                                        "true",
                                        "0x7fffffff",
                                        "nan",
                                        "inf",
                                        "\n"};
    size_t at = fuzz_below(size + 1), donor = fuzz_below(fuzz_n_files),
           from = fuzz_below(fuzz_file[donor].n);
    const char *word = words[fuzz_below(TS_COUNT(words))];
    const char *op = ts__ops[fuzz_below(TS_OP_COUNT)].name;
    size_t token = fuzz_token(text, size, at), line = 0;
    while (at + line < size && text[at + line] != '\n')
        line++;
    switch (fuzz_below(9)) {
    case 0:
        return at < size ? (text[at] ^= (uint8_t)(1 + fuzz_below(255)), size) : size;
    case 1:
        return fuzz_splice(text, size, at, fuzz_below(20), NULL, 0);
    case 2:
    case 3:
        return fuzz_splice(text, size, at, token, (const uint8_t *)word, strlen(word));
    case 4:
        return fuzz_splice(text, size, at, token, (const uint8_t *)op, strlen(op));
    case 5:
        return fuzz_splice(text, size, at, line, NULL, 0);
    case 6: { /* a name for another one */
        char name[16];
        snprintf(name, sizeof name, "%u", fuzz_below(40));
        return fuzz_splice(text, size, at, token, (const uint8_t *)name, strlen(name));
    }
    default:
        return fuzz_splice(text, size, at, fuzz_below(30), fuzz_file[donor].bytes + from,
                           TS_MIN(fuzz_file[donor].n - from, fuzz_below(120)));
    }
}

int main(int argc, char **argv)
{
    static uint8_t text[FUZZ_SIZE + 1];
    time_t stop = fuzz_begin(argc, argv);
    fuzz_corpus("tests/golden", fuzz_seeds);
    CHECK(fuzz_n_files > 0);
    for (uint32_t i = 0; i < fuzz_n_files; i++)
        LLVMFuzzerTestOneInput(fuzz_file[i].bytes, fuzz_file[i].n);
    while (fuzz_n_files && time(NULL) < stop) {
        uint32_t base = fuzz_below(fuzz_n_files);
        size_t size = fuzz_file[base].n;
        memcpy(text, fuzz_file[base].bytes, size);
        for (uint32_t n = 1 + fuzz_below(4); n; n--)
            size = fuzz_mutate(text, size);
        LLVMFuzzerTestOneInput(text, size);
        check_passed++;
    }
    fuzz_end();
    return check_done();
}

#endif
