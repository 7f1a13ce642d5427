/* SPDX-License-Identifier: Apache-2.0 */

/* clang-format off */
/*
 * Calls: arguments are evaluated and spread, bound to the parameters of a function (inlined here) or of an operation (a
 * row of tile_op.def, whose signature is read from the row). Part of the front end.
 *
 * Signature of an operation, names in order:
 *     name?       may be left out
 *     name...     takes the rest
 *     /           ends the positional-only ones
 *     *           begins the keyword-only ones
 */
/* clang-format on */
#include "lang/lower.h"
#include "lang/tile/op.h"

uint32_t fr_op_find(const fr *f, const char *name)
{
    uint32_t i = 0;
    while (i < f->dialect->n_ops && strcmp(f->dialect->ops[i].name, name) != 0)
        i++;
    return i;
}

/* ---- evaluating arguments ------------------------------------------------------------ */

static ts_status call_push(fr *f, fr_arguments *args, const char *name, uint32_t node,
                           const fr_value *v)
{
    return TS_PUSH(f->arena, &args->at, ((fr_argument){name, node, *v})) ? TS_OK : fr_oom(f);
}

static ts_status call_positional(fr *f, fr_arguments *args, uint32_t node)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value v;
    if (n->kind != TS_AST_Starred) {
        TS_TRY(fr_expr(f, node, &v));
        return call_push(f, args, NULL, node, &v);
    }
    TS_TRY(fr_expr(f, n->f[0], &v));
    if (v.kind != FR_TUPLE && v.kind != FR_ITER)
        return fr_error(f, node, TS_TILETYPE, "only tuples can be spread with *, found %s",
                        fr_say(f, &v));
    for (uint32_t i = 0; i < v.n; i++)
        TS_TRY(call_push(f, args, NULL, node, &v.as.items[i]));
    return TS_OK;
}

static ts_status call_keyword(fr *f, fr_arguments *args, uint32_t node)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value v;
    TS_TRY(fr_expr(f, n->f[1], &v));
    if (n->f[0])
        return call_push(f, args, fr_string(f, n->f[0]), n->f[1], &v);
    if (v.kind != FR_DICT)
        return fr_error(f, node, TS_TILETYPE, "only dicts can be spread with **, found %s",
                        fr_say(f, &v));
    for (uint32_t i = 0; i < v.n; i++) {
        if (v.as.items[2 * i].kind != FR_STR)
            return fr_error(f, node, TS_TILETYPE, "keys spread with ** must be strings");
        TS_TRY(call_push(f, args, v.as.items[2 * i].as.text, node, &v.as.items[2 * i + 1]));
    }
    return TS_OK;
}

static ts_status call_evaluate(fr *f, const ts_node *call, const fr_value *self, fr_arguments *args)
{
    uint32_t n;
    const uint32_t *nodes = ts_pack_list(&f->pack, call->f[1], &n);
    if (self)
        TS_TRY(call_push(f, args, NULL, call->f[0], self));
    args->n_self = self != NULL;
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(call_positional(f, args, nodes[i]));
    args->n_positional = args->at.n;
    nodes = ts_pack_list(&f->pack, call->f[2], &n);
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(call_keyword(f, args, nodes[i]));
    return TS_OK;
}

/* ---- operations ---------------------------------------------------------------------- */

typedef struct call_param {
    const char *name;
    uint32_t length;
    bool optional, positional_only, keyword_only, rest;
} call_param;

static uint32_t call_signature(const char *text, call_param *params)
{
    uint32_t n = 0;
    bool keyword = false;
    while (*text) {
        uint32_t length = (uint32_t)strcspn(text, " ");
        if (text[0] == '/') {
            for (uint32_t i = 0; i < n; i++)
                params[i].positional_only = true;
        } else if (text[0] == '*') {
            keyword = true;
        } else {
            call_param p = {
                .name = text, .length = (uint32_t)strcspn(text, " ?."), .keyword_only = keyword};
            p.optional = text[length - 1] == '?';
            p.rest = text[length - 1] == '.';
            ts_assert(n < FR_MAX_ARGS);
            params[n++] = p;
        }
        text += length + (text[length] == ' ');
    }
    return n;
}

