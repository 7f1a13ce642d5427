/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms without Python that stand on others, against simple loops; with `--every` by the kernels of GPUs, too:
 * sorts, sums and scans of parts and the first few of each, runs, sets, first items of runs of keys, neighbours, the
 * item at a place, counts and differences; and what is refused.
 */
#include "compute_arrays.h"
#include <math.h>

static ts_error err;

enum { MOST = 3000, PARTS = 40 };

static int64_t keys[3][2 * MOST], values[3][2 * MOST], wanted[2][2 * MOST], bounds[2][PARTS];

static void begin(compute_call *call, bool as_gpu, const ts_arg *array, const ts_compute_options *options)
{
    CHECK_OK(ts__compute_begin(call, "test", NULL, array, options, &err));
    call->is_gpu = as_gpu;
}

/* ---- parts -------------------------------------------------------------------------------------------------- */

/* Parts with gaps between them, some empty, some beyond the items on either side. */
static void cut(int64_t n, uint64_t *state)
{
    int64_t at = -3;
    for (int i = 0; i < PARTS; i++) {
        bounds[0][i] = at;
        at += (int64_t)(chance(state) % (uint64_t)(2 * n / PARTS + 2));
        bounds[1][i] = i % 7 == 3 ? bounds[0][i] - 1 : at;
        at += i % 3 == 0;
    }
}

static bool comes_first(int64_t a, int64_t b, bool down)
{
    return down ? b < a : a < b;
}

/* Each part by insertion, keys and values. */
static void sort_wanted(int64_t n, bool down)
{
    memcpy(wanted[0], keys[0], sizeof keys[0]), memcpy(wanted[1], values[0], sizeof values[0]);
    for (int p = 0; p < PARTS; p++) {
        int64_t first = TS_MIN(TS_MAX(bounds[0][p], 0), n), last = TS_MIN(TS_MAX(bounds[1][p], 0), n);
        for (int64_t i = first + 1; i < last; i++)
            for (int64_t k = i; k > first && comes_first(wanted[0][k], wanted[0][k - 1], down); k--)
                for (int f = 0; f < 2; f++) {
                    int64_t x = wanted[f][k];
                    wanted[f][k] = wanted[f][k - 1], wanted[f][k - 1] = x;
                }
    }
}

static void fill(int64_t n, int64_t most, uint64_t *state)
{
    for (int64_t i = 0; i < n; i++)
        keys[0][i] = (int64_t)(chance(state) % (uint64_t)most) - most / 2, values[0][i] = i;
}

static void parts_are_sorted(bool as_gpu, int64_t n, bool down, bool in_place, bool pairs)
{
    uint64_t state = (uint64_t)n + down;
    const int64_t n_parts = PARTS;
    ts_arg of[2], with[2], parts[2];
    ts_compute_options options = {.flags = down ? TS_COMPUTE_DESCENDING : 0};
    compute_call call;
    fill(n, 50, &state);
    cut(n, &state);
    sort_wanted(n, down);
    for (int i = 0; i < 2; i++) {
        of[i] = array_of(keys[in_place ? 0 : i], TS_DTYPE_int64, &n);
        with[i] = array_of(values[in_place ? 0 : i], TS_DTYPE_int64, &n);
        parts[i] = array_of(bounds[i], TS_DTYPE_int64, &n_parts);
    }
    begin(&call, as_gpu, &of[0], &options);
    CHECK_OK(ts__compute_sort_parts(&call, of, pairs ? with : NULL, parts, &err));
    CHECK(!memcmp(of[1].value.data, wanted[0], (size_t)n * 8));
    CHECK(!pairs || !memcmp(with[1].value.data, wanted[1], (size_t)n * 8));
}

