/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursion that only the running kernel ends. A call is inlined until one is met that would be inlined the same way
 * again, behind a branch of run time: the function that stands around it is then lowered anew as a `recursion` of the
 * IR, in which the call is a `recur`. What the call passes on unchanged (arrays, constants) is no argument of the
 * recursion, which can read all that stands before it; what differs is:
 *
 *     def power(x, n):                            %r = recursion iter(%n = %k) : f64 {      x is read from outside
 *         if n == 0: return 1.0                     ..
 *         return x * power(x, n - 1)                %y = recur %m : f64
 *
 * Which arguments differ, their dtypes and those of the result are found by lowering the body until nothing new is
 * learned. As long as the result is not known, a statement that asks for it ends its path. Part of the front end.
 */
#include "lang/lower.h"

/* INLINED: calls of one function inside each other behind branches of run time. CALLS: those of them inside one call of
 * it, side by side or not: two in each body are twice as many at each depth. STEPS: of compilation; from there on calls
 * that constants end are looked at, too. */
enum { RECURSE_DEPTH = 128, RECURSE_INLINED = 32, RECURSE_CALLS = 256, RECURSE_TURNS = 24 };
enum { RECURSE_STEPS = FR_MAX_STEPS / 4 * 3 };

typedef struct fr_recursion {
    fr_frame *frame;
    uint32_t level;              /* how many recursions are around it */
    uint32_t n;                  /* leaves of the arguments */
    fr_value *first;             /* as the outermost call gives them */
    bool *varies;                /* the leaf is an argument of the recursion */
    ts_dtype *dtype;             /* of it; NONE: part of an array */
    bool has_result, called, again;
    fr_value result;             /* what the function returns: its leaves have only dtypes and types */
    uint32_t n_results;
    ts_dtype *result_dtype;
    ts_type *result_type;
} fr_recursion;

/* ---- going back -------------------------------------------------------------------------------------- */

fr_point fr_here(const fr *f)
{
    const ts_fn *fn = f->b.fn;
    fr_loop *loop = f->frame ? f->frame->loop : NULL;
    return (fr_point){fn->inst.n, fn->loc.n, fn->pool.n, f->regions, f->n_recursions, f->node, f->b.loc, f->frame, loop,
                      f->frame ? f->frame->context : NULL};
}

void fr_back(fr *f, const fr_point *p)
{
    ts_fn *fn = f->b.fn;
    fn->inst.n = p->inst;
    fn->loc.n = p->loc;
    fn->pool.n = p->pool;
    f->regions = p->regions;
    f->n_recursions = p->n_recursions;
    f->node = p->node;
    f->b.loc = p->place;
    f->frame = p->frame;
    if (f->frame) {
        f->frame->loop = p->loop;
        f->frame->context = p->context;
    }
}

bool fr_stopped(fr *f, ts_status status, const fr_point *p)
{
    if (status != TS_RECURSION || !f->stopped)
        return false;
    f->stopped = false;
    fr_back(f, p);
    return true;
}

/* ---- leaves ------------------------------------------------------------------------------------------ */

static ts_status recurse_leaves(fr *f, uint32_t n_values, const fr_value *values, fr_value **out, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < n_values; i++)
        *n += fr_flatten(&values[i], NULL);
    if (!(*out = TS_NEW_N(f->arena, fr_value, *n + 1)))
        return fr_oom(f);
    for (uint32_t i = 0, at = 0; i < n_values; i++)
        at += fr_flatten(&values[i], *out + at);
    return TS_OK;
}

static bool recurse_alike(const fr *f, const fr_frame *a, const fr_frame *b)
{
    bool alike = a->scope == b->scope && a->lexical == b->lexical && a->given && b->given;
    for (uint32_t i = 0; alike && i < a->scope->n_args; i++)
        alike = fr_same_skeleton(f, &a->given[i], &b->given[i]);
    return alike;
}

