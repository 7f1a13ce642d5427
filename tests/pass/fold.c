/* SPDX-License-Identifier: Apache-2.0
 * Every row of fold.def (src/pass/fold_elem.c): its left side is built on parameters, folded, and
 * both functions are evaluated on random and special operands; the bits must be equal and the row
 * must fire. Random expressions do the same for all of folding at once. */
#include "pass/fold.h"
#include "ir/scalar.h"
#include "check.h"

enum { TRIES = 300 };

typedef struct expr { /* a function under construction: returns its value through a store */
    ts_builder b;
    const char *at;
    ts_val letter[128];
    ts_type type;  /* of letters, unless said otherwise below */
    ts_type inner; /* of the inner conversion */
} expr;

static uint64_t seed = 88172645463325252u;
static ts_error err;
static ts_arena arena;

static uint64_t fold_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static uint64_t fold_operand(ts_type type) /* payload, with a liking for special numbers */
{
    static const double floats[] = {0, -0.0, 1, -1, 2, 0.5, 1e-45, -1e-40, 65504, 1e38, -3.25};
    static const int64_t ints[] = {0,  1,   -1,   2,         7,         8,
                                   -8, 127, -128, INT32_MAX, INT32_MIN, INT64_MIN};
    uint64_t pick = fold_random();
    if (pick % 3 == 0)
        return ts__scalar_wrap(type, fold_random());
    if (type == TS_T_f32 || type == TS_T_f64 || type == TS_T_f16 || type == TS_T_bf16) {
        double x = floats[pick / 3 % TS_COUNT(floats)];
        float single = (float)x;
        uint64_t bits = 0;
        if (type == TS_T_f64)
            memcpy(&bits, &x, 8);
        else
            memcpy(&bits, &single, 4);
        return type == TS_T_f16    ? ts__f16_from_f64(x)
               : type == TS_T_bf16 ? ts__bf16_from_f64(x)
                                   : bits;
    }
    return ts__scalar_wrap(type, (uint64_t)ints[pick / 3 % TS_COUNT(ints)]);
}

/* ---- building a left side -------------------------------------------------------------------- */

static ts_type expr_letter_type(const expr *e, ts_op op, uint32_t i)
{
    if (op == TS_OP_select && i == 0)
        return TS_T_i1;
    if (op == TS_OP_offset)
        return i ? TS_T_i32 : ts_type_ptr(e->b.fn->module, TS_T_f32, TS_GLOBAL);
    if (op == TS_OP_ptr_to_int || op == TS_OP_ptr_to_ptr)
        return ts_type_ptr(e->b.fn->module, TS_T_f32, TS_GLOBAL);
    return op == TS_OP_int_to_ptr ? TS_T_i64 : e->type;
}

static ts_val expr_operand(expr *e, ts_op op, uint32_t i);

static ts_val expr_apply(expr *e, ts_op op, bool inner)
{
    ts_val x[3];
    ts_type cast = op == TS_OP_ptr_to_int ? TS_T_i64
                   : op == TS_OP_int_to_ptr || op == TS_OP_ptr_to_ptr
                       ? ts_type_ptr(e->b.fn->module, TS_T_f32, TS_GLOBAL)
                   : inner ? e->inner
                           : e->type;
    for (uint32_t i = 0; i < (uint32_t)ts__ops[op].n_opnd; i++)
        x[i] = expr_operand(e, op, i);
    if (ts__ops[op].rule == TS_RULE_CASTA || ts__ops[op].rule == TS_RULE_CASTI)
        return ts_cast(&e->b, op, x[0], cast, 0);
    return ts__ops[op].n_opnd == 1   ? ts_op1(&e->b, op, x[0], 0)
           : ts__ops[op].n_opnd == 2 ? ts_op2(&e->b, op, x[0], x[1], 0)
                                    : ts_op3(&e->b, op, x[0], x[1], x[2], 0);
}

static ts_val expr_number(expr *e, ts_type type)
{
    bool negative = *e->at == '-';
    int64_t n = e->at[negative] - '0';
    e->at += 1 + negative;
    if (ts_type_is_float(e->b.fn->module, type))
        return ts_float(&e->b, type, negative ? -(double)n : (double)n);
    return ts_int(&e->b, type, negative ? -n : n);
}

