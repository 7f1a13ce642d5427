/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays on the CPU device: views against index arithmetic, copies of any strides, DLPack both ways, who owns what.
 */
#include "array/array.h"
#include "array/layout.h"
#include "../device/setup.h"

#define INTS(...) ((const int64_t[]){__VA_ARGS__})

static ts_device *cpu;

/* 0, 1, 2, ... as int32 in the given shape. */
static ts_array *counted(uint32_t rank, const int64_t *shape)
{
    ts_array *array = NULL;
    CHECK_OK(ts_array_empty(cpu, NULL, TS_DTYPE_int32, rank, shape, &array, &err));
    for (int32_t i = 0; i < ts_array_count(array); i++)
        ((int32_t *)array->data)[i] = i;
    return array;
}

/* The elements in row-major order; at most 64. */
static const char *elements(const ts_array *array)
{
    static char text[1024];
    int32_t values[64] = {0};
    size_t at = 0;
    text[0] = 0;
    CHECK(ts_array_count(array) <= 64);
    CHECK_OK(ts_array_to_host(array, NULL, values, NULL, &err));
    for (int64_t i = 0; i < ts_array_count(array); i++)
        at += (size_t)snprintf(text + at, sizeof text - at, i ? " %d" : "%d", values[i]);
    return text;
}

static void slices_picks_and_transpositions_are_views(void)
{
    ts_array *a = counted(2, INTS(3, 4)), *b, *c, *d;
    CHECK_OK(ts_array_slice(a, 1, 3, -1, -2, &b, &err));
    CHECK_STR(elements(b), "3 1 7 5 11 9");
    CHECK_OK(ts_array_transpose(b, NULL, &c, &err));
    CHECK_STR(elements(c), "3 7 11 1 5 9");
    CHECK_OK(ts_array_pick(c, 0, 1, &d, &err));
    CHECK_STR(elements(d), "1 5 9");
    CHECK(d->buffer == a->buffer && d->rank == 1);
    ts_array_release(a); /* views keep the memory */
    ts_array_release(b);
    ts_array_release(c);
    CHECK_STR(elements(d), "1 5 9");
    ts_array_release(d);
}

static void empty_and_wild_slices(void)
{
    ts_array *a = counted(1, INTS(5)), *b;
    CHECK_OK(ts_array_slice(a, 0, 4, 2, 1, &b, &err));
    CHECK_INT(ts_array_count(b), 0);
    CHECK_STR(elements(b), "");
    ts_array_release(b);
    CHECK_OK(ts_array_slice(a, 0, 4, 5, INT64_MAX, &b, &err));
    CHECK_STR(elements(b), "4");
    ts_array_release(b);
    CHECK_INT(ts_array_slice(a, 0, 0, 6, 1, &b, &err), TS_INDEX);
    CHECK_INT(ts_array_slice(a, 0, 0, INT64_MAX, 1, &b, &err), TS_INDEX);
    CHECK_INT(ts_array_slice(a, 0, 5, INT64_MIN, -1, &b, &err), TS_INDEX);
    CHECK_INT(ts_array_slice(a, 0, 0, 5, 0, &b, &err), TS_VALUE);
    CHECK_INT(ts_array_slice(a, 1, 0, 5, 1, &b, &err), TS_INDEX);
    CHECK_INT(ts_array_pick(a, 0, 5, &b, &err), TS_INDEX);
    CHECK_INT(ts_array_transpose(a, (const uint32_t[]){1}, &b, &err), TS_INDEX);
    CHECK(b == NULL);
    ts_array_release(a);
}

typedef struct reshape_case {
    uint32_t rank;
    int64_t shape[5];
    ts_status status;
} reshape_case;

