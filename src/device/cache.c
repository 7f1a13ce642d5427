/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of compiled code: a small memory level for this process over a directory shared by all.
 *
 *     <dir>/xx/<30 hex digits>     one entry; xx and the name are the 128-bit hash of the key
 *     <dir>/tmp.<pid>.<number>     being written; renamed when complete
 *
 *     | head | key | plan | bytes | messages |     head.check is the hash of everything after it
 *
 * A reader believes an entry only if its length, check and key are right and it belongs to this user;
 * otherwise it is a miss and the next put replaces it. Use is noted by touching the file, once an hour at
 * most. Every 32nd put of a process adds up the directory and removes the longest unused entries when it
 * is over the limit.
 */
#include "device/cache.h"
#include "device/device.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_MEMORY = 64, CACHE_SWEEP_EVERY = 32, CACHE_PATH = 4096, CACHE_TOUCH_S = 3600 };
#define CACHE_LIMIT ((uint64_t)1 << 30)
#define CACHE_ENTRY_MAX ((uint64_t)256 << 20)
#define CACHE_MAGIC 0x3145484341435354u /* "TSCACHE1" */

typedef struct cache_head {
    uint64_t magic, check, n_key, n_bytes, n_messages;
    uint32_t head_bytes, plan_bytes;
} cache_head;

typedef struct cache_slot {
    char *file;       /* a whole entry as it is on disk; NULL: unused */
    size_t n;
    uint64_t used;    /* clock of the last use */
} cache_slot;

struct ts_cache {
    const ts_alloc *alloc;
    char *dir;                      /* "" = memory only */
    uint64_t limit_bytes;
    _Atomic uint32_t n_puts;
    _Atomic bool broken;            /* the directory could not be written */
    pthread_mutex_t lock;           /* memory level */
    uint64_t clock;
    cache_slot slots[CACHE_MEMORY];
};

/* ---- entries ------------------------------------------------------------------------------------ */

static uint64_t cache_check(const char *file, size_t n)
{
    size_t from = offsetof(cache_head, check) + sizeof(uint64_t);
    return ts_hash(file + from, n - from, CACHE_MAGIC) ^ ts_hash(file, sizeof(uint64_t), 1);
}

/* True if `file` is a sound entry for the key. */
static bool cache_is_sound(const char *file, size_t n, const void *key, size_t n_key)
{
    cache_head head;
    if (n < sizeof head)
        return false;
    memcpy(&head, file, sizeof head);
    if (head.magic != CACHE_MAGIC || head.head_bytes != sizeof head || head.plan_bytes != sizeof(ts_plan) ||
        head.n_key != n_key || head.n_bytes > CACHE_ENTRY_MAX || head.n_messages > CACHE_ENTRY_MAX)
        return false;
    return n == sizeof head + n_key + sizeof(ts_plan) + head.n_bytes + head.n_messages &&
           memcmp(file + sizeof head, key, n_key) == 0 && head.check == cache_check(file, n);
}

/* Copies a sound entry out. */
static bool cache_unpack(const char *file, const ts_alloc *alloc, ts_code *out)
{
    cache_head head;
    memcpy(&head, file, sizeof head);
    const char *at = file + sizeof head + head.n_key;
    *out = (ts_code){.alloc = alloc};
    memcpy(&out->plan, at, sizeof out->plan);
    at += sizeof out->plan;
    out->bytes = ts__new(alloc, head.n_bytes ? head.n_bytes : 1);
    out->messages = head.n_messages ? ts__new(alloc, head.n_messages) : NULL;
    if (!out->bytes || (head.n_messages && !out->messages)) {
        ts__delete(alloc, out->bytes, head.n_bytes ? head.n_bytes : 1);
        ts__delete(alloc, out->messages, head.n_messages);
        *out = (ts_code){.alloc = alloc};
        return false;
    }
    out->n_bytes = head.n_bytes;
    out->n_messages = head.n_messages;
    memcpy(out->bytes, at, head.n_bytes);
    if (head.n_messages)
        memcpy(out->messages, at + head.n_bytes, head.n_messages);
    return true;
}

static void cache_pack(ts_text *file, const void *key, size_t n_key, const ts_code *code)
{
    cache_head head = {.magic = CACHE_MAGIC, .n_key = n_key, .n_bytes = code->n_bytes, .n_messages = code->n_messages,
                       .head_bytes = sizeof head, .plan_bytes = sizeof(ts_plan)};
    ts_text_put(file, (const char *)&head, sizeof head);
    ts_text_put(file, key, n_key);
    ts_text_put(file, (const char *)&code->plan, sizeof code->plan);
    ts_text_put(file, (const char *)code->bytes, code->n_bytes);
    ts_text_put(file, code->messages, code->n_messages);
    if (file->failed)
        return;
    head.check = cache_check(file->at, file->n);
    memcpy(file->at, &head, sizeof head);
}

