/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches. A condition known at compile time lowers only the branch taken; the other is not looked
 * at. Otherwise both are lowered into an `if`, and what they leave in live variables is merged:
 *
 *     the same value on both sides        kept, no result
 *     tiles of one type                   a result of the `if`
 *     a number and a tile, two numbers    the number becomes a constant of the tile's type
 *     anything else                       the variable is in conflict: an error where it is read
 *
 * The yield of the first branch is written before the second branch is known, so numbers there
 * stand as placeholder constants that are filled in at the end. Early return outside loops: the
 * statements after the `if` are lowered inside its branches. Read next: loop.c. Part of the front
 * end (lower.h).
 */
#include "lang/lower.h"

/* ---- conditions ---------------------------------------------------------------------- */

ts_status fr_condition(fr *f, uint32_t node, const fr_value *v, bool *known, bool *truth,
                       ts_val *cond)
{
    fr_value b;
    bool found = false;
    *cond = 0;
    if (v->cls)
        TS_TRY(fr_record_truth(f, v, &b, &found));
    if (found)
        return fr_condition(f, node, &b, known, truth, cond);
    *known = fr_truth(v, truth);
    if (*known)
        return TS_OK;
    if (v->kind != FR_TILE || fr_shape_of(f, v).rank)
        return fr_error(f, node, TS_TILETYPE,
                        "a condition must be a scalar, found %s\n  help: ct.where selects by "
                        "element; ct.max or ct.min of a mask "
                        "makes one scalar",
                        fr_say(f, v));
    TS_TRY(fr_convert(f, v, TS_DTYPE_bool_, TS_RN, &b));
    *cond = b.as.v;
    return TS_OK;
}

/* ---- merging ------------------------------------------------------------------------- */

typedef struct control_side {
    fr_flow flow;
    fr_value *slots; /* of the frame, after the branch */
} control_side;

/* One leaf that the `if` gives as a result. */
typedef struct control_leaf {
    ts_val value[2]; /* of then and else; 0: number[side] has to be made */
    fr_value number[2];
    ts_val placeholder; /* in then, the first of those for a number or a conversion; 0: none */
    ts_dtype dtype;
    ts_type type;
    bool same; /* number[0] on both sides: no result */
} control_leaf;

typedef struct control_if {
    fr *f;
    uint32_t node;
    ts_val opener;
    control_side side[2];
    uint32_t n_slots, n_all; /* candidates; all slots of the frame */
    const uint32_t *slots;
    fr_value *merged; /* of each candidate, leaves to be replaced by results */
    bool *has_results;
    TS_VEC(control_leaf) leaves;
    /* the yield of `then`, written early: its leaves in order of candidates */
    ts_val yield;
    uint32_t n_yield;
    ts_val *yielded;
    ts_val *placeholder; /* of each of them, where a number or a converted value may have to stand; 0: none */
    uint32_t *first; /* of each candidate in `yielded` */
} control_if;

static fr_value *control_copy(fr *f, const fr_value *slots, uint32_t n)
{
    fr_value *copy = TS_NEW_N(f->arena, fr_value, n);
    if (copy)
        memcpy(copy, slots, n * sizeof *copy);
    return copy;
}

/* A member of an enumeration of numbers is its number where it meets another value; of any enumeration whose value is
 * one where arguments come so, too. */
static ts_status control_member(fr *f, const fr_value **v, fr_value *room)
{
    TS_TRY(fr_member_value(f, v, room));
    if ((*v)->kind != FR_ENUM || !f->dialect->numbers_are)
        return TS_OK;
    TS_TRY(fr_object(f, f->pack.objects[(*v)->as.object].z, room));
    *v = room->kind == FR_NUMBER ? room : *v;
    return TS_OK;
}

/* Whether the i-th slot holds what the function returns. */
static bool control_is_result(const control_if *c, uint32_t i)
{
    return c->slots[i] == c->f->frame->scope->n_slots + FR_SLOT_RESULT;
}

/* A variable without a value is zero where the dialect says so. None is, too, as a result that nobody reads. */
static bool control_is_zero(const control_if *c, uint32_t i, const fr_value *v)
{
    const fr_frame *frame = c->f->frame;
    bool unread = control_is_result(c, i) && (!frame->caller || frame->is_discarded);
    return c->f->dialect->has_zeros && (v->kind == FR_UNBOUND || (v->kind == FR_NONE && unread));
}

/* The leaves of the i-th slot's value. */
static uint32_t control_flatten(const control_if *c, uint32_t i, const fr_value *v, fr_value *leaves)
{
    fr_value room;
    if (control_member(c->f, &v, &room) != TS_OK)
        return 0;
    if (!control_is_zero(c, i, v))
        return fr_flatten(v, leaves);
    if (leaves)
        leaves[0] = fr_bool(false);
    return 1;
}

