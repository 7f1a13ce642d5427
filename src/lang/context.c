/* SPDX-License-Identifier: Apache-2.0
 *
 * `with` over generators that contextlib.contextmanager made context managers. Such a generator has one `yield`,
 * outside of loops and branches; its statements before and after it are lowered around the body:
 *
 *     with manager(x) as v:    statements of the generator before `yield w`, in its frame
 *         body                 v = w; body, in the frame of the `with`
 *     rest                     statements of the generator after the yield, in its frame; rest
 *
 * The walk goes from the generator's yield into the body and on into the rest, as in a program that calls what
 * follows (fr_block.next). What leaves the body early (break, continue, return) lowers the ends of all it leaves, the
 * innermost first. Part of the front end (lower.h).
 */
#include "lang/lower.h"

/* A context manager: a call of the function whose arguments are bound. */
typedef struct fr_manager {
    const fr_function *fn;
    fr_frame *frame;
} fr_manager;

/* The `with` that a generator runs for. */
typedef struct fr_entry {
    uint32_t node, item; /* which of the managers of the statement */
    fr_frame *frame;
    const fr_block *rest;
} fr_entry;

/* A `with` whose body is being lowered. */
typedef struct fr_context {
    struct fr_context *outer;
    fr_loop *loop;         /* innermost of the frame where it began */
    fr_frame *generator;
    const fr_block *after; /* what its generator does after the yield */
} fr_context;

/* ---- what a generator may hold ------------------------------------------------------- */

typedef struct context_yields {
    uint32_t n, inside; /* those that can be reached; one in a loop or branch, or 0 */
} context_yields;

/* Counts the yields of statements up to one that jumps. */
static void context_count(const fr *f, const uint32_t *body, uint32_t n_body, bool nested, context_yields *yields)
{
    for (uint32_t i = 0; i < n_body; i++) {
        const ts_node *n = ts_pack_node(&f->pack, body[i]);
        const char *letters = ts__ast_fields(n->kind);
        if (n->kind == TS_AST_Break || n->kind == TS_AST_Continue || n->kind == TS_AST_Return)
            return;
        if (n->kind == TS_AST_Expr && ts_pack_node(&f->pack, n->f[0])->kind == TS_AST_Yield) {
            yields->n++;
            yields->inside = nested ? body[i] : yields->inside;
        }
        bool inner = nested || n->kind != TS_AST_With;
        bool holds = n->kind == TS_AST_With || n->kind == TS_AST_If || n->kind == TS_AST_For ||
                     n->kind == TS_AST_While || n->kind == TS_AST_Match || n->kind == TS_AST_match_case;
        for (uint32_t k = 0; holds && letters[k]; k++) {
            uint32_t count;
            if (letters[k] != 'l')
                continue;
            const uint32_t *items = ts_pack_list(&f->pack, n->f[k], &count);
            context_count(f, items, count, inner, yields);
        }
    }
}

ts_status fr_context_make(fr *f, const fr_function *fn, fr_frame *frame, fr_value *out)
{
    context_yields yields = {0};
    const fr_scope *scope = frame->scope;
    if (fr_contains(f, scope->body, scope->n_body, TS_AST_Return))
        return fr_error(f, 0, TS_SYNTAX, "the context manager '%s' has a 'return'\n"
                        "  help: let it run to its end", fn->name);
    context_count(f, scope->body, scope->n_body, false, &yields);
    if (!yields.n && !yields.inside && fr_contains(f, scope->body, scope->n_body, TS_AST_Unsupported))
        return fr_error(f, 0, TS_SYNTAX, "the context manager '%s' has a 'try' or another statement that kernels lack\n"
                        "  help: leave `try` and `finally` out; kernels have no exceptions, and what stands behind the "
                        "'yield' runs whichever way the `with` is left", fn->name);
    if (yields.inside)
        return fr_error(f, 0, TS_TILETYPE,
                        "the 'yield' of context manager '%s' must stand outside of loops and branches", fn->name);
    if (yields.n != 1)
        return fr_error(f, 0, TS_TILETYPE,
                        yields.n ? "the context manager '%s' must have one 'yield' statement, found %u"
                                 : "the context manager '%s' has no 'yield' that can be reached",
                        fn->name, yields.n);
    fr_manager *manager = TS_NEW(f->arena, fr_manager);
    if (!manager)
        return fr_oom(f);
    *manager = (fr_manager){fn, frame};
    *out = (fr_value){.kind = FR_CONTEXT, .as.manager = manager};
    return TS_OK;
}

/* ---- entering ------------------------------------------------------------------------ */

/* A fresh frame of the generator, so that the statement can be lowered again. */
static ts_status context_open(fr *f, const fr_manager *manager, const fr_entry *entry, fr_frame **out)
{
    const fr_frame *bound = manager->frame;
    TS_TRY(fr_frame_open(f, bound, bound->scope, out));
    memcpy((*out)->slots, bound->slots, (bound->scope->n_slots + FR_HIDDEN) * sizeof *bound->slots);
    (*out)->caller = f->frame;
    (*out)->entry = entry;
    return TS_OK;
}

