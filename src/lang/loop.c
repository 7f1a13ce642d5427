/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops. `for` over range without break or return becomes `for`; the others become `loop`, so that
 * a break really leaves:
 *
 *     for i in range(a, b, s): body          for %a, %b, %s, inits.. { body; continue .. }
 *     the same with break                    loop %a, inits.. { if i < b {} else { break i, .. };
 * body; continue i + s, .. } while c: body                          loop inits.. { if c {} else {
 * break .. }; body; continue .. }
 *
 * What is carried: live variables that the body assigns and that have a value before. A loose
 * constant before the loop takes the type the body gives it (the body is then lowered again); any
 * other change of type puts the variable in conflict, an error only where it is read. `return`
 * inside a loop sets two hidden variables and breaks; control.c tests them after the loop. Part of
 * the front end (lower.h).
 */
#include "lang/lower.h"

typedef struct loop_leaf {
    ts_dtype dtype;
    ts_type type;
    bool loose; /* started as a literal: may still change its type */
} loop_leaf;

typedef struct loop_slot {
    uint32_t slot;
    fr_value skeleton; /* value at the start of the body */
    uint32_t n_leaves;
    loop_leaf *leaves;
    loop_leaf *adopted;   /* types to start with, learned by an attempt before */
    const char *conflict; /* learned: not carried */
    bool has_zero;        /* no value before; starts as zeros of `zero`'s types, which nothing reads */
    fr_value *exits;      /* of each leaf: the constant that all breaks so far agree on, else FR_CONFLICT */
    bool bound, unbound;  /* at a break seen so far: it had a value, it had none */
    fr_value zero;
} loop_slot;

typedef struct fr_carry {
    ts_val opener;
    uint32_t n;
    loop_slot *slots;
    uint32_t n_leaves;
    bool counts; /* `loop` form of a range: leaf 0 is the counter */
    ts_val counter, step;
    bool retry;
} fr_carry;

/* ---- starting ------------------------------------------------------------------------ */

static ts_val loop_zero(fr *f, const loop_leaf *leaf)
{
    ts_type part = ts_type_part(ts_type_elem(f->module, leaf->type));
    if (!part)
        return ts_bits(&f->b, leaf->type, 0);
    ts_val zero = ts_bits(&f->b, ts_type_with_elem(f->module, leaf->type, part), 0);
    return fr_complex_join(f, (ts_dtype)leaf->dtype, zero, zero).as.v;
}

/* The dialect may make the leaf of another dtype, so that it takes what the body gives it, too. */
static bool loop_may_join(const fr *f, const fr_value *v)
{
    return f->dialect->join && v->dtype;
}

/* A scalar that begins with the dtype that an attempt before found. */
static ts_status loop_convert(fr *f, const loop_leaf *adopted, const fr_value *v, loop_leaf *leaf, ts_val *out)
{
    fr_value made;
    *leaf = *adopted;
    if (adopted->dtype == v->dtype)
        return TS_OK;
    TS_TRY(fr_convert(f, v, adopted->dtype, TS_RN, &made));
    *out = made.as.v;
    return TS_OK;
}

