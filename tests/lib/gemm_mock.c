/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products on the mock driver: which launches a plan becomes, and that their memory is given back. Needs
 * TESSERA_CUDA_DRIVER=libcuda_mock.so.
 */
#include "../check.h"
#include "../mock/mock.h"
#include "base/base.h"
#include "tessera/array.h"
#include "tessera/lib.h"
#include <dlfcn.h>

static ts_error err;
static mock_state *mock;
static ts_device *device;

enum { LAUNCHES = 8 };
static unsigned grids[LAUNCHES][2];
static unsigned n_grids;

static void note_launch(void **params, void *user)
{
    (void)params, (void)user;
    if (n_grids < LAUNCHES)
        grids[n_grids][0] = mock->grid[0], grids[n_grids][1] = mock->grid[1];
    n_grids++;
}

static ts_arg lay(ts_dtype dtype, int64_t *shape, int64_t rows, int64_t cols)
{
    shape[0] = rows, shape[1] = cols;
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = 2, .device = ts_device_id(device),
                  .shape = shape};
    CHECK_OK(ts_mem_alloc(device, NULL, (uint64_t)(rows * cols) * ts_dtype_bytes(dtype), &arg.value.data, &err));
    return arg;
}

/* The launches have these blocks along x and y on the mock's 10 multiprocessors; again, by the plan that was kept. */
static void runs(ts_dtype dtype, int64_t m, int64_t n, int64_t k, unsigned n_launches, const unsigned wanted[][2])
{
    int64_t shape[3][2];
    ts_device_info before, after;
    ts_arg a = lay(dtype, shape[0], m, k), b = lay(dtype, shape[1], k, n), c = lay(TS_DTYPE_float32, shape[2], m, n);
    CHECK_OK(ts_device_query(device, &before, &err));
    for (int again = 0; again < 2; again++) {
        n_grids = 0;
        CHECK_OK(ts_gemm(NULL, &a, &b, &c, 0, &err));
        CHECK_INT(n_grids, n_launches);
        for (unsigned i = 0; i < n_launches && i < n_grids; i++)
            CHECK(grids[i][0] == wanted[i][0] && grids[i][1] == wanted[i][1]);
    }
    CHECK_OK(ts_device_query(device, &after, &err));
    CHECK_INT(after.pool_used_bytes, before.pool_used_bytes);
}

static void plans_become_launches(void)
{
    runs(TS_DTYPE_float16, 4096, 4096, 4096, 1, (const unsigned[][2]){{10, 1}});
    runs(TS_DTYPE_float32, 128, 128, 4096, 2, (const unsigned[][2]){{1, 20}, {8, 1}}); /* pieces, and their sum */
    runs(TS_DTYPE_int8, 512, 512, 500, 2, (const unsigned[][2]){{128, 1}, {10, 1}});  /* copies of a and b before */
}

static void nothing_is_launched_on_another_device(void)
{
    int64_t shape[3][2];
    ts_arg a = lay(TS_DTYPE_float16, shape[0], 16, 16), b = lay(TS_DTYPE_float16, shape[1], 16, 16);
    ts_arg c = lay(TS_DTYPE_float32, shape[2], 16, 16);
    n_grids = 0;
    a.device = TS_DEVICE_ID(TS_DEVICE_CPU, 0);
    CHECK_INT(ts_gemm(NULL, &a, &b, &c, 0, &err), TS_VALUE);
    CHECK_INT(n_grids, 0);
}

static void memory_that_runs_out_is_an_error(void)
{
    int64_t shape[3][2];
    ts_arg a = lay(TS_DTYPE_int8, shape[0], 800, 500), b = lay(TS_DTYPE_int8, shape[1], 500, 800);
    ts_arg c = lay(TS_DTYPE_float32, shape[2], 800, 800);
    n_grids = 0;
    ts_device_trim(device);
    mock->alloc_failures = 1000;
    ts_status status = ts_gemm(NULL, &a, &b, &c, 0, &err);
    mock->alloc_failures = 0;
    CHECK_INT(status, TS_NOMEM);
    CHECK_INT(n_grids, 0);
    CHECK_OK(ts_gemm(NULL, &a, &b, &c, 0, &err));
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
    plans_become_launches();
    nothing_is_launched_on_another_device();
    memory_that_runs_out_is_an_error();
    return check_done();
}
