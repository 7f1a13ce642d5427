/* SPDX-License-Identifier: Apache-2.0
 * The interpreter at tile level (src/ir/eval_tile*.c): known answers for each operation. */
#include "eval/eval.h"
#include "ir/float.h"
#include "ir/scalar.h"
#include "check.h"
#include <math.h>

static bool tk_seen[TS_OP_COUNT]; /* operations run by some test */
static ts_error err;

/* A function under construction. Its parameter 0 is a pointer to the output. */
typedef struct tk {
    ts_arena arena;
    ts_module *m;
    ts_fn *fn;
    ts_builder b;
    ts_val out;
    ts_eval_env env;
} tk;

static ts_type tk_tile1(tk *k, ts_type elem, int64_t n)
{
    return ts_type_tile(k->m, elem, 1, &n);
}

static ts_type tk_tile2(tk *k, ts_type elem, int64_t n0, int64_t n1)
{
    return ts_type_tile(k->m, elem, 2, (int64_t[]){n0, n1});
}

static void tk_begin(tk *k, ts_type out_elem)
{
    *k = (tk){0};
    ts__arena_init(&k->arena, NULL);
    k->m = ts__module_create(&k->arena);
    k->fn = ts_fn_create(k->m, "kernel", TS_LEVEL_T);
    ts__builder_init(&k->b, k->fn);
    k->out = ts_fn_param(&k->b, ts_type_ptr(k->m, out_elem, TS_GLOBAL));
}

/* Pointers to count elements from a scalar pointer on. */
static ts_val tk_pointers(tk *k, ts_val base, int64_t count)
{
    ts_builder *b = &k->b;
    ts_val iota = ts_emit(b, TS_OP_iota, tk_tile1(k, TS_T_i32, count), 0, NULL, 0, 0);
    ts_val all = ts_broadcast(b, base, tk_tile1(k, ts_type_of(k->fn, base), count));
    return ts_op2(b, TS_OP_offset, all, iota, 0);
}

/* Writes a value row-major to the memory at `base`. */
static void tk_put(tk *k, ts_val base, ts_val value)
{
    ts_type type = ts_type_of(k->fn, value);
    int64_t n = ts_type_count(k->m, type);
    ts_val flat = ts_reshape(&k->b, value, tk_tile1(k, ts_type_elem(k->m, type), n));
    ts_val opnds[] = {tk_pointers(k, base, n), flat};
    ts_emit(&k->b, TS_OP_store_ptr_tko, TS_T_token, 2, opnds, 0, 0);
}

static ts_status tk_run_grid(tk *k, const uint64_t *params, size_t n, uint32_t blocks)
{
    ts_emit(&k->b, TS_OP_return, TS_T_none, 0, NULL, 0, 0);
    for (uint32_t v = 0; v < k->fn->inst.n; v++)
        tk_seen[k->fn->inst.at[v].op] = true;
    uint32_t grid[3] = {blocks, 1, 1};
    ts_status status = ts_builder_status(&k->b, &err);
    return status ? status : ts__eval_grid(k->fn, params, n, grid, &k->env, &err);
}

/* Runs one block and ends the test function. */
static ts_status tk_end(tk *k, void *out)
{
    uint64_t params[] = {(uint64_t)(uintptr_t)out};
    ts_status status = tk_run_grid(k, params, 1, 1);
    ts__arena_deinit(&k->arena);
    return status;
}

static ts_val tk_dense(tk *k, ts_type type, const void *bytes, size_t n)
{
    return ts_dense_const(&k->b, type, bytes, n);
}

/* ---- elementwise ------------------------------------------------------------------------------------ */

/* Element types that an operation takes and gives. */
static void tk_elem_types(ts_op op, ts_type *from, ts_type *to)
{
    bool is_float = ts__ops[op].rule == TS_RULE_UNF || ts__ops[op].rule == TS_RULE_BINF ||
                    ts__ops[op].rule == TS_RULE_TERF || ts__ops[op].rule == TS_RULE_CMPF ||
                    op == TS_OP_fpowi || op == TS_OP_ftof || op == TS_OP_ftoi || op == TS_OP_bitcast;
    *from = is_float ? TS_T_f32 : TS_T_i32;
    *to = op == TS_OP_cmpf || op == TS_OP_cmpi ? TS_T_i1
          : op == TS_OP_ftof                   ? TS_T_f16
          : op == TS_OP_trunci                 ? TS_T_i8
          : op == TS_OP_exti                   ? TS_T_i64
          : op == TS_OP_itof                   ? TS_T_f32
          : op == TS_OP_ftoi || op == TS_OP_bitcast ? TS_T_i32
                                               : *from;
}

/* Every elementwise operation on a tile does to each element what ts__scalar_eval does. */
static void elementwise_ops_act_on_each_element(void)
{
    static const float floats[] = {1.5f, -2.25f, 0.5f, 3.0f};
    static const int32_t ints[] = {7, -3, 100, 2};
    for (int i = 0; i < TS_OP_COUNT; i++) {
        ts_op op = (ts_op)i;
        bool pointers = op == TS_OP_int_to_ptr || op == TS_OP_ptr_to_int ||
                        op == TS_OP_ptr_to_ptr || op == TS_OP_offset;
        if (!(ts__ops[op].flags & TS_ELEM) || pointers || op == TS_OP_select || op == TS_OP_fn)
            continue; /* fn: tests/math/cpu.c */
        ts_type from, to;
        tk k;
        uint8_t out[32];
        tk_elem_types(op, &from, &to);
        tk_begin(&k, to);
        ts_val x = tk_dense(&k, tk_tile1(&k, from, 4), from == TS_T_f32 ? (const void *)floats : ints, 16);
        ts_val y = op == TS_OP_fpowi ? tk_dense(&k, tk_tile1(&k, TS_T_i32, 4), ints, 16) : x;
        ts_val opnds[] = {x, y, x};
        uint32_t n = (uint32_t)ts__ops[op].n_opnd;
        tk_put(&k, k.out, ts_emit(&k.b, op, tk_tile1(&k, to, 4), n, opnds, 0, 0));
        CHECK_OK(tk_end(&k, out));
        for (int e = 0; e < 4; e++) {
            uint64_t a = from == TS_T_f32 ? ts_bits_of_f32(floats[e]) : (uint64_t)ints[e], wanted;
            uint64_t in[3] = {a, op == TS_OP_fpowi ? (uint64_t)ints[e] : a, a};
            CHECK(ts__scalar_eval(NULL, op, 0, from, to, in, &wanted));
            CHECK(ts__scalar_same(to, ts__scalar_load(NULL, to, out, e), wanted));
        }
    }
}

