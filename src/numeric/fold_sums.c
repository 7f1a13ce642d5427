/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums and products of complex numbers, and running sums and products of all numbers, in host memory, by the thread
 * that asks. Tiles of kernels hold the parts of complex numbers apart, and compute a running sum in as many steps as a
 * tile has halves.
 *
 *     folded axis nearest  -> a line for each result: by blocks of SUMS_BLOCK numbers, whose sums are added in pairs
 *     kept axis nearest    -> rows of results, SUMS_ROW at a time, which all lines along folded axes are added to
 *     running              -> one step after the other, as NumPy's; rows where the axis is not the last one
 *
 * Which of them it is depends on shape, dtype and strides, and values that wait are computed before: results are the
 * same each time.
 */
#include "base/widths.h"
#include "numeric/numeric.h"
#include <math.h>
#include <stdlib.h>

enum {
    SUMS_BYTES = 1 << 25, /* of numbers at most: kernels read longer arrays by all threads */
    SUMS_BLOCK = 256,     /* numbers of a line that are added in lanes */
    SUMS_LANES = 16,      /* parts that are added side by side */
    SUMS_ROW = 1024       /* results of a row, which stay in the nearest cache */
};

/* Axes that are walked, the last one fastest; steps in bytes. */
typedef struct sums_axes {
    uint32_t rank;
    int64_t extent[TS_ND_RANK], from[TS_ND_RANK], to[TS_ND_RANK], at[TS_ND_RANK];
} sums_axes;

typedef struct c64 {
    float re, im;
} c64;
typedef struct c128 {
    double re, im;
} c128;

#define SUMS_INLINE static inline __attribute__((always_inline))

/* ---- axes ---------------------------------------------------------------------------------------- */

/* One more axis behind the others, as part of the last one where both lie as one. */
static void axes_add(sums_axes *a, int64_t extent, int64_t from, int64_t to)
{
    uint32_t last = a->rank - 1;
    if (extent == 1)
        return;
    if (a->rank && a->from[last] == extent * from && a->to[last] == extent * to) {
        a->extent[last] *= extent;
        a->from[last] = from;
        a->to[last] = to;
        return;
    }
    a->extent[a->rank] = extent;
    a->from[a->rank] = from;
    a->to[a->rank] = to;
    a->at[a->rank++] = 0;
}

/* Takes the last axis away; without one it has extent 1. */
static void axes_take(sums_axes *a, int64_t *extent, int64_t *from, int64_t *to)
{
    *extent = 1;
    *from = *to = 0;
    if (!a->rank)
        return;
    a->rank--;
    *extent = a->extent[a->rank];
    *from = a->from[a->rank];
    *to = a->to[a->rank];
}

/* The next place; false: it is the first one again. */
static bool axes_next(sums_axes *a, const char **from, char **to)
{
    for (uint32_t d = a->rank; d-- > 0;) {
        *from += a->from[d];
        *to += a->to[d];
        if (++a->at[d] < a->extent[d])
            return true;
        *from -= a->at[d] * a->from[d];
        *to -= a->at[d] * a->to[d];
        a->at[d] = 0;
    }
    return false;
}

/* ---- sums and products of complex numbers -------------------------------------------------------- */

#define SUMS_TIMES(type, x, y) ((type){(x).re * (y).re - (x).im * (y).im, (x).re * (y).im + (x).im * (y).re})

/* A line of a row of results, added to or multiplied by what came before. */
#define SUMS_ROWS(name, type, part, wide)                                                                           \
    wide static void name##_row(type *restrict sums, const char *restrict x, int64_t n, int64_t step)               \
    {                                                                                                               \
        part *parts = &sums->re;                                                                                    \
        if (step == (int64_t)sizeof(type))                                                                          \
            for (int64_t i = 0; i < 2 * n; i++)                                                                     \
                parts[i] += ((const part *)x)[i];                                                                   \
        else                                                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                                       \
                sums[i].re += ((const type *)(x + i * step))->re;                                                   \
                sums[i].im += ((const type *)(x + i * step))->im;                                                   \
            }                                                                                                       \
    }                                                                                                               \
    wide static void name##_row_prod(type *restrict sums, const char *restrict x, int64_t n, int64_t step)          \
    {                                                                                                               \
        if (step == (int64_t)sizeof(type))                                                                          \
            for (int64_t i = 0; i < n; i++)                                                                         \
                sums[i] = SUMS_TIMES(type, sums[i], ((const type *)x)[i]);                                          \
        else                                                                                                        \
            for (int64_t i = 0; i < n; i++)                                                                         \
                sums[i] = SUMS_TIMES(type, sums[i], *(const type *)(x + i * step));                                 \
    }
