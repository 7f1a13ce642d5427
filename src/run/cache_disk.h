/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of the cache of compiled code. What is in them is run, so they are kept in a directory of our own, inside
 * the one that was given, and only what no other user can have written is read:
 *
 *     <given>/                           of this user or root; others cannot write to it, or it is sticky
 *         tessera-code/                  ours, 0700
 *             CACHEDIR.TAG               says so; nothing is deleted without it
 *             xx/<30 hex digits>         an entry
 *             llvm.<16 hex digits>       a note of cache_key.c
 *             tmp.<pid>.<number>         being written; renamed when complete
 *
 * Anything else in there is neither read, counted nor deleted.
 */
#ifndef TS_RUN_CACHE_DISK_H
#define TS_RUN_CACHE_DISK_H

#include "base/lock.h"
#include <stdatomic.h>

#define CACHE_FOLDER "tessera-code"
#define CACHE_ENTRY_MAX ((uint64_t)256 << 20)
enum { CACHE_PATH = 4096, CACHE_NAME = 64 };

typedef enum cache_disk_state {
    CACHE_DISK_UNSEEN,  /* not looked at yet, or not there yet */
    CACHE_DISK_USABLE,
    CACHE_DISK_REFUSED
} cache_disk_state;

typedef struct cache_disk {
    const ts_alloc *alloc;
    char *given;             /* "" = none */
    uint64_t limit_bytes;
    _Atomic int state;       /* cache_disk_state */
    _Atomic bool is_readonly; /* a write was not permitted: do not try each time */
    _Atomic uint32_t n_writes;
    ts_lock lock;            /* `problem` until `state` is REFUSED, `llvm` until it is known */
    ts_error problem;
    _Atomic bool knows_llvm, has_noted; /* of cache_key.c */
    ts_digest llvm;          /* what a note says */
} cache_disk;

/* Names are below tessera-code/ and shorter than CACHE_NAME. All are safe from several threads and processes. */
bool ts__cache_disk_init(cache_disk *disk, const char *dir, uint64_t limit_bytes, const ts_alloc *alloc);
void ts__cache_disk_deinit(cache_disk *disk);
/* Owns: the result, *n bytes of `alloc`; NULL: not there, not to be believed, or no memory. Notes the use. */
char *ts__cache_disk_read(cache_disk *disk, const char *name, size_t *n);
/* Whole or not at all; every 32nd one of a process keeps the directory below its limit. */
void ts__cache_disk_write(cache_disk *disk, const char *name, const char *bytes, size_t n);
/* Why the directory is refused, or NULL. Makes it where there is none. */
const char *ts__cache_disk_problem(cache_disk *disk);
struct ts_cache;
cache_disk *ts__cache_disk_of(struct ts_cache *cache);

#endif
