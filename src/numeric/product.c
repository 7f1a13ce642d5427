/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of vectors and matrices: a fold of products, which are not stored; of float32 and float64 in host memory,
 * where one operand is a vector, loops over the matrix as it lies, which read it once. Small matrices that matrix.c
 * leaves are rows times a matrix, each with the bits that it has alone. Complex numbers that are few, or few of which
 * make each result, are summed in their order.
 *
 *     rows      elements of a row lie side by side: sums of every 16th product (float32: 32nd), joined by halves; so
 *               are a matrix times few vectors that are dense, which reads its rows once, and rows each times its own
 *     columns   rows of results do: four products are added to each at a time, after 512 the sum is put aside
 *     else      sums of every fourth product
 *
 * The loops are compiled for each width of vectors. Their order of sums is the same at every width, for nothing is
 * joined to an fma: it follows from shape and strides.
 */
#include "base/widths.h"
#include "device/device.h"
#include "numeric/numeric.h"

enum {
    PRODUCT_BYTES = 64,       /* of the vectors that loops are written in */
    PRODUCT_ROWS = 4,         /* that are read side by side */
    PRODUCT_COLUMNS = 4096,   /* results that are summed in a row */
    PRODUCT_DEPTH = 512,      /* products of one sum of columns */
    PRODUCT_FEW = 8,          /* columns up to which each is a row with a step */
    PRODUCT_SPREAD = 1 << 19, /* bytes from which on all threads read them, each some rows or columns */
    PRODUCT_MATRICES = 1 << 15, /* multiplications of two matrices that are loops, where matrix.c has none for them */
    PRODUCT_THIN = 4,           /* vectors that are rows times a matrix whose rows are dense, too */
    PRODUCT_LEAST = 1 << 10, PRODUCT_MOST = 1 << 16, /* bytes of such a row: worth its end, stays in a cache */
    PRODUCT_SHALLOW = 8         /* complex products of one result up to which they are loops, however many results */
};

/* out (M) of a (M, K) and x (K), or, of rows that are dense, out (N, M) of N vectors x; steps in elements. x_m steps
 * to the vector of the next row where each has its own. */
typedef struct product_of {
    const void *a, *x;
    void *out;
    int64_t m, k, a_m, a_k, x_k, x_m, out_m; /* out_m is 1 but for rows that are dense */
    int64_t n, x_n, out_n;
    bool by_columns;
} product_of;

