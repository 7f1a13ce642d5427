/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA driver without a GPU: every function of driver.def, with host memory as device memory and streams that
 * are always done. Launches and tensor maps are recorded (mock.h), failures are made on demand. Built as a
 * shared library, with what mock_bindings.c or mock_core.c add, and chosen by TESSERA_CUDA_DRIVER.
 */
#include "mock.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
EXPORT mock_state mock_state_data = {.n_devices = 2, .cc_major = 9, .cc_minor = 0, .pools = 1};
EXPORT int mock_hold;
EXPORT volatile int mock_gate, mock_waited, mock_expired;
EXPORT void mock_call_back(cuda_result code);
EXPORT cuda_result cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags, int *status);
#define M (&mock_state_data)
#pragma weak mock_core

enum { BAD_VALUE = 1, BAD_DEVICE = 101, BAD_CONTEXT = 201, BAD_HANDLE = 400, NOT_FOUND = 500 };
static char contexts[8];

/* Of the current context; 0 where it is none of ours. */
static int current_device(void)
{
    char *context = M->current;
    return context >= contexts && context < contexts + sizeof contexts ? (int)(context - contexts) : 0;
}

/* Everything that a reset takes away: device memory, streams and events, in one list. */
typedef struct thing {
    _Alignas(256) struct thing *next;
    int device;
    struct thing **link;
    size_t bytes;   /* of device memory; 0 for others */
    unsigned *count; /* of the living ones; NULL for memory */
    void *whole;     /* what is freed */
    _Alignas(256) char data[];
} thing;
static thing *things;
static atomic_flag things_lock = ATOMIC_FLAG_INIT; /* threads make and end events at once */

static void things_take(void)
{
    while (atomic_flag_test_and_set(&things_lock))
        ;
}

static void *thing_new(size_t bytes, unsigned *count)
{
    /* Zeros, as nothing runs kernels here: what a test reads of their results does not change from run to run. */
    void *whole = calloc(1, sizeof(thing) + bytes + 256 + 255);
    thing *t = (thing *)(((uintptr_t)whole + 255) & ~(uintptr_t)255);
    *t = (thing){.device = current_device(), .link = &things, .bytes = bytes, .count = count, .whole = whole};
    things_take();
    t->next = things;
    if (things)
        things->link = &t->next;
    things = t;
    M->bytes_out += bytes;
    *(count ? count : &(unsigned){0}) += 1;
    atomic_flag_clear(&things_lock);
    return t->data;
}

static void thing_end(void *data)
{
    thing *t = (thing *)((char *)data - offsetof(thing, data));
    things_take();
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    M->bytes_out -= t->bytes;
    *(t->count ? t->count : &(unsigned){0}) -= 1;
    atomic_flag_clear(&things_lock);
    free(t->whole);
}

static void mock_wait(void)
{
    if (!mock_gate)
        return;
    mock_waited++;
    for (int i = 0; mock_gate && i < 3000; i++)
        usleep(1000);
    mock_expired += mock_gate;
    mock_gate = 0;
}

/* What every call that needs a context begins with. */
static cuda_result mock_context(void)
{
    mock_wait();
    return !M->current ? BAD_CONTEXT : M->sticky;
}

