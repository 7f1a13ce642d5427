/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of compiled code: a small memory level for this process over a directory shared by all
 * (cache_disk.c). What a key is made of: cache_key.c. An entry:
 *
 *     | head | key | plan | bytes | messages |     head.check is the hash of everything after it
 *
 * A reader believes an entry only if its length, check and key are right; otherwise it is a miss and the next put
 * replaces it.
 */
#include "run/cache.h"
#include "run/cache_disk.h"
#include "device/device.h"
#include "tessera/launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { CACHE_MEMORY = 64 };
#define CACHE_LIMIT ((uint64_t)1 << 30)
#define CACHE_MAGIC 0x3145484341435354u /* "TSCACHE1" */

typedef struct cache_head {
    uint64_t magic, check, n_key, n_bytes, n_messages;
    uint32_t head_bytes, plan_bytes;
} cache_head;

/* A whole entry as it is on disk. */
typedef struct cache_file {
    size_t n;
    char bytes[];
} cache_file;

typedef struct cache_slot {
    _Atomic(cache_file *) file; /* NULL: unused. Atomic for a child of fork: a whole entry, or none */
    uint64_t used;              /* clock of the last use */
} cache_slot;

struct ts_cache {
    const ts_alloc *alloc;
    cache_disk disk;
    ts_lock lock;                   /* memory level */
    uint64_t clock;
    cache_slot slots[CACHE_MEMORY];
};

/* ---- entries ------------------------------------------------------------------------------------ */

static uint64_t cache_check(const char *file, size_t n)
{
    size_t from = offsetof(cache_head, check) + sizeof(uint64_t);
    return ts__hash(file + from, n - from, CACHE_MAGIC) ^ ts__hash(file, sizeof(uint64_t), 1);
}

/* True if `file` is a sound entry, of whatever key. */
static bool cache_is_entry(const char *file, size_t n, cache_head *head)
{
    if (n < sizeof *head)
        return false;
    memcpy(head, file, sizeof *head);
    return head->magic == CACHE_MAGIC && head->head_bytes == sizeof *head && head->plan_bytes == sizeof(ts_plan) &&
           head->n_key <= n && head->n_bytes <= CACHE_ENTRY_MAX && head->n_messages <= CACHE_ENTRY_MAX &&
           n == sizeof *head + head->n_key + sizeof(ts_plan) + head->n_bytes + head->n_messages &&
           head->check == cache_check(file, n);
}

static bool cache_is_sound(const char *file, size_t n, const void *key, size_t n_key)
{
    cache_head head;
    return cache_is_entry(file, n, &head) && head.n_key == n_key && memcmp(file + sizeof head, key, n_key) == 0;
}

ts_status ts_cache_read_entry(const void *bytes, size_t n, ts_cached *out, ts_error *err)
{
    TS_NEED(err, out);
    TS_NEED_N(err, bytes, n);
    cache_head head;
    ts_plan plan;
    *out = (ts_cached){0};
    if (!cache_is_entry(bytes, n, &head))
        return ts_fail(err, TS_VALUE, "%zu bytes that are not an entry of this version's cache", n);
    memcpy(&plan, (const char *)bytes + sizeof head + head.n_key, sizeof plan);
    static_assert(sizeof out->name == sizeof plan.name, "names are copied whole");
    memcpy(out->name, plan.name, sizeof out->name - 1);
    out->target = plan.target;
    out->n_code = head.n_bytes;
    return TS_OK;
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
    ts__text_put(file, (const char *)&head, sizeof head);
    ts__text_put(file, key, n_key);
    ts__text_put(file, (const char *)&code->plan, sizeof code->plan);
    ts__text_put(file, (const char *)code->bytes, code->n_bytes);
    ts__text_put(file, code->messages, code->n_messages);
    if (file->failed)
        return;
    head.check = cache_check(file->at, file->n);
    memcpy(file->at, &head, sizeof head);
}

/* ---- memory level --------------------------------------------------------------------------------- */