enum { CONTROL_ROOM = 6 }; /* instructions of the longest conversion: complex64 to complex128, by its parts */

/* Placeholders for what may have to be written into `then` later: a number, or a conversion. */
static ts_val control_room(fr *f, const fr_value *leaf)
{
    bool number = leaf->kind == FR_NUMBER, joins = f->dialect->join && leaf->dtype;
    uint32_t n = joins || (number && f->dialect->join) || fr_is_complex(leaf) ? CONTROL_ROOM : 1;
    ts_val first = 0;
    for (uint32_t i = 0; i < n && (number || joins); i++) {
        ts_val v = ts_bits(&f->b, TS_T_i32, 0);
        first = first ? first : v;
    }
    return first;
}

/* Leaves of every candidate as they are after `then`; numbers get placeholders. */
static ts_status control_yield_then(control_if *c)
{
    fr *f = c->f;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_slots; i++)
        n += control_flatten(c, i, &c->side[0].slots[c->slots[i]], NULL);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, n + 1);
    c->yielded = TS_NEW_N(f->arena, ts_val, n + 1);
    c->first = TS_NEW_N(f->arena, uint32_t, c->n_slots + 1);
    if (!leaves || !c->yielded || !c->first)
        return fr_oom(f);
    for (uint32_t i = 0; i < c->n_slots; i++) {
        c->first[i] = c->n_yield;
        c->n_yield += control_flatten(c, i, &c->side[0].slots[c->slots[i]], leaves + c->n_yield);
    }
    c->placeholder = TS_NEW_N(f->arena, ts_val, n + 1);
    if (!c->placeholder)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++) {
        c->placeholder[i] = control_room(f, &leaves[i]);
        c->yielded[i] = leaves[i].kind == FR_NUMBER ? c->placeholder[i] : leaves[i].as.v;
    }
    c->yield = f->b.fn->inst.n;
    ts_term(&f->b, TS_OP_yield, n, c->yielded);
    return TS_OK;
}

/* The same where the dialect converts one or both of two scalars. */
static bool control_join(fr *f, const fr_value *a, const fr_value *b, ts_dtype *dtype, ts_type *type)
{
    ts_dtype da = (ts_dtype)a->dtype, db = (ts_dtype)b->dtype;
    if ((a->kind == FR_NUMBER && fr_default_dtype(f, a, &da) != TS_OK) ||
        (b->kind == FR_NUMBER && fr_default_dtype(f, b, &db) != TS_OK))
        return false;
    if (!da || !db) { /* parts of arrays */
        *dtype = TS_DTYPE_NONE;
        *type = a->kind == FR_TILE ? ts_type_of(f->b.fn, a->as.v) : TS_T_none;
        return da == db && a->kind == FR_TILE && b->kind == FR_TILE && *type == ts_type_of(f->b.fn, b->as.v);
    }
    *dtype = f->dialect->join(da, db);
    *type = fr_ir(*dtype);
    return *dtype != TS_DTYPE_NONE;
}

/* The dtype and type that a pair of leaves gets; false when there is none. */
static bool control_pair(fr *f, const fr_value *a, const fr_value *b, ts_dtype *dtype,
                         ts_type *type)
{
    if (f->dialect->join)
        return control_join(f, a, b, dtype, type);
    if (a->kind == FR_NUMBER && b->kind == FR_TILE) {
        const fr_value *t = a;
        a = b;
        b = t;
    }
    if (a->kind == FR_TILE) {
        *dtype = (ts_dtype)a->dtype;
        *type = ts_type_of(f->b.fn, a->as.v);
        if (b->kind == FR_TILE)
            return a->dtype == b->dtype && *type == ts_type_of(f->b.fn, b->as.v);
        return fr_joins(b, *dtype) && (!b->dtype || ts_type_rank(f->module, *type) == 0);
    }
    ts_dtype da, db;
    if (fr_default_dtype(f, a, &da) != TS_OK || fr_default_dtype(f, b, &db) != TS_OK)
        return false;
    *dtype = a->dtype ? da : b->dtype ? db : TS_MAX(da, db); /* of two integer literals the wider */
    *type = fr_ir(*dtype);
    return !fr_dtype_is_restricted(*dtype) && fr_joins(a, *dtype) && fr_joins(b, *dtype);
}

static const char *control_conflict(control_if *c, uint32_t i, const fr_value *a, const fr_value *b)
{
    fr *f = c->f;
    uint32_t line = ts_pack_node(&f->pack, c->node)->line;
    if (control_is_result(c, i) && (a->kind == FR_NONE) != (b->kind == FR_NONE))
        return fr_textf(f, "returns nothing from one branch of the 'if' in line %u, %s from the other\n"
                        "  help: end every path with 'return' and a value",
                        line, fr_say(f, a->kind == FR_NONE ? b : a));
    if (a->kind == FR_UNBOUND || b->kind == FR_UNBOUND)
        return fr_textf(f,
                        "\n  help: it has a value in only one branch of the 'if' in line %u; give "
                        "it one before",
                        line);
    return fr_textf(
        f,
        "has different types after the 'if' in line %u\n  found: %s in one branch, %s in the "
        "other\n"
        "  help: make them equal (1.0 for 1, ct.astype, ct.reshape or ct.broadcast_to), or use two names",
        line, fr_say(f, a), fr_say(f, b));
}

