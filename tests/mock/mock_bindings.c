/* SPDX-License-Identifier: Apache-2.0
 *
 * More of the driver without a GPU: functions that only the Python bindings call. Each shows one way of passing
 * arguments or results (structs by value, floats, lists, callbacks, late writes), and answers so that a test can
 * see what arrived.
 */
#include "mock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_VALUE = 1, NO_CONTEXT = 201, BAD_HANDLE = 400 };

typedef struct handle64 {
    char bytes[64];
} handle64;
typedef struct location {
    int type, id;
} location;

static char contexts[2];
static float clamp[2], border[4];

/* ---- contexts and devices --------------------------------------------------------------------------------- */

static cuda_result more_CtxCreate(cuda_context *context, const void *params, unsigned flags, cuda_ordinal device)
{
    *context = &contexts[device & 1];
    mock_state_data.current = *context;
    return params || flags > 64 ? BAD_VALUE : CUDA_OK;
}
static cuda_result more_CtxDestroy(cuda_context context)
{
    if (mock_state_data.current == context)
        mock_state_data.current = NULL;
    return context ? CUDA_OK : BAD_HANDLE;
}
static struct {
    void *pushed[16];
    int n;
} stack;

static cuda_result more_CtxPushCurrent(cuda_context context)
{
    if (stack.n == 16)
        return BAD_VALUE;
    stack.pushed[stack.n++] = mock_state_data.current;
    mock_state_data.current = context;
    return CUDA_OK;
}
static cuda_result more_CtxPopCurrent(cuda_context *context)
{
    *context = mock_state_data.current;
    mock_state_data.current = stack.n ? stack.pushed[--stack.n] : NULL;
    return CUDA_OK;
}
static cuda_result more_CtxGetDevice(cuda_ordinal *device)
{
    *device = 0;
    return mock_state_data.current ? CUDA_OK : NO_CONTEXT;
}
static cuda_result more_DeviceGetUuid(char *uuid, cuda_ordinal device)
{
    for (int i = 0; i < 16; i++)
        uuid[i] = (char)(i + device);
    return CUDA_OK;
}
static cuda_result more_DeviceGetLuid(char *luid, unsigned *mask, cuda_ordinal device)
{
    memcpy(luid, "LUIDLUID", 8);
    *mask = 1u << device;
    return CUDA_OK;
}
static cuda_result more_DeviceGetPCIBusId(char *text, int bytes, cuda_ordinal device)
{
    snprintf(text, (size_t)bytes, "0000:%02x:00.0", device);
    return CUDA_OK;
}
static cuda_result more_DeviceGetByPCIBusId(cuda_ordinal *device, const char *text)
{
    unsigned number = 0;
    int found = sscanf(text, "0000:%x:00.0", &number);
    *device = (cuda_ordinal)number;
    return found == 1 ? CUDA_OK : BAD_VALUE;
}

