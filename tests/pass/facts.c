/* SPDX-License-Identifier: Apache-2.0
 * Facts (src/pass/facts.c): random straight-line programs on tiles of 32 integers are run element
 * by element, and every fact claimed must hold of the values; then named examples. */
#include "pass/facts.h"
#include "ir/scalar.h"
#include "check.h"

enum { N = 32, STEPS = 24, PROGRAMS = 4000 };

typedef struct run {
    ts_builder b;
    ts_module *m;
    ts_type tile;
    ts_val value[STEPS];
    int64_t at[STEPS][N];
    int n;
    uint64_t seed;
} run;

static uint32_t run_random(run *r, uint32_t below)
{
    r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->seed >> 33) % below;
}

static int64_t run_number(run *r)
{
    static const int64_t some[] = {0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   7,
                                   8,
                                   16,
                                   32,
                                   64,
                                   100,
                                   1024,
                                   -1,
                                   -8,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT32_MAX - 31,
                                   1 << 30};
    return some[run_random(r, TS_COUNT(some))];
}

/* A value the analysis cannot know, with a true promise about its divisor. */
static void run_param(run *r)
{
    int64_t x = run_number(r), divisor = x & -x;
    uint32_t words[6] = {TS_ASSUME_DIV_BY, (uint32_t)(x ? divisor : 1 << 20)};
    ts_val v = ts_fn_param(&r->b, TS_T_i32);
    v = ts_emit(&r->b, TS_OP_assume, TS_T_i32, 1, &v, ts_pool_add(&r->b, 6, words), 0);
    r->value[r->n] = ts_broadcast(&r->b, v, r->tile);
    for (int i = 0; i < N; i++)
        r->at[r->n][i] = x;
    r->n++;
}

static void run_leaf(run *r)
{
    int64_t x = run_number(r);
    bool iota = run_random(r, 2);
    r->value[r->n] =
        iota ? ts_emit(&r->b, TS_OP_iota, r->tile, 0, NULL, 0, 0) : ts_int(&r->b, r->tile, x);
    for (int i = 0; i < N; i++)
        r->at[r->n][i] = iota ? i : x;
    r->n++;
}

static void run_step(run *r)
{
    static const struct {
        ts_op op;
        uint32_t attr;
    } ops[] = {{TS_OP_addi, 0},
               {TS_OP_addi, 0},
               {TS_OP_addi, 0},
               {TS_OP_subi, 0},
               {TS_OP_muli, 0},
               {TS_OP_muli, 0},
               {TS_OP_divi, 0},
               {TS_OP_divi, TS_RM},
               {TS_OP_divi, TS_RP},
               {TS_OP_divi, TS_A_UNSIGNED},
               {TS_OP_remi, 0},
               {TS_OP_remi, TS_RM},
               {TS_OP_remi, TS_A_UNSIGNED},
               {TS_OP_mini, 0},
               {TS_OP_maxi, TS_A_UNSIGNED},
               {TS_OP_andi, 0},
               {TS_OP_ori, 0},
               {TS_OP_xori, 0},
               {TS_OP_shli, 0},
               {TS_OP_shri, 0},
               {TS_OP_shri, TS_A_UNSIGNED},
               {TS_OP_absi, 0},
               {TS_OP_negi, 0}};
    uint32_t k = run_random(r, TS_COUNT(ops)), x = run_random(r, (uint32_t)r->n),
             y = run_random(r, (uint32_t)r->n);
    for (int i = 0; i < N; i++) {
        uint64_t out, in[] = {(uint64_t)r->at[x][i], (uint64_t)r->at[y][i]};
        if (!ts__scalar_eval(r->m, ops[k].op, ops[k].attr, TS_T_i32, TS_T_i32, in, &out))
            return; /* a division by zero: no program */
        r->at[r->n][i] = (int64_t)out;
    }
    r->value[r->n] = ts__ops[ops[k].op].n_opnd == 1
                         ? ts_op1(&r->b, ops[k].op, r->value[x], ops[k].attr)
                         : ts_op2(&r->b, ops[k].op, r->value[x], r->value[y], ops[k].attr);
    r->n++;
}

