/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of host memory, read and written in place without a kernel, by the thread that asks: one element; a part
 * that another array fills; rows at places that an array says, up to as many bytes as one thread moves as fast as a
 * kernel; values where a mask is true, of any size, as compress.c reads them there, for which value an element takes
 * depends on all elements before it.
 * Each function says whether the call was one for it; one that was not goes the long way, which also finds the
 * words for what is wrong.
 */
#include "base/widths.h"
#include "numeric/numeric.h"
#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

bool ts__nd_element(const ts_nd_operand *number, ts_dtype dtype, char element[16])
{
    const ts_dtype_info *info = ts_dtype_get(dtype);
    ts_dtype part = info->part ? (ts_dtype)info->part : dtype;
    bool is_same = number->dtype == dtype, is_float = info->kind == 'f' || info->kind == 'c';
    bool fits = number->kind == 'i' || number->kind == 'b' ? is_float || info->kind == 'i' || info->kind == 'u'
                                                           : number->kind == 'f' ? is_float : info->kind == 'c';
    bool narrow = ts_dtype_get(part)->bits < 32;
    bool rounds = is_float && part != TS_DTYPE_float64 && (narrow || fabs(number->f) > 1 || fabs(number->im) > 1);
    uint64_t bits[2];
    if (dtype == TS_DTYPE_float64 && number->kind == 'f' && (is_same || !number->dtype)) { /* the commonest */
        memcpy(element, &number->f, sizeof number->f);
        return true;
    }
    if (!is_same && (number->dtype || !fits || rounds || number->is_huge || (is_float && number->is_big)))
        return false;
    if (ts__nd_number(number, dtype, bits) != 0)
        return false;
    memcpy(element, &bits[0], ts_dtype_bytes(part));
    if (info->part)
        memcpy(element + ts_dtype_bytes(part), &bits[1], ts_dtype_bytes(part));
    return true;
}

/* Memory that is about to change: nothing that waits may read it. */
static ts_status direct_target(ts_nd *a, char **data, ts_error *err)
{
    void *memory;
    TS_TRY(ts__nd_settle(a, TS_ND_CAUSE_part, err));
    TS_TRY(ts_nd_memory(a, false, &memory, NULL, err));
    *data = memory;
    return TS_OK;
}

ts_status ts_nd_set(ts_nd *a, int64_t offset, const ts_nd_operand *number, bool *done, ts_error *err)
{
    char element[16], *data;
    TS_NEED(err, done);
    *done = false;
    TS_NEED(err, a, number);
    if (number->array || a->meaning || a->flags & TS_ND_READONLY || !nd_is_direct(a) ||
        !ts__nd_element(number, (ts_dtype)a->dtype, element))
        return TS_OK;
    if (nd_is_there(a) && !a->graph->first)
        data = (char *)ts_buffer_data(a->store->buffer) + a->offset;
    else
        TS_TRY(direct_target(a, &data, err));
    if (a->item == 8)
        memcpy(data + offset, element, 8);
    else
        memcpy(data + offset, element, a->item);
    *done = true;
    return TS_OK;
}

/* ---- parts --------------------------------------------------------------------------------------- */

/* Whether the part is where the value's elements lie already, each in its place. */
static bool direct_is_same(const ts_nd *a, const ts_nd_part *part, const ts_nd *value)
{
    return value->store == a->store && value->offset == a->offset + part->offset && value->dtype == a->dtype &&
           value->meaning == a->meaning && value->rank == part->rank &&
           memcmp(ts_nd_shape(value), part->shape, part->rank * sizeof(int64_t)) == 0 &&
           memcmp(ts_nd_strides(value), part->strides, part->rank * sizeof(int64_t)) == 0;
}

/* The move of a value that is broadcast to the part; false: it is none for these loops. *count: of elements. */
static bool direct_moves(const ts_nd_part *part, const ts_nd *value, nd_move *m, int64_t *count)
{
    uint32_t up = part->rank - value->rank;
    if (part->rank > ND_MOVE_AXES || value->rank > part->rank)
        return false;
    *count = 1;
    m->rank = part->rank;
    for (uint32_t d = 0; d < part->rank; d++) {
        int64_t extent = d < up ? 1 : ts_nd_shape(value)[d - up];
        if (extent != 1 && extent != part->shape[d])
            return false;
        m->shape[d] = part->shape[d];
        m->to[d] = part->strides[d];
        m->from[d] = extent == 1 ? 0 : ts_nd_strides(value)[d - up];
        *count *= m->shape[d];
    }
    return true;
}

