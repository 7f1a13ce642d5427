/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans, and what all algorithms share: arrays and options are checked, temporary memory is taken,
 * arguments are put together as tessera.compute hands them to the same kernels, and launched.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"
#include <math.h>
#include <stdatomic.h>

enum { COMPUTE_ALIGN = 256 }; /* of pieces of temporary memory */
#define COMPUTE_ITEMS ((int64_t)1 << 48) /* at most */

/* ---- arguments as they are given ---------------------------------------------------------------------- */

ts_status ts__compute_begin(compute_call *call, const char *name, const ts_stream *stream, const ts_arg *array,
                            const ts_compute_options *options, ts_error *err)
{
    ts_device *device;
    call->name = name, call->n_args = call->n_rooms = call->n_taken = 0, call->n = 0;
    call->options = options ? *options : (ts_compute_options){0};
    if (array->kind != TS_SPEC_ARRAY)
        return ts_fail(err, TS_TYPE, "%s takes arrays; pass a ts_arg of kind TS_SPEC_ARRAY", name);
    call->is_gpu = TS_DEVICE_ID_KIND(array->device) != TS_DEVICE_CPU;
    call->stream = stream;
    if (stream && stream->device)
        return TS_OK;
    TS_TRY(ts_device_by_id(array->device, &device, err));
    call->own = stream ? (ts_stream){device, stream->native, stream->impl} : *ts_device_default_stream(device);
    call->stream = &call->own;
    return TS_OK;
}

ts_status ts__compute_flags(const compute_call *call, uint32_t taken, bool takes_own, ts_error *err)
{
    if (takes_own && !call->options.own)
        return ts_fail(err, TS_VALUE, "%s: options.own is NULL; give the operator as IR", call->name);
    if (!takes_own && call->options.own)
        return ts_fail(err, TS_VALUE, "%s: options.own is given and not asked; leave it out, or give TS_COMBINE_own",
                       call->name);
    if (call->options.flags & ~taken)
        return ts_fail(err, TS_VALUE, "%s: flags are %u, of which %u are not its own", call->name, call->options.flags,
                       call->options.flags & ~taken);
    return TS_OK;
}

static bool array_is_dense(const ts_arg *array)
{
    int64_t step = 1;
    for (uint32_t d = array->rank; array->strides && d-- > 0;) {
        if (array->shape[d] != 1 && array->strides[d] != step)
            return false;
        step *= array->shape[d];
    }
    return true;
}

/* The number of elements; -1 for extents that no array has. */
static int64_t array_count(const ts_arg *array)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < array->rank; d++) {
        if (array->shape[d] < 0 || (n && array->shape[d] > COMPUTE_ITEMS / n))
            return -1;
        n *= array->shape[d];
    }
    return n;
}

ts_status ts__compute_array(const compute_call *call, const char *name, const ts_arg *array, bool is_written,
                            compute_array *out, ts_error *err)
{
    if (array->kind != TS_SPEC_ARRAY)
        return ts_fail(err, TS_TYPE, "%s: %s is not an array; pass a ts_arg of kind TS_SPEC_ARRAY", call->name, name);
    if (array->rank && !array->shape)
        return ts_fail(err, TS_VALUE, "%s: %s has no shape; pass one", call->name, name);
    if (array->device != ts_device_id(call->stream->device))
        return ts_fail(err, TS_VALUE, "%s: %s is on another device than the others, or the stream; copy it there",
                       call->name, name);
    out->n = array_count(array);
    if (out->n < 0)
        return ts_fail(err, TS_VALUE, "%s: an extent of %s is negative, or it has more than 2^48 elements", call->name,
                       name);
    if (array->rank > 1 && out->n > 1 && !array_is_dense(array))
        return ts_fail(err, TS_SHAPE, "%s: %s has %u axes and gaps; pass one axis, or a copy without gaps", call->name,
                       name, array->rank);
    out->stride = array->rank == 1 && array->strides ? array->strides[0] : 1;
    if (is_written && (array->readonly || (out->stride == 0 && out->n > 1)))
        return ts_fail(err, TS_VALUE, "%s: %s %s; pass an array that can be written", call->name, name,
                       array->readonly ? "is read-only" : "has one element for all its items");
    out->arg = *array;
    out->arg.readonly = 0, out->arg.rank = 1, out->arg.shape = &out->n;
    out->arg.strides = out->stride == 1 || out->n == 1 ? NULL : &out->stride;
    return TS_OK;
}