/* The initial value of one leaf; learns what may change later. */
static ts_status loop_init_leaf(fr *f, loop_slot *s, uint32_t i, const fr_value *v, ts_val *out)
{
    loop_leaf *leaf = &s->leaves[i];
    if (s->has_zero) {
        *leaf = s->adopted[i];
        *out = loop_zero(f, leaf);
        return TS_OK;
    }
    if (v->kind == FR_TILE) {
        *leaf = (loop_leaf){(ts_dtype)v->dtype, ts_type_of(f->b.fn, v->as.v), loop_may_join(f, v)};
        *out = v->as.v;
        return s->adopted ? loop_convert(f, &s->adopted[i], v, leaf, out) : TS_OK;
    }
    leaf->loose = !v->dtype || loop_may_join(f, v);
    if (s->adopted) {
        *leaf = s->adopted[i];
    } else {
        TS_TRY(fr_default_dtype(f, v, &leaf->dtype));
        leaf->type = fr_ir(leaf->dtype);
    }
    fr_shape shape = {.rank = ts_type_rank(f->module, leaf->type)};
    for (uint32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = ts_type_dims(f->module, leaf->type)[d];
    *out = fr_constant(f, v, leaf->dtype, &shape);
    return TS_OK;
}

static ts_status loop_inits(fr *f, fr_carry *c, ts_val **out)
{
    uint32_t total = c->counts;
    const fr_value *slots = f->frame->slots;
    for (uint32_t i = 0; i < c->n; i++) {
        loop_slot *s = &c->slots[i];
        s->skeleton = s->has_zero ? s->zero : slots[s->slot];
        s->n_leaves =
            s->conflict || s->skeleton.kind == FR_UNBOUND || s->skeleton.kind == FR_CONFLICT
                ? 0
                : fr_flatten(&s->skeleton, NULL);
        total += s->n_leaves;
    }
    ts_val *inits = TS_NEW_N(f->arena, ts_val, total + 1);
    if (!inits)
        return fr_oom(f);
    inits[0] = c->counter;
    c->n_leaves = c->counts;
    for (uint32_t i = 0; i < c->n; i++) {
        loop_slot *s = &c->slots[i];
        fr_value *leaves = TS_NEW_N(f->arena, fr_value, s->n_leaves + 1);
        s->leaves = TS_NEW_N(f->arena, loop_leaf, s->n_leaves + 1);
        s->exits = TS_NEW_N(f->arena, fr_value, s->n_leaves + 1);
        if (!leaves || !s->leaves || !s->exits)
            return fr_oom(f);
        if (s->n_leaves)
            fr_flatten(&s->skeleton, leaves);
        for (uint32_t j = 0; j < s->n_leaves; j++)
            TS_TRY(loop_init_leaf(f, s, j, &leaves[j], &inits[c->n_leaves++]));
    }
    *out = inits;
    return TS_OK;
}

/* Gives the variables the values at `first`.. (arguments of the region, or results of the loop). */
static ts_status loop_bind(fr *f, fr_carry *c, ts_val first, bool after)
{
    ts_val v = first + c->counts;
    uint32_t line = ts_pack_node(&f->pack, f->node)->line;
    for (uint32_t i = 0; i < c->n; i++) {
        loop_slot *s = &c->slots[i];
        fr_value *slot = &f->frame->slots[s->slot];
        if (s->conflict) {
            *slot = (fr_value){.kind = FR_CONFLICT, .as.text = s->conflict};
            continue;
        }
        if (s->skeleton.kind == FR_UNBOUND) {
            if (after)
                *slot = (fr_value){.kind = FR_UNBOUND,
                                   .as.text = fr_textf(
                                       f,
                                       "\n  help: it is first assigned inside the loop in line %u, "
                                       "which may not run; give it a value before",
                                       line)};
            continue;
        }
        fr_value *leaves = TS_NEW_N(f->arena, fr_value, s->n_leaves + 1);
        if (!leaves)
            return fr_oom(f);
        for (uint32_t j = 0; j < s->n_leaves; j++, v++)
            leaves[j] = after && s->exits[j].kind == FR_NUMBER ? s->exits[j] : fr_tile(s->leaves[j].dtype, v);
        const fr_value *next = leaves;
        TS_TRY(fr_rebuild(f, &s->skeleton, &next, slot));
        if (s->has_zero && !after && s->slot < f->frame->scope->n_slots && !f->dialect->has_zeros)
            *slot = (fr_value){.kind = FR_UNBOUND};
    }
    return TS_OK;
}

/* ---- leaving an iteration ------------------------------------------------------------ */

static bool loop_fits(fr *f, const loop_leaf *leaf, const fr_value *v)
{
    ts_dtype dtype = (ts_dtype)v->dtype;
    if (f->dialect->join && leaf->dtype)
        return (v->kind == FR_NUMBER || (v->kind == FR_TILE && dtype)) &&
               (v->kind != FR_NUMBER || fr_default_dtype(f, v, &dtype) == TS_OK) &&
               f->dialect->join(leaf->dtype, dtype) == leaf->dtype;
    if (v->kind == FR_TILE)
        return v->dtype == leaf->dtype && ts_type_of(f->b.fn, v->as.v) == leaf->type;
    return leaf->dtype && fr_joins(v, leaf->dtype) && (!v->dtype || ts_type_rank(f->module, leaf->type) == 0);
}

static bool loop_joins(fr *f, const loop_leaf *leaf, const fr_value *v, loop_leaf *out)
{
    ts_dtype dtype = (ts_dtype)v->dtype;
    if (v->kind == FR_NUMBER && fr_default_dtype(f, v, &dtype) != TS_OK)
        return false;
    out->dtype = dtype && leaf->dtype ? f->dialect->join(leaf->dtype, dtype) : TS_DTYPE_NONE;
    out->type = fr_ir(out->dtype);
    return out->dtype != TS_DTYPE_NONE;
}

/* A leaf that began as a literal takes the type of `v`, if the literal can. */
static bool loop_adopts(fr *f, const loop_leaf *leaf, const fr_value *v, loop_leaf *out)
{
    if (!leaf->loose)
        return false;
    *out = (loop_leaf){(ts_dtype)v->dtype, 0, f->dialect->join != NULL};
    if (f->dialect->join)
        return loop_joins(f, leaf, v, out);
    if (v->kind == FR_TILE) {
        out->type = ts_type_of(f->b.fn, v->as.v);
    } else {
        if (fr_default_dtype(f, v, &out->dtype) != TS_OK)
            return false;
        out->type = fr_ir(out->dtype);
        out->loose = !v->dtype;
    }
    return out->dtype && !fr_dtype_is_restricted(out->dtype) &&
           fr_dtype_cat(leaf->dtype) == fr_dtype_cat(out->dtype);
}

static void loop_conflict(fr *f, fr_carry *c, loop_slot *s, const fr_value *before,
                          const fr_value *v)
{
    const char *now =
        v->kind == FR_UNBOUND || v->kind == FR_CONFLICT ? "nothing on some path" : fr_say(f, v);
    s->conflict =
        fr_textf(f,
                 "changes its type in the loop\n  found: %s before it, %s at its end\n"
                 "  help: give it the same dtype and shape before the loop (0.0 for 0), or use two names",
                 fr_say(f, before), now);
    c->retry = true;
}

static ts_status loop_learn(fr *f, fr_carry *c, loop_slot *s, const fr_value *value,
                            const fr_value *leaves)
{
    loop_leaf *adopted = TS_NEW_N(f->arena, loop_leaf, s->n_leaves + 1);
    if (!adopted)
        return fr_oom(f);
    for (uint32_t j = 0; j < s->n_leaves; j++) {
        adopted[j] = s->leaves[j];
        if (!loop_fits(f, &s->leaves[j], &leaves[j]) &&
            !loop_adopts(f, &s->leaves[j], &leaves[j], &adopted[j])) {
            loop_conflict(f, c, s, &s->skeleton, value);
            return TS_OK;
        }
    }
    s->adopted = adopted;
    c->retry = true;
    return TS_OK;
}

/* What a break gives the variable, leaf by leaf; NULL: nothing that anything reads. */
static void loop_note_exit(const fr *f, loop_slot *s, const fr_value *leaves, bool leaves_loop)
{
    for (uint32_t j = 0; j < s->n_leaves && leaves_loop; j++) {
        fr_value *exit = &s->exits[j];
        if (!leaves || leaves[j].kind != FR_NUMBER || (exit->kind != FR_UNBOUND && !fr_same(f, exit, &leaves[j])))
            *exit = (fr_value){.kind = FR_CONFLICT};
        else
            *exit = leaves[j];
    }
}

/* Appends the leaves of one variable to `out` as the carried types want them. */
static ts_status loop_pass(fr *f, fr_carry *c, loop_slot *s, ts_val args, bool leaves_loop, ts_val *out)
{
    const fr_value *v = &f->frame->slots[s->slot];
    for (uint32_t j = 0; j < s->n_leaves;
         j++) /* anything valid, for attempts that are thrown away */
        out[j] = args + j;
    if (s->conflict || s->skeleton.kind == FR_UNBOUND || s->skeleton.kind == FR_CONFLICT)
        return TS_OK;
    if (v->kind == FR_UNBOUND && s->has_zero) {
        loop_note_exit(f, s, NULL, leaves_loop);
        return TS_OK;
    }
    if (v->kind == FR_UNBOUND || v->kind == FR_CONFLICT || !fr_same_skeleton(f, &s->skeleton, v) ||
        fr_flatten(v, NULL) != s->n_leaves) {
        loop_conflict(f, c, s, &s->skeleton, v);
        return TS_OK;
    }
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, s->n_leaves + 1);
    if (!leaves)
        return fr_oom(f);
    fr_flatten(v, leaves);
    for (uint32_t j = 0; j < s->n_leaves; j++)
        if (!loop_fits(f, &s->leaves[j], &leaves[j]))
            return loop_learn(f, c, s, v, leaves);
    loop_note_exit(f, s, leaves, leaves_loop);
    for (uint32_t j = 0; j < s->n_leaves; j++) {
        fr_shape shape = {.rank = ts_type_rank(f->module, s->leaves[j].type)};
        for (uint32_t d = 0; d < shape.rank; d++)
            shape.dims[d] = ts_type_dims(f->module, s->leaves[j].type)[d];
        if (leaves[j].kind == FR_TILE && leaves[j].dtype != s->leaves[j].dtype) /* joined */
            TS_TRY(fr_convert(f, &leaves[j], s->leaves[j].dtype, TS_RN, &leaves[j]));
        out[j] = leaves[j].kind == FR_TILE ? leaves[j].as.v
                                           : fr_constant(f, &leaves[j], s->leaves[j].dtype, &shape);
    }
    return TS_OK;
}

