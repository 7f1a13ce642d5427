/* SPDX-License-Identifier: Apache-2.0
 *
 * Readings of some stations, sorted by station and by value, and which of two lists of stations have been heard of:
 *
 *     readings    those of one station after the other; `first` and `end` say where each station's are
 *     ranked      the same, each station's in order
 *     heard       the stations of two sorted lists, each once
 *
 *     cc examples/c/parts.c -Iinclude -Lbuild-test -ltessera && ./a.out
 */
#include "example.h"

enum { STATIONS = 4, READINGS = 10 };

static const float readings[READINGS] = {3, 1, 2, 9, 8, 8, 5, 7, 4, 6};
static const int32_t first[STATIONS] = {0, 3, 3, 8}, end[STATIONS] = {3, 3, 8, 10};
static const float wanted[READINGS] = {1, 2, 3, 5, 7, 8, 8, 9, 4, 6};
static const int32_t north[] = {10, 20, 20, 40}, south[] = {20, 30, 50}, both[] = {10, 20, 20, 30, 40, 50};
static const int64_t n = READINGS, stations = STATIONS, n_north = 4, n_south = 3, room = 7, one = 1;

static ts_arg vector(ts_device *device, ts_dtype dtype, const void *host, const int64_t *length)
{
    return array_of(device, dtype, 1, upload(device, host, (size_t)*length * ts_dtype_bytes(dtype)), length, NULL);
}

static int run_on(ts_device *device, bool computes, uint64_t *n_from_disk)
{
    float ranked[READINGS] = {0};
    int32_t heard[7] = {0}, count = 0;
    const ts_stream *stream = ts_device_default_stream(device);
    ts_arg keys[2] = {vector(device, TS_DTYPE_float32, readings, &n), vector(device, TS_DTYPE_float32, ranked, &n)};
    ts_arg parts[2] = {vector(device, TS_DTYPE_int32, first, &stations),
                       vector(device, TS_DTYPE_int32, end, &stations)};
    ts_arg lists[3] = {vector(device, TS_DTYPE_int32, north, &n_north), vector(device, TS_DTYPE_int32, south, &n_south),
                       vector(device, TS_DTYPE_int32, heard, &room)};
    ts_arg number = vector(device, TS_DTYPE_int32, &count, &one);
    int wrong = 0;
    (void)n_from_disk;
    check(ts_segmented_sort(stream, keys, NULL, parts, NULL, &err), "sort of parts");
    check(ts_set(stream, TS_SET_union, lists, NULL, &number, NULL, &err), "union");
    const struct {
        void *host;
        const ts_arg *array;
        size_t bytes;
    } results[] = {{ranked, &keys[1], sizeof ranked}, {heard, &lists[2], sizeof heard},
                   {&count, &number, sizeof count}};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        check(ts_mem_copy(stream, results[i].host, TS_MEM_HOST, results[i].array->value.data, TS_MEM_DEVICE,
                          results[i].bytes, &err), "copy");
    check(ts_stream_sync(stream, TS_FOREVER, &err), "wait");
    for (int i = 0; computes && i < READINGS; i++)
        wrong += ranked[i] != wanted[i];
    for (int i = 0; computes && i < 6; i++)
        wrong += count != 6 || heard[i] != both[i];
    printf("  %d stations heard of; the least reading of the first: %g\n", (int)count, (double)ranked[0]);
    const ts_arg *const arrays[] = {&keys[0], &keys[1], &parts[0], &parts[1], &lists[0], &lists[1], &lists[2], &number};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ts_mem_free(device, stream, arrays[i]->value.data,
                    (uint64_t)arrays[i]->shape[0] * ts_dtype_bytes((ts_dtype)arrays[i]->dtype));
    return wrong;
}

int main(int argc, char **argv)
{
    example e = {0};
    example_on(&e, TS_DEVICE_CPU, 0, run_on);
    example_on(&e, TS_DEVICE_CUDA, 0, run_on);
    return example_end(&e, argc, argv);
}
