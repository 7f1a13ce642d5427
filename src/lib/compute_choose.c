/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections by flags and of first items of runs, and binary searches: python/tessera/compute/_choose.py,
 * _chunks.py and _search.py. Sets (compute_sets.c) choose, too. Their kernels take the dtypes of the arrays; only the
 * number of items of a block follows from one.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

/* ---- checks ---------------------------------------------------------------------------------------------- */

static ts_status choose_check_out(const compute_call *call, const compute_choose *plan, size_t i, ts_error *err)
{
    const compute_array *out = &plan->out[i];
    const char *name = plan->out_names[i];
    if (i == plan->n_out - 1) {
        TS_TRY(ts__compute_check_items(call, name, out, 1, err));
        TS_TRY(ts__compute_check_holds(call, name, out, plan->in[0].n, err));
    } else {
        size_t of = plan->has_rest ? 0 : i;
        if (i == 0 || !plan->has_lengths)
            TS_TRY(ts__compute_check_alike(call, plan->in_names[of], &plan->in[of], name, out, err));
        TS_TRY(ts__compute_check_items(call, name, out, plan->in[0].n, err));
    }
    for (size_t k = 0; k < plan->n_in; k++)
        TS_TRY(ts__compute_check_apart(call, out, &plan->in[k], err));
    for (size_t k = 0; k < i; k++)
        TS_TRY(ts__compute_check_apart(call, out, &plan->out[k], err));
    return TS_OK;
}

static ts_status choose_check(const compute_call *call, const compute_choose *plan, ts_error *err)
{
    for (size_t i = 1; i < plan->n_in; i++) {
        TS_TRY(ts__compute_check_number(call, plan->in_names[i], &plan->in[i], err));
        TS_TRY(ts__compute_check_items(call, plan->in_names[i], &plan->in[i], plan->in[0].n, err));
    }
    for (size_t i = 0; i < plan->n_out; i++)
        TS_TRY(choose_check_out(call, plan, i, err));
    return TS_OK;
}

/* ---- selections ------------------------------------------------------------------------------------------- */

static uint8_t log2_of(size_t bytes)
{
    uint8_t log2 = 0;
    while ((size_t)1 << log2 < bytes)
        log2++;
    return log2;
}

/* As `_chunks.choose_in_chunks`, or `_lookback.memory_of`. */
static ts_status choose_sizes(const compute_call *call, compute_choose *plan, ts_error *err)
{
    enum { BITS = 64 };
    if (call->is_gpu) {
        plan->key.at[COMPUTE_bytes] = log2_of(ts_dtype_bytes((ts_dtype)plan->in[0].arg.dtype));
        plan->key.at[COMPUTE_wide] = 1;
        const compute_choice *facts = ts__compute_choice(&plan->key, COMPUTE_bytes);
        plan->blocks = TS_MAX(1, compute_cdiv(call->n, facts->tile));
        plan->words[0] = ts__compute_words(plan->blocks, facts->pieces);
        return TS_OK;
    }
    TS_TRY(ts__compute_parts(call, call->n, COMPUTE_LEAST, &plan->blocks, err));
    int64_t rounds = TS_MAX(1, compute_cdiv(call->n, BITS * plan->blocks));
    plan->chunk = BITS * TS_MIN(COMPUTE_CHUNK / BITS, rounds);
    plan->words[0] = 2 * plan->blocks;
    plan->room[0] = plan->blocks * (plan->chunk + BITS);
    plan->spare[0] = plan->has_rest ? plan->room[0] : plan->blocks;
    return TS_OK;
}

static ts_status choose_launch(compute_call *call, const compute_choose *plan, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, (int64_t)plan->n_in);
    for (size_t i = 0; i < plan->n_in; i++)
        ts__compute_put_array(call, &plan->in[i]);
    ts__compute_put_count(call);
    ts__compute_put_tuple(call, (int64_t)plan->n_out);
    for (size_t i = 0; i < plan->n_out; i++)
        ts__compute_put_array(call, &plan->out[i]);
    if (call->is_gpu)
        ts__compute_put_int(call, 0);
    ts__compute_put_room(call, 0, TS_DTYPE_int64, 1, plan->words);
    if (call->is_gpu) {
        ts__compute_put_int(call, plan->blocks);
        TS_TRY(ts_mem_fill(call->stream, call->rooms[0], 0, 8, (uint64_t)plan->words[0], err));
        return ts__compute_launch(call, &plan->key, plan->blocks, COMPUTE_THREADS, err);
    }
    ts__compute_put_room(call, 1, TS_DTYPE_uint16, 1, plan->room);
    ts__compute_put_room(call, 2, TS_DTYPE_uint16, 1, plan->spare);
    ts__compute_put_int(call, plan->chunk);
    return ts__compute_launch(call, &plan->key, plan->blocks, 1, err);
}