SUMS_ROWS(c64_plain, c64, float, )
SUMS_ROWS(c128_plain, c128, double, )
#if defined(__x86_64__)
SUMS_ROWS(c64_wide, c64, float, __attribute__((target("avx2"))))
SUMS_ROWS(c128_wide, c128, double, __attribute__((target("avx2"))))
#else
#define c64_wide_row c64_plain_row
#define c64_wide_row_prod c64_plain_row_prod
#define c128_wide_row c128_plain_row
#define c128_wide_row_prod c128_plain_row_prod
#endif

static bool sums_is_wide(void)
{
#if defined(__x86_64__)
    return ts__vector_bytes() >= 32;
#else
    return false;
#endif
}

/* Of a complex dtype: a block, a line, a row of results. */
#define SUMS_OF(type, part)                                                                                         \
    SUMS_INLINE type type##_block(const char *x, int64_t n, int64_t step)                                           \
    {                                                                                                               \
        type near[SUMS_BLOCK], sum = {-(part)0, -(part)0};                                                          \
        part lanes[SUMS_LANES];                                                                                     \
        const part *parts = (const part *)x;                                                                        \
        if (step != (int64_t)sizeof(type)) {                                                                        \
            for (int64_t i = 0; i < n; i++)                                                                         \
                near[i] = *(const type *)(x + i * step);                                                            \
            parts = (const part *)near;                                                                             \
        }                                                                                                           \
        int64_t i = 0, end = 2 * n;                                                                                 \
        for (int k = 0; k < SUMS_LANES; k++)                                                                        \
            lanes[k] = -(part)0;                                                                                    \
        for (; i + SUMS_LANES <= end; i += SUMS_LANES)                                                              \
            for (int k = 0; k < SUMS_LANES; k++)                                                                    \
                lanes[k] += parts[i + k];                                                                           \
        for (int k = 0; i < end; i++, k++)                                                                          \
            lanes[k] += parts[i];                                                                                   \
        for (int half = SUMS_LANES / 2; half > 1; half /= 2)                                                        \
            for (int k = 0; k < half; k++)                                                                          \
                lanes[k] += lanes[k + half];                                                                        \
        sum.re = lanes[0];                                                                                          \
        sum.im = lanes[1];                                                                                          \
        return sum;                                                                                                 \
    }                                                                                                               \
    /* Blocks are added in pairs, those pairs in pairs: as many sums wait as the number of blocks has bits. */      \
    static type type##_sum(const char *x, int64_t n, int64_t step)                                      \
    {                                                                                                               \
        type waiting[64], sum = {-(part)0, -(part)0};                                                               \
        uint32_t n_waiting = 0;                                                                                     \
        uint64_t blocks = 0;                                                                                        \
        for (int64_t i = 0; i < n; i += SUMS_BLOCK) {                                                               \
            sum = type##_block(x + i * step, TS_MIN(SUMS_BLOCK, n - i), step);                                      \
            for (uint64_t pairs = ++blocks; !(pairs & 1); pairs >>= 1) {                                            \
                n_waiting--;                                                                                        \
                sum.re = waiting[n_waiting].re + sum.re;                                                            \
                sum.im = waiting[n_waiting].im + sum.im;                                                            \
            }                                                                                                       \
            waiting[n_waiting++] = sum;                                                                             \
        }                                                                                                           \
        for (n_waiting--; n_waiting-- > 0;) {                                                                       \
            sum.re = waiting[n_waiting].re + sum.re;                                                                \
            sum.im = waiting[n_waiting].im + sum.im;                                                                \
        }                                                                                                           \
        return sum;                                                                                                 \
    }                                                                                                               \
    static type type##_prod(const char *x, int64_t n, int64_t step)                                                 \
    {                                                                                                               \
        type lanes[4] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}};                                                           \
        int64_t i = 0;                                                                                              \
        for (; i + 4 <= n; i += 4)                                                                                  \
            for (int k = 0; k < 4; k++) {                                                                           \
                const type *one = (const type *)(x + (i + k) * step);                                               \
                lanes[k] = SUMS_TIMES(type, lanes[k], *one);                                                        \
            }                                                                                                       \
        for (; i < n; i++) {                                                                                        \
            const type *one = (const type *)(x + i * step);                                                         \
            lanes[0] = SUMS_TIMES(type, lanes[0], *one);                                                            \
        }                                                                                                           \
        for (int k = 1; k < 4 && k < n; k++)                                                                        \
            lanes[0] = SUMS_TIMES(type, lanes[0], lanes[k]);                                                        \
        return lanes[0];                                                                                            \
    }                                                                                                               \
    /* Of all elements one by one, as NumPy's: which parts of infinities become NaN follows from the order. */      \
    static type type##_prod_in_order(sums_axes *folded, const char *x, char *unused, int64_t n, int64_t step)       \
    {                                                                                                               \
        type all = {1, 0};                                                                                          \
        do                                                                                                          \
            for (int64_t i = 0; i < n; i++) {                                                                       \
                const type *one = (const type *)(x + i * step);                                                     \
                all = SUMS_TIMES(type, all, *one);                                                                  \
            }                                                                                                       \
        while (axes_next(folded, &x, &unused));                                                                     \
        return all;                                                                                                 \
    }                                                                                                               \
    static void type##_lines(sums_axes *kept, sums_axes *folded, bool is_prod, const char *from, char *to)          \
    {                                                                                                               \
        int64_t n, step, none;                                                                                      \
        axes_take(folded, &n, &step, &none);                                                                        \
        do {                                                                                                        \
            const char *x = from;                                                                                   \
            char *unused = to;                                                                                      \
            type all = {is_prod, 0}; /* sums of nothing but -0 are 0 */                                             \
            do {                                                                                                    \
                type one = is_prod ? type##_prod(x, n, step) : type##_sum(x, n, step);                              \
                all = is_prod ? SUMS_TIMES(type, all, one) : (type){all.re + one.re, all.im + one.im};              \
            } while (axes_next(folded, &x, &unused));                                                               \
            if (is_prod && !(isfinite(all.re) && isfinite(all.im)))                                                 \
                all = type##_prod_in_order(folded, from, to, n, step);                                              \
            memcpy(to, &all, sizeof all);                                                                           \
        } while (axes_next(kept, &from, &to));                                                                      \
    }                                                                                                               \
    static void type##_rows(sums_axes *kept, sums_axes *folded, bool is_prod, const char *from, char *to)           \
    {                                                                                                               \
        int64_t n, step, out;                                                                                       \
        type sums[SUMS_ROW];                                                                                        \
        void (*sum)(type *restrict, const char *restrict, int64_t, int64_t) =                                       \
            sums_is_wide() ? type##_wide_row : type##_plain_row;                                                    \
        void (*prod)(type *restrict, const char *restrict, int64_t, int64_t) =                                      \
            sums_is_wide() ? type##_wide_row_prod : type##_plain_row_prod;                                          \
        axes_take(kept, &n, &step, &out);                                                                           \
        do                                                                                                          \
            for (int64_t begin = 0; begin < n; begin += SUMS_ROW) {                                                 \
                int64_t many = TS_MIN(SUMS_ROW, n - begin);                                                         \
                const char *x = from + begin * step;                                                                \
                char *unused = to;                                                                                  \
                for (int64_t i = 0; i < many; i++)                                                                  \
                    sums[i] = (type){is_prod, 0};                                                                   \
                do                                                                                                  \
                    (is_prod ? prod : sum)(sums, x, many, step);                                                    \
                while (axes_next(folded, &x, &unused));                                                             \
                for (int64_t i = 0; i < many; i++)                                                                  \
                    memcpy(to + (begin + i) * out, sums + i, sizeof *sums);                                         \
            }                                                                                                       \
        while (axes_next(kept, &from, &to));                                                                        \
    }