/* A function means what the pass math writes for it. */
static void functions_are_written_out(void)
{
    static const float floats[] = {1.5f, -2.25f, 0.5f, -3.0f}, wanted[] = {1, -2, 0, -3};
    tk k;
    uint8_t out[32];
    tk_begin(&k, TS_T_f32);
    ts_val x = tk_dense(&k, tk_tile1(&k, TS_T_f32, 4), floats, 16);
    tk_put(&k, k.out, ts_math_call(&k.b, TS_MATH_trunc, x, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK(memcmp(out, wanted, sizeof wanted) == 0);
}

/* func @conj(%1: type) : type */
static ts_fn *complex_conj(tk *k, ts_type type, ts_type part)
{
    ts_builder b;
    ts_fn *fn = ts_fn_create(k->m, "conj", TS_LEVEL_T);
    ts__builder_init(&b, fn);
    ts_val z = ts_fn_param(&b, type);
    ts_val re = ts_emit(&b, TS_OP_real, part, 1, &z, 0, 0), im = ts_emit(&b, TS_OP_imag, part, 1, &z, 0, 0);
    z = ts_emit(&b, TS_OP_make_complex, type, 2, (ts_val[]){re, ts_op1(&b, TS_OP_negf, im, 0)}, 0, 0);
    ts_term(&b, TS_OP_return, 1, &z);
    ts_fn_set_results(fn, 1, &type);
    return fn;
}

/* Both widths: a number is made of its parts, moved, given to a function and taken apart again. */
static void complex_numbers_are_pairs(void)
{
    static const float floats[] = {1, 2, 3, 4};
    for (int wide = 0; wide < 2; wide++) {
        tk k;
        uint8_t out[64];
        ts_type part = wide ? TS_T_f64 : TS_T_f32, whole = wide ? TS_T_c128 : TS_T_c64;
        tk_begin(&k, part);
        ts_builder *b = &k.b;
        ts_type four = tk_tile1(&k, TS_T_f32, 4), square = tk_tile2(&k, whole, 2, 2);
        ts_val x = tk_dense(&k, four, floats, 16), y = ts_op1(b, TS_OP_negf, x, 0);
        x = wide ? ts_cast(b, TS_OP_ftof, x, part, 0) : x;
        y = wide ? ts_cast(b, TS_OP_ftof, y, part, 0) : y;
        ts_val z = ts_emit(b, TS_OP_make_complex, tk_tile1(&k, whole, 4), 2, (ts_val[]){x, y}, 0, 0);
        z = ts_permute(b, ts_reshape(b, z, square), (uint32_t[]){1, 0});
        z = ts_call(b, complex_conj(&k, square, tk_tile2(&k, part, 2, 2)), &z) + 1;
        ts_val re = ts_emit(b, TS_OP_real, tk_tile2(&k, part, 2, 2), 1, &z, 0, 0);
        ts_val im = ts_emit(b, TS_OP_imag, tk_tile2(&k, part, 2, 2), 1, &z, 0, 0);
        ts_val sum = ts_op2(b, TS_OP_addf, re, im, 0); /* (x - xi)* */
        tk_put(&k, k.out, ts_reshape(b, sum, tk_tile1(&k, part, 4)));
        CHECK_OK(tk_end(&k, out));
        for (int i = 0; i < 4; i++) {
            double from = (const double[]){1, 3, 2, 4}[i], got = 0;
            float single;
            memcpy(wide ? (void *)&got : (void *)&single, out + i * (wide ? 8 : 4), wide ? 8 : 4);
            CHECK((wide ? got : (double)single) == from + from);
        }
    }
}

static void pointers_convert_and_select_picks(void)
{
    tk k;
    int32_t out[4] = {0}, zero_one[] = {0, 1, 1, 0};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_type p = ts_type_of(k.fn, k.out);
    ts_val address = ts_emit(b, TS_OP_ptr_to_int, TS_T_i64, 1, &k.out, 0, 0);
    ts_val again = ts_emit(b, TS_OP_int_to_ptr, p, 1, &address, 0, 0);
    ts_val other = ts_emit(b, TS_OP_ptr_to_ptr, p, 1, &again, 0, 0);
    ts_type four = tk_tile1(&k, TS_T_i32, 4);
    ts_val bits = ts_cast(b, TS_OP_trunci, tk_dense(&k, four, zero_one, 16), TS_T_i1, 0);
    ts_val x = ts_emit(b, TS_OP_iota, four, 0, NULL, 0, 0);
    tk_put(&k, other, ts_select(b, bits, x, ts_int(b, four, -1)));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == -1 && out[1] == 1 && out[2] == 2 && out[3] == -1);
}

/* ---- shapes ------------------------------------------------------------------------------------------- */

static void permute_moves_axes(void)
{
    tk k;
    int32_t out[8];
    tk_begin(&k, TS_T_i32);
    ts_val x = ts_emit(&k.b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 8), 0, NULL, 0, 0);
    ts_val m = ts_reshape(&k.b, x, tk_tile2(&k, TS_T_i32, 2, 4));
    tk_put(&k, k.out, ts_permute(&k.b, m, (uint32_t[]){1, 0}));
    CHECK_OK(tk_end(&k, out));
    static const int32_t wanted[] = {0, 4, 1, 5, 2, 6, 3, 7};
    CHECK(memcmp(out, wanted, sizeof out) == 0);
}

static void broadcast_stretches_ones(void)
{
    tk k;
    int32_t out[8];
    tk_begin(&k, TS_T_i32);
    ts_val x = ts_emit(&k.b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 2), 0, NULL, 0, 0);
    ts_val column = ts_reshape(&k.b, x, tk_tile2(&k, TS_T_i32, 2, 1));
    tk_put(&k, k.out, ts_broadcast(&k.b, column, tk_tile2(&k, TS_T_i32, 2, 4)));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 0 && out[3] == 0 && out[4] == 1 && out[7] == 1);
}

static void cat_joins_along_an_axis(void)
{
    tk k;
    int32_t out[8];
    tk_begin(&k, TS_T_i32);
    ts_val x = ts_emit(&k.b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 4), 0, NULL, 0, 0);
    ts_val a = ts_reshape(&k.b, x, tk_tile2(&k, TS_T_i32, 2, 2));
    ts_val both[] = {a, ts_op1(&k.b, TS_OP_negi, a, 0)};
    tk_put(&k, k.out, ts_emit(&k.b, TS_OP_cat, tk_tile2(&k, TS_T_i32, 2, 4), 2, both, 1, 0));
    CHECK_OK(tk_end(&k, out));
    static const int32_t wanted[] = {0, 1, 0, -1, 2, 3, -2, -3};
    CHECK(memcmp(out, wanted, sizeof out) == 0);
}

static void extract_and_insert_count_slices(void)
{
    tk k;
    int32_t out[24];
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val x = ts_emit(b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 16), 0, NULL, 0, 0);
    ts_val m = ts_reshape(b, x, tk_tile2(&k, TS_T_i32, 4, 4));
    ts_val one = ts_int(b, TS_T_i32, 1), zero = ts_int(b, TS_T_i32, 0);
    ts_val part = ts_emit(b, TS_OP_extract, tk_tile2(&k, TS_T_i32, 2, 4), 3, (ts_val[]){m, one, zero}, 0, 0);
    ts_val whole = ts_emit(b, TS_OP_insert, tk_tile2(&k, TS_T_i32, 4, 4), 4, (ts_val[]){m, part, zero, zero}, 0, 0);
    tk_put(&k, k.out, part);
    tk_put(&k, ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 8), 0), whole);
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 8 && out[7] == 15);
    CHECK(out[8] == 8 && out[15] == 15 && out[16] == 8 && out[23] == 15);
}

static void extract_past_the_end_wraps(void)
{
    tk k;
    int32_t out[4];
    tk_begin(&k, TS_T_i32);
    ts_val x = ts_emit(&k.b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 8), 0, NULL, 0, 0);
    ts_val id = ts_emit(&k.b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 0, 0);
    ts_val opnds[] = {x, ts_op2(&k.b, TS_OP_addi, id, ts_int(&k.b, TS_T_i32, 2), 0)};
    tk_put(&k, k.out, ts_emit(&k.b, TS_OP_extract, tk_tile1(&k, TS_T_i32, 4), 2, opnds, 0, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 0 && out[3] == 3);
}

static void pack_and_unpack_keep_the_bytes(void)
{
    tk k;
    uint8_t out[8 + 4];
    int32_t values[] = {0x04030201, 0x08070605};
    tk_begin(&k, TS_T_i8);
    ts_builder *b = &k.b;
    ts_val x = tk_dense(&k, tk_tile1(&k, TS_T_i32, 2), values, 8);
    ts_val bytes = ts_emit(b, TS_OP_pack, tk_tile1(&k, TS_T_i8, 8), 1, &x, 0, 0);
    ts_val nibbles = ts_emit(b, TS_OP_unpack, tk_tile1(&k, TS_T_f4E2M1FN, 16), 1, &bytes, 0, 0);
    ts_val f4 = ts_emit(b, TS_OP_extract, tk_tile1(&k, TS_T_f4E2M1FN, 4), 2,
                        (ts_val[]){nibbles, ts_int(b, TS_T_i32, 1)}, 0, 0);
    tk_put(&k, k.out, bytes);
    ts_val wide = ts_cast(b, TS_OP_ftoi, ts_cast(b, TS_OP_ftof, f4, TS_T_f32, 0), TS_T_i8, 0);
    tk_put(&k, ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 8), 0), wide);
    CHECK_OK(tk_end(&k, out));
    for (uint8_t i = 0; i < 8; i++)
        CHECK_INT(out[i], i + 1);
    CHECK(out[8] == 1 && out[9] == 0 && out[10] == 2 && out[11] == 0); /* nibbles 3 0 4 0: 1.5 0 2 0 */
}