static void the_first_few_of_parts_are_taken(bool as_gpu, int64_t n, int64_t k)
{
    uint64_t state = 5;
    const int64_t n_parts = PARTS, room = PARTS * k;
    int64_t wrong = 0;
    ts_arg parts[2], of[2] = {array_of(keys[0], TS_DTYPE_int64, &n), array_of(keys[1], TS_DTYPE_int64, &room)};
    ts_arg with[2] = {array_of(values[0], TS_DTYPE_int64, &n), array_of(values[1], TS_DTYPE_int64, &room)};
    ts_compute_options options = {.flags = TS_COMPUTE_DESCENDING};
    compute_call call;
    fill(n, 50, &state);
    cut(n, &state);
    sort_wanted(n, true);
    for (int64_t i = 0; i < room; i++)
        keys[1][i] = values[1][i] = 77;
    for (int i = 0; i < 2; i++)
        parts[i] = array_of(bounds[i], TS_DTYPE_int64, &n_parts);
    begin(&call, as_gpu, &of[0], &options);
    CHECK_OK(ts__compute_top_parts(&call, of, with, parts, k, &err));
    for (int64_t p = 0; p < PARTS; p++) {
        int64_t first = TS_MIN(TS_MAX(bounds[0][p], 0), n), last = TS_MIN(TS_MAX(bounds[1][p], 0), n);
        for (int64_t j = 0; j < k; j++) {
            bool there = first + j < last;
            wrong += keys[1][p * k + j] != (there ? wanted[0][first + j] : 77);
            wrong += values[1][p * k + j] != (there ? wanted[1][first + j] : 77);
        }
    }
    CHECK_INT(wrong, 0);
}

static void parts_of_all_kinds(bool as_gpu)
{
    static const int64_t lengths[] = {0, 1, 7, MOST};
    for (size_t i = 0; i < TS_COUNT(lengths); i++)
        for (int form = 0; form < 4; form += (int)check_step(3))
            parts_are_sorted(as_gpu, lengths[i], form & 1, form & 2, form != 1);
    the_first_few_of_parts_are_taken(as_gpu, MOST, 5);
    the_first_few_of_parts_are_taken(as_gpu, 3, 2);
}

static void parts_may_be_counted_and_have_the_callers_memory(void)
{
    static _Alignas(256) char memory[1 << 20];
    int64_t n = 8, two = 2, one = 1, count = 5;
    int8_t x[8] = {9, 8, 7, 6, 5, 4, 3, 2}, out[8] = {0};
    uint32_t from[2] = {0, 4}, to[2] = {4, 8};
    uint64_t need = 0;
    ts_arg of[2] = {array_of(x, TS_DTYPE_int8, &n), array_of(out, TS_DTYPE_int8, &n)};
    ts_arg parts[2] = {array_of(from, TS_DTYPE_uint32, &two), array_of(to, TS_DTYPE_uint32, &two)};
    ts_arg of_count = array_of(&count, TS_DTYPE_int64, &one);
    ts_compute_options options = {.count = &of_count, .need = &need};
    CHECK_OK(ts_segmented_sort(NULL, of, NULL, parts, &options, &err));
    CHECK(need > 0 && need <= sizeof memory && !out[0]);
    options.need = NULL, options.memory = memory, options.memory_bytes = need;
    CHECK_OK(ts_segmented_sort(NULL, of, NULL, parts, &options, &err));
    CHECK(out[0] == 6 && out[3] == 9 && out[4] == 5 && !out[5]);
    options.memory_bytes = need - 256;
    CHECK(ts_segmented_sort(NULL, of, NULL, parts, &options, &err) == TS_VALUE && strstr(err.text, "memory"));
}

static const char last_of[] = "both func @last(%a: i64, %b: i64) : i64 {\n  return %b\n}";

/* The sum of each part from 1000 on, or the last item: form 1. */
static void parts_are_reduced(bool as_gpu, int64_t n, int form)
{
    uint64_t state = 8;
    const int64_t n_parts = PARTS;
    int64_t wrong = 0;
    static const ts_arg initial = {.kind = TS_SPEC_INT, .value.i = 1000};
    ts_arg in = array_of(keys[0], TS_DTYPE_int64, &n), out = array_of(keys[1], TS_DTYPE_int64, &n_parts), parts[2];
    ts_compute_options options = {.initial = &initial, .own = form ? last_of : NULL};
    compute_call call;
    fill(n, 50, &state);
    cut(n, &state);
    bounds[0][2] = bounds[0][0], bounds[1][2] = n + 5; /* one that overlaps others */
    for (int i = 0; i < 2; i++)
        parts[i] = array_of(bounds[i], TS_DTYPE_int64, &n_parts);
    begin(&call, as_gpu, &in, &options);
    CHECK_OK(ts__compute_reduce_parts(&call, &in, &out, parts, form ? TS_COMBINE_own : TS_COMBINE_add, &err));
    for (int p = 0; p < PARTS; p++) {
        int64_t first = TS_MIN(TS_MAX(bounds[0][p], 0), n), last = TS_MIN(TS_MAX(bounds[1][p], 0), n), total = 1000;
        for (int64_t i = first; i < last; i++)
            total = form ? keys[0][i] : total + keys[0][i];
        wrong += keys[1][p] != total;
    }
    CHECK_INT(wrong, 0);
}