const char *fr_arg_name(fr *f, const fr_call *c, uint32_t i)
{
    call_param params[FR_MAX_ARGS] = {0};
    call_signature(c->op->signature, params);
    return fr_textf(f, "%.*s", (int)params[i].length, params[i].name);
}

typedef struct call_names {
    const char *name[FR_MAX_ARGS + 1];
} call_names;

static const char *call_param_name(const void *user, uint32_t i)
{
    return ((const call_names *)user)->name[i];
}

/* A help line with the arguments that may be written. */
static const char *call_takes(fr *f, const fr_call *c, uint32_t n_self)
{
    call_param params[FR_MAX_ARGS] = {0};
    uint32_t n = call_signature(c->op->signature, params);
    const char *text = n > n_self ? "\n  help: it takes " : "\n  help: it takes no arguments";
    for (uint32_t i = n_self; i < n; i++)
        text = fr_textf(f, "%s%s%s%.*s%s", text, i > n_self ? ", " : "", params[i].rest ? "*" : "",
                        (int)params[i].length, params[i].name, params[i].optional ? "=" : "");
    return text;
}

static ts_status call_unknown_keyword(fr *f, const fr_call *c, const fr_argument *arg, uint32_t n, uint32_t n_self)
{
    call_names names = {{NULL}};
    for (uint32_t i = 0; i < n; i++)
        names.name[i] = fr_arg_name(f, c, i);
    const char *near = ts__nearest(arg->name, call_param_name, &names);
    return fr_error(f, arg->node, TS_TILETYPE, "%s() has no argument named '%s'%s", fr_op_name(c),
                    arg->name, near ? fr_did_you_mean(f, near) : call_takes(f, c, n_self));
}

static ts_status call_bind_keyword(fr *f, fr_call *c, const fr_argument *arg, const call_param *params,
                                   uint32_t n, uint32_t n_self)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strlen(arg->name) != params[i].length ||
            memcmp(arg->name, params[i].name, params[i].length) != 0 || params[i].rest)
            continue;
        if (params[i].positional_only)
            return fr_error(f, arg->node, TS_TILETYPE, "%s() takes '%s' by position only",
                            fr_op_name(c), arg->name);
        if (c->arg[i].kind != FR_UNBOUND)
            return fr_error(f, arg->node, TS_TILETYPE, "%s() got '%s' twice", fr_op_name(c),
                            arg->name);
        c->arg[i] = arg->value;
        c->at[i] = arg->node;
        return TS_OK;
    }
    return call_unknown_keyword(f, c, arg, n, n_self);
}

static ts_status call_bind_op(fr *f, fr_call *c, const fr_arguments *args)
{
    call_param params[FR_MAX_ARGS] = {0};
    uint32_t n = call_signature(c->op->signature, params), most = 0;
    fr_value *rest = TS_NEW_N(f->arena, fr_value, args->n_positional + 1);
    if (!rest)
        return fr_oom(f);
    c->rest = rest;
    while (most < n && !params[most].keyword_only && !params[most].rest)
        most++;
    for (uint32_t i = 0; i < args->n_positional; i++) {
        if (i < most) {
            c->arg[i] = args->at.at[i].value;
            c->at[i] = args->at.at[i].node;
        } else if (most < n && params[most].rest) {
            rest[c->n_rest++] = args->at.at[i].value;
        } else {
            return fr_error(f, args->at.at[i].node, TS_TILETYPE,
                            "%s() takes at most %u positional argument%s, got %u%s", fr_op_name(c),
                            most - args->n_self, most - args->n_self == 1 ? "" : "s",
                            args->n_positional - args->n_self,
                            most < n ? "\n  help: pass the others by name" : call_takes(f, c, args->n_self));
        }
    }
    for (uint32_t i = args->n_positional; i < args->at.n; i++)
        TS_TRY(call_bind_keyword(f, c, &args->at.at[i], params, n, args->n_self));
    for (uint32_t i = 0; i < n; i++)
        if (c->arg[i].kind == FR_UNBOUND && !params[i].optional && !params[i].rest)
            return fr_error(f, c->node, TS_TILETYPE, "%s() misses its argument '%.*s'%s", fr_op_name(c),
                            (int)params[i].length, params[i].name, call_takes(f, c, args->n_self));
    for (uint32_t i = 0; i < n; i++)
        if (!c->at[i])
            c->at[i] = c->node;
    return TS_OK;
}

