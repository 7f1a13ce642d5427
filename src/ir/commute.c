/* SPDX-License-Identifier: Apache-2.0
 *
 * Two proofs that a body commutes (commute.h); each of its results needs one of them.
 *
 *     mirror   yield addf(mulf(%element, 2), mulf(%acc, 2)): with both exchanged it is the same expression,
 *              operands of commutative operations in either order. Sums, products, extrema, also round
 *              conversions, of any number of inputs (complex products).
 *     choice   yield select(%wins, %element, %acc), where %wins is made of comparisons of elements with their
 *              accumulators: argmax, argmin, `a if a > b else b`. For each way in which the pairs can be ordered
 *              (less, equal, greater, NaN) the body is evaluated with the pairs as they are and exchanged; both
 *              must choose the same, or what they choose between must be the same integer.
 *
 * Cost: linear in a body without shared subexpressions; a body that takes more than a fixed number of steps is given
 * up.
 */
#include "ir/commute.h"

enum { COMMUTE_STEPS = 4096, COMMUTE_INPUTS = 3, COMMUTE_BODY = 128 };

typedef struct commute {
    const ts_fn *fn;
    ts_val opener, yield;
    uint32_t n;     /* inputs: value opener + 1 + 2 i is element i, opener + 2 + 2 i accumulator i */
    uint32_t steps; /* left */
} commute;

/* Element or accumulator of an input. */
static bool commute_is_arg(const commute *c, ts_val v)
{
    return v > c->opener && v <= c->opener + 2 * c->n;
}

static ts_val commute_other(const commute *c, ts_val arg)
{
    return c->opener + 1 + ((arg - c->opener - 1) ^ 1);
}

/* ---- mirror ------------------------------------------------------------------------------------------ */

static bool commute_mirror(commute *c, ts_val x, ts_val y);

/* Comparisons that say the same with their operands exchanged. */
static uint32_t commute_turned(ts_op op, uint32_t aux)
{
    static const ts_pred turned[] = {TS_EQ, TS_NE, TS_GT, TS_GE, TS_LT, TS_LE};
    if (op != TS_OP_cmpi && op != TS_OP_cmpf)
        return aux;
    uint32_t pred = TS_A_GET_PRED(aux);
    return pred < TS_COUNT(turned) ? (aux & ~TS_A_PRED(7)) | TS_A_PRED(turned[pred]) : aux;
}

/* Operands 0 and 1 may change places. */
static bool commute_turns(const ts_inst *x, const ts_inst *y)
{
    bool compares = x->op == TS_OP_cmpi || x->op == TS_OP_cmpf;
    return (ts_info(x)->flags & TS_COMM || x->op == TS_OP_fma || compares) &&
           commute_turned((ts_op)x->op, x->aux) == y->aux;
}

static bool commute_mirror_opnds(commute *c, const ts_inst *x, const ts_inst *y, uint32_t turn)
{
    for (uint32_t i = 0; i < x->n_opnd; i++)
        if (!commute_mirror(c, x->opnd[i], y->opnd[i < 2 ? i ^ turn : i]))
            return false;
    return true;
}

/* Does x, with elements and accumulators exchanged, give what y gives? */
static bool commute_mirror(commute *c, ts_val x, ts_val y)
{
    if (!c->steps)
        return false;
    c->steps--;
    if (commute_is_arg(c, x) || commute_is_arg(c, y))
        return commute_is_arg(c, x) && y == commute_other(c, x);
    if (x < c->opener || y < c->opener)
        return x == y;
    const ts_inst *p = ts_at(c->fn, x), *q = ts_at(c->fn, y);
    uint64_t a, b;
    if (p->op != q->op || p->type != q->type || p->n_opnd != q->n_opnd)
        return false;
    if (p->op == TS_OP_constant)
        return ts__const_bits(c->fn, x, &a) && ts__const_bits(c->fn, y, &b) && a == b;
    if (!(ts_info(p)->flags & TS_ELEM) || p->n_opnd > 3)
        return false;
    return (p->aux == q->aux && commute_mirror_opnds(c, p, q, 0)) ||
           (commute_turns(p, q) && commute_mirror_opnds(c, p, q, 1));
}

/* ---- choice ------------------------------------------------------------------------------------------ */

/* How an element is ordered with its accumulator. Integers know the first three; the others are of floats: the
 * element, the accumulator or both are NaN. */
enum { PAIR_LESS, PAIR_EQUAL, PAIR_GREATER, PAIR_NAN_ELEMENT, PAIR_NAN_ACC, PAIR_NAN_BOTH, PAIR_COUNT };

/* What a value of the body is: an i1, or an argument (its number from VALUE_ARG on), perhaps widened exactly. */
enum { VALUE_UNKNOWN, VALUE_FALSE, VALUE_TRUE, VALUE_ARG };

