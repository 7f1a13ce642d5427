/* SPDX-License-Identifier: Apache-2.0
 *
 * More of the driver without a GPU: functions that tessera.core calls through the bindings. Objects are made,
 * counted and ended; what is copied is copied; what is asked about kernels is answered as the test has set it.
 */
#include "mock.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BAD_VALUE = 1, BAD_HANDLE = 400, NOT_FOUND = 500 };
#define M (&mock_state_data)

/* ---- arrays -------------------------------------------------------------------------------------------------- */

typedef struct array_desc { /* CUDA_ARRAY3D_DESCRIPTOR */
    size_t width, height, depth;
    int format;
    unsigned n_channels, flags;
} array_desc;

typedef struct array {
    array_desc desc;
    size_t element_bytes;
    bool is_level;             /* of a mipmapped array, which ends it */
    char data[];
} array;

typedef struct levels {
    unsigned n;
    array *level[16];
} levels;

static size_t array_or_1(size_t extent)
{
    return extent ? extent : 1;
}

/* CU_AD_FORMAT_*: 1 to 3 unsigned, 8 to 10 signed, 16 half, 32 float. */
static size_t array_channel_bytes(int format)
{
    static const unsigned char bytes[33] = {[1] = 1, [2] = 2, [3] = 4, [8] = 1, [9] = 2, [10] = 4, [16] = 2, [32] = 4};
    return format > 0 && format < 33 ? bytes[format] : 0;
}

static array *array_new(const array_desc *desc)
{
    size_t element = array_channel_bytes(desc->format) * desc->n_channels;
    size_t n = desc->width * array_or_1(desc->height) * array_or_1(desc->depth);
    array *made = calloc(1, sizeof *made + n * element);
    made->desc = *desc;
    made->element_bytes = element;
    return made;
}
static cuda_result core_Array3DCreate(array **out, const array_desc *desc)
{
    *out = NULL;
    if (!desc->width || !array_channel_bytes(desc->format) || (desc->depth && !desc->height))
        return BAD_VALUE;
    *out = array_new(desc);
    M->n_arrays++;
    return M->sticky;
}
static cuda_result core_ArrayDestroy(array *made)
{
    if (!made || made->is_level)
        return BAD_HANDLE;
    M->n_arrays--;
    free(made);
    return CUDA_OK;
}
static cuda_result core_MipmappedArrayCreate(levels **out, const array_desc *desc, unsigned n)
{
    *out = NULL;
    if (!n || n > 16)
        return BAD_VALUE;
    *out = calloc(1, sizeof **out);
    for (array_desc at = *desc; (*out)->n < n; (*out)->n++) {
        (*out)->level[(*out)->n] = array_new(&at);
        (*out)->level[(*out)->n]->is_level = true;
        at.width = array_or_1(at.width / 2);
        at.height = at.height ? array_or_1(at.height / 2) : 0;
        at.depth = at.depth ? array_or_1(at.depth / 2) : 0;
    }
    M->n_arrays++;
    return CUDA_OK;
}
static cuda_result core_MipmappedArrayGetLevel(array **out, levels *all, unsigned level)
{
    *out = all && level < all->n ? all->level[level] : NULL;
    return *out ? CUDA_OK : BAD_VALUE;
}
static cuda_result core_MipmappedArrayDestroy(levels *all)
{
    for (unsigned i = 0; i < all->n; i++)
        free(all->level[i]);
    M->n_arrays--;
    free(all);
    return CUDA_OK;
}

/* ---- copies of boxes ------------------------------------------------------------------------------------------ */

static char *copy_row(const mock_side *side, size_t row, size_t slice)
{
    const array *of = side->kind == MOCK_ARRAY ? side->array : NULL;
    size_t pitch = of ? of->desc.width * of->element_bytes : side->pitch;
    size_t rows = of ? array_or_1(of->desc.height) : side->rows;
    char *begin = of ? (char *)side->array + offsetof(array, data) : side->kind == MOCK_HOST ? side->host
                                                                                             : side->device;
    return begin + ((side->z + slice) * rows + side->y + row) * pitch + side->x;
}

cuda_result mock_copy_run(const mock_copy *copy)
{
    if ((copy->from.kind == MOCK_ARRAY && !copy->from.array) || (copy->to.kind == MOCK_ARRAY && !copy->to.array))
        return BAD_VALUE;
    for (size_t slice = 0; slice < copy->depth; slice++)
        for (size_t row = 0; row < copy->height; row++)
            memmove(copy_row(&copy->to, row, slice), copy_row(&copy->from, row, slice), copy->width);
    return M->sticky;
}
static cuda_result core_Memcpy3DAsync(const mock_copy *copy, void *stream)
{
    (void)stream;
    return mock_copy_run(copy);
}

