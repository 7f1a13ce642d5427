/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies that go on while the thread does other things, and barriers that count them: cp.async, mbarriers, bulk copies.
 * Part of the front end (lower.h); rows in simt_op.def.
 *
 *     cuda.cp_async(to, i, x, k, 4)              cp_async bytes=16 %to_i, %x_k
 *     cuda.mbarrier.wait(bars, 0, turn)          mbar_wait %bars_0, turn & 1
 */
#include "lang/simt/op.h"

/* A constant of the row's instruction, or what is given when it is left out. */
static ts_status async_constant(fr *f, const fr_call *c, uint32_t i, int64_t most, int64_t *out)
{
    if (!fr_given(c, i))
        return TS_OK;
    if (!fr_is_int(&c->arg[i], out) || *out < 0 || *out > most)
        return fr_arg_error(f, c, i, fr_textf(f, "a constant from 0 to %lld", (long long)most));
    return TS_OK;
}

static ts_status async_space(fr *f, const fr_call *c, uint32_t i, ts_space space)
{
    if (fr_simt_space(f, c->arg[i].as.array) != space)
        return fr_arg_error(f, c, i, space == TS_SHARED ? "an array in shared memory: cuda.shared.array"
                                                        : "an array in global memory: an argument of the kernel");
    return TS_OK;
}

/* Two arrays, arguments 0 and 2, each with its index behind it: one in shared memory, one in global memory, of one
 * dtype. x: the addresses. */
static ts_status async_pair(fr *f, const fr_call *c, bool stores, ts_dtype *dtype, ts_val x[2])
{
    ts_dtype other;
    TS_TRY(fr_simt_neighbours(f, c, 0, dtype, &x[0]));
    TS_TRY(async_space(f, c, 0, stores ? TS_GLOBAL : TS_SHARED));
    TS_TRY(fr_simt_neighbours(f, c, 2, &other, &x[1]));
    TS_TRY(async_space(f, c, 2, stores ? TS_SHARED : TS_GLOBAL));
    if (*dtype != other)
        return fr_error(f, c->at[2], TS_TILETYPE, "%s() copies elements as they are, from %s to %s\n  help: give "
                        "arrays of one dtype; x.view(dtype) shows the same bytes as another", fr_op_name(c),
                        ts_dtype_name(other), ts_dtype_name(*dtype));
    return TS_OK;
}

/* ---- cp.async -------------------------------------------------------------------------------------- */

/* How many of the elements are there, and as bytes. */
static ts_status async_valid(fr *f, const fr_call *c, int64_t count, uint32_t bytes, fr_value *n, ts_val *out)
{
    fr_value low = fr_number(0), high = fr_number(count);
    if (!fr_simt_is_number(&c->arg[5]))
        return fr_arg_error(f, c, 5, "an integer, how many of the elements are copied; the others are zeros");
    TS_TRY(fr_simt_minmax(f, true, &c->arg[5], &low, 0, n));
    TS_TRY(fr_simt_minmax(f, false, n, &high, 0, n));
    TS_TRY(fr_simt_cast(f, n, TS_DTYPE_int32, out));
    *out = ts_op2(&f->b, TS_OP_muli, *out, ts_int(&f->b, TS_T_i32, bytes), 0);
    return TS_OK;
}

/* What is read is in the array; where nothing is read, the index does not matter. */
static ts_status async_check_valid(fr *f, const fr_call *c, const fr_value *n, uint32_t align, ts_val from,
                                   ts_val bytes)
{
    if (!fr_simt_reports(f, TS_CHECK_BOUNDS))
        return TS_OK;
    ts_val some = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, bytes, ts_int(&f->b, TS_T_i32, 0), 0);
    ts_val opener = ts_if_begin(&f->b, some);
    TS_TRY(fr_simt_check_neighbours(f, c, 2, n, align, from));
    ts_if_end(&f->b, opener);
    return TS_OK;
}

