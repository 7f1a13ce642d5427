/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device tests share: a private CPU device with its own allocator and number of threads, a
 * program made of a C function, and an allocator that fails at the n-th request.
 */
#ifndef TS_TESTS_DEVICE_SETUP_H
#define TS_TESTS_DEVICE_SETUP_H

#include "check.h"
#include "device/device.h"
#include "runtime/entry.h"
#include <stdatomic.h>
#include <unistd.h>

static ts_error err;

#if defined(__SANITIZE_THREAD__)
/* The fork test starts threads in the child, as Python's multiprocessing does. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}
#endif

/* Counts what is out and fails request number `fail_at` (from 1) and all later ones. */
typedef struct counting {
    _Atomic int64_t n_requests, bytes_out;
    int64_t fail_at;
} counting;

static inline void *counting_resize(void *user, void *block, size_t old_bytes, size_t new_bytes)
{
    counting *c = user;
    if (new_bytes) {
        int64_t n = atomic_fetch_add(&c->n_requests, 1) + 1;
        if (c->fail_at && n >= c->fail_at)
            return NULL;
    }
    const ts_alloc *plain = ts_alloc_default();
    void *fresh = plain->resize(plain->user, block, old_bytes, new_bytes);
    if (fresh || !new_bytes)
        atomic_fetch_add(&c->bytes_out, (int64_t)new_bytes - (block ? (int64_t)old_bytes : 0));
    return fresh;
}

static inline ts_device *device_new(uint32_t n_threads, const ts_alloc *alloc)
{
    ts_device *device = NULL;
    CHECK_OK(ts__cpu_create(&(ts_cpu_options){n_threads, alloc}, &device, &err));
    return device;
}

static inline ts_program *program_of(ts_device *device, ts_cpu_entry *entry, ts_plan plan, const char *messages,
                                     size_t n_messages)
{
    ts_program *program = NULL;
    void *address;
    memcpy(&address, &entry, sizeof address);
    plan.target = TS_TARGET_CPU;
    ts_code code = {.plan = plan, .messages = (char *)(uintptr_t)messages, .n_messages = n_messages};
    CHECK_OK(ts__cpu_program_wrap(device, &code, address, "k", "file.py", &program, &err));
    return program;
}

/* params: int32 array. Adds 1 to element `block`. */
static inline void entry_count(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end,
                               void *scratch, const ts_cpu_env *env)
{
    (void)grid, (void)scratch, (void)env;
    int32_t *data = (int32_t *)(uintptr_t)params[0];
    for (int64_t i = begin; i < end; i++)
        data[i]++;
}

#endif
