/* SPDX-License-Identifier: Apache-2.0
 *
 * Statements. A block is lowered one statement after the other until one leaves; an `if` that may
 * return early takes the statements after it into its branches (control.c). Part of the front end.
 */
#include "lang/lower.h"

typedef ts_status stmt_fn(fr *f, uint32_t node, const ts_node *n, fr_flow *flow);

/* ---- assignment ---------------------------------------------------------------------- */

static ts_status stmt_unpack(fr *f, uint32_t target, const fr_value *value)
{
    uint32_t n, star = UINT32_MAX;
    const uint32_t *items = ts_pack_list(&f->pack, ts_pack_node(&f->pack, target)->f[0], &n);
    for (uint32_t i = 0; i < n; i++)
        if (ts_pack_node(&f->pack, items[i])->kind == TS_AST_Starred)
            star = star == UINT32_MAX ? i : UINT32_MAX - 1;
    if (value->kind != FR_TUPLE)
        return fr_error(f, target, TS_TILETYPE, "cannot unpack %s into %u names\n  help: only tuples unpack%s",
                        fr_say(f, value), n, f->dialect->level == TS_LEVEL_S ? "; cuda.grid(2) gives two numbers" : "");
    if (star == UINT32_MAX - 1 || (star == UINT32_MAX ? n != value->n : n - 1 > value->n))
        return fr_error(f, target, TS_TILEVALUE, "cannot unpack a tuple of %u items into %u names\n  help: "
                        "give each item a name, or gather the others with *rest", value->n, n);
    for (uint32_t i = 0, at = 0; i < n; i++) {
        fr_value v = {.kind = FR_NONE};
        uint32_t take = i == star ? value->n - (n - 1) : 1, item = items[i];
        if (i == star) {
            TS_TRY(fr_tuple(f, take, value->as.items + at, &v));
            item = ts_pack_node(&f->pack, item)->f[0];
        } else {
            v = value->as.items[at];
        }
        TS_TRY(fr_assign(f, item, &v));
        at += take;
    }
    return TS_OK;
}

/* record[index] = value calls its __setitem__. */
static ts_status stmt_set_item(fr *f, uint32_t target, const ts_node *t, const fr_value *value)
{
    fr_value v, method, ignored, args[2] = {{.kind = FR_NONE}, *value};
    bool found;
    TS_TRY(fr_expr(f, t->f[0], &v));
    TS_TRY(fr_record_method(f, &v, "__setitem__", &method, &found));
    TS_TRY(fr_expr(f, t->f[1], &args[0]));
    fr_at(f, target);
    if (!found)
        return f->dialect->set_item(f, target, &v, &args[0], value);
    return fr_call_value(f, &method, target, 2, args, &ignored);
}

/* array.name = value, in languages where arrays have fields. */
static ts_status stmt_set_attribute(fr *f, uint32_t target, const ts_node *t, const fr_value *value)
{
    fr_value v;
    TS_TRY(fr_expr(f, t->f[0], &v));
    fr_at(f, target);
    if (v.kind == FR_ARRAY)
        return f->dialect->set_attribute(f, target, &v, fr_string(f, t->f[1]), value);
    return fr_error(f, target, TS_TILETYPE, "attributes of %s cannot be assigned\n  help: only fields of records in "
                    "arrays can be", fr_say(f, &v));
}

ts_status fr_assign(fr *f, uint32_t target, const fr_value *value)
{
    const ts_node *t = ts_pack_node(&f->pack, target);
    switch (t->kind) {
    case TS_AST_Name:
        if (!fr_slot_of(f->frame->scope, t->f[0]))
            return fr_error(f, target, TS_SYNTAX, "'%s' cannot be assigned here",
                            fr_string(f, t->f[0]));
        f->frame->slots[fr_slot_of(f->frame->scope, t->f[0]) - 1] = *value;
        return TS_OK;
    case TS_AST_Tuple:
    case TS_AST_List:
        return stmt_unpack(f, target, value);
    case TS_AST_Subscript:
        return stmt_set_item(f, target, t, value);
    case TS_AST_Attribute:
        if (f->dialect->set_attribute)
            return stmt_set_attribute(f, target, t, value);
        /* fall through */
    default:
        return fr_error(f, target, TS_SYNTAX,
                        "this cannot be assigned to\n  help: assign to a name or a tuple of names");
    }
}

