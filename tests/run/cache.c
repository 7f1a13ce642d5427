/* SPDX-License-Identifier: Apache-2.0
 *
 * The cache of compiled code: what was put comes back in this and in other processes, damage of any byte is a
 * miss, many writers and a size limit are survived, and places that cannot be used do no harm.
 */
#include "run/cache.h"
#include "tessera/launch.h"
#include "run/cache_disk.h"
#include "device/setup.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "target/llvm/llvm.h"

static char root[256];

static ts_cache *cache_new(const char *dir, uint64_t limit)
{
    ts_cache *cache = ts__cache_create(&(ts_cache_options){dir, limit, NULL});
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
    ts__cache_put(cache, key, strlen(key), &code);
}

/* What the key gives, and whether it is `wanted`. */
static ts_cache_hit get(ts_cache *cache, const char *key, const char *wanted)
{
    ts_code code = {0};
    ts_cache_hit hit = ts__cache_get(cache, key, strlen(key), ts_alloc_default(), &code);
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
    char pattern[400];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/tessera-code/[0-9a-f][0-9a-f]/*", dir);
    CHECK_INT(glob(pattern, 0, NULL, &found), 0);
    CHECK_INT(found.gl_pathc, 1);
    snprintf(path, n, "%s", found.gl_pathv[0]);
    globfree(&found);
}

/* Entries and what they take. */
static int64_t count_bytes(const char *dir, int *n_files)
{
    char command[512];
    long long bytes = 0;
    snprintf(command, sizeof command,
             "find %s -type f -path '*/tessera-code/[0-9a-f][0-9a-f]/*' | wc -l; du -s -B1 %s | cut -f1", dir, dir);
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
    ts__cache_put(first, "key", 3, &code);
    CHECK_INT(get(first, "key", text), TS_CACHE_MEMORY);
    CHECK_INT(get(second, "other", text), TS_CACHE_MISS);
    CHECK_INT(ts__cache_get(second, "key", 3, ts_alloc_default(), &found), TS_CACHE_DISK);
    CHECK(found.n_messages == sizeof messages && memcmp(found.messages, messages, sizeof messages) == 0);
    CHECK(memcmp(&found.plan, &code.plan, sizeof found.plan) == 0);
    ts_code_deinit(&found);
    CHECK_INT(get(second, "key", text), TS_CACHE_MEMORY);
    ts__cache_destroy(first);
    ts__cache_destroy(second);
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
        ts__cache_destroy(reader);
    }
    CHECK_INT(hits, 0);
    ts_cache *reader = cache_new(dir, 0);
    CHECK_INT(get(reader, "key", text), TS_CACHE_DISK);
    ts__cache_destroy(reader);
    for (off_t size = st.st_size; size-- > 0; size -= size / 20) {
        CHECK_INT(ftruncate(fd, size), 0);
        reader = cache_new(dir, 0);
        CHECK_INT(get(reader, "key", text), TS_CACHE_MISS);
        ts__cache_destroy(reader);
    }
    close(fd);
    put(writer, "key", text);
    reader = cache_new(dir, 0);
    CHECK_INT(get(reader, "key", text), TS_CACHE_DISK);
    ts__cache_destroy(reader);
    ts__cache_destroy(writer);
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
    ts__cache_destroy(reader);
    ts__cache_destroy(writer);
}

/* What opens only when someone writes, what leads elsewhere, and a directory: each is a miss, at once. */
static void odd_files_are_misses(void)
{
    char dir[300], path[600], good[700], text[] = "the code";
    snprintf(dir, sizeof dir, "%s/odd", root);
    ts_cache *cache = cache_new(dir, 0);
    put(cache, "key", text);
    ts__cache_destroy(cache);
    find_entry(dir, path, sizeof path);
    snprintf(good, sizeof good, "%s/good", dir);
    CHECK_INT(rename(path, good), 0);
    for (int kind = 0; kind < 5; kind++) {
        int made = kind == 0   ? mkfifo(path, 0600)
                   : kind == 1 ? symlink(good, path)
                   : kind == 2 ? symlink("/dev/zero", path)
                   : kind == 3 ? mknod(path, S_IFSOCK | 0600, 0)
                               : mkdir(path, 0700);
        CHECK_INT(made, 0);
        cache = cache_new(dir, 0);
        CHECK_INT(get(cache, "key", text), TS_CACHE_MISS);
        put(cache, "key", text);
        ts__cache_destroy(cache);
        cache = cache_new(dir, 0);
        CHECK_INT(get(cache, "key", text), kind == 4 ? TS_CACHE_MISS : TS_CACHE_DISK);
        ts__cache_destroy(cache);
        CHECK_INT(remove(path), 0);
    }
}

