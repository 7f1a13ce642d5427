/* SPDX-License-Identifier: Apache-2.0 */

/* clang-format off */
/*
 * The verifier: every rule of op.def and the structure of a function. The first broken rule is reported with the
 * instruction printed and its source place.
 *
 * The input may be any array of instructions, so each step only uses what earlier steps have proved:
 *   1. bounds     operation, operands, pool words, types exist; level; attribute bits are known
 *   2. structure  openers, else, end match; arg and res stand where they belong and are as many as they must be;
 *                 regions end in a terminator that may end them
 *   3. values     every operand has a value, comes earlier, and its region is still open (dominance)
 *   4. rules      counts, types and attributes of each instruction (here elementwise ones; the rest in verify_tile.c
 *                 and verify_simt.c; types in verify_type.c)
 */
/* clang-format on */
#include "ir/verify.h"
#include <stdio.h>

enum {
    VERIFY_REDUCTION_MOST = 1 << 16, /* instructions of functions called in one reduction */
    VERIFY_NAME = 24,                /* characters of what an instruction is called in a message */
    VERIFY_LINE = 400                /* of a line of text that is shown */
};

typedef struct verify_fn {
    ts__verify c;
    ts_arena scratch;
    uint32_t *end, *other;       /* opener -> end, else */
    uint32_t *region;            /* value -> opener or else whose region holds it; 0 = body */
    uint32_t *parent;            /* instruction -> innermost opener around it */
    uint32_t *closes;            /* else, end -> their opener */
    uint32_t *first_res, *n_res; /* instruction -> its res run */
    bool *open;                  /* region -> still open at the current instruction */
    bool *seen_type;             /* composite types already found good */
} verify_fn;

/* ---- reporting ------------------------------------------------------------------------------- */

static void verify_place(const ts__verify *c, ts_text *out)
{
    ts_loc loc = c->v < c->fn->loc.n ? c->fn->loc.at[c->v] : 0;
    for (int n = 0; n < 16 && loc && loc < c->m->locs.n; n++, loc = c->m->locs.at[loc].caller) {
        const ts_loc_info *l = &c->m->locs.at[loc];
        ts__text_printf(out, "\n  %s %s:%u:%u", n ? "called from" : "at", ts_str_get(c->m, l->file),
                       l->line, l->col);
    }
}

/* The line of the text that an instruction was read from; NULL: it was not, or has changed since. */
static const char *verify_line(const ts__verify *c, ts_val v, uint32_t *number)
{
    const ts_fn *fn = c->fn;
    if (!c->m->text || fn->text_at.n != fn->inst.n || v >= fn->inst.n)
        return NULL;
    *number = 1;
    for (const char *at = c->m->text; at < c->m->text + fn->text_at.at[v]; at++)
        *number += *at == '\n';
    return c->m->text + fn->text_at.at[v];
}

/* An instruction in a message: its line in the text, or its number. */
static const char *verify_name(const ts__verify *c, ts_val v, char room[VERIFY_NAME])
{
    uint32_t line;
    if (verify_line(c, v, &line))
        snprintf(room, VERIFY_NAME, "line %u", line);
    else
        snprintf(room, VERIFY_NAME, "%%%u", v);
    return room;
}

static ts_status verify_say(const ts__verify *c, const char *rule)
{
    ts_text text;
    ts__text_init(&text, c->m->arena->alloc);
    char room[VERIFY_NAME];
    uint32_t number;
    const char *line = verify_line(c, c->v, &number);
    if (c->v)
        ts__text_puts(&text, "\n  ");
    if (c->v && line)
        ts__text_put(&text, line, TS_MIN(strcspn(line, "\n"), (size_t)VERIFY_LINE));
    else if (c->v)
        ts__print_inst(c->fn, c->v, &text);
    verify_place(c, &text);
    ts_fail(c->err, TS_VERIFY, "@%s, %s: %.2000s%s", ts_str_get(c->m, c->fn->name), verify_name(c, c->v, room),
            rule, ts__text_get(&text));
    ts__text_deinit(&text);
    return TS_VERIFY;
}

ts_status ts__verify_fail(const ts__verify *c, const char *format, ...)
{
    ts_error rule;
    va_list args;
    va_start(args, format);
    ts__vfail(&rule, TS_VERIFY, format, args);
    va_end(args);
    return verify_say(c, rule.text);
}

ts_status ts__verify_fail_type(const ts__verify *c, ts_type found, ts_type wanted, const char *format, ...)
{
    ts_error rule;
    ts_text text;
    va_list args;
    va_start(args, format);
    ts__vfail(&rule, TS_VERIFY, format, args);
    va_end(args);
    ts__text_init(&text, c->m->arena->alloc);
    ts__text_printf(&text, "%s: found ", rule.text);
    ts__type_print(c->m, found, &text);
    if (wanted) {
        ts__text_puts(&text, ", wanted ");
        ts__type_print(c->m, wanted, &text);
    }
    ts_status status = verify_say(c, ts__text_get(&text));
    ts__text_deinit(&text);
    return status;
}

static void verify_look(verify_fn *f, ts_val v)
{
    ts__verify *c = &f->c;
    c->v = v;
    c->inst = ts_at(c->fn, v);
    c->opnd = ts__opnds_checked(c->fn, c->inst);
    c->n = ts__n_plain(c->inst);
    c->type = c->inst->type;
}

/* ---- 1. bounds ------------------------------------------------------------------------------- */

static ts_status verify_seen_type(verify_fn *f, ts_type type)
{
    uint32_t slot = type - TS_T_FIRST_COMPOSITE;
    if (type >= TS_T_FIRST_COMPOSITE && slot < f->c.m->type.n) {
        if (f->seen_type[slot])
            return TS_OK;
        f->seen_type[slot] = true;
    }
    return ts__verify_type(&f->c, type);
}

