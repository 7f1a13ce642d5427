/* SPDX-License-Identifier: Apache-2.0
 *
 * Lowered kernels that talk to the host: an assert leaves its fault record once, with text and block; a print
 * writes what the tile interpreter prints, brackets and all.
 */
#include "eval/eval.h"
#include "gpu/schedule/schedule.h"
#include "check.h"

static ts_error err;

typedef struct kit {
    ts_arena arena, scratch;
    ts_text messages, printed;
    ts_module *m;
    ts_plan plan;
    ts_eval_env env;
} kit;

static void kit_print(void *user, const char *text, size_t n)
{
    ts__text_put(user, text, n);
}

static void kit_begin(kit *k, const char *source)
{
    memset(k, 0, sizeof *k);
    ts__arena_init(&k->arena, NULL);
    ts__arena_init(&k->scratch, NULL);
    ts__text_init(&k->messages, NULL);
    ts__text_init(&k->printed, NULL);
    k->env = (ts_eval_env){.print = kit_print, .print_user = &k->printed, .check_races = true};
    CHECK_OK(ts__module_read(&k->arena, source, strlen(source), &k->m, &err));
}

static void kit_end(kit *k)
{
    ts__text_deinit(&k->messages);
    ts__text_deinit(&k->printed);
    ts__arena_deinit(&k->scratch);
    ts__arena_deinit(&k->arena);
}

static ts_status kit_lower(kit *k)
{
    static const ts_hints none;
    ts_pass_env pass = {&k->scratch, TS_TARGET_SM90, &none, &k->plan};
    k->plan.target = TS_TARGET_SM90;
    return ts__lower_run(k->m->fns.at[0], &pass, &k->messages, &err);
}

static const char assert_text[] =
    "entry @k(%1: i32) {\n"
    "  %2 = iota : tile<256xi32>\n  %3 = reshape %1 : tile<1xi32>\n  %4 = broadcast %3 : "
    "tile<256xi32>\n"
    "  %5 = get_tile_block_id axis=0 : i32\n  %6 = reshape %5 : tile<1xi32>\n  %7 = broadcast %6 : "
    "tile<256xi32>\n"
    "  %8 = addi %2, %7 : tile<256xi32>\n  %9 = cmpi lt %8, %4 : tile<256xi1>\n"
    "  assert \"too many\" %9\n  return\n}\n";

static void failed_assert_fills_the_record_once(void)
{
    kit k;
    ts_fault fault = {0};
    uint64_t params[] = {257, (uint64_t)(uintptr_t)&fault};
    kit_begin(&k, assert_text);
    CHECK_OK(kit_lower(&k));
    CHECK_INT(k.plan.error_param, 1);
    CHECK_OK(ts__eval_simt(k.m->fns.at[0], &k.plan, params, 2, (uint32_t[]){4, 1, 1}, &k.env, &err));
    CHECK_INT(fault.code, 2);
    CHECK_INT(fault.block[0], 2);
    CHECK_INT(fault.string, 1);
    CHECK_STR(k.messages.at + 1, "too many");
    kit_end(&k);
}

static void index_outside_fills_the_record(void)
{
    kit k;
    ts_fault fault = {0};
    uint64_t params[] = {257, (uint64_t)(uintptr_t)&fault};
    static const char source[] =
        "entry @k(%1: i32) {\n  %2 = iota : tile<512xi32>\n  %3 = reshape %1 : tile<1xi32>\n"
        "  %4 = broadcast %3 : tile<512xi32>\n  %5 = constant 511 : tile<512xi32>\n"
        "  %6 = cmpi lt %2, %4 : tile<512xi1>\n  %7 = cmpi lt %2, %5 : tile<512xi1>\n  %8 = ori %6, %7 : tile<512xi1>\n"
        "  assert \"gather(), axis 0\" %8, %2, %1\n  return\n}\n";
    kit_begin(&k, source);
    CHECK_OK(kit_lower(&k));
    CHECK_OK(ts__eval_simt(k.m->fns.at[0], &k.plan, params, 2, (uint32_t[]){1, 1, 1}, &k.env, &err));
    CHECK_INT(fault.code, TS_FAULT_BOUNDS);
    CHECK_INT(fault.index, 511);
    CHECK_INT(fault.extent, 257);
    CHECK_STR(k.messages.at + fault.string, "gather(), axis 0");
    kit_end(&k);
}

static void passing_assert_leaves_the_record_alone(void)
{
    kit k;
    ts_fault fault = {0};
    uint64_t params[] = {500, (uint64_t)(uintptr_t)&fault};
    kit_begin(&k, assert_text);
    CHECK_OK(kit_lower(&k));
    CHECK_OK(ts__eval_simt(k.m->fns.at[0], &k.plan, params, 2, (uint32_t[]){4, 1, 1}, &k.env, &err));
    CHECK_INT(fault.code, 0);
    kit_end(&k);
}