/* ---- regions ------------------------------------------------------------------------------------------- */

/* acc + element of one axis of a 2 x 4 iota, or the scan. */
static ts_val tk_sum(tk *k, ts_op op, uint32_t axis, bool reverse)
{
    ts_builder *b = &k->b;
    ts_val x = ts_emit(b, TS_OP_iota, tk_tile1(k, TS_T_i32, 8), 0, NULL, 0, 0);
    ts_val m = ts_reshape(b, x, tk_tile2(k, TS_T_i32, 2, 4));
    ts_val opener = ts_reduce_begin(b, op, axis, reverse, 1, &m, (uint64_t[]){0});
    ts_val sum = ts_op2(b, TS_OP_addi, ts_region_arg(k->fn, opener, 0), ts_region_arg(k->fn, opener, 1), 0);
    ts_term(b, TS_OP_yield, 1, &sum);
    ts_end_like(b, opener);
    return ts_res(b, opener, 0);
}

static void reduce_folds_one_axis(void)
{
    tk k;
    int32_t rows[2], columns[4];
    tk_begin(&k, TS_T_i32);
    tk_put(&k, k.out, tk_sum(&k, TS_OP_reduce, 1, false));
    CHECK_OK(tk_end(&k, rows));
    CHECK(rows[0] == 6 && rows[1] == 22);
    tk_begin(&k, TS_T_i32);
    tk_put(&k, k.out, tk_sum(&k, TS_OP_reduce, 0, false));
    CHECK_OK(tk_end(&k, columns));
    CHECK(columns[0] == 4 && columns[3] == 10);
}

static void scan_is_inclusive_and_may_run_backwards(void)
{
    tk k;
    int32_t out[8];
    tk_begin(&k, TS_T_i32);
    tk_put(&k, k.out, tk_sum(&k, TS_OP_scan, 1, false));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 0 && out[3] == 6 && out[4] == 4 && out[7] == 22);
    tk_begin(&k, TS_T_i32);
    tk_put(&k, k.out, tk_sum(&k, TS_OP_scan, 1, true));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 6 && out[3] == 3 && out[4] == 22 && out[7] == 7);
}

/* Two inputs: the greatest value and its index. */
static void reduce_of_two_inputs_is_argmax(void)
{
    tk k;
    int32_t out[2], values[] = {3, 9, 9, 1};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_type four = tk_tile1(&k, TS_T_i32, 4);
    ts_val in[] = {tk_dense(&k, four, values, 16), ts_emit(b, TS_OP_iota, four, 0, NULL, 0, 0)};
    ts_val o = ts_reduce_begin(b, TS_OP_reduce, 0, false, 2, in, (uint64_t[]){(uint64_t)INT32_MIN, 0});
    ts_val better = ts_cmp(b, TS_OP_cmpi, TS_GT, ts_region_arg(k.fn, o, 0), ts_region_arg(k.fn, o, 1), 0);
    ts_val yield[] = {ts_select(b, better, ts_region_arg(k.fn, o, 0), ts_region_arg(k.fn, o, 1)),
                      ts_select(b, better, ts_region_arg(k.fn, o, 2), ts_region_arg(k.fn, o, 3))};
    ts_term(b, TS_OP_yield, 2, yield);
    ts_end_like(b, o);
    ts_val value = ts_res(b, o, 0), index = ts_res(b, o, 1);
    tk_put(&k, k.out, value);
    tk_put(&k, ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 1), 0), index);
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 9 && out[1] == 1);
}

static void cold_replaces_where_the_condition_holds(void)
{
    tk k;
    int32_t out[4];
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_type four = tk_tile1(&k, TS_T_i32, 4);
    ts_val x = ts_emit(b, TS_OP_iota, four, 0, NULL, 0, 0);
    ts_val big = ts_cmp(b, TS_OP_cmpi, TS_GT, x, ts_int(b, four, 1), 0);
    ts_val o = ts_cold_begin(b, big, 1, &x);
    ts_val y = ts_op2(b, TS_OP_muli, x, x, 0);
    ts_term(b, TS_OP_yield, 1, &y);
    ts_end_like(b, o);
    tk_put(&k, k.out, ts_res(b, o, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 0 && out[1] == 1 && out[2] == 4 && out[3] == 9);
}

/* Carried values swap each time round: fibonacci. */
static void for_assigns_carried_values_at_once(void)
{
    tk k;
    int32_t out[1];
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1);
    ts_val o = ts_for_begin(b, zero, ts_int(b, TS_T_i32, 10), one, 2, (ts_val[]){zero, one}, 0);
    ts_val x = ts_region_arg(k.fn, o, 1), y = ts_region_arg(k.fn, o, 2);
    ts_term(b, TS_OP_continue, 2, (ts_val[]){y, ts_op2(b, TS_OP_addi, x, y, 0)});
    ts_end_like(b, o);
    tk_put(&k, k.out, ts_res(b, o, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], 55);
}

static void unsigned_for_and_wrapping_counter_end(void)
{
    tk k;
    int32_t out[1];
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val zero = ts_int(b, TS_T_i32, 0);
    ts_val o = ts_for_begin(b, ts_int(b, TS_T_i32, -6), ts_int(b, TS_T_i32, -1),
                            ts_int(b, TS_T_i32, 2), 1, &zero, TS_A_UNSIGNED);
    ts_val next = ts_op2(b, TS_OP_addi, ts_region_arg(k.fn, o, 1), ts_int(b, TS_T_i32, 1), 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    tk_put(&k, k.out, ts_res(b, o, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], 3);
}

/* loop { if n >= 7 break n*10 else continue n+1 } */
static void break_in_an_if_leaves_the_loop(void)
{
    tk k;
    int32_t out[1];
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1);
    ts_val o = ts_loop_begin(b, 1, &zero);
    ts_val n = ts_region_arg(k.fn, o, 0);
    ts_val i = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GE, n, ts_int(b, TS_T_i32, 7), 0));
    ts_val ten = ts_op2(b, TS_OP_muli, n, ts_int(b, TS_T_i32, 10), 0);
    ts_term(b, TS_OP_break, 1, &ten);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, i, 0, NULL);
    ts_val next = ts_op2(b, TS_OP_addi, n, one, 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, o);
    tk_put(&k, k.out, ts_res(b, o, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], 70);
}

static void if_yields_the_taken_side_and_return_ends_the_block(void)
{
    tk k;
    int32_t out[4] = {-1, -1, -1, -1};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val id = ts_emit(b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, 0, 0);
    ts_val n = ts_emit(b, TS_OP_get_num_tile_blocks, TS_T_i32, 0, NULL, 0, 0);
    ts_val early = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, id, ts_int(b, TS_T_i32, 2), 0));
    ts_term(b, TS_OP_return, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, early, 0, NULL);
    ts_val i = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, id, ts_int(b, TS_T_i32, 1), 0));
    ts_term(b, TS_OP_yield, 1, &n);
    ts_else(b);
    ts_term(b, TS_OP_yield, 1, &id);
    ts_end(b, i, 1, (ts_type[]){TS_T_i32});
    tk_put(&k, ts_op2(b, TS_OP_offset, k.out, id, 0), ts_res(b, i, 0));
    uint64_t params[] = {(uint64_t)(uintptr_t)out};
    CHECK_OK(tk_run_grid(&k, params, 1, 4));
    ts__arena_deinit(&k.arena);
    CHECK(out[0] == 4 && out[1] == 1 && out[2] == -1 && out[3] == 3);
}

