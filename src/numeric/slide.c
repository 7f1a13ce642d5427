/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of products of a vector with every stretch of another one, by the thread that asks: convolutions, correlations.
 *
 *     out[i] = sum over k of a[begin + i + k] * v[k]      of what there is of a
 *
 * Results are made in blocks side by side, one product each for every k at which all of a block are inside. What is
 * outside takes no part, so that an infinite v makes no NaN of it.
 */
#include "base/widths.h"
#include "numeric/numeric.h"

enum { SLIDE_BYTES = 64, SLIDE_VECTORS = 4 }; /* of a vector; vectors of a block */

/* Elements of the three; where the first stretch begins in a, which may be before it. */
typedef struct slide_of {
    int64_t n, n_v, n_out, begin;
    const void *a, *v;
    void *out;
} slide_of;

#define SLIDE_TYPE(type)                                                                                            \
    typedef type slide_##type __attribute__((vector_size(SLIDE_BYTES)));                                            \
    typedef type slide_##type##_any __attribute__((vector_size(SLIDE_BYTES), aligned(sizeof(type)), may_alias));    \
    static type slide_one_##type(const slide_of *s, int64_t at, int64_t from, int64_t to)                           \
    {                                                                                                               \
        const type *a = s->a, *v = s->v;                                                                            \
        type sum = 0;                                                                                               \
        for (int64_t k = TS_MAX(from, -at), end = TS_MIN(to, s->n - at); k < end; k++)                              \
            sum = (type)(sum + (type)(a[at + k] * v[k]));                                                           \
        return sum;                                                                                                 \
    }
#define SLIDE_LOOP(name, type)                                                                                      \
    static void name(const slide_of *s)                                                                             \
    {                                                                                                               \
        enum { LANES = SLIDE_BYTES / sizeof(type), BLOCK = SLIDE_VECTORS * LANES };                                 \
        const type *a = s->a, *v = s->v;                                                                            \
        type *out = s->out;                                                                                         \
        int64_t i = 0;                                                                                              \
        for (; i + BLOCK <= s->n_out; i += BLOCK) {                                                                 \
            int64_t at = s->begin + i, from = TS_MIN(TS_MAX(-at, 0), s->n_v);                                       \
            int64_t to = TS_MAX(TS_MIN(s->n_v, s->n - at - BLOCK + 1), from);                                       \
            slide_##type sum[SLIDE_VECTORS] = {0};                                                                  \
            for (int64_t k = from; k < to; k++)                                                                     \
                for (int64_t j = 0; j < SLIDE_VECTORS; j++)                                                         \
                    sum[j] += *(const slide_##type##_any *)(a + at + k + j * LANES) * v[k];                         \
            for (int64_t j = 0; j < SLIDE_VECTORS; j++)                                                             \
                *(slide_##type##_any *)(out + i + j * LANES) = sum[j];                                              \
            for (int64_t j = 0; j < BLOCK && (from > 0 || to < s->n_v); j++)                                        \
                out[i + j] = (type)(out[i + j] + slide_one_##type(s, at + j, 0, from) +                             \
                                    slide_one_##type(s, at + j, to, s->n_v));                                       \
        }                                                                                                           \
        for (; i < s->n_out; i++)                                                                                   \
            out[i] = slide_one_##type(s, s->begin + i, 0, s->n_v);                                                  \
    }
#if defined(__x86_64__)
#define SLIDE(type)                                                                                                 \
    SLIDE_TYPE(type)                                                                                                \
    SLIDE_LOOP(slide_plain_##type, type)                                                                            \
    __attribute__((target("avx2,fma"))) SLIDE_LOOP(slide_avx2_##type, type)                                         \
    __attribute__((target("avx512f,avx512bw,avx512dq"))) SLIDE_LOOP(slide_avx512_##type, type)                      \
    static void slide_all_##type(const slide_of *s)                                                                 \
    {                                                                                                               \
        if (ts__vector_bytes() == 64)                                                                               \
            slide_avx512_##type(s);                                                                                 \
        else if (ts__vector_bytes() == 32)                                                                          \
            slide_avx2_##type(s);                                                                                   \
        else                                                                                                        \
            slide_plain_##type(s);                                                                                  \
    }
#else
#define SLIDE(type)                                                                                                 \
    SLIDE_TYPE(type)                                                                                                \
    SLIDE_LOOP(slide_all_##type, type)
#endif
SLIDE(float)
SLIDE(double)
SLIDE(uint32_t)
SLIDE(uint64_t)

static bool slide_run(const slide_of *s, ts_dtype dtype)
{
    switch (dtype) {
    case TS_DTYPE_float32: slide_all_float(s); return true;
    case TS_DTYPE_float64: slide_all_double(s); return true;
    case TS_DTYPE_int32: case TS_DTYPE_uint32: slide_all_uint32_t(s); return true;
    case TS_DTYPE_int64: case TS_DTYPE_uint64: slide_all_uint64_t(s); return true;
    default: return false;
    }
}

/* Long ones of few products are memory's speed, for which threads are. */
enum { SLIDE_LONG = 1 << 20, SLIDE_FEW = 64 };

static bool slide_is_one(const ts_nd *a, const ts_nd *v)
{
    return nd_is_direct(a) && nd_is_direct(v) && a->graph == v->graph && a->dtype == v->dtype && a->rank == 1 &&
           v->rank == 1 && !a->meaning && !v->meaning && nd_is_dense(a, 0) && nd_is_dense(v, 0) &&
           (a->count <= SLIDE_LONG || v->count > SLIDE_FEW);
}

ts_status ts_nd_slide(ts_nd *a, ts_nd *v, int64_t begin, int64_t count, ts_nd **result, ts_error *err)
{
    void *from, *with, *to;
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, v);
    if (!slide_is_one(a, v) || count < 0)
        return TS_OK;
    TS_TRY(ts_nd_memory(a, false, &from, NULL, err));
    TS_TRY(ts_nd_memory(v, false, &with, NULL, err));
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, 1, &count, false, result, err));
    ts_status status = ts_nd_memory(*result, false, &to, NULL, err);
    slide_of s = {a->count, v->count, count, begin, from, with, to};
    if (status != TS_OK || !slide_run(&s, (ts_dtype)a->dtype))
        ts_nd_release(*result), *result = NULL;
    return status;
}
