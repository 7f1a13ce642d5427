/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts by digits of eight bits, launched as tessera.compute does: python/tessera/compute/_radix.py on a CPU, one
 * launch; _onesweep.py on a GPU, one launch for items that a block holds, else one that counts digits and a sweep for
 * each digit, of which those that are not needed end at once.
 */
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"

#define SORT_WIDE ((int64_t)1 << 31) /* items whose places are numbers of 64 bits */

/* Sweeps of few items: up to how many, and how many a thread takes. Choices of sweeps are these and three more: words
 * and places of 32 bits, words of 64, places of 64, too. */
static const struct {
    int64_t most, items;
} sort_small[] = {
    {COMPUTE_SMALL_MOST_0, COMPUTE_SMALL_ITEMS_0},
    {COMPUTE_SMALL_MOST_1, COMPUTE_SMALL_ITEMS_1},
    {COMPUTE_SMALL_MOST_2, COMPUTE_SMALL_ITEMS_2},
};
enum { SORT_SMALL = 3 };
static_assert(sizeof sort_small / sizeof *sort_small == SORT_SMALL, "choices of _packed.py");

typedef struct sort_plan {
    compute_key key;              /* with the number of the kernel without values */
    compute_array keys[2], values[2];
    bool is_pair, in_place;
    int64_t places;               /* bytes of a key */
    int64_t parts, tiles;         /* blocks: on a CPU, on a GPU */
    uint8_t variant;              /* the choice of sweeps */
    uint8_t word;                 /* dtype of what tiles publish */
    bool is_one_tile;             /* one block of a GPU holds all items */
    size_t first_other;           /* room of the keys' other place; values follow */
} sort_plan;

/* ---- checks ---------------------------------------------------------------------------------------------- */

/* Source and result of keys or of values. */
static ts_status sort_arrays(const compute_call *call, const char *name, const ts_arg given[2], compute_array out[2],
                             ts_error *err)
{
    for (int i = 0; i < 2; i++) {
        TS_TRY(ts__compute_array(call, name, &given[i], i == 1, &out[i], err));
        if (out[i].n > 1 && out[i].stride != 1)
            return ts_fail(err, TS_SHAPE, "%s: %s have a stride of %lld; pass arrays without gaps", call->name, name,
                           (long long)out[i].stride);
    }
    if (given[0].dtype != given[1].dtype)
        return ts_fail(err, TS_TYPE, "%s: %s are %s and %s; a sort keeps the dtype", call->name, name,
                       ts_dtype_name((ts_dtype)given[0].dtype), ts_dtype_name((ts_dtype)given[1].dtype));
    if (out[1].n < out[0].n)
        return ts_fail(err, TS_SHAPE, "%s: the result of %s has %lld items for %lld; it needs as many", call->name,
                       name, (long long)out[1].n, (long long)out[0].n);
    return TS_OK;
}

/* A result may be its own source, and shares memory with nothing else. */
static ts_status sort_overlaps(const compute_call *call, sort_plan *plan, ts_error *err)
{
    const compute_array *arrays[] = {&plan->keys[0], &plan->keys[1], &plan->values[0], &plan->values[1]};
    int n = plan->is_pair ? 4 : 2;
    for (int written = 1; written < n; written += 2)
        for (int other = 0; other < n; other++) {
            const ts_arg *a = &arrays[written]->arg, *b = &arrays[other]->arg;
            bool is_there = a->value.data != NULL; /* or only how much memory is needed is asked */
            bool own = is_there && other == written - 1 && a->value.data == b->value.data;
            plan->in_place |= own && call->n > 0;
            if (is_there && other != written && !own && ts_arg_overlap(a, b) != TS_OVERLAP_NONE)
                return ts_fail(err, TS_VALUE, "%s: a result shares memory with another array; pass its own source, or "
                                              "memory of its own", call->name);
        }
    return TS_OK;
}

static ts_status sort_types(const compute_call *call, sort_plan *plan, ts_error *err)
{
    uint8_t dtype = plan->keys[0].arg.dtype;
    plan->key = (compute_key){.number = COMPUTE_sort_cpu, .at[COMPUTE_dtype] = dtype};
    if (!ts__compute_choice(&plan->key, COMPUTE_dtype))
        return ts_fail(err, TS_TYPE, "%s: keys are %s; it sorts int8 to uint64, float16, bfloat16, float32 and float64",
                       call->name, ts_dtype_name((ts_dtype)dtype));
    plan->places = (int64_t)ts_dtype_bytes((ts_dtype)dtype);
    plan->key.at[COMPUTE_descending] = (call->options.flags & TS_COMPUTE_DESCENDING) != 0;
    plan->key.at[COMPUTE_counted] = call->options.count != NULL;
    if (!plan->is_pair)
        return TS_OK;
    size_t bytes = ts_dtype_bytes((ts_dtype)plan->values[0].arg.dtype);
    if (bytes != 4 && bytes != 8)
        return ts_fail(err, TS_TYPE, "%s: values are %s; it moves values of 4 or 8 bytes", call->name,
                       ts_dtype_name((ts_dtype)plan->values[0].arg.dtype));
    for (int i = 0; i < 2; i++)
        plan->values[i].arg.dtype = bytes == 4 ? TS_DTYPE_uint32 : TS_DTYPE_uint64;
    plan->key.at[COMPUTE_dtype] = 0;
    plan->key.at[COMPUTE_pair] = (uint8_t)COMPUTE_PAIR(dtype, bytes);
    return TS_OK;
}

