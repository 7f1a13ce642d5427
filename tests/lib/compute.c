/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms without Python on the CPU device, against simple loops: reductions, scans and sorts of all dtypes at
 * lengths around tiles, also by the kernels of GPUs, and what is refused. With `--every`: every dtype with every
 * operator, which takes minutes of compiling.
 */
#include "compute_arrays.h"
#include <math.h>
#include <sys/mman.h>

static ts_error err;
static bool every; /* dtype with every operator */

enum { MOST = 70000 };

/* ---- arrays ------------------------------------------------------------------------------------------------ */

/* Values whose combinations are exact in every dtype, in any order: sums stay small, products are 1 or -1. */
static void fill(void *data, ts_dtype dtype, ts_combine op, int64_t n, uint64_t seed)
{
    int64_t before = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t value = (int64_t)(chance(&seed) % 200) - 100, sum = value % 5;
        if (is_float(dtype) && op == TS_COMBINE_add)
            value = sum - before;
        if (is_float(dtype) && op == TS_COMBINE_multiply)
            value = value < 0 ? -1 : 1;
        before = sum;
        put(data, dtype, i, value);
    }
}

/* In the dtype, in which integers wrap. */
static int64_t combined(ts_dtype dtype, ts_combine op, int64_t a, int64_t b)
{
    int64_t room, x = 0;
    bool less = dtype == TS_DTYPE_uint64 ? (uint64_t)b < (uint64_t)a : b < a;
    switch (op) {
    case TS_COMBINE_add: x = (int64_t)((uint64_t)a + (uint64_t)b); break;
    case TS_COMBINE_multiply: x = (int64_t)((uint64_t)a * (uint64_t)b); break;
    case TS_COMBINE_min: x = less ? b : a; break;
    case TS_COMBINE_max: x = less ? a : b; break;
    case TS_COMBINE_and: x = a & b; break;
    case TS_COMBINE_or: x = a | b; break;
    default: x = a ^ b;
    }
    put(&room, dtype, 0, x);
    return get(&room, dtype, 0);
}

/* ---- reductions and scans ---------------------------------------------------------------------------------- */

static uint64_t in_room[MOST], out_room[MOST], values_room[MOST], moved_room[MOST];
static int64_t lengths[] = {0, 1, 2, 31, 33, 4096, 8192, 8193, 33000, MOST};

/* How many of the lengths: without the longest, which only `--every` takes. */
static size_t length_count(void)
{
    return TS_COUNT(lengths) - !every;
}

static ts_status run_call(bool as_gpu, bool scans, const ts_arg *in, const ts_arg *out, ts_combine op,
                          const ts_compute_options *options)
{
    compute_call call;
    ts_status status = ts__compute_begin(&call, "test", NULL, in, options, &err);
    call.is_gpu = as_gpu;
    if (status != TS_OK)
        return status;
    return scans ? ts__compute_scan(&call, in, out, op, &err) : ts__compute_reduce(&call, in, out, op, &err);
}

static void check_scan(ts_dtype dtype, ts_combine op, const ts_compute_options *options, int64_t n)
{
    int64_t running = options->initial ? options->initial->value.i : 0, wrong = 0;
    bool has = options->initial != NULL, exclusive = (options->flags & TS_COMPUTE_EXCLUSIVE) != 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t item = get(in_room, dtype, i), after = has ? combined(dtype, op, running, item) : item;
        wrong += get(out_room, dtype, i) != (exclusive ? running : after);
        running = after, has = true;
    }
    CHECK_INT(wrong, 0);
}

static void check_reduce(ts_dtype dtype, ts_combine op, const ts_compute_options *options, int64_t n)
{
    int64_t total = options->initial ? options->initial->value.i : get(in_room, dtype, 0);
    if (!n && !options->initial)
        total = 77; /* as it was */
    for (int64_t i = options->initial ? 0 : 1; i < n; i++)
        total = combined(dtype, op, total, get(in_room, dtype, i));
    CHECK_INT(get(out_room, dtype, 0), total);
}

/* Of all lengths. `form` 0: plain, 1: with an initial value, 2: exclusive, or with a count on the device. */
static void runs(bool as_gpu, bool scans, ts_dtype dtype, ts_combine op, int form)
{
    static const ts_arg three = {.kind = TS_SPEC_INT, .value.i = 3}, one = {.kind = TS_SPEC_INT, .value.i = 1};
    static int64_t count;
    static const int64_t n_count = 1;
    ts_arg count_arg = array_of(&count, TS_DTYPE_int64, &n_count);
    ts_compute_options options = {.initial = !form ? NULL : op == TS_COMBINE_multiply ? &one : &three,
                                  .flags = scans && form == 2 ? TS_COMPUTE_EXCLUSIVE : 0,
                                  .count = form == 2 ? &count_arg : NULL};
    for (size_t k = 0; k < length_count(); k++) {
        int64_t n = lengths[k];
        ts_arg in = array_of(in_room, dtype, &n), out = array_of(out_room, dtype, scans ? &n : &n_count);
        fill(in_room, dtype, op, n, 17 + k);
        put(out_room, dtype, 0, 77);
        count = form == 2 && k % 2 ? n - n / 3 : n + 5; /* more than there are: all */
        CHECK_OK(run_call(as_gpu, scans, &in, &out, op, &options));
        n = options.count ? TS_MIN(n, count) : n;
        (scans ? check_scan : check_reduce)(dtype, op, &options, n);
    }
}

static void counts_without_a_sign_are_all(void)
{
    uint64_t count = UINT64_C(1) << 63;
    int64_t n = 4, one = 1;
    int32_t four[] = {1, 2, 3, 4}, sum = 0;
    ts_arg of = array_of(&count, TS_DTYPE_uint64, &one), in = array_of(four, TS_DTYPE_int32, &n);
    ts_arg out = array_of(&sum, TS_DTYPE_int32, &one);
    CHECK_OK(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &(ts_compute_options){.count = &of}, &err));
    CHECK_INT(sum, 10);
}

static const ts_dtype dtypes[] = {
    TS_DTYPE_int8, TS_DTYPE_int16, TS_DTYPE_int32, TS_DTYPE_int64, TS_DTYPE_uint8, TS_DTYPE_uint16, TS_DTYPE_uint32,
    TS_DTYPE_uint64, TS_DTYPE_float16, TS_DTYPE_bfloat16, TS_DTYPE_float32, TS_DTYPE_float64,
};

static void combinations_are_those_of_a_loop(void)
{
    static const struct {
        bool as_gpu, scans;
        ts_dtype dtype;
        ts_combine op;
        int form;
    } cases[] = {
        {false, false, TS_DTYPE_float32, TS_COMBINE_add, 0}, {true, false, TS_DTYPE_int64, TS_COMBINE_xor, 2},
        {false, true, TS_DTYPE_int32, TS_COMBINE_add, 2},
    };
    for (size_t i = 0; i < TS_COUNT(cases) && !every; i += check_step(2))
        runs(cases[i].as_gpu, cases[i].scans, cases[i].dtype, cases[i].op, cases[i].form);
    if (every)
        runs(false, true, TS_DTYPE_bfloat16, TS_COMBINE_add, 2);
    for (size_t d = 0; d < TS_COUNT(dtypes) && every; d++)
        for (int op = 0; op < (is_float(dtypes[d]) ? TS_COMBINE_and : TS_COMBINE_own); op++)
            for (int k = 0; k < 4; k++)
                if (!(k & 1) || (d + (size_t)op) % 3 == 0) /* code of a GPU takes a CPU's compiler long */
                    runs(k & 1, (k & 2) != 0, dtypes[d], (ts_combine)op, (int)(d + (size_t)op) % 3);
}

