/* SPDX-License-Identifier: Apache-2.0
 *
 * Items: elements that are bytes to the library. They are made, viewed, moved by words and refused by what computes.
 */
#include "new_graph.h"

enum { N = 1000 };

typedef struct record {
    char tag;
    float x;
    int64_t n;
} __attribute__((packed)) record; /* 13 bytes */

static record *records_of(ts_nd *a)
{
    return memory_of(a);
}

static ts_nd *records_new(ts_nd_graph *graph)
{
    ts_nd *a;
    CHECK_OK(ts_nd_empty_items(graph, sizeof(record), 1, (int64_t[]){N}, false, &a, &err));
    for (int i = 0; i < N; i++)
        records_of(a)[i] = (record){.tag = (char)i, .x = (float)i / 2, .n = -i};
    return a;
}

static void copied_words_are_copied_records(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *a = records_new(graph), *turned, *words, *copy, *back;
    CHECK_INT(a->dtype, TS_DTYPE_NONE);
    CHECK_INT(a->item, sizeof(record));
    CHECK_OK(ts_nd_view(a, (N - 1) * (int64_t)sizeof(record), TS_DTYPE_NONE, 1, (int64_t[]){N},
                        (int64_t[]){-(int64_t)sizeof(record)}, 0, &turned, &err));
    CHECK_OK(ts_nd_words(turned, 8, &words, &err));
    CHECK_INT(words->dtype, TS_DTYPE_uint8);
    CHECK_INT(ts_nd_shape(words)[1], sizeof(record));
    CHECK_OK(ts_nd_run(graph, &(ts_nd_call){.fn = TS_ND_copy, .in = {{.array = words}}, .order = 'C'}, &copy, &err));
    CHECK_OK(ts_nd_view_items(copy, 0, sizeof(record), 1, (int64_t[]){N}, ts_nd_strides(copy), 0, &back, &err));
    for (int i = 0; i < N; i++)
        CHECK(memcmp(&records_of(back)[i], &records_of(a)[N - 1 - i], sizeof(record)) == 0);
    ts_nd_release(back), ts_nd_release(copy), ts_nd_release(words), ts_nd_release(turned), ts_nd_release(a);
    ts_nd_graph_destroy(graph);
}

static void words_are_as_wide_as_all_places_allow(void)
{
    static const struct {
        uint32_t item, most;
        int64_t offset, stride;
        ts_dtype want;
    } cases[] = {{16, 8, 0, 16, TS_DTYPE_uint64}, {16, 4, 0, 16, TS_DTYPE_uint32}, {12, 8, 0, 12, TS_DTYPE_uint32},
                 {8, 8, 4, 24, TS_DTYPE_uint32},  {8, 8, 0, 10, TS_DTYPE_uint16},  {8, 8, 1, 16, TS_DTYPE_uint8},
                 {8, 8, 0, -8, TS_DTYPE_uint64},  {3, 8, 0, 4, TS_DTYPE_uint8}};
    ts_nd_graph *graph = graph_new();
    ts_nd *room, *a, *words;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_uint8, 1, (int64_t[]){200}, false, &room, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_OK(ts_nd_view_items(room, 80 + cases[i].offset, cases[i].item, 1, (int64_t[]){3}, &cases[i].stride, 0, &a,
                                  &err));
        CHECK_OK(ts_nd_words(a, cases[i].most, &words, &err));
        CHECK_INT(words->dtype, cases[i].want);
        CHECK_INT(ts_nd_shape(words)[1] * (int64_t)words->item, cases[i].item);
        ts_nd_release(words), ts_nd_release(a);
    }
    ts_nd_release(room);
    ts_nd_graph_destroy(graph);
}

static void items_are_read_moved_and_compared_by_their_bytes(void)
{
    ts_nd_graph *graph = graph_new(), *other = graph_new();
    ts_nd *a = records_new(graph), *some, *moved, *rest;
    record found;
    CHECK_OK(ts_nd_read(a, 7 * (int64_t)sizeof(record), &found, &err));
    CHECK_INT(found.n, -7);
    CHECK_OK(ts_nd_view(a, 0, TS_DTYPE_NONE, 1, (int64_t[]){N / 2}, (int64_t[]){2 * (int64_t)sizeof(record)}, 0, &some,
                        &err));
    CHECK_OK(ts_nd_view(a, sizeof(record), TS_DTYPE_NONE, 1, (int64_t[]){N / 2},
                        (int64_t[]){2 * (int64_t)sizeof(record)}, 0, &rest, &err));
    CHECK(ts_nd_shares(a, some, true) && !ts_nd_shares(some, rest, true) && ts_nd_shares(some, rest, false));
    CHECK_OK(ts_nd_to(some, other, &moved, &err));
    CHECK_INT(moved->item, sizeof(record));
    for (int i = 0; i < N / 2; i++)
        CHECK_INT(records_of(moved)[i].n, -2 * i);
    ts_nd_release(moved), ts_nd_release(some), ts_nd_release(rest), ts_nd_release(a);
    ts_nd_graph_destroy(graph), ts_nd_graph_destroy(other);
}

