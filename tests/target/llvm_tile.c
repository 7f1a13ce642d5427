/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles on the CPU target against the evaluator: shapes, reductions, scans, control flow.
 */
#include "llvm_run.h"

static ts_type tile_of(run *r, ts_type elem, uint32_t rank, int64_t a, int64_t b, int64_t c)
{
    int64_t dims[] = {a, b, c};
    return ts_type_tile(r->m, elem, rank, dims);
}

/* Parameters must come first in a function: arrays are declared here, then used in order. */
typedef struct bank {
    run r;
    ts_val in[3], out[3], zero;
    uint32_t n_out;
} bank;

static ts_val bank_load(bank *k, ts_val base, ts_type tile)
{
    ts_type elem = ts_type_elem(k->r.m, tile);
    uint32_t rank = ts_type_rank(k->r.m, tile);
    ts_val zero[TS_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++)
        zero[i] = k->zero;
    return run_load(
        &k->r,
        run_view(&k->r, base, elem, rank, ts_type_dims(k->r.m, tile), ts_type_dims(k->r.m, tile)),
        tile, rank, zero);
}

/* Three inputs and three outputs of 4096 elements. */
static void bank_begin(bank *k, ts_type in, ts_type out)
{
    memset(k, 0, sizeof *k);
    run_begin(&k->r);
    for (int i = 0; i < 3; i++)
        k->in[i] = run_array(&k->r, in, 4096);
    for (int i = 0; i < 3; i++)
        k->out[i] = run_array(&k->r, out, 4096);
    k->zero = ts_int(&k->r.b, TS_T_i32, 0);
}

static void bank_put(bank *k, ts_val x)
{
    run *r = &k->r;
    ts_type type = ts_type_of(r->fn, x), elem = ts_type_elem(r->m, type);
    static const int64_t one[] = {1};
    if (ts_type_rank(r->m, type) == 0) {
        x = ts_reshape(&r->b, x, ts_type_tile(r->m, elem, 1, one));
        type = ts_type_of(r->fn, x);
    }
    ts_val zero[TS_MAX_RANK];
    for (uint32_t i = 0; i < ts_type_rank(r->m, type); i++)
        zero[i] = k->zero;
    const int64_t *dims = ts_type_dims(r->m, type);
    run_store(r, run_view(r, k->out[k->n_out++], elem, ts_type_rank(r->m, type), dims, dims), x,
              ts_type_rank(r->m, type), zero);
}

/* ---- shapes -------------------------------------------------------------------------------------*/

static void permute_and_reshape_move_elements(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_val x = bank_load(&k, k.in[0], tile_of(&k.r, TS_T_f32, 3, 4, 8, 16));
    bank_put(&k, ts_permute(&k.r.b, x, (uint32_t[]){2, 0, 1}));
    bank_put(&k, ts_reshape(&k.r.b, ts_permute(&k.r.b, x, (uint32_t[]){1, 0, 2}),
                            tile_of(&k.r, TS_T_f32, 2, 64, 8, 0)));
    bank_put(&k, ts_permute(&k.r.b, ts_reshape(&k.r.b, x, tile_of(&k.r, TS_T_f32, 2, 128, 4, 0)), (uint32_t[]){1, 0}));
    run_check(&k.r, "permute and reshape");
}

static void broadcast_repeats(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_type full = tile_of(&k.r, TS_T_f32, 2, 32, 32, 0);
    ts_val row = bank_load(&k, k.in[0], tile_of(&k.r, TS_T_f32, 2, 1, 32, 0));
    ts_val col = bank_load(&k, k.in[1], tile_of(&k.r, TS_T_f32, 2, 32, 1, 0));
    bank_put(&k, ts_op2(&k.r.b, TS_OP_addf, ts_broadcast(&k.r.b, row, full), ts_broadcast(&k.r.b, col, full), 0));
    bank_put(&k, ts_op2(&k.r.b, TS_OP_mulf, ts_broadcast(&k.r.b, col, full), ts_float(&k.r.b, full, 3), 0));
    run_check(&k.r, "broadcast");
}

static void small_last_axes_share_a_vector(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_type type = tile_of(&k.r, TS_T_f32, 3, 16, 8, 2);
    ts_val x = bank_load(&k, k.in[0], type), y = bank_load(&k, k.in[1], tile_of(&k.r, TS_T_f32, 3, 16, 1, 2));
    bank_put(&k, ts_op2(&k.r.b, TS_OP_addf, x, ts_broadcast(&k.r.b, y, type), 0));
    bank_put(&k, ts_permute(&k.r.b, x, (uint32_t[]){0, 2, 1}));
    run_check(&k.r, "small last axes");
}

