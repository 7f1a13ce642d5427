/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions: one function for each kind of node, found by table. Part of the front end (lower.h).
 */
#include "lang/lower.h"

typedef ts_status expr_fn(fr *f, uint32_t node, const ts_node *n, fr_value *out);

/* ---- names --------------------------------------------------------------------------- */

static const char *expr_known_name(const void *user, uint32_t i)
{
    const fr *f = user;
    const fr_scope *s = f->frame->scope;
    if (i < s->n_slots)
        return fr_string(f, s->name_of[i]);
    uint32_t n;
    const uint32_t *free = ts_pack_list(&f->pack, f->pack.functions[f->frame->function].free, &n);
    i = (i - s->n_slots) * 2;
    return i < n ? fr_string(f, free[i]) : NULL;
}

static ts_status expr_undefined(fr *f, uint32_t node, const char *name)
{
    const char *near = ts__nearest(name, expr_known_name, f), *op = fr_op_called(f, name);
    if (!near && op)
        near = fr_textf(f, "ct.%s", op);
    return fr_error(f, node, TS_SYNTAX, "name '%s' is not defined%s", name,
                    fr_did_you_mean(f, near ? near : ts__nearest(name, fr_builtin_name, NULL)));
}

static ts_status expr_slot(fr *f, uint32_t node, const fr_value *v, const char *name, fr_value *out)
{
    *out = *v;
    if (v->kind == FR_UNBOUND)
        return fr_error(f, node, v->as.text ? TS_TILETYPE : TS_SYNTAX, "variable '%s' has no value here%s", name,
                        v->as.text ? v->as.text
                                   : "\n  help: it is assigned on another path, later, or only "
                                     "inside a loop; give it a value before");
    if (v->kind == FR_CONFLICT)
        return fr_error(f, node, TS_TILETYPE, "variable '%s' %s", name, v->as.text);
    return TS_OK;
}

ts_status fr_name(fr *f, uint32_t node, fr_value *out)
{
    uint32_t string = ts_pack_node(&f->pack, node)->f[0], n;
    const char *name = fr_string(f, string);
    for (const fr_frame *frame = f->frame; frame; frame = frame->lexical)
        if (fr_slot_of(frame->scope, string))
            return expr_slot(f, node, &frame->slots[fr_slot_of(frame->scope, string) - 1], name, out);
    const uint32_t *free = ts_pack_list(&f->pack, f->pack.functions[f->frame->function].free, &n);
    for (uint32_t i = 0; i < n; i += 2)
        if (free[i] == string)
            return fr_object(f, free[i + 1], out);
    return expr_undefined(f, node, name);
}

static ts_status expr_constant(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    (void)node;
    return fr_object(f, n->f[0], out);
}

/* ---- containers ---------------------------------------------------------------------- */

/* The items of a display, with starred ones spread. */
static ts_status expr_items(fr *f, uint32_t list, fr_value *out)
{
    TS_VEC(fr_value) items = {0};
    uint32_t n;
    const uint32_t *nodes = ts_pack_list(&f->pack, list, &n);
    for (uint32_t i = 0; i < n; i++) {
        const ts_node *node = ts_pack_node(&f->pack, nodes[i]);
        fr_value v;
        TS_TRY(fr_expr(f, node->kind == TS_AST_Starred ? node->f[0] : nodes[i], &v));
        bool spread = node->kind == TS_AST_Starred;
        if (spread && v.kind != FR_TUPLE && v.kind != FR_ITER)
            return fr_error(f, nodes[i], TS_TILETYPE, "only tuples can be spread with *, found %s",
                            fr_say(f, &v));
        for (uint32_t j = 0; j < (spread ? v.n : 1); j++)
            if (!TS_PUSH(f->arena, &items, spread ? v.as.items[j] : v))
                return fr_oom(f);
    }
    return fr_tuple(f, items.n, items.at, out);
}

static ts_status expr_tuple(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    (void)node;
    return expr_items(f, n->f[0], out);
}

/* Threads have no lists: what one is written for, nothing changes. */
static ts_status expr_list(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    if (f->dialect->level == TS_LEVEL_S) {
        TS_TRY(expr_items(f, n->f[0], out));
        out->cat = 1;
        return TS_OK;
    }
    return fr_error(f, node, TS_SYNTAX,
                    "lists are not part of the %s\n  help: use a tuple: (a, b)", f->dialect->language);
}

