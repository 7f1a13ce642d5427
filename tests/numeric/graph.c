/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that compute, without Python: chains become one kernel, writes are ordered with reads, reductions, gather
 * and scatter, what is refused.
 */
#include "new_graph.h"

enum { N = 30000 };

static float *data_of(ts_nd *a)
{
    return memory_of(a);
}

/* 0, 1, .. modulo 100 */
static ts_nd *ramp(ts_nd_graph *graph, int64_t n)
{
    ts_nd *a;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_float32, 1, &n, false, &a, &err));
    float *data = data_of(a);
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)(i % 100);
    return a;
}

static ts_nd *call2(ts_nd_graph *graph, ts_nd_fn fn, ts_nd *x, ts_nd_operand y, ts_nd *out)
{
    ts_nd_call call = {.fn = fn, .in = {{.array = x}, y}, .out = out};
    ts_nd *result;
    CHECK_OK(ts_nd_run(graph, &call, &result, &err));
    return result;
}

static void chains_are_one_kernel(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, N);
    ts_nd *a = call2(graph, TS_ND_multiply, x, (ts_nd_operand){.kind = 'i', .i = 3}, NULL);
    ts_nd *b = call2(graph, TS_ND_add, a, (ts_nd_operand){.array = x}, NULL);
    ts_nd_stats stats;
    ts_nd_release(a);
    ts_nd_graph_stats(graph, &stats);
    CHECK_INT((int64_t)stats.n_launched, 0);
    float *data = data_of(b);
    for (int i = 0; i < N; i++)
        CHECK(data[i] == 4 * (float)(i % 100));
    ts_nd_graph_stats(graph, &stats);
    CHECK_INT((int64_t)stats.n_launched, 1);
    CHECK_INT((int64_t)stats.bytes, 2 * 4 * N);
    ts_nd_release(b), ts_nd_release(x);
    ts_nd_graph_destroy(graph);
}

/* Its kernel has no other function, and takes no look at results: it tells by each element. */
static void places_are_found_by_a_kernel_of_their_own(void)
{
    ts_nd_graph *graph = graph_new();
    int64_t n = 3;
    uint8_t faults[TS_ND_COUNT];
    ts_nd *indices, *places;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_int64, 1, &n, false, &indices, &err));
    int64_t *index = memory_of(indices);
    for (int round = 0; round < 2; round++) {
        index[0] = -1, index[1] = 2, index[2] = round ? 100 : 0;
        places = call2(graph, TS_ND_part_place, indices, (ts_nd_operand){.kind = 'i', .i = 100}, NULL);
        const int64_t *place = memory_of(places);
        CHECK(place[0] == 99 && place[1] == 2 && place[2] == 0);
        CHECK_OK(ts_nd_graph_late(graph, faults, &err));
        CHECK_INT(faults[TS_ND_part_place], round ? TS_ND_INVALID : 0);
        ts_nd_release(places);
    }
    ts_nd_release(indices);
    ts_nd_graph_destroy(graph);
}

static void writes_are_ordered_with_reads(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, N), *same, *before, *view;
    ts_nd_operand one = {.kind = 'i', .i = 1};
    before = call2(graph, TS_ND_add, x, one, NULL);
    same = call2(graph, TS_ND_multiply, x, (ts_nd_operand){.kind = 'i', .i = 2}, x);
    CHECK(same == x);
    ts_nd_release(same);
    int64_t half = N / 2, stride = 8;
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_float32, 1, &half, &stride, 0, &view, &err));
    ts_nd_release(call2(graph, TS_ND_add, view, one, view));
    CHECK(data_of(before)[7] == 8);
    CHECK(data_of(x)[6] == 13 && data_of(x)[7] == 14);
    ts_nd_release(view), ts_nd_release(before), ts_nd_release(x);
    ts_nd_graph_destroy(graph);
}