static ts_status control_add(control_if *c, const control_leaf *leaf)
{
    return TS_PUSH(c->f->arena, &c->leaves, *leaf) ? TS_OK : fr_oom(c->f);
}

/* May the two values of the i-th slot meet, if their leaves do? */
static bool control_meet(const control_if *c, uint32_t i, const fr_value *a, const fr_value *b)
{
    const fr *f = c->f;
    bool zero_a = control_is_zero(c, i, a), zero_b = control_is_zero(c, i, b);
    const fr_value *bound = zero_a ? b : a;
    bool strict = f->frame->caller && !f->frame->is_discarded; /* a path without a result is a mistake */
    if ((zero_a || zero_b) && strict && control_is_result(c, i))
        return false;
    if (zero_a || zero_b)
        return bound->kind == FR_NUMBER || bound->kind == FR_TILE;
    return a->kind != FR_CONFLICT && b->kind != FR_CONFLICT && fr_same_skeleton(f, a, b);
}

/* Both branches go on: leaf by leaf. */
static ts_status control_merge_both(control_if *c, uint32_t i)
{
    fr *f = c->f;
    const fr_value *a = &c->side[0].slots[c->slots[i]], *b = &c->side[1].slots[c->slots[i]];
    fr_value room[2];
    c->merged[i] = *a;
    if (fr_same(f, a, b))
        return TS_OK;
    TS_TRY(control_member(f, &a, &room[0]));
    TS_TRY(control_member(f, &b, &room[1]));
    c->merged[i] = control_is_zero(c, i, a) ? *b : *a;
    if (fr_same(f, a, b) || (control_is_zero(c, i, a) && control_is_zero(c, i, b)))
        return TS_OK;
    uint32_t n = control_flatten(c, i, a, NULL), keep = c->leaves.n;
    bool fine = control_meet(c, i, a, b) && n == control_flatten(c, i, b, NULL);
    fr_value *la = TS_NEW_N(f->arena, fr_value, n + 1), *lb = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!la || !lb)
        return fr_oom(f);
    if (fine) {
        control_flatten(c, i, a, la);
        control_flatten(c, i, b, lb);
    }
    for (uint32_t j = 0; j < n && fine; j++) {
        control_leaf leaf = {.number = {la[j], lb[j]}, .same = fr_same(f, &la[j], &lb[j])};
        fine = leaf.same || control_pair(f, &la[j], &lb[j], &leaf.dtype, &leaf.type);
        leaf.value[0] = c->yielded[c->first[i] + j];
        leaf.placeholder = c->placeholder[c->first[i] + j];
        leaf.value[1] = lb[j].kind == FR_TILE ? lb[j].as.v : 0;
        TS_TRY(control_add(c, &leaf));
    }
    c->has_results[i] = fine;
    if (!fine) {
        c->leaves.n = keep;
        uint8_t kind = a->kind == FR_UNBOUND || b->kind == FR_UNBOUND ? FR_UNBOUND : FR_CONFLICT;
        c->merged[i] = (fr_value){.kind = kind, .as.text = control_conflict(c, i, a, b)};
    }
    return TS_OK;
}

/* Only one branch goes on: its values, those made inside leave as results. */
static ts_status control_merge_one(control_if *c, uint32_t i, uint32_t side)
{
    fr *f = c->f;
    const fr_value *a = &c->side[side].slots[c->slots[i]];
    uint32_t n = fr_flatten(a, NULL);
    fr_value *leaves = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!leaves)
        return fr_oom(f);
    fr_flatten(a, leaves);
    c->merged[i] = *a;
    for (uint32_t j = 0; j < n; j++)
        c->has_results[i] |= leaves[j].kind == FR_TILE && leaves[j].as.v > c->opener;
    for (uint32_t j = 0; j < n && c->has_results[i]; j++) {
        control_leaf leaf = {.number = {leaves[j], leaves[j]}, .dtype = (ts_dtype)leaves[j].dtype};
        if (leaves[j].kind == FR_NUMBER) {
            TS_TRY(fr_default_dtype(f, &leaves[j], &leaf.dtype));
            leaf.type = fr_ir(leaf.dtype);
        } else {
            leaf.type = ts_type_of(f->b.fn, leaves[j].as.v);
        }
        leaf.placeholder = side == 0 ? c->placeholder[c->first[i] + j] : 0;
        leaf.value[side] = side == 0                   ? c->yielded[c->first[i] + j]
                           : leaves[j].kind == FR_TILE ? leaves[j].as.v
                                                       : 0;
        TS_TRY(control_add(c, &leaf));
    }
    return TS_OK;
}

