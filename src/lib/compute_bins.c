/* SPDX-License-Identifier: Apache-2.0
 *
 * Histograms: python/tessera/compute/_histogram.py. On a CPU each core counts in bins of its own and then all are put
 * together; on a GPU each block counts in shared memory, where bins fit there.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"
#include <float.h>

/* How bins are found: kernels of their own. */
typedef enum bins_rule { BINS_FLOATS, BINS_INTS, BINS_WIDE, BINS_RANGE, N_BINS_RULES } bins_rule;

typedef struct bins_plan {
    compute_key key;
    compute_array samples, levels, bins;
    const ts_arg *even; /* the two levels of bins of equal width; NULL: `levels` */
    int64_t parts, rounds, blocks;
    int64_t counts[1]; /* elements of temporary memory */
} bins_plan;

/* The width of integers between two levels. */
static uint64_t even_width(const ts_arg *levels)
{
    return (uint64_t)levels[1].value.i - (uint64_t)levels[0].value.i;
}

/* As `histogram_even` decides. */
static bins_rule bins_rule_of(const bins_plan *plan)
{
    uint8_t dtype = plan->samples.arg.dtype;
    if (!plan->even)
        return BINS_RANGE;
    if (plan->even[0].kind != TS_SPEC_INT || !(ts__compute_is_integer(dtype) || dtype == TS_DTYPE_bool_))
        return BINS_FLOATS;
    return even_width(plan->even) <= UINT64_MAX / (uint64_t)plan->bins.n ? BINS_INTS : BINS_WIDE;
}

static double even_level(const ts_arg *level)
{
    return level->kind == TS_SPEC_INT ? (double)level->value.i : level->value.f;
}

static ts_status bins_check_even(const compute_call *call, const ts_arg *levels, ts_error *err)
{
    bool ints = levels[0].kind == TS_SPEC_INT, floats = levels[0].kind == TS_SPEC_FLOAT;
    if ((!ints && !floats) || levels[1].kind != levels[0].kind)
        return ts_fail(err, TS_VALUE, "%s: levels are two numbers, both of kind TS_SPEC_INT or TS_SPEC_FLOAT",
                       call->name);
    bool ascend = ints ? levels[0].value.i < levels[1].value.i : levels[0].value.f < levels[1].value.f;
    double width = even_level(&levels[1]) - even_level(&levels[0]);
    if (!ascend || !(width <= DBL_MAX))
        return ts_fail(err, TS_VALUE, "%s: levels are %g and %g; the first is less, and both are finite", call->name,
                       even_level(&levels[0]), even_level(&levels[1]));
    return TS_OK;
}

static ts_status bins_check_range(const compute_call *call, const bins_plan *plan, ts_error *err)
{
    TS_TRY(ts__compute_check_number(call, "levels", &plan->levels, err));
    TS_TRY(ts__compute_check_apart(call, &plan->bins, &plan->levels, err));
    if (plan->levels.n != plan->bins.n + 1)
        return ts_fail(err, TS_SHAPE, "%s: %lld levels of %lld bins; there is one more", call->name,
                       (long long)plan->levels.n, (long long)plan->bins.n);
    return TS_OK;
}

static ts_status bins_check(const compute_call *call, const bins_plan *plan, ts_error *err)
{
    TS_TRY(ts__compute_check_number(call, "samples", &plan->samples, err));
    TS_TRY(ts__compute_check_apart(call, &plan->bins, &plan->samples, err));
    if (!ts__compute_is_integer(plan->bins.arg.dtype))
        return ts_fail(err, TS_TYPE, "%s: bins are of %s; they are integers", call->name,
                       ts_dtype_name((ts_dtype)plan->bins.arg.dtype));
    if (ts_dtype_bytes((ts_dtype)plan->bins.arg.dtype) < sizeof(int32_t))
        return ts_fail(err, TS_TYPE, "%s: bins are of %s, and GPUs count in integers of 4 or 8 bytes only; pass one of "
                                     "int32", call->name, ts_dtype_name((ts_dtype)plan->bins.arg.dtype));
    if (!plan->bins.n || plan->bins.arg.strides)
        return ts_fail(err, plan->bins.n ? TS_SHAPE : TS_VALUE, "%s: %s", call->name,
                       plan->bins.n ? "bins have a stride; pass an array without gaps" : "there are no bins");
    return plan->even ? bins_check_even(call, plan->even, err) : bins_check_range(call, plan, err);
}

