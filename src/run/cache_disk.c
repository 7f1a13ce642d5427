/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of the cache of compiled code (cache_disk.h draws the directory): whether it may be used, reading and
 * writing whole files, and sweeping. A file is opened so that no FIFO or device can stop us and no link is followed,
 * and believed if it is a plain file of this user that others cannot write to. Use is noted by touching a file,
 * once an hour at most. A sweep adds up our files and removes those that were longest unused.
 */
#include "run/cache_disk.h"
#include "device/device.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DISK_TOUCH_S = 3600, DISK_SWEEP_EVERY = 32 };
#define DISK_TAG "CACHEDIR.TAG"
static const char disk_tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# Compiled code kept by Tessera. It deletes files here that have names of its own.\n";

/* ---- names of ours ------------------------------------------------------------------------------------ */

static bool disk_is_made_of(const char *text, size_t n, const char *letters)
{
    return strlen(text) == n && strspn(text, letters) == n;
}
#define DISK_HEX "0123456789abcdef"

static bool disk_is_shelf(const char *name)
{
    return disk_is_made_of(name, 2, DISK_HEX);
}

static bool disk_is_entry(const char *name)
{
    return disk_is_made_of(name, 30, DISK_HEX);
}

static bool disk_is_note(const char *name)
{
    return strncmp(name, "llvm.", 5) == 0 && disk_is_made_of(name + 5, 16, DISK_HEX);
}

static bool disk_is_fresh(const char *name)
{
    static const char digits[] = "0123456789";
    if (strncmp(name, "tmp.", 4) != 0)
        return false;
    size_t pid = strspn(name + 4, digits), number = name[4 + pid] == '.' ? strspn(name + 5 + pid, digits) : 0;
    return pid && number && !name[5 + pid + number];
}

/* ---- what is believed ----------------------------------------------------------------------------------- */

static bool disk_is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* A plain file that only this user can have written, open for reading; -1. O_NONBLOCK: a FIFO opens at once. */
static int disk_open(int at, const char *path, struct stat *st)
{
    int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && disk_is_private(st) && st->st_size > 0 &&
        (uint64_t)st->st_size <= CACHE_ENTRY_MAX)
        return fd;
    close(fd);
    return -1;
}

static bool disk_read_all(int fd, char *to, size_t n)
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

static bool disk_write_all(int fd, const char *from, size_t n)
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

/* ---- the directory ---------------------------------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3), cold))
#endif
static void disk_refuse(cache_disk *disk, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    ts__lock_take(&disk->lock);
    if (atomic_load(&disk->state) != CACHE_DISK_REFUSED)
        (void)ts_fail(&disk->problem, TS_VALUE,
                      "compiled code is not kept on disk, because %s; set TESSERA_CACHE_DIR to a directory of your "
                      "own, "
                      "or to off", text);
    atomic_store(&disk->state, CACHE_DISK_REFUSED);
    ts__lock_give(&disk->lock);
}

/* Whether what `fd` is open on may hold code for us; `may_share`: a directory that others use too. */
static bool disk_check(cache_disk *disk, int fd, const char *below, bool may_share)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    bool is_ours = st.st_uid == geteuid() || (may_share && st.st_uid == 0);
    bool is_safe = !(st.st_mode & (S_IWGRP | S_IWOTH)) || (may_share && st.st_mode & S_ISVTX);
    if (!is_ours)
        disk_refuse(disk, "the directory '%.300s%s' belongs to user %u, not to this one (%u), and what is read from "
                          "there is "
                    "run", disk->given, below,
                    (unsigned)st.st_uid, (unsigned)geteuid());
    else if (!is_safe)
        disk_refuse(disk, "others can write to the directory '%.300s%s' (mode %03o; chmod go-w mends it), and what is "
                          "read from "
                    "there is run", disk->given, below, (unsigned)st.st_mode & 0777);
    return is_ours && is_safe;
}

/* Our directory, open and checked; -1: not there, or refused. */
static int disk_open_root(cache_disk *disk)
{
    enum { FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
    int given = open(disk->given, FLAGS);
    int root = given >= 0 && disk_check(disk, given, "", true)
                   ? openat(given, CACHE_FOLDER, FLAGS | O_NOFOLLOW)
                   : -1;
    if (root < 0 && (errno == ENOTDIR || errno == ELOOP))
        disk_refuse(disk, "'%.300s%s' is not a directory", disk->given, given < 0 ? "" : "/" CACHE_FOLDER);
    if (given >= 0)
        close(given);
    if (root >= 0 && !disk_check(disk, root, "/" CACHE_FOLDER, false)) {
        close(root);
        return -1;
    }
    return root;
}

/* Looks at the directory until there is one; then its state is known. */
static cache_disk_state disk_look(cache_disk *disk)
{
    cache_disk_state state = (cache_disk_state)atomic_load_explicit(&disk->state, memory_order_acquire);
    if (state != CACHE_DISK_UNSEEN || !disk->given[0])
        return state;
    int root = disk_open_root(disk), unseen = CACHE_DISK_UNSEEN;
    if (root < 0)
        return (cache_disk_state)atomic_load(&disk->state);
    close(root);
    (void)atomic_compare_exchange_strong(&disk->state, &unseen, CACHE_DISK_USABLE);
    return (cache_disk_state)atomic_load(&disk->state);
}

/* Makes the directories before each '/' of a path; 0700, because what is in them is run. Gives 0, or the errno of the
 * last. */
static int disk_make_parents(char *path)
{
    int problem = 0;
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            problem = mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
            *at = '/';
        }
    return problem;
}

