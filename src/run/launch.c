/* SPDX-License-Identifier: Apache-2.0
 *
 * The launch itself: grid and device are checked, the frame is filled (args.c), its specialisation found or
 * made (kernel.c), and the device's launch function called with the slots. bench/launch.c measures this.
 */
#include "run/launch.h"
#include "array/array.h"
#include "ir/mma.h"
#include <stdio.h>

/* A grid of threads may have more blocks along x, and has one at least, as drivers want it. The limits are all ones. */
static ts_status launch_check_grid(const ts_kernel *kernel, const int64_t grid[3], bool threads, ts_error *err)
{
    int64_t x = threads ? TS_GRID_THREADS_X : TS_GRID_MAX, yz = threads ? TS_GRID_THREADS_YZ : TS_GRID_MAX;
    bool fits = (uint64_t)grid[0] <= (uint64_t)x && (uint64_t)(grid[1] | grid[2]) <= (uint64_t)yz;
    if (fits && threads && !(grid[0] && grid[1] && grid[2]))
        return ts_fail(err, TS_VALUE, "kernel '%s': grid (%lld, %lld, %lld) has no blocks; each axis must have 1 at "
                       "least. Where there is nothing to do, do not launch", kernel->name, (long long)grid[0],
                       (long long)grid[1], (long long)grid[2]);
    if (fits)
        return TS_OK;
    return ts_fail(err, TS_VALUE, "kernel '%s': grid (%lld, %lld, %lld) is out of range; x must be %d to %lld, y and z "
                                  "%d to %lld%s", kernel->name, (long long)grid[0], (long long)grid[1],
                   (long long)grid[2], threads, (long long)x, threads, (long long)yz,
                   threads ? "" : ", and 0 launches nothing");
}

ts_status ts__launch_device(const launch_frame *frame, const ts_stream *given, ts_stream *room,
                            const ts_stream **stream, ts_error *err)
{
    ts_device *device = given ? given->device : NULL;
    if (device && frame->has_device && device->id != frame->device) {
        char label[128], one[64], two[64];
        return ts_fail(err, TS_VALUE, "kernel '%s': %s is on %s, but the stream belongs to %s; use a stream of the "
                                      "arrays' device", frame->kernel->name,
                       ts__param_label(frame->kernel, frame->device_arg, label, sizeof label),
                       ts__device_text(frame->device, one, sizeof one), ts__device_text(device->id, two, sizeof two));
    }
    if (!device) {
        uint16_t id = frame->has_device ? frame->device : (uint16_t)TS_DEVICE_ID(TS_DEVICE_CPU, 0);
        TS_TRY(ts_device_by_id(id, &device, err));
    }
    if (!given)
        *stream = device->default_stream;
    else if (given->device)
        *stream = given;
    else {
        TS_TRY(ts_stream_find(device, given->native, room, err));
        *stream = room;
    }
    return TS_OK;
}

static size_t launch_list_words(const launch_list *list)
{
    return (1 + 2 * (size_t)list->rank) * list->n;
}

static size_t launch_list_bytes(const launch_frame *frame)
{
    size_t n = 0;
    for (uint32_t i = 0; i < frame->n_lists; i++)
        n += launch_list_words(&frame->lists[i]);
    return sizeof(uint64_t) * n;
}

static void launch_list_fill(const launch_frame *frame, uint64_t *words)
{
    for (uint32_t i = 0; i < frame->n_lists; i++) {
        const launch_list *list = &frame->lists[i];
        for (uint32_t k = 0; k < list->n; k++)
            ts__frame_list_item(&frame->args[list->first + k], words + (1 + 2 * (size_t)list->rank) * k);
        words += launch_list_words(list);
    }
}

/* The slots get the places of the tables, from `at` on. */
static void launch_list_places(launch_frame *frame, uint64_t at)
{
    for (uint32_t i = 0; i < frame->n_lists; i++) {
        frame->params[frame->lists[i].param] = at;
        at += sizeof(uint64_t) * launch_list_words(&frame->lists[i]);
    }
}