/* Does a local variable of this function or one around it have the name? */
static bool call_is_local(const fr *f, uint32_t callee)
{
    const ts_node *n = ts_pack_node(&f->pack, callee);
    bool local = false;
    for (const fr_frame *frame = f->frame; frame && n->kind == TS_AST_Name; frame = frame->lexical)
        local |= fr_slot_of(frame->scope, n->f[0]) != 0;
    return local;
}

/* static_eval and its like change what their argument means, so they have no other name and take nothing by name. */
static ts_status call_check_direct(fr *f, uint32_t node, uint32_t row)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    uint32_t most = f->dialect->ops[row].lower == fr_op_static_assert ? 2 : 1, n_args, n_named;
    if (strncmp(f->dialect->ops[row].name, "static_", 7) != 0)
        return TS_OK;
    ts_pack_list(&f->pack, n->f[1], &n_args);
    ts_pack_list(&f->pack, n->f[2], &n_named);
    if (n_args < 1 || n_args > most || n_named)
        return fr_error(f, node, TS_SYNTAX, "%s() takes %s by position", f->dialect->ops[row].name,
                        most > 1 ? "a condition and perhaps a message" : "one expression");
    if (!call_is_local(f, n->f[0]))
        return TS_OK;
    return fr_error(f, node, TS_SYNTAX, "%s() is called through a variable\n  help: write ct.%s(...)",
                    f->dialect->ops[row].name, f->dialect->ops[row].name);
}

/* Operations take members of enumerations of numbers and texts as what they are, in tuples too. */
static ts_status call_plain(fr *f, fr_value *v)
{
    fr_value room, *items;
    const fr_value *value = v;
    bool changed = false;
    TS_TRY(fr_member_value(f, &value, &room));
    *v = *value;
    for (uint32_t i = 0; v->kind == FR_TUPLE && i < v->n; i++)
        changed |= v->as.items[i].kind == FR_ENUM || v->as.items[i].kind == FR_TUPLE;
    if (!changed)
        return TS_OK;
    if (!(items = TS_NEW_N(f->arena, fr_value, v->n)))
        return fr_oom(f);
    for (uint32_t i = 0; i < v->n; i++) {
        items[i] = v->as.items[i];
        TS_TRY(call_plain(f, &items[i]));
    }
    v->as.items = items;
    return TS_OK;
}

static ts_status call_op(fr *f, uint32_t node, uint32_t row, const fr_arguments *args, fr_value *out)
{
    fr_call c = {.op = &f->dialect->ops[row], .node = node};
    TS_TRY(call_bind_op(f, &c, args));
    for (uint32_t i = 0; i < FR_MAX_ARGS; i++)
        TS_TRY(call_plain(f, &c.arg[i]));
    if (!c.op->is_complex) {
        TS_TRY(fr_only_real(f, node, c.op->name, FR_MAX_ARGS, c.arg));
        TS_TRY(fr_only_real(f, node, c.op->name, c.n_rest, c.rest));
    }
    fr_at(f, node);
    *out = fr_none();
    return c.op->lower(f, &c, out);
}

/* ---- functions ----------------------------------------------------------------------- */

/* Defaults of packed functions are made when they are needed: they may hold the function itself. */
static ts_status call_default(fr *f, const fr_function *fn, uint32_t i, fr_value *out)
{
    uint32_t n;
    if (fn->lexical) {
        *out = fn->defaults[i];
        return TS_OK;
    }
    const uint32_t *objects = ts_pack_list(&f->pack, f->pack.functions[fn->function].defaults, &n);
    return i < n && objects[i] ? fr_object(f, objects[i], out) : TS_OK;
}