static void folds_and_places(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, N), *y = call2(graph, TS_ND_add, x, (ts_nd_operand){.kind = 'i', .i = 1}, NULL), *sum, *got;
    ts_nd_reduction reduction = {.fold = TS_ND_SUM, .x = y, .axes = 1, .dtype = TS_DTYPE_float32};
    CHECK_OK(ts_nd_reduce(graph, &reduction, &sum, &err));
    CHECK(*data_of(sum) == 50.5f * N);
    int64_t shape = 2, *places;
    ts_nd *offsets;
    CHECK_OK(ts_nd_empty(graph, TS_DTYPE_int64, 1, &shape, false, &offsets, &err));
    places = (int64_t *)(void *)data_of(offsets);
    places[0] = 42, places[1] = 7;
    CHECK_OK(ts_nd_gather(y, offsets, &got, &err));
    CHECK(data_of(got)[0] == 43 && data_of(got)[1] == 8);
    CHECK_OK(ts_nd_scatter(x, offsets, got, 0, &err));
    CHECK(data_of(x)[42] == 43 && data_of(x)[7] == 8 && data_of(y)[7] == 8);
    ts_nd_release(got), ts_nd_release(offsets), ts_nd_release(sum), ts_nd_release(y), ts_nd_release(x);
    ts_nd_graph_destroy(graph);
}

static void mistakes_are_refused(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, 3), *y = ramp(graph, 4), *none;
    ts_nd_call call = {.fn = TS_ND_add, .in = {{.array = x}, {.array = y}}};
    CHECK_INT(ts_nd_run(graph, &call, &none, &err), TS_SHAPE);
    CHECK_STR(err.text, "operands could not be broadcast together with shapes (3,) (4,) ");
    call = (ts_nd_call){.fn = TS_ND_invert, .in = {{.array = x}}};
    CHECK_INT(ts_nd_run(graph, &call, &none, &err), TS_TYPE);
    call = (ts_nd_call){.fn = ts_nd_find("nothing"), .in = {{.array = x}}};
    CHECK_INT(ts_nd_run(graph, &call, &none, &err), TS_VALUE);
    CHECK(strstr(err.text, "which is no function"));
    call = (ts_nd_call){.fn = TS_ND_add, .in = {{.array = x}}};
    CHECK_INT(ts_nd_run(graph, &call, &none, &err), TS_VALUE);
    CHECK(strstr(err.text, "'add' has 2 operands, and in[1] is neither"));
    ts_nd_reduction beyond = {.fold = TS_ND_SUM, .x = x, .axes = 1 << 1, .dtype = TS_DTYPE_float32};
    CHECK_INT(ts_nd_accumulate(graph, &beyond, &none, &err), TS_VALUE);
    CHECK_STR(err.text, "axis 1 is out of bounds for array of dimension 1");
    x->flags = TS_ND_READONLY;
    call = (ts_nd_call){.fn = TS_ND_negative, .in = {{.array = x}}, .out = x};
    CHECK_INT(ts_nd_run(graph, &call, &none, &err), TS_VALUE);
    CHECK(!none);
    ts_nd_release(x), ts_nd_release(y);
    ts_nd_graph_destroy(graph);
}

/* Not the way itself, which quick.c chooses: what it promises. */
static void a_known_call_is_one_made_before(void)
{
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, 3), *y, *z, *unknown;
    float *data = data_of(x);
    ts_nd_call call = {.fn = TS_ND_divide, .in = {{.kind = 'f', .f = 6}, {.array = x}}, .pace = TS_ND_KNOWN};
    data[0] = 4;
    CHECK_OK(ts_nd_run(graph, &call, &unknown, &err));
    CHECK(!unknown);
    call.pace = TS_ND_LONG;
    CHECK_OK(ts_nd_run(graph, &call, &y, &err));
    call.pace = TS_ND_KNOWN;
    CHECK_OK(ts_nd_run(graph, &call, &z, &err));
    CHECK(z && memcmp(data_of(y), data_of(z), 3 * sizeof(float)) == 0);
    CHECK(((float *)data_of(z))[0] == 1.5f);
    data[0] = 0; /* there is something to tell of */
    CHECK_OK(ts_nd_run(graph, &call, &unknown, &err));
    CHECK(!unknown && !ts_nd_graph_faults(graph));
    call.pace = TS_ND_LONG;
    CHECK_OK(ts_nd_run(graph, &call, &unknown, &err));
    CHECK(unknown && ts_nd_graph_faults(graph) == TS_ND_DIVIDE);
    ts_nd_release(x), ts_nd_release(y), ts_nd_release(z), ts_nd_release(unknown);
    ts_nd_graph_destroy(graph);
}