/* ---- memory level --------------------------------------------------------------------------------- */

static bool cache_memory_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out)
{
    bool found = false;
    pthread_mutex_lock(&cache->lock);
    for (int i = 0; i < CACHE_MEMORY && !found; i++) {
        cache_slot *slot = &cache->slots[i];
        cache_head head;
        if (!slot->file)
            continue;
        memcpy(&head, slot->file, sizeof head);
        if (head.n_key != n_key || memcmp(slot->file + sizeof head, key, n_key) != 0)
            continue;
        found = cache_unpack(slot->file, alloc, out);
        slot->used = ++cache->clock;
        break;
    }
    pthread_mutex_unlock(&cache->lock);
    return found;
}

static void cache_memory_put(ts_cache *cache, const char *file, size_t n)
{
    if (n > ((size_t)4 << 20))
        return;
    char *copy = cache->alloc->resize(cache->alloc->user, NULL, 0, n);
    if (!copy)
        return;
    memcpy(copy, file, n);
    pthread_mutex_lock(&cache->lock);
    cache_slot *oldest = &cache->slots[0];
    for (int i = 1; i < CACHE_MEMORY; i++)
        if (cache->slots[i].used < oldest->used)
            oldest = &cache->slots[i];
    ts__delete(cache->alloc, oldest->file, oldest->n);
    *oldest = (cache_slot){copy, n, ++cache->clock};
    pthread_mutex_unlock(&cache->lock);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static bool cache_path(const ts_cache *cache, const void *key, size_t n_key, char *path)
{
    ts_digest digest = ts_digest_of(key, n_key);
    int n = snprintf(path, CACHE_PATH, "%s/%02x/%014llx%016llx", cache->dir, (unsigned)(digest.hi >> 56),
                     (unsigned long long)(digest.hi & 0xFFFFFFFFFFFFFFu), (unsigned long long)digest.lo);
    return n > 0 && n < CACHE_PATH;
}

/* Only plain files of this user are believed: what they hold is run. */
static int cache_open(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 022) &&
        st->st_size > 0 && (uint64_t)st->st_size <= CACHE_ENTRY_MAX)
        return fd;
    close(fd);
    return -1;
}

