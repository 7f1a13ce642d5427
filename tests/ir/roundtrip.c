/* SPDX-License-Identifier: Apache-2.0
 * Random modules made with the builder, seeded: they verify, and their text reads back to the same
 * instructions and the same text, locations included. */
#include "ir/scalar.h"
#include "ir/text.h"
#include "check.h"
#include "ir/same.h"

enum { MODULES = 600, MOST = 400 };

typedef struct gen {
    ts_builder b;
    ts_module *m;
    uint64_t seed;
    ts_val pool[MOST]; /* values in scope; regions put back the count they found */
    uint32_t n;
} gen;

static ts_error err;

static uint32_t gen_below(gen *g, uint32_t n)
{
    g->seed ^= g->seed << 13;
    g->seed ^= g->seed >> 7;
    g->seed ^= g->seed << 17;
    return (uint32_t)(g->seed >> 20) % n;
}

static void gen_keep(gen *g, ts_val v)
{
    if (g->n < MOST && v)
        g->pool[g->n++] = v;
}

/* A value of that type in scope, or a new constant. */
static ts_val gen_value(gen *g, ts_type type)
{
    for (int i = 0; i < 8 && g->n; i++) {
        ts_val v = g->pool[gen_below(g, g->n)];
        if (ts_type_of(g->b.fn, v) == type)
            return v;
    }
    uint64_t bits = ((uint64_t)gen_below(g, 1 << 30) << 34) ^ gen_below(g, 1 << 30);
    return ts_bits(&g->b, type,
                   ts__scalar_wrap(ts_type_elem(g->m, type), gen_below(g, 2) ? bits : bits & 15));
}

static ts_type gen_type(gen *g)
{
    static const ts_type elems[] = {TS_T_i1,  TS_T_i8,   TS_T_i16, TS_T_i32, TS_T_i64,
                                    TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64};
    int64_t dims[] = {1 << gen_below(g, 4), 1 << gen_below(g, 5), 2};
    return ts_type_tile(g->m, elems[gen_below(g, TS_COUNT(elems))], gen_below(g, 4), dims);
}

static void gen_loc(gen *g)
{
    ts_loc_info info = {
        .file = ts_intern(g->m, "a \"b\".py", 8), .line = gen_below(g, 50), .col = gen_below(g, 9)};
    info.end_line = info.line;
    info.end_col = info.col + 3;
    info.caller = g->b.loc && gen_below(g, 3) == 0 ? g->b.loc : 0;
    uint32_t depth = 0;
    for (ts_loc l = info.caller; l; l = g->m->locs.at[l].caller)
        depth++;
    g->b.loc = gen_below(g, 3) && depth < 30 ? ts_loc_add(g->m, &info) : 0;
}

static void gen_elementwise(gen *g)
{
    ts_op op = (ts_op)gen_below(g, TS_OP_COUNT);
    ts_type type = gen_type(g), elem = ts_type_elem(g->m, type);
    uint8_t rule = ts__ops[op].rule;
    bool floats =
        rule == TS_RULE_UNF || rule == TS_RULE_BINF || rule == TS_RULE_TERF || rule == TS_RULE_CMPF;
    if (rule == TS_RULE_OWN || rule == TS_RULE_CASTA || rule == TS_RULE_CASTI ||
        (floats && !ts_type_is_float(g->m, elem)) || (!floats && !ts_type_is_int(g->m, elem)))
        return;
    bool cmp = rule == TS_RULE_CMPF || rule == TS_RULE_CMPI;
    uint32_t attr = cmp ? TS_A_PRED(gen_below(g, 6)) : 0;
    if (op == TS_OP_addf || op == TS_OP_mulf || op == TS_OP_divi)
        attr = gen_below(g, 4);
    if (op == TS_OP_addi || op == TS_OP_shli)
        attr = gen_below(g, 4) * TS_A_NSW;
    ts_val x[3] = {
        gen_value(g, rule == TS_RULE_SELECT ? ts_type_with_elem(g->m, type, TS_T_i1) : type),
        gen_value(g, type), gen_value(g, type)};
    ts_type result = cmp ? ts_type_with_elem(g->m, type, TS_T_i1) : type;
    gen_keep(g, ts_emit(&g->b, op, result, (uint32_t)ts__ops[op].n_opnd, x, attr, 0));
}

static void gen_body(gen *g, uint32_t depth);

static void gen_if(gen *g, uint32_t depth)
{
    ts_type types[] = {gen_type(g), gen_type(g)};
    uint32_t n = gen_below(g, 3);
    ts_val opener = ts_if_begin(&g->b, gen_value(g, TS_T_i1)), values[2];
    for (int branch = 0; branch < 2; branch++) {
        uint32_t before = g->n;
        if (branch)
            ts_else(&g->b);
        gen_body(g, depth + 1);
        for (uint32_t i = 0; i < n; i++)
            values[i] = gen_value(g, types[i]);
        ts_term(&g->b, gen_below(g, 5) ? TS_OP_yield : TS_OP_return, 0, NULL);
        if (ts_at(g->b.fn, g->b.fn->inst.n - 1)->op == TS_OP_yield) {
            g->b.fn->inst.n--;
            g->b.fn->loc.n--;
            ts_term(&g->b, TS_OP_yield, n, values);
        }
        g->n = before;
    }
    ts_end(&g->b, opener, n, types);
    for (uint32_t i = 0; i < n; i++)
        gen_keep(g, ts_res(&g->b, opener, i));
}