static void arrays_move_between_graphs(void)
{
    ts_nd_graph *here = graph_new(), *there = graph_new();
    ts_nd *x = ramp(here, N), *y = call2(here, TS_ND_add, x, (ts_nd_operand){.kind = 'i', .i = 1}, NULL), *moved, *sum;
    int64_t shape[2] = {3, N / 6}, strides[2] = {4, 24};
    ts_nd *view;
    float first;
    CHECK_OK(ts_nd_view(y, 8, TS_DTYPE_float32, 2, shape, strides, 0, &view, &err));
    CHECK_OK(ts_nd_to(view, there, &moved, &err));
    CHECK(moved->graph == there && ts_nd_graph_device(there) == ts_nd_graph_device(here));
    ts_nd_call call = {.fn = TS_ND_add, .in = {{.array = y}, {.array = moved}}};
    CHECK_INT(ts_nd_run(here, &call, &sum, &err), TS_VALUE);
    CHECK(strstr(err.text, "different devices"));
    call = (ts_nd_call){.fn = TS_ND_add, .in = {{.array = moved}, {.kind = 'f', .dtype = TS_DTYPE_float64, .f = 0.5}}};
    CHECK_OK(ts_nd_run(there, &call, &sum, &err)); /* a number with a dtype counts as an array */
    CHECK_INT(sum->dtype, TS_DTYPE_float64);
    CHECK_OK(ts_nd_read(moved, 0, &first, &err));
    CHECK(first == 3);
    ts_nd_release(x), ts_nd_release(y), ts_nd_release(view);
    ts_nd_graph_destroy(here);
    double *data;
    CHECK_OK(ts_nd_memory(sum, false, (void **)&data, NULL, &err));
    CHECK(data[0] == 3.5); /* strides of a new array are the operand's order: axis 0 is the inner one */
    ts_nd_release(moved), ts_nd_release(sum);
    ts_nd_graph_destroy(there);
}

/* Elements below 50 of a ramp, by the kernels of other devices and as here. */
static void masks_choose_elements(void)
{
    static const int64_t lengths[] = {1, 1000, 8192, 16384, 16385, N, 70000, 2200000};
    ts_nd_graph *graph = graph_new();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int64_t n = lengths[i], whole = n / 100 * 50, rest = n % 100 < 50 ? n % 100 : 50;
        ts_nd *x = ramp(graph, n), *made[6];
        ts_nd *mask = call2(graph, TS_ND_less, x, (ts_nd_operand){.kind = 'i', .i = 50}, NULL);
        for (int k = 0; k < 4; k++)
            CHECK_OK(ts__nd_compress_by_kernels(k % 2 ? NULL : x, mask, k > 1, &made[k], &err));
        CHECK_OK(ts_nd_compress(x, mask, &made[4], &err));
        CHECK_OK(ts_nd_compress(NULL, mask, &made[5], &err));
        for (int k = 0; k < 6; k++) {
            CHECK_INT(made[k]->count, whole + rest);
            void *data;
            CHECK_OK(ts_nd_memory(made[k], false, &data, NULL, &err));
            for (int64_t j = 0; j < made[k]->count; j += n > 100000 ? 61 : 1) {
                int64_t place = j / 50 * 100 + j % 50;
                CHECK(k % 2 ? ((int64_t *)data)[j] == place : ((float *)data)[j] == (float)(place % 100));
            }
            ts_nd_release(made[k]);
        }
        ts_nd_release(x), ts_nd_release(mask);
    }
    ts_nd_graph_destroy(graph);
}

/* What a client takes elements for stays where they do, and no call's result has it. */
static void meanings_are_carried(void)
{
    ts_nd_graph *graph = graph_new();
    int64_t n = 4, step = 4;
    ts_nd *x = ramp(graph, n), *made[6];
    x->meaning = 7;
    ts_nd *mask = call2(graph, TS_ND_less, x, (ts_nd_operand){.kind = 'i', .i = 2}, NULL);
    ts_nd *places = call2(graph, TS_ND_time_floor_divide, mask, (ts_nd_operand){.kind = 'i', .i = 1}, NULL);
    CHECK(places->dtype == TS_DTYPE_int64 && !places->meaning && !mask->meaning);
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_float32, 1, &n, &step, 0, &made[0], &err));
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_int32, 1, &n, &step, 0, &made[1], &err));
    CHECK_OK(ts_nd_gather(x, places, &made[2], &err));
    CHECK_OK(ts_nd_compress(x, mask, &made[3], &err));
    CHECK_OK(ts_nd_to(x, graph, &made[4], &err));
    CHECK_OK(ts_nd_compress(NULL, mask, &made[5], &err));
    for (int i = 0; i < 6; i++) {
        CHECK_INT(made[i]->meaning, i == 1 || i == 5 ? 0 : 7);
        ts_nd_release(made[i]);
    }
    ts_nd_release(x), ts_nd_release(mask), ts_nd_release(places);
    ts_nd_graph_destroy(graph);
}

