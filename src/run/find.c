/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels by their contents: a client that builds IR at every call gets the kernel of the call before. The key is the
 * exact bytes of a desc; a module is not printed for it, its memory is taken as it is. Kernels that were found once
 * stay, because nothing here knows when the last launch of one is over; past FIND_KERNELS new ones are
 * their callers' alone.
 */
#include "base/lock.h"
#include "run/launch.h"
#include "ir/ir.h"

enum { FIND_KERNELS = 4096, FIND_BUCKETS = 4096 };

typedef struct find_entry {
    struct find_entry *next;
    ts_kernel *kernel;
    uint64_t hash;
    size_t n;
    char key[];
} find_entry;

static struct {
    ts_lock lock; /* n, buckets */
    uint32_t n;
    _Atomic(find_entry *) buckets[FIND_BUCKETS]; /* atomic for a child of fork: whole entries */
} find_all = {.lock = TS_LOCK_INIT};

/* A text with its end; NULL and "" differ. */
static void find_put_text(ts_text *key, const char *text)
{
    ts__text_putc(key, text ? 1 : 0);
    ts__text_put(key, text ? text : "", text ? strlen(text) + 1 : 0);
}

static void find_put_params(ts_text *key, const ts_param *params, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ts_param *p = &params[i];
        const uint8_t bytes[] = {p->static_shape, p->static_stride, p->dtype, p->static_shape_end,
                                 p->static_stride_end, p->form, p->n_items};
        ts__text_put(key, (const char *)&p->flags, sizeof p->flags);
        ts__text_put(key, (const char *)bytes, sizeof bytes);
        find_put_text(key, p->name);
        find_put_params(key, p->items, p->form != TS_PARAM_ANY && p->items ? p->n_items : 0);
    }
}

static void find_key(ts_text *key, const ts_kernel_desc *desc)
{
    const ts_source *source = &desc->source;
    uint64_t head[] = {(uint64_t)source->kind, source->kind == TS_SOURCE_MODULE ? 0 : source->n, desc->n_params,
                       !!desc->params, desc->n_by_target, (uintptr_t)source->compile, source->id ? source->n_id : 0};
    ts__text_put(key, (const char *)head, sizeof head);
    ts__text_put(key, (const char *)&desc->hints, sizeof desc->hints);
    ts__text_put(key, (const char *)desc->by_target, desc->n_by_target * sizeof *desc->by_target);
    find_put_text(key, desc->name);
    find_put_text(key, desc->file);
    find_put_text(key, source->compiler);
    find_put_text(key, source->entry);
    ts__text_put(key, source->id, source->id ? source->n_id : 0);
    find_put_params(key, desc->params, desc->params ? desc->n_params : 0);
    if (source->kind == TS_SOURCE_MODULE)
        ts__module_key(source->module, key);
    else
        ts__text_put(key, source->bytes, source->n);
}

/* Under lock. A new reference, or NULL. */
static ts_kernel *find_known(const ts_text *key, uint64_t hash)
{
    for (find_entry *entry = atomic_load(&find_all.buckets[hash % FIND_BUCKETS]); entry; entry = entry->next)
        if (entry->hash == hash && entry->n == key->n && memcmp(entry->key, key->at, key->n) == 0) {
            ts_kernel_retain(entry->kernel);
            return entry->kernel;
        }
    return NULL;
}

/* Under lock. Where the list is full the kernel is not kept: its caller has the only reference. */
static void find_keep(const ts_text *key, uint64_t hash, ts_kernel *kernel)
{
    const ts_alloc *alloc = ts_alloc_default();
    if (find_all.n >= FIND_KERNELS || kernel->alloc != alloc) /* another's memory may end before the process */
        return;
    find_entry *entry = alloc->resize(alloc->user, NULL, 0, sizeof *entry + key->n);
    if (!entry)
        return;
    *entry = (find_entry){atomic_load(&find_all.buckets[hash % FIND_BUCKETS]), kernel, hash, key->n};
    memcpy(entry->key, key->at, key->n);
    ts_kernel_retain(kernel);
    atomic_store(&find_all.buckets[hash % FIND_BUCKETS], entry);
    find_all.n++;
}

ts_status ts_kernel_find(const ts_kernel_desc *desc, ts_kernel **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, desc);
    ts_text key;
    const ts_source *source = &desc->source;
    if (source->kind == TS_SOURCE_MODULE ? !source->module : source->n && !source->bytes)
        return ts_kernel_create(desc, out, err);
    ts__text_init(&key, NULL);
    find_key(&key, desc);
    if (key.failed) {
        ts__text_deinit(&key);
        return ts_fail(err, TS_NOMEM, "out of memory for a kernel");
    }
    uint64_t hash = ts__hash(key.at, key.n, 7);
    ts__lock_take(&find_all.lock);
    *out = find_known(&key, hash);
    ts_status status = *out ? TS_OK : ts_kernel_create(desc, out, err);
    if (status == TS_OK && atomic_load(&(*out)->references) == 1)
        find_keep(&key, hash, *out);
    ts__lock_give(&find_all.lock);
    ts__text_deinit(&key);
    return status;
}
