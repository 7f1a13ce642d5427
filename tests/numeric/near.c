/* SPDX-License-Identifier: Apache-2.0
 *
 * Storages that come near after some reads, and go home for calls on many elements and for who asks for their memory
 * (src/numeric/near.c). Both graphs are of the CPU device, so that all is computed.
 */
#include "new_graph.h"

enum { FEW = 300, MANY = 1 << 16 };

static ts_nd *numbers(ts_nd_graph *graph, int64_t n)
{
    ts_nd *a;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_float64, 1, &n, false, &a, &err));
    double *x = memory_of(a);
    for (int64_t i = 0; i < n; i++)
        x[i] = (double)i;
    return a;
}

static double element(ts_nd *a, int64_t i)
{
    double x;
    CHECK_OK(ts_nd_read(a, i * 8, &x, &err));
    return x;
}

static ts_nd *sum_of(ts_nd_graph *graph, ts_nd *a, ts_nd *b)
{
    ts_nd *c;
    ts_nd_call call = {.fn = TS_ND_add, .in = {{.array = a}, {.array = b}}};
    CHECK_OK(ts_nd_run(graph, &call, &c, &err));
    return c;
}

static void reads_bring_a_storage_near(ts_nd_graph *graph)
{
    ts_nd *a = numbers(graph, FEW), *view;
    CHECK_OK(ts_nd_view(a, 80, TS_DTYPE_float64, 1, (int64_t[]){5}, (int64_t[]){8}, 0, &view, &err));
    CHECK(element(a, 3) == 3 && a->graph == graph);
    CHECK(element(a, 4) == 4 && a->graph != graph && view->graph == a->graph);
    CHECK(ts_nd_graph_home(a->graph) == graph && element(view, 1) == 11);
    CHECK_OK(ts_nd_home(view, &err));
    CHECK(a->graph == graph && view->graph == graph && element(view, 2) == 12);
    ts_nd_release(view), ts_nd_release(a);
}

static void calls_compute_where_their_arrays_meet(ts_nd_graph *graph)
{
    ts_nd *a = numbers(graph, FEW), *b = numbers(graph, FEW), *big = numbers(graph, MANY), *c;
    for (int i = 0; i < 2; i++)
        (void)element(a, i);
    c = sum_of(graph, a, a);
    CHECK(c->graph == a->graph && c->graph != graph && element(c, 7) == 14);
    ts_nd_release(c);
    c = sum_of(a->graph, a, b); /* b costs one call, and has to cost more first */
    CHECK(c->graph == graph && a->graph == graph && element(c, 9) == 18);
    ts_nd_release(c);
    for (int i = 0; i < 4; i++)
        (void)element(big, i);
    CHECK(big->graph != graph);
    c = sum_of(big->graph, big, big);
    CHECK(big->graph == graph && c->graph == graph && element(c, MANY - 1) == 2.0 * (MANY - 1));
    ts_nd_release(c), ts_nd_release(a), ts_nd_release(b), ts_nd_release(big);
}

static void memory_that_others_know_stays(ts_nd_graph *graph)
{
    void *data;
    ts_nd *a = numbers(graph, FEW);
    CHECK_OK(ts_nd_memory(a, true, &data, NULL, &err));
    for (int i = 0; i < 40; i++)
        CHECK(element(a, i) == i && a->graph == graph);
    ts_nd_release(a);
}

static void products_of_matrices_end_where_they_began(ts_nd_graph *graph)
{
    enum { SIDE = 20 };
    ts_nd *a = numbers(graph, SIDE * SIDE), *square, *made;
    (void)element(a, 0), (void)element(a, 1);
    CHECK_OK(ts_nd_view(a, 0, TS_DTYPE_float64, 2, (int64_t[]){SIDE, SIDE}, (int64_t[]){SIDE * 8, 8}, 0, &square,
                        &err));
    CHECK(square->graph != graph);
    if (ts_nd_matrices_are(square, square)) {
        ts_nd_matrices job;
        CHECK_OK(ts_nd_matrices_begin(square, square, &job, &err));
        CHECK_OK(ts_nd_home(a, &err)); /* as another thread may do while this one computes */
        CHECK_OK(ts_nd_matrices_run(&job, &err));
        ts_nd_matrices_end(&job, &made);
        CHECK(square->graph == graph && element(made, 0) == 49400); /* k * 20 k added: 20 * (0 + 1 + .. + 19 * 19) */
        ts_nd_release(made);
    }
    ts_nd_release(square), ts_nd_release(a);
}

static void mistakes_have_words(ts_nd_graph *graph)
{
    ts_device *host = ts_nd_graph_device(graph);
    ts_nd *a = numbers(graph, FEW);
    (void)element(a, 0), (void)element(a, 1);
    CHECK(ts_nd_graph_near(a->graph, host, 0, &err) == TS_VALUE);
    CHECK(ts_nd_graph_home(NULL) == NULL);
    ts_nd_release(a);
}

int main(void)
{
    ts_nd_graph *graph = graph_new();
    CHECK_OK(ts_nd_graph_near(graph, ts_nd_graph_device(graph), 3, &err));
    reads_bring_a_storage_near(graph);
    calls_compute_where_their_arrays_meet(graph);
    memory_that_others_know_stays(graph);
    products_of_matrices_end_where_they_began(graph);
    mistakes_have_words(graph);
    ts_nd_graph_destroy(graph);
    return check_done();
}