/* Sums of int8 as int32, of every third element; then those of sums, in their place. */
static void strides_dtypes_and_places_may_differ(void)
{
    static int8_t bytes[3000];
    static int32_t sums[1000];
    int64_t n = 1000, stride = 3, wanted = 0, shape[] = {10, 100}, strides[] = {100, 1}, gaps[] = {200, 1}, wrong = 0;
    for (int i = 0; i < 3000; i++)
        bytes[i] = (int8_t)(i % 101);
    ts_arg in = array_of(bytes, TS_DTYPE_int8, &n), out = array_of(sums, TS_DTYPE_int32, &n);
    in.strides = &stride;
    CHECK_OK(ts_scan(NULL, &in, &out, TS_COMBINE_add, NULL, &err));
    for (int i = 0; i < 1000; i++)
        wrong += sums[i] != (int32_t)(wanted += bytes[3 * i]);
    in = out, in.rank = 2, in.shape = shape, in.strides = strides;
    wanted = 0;
    for (int i = 0; i < 1000; i++)
        wanted += sums[i];
    CHECK_OK(ts_scan(NULL, &in, &in, TS_COMBINE_add, NULL, &err));
    wrong += sums[999] != (int32_t)wanted;
    CHECK_INT(wrong, 0);
    in.strides = gaps;
    CHECK_INT(ts_scan(NULL, &in, &out, TS_COMBINE_add, NULL, &err), TS_SHAPE);
    CHECK(strstr(err.text, "ts_scan: in has 2 axes and gaps") != NULL);
}

/* ---- sorts --------------------------------------------------------------------------------------------------- */

static const void *sorted_keys;
static ts_dtype sorted_dtype;
static bool sorted_down;

static int compare(const void *x, const void *y)
{
    int64_t i = *(const int64_t *)x, j = *(const int64_t *)y;
    int64_t a = get(sorted_keys, sorted_dtype, i), b = get(sorted_keys, sorted_dtype, j);
    int order = sorted_dtype == TS_DTYPE_uint64 ? ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b)
                                                : (a > b) - (a < b);
    order = sorted_down ? -order : order;
    return order ? order : (i > j) - (i < j);
}

static void sorts(bool as_gpu, ts_dtype dtype, int value_bytes, bool down, bool in_place)
{
    static int64_t order[MOST];
    ts_dtype of_value = value_bytes == 8 ? TS_DTYPE_float64 : TS_DTYPE_int32;
    for (size_t k = 0; k < length_count(); k++) {
        int64_t n = lengths[k], wrong = 0;
        compute_call call;
        ts_compute_options options = {.flags = down ? TS_COMPUTE_DESCENDING : 0};
        fill(in_room, dtype, TS_COMBINE_min, n, 3 + k);
        memcpy(out_room, in_room, sizeof in_room);
        for (int64_t i = 0; i < n; i++)
            put(values_room, of_value, i, i), order[i] = i;
        ts_arg keys[] = {array_of(in_place ? out_room : in_room, dtype, &n), array_of(out_room, dtype, &n)};
        ts_arg values[] = {array_of(values_room, of_value, &n), array_of(moved_room, of_value, &n)};
        CHECK_OK(ts__compute_begin(&call, "test", NULL, keys, &options, &err));
        call.is_gpu = as_gpu;
        CHECK_OK(ts__compute_sort(&call, keys, value_bytes ? values : NULL, &err));
        sorted_keys = in_room, sorted_dtype = dtype, sorted_down = down;
        qsort(order, (size_t)n, sizeof *order, compare);
        for (int64_t i = 0; i < n; i++) {
            wrong += get(out_room, dtype, i) != get(in_room, dtype, order[i]);
            wrong += value_bytes && get(moved_room, of_value, i) != order[i];
        }
        CHECK_INT(wrong, 0);
    }
}

/* Bytes of a room behind the first `used` ones that are not as memset(room, 1, ..) left them. */
static int64_t changed(const uint64_t room[MOST], size_t used)
{
    int64_t n = 0;
    for (size_t i = used; i < MOST * sizeof *room; i++)
        n += ((const char *)room)[i] != 1;
    return n;
}

/* The first few of a sort; `some`: of as many items as a count on the device says. */
static void takes_few(bool as_gpu, ts_dtype dtype, bool pairs, bool down, int64_t some)
{
    static int64_t order[MOST];
    static const int64_t one = 1;
    for (size_t k = 0; k < length_count(); k++) {
        int64_t n = lengths[k], wrong = 0, all = some && some < n ? some : n, few = k % 2 ? TS_MIN(n, 5) : n / 2;
        compute_call call;
        ts_arg count = array_of(&some, TS_DTYPE_int64, &one);
        ts_compute_options options = {.flags = down ? TS_COMPUTE_DESCENDING : 0, .count = some ? &count : NULL};
        fill(in_room, dtype, TS_COMBINE_min, n, 5 + k);
        for (int64_t i = 0; i < n; i++)
            put(values_room, TS_DTYPE_float32, i, i), order[i] = i;
        memset(out_room, 1, sizeof out_room);
        memset(moved_room, 1, sizeof moved_room);
        ts_arg keys[] = {array_of(in_room, dtype, &n), array_of(out_room, dtype, &few)};
        ts_arg values[] = {array_of(values_room, TS_DTYPE_float32, &n), array_of(moved_room, TS_DTYPE_float32, &few)};
        CHECK_OK(ts__compute_begin(&call, "test", NULL, keys, &options, &err));
        call.is_gpu = as_gpu;
        CHECK_OK(ts__compute_top_k(&call, keys, pairs ? values : NULL, few, &err));
        sorted_keys = in_room, sorted_dtype = dtype, sorted_down = down;
        qsort(order, (size_t)all, sizeof *order, compare);
        for (int64_t i = 0; i < TS_MIN(few, all); i++) {
            wrong += get(out_room, dtype, i) != get(in_room, dtype, order[i]);
            wrong += pairs && get(moved_room, TS_DTYPE_float32, i) != order[i];
        }
        few = TS_MIN(few, all);
        wrong += changed(out_room, (size_t)few * ts_dtype_bytes(dtype));
        wrong += changed(moved_room, pairs ? (size_t)few * 4 : 0);
        CHECK_INT(wrong, 0);
    }
}

static void the_first_few_are_those_of_a_sort(void)
{
    takes_few(false, TS_DTYPE_int16, true, true, 3000);
    for (size_t d = 0; d < TS_COUNT(dtypes) && every; d++)
        for (int k = 0; k < 4; k++)
            takes_few(k & 1, dtypes[d], d % 2 == 0, k & 2, d % 3 == 0 ? 100 + 500 * (int64_t)d : 0);
}

/* Memory between pages that must not be touched: it ends where the second one begins, but for the `align`. */
typedef struct guarded {
    char *pages, *at;
    size_t bytes;
} guarded;

