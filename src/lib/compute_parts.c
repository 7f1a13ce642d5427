/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts of many parts, each by itself, and the first few of each: python/tessera/compute/_segments.py.
 *
 *     groups                 a number for each item, alike in a part, in the order of parts
 *     places, sorted by key  keys in order, and where they stood: values and groups follow
 *     places, by group       stable, so each part is in order: keys and values go where they are
 *
 * On a CPU with vectors for it each is sorted where it lies (compute_order.c). What parts look like does not matter
 * for the time. Parts of a few thousand items are faster in Python on a GPU, where blocks sort them in shared memory
 * (_part_sort.py), with the same result.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

enum { PARTS_WORDS, PARTS_GROUPS, PARTS_ORDERED, PARTS_FROM, PARTS_PLACES, PARTS_KEYS, PARTS_VALUES };

typedef struct parts_plan {
    compute_array keys[2], values[2], ends[2]; /* ends: where parts begin, and before which item they end */
    bool is_pair;
    int64_t n_parts;
    compute_scan groups;
    ts_dtype place;
    size_t below;
} parts_plan;

/* ---- checks ---------------------------------------------------------------------------------------------- */

ts_status ts__compute_bounds(const compute_call *call, const ts_arg given[2], compute_array out[2], ts_error *err)
{
    static const char *const names[] = {"parts[0]", "parts[1]"};
    for (size_t i = 0; i < 2; i++) {
        TS_TRY(ts__compute_array(call, names[i], &given[i], false, &out[i], err));
        if (!ts__compute_is_integer(given[i].dtype))
            return ts_fail(err, TS_TYPE, "%s: %s is of %s; it takes integers", call->name, names[i],
                           ts_dtype_name((ts_dtype)given[i].dtype));
    }
    return ts__compute_check_items(call, names[1], &out[1], out[0].n, err);
}

/* Source and result of keys or of values. */
static ts_status parts_arrays(const compute_call *call, const char *const names[2], const ts_arg given[2], int64_t most,
                              compute_array out[2], ts_error *err)
{
    for (size_t i = 0; i < 2; i++)
        TS_TRY(ts__compute_array(call, names[i], &given[i], i == 1, &out[i], err));
    TS_TRY(ts__compute_check_alike(call, names[0], &out[0], names[1], &out[1], err));
    return ts__compute_check_items(call, names[1], &out[1], most < 0 ? out[0].n : most, err);
}

static ts_status parts_check(const compute_call *call, const parts_plan *plan, ts_error *err)
{
    const compute_array *const of[] = {plan->keys, plan->values};
    for (size_t i = 0; i <= plan->is_pair; i++) {
        TS_TRY(ts__compute_check_place(call, &of[i][0], &of[i][1], err));
        TS_TRY(ts__compute_check_apart(call, &of[i][1], &plan->ends[0], err));
        TS_TRY(ts__compute_check_apart(call, &of[i][1], &plan->ends[1], err));
        if (plan->is_pair)
            TS_TRY(ts__compute_check_apart(call, &of[i][1], &of[!i][0], err));
    }
    return plan->is_pair ? ts__compute_check_apart(call, &plan->keys[1], &plan->values[1], err) : TS_OK;
}

/* All arrays of a call; `most`: items of results, or less than 0: as many as there are. */
static ts_status parts_given(compute_call *call, const ts_arg keys[2], const ts_arg values[2], const ts_arg parts[2],
                             int64_t most, parts_plan *plan, ts_error *err)
{
    static const char *const key_names[] = {"keys[0]", "keys[1]"}, *const value_names[] = {"values[0]", "values[1]"};
    plan->is_pair = values != NULL;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_DESCENDING, false, err));
    TS_TRY(ts__compute_bounds(call, parts, plan->ends, err));
    plan->n_parts = plan->ends[0].n;
    TS_TRY(parts_arrays(call, key_names, keys, most, plan->keys, err));
    if (values) {
        TS_TRY(parts_arrays(call, value_names, values, most, plan->values, err));
        TS_TRY(ts__compute_check_items(call, "values[0]", &plan->values[0], plan->keys[0].n, err));
    }
    TS_TRY(ts__compute_number_checks(call, false, err));
    call->n = plan->keys[0].n;
    return TS_OK;
}

/* ---- groups ------------------------------------------------------------------------------------------------ */