static void reshapes_of_contiguous_and_strided_arrays(void)
{
    const reshape_case cases[] = {{1, {24}, TS_OK}, {3, {2, 3, 4}, TS_OK}, {4, {2, 3, 2, 2}, TS_OK},
                                  {2, {6, 4}, TS_OK}, {5, {1, 2, 1, 3, 4}, TS_OK}, {3, {2, -1, 4}, TS_OK},
                                  {2, {5, -1}, TS_SHAPE}, {2, {-1, -1}, TS_SHAPE}, {1, {23}, TS_SHAPE}};
    ts_array *whole = counted(3, INTS(2, 3, 4)), *turned, *back, *flat;
    CHECK_OK(ts_array_transpose(whole, (const uint32_t[]){1, 0, 2}, &turned, &err)); /* (3, 2, 4), strides 4 12 1 */
    CHECK_OK(ts_array_transpose(turned, (const uint32_t[]){1, 0, 2}, &back, &err));
    CHECK_OK(ts_array_reshape(turned, 4, INTS(3, 2, 2, 2), &flat, &err));
    CHECK(flat->strides[0] == 4 && flat->strides[1] == 12 && flat->strides[2] == 2 && flat->strides[3] == 1);
    ts_array_release(flat);
    CHECK_INT(ts_array_reshape(turned, 1, INTS(24), &flat, &err), TS_BUFFER);
    CHECK_INT(ts_array_reshape(turned, 2, INTS(6, 4), &flat, &err), TS_BUFFER);
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        CHECK_INT(ts_array_reshape(back, cases[i].rank, cases[i].shape, &flat, &err), cases[i].status);
        if (flat)
            CHECK_STR(elements(flat), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23");
        ts_array_release(flat);
    }
    ts_array_release(whole);
    ts_array_release(turned);
    ts_array_release(back);
}

static void views_of_other_dtypes(void)
{
    ts_array *a = counted(2, INTS(2, 4)), *b, *c;
    CHECK_OK(ts_array_view(a, TS_DTYPE_uint8, &b, &err));
    CHECK(b->shape[1] == 16 && b->strides[0] == 16);
    CHECK_OK(ts_array_view(b, TS_DTYPE_float64, &c, &err));
    CHECK(c->shape[1] == 2 && c->strides[0] == 2);
    ts_array_release(b);
    ts_array_release(c);
    CHECK_OK(ts_array_slice(a, 1, 0, 4, 2, &b, &err));
    CHECK_INT(ts_array_view(b, TS_DTYPE_int8, &c, &err), TS_BUFFER);
    CHECK_OK(ts_array_view(b, TS_DTYPE_float32, &c, &err));
    ts_array_release(c);
    ts_array_release(b);
    CHECK_OK(ts_array_slice(a, 1, 0, 3, 1, &b, &err));
    CHECK_INT(ts_array_view(b, TS_DTYPE_int64, &c, &err), TS_SHAPE);
    ts_array_release(b);
    ts_array_release(a);
}

/* Random views against plain index arithmetic, both directions. */
static void strided_copies_match_index_arithmetic(void)
{
    uint32_t seed = 1;
    for (int round = 0; round < 200; round++) {
        int32_t host[6 * 7 * 8], found[6 * 7 * 8];
        int64_t shape[3], strides[3], host_strides[3], extents[3] = {6, 7, 8}, whole[3] = {56, 8, 1};
        ts_array *a = counted(3, extents), *view;
        int64_t offset = 0, host_offset = 0;
        for (int d = 0; d < 3; d++) {
            seed = seed * 1664525 + 1013904223;
            int64_t step = 1 + (seed >> 20) % 2, flip = seed >> 25 & 1;
            shape[d] = extents[d] / step;
            strides[d] = (flip ? -step : step) * whole[d];
            offset += flip ? (shape[d] - 1) * step * whole[d] : 0;
            host_strides[d] = (seed >> 26 & 1 ? -4 : 4) * whole[d];
            host_offset += host_strides[d] < 0 ? (shape[d] - 1) * whole[d] : 0;
        }
        memset(host, 0xFF, sizeof host);
        CHECK_OK(ts_array_of(a->buffer, (uint64_t)offset * 4, TS_DTYPE_int32, 3, shape, strides, &view, &err));
        CHECK_OK(ts_array_to_host(view, NULL, host + host_offset, host_strides, &err));
        int64_t bad = 0;
        for (int64_t i = 0; i < shape[0]; i++)
            for (int64_t j = 0; j < shape[1]; j++)
                for (int64_t k = 0; k < shape[2]; k++)
                    bad += host[host_offset + (i * host_strides[0] + j * host_strides[1] + k * host_strides[2]) / 4] !=
                           offset + i * strides[0] + j * strides[1] + k * strides[2];
        CHECK_INT(bad, 0);
        CHECK_OK(ts_mem_fill(ts_device_default_stream(cpu), a->data, 0xFFFFFFFF, 4, 336, &err));
        CHECK_OK(ts_array_from_host(view, NULL, host + host_offset, host_strides, &err));
        CHECK_OK(ts_array_to_host(a, NULL, found, NULL, &err));
        for (int64_t i = 0; i < 336; i++)
            bad += found[i] != i && found[i] != -1;
        CHECK_INT(bad, 0);
        ts_array_release(view);
        ts_array_release(a);
    }
}