static void cat_extract_insert_cut_tiles(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_i32, 2, 8, 16, 0), part = tile_of(&k.r, TS_T_i32, 2, 4, 4, 0);
    ts_val x[2] = {bank_load(&k, k.in[0], type), bank_load(&k, k.in[1], type)};
    ts_val id = run_id(&k.r, 0), two = ts_op2(b, TS_OP_addi, id, ts_int(b, TS_T_i32, 2), 0),
           one = ts_int(b, TS_T_i32, 1);
    bank_put(&k, ts_emit(b, TS_OP_cat, tile_of(&k.r, TS_T_i32, 2, 8, 32, 0), 2, x, 1, 0));
    ts_val cut = ts_emit(b, TS_OP_extract, part, 3, (ts_val[]){x[0], one, two}, 0, 0);
    bank_put(&k, ts_emit(b, TS_OP_cat, tile_of(&k.r, TS_T_i32, 2, 8, 4, 0), 2, (ts_val[]){cut, cut}, 0, 0));
    bank_put(&k, ts_emit(b, TS_OP_insert, type, 4, (ts_val[]){x[1], cut, id, two}, 0, 0));
    run_check(&k.r, "cat extract insert");
}

static void bytes_pack_and_unpack(ts_type elem, int64_t per_byte)
{
    bank k;
    bank_begin(&k, elem, TS_T_i8);
    uint32_t bits = ts_type_bits(NULL, elem);
    ts_type type = tile_of(&k.r, elem, 2, 4, 32, 0), bytes = tile_of(&k.r, TS_T_i8, 1, 128 * bits / 8, 0, 0);
    ts_val x = bank_load(&k, k.in[0], type);
    ts_val packed = ts_emit(&k.r.b, TS_OP_pack, bytes, 1, &x, 0, 0);
    bank_put(&k, packed);
    ts_val back = ts_emit(&k.r.b, TS_OP_unpack, tile_of(&k.r, elem, 1, 128, 0, 0), 1, &packed, 0, 0);
    bank_put(&k, ts_emit(&k.r.b, TS_OP_pack, bytes, 1, &back, 0, 0));
    (void)per_byte;
    run_check(&k.r, "pack unpack");
}

static void iota_and_dense_constants_count(void)
{
    bank k;
    int32_t data[64];
    bank_begin(&k, TS_T_i32, TS_T_i32);
    for (int i = 0; i < 64; i++)
        data[i] = 1000 - i * i;
    ts_type type = tile_of(&k.r, TS_T_i32, 1, 64, 0, 0);
    bank_put(&k, ts_emit(&k.r.b, TS_OP_iota, type, 0, NULL, 0, 0));
    bank_put(&k, ts_dense_const(&k.r.b, type, data, sizeof data));
    ts_val grid = ts_dense_const(&k.r.b, tile_of(&k.r, TS_T_i32, 2, 4, 16, 0), data, sizeof data);
    bank_put(&k, ts_permute(&k.r.b, grid, (uint32_t[]){1, 0}));
    run_check(&k.r, "iota, dense");
}

/* ---- reductions ---------------------------------------------------------------------------------*/

static ts_val fold(run *r, ts_op how, ts_op op, uint32_t attr, uint64_t identity, ts_val x, uint32_t axis, bool reverse)
{
    ts_val o = ts_reduce_begin(&r->b, how, axis, reverse, 1, &x, &identity);
    ts_val y = ts_op2(&r->b, op, ts_region_arg(r->fn, o, 0), ts_region_arg(r->fn, o, 1), attr);
    ts_term(&r->b, TS_OP_yield, 1, &y);
    /* the result's shape is the input's without the axis (a scan keeps it) */
    ts_type type = ts_type_of(r->fn, x);
    if (how == TS_OP_scan) {
        ts_end_like(&r->b, o);
        return ts_res(&r->b, o, 0);
    }
    int64_t dims[TS_MAX_RANK];
    uint32_t n = 0;
    for (uint32_t k = 0; k < ts_type_rank(r->m, type); k++)
        if (k != axis)
            dims[n++] = ts_type_dims(r->m, type)[k];
    type = ts_type_tile(r->m, ts_type_elem(r->m, type), n, dims);
    ts_end(&r->b, o, 1, &type);
    return ts_res(&r->b, o, 0);
}