ts_status ts__compute_group_sizes(const compute_call *call, bool alone, compute_scan *out, ts_error *err)
{
    *out = (compute_scan){.word = TS_DTYPE_int64, .is_exact = true,
                          .key = {.number = call->is_gpu ? COMPUTE_groups_gpu : COMPUTE_groups_cpu,
                                  .at = {[COMPUTE_dtype] = call->is_gpu ? TS_DTYPE_int64 : 0, [COMPUTE_alone] = alone,
                                         [COMPUTE_counted] = call->options.count != NULL}}};
    return ts__compute_scan_sizes(call, out, err);
}

void ts__compute_put_bound(compute_call *call, const compute_array *bound)
{
    ts__compute_put_tuple(call, 2);
    ts__compute_put_array(call, bound);
    ts__compute_put_count(call);
}

ts_status ts__compute_group(compute_call *call, const compute_array ends[2], const compute_scan *groups, ts_error *err)
{
    compute_key mark = {.number = COMPUTE_mark, .at[COMPUTE_counted] = call->options.count != NULL};
    int64_t n_parts = ends[0].n;
    TS_TRY(ts_mem_fill(call->stream, call->rooms[PARTS_GROUPS], 0, 8, (uint64_t)call->n, err));
    if (n_parts) {
        ts__compute_begin_args(call);
        ts__compute_put_bound(call, &ends[0]);
        ts__compute_put_bound(call, &ends[1]);
        ts__compute_put_int(call, n_parts);
        ts__compute_put_room(call, PARTS_GROUPS, TS_DTYPE_int64, 1, &call->n);
        ts__compute_put_count(call);
        TS_TRY(ts__compute_launch(call, &mark, compute_cdiv(n_parts, COMPUTE_THREADS), COMPUTE_THREADS, err));
    }
    ts__compute_begin_args(call);
    ts__compute_put_room(call, PARTS_GROUPS, TS_DTYPE_int64, 1, &call->n);
    ts__compute_put_count(call);
    ts__compute_put_room(call, PARTS_GROUPS, TS_DTYPE_int64, 1, &call->n);
    ts__compute_put_int(call, 0);
    return ts__compute_scan_launch(call, groups, PARTS_WORDS, err);
}

/* ---- sorts ------------------------------------------------------------------------------------------------- */

/* Sorts places by keys, ascending or as the call says; with `need`: how much memory that takes. */
static ts_status parts_sort(const compute_call *call, const parts_plan *plan, const ts_arg keys[2],
                            const compute_array places[2], uint32_t flags, uint64_t *need, ts_error *err)
{
    compute_call below;
    ts_arg by[2] = {keys[0], keys[1]}, of[2] = {places[0].arg, places[1].arg};
    ts__compute_below(call, plan->below, &below);
    below.options.flags = flags, below.options.need = need;
    by[0].shape = by[1].shape = of[0].shape = of[1].shape = &call->n;
    return ts__compute_sort(&below, by, of, err);
}

/* Temporary memory as arrays: of both sorts, and what is put aside. */
typedef struct parts_rooms {
    compute_array groups, ordered, from, places, keys, values;
} parts_rooms;

static void parts_rooms_of(const compute_call *call, const parts_plan *plan, parts_rooms *out)
{
    ts__compute_room_array(call, PARTS_GROUPS, TS_DTYPE_uint64, call->n, &out->groups);
    ts__compute_room_array(call, PARTS_ORDERED, TS_DTYPE_uint64, call->n, &out->ordered);
    ts__compute_room_array(call, PARTS_FROM, (uint8_t)plan->place, call->n, &out->from);
    ts__compute_room_array(call, PARTS_PLACES, (uint8_t)plan->place, call->n, &out->places);
    ts__compute_room_array(call, PARTS_KEYS, plan->keys[0].arg.dtype, call->n, &out->keys);
    ts__compute_room_array(call, PARTS_VALUES, plan->values[0].arg.dtype, call->n, &out->values);
}

/* By key, or by group. */
static ts_status parts_sort_by(const compute_call *call, const parts_plan *plan, const parts_rooms *rooms,
                               bool by_group, uint64_t *need, ts_error *err)
{
    const ts_arg keys[2] = {plan->keys[0].arg, rooms->keys.arg}, groups[2] = {rooms->ordered.arg, rooms->groups.arg};
    const compute_array places[2] = {rooms->from, rooms->places};
    return parts_sort(call, plan, by_group ? groups : keys, places, by_group ? 0 : call->options.flags, need, err);
}