typedef struct commute_state {
    uint8_t pair[COMMUTE_INPUTS];
    uint8_t value[COMMUTE_BODY];   /* of opener + 1 + i */
    int8_t sign[COMMUTE_INPUTS];   /* how integers are compared: 0 not yet, 1 signed, -1 unsigned */
} commute_state;

static uint8_t commute_bool(bool x)
{
    return x ? VALUE_TRUE : VALUE_FALSE;
}

static uint8_t commute_value(const commute *c, const commute_state *s, ts_val v)
{
    uint64_t bits;
    if (v > c->opener)
        return s->value[v - c->opener - 1];
    return ts_type_of(c->fn, v) == TS_T_i1 && ts__const_bits(c->fn, v, &bits) ? commute_bool(bits & 1) : VALUE_UNKNOWN;
}

static bool commute_holds(ts_pred pred, int order)
{
    switch (pred) {
    case TS_EQ: return order == 0;
    case TS_NE: return order != 0;
    case TS_LT: return order < 0;
    case TS_LE: return order <= 0;
    case TS_GT: return order > 0;
    default: return order >= 0;
    }
}

/* Argument x with argument y of the same pair: TRUE, FALSE. */
static uint8_t commute_compare(uint32_t x, uint32_t y, uint8_t pair, uint32_t aux)
{
    bool nan_element = pair == PAIR_NAN_ELEMENT || pair == PAIR_NAN_BOTH,
         nan_acc = pair == PAIR_NAN_ACC || pair == PAIR_NAN_BOTH;
    int order = x == y ? 0 : pair == PAIR_LESS ? -1 : pair == PAIR_GREATER;
    if ((x & 1 ? nan_acc : nan_element) || (y & 1 ? nan_acc : nan_element))
        return commute_bool(aux & TS_A_UNORDERED);
    return commute_bool(commute_holds(TS_A_GET_PRED(aux), x & 1 ? -order : order));
}

static uint8_t commute_eval_compare(commute_state *s, const ts_inst *inst, uint8_t x, uint8_t y)
{
    if (x < VALUE_ARG || y < VALUE_ARG || (x - VALUE_ARG) / 2 != (y - VALUE_ARG) / 2)
        return VALUE_UNKNOWN;
    uint32_t i = (x - VALUE_ARG) / 2u;
    int8_t sign = inst->op != TS_OP_cmpf && inst->aux & TS_A_UNSIGNED ? -1 : 1;
    if (s->sign[i] && s->sign[i] != sign)
        return VALUE_UNKNOWN;
    s->sign[i] = sign;
    return commute_compare(x - VALUE_ARG, y - VALUE_ARG, s->pair[i], inst->aux);
}

/* and, or, xor of i1. */
static uint8_t commute_eval_logic(ts_op op, uint8_t x, uint8_t y)
{
    bool p = x == VALUE_TRUE, q = y == VALUE_TRUE;
    if (x == VALUE_UNKNOWN || y == VALUE_UNKNOWN || x >= VALUE_ARG || y >= VALUE_ARG)
        return VALUE_UNKNOWN;
    return commute_bool(op == TS_OP_andi ? p && q : op == TS_OP_ori ? p || q : p != q);
}

/* The lesser or greater integer of a pair is one of them. */
static uint8_t commute_eval_extreme(commute_state *s, const ts_inst *inst, uint8_t x, uint8_t y)
{
    ts_inst less = *inst;
    less.aux = (inst->aux & TS_A_UNSIGNED) | TS_A_PRED(inst->op == TS_OP_mini ? TS_LT : TS_GT);
    uint8_t first = commute_eval_compare(s, &less, x, y);
    return first == VALUE_UNKNOWN ? first : first == VALUE_TRUE ? x : y;
}

/* Conversions that change neither the order nor what is equal or NaN. */
static bool commute_widens(const ts_fn *fn, const ts_inst *inst)
{
    ts_type from = ts_type_of(fn, inst->opnd[0]);
    return inst->op == TS_OP_ftof && (from == TS_T_f16 || from == TS_T_bf16) &&
           (inst->type == TS_T_f32 || inst->type == TS_T_f64);
}

static uint8_t commute_eval_one(const commute *c, commute_state *s, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint8_t x[3] = {0};
    uint64_t bits;
    for (uint32_t i = 0; i < inst->n_opnd && i < 3 && inst->op != TS_OP_constant; i++)
        x[i] = commute_value(c, s, inst->opnd[i]);
    switch (inst->op) {
    case TS_OP_constant:
        return inst->type == TS_T_i1 && ts__const_bits(c->fn, v, &bits) ? commute_bool(bits & 1) : VALUE_UNKNOWN;
    case TS_OP_cmpi:
    case TS_OP_cmpf: return commute_eval_compare(s, inst, x[0], x[1]);
    case TS_OP_mini:
    case TS_OP_maxi: return commute_eval_extreme(s, inst, x[0], x[1]);
    case TS_OP_andi:
    case TS_OP_ori:
    case TS_OP_xori: return commute_eval_logic((ts_op)inst->op, x[0], x[1]);
    case TS_OP_select:
        return x[0] == VALUE_TRUE ? x[1] : x[0] == VALUE_FALSE ? x[2] : VALUE_UNKNOWN;
    case TS_OP_ftof: return commute_widens(c->fn, inst) ? x[0] : VALUE_UNKNOWN;
    default: return VALUE_UNKNOWN;
    }
}

