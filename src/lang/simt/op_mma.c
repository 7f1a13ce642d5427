/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices by the warp, on tensor cores: cuda.mma. A fragment is a tuple of the numbers that a lane holds,
 * in the order of tessera/mma.def; their dtype and how many there are say which row is meant. Part of the front end
 * (lower.h); rows in simt_op.def.
 *
 *     a = cuda.mma.load_a(x, (row, k), (16, 8, 16))       lane l: x[row + l // 4, k + 2 * (l % 4)], ..
 *     c = cuda.mma.sync(a, b, c)                          mma_sync m16n8k16_f16 of packed registers
 */
#include "lang/simt/op.h"
#include <stdio.h>

enum { MMA_MOST = 16 /* numbers of a fragment */, MMA_REGISTERS = 12 };

/* The dtype of an operand's elements in the language. */
static ts_dtype mma_dtype(const ts_mma_row *row, ts_mma_operand which)
{
    ts_type want = row->type[which] == TS_T_tf32 ? TS_T_f32 : row->type[which];
    for (uint32_t dtype = 1; dtype < TS_DTYPE_COUNT; dtype++)
        if (ts_dtype_get((ts_dtype)dtype)->scalar == want && ts_dtype_get((ts_dtype)dtype)->kind != 'u')
            return (ts_dtype)dtype;
    return TS_DTYPE_NONE;
}

/* Does the operand take numbers of the dtype? Bytes of either sign. */
static bool mma_takes(const ts_mma_row *row, ts_mma_operand which, ts_dtype dtype)
{
    return mma_dtype(row, which) == dtype || (row->type[which] == TS_T_i8 && dtype == TS_DTYPE_uint8);
}

/* Every shape that there is, for messages. */
static const char *mma_shapes(fr *f, ts_dtype dtype)
{
    char *text = ts__arena_get(f->arena, 512), *at = text;
    if (!text)
        return "";
    *at = 0;
    for (uint32_t r = 0; r < TS_MMA_COUNT; r++) {
        const ts_mma_row *row = &ts__mma_rows[r];
        if (!row->n || (dtype && !mma_takes(row, TS_MMA_A, dtype)) || at - text > 400)
            continue;
        at += snprintf(at, (size_t)(text + 512 - at), "%s(%u, %u, %u) of %s: %u, %u and %u numbers",
                       at == text ? "" : "; ", row->m, row->n, row->k,
                       ts_dtype_name(mma_dtype(row, TS_MMA_A)), ts__mma_slots(row, TS_MMA_A),
                       ts__mma_slots(row, TS_MMA_B), ts__mma_slots(row, TS_MMA_C));
    }
    return text;
}

/* ---- the product ------------------------------------------------------------------------------------------------ */

typedef struct mma_fragment {
    const fr_value *items;
    uint32_t n;
    ts_dtype dtype; /* NONE: constants alone */
} mma_fragment;

static ts_status mma_take(fr *f, const fr_call *c, uint32_t i, mma_fragment *out)
{
    const fr_value *v = &c->arg[i];
    *out = (mma_fragment){v->as.items, v->n, TS_DTYPE_NONE};
    if (v->kind != FR_TUPLE || !v->n || v->n > MMA_MOST)
        return fr_arg_error(f, c, i, "a fragment: a tuple of numbers, such as cuda.mma.load_a gives");
    for (uint32_t k = 0; k < v->n; k++) {
        ts_dtype dtype;
        if (!fr_simt_is_number(&v->as.items[k]))
            return fr_arg_error(f, c, i, "a fragment: a tuple of numbers, such as cuda.mma.load_a gives");
        if (v->as.items[k].kind == FR_NUMBER && !v->as.items[k].dtype)
            continue;
        TS_TRY(fr_simt_dtype(f, &v->as.items[k], &dtype));
        if (out->dtype && out->dtype != dtype)
            return fr_arg_error(f, c, i, "a fragment, whose numbers are all of one dtype");
        out->dtype = dtype;
    }
    return TS_OK;
}

static bool mma_fits(const ts_mma_row *row, const mma_fragment *part)
{
    for (uint32_t i = 0; i < 3; i++)
        if (part[i].n != ts__mma_slots(row, (ts_mma_operand)i) ||
            !(mma_takes(row, (ts_mma_operand)i, part[i].dtype) || (i == TS_MMA_C && !part[i].dtype)))
            return false;
    return row->n != 0;
}

/* A number as an element of the row's operand. */
static ts_status mma_element(fr *f, const ts_mma_row *row, ts_mma_operand which, const fr_value *v, ts_dtype dtype,
                             ts_val *out)
{
    TS_TRY(fr_simt_cast(f, v, dtype, out));
    if (row->type[which] == TS_T_tf32)
        *out = ts_cast(&f->b, TS_OP_ftof, *out, TS_T_tf32, 0);
    return TS_OK;
}

static ts_val mma_as(ts_builder *b, ts_val x, ts_type type)
{
    return ts_type_of(b->fn, x) == type ? x : ts_cast(b, TS_OP_bitcast, x, type, 0);
}

ts_val fr_simt_pack(fr *f, const ts_val *x, uint32_t per)
{
    ts_builder *b = &f->b;
    ts_val pair[2];
    if (per == 1)
        return x[0];
    if (per == 2)
        return ts_emit(b, TS_OP_pack2, TS_T_i32, 2, x, 0, 0);
    for (uint32_t i = 0; i < 2; i++) {
        ts_val byte[2] = {mma_as(b, x[2 * i], TS_T_i8), mma_as(b, x[2 * i + 1], TS_T_i8)};
        pair[i] = ts_emit(b, TS_OP_pack2, TS_T_i16, 2, byte, 0, 0);
    }
    return ts_emit(b, TS_OP_pack2, TS_T_i32, 2, pair, 0, 0);
}

void fr_simt_unpack(fr *f, ts_val word, ts_type elem, uint32_t per, ts_val *out)
{
    ts_builder *b = &f->b;
    ts_type half[2] = {per == 2 ? elem : TS_T_i16, per == 2 ? elem : TS_T_i16}, byte[2] = {TS_T_i8, TS_T_i8};
    if (per == 1) {
        out[0] = mma_as(b, word, elem);
        return;
    }
    ts_val halves = ts_emit_multi(b, TS_OP_unpack2, 1, &word, 0, 0, 2, half) + 1;
    for (uint32_t i = 0; i < 2; i++) {
        ts_val x = halves + i;
        if (per == 2) {
            out[i] = x;
            continue;
        }
        ts_val bytes = ts_emit_multi(b, TS_OP_unpack2, 1, &x, 0, 0, 2, byte) + 1;
        out[2 * i] = mma_as(b, bytes, elem);
        out[2 * i + 1] = mma_as(b, bytes + 1, elem);
    }
}

static ts_status mma_registers(fr *f, const ts_mma_row *row, ts_mma_operand which, const mma_fragment *part,
                               ts_val *out)
{
    ts_val x[MMA_MOST];
    uint32_t per = ts__mma_per_register(row, which);
    ts_dtype dtype = part->dtype ? part->dtype : mma_dtype(row, which);
    for (uint32_t i = 0; i < part->n; i++)
        TS_TRY(mma_element(f, row, which, &part->items[i], dtype, &x[i]));
    for (uint32_t i = 0; i < row->regs[which]; i++)
        out[i] = fr_simt_pack(f, x + i * per, per);
    return TS_OK;
}

static ts_status mma_no_row(fr *f, const fr_call *c, const mma_fragment *part)
{
    const char *name[3];
    for (uint32_t i = 0; i < 3; i++)
        name[i] = part[i].dtype ? ts_dtype_name(part[i].dtype) : "constants";
    return fr_error(f, c->node, TS_TILETYPE,
                    "%s(): no tensor core multiplies such fragments\n  found: a: %u %s, b: %u %s, c: %u %s\n  help: "
                    "the shapes are %s; c is float32 (int32 for bytes, float64 for float64)",
                    fr_op_name(c), part[0].n, name[0], part[1].n, name[1], part[2].n, name[2],
                    mma_shapes(f, part[0].dtype));
}

ts_status fr_simt_mma_sync(fr *f, const fr_call *c, fr_value *out)
{
    mma_fragment part[3];
    ts_val opnds[MMA_REGISTERS];
    ts_type types[4];
    fr_value items[4];
    uint32_t r = 0, n = 0;
    for (uint32_t i = 0; i < 3; i++)
        TS_TRY(mma_take(f, c, i, &part[i]));
    while (r < TS_MMA_COUNT && !mma_fits(&ts__mma_rows[r], part))
        r++;
    if (r == TS_MMA_COUNT)
        return mma_no_row(f, c, part);
    const ts_mma_row *row = &ts__mma_rows[r];
    for (uint32_t i = 0; i < 3; n += row->regs[i++])
        TS_TRY(mma_registers(f, row, (ts_mma_operand)i, &part[i], opnds + n));
    uint32_t flags = (part[0].dtype == TS_DTYPE_uint8 ? TS_MMA_U_A : 0) |
                     (part[1].dtype == TS_DTYPE_uint8 ? TS_MMA_U_B : 0), n_c = row->regs[TS_MMA_C];
    for (uint32_t i = 0; i < n_c; i++)
        types[i] = row->type[TS_MMA_C];
    ts_val v = ts_emit_multi(&f->b, TS_OP_mma_sync, n, opnds, TS_MMA_ATTR(r, 0, flags), 0, n_c, types);
    for (uint32_t i = 0; i < n_c; i++)
        items[i] = fr_tile(mma_dtype(row, TS_MMA_C), v + 1 + i);
    return fr_tuple(f, n_c, items, out);
}

/* ---- fragments of arrays ---------------------------------------------------------------------------------------- */

/* The row of this shape whose operand has elements of the dtype. */
static ts_status mma_shape(fr *f, const fr_call *c, uint32_t at, ts_mma_operand which, ts_dtype dtype,
                           const ts_mma_row **out)
{
    const fr_value *v = &c->arg[at];
    int64_t dims[3] = {0};
    for (uint32_t i = 0; v->kind == FR_TUPLE && v->n == 3 && i < 3; i++)
        if (!fr_is_int(&v->as.items[i], &dims[i]))
            dims[0] = 0;
    if (dims[0] == 0)
        return fr_arg_error(f, c, at, "the shape (m, n, k) of a product, constants, such as (16, 8, 16)");
    for (uint32_t r = 0; r < TS_MMA_COUNT; r++) {
        const ts_mma_row *row = &ts__mma_rows[r];
        if (row->n && row->m == dims[0] && row->n == dims[1] && row->k == dims[2] && mma_takes(row, which, dtype)) {
            *out = row;
            return TS_OK;
        }
    }
    return fr_error(f, c->at[at], TS_TILETYPE,
                    "%s(): no tensor core multiplies %s elements in the shape %s\n  help: the shapes are %s",
                    fr_op_name(c), ts_dtype_name(dtype), fr_say(f, v), mma_shapes(f, which == TS_MMA_C ? 0 : dtype));
}

/* The array and the index of the matrix' first element. */
static ts_status mma_matrix(fr *f, const fr_call *c)
{
    const fr_value *a = &c->arg[0], *index = &c->arg[1];
    if (a->kind != FR_ARRAY || a->as.array->rank != 2 || !a->as.array->dtype)
        return fr_arg_error(f, c, 0, "an array of numbers with two axes");
    if (index->kind != FR_TUPLE || index->n != 2 || !fr_simt_is_number(&index->as.items[0]) ||
        !fr_simt_is_number(&index->as.items[1]))
        return fr_arg_error(f, c, 1, "the index of the first element, (row, column)");
    return TS_OK;
}

typedef struct mma_walk {
    ts_mma_operand which;
    uint32_t bits;
    fr_value first[2]; /* index of the lane's slot 0 */
} mma_walk;

static ts_status mma_add(fr *f, const fr_value *x, const fr_value *y, fr_value *out)
{
    return fr_simt_binary(f, TS_OPERATOR_Add, x, y, (fr_options){0}, out);
}

/* (lane / 4) * by_group + (lane % 4) * by_lane: each bit of the lane moves a place whatever the others are. */
static fr_value mma_lane_part(fr *f, uint32_t by_group, uint32_t by_lane)
{
    ts_builder *b = &f->b;
    ts_val lane = ts_emit(b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_LANEID, 0, 0), 0), sum = 0;
    uint32_t by[] = {by_group, by_lane};
    for (uint32_t i = 0; i < 2; i++) {
        if (!by[i])
            continue;
        ts_val part = i ? ts_op2(b, TS_OP_andi, lane, ts_int(b, TS_T_i32, 3), 0)
                        : ts_op2(b, TS_OP_shri, lane, ts_int(b, TS_T_i32, 2), TS_A_UNSIGNED);
        part = ts_op2(b, TS_OP_muli, part, ts_int(b, TS_T_i32, by[i]), 0);
        sum = sum ? ts_op2(b, TS_OP_addi, sum, part, 0) : part;
    }
    return sum ? fr_tile(TS_DTYPE_int32, sum) : fr_strict(TS_DTYPE_int32, 0);
}