bool ts__compute_is_integer(uint8_t dtype)
{
    compute_key key = {.number = COMPUTE_scan_ints_cpu, .at[COMPUTE_dtype] = dtype};
    return ts__compute_choice(&key, COMPUTE_dtype) != NULL;
}

/* An INT or FLOAT that comes before the first item of integers is one of them. */
static ts_status compute_initial_fits(const compute_call *call, ts_dtype dtype, ts_error *err)
{
    const ts_arg *initial = call->options.initial;
    const ts_dtype_info *info = ts_dtype_get(dtype);
    bool is_int = initial && initial->kind == TS_SPEC_INT, is_float = initial && initial->kind == TS_SPEC_FLOAT;
    int bits = info->bits - info->is_signed; /* of its magnitude */
    if ((!is_int && !is_float) || !ts__compute_is_integer(dtype))
        return TS_OK;
    if (is_int) {
        int64_t i = initial->value.i, above = bits < 63 ? i >> bits : i < 0 ? -1 : 0;
        if (above == 0 || (above == -1 && info->is_signed))
            return TS_OK;
        return ts_fail(err, TS_VALUE, "%s: the initial value %lld does not fit %s, in which items are combined",
                       call->name, (long long)i, ts_dtype_name(dtype));
    }
    double f = initial->value.f, end = ldexp(1, bits);
    if (f == trunc(f) && f < end && f >= (info->is_signed ? -end : 0))
        return TS_OK;
    return ts_fail(err, TS_VALUE, "%s: the initial value %.17g is no number of %s, in which items are combined",
                   call->name, f, ts_dtype_name(dtype));
}

/* The values that are combined have the dtype of the result. */
ts_status ts__compute_types(const compute_call *call, const compute_key *key, const ts_arg *in, const ts_arg *out,
                               ts_combine op, ts_error *err)
{
    compute_key of_in = {.number = COMPUTE_reduce_cpu, .at[COMPUTE_dtype] = in->dtype};
    bool bits = op == TS_COMBINE_and || op == TS_COMBINE_or || op == TS_COMBINE_xor;
    if ((unsigned)op >= TS_COMBINE_COUNT)
        return ts_fail(err, TS_VALUE, "%s: %d is no operator; give a ts_combine", call->name, (int)op);
    if (!ts__compute_choice(key, COMPUTE_dtype) ||
        (!ts__compute_choice(&of_in, COMPUTE_dtype) && in->dtype != TS_DTYPE_bool_))
        return ts_fail(err, TS_TYPE, "%s: from %s to %s; it has int8 to uint64, float16, bfloat16, float32 and float64",
                       call->name, ts_dtype_name((ts_dtype)in->dtype), ts_dtype_name((ts_dtype)out->dtype));
    if (bits && !ts__compute_is_integer(out->dtype))
        return ts_fail(err, TS_TYPE, "%s: `and`, `or` and `xor` are of integers, found %s", call->name,
                       ts_dtype_name((ts_dtype)out->dtype));
    return compute_initial_fits(call, (ts_dtype)out->dtype, err);
}

ts_status ts__compute_number_checks(const compute_call *call, bool takes_initial, ts_error *err)
{
    const ts_arg *initial = call->options.initial;
    uint8_t kind = initial ? initial->kind : TS_SPEC_INT;
    compute_array count;
    if (initial && !takes_initial)
        return ts_fail(err, TS_VALUE, "%s takes no initial value; leave it out", call->name);
    bool is_number = kind == TS_SPEC_INT || kind == TS_SPEC_FLOAT || kind == TS_SPEC_BOOL || kind == TS_SPEC_SCALAR;
    if (!is_number || (kind == TS_SPEC_SCALAR && initial && ts_dtype_get((ts_dtype)initial->dtype)->part))
        return ts_fail(err, TS_TYPE, "%s: the initial value is not a real number", call->name);
    if (!call->options.count)
        return TS_OK;
    TS_TRY(ts__compute_array(call, "count", call->options.count, false, &count, err));
    if (count.n != 1 || !ts__compute_is_integer(count.arg.dtype))
        return ts_fail(err, TS_TYPE, "%s: count has %lld elements of %s; it is one integer", call->name,
                       (long long)count.n, ts_dtype_name((ts_dtype)count.arg.dtype));
    return TS_OK;
}

/* ---- temporary memory --------------------------------------------------------------------------------- */

static uint64_t room_size(uint64_t bytes)
{
    return (TS_MAX(bytes, 1) + COMPUTE_ALIGN - 1) / COMPUTE_ALIGN * COMPUTE_ALIGN;
}