static ts_val control_number(fr *f, const fr_value *number, const control_leaf *leaf)
{
    fr_shape shape = {.rank = ts_type_rank(f->module, leaf->type)};
    for (uint32_t i = 0; i < shape.rank; i++)
        shape.dims[i] = ts_type_dims(f->module, leaf->type)[i];
    return fr_constant(f, number, leaf->dtype, &shape);
}

/* The leaf's value with the dtype that both sides get. */
static ts_val control_made(fr *f, const fr_value *v, const control_leaf *leaf)
{
    fr_value made;
    if (v->kind == FR_NUMBER)
        return control_number(f, v, leaf);
    if (!leaf->dtype || v->dtype == leaf->dtype || fr_convert(f, v, leaf->dtype, TS_RN, &made) != TS_OK)
        return v->as.v;
    return made.as.v;
}

/* Moves the instructions from `start` on, of which the last is the leaf's value, to its placeholders. */
static ts_val control_move(ts_fn *fn, ts_val start, ts_val placeholder)
{
    uint32_t n = fn->inst.n - start;
    ts_assert(n >= 1 && n <= CONTROL_ROOM);
    for (uint32_t i = 0; i < n; i++) {
        ts_inst inst = fn->inst.at[start + i];
        for (uint32_t k = 0; k < inst.n_opnd; k++)
            inst.opnd[k] = inst.opnd[k] >= start ? inst.opnd[k] - start + placeholder : inst.opnd[k];
        fn->inst.at[placeholder + i] = inst;
    }
    fn->inst.n = fn->loc.n = start;
    return placeholder + n - 1;
}

/* Fills the placeholders of `then` and cuts its yield down to the real results. */
static void control_patch_then(control_if *c)
{
    ts_fn *fn = c->f->b.fn;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->leaves.n; i++) {
        control_leaf *leaf = &c->leaves.at[i];
        if (leaf->same)
            continue;
        ts_val start = fn->inst.n, made = control_made(c->f, &leaf->number[0], leaf);
        if (made != leaf->value[0] && leaf->placeholder)
            leaf->value[0] = control_move(fn, start, leaf->placeholder);
        c->yielded[n++] = leaf->value[0];
    }
    ts_inst *yield = &fn->inst.at[c->yield]; /* only now: what was made may have moved the instructions */
    memcpy(yield->n_opnd > 3 && n > 3 ? fn->pool.at + yield->opnd[0] : yield->opnd, c->yielded, n * sizeof *c->yielded);
    yield->n_opnd = n & 0x3FFF;
}

static ts_status control_yield_else(control_if *c)
{
    ts_val *values = TS_NEW_N(c->f->arena, ts_val, c->leaves.n + 1);
    if (!values)
        return fr_oom(c->f);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->leaves.n; i++) {
        const control_leaf *leaf = &c->leaves.at[i];
        if (!leaf->same)
            values[n++] = control_made(c->f, &leaf->number[1], leaf);
    }
    ts_term(&c->f->b, TS_OP_yield, n, values);
    return TS_OK;
}

static ts_status control_results(control_if *c)
{
    fr *f = c->f;
    ts_type *types = TS_NEW_N(f->arena, ts_type, c->leaves.n + 1);
    fr_value *results = TS_NEW_N(f->arena, fr_value, c->leaves.n + 1);
    if (!types || !results)
        return fr_oom(f);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->leaves.n; i++)
        if (!c->leaves.at[i].same)
            types[n++] = c->leaves.at[i].type;
    ts_end(&f->b, c->opener, n, types);
    ts_val next_result = f->b.fn->inst.n - n;
    for (uint32_t i = 0; i < c->leaves.n; i++) {
        const control_leaf *leaf = &c->leaves.at[i];
        results[i] = leaf->same ? leaf->number[0] : fr_tile(leaf->dtype, next_result++);
    }
    const fr_value *next = results;
    for (uint32_t i = 0; i < c->n_slots; i++) {
        fr_value v = c->merged[i];
        if (c->has_results[i])
            TS_TRY(fr_rebuild(f, &c->merged[i], &next, &v));
        f->frame->slots[c->slots[i]] = v;
    }
    return TS_OK;
}