/* Forms: inclusive; exclusive from 10 on; inclusive from 10 on, in place. */
static void parts_are_scanned(bool as_gpu, int64_t n, int form)
{
    uint64_t state = 2;
    const int64_t n_parts = PARTS;
    int64_t wrong = 0;
    static const ts_arg initial = {.kind = TS_SPEC_INT, .value.i = 10};
    ts_arg in = array_of(keys[0], TS_DTYPE_int64, &n), out = array_of(keys[form == 2 ? 0 : 1], TS_DTYPE_int64, &n);
    ts_arg parts[2];
    ts_compute_options options = {.initial = form ? &initial : NULL, .flags = form == 1 ? TS_COMPUTE_EXCLUSIVE : 0};
    compute_call call;
    fill(n, 50, &state);
    cut(n, &state);
    memset(keys[1], 0, sizeof keys[1]);
    memcpy(wanted[0], out.value.data, sizeof wanted[0]);
    for (int p = 0; p < PARTS; p++) {
        int64_t first = TS_MIN(TS_MAX(bounds[0][p], 0), n), last = TS_MIN(TS_MAX(bounds[1][p], 0), n);
        for (int64_t i = first, total = form ? 10 : 0; i < last; i++) {
            wanted[0][i] = form == 1 ? total : total + keys[0][i];
            total += keys[0][i];
        }
    }
    for (int i = 0; i < 2; i++)
        parts[i] = array_of(bounds[i], TS_DTYPE_int64, &n_parts);
    begin(&call, as_gpu, &in, &options);
    CHECK_OK(ts__compute_scan_parts(&call, &in, &out, parts, TS_COMBINE_add, &err));
    for (int64_t i = 0; i < n; i++)
        wrong += ((int64_t *)out.value.data)[i] != wanted[0][i];
    CHECK_INT(wrong, 0);
}

/* ---- runs ----------------------------------------------------------------------------------------------------- */

static void runs_are_put_together(bool as_gpu, int64_t n, int64_t longest)
{
    uint64_t state = 4;
    int64_t found = 0, count = -1;
    static float of[MOST], sums[MOST];
    static int32_t lengths[MOST];
    const int64_t one = 1;
    ts_arg k[2] = {array_of(keys[0], TS_DTYPE_int64, &n), array_of(keys[1], TS_DTYPE_int64, &n)};
    ts_arg v[2] = {array_of(of, TS_DTYPE_float32, &n), array_of(sums, TS_DTYPE_float32, &n)};
    ts_arg number = array_of(&count, TS_DTYPE_int64, &one), lasts = array_of(lengths, TS_DTYPE_int32, &n);
    compute_call call;
    for (int64_t i = 0, left = 0; i < n; i++, left--) {
        bool begins = left <= 0;
        left = begins ? 1 + (int64_t)(chance(&state) % (uint64_t)longest) : left;
        keys[0][i] = i ? keys[0][i - 1] + begins : 0, of[i] = (float)(i % 8);
        if (!i || begins)
            wanted[0][found] = keys[0][i], wanted[1][found] = 0, values[0][found++] = 0;
        wanted[1][found - 1] += i % 8, values[0][found - 1]++;
    }
    begin(&call, as_gpu, &k[0], NULL);
    CHECK_OK(ts__compute_reduce_by_key(&call, k, v, &number, TS_COMBINE_add, &err));
    CHECK_INT(count, found);
    CHECK(!memcmp(keys[1], wanted[0], (size_t)found * 8));
    for (int64_t i = 0; i < found; i++)
        CHECK_INT((int64_t)sums[i], wanted[1][i]);
    count = -1, memset(keys[1], 0, sizeof keys[1]);
    begin(&call, as_gpu, &k[0], NULL);
    CHECK_OK(ts__compute_run_lengths(&call, &k[0], (ts_arg[]){k[1], lasts, number}, &err));
    CHECK_INT(count, found);
    CHECK(!memcmp(keys[1], wanted[0], (size_t)found * 8));
    for (int64_t i = 0; i < found; i++)
        CHECK_INT(lengths[i], values[0][i]);
}

