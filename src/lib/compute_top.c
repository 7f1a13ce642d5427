/* SPDX-License-Identifier: Apache-2.0
 *
 * The first few items in the order of their keys: python/tessera/compute/_few.py. Digits from the greatest down say the
 * last key that is taken; what is taken is put aside and sorted by ts__compute_sort.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

typedef struct top_plan {
    compute_key key;         /* of the dtype, the order and the count */
    compute_array keys[2], values[2];
    bool is_pair;
    int64_t few, places;     /* places: digits of a key */
    int64_t tiles, parts, aside; /* aside: numbers of a part that are put aside on a CPU */
    int64_t words[1], counts[2], shares[2], numbers[2], last[1], one[1]; /* extents of temporary memory */
    size_t first_few, taken, below; /* rooms */
} top_plan;

/* ---- checks ---------------------------------------------------------------------------------------------- */

static ts_status top_check_keys(const compute_call *call, const top_plan *plan, const char *in, const char *out,
                                int64_t n, ts_error *err)
{
    compute_key of_sort = {.number = COMPUTE_sort_cpu, .at[COMPUTE_dtype] = plan->keys[0].arg.dtype};
    if (!ts__compute_choice(&of_sort, COMPUTE_dtype))
        return ts_fail(err, TS_TYPE, "%s: keys are %s; it takes int8 to uint64, float16, bfloat16, float32 and float64",
                       call->name, ts_dtype_name((ts_dtype)plan->keys[0].arg.dtype));
    TS_TRY(ts__compute_check_alike(call, in, &plan->keys[0], out, &plan->keys[1], err));
    TS_TRY(ts__compute_check_items(call, out, &plan->keys[1], n, err));
    return ts__compute_check_apart(call, &plan->keys[1], &plan->keys[0], err);
}

static ts_status top_check(const compute_call *call, const top_plan *plan, int64_t k, ts_error *err)
{
    const compute_array *const outs[] = {&plan->keys[1], &plan->values[1]};
    if (k < 0 || k > plan->keys[0].n)
        return ts_fail(err, TS_VALUE, "%s: k is %lld, there are %lld items", call->name, (long long)k,
                       (long long)plan->keys[0].n);
    TS_TRY(top_check_keys(call, plan, "keys[0]", "keys[1]", k, err));
    if (!plan->is_pair)
        return TS_OK;
    TS_TRY(ts__compute_check_alike(call, "values[0]", &plan->values[0], "values[1]", &plan->values[1], err));
    TS_TRY(ts__compute_check_items(call, "values[0]", &plan->values[0], plan->keys[0].n, err));
    TS_TRY(ts__compute_check_items(call, "values[1]", &plan->values[1], k, err));
    for (size_t i = 0; i < 2; i++) {
        TS_TRY(ts__compute_check_apart(call, outs[i], &plan->values[0], err));
        TS_TRY(ts__compute_check_apart(call, outs[i], &plan->keys[0], err));
    }
    return ts__compute_check_apart(call, &plan->keys[1], &plan->values[1], err);
}

/* ---- temporary memory ------------------------------------------------------------------------------------- */

static uint64_t top_bytes(const compute_array *of, int64_t n)
{
    return (uint64_t)n * ts_dtype_bytes((ts_dtype)of->arg.dtype);
}

static ts_dtype top_word(const top_plan *plan)
{
    return ts_dtype_bytes((ts_dtype)plan->keys[0].arg.dtype) > 4 ? TS_DTYPE_uint64 : TS_DTYPE_uint32;
}

/* As `_few._gpu_needs`; returns how many. */
static size_t top_needs_gpu(const compute_call *call, top_plan *plan, uint64_t bytes[COMPUTE_ROOMS])
{
    compute_key take = plan->key;
    take.number = COMPUTE_top_take_gpu;
    const compute_choice *facts = ts__compute_choice(&take, COMPUTE_dtype);
    plan->tiles = compute_cdiv(call->n, facts->tile);
    plan->words[0] = ts__compute_words(plan->tiles, facts->pieces);
    plan->counts[0] = 1 + COMPUTE_TOP_VALUES, plan->last[0] = 2;
    bytes[0] = (uint64_t)plan->words[0] * 8, bytes[1] = (uint64_t)plan->counts[0] * 8, bytes[2] = 2 * 8;
    return 3;
}