static ts_status call_bind_one(fr *f, const fr_function *fn, const ts_node *param, uint32_t i,
                               fr_arguments *args, bool *used, uint32_t *next, fr_value *out)
{
    const char *name = fr_string(f, param->f[0]);
    ts_parameter_kind kind = (ts_parameter_kind)param->f[1];
    bool positional = kind == TS_PARAMETER_POSITIONAL || kind == TS_PARAMETER_EITHER;
    bool by_name = kind == TS_PARAMETER_EITHER || kind == TS_PARAMETER_KEYWORD;
    *out = (fr_value){.kind = FR_UNBOUND};
    if (positional && *next < args->n_positional) {
        used[*next] = true;
        *out = args->at.at[(*next)++].value;
    }
    for (uint32_t k = args->n_positional; k < args->at.n && by_name; k++) {
        if (strcmp(args->at.at[k].name, name) != 0)
            continue;
        if (out->kind != FR_UNBOUND)
            return fr_error(f, args->at.at[k].node, TS_TILETYPE, "%s() got '%s' twice", fn->name,
                            name);
        used[k] = true;
        *out = args->at.at[k].value;
    }
    if (out->kind == FR_UNBOUND)
        TS_TRY(call_default(f, fn, i, out));
    if (out->kind == FR_UNBOUND)
        return fr_error(f, 0, TS_TILETYPE, "%s() misses its argument '%s'", fn->name, name);
    return TS_OK;
}

static ts_status call_bind_rest(fr *f, bool keywords, fr_arguments *args, bool *used, fr_value *out)
{
    TS_VEC(fr_value) items = {0};
    for (uint32_t k = 0; k < args->at.n; k++) {
        fr_value name = fr_text(args->at.at[k].name ? args->at.at[k].name : "");
        if (used[k] || (args->at.at[k].name != NULL) != keywords)
            continue;
        used[k] = true;
        if ((keywords && !TS_PUSH(f->arena, &items, name)) ||
            !TS_PUSH(f->arena, &items, args->at.at[k].value))
            return fr_oom(f);
    }
    return fr_container(f, keywords ? FR_DICT : FR_TUPLE, items.n, items.at, out);
}

static ts_status call_bind(fr *f, const fr_function *fn, const fr_scope *scope, fr_arguments *args,
                           fr_value *slots)
{
    bool *used = TS_NEW_N(f->arena, bool, args->at.n + 1);
    uint32_t next = 0;
    if (!used)
        return fr_oom(f);
    for (uint32_t i = 0; i < scope->n_args; i++) {
        const ts_node *param = ts_pack_node(&f->pack, scope->args[i]);
        fr_value *slot = &slots[fr_slot_of(scope, param->f[0]) - 1];
        if (param->f[1] == TS_PARAMETER_REST || param->f[1] == TS_PARAMETER_KEYWORDS)
            TS_TRY(call_bind_rest(f, param->f[1] == TS_PARAMETER_KEYWORDS, args, used, slot));
        else
            TS_TRY(call_bind_one(f, fn, param, i, args, used, &next, slot));
    }
    for (uint32_t k = 0; k < args->at.n; k++) {
        if (used[k])
            continue;
        if (args->at.at[k].name)
            return fr_error(f, args->at.at[k].node, TS_TILETYPE, "%s() has no argument named '%s'",
                            fn->name, args->at.at[k].name);
        return fr_error(f, args->at.at[k].node, TS_TILETYPE, "%s() takes %u argument%s, got %u",
                        fn->name, scope->n_args, scope->n_args == 1 ? "" : "s", args->at.n);
    }
    return TS_OK;
}