/* Kernels of calls that wait tell of faults that were wanted at the call, once; elements beyond the end have none. */
static void kernels_tell_of_faults(void)
{
    ts_nd_graph *graph = graph_new();
    uint8_t faults[TS_ND_COUNT];
    ts_nd *x = ramp(graph, 5000), *y, *made[3];
    float value;
    y = call2(graph, TS_ND_subtract, x, (ts_nd_operand){.kind = 'i', .i = 3}, NULL);
    made[0] = call2(graph, TS_ND_divide, x, (ts_nd_operand){.array = y}, NULL);
    ts_nd_graph_wants(graph, TS_ND_DIVIDE | TS_ND_INVALID);
    made[1] = call2(graph, TS_ND_divide, y, (ts_nd_operand){.array = y}, NULL);
    ts_nd_graph_wants(graph, TS_ND_DIVIDE);
    made[2] = call2(graph, TS_ND_log, y, (ts_nd_operand){0}, NULL);
    CHECK(!ts_nd_graph_is_late(graph));
    CHECK_OK(ts_nd_read(made[2], 4 * 4, &value, &err));
    CHECK(value == 0 && ts_nd_graph_is_late(graph));
    CHECK_OK(ts_nd_graph_late(graph, faults, &err));
    CHECK_INT(faults[TS_ND_divide], TS_ND_INVALID); /* of the second; the first was to tell of nothing */
    CHECK_INT(faults[TS_ND_log], TS_ND_DIVIDE);     /* of numbers below 0 it was not to tell */
    CHECK_INT(faults[TS_ND_subtract], 0);
    CHECK(!ts_nd_graph_is_late(graph));
    CHECK_OK(ts_nd_graph_late(graph, faults, &err));
    CHECK_INT(faults[TS_ND_divide], 0);
    for (int i = 0; i < 3; i++)
        ts_nd_release(made[i]);
    ts_nd_release(x), ts_nd_release(y);
    ts_nd_graph_destroy(graph);
}

/* A value that there is no memory for is told of where it is read, and keeps no other value from being computed. */
static void a_lack_of_memory_is_of_one_value(void)
{
    int64_t shape[2] = {(int64_t)1 << 22, (int64_t)1 << 22}, down[2] = {4, 0}, along[2] = {0, 4};
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, shape[0]), *one, *two, *before, *big, *after;
    float value;
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_float32, 2, shape, down, 0, &one, &err));
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_float32, 2, shape, along, 0, &two, &err));
    before = call2(graph, TS_ND_add, x, (ts_nd_operand){.kind = 'i', .i = 1}, NULL);
    big = call2(graph, TS_ND_add, one, (ts_nd_operand){.array = two}, NULL);
    after = call2(graph, TS_ND_add, before, (ts_nd_operand){.kind = 'i', .i = 1}, NULL);
    CHECK_OK(ts_nd_read(after, 4, &value, &err));
    CHECK(value == 3);
    CHECK_INT(ts_nd_read(big, 0, &value, &err), TS_NOMEM);
    CHECK_INT(ts_nd_flush(graph, &err), TS_NOMEM);
    CHECK_OK(ts_nd_read(before, 8, &value, &err));
    CHECK(value == 3);
    ts_nd_release(big);
    CHECK_OK(ts_nd_flush(graph, &err));
    ts_nd_release(x), ts_nd_release(one), ts_nd_release(two), ts_nd_release(before), ts_nd_release(after);
    ts_nd_graph_destroy(graph);
}

