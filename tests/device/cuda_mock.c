/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA device over the mock driver: what it asks of the driver for loads, launches and tensor maps, how
 * memory is reused, and what it says when things fail. Needs TESSERA_CUDA_DRIVER=libcuda_mock.so.
 */
#include "../mock/mock.h"
#include "setup.h"
#include "tessera/array.h"
#include <dlfcn.h>
#include <limits.h>
#include <sys/wait.h>
#include <time.h>

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static mock_state *mock;
static int *hold;
static const mock_state fresh = {.n_devices = 2, .cc_major = 9, .pools = 1};

/* A driver opened for one test. */
static ts_cuda *open_driver(const ts_alloc *alloc)
{
    ts_cuda *cuda = NULL;
    CHECK_OK(ts__cuda_open(NULL, alloc ? alloc : ts_alloc_default(), &cuda, &err));
    return cuda;
}

static void begin(void)
{
    *mock = fresh;
}

/* A fresh mock, and a device of it. */
static ts_device *begin_on(ts_cuda **cuda, int ordinal)
{
    begin();
    *cuda = open_driver(NULL);
    return ts__cuda_device(*cuda, ordinal);
}

static ts_code ptx_of(ts_plan plan)
{
    static char text[] = ".version 8.0\n.target sm_90a\n";
    plan.target = TS_TARGET_SM90;
    if (!plan.name[0])
        strcpy(plan.name, "entry");
    return (ts_code){.plan = plan, .bytes = (uint8_t *)text, .n_bytes = sizeof text};
}

static ts_program *load(ts_device *device, ts_plan plan)
{
    ts_program *program = NULL;
    ts_code code = ptx_of(plan);
    CHECK_OK(ts_program_load(device, &code, "kernel_name", "k.py", &program, &err));
    return program;
}

/* ---- loading and launching ---------------------------------------------------------------------------- */

static void a_launch_passes_grid_threads_shared_memory_and_params(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 1);
    ts_program *program = load(device, (ts_plan){.n_params = 3, .param_bytes = {8, 4, 8}, .threads = 128,
                                                 .shared_bytes = 100 << 10});
    uint64_t params[3] = {0x1122334455667788, 7, 0xFFFFFFFFFFFFFFFF};
    mock->n_values = 3;
    CHECK_INT(mock->attr[CUDA_FUNC_MAX_DYNAMIC_SHARED], 100 << 10);
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){5, 4, 3}, params, 0, &err));
    CHECK(mock->grid[0] == 5 && mock->grid[1] == 4 && mock->grid[2] == 3);
    CHECK(mock->block[0] == 128 && mock->block[1] == 1 && mock->shared_bytes == 100 << 10);
    CHECK(memcmp(mock->values, params, sizeof params) == 0);
    CHECK(mock->stream == NULL && mock->pdl == 0 && mock->cluster == 0);
    CHECK_INT(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 65536, 1}, params, 0, &err),
              TS_VALUE);
    ts_program_destroy(program);
    CHECK_INT(mock->n_unload, 1);
    ts__cuda_close(cuda);
    CHECK(mock->bytes_out == 0 && mock->n_context == 0);
}

static void clusters_pdl_and_foreign_streams_reach_the_driver(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, (ts_plan){.threads = 64, .cluster = 2});
    ts_stream foreign = {device, 0x7777, NULL};
    CHECK_OK(ts_program_launch(program, &foreign, (uint32_t[3]){5, 1, 1}, NULL, TS_LAUNCH_PDL, &err));
    CHECK(mock->cluster == 2 && mock->grid[0] == 10 && mock->pdl == 1 && mock->stream == (void *)0x7777);
    CHECK_OK(ts_program_launch(program, &foreign, (uint32_t[3]){5, 1, 1}, NULL, 0, &err));
    CHECK(mock->cluster == 2 && mock->pdl == 0);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

static void persistent_kernels_get_their_grid_as_parameters(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, (ts_plan){.threads = 64, .persistent = 1, .n_params = 1, .param_bytes = {8}});
    mock->n_values = 4;
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){100, 20, 2}, &(uint64_t){9}, 0,
                               &err));
    CHECK(mock->grid[0] == 30 && mock->grid[1] == 1 && mock->grid[2] == 1); /* 10 SMs, 3 blocks each */
    CHECK(mock->values[0] == 9 && (uint32_t)mock->values[1] == 100 && (uint32_t)mock->values[2] == 20);
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){2, 3, 1}, &(uint64_t){9}, 0,
                               &err));
    CHECK_INT(mock->grid[0], 6);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

/* A matrix of `rows` x `cols` bf16 with a row stride in params 1 to 3, and a constant third dimension. */
static ts_plan tmap_plan(void)
{
    ts_plan plan = {.threads = 32, .n_params = 4, .param_bytes = {8, 4, 4, 4}, .n_tmaps = 1};
    plan.tmap[0] = (ts_plan_tmap){.base = 0, .dtype = 9, .rank = 3, .swizzle = 3, .nan_fill = 1, .elem_bytes = 2,
                                  .box = {64, 128, 1}, .step = {1, 1, 1},
                                  .dim = {{0, 2}, {0, 1}, {5, -1}}, .stride = {{1, -1}, {0, 3}, {4096, -1}}};
    return plan;
}

