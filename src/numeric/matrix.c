/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two matrices of float32 and float64 in host memory, as loops for the vectors of x86 processors with fma.
 * Each element is the sum of its products with k ascending, joined by fma, from +0 on: the bits that the library's
 * kernel of tiles gives (target/llvm/mma.c), whatever the width of vectors, the pieces and the threads.
 *
 *     block     what one thread makes of the result
 *     piece     MATRIX_DEPTH of k and MATRIX_COLUMNS of b, packed in panels: [n / (3 vectors)][k][3 vectors]
 *     strip     MATRIX_ROWS rows of a, read where they are if rows are dense, else packed: [m / ROWS][k][ROWS]
 *     tile      ROWS rows and three vectors of the result, in registers while k runs through the piece
 *
 * A panel is read by all rows of a strip before the next one; both stay in the second cache. K. Goto, R. van de Geijn,
 * Anatomy of high-performance matrix multiplication, 2008.
 */
#include "numeric/numeric.h"
#include "runtime/entry.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
    MATRIX_VECTORS = 3,   /* of a tile */
    MATRIX_FEW = 4,       /* panels up to which columns of a are read where they are */
    MATRIX_DEPTH = 512, MATRIX_COLUMNS = 480, MATRIX_ROWS = 96, /* float64: half as many columns */
    MATRIX_SCRATCH = (MATRIX_DEPTH * MATRIX_COLUMNS + 2 * MATRIX_DEPTH * MATRIX_ROWS) * 4,
    MATRIX_BLOCK = 1 << 20, /* multiplications that are worth a thread */
    MATRIX_UNIT = 48,       /* rows and columns that blocks begin at multiples of */
    MATRIX_BLOCKS = 1 << 12 /* along an axis */
};

/* c (M, N), row-major, = a (M, K) @ b (K, N); steps in elements. */
typedef struct matrix_of {
    const void *a, *b;
    void *c;
    int64_t m, k, n, a_m, a_k, b_k, b_n, c_m;
    bool is_wide; /* float64 */
} matrix_of;

/* A strip times a piece. Row r of a begins at the multiple of a tile's rows below it times `a_row`, and a_m for each
 * further row: the same where rows are not packed. */
typedef struct matrix_step {
    const void *a, *b;
    void *c;
    int64_t m, k, n, a_row, a_m, a_k, c_m;
    bool begins, packs; /* at k = 0; a */
} matrix_step;

#define MATRIX_INLINE static inline __attribute__((always_inline))
#define MATRIX_UNROLLED(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)

/* Exchanges elements of x and y: x gets those of the list, counted through both, y the others. */
#define MATRIX_SWAP(vector, x, y, a, b, c, d, e, f, g, h)                                                           \
    do {                                                                                                            \
        enum { STEP = (b) == 8 ? 1 : (c) == 8 ? 2 : 4 };                                                            \
        vector first = __builtin_shufflevector(x, y, a, b, c, d, e, f, g, h);                                       \
        y = __builtin_shufflevector(x, y, (a) + STEP, (b) + STEP, (c) + STEP, (d) + STEP, (e) + STEP, (f) + STEP,   \
                                    (g) + STEP, (h) + STEP);                                                        \
        x = first;                                                                                                  \
    } while (0)

