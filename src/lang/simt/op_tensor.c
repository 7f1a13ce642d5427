/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda.tma: copies of boxes between an array in global memory, an argument of the kernel, and shared memory.
 * Part of the front end (lower.h); rows in simt_op.def.
 *
 *     cuda.tma.load(to, i, x, (row, column), (8, 32), bars, bar)
 *     tensor_load [32, 8] %to_i, %bars_bar, %x, columns, rows, stride of a row, %column, %row
 */
#include "lang/simt/op.h"
#include "tessera/compile.h"

enum { TENSOR_RANK = 5, TENSOR_BOX = 256, TENSOR_UNIT = 16, TENSOR_ALIGN = 128, TENSOR_FAR = 0x7ffffe00 };

/* The memory of shared arrays that boxes are copied to begins where TMA wants it, and has whole lines for itself: no
 * barrier lies in a line that a copy writes. */
static void tensor_align(fr *f, const fr_array *shared)
{
    ts_fn *fn = f->b.fn;
    ts_val v = shared->base;
    while (ts_at(fn, v)->op == TS_OP_assume || ts_at(fn, v)->op == TS_OP_offset || ts_at(fn, v)->op == TS_OP_ptr_to_ptr)
        v = ts_opnd(fn, v, 0);
    if (ts_at(fn, v)->op != TS_OP_shared_alloc)
        return;
    uint32_t *words = fn->pool.at + ts_at(fn, v)->aux;
    words[0] = (words[0] + TENSOR_ALIGN - 1) / TENSOR_ALIGN * TENSOR_ALIGN;
    words[1] = TS_MAX(words[1], TENSOR_ALIGN);
}

/* The array in global memory: argument i. */
static ts_status tensor_array(fr *f, const fr_call *c, uint32_t i, const fr_array **out)
{
    const fr_value *v = &c->arg[i];
    int64_t step;
    *out = v->as.array;
    if (v->kind != FR_ARRAY || fr_simt_space(f, v->as.array) != TS_GLOBAL)
        return fr_arg_error(f, c, i, "an array in global memory: an argument of the kernel");
    if (!(*out)->dtype || fr_dtype_cat((ts_dtype)(*out)->dtype) == FR_COMPLEX || (*out)->align)
        return fr_arg_error(f, c, i, "an array of numbers that are not complex; x.view(np.float64) shows their parts");
    if (!(*out)->rank || (*out)->rank > TENSOR_RANK)
        return fr_arg_error(f, c, i, "an array of 1 to 5 axes");
    if (!fr_is_int(&(*out)->stride[(*out)->rank - 1], &step) || step != 1)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s() takes an array whose elements lie side by side along the last "
                        "axis\n  found: %s\n  help: pass an array in C order, as np.ascontiguousarray makes it",
                        fr_op_name(c), fr_say(f, v));
    return TS_OK;
}

/* The extents of a box, constants, innermost axis first, behind their number. */
static ts_status tensor_box(fr *f, const fr_call *c, uint32_t i, const fr_array *a, uint32_t words[1 + TENSOR_RANK])
{
    const fr_value *v = &c->arg[i];
    uint32_t n = v->kind == FR_TUPLE ? v->n : 1, bytes = (uint32_t)ts_dtype_bytes((ts_dtype)a->dtype);
    words[0] = a->rank;
    if (n != a->rank)
        return fr_arg_error(f, c, i, fr_textf(f, "a tuple of %u constants, the extents of the box", a->rank));
    for (uint32_t d = 0; d < n; d++) {
        int64_t extent;
        const fr_value *item = v->kind == FR_TUPLE ? &v->as.items[n - 1 - d] : v;
        if (!fr_is_int(item, &extent) || extent < 1 || extent > TENSOR_BOX)
            return fr_arg_error(f, c, i, "constants from 1 to 256, the extents of the box");
        words[1 + d] = (uint32_t)extent;
    }
    if (words[1] * bytes % TENSOR_UNIT)
        return fr_error(f, c->at[i], TS_TILEVALUE, "%s(): a row of the box is a multiple of %d bytes\n  found: %u "
                        "elements of %u bytes", fr_op_name(c), TENSOR_UNIT, words[1], bytes);
    return TS_OK;
}

/* The place along the last axis is a multiple of 16 bytes, or a GPU ends the kernel with an illegal instruction. What
 * is not is reported, and rounded down, so that nobody waits for bytes that never come. */