/* Tables among the parameters: nothing is copied to the device before the kernel. */
static ts_status launch_with_tables(launch_frame *frame, ts_program *program, const ts_stream *stream,
                                    ts_launch_shape *shape, uint32_t flags, ts_error *err)
{
    uint64_t tables[TS_PLAN_TABLE / sizeof(uint64_t)] = {0};
    launch_list_fill(frame, tables);
    launch_list_places(frame, 0);
    shape->tables = tables;
    return stream->device->ops->launch(program, stream, shape, frame->params, flags, err);
}

/* Puts the tables of all list arguments on the device, by one copy in stream order, since each takes the GPU more than
 * a microsecond; the slots get their addresses. */
static ts_status launch_lists_begin(launch_frame *frame, const ts_stream *stream, ts_error *err)
{
    const ts_alloc *alloc = frame->kernel->alloc;
    size_t bytes = launch_list_bytes(frame);
    uint64_t *words = ts__new(alloc, bytes);
    void *table = NULL;
    if (!words)
        return ts_fail(err, TS_NOMEM, "out of memory for the list arguments of kernel '%s'", frame->kernel->name);
    launch_list_fill(frame, words);
    ts_status status = ts_mem_alloc(stream->device, stream, bytes, &table, err);
    if (status == TS_OK)
        status = ts_mem_copy(stream, table, TS_MEM_DEVICE, words, TS_MEM_HOST, bytes, err);
    ts__delete(alloc, words, bytes);
    if (status != TS_OK) {
        ts_mem_free(stream->device, stream, table, bytes);
        return status;
    }
    launch_list_places(frame, (uintptr_t)table);
    return TS_OK;
}

static void launch_lists_end(const launch_frame *frame, const ts_stream *stream)
{
    ts_mem_free(stream->device, stream, (void *)(uintptr_t)frame->params[frame->lists[0].param],
                launch_list_bytes(frame));
}

/* Memory of ours that runs on a stream it was not allocated on must outlive both. */
static void launch_note_streams(const launch_frame *frame, const ts_stream *stream)
{
    for (size_t i = 0; i < frame->n_args && frame->has_buffers; i++)
        if (frame->args[i].kind == TS_SPEC_ARRAY && frame->args[i].buffer)
            ts__buffer_note_stream(frame->args[i].buffer, stream);
}

static ts_status launch_find_key(ts_kernel *kernel, const launch_frame *frame, ts_device *device, uint32_t flags,
                                 const kernel_entry **out, ts_error *err)
{
    uint64_t hash = ts__frame_hash(frame, device->id);
    *out = ts__kernel_find(kernel, frame, device, hash);
    return *out ? TS_OK : ts__kernel_specialise(kernel, frame, device, hash, flags & TS_LAUNCH_KEPT, out, err);
}

static ts_status launch_find(ts_kernel *kernel, launch_frame *frame, ts_device *device, uint32_t flags,
                             const kernel_entry **out, ts_error *err)
{
    TS_TRY(launch_find_key(kernel, frame, device, flags, out, err));
    if (!frame->may_share || !ts__frame_note_shared(frame, &ts__entry_program(*out)->plan))
        return TS_OK;
    return launch_find_key(kernel, frame, device, flags, out, err);
}

