/* SPDX-License-Identifier: Apache-2.0
 *
 * The helpers of generated code (runtime.h). They are the seldom path of a kernel (tiles that stick out
 * of their array, unusual strides, atomics, printing), so they are written for any rank and type;
 * only rows of unit stride and transposed tiles are fast, because kernels meet them often.
 */
#include "runtime/runtime.h"
#include "ir/float.h"
#include "ir/format.h"
#include "ir/scalar.h"

#include <stdio.h>

/* Bytes of one element in a dense tile. */
static size_t rt_bytes(ts_type type)
{
    uint32_t bits = ts_type_bits(NULL, type);
    return bits < 8 ? 1 : bits / 8;
}

/* ---- views --------------------------------------------------------------------------------------*/

/* One access in progress, with as few axes as possible. The last axis is the innermost; lo..hi of each lies inside
 * the array. */
typedef struct rt_view {
    const int64_t *what;
    ts_type type;
    uint32_t rank, bits;
    size_t bytes;
    int64_t at;       /* array position of all axes that are left out */
    bool inside;      /* these axes are inside the array */
    int64_t dim[TS_MAX_RANK], start[TS_MAX_RANK], stride[TS_MAX_RANK], lo[TS_MAX_RANK], hi[TS_MAX_RANK],
        extent[TS_MAX_RANK];
    int sparse_axis;
    const void *sparse;
} rt_view;

static void rt_axis_init(rt_view *v, uint32_t k, int64_t dim, const int64_t *where, bool sparse)
{
    int64_t start = v->start[k] = where[0], extent = v->extent[k] = where[1];
    v->stride[k] = where[2];
    v->dim[k] = dim;
    v->lo[k] = sparse || start >= 0 ? 0 : start < -dim ? dim : -start;
    v->hi[k] = sparse ? dim : TS_MAX(v->lo[k], TS_MIN(dim, extent - start));
}

/* Leaves the newest axis out: it has one element. */
static void rt_axis_drop(rt_view *v)
{
    uint32_t k = --v->rank;
    if (v->lo[k] < v->hi[k])
        v->at += v->start[k] * v->stride[k];
    else
        v->inside = false;
}

/* Whether the newest axis continues the one before it in memory: rows follow each other without a gap. */
static bool rt_axis_joins(const rt_view *v)
{
    uint32_t k = v->rank - 1;
    return k > 0 && v->sparse_axis != (int)k - 1 && v->lo[k] == 0 && v->hi[k] == v->dim[k] &&
           v->lo[k - 1] < v->hi[k - 1] && v->stride[k - 1] == v->dim[k] * v->stride[k];
}

static void rt_axis_join(rt_view *v)
{
    uint32_t k = --v->rank;
    int64_t n = v->dim[k];
    v->dim[k - 1] *= n;
    v->lo[k - 1] *= n;
    v->hi[k - 1] *= n;
    v->start[k - 1] = v->start[k - 1] * n + v->start[k];
    v->stride[k - 1] = v->stride[k];
}

static void rt_view_init(rt_view *v, const int64_t *what, const int64_t *where, const void *sparse)
{
    *v = (rt_view){
        .what = what, .type = (ts_type)what[TS_RT_TYPE], .inside = true, .sparse_axis = -1, .sparse = sparse};
    v->bits = ts_type_bits(NULL, v->type);
    v->bytes = rt_bytes(v->type);
    for (int64_t k = 0; k < what[TS_RT_RANK]; k++) {
        bool is_sparse = k == what[TS_RT_SPARSE] - 1;
        rt_axis_init(v, v->rank++, what[TS_RT_DIMS + k], where + 3 * k, is_sparse);
        if (is_sparse)
            v->sparse_axis = (int)v->rank - 1;
        else if (what[TS_RT_DIMS + k] == 1)
            rt_axis_drop(v);
        else if (rt_axis_joins(v))
            rt_axis_join(v);
    }
}

static int64_t rt_sparse_at(const rt_view *v, int64_t i)
{
    int64_t bytes = v->what[TS_RT_SPARSE_BYTES];
    return bytes == 8 ? ((const int64_t *)v->sparse)[i] : bytes == 4 ? ((const int32_t *)v->sparse)[i]
         : bytes == 2 ? ((const int16_t *)v->sparse)[i] : ((const int8_t *)v->sparse)[i];
}

