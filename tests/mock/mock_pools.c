/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools, managed memory, memory of graphs, and parts of a GPU: what was told is kept and told again.
 */
#include "mock_graph.h"
#include <stdlib.h>
#include <string.h>

#define M (&mock_state_data)

typedef struct place { /* CUmemLocation */
    int type, id;
} place;
enum { AT_DEVICE = 1, AT_HOST };

/* ---- managed memory: one range for all ----------------------------------------------------------------------- */

static struct {
    int read_mostly, prefetched; /* prefetched: a device, -1 the host, -2 never */
    place preferred;
    unsigned accessed;           /* bit 0 the host, bit n + 1 device n */
} range = {.prefetched = -2};

static unsigned place_bit(place at)
{
    return at.type == AT_DEVICE ? 2u << at.id : 1;
}
static cuda_result pools_MemAdvise(cuda_ptr memory, size_t bytes, int advice, place at)
{
    switch (advice) {
    case 1:
    case 2:
        range.read_mostly = advice == 1;
        break;
    case 3:
    case 4:
        range.preferred = advice == 3 ? at : (place){0, 0};
        break;
    case 5:
        range.accessed |= place_bit(at);
        break;
    default:
        range.accessed &= ~place_bit(at);
    }
    return memory && bytes && advice <= 6 ? M->sticky : BAD_VALUE;
}

static void range_accessed(int *out, size_t n)
{
    size_t found = 0;
    for (int device = -1; device < 8 && found < n; device++)
        if (range.accessed & 1u << (device + 1))
            out[found++] = device;
    while (found < n)
        out[found++] = -2;
}
static cuda_result pools_MemRangeGetAttribute(int *out, size_t bytes, int attribute, cuda_ptr memory, size_t count)
{
    const int values[] = {[1] = range.read_mostly, [4] = range.prefetched, [5] = range.preferred.type,
                          [6] = range.preferred.id};
    if (attribute == 3)
        range_accessed(out, bytes / sizeof *out);
    else
        *out = values[attribute];
    return memory && count ? CUDA_OK : BAD_VALUE;
}
static cuda_result pools_MemPrefetchAsync(cuda_ptr memory, size_t bytes, place at, unsigned flags, void *stream)
{
    (void)stream;
    range.prefetched = at.type == AT_DEVICE ? at.id : -1;
    return memory && bytes && !flags ? M->sticky : BAD_VALUE;
}
static cuda_result pools_MemDiscardBatchAsync(const cuda_ptr *memory, const size_t *bytes, size_t n, uint64_t flags,
                                              void *stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++)
        memset((void *)(uintptr_t)memory[i], 0, bytes[i]); /* anything may be there now */
    return flags ? BAD_VALUE : CUDA_OK;
}
static cuda_result pools_MemDiscardAndPrefetchBatchAsync(const cuda_ptr *memory, const size_t *bytes, size_t n,
                                                         const place *places, const size_t *first, size_t n_places,
                                                         uint64_t flags, void *stream)
{
    if (!n_places || first[0] != 0 || n_places > n)
        return BAD_VALUE;
    range.prefetched = places[n_places - 1].type == AT_DEVICE ? places[n_places - 1].id : -1;
    return pools_MemDiscardBatchAsync(memory, bytes, n, flags, stream);
}

/* ---- pools: all are one, the last one made is told of ----------------------------------------------------------- */

static uint64_t pool_values[16];
static unsigned pool_peers;

static cuda_result pools_MemPoolCreate(void **pool, const void *props)
{
    memcpy(M->pool_props, props, sizeof M->pool_props);
    *pool = M;
    M->n_pools++;
    return M->sticky;
}
static cuda_result pools_MemPoolDestroy(void *pool)
{
    M->n_pools--;
    return pool ? CUDA_OK : BAD_HANDLE;
}
static cuda_result pools_MemGetDefaultMemPool(void **pool, const place *at, int kind)
{
    *pool = M;
    return at->type <= 4 && kind ? CUDA_OK : BAD_VALUE;
}
/* 1 to 3 are ints, the others numbers of 8 bytes. */
static cuda_result pools_MemPoolGetAttribute(void *pool, int attribute, void *value)
{
    memcpy(value, &pool_values[attribute & 15], attribute <= 3 ? 4 : 8);
    return pool ? CUDA_OK : BAD_HANDLE;
}
static cuda_result pools_MemPoolSetAttribute(void *pool, int attribute, const void *value)
{
    pool_values[attribute & 15] = 0;
    memcpy(&pool_values[attribute & 15], value, attribute <= 3 ? 4 : 8);
    return pool ? CUDA_OK : BAD_HANDLE;
}

typedef struct access_row { /* CUmemAccessDesc */
    place at;
    int flags;
} access_row;
static cuda_result pools_MemPoolGetAccess(int *flags, void *pool, const place *at)
{
    *flags = pool_peers >> at->id & 1 ? 3 : 0;
    return pool ? CUDA_OK : BAD_HANDLE;
}
static cuda_result pools_MemPoolSetAccess(void *pool, const access_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pool_peers = (pool_peers & ~(1u << rows[i].at.id)) | (unsigned)(rows[i].flags != 0) << rows[i].at.id;
    M->n_access_calls++;
    return pool && n ? CUDA_OK : BAD_VALUE;
}
static cuda_result pools_DeviceCanAccessPeer(int *can, cuda_ordinal device, cuda_ordinal peer)
{
    *can = M->has_peers && device != peer;
    return CUDA_OK;
}