/* ---- launches -------------------------------------------------------------------------------------------- */

/* One of the kernels of the plan; those of pairs stand behind those of keys. */
static compute_key sort_key(const sort_plan *plan, compute_number number)
{
    compute_key key = plan->key;
    key.number = (compute_number)(number + plan->is_pair);
    return key;
}

static void put_items(compute_call *call, const sort_plan *plan, int i)
{
    if (plan->is_pair)
        ts__compute_put_tuple(call, 2);
    ts__compute_put_array(call, &plan->keys[i]);
    if (plan->is_pair)
        ts__compute_put_array(call, &plan->values[i]);
}

/* The place that items take turns with the result in. */
static void put_other(compute_call *call, const sort_plan *plan)
{
    if (plan->is_pair)
        ts__compute_put_tuple(call, 2);
    for (int i = 0; i <= plan->is_pair; i++) {
        const compute_array *like = i ? &plan->values[1] : &plan->keys[1];
        ts__compute_put_tuple(call, 1);
        ts__compute_put_room(call, plan->first_other + (size_t)i, (ts_dtype)like->arg.dtype, 1, &call->n);
    }
}

static ts_status sort_on_cpu(compute_call *call, const sort_plan *plan, ts_error *err)
{
    compute_key key = sort_key(plan, COMPUTE_sort_cpu);
    int64_t counts[] = {plan->parts, COMPUTE_PLACES * COMPUTE_VALUES}, starts[] = {plan->parts, COMPUTE_VALUES};
    ts__compute_begin_args(call);
    put_items(call, plan, 0);
    put_items(call, plan, 1);
    put_other(call, plan);
    ts__compute_put_count(call);
    ts__compute_put_bool(call, plan->in_place);
    ts__compute_put_room(call, 0, TS_DTYPE_int64, 2, counts);
    ts__compute_put_room(call, 1, call->n >> 32 ? TS_DTYPE_int64 : TS_DTYPE_uint32, 2, starts);
    ts__compute_put_room(call, 2, TS_DTYPE_int8, 1, &plan->parts);
    return ts__compute_launch(call, &key, plan->parts, 1, err);
}

static ts_status sort_in_one_tile(compute_call *call, const sort_plan *plan, ts_error *err)
{
    compute_key key = sort_key(plan, COMPUTE_sort_tile_gpu);
    ts__compute_begin_args(call);
    put_items(call, plan, 0);
    put_items(call, plan, 1);
    ts__compute_put_count(call);
    return ts__compute_launch(call, &key, 1, COMPUTE_THREADS, err);
}

static ts_status sort_count(compute_call *call, const sort_plan *plan, const int64_t *counters,
                            const int64_t *published, ts_error *err)
{
    compute_key key = sort_key(plan, COMPUTE_sort_count_gpu);
    int64_t blocks = compute_cdiv(call->n, COMPUTE_THREADS * COMPUTE_COUNTED);
    ts__compute_begin_args(call);
    put_items(call, plan, 0);
    ts__compute_put_count(call);
    ts__compute_put_bool(call, plan->in_place);
    ts__compute_put_room(call, 0, TS_DTYPE_int64, 1, counters);
    ts__compute_put_room(call, 1, (ts_dtype)plan->word, 1, published);
    TS_TRY(ts_mem_fill(call->stream, call->rooms[0], 0, 8, (uint64_t)*counters, err));
    return ts__compute_launch(call, &key, TS_MIN(blocks, COMPUTE_BLOCKS), COMPUTE_THREADS, err);
}

static ts_status sort_in_sweeps(compute_call *call, const sort_plan *plan, ts_error *err)
{
    compute_key key = sort_key(plan, COMPUTE_sort_sweep_gpu);
    int64_t counters = COMPUTE_DIGITS + COMPUTE_PLACES * COMPUTE_VALUES, published = plan->tiles * COMPUTE_VALUES;
    int64_t sweeps = plan->places + (plan->in_place && plan->places % 2);
    key.at[COMPUTE_variant] = plan->variant;
    TS_TRY(sort_count(call, plan, &counters, &published, err));
    for (int64_t sweep = 0; sweep < sweeps; sweep++) {
        ts__compute_begin_args(call);
        put_items(call, plan, 0);
        put_items(call, plan, 1);
        put_other(call, plan);
        ts__compute_put_count(call);
        ts__compute_put_int(call, sweep);
        ts__compute_put_bool(call, sweep == sweeps - 1);
        ts__compute_put_room(call, 0, TS_DTYPE_int64, 1, &counters);
        ts__compute_put_room(call, 1, (ts_dtype)plan->word, 1, &published);
        TS_TRY(ts__compute_launch(call, &key, plan->tiles, COMPUTE_THREADS, err));
    }
    return TS_OK;
}

