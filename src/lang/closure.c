/* SPDX-License-Identifier: Apache-2.0
 *
 * What closures hold. While the call that made a closure runs, its variables may still change, and the closure reads
 * them where they are. Once the call is over they are values that nothing changes: then the closure has leaves as
 * containers have (its defaults, and the variables of that call that nested functions read), so that two closures of
 * one function meet after a branch, and one may be made anew in every turn of a loop. Part of the front end (lower.h).
 */
#include "lang/lower.h"

fr_frame *fr_closure_frame(const fr_value *v)
{
    fr_frame *frame = v->kind == FR_FUNC ? v->as.function->lexical : NULL;
    return frame && frame->is_over && !frame->is_seen ? frame : NULL;
}

/* The i-th thing that it may hold; NULL where it does not. */
static fr_value *closure_held(const fr_function *fn, const fr_frame *frame, uint32_t i)
{
    if (i < fn->n_defaults)
        return fn->defaults[i].kind == FR_UNBOUND ? NULL : &fn->defaults[i];
    i -= fn->n_defaults;
    return frame->scope->captured[i] ? &frame->slots[i] : NULL;
}

static uint32_t closure_most(const fr_function *fn, const fr_frame *frame)
{
    return fn->n_defaults + frame->scope->n_slots;
}

/* Another function of the same call, or the closure itself: it goes where the closure goes. */
static bool closure_is_sibling(const fr_value *held, const fr_frame *frame)
{
    return held->kind == FR_FUNC && held->as.function->lexical == frame;
}

static bool closure_siblings_alike(const fr *f, const fr_function *x, const fr_function *y)
{
    bool alike = x->root == y->root && x->n_defaults == y->n_defaults;
    for (uint32_t i = 0; alike && i < x->n_defaults; i++)
        alike = fr_same(f, &x->defaults[i], &y->defaults[i]);
    return alike;
}

uint32_t fr_closure_flatten(const fr_value *v, fr_value *leaves)
{
    const fr_function *fn = v->as.function;
    fr_frame *frame = fr_closure_frame(v);
    uint32_t n = 0;
    frame->is_seen = true; /* it may hold itself */
    for (uint32_t i = 0; i < closure_most(fn, frame); i++) {
        const fr_value *held = closure_held(fn, frame, i);
        if (held)
            n += fr_flatten(held, leaves ? leaves + n : NULL);
    }
    frame->is_seen = false;
    return n;
}

bool fr_closures_alike(const fr *f, const fr_value *a, const fr_value *b)
{
    const fr_function *x = a->as.function, *y = b->as.function;
    fr_frame *of_x = fr_closure_frame(a), *of_y = fr_closure_frame(b);
    if (!of_x || !of_y || x->root != y->root || of_x->scope != of_y->scope || of_x->lexical != of_y->lexical)
        return false;
    bool alike = true;
    of_x->is_seen = of_y->is_seen = true;
    for (uint32_t i = 0; i < closure_most(x, of_x) && alike; i++) {
        const fr_value *held = closure_held(x, of_x, i), *other = closure_held(y, of_y, i);
        alike = (held != NULL) == (other != NULL);
        if (!alike || !held)
            continue;
        alike = closure_is_sibling(held, of_x) && closure_is_sibling(other, of_y)
                    ? closure_siblings_alike(f, held->as.function, other->as.function)
                    : fr_same_skeleton(f, held, other);
    }
    of_x->is_seen = of_y->is_seen = false;
    return alike;
}

static ts_status closure_copy(fr *f, const fr_function *old, fr_frame *frame, fr_function **out)
{
    if (!(*out = TS_NEW(f->arena, fr_function)))
        return fr_oom(f);
    **out = *old;
    (*out)->lexical = frame;
    return TS_OK;
}

ts_status fr_closure_rebuild(fr *f, const fr_value *skeleton, const fr_value **leaves, fr_value *out)
{
    const fr_function *old = skeleton->as.function;
    fr_frame *frame = fr_closure_frame(skeleton), *made;
    fr_function *fn;
    fr_value *defaults = TS_NEW_N(f->arena, fr_value, old->n_defaults + 1);
    if (!defaults)
        return fr_oom(f);
    TS_TRY(fr_frame_open(f, frame, frame->scope, &made));
    TS_TRY(closure_copy(f, old, made, &fn));
    memcpy(made->slots, frame->slots, (frame->scope->n_slots + FR_HIDDEN) * sizeof *made->slots);
    memcpy(defaults, old->defaults, old->n_defaults * sizeof *defaults);
    fn->defaults = defaults;
    frame->is_seen = true;
    for (uint32_t i = 0; i < closure_most(old, frame); i++) {
        const fr_value *held = closure_held(old, frame, i);
        fr_value *place = i < old->n_defaults ? &defaults[i] : &made->slots[i - old->n_defaults];
        if (held)
            TS_TRY(fr_rebuild(f, held, leaves, place));
        if (held && closure_is_sibling(held, frame))
            TS_TRY(closure_copy(f, held->as.function, made, &place->as.function));
    }
    frame->is_seen = false;
    *out = (fr_value){.kind = FR_FUNC, .as.function = fn};
    return TS_OK;
}
