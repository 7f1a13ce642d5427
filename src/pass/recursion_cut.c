/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts a recursion into pieces at its recurs, and at what controls them: recursion.h says what a piece is. Recursions
 * inside of it belong to it: entering one is a call, too, and what its region reads from outside is handed over.
 */
#include "pass/recursion.h"

static recursion_piece *cut_piece(const recursion_cut *c, uint32_t i)
{
    return &c->pieces.at[i];
}

static uint32_t cut_new(recursion_cut *c, ts_val at)
{
    recursion_piece piece = {.end = RECURSION_STOP, .edge = {{.to = TS_NO}, {.to = TS_NO}}, .loc = c->fn->loc.at[at]};
    (void)TS_PUSH(c->scratch, &c->pieces, piece);
    return c->pieces.n ? c->pieces.n - 1 : 0;
}

static void cut_take(recursion_cut *c, uint32_t piece, ts_val first, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->scratch->failed; i++)
        (void)TS_PUSH(c->scratch, &cut_piece(c, piece)->takes, first + i);
}

/* Operands `from`.. of an instruction. */
static recursion_edge cut_edge(const recursion_cut *c, uint32_t to, ts_val v, uint32_t from)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t n = inst->n_opnd > from ? inst->n_opnd - from : 0;
    return (recursion_edge){to, n, n ? ts_opnds(c->fn, inst) + from : NULL};
}

static void cut_ends(recursion_cut *c, recursion_end end, ts_val value, recursion_edge a, recursion_edge b)
{
    recursion_piece *piece = cut_piece(c, c->current);
    piece->end = end;
    piece->value = value;
    piece->edge[0] = a;
    piece->edge[1] = b;
}

static recursion_edge cut_to(uint32_t piece)
{
    return (recursion_edge){.to = piece};
}

static const recursion_edge cut_none = {.to = TS_NO};

/* ---- what is cut ------------------------------------------------------------------------------------- */

static void cut_mark_up(recursion_cut *c, ts_val v, ts_val until)
{
    while ((v = c->shape->parent[v]) != until && v)
        c->split[v] = true;
}

