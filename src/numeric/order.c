/* SPDX-License-Identifier: Apache-2.0
 *
 * Few numbers of host memory in order, by the thread that asks: rows sorted, different values, places in what is
 * sorted. A kernel takes 20 times as long for ten numbers. Numbers become keys, which are in order as unsigned
 * integers, so there is one comparison for all dtypes:
 *
 *     -inf  ..  -1  ..  -0 = 0  ..  1  ..  inf   NaN        NumPy's order: every NaN last, and equal to another
 *
 * Sorts are merges of short runs and keep equal ones in their order. Other calls are left to tessera.compute.
 */
#include "numeric/numeric.h"

enum {
    ORDER_ROW = 1024,    /* elements of a row */
    ORDER_MOST = 1 << 13, /* of all rows, or that are looked for */
    ORDER_RUN = 12       /* that are put in order one by one */
};

typedef struct order_item {
    uint64_t key;
    int64_t place;
} order_item;

/* A float of `width` bits as a key; from `infinity` on, as integers, they are no numbers. */
static inline uint64_t order_float(uint64_t bits, int width, uint64_t infinity)
{
    const uint64_t zero = (uint64_t)1 << 63;
    uint64_t sign = bits >> (width - 1), magnitude = bits & (((uint64_t)1 << (width - 1)) - 1);
    return magnitude > infinity ? UINT64_MAX : sign ? zero - magnitude : zero + magnitude;
}

static uint64_t order_key(const char *at, ts_dtype dtype)
{
    const uint64_t zero = (uint64_t)1 << 63;
    union {
        uint8_t u1;
        int8_t i1;
        uint16_t u2;
        int16_t i2;
        uint32_t u4;
        int32_t i4;
        uint64_t u8;
    } x = {.u8 = 0};
    memcpy(&x, at, ts_dtype_bytes(dtype)); /* little endian, as all of the library's hosts are */
    switch (dtype) {
    case TS_DTYPE_int8: return zero + (uint64_t)(int64_t)x.i1;
    case TS_DTYPE_int16: return zero + (uint64_t)(int64_t)x.i2;
    case TS_DTYPE_int32: return zero + (uint64_t)(int64_t)x.i4;
    case TS_DTYPE_int64: return zero + x.u8;
    case TS_DTYPE_float16: return order_float(x.u2, 16, 0x7C00);
    case TS_DTYPE_bfloat16: return order_float(x.u2, 16, 0x7F80);
    case TS_DTYPE_float32: return order_float(x.u4, 32, 0x7F800000);
    case TS_DTYPE_float64: return order_float(x.u8, 64, 0x7FF0000000000000);
    default: return x.u8;
    }
}

/* Whether the array's numbers have keys, and lie where the host reads them. */
static bool order_may(const ts_nd *a)
{
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)a->dtype);
    bool is_float = info->kind == 'f' && (info->bits >= 32 || a->dtype == TS_DTYPE_float16 ||
                                          a->dtype == TS_DTYPE_bfloat16);
    return nd_is_direct(a) && !a->meaning && info->bits >= 8 &&
           (is_float || info->kind == 'b' || info->kind == 'i' || info->kind == 'u');
}