/* A variable without a value before the loop has one after it if it has one at every break. */
static void loop_note_bound(fr *f, fr_carry *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        loop_slot *s = &c->slots[i];
        const fr_value *v = &f->frame->slots[s->slot];
        if (s->slot >= f->frame->scope->n_slots || (s->skeleton.kind != FR_UNBOUND && !s->has_zero))
            continue;
        if (v->kind == FR_UNBOUND || v->kind == FR_CONFLICT) {
            s->unbound = !f->dialect->has_zeros;
            c->retry |= s->has_zero && s->unbound;
            s->has_zero = s->has_zero && !s->unbound;
        } else if (!s->bound) {
            s->bound = true;
            s->zero = *v;
        }
    }
}

/* break or continue with the values of now. */
static ts_status loop_term(fr *f, fr_carry *c, ts_op op)
{
    ts_val *values = TS_NEW_N(f->arena, ts_val, c->n_leaves + 1);
    uint32_t n = c->counts, skip = ts_at(f->b.fn, c->opener)->op == TS_OP_for;
    if (!values)
        return fr_oom(f);
    if (c->counts)
        values[0] =
            op == TS_OP_continue ? ts_op2(&f->b, TS_OP_addi, c->counter, c->step, 0) : c->counter;
    if (op == TS_OP_break || f->dialect->has_zeros)
        loop_note_bound(f, c);
    for (uint32_t i = 0; i < c->n; i++) {
        TS_TRY(loop_pass(f, c, &c->slots[i], c->opener + 1 + skip + n, op == TS_OP_break, values + n));
        n += c->slots[i].n_leaves;
    }
    ts_term(&f->b, op, c->n_leaves, values);
    return TS_OK;
}