static void tensor_maps_are_encoded_from_the_parameters(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, tmap_plan());
    mock->n_values = 5;
    uint64_t params[4] = {0x10000, 300, 200, 256};
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, params, 0, &err));
    const mock_tmap *map = &mock->tmap[0];
    CHECK(map->type == 9 && map->rank == 3 && map->swizzle == 3 && map->fill == 1 && map->promotion == 2);
    CHECK(map->base == (void *)0x10000 && map->interleave == 0);
    CHECK(map->dims[0] == 200 && map->dims[1] == 300 && map->dims[2] == 5);
    CHECK(map->strides[0] == 512 && map->strides[1] == 8192);
    CHECK(map->box[0] == 64 && map->box[1] == 128 && map->box[2] == 1 && map->steps[2] == 1);
    CHECK(mock->values[0] == 1 && mock->values[1] == 0x10000 && (uint32_t)mock->values[4] == 256);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

static void tensor_maps_are_encoded_anew_only_when_something_changed(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, tmap_plan());
    static const uint64_t params[][4] = {{0x10000, 300, 200, 256}, {0x10000, 300, 200, 256}, {0x20000, 300, 200, 256},
                                         {0x20000, 300, 200, 264}, {0x20000, 301, 200, 264}};
    static const int encoded[] = {1, 1, 2, 3, 4};
    mock->n_values = 5;
    for (int i = 0; i < 5; i++) {
        CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, params[i], 0,
                                   &err));
        CHECK_INT(mock->n_encoded, encoded[i]);
        CHECK_INT((int)mock->values[0], encoded[i]); /* what the kernel got */
    }
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

static void tensor_maps_of_empty_and_thin_arrays_are_legal(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, tmap_plan());
    uint64_t empty[4] = {0, 0, 200, 200}, thin[4] = {0x10000, 1, 200, 203}, bad[4] = {0x10000, 3, 200, 203};
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, empty, 0, &err));
    CHECK(mock->tmap[0].base != NULL && mock->tmap[0].dims[1] == 1);
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, thin, 0, &err));
    CHECK_INT(mock->tmap[1].strides[0] % 16, 0);
    CHECK_INT(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, bad, 0, &err),
              TS_DEVICE);
    CHECK(strstr(err.text, "tensor map 0 of kernel 'kernel_name'") && strstr(err.text, "stride 406"));
    CHECK(strstr(err.text, "pass a copy with such rows"));
    CHECK_INT(mock->n_launches, 2);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

/* The mode of the thread is what it was before. */
static void loads_do_not_end_what_a_stream_records(void)
{
    begin();
    ts_cuda *cuda = open_driver(NULL);
    ts_program *program;
    ts_code code = ptx_of((ts_plan){.threads = 32});
    mock->is_capturing = 1;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(ts_program_load(ts__cuda_device(cuda, 0), &code, "k", NULL, &program, &err));
        ts_program_destroy(program);
    }
    CHECK(mock->n_load == 2 && mock->n_unload == 2);
    mock->is_capturing = 0;
    ts__cuda_close(cuda);
}

static void assembler_messages_become_the_error(void)
{
    begin();
    ts_cuda *cuda = open_driver(NULL);
    ts_program *program;
    ts_code code = ptx_of((ts_plan){.threads = 32});
    mock->load_result = 218;
    mock->error_log = "ptxas line 3: fatal";
    CHECK_INT(ts_program_load(ts__cuda_device(cuda, 0), &code, "k", NULL, &program, &err), TS_DEVICE);
    CHECK(strstr(err.text, "kernel 'k'") && strstr(err.text, "ptxas line 3: fatal") && err.driver_code == 218);
    mock->load_result = 0;
    mock->info_log = "ptxas info : (C7510) Potential Performance Loss";
    CHECK_OK(ts_program_load(ts__cuda_device(cuda, 0), &code, "k", NULL, &program, &err));
    CHECK_STR(ts_program_log(program), mock->info_log);
    CHECK(ts_program_is_serialised(program));
    ts_resources resources; /* the log has no registers, so the driver is asked */
    ts_program_resources(program, &resources);
    CHECK(resources.known && resources.serialised && resources.registers == 168 && resources.stack_bytes == 16);
    ts_program_destroy(program);
    mock->info_log = "ptxas info : Used 40 registers, 0 bytes spill stores";
    CHECK_OK(ts_program_load(ts__cuda_device(cuda, 0), &code, "k", NULL, &program, &err));
    ts_program_resources(program, &resources);
    CHECK(resources.known && !resources.serialised && resources.registers == 40);
    ts_program_destroy(program);
    strcpy(code.plan.name, "missing");
    CHECK_INT(ts_program_load(ts__cuda_device(cuda, 0), &code, "k", NULL, &program, &err), TS_DEVICE);
    CHECK(mock->n_load == 3 && mock->n_unload == 3);
    ts__cuda_close(cuda);
}

static void old_drivers_load_modules_and_launch_plainly(void)
{
    begin();
    mock->old_driver = 1;
    ts_cuda *cuda = open_driver(NULL);
    ts_device *device = ts__cuda_device(cuda, 0);
    ts_program *program = load(device, (ts_plan){.threads = 32}), *none;
    CHECK_OK(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){3, 1, 1}, NULL, 0, &err));
    CHECK_INT(mock->grid[0], 3);
    ts_code code = ptx_of(tmap_plan());
    CHECK_INT(ts_program_load(device, &code, "k", NULL, &none, &err), TS_DEVICE);
    CHECK(strstr(err.text, "too old") != NULL);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

/* ---- faults ------------------------------------------------------------------------------------------------- */

static void write_fault(void **params, void *user)
{
    (void)user;
    ts_fault *record;
    memcpy(&record, params[0], sizeof record);
    *record = (ts_fault){.code = TS_FAULT_BOUNDS, .line = 4, .block = {1, 2, 3}, .index = 50, .extent = 10};
}