static ts_status stmt_assign(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    uint32_t count;
    const uint32_t *targets = ts_pack_list(&f->pack, n->f[0], &count);
    fr_value v;
    (void)node;
    (void)flow;
    TS_TRY(fr_expr(f, n->f[1], &v));
    for (uint32_t i = 0; i < count; i++)
        TS_TRY(fr_assign(f, targets[i], &v));
    return TS_OK;
}

static ts_status stmt_ann_assign(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    fr_value v;
    (void)node;
    (void)flow;
    if (!n->f[1])
        return TS_OK;
    TS_TRY(fr_expr(f, n->f[1], &v));
    return fr_assign(f, n->f[0], &v);
}

/* array[index] op= value: array and index are evaluated once. */
static ts_status stmt_aug_item(fr *f, uint32_t node, const ts_node *n, const ts_node *target)
{
    fr_value of, index, x, y, z;
    TS_TRY(fr_expr(f, target->f[0], &of));
    if (of.kind != FR_ARRAY)
        return fr_assign(f, n->f[0], &(fr_value){.kind = FR_NONE});
    TS_TRY(fr_expr(f, target->f[1], &index));
    fr_at(f, n->f[0]);
    TS_TRY(fr_item(f, n->f[0], &of, &index, &x));
    TS_TRY(fr_expr(f, n->f[2], &y));
    fr_at(f, node);
    TS_TRY(fr_binary(f, (ts_operator)n->f[1], &x, &y, (fr_options){0}, &z));
    return f->dialect->set_item(f, n->f[0], &of, &index, &z);
}

/* array.name op= value */
static ts_status stmt_aug_attribute(fr *f, uint32_t node, const ts_node *n, const ts_node *target)
{
    fr_value of, x, y, z;
    const char *name = fr_string(f, target->f[1]);
    TS_TRY(fr_expr(f, target->f[0], &of));
    if (of.kind != FR_ARRAY)
        return fr_assign(f, n->f[0], &(fr_value){.kind = FR_NONE});
    fr_at(f, n->f[0]);
    TS_TRY(fr_attribute_of(f, n->f[0], &of, name, &x));
    TS_TRY(fr_expr(f, n->f[2], &y));
    fr_at(f, node);
    TS_TRY(fr_binary(f, (ts_operator)n->f[1], &x, &y, (fr_options){0}, &z));
    return f->dialect->set_attribute(f, n->f[0], &of, name, &z);
}

static ts_status stmt_aug_assign(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    fr_value x, y, z;
    const ts_node *target = ts_pack_node(&f->pack, n->f[0]);
    (void)flow;
    if (target->kind == TS_AST_Subscript && f->dialect->level == TS_LEVEL_S)
        return stmt_aug_item(f, node, n, target);
    if (target->kind == TS_AST_Attribute && f->dialect->set_attribute)
        return stmt_aug_attribute(f, node, n, target);
    if (target->kind != TS_AST_Name)
        return fr_assign(f, n->f[0], &(fr_value){.kind = FR_NONE});
    TS_TRY(fr_expr(f, n->f[0], &x));
    TS_TRY(fr_expr(f, n->f[2], &y));
    fr_at(f, node);
    TS_TRY(fr_binary(f, (ts_operator)n->f[1], &x, &y, (fr_options){0}, &z));
    return fr_assign(f, n->f[0], &z);
}

/* ---- small ones ---------------------------------------------------------------------- */

static ts_status stmt_expr(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    fr_value v;
    (void)node;
    (void)flow;
    f->discarded = n->f[0];
    return fr_expr(f, n->f[0], &v);
}

static ts_status stmt_pass(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    (void)f;
    (void)node;
    (void)n;
    (void)flow;
    return TS_OK;
}