static ts_status verify_attr_bits(const ts__verify *c)
{
    const ts_op_info *info = ts_info(c->inst);
    switch (info->attr) {
    case TS_ATTR_STR:
    case TS_ATTR_SYMBOL:
        TS__WANT(c, c->inst->aux < c->m->str.n, "string %u does not exist", c->inst->aux);
        return TS_OK;
    case TS_ATTR_CONST:
    case TS_ATTR_INTS:
    case TS_ATTR_REDUCE:
    case TS_ATTR_ASSUME:
    case TS_ATTR_ALLOCA:
        TS__WANT(c, ts__attr_words(c->fn, c->inst) != TS_NO, "the attribute lies outside the pool");
        return TS_OK;
    default: {
        uint32_t unknown = c->inst->aux & ~ts__fields_mask(ts__fields_of((ts_op)c->inst->op));
        TS__WANT(c, !unknown, "attribute bits 0x%x mean nothing for %s", unknown, info->name);
        return TS_OK;
    }
    }
}

static ts_status verify_bounds(verify_fn *f)
{
    const ts__verify *c = &f->c;
    const ts_inst *inst = c->inst;
    TS__WANT(c, inst->op > TS_OP_none && inst->op < TS_OP_COUNT, "operation %u does not exist",
             inst->op);
    TS__WANT(c, ts__level_fits(c->fn, ts__ops[inst->op].level), "%s does not belong to the %s",
             ts__ops[inst->op].name, ts__level_name(c->fn));
    TS__WANT(c, c->opnd, "the operands lie outside the pool");
    TS__WANT(c, !(inst->flags & ~(uint32_t)TS__ROLES), "flags 0x%x mean nothing", inst->flags);
    TS__WANT(c, c->n != TS_NO, "the flags promise more operands than there are");
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        TS__WANT(c, c->opnd[i] < c->fn->inst.n, "operand %%%u does not exist", c->opnd[i]);
    TS_TRY(verify_seen_type(f, inst->type));
    return verify_attr_bits(c);
}

/* ---- 2. structure ---------------------------------------------------------------------------- */

/* How many `arg`s follow an opener. */
static uint32_t verify_wanted_args(const ts_inst *opener)
{
    switch (opener->op) {
    case TS_OP_for:
        return opener->n_opnd >= 3 ? opener->n_opnd - 2u : 1;
    case TS_OP_loop:
    case TS_OP_recursion:
        return opener->n_opnd;
    case TS_OP_if:
    case TS_OP_cold:
        return 0;
    default:
        return 2u * opener->n_opnd;
    }
}

static bool verify_is_term(const ts_fn *fn, ts_val v)
{
    return ts__ops[ts_at(fn, v)->op].flags & TS_TERM;
}

static ts_status verify_args(verify_fn *f, ts_val opener)
{
    uint32_t wanted = verify_wanted_args(ts_at(f->c.fn, opener));
    for (uint32_t i = 0; i < wanted; i++) {
        ts_val v = opener + 1 + i;
        bool good = v < f->c.fn->inst.n && ts_at(f->c.fn, v)->op == TS_OP_arg &&
                    ts_at(f->c.fn, v)->aux == i;
        TS__WANT(&f->c, good, "the region needs %u arguments in order after its opener", wanted);
    }
    return TS_OK;
}

/* Counts the res run of an instruction that may have any number of results. */
static void verify_count_res(verify_fn *f, ts_val owner, ts_val first)
{
    const ts_fn *fn = f->c.fn;
    uint32_t n = 0;
    while (first + n < fn->inst.n && ts_at(fn, first + n)->op == TS_OP_res &&
           ts_at(fn, first + n)->n_opnd == 1 && ts_at(fn, first + n)->opnd[0] == owner &&
           ts_at(fn, first + n)->aux == n)
        n++;
    f->first_res[owner] = first;
    f->n_res[owner] = n;
}

static ts_status verify_close(verify_fn *f, ts_val opener, ts_val v)
{
    const ts__verify *c = &f->c;
    TS__WANT(c, opener, "this %s has no opener: no region (if, for, loop, reduce ..) is open here",
             ts_info(c->inst)->name);
    f->closes[v] = opener;
    const ts_op_info *info = ts_info(ts_at(c->fn, opener));
    char room[VERIFY_NAME];
    TS__WANT(c, verify_is_term(c->fn, v - 1),
             "the region of %s ends without yield, continue, break or return", verify_name(c, opener, room));
    if (c->inst->op == TS_OP_else) {
        TS__WANT(c, ts_at(c->fn, opener)->op == TS_OP_if, "%s has no else", info->name);
        TS__WANT(c, !f->other[opener], "%s has an else already", verify_name(c, opener, room));
        f->other[opener] = v;
        return TS_OK;
    }
    TS__WANT(c, ts_at(c->fn, opener)->op != TS_OP_if || f->other[opener],
             "the if at %s has no else", verify_name(c, opener, room));
    f->end[opener] = v;
    verify_count_res(f, opener, v + 1);
    return TS_OK;
}

/* Where an arg or res may stand: args follow their opener, res follow `end` or their instruction.
 */
static ts_status verify_placement(verify_fn *f, ts_val opener)
{
    const ts__verify *c = &f->c;
    if (c->inst->op == TS_OP_arg)
        TS__WANT(c, opener && c->v <= opener + verify_wanted_args(ts_at(c->fn, opener)),
                 "an arg belongs right after the opener of a region");
    if (c->inst->op == TS_OP_param)
        TS__WANT(c, c->v <= c->fn->n_params && c->inst->aux == c->v - 1,
                 "params come first, in order");
    if (c->inst->op == TS_OP_res) {
        ts_val owner = c->inst->n_opnd == 1 ? c->inst->opnd[0] : 0;
        TS__WANT(c, owner && owner < c->v, "res names the instruction it is a result of");
        TS__WANT(c, f->n_res[owner] > c->inst->aux && f->first_res[owner] + c->inst->aux == c->v,
                 "a res belongs, in order, right after its instruction or the end of its region");
    }
    return TS_OK;
}

