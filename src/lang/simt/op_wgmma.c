/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices by four warps, out of shared memory: cuda.wgmma. Part of the front end (lower.h); rows in
 * simt_op.def.
 *
 * An operand is a shared array of three axes, (chunks, rows, numbers of 16 bytes): number k of a row is
 * x[k / per, row, k % per]. So eight rows of a chunk are the 128 bytes that the hardware reads at once, and the strides
 * of its descriptor are those of the array:
 *
 *     descriptor    address >> 4 | (bytes from chunk to chunk) >> 4 << 16 | (bytes of 8 rows, 128) >> 4 << 32
 */
#include "lang/simt/op.h"

enum { WGMMA_CHUNK = 16 /* bytes */, WGMMA_ROWS = 8 * WGMMA_CHUNK, WGMMA_MOST = 128, WGMMA_STEP = 0x3FFFF };

/* The row of mma.def for elements of this dtype, and what the accumulators are. */
static const ts_mma_row *wgmma_row(ts_dtype dtype, uint32_t *number)
{
    ts_type elem = dtype == TS_DTYPE_float32 ? TS_T_tf32 : dtype == TS_DTYPE_uint8 ? TS_T_i8 : fr_simt_storage(dtype);
    for (*number = 0; *number < TS_MMA_COUNT; ++*number) {
        const ts_mma_row *row = &ts__mma_rows[*number];
        if (row->m == 64 && row->type[TS_MMA_A] == elem && row->type[TS_MMA_C] != TS_T_f16)
            return row;
    }
    return NULL;
}

/* Bytes from one chunk of the array to the next; 0 where it does not lie as wanted. */
static int64_t wgmma_step(fr *f, const fr_array *a)
{
    int64_t bytes = (int64_t)ts_dtype_bytes((ts_dtype)a->dtype), n = 0, rows = 0, step = 0, one = 0;
    bool known = a->rank == 3 && fr_is_int(&a->shape[2], &n) && fr_is_int(&a->stride[2], &one) &&
                 fr_is_int(&a->stride[1], &rows) && fr_is_int(&a->stride[0], &step);
    bool fits = known && n * bytes == WGMMA_CHUNK && one == 1 && rows == n && fr_simt_space(f, a) == TS_SHARED;
    return fits && step * bytes <= WGMMA_STEP ? step * bytes : 0;
}

/* The descriptor of argument i, an array with the index (chunk, row) behind it. */
static ts_status wgmma_descriptor(fr *f, const fr_call *c, uint32_t i, ts_val *out)
{
    const fr_value *array = &c->arg[i], *index = &c->arg[i + 1];
    ts_builder *b = &f->b;
    fr_value items[3], whole;
    ts_val address, half[2];
    if (array->kind != FR_ARRAY || !array->as.array->dtype)
        return fr_arg_error(f, c, i, "an array in shared memory, (chunks, rows, numbers of 16 bytes)");
    int64_t step = wgmma_step(f, array->as.array);
    if (!step)
        return fr_arg_error(f, c, i, "an array in shared memory, (chunks, rows, numbers of 16 bytes), such as "
                                     "cuda.shared.array((4, 64, 8), np.float16), alignment 128");
    if (index->kind != FR_TUPLE || index->n != 2)
        return fr_arg_error(f, c, i + 1, "(chunk, row), where the operand begins");
    memcpy(items, index->as.items, 2 * sizeof *items);
    items[2] = fr_number(0);
    TS_TRY(fr_tuple(f, 3, items, &whole));
    TS_TRY(fr_simt_address(f, c->node, array, &whole, FR_CHECKED, &address));
    ts_val low = ts_cast(b, TS_OP_ptr_to_int, address, TS_T_i32, 0);
    low = ts_op2(b, TS_OP_andi, low, ts_int(b, TS_T_i32, WGMMA_STEP), 0);
    low = ts_op2(b, TS_OP_shri, low, ts_int(b, TS_T_i32, 4), TS_A_UNSIGNED);
    half[0] = ts_op2(b, TS_OP_ori, low, ts_int(b, TS_T_i32, step >> 4 << 16), 0);
    half[1] = ts_int(b, TS_T_i32, WGMMA_ROWS >> 4);
    *out = ts_emit(b, TS_OP_pack2, TS_T_i64, 2, half, 0, 0);
    return TS_OK;
}

/* The dtype of a: of the array, or of the numbers of a fragment. */
static ts_status wgmma_dtype(fr *f, const fr_call *c, ts_dtype *out)
{
    const fr_value *a = &c->arg[0];
    *out = a->kind == FR_ARRAY ? (ts_dtype)a->as.array->dtype : TS_DTYPE_NONE;
    if (a->kind == FR_TUPLE && a->n && fr_simt_is_number(&a->as.items[0]))
        TS_TRY(fr_simt_dtype(f, &a->as.items[0], out));
    return TS_OK;
}