static ts_status mma_walk_begin(fr *f, const fr_call *c, ts_mma_operand which, ts_dtype dtype, mma_walk *out)
{
    uint32_t group[2], lane[2];
    *out = (mma_walk){.which = which, .bits = fr_dtype_bits(dtype)};
    ts__mma_place(which, out->bits, 4, 0, &group[0], &group[1]);
    ts__mma_place(which, out->bits, 1, 0, &lane[0], &lane[1]);
    for (uint32_t d = 0; d < 2; d++) {
        fr_value part = mma_lane_part(f, group[d], lane[d]);
        TS_TRY(mma_add(f, &c->arg[1].as.items[d], &part, &out->first[d]));
    }
    return TS_OK;
}

static ts_status mma_walk_index(fr *f, const mma_walk *w, uint32_t slot, fr_value *out)
{
    uint32_t place[2];
    fr_value index[2];
    ts__mma_place(w->which, w->bits, 0, slot, &place[0], &place[1]);
    for (uint32_t d = 0; d < 2; d++) {
        fr_value more = fr_number(place[d]);
        TS_TRY(mma_add(f, &w->first[d], &more, &index[d]));
    }
    return fr_tuple(f, 2, index, out);
}

ts_status fr_simt_mma_load(fr *f, const fr_call *c, fr_value *out)
{
    const ts_mma_row *row = NULL;
    ts_mma_operand which = (ts_mma_operand)c->op->x;
    mma_walk walk;
    fr_value items[MMA_MOST], index;
    TS_TRY(mma_matrix(f, c));
    ts_dtype dtype = (ts_dtype)c->arg[0].as.array->dtype;
    TS_TRY(mma_shape(f, c, 2, which, dtype, &row));
    TS_TRY(mma_walk_begin(f, c, which, dtype, &walk));
    uint32_t n = ts__mma_slots(row, which);
    for (uint32_t i = 0; i < n; i++) {
        TS_TRY(mma_walk_index(f, &walk, i, &index));
        TS_TRY(fr_simt_get_item(f, c->node, &c->arg[0], &index, &items[i]));
    }
    return fr_tuple(f, n, items, out);
}