/* Would the call be lowered just as that around it was? */
static ts_status recurse_same(fr *f, const fr_frame *a, const fr_frame *b, bool *same)
{
    fr_value *x, *y;
    uint32_t n, m;
    TS_TRY(recurse_leaves(f, a->scope->n_args, a->given, &x, &n));
    TS_TRY(recurse_leaves(f, b->scope->n_args, b->given, &y, &m));
    *same = n == m;
    for (uint32_t i = 0; *same && i < n; i++)
        *same = x[i].kind == y[i].kind && (x[i].kind == FR_TILE ? x[i].dtype == y[i].dtype : fr_same(f, &x[i], &y[i]));
    return TS_OK;
}

static ts_status recurse_dtype(fr *f, const fr_value *leaf, ts_dtype *dtype)
{
    *dtype = (ts_dtype)leaf->dtype;
    return leaf->kind == FR_NUMBER ? fr_default_dtype(f, leaf, dtype) : TS_OK;
}

/* The dtype for values of *dtype and for the leaf, too; *changed: it is another one. False: there is none. */
static bool recurse_join(fr *f, ts_dtype *dtype, const fr_value *leaf, bool *changed)
{
    ts_dtype of_leaf, joined;
    if (recurse_dtype(f, leaf, &of_leaf) != TS_OK || !of_leaf != !*dtype)
        return false;
    if (!of_leaf)
        return true;
    joined = of_leaf == *dtype ? of_leaf : f->dialect->join(of_leaf, *dtype);
    *changed |= joined != *dtype;
    *dtype = joined;
    return joined != TS_DTYPE_NONE;
}

/* The leaf as a value of the IR. */
static ts_status recurse_value(fr *f, const fr_value *leaf, ts_dtype dtype, ts_val *out)
{
    fr_value v = *leaf;
    if (leaf->kind == FR_NUMBER)
        TS_TRY(fr_to_tile(f, leaf, dtype, &v));
    else if (dtype && leaf->dtype != dtype)
        TS_TRY(fr_convert(f, leaf, dtype, TS_RN, &v));
    *out = v.as.v;
    return TS_OK;
}

/* ---- a call inside ----------------------------------------------------------------------------------- */

/* What the call passes that is not what was passed before. */
static ts_status recurse_learn_args(fr *f, fr_recursion *r, uint32_t node, const fr_value *leaves)
{
    for (uint32_t i = 0; i < r->n; i++) {
        bool changed = false;
        if (!r->varies[i]) {
            if (fr_same(f, &r->first[i], &leaves[i]))
                continue;
            TS_TRY(recurse_dtype(f, &r->first[i], &r->dtype[i]));
            r->varies[i] = changed = true;
        }
        if (!recurse_join(f, &r->dtype[i], &leaves[i], &changed))
            return fr_error(f, node, TS_TILETYPE, "'%s' calls itself with an argument of another type\n  found: %s "
                            "where the first call has %s\n  help: convert it before the call", r->frame->name,
                            fr_say(f, &leaves[i]), fr_say(f, &r->first[i]));
        r->again |= changed;
    }
    return TS_OK;
}

/* The path asks for what is not known yet. */
static ts_status recurse_stop(fr *f)
{
    f->stopped = true;
    return TS_RECURSION;
}

static ts_status recurse_results(fr *f, const fr_recursion *r, ts_val first, fr_value *out)
{
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, r->n_results + 1);
    const fr_value *next = leaves;
    if (!leaves)
        return fr_oom(f);
    for (uint32_t i = 0; i < r->n_results; i++)
        leaves[i] = fr_tile(r->result_dtype[i], first + i);
    return fr_rebuild(f, &r->result, &next, out);
}

static ts_status recurse_again(fr *f, fr_recursion *r, const fr_frame *frame, uint32_t node, fr_value *out)
{
    fr_value *leaves;
    uint32_t n, n_values = 0;
    if (f->pure)
        return fr_not_pure(f, f->pure, node, "a recursive call");
    TS_TRY(recurse_leaves(f, frame->scope->n_args, frame->given, &leaves, &n));
    ts_assert(n == r->n);
    TS_TRY(recurse_learn_args(f, r, node, leaves));
    r->called = true;
    if (!r->has_result && frame->is_discarded) { /* its value is not asked for */
        *out = fr_none();
        return TS_OK;
    }
    if (!r->has_result || r->again)
        return recurse_stop(f);
    ts_val *values = TS_NEW_N(f->arena, ts_val, n + 1);
    if (!values)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++)
        if (r->varies[i])
            TS_TRY(recurse_value(f, &leaves[i], r->dtype[i], &values[n_values++]));
    ts_val v = ts_emit_multi(&f->b, TS_OP_recur, n_values, values, f->n_recursions - 1 - r->level, 0, r->n_results,
                             r->result_type);
    return recurse_results(f, r, v + 1, out);
}