ts_status fr_unreachable(fr *f)
{
    fr_carry *c = f->frame->loop ? f->frame->loop->carry : NULL;
    if (!c) {
        ts_term(&f->b, TS_OP_return, 0, NULL); /* both sides raise */
        return TS_OK;
    }
    ts_val *args = TS_NEW_N(f->arena, ts_val, c->n_leaves + 1);
    uint32_t skip = ts_at(f->b.fn, c->opener)->op == TS_OP_for;
    if (!args)
        return fr_oom(f);
    for (uint32_t i = 0; i < c->n_leaves; i++)
        args[i] = c->opener + 1 + skip + i;
    ts_term(&f->b, TS_OP_continue, c->n_leaves, args);
    return TS_OK;
}

static uint32_t loop_n_else(const fr *f, uint32_t node)
{
    uint32_t n;
    const ts_node *loop = ts_pack_node(&f->pack, node);
    ts_pack_list(&f->pack, loop->f[loop->kind == TS_AST_For ? 3 : 2], &n);
    return n;
}

ts_status fr_jump(fr *f, uint32_t node, bool is_break, fr_flow *flow)
{
    fr_loop *loop = f->frame->loop;
    const char *what = is_break ? "break" : "continue";
    if (!loop)
        return fr_error(f, node, TS_SYNTAX, "'%s' outside of a loop", what);
    if (!loop->carry)
        return fr_error(f, node, TS_SYNTAX,
                        "'%s' in a loop over ct.static_iter is not possible\n  help: it is "
                        "unrolled at compile time; "
                        "filter the items instead, or loop over range(...)",
                        what);
    TS_TRY(fr_context_unwind(f));
    *flow = FR_ENDS;
    if (is_break && loop_n_else(f, loop->node))
        f->frame->slots[f->frame->scope->n_slots + FR_SLOT_BROKE] = fr_bool(true);
    return loop_term(f, loop->carry, is_break ? TS_OP_break : TS_OP_continue);
}

/* From the next attempt on a variable without a value before the loop starts as zeros of the value's types. */
static ts_status loop_learn_zero(fr *f, fr_carry *c, loop_slot *s, const fr_value *value)
{
    uint32_t n = fr_flatten(value, NULL);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, n + 1);
    s->adopted = TS_NEW_N(f->arena, loop_leaf, n + 1);
    if (!leaves || !s->adopted)
        return fr_oom(f);
    fr_flatten(value, leaves);
    for (uint32_t j = 0; j < n; j++) {
        fr_value v;
        TS_TRY(fr_as_tile(f, &leaves[j], &v));
        s->adopted[j] = (loop_leaf){(ts_dtype)v.dtype, ts_type_of(f->b.fn, v.as.v),
                                    leaves[j].kind == FR_NUMBER && !leaves[j].dtype};
    }
    s->zero = *value;
    s->has_zero = c->retry = true;
    return TS_OK;
}

static ts_status loop_learn_result(fr *f, fr_carry *c, const fr_value *value)
{
    uint32_t slot = f->frame->scope->n_slots + FR_SLOT_RESULT;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->slots[i].slot == slot && c->slots[i].skeleton.kind == FR_UNBOUND)
            TS_TRY(loop_learn_zero(f, c, &c->slots[i], value));
    return TS_OK;
}

