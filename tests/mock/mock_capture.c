/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams that record graphs: work given to one becomes a node behind the stream's last nodes; events carry them to
 * other streams. These functions stand before those of libcuda_mock.c, which do the work of all other streams.
 */
#include "mock_graph.h"
#include <string.h>

#define M (&mock_state_data)

typedef struct tail {
    void *of;                    /* stream or event; NULL: free */
    void *origin;                /* the stream where the capture began */
    mock_graph *graph;
    size_t n;
    graph_node *last[GRAPH_EDGES];
} tail;
static tail tails[64];

static tail *tail_of(const void *of)
{
    for (size_t i = 0; of && i < sizeof tails / sizeof tails[0]; i++)
        if (tails[i].of == of)
            return &tails[i];
    return NULL;
}

static tail *tail_new(void *of)
{
    tail *found = tail_of(of);
    for (size_t i = 0; !found && i < sizeof tails / sizeof tails[0]; i++)
        if (!tails[i].of)
            found = &tails[i];
    memset(found, 0, sizeof *found);
    found->of = of;
    return found;
}

/* The node of work that a stream is given; NULL: it does not record, the work is done. */
static graph_node *capture_add(void *stream, node_type type)
{
    tail *at = tail_of(stream);
    graph_node *node = at ? graph_add(at->graph, type, at->last, at->n) : NULL;
    if (node) {
        at->n = 1;
        at->last[0] = node;
    }
    return node;
}

/* ---- begin and end ----------------------------------------------------------------------------------------- */

static cuda_result capture_StreamBeginCaptureToGraph(void *stream, mock_graph *graph, graph_node *const *before,
                                                     const void *edges, size_t n, int mode)
{
    if (!stream || edges || tail_of(stream) || mode < 0 || mode > 2)
        return BAD_VALUE;
    tail *at = tail_new(stream);
    at->origin = stream;
    at->graph = graph;
    at->n = n;
    memcpy(at->last, before, n * sizeof *before);
    return CUDA_OK;
}

/* Whether all that a branch recorded is ahead of the origin's end. */
static bool capture_is_joined(const tail *branch, const tail *origin)
{
    for (size_t i = 0; i < branch->n; i++) {
        bool found = false;
        for (size_t k = 0; k < origin->n && !found; k++)
            found = branch->last[i] == origin->last[k] || graph_reaches(branch->last[i], origin->last[k]);
        if (!found)
            return false;
    }
    return true;
}
static cuda_result capture_StreamEndCapture(void *stream, mock_graph **graph)
{
    tail *origin = tail_of(stream);
    *graph = NULL;
    if (!origin || origin->origin != stream)
        return BAD_VALUE;
    cuda_result result = CUDA_OK;
    *graph = origin->graph;
    for (tail *at = tails; at < tails + sizeof tails / sizeof tails[0]; at++)
        if (at->of && at->origin == stream) {
            if (!capture_is_joined(at, origin))
                result = UNJOINED;
            if (at != origin)
                at->of = NULL;
        }
    origin->of = NULL;
    return result;
}
static cuda_result capture_StreamGetCaptureInfo(void *stream, int *status, uint64_t *id, mock_graph **graph,
                                                graph_node ***nodes, void **edges, size_t *n)
{
    tail *at = tail_of(stream);
    *status = at != NULL;
    *id = 1;
    *graph = at ? at->graph : NULL;
    *nodes = at ? at->last : NULL;
    *edges = NULL;
    *n = at ? at->n : 0;
    return CUDA_OK;
}
static cuda_result capture_StreamUpdateCaptureDependencies(void *stream, graph_node *const *nodes, const void *edges,
                                                           size_t n, unsigned flags)
{
    tail *at = tail_of(stream);
    if (!at || edges || n > GRAPH_EDGES || flags != 1)
        return BAD_VALUE;
    at->n = n;
    memcpy(at->last, nodes, n * sizeof *nodes);
    return CUDA_OK;
}
static cuda_result capture_StreamIsCapturing(void *stream, int *status)
{
    cuda_result result = mock_base.StreamIsCapturing(stream, status);
    *status |= tail_of(stream) != NULL;
    return result;
}

/* ---- work --------------------------------------------------------------------------------------------------- */