SUMS_OF(c64, float)
SUMS_OF(c128, double)

static bool sums_may(const ts_nd *x, const ts_nd *out)
{
    return nd_is_direct(x) && nd_is_direct(out) && x->count && !x->meaning && x->count * x->item <= SUMS_BYTES;
}

/* The axes as elements lie in memory, the nearest last: NumPy's order. */
static void sums_order(const ts_nd *x, uint32_t *order)
{
    const int64_t *strides = ts_nd_strides(x);
    for (uint32_t d = 0; d < x->rank; d++) {
        uint32_t i = d;
        for (; i && llabs(strides[order[i - 1]]) < llabs(strides[d]); i--)
            order[i] = order[i - 1];
        order[i] = d;
    }
}

ts_status ts__nd_fold_sums(const ts_nd_reduction *r, ts_nd *out, bool *done, ts_error *err)
{
    ts_nd *x = r->x;
    sums_axes kept = {.rank = 0}, folded = {.rank = 0};
    uint32_t order[TS_ND_RANK];
    void *from, *to;
    bool is_c64 = x->dtype == TS_DTYPE_complex64, is_prod = r->fold == TS_ND_PROD;
    *done = false;
    if ((!is_c64 && x->dtype != TS_DTYPE_complex128) || (r->fold != TS_ND_SUM && !is_prod) || r->where ||
        out->dtype != x->dtype || !sums_may(x, out))
        return TS_OK;
    sums_order(x, order);
    for (uint32_t i = 0; i < x->rank; i++) {
        uint32_t d = order[i];
        bool is_folded = r->axes >> d & 1;
        axes_add(is_folded ? &folded : &kept, ts_nd_shape(x)[d], ts_nd_strides(x)[d],
                 is_folded ? 0 : ts_nd_strides(out)[d]);
    }
    TS_TRY(ts_nd_memory(x, false, &from, NULL, err));
    TS_TRY(ts_nd_memory(out, false, &to, NULL, err));
    bool by_rows = kept.rank && folded.rank && llabs(kept.from[kept.rank - 1]) < llabs(folded.from[folded.rank - 1]);
    if (is_c64)
        (by_rows ? c64_rows : c64_lines)(&kept, &folded, is_prod, from, to);
    else
        (by_rows ? c128_rows : c128_lines)(&kept, &folded, is_prod, from, to);
    *done = true;
    return TS_OK;
}

