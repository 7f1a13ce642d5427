/* SPDX-License-Identifier: Apache-2.0
 *
 * Folding of elementwise operations: constants by the evaluator's own scalar functions, identities
 * by the rows of fold.def, and what a row cannot say (comparisons, division by powers of two) in C.
 *
 * Requirements a rewrite must meet: (1) exact for every operand; (2) operands of operands may be
 * used, they dominate; (3) the result has the type asked for; (4) it ends: rewrites shrink or bring
 * constants together. Called by fold.c with values of the function being built.
 */
#include "ir/scalar.h"
#include "pass/fold.h"

const ts__fold_rule ts__fold_rules[] = {
#define TS_FOLD(name, op, from, to, condition) {#name, TS_OP_##op, from, to, FOLD_##condition},
#include "pass/fold.def"
};
const uint32_t ts__n_fold_rules = TS_COUNT(ts__fold_rules);

/* ---- constants ------------------------------------------------------------------------------- */

/* Functions that have no exact meaning before the math pass has written them out are left alone. */
static bool elem_is_exact(ts_op op, uint32_t attr)
{
    const ts_op_info *info = &ts__ops[op];
    ts_round round = TS_A_ROUND(attr);
    bool approximate = info->attr == TS_ATTR_ARITH && (round == TS_APPROX || round == TS_FULL);
    return !approximate && !(info->flags & TS_WRITTEN);
}

/* How many operands an operation with this attribute has. */
static uint32_t elem_operands(ts_op op, uint32_t attr)
{
    return op == TS_OP_fn ? ts__math_fns[attr].n_opnd : (uint32_t)ts__ops[op].n_opnd;
}

static ts_val elem_constant(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    const ts_module *m = c->b.fn->module;
    uint32_t n = elem_operands(op, attr);
    uint64_t x[3], out;
    if (!elem_is_exact(op, attr))
        return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!ts__const_bits(c->b.fn, opnds[i], &x[i]))
            return 0;
    ts_type from = ts_type_elem(m, ts_type_of(c->b.fn, opnds[op == TS_OP_select]));
    if (!ts__scalar_eval(m, op, attr, from, ts_type_elem(m, type), x, &out))
        return 0;
    return ts__fold_bits(c, type, out);
}

/* ---- rows of fold.def ------------------------------------------------------------------------ */

typedef struct elem_match {
    fold_ctx *c;
    const char *at;
    ts_val letter[128];
    ts_type type; /* of the matched operation */
    uint32_t attr;
} elem_match;

static char elem_next(elem_match *p)
{
    while (*p->at == ' ')
        p->at++;
    return *p->at;
}

/* The payload of 0, 1, -1 or -0 in a type; false when the type has no such number. */
static bool elem_number(const ts_module *m, ts_type elem, const char *text, uint64_t *payload)
{
    int64_t whole = text[0] == '-' ? -(text[1] - '0') : text[0] - '0';
    if (ts_type_is_int(m, elem)) {
        *payload = ts__scalar_wrap(elem, (uint64_t)whole);
        return strcmp(text, "-0") != 0;
    }
    if (elem != TS_T_f16 && elem != TS_T_bf16 && elem != TS_T_f32 && elem != TS_T_f64)
        return false;
    uint64_t in = (uint64_t)whole;
    if (!ts__scalar_eval(m, TS_OP_itof, 0, TS_T_i64, elem, &in, payload))
        return false;
    if (strcmp(text, "-0") == 0)
        *payload = (uint64_t)1 << (ts_type_bits(m, elem) - 1);
    return true;
}

/* Takes "0", "1", "-1" or "-0" off the pattern. */
static void elem_take_number(elem_match *p, char text[3])
{
    memset(text, 0, 3);
    text[0] = *p->at++;
    if (text[0] == '-')
        text[1] = *p->at++;
}

static bool elem_matches_number(elem_match *p, ts_val v)
{
    char text[3];
    uint64_t found, wanted;
    elem_take_number(p, text);
    const ts_module *m = p->c->b.fn->module;
    ts_type elem = ts_type_elem(m, ts_type_of(p->c->b.fn, v));
    return ts__const_bits(p->c->b.fn, v, &found) && elem_number(m, elem, text, &wanted) &&
           found == wanted;
}

static ts_op elem_take_op(elem_match *p) /* after '(' */
{
    size_t n = strcspn(++p->at, " ");
    ts_op op = ts_op_find(p->at, n);
    p->at += n;
    return op;
}

