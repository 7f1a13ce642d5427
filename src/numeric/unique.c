/* SPDX-License-Identifier: Apache-2.0
 *
 * The different elements of an array in host memory, sorted, with the first place of each, how often it occurs, and
 * which one each element is, by the thread that asks. Two ways:
 *
 *     integers that are close together    a table from the least to the greatest: how often each occurs, then which
 *                                         different one it is. Two or three passes without a comparison
 *     others                              sorted (order.c), with places where those are wanted; runs of equal keys
 *
 * Another thread may write to the array meanwhile: what is out of the table by then is not counted.
 *
 * More elements than ts_nd_order() takes are left to who asks. Whether integers are among others is looked up in such a
 * table of these.
 */
#include "base/widths.h"
#include "numeric/order.h"
#include <math.h>

enum { UNIQUE_TABLE = 1 << 12 }; /* numbers that a table may have, however few elements there are */

/* An array of one axis, and what is wanted of it; elements of results, NULL: not wanted. */
typedef struct unique_of {
    ts_nd *a;
    const char *from;
    int64_t n, step, n_different;
    ts_dtype dtype;
    bool equal_nan;
    char *values;
    int64_t *first, *inverse, *counts;
} unique_of;

/* Results as arrays, as long as the array at first. */
typedef struct unique_made {
    ts_nd *values, *first, *inverse, *counts;
} unique_made;

static void unique_drop(unique_made *made)
{
    ts_nd_release(made->values);
    ts_nd_release(made->first);
    ts_nd_release(made->inverse);
    ts_nd_release(made->counts);
    *made = (unique_made){NULL, NULL, NULL, NULL};
}

static ts_status unique_new(const ts_nd *a, ts_dtype dtype, int64_t n, ts_nd **made, void *data, ts_error *err)
{
    void *memory;
    TS_TRY(ts_nd_empty(a->graph, dtype, 1, &n, false, made, err));
    TS_TRY(ts_nd_memory(*made, false, &memory, NULL, err));
    memcpy(data, &memory, sizeof memory);
    return TS_OK;
}