static void fault_records_are_read_at_the_wait(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_stream *stream;
    ts_program *program = load(device, (ts_plan){.threads = 32, .error_param = 1});
    CHECK_OK(ts_stream_create(device, &stream, &err));
    mock->kernel = write_fault;
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    mock->kernel = NULL;
    CHECK_OK(ts_stream_sync(ts_device_default_stream(device), TS_FOREVER, &err));
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_STR(err.text, "kernel 'kernel_name' (k.py, line 4), block (1, 2, 3): index 50 is out of bounds for size 10");
    for (int i = 0; i < 200; i++)
        CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    CHECK_OK(ts_device_sync(device, TS_FOREVER, &err));
    mock->kernel = write_fault;
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    ts_program_destroy(program); /* its fault is still told */
    CHECK_INT(ts_device_sync(device, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_OK(ts_device_sync(device, TS_FOREVER, &err));
    ts_stream_destroy(stream);
    ts__cuda_close(cuda);
}

/* A record that has a fault is told; the launch that goes on keeps its record, and the driver is asked for nothing. */
static void an_unheard_fault_is_told_without_a_wait(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_stream *stream;
    ts_program *program = load(device, (ts_plan){.threads = 32, .error_param = 1});
    CHECK_OK(device->ops->unheard(device, &err));
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err)); /* no fault is there yet */
    mock->kernel = write_fault;
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    mock->kernel = NULL;
    CHECK_INT(device->ops->unheard(device, &err), TS_LAUNCH);
    CHECK(strstr(err.text, "index 50 is out of bounds"));
    CHECK_OK(device->ops->unheard(device, &err));
    CHECK_OK(ts_device_sync(device, TS_FOREVER, &err));
    ts_program_destroy(program);
    ts_stream_destroy(stream);
    ts__cuda_close(cuda);
}