/* As `_few._cpu_needs`. */
static size_t top_needs_cpu(const compute_call *call, top_plan *plan, uint64_t bytes[COMPUTE_ROOMS])
{
    int64_t few = plan->few;
    bool filters = few <= TS_MIN(call->n / plan->parts / 16, (int64_t)COMPUTE_TOP_ASIDE);
    plan->aside = filters ? 2 * few + COMPUTE_TOP_VALUES + COMPUTE_TOP_LOOK : 0;
    plan->counts[0] = plan->shares[0] = plan->numbers[0] = plan->parts;
    plan->counts[1] = COMPUTE_TOP_VALUES, plan->shares[1] = 2, plan->numbers[1] = TS_MAX(1, plan->aside);
    bytes[0] = (uint64_t)(plan->parts * COMPUTE_TOP_VALUES) * 8, bytes[1] = (uint64_t)plan->parts * 2 * 8;
    bytes[2] = (uint64_t)(plan->parts * plan->numbers[1]) * ts_dtype_bytes(top_word(plan));
    bytes[3] = (uint64_t)(plan->parts * plan->numbers[1]) * 8;
    return 4;
}

/* ---- launches --------------------------------------------------------------------------------------------- */

static void top_put_sources(compute_call *call, const top_plan *plan)
{
    ts__compute_put_array(call, &plan->keys[0]);
    if (plan->is_pair)
        ts__compute_put_array(call, &plan->values[0]);
}

/* The few, as they are put aside; or the place of the last one. */
static void top_put_few(compute_call *call, const top_plan *plan)
{
    ts__compute_put_tuple(call, 1 + plan->is_pair);
    if (plan->key.at[COMPUTE_last]) {
        ts__compute_put_array(call, &plan->keys[1]);
        return;
    }
    for (size_t i = 0; i <= plan->is_pair; i++) {
        ts__compute_put_tuple(call, 1);
        uint8_t dtype = i ? plan->values[0].arg.dtype : plan->keys[0].arg.dtype;
        ts__compute_put_room(call, plan->first_few + i, (ts_dtype)dtype, 1, &plan->few);
    }
}

static ts_status top_take_gpu(compute_call *call, const top_plan *plan, ts_error *err)
{
    compute_key count = plan->key, take = plan->key;
    int64_t blocks = TS_MIN(compute_cdiv(call->n, (int64_t)COMPUTE_THREADS * COMPUTE_TOP_COUNTED),
                            (int64_t)COMPUTE_TOP_BLOCKS);
    count.number = COMPUTE_top_count_gpu;
    take.number = plan->is_pair ? COMPUTE_top_take_pairs_gpu : COMPUTE_top_take_gpu, take.at[COMPUTE_wide] = 1;
    TS_TRY(ts_mem_fill(call->stream, call->rooms[0], 0, 8, (uint64_t)plan->words[0], err));
    TS_TRY(ts_mem_fill(call->stream, call->rooms[1], 0, 8, (uint64_t)plan->counts[0], err));
    for (int64_t place = plan->places - 1; place >= 0; place--) {
        ts__compute_begin_args(call);
        ts__compute_put_tuple(call, 1 + plan->is_pair);
        top_put_sources(call, plan);
        ts__compute_put_count(call);
        ts__compute_put_int(call, plan->few);
        ts__compute_put_int(call, place);
        ts__compute_put_room(call, 1, TS_DTYPE_int64, 1, plan->counts);
        ts__compute_put_room(call, 2, TS_DTYPE_int64, 1, plan->last);
        ts__compute_put_room(call, plan->taken, TS_DTYPE_int64, 1, plan->one);
        TS_TRY(ts__compute_launch(call, &count, blocks, COMPUTE_THREADS, err));
    }
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 3 + plan->is_pair);
    top_put_sources(call, plan);
    ts__compute_put_room(call, 2, TS_DTYPE_int64, 1, plan->last);
    ts__compute_put_room(call, plan->taken, TS_DTYPE_int64, 1, plan->one);
    ts__compute_put_count(call);
    top_put_few(call, plan);
    ts__compute_put_int(call, 0);
    ts__compute_put_room(call, 0, TS_DTYPE_int64, 1, plan->words);
    ts__compute_put_int(call, plan->tiles);
    return ts__compute_launch(call, &take, plan->tiles, COMPUTE_THREADS, err);
}

