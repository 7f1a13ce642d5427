/* SPDX-License-Identifier: Apache-2.0
 *
 * What a test sees of the mock driver: the record of its last calls and the switches that make it fail. The
 * test finds it by dlsym(..., "mock_state_data").
 */
#ifndef TS_TESTS_MOCK_MOCK_H
#define TS_TESTS_MOCK_MOCK_H

#include "device/cuda/driver.h"

enum { MOCK_PARAMS = 300, MOCK_TMAPS = 16 };

/* Arguments of one cuTensorMapEncodeTiled. The map itself gets its number in words[0]. */
typedef struct mock_tmap {
    int type, swizzle, promotion, fill, interleave;
    uint32_t rank, box[5], steps[5];
    void *base;
    uint64_t dims[5], strides[5];
} mock_tmap;

/* tests/python/mock_driver.py says the same members. */
typedef struct mock_state {
    /* switches */
    int n_devices, cc_major, cc_minor, pools, old_driver; /* old_driver: no functions newer than CUDA 11 */
    int init_result, load_result, alloc_failures;         /* alloc_failures: so many allocations fail */
    int bad_loads, serial_loads; /* so many loads fail with 218; so many after them have products one after the other */
    int sticky;            /* every later call of the context gives this, until the reset */
    int keeps_fault;       /* a reset does not end it, as with driver 580 */
    int busy;              /* so many queries answer "not ready" */
    const char *error_log, *info_log;
    /* records */
    unsigned n_launches, n_encoded, n_alloc, n_free, n_context, n_reset, n_attr, n_load, n_unload, n_tried;
    unsigned n_streams, n_events; /* living */
    size_t bytes_out;
    void *current;
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    int pdl;
    unsigned cluster;
    void **params;         /* as given to the last launch; copied below as 8 bytes each */
    uint64_t values[MOCK_PARAMS];
    uint64_t n_values;     /* set by the test: how many to copy */
    int attr[32];          /* by number, as last set on a function */
    size_t n_param_bytes;  /* the parameter table of every kernel */
    size_t param_bytes[MOCK_PARAMS];
    int priority;          /* of the stream made last */
    unsigned event_flags;  /* of the event made last */
    int vmm_is_adjacent;   /* reservations begin where they are asked to */
    int vmm_failures;      /* so many mappings fail */
    unsigned n_reserved, n_physical, n_mapped; /* virtual memory: living */
    int is_capturing;      /* what every stream says */
    int callback_result;   /* what requests of callbacks answer */
    unsigned n_syncs;      /* of streams */
    void (*kernel)(void **params, void *user); /* called at a launch when set */
    void *user;
    int keep_failures;     /* so many user objects of graphs cannot be made */
    unsigned n_graphs, n_nodes, n_execs, n_kept; /* living; executables and inner graphs are graphs too */
    unsigned n_graph_launches, n_uploads;
    unsigned n_arrays, n_objects;              /* living: arrays of textures; textures and surfaces */
    char resource[144], texture[104];          /* CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC, as given last */
    _Atomic int is_full;   /* launches wait while it is not 0: a full queue */
    char pool_props[88];                       /* CUmemPoolProps of the pool made last */
    int has_peers;                             /* devices can use each other's memory */
    unsigned n_pools, n_green;                 /* living */
    unsigned n_access_calls, n_trims;
    mock_tmap tmap[MOCK_TMAPS];
    char code[1024];       /* beginning of the text loaded last */
    int cooperative;          /* whether the last launch was */
    unsigned cluster_dims[3]; /* of the last launch; `cluster` is the first */
    int block_shared, block_threads; /* switches: what a block may have of shared memory (bytes) and threads, or 0 */
} mock_state;
extern mock_state mock_state_data;
/* Called when set: at each load, which then has a number, and at each launch of what such a load gave. */
extern void (*mock_loaded)(unsigned number, const char *code);
extern void (*mock_launched)(unsigned number, void **params, const unsigned *grid, const unsigned *block,
                             unsigned shared);
/* Not 0: callbacks of streams wait for mock_call_back, and nothing is ready. */
extern int mock_hold;
/* Not 0: every call that needs a context waits until it is 0, as behind a full queue, and is counted in mock_waited;
 * after three seconds the gate opens by itself, which mock_expired counts. */
extern volatile int mock_gate, mock_waited, mock_expired;

/* Functions beyond driver.def: those of a table; whether `symbol` is one of them. */
typedef struct mock_row {
    const char *symbol;
    void (*function)(void);
} mock_row;
int mock_find(const mock_row *rows, size_t n, const char *symbol, void **out);
int mock_more(const char *symbol, void **out);     /* mock_bindings.c */
/* The driver of tessera.core's tests has these instead, which go before all others. */
int mock_core(const char *symbol, void **out);     /* mock_core.c */
int mock_graphs(const char *symbol, void **out);   /* mock_graph.c */
int mock_captures(const char *symbol, void **out); /* mock_capture.c */
int mock_pools(const char *symbol, void **out);    /* mock_pools.c */
extern const cuda_driver mock_base;                /* the functions of driver.def themselves */

/* CUDA_MEMCPY3D. */
enum { MOCK_HOST = 1, MOCK_DEVICE, MOCK_ARRAY, MOCK_UNIFIED };
typedef struct mock_side {
    size_t x, y, z, lod;
    int kind;
    void *host, *device, *array, *reserved;
    size_t pitch, rows;
} mock_side;
typedef struct mock_copy {
    mock_side from, to;
    size_t width, height, depth;
} mock_copy;
cuda_result mock_copy_run(const mock_copy *copy);

#endif