static cuda_result mock_Init(unsigned flags)
{
    return flags ? BAD_VALUE : M->init_result;
}
static cuda_result mock_DriverGetVersion(int *version)
{
    *version = M->old_driver ? 11080 : 13000;
    return CUDA_OK;
}
static cuda_result mock_GetErrorName(cuda_result code, const char **text)
{
    *text = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_MOCK";
    return code == 12345 ? BAD_VALUE : CUDA_OK;
}
static cuda_result mock_GetErrorString(cuda_result code, const char **text)
{
    *text = "as the mock was told";
    return code == 12345 ? BAD_VALUE : CUDA_OK;
}
static cuda_result mock_DeviceGetCount(int *count)
{
    *count = M->n_devices;
    return CUDA_OK;
}
static cuda_result mock_DeviceGet(cuda_ordinal *device, int ordinal)
{
    *device = ordinal;
    return ordinal < M->n_devices ? CUDA_OK : BAD_DEVICE;
}
static cuda_result mock_DeviceGetName(char *name, int bytes, cuda_ordinal device)
{
    (void)device;
    strncpy(name, "Mock GPU", (size_t)bytes);
    return CUDA_OK;
}
static cuda_result mock_DeviceGetAttribute(int *value, int attribute, cuda_ordinal device)
{
    (void)device;
    *value = attribute == CUDA_CC_MAJOR ? M->cc_major : attribute == CUDA_CC_MINOR ? M->cc_minor
             : attribute == CUDA_SM_COUNT ? 10 : attribute == CUDA_POOLS_SUPPORTED ? M->pools
             : attribute == CUDA_SHARED_OPTIN ? (M->block_shared ? M->block_shared : 99 << 10)
             : attribute;
    return CUDA_OK;
}
static cuda_result mock_DeviceTotalMem(size_t *bytes, cuda_ordinal device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return CUDA_OK;
}
static cuda_result mock_DevicePrimaryCtxRetain(cuda_context *context, cuda_ordinal device)
{
    if (M->sticky)
        return M->sticky;
    M->n_context++;
    *context = &contexts[device];
    return CUDA_OK;
}
static cuda_result mock_DevicePrimaryCtxRelease(cuda_ordinal device)
{
    (void)device;
    M->n_context--;
    return CUDA_OK;
}
static cuda_result mock_DevicePrimaryCtxReset(cuda_ordinal device)
{
    mock_wait();
    M->n_reset++;
    for (thing *t = things, *next; t; t = next) {
        next = t->next;
        if (t->device == device)
            thing_end(t->data);
    }
    M->sticky = M->keeps_fault ? M->sticky : 0;
    return CUDA_OK;
}
static cuda_result mock_CtxGetCurrent(cuda_context *context)
{
    *context = M->current;
    return CUDA_OK;
}
static cuda_result mock_CtxSetCurrent(cuda_context context)
{
    M->current = context;
    return CUDA_OK;
}
static cuda_result mock_CtxGetDevice(cuda_ordinal *device)
{
    if (!M->current)
        return BAD_CONTEXT;
    *device = current_device();
    return CUDA_OK;
}
static cuda_result mock_CtxSynchronize(void)
{
    return mock_context();
}
static cuda_result mock_MemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = (size_t)1 << 30;
    return mock_context();
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static cuda_result mock_MemAlloc(cuda_ptr *memory, size_t bytes)
{
    if (mock_context())
        return mock_context();
    if (M->alloc_failures > 0 && M->alloc_failures--)
        return CUDA_OUT_OF_MEMORY;
    M->n_alloc++;
    *memory = (cuda_ptr)(uintptr_t)thing_new(bytes, NULL);
    return CUDA_OK;
}
static cuda_result mock_MemFree(cuda_ptr memory)
{
    things_take();
    thing *t = things;
    while (t && (cuda_ptr)(uintptr_t)t->data != memory)
        t = t->next;
    atomic_flag_clear(&things_lock);
    if (!t)
        return BAD_VALUE;
    M->n_free++;
    thing_end(t->data);
    return mock_context();
}
static cuda_result mock_MemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    *memory = calloc(1, bytes);
    return *memory ? mock_context() : CUDA_OUT_OF_MEMORY;
}
static cuda_result mock_MemFreeHost(void *memory)
{
    free(memory);
    return CUDA_OK;
}
static cuda_result mock_MemPoolCreate(cuda_pool *pool, const cuda_pool_props *props)
{
    *pool = M;
    return props->alloc_type == 1 && props->location.type == 1 ? CUDA_OK : BAD_VALUE;
}
static cuda_result mock_MemPoolSetAttribute(cuda_pool pool, int attribute, void *value)
{
    return pool == M && attribute == CUDA_POOL_RELEASE_THRESHOLD && *(uint64_t *)value == UINT64_MAX ? CUDA_OK
                                                                                                     : BAD_VALUE;
}
static cuda_result mock_MemPoolTrimTo(cuda_pool pool, size_t keep_bytes)
{
    return pool == M && keep_bytes == 0 ? CUDA_OK : BAD_VALUE;
}
static cuda_result mock_MemAllocFromPoolAsync(cuda_ptr *memory, size_t bytes, cuda_pool pool, cuda_stream_t stream)
{
    (void)stream;
    return pool == M ? mock_MemAlloc(memory, bytes) : BAD_HANDLE;
}
static cuda_result mock_MemFreeAsync(cuda_ptr memory, cuda_stream_t stream)
{
    (void)stream;
    return mock_MemFree(memory);
}
static cuda_result mock_MemcpyAsync(cuda_ptr to, cuda_ptr from, size_t bytes, cuda_stream_t stream)
{
    (void)stream;
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return mock_context();
}
static cuda_result mock_MemcpyHtoDAsync(cuda_ptr to, const void *from, size_t bytes, cuda_stream_t stream)
{
    return mock_MemcpyAsync(to, (cuda_ptr)(uintptr_t)from, bytes, stream);
}
static cuda_result mock_MemcpyDtoHAsync(void *to, cuda_ptr from, size_t bytes, cuda_stream_t stream)
{
    return mock_MemcpyAsync((cuda_ptr)(uintptr_t)to, from, bytes, stream);
}
static cuda_result mock_MemsetD2D32Async(cuda_ptr to, size_t pitch, unsigned value, size_t width, size_t height,
                                         cuda_stream_t stream)
{
    (void)stream;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy((char *)(uintptr_t)to + y * pitch + x * 4, &value, 4);
    return mock_context();
}
static cuda_result mock_MemsetD32Async(cuda_ptr to, unsigned value, size_t count, cuda_stream_t stream)
{
    return mock_MemsetD2D32Async(to, 0, value, count, 1, stream);
}
static cuda_result mock_MemsetD16Async(cuda_ptr to, unsigned short value, size_t count, cuda_stream_t stream)
{
    (void)stream;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)(uintptr_t)to + 2 * i, &value, 2);
    return mock_context();
}
static cuda_result mock_MemsetD8Async(cuda_ptr to, unsigned char value, size_t count, cuda_stream_t stream)
{
    (void)stream;
    memset((void *)(uintptr_t)to, value, count);
    return mock_context();
}