static ts_status no_fill(const ts_stream *stream, void *to, uint64_t pattern, uint32_t bytes, uint64_t n, ts_error *e)
{
    (void)stream, (void)to, (void)pattern, (void)bytes, (void)n;
    return ts_fail(e, TS_RUNTIME, "no fill");
}

static void an_array_that_is_not_filled_is_none(void)
{
    const ts_device_ops *ops = cpu->ops;
    ts_device_ops failing = *ops;
    failing.fill = no_fill;
    cpu->ops = &failing;
    ts_array *full, *zeros;
    ts_status a = ts_array_full(cpu, NULL, TS_DTYPE_int32, 7, 1, INTS(3), &full, &err);
    ts_status b = ts_array_zeros(cpu, NULL, TS_DTYPE_int32, 1, INTS(3), &zeros, &err);
    cpu->ops = ops;
    CHECK(a == TS_RUNTIME && b == TS_RUNTIME && !full && !zeros);
}

static void full_zeros_and_copies(void)
{
    ts_array *a, *b, *c;
    CHECK_OK(ts_array_full(cpu, NULL, TS_DTYPE_int32, 7, 1, INTS(3), &a, &err));
    CHECK_STR(elements(a), "7 7 7");
    CHECK_OK(ts_array_zeros(cpu, NULL, TS_DTYPE_int32, 2, INTS(0, 3), &b, &err));
    CHECK_STR(elements(b), "");
    ts_array_release(b);
    CHECK_OK(ts_array_zeros(cpu, NULL, TS_DTYPE_int32, 0, NULL, &b, &err));
    CHECK_STR(elements(b), "0");
    ts_array_release(b);
    ts_array_release(a);
    a = counted(2, INTS(2, 3));
    CHECK_OK(ts_array_transpose(a, NULL, &b, &err));
    CHECK_OK(ts_array_copy(b, NULL, NULL, &c, &err));
    CHECK(ts_array_is_contiguous(c) && !ts_array_is_contiguous(b));
    CHECK_STR(elements(c), "0 3 1 4 2 5");
    ts_array_release(a);
    ts_array_release(b);
    ts_array_release(c);
}

static void impossible_arrays_are_refused(void)
{
    ts_array *a, *b;
    CHECK_INT(ts_array_empty(cpu, NULL, TS_DTYPE_int32, 9, INTS(1, 1, 1, 1, 1, 1, 1, 1, 1), &a, &err), TS_SHAPE);
    CHECK_INT(ts_array_empty(cpu, NULL, TS_DTYPE_int32, 1, INTS(-1), &a, &err), TS_SHAPE);
    CHECK_INT(ts_array_empty(cpu, NULL, TS_DTYPE_int32, 2, INTS(INT64_MAX, 2), &a, &err), TS_SHAPE);
    CHECK_INT(ts_array_empty(cpu, NULL, TS_DTYPE_int32, 1, INTS((int64_t)1 << 57), &a, &err), TS_NOMEM);
    CHECK_INT(ts_array_empty(cpu, NULL, (ts_dtype)99, 1, INTS(1), &a, &err), TS_TYPE);
    CHECK(a == NULL);
    a = counted(1, INTS(4));
    CHECK_INT(ts_array_of(a->buffer, 4, TS_DTYPE_int32, 1, INTS(4), NULL, &b, &err), TS_SHAPE);
    CHECK_INT(ts_array_of(a->buffer, 0, TS_DTYPE_int32, 1, INTS(2), INTS(-1), &b, &err), TS_SHAPE);
    CHECK_INT(ts_array_of(a->buffer, 0, TS_DTYPE_int32, 1, INTS(3), INTS(INT64_MAX / 2), &b, &err), TS_SHAPE);
    CHECK_OK(ts_array_of(a->buffer, 4, TS_DTYPE_int32, 1, INTS(2), INTS(-1), &b, &err));
    CHECK_STR(elements(b), "1 0");
    ts_array_release(b);
    ts_array_release(a);
}

