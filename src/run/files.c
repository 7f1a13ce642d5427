/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of a folder are, as two numbers: a front end that keeps what it made of its own files asks once in a
 * process, about some 150 of them. Each file is hashed by itself and all are added up, so the order in which the system
 * lists them does not matter.
 */
#include "base/base.h"
#include "tessera/launch.h"
#include <dirent.h>
#include <sys/stat.h>

static bool files_ends(const char *name, const char *const *endings, size_t n)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < n; i++) {
        size_t end = strlen(endings[i]);
        if (length >= end && memcmp(name + length - end, endings[i], end) == 0)
            return true;
    }
    return false;
}

static bool files_add(int folder, const char *name, uint64_t digest[2])
{
    enum { NAME = 256 };
    struct stat st;
    size_t n = strlen(name);
    if (n >= NAME || fstatat(folder, name, &st, 0) != 0)
        return false;
    struct {
        int64_t numbers[3];
        char name[NAME];
    } file = {.numbers = {(int64_t)st.st_size, (int64_t)st.st_mtim.tv_sec, (int64_t)st.st_mtim.tv_nsec}};
    memcpy(file.name, name, n);
    ts_digest one = ts__digest_of(&file, sizeof file.numbers + n);
    digest[0] += one.hi;
    digest[1] += one.lo;
    return true;
}

bool ts_cache_files(const char *folder, const char *const *endings, size_t n, uint64_t digest[2])
{
    DIR *list = folder && (endings || !n) && digest ? opendir(folder) : NULL;
    bool ok = list != NULL;
    for (struct dirent *item; ok && (item = readdir(list));)
        ok = !files_ends(item->d_name, endings, n) || files_add(dirfd(list), item->d_name, digest);
    if (list)
        closedir(list);
    return ok;
}