static ts_status bins_sizes(const compute_call *call, bins_plan *plan, ts_error *err)
{
    static const compute_number kernels[N_BINS_RULES][2] = {
        [BINS_FLOATS] = {COMPUTE_histogram_floats_cpu, COMPUTE_histogram_floats_gpu},
        [BINS_INTS] = {COMPUTE_histogram_ints_cpu, COMPUTE_histogram_ints_gpu},
        [BINS_WIDE] = {COMPUTE_histogram_wide_cpu, COMPUTE_histogram_wide_gpu},
        [BINS_RANGE] = {COMPUTE_histogram_range_cpu, COMPUTE_histogram_range_gpu},
    };
    int64_t n = call->n, bins = plan->bins.n, row = (int64_t)COMPUTE_THREADS * COMPUTE_BIN_ITEMS;
    uint8_t shared = bins > COMPUTE_BINS_SHARED ? 0 : bins <= COMPUTE_BINS_FEW ? 8 : bins <= COMPUTE_BINS_SOME ? 2 : 1;
    uint8_t own = bins <= COMPUTE_BIN_COPIED ? COMPUTE_BIN_COPIES : 1;
    plan->key = (compute_key){.number = kernels[bins_rule_of(plan)][call->is_gpu],
                              .at = {[COMPUTE_copies] = call->is_gpu ? shared : own,
                                     [COMPUTE_counted] = call->options.count != NULL}};
    if (call->is_gpu) {
        plan->rounds = TS_MAX(1, TS_MIN(COMPUTE_BIN_ROUNDS, n / (row * COMPUTE_BIN_BLOCKS)));
        plan->blocks = compute_cdiv(n, row * plan->rounds);
        return TS_OK;
    }
    TS_TRY(ts__compute_parts(call, n, TS_MAX(COMPUTE_BIN_LEAST, bins), &plan->parts, err));
    plan->counts[0] = plan->parts * own * (bins + 1);
    return TS_OK;
}

static void bins_put_levels(compute_call *call, const bins_plan *plan)
{
    const ts_arg *levels = plan->even;
    if (!levels) {
        ts__compute_put_array(call, &plan->levels);
        return;
    }
    ts__compute_put_tuple(call, 3);
    bins_rule rule = bins_rule_of(plan);
    if (rule != BINS_FLOATS) {
        uint64_t width = even_width(levels);
        ts_arg inverse = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_uint64, .value.i = (int64_t)(UINT64_MAX / width)};
        ts_arg share = {.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_float64,
                        .value.f = (double)plan->bins.n / (double)width};
        ts__compute_put_int(call, levels[0].value.i);
        ts__compute_put(call, (ts_arg){.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_uint64, .value.i = (int64_t)width});
        ts__compute_put(call, rule == BINS_WIDE ? share : inverse);
        return;
    }
    double low = even_level(&levels[0]), high = even_level(&levels[1]);
    const double numbers[] = {low, high, (double)plan->bins.n / (high - low)};
    for (size_t i = 0; i < TS_COUNT(numbers); i++)
        ts__compute_put(call, (ts_arg){.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_float64, .value.f = numbers[i]});
}

static ts_status bins_launch(compute_call *call, const bins_plan *plan, ts_dtype count, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_array(call, &plan->samples);
    ts__compute_put_count(call);
    bins_put_levels(call, plan);
    ts__compute_put(call, plan->bins.arg);
    ts__compute_put_int(call, plan->bins.n);
    if (!call->is_gpu) {
        ts__compute_put_room(call, 0, count, 1, plan->counts);
        return ts__compute_launch(call, &plan->key, plan->parts, 1, err);
    }
    ts__compute_put_int(call, plan->rounds);
    TS_TRY(ts_mem_fill(call->stream, plan->bins.arg.value.data, 0, (uint32_t)ts_dtype_bytes(plan->bins.arg.dtype),
                       (uint64_t)plan->bins.n, err));
    return call->n ? ts__compute_launch(call, &plan->key, plan->blocks, COMPUTE_THREADS, err) : TS_OK;
}

ts_status ts__compute_histogram(compute_call *call, const ts_arg *samples, const ts_arg *levels, const ts_arg *range,
                                const ts_arg *bins, ts_error *err)
{
    bins_plan plan = {.even = range ? NULL : levels};
    bool only_asks;
    TS_TRY(ts__compute_flags(call, 0, false, err));
    TS_TRY(ts__compute_array(call, "samples", samples, false, &plan.samples, err));
    if (range)
        TS_TRY(ts__compute_array(call, "levels", range, false, &plan.levels, err));
    TS_TRY(ts__compute_array(call, "bins", bins, true, &plan.bins, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(bins_check(call, &plan, err));
    call->n = plan.samples.n;
    TS_TRY(bins_sizes(call, &plan, err));
    ts_dtype count = call->n > INT32_MAX ? TS_DTYPE_int64 : TS_DTYPE_int32;
    uint64_t bytes = (uint64_t)plan.counts[0] * ts_dtype_bytes(count);
    ts_status status = ts__compute_rooms(call, &bytes, !call->is_gpu, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = bins_launch(call, &plan, count, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_histogram_even(const ts_stream *stream, const ts_arg *samples, const ts_arg levels[2], const ts_arg *bins,
                            const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, samples, levels, bins);
    TS_TRY(ts__compute_begin(&call, "ts_histogram_even", stream, samples, options, err));
    return ts__compute_histogram(&call, samples, levels, NULL, bins, err);
}

ts_status ts_histogram_range(const ts_stream *stream, const ts_arg *samples, const ts_arg *levels, const ts_arg *bins,
                             const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, samples, levels, bins);
    TS_TRY(ts__compute_begin(&call, "ts_histogram_range", stream, samples, options, err));
    return ts__compute_histogram(&call, samples, NULL, levels, bins, err);
}