enum { PAGE = 1 << 16 };

static guarded guard(int64_t bytes, size_t align)
{
    size_t n = ((size_t)bytes + align - 1) / align * align, inside = (n + PAGE - 1) / PAGE * PAGE;
    guarded g = {.bytes = inside + 2 * PAGE};
    g.pages = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(g.pages != MAP_FAILED && !mprotect(g.pages + PAGE, inside, PROT_READ | PROT_WRITE));
    g.at = g.pages + PAGE + inside - n;
    return g;
}

/* Keys of float32 with a stride, NaNs among them, and what stands with them, between guards and in exactly the memory
 * that is asked for. `some`: how many items a count on the device says; NULL: all. */
static void takes_few_between_guards(int64_t n, int64_t few, int64_t stride, bool down, const int16_t *some)
{
    static int64_t order[MOST];
    static int32_t ranks[MOST];
    static const int64_t one = 1;
    int64_t all = some ? TS_MAX(0, TS_MIN(n, *some)) : n, wrong = 0;
    uint64_t seed = (uint64_t)(n + few), need = 0;
    guarded rooms[] = {guard(((n - 1) * stride + 1) * 4, 4), guard(n * 4, 4), guard(few * 4, 4), guard(few * 4, 4)};
    float *keys_in = (float *)rooms[0].at, *keys_out = (float *)rooms[2].at;
    int32_t *values_in = (int32_t *)rooms[1].at, *values_out = (int32_t *)rooms[3].at;
    for (int64_t i = 0; i < n; i++) {
        order[i] = i, values_in[i] = (int32_t)i;
        ranks[i] = chance(&seed) % 97 ? (int32_t)(chance(&seed) % (few % 2 ? 50 : 1000000)) : INT32_MAX;
        keys_in[i * stride] = ranks[i] == INT32_MAX ? NAN : (float)ranks[i];
    }
    for (int64_t i = 0; i < few; i++)
        keys_out[i] = -5, values_out[i] = -6;
    ts_arg count = array_of((void *)(uintptr_t)some, TS_DTYPE_int16, &one);
    ts_arg keys[] = {array_of(keys_in, TS_DTYPE_float32, &n), array_of(keys_out, TS_DTYPE_float32, &few)};
    ts_arg values[] = {array_of(values_in, TS_DTYPE_int32, &n), array_of(values_out, TS_DTYPE_int32, &few)};
    ts_compute_options options = {.flags = down ? TS_COMPUTE_DESCENDING : 0, .count = some ? &count : NULL,
                                  .need = &need};
    keys[0].strides = &stride;
    CHECK_OK(ts_top_k(NULL, keys, values, few, &options, &err));
    guarded memory = guard((int64_t)need, 256);
    options.need = NULL, options.memory = memory.at, options.memory_bytes = need - 1;
    CHECK_INT(ts_top_k(NULL, keys, values, few, &options, &err), TS_VALUE);
    options.memory_bytes = need;
    CHECK_OK(ts_top_k(NULL, keys, values, few, &options, &err));
    sorted_keys = ranks, sorted_dtype = TS_DTYPE_int32, sorted_down = down;
    qsort(order, (size_t)all, sizeof *order, compare);
    for (int64_t i = 0; i < few; i++)
        if (i < all)
            wrong += values_out[i] != order[i] || memcmp(&keys_out[i], &keys_in[order[i] * stride], 4);
        else
            wrong += keys_out[i] != -5 || values_out[i] != -6;
    CHECK_INT(wrong, 0);
    for (size_t i = 0; i < TS_COUNT(rooms); i++)
        munmap(rooms[i].pages, rooms[i].bytes);
    munmap(memory.pages, memory.bytes);
}

/* Extents of 1 and multiples of 16 have kernels of their own, as have orders and counts: of these one, or all. */
static void the_first_few_keep_to_their_memory(void)
{
    static const int64_t all_of[] = {63, 65, 4097, 40001, 1, 2, 64, 1000, 40000};
    static const int64_t some_few[] = {3, 31, 63, 1251, 0, 1, 2};
    size_t n_all = every ? TS_COUNT(all_of) : 4, n_few = every ? TS_COUNT(some_few) : 4;
    for (size_t a = 0, turn = 0; a < n_all; a++)
        for (size_t b = 0; b < n_few; b++, turn++) {
            int64_t n = all_of[a], few = some_few[b], stride = every ? 1 + (int64_t)turn % 3 : 3;
            int16_t counts[] = {INT16_MAX, (int16_t)(n / 2), (int16_t)(n / 4), -3, 0};
            bool is_counted = !every || turn % 4;
            if (few <= n)
                takes_few_between_guards(n, few, stride, every && turn % 2, is_counted ? &counts[turn % 5] : NULL);
        }
}

/* What is put aside on a CPU: only as long as a core drops the greater part of what it reads. */
static void little_is_put_aside(void)
{
    int64_t n = MOST, few = 0, parts;
    uint64_t need[2];
    compute_call call;
    const ts_arg keys[] = {array_of(in_room, TS_DTYPE_float32, &n), array_of(out_room, TS_DTYPE_float32, &few)};
    CHECK_OK(ts__compute_begin(&call, "test", NULL, keys, NULL, &err));
    CHECK_OK(ts__compute_parts(&call, n, COMPUTE_PART, &parts, &err));
    int64_t most = n / parts / 16;
    for (int is_more = 0; is_more < 2; is_more++) {
        few = most + is_more;
        CHECK_OK(ts_top_k(NULL, keys, NULL, few, &(ts_compute_options){.need = &need[is_more]}, &err));
    }
    int64_t aside = parts * (2 * most + COMPUTE_TOP_VALUES + COMPUTE_TOP_LOOK) * 12;
    CHECK(need[0] > need[1] && need[0] - need[1] <= (uint64_t)aside && need[0] - need[1] >= (uint64_t)aside / 2);
}

static void sorts_are_stable_and_in_order(void)
{
    sorts(false, TS_DTYPE_int16, 8, true, true);
    for (size_t d = 0; d < TS_COUNT(dtypes) && every; d++)
        for (int k = 0; k < 4; k += 1 + (d % 4 != 0))
            sorts(k & 1, dtypes[d], k & 2 ? 4 << d % 2 : 0, d % 3 == 1, d % 2 == 1);
}

/* ---- selections and searches ---------------------------------------------------------------------------------- */

