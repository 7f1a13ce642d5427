/* SPDX-License-Identifier: Apache-2.0
 *
 * Narrowing: integers of 64 bits that are known to fit 32 are computed there, and comparisons whose answer is known are
 * constants. Languages of threads have integers of 64 bits; a GPU adds, compares and multiplies those in two to four
 * instructions.
 *
 *     %5 = for %3 in (%zero, %n, %one) : i64          %n from 0 to 2^31 - 1
 *       %6 = cmpi lt %3, %zero : i1                   constant false: an index that does not count from the end
 *       %7 = addi %3, %one : i64             ->       %7 = addi %3', %one' : i32, and its extension, which dies
 *       %8 = trunci %7 : i32                          %7
 *
 * What is known: facts_walk.c. A value whose bounds fit is made of the low halves of its operands, and extended for
 * those who want it whole; fold and dce take away what comes out equal or unused. So are quotients that fit without a
 * sign, and sums, products and so on of which all that is used is the low half. Counters, carried values and results of
 * regions are narrowed alike. A counter from 0 or above with an end that fits is counted without a sign, so that the
 * last step may go past 2^31. Cost: that of the facts and one copy of the function.
 */
#include "pass/facts.h"
#include "pass/pass.h"

typedef struct narrow_ctx {
    ts_fn *fn;
    ts_builder b;
    ts_shape shape;
    ts_facts_walk *walk;
    ts_val *map, *low; /* value -> new value; -> its low 32 bits, where an instruction has them */
    ts_val *opened;    /* opener -> new opener */
    bool *halves;      /* arg or res -> it has 32 bits now */
    bool *whole;       /* value -> more than its low half is used */
    ts_arena *scratch;
} narrow_ctx;

/* ---- what is known ----------------------------------------------------------------------------------- */

static bool narrow_within(const narrow_ctx *c, ts_val v, int64_t lo, int64_t hi)
{
    const ts_fact *f = ts__facts_here(c->walk, v);
    return f->lo >= lo && f->hi <= hi;
}

static bool narrow_fits(const narrow_ctx *c, ts_val v)
{
    return narrow_within(c, v, INT32_MIN, INT32_MAX);
}

/* Whether it fits without a sign. */
static bool narrow_is_word(const narrow_ctx *c, ts_val v)
{
    return narrow_within(c, v, 0, UINT32_MAX);
}

