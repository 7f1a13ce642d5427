/* SPDX-License-Identifier: Apache-2.0
 *
 * Transforms by an operator of the program, differences of neighbours, and merges:
 * python/tessera/compute/_transform.py, _arrange.py, _sets.py.
 */
#include "lib/compute.h"

typedef struct each_plan {
    compute_key key;
    compute_array in[TS_TRANSFORM_MOST], out;
    size_t n_in;
} each_plan;

static const compute_number each_kernels[TS_TRANSFORM_MOST] = {COMPUTE_transform1_cpu, COMPUTE_transform2_cpu,
                                                               COMPUTE_transform3_cpu};

/* A launch for each of call->n items, of a kernel of a CPU, or of the one behind it, which is a GPU's. */
static ts_status each_run(compute_call *call, compute_key key, ts_error *err)
{
    key.number = (compute_number)(key.number + call->is_gpu);
    if (call->is_gpu)
        return ts__compute_launch(call, &key, compute_cdiv(call->n, COMPUTE_THREADS * COMPUTE_EACH), COMPUTE_THREADS,
                                  err);
    ts__compute_put_int(call, COMPUTE_STRETCH);
    return ts__compute_launch(call, &key, compute_cdiv(call->n, COMPUTE_STRETCH), 1, err);
}

static ts_status each_check(const compute_call *call, const each_plan *plan, ts_error *err)
{
    for (size_t i = 0; i < plan->n_in; i++) {
        const compute_array *in = &plan->in[i];
        if (in->n != plan->in[0].n || plan->out.n < in->n)
            return ts_fail(err, TS_SHAPE, "%s: in[%zu] has %lld items, in[0] %lld, out %lld; inputs have as many, out "
                                          "no fewer", call->name, i, (long long)in->n, (long long)plan->in[0].n,
                           (long long)plan->out.n);
        TS_TRY(ts__compute_check_number(call, "in", in, err));
        TS_TRY(ts__compute_check_place(call, in, &plan->out, err));
    }
    return ts__compute_check_number(call, "out", &plan->out, err);
}

static ts_status each_launch(compute_call *call, const each_plan *plan, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, (int64_t)plan->n_in);
    for (size_t i = 0; i < plan->n_in; i++)
        ts__compute_put_array(call, &plan->in[i]);
    ts__compute_put_array(call, &plan->out);
    ts__compute_put_count(call);
    return each_run(call, plan->key, err);
}

ts_status ts__compute_transform(compute_call *call, const ts_arg *in, size_t n_in, const ts_arg *out, ts_error *err)
{
    each_plan plan = {.n_in = n_in};
    bool only_asks;
    TS_TRY(ts__compute_flags(call, 0, true, err));
    for (size_t i = 0; i < n_in; i++)
        TS_TRY(ts__compute_array(call, "in", &in[i], false, &plan.in[i], err));
    TS_TRY(ts__compute_array(call, "out", out, true, &plan.out, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(each_check(call, &plan, err));
    plan.key = (compute_key){.number = each_kernels[n_in - 1],
                             .at[COMPUTE_counted] = call->options.count != NULL};
    call->n = plan.in[0].n;
    TS_TRY(ts__compute_rooms(call, NULL, 0, &only_asks, err));
    return only_asks || !call->n ? TS_OK : each_launch(call, &plan, err);
}

ts_status ts_transform(const ts_stream *stream, const ts_arg *in, size_t n_in, const ts_arg *out,
                       const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    if (!n_in || n_in > TS_TRANSFORM_MOST)
        return ts_fail(err, TS_VALUE, "ts_transform: %zu inputs; it takes 1 to %d", n_in, TS_TRANSFORM_MOST);
    TS_TRY(ts__compute_begin(&call, "ts_transform", stream, in, options, err));
    return ts__compute_transform(&call, in, n_in, out, err);
}

/* ---- neighbours, places, gathers ---------------------------------------------------------------------------- */

ts_status ts__compute_sequence(compute_call *call, const compute_array *out, ts_error *err)
{
    compute_key key = {.number = COMPUTE_sequence_cpu, .at[COMPUTE_counted] = call->options.count != NULL};
    ts__compute_begin_args(call);
    ts__compute_put_int(call, 0);
    ts__compute_put_array(call, out);
    ts__compute_put_count(call);
    return each_run(call, key, err);
}

ts_status ts__compute_gather(compute_call *call, const compute_array *items, const compute_array *places,
                             const compute_array *out, ts_error *err)
{
    compute_key key = {.number = COMPUTE_gather_cpu, .at[COMPUTE_counted] = call->options.count != NULL};
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 2);
    ts__compute_put_array(call, items);
    ts__compute_put_array(call, places);
    ts__compute_put_array(call, out);
    ts__compute_put_count(call);
    return each_run(call, key, err);
}

ts_status ts__compute_adjacent(compute_call *call, const ts_arg *in, const ts_arg *out, ts_error *err)
{
    compute_array from, to;
    bool only_asks;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_RIGHT, call->options.own != NULL, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &from, err));
    TS_TRY(ts__compute_array(call, "out", out, true, &to, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(ts__compute_check_alike(call, "in", &from, "out", &to, err));
    TS_TRY(ts__compute_check_items(call, "out", &to, from.n, err));
    TS_TRY(ts__compute_check_apart(call, &to, &from, err));
    TS_TRY(ts__compute_rooms(call, NULL, 0, &only_asks, err));
    call->n = from.n;
    if (only_asks || !call->n)
        return TS_OK;
    compute_key key = {.number = COMPUTE_adjacent_cpu,
                       .at = {[COMPUTE_right] = (call->options.flags & TS_COMPUTE_RIGHT) != 0,
                              [COMPUTE_own] = call->options.own != NULL,
                              [COMPUTE_counted] = call->options.count != NULL}};
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 2);
    ts__compute_put_array(call, &from);
    ts__compute_put_count(call);
    ts__compute_put_array(call, &to);
    ts__compute_put_count(call);
    return each_run(call, key, err);
}