/* The first byte of the elements, and the first behind them. */
static void direct_reach(const nd_move *m, const int64_t *step, const char *data, const char *reach[2])
{
    reach[0] = data;
    reach[1] = data + m->item;
    for (uint32_t d = 0; d < m->rank; d++)
        reach[step[d] > 0] += step[d] * (m->shape[d] - 1);
}

static bool direct_is_apart(const nd_move *m, const char *to, const char *from)
{
    const char *one[2], *two[2];
    direct_reach(m, m->to, to, one);
    direct_reach(m, m->from, from, two);
    return one[1] <= two[0] || two[1] <= one[0];
}

#define DIRECT_ROW(type)                                     \
    for (int64_t i = 0; i < n; i++, to += step, from += back) \
    memcpy(to, from, sizeof(type))

/* One row: n elements, `step` and `back` bytes from one to the next. */
static void direct_row(size_t item, int64_t n, char *to, int64_t step, const char *from, int64_t back)
{
    if (step == (int64_t)item && back == step)
        memcpy(to, from, (size_t)n * item);
    else if (item == 8)
        DIRECT_ROW(uint64_t);
    else if (item == 4)
        DIRECT_ROW(uint32_t);
    else
        for (int64_t i = 0; i < n; i++, to += step, from += back)
            memcpy(to, from, item);
}

/* ---- several axes -------------------------------------------------------------------------------- */

enum {
    DIRECT_WIDE = 8,       /* elements of a square's first side: lines that are read are used up */
    DIRECT_LONG_SIDE = 32, /* of its second side, along which writes go on */
    DIRECT_TURNED = 1 << 23 /* bytes of a turned copy, at most: threads share larger ones */
};

/* A part of two axes: `n` elements along each, beside each other along the first at the source, along the second at
 * the target. */
typedef struct direct_square {
    int64_t n[2], to, from; /* steps of the target along the first axis, of the source along the second */
} direct_square;

#define DIRECT_TURN(name, bytes)                                                             \
    static void name(const direct_square *s, char *to, const char *from)                    \
    {                                                                                        \
        for (int64_t r = 0; r < s->n[0]; r++, to += s->to, from += bytes) {                  \
            const char *x = from;                                                            \
            for (int64_t k = 0; k < s->n[1]; k++, x += s->from)                              \
                memcpy(to + k * (bytes), x, bytes);                                          \
        }                                                                                    \
    }
DIRECT_TURN(direct_turn_1, 1)
DIRECT_TURN(direct_turn_2, 2)
DIRECT_TURN(direct_turn_4, 4)
DIRECT_TURN(direct_turn_8, 8)
DIRECT_TURN(direct_turn_16, 16)

#if defined(__x86_64__)
/* Whole squares by pairs, or fours, in registers. */
static void direct_turn_pairs(const direct_square *s, char *to, const char *from)
{
    for (int64_t r = 0; r < s->n[0]; r += 2, to += 2 * s->to, from += 16) {
        const char *x = from;
        for (int64_t k = 0; k < s->n[1]; k += 2, x += 2 * s->from) {
            __m128i a = _mm_loadu_si128((const __m128i *)(const void *)x);
            __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(x + s->from));
            _mm_storeu_si128((__m128i *)(void *)(to + 8 * k), _mm_unpacklo_epi64(a, b));
            _mm_storeu_si128((__m128i *)(void *)(to + s->to + 8 * k), _mm_unpackhi_epi64(a, b));
        }
    }
}

static void direct_turn_fours(const direct_square *s, char *to, const char *from)
{
    for (int64_t r = 0; r < s->n[0]; r += 4, to += 4 * s->to, from += 16) {
        const char *x = from;
        for (int64_t k = 0; k < s->n[1]; k += 4, x += 4 * s->from) {
            __m128 a = _mm_loadu_ps((const float *)(const void *)x);
            __m128 b = _mm_loadu_ps((const float *)(const void *)(x + s->from));
            __m128 c = _mm_loadu_ps((const float *)(const void *)(x + 2 * s->from));
            __m128 d = _mm_loadu_ps((const float *)(const void *)(x + 3 * s->from));
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps((float *)(void *)(to + 4 * k), a);
            _mm_storeu_ps((float *)(void *)(to + s->to + 4 * k), b);
            _mm_storeu_ps((float *)(void *)(to + 2 * s->to + 4 * k), c);
            _mm_storeu_ps((float *)(void *)(to + 3 * s->to + 4 * k), d);
        }
    }
}
#else
#define direct_turn_pairs direct_turn_8
#define direct_turn_fours direct_turn_4
#endif