typedef TS_VEC(fr_value) expr_pairs; /* key, value, key, ... */

/* A key that stands twice has its last value and stands, as written, in its first place. */
static ts_status expr_pair(fr *f, uint32_t node, expr_pairs *pairs, const fr_value *key, const fr_value *value)
{
    uint32_t at;
    if (key->kind == FR_TILE || key->kind == FR_ARRAY || key->kind == FR_DICT)
        return fr_error(f, node, TS_TILETYPE, "the keys of a dict are known at compile time, found %s", fr_say(f, key));
    TS_TRY(fr_find_key(f, pairs->at, pairs->n / 2, key, &at));
    if (at < pairs->n / 2)
        pairs->at[2 * at + 1] = *value;
    else if (!TS_PUSH(f->arena, pairs, *key) || !TS_PUSH(f->arena, pairs, *value))
        return fr_oom(f);
    return TS_OK;
}

/* **dict */
static ts_status expr_merge(fr *f, uint32_t node, expr_pairs *pairs)
{
    fr_value dict;
    TS_TRY(fr_expr(f, node, &dict));
    if (dict.kind != FR_DICT)
        return fr_error(f, node, TS_TILETYPE, "** takes a dict, found %s", fr_say(f, &dict));
    for (uint32_t i = 0; i < dict.n; i++)
        TS_TRY(expr_pair(f, node, pairs, &dict.as.items[2 * i], &dict.as.items[2 * i + 1]));
    return TS_OK;
}

static ts_status expr_dict(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    uint32_t count;
    const uint32_t *keys = ts_pack_list(&f->pack, n->f[0], &count), *values = ts_pack_list(&f->pack, n->f[1], &count);
    expr_pairs pairs = {0};
    fr_value key, value;
    for (uint32_t i = 0; i < count; i++) {
        const ts_node *k = ts_pack_node(&f->pack, keys[i]);
        if (k->kind == TS_AST_Starred) {
            TS_TRY(expr_merge(f, k->f[0], &pairs));
            continue;
        }
        TS_TRY(fr_expr(f, keys[i], &key));
        TS_TRY(fr_expr(f, values[i], &value));
        TS_TRY(expr_pair(f, keys[i], &pairs, &key, &value));
    }
    fr_at(f, node);
    return fr_container(f, FR_DICT, pairs.n, pairs.at, out);
}

static ts_status expr_starred(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    (void)n;
    (void)out;
    return fr_error(f, node, TS_SYNTAX, "* is allowed in tuples and calls only");
}

static ts_status expr_slice_part(fr *f, uint32_t node, fr_value *out)
{
    fr_value room;
    const fr_value *value = out;
    *out = fr_none();
    if (!node)
        return TS_OK;
    TS_TRY(fr_expr(f, node, out));
    TS_TRY(fr_member_value(f, &value, &room));
    *out = *value;
    return TS_OK;
}

static ts_status expr_slice(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    (void)node;
    fr_value *parts = TS_NEW_N(f->arena, fr_value, 3);
    if (!parts)
        return fr_oom(f);
    for (uint32_t i = 0; i < 3; i++)
        TS_TRY(expr_slice_part(f, n->f[i], &parts[i]));
    return fr_container(f, FR_SLICE, 3, parts, out);
}

ts_status fr_iterable(fr *f, uint32_t node, fr_value *out)
{
    uint32_t outer = f->iterable;
    f->iterable = node;
    TS_TRY(fr_expr(f, node, out));
    f->iterable = outer;
    return TS_OK;
}

typedef TS_VEC(fr_value) expr_values;

static ts_status expr_generate(fr *f, const ts_node *n, const uint32_t *gens, uint32_t n_gens,
                               const fr_value *over, expr_values *items);

/* The element, or the next `for` of the comprehension. */
static ts_status expr_generate_next(fr *f, const ts_node *n, const uint32_t *gens, uint32_t n_gens,
                                    expr_values *items)
{
    fr_value v;
    if (n_gens) {
        TS_TRY(fr_iterable(f, ts_pack_node(&f->pack, gens[0])->f[1], &v));
        return expr_generate(f, n, gens, n_gens, &v, items);
    }
    TS_TRY(fr_expr(f, n->f[0], &v));
    return TS_PUSH(f->arena, items, v) ? TS_OK : fr_oom(f);
}