/* One pattern against one value; the pattern is always consumed as far as it matched. */
static bool elem_matches(elem_match *p, ts_val v)
{
    const ts_fn *fn = p->c->b.fn;
    uint64_t bits;
    char next = elem_next(p);
    if (next == '(') {
        const ts_op_info *info =
            ts_info(ts_at(fn, v)); /* by name: most rows fail here, so no look-up */
        size_t n = strlen(info->name);
        if (strncmp(++p->at, info->name, n) != 0 || p->at[n] != ' ')
            return false;
        p->at += n;
        for (uint32_t i = 0; i < (uint32_t)info->n_opnd; i++)
            if (!elem_matches(p, ts_opnd(fn, v, i)))
                return false;
        elem_next(p);
        p->at++; /* ')' */
        return true;
    }
    if (next == '-' || (next >= '0' && next <= '9'))
        return elem_matches_number(p, v);
    p->at++;
    if ((next == 'C' || next == 'D') && !ts__const_bits(fn, v, &bits))
        return false;
    if (p->letter[(int)next])
        return p->letter[(int)next] == v;
    p->letter[(int)next] = v;
    return true;
}

/* Builds the right side; 0 when it cannot be. */
static ts_val elem_build(elem_match *p, ts_type type)
{
    char next = elem_next(p), text[3];
    ts_val opnds[3];
    uint64_t payload;
    if (next == '(') {
        ts_op op = elem_take_op(p);
        for (uint32_t i = 0; i < (uint32_t)ts__ops[op].n_opnd; i++) {
            opnds[i] = elem_build(p, type);
            if (!opnds[i])
                return 0;
        }
        elem_next(p);
        p->at++;
        return ts__fold_elem(
            p->c, op, type, opnds,
            ts_type_is_float(p->c->b.fn->module, type) && ts__ops[op].attr == TS_ATTR_ARITH ? p->attr
                                                                                           : 0);
    }
    if (next == '-' || (next >= '0' && next <= '9')) {
        elem_take_number(p, text);
        return elem_number(p->c->b.fn->module, ts_type_elem(p->c->b.fn->module, type), text,
                           &payload)
                   ? ts__fold_bits(p->c, type, payload)
                   : 0;
    }
    p->at++;
    return p->letter[(int)next];
}

static bool elem_widens(const elem_match *p)
{
    const ts_fn *fn = p->c->b.fn;
    ts_type x = ts_type_elem(fn->module, ts_type_of(fn, p->letter['x']));
    return (p->attr & TS_A_FTZ) == 0 && (x == TS_T_f16 || x == TS_T_bf16 || x == TS_T_f32);
}

static bool elem_allows(const ts__fold_rule *rule, const elem_match *p, const ts_val *opnds)
{
    const ts_fn *fn = p->c->b.fn;
    switch (rule->condition) {
    case FOLD_NOFTZ:
        return !(p->attr & TS_A_FTZ);
    case FOLD_PLAIN:
        return p->attr == 0;
    case FOLD_WIDER:
        return elem_widens(p) && !(ts_at(fn, opnds[0])->aux & TS_A_FTZ) &&
               ts_type_bits(fn->module, ts_type_of(fn, opnds[0])) >
                   ts_type_bits(fn->module, ts_type_of(fn, p->letter['x']));
    default:
        return true;
    }
}

static ts_val elem_rule(fold_ctx *c, const ts__fold_rule *rule, ts_type type, const ts_val *opnds,
                        uint32_t attr)
{
    elem_match p = {.c = c, .at = rule->from, .type = type, .attr = attr};
    for (uint32_t i = 0; i < (uint32_t)ts__ops[rule->op].n_opnd; i++)
        if (!elem_matches(&p, opnds[i]))
            return 0;
    if (!elem_allows(rule, &p, opnds))
        return 0;
    p.at = rule->to;
    bool bare = *rule->to >= 'x' && *rule->to <= 'z';
    if (bare && ts_type_of(c->b.fn, p.letter[(int)*rule->to]) != type)
        return 0;
    return elem_build(&p, type);
}

static ts_val elem_rules(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    for (uint32_t i = 0; i < ts__n_fold_rules; i++)
        if (ts__fold_rules[i].op == op) {
            ts_val v = elem_rule(c, &ts__fold_rules[i], type, opnds, attr);
            if (v)
                return v;
        }
    return 0;
}

/* ---- what a row cannot say ------------------------------------------------------------------- */