/* Whether a `for` of the function's own statements may return. */
static bool call_returns_in_for(const fr *f, const fr_scope *scope)
{
    bool found = false;
    for (uint32_t i = 0; i < scope->n_body; i++)
        found |= ts_pack_node(&f->pack, scope->body[i])->kind == TS_AST_For &&
                 fr_contains(f, &scope->body[i], 1, TS_AST_Return);
    return found;
}

/* The function raises on every path: its code ends the kernel, and that of the caller follows. */
static void call_ends(fr *f)
{
    ts_fn *fn = f->b.fn;
    ts_assert(ts_at(fn, fn->inst.n - 1)->op == TS_OP_return);
    fn->inst.n--;
    fn->loc.n--;
    ts_val opener = ts_if_begin(&f->b, ts_int(&f->b, TS_T_i1, 1));
    ts_term(&f->b, TS_OP_return, 0, NULL);
    ts_else(&f->b);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_end(&f->b, opener, 0, NULL);
}

ts_status fr_call_body(fr *f, const fr_scope *scope, fr_value *out)
{
    fr_flow flow;
    if (ts_pack_node(&f->pack, scope->root)->kind == TS_AST_Lambda)
        return fr_expr(f, scope->body[0], out);
    TS_TRY(fr_block_lower(f, &(fr_block){scope->body, scope->n_body, NULL}, &flow));
    f->frame->raises = flow == FR_ENDS;
    if (flow == FR_ENDS)
        call_ends(f);
    *out = flow == FR_RETURNS ? f->frame->slots[scope->n_slots + FR_SLOT_RESULT]
           : flow == FR_ENDS  ? fr_number(0) /* of a call that never returns, whatever stands around it */
                              : fr_none();
    if (out->kind == FR_CONFLICT || out->kind == FR_UNBOUND)
        return fr_error(f, scope->root, call_returns_in_for(f, scope) ? TS_SYNTAX : TS_TILETYPE,
                        "'%s' returns values of different types\n  help: convert them with "
                        "ct.astype so that all "
                        "returns agree%s%s",
                        f->frame->name, out->kind == FR_CONFLICT ? "\n  note: it " : "",
                        out->kind == FR_CONFLICT ? out->as.text : "");
    return TS_OK;
}

/* An operator that the library calls for its value, and that gives none. */
static ts_status call_wants_value(fr *f, const fr_scope *scope, const fr_value *out)
{
    const ts_pack_function *functions = f->pack.functions;
    const fr_frame *caller = f->frame->caller;
    if (out->kind != FR_NONE || f->frame->is_discarded || functions[f->frame->function].is_library ||
        !functions[caller->function].is_library || caller->is_discarded)
        return TS_OK;
    return fr_error(f, scope->root, TS_TILETYPE, "'%s' returns nothing where a value is wanted\n"
                    "  help: end it with 'return' and the value", f->frame->name);
}

/* Notes the arguments, for calls of the function inside of it. */
static ts_status call_give(fr *f, fr_frame *frame)
{
    const fr_scope *scope = frame->scope;
    fr_value *given = TS_NEW_N(f->arena, fr_value, scope->n_args + 1);
    if (!given)
        return fr_oom(f);
    for (uint32_t i = 0; i < scope->n_args; i++)
        given[i] = frame->slots[fr_slot_of(scope, ts_pack_node(&f->pack, scope->args[i])->f[0]) - 1];
    frame->given = given;
    return TS_OK;
}

static ts_status call_inline(fr *f, const fr_function *fn, uint32_t node, fr_arguments *args,
                             fr_value *out)
{
    const fr_scope *scope;
    bool done;
    fr_frame *frame, like = {.function = fn->function,
                             .lexical = fn->lexical,
                             .caller = f->frame,
                             .call_node = node,
                             .is_discarded = node == f->discarded,
                             .regions = f->regions,
                             .name = fn->name};
    TS_TRY(fr_scope_of(f, fn->root, &scope));
    TS_TRY(fr_frame_open(f, &like, scope, &frame));
    fr_at(f, node);
    TS_TRY(call_bind(f, fn, scope, args, frame->slots));
    frame->call_loc = f->b.loc;
    if (fn->is_context)
        return fr_context_make(f, fn, frame, out);
    TS_TRY(call_give(f, frame));
    TS_TRY(fr_recurse(f, frame, node, out, &done));
    if (done)
        return TS_OK;
    f->frame = frame;
    fr_point start = fr_here(f);
    ts_status status = fr_call_body(f, scope, out);
    TS_TRY(status == TS_RECURSION && f->restart == frame ? fr_recursion_lower(f, frame, &start, out) : status);
    TS_TRY(call_wants_value(f, scope, out));
    frame->is_over = true;
    f->frame = frame->caller;
    fr_at(f, node); /* what follows is of the caller again */
    return TS_OK;
}