/* ---- streams and events ----------------------------------------------------------------------------------- */

static cuda_result mock_ready(void)
{
    if (M->busy > 0) {
        M->busy--;
        return CUDA_NOT_READY;
    }
    return mock_context() || !mock_hold ? mock_context() : CUDA_NOT_READY;
}
static cuda_result mock_StreamCreate(cuda_stream_t *stream, unsigned flags)
{
    *stream = thing_new(0, &M->n_streams);
    return flags <= CUDA_STREAM_NON_BLOCKING ? mock_context() : BAD_VALUE;
}
static cuda_result mock_StreamCreateWithPriority(cuda_stream_t *stream, unsigned flags, int priority)
{
    *stream = thing_new(0, &M->n_streams);
    M->priority = priority;
    return flags <= CUDA_STREAM_NON_BLOCKING ? mock_context() : BAD_VALUE;
}
static cuda_result mock_StreamIsCapturing(cuda_stream_t stream, int *status)
{
    (void)stream;
    *status = M->is_capturing;
    return mock_context();
}
static cuda_result mock_StreamGetCtx(cuda_stream_t stream, cuda_context *context)
{
    (void)stream;
    *context = M->current;
    return mock_context();
}
static cuda_result mock_StreamDestroy(cuda_stream_t stream)
{
    thing_end(stream);
    return mock_context();
}
static cuda_result mock_StreamSynchronize(cuda_stream_t stream)
{
    (void)stream;
    M->n_syncs++;
    return mock_context();
}
static cuda_result mock_StreamQuery(cuda_stream_t stream)
{
    (void)stream;
    return mock_ready();
}
static cuda_result mock_StreamWaitEvent(cuda_stream_t stream, cuda_event_t event, unsigned flags)
{
    (void)stream;
    return event && flags == 0 ? mock_context() : BAD_HANDLE;
}
static cuda_result mock_LaunchHostFunc(cuda_stream_t stream, void (*function)(void *), void *user)
{
    (void)stream;
    function(user);
    return mock_context();
}
/* Kept until mock_call_back while the test holds callbacks, else called at once. */
enum { HELD_MAX = 1 << 15 };
static struct {
    cuda_stream_t stream;
    void (*function)(cuda_stream_t, cuda_result, void *);
    void *user;
} held[HELD_MAX];
static unsigned n_held;

