/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tool is told of: events with their time, which each counts without the time of events inside of it. Where
 * nobody watches, the only cost is a look at graph->watch.
 *
 *     a[3]           read       waits for         cut        which launches      kernel
 *     |-- 2 us ------|          |---- 1 us -------|          |---- 90 us --------|
 */
#include "numeric/numeric.h"

const ts_nd_event_info *ts_nd_event_get(ts_nd_event_kind kind)
{
    static const ts_nd_event_info rows[TS_ND_EVENT_COUNT] = {
#define TS_ND_EVENT(name, from, title, advice) [TS_ND_EVENT_##name] = {#name, title, advice, from},
#define TS_ND_CAUSE(name, from, title, advice)
#include "tessera/numeric_event.def"
    };
    return &rows[kind];
}

const ts_nd_event_info *ts_nd_cause_get(ts_nd_cause cause)
{
    static const ts_nd_event_info rows[TS_ND_CAUSE_COUNT] = {
#define TS_ND_EVENT(name, from, title, advice)
#define TS_ND_CAUSE(name, from, title, advice) [TS_ND_CAUSE_##name] = {#name, title, advice, from},
#include "tessera/numeric_event.def"
    };
    return &rows[cause];
}

void ts_nd_graph_watch(ts_nd_graph *graph, ts_nd_watch *watch)
{
    graph->watch = watch;
    graph->inside_ns = 0;
    graph->told_bytes = graph->stats.bytes;
    if (graph->near)
        ts_nd_graph_watch(graph->near, watch);
}

void ts__nd_event_begin(ts_nd_graph *graph, nd_event *event)
{
    *event = (nd_event){ts__now_ns(), graph->inside_ns};
    graph->inside_ns = 0;
}

/* Bytes of the kernel that was launched since the last one was told of. */
static uint64_t watch_kernel_bytes(ts_nd_graph *graph)
{
    uint64_t bytes = graph->stats.bytes - graph->told_bytes;
    graph->told_bytes = graph->stats.bytes;
    return bytes;
}

void ts__nd_event_end(ts_nd_graph *graph, const nd_event *event, ts_nd_event_kind kind, const char *name,
                      uint64_t bytes)
{
    const ts_nd_watch *watch = graph->watch;
    int64_t all = ts__now_ns() - event->begun_ns, own = TS_MAX(all - graph->inside_ns, 0);
    bool is_kernel = kind == TS_ND_EVENT_kernel || kind == TS_ND_EVENT_compile;
    graph->inside_ns = event->outside_ns + (kind ? all : graph->inside_ns);
    if (!kind)
        return;
    ts_nd_event told = {kind, name, watch->place, is_kernel ? watch_kernel_bytes(graph) : bytes, (uint64_t)own};
    watch->event(watch->user, &told);
}

static bool watch_is_seen(const ts_nd_call *call, uint32_t n)
{
    bool seen = (call->out && call->out->store->lasting) || (call->where && call->where->store->lasting);
    for (uint32_t i = 0; i < n; i++)
        seen |= call->in[i].array && call->in[i].array->store->lasting;
    return seen;
}

void ts__nd_event_call(ts_nd_graph *graph, const nd_event *event, const ts_nd_call *call, const ts_nd *result)
{
    const ts_nd_info *row = ts_nd_get(call->fn);
    ts_nd_event_kind kind = TS_ND_EVENT_NONE;
    if (result && !result->store->value) {
        int64_t bytes = (int64_t)nd_size_of(result);
        if (result == call->out && result->count == 1 && result->store->bytes > bytes)
            kind = TS_ND_EVENT_element_write;
        else if (result->count <= graph->small)
            kind = TS_ND_EVENT_small;
        else if (watch_is_seen(call, row->n_in) && !graph->may_wait)
            kind = TS_ND_EVENT_eager;
    }
    ts__nd_event_end(graph, event, kind, row->name, result ? nd_size_of(result) : 0);
}

void ts__nd_event_unread(const ts_nd_store *store)
{
    const ts_nd_watch *watch = store->graph->watch;
    ts_nd_event told = {TS_ND_EVENT_unread, NULL, store->place, (uint64_t)store->bytes, 0};
    if (watch)
        watch->event(watch->user, &told);
}