static void dlpack_round_trip(void)
{
    ts_array *a = counted(2, INTS(3, 4)), *b, *c, *d;
    ts_dl_managed *old;
    ts_dl_managed_versioned *fresh;
    CHECK_OK(ts_array_transpose(a, NULL, &b, &err));
    CHECK_OK(ts_array_to_dlpack(b, &old, &err));
    CHECK(old->tensor.ndim == 2 && old->tensor.shape[0] == 4 && old->tensor.strides[0] == 1);
    CHECK(old->tensor.dtype.code == 0 && old->tensor.dtype.bits == 32 && old->tensor.dtype.lanes == 1);
    CHECK_OK(ts_array_from_dlpack(old, &c, &err));
    ts_array_release(a);
    ts_array_release(b);
    CHECK_OK(ts_array_to_dlpack_versioned(c, &fresh, &err));
    CHECK(fresh->major == 1 && fresh->flags == 0);
    CHECK_OK(ts_array_from_dlpack_versioned(fresh, &d, &err));
    ts_array_release(c);
    CHECK_STR(elements(d), "0 4 8 1 5 9 2 6 10 3 7 11");
    ts_array_release(d);
}

static int n_deleted;

static void count_delete(ts_dl_managed_versioned *self)
{
    (void)self;
    n_deleted++;
}

static void dlpack_of_others_is_checked_and_deleted_once(void)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    int64_t shape[2] = {2, 3}, bad_shape[2] = {2, -3};
    ts_dl_managed_versioned good = {.major = 1, .minor = 3, .deleter = count_delete, .flags = TS_DL_READONLY,
        .tensor = {.data = data, .device = {1, 0}, .ndim = 2, .dtype = {2, 32, 1}, .shape = shape, .byte_offset = 4}};
    int64_t wild[2] = {INT64_MAX, 1}, below[2] = {INT64_MIN / 4, 1};
    ts_dl_managed_versioned bad[15] = {good, good, good, good, good, good, good, good,
                                       good, good, good, good, good, good, good};
    bad[0].major = 2;
    bad[1].tensor.dtype.lanes = 4;
    bad[2].tensor.dtype.code = 5; /* complex */
    bad[3].tensor.device.type = 10;
    bad[4].tensor.ndim = 9;
    bad[5].tensor.shape = bad_shape;
    bad[6].tensor.shape = NULL;
    bad[7].tensor.ndim = -1;
    bad[8].tensor.ndim = INT32_MIN;
    bad[9].tensor.data = NULL;
    bad[10].tensor.data = NULL, bad[10].tensor.byte_offset = UINT64_MAX;
    bad[11].tensor.byte_offset = UINT64_MAX;
    bad[12].tensor.strides = wild;
    bad[13].tensor.strides = below;
    bad[14].tensor.dtype.bits = 0;
    ts_array *array;
    for (size_t i = 0; i < TS_COUNT(bad); i++)
        CHECK(ts_array_from_dlpack_versioned(&bad[i], &array, &err) != TS_OK && array == NULL);
    CHECK_INT(n_deleted, 0);
    CHECK_OK(ts_array_from_dlpack_versioned(&good, &array, &err));
    CHECK(array->data == data + 1 && array->flags == TS_ARRAY_READONLY && array->strides[0] == 3);
    CHECK_INT(ts_array_from_host(array, NULL, data, NULL, &err), TS_BUFFER);
    ts_dl_managed *old;
    CHECK_INT(ts_array_to_dlpack(array, &old, &err), TS_BUFFER);
    ts_array_release(array);
    CHECK_INT(n_deleted, 1);
}