/* tuple(expr for x in ct.static_iter(...) if ...): unrolled here into an iterator of its values. Where `for` runs over
 * whatever has items, so does this. */
static ts_status expr_generate(fr *f, const ts_node *n, const uint32_t *gens, uint32_t n_gens,
                               const fr_value *over, expr_values *items)
{
    bool known, truth;
    ts_val cond;
    fr_value known_items;
    const ts_node *gen = ts_pack_node(&f->pack, gens[0]);
    if (f->dialect->iterates_arrays) {
        fr_at(f, gen->f[1]);
        TS_TRY(fr_items(f, over, "a comprehension", &known_items));
        over = &known_items;
    } else if (over->kind != FR_ITER)
        return fr_error(f, gen->f[1], TS_SYNTAX,
                        "a comprehension runs over ct.static_iter(...), found %s", fr_say(f, over));
    for (uint32_t i = 0; i < over->n; i++) {
        TS_TRY(fr_assign(f, gen->f[0], &over->as.items[i]));
        uint32_t n_ifs;
        const uint32_t *ifs = ts_pack_list(&f->pack, gen->f[2], &n_ifs);
        truth = true;
        for (uint32_t j = 0; j < n_ifs && truth; j++) {
            fr_value test;
            TS_TRY(fr_test(f, ifs[j], &test));
            TS_TRY(fr_condition(f, ifs[j], &test, &known, &truth, &cond));
            if (!known)
                return fr_error(f, ifs[j], TS_TILETYPE,
                                "the condition of a comprehension must be known at compile time");
        }
        if (truth)
            TS_TRY(expr_generate_next(f, n, gens + 1, n_gens - 1, items));
    }
    return TS_OK;
}

static ts_status expr_bind_generator(fr *f, fr_scope *scope, const uint32_t *gens, uint32_t n_gens)
{
    for (uint32_t i = 0; i < n_gens; i++)
        TS_TRY(fr_scope_bind_target(f, scope, ts_pack_node(&f->pack, gens[i])->f[0]));
    scope->loads = ts__arena_get(f->arena, sizeof *scope->loads * (scope->n_slots + 1));
    scope->captured = TS_NEW_N(f->arena, bool, scope->n_slots + 1);
    return scope->loads && scope->captured ? TS_OK : fr_oom(f);
}

/* As in Python: the names of the targets have a scope of their own, and what the first `for` runs over is
 * evaluated outside of it. */
static ts_status expr_generator(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    expr_values items = {0};
    fr_value over;
    uint32_t n_gens;
    const uint32_t *gens = ts_pack_list(&f->pack, n->f[1], &n_gens);
    fr_scope *scope;
    fr_frame *outer = f->frame, *inner, like = *outer;
    if (!n_gens)
        return fr_error(f, node, TS_SYNTAX, "a comprehension without a 'for'");
    like.lexical = outer;
    like.loop = NULL;
    TS_TRY(fr_iterable(f, ts_pack_node(&f->pack, gens[0])->f[1], &over));
    TS_TRY(fr_scope_new(f, node, &scope));
    TS_TRY(expr_bind_generator(f, scope, gens, n_gens));
    TS_TRY(fr_frame_open(f, &like, scope, &inner));
    f->frame = inner;
    TS_TRY(expr_generate(f, n, gens, n_gens, &over, &items));
    f->frame = outer;
    return fr_container(f, FR_ITER, items.n, items.at, out);
}

/* ---- operators ----------------------------------------------------------------------- */

static ts_status expr_unary(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    fr_value x;
    TS_TRY(n->f[0] == TS_OPERATOR_Not ? fr_test(f, n->f[1], &x) : fr_expr(f, n->f[1], &x));
    fr_at(f, node);
    return fr_unary(f, (ts_operator)n->f[0], &x, out);
}

static ts_status expr_binary(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    fr_value x, y;
    TS_TRY(fr_expr(f, n->f[0], &x));
    TS_TRY(fr_expr(f, n->f[2], &y));
    fr_at(f, node);
    return fr_binary(f, (ts_operator)n->f[1], &x, &y, (fr_options){0}, out);
}

