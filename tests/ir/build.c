/* SPDX-License-Identifier: Apache-2.0
 * The builder (src/ir/build.c): structure, folding, copying. */
#include "ir/ir.h"
#include "check.h"

static ts_arena arena;

static ts_fn *sum_to(ts_builder *b, bool fold)
{
    ts_module *m = ts__module_create(&arena);
    ts_fn *fn = ts_fn_create(m, "sum_to", TS_LEVEL_T);
    ts__builder_init(b, fn);
    b->fold = fold;
    ts_val n = ts_fn_param(b, TS_T_i32), zero = ts_int(b, TS_T_i32, 0), one = ts_int(b, TS_T_i32, 1);
    ts_val loop = ts_for_begin(b, zero, n, one, 1, &zero, 0);
    ts_val next = ts_op2(b, TS_OP_addi, ts_region_arg(fn, loop, 0), ts_region_arg(fn, loop, 1), 0);
    ts_term(b, TS_OP_continue, 1, &next);
    ts_end_like(b, loop);
    CHECK_INT(ts_type_of(fn, ts_res(b, loop, 0)), TS_T_i32);
    ts_term(b, TS_OP_return, 0, NULL);
    return fn;
}

static void regions_have_args_and_results(void)
{
    ts_builder b;
    ts_fn *fn = sum_to(&b, false);
    ts_shape shape;
    CHECK(ts__shape_of(fn, &arena, &shape));
    CHECK_INT(ts_builder_status(&b, NULL), TS_OK);
    CHECK_INT(fn->n_params, 1);
    CHECK_INT(ts_at(fn, shape.end[4])->op, TS_OP_end);
    CHECK_INT(shape.parent[5], 4);
}

static void copying_each_instruction_gives_an_equal_function(void)
{
    ts_builder b, c;
    ts_fn *fn = sum_to(&b, false), *copy = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(&arena, ts_val, fn->inst.n);
    ts__builder_init(&c, copy);
    for (ts_val v = 1; v < fn->inst.n; v++)
        ts__copy(&c, fn, v, map);
    CHECK_INT(copy->inst.n, fn->inst.n);
    for (ts_val v = 1; v < fn->inst.n; v++) {
        CHECK_INT(ts_at(copy, v)->op, ts_at(fn, v)->op);
        CHECK_INT(ts_at(copy, v)->n_opnd, ts_at(fn, v)->n_opnd);
    }
}

static void folding_builder_reuses_and_folds(void)
{
    ts_builder b;
    ts_fn *fn = sum_to(&b, true);
    ts_val x = 1, three = ts_int(&b, TS_T_i32, 3), four = ts_int(&b, TS_T_i32, 4);
    ts_val a = ts_op2(&b, TS_OP_addi, x, three, 0);
    CHECK_INT(ts_op2(&b, TS_OP_addi, x, three, 0), a);
    int64_t seven = 0;
    CHECK(ts__const_as_int(fn, ts_op2(&b, TS_OP_addi, three, four, 0), &seven) && seven == 7);
    CHECK_INT(ts_opnd(fn, ts_op2(&b, TS_OP_addi, a, four, 0), 0), x);
    CHECK_INT(ts_op2(&b, TS_OP_muli, x, ts_int(&b, TS_T_i32, 1), 0), x);
}

static void values_of_a_closed_region_are_not_reused(void)
{
    ts_builder b;
    ts_fn *fn = sum_to(&b, true);
    ts_val cond = ts_bits(&b, TS_T_i1, 1), opener = ts_if_begin(&b, cond);
    ts_val inside = ts_op2(&b, TS_OP_muli, 1, 1, 0);
    ts_term(&b, TS_OP_yield, 0, NULL);
    ts_else(&b);
    CHECK(ts_op2(&b, TS_OP_muli, 1, 1, 0) != inside);
    ts_term(&b, TS_OP_yield, 0, NULL);
    ts_end(&b, opener, 0, NULL);
    CHECK(ts_op2(&b, TS_OP_muli, 1, 1, 0) != inside);
    CHECK(fn->inst.n > inside);
}

static void types_are_interned(void)
{
    ts_module *m = ts__module_create(&arena);
    ts_type t = ts_type_tile(m, TS_T_f32, 2, (int64_t[]){64, 32});
    CHECK_INT(ts_type_tile(m, TS_T_f32, 2, (int64_t[]){64, 32}), t);
    CHECK(ts_type_tile(m, TS_T_f32, 2, (int64_t[]){32, 64}) != t);
    CHECK_INT(ts_type_count(m, t), 2048);
    CHECK_INT(ts_type_elem(m, ts_type_with_elem(m, t, TS_T_i1)), TS_T_i1);
    for (int i = 0; i < 1000; i++)
        CHECK(ts_type_tile(m, TS_T_f32, 1, (int64_t[]){i}) != TS_T_none);
    CHECK_INT(ts_type_tile(m, TS_T_f32, 2, (int64_t[]){64, 32}), t);
}

int main(void)
{
    ts__arena_init(&arena, NULL);
    regions_have_args_and_results();
    copying_each_instruction_gives_an_equal_function();
    folding_builder_reuses_and_folds();
    values_of_a_closed_region_are_not_reused();
    types_are_interned();
    ts__arena_deinit(&arena);
    return check_done();
}
