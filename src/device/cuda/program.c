/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of a GPU: PTX text goes to the driver, which assembles it (in parallel from several threads, with a
 * disk cache of its own); a launch encodes the plan's tensor maps and points the driver at the parameters.
 *
 *     what the kernel gets:   | tensor maps, 128 bytes each | n_params values | grid x, y, z | counter | fault record |
 *                                                                             persistent   cooperative  error_param
 */
#include "device/cuda/cuda.h"
#include <stdio.h>

/* The most blocks of a grid whose tiles a few blocks take in turn (plan.persistent): code counts them in i32, in steps
 * of the number of those few, and must not overflow. */
enum { PROGRAM_WALK = 1 << 30 };
enum { PROGRAM_QUICK = 0 }; /* the level of the driver's assembler for code that is quickly made */
enum { PROGRAM_LOG = 16384, PROGRAM_STATIC_SHARED = 48 << 10, PROGRAM_PORTABLE_CLUSTER = 8,
       PROGRAM_SLOTS = TS_PLAN_TMAPS + TS_PLAN_PARAMS + 6 };

/* ---- loading --------------------------------------------------------------------------------------- */

/* The logs of one load. */
typedef struct program_logs {
    char info[PROGRAM_LOG], error[PROGRAM_LOG];
} program_logs;

static cuda_result program_assemble(cuda_program *program, const ts_code *code, program_logs *logs)
{
    const cuda_driver *fn = &cuda_of(program->base.device)->cuda->fn;
    int options[7] = {CUDA_JIT_INFO_LOG, CUDA_JIT_INFO_LOG_BYTES, CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES,
                      CUDA_JIT_LOG_VERBOSE};
    void *room = (void *)(uintptr_t)(PROGRAM_LOG - 1), *yes = (void *)(uintptr_t)1;
    void *values[7] = {logs->info, room, logs->error, room, yes};
    unsigned n_options = 5;
    if (strstr((const char *)code->bytes, "\n.loc ")) /* it has lines */
        options[n_options] = CUDA_JIT_LINE_INFO, values[n_options++] = yes;
    if (code->plan.opt_level == 1)
        options[n_options] = CUDA_JIT_LEVEL, values[n_options++] = (void *)(uintptr_t)PROGRAM_QUICK;
    const char *entry = program->base.plan.name;
    cuda_kernel kernel;
    cuda_result result;
    if (!fn->LibraryLoadData) {
        result = fn->ModuleLoadDataEx(&program->module, code->bytes, n_options, options, values);
        return result == CUDA_OK ? fn->ModuleGetFunction(&program->function, program->module, entry) : result;
    }
    result = fn->LibraryLoadData(&program->library, code->bytes, options, values, n_options, NULL, NULL, 0);
    if (result == CUDA_OK)
        result = fn->LibraryGetKernel(&kernel, program->library, entry);
    return result == CUDA_OK ? fn->KernelGetFunction(&program->function, kernel) : result;
}

/* A kernel of threads may be launched with all the shared memory that a block can have, and as many threads as its
 * registers allow. */
static cuda_result program_prepare_threads(cuda_program *program)
{
    cuda_device *device = cuda_of(program->base.device);
    const cuda_driver *fn = &device->cuda->fn;
    int threads = 0, shared = 0;
    if (fn->FuncGetAttribute && fn->FuncGetAttribute(&threads, CUDA_FUNC_MAX_THREADS, program->function) != CUDA_OK)
        threads = 0;
    cuda_result result = fn->DeviceGetAttribute(&shared, CUDA_SHARED_OPTIN, device->handle);
    shared = TS_MAX(shared, PROGRAM_STATIC_SHARED);
    if (result == CUDA_OK && shared > PROGRAM_STATIC_SHARED)
        result = fn->FuncSetAttribute(program->function, CUDA_FUNC_MAX_DYNAMIC_SHARED, shared);
    if (result == CUDA_OK && device->cc_major >= 9) /* earlier GPUs have no clusters */
        result = fn->FuncSetAttribute(program->function, CUDA_FUNC_NON_PORTABLE_CLUSTER, 1);
    if (result == CUDA_OK && program->base.plan.carveout)
        result = fn->FuncSetAttribute(program->function, CUDA_FUNC_CARVEOUT, program->base.plan.carveout - 2);
    program->most_threads = threads > 0 ? (uint32_t)threads : TS_BLOCK_THREADS;
    program->most_shared = (uint32_t)shared;
    return result;
}