/* name: also the type of vectors; some: the first n elements of a vector, others are zero; put: their way back. */
#define MATRIX_LOOPS(type, name, LANES, ROWS, target, fma, splat, some, put)                                        \
    typedef type name __attribute__((vector_size(LANES * sizeof(type)), aligned(sizeof(type)), may_alias));         \
    typedef type name##_in __attribute__((vector_size(LANES * sizeof(type)))); /* in registers */                   \
    /* Rows from `row` on of columns from `col` on, the last `left` of them in the last vector. */                  \
    target MATRIX_INLINE void name##_tile(const matrix_step *s, int64_t row, int64_t col, const int rows,           \
                                          const int vectors)                                                        \
    {                                                                                                               \
        const type *a = (const type *)s->a + row / ROWS * ROWS * s->a_row + row % ROWS * s->a_m;                    \
        const type *b = (const type *)s->b + col * s->k;                                                            \
        type *c = (type *)s->c + row * s->c_m + col;                                                                \
        int64_t left = TS_MIN(s->n - col - (vectors - 1) * LANES, LANES);                                           \
        name##_in sum[ROWS][MATRIX_VECTORS], x[MATRIX_VECTORS];                                                     \
        MATRIX_UNROLLED(r, rows)                                                                                    \
            MATRIX_UNROLLED(j, vectors)                                                                             \
                sum[r][j] = (name##_in){0};                                                                         \
        if (!s->begins)                                                                                             \
            MATRIX_UNROLLED(r, rows) {                                                                              \
                MATRIX_UNROLLED(j, vectors - 1)                                                                     \
                    sum[r][j] = *(name *)(c + r * s->c_m + j * LANES);                                              \
                sum[r][vectors - 1] = some(c + r * s->c_m + (vectors - 1) * LANES, left);                           \
            }                                                                                                       \
        for (int64_t k = 0; k < s->k; k++, a += s->a_k, b += MATRIX_VECTORS * LANES) {                              \
            MATRIX_UNROLLED(j, vectors)                                                                             \
                x[j] = *(const name *)(b + j * LANES);                                                              \
            MATRIX_UNROLLED(r, rows) {                                                                              \
                name##_in each = splat(a[r * s->a_m]);                                                              \
                MATRIX_UNROLLED(j, vectors)                                                                         \
                    sum[r][j] = fma(each, x[j], sum[r][j]);                                                         \
            }                                                                                                       \
        }                                                                                                           \
        MATRIX_UNROLLED(r, rows) {                                                                                  \
            MATRIX_UNROLLED(j, vectors - 1)                                                                         \
                *(name *)(c + r * s->c_m + j * LANES) = sum[r][j];                                                  \
            put(c + r * s->c_m + (vectors - 1) * LANES, left, sum[r][vectors - 1]);                                 \
        }                                                                                                           \
    }                                                                                                               \
    target MATRIX_INLINE void name##_panel(const matrix_step *s, int64_t col, const int vectors)                    \
    {                                                                                                               \
        int64_t row = 0;                                                                                            \
        for (; row + ROWS <= s->m; row += ROWS)                                                                     \
            name##_tile(s, row, col, ROWS, vectors);                                                                \
        if (ROWS > 4 && row + 4 <= s->m) {                                                                          \
            name##_tile(s, row, col, 4, vectors);                                                                   \
            row += 4;                                                                                               \
        }                                                                                                           \
        for (; row + 2 <= s->m; row += 2)                                                                           \
            name##_tile(s, row, col, 2, vectors);                                                                   \
        if (row < s->m)                                                                                             \
            name##_tile(s, row, col, 1, vectors);                                                                   \
    }                                                                                                               \
    target static void name##_strip(const matrix_step *s)                                                           \
    {                                                                                                               \
        for (int64_t col = 0; col < s->n; col += MATRIX_VECTORS * LANES)                                            \
            if (s->n - col > 2 * LANES)                                                                             \
                name##_panel(s, col, 3);                                                                            \
            else if (s->n - col > LANES)                                                                            \
                name##_panel(s, col, 2);                                                                            \
            else                                                                                                    \
                name##_panel(s, col, 1);                                                                            \
    }                                                                                                               \
    typedef type name##_eight __attribute__((vector_size(8 * sizeof(type)), aligned(sizeof(type)), may_alias));     \
    typedef type name##_eight_in __attribute__((vector_size(8 * sizeof(type))));                                    \
    /* 8 x 8 elements, rows b_n apart, as columns. */                                                               \
    target MATRIX_INLINE void name##_turn(const type *from, int64_t step, type *to, int64_t to_step)                \
    {                                                                                                               \
        name##_eight_in x[8];                                                                                       \
        MATRIX_UNROLLED(i, 8)                                                                                       \
            x[i] = *(const name##_eight *)(from + i * step);                                                        \
        MATRIX_UNROLLED(i, 4)                                                                                       \
            MATRIX_SWAP(name##_eight_in, x[2 * i], x[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);                        \
        MATRIX_UNROLLED(i, 4)                                                                                       \
            MATRIX_SWAP(name##_eight_in, x[i + i / 2 * 2], x[i + i / 2 * 2 + 2], 0, 1, 8, 9, 4, 5, 12, 13);         \
        MATRIX_UNROLLED(i, 4)                                                                                       \
            MATRIX_SWAP(name##_eight_in, x[i], x[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);                                 \
        MATRIX_UNROLLED(i, 8)                                                                                       \
            *(name##_eight *)(to + i * to_step) = x[i];                                                             \
    }                                                                                                               \
    /* A panel of k rows, of which the first `left` columns are there. */                                           \
    target MATRIX_INLINE void name##_pack_rows(const matrix_of *p, const type *b, int64_t k, int64_t left, type *to)\
    {                                                                                                               \
        enum { WIDE = MATRIX_VECTORS * LANES };                                                                     \
        for (int64_t row = 0; row < k; row++)                                                                       \
            for (int64_t j = 0; j < WIDE; j += LANES)                                                               \
                *(name *)(to + row * WIDE + j) = j + LANES <= left                                                  \
                                                     ? *(const name *)(b + row * p->b_k + j)                        \
                                                     : (name)some(b + row * p->b_k + j, TS_MAX(left - j, 0));       \
    }                                                                                                               \
    target MATRIX_INLINE void name##_pack_columns(const matrix_of *p, const type *b, int64_t k, int64_t left,       \
                                                  type *to)                                                         \
    {                                                                                                               \
        enum { WIDE = MATRIX_VECTORS * LANES };                                                                     \
        for (int64_t row = 0; row < k; row += 8)                                                                    \
            for (int64_t j = 0; j < WIDE; j += 8) {                                                                 \
                const type *from = b + row * p->b_k + j * p->b_n;                                                   \
                if (p->b_k == 1 && row + 8 <= k && j + 8 <= left) {                                                 \
                    name##_turn(from, p->b_n, to + row * WIDE + j, WIDE);                                           \
                    continue;                                                                                       \
                }                                                                                                   \
                for (int64_t c = 0; c < 8; c++)                                                                     \
                    for (int64_t r = 0; r < TS_MIN(8, k - row); r++)                                                \
                        to[(row + r) * WIDE + j + c] = j + c < left ? from[c * p->b_n + r * p->b_k] : 0;            \
            }                                                                                                       \
    }                                                                                                               \
    /* k rows of n elements as panels. */                                                                           \
    target static void name##_pack_b(const matrix_of *p, const type *b, int64_t k, int64_t n, type *to)             \
    {                                                                                                               \
        enum { WIDE = MATRIX_VECTORS * LANES };                                                                     \
        for (int64_t col = 0; col < n; col += WIDE, to += k * WIDE)                                                 \
            if (p->b_n == 1)                                                                                        \
                name##_pack_rows(p, b + col, k, n - col, to);                                                       \
            else                                                                                                    \
                name##_pack_columns(p, b + col * p->b_n, k, n - col, to);                                           \
    }                                                                                                               \
    target static void name##_pack_a(const matrix_of *p, const type *a, int64_t m, int64_t k, type *to)             \
    {                                                                                                               \
        for (int64_t row = 0; row < m; row += ROWS)                                                                 \
            for (int64_t i = 0; i < k; i++, to += ROWS) {                                                           \
                const type *from = a + row * p->a_m + i * p->a_k;                                                   \
                if (p->a_m == 1 && row + ROWS <= m)                                                                 \
                    memcpy(to, from, ROWS * sizeof *to);                                                            \
                else                                                                                                \
                    for (int64_t r = 0; r < ROWS; r++)                                                              \
                        to[r] = row + r < m ? from[r * p->a_m] : 0;                                                 \
            }                                                                                                       \
    }                                                                                                               \
    /* A piece times all rows of a. */                                                                              \
    static void name##_piece(const matrix_of *p, int64_t k, int64_t n, matrix_step s, type *room)                   \
    {                                                                                                               \
        name##_pack_b(p, (const type *)p->b + k * p->b_k + n * p->b_n, s.k, s.n, room);                             \
        type *packed = room + MATRIX_DEPTH * (MATRIX_COLUMNS * 4 / sizeof(type));                                   \
        s.b = room;                                                                                                 \
        for (int64_t row = 0; row < p->m; row += MATRIX_ROWS) {                                                     \
            s.m = TS_MIN(p->m - row, MATRIX_ROWS);                                                                  \
            s.a = (const type *)p->a + row * p->a_m + k * p->a_k;                                                   \
            s.c = (type *)p->c + row * p->c_m + n;                                                                  \
            if (s.packs) {                                                                                          \
                name##_pack_a(p, s.a, s.m, s.k, packed);                                                            \
                s.a = packed;                                                                                       \
            }                                                                                                       \
            name##_strip(&s);                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
    static void name##_block(const matrix_of *p, const ts_cpu_env *env, void *room)                                 \
    {                                                                                                               \
        int64_t depth = matrix_part(p->k, MATRIX_DEPTH), columns = MATRIX_COLUMNS * 4 / sizeof(type);               \
        for (int64_t n = 0; n < p->n; n += columns)                                                                 \
            for (int64_t k = 0; k < p->k && !matrix_ends(env); k += depth) {                                        \
                matrix_step s = {.k = TS_MIN(p->k - k, depth), .n = TS_MIN(p->n - n, columns), .a_row = p->a_m,     \
                                 .a_m = p->a_m, .a_k = p->a_k, .c_m = p->c_m, .begins = k == 0};                    \
                s.packs = p->a_k != 1 && (p->a_m != 1 || s.n > MATRIX_FEW * MATRIX_VECTORS * LANES);                \
                if (s.packs)                                                                                        \
                    s.a_row = s.k, s.a_m = 1, s.a_k = ROWS;                                                         \
                name##_piece(p, k, n, s, room);                                                                     \
            }                                                                                                       \
    }

/* The length of parts, of at most so much each, that differ little. */
static int64_t matrix_part(int64_t n, int64_t most)
{
    int64_t parts = (n + most - 1) / most;
    return (n + parts - 1) / parts;
}

static bool matrix_ends(const ts_cpu_env *env)
{
    return atomic_load_explicit(env->attention, memory_order_relaxed) && env->look(env);
}

#define MATRIX_512 __attribute__((target("avx512f")))
#define MATRIX_256 __attribute__((target("avx2,fma")))

MATRIX_512 MATRIX_INLINE __m512d matrix_some_8(const double *from, int64_t n)
{
    return _mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), from);
}
MATRIX_512 MATRIX_INLINE void matrix_put_8(double *to, int64_t n, __m512d x)
{
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << n) - 1), x);
}
MATRIX_512 MATRIX_INLINE __m512 matrix_some_16(const float *from, int64_t n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
}
MATRIX_512 MATRIX_INLINE void matrix_put_16(float *to, int64_t n, __m512 x)
{
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1), x);
}