/* By flags that are set for one item of `rare`, or the first items of runs of about as many. */
static void selects(bool as_gpu, bool by_flags, ts_dtype dtype, uint64_t rare)
{
    static const int64_t n_count = 1;
    for (size_t k = 0; k < length_count(); k++) {
        int64_t n = lengths[k], m = 0, wrong = 0;
        uint64_t seed = k;
        uint32_t count = 77;
        int16_t *flags = (int16_t *)values_room;
        compute_call call;
        for (int64_t i = 0, value = 1; i < n; i++) {
            flags[i] = chance(&seed) % rare ? 0 : (int16_t)-3;
            put(in_room, dtype, i, value = flags[i] ? (int64_t)chance(&seed) % 90 : value);
            put(out_room, dtype, i, 99);
        }
        ts_arg in = array_of(in_room, dtype, &n), by = array_of(flags, TS_DTYPE_int16, &n);
        ts_arg out[] = {array_of(out_room, dtype, &n), array_of(&count, TS_DTYPE_uint32, &n_count)};
        CHECK_OK(ts__compute_begin(&call, "test", NULL, &in, NULL, &err));
        call.is_gpu = as_gpu;
        CHECK_OK(ts__compute_select(&call, &in, by_flags ? &by : NULL, out, 2, &err));
        for (int64_t i = 0; i < n; i++)
            if (by_flags ? flags[i] != 0 : i == 0 || get(in_room, dtype, i) != get(in_room, dtype, i - 1))
                wrong += get(out_room, dtype, m++) != get(in_room, dtype, i);
        for (int64_t i = m; i < n; i++)
            wrong += get(out_room, dtype, i) != 99;
        CHECK_INT(wrong, 0);
        CHECK_INT(count, m);
    }
}

static void selections_keep_the_order(void)
{
    selects(false, true, TS_DTYPE_float32, 3);
    if (check_step(2) == 1)
        selects(false, false, TS_DTYPE_int8, 7);
    for (size_t d = 0; d < TS_COUNT(dtypes) && every; d++)
        for (uint64_t k = 0; k < 4; k++)
            selects(k & 1, k > 1, dtypes[d], 1 + k * d);
}

static void places_are_those_of_a_loop(void)
{
    static double sorted[1000], values[3000];
    static int32_t places[3000];
    int64_t n = 1000, m = 3000, wrong = 0;
    ts_compute_options upper = {.flags = TS_COMPUTE_UPPER};
    for (int i = 0; i < 1000; i++)
        sorted[i] = i / 3;
    for (int i = 0; i < 3000; i++)
        values[i] = i % 401 - 20.5 * (i % 2);
    ts_arg in = array_of(sorted, TS_DTYPE_float64, &n), of = array_of(values, TS_DTYPE_float64, &m);
    ts_arg out = array_of(places, TS_DTYPE_int32, &m);
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        CHECK_OK(ts_search(NULL, &in, &of, &out, is_upper ? &upper : NULL, &err));
        for (int i = 0; i < 3000; i++) {
            int32_t place = 0;
            while (place < 1000 && (sorted[place] < values[i] || (is_upper && sorted[place] == values[i])))
                place++;
            wrong += places[i] != place;
        }
    }
    CHECK_INT(wrong, 0);
}

static void partitions_keep_both_orders(bool as_gpu)
{
    static const int64_t n_count = 1;
    for (size_t k = 0; k < length_count(); k++) {
        int64_t n = lengths[k], m = 0, rest = 0, wrong = 0, count = 77;
        uint64_t seed = k;
        uint8_t *flags = (uint8_t *)values_room;
        compute_call call;
        for (int64_t i = 0; i < n; i++)
            flags[i] = chance(&seed) % 3 == 0, put(in_room, TS_DTYPE_int16, i, i % 30011);
        ts_arg in = array_of(in_room, TS_DTYPE_int16, &n), by = array_of(flags, TS_DTYPE_bool_, &n);
        ts_arg out[] = {array_of(out_room, TS_DTYPE_int16, &n), array_of(moved_room, TS_DTYPE_int16, &n),
                        array_of(&count, TS_DTYPE_int64, &n_count)};
        CHECK_OK(ts__compute_begin(&call, "test", NULL, &in, NULL, &err));
        call.is_gpu = as_gpu;
        CHECK_OK(ts__compute_select(&call, &in, &by, out, 3, &err));
        for (int64_t i = 0; i < n; i++)
            wrong += get(flags[i] ? out_room : moved_room, TS_DTYPE_int16, flags[i] ? m++ : rest++) != i % 30011;
        CHECK_INT(wrong, 0);
        CHECK_INT(count, m);
    }
}

static void merged_sequences_are_in_order(void)
{
    static int32_t a[1000], b[1000], merged[2000];
    ts_compute_options down = {.flags = TS_COMPUTE_DESCENDING};
    int64_t n = 1000, m = 700, both = 1700, wrong = 0;
    for (int is_down = 0; is_down < 2; is_down++) {
        for (int i = 0; i < 1000; i++)
            a[i] = i / 3 * (is_down ? -1 : 1), b[i] = i * (is_down ? -2 : 2);
        const ts_arg in[] = {array_of(a, TS_DTYPE_int32, &n), array_of(b, TS_DTYPE_int32, &m)};
        ts_arg out = array_of(merged, TS_DTYPE_int32, &both);
        CHECK_OK(ts_merge(NULL, in, &out, is_down ? &down : NULL, &err));
        for (int i = 0, j = 0, k = 0; k < 1700; k++) {
            bool of_a = j == 700 || (i < 1000 && (is_down ? a[i] >= b[j] : a[i] <= b[j]));
            wrong += merged[k] != (of_a ? a[i++] : b[j++]);
        }
    }
    CHECK_INT(wrong, 0);
}

static void nans_come_last(void)
{
    float a[] = {3, NAN}, b[] = {1, 2, NAN}, merged[5], sorted[] = {1, 2, NAN, NAN}, values[] = {NAN, 0, 5, 2};
    static const int32_t wanted[2][4] = {{2, 0, 2, 1}, {4, 0, 2, 2}};
    int64_t n = 2, m = 3, both = 5, four = 4;
    int32_t places[4];
    ts_compute_options upper = {.flags = TS_COMPUTE_UPPER};
    const ts_arg in[] = {array_of(a, TS_DTYPE_float32, &n), array_of(b, TS_DTYPE_float32, &m)};
    ts_arg to = array_of(merged, TS_DTYPE_float32, &both), out = array_of(places, TS_DTYPE_int32, &four);
    ts_arg data = array_of(sorted, TS_DTYPE_float32, &four), of = array_of(values, TS_DTYPE_float32, &four);
    CHECK_OK(ts_merge(NULL, in, &to, NULL, &err));
    for (int i = 0; i < 5; i++)
        CHECK(i < 3 ? merged[i] == (float)(i + 1) : isnan(merged[i]));
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        CHECK_OK(ts_search(NULL, &data, &of, &out, is_upper ? &upper : NULL, &err));
        for (int i = 0; i < 4; i++)
            CHECK_INT(places[i], wanted[is_upper][i]);
    }
}

/* ---- histograms ------------------------------------------------------------------------------------------------- */

/* The bin of a sample by `n + 1` edges; -1: none. */
static int bin_of(double x, const double *edges, int n)
{
    if (!(x >= edges[0] && x < edges[n]))
        return -1;
    int bin = 0;
    while (x >= edges[bin + 1])
        bin++;
    return bin;
}

static void bins_are(const char *what, const int32_t *bins, const double *samples, int n_samples, const double *edges,
                     int n)
{
    int32_t wanted[64] = {0};
    for (int i = 0; i < n_samples; i++)
        if (bin_of(samples[i], edges, n) >= 0)
            wanted[bin_of(samples[i], edges, n)]++;
    for (int i = 0; i < n; i++) {
        if (bins[i] != wanted[i])
            printf("%s: bin %d\n", what, i);
        CHECK_INT(bins[i], wanted[i]);
    }
}