/* Pieces of the caller's memory. */
static ts_status rooms_of_caller(compute_call *call, const uint64_t *bytes, size_t n, uint64_t whole, ts_error *err)
{
    char *at = call->options.memory;
    if (call->options.memory_bytes < whole || (uintptr_t)at % COMPUTE_ALIGN)
        return ts_fail(err, TS_VALUE, "%s: temporary memory has %llu bytes%s; %llu are needed, aligned to %d",
                       call->name, (unsigned long long)call->options.memory_bytes,
                       (uintptr_t)at % COMPUTE_ALIGN ? " and is not aligned" : "", (unsigned long long)whole,
                       COMPUTE_ALIGN);
    for (size_t i = 0; i < n; i++) {
        call->rooms[i] = at;
        at += room_size(bytes[i]);
    }
    call->n_taken = n;
    return TS_OK;
}

ts_status ts__compute_rooms(compute_call *call, const uint64_t *bytes, size_t n, bool *only_asks, ts_error *err)
{
    uint64_t whole = 0;
    ts_assert(n <= COMPUTE_ROOMS);
    for (size_t i = 0; i < n; i++)
        whole += room_size(bytes[i]);
    *only_asks = call->options.need != NULL;
    if (*only_asks) {
        *call->options.need = whole;
        return TS_OK;
    }
    if (call->options.memory)
        return rooms_of_caller(call, bytes, n, whole, err);
    for (size_t i = 0; i < n; i++) {
        TS_TRY(ts_mem_alloc(call->stream->device, call->stream, room_size(bytes[i]), &call->rooms[i], err));
        call->room_bytes[i] = room_size(bytes[i]);
        call->n_rooms = call->n_taken = i + 1;
    }
    return TS_OK;
}

void ts__compute_end(compute_call *call)
{
    for (size_t i = 0; i < call->n_rooms; i++)
        ts_mem_free(call->stream->device, call->stream, call->rooms[i], call->room_bytes[i]);
    call->n_rooms = 0;
}

void ts__compute_room_array(const compute_call *call, size_t room, uint8_t dtype, int64_t n, compute_array *out)
{
    out->n = n, out->stride = 1;
    out->arg = (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = dtype, .rank = 1, .shape = &out->n,
                        .device = ts_device_id(call->stream->device),
                        .value.data = room < call->n_taken ? call->rooms[room] : NULL};
}

void ts__compute_below(const compute_call *call, size_t room, compute_call *out)
{
    *out = (compute_call){.name = call->name, .stream = call->stream, .is_gpu = call->is_gpu};
    out->options.count = call->options.count;
    if (call->options.memory)
        out->options.memory = call->rooms[room], out->options.memory_bytes = UINT64_MAX;
}

ts_status ts__compute_parts(const compute_call *call, int64_t n, int64_t least, int64_t *out, ts_error *err)
{
    static _Atomic int32_t known; /* threads of the pool, which stay as many */
    int32_t units = atomic_load(&known);
    if (!units) {
        ts_device_info info;
        TS_TRY(ts_device_query(call->stream->device, &info, err));
        units = TS_MIN(info.units, TS_CPU_COOPERATIVE_BLOCKS);
        atomic_store(&known, units);
    }
    *out = TS_MAX(1, TS_MIN(units, n / least));
    return TS_OK;
}

/* ---- arguments of launches ----------------------------------------------------------------------------- */

void ts__compute_begin_args(compute_call *call)
{
    call->args = call->space, call->n_args = 0;
}

void ts__compute_put(compute_call *call, ts_arg arg)
{
    ts_assert(call->n_args < COMPUTE_ARGS);
    call->args[call->n_args++] = arg;
}

/* Numbers of Python are 64 bits wide in kernels of threads. */
void ts__compute_put_int(compute_call *call, int64_t value)
{
    ts__compute_put(call, (ts_arg){.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_int64, .value.i = value});
}

void ts__compute_put_bool(compute_call *call, bool value)
{
    ts__compute_put(call, (ts_arg){.kind = TS_SPEC_SCALAR, .dtype = TS_DTYPE_bool_, .value.i = value});
}

void ts__compute_put_tuple(compute_call *call, int64_t n)
{
    ts__compute_put(call, (ts_arg){.kind = TS_SPEC_TUPLE, .value.i = n});
}

void ts__compute_put_array(compute_call *call, const compute_array *array)
{
    ts__compute_put_tuple(call, 1);
    ts__compute_put(call, array->arg);
}

