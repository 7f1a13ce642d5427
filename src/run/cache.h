/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled code kept between launches and between processes. A key is the exact bytes of everything that
 * code depends on; an entry holds its key, so a hash that collides gives a miss, never wrong code.
 */
#ifndef TS_RUN_CACHE_H
#define TS_RUN_CACHE_H

#include "base/base.h"
#include "tessera/compile.h"

typedef struct ts_cache ts_cache;

typedef struct ts_cache_options {
    const char *dir;        /* used by way of a directory of our own in it (cache_disk.h); NULL: memory only */
    uint64_t limit_bytes;   /* of the directory; 0 = default (1 GiB) */
    const ts_alloc *alloc;
} ts_cache_options;

/* NULL when memory is out. */
ts_cache *ts__cache_create(const ts_cache_options *options);
void ts__cache_destroy(ts_cache *cache);
/* The process's own, set up from TESSERA_CACHE_DIR (0, off or none: no directory), TESSERA_CACHE_SIZE (bytes, with
 * K, M or G), else XDG_CACHE_HOME or HOME. *out is NULL when memory is out. Errors: TS_VALUE for a TESSERA_CACHE_SIZE
 * that does not parse. */
TS_CHECKED ts_status ts__cache_shared(ts_cache **out, ts_error *err);

typedef enum ts_cache_hit { TS_CACHE_MISS, TS_CACHE_MEMORY, TS_CACHE_DISK } ts_cache_hit;

/* Everything here is safe from several threads and processes. Trouble with files is never an error. */
/* On a hit *out is a copy made with `alloc`, for ts_code_deinit. */
ts_cache_hit ts__cache_get(ts_cache *cache, const void *key, size_t n_key, const ts_alloc *alloc, ts_code *out);
void ts__cache_put(ts_cache *cache, const void *key, size_t n_key, const ts_code *code);

/* Fills `key` anew with what a compilation depends on: this build of the library, the processor it would run on, the
 * LLVM that makes its code, target, hints, specs and source (not a module: its text); and `more`, where it is not NULL.
 * May load LLVM. */
void ts__cache_key(ts_cache *cache, ts_text *key, const ts_source *source, const ts_text *more, const ts_spec *spec,
                   size_t n_spec, const ts_hints *hints, ts_target target);

#endif
