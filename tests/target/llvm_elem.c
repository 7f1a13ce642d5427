/* SPDX-License-Identifier: Apache-2.0
 *
 * Every elementwise operation on the CPU target against the evaluator, for every element type it takes,
 * in vectors and in a tail. Values come from the table below and from the arrays' pattern.
 */
#include "llvm_run.h"
#include "op_list.h"

enum { ELEM_TILE = 64, ELEM_N = 100 };

static const double elem_values[] = {
    0.0,   -0.0,  1.0,    -1.0,    0.5,    3.75,         -2.625, 1e-3,     65504.0,   1e30,
    -1e30, 448.0, 5e-8,   1.5e-39, -6e-8,  2.0009765625, 0.0625, INFINITY, -INFINITY, NAN,
    240.5, 17.0,  -17.25, 1e-45,   6.1e-5, 3e-5,         3.0,    0.75,
    /* around the ends of integers */
    127.75, -128.75, 255.75, 32767.75, 2147483647.5, 2147483648.0, -2147483649.0, 4294967296.0, 9223372036854775808.0,
    -9223372036854775808.0, 18446744073709551616.0};

_Static_assert(TS_COUNT(elem_values) % 7 && TS_COUNT(elem_values) <= ELEM_N, "each value is met, in steps of 7");

/* Overwrites the pattern of array a by values that matter. */
static void special(run *r, uint32_t a, uint32_t shift)
{
    ts_type elem = r->array[a].elem;
    for (int64_t i = 0; i < r->array[a].n; i++) {
        uint64_t x;
        if (ts_type_is_float(NULL, elem))
            x = ts__float_from_f64(elem, elem_values[(uint64_t)(i * 7 + shift) % TS_COUNT(elem_values)], TS_RN);
        else if (i % 5 == 0)
            x = (uint64_t)1 << (uint64_t)(i % 64);
        else
            x = (uint64_t)((i * 2654435761 + (int64_t)shift * 40503) >> (i % 13)) * (i % 2 ? 1 : (uint64_t)-1);
        ts__scalar_store(NULL, elem, r->array[a].cpu, i, ts__scalar_wrap(elem, x));
        ts__scalar_store(NULL, elem, r->array[a].eval, i, ts__scalar_wrap(elem, x));
    }
}

/* out[i] = op(in0[i], ..): types of the inputs and of the output. */
static void one(ts_op op, uint32_t attr, uint32_t n, const ts_type *in, ts_type out, const char *what)
{
    run r;
    int64_t tile = ELEM_TILE, count = ELEM_N;
    ts_val x[3], y;
    run_begin(&r);
    for (uint32_t i = 0; i < n; i++)
        x[i] = run_array(&r, in[i], count);
    ts_val to = run_array(&r, out, count), id = run_id(&r, 0);
    for (uint32_t i = 0; i < n; i++)
        special(&r, i, i * 3);
    for (uint32_t i = 0; i < n; i++)
        x[i] = run_load(&r, run_view(&r, x[i], in[i], 1, &count, &tile), run_tile(&r, in[i], 1, &tile), 1, &id);
    y = ts_emit(&r.b, op, run_tile(&r, out, 1, &tile), n, x, attr, 0);
    run_store(&r, run_view(&r, to, out, 1, &count, &tile), y, 1, &id);
    r.grid[0] = 2;
    run_check(&r, what);
}

static void same(ts_op op, uint32_t attr, ts_type elem)
{
    char what[96];
    ts_type in[3] = {elem, elem, elem};
    snprintf(what, sizeof what, "%s attr %x on %s", ts__ops[op].name, attr, ts_scalar_name(elem));
    one(op, attr, (uint32_t)ts__ops[op].n_opnd, in, elem, what);
}