typedef struct flat_side { /* of CUDA_MEMCPY2D */
    size_t x, y;
    int kind;
    void *host, *device, *array;
    size_t pitch;
} flat_side;
typedef struct flat_copy {
    flat_side from, to;
    size_t width, height;
} flat_copy;

static mock_side copy_of_flat(const flat_side *flat)
{
    return (mock_side){.x = flat->x, .y = flat->y, .kind = flat->kind, .host = flat->host, .device = flat->device,
                       .array = flat->array, .pitch = flat->pitch};
}
static cuda_result core_Memcpy2DAsync(const flat_copy *flat, void *stream)
{
    (void)stream;
    return mock_copy_run(&(mock_copy){copy_of_flat(&flat->from), copy_of_flat(&flat->to), flat->width, flat->height,
                                      1});
}

/* ---- textures and surfaces: their descriptions are recorded ---------------------------------------------------- */

static cuda_result core_object(uint64_t *out, const void *resource, size_t bytes)
{
    static uint64_t next = 1 << 20;
    int kind;
    void *source;
    memcpy(&kind, resource, sizeof kind);
    memcpy(&source, (const char *)resource + 8, sizeof source);
    memcpy(M->resource, resource, bytes < sizeof M->resource ? bytes : sizeof M->resource);
    *out = next++;
    if (!source || kind > 3)
        return BAD_VALUE;
    M->n_objects++;
    return M->sticky;
}
enum { RESOURCE_BYTES = 144, TEXTURE_BYTES = 104 };

static cuda_result core_TexObjectCreate(uint64_t *out, const void *resource, const void *texture, const void *view)
{
    memcpy(M->texture, texture, TEXTURE_BYTES);
    return view ? BAD_VALUE : core_object(out, resource, RESOURCE_BYTES);
}
static cuda_result core_SurfObjectCreate(uint64_t *out, const void *resource)
{
    return core_object(out, resource, RESOURCE_BYTES);
}
static cuda_result core_ObjectDestroy(uint64_t object)
{
    M->n_objects--;
    return object ? CUDA_OK : BAD_VALUE;
}

/* ---- kernels: attributes are numbers that differ by device ----------------------------------------------------- */

static cuda_result core_KernelGetAttribute(int *value, int attribute, void *kernel, cuda_ordinal device)
{
    *value = M->attr[attribute & 31] + 1000 * device;
    return kernel ? CUDA_OK : BAD_HANDLE;
}
static cuda_result core_KernelSetAttribute(int attribute, int value, void *kernel, cuda_ordinal device)
{
    if (!kernel || value < 0)
        return kernel ? BAD_VALUE : BAD_HANDLE;
    M->attr[attribute & 31] = value - 1000 * device;
    return CUDA_OK;
}
static cuda_result core_KernelGetName(const char **name, void *kernel)
{
    *name = "scale";
    return kernel ? CUDA_OK : BAD_HANDLE;
}
static cuda_result core_KernelGetLibrary(void **library, void *kernel)
{
    *library = kernel;
    return kernel ? CUDA_OK : BAD_HANDLE;
}
static cuda_result core_LibraryGetGlobal(cuda_ptr *memory, size_t *bytes, void *library, const char *name)
{
    static char variable[64];
    *memory = (cuda_ptr)(uintptr_t)variable;
    *bytes = sizeof variable;
    return !library ? BAD_HANDLE : strcmp(name, "missing") == 0 ? NOT_FOUND : CUDA_OK;
}
/* The block whose shared memory is largest among 32, 64, ... below the limit. */
static cuda_result core_OccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, size_t (*bytes_of)(int),
                                                       size_t bytes, int limit)
{
    *grid = 20;
    *block = 32;
    for (int n = 32; n <= (limit ? limit : 1024); n *= 2)
        if ((bytes_of ? bytes_of(n) : bytes) <= 4096)
            *block = n;
    return function ? CUDA_OK : BAD_HANDLE;
}
static cuda_result core_OccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *function, int blocks, int threads)
{
    *bytes = blocks > 0 ? (size_t)(65536 / blocks) : 0;
    return blocks > 0 && threads > 0 && function ? CUDA_OK : BAD_VALUE;
}
static cuda_result core_OccupancyMaxPotentialClusterSize(int *size, void *function, const cuda_launch *launch)
{
    *size = launch->n_attrs ? 16 : 8;
    return function ? CUDA_OK : BAD_HANDLE;
}
static cuda_result core_OccupancyMaxActiveClusters(int *clusters, void *function, const cuda_launch *launch)
{
    *clusters = launch->n_attrs ? (int)(launch->grid[0] / launch->attrs[0].value.cluster[0]) : 0;
    return function ? CUDA_OK : BAD_HANDLE;
}

/* ---- other processes: this one stands for both ------------------------------------------------------------------ */

typedef struct handle64 {
    char bytes[64];
} handle64;