/* What of temporary memory; returns how many pieces. */
static size_t sort_needs(const compute_call *call, sort_plan *plan, uint64_t bytes[COMPUTE_ROOMS])
{
    size_t n = 0;
    if (call->is_gpu && plan->is_one_tile)
        return 0;
    if (call->is_gpu) {
        bytes[n++] = (COMPUTE_DIGITS + COMPUTE_PLACES * COMPUTE_VALUES) * sizeof(int64_t);
        bytes[n++] = (uint64_t)plan->tiles * COMPUTE_VALUES * ts_dtype_bytes((ts_dtype)plan->word);
    } else {
        bytes[n++] = (uint64_t)plan->parts * COMPUTE_PLACES * COMPUTE_VALUES * sizeof(int64_t);
        bytes[n++] = (uint64_t)plan->parts * COMPUTE_VALUES * sizeof(int64_t);
        bytes[n++] = (uint64_t)plan->parts;
    }
    plan->first_other = n;
    bytes[n++] = (uint64_t)call->n * ts_dtype_bytes((ts_dtype)plan->keys[1].arg.dtype);
    if (plan->is_pair)
        bytes[n++] = (uint64_t)call->n * ts_dtype_bytes((ts_dtype)plan->values[1].arg.dtype);
    return n;
}

/* How sweeps divide the items: _onesweep.py's `small_of` and `variant_of`. */
static void sort_divide(const compute_call *call, sort_plan *plan, int64_t tile)
{
    int64_t nbytes = plan->places;
    nbytes += plan->is_pair ? (int64_t)ts_dtype_bytes((ts_dtype)plan->values[0].arg.dtype) : 0;
    uint8_t small = 0;
    if (nbytes > 8)
        small = call->n <= COMPUTE_FEW ? 0 : SORT_SMALL;
    else
        while (small < SORT_SMALL && call->n > sort_small[small].most)
            small++;
    bool is_long = call->n >= COMPUTE_SHORT;
    plan->word = is_long ? TS_DTYPE_int64 : TS_DTYPE_uint32;
    plan->variant = small < SORT_SMALL ? small : (uint8_t)(SORT_SMALL + is_long + (call->n >= SORT_WIDE));
    plan->tiles = compute_cdiv(call->n, small < SORT_SMALL ? sort_small[small].items * COMPUTE_THREADS : tile);
}

static ts_status sort_plan_make(compute_call *call, sort_plan *plan, ts_error *err)
{
    TS_TRY(sort_types(call, plan, err));
    TS_TRY(sort_overlaps(call, plan, err));
    compute_key sweep = sort_key(plan, COMPUTE_sort_sweep_gpu);
    const compute_choice *facts = ts__compute_choice(&sweep, plan->is_pair ? COMPUTE_pair : COMPUTE_dtype);
    plan->is_one_tile = call->n <= facts->tile;
    sort_divide(call, plan, facts->tile);
    return call->is_gpu ? TS_OK : ts__compute_parts(call, call->n, COMPUTE_PART, &plan->parts, err);
}

ts_status ts__compute_sort(compute_call *call, const ts_arg keys[2], const ts_arg values[2], ts_error *err)
{
    sort_plan plan = {.is_pair = values != NULL};
    uint64_t bytes[COMPUTE_ROOMS];
    bool only_asks;
    TS_TRY(ts__compute_flags(call, TS_COMPUTE_DESCENDING, false, err));
    TS_TRY(sort_arrays(call, "keys", keys, plan.keys, err));
    if (values)
        TS_TRY(sort_arrays(call, "values", values, plan.values, err));
    if (values && plan.values[0].n < plan.keys[0].n)
        return ts_fail(err, TS_SHAPE, "%s: %lld values for %lld keys; each key has one", call->name,
                       (long long)plan.values[0].n, (long long)plan.keys[0].n);
    call->n = plan.keys[0].n;
    TS_TRY(ts__compute_number_checks(call, false, err));
    TS_TRY(sort_plan_make(call, &plan, err));
    if (call->n && ts__compute_order_fits(call, plan.keys, values ? plan.values : NULL))
        return ts__compute_order(call, plan.keys, values ? plan.values : NULL, NULL, err);
    ts_status status = ts__compute_rooms(call, bytes, sort_needs(call, &plan, bytes), &only_asks, err);
    if (status == TS_OK && !only_asks && call->n)
        status = !call->is_gpu ? sort_on_cpu(call, &plan, err)
                 : plan.is_one_tile ? sort_in_one_tile(call, &plan, err) : sort_in_sweeps(call, &plan, err);
    ts__compute_end(call);
    return status;
}

ts_status ts_sort(const ts_stream *stream, const ts_arg keys[2], const ts_arg values[2],
                  const ts_compute_options *options, ts_error *err)
{
    compute_call call;
    TS_NEED(err, keys);
    TS_TRY(ts__compute_begin(&call, "ts_sort", stream, keys, options, err));
    return ts__compute_sort(&call, keys, values, err);
}