/* ---- sets ----------------------------------------------------------------------------------------------------- */

/* Of k and l equal ones, how many of the first and of the second are in the result. */
static void kept(ts_set_kind kind, int64_t k, int64_t l, int64_t out[2])
{
    out[0] = kind == TS_SET_union ? k : kind == TS_SET_intersection ? TS_MIN(k, l) : TS_MAX(k - l, 0);
    out[1] = kind == TS_SET_union || kind == TS_SET_symmetric_difference ? TS_MAX(l - k, 0) : 0;
}

static int64_t set_wanted(ts_set_kind kind, int64_t n, int64_t m, bool down)
{
    int64_t i = 0, j = 0, to = 0;
    while (i < n || j < m) {
        int64_t v = j >= m || (i < n && !comes_first(keys[1][j], keys[0][i], down)) ? keys[0][i] : keys[1][j];
        int64_t k = 0, l = 0, of[2];
        while (i + k < n && keys[0][i + k] == v)
            k++;
        while (j + l < m && keys[1][j + l] == v)
            l++;
        kept(kind, k, l, of);
        int64_t first = kind == TS_SET_intersection ? 0 : k - of[0];
        for (int64_t q = 0; q < of[0]; q++)
            wanted[0][to] = v, wanted[1][to++] = values[0][i + first + q];
        for (int64_t q = l - of[1]; q < l; q++)
            wanted[0][to] = v, wanted[1][to++] = values[1][j + q];
        i += k, j += l;
    }
    return to;
}

/* Steps of 0 to `far` from one to the next. */
static void ascend(int side, int64_t n, uint64_t far, bool down, uint64_t *state)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        at += (int64_t)(chance(state) % (far + 1));
        keys[side][i] = down ? -at : at, values[side][i] = side * MOST + i;
    }
}

static const char above[] = "both func @above(%a: i64, %b: i64) : i1 {\n"
                            "  %c = cmpi gt %a, %b : i1\n"
                            "  return %c\n"
                            "}";

static void sets_are_those_of_a_loop(bool as_gpu, ts_set_kind kind, int64_t n, int64_t m, int form)
{
    bool down = form == 1 || form == 2, pairs = form != 1;
    uint64_t state = (uint64_t)(n + 3 * m);
    int64_t room = n + m, count = -1;
    const int64_t one = 1;
    ts_arg of[3] = {array_of(keys[0], TS_DTYPE_int64, &n), array_of(keys[1], TS_DTYPE_int64, &m),
                    array_of(keys[2], TS_DTYPE_int64, &room)};
    ts_arg with[3] = {array_of(values[0], TS_DTYPE_int64, &n), array_of(values[1], TS_DTYPE_int64, &m),
                      array_of(values[2], TS_DTYPE_int64, &room)};
    ts_arg number = array_of(&count, TS_DTYPE_int64, &one);
    ts_compute_options options = {.flags = form == 1 ? TS_COMPUTE_DESCENDING : 0, .own = form == 2 ? above : NULL};
    compute_call call;
    ascend(0, n, 2, down, &state), ascend(1, m, 3, down, &state);
    int64_t found = set_wanted(kind, n, m, down);
    begin(&call, as_gpu, &of[0], &options);
    CHECK_OK(ts__compute_set(&call, kind, of, pairs ? with : NULL, &number, &err));
    CHECK_INT(count, found);
    CHECK(!memcmp(keys[2], wanted[0], (size_t)found * 8));
    CHECK(!pairs || !memcmp(values[2], wanted[1], (size_t)found * 8));
}