/* No array is among the leaves: those have no zero. */
static bool loop_has_zeros(fr *f, const fr_value *value)
{
    uint32_t n = fr_flatten(value, NULL);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, n + 1);
    bool fine = leaves != NULL;
    if (leaves)
        fr_flatten(value, leaves);
    for (uint32_t i = 0; i < n && fine; i++)
        fine = leaves[i].kind == FR_NUMBER || leaves[i].dtype;
    return fine;
}

static ts_status loop_learn_bound(fr *f, fr_carry *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        loop_slot *s = &c->slots[i];
        if (s->bound && !s->unbound && !s->has_zero && !s->conflict && s->skeleton.kind == FR_UNBOUND &&
            loop_has_zeros(f, &s->zero))
            TS_TRY(loop_learn_zero(f, c, s, &s->zero));
    }
    return TS_OK;
}

ts_status fr_return(fr *f, uint32_t node, const fr_value *value, fr_flow *flow)
{
    fr_value *hidden = f->frame->slots + f->frame->scope->n_slots;
    fr_loop *loop = f->frame->loop;
    *flow = FR_RETURNS;
    TS_TRY(fr_context_unwind(f));
    hidden[FR_SLOT_RESULT] = *value;
    if (!loop)
        return TS_OK;
    if (!loop->carry)
        return fr_error(f, node, TS_SYNTAX,
                        "'return' in a loop over ct.static_iter is not possible\n  help: it is "
                        "unrolled at compile time");
    hidden[FR_SLOT_RETURNED] = fr_bool(true);
    *flow = FR_ENDS;
    TS_TRY(loop_learn_result(f, loop->carry, value));
    return loop_term(f, loop->carry, TS_OP_break);
}

/* ---- one attempt at a loop ----------------------------------------------------------- */

typedef struct loop_kind {
    uint32_t node, target, test; /* target of `for`, test of `while` */
    const uint32_t *body;
    uint32_t n_body;
    bool leaves_early; /* contains break or return */
    fr_flow flow;      /* unrolled: FR_ENDS where a turn raised */
    ts_dtype dtype;    /* of the counter */
    ts_val start, stop, step;
    const fr_sequence *over; /* the target is its item at the counter */
    bool no_sign;            /* start and stop are not negative, and start + step may need all bits of the counter */
    ts_val origin, stride; /* 0, or the counter counts turns and the target is origin + counter * stride */
} loop_kind;

/* How the counter is compared with its stop. */
static uint32_t loop_attr(const loop_kind *k)
{
    return k->no_sign || k->stride || !fr_dtype_is_signed(k->dtype) ? TS_A_UNSIGNED : 0;
}

/* if go {} else { break } */
static ts_status loop_guard(fr *f, fr_carry *c, ts_val go)
{
    ts_val opener = ts_if_begin(&f->b, go);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_else(&f->b);
    TS_TRY(loop_term(f, c, TS_OP_break));
    ts_end(&f->b, opener, 0, NULL);
    return TS_OK;
}

static ts_val loop_target(fr *f, const loop_kind *k, ts_val counter)
{
    return k->stride ? ts_op2(&f->b, TS_OP_addi, k->origin, ts_op2(&f->b, TS_OP_muli, counter, k->stride, 0), 0)
                     : counter;
}

static ts_status loop_head(fr *f, const loop_kind *k, fr_carry *c, bool *never)
{
    bool known, truth;
    ts_val cond;
    fr_value v;
    *never = false;
    if (!k->test) {
        v = fr_tile(k->dtype, loop_target(f, k, c->counter));
        if (k->over)
            TS_TRY(fr_sequence_item(f, f->node, k->over, &v, &v));
        if (c->counts) {
            cond = ts_cmp(&f->b, TS_OP_cmpi, TS_LT, c->counter, k->stop, loop_attr(k));
            TS_TRY(loop_guard(f, c, cond));
        }
        return fr_assign(f, k->target, &v);
    }
    TS_TRY(fr_test(f, k->test, &v));
    TS_TRY(fr_condition(f, k->test, &v, &known, &truth, &cond));
    *never = known && !truth;
    return known ? TS_OK : loop_guard(f, c, cond);
}

static ts_status loop_region(fr *f, const loop_kind *k, fr_carry *c)
{
    bool never;
    fr_flow flow = FR_FALLS;
    fr_loop loop = {f->frame->loop, k->node, k->body, k->n_body, c};
    f->frame->loop = &loop;
    ts_status status = loop_head(f, k, c, &never);
    if (status == TS_OK && !never)
        status = fr_block_lower(f, &(fr_block){k->body, k->n_body, NULL}, &flow);
    fr_at(f, k->node);
    if (status == TS_OK && flow == FR_FALLS)
        status = loop_term(f, c, never ? TS_OP_break : TS_OP_continue);
    f->frame->loop = loop.outer;
    return status;
}

