/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels by key. A key says all that the IR depends on, so a known one costs a hash and a comparison; another is
 * written, verified and compiled by the launch, or found in the cache on disk.
 */
#include "numeric/numeric.h"

enum { KERNELS_SLOTS = 1 << 12, KERNELS_MOST = 3 << 10 };

typedef struct kernels_entry {
    uint64_t hash;
    ts_kernel *kernel;
    size_t n;
    char *key;
} kernels_entry;

struct nd_kernels {
    uint32_t n;
    kernels_entry slots[KERNELS_SLOTS];
};

static void kernels_clear(const ts_alloc *alloc, struct nd_kernels *kernels)
{
    for (uint32_t i = 0; i < KERNELS_SLOTS; i++) {
        kernels_entry *entry = &kernels->slots[i];
        if (!entry->kernel)
            continue;
        ts_kernel_release(entry->kernel);
        alloc->resize(alloc->user, entry->key, entry->n, 0);
        *entry = (kernels_entry){0};
    }
    kernels->n = 0;
}

void ts__nd_kernels_destroy(ts_nd_graph *graph)
{
    if (graph->kernels) {
        kernels_clear(graph->alloc, graph->kernels);
        ts__delete(graph->alloc, graph->kernels, sizeof *graph->kernels);
    }
    ts_builder_destroy(graph->builder);
    ts_module_destroy(graph->module);
}

/* The entry of a key, or the empty one where it belongs. */
static kernels_entry *kernels_slot(struct nd_kernels *kernels, const nd_launch *launch, uint64_t hash)
{
    for (uint64_t i = hash;; i++) {
        kernels_entry *entry = &kernels->slots[i % KERNELS_SLOTS];
        if (!entry->kernel || (entry->hash == hash && entry->n == launch->n_key &&
                               memcmp(entry->key, launch->key, entry->n) == 0))
            return entry;
    }
}

static ts_status kernels_prepare(ts_nd_graph *graph, ts_error *err)
{
    if (!graph->kernels && !(graph->kernels = ts__new(graph->alloc, sizeof *graph->kernels)))
        return ts_fail(err, TS_NOMEM, "out of memory for kernels of arrays");
    if (!graph->module)
        TS_TRY(ts_module_create(graph->alloc, &graph->module, err));
    if (!graph->builder)
        TS_TRY(ts_builder_create(ts_fn_create(graph->module, "none", TS_LEVEL_T), &graph->builder, err));
    return ts_module_clear(graph->module, err);
}

static ts_status kernels_write(ts_nd_graph *graph, nd_build *build, void *user, ts_kernel **out, ts_error *err)
{
    TS_TRY(kernels_prepare(graph, err));
    build(user, graph->module, graph->builder);
    TS_TRY(ts_builder_status(graph->builder, err));
    TS_TRY(ts_module_verify(graph->module, err));
    ts_kernel_desc desc = {.name = "numeric", .source = {.kind = TS_SOURCE_MODULE, .module = graph->module},
                           .alloc = graph->alloc};
    TS_TRY(ts_kernel_create(&desc, out, err));
    graph->stats.n_kernels++;
    return TS_OK;
}

static ts_status kernels_keep(ts_nd_graph *graph, const nd_launch *launch, uint64_t hash, ts_kernel *kernel,
                              ts_error *err)
{
    if (graph->kernels->n >= KERNELS_MOST) {
        kernels_clear(graph->alloc, graph->kernels);
        ts__nd_quick_forget(graph);
    }
    kernels_entry *entry = kernels_slot(graph->kernels, launch, hash);
    char *copy = graph->alloc->resize(graph->alloc->user, NULL, 0, launch->n_key);
    if (!copy)
        return ts_fail(err, TS_NOMEM, "out of memory for kernels of arrays");
    memcpy(copy, launch->key, launch->n_key);
    *entry = (kernels_entry){hash, kernel, launch->n_key, copy};
    graph->kernels->n++;
    return TS_OK;
}

static ts_status kernels_find(ts_nd_graph *graph, const nd_launch *launch, nd_build *build, void *user, ts_kernel **out,
                              ts_error *err)
{
    uint64_t hash = ts__hash(launch->key, launch->n_key, 11);
    kernels_entry *entry = graph->kernels ? kernels_slot(graph->kernels, launch, hash) : NULL;
    if (entry && entry->kernel) {
        *out = entry->kernel;
        return TS_OK;
    }
    TS_TRY(kernels_write(graph, build, user, out, err));
    ts_status status = kernels_keep(graph, launch, hash, *out, err);
    if (status != TS_OK)
        ts_kernel_release(*out);
    return status;
}

ts_status ts__nd_launch_run(ts_nd_graph *graph, nd_launch *launch, const int64_t grid[3], nd_build *build, void *user,
                         ts_error *err)
{
    ts_kernel *kernel;
    TS_TRY(kernels_find(graph, launch, build, user, &kernel, err));
    graph->stats.n_launched++;
    TS_TRY(ts_launch(NULL, grid, kernel, launch->args, launch->n, 0, err));
    if (graph->note.wanted)
        ts__nd_quick_launched(graph, kernel, launch);
    return TS_OK;
}