/* Forms: keys and values; keys, descending; keys and values by a comparison of the program. */
static void sets_of_all_kinds(bool as_gpu, bool every)
{
    for (int kind = 0; kind < TS_SET_COUNT; kind += (int)check_step(2))
        for (int form = 0; form < 3; form++) {
            if (!every && form && kind != (form == 1 ? TS_SET_union : TS_SET_difference))
                continue; /* each is a kernel to compile */
            sets_are_those_of_a_loop(as_gpu, (ts_set_kind)kind, MOST, MOST - 100, form);
            sets_are_those_of_a_loop(as_gpu, (ts_set_kind)kind, 5, 0, form);
            sets_are_those_of_a_loop(as_gpu, (ts_set_kind)kind, 0, 3, form);
        }
}

static void sets_take_the_callers_memory(void)
{
    static _Alignas(256) char memory[1 << 20];
    int64_t n = 3, room = 6, one = 1;
    float a[] = {1, 2, 4}, b[] = {2, 3, NAN}, out[6];
    int32_t count = 0;
    uint64_t need = 0;
    ts_arg of[3] = {array_of(a, TS_DTYPE_float32, &n), array_of(b, TS_DTYPE_float32, &n),
                    array_of(out, TS_DTYPE_float32, &room)};
    ts_arg number = array_of(&count, TS_DTYPE_int32, &one);
    for (int kind = 0; kind < TS_SET_COUNT; kind++) {
        static const int32_t counts[] = {5, 1, 2, 4};
        ts_compute_options options = {.need = &need};
        CHECK_OK(ts_set(NULL, (ts_set_kind)kind, of, NULL, &number, &options, &err));
        CHECK(need > 0 && need <= sizeof memory);
        options.need = NULL, options.memory = memory, options.memory_bytes = need;
        CHECK_OK(ts_set(NULL, (ts_set_kind)kind, of, NULL, &number, &options, &err));
        CHECK_INT(count, counts[kind]);
        options.memory_bytes = 0;
        CHECK(ts_set(NULL, (ts_set_kind)kind, of, NULL, &number, &options, &err) == TS_VALUE);
    }
}

/* ---- the others ------------------------------------------------------------------------------------------------ */

static void first_items_of_runs_of_keys_are_kept(bool as_gpu, int64_t n)
{
    uint64_t state = 11;
    int64_t found = 0, count = -1;
    const int64_t one = 1;
    ts_arg in[2] = {array_of(keys[0], TS_DTYPE_int64, &n), array_of(values[0], TS_DTYPE_int64, &n)};
    ts_arg out[3] = {array_of(keys[1], TS_DTYPE_int64, &n), array_of(values[1], TS_DTYPE_int64, &n),
                     array_of(&count, TS_DTYPE_int64, &one)};
    compute_call call;
    fill(n, 3, &state);
    for (int64_t i = 0; i < n; i++)
        if (!i || keys[0][i] != keys[0][i - 1])
            wanted[0][found] = keys[0][i], wanted[1][found++] = i;
    begin(&call, as_gpu, &in[0], NULL);
    CHECK_OK(ts__compute_unique_by_key(&call, in, out, &err));
    CHECK_INT(count, found);
    CHECK(!memcmp(keys[1], wanted[0], (size_t)found * 8) && !memcmp(values[1], wanted[1], (size_t)found * 8));
}

static void neighbours_are_subtracted(bool as_gpu)
{
    int64_t n = 5;
    float x[] = {1, 4, 9, 16, 25}, out[5];
    ts_arg in = array_of(x, TS_DTYPE_float32, &n), to = array_of(out, TS_DTYPE_float32, &n);
    ts_compute_options options = {.own = NULL};
    compute_call call;
    begin(&call, as_gpu, &in, &options);
    CHECK_OK(ts__compute_adjacent(&call, &in, &to, &err));
    CHECK(out[0] == 1 && out[1] == 3 && out[4] == 9);
    options.flags = TS_COMPUTE_RIGHT;
    options.own = "both func @add(%a: f32, %b: f32) : f32 {\n  %c = addf %a, %b : f32\n  return %c\n}";
    begin(&call, as_gpu, &in, &options);
    CHECK_OK(ts__compute_adjacent(&call, &in, &to, &err));
    CHECK(out[0] == 5 && out[3] == 41 && out[4] == 25);
}