static ts_status call_positionals(fr *f, uint32_t node, uint32_t n, const fr_value *values,
                                  fr_arguments *args)
{
    *args = (fr_arguments){0};
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(call_push(f, args, NULL, node, &values[i]));
    args->n_positional = n;
    return TS_OK;
}

ts_status fr_call_root(fr *f, const fr_function *fn, uint32_t n, const fr_value *values, fr_value *out)
{
    const fr_scope *scope;
    fr_frame like = {.function = fn->function, .name = fn->name};
    fr_arguments args;
    TS_TRY(fr_scope_of(f, fn->root, &scope));
    TS_TRY(fr_frame_open(f, &like, scope, &f->frame));
    fr_at(f, fn->root);
    TS_TRY(call_positionals(f, fn->root, n, values, &args));
    TS_TRY(call_bind(f, fn, scope, &args, f->frame->slots));
    return fr_call_body(f, scope, out);
}

ts_status fr_call_op(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *values,
                     fr_value *out)
{
    fr_arguments args;
    TS_TRY(call_positionals(f, node, n, values, &args));
    return call_op(f, node, fr_op_find(f, name), &args, out);
}

ts_status fr_call_row(fr *f, uint32_t node, uint32_t row, uint32_t n, const fr_value *values, uint32_t n_named,
                      const char *const *names, fr_value *out)
{
    fr_arguments args;
    TS_TRY(call_positionals(f, node, n - n_named, values, &args));
    for (uint32_t i = 0; i < n_named; i++)
        TS_TRY(call_push(f, &args, names[i], node, &values[n - n_named + i]));
    return call_op(f, node, row, &args, out);
}

bool fr_op_is_value(const fr *f, uint32_t row)
{
    static fr_op_fn *const plain[] = {
        fr_op_binary,      fr_op_divmod,    fr_op_cdiv,  fr_op_compare,     fr_op_minmax,           fr_op_atan2,
        fr_op_negative,    fr_op_abs,       fr_op_math,  fr_op_bitwise_not, fr_op_unary_plain,      fr_op_whole,
        fr_op_unary,       fr_op_exp2,      fr_op_isnan, fr_op_matmul,      fr_op_ensure_constant,  fr_op_where,
        fr_op_unary_flush, fr_op_math_pair, fr_op_unary_only_flush,
    };
    uint32_t i = 0;
    while (i < TS_COUNT(plain) && f->dialect->ops[row].lower != plain[i])
        i++;
    return i < TS_COUNT(plain);
}

/* ---- everything that can be called --------------------------------------------------- */

static ts_status call_dtype(fr *f, uint32_t node, ts_dtype dtype, const fr_arguments *args,
                            fr_value *out)
{
    if (args->at.n > 1 || args->n_positional != args->at.n)
        return fr_error(f, node, TS_TILETYPE, "%s() takes one number or tile, or nothing for zero",
                        ts_dtype_name(dtype));
    fr_value zero = dtype == TS_DTYPE_bool_ ? fr_bool(false) : fr_number(0);
    const fr_value *given = args->at.n ? &args->at.at[0].value : &zero;
    if (fr_dtype_bits(dtype) < 8)
        return fr_error(f, node, TS_TILETYPE, "%s is smaller than a byte and makes no scalars\n"
                        "  help: make a tile, ct.full((n,), value, ct.%s)", ts_dtype_name(dtype), ts_dtype_name(dtype));
    fr_at(f, node);
    if (given->kind == FR_STR) { /* as Python's float() and int() read it */
        TS_TRY(fr_call_builtin(f, node, fr_dtype_is_int(dtype) ? "int" : "float", 1, given, &zero));
        given = &zero;
    }
    return f->dialect->cast(f, given, dtype, out);
}

