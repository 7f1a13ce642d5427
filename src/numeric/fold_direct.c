/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions whose order cannot be seen, of rows of host memory, by the thread that asks: the greatest and the least,
 * where they are, whether all or any are true, sums of whole numbers. A kernel takes 3 us to begin, goes through all
 * elements, and carries the place of each.
 *
 *     block of FOLD_BLOCK elements -> its greatest one, by vectors
 *     greater than those before?   -> this block is remembered; the place is looked for in the last one remembered
 *     first NaN, first that decides any or all -> the end
 *
 * Values are those of kernels: of zeros the positive one is greater, and NaN is the one without a sign. Floats are
 * compared by their bits, or by the instructions for it where there are any.
 */
#include "base/widths.h"
#include "numeric/numeric.h"
#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    FOLD_BLOCK = 2048,      /* elements */
    FOLD_BLOCKS = 16,       /* that are one where nobody asks for the place */
    FOLD_LOOK = 64,         /* that are looked at together for one */
    FOLD_SHORT = 64,        /* bytes of a row that are worth it */
    FOLD_BYTES = 1 << 22,   /* that one thread reads as fast as some */
    FOLD_NEAR = 1 << 21,    /* that are read from caches, so that rows need not wait for what is computed of them */
    FOLD_FEW_THREADS = 2    /* more of them read longer arrays faster */
};

/* A row's result: an element, or a place. */
typedef union fold_number {
    char bytes[16];
    int64_t place;
    uint64_t sum;
} fold_number;

#define FOLD_INLINE static inline __attribute__((always_inline))

/* Whole numbers: x is better than y, and the best of a block. */
#define FOLD_OF_INTEGERS(type)                                                                                      \
    FOLD_INLINE type type##_best(const type *x, int64_t n, bool least, bool *stop)                                  \
    {                                                                                                               \
        type best = x[0];                                                                                           \
        *stop = false;                                                                                              \
        if (least)                                                                                                  \
            for (int64_t i = 1; i < n; i++)                                                                         \
                best = x[i] < best ? x[i] : best;                                                                   \
        else                                                                                                        \
            for (int64_t i = 1; i < n; i++)                                                                         \
                best = x[i] > best ? x[i] : best;                                                                   \
        return best;                                                                                                \
    }                                                                                                               \
    FOLD_INLINE type type##_found(const type *x, int64_t n, type best, bool least, bool stop)                       \
    {                                                                                                               \
        (void)x, (void)n, (void)least, (void)stop;                                                                  \
        return best;                                                                                                \
    }

/* The sum of whole numbers, which wraps: blocks of narrow ones in numbers of 32 bits. */
#define FOLD_SUM_OF(type, near)                                                                                     \
    FOLD_INLINE void type##_sum(const void *data, int64_t n, fold_number *result)                                   \
    {                                                                                                               \
        const type *x = data;                                                                                       \
        result->sum = 0;                                                                                            \
        for (int64_t begin = 0; begin < n; begin += FOLD_BLOCK) {                                                   \
            near sum = 0;                                                                                           \
            for (int64_t i = begin; i < TS_MIN(begin + FOLD_BLOCK, n); i++)                                         \
                sum += (near)x[i];                                                                                  \
            result->sum += (uint64_t)sum;                                                                           \
        }                                                                                                           \
    }

/* Floats by their bits, whose order is theirs once those of negative ones are flipped: compilers make vectors of that.
 * The best one of a block; *stop: it has NaN. The best of all as kernels give it. */