/* ---- memory of graphs -------------------------------------------------------------------------------------------- */

static uint64_t graph_values[8];

static cuda_result pools_DeviceGetGraphMemAttribute(cuda_ordinal device, int attribute, uint64_t *value)
{
    *value = graph_values[attribute & 7] + 1;
    return device < M->n_devices ? CUDA_OK : BAD_VALUE;
}
static cuda_result pools_DeviceSetGraphMemAttribute(cuda_ordinal device, int attribute, const uint64_t *value)
{
    graph_values[attribute & 7] = *value - 1;
    return device < M->n_devices ? CUDA_OK : BAD_VALUE;
}
static cuda_result pools_DeviceGraphMemTrim(cuda_ordinal device)
{
    M->n_trims++;
    return device < M->n_devices ? CUDA_OK : BAD_VALUE;
}

/* ---- parts of a GPU ----------------------------------------------------------------------------------------- */

typedef struct resource { /* CUdevResource */
    int type;
    char internal[92];
    unsigned sms, least, step;
    char more[36];
} resource;
enum { ALL_SMS = 132, LEAST_SMS = 8, TYPE_SM = 1 };

static cuda_result pools_DeviceGetDevResource(cuda_ordinal device, resource *out, int type)
{
    (void)device;
    *out = (resource){.type = type, .sms = ALL_SMS, .least = LEAST_SMS, .step = LEAST_SMS};
    return type == TYPE_SM ? CUDA_OK : BAD_VALUE;
}
static cuda_result pools_CtxGetDevResource(void *context, resource *out, int type)
{
    return context ? pools_DeviceGetDevResource(0, out, type) : BAD_HANDLE;
}
/* Groups of the count rounded up, as many as there are; `groups` may be NULL to ask for their number. */
static cuda_result pools_DevSmResourceSplitByCount(resource *groups, unsigned *n, const resource *from, resource *rest,
                                                   unsigned flags, unsigned count)
{
    unsigned each = (count + from->step - 1) / from->step * from->step, most;
    (void)flags;
    each = each ? each : from->step;
    most = from->sms / each;
    *n = !groups || *n > most ? most : *n;
    for (unsigned i = 0; groups && i < *n; i++) {
        groups[i] = *from;
        groups[i].sms = each;
    }
    if (rest) {
        *rest = *from;
        rest->sms = from->sms - *n * each;
    }
    return CUDA_OK;
}
static cuda_result pools_DevResourceGenerateDesc(void **desc, const resource *rows, unsigned n)
{
    *desc = (void *)(uintptr_t)rows[0].sms;
    return n && rows[0].type == TYPE_SM ? CUDA_OK : BAD_VALUE;
}

typedef struct green {
    unsigned sms;
} green;

static cuda_result pools_GreenCtxCreate(green **out, void *desc, cuda_ordinal device, unsigned flags)
{
    *out = malloc(sizeof **out);
    (*out)->sms = (unsigned)(uintptr_t)desc;
    M->n_green++;
    return flags == 1 && device < M->n_devices ? CUDA_OK : BAD_VALUE;
}
static cuda_result pools_GreenCtxDestroy(green *context)
{
    M->n_green--;
    free(context);
    return CUDA_OK;
}
static cuda_result pools_CtxFromGreenCtx(void **out, green *context)
{
    *out = context;
    return context ? CUDA_OK : BAD_HANDLE;
}
static cuda_result pools_GreenCtxGetDevResource(green *context, resource *out, int type)
{
    cuda_result result = pools_DeviceGetDevResource(0, out, type);
    out->sms = context->sms;
    return result;
}
static cuda_result pools_GreenCtxStreamCreate(void **stream, green *context, unsigned flags, int priority)
{
    return context ? mock_base.StreamCreateWithPriority(stream, flags, priority) : BAD_HANDLE;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

#define ROW(name) {"cu" #name, (void (*)(void))pools_##name}
static const mock_row rows[] = {
    ROW(MemAdvise),
    ROW(MemRangeGetAttribute),
    ROW(MemPrefetchAsync),
    ROW(MemDiscardBatchAsync),
    ROW(MemDiscardAndPrefetchBatchAsync),
    ROW(MemPoolCreate),
    ROW(MemPoolDestroy),
    ROW(MemGetDefaultMemPool),
    ROW(MemPoolGetAttribute),
    ROW(MemPoolSetAttribute),
    ROW(MemPoolGetAccess),
    ROW(MemPoolSetAccess),
    ROW(DeviceCanAccessPeer),
    ROW(DeviceGetGraphMemAttribute),
    ROW(DeviceSetGraphMemAttribute),
    ROW(DeviceGraphMemTrim),
    ROW(DeviceGetDevResource),
    ROW(CtxGetDevResource),
    ROW(DevSmResourceSplitByCount),
    ROW(DevResourceGenerateDesc),
    ROW(GreenCtxCreate),
    ROW(GreenCtxDestroy),
    ROW(CtxFromGreenCtx),
    ROW(GreenCtxGetDevResource),
    ROW(GreenCtxStreamCreate),
};

int mock_pools(const char *symbol, void **out)
{
    return mock_find(rows, sizeof rows / sizeof rows[0], symbol, out);
}