static void sticky_faults_are_told_once_and_end_with_a_reset(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, (ts_plan){.threads = 32});
    ts_stream *stream, *other;
    ts_array *array;
    float host[4];
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_array_zeros(device, NULL, TS_DTYPE_float32, 1, INTS(4), &array, &err));
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    mock->sticky = 700;
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_LAUNCH);
    CHECK(strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS (700") && strstr(err.text, "kernel 'kernel_name'") &&
          strstr(err.text, "device.reset()") && err.driver_code == 700);
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_DEVICE);
    CHECK(strstr(err.text, "cannot be used since") != NULL);
    CHECK_OK(ts_device_reset(device, &err));
    CHECK_INT(ts_program_launch(program, ts_device_default_stream(device), (uint32_t[3]){1, 1, 1}, NULL, 0, &err),
              TS_RUNTIME);
    CHECK_INT(ts_stream_sync(stream, TS_FOREVER, &err), TS_RUNTIME);
    CHECK_INT(ts_array_to_host(array, NULL, host, NULL, &err), TS_BUFFER);
    ts_array_release(array);
    ts_stream_destroy(stream);
    ts_program_destroy(program);
    program = load(device, (ts_plan){.threads = 32});
    CHECK_OK(ts_stream_create(device, &other, &err));
    CHECK_OK(ts_program_launch(program, other, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    CHECK_OK(ts_device_sync(device, TS_FOREVER, &err));
    ts_program_destroy(program);
    ts_stream_destroy(other);
    ts__cuda_close(cuda);
}

static void a_driver_that_keeps_the_fault_is_told_of_plainly(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_program *program = load(device, (ts_plan){.threads = 32}), *none;
    ts_code code = ptx_of((ts_plan){.threads = 32});
    void *memory;
    mock->sticky = 700;
    mock->keeps_fault = 1;
    CHECK_INT(ts_device_sync(device, TS_FOREVER, &err), TS_LAUNCH);
    CHECK_INT(ts_device_reset(device, &err), TS_DEVICE);
    CHECK(strstr(err.text, "start a new process") != NULL);
    CHECK_INT(ts_mem_alloc(device, NULL, 1, &memory, &err), TS_DEVICE);
    CHECK_INT(ts_program_load(device, &code, "k", NULL, &none, &err), TS_DEVICE);
    CHECK(strstr(err.text, "start a new process") != NULL);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void memory_is_reused_within_a_stream_only(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_stream *stream;
    void *a, *b, *c;
    CHECK_OK(ts_stream_create(device, &stream, &err));
    CHECK_OK(ts_mem_alloc(device, stream, 5000, &a, &err));
    ts_mem_free(device, stream, a, 5000);
    CHECK_OK(ts_mem_alloc(device, NULL, 5000, &b, &err));
    CHECK_OK(ts_mem_alloc(device, stream, 5100, &c, &err));
    CHECK(a == c && b != a);
    CHECK_INT(mock->n_alloc, 2);
    ts_mem_free(device, stream, c, 5100);
    ts_mem_free(device, NULL, b, 5000);
    ts_device_trim(device);
    CHECK(mock->n_free == 2 && mock->bytes_out == 0);
    ts_stream_destroy(stream);
    ts__cuda_close(cuda);
}

static void a_full_device_is_trimmed_before_it_fails(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    void *a;
    CHECK_OK(ts_mem_alloc(device, NULL, 1 << 20, &a, &err));
    ts_mem_free(device, NULL, a, 1 << 20);
    mock->alloc_failures = 1;
    CHECK_OK(ts_mem_alloc(device, NULL, 3 << 20, &a, &err));
    CHECK_INT(mock->n_free, 1);
    ts_mem_free(device, NULL, a, 3 << 20);
    mock->alloc_failures = 2;
    CHECK_INT(ts_mem_alloc(device, NULL, 9 << 20, &a, &err), TS_NOMEM);
    CHECK(strstr(err.text, "allocating 9437184 bytes") && strstr(err.text, "free arrays"));
    ts__cuda_close(cuda);
    CHECK_INT(mock->bytes_out, 0);
}

static void a_full_device_is_trimmed_before_a_kernel_is_refused(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_code code = ptx_of((ts_plan){.threads = 32});
    ts_program *program;
    void *a;
    CHECK_OK(ts_mem_alloc(device, NULL, 1 << 20, &a, &err));
    ts_mem_free(device, NULL, a, 1 << 20);
    unsigned tried = mock->n_tried;
    mock->load_result = 2;
    CHECK_INT(ts_program_load(device, &code, "k", NULL, &program, &err), TS_NOMEM);
    CHECK(strstr(err.text, "while loading kernel") && strstr(err.text, "free arrays"));
    CHECK_INT(mock->n_tried - tried, 2);
    CHECK_INT(mock->bytes_out, 0);
    mock->load_result = 0;
    ts__cuda_close(cuda);
}

static void arrays_copy_fill_and_come_back(void)
{
    for (int pools = 0; pools < 2; pools++) {
        begin();
        mock->pools = pools;
        ts_cuda *cuda = open_driver(NULL);
        ts_device *device = ts__cuda_device(cuda, 0);
        ts_array *a, *turned, *copy;
        double host[6] = {1, 2, 3, 4, 5, 6}, found[6] = {0};
        CHECK_OK(ts_array_full(device, NULL, TS_DTYPE_float64, 0x3FF0000000000001, 2, INTS(2, 3), &a, &err));
        CHECK_OK(ts_array_to_host(a, NULL, found, NULL, &err));
        CHECK(found[0] > 1 && found[0] == found[5]);
        CHECK_OK(ts_array_from_host(a, NULL, host, NULL, &err));
        CHECK_OK(ts_array_transpose(a, NULL, &turned, &err));
        CHECK_OK(ts_array_copy(turned, NULL, NULL, &copy, &err));
        CHECK_OK(ts_array_to_host(copy, NULL, found, NULL, &err));
        CHECK(found[0] == 1 && found[1] == 4 && found[2] == 2 && found[5] == 6);
        CHECK_OK(ts_array_from_host(turned, NULL, host, NULL, &err)); /* strided on the device */
        CHECK_OK(ts_array_to_host(a, NULL, found, NULL, &err));
        CHECK(found[0] == 1 && found[1] == 3 && found[3] == 2 && found[5] == 6);
        ts_array_release(a);
        ts_array_release(turned);
        ts_array_release(copy);
        ts__cuda_close(cuda);
        CHECK_INT(mock->bytes_out, 0);
    }
}

/* ---- waiting, contexts, presence --------------------------------------------------------------------------------- */

static int pauses;

/* Counts instead of sleeping: a test of the time that a pause takes would depend on what else runs. */
int nanosleep(const struct timespec *asked, struct timespec *rest)
{
    (void)asked;
    (void)rest;
    pauses++;
    return 0;
}

static int pauses_within(ts_device *device, int64_t ns)
{
    pauses = 0;
    mock->busy = INT_MAX;
    CHECK_INT(ts_stream_sync(ts_device_default_stream(device), ns, &err), TS_INTERRUPTED);
    return pauses;
}

/* Waits of milliseconds are not made longer by pauses. */
static void short_waits_ask_without_pause(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    int64_t ns = 20000000;
    CHECK_INT(pauses_within(device, 9000000), 0);
    while (!pauses_within(device, ns)) /* this process may be stopped when the pauses would begin */
        ns *= 2;
    mock->busy = 0;
    ts__cuda_close(cuda);
}

static void bounded_waits_end_in_time(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_event *begin_event, *end_event;
    double ns;
    bool done;
    CHECK_OK(ts_event_create(device, &begin_event, &err));
    CHECK_OK(ts_event_create(device, &end_event, &err));
    CHECK_INT(ts_event_elapsed(begin_event, end_event, &ns, &err), TS_RUNTIME);
    CHECK_OK(ts_event_record(begin_event, NULL, &err));
    CHECK_OK(ts_event_record(end_event, ts_device_default_stream(device), &err));
    CHECK_OK(ts_event_elapsed(begin_event, end_event, &ns, &err));
    CHECK(ns == 1.5e6);
    mock->busy = 1 << 30;
    CHECK_INT(ts_stream_sync(ts_device_default_stream(device), 2000000, &err), TS_INTERRUPTED);
    CHECK_INT(ts_event_sync(end_event, 2000000, &err), TS_INTERRUPTED);
    CHECK_INT(ts_device_sync(device, 2000000, &err), TS_INTERRUPTED);
    CHECK_OK(ts_event_done(end_event, &done, &err));
    CHECK(!done);
    mock->busy = 10;
    CHECK_OK(ts_stream_sync(ts_device_default_stream(device), 2000000000, &err));
    ts_event_destroy(begin_event);
    ts_event_destroy(end_event);
    ts__cuda_close(cuda);
    CHECK_INT(mock->n_events, 0);
}

static void contexts_of_other_libraries_stay_current(void)
{
    begin();
    int theirs;
    ts_cuda *cuda = open_driver(NULL);
    ts_device *device = ts__cuda_device(cuda, 0);
    void *memory;
    CHECK_INT(mock->n_context, 0); /* nothing is made before it is needed */
    mock->current = &theirs;
    CHECK_OK(ts_mem_alloc(device, NULL, 100, &memory, &err));
    CHECK(mock->current == &theirs && mock->n_context == 1);
    ts_mem_free(device, NULL, memory, 100);
    mock->current = NULL;
    CHECK_OK(ts_device_sync(device, TS_FOREVER, &err));
    CHECK(mock->current != NULL);
    ts__cuda_close(cuda);
}

static void missing_drivers_and_gpus_are_explained(void)
{
    ts_cuda *cuda;
    begin();
    CHECK_INT(ts__cuda_open("/no/such/driver.so", ts_alloc_default(), &cuda, &err), TS_NODEVICE);
    CHECK(strstr(err.text, "cannot be loaded") != NULL && cuda == NULL);
    mock->init_result = 100;
    CHECK_INT(ts__cuda_open(NULL, ts_alloc_default(), &cuda, &err), TS_NODEVICE);
    CHECK(strstr(err.text, "CUDA_VISIBLE_DEVICES") != NULL);
    mock->init_result = 12345;
    CHECK_INT(ts__cuda_open(NULL, ts_alloc_default(), &cuda, &err), TS_DEVICE);
    CHECK(strstr(err.text, "12345") != NULL);
    begin();
    mock->cc_major = 7;
    cuda = open_driver(NULL);
    void *memory;
    CHECK_INT(ts_mem_alloc(ts__cuda_device(cuda, 0), NULL, 1, &memory, &err), TS_NODEVICE);
    CHECK(strstr(err.text, "compute capability 7.0") != NULL);
    ts__cuda_close(cuda);
}

static void children_of_fork_are_told(void)
{
    begin();
    ts_cuda *cuda = open_driver(NULL);
    void *memory;
    ts__cuda_after_fork_in_child(cuda);
    CHECK_INT(ts_mem_alloc(ts__cuda_device(cuda, 0), NULL, 1, &memory, &err), TS_RUNTIME);
    CHECK(strstr(err.text, "spawn") != NULL);
    ts__cuda_close(cuda);
}

static void queries_fill_everything(void)
{
    begin();
    ts_cuda *cuda = open_driver(NULL);
    ts_device_info info;
    CHECK_OK(ts_device_query(ts__cuda_device(cuda, 1), &info, &err));
    CHECK_STR(info.name, "Mock GPU");
    CHECK(info.ordinal == 1 && info.units == 10 && info.cc_major == 9 && info.target == TS_TARGET_SM90);
    CHECK(info.driver_version == 13000 && info.l2_bytes == CUDA_L2_BYTES && info.memory_bytes == 1 << 30);
    CHECK(info.shared_bytes_per_block == 99 << 10 && info.clock_khz == CUDA_CLOCK_RATE);
    ts__cuda_close(cuda);
}

/* ---- through the launch path, on the process's own registry ------------------------------------------------------ */

static ts_status mock_compile(const ts_source *source, const ts_spec *spec, size_t n_spec,
                              const ts_hints *hints, ts_target target, const ts_alloc *alloc, ts_code *out,
                              ts_error *error)
{
    (void)source, (void)spec, (void)n_spec, (void)hints, (void)error;
    *out = ptx_of((ts_plan){.threads = 128, .n_params = 9, .param_bytes = {8, 4, 4, 8, 4, 4, 8, 4, 4}});
    out->alloc = alloc;
    out->bytes = alloc->resize(alloc->user, NULL, 0, 8);
    out->n_bytes = 8;
    memset(out->bytes, 0, 8);
    return target == TS_TARGET_SM90 ? TS_OK : TS_UNSUPPORTED;
}

static void kernels_launch_on_gpu_arrays_and_survive_a_reset(void)
{
    begin();
    ts_device *device;
    ts_kernel *kernel;
    ts_array *arrays[3];
    ts_arg args[3];
    ts_kernel_stats stats;
    ts_kernel_desc desc = {.name = "add", .source = {TS_SOURCE_CUSTOM, .compile = mock_compile}};
    CHECK_INT(ts_device_count(TS_DEVICE_CUDA), 2);
    CHECK_OK(ts_device_get(TS_DEVICE_CUDA, 1, &device, &err));
    CHECK_OK(ts_kernel_create(&desc, &kernel, &err));
    mock->n_values = 9;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            CHECK_OK(ts_array_zeros(device, NULL, TS_DTYPE_float32, 1, INTS(1000), &arrays[i], &err));
            ts_arg_of_array(arrays[i], &args[i]);
        }
        for (int i = 0; i < 3; i++)
            CHECK_OK(ts_launch(NULL, INTS(8, 1, 1), kernel, args, 3, 0, &err));
        CHECK(mock->values[3] == (uintptr_t)arrays[1]->data && (uint32_t)mock->values[4] == 1000);
        CHECK_OK(ts_device_reset(device, &err));
        CHECK_INT(ts_launch(NULL, INTS(8, 1, 1), kernel, args, 3, 0, &err), TS_BUFFER);
        for (int i = 0; i < 3; i++)
            ts_array_release(arrays[i]);
    }
    ts_kernel_get_stats(kernel, &stats);
    CHECK(stats.n_specialised == 2 && mock->n_launches == 6);
    CHECK_INT(ts_device_get(TS_DEVICE_CUDA, 2, &device, &err), TS_NODEVICE);
    ts_kernel_release(kernel);
}