static bool narrow_is_wide(const narrow_ctx *c, ts_val v)
{
    return ts_type_of(c->fn, v) == TS_T_i64;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* The low 32 bits of an operand. */
static ts_val narrow_low(narrow_ctx *c, ts_val v)
{
    int64_t known;
    if (!narrow_is_wide(c, v))
        return c->map[v];
    if (c->low[v])
        return c->low[v];
    if (ts__const_as_int(c->fn, v, &known))
        return ts_int(&c->b, TS_T_i32, (int32_t)(uint64_t)known);
    return ts_cast(&c->b, TS_OP_trunci, c->map[v], TS_T_i32, 0);
}

static void narrow_is(narrow_ctx *c, ts_val v, ts_val low, uint32_t sign)
{
    c->low[v] = low;
    c->map[v] = ts_cast(&c->b, TS_OP_exti, low, TS_T_i64, sign);
}

/* Whether the low half of the result hangs on the low halves of the operands alone, whatever they are. */
static bool narrow_by_low(const ts_fn *fn, const ts_inst *inst)
{
    int64_t by;
    switch (inst->op) {
    case TS_OP_addi:
    case TS_OP_subi:
    case TS_OP_muli:
    case TS_OP_andi:
    case TS_OP_ori:
    case TS_OP_xori:
    case TS_OP_select:
        return true;
    case TS_OP_shli:
        return ts__const_as_int(fn, inst->opnd[1], &by) && by >= 0 && by < 32;
    default:
        return false;
    }
}

/* Whether it does by what is known of the operands; *attr is then that of the operation on halves. */
static bool narrow_by_halves(const narrow_ctx *c, const ts_inst *inst, uint32_t *attr)
{
    if (narrow_by_low(c->fn, inst))
        return true;
    if (inst->n_opnd != 2)
        return false;
    ts_val x = inst->opnd[0], y = inst->opnd[1];
    bool shifts = inst->op == TS_OP_shli || inst->op == TS_OP_shri;
    bool words = narrow_is_word(c, x) && (shifts || narrow_is_word(c, y)); /* a sign changes nothing */
    bool fit = narrow_fits(c, x) && (shifts || narrow_fits(c, y));
    if (*attr & TS_A_UNSIGNED && !words)
        return false;
    *attr |= words && !fit && inst->op != TS_OP_shli ? TS_A_UNSIGNED : 0; /* which a shift to the left has not */
    switch (inst->op) {
    case TS_OP_shli:
        return narrow_within(c, y, 0, 31);
    case TS_OP_shri:
        return (words || fit) && narrow_within(c, y, 0, 31);
    case TS_OP_mini:
    case TS_OP_maxi:
        return words || fit;
    case TS_OP_divi:
    case TS_OP_remi:
        return (words || fit) && narrow_within(c, y, 0, UINT32_MAX); /* by 0 is a fault in either */
    default:
        return false;
    }
}

/* Whether it is a quotient, or remainder, that fits without a sign: none of words is greater than what is divided. */
static bool narrow_is_quotient(const narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    if (inst->op != TS_OP_divi && inst->op != TS_OP_remi)
        return false;
    bool of_words = inst->op == TS_OP_divi && narrow_is_word(c, inst->opnd[0]) && narrow_is_word(c, inst->opnd[1]);
    return of_words || narrow_is_word(c, v);
}

static bool narrow_value(narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    const ts_fact *f = ts__facts_here(c->walk, v);
    if (inst->op == TS_OP_constant || !ts_type_is_int(c->fn->module, inst->type))
        return false;
    if (f->lo == f->hi && ts_info(inst)->flags & TS_ELEM) {
        c->map[v] = ts_bits(&c->b, inst->type, (uint64_t)f->lo);
        return true;
    }
    bool fits = narrow_fits(c, v);
    if (inst->type != TS_T_i64 || (!fits && c->whole[v] && !narrow_is_quotient(c, v, inst)))
        return false;
    uint32_t sign = fits ? 0 : TS_A_UNSIGNED; /* of what nobody uses whole, either */
    if (inst->op == TS_OP_mul_wide && ts_type_of(c->fn, inst->opnd[0]) == TS_T_i32) {
        narrow_is(c, v, ts_op2(&c->b, TS_OP_muli, c->map[inst->opnd[0]], c->map[inst->opnd[1]], 0), sign);
        return true;
    }
    if (inst->op == TS_OP_exti && ts_type_of(c->fn, inst->opnd[0]) == TS_T_i32) {
        narrow_is(c, v, c->map[inst->opnd[0]], sign);
        return true;
    }
    uint32_t attr = inst->aux & ~(uint32_t)(TS_A_NSW | TS_A_NUW); /* these promises hold for 64 bits, not for 32 */
    if (!narrow_by_halves(c, inst, &attr))
        return false;
    bool selects = inst->op == TS_OP_select;
    ts_val x = selects ? c->map[inst->opnd[0]] : narrow_low(c, inst->opnd[0]), y = narrow_low(c, inst->opnd[1]);
    narrow_is(c, v, selects ? ts_select(&c->b, x, y, narrow_low(c, inst->opnd[2]))
                            : ts_op2(&c->b, (ts_op)inst->op, x, y, attr),
              sign);
    return true;
}

/* What takes integers of 64 bits and gives something else. */
static bool narrow_use(narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    ts_val x = inst->opnd[0];
    if (inst->op == TS_OP_cmpi && ts_type_is_int(c->fn->module, ts_type_of(c->fn, x)) &&
        ts_type_of(c->fn, x) != TS_T_i1) {
        if (!narrow_is_wide(c, x))
            return false;
        bool fit = narrow_fits(c, x) && narrow_fits(c, inst->opnd[1]);
        bool words = !fit && narrow_is_word(c, x) && narrow_is_word(c, inst->opnd[1]);
        if (fit || words)
            c->map[v] = ts_cmp(&c->b, TS_OP_cmpi, TS_A_GET_PRED(inst->aux), narrow_low(c, x),
                               narrow_low(c, inst->opnd[1]), words ? TS_A_UNSIGNED : inst->aux & TS_A_UNSIGNED);
        return fit || words;
    }
    if (inst->op == TS_OP_trunci && narrow_is_wide(c, x) && (c->low[x] || narrow_fits(c, x))) {
        ts_val low = narrow_low(c, x);
        c->map[v] = inst->type == TS_T_i32 ? low : ts_cast(&c->b, TS_OP_trunci, low, inst->type, 0);
        return true;
    }
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    if (inst->op == TS_OP_itof && narrow_is_wide(c, x) && narrow_within(c, x, is_unsigned ? 0 : INT32_MIN, INT32_MAX)) {
        c->map[v] = ts_cast(&c->b, TS_OP_itof, narrow_low(c, x), inst->type, inst->aux);
        return true;
    }
    if (inst->op == TS_OP_offset && narrow_is_wide(c, inst->opnd[1]) && narrow_fits(c, inst->opnd[1])) {
        c->map[v] = ts_element(&c->b, c->map[x], narrow_low(c, inst->opnd[1]));
        return true;
    }
    return false;
}

/* ---- regions ------------------------------------------------------------------------------------------- */

static bool narrow_halves(narrow_ctx *c, ts_val v)
{
    return c->halves[v] = narrow_is_wide(c, v) && narrow_fits(c, v);
}

static ts_val narrow_pass(narrow_ctx *c, ts_val value, ts_val into)
{
    return c->halves[into] ? narrow_low(c, value) : c->map[value];
}

static ts_val *narrow_room(narrow_ctx *c, uint32_t n)
{
    return TS_NEW_N(c->scratch, ts_val, n + 1);
}

/* The new value of an arg or res stands at `made`. */
static void narrow_bind(narrow_ctx *c, ts_val v, ts_val made)
{
    if (c->halves[v])
        narrow_is(c, v, made, 0);
    else
        c->map[v] = made;
}

/* A bound as 32 bits; those beyond what a counter reaches become `most`, or 0. */
static ts_val narrow_bound(narrow_ctx *c, ts_val v, int64_t least, int64_t most)
{
    const ts_fact f = *ts__facts_here(c->walk, v);
    ts_val at = c->map[v];
    if (f.hi <= most && f.lo >= least)
        return narrow_low(c, v);
    if (f.hi > most)
        at = ts_op2(&c->b, TS_OP_mini, at, ts_int(&c->b, TS_T_i64, most), 0);
    if (f.lo < least)
        at = ts_op2(&c->b, TS_OP_maxi, at, ts_int(&c->b, TS_T_i64, least), 0);
    return ts_cast(&c->b, TS_OP_trunci, at, TS_T_i32, 0);
}

/* Bounds and attribute of a counter of 32 bits; false: it needs 64. */
static bool narrow_counter(narrow_ctx *c, ts_val v, ts_val bound[3], uint32_t *attr)
{
    ts_val lower = ts_opnd(c->fn, v, 0), upper = ts_opnd(c->fn, v, 1), step = ts_opnd(c->fn, v, 2);
    ts_fact low = *ts__facts_here(c->walk, lower), end = *ts__facts_here(c->walk, upper),
            by = *ts__facts_here(c->walk, step);
    bool is_unsigned = *attr & TS_A_UNSIGNED;
    if (!narrow_is_wide(c, lower) || end.hi > INT32_MAX || by.lo < 1 || (is_unsigned && (low.lo < 0 || end.lo < 0)))
        return false;
    bool plain = low.lo >= INT32_MIN && low.hi <= INT32_MAX && end.lo >= INT32_MIN && by.hi <= INT32_MAX &&
                 end.hi - 1 + by.hi <= INT32_MAX;
    if (!plain && low.lo < 0)
        return false;
    *attr = plain ? *attr : *attr | TS_A_UNSIGNED;
    bound[0] = narrow_bound(c, lower, plain ? INT32_MIN : 0, INT32_MAX);
    bound[1] = narrow_bound(c, upper, plain ? INT32_MIN : 0, INT32_MAX);
    bound[2] = narrow_bound(c, step, 1, INT32_MAX);
    return true;
}

static void narrow_for(narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    uint32_t n = inst->n_opnd - 3u, attr = inst->aux;
    ts_val bound[3], *inits = narrow_room(c, n);
    if (!inits)
        return;
    c->halves[v + 1] = narrow_counter(c, v, bound, &attr);
    for (uint32_t i = 0; i < 3 && !c->halves[v + 1]; i++)
        bound[i] = c->map[ts_opnd(c->fn, v, i)];
    for (uint32_t i = 0; i < n; i++) {
        narrow_halves(c, v + 2 + i);
        c->halves[c->shape.end[v] + 1 + i] = c->halves[v + 2 + i];
        inits[i] = narrow_pass(c, ts_opnd(c->fn, v, 3 + i), v + 2 + i);
    }
    c->opened[v] = ts_for_begin(&c->b, bound[0], bound[1], bound[2], n, inits, attr);
    for (uint32_t i = 0; i <= n; i++)
        narrow_bind(c, v + 1 + i, ts_region_arg(c->b.fn, c->opened[v], i));
}

static void narrow_loop(narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    ts_val *inits = narrow_room(c, inst->n_opnd);
    if (!inits)
        return;
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        narrow_halves(c, v + 1 + i);
        inits[i] = narrow_pass(c, ts_opnd(c->fn, v, i), v + 1 + i);
    }
    c->opened[v] = ts_loop_begin(&c->b, inst->n_opnd, inits);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        narrow_bind(c, v + 1 + i, ts_region_arg(c->b.fn, c->opened[v], i));
}