static bool disk_path(const cache_disk *disk, const char *name, char *path)
{
    int n = snprintf(path, CACHE_PATH, "%s/" CACHE_FOLDER "/%s", disk->given, name);
    return n > 0 && n < CACHE_PATH;
}

/* Makes our directory, which is not there. One that is there and cannot be written is a cache, too. */
static void disk_make_root(cache_disk *disk)
{
    char path[CACHE_PATH];
    int problem = disk_path(disk, "", path) ? disk_make_parents(path) : ENAMETOOLONG;
    errno = 0;
    if (disk_look(disk) == CACHE_DISK_UNSEEN)
        disk_refuse(disk, "the directory '%.300s/" CACHE_FOLDER "' cannot be made (%s)", disk->given,
                    strerror(problem ? problem : errno));
}

/* ---- reading and writing ------------------------------------------------------------------------------------ */

char *ts__cache_disk_read(cache_disk *disk, const char *name, size_t *n)
{
    char path[CACHE_PATH];
    struct stat st;
    bool may = disk_look(disk) == CACHE_DISK_USABLE && disk_path(disk, name, path);
    int fd = may ? disk_open(AT_FDCWD, path, &st) : -1;
    if (fd < 0)
        return NULL;
    *n = (size_t)st.st_size;
    char *bytes = disk->alloc->resize(disk->alloc->user, NULL, 0, *n);
    if (bytes && !disk_read_all(fd, bytes, *n)) {
        ts__delete(disk->alloc, bytes, *n);
        bytes = NULL;
    }
    if (bytes && time(NULL) - st.st_mtime > DISK_TOUCH_S)
        futimens(fd, NULL);
    close(fd);
    return bytes;
}

static int disk_open_fresh(const cache_disk *disk, uint32_t number, char *path)
{
    enum { FLAGS = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW };
    char name[CACHE_NAME];
    snprintf(name, sizeof name, "tmp.%ld.%u", (long)getpid(), number);
    if (!disk_path(disk, name, path))
        return -1;
    int fd = open(path, FLAGS, 0600);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    disk_make_parents(path);
    return open(path, FLAGS, 0600);
}

/* `number` is unique in this process. 0, or an errno. */
static int disk_store(const cache_disk *disk, uint32_t number, const char *name, const char *bytes, size_t n)
{
    char fresh[CACHE_PATH], path[CACHE_PATH];
    if (!disk_path(disk, name, path))
        return ENAMETOOLONG;
    int fd = disk_open_fresh(disk, number, fresh);
    if (fd < 0)
        return errno;
    bool ok = disk_write_all(fd, bytes, n);
    ok &= close(fd) == 0;
    if (ok && rename(fresh, path) != 0) {
        disk_make_parents(path);
        ok = rename(fresh, path) == 0;
    }
    int problem = ok ? 0 : errno;
    if (!ok)
        unlink(fresh);
    return problem;
}

/* ---- sweeping ------------------------------------------------------------------------------------------------ */

typedef struct disk_file {
    char name[CACHE_NAME]; /* below our directory */
    int64_t mtime, bytes;
} disk_file;

typedef struct disk_list {
    ts_arena arena;
    TS_VEC(disk_file) files;
    uint64_t total;
} disk_list;

/* Puts our files of one folder on the list; temporary ones older than an hour go at once. */
static void disk_list_folder(disk_list *list, int at, const char *prefix, bool (*is_listed)(const char *name))
{
    DIR *folder = fdopendir(at);
    for (struct dirent *item; folder && (item = readdir(folder));) {
        struct stat st;
        disk_file file = {.bytes = 0};
        bool is_fresh = !*prefix && disk_is_fresh(item->d_name);
        if ((!is_fresh && !is_listed(item->d_name)) || fstatat(at, item->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode) || st.st_uid != geteuid())
            continue;
        if (is_fresh && time(NULL) - st.st_mtime > DISK_TOUCH_S) {
            unlinkat(at, item->d_name, 0);
            continue;
        }
        snprintf(file.name, sizeof file.name, "%s%.40s", prefix, item->d_name);
        file.mtime = st.st_mtime;
        file.bytes = st.st_blocks * 512;
        list->total += (uint64_t)file.bytes;
        if (!is_fresh && !TS_PUSH(&list->arena, &list->files, file))
            break;
    }
    if (folder)
        closedir(folder);
    else if (at >= 0)
        close(at);
}

