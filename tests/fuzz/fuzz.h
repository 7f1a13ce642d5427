/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loops of fuzz targets share: random numbers, and the seeds, made of the golden files.
 */
#ifndef TS_TESTS_FUZZ_H
#define TS_TESTS_FUZZ_H

#include "base/base.h"
#include "check.h"
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

enum { FUZZ_SIZE = 1 << 16, FUZZ_FILES = 1024 };

static struct {
    uint8_t *bytes; /* by malloc */
    size_t n;
} fuzz_file[FUZZ_FILES];
static uint32_t fuzz_n_files;
static uint64_t fuzz_seed = 1;

static inline uint32_t fuzz_below(size_t n)
{
    fuzz_seed ^= fuzz_seed << 13;
    fuzz_seed ^= fuzz_seed >> 7;
    fuzz_seed ^= fuzz_seed << 17;
    return n ? (uint32_t)((fuzz_seed >> 16) % n) : 0;
}

/* The arguments of the program, seconds and a seed; gives the time of its end. */
static inline time_t fuzz_begin(int argc, char **argv)
{
    fuzz_seed = argc > 2 ? (uint64_t)atoll(argv[2]) | 1 : 0x9E3779B97F4A7C15u;
    return time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
}

static inline void fuzz_add(uint8_t *bytes, size_t n)
{
    if (fuzz_n_files == FUZZ_FILES) {
        free(bytes);
        return;
    }
    fuzz_file[fuzz_n_files].bytes = bytes;
    fuzz_file[fuzz_n_files++].n = n;
}

static inline void fuzz_end(void)
{
    while (fuzz_n_files)
        free(fuzz_file[--fuzz_n_files].bytes);
}

/* The input of a golden file, without what is expected. */
typedef void fuzz_load_fn(const char *text, size_t n);
static inline void fuzz_load(const char *path, fuzz_load_fn *load)
{
    static char text[FUZZ_SIZE / 2 + 1];
    FILE *file = fopen(path, "rb");
    if (!file)
        return;
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    const char *expect = strstr(text, "// EXPECT");
    load(text, expect ? (size_t)(expect - text) : n);
    fclose(file);
}

static inline void fuzz_corpus(const char *folder, fuzz_load_fn *load)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[1024];
        struct stat info;
        const char *dot = strrchr(entry->d_name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            fuzz_corpus(path, load);
        else if (dot && strcmp(dot, ".tsir") == 0)
            fuzz_load(path, load);
    }
    if (dir)
        closedir(dir);
}

#endif