static ts_status top_take_cpu(compute_call *call, const top_plan *plan, ts_error *err)
{
    static const compute_number kernels[2][2] = {{COMPUTE_top_all_cpu, COMPUTE_top_all_pairs_cpu},
                                                 {COMPUTE_top_aside_cpu, COMPUTE_top_aside_pairs_cpu}};
    compute_key key = plan->key;
    key.number = kernels[plan->aside > 0][plan->is_pair];
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 1 + plan->is_pair);
    top_put_sources(call, plan);
    ts__compute_put_count(call);
    ts__compute_put_int(call, plan->few);
    top_put_few(call, plan);
    ts__compute_put_room(call, 0, TS_DTYPE_int64, 2, plan->counts);
    ts__compute_put_room(call, 1, TS_DTYPE_int64, 2, plan->shares);
    ts__compute_put_room(call, 2, top_word(plan), 2, plan->numbers);
    ts__compute_put_room(call, 3, TS_DTYPE_int64, 2, plan->numbers);
    ts__compute_put_room(call, plan->taken, TS_DTYPE_int64, 1, plan->one);
    return ts__compute_launch(call, &key, plan->parts, 1, err);
}

/* ---- sorting the few -------------------------------------------------------------------------------------- */

/* Rooms as arrays, and the results, of as many items as are taken. */
typedef struct top_few {
    compute_call call;
    ts_arg keys[2], values[2], count;
} top_few;

static void top_few_begin(const compute_call *call, const top_plan *plan, bool has_rooms, top_few *few)
{
    *few = (top_few){.call = {.name = call->name, .stream = call->stream, .is_gpu = call->is_gpu}};
    few->call.options.flags = call->options.flags;
    for (size_t i = 0; i <= plan->is_pair; i++) {
        const compute_array *pair = i ? plan->values : plan->keys;
        ts_arg *out = i ? few->values : few->keys;
        out[0] = out[1] = pair[1].arg;
        out[0].value.data = has_rooms ? call->rooms[plan->first_few + i] : NULL;
        out[0].strides = NULL, out[0].shape = out[1].shape = &plan->few;
    }
    if (call->options.count) { /* fewer may be there */
        few->count = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_int64, .rank = 1,
                              .device = ts_device_id(call->stream->device), .shape = plan->one};
        few->count.value.data = has_rooms ? call->rooms[plan->taken] : NULL;
        few->call.options.count = &few->count;
    }
}

static ts_status top_few_sort(top_few *few, const top_plan *plan, ts_error *err)
{
    return ts__compute_sort(&few->call, few->keys, plan->is_pair ? few->values : NULL, err);
}

/* All rooms: those of taking, the number that was taken, the few, and what sorting them needs. */
static ts_status top_rooms(compute_call *call, top_plan *plan, bool *only_asks, ts_error *err)
{
    uint64_t bytes[COMPUTE_ROOMS], below = 0;
    top_few few;
    size_t n = call->is_gpu ? top_needs_gpu(call, plan, bytes) : top_needs_cpu(call, plan, bytes);
    plan->taken = n, bytes[n++] = 8;
    plan->first_few = n, bytes[n++] = top_bytes(&plan->keys[0], plan->few);
    if (plan->is_pair)
        bytes[n++] = top_bytes(&plan->values[0], plan->few);
    top_few_begin(call, plan, false, &few);
    few.call.options.need = &below;
    TS_TRY(top_few_sort(&few, plan, err));
    plan->below = n;
    if (call->options.memory || call->options.need) /* else it comes of the pool, too */
        bytes[n++] = below;
    return ts__compute_rooms(call, bytes, n, only_asks, err);
}