static ts_status verify_structure(verify_fn *f)
{
    const ts_fn *fn = f->c.fn;
    uint32_t opener = 0, region = 0, depth = 0;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        verify_look(f, v);
        uint32_t op = f->c.inst->op;
        bool closes = op == TS_OP_else || op == TS_OP_end;
        ts_assert((opener == 0) == (depth == 0) && f->c.opnd); /* step 1 saw the operands */
        TS__WANT(&f->c, closes || v == 1 || !verify_is_term(fn, v - 1),
                 "an instruction follows a terminator in its region");
        TS_TRY(verify_placement(f, opener));
        if (closes)
            TS_TRY(verify_close(f, opener, v));
        if (op == TS_OP_else)
            region = v;
        if (op == TS_OP_end) {
            depth--;
            region = f->region[opener];
            opener = f->parent[opener];
        }
        f->region[v] = region;
        f->parent[v] = opener;
        if (ts__ops[op].flags & TS_REGION) {
            opener = region = v;
            TS__WANT(&f->c, ++depth <= TS__MAX_NEST, "regions are nested deeper than %d",
                     TS__MAX_NEST);
            TS_TRY(verify_args(f, v));
        } else if (ts__ops[op].n_result == TS_N)
            verify_count_res(f, v, v + 1);
    }
    verify_look(f, opener ? opener : fn->inst.n - 1);
    TS__WANT(&f->c, !opener, "the region is never closed");
    TS__WANT(&f->c, f->c.v && f->c.inst->op == TS_OP_return, "the function @%s does not end with return; add "
             "'return'%s "
             "behind its last instruction", ts_str_get(fn->module, fn->name), fn->n_results ? " and its values" : "");
    return TS_OK;
}

/* ---- 3. values ------------------------------------------------------------------------------- */

static ts_status verify_values(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    if (c->inst->op == TS_OP_res)
        return TS_OK;
    for (uint32_t i = 0; i < c->inst->n_opnd; i++) {
        ts_val d = c->opnd[i];
        char room[VERIFY_NAME];
        TS__WANT(c, d && ts_type_of(c->fn, d), "operand %u, %s, has no value", i, verify_name(c, d, room));
        TS__WANT(c, d < c->v, "operand %u, %s, is defined later", i, verify_name(c, d, room));
        TS__WANT(c, !f->region[d] || f->open[f->region[d]],
                 "operand %u, %s, was defined in a region that has ended", i, verify_name(c, d, room));
    }
    return TS_OK;
}

static void verify_track(verify_fn *f)
{
    ts_val v = f->c.v;
    uint32_t op = f->c.inst->op;
    if (op == TS_OP_else || op == TS_OP_end) {
        ts_val opener = f->closes[v];
        ts_assert(opener && opener < v);
        f->open[opener] = false;
        f->open[f->other[opener]] = false; /* entry 0 is never asked */
    }
    if (ts__ops[op].flags & TS_REGION || op == TS_OP_else)
        f->open[v] = true;
}

/* ---- 4. terminators -------------------------------------------------------------------------- */

/* Operands must be as many and of the types of `n` values found by type_of(c, i). */
static ts_status verify_flow(const ts__verify *c, uint32_t n, ts_val first, const char *what)
{
    TS__WANT(c, c->n == n, "%s gives %u values, %s has %u", ts_info(c->inst)->name, c->n, what, n);
    for (uint32_t i = 0; i < n; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), ts_type_of(c->fn, first + i), "value %u has another type than %s", i,
                      what);
    return TS_OK;
}

/* The innermost loop around v that ifs alone separate from it; 0 = none. */
static ts_val verify_loop_of(const verify_fn *f, ts_val v)
{
    ts_val opener = f->parent[v];
    while (opener && ts_at(f->c.fn, opener)->op == TS_OP_if)
        opener = f->parent[opener];
    return opener;
}

/* A kernel may return anywhere; a function at its end, so that its values are those of one place. */
static ts_status verify_return(const ts__verify *c, ts_val opener)
{
    const ts_fn *fn = c->fn;
    if (fn->entry) {
        TS__WANT(c, c->n == 0, "a kernel returns nothing, here are %u values; store them, or make it a func", c->n);
        return TS_OK;
    }
    char room[VERIFY_NAME];
    TS__WANT(c, !opener, "a func has one return, at its end; yield the values of this path out of %s, and return "
                         "the results of that", verify_name(c, opener, room));
    TS__WANT(c, c->n == fn->n_results, "return gives %u values, the function has %u results", c->n, fn->n_results);
    for (uint32_t i = 0; i < c->n; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), fn->result[i], "value %u has another type than result %u of the "
                      "function",
                      i, i);
    return TS_OK;
}

static ts_status verify_term(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    ts_val opener = f->parent[c->v], loop = verify_loop_of(f, c->v);
    uint32_t inner = opener ? ts_at(c->fn, opener)->op : TS_OP_none,
             outer = loop ? ts_at(c->fn, loop)->op : TS_OP_none;
    if (c->inst->op == TS_OP_yield) {
        TS__WANT(c, opener && inner != TS_OP_for && inner != TS_OP_loop,
                 "yield ends regions of if, cold, recursion, reduce and scan");
        if (inner == TS_OP_if || inner == TS_OP_cold || inner == TS_OP_recursion)
            return verify_flow(c, f->n_res[opener], f->first_res[opener], "its opener");
        return TS_OK; /* compared with the inputs by the reduction's rule */
    }
    bool returns = c->inst->op == TS_OP_return && outer == TS_OP_recursion; /* it ends the thread */
    TS__WANT(c, outer == TS_OP_none || outer == TS_OP_for || outer == TS_OP_loop || returns,
             "%s cannot leave the region of %s; end that region with yield", ts_info(c->inst)->name,
             ts__ops[outer].name);
    if (c->inst->op == TS_OP_return)
        return verify_return(c, opener);
    TS__WANT(c, outer == TS_OP_loop || (outer == TS_OP_for && c->inst->op == TS_OP_continue),
             "there is no %s around this %s", c->inst->op == TS_OP_break ? "loop" : "for or loop",
             ts_info(c->inst)->name);
    if (c->inst->op == TS_OP_break)
        return verify_flow(c, f->n_res[loop], f->first_res[loop], "the loop");
    bool counted = outer == TS_OP_for;
    return verify_flow(c, ts_at(c->fn, loop)->n_opnd - (counted ? 3u : 0), loop + 1 + counted,
                       "the loop's arguments");
}