ts_status fr_simt_cp_async(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype dtype = c->arg[0].kind == FR_ARRAY ? (ts_dtype)c->arg[0].as.array->dtype : TS_DTYPE_NONE;
    uint32_t each = dtype ? (uint32_t)ts_dtype_bytes(dtype) : 1;
    int64_t n = 0;
    ts_val x[3];
    *out = fr_none();
    if (!fr_is_int(&c->arg[4], &n))
        return fr_arg_error(f, c, 4, "a constant, how many elements");
    if (dtype && n * each != 4 && n * each != 8 && n * each != 16)
        return fr_error(f, c->at[4], TS_TILEVALUE, "%s(): a thread copies 4, 8 or 16 bytes at once\n  found: %lld "
                        "elements of %u bytes", fr_op_name(c), (long long)n, each);
    fr_value count = fr_number(n), valid = count;
    uint32_t bytes = (uint32_t)n * each;
    TS_TRY(async_pair(f, c, false, &dtype, x));
    TS_TRY(fr_simt_check_neighbours(f, c, 0, &count, bytes, x[0]));
    if (fr_given(c, 5)) {
        TS_TRY(async_valid(f, c, n, each, &valid, &x[2]));
        TS_TRY(async_check_valid(f, c, &valid, bytes, x[1], x[2]));
    } else {
        TS_TRY(fr_simt_check_neighbours(f, c, 2, &count, bytes, x[1]));
    }
    ts_emit(&f->b, TS_OP_cp_async, TS_T_none, fr_given(c, 5) ? 3 : 2, x, TS_S(0, bytes, 0),
            fr_given(c, 5) ? TS_F_SRC : 0);
    return TS_OK;
}

/* x: the operation; y: it takes a number of groups, and perhaps whether only reads are waited for. */
ts_status fr_simt_copies(fr *f, const fr_call *c, fr_value *out)
{
    int64_t pending = 0, read = 0;
    *out = fr_none();
    if (c->op->y)
        TS_TRY(async_constant(f, c, 0, 7, &pending));
    if (c->op->y > 1)
        TS_TRY(async_constant(f, c, 1, 1, &read));
    ts_emit(&f->b, (ts_op)c->op->x, TS_T_none, 0, NULL, c->op->y ? TS_S(0, pending, read) : 0, 0);
    return TS_OK;
}

/* ---- mbarriers ------------------------------------------------------------------------------------- */

ts_status fr_simt_mbar_at(fr *f, const fr_call *c, uint32_t i, ts_val *out)
{
    fr_value one = fr_number(1);
    ts_dtype dtype;
    TS_TRY(fr_simt_neighbours(f, c, i, &dtype, out));
    if (dtype != TS_DTYPE_uint64 && dtype != TS_DTYPE_int64)
        return fr_arg_error(f, c, i, "barriers: an array of uint64 in shared memory");
    TS_TRY(async_space(f, c, i, TS_SHARED));
    return fr_simt_check_neighbours(f, c, i, &one, 8, *out);
}

static ts_status async_int32(fr *f, const fr_call *c, uint32_t i, const char *what, ts_val *out)
{
    ts_dtype dtype = TS_DTYPE_NONE;
    if (fr_simt_is_number(&c->arg[i]))
        TS_TRY(fr_simt_dtype(f, &c->arg[i], &dtype));
    if (dtype != TS_DTYPE_bool_ && !fr_dtype_is_int(dtype))
        return fr_arg_error(f, c, i, what);
    return fr_simt_cast(f, &c->arg[i], TS_DTYPE_int32, out);
}

ts_status fr_simt_mbar_init(fr *f, const fr_call *c, fr_value *out)
{
    int64_t n;
    ts_val x[2];
    *out = fr_none();
    TS_TRY(fr_simt_mbar_at(f, c, 0, &x[0]));
    bool known = fr_is_int(&c->arg[2], &n) && n <= 0xFFFF;
    if (known && n < 1)
        return fr_arg_error(f, c, 2, "how many arrivals complete a phase, at least 1");
    TS_TRY(async_int32(f, c, 2, "how many arrivals complete a phase, an integer", &x[1]));
    ts_emit(&f->b, TS_OP_mbar_init, TS_T_none, known ? 1 : 2, x, known ? TS_S(0, n, 0) : 0, 0);
    return TS_OK;
}

