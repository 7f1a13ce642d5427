/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own declarations of the driver's ABI: handles, the few structs and numbers we use, and the table of
 * functions that driver.def lists. No CUDA header is needed to build, no driver to load.
 */
#ifndef TS_DEVICE_CUDA_DRIVER_H
#define TS_DEVICE_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;   /* CUresult */
typedef int cuda_ordinal;  /* CUdevice */
typedef uint64_t cuda_ptr; /* CUdeviceptr */
typedef void *cuda_context, *cuda_pool, *cuda_stream_t, *cuda_event_t, *cuda_library, *cuda_kernel, *cuda_module,
    *cuda_function;

enum {
    CUDA_OK = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_PTX = 218, /* also where registers do not reach */
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_HANDLE = 400,
    CUDA_NOT_READY = 600
};
enum { /* CUdevice_attribute */
    CUDA_CLOCK_RATE = 13,
    CUDA_SM_COUNT = 16,
    CUDA_MEMORY_CLOCK_RATE = 36,
    CUDA_MEMORY_BUS_BITS = 37,
    CUDA_L2_BYTES = 38,
    CUDA_CC_MAJOR = 75,
    CUDA_CC_MINOR = 76,
    CUDA_SHARED_OPTIN = 97,
    CUDA_POOLS_SUPPORTED = 115
};
enum { /* CUfunction_attribute, CUmemPool_attribute, CUjit_option, CUlaunchAttributeID */
    CUDA_FUNC_MAX_THREADS = 0,
    CUDA_FUNC_LOCAL_BYTES = 3,
    CUDA_FUNC_REGISTERS = 4,
    CUDA_FUNC_MAX_DYNAMIC_SHARED = 8,
    CUDA_FUNC_CARVEOUT = 9,
    CUDA_FUNC_NON_PORTABLE_CLUSTER = 14,
    CUDA_POOL_RELEASE_THRESHOLD = 4,
    CUDA_JIT_INFO_LOG = 3,
    CUDA_JIT_INFO_LOG_BYTES = 4,
    CUDA_JIT_ERROR_LOG = 5,
    CUDA_JIT_ERROR_LOG_BYTES = 6,
    CUDA_JIT_LEVEL = 7,
    CUDA_JIT_LOG_VERBOSE = 12,
    CUDA_JIT_LINE_INFO = 13,
    CUDA_LAUNCH_COOPERATIVE = 2,
    CUDA_LAUNCH_CLUSTER = 4,
    CUDA_LAUNCH_PDL = 6
};
enum { CUDA_CAPTURE_RELAXED = 2 }; /* CUstreamCaptureMode */
enum { CUDA_STREAM_NON_BLOCKING = 1, CUDA_STREAM_PER_THREAD = 2, CUDA_HOST_PORTABLE = 1, CUDA_HOST_MAPPED = 2,
       CUDA_TMAP_PROMOTE_128 = 2 };

typedef struct cuda_pool_props { /* CUmemPoolProps */
    int alloc_type;  /* 1: pinned, the only one */
    int handle_types;
    struct {
        int type;    /* 1: device */
        int id;
    } location;
    void *security;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
} cuda_pool_props;

typedef struct cuda_launch_attr { /* CUlaunchAttribute */
    int id;
    char pad[4];
    union {
        char room[64];
        uint32_t cluster[3];
        int pdl, cooperative;
    } value;
} cuda_launch_attr;

typedef struct cuda_launch { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared_bytes;
    cuda_stream_t stream;
    cuda_launch_attr *attrs;
    unsigned n_attrs;
} cuda_launch;

typedef struct cuda_tmap { /* CUtensorMap */
    _Alignas(64) uint64_t words[16];
} cuda_tmap;

_Static_assert(sizeof(cuda_launch_attr) == 72 && sizeof(cuda_launch) == 56 && sizeof(cuda_tmap) == 128 &&
                   sizeof(cuda_pool_props) == 88,
               "the driver's structs");

typedef struct cuda_driver {
#define CU(name, symbol, version, need, params) cuda_result(*name) params;
#include "device/cuda/driver.def"
} cuda_driver;

#endif
