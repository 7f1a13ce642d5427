/* SPDX-License-Identifier: Apache-2.0
 *
 * `match`: each case becomes a condition and, where it may hold, what its names are bound to. Conditions that are
 * known at compile time choose a case there; others become branches, the later cases in the `else` of the earlier
 * ones. Part of the front end (lower.h).
 */
#include "lang/lower.h"

typedef struct match_cases {
    uint32_t node;
    const uint32_t *at;
    uint32_t n;
    const fr_value *subject;
} match_cases;

/* What a pattern wants: a condition, and names with their values. */
typedef struct match_found {
    fr_value cond; /* a number or a scalar of bool_ */
    TS_VEC(uint32_t) names; /* strings */
    TS_VEC(fr_value) values;
} match_found;

static ts_status match_pattern(fr *f, uint32_t node, const fr_value *v, match_found *found);

static bool match_failed(const match_found *found)
{
    bool truth;
    return fr_truth(&found->cond, &truth) && !truth;
}

/* found->cond and/or other */
static ts_status match_join(fr *f, ts_operator op, fr_value *cond, const fr_value *other)
{
    bool truth, is_and = op == TS_OPERATOR_And;
    if (fr_truth(cond, &truth)) {
        if (truth == is_and)
            *cond = *other;
        return TS_OK;
    }
    if (fr_truth(other, &truth)) {
        if (truth != is_and)
            *cond = *other;
        return TS_OK;
    }
    return fr_binary(f, is_and ? TS_OPERATOR_BitAnd : TS_OPERATOR_BitOr, cond, other, (fr_options){0}, cond);
}

static bool match_is_number(const fr_value *v)
{
    return v->kind == FR_NUMBER || v->kind == FR_TILE;
}

static ts_status match_equal(fr *f, const fr_value *v, const fr_value *wanted, match_found *found)
{
    fr_value equal = fr_bool(false), room[2];
    TS_TRY(fr_member_value(f, &v, &room[0]));
    TS_TRY(fr_member_value(f, &wanted, &room[1]));
    bool number = match_is_number(v) && match_is_number(wanted);
    if (v->kind == FR_TILE && fr_shape_of(f, v).rank)
        return fr_error(f, 0, TS_TILETYPE, "a value pattern compares scalars, found %s", fr_say(f, v));
    if (number || v->kind == wanted->kind)
        TS_TRY(fr_compare(f, TS_OPERATOR_Eq, v, wanted, &equal));
    return match_join(f, TS_OPERATOR_And, &found->cond, &equal);
}

static ts_status match_bind(fr *f, uint32_t name, const fr_value *v, match_found *found)
{
    return TS_PUSH(f->arena, &found->names, name) && TS_PUSH(f->arena, &found->values, *v) ? TS_OK : fr_oom(f);
}

static ts_status match_sequence(fr *f, const ts_node *n, const fr_value *v, match_found *found)
{
    uint32_t count, star = UINT32_MAX;
    const uint32_t *items = ts_pack_list(&f->pack, n->f[0], &count);
    for (uint32_t i = 0; i < count; i++)
        if (ts_pack_node(&f->pack, items[i])->kind == TS_AST_MatchStar)
            star = i;
    uint32_t fixed = count - (star != UINT32_MAX);
    if (v->kind != FR_TUPLE || (star == UINT32_MAX ? v->n != fixed : v->n < fixed)) {
        found->cond = fr_bool(false);
        return TS_OK;
    }
    for (uint32_t i = 0, at = 0; i < count && !match_failed(found); i++) {
        const ts_node *item = ts_pack_node(&f->pack, items[i]);
        if (i != star) {
            TS_TRY(match_pattern(f, items[i], &v->as.items[at++], found));
            continue;
        }
        fr_value rest;
        TS_TRY(fr_tuple(f, v->n - fixed, v->as.items + at, &rest));
        at += v->n - fixed;
        if (item->f[0])
            TS_TRY(match_bind(f, item->f[0], &rest, found));
    }
    return TS_OK;
}

/* case A | B: the names must be bound alike, which they are where none are. */
static ts_status match_or(fr *f, uint32_t node, const ts_node *n, const fr_value *v, match_found *found)
{
    uint32_t count;
    const uint32_t *items = ts_pack_list(&f->pack, n->f[0], &count);
    fr_value any = fr_bool(false);
    for (uint32_t i = 0; i < count; i++) {
        match_found one = {.cond = fr_bool(true)};
        bool truth;
        TS_TRY(match_pattern(f, items[i], v, &one));
        bool known = fr_truth(&one.cond, &truth);
        if (known && !truth)
            continue;
        if (one.names.n && (!known || any.kind == FR_TILE))
            return fr_error(f, node, TS_TILETYPE, "an '|' whose alternatives bind names must be decided at compile "
                            "time\n  help: write a case for each");
        for (uint32_t k = 0; k < one.names.n; k++)
            TS_TRY(match_bind(f, one.names.at[k], &one.values.at[k], found));
        TS_TRY(match_join(f, TS_OPERATOR_Or, &any, &one.cond));
        if (known)
            break;
    }
    return match_join(f, TS_OPERATOR_And, &found->cond, &any);
}