#define FOLD_OF_FLOATS(type, bits, infinity)                                                                        \
    FOLD_INLINE type type##_best(const type *x, int64_t n, bool least, bool *stop)                                  \
    {                                                                                                               \
        const int##bits##_t most = INT##bits##_MAX;                                                                 \
        int##bits##_t best = least ? most : -most - 1, greatest = 0, word;                                          \
        type found;                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            memcpy(&word, x + i, sizeof word);                                                                      \
            int##bits##_t magnitude = word & most, key = word ^ (word >> (bits - 1) & most);                        \
            greatest = magnitude > greatest ? magnitude : greatest;                                                 \
            if (least)                                                                                              \
                best = key < best ? key : best;                                                                     \
            else                                                                                                    \
                best = key > best ? key : best;                                                                     \
        }                                                                                                           \
        best ^= best >> (bits - 1) & most;                                                                          \
        memcpy(&found, &best, sizeof best);                                                                         \
        *stop = greatest > infinity;                                                                                \
        return found;                                                                                               \
    }                                                                                                               \
    FOLD_INLINE type type##_found(const type *x, int64_t n, type best, bool least, bool stop)                       \
    {                                                                                                               \
        bool other = false;                                                                                         \
        if (stop)                                                                                                   \
            return (type)NAN;                                                                                       \
        if (best != 0)                                                                                              \
            return best;                                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            uint##bits##_t word;                                                                                    \
            memcpy(&word, x + i, sizeof word);                                                                      \
            other |= word == (least ? (uint##bits##_t)1 << (bits - 1) : 0);                                         \
        }                                                                                                           \
        return (type)(least == other ? -0.0 : 0.0);                                                                 \
    }

/* One row of a type, whose blocks the functions above know. */
#define FOLD_OF(type)                                                                                               \
    FOLD_INLINE bool type##_any(const type *x, int64_t n, bool zero, int64_t *place)                                \
    {                                                                                                               \
        for (int64_t begin = 0, end; begin < n; begin = end) {                                                      \
            end = TS_MIN(begin ? begin + FOLD_BLOCK : FOLD_LOOK, n);                                                \
            int some = 0;                                                                                           \
            for (int64_t i = begin; i < end; i++)                                                                   \
                some |= zero ? x[i] == 0 : x[i] != 0;                                                               \
            for (*place = begin; some && *place < end; ++*place)                                                    \
                if (zero ? x[*place] == 0 : x[*place] != 0)                                                         \
                    return true;                                                                                    \
        }                                                                                                           \
        *place = 0;                                                                                                 \
        return false;                                                                                               \
    }                                                                                                               \
    FOLD_INLINE int64_t type##_place(const type *x, int64_t n, type wanted, bool nan)                               \
    {                                                                                                               \
        int64_t i = 0;                                                                                              \
        for (int some = 0; i + FOLD_LOOK <= n; i += FOLD_LOOK) {                                                    \
            for (int64_t k = 0; k < FOLD_LOOK; k++)                                                                 \
                some |= nan ? x[i + k] != x[i + k] : x[i + k] == wanted;                                            \
            if (some)                                                                                               \
                break;                                                                                              \
        }                                                                                                           \
        while (nan ? x[i] == x[i] : x[i] != wanted)                                                                 \
            i++;                                                                                                    \
        return i;                                                                                                   \
    }                                                                                                               \
    FOLD_INLINE void type##_row(const void *data, int64_t n, ts_nd_fold fold, fold_number *result,                  \
                                type (*best_of)(const type *, int64_t, bool, bool *))                               \
    {                                                                                                               \
        const type *x = data;                                                                                       \
        bool least = fold == TS_ND_MIN || fold == TS_ND_ARGMIN, stop = false;                                       \
        int64_t place;                                                                                              \
        if (fold == TS_ND_ANY || fold == TS_ND_ALL) {                                                               \
            result->bytes[0] = type##_any(x, n, fold == TS_ND_ALL, &place) == (fold == TS_ND_ANY);                  \
            return;                                                                                                 \
        }                                                                                                           \
        type best = x[0];                                                                                           \
        int64_t block = 0;                                                                                          \
        int64_t most = fold == TS_ND_MAX || fold == TS_ND_MIN ? FOLD_BLOCK * FOLD_BLOCKS : FOLD_BLOCK;              \
        for (int64_t begin = 0; begin < n && !stop; begin += most) {                                                \
            int64_t many = TS_MIN(most, n - begin);                                                                 \
            type here = least ? best_of(x + begin, many, true, &stop) : best_of(x + begin, many, false, &stop);     \
            if (stop || (least ? here < best : here > best))                                                        \
                block = begin, best = here;                                                                         \
        }                                                                                                           \
        if (fold == TS_ND_MAX || fold == TS_ND_MIN) {                                                               \
            best = type##_found(x, n, best, least, stop);                                                           \
            memcpy(result->bytes, &best, sizeof best);                                                              \
            return;                                                                                                 \
        }                                                                                                           \
        result->place = block + type##_place(x + block, n - block, best, stop);                                     \
    }