static ts_val tensor_first(fr *f, const fr_call *c, const fr_array *a, ts_val at)
{
    ts_builder *b = &f->b;
    int64_t known, n = TENSOR_UNIT / (int64_t)ts_dtype_bytes((ts_dtype)a->dtype);
    if (n < 2 || (ts__const_as_int(b->fn, at, &known) && known % n == 0))
        return at;
    ts_val rest = ts_op2(b, TS_OP_andi, at, ts_int(b, TS_T_i32, n - 1), 0);
    const char *text = fr_textf(f, "ValueError: %s(): the box begins at a multiple of %lld elements (16 bytes) along "
                                "the last axis", fr_op_name(c), (long long)n);
    fr_simt_tell(f, ts_cmp(b, TS_OP_cmpi, TS_EQ, rest, ts_int(b, TS_T_i32, 0), 0),
                 &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
    return ts_op2(b, TS_OP_andi, at, ts_int(b, TS_T_i32, -n), 0);
}

/* What is written begins at 0 or after along each axis: a GPU loads boxes that begin before, but ends a kernel that
 * stores one with an illegal instruction. It is reported, and the box put beyond the array: nothing is written. */
static ts_val tensor_written(fr *f, const fr_call *c, ts_val at)
{
    ts_builder *b = &f->b;
    int64_t known;
    if (ts__const_as_int(b->fn, at, &known) && known >= 0)
        return at;
    ts_val fine = ts_cmp(b, TS_OP_cmpi, TS_GE, at, ts_int(b, TS_T_i32, 0), 0);
    const char *text = fr_textf(f, "ValueError: %s(): the box to be written begins before the array", fr_op_name(c));
    fr_simt_tell(f, fine, &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
    return ts_select(b, fine, at, ts_int(b, TS_T_i32, TENSOR_FAR));
}

/* Extents, strides but the first, and the box's place, innermost axis first. */
static ts_status tensor_places(fr *f, const fr_call *c, uint32_t i, const fr_array *a, ts_val *x, uint32_t *n)
{
    bool written = c->op->x == TS_OP_tensor_store;
    const fr_value *index = &c->arg[i];
    uint32_t rank = a->rank, given = index->kind == FR_TUPLE ? index->n : 1;
    if (given != rank)
        return fr_arg_error(f, c, i, fr_textf(f, "%u integers, where the box begins", rank));
    for (uint32_t d = rank; d--;)
        TS_TRY(fr_simt_cast(f, &a->shape[d], TS_DTYPE_int64, &x[(*n)++]));
    for (uint32_t d = rank - 1; d--;)
        TS_TRY(fr_simt_cast(f, &a->stride[d], TS_DTYPE_int64, &x[(*n)++]));
    for (uint32_t d = rank; d--;) {
        const fr_value *item = index->kind == FR_TUPLE ? &index->as.items[d] : index;
        ts_dtype dtype = TS_DTYPE_NONE;
        if (fr_simt_is_number(item))
            TS_TRY(fr_simt_dtype(f, item, &dtype));
        if (!fr_dtype_is_int(dtype))
            return fr_arg_error(f, c, i, "integers, where the box begins");
        TS_TRY(fr_simt_cast(f, item, TS_DTYPE_int32, &x[*n]));
        x[*n] = d == rank - 1 ? tensor_first(f, c, a, x[*n]) : x[*n];
        x[*n] = written ? tensor_written(f, c, x[*n]) : x[*n];
        *n += 1;
    }
    return TS_OK;
}

/* What is known of a place in a shared array, in elements from its begin on: the array's extent, and the least and the
 * most that the place can be; where it is not known, 0 and INT64_MAX. */
typedef struct tensor_span {
    bool is_known;
    int64_t extent, least, most;
} tensor_span;

static tensor_span tensor_span_of(const fr *f, const fr_array *a, const fr_value *index)
{
    tensor_span s = {.is_known = true, .extent = 1};
    for (uint32_t d = 0; d < a->rank; d++) {
        const fr_value *item = index->kind == FR_TUPLE ? &index->as.items[d] : index;
        int64_t n, step, at = 0, most = 0;
        if (!fr_is_int(&a->shape[d], &n) || !fr_is_int(&a->stride[d], &step) || n < 1 || step < 0)
            return (tensor_span){0};
        if (fr_is_int(item, &at)) {
            most = at += at < 0 ? n : 0;
        } else {
            uint32_t bits = item->kind == FR_TILE ? fr_simt_width(f, item->as.v, 0) : 64;
            most = bits < 31 ? ((int64_t)1 << bits) - 1 : INT32_MAX;
        }
        s.extent += (n - 1) * step;
        s.least += at * step;
        s.most += most * step;
    }
    return s;
}

/* The last byte of the array where the box may begin, of an extent that only the running kernel knows. */
static ts_status tensor_last(fr *f, const fr_array *a, int64_t box, ts_val *out)
{
    ts_builder *b = &f->b;
    ts_val last = ts_int(b, TS_T_i64, 1 - box);
    for (uint32_t d = 0; d < a->rank; d++) {
        ts_val n, step;
        TS_TRY(fr_simt_cast(f, &a->shape[d], TS_DTYPE_int64, &n));
        TS_TRY(fr_simt_cast(f, &a->stride[d], TS_DTYPE_int64, &step));
        n = ts_op2(b, TS_OP_muli, ts_op2(b, TS_OP_addi, n, ts_int(b, TS_T_i64, -1), 0), step, 0);
        last = ts_op2(b, TS_OP_addi, last, n, 0);
    }
    *out = ts_op2(b, TS_OP_muli, last, ts_int(b, TS_T_i64, (int64_t)ts_dtype_bytes((ts_dtype)a->dtype)), 0);
    return TS_OK;
}

/* The box is in the array from its place on: seen while compiling where that is known, else reported by the thread,
 * and the box put at the array's begin. */
static ts_status tensor_fits(fr *f, const fr_call *c, uint32_t i, const uint32_t *words, ts_val *place)
{
    ts_builder *b = &f->b;
    const fr_array *a = c->arg[i].as.array;
    tensor_span s = tensor_span_of(f, a, &c->arg[i + 1]);
    int64_t box = 1, step;
    for (uint32_t d = 0; d < words[0]; d++)
        box *= words[1 + d];
    for (uint32_t d = 0; d < a->rank; d++)
        if (fr_is_int(&a->stride[d], &step) && step < 0)
            return TS_OK; /* which elements lie behind a place is not the array's to say */
    if (s.is_known && s.least + box > s.extent)
        return fr_error(f, c->at[i], TS_TILEVALUE, "%s(): a box of %lld elements in a shared array that has %lld from "
                        "there on\n  found: %s\n  help: make the array as large as the box; boxes are dense in it",
                        fr_op_name(c), (long long)box, (long long)TS_MAX(s.extent - s.least, 0),
                        fr_say(f, &c->arg[i]));
    if (s.is_known && s.most + box <= s.extent)
        return TS_OK;
    ts_val last;
    TS_TRY(tensor_last(f, a, box, &last));
    ts_val from = ts_op2(b, TS_OP_subi, ts_cast(b, TS_OP_ptr_to_int, *place, TS_T_i32, 0),
                         ts_cast(b, TS_OP_ptr_to_int, a->base, TS_T_i32, 0), 0);
    ts_val fine = ts_cmp(b, TS_OP_cmpi, TS_LE, ts_cast(b, TS_OP_exti, from, TS_T_i64, TS_A_UNSIGNED), last, 0);
    const char *text = fr_textf(f, "ValueError: %s(): the box of %lld elements goes beyond the shared array's end",
                                fr_op_name(c), (long long)box);
    fr_simt_tell(f, fine, &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
    *place = ts_select(b, fine, *place, fr_simt_pointer(f, a, a->base));
    return TS_OK;
}

/* Element arg[i + 1] of the array arg[i] in shared memory; `count` elements from there on are in it. */
static ts_status tensor_shared(fr *f, const fr_call *c, uint32_t i, const fr_array *a, const uint32_t *words,
                               ts_val *out)
{
    ts_dtype dtype;
    TS_TRY(fr_simt_neighbours(f, c, i, &dtype, out));
    if (fr_simt_space(f, c->arg[i].as.array) != TS_SHARED)
        return fr_arg_error(f, c, i, "an array in shared memory: cuda.shared.array");
    if (dtype != a->dtype)
        return fr_error(f, c->at[i], TS_TILETYPE, "%s() copies elements as they are, %s and %s\n  help: give arrays of "
                        "one dtype; x.view(dtype) shows the same bytes as another", fr_op_name(c),
                        ts_dtype_name((ts_dtype)a->dtype), ts_dtype_name(dtype));
    tensor_align(f, c->arg[i].as.array);
    TS_TRY(tensor_fits(f, c, i, words, out));
    fr_value row = fr_number(words[1]);
    return fr_simt_check_neighbours(f, c, i, &row, TENSOR_ALIGN, *out);
}

/* load(to, to_index, source, index, box, bars, bar), store(to, index, source, source_index, box) */
ts_status fr_simt_tensor(fr *f, const fr_call *c, fr_value *out)
{
    bool load = c->op->x == TS_OP_tensor_load;
    const fr_array *a;
    uint32_t words[1 + TENSOR_RANK], n = 0, global = load ? 2 : 0;
    ts_val x[3 + 3 * TENSOR_RANK];
    *out = fr_none();
    TS_TRY(tensor_array(f, c, global, &a));
    TS_TRY(tensor_box(f, c, 4, a, words));
    if (load) {
        TS_TRY(tensor_shared(f, c, 0, a, words, &x[n++]));
        TS_TRY(fr_simt_mbar_at(f, c, 5, &x[n++]));
        x[n++] = a->base;
    } else {
        x[n++] = a->base;
        TS_TRY(tensor_shared(f, c, 2, a, words, &x[n++]));
    }
    TS_TRY(tensor_places(f, c, global + 1, a, x, &n));
    ts_emit(&f->b, (ts_op)c->op->x, TS_T_none, n, x, ts_pool_add(&f->b, 1 + words[0], words), 0);
    return TS_OK;
}