static ts_status loop_attempt(fr *f, const loop_kind *k, fr_carry *c)
{
    ts_val *inits = NULL;
    bool counted = !k->test && !k->leaves_early;
    c->retry = false;
    c->counts = !k->test && k->leaves_early;
    c->counter = k->start;
    c->step = k->step;
    fr_at(f, k->node);
    TS_TRY(loop_inits(f, c, &inits));
    if (counted)
        c->opener = ts_for_begin(&f->b, k->start, k->stop, k->step, c->n_leaves, inits, loop_attr(k));
    else
        c->opener = ts_loop_begin(&f->b, c->n_leaves, inits);
    c->counter = ts_region_arg(f->b.fn, c->opener, 0);
    TS_TRY(loop_bind(f, c, ts_region_arg(f->b.fn, c->opener, counted), false));
    f->regions++;
    TS_TRY(loop_region(f, k, c));
    f->regions--;
    TS_TRY(loop_learn_bound(f, c));
    if (c->retry)
        return TS_OK;
    ts_end_like(&f->b, c->opener);
    return loop_bind(f, c, f->b.fn->inst.n - c->n_leaves, true);
}

/* ---- choosing what to carry ---------------------------------------------------------- */

static ts_status loop_slots(fr *f, const loop_kind *k, fr_carry *c)
{
    uint32_t n, *assigned, base = f->frame->scope->n_slots;
    uint32_t nodes[] = {k->node};
    TS_TRY(fr_assigned(f, nodes, 1, &assigned, &n));
    c->slots = TS_NEW_N(f->arena, loop_slot, n + 3);
    if (!c->slots)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++) {
        if (fr_live_in_loop(f, assigned[i], k->node, k->body, k->n_body))
            c->slots[c->n++].slot = assigned[i];
        else
            f->frame->slots[assigned[i]] = (fr_value){.kind = FR_UNBOUND};
    }
    if (loop_n_else(f, k->node) && fr_contains(f, k->body, k->n_body, TS_AST_Break)) {
        f->frame->slots[base + FR_SLOT_BROKE] = fr_bool(false);
        c->slots[c->n++].slot = base + FR_SLOT_BROKE;
    }
    if (fr_contains(f, k->body, k->n_body, TS_AST_Return)) {
        f->frame->slots[base + FR_SLOT_RETURNED] = fr_bool(false);
        f->frame->slots[base + FR_SLOT_RESULT] = (fr_value){.kind = FR_UNBOUND};
        c->slots[c->n++].slot = base + FR_SLOT_RETURNED;
        c->slots[c->n++].slot = base + FR_SLOT_RESULT;
    }
    return TS_OK;
}

/* Types that the body gives to literals are learned by trying; each attempt settles one more. */
static ts_status loop_lower(fr *f, const loop_kind *k)
{
    fr_carry carry = {0};
    TS_TRY(loop_slots(f, k, &carry));
    uint32_t n_all = f->frame->scope->n_slots + FR_HIDDEN;
    fr_value *before = TS_NEW_N(f->arena, fr_value, n_all);
    if (!before)
        return fr_oom(f);
    memcpy(before, f->frame->slots, n_all * sizeof *before);
    ts_fn *fn = f->b.fn;
    uint32_t inst = fn->inst.n, loc = fn->loc.n, pool = fn->pool.n;
    for (uint32_t attempt = 0; attempt < 4 + 3 * carry.n; attempt++) {
        TS_TRY(loop_attempt(f, k, &carry));
        if (!carry.retry)
            return TS_OK;
        memcpy(f->frame->slots, before, n_all * sizeof *before);
        fn->inst.n = inst;
        fn->loc.n = loc;
        fn->pool.n = pool;
    }
    return fr_error(f, k->node, TS_TILETYPE, "the types of this loop's variables do not settle");
}

/* ---- statements ---------------------------------------------------------------------- */

static ts_status loop_static(fr *f, loop_kind *k, const fr_value *items)
{
    fr_loop loop = {f->frame->loop, k->node, k->body, k->n_body, NULL};
    ts_status status = TS_OK;
    if (items->n > 1000)
        return fr_error(
            f, k->node, TS_SYNTAX,
            "a static_iter of %u items is longer than 1000\n  help: loop over range(...)",
            items->n);
    f->frame->loop = &loop;
    for (uint32_t i = 0; i < items->n && status == TS_OK && k->flow == FR_FALLS; i++) {
        status = fr_assign(f, k->target, &items->as.items[i]);
        if (status == TS_OK)
            status = fr_block_lower(f, &(fr_block){k->body, k->n_body, NULL}, &k->flow);
    }
    f->frame->loop = loop.outer;
    return status;
}

