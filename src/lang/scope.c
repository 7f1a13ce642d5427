/* SPDX-License-Identifier: Apache-2.0
 *
 * Which names a function binds (its slots), where it reads them, and what follows from that: which
 * variables a region assigns, and which of those anyone can still read afterwards. Only live
 * variables are carried through loops and merged after `if`, so that the IR holds no dead loop
 * values.
 *
 * Nodes are numbered so that children come before parents and statements in source order: of two
 * reads the later one in the text has the greater node index. Part of the front end (lower.h).
 */
#include "lang/lower.h"

typedef struct scope_walk {
    fr *f;
    fr_scope *scope;
    bool nested; /* inside a nested function: reads are captures */
} scope_walk;

static uint32_t scope_args(const ts_node *fn)
{
    return fn->f[fn->kind == TS_AST_FunctionDef ? 1 : 0];
}

static ts_status scope_bind(scope_walk *w, uint32_t name)
{
    fr_scope *s = w->scope;
    if (fr_slot_of(s, name))
        return TS_OK;
    s->name_of[s->n_slots] = name;
    s->slot_of[name] = ++s->n_slots;
    return TS_OK;
}

/* Calls `visit` on each child node. */
static ts_status scope_children(scope_walk *w, const ts_node *n,
                                ts_status (*visit)(scope_walk *, uint32_t))
{
    const char *letters = ts__ast_fields(n->kind);
    for (uint32_t i = 0; letters[i]; i++) {
        uint32_t count = 1;
        const uint32_t *items = &n->f[i];
        if (letters[i] == 'l' || letters[i] == 'g')
            items = ts_pack_list(&w->f->pack, n->f[i], &count);
        else if (letters[i] != 'n')
            count = 0;
        for (uint32_t j = 0; j < count; j++)
            if (items[j])
                TS_TRY(visit(w, items[j]));
    }
    return TS_OK;
}

/* ---- first walk: what is bound ------------------------------------------------------- */

static ts_status scope_bind_target(scope_walk *w, uint32_t node)
{
    const ts_node *n = ts_pack_node(&w->f->pack, node);
    if (n->kind == TS_AST_Name)
        return scope_bind(w, n->f[0]);
    if (n->kind == TS_AST_Tuple || n->kind == TS_AST_List || n->kind == TS_AST_Starred)
        return scope_children(w, n, scope_bind_target);
    return TS_OK;
}

static ts_status scope_bind_node(scope_walk *w, uint32_t node)
{
    const ts_node *n = ts_pack_node(&w->f->pack, node);
    uint32_t count;
    const uint32_t *items;
    switch (n->kind) {
    case TS_AST_Assign:
        items = ts_pack_list(&w->f->pack, n->f[0], &count);
        for (uint32_t i = 0; i < count; i++)
            TS_TRY(scope_bind_target(w, items[i]));
        return scope_bind_node(w, n->f[1]);
    case TS_AST_AugAssign:
        TS_TRY(scope_bind_target(w, n->f[0]));
        return scope_bind_node(w, n->f[2]);
    case TS_AST_AnnAssign:
        TS_TRY(scope_bind_target(w, n->f[0]));
        return n->f[1] ? scope_bind_node(w, n->f[1]) : TS_OK;
    case TS_AST_For:
        TS_TRY(scope_bind_target(w, n->f[0]));
        break;
    case TS_AST_FunctionDef:
        return scope_bind(w, n->f[0]);
    case TS_AST_Lambda:
        return TS_OK;
    case TS_AST_NamedExpr:
        TS_TRY(scope_bind_target(w, n->f[0]));
        break;
    case TS_AST_withitem:
        TS_TRY(n->f[1] ? scope_bind_target(w, n->f[1]) : TS_OK);
        break;
    case TS_AST_MatchAs:
    case TS_AST_MatchStar:
        TS_TRY(n->f[n->kind == TS_AST_MatchAs] ? scope_bind(w, n->f[n->kind == TS_AST_MatchAs]) : TS_OK);
        break;
    default:
        break;
    }
    return scope_children(w, n, scope_bind_node);
}

/* ---- second walk: what is read ------------------------------------------------------- */

static ts_status scope_read_node(scope_walk *w, uint32_t node);

