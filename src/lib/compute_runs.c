/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of equal keys: their values put together, and how long they are: python/tessera/compute/_by_key.py, _runs.py.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

#define RUNS_MOST INT32_MAX /* items: runs are counted in 32 bits */

typedef struct runs_plan {
    compute_scan scan;
    compute_array keys[2], values[2], count;
    bool has_values; /* else values[1] becomes how long runs are */
} runs_plan;

static ts_status runs_check(const compute_call *call, const runs_plan *plan, ts_error *err)
{
    const compute_array *const outs[] = {&plan->keys[1], &plan->values[1], &plan->count};
    int64_t n = plan->keys[0].n;
    if (n > RUNS_MOST)
        return ts_fail(err, TS_VALUE, "%s: %lld items are more than the 2147483647 that are possible", call->name,
                       (long long)n);
    TS_TRY(ts__compute_check_alike(call, "the keys", &plan->keys[0], "their result", &plan->keys[1], err));
    TS_TRY(ts__compute_check_items(call, "the result of keys", &plan->keys[1], n, err));
    TS_TRY(ts__compute_check_items(call, plan->has_values ? "values[1]" : "the lengths", &plan->values[1], n, err));
    TS_TRY(ts__compute_check_items(call, "the number of runs", &plan->count, 1, err));
    TS_TRY(ts__compute_check_holds(call, "the number of runs", &plan->count, n, err));
    if (plan->has_values)
        TS_TRY(ts__compute_check_items(call, "values[0]", &plan->values[0], n, err));
    else
        TS_TRY(ts__compute_check_holds(call, "the lengths", &plan->values[1], n, err));
    for (size_t i = 0; i < TS_COUNT(outs); i++) {
        TS_TRY(ts__compute_check_apart(call, outs[i], &plan->keys[0], err));
        if (plan->has_values)
            TS_TRY(ts__compute_check_apart(call, outs[i], &plan->values[0], err));
        for (size_t k = 0; k < i; k++)
            TS_TRY(ts__compute_check_apart(call, outs[i], outs[k], err));
    }
    return TS_OK;
}

/* The scan of a CPU's kernels, and of a GPU's where values are put together. */
static ts_status runs_launch(compute_call *call, const runs_plan *plan, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 3);
    ts__compute_put_array(call, &plan->keys[0]);
    ts__compute_put_array(call, plan->has_values ? &plan->values[0] : &plan->keys[0]);
    ts__compute_put_count(call);
    ts__compute_put_count(call);
    ts__compute_put_tuple(call, 3);
    ts__compute_put_array(call, &plan->keys[1]);
    ts__compute_put_array(call, &plan->values[1]);
    ts__compute_put_array(call, &plan->count);
    ts__compute_put_int(call, 0);
    return ts__compute_scan_launch(call, &plan->scan, 0, err);
}

static ts_status runs_run(compute_call *call, runs_plan *plan, ts_error *err)
{
    bool only_asks;
    call->n = plan->keys[0].n;
    TS_TRY(ts__compute_scan_sizes(call, &plan->scan, err));
    plan->scan.blocks = TS_MAX(1, plan->scan.blocks); /* without items there are no runs, which is written, too */
    uint64_t bytes = (uint64_t)(plan->scan.words[0] * plan->scan.word_bytes);
    ts_status status = ts__compute_rooms(call, &bytes, 1, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = runs_launch(call, plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts__compute_reduce_by_key(compute_call *call, const ts_arg keys[2], const ts_arg values[2],
                                    const ts_arg *count, ts_combine op, ts_error *err)
{
    static const char *const names[2][2] = {{"keys[0]", "keys[1]"}, {"values[0]", "values[1]"}};
    runs_plan plan = {.has_values = true, .scan.word = TS_DTYPE_int64};
    TS_TRY(ts__compute_flags(call, 0, op == TS_COMBINE_own, err));
    for (size_t i = 0; i < 2; i++) {
        TS_TRY(ts__compute_array(call, names[0][i], &keys[i], i == 1, &plan.keys[i], err));
        TS_TRY(ts__compute_array(call, names[1][i], &values[i], i == 1, &plan.values[i], err));
    }
    TS_TRY(ts__compute_array(call, "the number of runs", count, true, &plan.count, err));
    plan.scan.key = (compute_key){.number = call->is_gpu ? COMPUTE_runs_gpu : COMPUTE_runs_cpu,
                                  .at = {[COMPUTE_dtype] = values[1].dtype, [COMPUTE_combine] = (uint8_t)op,
                                         [COMPUTE_counted] = call->options.count != NULL}};
    TS_TRY(ts__compute_types(call, &plan.scan.key, &values[0], &values[1], op, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(runs_check(call, &plan, err));
    return runs_run(call, &plan, err);
}

ts_status ts_reduce_by_key(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2], const ts_arg *count,
                           ts_combine op, const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, keys, values, count);
    TS_TRY(ts__compute_begin(&call, "ts_reduce_by_key", stream, keys, options, err));
    return ts__compute_reduce_by_key(&call, keys, values, count, op, err);
}

/* ---- lengths ------------------------------------------------------------------------------------------------ */

/* On a GPU the first items of runs are chosen; a length is how far the next one is. */
static ts_status lengths_choose(compute_call *call, const ts_arg *in, const ts_arg out[3], ts_error *err)
{
    static const char *const ins[] = {"in"}, *const outs[] = {"out[0]", "the lengths", "the number of runs"};
    compute_choose plan = {.key.number = COMPUTE_lengths_gpu, .n_in = 1, .n_out = 3, .has_lengths = true,
                           .in_names = ins, .out_names = outs};
    TS_TRY(ts__compute_array(call, ins[0], in, false, &plan.in[0], err));
    for (size_t i = 0; i < 3; i++)
        TS_TRY(ts__compute_array(call, outs[i], &out[i], true, &plan.out[i], err));
    return ts__compute_choose(call, &plan, err);
}

ts_status ts__compute_run_lengths(compute_call *call, const ts_arg *in, const ts_arg out[3], ts_error *err)
{
    runs_plan plan = {.scan = {.word = TS_DTYPE_int64, .is_exact = true,
                               .key = {.number = COMPUTE_lengths_cpu, .at[COMPUTE_dtype] = TS_DTYPE_int64}}};
    TS_TRY(ts__compute_flags(call, 0, false, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.keys[0], err));
    TS_TRY(ts__compute_array(call, "out[0]", &out[0], true, &plan.keys[1], err));
    TS_TRY(ts__compute_array(call, "the lengths", &out[1], true, &plan.values[1], err));
    TS_TRY(ts__compute_array(call, "the number of runs", &out[2], true, &plan.count, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(runs_check(call, &plan, err));
    if (call->is_gpu)
        return lengths_choose(call, in, out, err);
    plan.scan.key.at[COMPUTE_counted] = call->options.count != NULL;
    return runs_run(call, &plan, err);
}

ts_status ts_run_lengths(const ts_stream *stream, const ts_arg *in, const ts_arg out[3],
                         const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_run_lengths", stream, in, options, err));
    return ts__compute_run_lengths(&call, in, out, err);
}