/* ---- the function that is one ------------------------------------------------------------------------ */

/* The region's begin; parameters have what was passed, or are arguments of the region. */
static ts_status recurse_open(fr *f, fr_recursion *r, ts_val *opener)
{
    fr_frame *frame = r->frame;
    const fr_scope *scope = frame->scope;
    ts_val *inits = TS_NEW_N(f->arena, ts_val, r->n + 1);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, r->n + 1);
    uint32_t n = 0;
    if (!inits || !leaves)
        return fr_oom(f);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->varies[i])
            TS_TRY(recurse_value(f, &r->first[i], r->dtype[i], &inits[n++]));
    *opener = ts_recursion_begin(&f->b, RECURSE_DEPTH, n, inits);
    memcpy(leaves, r->first, r->n * sizeof *leaves);
    for (uint32_t i = 0, at = 0; i < r->n; i++)
        if (r->varies[i])
            leaves[i] = fr_tile(r->dtype[i], ts_region_arg(f->b.fn, *opener, at++));
    for (uint32_t i = 0; i < scope->n_slots + FR_HIDDEN; i++)
        frame->slots[i] = (fr_value){.kind = FR_UNBOUND};
    const fr_value *next = leaves;
    for (uint32_t i = 0; i < scope->n_args; i++) {
        uint32_t slot = fr_slot_of(scope, ts_pack_node(&f->pack, scope->args[i])->f[0]) - 1;
        TS_TRY(fr_rebuild(f, &frame->given[i], &next, &frame->slots[slot]));
    }
    return TS_OK;
}

