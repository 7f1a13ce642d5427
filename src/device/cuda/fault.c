/* SPDX-License-Identifier: Apache-2.0
 *
 * Fault records of checked kernels. Each launch of a kernel that may fault gets one record in page-locked
 * memory, which the kernel writes over the bus; when its stream is known to be done, the host looks. Unlike a
 * trap this leaves the device usable.
 */
#include "device/cuda/cuda.h"

/* Under the lock, context current. */
static ts_status fault_room(cuda_device *device, ts_error *err)
{
    void *memory = NULL;
    if (device->fault_records)
        return TS_OK;
    cuda_result code = device->cuda->fn.MemHostAlloc(&memory, sizeof(ts_fault) * CUDA_FAULTS,
                                                     CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);
    if (code != CUDA_OK)
        return cuda_fail_driver(&device->cuda->fn, code, err, "allocating page-locked memory");
    device->fault_records = memory;
    return TS_OK;
}

static ts_status fault_try(cuda_program *program, uintptr_t stream, ts_fault **out, ts_error *err)
{
    cuda_device *device = cuda_of(program->base.device);
    pthread_mutex_lock(&device->lock);
    ts_status status = fault_room(device, err);
    for (uint32_t i = 0; status == TS_OK && i < CUDA_FAULTS && !*out; i++)
        if (!device->faults[i].program) {
            device->faults[i] = (cuda_fault){program, stream, ++device->n_faults};
            device->fault_records[i] = (ts_fault){0};
            *out = &device->fault_records[i];
        }
    pthread_mutex_unlock(&device->lock);
    return status;
}

ts_status cuda_fault_take(cuda_program *program, uintptr_t stream, ts_fault **out, ts_error *err)
{
    cuda_device *device = cuda_of(program->base.device);
    *out = NULL;
    TS_TRY(fault_try(program, stream, out, err));
    if (*out)
        return TS_OK;
    cuda_result code = device->cuda->fn.CtxSynchronize(); /* all in use: whoever has one will then be done */
    if (code != CUDA_OK)
        return cuda_fail(device, code, err, "waiting for the device");
    TS_TRY(cuda_fault_collect(device, CUDA_ALL_STREAMS, CUDA_ALL_FAULTS, err));
    TS_TRY(fault_try(program, stream, out, err));
    return *out ? TS_OK : ts_fail(err, TS_RUNTIME, "too many checked kernels are in flight; wait for some");
}

/* Under the lock: what is in the record, which is then free; false where there is no fault. */
static bool fault_look(cuda_device *device, uint32_t i, ts_error *found, bool *prints)
{
    cuda_fault *slot = &device->faults[i];
    ts_fault *record = &device->fault_records[i];
    if (!record->code)
        return false;
    (void)ts__fault_report(&slot->program->base, record, found);
    *prints = ts__fault_is_printed(&slot->program->base, record);
    slot->program = NULL;
    return true;
}

/* Under the lock: frees the records, keeps the first fault in `found`; *prints: it is to be printed. */
static bool fault_scan(cuda_device *device, uintptr_t stream, uint64_t until, ts_error *found, bool *prints)
{
    bool has = false;
    for (uint32_t i = 0; device->fault_records && i < CUDA_FAULTS; i++) {
        cuda_fault *slot = &device->faults[i];
        if (!slot->program || slot->serial > until || (stream != CUDA_ALL_STREAMS && slot->stream != stream))
            continue;
        if (!has)
            has = fault_look(device, i, found, prints);
        slot->program = NULL;
    }
    return has;
}

/* Takes the pending fault where there is no other, and leaves the lock. */
static ts_status fault_give(cuda_device *device, bool has, ts_error *found, bool prints, ts_error *err)
{
    if (!has && device->has_pending) {
        *found = device->pending;
        has = true;
        device->has_pending = false;
    }
    pthread_mutex_unlock(&device->lock);
    if (prints)
        ts__fault_print(found);
    if (has && err)
        *err = *found;
    return has ? found->status : TS_OK;
}

uint64_t cuda_fault_mark(cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    uint64_t mark = device->n_faults;
    pthread_mutex_unlock(&device->lock);
    return mark;
}

ts_status cuda_fault_collect(cuda_device *device, uintptr_t stream, uint64_t until, ts_error *err)
{
    ts_error found;
    bool prints = false;
    pthread_mutex_lock(&device->lock);
    bool has = fault_scan(device, stream, until, &found, &prints);
    return fault_give(device, has, &found, prints, err);
}

ts_status cuda_unheard(ts_device *handle, ts_error *err)
{
    cuda_device *device = cuda_of(handle);
    ts_error found;
    bool prints = false, has = false;
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; device->fault_records && i < CUDA_FAULTS && !has; i++)
        has = device->faults[i].program && fault_look(device, i, &found, &prints);
    return fault_give(device, has, &found, prints, err);
}
