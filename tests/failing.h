/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocator that fails at the n-th growing request, or from there on, and counts the bytes that live.
 */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include "tessera/base.h"
#include <stdbool.h>

typedef struct failing {
    int count, fail_at;
    bool forever; /* all later ones fail, too */
    int64_t bytes;
} failing;

static inline void *failing_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    failing *f = user;
    bool fails = new_bytes > old_bytes && (f->forever ? f->count >= f->fail_at : f->count == f->fail_at);
    f->count += new_bytes > old_bytes;
    if (fails)
        return NULL;
    f->bytes += (int64_t)new_bytes - (int64_t)old_bytes;
    return ts_alloc_default()->resize(NULL, block, old_bytes, new_bytes);
}

#endif
