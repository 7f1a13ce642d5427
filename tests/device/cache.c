/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of compiled code: what was put comes back in this and in other processes, damage of any byte is a
 * miss, many writers and a size limit are survived, and places that cannot be used do no harm.
 */
#include "device/cache.h"
#include "device.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char root[256];

static ts_cache *cache_new(const char *dir, uint64_t limit)
{
    ts_cache *cache = ts_cache_create(&(ts_cache_options){dir, limit, NULL});
    CHECK(cache != NULL);
    return cache;
}

static ts_code code_of(char *bytes, size_t n, char *messages, size_t n_messages)
{
    return (ts_code){.plan = {.target = 1, .n_params = 3, .name = "entry"}, .bytes = (uint8_t *)bytes, .n_bytes = n,
                     .messages = messages, .n_messages = n_messages};
}

static void put(ts_cache *cache, const char *key, char *text)
{
    ts_code code = code_of(text, strlen(text), NULL, 0);
    ts_cache_put(cache, key, strlen(key), &code);
}

/* What the key gives, and whether it is `wanted`. */
static ts_cache_hit get(ts_cache *cache, const char *key, const char *wanted)
{
    ts_code code = {0};
    ts_cache_hit hit = ts_cache_get(cache, key, strlen(key), ts_alloc_default(), &code);
    if (hit != TS_CACHE_MISS) {
        CHECK(code.n_bytes == strlen(wanted) && memcmp(code.bytes, wanted, code.n_bytes) == 0);
        CHECK_STR(code.plan.name, "entry");
        ts_code_deinit(&code);
    }
    return hit;
}

/* The one entry of a fresh directory. */
static void find_entry(const char *dir, char *path, size_t n)
{
    DIR *top = opendir(dir);
    path[0] = 0; /* names are short here */
    for (struct dirent *a; top && (a = readdir(top));) {
        char sub[600];
        if (a->d_name[0] == '.')
            continue;
        snprintf(sub, sizeof sub, "%s/%s", dir, a->d_name);
        DIR *inner = opendir(sub);
        for (struct dirent *b; inner && (b = readdir(inner));)
            if (b->d_name[0] != '.')
                snprintf(path, n, "%.300s/%.250s", sub, b->d_name);
        if (inner)
            closedir(inner);
    }
    if (top)
        closedir(top);
}

static int64_t count_bytes(const char *dir, int *n_files)
{
    char command[512];
    long long bytes = 0;
    snprintf(command, sizeof command, "find %s -type f | wc -l; du -s -B1 %s | cut -f1", dir, dir);
    FILE *pipe = popen(command, "r");
    CHECK(pipe && fscanf(pipe, "%d %lld", n_files, &bytes) == 2);
    pclose(pipe);
    return bytes;
}

static void code_comes_back_from_memory_and_from_disk(void)
{
    char dir[300], text[] = "the code", messages[] = "a\0b";
    snprintf(dir, sizeof dir, "%s/deep/er/plain", root);
    ts_cache *first = cache_new(dir, 0), *second = cache_new(dir, 0);
    ts_code code = code_of(text, sizeof text - 1, messages, sizeof messages), found;
    ts_cache_put(first, "key", 3, &code);
    CHECK_INT(get(first, "key", text), TS_CACHE_MEMORY);
    CHECK_INT(get(second, "other", text), TS_CACHE_MISS);
    CHECK_INT(ts_cache_get(second, "key", 3, ts_alloc_default(), &found), TS_CACHE_DISK);
    CHECK(found.n_messages == sizeof messages && memcmp(found.messages, messages, sizeof messages) == 0);
    CHECK(memcmp(&found.plan, &code.plan, sizeof found.plan) == 0);
    ts_code_deinit(&found);
    CHECK_INT(get(second, "key", text), TS_CACHE_MEMORY);
    ts_cache_destroy(first);
    ts_cache_destroy(second);
}