static void an_endless_loop_meets_the_step_limit(void)
{
    tk k;
    tk_begin(&k, TS_T_i32);
    ts_val o = ts_loop_begin(&k.b, 0, NULL);
    ts_term(&k.b, TS_OP_continue, 0, NULL);
    ts_end(&k.b, o, 0, NULL);
    k.env.max_steps = 1000;
    CHECK_INT(tk_end(&k, NULL), TS_LAUNCH);
    CHECK(strstr(err.text, "more than 1000 steps") != NULL);
}

/* ---- views ------------------------------------------------------------------------------------------------ */

typedef struct tk_view {
    ts_val tensor, tiled;
    ts_type tile;
} tk_view;

/* rows x cols of i32 (or f32) at `base`, row-major, tiled by `tile`. */
static tk_view tk_make_view(tk *k, ts_val base, ts_type elem, int64_t rows, int64_t cols, const ts_type_info *tiling)
{
    tk_view out;
    int64_t dims[] = {TS_DYNAMIC, cols}, strides[] = {TS_DYNAMIC, 1};
    ts_type tensor = ts_type_make(k->m, &(ts_type_info){.kind = TS_KIND_TENSOR_VIEW,
                                                        .rank = 2,
                                                        .elem = elem,
                                                        .dims = dims,
                                                        .strides = strides});
    ts_val opnds[] = {base, ts_int(&k->b, TS_T_i32, rows), ts_int(&k->b, TS_T_i32, cols)};
    static const ts_op makes[] = {[TS_KIND_PARTITION_VIEW] = TS_OP_make_partition_view,
                                  [TS_KIND_STRIDED_VIEW] = TS_OP_make_strided_view,
                                  [TS_KIND_GATHER_SCATTER_VIEW] = TS_OP_make_gather_scatter_view};
    ts_type_info info = *tiling;
    info.rank = 2;
    info.elem = tensor;
    out.tensor = ts_emit(&k->b, TS_OP_make_tensor_view, tensor, 3, opnds, 0, 0);
    out.tiled = ts_emit(&k->b, makes[info.kind], ts_type_make(k->m, &info), 1, &out.tensor, 0, 0);
    out.tile = ts_type_tile(k->m, elem, 2, info.dims);
    return out;
}

static ts_val tk_load_view(tk *k, const tk_view *view, ts_val i, ts_val j)
{
    return ts_emit(&k->b, TS_OP_load_view_tko, view->tile, 3, (ts_val[]){view->tiled, i, j}, 0, 0);
}

static const int32_t tk_grid35[15] = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24};

static void a_partition_view_pads_outside_the_array(void)
{
    tk k;
    float out[4], in[15];
    for (int i = 0; i < 15; i++)
        in[i] = (float)tk_grid35[i];
    tk_begin(&k, TS_T_f32);
    ts_val base = ts_fn_param(&k.b, ts_type_of(k.fn, k.out));
    ts_type_info tiling = {.kind = TS_KIND_PARTITION_VIEW,
                           .dims = (int64_t[]){2, 2},
                           .dim_map = (int32_t[]){0, 1},
                           .padding = TS_PAD_NEG_INF};
    tk_view view = tk_make_view(&k, base, TS_T_f32, 3, 5, &tiling);
    tk_put(&k, k.out, tk_load_view(&k, &view, ts_int(&k.b, TS_T_i32, 1), ts_int(&k.b, TS_T_i32, 2)));
    uint64_t params[] = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)in};
    CHECK_OK(tk_run_grid(&k, params, 2, 1));
    ts__arena_deinit(&k.arena);
    CHECK(out[0] == 24 && isinf(out[1]) && out[1] < 0 && isinf(out[2]) && isinf(out[3]));
}

static void a_mapped_partition_reads_the_transpose(void)
{
    tk k;
    int32_t out[4 + 2 + 2];
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val base = ts_fn_param(b, ts_type_of(k.fn, k.out));
    ts_type_info tiling = {.kind = TS_KIND_PARTITION_VIEW,
                           .dims = (int64_t[]){2, 2},
                           .dim_map = (int32_t[]){1, 0},
                           .padding = TS_PAD_ZERO};
    tk_view view = tk_make_view(&k, base, TS_T_i32, 3, 5, &tiling);
    tk_put(&k, k.out, tk_load_view(&k, &view, ts_int(b, TS_T_i32, 1), ts_int(b, TS_T_i32, 0)));
    for (uint32_t axis = 0; axis < 2; axis++) {
        ts_val at = ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 4 + axis), 0);
        tk_put(&k, at, ts_emit(b, TS_OP_get_index_space_shape, TS_T_i32, 1, &view.tiled, axis, 0));
        at = ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 6 + axis), 0);
        tk_put(&k, at, ts_emit(b, TS_OP_get_tensor_shape, TS_T_i32, 1, &view.tensor, axis, 0));
    }
    uint64_t params[] = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)tk_grid35};
    CHECK_OK(tk_run_grid(&k, params, 2, 1));
    ts__arena_deinit(&k.arena);
    CHECK(out[0] == 2 && out[1] == 12 && out[2] == 3 && out[3] == 13);
    CHECK(out[4] == 3 && out[5] == 2 && out[6] == 3 && out[7] == 5);
}

static void a_strided_view_steps_by_its_traversal(void)
{
    tk k;
    int32_t out[4];
    tk_begin(&k, TS_T_i32);
    ts_val base = ts_fn_param(&k.b, ts_type_of(k.fn, k.out));
    ts_type_info tiling = {.kind = TS_KIND_STRIDED_VIEW,
                           .dims = (int64_t[]){2, 2},
                           .strides = (int64_t[]){1, 3},
                           .dim_map = (int32_t[]){0, 1}};
    tk_view view = tk_make_view(&k, base, TS_T_i32, 3, 5, &tiling);
    tk_put(&k, k.out, tk_load_view(&k, &view, ts_int(&k.b, TS_T_i32, 1), ts_int(&k.b, TS_T_i32, 1)));
    uint64_t params[] = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)tk_grid35};
    CHECK_OK(tk_run_grid(&k, params, 2, 1));
    ts__arena_deinit(&k.arena);
    CHECK(out[0] == 13 && out[1] == 14 && out[2] == 23 && out[3] == 24);
}

static void a_gather_view_takes_rows_by_number(void)
{
    tk k;
    int32_t out[8], rows[] = {2, 0, -1, 7};
    tk_begin(&k, TS_T_i32);
    ts_val base = ts_fn_param(&k.b, ts_type_of(k.fn, k.out));
    ts_type_info tiling = {.kind = TS_KIND_GATHER_SCATTER_VIEW,
                           .dims = (int64_t[]){4, 2},
                           .sparse_dim = 0,
                           .padding = TS_PAD_ZERO};
    tk_view view = tk_make_view(&k, base, TS_T_i32, 3, 5, &tiling);
    ts_val index = tk_dense(&k, tk_tile1(&k, TS_T_i32, 4), rows, 16);
    tk_put(&k, k.out, tk_load_view(&k, &view, index, ts_int(&k.b, TS_T_i32, 3)));
    uint64_t params[] = {(uint64_t)(uintptr_t)out, (uint64_t)(uintptr_t)tk_grid35};
    CHECK_OK(tk_run_grid(&k, params, 2, 1));
    ts__arena_deinit(&k.arena);
    static const int32_t wanted[] = {23, 24, 3, 4, 0, 0, 0, 0};
    CHECK(memcmp(out, wanted, sizeof wanted) == 0);
}