static void histogram_call(bool as_gpu, const ts_arg *samples, const ts_arg *levels, const ts_arg *range,
                           const ts_arg *bins)
{
    compute_call call;
    CHECK_OK(ts__compute_begin(&call, "test", NULL, samples, NULL, &err));
    call.is_gpu = as_gpu;
    CHECK_OK(ts__compute_histogram(&call, samples, levels, range, bins, &err));
}

static void bins_are_those_of_a_loop(bool as_gpu)
{
    static double values[5000];
    static int16_t ints[5000];
    static float edges_f[9];
    static int32_t bins[8];
    double even[9], ragged[] = {-40, -39.5, -3, 0, 0.5, 20, 20.25, 60, 61};
    int64_t n = 5000, eight = 8, nine = 9;
    for (int i = 0; i < 5000; i++)
        ints[i] = (int16_t)(i * 37 % 201 - 100), values[i] = i % 97 ? ints[i] : NAN;
    for (int i = 0; i < 9; i++)
        even[i] = -40 + 12.5 * i, edges_f[i] = (float)ragged[i];
    ts_arg of_ints = array_of(ints, TS_DTYPE_int16, &n), of_values = array_of(values, TS_DTYPE_float64, &n);
    ts_arg out = array_of(bins, TS_DTYPE_int32, &eight), range = array_of(edges_f, TS_DTYPE_float32, &nine);
    const ts_arg whole[] = {{.kind = TS_SPEC_INT, .value.i = -40}, {.kind = TS_SPEC_INT, .value.i = 60}};
    const ts_arg floats[] = {{.kind = TS_SPEC_FLOAT, .value.f = -40}, {.kind = TS_SPEC_FLOAT, .value.f = 60}};
    histogram_call(as_gpu, &of_values, floats, NULL, &out);
    bins_are("floats", bins, values, 5000, even, 8);
    histogram_call(as_gpu, &of_values, NULL, &range, &out);
    bins_are("range", bins, values, 5000, ragged, 8);
    for (int i = 0; i < 5000; i++)
        values[i] = ints[i];
    histogram_call(as_gpu, &of_ints, whole, NULL, &out);
    bins_are("ints", bins, values, 5000, even, 8);
    n = 0;
    histogram_call(as_gpu, &of_ints, whole, NULL, &out);
    bins_are("none", bins, values, 0, even, 8);
    int64_t far[] = {INT64_MIN, -1, 0, INT64_MAX - 1, INT64_MAX}, five = 5, three = 3;
    const ts_arg all[] = {{.kind = TS_SPEC_INT, .value.i = INT64_MIN}, {.kind = TS_SPEC_INT, .value.i = INT64_MAX}};
    ts_arg of_far = array_of(far, TS_DTYPE_int64, &five);
    out.shape = &three;
    histogram_call(as_gpu, &of_far, all, NULL, &out);
    CHECK(bins[0] == 1 && bins[1] == 2 && bins[2] == 1);
    far[0] = INT64_MIN / 3 - 2, far[1] = INT64_MIN / 3 - 1, five = 2; /* the first edge is -2^63 + (2^64 - 1) / 3 */
    histogram_call(as_gpu, &of_far, all, NULL, &out);
    CHECK(bins[0] == 1 && bins[1] == 1 && bins[2] == 0);
}

/* ---- operators of the program ------------------------------------------------------------------------------------ */

/* The one that comes last, unless it is 0: it does not commute. */
static const char last_of[] = "both func @last(%a: i32, %b: i32) : i32 {\n"
                              "  %zero = constant 0 : i32\n"
                              "  %is_there = cmpi ne %b, %zero : i1\n"
                              "  %c = select %is_there, %b, %a : i32\n"
                              "  return %c\n"
                              "}\n";
/* A function that another one calls; of a float and an integer. */
static const char weighted[] = "both func @half(%a: f32) : f32 {\n"
                               "  %h = constant 0.5 : f32\n"
                               "  %b = mulf %a, %h : f32\n"
                               "  return %b\n"
                               "}\n"
                               "both func @weighted(%a: f32, %n: i16) : f32 {\n"
                               "  %b = call @half %a : f32\n"
                               "  %m = itof %n : f32\n"
                               "  %c = mulf %b, %m : f32\n"
                               "  return %c\n"
                               "}\n";

static void operators_of_programs_combine(bool as_gpu, bool scans)
{
    int64_t n = 9000, one = 1, wrong = 0;
    int32_t running = 0;
    ts_compute_options options = {.own = last_of};
    int32_t *x = (int32_t *)in_room, *out = (int32_t *)out_room;
    for (int i = 0; i < 9000; i++)
        x[i] = i % 13 ? 0 : i + 1;
    ts_arg in = array_of(x, TS_DTYPE_int32, &n), to = array_of(out, TS_DTYPE_int32, scans ? &n : &one);
    CHECK_OK(run_call(as_gpu, scans, &in, &to, TS_COMBINE_own, &options));
    for (int i = 0; i < 9000; i++) {
        running = x[i] ? x[i] : running;
        wrong += scans && out[i] != running;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(scans ? running : out[0], running);
}

static void operators_of_programs_transform(bool as_gpu)
{
    static float x[20000], out[20000];
    static int16_t by[20000];
    int64_t n = 20000, wrong = 0;
    compute_call call;
    ts_compute_options options = {.own = weighted};
    for (int i = 0; i < 20000; i++)
        x[i] = (float)(i % 100) - 50, by[i] = (int16_t)(i % 7 - 3);
    const ts_arg in[] = {array_of(x, TS_DTYPE_float32, &n), array_of(by, TS_DTYPE_int16, &n)};
    ts_arg to = array_of(out, TS_DTYPE_float32, &n);
    CHECK_OK(ts__compute_begin(&call, "test", NULL, in, &options, &err));
    call.is_gpu = as_gpu;
    CHECK_OK(ts__compute_transform(&call, in, 2, &to, &err));
    for (int i = 0; i < 20000; i++)
        wrong += out[i] != x[i] * 0.5f * by[i];
    CHECK_INT(wrong, 0);
}

static void expect(ts_status found, ts_status wanted, const char *words);

static void operators_of_programs_are_looked_at(void)
{
    int64_t n = 100;
    ts_arg x = array_of(in_room, TS_DTYPE_float32, &n), y = array_of(out_room, TS_DTYPE_float32, &n);
    static const struct {
        const char *text, *words;
    } cases[] = {
        {last_of, "@last is (i32, i32) : i32; it is called with (f32) and gives f32"},
        {"", "it has none; write func"},
        {"both func @f(%a: f32) : f32 {\n  return %b\n}", "2:10: %b"},
        {"both func @f(%a: f32) : f32 {\n  %b = addi %a, %a : f32\n  return %b\n}", "@f"},
        {"thread func @f(%a: f32) : f32 {\n  bar_sync\n  return %a\n}", "@f has 'bar_sync', which reads, writes or"},
        {"thread entry @f(%a: f32) {\n  return\n}", "an entry, which nobody calls"},
        {"both func @transform(%a: f32) : f32 {\n  return %a\n}", "has an @transform, too; give another name"},
    };
    ts_compute_options options = {0};
    expect(ts_transform(NULL, &x, 1, &y, &options, &err), TS_VALUE, "options.own is NULL");
    expect(ts_reduce(NULL, &x, &y, TS_COMBINE_own, NULL, &err), TS_VALUE, "options.own is NULL");
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        options.own = cases[i].text;
        CHECK(ts_transform(NULL, &x, 1, &y, &options, &err) != TS_OK);
        if (!strstr(err.text, cases[i].words))
            printf("%zu: %s\n", i, err.text);
        CHECK(strstr(err.text, cases[i].words) != NULL);
    }
    expect(ts_reduce(NULL, &x, &y, TS_COMBINE_add, &options, &err), TS_VALUE, "given and not asked");
    expect(ts_unique(NULL, &x, (ts_arg[]){y, y}, &options, &err), TS_VALUE, "given and not asked");
    expect(ts_transform(NULL, &x, 4, &y, &options, &err), TS_VALUE, "4 inputs; it takes 1 to 3");
    y.value.data = (float *)in_room + 1;
    expect(ts_transform(NULL, &x, 1, &y, &options, &err), TS_VALUE, "shares memory with an input");
}

