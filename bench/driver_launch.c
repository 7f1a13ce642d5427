/* SPDX-License-Identifier: Apache-2.0
 *
 * Question: what does cuLaunchKernel cost on this machine, called from C, for a kernel of three pointers
 * and a count? Prints one number: nanoseconds per launch, median of 50 batches of 100. This is the floor
 * that bench/launch.py compares with. Build: cc -O2 bench/driver_launch.c -ldl.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\nret;\n}\n";

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *library;
#define GET(name, ...) int (*name)(__VA_ARGS__) = (int (*)(__VA_ARGS__))dlsym(library, #name)

int main(void)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return fprintf(stderr, "no driver: %s\n", dlerror()), 1;
    GET(cuInit, unsigned);
    GET(cuDeviceGet, int *, int);
    GET(cuDevicePrimaryCtxRetain, void **, int);
    GET(cuCtxSetCurrent, void *);
    GET(cuModuleLoadData, void **, const void *);
    GET(cuModuleGetFunction, void **, void *, const char *);
    GET(cuLaunchKernel, void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
        unsigned, void *, void **, void **);
    GET(cuCtxSynchronize, void);
    int device;
    void *context, *module, *function;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuModuleLoadData(&module, ptx) ||
        cuModuleGetFunction(&function, module, "k"))
        return fprintf(stderr, "the driver refused\n"), 1;
    uint64_t a = 0, b = 0, c = 0;
    uint32_t n = 0;
    void *params[] = {&a, &b, &c, &n};
    double times[50];
    for (int batch = -5; batch < 50; batch++) {
        double start = now_ns();
        for (int i = 0; i < 100; i++)
            if (cuLaunchKernel(function, 64, 1, 1, 128, 1, 1, 0, NULL, params, NULL))
                return fprintf(stderr, "launch failed\n"), 1;
        double each = (now_ns() - start) / 100;
        cuCtxSynchronize();
        if (batch >= 0)
            times[batch] = each;
    }
    qsort(times, 50, sizeof *times, compare);
    printf("%.1f\n", times[25]);
    return 0;
}