FOLD_OF_INTEGERS(int8_t)
FOLD_OF_INTEGERS(uint8_t)
FOLD_OF_INTEGERS(int16_t)
FOLD_OF_INTEGERS(uint16_t)
FOLD_OF_INTEGERS(int32_t)
FOLD_OF_INTEGERS(uint32_t)
FOLD_OF_INTEGERS(int64_t)
FOLD_OF_INTEGERS(uint64_t)
FOLD_SUM_OF(int8_t, int32_t)
FOLD_SUM_OF(uint8_t, uint32_t)
FOLD_SUM_OF(int16_t, int32_t)
FOLD_SUM_OF(uint16_t, uint32_t)
FOLD_SUM_OF(int32_t, int64_t)
FOLD_SUM_OF(uint32_t, uint64_t)
FOLD_SUM_OF(uint64_t, uint64_t)
FOLD_OF_FLOATS(float, 32, 0x7F800000)
FOLD_OF_FLOATS(double, 64, 0x7FF0000000000000)
FOLD_OF(int8_t)
FOLD_OF(uint8_t)
FOLD_OF(int16_t)
FOLD_OF(uint16_t)
FOLD_OF(int32_t)
FOLD_OF(uint32_t)
FOLD_OF(int64_t)
FOLD_OF(uint64_t)
FOLD_OF(float)
FOLD_OF(double)

/* The first byte that is 0, or is not; false: there is none. */
FOLD_INLINE bool fold_first_byte(const uint8_t *x, int64_t n, bool zero, int64_t *place)
{
    const uint8_t *found = zero ? memchr(x, 0, (size_t)n) : NULL;
    int64_t i = 0;
    *place = found ? found - x : 0;
    if (zero)
        return found != NULL;
    for (uint64_t words[FOLD_LOOK / 8], some = 0; i + FOLD_LOOK <= n; i += FOLD_LOOK) {
        memcpy(words, x + i, sizeof words);
        for (int k = 0; k < FOLD_LOOK / 8; k++)
            some |= words[k];
        if (some)
            break;
    }
    while (i < n && !x[i])
        i++;
    *place = i < n ? i : 0;
    return i < n;
}

/* Truths are bytes, all but 0 alike: the greatest is whether any is, and its place is the first one's. */
FOLD_INLINE void fold_truths(const void *data, int64_t n, ts_nd_fold fold, fold_number *result)
{
    const uint8_t *x = data;
    bool zero = fold == TS_ND_MIN || fold == TS_ND_ARGMIN || fold == TS_ND_ALL;
    int64_t place;
    if (fold == TS_ND_SUM) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += x[i] != 0;
        result->sum = sum;
        return;
    }
    bool some = fold_first_byte(x, n, zero, &place);
    if (fold == TS_ND_ARGMAX || fold == TS_ND_ARGMIN)
        result->place = place;
    else
        result->bytes[0] = some != zero;
}

