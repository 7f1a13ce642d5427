/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two matrices of float32 and float64 in host memory, as loops for the vectors of x86 processors with fma.
 * Each element is the sum of its products with k ascending, joined by fma, from +0 on: the bits that the library's
 * kernel of tiles gives (target/llvm/mma.c), whatever the width of vectors, the pieces and the threads.
 *
 *     block     what one thread makes of the result
 *     piece     MATRIX_DEPTH of k and MATRIX_COLUMNS of b, packed in panels: [n / (3 vectors)][k][3 vectors]
 *               Rows of b that no second tile reads are read where they are
 *     strip     MATRIX_ROWS rows of a, read where they are if rows are dense, else packed: [m / ROWS][k][ROWS]
 *     tile      ROWS rows and three vectors of the result, in registers while k runs through the piece
 *
 * Of a @ a.T the half below the diagonal is computed, and written above it, too: both have the same products in the
 * same order. Strips have half as many rows then, and end behind their last row's column.
 *
 * A panel is read by all rows of a strip before the next one; both stay in the second cache. K. Goto, R. van de Geijn,
 * Anatomy of high-performance matrix multiplication, 2008.
 */
#include "base/widths.h"
#include "numeric/numeric.h"
#include "runtime/entry.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
    MATRIX_VECTORS = 3,   /* of a tile */
    MATRIX_FEW = 4,       /* panels up to which columns of a are read where they are */
    MATRIX_DEPTH = 512, MATRIX_COLUMNS = 480, MATRIX_ROWS = 96, /* float64: half as many columns */
    MATRIX_SCRATCH = (MATRIX_DEPTH * MATRIX_COLUMNS + 2 * MATRIX_DEPTH * MATRIX_ROWS) * 4,
    MATRIX_BLOCK = 1 << 20, /* multiplications that are worth a thread: 25 us */
    MATRIX_HALVES = 4,      /* blocks for each thread of a product that is its own transpose */
    MATRIX_ROW_UNIT = 8, MATRIX_COLUMN_UNIT = 48, /* that blocks begin at multiples of */
    MATRIX_BLOCKS = 1 << 12 /* along an axis */
};

/* c (M, N), row-major, = a (M, K) @ b (K, N); steps in elements. */
typedef struct matrix_of {
    const void *a, *b;
    void *c;
    int64_t m, k, n, a_m, a_k, b_k, b_n, c_m;
    bool is_wide; /* float64 */
    bool is_half;     /* c is its own transpose, and rows of a block are whole */
    int64_t diagonal; /* the column of the diagonal in a block's first row */
} matrix_of;

/* A strip times a piece. Row r of a begins at the multiple of a tile's rows below it times `a_row`, and a_m for each
 * further row: the same where rows are not packed. Column c of b begins at c times `b_col`, b_k for each further k. */