static int disk_by_age(const void *a, const void *b)
{
    const disk_file *x = a, *y = b;
    return (x->mtime > y->mtime) - (x->mtime < y->mtime);
}

static void disk_list_all(disk_list *list, int root)
{
    for (unsigned i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "%02x", i);
        int at = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        name[2] = '/', name[3] = 0;
        if (at >= 0)
            disk_list_folder(list, at, name, disk_is_entry);
    }
    disk_list_folder(list, openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "", disk_is_note);
}

/* Whether the directory holds nothing but what we make. */
static bool disk_is_all_ours(int root)
{
    int at = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fdopendir(at);
    bool ours = folder != NULL;
    for (struct dirent *item; ours && (item = readdir(folder));)
        ours = strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 || disk_is_shelf(item->d_name) ||
               disk_is_note(item->d_name) || disk_is_fresh(item->d_name);
    if (folder)
        closedir(folder);
    else if (at >= 0)
        close(at);
    return ours;
}

/* Whether the tag says that files may be deleted here. It is made where there is none and nothing of anyone else. */
static bool disk_is_tagged(cache_disk *disk, int root, uint32_t number)
{
    char text[sizeof disk_tag];
    struct stat st;
    if (fstatat(root, DISK_TAG, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && disk_is_all_ours(root) &&
               disk_store(disk, number, DISK_TAG, disk_tag, sizeof disk_tag - 1) == 0;
    int fd = disk_open(root, DISK_TAG, &st);
    bool is_tag = fd >= 0 && st.st_size == sizeof disk_tag - 1 && disk_read_all(fd, text, sizeof disk_tag - 1) &&
                  memcmp(text, disk_tag, sizeof disk_tag - 1) == 0;
    if (fd >= 0)
        close(fd);
    return is_tag;
}

/* Down to nine tenths of the limit, so that not every sweep has something to do. */
static void disk_sweep(cache_disk *disk, uint32_t number)
{
    disk_list list = {.total = 0};
    int root = disk_open_root(disk);
    if (root >= 0 && disk_is_tagged(disk, root, number)) {
        ts__arena_init(&list.arena, disk->alloc);
        disk_list_all(&list, root);
        if (list.total > disk->limit_bytes)
            qsort(list.files.at, list.files.n, sizeof list.files.at[0], disk_by_age);
        uint64_t wanted = list.total > disk->limit_bytes ? disk->limit_bytes / 10 * 9 : list.total;
        for (uint32_t i = 0; i < list.files.n && list.total > wanted; i++)
            if (unlinkat(root, list.files.at[i].name, 0) == 0)
                list.total -= (uint64_t)list.files.at[i].bytes;
        ts__arena_deinit(&list.arena);
    }
    if (root >= 0)
        close(root);
}

void ts__cache_disk_write(cache_disk *disk, const char *name, const char *bytes, size_t n)
{
    if (!disk->given[0] || n > CACHE_ENTRY_MAX || atomic_load(&disk->is_readonly) ||
        disk_look(disk) == CACHE_DISK_REFUSED)
        return;
    uint32_t number = atomic_fetch_add(&disk->n_writes, 2); /* the one after it is for the tag */
    int problem = disk_store(disk, number, name, bytes, n);
    if (problem == EROFS || problem == EACCES)
        atomic_store(&disk->is_readonly, true);
    else if (number / 2 % DISK_SWEEP_EVERY == 0)
        disk_sweep(disk, number + 1);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

const char *ts__cache_disk_problem(cache_disk *disk)
{
    if (disk->given[0] && disk_look(disk) == CACHE_DISK_UNSEEN)
        disk_make_root(disk);
    return disk_look(disk) == CACHE_DISK_REFUSED ? disk->problem.text : NULL;
}

bool ts__cache_disk_init(cache_disk *disk, const char *dir, uint64_t limit_bytes, const ts_alloc *alloc)
{
    disk->alloc = alloc;
    disk->limit_bytes = limit_bytes;
    ts__lock_init(&disk->lock, false);
    disk->given = ts__string(alloc, dir);
    if (disk->given && disk->given[0] == '~')
        disk_refuse(disk, "'%.300s' begins with ~, which is the home directory only as ~ or ~/... with a HOME",
                    disk->given);
    return disk->given != NULL;
}

void ts__cache_disk_deinit(cache_disk *disk)
{
    ts__string_delete(disk->alloc, disk->given);
    ts__lock_deinit(&disk->lock);
}