/* Elements of two axes, square by square. */
static void direct_turn(const nd_move *m, uint32_t d, uint32_t e, char *to, const char *from)
{
    for (int64_t i = 0; i < m->shape[d]; i += DIRECT_WIDE)
        for (int64_t k = 0; k < m->shape[e]; k += DIRECT_LONG_SIDE) {
            direct_square s = {{TS_MIN(DIRECT_WIDE, m->shape[d] - i), TS_MIN(DIRECT_LONG_SIDE, m->shape[e] - k)},
                               m->to[d], m->from[e]};
            bool whole = !((s.n[0] | s.n[1]) & 3);
            char *at = to + i * m->to[d] + k * m->to[e];
            const char *x = from + i * m->from[d] + k * m->from[e];
            switch (m->item) {
            case 1: direct_turn_1(&s, at, x); break;
            case 2: direct_turn_2(&s, at, x); break;
            case 4: (whole ? direct_turn_fours : direct_turn_4)(&s, at, x); break;
            case 8: (whole ? direct_turn_pairs : direct_turn_8)(&s, at, x); break;
            default: direct_turn_16(&s, at, x); break;
            }
        }
}

/* An axis along which elements lie beside each other at the source, as those of the last axis do at the target; the
 * last axis: there is none, or elements are not of 1, 2, 4, 8 or 16 bytes. */
static uint32_t direct_turned(const nd_move *m)
{
    uint32_t e = m->rank - 1, d = e;
    int64_t item = (int64_t)m->item;
    if (m->to[e] != item || m->shape[e] < 4 || item > 16 || item & (item - 1))
        return e;
    while (d > 0 && !(m->from[d - 1] == item && m->shape[d - 1] >= 4))
        d--;
    return d ? d - 1 : e;
}

/* Rows are those of the last axis, without one a single element. */
void ts__nd_move(const nd_move *m, char *to, const char *from)
{
    int64_t at[ND_MOVE_AXES] = {0};
    uint32_t inner = m->rank ? m->rank - 1 : 0, turned = m->rank ? direct_turned(m) : 0, d;
    do {
        if (turned != inner)
            direct_turn(m, turned, inner, to, from);
        else
            direct_row(m->item, m->rank ? m->shape[inner] : 1, to, m->rank ? m->to[inner] : 0, from,
                       m->rank ? m->from[inner] : 0);
        for (d = inner; d-- > 0;) {
            if (d == turned)
                continue;
            to += m->to[d];
            from += m->from[d];
            if (++at[d] < m->shape[d])
                break;
            to -= m->to[d] * at[d];
            from -= m->from[d] * at[d];
            at[d] = 0;
        }
    } while (d != UINT32_MAX);
}

/* Whether a row-major copy of the array goes along other axes than its memory. */
static bool direct_is_turned(const ts_nd *a)
{
    int64_t before = INT64_MAX;
    for (uint32_t d = 0; d < a->rank; d++) {
        int64_t step = ts_nd_strides(a)[d];
        if (ts_nd_shape(a)[d] == 1)
            continue;
        if (step < 0 || step > before)
            return step > before;
        before = step ? step : before;
    }
    return false;
}

ts_status ts__nd_turn(ts_nd *a, ts_nd **result, ts_error *err)
{
    nd_move m = {.rank = a->rank, .item = a->item};
    void *from, *to;
    if (!nd_is_direct(a) || a->rank > ND_MOVE_AXES || !a->count || a->count > DIRECT_TURNED / a->item ||
        !direct_is_turned(a))
        return TS_OK;
    TS_TRY(ts__nd_memory(a, TS_ND_CAUSE_shape, false, &from, NULL, err));
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, a->rank, ts_nd_shape(a), false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
        return status;
    }
    for (uint32_t d = 0; d < a->rank; d++) {
        m.shape[d] = ts_nd_shape(a)[d];
        m.to[d] = ts_nd_strides(*result)[d];
        m.from[d] = ts_nd_strides(a)[d];
    }
    ts__nd_move(&m, to, from);
    return TS_OK;
}