/* Regions around recurs and recursions, then ifs that leave or repeat such a loop. */
static void cut_mark(recursion_cut *c)
{
    ts_val outside = c->shape->parent[c->opener];
    for (ts_val v = c->opener + 1; v < c->end; v++) {
        uint32_t op = ts_at(c->fn, v)->op;
        if (op == TS_OP_recur || op == TS_OP_recursion)
            cut_mark_up(c, v, outside);
    }
    for (ts_val v = c->opener + 1; v < c->end; v++) {
        uint32_t op = ts_at(c->fn, v)->op;
        ts_val loop = op == TS_OP_break || op == TS_OP_continue ? ts__term_target(c->fn, c->shape, v) : 0;
        if (loop > c->opener && c->split[loop])
            cut_mark_up(c, v, loop);
    }
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

static void cut_region(recursion_cut *c, ts_val v);

static ts_val cut_after(const recursion_cut *c, ts_val v)
{
    ts_val last = ts_info(ts_at(c->fn, v))->flags & TS_REGION ? c->shape->end[v] : v;
    return last + 1 + ts__n_res(c->fn, last);
}

/* The results of `v`, a region or an instruction, are taken by a new piece. */
static uint32_t cut_results(recursion_cut *c, ts_val v)
{
    uint32_t piece = cut_new(c, v);
    ts_val last = ts_info(ts_at(c->fn, v))->flags & TS_REGION ? c->shape->end[v] : v;
    cut_take(c, piece, last + 1, ts__n_res(c->fn, last));
    return piece;
}

static void cut_if(recursion_cut *c, ts_val v)
{
    uint32_t join = cut_results(c, v), then = cut_new(c, v), other = cut_new(c, c->shape->other[v]);
    c->entry[v] = join + 1;
    cut_ends(c, RECURSION_CHOOSE, ts_opnd(c->fn, v, 0), cut_to(then), cut_to(other));
    c->current = then;
    cut_region(c, v + 1);
    c->current = other;
    cut_region(c, c->shape->other[v] + 1);
    c->current = join;
}

static void cut_loop(recursion_cut *c, ts_val v)
{
    bool counts = ts_at(c->fn, v)->op == TS_OP_for;
    uint32_t after = cut_results(c, v), head = cut_new(c, v), n = ts_at(c->fn, v)->n_opnd - (counts ? 2u : 0);
    cut_take(c, head, v + 1, n);
    c->entry[v] = head + 1;
    c->after[v] = after + 1;
    if (counts)
        cut_ends(c, RECURSION_ENTER, v, cut_to(head), cut_edge(c, after, v, 3));
    else
        cut_ends(c, RECURSION_GO, 0, cut_edge(c, head, v, 0), cut_none);
    c->current = head;
    cut_region(c, v + 1 + n);
    c->current = after;
}

/* The piece takes x, too, where x is made between the outermost recursion's begin and `inner`. */
static void cut_capture(recursion_cut *c, ts_val inner, uint32_t piece, ts_val x, bool *seen)
{
    const ts_inst *inst = ts_at(c->fn, x);
    if (x <= c->opener || x >= inner || seen[x] || inst->op == TS_OP_constant || !inst->type)
        return;
    seen[x] = true;
    cut_take(c, piece, x, 1);
}

/* A region inside is entered by its values and by all that it reads from outside: both are copied to its frame. A recur
 * in it of a recursion around it reads what that one was entered by. */
static void cut_captures(recursion_cut *c, ts_val inner, uint32_t piece)
{
    bool *seen = TS_NEW_N(c->scratch, bool, c->fn->inst.n);
    for (ts_val v = inner + 1; v < c->shape->end[inner] && seen && !c->scratch->failed; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            cut_capture(c, inner, piece, ts_opnds(c->fn, inst)[i], seen);
        ts_val of = inst->op == TS_OP_recur ? ts__recursion_of(c->fn, c->shape->parent, v) : inner;
        for (uint32_t i = ts_at(c->fn, of)->n_opnd; of < inner && i < cut_piece(c, c->entry[of] - 1)->takes.n; i++)
            cut_capture(c, inner, piece, cut_piece(c, c->entry[of] - 1)->takes.at[i], seen);
    }
}

/* A run of the region of `of`, with the operands of `v` and what the region captures. */
static void cut_call(recursion_cut *c, ts_val v, ts_val of)
{
    uint32_t entry = c->entry[of] - 1, back = cut_results(c, v);
    const recursion_piece *piece = cut_piece(c, entry);
    uint32_t n = ts_at(c->fn, of)->n_opnd;
    ts_val *values = TS_NEW_N(c->scratch, ts_val, piece->takes.n + 1);
    if (!values)
        return;
    memcpy(values, piece->takes.at, piece->takes.n * sizeof *values);
    if (n)
        memcpy(values, ts_opnds(c->fn, ts_at(c->fn, v)), n * sizeof *values);
    cut_ends(c, RECURSION_CALL, v, (recursion_edge){entry, piece->takes.n, values}, cut_to(back));
    c->current = back;
}

static void cut_recursion(recursion_cut *c, ts_val v)
{
    uint32_t n = ts_at(c->fn, v)->n_opnd, piece = cut_new(c, v);
    cut_take(c, piece, v + 1, n);
    cut_captures(c, v, piece);
    c->entry[v] = piece + 1;
    cut_call(c, v, v);
    uint32_t back = c->current;
    c->current = piece;
    cut_region(c, v + 1 + n);
    c->current = back;
}

static void cut_term(recursion_cut *c, ts_val v)
{
    uint32_t op = ts_at(c->fn, v)->op;
    ts_val target = ts__term_target(c->fn, c->shape, v);
    if (op == TS_OP_return)
        cut_ends(c, RECURSION_STOP, v, cut_none, cut_none);
    else if (op == TS_OP_break)
        cut_ends(c, RECURSION_GO, 0, cut_edge(c, c->after[target] - 1, v, 0), cut_none);
    else if (op == TS_OP_continue && ts_at(c->fn, target)->op == TS_OP_for)
        cut_ends(c, RECURSION_NEXT, target, cut_edge(c, c->entry[target] - 1, v, 0),
                 cut_edge(c, c->after[target] - 1, v, 0));
    else if (op == TS_OP_continue || ts_at(c->fn, target)->op == TS_OP_if)
        cut_ends(c, RECURSION_GO, 0, cut_edge(c, c->entry[target] - 1, v, 0), cut_none);
    else
        cut_ends(c, RECURSION_GIVE, target, cut_edge(c, TS_NO, v, 0), cut_none);
}

/* Instructions from v on, to the terminator of their region. */
static void cut_region(recursion_cut *c, ts_val v)
{
    while (!c->scratch->failed) {
        const ts_inst *inst = ts_at(c->fn, v);
        ts_val next = cut_after(c, v);
        if (ts_info(inst)->flags & TS_TERM) {
            cut_term(c, v);
            return;
        }
        if (inst->op == TS_OP_recursion)
            cut_recursion(c, v);
        else if (inst->op == TS_OP_recur)
            cut_call(c, v, ts__recursion_of(c->fn, c->shape->parent, v));
        else if (c->split[v] && inst->op == TS_OP_if)
            cut_if(c, v);
        else if (c->split[v])
            cut_loop(c, v);
        else
            (void)TS_PUSH(c->scratch, &cut_piece(c, c->current)->items, v);
        v = next;
    }
}

/* ---- edges ------------------------------------------------------------------------------------------- */

/* Which of the values that the piece takes is x; TS_NO: it is none. */
static uint32_t cut_taken(const recursion_piece *piece, ts_val x)
{
    for (uint32_t i = 0; i < piece->takes.n; i++)
        if (piece->takes.at[i] == x)
            return i;
    return TS_NO;
}

/* A piece that only hands on what it takes: `edge` goes where that goes. */
static bool cut_shorten(recursion_cut *c, recursion_edge *edge, recursion_end *end, ts_val *value)
{
    const recursion_piece *through = cut_piece(c, edge->to);
    if (through->items.n || (through->end != RECURSION_GO && through->end != RECURSION_GIVE))
        return false;
    const recursion_edge *on = &through->edge[0];
    ts_val *values = TS_NEW_N(c->scratch, ts_val, on->n + 1);
    for (uint32_t i = 0; values && i < on->n; i++) {
        uint32_t at = cut_taken(through, on->values[i]);
        if (at == TS_NO)
            return false;
        values[i] = edge->values[at];
    }
    *end = through->end;
    *value = through->value;
    *edge = (recursion_edge){on->to, on->n, values};
    return values != NULL;
}

static void cut_edges(recursion_cut *c)
{
    for (uint32_t i = 0; i < c->pieces.n; i++) {
        recursion_piece *piece = cut_piece(c, i);
        for (uint32_t turns = 0; turns < 64 && piece->end == RECURSION_GO; turns++)
            if (!cut_shorten(c, &piece->edge[0], &piece->end, &piece->value))
                break;
    }
}

/* Counts the ways into each piece that is reached. One way in, that is no call's: the piece stands where that is. */
static void cut_count(recursion_cut *c)
{
    uint32_t *todo = TS_NEW_N(c->scratch, uint32_t, c->pieces.n + 1), n = 1;
    if (!todo)
        return;
    cut_piece(c, 0)->n_in = 2;
    while (n) {
        const recursion_piece *piece = cut_piece(c, todo[--n]);
        for (uint32_t k = 0; k < 2; k++) {
            recursion_piece *to = piece->edge[k].to == TS_NO ? NULL : cut_piece(c, piece->edge[k].to);
            if (to && !to->n_in)
                todo[n++] = piece->edge[k].to;
            if (to)
                to->n_in += piece->end == RECURSION_CALL ? 2 : 1;
        }
    }
}

bool ts__recursion_cut(recursion_cut *c)
{
    uint32_t n = c->fn->inst.n;
    c->end = c->shape->end[c->opener];
    c->entry = TS_NEW_N(c->scratch, uint32_t, n);
    c->after = TS_NEW_N(c->scratch, uint32_t, n);
    c->split = TS_NEW_N(c->scratch, bool, n);
    if (!c->entry || !c->after || !c->split)
        return false;
    cut_mark(c);
    c->current = cut_new(c, c->opener);
    c->entry[c->opener] = 1;
    cut_take(c, 0, c->opener + 1, ts_at(c->fn, c->opener)->n_opnd);
    cut_region(c, c->opener + 1 + ts_at(c->fn, c->opener)->n_opnd);
    if (c->scratch->failed)
        return false;
    cut_edges(c);
    cut_count(c);
    return !c->scratch->failed;
}