#define PRODUCT_UNROLLED(i, n) _Pragma("GCC unroll 4") for (int i = 0; i < (n); i++)
#define PRODUCT_INLINE static inline __attribute__((always_inline))
#define PRODUCT_LOOPS(type)                                                                                         \
    typedef type type##_vector __attribute__((vector_size(PRODUCT_BYTES), aligned(sizeof(type)), may_alias));       \
    /* The sum of a row from element i on, and of the vectors of those before it. */                                \
    PRODUCT_INLINE type type##_row_end(type##_vector even, type##_vector odd, const type *a, const type *x, int64_t i,\
                                       int64_t n)                                                                   \
    {                                                                                                               \
        enum { LANES = PRODUCT_BYTES / sizeof(type) };                                                              \
        if (i + LANES <= n) {                                                                                       \
            even += *(const type##_vector *)(a + i) * *(const type##_vector *)(x + i);                              \
            i += LANES;                                                                                             \
        }                                                                                                           \
        even += odd;                                                                                                \
        for (int half = LANES / 2; half; half /= 2)                                                                 \
            for (int lane = 0; lane < half; lane++)                                                                 \
                even[lane] += even[lane + half];                                                                    \
        type sum = even[0];                                                                                         \
        for (; i < n; i++)                                                                                          \
            sum += a[i] * x[i];                                                                                     \
        return sum;                                                                                                 \
    }                                                                                                               \
    /* So many rows, side by side: several streams of memory are read faster than one. */                           \
    PRODUCT_INLINE void type##_rows(const product_of *p, const type *a, const type *x, int rows, type *out)         \
    {                                                                                                               \
        enum { LANES = PRODUCT_BYTES / sizeof(type) };                                                              \
        type##_vector even[PRODUCT_ROWS] = {{0}}, odd[PRODUCT_ROWS] = {{0}};                                        \
        int64_t i = 0, n = p->k, step = p->a_m;                                                                     \
        for (; i + 2 * LANES <= n; i += 2 * LANES) {                                                                \
            type##_vector x0 = *(const type##_vector *)(x + i), x1 = *(const type##_vector *)(x + i + LANES);       \
            PRODUCT_UNROLLED(r, rows)                                                                               \
            {                                                                                                       \
                even[r] += *(const type##_vector *)(a + r * step + i) * x0;                                         \
                odd[r] += *(const type##_vector *)(a + r * step + i + LANES) * x1;                                  \
            }                                                                                                       \
        }                                                                                                           \
        PRODUCT_UNROLLED(r, rows)                                                                                   \
            out[r * p->out_m] = type##_row_end(even[r], odd[r], a + r * step, x, i, n);                             \
    }                                                                                                               \
    /* Rows and all vectors, which are read again from the first cache. */                                          \
    PRODUCT_INLINE void type##_rows_each(const product_of *p, int64_t row, int rows)                                \
    {                                                                                                               \
        const type *x = (const type *)p->x + row * p->x_m;                                                          \
        for (int64_t v = 0; v < p->n; v++)                                                                          \
            type##_rows(p, (const type *)p->a + row * p->a_m, x + v * p->x_n, rows,                                 \
                        (type *)p->out + v * p->out_n + row * p->out_m);                                            \
    }                                                                                                               \
    PRODUCT_INLINE type type##_steps(const type *a, int64_t a_step, const type *x, int64_t x_step, int64_t n)       \
    {                                                                                                               \
        type sum[4] = {0};                                                                                          \
        int64_t i = 0;                                                                                              \
        for (; i + 4 <= n; i += 4)                                                                                  \
            for (int j = 0; j < 4; j++)                                                                             \
                sum[j] += a[(i + j) * a_step] * x[(i + j) * x_step];                                                \
        for (; i < n; i++)                                                                                          \
            sum[0] += a[i * a_step] * x[i * x_step];                                                                \
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);                                                               \
    }                                                                                                               \
    PRODUCT_INLINE void type##_add_four(type *to, const type *a, int64_t step, const type x[4], int64_t n)          \
    {                                                                                                               \
        enum { LANES = PRODUCT_BYTES / sizeof(type) };                                                              \
        const type *b = a + step, *c = b + step, *d = c + step;                                                     \
        int64_t i = 0;                                                                                              \
        for (; i + LANES <= n; i += LANES)                                                                          \
            *(type##_vector *)(to + i) +=                                                                           \
                (*(const type##_vector *)(a + i) * x[0] + *(const type##_vector *)(b + i) * x[1]) +                 \
                (*(const type##_vector *)(c + i) * x[2] + *(const type##_vector *)(d + i) * x[3]);                  \
        for (; i < n; i++)                                                                                          \
            to[i] += (a[i] * x[0] + b[i] * x[1]) + (c[i] * x[2] + d[i] * x[3]);                                     \
    }                                                                                                               \
    /* n results at `to`, which are zero, of k rows of a. */                                                        \
    PRODUCT_INLINE void type##_add_rows(const product_of *p, type *to, const type *a, const type *x, int64_t n,     \
                                        int64_t k)                                                                  \
    {                                                                                                               \
        int64_t row = 0;                                                                                            \
        for (; row + 4 <= k; row += 4) {                                                                            \
            const type *at = x + row * p->x_k;                                                                      \
            type four[4] = {at[0], at[p->x_k], at[2 * p->x_k], at[3 * p->x_k]};                                     \
            type##_add_four(to, a + row * p->a_k, p->a_k, four, n);                                                 \
        }                                                                                                           \
        for (; row < k; row++)                                                                                      \
            for (int64_t i = 0; i < n; i++)                                                                         \
                to[i] += a[row * p->a_k + i] * x[row * p->x_k];                                                     \
    }                                                                                                               \
    PRODUCT_INLINE void type##_columns(const product_of *p, int64_t column, int64_t n)                              \
    {                                                                                                               \
        const type *a = (const type *)p->a + column, *x = p->x;                                                     \
        type part[PRODUCT_COLUMNS], *out = (type *)p->out + column;                                                 \
        for (int64_t row = 0; row < p->k; row += PRODUCT_DEPTH) {                                                   \
            int64_t rows = TS_MIN(p->k - row, PRODUCT_DEPTH);                                                       \
            type *to = row ? part : out;                                                                            \
            memset(to, 0, (size_t)n * sizeof *to);                                                                  \
            type##_add_rows(p, to, a + row * p->a_k, x + row * p->x_k, n, rows);                                    \
            for (int64_t i = 0; i < n && row; i++)                                                                  \
                out[i] += part[i];                                                                                  \
        }                                                                                                           \
    }                                                                                                               \
    PRODUCT_INLINE void type##_product(const product_of *p)                                                         \
    {                                                                                                               \
        const type *a = p->a;                                                                                       \
        type *out = p->out;                                                                                         \
        bool is_dense = p->a_k == 1 && p->x_k == 1;                                                                 \
        if (p->by_columns) {                                                                                        \
            for (int64_t i = 0; i < p->m; i += PRODUCT_COLUMNS)                                                     \
                type##_columns(p, i, TS_MIN(p->m - i, PRODUCT_COLUMNS));                                            \
            return;                                                                                                 \
        }                                                                                                           \
        int64_t i = 0;                                                                                              \
        for (; i + PRODUCT_ROWS <= p->m && is_dense && !p->x_m; i += PRODUCT_ROWS)                                  \
            type##_rows_each(p, i, PRODUCT_ROWS);                                                                   \
        for (; i < p->m && is_dense; i++)                                                                           \
            type##_rows_each(p, i, 1);                                                                              \
        for (; i < p->m; i++)                                                                                       \
            out[i] = type##_steps(a + i * p->a_m, p->a_k, p->x, p->x_k, p->k);                                      \
    }
PRODUCT_LOOPS(float)
PRODUCT_LOOPS(double)

/* The same of complex numbers. Columns whose parts lie side by side are vectors, turned by a quarter for the imaginary
 * part: x a = re (a.re, a.im) + im (-a.im, a.re). */
#define PRODUCT_COMPLEX(type, ...)                                                                                  \
    PRODUCT_INLINE void type##_add_turned(type *to, const type *a, const type x[2], int64_t n)                      \
    {                                                                                                               \
        enum { LANES = PRODUCT_BYTES / sizeof(type) };                                                              \
        type##_vector turn = {0};                                                                                   \
        int64_t i = 0;                                                                                              \
        for (int lane = 0; lane < LANES; lane++)                                                                    \
            turn[lane] = lane & 1 ? x[1] : -x[1];                                                                   \
        for (; i + LANES <= 2 * n; i += LANES) {                                                                    \
            type##_vector v = *(const type##_vector *)(a + i);                                                      \
            *(type##_vector *)(to + i) += v * x[0] + __builtin_shufflevector(v, v, __VA_ARGS__) * turn;             \
        }                                                                                                           \
        for (; i < 2 * n; i += 2) {                                                                                 \
            to[i] += a[i] * x[0] + a[i + 1] * -x[1];                                                                \
            to[i + 1] += a[i + 1] * x[0] + a[i] * x[1];                                                             \
        }                                                                                                           \
    }                                                                                                               \
    PRODUCT_INLINE void type##_complex(const product_of *p)                                                         \
    {                                                                                                               \
        const type *a = p->a, *x = p->x;                                                                            \
        type *out = p->out;                                                                                         \
        memset(out, 0, (size_t)p->m * 2 * sizeof *out);                                                             \
        for (int64_t at = 0; at < p->m; at += PRODUCT_COLUMNS)                                                      \
            for (int64_t k = 0; k < p->k && p->a_m == 1; k++)                                                       \
                type##_add_turned(out + 2 * at, a + 2 * (at + k * p->a_k), x + 2 * k * p->x_k,                      \
                                  TS_MIN(p->m - at, PRODUCT_COLUMNS));                                              \
        for (int64_t i = 0; i < p->m && p->a_m != 1; i++)                                                           \
            for (int64_t k = 0; k < p->k; k++)                                                                      \
                type##_add_turned(out + 2 * i, a + 2 * (i * p->a_m + k * p->a_k), x + 2 * k * p->x_k, 1);           \
    }
PRODUCT_COMPLEX(float, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
PRODUCT_COMPLEX(double, 1, 0, 3, 2, 5, 4, 7, 6)

#define PRODUCT_WIDTH(name)                                                                                         \
    static void name(const product_of *p, ts_dtype dtype)                                                           \
    {                                                                                                               \
        if (dtype == TS_DTYPE_float32)                                                                              \
            float_product(p);                                                                                       \
        else if (dtype == TS_DTYPE_float64)                                                                         \
            double_product(p);                                                                                      \
        else if (dtype == TS_DTYPE_complex64)                                                                       \
            float_complex(p);                                                                                       \
        else                                                                                                        \
            double_complex(p);                                                                                      \
    }
PRODUCT_WIDTH(product_plain)
#if defined(__x86_64__)
__attribute__((target("avx2"))) PRODUCT_WIDTH(product_avx2)
__attribute__((target("avx512f"))) PRODUCT_WIDTH(product_avx512)
static void product_run(const product_of *p, ts_dtype dtype)
{
    if (ts__vector_bytes() == 64)
        product_avx512(p, dtype);
    else if (ts__vector_bytes() == 32)
        product_avx2(p, dtype);
    else
        product_plain(p, dtype);
}
#else
static void product_run(const product_of *p, ts_dtype dtype)
{
    product_plain(p, dtype);
}
#endif

typedef struct product_spread {
    const product_of *product;
    ts_dtype dtype;
} product_spread;

/* Results begin <= i < end; each has the same bits whoever computes it. */
static void product_part(void *user, int64_t begin, int64_t end)
{
    const product_spread *spread = user;
    int64_t item = (int64_t)ts_dtype_bytes(spread->dtype);
    product_of p = *spread->product;
    p.a = (const char *)p.a + begin * p.a_m * item;
    p.x = (const char *)p.x + begin * p.x_m * item;
    p.out = (char *)p.out + begin * p.out_m * item;
    p.m = end - begin;
    product_run(&p, spread->dtype);
}

static void product_over_threads(ts_device *device, product_of *p, ts_dtype dtype, int64_t item)
{
    product_spread spread = {p, dtype};
    p->by_columns = p->a_m == 1 && (p->a_k != 1 || p->x_k != 1) && p->m > PRODUCT_FEW;
    if (p->m * p->k * item < PRODUCT_SPREAD)
        product_run(p, dtype);
    else
        ts__device_spread(device, product_part, &spread, p->m);
}

/* ---- which products ------------------------------------------------------------------------------ */

/* Extents and steps of a product of a (M, K) and b (K, N); of a vector those that it lacks are 1. */
typedef struct product_shape {
    int64_t m, k, n, a_m, a_k, b_k, b_n;
} product_shape;

static product_shape product_shape_of(const ts_nd *a, const ts_nd *b)
{
    int by = __builtin_ctz(a->item); /* elements are 2^by bytes */
    uint32_t k = a->rank - 1u;
    product_shape s = {1, ts_nd_shape(b)[0], 1, 0, ts_nd_strides(a)[k] >> by, ts_nd_strides(b)[0] >> by, 0};
    if (k)
        s.m = ts_nd_shape(a)[0], s.a_m = ts_nd_strides(a)[0] >> by;
    if (b->rank > 1)
        s.n = ts_nd_shape(b)[1], s.b_n = ts_nd_strides(b)[1] >> by;
    return s;
}

/* Few vectors times a matrix, all dense along K: faster as rows than as tiles, most of whose lanes were idle. */
static bool product_is_thin(const ts_nd *a, product_shape s)
{
    bool is_float = a->dtype == TS_DTYPE_float32 || a->dtype == TS_DTYPE_float64;
    return is_float && s.a_k == 1 && s.b_k == 1 && TS_MIN(s.m, s.n) <= PRODUCT_THIN &&
           s.k * a->item >= PRODUCT_LEAST && s.k * a->item <= PRODUCT_MOST;
}

bool ts__nd_product_is_thin(const ts_nd *a, const ts_nd *b)
{
    return a->count && b->count && product_is_thin(a, product_shape_of(a, b));
}

/* It depends on device, dtype, shape and strides alone, as the order of sums does; *shape is set where it is so. */
static bool product_is_direct(const ts_nd *a, const ts_nd *b, product_shape *shape)
{
    bool is_float = a->dtype == TS_DTYPE_float32 || a->dtype == TS_DTYPE_float64;
    bool is_complex = a->dtype == TS_DTYPE_complex64 || a->dtype == TS_DTYPE_complex128;
    if (!(ts_device_caps_of(a->graph->device) & TS_DEVICE_HOST_MEMORY) || a->graph != b->graph ||
        (!is_float && !is_complex))
        return false;
    product_shape s = *shape = product_shape_of(a, b);
    bool is_small = a->count * s.n <= PRODUCT_MATRICES || product_is_thin(a, s);
    is_small |= is_complex ? s.k <= PRODUCT_SHALLOW && s.m <= PRODUCT_SHALLOW : s.m == 1 || s.n == 1;
    return is_small && a->count && b->count;
}

bool ts_nd_product_is_direct(const ts_nd *a, const ts_nd *b)
{
    return product_is_direct(a, b, &(product_shape){0});
}

/* Loops over a matrix and vectors, into an array that the caller made. */
static ts_status product_loops(ts_nd *matrix, ts_nd *vector, ts_nd *result, product_of *p, int64_t times,
                               ts_error *err)
{
    ts_nd_graph *graph = matrix->graph;
    void *left, *right;
    nd_event event = nd_event_begin(graph);
    ts_status status = ts__nd_memory(matrix, TS_ND_CAUSE_fold, false, &left, NULL, err);
    if (status == TS_OK)
        status = ts__nd_memory(vector, TS_ND_CAUSE_fold, false, &right, NULL, err);
    if (status == TS_OK)
        status = ts__nd_memory(result, TS_ND_CAUSE_fold, false, &p->out, NULL, err);
    if (status == TS_OK) {
        p->a = left, p->x = right;
        for (int64_t i = 0; i < times; i++) {
            product_over_threads(graph->device, p, (ts_dtype)matrix->dtype, matrix->item);
            p->x = (const char *)p->x + p->x_n * matrix->item;
            p->out = (char *)p->out + p->out_n * matrix->item;
        }
    }
    nd_event_end(graph, &event, matrix->count <= graph->small ? TS_ND_EVENT_small : TS_ND_EVENT_NONE, "matmul", 0);
    return status;
}

static ts_status product_direct(ts_nd *a, ts_nd *b, product_shape s, ts_nd **result, ts_error *err)
{
    bool is_thin = product_is_thin(a, s);
    bool is_turned = is_thin ? s.n > s.m : s.n > 1; /* each row of a, x (1, K) @ b: columns of b are the loops' rows */
    ts_nd *matrix = is_turned ? b : a, *vector = is_turned ? a : b;
    product_of p = {.m = s.m, .k = s.k, .a_m = s.a_m, .a_k = s.a_k, .x_k = s.b_k, .out_m = s.n, .n = s.n,
                    .x_n = s.b_n, .out_n = 1};
    if (is_turned)
        p = (product_of){.m = s.n, .k = s.k, .a_m = s.b_n, .a_k = s.b_k, .x_k = s.a_k, .out_m = 1, .n = s.m,
                         .x_n = s.a_m, .out_n = s.n};
    int64_t times = is_thin ? 1 : p.n;
    p.n = is_thin ? p.n : 1;
    int64_t shape[2] = {s.m, s.n};
    uint32_t rank = a->rank + b->rank - 2u, first = a->rank == 1;
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, rank, shape + first, false, result, err));
    return product_loops(matrix, vector, *result, &p, times, err);
}

/* Whether rows of a times those of b are loops: both lie densely. */
static bool product_is_row_by_row(const ts_nd *a, const ts_nd *b, uint32_t axis)
{
    bool is_float = a->dtype == TS_DTYPE_float32 || a->dtype == TS_DTYPE_float64;
    if (!is_float || a->dtype != b->dtype || a->rank != 2 || b->rank != 2 || axis != 1 || !a->count ||
        !ts__nd_is_host(a->graph) || a->meaning || b->meaning)
        return false;
    const int64_t *shape = ts_nd_shape(a), *strides = ts_nd_strides(a), *steps = ts_nd_strides(b);
    return !memcmp(shape, ts_nd_shape(b), 2 * sizeof *shape) && strides[1] == a->item && steps[1] == a->item &&
           !((strides[0] | steps[0]) & (a->item - 1));
}

static ts_status product_row_by_row(ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err)
{
    const int64_t *shape = ts_nd_shape(a);
    product_of p = {.m = shape[0], .k = shape[1], .a_m = ts_nd_strides(a)[0] / a->item, .a_k = 1, .x_k = 1,
                    .x_m = ts_nd_strides(b)[0] / a->item, .out_m = 1, .n = 1};
    TS_TRY(ts_nd_empty(a->graph, (ts_dtype)a->dtype, 1, shape, false, result, err));
    return product_loops(a, b, *result, &p, 1, err);
}

/* The sum along an axis of products, which are not stored where they wait; of narrow floats in float32, rounded once;
 * of truths whether any is true. */
static ts_status product_sum(ts_nd *a, ts_nd *b, ts_dtype dtype, uint32_t axis, ts_nd **result, ts_error *err)
{
    ts_nd *products = NULL, *wide = NULL;
    const ts_dtype_info *info = ts_dtype_get(dtype);
    bool is_narrow = info->kind == 'f' && info->bits < 32;
    ts_dtype loop = is_narrow ? TS_DTYPE_float32 : dtype;
    ts_nd_call multiply = {.fn = TS_ND_multiply, .in = {{.array = a}, {.array = b}}, .order = 'C', .dtype = loop,
                           .loop = loop};
    ts_status status = ts_nd_run(a->graph, &multiply, &products, err);
    ts_nd_reduction sum = {.fold = dtype == TS_DTYPE_bool_ ? TS_ND_ANY : TS_ND_SUM, .x = products,
                           .axes = (uint64_t)1 << axis, .dtype = loop};
    if (status == TS_OK)
        status = ts_nd_reduce(a->graph, &sum, is_narrow ? &wide : result, err);
    ts_nd_call round = {.fn = TS_ND_copy, .in = {{.array = wide}}, .dtype = dtype};
    if (status == TS_OK && is_narrow)
        status = ts_nd_run(a->graph, &round, result, err);
    ts_nd_release(products), ts_nd_release(wide);
    return status;
}

ts_status ts_nd_sum_products(ts_nd *a, ts_nd *b, uint32_t axis, ts_nd **result, ts_error *err)
{
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, b);
    TS_TRY(ts__nd_meet_few(TS_MAX(a->count, b->count), (ts_nd *const[]){a, b}, 2, err));
    ts_dtype dtype = ts_nd_promote((ts_dtype)a->dtype, (ts_dtype)b->dtype);
    if (!dtype || a->graph != b->graph || axis >= TS_MAX(a->rank, b->rank))
        return ts_fail(err, TS_SHAPE, "a sum of products is along axis 0 to %d of arrays of one device",
                       TS_MAX(a->rank, b->rank) - 1);
    nd_inside_begin(a->graph);
    ts_status status = product_is_row_by_row(a, b, axis) ? product_row_by_row(a, b, result, err)
                                                         : product_sum(a, b, dtype, axis, result, err);
    nd_inside_end(a->graph);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
    }
    return status;
}

/* The sum along K of products (M, K, N). */
static ts_status product_fold(ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err)
{
    ts_nd *left = NULL, *right = NULL;
    uint32_t k = a->rank - 1u, rank = k + b->rank; /* of the products: rows of a, K, columns of b */
    int64_t shape[3] = {1, 1, 1}, strides[3] = {0}, other[3] = {1, 1, 1}, steps[3] = {0};
    memcpy(shape, ts_nd_shape(a), a->rank * sizeof *shape);
    memcpy(strides, ts_nd_strides(a), a->rank * sizeof *strides);
    memcpy(other + k, ts_nd_shape(b), b->rank * sizeof *other);
    memcpy(steps + k, ts_nd_strides(b), b->rank * sizeof *steps);
    int64_t small = ts_nd_graph_small(a->graph, 0);
    ts_status status = ts_nd_view(a, 0, (ts_dtype)a->dtype, rank, shape, strides, 0, &left, err);
    if (status == TS_OK)
        status = ts_nd_view(b, 0, (ts_dtype)b->dtype, rank, other, steps, 0, &right, err);
    a->graph->may_wait = true;
    if (status == TS_OK)
        status = product_sum(left, right, (ts_dtype)a->dtype, k, result, err);
    a->graph->may_wait = false;
    (void)ts_nd_graph_small(a->graph, small);
    void *data;
    if (status == TS_OK && (a->store->lasting || b->store->lasting))
        status = ts__nd_memory(*result, TS_ND_CAUSE_fold, false, &data, NULL, err);
    ts_nd_release(left), ts_nd_release(right);
    return status;
}

static ts_status product_of_matrices(ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err)
{
    ts_nd_matrices job;
    TS_TRY(ts_nd_matrices_begin(a, b, &job, err));
    nd_event event = nd_event_begin(a->graph);
    ts_status status = ts_nd_matrices_run(&job, err);
    nd_event_end(a->graph, &event, TS_ND_EVENT_NONE, "matmul", 0);
    ts_nd_matrices_end(&job, status == TS_OK ? result : NULL);
    return status;
}

ts_status ts_nd_product_meet(ts_nd *a, ts_nd *b, ts_error *err)
{
    TS_NEED(err, a, b);
    nd_meeting meeting = {.graph = a->graph, .count = TS_MAX(a->count, b->count), .costs = ND_COSTS_LAUNCH};
    if (!nd_may_meet(a->graph))
        return TS_OK;
    double products = (double)a->count * (double)(b->rank == 2 ? ts_nd_shape(b)[1] : 1);
    if (a->rank == 2 && b->rank == 2) /* few of them are as fast as sixteenth as many functions */
        meeting.count = products > PRODUCT_MATRICES ? (int64_t)TS_MIN(products, 1e18) : (int64_t)products / 16;
    if (a->rank == 1 && b->rank == 1)
        meeting.costs = ND_COSTS_RESULT;
    return ts__nd_meet(&meeting, (ts_nd *const[]){a, b}, 2, err);
}

ts_status ts_nd_product(ts_nd *a, ts_nd *b, ts_nd **result, ts_error *err)
{
    TS_NEED(err, result);
    *result = NULL;
    TS_NEED(err, a, b);
    TS_TRY(ts_nd_product_meet(a, b, err));
    if (!a->rank || a->rank > 2 || !b->rank || b->rank > 2 || ts_nd_shape(a)[a->rank - 1] != ts_nd_shape(b)[0] ||
        a->dtype != b->dtype)
        return ts_fail(err, TS_SHAPE, "a product is of matrices (M, K) and (K, N) or vectors (K) of one dtype");
    product_shape shape;
    if (ts_nd_matrices_are(a, b))
        return product_of_matrices(a, b, result, err);
    bool is_direct = product_is_direct(a, b, &shape);
    nd_inside_begin(a->graph);
    ts_status status = is_direct ? product_direct(a, b, shape, result, err) : product_fold(a, b, result, err);
    nd_inside_end(a->graph);
    if (status != TS_OK) {
        ts_nd_release(*result);
        *result = NULL;
    }
    return status;
}