ts_status ts_nd_fill(ts_nd *a, const ts_nd_part *part, ts_nd *value, bool *done, ts_error *err)
{
    nd_move m;
    int64_t count;
    TS_NEED(err, done);
    *done = false;
    TS_NEED(err, a, part, value);
    if (a->flags & TS_ND_READONLY)
        return TS_OK;
    *done = direct_is_same(a, part, value);
    if (*done || value->graph != a->graph || value->dtype != a->dtype || value->meaning != a->meaning ||
        !nd_is_there(a) || !nd_is_there(value) || nd_is_read(a) || !direct_moves(part, value, &m, &count) ||
        !count || count > ND_DIRECT_BYTES / a->item)
        return TS_OK;
    m.item = a->item;
    char *to = (char *)ts_buffer_data(a->store->buffer) + a->offset + part->offset;
    const char *from = (const char *)ts_buffer_data(value->store->buffer) + value->offset;
    *done = direct_is_apart(&m, to, from);
    if (*done)
        ts__nd_move(&m, to, from);
    return TS_OK;
}

/* ---- rows at places ------------------------------------------------------------------------------ */

enum { DIRECT_MOST = 1 << 22 }; /* bytes of rows that are taken without a kernel */

/* Rows along the first axis, and which of them. */
typedef struct direct_rows {
    int64_t n, extent, step, bytes; /* places; rows of the array, bytes from one to the next, of one */
    const int64_t *places;
} direct_rows;

#if defined(__x86_64__)
#define DIRECT_VECTORS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

static bool direct_is_wide(void)
{
    return ts__vector_bytes() == 64;
}

DIRECT_VECTORS static bool direct_is_inside_wide(const int64_t *places, int64_t n, int64_t extent)
{
    __m512i left = _mm512_setzero_si512(), last = _mm512_set1_epi64(extent - 1);
    for (int64_t i = 0; i < n; i += 8) {
        __mmask8 there = (__mmask8)(n - i >= 8 ? 0xFF : (1 << (n - i)) - 1);
        __m512i x = _mm512_maskz_loadu_epi64(there, places + i);
        x = _mm512_sub_epi64(last, _mm512_xor_si512(x, _mm512_srai_epi64(x, 63)));
        left = _mm512_mask_or_epi64(left, there, left, x);
    }
    return !_mm512_movepi64_mask(left);
}
#endif

/* Whether places are from -extent on, to before extent: the sign of what is left of each says so. */
static bool direct_is_inside(const int64_t *places, int64_t n, int64_t extent)
{
#if defined(__x86_64__)
    if (direct_is_wide())
        return direct_is_inside_wide(places, n, extent);
#endif
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++)
        left |= extent - 1 - (places[i] ^ places[i] >> 63); /* of a negative one how far it is below -1 */
    return left >= 0;
}

/* False: their bytes are more than `most`, or one lies outside. */
static ts_status direct_rows_of(const ts_nd *a, ts_nd *indices, int64_t most, direct_rows *rows, bool *fits,
                                ts_error *err)
{
    void *places;
    *fits = false;
    if (a->graph != indices->graph || !nd_is_direct(a) || !a->rank || !indices->rank ||
        a->rank + indices->rank - 1 > TS_ND_RANK || indices->dtype != TS_DTYPE_int64 || indices->meaning ||
        !nd_is_dense(a, 1) || !nd_is_dense(indices, 0))
        return TS_OK;
    rows->bytes = a->item;
    for (uint32_t d = 1; d < a->rank; d++)
        rows->bytes *= ts_nd_shape(a)[d];
    if (indices->count > most / TS_MAX(rows->bytes, 8))
        return TS_OK;
    TS_TRY(ts_nd_memory(indices, false, &places, NULL, err));
    rows->n = indices->count;
    rows->extent = ts_nd_shape(a)[0];
    rows->step = ts_nd_strides(a)[0];
    rows->places = places;
    *fits = direct_is_inside(places, rows->n, rows->extent);
    return TS_OK;
}

static int64_t direct_offset(const direct_rows *rows, int64_t i)
{
    int64_t place = rows->places[i];
    return (place < 0 ? place + rows->extent : place) * rows->step;
}

/* Rows of some bytes from their places to one behind the other, and back. */
#define DIRECT_TAKE(bytes)                                                             \
    for (int64_t i = 0; i < rows->n; i++)                                              \
    memcpy(to + i * (int64_t)(bytes), from + direct_offset(rows, i), (size_t)(bytes))