static ts_status control_close(control_if *c, fr_flow *flow)
{
    fr *f = c->f;
    bool goes[2] = {c->side[0].flow != FR_ENDS, c->side[1].flow != FR_ENDS};
    c->merged = TS_NEW_N(f->arena, fr_value, c->n_slots + 1);
    c->has_results = TS_NEW_N(f->arena, bool, c->n_slots + 1);
    if (!c->merged || !c->has_results)
        return fr_oom(f);
    for (uint32_t i = 0; i < c->n_slots; i++) {
        if (!goes[0] && !goes[1])
            c->merged[i] = c->side[0].slots[c->slots[i]];
        else
            TS_TRY(goes[0] && goes[1] ? control_merge_both(c, i)
                                      : control_merge_one(c, i, goes[1]));
    }
    if (goes[0])
        control_patch_then(c);
    if (goes[1])
        TS_TRY(control_yield_else(c));
    *flow = goes[0] ? c->side[0].flow : c->side[1].flow;
    TS_TRY(control_results(c));
    if (!goes[0] && !goes[1])
        return fr_unreachable(f);
    return TS_OK;
}

/* Lowers both bodies under `cond` and merges the candidates. Both ends with RETURNS or neither. */
static ts_status control_branch(control_if *c, ts_val cond, fr_body *body, void *user[2],
                                fr_flow *flow)
{
    fr *f = c->f;
    fr_frame *frame = f->frame;
    if (f->pure)
        return fr_not_pure(f, f->pure, c->node, "a branch");
    c->n_all = frame->scope->n_slots + FR_HIDDEN;
    fr_value *before = control_copy(f, frame->slots, c->n_all);
    fr_context_states states = {0};
    if (!before)
        return fr_oom(f);
    TS_TRY(fr_context_save(f, frame, &states));
    c->opener = ts_if_begin(&f->b, cond);
    f->regions++;
    for (uint32_t side = 0; side < 2; side++) {
        memcpy(frame->slots, before, c->n_all * sizeof *before);
        fr_context_restore(&states);
        TS_TRY(body(f, user[side], &c->side[side].flow));
        fr_at(f, c->node);
        if (!(c->side[side].slots = control_copy(f, frame->slots, c->n_all)))
            return fr_oom(f);
        if (side == 0 && c->side[0].flow != FR_ENDS)
            TS_TRY(control_yield_then(c));
        if (side == 0)
            ts_else(&f->b);
    }
    f->regions--;
    if (c->side[0].flow == FR_FALLS || c->side[1].flow == FR_FALLS)
        fr_context_restore(&states); /* only a side that left has ended any */
    return control_close(c, flow);
}

/* ---- if statements ------------------------------------------------------------------- */

typedef struct control_stmts {
    fr_block block;
    bool whole; /* the rest of the function is in here: running off its end returns None */
} control_stmts;

static ts_status control_stmts_body(fr *f, void *user, fr_flow *flow)
{
    const control_stmts *s = user;
    TS_TRY(fr_block_lower(f, &s->block, flow));
    if (s->whole && *flow == FR_FALLS) {
        f->frame->slots[FR_SLOT_RESULT + f->frame->scope->n_slots] = fr_none();
        *flow = FR_RETURNS;
    }
    return TS_OK;
}

/* What a statement may change: live variables that it assigns; the others have no value after it. */
static ts_status control_candidates(fr *f, uint32_t node, control_if *c)
{
    uint32_t count, *assigned, base = f->frame->scope->n_slots;
    TS_TRY(fr_assigned(f, &node, 1, &assigned, &count));
    uint32_t *slots = TS_NEW_N(f->arena, uint32_t, count + FR_HIDDEN);
    if (!slots)
        return fr_oom(f);
    memcpy(slots, assigned, count * sizeof *slots);
    slots[count++] = base + FR_SLOT_RETURNED;
    slots[count++] = base + FR_SLOT_RESULT;
    c->slots = slots;
    c->n_slots = count;
    return TS_OK;
}

/* Drops candidates that nobody reads any more; they have no value afterwards. */
static void control_drop_dead(fr *f, uint32_t node, control_if *c, uint32_t *dead, uint32_t *n_dead)
{
    uint32_t *slots = (uint32_t *)(uintptr_t)c->slots, keep = 0;
    *n_dead = 0;
    for (uint32_t i = 0; i < c->n_slots; i++)
        if (fr_live_after(f, slots[i], node))
            slots[keep++] = slots[i];
        else
            dead[(*n_dead)++] = slots[i];
    c->n_slots = keep;
}

ts_status fr_branch(fr *f, uint32_t node, const fr_value *v, const fr_block arm[2], const fr_block *rest, fr_flow *flow)
{
    control_stmts stmts[2] = {{arm[0], rest}, {arm[1], rest}};
    control_if c = {.f = f, .node = node};
    bool known, truth;
    ts_val cond;
    TS_TRY(fr_condition(f, f->node, v, &known, &truth, &cond));
    stmts[0].block.next = stmts[1].block.next = rest;
    if (known)
        return control_stmts_body(f, &stmts[truth ? 0 : 1], flow);
    TS_TRY(control_candidates(f, node, &c));
    uint32_t n_dead = 0, result = f->frame->scope->n_slots + FR_SLOT_RESULT;
    uint32_t *dead = TS_NEW_N(f->arena, uint32_t, c.n_slots);
    if (!dead)
        return fr_oom(f);
    if (rest) {
        c.slots = &result;
        c.n_slots = 1;
    } else {
        control_drop_dead(f, node, &c, dead, &n_dead);
    }
    TS_TRY(control_branch(&c, cond, control_stmts_body, (void *[]){&stmts[0], &stmts[1]}, flow));
    for (uint32_t i = 0; i < n_dead; i++)
        f->frame->slots[dead[i]] = (fr_value){.kind = FR_UNBOUND};
    return TS_OK;
}

