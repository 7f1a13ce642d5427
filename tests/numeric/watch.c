/* SPDX-License-Identifier: Apache-2.0
 *
 * What a watch is told of: which events, of which place, how many bytes, and that times do not hold each other.
 */
#include "new_graph.h"

enum { N = 30000, MOST = 64 };

static ts_nd_event events[MOST];
static uint32_t n_events;

static void note(void *user, const ts_nd_event *event)
{
    CHECK(user == events && n_events < MOST);
    events[n_events++] = *event;
}
static ts_nd_watch watch = {note, events, 0};

/* The only event of a kind; it is forgotten. */
static ts_nd_event take(ts_nd_event_kind kind)
{
    ts_nd_event found = {0};
    for (uint32_t i = 0; i < n_events; i++)
        if (events[i].kind == kind) {
            CHECK(!found.kind);
            found = events[i];
            events[i].kind = TS_ND_EVENT_NONE;
        }
    if (!found.kind)
        CHECK_STR("no event", ts_nd_event_get(kind)->name);
    return found;
}

/* All events but those of kernels were taken. */
static void none_left(void)
{
    for (uint32_t i = 0; i < n_events; i++)
        if (events[i].kind && events[i].kind != TS_ND_EVENT_kernel && events[i].kind != TS_ND_EVENT_compile)
            CHECK_STR(events[i].name, ts_nd_event_get(events[i].kind)->name);
    n_events = 0;
}

static ts_nd *call2(ts_nd_graph *graph, ts_nd_fn fn, ts_nd *x, ts_nd *y, ts_nd *out)
{
    ts_nd_call call = {.fn = fn, .in = {{.array = x}, {.array = y, .kind = 'i', .i = 3}}, .out = out};
    ts_nd *result;
    CHECK_OK(ts_nd_run(graph, &call, &result, &err));
    return result;
}

static ts_nd *zeros(ts_nd_graph *graph, int64_t n)
{
    ts_nd *a, *same;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_float32, 1, &n, false, &a, &err));
    ts_nd_call fill = {.fn = TS_ND_copy, .in = {{.kind = 'i'}}, .out = a};
    CHECK_OK(ts_nd_run(graph, &fill, &same, &err));
    ts_nd_release(same);
    CHECK_OK(ts_nd_flush(graph, &err));
    return a;
}

static void reads_and_cuts(ts_nd_graph *graph)
{
    float value;
    ts_nd *x = zeros(graph, N), *y, *sum;
    ts_nd_graph_watch(graph, &watch);
    watch.place = 7;
    y = call2(graph, TS_ND_add, x, NULL, NULL);
    CHECK_INT(n_events, 0);
    watch.place = 8;
    CHECK_OK(ts_nd_read(y, 4, &value, &err));
    ts_nd_event cut = take(TS_ND_EVENT_cut), read = take(TS_ND_EVENT_element_read);
    CHECK_STR(cut.name, "read");
    CHECK(value == 3 && cut.place == 8 && cut.bytes == 8 * N && read.place == 8 && read.bytes == 4);
    CHECK(events[0].kind == TS_ND_EVENT_compile && events[0].bytes == 8 * N);
    CHECK(cut.ns < events[0].ns && read.ns < events[0].ns);
    none_left();
    ts_nd_reduction reduction = {.fold = TS_ND_SUM, .x = y, .axes = 1, .dtype = TS_DTYPE_float32};
    CHECK_OK(ts_nd_reduce(graph, &reduction, &sum, &err));
    CHECK_OK(ts_nd_read(sum, 0, &value, &err));
    CHECK_INT((int64_t)take(TS_ND_EVENT_read).bytes, 4);
    none_left();
    ts_nd_release(sum), ts_nd_release(y);
    watch.place = 9;
    y = call2(graph, TS_ND_multiply, x, NULL, NULL);
    watch.place = 10;
    CHECK_OK(ts_nd_flush(graph, &err));
    CHECK_STR(take(TS_ND_EVENT_cut).name, "flush");
    ts_nd_release(y);
    CHECK_INT(take(TS_ND_EVENT_unread).place, 9);
    none_left();
    ts_nd_release(x);
}

