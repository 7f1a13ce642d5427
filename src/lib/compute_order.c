/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts of a CPU that has vectors for it (base/sort.h), called in the order of the stream instead of a kernel, with the
 * same result:
 *
 *     keys     of 32 or 64 bits, in the result: as what they are, or with their bits flipped; then the signs of zeros
 *     pairs    key of 32 bits | place of the item, 31 bits | whether the key is -0        words of 64 bits, in order
 *     parts    the same of all items, each part in order by itself
 *
 * Items that are alike cannot be told apart but for zeros, whose signs are those of the items in their order.
 */
#include "base/sort.h"
#include "lib/compute.h"
#include "tessera/array.h"
#include "tessera/device.h"
#include "tessera/graph.h"

enum {
    ORDER_THREADS = 4, /* of more, kernels are as fast: a sort by vectors has one */
    ORDER_NEAR = 2048  /* items that stay in the nearest cache */
};

/* What is called. Memory of rooms: words or a copy of keys; a copy of values. */
typedef struct order_job {
    const void *keys, *values;
    void *out, *out_values, *rooms[2];
    int64_t n;
    size_t value_bytes; /* 0: there are none */
    bool is_wide, is_float, in_place, values_in_place;
    sort_kind kind; /* of keys alone */
    uint64_t flip;  /* bits of keys that are flipped; of pairs of floats after theirs */
    bool has_parts;
    compute_array ends[2]; /* where parts begin, and before which item they end */
} order_job;

/* ---- parts ----------------------------------------------------------------------------------------------- */

static int64_t order_bound(const compute_array *bounds, int64_t i, int64_t n)
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)bounds->arg.dtype);
    const char *at = (const char *)bounds->arg.value.data + i * bounds->stride * (info->bits / 8);
    uint64_t x = 0;
    memcpy(&x, at, info->bits / 8u); /* little endian, as all of the library's hosts are */
    if (info->kind == 'u')
        return (int64_t)TS_MIN(x, (uint64_t)n);
    int64_t number = (int64_t)(x << (64 - info->bits)) >> (64 - info->bits);
    return TS_MAX(0, TS_MIN(number, n));
}

/* Where part i begins, and how many items it has; of a sort of all items there is one part. False: there are none. */
static bool order_part(const order_job *job, int64_t i, int64_t *begin, int64_t *n)
{
    *begin = 0, *n = job->n;
    if (!job->has_parts)
        return i == 0;
    if (i >= job->ends[0].n)
        return false;
    *begin = order_bound(&job->ends[0], i, job->n);
    *n = TS_MAX(0, order_bound(&job->ends[1], i, job->n) - *begin);
    return true;
}

/* ---- keys alone ------------------------------------------------------------------------------------------ */

/* Signs of a sorted run of zeros, as the source has them. */
#define ORDER_SIGNS(bits, word)                                                                                     \
    static void order_signs_##bits(const word *from, word *to, int64_t n)                                           \
    {                                                                                                               \
        const word sign = (word)1 << (bits - 1);                                                                    \
        int64_t at = 0;                                                                                             \
        while (at < n && to[at] & (word)~sign)                                                                      \
            at++;                                                                                                   \
        for (int64_t i = 0; i < n && at < n; i++)                                                                   \
            if (!(from[i] & (word)~sign))                                                                           \
                to[at++] = from[i];                                                                                 \
    }
ORDER_SIGNS(32, uint32_t)
ORDER_SIGNS(64, uint64_t)

/* What is found out while keys go into the result. */
typedef struct order_found {
    bool falls, signs, nans; /* a key is less than the one before; zeros have lost their signs; there are NaNs */
} order_found;