/* Element position of coordinate i of an axis in the array, or false when it lies outside. */
static bool rt_axis_at(const rt_view *v, uint32_t k, int64_t i, int64_t *at)
{
    int64_t x = (int)k == v->sparse_axis ? rt_sparse_at(v, i) : v->start[k] + i;
    if ((int)k == v->sparse_axis ? x < 0 || x >= v->extent[k] : i < v->lo[k] || i >= v->hi[k])
        return false;
    *at += x * v->stride[k];
    return true;
}

typedef void rt_row(const rt_view *v, int64_t at, bool inside, char *array, char *tile);

/* Runs `row` for every innermost row: `at` is the array position of coordinates all but the last. */
static void rt_rows(const rt_view *v, uint32_t k, int64_t at, bool inside, char *array, char **tile, rt_row *row)
{
    if (k + 1 >= v->rank) {
        row(v, at, inside, array, *tile);
        *tile += (size_t)(v->rank ? v->dim[k] : 1) * v->bytes;
        return;
    }
    for (int64_t i = 0; i < v->dim[k]; i++) {
        int64_t next = at;
        bool ok = rt_axis_at(v, k, i, &next) && inside;
        rt_rows(v, k + 1, next, ok, array, tile, row);
    }
}

static void rt_fill(char *tile, size_t bytes, uint64_t pad, int64_t n)
{
    if (!pad) {
        memset(tile, 0, (size_t)TS_MAX(n, 0) * bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(tile + (size_t)i * bytes, &pad, bytes);
}

#define RT_STRIDED(T)                                                                              \
    for (int64_t i = lo; i < hi; i++)                                                              \
        ((T *)tile)[i] = ((const T *)array)[at + (v->start[k] + i) * v->stride[k]];
#define RT_STRIDED_OUT(T)                                                                          \
    for (int64_t i = lo; i < hi; i++)                                                              \
        ((T *)array)[at + (v->start[k] + i) * v->stride[k]] = ((const T *)tile)[i];

/* Innermost row of a load whose last axis is dense or strided, whole bytes. */
static void rt_row_in(const rt_view *v, int64_t at, bool inside, char *array, char *tile)
{
    uint32_t k = v->rank - 1;
    uint64_t pad = (uint64_t)v->what[TS_RT_PAD];
    int64_t lo = inside ? v->lo[k] : v->dim[k], hi = inside ? v->hi[k] : v->dim[k];
    rt_fill(tile, v->bytes, pad, lo);
    rt_fill(tile + (size_t)hi * v->bytes, v->bytes, pad, v->dim[k] - hi);
    if (lo >= hi) /* and then the start may be too far out to compute with */
        return;
    if (v->stride[k] == 1)
        memcpy(tile + (size_t)lo * v->bytes, array + (at + v->start[k] + lo) * (int64_t)v->bytes,
               (size_t)(hi - lo) * v->bytes);
    else if (v->bytes == 4)
        RT_STRIDED(uint32_t)
    else if (v->bytes == 8)
        RT_STRIDED(uint64_t)
    else if (v->bytes == 2)
        RT_STRIDED(uint16_t)
    else
        RT_STRIDED(uint8_t)
}

static void rt_row_out(const rt_view *v, int64_t at, bool inside, char *array, char *tile)
{
    uint32_t k = v->rank - 1;
    int64_t lo = inside ? v->lo[k] : v->dim[k], hi = inside ? v->hi[k] : v->dim[k];
    if (lo >= hi)
        return;
    if (v->stride[k] == 1)
        memcpy(array + (at + v->start[k] + lo) * (int64_t)v->bytes, tile + (size_t)lo * v->bytes,
               (size_t)(hi - lo) * v->bytes);
    else if (v->bytes == 4)
        RT_STRIDED_OUT(uint32_t)
    else if (v->bytes == 8)
        RT_STRIDED_OUT(uint64_t)
    else if (v->bytes == 2)
        RT_STRIDED_OUT(uint16_t)
    else
        RT_STRIDED_OUT(uint8_t)
}

/* Element by element: 4-bit types and sparse innermost axes. */
static void rt_row_in_slow(const rt_view *v, int64_t at, bool inside, char *array, char *tile)
{
    uint32_t k = v->rank - 1;
    for (int64_t i = 0; i < (v->rank ? v->dim[k] : 1); i++) {
        int64_t pos = at;
        uint64_t x = (uint64_t)v->what[TS_RT_PAD];
        if ((!v->rank || rt_axis_at(v, k, i, &pos)) && inside)
            x = ts__scalar_read(array, v->bits, pos);
        memcpy(tile + (size_t)i * v->bytes, &x, v->bytes);
    }
}

static void rt_row_out_slow(const rt_view *v, int64_t at, bool inside, char *array, char *tile)
{
    uint32_t k = v->rank - 1;
    for (int64_t i = 0; i < (v->rank ? v->dim[k] : 1); i++) {
        int64_t pos = at;
        uint64_t x = 0;
        memcpy(&x, tile + (size_t)i * v->bytes, v->bytes);
        if ((!v->rank || rt_axis_at(v, k, i, &pos)) && inside)
            ts__scalar_write(array, v->bits, pos, x);
    }
}

/* Transposed tiles: the second to last axis is dense in the array, and whole rows would walk down columns.
 * Rank 2, 4 bytes. */
static bool rt_transposed(const rt_view *v)
{
    return v->rank == 2 && v->inside && v->bytes == 4 && v->sparse_axis < 0 && v->stride[0] == 1 && v->stride[1] != 1;
}

enum { RT_QUAD = 4, RT_LINE = 16 }; /* elements of a vector, of a line of the cache */
typedef uint32_t rt_quad __attribute__((vector_size(16)));

/* to[i * to_stride + j] = from[j * from_stride + i] for i, j < 4. */
static void rt_transpose_quad(uint32_t *to, int64_t to_stride, const uint32_t *from, int64_t from_stride)
{
    rt_quad x[RT_QUAD], y[RT_QUAD];
    for (int j = 0; j < RT_QUAD; j++)
        memcpy(&x[j], from + j * from_stride, sizeof x[j]);
    for (int j = 0; j < RT_QUAD; j += 2) {
        y[j] = __builtin_shufflevector(x[j], x[j + 1], 0, 4, 1, 5);
        y[j + 1] = __builtin_shufflevector(x[j], x[j + 1], 2, 6, 3, 7);
    }
    for (int i = 0; i < RT_QUAD; i += 2) {
        x[i] = __builtin_shufflevector(y[i / 2], y[i / 2 + 2], 0, 1, 4, 5);
        x[i + 1] = __builtin_shufflevector(y[i / 2], y[i / 2 + 2], 2, 3, 6, 7);
    }
    for (int i = 0; i < RT_QUAD; i++)
        memcpy(to + i * to_stride, &x[i], sizeof x[i]);
}

/* The same for i < n_i, j < n_j; whole quads where they fit. */
static void rt_transpose_line(uint32_t *to, int64_t to_stride, const uint32_t *from, int64_t from_stride, int64_t n_i,
                              int64_t n_j)
{
    int64_t whole_i = n_i / RT_QUAD * RT_QUAD, whole_j = n_j / RT_QUAD * RT_QUAD;
    for (int64_t j = 0; j < whole_j; j += RT_QUAD)
        for (int64_t i = 0; i < whole_i; i += RT_QUAD)
            rt_transpose_quad(to + i * to_stride + j, to_stride, from + j * from_stride + i, from_stride);
    for (int64_t i = 0; i < n_i; i++)
        for (int64_t j = i < whole_i ? whole_j : 0; j < n_j; j++)
            to[i * to_stride + j] = from[j * from_stride + i];
}

/* A line of every row of `to` at a time: rows of `from` are read to their end, which the prefetcher likes. */
static void rt_transpose(uint32_t *to, int64_t to_stride, const uint32_t *from, int64_t from_stride, int64_t n_i,
                         int64_t n_j)
{
    for (int64_t j = 0; j < n_j; j += RT_LINE)
        rt_transpose_line(to + j, to_stride, from + j * from_stride, from_stride, n_i,
                          TS_MIN(n_j - j, (int64_t)RT_LINE));
}

/* Where the part of the tile that lies inside begins, in the array and in the tile; false: there is none. */
static bool rt_transposed_at(const rt_view *v, int64_t *in_array, int64_t *in_tile)
{
    if (v->lo[0] >= v->hi[0] || v->lo[1] >= v->hi[1])
        return false;
    *in_tile = v->lo[0] * v->dim[1] + v->lo[1];
    *in_array = v->at + v->start[0] + v->lo[0] + (v->start[1] + v->lo[1]) * v->stride[1];
    return true;
}

static void rt_transpose_in(const rt_view *v, const uint32_t *array, uint32_t *tile)
{
    int64_t n_i = v->hi[0] - v->lo[0], n_j = v->hi[1] - v->lo[1], to, from;
    if (n_i < v->dim[0] || n_j < v->dim[1])
        rt_fill((char *)tile, v->bytes, (uint64_t)v->what[TS_RT_PAD], v->dim[0] * v->dim[1]);
    if (rt_transposed_at(v, &from, &to))
        rt_transpose(tile + to, v->dim[1], array + from, v->stride[1], n_i, n_j);
}

static void rt_transpose_out(const rt_view *v, uint32_t *array, const uint32_t *tile)
{
    int64_t n_i = v->hi[0] - v->lo[0], n_j = v->hi[1] - v->lo[1], from, to;
    if (rt_transposed_at(v, &to, &from))
        rt_transpose(array + to, v->stride[1], tile + from, v->dim[1], n_j, n_i);
}

static bool rt_slow(const rt_view *v)
{
    return v->bits < 8 || !v->rank || v->sparse_axis == (int)v->rank - 1;
}

void ts__rt_view_in(const int64_t *what, const int64_t *where, const void *array, void *tile, const void *sparse)
{
    rt_view v;
    char *at = tile;
    rt_view_init(&v, what, where, sparse);
    if (rt_transposed(&v))
        rt_transpose_in(&v, array, tile);
    else
        rt_rows(&v, 0, v.at, v.inside, (char *)(uintptr_t)array, &at, rt_slow(&v) ? rt_row_in_slow : rt_row_in);
}

void ts__rt_view_out(const int64_t *what, const int64_t *where, void *array, const void *tile, const void *sparse)
{
    rt_view v;
    char *at = (char *)(uintptr_t)tile;
    rt_view_init(&v, what, where, sparse);
    if (rt_transposed(&v))
        rt_transpose_out(&v, array, tile);
    else
        rt_rows(&v, 0, v.at, v.inside, array, &at, rt_slow(&v) ? rt_row_out_slow : rt_row_out);
}

/* ---- atomics ------------------------------------------------------------------------------------*/

static uint64_t rt_apply(ts_rmw mode, ts_type type, uint64_t old, uint64_t value, uint64_t compare)
{
    static const struct {
        ts_op op;
        uint32_t attr;
    } as_op[] = {
        [TS_RMW_AND] = {TS_OP_andi, 0},   [TS_RMW_OR] = {TS_OP_ori, 0},    [TS_RMW_XOR] = {TS_OP_xori, 0},
        [TS_RMW_ADD] = {TS_OP_addi, 0},   [TS_RMW_ADDF] = {TS_OP_addf, 0}, [TS_RMW_MAX] = {TS_OP_maxi, 0},
        [TS_RMW_MIN] = {TS_OP_mini, 0},   [TS_RMW_UMAX] = {TS_OP_maxi, TS_A_UNSIGNED},
        [TS_RMW_UMIN] = {TS_OP_mini, TS_A_UNSIGNED},
    };
    if (mode == TS_RMW_XCHG)
        return value;
    if (mode == TS_RMW_CAS)
        return old == compare ? value : old;
    if (type == TS_T_f32 && mode == TS_RMW_ADDF)
        return ts_bits_of_f32(ts_f32_of_bits(old) + ts_f32_of_bits(value));
    if (type == TS_T_f64 && mode == TS_RMW_ADDF)
        return ts_bits_of_f64(ts_f64_of_bits(old) + ts_f64_of_bits(value));
    uint64_t x[] = {old, value}, out = old;
    (void)ts__scalar_eval(NULL, as_op[mode].op, as_op[mode].attr, type, type, x, &out);
    return out;
}

#define RT_CAS(T)                                                                                  \
    {                                                                                              \
        T old = __atomic_load_n((T *)at, __ATOMIC_SEQ_CST), next;                                  \
        do                                                                                         \
            next = (T)rt_apply(mode, type, (uint64_t)old, (uint64_t)(T)value, (uint64_t)(T)compare); \
        while (!__atomic_compare_exchange_n((T *)at, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        return (uint64_t)old;                                                                      \
    }

/* One element. Misaligned addresses do not occur: arrays are aligned to their elements. */
static uint64_t rt_atomic_one(ts_rmw mode, ts_type type, void *at, uint64_t value, uint64_t compare)
{
    switch (ts_type_bits(NULL, type)) {
    case 64:
        RT_CAS(uint64_t)
    case 32:
        RT_CAS(uint32_t)
    case 16:
        RT_CAS(uint16_t)
    default:
        RT_CAS(uint8_t)
    }
}

static uint64_t rt_get(const void *tile, size_t bytes, int64_t i)
{
    uint64_t x = 0;
    if (tile)
        memcpy(&x, (const char *)tile + (size_t)i * bytes, bytes);
    return x;
}

void ts__rt_atomic(const int64_t *what, void *const *at, const void *with, const void *compare, const uint8_t *mask,
                   void *old)
{
    ts_type type = (ts_type)what[0];
    size_t bytes = rt_bytes(type);
    for (int64_t i = 0; i < what[2]; i++) {
        uint64_t was = rt_get(compare, bytes, i);
        if (!mask || mask[i])
            was = rt_atomic_one((ts_rmw)what[1], type, at[i], rt_get(with, bytes, i), was);
        if (old)
            memcpy((char *)old + (size_t)i * bytes, &was, bytes);
    }
}

void ts__rt_tally_begin(void *table, int64_t bytes)
{
    memset(table, 0, (size_t)bytes);
}

void ts__rt_tally_end(int64_t address, const void *table, int64_t n, int64_t each)
{
    const uint32_t *narrow = table;
    const uint64_t *wide = table;
    for (int64_t i = 0; i < n; i++)
        if (each == 4 && narrow[i])
            __atomic_fetch_add((uint32_t *)(uintptr_t)address + i, narrow[i], __ATOMIC_SEQ_CST);
        else if (each == 8 && wide[i])
            __atomic_fetch_add((uint64_t *)(uintptr_t)address + i, wide[i], __ATOMIC_SEQ_CST);
}

static void rt_row_red(const rt_view *v, int64_t at, bool inside, char *array, char *tile)
{
    uint32_t k = v->rank - 1;
    for (int64_t i = 0; i < (v->rank ? v->dim[k] : 1); i++) {
        int64_t pos = at;
        if ((!v->rank || rt_axis_at(v, k, i, &pos)) && inside)
            (void)rt_atomic_one((ts_rmw)v->what[TS_RT_MODE], v->type, array + pos * (int64_t)v->bytes,
                                rt_get(tile, v->bytes, i), 0);
    }
}

void ts__rt_view_red(const int64_t *what, const int64_t *where, void *array, const void *tile, const void *sparse)
{
    rt_view v;
    char *at = (char *)(uintptr_t)tile;
    rt_view_init(&v, what, where, sparse);
    rt_rows(&v, 0, v.at, v.inside, array, &at, rt_row_red);
}

/* ---- printing -----------------------------------------------------------------------------------*/

typedef struct rt_printed {
    ts_type elem;
    const void *tile;
} rt_printed;

static uint64_t rt_printed_at(const void *user, int64_t i)
{
    const rt_printed *p = user;
    return ts__scalar_wrap(p->elem, rt_get(p->tile, rt_bytes(p->elem), i));
}

void ts__rt_print(const ts_cpu_env *env, const char *format, const int64_t *types, const void *const *tiles)
{
    ts_text out;
    if (!env || !env->print)
        return;
    ts__text_init(&out, ts_alloc_default());
    for (const char *p = format; *p;) {
        ts__conversion c;
        if (*p != '%' || p[1] == '%' || !ts__conversion_at(p, &c) || !types[0]) {
            ts__text_putc(&out, *p);
            p += *p == '%' && p[1] == '%' ? 2 : 1;
            continue;
        }
        int64_t words = 2 + types[1];
        ts_type elem = types[0] < TS_T_token ? (ts_type)types[0] : TS_T_i64;
        rt_printed from = {elem, tiles[0]}, imag = {elem, tiles[c.pair]};
        ts__print_tile(&out, &c, &(ts__printed){elem, (uint32_t)types[1], types + 2, rt_printed_at, &from, &imag});
        types += c.pair ? 2 * words : words;
        tiles += c.pair ? 2 : 1;
        p += c.n;
    }
    env->print(env->print_user, ts__text_get(&out), out.n);
    ts__text_deinit(&out);
}

/* ---- faults -------------------------------------------------------------------------------------*/

void ts__rt_fault(const ts_cpu_env *env, int64_t code, const int64_t *where)
{
    uint32_t none = 0;
    if (!env || !env->fault ||
        !__atomic_compare_exchange_n(&env->fault->code, &none, (uint32_t)code, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    ts_fault *fault = env->fault;
    fault->line = (uint32_t)where[0];
    fault->string = (uint32_t)where[4];
    fault->file = (uint32_t)where[5];
    fault->function = (uint32_t)where[6];
    fault->index = where[7];
    fault->extent = where[8];
    fault->has_thread = (uint32_t)where[9];
    for (int i = 0; i < 3; i++) {
        fault->block[i] = (uint32_t)where[1 + i];
        fault->thread[i] = (uint32_t)where[10 + i];
    }
}

int32_t ts__rt_look(const ts_cpu_env *env)
{
    return env->look(env);
}

void ts__rt_meet(const ts_cpu_env *env)
{
    env->meet(env);
}