static void nothing_is_computed_of_items(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *a = records_new(graph), *places, *mask, *result;
    int64_t n = N;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_int64, 1, &n, false, &places, &err));
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_bool_, 1, &n, false, &mask, &err));
    ts_nd_call call = {.fn = TS_ND_add, .in = {{.array = a}, {.kind = 'i', .i = 1}}};
    CHECK_INT(ts_nd_run(graph, &call, &result, &err), TS_TYPE);
    CHECK(strstr(err.text, "items of 13 bytes") && strstr(err.text, "ts_nd_words()"));
    call = (ts_nd_call){.fn = TS_ND_copy, .in = {{.array = places}}, .out = a};
    CHECK_INT(ts_nd_run(graph, &call, &result, &err), TS_TYPE);
    ts_nd_reduction sum = {.fold = TS_ND_SUM, .x = a, .axes = 1};
    CHECK_INT(ts_nd_reduce(graph, &sum, &result, &err), TS_TYPE);
    CHECK_INT(ts_nd_accumulate(graph, &sum, &result, &err), TS_TYPE);
    CHECK_INT(ts_nd_gather(a, places, &result, &err), TS_TYPE);
    CHECK_INT(ts_nd_scatter(a, places, places, 0, &err), TS_TYPE);
    CHECK_INT(ts_nd_compress(a, mask, &result, &err), TS_TYPE);
    CHECK_INT(ts_nd_words(a, 3, &result, &err), TS_VALUE);
    ts_nd_release(mask), ts_nd_release(places), ts_nd_release(a);
    ts_nd_graph_destroy(graph);
}

/* Numbers of no dtype were taken as a dtype without bytes, and read as such. */
static void numbers_of_no_dtype_are_refused(void)
{
    static const int wrong[] = {TS_DTYPE_NONE, TS_DTYPE_COUNT, 99, -1};
    ts_nd_graph *graph = graph_new();
    ts_nd *a = records_new(graph), *out;
    int64_t n = 3, step = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ts_dtype dtype = (ts_dtype)wrong[i];
        CHECK_INT(ts_nd_empty(graph, dtype, 1, &n, false, &out, &err), TS_TYPE);
        CHECK(!out && strstr(err.text, "no dtype"));
        CHECK_INT(ts_nd_wrap(graph, a->store->buffer, 0, dtype, 1, &n, &step, 0, &out, &err), TS_TYPE);
        if (dtype != TS_DTYPE_NONE)
            CHECK_INT(ts_nd_view(a, 0, dtype, 1, &n, &step, 0, &out, &err), TS_TYPE);
    }
    ts_nd_release(a);
    ts_nd_graph_destroy(graph);
}

/* Rows of items were taken as rows of no bytes: what was written was lost without a word. */
static void rows_of_items_go_the_long_way(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *a = records_new(graph), *b = records_new(graph), *places, *taken = NULL;
    bool done = true;
    void *data;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_int64, 1, (int64_t[]){N}, false, &places, &err));
    CHECK_OK(ts_nd_memory(places, false, &data, NULL, &err));
    memset(data, 0, N * sizeof(int64_t));
    CHECK_OK(ts_nd_put(a, places, &(ts_nd_operand){.array = b}, &done, &err));
    CHECK(!done);
    CHECK_OK(ts_nd_take(a, places, &taken, &err));
    CHECK(!taken);
    done = true;
    CHECK_OK(ts_nd_set(a, 0, &(ts_nd_operand){.kind = 'i', .i = 1}, &done, &err));
    CHECK(!done);
    ts_nd_release(places), ts_nd_release(b), ts_nd_release(a);
    ts_nd_graph_destroy(graph);
}

int main(void)
{
    copied_words_are_copied_records();
    words_are_as_wide_as_all_places_allow();
    items_are_read_moved_and_compared_by_their_bytes();
    nothing_is_computed_of_items();
    numbers_of_no_dtype_are_refused();
    rows_of_items_go_the_long_way();
    return check_done();
}