static void write_file(const char *format, const char *dir, size_t bytes)
{
    char path[600];
    static char text[1 << 16];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof path, format, dir);
#pragma GCC diagnostic pop
    FILE *file = fopen(path, "w");
    CHECK(file && fwrite(text, 1, bytes, file) == bytes && fclose(file) == 0);
    struct timespec old[2] = {{1000, 0}, {1000, 0}};
    CHECK_INT(utimensat(AT_FDCWD, path, old, 0), 0);
}

/* A directory of someone's, with names like ours where ours are, all old: a cache beyond its limit leaves them. */
static void files_of_others_are_never_deleted(void)
{
    static const char *const others[] = {
        "%s/thesis.txt", "%s/ab/0123456789abcdef0123456789abcd", "%s/tmp.1.1", "%s/tessera-code/ab/notes.txt",
        "%s/tessera-code/ab/0123456789ABCDEF0123456789ABCD", "%s/tessera-code/ab/0123456789abcdef0123456789abcdef",
        "%s/tessera-code/tmp.1.1.txt", "%s/tessera-code/llvm.txt",
        "%s/tessera-code/mine/0123456789abcdef0123456789abcd"};
    for (int tagged = 0; tagged < 2; tagged++) {
        char dir[300], sub[400], key[32];
        static char text[20000];
        int n_files;
        snprintf(dir, sizeof dir, "%s/others%d", root, tagged);
        memset(text, 'x', sizeof text - 1);
        ts_cache *cache = cache_new(dir, 100 << 10);
        if (tagged) /* else a directory of that name was there, with files in it */
            put(cache, "key", text);
        static const char *const folders[] = {"", "ab", "tessera-code", "tessera-code/ab", "tessera-code/mine"};
        for (size_t i = 0; i < TS_COUNT(folders); i++) {
            snprintf(sub, sizeof sub, "%s/%s", dir, folders[i]);
            CHECK(mkdir(sub, 0700) == 0 || errno == EEXIST);
        }
        for (size_t i = 0; i < TS_COUNT(others); i++)
            write_file(others[i], dir, 1 << 16);
        for (int i = 0; i < 70; i++) {
            snprintf(key, sizeof key, "key %d", i);
            put(cache, key, text);
        }
        for (size_t i = 0; i < TS_COUNT(others); i++) {
            snprintf(sub, sizeof sub, "%.*s%s", 300, dir, others[i] + 2);
            CHECK(access(sub, F_OK) == 0);
        }
        count_bytes(dir, &n_files);
        CHECK(tagged ? n_files < 45 : n_files == 73); /* three of others are where entries are */
        ts__cache_destroy(cache);
    }
}

/* What is read is run: a directory that others write to, or own, is refused with a message. */
static void unsafe_directories_are_refused(void)
{
    static const struct { mode_t given, own; uid_t owner; bool is_safe; } cases[] = {
        {0700, 0700, 0, true}, {0755, 0755, 0, true},  {01777, 0700, 0, true}, {0777, 0700, 0, false},
        {0775, 0700, 0, false}, {0700, 0770, 0, false}, {0700, 01777, 0, false}, {0700, 0700, 12345, false}};
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        char dir[300], own[400], text[] = "the code";
        snprintf(dir, sizeof dir, "%s/unsafe%zu", root, i);
        snprintf(own, sizeof own, "%s/tessera-code", dir);
        ts_cache *cache = cache_new(dir, 0);
        put(cache, "key", text);
        ts__cache_destroy(cache);
        CHECK(chmod(dir, cases[i].given) == 0 && chmod(own, cases[i].own) == 0);
        if (cases[i].owner && geteuid() != 0)
            continue;
        if (cases[i].owner)
            CHECK_INT(chown(own, cases[i].owner, 0), 0);
        cache = cache_new(dir, 0);
        const char *problem = ts__cache_disk_problem(ts__cache_disk_of(cache));
        CHECK(cases[i].is_safe ? !problem : problem && strstr(problem, dir) && strstr(problem, "TESSERA_CACHE_DIR"));
        CHECK_INT(get(cache, "key", text), cases[i].is_safe ? TS_CACHE_DISK : TS_CACHE_MISS);
        put(cache, "key", text);
        CHECK_INT(get(cache, "key", text), TS_CACHE_MEMORY);
        ts__cache_destroy(cache);
    }
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
    ts__cache_destroy(cache);
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
    ts__cache_destroy(cache);
    cache = cache_new(dir, LIMIT);
    CHECK_INT(get(cache, "key 0", text), TS_CACHE_MISS);
    ts__cache_destroy(cache);
}