/* The operands and results of a recur are those of its recursion. */
static ts_status verify_recur(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    ts_val of = ts__recursion_of(c->fn, f->parent, c->v);
    TS__WANT(c, of, "there is no recursion around this recur%s", c->inst->aux ? " so far out" : "");
    const ts_inst *opener = ts_at(c->fn, of);
    TS__WANT(c, c->n == opener->n_opnd, "the recursion takes %u values, not %u", opener->n_opnd, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), ts_type_of(c->fn, of + 1 + i),
                      "value %u has another type than the recursion's", i);
    TS__WANT(c, f->n_res[c->v] == f->n_res[of], "the recursion has %u results, not %u", f->n_res[of], f->n_res[c->v]);
    for (uint32_t i = 0; i < f->n_res[of]; i++)
        TS__SAME_TYPE(c, ts_type_of(c->fn, f->first_res[c->v] + i), ts_type_of(c->fn, f->first_res[of] + i),
                      "result %u has another type than the recursion's", i);
    return TS_OK;
}

/* ---- openers --------------------------------------------------------------------------------- */

static bool verify_can_flow(const ts_module *m, ts_type t)
{
    return ts__is_tile_like(m, t) || t == TS_T_token;
}

static ts_status verify_results_flow(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    for (uint32_t i = 0; i < f->n_res[c->v]; i++)
        TS__WANT(c, verify_can_flow(c->m, ts_type_of(c->fn, f->first_res[c->v] + i)),
                 "result %u is neither tile, pointer nor token", i);
    return TS_OK;
}

static ts_status verify_carried(const verify_fn *f, uint32_t first_opnd, uint32_t first_arg)
{
    const ts__verify *c = &f->c;
    for (uint32_t i = first_opnd; i < c->n; i++) {
        ts_type type = ts__verify_opnd(c, i);
        TS__WANT_TYPE(c, verify_can_flow(c->m, type), type,
                      "carried value %u is neither tile, pointer nor token", i - first_opnd);
        TS__SAME_TYPE(c, ts_type_of(c->fn, c->v + 1 + first_arg + i - first_opnd), type,
                      "argument %u has another type than its first value", first_arg + i - first_opnd);
    }
    return TS_OK;
}

static ts_status verify_for(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    TS__WANT(c, c->n >= 3, "for needs lower bound, upper bound and step");
    ts_type t = ts__verify_opnd(c, 0);
    TS__WANT_TYPE(c, ts__is_scalar_int(t) && t != TS_T_i1, t, "the bounds of a for are integers");
    TS__WANT(c,
             t == ts__verify_opnd(c, 1) && t == ts__verify_opnd(c, 2) &&
                 t == ts_type_of(c->fn, c->v + 1),
             "bounds, step and induction variable have one type");
    TS__WANT(c, !(c->inst->aux & ~(uint32_t)TS_A_UNSIGNED), "for only knows unsigned");
    int64_t step;
    TS__WANT(c, !ts__const_as_int(c->fn, c->opnd[2], &step) || step > 0,
             "the step of a for is positive");
    TS__WANT(c, f->n_res[c->v] == c->n - 3, "for has %u results for %u carried values",
             f->n_res[c->v], c->n - 3);
    for (uint32_t i = 0; i < f->n_res[c->v]; i++)
        TS__SAME_TYPE(c, ts_type_of(c->fn, f->first_res[c->v] + i), ts__verify_opnd(c, 3 + i),
                      "result %u has another type than its first value", i);
    return verify_carried(f, 3, 1);
}

/* What the region of a reduction may hold: pure operations on scalars, and calls of functions of such.
 * `left` bounds the walk: a cycle is reported when the whole module is looked at. */
static ts_status verify_reduction_inst(const ts__verify *c, const ts_fn *fn, ts_val v, uint32_t *left)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t op = inst->op;
    if (op == TS_OP_call) {
        const ts_fn *callee = ts__fn_find(c->m, inst->aux);
        for (ts_val w = 1; callee && w < callee->inst.n && *left; w++, --*left)
            TS_TRY(verify_reduction_inst(c, callee, w, left));
        TS__WANT(c, *left, "the functions called in a reduction have too many instructions");
        return TS_OK;
    }
    ts__verify of_fn = *c;
    of_fn.fn = fn;
    char room[VERIFY_NAME];
    const char *of = fn == c->fn ? "" : " of @", *name = fn == c->fn ? "" : ts_str_get(c->m, fn->name);
    uint16_t flags = op < TS_OP_COUNT ? ts__ops[op].flags : 0;
    TS__WANT(c, flags & (TS_PURE | TS_TERM) && !(flags & TS_REGION),
             "%s%s%s does not belong in a reduction: only pure operations do", verify_name(&of_fn, v, room), of, name);
    TS__WANT(c, !inst->type || (ts__type_known(c->m, inst->type) && ts_type_rank(c->m, inst->type) == 0),
             "%s%s%s is a tile: a reduction works on scalars", verify_name(&of_fn, v, room), of, name);
    return TS_OK;
}