/* Refuses an array that may not be written where the kernel may write to its memory. */
static ts_status launch_check_readonly(const launch_frame *frame, const ts_plan *plan, ts_error *err)
{
    const ts_kernel *kernel = frame->kernel;
    for (uint32_t i = 0; i < frame->n_readonly; i++) {
        uint32_t slot = frame->readonly[i].slot, param = frame->readonly[i].param;
        if (!(plan->writes[slot / 8] >> slot % 8 & 1))
            continue;
        const char *name = param < kernel->n_params ? kernel->params[param].name : NULL;
        char label[96] = "";
        if (name)
            snprintf(label, sizeof label, " ('%.80s')", name);
        return ts_fail(err, TS_VALUE, "argument %u%s of kernel '%s' %s", param, label, kernel->name,
                       frame->readonly[i].overlaps
                           ? "has elements that overlap in memory (as numpy.broadcast_to and torch.expand make them), "
                             "and "
                             "the kernel writes to it; pass an array with memory for each element"
                           : "is read-only and the kernel writes to it; pass a writable array");
    }
    return TS_OK;
}

/* Numbers of a config that are not those of the code of a tile kernel; zeros ask for nothing. */
static ts_status launch_check_tiles(const ts_kernel *kernel, const ts_launch_config *config, const ts_plan *plan,
                                    ts_error *err)
{
    const uint32_t *block = config->block, *cluster = config->cluster;
    bool has_block = block[0] | block[1] | block[2], has_cluster = cluster[0] | cluster[1] | cluster[2];
    if (has_block && (block[0] != plan->threads || block[1] > 1 || block[2] > 1))
        return ts_fail(err, TS_VALUE, "kernel '%s' was compiled for blocks of %u threads in x (0: the device's own), "
                       "not (%u, %u, %u); leave `block` zero", kernel->name, plan->threads, block[0], block[1],
                       block[2]);
    if (config->shared_bytes && config->shared_bytes != plan->shared_bytes)
        return ts_fail(err, TS_VALUE, "kernel '%s' was compiled for %u bytes of dynamic shared memory, not %u; leave "
                       "`shared_bytes` zero", kernel->name, plan->shared_bytes, config->shared_bytes);
    if (has_cluster && (cluster[0] != TS_MAX(plan->cluster, 1u) || cluster[1] > 1 || cluster[2] > 1))
        return ts_fail(err, TS_VALUE, "kernel '%s' was compiled for clusters of %u blocks, not (%u, %u, %u); leave "
                       "`cluster` zero", kernel->name, TS_MAX(plan->cluster, 1u), cluster[0], cluster[1], cluster[2]);
    return TS_OK;
}

/* Threads of the block of a kernel of threads: what every GPU takes. */
static ts_status launch_check_threads(const ts_kernel *kernel, const uint32_t *block, ts_error *err)
{
    if (block[0] > TS_BLOCK_THREADS || block[1] > TS_BLOCK_THREADS || block[2] > TS_BLOCK_THREADS_Z ||
        block[0] * block[1] * block[2] > TS_BLOCK_THREADS)
        return ts_fail(err, TS_VALUE, "kernel '%s': a block of (%u, %u, %u) threads; a block has at most %d in all and "
                       "%d along z, use more blocks", kernel->name, block[0], block[1], block[2], TS_BLOCK_THREADS,
                       TS_BLOCK_THREADS_Z);
    return TS_OK;
}

/* The same: that there are some, and what the kernel promised. */
static ts_status launch_check_block(const ts_kernel *kernel, const uint32_t *block, const ts_plan *plan, ts_error *err)
{
    if (!block[0] || !block[1] || !block[2])
        return ts_fail(err, TS_VALUE, "kernel '%s' is written for threads, and a block of (%u, %u, %u) has none; give "
                       "`block` of ts_launch_config, each axis at least 1", kernel->name, block[0], block[1],
                       block[2]);
    if (plan->threads && block[0] * block[1] * block[2] > plan->threads)
        return ts_fail(err, TS_VALUE, "kernel '%s' promises blocks of at most %u threads (num_warps=%u), but (%u, %u, "
                       "%u) are %u; launch smaller blocks, or promise more", kernel->name, plan->threads,
                       plan->threads / 32, block[0], block[1], block[2], block[0] * block[1] * block[2]);
    if (plan->together && block[0] * block[1] * block[2] % plan->together)
        return ts_fail(err, TS_VALUE, TS_MMA_BLOCK, kernel->name, block[0], block[1], block[2], plan->together);
    return TS_OK;
}