static const ts_type elem_floats[] = {TS_T_f32, TS_T_f64, TS_T_f16, TS_T_bf16};
static const ts_type elem_ints[] = {TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
static const ts_type elem_all_floats[] = {TS_T_f32,      TS_T_f64,      TS_T_f16,    TS_T_bf16,
                                          TS_T_tf32,     TS_T_f8E4M3FN, TS_T_f8E5M2, TS_T_f8E8M0FNU,
                                          TS_T_f4E2M1FN, TS_T_f8E5M3FNU};

static void floats_have_their_meaning(void)
{
    op_list ops = op_list_of(OP_FLOATS, false);
    for (size_t i = 0; i < ops.n; i += check_step(3))
        for (size_t k = 0; k < TS_COUNT(elem_floats); k++)
            same(ops.at[i], 0, elem_floats[k]);
    for (size_t k = 0; k < TS_COUNT(elem_floats); k++) {
        same(TS_OP_maxf, TS_A_NAN, elem_floats[k]);
        same(TS_OP_minf, TS_A_NAN, elem_floats[k]);
    }
    same(TS_OP_mulf, TS_A_FTZ, TS_T_f32);
}

static void comparisons_have_their_meaning(void)
{
    for (uint32_t p = TS_EQ; p <= TS_GE; p++)
        for (size_t k = 0; k < TS_COUNT(elem_floats); k++)
            for (uint32_t u = 0; u < 2; u++) {
                ts_type f[2] = {elem_floats[k], elem_floats[k]}, n[2] = {elem_ints[k], elem_ints[k]};
                one(TS_OP_cmpf, TS_A_PRED(p) | u * TS_A_UNORDERED, 2, f, TS_T_i1, "cmpf");
                one(TS_OP_cmpi, TS_A_PRED(p) | u * TS_A_UNSIGNED, 2, n, TS_T_i1, "cmpi");
            }
}

static void integers_have_their_meaning(void)
{
    op_list ops = op_list_of(OP_INTS, false);
    for (size_t i = 0; i < ops.n; i += check_step(3))
        for (size_t k = 0; k < TS_COUNT(elem_ints); k++) {
            ts_op op = ops.at[i];
            if (op == TS_OP_divi || op == TS_OP_remi) /* by zero: see divide() */
                continue;
            same(op, 0, elem_ints[k]);
            if (op == TS_OP_maxi || op == TS_OP_mini || op == TS_OP_shri)
                same(op, TS_A_UNSIGNED, elem_ints[k]);
        }
    same(TS_OP_andi, 0, TS_T_i1);
    same(TS_OP_xori, 0, TS_T_i1);
}

/* The divisor is odd, so never zero. */
static void divide(ts_op op, uint32_t attr, ts_type elem)
{
    run r;
    int64_t tile = ELEM_TILE, count = ELEM_TILE;
    char what[96];
    run_begin(&r);
    ts_val a = run_array(&r, elem, count), b = run_array(&r, elem, count),
           c = run_array(&r, elem, count), id = run_id(&r, 0);
    special(&r, 0, 1);
    special(&r, 1, 2);
    ts_type type = run_tile(&r, elem, 1, &tile);
    ts_val x = run_load(&r, run_view(&r, a, elem, 1, &count, &tile), type, 1, &id);
    ts_val y = run_load(&r, run_view(&r, b, elem, 1, &count, &tile), type, 1, &id);
    y = ts_op2(&r.b, TS_OP_ori, y, ts_int(&r.b, type, 1), 0);
    run_store(&r, run_view(&r, c, elem, 1, &count, &tile), ts_op2(&r.b, op, x, y, attr), 1, &id);
    snprintf(what, sizeof what, "%s attr %x on %s", ts__ops[op].name, attr, ts_scalar_name(elem));
    run_check(&r, what);
}

static void division_rounds_as_asked(void)
{
    for (size_t k = 0; k < TS_COUNT(elem_ints); k++) {
        static const uint32_t attrs[] = {TS_RZ, TS_RM, TS_RP, TS_RZ | TS_A_UNSIGNED, TS_RP | TS_A_UNSIGNED};
        for (size_t i = 0; i < TS_COUNT(attrs); i++)
            divide(TS_OP_divi, attrs[i], elem_ints[k]);
        divide(TS_OP_remi, TS_RZ, elem_ints[k]);
        divide(TS_OP_remi, TS_RM, elem_ints[k]);
        divide(TS_OP_remi, TS_A_UNSIGNED, elem_ints[k]);
    }
}

static void conversions_round_once(void)
{
    char what[96];
    for (size_t i = 0; i < TS_COUNT(elem_all_floats); i++)
        for (size_t k = 0; k < TS_COUNT(elem_all_floats); k++) {
            ts_type from = elem_all_floats[i], to = elem_all_floats[k];
            snprintf(what, sizeof what, "ftof %s to %s", ts_scalar_name(from), ts_scalar_name(to));
            if (from != TS_T_f4E2M1FN && to != TS_T_f4E2M1FN)
                one(TS_OP_ftof, to == TS_T_f8E8M0FNU ? TS_RP : TS_RN, 1, &from, to, what);
            else
                one(TS_OP_ftof, to == TS_T_f8E8M0FNU ? TS_RZ : TS_RN, 1, &from, to, what);
        }
    for (size_t i = 0; i < TS_COUNT(elem_floats); i++)
        for (size_t k = 0; k < TS_COUNT(elem_ints); k++)
            for (uint32_t u = 0; u < 2; u++) {
                snprintf(what, sizeof what, "%s %s attr %x", ts_scalar_name(elem_floats[i]),
                         ts_scalar_name(elem_ints[k]), u * TS_A_UNSIGNED);
                one(TS_OP_ftoi, TS_RZI | u * TS_A_UNSIGNED, 1, &elem_floats[i], elem_ints[k], what);
                one(TS_OP_itof, u * TS_A_UNSIGNED, 1, &elem_ints[k], elem_floats[i], what);
            }
}

static void integers_change_width(void)
{
    ts_type i1 = TS_T_i1;
    for (size_t i = 0; i < TS_COUNT(elem_ints); i++) {
        for (size_t k = i + 1; k < TS_COUNT(elem_ints); k++) {
            one(TS_OP_exti, 0, 1, &elem_ints[i], elem_ints[k], "exti");
            one(TS_OP_exti, TS_A_UNSIGNED, 1, &elem_ints[i], elem_ints[k], "exti unsigned");
            one(TS_OP_trunci, 0, 1, &elem_ints[k], elem_ints[i], "trunci");
        }
        one(TS_OP_exti, 0, 1, &i1, elem_ints[i], "exti i1");
        one(TS_OP_exti, TS_A_UNSIGNED, 1, &i1, elem_ints[i], "exti i1 unsigned");
        one(TS_OP_trunci, 0, 1, &elem_ints[i], TS_T_i1, "trunci i1");
    }
    ts_type f32 = TS_T_f32, i64 = TS_T_i64, f16 = TS_T_f16;
    one(TS_OP_bitcast, 0, 1, &f32, TS_T_i32, "bitcast");
    one(TS_OP_bitcast, 0, 1, &i64, TS_T_f64, "bitcast");
    one(TS_OP_bitcast, 0, 1, &f16, TS_T_bf16, "bitcast");
}

static void selection_takes_either(void)
{
    ts_type in[3] = {TS_T_i1, TS_T_f32, TS_T_f32}, wide[3] = {TS_T_i1, TS_T_i64, TS_T_i64};
    one(TS_OP_select, 0, 3, in, TS_T_f32, "select");
    one(TS_OP_select, 0, 3, wide, TS_T_i64, "select");
}

static void everything(void)
{
    floats_have_their_meaning();
    comparisons_have_their_meaning();
    integers_have_their_meaning();
    division_rounds_as_asked();
    conversions_round_once();
    integers_change_width();
    selection_takes_either();
}

int main(void)
{
    everything();
    run_vector_bytes = 16;
    everything();
    run_vector_bytes = 32;
    floats_have_their_meaning();
    conversions_round_once();
    return check_done();
}
