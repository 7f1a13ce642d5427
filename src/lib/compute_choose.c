/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections by flags and of first items of runs, and binary searches: python/tessera/compute/_choose.py, _chunks.py
 * and _search.py. Their kernels take the dtypes of the arrays; only the number of items of a block follows from one.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

typedef struct choose_plan {
    compute_key key;
    compute_array in, flags, out, rest, count;
    bool has_flags, has_rest;
    int64_t blocks, chunk;         /* chunk: items of a block in a round, on a CPU */
    int64_t words[1], room[1], spare[1]; /* elements of temporary memory */
} choose_plan;

/* ---- checks ---------------------------------------------------------------------------------------------- */

static ts_status choose_check_rest(const compute_call *call, const choose_plan *plan, ts_error *err)
{
    TS_TRY(ts__compute_check_alike(call, "in", &plan->in, "the rest", &plan->rest, err));
    TS_TRY(ts__compute_check_items(call, "the rest", &plan->rest, plan->in.n, err));
    TS_TRY(ts__compute_check_apart(call, &plan->rest, &plan->in, err));
    TS_TRY(ts__compute_check_apart(call, &plan->rest, &plan->flags, err));
    TS_TRY(ts__compute_check_apart(call, &plan->rest, &plan->out, err));
    return ts__compute_check_apart(call, &plan->rest, &plan->count, err);
}