#if defined(__x86_64__)
/* Numbers of 4 or 8 bytes without gaps, eight at a time. */
DIRECT_VECTORS static void direct_take_wide(const direct_rows *rows, const char *from, char *to)
{
    const __m512i extent = _mm512_set1_epi64(rows->extent);
    for (int64_t i = 0; i < rows->n; i += 8) {
        __mmask8 there = (__mmask8)(rows->n - i >= 8 ? 0xFF : (1 << (rows->n - i)) - 1);
        __m512i places = _mm512_maskz_loadu_epi64(there, rows->places + i);
        places = _mm512_mask_add_epi64(places, _mm512_movepi64_mask(places), places, extent);
        if (rows->bytes == 8) {
            __m512i x = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), there, places, from, 8);
            _mm512_mask_storeu_epi64(to + i * 8, there, x);
        } else {
            __m256i x = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), there, places, from, 4);
            _mm256_mask_storeu_epi32(to + i * 4, there, x);
        }
    }
}
#endif

static void direct_take(const direct_rows *rows, const char *from, char *to)
{
#if defined(__x86_64__)
    if ((rows->bytes == 4 || rows->bytes == 8) && rows->step == rows->bytes && direct_is_wide()) {
        direct_take_wide(rows, from, to);
        return;
    }
#endif
    switch (rows->bytes) {
    case 1: DIRECT_TAKE(1); break;
    case 2: DIRECT_TAKE(2); break;
    case 4: DIRECT_TAKE(4); break;
    case 8: DIRECT_TAKE(8); break;
    case 16: DIRECT_TAKE(16); break;
    default: DIRECT_TAKE(rows->bytes);
    }
}

#define DIRECT_PUT(bytes)                                                              \
    for (int64_t i = 0; i < rows->n; i++)                                              \
    memcpy(to + direct_offset(rows, i), from + i * (int64_t)(bytes), (size_t)(bytes))

static void direct_put(const direct_rows *rows, char *to, const char *from)
{
    switch (rows->bytes) {
    case 1: DIRECT_PUT(1); break;
    case 2: DIRECT_PUT(2); break;
    case 4: DIRECT_PUT(4); break;
    case 8: DIRECT_PUT(8); break;
    case 16: DIRECT_PUT(16); break;
    default: DIRECT_PUT(rows->bytes);
    }
}

/* One element all over the rows: over the first one by copies of what it holds so far, the others as that one is. */
static void direct_fill(const direct_rows *rows, char *to, const char *element, size_t item)
{
    size_t bytes = (size_t)rows->bytes;
    if (!rows->n || !bytes)
        return;
    char *first = to + direct_offset(rows, 0);
    memcpy(first, element, item);
    for (size_t n = item; n < bytes; n += TS_MIN(n, bytes - n))
        memcpy(first + n, first, TS_MIN(n, bytes - n));
    if (bytes == 8 && item == 8)
        for (int64_t i = 1; i < rows->n; i++)
            memcpy(to + direct_offset(rows, i), element, 8);
    else
        for (int64_t i = 1; i < rows->n; i++)
            memmove(to + direct_offset(rows, i), first, bytes);
}

/* Elements of rows along the first axis at places, at most. */
static int64_t direct_taken(const ts_nd *a, const ts_nd *indices)
{
    int64_t rows = a->rank ? TS_MAX(ts_nd_shape(a)[0], 1) : 1, n;
    return __builtin_mul_overflow(indices->count, a->count / rows, &n) ? INT64_MAX : n;
}

ts_status ts_nd_take(ts_nd *a, ts_nd *indices, ts_nd **result, ts_error *err)
{
    direct_rows rows = {0};
    bool fits;
    void *from, *to;
    int64_t shape[TS_ND_RANK];
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, indices);
    TS_TRY(ts__nd_meet_few(direct_taken(a, indices), (ts_nd *const[]){a, indices}, 2, err));
    TS_TRY(direct_rows_of(a, indices, DIRECT_MOST, &rows, &fits, err));
    if (!fits)
        return TS_OK;
    memcpy(shape, ts_nd_shape(indices), indices->rank * sizeof *shape);
    memcpy(shape + indices->rank, ts_nd_shape(a) + 1, (a->rank - 1) * sizeof *shape);
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, indices->rank + a->rank - 1u, shape, false, result, err));
    nd_means(*result, a);
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    if (status == TS_OK)
        direct_take(&rows, from, to);
    else
        ts_nd_release(*result), *result = NULL;
    return status;
}