/* Room for results of `n` different elements. */
static ts_status unique_room(unique_of *u, uint32_t wants, int64_t n, unique_made *made, ts_error *err)
{
    TS_TRY(unique_new(u->a, (ts_dtype)u->a->dtype, n, &made->values, &u->values, err));
    if (wants & TS_ND_FIRST)
        TS_TRY(unique_new(u->a, TS_DTYPE_int64, n, &made->first, &u->first, err));
    if (wants & TS_ND_COUNTS)
        TS_TRY(unique_new(u->a, TS_DTYPE_int64, n, &made->counts, &u->counts, err));
    if (wants & TS_ND_INVERSE)
        TS_TRY(unique_new(u->a, TS_DTYPE_int64, u->n, &made->inverse, &u->inverse, err));
    return TS_OK;
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* A call with each dtype of integers as a constant. */
#define UNIQUE_SWITCH(dtype, call)                       \
    switch (dtype) {                                     \
    case TS_DTYPE_int8: call(TS_DTYPE_int8); break;      \
    case TS_DTYPE_uint8: call(TS_DTYPE_uint8); break;    \
    case TS_DTYPE_int16: call(TS_DTYPE_int16); break;    \
    case TS_DTYPE_uint16: call(TS_DTYPE_uint16); break;  \
    case TS_DTYPE_int32: call(TS_DTYPE_int32); break;    \
    case TS_DTYPE_uint32: call(TS_DTYPE_uint32); break;  \
    case TS_DTYPE_int64: call(TS_DTYPE_int64); break;    \
    case TS_DTYPE_uint64: call(TS_DTYPE_uint64); break;  \
    default: call(TS_DTYPE_bool_); break;                \
    }

TS_INLINE void unique_ends_of(const unique_of *u, ts_dtype dtype, uint64_t ends[2])
{
    uint64_t least = UINT64_MAX, most = 0;
    for (int64_t i = 0; i < u->n; i++) {
        uint64_t key = order_key(u->from + i * u->step, dtype);
        least = TS_MIN(least, key);
        most = TS_MAX(most, key);
    }
    ends[0] = least;
    ends[1] = most;
}

/* The least and the greatest key; false: these are no integers, or too far apart for a table. */
static bool unique_ends(const unique_of *u, uint64_t ends[2])
{
    char kind = ts_dtype_get(u->dtype)->kind;
    if (kind == 'f')
        return false;
#define UNIQUE_ENDS(dtype) unique_ends_of(u, dtype, ends)
    UNIQUE_SWITCH(u->dtype, UNIQUE_ENDS)
    return ends[1] - ends[0] < (uint64_t)TS_MAX(u->n, UNIQUE_TABLE);
}

TS_INLINE void unique_count_of(const unique_of *u, ts_dtype dtype, const uint64_t ends[2], int64_t *table)
{
    for (int64_t i = 0; i < u->n; i++) {
        uint64_t at = order_key(u->from + i * u->step, dtype) - ends[0];
        if (at <= ends[1] - ends[0])
            table[at]++;
    }
}

/* Last to first, so that the first place stays. */
TS_INLINE void unique_places_of(const unique_of *u, ts_dtype dtype, const uint64_t ends[2], const int64_t *table)
{
    for (int64_t i = u->n; i-- > 0;) {
        uint64_t at = order_key(u->from + i * u->step, dtype) - ends[0];
        int64_t which = at <= ends[1] - ends[0] ? table[at] : 0;
        if (u->inverse)
            u->inverse[i] = which;
        if (u->first && which < u->n_different)
            u->first[which] = i;
    }
}

/* The number of a key, the other way than order_key(). */
static void unique_number(const unique_of *u, uint64_t key, char *to)
{
    size_t item = u->a->item;
    uint64_t sign = ts_dtype_get(u->dtype)->kind == 'i' ? (uint64_t)1 << (8 * item - 1) : 0;
    key ^= sign;
    memcpy(to, &key, item);
}

/* A table of counts becomes one of which different element a number is. */
static void unique_number_table(const unique_of *u, const uint64_t ends[2], int64_t *table)
{
    int64_t which = 0;
    for (uint64_t k = 0; k <= ends[1] - ends[0]; k++) {
        if (!table[k])
            continue;
        unique_number(u, ends[0] + k, u->values + which * u->a->item);
        if (u->counts)
            u->counts[which] = table[k];
        table[k] = which++;
    }
}

static ts_status unique_by_table(unique_of *u, uint32_t wants, const uint64_t ends[2], unique_made *made, ts_error *err)
{
    ts_nd *scratch = NULL;
    int64_t *table, size = (int64_t)(ends[1] - ends[0]) + 1;
    ts_status status = unique_new(u->a, TS_DTYPE_int64, size, &scratch, &table, err);
    if (status == TS_OK) {
        memset(table, 0, (size_t)size * sizeof *table);
#define UNIQUE_COUNT(dtype) unique_count_of(u, dtype, ends, table)
        UNIQUE_SWITCH(u->dtype, UNIQUE_COUNT)
        u->n_different = 0;
        for (int64_t k = 0; k < size; k++)
            u->n_different += table[k] != 0;
        status = unique_room(u, wants, u->n_different, made, err);
    }
    if (status == TS_OK) {
        unique_number_table(u, ends, table);
#define UNIQUE_PLACES(dtype) unique_places_of(u, dtype, ends, table)
        if (u->inverse || u->first)
            UNIQUE_SWITCH(u->dtype, UNIQUE_PLACES)
    }
    ts_nd_release(scratch);
    return status;
}

/* ---- sorted ---------------------------------------------------------------------------------------- */

/* How many runs of equal elements sorted ones have, and where they begin or, of each, its first element (the other is
 * NULL), which is written last. NaN, which stands last, equals nothing, or with `nan` NaN. */
#define UNIQUE_RUNS(name, type, key, is_nan)                                                                        \
    TS_INLINE bool unique_begins_##name(const type *x, bool nan)                                                \
    {                                                                                                               \
        return (key(x[0]) != key(x[-1])) & !(nan & is_nan(x[-1]));                                                  \
    }                                                                                                               \
    TS_INLINE void unique_count_##name##_loops(const type *x, int64_t n, bool nan, int64_t *runs)               \
    {                                                                                                               \
        int64_t begins = 1;                                                                                         \
        for (int64_t i = 1; i < n; i++)                                                                             \
            begins += unique_begins_##name(x + i, nan);                                                             \
        *runs = begins;                                                                                             \
    }                                                                                                               \
    TS_WIDTHS(unique_count_##name, (const type *x, int64_t n, bool nan, int64_t *runs), (x, n, nan, runs))          \
    static void unique_runs_##name(const type *x, int64_t n, int64_t runs, bool nan, type *values, int64_t *begins) \
    {                                                                                                               \
        int64_t run = runs - 1;                                                                                     \
        for (int64_t i = n - 1; i > 0 && values; run -= unique_begins_##name(x + i, nan), i--)                      \
            values[run] = x[i];                                                                                     \
        run = runs - 1;                                                                                             \
        for (int64_t i = n - 1; i > 0 && begins; run -= unique_begins_##name(x + i, nan), i--)                      \
            begins[run] = i;                                                                                        \
        if (values)                                                                                                 \
            values[0] = x[0];                                                                                       \
        if (begins)                                                                                                 \
            begins[0] = 0;                                                                                          \
    }
#define UNIQUE_AS_IT_IS(x) (x)
#define UNIQUE_NEVER(x) ((void)(x), false)
#define UNIQUE_DIFFERS(x) ((x) != (x))
UNIQUE_RUNS(uint8_t, uint8_t, UNIQUE_AS_IT_IS, UNIQUE_NEVER)
UNIQUE_RUNS(uint16_t, uint16_t, UNIQUE_AS_IT_IS, UNIQUE_NEVER)
UNIQUE_RUNS(uint32_t, uint32_t, UNIQUE_AS_IT_IS, UNIQUE_NEVER)
UNIQUE_RUNS(uint64_t, uint64_t, UNIQUE_AS_IT_IS, UNIQUE_NEVER)
UNIQUE_RUNS(float, float, UNIQUE_AS_IT_IS, UNIQUE_DIFFERS)
UNIQUE_RUNS(double, double, UNIQUE_AS_IT_IS, UNIQUE_DIFFERS)

/* Floats of 16 bits, as the floats that they are. */
static inline float unique_half(uint16_t x, uint64_t infinity)
{
    uint64_t key = order_float(x, 16, infinity);
    return key == UINT16_MAX ? NAN : (float)key;
}
#define UNIQUE_FLOAT16(x) unique_half(x, 0x7C00)
#define UNIQUE_BFLOAT16(x) unique_half(x, 0x7F80)
#define UNIQUE_FLOAT16_NAN(x) (((x) & 0x7FFFu) > 0x7C00u)
#define UNIQUE_BFLOAT16_NAN(x) (((x) & 0x7FFFu) > 0x7F80u)
UNIQUE_RUNS(float16, uint16_t, UNIQUE_FLOAT16, UNIQUE_FLOAT16_NAN)
UNIQUE_RUNS(bfloat16, uint16_t, UNIQUE_BFLOAT16, UNIQUE_BFLOAT16_NAN)

/* A call of one of both for each way that elements are compared. */
#define UNIQUE_EACH(u, call)                                             \
    switch ((u)->dtype) {                                                \
    case TS_DTYPE_float16: call(float16, uint16_t); break;               \
    case TS_DTYPE_bfloat16: call(bfloat16, uint16_t); break;             \
    case TS_DTYPE_float32: call(float, float); break;                    \
    case TS_DTYPE_float64: call(double, double); break;                  \
    default:                                                             \
        if ((u)->a->item == 1)                                           \
            call(uint8_t, uint8_t);                                      \
        else if ((u)->a->item == 2)                                      \
            call(uint16_t, uint16_t);                                    \
        else if ((u)->a->item == 4)                                      \
            call(uint32_t, uint32_t);                                    \
        else                                                             \
            call(uint64_t, uint64_t);                                    \
    }

static int64_t unique_count(const unique_of *u, const void *sorted)
{
    int64_t runs = 0;
#define UNIQUE_COUNT_RUNS(name, type) unique_count_##name((const type *)sorted, u->n, u->equal_nan, &runs)
    UNIQUE_EACH(u, UNIQUE_COUNT_RUNS)
    return runs;
}

static void unique_runs(const unique_of *u, const void *sorted, void *values, int64_t *begins)
{
#define UNIQUE_FIND_RUNS(name, type) \
    unique_runs_##name((const type *)sorted, u->n, u->n_different, u->equal_nan, (type *)values, begins)
    UNIQUE_EACH(u, UNIQUE_FIND_RUNS)
}

/* What else is wanted, of runs that begin there; `places`: where sorted elements came from, NULL: unknown. */
static void unique_places(const unique_of *u, const int64_t *begins, const int64_t *places)
{
    for (int64_t i = 0; i < u->n_different; i++) {
        int64_t end = i + 1 < u->n_different ? begins[i + 1] : u->n;
        if (u->first)
            u->first[i] = places[begins[i]];
        for (int64_t k = begins[i]; k < end && u->inverse; k++)
            u->inverse[places[k]] = i;
    }
    for (int64_t i = 0; i < u->n_different && u->counts; i++) /* begins may be the counts */
        u->counts[i] = (i + 1 < u->n_different ? begins[i + 1] : u->n) - begins[i];
}

static ts_status unique_by_order(unique_of *u, uint32_t wants, unique_made *made, ts_error *err)
{
    ts_nd *sorted = NULL, *places = NULL, *scratch = NULL;
    int64_t *begins = NULL;
    bool with_places = wants & (TS_ND_FIRST | TS_ND_INVERSE);
    void *data = NULL, *from = NULL;
    ts_status status = ts_nd_order(u->a, 0, false, -1, &sorted, with_places ? &places : NULL, err);
    if (status != TS_OK || !sorted)
        return status;
    status = ts_nd_memory(sorted, false, &data, NULL, err);
    if (status == TS_OK && places)
        status = ts_nd_memory(places, false, &from, NULL, err);
    if (status == TS_OK) {
        u->n_different = unique_count(u, data);
        status = unique_room(u, wants, u->n_different, made, err);
    }
    if (status == TS_OK && wants && !u->counts)
        status = unique_new(u->a, TS_DTYPE_int64, u->n_different, &scratch, &begins, err);
    if (status == TS_OK) {
        begins = wants && u->counts ? u->counts : begins;
        unique_runs(u, data, u->values, begins);
        if (wants)
            unique_places(u, begins, from);
    }
    ts_nd_release(scratch);
    ts_nd_release(sorted);
    ts_nd_release(places);
    return status;
}

ts_status ts_nd_unique(ts_nd *a, uint32_t wants, bool equal_nan, ts_nd *results[4], ts_error *err)
{
    unique_made made = {NULL, NULL, NULL, NULL};
    uint64_t ends[2];
    void *from;
    TS_NEED(err, results);
    memset(results, 0, 4 * sizeof *results);
    TS_NEED(err, a);
    if (a->rank != 1 || !a->count || !ts__nd_order_may(a))
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    unique_of u = {.a = a, .from = from, .n = a->count, .step = ts_nd_strides(a)[0], .dtype = (ts_dtype)a->dtype,
                   .equal_nan = equal_nan};
    ts_status status = unique_ends(&u, ends) ? unique_by_table(&u, wants, ends, &made, err)
                                             : unique_by_order(&u, wants, &made, err);
    if (status != TS_OK)
        unique_drop(&made);
    results[0] = made.values;
    results[1] = made.first;
    results[2] = made.inverse;
    results[3] = made.counts;
    return status;
}

/* ---- among others ---------------------------------------------------------------------------------- */

TS_INLINE void unique_mark_of(const unique_of *u, ts_dtype dtype, const uint64_t ends[2], uint8_t *table)
{
    for (int64_t i = 0; i < u->n; i++) {
        uint64_t at = order_key(u->from + i * u->step, dtype) - ends[0];
        if (at <= ends[1] - ends[0])
            table[at] = 1;
    }
}

/* Elements that lie without gaps. */
TS_INLINE void unique_look_of(const char *x, int64_t n, ts_dtype dtype, const uint64_t ends[2],
                                  const uint8_t *table, uint8_t *found)
{
    size_t item = ts_dtype_bytes(dtype);
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = order_key(x + (size_t)i * item, dtype) - ends[0];
        found[i] = at <= ends[1] - ends[0] && table[at];
    }
}

static ts_status unique_among_table(const unique_of *others, const uint64_t ends[2], const ts_nd *a, const void *x,
                                    uint8_t *found, ts_error *err)
{
    ts_nd *scratch = NULL;
    uint8_t *table;
    ts_status status = unique_new(a, TS_DTYPE_uint8, (int64_t)(ends[1] - ends[0]) + 1, &scratch, &table, err);
    if (status == TS_OK) {
        memset(table, 0, (size_t)(ends[1] - ends[0]) + 1);
#define UNIQUE_MARK(dtype) unique_mark_of(others, dtype, ends, table)
        UNIQUE_SWITCH(others->dtype, UNIQUE_MARK)
#define UNIQUE_LOOK(dtype) unique_look_of(x, a->count, dtype, ends, table, found)
        UNIQUE_SWITCH(others->dtype, UNIQUE_LOOK)
    }
    ts_nd_release(scratch);
    return status;
}

ts_status ts_nd_among(ts_nd *a, ts_nd *others, ts_nd **result, ts_error *err)
{
    uint64_t ends[2];
    void *x, *from, *found;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, others);
    if (others->rank != 1 || !others->count || others->graph != a->graph || others->dtype != a->dtype || a->meaning ||
        !nd_is_dense(a, 0) || !ts__nd_order_may(others))
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &x, NULL, err));
    TS_TRY(ts_nd_memory(others, false, &from, NULL, err));
    unique_of u = {.a = others, .from = from, .n = others->count, .step = ts_nd_strides(others)[0],
                   .dtype = (ts_dtype)others->dtype};
    bool has_table = unique_ends(&u, ends) ||
                     (ts_dtype_get(u.dtype)->kind != 'f' && ends[1] - ends[0] < (uint64_t)(a->count + u.n));
    if (!has_table)
        return TS_OK;
    TS_TRY(ts_nd_empty(a->graph, TS_DTYPE_bool_, a->rank, ts_nd_shape(a), false, result, err));
    ts_status status = ts_nd_memory(*result, false, &found, NULL, err);
    if (status == TS_OK)
        status = unique_among_table(&u, ends, a, x, found, err);
    if (status != TS_OK)
        ts_nd_release(*result), *result = NULL;
    return status;
}
