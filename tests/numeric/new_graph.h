/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph of the CPU device, and the memory of an array of it.
 */
#ifndef TS_TESTS_NUMERIC_NEW_GRAPH_H
#define TS_TESTS_NUMERIC_NEW_GRAPH_H

#include "check.h"
#include "numeric/numeric.h"

static ts_error err;

static inline ts_nd_graph *graph_new(void)
{
    ts_device *device;
    ts_nd_graph *graph;
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &device, &err));
    CHECK_OK(ts_nd_graph_create(device, &graph, &err));
    return graph;
}

static inline void *memory_of(ts_nd *a)
{
    void *data;
    CHECK_OK(ts_nd_memory(a, false, &data, NULL, &err));
    return data;
}

#endif
