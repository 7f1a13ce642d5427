/* SPDX-License-Identifier: Apache-2.0
 *
 * diff.h with ways that run on the CPU target: include this first. */
#ifndef TS_TESTS_ON_CPU_H
#define TS_TESTS_ON_CPU_H

#define DIFF_WITH_CPU
#include "target/llvm/emit.h"
#include "diff.h"

static ts_status diff_run_cpu(const diff_case *c, ts_fn *fn, ts_pass_env *env, diff_memory *m, ts_error *err)
{
    ts_code code = {.alloc = ts_alloc_default()};
    ts_cpu_env cpu = {.fault = &m->fault, .attention = &(_Atomic uint32_t){0}};
    ts_cpu_entry *entry = NULL;
    void *image = NULL;
    size_t n = 0;
    ts_status status = ts__target_llvm(fn, env, &code, err);
    if (!status)
        status = ts__object_load(code.bytes, code.n_bytes, env->plan->name, &image, &n, &entry, err);
    if (!status) {
        uint64_t scratch_bytes = (env->plan->scratch_bytes + 127) / 64 * 64;
        void *scratch = aligned_alloc(64, scratch_bytes);
        memset(scratch, 0xCD, scratch_bytes);
        entry(m->params, c->grid, 0, (int64_t)c->grid[0] * c->grid[1] * c->grid[2], scratch, &cpu);
        free(scratch);
        ts__object_unload(image, n);
    }
    free(code.bytes);
    free(code.messages);
    return status;
}

/* Is LLVM installed? Asked with a function that it can compile. */
static bool diff_has_cpu(const diff_case *c)
{
    static const diff_way way = {DIFF_CPU, TS_TARGET_CPU, "legalize", 0, NULL};
    diff_memory m;
    ts_error err = {0};
    diff_fill(c, &m);
    ts_status status = diff_run_way(c, diff_clone(c->fn), &way, &m, &err);
    diff_free(&m);
    return status != TS_NODEVICE;
}

#endif