/* Checked mode reports a step of run time that is zero. */
static void loop_check_step(fr *f, const loop_kind *k)
{
    static const char text[] = "the step of range is zero";
    if (!f->b.fn->checked)
        return;
    ts_val zero = ts_int(&f->b, ts_type_of(f->b.fn, k->step), 0);
    ts_val moves = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, k->step, zero, 0);
    if (f->dialect->check_step) {
        f->dialect->check_step(f, moves);
        return;
    }
    ts_emit(&f->b, TS_OP_assert, TS_T_none, 1, &moves, ts_intern(f->module, text, sizeof text - 1), 0);
}

/* Whether a step of run time is seen not to be negative: most are the number of blocks. */
static bool loop_counts_up(fr *f, loop_kind *k)
{
    const ts_inst *inst = ts_at(f->b.fn, k->step);
    ts_type type = inst->type;
    if (f->dialect->counts_up)
        switch (f->dialect->counts_up(f, k->start, k->stop, k->step)) {
        case FR_COUNTS_UP:
            return true;
        case FR_COUNTS_UP_UNSIGNED: /* with a negative stop there are no turns, as with 0 */
            k->stop = ts_op2(&f->b, TS_OP_maxi, k->stop, ts_int(&f->b, type, 0), 0);
            k->no_sign = true;
            return true;
        default:
            break;
        }
    while (inst->op == TS_OP_exti || (inst->op == TS_OP_assume && f->b.fn->pool.at[inst->aux] != TS_ASSUME_BOUNDED))
        inst = ts_at(f->b.fn, inst->opnd[0]);
    return !fr_dtype_is_signed(k->dtype) || inst->op == TS_OP_get_num_tile_blocks || inst->op == TS_OP_assume;
}

/* With a step whose sign is known only at run time the counter counts turns, from 0 to their number: of a difference
 * d > 0 towards the stop there are (d - 1) / |step| + 1, computed without a sign, where no difference overflows. */
static void loop_count_turns(fr *f, loop_kind *k)
{
    ts_builder *b = &f->b;
    ts_type type = ts_type_of(b->fn, k->step);
    ts_val zero = ts_int(b, type, 0), one = ts_int(b, type, 1);
    ts_val up = ts_cmp(b, TS_OP_cmpi, TS_GT, k->step, zero, 0), down = ts_cmp(b, TS_OP_cmpi, TS_LT, k->step, zero, 0);
    ts_val low = ts_select(b, up, k->start, k->stop), high = ts_select(b, up, k->stop, k->start);
    ts_val stride = ts_select(b, up, k->step, ts_op2(b, TS_OP_subi, zero, k->step, 0));
    ts_val moves = ts_op2(b, TS_OP_ori, up, down, 0), runs = ts_cmp(b, TS_OP_cmpi, TS_LT, low, high, 0);
    ts_val most = ts_op2(b, TS_OP_subi, ts_op2(b, TS_OP_subi, high, low, 0), one, 0);
    ts_val turns = fr_int_div(f, TS_OP_divi, most, ts_select(b, moves, stride, one), TS_A_UNSIGNED | TS_RZ);
    k->origin = k->start;
    k->stride = k->step;
    k->start = zero;
    k->step = one;
    k->stop = ts_select(b, ts_op2(b, TS_OP_andi, runs, moves, 0), ts_op2(b, TS_OP_addi, turns, one, 0), zero);
}

/* The dtype that the dialect gives the counter. */
static ts_status loop_counter(fr *f, const fr_value *range, ts_dtype *out)
{
    ts_dtype dtypes[3];
    for (uint32_t i = 0; i < 3; i++) {
        dtypes[i] = (ts_dtype)range->as.items[i].dtype;
        if (range->as.items[i].kind == FR_NUMBER)
            TS_TRY(fr_default_dtype(f, &range->as.items[i], &dtypes[i]));
    }
    *out = f->dialect->counter(3, dtypes);
    return TS_OK;
}

