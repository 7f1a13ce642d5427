/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms on the mock driver: which launches calls become, that kernels of a GPU are compiled for one, and that
 * temporary memory is given back. Needs TESSERA_CUDA_DRIVER=libcuda_mock.so.
 */
#include "../check.h"
#include "../mock/mock.h"
#include "base/base.h"
#include "tessera/array.h"
#include "tessera/compute.h"
#include <dlfcn.h>

static ts_error err;
static mock_state *mock;
static ts_device *device;

enum { LAUNCHES = 16 };
static unsigned grids[LAUNCHES];
static unsigned n_grids;

static void note_launch(void **params, void *user)
{
    (void)params, (void)user;
    if (n_grids < LAUNCHES)
        grids[n_grids] = mock->grid[0];
    n_grids++;
}

static ts_arg lay(ts_dtype dtype, int64_t *n)
{
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = 1, .device = ts_device_id(device),
                  .shape = n};
    CHECK_OK(ts_mem_alloc(device, NULL, (uint64_t)*n * ts_dtype_bytes(dtype), &arg.value.data, &err));
    return arg;
}

static void launched(unsigned n, const unsigned *wanted)
{
    CHECK_INT(n_grids, n);
    for (unsigned i = 0; i < n && i < n_grids; i++)
        CHECK_INT(grids[i], wanted[i]);
    n_grids = 0;
}

static void calls_become_launches(void)
{
    int64_t n = 1000000, few = 5000, one = 1, eight = 8, levels = 9;
    ts_device_info before, after;
    ts_arg x = lay(TS_DTYPE_float32, &n), y = lay(TS_DTYPE_float32, &n), count = lay(TS_DTYPE_uint32, &one);
    ts_arg places = lay(TS_DTYPE_int64, &n), z = lay(TS_DTYPE_float32, &n), bins = lay(TS_DTYPE_int32, &eight);
    ts_arg nine = lay(TS_DTYPE_float32, &levels);
    ts_compute_options counted = {.count = &count};
    CHECK_OK(ts_device_query(device, &before, &err));
    for (int again = 0; again < 2; again++) {
        n_grids = 0;
        CHECK_OK(ts_reduce(NULL, &x, &y, TS_COMBINE_max, &counted, &err));
        launched(1, (const unsigned[]){123}); /* a block for each 8,192 items */
        CHECK_OK(ts_scan(NULL, &x, &y, TS_COMBINE_add, NULL, &err));
        launched(1, (const unsigned[]){123});
        CHECK_OK(ts_sort(NULL, (const ts_arg[]){x, y}, NULL, NULL, &err));
        launched(5, (const unsigned[]){489, 245, 245, 245, 245}); /* digits are counted, then four sweeps */
    }
    CHECK_OK(ts_select_flagged(NULL, &x, &x, (const ts_arg[]){y, count}, NULL, &err));
    CHECK_OK(ts_unique(NULL, &x, (const ts_arg[]){y, count}, &counted, &err));
    launched(2, (const unsigned[]){123, 123});
    CHECK_OK(ts_search(NULL, &x, &x, &places, NULL, &err));
    launched(1, (const unsigned[]){3907});
    CHECK_OK(ts_partition_flagged(NULL, &x, &x, (const ts_arg[]){y, z, count}, NULL, &err));
    launched(1, (const unsigned[]){123});
    ts_compute_options own = {.own = "both func @same(%a: f32) : f32 {\n  return %a\n}"};
    CHECK_OK(ts_transform(NULL, &x, 1, &y, &own, &err));
    launched(1, (const unsigned[]){489}); /* 8 items of a thread */
    CHECK_OK(ts_histogram_range(NULL, &x, &nine, &bins, NULL, &err));
    launched(1, (const unsigned[]){245}); /* 16 of a thread, in one round */
    x.shape = &few;
    CHECK_OK(ts_merge(NULL, (const ts_arg[]){x, x}, &y, NULL, &err));
    launched(1, (const unsigned[]){6}); /* 7 of a thread */
    for (int64_t half = (1 << 18) - 1; half <= 1 << 18; half++) { /* of 2^19 items and more 13 */
        x.shape = &half;
        CHECK_OK(ts_merge(NULL, (const ts_arg[]){x, x}, &y, NULL, &err));
        launched(1, (const unsigned[]){half < 1 << 18 ? 293 : 158});
    }
    x.shape = &few;
    y.shape = &few;
    CHECK_OK(ts_sort(NULL, (const ts_arg[]){x, y}, NULL, NULL, &err));
    launched(1, (const unsigned[]){1});
    CHECK_OK(ts_device_query(device, &after, &err));
    CHECK_INT(after.pool_used_bytes, before.pool_used_bytes);
}

static void arrays_of_two_devices_are_refused(void)
{
    static float host[1];
    int64_t one = 1;
    ts_arg x = lay(TS_DTYPE_float32, &one);
    ts_arg y = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 1, .shape = &one, .value.data = host,
                .device = TS_DEVICE_ID(TS_DEVICE_CPU, 0)};
    CHECK_INT(ts_reduce(NULL, &x, &y, TS_COMBINE_add, NULL, &err), TS_VALUE);
    CHECK(strstr(err.text, "result is on another device") != NULL);
}

int main(void)
{
    void *driver = dlopen(getenv("TESSERA_CUDA_DRIVER"), RTLD_NOW);
    mock = driver ? dlsym(driver, "mock_state_data") : NULL;
    CHECK(mock != NULL);
    if (!mock)
        return check_done();
    mock->kernel = note_launch;
    CHECK_OK(ts_device_get(TS_DEVICE_CUDA, 0, &device, &err));
    calls_become_launches();
    arrays_of_two_devices_are_refused();
    return check_done();
}
