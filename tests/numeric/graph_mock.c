/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of arrays as a GPU gets them: the mock driver takes each one, after the compiler has made code of it. Nothing
 * is computed.
 */
#include "check.h"
#include "tessera/numeric.h"

static ts_error err;

static ts_nd *array_of(ts_nd_graph *graph, ts_dtype dtype, int64_t rows, int64_t columns)
{
    ts_nd *a;
    CHECK_OK(ts_nd_empty(graph, dtype, 2, (int64_t[]){rows, columns}, false, &a, &err));
    return a;
}

static void every_function_becomes_code(ts_nd_graph *graph)
{
    static const ts_dtype dtypes[] = {TS_DTYPE_bool_, TS_DTYPE_int32, TS_DTYPE_uint8, TS_DTYPE_float32,
                                      TS_DTYPE_complex64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        ts_nd *a = array_of(graph, dtypes[d], 20, 30), *result;
        for (int fn = 0; fn < TS_ND_COUNT; fn++) {
            if (fn == TS_ND_gather || fn == TS_ND_power || fn == TS_ND_float_power)
                continue; /* gather has a test of its own; powers look at their operands, which nobody computed */
            ts_nd_call call = {.fn = (ts_nd_fn)fn, .in = {{.array = a}, {.array = a}, {.array = a}}};
            ts_status status = ts_nd_run(graph, &call, &result, &err);
            CHECK(status == TS_OK || status == TS_TYPE);
            if (status == TS_OK)
                ts_nd_release(result);
        }
        ts_nd_release(a);
    }
}

static void folds_and_places_become_code(ts_nd_graph *graph)
{
    ts_nd *a = array_of(graph, TS_DTYPE_float32, 3000, 200), *result;
    for (int fold = 0; fold < TS_ND_FOLDS; fold++)
        for (uint64_t axes = 1; axes <= 3; axes++) {
            ts_nd_reduction reduction = {.fold = (ts_nd_fold)fold, .x = a, .axes = axes};
            if ((fold == TS_ND_ARGMAX || fold == TS_ND_ARGMIN) && axes == 3)
                continue;
            CHECK_OK(ts_nd_reduce(graph, &reduction, &result, &err));
            ts_nd_release(result);
            if (fold >= TS_ND_ARGMAX || axes == 3)
                continue;
            CHECK_OK(ts_nd_accumulate(graph, &reduction, &result, &err));
            ts_nd_release(result);
        }
    ts_nd *places = array_of(graph, TS_DTYPE_int64, 5, 6);
    CHECK_OK(ts_nd_gather(a, places, &result, &err));
    for (uint32_t flags = 0; flags <= TS_ND_UNIQUE; flags++)
        CHECK_OK(ts_nd_scatter(a, places, result, flags, &err));
    ts_nd_release(result), ts_nd_release(places), ts_nd_release(a);
}

int main(void)
{
    ts_device *device;
    ts_nd_graph *graph;
    CHECK_OK(ts_device_get(TS_DEVICE_CUDA, 0, &device, &err));
    CHECK_OK(ts_nd_graph_create(device, &graph, &err));
    every_function_becomes_code(graph);
    ts_nd_graph_wants(graph, TS_ND_DIVIDE | TS_ND_INVALID);
    every_function_becomes_code(graph);
    folds_and_places_become_code(graph);
    ts_nd_graph_destroy(graph);
    return check_done();
}
