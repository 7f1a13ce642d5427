/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of host memory in order, by the thread that asks: rows sorted, places in what is sorted. A
 * kernel takes 20 times as long for ten numbers. Numbers become keys, which are in order as unsigned integers, so there
 * is one comparison for all dtypes:
 *
 *     -inf  ..  -1  ..  -0 = 0  ..  1  ..  inf   NaN        NumPy's order: every NaN last, and equal to another
 *
 * Sorts keep equal ones in their order. Where the processor has vectors of 64 bytes these sort (order_vector.c); else
 * rows of few numbers are merges of short runs, and a longer one goes by digits:
 *
 *     key - least of the row  ->  its 32 leading bits | place     one word for each element
 *     the leading bits, as many as tell most elements apart       two or three passes of up to 11 bits
 *     runs of elements that these bits do not tell apart          sorted by their whole keys
 *
 * More elements than order_most() are left to tessera.compute.
 */
#include "base/sort.h"
#include "base/widths.h"
#include "numeric/order.h"

enum {
    ORDER_LOOKED = 1 << 13, /* elements that are looked for */
    ORDER_MOST = 1 << 22,   /* that are sorted by one thread, where there are more than ORDER_THREADS */
    ORDER_MOST_BY_VECTORS = 1 << 28,
    ORDER_THREADS = 4,
    ORDER_RUN = 12,         /* that are put in order one by one */
    ORDER_MERGED = 48,      /* that are merged, not sorted by digits */
    ORDER_DIGIT = 11,       /* bits of a digit, at most */
    ORDER_PASSES = 3,       /* digits, at most */
    ORDER_APART = 6         /* bits that digits have more than a place among the elements */
};

typedef struct order_item {
    uint64_t key;
    int64_t place;
} order_item;

bool ts__nd_order_may(const ts_nd *a)
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)a->dtype);
    bool is_float = info->kind == 'f' && (info->bits >= 32 || a->dtype == TS_DTYPE_float16 ||
                                          a->dtype == TS_DTYPE_bfloat16);
    return nd_is_direct(a) && !a->meaning && info->bits >= 8 &&
           (is_float || info->kind == 'b' || info->kind == 'i' || info->kind == 'u');
}

/* How many of its elements are sorted here: vectors are as fast as several threads by digits. */
static int64_t order_most(const ts_nd *a)
{
    ts_device_info info;
    ts_error err;
    if (a->count <= ORDER_MOST || !ts__sort_is_there() || ts_device_query(a->graph->device, &info, &err) != TS_OK)
        return ORDER_MOST;
    return info.units <= ORDER_THREADS ? ORDER_MOST_BY_VECTORS : ORDER_MOST;
}

static void order_merge(const order_item *a, const order_item *middle, const order_item *end, order_item *to)
{
    const order_item *b = middle;
    while (a < middle && b < end)
        *to++ = b->key < a->key ? *b++ : *a++;
    memcpy(to, a, (size_t)(middle - a) * sizeof *to);
    memcpy(to + (middle - a), b, (size_t)(end - b) * sizeof *to);
}

/* Sorts n items; they are in the array that is given back, one of both. */
static order_item *order_sort(order_item *items, order_item *other, int64_t n)
{
    for (int64_t begin = 0; begin < n; begin += ORDER_RUN)
        for (int64_t i = begin + 1; i < TS_MIN(begin + ORDER_RUN, n); i++) {
            order_item x = items[i];
            int64_t k = i;
            for (; k > begin && x.key < items[k - 1].key; k--)
                items[k] = items[k - 1];
            items[k] = x;
        }
    for (int64_t run = ORDER_RUN; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run)
            order_merge(items + begin, items + TS_MIN(begin + run, n), items + TS_MIN(begin + 2 * run, n),
                        other + begin);
        order_item *sorted = other;
        other = items;
        items = sorted;
    }
    return items;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

enum { ORDER_BLOCK = 512 }; /* keys that are looked at while they are in the first cache */

/* The least and the greatest key of a row; falls: one is below the one before it. */
typedef struct order_ends {
    uint64_t least, most, falls;
} order_ends;

