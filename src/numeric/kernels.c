/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels by key. A key says all that the IR depends on, so a known one costs a hash and a comparison; another is
 * written, verified and compiled by the launch, or found in the cache on disk.
 */
#include "numeric/numeric.h"
#include "run/launch.h"

enum { KERNELS_SLOTS = 1 << 12, KERNELS_MOST = 3 << 10 };

typedef struct kernels_entry {
    uint64_t hash;
    ts_kernel *kernel;
    ts_program *program; /* for arrays that lie apart; NULL: not looked up yet */
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
    *entry = (kernels_entry){hash, kernel, NULL, launch->n_key, copy};
    graph->kernels->n++;
    return TS_OK;
}

static ts_status kernels_find(ts_nd_graph *graph, const nd_launch *launch, nd_build *build, void *user,
                              kernels_entry **out, ts_error *err)
{
    uint64_t hash = ts__hash(launch->key, launch->n_key, 11);
    ts_kernel *kernel;
    *out = graph->kernels ? kernels_slot(graph->kernels, launch, hash) : NULL;
    if (*out && (*out)->kernel)
        return TS_OK;
    TS_TRY(kernels_write(graph, build, user, &kernel, err));
    ts_status status = kernels_keep(graph, launch, hash, kernel, err);
    if (status != TS_OK)
        ts_kernel_release(kernel);
    *out = status == TS_OK ? kernels_slot(graph->kernels, launch, hash) : NULL;
    return status;
}

/* ---- launches ------------------------------------------------------------------------------------ */

ts_program *ts__nd_launch_program(const ts_device *device, const ts_kernel *kernel, const nd_launch *launch,
                                  bool apart, launch_frame *frame)
{
    const kernel_entry *entry = NULL;
    if (ts__frame_fill(frame, kernel, launch->args, launch->n, NULL) != TS_OK || frame->n_params != launch->n)
        return NULL;
    entry = ts__kernel_find(kernel, frame, device, ts__frame_hash(frame, device->id));
    if (entry && !apart && frame->may_share && ts__frame_note_shared(frame, &ts__entry_program(entry)->plan))
        entry = ts__kernel_find(kernel, frame, device, ts__frame_hash(frame, device->id));
    return entry ? ts__entry_program(entry) : NULL;
}

/* A launch of arrays that lie apart, whose program is known: what ts_launch would find out is known, too. */
static ts_status kernels_launch(const ts_nd_graph *graph, ts_program *program, const nd_launch *launch,
                                const int64_t grid[3], ts_error *err)
{
    uint64_t words[TS_LAUNCH_ARGS];
    const ts_stream *stream = graph->device->default_stream;
    ts_launch_shape shape = {.grid = {(uint32_t)grid[0], (uint32_t)grid[1], (uint32_t)grid[2]}};
    for (uint32_t i = 0; i < launch->n; i++) {
        const ts_arg *arg = &launch->args[i];
        words[i] = arg->kind == TS_SPEC_ARRAY ? (uintptr_t)arg->value.data : arg->value.bits;
        if (arg->kind == TS_SPEC_ARRAY)
            ts__buffer_note_stream(arg->buffer, stream);
    }
    return graph->device->ops->launch(program, stream, &shape, words, launch->brief ? TS_LAUNCH_BRIEF : 0, err);
}

/* Whether what is written lies apart from what is read, in memory that is there: then the launch is that of a known
 * program. */
static bool kernels_is_plain(const nd_launch *launch, const int64_t grid[3])
{
    bool plain = launch->apart && grid[0] > 0 && grid[0] <= INT32_MAX && grid[1] > 0 && grid[2] > 0 &&
                 grid[1] <= UINT16_MAX && grid[2] <= UINT16_MAX;
    for (uint32_t i = 0; i < launch->n && plain && launch->args[i].kind == TS_SPEC_ARRAY; i++)
        plain = ts__buffer_is_there(launch->args[i].buffer);
    return plain;
}

static uint64_t kernels_specialised(const ts_kernel *kernel)
{
    return atomic_load_explicit(&kernel->n_specialised, memory_order_relaxed);
}

/* *is_new: code was made for it, of a new kernel or for other arguments of a known one. */
static ts_status kernels_run(ts_nd_graph *graph, nd_launch *launch, const int64_t grid[3], nd_build *build, void *user,
                             bool *is_new, ts_error *err)
{
    kernels_entry *entry;
    launch_frame frame; /* large, and filled as far as it is used */
    TS_TRY(kernels_find(graph, launch, build, user, &entry, err));
    bool plain = kernels_is_plain(launch, grid);
    uint32_t epoch = atomic_load_explicit(&graph->device->epoch, memory_order_relaxed);
    graph->stats.n_launched++;
    if (plain && entry->program && entry->program->epoch == epoch && !graph->note.wanted)
        return kernels_launch(graph, entry->program, launch, grid, err);
    uint64_t specialised = kernels_specialised(entry->kernel);
    TS_TRY(ts_launch(NULL, grid, entry->kernel, launch->args, launch->n, 0, err));
    *is_new = kernels_specialised(entry->kernel) != specialised;
    if (plain)
        entry->program = ts__nd_launch_program(graph->device, entry->kernel, launch, true, &frame);
    if (graph->note.wanted)
        ts__nd_quick_launched(graph, entry->kernel, launch, grid);
    return TS_OK;
}

ts_status ts__nd_launch_run(ts_nd_graph *graph, nd_launch *launch, const int64_t grid[3], nd_build *build, void *user,
                            ts_error *err)
{
    bool is_new = false;
    nd_event event = nd_event_begin(graph);
    ts_status status = kernels_run(graph, launch, grid, build, user, &is_new, err);
    nd_event_end(graph, &event, is_new ? TS_ND_EVENT_compile : TS_ND_EVENT_kernel, NULL, 0);
    return status;
}