/* x: the operation, of the barrier alone; y: and of bytes or a phase. */
ts_status fr_simt_mbar(fr *f, const fr_call *c, fr_value *out)
{
    ts_val x[2];
    *out = fr_none();
    TS_TRY(fr_simt_mbar_at(f, c, 0, &x[0]));
    if (c->op->y)
        TS_TRY(async_int32(f, c, 2, c->op->x == TS_OP_mbar_wait ? "the phase, an integer: 0 for the first, 1, 2 .."
                                                                : "bytes, an integer", &x[1]));
    if (c->op->x == TS_OP_mbar_wait)
        x[1] = ts_op2(&f->b, TS_OP_andi, x[1], ts_int(&f->b, TS_T_i32, 1), 0);
    ts_emit(&f->b, (ts_op)c->op->x, TS_T_none, c->op->y ? 2 : 1, x, 0, 0);
    return TS_OK;
}

/* ---- bulk copies ------------------------------------------------------------------------------------ */

enum { ASYNC_BULK = 16 };

/* load(to, to_index, source, index, count, bars, bar), store(to, to_index, source, index, count) */
ts_status fr_simt_bulk(fr *f, const fr_call *c, fr_value *out)
{
    bool stores = c->op->x == TS_OP_bulk_store;
    ts_dtype dtype;
    ts_val x[2], bytes, bar = 0;
    int64_t n;
    *out = fr_none();
    TS_TRY(async_int32(f, c, 4, "how many elements, an integer", &bytes));
    TS_TRY(async_pair(f, c, stores, &dtype, x));
    for (uint32_t i = 0; i < 2; i++)
        TS_TRY(fr_simt_check_neighbours(f, c, 2 * i, &c->arg[4], ASYNC_BULK, x[i]));
    uint32_t each = (uint32_t)ts_dtype_bytes(dtype);
    if (fr_is_int(&c->arg[4], &n) && (n < 1 || n * each % ASYNC_BULK))
        return fr_error(f, c->at[4], TS_TILEVALUE, "%s() copies multiples of %d bytes\n  found: %lld elements of %u "
                        "bytes", fr_op_name(c), ASYNC_BULK, (long long)n, each);
    if (each > 1)
        bytes = ts_op2(&f->b, TS_OP_muli, bytes, ts_int(&f->b, TS_T_i32, each), 0);
    if (!stores)
        TS_TRY(fr_simt_mbar_at(f, c, 5, &bar));
    ts_val opnds[] = {x[0], stores ? x[1] : bar, stores ? bytes : x[1], bytes};
    ts_emit(&f->b, (ts_op)c->op->x, TS_T_none, stores ? 3 : 4, opnds, 0, 0);
    return TS_OK;
}

/* ---- shared memory of other blocks -------------------------------------------------------------------- */

ts_status fr_simt_map_shared(fr *f, const fr_call *c, fr_value *out)
{
    ts_val x[2];
    if (c->arg[0].kind != FR_GROUP || c->arg[0].n != FR_GROUP_CLUSTER)
        return fr_arg_error(f, c, 0, "a cluster, cuda.cg.this_cluster()");
    if (c->arg[1].kind != FR_ARRAY || fr_simt_space(f, c->arg[1].as.array) != TS_SHARED)
        return fr_arg_error(f, c, 1, "an array in shared memory: cuda.shared.array");
    TS_TRY(async_int32(f, c, 2, "the number of a block in its cluster, an integer", &x[1]));
    if (fr_simt_reports(f, TS_CHECK_BOUNDS)) {
        ts_val n = ts_emit(&f->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_SIZE, 0, 0), 0);
        fr_simt_check(f, ts_cmp(&f->b, TS_OP_cmpi, TS_LT, x[1], n, TS_A_UNSIGNED),
                      &(fr_fault){.code = TS_FAULT_RAISE,
                                  .text = "ValueError: map_shared(): no such block in the cluster"});
    }
    fr_array *made = TS_NEW(f->arena, fr_array);
    if (!made)
        return fr_oom(f);
    *made = *c->arg[1].as.array;
    x[0] = made->base;
    made->base = ts_emit(&f->b, TS_OP_mapa, ts_type_of(f->b.fn, x[0]), 2, x, 0, 0);
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    return TS_OK;
}