/* The `yield` of a reduction is the terminator before its end. */
static ts_status verify_reduction(verify_fn *f)
{
    const ts__verify *c = &f->c;
    ts_assert(f->end[c->v] > c->v);
    const ts_inst *yield = ts_at(c->fn, f->end[c->v] - 1);
    const uint32_t *values = ts__opnds_checked(c->fn, yield);
    TS__WANT(c, f->n_res[c->v] == c->n && yield->op == TS_OP_yield && yield->n_opnd == c->n,
             "%u inputs need as many results and yielded values", c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        ts_type elem = ts_type_elem(c->m, ts__verify_opnd(c, i));
        TS__WANT(c,
                 ts_type_of(c->fn, c->v + 1 + 2 * i) == elem &&
                     ts_type_of(c->fn, c->v + 2 + 2 * i) == elem,
                 "arguments %u and %u have another type than the elements", 2 * i, 2 * i + 1);
        TS__WANT(c, ts_type_of(c->fn, values[i]) == elem,
                 "yielded value %u has another type than the elements", i);
    }
    uint32_t left = VERIFY_REDUCTION_MOST;
    for (ts_val v = c->v + 1; v < f->end[c->v]; v++)
        TS_TRY(verify_reduction_inst(c, c->fn, v, &left));
    return TS_OK;
}

/* Only elementwise operations on one shape, and what makes their operands. */
static ts_status verify_cold_body(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    for (ts_val v = c->v + 1; v < f->end[c->v]; v++) {
        char room[VERIFY_NAME];
        const ts_inst *inst = ts_at(c->fn, v);
        uint32_t op = inst->op;
        if (ts__ops[op].flags & TS_ELEM)
            TS__WANT(c, ts__same_shape(c->m, inst->type, ts__verify_opnd(c, 0)),
                     "%s has another shape than the condition", verify_name(c, v, room));
        else
            TS__WANT(c,
                     op == TS_OP_constant || op == TS_OP_broadcast || op == TS_OP_reshape ||
                         op == TS_OP_cold || op == TS_OP_end || op == TS_OP_res ||
                         op == TS_OP_yield,
                     "%s does not belong in a cold path: only elementwise operations do", verify_name(c, v, room));
    }
    return TS_OK;
}

static ts_status verify_cold(const verify_fn *f)
{
    const ts__verify *c = &f->c;
    ts_type cond = ts__verify_opnd(c, 0);
    TS__WANT(c, c->n >= 2 && ts_type_elem(c->m, cond) == TS_T_i1,
             "cold takes an i1 and at least one value");
    TS__WANT(c, f->n_res[c->v] == c->n - 1, "cold has %u results for %u values", f->n_res[c->v],
             c->n - 1);
    for (uint32_t i = 1; i < c->n; i++) {
        TS__WANT(c, ts__same_shape(c->m, cond, ts__verify_opnd(c, i)),
                 "value %u has another shape than the condition", i - 1);
        TS__WANT(c, ts_type_of(c->fn, f->first_res[c->v] + i - 1) == ts__verify_opnd(c, i),
                 "result %u has another type than its value", i - 1);
    }
    return verify_cold_body(f);
}

static ts_status verify_opener(verify_fn *f)
{
    const ts__verify *c = &f->c;
    TS__WANT(c, !c->type, "the results of a region are res instructions");
    switch (c->inst->op) {
    case TS_OP_if:
        TS__SAME_TYPE(c, ts__verify_opnd(c, 0), TS_T_i1, "the condition of an if is an i1");
        return verify_results_flow(f);
    case TS_OP_for:
        return verify_for(f);
    case TS_OP_loop:
        TS_TRY(verify_results_flow(f));
        return verify_carried(f, 0, 0);
    case TS_OP_recursion:
        TS__WANT(c, c->inst->aux >= 1 && c->inst->aux <= TS_RECURSION_MOST, "a depth of %u; 1 to %d are possible",
                 c->inst->aux, TS_RECURSION_MOST);
        TS_TRY(verify_results_flow(f));
        return verify_carried(f, 0, 0);
    case TS_OP_cold:
        return verify_cold(f);
    default:
        TS_TRY(ts__verify_tile[c->inst->op].check(c));
        return verify_reduction(f);
    }
}

/* ---- elementwise ----------------------------------------------------------------------------- */

enum {
    R_ = 1,
    R_STD = 15,
    R_FULL = 1 << TS_FULL,
    R_APPROX = 1 << TS_APPROX,
    R_RZI = 1 << TS_RZI,
    R_RA = 1 << TS_RA
};