static void stores_and_reductions_outside_are_dropped(void)
{
    tk k;
    int32_t out[16] = {0};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_type_info tiling = {.kind = TS_KIND_PARTITION_VIEW, .dims = (int64_t[]){2, 4}, .dim_map = (int32_t[]){0, 1}};
    tk_view view = tk_make_view(&k, k.out, TS_T_i32, 3, 5, &tiling);
    ts_val one = ts_int(b, TS_T_i32, 1), five = ts_int(b, view.tile, 5);
    ts_emit(b, TS_OP_store_view_tko, TS_T_token, 4, (ts_val[]){view.tiled, five, one, one}, 0, 0);
    ts_emit(b, TS_OP_store_view_tko, TS_T_token, 4, (ts_val[]){view.tiled, five, ts_int(b, TS_T_i32, -1), one}, 0, 0);
    uint32_t add = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(TS_RMW_ADD);
    ts_emit(b, TS_OP_atomic_red_view_tko, TS_T_token, 4, (ts_val[]){view.tiled, five, one, one}, add, 0);
    CHECK_OK(tk_end(&k, out));
    int32_t sum = 0;
    for (int i = 0; i < 16; i++)
        sum += out[i];
    CHECK(out[14] == 10 && sum == 10);
}

static void a_broken_bounds_promise_is_an_error(void)
{
    tk k;
    int32_t out[4];
    tk_begin(&k, TS_T_i32);
    ts_type_info tiling = {.kind = TS_KIND_PARTITION_VIEW, .dims = (int64_t[]){2, 2}, .dim_map = (int32_t[]){0, 1}};
    tk_view view = tk_make_view(&k, k.out, TS_T_i32, 1, 2, &tiling);
    ts_val zero = ts_int(&k.b, TS_T_i32, 0);
    ts_emit(&k.b, TS_OP_load_view_tko, view.tile, 3, (ts_val[]){view.tiled, zero, zero}, TS_M_INBOUNDS(1), 0);
    CHECK_INT(tk_end(&k, out), TS_LAUNCH);
    CHECK(strstr(err.text, "promised in bounds") != NULL);
}

/* ---- pointers and atomics ------------------------------------------------------------------------------------ */

static void masked_loads_pad_and_masked_stores_skip(void)
{
    tk k;
    int32_t out[4] = {1, 2, 3, 4}, bits[] = {1, 0, 1, 0};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_type four = tk_tile1(&k, TS_T_i32, 4);
    ts_val p = tk_pointers(&k, k.out, 4);
    ts_val mask = ts_cast(b, TS_OP_trunci, tk_dense(&k, four, bits, 16), TS_T_i1, 0);
    ts_val x = ts_emit(b, TS_OP_load_ptr_tko, four, 3, (ts_val[]){p, mask, ts_int(b, four, 50)}, 0,
                       TS_F_MASK | TS_F_PAD);
    ts_val y = ts_op2(b, TS_OP_addi, x, ts_int(b, four, 10), 0);
    ts_val not_mask = ts_op2(b, TS_OP_xori, mask, ts_int(b, ts_type_of(k.fn, mask), 1), 0);
    ts_val token = ts_emit(b, TS_OP_token, TS_T_token, 1, &x, 0, 0);
    ts_emit(b, TS_OP_store_ptr_tko, TS_T_token, 4, (ts_val[]){p, y, not_mask, token}, 0, TS_F_MASK | TS_F_TOKEN);
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 1 && out[1] == 60 && out[2] == 3 && out[3] == 60);
}

/* One row for each mode: memory before, operand, memory after. */
static void every_atomic_mode_does_its_arithmetic(void)
{
    static const struct {
        ts_rmw mode;
        ts_type elem;
        uint64_t before, value, after;
    } rows[] = {
        {TS_RMW_AND, TS_T_i32, 12, 10, 8},
        {TS_RMW_OR, TS_T_i32, 12, 10, 14},
        {TS_RMW_XOR, TS_T_i64, 12, 10, 6},
        {TS_RMW_ADD, TS_T_i32, 0xFFFFFFFF, 1, 0},
        {TS_RMW_ADDF, TS_T_f32, 0x3F800000, 0x40000000, 0x40400000},
        {TS_RMW_ADDF, TS_T_f16, 0x3C00, 0x3C00, 0x4000},
        {TS_RMW_MAX, TS_T_i32, 0xFFFFFFFF, 1, 1},
        {TS_RMW_MIN, TS_T_i32, 0xFFFFFFFF, 1, 0xFFFFFFFF},
        {TS_RMW_UMAX, TS_T_i32, 0xFFFFFFFF, 1, 0xFFFFFFFF},
        {TS_RMW_UMIN, TS_T_i32, 0xFFFFFFFF, 1, 1},
        {TS_RMW_XCHG, TS_T_i32, 5, 6, 6},
    };
    for (size_t i = 0; i < TS_COUNT(rows); i++) {
        tk k;
        uint64_t memory[2] = {rows[i].before, 0};
        tk_begin(&k, rows[i].elem);
        ts_val opnds[] = {k.out, ts_bits(&k.b, rows[i].elem, rows[i].value)};
        uint32_t mem = TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_DEVICE) | TS_M_MODE(rows[i].mode);
        ts_val old = ts_emit(&k.b, TS_OP_atomic_rmw_tko, rows[i].elem, 2, opnds, mem, 0);
        ts_val second = ts_cast(&k.b, TS_OP_ptr_to_int, k.out, TS_T_i64, 0);
        second = ts_op2(&k.b, TS_OP_addi, second, ts_int(&k.b, TS_T_i64, 8), 0);
        tk_put(&k, ts_emit(&k.b, TS_OP_int_to_ptr, ts_type_of(k.fn, k.out), 1, &second, 0, 0), old);
        CHECK_OK(tk_end(&k, memory));
        CHECK_INT(memory[0], rows[i].after);
        CHECK_INT(memory[1], rows[i].before);
    }
}

static void cas_swaps_only_what_it_expects(void)
{
    tk k;
    int32_t memory[8] = {1, 2, 3, 4}, expected[] = {1, 0, 3, 9};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_type four = tk_tile1(&k, TS_T_i32, 4);
    ts_val p = tk_pointers(&k, k.out, 4);
    ts_val mask = ts_cmp(b, TS_OP_cmpi, TS_LT, ts_emit(b, TS_OP_iota, four, 0, NULL, 0, 0), ts_int(b, four, 3), 0);
    ts_val opnds[] = {p, tk_dense(&k, four, expected, 16), ts_int(b, four, 77), mask};
    ts_val old = ts_emit(b, TS_OP_atomic_cas_tko, four, 4, opnds,
                         TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_DEVICE), TS_F_MASK);
    tk_put(&k, ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 4), 0), old);
    CHECK_OK(tk_end(&k, memory));
    CHECK(memory[0] == 77 && memory[1] == 2 && memory[2] == 77 && memory[3] == 4);
    CHECK(memory[4] == 1 && memory[5] == 2 && memory[6] == 3 && memory[7] == 9);
}

static void access_outside_the_ranges_names_operation_and_address(void)
{
    tk k;
    int32_t out[4];
    ts_eval_range range = {out, sizeof out};
    tk_begin(&k, TS_T_i32);
    k.env = (ts_eval_env){.ranges = &range, .n_ranges = 1};
    tk_put(&k, ts_op2(&k.b, TS_OP_offset, k.out, ts_int(&k.b, TS_T_i32, 1), 0),
           ts_int(&k.b, tk_tile1(&k, TS_T_i32, 4), 0));
    CHECK_INT(tk_end(&k, out), TS_INDEX);
    CHECK(strstr(err.text, "store_ptr_tko") && strstr(err.text, "4 bytes at address 0x"));
}