static void order_read(const char *from, int64_t step, int64_t n, ts_dtype dtype, bool descending, order_item *items)
{
    for (int64_t i = 0; i < n; i++)
        items[i] = (order_item){order_key(from + i * step, dtype) ^ (descending ? UINT64_MAX : 0), i};
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

/* A row of the array, and where its elements and places go, which may be NULL; steps in bytes. */
typedef struct order_row {
    const char *from;
    char *values;
    int64_t *places;
    int64_t n, step, out_step; /* the last in elements */
} order_row;

static void order_one(const order_row *row, ts_dtype dtype, bool descending)
{
    order_item items[ORDER_ROW], other[ORDER_ROW]; /* large, and filled as far as the row goes */
    size_t item = ts_dtype_bytes(dtype);
    order_read(row->from, row->step, row->n, dtype, descending, items);
    const order_item *sorted = order_sort(items, other, row->n);
    for (int64_t i = 0; i < row->n; i++) {
        if (row->values)
            memcpy(row->values + i * row->out_step * (int64_t)item, row->from + sorted[i].place * row->step, item);
        if (row->places)
            row->places[i * row->out_step] = sorted[i].place;
    }
}

/* All rows along an axis; results lie row-major. */
static void order_rows(const ts_nd *a, uint32_t axis, bool descending, order_row row)
{
    int64_t at[TS_ND_RANK] = {0}, steps[TS_ND_RANK], step = 1;
    int64_t rows = a->count / row.n, item = a->item;
    for (uint32_t d = a->rank; d-- > 0; step *= ts_nd_shape(a)[d])
        steps[d] = step;
    row.step = ts_nd_strides(a)[axis];
    row.out_step = steps[axis];
    for (int64_t i = 0; i < rows; i++) {
        int64_t from = 0, to = 0;
        for (uint32_t d = 0; d < a->rank; d++) {
            from += at[d] * ts_nd_strides(a)[d];
            to += at[d] * steps[d];
        }
        order_one(&(order_row){row.from + from, row.values ? row.values + to * item : NULL,
                               row.places ? row.places + to : NULL, row.n, row.step, row.out_step},
                  (ts_dtype)a->dtype, descending);
        for (uint32_t d = a->rank; d-- > 0;) {
            if (d != axis && ++at[d] < ts_nd_shape(a)[d])
                break;
            at[d] = 0;
        }
    }
}

/* A new array that lies row-major, and its memory. */
static ts_status order_new(const ts_nd *like, ts_dtype dtype, ts_nd **made, void **data, ts_error *err)
{
    TS_TRY(ts_nd_empty(like->graph, dtype, like->rank, ts_nd_shape(like), false, made, err));
    return ts_nd_memory(*made, false, data, NULL, err);
}

ts_status ts_nd_order(ts_nd *a, uint32_t axis, bool descending, ts_nd **values, ts_nd **places, ts_error *err)
{
    void *from, *to = NULL, *found = NULL;
    TS_NEED(err, a);
    if (values)
        *values = NULL;
    if (places)
        *places = NULL;
    if (axis >= a->rank || !a->count || a->count > ORDER_MOST || ts_nd_shape(a)[axis] > ORDER_ROW || !order_may(a))
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    ts_status status = values ? order_new(a, (ts_dtype)a->dtype, values, &to, err) : TS_OK;
    if (status == TS_OK && places)
        status = order_new(a, TS_DTYPE_int64, places, &found, err);
    if (status == TS_OK) {
        order_rows(a, axis, descending, (order_row){.from = from, .values = to, .places = found,
                                                    .n = ts_nd_shape(a)[axis]});
        return TS_OK;
    }
    if (values)
        ts_nd_release(*values), *values = NULL;
    if (places)
        ts_nd_release(*places), *places = NULL;
    return status;
}

ts_status ts_nd_different(ts_nd *a, ts_nd **result, ts_error *err)
{
    order_item items[ORDER_ROW], other[ORDER_ROW];
    void *from, *to;
    int64_t n = 0;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a);
    if (a->rank != 1 || !a->count || a->count > ORDER_ROW || !order_may(a))
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    order_read(from, ts_nd_strides(a)[0], a->count, (ts_dtype)a->dtype, false, items);
    order_item *sorted = order_sort(items, other, a->count);
    for (int64_t i = 0; i < a->count; i++)
        if (!i || sorted[i].key != sorted[n - 1].key)
            sorted[n++] = sorted[i];
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, 1, &n, false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    for (int64_t i = 0; i < n && status == TS_OK; i++)
        memcpy((char *)to + i * a->item, (char *)from + sorted[i].place * ts_nd_strides(a)[0], a->item);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
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
    if (a->rank != 1 || keys->rank > 1 || a->dtype != keys->dtype || a->graph != keys->graph || !order_may(a) ||
        keys->meaning || !keys->count || keys->count > ORDER_MOST)
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