static bool run_holds(const ts_fact *f, const int64_t *at)
{
    ts_axis_fact a = f->axis[0];
    for (int i = 0; i < N; i++) {
        if (at[i] < f->lo || at[i] > f->hi || at[i] & (f->divisor - 1))
            return false;
        if (i % a.contiguity ? (int32_t)at[i] != (int32_t)((uint32_t)at[i - 1] + 1)
                             : (at[i] & (a.divisibility - 1)) != 0)
            return false;
        if (i % a.constancy && at[i] != at[i - 1])
            return false;
    }
    return true;
}

static int run_sharp; /* facts that say more than nothing */

static void run_check(run *r, ts_arena *arena)
{
    ts_facts facts;
    CHECK(ts__facts_of(r->b.fn, arena, &facts));
    for (int i = 0; i < r->n; i++) {
        const ts_fact *f = &facts.at[r->value[i]];
        run_sharp += f->axis[0].contiguity > 1 || f->axis[0].constancy > 1;
        if (run_holds(f, r->at[i])) {
            check_passed++;
            continue;
        }
        check_failed++;
        ts_text text;
        ts__text_init(&text, NULL);
        ts__fn_print(r->b.fn, &text);
        fprintf(stderr,
                "%%%u: lo %lld hi %lld div %lld; contiguity %lld divisibility %lld constancy %lld; "
                "values %lld %lld %lld ...\n%s",
                r->value[i], (long long)f->lo, (long long)f->hi, (long long)f->divisor,
                (long long)f->axis[0].contiguity, (long long)f->axis[0].divisibility,
                (long long)f->axis[0].constancy, (long long)r->at[i][0], (long long)r->at[i][1],
                (long long)r->at[i][2], ts__text_get(&text));
        ts__text_deinit(&text);
        break;
    }
}

static void random_programs_keep_their_facts(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS && !check_failed; seed++) {
        ts_arena arena;
        ts__arena_init(&arena, NULL);
        run r = {.seed = seed * 77, .m = ts__module_create(&arena)};
        ts__builder_init(&r.b, ts_fn_create(r.m, "k", TS_LEVEL_T));
        r.tile = ts_type_tile(r.m, TS_T_i32, 1, (int64_t[]){N});
        for (int i = 0; i < 4; i++)
            run_leaf(&r);
        run_param(&r);
        run_param(&r);
        for (int i = 0; i < STEPS - 6; i++)
            run_step(&r);
        run_check(&r, &arena);
        ts__arena_deinit(&arena);
    }
    CHECK(run_sharp > 10000);
}

static const char facts_source[] =
    "entry @k(%p: ptr<f32>, %n: i32) {\n"
    "  %z = constant 0 : i32\n  %one = constant 1 : i32\n  %four = constant 4 : i32\n"
    "  %p16 = assume div_by(16) %p : ptr<f32>\n  %n16 = assume div_by(16) %n : i32\n"
    "  %bid = get_tile_block_id axis=0 : i32\n  %c64 = constant 64 : i32\n  %first = muli %bid, "
    "%c64 : i32\n"
    "  %iota = iota : tile<64xi32>\n  %f1 = reshape %first : tile<1xi32>\n  %f = broadcast %f1 : "
    "tile<64xi32>\n"
    "  %index = addi %f, %iota : tile<64xi32>\n"
    "  %q1 = reshape %p16 : tile<1xptr<f32>>\n  %q = broadcast %q1 : tile<64xptr<f32>>\n"
    "  %at = offset %q, %index : tile<64xptr<f32>>\n"
    "  %m1 = reshape %n16 : tile<1xi32>\n  %m = broadcast %m1 : tile<64xi32>\n"
    "  %mask = cmpi lt %index, %m : tile<64xi1>\n"
    "  %r, %s = for %i in (%z, %n16, %four) iter(%a = %z, %b = %c64) : i32, i32 {\n"
    "    %a2 = addi %a, %four : i32\n    %b2 = muli %b, %four : i32\n    continue %a2, %b2\n  }\n"
    "  return\n}\n";