ts_status fr_simt_mma_store(fr *f, const fr_call *c, fr_value *out)
{
    const ts_mma_row *row = NULL;
    mma_fragment part;
    mma_walk walk;
    fr_value index;
    TS_TRY(mma_matrix(f, c));
    TS_TRY(mma_take(f, c, 2, &part));
    TS_TRY(mma_shape(f, c, 3, TS_MMA_C, part.dtype ? part.dtype : TS_DTYPE_float32, &row));
    if (part.n != ts__mma_slots(row, TS_MMA_C))
        return fr_error(f, c->at[2], TS_TILETYPE, "%s(): the fragment has %u numbers, a lane of this shape holds %u",
                        fr_op_name(c), part.n, ts__mma_slots(row, TS_MMA_C));
    TS_TRY(mma_walk_begin(f, c, TS_MMA_C, part.dtype, &walk));
    for (uint32_t i = 0; i < part.n; i++) {
        TS_TRY(mma_walk_index(f, &walk, i, &index));
        TS_TRY(fr_simt_set_item(f, c->node, &c->arg[0], &index, &part.items[i]));
    }
    *out = fr_none();
    return TS_OK;
}

/* ---- matrices of 8 rows of 16 bytes in shared memory --------------------------------------------------------------
 * */

typedef struct mma_rows {
    ts_dtype dtype;
    ts_val row;      /* where this lane's row begins */
    uint32_t per;    /* numbers of a register */
    bool transposed;
} mma_rows;