typedef struct matrix_step {
    const void *a, *b;
    void *c;
    int64_t m, k, n, a_row, a_m, a_k, b_col, b_k, c_m;
    bool begins, packs, is_packed; /* at k = 0; a; b, in panels with zeros behind its last column */
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

#define MATRIX_JOIN(name, word) MATRIX_PASTE(name, word)
#define MATRIX_PASTE(name, word) name##_##word

#define NAME matrix_d8
#define TYPE double
#define LANES 8
#define ROWS 8
#define TARGET MATRIX_512
#define FMA _mm512_fmadd_pd
#define SPLAT _mm512_set1_pd
#define SOME matrix_some_8
#define PUT matrix_put_8
#include "numeric/matrix_loops.def"

#define NAME matrix_s16
#define TYPE float
#define LANES 16
#define ROWS 8
#define TARGET MATRIX_512
#define FMA _mm512_fmadd_ps
#define SPLAT _mm512_set1_ps
#define SOME matrix_some_16
#define PUT matrix_put_16
#include "numeric/matrix_loops.def"

#define NAME matrix_d4
#define TYPE double
#define LANES 4
#define ROWS 4
#define TARGET MATRIX_256
#define FMA _mm256_fmadd_pd
#define SPLAT _mm256_set1_pd
#define SOME matrix_some_4
#define PUT matrix_put_4
#include "numeric/matrix_loops.def"

#define NAME matrix_s8
#define TYPE float
#define LANES 8
#define ROWS 4
#define TARGET MATRIX_256
#define FMA _mm256_fmadd_ps
#define SPLAT _mm256_set1_ps
#define SOME matrix_some_8s
#define PUT matrix_put_8s
#include "numeric/matrix_loops.def"

static void matrix_run(const matrix_of *p, const ts_cpu_env *env, void *room)
{
    bool wide = ts__vector_bytes() == 64;
    if (p->is_wide)
        (wide ? matrix_d8_block : matrix_d4_block)(p, env, room);
    else
        (wide ? matrix_s16_block : matrix_s8_block)(p, env, room);
}

static bool matrix_has_loops(void)
{
    return ts__vector_bytes() >= 32;
}

static int64_t matrix_unit(int64_t n, int64_t blocks, int64_t unit)
{
    return ((n + blocks - 1) / blocks + unit - 1) / unit * unit;
}

static void matrix_entry(const uint64_t *params, const uint32_t grid[3], int64_t begin, int64_t end, void *scratch,
                         const ts_cpu_env *env)
{
    const matrix_of *p = (const matrix_of *)(uintptr_t)params[0];
    int64_t rows = matrix_unit(p->m, grid[1], MATRIX_ROW_UNIT);
    int64_t cols = matrix_unit(p->n, grid[0], MATRIX_COLUMN_UNIT), item = p->is_wide ? 8 : 4;
    for (int64_t block = begin; block < end; block++) {
        int64_t row = block / grid[0] * rows, col = block % grid[0] * cols;
        matrix_of one = *p;
        one.m = TS_MIN(rows, p->m - row);
        one.n = p->is_half ? row + one.m : TS_MIN(cols, p->n - col);
        one.a = (const char *)p->a + row * p->a_m * item;
        one.b = (const char *)p->b + col * p->b_n * item;
        one.c = (char *)p->c + (row * p->c_m + col) * item;
        one.diagonal = row;
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

/* Blocks for the threads that there is work for, as square as they can be; of a half several for each, as the first
 * have least to do. */
static void matrix_grid(const matrix_of *p, int32_t units, uint32_t grid[3])
{
    double work = (double)p->m * (double)p->n * (double)p->k / MATRIX_BLOCK;
    int64_t blocks = work < units ? TS_MAX((int64_t)work, 1) : units;
    int64_t rows = p->is_half && blocks > 1 ? TS_MIN(MATRIX_HALVES * blocks, MATRIX_BLOCKS) : 1;
    blocks = p->is_half ? rows : blocks;
    while (rows < blocks && rows < MATRIX_BLOCKS && p->m / rows > p->n * rows / blocks)
        rows++;
    grid[0] = (uint32_t)TS_MIN(MATRIX_BLOCKS, (blocks + rows - 1) / rows);
    grid[1] = (uint32_t)rows;
    grid[2] = 1;
}

bool ts_nd_matrices_are(const ts_nd *a, const ts_nd *b)
{
    enum { FEW = 1 << 8, FEW_OF_ROWS = 1 << 15, ROWS = 4 }; /* multiplications that product.c does faster */
    if (!a || !b || a->rank != 2 || b->rank != 2 || a->dtype != b->dtype || a->meaning || b->meaning ||
        (a->dtype != TS_DTYPE_float32 && a->dtype != TS_DTYPE_float64) || a->graph != b->graph ||
        ts_nd_shape(a)[1] != ts_nd_shape(b)[0] || !ts__nd_is_host(a->graph) || !matrix_has_loops())
        return false;
    int64_t odd = 0, m = ts_nd_shape(a)[0], n = ts_nd_shape(b)[1];
    for (int d = 0; d < 2; d++)
        odd |= ts_nd_strides(a)[d] | ts_nd_strides(b)[d];
    return m > 1 && n > 1 && a->count > (m > ROWS ? FEW : FEW_OF_ROWS) / n && !(odd & (a->item - 1)) &&
           !ts__nd_product_is_thin(a, b);
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
    const ts_nd_graph *graph = job->array[2]->graph; /* nobody else knows this array, so it stays */
    const ts_device *device = graph->device;
    matrix_of p = {.a = job->data[0], .b = job->data[1], .c = job->data[2], .m = ts_nd_shape(a)[0],
                   .k = ts_nd_shape(a)[1], .n = ts_nd_shape(b)[1], .a_m = ts_nd_strides(a)[0] / item,
                   .a_k = ts_nd_strides(a)[1] / item, .b_k = ts_nd_strides(b)[0] / item,
                   .b_n = ts_nd_strides(b)[1] / item, .c_m = ts_nd_shape(b)[1],
                   .is_wide = a->dtype == TS_DTYPE_float64};
    p.is_half = p.a == p.b && p.m == p.n && p.a_m == p.b_n && p.a_k == p.b_k;
    ts_launch_shape shape = {.grid = {1, 1, 1}};
    matrix_grid(&p, graph->units, shape.grid);
    return device->ops->launch(graph->matrices, device->default_stream, &shape, &(uint64_t){(uintptr_t)&p},
                               TS_LAUNCH_LONG, err);
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
