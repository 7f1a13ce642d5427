/* SPDX-License-Identifier: Apache-2.0
 * Text that is read prints the same again (src/ir/read.c, lex.c); errors name line and column. */
#include "ir/text.h"
#include "check.h"

static ts_error err;

static void reprints(const char *source, uint32_t flags)
{
    ts_arena arena;
    ts_module *m;
    ts_text text;
    ts__arena_init(&arena, NULL);
    ts__text_init(&text, NULL);
    CHECK_OK(ts__module_read(&arena, source, strlen(source), &m, &err));
    if (m) {
        ts__print_module(m, flags, &text);
        CHECK_STR(ts__text_get(&text), source);
    }
    ts__text_deinit(&text);
    ts__arena_deinit(&arena);
}

static void module_reads_and_prints_the_same(void)
{
    reprints("module @demo\n"
             "constant @tab align=16 : tile<2xf32> = dense \"0000803f00000040\"\n"
             "global @sums : tile<8xi32>\n"
             "entry @k(%1: ptr<f32>, %2: i32) num_ctas=2 num_warps=8 checked {\n"
             "  %3 = constant 0 : i32\n"
             "  %4 = constant dense \"00000000\" : tile<4xi8>\n"
             "  %5 = assume div_by(16) %1 : ptr<f32>\n"
             "  %6 = assume bounded(0, ?) %2 : i32\n"
             "  %7 = make_tensor_view %5, %6 : tensor_view<?x16xf32, strides=[16, 1]>\n"
             "  %8 = make_partition_view %7 : partition_view<[8, 16], tensor_view<?x16xf32, "
             "strides=[16, 1]>, padding=zero>\n"
             "  %9 = load_view_tko latency=3 inbounds=2 %8, %3, %3 : tile<8x16xf32>\n"
             "  %10 = token %9 : token\n"
             "  %11 = store_view_tko release device %8, %9, %3, %3 token=%10 : token\n"
             "  return\n"
             "}\n"
             "both func @\"odd name\"() {\n"
             "  return\n"
             "}\n",
             0);
}

static void locations_survive_when_asked_for(void)
{
    reprints(
        "entry @k(%1: i32 loc(\"k.py\":1:0-1:5)) {\n"
        "  %2 = addi nsw %1, %1 : i32 loc(\"k.py\":3:4-3:9 \"helper\" <- \"k.py\":9:0-9:3 \"k\")\n"
        "  %3 = constant true : i1\n"
        "  %9 = if %3 : i32 { loc(\"k.py\":4:0-8:0)\n"
        "    yield %2\n"
        "  } else {\n"
        "    yield %1 loc(\"k.py\":7:4-7:9)\n"
        "  }\n"
        "  return\n"
        "}\n",
        TS_PRINT_LOC);
}

static void error_of(const char *source, size_t n, const char *part)
{
    ts_arena arena;
    ts_module *m;
    ts__arena_init(&arena, NULL);
    CHECK_INT(ts__module_read(&arena, source, n, &m, &err), TS_PARSE);
    CHECK(m == NULL);
    CHECK_STR(err.text, part);
    ts__arena_deinit(&arena);
}

static void error_is(const char *source, const char *part)
{
    error_of(source, strlen(source), part);
}

static void errors_name_line_and_column(void)
{
    error_is("entry @k() {\n  %1 = addf %2, %2 : f32\n", "2:13: %2 is not defined before its use");
    error_is("entry @k() {\n  frob\n}", "2:3: there is no operation 'frob'; did you mean 'for'?");
    error_is("entry @k() {\n", "2:1: the text ends inside @k, which begins in line 1: a '}' is missing");
    error_is("entry @k() {\n  %1 = constant 256 : i8\n}", "2:20: the number does not fit i8");
    error_is("entry @k(%1: tile<4xnone2>) {}", "1:21: there is no type 'none2'; types are numbers as i32 and f32, "
             "token, tile<4x8xf32>, ptr<f32>, "
             "tensor_view<..> and its views");
    error_is("func @k(%1: i32, %1: i32) {}", "1:25: %1 is defined twice");
    error_is("what", "1:1: a module holds functions (entry, func) and globals (global, constant), found 'what'");
    error_of("entry @k() {\n  return\n}\n\0func", 29,
             "4:1: a zero byte stands in the text; give the number of its characters as n");
}

/* As many bytes as places do not count: refused before any is read. */
static void a_text_that_is_too_long_is_refused(void)
{
    ts_arena arena;
    ts_module *m;
    ts__arena_init(&arena, NULL);
    CHECK_INT(ts__module_read(&arena, "", UINT32_MAX, &m, &err), TS_VALUE);
    CHECK_STR(err.text, "a text of 4294967295 bytes is too long to read; a module has less than 4 GiB");
    CHECK(m == NULL);
    ts__arena_deinit(&arena);
}

int main(void)
{
    module_reads_and_prints_the_same();
    locations_survive_when_asked_for();
    errors_name_line_and_column();
    a_text_that_is_too_long_is_refused();
    return check_done();
}