static cuda_result core_MemPoolExportToShareableHandle(int *fd, void *pool, int kind, uint64_t flags)
{
    *fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return pool && kind == 1 && !flags ? CUDA_OK : BAD_VALUE;
}
static cuda_result core_MemPoolImportFromShareableHandle(void **pool, void *fd, int kind, uint64_t flags)
{
    *pool = M;
    return fcntl((int)(intptr_t)fd, F_GETFD) >= 0 && kind == 1 && !flags ? CUDA_OK : BAD_VALUE;
}
static cuda_result core_MemPoolExportPointer(handle64 *data, cuda_ptr memory)
{
    memset(data, 0, sizeof *data);
    memcpy(data, &memory, sizeof memory);
    return memory ? CUDA_OK : BAD_VALUE;
}
static cuda_result core_MemPoolImportPointer(cuda_ptr *memory, void *pool, const handle64 *data)
{
    memcpy(memory, data, sizeof *memory);
    return pool && *memory ? CUDA_OK : BAD_VALUE;
}
static cuda_result core_MemGetAddressRange(cuda_ptr *begin, size_t *bytes, cuda_ptr memory)
{
    *begin = memory;
    *bytes = 4096;
    return CUDA_OK;
}
static cuda_result core_IpcGetEventHandle(handle64 *data, void *event)
{
    memset(data, 0, sizeof *data);
    memcpy(data, &event, sizeof event);
    return event ? CUDA_OK : BAD_HANDLE;
}
/* An event of its own, as in the other process. */
static cuda_result core_IpcOpenEventHandle(void **event, handle64 data)
{
    void *source;
    memcpy(&source, &data, sizeof source);
    cuda_result result = mock_base.EventCreate(event, 6);
    return source ? result : BAD_VALUE;
}

/* ---- host memory that the device uses, too -------------------------------------------------------------------- */

static cuda_result core_MemHostGetDevicePointer(cuda_ptr *out, void *host, unsigned flags)
{
    *out = flags ? 0 : (cuda_ptr)(uintptr_t)host;
    return *out ? 0 : BAD_VALUE;
}

static cuda_result core_MemAllocManaged(cuda_ptr *out, size_t bytes, unsigned flags)
{
    *out = flags == 1 || flags == 2 ? (cuda_ptr)(uintptr_t)calloc(1, bytes) : 0;
    return *out ? 0 : BAD_VALUE;
}

static cuda_result core_MemHostRegister(void *host, size_t bytes, unsigned flags)
{
    return host && bytes && flags < 8 ? 0 : BAD_VALUE;
}

static cuda_result core_MemHostUnregister(void *host)
{
    return host ? 0 : BAD_VALUE;
}

static cuda_result core_ProfilerStart(void)
{
    return 0;
}

static cuda_result core_ProfilerStop(void)
{
    return 0;
}

/* ---- the table --------------------------------------------------------------------------------------------- */

#define ROW(name) {"cu" #name, (void (*)(void))core_##name}
static const mock_row rows[] = {
    ROW(Array3DCreate),
    ROW(MemHostGetDevicePointer),
    ROW(MemAllocManaged),
    ROW(MemHostRegister),
    ROW(MemHostUnregister),
    ROW(ProfilerStart),
    ROW(ProfilerStop),
    ROW(ArrayDestroy),
    ROW(MipmappedArrayCreate),
    ROW(MipmappedArrayGetLevel),
    ROW(MipmappedArrayDestroy),
    ROW(Memcpy3DAsync),
    ROW(Memcpy2DAsync),
    ROW(TexObjectCreate),
    {"cuTexObjectDestroy", (void (*)(void))core_ObjectDestroy},
    ROW(SurfObjectCreate),
    {"cuSurfObjectDestroy", (void (*)(void))core_ObjectDestroy},
    ROW(KernelGetAttribute),
    ROW(KernelSetAttribute),
    ROW(KernelGetName),
    ROW(KernelGetLibrary),
    ROW(LibraryGetGlobal),
    ROW(OccupancyMaxPotentialBlockSize),
    ROW(OccupancyAvailableDynamicSMemPerBlock),
    ROW(OccupancyMaxPotentialClusterSize),
    ROW(OccupancyMaxActiveClusters),
    ROW(MemPoolExportToShareableHandle),
    ROW(MemPoolImportFromShareableHandle),
    ROW(MemPoolExportPointer),
    ROW(MemPoolImportPointer),
    ROW(MemGetAddressRange),
    ROW(IpcGetEventHandle),
    ROW(IpcOpenEventHandle),
};

int mock_core(const char *symbol, void **out)
{
    return mock_find(rows, sizeof rows / sizeof rows[0], symbol, out) || mock_graphs(symbol, out) ||
           mock_captures(symbol, out) || mock_pools(symbol, out);
}
