/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of sorted sequences: python/tessera/compute/_sets.py. A merge says of each item whether it stays, then those are
 * selected:
 *
 *     intersection, difference      of in[0]: a flag for each item
 *     union, symmetric difference   of both: the merge, and a flag for each of its items
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

enum { SETS_FLAGS, SETS_KEYS, SETS_VALUES };

/* A sequence: keys, perhaps values. */
typedef struct set_items {
    compute_array of[2];
} set_items;

typedef struct set_plan {
    set_items in[2], out;
    compute_array count;
    size_t fields, below;
    compute_key key;
    bool merges;
    int64_t most; /* items that may stay */
} set_plan;

/* ---- checks ---------------------------------------------------------------------------------------------- */

static ts_status set_arrays(const compute_call *call, set_plan *plan, const ts_arg *given, size_t field, ts_error *err)
{
    static const char *const names[2][3] = {{"keys[0]", "keys[1]", "keys[2]"}, {"values[0]", "values[1]", "values[2]"}};
    compute_array *const arrays[3] = {&plan->in[0].of[field], &plan->in[1].of[field], &plan->out.of[field]};
    int64_t most = plan->in[0].of[0].n + (plan->merges ? plan->in[1].of[0].n : 0);
    for (size_t i = 0; i < 3; i++)
        TS_TRY(ts__compute_array(call, names[field][i], &given[i], i == 2, arrays[i], err));
    most = field ? most : arrays[0]->n + (plan->merges ? arrays[1]->n : 0);
    TS_TRY(ts__compute_check_items(call, names[field][2], arrays[2], most, err));
    for (size_t i = 0; i < 2; i++) {
        TS_TRY(ts__compute_check_alike(call, names[field][i], arrays[i], names[field][2], arrays[2], err));
        if (field)
            TS_TRY(ts__compute_check_items(call, names[1][i], arrays[i], plan->in[i].of[0].n, err));
    }
    return TS_OK;
}

static ts_status set_check(const compute_call *call, const set_plan *plan, ts_error *err)
{
    int64_t most = plan->in[0].of[0].n + (plan->merges ? plan->in[1].of[0].n : 0);
    TS_TRY(ts__compute_check_items(call, "the number of items", &plan->count, 1, err));
    TS_TRY(ts__compute_check_holds(call, "the number of items", &plan->count, most, err));
    for (size_t f = 0; f < plan->fields; f++)
        for (size_t k = 0; k < plan->fields; k++)
            for (size_t i = 0; i < 2; i++) {
                TS_TRY(ts__compute_check_apart(call, &plan->out.of[f], &plan->in[i].of[k], err));
                TS_TRY(ts__compute_check_apart(call, &plan->count, &plan->in[i].of[k], err));
            }
    for (size_t f = 0; f < plan->fields; f++)
        TS_TRY(ts__compute_check_apart(call, &plan->count, &plan->out.of[f], err));
    return plan->fields < 2 ? TS_OK : ts__compute_check_apart(call, &plan->out.of[0], &plan->out.of[1], err);
}

/* ---- steps ------------------------------------------------------------------------------------------------ */

static ts_status set_flag(compute_call *call, const set_plan *plan, ts_error *err)
{
    const compute_array *keys[2] = {&plan->in[0].of[0], &plan->in[1].of[0]};
    int64_t all = keys[0]->n + keys[1]->n;
    if (!all)
        return TS_OK;
    compute_key key = plan->key;
    int64_t blocks = ts__compute_merge_blocks(call, all, &key);
    ts__compute_begin_args(call);
    ts__compute_put_array(call, keys[0]->n ? keys[0] : keys[1]); /* where there are none, only the dtype counts */
    ts__compute_put_array(call, keys[1]->n ? keys[1] : keys[0]);
    ts__compute_put_tuple(call, 2);
    ts__compute_put_int(call, keys[0]->n);
    ts__compute_put_int(call, keys[1]->n);
    if (plan->merges) {
        ts__compute_put_tuple(call, plan->fields == 1 ? 2 : 5);
        ts__compute_put_tuple(call, 1);
        ts__compute_put_room(call, SETS_KEYS, (ts_dtype)keys[0]->arg.dtype, 1, &plan->most);
    }
    ts__compute_put_room(call, SETS_FLAGS, TS_DTYPE_int8, 1, &plan->most);
    if (plan->merges && plan->fields == 2) {
        const compute_array *values[2] = {&plan->in[0].of[1], &plan->in[1].of[1]};
        ts__compute_put_tuple(call, 1);
        ts__compute_put_room(call, SETS_VALUES, (ts_dtype)values[0]->arg.dtype, 1, &plan->most);
        ts__compute_put_array(call, values[0]->n ? values[0] : values[1]);
        ts__compute_put_array(call, values[1]->n ? values[1] : values[0]);
    }
    return ts__compute_launch(call, &key, blocks, COMPUTE_THREADS, err);
}