static void reductions_fold_any_axis(uint32_t rank, int64_t a, int64_t b, int64_t c)
{
    char what[96];
    for (uint32_t axis = 0; axis < rank; axis++) {
        bank k;
        bank_begin(&k, TS_T_i32, TS_T_i32);
        ts_val x = bank_load(&k, k.in[0], tile_of(&k.r, TS_T_i32, rank, a, b, c));
        bank_put(&k, fold(&k.r, TS_OP_reduce, TS_OP_addi, 0, 0, x, axis, false));
        bank_put(&k, fold(&k.r, TS_OP_reduce, TS_OP_maxi, 0, 0xFFFFFFFF80000000u,
                          ts_op2(&k.r.b, TS_OP_muli, x, x, 0), axis, false));
        bank_put(&k, fold(&k.r, TS_OP_scan, TS_OP_addi, 0, 0, x, axis, axis & 1));
        snprintf(what, sizeof what, "fold axis %u of %lldx%lldx%lld", axis, (long long)a, (long long)b, (long long)c);
        run_check(&k.r, what);
    }
}

static void float_sums_are_close(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    k.r.tolerance = 1e-5;
    ts_val x = bank_load(&k, k.in[0], tile_of(&k.r, TS_T_f32, 2, 4, 1024, 0));
    bank_put(&k, fold(&k.r, TS_OP_reduce, TS_OP_addf, 0, 0, x, 1, false));
    bank_put(&k, fold(&k.r, TS_OP_reduce, TS_OP_maxf, 0, 0xFF800000u, x, 0, false));
    run_check(&k.r, "float sums");
}

/* Greatest element and its least index: two inputs. */
static void argmax_folds_pairs(uint32_t axis)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_i32, 2, 16, 64, 0), line = tile_of(&k.r, TS_T_i32, 1, axis ? 16 : 64, 0, 0);
    ts_val i = ts_emit(b, TS_OP_iota, tile_of(&k.r, TS_T_i32, 1, axis ? 64 : 16, 0, 0), 0, NULL, 0, 0);
    i = ts_broadcast(b, ts_reshape(b, i, tile_of(&k.r, TS_T_i32, 2, axis ? 1 : 16, axis ? 64 : 1, 0)), type);
    ts_val x[2] = {bank_load(&k, k.in[0], type), i};
    ts_val o = ts_reduce_begin(b, TS_OP_reduce, axis, false, 2, x, (uint64_t[]){0xFFFFFFFF80000000u, 0x7FFFFFFF});
    ts_val e0 = ts_region_arg(k.r.fn, o, 0), a0 = ts_region_arg(k.r.fn, o, 1), e1 = ts_region_arg(k.r.fn, o, 2),
        a1 = ts_region_arg(k.r.fn, o, 3);
    ts_val more = ts_cmp(b, TS_OP_cmpi, TS_GT, e0, a0, 0), same = ts_cmp(b, TS_OP_cmpi, TS_EQ, e0, a0, 0);
    ts_val less = ts_cmp(b, TS_OP_cmpi, TS_LT, e1, a1, 0);
    ts_val take = ts_op2(b, TS_OP_ori, more, ts_op2(b, TS_OP_andi, same, less, 0), 0);
    ts_term(b, TS_OP_yield, 2, (ts_val[]){ts_select(b, take, e0, a0), ts_select(b, take, e1, a1)});
    ts_end(b, o, 2, (ts_type[]){line, line});
    ts_val res = ts_res(b, o, 0);
    bank_put(&k, res);
    bank_put(&k, res + 1);
    run_check(&k.r, "argmax");
}

/* Softmax: two reductions, a broadcast of each, a value used by both the sum and the result. */
static void softmax_shares_its_loops(int64_t rows, int64_t cols)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    k.r.tolerance = 1e-5;
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_f32, 2, rows, cols, 0), thin = tile_of(&k.r, TS_T_f32, 2, rows, 1, 0);
    ts_val x = bank_load(&k, k.in[0], type);
    ts_val m = fold(&k.r, TS_OP_reduce, TS_OP_maxf, 0, 0xFF800000u, x, 1, false);
    ts_val d = ts_op2(b, TS_OP_subf, x, ts_broadcast(b, ts_reshape(b, m, thin), type), 0), y = d;
    for (int i = 0; i < 8; i++) /* dear enough to be kept */
        y = ts_op3(b, TS_OP_fma, y, d, ts_float(b, type, 0.25), 0);
    ts_val s = fold(&k.r, TS_OP_reduce, TS_OP_addf, 0, 0, y, 1, false);
    bank_put(&k, ts_op2(b, TS_OP_divf, y, ts_broadcast(b, ts_reshape(b, s, thin), type), 0));
    run_check(&k.r, "softmax");
}