/* Floats are compared as such; where some are NaN, their bits are, as signed integers. */
#define ORDER_KEYS(bits, word)                                                                                      \
    static void order_in_##bits(const order_job *job, const word *from, order_found *found)                         \
    {                                                                                                               \
        word *to = job->out;                                                                                        \
        for (int64_t begin = 0; begin < job->n; begin += ORDER_NEAR) {                                              \
            int64_t n = TS_MIN(ORDER_NEAR, job->n - begin), before = begin > 0;                                     \
            if (job->is_float)                                                                                      \
                ts__sort_floats_##bits(from + begin, to + begin, n, (word)job->flip, &found->signs, &found->nans);  \
            else if (from != to)                                                                                    \
                memcpy(to + begin, from + begin, (size_t)n * sizeof *to);                                           \
            if (!job->is_float)                                                                                     \
                ts__sort_flip_##bits(to + begin, n, (word)job->flip);                                               \
            found->falls = found->falls || ts__sort_falls(job->kind, to + begin - before, n + before);              \
        }                                                                                                           \
    }                                                                                                               \
    static void order_parts_##bits(const order_job *job, sort_kind kind)                                            \
    {                                                                                                               \
        int64_t begin, n;                                                                                           \
        for (int64_t i = 0; order_part(job, i, &begin, &n); i++)                                                    \
            ts__sort(kind, (word *)job->out + begin, n, -1);                                                        \
    }                                                                                                               \
    static void order_keys_##bits(const order_job *job)                                                             \
    {                                                                                                               \
        const word *from = job->keys;                                                                               \
        const word sign = (word)1 << (bits - 1);                                                                    \
        word *to = job->out;                                                                                        \
        order_found found = {0};                                                                                    \
        int64_t begin, n;                                                                                           \
        if (job->in_place && job->is_float)                                                                         \
            from = memcpy(job->rooms[0], from, (size_t)job->n * sizeof *from);                                      \
        order_in_##bits(job, from, &found);                                                                         \
        if (found.nans) {                                                                                           \
            ts__sort_keys_##bits(to, job->n);                                                                       \
            order_parts_##bits(job, SORT_INT_##bits);                                                               \
            ts__sort_keys_##bits(to, job->n);                                                                       \
        } else if (found.falls)                                                                                     \
            order_parts_##bits(job, job->kind);                                                                     \
        ts__sort_flip_##bits(to, job->n, (word)job->flip);                                                          \
        for (int64_t i = 0; found.signs && job->has_parts && i < job->n; i++) /* those of items in no part */       \
            to[i] |= from[i] == sign && !to[i] ? sign : 0;                                                          \
        for (int64_t i = 0; found.signs && order_part(job, i, &begin, &n); i++)                                     \
            order_signs_##bits(from + begin, to + begin, n);                                                        \
    }
ORDER_KEYS(32, uint32_t)
ORDER_KEYS(64, uint64_t)

/* ---- pairs ----------------------------------------------------------------------------------------------- */

static void order_to_words(const order_job *job)
{
    const uint32_t *keys = job->keys;
    const uint32_t minus = job->is_float ? (uint32_t)1 << 31 : 0, flip = (uint32_t)job->flip;
    uint64_t *words = job->rooms[0];
    for (int64_t i = 0; i < job->n; i++) {
        uint32_t key = keys[i], is_minus = minus && key == minus;
        key = is_minus ? 0 : key;
        key ^= (minus ? (uint32_t)((int32_t)key >> 31) & INT32_MAX : 0) ^ flip;
        words[i] = (uint64_t)key << 32 | (uint64_t)i << 1 | is_minus;
    }
}

static void order_of_words(const order_job *job)
{
    const uint64_t *words = job->rooms[0];
    const uint32_t flip = (uint32_t)job->flip;
    uint32_t *out = job->out;
    for (int64_t i = 0; i < job->n; i++) {
        uint32_t key = (uint32_t)(words[i] >> 32) ^ flip;
        key ^= job->is_float ? (uint32_t)((int32_t)key >> 31) & INT32_MAX : 0;
        out[i] = key | (uint32_t)(words[i] & 1) << 31;
    }
}

#define ORDER_VALUES(type)                                                                                          \
    do {                                                                                                            \
        const type *from = values;                                                                                  \
        type *to = job->out_values;                                                                                 \
        for (int64_t i = 0; i < job->n; i++)                                                                        \
            to[i] = from[(uint32_t)words[i] >> 1];                                                                  \
    } while (0)