/* The quick check of launches never lets through what the whole check refuses. */
static void plain_layouts_pass_the_whole_check(void)
{
    static char byte;
    uint64_t state = 1, n_plain = 0;
    for (int i = 0; i < 100000; i++) {
        int64_t shape[TS_ARRAY_RANK], strides[TS_ARRAY_RANK];
        int32_t rank = i % (TS_ARRAY_RANK + 1);
        for (int32_t d = 0; d < rank; d++) {
            state = ts_hash_mix(state, (uint64_t)i);
            shape[d] = (int64_t)(state >> (i / 9 % 64)); /* from 1 to all bits, the sign too */
            strides[d] = (int64_t)(ts_hash_mix(state, 7) >> (i / 9 % 64));
        }
        ts_layout layout = {&byte, rank, 8, 8, shape, i % 2 ? strides : NULL};
        layout_span span = {0};
        uint64_t all = 0;
        for (int32_t d = 0; d < layout.rank; d++)
            all |= (uint64_t)layout.shape[d] | (layout.strides ? (uint64_t)layout.strides[d] : 0);
        if (!ts__layout_is_plain(layout.data, (uint32_t)layout.rank, all))
            continue;
        n_plain++;
        CHECK_INT(ts__layout_flaw(&layout, TS_ARRAY_RANK, &span), LAYOUT_GOOD);
        CHECK_INT(span.low, 0);
    }
    CHECK(n_plain > 10000);
}

static void freed_memory_says_so(void)
{
    ts_array *a = counted(1, INTS(4)), *b;
    int32_t host[4];
    ts_dl_managed *old;
    CHECK_OK(ts_buffer_free(a->buffer, &err));
    CHECK_OK(ts_buffer_free(a->buffer, &err));
    CHECK_INT(ts_buffer_lend(a->buffer, &err), TS_BUFFER);
    CHECK_INT(ts_array_to_host(a, NULL, host, NULL, &err), TS_BUFFER);
    CHECK_INT(ts_array_copy(a, NULL, NULL, &b, &err), TS_BUFFER);
    CHECK_INT(ts_array_to_dlpack(a, &old, &err), TS_BUFFER);
    ts_array_release(a);
    a = counted(1, INTS(4));
    CHECK_OK(ts_device_reset(cpu, &err));
    CHECK_INT(ts_array_to_host(a, NULL, host, NULL, &err), TS_BUFFER);
    CHECK(strstr(err.text, "reset") != NULL);
    ts_array_release(a);
}

static void lent_memory_is_not_freed(void)
{
    ts_array *a = counted(1, INTS(4)), *view;
    ts_dl_managed *old;
    ts_dl_managed_versioned *fresh;
    CHECK_OK(ts_array_slice(a, 0, 1, 3, 1, &view, &err));
    CHECK_OK(ts_array_to_dlpack(view, &old, &err));
    CHECK_OK(ts_array_to_dlpack_versioned(a, &fresh, &err));
    CHECK_INT(ts_buffer_free(a->buffer, &err), TS_BUFFER);
    CHECK(strstr(err.text, "(2 exports)") != NULL);
    old->deleter(old);
    CHECK_INT(ts_buffer_free(a->buffer, &err), TS_BUFFER);
    CHECK(strstr(err.text, "(1 export)") != NULL);
    CHECK_STR(elements(a), "0 1 2 3");
    fresh->deleter(fresh);
    CHECK_OK(ts_buffer_free(a->buffer, &err));
    CHECK_INT(ts_buffer_check(a->buffer, &err), TS_BUFFER);
    ts_array_release(view);
    ts_array_release(a);
}

static void sleepy(void *user)
{
    usleep(20000);
    *(_Atomic int *)user = 1;
}