/* a < b < c: scalars may be chained. */
static ts_status expr_compare(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    uint32_t count, n_ops;
    const uint32_t *ops = ts_pack_list(&f->pack, n->f[1], &n_ops),
                   *sides = ts_pack_list(&f->pack, n->f[2], &count);
    fr_value left, right, step;
    TS_TRY(fr_expr(f, n->f[0], &left));
    *out = fr_bool(true);
    for (uint32_t i = 0; i < n_ops; i++, left = right) {
        bool truth, found;
        TS_TRY(fr_expr(f, sides[i], &right));
        fr_at(f, node);
        TS_TRY(fr_compare(f, (ts_operator)ops[i], &left, &right, &step));
        if (n_ops == 1) { /* an operator of a class may give anything */
            *out = step;
            return TS_OK;
        }
        TS_TRY(fr_record_truth(f, &step, &step, &found));
        if (fr_truth(&step, &truth)) {
            if (!truth) {
                *out = step;
                return TS_OK;
            }
        } else if (out->kind == FR_TILE) {
            if (fr_shape_of(f, out).rank || fr_shape_of(f, &step).rank)
                return fr_error(
                    f, node, TS_TILETYPE,
                    "comparisons of tiles do not chain\n  help: write (a < b) & (b < c)");
            TS_TRY(fr_binary(f, TS_OPERATOR_BitAnd, out, &step, (fr_options){0}, out));
        } else {
            *out = step;
        }
    }
    return TS_OK;
}

/* ---- the rest ------------------------------------------------------------------------ */

static ts_status expr_lambda(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    uint32_t n_args;
    const uint32_t *args =
        ts_pack_list(&f->pack, n->f[n->kind == TS_AST_FunctionDef ? 1 : 0], &n_args);
    fr_function *fn = TS_NEW(f->arena, fr_function);
    if (!fn || !(fn->defaults = TS_NEW_N(f->arena, fr_value, n_args ? n_args : 1)))
        return fr_oom(f);
    for (uint32_t i = 0; i < n_args; i++) {
        uint32_t given = ts_pack_node(&f->pack, args[i])->f[2];
        if (given)
            TS_TRY(fr_expr(f, given, &fn->defaults[i]));
    }
    fn->function = f->frame->function;
    fn->n_defaults = n_args;
    fn->root = node;
    fn->lexical = f->frame;
    fn->name = n->kind == TS_AST_FunctionDef ? fr_string(f, n->f[0]) : "<lambda>";
    *out = (fr_value){.kind = FR_FUNC, .as.function = fn};
    return TS_OK;
}

/* (name := value) */
static ts_status expr_named(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    if (ts_pack_node(&f->pack, f->frame->scope->root)->kind == TS_AST_GeneratorExp)
        return fr_error(f, node, TS_SYNTAX, "an assignment expression (:=) in a comprehension is not part of the tile "
                        "language\n  help: use a loop over ct.static_iter(...)");
    TS_TRY(fr_expr(f, n->f[1], out));
    return fr_assign(f, n->f[0], out);
}

static ts_status expr_unsupported(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    const char *what = fr_string(f, n->f[0]);
    (void)out;
    return fr_error(f, node, TS_SYNTAX, "'%s' is not part of the %s%s", what, f->dialect->language,
                    fr_hint(f, FR_HINT_SYNTAX, what));
}

static ts_status expr_yield(fr *f, uint32_t node, const ts_node *n, fr_value *out)
{
    (void)n;
    (void)out;
    return fr_error(f, node, TS_SYNTAX, "a 'yield' is a statement of its own, in a context manager\n"
                    "  help: the value that it gives in Python is None");
}