static cuda_result more_CtxGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return CUDA_OK;
}
static cuda_result more_StreamGetFlags(void *stream, unsigned *flags)
{
    *flags = 1;
    return stream ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_StreamGetPriority(void *stream, int *priority)
{
    *priority = mock_state_data.priority;
    return stream ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_DeviceGetMemPool(cuda_pool *pool, cuda_ordinal device)
{
    (void)device;
    *pool = &mock_state_data;
    return CUDA_OK;
}
static cuda_result more_MemPoolDestroy(cuda_pool pool)
{
    return pool == &mock_state_data ? CUDA_OK : BAD_HANDLE;
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

static cuda_result more_Memcpy(void *to, const void *from, size_t bytes)
{
    memmove(to, from, bytes);
    return CUDA_OK;
}
static cuda_result more_MemcpyInStream(void *to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memmove(to, from, bytes);
    return CUDA_OK;
}
static cuda_result more_ModuleGetGlobal(cuda_ptr *memory, size_t *bytes, void *module, const char *name)
{
    static char variables[4][64];
    *memory = (cuda_ptr)(uintptr_t)variables[strlen(name) % 4];
    *bytes = sizeof variables[0];
    return module ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_MemsetD8(char *to, unsigned char value, size_t bytes)
{
    memset(to, value, bytes);
    return CUDA_OK;
}
static cuda_result more_IpcGetMemHandle(handle64 *handle, cuda_ptr memory)
{
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &memory, sizeof memory);
    handle->bytes[63] = 63;
    return CUDA_OK;
}
/* A struct of 64 bytes by value between integers. */
static cuda_result more_IpcOpenMemHandle(cuda_ptr *memory, handle64 handle, unsigned flags)
{
    memcpy(memory, &handle, sizeof *memory);
    return flags == 1 && handle.bytes[63] == 63 ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_IpcCloseMemHandle(cuda_ptr memory)
{
    return memory ? CUDA_OK : BAD_VALUE;
}
/* A struct of 8 bytes by value. */
static cuda_result more_MemPrefetchAsync(cuda_ptr memory, size_t bytes, location where, unsigned flags, void *stream)
{
    (void)stream;
    return memory && bytes == 10 && where.type == 1 && where.id == 7 && flags == 0 ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_PointerGetAttribute(void *data, int attribute, cuda_ptr memory)
{
    uint64_t value = attribute == 2 ? 2 : attribute == 8 ? 1 : attribute == 9 ? 0 : attribute == 12 ? 4096 : memory;
    memcpy(data, &value, attribute == 2 || attribute == 8 || attribute == 9 ? 4 : 8);
    return attribute == 99 ? BAD_VALUE : CUDA_OK;
}
static cuda_result more_PointerGetAttributes(unsigned n, const int *attributes, void **data, cuda_ptr memory)
{
    for (unsigned i = 0; i < n; i++)
        more_PointerGetAttribute(data[i], attributes[i], memory);
    return CUDA_OK;
}
static cuda_result more_MemPoolGetAttribute(cuda_pool pool, int attribute, void *value)
{
    uint64_t answer = attribute <= 3 ? 1 : (uint64_t)1 << 40;
    memcpy(value, &answer, attribute <= 3 ? 4 : 8);
    return pool ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_MemRangeGetAttribute(void *data, size_t bytes, int attribute, cuda_ptr memory, size_t count)
{
    (void)memory, (void)count;
    for (size_t i = 0; i + 4 <= bytes; i += 4)
        memcpy((char *)data + i, &(int){attribute == 3 ? (int)(i / 4) - 1 : 1}, 4);
    return CUDA_OK;
}

/* ---- virtual memory: numbers only ------------------------------------------------------------------------- */

static cuda_result more_MemGetAllocationGranularity(size_t *bytes, const void *prop, int option)
{
    (void)option;
    *bytes = 1 << 16;
    return prop ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemAddressReserve(cuda_ptr *memory, size_t bytes, size_t align, cuda_ptr hint, uint64_t flags)
{
    static cuda_ptr next = (cuda_ptr)1 << 40;
    (void)align, (void)flags;
    *memory = hint && mock_state_data.vmm_is_adjacent ? hint : (next += (cuda_ptr)1 << 32);
    mock_state_data.n_reserved++;
    return bytes ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemAddressFree(cuda_ptr memory, size_t bytes)
{
    mock_state_data.n_reserved--;
    return memory && bytes ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemCreate(uint64_t *handle, size_t bytes, const void *prop, uint64_t flags)
{
    static uint64_t next = 1;
    (void)flags;
    *handle = next++;
    mock_state_data.n_physical++;
    return bytes && prop ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemRelease(uint64_t handle)
{
    mock_state_data.n_physical--;
    return handle ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_MemMap(cuda_ptr memory, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
    (void)offset, (void)flags;
    if (mock_state_data.vmm_failures > 0 && mock_state_data.vmm_failures--)
        return CUDA_OUT_OF_MEMORY;
    mock_state_data.n_mapped++;
    return memory && bytes && handle ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemUnmap(cuda_ptr memory, size_t bytes)
{
    mock_state_data.n_mapped--;
    return memory && bytes ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemSetAccess(cuda_ptr memory, size_t bytes, const void *rows, size_t n)
{
    return memory && bytes && rows && n ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_MemAllocHost(void **memory, size_t bytes)
{
    *memory = calloc(1, bytes);
    return *memory ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

/* ---- textures: floats by value ----------------------------------------------------------------------------- */

static cuda_result more_TexRefSetMipmapLevelClamp(void *texture, float low, float high)
{
    clamp[0] = low;
    clamp[1] = high;
    return texture ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_TexRefGetMipmapLevelClamp(float *low, float *high, void *texture)
{
    *low = clamp[0];
    *high = clamp[1];
    return texture ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_TexRefSetBorderColor(void *texture, const float *color)
{
    memcpy(border, color, sizeof border);
    return texture ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_TexRefGetBorderColor(float *color, void *texture)
{
    memcpy(color, border, sizeof border);
    return texture ? CUDA_OK : BAD_HANDLE;
}

/* ---- callbacks, graphs, modules ------------------------------------------------------------------------------ */

static cuda_result more_GraphGetNodes(void *graph, void **nodes, size_t *count)
{
    size_t room = nodes ? *count : 0;
    for (size_t i = 0; i < room; i++)
        nodes[i] = i < 3 ? (void *)(i + 16) : NULL;
    *count = 3;
    return graph ? CUDA_OK : BAD_HANDLE;
}
/* Answers how many lists it was given by the sum of what stands in them. */
static cuda_result more_GraphAddDependencies(void *graph, void *const *from, void *const *to, const char *edges,
                                             size_t n)
{
    uintptr_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uintptr_t)from[i] * 10 + (uintptr_t)to[i] + (edges ? (uintptr_t)edges[8 * i] : 0);
    return sum == (uintptr_t)graph ? CUDA_OK : BAD_VALUE;
}
static cuda_result more_StreamGetCaptureInfo(void *stream, int *status, uint64_t *id, void **graph, void *const **nodes,
                                             const char **edges, size_t *count)
{
    static void *const found[] = {(void *)5, (void *)6};
    static const char edge[16] = {1, 2, 0, 0, 0, 0, 0, 0, 3, 4};
    *status = 1;
    *id = 77;
    *graph = (void *)4096;
    *nodes = found;
    *edges = edge;
    *count = 2;
    return stream ? CUDA_OK : BAD_HANDLE;
}
static cuda_result more_ModuleEnumerateFunctions(void **functions, unsigned count, void *module)
{
    for (unsigned i = 0; i < count; i++)
        functions[i] = (char *)module + i;
    return CUDA_OK;
}
static cuda_result more_FuncGetName(const char **name, void *function)
{
    *name = "a_kernel";
    return function ? CUDA_OK : BAD_HANDLE;
}

/* ---- the linker keeps its options and writes into the log at the end ------------------------------------------ */

typedef struct link {
    unsigned n;
    const int *options;
    void **values;
    char inputs[512];
} link;

static cuda_result more_LinkCreate(unsigned n, int *options, void **values, void **state)
{
    link *made = malloc(sizeof *made);
    *made = (link){n, options, values, ""};
    *state = made;
    return CUDA_OK;
}
/* The image of a link tells what went in: "cubin of 1 main 1 extern.ptx", CUjitInputType and name of each. */
static cuda_result more_LinkAddData(void *state, int type, void *data, size_t n, const char *name, unsigned n_options,
                                    int *options, void **values)
{
    link *made = state;
    size_t at = strlen(made->inputs);
    (void)data, (void)n, (void)n_options, (void)options, (void)values;
    snprintf(made->inputs + at, sizeof made->inputs - at, " %d %s", type, name && *name ? name : "main");
    return CUDA_OK;
}
static cuda_result more_LinkComplete(void *state, void **cubin, size_t *bytes)
{
    static char image[600];
    link *made = state;
    snprintf(image, sizeof image, "cubin%s%s", *made->inputs ? " of" : "", made->inputs);
    for (unsigned i = 0; i < made->n; i++)
        if (made->options[i] == CUDA_JIT_ERROR_LOG)
            strcpy(made->values[i], "late words");
    *cubin = image;
    *bytes = strlen(image) + 1;
    return CUDA_OK;
}
static cuda_result more_LinkDestroy(void *state)
{
    free(state);
    return CUDA_OK;
}

/* ---- the table --------------------------------------------------------------------------------------------- */

#define ROW(symbol, function) {symbol, (void (*)(void))more_##function}
static const mock_row rows[] = {
    ROW("cuCtxCreate", CtxCreate),
    ROW("cuCtxDestroy", CtxDestroy),
    ROW("cuCtxPushCurrent", CtxPushCurrent),
    ROW("cuCtxPopCurrent", CtxPopCurrent),
    ROW("cuCtxGetDevice", CtxGetDevice),
    ROW("cuDeviceGetUuid", DeviceGetUuid),
    ROW("cuDeviceGetLuid", DeviceGetLuid),
    ROW("cuDeviceGetPCIBusId", DeviceGetPCIBusId),
    ROW("cuDeviceGetByPCIBusId", DeviceGetByPCIBusId),
    ROW("cuCtxGetStreamPriorityRange", CtxGetStreamPriorityRange),
    ROW("cuStreamGetFlags", StreamGetFlags),
    ROW("cuStreamGetPriority", StreamGetPriority),
    ROW("cuDeviceGetMemPool", DeviceGetMemPool),
    ROW("cuMemPoolDestroy", MemPoolDestroy),
    ROW("cuMemGetAllocationGranularity", MemGetAllocationGranularity),
    ROW("cuMemAddressReserve", MemAddressReserve),
    ROW("cuMemAddressFree", MemAddressFree),
    ROW("cuMemCreate", MemCreate),
    ROW("cuMemRelease", MemRelease),
    ROW("cuMemMap", MemMap),
    ROW("cuMemUnmap", MemUnmap),
    ROW("cuMemSetAccess", MemSetAccess),
    ROW("cuMemAllocHost", MemAllocHost),
    ROW("cuMemcpyHtoD", Memcpy),
    ROW("cuMemcpyDtoH", Memcpy),
    ROW("cuMemcpyDtoD", Memcpy),
    ROW("cuMemcpyDtoDAsync", MemcpyInStream),
    ROW("cuModuleGetGlobal", ModuleGetGlobal),
    ROW("cuMemsetD8", MemsetD8),
    ROW("cuIpcGetMemHandle", IpcGetMemHandle),
    ROW("cuIpcOpenMemHandle", IpcOpenMemHandle),
    ROW("cuIpcCloseMemHandle", IpcCloseMemHandle),
    ROW("cuMemPrefetchAsync", MemPrefetchAsync),
    ROW("cuPointerGetAttribute", PointerGetAttribute),
    ROW("cuPointerGetAttributes", PointerGetAttributes),
    ROW("cuMemPoolGetAttribute", MemPoolGetAttribute),
    ROW("cuMemRangeGetAttribute", MemRangeGetAttribute),
    ROW("cuTexRefSetMipmapLevelClamp", TexRefSetMipmapLevelClamp),
    ROW("cuTexRefGetMipmapLevelClamp", TexRefGetMipmapLevelClamp),
    ROW("cuTexRefSetBorderColor", TexRefSetBorderColor),
    ROW("cuTexRefGetBorderColor", TexRefGetBorderColor),
    ROW("cuGraphGetNodes", GraphGetNodes),
    ROW("cuGraphAddDependencies", GraphAddDependencies),
    ROW("cuStreamGetCaptureInfo", StreamGetCaptureInfo),
    ROW("cuModuleEnumerateFunctions", ModuleEnumerateFunctions),
    ROW("cuFuncGetName", FuncGetName),
    ROW("cuLinkCreate", LinkCreate),
    ROW("cuLinkAddData", LinkAddData),
    ROW("cuLinkComplete", LinkComplete),
    ROW("cuLinkDestroy", LinkDestroy),
};

int mock_more(const char *symbol, void **out)
{
    return mock_find(rows, sizeof rows / sizeof rows[0], symbol, out);
}
