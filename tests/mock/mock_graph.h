/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs of the mock driver: shared by mock_graph.c (definitions, executables) and mock_capture.c.
 */
#ifndef TS_TESTS_MOCK_MOCK_GRAPH_H
#define TS_TESTS_MOCK_MOCK_GRAPH_H

#include "mock.h"
#include <stdbool.h>

enum { GRAPH_EDGES = 16, GRAPH_KEPT = 128, GRAPH_BRANCHES = 4 };
enum { MOCK_GRAPH_PARAMS = 16 };
enum { BAD_VALUE = 1, OUT_OF_MEMORY = 2, BAD_HANDLE = 400, UNSUPPORTED = 900, UNJOINED = 904, UPDATE_FAILED = 910 };

/* CUgraphNodeType. */
typedef enum node_type {
    NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_CHILD, NODE_EMPTY, NODE_WAIT, NODE_RECORD,
    NODE_ALLOC = 10, NODE_FREE, NODE_CONDITIONAL = 13
} node_type;

/* CUDA_KERNEL_NODE_PARAMS, and so on: as the driver has them. */
typedef struct kernel_params {
    void *function;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra;
    void *kernel, *context;
} kernel_params;
typedef struct fill_params {
    cuda_ptr to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
} fill_params;
typedef struct host_params {
    void (*function)(void *user);
    void *user;
} host_params;
typedef struct alloc_params {
    char pool[88];
    const void *access;
    size_t n_access, bytes;
    cuda_ptr memory;
} alloc_params;
typedef struct conditional_params {
    uint64_t handle;
    int type;
    unsigned n;
    void **graphs;
    void *context;
} conditional_params;

typedef struct graph_node graph_node;
typedef struct mock_graph mock_graph;
struct graph_node {
    mock_graph *graph;
    graph_node *next;             /* in the order of making */
    const graph_node *origin;     /* of a copy */
    node_type type;
    size_t n_before;
    graph_node *before[GRAPH_EDGES];
    bool disabled;
    unsigned mark;                /* of the walk that has seen it */
    union {
        kernel_params kernel;
        mock_copy copy;
        fill_params fill;
        host_params host;
        alloc_params alloc;
        conditional_params conditional;
        void *event;
        cuda_ptr freed;
    } as;
    uint64_t values[MOCK_GRAPH_PARAMS]; /* of a kernel */
    void *places[MOCK_GRAPH_PARAMS];
    unsigned cluster;
    mock_graph *inside[GRAPH_BRANCHES];
    size_t n_inside;
};

struct mock_graph {
    graph_node *first;
    struct user_object *kept[GRAPH_KEPT];
    unsigned n_kept, flags;
    bool is_exec;
};

/* A node that depends on others; NULL: one of them is of another graph. */
graph_node *graph_add(mock_graph *graph, node_type type, graph_node *const *before, size_t n);
/* Takes over what a launch says, arguments too. */
void graph_set_kernel(graph_node *node, const kernel_params *params);
/* Memory of graphs: its address stays what it is; 0: there is no more. */
cuda_ptr graph_memory(size_t bytes);
bool graph_reaches(const graph_node *from, const graph_node *to);

#endif
