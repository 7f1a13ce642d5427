/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions about all items: the first one that a condition holds for, how many there are, where two sequences differ:
 * python/tessera/compute/_find.py.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

/* Of one sequence, or of two that are compared. */
typedef struct find_plan {
    compute_key key;
    compute_array in[2];
    size_t n_in;
} find_plan;

static ts_status find_check(const compute_call *call, find_plan *plan, const ts_arg *in, const compute_array *out,
                            ts_error *err)
{
    for (size_t i = 0; i < plan->n_in; i++) {
        TS_TRY(ts__compute_array(call, i ? "in[1]" : "in", &in[i], false, &plan->in[i], err));
        TS_TRY(ts__compute_check_number(call, "in", &plan->in[i], err));
        TS_TRY(ts__compute_check_apart(call, out, &plan->in[i], err));
    }
    if (plan->n_in == 2) {
        TS_TRY(ts__compute_check_alike(call, "in[0]", &plan->in[0], "in[1]", &plan->in[1], err));
        TS_TRY(ts__compute_check_items(call, "in[1]", &plan->in[1], plan->in[0].n, err));
    }
    TS_TRY(ts__compute_check_items(call, "the result", out, 1, err));
    return ts__compute_number_checks(call, false, err);
}

/* The place becomes the number of items, then each block whose items may come before it looks. */
static ts_status find_launch(compute_call *call, const find_plan *plan, const ts_arg *place, ts_error *err)
{
    compute_key number = {.number = COMPUTE_set_number, .at[COMPUTE_counted] = call->options.count != NULL};
    const char *own = call->options.own;
    ts__compute_begin_args(call);
    ts__compute_put(call, *place);
    ts__compute_put_count(call);
    call->options.own = NULL; /* this kernel has no operator */
    ts_status status = ts__compute_launch(call, &number, 1, 1, err);
    call->options.own = own;
    if (status != TS_OK || !call->n)
        return status;
    ts__compute_begin_args(call);
    if (plan->n_in == 2)
        ts__compute_put_tuple(call, 2);
    for (size_t i = 0; i < plan->n_in; i++)
        ts__compute_put_array(call, &plan->in[i]);
    ts__compute_put_count(call);
    ts__compute_put(call, *place);
    int64_t blocks = compute_cdiv(call->n, (int64_t)COMPUTE_THREADS * COMPUTE_FIND_ITEMS);
    return ts__compute_launch(call, &plan->key, blocks, COMPUTE_THREADS, err);
}

static ts_status find_place(compute_call *call, const ts_arg *in, size_t n_in, const ts_arg *place, ts_error *err)
{
    find_plan plan = {.n_in = n_in};
    compute_array out;
    bool only_asks;
    TS_TRY(ts__compute_flags(call, 0, n_in == 1 || call->options.own, err));
    TS_TRY(ts__compute_array(call, "place", place, true, &out, err));
    TS_TRY(find_check(call, &plan, in, &out, err));
    if (out.arg.dtype != TS_DTYPE_int64)
        return ts_fail(err, TS_TYPE, "%s: place is of %s; it is one of int64", call->name,
                       ts_dtype_name((ts_dtype)out.arg.dtype));
    plan.key = (compute_key){.number = n_in == 1 ? COMPUTE_find : COMPUTE_mismatch,
                             .at = {[COMPUTE_counted] = call->options.count != NULL,
                                    [COMPUTE_own] = n_in == 2 && call->options.own}};
    TS_TRY(ts__compute_rooms(call, NULL, 0, &only_asks, err));
    call->n = plan.in[0].n;
    return only_asks ? TS_OK : find_launch(call, &plan, &out.arg, err);
}

ts_status ts_find(const ts_stream *stream, const ts_arg *in, const ts_arg *place, const ts_compute_options *options,
                  ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, place);
    TS_TRY(ts__compute_begin(&call, "ts_find", stream, in, options, err));
    return find_place(&call, in, 1, place, err);
}

ts_status ts_mismatch(const ts_stream *stream, const ts_arg in[2], const ts_arg *place,
                      const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, place);
    TS_TRY(ts__compute_begin(&call, "ts_mismatch", stream, in, options, err));
    return find_place(&call, in, 2, place, err);
}

/* Whether the place is the number of items; the place is temporary memory. */
static ts_status equal_launch(compute_call *call, find_plan *plan, const compute_array *out, ts_error *err)
{
    static const int64_t one = 1;
    compute_key reach = {.number = COMPUTE_reach, .at[COMPUTE_counted] = call->options.count != NULL};
    ts_arg place = {.kind = TS_SPEC_ARRAY, .dtype = TS_DTYPE_int64, .rank = 1, .shape = &one,
                    .device = ts_device_id(call->stream->device), .value.data = call->rooms[0]};
    TS_TRY(find_launch(call, plan, &place, err));
    call->options.own = NULL;
    ts__compute_begin_args(call);
    ts__compute_put(call, out->arg);
    ts__compute_put(call, place);
    ts__compute_put_count(call);
    return ts__compute_launch(call, &reach, 1, 1, err);
}

ts_status ts_equal(const ts_stream *stream, const ts_arg in[2], const ts_arg *result,
                   const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    find_plan plan = {.n_in = 2};
    compute_array out;
    bool only_asks;
    TS_NEED(err, in, result);
    TS_TRY(ts__compute_begin(&call, "ts_equal", stream, in, options, err));
    TS_TRY(ts__compute_flags(&call, 0, call.options.own != NULL, err));
    TS_TRY(ts__compute_array(&call, "result", result, true, &out, err));
    TS_TRY(find_check(&call, &plan, in, &out, err));
    if (out.arg.dtype != TS_DTYPE_bool_)
        return ts_fail(err, TS_TYPE, "ts_equal: the result is of %s; it is one bool",
                       ts_dtype_name((ts_dtype)out.arg.dtype));
    plan.key = (compute_key){.number = COMPUTE_mismatch, .at = {[COMPUTE_counted] = call.options.count != NULL,
                                                                [COMPUTE_own] = call.options.own != NULL}};
    call.n = plan.in[0].n;
    uint64_t bytes = 8;
    ts_status status = ts__compute_rooms(&call, &bytes, 1, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = equal_launch(&call, &plan, &out, err);
    ts__compute_end(&call);
    return status;
}