/* ---- control flow -------------------------------------------------------------------------------*/

static void tiles_are_carried_by_loops(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_f32, 2, 8, 32, 0);
    ts_val x = bank_load(&k, k.in[0], type), y = bank_load(&k, k.in[1], type), n = ts_float(b, TS_T_f32, 1);
    ts_val init[] = {x, y, n};
    ts_val o = ts_for_begin(b, k.zero, ts_int(b, TS_T_i32, 5), ts_int(b, TS_T_i32, 2), 3, init, 0);
    ts_val iv = ts_region_arg(k.r.fn, o, 0), p = ts_region_arg(k.r.fn, o, 1), q = ts_region_arg(k.r.fn, o, 2),
        c = ts_region_arg(k.r.fn, o, 3);
    ts_val f = ts_cast(b, TS_OP_itof, iv, TS_T_f32, 0);
    ts_val next = ts_op2(b, TS_OP_addf, p, ts_broadcast(b, f, type), 0);
    ts_term(b, TS_OP_continue, 3, (ts_val[]){q, next, ts_op2(b, TS_OP_addf, c, f, 0)}); /* swapped */
    ts_end_like(b, o);
    ts_val res = ts_res(b, o, 0);
    bank_put(&k, res);
    bank_put(&k, res + 1);
    bank_put(&k, ts_broadcast(b, res + 2, type));
    run_check(&k.r, "carried tiles");
}

static void transposed_carry_reads_the_old_tile(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_f32, 2, 32, 32, 0);
    ts_val x = bank_load(&k, k.in[0], type);
    ts_val o = ts_for_begin(b, k.zero, ts_int(b, TS_T_i32, 3), ts_int(b, TS_T_i32, 1), 1, &x, 0);
    ts_val p = ts_region_arg(k.r.fn, o, 1);
    ts_val next = ts_op2(b, TS_OP_subf, ts_permute(b, p, (uint32_t[]){1, 0}), ts_float(b, type, 1), 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    bank_put(&k, ts_res(b, o, 0));
    run_check(&k.r, "transposed carry");
}

static void a_loop_breaks_with_a_tile(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_i32, 1, 64, 0, 0);
    ts_val init[] = {bank_load(&k, k.in[0], type), k.zero};
    ts_val o = ts_loop_begin(b, 2, init), t = ts_region_arg(k.r.fn, o, 0), i = ts_region_arg(k.r.fn, o, 1);
    ts_val done = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GE, i, ts_int(b, TS_T_i32, 4), 0));
    ts_term(b, TS_OP_break, 2, (ts_val[]){ts_op2(b, TS_OP_muli, t, ts_int(b, type, 3), 0), i});
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, done, 0, NULL);
    ts_val next[] = {ts_op2(b, TS_OP_addi, t, ts_broadcast(b, i, type), 0),
                     ts_op2(b, TS_OP_addi, i, ts_int(b, TS_T_i32, 1), 0)};
    ts_term(b, TS_OP_continue, 2, next);
    ts_end_like(b, o);
    ts_val res = ts_res(b, o, 0);
    bank_put(&k, res);
    bank_put(&k, ts_broadcast(b, res + 1, type));
    run_check(&k.r, "break");
}

static void an_if_gives_tiles_and_scalars(void)
{
    bank k;
    bank_begin(&k, TS_T_i32, TS_T_i32);
    ts_builder *b = &k.r.b;
    k.r.grid[0] = 3;
    ts_type type = tile_of(&k.r, TS_T_i32, 1, 64, 0, 0);
    ts_val x = bank_load(&k, k.in[0], type), y = bank_load(&k, k.in[1], type), id = run_id(&k.r, 0);
    ts_val o = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, id, ts_int(b, TS_T_i32, 2), 0));
    ts_term(b, TS_OP_yield, 2, (ts_val[]){ts_op2(b, TS_OP_addi, x, y, 0), id});
    ts_else(b);
    ts_term(b, TS_OP_yield, 2, (ts_val[]){y, ts_int(b, TS_T_i32, 70)});
    ts_end(b, o, 2, (ts_type[]){type, TS_T_i32});
    ts_val res = ts_res(b, o, 0);
    bank_put(&k, ts_op2(b, TS_OP_addi, res, ts_broadcast(b, res + 1, type), 0));
    ts_val early = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, id, k.zero, 0));
    ts_term(b, TS_OP_return, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, early, 0, NULL);
    bank_put(&k, ts_broadcast(b, id, type));
    run_check(&k.r, "if");
}