static ts_val elem_same_compare(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds,
                                uint32_t attr)
{
    ts_pred pred = TS_A_GET_PRED(attr);
    if (op != TS_OP_cmpi || opnds[0] != opnds[1])
        return 0;
    return ts__fold_bits(c, type, pred == TS_EQ || pred == TS_LE || pred == TS_GE);
}

/* A comparison with D of max(x, C) where D < C, or of min(x, C) where D > C: max(n, 1) != 0. Kernels write so that a
 * divisor is not 0, and the question of the language whether it is goes away. */
static ts_val elem_bounded_compare(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    const ts_fn *fn = c->b.fn;
    const ts_inst *inner = ts_at(fn, opnds[0]);
    ts_type elem = ts_type_elem(fn->module, ts_type_of(fn, opnds[0]));
    bool is_max = inner->op == TS_OP_maxi, is_unsigned = attr & TS_A_UNSIGNED;
    uint64_t bound[2], beyond;
    if (op != TS_OP_cmpi || (!is_max && inner->op != TS_OP_mini) || is_unsigned != !!(inner->aux & TS_A_UNSIGNED) ||
        !ts__const_bits(fn, inner->opnd[1], &bound[!is_max]) || !ts__const_bits(fn, opnds[1], &bound[is_max]))
        return 0;
    uint32_t greater = TS_A_PRED(TS_GT) | (is_unsigned ? TS_A_UNSIGNED : 0);
    if (!ts__scalar_eval(fn->module, TS_OP_cmpi, greater, elem, TS_T_i1, bound, &beyond) || !beyond)
        return 0;
    ts_pred pred = TS_A_GET_PRED(attr);
    bool upwards = pred == TS_GT || pred == TS_GE, downwards = pred == TS_LT || pred == TS_LE;
    return ts__fold_bits(c, type, pred == TS_NE || (is_max ? upwards : downwards));
}

/* The lesser or greater of two integers, written as a choice: x < y ? x : y. */
static ts_val elem_extreme(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    const ts_inst *by = ts_at(c->b.fn, opnds[0]);
    (void)attr;
    if (op != TS_OP_select || by->op != TS_OP_cmpi || ts_type_elem(c->b.fn->module, type) == TS_T_i1)
        return 0;
    bool straight = by->opnd[0] == opnds[1] && by->opnd[1] == opnds[2];
    ts_pred pred = TS_A_GET_PRED(by->aux);
    if (pred == TS_EQ || pred == TS_NE || (!straight && (by->opnd[0] != opnds[2] || by->opnd[1] != opnds[1])))
        return 0;
    bool less = (pred == TS_LT || pred == TS_LE) == straight;
    return ts__fold_elem(c, less ? TS_OP_mini : TS_OP_maxi, type, opnds + 1, by->aux & TS_A_UNSIGNED);
}

/* Division and remainder by a power of two: a shift and a mask where rounding is downwards or the
 * operand is unsigned; signed truncation needs the sign and is left to the target. */
static ts_val elem_divide(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    int64_t by;
    bool is_unsigned = attr & TS_A_UNSIGNED;
    if (op != TS_OP_divi && op != TS_OP_remi)
        return 0;
    if (!ts__const_as_int(c->b.fn, opnds[1], &by) || !ts_is_pow2(by) ||
        ts_type_elem(c->b.fn->module, type) == TS_T_i1)
        return 0;
    ts_round round = TS_A_ROUND(attr);
    if (is_unsigned ? round == TS_RP : round != TS_RM)
        return 0;
    ts_val pair[] = {opnds[0], ts__fold_bits(c, type,
                                             op == TS_OP_divi ? (uint64_t)ts_log2((uint64_t)by)
                                                              : (uint64_t)(by - 1))};
    return op == TS_OP_divi
               ? ts__fold_elem(c, TS_OP_shri, type, pair, is_unsigned ? TS_A_UNSIGNED : 0)
               : ts__fold_elem(c, TS_OP_andi, type, pair, 0);
}