static void the_item_at_a_place_is_that_of_a_sort(bool as_gpu, int64_t n, int64_t place)
{
    uint64_t state = 3;
    int64_t before = 0, equal = 0, found = 0;
    const int64_t one = 1;
    ts_arg in = array_of(keys[0], TS_DTYPE_int64, &n), out = array_of(&found, TS_DTYPE_int64, &one);
    compute_call call;
    fill(n, 100, &state);
    begin(&call, as_gpu, &in, NULL);
    CHECK_OK(ts__compute_nth(&call, &in, &out, place, &err));
    for (int64_t i = 0; i < n; i++)
        before += keys[0][i] < found, equal += keys[0][i] == found;
    CHECK(before <= place && place < before + equal);
}

static void items_are_counted_and_compared(bool as_gpu)
{
    static const char positive[] = "both func @positive(%a: i64) : i1 {\n"
                                   "  %z = constant 0 : i64\n  %c = cmpi gt %a, %z : i1\n  return %c\n}";
    static const char close[] = "both func @close(%a: i64, %b: i64) : i1 {\n"
                                "  %d = subi %a, %b : i64\n  %e = subi %b, %a : i64\n  %one = constant 2 : i64\n"
                                "  %x = cmpi lt %d, %one : i1\n  %y = cmpi lt %e, %one : i1\n"
                                "  %c = andi %x, %y : i1\n  return %c\n}";
    uint64_t state = 9;
    const int64_t n = MOST, one = 1;
    int64_t count = 0, found = -1;
    uint8_t same = 7;
    ts_arg in[2] = {array_of(keys[0], TS_DTYPE_int64, &n), array_of(keys[1], TS_DTYPE_int64, &n)};
    ts_arg out = array_of(&found, TS_DTYPE_int64, &one), is_same = array_of(&same, TS_DTYPE_bool_, &one);
    ts_compute_options options = {.own = positive};
    compute_call call;
    fill(n, 100, &state);
    for (int64_t i = 0; i < n; i++)
        count += keys[0][i] > 0, keys[1][i] = keys[0][i] + (i >= 2000);
    begin(&call, as_gpu, &in[0], &options);
    CHECK_OK(ts__compute_count(&call, &in[0], &out, &err));
    CHECK_INT(found, count);
    CHECK_OK(ts_mismatch(NULL, in, &out, NULL, &err));
    CHECK_INT(found, 2000);
    CHECK_OK(ts_equal(NULL, in, &is_same, NULL, &err));
    CHECK_INT(same, 0);
    options.own = close;
    CHECK_OK(ts_mismatch(NULL, in, &out, &options, &err));
    CHECK_INT(found, n);
    CHECK_OK(ts_equal(NULL, in, &is_same, &options, &err));
    CHECK_INT(same, 1);
}

static void expect(ts_status found, ts_status wanted_status, const char *words)
{
    CHECK_INT(found, wanted_status);
    CHECK(strstr(err.text, words) != NULL);
}