void ts__compute_put_count(compute_call *call)
{
    if (call->options.count) {
        static const int64_t one = 1;
        ts_arg count = *call->options.count;
        count.rank = 1, count.shape = &one, count.strides = NULL;
        ts__compute_put_tuple(call, 2);
        ts__compute_put(call, count);
    }
    ts__compute_put_int(call, call->n);
}

void ts__compute_put_initial(compute_call *call)
{
    ts_arg initial = call->options.initial ? *call->options.initial : (ts_arg){.kind = TS_SPEC_INT};
    initial.dtype = initial.kind == TS_SPEC_SCALAR  ? initial.dtype
                    : initial.kind == TS_SPEC_FLOAT ? TS_DTYPE_float64
                    : initial.kind == TS_SPEC_BOOL  ? TS_DTYPE_bool_
                                                    : TS_DTYPE_int64;
    initial.kind = TS_SPEC_SCALAR;
    ts__compute_put(call, initial);
}

void ts__compute_put_room(compute_call *call, size_t i, ts_dtype dtype, uint8_t rank, const int64_t *shape)
{
    ts__compute_put(call, (ts_arg){.kind = TS_SPEC_ARRAY, .dtype = (uint8_t)dtype, .rank = rank,
                                   .device = ts_device_id(call->stream->device), .value.data = call->rooms[i],
                                   .shape = shape});
}

void ts__compute_put_records(compute_call *call, size_t i, const compute_key *key, const int64_t *shape,
                             const int64_t *bytes)
{
    ts__compute_put(call, (ts_arg){.kind = TS_SPEC_STRUCT, .value.i = ts__compute_record(key), .item_bytes = *bytes});
    ts__compute_put_room(call, i, TS_DTYPE_uint8, 1, shape);
    call->args[call->n_args - 1].strides = bytes;
}

ts_status ts__compute_launch(compute_call *call, const compute_key *key, int64_t blocks, uint32_t threads,
                             ts_error *err)
{
    ts_launch_config config = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    ts_kernel *kernel;
    TS_TRY(ts__compute_kernel(key, call->options.own, &kernel, err));
    return ts_launch_config_run(call->stream, &config, kernel, call->args, call->n_args, err);
}

/* ---- reductions ---------------------------------------------------------------------------------------- */

typedef struct reduce_plan {
    compute_key key;
    compute_array in, out;
    int64_t leaves, groups, parts[1], counters[1];
} reduce_plan;

static ts_status reduce_launch(compute_call *call, const reduce_plan *plan, ts_error *err)
{
    int64_t run = plan->leaves < COMPUTE_FULL ? 1 : COMPUTE_RUN, blocks = compute_cdiv(plan->leaves, run);
    ts__compute_begin_args(call);
    ts__compute_put_array(call, &plan->in);
    ts__compute_put_count(call);
    ts__compute_put_array(call, &plan->out);
    ts__compute_put_initial(call);
    ts__compute_put_room(call, 0, (ts_dtype)plan->out.arg.dtype, 1, plan->parts);
    if (!call->is_gpu) {
        TS_TRY(ts__compute_parts(call, plan->leaves, COMPUTE_CORE, &blocks, err));
        return ts__compute_launch(call, &plan->key, blocks, 1, err);
    }
    ts__compute_put_room(call, 1, TS_DTYPE_int32, 1, plan->counters);
    ts__compute_put_int(call, plan->leaves);
    ts__compute_put_int(call, run);
    TS_TRY(ts_mem_fill(call->stream, call->rooms[1], 0, 4, (uint64_t)plan->counters[0], err));
    return ts__compute_launch(call, &plan->key, blocks, COMPUTE_THREADS, err);
}

