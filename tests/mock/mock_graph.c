/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs without a GPU: definitions are made and changed, executables are copies of them, and a launch runs the
 * nodes one after the other: copies copy, fills fill, host nodes call, kernels are recorded as launches are.
 */
#include "mock_graph.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define M (&mock_state_data)

typedef struct user_object {
    int references;
    void (*end)(void *);
    void *payload;
} user_object;

typedef struct condition {
    unsigned value, at_launch, flags;
} condition;
static condition conditions[64];
static unsigned n_conditions, n_walks;

/* ---- what a graph keeps ------------------------------------------------------------------------------------ */

static cuda_result graph_UserObjectCreate(user_object **out, void *payload, void (*end)(void *), unsigned references,
                                          unsigned flags)
{
    *out = NULL;
    if (flags != 1)
        return BAD_VALUE;
    if (M->keep_failures > 0 && M->keep_failures--)
        return OUT_OF_MEMORY;
    *out = malloc(sizeof **out);
    **out = (user_object){(int)references, end, payload};
    M->n_kept++;
    return CUDA_OK;
}
static cuda_result graph_UserObjectRelease(user_object *object, unsigned count)
{
    object->references -= (int)count;
    if (object->references > 0)
        return CUDA_OK;
    object->end(object->payload);
    M->n_kept--;
    free(object);
    return CUDA_OK;
}
static cuda_result graph_GraphRetainUserObject(mock_graph *graph, user_object *object, unsigned count, unsigned flags)
{
    if (count != 1 || graph->n_kept == GRAPH_KEPT)
        return BAD_VALUE;
    graph->kept[graph->n_kept++] = object;
    object->references += flags == 1 ? 0 : 1; /* 1: the caller's reference moves */
    return CUDA_OK;
}
static cuda_result graph_GraphReleaseUserObject(mock_graph *graph, user_object *object, unsigned count)
{
    for (unsigned i = 0; i < graph->n_kept; i++)
        if (graph->kept[i] == object) {
            graph->kept[i] = graph->kept[--graph->n_kept];
            return graph_UserObjectRelease(object, count);
        }
    return BAD_VALUE;
}

/* ---- graphs ------------------------------------------------------------------------------------------------- */

static cuda_result graph_GraphCreate(mock_graph **out, unsigned flags)
{
    *out = calloc(1, sizeof **out);
    M->n_graphs++;
    return flags ? BAD_VALUE : CUDA_OK;
}

static void graph_end(mock_graph *graph);

static void node_end(graph_node *node)
{
    for (size_t i = 0; i < node->n_inside; i++)
        graph_end(node->inside[i]);
    M->n_nodes--;
    free(node);
}

static void graph_end(mock_graph *graph)
{
    for (graph_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        node_end(node);
    }
    while (graph->n_kept)
        graph_GraphReleaseUserObject(graph, graph->kept[0], 1);
    M->n_graphs--;
    free(graph);
}
static cuda_result graph_GraphDestroy(mock_graph *graph)
{
    if (!graph)
        return BAD_HANDLE;
    graph_end(graph);
    return CUDA_OK;
}

graph_node *graph_add(mock_graph *graph, node_type type, graph_node *const *before, size_t n)
{
    graph_node **end = &graph->first, *node = calloc(1, sizeof *node);
    for (size_t i = 0; i < n; i++)
        if (before[i]->graph != graph || n > GRAPH_EDGES) {
            free(node);
            return NULL;
        }
    while (*end)
        end = &(*end)->next;
    *end = node;
    node->graph = graph;
    node->type = type;
    node->n_before = n;
    memcpy(node->before, before, n * sizeof *before);
    M->n_nodes++;
    return node;
}

static void graph_copy_into(mock_graph *copy, const mock_graph *graph);

static mock_graph *graph_copy(const mock_graph *graph)
{
    mock_graph *copy = NULL;
    (void)!graph_GraphCreate(&copy, 0);
    graph_copy_into(copy, graph);
    return copy;
}

static graph_node *graph_copy_of(const mock_graph *copy, const graph_node *node)
{
    graph_node *at = copy->first;
    while (at && at->origin != node)
        at = at->next;
    return at;
}

static void node_copy(graph_node *copy, const graph_node *node)
{
    graph_node made = *node;
    made.graph = copy->graph;
    made.next = copy->next;
    made.origin = node;
    for (int i = 0; i < MOCK_GRAPH_PARAMS; i++)
        made.places[i] = &copy->values[i];
    made.as.kernel.params = node->type == NODE_KERNEL ? copy->places : made.as.kernel.params;
    for (size_t i = 0; i < node->n_inside; i++)
        made.inside[i] = graph_copy(node->inside[i]);
    *copy = made;
}