/* The argument that result `i` is with the pairs ordered so; TS_NO when that is not known. */
static uint32_t commute_chosen(const commute *c, commute_state *s, uint32_t i)
{
    for (uint32_t k = 0; k < 2 * c->n; k++)
        s->value[k] = (uint8_t)(VALUE_ARG + k);
    for (ts_val v = c->opener + 1 + 2 * c->n; v < c->yield; v++)
        s->value[v - c->opener - 1] = commute_eval_one(c, s, v);
    ts_val y = ts_opnds(c->fn, ts_at(c->fn, c->yield))[i];
    uint8_t value = commute_value(c, s, y);
    return value >= VALUE_ARG && ts_type_of(c->fn, y) == ts_type_of(c->fn, c->opener + 1 + 2 * i)
               ? (uint32_t)value - VALUE_ARG
               : TS_NO;
}

/* Is result `i` of the operation used? */
static bool commute_used(const commute *c, uint32_t i)
{
    ts_val end = c->yield + 1, res = end + 1 + i;
    for (ts_val v = res + 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        const uint32_t *opnds = ts_opnds(c->fn, inst);
        for (uint32_t k = 0; k < inst->n_opnd && inst->op != TS_OP_constant; k++)
            if (opnds[k] == res)
                return true;
    }
    return false;
}

/* Result `i` with the pairs ordered as s->pair says, and exchanged. */
static bool commute_same_choice(const commute *c, commute_state *s, uint32_t i)
{
    static const uint8_t exchanged[] = {PAIR_GREATER, PAIR_EQUAL,   PAIR_LESS,
                                        PAIR_NAN_ACC, PAIR_NAN_ELEMENT, PAIR_NAN_BOTH};
    commute_state t = *s;
    for (uint32_t k = 0; k < c->n; k++)
        t.pair[k] = exchanged[s->pair[k]];
    uint32_t x = commute_chosen(c, s, i), y = commute_chosen(c, &t, i);
    if (x == TS_NO || y == TS_NO || x / 2 != i || y / 2 != i)
        return false;
    bool equal = s->pair[i] == PAIR_EQUAL,
         integer = ts_type_is_int(c->fn->module, ts_type_of(c->fn, c->opener + 1 + x));
    /* zeros of both signs are equal and differ, so equal floats are the same only where nothing reads the result */
    return x != y || (equal && integer) || ((equal || s->pair[i] == PAIR_NAN_BOTH) && !commute_used(c, i));
}

static bool commute_choice(const commute *c, uint32_t i)
{
    uint32_t states = 1;
    if (c->n > COMMUTE_INPUTS || c->yield - c->opener - 1 > COMMUTE_BODY)
        return false;
    for (uint32_t k = 0; k < c->n; k++)
        states *= PAIR_COUNT;
    for (uint32_t state = 0; state < states; state++) {
        commute_state s = {0};
        bool possible = true;
        for (uint32_t k = 0, rest = state; k < c->n; k++, rest /= PAIR_COUNT) {
            ts_type type = ts_type_of(c->fn, c->opener + 1 + 2 * k);
            s.pair[k] = (uint8_t)(rest % PAIR_COUNT);
            possible &= s.pair[k] <= PAIR_GREATER || ts_type_is_float(c->fn->module, type);
        }
        if (possible && !commute_same_choice(c, &s, i))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ */

/* The yield of the body; 0 when there are regions inside. */
static ts_val commute_yield(const ts_fn *fn, ts_val opener)
{
    for (ts_val v = opener + 1; v < fn->inst.n; v++) {
        if (ts_at(fn, v)->op == TS_OP_yield)
            return v;
        if (ts_info(ts_at(fn, v))->flags & (TS_REGION | TS_TERM))
            return 0;
    }
    return 0;
}

bool ts__body_commutes(const ts_fn *fn, ts_val opener)
{
    commute c = {.fn = fn, .opener = opener, .yield = commute_yield(fn, opener), .n = ts_at(fn, opener)->n_opnd};
    if (!c.yield)
        return false;
    for (uint32_t i = 0; i < c.n; i++) {
        ts_val y = ts_opnds(fn, ts_at(fn, c.yield))[i];
        c.steps = COMMUTE_STEPS;
        if (!commute_mirror(&c, y, y) && !commute_choice(&c, i))
            return false;
    }
    return true;
}