/* In temporary memory. */
static ts_status reduce_run(compute_call *call, reduce_plan *plan, ts_error *err)
{
    bool only_asks;
    call->n = plan->in.n;
    plan->leaves = TS_MAX(1, compute_cdiv(call->n, COMPUTE_LEAF));
    plan->groups = compute_cdiv(plan->leaves, COMPUTE_GROUP);
    plan->parts[0] = plan->leaves + plan->groups, plan->counters[0] = 1 + plan->groups;
    uint64_t bytes[] = {(uint64_t)plan->parts[0] * ts_dtype_bytes((ts_dtype)plan->out.arg.dtype),
                        (uint64_t)plan->counters[0] * 4};
    ts_status status = ts__compute_rooms(call, bytes, call->is_gpu ? 2 : 1, &only_asks, err);
    if (status == TS_OK && !only_asks)
        status = reduce_launch(call, plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts__compute_reduce(compute_call *call, const ts_arg *in, const ts_arg *result, ts_combine op, ts_error *err)
{
    reduce_plan plan;
    TS_TRY(ts__compute_flags(call, 0, op == TS_COMBINE_own, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.in, err));
    TS_TRY(ts__compute_array(call, "result", result, true, &plan.out, err));
    plan.key = (compute_key){.number = call->is_gpu ? COMPUTE_reduce_gpu : COMPUTE_reduce_cpu,
                             .at = {[COMPUTE_dtype] = result->dtype, [COMPUTE_combine] = (uint8_t)op,
                                    [COMPUTE_initial] = call->options.initial != NULL,
                                    [COMPUTE_counted] = call->options.count != NULL}};
    TS_TRY(ts__compute_types(call, &plan.key, in, result, op, err));
    TS_TRY(ts__compute_number_checks(call, true, err));
    if (!plan.out.n)
        return ts_fail(err, TS_VALUE, "%s: result has no elements; it takes one", call->name);
    return reduce_run(call, &plan, err);
}

ts_status ts_reduce(const ts_stream *stream, const ts_arg *in, const ts_arg *result, ts_combine op,
                    const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, result);
    TS_TRY(ts__compute_begin(&call, "ts_reduce", stream, in, options, err));
    return ts__compute_reduce(&call, in, result, op, err);
}

ts_status ts__compute_count(compute_call *call, const ts_arg *in, const ts_arg *result, ts_error *err)
{
    reduce_plan plan;
    TS_TRY(ts__compute_flags(call, 0, true, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.in, err));
    TS_TRY(ts__compute_array(call, "result", result, true, &plan.out, err));
    TS_TRY(ts__compute_check_number(call, "in", &plan.in, err));
    TS_TRY(ts__compute_check_items(call, "result", &plan.out, 1, err));
    TS_TRY(ts__compute_check_apart(call, &plan.out, &plan.in, err));
    TS_TRY(ts__compute_number_checks(call, false, err));
    if (result->dtype != TS_DTYPE_int64)
        return ts_fail(err, TS_TYPE, "%s: result is of %s; it is one of int64", call->name,
                       ts_dtype_name((ts_dtype)result->dtype));
    plan.key = (compute_key){.number = call->is_gpu ? COMPUTE_count_gpu : COMPUTE_count_cpu,
                             .at[COMPUTE_counted] = call->options.count != NULL};
    return reduce_run(call, &plan, err);
}

ts_status ts_count_if(const ts_stream *stream, const ts_arg *in, const ts_arg *result,
                      const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, result);
    TS_TRY(ts__compute_begin(&call, "ts_count_if", stream, in, options, err));
    return ts__compute_count(&call, in, result, err);
}

/* ---- scans ----------------------------------------------------------------------------------------------- */

typedef struct scan_plan {
    compute_scan scan;
    compute_array in, out;
} scan_plan;

int64_t ts__compute_words(int64_t tiles, int64_t pieces)
{
    int64_t spans = compute_cdiv(tiles, COMPUTE_SPAN);
    return 1 + spans + (tiles + compute_cdiv(tiles, COMPUTE_WIDTH) + spans) * pieces;
}

/* As `_chunks.launch_chunks`: sums of integers may be put together in any order, those of floats are in tiles. */
static ts_status scan_sizes_cpu(const compute_call *call, compute_scan *scan, int64_t tile, ts_error *err)
{
    int64_t cores, most = TS_MIN(scan->is_exact ? COMPUTE_CHUNK : COMPUTE_TILES, TS_MAX(1, COMPUTE_CHUNK / tile));
    TS_TRY(ts__compute_parts(call, call->n, TS_MAX(COMPUTE_LEAST, tile), &scan->blocks, err));
    TS_TRY(ts__compute_parts(call, call->n, COMPUTE_LEAST, &cores, err));
    scan->chunk = tile * TS_MIN(most, TS_MAX(1, compute_cdiv(call->n, scan->blocks * tile)));
    scan->words[0] = 2 * COMPUTE_TILES * cores;
    scan->word_bytes = (int64_t)ts_dtype_bytes(scan->word);
    if (ts__compute_record(&scan->key))
        scan->word_bytes = ts__compute_choice(&scan->key, COMPUTE_dtype)->record;
    return TS_OK;
}