/* Enum class called with a value: PaddingMode(0). */
static ts_status call_class(fr *f, uint32_t node, uint32_t object, const fr_arguments *args,
                            fr_value *out)
{
    const ts_object *o = &f->pack.objects[object];
    uint32_t n;
    bool equal;
    const uint32_t *pairs = ts_pack_list(&f->pack, o->y, &n);
    if (o->kind == TS_OBJ_RECORD)
        return fr_record_make(f, node, object, args, out);
    for (uint32_t i = 0; o->kind == TS_OBJ_CLASS && args->at.n == 1 && i < n; i += 2) {
        fr_value member, value;
        TS_TRY(fr_object(f, pairs[i + 1], &member));
        if (member.kind != FR_ENUM)
            continue;
        TS_TRY(fr_object(f, f->pack.objects[member.as.object].z, &value));
        TS_TRY(fr_constants_equal(f, &value, &args->at.at[0].value, &equal));
        if (equal) {
            *out = member;
            return TS_OK;
        }
    }
    if (o->kind == TS_OBJ_CLASS && args->at.n == 1 && args->at.at[0].value.kind == FR_TILE)
        return fr_error(f, node, TS_TILETYPE, "'%s' takes a value known at compile time, found %s",
                        fr_string(f, o->x), fr_say(f, &args->at.at[0].value));
    if (o->kind == TS_OBJ_CLASS && args->at.n == 1)
        return fr_error(f, node, TS_TILEVALUE, "%s is no value of the enumeration '%s'",
                        fr_say(f, &args->at.at[0].value), fr_string(f, o->x));
    return fr_error(f, node, TS_TILETYPE, "%s '%s' cannot be called here",
                    o->kind == TS_OBJ_CLASS ? "class" : "module", fr_string(f, o->x));
}

static ts_status call_builtin(fr *f, uint32_t node, const char *name, const fr_arguments *args,
                              fr_value *out)
{
    fr_value *values = TS_NEW_N(f->arena, fr_value, args->at.n + 1);
    if (!values)
        return fr_oom(f);
    for (uint32_t i = 0; i < args->at.n; i++)
        values[i] = args->at.at[i].value;
    fr_at(f, node);
    if (strcmp(name, "print") == 0)
        return call_op(f, node, fr_op_find(f, "print"), args, out);
    if (strcmp(name, "dataclasses.replace") == 0)
        return fr_record_replace(f, node, args, out);
    bool is_start = args->at.n == 2 && strcmp(name, "enumerate") == 0; /* its second one has a name */
    if (args->at.n != args->n_positional && !(is_start && strcmp(args->at.at[1].name, "start") == 0))
        return fr_error(f, args->at.at[args->n_positional].node, TS_TILETYPE,
                        "builtin %s() takes no keyword arguments in a kernel", name);
    return fr_call_builtin(f, node, name, args->at.n, values, out);
}

/* As with Python's assert, the message is evaluated only where the condition fails. */
static ts_status call_static_assert(fr *f, uint32_t node, uint32_t row, fr_value *out)
{
    uint32_t n;
    const uint32_t *nodes = ts_pack_list(&f->pack, ts_pack_node(&f->pack, node)->f[1], &n);
    fr_arguments args = {0};
    bool truth;
    TS_TRY(call_positional(f, &args, nodes[0]));
    args.n_positional = args.at.n;
    if (n > 1 && fr_truth(&args.at.at[0].value, &truth) && !truth) {
        TS_TRY(call_positional(f, &args, nodes[1]));
        args.n_positional = args.at.n;
    }
    return call_op(f, node, row, &args, out);
}