/* What the plan asks of the function: shared memory beyond 48 KiB, large clusters, blocks per SM. */
static cuda_result program_prepare(cuda_program *program)
{
    const cuda_driver *fn = &cuda_of(program->base.device)->cuda->fn;
    const ts_plan *plan = &program->base.plan;
    cuda_result result = CUDA_OK;
    int resident = 1;
    if (plan->thread_kernel)
        return program_prepare_threads(program);
    if (plan->shared_bytes > PROGRAM_STATIC_SHARED)
        result = fn->FuncSetAttribute(program->function, CUDA_FUNC_MAX_DYNAMIC_SHARED, (int)plan->shared_bytes);
    if (result == CUDA_OK && plan->cluster > PROGRAM_PORTABLE_CLUSTER)
        result = fn->FuncSetAttribute(program->function, CUDA_FUNC_NON_PORTABLE_CLUSTER, 1);
    if (result == CUDA_OK && plan->persistent)
        result = fn->OccupancyMaxActiveBlocksPerMultiprocessor(&resident, program->function, (int)plan->threads,
                                                               plan->shared_bytes);
    program->resident = resident > 0 ? (uint32_t)resident : 1;
    if (plan->cluster > 1) {
        program->attrs[0] = (cuda_launch_attr){.id = CUDA_LAUNCH_CLUSTER, .value.cluster = {plan->cluster, 1, 1}};
        program->n_attrs = 1;
    }
    return result;
}

/* The driver's log is the story when the text does not assemble. */
static ts_status program_load_failed(const cuda_program *program, cuda_result code, const program_logs *logs,
                                     ts_error *err)
{
    cuda_device *device = cuda_of(program->base.device);
    if (!logs->error[0])
        return cuda_fail(device, code, err, "loading kernel '%s'", program->base.name);
    ts_status status = ts_fail(err, TS_DEVICE, "the driver could not assemble kernel '%s' (error %d): %s\n%s",
                               program->base.name, code, cuda_remedy(code), logs->error);
    if (err)
        err->driver_code = code;
    return status;
}

bool cuda_program_is_beyond(const ts_error *err)
{
    return err->driver_code == CUDA_INVALID_PTX;
}

static void program_unload(cuda_program *program)
{
    const cuda_driver *fn = &cuda_of(program->base.device)->cuda->fn;
    if (program->library)
        (void)fn->LibraryUnload(program->library);
    else if (program->module)
        (void)fn->ModuleUnload(program->module);
    program->library = NULL;
    program->module = NULL;
}

static ts_status program_load(cuda_program *program, const ts_code *code, ts_error *err)
{
    cuda_device *device = cuda_of(program->base.device);
    const ts_plan *plan = &program->base.plan;
    program_logs *logs = ts__new(device->base.alloc, sizeof *logs);
    if (!logs)
        return ts_fail(err, TS_NOMEM, "out of memory while loading a kernel");
    ts_status status = TS_OK;
    cuda_result result = program_assemble(program, code, logs);
    if (result == CUDA_OK)
        result = program_prepare(program);
    if (result != CUDA_OK)
        status = program_load_failed(program, result, logs, err);
    else if (plan->n_tmaps && !device->cuda->fn.TensorMapEncodeTiled)
        status = ts_fail(err, TS_DEVICE, "the NVIDIA driver is too old for tensor maps; install 525 or newer");
    else if (plan->cluster > 1 && !device->cuda->fn.LaunchKernelEx)
        status = ts_fail(err, TS_DEVICE, "the NVIDIA driver is too old for clusters; install 525 or newer");
    if (status == TS_OK && !(program->base.log = ts__string(device->base.alloc, logs->info)))
        status = ts_fail(err, TS_NOMEM, "out of memory while loading a kernel");
    ts__delete(device->base.alloc, logs, sizeof *logs);
    return status;
}

