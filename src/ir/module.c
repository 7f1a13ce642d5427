/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules as handles: those of ts_module_create own the arena that they live in. Their text as plain memory, and their
 * contents as a key. What an arena of the compiler holds is made by ts__module_create and ends with it.
 */
#include "ir/text.h"

/* ---- life ---------------------------------------------------------------------------------------*/

static ts_arena *module_arena_new(const ts_alloc *alloc)
{
    if (!alloc)
        alloc = ts_alloc_default();
    ts_arena *arena = alloc->resize(alloc->user, NULL, 0, sizeof *arena);
    if (arena)
        ts__arena_init(arena, alloc);
    return arena;
}

static void module_arena_delete(ts_arena *arena)
{
    const ts_alloc *alloc = arena->alloc;
    ts__arena_deinit(arena);
    alloc->resize(alloc->user, arena, sizeof *arena, 0);
}

ts_status ts_module_create(const ts_alloc *alloc, ts_module **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    ts_arena *arena = module_arena_new(alloc);
    *out = arena ? ts__module_create(arena) : NULL;
    if (*out)
        return TS_OK;
    if (arena)
        module_arena_delete(arena);
    return ts_fail(err, TS_NOMEM, "out of memory for a module");
}

void ts_module_destroy(ts_module *module)
{
    if (module)
        module_arena_delete(module->arena);
}

/* The module is the first thing of its arena, so it comes to lie at the same place; only the oldest block is kept. */
ts_status ts_module_clear(ts_module *module, ts_error *err)
{
    TS_NEED(err, module);
    ts_arena *arena = module->arena;
    ts__arena_rewind(arena, module->start);
    arena->failed = false;
    ts_module *again = ts__module_create(arena);
    ts_assert(!again || again == module);
    return again ? TS_OK : ts_fail(err, TS_NOMEM, "out of memory for a module");
}

/* ---- text ---------------------------------------------------------------------------------------*/

ts_status ts_module_read(const char *text, size_t n, const ts_alloc *alloc, ts_module **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED_N(err, text, n);
    ts_arena *arena = module_arena_new(alloc);
    if (!arena)
        return ts_fail(err, TS_NOMEM, "out of memory for a module");
    ts_status status = ts__module_read(arena, text, n, out, err);
    if (status != TS_OK)
        module_arena_delete(arena);
    return status;
}

ts_status ts__text_take(ts_text *text, char **out, size_t *n, ts_error *err)
{
    ts__text_putc(text, 0); /* so that there is a block even for nothing */
    *out = text->failed ? NULL : text->alloc->resize(text->alloc->user, text->at, text->cap, text->n);
    *n = *out ? text->n - 1 : 0;
    if (*out)
        return TS_OK;
    ts__text_deinit(text);
    return ts_fail(err, TS_NOMEM, "out of memory while printing");
}

ts_status ts_module_print(const ts_module *module, const ts_alloc *alloc, char **out, size_t *n, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, module, n);
    ts_text text;
    ts__text_init(&text, alloc);
    ts__print_module(module, TS_PRINT_LOC, &text);
    return ts__text_take(&text, out, n, err);
}

/* ---- contents -----------------------------------------------------------------------------------*/

static void module_put(ts_text *key, const void *bytes, size_t n)
{
    ts__text_put(key, bytes, n);
}

static void module_put_list(ts_text *key, const void *bytes, uint32_t n, size_t each)
{
    module_put(key, &n, sizeof n);
    module_put(key, bytes, n * each);
}

static void module_put_type(ts_text *key, const ts_type_info *t)
{
    uint32_t head[] = {t->kind | (uint32_t)t->rank << 8 | (uint32_t)t->space << 16 | (uint32_t)t->padding << 24,
                       t->sparse_dim | (uint32_t)t->n_params << 8, t->n_results,
                       (t->dims ? 1u : 0) | (t->strides ? 2u : 0) | (t->dim_map ? 4u : 0) | (t->sub ? 8u : 0), t->elem};
    module_put(key, head, sizeof head);
    module_put(key, t->dims, t->dims ? t->rank * sizeof *t->dims : 0);
    module_put(key, t->strides, t->strides ? t->rank * sizeof *t->strides : 0);
    module_put(key, t->dim_map, t->dim_map ? t->rank * sizeof *t->dim_map : 0);
    module_put(key, t->sub, t->sub ? ((size_t)t->n_params + t->n_results) * sizeof *t->sub : 0);
}

static void module_put_fn(ts_text *key, const ts_fn *fn, bool has_places)
{
    uint32_t head[] = {fn->name, fn->n_params,
                       (uint32_t)fn->entry | (uint32_t)fn->checked << 1 | (uint32_t)fn->overlap << 2 |
                           (uint32_t)fn->level << 8,
                       fn->num_ctas | (uint32_t)fn->occupancy << 8 | (uint32_t)fn->num_warps << 16 |
                           (uint32_t)fn->opt_level << 24,
                       fn->max_registers | (uint32_t)fn->carveout << 8 | (uint32_t)fn->lines << 16};
    module_put(key, head, sizeof head);
    module_put_list(key, fn->result, fn->n_results, sizeof *fn->result);
    module_put_list(key, fn->result, fn->n_results, sizeof *fn->result);
    module_put_list(key, fn->inst.at, fn->inst.n, sizeof *fn->inst.at);
    module_put_list(key, fn->pool.at, fn->pool.n, sizeof *fn->pool.at);
    if (has_places)
        module_put(key, fn->loc.at, fn->loc.n * sizeof *fn->loc.at);
}

void ts__module_key(const ts_module *m, ts_text *key)
{
    uint32_t counts[] = {m->type.n, m->str.n, m->locs.n, m->dense.n, m->fns.n, m->globals.n, m->name};
    module_put(key, counts, sizeof counts);
    for (uint32_t i = 0; i < m->type.n; i++)
        module_put_type(key, &m->type.at[i]);
    for (uint32_t i = 0; i < m->str.n; i++)
        module_put(key, m->str.at[i], strlen(m->str.at[i]) + 1);
    module_put(key, m->locs.at, m->locs.n * sizeof *m->locs.at);
    for (uint32_t i = 0; i < m->dense.n; i++) {
        module_put(key, &m->dense.at[i].n_bytes, sizeof m->dense.at[i].n_bytes);
        module_put(key, m->dense.at[i].bytes, m->dense.at[i].n_bytes);
    }
    for (uint32_t i = 0; i < m->globals.n; i++) {
        const ts_global *g = &m->globals.at[i];
        uint32_t words[] = {g->name, g->type, g->data, g->align, g->constant};
        module_put(key, words, sizeof words);
    }
    for (uint32_t i = 0; i < m->fns.n; i++)
        module_put_fn(key, m->fns.at[i], m->locs.n > 1);
}