static ts_status stmt_return(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    fr_value v = fr_none();
    if (n->f[0])
        TS_TRY(fr_expr(f, n->f[0], &v));
    if (f->frame->is_kernel && v.kind != FR_NONE)
        return fr_error(
            f, node, TS_TILETYPE,
            "a kernel returns nothing, found %s\n  help: store results into an array argument",
            fr_say(f, &v));
    return fr_return(f, node, &v, flow);
}

static ts_status stmt_jump(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    return fr_jump(f, node, n->kind == TS_AST_Break, flow);
}

static ts_status stmt_def(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    uint32_t n_decorators;
    fr_value v;
    (void)flow;
    const uint32_t *decorators = ts_pack_list(&f->pack, n->f[3], &n_decorators);
    if (n_decorators)
        return fr_error(f, decorators[0], TS_SYNTAX,
                        "decorators on nested functions are not part of the %s", f->dialect->language);
    TS_TRY(fr_expr(f, node, &v));
    f->frame->slots[fr_slot_of(f->frame->scope, n->f[0]) - 1] = v;
    return TS_OK;
}

static ts_status stmt_unsupported(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    fr_value v;
    (void)n;
    (void)flow;
    return fr_expr(f, node, &v);
}

/* Prints the message of an assertion that failed. */
static ts_status stmt_tell(fr *f, const fr_block *block, fr_flow *flow, bool *done)
{
    fr_value ignored;
    *flow = FR_FALLS;
    *done = false;
    return fr_call_op(f, f->node, "print", 1, block->user, &ignored);
}

/* A message with values of run time: it is printed where the assertion fails, and stands in the error with dots for
 * what the kernel computes. */
static ts_status stmt_assert_text(fr *f, uint32_t node, ts_val cond, fr_value *message)
{
    fr_value holds = fr_tile(TS_DTYPE_bool_, cond), told = *message;
    fr_block arm[2] = {{0}, {.step = stmt_tell, .user = &told}};
    fr_flow flow;
    const char *text = "";
    for (uint32_t i = 0; i < told.n; i++) {
        const fr_value *part = &told.as.items[2 * i];
        text = fr_textf(f, "%s%s", text, part->kind == FR_STR ? part->as.text : "...");
    }
    *message = fr_text(text);
    return fr_branch(f, node, &holds, arm, NULL, &flow);
}

/* An assertion that is known to fail is an error, but where a branch or loop of run time may not reach it. */
static ts_status stmt_assert(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    fr_value args[2] = {{.kind = FR_NONE}, {.kind = FR_NONE}}, ignored;
    bool known, truth;
    ts_val cond;
    (void)flow;
    if (f->dialect->assertion)
        return f->dialect->assertion(f, node);
    TS_TRY(fr_test(f, n->f[0], &args[0]));
    TS_TRY(fr_condition(f, n->f[0], &args[0], &known, &truth, &cond));
    if (known && truth)
        return TS_OK;
    if (n->f[1])
        TS_TRY(fr_expr(f, n->f[1], &args[1]));
    if (n->f[1] && args[1].kind != FR_FSTRING)
        TS_TRY(fr_text_of(f, &args[1], false, &args[1]));
    cond = known ? ts_int(&f->b, TS_T_i1, 0) : cond;
    if (args[1].kind == FR_FSTRING)
        TS_TRY(stmt_assert_text(f, node, cond, &args[1]));
    fr_at(f, node);
    args[0] = known ? fr_bool(false) : fr_tile(TS_DTYPE_bool_, cond);
    return fr_call_op(f, node, known && !f->regions ? "static_assert" : "assert_", 2, args, &ignored);
}

static ts_status stmt_raise(fr *f, uint32_t node, const ts_node *n, fr_flow *flow)
{
    (void)n;
    if (!f->dialect->raise)
        return fr_error(f, node, TS_SYNTAX, "'raise' is not part of the %s", f->dialect->language);
    return f->dialect->raise(f, node, flow);
}