static void unusable_places_do_no_harm(void)
{
    char text[] = "the code", file[300];
    snprintf(file, sizeof file, "%s/file", root);
    fclose(fopen(file, "w"));
    const char *places[] = {"", file, "/proc/nowhere", "/dev/null/x", "~someone/x"};
    for (size_t i = 0; i < TS_COUNT(places); i++) {
        ts_cache *cache = cache_new(places[i], 0);
        put(cache, "key", text);
        put(cache, "key 2", text);
        CHECK_INT(get(cache, "key", text), TS_CACHE_MEMORY);
        const char *problem = ts__cache_disk_problem(ts__cache_disk_of(cache));
        CHECK(*places[i] ? problem && strstr(problem, places[i]) : !problem);
        ts__cache_destroy(cache);
    }
}

/* The key of one compilation, and whether LLVM is loaded after it, of a process of its own. */
static void key_in_child(const char *dir, bool load, char key[32], char *is_loaded)
{
    int pipes[2], status;
    CHECK_INT(pipe(pipes), 0);
    if (fork() == 0) {
        ts_cache *cache = cache_new(dir, 0);
        ts_text text;
        ts__text_init(&text, NULL);
        if (load)
            (void)!ts_llvm_find(NULL, NULL);
        ts__cache_key(cache, &text, &(ts_source){.bytes = "abc", .n = 3}, NULL, NULL, 0, &(ts_hints){0}, TS_TARGET_CPU);
        ts_digest digest = ts__digest_of(text.at, text.n);
        char out[33] = {0};
        memcpy(out, &digest, sizeof digest);
        out[32] = ts__llvm_loaded() != NULL;
        ts__text_deinit(&text);
        ts__cache_destroy(cache);
        _exit(write(pipes[1], out, sizeof out) != sizeof out);
    }
    char in[33];
    wait(&status);
    CHECK_INT(status, 0);
    CHECK_INT(read(pipes[0], in, sizeof in), sizeof in);
    memcpy(key, in, 32);
    *is_loaded = in[32];
    close(pipes[0]);
    close(pipes[1]);
}

/* A second process knows from a note which LLVM it would load, and does not; a note that is no longer true is left. */
static void keys_hold_the_llvm_without_loading_it(void)
{
    char dir[300], pattern[400], one[32], two[32], three[32], is_loaded;
    glob_t found;
    snprintf(dir, sizeof dir, "%s/llvm", root);
    if (ts__llvm_loaded()) /* a child would have it */
        return;
    key_in_child(dir, true, one, &is_loaded);
    if (!is_loaded)
        return; /* no LLVM on this machine */
    key_in_child(dir, false, two, &is_loaded);
    CHECK(!is_loaded && memcmp(one, two, sizeof one) == 0);
    snprintf(pattern, sizeof pattern, "%s/tessera-code/llvm.*", dir);
    CHECK_INT(glob(pattern, 0, NULL, &found), 0);
    CHECK_INT(found.gl_pathc, 1);
    FILE *note = fopen(found.gl_pathv[0], "r+");
    CHECK(note && fseek(note, 20, SEEK_SET) == 0 && fputc('!', note) == '!' && fclose(note) == 0);
    key_in_child(dir, false, three, &is_loaded);
    CHECK(is_loaded && memcmp(one, three, sizeof one) == 0);
    key_in_child(dir, false, three, &is_loaded); /* the note was written anew */
    CHECK(!is_loaded && memcmp(one, three, sizeof one) == 0);
    CHECK_INT(setenv("LD_LIBRARY_PATH", dir, 1), 0); /* might lead to another */
    key_in_child(dir, false, three, &is_loaded);
    CHECK_INT(unsetenv("LD_LIBRARY_PATH"), 0);
    CHECK(is_loaded);
    globfree(&found);
}