/* ---- running sums and products ------------------------------------------------------------------- */

/* Where a running fold goes: `steps` of them, each over n elements side by side; steps in bytes. */
typedef struct scan_walk {
    int64_t steps, from, to;          /* along the axis */
    int64_t n, from_each, to_each;    /* of the elements side by side */
    bool is_prod;
} scan_walk;

#define SCAN_PLUS(type, x, y) ((type)((x) + (y)))
#define SCAN_MUL(type, x, y) ((type)((x) * (y)))
#define SCAN_PLUS_C(type, x, y) ((type){(x).re + (y).re, (x).im + (y).im})

/* One after the other, each element with all before it. */
#define SCAN_LINE(in, type, of, with)                                                                               \
    do {                                                                                                            \
        type sum = of(*(const in *)from);                                                                           \
        *(type *)to = sum;                                                                                          \
        for (int64_t l = 1; l < w->steps; l++) {                                                                    \
            type one = of(*(const in *)(from + l * w->from));                                                       \
            sum = with(type, sum, one);                                                                             \
            *(type *)(to + l * w->to) = sum;                                                                        \
        }                                                                                                           \
    } while (0)

/* A step of a row: results lie side by side, as `before` does. */
#define SCAN_ROW(in, type, of, with)                                                                                \
    do {                                                                                                            \
        type *restrict sums = (type *)row;                                                                          \
        const type *restrict before = (const type *)(row - w->to);                                                  \
        if (w->from_each == (int64_t)sizeof(in))                                                                    \
            for (int64_t i = 0; i < n; i++)                                                                         \
                sums[i] = with(type, before[i], of(((const in *)x)[i]));                                            \
        else                                                                                                        \
            for (int64_t i = 0; i < n; i++)                                                                         \
                sums[i] = with(type, before[i], of(*(const in *)(x + i * w->from_each)));                           \
    } while (0)

#define SCAN_OF(name, in, type, of, plus, times)                                                                    \
    static void name##_line(const scan_walk *w, const char *from, char *to)                                         \
    {                                                                                                               \
        if (w->is_prod)                                                                                             \
            SCAN_LINE(in, type, of, times);                                                                         \
        else                                                                                                        \
            SCAN_LINE(in, type, of, plus);                                                                          \
    }                                                                                                               \
    static void name##_step(const scan_walk *w, const char *restrict x, char *restrict row, int64_t n)  \
    {                                                                                                               \
        if (w->is_prod)                                                                                             \
            SCAN_ROW(in, type, of, times);                                                                          \
        else                                                                                                        \
            SCAN_ROW(in, type, of, plus);                                                                           \
    }                                                                                                               \
    static void name(const scan_walk *w, const char *from, char *to)                                                \
    {                                                                                                               \
        if (w->n == 1) {                                                                                            \
            name##_line(w, from, to);                                                                               \
            return;                                                                                                 \
        }                                                                                                           \
        for (int64_t begin = 0; begin < w->n; begin += SUMS_ROW) {                                                  \
            int64_t n = TS_MIN(SUMS_ROW, w->n - begin);                                                             \
            const char *x = from + begin * w->from_each;                                                            \
            char *row = to + begin * w->to_each;                                                                    \
            for (int64_t i = 0; i < n; i++)                                                                         \
                ((type *)row)[i] = of(*(const in *)(x + i * w->from_each));                                         \
            for (int64_t l = 1; l < w->steps; l++)                                                                  \
                name##_step(w, x += w->from, row += w->to, n);                                                      \
        }                                                                                                           \
    }