TS_INLINE void order_keys_of(const order_row *row, ts_dtype dtype, int64_t step, uint64_t *words, order_ends *ends)
{
    uint64_t flip = row->descending ? UINT64_MAX : 0, least = UINT64_MAX, most = 0, falls = 0;
    for (int64_t begin = 0; begin < row->n; begin += ORDER_BLOCK) {
        const char *from = row->from + begin * step;
        uint64_t *to = words + begin;
        int64_t n = TS_MIN(row->n - begin, ORDER_BLOCK);
        for (int64_t i = 0; i < n; i++)
            to[i] = order_key(from + i * step, dtype) ^ flip;
        for (int64_t i = 0; i < n; i++) {
            least = TS_MIN(least, to[i]);
            most = TS_MAX(most, to[i]);
        }
        for (int64_t i = begin ? 0 : 1; i < n; i++)
            falls |= to[i] < to[i - 1];
    }
    *ends = (order_ends){least, most, falls};
}

TS_INLINE void order_keys_loops(const order_row *row, uint64_t *words, order_ends *ends)
{
    switch (row->dtype) {
#define ORDER_CASE(dtype, bytes)                                                  \
    case TS_DTYPE_##dtype:                                                        \
        if (row->step == (bytes))                                                 \
            order_keys_of(row, TS_DTYPE_##dtype, bytes, words, ends);             \
        else                                                                      \
            order_keys_of(row, TS_DTYPE_##dtype, row->step, words, ends);         \
        break;
        ORDER_CASE(int8, 1) ORDER_CASE(uint8, 1) ORDER_CASE(int16, 2) ORDER_CASE(uint16, 2) ORDER_CASE(int32, 4)
        ORDER_CASE(uint32, 4) ORDER_CASE(int64, 8) ORDER_CASE(uint64, 8) ORDER_CASE(float16, 2)
        ORDER_CASE(float32, 4) ORDER_CASE(float64, 8)
#undef ORDER_CASE
    default: order_keys_of(row, row->dtype, row->step, words, ends);
    }
}
TS_WIDTHS(order_keys, (const order_row *row, uint64_t *words, order_ends *ends), (row, words, ends))

static int order_bits(uint64_t x)
{
    return x ? 64 - __builtin_clzll(x) : 0;
}

/* How a row goes by digits: `bits` of the words' 32 leading ones count, in passes of `digit` bits. */
typedef struct order_digits {
    int width, bits, digit, passes;
} order_digits;

static order_digits order_digits_of(int64_t n, uint64_t range)
{
    int size = order_bits((uint64_t)n - 1), width = TS_MIN(order_bits(range), 32);
    order_digits d = {.width = width, .digit = TS_MIN(TS_MAX(size, 5), ORDER_DIGIT)};
    d.passes = TS_MAX((TS_MIN(width, size + ORDER_APART) + d.digit - 1) / d.digit, 1);
    d.bits = TS_MIN(width, d.passes * d.digit);
    d.digit = (d.bits + d.passes - 1) / d.passes;
    return d;
}

/* Sorts words by the digits, from the last one up; they are in the array that is given back, one of both. */
static uint64_t *order_by_digits(uint64_t *words, uint64_t *other, int64_t n, order_digits d)
{
    uint32_t counts[ORDER_PASSES][1 << ORDER_DIGIT], mask = (1u << d.digit) - 1u;
    int first = 32 + d.width - d.bits;
    for (int p = 0; p < d.passes; p++)
        memset(counts[p], 0, sizeof(uint32_t) << d.digit);
    for (int64_t i = 0; i < n; i++)
        for (int p = 0; p < d.passes; p++)
            counts[p][words[i] >> (first + p * d.digit) & mask]++;
    for (int p = 0; p < d.passes; p++) {
        uint32_t *count = counts[p], sum = 0;
        int shift = first + p * d.digit;
        if (count[words[0] >> shift & mask] == n)
            continue;
        for (uint32_t v = 0; v <= mask; v++) {
            uint32_t here = count[v];
            count[v] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < n; i++)
            other[count[words[i] >> shift & mask]++] = words[i];
        uint64_t *sorted = other;
        other = words;
        words = sorted;
    }
    return words;
}

/* The word behind a run of words whose leading bits, from `bit` on, are the same. */
static inline int64_t order_run_end(const uint64_t *words, int64_t begin, int64_t n, int bit)
{
    int64_t end = begin + 1;
    while (end < n && (words[begin] ^ words[end]) >> bit == 0)
        end++;
    return end;
}

/* Puts runs of words that are alike from `bit` on in order. */
static void order_words(uint64_t *words, int64_t n, int bit, order_item *items)
{
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = order_run_end(words, begin, n, bit);
        if (end - begin <= ORDER_RUN) {
            for (int64_t i = begin + 1; i < end; i++) {
                uint64_t x = words[i];
                int64_t k = i;
                for (; k > begin && x < words[k - 1]; k--)
                    words[k] = words[k - 1];
                words[k] = x;
            }
            continue;
        }
        for (int64_t i = begin; i < end; i++)
            items[i - begin] = (order_item){words[i], 0};
        const order_item *sorted = order_sort(items, items + (end - begin), end - begin);
        for (int64_t i = begin; i < end; i++)
            words[i] = sorted[i - begin].key;
    }
}

void ts__order_runs(const order_row *row, uint64_t *words, void *room)
{
    order_item *items = room;
    uint64_t flip = row->descending ? UINT64_MAX : 0;
    for (int64_t begin = 0, end; begin < row->n; begin = end) {
        end = order_run_end(words, begin, row->n, 32);
        if (end - begin == 1)
            continue;
        for (int64_t i = begin; i < end; i++) {
            int64_t place = (uint32_t)words[i];
            items[i - begin] = (order_item){order_key(row->from + place * row->step, row->dtype) ^ flip, place};
        }
        const order_item *sorted = order_sort(items, items + (end - begin), end - begin);
        for (int64_t i = begin; i < end; i++)
            words[i] = (uint64_t)sorted[i - begin].place;
    }
}

/* Elements of one size to where they go, from where words say that they came. */
static inline __attribute__((always_inline)) void order_move(const order_row *row, const uint64_t *words, size_t item)
{
    for (int64_t i = 0; i < row->n; i++)
        memcpy(row->values + i * row->out_step * (int64_t)item,
               row->from + (int64_t)(uint32_t)words[i] * row->step, item);
}

static void order_write(const order_row *row, const uint64_t *words)
{
    size_t item = ts_dtype_bytes(row->dtype);
    for (int64_t i = 0; row->places && i < row->n; i++)
        row->places[i * row->out_step] = (uint32_t)words[i];
    if (row->values && item == 8)
        order_move(row, words, 8);
    else if (row->values && item == 4)
        order_move(row, words, 4);
    else if (row->values)
        order_move(row, words, item);
}

/* Words from keys: what they are above the least one, its leading 32 bits, and the place. */
TS_INLINE void order_to_words_loops(uint64_t *words, int64_t n, uint64_t least, int cut, uint64_t flip)
{
    for (int64_t i = 0; i < n; i++)
        words[i] = ((words[i] - least) >> cut << 32 | (uint64_t)i) ^ flip;
}
TS_WIDTHS(order_to_words, (uint64_t *words, int64_t n, uint64_t least, int cut, uint64_t flip),
          (words, n, least, cut, flip))

TS_INLINE void order_has_loops(const uint64_t *words, int64_t n, uint64_t bits, uint64_t *has)
{
    uint64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= words[i] >> 32 == bits;
    *has = found;
}
TS_WIDTHS(order_has, (const uint64_t *words, int64_t n, uint64_t bits, uint64_t *has), (words, n, bits, has))

/* Words of which the kth one's leading bits are in place: those that are alike in these become a run, in the order of
 * their whole keys. */
static void order_kth(const order_row *row, uint64_t *words, void *items)
{
    int64_t begin = row->kth, end = row->kth + 1;
    uint64_t bits = words[begin] >> 32, has, word;
    for (int64_t last = begin, first; last > 0; last = first) {
        first = TS_MAX(last - ORDER_BLOCK, 0);
        order_has(words + first, last - first, bits, &has);
        for (int64_t i = last; has && i-- > first;)
            if (words[i] >> 32 == bits)
                word = words[i], words[i] = words[--begin], words[begin] = word;
    }
    for (int64_t first = end; first < row->n; first += ORDER_BLOCK) {
        int64_t last = TS_MIN(first + ORDER_BLOCK, row->n);
        order_has(words + first, last - first, bits, &has);
        for (int64_t i = first; has && i < last; i++)
            if (words[i] >> 32 == bits)
                word = words[i], words[i] = words[end], words[end++] = word;
    }
    order_row run = *row;
    run.n = end - begin;
    ts__order_runs(&run, words + begin, items);
}

void ts__order_one(const order_row *row)
{
    int64_t n = row->n;
    order_ends ends;
    uint64_t *words = (uint64_t *)(void *)row->scratch, *spare = words + n;
    order_item *items = (order_item *)(spare + n);
    if (!row->places && ts__order_values(row))
        return;
    order_keys(row, words, &ends);
    int cut = TS_MAX(order_bits(ends.most - ends.least) - 32, 0);
    if (!ends.falls) {
        for (int64_t i = 0; i < n; i++)
            words[i] = (uint64_t)i;
    } else if (ts__sort_is_there()) {
        order_to_words(words, n, ends.least, cut, (uint64_t)1 << 63); /* which are compared with their signs */
        ts__sort(SORT_INT_64, words, n, row->kth);
        if (cut && row->kth >= 0)
            order_kth(row, words, items);
        else if (cut)
            ts__order_runs(row, words, items);
    } else if (n <= ORDER_MERGED) {
        for (int64_t i = 0; i < n; i++)
            items[i] = (order_item){words[i], i};
        const order_item *sorted = order_sort(items, items + n, n);
        for (int64_t i = 0; i < n; i++)
            words[i] = (uint64_t)sorted[i].place;
    } else {
        order_digits d = order_digits_of(n, ends.most - ends.least);
        int left = d.width - d.bits;
        order_to_words(words, n, ends.least, cut, 0);
        words = order_by_digits(words, spare, n, d);
        if (left)
            order_words(words, n, 32 + left, items);
        if (cut)
            ts__order_runs(row, words, items);
    }
    order_write(row, words);
}

/* Where the next rows along an axis begin, in bytes and in elements of results that lie row-major. */
typedef struct order_next {
    int64_t from[ORDER_BESIDE], to[ORDER_BESIDE], n;
    int64_t at[TS_ND_RANK], steps[TS_ND_RANK], from_at, to_at; /* of the one behind them */
} order_next;

static void order_more(const ts_nd *a, uint32_t axis, order_next *next, int64_t rows)
{
    while (next->n < TS_MIN(rows, ORDER_BESIDE)) {
        next->from[next->n] = next->from_at;
        next->to[next->n++] = next->to_at;
        for (uint32_t d = a->rank; d-- > 0;) {
            if (d == axis)
                continue;
            next->from_at += ts_nd_strides(a)[d];
            next->to_at += next->steps[d];
            if (++next->at[d] < ts_nd_shape(a)[d])
                break;
            next->from_at -= next->at[d] * ts_nd_strides(a)[d];
            next->to_at -= next->at[d] * next->steps[d];
            next->at[d] = 0;
        }
    }
}

/* All rows along an axis; results lie row-major. */
static void order_rows(const ts_nd *a, uint32_t axis, order_row all)
{
    order_next next = {.n = 0};
    int64_t rows = a->count / all.n, step = 1, done;
    for (uint32_t d = a->rank; d-- > 0; step *= ts_nd_shape(a)[d])
        next.steps[d] = step;
    all.step = ts_nd_strides(a)[axis];
    all.out_step = next.steps[axis];
    for (; rows; rows -= done) {
        order_more(a, axis, &next, rows);
        done = ts__order_beside(&all, next.from, next.to, next.n);
        for (int64_t i = 0; !done && i < next.n; i++) {
            order_row row = all;
            row.from += next.from[i];
            row.values = all.values ? all.values + next.to[i] * a->item : NULL;
            row.places = all.places ? all.places + next.to[i] : NULL;
            ts__order_one(&row);
        }
        done = done ? done : next.n;
        next.n -= done;
        memmove(next.from, next.from + done, (size_t)next.n * sizeof *next.from);
        memmove(next.to, next.to + done, (size_t)next.n * sizeof *next.to);
    }
}

/* Bytes that rows of n elements are sorted in, with what they may be moved by to a vector's begin. */
static int64_t order_scratch(int64_t n, int64_t rows, size_t item)
{
    int64_t one = n * (int64_t)(2 * sizeof(uint64_t) + 2 * sizeof(order_item)) + ORDER_COUNTS;
    int64_t blocks = n <= SORT_COLUMN_MOST ? 2 * (n + SORT_TURNED) * SORT_VECTOR : 3 * ORDER_BESIDE * (n + 8) * 8;
    one += item == 2 && n >= ORDER_COUNTED ? ORDER_COUNTS << 8 : 0;
    return one + (rows > 1 ? blocks : 0) + SORT_VECTOR;
}

/* A new array that lies row-major, and its memory. */
static ts_status order_new(const ts_nd *like, ts_dtype dtype, ts_nd **made, void **data, ts_error *err)
{
    TS_TRY(ts_nd_empty(like->graph, dtype, like->rank, ts_nd_shape(like), false, made, err));
    return ts_nd_memory(*made, false, data, NULL, err);
}

ts_status ts_nd_order(ts_nd *a, uint32_t axis, bool descending, int64_t kth, ts_nd **values, ts_nd **places,
                      ts_error *err)
{
    void *from, *to = NULL, *found = NULL, *room;
    if (values)
        *values = NULL;
    if (places)
        *places = NULL;
    TS_NEED(err, a);
    if (axis >= a->rank || !a->count || !ts__nd_order_may(a) || a->count > order_most(a))
        return TS_OK;
    int64_t n = ts_nd_shape(a)[axis], bytes = order_scratch(n, a->count / n, a->item);
    ts_nd *scratch = NULL;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    ts_status status = values ? order_new(a, (ts_dtype)a->dtype, values, &to, err) : TS_OK;
    if (status == TS_OK && places)
        status = order_new(a, TS_DTYPE_int64, places, &found, err);
    if (status == TS_OK)
        status = ts_nd_empty(a->graph, TS_DTYPE_uint8, 1, &bytes, false, &scratch, err);
    if (status == TS_OK)
        status = ts_nd_memory(scratch, false, &room, NULL, err);
    order_row all = {.from = from, .values = to, .places = found, .n = n, .dtype = (ts_dtype)a->dtype,
                     .descending = descending, .kth = kth < n ? kth : -1};
    all.dtype = all.dtype == TS_DTYPE_bool_ ? TS_DTYPE_uint8 : all.dtype; /* NumPy orders their bytes */
    if (status == TS_OK) {
        all.scratch = (char *)room + -(uintptr_t)room % SORT_VECTOR;
        order_rows(a, axis, all);
    }
    ts_nd_release(scratch);
    if (status == TS_OK)
        return TS_OK;
    if (values)
        ts_nd_release(*values), *values = NULL;
    if (places)
        ts_nd_release(*places), *places = NULL;
    return status;
}

/* ---- places -------------------------------------------------------------------------------------- */

/* How many elements are below a key, or not above it. */
static int64_t order_find(const ts_nd *a, const char *data, uint64_t key, bool right)
{
    int64_t low = 0, high = a->count, step = ts_nd_strides(a)[0];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        uint64_t at = order_key(data + middle * step, (ts_dtype)a->dtype);
        if (at < key || (right && at == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ts_status ts_nd_search(ts_nd *a, ts_nd *keys, bool right, ts_nd **result, ts_error *err)
{
    void *data, *looked, *found;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, keys);
    if (a->rank != 1 || keys->rank > 1 || a->dtype != keys->dtype || a->graph != keys->graph || !ts__nd_order_may(a) ||
        keys->meaning || !keys->count || keys->count > ORDER_LOOKED)
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &data, NULL, err));
    TS_TRY(ts_nd_memory(keys, false, &looked, NULL, err));
    int64_t step = keys->rank ? ts_nd_strides(keys)[0] : 0;
    ts_status status = order_new(keys, TS_DTYPE_int64, result, &found, err);
    for (int64_t i = 0; i < keys->count && status == TS_OK; i++)
        ((int64_t *)found)[i] = order_find(a, data, order_key((char *)looked + i * step, (ts_dtype)a->dtype), right);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    return status;
}