/* Some kinds are lowered by other files, which look at the node themselves. */
static const struct {
    expr_fn *here;
    ts_status (*there)(fr *f, uint32_t node, fr_value *out);
} expr_table[TS_AST_COUNT] = {
    [TS_AST_Name] = {.there = fr_name},
    [TS_AST_Constant] = {expr_constant},
    [TS_AST_Tuple] = {expr_tuple},
    [TS_AST_List] = {expr_list},
    [TS_AST_Dict] = {expr_dict},
    [TS_AST_Attribute] = {.there = fr_attribute},
    [TS_AST_Subscript] = {.there = fr_subscript},
    [TS_AST_Slice] = {expr_slice},
    [TS_AST_Call] = {.there = fr_call_node},
    [TS_AST_Starred] = {expr_starred},
    [TS_AST_UnaryOp] = {expr_unary},
    [TS_AST_BinOp] = {expr_binary},
    [TS_AST_BoolOp] = {.there = fr_bool_op},
    [TS_AST_Compare] = {expr_compare},
    [TS_AST_IfExp] = {.there = fr_if_expr},
    [TS_AST_Lambda] = {expr_lambda},
    [TS_AST_FunctionDef] = {expr_lambda},
    [TS_AST_JoinedStr] = {.there = fr_fstring},
    [TS_AST_GeneratorExp] = {expr_generator},
    [TS_AST_NamedExpr] = {expr_named},
    [TS_AST_Yield] = {expr_yield},
    [TS_AST_Host] = {.there = fr_host},
    [TS_AST_Unsupported] = {expr_unsupported},
};

enum { EXPR_MAX_STACK = 3 << 20 };

/* Functions are inlined: recursion has to end while the kernel is compiled. Between two calls of one function there is
 * a branch of run time, or nothing ever ends it. */
static ts_status expr_too_deep(fr *f, uint32_t node)
{
    const fr_frame *last = f->frame, *before = last ? last->caller : NULL;
    uint32_t deep = 1;
    while (before && before->scope->root != last->scope->root)
        before = before->caller;
    if (!before)
        return fr_error(f, node, TS_RECURSION,
                        "helper functions call each other too deeply\n  help: recursion must end at compile time");
    const char *loop = f->dialect->level == TS_LEVEL_S ? ", with an array of cuda.local.array as its stack" : "";
    for (const fr_frame *frame = before; frame; frame = frame->caller)
        deep += frame->scope->root == last->scope->root;
    if (before->regions == last->regions)
        return fr_error(f, node, TS_RECURSION,
                        "cannot type infer runaway recursion: '%s' calls itself on every path, or more than %u times\n"
                        "  help: recursion must end at compile time, and functions are inlined; return before the call "
                        "where it is done, or write a loop%s", last->name, deep, loop);
    return fr_error(f, node, TS_RECURSION,
                    "'%s' calls itself, and only the running kernel knows when that ends: functions are inlined\n"
                    "  help: recursion must end at compile time; write a loop%s", last->name, loop);
}

ts_status fr_check_depth(fr *f, uint32_t node)
{
    char here;
    size_t used = (size_t)(f->stack > &here ? f->stack - &here : &here - f->stack);
    if (used > EXPR_MAX_STACK)
        return expr_too_deep(f, node);
    bool is_large = f->arena->bytes >> 20 > FR_MAX_MEBIBYTES;
    if (++f->steps > FR_MAX_STEPS || is_large)
        return fr_error(f, node, TS_RECURSION,
                        "the kernel takes more than %d %s to compile\n  help: loop over range(...) instead of "
                        "unrolling with ct.static_iter or recursion; write a function with many returns that calls "
                        "itself with fewer", is_large ? FR_MAX_MEBIBYTES : FR_MAX_STEPS, is_large ? "MiB" : "steps");
    return TS_OK;
}

ts_status fr_expr(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    uint32_t outer = f->node;
    *out = fr_none();
    TS_TRY(fr_check_depth(f, node));
    if (!expr_table[n->kind].here && !expr_table[n->kind].there)
        return fr_error(f, node, TS_SYNTAX, "'%s' is not an expression of the %s", ts__ast_name(n->kind),
                        f->dialect->language);
    ts_loc loc = fr_at(f, node);
    ts_status status = expr_table[n->kind].here ? expr_table[n->kind].here(f, node, n, out)
                                                : expr_table[n->kind].there(f, node, out);
    f->b.loc = loc;
    if (status == TS_OK)
        f->node = outer;
    return status;
}

ts_status fr_test(fr *f, uint32_t node, fr_value *out)
{
    f->test = node;
    return fr_expr(f, node, out);
}