/* ---- options -------------------------------------------------------------------------------------------------- */

static void memory_may_be_the_callers(void)
{
    static _Alignas(256) char memory[1 << 20];
    int64_t n = 50000, one = 1;
    uint64_t need = 0;
    ts_arg in = array_of(in_room, TS_DTYPE_float32, &n), out = array_of(out_room, TS_DTYPE_float32, &one);
    fill(in_room, TS_DTYPE_float32, TS_COMBINE_add, n, 5);
    ts_compute_options options = {.need = &need};
    CHECK_OK(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err));
    CHECK(need > 0 && need <= sizeof memory && need % 256 == 0);
    options = (ts_compute_options){.memory = memory, .memory_bytes = need};
    CHECK_OK(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err));
    check_reduce(TS_DTYPE_float32, TS_COMBINE_add, &(ts_compute_options){0}, n);
    options.memory_bytes = need - 1;
    CHECK_INT(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err), TS_VALUE);
    CHECK(strstr(err.text, "are needed, aligned to 256") != NULL);
    options = (ts_compute_options){.memory = memory + 8, .memory_bytes = sizeof memory - 8};
    CHECK_INT(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err), TS_VALUE);
}

static void expect(ts_status found, ts_status wanted, const char *words)
{
    CHECK_INT(found, wanted);
    CHECK(strstr(err.text, words) != NULL);
}

static void what_cannot_be_done_is_refused(void)
{
    int64_t n = 100, one = 1, none = 0, step = 2;
    ts_arg in = array_of(in_room, TS_DTYPE_float32, &n), out = array_of(out_room, TS_DTYPE_float32, &n), bad = out;
    ts_arg number = {.kind = TS_SPEC_NONE}, few = array_of(out_room, TS_DTYPE_float32, &one), keys[] = {in, out};
    ts_compute_options options = {.flags = TS_COMPUTE_EXCLUSIVE};
    expect(ts_reduce(NULL, NULL, &out, TS_COMBINE_add, NULL, &err), TS_VALUE, "ts_reduce");
    expect(ts_reduce(NULL, &in, &number, TS_COMBINE_add, NULL, &err), TS_TYPE, "result is not an array");
    expect(ts_reduce(NULL, &in, &out, TS_COMBINE_or, NULL, &err), TS_TYPE, "are of integers, found float32");
    expect(ts_reduce(NULL, &in, &out, (ts_combine)99, NULL, &err), TS_VALUE, "99 is no operator");
    expect(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err), TS_VALUE, "not its own");
    expect(ts_scan(NULL, &in, &out, TS_COMBINE_add, &options, &err), TS_VALUE, "begins with its initial value");
    expect(ts_scan(NULL, &in, &few, TS_COMBINE_add, NULL, &err), TS_SHAPE, "out has 1 items, in 100");
    few.shape = &none;
    expect(ts_reduce(NULL, &in, &few, TS_COMBINE_add, NULL, &err), TS_VALUE, "result has no elements");
    bad.dtype = TS_DTYPE_complex64;
    expect(ts_reduce(NULL, &in, &bad, TS_COMBINE_add, NULL, &err), TS_TYPE, "from float32 to complex64");
    bad = out, bad.readonly = 1;
    expect(ts_scan(NULL, &in, &bad, TS_COMBINE_add, NULL, &err), TS_VALUE, "out is read-only");
    bad = in, bad.value.data = in_room + 1;
    expect(ts_scan(NULL, &in, &bad, TS_COMBINE_add, NULL, &err), TS_VALUE, "shares memory with an input");
    keys[1] = bad;
    expect(ts_sort(NULL, keys, NULL, NULL, &err), TS_VALUE, "shares memory");
    keys[1] = out, keys[1].strides = &step;
    expect(ts_sort(NULL, keys, NULL, NULL, &err), TS_SHAPE, "stride of 2");
    keys[1] = out, keys[1].dtype = TS_DTYPE_int32;
    expect(ts_sort(NULL, keys, NULL, NULL, &err), TS_TYPE, "a sort keeps the dtype");
    keys[1] = out;
    ts_arg values[] = {array_of(values_room, TS_DTYPE_int8, &n), array_of(moved_room, TS_DTYPE_int8, &n)};
    expect(ts_sort(NULL, keys, values, NULL, &err), TS_TYPE, "values of 4 or 8 bytes");
    options = (ts_compute_options){.count = &in};
    expect(ts_sort(NULL, keys, NULL, &options, &err), TS_TYPE, "count has 100 elements of float32");
    ts_arg chosen[] = {out, array_of(values_room, TS_DTYPE_int32, &one)};
    expect(ts_unique(NULL, &out, chosen, NULL, &err), TS_VALUE, "shares memory with another array");
    chosen[1].value.data = (char *)out_room + 396;
    expect(ts_unique(NULL, &in, chosen, NULL, &err), TS_VALUE, "shares memory with another array");
    chosen[1].value.data = values_room;
    expect(ts_select_flagged(NULL, &in, &few, chosen, NULL, &err), TS_SHAPE, "flags has 0 items; it needs 100");
    chosen[1].dtype = TS_DTYPE_float32;
    expect(ts_unique(NULL, &in, chosen, NULL, &err), TS_TYPE, "it takes integers");
    chosen[1].dtype = TS_DTYPE_int8, n = 128;
    expect(ts_unique(NULL, &in, chosen, NULL, &err), TS_VALUE, "is of int8, which does not hold 128");
    n = 127;
    CHECK_INT(ts_unique(NULL, &in, chosen, NULL, &err), TS_OK);
    ts_arg parted[] = {chosen[0], in, chosen[1]}, levels[] = {{.kind = TS_SPEC_INT, .value.i = 5},
                                                              {.kind = TS_SPEC_INT, .value.i = 5}};
    expect(ts_partition_flagged(NULL, &in, &values[0], parted, NULL, &err), TS_VALUE, "shares memory with another");
    expect(ts_merge(NULL, keys, &in, NULL, &err), TS_SHAPE, "out has 127 items; it needs 254");
    expect(ts_histogram_even(NULL, &in, levels, &out, NULL, &err), TS_TYPE, "bins are of float32; they are integers");
    expect(ts_histogram_even(NULL, &in, levels, &values[1], NULL, &err), TS_TYPE, "int8, and GPUs count in integers");
    values[1].dtype = TS_DTYPE_int32;
    expect(ts_histogram_even(NULL, &in, levels, &values[1], NULL, &err), TS_VALUE, "levels are 5 and 5; the");
    levels[1].kind = TS_SPEC_FLOAT;
    expect(ts_histogram_even(NULL, &in, levels, &values[1], NULL, &err), TS_VALUE, "both of kind TS_SPEC_INT or");
    expect(ts_histogram_range(NULL, &in, &out, &values[1], NULL, &err), TS_SHAPE, "127 levels of 127 bins");
    values[1].dtype = TS_DTYPE_uint8, n = 256;
    expect(ts_search(NULL, &in, &in, &values[1], NULL, &err), TS_VALUE, "places is of uint8, which does not hold 256");
    n = 100;
    expect(ts_search(NULL, &in, &values[0], &out, NULL, &err), TS_TYPE, "sorted is of float32, values of int8");
    expect(ts_search(NULL, &in, &in, &out, NULL, &err), TS_TYPE, "places is of float32; it takes integers");
    options = (ts_compute_options){.initial = &number};
    expect(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err), TS_TYPE, "initial value is not a real number");
    number = (ts_arg){.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_complex64};
    expect(ts_reduce(NULL, &in, &out, TS_COMBINE_add, &options, &err), TS_TYPE, "initial value is not a real number");
}