static ts_status launch_check_cluster(const ts_kernel *kernel, const ts_launch_config *config, const ts_plan *plan,
                                      ts_error *err)
{
    const uint32_t *c = config->cluster;
    const int64_t *grid = config->grid;
    if (!(c[0] | c[1] | c[2]) || (c[0] == 1 && c[1] == 1 && c[2] == 1))
        return TS_OK;
    if (!c[0] || !c[1] || !c[2] || c[0] > TS_CLUSTER_BLOCKS || c[1] > TS_CLUSTER_BLOCKS || c[2] > TS_CLUSTER_BLOCKS ||
        c[0] * c[1] * c[2] > TS_CLUSTER_BLOCKS)
        return ts_fail(err, TS_VALUE, "kernel '%s': a cluster of (%u, %u, %u) blocks; it has 1 to %d, each axis at "
                       "least 1, or all zero for none", kernel->name, c[0], c[1], c[2], TS_CLUSTER_BLOCKS);
    if (plan->target == TS_TARGET_CPU)
        return ts_fail(err, TS_VALUE, "kernel '%s': clusters of blocks exist on GPUs, not on the CPU; leave `cluster` "
                       "zero", kernel->name);
    if (plan->target < TS_TARGET_SM90)
        return ts_fail(err, TS_VALUE, "kernel '%s': clusters of blocks exist from sm_90 on, this GPU runs code for "
                       "sm_%u; leave `cluster` zero", kernel->name, plan->target);
    for (uint32_t axis = 0; axis < 3; axis++)
        if (grid[axis] % c[axis])
            return ts_fail(err, TS_VALUE, "kernel '%s': clusters of (%u, %u, %u) blocks do not divide the grid (%lld, "
                           "%lld, %lld); make each axis of the grid a multiple", kernel->name, c[0], c[1], c[2],
                           (long long)grid[0], (long long)grid[1], (long long)grid[2]);
    return TS_OK;
}

/* What a launch asks for beside the grid. `config` NULL: nothing. */
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static ts_status launch_check_config(const ts_kernel *kernel, const ts_launch_config *config, const ts_plan *plan,
                                     ts_launch_shape *shape, ts_error *err)
{
    static const ts_launch_config none;
    if (!plan->thread_kernel)
        return launch_check_tiles(kernel, config, plan, err);
    config = config ? config : &none;
    TS_TRY(launch_check_block(kernel, config->block, plan, err));
    TS_TRY(launch_check_cluster(kernel, config, plan, err));
    if (plan->dynamic_shared && !config->shared_bytes)
        return ts_fail(err, TS_VALUE, "kernel '%s' uses dynamic shared memory, and its launch gives it 0 bytes; give "
                       "kernel[blocks, threads, stream, shared_bytes] the bytes that it needs (from C: `shared_bytes` "
                       "of ts_launch_config)", kernel->name);
    memcpy(shape->block, config->block, sizeof shape->block);
    memcpy(shape->cluster, config->cluster, sizeof shape->cluster);
    shape->shared_bytes = config->shared_bytes;
    return TS_OK;
}