static void alloca_and_globals_are_memory_of_the_run(void)
{
    tk k;
    static const int32_t table[] = {11, 22};
    int32_t out[3] = {0};
    ts_eval_range range = {out, sizeof out};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    k.env = (ts_eval_env){.ranges = &range, .n_ranges = 1};
    ts_str name = ts_intern(k.m, "table", 5);
    (void)!TS_PUSH(&k.arena, &k.m->dense, ((ts_dense){table, sizeof table}));
    (void)!TS_PUSH(&k.arena, &k.m->globals, ((ts_global){name, tk_tile1(&k, TS_T_i32, 2), k.m->dense.n, 4, true}));
    ts_type p = ts_type_of(k.fn, k.out), two = tk_tile1(&k, TS_T_i32, 2);
    ts_val global = ts_emit(b, TS_OP_get_global, p, 0, NULL, name, 0);
    ts_val scratch = ts_emit(b, TS_OP_alloca, p, 0, NULL, ts_pool_add(b, 3, (uint32_t[]){12, 4, 0}), 0);
    ts_val from = tk_pointers(&k, global, 2);
    tk_put(&k, scratch, ts_emit(b, TS_OP_load_ptr_tko, two, 1, &from, 0, 0));
    ts_val all = ts_emit(b, TS_OP_load_ptr_tko, tk_tile1(&k, TS_T_i32, 2), 1,
                         (ts_val[]){tk_pointers(&k, scratch, 2)}, 0, 0);
    ts_val third = ts_op2(b, TS_OP_offset, scratch, ts_int(b, TS_T_i32, 2), 0);
    tk_put(&k, k.out, all);
    ts_val fresh = ts_emit(b, TS_OP_load_ptr_tko, TS_T_i32, 1, &third, 0, 0);
    tk_put(&k, ts_op2(b, TS_OP_offset, k.out, ts_int(b, TS_T_i32, 2), 0), fresh);
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 11 && out[1] == 22 && out[2] == (int32_t)0xCDCDCDCD);
}

/* ---- promises, faults, print, tokens ---------------------------------------------------------------------------- */

static ts_status tk_assume(const uint32_t *words, uint32_t n, const int32_t values[4])
{
    tk k;
    int32_t out[4];
    tk_begin(&k, TS_T_i32);
    ts_val x = tk_dense(&k, tk_tile1(&k, TS_T_i32, 4), values, 16);
    ts_val y = ts_emit(&k.b, TS_OP_assume, ts_type_of(k.fn, x), 1, &x, ts_pool_add(&k.b, n, words), 0);
    tk_put(&k, k.out, y);
    ts_status status = tk_end(&k, out);
    CHECK(status || memcmp(out, values, sizeof out) == 0);
    return status;
}

static void assume_passes_kept_promises_and_reports_broken_ones(void)
{
    static const uint32_t div4[] = {TS_ASSUME_DIV_BY, 4, 0, 0, 0, 0}, every2[] = {TS_ASSUME_DIV_BY, 4, 0, 1, 2, 0};
    static const uint32_t same2[] = {TS_ASSUME_SAME, 1, 2}, below9[] = {TS_ASSUME_BOUNDED, 1, 0, 0, 1, 9, 0};
    CHECK_OK(tk_assume(div4, 6, (int32_t[]){0, 4, -8, 12}));
    CHECK_INT(tk_assume(div4, 6, (int32_t[]){0, 4, -7, 12}), TS_LAUNCH);
    CHECK_OK(tk_assume(every2, 6, (int32_t[]){4, 5, 8, 9}));
    CHECK_INT(tk_assume(every2, 6, (int32_t[]){4, 5, 6, 7}), TS_LAUNCH);
    CHECK_OK(tk_assume(same2, 3, (int32_t[]){1, 1, 2, 2}));
    CHECK_INT(tk_assume(same2, 3, (int32_t[]){1, 1, 2, 3}), TS_LAUNCH);
    CHECK_OK(tk_assume(below9, 7, (int32_t[]){0, 1, 8, 9}));
    CHECK_INT(tk_assume(below9, 7, (int32_t[]){0, 1, 8, 10}), TS_LAUNCH);
}

static void a_failed_assert_and_division_by_zero_are_faults(void)
{
    tk k;
    int32_t out[1] = {0};
    ts_fault fault = {0};
    for (int noted = 0; noted < 2; noted++) {
        tk_begin(&k, TS_T_i32);
        k.env.fault = noted ? &fault : NULL;
        ts_val no = ts_int(&k.b, TS_T_i1, 0);
        ts_emit(&k.b, TS_OP_assert, TS_T_none, 1, &no, ts_intern(k.m, "x must be 3", 11), 0);
        tk_put(&k, k.out, ts_int(&k.b, TS_T_i32, 8));
        CHECK_INT(tk_end(&k, out), noted ? TS_OK : TS_LAUNCH);
        CHECK(noted || strstr(err.text, "x must be 3"));
    }
    CHECK(fault.code == 2 && out[0] == 8);
    fault = (ts_fault){0};
    tk_begin(&k, TS_T_i32);
    k.env.fault = &fault;
    ts_val five = ts_int(&k.b, TS_T_i32, 5), wide = ts_int(&k.b, TS_T_i64, 9);
    ts_val opnds[] = {ts_int(&k.b, TS_T_i32, TS_FAULT_BOUNDS), wide, wide, five, five, five};
    ts_emit(&k.b, TS_OP_fault, TS_T_none, 6, opnds, ts_intern(k.m, "text", 4), 0);
    tk_put(&k, k.out, five);
    CHECK_INT(tk_end(&k, out), TS_OK);
    CHECK(fault.code == TS_FAULT_BOUNDS && fault.index == 9 && fault.thread[2] == 5 && out[0] == 5);
    tk_begin(&k, TS_T_i32);
    tk_put(&k, k.out, ts_op2(&k.b, TS_OP_divi, ts_int(&k.b, TS_T_i32, 8), ts_int(&k.b, TS_T_i32, 0), 0));
    CHECK_INT(tk_end(&k, out), TS_LAUNCH);
    CHECK(strstr(err.text, "division by zero") != NULL);
}

static void a_bounds_check_tells_index_and_extent(void)
{
    tk k;
    int32_t out[1] = {0};
    ts_fault fault = {0};
    for (int noted = 0; noted < 2; noted++) {
        tk_begin(&k, TS_T_i32);
        k.env.fault = noted ? &fault : NULL;
        ts_val opnds[] = {ts_int(&k.b, TS_T_i1, 0), ts_int(&k.b, TS_T_i32, -3), ts_int(&k.b, TS_T_i64, 16)};
        ts_emit(&k.b, TS_OP_assert, TS_T_none, 3, opnds, ts_intern(k.m, "gather(), axis 1", 16), 0);
        CHECK_INT(tk_end(&k, out), noted ? TS_OK : TS_LAUNCH);
        CHECK(noted || strstr(err.text, "gather(), axis 1: index -3 is out of bounds for size 16"));
    }
    CHECK(fault.code == TS_FAULT_BOUNDS && fault.index == -3 && fault.extent == 16);
}

static void tk_sink(void *user, const char *text, size_t n)
{
    ts__text_put(user, text, n);
}

static void tk_begin_printing(tk *k, ts_text *text)
{
    ts__text_init(text, NULL);
    tk_begin(k, TS_T_i32);
    k->env.print = tk_sink;
    k->env.print_user = text;
}

static void print_follows_the_c_format_with_whole_tiles(void)
{
    tk k;
    ts_text text;
    tk_begin_printing(&k, &text);
    ts_builder *b = &k.b;
    ts_val x = ts_emit(b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 4), 0, NULL, 0, 0);
    ts_val token = ts_emit(b, TS_OP_make_token, TS_T_token, 0, NULL, 0, 0);
    ts_val opnds[] = {ts_reshape(b, x, tk_tile2(&k, TS_T_i32, 2, 2)), ts_float(b, TS_T_f16, 1.5),
                      ts_int(b, TS_T_i8, -1), token};
    static const char format[] = "%d 100%% %.2f %u\n";
    ts_emit(b, TS_OP_print_tko, TS_T_token, 4, opnds, ts_intern(k.m, format, sizeof format - 1), TS_F_TOKEN);
    CHECK_OK(tk_end(&k, NULL));
    CHECK_STR(ts__text_get(&text), "[[0, 1], [2, 3]] 100% 1.50 255\n");
    ts__text_deinit(&text);
}