static cuda_result mock_StreamAddCallback(cuda_stream_t stream, void (*function)(cuda_stream_t, cuda_result, void *),
                                          void *user, unsigned flags)
{
    if (flags || mock_context())
        return flags ? BAD_VALUE : mock_context();
    if (M->callback_result)
        return M->callback_result;
    if (!mock_hold)
        function(stream, CUDA_OK, user);
    else if (n_held == HELD_MAX)
        return CUDA_OUT_OF_MEMORY;
    else {
        held[n_held].stream = stream;
        held[n_held].function = function;
        held[n_held++].user = user;
    }
    return CUDA_OK;
}

/* Calls what was held, oldest first, as the driver does from its thread when the work is done or has failed. */
EXPORT void mock_call_back(cuda_result code)
{
    for (unsigned i = 0; i < n_held; i++)
        held[i].function(held[i].stream, code, held[i].user);
    n_held = 0;
}

static cuda_result mock_EventCreate(cuda_event_t *event, unsigned flags)
{
    *event = thing_new(0, &M->n_events);
    M->event_flags = flags;
    return flags < 8 ? mock_context() : BAD_VALUE;
}
static cuda_result mock_EventDestroy(cuda_event_t event)
{
    thing_end(event);
    return mock_context();
}
static cuda_result mock_EventRecord(cuda_event_t event, cuda_stream_t stream)
{
    static float clock = 0;
    (void)stream;
    *(float *)event = clock += 1.5f;
    return mock_context();
}
static cuda_result mock_EventSynchronize(cuda_event_t event)
{
    (void)event;
    return mock_context();
}
static cuda_result mock_EventQuery(cuda_event_t event)
{
    (void)event;
    return mock_ready();
}
static cuda_result mock_EventElapsedTime(float *ms, cuda_event_t begin, cuda_event_t end)
{
    *ms = *(float *)end - *(float *)begin;
    return *(float *)begin == 0 || *(float *)end == 0 ? BAD_HANDLE : mock_context();
}

/* ---- programs ------------------------------------------------------------------------------------------------ */

static _Thread_local int mock_capture_mode; /* CUstreamCaptureMode */

static cuda_result mock_ThreadExchangeStreamCaptureMode(int *mode)
{
    int old = mock_capture_mode;
    mock_capture_mode = *mode;
    *mode = old;
    return CUDA_OK;
}

/* A stream that records forbids it to all threads but those that are relaxed. */
static cuda_result mock_load(const void *code, const int *options, void **values, unsigned n)
{
    enum { CAPTURE_UNSUPPORTED = 900 };
    if (M->is_capturing && mock_capture_mode != CUDA_CAPTURE_RELAXED)
        return CAPTURE_UNSUPPORTED;
    int bad = M->bad_loads > 0, serial = !bad && M->serial_loads > 0;
    M->bad_loads -= bad, M->serial_loads -= serial;
    for (unsigned i = 0; i < n; i++)
        if (options[i] == CUDA_JIT_ERROR_LOG && M->load_result && M->error_log)
            strcpy(values[i], M->error_log);
        else if (options[i] == CUDA_JIT_ERROR_LOG && bad)
            strcpy(values[i], "ptxas error : Insufficient registers (80)");
        else if (options[i] == CUDA_JIT_INFO_LOG && (M->info_log || serial))
            strcpy(values[i], serial ? "ptxas info : (C7512) Potential Performance Loss" : M->info_log);
    strncpy(M->code, code, sizeof M->code - 1);
    M->n_tried++;
    if (bad)
        return 218;
    M->n_load += M->load_result == 0;
    return M->load_result ? M->load_result : mock_context();
}
/* Where loads are told of, handles of library, kernel and function are a load's number, as a place in this; elsewhere
 * all are the state. */
