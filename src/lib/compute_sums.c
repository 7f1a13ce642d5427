/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans of many parts, each by itself: python/tessera/compute/_segmented.py and _segments.py. Work is
 * divided by items and ends of parts, so what parts look like does not matter for the time.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

/* ---- reductions -------------------------------------------------------------------------------------------- */

enum { SUMS_WORDS, SUMS_OFFSETS, SUMS_SPANS, SUMS_COUNTER };

typedef struct sums_plan {
    compute_key key;
    compute_array in, out, ends[2];
    compute_scan offsets; /* where the items of parts stand in a row */
    int64_t places[1], spans[1], one[1]; /* spans: words of all */
} sums_plan;

static ts_status sums_check(const compute_call *call, const sums_plan *plan, ts_error *err)
{
    if (!call->options.initial)
        return ts_fail(err, TS_VALUE, "%s: an empty part gives the initial value; give one", call->name);
    if (call->options.count)
        return ts_fail(err, TS_VALUE, "%s takes no count; what is behind the last item is in no part", call->name);
    TS_TRY(ts__compute_check_items(call, "result", &plan->out, plan->ends[0].n, err));
    TS_TRY(ts__compute_check_apart(call, &plan->out, &plan->in, err));
    TS_TRY(ts__compute_check_apart(call, &plan->out, &plan->ends[0], err));
    return ts__compute_check_apart(call, &plan->out, &plan->ends[1], err);
}

/* A bound of parts, among all items. */
static void sums_put_bound(compute_call *call, const sums_plan *plan, size_t i)
{
    ts__compute_put_tuple(call, 2);
    ts__compute_put_array(call, &plan->ends[i]);
    ts__compute_put_int(call, plan->in.n);
}

static ts_status sums_run(compute_call *call, sums_plan *plan, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 2);
    sums_put_bound(call, plan, 0);
    sums_put_bound(call, plan, 1);
    ts__compute_put_int(call, call->n);
    ts__compute_put_room(call, SUMS_OFFSETS, TS_DTYPE_int64, 1, plan->places);
    ts__compute_put_int(call, 0);
    const char *own = call->options.own;
    call->options.own = NULL; /* lengths are added */
    ts_status status = ts__compute_scan_launch(call, &plan->offsets, SUMS_WORDS, err);
    call->options.own = own;
    TS_TRY(status);
    TS_TRY(ts_mem_fill(call->stream, call->rooms[SUMS_COUNTER], 0, 4, 1, err));
    ts__compute_begin_args(call);
    ts__compute_put_array(call, &plan->in);
    sums_put_bound(call, plan, 0);
    ts__compute_put_room(call, SUMS_OFFSETS, TS_DTYPE_int64, 1, plan->places);
    ts__compute_put_int(call, call->n);
    ts__compute_put_array(call, &plan->out);
    ts__compute_put_initial(call);
    ts__compute_put_room(call, SUMS_SPANS, TS_DTYPE_uint32, 1, plan->spans);
    ts__compute_put_room(call, SUMS_COUNTER, TS_DTYPE_int32, 1, plan->one);
    const int64_t blocks = call->is_gpu ? COMPUTE_PART_SPANS : COMPUTE_PART_BLOCKS;
    return ts__compute_launch(call, &plan->key, blocks, call->is_gpu ? COMPUTE_THREADS : 1, err);
}