static void print_joins_the_parts_of_complex_numbers(void)
{
    tk k;
    ts_text text;
    tk_begin_printing(&k, &text);
    ts_builder *b = &k.b;
    ts_val i = ts_emit(b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 2), 0, NULL, 0, 0);
    ts_val re = ts_cast(b, TS_OP_itof, i, TS_T_f32, 0), im = ts_op1(b, TS_OP_negf, re, 0);
    ts_val one = ts_float(b, TS_T_f64, 1);
    static const char format[] = "%.1jf %jg %d\n";
    ts_emit(b, TS_OP_print_tko, TS_T_token, 5, (ts_val[]){re, im, one, one, ts_int(b, TS_T_i32, 7)},
            ts_intern(k.m, format, sizeof format - 1), 0);
    CHECK_OK(tk_end(&k, NULL));
    CHECK_STR(ts__text_get(&text), "[0.0-0.0j, 1.0-1.0j] 1+1j 7\n");
    ts__text_deinit(&text);
}

static void token_operations_do_nothing(void)
{
    tk k;
    int32_t out[1] = {0};
    tk_begin(&k, TS_T_i32);
    ts_builder *b = &k.b;
    ts_val t0 = ts_emit(b, TS_OP_make_token, TS_T_token, 0, NULL, 0, 0);
    ts_val t1 = ts_emit(b, TS_OP_join_tokens, TS_T_token, 2, (ts_val[]){t0, t0}, 0, 0);
    ts_emit(b, TS_OP_memory_fence_alias_tko, TS_T_token, 1, &t1, 0, 0);
    ts_emit(b, TS_OP_gdc_wait_tko, TS_T_token, 1, &t1, 0, TS_F_TOKEN);
    ts_emit(b, TS_OP_gdc_launch_dependents_tko, TS_T_token, 1, &t1, 0, TS_F_TOKEN);
    tk_put(&k, k.out, ts_int(b, TS_T_i32, 1));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], 1);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

/* Element i of a small integer matrix, exact in every type. */
static double tk_entry(int64_t i, int seed)
{
    return (double)((i * 7 + seed * 3) % 5 - 2);
}

static ts_val tk_matrix(tk *k, ts_type elem, int64_t batch, int64_t rows, int64_t cols, int seed)
{
    ts_type type = ts_type_tile(k->m, elem, 3, (int64_t[]){batch, rows, cols});
    uint8_t bytes[1024] = {0};
    int64_t n = batch * rows * cols;
    for (int64_t i = 0; i < n; i++) {
        double x = tk_entry(i, seed);
        uint64_t bits = ts__float_format_of(elem) ? ts__float_from_f64(elem, x, TS_RN) : (uint64_t)(int64_t)x;
        ts__scalar_store(k->m, elem, bytes, i, bits);
    }
    return tk_dense(k, type, bytes, ((size_t)n * ts_type_bits(k->m, elem) + 7) / 8);
}

static double tk_product(int64_t i) /* of 2 batches of 2x8 by 8x4, accumulator seed 3 */
{
    int64_t batch = i / 8, row = i / 4, col = i % 4;
    double sum = tk_entry(i, 3);
    for (int64_t j = 0; j < 8; j++)
        sum += tk_entry(row * 8 + j, 1) * tk_entry((batch * 8 + j) * 4 + col, 2);
    return sum;
}

static void mma_multiplies_in_every_type(void)
{
    static const ts_type rows[][2] = {
        {TS_T_f16, TS_T_f16},      {TS_T_f16, TS_T_f32},    {TS_T_bf16, TS_T_f32},
        {TS_T_f32, TS_T_f32},      {TS_T_tf32, TS_T_f32},   {TS_T_f64, TS_T_f64},
        {TS_T_f8E4M3FN, TS_T_f32}, {TS_T_f8E5M2, TS_T_f16}, {TS_T_f8E5M2, TS_T_f32},
        {TS_T_f8E4M3FN, TS_T_f16}, {TS_T_i8, TS_T_i32}};
    for (size_t r = 0; r < TS_COUNT(rows); r++) {
        tk k;
        uint8_t out[128];
        ts_type in = rows[r][0], acc = rows[r][1];
        tk_begin(&k, acc);
        ts_val opnds[] = {tk_matrix(&k, in, 2, 2, 8, 1), tk_matrix(&k, in, 2, 8, 4, 2), tk_matrix(&k, acc, 2, 2, 4, 3)};
        ts_op op = in == TS_T_i8 ? TS_OP_mmai : TS_OP_mmaf;
        tk_put(&k, k.out, ts_emit(&k.b, op, ts_type_of(k.fn, opnds[2]), 3, opnds, 0, 0));
        CHECK_OK(tk_end(&k, out));
        for (int64_t i = 0; i < 16; i++) {
            uint64_t bits = ts__scalar_load(NULL, acc, out, i);
            double found = in == TS_T_i8 ? (double)(int64_t)bits : ts__float_to_f64(acc, bits);
            CHECK(found == tk_product(i));
        }
    }
}

static void mmai_reads_signs_as_told(void)
{
    tk k;
    int32_t out[1];
    int8_t minus[] = {-1, -1};
    tk_begin(&k, TS_T_i32);
    ts_val a = tk_dense(&k, tk_tile2(&k, TS_T_i8, 1, 2), minus, 2),
           b = tk_dense(&k, tk_tile2(&k, TS_T_i8, 2, 1), minus, 2);
    ts_val opnds[] = {a, b, ts_int(&k.b, tk_tile2(&k, TS_T_i32, 1, 1), 0)};
    tk_put(&k, k.out, ts_emit(&k.b, TS_OP_mmai, ts_type_of(k.fn, opnds[2]), 3, opnds, TS_A_UNSIGNED, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], -510);
}

/* Adding 2^-12 four times to 1 in f16: one rounding at the end keeps it, four roundings would lose it. */
static void an_f16_accumulator_is_rounded_once(void)
{
    tk k;
    uint16_t out[1];
    tk_begin(&k, TS_T_f16);
    ts_val a = ts_float(&k.b, tk_tile2(&k, TS_T_f16, 1, 4), 0x1p-6),
           b = ts_float(&k.b, tk_tile2(&k, TS_T_f16, 4, 1), 0x1p-6);
    ts_val opnds[] = {a, b, ts_float(&k.b, tk_tile2(&k, TS_T_f16, 1, 1), 1)};
    tk_put(&k, k.out, ts_emit(&k.b, TS_OP_mmaf, ts_type_of(k.fn, opnds[2]), 3, opnds, 0, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], 0x3C01);
}

