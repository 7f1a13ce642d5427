/* SPDX-License-Identifier: Apache-2.0
 *
 * Between devices: arrays as copies on another one, single elements to host memory, and the check that all arrays of
 * a call lie on one device.
 */
#include "numeric/numeric.h"
#include <stdio.h>

bool ts__nd_is_host(const ts_nd_graph *graph)
{
    return ts_device_caps_of(graph->device) & TS_DEVICE_HOST_MEMORY;
}

void ts__nd_device_name(const ts_nd_graph *graph, ts_nd_name *out)
{
    graph = graph->far ? graph->far : graph;
    uint16_t id = ts_device_id(graph->device);
    if (ts__nd_is_host(graph))
        (void)snprintf(out->text, sizeof out->text, "cpu");
    else
        (void)snprintf(out->text, sizeof out->text, "cuda:%d", id & 255);
}

ts_status ts__nd_same_device(const ts_nd_graph *graph, const ts_nd *a, const char *function, ts_error *err)
{
    ts_nd_name here, there;
    if (!a || a->graph == graph)
        return TS_OK;
    ts__nd_device_name(graph, &here);
    ts__nd_device_name(a->graph, &there);
    return ts_fail(err, TS_VALUE, "%s: its arrays lie on different devices, %s and %s; move one with to_device('%s')",
                   function, here.text, there.text, here.text);
}

/* The copy of an array that is all of its storage. */
static ts_status move_whole(ts_nd *a, ts_nd_graph *graph, ts_nd **out, ts_error *err)
{
    void *data;
    ts_buffer *buffer;
    ts_array *from = NULL, *to = NULL;
    TS_TRY(ts_nd_empty(graph, (ts_dtype)a->dtype, a->rank, ts_nd_shape(a), false, out, err));
    memcpy((*out)->dims + a->rank, ts_nd_strides(a), a->rank * sizeof *a->dims);
    ts_status status = ts__nd_memory(a, TS_ND_CAUSE_move, false, &data, &buffer, err);
    if (status == TS_OK && a->count)
        status = ts_array_of(buffer, 0, (ts_dtype)a->dtype, 1, &a->count, NULL, &from, err);
    if (status == TS_OK && a->count)
        status = ts_array_copy(from, graph->device, NULL, &to, err);
    if (to) {
        (*out)->store->buffer = to->buffer;
        ts_buffer_retain(to->buffer);
    }
    ts_array_release(from);
    ts_array_release(to);
    if (status != TS_OK) {
        ts_nd_release(*out);
        *out = NULL;
    }
    return status;
}

ts_status ts_nd_to(ts_nd *a, ts_nd_graph *graph, ts_nd **out, ts_error *err)
{
    ts_nd_call copy = {.fn = TS_ND_copy, .in = {{.array = a}}};
    ts_nd *dense = a;
    TS_NEED(err, out);
    *out = NULL;
    TS_NEED(err, a, graph);
    if (!a->dtype)
        return ts__nd_items_to(a, graph, out, err);
    if (ts__nd_is_whole(a))
        ts_nd_retain(dense);
    else
        TS_TRY(ts_nd_run(a->graph, &copy, &dense, err));
    nd_event event = nd_event_begin(a->graph);
    ts_status status = move_whole(dense, graph, out, err);
    ts_nd_event_kind kind = ts__nd_is_host(graph) ? TS_ND_EVENT_to_host : TS_ND_EVENT_to_device;
    nd_event_end(a->graph, &event, a->graph == graph ? TS_ND_EVENT_NONE : kind, NULL, nd_size_of(a));
    ts_nd_release(dense);
    if (status == TS_OK)
        nd_means(*out, a);
    return status;
}

static ts_status move_read(ts_nd *a, int64_t offset, void *out, ts_error *err)
{
    void *data;
    ts_buffer *buffer;
    ts_array *array;
    TS_TRY(ts__nd_memory(a, TS_ND_CAUSE_read, false, &data, &buffer, err));
    if (ts__nd_is_host(a->graph)) {
        memcpy(out, (char *)data + offset, a->item);
        return TS_OK;
    }
    int64_t bytes = a->item;
    uint64_t place = (uint64_t)((char *)data + offset - (char *)ts_buffer_data(buffer));
    TS_TRY(ts_array_of(buffer, place, TS_DTYPE_uint8, 1, &bytes, NULL, &array, err));
    ts_status status = ts_array_to_host(array, NULL, out, NULL, err);
    ts_array_release(array);
    return status;
}

ts_status ts__nd_read(ts_nd *a, int64_t offset, ts_nd_event_kind kind, const char *name, void *out, ts_error *err)
{
    nd_event event = nd_event_begin(a->graph);
    ts_status status = move_read(a, offset, out, err);
    nd_event_end(a->graph, &event, kind, name, ts_dtype_bytes((ts_dtype)a->dtype));
    return status;
}

ts_status ts_nd_read(ts_nd *a, int64_t offset, void *out, ts_error *err)
{
    TS_NEED(err, a, out);
    if (a->graph->near && !a->graph->n_inside)
        ts__nd_near_read(a);
    if (nd_is_there(a)) {
        const char *data = (const char *)ts_buffer_data(a->store->buffer) + a->offset + offset;
        if (a->item == 8)
            memcpy(out, data, 8);
        else
            memcpy(out, data, a->item);
        a->store->is_unread = false;
        return TS_OK;
    }
    bool is_part = a->store->bytes > (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
    return ts__nd_read(a, offset, is_part ? TS_ND_EVENT_element_read : TS_ND_EVENT_read, NULL, out, err);
}