static ts_status choose_check(const compute_call *call, const choose_plan *plan, ts_error *err)
{
    TS_TRY(ts__compute_check_alike(call, "in", &plan->in, "out", &plan->out, err));
    TS_TRY(ts__compute_check_items(call, "out", &plan->out, plan->in.n, err));
    TS_TRY(ts__compute_check_items(call, "the number of items", &plan->count, 1, err));
    TS_TRY(ts__compute_check_apart(call, &plan->out, &plan->in, err));
    TS_TRY(ts__compute_check_apart(call, &plan->count, &plan->in, err));
    TS_TRY(ts__compute_check_apart(call, &plan->count, &plan->out, err));
    TS_TRY(ts__compute_check_holds(call, "the number of items", &plan->count, plan->in.n, err));
    if (plan->has_rest)
        TS_TRY(choose_check_rest(call, plan, err));
    if (!plan->has_flags)
        return TS_OK;
    TS_TRY(ts__compute_check_number(call, "flags", &plan->flags, err));
    TS_TRY(ts__compute_check_items(call, "flags", &plan->flags, plan->in.n, err));
    TS_TRY(ts__compute_check_apart(call, &plan->count, &plan->flags, err));
    return ts__compute_check_apart(call, &plan->out, &plan->flags, err);
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
static ts_status choose_sizes(const compute_call *call, choose_plan *plan, ts_error *err)
{
    enum { BITS = 64 };
    if (call->is_gpu) {
        plan->key.at[COMPUTE_bytes] = log2_of(ts_dtype_bytes((ts_dtype)plan->in.arg.dtype));
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

static ts_status choose_launch(compute_call *call, const choose_plan *plan, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_tuple(call, 1 + plan->has_flags);
    ts__compute_put_array(call, &plan->in);
    if (plan->has_flags)
        ts__compute_put_array(call, &plan->flags);
    ts__compute_put_count(call);
    ts__compute_put_tuple(call, 2 + plan->has_rest);
    ts__compute_put_array(call, &plan->out);
    if (plan->has_rest)
        ts__compute_put_array(call, &plan->rest);
    ts__compute_put_array(call, &plan->count);
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

static const compute_number choose_kernels[3][2] = {
    {COMPUTE_unique_cpu, COMPUTE_unique_gpu},
    {COMPUTE_select_cpu, COMPUTE_select_gpu},
    {COMPUTE_partition_cpu, COMPUTE_partition_gpu},
};

ts_status ts__compute_select(compute_call *call, const ts_arg *in, const ts_arg *flags, const ts_arg *out, size_t n_out,
                             ts_error *err)
{
    choose_plan plan = {.has_flags = flags != NULL, .has_rest = n_out == 3};
    bool only_asks;
    TS_TRY(ts__compute_flags(call, 0, false, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.in, err));
    if (flags)
        TS_TRY(ts__compute_array(call, "flags", flags, false, &plan.flags, err));
    TS_TRY(ts__compute_array(call, "out", &out[0], true, &plan.out, err));
    if (plan.has_rest)
        TS_TRY(ts__compute_array(call, "the rest", &out[1], true, &plan.rest, err));
    TS_TRY(ts__compute_array(call, "the number of items", &out[n_out - 1], true, &plan.count, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(choose_check(call, &plan, err));
    call->n = plan.in.n;
    plan.key = (compute_key){.number = choose_kernels[plan.has_flags + plan.has_rest][call->is_gpu],
                             .at[COMPUTE_counted] = call->options.count != NULL};
    TS_TRY(choose_sizes(call, &plan, err));
    uint64_t bytes[] = {(uint64_t)plan.words[0] * 8, (uint64_t)plan.room[0] * 2, (uint64_t)plan.spare[0] * 2};
    ts_status status = ts__compute_rooms(call, bytes, call->is_gpu ? 1 : 3, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = choose_launch(call, &plan, err);
    ts__compute_end(call);
    return status;
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

/* As _find.py: the place becomes the number of items, then each block whose items may come before it looks. */
static ts_status find_launch(compute_call *call, const compute_array *in, const compute_array *place, ts_error *err)
{
    uint8_t counted = call->options.count != NULL;
    compute_key number = {.number = COMPUTE_set_number, .at[COMPUTE_counted] = counted};
    compute_key find = {.number = COMPUTE_find, .at[COMPUTE_counted] = counted};
    const char *own = call->options.own;
    ts__compute_begin_args(call);
    ts__compute_put(call, place->arg);
    ts__compute_put_count(call);
    call->options.own = NULL; /* this kernel has no operator */
    ts_status status = ts__compute_launch(call, &number, 1, 1, err);
    call->options.own = own;
    if (status != TS_OK || !call->n)
        return status;
    ts__compute_begin_args(call);
    ts__compute_put_array(call, in);
    ts__compute_put_count(call);
    ts__compute_put(call, place->arg);
    int64_t blocks = compute_cdiv(call->n, (int64_t)COMPUTE_THREADS * COMPUTE_FIND_ITEMS);
    return ts__compute_launch(call, &find, blocks, COMPUTE_THREADS, err);
}

ts_status ts_find(const ts_stream *stream, const ts_arg *in, const ts_arg *place, const ts_compute_options *options,
                  ts_error *err)
{
    compute_call call;
    compute_array of, out;
    bool only_asks;
    TS_NEED(err, in, place);
    TS_TRY(ts__compute_begin(&call, "ts_find", stream, in, options, err));
    TS_TRY(ts__compute_flags(&call, 0, true, err));
    TS_TRY(ts__compute_array(&call, "in", in, false, &of, err));
    TS_TRY(ts__compute_array(&call, "place", place, true, &out, err));
    TS_TRY(ts__compute_check_number(&call, "in", &of, err));
    TS_TRY(ts__compute_check_items(&call, "place", &out, 1, err));
    TS_TRY(ts__compute_check_apart(&call, &out, &of, err));
    TS_TRY(ts__compute_number_checks(&call, false, err));
    if (out.arg.dtype != TS_DTYPE_int64)
        return ts_fail(err, TS_TYPE, "ts_find: place is of %s; it is one of int64",
                       ts_dtype_name((ts_dtype)out.arg.dtype));
    TS_TRY(ts__compute_rooms(&call, NULL, 0, &only_asks, err));
    call.n = of.n;
    return only_asks ? TS_OK : find_launch(&call, &of, &out, err);
}