static void initial_values_that_integers_do_not_have_are_refused(void)
{
    const struct {
        ts_dtype dtype;
        uint8_t kind;
        int64_t i;
        double f;
        const char *told; /* NULL: it fits */
    } rows[] = {
        {TS_DTYPE_int32, TS_SPEC_INT, ((int64_t)1 << 40) + 5, 0, "1099511627781 does not fit int32"},
        {TS_DTYPE_int32, TS_SPEC_INT, INT32_MIN, 0, NULL},
        {TS_DTYPE_int32, TS_SPEC_INT, (int64_t)INT32_MIN - 1, 0, "-2147483649 does not fit int32"},
        {TS_DTYPE_int8, TS_SPEC_INT, 128, 0, "128 does not fit int8"},
        {TS_DTYPE_uint8, TS_SPEC_INT, 255, 0, NULL},
        {TS_DTYPE_uint8, TS_SPEC_INT, -1, 0, "-1 does not fit uint8"},
        {TS_DTYPE_uint64, TS_SPEC_INT, INT64_MAX, 0, NULL},
        {TS_DTYPE_uint64, TS_SPEC_INT, -1, 0, "-1 does not fit uint64"},
        {TS_DTYPE_int64, TS_SPEC_INT, INT64_MIN, 0, NULL},
        {TS_DTYPE_int32, TS_SPEC_FLOAT, 0, .75, "0.75 is no number of int32"},
        {TS_DTYPE_int32, TS_SPEC_FLOAT, 0, 1e30, "is no number of int32"},
        {TS_DTYPE_int32, TS_SPEC_FLOAT, 0, -2147483648.0, NULL},
        {TS_DTYPE_int64, TS_SPEC_FLOAT, 0, 0x1p63, "is no number of int64"},
        {TS_DTYPE_uint64, TS_SPEC_FLOAT, 0, 0x1p63, NULL},
        {TS_DTYPE_int8, TS_SPEC_FLOAT, 0, NAN, "nan is no number of int8"},
        {TS_DTYPE_float32, TS_SPEC_FLOAT, 0, .75, NULL},
    };
    for (size_t i = 0; i < TS_COUNT(rows); i++) {
        int64_t n = 4;
        ts_arg in = array_of(in_room, rows[i].dtype, &n), out = array_of(out_room, rows[i].dtype, &n);
        ts_arg initial = {.kind = rows[i].kind, .value.i = rows[i].i};
        uint64_t need;
        ts_compute_options options = {.initial = &initial, .need = &need};
        if (rows[i].kind == TS_SPEC_FLOAT)
            initial.value.f = rows[i].f;
        if (!rows[i].told) {
            CHECK_INT(ts_reduce(NULL, &in, &out, TS_COMBINE_max, &options, &err), TS_OK);
            CHECK_INT(ts_scan(NULL, &in, &out, TS_COMBINE_max, &options, &err), TS_OK);
            continue;
        }
        expect(ts_reduce(NULL, &in, &out, TS_COMBINE_max, &options, &err), TS_VALUE, rows[i].told);
        expect(ts_scan(NULL, &in, &out, TS_COMBINE_max, &options, &err), TS_VALUE, rows[i].told);
    }
}

static void first_few_that_cannot_be_are_refused(void)
{
    int64_t n = 100, three = 3, two = 2, step = 2;
    ts_arg keys[] = {array_of(in_room, TS_DTYPE_float32, &n), array_of(out_room, TS_DTYPE_float32, &three)};
    ts_arg values[] = {array_of(values_room, TS_DTYPE_int32, &n), array_of(moved_room, TS_DTYPE_int32, &three)};
    const ts_arg key = keys[1], value = values[1];
    ts_compute_options options = {.flags = TS_COMPUTE_EXCLUSIVE};
    expect(ts_top_k(NULL, NULL, NULL, 3, NULL, &err), TS_VALUE, "ts_top_k");
    expect(ts_top_k(NULL, keys, values, -1, NULL, &err), TS_VALUE, "k is -1, there are 100 items");
    expect(ts_top_k(NULL, keys, values, 101, NULL, &err), TS_VALUE, "k is 101, there are 100 items");
    expect(ts_top_k(NULL, keys, NULL, 4, NULL, &err), TS_SHAPE, "keys[1] has 3 items; it needs 4");
    expect(ts_top_k(NULL, keys, NULL, 3, &options, &err), TS_VALUE, "not its own");
    values[1].shape = &two;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_SHAPE, "values[1] has 2 items; it needs 3");
    values[1] = value, values[0].shape = &two;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_SHAPE, "values[0] has 2 items; it needs 100");
    values[0].shape = &n, keys[1].strides = &step;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_SHAPE, "stride of 2");
    keys[1] = key, keys[1].dtype = TS_DTYPE_int32;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_TYPE, "keys[0] is of float32, keys[1] of int32");
    keys[1] = key, values[1].dtype = TS_DTYPE_float32;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_TYPE, "values[0] is of int32, values[1] of float32");
    values[0].dtype = values[1].dtype = TS_DTYPE_int16;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_TYPE, "values of 4 or 8 bytes");
    values[0].dtype = TS_DTYPE_int32, values[1] = value, keys[0].dtype = keys[1].dtype = TS_DTYPE_bool_;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_TYPE, "keys are bool");
    keys[0].dtype = TS_DTYPE_float32, keys[1] = key;
    void *const taken[] = {in_room, values_room, moved_room}; /* by keys, values, and the values that go with them */
    for (size_t i = 0; i < TS_COUNT(taken); i++) {
        keys[1].value.data = taken[i];
        expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_VALUE, "shares memory with another array");
    }
    keys[1] = key, values[1].value.data = in_room;
    expect(ts_top_k(NULL, keys, values, 3, NULL, &err), TS_VALUE, "shares memory with another array");
}