ts_status ts__compute_choose(compute_call *call, compute_choose *plan, ts_error *err)
{
    bool only_asks;
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(choose_check(call, plan, err));
    call->n = plan->in[0].n;
    plan->key.at[COMPUTE_counted] = call->options.count != NULL;
    TS_TRY(choose_sizes(call, plan, err));
    uint64_t bytes[] = {(uint64_t)plan->words[0] * 8, (uint64_t)plan->room[0] * 2, (uint64_t)plan->spare[0] * 2};
    ts_status status = ts__compute_rooms(call, bytes, call->is_gpu ? 1 : 3, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = choose_launch(call, plan, err);
    ts__compute_end(call);
    return status;
}

/* Inputs and results as they were given. */
static ts_status choose_arrays(const compute_call *call, compute_choose *plan, const ts_arg *in, const ts_arg *out,
                               ts_error *err)
{
    for (size_t i = 0; i < plan->n_in; i++)
        TS_TRY(ts__compute_array(call, plan->in_names[i], &in[i], false, &plan->in[i], err));
    for (size_t i = 0; i < plan->n_out; i++)
        TS_TRY(ts__compute_array(call, plan->out_names[i], &out[i], true, &plan->out[i], err));
    return TS_OK;
}

static const compute_number choose_kernels[3][2] = {
    {COMPUTE_unique_cpu, COMPUTE_unique_gpu},
    {COMPUTE_select_cpu, COMPUTE_select_gpu},
    {COMPUTE_partition_cpu, COMPUTE_partition_gpu},
};

ts_status ts__compute_select(compute_call *call, const ts_arg *in, const ts_arg *flags, const ts_arg *out, size_t n_out,
                             ts_error *err)
{
    static const char *const ins[] = {"in", "flags"}, *const outs[] = {"out", "the number of items"};
    static const char *const parted[] = {"out", "the rest", "the number of items"};
    compute_choose plan = {.n_in = 1 + (flags != NULL), .n_out = n_out, .has_rest = n_out == 3, .in_names = ins,
                           .out_names = n_out == 3 ? parted : outs};
    ts_arg given[2] = {*in};
    if (flags)
        given[1] = *flags;
    TS_TRY(ts__compute_flags(call, 0, false, err));
    TS_TRY(choose_arrays(call, &plan, given, out, err));
    plan.key.number = choose_kernels[(flags != NULL) + plan.has_rest][call->is_gpu];
    return ts__compute_choose(call, &plan, err);
}

ts_status ts_select_flagged(const ts_stream *stream, const ts_arg *in, const ts_arg *flags, const ts_arg out[2],
                    const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, flags, out);
    TS_TRY(ts__compute_begin(&call, "ts_select_flagged", stream, in, options, err));
    return ts__compute_select(&call, in, flags, out, 2, err);
}

ts_status ts_partition_flagged(const ts_stream *stream, const ts_arg *in, const ts_arg *flags, const ts_arg out[3],
                               const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, flags, out);
    TS_TRY(ts__compute_begin(&call, "ts_partition_flagged", stream, in, options, err));
    return ts__compute_select(&call, in, flags, out, 3, err);
}

ts_status ts_unique(const ts_stream *stream, const ts_arg *in, const ts_arg out[2], const ts_compute_options *options,
                    ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_unique", stream, in, options, err));
    return ts__compute_select(&call, in, NULL, out, 2, err);
}

ts_status ts__compute_unique_by_key(compute_call *call, const ts_arg in[2], const ts_arg out[3], ts_error *err)
{
    static const char *const ins[] = {"in[0]", "in[1]"}, *const outs[] = {"out[0]", "out[1]", "the number of items"};
    compute_choose plan = {.n_in = 2, .n_out = 3, .in_names = ins, .out_names = outs};
    TS_TRY(ts__compute_flags(call, 0, false, err));
    TS_TRY(choose_arrays(call, &plan, in, out, err));
    plan.key.number = call->is_gpu ? COMPUTE_unique_pairs_gpu : COMPUTE_unique_pairs_cpu;
    return ts__compute_choose(call, &plan, err);
}

ts_status ts_unique_by_key(const ts_stream *stream, const ts_arg in[2], const ts_arg out[3],
                           const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_unique_by_key", stream, in, options, err));
    return ts__compute_unique_by_key(&call, in, out, err);
}

/* ---- searches ---------------------------------------------------------------------------------------------- */

ts_status ts_search(const ts_stream *stream, const ts_arg *sorted, const ts_arg *values, const ts_arg *places,
                    const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    compute_array in, of, out;
    bool only_asks;
    TS_NEED(err, sorted, values, places);
    TS_TRY(ts__compute_begin(&call, "ts_search", stream, sorted, options, err));
    TS_TRY(ts__compute_flags(&call, TS_COMPUTE_UPPER, call.options.own != NULL, err));
    TS_TRY(ts__compute_array(&call, "sorted", sorted, false, &in, err));
    TS_TRY(ts__compute_array(&call, "values", values, false, &of, err));
    TS_TRY(ts__compute_array(&call, "places", places, true, &out, err));
    TS_TRY(ts__compute_check_alike(&call, "sorted", &in, "values", &of, err));
    TS_TRY(ts__compute_check_items(&call, "places", &out, of.n, err));
    TS_TRY(ts__compute_check_apart(&call, &out, &in, err));
    TS_TRY(ts__compute_check_apart(&call, &out, &of, err));
    TS_TRY(ts__compute_number_checks(&call, false, err));
    TS_TRY(ts__compute_check_holds(&call, "places", &out, in.n, err));
    TS_TRY(ts__compute_rooms(&call, NULL, 0, &only_asks, err));
    if (only_asks || !of.n)
        return TS_OK;
    call.n = in.n;
    compute_key key = {.number = COMPUTE_search,
                       .at = {[COMPUTE_upper] = (call.options.flags & TS_COMPUTE_UPPER) != 0,
                              [COMPUTE_counted] = call.options.count != NULL,
                              [COMPUTE_own] = call.options.own != NULL}};
    ts__compute_begin_args(&call);
    ts__compute_put_array(&call, &in);
    ts__compute_put_count(&call);
    ts__compute_put_array(&call, &of);
    ts__compute_put_int(&call, of.n);
    ts__compute_put_array(&call, &out);
    return ts__compute_launch(&call, &key, compute_cdiv(of.n, COMPUTE_THREADS), COMPUTE_THREADS, err);
}
