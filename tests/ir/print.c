/* SPDX-License-Identifier: Apache-2.0
 * What the text form looks like (src/ir/print.c), and that broken functions are reported
 * (verify.c). */
#include "ir/text.h"
#include "check.h"

static ts_arena arena;
static ts_error err;

static ts_fn *print_sum(ts_module *m) /* sum of 0.5 over a loop, reduced */
{
    ts_fn *fn = ts_fn_create(m, "k", TS_LEVEL_T);
    ts_builder b;
    ts__builder_init(&b, fn);
    ts_type f32x64 = ts_type_tile(m, TS_T_f32, 1, (int64_t[]){64});
    ts_fn_param(&b, ts_type_ptr(m, TS_T_f32, TS_GLOBAL));
    ts_val n = ts_fn_param(&b, TS_T_i32), zero = ts_int(&b, TS_T_i32, 0),
           one = ts_int(&b, TS_T_i32, 1);
    ts_val half = ts_float(&b, f32x64, 0.5);
    ts_val loop = ts_for_begin(&b, zero, n, one, 1, &half, 0);
    ts_val sum = ts_op2(&b, TS_OP_addf, ts_region_arg(fn, loop, 1), half, TS_RZ | TS_A_FTZ);
    ts_term(&b, TS_OP_continue, 1, &sum);
    ts_end_like(&b, loop);
    ts_val total = ts_res(&b, loop, 0);
    ts_val red = ts_reduce_begin(&b, TS_OP_reduce, 0, false, 1, &total, (uint64_t[]){0});
    ts_val both = ts_op2(&b, TS_OP_addf, ts_region_arg(fn, red, 0), ts_region_arg(fn, red, 1), 0);
    ts_term(&b, TS_OP_yield, 1, &both);
    ts_end_like(&b, red);
    ts_term(&b, TS_OP_return, 0, NULL);
    return fn;
}

static void structured_function_prints_as_nested_text(void)
{
    ts_text text;
    ts__text_init(&text, NULL);
    ts_fn *fn = print_sum(ts__module_create(&arena));
    ts__fn_print(fn, &text);
    CHECK_STR(ts__text_get(&text),
              "entry @k(%1: ptr<f32>, %2: i32) {\n"
              "  %3 = constant 0 : i32\n"
              "  %4 = constant 1 : i32\n"
              "  %5 = constant 0.5 : tile<64xf32>\n"
              "  %12 = for %7 in (%3, %2, %4) iter(%8 = %5) : tile<64xf32> {\n"
              "    %9 = addf rz ftz %8, %5 : tile<64xf32>\n"
              "    continue %9\n"
              "  }\n"
              "  %19 = reduce axis=0 (%12) identity(0.0) args(%14, %15) : f32 {\n"
              "    %16 = addf %14, %15 : f32\n"
              "    yield %16\n"
              "  }\n"
              "  return\n"
              "}\n");
    ts__text_deinit(&text);
    CHECK_OK(ts_fn_verify(fn, &err));
}

static void payload_is(ts_type type, uint64_t bits, const char *wanted)
{
    ts_text text;
    ts__text_init(&text, NULL);
    ts__print_payload(type, bits, &text);
    CHECK_STR(ts__text_get(&text), wanted);
    ts__text_deinit(&text);
}

static void payloads_are_short_and_exact(void)
{
    payload_is(TS_T_f32, ts__float_payload(TS_T_f32, 0.1), "0.1");
    payload_is(TS_T_f32, ts__float_payload(TS_T_f32, -3), "-3.0");
    payload_is(TS_T_f32, 0x80000000u, "-0.0");
    payload_is(TS_T_f32, 0x7FC00000u, "0x7fc00000");
    payload_is(TS_T_f32, 0xFF800000u, "-inf");
    payload_is(TS_T_f64, ts__float_payload(TS_T_f64, 1e-5), "0.00001");
    payload_is(TS_T_f64, ts__float_payload(TS_T_f64, 1e300), "0x7e37e43c8800759c");
    payload_is(TS_T_f16, 0x3C01, "1.001");
    payload_is(TS_T_i8, (uint64_t)-7, "-7");
    payload_is(TS_T_i1, 1, "true");
    payload_is(TS_T_f8E5M2, 0x3c, "0x3c");
}

static void broken(ts_fn *fn, ts_val v, ts_inst inst, const char *part)
{
    ts_inst old = fn->inst.at[v];
    fn->inst.at[v] = inst;
    CHECK_INT(ts_fn_verify(fn, &err), TS_VERIFY);
    if (!strstr(err.text, part))
        fprintf(stderr, "  wanted '%s' in: %s\n", part, err.text);
    CHECK(strstr(err.text, part) != NULL);
    fn->inst.at[v] = old;
    CHECK_OK(ts_fn_verify(fn, &err));
}

static void broken_instructions_are_reported(void)
{
    ts_fn *fn = print_sum(ts__module_create(&arena));
    ts_inst add = *ts_at(fn, 9), bad = add;
    bad.op = 1000;
    broken(fn, 9, bad, "operation 1000 does not exist");
    bad = add;
    bad.opnd[0] = 5000;
    broken(fn, 9, bad, "operand %5000 does not exist");
    bad.opnd[0] = 12;
    broken(fn, 9, bad, "defined later");
    bad = add;
    bad.n_opnd = 4;
    bad.opnd[0] = 0xFFFFFFFF;
    broken(fn, 9, bad, "outside the pool");
    bad = add;
    bad.type = 999;
    broken(fn, 9, bad, "type 999 does not exist");
    bad = *ts_at(fn, 16);
    bad.opnd[0] = 9;
    broken(fn, 16, bad, "region that has ended");
    bad = *ts_at(fn, 11);
    bad.op = TS_OP_else;
    broken(fn, 11, bad, "for has no else");
    bad.op = TS_OP_res;
    broken(fn, 11, bad, "follows a terminator");
}

int main(void)
{
    ts__arena_init(&arena, NULL);
    structured_function_prints_as_nested_text();
    payloads_are_short_and_exact();
    broken_instructions_are_reported();
    ts__arena_deinit(&arena);
    return check_done();
}
