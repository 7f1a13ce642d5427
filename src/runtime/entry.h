/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the compiler's CPU target and the CPU device meet: the entry of a compiled kernel and the loader
 * of its object. Needs nothing of the IR.
 */
#ifndef TS_RUNTIME_ENTRY_H
#define TS_RUNTIME_ENTRY_H

#include "tessera/compile.h"
#include <stdatomic.h>

/* The object of a CPU kernel has one entry,
 *     void name(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
 *               void *scratch, const ts_cpu_env *env)
 * which runs the tile blocks begin <= linear id < end; id = x + grid.x * (y + grid.y * z). Parameters
 * are one 8-byte slot each (narrow values in the low bytes). scratch has plan.scratch_bytes, 64-byte
 * aligned, one per worker. Safe to call from several threads at once with distinct scratch. */
typedef struct ts_cpu_env ts_cpu_env;
struct ts_cpu_env {
    ts_fault *fault;                                    /* first fault wins (code is claimed by compare-exchange) */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
    /* Read in each round of a `loop` or `for`; where it is not 0 the kernel asks `look` whether to end at once. Blocks
     * do not read it: their caller gives as many at a time as he can wait for. */
    const _Atomic uint32_t *attention;
    bool (*look)(const ts_cpu_env *env);
    /* Kernels whose plan is cooperative: waits until all blocks of the launch are here, or the launch is to end. */
    void (*meet)(const ts_cpu_env *env);
};
typedef void ts_cpu_entry(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
                          void *scratch, const ts_cpu_env *env);

/* Maps the object into executable memory and finds the entry; no LLVM needed. */
TS_CHECKED ts_status ts__object_load(const void *bytes, size_t n, const char *name, void **image,
                                    size_t *image_bytes, ts_cpu_entry **entry, ts_error *err);
void ts__object_unload(void *image, size_t image_bytes);

#endif