static void order_pairs(const order_job *job)
{
    const uint64_t *words = job->rooms[0];
    const void *values = job->values;
    int64_t begin, n;
    order_to_words(job);
    bool falls = ts__sort_falls(SORT_INT_64, job->rooms[0], job->n);
    for (int64_t i = 0; falls && order_part(job, i, &begin, &n); i++)
        ts__sort(SORT_INT_64, (int64_t *)job->rooms[0] + begin, n, -1);
    order_of_words(job);
    if (job->values_in_place)
        values = memcpy(job->rooms[1], values, (size_t)job->n * job->value_bytes);
    if (job->value_bytes == 8)
        ORDER_VALUES(uint64_t);
    else
        ORDER_VALUES(uint32_t);
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

static void order_run(void *user)
{
    const order_job *job = user;
    if (job->value_bytes)
        order_pairs(job);
    else if (job->is_wide)
        order_keys_64(job);
    else
        order_keys_32(job);
}

bool ts__compute_order_fits(const compute_call *call, const compute_array *keys, const compute_array *values)
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)keys->arg.dtype);
    const size_t value_bytes = values ? ts_dtype_bytes((ts_dtype)values->arg.dtype) : 4;
    int64_t parts;
    for (int i = 0; i < 2 && call->n > 1; i++)
        if (keys[i].stride != 1 || (values && values[i].stride != 1))
            return false;
    if (call->is_gpu || call->options.count || call->options.memory || call->options.need || !ts__sort_is_there())
        return false;
    if (ts_record_active(call->stream) || !strchr("iuf", info->kind) || (info->bits != 32 && info->bits != 64) ||
        (value_bytes != 4 && value_bytes != 8) || (values && (info->bits != 32 || call->n >> 31)))
        return false;
    ts_error ignored;
    return ts__compute_parts(call, call->n, COMPUTE_PART, &parts, &ignored) == TS_OK && parts <= ORDER_THREADS;
}

/* What it needs of temporary memory: the job, words or a copy of keys, a copy of values. */
static ts_status order_rooms(compute_call *call, const order_job *job, ts_error *err)
{
    uint64_t n = (uint64_t)call->n, copied = job->is_float && job->in_place ? n * (job->is_wide ? 8 : 4) : 0;
    uint64_t bytes[3] = {sizeof *job, job->value_bytes ? n * 8 : copied,
                         job->values_in_place ? n * job->value_bytes : 0};
    bool only_asks;
    return ts__compute_rooms(call, bytes, bytes[2] ? 3 : bytes[1] ? 2 : 1, &only_asks, err);
}

ts_status ts__compute_order(compute_call *call, const compute_array keys[2], const compute_array *values,
                            const compute_array *ends, ts_error *err)
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)keys[0].arg.dtype);
    const bool descending = call->options.flags & TS_COMPUTE_DESCENDING, is_wide = info->bits == 64;
    const bool is_float = info->kind == 'f', is_unsigned = info->kind == 'u';
    const uint64_t top = is_wide ? (uint64_t)1 << 63 : (uint64_t)1 << 31;
    const uint64_t all = descending ? UINT64_MAX : 0; /* as signed integers, which pairs are ordered by */
    order_job job = {.keys = keys[0].arg.value.data, .out = keys[1].arg.value.data, .n = call->n, .is_wide = is_wide,
                     .is_float = is_float, .flip = values ? all ^ (is_unsigned ? top : 0) : is_float ? all & top : all};
    job.kind = (is_wide ? SORT_INT_64 : SORT_INT_32) + (is_float ? SORT_FLOAT_32 : is_unsigned ? SORT_UINT_32 : 0);
    job.in_place = job.keys == job.out;
    if (values) {
        job.values = values[0].arg.value.data, job.out_values = values[1].arg.value.data;
        job.value_bytes = ts_dtype_bytes((ts_dtype)values[0].arg.dtype);
        job.values_in_place = job.values == job.out_values;
    }
    job.has_parts = ends != NULL;
    for (int i = 0; ends && i < 2; i++)
        job.ends[i] = ends[i];
    ts_status status = order_rooms(call, &job, err);
    if (status == TS_OK) {
        job.rooms[0] = call->rooms[1], job.rooms[1] = call->rooms[2];
        memcpy(call->rooms[0], &job, sizeof job);
        status = ts_stream_call(call->stream, order_run, call->rooms[0], err);
    }
    ts__compute_end(call);
    return status;
}
