/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of this folder share: what is done with a status, arrays in a device's memory, time, and running on
 * the CPU and on a GPU. None of it is needed to use the library.
 */
#ifndef TESSERA_EXAMPLE_H
#define TESSERA_EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tessera/tessera.h"

static ts_error err;

/* Every call that can fail says so in its status; err.text has the story. */
static inline void check(ts_status status, const char *what)
{
    if (status == TS_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, ts_status_name(status), err.text);
    exit(1);
}

/* A copy of `bytes` at `host` in the device's memory. Owns: the result, ended by ts_mem_free. */
static inline void *upload(ts_device *device, const void *host, size_t bytes)
{
    void *memory;
    check(ts_mem_alloc(device, NULL, bytes, &memory, &err), "memory");
    check(ts_mem_copy(ts_device_default_stream(device), memory, TS_MEM_DEVICE, host, TS_MEM_HOST, bytes, &err), "copy");
    return memory;
}

/* An array as an argument of a launch. strides NULL: dense, the last axis innermost. */
static inline ts_arg array_of(ts_device *device, ts_dtype dtype, uint8_t rank, void *data, const int64_t *shape,
                              const int64_t *strides)
{
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = rank, .device = ts_device_id(device)};
    arg.value.data = data;
    arg.shape = shape;
    arg.strides = strides;
    return arg;
}

/* ---- time ------------------------------------------------------------------------------------------- */

static inline double now_ns(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int compare_doubles(const void *x, const void *y)
{
    return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static inline double median(double *at, size_t n)
{
    qsort(at, n, sizeof *at, compare_doubles);
    return at[n / 2];
}

/* ---- running ---------------------------------------------------------------------------------------- */

typedef struct example {
    int wrong, n_kernels; /* elements that are not what they should be; kernels that were launched first */
    uint64_t n_from_disk; /* of those kernels: whose code came from the cache on disk */
} example;

/* Launches `n_kernels` kernels on a device, counts those from the disk, gives the number of wrong elements. `computes`
 * is false on the mock driver (TESSERA_CUDA_DRIVER), whose launches do nothing. */
typedef int example_run(ts_device *device, bool computes, uint64_t *n_from_disk);

/* Does `run` on the first device of a kind, which it gives; NULL where there is none. */
static inline ts_device *example_on(example *e, ts_device_kind kind, int n_kernels, example_run *run)
{
    ts_device *device;
    bool is_gpu = kind == TS_DEVICE_CUDA, is_mock = is_gpu && getenv("TESSERA_CUDA_DRIVER") != NULL;
    if (is_gpu && ts_device_count(kind) == 0)
        return NULL;
    check(ts_device_get(kind, 0, &device, &err), is_gpu ? "GPU" : "CPU");
    printf("%s%s\n", is_gpu ? "GPU" : "CPU", is_mock ? " (mock)" : "");
    e->wrong += run(device, !is_mock, &e->n_from_disk);
    e->n_kernels += n_kernels;
    return device;
}

/* The exit status of main. With the word `cached` all code must have come from the cache on disk. */
static inline int example_end(const example *e, int argc, char **argv)
{
    bool wants_cached = argc > 1 && strcmp(argv[1], "cached") == 0;
    bool is_cached = e->n_from_disk == (uint64_t)e->n_kernels;
    if (e->wrong)
        fprintf(stderr, "%d elements are wrong\n", e->wrong);
    if (wants_cached && !is_cached)
        fprintf(stderr, "%d of %d kernels came from the cache on disk\n", (int)e->n_from_disk, e->n_kernels);
    return e->wrong || (wants_cached && !is_cached);
}

#endif