/* In the parentheses of int(), str() and the like stands a pattern for the value itself. */
static ts_status match_class(fr *f, uint32_t node, const ts_node *n, const fr_value *v, match_found *found)
{
    uint32_t n_args, n_names, n_fields = 0;
    const uint32_t *args = ts_pack_list(&f->pack, n->f[1], &n_args), *names = ts_pack_list(&f->pack, n->f[2], &n_names),
                   *wanted = ts_pack_list(&f->pack, n->f[3], &n_names), *fields = NULL;
    fr_value cls, part;
    TS_TRY(fr_expr(f, n->f[0], &cls));
    bool is_record = cls.kind == FR_MODULE && f->pack.objects[cls.as.object].kind == TS_OBJ_RECORD;
    if (!is_record && cls.kind != FR_BUILTIN)
        return fr_error(f, node, TS_TILETYPE, "a class pattern takes a dataclass, a named tuple, int, float, bool, "
                        "str or tuple, found %s", fr_say(f, &cls));
    if (!fr_is_instance(f, v, &cls)) {
        found->cond = fr_bool(false);
        return TS_OK;
    }
    if (is_record)
        fields = ts_pack_fields(&f->pack, cls.as.object, &n_fields); /* those of a derived class come after them */
    for (uint32_t i = 0, at = 0; i < n_args && !match_failed(found); i++, at++) {
        while (at < n_fields && fields[TS_RECORD_FIELD * at + 2] & TS_FIELD_KEYWORD)
            at++;
        if (is_record ? at >= n_fields : i > 0)
            return fr_error(f, args[i], TS_TILETYPE, "the pattern has %u positional parts, more than the class takes",
                            n_args);
        TS_TRY(match_pattern(f, args[i], is_record ? &v->as.items[at] : v, found));
    }
    for (uint32_t i = 0; i < n_names && !match_failed(found); i++) {
        TS_TRY(fr_attribute_of(f, wanted[i], v, fr_string(f, names[i]), &part));
        TS_TRY(match_pattern(f, wanted[i], &part, found));
    }
    return TS_OK;
}

static ts_status match_as(fr *f, const ts_node *n, const fr_value *v, match_found *found)
{
    if (n->f[0])
        TS_TRY(match_pattern(f, n->f[0], v, found));
    return n->f[1] && !match_failed(found) ? match_bind(f, n->f[1], v, found) : TS_OK;
}

static ts_status match_pattern(fr *f, uint32_t node, const fr_value *v, match_found *found)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value wanted;
    TS_TRY(fr_check_depth(f, node));
    f->node = node;
    switch (n->kind) {
    case TS_AST_MatchValue:
        TS_TRY(fr_expr(f, n->f[0], &wanted));
        return match_equal(f, v, &wanted, found);
    case TS_AST_MatchSingleton:
        TS_TRY(fr_object(f, n->f[0], &wanted));
        if (v->kind == FR_TILE && wanted.kind == FR_NUMBER && v->dtype == TS_DTYPE_bool_)
            return match_equal(f, v, &wanted, found);
        wanted = fr_bool(fr_same(f, v, &wanted));
        return match_join(f, TS_OPERATOR_And, &found->cond, &wanted);
    case TS_AST_MatchSequence:
        return match_sequence(f, n, v, found);
    case TS_AST_MatchAs:
        return match_as(f, n, v, found);
    case TS_AST_MatchOr:
        return match_or(f, node, n, v, found);
    case TS_AST_MatchClass:
        return match_class(f, node, n, v, found);
    default:
        return fr_expr(f, node, &wanted); /* says that the language lacks it */
    }
}

/* ---- cases --------------------------------------------------------------------------- */

static ts_status match_step(fr *f, const fr_block *block, fr_flow *flow, bool *done);

/* The case's condition with its guard, which sees the names that the pattern binds. */
static ts_status match_guard(fr *f, uint32_t guard, match_found *found)
{
    fr_value v;
    bool known, truth;
    ts_val cond;
    const fr_scope *scope = f->frame->scope;
    for (uint32_t i = 0; i < found->names.n && !match_failed(found); i++)
        f->frame->slots[fr_slot_of(scope, found->names.at[i]) - 1] = found->values.at[i];
    if (!guard || match_failed(found))
        return TS_OK;
    TS_TRY(fr_test(f, guard, &v));
    TS_TRY(fr_condition(f, guard, &v, &known, &truth, &cond));
    v = known ? fr_bool(truth) : fr_tile(TS_DTYPE_bool_, cond);
    return match_join(f, TS_OPERATOR_And, &found->cond, &v);
}

static ts_status match_case(fr *f, const match_cases *c, const fr_block *rest, fr_flow *flow)
{
    match_found found = {.cond = fr_bool(true)};
    *flow = FR_FALLS;
    if (!c->n)
        return rest ? fr_block_lower(f, rest, flow) : TS_OK;
    const ts_node *n = ts_pack_node(&f->pack, c->at[0]);
    match_cases others = {c->node, c->at + 1, c->n - 1, c->subject};
    fr_block arm[2] = {{0}, {.step = match_step, .user = &others}};
    arm[0].at = ts_pack_list(&f->pack, n->f[2], &arm[0].n);
    TS_TRY(match_pattern(f, n->f[0], c->subject, &found));
    TS_TRY(match_guard(f, n->f[1], &found));
    f->node = c->at[0];
    return fr_branch(f, c->node, &found.cond, arm, rest, flow);
}

static ts_status match_step(fr *f, const fr_block *block, fr_flow *flow, bool *done)
{
    *done = true;
    return match_case(f, block->user, block->next, flow);
}

ts_status fr_match_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    match_cases c = {.node = node};
    fr_value subject;
    TS_TRY(fr_expr(f, n->f[0], &subject));
    c.subject = &subject;
    c.at = ts_pack_list(&f->pack, n->f[1], &c.n);
    TS_TRY(match_case(f, &c, rest, flow));
    f->node = node;
    return TS_OK;
}