static ts_val facts_nth(const ts_fn *fn, ts_op op, int n)
{
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == op && n-- == 0)
            return v;
    return 0;
}

static void pointers_masks_and_loops_are_known(void)
{
    static ts_error err;
    ts_arena arena;
    ts_module *m;
    ts_facts facts;
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, facts_source, sizeof facts_source - 1, &m, &err));
    const ts_fn *fn = m->fns.at[0];
    CHECK_OK(ts_fn_verify(fn, &err));
    CHECK(ts__facts_of(fn, &arena, &facts));
    CHECK_INT(ts__facts_vector(&facts, facts_nth(fn, TS_OP_offset, 0), 0, 4), 4);
    CHECK_INT(facts.at[facts_nth(fn, TS_OP_cmpi, 0)].axis[0].constancy, 16);
    ts_val loop = facts_nth(fn, TS_OP_for, 0);
    CHECK_INT(facts.at[loop + 1].divisor, 4);
    CHECK_INT(facts.at[loop + 1].lo, 0);
    CHECK_INT(facts.at[loop + 2].divisor, 4);
    CHECK(facts.at[loop + 2].hi == INT32_MAX);
    CHECK_INT(facts.at[loop + 3].divisor, 64);
    ts__arena_deinit(&arena);
}

static const char facts_conditions[] =
    "thread entry @k(%p: ptr<i32>, %n: i32) {\n"
    "  %zero = constant 0 : i32\n  %one = constant 1 : i32\n  %most = constant 100 : i32\n"
    "  loop iter(%i = %n) {\n"
    "    %a = cmpi lt %zero, %i : i1\n    %b = cmpi lt %i, %most : i1\n    %both = andi %a, %b : i1\n"
    "    if %both {\n"
    "      %c = subi %i, %one : i32\n"
    "      st n=1 %p, %c\n"
    "      continue %c\n"
    "    } else {\n"
    "      yield\n"
    "    }\n"
    "    %d = addi %i, %zero : i32\n"
    "    st n=1 %p, %d\n"
    "    break\n"
    "  }\n"
    "  return\n"
    "}\n";

static void conditions_hold_in_their_branches(void)
{
    static ts_error err;
    ts_arena arena;
    ts_module *m;
    ts_facts facts;
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, facts_conditions, sizeof facts_conditions - 1, &m, &err));
    const ts_fn *fn = m->fns.at[0];
    CHECK_OK(ts_fn_verify(fn, &err));
    CHECK(ts__facts_of(fn, &arena, &facts));
    ts_val loop = facts_nth(fn, TS_OP_loop, 0), less = facts_nth(fn, TS_OP_subi, 0);
    CHECK_INT(facts.at[less].lo, 0);
    CHECK_INT(facts.at[less].hi, 98);
    CHECK_INT(facts.at[loop + 1].lo, INT32_MIN); /* what flows round does not count as narrow */
    CHECK_INT(facts.at[loop + 1].hi, INT32_MAX);
    CHECK_INT(facts.at[facts_nth(fn, TS_OP_addi, 0)].lo, INT32_MIN);
    ts__arena_deinit(&arena);
}

/* Special registers without bounds of their own. */
static void lane_masks_are_not_known(void)
{
    static ts_error err;
    static const char text[] = "thread entry @k(%p: ptr<i32>) {\n  %m = sreg lanemask_lt : i32\n  st n=1 %p, %m\n"
                               "  return\n}\n";
    ts_arena arena;
    ts_module *m;
    ts_facts facts;
    ts__arena_init(&arena, NULL);
    CHECK_OK(ts__module_read(&arena, text, sizeof text - 1, &m, &err));
    CHECK(ts__facts_of(m->fns.at[0], &arena, &facts));
    CHECK_INT(facts.at[facts_nth(m->fns.at[0], TS_OP_sreg, 0)].hi, INT32_MAX);
    ts__arena_deinit(&arena);
}

int main(void)
{
    random_programs_keep_their_facts();
    pointers_masks_and_loops_are_known();
    conditions_hold_in_their_branches();
    lane_masks_are_not_known();
    return check_done();
}