static ts_val expr_operand(expr *e, ts_op op, uint32_t i)
{
    ts_type type = expr_letter_type(e, op, i);
    e->at += strspn(e->at, " ");
    if (*e->at == '(') {
        size_t n = strcspn(++e->at, " ");
        ts_op inner = ts_op_find(e->at, n);
        e->at += n;
        expr sub = *e;
        sub.type = type < TS_T_FIRST_COMPOSITE ? type : e->type;
        ts_val v = expr_apply(&sub, inner, true);
        memcpy(e->letter, sub.letter, sizeof e->letter);
        e->at = sub.at + strspn(sub.at, " ") + 1;
        return v;
    }
    if (*e->at == '-' || (*e->at >= '0' && *e->at <= '9'))
        return expr_number(e, type);
    ts_val *letter = &e->letter[(int)*e->at++];
    if (!*letter)
        *letter =
            e->at[-1] < 'Z' ? ts_bits(&e->b, type, fold_operand(type)) : ts_fn_param(&e->b, type);
    return *letter;
}

/* ---- evaluating ------------------------------------------------------------------------------ */

static uint64_t expr_run(const ts_fn *fn, const uint64_t *params, bool *faults)
{
    uint64_t value[256] = {0};
    uint32_t n_params = 0;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        uint64_t x[3] = {0};
        for (uint32_t i = 0; i < inst->n_opnd && i < 3; i++)
            x[i] = value[ts_opnd(fn, v, i)];
        if (inst->op == TS_OP_param)
            value[v] = params[n_params++];
        else if (inst->op == TS_OP_store_ptr_tko)
            return x[1];
        else if (!ts__const_bits(fn, v, &value[v]) &&
                 !ts__scalar_eval(fn->module, (ts_op)inst->op, inst->aux,
                                 ts_type_of(fn, ts_opnd(fn, v, inst->op == TS_OP_select)),
                                 inst->type, x, &value[v]))
            *faults = true;
    }
    return 0;
}

static ts_fn *expr_fold(const ts_fn *fn)
{
    ts_arena scratch;
    ts_plan plan = {0};
    ts_hints hints = {0};
    ts_fn *copy = TS_NEW(&arena, ts_fn);
    *copy = *fn;
    ts__arena_init(&scratch, NULL);
    ts_pass_env env = {&scratch, TS_TARGET_CPU, &hints, &plan};
    CHECK_OK(ts__run_passes(copy, "fold dce", &env, &err));
    ts__arena_deinit(&scratch);
    return copy;
}

static bool expr_agrees(const ts_fn *a, const ts_fn *b, ts_type result)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t params[16];
        bool faults = false;
        uint32_t n = 0;
        for (ts_val v = 1; v < a->inst.n && n < 16; v++)
            if (ts_at(a, v)->op == TS_OP_param)
                params[n++] = ts_type_is_ptr(a->module, ts_type_of(a, v))
                                  ? fold_random()
                                  : fold_operand(ts_type_of(a, v));
        uint64_t x = expr_run(a, params, &faults), y = expr_run(b, params, &faults);
        if (!faults && !ts__scalar_same(result, x, y))
            return false;
    }
    return true;
}

static void expr_show(const char *name, const ts_fn *a, const ts_fn *b)
{
    ts_text text;
    ts__text_init(&text, NULL);
    ts__fn_print(a, &text);
    ts__fn_print(b, &text);
    fprintf(stderr, "%s:\n%s", name, ts__text_get(&text));
    ts__text_deinit(&text);
}

static ts_fn *expr_begin(expr *e)
{
    ts_fn *fn = ts_fn_create(ts__module_create(&arena), "k", TS_LEVEL_T);
    ts__builder_init(&e->b, fn);
    return fn;
}

static void expr_end(expr *e, ts_val v, ts_type type)
{
    ts_val pair[] = {ts_fn_param(&e->b, ts_type_ptr(e->b.fn->module, type, TS_GLOBAL)), v};
    ts_emit(&e->b, TS_OP_store_ptr_tko, TS_T_token, 2, pair, 0, 0);
    ts_term(&e->b, TS_OP_return, 0, NULL);
}