/* Prints of the tile kernel and of its threads, which must be the same; gives their length. */
static size_t check_prints(const char *source)
{
    kit tile, threads;
    uint64_t params[] = {42};
    kit_begin(&tile, source);
    kit_begin(&threads, source);
    CHECK_OK(ts__eval_grid(tile.m->fns.at[0], params, 1, (uint32_t[]){1, 1, 1}, &tile.env, &err));
    CHECK_OK(kit_lower(&threads));
    CHECK_OK(ts__eval_simt(threads.m->fns.at[0], &threads.plan, params, 1, (uint32_t[]){1, 1, 1}, &threads.env, &err));
    CHECK_INT(threads.plan.uses_print, 1);
    CHECK_STR(ts__text_get(&threads.printed), ts__text_get(&tile.printed));
    size_t n = tile.printed.n;
    kit_end(&tile);
    kit_end(&threads);
    return n;
}

static void print_writes_what_the_tile_kernel_prints(void)
{
    size_t n = check_prints(
        "entry @k(%1: i32) {\n"
        "  %2 = iota : tile<8xi32>\n  %3 = reshape %2 : tile<2x4xi32>\n  %4 = itof %3 : "
        "tile<2x4xf32>\n"
        "  %5 = print_tko \"n=%d 100%% t=%5.1f i=%d end\\n\" %1, %4, %2 : token\n  return\n}\n");
    CHECK(n > 40);
}

static void print_writes_narrow_elements(void)
{
    size_t n = check_prints(
        "entry @k(%1: i32) {\n"
        "  %2 = iota : tile<8xi32>\n  %3 = trunci %2 : tile<8xi8>\n  %4 = unpack %3 : tile<16xi4>\n"
        "  %5 = trunci %2 : tile<8xi1>\n"
        "  %6 = print_tko \"%d %d\\n\" %4, %5 : token\n  return\n}\n");
    CHECK(n > 60);
}

/* Few, which one printf holds, and many, which loops print. */
static void print_writes_complex_numbers(void)
{
    size_t n = check_prints(
        "entry @k(%1: i32) {\n"
        "  %2 = iota : tile<8xi32>\n  %3 = reshape %2 : tile<2x4xi32>\n  %4 = itof %3 : tile<2x4xf32>\n"
        "  %5 = negf %4 : tile<2x4xf32>\n  %6 = constant 1.5 : f64\n"
        "  %7 = print_tko \"%jf %.2jf %d\\n\" %4, %5, %6, %6, %1 : token\n  return\n}\n");
    CHECK(n > 150);
    n = check_prints("entry @k(%1: i32) {\n"
                     "  %2 = iota : tile<64xi32>\n  %3 = itof %2 : tile<64xf16>\n  %4 = negf %3 : tile<64xf16>\n"
                     "  %5 = print_tko \"%+5.1jf|\\n\" %3, %4 : token\n  return\n}\n");
    CHECK(n > 64 * 11);
}

/* Where instructions of an operation lie in the lowered function. */
static uint32_t places(const ts_fn *fn, ts_op op, ts_val *first, ts_val *last)
{
    uint32_t n = 0;
    *first = *last = 0;
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == op) {
            *first = n++ ? *first : v;
            *last = v;
        }
    return n;
}

static void what_one_printf_holds_is_one_printf(void)
{
    kit k;
    ts_val first, last;
    kit_begin(&k, "entry @k(%1: i32) {\n  %2 = iota : tile<16xi32>\n  %3 = reshape %2 : tile<2x8xi32>\n"
                  "  %4 = print_tko \"%d: %d\\n\" %1, %3 : token\n  return\n}\n");
    CHECK_OK(kit_lower(&k));
    CHECK_INT(places(k.m->fns.at[0], TS_OP_printf, &first, &last), 1);
    CHECK_INT(places(k.m->fns.at[0], TS_OP_atom, &first, &last), 0);
    kit_end(&k);
}

/* Blocks print at the same time: a line of several printfs is made by one that holds the lock. */
static void a_line_of_several_printfs_is_made_under_a_lock(void)
{
    kit k;
    ts_val first, last, lock, unlock;
    kit_begin(&k, "entry @k(%1: i32) {\n  %2 = iota : tile<64xi32>\n"
                  "  %3 = print_tko \"%d: %d\\n\" %1, %2 : token\n  return\n}\n");
    CHECK_OK(kit_lower(&k));
    CHECK(places(k.m->fns.at[0], TS_OP_printf, &first, &last) > 1);
    CHECK_INT(places(k.m->fns.at[0], TS_OP_atom, &lock, &unlock), 2);
    CHECK(lock < first && last < unlock);
    kit_end(&k);
    CHECK(check_prints("entry @k(%1: i32) {\n  %2 = iota : tile<64xi32>\n"
                       "  %3 = print_tko \"%d: %d\\n\" %1, %2 : token\n  return\n}\n") > 200);
}

int main(void)
{
    failed_assert_fills_the_record_once();
    index_outside_fills_the_record();
    passing_assert_leaves_the_record_alone();
    print_writes_what_the_tile_kernel_prints();
    print_writes_narrow_elements();
    print_writes_complex_numbers();
    what_one_printf_holds_is_one_printf();
    a_line_of_several_printfs_is_made_under_a_lock();
    return check_done();
}