/* x / c = x * (1 / c) exactly when c is a power of two whose inverse is a normal number, too. */
static ts_val elem_inverse(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    const ts_module *m = c->b.fn->module;
    ts_type elem = ts_type_elem(m, type);
    uint32_t mantissa = elem == TS_T_f64    ? 52
                        : elem == TS_T_f32  ? 23
                        : elem == TS_T_bf16 ? 7
                                            : 10,
             round = TS_A_ROUND(attr);
    uint64_t bits, one, x[2], inverse;
    if (op != TS_OP_divf || round > TS_RP || !ts__const_bits(c->b.fn, opnds[1], &bits) ||
        !elem_number(m, elem, "1", &one))
        return 0;
    uint64_t exponent =
                 bits >> mantissa & (((uint64_t)1 << (ts_type_bits(m, elem) - 1 - mantissa)) - 1),
             bias = one >> mantissa;
    if (bits & (((uint64_t)1 << mantissa) - 1) || exponent < 1 || exponent > 2 * bias - 1)
        return 0;
    x[0] = one;
    x[1] = bits;
    if (!ts__scalar_eval(m, TS_OP_divf, 0, elem, elem, x, &inverse))
        return 0;
    ts_val pair[] = {opnds[0], ts__fold_bits(c, type, inverse)};
    return ts__fold_elem(c, TS_OP_mulf, type, pair, attr);
}

/* Constants stand right; a comparison turns around with its operands. */
static uint32_t elem_order(fold_ctx *c, ts_op op, ts_val *opnds, uint32_t attr)
{
    static const uint8_t turned[] = {TS_EQ, TS_NE, TS_GT, TS_GE, TS_LT, TS_LE};
    bool compare = op == TS_OP_cmpi || op == TS_OP_cmpf;
    if (!compare && !(ts__ops[op].flags & TS_COMM))
        return attr;
    bool left = ts_at(c->b.fn, opnds[0])->op == TS_OP_constant,
         right = ts_at(c->b.fn, opnds[1])->op == TS_OP_constant;
    if (left == right ? compare || opnds[0] <= opnds[1] : right)
        return attr;
    ts_val x = opnds[0];
    opnds[0] = opnds[1];
    opnds[1] = x;
    if (!compare)
        return attr;
    return (attr & ~(uint32_t)TS_A_PRED(7)) | TS_A_PRED(turned[TS_A_GET_PRED(attr)]);
}

/* ---- uniform operands ------------------------------------------------------------------------ */

/* op(broadcast a, broadcast b) = broadcast(op(a, b)), and for reshape of scalars; constants fit any
 * shape. */
static ts_val elem_sink(fold_ctx *c, ts_op op, ts_type type, const ts_val *opnds, uint32_t attr)
{
    ts_module *m = c->b.fn->module;
    uint32_t n = elem_operands(op, attr), wrap = TS_OP_COUNT;
    ts_type shape = 0;
    ts_val inner[3];
    uint64_t bits;
    if (c->cold)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const ts_inst *inst = ts_at(c->b.fn, opnds[i]);
        if (ts__const_bits(c->b.fn, opnds[i], &bits))
            continue;
        if ((inst->op != TS_OP_broadcast && inst->op != TS_OP_reshape) ||
            (wrap != TS_OP_COUNT && wrap != inst->op))
            return 0;
        ts_type from = ts_type_of(c->b.fn, inst->opnd[0]);
        if (inst->op == TS_OP_reshape && ts_type_rank(m, from) != 0)
            return 0;
        if (shape && ts_type_with_elem(m, shape, TS_T_i1) != ts_type_with_elem(m, from, TS_T_i1))
            return 0;
        wrap = inst->op;
        shape = from;
    }
    if (!shape)
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        ts_type elem = ts_type_elem(m, ts_type_of(c->b.fn, opnds[i]));
        inner[i] = ts__const_bits(c->b.fn, opnds[i], &bits)
                       ? ts__fold_bits(c, ts_type_with_elem(m, shape, elem), bits)
                       : ts_opnd(c->b.fn, opnds[i], 0);
    }
    ts_val small =
        ts__fold_elem(c, op, ts_type_with_elem(m, shape, ts_type_elem(m, type)), inner, attr);
    return small ? ts__fold_emit(c, (ts_op)wrap, type, 1, &small, 0, 0) : 0;
}

ts_val ts__fold_elem(fold_ctx *c, ts_op op, ts_type type, const ts_val *given, uint32_t attr)
{
    static ts_val (*const steps[])(fold_ctx *, ts_op, ts_type, const ts_val *, uint32_t) = {
        elem_constant, elem_rules, elem_same_compare, elem_bounded_compare, elem_extreme,
        elem_divide, elem_inverse, elem_sink};
    ts_val opnds[3] = {0};
    uint32_t n = elem_operands(op, attr);
    memcpy(opnds, given, n * sizeof *opnds);
    attr = elem_order(c, op, opnds, attr);
    for (size_t i = 0; i < TS_COUNT(steps); i++) {
        ts_val v = steps[i](c, op, type, opnds, attr);
        if (v)
            return v;
    }
    return ts__fold_emit(c, op, type, n, opnds, attr, 0);
}