/* Builders append, the language wants params first: rebuilds in that order. */
static ts_fn *expr_ordered(const ts_fn *fn)
{
    ts_builder b;
    ts_fn *out = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(&arena, ts_val, fn->inst.n);
    ts__builder_init(&b, out);
    for (int pass = 0; pass < 2; pass++)
        for (ts_val v = 1; v < fn->inst.n; v++)
            if ((ts_at(fn, v)->op == TS_OP_param) == (pass == 0)) {
                ts_inst inst = *ts_at(fn, v);
                map[v] = inst.op == TS_OP_param ? ts_fn_param(&b, inst.type) : ts__copy(&b, fn, v, map);
            }
    return out;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void rule_holds(const ts__fold_rule *rule, ts_type type, ts_type inner)
{
    ts_arena_mark mark = ts__arena_at(&arena);
    expr e = {.at = rule->from, .type = type, .inner = inner};
    ts_fn *fn = expr_begin(&e);
    ts_val v = expr_apply(&e, rule->op, false);
    ts_type result = ts_type_of(fn, v);
    if (ts_type_is_ptr(fn->module, result)) {
        v = ts_cast(&e.b, TS_OP_ptr_to_int, v, TS_T_i64, 0);
        result = TS_T_i64;
    }
    expr_end(&e, v, result);
    fn = expr_ordered(fn);
    CHECK_OK(ts_fn_verify(fn, &err));
    ts_fn *folded = expr_fold(fn);
    bool same = expr_agrees(fn, folded, result), fired = folded->inst.n != fn->inst.n;
    for (ts_val i = 1; i < fn->inst.n && !fired; i++)
        fired = ts_at(folded, i)->op != ts_at(fn, i)->op;
    CHECK(same && fired);
    if (!same || !fired)
        expr_show(rule->name, fn, folded);
    ts__arena_rewind(&arena, mark);
}

static void every_row_is_exact_and_fires(void)
{
    static const ts_type floats[] = {TS_T_f16, TS_T_bf16, TS_T_f32, TS_T_f64},
                         ints[] = {TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
    for (uint32_t i = 0; i < ts__n_fold_rules; i++) {
        const ts__fold_rule *rule = &ts__fold_rules[i];
        uint8_t kind = ts__ops[rule->op].rule;
        bool is_float = kind == TS_RULE_UNF || kind == TS_RULE_BINF || kind == TS_RULE_TERF;
        if (rule->op == TS_OP_ftof) {
            rule_holds(rule, TS_T_f16, TS_T_f32);
            rule_holds(rule, TS_T_bf16, TS_T_f64);
            rule_holds(rule, TS_T_f32, TS_T_f64);
        } else if (rule->op == TS_OP_bitcast)
            rule_holds(rule, TS_T_f32, TS_T_i32);
        else if (strcmp(rule->name, "select_bool") == 0)
            rule_holds(rule, TS_T_i1, TS_T_i1);
        else
            for (int k = 0; k < 4; k++)
                rule_holds(rule,
                           is_float                   ? floats[k]
                           : rule->op == TS_OP_trunci ? ints[TS_MIN(k, 2)]
                                                      : ints[k],
                           TS_T_i64);
    }
}

/* max(x, C) and min(x, C) compared with C - 1, C and C + 1: what the bound decides and what it does not. */
static void bound_decides_a_comparison(ts_op op, uint32_t attr, ts_pred pred, int64_t bound, int64_t with)
{
    ts_arena_mark mark = ts__arena_at(&arena);
    expr e = {.type = TS_T_i8};
    ts_fn *fn = expr_begin(&e);
    ts_val x = ts_fn_param(&e.b, TS_T_i8), most = ts_op2(&e.b, op, x, ts_int(&e.b, TS_T_i8, bound), attr);
    ts_val is = ts_cmp(&e.b, TS_OP_cmpi, pred, most, ts_int(&e.b, TS_T_i8, with), attr);
    expr_end(&e, ts_select(&e.b, is, x, ts_bits(&e.b, TS_T_i8, 77)), TS_T_i8);
    fn = expr_ordered(fn);
    ts_fn *folded = expr_fold(fn);
    bool same = true, is_max = op == TS_OP_maxi, stays = false;
    for (int i = 0; i < 40 && same; i++)
        same = expr_agrees(fn, folded, TS_T_i8);
    for (ts_val v = 1; v < folded->inst.n; v++)
        stays = stays || ts_at(folded, v)->op == TS_OP_cmpi;
    bool beyond = attr ? is_max == ((uint8_t)bound > (uint8_t)with) : is_max == (bound > with);
    bool decided = bound != with && beyond;
    CHECK(same && (!decided || !stays));
    if (!same || (decided && stays))
        expr_show("bound", fn, folded);
    ts__arena_rewind(&arena, mark);
}

static void every_bound_keeps_its_comparisons(void)
{
    static const int64_t bounds[] = {-127, -1, 0, 1, 126};
    for (uint32_t i = 0; i < TS_COUNT(bounds) * 6 * 4 * 3; i++) {
        uint32_t of = i % 4, pred = i / 4 % 6, near = i / 24 % 3;
        bound_decides_a_comparison(of & 1 ? TS_OP_maxi : TS_OP_mini, of & 2 ? TS_A_UNSIGNED : 0, (ts_pred)pred,
                                   bounds[i / 72], bounds[i / 72] + near - 1);
    }
}

/* ---- random expressions ---------------------------------------------------------------------- */

static void random_expression_keeps_its_value(void)
{
    static const struct {
        ts_op op;
        uint32_t attr;
    } ops[] = {{TS_OP_addi, 0},
               {TS_OP_subi, 0},
               {TS_OP_muli, 0},
               {TS_OP_divi, TS_RM},
               {TS_OP_divi, TS_A_UNSIGNED},
               {TS_OP_divi, 0},
               {TS_OP_remi, TS_RM},
               {TS_OP_remi, TS_A_UNSIGNED},
               {TS_OP_andi, 0},
               {TS_OP_ori, 0},
               {TS_OP_xori, 0},
               {TS_OP_shli, 0},
               {TS_OP_shri, 0},
               {TS_OP_maxi, 0},
               {TS_OP_maxi, TS_A_UNSIGNED},
               {TS_OP_mini, 0},
               {TS_OP_mini, TS_A_UNSIGNED},
               {TS_OP_absi, 0},
               {TS_OP_negi, 0},
               {TS_OP_mulhii, 0}};
    static const ts_type ints[] = {TS_T_i8, TS_T_i16, TS_T_i32, TS_T_i64};
    ts_arena_mark mark = ts__arena_at(&arena);
    expr e = {.type = ints[fold_random() % 4]};
    ts_fn *fn = expr_begin(&e);
    ts_val value[24];
    int n = 0;
    while (n < 3)
        value[n++] = ts_fn_param(&e.b, e.type);
    while (n < 7)
        value[n++] = ts_bits(&e.b, e.type, fold_operand(e.type));
    for (; n < 24; n++) {
        uint64_t pick = fold_random() % (TS_COUNT(ops) + 2);
        ts_val x = value[fold_random() % (uint64_t)n], y = value[fold_random() % (uint64_t)n];
        if (pick >= TS_COUNT(ops))
            value[n] = ts_select(&e.b,
                                 ts_cmp(&e.b, TS_OP_cmpi, (ts_pred)(fold_random() % 6), x, y,
                                        pick & 1 ? TS_A_UNSIGNED : 0),
                                 x, value[fold_random() % (uint64_t)n]);
        else
            value[n] = ts__ops[ops[pick].op].n_opnd == 1
                           ? ts_op1(&e.b, ops[pick].op, x, 0)
                           : ts_op2(&e.b, ops[pick].op, x, y, ops[pick].attr);
    }
    expr_end(&e, value[n - 1], e.type);
    fn = expr_ordered(fn);
    ts_fn *folded = expr_fold(fn);
    bool same = expr_agrees(fn, folded, e.type);
    CHECK(same);
    if (!same)
        expr_show("random", fn, folded);
    ts__arena_rewind(&arena, mark);
}

int main(void)
{
    ts__arena_init(&arena, NULL);
    every_row_is_exact_and_fires();
    every_bound_keeps_its_comparisons();
    for (int i = 0; i < 1500 && !check_failed; i++)
        random_expression_keeps_its_value();
    ts__arena_deinit(&arena);
    return check_done();
}