static ts_status context_enter(fr *f, uint32_t node, uint32_t item, const fr_block *rest, fr_flow *flow)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    uint32_t n_items, n_body;
    const uint32_t *items = ts_pack_list(&f->pack, n->f[0], &n_items), *body = ts_pack_list(&f->pack, n->f[1], &n_body);
    fr_entry entry = {node, item, f->frame, rest};
    fr_frame *generator;
    fr_value v;
    if (item == n_items)
        return fr_block_lower(f, &(fr_block){.at = body, .n = n_body, .next = rest}, flow);
    uint32_t expr = ts_pack_node(&f->pack, items[item])->f[0];
    TS_TRY(fr_check_depth(f, node));
    TS_TRY(fr_expr(f, expr, &v));
    if (v.kind != FR_CONTEXT)
        return fr_error(f, expr, TS_TILETYPE, "'with' takes a call of a function made by contextlib.contextmanager\n"
                        "  found: %s", fr_say(f, &v));
    TS_TRY(context_open(f, v.as.manager, &entry, &generator));
    fr_at(f, node);
    f->frame = generator;
    TS_TRY(fr_block_lower(f, &(fr_block){.at = generator->scope->body, .n = generator->scope->n_body}, flow));
    f->frame = entry.frame;
    return TS_OK;
}

ts_status fr_with_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow)
{
    return context_enter(f, node, 0, rest, flow);
}

/* The generator's statements after its yield, while `f->frame` is that of the `with`. */
static ts_status context_end(fr *f, const fr_context *context)
{
    fr_frame *frame = f->frame;
    fr_flow flow;
    frame->context = context->outer;
    f->frame = context->generator;
    TS_TRY(fr_block_lower(f, context->after, &flow));
    f->frame = frame;
    return TS_OK;
}

static ts_status context_leave(fr *f, const fr_block *block, fr_flow *flow, bool *done)
{
    *flow = FR_FALLS;
    *done = false;
    return context_end(f, block->user);
}

ts_status fr_yield_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow)
{
    fr_frame *generator = f->frame;
    const fr_entry *entry = generator->entry;
    uint32_t value = ts_pack_node(&f->pack, ts_pack_node(&f->pack, node)->f[0])->f[0], n;
    fr_value v = fr_none();
    if (!entry)
        return fr_error(f, node, TS_SYNTAX, "'yield' stands outside of a context manager; kernels and the functions "
                        "that they call are no generators\n  help: write into an array or return a tuple, or decorate "
                        "the function with contextlib.contextmanager and call it in a 'with'");
    if (value)
        TS_TRY(fr_expr(f, value, &v));
    const uint32_t *items = ts_pack_list(&f->pack, ts_pack_node(&f->pack, entry->node)->f[0], &n);
    uint32_t target = ts_pack_node(&f->pack, items[entry->item])->f[1];
    fr_context context = {entry->frame->context, entry->frame->loop, generator, rest};
    fr_block leave = {.next = entry->rest, .step = context_leave, .user = &context};
    f->frame = entry->frame;
    f->frame->context = &context;
    if (target)
        TS_TRY(fr_assign(f, target, &v));
    TS_TRY(context_enter(f, entry->node, entry->item + 1, &leave, flow));
    f->frame = generator;
    return TS_OK;
}

/* ---- leaving early ------------------------------------------------------------------- */

ts_status fr_context_unwind(fr *f)
{
    const fr_context *context = f->frame->context;
    for (; context && context->loop == f->frame->loop; context = context->outer)
        TS_TRY(context_end(f, context));
    return TS_OK;
}

ts_status fr_context_save(fr *f, fr_frame *frame, fr_context_states *states)
{
    fr_context_state state = {.frame = frame, .context = frame->context};
    if (frame->entry) {
        size_t n = frame->scope->n_slots + FR_HIDDEN;
        if (!(state.slots = TS_NEW_N(f->arena, fr_value, n)))
            return fr_oom(f);
        memcpy(state.slots, frame->slots, n * sizeof *state.slots);
    }
    if (!TS_PUSH(f->arena, states, state))
        return fr_oom(f);
    for (const fr_context *context = frame->context; context; context = context->outer)
        TS_TRY(fr_context_save(f, context->generator, states));
    return TS_OK;
}

void fr_context_restore(const fr_context_states *states)
{
    for (uint32_t i = 0; i < states->n; i++) {
        const fr_context_state *state = &states->at[i];
        state->frame->context = state->context;
        if (state->slots)
            memcpy(state->frame->slots, state->slots,
                   (state->frame->scope->n_slots + FR_HIDDEN) * sizeof *state->slots);
    }
}