/* Under lock. */
static cache_slot *cache_memory_find(ts_cache *cache, const void *key, size_t n_key)
{
    for (int i = 0; i < CACHE_MEMORY; i++) {
        const cache_file *file = atomic_load(&cache->slots[i].file);
        cache_head head = {0};
        if (file)
            memcpy(&head, file->bytes, sizeof head);
        if (file && head.n_key == n_key && memcmp(file->bytes + sizeof head, key, n_key) == 0)
            return &cache->slots[i];
    }
    return NULL;
}

static cache_slot *cache_memory_oldest(ts_cache *cache)
{
    cache_slot *oldest = &cache->slots[0];
    for (int i = 1; i < CACHE_MEMORY; i++)
        if (cache->slots[i].used < oldest->used)
            oldest = &cache->slots[i];
    return oldest;
}

static bool cache_memory_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out)
{
    ts__lock_take(&cache->lock);
    cache_slot *slot = cache_memory_find(cache, key, n_key);
    bool found = slot && cache_unpack(atomic_load(&slot->file)->bytes, alloc, out);
    if (slot)
        slot->used = ++cache->clock;
    ts__lock_give(&cache->lock);
    return found;
}

static void cache_file_delete(const ts_cache *cache, cache_file *file)
{
    if (file)
        ts__delete(cache->alloc, file, sizeof *file + file->n);
}

/* In the place of what has the key, or else of what was not used for longest. */
static void cache_memory_put(ts_cache *cache, const void *key, size_t n_key, const char *file, size_t n)
{
    if (n > ((size_t)4 << 20))
        return;
    cache_file *copy = cache->alloc->resize(cache->alloc->user, NULL, 0, sizeof *copy + n);
    if (!copy)
        return;
    copy->n = n;
    memcpy(copy->bytes, file, n);
    ts__lock_take(&cache->lock);
    cache_slot *slot = cache_memory_find(cache, key, n_key);
    if (!slot)
        slot = cache_memory_oldest(cache);
    copy = atomic_exchange(&slot->file, copy);
    slot->used = ++cache->clock;
    ts__lock_give(&cache->lock);
    cache_file_delete(cache, copy);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void cache_name(const void *key, size_t n_key, char name[CACHE_NAME])
{
    ts_digest digest = ts__digest_of(key, n_key);
    snprintf(name, CACHE_NAME, "%02x/%014llx%016llx", (unsigned)(digest.hi >> 56),
             (unsigned long long)(digest.hi & 0xFFFFFFFFFFFFFFu), (unsigned long long)digest.lo);
}

static bool cache_disk_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out)
{
    char name[CACHE_NAME];
    size_t n;
    cache_name(key, n_key, name);
    char *file = ts__cache_disk_read(&cache->disk, name, &n);
    bool ok = file && cache_is_sound(file, n, key, n_key) && cache_unpack(file, alloc, out);
    if (ok)
        cache_memory_put(cache, key, n_key, file, n);
    if (file)
        ts__delete(cache->alloc, file, n);
    return ok;
}

/* ---- the cache -------------------------------------------------------------------------------------------- */

ts_cache_hit ts__cache_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out)
{
    if (cache_memory_get(cache, key, n_key, alloc, out))
        return TS_CACHE_MEMORY;
    return cache_disk_get(cache, key, n_key, alloc, out) ? TS_CACHE_DISK : TS_CACHE_MISS;
}

void ts__cache_put(ts_cache *cache, const void *key, size_t n_key, const ts_code *code)
{
    char name[CACHE_NAME];
    ts_text file;
    ts__text_init(&file, cache->alloc);
    cache_pack(&file, key, n_key, code);
    if (!file.failed) {
        cache_memory_put(cache, key, n_key, file.at, file.n);
        cache_name(key, n_key, name);
        ts__cache_disk_write(&cache->disk, name, file.at, file.n);
    }
    ts__text_deinit(&file);
}