static void writes_and_memory(ts_nd_graph *graph)
{
    void *data;
    int64_t one = 1, stride = 4, part = N - 1;
    ts_nd *x = zeros(graph, N), *few = zeros(graph, 4), *item, *from, *to, *y;
    ts_nd_graph_watch(graph, &watch);
    CHECK_OK(ts_nd_view(x, 8, TS_DTYPE_float32, 1, &one, &stride, 0, &item, &err));
    ts_nd_release(call2(graph, TS_ND_add, item, NULL, item));
    CHECK_STR(take(TS_ND_EVENT_element_write).name, "add");
    ts_nd_release(call2(graph, TS_ND_add, few, NULL, NULL));
    CHECK_INT((int64_t)take(TS_ND_EVENT_small).bytes, 16);
    none_left();
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_float32, 1, &part, &stride, 0, &from, &err));
    CHECK_OK(ts_nd_view(x, 4, TS_DTYPE_float32, 1, &part, &stride, 0, &to, &err));
    y = call2(graph, TS_ND_add, x, NULL, NULL);
    ts_nd_release(call2(graph, TS_ND_add, from, NULL, to));
    CHECK_STR(take(TS_ND_EVENT_cut).name, "part");
    CHECK_INT((int64_t)take(TS_ND_EVENT_copy).bytes, 4 * (N - 1));
    none_left();
    CHECK_OK(ts_nd_memory(x, true, &data, NULL, &err));
    CHECK_OK(ts_nd_memory(x, true, &data, NULL, &err));
    CHECK_INT((int64_t)take(TS_ND_EVENT_exposed).bytes, 4 * N);
    ts_nd_release(call2(graph, TS_ND_add, x, NULL, NULL));
    CHECK_STR(take(TS_ND_EVENT_eager).name, "add");
    ts_nd_release(y);
    CHECK_INT(take(TS_ND_EVENT_unread).place, watch.place);
    none_left();
    ts_nd_graph_watch(graph, NULL);
    ts_nd_release(call2(graph, TS_ND_add, x, NULL, NULL));
    CHECK_INT(n_events, 0);
    ts_nd_release(to), ts_nd_release(from), ts_nd_release(item), ts_nd_release(few), ts_nd_release(x);
}

static void copies_between_graphs(ts_nd_graph *graph)
{
    ts_nd_graph *other = graph_new();
    ts_nd *x = zeros(graph, N), *y;
    ts_nd_graph_watch(graph, &watch);
    CHECK_OK(ts_nd_to(x, other, &y, &err));
    CHECK_INT((int64_t)take(TS_ND_EVENT_to_host).bytes, 4 * N);
    none_left();
    ts_nd_graph_watch(graph, NULL);
    ts_nd_release(x), ts_nd_release(y);
    ts_nd_graph_destroy(other);
}

/* A known kernel that is compiled for other arguments, here in place, is no launch of a known program. */
static void kernels_are_made_for_arguments_too(ts_nd_graph *graph)
{
    for (int i = 0; i < 3; i++) {
        ts_nd *x = zeros(graph, N), *y;
        ts_nd_graph_watch(graph, &watch);
        y = call2(graph, TS_ND_maximum, x, NULL, i == 1 ? x : NULL);
        CHECK_OK(ts_nd_flush(graph, &err));
        (void)take(i < 2 ? TS_ND_EVENT_compile : TS_ND_EVENT_kernel);
        ts_nd_graph_watch(graph, NULL);
        ts_nd_release(x), ts_nd_release(y);
        n_events = 0;
    }
}

/* What items weigh. */
static void items_have_bytes(ts_nd_graph *graph)
{
    void *data;
    ts_nd *items;
    CHECK_OK(ts_nd_empty_items(graph, 5, 1, (int64_t[]){600}, false, &items, &err));
    ts_nd_graph_watch(graph, &watch);
    CHECK_OK(ts_nd_memory(items, true, &data, NULL, &err));
    CHECK_INT((int64_t)take(TS_ND_EVENT_exposed).bytes, 3000);
    ts_nd_graph_watch(graph, NULL);
    ts_nd_release(items);
    n_events = 0;
}

static void every_row_has_its_words(void)
{
    for (int i = 1; i < TS_ND_EVENT_COUNT; i++)
        CHECK(*ts_nd_event_get((ts_nd_event_kind)i)->name && *ts_nd_event_get((ts_nd_event_kind)i)->title);
    for (int i = 0; i < TS_ND_CAUSE_COUNT; i++)
        CHECK(*ts_nd_cause_get((ts_nd_cause)i)->name && *ts_nd_cause_get((ts_nd_cause)i)->title);
}

int main(void)
{
    ts_nd_graph *graph = graph_new();
    reads_and_cuts(graph);
    ts_nd_graph_watch(graph, NULL);
    writes_and_memory(graph);
    copies_between_graphs(graph);
    ts_nd_graph_watch(graph, NULL);
    kernels_are_made_for_arguments_too(graph);
    items_have_bytes(graph);
    ts_nd_graph_destroy(graph);
    every_row_has_its_words();
    return check_done();
}