/* Every byte of the entry flipped in turn, and every length shorter than the whole. */
static void damaged_entries_are_misses(void)
{
    char dir[300], path[600], text[] = "the code";
    snprintf(dir, sizeof dir, "%s/damage", root);
    ts_cache *writer = cache_new(dir, 0);
    put(writer, "key", text);
    find_entry(dir, path, sizeof path);
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    int fd = open(path, O_RDWR), hits = 0;
    for (off_t at = 0; at < st.st_size; at++) {
        ts_cache *reader = cache_new(dir, 0);
        unsigned char byte, bad;
        CHECK(pread(fd, &byte, 1, at) == 1);
        bad = byte ^ (unsigned char)(1u << (at % 8));
        CHECK(pwrite(fd, &bad, 1, at) == 1);
        hits += get(reader, "key", text) != TS_CACHE_MISS;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        ts_cache_destroy(reader);
    }
    CHECK_INT(hits, 0);
    ts_cache *reader = cache_new(dir, 0);
    CHECK_INT(get(reader, "key", text), TS_CACHE_DISK);
    ts_cache_destroy(reader);
    for (off_t size = st.st_size; size-- > 0; size -= size / 20) {
        CHECK_INT(ftruncate(fd, size), 0);
        reader = cache_new(dir, 0);
        CHECK_INT(get(reader, "key", text), TS_CACHE_MISS);
        ts_cache_destroy(reader);
    }
    close(fd);
    put(writer, "key", text);
    reader = cache_new(dir, 0);
    CHECK_INT(get(reader, "key", text), TS_CACHE_DISK);
    ts_cache_destroy(reader);
    ts_cache_destroy(writer);
}

static void foreign_files_are_not_believed(void)
{
    char dir[300], path[600], text[] = "the code";
    snprintf(dir, sizeof dir, "%s/foreign", root);
    ts_cache *writer = cache_new(dir, 0);
    put(writer, "key", text);
    find_entry(dir, path, sizeof path);
    CHECK_INT(chmod(path, 0666), 0); /* others could have written it */
    ts_cache *reader = cache_new(dir, 0);
    CHECK_INT(get(reader, "key", text), TS_CACHE_MISS);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(mkdir(path, 0700), 0);
    CHECK_INT(get(reader, "key", text), TS_CACHE_MISS);
    put(reader, "key", text);
    CHECK_INT(get(reader, "key", text), TS_CACHE_MEMORY);
    ts_cache_destroy(reader);
    ts_cache_destroy(writer);
}

static int write_many(const char *dir, int child)
{
    ts_cache *cache = cache_new(dir, 0);
    for (int i = 0; i < 60; i++) {
        char key[32], text[400];
        snprintf(key, sizeof key, "key %d", i);
        memset(text, 'a' + i % 26, sizeof text);
        text[sizeof text - 1] = 0;
        if (get(cache, key, text) == TS_CACHE_MISS)
            put(cache, key, text);
        if (get(cache, key, text) == TS_CACHE_MISS)
            return 1;
    }
    ts_cache_destroy(cache);
    (void)child;
    return check_failed != 0;
}

static void processes_may_write_at_once(void)
{
    char dir[300];
    int n_files, status;
    snprintf(dir, sizeof dir, "%s/many", root);
    for (int child = 0; child < 4; child++)
        if (fork() == 0)
            _exit(write_many(dir, child));
    for (int child = 0; child < 4; child++) {
        wait(&status);
        CHECK_INT(status, 0);
    }
    count_bytes(dir, &n_files);
    CHECK_INT(n_files, 60);
}

