/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver's own calls cost from C, as a shared library for bench/host.py: each function repeats one operation
 * `n` times and gives nanoseconds each, or -1. Build: cc -O2 -shared -fPIC bench/driver_host.c -ldl.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
enum { MAX_PARAMS = 16 };

static int (*context_get)(void **);
static int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                     void **);
static int (*event_record)(void *, void *);
static int (*stream_create)(void **, unsigned);
static int (*stream_destroy)(void *);
static int (*memory_get)(uint64_t *, size_t, void *, void *);
static int (*memory_put)(uint64_t, void *);

/* 0, or 1: a function is missing. */
EXPORT int host_open(const char *library)
{
    void *driver = dlopen(library, RTLD_NOW);
    int (*find)(const char *, void **, int, uint64_t, int *) = 0;
    if (!driver || !(*(void **)&find = dlsym(driver, "cuGetProcAddress_v2")))
        return 1;
    struct {
        const char *name;
        void *at;
    } rows[] = {{"cuCtxGetCurrent", &context_get}, {"cuLaunchKernel", &launch}, {"cuEventRecord", &event_record},
                {"cuStreamCreate", &stream_create}, {"cuStreamDestroy", &stream_destroy},
                {"cuMemAllocFromPoolAsync", &memory_get}, {"cuMemFreeAsync", &memory_put}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (find(rows[i].name, rows[i].at, 12000, 0, &(int){0}))
            return 1;
    return 0;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LOOP(call)                                                                                                     \
    double start = now_ns();                                                                                           \
    for (int i = 0; i < n; i++)                                                                                        \
        if (call)                                                                                                      \
            return -1;                                                                                                 \
    return (now_ns() - start) / n

EXPORT double host_context(int n)
{
    void *context;
    LOOP(context_get(&context));
}

EXPORT double host_launch(int n, void *function, void *stream, int n_params)
{
    uint64_t values[MAX_PARAMS] = {0};
    void *params[MAX_PARAMS];
    for (int i = 0; i < n_params && i < MAX_PARAMS; i++)
        params[i] = &values[i];
    LOOP(launch(function, 1, 1, 1, 32, 1, 1, 0, stream, params, 0));
}

EXPORT double host_record(int n, void *event, void *stream)
{
    LOOP(event_record(event, stream));
}

EXPORT double host_stream(int n)
{
    void *stream;
    LOOP(stream_create(&stream, 1) || stream_destroy(stream));
}

EXPORT double host_memory(int n, void *pool, void *stream, size_t bytes)
{
    uint64_t memory;
    LOOP(memory_get(&memory, bytes, pool, stream) || memory_put(memory, stream));
}