ts_status ts_adjacent_difference(const ts_stream *stream, const ts_arg *in, const ts_arg *out,
                                 const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_adjacent_difference", stream, in, options, err));
    return ts__compute_adjacent(&call, in, out, err);
}

/* ---- merges -------------------------------------------------------------------------------------------------- */

int64_t ts__compute_merge_blocks(const compute_call *call, int64_t n, compute_key *key)
{
    bool is_few = call->is_gpu && n < COMPUTE_MERGE_FEW;
    key->at[COMPUTE_few] = is_few;
    return compute_cdiv(n, (is_few ? COMPUTE_MERGE_FEW_ITEMS : COMPUTE_MERGE_ITEMS) * COMPUTE_THREADS);
}

ts_status ts_merge(const ts_stream *stream, const ts_arg in[2], const ts_arg *out, const ts_compute_options *options,
                   ts_error *err)
{
    compute_call call;
    compute_array a, b, to;
    bool only_asks;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_merge", stream, in, options, err));
    bool is_own = call.options.own != NULL;
    TS_TRY(ts__compute_flags(&call, is_own ? 0 : TS_COMPUTE_DESCENDING, is_own, err));
    TS_TRY(ts__compute_array(&call, "in[0]", &in[0], false, &a, err));
    TS_TRY(ts__compute_array(&call, "in[1]", &in[1], false, &b, err));
    TS_TRY(ts__compute_array(&call, "out", out, true, &to, err));
    TS_TRY(ts__compute_number_checks(&call, false, err));
    if (call.options.count)
        return ts_fail(err, TS_VALUE, "ts_merge takes no count; give arrays of as many items");
    TS_TRY(ts__compute_check_alike(&call, "in[0]", &a, "in[1]", &b, err));
    TS_TRY(ts__compute_check_alike(&call, "in[0]", &a, "out", &to, err));
    TS_TRY(ts__compute_check_items(&call, "out", &to, a.n + b.n, err));
    TS_TRY(ts__compute_check_apart(&call, &to, &a, err));
    TS_TRY(ts__compute_check_apart(&call, &to, &b, err));
    TS_TRY(ts__compute_rooms(&call, NULL, 0, &only_asks, err));
    if (only_asks || !(a.n + b.n))
        return TS_OK;
    compute_key key = {.number = COMPUTE_merge,
                       .at = {[COMPUTE_descending] = (call.options.flags & TS_COMPUTE_DESCENDING) != 0,
                              [COMPUTE_own] = is_own}};
    int64_t blocks = ts__compute_merge_blocks(&call, a.n + b.n, &key);
    ts__compute_begin_args(&call);
    ts__compute_put_array(&call, &a);
    ts__compute_put_array(&call, &b);
    ts__compute_put_tuple(&call, 2);
    ts__compute_put_int(&call, a.n);
    ts__compute_put_int(&call, b.n);
    ts__compute_put_array(&call, &to);
    return ts__compute_launch(&call, &key, blocks, COMPUTE_THREADS, err);
}