/* Four registers of a fragment as cuda.mma.load_a gives it for 16 rows, this warp's. */
static ts_status wgmma_fragment(fr *f, const fr_call *c, const ts_mma_row *row, ts_dtype dtype, ts_val out[4])
{
    uint32_t per = ts__mma_per_register(row, TS_MMA_A);
    ts_val x[4];
    if (c->arg[0].n != 4 * per)
        return fr_arg_error(f, c, 0, fr_textf(f, "an array, or a fragment of %u numbers", 4 * per));
    for (uint32_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k < per; k++) {
            TS_TRY(fr_simt_cast(f, &c->arg[0].as.items[i * per + k], dtype, &x[k]));
            if (row->type[TS_MMA_A] == TS_T_tf32)
                x[k] = ts_cast(&f->b, TS_OP_ftof, x[k], TS_T_tf32, 0);
        }
        out[i] = fr_simt_pack(f, x, per);
    }
    return TS_OK;
}

/* The accumulators: n / 2 numbers. */
static ts_status wgmma_accumulators(fr *f, const fr_call *c, ts_dtype dtype, ts_val *out)
{
    const fr_value *v = &c->arg[4];
    if (v->kind != FR_TUPLE || v->n < 4 || v->n % 4 || v->n > WGMMA_MOST)
        return fr_arg_error(f, c, 4, fr_textf(f, "a tuple of n / 2 numbers of %s: n is 8, 16, 24 .. 256",
                                              ts_dtype_name(dtype)));
    for (uint32_t i = 0; i < v->n; i++) {
        if (!fr_simt_is_number(&v->as.items[i]))
            return fr_arg_error(f, c, 4, "a tuple of numbers");
        TS_TRY(fr_simt_cast(f, &v->as.items[i], dtype, &out[i]));
    }
    return TS_OK;
}

/* mma(a, a_index, b, b_index, c, accumulate=True): c + a @ b; a is (64, k), b is (n, k), k is 32 bytes. */
ts_status fr_simt_wgmma(fr *f, const fr_call *c, fr_value *out)
{
    ts_val opnds[WGMMA_MOST + 6];
    ts_type types[WGMMA_MOST];
    fr_value items[WGMMA_MOST];
    ts_dtype dtype, other = c->arg[2].kind == FR_ARRAY ? (ts_dtype)c->arg[2].as.array->dtype : TS_DTYPE_NONE;
    uint32_t number, flags = 0, n = c->arg[4].n;
    TS_TRY(wgmma_dtype(f, c, &dtype));
    const ts_mma_row *row = dtype ? wgmma_row(dtype, &number) : NULL;
    if (!row || fr_dtype_bits(dtype) != fr_dtype_bits(other) || wgmma_row(other, &number) != row)
        return fr_error(f, c->node, TS_TILETYPE, "%s(): no tensor core multiplies such operands\n  found: a: %s, b: "
                        "%s\n  help: float16, bfloat16, float32 (as TF32), int8, uint8 and float8, the same for both",
                        fr_op_name(c), fr_say(f, &c->arg[0]), fr_say(f, &c->arg[2]));
    ts_dtype acc = row->type[TS_MMA_C] == TS_T_i32 ? TS_DTYPE_int32 : TS_DTYPE_float32;
    TS_TRY(wgmma_accumulators(f, c, acc, opnds));
    uint32_t at = n;
    if (c->arg[0].kind == FR_TUPLE) {
        flags |= TS_MMA_A_REGS;
        TS_TRY(wgmma_fragment(f, c, row, dtype, opnds + at));
        at += 4;
    } else {
        TS_TRY(wgmma_descriptor(f, c, 0, &opnds[at++]));
    }
    TS_TRY(wgmma_descriptor(f, c, 2, &opnds[at++]));
    opnds[at] = ts_int(&f->b, TS_T_i1, 1);
    if (fr_given(c, 5))
        TS_TRY(fr_simt_truth(f, &c->arg[5], &opnds[at]));
    flags |= (dtype == TS_DTYPE_uint8 ? TS_MMA_U_A : 0) | (other == TS_DTYPE_uint8 ? TS_MMA_U_B : 0);
    for (uint32_t i = 0; i < n; i++)
        types[i] = row->type[TS_MMA_C];
    ts_val v = ts_emit_multi(&f->b, TS_OP_wgmma, at + 1, opnds, TS_MMA_ATTR(number, 2 * n, flags), 0, n, types);
    for (uint32_t i = 0; i < n; i++)
        items[i] = fr_tile(acc, v + 1 + i);
    return fr_tuple(f, n, items, out);
}