/* `config`: block, shared memory and cluster; NULL: as compiled. Inline, so that a launch of tiles is without what is
 * asked for threads alone. */
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline ts_status launch_run(const ts_stream *given, const int64_t grid[3], ts_kernel *kernel, const ts_arg *args,
                            size_t n, uint32_t flags, const ts_launch_config *config, ts_error *err)
{
    launch_frame frame;
    ts_stream room;
    const ts_stream *stream = NULL;
    const kernel_entry *entry;
    TS_TRY(launch_check_grid(kernel, grid, config && config->block[0], err));
    if (config)
        TS_TRY(launch_check_threads(kernel, config->block, err));
    TS_TRY(ts__frame_fill(&frame, kernel, args, n, err));
    TS_TRY(ts__launch_device(&frame, given, &room, &stream, err));
    bool has_block = config && config->block[0], is_cpu = stream->device->target == TS_TARGET_CPU;
    if (!grid[0] || !grid[1] || !grid[2])
        return TS_OK;
    if (has_block && (is_cpu || kernel->source.kind != TS_SOURCE_CUSTOM))
        ts__frame_note_block(&frame, config, grid, is_cpu);
    TS_TRY(launch_find(kernel, &frame, stream->device, flags, &entry, err));
    if (flags & (TS_LAUNCH_PREPARE | TS_LAUNCH_KEPT))
        return TS_OK;
    ts_program *program = ts__entry_program(entry);
    ts__tier_resume(program);
    if (frame.n_readonly)
        TS_TRY(launch_check_readonly(&frame, &program->plan, err));
    ts_launch_shape shape = {.grid = {(uint32_t)grid[0], (uint32_t)grid[1], (uint32_t)grid[2]}};
    if (config || program->plan.thread_kernel)
        TS_TRY(launch_check_config(kernel, config, &program->plan, &shape, err));
    ts_device *device = stream->device;
    if (kernel->hints.checked & TS_CHECK_WATCHED && program->plan.thread_kernel)
        return ts__launch_watched(&frame, stream, &shape, err);
    launch_note_streams(&frame, stream);
    if (!frame.n_lists)
        return device->ops->launch(program, stream, &shape, frame.params, flags, err);
    if (launch_list_bytes(&frame) <= program->plan.table_bytes)
        return launch_with_tables(&frame, program, stream, &shape, flags, err);
    TS_TRY(launch_lists_begin(&frame, stream, err));
    ts_status status = device->ops->launch(program, stream, &shape, frame.params, flags, err);
    launch_lists_end(&frame, stream);
    return status;
}

ts_status ts_launch(const ts_stream *given, const int64_t grid[3], ts_kernel *kernel, const ts_arg *args, size_t n,
                    uint32_t flags, ts_error *err)
{
    TS_NEED(err, grid, kernel);
    TS_NEED_N(err, args, n);
    return launch_run(given, grid, kernel, args, n, flags, NULL, err);
}

ts_status ts_launch_config_run(const ts_stream *given, const ts_launch_config *config, ts_kernel *kernel,
                               const ts_arg *args, size_t n, ts_error *err)
{
    TS_NEED(err, config, kernel);
    TS_NEED_N(err, args, n);
    return launch_run(given, config->grid, kernel, args, n, config->flags, config, err);
}

ts_status ts_kernel_prepare(const ts_stream *given, ts_kernel *kernel, const ts_arg *args, size_t n,
                            const ts_plan **plan, ts_error *err)
{
    TS_NEED(err, plan);
    *plan = NULL;
    TS_NEED(err, kernel);
    TS_NEED_N(err, args, n);
    launch_frame frame;
    ts_stream room;
    const ts_stream *stream = NULL;
    const kernel_entry *entry;
    TS_TRY(ts__frame_fill(&frame, kernel, args, n, err));
    TS_TRY(ts__launch_device(&frame, given, &room, &stream, err));
    TS_TRY(launch_find(kernel, &frame, stream->device, 0, &entry, err));
    *plan = &ts__entry_program(entry)->plan;
    return TS_OK;
}

ts_status ts_kernel_spec(const ts_kernel *kernel, const ts_arg *args, size_t n, ts_spec *spec, size_t *n_spec,
                         ts_error *err)
{
    TS_NEED(err, kernel, spec, n_spec);
    TS_NEED_N(err, args, n);
    launch_frame frame;
    *n_spec = 0;
    TS_TRY(ts__frame_fill(&frame, kernel, args, n, err));
    *n_spec = ts__frame_spec(&frame, spec);
    return TS_OK;
}