/* True where the opener is one of those whose values may be narrowed. */
static bool narrow_opener(narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    ts_val end = c->shape.end[v];
    if (inst->op == TS_OP_for)
        narrow_for(c, v, inst);
    else if (inst->op == TS_OP_loop)
        narrow_loop(c, v, inst);
    else if (inst->op == TS_OP_if)
        c->opened[v] = ts_if_begin(&c->b, c->map[inst->opnd[0]]);
    else
        return false;
    for (uint32_t i = 0; inst->op != TS_OP_for && i < ts__n_res(c->fn, end); i++)
        narrow_halves(c, end + 1 + i);
    return true;
}

static void narrow_end(narrow_ctx *c, ts_val end, ts_val opener)
{
    uint32_t n = ts__n_res(c->fn, end);
    ts_type *types = TS_NEW_N(c->scratch, ts_type, n + 1);
    if (!types)
        return;
    for (uint32_t i = 0; i < n; i++)
        types[i] = c->halves[end + 1 + i] ? TS_T_i32 : ts_type_of(c->fn, end + 1 + i);
    ts_end(&c->b, c->opened[opener], n, types);
    ts_val first = c->b.fn->inst.n - n;
    for (uint32_t i = 0; i < n; i++)
        narrow_bind(c, end + 1 + i, first + i);
}