/* Names in a target are not read; subscripts and attributes in it are. */
static ts_status scope_read_target(scope_walk *w, uint32_t node)
{
    const ts_node *n = ts_pack_node(&w->f->pack, node);
    if (n->kind == TS_AST_Name)
        return TS_OK;
    if (n->kind == TS_AST_Tuple || n->kind == TS_AST_List || n->kind == TS_AST_Starred)
        return scope_children(w, n, scope_read_target);
    return scope_read_node(w, node);
}

static ts_status scope_read_name(scope_walk *w, uint32_t node, uint32_t name)
{
    uint32_t slot = fr_slot_of(w->scope, name);
    if (!slot)
        return TS_OK;
    if (w->nested)
        w->scope->captured[slot - 1] = true;
    return TS_PUSH(w->f->arena, &w->scope->loads[slot - 1], node) ? TS_OK : fr_oom(w->f);
}

static ts_status scope_read_assign(scope_walk *w, const ts_node *n)
{
    uint32_t count;
    const uint32_t *items = ts_pack_list(&w->f->pack, n->f[0], &count);
    for (uint32_t i = 0; i < count; i++)
        TS_TRY(scope_read_target(w, items[i]));
    return scope_read_node(w, n->f[1]);
}

static ts_status scope_read_node(scope_walk *w, uint32_t node)
{
    const ts_node *n = ts_pack_node(&w->f->pack, node);
    bool outer = w->nested;
    uint32_t count;
    const uint32_t *items;
    switch (n->kind) {
    case TS_AST_Name:
        return scope_read_name(w, node, n->f[0]);
    case TS_AST_Assign:
        return scope_read_assign(w, n);
    case TS_AST_For:
        TS_TRY(scope_read_target(w, n->f[0]));
        TS_TRY(scope_read_node(w, n->f[1]));
        for (uint32_t field = 2; field < 4; field++) {
            items = ts_pack_list(&w->f->pack, n->f[field], &count);
            for (uint32_t i = 0; i < count; i++)
                TS_TRY(scope_read_node(w, items[i]));
        }
        return TS_OK;
    case TS_AST_NamedExpr:
        return scope_read_node(w, n->f[1]);
    case TS_AST_withitem:
        TS_TRY(scope_read_node(w, n->f[0]));
        return n->f[1] ? scope_read_target(w, n->f[1]) : TS_OK;
    case TS_AST_FunctionDef:
    case TS_AST_Lambda:
    case TS_AST_GeneratorExp:
        w->nested = true;
        TS_TRY(scope_children(w, n, scope_read_node));
        w->nested = outer;
        return TS_OK;
    default:
        return scope_children(w, n, scope_read_node);
    }
}

/* ---- scopes -------------------------------------------------------------------------- */

static ts_status scope_fill(fr *f, fr_scope *s)
{
    scope_walk w = {f, s, false};
    const ts_node *root = ts_pack_node(&f->pack, s->root);
    for (uint32_t i = 0; i < s->n_args; i++)
        TS_TRY(scope_bind(&w, ts_pack_node(&f->pack, s->args[i])->f[0]));
    bool is_def = root->kind == TS_AST_FunctionDef;
    for (uint32_t i = 0; i < s->n_body && is_def; i++)
        TS_TRY(scope_bind_node(&w, s->body[i]));
    s->loads = ts__arena_get(f->arena, sizeof *s->loads * (s->n_slots + 1));
    s->captured = TS_NEW_N(f->arena, bool, s->n_slots + 1);
    if (!s->loads || !s->captured)
        return fr_oom(f);
    for (uint32_t i = 0; i < s->n_body; i++)
        TS_TRY(scope_read_node(&w, s->body[i]));
    uint32_t early =
        s->n_body - (is_def && s->n_body &&
                     ts_pack_node(&f->pack, s->body[s->n_body - 1])->kind == TS_AST_Return);
    s->has_return = is_def && fr_contains(f, s->body, early, TS_AST_Return);
    return TS_OK;
}

ts_status fr_scope_new(fr *f, uint32_t root, fr_scope **out)
{
    fr_scope *s = TS_NEW(f->arena, fr_scope);
    if (!s || !(s->slot_of = TS_NEW_N(f->arena, uint32_t, f->pack.n_strings)) ||
        !(s->name_of = TS_NEW_N(f->arena, uint32_t, f->pack.n_strings + 1)))
        return fr_oom(f);
    s->root = root;
    s->n_names = f->pack.n_strings;
    *out = s;
    return TS_OK;
}