static void memory_used_by_another_stream_outlives_it(void)
{
    ts_stream *stream;
    ts_array *a = counted(1, INTS(1000)), *b;
    _Atomic int done = 0;
    void *data = a->data;
    CHECK_OK(ts_stream_create(cpu, &stream, &err));
    CHECK_OK(ts_stream_call(stream, sleepy, &done, &err));
    ts_buffer_note_stream(a->buffer, stream);
    ts_array_release(a); /* the stream still has work: the memory must not be handed out */
    b = counted(1, INTS(1000));
    CHECK(b->data != data || done);
    ts_array_release(b);
    CHECK_OK(ts_stream_sync(stream, TS_FOREVER, &err));
    CHECK_INT(done, 1);
    ts_stream_destroy(stream);
}

static void buffers_may_outlive_their_stream(void)
{
    ts_stream *stream;
    ts_array *a;
    CHECK_OK(ts_stream_create(cpu, &stream, &err));
    CHECK_OK(ts_array_zeros(cpu, stream, TS_DTYPE_int32, 1, INTS(10), &a, &err));
    ts_stream_destroy(stream); /* its work goes on */
    CHECK_OK(ts_device_sync(cpu, TS_FOREVER, &err));
    CHECK_STR(elements(a), "0 0 0 0 0 0 0 0 0 0");
    ts_array_release(a);
}

static void memory_outlives_a_destroyed_stream(void)
{
    ts_stream *stream;
    ts_array *a, *b;
    _Atomic int done = 0;
    CHECK_OK(ts_stream_create(cpu, &stream, &err));
    CHECK_OK(ts_stream_call(stream, sleepy, &done, &err));
    CHECK_OK(ts_array_zeros(cpu, stream, TS_DTYPE_int32, 1, INTS(1000), &a, &err));
    ts_stream_destroy(stream);
    ts_array_release(a); /* the zeros are still to be written, and not into what is made now */
    b = counted(1, INTS(1000));
    CHECK_OK(ts_device_sync(cpu, TS_FOREVER, &err));
    CHECK_INT(done, 1);
    CHECK_INT(((int32_t *)b->data)[999], 999);
    ts_array_release(b);
}

static ts_status array_life(ts_device *device)
{
    ts_array *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    ts_dl_managed *old = NULL;
    ts_status status = ts_array_zeros(device, NULL, TS_DTYPE_int32, 2, INTS(3, 4), &a, &err);
    status = status ? status : ts_array_transpose(a, NULL, &b, &err);
    status = status ? status : ts_array_copy(b, NULL, NULL, &c, &err);
    status = status ? status : ts_array_to_dlpack(c, &old, &err);
    status = status ? status : ts_array_from_dlpack(old, &d, &err);
    if (old && !d)
        old->deleter(old);
    ts_array_release(a);
    ts_array_release(b);
    ts_array_release(c);
    ts_array_release(d);
    return status;
}

static void failing_allocations_are_reported_and_nothing_leaks(void)
{
    ts_status status = TS_NOMEM;
    int64_t n = 1;
    for (; n < 100 && status != TS_OK; n++) {
        counting count = {0};
        ts_alloc alloc = {counting_resize, &count};
        ts_device *device = device_new(1, &alloc);
        count.fail_at = count.n_requests + n;
        status = array_life(device);
        CHECK(status == TS_OK || status == TS_NOMEM);
        ts__cpu_destroy(device);
        CHECK_INT(count.bytes_out, 0);
    }
    CHECK(status == TS_OK && n > 5);
}

int main(void)
{
    CHECK_OK(ts_device_get(TS_DEVICE_CPU, 0, &cpu, &err));
    slices_picks_and_transpositions_are_views();
    empty_and_wild_slices();
    reshapes_of_contiguous_and_strided_arrays();
    views_of_other_dtypes();
    strided_copies_match_index_arithmetic();
    full_zeros_and_copies();
    an_array_that_is_not_filled_is_none();
    impossible_arrays_are_refused();
    dlpack_round_trip();
    dlpack_of_others_is_checked_and_deleted_once();
    plain_layouts_pass_the_whole_check();
    freed_memory_says_so();
    lent_memory_is_not_freed();
    memory_used_by_another_stream_outlives_it();
    buffers_may_outlive_their_stream();
    memory_outlives_a_destroyed_stream();
    failing_allocations_are_reported_and_nothing_leaks();
    return check_done();
}