/* The items of a field that stay. With `need`: how much memory that takes. */
static ts_status set_select(const compute_call *call, const set_plan *plan, size_t field, uint64_t *need,
                            ts_error *err)
{
    compute_call below;
    compute_array flags, merged;
    const compute_array *in = &plan->in[0].of[field];
    ts__compute_below(call, plan->below, &below);
    below.options.need = need;
    ts__compute_room_array(call, SETS_FLAGS, TS_DTYPE_int8, plan->most, &flags);
    ts__compute_room_array(call, field ? SETS_VALUES : SETS_KEYS, in->arg.dtype, plan->most, &merged);
    ts_arg items = plan->merges ? merged.arg : in->arg, out[2] = {plan->out.of[field].arg, plan->count.arg};
    items.shape = &plan->most;
    return ts__compute_select(&below, &items, &flags.arg, out, 2, err);
}

/* Temporary memory: flags, the merge, and what selecting takes. */
static ts_status set_rooms(compute_call *call, set_plan *plan, bool *only_asks, ts_error *err)
{
    uint64_t bytes[COMPUTE_ROOMS] = {(uint64_t)plan->most}, need = 0, most = 0;
    size_t n = 1;
    compute_call asks = *call; /* nothing is taken yet */
    asks.options.memory = NULL;
    for (size_t f = 0; f < plan->fields; f++) {
        TS_TRY(set_select(&asks, plan, f, &need, err));
        most = TS_MAX(most, need);
        if (plan->merges)
            bytes[n++] = (uint64_t)plan->most * ts_dtype_bytes((ts_dtype)plan->in[0].of[f].arg.dtype);
    }
    plan->below = n;
    if (call->options.memory || call->options.need) /* else it comes of the pool, too */
        bytes[n++] = most;
    return ts__compute_rooms(call, bytes, n, only_asks, err);
}

static ts_status set_run(compute_call *call, const set_plan *plan, ts_error *err)
{
    TS_TRY(set_flag(call, plan, err));
    for (size_t f = 0; f < plan->fields; f++)
        TS_TRY(set_select(call, plan, f, NULL, err));
    return TS_OK;
}

ts_status ts__compute_set(compute_call *call, ts_set_kind kind, const ts_arg keys[3], const ts_arg values[3],
                          const ts_arg *count, ts_error *err)
{
    set_plan plan = {.fields = 1 + (values != NULL),
                     .merges = kind == TS_SET_union || kind == TS_SET_symmetric_difference};
    bool is_own = call->options.own != NULL, only_asks;
    if ((unsigned)kind >= TS_SET_COUNT)
        return ts_fail(err, TS_VALUE, "%s: %d is no set; give a ts_set_kind", call->name, (int)kind);
    TS_TRY(ts__compute_flags(call, is_own ? 0 : TS_COMPUTE_DESCENDING, is_own, err));
    TS_TRY(set_arrays(call, &plan, keys, 0, err));
    if (values)
        TS_TRY(set_arrays(call, &plan, values, 1, err));
    TS_TRY(ts__compute_array(call, "the number of items", count, true, &plan.count, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    if (call->options.count)
        return ts_fail(err, TS_VALUE, "%s takes no count; give arrays of as many items", call->name);
    TS_TRY(set_check(call, &plan, err));
    plan.most = plan.in[0].of[0].n + (plan.merges ? plan.in[1].of[0].n : 0);
    plan.key = (compute_key){.number = !plan.merges ? COMPUTE_set_flags
                                       : values     ? COMPUTE_set_merge_pairs
                                                    : COMPUTE_set_merge,
                             .at = {[COMPUTE_both] = kind == TS_SET_intersection || kind == TS_SET_symmetric_difference,
                                    [COMPUTE_own] = is_own,
                                    [COMPUTE_descending] = (call->options.flags & TS_COMPUTE_DESCENDING) != 0}};
    ts_status status = set_rooms(call, &plan, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = set_run(call, &plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_set(const ts_stream *stream, ts_set_kind kind, const ts_arg keys[3], const ts_arg values[3],
                 const ts_arg *count, const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, keys, count);
    TS_TRY(ts__compute_begin(&call, "ts_set", stream, keys, options, err));
    return ts__compute_set(&call, kind, keys, values, count, err);
}
