/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices of this process: the CPU, made at its first use, and the GPUs, found when the driver is first
 * asked for. This and device/hooks.c are the only places of the library with state of its own; it is set up behind two
 * once locks, follows fork, and is taken down at exit.
 */
#include "device/device.h"
#include <stdlib.h>

static struct {
    pthread_once_t cpu_once, cuda_once;
    ts_device *cpu;
    ts_cuda *cuda;
    ts_error cpu_error, cuda_error;
    _Atomic bool up_cpu, up_cuda;
} registry = {.cpu_once = PTHREAD_ONCE_INIT, .cuda_once = PTHREAD_ONCE_INIT};

/* Devices that were lent, by their numbers (ts_device_id): a launch finds its own without a lock. */
static _Atomic(ts_device *) registry_known[TS_DEVICE_ID(TS_DEVICE_KINDS, 0)];

static void registry_before_fork(void)
{
    if (atomic_load(&registry.up_cpu))
        ts__cpu_before_fork(registry.cpu);
}

static void registry_in_parent(void)
{
    if (atomic_load(&registry.up_cpu))
        ts__cpu_after_fork(registry.cpu, false);
}

static void registry_in_child(void)
{
    if (atomic_load(&registry.up_cpu))
        ts__cpu_after_fork(registry.cpu, true);
    if (atomic_load(&registry.up_cuda))
        ts__cuda_after_fork_in_child(registry.cuda);
}

static size_t registry_tell(ts_device *device, ts_fault_fn *tell)
{
    ts_error fault;
    size_t n = 0;
    for (; device->ops->unheard(device, &fault) != TS_OK; n++)
        tell(&fault);
    return n;
}

size_t ts_faults_tell(ts_fault_fn *tell)
{
    size_t n = atomic_load(&registry.up_cpu) ? registry_tell(registry.cpu, tell) : 0;
    for (int i = 0; atomic_load(&registry.up_cuda) && i < ts__cuda_count(registry.cuda); i++)
        n += registry_tell(ts__cuda_device(registry.cuda, i), tell);
    return n;
}

static void registry_at_exit(void)
{
    ts_fault_fn *tell = ts__fault_get();
    /* Other libraries may still give memory back after this, so nothing is taken away. The driver frees
     * everything itself at exit; calling into it from here is not safe. */
    if (atomic_load(&registry.up_cpu))
        ts__cpu_quiesce(registry.cpu);
    if (atomic_load(&registry.up_cpu) && tell)
        registry_tell(registry.cpu, tell);
}

static void registry_start_cpu(void)
{
    if (ts__cpu_create(&(ts_cpu_options){0}, &registry.cpu, &registry.cpu_error) != TS_OK)
        return;
    pthread_atfork(registry_before_fork, registry_in_parent, registry_in_child);
    atomic_store(&registry.up_cpu, true);
    atexit(registry_at_exit);
}

static void registry_start_cuda(void)
{
    if (ts__cuda_open(NULL, ts_alloc_default(), &registry.cuda, &registry.cuda_error) == TS_OK)
        atomic_store(&registry.up_cuda, true);
}

static ts_status registry_cpu(int ordinal, ts_device **out, ts_error *err)
{
    pthread_once(&registry.cpu_once, registry_start_cpu);
    if (!registry.cpu)
        return ts_fail(err, registry.cpu_error.status, "%s", registry.cpu_error.text);
    if (ordinal != 0)
        return ts_fail(err, TS_NODEVICE, "there is no CPU device %d; the only one is 0", ordinal);
    *out = registry.cpu;
    return TS_OK;
}

static ts_status registry_cuda(int ordinal, ts_device **out, ts_error *err)
{
    ts_device *cpu; /* its fork handlers serve both */
    TS_TRY(registry_cpu(0, &cpu, err));
    pthread_once(&registry.cuda_once, registry_start_cuda);
    if (!registry.cuda)
        return ts_fail(err, TS_NODEVICE, "%s", registry.cuda_error.text);
    int n = ts__cuda_count(registry.cuda);
    if (ordinal < 0 || ordinal >= n)
        return ts_fail(err, TS_NODEVICE, "there is no CUDA device %d; this machine has %d (0 to %d)", ordinal, n,
                       n - 1);
    *out = ts__cuda_device(registry.cuda, ordinal);
    return TS_OK;
}

static int registry_cpu_count(void)
{
    return 1;
}

static int registry_cuda_count(void)
{
    return ts__cuda_count(registry.cuda);
}

/* Each kind of device: lends one, and counts them once the first was lent. */
static const struct registry_row {
    ts_status (*get)(int ordinal, ts_device **out, ts_error *err);
    int (*count)(void);
} registry_rows[TS_DEVICE_KINDS] = {
    [TS_DEVICE_CPU] = {registry_cpu, registry_cpu_count},
    [TS_DEVICE_CUDA] = {registry_cuda, registry_cuda_count},
};

int ts_device_count(ts_device_kind kind)
{
    ts_device *first;
    return ts_device_get(kind, 0, &first, NULL) == TS_OK ? registry_rows[kind].count() : 0;
}

int ts_native_current(void)
{
    ts_device *first;
    return ts_device_get(TS_DEVICE_CUDA, 0, &first, NULL) == TS_OK ? ts__cuda_current(registry.cuda) : -1;
}

ts_status ts_device_get(ts_device_kind kind, int ordinal, ts_device **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = NULL;
    if ((int)kind > 0 && kind < TS_DEVICE_KINDS && registry_rows[kind].get)
        return registry_rows[kind].get(ordinal, out, err);
#define X(name, number, text, words) " " #number " (" text ")"
    return ts_fail(err, TS_VALUE, "device kind %d is unknown; there are" TS_DEVICES(X), (int)kind);
#undef X
}

ts_status ts_device_by_id(uint16_t id, ts_device **out, ts_error *err)
{
    TS_NEED(err, out);
    *out = id < TS_COUNT(registry_known) ? atomic_load_explicit(&registry_known[id], memory_order_acquire) : NULL;
    if (*out)
        return TS_OK;
    TS_TRY(ts_device_get(TS_DEVICE_ID_KIND(id), TS_DEVICE_ID_ORDINAL(id), out, err));
    atomic_store_explicit(&registry_known[id], *out, memory_order_release);
    return TS_OK;
}