/* clang-format off */
/* Attribute bits beside the rounding, and the roundings (bit per ts_round), of each operation. */
static const struct {
    uint8_t op, rounds;
    uint16_t bits;
} verify_arith[] = {
    {TS_OP_addf, R_STD, TS_A_FTZ | TS_A_EXACT}, {TS_OP_subf, R_STD, TS_A_FTZ | TS_A_EXACT},
    {TS_OP_mulf, R_STD, TS_A_FTZ | TS_A_EXACT}, {TS_OP_fma, R_STD, TS_A_FTZ},
    {TS_OP_divf, R_STD | R_FULL | R_APPROX, TS_A_FTZ}, {TS_OP_sqrt, R_STD | R_APPROX, TS_A_FTZ},
    {TS_OP_maxf, R_, TS_A_FTZ | TS_A_NAN}, {TS_OP_minf, R_, TS_A_FTZ | TS_A_NAN},
    {TS_OP_cmpf, R_, 7 << TS_A_PRED_SHIFT | TS_A_UNORDERED | TS_A_FTZ},
    {TS_OP_cmpi, R_, 7 << TS_A_PRED_SHIFT | TS_A_UNSIGNED},
    {TS_OP_negi, R_, TS_A_NSW | TS_A_NUW}, {TS_OP_addi, R_, TS_A_NSW | TS_A_NUW}, {TS_OP_subi, R_, TS_A_NSW | TS_A_NUW},
    {TS_OP_muli, R_, TS_A_NSW | TS_A_NUW}, {TS_OP_shli, R_, TS_A_NSW | TS_A_NUW},
    {TS_OP_trunci, R_, TS_A_NSW | TS_A_NUW},
    {TS_OP_divi, R_STD, TS_A_UNSIGNED}, {TS_OP_remi, R_STD, TS_A_UNSIGNED}, {TS_OP_shri, R_, TS_A_UNSIGNED},
    {TS_OP_maxi, R_, TS_A_UNSIGNED}, {TS_OP_mini, R_, TS_A_UNSIGNED}, {TS_OP_exti, R_, TS_A_UNSIGNED},
    {TS_OP_itof, R_STD, TS_A_UNSIGNED}, {TS_OP_ftof, R_STD | R_RA, TS_A_FTZ | TS_A_SAT},
    {TS_OP_ftoi, R_STD | R_RZI, TS_A_UNSIGNED | TS_A_SAT | TS_A_FTZ}, {TS_OP_fpowi, R_, 0},
};
/* clang-format on */
_Static_assert(TS_OP_COUNT <= 256, "op ids fit the byte of these tables");
static const uint16_t verify_math_rounds = R_ | R_FULL | R_APPROX;

/* "rn, rz": the words of a set of roundings. */
static const char *verify_round_names(uint32_t rounds, char names[64])
{
    static const char *const words[] = {[TS_RN] = "rn", [TS_RZ] = "rz", [TS_RM] = "rm", [TS_RP] = "rp",
                                        [TS_APPROX] = "approx", [TS_FULL] = "full", [TS_RZI] = "rzi", [TS_RA] = "ra"};
    size_t n = 0;
    for (size_t i = 0; i < TS_COUNT(words); i++)
        if (rounds >> i & 1)
            n += (size_t)snprintf(names + n, 64 - n, "%s%s", n ? ", " : "", words[i]);
    return names;
}

static ts_status verify_arith_bits(const ts__verify *c)
{
    uint32_t rounds = verify_math_rounds, bits = TS_A_FTZ, aux = c->inst->aux;
    char names[64];
    if (ts_info(c->inst)->attr != TS_ATTR_ARITH)
        return TS_OK;
    for (size_t i = 0; i < TS_COUNT(verify_arith); i++)
        if (verify_arith[i].op == c->inst->op) {
            rounds = verify_arith[i].rounds;
            bits = verify_arith[i].bits;
        }
    TS__WANT(c, rounds >> TS_A_ROUND(aux) & 1, "%s does not take this rounding; it takes %s", ts_info(c->inst)->name,
             verify_round_names(rounds, names));
    TS__WANT(c, !(aux & ~(bits | TS_A_ROUND_MASK)), "%s does not know attribute bits 0x%x",
             ts_info(c->inst)->name, aux & ~(bits | TS_A_ROUND_MASK));
    TS__WANT(c, TS_A_GET_PRED(aux) <= TS_GE, "predicate %u does not exist", TS_A_GET_PRED(aux));
    bool tile_ftz = aux & TS_A_FTZ && c->fn->level == TS_LEVEL_T && c->inst->op != TS_OP_ftof;
    TS__WANT(c, !tile_ftz || ts_type_elem(c->m, ts__verify_opnd(c, 0)) == TS_T_f32,
             "only f32 can be flushed to zero");
    return TS_OK;
}

/* The widths and classes each conversion joins. */
static bool verify_cast_fits(const ts_module *m, ts_op op, ts_type from, ts_type to)
{
    uint32_t a = ts_type_bits(m, from), b = ts_type_bits(m, to);
    uint32_t na = from == TS_T_i1 ? 1 : a, nb = to == TS_T_i1 ? 1 : b;
    switch ((int)op) {
    case TS_OP_bitcast:
        return a == b && (from == TS_T_i1) == (to == TS_T_i1) && !ts_type_is_ptr(m, from) &&
               !ts_type_is_ptr(m, to);
    case TS_OP_exti:
        return na < nb && ts_type_is_int(m, from) && ts_type_is_int(m, to);
    case TS_OP_trunci:
        return na > nb && ts_type_is_int(m, from) && ts_type_is_int(m, to);
    case TS_OP_itof:
        return ts_type_is_int(m, from) && ts_type_is_float(m, to) && from != TS_T_i4;
    case TS_OP_ftof:
        return ts_type_is_float(m, from) && ts_type_is_float(m, to);
    case TS_OP_ftoi:
        return ts_type_is_float(m, from) && ts_type_is_int(m, to) && to != TS_T_i4;
    case TS_OP_int_to_ptr:
        return (from == TS_T_i64 || (from == TS_T_i32 && b == 32)) && ts_type_is_ptr(m, to);
    case TS_OP_ptr_to_int:
        return (to == TS_T_i64 || (to == TS_T_i32 && a == 32)) && ts_type_is_ptr(m, from);
    default: /* ptr_to_ptr: another pointee, the same address space */
        return ts_type_is_ptr(m, from) && ts_type_is_ptr(m, to) &&
               ts_type_get(m, from)->space == ts_type_get(m, to)->space;
    }
}

static ts_status verify_cast(const ts__verify *c)
{
    ts_type from = ts__verify_opnd(c, 0);
    TS__WANT(c, ts__same_shape(c->m, from, c->type), "a conversion keeps the shape");
    ts_type elem = ts_type_elem(c->m, from), to = ts_type_elem(c->m, c->type);
    if (!verify_cast_fits(c->m, (ts_op)c->inst->op, elem, to))
        return ts__verify_fail_type(c, elem, to, "%s does not convert these element types (docs/reference/ir.md says "
                                    "which)",
                                    ts_info(c->inst)->name);
    return TS_OK;
}