ts_status fr_scope_bind_target(fr *f, fr_scope *scope, uint32_t target)
{
    return scope_bind_target(&(scope_walk){f, scope, false}, target);
}

/* The table of scopes, for as many nodes as the pack has now. */
static ts_status scope_make_room(fr *f)
{
    fr_scope **fresh = TS_NEW_N(f->arena, fr_scope *, f->pack.n_nodes);
    if (!fresh)
        return fr_oom(f);
    if (f->n_scopes)
        memcpy(fresh, f->scopes, f->n_scopes * sizeof *fresh);
    f->scopes = fresh;
    f->n_scopes = f->pack.n_nodes;
    return TS_OK;
}

ts_status fr_scope_of(fr *f, uint32_t root, const fr_scope **out)
{
    if (f->n_scopes < f->pack.n_nodes)
        TS_TRY(scope_make_room(f));
    fr_scope *s = f->scopes[root];
    if (!s) {
        const ts_node *node = ts_pack_node(&f->pack, root);
        TS_TRY(fr_scope_new(f, root, &s));
        s->args = ts_pack_list(&f->pack, scope_args(node), &s->n_args);
        s->body = &node->f[1];
        s->n_body = 1;
        if (node->kind == TS_AST_FunctionDef)
            s->body = ts_pack_list(&f->pack, node->f[2], &s->n_body);
        TS_TRY(scope_fill(f, s));
        f->scopes[root] = s;
    }
    *out = s;
    return TS_OK;
}

/* Where statements stand in a statement; `inside`: in the body of a loop, which breaks and continues are of. */
static const struct {
    uint32_t kind, field;
    bool inside;
} scope_bodies[] = {
    {TS_AST_If, 1, false},  {TS_AST_If, 2, false},   {TS_AST_For, 2, true},    {TS_AST_For, 3, false},
    {TS_AST_While, 1, true}, {TS_AST_While, 2, false}, {TS_AST_With, 1, false}, {TS_AST_Match, 1, false},
    {TS_AST_match_case, 2, false},
};

bool fr_contains(const fr *f, const uint32_t *body, uint32_t n_body, uint32_t kind)
{
    bool jumps = kind == TS_AST_Break || kind == TS_AST_Continue;
    for (uint32_t i = 0; i < n_body; i++) {
        const ts_node *n = ts_pack_node(&f->pack, body[i]);
        if (n->kind == kind)
            return true;
        for (uint32_t row = 0; row < TS_COUNT(scope_bodies); row++) {
            uint32_t count;
            if (scope_bodies[row].kind != n->kind || (jumps && scope_bodies[row].inside))
                continue;
            const uint32_t *items = ts_pack_list(&f->pack, n->f[scope_bodies[row].field], &count);
            if (fr_contains(f, items, count, kind))
                return true;
        }
    }
    return false;
}

/* ---- assigned names and liveness ----------------------------------------------------- */

ts_status fr_assigned(fr *f, const uint32_t *body, uint32_t n_body, uint32_t **slots, uint32_t *n)
{
    const fr_scope *real = f->frame->scope;
    fr_scope seen = {.n_names = f->pack.n_strings,
                     .slot_of = TS_NEW_N(f->arena, uint32_t, f->pack.n_strings),
                     .name_of = TS_NEW_N(f->arena, uint32_t, real->n_slots + 1)};
    scope_walk w = {f, &seen, false};
    if (!seen.slot_of || !seen.name_of)
        return fr_oom(f);
    for (uint32_t i = 0; i < n_body; i++)
        TS_TRY(scope_bind_node(&w, body[i]));
    for (uint32_t i = 0; i < seen.n_slots; i++)
        seen.name_of[i] = real->slot_of[seen.name_of[i]] - 1;
    *slots = seen.name_of;
    *n = seen.n_slots;
    return TS_OK;
}

/* Is there a read of the slot among nodes from..to? */
static bool scope_read_between(const fr_scope *s, uint32_t slot, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < s->loads[slot].n; i++)
        if (s->loads[slot].at[i] >= from && s->loads[slot].at[i] <= to)
            return true;
    return false;
}

/* The first descendant of a statement: children are numbered before it, without gaps within a
 * function except for helpers packed in between, whose names are not in `loads`. */