/* A function of another library: often one of NumPy's that the tile language has too. */
static ts_status call_opaque(fr *f, uint32_t node, const fr_value *callee)
{
    const ts_object *object = &f->pack.objects[callee->as.object];
    const ts_node *n = ts_pack_node(&f->pack, ts_pack_node(&f->pack, node)->f[0]);
    if (object->y)
        return fr_error(f, node, TS_SYNTAX, "this function cannot be inlined\n  found: %s",
                        fr_string(f, object->x));
    const char *op = n->kind == TS_AST_Attribute ? fr_op_called(f, fr_string(f, n->f[1])) : NULL;
    const char *said = fr_string(f, object->x), *name = strchr(said, '\''); /* of "method 'random.Random.random'" */
    name = name ? fr_textf(f, "%.*s", (int)strcspn(name + 1, "'"), name + 1) : said;
    return fr_error(f, node, TS_TILETYPE, "kernels cannot call %s%s", fr_say(f, callee), fr_call_help(f, name, op));
}

static ts_status call_any(fr *f, uint32_t node, const fr_value *callee, fr_arguments *args, fr_value *out)
{
    switch (callee->kind) {
    case FR_OP:
    case FR_METHOD:
        return call_op(f, node, callee->n, args, out);
    case FR_FUNC:
        return call_inline(f, callee->as.function, node, args, out);
    case FR_BOUND:
        return call_any(f, node, callee->as.items, args, out);
    case FR_DTYPE:
        return call_dtype(f, node, (ts_dtype)callee->dtype, args, out);
    case FR_BUILTIN:
        return call_builtin(f, node, callee->as.text, args, out);
    case FR_MODULE:
        return call_class(f, node, callee->as.object, args, out);
    case FR_OPAQUE:
        return call_opaque(f, node, callee);
    default:
        return fr_error(f, node, TS_TILETYPE, "%s cannot be called%s", fr_say(f, callee),
                        callee->kind == FR_RECORD ? "\n  help: give its class a method __call__" : "");
    }
}

/* What the call is of: of an instance its __call__. */
static ts_status call_callee(fr *f, fr_value *callee)
{
    bool found;
    fr_value method;
    TS_TRY(fr_record_method(f, callee, "__call__", &method, &found));
    if (found)
        *callee = method;
    return TS_OK;
}

/* What stands before the dot, as the first argument; NULL where there is nothing. */
static const fr_value *call_self(const fr_value *callee)
{
    return callee->kind == FR_METHOD ? callee->as.items : callee->kind == FR_BOUND ? &callee->as.items[1] : NULL;
}

ts_status fr_call_node(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_arguments args = {0};
    fr_value callee;
    TS_TRY(fr_expr(f, n->f[0], &callee));
    TS_TRY(call_callee(f, &callee));
    if (callee.kind == FR_OP)
        TS_TRY(call_check_direct(f, node, callee.n));
    if (callee.kind == FR_OP && f->dialect->ops[callee.n].lower == fr_op_static_assert)
        return call_static_assert(f, node, callee.n, out);
    TS_TRY(call_evaluate(f, n, call_self(&callee), &args));
    return call_any(f, node, &callee, &args, out);
}

ts_status fr_call_value(fr *f, const fr_value *callee, uint32_t node, uint32_t n, const fr_value *values, fr_value *out)
{
    fr_arguments args = {0};
    fr_value called = *callee;
    TS_TRY(call_callee(f, &called));
    const fr_value *self = call_self(&called);
    if (self)
        TS_TRY(call_push(f, &args, NULL, node, self));
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(call_push(f, &args, NULL, node, &values[i]));
    args.n_positional = args.at.n;
    if (!self && called.kind != FR_FUNC && called.kind != FR_OP && called.kind != FR_BUILTIN)
        return fr_error(f, node, TS_TILETYPE,
                        "wanted a function, found %s\n  help: pass a plain Python function, a lambda, or an "
                        "operation such as ct.add", fr_say(f, &called));
    return call_any(f, node, &called, &args, out);
}