static stmt_fn *const stmt_table[TS_AST_COUNT] = {
    [TS_AST_Expr] = stmt_expr,
    [TS_AST_Assign] = stmt_assign,
    [TS_AST_AugAssign] = stmt_aug_assign,
    [TS_AST_AnnAssign] = stmt_ann_assign,
    [TS_AST_Assert] = stmt_assert,
    [TS_AST_Raise] = stmt_raise,
    [TS_AST_Return] = stmt_return,
    [TS_AST_Break] = stmt_jump,
    [TS_AST_Continue] = stmt_jump,
    [TS_AST_Pass] = stmt_pass,
    [TS_AST_FunctionDef] = stmt_def,
    [TS_AST_Unsupported] = stmt_unsupported,
};

/* ---- blocks -------------------------------------------------------------------------- */

/* Statements that lower what follows them, too. In a loop's body that is up to its end. */
static ts_status stmt_with_rest(fr *f, uint32_t node, const ts_node *n, const fr_block *rest, fr_flow *flow, bool *done)
{
    *done = n->kind != TS_AST_Match || (fr_contains(f, &node, 1, TS_AST_Return) && !f->frame->loop);
    return n->kind == TS_AST_With   ? fr_with_stmt(f, node, rest, flow)
           : n->kind == TS_AST_Match ? fr_match_stmt(f, node, *done ? rest : NULL, flow)
                                     : fr_yield_stmt(f, node, rest, flow);
}

static ts_status stmt_else(fr *f, const fr_block *block, fr_flow *flow, bool *done)
{
    return fr_loop_else(f, *(const uint32_t *)block->user, block->next, flow, done);
}

static ts_status stmt_loop(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done)
{
    fr_block other = {.next = rest, .step = stmt_else, .user = &node};
    TS_TRY(fr_loop_stmt(f, node, flow));
    if (*flow != FR_FALLS)
        return TS_OK;
    TS_TRY(fr_after_loop(f, node, &other, flow, done));
    return *flow == FR_FALLS && !*done ? stmt_else(f, &other, flow, done) : TS_OK;
}

static ts_status stmt_lower(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    *flow = FR_FALLS;
    fr_at(f, node);
    if (n->kind == TS_AST_If) {
        bool early = fr_contains(f, &node, 1, TS_AST_Return) && !f->frame->loop;
        *done = early;
        return fr_if_stmt(f, node, early ? rest : NULL, flow);
    }
    if (n->kind == TS_AST_With || n->kind == TS_AST_Match ||
        (n->kind == TS_AST_Expr && ts_pack_node(&f->pack, n->f[0])->kind == TS_AST_Yield))
        return stmt_with_rest(f, node, n, rest, flow, done);
    if (n->kind == TS_AST_For || n->kind == TS_AST_While)
        return stmt_loop(f, node, rest, flow, done);
    if (!stmt_table[n->kind])
        return fr_error(f, node, TS_SYNTAX, "'%s' is not a statement of the %s", ts__ast_name(n->kind),
                        f->dialect->language);
    TS_TRY(stmt_table[n->kind](f, node, n, flow));
    return TS_OK;
}

/* A statement that needs the result of a recursion whose type is not known yet ends its path. */
static ts_status stmt_or_end(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done)
{
    fr_point start = fr_here(f);
    ts_status status = stmt_lower(f, node, rest, flow, done);
    if (!f->stopped || !fr_stopped(f, status, &start))
        return status;
    ts_term(&f->b, TS_OP_return, 0, NULL);
    *flow = FR_ENDS;
    return TS_OK;
}

ts_status fr_block_lower(fr *f, const fr_block *block, fr_flow *flow)
{
    *flow = FR_FALLS;
    for (; block; block = block->next) {
        bool over = false;
        if (block->step)
            TS_TRY(block->step(f, block, flow, &over));
        if (*flow != FR_FALLS || over)
            return TS_OK;
        for (uint32_t i = 0; i < block->n; i++) {
            fr_block rest = {.at = block->at + i + 1, .n = block->n - i - 1, .next = block->next};
            bool done = false;
            TS_TRY(stmt_or_end(f, block->at[i], &rest, flow, &done));
            if (*flow != FR_FALLS || done)
                return TS_OK;
        }
    }
    return TS_OK;
}
