/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that compute, without Python: a softmax of rows, called operation by operation as NumPy's. Calls on large
 * arrays are noted; when the elements are wanted they become one kernel.
 *
 *     e = exp(x - max(x, axis=1));  e / sum(e, axis=1)
 *     a[3] = 0 through a view, then the elements that are greater than a number
 *
 *     cc examples/c/arrays.c $(pkg-config --cflags --libs tessera) -lm && ./a.out
 *
 * Operations are TS_ND_ and a name of tessera/numeric.def, or ts_nd_find("exp") where the header's numbers must not be
 * relied on, as from another language.
 */
#include "example.h"
#include <math.h>

enum { ROWS = 300, COLUMNS = 1000, N = ROWS * COLUMNS };

static ts_nd_operand array(ts_nd *a)
{
    return (ts_nd_operand){.array = a};
}

static ts_nd_operand number(double value)
{
    return (ts_nd_operand){.kind = 'f', .f = value};
}

/* A new array: the operation, by its name, of two operands; of those that take one the second is not looked at. */
static ts_nd *call(ts_nd_graph *graph, const char *name, ts_nd_operand x, ts_nd_operand y)
{
    ts_nd_call call = {.fn = ts_nd_find(name), .in = {x, y}};
    ts_nd *result;
    check(ts_nd_run(graph, &call, &result, &err), name);
    return result;
}

static ts_nd *fold_rows(ts_nd_graph *graph, ts_nd_fold fold, ts_nd *x)
{
    ts_nd_reduction reduction = {.fold = fold, .x = x, .axes = 1 << 1, .dtype = TS_DTYPE_float32, .keeps = true};
    ts_nd *result;
    check(ts_nd_reduce(graph, &reduction, &result, &err), ts_nd_fold_name(fold));
    return result;
}

static ts_nd *softmax(ts_nd_graph *graph, ts_nd *x)
{
    ts_nd *top = fold_rows(graph, TS_ND_MAX, x), *away = call(graph, "subtract", array(x), array(top));
    ts_nd *e = call(graph, "exp", array(away), number(0)), *sum = fold_rows(graph, TS_ND_SUM, e);
    ts_nd *result = call(graph, "divide", array(e), array(sum));
    ts_nd_release(top), ts_nd_release(away), ts_nd_release(e), ts_nd_release(sum); /* nobody needs them stored */
    return result;
}

/* The elements in host memory; computes what they wait for. */
static void read_all(ts_nd_graph *host, ts_nd *a, void *out)
{
    ts_nd *copy;
    void *data;
    check(ts_nd_to(a, host, &copy, &err), "copy");
    check(ts_nd_memory(copy, false, &data, NULL, &err), "memory");
    memcpy(out, data, (size_t)(copy->count) * ts_dtype_bytes((ts_dtype)copy->dtype));
    ts_nd_release(copy);
}

static int compare(const float *found, const float *x)
{
    int wrong = 0;
    for (int row = 0; row < ROWS; row++) {
        double top = -INFINITY, sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            top = fmax(top, x[row * COLUMNS + i]);
        for (int i = 0; i < COLUMNS; i++)
            sum += exp(x[row * COLUMNS + i] - top);
        for (int i = 0; i < COLUMNS && row != 3; i++) {
            double wanted = exp(x[row * COLUMNS + i] - top) / sum;
            wrong += fabs(found[row * COLUMNS + i] - wanted) > 1e-6 * wanted;
        }
        for (int i = 0; i < COLUMNS && row == 3; i++)
            wrong += found[row * COLUMNS + i] != 0;
    }
    return wrong;
}

/* How many elements of `found` are greater than `least`, which `chosen` must have in their order. */
static int compare_chosen(const float *found, float least, const float *chosen, int64_t n)
{
    int64_t at = 0;
    int wrong = 0;
    for (int i = 0; i < N; i++)
        if (found[i] > least)
            wrong += at >= n || chosen[at] != found[i], at++;
    return wrong + (at != n);
}

static int run_on(ts_device *device, bool computes, uint64_t *n_from_disk)
{
    static float from[N], found[N], chosen[N];
    static const int64_t shape[2] = {ROWS, COLUMNS};
    ts_device *cpu;
    ts_nd_graph *host, *graph;
    ts_nd *here, *x, *row, *same, *some;
    ts_nd_stats stats;
    void *data;
    (void)n_from_disk;
    for (int i = 0; i < N; i++)
        from[i] = (float)(i % 1013 * 7919 % 1013) * 0.01f;
    check(ts_device_get(TS_DEVICE_CPU, 0, &cpu, &err), "CPU");
    check(ts_nd_graph_create(cpu, &host, &err), "graph");
    check(ts_nd_graph_create(device, &graph, &err), "graph");

    check(ts_nd_empty(host, TS_DTYPE_float32, 2, shape, false, &here, &err), "array");
    check(ts_nd_memory(here, false, &data, NULL, &err), "memory");
    memcpy(data, from, sizeof from);
    check(ts_nd_to(here, graph, &x, &err), "copy");
    ts_nd *a = softmax(graph, x);
    ts_nd_graph_stats(graph, &stats);
    printf("  softmax: %d values wait, %d kernels so far\n", (int)stats.n_waiting, (int)stats.n_launched);
    check(ts_nd_flush(graph, &err), "flush");
    ts_nd_graph_stats(graph, &stats);
    printf("  computed: %d kernel of %d operations, %d bytes read and written\n", (int)stats.n_launched,
           (int)stats.n_nodes, (int)stats.bytes);

    const int64_t *strides = ts_nd_strides(a), columns = COLUMNS;
    check(ts_nd_view(a, 3 * strides[0], TS_DTYPE_float32, 1, &columns, &strides[1], 0, &row, &err), "view");
    ts_nd_call clear = {.fn = TS_ND_copy, .in = {number(0)}, .out = row};
    check(ts_nd_run(graph, &clear, &same, &err), "write");
    int wrong = 0;
    if (computes) {
        ts_nd *mask = call(graph, "greater", array(a), number(0.002));
        check(ts_nd_compress(a, mask, &some, &err), "choice");
        read_all(host, some, chosen);
        read_all(host, a, found);
        wrong = compare(found, from) + compare_chosen(found, 0.002f, chosen, some->count);
        printf("  %d of %d elements are greater than 0.002\n", (int)some->count, N);
        ts_nd_release(mask), ts_nd_release(some);
    }
    ts_nd_release(row), ts_nd_release(same), ts_nd_release(a), ts_nd_release(x), ts_nd_release(here);
    ts_nd_graph_destroy(graph), ts_nd_graph_destroy(host);
    return wrong;
}

int main(int argc, char **argv)
{
    example e = {0};
    example_on(&e, TS_DEVICE_CPU, 0, run_on);
    example_on(&e, TS_DEVICE_CUDA, 0, run_on);
    return example_end(&e, argc, argv);
}