static cuda_result capture_LaunchKernelEx(const cuda_launch *launch, void *function, void **params, void **extra)
{
    graph_node *node = capture_add(launch->stream, NODE_KERNEL);
    if (!node)
        return mock_base.LaunchKernelEx(launch, function, params, extra);
    const unsigned *g = launch->grid, *b = launch->block;
    graph_set_kernel(node,
                     &(kernel_params){function, {g[0], g[1], g[2]}, {b[0], b[1], b[2]}, launch->shared_bytes, params,
                                            NULL, function, NULL});
    for (unsigned i = 0; i < launch->n_attrs; i++)
        if (launch->attrs[i].id == CUDA_LAUNCH_CLUSTER)
            node->cluster = launch->attrs[i].value.cluster[0];
    return CUDA_OK;
}
static cuda_result capture_LaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                        unsigned bz, unsigned shared_bytes, void *stream, void **params, void **extra)
{
    cuda_launch launch = {{gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, NULL, 0};
    return capture_LaunchKernelEx(&launch, function, params, extra);
}
static cuda_result capture_MemcpyAsync(cuda_ptr to, cuda_ptr from, size_t bytes, void *stream)
{
    graph_node *node = capture_add(stream, NODE_COPY);
    if (!node)
        return mock_base.MemcpyAsync(to, from, bytes, stream);
    node->as.copy = (mock_copy){.from = {.kind = MOCK_UNIFIED, .device = (void *)(uintptr_t)from},
                                .to = {.kind = MOCK_UNIFIED, .device = (void *)(uintptr_t)to},
                                .width = bytes, .height = 1, .depth = 1};
    return CUDA_OK;
}

static cuda_result capture_fill(graph_node *node, cuda_ptr to, unsigned value, unsigned element_bytes, size_t n)
{
    node->as.fill = (fill_params){to, 0, value, element_bytes, n, 1};
    return CUDA_OK;
}
static cuda_result capture_MemsetD8Async(cuda_ptr to, unsigned char value, size_t n, void *stream)
{
    graph_node *node = capture_add(stream, NODE_FILL);
    return node ? capture_fill(node, to, value, 1, n) : mock_base.MemsetD8Async(to, value, n, stream);
}
static cuda_result capture_MemsetD32Async(cuda_ptr to, unsigned value, size_t n, void *stream)
{
    graph_node *node = capture_add(stream, NODE_FILL);
    return node ? capture_fill(node, to, value, 4, n) : mock_base.MemsetD32Async(to, value, n, stream);
}
static cuda_result capture_MemAllocAsync(cuda_ptr *memory, size_t bytes, void *stream)
{
    graph_node *node = capture_add(stream, NODE_ALLOC);
    if (!node)
        return mock_base.MemAlloc(memory, bytes);
    *memory = graph_memory(bytes);
    node->as.alloc = (alloc_params){.bytes = bytes, .memory = *memory};
    return *memory ? CUDA_OK : OUT_OF_MEMORY;
}
static cuda_result capture_MemFreeAsync(cuda_ptr memory, void *stream)
{
    graph_node *node = capture_add(stream, NODE_FREE);
    if (!node)
        return mock_base.MemFreeAsync(memory, stream);
    node->as.freed = memory;
    return CUDA_OK;
}
static cuda_result capture_LaunchHostFunc(void *stream, void (*function)(void *), void *user)
{
    graph_node *node = capture_add(stream, NODE_HOST);
    if (!node)
        return mock_base.LaunchHostFunc(stream, function, user);
    node->as.host = (host_params){function, user};
    return CUDA_OK;
}
static cuda_result capture_EventRecord(void *event, void *stream)
{
    tail *at = tail_of(stream);
    if (!at)
        return mock_base.EventRecord(event, stream);
    tail copy = *at;
    copy.of = event;
    *tail_new(event) = copy;
    return CUDA_OK;
}
static cuda_result capture_StreamWaitEvent(void *stream, void *event, unsigned flags)
{
    const tail *from = tail_of(event);
    if (!from)
        return mock_base.StreamWaitEvent(stream, event, flags);
    tail *to = tail_of(stream), copy = *from;
    if (!to) { /* the stream records from here on */
        copy.of = stream;
        *tail_new(stream) = copy;
        return CUDA_OK;
    }
    for (size_t i = 0; i < from->n && to->n < GRAPH_EDGES; i++)
        to->last[to->n++] = from->last[i];
    return CUDA_OK;
}
static cuda_result capture_EventDestroy(void *event)
{
    tail *at = tail_of(event);
    if (at)
        at->of = NULL;
    return mock_base.EventDestroy(event);
}
static cuda_result capture_StreamQuery(void *stream)
{
    return tail_of(stream) ? UNSUPPORTED : mock_base.StreamQuery(stream);
}
static cuda_result capture_StreamSynchronize(void *stream)
{
    return tail_of(stream) ? UNSUPPORTED : mock_base.StreamSynchronize(stream);
}

/* ---- the table --------------------------------------------------------------------------------------------- */

#define ROW(name) {"cu" #name, (void (*)(void))capture_##name}
static const mock_row rows[] = {
    ROW(StreamBeginCaptureToGraph),
    ROW(StreamEndCapture),
    ROW(StreamGetCaptureInfo),
    ROW(StreamUpdateCaptureDependencies),
    ROW(StreamIsCapturing),
    ROW(LaunchKernelEx),
    ROW(LaunchKernel),
    ROW(MemcpyAsync),
    ROW(MemsetD8Async),
    ROW(MemsetD32Async),
    ROW(MemAllocAsync),
    ROW(MemFreeAsync),
    ROW(LaunchHostFunc),
    ROW(EventRecord),
    ROW(StreamWaitEvent),
    ROW(EventDestroy),
    ROW(StreamQuery),
    ROW(StreamSynchronize),
};

int mock_captures(const char *symbol, void **out)
{
    return mock_find(rows, sizeof rows / sizeof rows[0], symbol, out);
}