static void scaled_mma_applies_one_scale_to_each_k_block(void)
{
    tk k;
    float out[1];
    uint8_t scale_a[] = {127, 128}, scale_b[] = {127, 126}; /* 1, 2 and 1, 0.5; blocks of 32 */
    tk_begin(&k, TS_T_f32);
    ts_val a = ts_bits(&k.b, tk_tile2(&k, TS_T_f8E4M3FN, 1, 64), 0x38),
           b = ts_bits(&k.b, tk_tile2(&k, TS_T_f8E4M3FN, 64, 1), 0x40);
    ts_val opnds[] = {a, b, ts_float(&k.b, tk_tile2(&k, TS_T_f32, 1, 1), 100),
                      tk_dense(&k, tk_tile2(&k, TS_T_f8E8M0FNU, 1, 2), scale_a, 2),
                      tk_dense(&k, tk_tile2(&k, TS_T_f8E8M0FNU, 2, 1), scale_b, 2)};
    tk_put(&k, k.out, ts_emit(&k.b, TS_OP_mmaf_scaled, ts_type_of(k.fn, opnds[2]), 5, opnds, 0, 0));
    CHECK_OK(tk_end(&k, out));
    CHECK(out[0] == 100 + 32 * 2 * 1 + 32 * 2 * 1); /* 1*2, 32 times with scales 1*1, 32 times with 2*0.5 */
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* An operator that others call: x * x + 1, and its sign. */
static ts_fn *tk_operator(ts_module *m, const char *name, const ts_fn *inner)
{
    ts_builder b;
    ts_fn *fn = ts_fn_create(m, name, TS_LEVEL_B);
    ts__builder_init(&b, fn);
    ts_val x = ts_fn_param(&b, TS_T_i32);
    ts_val y = inner ? ts_call(&b, inner, &x) + 1 : ts_op2(&b, TS_OP_muli, x, x, 0);
    ts_val z[] = {ts_op2(&b, TS_OP_addi, y, ts_int(&b, TS_T_i32, 1), 0), ts_op1(&b, TS_OP_negi, y, 0)};
    ts_term(&b, TS_OP_return, 2, z);
    ts_fn_set_results(fn, 2, (ts_type[]){TS_T_i32, TS_T_i32});
    return fn;
}

/* Twice the same function, through another one, in a loop and in a reduction. */
static void a_call_runs_the_function_and_gives_its_results(void)
{
    tk k;
    int32_t out[3] = {0};
    tk_begin(&k, TS_T_i32);
    ts_fn *inner = tk_operator(k.m, "inner", NULL), *outer = tk_operator(k.m, "outer", inner);
    ts_val zero = ts_int(&k.b, TS_T_i32, 0), two = ts_int(&k.b, TS_T_i32, 2), one = ts_int(&k.b, TS_T_i32, 1);
    ts_val o = ts_for_begin(&k.b, zero, two, one, 1, &one, 0);
    ts_val next = ts_call(&k.b, outer, (ts_val[]){ts_region_arg(k.fn, o, 1)}) + 1; /* x * x + 2 */
    ts_term(&k.b, TS_OP_continue, 1, &next);
    ts_end_like(&k.b, o);
    ts_val looped = ts_res(&k.b, o, 0), line = ts_emit(&k.b, TS_OP_iota, tk_tile1(&k, TS_T_i32, 4), 0, NULL, 0, 0);
    ts_val r = ts_reduce_begin(&k.b, TS_OP_reduce, 0, false, 1, &line, (uint64_t[]){0});
    ts_val sum = ts_op2(&k.b, TS_OP_addi, ts_call(&k.b, inner, (ts_val[]){ts_region_arg(k.fn, r, 0)}) + 1,
                        ts_region_arg(k.fn, r, 1), 0);
    ts_term(&k.b, TS_OP_yield, 1, &sum);
    ts_end_like(&k.b, r);
    ts_val reduced = ts_res(&k.b, r, 0), sign = ts_call(&k.b, inner, &two) + 2;
    ts_val all[] = {looped, reduced, sign};
    for (int i = 0; i < 3; i++)
        tk_put(&k, ts_op2(&k.b, TS_OP_offset, k.out, ts_int(&k.b, TS_T_i32, i), 0),
               ts_reshape(&k.b, all[i], tk_tile1(&k, TS_T_i32, 1)));
    CHECK_OK(tk_end(&k, out));
    CHECK_INT(out[0], 11); /* 1 -> 3 -> 11 */
    CHECK_INT(out[1], 0 + 1 + 4 + 9 + 4);
    CHECK_INT(out[2], -4);
}

/* A message names the function that the instruction stands in, and its own number there. */
static void a_fault_in_a_function_names_the_function(void)
{
    tk k;
    ts_builder b;
    tk_begin(&k, TS_T_i32);
    ts_fn *fn = ts_fn_create(k.m, "divide", TS_LEVEL_B);
    ts__builder_init(&b, fn);
    ts_val x = ts_fn_param(&b, TS_T_i32), y = ts_op2(&b, TS_OP_divi, x, ts_int(&b, TS_T_i32, 0), 0);
    ts_term(&b, TS_OP_return, 1, &y);
    ts_fn_set_results(fn, 1, (ts_type[]){TS_T_i32});
    ts_call(&k.b, fn, (ts_val[]){ts_int(&k.b, TS_T_i32, 1)});
    CHECK_INT(tk_end(&k, NULL), TS_LAUNCH);
    CHECK(strstr(err.text, "@divide, %3 = divi") != NULL);
}

/* The interpreter runs one block after the other: a barrier of all blocks is one of a single block. */
static void one_block_passes_a_barrier_of_the_grid(void)
{
    for (uint32_t blocks = 1; blocks <= 2; blocks++) {
        tk k;
        int32_t out = 0;
        uint64_t params[] = {(uint64_t)(uintptr_t)&out};
        tk_begin(&k, TS_T_i32);
        ts_emit(&k.b, TS_OP_grid_sync, TS_T_none, 0, NULL, 0, 0);
        tk_put(&k, k.out, ts_broadcast(&k.b, ts_int(&k.b, TS_T_i32, 7), tk_tile1(&k, TS_T_i32, 1)));
        CHECK_INT(tk_run_grid(&k, params, 1, blocks), blocks == 1 ? TS_OK : TS_UNSUPPORTED);
        CHECK_INT(out, blocks == 1 ? 7 : 0);
        ts__arena_deinit(&k.arena);
    }
}

static void every_tile_op_was_run(void)
{
    for (int op = 1; op < TS_OP_COUNT; op++) {
        if (!(ts__ops[op].level & TS_LEVEL_T) || tk_seen[op])
            continue;
        fprintf(stderr, "no test runs %s at tile level\n", ts__ops[op].name);
        CHECK(tk_seen[op]);
    }
}

int main(void)
{
    one_block_passes_a_barrier_of_the_grid();
    elementwise_ops_act_on_each_element();
    functions_are_written_out();
    complex_numbers_are_pairs();
    pointers_convert_and_select_picks();
    permute_moves_axes();
    broadcast_stretches_ones();
    cat_joins_along_an_axis();
    extract_and_insert_count_slices();
    extract_past_the_end_wraps();
    pack_and_unpack_keep_the_bytes();
    reduce_folds_one_axis();
    scan_is_inclusive_and_may_run_backwards();
    reduce_of_two_inputs_is_argmax();
    cold_replaces_where_the_condition_holds();
    for_assigns_carried_values_at_once();
    unsigned_for_and_wrapping_counter_end();
    break_in_an_if_leaves_the_loop();
    if_yields_the_taken_side_and_return_ends_the_block();
    an_endless_loop_meets_the_step_limit();
    a_partition_view_pads_outside_the_array();
    a_mapped_partition_reads_the_transpose();
    a_strided_view_steps_by_its_traversal();
    a_gather_view_takes_rows_by_number();
    stores_and_reductions_outside_are_dropped();
    a_broken_bounds_promise_is_an_error();
    masked_loads_pad_and_masked_stores_skip();
    every_atomic_mode_does_its_arithmetic();
    cas_swaps_only_what_it_expects();
    access_outside_the_ranges_names_operation_and_address();
    alloca_and_globals_are_memory_of_the_run();
    assume_passes_kept_promises_and_reports_broken_ones();
    a_failed_assert_and_division_by_zero_are_faults();
    a_bounds_check_tells_index_and_extent();
    print_follows_the_c_format_with_whole_tiles();
    print_joins_the_parts_of_complex_numbers();
    token_operations_do_nothing();
    mma_multiplies_in_every_type();
    mmai_reads_signs_as_told();
    an_f16_accumulator_is_rounded_once();
    scaled_mma_applies_one_scale_to_each_k_block();
    a_call_runs_the_function_and_gives_its_results();
    a_fault_in_a_function_names_the_function();
    every_tile_op_was_run();
    return check_done();
}