/* Complex numbers are compared by their real parts, of equal ones by the others; the first with NaN in a part wins. */
#define FOLD_OF_COMPLEX(part)                                                                                       \
    /* Whether any of FOLD_LOOK pairs is as good by its real part, or NaN. */                                       \
    FOLD_INLINE bool part##_may_be(const part *x, part re, bool least)                                              \
    {                                                                                                               \
        int some = 0;                                                                                               \
        for (int64_t k = 0; k < FOLD_LOOK; k++) {                                                                   \
            some |= least ? !(x[2 * k] > re) : !(x[2 * k] < re);                                                    \
            some |= x[2 * k + 1] != x[2 * k + 1];                                                                   \
        }                                                                                                           \
        return some;                                                                                                \
    }                                                                                                               \
    FOLD_INLINE bool part##_has_none(const part *x)                                                                 \
    {                                                                                                               \
        int some = 0;                                                                                               \
        for (int64_t k = 0; k < FOLD_LOOK; k++)                                                                     \
            some |= (x[2 * k] == 0) & (x[2 * k + 1] == 0);                                                          \
        return some;                                                                                                \
    }                                                                                                               \
    FOLD_INLINE int64_t part##_best_pair(const part *x, int64_t n, bool least)                                      \
    {                                                                                                               \
        int64_t best = 0;                                                                                           \
        part re = x[0], im = x[1];                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            while (i + FOLD_LOOK <= n && !part##_may_be(x + 2 * i, re, least))                                      \
                i += FOLD_LOOK;                                                                                     \
            if (i == n)                                                                                             \
                break;                                                                                              \
            part a = x[2 * i], b = x[2 * i + 1];                                                                    \
            if (a != a || b != b)                                                                                   \
                return i;                                                                                           \
            if (least ? a < re || (a == re && b < im) : a > re || (a == re && b > im))                              \
                best = i, re = a, im = b;                                                                           \
        }                                                                                                           \
        return best;                                                                                                \
    }                                                                                                               \
    FOLD_INLINE void part##_pairs(const void *data, int64_t n, ts_nd_fold fold, fold_number *result)                \
    {                                                                                                               \
        const part *x = data;                                                                                       \
        int64_t place = 0;                                                                                          \
        if (fold == TS_ND_ANY)                                                                                      \
            result->bytes[0] = part##_any(x, 2 * n, false, &place);                                                 \
        else if (fold == TS_ND_ALL) {                                                                               \
            while (place + FOLD_LOOK <= n && !part##_has_none(x + 2 * place))                                       \
                place += FOLD_LOOK;                                                                                 \
            while (place < n && (x[2 * place] != 0 || x[2 * place + 1] != 0))                                       \
                place++;                                                                                            \
            result->bytes[0] = place == n;                                                                          \
        } else {                                                                                                    \
            place = part##_best_pair(x, n, fold == TS_ND_MIN || fold == TS_ND_ARGMIN);                              \
            if (fold == TS_ND_MAX || fold == TS_ND_MIN)                                                             \
                memcpy(result->bytes, x + 2 * place, 2 * sizeof *x);                                                \
            else                                                                                                    \
                result->place = place;                                                                              \
        }                                                                                                           \
    }
FOLD_OF_COMPLEX(float)
FOLD_OF_COMPLEX(double)

FOLD_INLINE void fold_sum(const void *x, int64_t n, ts_dtype dtype, fold_number *result)
{
    switch (dtype) {
    case TS_DTYPE_bool_: fold_truths(x, n, TS_ND_SUM, result); break;
    case TS_DTYPE_int8: int8_t_sum(x, n, result); break;
    case TS_DTYPE_uint8: uint8_t_sum(x, n, result); break;
    case TS_DTYPE_int16: int16_t_sum(x, n, result); break;
    case TS_DTYPE_uint16: uint16_t_sum(x, n, result); break;
    case TS_DTYPE_int32: int32_t_sum(x, n, result); break;
    case TS_DTYPE_uint32: uint32_t_sum(x, n, result); break;
    default: uint64_t_sum(x, n, result);
    }
}

#define FOLD_WIDTH(name, floats, doubles)                                                                           \
    static void name(const void *x, int64_t n, ts_nd_fold fold, ts_dtype dtype, fold_number *result)                \
    {                                                                                                               \
        bool is_any = fold == TS_ND_ANY || fold == TS_ND_ALL;                                                       \
        if (fold == TS_ND_SUM) {                                                                                    \
            fold_sum(x, n, dtype, result);                                                                          \
            return;                                                                                                 \
        }                                                                                                           \
        if (is_any && (dtype == TS_DTYPE_int8 || dtype == TS_DTYPE_uint8))                                          \
            dtype = TS_DTYPE_bool_;                                                                                 \
        switch (dtype) {                                                                                            \
        case TS_DTYPE_bool_: fold_truths(x, n, fold, result); break;                                                \
        case TS_DTYPE_int8: int8_t_row(x, n, fold, result, int8_t_best); break;                                     \
        case TS_DTYPE_uint8: uint8_t_row(x, n, fold, result, uint8_t_best); break;                                  \
        case TS_DTYPE_int16: int16_t_row(x, n, fold, result, int16_t_best); break;                                  \
        case TS_DTYPE_uint16: uint16_t_row(x, n, fold, result, uint16_t_best); break;                               \
        case TS_DTYPE_int32: int32_t_row(x, n, fold, result, int32_t_best); break;                                  \
        case TS_DTYPE_uint32: uint32_t_row(x, n, fold, result, uint32_t_best); break;                               \
        case TS_DTYPE_int64: int64_t_row(x, n, fold, result, int64_t_best); break;                                  \
        case TS_DTYPE_uint64: uint64_t_row(x, n, fold, result, uint64_t_best); break;                               \
        case TS_DTYPE_float32: float_row(x, n, fold, result, floats); break;                                        \
        case TS_DTYPE_complex64: float_pairs(x, n, fold, result); break;                                            \
        case TS_DTYPE_complex128: double_pairs(x, n, fold, result); break;                                          \
        default: double_row(x, n, fold, result, doubles);                                                           \
        }                                                                                                           \
    }
FOLD_WIDTH(fold_plain, float_best, double_best)
#if defined(__x86_64__)
#define FOLD_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))

/* The best of a block of floats in the instructions that compare them: four vectors at a time, two looked at together
 * for NaN. */
#define FOLD_OF_VECTORS(type, suffix, mask, lanes)                                                                  \
    FOLD_AVX512 FOLD_INLINE type type##_best_avx512(const type *x, int64_t n, bool least, bool *stop)               \
    {                                                                                                               \
        if (n < 4 * lanes)                                                                                          \
            return type##_best(x, n, least, stop);                                                                  \
        __m512##mask best[4];                                                                                       \
        unsigned nan = 0;                                                                                           \
        for (int k = 0; k < 4; k++)                                                                                 \
            best[k] = _mm512_loadu_##suffix(x);                                                                     \
        for (int64_t i = 0; i < n; i += 4 * lanes) {                                                                \
            i = TS_MIN(i, n - 4 * lanes);                                                                           \
            __m512##mask v[4];                                                                                      \
            for (int k = 0; k < 4; k++) {                                                                           \
                v[k] = _mm512_loadu_##suffix(x + i + k * lanes);                                                    \
                best[k] = least ? _mm512_min_##suffix(best[k], v[k]) : _mm512_max_##suffix(best[k], v[k]);          \
            }                                                                                                       \
            nan |= (unsigned)_mm512_cmp_##suffix##_mask(v[0], v[1], _CMP_UNORD_Q);                                  \
            nan |= (unsigned)_mm512_cmp_##suffix##_mask(v[2], v[3], _CMP_UNORD_Q);                                  \
        }                                                                                                           \
        for (int k = 1; k < 4; k++)                                                                                 \
            best[0] = least ? _mm512_min_##suffix(best[0], best[k]) : _mm512_max_##suffix(best[0], best[k]);        \
        *stop = nan != 0;                                                                                           \
        return least ? _mm512_reduce_min_##suffix(best[0]) : _mm512_reduce_max_##suffix(best[0]);                   \
    }
FOLD_OF_VECTORS(float, ps, , 16)
FOLD_OF_VECTORS(double, pd, d, 8)
__attribute__((target("avx2"))) FOLD_WIDTH(fold_avx2, float_best, double_best)
FOLD_AVX512 FOLD_WIDTH(fold_avx512, float_best_avx512, double_best_avx512)
#endif

typedef void fold_rows_of(const void *x, int64_t n, ts_nd_fold fold, ts_dtype dtype, fold_number *result);

static fold_rows_of *fold_widest(void)
{
#if defined(__x86_64__)
    if (ts__vector_bytes() == 64)
        return fold_avx512;
    if (ts__vector_bytes() == 32)
        return fold_avx2;
#endif
    return fold_plain;
}

/* Whether the order cannot be seen, and results have the dtype that the loops give. */
static bool fold_has_loop(const ts_nd_reduction *r, char kind, const ts_nd *out)
{
    bool is_whole = kind == 'i' || kind == 'u' || kind == 'b', is_same = !r->dtype || r->dtype == r->x->dtype;
    switch (r->fold) {
    case TS_ND_SUM: return is_whole && strchr("iu", nd_kind((ts_dtype)out->dtype));
    case TS_ND_ANY: case TS_ND_ALL: return true;
    case TS_ND_MAX: case TS_ND_MIN: case TS_ND_ARGMAX: case TS_ND_ARGMIN: return is_same;
    default: return false;
    }
}

/* The first of the last axes, which are those that are folded and lie one behind the other; the rank: there is none. */
static uint32_t fold_first_axis(const ts_nd_reduction *r)
{
    uint32_t first = r->x->rank;
    while (first && r->axes >> (first - 1) & 1)
        first--;
    for (uint32_t d = 0; d < first; d++)
        if (r->axes >> d & 1)
            return r->x->rank;
    return nd_is_dense(r->x, first) ? first : r->x->rank;
}

/* Whether one thread is fast enough for so many bytes. */
static bool fold_is_short(const ts_nd *x)
{
    ts_device_info info;
    ts_error err;
    return x->count * x->item <= FOLD_BYTES || (ts_device_query(x->graph->device, &info, &err) == TS_OK &&
                                                info.units <= FOLD_FEW_THREADS);
}

static bool fold_may(const ts_nd_reduction *r, const ts_nd *out)
{
    const ts_nd *x = r->x;
    const ts_dtype_info *info = ts_dtype_get((ts_dtype)x->dtype);
    bool is_number = (info->kind == 'f' && info->bits >= 32) || info->kind == 'b' || info->part ||
                     ((info->kind == 'i' || info->kind == 'u') && info->bits >= 8);
    return is_number && x->count && !r->where && !x->meaning && nd_is_there(x) && fold_has_loop(r, info->kind, out);
}

ts_status ts__nd_fold_direct(const ts_nd_reduction *r, ts_nd *out, bool is_row, bool *done, ts_error *err)
{
    ts_nd *x = r->x;
    void *from, *to;
    bool is_complex = nd_kind((ts_dtype)x->dtype) == 'c';
    *done = false;
    if (!fold_may(r, out) || (is_row && !is_complex && x->count * x->item > FOLD_NEAR))
        return TS_OK;
    uint32_t first = fold_first_axis(r);
    int64_t n = 1, at[TS_ND_RANK] = {0};
    for (uint32_t d = first; d < x->rank; d++)
        n *= ts_nd_shape(x)[d];
    if (first == x->rank || n * x->item < FOLD_SHORT || !fold_is_short(x))
        return TS_OK;
    TS_TRY(ts_nd_memory(x, false, &from, NULL, err));
    TS_TRY(ts_nd_memory(out, false, &to, NULL, err));
    fold_rows_of *fold = fold_widest();
    const char *row = from;
    for (int64_t i = 0; i < out->count; i++) {
        fold_number result;
        fold(row, n, r->fold, (ts_dtype)x->dtype, &result);
        memcpy((char *)to + i * out->item, result.bytes, out->item);
        for (uint32_t d = first; d-- > 0;) {
            row += ts_nd_strides(x)[d];
            if (++at[d] < ts_nd_shape(x)[d])
                break;
            row -= at[d] * ts_nd_strides(x)[d];
            at[d] = 0;
        }
    }
    *done = true;
    return TS_OK;
}
