/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target of the front end: damaged packs must be refused or give IR that verifies, and never
 * crash, hang or leak. With libFuzzer: LLVMFuzzerTestOneInput. Alone: `front SECONDS [SEED]`
 * mutates the packs in tests/fuzz/corpus/front for that long and prints how many inputs it tried.
 */
#include "lang/front.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t fuzz_state = 88172645463325252u;

static uint32_t fuzz_random(uint32_t below)
{
    fuzz_state ^= fuzz_state << 13;
    fuzz_state ^= fuzz_state >> 7;
    fuzz_state ^= fuzz_state << 17;
    return (uint32_t)(fuzz_state >> 32) % below;
}

/* The argument kinds that the seeds were made for, chosen by the first letter of the input's name.
 */
static const ts_spec fuzz_array = {.kind = TS_SPEC_ARRAY,
                                   .dtype = TS_DTYPE_float32,
                                   .rank = 2,
                                   .index_bits = 32,
                                   .align16 = 1,
                                   .unit_stride = 2};
static const ts_spec fuzz_vector = {.kind = TS_SPEC_ARRAY,
                                    .dtype = TS_DTYPE_float32,
                                    .rank = 1,
                                    .index_bits = 32,
                                    .unit_stride = 1};
static const ts_spec fuzz_int = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int32};
static const ts_spec fuzz_constant = {.kind = TS_SPEC_INT, .value = 16};

static int fuzz_one(const uint8_t *data, size_t size, const ts_spec *spec, size_t n)
{
    ts_arena arena;
    ts_module *module = NULL;
    ts_error err;
    int bad = 0;
    ts__arena_init(&arena, NULL);
    ts_status status = ts__front(&arena, &(ts_source){.bytes = data, .n = size}, spec, n, NULL, &module, &err);
    if (status == TS_OK && ts_module_verify(module, &err) != TS_OK) {
        fprintf(stderr, "accepted, but the IR is wrong: %s\n", err.text);
        bad = 1;
    }
    if (status != TS_OK && (err.status != status || !err.text[0])) {
        fprintf(stderr, "refused without a word: %s\n", ts_status_name(status));
        bad = 1;
    }
    ts__arena_deinit(&arena);
    return bad;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ts_spec spec[] = {fuzz_array, fuzz_vector, fuzz_int, fuzz_constant};
    if (fuzz_one(data, size, spec, 4))
        abort();
    return 0;
}

/* ---- alone --------------------------------------------------------------------------- */

typedef struct fuzz_seed {
    uint8_t *bytes;
    size_t n;
} fuzz_seed;

static bool fuzz_read(const char *path, fuzz_seed *out)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    out->bytes = malloc(1 << 16);
    out->n = out->bytes ? fread(out->bytes, 1, 1 << 16, file) : 0;
    fclose(file);
    return out->n > 0;
}

static size_t fuzz_seeds(const char *folder, fuzz_seed *seeds, size_t most)
{
    size_t n = 0;
    char path[600];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && n < most && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        n += strstr(entry->d_name, ".pack") && fuzz_read(path, &seeds[n]);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* A few words changed: to small numbers mostly, which are valid indices more often than not. */
static size_t fuzz_mutate(const fuzz_seed *seed, uint8_t *out)
{
    size_t n = seed->n;
    memcpy(out, seed->bytes, n);
    for (uint32_t k = 1 + fuzz_random(4); k > 0; k--) {
        uint32_t word, at = 32 + 4 * fuzz_random((uint32_t)(n / 4) - 8);
        memcpy(&word, out + at, 4);
        switch (fuzz_random(6)) {
        case 0:
            word = fuzz_random(40);
            break;
        case 1:
            word ^= 1u << fuzz_random(32);
            break;
        case 2:
            word += fuzz_random(9) - 4;
            break;
        case 3:
            memcpy(&word, out + 32 + 4 * fuzz_random((uint32_t)(n / 4) - 8), 4);
            break;
        case 4:
            word = fuzz_random(400);
            break;
        default:
            out[at] = (uint8_t)fuzz_random(256);
            continue;
        }
        memcpy(out + at, &word, 4);
    }
    return fuzz_random(200) ? n : fuzz_random((uint32_t)n);
}

int main(int n_args, char **args)
{
    static fuzz_seed seeds[64];
    static uint8_t room[1 << 16];
    const ts_spec spec[] = {fuzz_array, fuzz_vector, fuzz_int, fuzz_constant};
    double seconds = n_args > 1 ? atof(args[1]) : 10;
    fuzz_state += n_args > 2 ? (uint64_t)atoll(args[2]) : 0;
    size_t n_seeds = fuzz_seeds("tests/fuzz/corpus/front", seeds, TS_COUNT(seeds));
    long tried = 0, failed = n_seeds == 0;
    for (size_t i = 0; i < n_seeds; i++, tried++)
        failed += fuzz_one(seeds[i].bytes, seeds[i].n, spec, 4);
    for (time_t end = time(NULL) + (time_t)seconds; n_seeds && time(NULL) < end && !failed;
         tried++) {
        size_t n = fuzz_mutate(&seeds[fuzz_random((uint32_t)n_seeds)], room);
        uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees the first byte beyond */
        memcpy(exact, room, n);
        failed += fuzz_one(exact, n, spec, 4);
        free(exact);
        if (failed && fwrite(room, 1, n, stdout) == 0)
            break;
    }
    for (size_t i = 0; i < n_seeds; i++)
        free(seeds[i].bytes);
    printf("\n%ld passed, %ld failed\n", tried - failed, failed);
    return failed != 0;
}