/* ---- kernels of threads ----------------------------------------------------------------------------------------- */

static const char thread_text[] = "thread entry @k(%n: i32) num_warps=8 {\n"
                                  "  %s = shared_alloc bytes=1000 align=4 : ptr<i32, shared>\n"
                                  "  st n=1 %s, %n\n"
                                  "  return\n"
                                  "}\n";

/* The kernel of `text` on a fresh mock with 200 KiB of shared memory in a block. */
static ts_kernel *thread_kernel(const char *text, ts_device **device)
{
    ts_kernel *kernel = NULL;
    ts_kernel_desc desc = {.name = "k", .source = {TS_SOURCE_TEXT, .bytes = text, .n = strlen(text)}};
    begin();
    mock->block_shared = 200 << 10;
    CHECK_OK(ts_device_get(TS_DEVICE_CUDA, 0, device, &err));
    CHECK_OK(ts_kernel_create(&desc, &kernel, &err));
    return kernel;
}

static ts_status thread_launch(ts_kernel *kernel, ts_device *device, const ts_launch_config *config)
{
    ts_arg n = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int32, .value.bits = 7};
    return ts_launch_config_run(ts_device_default_stream(device), config, kernel, &n, 1, &err);
}

static void a_kernel_of_threads_gets_block_shared_memory_and_cluster(void)
{
    ts_device *device;
    ts_kernel *kernel = thread_kernel(thread_text, &device);
    mock->n_values = 1;
    ts_launch_config config = {.grid = {6, 4, 2}, .block = {16, 4, 2}, .shared_bytes = 100000, .cluster = {2, 2, 1}};
    CHECK_OK(thread_launch(kernel, device, &config));
    CHECK(strstr(mock->code, ".maxntid 256, 1, 1\n"));
    CHECK_INT(mock->attr[CUDA_FUNC_MAX_DYNAMIC_SHARED], 200 << 10);
    CHECK(mock->grid[0] == 6 && mock->grid[1] == 4 && mock->grid[2] == 2);
    CHECK(mock->block[0] == 16 && mock->block[1] == 4 && mock->block[2] == 2);
    CHECK_INT(mock->shared_bytes, 1000 + 100000); /* its own, and the dynamic */
    CHECK(mock->cluster_dims[0] == 2 && mock->cluster_dims[1] == 2 && mock->cluster_dims[2] == 1);
    CHECK(mock->values[0] == 7 && mock->pdl == 0);
    config = (ts_launch_config){.grid = {32, 1, 1}, .block = {32, 1, 1}, .cluster = {16, 1, 1}, .flags = TS_LAUNCH_PDL};
    uint64_t n_attr = mock->n_attr; /* asked for once, when the program is loaded */
    CHECK_INT(mock->attr[CUDA_FUNC_NON_PORTABLE_CLUSTER], 1);
    CHECK_OK(thread_launch(kernel, device, &config));
    CHECK(mock->cluster_dims[0] == 16 && mock->n_attr == n_attr && mock->shared_bytes == 1000);
    config = (ts_launch_config){.grid = {3, 1, 1}, .block = {256, 1, 1}};
    CHECK_OK(thread_launch(kernel, device, &config));
    CHECK(mock->cluster == 0 && mock->block[0] == 256 && mock->n_launches == 3);
    ts_kernel_release(kernel);
}

