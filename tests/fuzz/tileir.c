/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target for Tile IR bytecode: any bytes may come.
 *
 *   - reading, printing, writing and converting never crash;
 *   - what was read and written again reads, and prints the same;
 *   - what converts to our IR verifies (ts_tileir_to_ir sees to it), and going back from it never crashes.
 *
 * Plain build: `tileir [seconds [seed]]` mutates files made of golden tile kernels; a failure writes fuzz-tileir.bc.
 * With libFuzzer: clang -DTS_LIBFUZZER -fsanitize=fuzzer,address tests/fuzz/tileir.c and the core.
 */
#include "tessera/tileir.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


static const uint8_t *fuzz_data;
static size_t fuzz_size;

static void fuzz_fail(const char *what, const char *text)
{
    FILE *file = fopen("fuzz-tileir.bc", "wb");
    if (file) {
        fwrite(fuzz_data, 1, fuzz_size, file);
        fclose(file);
    }
    fprintf(stderr, "%s: %s\n(input in fuzz-tileir.bc)\n", what, text);
    abort();
}

/* ---- what must hold ------------------------------------------------------------------------------ */

static char *fuzz_text(const ts_tileir *m, size_t *n, ts_error *err)
{
    char *text;
    if (ts_tileir_print(m, NULL, &text, n, err) != TS_OK)
        fuzz_fail("printing", err->text);
    return text;
}

/* Places are not written, so texts are compared up to them. */
static bool fuzz_same(const char *a, const char *b)
{
    for (;; a++, b++) {
        if (strncmp(a, " loc(", 5) == 0)
            a += strcspn(a, "\n");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static void fuzz_rewrite(const ts_tileir *m, ts_error *err)
{
    char *bytes;
    size_t n, n_text;
    ts_tileir *again;
    if (ts_tileir_write(m, ts_tileir_version(m), NULL, &bytes, &n, err) != TS_OK)
        fuzz_fail("what was read cannot be written", err->text);
    if (ts_tileir_read(bytes, n, NULL, &again, err) != TS_OK)
        fuzz_fail("what was written cannot be read", err->text);
    char *one = fuzz_text(m, &n_text, err), *two = fuzz_text(again, &n_text, err);
    if (!fuzz_same(one, two))
        fuzz_fail("what was written prints differently", two);
    free(one), free(two), free(bytes);
    ts_tileir_destroy(again);
}

static void fuzz_convert(const ts_tileir *m, ts_error *err)
{
    ts_module *ir;
    ts_tileir *back;
    if (ts_tileir_to_ir(m, NULL, NULL, &ir, err) != TS_OK)
        return;
    if (ts_tileir_of_ir(ir, 0, "sm_90", NULL, &back, err) == TS_OK)
        ts_tileir_destroy(back);
    ts_module_destroy(ir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ts_error err;
    ts_tileir *m;
    fuzz_data = data;
    fuzz_size = size;
    if (ts_tileir_read(data, size, NULL, &m, &err) != TS_OK)
        return 0;
    fuzz_rewrite(m, &err);
    fuzz_convert(m, &err);
    ts_tileir_destroy(m);
    return 0;
}

/* ---- the plain loop ------------------------------------------------------------------------------ */

#ifndef TS_LIBFUZZER

/* The files of a golden kernel, one of each version, where Tile IR can say it. */
static void fuzz_seeds(const char *text, size_t n)
{
    ts_error err;
    ts_module *ir;
    ts_tileir *m;
    if (ts_module_read(text, n, NULL, &ir, &err) != TS_OK)
        return;
    if (ts_tileir_of_ir(ir, 0, NULL, NULL, &m, &err) == TS_OK) {
        for (uint32_t version = TS_TILEIR_OLDEST; version <= TS_TILEIR_NEWEST; version++) {
            char *bytes;
            size_t n_bytes;
            if (ts_tileir_write(m, version, NULL, &bytes, &n_bytes, &err) == TS_OK)
                fuzz_add((uint8_t *)bytes, n_bytes);
        }
        ts_tileir_destroy(m);
    }
    ts_module_destroy(ir);
}

/* One change behind the head: a byte, a bit, some bytes less, some more, or a byte from elsewhere. */
static size_t fuzz_mutate(uint8_t *at, size_t n)
{
    uint32_t head = 10, i = head + fuzz_below(n - head), some = 1 + fuzz_below(8);
    switch (fuzz_below(5)) {
    case 0:
        at[i] = (uint8_t)fuzz_below(256);
        return n;
    case 1:
        at[i] ^= (uint8_t)(1u << fuzz_below(8));
        return n;
    case 2:
        if (i + some >= n)
            return n;
        memmove(at + i, at + i + some, n - i - some);
        return n - some;
    case 3:
        if (n + some > FUZZ_SIZE)
            return n;
        memmove(at + i + some, at + i, n - i);
        for (uint32_t k = 0; k < some; k++)
            at[i + k] = (uint8_t)fuzz_below(256);
        return n + some;
    default:
        at[i] = at[head + fuzz_below(n - head)];
        return n;
    }
}

int main(int argc, char **argv)
{
    static uint8_t room[FUZZ_SIZE];
    time_t stop = fuzz_begin(argc, argv);
    fuzz_corpus("tests/golden", fuzz_seeds);
    CHECK(fuzz_n_files > 0);
    while (fuzz_n_files && time(NULL) < stop) {
        uint32_t file = fuzz_below(fuzz_n_files);
        size_t n = TS_MIN(fuzz_file[file].n, sizeof room);
        memcpy(room, fuzz_file[file].bytes, n);
        for (uint32_t changes = fuzz_below(5); changes; changes--)
            n = fuzz_mutate(room, n);
        uint8_t *exact = malloc(n); /* so that a read past the end is seen */
        memcpy(exact, room, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
        check_passed++;
    }
    fuzz_end();
    return check_done();
}
#endif