static ts_status verify_same(const ts__verify *c, uint32_t first)
{
    for (uint32_t i = first; i < c->n; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), ts__verify_opnd(c, first), "operand %u has another type than operand "
                      "%u",
                      i, first);
    return TS_OK;
}

static ts_status verify_elementwise(const ts__verify *c)
{
    ts_rule rule = (ts_rule)ts_info(c->inst)->rule;
    ts_type x = ts__verify_opnd(c, 0), elem = ts_type_elem(c->m, x);
    bool cmp = rule == TS_RULE_CMPF || rule == TS_RULE_CMPI;
    bool floats =
        rule == TS_RULE_UNF || rule == TS_RULE_BINF || rule == TS_RULE_TERF || rule == TS_RULE_CMPF;
    TS__WANT_TYPE(c, ts__is_tile_like(c->m, x), x, "operand 0 is neither tile nor scalar");
    if (rule == TS_RULE_CASTA || rule == TS_RULE_CASTI)
        return verify_cast(c);
    TS_TRY(verify_same(c, rule == TS_RULE_SELECT));
    if (rule == TS_RULE_SELECT) {
        TS__WANT_TYPE(c, elem == TS_T_i1 && ts__same_shape(c->m, x, c->type), x,
                      "select takes an i1 of the result's shape");
        TS__SAME_TYPE(c, c->type, ts__verify_opnd(c, 1), "the result has another type than the choices");
        return TS_OK;
    }
    TS__WANT_TYPE(c, floats ? ts__is_arith_float(elem) : elem >= TS_T_i1 && elem <= TS_T_i64, x, "%s works on %s",
                  ts_info(c->inst)->name, floats ? "f16, bf16, f32 and f64" : "i1 to i64");
    if (cmp)
        TS__WANT_TYPE(c, ts__same_shape(c->m, x, c->type) && ts_type_elem(c->m, c->type) == TS_T_i1, c->type,
                      "a comparison gives i1 of the operands' shape");
    else
        TS__SAME_TYPE(c, c->type, x, "the result has another type than the operands");
    return TS_OK;
}

/* ---- rules of one instruction ---------------------------------------------------------------- */

static const ts__verify_rule *verify_rule_of(uint32_t op)
{
    return ts__verify_tile[op].check ? &ts__verify_tile[op] : &ts__verify_simt[op];
}

static ts_status verify_counts(const ts__verify *c)
{
    const ts_op_info *info = ts_info(c->inst);
    uint32_t extra = c->inst->flags & ~(uint32_t)verify_rule_of(c->inst->op)->roles;
    for (int i = 0; i < TS__N_ROLES; i++)
        TS__WANT(c, !(extra & ts__roles[i].flag), "%s does not take the optional operand '%s'; leave it out",
                 info->name,
                 ts__roles[i].name);
    TS__WANT(c, info->n_opnd == TS_N || c->n == (uint32_t)info->n_opnd,
             "%s takes %d operands, not %u", info->name, info->n_opnd, c->n);
    TS__WANT(c, (info->n_result == 1) == (c->type != TS_T_none), "%s %s", info->name,
             c->type ? "has no result of its own" : "needs a result type");
    return TS_OK;
}

/* Complex numbers are moved and taken apart (flag MOVES); what computes works on their parts. */
static ts_status verify_complex(const ts__verify *c)
{
    bool found = ts_type_is_complex(c->m, c->type);
    for (uint32_t i = 0; i < c->inst->n_opnd && c->inst->op != TS_OP_res; i++)
        found |= ts_type_is_complex(c->m, ts_type_of(c->fn, c->opnd[i]));
    bool memory = ts_info(c->inst)->attr == TS_ATTR_ALLOCA || c->inst->op == TS_OP_get_global;
    if (memory && c->fn->level != TS_LEVEL_S && ts_type_kind(c->m, c->type) == TS_KIND_PTR)
        found |= ts_type_is_complex(c->m, ts_type_get(c->m, c->type)->elem);
    TS__WANT(c, !found || ts_info(c->inst)->flags & TS_MOVES,
             "%s does not take complex numbers: it works on their parts (real, imag, make_complex)",
             ts_info(c->inst)->name);
    TS__WANT(c, !found || c->inst->op != TS_OP_param || !c->fn->entry,
             "a kernel does not take complex numbers as parameters; pass its two parts");
    return TS_OK;
}

static ts_status verify_inst(verify_fn *f)
{
    const ts__verify *c = &f->c;
    const ts_op_info *info = ts_info(c->inst);
    TS_TRY(verify_counts(c));
    TS_TRY(verify_complex(c));
    if (info->flags & TS_REGION)
        return verify_opener(f);
    if (info->flags & TS_TERM)
        return verify_term(f);
    if (info->rule != TS_RULE_OWN || c->inst->op == TS_OP_fpowi)
        TS_TRY(verify_arith_bits(c));
    if (info->rule != TS_RULE_OWN)
        return verify_elementwise(c);
    if (c->inst->op == TS_OP_recur)
        return verify_recur(f);
    const ts__verify_rule *rule = verify_rule_of(c->inst->op);
    return rule->check ? rule->check(c) : TS_OK;
}

/* ---- functions and modules ------------------------------------------------------------------- */

static bool verify_prepare(verify_fn *f, const ts_fn *fn)
{
    ts_arena *a = &f->scratch;
    uint32_t n = fn->inst.n;
    f->end = TS_NEW_N(a, uint32_t, n);
    f->other = TS_NEW_N(a, uint32_t, n);
    f->region = TS_NEW_N(a, uint32_t, n);
    f->parent = TS_NEW_N(a, uint32_t, n);
    f->closes = TS_NEW_N(a, uint32_t, n);
    f->first_res = TS_NEW_N(a, uint32_t, n);
    f->n_res = TS_NEW_N(a, uint32_t, n);
    f->open = TS_NEW_N(a, bool, n);
    f->seen_type = TS_NEW_N(a, bool, fn->module->type.n + 1);
    f->c.first_res = f->first_res;
    f->c.n_res = f->n_res;
    return !a->failed;
}