static const char grid_text[] = "thread entry @k(%n: i32) {\n"
                                "  grid_sync\n"
                                "  return\n"
                                "}\n";

/* What the kernel finds in the counter of its launch. */
static void read_counter(void **params, void *user)
{
    uint64_t *counter;
    memcpy(&counter, params[1], sizeof counter);
    *(uint64_t *)user = *counter;
}

static void blocks_that_meet_are_launched_together_with_a_counter(void)
{
    ts_device *device;
    ts_kernel *kernel = thread_kernel(grid_text, &device);
    uint64_t found = 1;
    mock->n_values = 1;
    mock->kernel = read_counter;
    mock->user = &found;
    ts_launch_config config = {.grid = {6, 1, 1}, .block = {64, 1, 1}, .flags = TS_LAUNCH_PDL};
    CHECK_OK(thread_launch(kernel, device, &config));
    CHECK(mock->cooperative == 1 && mock->pdl == 0 && mock->cluster == 0 && found == 0);
    memcpy(config.cluster, (uint32_t[3]){2, 1, 1}, sizeof config.cluster);
    found = 1;
    CHECK_OK(thread_launch(kernel, device, &config));
    CHECK(mock->cooperative == 1 && mock->cluster == 2 && found == 0);
    mock->kernel = NULL;
    ts_kernel_release(kernel);
}

static void impossible_launches_of_threads_are_refused(void)
{
    static const struct {
        ts_launch_config config;
        const char *words;
    } cases[] = {
        {{.grid = {1, 1, 1}}, "a block of (0, 0, 0) has none"},
        {{.grid = {1, 1, 1}, .block = {32, 0, 1}}, "a block of (32, 0, 1) has none"},
        {{.grid = {1, 1, 1}, .block = {1025, 1, 1}}, "a block has at most 1024 in all and 64 along z"},
        {{.grid = {1, 1, 1}, .block = {64, 32, 1}}, "a block of (64, 32, 1) threads"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 65}}, "64 along z"},
        {{.grid = {1, 1, 1}, .block = {65536, 65536, 1}}, "at most 1024"},
        {{.grid = {1, 1, 1}, .block = {257, 1, 1}}, "promises blocks of at most 256 threads (num_warps=8)"},
        {{.grid = {1, 1, 1}, .block = {129, 1, 1}}, "so many registers that a block has at most 128 threads"},
        {{.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 203801},
         "needs 204801 bytes of shared memory (1000 of its own and 203801 dynamic), a block of this GPU has 204800"},
        {{.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = UINT32_MAX}, "a block of this GPU has 204800"},
        {{.grid = {3, 2, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}},
         "(2, 1, 1) blocks do not divide the grid (3, 2, 1)"},
        {{.grid = {34, 1, 1}, .block = {32, 1, 1}, .cluster = {17, 1, 1}},
         "a cluster of (17, 1, 1) blocks; it has 1 to 16"},
        {{.grid = {8, 8, 1}, .block = {32, 1, 1}, .cluster = {2, 0, 1}}, "each axis at least 1"},
        {{.grid = {-1, 1, 1}, .block = {32, 1, 1}}, "grid (-1, 1, 1) is out of range"},
        {{.grid = {1, 65536, 1}, .block = {32, 1, 1}}, "y and z 1 to 65535"},
    };
    ts_device *device;
    ts_kernel *kernel = thread_kernel(thread_text, &device);
    mock->block_threads = 128; /* what the registers allow */
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        CHECK_INT(thread_launch(kernel, device, &cases[i].config), TS_VALUE);
        CHECK(strstr(err.text, cases[i].words) != NULL);
        if (!strstr(err.text, cases[i].words))
            fprintf(stderr, "%s\nlacks %s\n", err.text, cases[i].words);
    }
    ts_arg n = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int32, .value.bits = 7};
    CHECK_INT(ts_launch(ts_device_default_stream(device), INTS(1, 1, 1), kernel, &n, 1, 0, &err), TS_VALUE);
    CHECK(strstr(err.text, "give `block` of ts_launch_config"));
    CHECK_INT(mock->n_launches, 0);
    ts_kernel_release(kernel);
}