static ts_status mma_rows_of(fr *f, const fr_call *c, mma_rows *out)
{
    uint32_t bits = c->arg[0].kind == FR_ARRAY ? fr_dtype_bits((ts_dtype)c->arg[0].as.array->dtype) : 0;
    fr_value whole = fr_number(bits >= 8 ? 128 / bits : 1);
    TS_TRY(fr_simt_neighbours(f, c, 0, &out->dtype, &out->row));
    if (fr_simt_space(f, c->arg[0].as.array) != TS_SHARED)
        return fr_arg_error(f, c, 0, "an array in shared memory: cuda.shared.array");
    if (bits < 8 || bits > 32)
        return fr_arg_error(f, c, 0, "an array of numbers of 8, 16 or 32 bits");
    out->per = 32 / bits;
    if (fr_given(c, 3) && c->arg[3].kind != FR_NUMBER)
        return fr_arg_error(f, c, 3, "a constant, True or False");
    out->transposed = fr_given(c, 3) && c->arg[3].as.i;
    if (out->transposed && bits != 16)
        return fr_arg_error(f, c, 3, "False: only matrices of 16 bits are transposed");
    return fr_simt_check_neighbours(f, c, 0, &whole, 16, out->row);
}

ts_status fr_simt_mma_matrix_load(fr *f, const fr_call *c, fr_value *out)
{
    static const ts_type words[] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32};
    fr_value items[MMA_MOST];
    ts_val x[4];
    mma_rows rows;
    int64_t n;
    TS_TRY(mma_rows_of(f, c, &rows));
    if (!fr_is_int(&c->arg[2], &n) || (n != 1 && n != 2 && n != 4))
        return fr_arg_error(f, c, 2, "1, 2 or 4 matrices, a constant");
    ts_val v = ts_emit_multi(&f->b, TS_OP_ldmatrix, 1, &rows.row, TS_S(0, n, rows.transposed), 0, (uint32_t)n, words);
    for (uint32_t i = 0; i < n; i++) {
        fr_simt_unpack(f, v + 1 + i, fr_simt_storage(rows.dtype), rows.per, x);
        for (uint32_t k = 0; k < rows.per; k++)
            items[i * rows.per + k] = fr_simt_loaded(f, rows.dtype, x[k]);
    }
    return fr_tuple(f, (uint32_t)n * rows.per, items, out);
}

ts_status fr_simt_mma_matrix_store(fr *f, const fr_call *c, fr_value *out)
{
    const fr_value *values = &c->arg[2];
    ts_val x[MMA_MOST], opnds[5];
    mma_rows rows;
    *out = fr_none();
    TS_TRY(mma_rows_of(f, c, &rows));
    uint32_t n = values->kind == FR_TUPLE ? values->n / rows.per : 0;
    if ((n != 1 && n != 2 && n != 4) || values->n % rows.per)
        return fr_arg_error(f, c, 2, fr_textf(f, "a tuple of %u, %u or %u numbers: 1, 2 or 4 matrices", rows.per,
                                              2 * rows.per, 4 * rows.per));
    for (uint32_t i = 0; i < values->n; i++)
        TS_TRY(fr_simt_stored(f, rows.dtype, &values->as.items[i], &x[i]));
    opnds[0] = rows.row;
    for (uint32_t i = 0; i < n; i++)
        opnds[1 + i] = mma_as(&f->b, fr_simt_pack(f, x + i * rows.per, rows.per), TS_T_i32);
    ts_emit(&f->b, TS_OP_stmatrix, TS_T_none, 1 + n, opnds, TS_S(0, n, rows.transposed), 0);
    return TS_OK;
}