/* Whether an array is what goes to the rows, one after the other. */
static bool direct_is_source(const ts_nd *a, const ts_nd *indices, const ts_nd *values)
{
    return values->dtype == a->dtype && values->meaning == a->meaning && values->graph == a->graph &&
           values->rank == indices->rank + a->rank - 1 &&
           memcmp(ts_nd_shape(values), ts_nd_shape(indices), indices->rank * sizeof(int64_t)) == 0 &&
           memcmp(ts_nd_shape(values) + indices->rank, ts_nd_shape(a) + 1, (a->rank - 1) * sizeof(int64_t)) == 0 &&
           nd_is_dense(values, 0) && !ts_nd_shares(a, values, false);
}

/* Whether it is a mask of all elements, both without gaps. */
static bool direct_is_mask(const ts_nd *a, const ts_nd *mask)
{
    return mask->dtype == TS_DTYPE_bool_ && !mask->meaning && mask->graph == a->graph && nd_is_direct(a) &&
           mask->rank == a->rank && memcmp(ts_nd_shape(mask), ts_nd_shape(a), a->rank * sizeof(int64_t)) == 0 &&
           nd_is_dense(a, 0) && nd_is_dense(mask, 0);
}

/* Whether a mask takes these values, all without gaps; what it takes is counted by who writes. */
static bool direct_is_masked(const ts_nd *a, const ts_nd *values)
{
    return values->dtype == a->dtype && values->meaning == a->meaning && values->graph == a->graph &&
           values->rank == 1 && nd_is_dense(values, 0) && !ts_nd_shares(a, values, false);
}

/* A number where the mask is true. *done false: elements are many, or what they are is not known yet, so a kernel does
 * it. */
static ts_status direct_put_number(ts_nd *a, ts_nd *mask, const char *element, bool *done, ts_error *err)
{
    void *flags;
    *done = nd_is_there(a) && !nd_is_read(a) && a->count <= ND_DIRECT_BYTES / a->item;
    if (!*done)
        return TS_OK;
    TS_TRY(ts_nd_memory(mask, false, &flags, NULL, err));
    *done = nd_is_there(a) && !nd_is_read(a);
    if (*done)
        ts__nd_mask_fill((size_t)a->item, a->count, (char *)ts_buffer_data(a->store->buffer) + a->offset, flags,
                         element);
    return TS_OK;
}

/* Elements where the mask is true, one after the other. *done false: they are not as many as the values. */
static ts_status direct_put_masked(ts_nd *a, ts_nd *mask, ts_nd *values, bool *done, ts_error *err)
{
    void *flags, *from;
    char *to;
    TS_TRY(ts_nd_memory(mask, false, &flags, NULL, err));
    *done = ts__nd_mask_count(flags, mask->count) == values->count;
    if (!*done)
        return TS_OK;
    TS_TRY(ts_nd_memory(values, false, &from, NULL, err));
    TS_TRY(direct_target(a, &to, err));
    ts__nd_mask_put(a->graph->device, (size_t)a->item, a->count, to, flags, from, values->count);
    return TS_OK;
}

ts_status ts_nd_put(ts_nd *a, ts_nd *indices, const ts_nd_operand *values, bool *done, ts_error *err)
{
    direct_rows rows = {0};
    char element[16], *to;
    void *from = NULL;
    size_t item;
    TS_NEED(err, done);
    *done = false;
    TS_NEED(err, a, indices, values);
    TS_TRY(ts__nd_meet_few(direct_taken(a, indices), (ts_nd *const[]){a, indices, values->array}, 3, err));
    item = ts_dtype_bytes((ts_dtype)a->dtype);
    if (a->flags & TS_ND_READONLY || !a->rank || !indices->rank || ts_nd_shares(a, indices, false))
        return TS_OK;
    if (direct_is_mask(a, indices)) {
        if (values->array && direct_is_masked(a, values->array))
            return direct_put_masked(a, indices, values->array, done, err);
        if (!values->array && !a->meaning && ts__nd_element(values, (ts_dtype)a->dtype, element))
            return direct_put_number(a, indices, element, done, err);
        return TS_OK;
    }
    if (values->array ? !direct_is_source(a, indices, values->array)
                      : a->meaning || !ts__nd_element(values, (ts_dtype)a->dtype, element))
        return TS_OK;
    TS_TRY(direct_rows_of(a, indices, INT64_MAX, &rows, done, err)); /* a kernel would have one thread, too */
    if (!*done)
        return TS_OK;
    if (values->array)
        TS_TRY(ts_nd_memory(values->array, false, &from, NULL, err));
    TS_TRY(direct_target(a, &to, err));
    if (from)
        direct_put(&rows, to, from);
    else
        direct_fill(&rows, to, element, item);
    return TS_OK;
}