static void the_cpu_takes_blocks_but_no_clusters(void)
{
    ts_device *device;
    ts_kernel *kernel = thread_kernel(thread_text, &device);
    ts_launch_config config = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &device, &err));
    CHECK_OK(thread_launch(kernel, device, &config));
    config.cluster[0] = 2, config.cluster[1] = config.cluster[2] = 1;
    CHECK_INT(thread_launch(kernel, device, &config), TS_VALUE);
    CHECK(strstr(err.text, "clusters of blocks exist on GPUs, not on the CPU"));
    ts_kernel_release(kernel);
}

static void failing_allocations_leak_nothing(void)
{
    int64_t n = 1;
    for (bool ok = false; n < 100 && !ok; n++) {
        begin();
        counting count = {.fail_at = n};
        ts_alloc alloc = {counting_resize, &count};
        ts_cuda *cuda = NULL;
        ts_program *program = NULL;
        ts_stream *stream = NULL;
        ts_event *event = NULL;
        ts_array *array = NULL;
        ts_code code = ptx_of((ts_plan){.threads = 32});
        ts_status status = ts__cuda_open(NULL, &alloc, &cuda, &err);
        ts_device *device = cuda ? ts__cuda_device(cuda, 0) : NULL;
        status = status ? status : ts_program_load(device, &code, "k", "f", &program, &err);
        status = status ? status : ts_stream_create(device, &stream, &err);
        status = status ? status : ts_event_create(device, &event, &err);
        status = status ? status : ts_array_zeros(device, stream, TS_DTYPE_int8, 1, INTS(5), &array, &err);
        ts_array_release(array);
        ts_event_destroy(event);
        ts_stream_destroy(stream);
        ts_program_destroy(program);
        ts__cuda_close(cuda);
        CHECK(status == TS_OK || status == TS_NOMEM);
        CHECK(count.bytes_out == 0 && mock->bytes_out == 0 && mock->n_streams == 0 && mock->n_events == 0);
        ok = status == TS_OK;
    }
    CHECK(n > 8 && n < 100);
}

/* ---- notices ----------------------------------------------------------------------------------------------- */

typedef struct counted {
    ts_notice base;
    int n;
} counted;

static void count_call(ts_notice *notice)
{
    ((counted *)notice)->n++;
}

static void call_back(cuda_result code)
{
    void (*function)(cuda_result);
    void *address = dlsym(dlopen(getenv("TESSERA_CUDA_DRIVER"), RTLD_NOW), "mock_call_back");
    memcpy(&function, &address, sizeof function);
    *hold = 0;
    function(code);
}

static void notices_come_when_the_driver_calls(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_event *event;
    counted a = {{count_call}, 0}, b = a;
    bool taken;
    CHECK_OK(ts_event_create(device, &event, &err));
    *hold = 1;
    CHECK_OK(ts_stream_notify(ts_device_default_stream(device), &a.base, &err));
    CHECK_OK(ts_event_notify(event, &b.base, &taken, &err));
    CHECK(taken && a.n == 0 && b.n == 0);
    call_back(CUDA_OK);
    CHECK(a.n == 1 && b.n == 1);
    CHECK_OK(ts_stream_fault(ts_device_default_stream(device), a.base.mark, &err));
    ts_event_destroy(event);
    ts__cuda_close(cuda);
}

enum { WAITERS = 32 }; /* cuda.h, documented at ts_event_notify */

static void notices_of_events_use_a_stream_each_and_only_so_many(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_event *event;
    counted notices[WAITERS + 1];
    bool taken;
    CHECK_OK(ts_event_create(device, &event, &err));
    for (int round = 0; round < 2; round++) { /* the second uses the streams of the first */
        *hold = 1;
        for (int i = 0; i <= WAITERS; i++) {
            notices[i] = (counted){{count_call}, 0};
            CHECK_OK(ts_event_notify(event, &notices[i].base, &taken, &err));
            CHECK(taken == (i < WAITERS));
        }
        CHECK_INT(mock->n_streams, WAITERS);
        call_back(CUDA_OK);
        CHECK(notices[0].n == 1 && notices[WAITERS].n == 0);
    }
    ts_event_destroy(event);
    ts__cuda_close(cuda);
    CHECK_INT(mock->n_streams, 0);
}