static void the_directory_stays_below_its_limit(void)
{
    enum { LIMIT = 400 << 10 };
    char dir[300], key[32];
    static char text[20000];
    int n_files;
    snprintf(dir, sizeof dir, "%s/small", root);
    memset(text, 'x', sizeof text - 1);
    ts_cache *cache = cache_new(dir, LIMIT);
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "key %d", i);
        put(cache, key, text);
    }
    CHECK(count_bytes(dir, &n_files) < LIMIT + 33 * 24576 + 256 * 4096);
    CHECK(n_files > 10 && n_files < 60);
    CHECK_INT(get(cache, "key 199", text), TS_CACHE_MEMORY);
    ts_cache_destroy(cache);
    cache = cache_new(dir, LIMIT);
    CHECK_INT(get(cache, "key 0", text), TS_CACHE_MISS);
    ts_cache_destroy(cache);
}

static void unusable_places_do_no_harm(void)
{
    char text[] = "the code", file[300];
    snprintf(file, sizeof file, "%s/file", root);
    fclose(fopen(file, "w"));
    const char *places[] = {"", file, "/proc/nowhere", "/dev/null/x"};
    for (size_t i = 0; i < TS_COUNT(places); i++) {
        ts_cache *cache = cache_new(places[i], 0);
        put(cache, "key", text);
        put(cache, "key 2", text);
        CHECK_INT(get(cache, "key", text), TS_CACHE_MEMORY);
        ts_cache_destroy(cache);
    }
}

static void keys_tell_inputs_apart(void)
{
    ts_spec spec[2] = {{.kind = TS_SPEC_ARRAY, .rank = 1}, {.kind = TS_SPEC_NONE}};
    ts_hints hints = {0}, other = {.opt_level = 1};
    struct { const char *pack; size_t n_pack, n_spec; ts_hints *hints; ts_target target;
    } cases[] = {{"abc", 3, 1, &hints, TS_TARGET_CPU},  {"abd", 3, 1, &hints, TS_TARGET_CPU},
                 {"abc", 3, 2, &hints, TS_TARGET_CPU},  {"abc", 3, 1, &other, TS_TARGET_CPU},
                 {"abc", 3, 1, &hints, TS_TARGET_SM90}, {"ab", 2, 1, &hints, TS_TARGET_CPU}};
    ts_text keys[TS_COUNT(cases)];
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        ts_text_init(&keys[i], NULL);
        ts_cache_key(&keys[i], cases[i].pack, cases[i].n_pack, spec, cases[i].n_spec, cases[i].hints, cases[i].target);
        for (size_t k = 0; k < i; k++)
            CHECK(keys[i].n != keys[k].n || memcmp(keys[i].at, keys[k].at, keys[i].n) != 0);
    }
    ts_text again;
    ts_text_init(&again, NULL);
    ts_cache_key(&again, "abc", 3, spec, 1, &hints, TS_TARGET_CPU);
    CHECK(again.n == keys[0].n && memcmp(again.at, keys[0].at, again.n) == 0);
    ts_text_deinit(&again);
    for (size_t i = 0; i < TS_COUNT(cases); i++)
        ts_text_deinit(&keys[i]);
}

static void failing_allocations_are_misses(void)
{
    char dir[300], text[] = "the code";
    snprintf(dir, sizeof dir, "%s/alloc", root);
    for (int64_t n = 1; n < 30; n++) {
        counting count = {.fail_at = n};
        ts_alloc alloc = {counting_resize, &count};
        ts_cache *cache = ts_cache_create(&(ts_cache_options){dir, 0, &alloc});
        if (cache) {
            put(cache, "key", text);
            ts_code code;
            if (ts_cache_get(cache, "key", 3, &alloc, &code) != TS_CACHE_MISS)
                ts_code_deinit(&code);
        }
        ts_cache_destroy(cache);
        CHECK_INT(count.bytes_out, 0);
    }
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/tessera-cache-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(root) != NULL);
    code_comes_back_from_memory_and_from_disk();
    damaged_entries_are_misses();
    foreign_files_are_not_believed();
    processes_may_write_at_once();
    the_directory_stays_below_its_limit();
    unusable_places_do_no_harm();
    keys_tell_inputs_apart();
    failing_allocations_are_misses();
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
    return check_done();
}