#define SCAN_SAME(x) (x)
#define SCAN_UINT(x) ((uint64_t)(x))
#define SCAN_INT(x) ((uint64_t)(int64_t)(x))
#define SCAN_TRUTH(x) ((uint64_t)((x) != 0))
SCAN_OF(scan_f32, float, float, SCAN_SAME, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_f64, double, double, SCAN_SAME, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_c64, c64, c64, SCAN_SAME, SCAN_PLUS_C, SUMS_TIMES)
SCAN_OF(scan_c128, c128, c128, SCAN_SAME, SCAN_PLUS_C, SUMS_TIMES)
SCAN_OF(scan_u32, uint32_t, uint32_t, SCAN_SAME, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_u64, uint64_t, uint64_t, SCAN_SAME, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_bool_64, uint8_t, uint64_t, SCAN_TRUTH, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_i8_64, int8_t, uint64_t, SCAN_INT, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_u8_64, uint8_t, uint64_t, SCAN_UINT, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_i16_64, int16_t, uint64_t, SCAN_INT, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_u16_64, uint16_t, uint64_t, SCAN_UINT, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_i32_64, int32_t, uint64_t, SCAN_INT, SCAN_PLUS, SCAN_MUL)
SCAN_OF(scan_u32_64, uint32_t, uint64_t, SCAN_UINT, SCAN_PLUS, SCAN_MUL)

typedef void scan_type(const scan_walk *w, const char *from, char *to);

/* The loop of two dtypes; NULL: none. Whole numbers wrap, so those with a sign and without one have the same. */
static scan_type *scan_of(ts_dtype from, ts_dtype to)
{
    static scan_type *const same[TS_DTYPE_COUNT] = {
        [TS_DTYPE_float32] = scan_f32,   [TS_DTYPE_float64] = scan_f64,     [TS_DTYPE_complex64] = scan_c64,
        [TS_DTYPE_int32] = scan_u32,     [TS_DTYPE_uint32] = scan_u32,      [TS_DTYPE_complex128] = scan_c128,
        [TS_DTYPE_int64] = scan_u64,     [TS_DTYPE_uint64] = scan_u64};
    static scan_type *const wider[TS_DTYPE_COUNT] = {
        [TS_DTYPE_bool_] = scan_bool_64, [TS_DTYPE_int8] = scan_i8_64,      [TS_DTYPE_uint8] = scan_u8_64,
        [TS_DTYPE_int16] = scan_i16_64,  [TS_DTYPE_uint16] = scan_u16_64,   [TS_DTYPE_int32] = scan_i32_64,
        [TS_DTYPE_uint32] = scan_u32_64, [TS_DTYPE_int64] = scan_u64,       [TS_DTYPE_uint64] = scan_u64};
    return from == to ? same[from] : to == TS_DTYPE_int64 || to == TS_DTYPE_uint64 ? wider[from] : NULL;
}

ts_status ts__nd_scan_sums(const ts_nd_reduction *r, ts_nd *out, bool *done, ts_error *err)
{
    ts_nd *x = r->x;
    uint32_t axis = (uint32_t)ts_log2(r->axes);
    sums_axes others = {.rank = 0};
    scan_type *scan = scan_of((ts_dtype)x->dtype, (ts_dtype)out->dtype);
    scan_walk w = {ts_nd_shape(x)[axis], ts_nd_strides(x)[axis], ts_nd_strides(out)[axis], 1, 0, 0,
                   r->fold == TS_ND_PROD};
    void *from, *to;
    *done = false;
    if (!scan || (r->fold != TS_ND_SUM && !w.is_prod) || !sums_may(x, out))
        return TS_OK;
    for (uint32_t d = 0; d < x->rank; d++)
        if (d != axis)
            axes_add(&others, ts_nd_shape(x)[d], ts_nd_strides(x)[d], ts_nd_strides(out)[d]);
    TS_TRY(ts_nd_memory(x, false, &from, NULL, err));
    TS_TRY(ts_nd_memory(out, false, &to, NULL, err));
    if (others.rank && others.to[others.rank - 1] == (int64_t)out->item)
        axes_take(&others, &w.n, &w.from_each, &w.to_each);
    const char *row = from;
    char *sums = to;
    do
        scan(&w, row, sums);
    while (axes_next(&others, &row, &sums));
    *done = true;
    return TS_OK;
}