static ts_status top_run(compute_call *call, const top_plan *plan, ts_error *err)
{
    top_few few;
    TS_TRY(call->is_gpu ? top_take_gpu(call, plan, err) : top_take_cpu(call, plan, err));
    top_few_begin(call, plan, true, &few);
    if (call->options.memory)
        few.call.options.memory = call->rooms[plan->below], few.call.options.memory_bytes = UINT64_MAX;
    return top_few_sort(&few, plan, err);
}

/* How many items, digits of a key, and which kernels. */
static void top_begin(compute_call *call, top_plan *plan)
{
    call->n = plan->keys[0].n;
    plan->key = (compute_key){.at = {[COMPUTE_dtype] = plan->keys[0].arg.dtype,
                                     [COMPUTE_descending] = (call->options.flags & TS_COMPUTE_DESCENDING) != 0,
                                     [COMPUTE_counted] = call->options.count != NULL}};
    int64_t bits = 8 * (int64_t)ts_dtype_bytes((ts_dtype)plan->keys[0].arg.dtype);
    plan->places = compute_cdiv(bits, COMPUTE_TOP_BITS);
}

ts_status ts__compute_top_k(compute_call *call, const ts_arg keys[2], const ts_arg values[2], int64_t k, ts_error *err)
{
    static const char *const names[2][2] = {{"keys[0]", "keys[1]"}, {"values[0]", "values[1]"}};
    top_plan plan = {.is_pair = values != NULL, .few = k, .one = {1}};
    bool only_asks;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_DESCENDING, false, err));
    for (int i = 0; i < 2; i++) {
        TS_TRY(ts__compute_array(call, names[0][i], &keys[i], i == 1, &plan.keys[i], err));
        if (values)
            TS_TRY(ts__compute_array(call, names[1][i], &values[i], i == 1, &plan.values[i], err));
    }
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(top_check(call, &plan, k, err));
    top_begin(call, &plan);
    if (!call->is_gpu)
        TS_TRY(ts__compute_parts(call, call->n, COMPUTE_PART, &plan.parts, err));
    ts_status status = top_rooms(call, &plan, &only_asks, err);
    if (status == TS_OK && !only_asks && k)
        status = top_run(call, &plan, err);
    ts__compute_end(call);
    return status;
}

/* What stands at place n is the last of the first n + 1. */
ts_status ts__compute_nth(compute_call *call, const ts_arg *in, const ts_arg *out, int64_t n, ts_error *err)
{
    top_plan plan = {.few = n + 1, .one = {1}};
    uint64_t bytes[COMPUTE_ROOMS];
    bool only_asks;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_DESCENDING, false, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.keys[0], err));
    TS_TRY(ts__compute_array(call, "out", out, true, &plan.keys[1], err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    if (n < 0 || n >= plan.keys[0].n)
        return ts_fail(err, TS_VALUE, "%s: n is %lld, there are %lld items", call->name, (long long)n,
                       (long long)plan.keys[0].n);
    TS_TRY(top_check_keys(call, &plan, "in", "out", 1, err));
    top_begin(call, &plan);
    plan.key.at[COMPUTE_last] = 1;
    if (!call->is_gpu)
        TS_TRY(ts__compute_parts(call, call->n, COMPUTE_PART, &plan.parts, err));
    size_t n_rooms = call->is_gpu ? top_needs_gpu(call, &plan, bytes) : top_needs_cpu(call, &plan, bytes);
    plan.taken = n_rooms, bytes[n_rooms++] = 8;
    ts_status status = ts__compute_rooms(call, bytes, n_rooms, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = call->is_gpu ? top_take_gpu(call, &plan, err) : top_take_cpu(call, &plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_nth_element(const ts_stream *stream, const ts_arg *in, const ts_arg *out, int64_t n,
                         const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_nth_element", stream, in, options, err));
    return ts__compute_nth(&call, in, out, n, err);
}

ts_status ts_top_k(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2], int64_t k,
                   const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, keys);
    TS_TRY(ts__compute_begin(&call, "ts_top_k", stream, keys, options, err));
    return ts__compute_top_k(&call, keys, values, k, err);
}