static void what_cannot_be_done_is_refused(void)
{
    int64_t n = 4, two = 2, one = 1;
    int32_t x[4] = {0}, y[4] = {0}, z[8] = {0}, count;
    int64_t eight = 8;
    float f[4] = {0};
    ts_arg a = array_of(x, TS_DTYPE_int32, &n), b = array_of(y, TS_DTYPE_int32, &n);
    ts_arg g = array_of(f, TS_DTYPE_float32, &n);
    ts_arg c = array_of(z, TS_DTYPE_int32, &eight), number = array_of(&count, TS_DTYPE_int32, &one);
    ts_arg few = array_of(y, TS_DTYPE_int32, &two);
    expect(ts_segmented_sort(NULL, (ts_arg[]){a, b}, NULL, (ts_arg[]){g, g}, NULL, &err), TS_TYPE, "takes integers");
    expect(ts_segmented_sort(NULL, (ts_arg[]){a, b}, NULL, (ts_arg[]){c, few}, NULL, &err), TS_SHAPE, "parts[1] has 2");
    expect(ts_segmented_sort(NULL, (ts_arg[]){a, b}, NULL, (ts_arg[]){few, few}, NULL, &err), TS_VALUE,
           "shares memory");
    expect(ts_segmented_top_k(NULL, (ts_arg[]){a, b}, NULL, (ts_arg[]){c, c}, -1, NULL, &err), TS_VALUE, "k is -1");
    expect(ts_segmented_top_k(NULL, (ts_arg[]){a, b}, NULL, (ts_arg[]){c, c}, 1, NULL, &err), TS_SHAPE, "needs 8");
    expect(ts_segmented_reduce(NULL, &a, &c, (ts_arg[]){few, few}, TS_COMBINE_add, NULL, &err), TS_VALUE, "give one");
    expect(ts_segmented_scan(NULL, &a, &few, (ts_arg[]){few, few}, TS_COMBINE_add, NULL, &err), TS_SHAPE, "needs 4");
    expect(ts_reduce_by_key(NULL, (ts_arg[]){a, b}, (ts_arg[]){a, b}, &number, TS_COMBINE_add, NULL, &err), TS_VALUE,
           "shares memory");
    expect(ts_run_lengths(NULL, &a, (ts_arg[]){b, g, number}, NULL, &err), TS_TYPE, "the lengths is of float32");
    expect(ts_set(NULL, TS_SET_union, (ts_arg[]){a, b, few}, NULL, &number, NULL, &err), TS_SHAPE, "it needs 8");
    expect(ts_set(NULL, TS_SET_union, (ts_arg[]){a, g, c}, NULL, &number, NULL, &err), TS_TYPE, "keys[1]");
    expect(ts_set(NULL, TS_SET_COUNT, (ts_arg[]){a, b, c}, NULL, &number, NULL, &err), TS_VALUE, "is no set");
    expect(ts_set(NULL, TS_SET_difference, (ts_arg[]){a, b, b}, NULL, &number, NULL, &err), TS_VALUE, "shares memory");
    expect(ts_nth_element(NULL, &a, &number, 4, NULL, &err), TS_VALUE, "n is 4, there are 4");
    expect(ts_adjacent_difference(NULL, &a, &a, NULL, &err), TS_VALUE, "shares memory");
    expect(ts_adjacent_difference(NULL, &a, &g, NULL, &err), TS_TYPE, "one dtype");
    expect(ts_count_if(NULL, &a, &b, NULL, &err), TS_VALUE, "options.own");
    expect(ts_mismatch(NULL, (ts_arg[]){a, g}, &number, NULL, &err), TS_TYPE, "one dtype");
    expect(ts_equal(NULL, (ts_arg[]){a, b}, &number, NULL, &err), TS_TYPE, "one bool");
    expect(ts_unique_by_key(NULL, (ts_arg[]){a, few}, (ts_arg[]){c, c, number}, NULL, &err), TS_SHAPE, "2 items");
}

int main(int argc, char **argv)
{
    int devices = argc > 1 && strcmp(argv[1], "--every") == 0 ? 2 : 1; /* kernels of GPUs take long to compile */
    CHECK(!setenv("TESSERA_NUM_THREADS", "4", 0)); /* work is shared on any machine */
    for (int as_gpu = 0; as_gpu < devices; as_gpu++) {
        parts_of_all_kinds(as_gpu);
        sets_of_all_kinds(as_gpu, devices > 1);
        for (int form = 0; form < 2; form++) {
            parts_are_reduced(as_gpu, MOST, form);
            parts_are_reduced(as_gpu, 0, form);
        }
        for (int form = 0; form < 3; form++)
            parts_are_scanned(as_gpu, MOST, form);
        runs_are_put_together(as_gpu, MOST, 40);
        runs_are_put_together(as_gpu, MOST, 1);
        runs_are_put_together(as_gpu, 0, 1);
        first_items_of_runs_of_keys_are_kept(as_gpu, MOST);
        first_items_of_runs_of_keys_are_kept(as_gpu, 0);
        neighbours_are_subtracted(as_gpu);
        the_item_at_a_place_is_that_of_a_sort(as_gpu, MOST, 1234);
        the_item_at_a_place_is_that_of_a_sort(as_gpu, 1, 0);
        items_are_counted_and_compared(as_gpu);
    }
    parts_may_be_counted_and_have_the_callers_memory();
    sets_take_the_callers_memory();
    what_cannot_be_done_is_refused();
    return check_done();
}