static void keys_tell_inputs_apart(void)
{
    ts_cache *cache = cache_new(NULL, 0);
    ts_spec spec[2] = {{.kind = TS_SPEC_ARRAY, .rank = 1}, {.kind = TS_SPEC_NONE}};
    ts_hints hints = {0}, other = {.opt_level = 1};
    struct { const char *pack; size_t n_pack, n_spec; ts_hints *hints; ts_target target;
    } cases[] = {{"abc", 3, 1, &hints, TS_TARGET_CPU},  {"abd", 3, 1, &hints, TS_TARGET_CPU},
                 {"abc", 3, 2, &hints, TS_TARGET_CPU},  {"abc", 3, 1, &other, TS_TARGET_CPU},
                 {"abc", 3, 1, &hints, TS_TARGET_SM90}, {"ab", 2, 1, &hints, TS_TARGET_CPU}};
    ts_text keys[TS_COUNT(cases)];
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        ts__text_init(&keys[i], NULL);
        ts_source source = {.bytes = cases[i].pack, .n = cases[i].n_pack};
        ts__cache_key(cache, &keys[i], &source, NULL, spec, cases[i].n_spec, cases[i].hints, cases[i].target);
        for (size_t k = 0; k < i; k++)
            CHECK(keys[i].n != keys[k].n || memcmp(keys[i].at, keys[k].at, keys[i].n) != 0);
    }
    ts_text again;
    ts__text_init(&again, NULL);
    ts__cache_key(cache, &again, &(ts_source){.bytes = "abc", .n = 3}, NULL, spec, 1, &hints, TS_TARGET_CPU);
    CHECK(again.n == keys[0].n && memcmp(again.at, keys[0].at, again.n) == 0);
    static const char *const leave_out_passes[] = {"TS_STOP", "TS_BISECT", "TS_SKIP"};
    for (size_t i = 0; i < TS_COUNT(leave_out_passes); i++) {
        CHECK_INT(setenv(leave_out_passes[i], "3", 1), 0);
        ts__cache_key(cache, &again, &(ts_source){.bytes = "abc", .n = 3}, NULL, spec, 1, &hints, TS_TARGET_CPU);
        CHECK_INT(unsetenv(leave_out_passes[i]), 0);
        CHECK(again.n != keys[0].n);
    }
    ts__text_deinit(&again);
    ts__cache_destroy(cache);
    for (size_t i = 0; i < TS_COUNT(cases); i++)
        ts__text_deinit(&keys[i]);
}

/* In the process's own cache, whose directory is the first thing that main sets. */
static void clients_keep_bytes(void)
{
    ts_code found;
    ts_cached entry;
    char path[600], head[64] = {0};
    ts_cache_kept("tree", 4, &found);
    CHECK(found.bytes == NULL);
    ts_code_deinit(&found);
    ts_cache_keep("tree of f", "tree", 4, "a\0b", 3);
    find_entry(getenv("TESSERA_CACHE_DIR"), path, sizeof path);
    ts_cache_keep("tree of g", "treetop", 7, "other", 5);
    ts_cache_kept("tree", 4, &found);
    CHECK(found.n_bytes == 3 && memcmp(found.bytes, "a\0b", 3) == 0);
    ts_code_deinit(&found);
    ts_cache_kept("tre", 3, &found);
    CHECK(found.bytes == NULL);
    ts_code_deinit(&found);
    ts_cache *cache;
    CHECK_INT(ts__cache_shared(&cache, &err), TS_OK);
    CHECK_INT(get(cache, "tree", NULL), TS_CACHE_MISS); /* no key of code is one of a client */
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(head, 1, sizeof head, file) == sizeof head);
    if (file)
        fclose(file);
    CHECK_INT(ts_cache_read_entry(head, sizeof head, &entry, &err), TS_VALUE); /* half of one is none */
}

static void failing_allocations_are_misses(void)
{
    char dir[300], text[] = "the code";
    snprintf(dir, sizeof dir, "%s/alloc", root);
    for (int64_t n = 1; n < 30; n++) {
        counting count = {.fail_at = n};
        ts_alloc alloc = {counting_resize, &count};
        ts_cache *cache = ts__cache_create(&(ts_cache_options){dir, 0, &alloc});
        if (cache) {
            put(cache, "key", text);
            ts_code code;
            if (ts__cache_get(cache, "key", 3, &alloc, &code) != TS_CACHE_MISS)
                ts_code_deinit(&code);
        }
        ts__cache_destroy(cache);
        CHECK_INT(count.bytes_out, 0);
    }
}

int main(void)
{
    snprintf(root, sizeof root, "%s/tessera-cache-XXXXXX", check_tmp());
    CHECK(mkdtemp(root) != NULL);
    alarm(120); /* a file that is waited for ends the test */
    char own[300];
    snprintf(own, sizeof own, "%s/own", root);
    setenv("TESSERA_CACHE_DIR", own, 1);
    clients_keep_bytes();
    code_comes_back_from_memory_and_from_disk();
    damaged_entries_are_misses();
    foreign_files_are_not_believed();
    odd_files_are_misses();
    files_of_others_are_never_deleted();
    unsafe_directories_are_refused();
    processes_may_write_at_once();
    the_directory_stays_below_its_limit();
    unusable_places_do_no_harm();
    keys_hold_the_llvm_without_loading_it();
    keys_tell_inputs_apart();
    failing_allocations_are_misses();
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
    return check_done();
}