static void graph_copy_into(mock_graph *copy, const mock_graph *graph)
{
    for (const graph_node *node = graph->first; node; node = node->next)
        node_copy(graph_add(copy, node->type, NULL, 0), node);
    for (graph_node *node = copy->first; node; node = node->next)
        for (size_t i = 0; i < node->n_before; i++)
            node->before[i] = graph_copy_of(copy, node->before[i]);
    for (unsigned i = 0; i < graph->n_kept; i++)
        (void)!graph_GraphRetainUserObject(copy, graph->kept[i], 1, 0);
}

/* ---- edges --------------------------------------------------------------------------------------------------- */

bool graph_reaches(const graph_node *from, const graph_node *to)
{
    for (size_t i = 0; i < to->n_before; i++)
        if (to->before[i] == from || graph_reaches(from, to->before[i]))
            return true;
    return false;
}

/* Up to *n handles of those that `wanted` says; *n becomes how many there are. */
#define LIST(condition, each, room, n)                                                                                 \
    do {                                                                                                               \
        size_t found = 0, most = (room) ? *(n) : 0;                                                                    \
        for (graph_node *at = first; at; at = at->next)                                                                \
            if (condition) {                                                                                           \
                if (found < most)                                                                                      \
                    (room)[found] = (each);                                                                            \
                found++;                                                                                               \
            }                                                                                                          \
        *(n) = found;                                                                                                  \
    } while (0)

static bool node_is_before(const graph_node *before, const graph_node *node)
{
    for (size_t i = 0; i < node->n_before; i++)
        if (node->before[i] == before)
            return true;
    return false;
}

static cuda_result graph_GraphGetNodes(mock_graph *graph, graph_node **nodes, size_t *n)
{
    graph_node *first = graph->first;
    LIST(true, at, nodes, n);
    return CUDA_OK;
}
static cuda_result graph_GraphNodeGetDependencies(graph_node *node, graph_node **nodes, void *edges, size_t *n)
{
    graph_node *first = node->graph->first;
    (void)edges;
    LIST(node_is_before(at, node), at, nodes, n);
    return CUDA_OK;
}
static cuda_result graph_GraphNodeGetDependentNodes(graph_node *node, graph_node **nodes, void *edges, size_t *n)
{
    graph_node *first = node->graph->first;
    (void)edges;
    LIST(node_is_before(node, at), at, nodes, n);
    return CUDA_OK;
}
static cuda_result graph_GraphGetEdges(mock_graph *graph, graph_node **from, graph_node **to, void *edges, size_t *n)
{
    size_t found = 0, most = from ? *n : 0;
    (void)edges;
    for (graph_node *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->n_before; i++, found++)
            if (found < most) {
                from[found] = node->before[i];
                to[found] = node;
            }
    *n = found;
    return CUDA_OK;
}
static cuda_result graph_GraphAddDependencies(mock_graph *graph, graph_node *const *from, graph_node *const *to,
                                              const void *edges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (edges || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i] ||
            node_is_before(from[i], to[i]) || to[i]->n_before == GRAPH_EDGES)
            return BAD_VALUE;
    for (size_t i = 0; i < n; i++)
        to[i]->before[to[i]->n_before++] = from[i];
    return CUDA_OK;
}

static void node_cut(graph_node *from, graph_node *to)
{
    for (size_t i = 0; i < to->n_before; i++)
        if (to->before[i] == from)
            to->before[i] = to->before[--to->n_before];
}

static cuda_result graph_GraphRemoveDependencies(mock_graph *graph, graph_node *const *from, graph_node *const *to,
                                                 const void *edges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (edges || from[i]->graph != graph || !node_is_before(from[i], to[i]))
            return BAD_VALUE;
    for (size_t i = 0; i < n; i++)
        node_cut(from[i], to[i]);
    return CUDA_OK;
}
static cuda_result graph_GraphDestroyNode(graph_node *node)
{
    graph_node **link = &node->graph->first;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    for (graph_node *at = node->graph->first; at; at = at->next)
        node_cut(node, at);
    node_end(node);
    return CUDA_OK;
}

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

#define ADD(type, assignment)                                                                                          \
    graph_node *node = graph_add(graph, type, before, n);                                                              \
    *out = node;                                                                                                       \
    if (!node)                                                                                                         \
        return BAD_VALUE;                                                                                              \
    assignment;                                                                                                        \
    return CUDA_OK