/* More values wait than the arguments of one launch have room for: they become several kernels. */
static void wide_graphs_are_several_kernels(void)
{
    enum { VALUES = 60, ROWS = 300, COLUMNS = 100 };
    int64_t shape[2] = {ROWS, COLUMNS}, strides[2] = {4 * COLUMNS + 8, 4};
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, ROWS * (COLUMNS + 2) + VALUES), *results[VALUES];
    for (int i = 0; i < VALUES; i++) {
        ts_nd *view, *twice;
        CHECK_OK(ts_nd_view(x, 4 * i, TS_DTYPE_float32, 2, shape, strides, 0, &view, &err));
        twice = call2(graph, TS_ND_multiply, view, (ts_nd_operand){.kind = 'i', .i = 2}, NULL);
        results[i] = call2(graph, TS_ND_add, twice, (ts_nd_operand){.kind = 'i', .i = 1}, NULL);
        ts_nd_release(view), ts_nd_release(twice);
    }
    for (int i = 0; i < VALUES; i++) {
        CHECK(data_of(results[i])[COLUMNS + 3] == 2 * (float)((COLUMNS + 5 + i) % 100) + 1);
        ts_nd_release(results[i]);
    }
    ts_nd_release(x);
    ts_nd_graph_destroy(graph);
}

enum { AXES = 14 };
/* x + 1, of AXES axes of two elements; x lacks those of `lacks`. */
static ts_nd *of_many_axes(ts_nd_graph *graph, ts_nd *x, uint32_t lacks)
{
    int64_t shape[AXES], strides[AXES], step = 4;
    ts_nd *view, *result;
    for (uint32_t d = AXES; d-- > 0; step *= strides[d] ? 2 : 1) {
        shape[d] = 2;
        strides[d] = lacks >> d & 1 ? 0 : step;
    }
    CHECK_OK(ts_nd_view(x, 0, TS_DTYPE_float32, AXES, shape, strides, 0, &view, &err));
    ts_nd_call call = {.fn = TS_ND_add, .in = {{.array = view}, {.kind = 'i', .i = 1}}, .order = 'C'};
    CHECK_OK(ts_nd_run(graph, &call, &result, &err));
    ts_nd_release(view);
    return result;
}

/* Two values whose axes together are too many for a kernel, and one that has too many alone. */
static void values_of_many_axes_are_computed(void)
{
    enum { MORE = 40 };
    ts_nd_graph *graph = graph_new();
    ts_nd *x = ramp(graph, 1 << AXES), *more[MORE];
    ts_nd *one = of_many_axes(graph, x, 0x3333), *two = of_many_axes(graph, x, 0x0666);
    CHECK(data_of(one)[(1 << AXES) - 1] > 0 && data_of(two)[1] == 2);
    ts_nd_release(one), ts_nd_release(two);
    ts_nd *many = of_many_axes(graph, x, 0x1555);
    one = of_many_axes(graph, x, 0x3333);
    float value;
    for (int i = 0; i < MORE; i++)
        more[i] = call2(graph, TS_ND_add, x, (ts_nd_operand){.kind = 'i', .i = i}, NULL);
    for (int i = 0; i < MORE; i++) {
        CHECK_OK(ts_nd_read(more[i], 4, &value, &err));
        CHECK(value == (float)(i + 1));
        ts_nd_release(more[i]);
    }
    CHECK_OK(ts_nd_read(one, 0, &value, &err));
    CHECK(value == 1);
    CHECK(data_of(many)[0] == 1 && data_of(many)[1] == 2 && data_of(many)[2] == 1 && data_of(many)[4] == 3);
    ts_nd_release(many), ts_nd_release(one), ts_nd_release(x);
    CHECK_OK(ts_nd_flush(graph, &err));
    ts_nd_graph_destroy(graph);
}

int main(void)
{
    chains_are_one_kernel();
    places_are_found_by_a_kernel_of_their_own();
    writes_are_ordered_with_reads();
    folds_and_places();
    mistakes_are_refused();
    a_known_call_is_one_made_before();
    arrays_move_between_graphs();
    masks_choose_elements();
    meanings_are_carried();
    kernels_tell_of_faults();
    a_lack_of_memory_is_of_one_value();
    wide_graphs_are_several_kernels();
    values_of_many_axes_are_computed();
    return check_done();
}