/* Masks of n elements begin n elements before the middle. */
static const int64_t matrix_mask_4[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
static const int32_t matrix_mask_8[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

MATRIX_256 MATRIX_INLINE __m256d matrix_some_4(const double *from, int64_t n)
{
    return _mm256_maskload_pd(from, _mm256_loadu_si256((const __m256i *)(matrix_mask_4 + 4 - n)));
}
MATRIX_256 MATRIX_INLINE void matrix_put_4(double *to, int64_t n, __m256d x)
{
    _mm256_maskstore_pd(to, _mm256_loadu_si256((const __m256i *)(matrix_mask_4 + 4 - n)), x);
}
MATRIX_256 MATRIX_INLINE __m256 matrix_some_8s(const float *from, int64_t n)
{
    return _mm256_maskload_ps(from, _mm256_loadu_si256((const __m256i *)(matrix_mask_8 + 8 - n)));
}
MATRIX_256 MATRIX_INLINE void matrix_put_8s(float *to, int64_t n, __m256 x)
{
    _mm256_maskstore_ps(to, _mm256_loadu_si256((const __m256i *)(matrix_mask_8 + 8 - n)), x);
}

MATRIX_LOOPS(double, matrix_d8, 8, 8, MATRIX_512, _mm512_fmadd_pd, _mm512_set1_pd, matrix_some_8, matrix_put_8)
MATRIX_LOOPS(float, matrix_s16, 16, 8, MATRIX_512, _mm512_fmadd_ps, _mm512_set1_ps, matrix_some_16, matrix_put_16)
MATRIX_LOOPS(double, matrix_d4, 4, 4, MATRIX_256, _mm256_fmadd_pd, _mm256_set1_pd, matrix_some_4, matrix_put_4)
MATRIX_LOOPS(float, matrix_s8, 8, 4, MATRIX_256, _mm256_fmadd_ps, _mm256_set1_ps, matrix_some_8s, matrix_put_8s)

static void matrix_run(const matrix_of *p, const ts_cpu_env *env, void *room)
{
    bool wide = __builtin_cpu_supports("avx512f");
    if (p->is_wide)
        (wide ? matrix_d8_block : matrix_d4_block)(p, env, room);
    else
        (wide ? matrix_s16_block : matrix_s8_block)(p, env, room);
}

static bool matrix_has_loops(void)
{
    return __builtin_cpu_supports("avx512f") || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static int64_t matrix_unit(int64_t n, int64_t blocks)
{
    return ((n + blocks - 1) / blocks + MATRIX_UNIT - 1) / MATRIX_UNIT * MATRIX_UNIT;
}

static void matrix_entry(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                         const ts_cpu_env *env)
{
    const matrix_of *p = (const matrix_of *)(uintptr_t)params[0];
    int64_t rows = matrix_unit(p->m, grid[1]), cols = matrix_unit(p->n, grid[0]), item = p->is_wide ? 8 : 4;
    for (int64_t block = begin; block < end; block++) {
        int64_t row = block / grid[0] * rows, col = block % grid[0] * cols;
        matrix_of one = *p;
        one.m = TS_MIN(rows, p->m - row);
        one.n = TS_MIN(cols, p->n - col);
        one.a = (const char *)p->a + row * p->a_m * item;
        one.b = (const char *)p->b + col * p->b_n * item;
        one.c = (char *)p->c + (row * p->c_m + col) * item;
        if (one.m > 0 && one.n > 0)
            matrix_run(&one, env, scratch);
    }
}

static ts_status matrix_program(ts_nd_graph *graph, ts_error *err)
{
    ts_cpu_entry *entry = matrix_entry;
    void *address;
    ts_device_info info;
    ts_code code = {.plan = {.target = TS_TARGET_CPU, .n_params = 1, .param_bytes = {8},
                             .scratch_bytes = MATRIX_SCRATCH}};
    if (graph->matrices)
        return TS_OK;
    TS_TRY(ts_device_query(graph->device, &info, err));
    graph->units = info.units;
    memcpy(&address, &entry, sizeof address); /* ISO C has no cast from function to object */
    return ts__device_program_wrap(graph->device, &code, address, "matmul", "", &graph->matrices, err);
}

/* Blocks for the threads that there is work for, as square as they can be. */
static void matrix_grid(const matrix_of *p, int32_t units, uint32_t grid[3])
{
    double work = (double)p->m * (double)p->n * (double)p->k / MATRIX_BLOCK;
    int64_t blocks = work < units ? TS_MAX((int64_t)work, 1) : units;
    int64_t rows = 1;
    while (rows < blocks && rows < MATRIX_BLOCKS && p->m / rows > p->n * rows / blocks)
        rows++;
    grid[0] = (uint32_t)TS_MIN(MATRIX_BLOCKS, (blocks + rows - 1) / rows);
    grid[1] = (uint32_t)rows;
    grid[2] = 1;
}

bool ts_nd_matrices_are(const ts_nd *a, const ts_nd *b)
{
    enum { FEW = 1 << 15 }; /* multiplications that product.c does faster */
    if (!a || !b || a->rank != 2 || b->rank != 2 || a->dtype != b->dtype || a->meaning || b->meaning ||
        (a->dtype != TS_DTYPE_float32 && a->dtype != TS_DTYPE_float64) || a->graph != b->graph ||
        ts_nd_shape(a)[1] != ts_nd_shape(b)[0] || !ts__nd_is_host(a->graph) || !matrix_has_loops())
        return false;
    int64_t odd = 0, m = ts_nd_shape(a)[0], n = ts_nd_shape(b)[1];
    for (int d = 0; d < 2; d++)
        odd |= ts_nd_strides(a)[d] | ts_nd_strides(b)[d];
    return m > 1 && n > 1 && a->count > FEW / n && !(odd & (a->item - 1));
}

ts_status ts_nd_matrices_begin(ts_nd *a, ts_nd *b, ts_nd_matrices *job, ts_error *err)
{
    TS_NEED(err, job);
    *job = (ts_nd_matrices){0};
    TS_NEED(err, a, b);
    if (!ts_nd_matrices_are(a, b))
        return ts_fail(err, TS_VALUE, "ts_nd_matrices_begin() wants what ts_nd_matrices_are() agrees to");
    int64_t shape[2] = {ts_nd_shape(a)[0], ts_nd_shape(b)[1]};
    ts_status status = matrix_program(a->graph, err);
    if (status == TS_OK)
        status = ts_nd_empty(a->graph, (ts_dtype)a->dtype, 2, shape, false, &job->array[2], err);
    if (status != TS_OK)
        return status;
    job->array[0] = a, job->array[1] = b;
    ts_nd_retain(a), ts_nd_retain(b);
    for (int i = 0; i < 3 && status == TS_OK; i++)
        status = ts__nd_memory(job->array[i], TS_ND_CAUSE_fold, false, &job->data[i], &job->buffer[i], err);
    for (int i = 0; i < 3; i++)
        if (status == TS_OK)
            ts_buffer_retain(job->buffer[i]);
        else
            job->buffer[i] = NULL;
    if (status != TS_OK)
        ts_nd_matrices_end(job, NULL);
    return status;
}

ts_status ts_nd_matrices_run(const ts_nd_matrices *job, ts_error *err)
{
    TS_NEED(err, job);
    TS_NEED(err, job->array[2]);
    const ts_nd *a = job->array[0], *b = job->array[1];
    int64_t item = a->item;
    const ts_device *device = a->graph->device;
    matrix_of p = {.a = job->data[0], .b = job->data[1], .c = job->data[2], .m = ts_nd_shape(a)[0],
                   .k = ts_nd_shape(a)[1], .n = ts_nd_shape(b)[1], .a_m = ts_nd_strides(a)[0] / item,
                   .a_k = ts_nd_strides(a)[1] / item, .b_k = ts_nd_strides(b)[0] / item,
                   .b_n = ts_nd_strides(b)[1] / item, .c_m = ts_nd_shape(b)[1],
                   .is_wide = a->dtype == TS_DTYPE_float64};
    ts_launch_shape shape = {.grid = {1, 1, 1}};
    matrix_grid(&p, a->graph->units, shape.grid);
    return device->ops->launch(a->graph->matrices, device->default_stream, &shape, &(uint64_t){(uintptr_t)&p}, 0, err);
}
#else
bool ts_nd_matrices_are(const ts_nd *a, const ts_nd *b)
{
    (void)a, (void)b;
    return false;
}

ts_status ts_nd_matrices_begin(ts_nd *a, ts_nd *b, ts_nd_matrices *job, ts_error *err)
{
    TS_NEED(err, job);
    *job = (ts_nd_matrices){0};
    TS_NEED(err, a, b);
    return ts_fail(err, TS_UNSUPPORTED, "ts_nd_matrices_begin() has no loops for this processor");
}

ts_status ts_nd_matrices_run(const ts_nd_matrices *job, ts_error *err)
{
    TS_NEED(err, job);
    return ts_fail(err, TS_UNSUPPORTED, "ts_nd_matrices_run() has no loops for this processor");
}
#endif

void ts_nd_matrices_end(ts_nd_matrices *job, ts_nd **result)
{
    if (!job)
        return;
    for (int i = 0; i < 3; i++)
        ts_buffer_release(job->buffer[i]);
    ts_nd_release(job->array[0]), ts_nd_release(job->array[1]);
    if (result)
        *result = job->array[2];
    else
        ts_nd_release(job->array[2]);
    *job = (ts_nd_matrices){0};
}
