/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of a kernel (TS_PLANS) on the mock driver: the next one is taken where the driver cannot assemble the code or
 * cannot overlap its products. Needs TESSERA_CUDA_DRIVER=libcuda_mock.so.
 */
#include "../check.h"
#include "../mock/mock.h"
#include "base/base.h"
#include "tessera/launch.h"
#include <dlfcn.h>
#include <stdio.h>

static ts_error err;
static mock_state *mock;
static ts_device *device;

/* Code that says of which plan it is; of all the same with `user`. */
static ts_status compile_plan(const ts_source *source, const ts_spec *spec, size_t n_spec, const ts_hints *hints,
                              ts_target target, const ts_alloc *alloc, ts_code *out, ts_error *e)
{
    (void)spec, (void)n_spec, (void)e;
    char text[32];
    int n = snprintf(text, sizeof text, "// plan %d", source->user ? 0 : hints->plan) + 1;
    *out = (ts_code){.alloc = alloc, .n_bytes = (size_t)n, .plan = {.target = (uint32_t)target, .threads = 32}};
    out->plan.n_params = 3; /* pointer, extent, stride */
    out->plan.param_bytes[0] = 8, out->plan.param_bytes[1] = out->plan.param_bytes[2] = 4;
    strcpy(out->plan.name, "k");
    out->bytes = alloc->resize(alloc->user, NULL, 0, out->n_bytes);
    memcpy(out->bytes, text, out->n_bytes);
    return TS_OK;
}

typedef struct outcome {
    ts_status status;
    unsigned tried;
    uint64_t serialised;
} outcome;

/* Loads a kernel of which so many plans do not assemble and so many after them are serialised. `compiler`: as of a
 * ts_source; with one, code is cached. */
static outcome load_by(const char *compiler, int bad, int serial, void *user)
{
    ts_kernel *kernel;
    ts_kernel_stats stats;
    ts_kernel_desc desc = {.name = "k", .source = {.kind = TS_SOURCE_CUSTOM, .bytes = "k", .n = 1,
                                                   .compile = compile_plan, .user = user, .compiler = compiler}};
    int64_t shape[1] = {4};
    ts_arg arg = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_float32, .rank = 1, .device = ts_device_id(device),
                  .shape = shape};
    const ts_plan *plan;
    CHECK_OK(ts_mem_alloc(device, NULL, 16, &arg.value.data, &err));
    CHECK_OK(ts_kernel_create(&desc, &kernel, &err));
    unsigned before = mock->n_tried;
    mock->bad_loads = bad, mock->serial_loads = serial;
    outcome found = {.status = ts_kernel_prepare(NULL, kernel, &arg, 1, &plan, &err), .tried = mock->n_tried - before};
    mock->bad_loads = mock->serial_loads = 0;
    ts_kernel_get_stats(kernel, &stats);
    found.serialised = stats.n_serialised;
    ts_kernel_release(kernel);
    return found;
}

static outcome load(int bad, int serial, void *user)
{
    return load_by(NULL, bad, serial, user);
}

/* What is loaded last is the plan that runs. */
static void check(int bad, int serial, unsigned tried, const char *code, uint64_t serialised)
{
    outcome found = load(bad, serial, NULL);
    CHECK_INT(found.status, TS_OK);
    CHECK_INT(found.tried, tried);
    CHECK_STR(mock->code, code);
    CHECK_INT(found.serialised, serialised);
}

static void the_next_plan_is_taken(void)
{
    check(0, 0, 1, "// plan 0", 0);
    check(1, 0, 2, "// plan 1", 0);
    check(2, 0, 3, "// plan 2", 0);
    check(0, 1, 2, "// plan 1", 0);
    check(1, 1, 2, "// plan 1", 1); /* the last plan does not overlap at all: it would be no better */
    unsigned unloaded = mock->n_unload;
    check(0, 2, 2, "// plan 1", 1); /* neither is good: the first stays, the other one goes */
    CHECK_INT(mock->n_unload, unloaded + 2);
}

static void the_first_error_is_told(void)
{
    outcome found = load(3, 0, NULL);
    CHECK_INT(found.status, TS_DEVICE);
    CHECK_INT(found.tried, 3);
    CHECK(strstr(err.text, "Insufficient registers"));
}

static void the_same_code_is_not_tried_again(void)
{
    outcome found = load(1, 0, &found);
    CHECK_INT(found.status, TS_DEVICE);
    CHECK_INT(found.tried, 1);
    CHECK(strstr(err.text, "Insufficient registers"));
    found = load(0, 1, &found);
    CHECK_INT(found.status, TS_OK);
    CHECK_INT(found.tried, 1);
    CHECK_INT(found.serialised, 1);
}

/* The plan that was taken is cached in the place of the first. */
static void the_next_kernel_begins_with_the_plan_that_was_taken(void)
{
    CHECK_INT(load_by("one 1", 2, 0, NULL).tried, 3);
    CHECK_INT(load_by("one 1", 0, 0, NULL).tried, 1);
    CHECK_STR(mock->code, "// plan 2");
    CHECK_INT(load_by("two 1", 0, 1, NULL).tried, 2);
    CHECK_INT(load_by("two 1", 0, 0, NULL).tried, 1);
    CHECK_STR(mock->code, "// plan 1");
    CHECK_INT(load_by("three 1", 0, 2, NULL).tried, 2); /* the first stays */
    CHECK_INT(load_by("three 1", 0, 0, NULL).tried, 1);
    CHECK_STR(mock->code, "// plan 0");
}

int main(void)
{
    char dir[256], command[300];
    snprintf(dir, sizeof dir, "%s/tessera-plans-XXXXXX", check_tmp());
    CHECK(mkdtemp(dir) != NULL);
    CHECK_INT(setenv("TESSERA_CACHE_DIR", dir, 1), 0);
    void *driver = dlopen(getenv("TESSERA_CUDA_DRIVER"), RTLD_NOW);
    mock = driver ? dlsym(driver, "mock_state_data") : NULL;
    CHECK(mock != NULL);
    if (!mock)
        return check_done();
    CHECK_OK(ts_device_get(TS_DEVICE_CUDA, 0, &device, &err));
    the_next_plan_is_taken();
    the_first_error_is_told();
    the_same_code_is_not_tried_again();
    the_next_kernel_begins_with_the_plan_that_was_taken();
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK_INT(system(command), 0);
    return check_done();
}