ts_status fr_if_stmt(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_block arm[2] = {0};
    fr_value v;
    for (uint32_t side = 0; side < 2; side++)
        arm[side].at = ts_pack_list(&f->pack, n->f[1 + side], &arm[side].n);
    TS_TRY(fr_test(f, n->f[0], &v));
    f->node = n->f[0];
    TS_TRY(fr_branch(f, node, &v, arm, rest, flow));
    f->node = node;
    return TS_OK;
}

/* ---- after a loop that may have returned --------------------------------------------- */

typedef struct control_after {
    uint32_t node;
    const fr_block *rest; /* NULL inside another loop */
} control_after;

static ts_status control_after_returned(fr *f, void *user, fr_flow *flow)
{
    const control_after *a = user;
    fr_value result = f->frame->slots[f->frame->scope->n_slots + FR_SLOT_RESULT];
    return fr_return(f, a->node, &result, flow);
}

static ts_status control_after_falls(fr *f, void *user, fr_flow *flow)
{
    const control_after *a = user;
    fr_value *hidden = f->frame->slots + f->frame->scope->n_slots;
    hidden[FR_SLOT_RETURNED] = fr_bool(false);
    *flow = FR_FALLS;
    if (!a->rest)
        return TS_OK;
    TS_TRY(fr_block_lower(f, a->rest, flow));
    if (*flow == FR_FALLS) {
        hidden[FR_SLOT_RESULT] = fr_none();
        *flow = FR_RETURNS;
    }
    return TS_OK;
}

static ts_status control_after_body(fr *f, void *user, fr_flow *flow)
{
    control_after *a = user;
    return a->node ? control_after_returned(f, user, flow) : control_after_falls(f, user, flow);
}

/* `while True` without break: only `return` leaves it. */
static bool control_is_endless(fr *f, uint32_t node)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value test;
    bool truth;
    uint32_t count;
    if (n->kind != TS_AST_While || ts_pack_node(&f->pack, n->f[0])->kind != TS_AST_Constant)
        return false;
    if (fr_object(f, ts_pack_node(&f->pack, n->f[0])->f[0], &test) != TS_OK ||
        !fr_truth(&test, &truth) || !truth)
        return false;
    const uint32_t *body = ts_pack_list(&f->pack, n->f[1], &count);
    return !fr_contains(f, body, count, TS_AST_Break);
}

ts_status fr_after_loop(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done)
{
    uint32_t base = f->frame->scope->n_slots;
    const fr_value *returned = &f->frame->slots[base + FR_SLOT_RETURNED];
    bool in_loop = f->frame->loop != NULL, truth;
    bool never = f->dialect->has_zeros && f->frame->slots[base + FR_SLOT_RESULT].kind == FR_UNBOUND;
    if (never && returned->kind != FR_UNBOUND) /* no way leads to a return in the loop */
        f->frame->slots[base + FR_SLOT_RETURNED] = fr_bool(false);
    if (!never && returned->kind != FR_UNBOUND && control_is_endless(f, node)) {
        *done = true;
        return control_after_returned(f, &(control_after){.node = node}, flow);
    }
    if (returned->kind != FR_TILE) {
        if (returned->kind == FR_NUMBER && fr_truth(returned, &truth) && truth) {
            *done = true;
            return control_after_returned(f, &(control_after){.node = node}, flow);
        }
        return TS_OK;
    }
    uint32_t slots[] = {base + FR_SLOT_RESULT, base + FR_SLOT_RETURNED};
    control_if c = {.f = f, .node = node, .slots = slots, .n_slots = in_loop ? 2 : 1};
    control_after then = {.node = node}, other = {.rest = in_loop ? NULL : rest};
    *done = !in_loop;
    TS_TRY(control_branch(&c, returned->as.v, control_after_body, (void *[]){&then, &other}, flow));
    return TS_OK;
}

ts_status fr_loop_else(fr *f, uint32_t node, const fr_block *rest, fr_flow *flow, bool *done)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value *hidden = f->frame->slots + f->frame->scope->n_slots, broke = fr_bool(false);
    fr_block arm[2] = {0};
    arm[1].at = ts_pack_list(&f->pack, n->f[n->kind == TS_AST_For ? 3 : 2], &arm[1].n);
    *flow = FR_FALLS;
    *done = false;
    if (!arm[1].n)
        return TS_OK;
    if (hidden[FR_SLOT_BROKE].kind != FR_UNBOUND)
        broke = hidden[FR_SLOT_BROKE];
    hidden[FR_SLOT_BROKE] = fr_bool(false); /* of the loop around */
    *done = fr_contains(f, arm[1].at, arm[1].n, TS_AST_Return) && !f->frame->loop;
    return fr_branch(f, node, &broke, arm, *done ? rest : NULL, flow);
}