static bool cache_read(int fd, char *to, size_t n)
{
    while (n) {
        ssize_t got = read(fd, to, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static bool cache_write(int fd, const char *from, size_t n)
{
    while (n) {
        ssize_t put = write(fd, from, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        from += put;
        n -= (size_t)put;
    }
    return true;
}

static bool cache_disk_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out)
{
    char path[CACHE_PATH];
    struct stat st;
    int fd = cache->dir[0] && cache_path(cache, key, n_key, path) ? cache_open(path, &st) : -1;
    if (fd < 0)
        return false;
    size_t n = (size_t)st.st_size;
    char *file = cache->alloc->resize(cache->alloc->user, NULL, 0, n);
    bool ok = file && cache_read(fd, file, n) && cache_is_sound(file, n, key, n_key) && cache_unpack(file, alloc, out);
    if (ok) {
        cache_memory_put(cache, file, n);
        if (time(NULL) - st.st_mtime > CACHE_TOUCH_S)
            futimens(fd, NULL);
    }
    ts__delete(cache->alloc, file, n);
    close(fd);
    return ok;
}

/* Makes the directory and its parents; 0700, because what is in it is run. */
static bool cache_make_dir(const char *dir)
{
    char path[CACHE_PATH];
    int n = snprintf(path, sizeof path, "%s", dir);
    if (n <= 0 || n >= (int)sizeof path)
        return false;
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            (void)mkdir(path, 0700);
            *at = '/';
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int cache_open_fresh(const ts_cache *cache, const char *fresh)
{
    int fd = -1;
    for (int try = 0; try < 2 && fd < 0; try++) {
        fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == ENOENT && !cache_make_dir(cache->dir))
            break;
    }
    return fd;
}

/* `number` is unique in this process. */
static bool cache_store(const ts_cache *cache, uint32_t number, const char *path, const char *file, size_t n)
{
    char fresh[CACHE_PATH + 64], dir[CACHE_PATH];
    snprintf(fresh, sizeof fresh, "%s/tmp.%ld.%u", cache->dir, (long)getpid(), number);
    int fd = cache_open_fresh(cache, fresh);
    if (fd < 0)
        return false;
    bool ok = cache_write(fd, file, n);
    ok &= close(fd) == 0;
    if (ok && rename(fresh, path) != 0) {
        snprintf(dir, sizeof dir, "%s", path);
        *strrchr(dir, '/') = 0;
        ok = cache_make_dir(dir) && rename(fresh, path) == 0;
    }
    if (!ok)
        unlink(fresh);
    return ok;
}

/* ---- sweeping ------------------------------------------------------------------------------------------- */

typedef struct cache_file {
    char name[64]; /* below the directory */
    int64_t mtime, bytes;
} cache_file;

typedef struct cache_list {
    ts_arena arena;
    TS_VEC(cache_file) files;
    uint64_t total;
} cache_list;

/* Files of one folder; temporary ones that nobody finished within an hour go at once. */
static void cache_list_folder(cache_list *list, int at, const char *prefix)
{
    DIR *folder = fdopendir(at);
    for (struct dirent *item; folder && (item = readdir(folder));) {
        struct stat st;
        cache_file file = {.bytes = 0};
        int n = snprintf(file.name, sizeof file.name, "%s%s", prefix, item->d_name);
        if (n >= (int)sizeof file.name || fstatat(at, item->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (strncmp(item->d_name, "tmp.", 4) == 0 && time(NULL) - st.st_mtime > CACHE_TOUCH_S) {
            unlinkat(at, item->d_name, 0);
            continue;
        }
        file.mtime = st.st_mtime;
        file.bytes = st.st_blocks * 512;
        list->total += (uint64_t)file.bytes;
        if (!TS_PUSH(&list->arena, &list->files, file))
            break;
    }
    if (folder)
        closedir(folder);
    else if (at >= 0)
        close(at);
}

static int cache_by_age(const void *a, const void *b)
{
    const cache_file *x = a, *y = b;
    return (x->mtime > y->mtime) - (x->mtime < y->mtime);
}

/* Down to nine tenths of the limit, so that not every sweep has something to do. */
static void cache_sweep(ts_cache *cache)
{
    cache_list list = {.total = 0};
    int root = open(cache->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return;
    ts_arena_init(&list.arena, cache->alloc);
    for (unsigned i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "%02x/", i);
        name[2] = 0;
        int at = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        name[2] = '/';
        if (at >= 0)
            cache_list_folder(&list, at, name);
    }
    cache_list_folder(&list, dup(root), "");
    if (list.total > cache->limit_bytes) {
        qsort(list.files.at, list.files.n, sizeof list.files.at[0], cache_by_age);
        for (uint32_t i = 0; i < list.files.n && list.total > cache->limit_bytes / 10 * 9; i++)
            if (unlinkat(root, list.files.at[i].name, 0) == 0)
                list.total -= (uint64_t)list.files.at[i].bytes;
    }
    ts_arena_deinit(&list.arena);
    close(root);
}

/* ---- the cache -------------------------------------------------------------------------------------------- */

ts_cache_hit ts_cache_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out)
{
    if (cache_memory_get(cache, key, n_key, alloc, out))
        return TS_CACHE_MEMORY;
    return cache_disk_get(cache, key, n_key, alloc, out) ? TS_CACHE_DISK : TS_CACHE_MISS;
}

void ts_cache_put(ts_cache *cache, const void *key, size_t n_key, const ts_code *code)
{
    char path[CACHE_PATH];
    ts_text file;
    ts_text_init(&file, cache->alloc);
    cache_pack(&file, key, n_key, code);
    if (!file.failed) {
        cache_memory_put(cache, file.at, file.n);
        uint32_t count = atomic_fetch_add(&cache->n_puts, 1);
        bool wanted = cache->dir[0] && !atomic_load(&cache->broken) && file.n <= CACHE_ENTRY_MAX;
        if (wanted && cache_path(cache, key, n_key, path)) {
            if (!cache_store(cache, count, path, file.at, file.n) && (errno == EROFS || errno == EACCES))
                atomic_store(&cache->broken, true); /* read-only: do not try each time */
            if (count % CACHE_SWEEP_EVERY == 0)
                cache_sweep(cache);
        }
    }
    ts_text_deinit(&file);
}

ts_cache *ts_cache_create(const ts_cache_options *options)
{
    const ts_alloc *alloc = options->alloc ? options->alloc : ts_alloc_default();
    ts_cache *cache = ts__new(alloc, sizeof *cache);
    if (!cache)
        return NULL;
    cache->alloc = alloc;
    cache->limit_bytes = options->limit_bytes ? options->limit_bytes : CACHE_LIMIT;
    pthread_mutex_init(&cache->lock, NULL);
    cache->dir = ts__string(alloc, options->dir);
    if (cache->dir)
        return cache;
    ts_cache_destroy(cache);
    return NULL;
}

void ts_cache_destroy(ts_cache *cache)
{
    if (!cache)
        return;
    for (int i = 0; i < CACHE_MEMORY; i++)
        ts__delete(cache->alloc, cache->slots[i].file, cache->slots[i].n);
    ts__string_delete(cache->alloc, cache->dir);
    pthread_mutex_destroy(&cache->lock);
    ts__delete(cache->alloc, cache, sizeof *cache);
}

const char *ts_cache_dir(const ts_cache *cache)
{
    return cache->dir;
}

/* ---- the process's own --------------------------------------------------------------------------------------- */

static bool cache_is_off(const char *text)
{
    return strcmp(text, "0") == 0 || strcmp(text, "off") == 0 || strcmp(text, "none") == 0;
}

/* "" when there is nowhere to go. */
static void cache_default_dir(char *dir, size_t n)
{
    const char *wish = getenv("TESSERA_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int written = 0;
    dir[0] = 0;
    if (wish && *wish)
        written = cache_is_off(wish) ? 0 : snprintf(dir, n, "%s", wish);
    else if (xdg && *xdg == '/')
        written = snprintf(dir, n, "%s/tessera", xdg);
    else if (home && *home == '/')
        written = snprintf(dir, n, "%s/.cache/tessera", home);
    if (written < 0 || (size_t)written >= n)
        dir[0] = 0;
}

static ts_status cache_default_limit(uint64_t *out, ts_error *err)
{
    static const char units[] = "KMG";
    const char *wish = getenv("TESSERA_CACHE_SIZE"), *unit;
    char *end;
    *out = CACHE_LIMIT;
    if (!wish || !*wish)
        return TS_OK;
    double value = strtod(wish, &end);
    for (unit = units; *unit && *unit != (*end & ~0x20); unit++)
        ;
    if (*unit)
        value *= (double)((uint64_t)1 << 10 * (unit - units + 1));
    if (end == wish || end[*unit != 0] || !(value >= 1) || value > 0x1p60)
        return ts_fail(err, TS_VALUE, "TESSERA_CACHE_SIZE=%.100s is not a size; give bytes, or a number with K, M or G",
                       wish);
    *out = (uint64_t)value;
    return TS_OK;
}

static struct {
    pthread_once_t once;
    ts_cache *cache;
    ts_error error;
} cache_own = {.once = PTHREAD_ONCE_INIT};

static void cache_start_own(void)
{
    char dir[CACHE_PATH];
    uint64_t limit;
    cache_default_dir(dir, sizeof dir);
    if (cache_default_limit(&limit, &cache_own.error) == TS_OK)
        cache_own.cache = ts_cache_create(&(ts_cache_options){dir, limit, NULL});
}

ts_status ts_cache_shared(ts_cache **out, ts_error *err)
{
    pthread_once(&cache_own.once, cache_start_own);
    *out = cache_own.cache;
    return cache_own.error.status == TS_OK ? TS_OK : ts_fail(err, cache_own.error.status, "%s", cache_own.error.text);
}

/* ---- keys ----------------------------------------------------------------------------------------------------- */

/* This build of the library: the file it was loaded from, by size and time, so that a compiler that
 * was rebuilt does not find code of its predecessor. */
static void cache_key_build(ts_text *key)
{
    static const char anchor;
    Dl_info info;
    struct stat st;
    uint64_t words[3] = {sizeof(ts_plan), 0, 0};
    if (dladdr(&anchor, &info) && info.dli_fname && stat(info.dli_fname, &st) == 0) {
        words[1] = (uint64_t)st.st_size;
        words[2] = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    }
    ts_text_put(key, (const char *)words, sizeof words);
}

/* What the processor can do and what the system has enabled. */
static void cache_key_cpu(ts_text *key)
{
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
        ts_text_put(key, (const char *)r, sizeof r);
    }
#else
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Features", 8) == 0 || strncmp(line, "CPU part", 8) == 0)
            ts_text_puts(key, line);
    if (file)
        fclose(file);
#endif
}

void ts_cache_key(ts_text *key, const void *pack, size_t n_pack, const ts_spec *spec, size_t n_spec,
                  const ts_hints *hints, ts_target target)
{
    uint64_t sizes[3] = {(uint64_t)target, n_spec, n_pack};
    cache_key_build(key);
    ts_text_put(key, (const char *)sizes, sizeof sizes);
    if (target == TS_TARGET_CPU)
        cache_key_cpu(key);
    ts_text_put(key, (const char *)hints, sizeof *hints);
    ts_text_put(key, (const char *)spec, n_spec * sizeof *spec);
    ts_text_put(key, pack, n_pack);
}