static ts_status parts_run(compute_call *call, const parts_plan *plan, ts_error *err)
{
    parts_rooms rooms;
    parts_rooms_of(call, plan, &rooms);
    TS_TRY(ts__compute_group(call, plan->ends, &plan->groups, err));
    TS_TRY(ts__compute_sequence(call, &rooms.from, err));
    TS_TRY(parts_sort_by(call, plan, &rooms, false, NULL, err));
    TS_TRY(ts__compute_gather(call, &rooms.groups, &rooms.places, &rooms.ordered, err));
    if (plan->is_pair)
        TS_TRY(ts__compute_gather(call, &plan->values[0], &rooms.places, &rooms.values, err));
    TS_TRY(parts_sort_by(call, plan, &rooms, true, NULL, err));
    TS_TRY(ts__compute_gather(call, &rooms.keys, &rooms.places, &plan->keys[1], err));
    return plan->is_pair ? ts__compute_gather(call, &rooms.values, &rooms.places, &plan->values[1], err) : TS_OK;
}

static ts_status parts_rooms_take(compute_call *call, parts_plan *plan, bool *only_asks, ts_error *err)
{
    uint64_t n = (uint64_t)call->n, places, most = 0, need;
    parts_rooms rooms;
    compute_call asks = *call; /* nothing is taken yet */
    asks.options.memory = NULL;
    plan->place = call->n >> 31 ? TS_DTYPE_int64 : TS_DTYPE_int32;
    places = n * ts_dtype_bytes(plan->place);
    parts_rooms_of(&asks, plan, &rooms);
    for (int by_group = 0; by_group < 2; by_group++) {
        TS_TRY(parts_sort_by(&asks, plan, &rooms, by_group, &need, err));
        most = TS_MAX(most, need);
    }
    TS_TRY(ts__compute_group_sizes(call, true, &plan->groups, err));
    uint64_t bytes[COMPUTE_ROOMS] = {(uint64_t)plan->groups.words[0] * 8, n * 8, n * 8, places, places,
                                     n * ts_dtype_bytes((ts_dtype)plan->keys[0].arg.dtype)};
    size_t n_rooms = PARTS_VALUES;
    if (plan->is_pair)
        bytes[n_rooms++] = n * ts_dtype_bytes((ts_dtype)plan->values[0].arg.dtype);
    plan->below = n_rooms;
    if (call->options.memory || call->options.need) /* else it comes of the pool, too */
        bytes[n_rooms++] = most;
    return ts__compute_rooms(call, bytes, n_rooms, only_asks, err);
}