/* The result's type, as far as the paths say that were lowered. */
static ts_status recurse_learn_result(fr *f, fr_recursion *r, const fr_value *result, const fr_value *leaves,
                                      uint32_t n)
{
    bool changed = !r->has_result && r->called;
    uint32_t root = r->frame->scope->root;
    if (r->has_result && (n != r->n_results || !fr_same_skeleton(f, &r->result, result)))
        return fr_error(f, root, TS_TILETYPE, "the return type of '%s', which calls itself, does not converge\n  "
                        "found: %s, and %s before\n  help: end each path with values of one type", r->frame->name,
                        fr_say(f, result), fr_say(f, &r->result));
    if (!r->has_result) {
        r->result_dtype = TS_NEW_N(f->arena, ts_dtype, n + 1);
        r->result_type = TS_NEW_N(f->arena, ts_type, n + 1);
        if (!r->result_dtype || !r->result_type)
            return fr_oom(f);
        r->n_results = n;
        for (uint32_t i = 0; i < n; i++)
            TS_TRY(recurse_dtype(f, &leaves[i], &r->result_dtype[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!recurse_join(f, &r->result_dtype[i], &leaves[i], &changed))
            return fr_error(f, root, TS_TILETYPE, "the return type of '%s', which calls itself, does not converge\n  "
                            "found: %s, and %s before", r->frame->name, fr_say(f, result), fr_say(f, &r->result));
        r->result_type[i] = r->result_dtype[i] ? fr_ir(r->result_dtype[i]) : ts_type_of(f->b.fn, leaves[i].as.v);
    }
    r->result = *result;
    r->has_result = true;
    r->again |= changed;
    return TS_OK;
}

static ts_status recurse_close(fr *f, const fr_recursion *r, ts_val opener, const fr_value *leaves, fr_value *out)
{
    ts_val *values = TS_NEW_N(f->arena, ts_val, r->n_results + 1);
    if (!values)
        return fr_oom(f);
    for (uint32_t i = 0; i < r->n_results; i++)
        TS_TRY(recurse_value(f, &leaves[i], r->result_dtype[i], &values[i]));
    ts_term(&f->b, TS_OP_yield, r->n_results, values);
    ts_end(&f->b, opener, r->n_results, r->result_type);
    return recurse_results(f, r, f->b.fn->inst.n - r->n_results, out);
}

/* The body once; *done: nothing new was learned. */
static ts_status recurse_turn(fr *f, fr_recursion *r, fr_value *out, bool *done)
{
    fr_frame *frame = r->frame;
    fr_value result, *leaves;
    fr_point before = fr_here(f);
    uint32_t n;
    ts_val opener = 0;
    r->again = false;
    TS_TRY(recurse_open(f, r, &opener));
    f->regions++;
    f->n_recursions++;
    ts_status status = fr_call_body(f, frame->scope, &result);
    bool stopped = fr_stopped(f, status, &before); /* before a path had returned */
    if (stopped && r->again)
        return TS_OK;
    bool nothing = status == TS_OK && frame->raises && r->called && !r->has_result;
    if (nothing && r->again) { /* the paths that return come when the arguments are no constants */
        fr_back(f, &before);
        return TS_OK;
    }
    if (nothing || stopped)
        return fr_error(f, frame->scope->root, TS_RECURSION, "cannot type infer runaway recursion: '%s' calls itself "
                        "on every path\n  help: return before the call where it is done", frame->name);
    TS_TRY(status);
    f->regions--;
    f->n_recursions--;
    TS_TRY(recurse_leaves(f, 1, &result, &leaves, &n));
    TS_TRY(recurse_learn_result(f, r, &result, leaves, n));
    *done = !r->again;
    if (*done)
        return recurse_close(f, r, opener, leaves, out);
    fr_back(f, &before);
    return TS_OK;
}

ts_status fr_recursion_lower(fr *f, fr_frame *frame, const fr_point *start, fr_value *out)
{
    fr_recursion *r = TS_NEW(f->arena, fr_recursion);
    bool done = false;
    if (!r)
        return fr_oom(f);
    f->restart = NULL;
    f->steps = TS_MIN(f->steps, RECURSE_STEPS / 2);
    fr_back(f, start);
    r->frame = frame;
    r->level = f->n_recursions;
    TS_TRY(recurse_leaves(f, frame->scope->n_args, frame->given, &r->first, &r->n));
    r->varies = TS_NEW_N(f->arena, bool, r->n + 1);
    r->dtype = TS_NEW_N(f->arena, ts_dtype, r->n + 1);
    if (!r->varies || !r->dtype)
        return fr_oom(f);
    frame->recursion = r;
    frame->is_discarded = false;
    for (uint32_t turn = 0; turn < RECURSE_TURNS && !done; turn++)
        TS_TRY(recurse_turn(f, r, out, &done));
    frame->recursion = NULL;
    return done ? TS_OK : fr_error(f, frame->scope->root, TS_RECURSION, "the types of '%s', which calls itself, do not "
                                   "settle\n  help: convert its arguments and results to one type", frame->name);
}

/* ---- where calls are --------------------------------------------------------------------------------- */

static ts_status recurse_restart(fr *f, fr_frame *frame)
{
    f->restart = frame;
    return TS_RECURSION;
}

ts_status fr_recurse(fr *f, fr_frame *frame, uint32_t node, fr_value *out, bool *done)
{
    fr_frame *outermost = NULL;
    uint32_t n = 0;
    bool late = f->steps > RECURSE_STEPS;
    *done = false;
    if (f->dialect->level != TS_LEVEL_S)
        return TS_OK;
    for (fr_frame *g = f->frame; g; g = g->caller) {
        bool same = false;
        if (g->scope->root != frame->scope->root || g->is_kernel || !recurse_alike(f, g, frame))
            continue;
        *done = true;
        if (g->recursion)
            return recurse_again(f, g->recursion, frame, node, out);
        *done = false;
        if (g->regions == f->regions && !late)
            continue;
        n++;
        outermost = g;
        TS_TRY(recurse_same(f, g, frame, &same));
        if (same && g->regions != f->regions)
            return recurse_restart(f, g);
    }
    if (!outermost || (n < RECURSE_INLINED && ++outermost->n_inlined < RECURSE_CALLS && !late))
        return TS_OK;
    return recurse_restart(f, outermost);
}