static void gen_loop(gen *g, uint32_t depth)
{
    ts_val carried[3], opener;
    uint32_t n = gen_below(g, 4), before = g->n;
    bool counted = gen_below(g, 2);
    for (uint32_t i = 0; i < n; i++)
        carried[i] = gen_value(g, gen_type(g));
    ts_val lower = gen_value(g, TS_T_i32), step = ts_int(&g->b, TS_T_i32, 1 + gen_below(g, 9));
    opener = counted ? ts_for_begin(&g->b, lower, gen_value(g, TS_T_i32), step, n, carried,
                                    gen_below(g, 2) * TS_A_UNSIGNED)
                     : ts_loop_begin(&g->b, n, carried);
    for (uint32_t i = 0; i < n + counted; i++)
        gen_keep(g, ts_region_arg(g->b.fn, opener, i));
    gen_body(g, depth + 1);
    for (uint32_t i = 0; i < n; i++)
        carried[i] = gen_value(g, ts_type_of(g->b.fn, carried[i]));
    ts_term(&g->b, counted || gen_below(g, 2) ? TS_OP_continue : TS_OP_break, n, carried);
    g->n = before;
    ts_end_like(&g->b, opener);
    for (uint32_t i = 0; i < n; i++)
        gen_keep(g, ts_res(&g->b, opener, i));
}

static void gen_reduce(gen *g)
{
    ts_type type = gen_type(g);
    if (ts_type_rank(g->m, type) == 0)
        return;
    ts_val x = gen_value(g, type);
    uint64_t identity = ts__scalar_wrap(ts_type_elem(g->m, type), gen_below(g, 1 << 30));
    bool scans = gen_below(g, 2);
    ts_val opener = ts_reduce_begin(&g->b, scans ? TS_OP_scan : TS_OP_reduce,
                                    gen_below(g, ts_type_rank(g->m, type)),
                                    scans && gen_below(g, 2), 1, &x, &identity);
    ts_val v = ts_op2(&g->b, ts_type_is_float(g->m, type) ? TS_OP_maxf : TS_OP_maxi,
                      ts_region_arg(g->b.fn, opener, 0), ts_region_arg(g->b.fn, opener, 1), 0);
    ts_term(&g->b, TS_OP_yield, 1, &v);
    ts_end_like(&g->b, opener);
    gen_keep(g, ts_res(&g->b, opener, 0));
}

static void gen_body(gen *g, uint32_t depth)
{
    for (uint32_t i = 3 + gen_below(g, 12); i; i--) {
        gen_loc(g);
        uint32_t pick = gen_below(g, 20);
        if (pick == 0 && depth < 4)
            gen_if(g, depth);
        else if (pick == 1 && depth < 4)
            gen_loop(g, depth);
        else if (pick == 2)
            gen_reduce(g);
        else if (pick == 3) {
            ts_type type = gen_type(g);
            uint8_t bytes[2048];
            for (size_t k = 0; k < sizeof bytes; k++)
                bytes[k] = (uint8_t)gen_below(g, 256);
            gen_keep(g, ts_dense_const(&g->b, type, bytes,
                                       (size_t)ts_type_count(g->m, type) *
                                           ts_type_bits(g->m, type) / 8));
        } else
            gen_elementwise(g);
    }
}

static ts_module *gen_module(ts_arena *arena, uint64_t seed)
{
    gen g = {.m = ts__module_create(arena), .seed = seed};
    ts_fn *fn = ts_fn_create(g.m, seed % 3 ? "plain" : "odd \\ name\n", TS_LEVEL_T);
    ts__builder_init(&g.b, fn);
    fn->num_warps = (uint8_t)(1u << gen_below(&g, 5));
    fn->checked = gen_below(&g, 2);
    for (uint32_t i = gen_below(&g, 4); i; i--)
        gen_keep(&g, ts_fn_param(&g.b, i & 1 ? TS_T_i32 : TS_T_f64));
    gen_body(&g, 0);
    ts_term(&g.b, TS_OP_return, 0, NULL);
    return g.m;
}

static bool roundtrip(uint64_t seed, uint32_t flags)
{
    ts_arena arena;
    ts_text first, second;
    ts_module *again = NULL;
    ts__arena_init(&arena, NULL);
    ts__text_init(&first, NULL);
    ts__text_init(&second, NULL);
    ts_module *m = gen_module(&arena, seed);
    bool good = ts_module_verify(m, &err) == TS_OK;
    ts__print_module(m, flags, &first);
    good = good && ts__module_read(&arena, ts__text_get(&first), first.n, &again, &err) == TS_OK &&
           ts_module_verify(again, &err) == TS_OK;
    if (good)
        ts__print_module(again, flags, &second);
    good = good && strcmp(ts__text_get(&first), ts__text_get(&second)) == 0 &&
           same_fn(m->fns.at[0], again->fns.at[0]);
    if (!good)
        fprintf(stderr, "seed %" PRIu64 ": %s\n%s--- again\n%s", seed, err.text,
                ts__text_get(&first), ts__text_get(&second));
    ts__text_deinit(&first);
    ts__text_deinit(&second);
    ts__arena_deinit(&arena);
    return good;
}

int main(void)
{
    for (uint64_t seed = 1; seed <= MODULES && !check_failed; seed++)
        CHECK(roundtrip(seed * 0x9E3779B97F4A7C15u, seed & 1 ? TS_PRINT_LOC : 0));
    return check_done();
}