ts_status ts__compute_reduce_parts(compute_call *call, const ts_arg *in, const ts_arg *result, const ts_arg parts[2],
                                   ts_combine op, ts_error *err)
{
    sums_plan plan = {.one = {1}};
    bool only_asks;
    TS_TRY(ts__compute_flags(call, 0, op == TS_COMBINE_own, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.in, err));
    TS_TRY(ts__compute_array(call, "result", result, true, &plan.out, err));
    TS_TRY(ts__compute_bounds(call, parts, plan.ends, err));
    plan.key = (compute_key){.number = call->is_gpu ? COMPUTE_parts_gpu : COMPUTE_parts_cpu,
                             .at = {[COMPUTE_dtype] = result->dtype, [COMPUTE_combine] = (uint8_t)op}};
    TS_TRY(ts__compute_types(call, &plan.key, in, result, op, err));
    TS_TRY(ts__compute_number_checks(call, true, err));
    TS_TRY(sums_check(call, &plan, err));
    call->n = plan.ends[0].n, plan.places[0] = call->n + 1;
    plan.spans[0] = COMPUTE_PART_SPANS * (int64_t)ts__compute_choice(&plan.key, COMPUTE_dtype)->pieces;
    plan.offsets = (compute_scan){.word = TS_DTYPE_int64, .is_exact = true,
                                  .key = {.number = call->is_gpu ? COMPUTE_offsets_gpu : COMPUTE_offsets_cpu,
                                          .at[COMPUTE_dtype] = TS_DTYPE_int64}};
    TS_TRY(ts__compute_scan_sizes(call, &plan.offsets, err));
    uint64_t bytes[] = {(uint64_t)plan.offsets.words[0] * 8, (uint64_t)plan.places[0] * 8,
                        (uint64_t)plan.spans[0] * 4, 4};
    ts_status status = ts__compute_rooms(call, bytes, TS_COUNT(bytes), &only_asks, err);
    if (status == TS_OK && !only_asks && call->n)
        status = sums_run(call, &plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_segmented_reduce(const ts_stream *stream, const ts_arg *in, const ts_arg *result, const ts_arg parts[2],
                              ts_combine op, const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, result, parts);
    TS_TRY(ts__compute_begin(&call, "ts_segmented_reduce", stream, in, options, err));
    return ts__compute_reduce_parts(&call, in, result, parts, op, err);
}

/* ---- scans -------------------------------------------------------------------------------------------------- */

enum { SCANS_GROUP_WORDS, SCANS_GROUPS, SCANS_WORDS };

typedef struct scans_plan {
    compute_array in, out, ends[2];
    compute_scan groups, scan;
} scans_plan;

static ts_status scans_run(compute_call *call, const scans_plan *plan, ts_error *err)
{
    const char *own = call->options.own;
    call->options.own = NULL; /* marks are compared */
    ts_status status = ts__compute_group(call, plan->ends, &plan->groups, err);
    call->options.own = own;
    TS_TRY(status);
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 3);
    ts__compute_put_tuple(call, 1);
    ts__compute_put_room(call, SCANS_GROUPS, TS_DTYPE_int64, 1, &call->n);
    ts__compute_put_array(call, &plan->in);
    ts__compute_put_initial(call);
    ts__compute_put_count(call);
    ts__compute_put_tuple(call, 1);
    ts__compute_put_tuple(call, 2);
    ts__compute_put_array(call, &plan->out);
    ts__compute_put_room(call, SCANS_GROUPS, TS_DTYPE_int64, 1, &call->n);
    ts__compute_put_int(call, 0);
    return ts__compute_scan_launch(call, &plan->scan, SCANS_WORDS, err);
}

static ts_status scans_check(const compute_call *call, const scans_plan *plan, ts_error *err)
{
    if ((call->options.flags & TS_COMPUTE_EXCLUSIVE) && !call->options.initial)
        return ts_fail(err, TS_VALUE, "%s: an exclusive scan begins with its initial value; give one", call->name);
    if (plan->in.n >> 31)
        return ts_fail(err, TS_VALUE, "%s: %lld items are more than the 2147483647 that are possible", call->name,
                       (long long)plan->in.n);
    TS_TRY(ts__compute_check_items(call, "out", &plan->out, plan->in.n, err));
    TS_TRY(ts__compute_check_apart(call, &plan->out, &plan->ends[0], err));
    TS_TRY(ts__compute_check_apart(call, &plan->out, &plan->ends[1], err));
    return ts__compute_check_place(call, &plan->in, &plan->out, err);
}

ts_status ts__compute_scan_parts(compute_call *call, const ts_arg *in, const ts_arg *out, const ts_arg parts[2],
                                 ts_combine op, ts_error *err)
{
    scans_plan plan;
    bool only_asks;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_EXCLUSIVE, op == TS_COMBINE_own, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.in, err));
    TS_TRY(ts__compute_array(call, "out", out, true, &plan.out, err));
    TS_TRY(ts__compute_bounds(call, parts, plan.ends, err));
    plan.scan = (compute_scan){.word = TS_DTYPE_int64,
                               .key = {.number = call->is_gpu ? COMPUTE_scan_parts_gpu : COMPUTE_scan_parts_cpu,
                                       .at = {[COMPUTE_dtype] = out->dtype, [COMPUTE_combine] = (uint8_t)op,
                                              [COMPUTE_initial] = call->options.initial != NULL,
                                              [COMPUTE_exclusive] = (call->options.flags & TS_COMPUTE_EXCLUSIVE) != 0,
                                              [COMPUTE_counted] = call->options.count != NULL}}};
    TS_TRY(ts__compute_types(call, &plan.scan.key, in, out, op, err));
    TS_TRY(ts__compute_number_checks(call, true, err));
    TS_TRY(scans_check(call, &plan, err));
    call->n = plan.in.n;
    TS_TRY(ts__compute_group_sizes(call, false, &plan.groups, err));
    TS_TRY(ts__compute_scan_sizes(call, &plan.scan, err));
    uint64_t bytes[] = {(uint64_t)plan.groups.words[0] * 8, (uint64_t)call->n * 8,
                        (uint64_t)(plan.scan.words[0] * plan.scan.word_bytes)};
    ts_status status = ts__compute_rooms(call, bytes, TS_COUNT(bytes), &only_asks, err);
    if (status == TS_OK && !only_asks && call->n)
        status = scans_run(call, &plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_segmented_scan(const ts_stream *stream, const ts_arg *in, const ts_arg *out, const ts_arg parts[2],
                            ts_combine op, const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out, parts);
    TS_TRY(ts__compute_begin(&call, "ts_segmented_scan", stream, in, options, err));
    return ts__compute_scan_parts(&call, in, out, parts, op, err);
}