/* The first of the values that a terminator gives its operands to, 0 where they stay as they are. */
static ts_val narrow_target(const narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    ts_val opener = ts__term_target(c->fn, &c->shape, v);
    if (!c->opened[opener])
        return 0;
    return inst->op == TS_OP_continue ? opener + 1 + (ts_at(c->fn, opener)->op == TS_OP_for)
                                      : c->shape.end[opener] + 1;
}

static bool narrow_term(narrow_ctx *c, ts_val v, const ts_inst *inst)
{
    ts_val first = narrow_target(c, v, inst), *values = narrow_room(c, inst->n_opnd);
    if (!first || !values)
        return false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        values[i] = narrow_pass(c, ts_opnd(c->fn, v, i), first + i);
    ts_term(&c->b, (ts_op)inst->op, inst->n_opnd, values);
    return true;
}

/* ---- the walk --------------------------------------------------------------------------------------------- */

/* True when the instruction was written in another way than it stands there. */
static bool narrow_inst(narrow_ctx *c, ts_val v, ts_val opener)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (ts_info(inst)->flags & TS_REGION)
        return narrow_opener(c, v, inst);
    if (inst->op == TS_OP_end && c->opened[opener]) {
        narrow_end(c, v, opener);
        return true;
    }
    if (inst->op == TS_OP_arg || inst->op == TS_OP_res)
        return c->map[v] != 0;
    if (ts_info(inst)->flags & TS_TERM)
        return narrow_term(c, v, inst);
    if (inst->op == TS_OP_param || inst->op == TS_OP_assume)
        return false;
    return narrow_value(c, v, inst) || narrow_use(c, v, inst);
}