/* ---- expressions with branches ------------------------------------------------------- */

/* Nothing since instruction `from` touches memory, branches or can trap. */
static bool control_is_pure(const fr *f, ts_val from)
{
    for (ts_val v = from; v < f->b.fn->inst.n; v++) {
        const ts_inst *inst = ts_at(f->b.fn, v);
        if (!(ts_info(inst)->flags & TS_PURE) || ts_info(inst)->flags & TS_REGION ||
            inst->op == TS_OP_divi || inst->op == TS_OP_remi || f->b.fn->inst.n - from > 24)
            return false;
    }
    return true;
}

typedef struct control_expr {
    uint32_t node; /* 0: the value below */
    bool as_bool;
    ts_dtype dtype; /* what the value is converted to, or 0 */
    fr_value value;
} control_expr;

static ts_status control_expr_value(fr *f, const control_expr *e, fr_value *out)
{
    bool known, truth;
    ts_val cond;
    *out = e->value;
    if (e->node)
        TS_TRY(e->as_bool ? fr_test(f, e->node, out) : fr_expr(f, e->node, out));
    if (e->dtype)
        return fr_to_tile(f, out, e->dtype, out);
    if (!e->as_bool)
        return TS_OK;
    TS_TRY(fr_condition(f, e->node, out, &known, &truth, &cond));
    *out = known ? fr_bool(truth) : fr_tile(TS_DTYPE_bool_, cond);
    return TS_OK;
}

static ts_status control_expr_body(fr *f, void *user, fr_flow *flow)
{
    fr_value v;
    *flow = FR_FALLS;
    TS_TRY(control_expr_value(f, user, &v));
    f->frame->slots[f->frame->scope->n_slots + FR_SLOT_EXPR] = v;
    return TS_OK;
}

static bool control_is_scalar(const fr *f, const fr_value *v)
{
    return v->kind == FR_NUMBER || (v->kind == FR_TILE && v->dtype && fr_shape_of(f, v).rank == 0);
}

/* Scalars that cost little become a select; false where the two need an `if`. */
static ts_status control_select(fr *f, ts_val cond, const control_expr *then, const control_expr *other, fr_value *out,
                                bool *done)
{
    fr_point mark = fr_here(f);
    fr_value a, b;
    ts_dtype dtype;
    ts_type type;
    f->regions++;
    TS_TRY(control_expr_value(f, then, &a));
    TS_TRY(control_expr_value(f, other, &b));
    f->regions--;
    *done = control_is_pure(f, mark.inst);
    if (*done && fr_same(f, &a, &b)) {
        *out = a;
        return TS_OK;
    }
    *done = *done && control_is_scalar(f, &a) && control_is_scalar(f, &b) && control_pair(f, &a, &b, &dtype, &type);
    if (!*done) {
        fr_back(f, &mark);
        return TS_OK;
    }
    TS_TRY(fr_to_tile(f, &a, dtype, &a));
    TS_TRY(fr_to_tile(f, &b, dtype, &b));
    *out = fr_tile(dtype, ts_select(&f->b, cond, a.as.v, b.as.v));
    return TS_OK;
}

/* cond ? then : else. */
static ts_status control_choose_both(fr *f, uint32_t node, ts_val cond, control_expr *then, control_expr *other,
                                fr_value *out)
{
    uint32_t parts[2], n_parts = 0, n, *assigned, slot = f->frame->scope->n_slots + FR_SLOT_EXPR;
    bool done = false, is_if = ts_pack_node(&f->pack, node)->kind == TS_AST_IfExp;
    fr_flow flow;
    for (uint32_t i = 0; i < 2; i++)
        if ((i ? other : then)->node)
            parts[n_parts++] = (i ? other : then)->node;
    TS_TRY(fr_assigned(f, parts, n_parts, &assigned, &n)); /* by := */
    if (!n)
        TS_TRY(control_select(f, cond, then, other, out, &done));
    if (done)
        return TS_OK;
    uint32_t *slots = TS_NEW_N(f->arena, uint32_t, n + 1);
    if (!slots)
        return fr_oom(f);
    memcpy(slots, assigned, n * sizeof *slots);
    slots[n] = slot;
    control_if c = {.f = f, .node = node, .slots = slots, .n_slots = n + 1};
    TS_TRY(control_branch(&c, cond, control_expr_body, (void *[]){then, other}, &flow));
    *out = f->frame->slots[slot];
    if (out->kind == FR_CONFLICT || out->kind == FR_UNBOUND)
        return fr_error(f, node, TS_TILETYPE, "the two values of %s differ in type\n  found: %s and %s%s",
                        is_if ? "a conditional expression" : "'and' or 'or'",
                        fr_say(f, &c.side[0].slots[slot]), fr_say(f, &c.side[1].slots[slot]),
                        is_if ? "" : "\n  help: each gives the value of one side; bool(x) of both gives a truth");
    return TS_OK;
}