ts_cache *ts__cache_create(const ts_cache_options *options)
{
    const ts_alloc *alloc = options->alloc ? options->alloc : ts_alloc_default();
    ts_cache *cache = ts__new(alloc, sizeof *cache);
    if (!cache)
        return NULL;
    cache->alloc = alloc;
    ts__lock_init(&cache->lock, false);
    uint64_t limit = options->limit_bytes ? options->limit_bytes : CACHE_LIMIT;
    if (ts__cache_disk_init(&cache->disk, options->dir, limit, alloc))
        return cache;
    ts__cache_destroy(cache);
    return NULL;
}

void ts__cache_destroy(ts_cache *cache)
{
    if (!cache)
        return;
    for (int i = 0; i < CACHE_MEMORY; i++)
        cache_file_delete(cache, atomic_load(&cache->slots[i].file));
    ts__cache_disk_deinit(&cache->disk);
    ts__lock_deinit(&cache->lock);
    ts__delete(cache->alloc, cache, sizeof *cache);
}

cache_disk *ts__cache_disk_of(ts_cache *cache)
{
    return &cache->disk;
}

/* ---- the process's own --------------------------------------------------------------------------------------- */

static bool cache_is_off(const char *text)
{
    return strcmp(text, "0") == 0 || strcasecmp(text, "off") == 0 || strcasecmp(text, "none") == 0;
}

/* "" when there is nowhere to go. No shell reads what is set in a file of variables, so ~ is the home directory here,
 * too; one of another user is left as it is, and refused. */
static void cache_default_dir(char *dir, size_t n)
{
    const char *wish = getenv("TESSERA_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int written = 0;
    dir[0] = 0;
    if (wish && wish[0] == '~' && (!wish[1] || wish[1] == '/') && home && *home == '/')
        written = snprintf(dir, n, "%s%s", home, wish + 1);
    else if (wish && *wish)
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
        cache_own.cache = ts__cache_create(&(ts_cache_options){dir, limit, NULL});
}

ts_status ts__cache_shared(ts_cache **out, ts_error *err)
{
    pthread_once(&cache_own.once, cache_start_own);
    *out = cache_own.cache;
    return cache_own.error.status == TS_OK ? TS_OK : ts_fail(err, cache_own.error.status, "%s", cache_own.error.text);
}

/* ---- bytes of clients ------------------------------------------------------------------------------------------ */

/* The cache, if there is one, and the key with what no key of code begins with. */
static ts_cache *cache_of_clients(ts_text *full, const void *key, size_t n_key)
{
    static const char kept[] = "kept for a client";
    ts_cache *cache;
    ts_error err;
    if (ts__cache_shared(&cache, &err) != TS_OK || !cache)
        return NULL;
    ts__text_init(full, cache->alloc);
    ts__text_put(full, kept, sizeof kept);
    ts__text_put(full, key, n_key);
    if (!full->failed)
        return cache;
    ts__text_deinit(full);
    return NULL;
}

void ts_cache_keep(const char *name, const void *key, size_t n_key, const void *bytes, size_t n)
{
    ts_text full;
    ts_cache *cache = cache_of_clients(&full, key, n_key);
    if (!cache)
        return;
    ts_code code = {.bytes = (uint8_t *)(uintptr_t)bytes, .n_bytes = n};
    snprintf(code.plan.name, sizeof code.plan.name, "%s", name);
    ts__cache_put(cache, full.at, full.n, &code);
    ts__text_deinit(&full);
}

void ts_cache_kept(const void *key, size_t n_key, ts_code *out)
{
    ts_text full;
    ts_cache *cache = cache_of_clients(&full, key, n_key);
    *out = (ts_code){.alloc = ts_alloc_default()};
    if (!cache)
        return;
    if (ts__cache_get(cache, full.at, full.n, ts_alloc_default(), out) == TS_CACHE_MISS)
        *out = (ts_code){.alloc = ts_alloc_default()};
    ts__text_deinit(&full);
}

const char *ts_cache_problem(void)
{
    ts_cache *cache;
    ts_error err;
    return ts__cache_shared(&cache, &err) == TS_OK && cache ? ts__cache_disk_problem(&cache->disk) : NULL;
}