enum { MOCK_LOADS = 1 << 16 };
static char mock_loads[MOCK_LOADS];
static _Atomic unsigned n_mock_loads; /* threads load at once */
EXPORT void (*mock_launched)(unsigned number, void **params, const unsigned *grid, const unsigned *block,
                             unsigned shared);
EXPORT void (*mock_loaded)(unsigned number, const char *code);
static void *mock_handle(const char *code)
{
    unsigned number = mock_loaded ? n_mock_loads++ : MOCK_LOADS;
    if (number >= MOCK_LOADS)
        return M;
    mock_loaded(number, code);
    return &mock_loads[number];
}
static int mock_is_handle(const void *handle)
{
    return handle == M || (uintptr_t)handle - (uintptr_t)mock_loads < MOCK_LOADS; /* before it: beyond all */
}
static cuda_result mock_LibraryLoadData(cuda_library *library, const void *code, int *jit_options, void **jit_values,
                                        unsigned n_jit, int *options, void **values, unsigned n_options)
{
    (void)options, (void)values, (void)n_options;
    *library = M->load_result ? NULL : mock_handle(code);
    return mock_load(code, jit_options, jit_values, n_jit);
}
static cuda_result mock_LibraryUnload(cuda_library library)
{
    M->n_unload++;
    return mock_is_handle(library) ? mock_context() : BAD_HANDLE;
}
static cuda_result mock_LibraryGetKernel(cuda_kernel *kernel, cuda_library library, const char *name)
{
    *kernel = library;
    return strcmp(name, "missing") == 0 ? NOT_FOUND : CUDA_OK;
}
static cuda_result mock_KernelGetFunction(cuda_function *function, cuda_kernel kernel)
{
    *function = kernel;
    return CUDA_OK;
}
static cuda_result mock_ModuleLoadDataEx(cuda_module *module, const void *code, unsigned n_jit, int *jit_options,
                                         void **jit_values)
{
    *module = M->load_result ? NULL : mock_handle(code);
    return mock_load(code, jit_options, jit_values, n_jit);
}
static cuda_result mock_ModuleUnload(cuda_module module)
{
    return mock_LibraryUnload(module);
}
static cuda_result mock_ModuleGetFunction(cuda_function *function, cuda_module module, const char *name)
{
    return mock_LibraryGetKernel(function, module, name);
}
static cuda_result mock_FuncGetAttribute(int *value, int attribute, cuda_function function)
{
    *value = attribute == 4 ? 168 : attribute == 3 ? 16 : attribute == 0 ? M->block_threads : 0;
    return mock_is_handle(function) ? CUDA_OK : BAD_HANDLE;
}
static cuda_result mock_FuncSetAttribute(cuda_function function, int attribute, int value)
{
    M->n_attr++;
    M->attr[attribute & 31] = value;
    return mock_is_handle(function) ? CUDA_OK : BAD_HANDLE;
}
static cuda_result mock_OccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cuda_function function, int threads,
                                                                  size_t shared_bytes)
{
    (void)threads, (void)shared_bytes;
    *blocks = 3;
    return mock_is_handle(function) ? CUDA_OK : BAD_HANDLE;
}
static cuda_result mock_LaunchKernelEx(const cuda_launch *config, cuda_function function, void **params, void **extra)
{
    (void)extra;
    if (!mock_is_handle(function) || mock_context())
        return !mock_is_handle(function) ? BAD_HANDLE : mock_context();
    while (M->is_full)
        usleep(100);
    M->n_launches++;
    memcpy(M->grid, config->grid, sizeof M->grid);
    memcpy(M->block, config->block, sizeof M->block);
    M->shared_bytes = config->shared_bytes;
    M->stream = config->stream;
    M->pdl = 0;
    M->cluster = 0;
    M->cooperative = 0;
    memset(M->cluster_dims, 0, sizeof M->cluster_dims);
    for (unsigned i = 0; i < config->n_attrs; i++)
        if (config->attrs[i].id == CUDA_LAUNCH_PDL)
            M->pdl = config->attrs[i].value.pdl;
        else if (config->attrs[i].id == CUDA_LAUNCH_COOPERATIVE)
            M->cooperative = config->attrs[i].value.cooperative;
        else if (config->attrs[i].id == CUDA_LAUNCH_CLUSTER) {
            memcpy(M->cluster_dims, config->attrs[i].value.cluster, sizeof M->cluster_dims);
            M->cluster = M->cluster_dims[0];
        }
    for (uint64_t i = 0; i < M->n_values; i++)
        memcpy(&M->values[i], params[i], 8);
    if (mock_launched && function != M)
        mock_launched((unsigned)((char *)function - mock_loads), params, config->grid, config->block,
                      config->shared_bytes);
    if (M->kernel)
        M->kernel(params, M->user);
    return CUDA_OK;
}
static cuda_result mock_LaunchKernel(cuda_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned shared_bytes, cuda_stream_t stream,
                                     void **params, void **extra)
{
    cuda_launch config = {{gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, NULL, 0};
    return mock_LaunchKernelEx(&config, function, params, extra);
}
/* Parameters of every kernel, as the test says: sizes packed at their own alignment. */
static cuda_result mock_KernelGetParamInfo(cuda_kernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    if (!mock_is_handle(kernel))
        return BAD_HANDLE;
    if (index >= M->n_param_bytes)
        return BAD_VALUE;
    *offset = 0;
    for (size_t i = 0; i <= index; i++) {
        size_t align = M->param_bytes[i] < 8 ? M->param_bytes[i] : 8;
        *offset = (*offset + align - 1) / align * align + (i < index ? M->param_bytes[i] : 0);
    }
    *bytes = M->param_bytes[index];
    return CUDA_OK;
}
static cuda_result mock_FuncGetParamInfo(cuda_function function, size_t index, size_t *offset, size_t *bytes)
{
    return mock_KernelGetParamInfo(function, index, offset, bytes);
}
static cuda_result mock_TensorMapEncodeTiled(cuda_tmap *map, int type, uint32_t rank, void *base, const uint64_t *dims,
                                             const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                                             int interleave, int swizzle, int promotion, int fill)
{
    mock_tmap *record = &M->tmap[M->n_encoded % MOCK_TMAPS];
    if ((uintptr_t)map % 64 || (uintptr_t)base % 16 || rank < 1 || rank > 5 || !strides)
        return BAD_VALUE;
    *record = (mock_tmap){type, swizzle, promotion, fill, interleave, rank, {0}, {0}, base, {0}, {0}};
    for (uint32_t d = 0; d < rank; d++) {
        record->dims[d] = dims[d];
        record->box[d] = box[d];
        record->steps[d] = steps[d];
        if (dims[d] < 1 || box[d] < 1 || box[d] > 256)
            return BAD_VALUE;
        if (d && (strides[d - 1] % 16 || strides[d - 1] >> 40))
            return BAD_VALUE;
        if (d)
            record->strides[d - 1] = strides[d - 1];
    }
    *map = (cuda_tmap){.words = {++M->n_encoded}};
    return CUDA_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *symbol;
    int version;
} rows[] = {
#define CU(name, symbol, version, need, params) {symbol, version},
#include "device/cuda/driver.def"
};

const cuda_driver mock_base = {
#define CU(name, symbol, version, need, params) mock_##name,
#include "device/cuda/driver.def"
};

int mock_find(const mock_row *from, size_t n, const char *symbol, void **out)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(from[i].symbol, symbol) == 0) {
            memcpy(out, &from[i].function, sizeof *out);
            return 1;
        }
    return 0;
}

cuda_result cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags, int *status)
{
    (void)flags;
    *out = NULL;
    *status = 0;
    if (mock_core && mock_core(symbol, out))
        return CUDA_OK;
    *status = 1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].symbol, symbol) == 0 && version >= rows[i].version &&
            !(M->old_driver && rows[i].version >= 11060)) {
            memcpy(out, (const char *)&mock_base + i * sizeof(void *), sizeof *out);
            *status = 0;
            return CUDA_OK;
        }
    *status = !mock_more(symbol, out);
    return *status ? NOT_FOUND : CUDA_OK;
}