/* The same; the other value alone where one needs a result of a recursion that is not known yet. */
static ts_status control_choose(fr *f, uint32_t node, ts_val cond, control_expr *then, control_expr *other,
                                fr_value *out)
{
    fr_point start = fr_here(f);
    ts_status status = control_choose_both(f, node, cond, then, other, out);
    if (f->stopped && fr_stopped(f, status, &start)) {
        status = control_expr_value(f, then, out);
        if (f->stopped && fr_stopped(f, status, &start))
            status = control_expr_value(f, other, out);
    }
    return status;
}

ts_status fr_if_expr(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value v;
    bool known, truth;
    ts_val cond;
    TS_TRY(fr_test(f, n->f[0], &v));
    TS_TRY(fr_condition(f, n->f[0], &v, &known, &truth, &cond));
    if (known)
        return fr_expr(f, n->f[truth ? 1 : 2], out);
    return control_choose(f, node, cond, &(control_expr){.node = n->f[1]},
                          &(control_expr){.node = n->f[2]}, out);
}

/* The dtype that both sides of `and` or `or` get as values; 0: they have it, or are no scalars. What the right one
 * emits is dropped again. */
static ts_status control_common(fr *f, const char *sign, const control_expr *right, const fr_value *left, ts_dtype *out)
{
    fr_point mark = fr_here(f);
    fr_value v, other = *left;
    uint32_t n, *assigned;
    ts_type type;
    *out = TS_DTYPE_NONE;
    TS_TRY(fr_assigned(f, &right->node, 1, &assigned, &n)); /* by :=, which must not run twice */
    if (n)
        return TS_OK;
    f->regions++; /* it runs behind a branch */
    TS_TRY(control_expr_value(f, right, &v));
    f->regions--;
    if (control_is_scalar(f, &v) && !control_pair(f, &other, &v, out, &type))
        TS_TRY(fr_common_dtype(f, sign, &other, &v, out));
    else
        *out = TS_DTYPE_NONE;
    fr_back(f, &mark);
    return TS_OK;
}

/* One more operand after *out, which the kernel computes. */
static ts_status control_bool_step(fr *f, uint32_t node, bool is_and, uint32_t next, bool as_bool, fr_value *out)
{
    control_expr right = {.node = next, .as_bool = as_bool}, left = {.value = as_bool ? fr_bool(!is_and) : *out};
    bool known, truth;
    ts_val cond;
    TS_TRY(fr_condition(f, node, out, &known, &truth, &cond));
    if (!as_bool)
        TS_TRY(control_common(f, is_and ? "and" : "or", &right, out, &right.dtype));
    left.dtype = right.dtype;
    return control_choose(f, node, cond, is_and ? &right : &left, is_and ? &left : &right, out);
}

/* The same; *out stays where the operand needs a result of a recursion that is not known yet. */
static ts_status control_bool_try(fr *f, uint32_t node, bool is_and, uint32_t next, bool as_bool, fr_value *out)
{
    fr_point start = fr_here(f);
    fr_value left = *out;
    ts_status status = control_bool_step(f, node, is_and, next, as_bool, out);
    if (!f->stopped || !fr_stopped(f, status, &start))
        return status;
    *out = left;
    return TS_OK;
}

/* a and b: the value of one of them, as in Python, or a bool where only the truth is wanted. What is known at compile
 * time decides at once; the right side runs only when it is needed. */
ts_status fr_bool_op(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    bool is_and = n->f[0] == TS_OPERATOR_And, as_bool = f->test == node, known, truth;
    uint32_t count;
    ts_val cond;
    const uint32_t *sides = ts_pack_list(&f->pack, n->f[1], &count);
    *out = fr_bool(is_and);
    known = true;
    truth = is_and;
    for (uint32_t i = 0; i < count; i++) {
        if (known && truth != is_and)
            return TS_OK;
        if (!known)
            TS_TRY(control_bool_try(f, node, is_and, sides[i], as_bool, out));
        else
            TS_TRY(as_bool ? fr_test(f, sides[i], out) : fr_expr(f, sides[i], out));
        if (i + 1 == count && !as_bool)
            return TS_OK;
        TS_TRY(fr_condition(f, sides[i], out, &known, &truth, &cond));
        if (as_bool)
            *out = known ? fr_bool(truth) : fr_tile(TS_DTYPE_bool_, cond);
    }
    return TS_OK;
}
