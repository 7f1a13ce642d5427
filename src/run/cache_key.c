/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of compiled code: everything that the code depends on, byte for byte. What does not change in a process is
 * collected once, so a key costs two copies and, for the CPU target, a look at which LLVM is in use:
 *
 *     | this build | TS_STOP, .. | target, sizes | CPU target: processor, LLVM | hints | specs | pack, or its id | IR |
 *
 * A process whose code is all cached must not load LLVM, which takes 10 to 30 ms, yet its code must be that of the
 * LLVM it would load. So a process that did load it leaves a note: these settings of the loader led to this file,
 * which is this build. While settings and file are as they were, the note is believed.
 */
#include "run/cache.h"
#include "run/cache_disk.h"
#include "base/widths.h"
#include "device/device.h"
#include "target/llvm/llvm.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define KEY_NOTE_MAGIC 0x31564c4c45544f4eu /* "NOTELLV1" */

typedef struct key_file {
    uint64_t device, inode, bytes, mtime_ns;
} key_file;

typedef struct key_note {
    uint64_t magic, check; /* check: the hash of what follows */
    ts_digest llvm;
    key_file file;
    char path[1024];
} key_note;

/* ---- the process ---------------------------------------------------------------------------------------- */

/* What the processor can do, what the system has enabled, and what of it is used. */
static void key_cpu(ts_text *text)
{
    uint32_t vector_bytes = ts__vector_bytes();
    ts__text_put(text, (const char *)&vector_bytes, sizeof vector_bytes);
#if defined(__x86_64__)
    static const uint32_t leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0x80000001u, 0}};
    for (size_t i = 0; i < TS_COUNT(leaves); i++) {
        uint32_t r[4] = {0};
        __asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                         : "a"(leaves[i][0]), "c"(leaves[i][1]));
        if (leaves[i][0] == 1) {
            r[1] = 0; /* holds the number of the core that asks */
            if (r[2] >> 27 & 1) {
                uint32_t low, high;
                __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
                r[1] = low;
            }
        }
        ts__text_put(text, (const char *)r, sizeof r);
    }
#else
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Features", 8) == 0 || strncmp(line, "CPU part", 8) == 0)
            ts__text_puts(text, line);
    if (file)
        fclose(file);
#endif
}

static struct {
    pthread_once_t once;
    ts_digest build, cpu;
} key_process = {.once = PTHREAD_ONCE_INIT};

static void key_start(void)
{
    static const char anchor = 0;
    ts_text text;
    ts__text_init(&text, NULL);
    key_cpu(&text);
    key_process.cpu = ts__digest_of(text.at, text.n);
    key_process.build = ts__loaded_id(&anchor);
    ts__text_deinit(&text);
}

/* ---- LLVM ------------------------------------------------------------------------------------------------- */