/* Bounds and step as scalars of one dtype. */
static ts_status loop_range(fr *f, loop_kind *k, const fr_value *range, uint32_t at)
{
    ts_val *out[] = {&k->start, &k->stop, &k->step};
    fr_value v;
    int64_t step;
    bool known = fr_is_int(&range->as.items[2], &step);
    k->dtype = TS_DTYPE_NONE;
    bool down = known && step < 0 && f->dialect->counts_down;
    if (known && step <= 0 && !down)
        return fr_error(f, at, TS_TILETYPE, "the step of range is %lld; it must %s", (long long)step,
                        f->dialect->counts_down
                            ? "not be zero\n  help: range(start, stop) counts up by 1, range(start, stop, -1) down"
                            : "be positive\n  help: count up and index with n - 1 - i");
    for (uint32_t i = 0; i < 3; i++) {
        const fr_value *x = &range->as.items[i];
        fr_value so_far = {.kind = FR_TILE, .dtype = (uint8_t)k->dtype};
        if (f->dialect->counter)
            break;
        if (x->kind == FR_NUMBER && !x->dtype && !fr_fits(x, k->dtype ? k->dtype : TS_DTYPE_int32))
            k->dtype = TS_DTYPE_int64;
        else if (x->dtype)
            TS_TRY(k->dtype ? fr_common_dtype(f, "range", &so_far, x, &k->dtype)
                            : (k->dtype = (ts_dtype)x->dtype, TS_OK));
    }
    k->dtype = k->dtype ? k->dtype : TS_DTYPE_int32;
    if (f->dialect->counter)
        TS_TRY(loop_counter(f, range, &k->dtype));
    for (uint32_t i = 0; i < 3; i++) {
        TS_TRY(fr_to_tile(f, &range->as.items[i], k->dtype, &v));
        *out[i] = v.as.v;
    }
    if (known && !down)
        return TS_OK;
    if (!known)
        loop_check_step(f, k);
    if (down || !loop_counts_up(f, k))
        loop_count_turns(f, k);
    return TS_OK;
}

ts_status fr_range_turns(fr *f, const fr_value *range, uint32_t at, fr_turns *out)
{
    loop_kind k = {0};
    TS_TRY(loop_range(f, &k, range, at));
    if (!k.stride)
        loop_count_turns(f, &k);
    *out = (fr_turns){(uint8_t)k.dtype, k.stop, k.origin, k.stride};
    return TS_OK;
}

/* for x in array, enumerate(array), ...: the items of what has a length that run time knows. */
static ts_status loop_sequence(fr *f, loop_kind *k, const fr_value *over)
{
    k->dtype = TS_DTYPE_int64;
    k->start = ts_int(&f->b, TS_T_i64, 0);
    k->step = ts_int(&f->b, TS_T_i64, 1);
    TS_TRY(fr_sequence_open(f, k->node, over, &k->over, &k->stop));
    return loop_lower(f, k);
}

/* A tuple of numbers is a loop of run time where it is long, or where the body jumps out of a turn. */
static bool loop_runs(const fr *f, const loop_kind *k, const fr_value *v)
{
    enum { MOST_UNROLLED = 32 };
    bool numbers = f->dialect->iterates_arrays && v->kind == FR_TUPLE && v->n;
    for (uint32_t i = 0; i < v->n && numbers; i++)
        numbers = v->as.items[i].kind == FR_NUMBER || v->as.items[i].kind == FR_TILE;
    return numbers && (v->n > MOST_UNROLLED || k->leaves_early || fr_contains(f, k->body, k->n_body, TS_AST_Continue));
}

static ts_status loop_refuse(fr *f, uint32_t node, const fr_value *v)
{
    bool is_number = v->kind == FR_TILE || v->kind == FR_NUMBER;
    const char *help = is_number ? "\n  help: for i in range(n) counts to a number n" : "";
    if (v->kind == FR_DICT)
        help = "\n  help: d.keys(), d.values() and d.items() are tuples";
    return fr_error(f, node, TS_SYNTAX, "a 'for' runs over range(...), %s, found %s%s",
                    f->dialect->iterates_arrays ? "an array or a tuple" : "a tuple or ct.static_iter(...)",
                    fr_say(f, v), help);
}

static ts_status loop_for(fr *f, const ts_node *n, loop_kind *k)
{
    fr_value v;
    TS_TRY(fr_iterable(f, n->f[1], &v));
    k->target = n->f[0];
    fr_at(f, k->node);
    if ((v.kind != FR_RANGE && fr_is_sequence(f, &v)) || loop_runs(f, k, &v))
        return loop_sequence(f, k, &v);
    if (v.kind == FR_ITER || v.kind == FR_TUPLE)
        return loop_static(f, k, &v);
    if (v.kind != FR_RANGE)
        return loop_refuse(f, n->f[1], &v);
    TS_TRY(loop_range(f, k, &v, n->f[1]));
    return loop_lower(f, k);
}

ts_status fr_loop_stmt(fr *f, uint32_t node, fr_flow *flow)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    uint32_t is_for = n->kind == TS_AST_For;
    loop_kind k = {.node = node, .test = is_for ? 0 : n->f[0], .flow = FR_FALLS};
    k.body = ts_pack_list(&f->pack, n->f[1 + is_for], &k.n_body);
    k.leaves_early = fr_contains(f, k.body, k.n_body, TS_AST_Break) ||
                     fr_contains(f, k.body, k.n_body, TS_AST_Return);
    TS_TRY(is_for ? loop_for(f, n, &k) : loop_lower(f, &k));
    *flow = k.flow;
    return TS_OK;
}