ts_status ts__compute_scan_sizes(const compute_call *call, compute_scan *scan, ts_error *err)
{
    const compute_choice *facts = ts__compute_choice(&scan->key, COMPUTE_dtype);
    if (!call->is_gpu)
        return scan_sizes_cpu(call, scan, scan->is_exact ? 1 : facts->tile, err);
    scan->blocks = compute_cdiv(call->n, facts->tile);
    scan->word = TS_DTYPE_int64;
    scan->words[0] = ts__compute_words(scan->blocks, facts->pieces);
    scan->word_bytes = 8;
    return TS_OK;
}

ts_status ts__compute_scan_launch(compute_call *call, const compute_scan *scan, size_t room, ts_error *err)
{
    if (!call->is_gpu && ts__compute_record(&scan->key))
        ts__compute_put_records(call, room, &scan->key, scan->words, &scan->word_bytes);
    else
        ts__compute_put_room(call, room, scan->word, 1, scan->words);
    ts__compute_put_int(call, call->is_gpu ? scan->blocks : scan->chunk);
    if (call->is_gpu)
        TS_TRY(ts_mem_fill(call->stream, call->rooms[room], 0, 8, (uint64_t)scan->words[0], err));
    return ts__compute_launch(call, &scan->key, scan->blocks, call->is_gpu ? COMPUTE_THREADS : 1, err);
}

static ts_status scan_launch(compute_call *call, const scan_plan *plan, ts_error *err)
{
    ts__compute_begin_args(call);
    ts__compute_put_array(call, &plan->in);
    ts__compute_put_count(call);
    ts__compute_put_array(call, &plan->out);
    ts__compute_put_initial(call);
    return ts__compute_scan_launch(call, &plan->scan, 0, err);
}

static ts_status scan_check(compute_call *call, const scan_plan *plan, ts_error *err)
{
    TS_TRY(ts__compute_number_checks(call, true, err));
    if ((call->options.flags & TS_COMPUTE_EXCLUSIVE) && !call->options.initial)
        return ts_fail(err, TS_VALUE, "%s: an exclusive scan begins with its initial value; give one", call->name);
    if (plan->out.n < plan->in.n)
        return ts_fail(err, TS_SHAPE, "%s: out has %lld items, in %lld; it needs as many", call->name,
                       (long long)plan->out.n, (long long)plan->in.n);
    return ts__compute_check_place(call, &plan->in, &plan->out, err);
}

ts_status ts__compute_scan(compute_call *call, const ts_arg *in, const ts_arg *out, ts_combine op, ts_error *err)
{
    scan_plan plan = {.scan.word = (ts_dtype)out->dtype};
    bool only_asks;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_EXCLUSIVE, op == TS_COMBINE_own, err));
    TS_TRY(ts__compute_array(call, "in", in, false, &plan.in, err));
    TS_TRY(ts__compute_array(call, "out", out, true, &plan.out, err));
    bool is_exact = ts__compute_is_integer(out->dtype) && op != TS_COMBINE_own;
    compute_number on_cpu = is_exact ? COMPUTE_scan_ints_cpu : COMPUTE_scan_tiles_cpu;
    plan.scan.is_exact = is_exact;
    plan.scan.key = (compute_key){.number = call->is_gpu ? COMPUTE_scan_gpu : on_cpu,
                                  .at = {[COMPUTE_dtype] = out->dtype, [COMPUTE_combine] = (uint8_t)op,
                                         [COMPUTE_initial] = call->options.initial != NULL,
                                         [COMPUTE_exclusive] = (call->options.flags & TS_COMPUTE_EXCLUSIVE) != 0,
                                         [COMPUTE_counted] = call->options.count != NULL}};
    TS_TRY(ts__compute_types(call, &plan.scan.key, in, out, op, err));
    TS_TRY(scan_check(call, &plan, err));
    call->n = plan.in.n;
    if (call->n && ts__compute_scan_fits(call, &plan.in, &plan.out, op))
        return ts__compute_scan_by_vectors(call, &plan.in, &plan.out, err);
    TS_TRY(ts__compute_scan_sizes(call, &plan.scan, err));
    uint64_t bytes = (uint64_t)(plan.scan.words[0] * plan.scan.word_bytes);
    ts_status status = ts__compute_rooms(call, &bytes, 1, &only_asks, err);
    if (status == TS_OK && !only_asks && call->n)
        status = scan_launch(call, &plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_scan(const ts_stream *stream, const ts_arg *in, const ts_arg *out, ts_combine op,
                  const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, in, out);
    TS_TRY(ts__compute_begin(&call, "ts_scan", stream, in, options, err));
    return ts__compute_scan(&call, in, out, op, err);
}