static ts_status parts_sorted(compute_call *call, parts_plan *plan, ts_error *err)
{
    bool only_asks;
    if (plan->keys[0].n > 1 && plan->keys[0].stride != 1)
        return ts_fail(err, TS_SHAPE, "%s: keys[0] has a stride of %lld; pass an array without gaps", call->name,
                       (long long)plan->keys[0].stride);
    if (call->n && ts__compute_order_fits(call, plan->keys, plan->is_pair ? plan->values : NULL))
        return ts__compute_order(call, plan->keys, plan->is_pair ? plan->values : NULL, plan->ends, err);
    ts_status status = parts_rooms_take(call, plan, &only_asks, err);
    if (status == TS_OK && !only_asks && call->n)
        status = parts_run(call, plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts__compute_sort_parts(compute_call *call, const ts_arg keys[2], const ts_arg values[2],
                                 const ts_arg parts[2], ts_error *err)
{
    parts_plan plan;
    TS_TRY(parts_given(call, keys, values, parts, -1, &plan, err));
    TS_TRY(parts_check(call, &plan, err));
    return parts_sorted(call, &plan, err);
}

ts_status ts_segmented_sort(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                            const ts_arg parts[2], const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, keys, parts);
    TS_TRY(ts__compute_begin(&call, "ts_segmented_sort", stream, keys, options, err));
    return ts__compute_sort_parts(&call, keys, values, parts, err);
}

/* ---- the first few ------------------------------------------------------------------------------------------ */

/* Sorts the parts into rooms of this call; with `need`: how much memory that takes. */
static ts_status top_parts_sort(const compute_call *call, const parts_plan *plan, uint64_t *need, ts_error *err)
{
    compute_call below;
    parts_plan sort = *plan;
    ts__compute_below(call, plan->below, &below);
    below.options.flags = call->options.flags, below.options.need = need, below.n = call->n;
    for (size_t i = 0; i <= plan->is_pair; i++) {
        compute_array *of = i ? sort.values : sort.keys;
        ts__compute_room_array(call, i, of[0].arg.dtype, call->n, &of[1]);
        of[0].arg.shape = &call->n, of[0].arg.strides = of[0].stride == 1 ? NULL : &of[0].stride;
    }
    for (size_t i = 0; i < 2; i++)
        sort.ends[i].arg.shape = &sort.ends[i].n,
        sort.ends[i].arg.strides = sort.ends[i].stride == 1 ? NULL : &sort.ends[i].stride;
    return parts_sorted(&below, &sort, err);
}

static ts_status top_parts_take(compute_call *call, const parts_plan *plan, int64_t k, ts_error *err)
{
    compute_key key = {.number = plan->is_pair ? COMPUTE_take_parts_pairs : COMPUTE_take_parts,
                       .at[COMPUTE_counted] = call->options.count != NULL};
    const compute_array *const of[] = {plan->keys, plan->values};
    ts__compute_begin_args(call);
    ts__compute_put_bound(call, &plan->ends[0]);
    ts__compute_put_bound(call, &plan->ends[1]);
    ts__compute_put_int(call, plan->n_parts);
    ts__compute_put_int(call, k);
    ts__compute_put_tuple(call, 1 + plan->is_pair);
    for (size_t i = 0; i <= plan->is_pair; i++) {
        ts__compute_put_tuple(call, 1);
        ts__compute_put_room(call, i, (ts_dtype)of[i][0].arg.dtype, 1, &call->n);
    }
    ts__compute_put_tuple(call, 1 + plan->is_pair);
    for (size_t i = 0; i <= plan->is_pair; i++)
        ts__compute_put_array(call, &of[i][1]);
    return ts__compute_launch(call, &key, compute_cdiv(k * plan->n_parts, COMPUTE_THREADS), COMPUTE_THREADS, err);
}

static ts_status top_parts_run(compute_call *call, parts_plan *plan, int64_t k, ts_error *err)
{
    uint64_t bytes[COMPUTE_ROOMS], need = 0;
    bool only_asks;
    compute_call asks = *call; /* nothing is taken yet */
    asks.options.memory = NULL;
    TS_TRY(top_parts_sort(&asks, plan, &need, err));
    bytes[0] = (uint64_t)call->n * ts_dtype_bytes((ts_dtype)plan->keys[0].arg.dtype);
    bytes[1] = plan->is_pair ? (uint64_t)call->n * ts_dtype_bytes((ts_dtype)plan->values[0].arg.dtype) : 0;
    plan->below = 1 + plan->is_pair, bytes[plan->below] = need;
    size_t n_rooms = plan->below + (call->options.memory || call->options.need);
    TS_TRY(ts__compute_rooms(call, bytes, n_rooms, &only_asks, err));
    if (only_asks || !call->n || !k || !plan->n_parts)
        return TS_OK;
    TS_TRY(top_parts_sort(call, plan, NULL, err));
    return top_parts_take(call, plan, k, err);
}

ts_status ts__compute_top_parts(compute_call *call, const ts_arg keys[2], const ts_arg values[2],
                                const ts_arg parts[2], int64_t k, ts_error *err)
{
    parts_plan plan;
    int64_t n_parts = parts[0].kind == TS_SPEC_ARRAY && parts[0].rank == 1 && parts[0].shape ? parts[0].shape[0] : 0;
    if (k < 0 || (n_parts > 0 && k > INT64_MAX / n_parts))
        return ts_fail(err, TS_VALUE, "%s: k is %lld, of each of %lld parts", call->name, (long long)k,
                       (long long)n_parts);
    TS_TRY(parts_given(call, keys, values, parts, k * TS_MAX(n_parts, 0), &plan, err));
    TS_TRY(parts_check(call, &plan, err));
    TS_TRY(ts__compute_check_apart(call, &plan.keys[1], &plan.keys[0], err));
    if (plan.is_pair)
        TS_TRY(ts__compute_check_apart(call, &plan.values[1], &plan.values[0], err));
    ts_status status = top_parts_run(call, &plan, k, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_segmented_top_k(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                             const ts_arg parts[2], int64_t k, const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, keys, parts);
    TS_TRY(ts__compute_begin(&call, "ts_segmented_top_k", stream, keys, options, err));
    return ts__compute_top_parts(&call, keys, values, parts, k, err);
}