#define PLACE graph_node **out, mock_graph *graph, graph_node *const *before, size_t n

static cuda_result graph_GraphAddEmptyNode(PLACE)
{
    ADD(NODE_EMPTY, (void)0);
}
static cuda_result graph_GraphAddMemcpyNode(PLACE, const mock_copy *copy, void *context)
{
    if (!context)
        return BAD_VALUE;
    ADD(NODE_COPY, node->as.copy = *copy);
}
static cuda_result graph_GraphAddMemsetNode(PLACE, const fill_params *fill, void *context)
{
    if (!context || (fill->element_bytes != 1 && fill->element_bytes != 2 && fill->element_bytes != 4))
        return BAD_VALUE;
    ADD(NODE_FILL, node->as.fill = *fill);
}
static cuda_result graph_GraphAddHostNode(PLACE, const host_params *host)
{
    ADD(NODE_HOST, node->as.host = *host);
}
static cuda_result graph_GraphAddEventRecordNode(PLACE, void *event)
{
    ADD(NODE_RECORD, node->as.event = event);
}
static cuda_result graph_GraphAddEventWaitNode(PLACE, void *event)
{
    ADD(NODE_WAIT, node->as.event = event);
}
/* Never given back. */
cuda_ptr graph_memory(size_t bytes)
{
    static char arena[1 << 16];
    static size_t used;
    size_t begin = used, whole = (bytes + 255) & ~(size_t)255;
    if (whole > sizeof arena - used)
        return 0;
    used += whole;
    return (cuda_ptr)(uintptr_t)(arena + begin);
}
static cuda_result graph_GraphAddMemAllocNode(PLACE, alloc_params *alloc)
{
    alloc->memory = graph_memory(alloc->bytes);
    if (!alloc->memory)
        return OUT_OF_MEMORY;
    ADD(NODE_ALLOC, node->as.alloc = *alloc);
}
static cuda_result graph_GraphAddMemFreeNode(PLACE, cuda_ptr memory)
{
    ADD(NODE_FREE, node->as.freed = memory);
}
static cuda_result graph_GraphAddChildGraphNode(PLACE, const mock_graph *child)
{
    ADD(NODE_CHILD, node->inside[node->n_inside++] = graph_copy(child));
}

typedef struct node_params {
    int type, reserved[3];
    conditional_params conditional;
} node_params;

/* Conditionals only; others have functions of their own. */
static cuda_result graph_GraphAddNode(graph_node **out, mock_graph *graph, graph_node *const *before, const void *edges,
                                      size_t n, node_params *params)
{
    *out = NULL;
    if (params->type != NODE_CONDITIONAL || edges || params->conditional.n > GRAPH_BRANCHES || !params->conditional.n)
        return BAD_VALUE;
    graph_node *node = *out = graph_add(graph, NODE_CONDITIONAL, before, n);
    if (!node)
        return BAD_VALUE;
    while (node->n_inside < params->conditional.n)
        (void)!graph_GraphCreate(&node->inside[node->n_inside++], 0);
    params->conditional.graphs = (void **)node->inside;
    node->as.conditional = params->conditional;
    return CUDA_OK;
}
static cuda_result graph_GraphConditionalHandleCreate(uint64_t *handle, mock_graph *graph, void *context,
                                                      unsigned value,
                                                      unsigned flags)
{
    condition *made = &conditions[n_conditions++ % 64];
    *made = (condition){value, value, flags};
    *handle = (uintptr_t)made;
    return graph && context ? CUDA_OK : BAD_VALUE;
}

void graph_set_kernel(graph_node *node, const kernel_params *params)
{
    node->as.kernel = *params;
    node->as.kernel.params = node->places;
    for (uint64_t i = 0; i < M->n_values && i < MOCK_GRAPH_PARAMS; i++) {
        memcpy(&node->values[i], params->params[i], 8);
        node->places[i] = &node->values[i];
    }
}

#define GET_AND_SET(word, kind, params_type, field)                                                                    \
    static cuda_result graph_Graph##word##NodeGetParams(const graph_node *node, params_type *out)                      \
    {                                                                                                                  \
        *out = node->as.field;                                                                                         \
        return node->type == (kind) ? CUDA_OK : BAD_VALUE;                                                             \
    }                                                                                                                  \
    static cuda_result graph_Graph##word##NodeSetParams(graph_node *node, const params_type *params)                   \
    {                                                                                                                  \
        if (node->type != (kind))                                                                                      \
            return BAD_VALUE;                                                                                          \
        node->as.field = *params;                                                                                      \
        return CUDA_OK;                                                                                                \
    }