static ts_status verify_hints(const ts__verify *c)
{
    const ts_fn *fn = c->fn;
    TS__WANT(c, fn->level >= TS_LEVEL_T && fn->level <= TS_LEVEL_B, "level %u does not exist",
             fn->level);
    TS__WANT(c, fn->num_ctas == 0 || (ts_is_pow2(fn->num_ctas) && fn->num_ctas <= 16),
             "num_ctas %u is not a power of two up to 16", fn->num_ctas);
    TS__WANT(c, fn->occupancy <= 32, "occupancy %u is more than 32", fn->occupancy);
    TS__WANT(c,
             fn->num_warps == 0 || (ts_is_pow2(fn->num_warps) && fn->num_warps <= 32) ||
                 fn->level != TS_LEVEL_T,
             "num_warps %u is not a power of two up to 32", fn->num_warps);
    TS__WANT(c, fn->num_warps <= 32, "num_warps %u is more than the 32 of a block", fn->num_warps);
    TS__WANT(c, !fn->entry || !fn->n_results, "a kernel returns nothing, and this entry has %u results; make it a func",
             fn->n_results);
    TS__WANT(c, fn->n_params < fn->inst.n, "n_params is %u in a function of %u instructions",
             fn->n_params, fn->inst.n);
    for (ts_val v = 1; v <= fn->n_params; v++)
        TS__WANT(c, ts_at(fn, v)->op == TS_OP_param,
                 "instruction %%%u is not the param that n_params promises", v);
    return TS_OK;
}

static ts_status verify_results(verify_fn *f, const ts_fn *fn)
{
    for (uint32_t i = 0; i < fn->n_results; i++) {
        TS_TRY(verify_seen_type(f, fn->result[i]));
        TS__WANT(&f->c, fn->result[i] && ts_type_kind(fn->module, fn->result[i]) != TS_KIND_FUNC,
                 "result %u of the function has a type without values; use tiles, numbers, pointers or tokens", i);
    }
    return TS_OK;
}

static ts_status verify_all(verify_fn *f, const ts_fn *fn)
{
    TS_TRY(verify_hints(&f->c));
    TS_TRY(verify_results(f, fn));
    for (ts_val v = 1; v < fn->inst.n; v++) {
        verify_look(f, v);
        TS_TRY(verify_bounds(f));
    }
    TS_TRY(verify_structure(f));
    for (ts_val v = 1; v < fn->inst.n; v++) {
        verify_look(f, v);
        TS_TRY(verify_values(f));
        TS_TRY(verify_inst(f));
        verify_track(f);
    }
    return TS_OK;
}

ts_status ts_fn_verify(const ts_fn *fn, ts_error *err)
{
    TS_NEED(err, fn);
    verify_fn f = {.c = {.fn = fn, .m = fn->module, .err = err}};
    if (ts__module_failed(fn->module))
        return ts_fail(err, TS_NOMEM, "out of memory before @%s could be verified",
                       ts_str_get(fn->module, fn->name));
    if (fn->inst.n == 0 || fn->inst.at[0].op != TS_OP_none || fn->loc.n != fn->inst.n)
        return ts_fail(
            err, TS_VERIFY,
            "@%s: a function begins with `none` and has one location for each instruction",
            ts_str_get(fn->module, fn->name));
    ts__arena_init(&f.scratch, fn->module->arena->alloc);
    ts_status status = verify_prepare(&f, fn)
                           ? verify_all(&f, fn)
                           : ts_fail(err, TS_NOMEM, "out of memory in the verifier");
    ts__arena_deinit(&f.scratch);
    return status;
}

static ts_status verify_global(const ts_module *m, const ts_global *g, ts_error *err)
{
    const char *name = ts_str_get(m, g->name);
    ts_fn none = {.module = (ts_module *)m, .name = g->name};
    ts__verify c = {.fn = &none, .m = m, .err = err};
    TS_TRY(ts__verify_type(&c, g->type));
    if (ts_type_kind(m, g->type) != TS_KIND_TILE || ts_type_rank(m, g->type) != 1 ||
        !ts_type_is_scalar(ts_type_elem(m, g->type)) || ts_type_is_complex(m, g->type))
        return ts_fail(err, TS_VERIFY, "global @%s is not a 1-D tile of integers or floats", name);
    if (g->align && !ts_is_pow2(g->align))
        return ts_fail(err, TS_VERIFY, "alignment %u of global @%s is not a power of two", g->align,
                       name);
    uint64_t bytes = ((uint64_t)ts_type_count(m, g->type) * ts_type_bits(m, g->type) + 7) / 8;
    if (g->data > m->dense.n || (g->data && m->dense.at[g->data - 1].n_bytes != bytes))
        return ts_fail(err, TS_VERIFY, "the data of global @%s is not %llu bytes", name,
                       (unsigned long long)bytes);
    return TS_OK;
}

ts_status ts_module_verify(const ts_module *module, ts_error *err)
{
    TS_NEED(err, module);
    const ts_module *m = module;
    for (uint32_t i = 0; i < m->globals.n; i++)
        TS_TRY(verify_global(m, &m->globals.at[i], err));
    for (uint32_t i = 0; i < m->fns.n; i++) {
        for (uint32_t j = 0; j < i; j++)
            if (m->fns.at[i]->name == m->fns.at[j]->name)
                return ts_fail(err, TS_VERIFY, "two functions are called @%s",
                               ts_str_get(m, m->fns.at[i]->name));
        TS_TRY(ts_fn_verify(m->fns.at[i], err));
    }
    return ts__verify_calls(m, err);
}