static uint32_t scope_first(const fr *f, uint32_t node)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    const char *letters = ts__ast_fields(n->kind);
    for (uint32_t i = 0; letters[i]; i++) {
        uint32_t count = 1;
        const uint32_t *items = &n->f[i];
        if (letters[i] == 'l' || letters[i] == 'g')
            items = ts_pack_list(&f->pack, n->f[i], &count);
        else if (letters[i] != 'n')
            continue;
        for (uint32_t j = 0; j < count; j++)
            if (items[j])
                return scope_first(f, items[j]);
    }
    return node;
}

/* Does the statement write the slot on every path before it could read it? */
static bool scope_kills(const fr *f, uint32_t slot, uint32_t node)
{
    const fr_scope *s = f->frame->scope;
    const ts_node *n = ts_pack_node(&f->pack, node);
    if (n->kind != TS_AST_Assign && n->kind != TS_AST_AnnAssign)
        return false;
    uint32_t count = 1;
    const uint32_t *targets =
        n->kind == TS_AST_Assign ? ts_pack_list(&f->pack, n->f[0], &count) : &n->f[0];
    bool stored = false;
    for (uint32_t i = 0; i < count; i++) {
        const ts_node *t = ts_pack_node(&f->pack, targets[i]);
        uint32_t n_items = 1;
        const uint32_t *items =
            t->kind == TS_AST_Tuple ? ts_pack_list(&f->pack, t->f[0], &n_items) : &targets[i];
        for (uint32_t j = 0; j < n_items; j++) {
            const ts_node *name = ts_pack_node(&f->pack, items[j]);
            stored |= name->kind == TS_AST_Name && fr_slot_of(s, name->f[0]) == slot + 1;
        }
    }
    return stored && !(n->f[1] && scope_read_between(s, slot, scope_first(f, n->f[1]), n->f[1]));
}

/* Is the slot's value at the start of the statements possibly read by them? */
static bool scope_exposed(const fr *f, uint32_t slot, const uint32_t *body, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (scope_kills(f, slot, body[i]))
            return false;
        if (scope_read_between(f->frame->scope, slot, scope_first(f, body[i]), body[i]))
            return true;
    }
    return false;
}

/* Does the value that the slot has at the end of an iteration reach a read in the next one? */
static bool scope_around(const fr *f, uint32_t slot, uint32_t loop, const uint32_t *body,
                         uint32_t n)
{
    const ts_node *node = ts_pack_node(&f->pack, loop);
    if (node->kind == TS_AST_While &&
        scope_read_between(f->frame->scope, slot, scope_first(f, node->f[0]), node->f[0]))
        return true;
    return scope_exposed(f, slot, body, n);
}

bool fr_live_after(const fr *f, uint32_t slot, uint32_t at)
{
    const fr_scope *s = f->frame->scope;
    if (slot >= s->n_slots || s->captured[slot] || scope_read_between(s, slot, at + 1, s->root))
        return true;
    for (const fr_loop *loop = f->frame->loop; loop; loop = loop->outer)
        if (scope_around(f, slot, loop->node, loop->body, loop->n_body))
            return true;
    return false;
}

/* Is it read in the `else` of the loop? */
static bool scope_in_else(const fr *f, uint32_t slot, uint32_t loop)
{
    uint32_t n;
    const ts_node *node = ts_pack_node(&f->pack, loop);
    const uint32_t *other = ts_pack_list(&f->pack, node->f[node->kind == TS_AST_For ? 3 : 2], &n);
    return slot < f->frame->scope->n_slots && n &&
           scope_read_between(f->frame->scope, slot, scope_first(f, other[0]), other[n - 1]);
}

bool fr_live_in_loop(const fr *f, uint32_t slot, uint32_t loop, const uint32_t *body, uint32_t n)
{
    return scope_in_else(f, slot, loop) || fr_live_after(f, slot, loop) || scope_around(f, slot, loop, body, n);
}

/* ---- frames -------------------------------------------------------------------------- */

ts_status fr_frame_open(fr *f, const fr_frame *like, const fr_scope *scope, fr_frame **out)
{
    fr_frame *frame = TS_NEW(f->arena, fr_frame);
    fr_value *slots = TS_NEW_N(f->arena, fr_value, scope->n_slots + FR_HIDDEN);
    if (!frame || !slots)
        return fr_oom(f);
    *frame = *like;
    frame->scope = scope;
    frame->slots = slots;
    *out = frame;
    return TS_OK;
}