static void a_failed_context_calls_its_notices_and_tells_the_fault(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_stream *stream = ts_device_default_stream(device);
    counted a = {{count_call}, 0};
    *hold = 1;
    CHECK_OK(ts_stream_notify(stream, &a.base, &err));
    mock->sticky = 700;
    call_back(700);
    CHECK_INT(a.n, 1);
    CHECK_INT(ts_stream_fault(stream, a.base.mark, &err), TS_LAUNCH);
    CHECK(strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS") != NULL);
    mock->sticky = 0;
    ts__cuda_close(cuda);
}

static void a_reset_calls_the_notices_that_are_left_once(void)
{
    counting heap = {0};
    ts_alloc alloc = {counting_resize, &heap};
    begin();
    ts_cuda *cuda = open_driver(&alloc);
    ts_device *device = ts__cuda_device(cuda, 0);
    ts_event *event;
    counted a = {{count_call}, 0}, b = a;
    bool taken;
    CHECK_OK(ts_event_create(device, &event, &err));
    *hold = 1;
    CHECK_OK(ts_stream_notify(ts_device_default_stream(device), &a.base, &err));
    CHECK_OK(ts_event_notify(event, &b.base, &taken, &err));
    CHECK_OK(ts_device_reset(device, &err));
    CHECK(a.n == 1 && b.n == 1);
    call_back(CUDA_OK); /* late */
    CHECK(a.n == 1 && b.n == 1);
    ts_event_destroy(event);
    CHECK_OK(ts_event_create(device, &event, &err));
    CHECK_OK(ts_event_notify(event, &b.base, &taken, &err));
    CHECK(taken && b.n == 2);
    ts_event_destroy(event);
    ts__cuda_close(cuda);
    CHECK_INT(heap.bytes_out, 0);
}

static void a_notice_tells_faults_of_before_and_leaves_those_of_after(void)
{
    ts_cuda *cuda;
    ts_device *device = begin_on(&cuda, 0);
    ts_stream *stream = ts_device_default_stream(device);
    ts_program *program = load(device, (ts_plan){.threads = 32, .error_param = 1});
    counted a = {{count_call}, 0};
    *hold = 1;
    CHECK_OK(ts_stream_notify(stream, &a.base, &err));
    mock->kernel = write_fault;
    CHECK_OK(ts_program_launch(program, stream, (uint32_t[3]){1, 1, 1}, NULL, 0, &err));
    CHECK_OK(ts_stream_fault(stream, a.base.mark, &err));
    call_back(CUDA_OK);
    CHECK_INT(ts_stream_fault(stream, UINT64_MAX, &err), TS_LAUNCH);
    ts_program_destroy(program);
    ts__cuda_close(cuda);
}

static void graphs_are_those_of_the_driver(void)
{
    begin();
    ts_cuda *cuda = open_driver(NULL);
    ts_device *device = ts__cuda_device(cuda, 0);
    ts_stream *stream = ts_device_default_stream(device);
    ts_piece *first;
    ts_script *script;
    CHECK_INT(ts_record_begin(stream, NULL), TS_UNSUPPORTED);
    CHECK_INT(ts_record_end(stream, &first, NULL), TS_UNSUPPORTED);
    CHECK(!ts_record_active(stream) && !first);
    CHECK_INT(ts_script_create(device, NULL, 0, NULL, NULL, &script, NULL), TS_UNSUPPORTED);
    CHECK(!script && ts_device_caps_of(device) == TS_DEVICE_NATIVE);
    ts__cuda_close(cuda);
}

int main(void)
{
    const char *path = getenv("TESSERA_CUDA_DRIVER");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, "mock_state_data") : NULL;
    if (!symbol) {
        printf("TESSERA_CUDA_DRIVER must name libcuda_mock.so\n");
        return 1;
    }
    mock = symbol;
    hold = dlsym(library, "mock_hold");
    a_launch_passes_grid_threads_shared_memory_and_params();
    clusters_pdl_and_foreign_streams_reach_the_driver();
    persistent_kernels_get_their_grid_as_parameters();
    tensor_maps_are_encoded_from_the_parameters();
    tensor_maps_are_encoded_anew_only_when_something_changed();
    tensor_maps_of_empty_and_thin_arrays_are_legal();
    loads_do_not_end_what_a_stream_records();
    assembler_messages_become_the_error();
    old_drivers_load_modules_and_launch_plainly();
    fault_records_are_read_at_the_wait();
    an_unheard_fault_is_told_without_a_wait();
    sticky_faults_are_told_once_and_end_with_a_reset();
    a_driver_that_keeps_the_fault_is_told_of_plainly();
    memory_is_reused_within_a_stream_only();
    a_full_device_is_trimmed_before_it_fails();
    a_full_device_is_trimmed_before_a_kernel_is_refused();
    arrays_copy_fill_and_come_back();
    short_waits_ask_without_pause();
    bounded_waits_end_in_time();
    contexts_of_other_libraries_stay_current();
    missing_drivers_and_gpus_are_explained();
    children_of_fork_are_told();
    queries_fill_everything();
    graphs_are_those_of_the_driver();
    kernels_launch_on_gpu_arrays_and_survive_a_reset();
    a_kernel_of_threads_gets_block_shared_memory_and_cluster();
    blocks_that_meet_are_launched_together_with_a_counter();
    impossible_launches_of_threads_are_refused();
    the_cpu_takes_blocks_but_no_clusters();
    failing_allocations_leak_nothing();
    notices_come_when_the_driver_calls();
    notices_of_events_use_a_stream_each_and_only_so_many();
    a_failed_context_calls_its_notices_and_tells_the_fault();
    a_reset_calls_the_notices_that_are_left_once();
    a_notice_tells_faults_of_before_and_leaves_those_of_after();
    return check_done();
}