static void cold_paths_mix_by_element(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_f32, 1, 256, 0, 0);
    ts_val x = bank_load(&k, k.in[0], type), y = ts_op2(b, TS_OP_mulf, x, x, 0);
    ts_val rare = ts_cmp(b, TS_OP_cmpf, TS_GT, x, ts_float(b, type, 4.2), 0);
    ts_val o = ts_cold_begin(b, rare, 2, (ts_val[]){y, x});
    ts_val slow = ts_op2(b, TS_OP_subf, ts_float(b, type, 1000), x, 0);
    ts_term(b, TS_OP_yield, 2, (ts_val[]){slow, ts_op2(b, TS_OP_mulf, slow, y, 0)});
    ts_end_like(b, o);
    ts_val res = ts_res(b, o, 0);
    bank_put(&k, ts_op2(b, TS_OP_addf, res, res + 1, 0));
    ts_val s = fold(&k.r, TS_OP_reduce, TS_OP_maxf, 0, 0xFF800000u, x, 0, false);
    ts_val one = ts_cold_begin(b, ts_cmp(b, TS_OP_cmpf, TS_GT, s, ts_float(b, TS_T_f32, 1), 0), 1, &s);
    ts_val twice = ts_op2(b, TS_OP_addf, s, s, 0);
    ts_term(b, TS_OP_yield, 1, &twice);
    ts_end_like(b, one);
    bank_put(&k, ts_broadcast(b, ts_res(b, one, 0), type));
    run_check(&k.r, "cold");
}

/* A dear value made before a loop and used in it is kept, not made again. */
static void values_from_outside_a_loop_are_kept(void)
{
    bank k;
    bank_begin(&k, TS_T_f32, TS_T_f32);
    ts_builder *b = &k.r.b;
    ts_type type = tile_of(&k.r, TS_T_f32, 2, 16, 16, 0);
    ts_val x = bank_load(&k, k.in[0], type), d = ts_op2(b, TS_OP_divf, ts_float(b, type, 1), x, 0),
           zero = ts_float(b, type, 0);
    ts_val o = ts_for_begin(b, k.zero, ts_int(b, TS_T_i32, 4), ts_int(b, TS_T_i32, 1), 1, &zero, 0);
    ts_val next = ts_op2(b, TS_OP_addf, ts_region_arg(k.r.fn, o, 1),
                         ts_op2(b, TS_OP_mulf, d, ts_permute(b, d, (uint32_t[]){1, 0}), 0), 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    bank_put(&k, ts_res(b, o, 0));
    run_check(&k.r, "outside a loop");
}

static void everything(void)
{
    permute_and_reshape_move_elements();
    broadcast_repeats();
    small_last_axes_share_a_vector();
    cat_extract_insert_cut_tiles();
    bytes_pack_and_unpack(TS_T_f32, 0);
    bytes_pack_and_unpack(TS_T_i16, 0);
    bytes_pack_and_unpack(TS_T_i64, 0);
    bytes_pack_and_unpack(TS_T_f4E2M1FN, 2);
    bytes_pack_and_unpack(TS_T_i8, 1);
    iota_and_dense_constants_count();
    reductions_fold_any_axis(1, 256, 0, 0);
    reductions_fold_any_axis(1, 8, 0, 0);
    reductions_fold_any_axis(2, 16, 128, 0);
    reductions_fold_any_axis(2, 128, 4, 0);
    reductions_fold_any_axis(2, 1, 64, 0);
    reductions_fold_any_axis(3, 4, 8, 32);
    reductions_fold_any_axis(3, 2, 2, 2);
    float_sums_are_close();
    argmax_folds_pairs(0);
    argmax_folds_pairs(1);
    softmax_shares_its_loops(1, 1024);
    softmax_shares_its_loops(4, 256);
    tiles_are_carried_by_loops();
    transposed_carry_reads_the_old_tile();
    a_loop_breaks_with_a_tile();
    an_if_gives_tiles_and_scalars();
    cold_paths_mix_by_element();
    values_from_outside_a_loop_are_kept();
}

int main(void)
{
    everything();
    run_vector_bytes = 32;
    everything();
    run_vector_bytes = 16;
    everything();
    return check_done();
}