/* Finds what is used whole: by all but truncations, and operations by low halves that are not used whole themselves. */
static void narrow_find_whole(narrow_ctx *c)
{
    for (ts_val v = c->fn->inst.n - 1; v >= 1; v--) {
        const ts_inst *inst = ts_at(c->fn, v);
        if (inst->op == TS_OP_trunci || (narrow_is_wide(c, v) && !c->whole[v] && narrow_by_low(c->fn, inst)))
            continue;
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            c->whole[ts_opnd(c->fn, v, i)] = true;
    }
}

static bool narrow_fn(narrow_ctx *c)
{
    uint32_t n = c->fn->inst.n;
    ts_val *openers = TS_NEW_N(c->scratch, ts_val, n); /* end -> opener */
    if (!openers)
        return false;
    for (ts_val v = 1; v < n; v++)
        if (ts_info(ts_at(c->fn, v))->flags & TS_REGION)
            openers[c->shape.end[v]] = v;
    for (ts_val v = 1; v < n; v++) {
        c->b.loc = c->fn->loc.at[v];
        ts__facts_step(c->walk, v);
        if (!narrow_inst(c, v, openers[v]))
            ts__copy(&c->b, c->fn, v, c->map);
        if (ts__module_failed(c->fn->module) || c->scratch->failed)
            return false;
    }
    return true;
}

ts_status ts__pass_narrow(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    uint32_t n = fn->inst.n;
    narrow_ctx c = {.fn = fn, .scratch = env->scratch};
    ts_fn *fresh = ts__fn_create_like(fn);
    c.map = TS_NEW_N(env->scratch, ts_val, n);
    c.low = TS_NEW_N(env->scratch, ts_val, n);
    c.opened = TS_NEW_N(env->scratch, ts_val, n);
    c.halves = TS_NEW_N(env->scratch, bool, n);
    c.whole = TS_NEW_N(env->scratch, bool, n);
    if (!fresh || !c.map || !c.low || !c.opened || !c.halves || !c.whole || !ts__shape_of(fn, env->scratch, &c.shape) ||
        !(c.walk = ts__facts_walk(fn, env->most_blocks, env->scratch)))
        return ts_fail(err, TS_NOMEM, "out of memory in pass narrow");
    ts__builder_init(&c.b, fresh);
    narrow_find_whole(&c);
    if (!narrow_fn(&c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass narrow");
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