/* Loading and unloading are no part of what a stream records, this thread's or another's, and do not end it. Gives the
 * mode before. */
static int program_capture_mode(const cuda_device *device, int mode)
{
    if (device->cuda->fn.ThreadExchangeStreamCaptureMode)
        (void)device->cuda->fn.ThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

ts_status cuda_program_load(ts_device *handle, const ts_code *code, const char *name, const char *file,
                            ts_program **out, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    cuda_context before;
    if (!code->n_bytes || code->bytes[code->n_bytes - 1] != 0)
        return ts_fail(err, TS_VALUE, "PTX text must end in a NUL");
    TS_TRY(cuda_enter(device, &before, err));
    cuda_program *program = ts__new(handle->alloc, sizeof *program);
    ts_status status = program ? ts__program_init(&program->base, handle, code, name, file, err)
                               : ts_fail(err, TS_NOMEM, "out of memory while loading a kernel");
    if (status == TS_OK && !(program->kept = ts__new(handle->alloc, sizeof *program->kept * (code->plan.n_tmaps + 1))))
        status = ts_fail(err, TS_NOMEM, "out of memory while loading a kernel");
    if (status == TS_OK) {
        int mode = program_capture_mode(device, CUDA_CAPTURE_RELAXED);
        status = program_load(program, code, err);
        if (status == TS_NOMEM) { /* memory that is kept for arrays to come */
            program_unload(program);
            cuda_trim(handle);
            status = program_load(program, code, err);
        }
        (void)program_capture_mode(device, mode);
    }
    if (status == TS_OK)
        *out = &program->base;
    else if (program)
        cuda_program_destroy(&program->base);
    cuda_leave(device, before);
    return status;
}

/* A fault that nobody has looked at yet is kept for the next wait. */
static void program_settle(cuda_program *program)
{
    cuda_device *device = cuda_of(program->base.device);
    ts_error found;
    if (!program->base.plan.error_param || device->cuda->fn.CtxSynchronize() != CUDA_OK)
        return;
    ts_status status = cuda_fault_collect(device, CUDA_ALL_STREAMS, CUDA_ALL_FAULTS, &found);
    pthread_mutex_lock(&device->lock);
    if (status != TS_OK && !device->has_pending) {
        device->pending = found;
        device->has_pending = true;
    }
    pthread_mutex_unlock(&device->lock);
}

void cuda_program_resources(const ts_program *handle, ts_resources *out)
{
    const cuda_program *program = (const cuda_program *)handle;
    cuda_device *device = cuda_of(handle->device);
    const cuda_driver *fn = &device->cuda->fn;
    cuda_context before;
    int registers = 0, local = 0;
    if (!fn->FuncGetAttribute || handle->epoch != ts_device_epoch(handle->device) ||
        cuda_enter(device, &before, NULL) != TS_OK)
        return;
    if (fn->FuncGetAttribute(&registers, CUDA_FUNC_REGISTERS, program->function) == CUDA_OK &&
        fn->FuncGetAttribute(&local, CUDA_FUNC_LOCAL_BYTES, program->function) == CUDA_OK)
        *out = (ts_resources){.known = 1, .serialised = out->serialised, .registers = (uint32_t)registers,
                              .stack_bytes = (uint32_t)local};
    cuda_leave(device, before);
}

uint64_t cuda_program_library(const ts_program *handle)
{
    return (uint64_t)(uintptr_t)((const cuda_program *)handle)->library;
}

void cuda_program_destroy(ts_program *handle)
{
    cuda_program *program = (cuda_program *)handle;
    cuda_device *device = cuda_of(handle->device);
    cuda_context before;
    bool loaded = program->library || program->module;
    const void *last = program;
    atomic_compare_exchange_strong(&device->last, &last, NULL);
    if (loaded && handle->epoch == ts_device_epoch(handle->device) && cuda_enter(device, &before, NULL) == TS_OK) {
        int mode = program_capture_mode(device, CUDA_CAPTURE_RELAXED);
        program_settle(program);
        program_unload(program);
        (void)program_capture_mode(device, mode);
        cuda_leave(device, before);
    }
    const ts_alloc *alloc = handle->device->alloc;
    ts__delete(alloc, program->kept, sizeof *program->kept * (handle->plan.n_tmaps + 1));
    ts__program_deinit(handle);
    ts__delete(alloc, program, sizeof *program);
}

/* ---- tensor maps ---------------------------------------------------------------------------------------- */

static uint64_t program_number(const ts_plan_num *number, const ts_plan *plan, const uint64_t *params)
{
    if (number->param < 0)
        return (uint64_t)number->value;
    uint64_t value = params[number->param];
    return plan->param_bytes[number->param] == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : value;
}

/* 16 zeroed bytes for each element an array without elements could be asked for: a map needs a place. */
static ts_status program_empty(cuda_device *device, void **out, ts_error *err)
{
    enum { EMPTY_BYTES = 4096 };
    *out = atomic_load_explicit(&device->empty, memory_order_acquire);
    if (*out)
        return TS_OK;
    const ts_stream *stream = device->base.default_stream;
    void *memory, *none = NULL;
    TS_TRY(cuda_alloc(&device->base, stream, EMPTY_BYTES, &memory, err));
    TS_TRY(cuda_fill(stream, memory, 0, 4, EMPTY_BYTES / 4, err));
    if (atomic_compare_exchange_strong(&device->empty, &none, memory))
        none = memory;
    else /* another thread was faster */
        ts_mem_free(&device->base, stream, memory, EMPTY_BYTES);
    *out = none;
    return TS_OK;
}

static ts_status program_tmap_failed(const cuda_program *program, uint32_t i, cuda_result code,
                                     const cuda_tmap_key *key, ts_error *err)
{
    char text[512];
    const ts_plan_tmap *map = &program->base.plan.tmap[i];
    uint64_t bits = key->base;
    size_t at = 0;
    for (uint32_t d = 1; d < map->rank; d++)
        bits |= key->strides[d - 1];
    for (uint32_t d = 0; d < map->rank && d < 5 && at < sizeof text; d++)
        at += (size_t)snprintf(text + at, sizeof text - at, " %llu (stride %llu, box %u)",
                               (unsigned long long)key->dims[d],
                               (unsigned long long)(d ? key->strides[d - 1] : map->elem_bytes), map->box[d]);
    return cuda_fail(cuda_of(program->base.device), code, err, "encoding tensor map %u of kernel '%s': extents%s%s", i,
                     program->base.name, text, bits % 16 ? "; TMA copies arrays that begin at a multiple of 16 bytes "
                     "and whose rows do, pass a copy with such rows" : "");
}

/* The two dimensions that lead back to a slice (ts_plan_tmap). */
static uint32_t program_tmap_slice(const ts_plan_tmap *map, uint64_t *dims, uint64_t *strides, uint32_t *box,
                                   uint32_t *step)
{
    uint32_t rank = map->rank;
    uint64_t row = strides[map->slice - 1];
    strides[rank - 1] = row;
    strides[rank] = (uint64_t)TS_SLICE_BYTES - row;
    for (uint32_t d = rank; d < rank + 2; d++) {
        dims[d] = TS_SLICE_EXTENT;
        box[d] = step[d] = 1;
    }
    return rank + 2;
}

static ts_status program_tmap_key(cuda_program *program, uint32_t i, const uint64_t *params, cuda_tmap_key *key,
                                  ts_error *err)
{
    const ts_plan *plan = &program->base.plan;
    const ts_plan_tmap *map = &plan->tmap[i];
    void *base = (void *)(uintptr_t)params[map->base];
    bool empty = false;
    *key = (cuda_tmap_key){0};
    for (uint32_t d = 0; d < map->rank; d++) {
        key->dims[d] = program_number(&map->dim[d], plan, params);
        if (d && d == map->clip)
            key->rows = TS_MIN(TS_MAX(key->dims[d], 1), map->box[d]);
        empty |= key->dims[d] == 0;
    }
    for (uint32_t d = 1; d < map->rank; d++) {
        key->strides[d - 1] = program_number(&map->stride[d], plan, params) * map->elem_bytes;
        if (key->dims[d] <= 1) /* never used, but must be a legal number */
            key->strides[d - 1] = (key->strides[d - 1] + 15) & ~(uint64_t)15 & (((uint64_t)1 << 40) - 1);
    }
    if (empty) {
        TS_TRY(program_empty(cuda_of(program->base.device), &base, err));
        for (uint32_t d = 0; d < map->rank; d++)
            key->dims[d] = 1, key->strides[d] = 16;
    }
    key->base = (uintptr_t)base;
    return TS_OK;
}

static ts_status program_tmap_encode(cuda_program *program, uint32_t i, const cuda_tmap_key *key, cuda_tmap *out,
                                     ts_error *err)
{
    const ts_plan_tmap *map = &program->base.plan.tmap[i];
    uint64_t dims[5], strides[5];
    uint32_t box[5], step[5], rank = map->rank;
    memcpy(dims, key->dims, sizeof dims);
    memcpy(strides, key->strides, sizeof strides);
    memcpy(box, map->box, sizeof box);
    memcpy(step, map->step, sizeof step);
    if (map->clip)
        box[map->clip] = (uint32_t)key->rows;
    if (map->slice)
        rank = program_tmap_slice(map, dims, strides, box, step);
    /* L2 fetches what a row of a box has: with 256 bytes at once an H200 read large matrices 8 % slower. */
    cuda_result code = cuda_of(program->base.device)->cuda->fn.TensorMapEncodeTiled(
        out, map->dtype, rank, (void *)(uintptr_t)key->base, dims, strides, box, step, 0, map->swizzle,
        CUDA_TMAP_PROMOTE_128, map->nan_fill);
    return code == CUDA_OK ? TS_OK : program_tmap_failed(program, i, code, key, err);
}

/* The map of the launch before if nothing changed. Several threads on one kernel: one looks there, others encode. */
static ts_status program_tmap(cuda_program *program, uint32_t i, const uint64_t *params, cuda_tmap *out, ts_error *err)
{
    cuda_tmap_key key;
    TS_TRY(program_tmap_key(program, i, params, &key, err));
    if (atomic_flag_test_and_set_explicit(&program->keeps, memory_order_acquire))
        return program_tmap_encode(program, i, &key, out, err);
    cuda_tmap_kept *kept = &program->kept[i];
    ts_status status = TS_OK;
    if (memcmp(&kept->key, &key, sizeof key) != 0) {
        status = program_tmap_encode(program, i, &key, out, err);
        memcpy(kept->words, out, sizeof kept->words);
        kept->key = status == TS_OK ? key : (cuda_tmap_key){0};
    } else
        memcpy(out, kept->words, sizeof kept->words);
    atomic_flag_clear_explicit(&program->keeps, memory_order_release);
    return status;
}

/* ---- launching --------------------------------------------------------------------------------------------- */

typedef struct program_call {
    cuda_tmap tmaps[TS_PLAN_TMAPS]; /* first: they are aligned */
    void *slots[PROGRAM_SLOTS];
    uint32_t grid[3];
    uint32_t n;
    ts_fault *fault;
    void *counter; /* of a cooperative launch, in memory of the GPU */
} program_call;

enum { PROGRAM_COUNTER_BYTES = 8 };

static ts_status program_grid(const cuda_program *program, const uint32_t asked[3], cuda_launch *launch, ts_error *err)
{
    const ts_plan *plan = &program->base.plan;
    uint32_t cluster = plan->cluster > 1 ? plan->cluster : 1;
    uint64_t x = asked[0];
    memcpy(launch->grid, asked, sizeof launch->grid);
    if (plan->persistent) {
        uint64_t most = (uint64_t)cuda_of(program->base.device)->n_sms * program->resident / cluster;
        double blocks = (double)asked[0] * asked[1] * asked[2];
        x = blocks < (double)most ? (uint64_t)blocks : TS_MAX(most, (uint64_t)1);
        launch->grid[1] = launch->grid[2] = 1;
        if (blocks > PROGRAM_WALK)
            return ts_fail(err, TS_VALUE, "kernel '%s': grid (%u, %u, %u) has more than 2^30 blocks",
                           program->base.name, asked[0], asked[1], asked[2]);
    }
    launch->grid[0] = (unsigned)(x * cluster);
    if (launch->grid[1] > 65535 || launch->grid[2] > 65535 || x * cluster > INT32_MAX)
        return ts_fail(err, TS_VALUE, "kernel '%s': grid (%u, %u, %u) is more than a GPU takes; y and z are at most "
                                      "65535, put the largest axis first", program->base.name, asked[0], asked[1],
                       asked[2]);
    return TS_OK;
}

/* Slots point at the caller's parameters; only what the plan adds lives in the call. */
static ts_status program_slots(cuda_program *program, const uint64_t *params, const void *tables,
                               const ts_stream *given, uintptr_t stream, program_call *call, ts_error *err)
{
    static const uint64_t none[TS_PLAN_TABLE / sizeof(uint64_t)];
    const ts_plan *plan = &program->base.plan;
    uint32_t n = 0;
    call->counter = NULL;
    for (uint32_t i = 0; i < plan->n_tmaps; i++) {
        TS_TRY(program_tmap(program, i, params, &call->tmaps[i], err));
        call->slots[n++] = &call->tmaps[i];
    }
    void **slots = call->slots + n;
    for (uint32_t i = 0, n_params = plan->n_params; i < n_params; i++)
        slots[i] = (void *)(uintptr_t)(params + i);
    n += plan->n_params;
    for (uint32_t axis = 0; plan->persistent && axis < 3; axis++)
        call->slots[n++] = &call->grid[axis];
    if (plan->cooperative) {
        TS_TRY(cuda_alloc(program->base.device, given, PROGRAM_COUNTER_BYTES, &call->counter, err));
        call->slots[n++] = &call->counter;
        TS_TRY(cuda_fill(given, call->counter, 0, PROGRAM_COUNTER_BYTES, 1, err));
    }
    if (plan->error_param) {
        TS_TRY(cuda_fault_take(program, stream, &call->fault, err));
        call->slots[n++] = &call->fault;
    }
    if (plan->table_bytes)
        call->slots[n++] = (void *)(uintptr_t)(tables ? tables : none);
    return TS_OK;
}

/* Block, shared memory and cluster of a kernel of threads, against what this GPU and these registers allow. */
static ts_status program_threads(const cuda_program *program, const ts_launch_shape *shape, cuda_launch *launch,
                                 cuda_launch_attr *cluster, ts_error *err)
{
    const ts_plan *plan = &program->base.plan;
    cuda_device *device = cuda_of(program->base.device);
    const uint32_t *block = shape->block, *c = shape->cluster;
    uint64_t shared = (uint64_t)plan->shared_bytes + shape->shared_bytes;
    uint32_t threads = block[0] * block[1] * block[2], blocks = c[0] * c[1] * c[2];
    ts_assert(threads && threads <= TS_BLOCK_THREADS);
    if (threads > program->most_threads)
        return ts_fail(err, TS_VALUE, "kernel '%s' uses so many registers that a block has at most %u threads on this "
                       "GPU, not %u; launch smaller blocks, or promise num_warps=%u so that it uses fewer registers",
                       program->base.name, program->most_threads, threads, (threads + 31) / 32);
    if (shared > program->most_shared)
        return ts_fail(err, TS_VALUE, "kernel '%s' needs %llu bytes of shared memory (%u of its own and %u dynamic), a "
                       "block of this GPU has %u; use less", program->base.name, (unsigned long long)shared,
                       plan->shared_bytes, shape->shared_bytes, program->most_shared);
    memcpy(launch->block, block, sizeof launch->block);
    launch->shared_bytes = (uint32_t)shared;
    if (blocks <= 1)
        return TS_OK;
    if (!device->cuda->fn.LaunchKernelEx)
        return ts_fail(err, TS_DEVICE, "the NVIDIA driver is too old for clusters; install 525 or newer");
    *cluster = (cuda_launch_attr){.id = CUDA_LAUNCH_CLUSTER, .value.cluster = {c[0], c[1], c[2]}};
    launch->attrs = cluster;
    launch->n_attrs = 1;
    return TS_OK;
}

/* All blocks at once: the driver refuses more than there is room for. */
static ts_status program_cooperate(const cuda_program *program, cuda_launch *launch, cuda_launch_attr attrs[2],
                                   ts_error *err)
{
    if (!cuda_of(program->base.device)->cuda->fn.LaunchKernelEx)
        return ts_fail(err, TS_DEVICE, "the NVIDIA driver is too old for kernels whose blocks wait for each other; "
                       "install 525 or newer");
    attrs[launch->n_attrs++] = (cuda_launch_attr){.id = CUDA_LAUNCH_COOPERATIVE, .value.cooperative = 1};
    launch->attrs = attrs;
    return TS_OK;
}

/* Earlier GPUs run kernels one after the other anyway; earlier drivers do not capture such launches. */
static bool program_may_start_early(const cuda_program *program)
{
    const cuda_device *device = cuda_of(program->base.device);
    return device->cc_major >= 9 && device->cuda->version >= 12030 && !program->base.plan.cooperative;
}

/* The kernel that follows may start before this one has ended. */
static void program_start_early(cuda_launch *launch, cuda_launch_attr attrs[2])
{
    if (launch->n_attrs)
        attrs[0] = launch->attrs[0]; /* the cluster */
    attrs[launch->n_attrs++] = (cuda_launch_attr){.id = CUDA_LAUNCH_PDL, .value.pdl = 1};
    launch->attrs = attrs;
}

static cuda_result program_enqueue(const cuda_program *program, const cuda_launch *launch, void **slots)
{
    const cuda_driver *fn = &cuda_of(program->base.device)->cuda->fn;
    return fn->LaunchKernelEx ? fn->LaunchKernelEx(launch, program->function, slots, NULL)
                              : fn->LaunchKernel(program->function, launch->grid[0], launch->grid[1], launch->grid[2],
                                                 launch->block[0], launch->block[1], launch->block[2],
                                                 launch->shared_bytes, launch->stream, slots, NULL);
}

ts_status cuda_program_launch(ts_program *handle, const ts_stream *stream, const ts_launch_shape *shape,
                              const uint64_t *params, uint32_t flags, ts_error *err)
{
    cuda_program *program = (cuda_program *)handle;
    cuda_device *device = cuda_of(handle->device);
    const ts_plan *plan = &handle->plan;
    program_call call;
    cuda_context before;
    const uint32_t *grid = shape->grid;
    cuda_launch_attr attrs[2]; /* the cluster, and that all blocks run at once */
    cuda_launch launch = {.block = {plan->threads, 1, 1}, .shared_bytes = plan->shared_bytes, .attrs = program->attrs,
                          .n_attrs = program->n_attrs};
    TS_TRY(program_grid(program, grid, &launch, err));
    if (plan->thread_kernel)
        TS_TRY(program_threads(program, shape, &launch, attrs, err));
    if (plan->cooperative)
        TS_TRY(program_cooperate(program, &launch, attrs, err));
    if (flags & TS_LAUNCH_PDL && program_may_start_early(program))
        program_start_early(&launch, attrs);
    TS_TRY(cuda_stream_of(stream, &launch.stream, err));
    TS_TRY(cuda_enter(device, &before, err));
    memcpy(call.grid, grid, sizeof call.grid);
    ts_status status = 
        program_slots(program, params, shape->tables, stream, (uintptr_t)launch.stream, &call, err);
    if (status == TS_OK) {
        cuda_note_launch(device, program, program->base.name);
        cuda_result code = program_enqueue(program, &launch, call.slots);
        if (code != CUDA_OK)
            status = cuda_fail(
                device, code, err,
                "launching kernel '%s' with grid (%u, %u, %u), %u threads and %u bytes "
                "of shared memory",
                handle->name, grid[0], grid[1], grid[2], launch.block[0] * launch.block[1] * launch.block[2],
                launch.shared_bytes);
    }
    if (call.counter)
        cuda_free(handle->device, stream, call.counter, PROGRAM_COUNTER_BYTES);
    cuda_leave(device, before);
    return status;
}