GET_AND_SET(Memcpy, NODE_COPY, mock_copy, copy)
GET_AND_SET(Memset, NODE_FILL, fill_params, fill)
GET_AND_SET(Host, NODE_HOST, host_params, host)

static cuda_result graph_GraphKernelNodeGetParams(const graph_node *node, kernel_params *out)
{
    *out = node->as.kernel;
    return node->type == NODE_KERNEL ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphKernelNodeSetParams(graph_node *node, const kernel_params *params)
{
    graph_set_kernel(node, params);
    return node->type == NODE_KERNEL ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphMemAllocNodeGetParams(const graph_node *node, alloc_params *out)
{
    *out = node->as.alloc;
    return node->type == NODE_ALLOC ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphMemFreeNodeGetParams(const graph_node *node, cuda_ptr *out)
{
    *out = node->as.freed;
    return node->type == NODE_FREE ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_NodeGetEvent(const graph_node *node, void **out)
{
    *out = node->as.event;
    return node->type == NODE_RECORD || node->type == NODE_WAIT ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_NodeSetEvent(graph_node *node, void *event)
{
    node->as.event = event;
    return event ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphNodeGetType(const graph_node *node, int *type)
{
    *type = (int)node->type;
    return CUDA_OK;
}
static cuda_result graph_GraphChildGraphNodeGetGraph(const graph_node *node, mock_graph **out)
{
    *out = node->inside[0];
    return node->type == NODE_CHILD ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphNodeFindInClone(graph_node **out, const graph_node *node, const mock_graph *copy)
{
    *out = graph_copy_of(copy, node);
    return *out ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphDebugDotPrint(const mock_graph *graph, const char *path, unsigned flags)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return OUT_OF_MEMORY;
    fprintf(file, "digraph %u {\n", flags);
    for (const graph_node *node = graph->first; node; node = node->next)
        fprintf(file, "%p [type=%d]\n", (const void *)node, (int)node->type);
    fprintf(file, "}\n");
    fclose(file);
    return CUDA_OK;
}

/* ---- executables ------------------------------------------------------------------------------------------- */

typedef struct instantiate_params {
    uint64_t flags;
    void *upload;
    graph_node *bad;
    int result;
} instantiate_params;
enum { INSTANTIATE_INVALID_STRUCTURE = 2 };

static bool graph_has_cycle(const mock_graph *graph)
{
    /* Without its last node of each order a graph without cycles gets empty. */
    size_t n = 0, done = 0, before;
    unsigned walk = ++n_walks;
    for (const graph_node *node = graph->first; node; node = node->next)
        n++;
    do {
        before = done;
        for (graph_node *node = graph->first; node; node = node->next) {
            bool ready = node->mark != walk;
            for (size_t i = 0; i < node->n_before && ready; i++)
                ready = node->before[i]->mark == walk;
            if (ready) {
                node->mark = walk;
                done++;
            }
        }
    } while (done != before);
    return done != n;
}
static cuda_result graph_GraphInstantiateWithParams(mock_graph **out, mock_graph *graph, instantiate_params *params)
{
    *out = NULL;
    params->result = graph_has_cycle(graph) ? INSTANTIATE_INVALID_STRUCTURE : 0;
    if (params->result)
        return BAD_VALUE;
    *out = graph_copy(graph);
    (*out)->is_exec = true;
    (*out)->flags = (unsigned)params->flags;
    M->n_execs++;
    return CUDA_OK;
}
static cuda_result graph_GraphExecDestroy(mock_graph *exec)
{
    if (!exec->is_exec)
        return BAD_HANDLE;
    M->n_execs--;
    graph_end(exec);
    return CUDA_OK;
}

static cuda_result graph_run(mock_graph *graph, void *stream);

static void node_fill(const fill_params *fill)
{
    for (size_t y = 0; y < fill->height; y++)
        for (size_t x = 0; x < fill->width; x++)
            memcpy((char *)(uintptr_t)fill->to + y * fill->pitch + x * fill->element_bytes, &fill->value,
                   fill->element_bytes);
}

static cuda_result node_launch(graph_node *node, void *stream)
{
    const kernel_params *k = &node->as.kernel;
    cuda_launch_attr attr = {.id = CUDA_LAUNCH_CLUSTER};
    attr.value.cluster[0] = node->cluster;
    cuda_launch launch = {{k->grid[0], k->grid[1], k->grid[2]}, {k->block[0], k->block[1], k->block[2]},
                          k->shared_bytes, stream, &attr, node->cluster ? 1u : 0u};
    return mock_base.LaunchKernelEx(&launch, k->function ? k->function : k->kernel, k->params, NULL);
}

/* if, while, switch: CUgraphConditionalNodeType. */
static cuda_result node_choose(graph_node *node, void *stream)
{
    const conditional_params *told = &node->as.conditional;
    const condition *on = (const condition *)(uintptr_t)told->handle;
    cuda_result result = CUDA_OK;
    if (told->type == 1) {
        for (int turns = 0; on->value && turns < 1000 && !result; turns++)
            result = graph_run(node->inside[0], stream);
        return result;
    }
    size_t branch = told->type == 0 ? !on->value : on->value;
    return branch < node->n_inside ? graph_run(node->inside[branch], stream) : CUDA_OK;
}

static cuda_result node_run(graph_node *node, void *stream)
{
    switch (node->disabled ? NODE_EMPTY : node->type) {
    case NODE_KERNEL:
        return node_launch(node, stream);
    case NODE_COPY:
        return mock_copy_run(&node->as.copy);
    case NODE_FILL:
        node_fill(&node->as.fill);
        return CUDA_OK;
    case NODE_HOST:
        node->as.host.function(node->as.host.user);
        return CUDA_OK;
    case NODE_CHILD:
        return graph_run(node->inside[0], stream);
    case NODE_RECORD:
        return mock_base.EventRecord(node->as.event, stream);
    case NODE_CONDITIONAL:
        return node_choose(node, stream);
    default:
        return CUDA_OK;
    }
}

static cuda_result graph_run(mock_graph *graph, void *stream)
{
    unsigned walk = ++n_walks;
    cuda_result result = CUDA_OK;
    for (bool found = true; found && !result;) {
        found = false;
        for (graph_node *node = graph->first; node && !found && !result; node = node->next) {
            bool ready = node->mark != walk;
            for (size_t i = 0; i < node->n_before && ready; i++)
                ready = node->before[i]->mark == walk;
            if (!ready)
                continue;
            found = true;
            node->mark = walk;
            result = node_run(node, stream);
        }
    }
    return result;
}
static cuda_result graph_GraphLaunch(mock_graph *exec, void *stream)
{
    if (!exec->is_exec || M->sticky)
        return M->sticky ? M->sticky : BAD_HANDLE;
    for (unsigned i = 0; i < 64; i++)
        if (conditions[i].flags)
            conditions[i].value = conditions[i].at_launch;
    M->n_graph_launches++;
    return graph_run(exec, stream);
}
static cuda_result graph_GraphUpload(mock_graph *exec, void *stream)
{
    (void)stream;
    M->n_uploads++;
    return exec->is_exec ? CUDA_OK : BAD_HANDLE;
}

/* ---- changing executables ---------------------------------------------------------------------------------- */

typedef struct update_info {
    int result;
    graph_node *bad, *bad_from;
} update_info;
enum { UPDATE_TOPOLOGY = 2, UPDATE_TYPE = 3 };

static int graph_differs(const mock_graph *a, const mock_graph *b)
{
    const graph_node *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next)
        if (x->n_before != y->n_before)
            return UPDATE_TOPOLOGY;
        else if (x->type != y->type)
            return UPDATE_TYPE;
    return x || y ? UPDATE_TOPOLOGY : 0;
}
static cuda_result graph_GraphExecUpdate(mock_graph *exec, const mock_graph *graph, update_info *info)
{
    *info = (update_info){graph_differs(exec, graph), NULL, NULL};
    if (info->result)
        return UPDATE_FAILED;
    mock_graph before = *exec;
    memset(exec, 0, sizeof *exec);
    exec->is_exec = true;
    graph_copy_into(exec, graph);
    mock_graph *old = malloc(sizeof *old);
    *old = before;
    M->n_graphs++;
    graph_end(old);
    return CUDA_OK;
}

static cuda_result exec_set(const mock_graph *exec, const graph_node *node, node_type type, graph_node **out)
{
    *out = exec->is_exec ? graph_copy_of(exec, node) : NULL;
    return *out && node->type == type ? CUDA_OK : BAD_VALUE;
}
static cuda_result graph_GraphExecKernelNodeSetParams(mock_graph *exec, const graph_node *node,
                                                      const kernel_params *params)
{
    graph_node *own;
    cuda_result result = exec_set(exec, node, NODE_KERNEL, &own);
    if (!result)
        graph_set_kernel(own, params);
    return result;
}
static cuda_result graph_GraphExecMemcpyNodeSetParams(mock_graph *exec, const graph_node *node, const mock_copy *copy,
                                                      void *context)
{
    graph_node *own;
    cuda_result result = context ? exec_set(exec, node, NODE_COPY, &own) : BAD_VALUE;
    if (!result)
        own->as.copy = *copy;
    return result;
}
static cuda_result graph_GraphExecMemsetNodeSetParams(mock_graph *exec, const graph_node *node, const fill_params *fill,
                                                      void *context)
{
    graph_node *own;
    cuda_result result = context ? exec_set(exec, node, NODE_FILL, &own) : BAD_VALUE;
    if (!result)
        own->as.fill = *fill;
    return result;
}
static cuda_result graph_GraphNodeSetEnabled(mock_graph *exec, const graph_node *node, unsigned enabled)
{
    graph_node *own;
    cuda_result result = exec_set(exec, node, node->type, &own);
    if (!result)
        own->disabled = !enabled;
    return result;
}
static cuda_result graph_GraphNodeGetEnabled(mock_graph *exec, const graph_node *node, unsigned *enabled)
{
    graph_node *own;
    cuda_result result = exec_set(exec, node, node->type, &own);
    *enabled = !result && !own->disabled;
    return result;
}

/* ---- the table --------------------------------------------------------------------------------------------- */

#define ROW(name) {"cu" #name, (void (*)(void))graph_##name}
static const mock_row rows[] = {
    ROW(UserObjectCreate),
    ROW(UserObjectRelease),
    ROW(GraphRetainUserObject),
    ROW(GraphReleaseUserObject),
    ROW(GraphCreate),
    ROW(GraphDestroy),
    ROW(GraphGetNodes),
    ROW(GraphGetEdges),
    ROW(GraphNodeGetDependencies),
    ROW(GraphNodeGetDependentNodes),
    ROW(GraphAddDependencies),
    ROW(GraphRemoveDependencies),
    ROW(GraphDestroyNode),
    ROW(GraphAddEmptyNode),
    ROW(GraphAddMemcpyNode),
    ROW(GraphAddMemsetNode),
    ROW(GraphAddHostNode),
    ROW(GraphAddEventRecordNode),
    ROW(GraphAddEventWaitNode),
    ROW(GraphAddMemAllocNode),
    ROW(GraphAddMemFreeNode),
    ROW(GraphAddChildGraphNode),
    ROW(GraphAddNode),
    ROW(GraphConditionalHandleCreate),
    ROW(GraphKernelNodeGetParams),
    ROW(GraphKernelNodeSetParams),
    ROW(GraphMemcpyNodeGetParams),
    ROW(GraphMemcpyNodeSetParams),
    ROW(GraphMemsetNodeGetParams),
    ROW(GraphMemsetNodeSetParams),
    ROW(GraphHostNodeGetParams),
    ROW(GraphHostNodeSetParams),
    ROW(GraphMemAllocNodeGetParams),
    ROW(GraphMemFreeNodeGetParams),
    {"cuGraphEventRecordNodeGetEvent", (void (*)(void))graph_NodeGetEvent},
    {"cuGraphEventRecordNodeSetEvent", (void (*)(void))graph_NodeSetEvent},
    {"cuGraphEventWaitNodeGetEvent", (void (*)(void))graph_NodeGetEvent},
    {"cuGraphEventWaitNodeSetEvent", (void (*)(void))graph_NodeSetEvent},
    ROW(GraphNodeGetType),
    ROW(GraphChildGraphNodeGetGraph),
    ROW(GraphNodeFindInClone),
    ROW(GraphDebugDotPrint),
    ROW(GraphInstantiateWithParams),
    ROW(GraphExecDestroy),
    ROW(GraphLaunch),
    ROW(GraphUpload),
    ROW(GraphExecUpdate),
    ROW(GraphExecKernelNodeSetParams),
    ROW(GraphExecMemcpyNodeSetParams),
    ROW(GraphExecMemsetNodeSetParams),
    ROW(GraphNodeSetEnabled),
    ROW(GraphNodeGetEnabled),
};

int mock_graphs(const char *symbol, void **out)
{
    return mock_find(rows, sizeof rows / sizeof rows[0], symbol, out);
}