static bool key_look(const char *path, key_file *out)
{
    struct stat st;
    *out = (key_file){0};
    if (stat(path, &st) != 0)
        return false;
    uint64_t ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    *out = (key_file){(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size, ns};
    return true;
}

/* One note for all that decides which file the loader takes. */
static void key_note_name(char name[CACHE_NAME])
{
    static const char *const variables[] = {"TESSERA_LLVM", "LD_LIBRARY_PATH"};
    key_file loader;
    ts_text text;
    ts__text_init(&text, NULL);
    (void)key_look("/etc/ld.so.cache", &loader);
    ts__text_put(&text, (const char *)&loader, sizeof loader);
    ts__text_put(&text, (const char *)&key_process.build, sizeof key_process.build);
    for (size_t i = 0; i < TS_COUNT(variables); i++) {
        const char *value = getenv(variables[i]);
        ts__text_put(&text, value ? value : "", value ? strlen(value) + 1 : 1);
    }
    snprintf(name, CACHE_NAME, "llvm.%016llx", (unsigned long long)ts__digest_of(text.at, text.n).lo);
    ts__text_deinit(&text);
}

static uint64_t key_note_check(const key_note *note)
{
    size_t from = offsetof(key_note, llvm);
    return ts__hash((const char *)note + from, sizeof *note - from, KEY_NOTE_MAGIC);
}

/* Keeps what the note says in the cache; false: none, or not true any more. */
static bool key_note_read(cache_disk *disk)
{
    char name[CACHE_NAME];
    size_t n;
    key_note note;
    key_file now;
    key_note_name(name);
    char *bytes = ts__cache_disk_read(disk, name, &n);
    bool is_whole = bytes && n == sizeof note;
    if (is_whole)
        memcpy(&note, bytes, sizeof note);
    if (bytes)
        ts__delete(disk->alloc, bytes, n);
    if (!is_whole || note.magic != KEY_NOTE_MAGIC || note.check != key_note_check(&note) ||
        !memchr(note.path, 0, sizeof note.path) || !key_look(note.path, &now) ||
        memcmp(&now, &note.file, sizeof now) != 0)
        return false;
    ts__lock_take(&disk->lock);
    if (!atomic_load(&disk->knows_llvm))
        disk->llvm = note.llvm;
    atomic_store(&disk->knows_llvm, true);
    ts__lock_give(&disk->lock);
    return true;
}

static void key_note_write(cache_disk *disk, const ts_llvm_build *build)
{
    char name[CACHE_NAME];
    key_note note = {.magic = KEY_NOTE_MAGIC, .llvm = build->id};
    if (build->file[0] != '/' || strlen(build->file) >= sizeof note.path || !key_look(build->file, &note.file))
        return; /* found by another name elsewhere: each process looks for itself */
    memcpy(note.path, build->file, strlen(build->file));
    note.check = key_note_check(&note);
    key_note_name(name);
    ts__cache_disk_write(disk, name, (const char *)&note, sizeof note);
}

/* The LLVM in use, or the one that would be; zero: there is none. */
static ts_digest key_llvm(cache_disk *disk)
{
    const ts_llvm_build *build = ts__llvm_loaded();
    if (!build && (atomic_load(&disk->knows_llvm) || key_note_read(disk)))
        return disk->llvm;
    if (!build && ts_llvm_find(NULL, NULL) == TS_OK)
        build = ts__llvm_loaded();
    if (!build)
        return (ts_digest){0};
    bool is_known = atomic_load(&disk->knows_llvm) && memcmp(&disk->llvm, &build->id, sizeof build->id) == 0;
    if (!is_known && !atomic_exchange(&disk->has_noted, true))
        key_note_write(disk, build);
    return build->id;
}

/* ---- the key ------------------------------------------------------------------------------------------------ */

void ts__cache_key(ts_cache *cache, ts_text *key, const ts_source *source, const ts_text *more, const ts_spec *spec,
                   size_t n_spec, const ts_hints *hints, ts_target target)
{
    pthread_once(&key_process.once, key_start);
    const char *stop = getenv("TS_STOP"), *bisect = getenv("TS_BISECT"), *skip = getenv("TS_SKIP"); /* of passes */
    const char *compiler = source->compiler, *entry = source->entry;
    const void *bytes = source->id ? source->id : source->bytes;
    const size_t n = source->id ? source->n_id : source->n;
    uint64_t sizes[] = {(uint64_t)target, n_spec, n, stop ? strlen(stop) : 0, bisect ? strlen(bisect) : 0,
                        (uint64_t)source->kind, compiler ? strlen(compiler) : 0, skip ? strlen(skip) : 0,
                        entry ? strlen(entry) : 0, source->id != NULL};
    key->n = 0;
    ts__text_put(key, (const char *)&key_process.build, sizeof key_process.build);
    ts__text_put(key, (const char *)sizes, sizeof sizes);
    ts__text_put(key, stop, sizes[3]);
    ts__text_put(key, bisect, sizes[4]);
    ts__text_put(key, compiler, sizes[6]);
    ts__text_put(key, skip, sizes[7]);
    ts__text_put(key, entry, sizes[8]);
    if (target == TS_TARGET_CPU) {
        ts_digest llvm = key_llvm(ts__cache_disk_of(cache));
        ts__text_put(key, (const char *)&key_process.cpu, sizeof key_process.cpu);
        ts__text_put(key, (const char *)&llvm, sizeof llvm);
    }
    ts__text_put(key, (const char *)hints, sizeof *hints);
    ts__text_put(key, (const char *)spec, n_spec * sizeof *spec);
    ts__text_put(key, bytes, n);
    if (more)
        ts__text_put(key, more->at, more->n);
}