static const char farther[] = "both func @farther(%a: i32, %b: i32) : i1 {\n"
                             "  %zero = constant 0 : i32\n"
                             "  %na = subi %zero, %a : i32\n"
                             "  %nb = subi %zero, %b : i32\n"
                             "  %x = maxi %a, %na : i32\n"
                             "  %y = maxi %b, %nb : i32\n"
                             "  %c = cmpi gt %x, %y : i1\n"
                             "  return %c\n"
                             "}\n";
static const char above[] = "both func @above(%a: f32) : i1 {\n"
                            "  %limit = constant 500.0 : f32\n"
                            "  %c = cmpf gt %a, %limit : i1\n"
                            "  return %c\n"
                            "}\n";

/* Sequences whose items are the farther from 0, the earlier they come. */
static void comparisons_of_programs_order(void)
{
    static int32_t a[1000], b[700], merged[1700];
    static int64_t places[700];
    int64_t n = 1000, m = 700, both = 1700, wrong = 0;
    ts_compute_options options = {.own = farther}, upper = {.own = farther, .flags = TS_COMPUTE_UPPER};
    for (int i = 0; i < 1000; i++)
        a[i] = (1000 - i) / 3 * (i % 2 ? 1 : -1);
    for (int i = 0; i < 700; i++)
        b[i] = (700 - i) / 2 * (i % 3 ? 1 : -1);
    const ts_arg in[] = {array_of(a, TS_DTYPE_int32, &n), array_of(b, TS_DTYPE_int32, &m)};
    ts_arg out = array_of(merged, TS_DTYPE_int32, &both), at = array_of(places, TS_DTYPE_int64, &m);
    CHECK_OK(ts_merge(NULL, in, &out, &options, &err));
    for (int i = 0, j = 0, k = 0; k < 1700; k++) {
        bool of_a = j == 700 || (i < 1000 && abs(a[i]) >= abs(b[j]));
        wrong += merged[k] != (of_a ? a[i++] : b[j++]);
    }
    CHECK_INT(wrong, 0);
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        CHECK_OK(ts_search(NULL, &in[0], &in[1], &at, is_upper ? &upper : &options, &err));
        for (int i = 0; i < 700; i++) {
            int place = 0;
            while (place < 1000 && (abs(a[place]) > abs(b[i]) || (is_upper && abs(a[place]) == abs(b[i]))))
                place++;
            wrong += places[i] != place;
        }
    }
    CHECK_INT(wrong, 0);
}

static void the_first_that_is_met_is_found(void)
{
    static float x[40000];
    static const int64_t firsts[] = {0, 1, 8191, 8192, 39999, 40000};
    int64_t n = 40000, one = 1, place, some = 9000;
    ts_arg in = array_of(x, TS_DTYPE_float32, &n), out = array_of(&place, TS_DTYPE_int64, &one);
    ts_arg count = array_of(&some, TS_DTYPE_int64, &one);
    ts_compute_options options = {.own = above}, counted = {.own = above, .count = &count};
    for (size_t k = 0; k < sizeof firsts / sizeof *firsts; k++) {
        for (int i = 0; i < 40000; i++)
            x[i] = i >= firsts[k] && i % 2 == firsts[k] % 2 ? 501 : 500;
        CHECK_OK(ts_find(NULL, &in, &out, &options, &err));
        CHECK_INT(place, firsts[k]);
        CHECK_OK(ts_find(NULL, &in, &out, &counted, &err));
        CHECK_INT(place, firsts[k] < some ? firsts[k] : some);
    }
    n = 0;
    CHECK_OK(ts_find(NULL, &in, &out, &options, &err));
    CHECK_INT(place, 0);
    out.dtype = TS_DTYPE_uint64;
    expect(ts_find(NULL, &in, &out, &options, &err), TS_TYPE, "int64");
    expect(ts_find(NULL, &in, &out, NULL, &err), TS_VALUE, "own is NULL");
}

/* Kernels by words: those that calls launch, made for other callers. */
static void kernels_are_found_by_words(void)
{
    static const char *const wrong[] = {"", "reduce", "reduce_gpu dtype=float33", "reduce_gpu dtype",
                                        "reduce_gpu axis=1", "reduce_gpu combine=own", "reduce_gpu initial=2",
                                        "select_gpu bytes=3", "merge own=1", "search own=1", "find",
                                        "transform1_gpu", "transform1_cpu", "sort_gpu pair=int32/4",
                                        "sort_count_pairs_gpu pair=int32/16", "sort_count_pairs_gpu pair=int32",
                                        "reduce_gpu dtype=a_very_long_name_of_one"};
    static const char *const right[] = {"sort_sweep_pairs_gpu pair=int32/8 variant=1", "merge own=0", "search",
                                        "scan_gpu combine=xor dtype=int8"};
    ts_kernel_desc a, b;
    ts_kernel *kernel;
    CHECK_OK(ts_compute_desc("scan_gpu dtype=float32 combine=max exclusive=1", &a, &err));
    CHECK_OK(ts_compute_desc("scan_gpu dtype=float32 combine=max", &b, &err));
    CHECK(!strcmp(a.name, b.name) && a.n_params == 6 && a.hints.occupancy > 0);
    CHECK(a.source.n == b.source.n && memcmp(a.source.bytes, b.source.bytes, a.source.n) != 0);
    CHECK_OK(ts_kernel_create(&a, &kernel, &err));
    ts_kernel_release(kernel);
    ts_compute_desc_deinit(&a);
    ts_compute_desc_deinit(&b);
    ts_compute_desc_deinit(NULL);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        CHECK_OK(ts_compute_desc(right[i], &a, &err));
        ts_compute_desc_deinit(&a);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(ts_compute_desc(wrong[i], &a, &err) == TS_VALUE && !a.source.bytes && strstr(err.text, "choices"));
        ts_compute_desc_deinit(&a);
    }
}

int main(int argc, char **argv)
{
    every = argc > 1 && strcmp(argv[1], "--every") == 0;
    CHECK(!setenv("TESSERA_NUM_THREADS", "4", 0)); /* work is shared on any machine */
    combinations_are_those_of_a_loop();
    strides_dtypes_and_places_may_differ();
    sorts_are_stable_and_in_order();
    selections_keep_the_order();
    places_are_those_of_a_loop();
    partitions_keep_both_orders(every);
    merged_sequences_are_in_order();
    nans_come_last();
    counts_without_a_sign_are_all();
    bins_are_those_of_a_loop(false);
    operators_of_programs_combine(false, false);
    operators_of_programs_combine(false, true);
    operators_of_programs_transform(false);
    operators_of_programs_are_looked_at();
    if (every) {
        bins_are_those_of_a_loop(true);
        operators_of_programs_combine(true, false);
        operators_of_programs_combine(true, true);
        operators_of_programs_transform(true);
    }
    memory_may_be_the_callers();
    what_cannot_be_done_is_refused();
    the_first_few_are_those_of_a_sort();
    the_first_few_keep_to_their_memory();
    little_is_put_aside();
    initial_values_that_integers_do_not_have_are_refused();
    first_few_that_cannot_be_are_refused();
    comparisons_of_programs_order();
    the_first_that_is_met_is_found();
    kernels_are_found_by_words();
    return check_done();
}
