/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursion as a loop with a stack: the pieces of recursion_cut.c, one after the other, each behind a question whether
 * it is its turn. A run has a frame in local memory of the thread, at `sp`: values that one piece makes and another
 * reads, and the piece that goes on when the run is over.
 *
 *     %r = recursion depth=128 iter(%n = %x) : i64 {        %slot = local 128 i64; %back = local 128 i32
 *       %c = cmpi lt %n, 2                                  st %back[0], done
 *       %v = if %c { yield %n } else {                      %r = loop iter(%p = 0, %sp = 0, %a = %x) {
 *         %m = subi %n, 1                                     %p1, %sp1, %a1 = if (%p == 0) {
 *         %y = recur %m                               ->        if (%a < 2) { yield %back[%sp], %sp - 1, %a }
 *         %z = muli %y, %n                                      else { st %slot[%sp], %a; st %back[%sp + 1], 1;
 *         yield %z                                                     yield 0, %sp + 1, %a - 1 } } ..
 *       }                                                     %p2, %sp2, %a2 = if (%p1 == 1) {
 *       yield %v                                                z = muli %a1, %slot[%sp1]; yield %back[..], .. }
 *     }                                                       if (%p2 == done) { break %a2 } else { continue .. }
 *
 * What an edge hands over is carried in registers by type (%a). Memory that the region allocates (`local`) is there for
 * each run. Recursions that follow each other use the same arrays, which therefore stand where the function begins.
 * Source: "defunctionalised continuations", Reynolds 1972. Cost: a copy of the function.
 */
#include "pass/recursion.h"
#include <stdio.h>

enum { RECURSION_LOCAL = 512 << 10 }; /* bytes of local memory of a GPU's thread (CUDA programming guide, limits) */

typedef struct recursion_array { /* of all frames, for one recursion after the other */
    ts_type type;
    uint32_t words[3];         /* as `local` has them */
    ts_val at;
    uint32_t user;             /* the recursion that took it last */
} recursion_array;

typedef struct recursion_ctx {
    recursion_cut cut;
    TS_VEC(recursion_cut) cuts; /* of all recursions, in order */
    TS_VEC(recursion_array) arrays;
    const ts_fn *fn;
    ts_shape shape;
    ts_builder b;
    ts_arena *scratch;
    ts_val *map;
    bool *known;               /* inside of the recursion: map has the value in the piece that is written */
    TS_VEC(ts_val) found;      /* the values that became known, for undoing */
    ts_val *slot;              /* of values that pieces give each other: memory of all frames */
    ts_val *memory;            /* of a `local`: the same */
    bool *crosses;             /* a value needs a slot */
    uint64_t frame_bytes;      /* of the recursion with the most memory: of a frame, and how many there are */
    uint32_t depth;
    ts_val back;               /* which piece goes on after the run of each frame */
    TS_VEC(ts_type) reg;       /* types of the registers that edges use */
    ts_val state, sp, *now;    /* and the registers, as they are where code is written */
} recursion_ctx;

static ts_module *rec_module(const recursion_ctx *c)
{
    return c->fn->module;
}

static const recursion_piece *rec_piece(const recursion_ctx *c, uint32_t i)
{
    return &c->cut.pieces.at[i];
}

static bool rec_inside(const recursion_ctx *c, ts_val v)
{
    return v > c->cut.opener && v < c->cut.end;
}

/* Made anew in each piece: a constant. */
static bool rec_again(const recursion_ctx *c, ts_val v)
{
    return ts_at(c->fn, v)->op == TS_OP_constant;
}

static ts_val rec_int(recursion_ctx *c, int64_t x)
{
    return ts_int(&c->b, TS_T_i32, x);
}

static void rec_know(recursion_ctx *c, ts_val v, ts_val value)
{
    c->map[v] = value;
    if (!c->known[v])
        (void)TS_PUSH(c->scratch, &c->found, v);
    c->known[v] = true;
}

static void rec_forget(recursion_ctx *c, uint32_t until)
{
    while (c->found.n > until)
        c->known[c->found.at[--c->found.n]] = false;
}

/* What follows item v, with its region and its results. */
static ts_val rec_after(const recursion_ctx *c, ts_val v)
{
    ts_val last = ts_info(ts_at(c->fn, v))->flags & TS_REGION ? c->shape.end[v] : v;
    return last + 1 + ts__n_res(c->fn, last);
}

/* ---- registers that edges use ------------------------------------------------------------------------ */

/* The register of value i of a list: the k-th of its type, where k values of the type stand before it. */
static uint32_t rec_reg(recursion_ctx *c, const ts_val *values, uint32_t i)
{
    ts_type type = ts_type_of(c->fn, values[i]);
    uint32_t k = 0, at = 0;
    for (uint32_t j = 0; j < i; j++)
        k += ts_type_of(c->fn, values[j]) == type;
    for (; at < c->reg.n; at++)
        if (c->reg.at[at] == type && !k--)
            return at;
    (void)TS_PUSH(c->scratch, &c->reg, type);
    return at;
}

static void rec_registers(recursion_ctx *c)
{
    for (uint32_t p = 0; p < c->cut.pieces.n; p++) {
        const recursion_piece *piece = rec_piece(c, p);
        for (uint32_t i = 0; i < piece->takes.n; i++)
            rec_reg(c, piece->takes.at, i);
        for (uint32_t i = 0; piece->end == RECURSION_GIVE && i < piece->edge[0].n; i++)
            rec_reg(c, piece->edge[0].values, i);
    }
}

static ts_val rec_zero(recursion_ctx *c, ts_type type)
{
    ts_module *m = rec_module(c);
    if (ts_type_is_ptr(m, type))
        return ts_cast(&c->b, TS_OP_int_to_ptr, ts_int(&c->b, TS_T_i64, 0), type, 0);
    if (!ts_type_is_complex(m, type))
        return ts_bits(&c->b, type, 0);
    ts_val part = ts_bits(&c->b, ts_type_part(type), 0);
    return ts_emit(&c->b, TS_OP_make_complex, type, 2, (ts_val[]){part, part}, 0, 0);
}

/* ---- slots ------------------------------------------------------------------------------------------- */

/* How a value lies in memory. */
static ts_type rec_stored(const recursion_ctx *c, ts_val v)
{
    ts_type type = ts_type_of(c->fn, v);
    return type == TS_T_i1 ? TS_T_i8 : ts_type_is_ptr(rec_module(c), type) ? TS_T_i64 : type;
}

static void rec_keep(recursion_ctx *c, ts_val v, ts_val frame)
{
    ts_type type = ts_type_of(c->fn, v), stored = rec_stored(c, v);
    ts_val x = c->map[v];
    if (type == TS_T_i1)
        x = ts_cast(&c->b, TS_OP_exti, x, stored, TS_A_UNSIGNED);
    else if (stored != type)
        x = ts_cast(&c->b, TS_OP_ptr_to_int, x, stored, 0);
    ts_store(&c->b, ts_element(&c->b, c->slot[v], frame), x, TS_CACHE_NONE);
}

static ts_val rec_kept(recursion_ctx *c, ts_val v)
{
    ts_type type = ts_type_of(c->fn, v), stored = rec_stored(c, v);
    ts_val x = ts_load(&c->b, ts_element(&c->b, c->slot[v], c->sp), TS_CACHE_NONE);
    if (type == TS_T_i1)
        return ts_cmp(&c->b, TS_OP_cmpi, TS_NE, x, ts_int(&c->b, stored, 0), 0);
    return stored == type ? x : ts_cast(&c->b, TS_OP_int_to_ptr, x, type, 0);
}

/* The memory of the run among that of all runs. */
static ts_val rec_own_memory(recursion_ctx *c, ts_val v)
{
    uint32_t bytes = ts_pool(c->fn, ts_at(c->fn, v))[0];
    ts_val step = ts_op2(&c->b, TS_OP_muli, c->sp, rec_int(c, bytes), 0);
    return ts_op2(&c->b, TS_OP_ptr_add, c->memory[v], step, 0);
}

/* ---- which values cross ------------------------------------------------------------------------------ */

static void rec_reads(recursion_ctx *c, uint32_t n, const ts_val *values)
{
    for (uint32_t i = 0; i < n; i++)
        if (rec_inside(c, values[i]) && !c->known[values[i]] && !rec_again(c, values[i]) &&
            ts_type_of(c->fn, values[i]))
            c->crosses[values[i]] = true;
}

static void rec_walk(recursion_ctx *c, uint32_t p);

static void rec_walk_edge(recursion_ctx *c, const recursion_edge *edge, bool calls)
{
    rec_reads(c, edge->n, edge->values);
    if (edge->to == TS_NO || calls || rec_piece(c, edge->to)->n_in != 1)
        return;
    rec_walk(c, edge->to);
}

/* A piece, and those that stand inside of it. */
static void rec_walk(recursion_ctx *c, uint32_t p)
{
    const recursion_piece *piece = rec_piece(c, p);
    uint32_t before = c->found.n;
    for (uint32_t i = 0; i < piece->takes.n; i++)
        rec_know(c, piece->takes.at[i], 0);
    for (uint32_t i = 0; i < piece->items.n; i++) {
        ts_val first = piece->items.at[i], after = rec_after(c, first);
        for (ts_val v = first; v < after; v++) {
            rec_reads(c, ts_at(c->fn, v)->n_opnd, ts_opnds(c->fn, ts_at(c->fn, v)));
            rec_know(c, v, 0);
        }
    }
    if (piece->end == RECURSION_CHOOSE)
        rec_reads(c, 1, &piece->value);
    if (piece->end == RECURSION_ENTER)
        rec_reads(c, 3, ts_opnds(c->fn, ts_at(c->fn, piece->value)));
    if (piece->end == RECURSION_NEXT) {
        rec_reads(c, 2, ts_opnds(c->fn, ts_at(c->fn, piece->value)) + 1);
        rec_reads(c, 1, (ts_val[]){piece->value + 1});
    }
    for (uint32_t k = 0; k < 2; k++)
        rec_walk_edge(c, &piece->edge[k], piece->end == RECURSION_CALL);
    rec_forget(c, before);
}

/* ---- writing a piece --------------------------------------------------------------------------------- */

/* x where it is read: it is known, kept, or made anew. */
static ts_val rec_read(recursion_ctx *c, ts_val v)
{
    if (!rec_inside(c, v) || c->known[v])
        return c->map[v];
    if (rec_again(c, v))
        ts__copy(&c->b, c->fn, v, c->map);
    else
        rec_know(c, v, rec_kept(c, v));
    return c->map[v];
}

static void rec_item(recursion_ctx *c, ts_val first)
{
    ts_val after = rec_after(c, first);
    const ts_inst *inst = ts_at(c->fn, first);
    if (inst->op == TS_OP_local) {
        rec_know(c, first, rec_own_memory(c, first));
        return;
    }
    for (ts_val v = first; v < after; v++) { /* read what lies outside before the region opens */
        const ts_inst *x = ts_at(c->fn, v);
        for (uint32_t i = 0; i < x->n_opnd; i++)
            if (ts_opnds(c->fn, x)[i] < first)
                rec_read(c, ts_opnds(c->fn, x)[i]);
    }
    for (ts_val v = first; v < after; v++) {
        ts_val made = ts__copy(&c->b, c->fn, v, c->map);
        rec_know(c, v, made);
    }
}

/* Keeps what other pieces read of first..after-1. */
static void rec_keep_all(recursion_ctx *c, ts_val first, ts_val after)
{
    for (ts_val v = first; v < after; v++)
        if (c->crosses[v])
            rec_keep(c, v, c->sp);
}

static void rec_yield(recursion_ctx *c, ts_val state, ts_val sp, const ts_val *regs)
{
    ts_val *values = TS_NEW_N(c->scratch, ts_val, c->reg.n + 2);
    if (!values)
        return;
    values[0] = state;
    values[1] = sp;
    memcpy(values + 2, regs, c->reg.n * sizeof *values);
    ts_term(&c->b, TS_OP_yield, c->reg.n + 2, values);
}

/* The registers with values x in the places that `like` says. */
static ts_val *rec_handed(recursion_ctx *c, uint32_t n, const ts_val *like, const ts_val *x)
{
    ts_val *regs = TS_NEW_N(c->scratch, ts_val, c->reg.n + 1);
    if (!regs)
        return c->now;
    memcpy(regs, c->now, c->reg.n * sizeof *regs);
    for (uint32_t i = 0; i < n; i++)
        regs[rec_reg(c, like, i)] = x[i];
    return regs;
}

static void rec_write(recursion_ctx *c, uint32_t p);

/* Goes along an edge whose values are x. */
static void rec_go(recursion_ctx *c, uint32_t to, const ts_val *x)
{
    const recursion_piece *piece = rec_piece(c, to);
    if (piece->n_in != 1) {
        rec_yield(c, rec_int(c, to), c->sp, rec_handed(c, piece->takes.n, piece->takes.at, x));
        return;
    }
    uint32_t before = c->found.n;
    for (uint32_t i = 0; i < piece->takes.n; i++)
        rec_know(c, piece->takes.at[i], x[i]);
    rec_write(c, to);
    rec_forget(c, before);
}

static ts_val *rec_values(recursion_ctx *c, const recursion_edge *edge)
{
    ts_val *x = TS_NEW_N(c->scratch, ts_val, edge->n + 2);
    for (uint32_t i = 0; x && i < edge->n; i++)
        x[i] = rec_read(c, edge->values[i]);
    return x;
}

/* if cond { edge a } else { edge b }, each giving what a piece gives. */
static void rec_two(recursion_ctx *c, ts_val cond, const recursion_edge *a, const ts_val *x, const recursion_edge *b,
                    const ts_val *y)
{
    ts_type *types = TS_NEW_N(c->scratch, ts_type, c->reg.n + 2);
    ts_val *out = TS_NEW_N(c->scratch, ts_val, c->reg.n + 2);
    if (!types || !out)
        return;
    types[0] = types[1] = TS_T_i32;
    memcpy(types + 2, c->reg.at, c->reg.n * sizeof *types);
    ts_val opener = ts_if_begin(&c->b, cond);
    uint32_t before = c->found.n;
    rec_go(c, a->to, x);
    rec_forget(c, before);
    ts_else(&c->b);
    rec_go(c, b->to, y);
    rec_forget(c, before);
    ts_end(&c->b, opener, c->reg.n + 2, types);
    for (uint32_t i = 0; i < c->reg.n + 2; i++)
        out[i] = ts_res(&c->b, opener, i);
    rec_yield(c, out[0], out[1], out + 2);
}

/* A `for`: whether it goes on, its number, and its carried values where it does. */
static void rec_for(recursion_ctx *c, const recursion_piece *piece)
{
    ts_val v = piece->value, upper = rec_read(c, ts_opnd(c->fn, v, 1));
    bool enters = piece->end == RECURSION_ENTER;
    uint32_t attr = ts_at(c->fn, v)->aux & TS_A_UNSIGNED;
    ts_val step = rec_read(c, ts_opnd(c->fn, v, 2)), i = rec_read(c, enters ? ts_opnd(c->fn, v, 0) : v + 1);
    ts_val on = enters ? ts_cmp(&c->b, TS_OP_cmpi, TS_LT, i, upper, attr)
                       : ts_cmp(&c->b, TS_OP_cmpi, TS_GT, ts_op2(&c->b, TS_OP_subi, upper, i, 0), step, TS_A_UNSIGNED);
    const recursion_edge *leave = &piece->edge[1];
    ts_val *y = rec_values(c, leave), *x = TS_NEW_N(c->scratch, ts_val, leave->n + 1);
    if (!x || !y)
        return;
    x[0] = enters ? i : ts_op2(&c->b, TS_OP_addi, i, step, 0);
    memcpy(x + 1, y, leave->n * sizeof *x);
    rec_two(c, on, &piece->edge[0], x, leave, y);
}

/* One more run, unless there are too many. */
static void rec_call(recursion_ctx *c, const recursion_piece *piece)
{
    ts_builder *b = &c->b;
    const recursion_edge *edge = &piece->edge[0];
    const recursion_piece *to = rec_piece(c, edge->to);
    ts_val *x = rec_values(c, edge), next = ts_op2(b, TS_OP_addi, c->sp, rec_int(c, 1), 0);
    if (!x)
        return;
    char text[128];
    int n = snprintf(text, sizeof text, TS_RECURSION_TEXT, c->cut.depth);
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, next, rec_int(c, c->cut.depth), 0));
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_val wide = ts_int(b, TS_T_i64, 0), fault[6] = {rec_int(c, TS_FAULT_RAISE), wide, wide};
    for (uint32_t i = 0; i < 3; i++)
        fault[3 + i] = ts_emit(b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_TID + i, 0, 0), 0);
    ts_emit(b, TS_OP_fault, TS_T_none, TS_COUNT(fault), fault, ts_intern(rec_module(c), text, (size_t)n), 0);
    ts_term(b, TS_OP_return, 0, NULL);
    ts_end(b, opener, 0, NULL);
    ts_store(b, ts_element(b, c->back, next), rec_int(c, piece->edge[1].to), TS_CACHE_NONE);
    rec_yield(c, rec_int(c, edge->to), next, rec_handed(c, edge->n, to->takes.at, x));
}

static void rec_end(recursion_ctx *c, const recursion_piece *piece)
{
    ts_builder *b = &c->b;
    const recursion_edge *edge = &piece->edge[0];
    ts_val *x;
    switch (piece->end) {
    case RECURSION_GO:
        if ((x = rec_values(c, edge)))
            rec_go(c, edge->to, x);
        return;
    case RECURSION_CHOOSE:
        rec_two(c, rec_read(c, piece->value), edge, NULL, &piece->edge[1], NULL);
        return;
    case RECURSION_ENTER:
    case RECURSION_NEXT:
        rec_for(c, piece);
        return;
    case RECURSION_CALL:
        rec_call(c, piece);
        return;
    case RECURSION_GIVE: {
        if (!(x = rec_values(c, edge)))
            return;
        ts_val back = ts_load(b, ts_element(b, c->back, c->sp), TS_CACHE_NONE);
        ts_val sp = ts_op2(b, TS_OP_subi, c->sp, rec_int(c, 1), 0);
        rec_yield(c, back, sp, rec_handed(c, edge->n, edge->values, x));
        return;
    }
    case RECURSION_STOP:
        ts_term(b, TS_OP_return, 0, NULL);
        return;
    }
}

/* The code of a piece, up to the yield of what comes next; what it takes is known. */
static void rec_write(recursion_ctx *c, uint32_t p)
{
    const recursion_piece *piece = rec_piece(c, p);
    c->b.loc = piece->loc;
    for (uint32_t i = 0; i < piece->takes.n; i++)
        rec_keep_all(c, piece->takes.at[i], piece->takes.at[i] + 1);
    for (uint32_t i = 0; i < piece->items.n && !c->scratch->failed; i++) {
        ts_val v = piece->items.at[i];
        c->b.loc = c->fn->loc.at[v];
        rec_item(c, v);
        rec_keep_all(c, v, rec_after(c, v));
    }
    rec_end(c, piece);
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

/* An array that recursion `user` has not taken yet; a new one where there is none. */
static ts_val rec_array(recursion_ctx *c, uint32_t user, ts_type type, const uint32_t words[3])
{
    for (uint32_t i = 0; i < c->arrays.n; i++) {
        recursion_array *array = &c->arrays.at[i];
        if (array->user != user && array->type == type && !memcmp(array->words, words, sizeof array->words)) {
            array->user = user;
            return array->at;
        }
    }
    recursion_array fresh = {.type = type, .words = {words[0], words[1], words[2]}, .user = user};
    (void)TS_PUSH(c->scratch, &c->arrays, fresh);
    return 0;
}

static ts_val rec_slots(recursion_ctx *c, uint32_t user, ts_type elem)
{
    uint32_t bytes = (ts_type_bits(rec_module(c), elem) + 7) / 8, words[3] = {bytes * c->cut.depth, bytes, 0};
    return rec_array(c, user, ts_type_ptr(rec_module(c), elem, TS_LOCAL), words);
}

/* Memory of all frames of c->cut, recursion number `user` of those that ask. */
static void rec_memory(recursion_ctx *c, uint32_t user)
{
    uint64_t bytes = 4; /* of a frame */
    for (ts_val v = c->cut.opener + 1; v < c->cut.end; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        if (inst->op == TS_OP_local) {
            const uint32_t *words = ts_pool(c->fn, inst);
            uint32_t all[3] = {words[0] * c->cut.depth, words[1], words[2]};
            bytes += words[0];
            c->memory[v] = rec_array(c, user, inst->type, all);
        }
        if (c->crosses[v])
            bytes += (ts_type_bits(rec_module(c), rec_stored(c, v)) + 7) / 8;
        if (c->crosses[v])
            c->slot[v] = rec_slots(c, user, rec_stored(c, v));
    }
    if (bytes * c->cut.depth > c->frame_bytes * c->depth) {
        c->frame_bytes = bytes;
        c->depth = c->cut.depth;
    }
    c->back = rec_slots(c, user, TS_T_i32);
}

/* if (state == p) { the piece } else { all as it is }; state, frame and registers are then what it gives. */
static void rec_turn(recursion_ctx *c, uint32_t p)
{
    ts_builder *b = &c->b;
    const recursion_piece *piece = rec_piece(c, p);
    ts_type *types = TS_NEW_N(c->scratch, ts_type, c->reg.n + 2);
    uint32_t before = c->found.n;
    if (!types)
        return;
    types[0] = types[1] = TS_T_i32;
    memcpy(types + 2, c->reg.at, c->reg.n * sizeof *types);
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, c->state, rec_int(c, p), 0));
    for (uint32_t i = 0; i < piece->takes.n; i++)
        rec_know(c, piece->takes.at[i], c->now[rec_reg(c, piece->takes.at, i)]);
    rec_write(c, p);
    rec_forget(c, before);
    ts_else(b);
    rec_yield(c, c->state, c->sp, c->now);
    ts_end(b, opener, c->reg.n + 2, types);
    c->state = ts_res(b, opener, 0);
    c->sp = ts_res(b, opener, 1);
    for (uint32_t i = 0; i < c->reg.n; i++)
        c->now[i] = ts_res(b, opener, i + 2);
}

/* The loop in the place of the recursion c->cut.opener; its results are in map. */
static void rec_loop(recursion_ctx *c)
{
    ts_builder *b = &c->b;
    ts_val v = c->cut.opener, first = c->cut.end + 1;
    uint32_t n = ts__n_res(c->fn, c->cut.end), done = c->cut.pieces.n, k = c->reg.n + 2;
    ts_val *x = TS_NEW_N(c->scratch, ts_val, k + n), *results = TS_NEW_N(c->scratch, ts_val, n + 1);
    ts_type *types = TS_NEW_N(c->scratch, ts_type, n + 1);
    if (!x || !types || !results || !(c->now = TS_NEW_N(c->scratch, ts_val, k)))
        return;
    ts_store(b, ts_element(b, c->back, rec_int(c, 0)), rec_int(c, done), TS_CACHE_NONE);
    x[0] = x[1] = rec_int(c, 0);
    for (uint32_t i = 0; i < c->reg.n; i++)
        x[i + 2] = rec_zero(c, c->reg.at[i]);
    for (uint32_t i = 0; i < ts_at(c->fn, v)->n_opnd; i++)
        x[2 + rec_reg(c, rec_piece(c, 0)->takes.at, i)] = c->map[ts_opnd(c->fn, v, i)];
    ts_val opener = ts_loop_begin(b, k, x);
    c->state = ts_region_arg(b->fn, opener, 0);
    c->sp = ts_region_arg(b->fn, opener, 1);
    for (uint32_t i = 0; i < c->reg.n; i++)
        c->now[i] = ts_region_arg(b->fn, opener, i + 2);
    for (uint32_t p = 0; p < c->cut.pieces.n && !c->scratch->failed; p++)
        if (rec_piece(c, p)->n_in > 1)
            rec_turn(c, p);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = ts_type_of(c->fn, first + i);
        results[i] = first + i;
    }
    for (uint32_t i = 0; i < n; i++)
        x[i] = c->now[rec_reg(c, results, i)];
    b->loc = c->fn->loc.at[v];
    ts_val last = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, c->state, rec_int(c, done), 0));
    ts_term(b, TS_OP_break, n, x);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, last, 0, NULL);
    x[0] = c->state;
    x[1] = c->sp;
    memcpy(x + 2, c->now, c->reg.n * sizeof *x);
    ts_term(b, TS_OP_continue, k, x);
    ts_end(b, opener, n, types);
    for (uint32_t i = 0; i < n; i++)
        c->map[first + i] = ts_res(b, opener, i);
}

/* Cuts recursion v, and finds which values cross and what memory that takes. */
static void rec_find(recursion_ctx *c, ts_val v)
{
    c->cut = (recursion_cut){.fn = c->fn, .shape = &c->shape, .scratch = c->scratch, .opener = v,
                             .depth = ts_at(c->fn, v)->aux};
    if (!ts__recursion_cut(&c->cut) || !TS_PUSH(c->scratch, &c->cuts, c->cut))
        return;
    for (uint32_t p = 0; p < c->cut.pieces.n; p++)
        if (rec_piece(c, p)->n_in > 1)
            rec_walk(c, p);
    rec_memory(c, c->cuts.n);
}

static void rec_find_all(recursion_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n && !c->scratch->failed; v++)
        if (ts_at(c->fn, v)->op == TS_OP_recursion) {
            rec_find(c, v);
            v = rec_after(c, v) - 1;
        }
}

/* The arrays of all frames, where the function begins. Returns their bytes. */
static uint64_t rec_make_arrays(recursion_ctx *c)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->arrays.n; i++) {
        recursion_array *array = &c->arrays.at[i];
        array->at = ts_emit(&c->b, TS_OP_local, array->type, 0, NULL, ts_pool_add(&c->b, 3, array->words), 0);
        array->user = TS_NO;
        bytes += array->words[0];
    }
    return bytes;
}

static void rec_one(recursion_ctx *c, uint32_t i)
{
    c->cut = c->cuts.at[i];
    c->reg.n = 0;
    for (uint32_t k = 0, first = c->cut.end + 1; k < ts__n_res(c->fn, c->cut.end); k++)
        (void)TS_PUSH(c->scratch, &c->reg, ts_type_of(c->fn, first + k)); /* none where the region never ends */
    rec_registers(c);
    rec_memory(c, i);
    rec_loop(c);
}

/* Gives one of them memory of the thread? Its frames end before that is read. */
static bool rec_gives_memory(const recursion_ctx *c)
{
    for (uint32_t i = 0; i < c->cuts.n; i++)
        for (uint32_t k = 0, first = c->cuts.at[i].end + 1; k < ts__n_res(c->fn, c->cuts.at[i].end); k++) {
            ts_type type = ts_type_of(c->fn, first + k);
            if (ts_type_is_ptr(rec_module(c), type) && ts_type_get(rec_module(c), type)->space == TS_LOCAL)
                return true;
        }
    return false;
}

ts_status ts__pass_recursion(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    recursion_ctx c = {.fn = fn, .scratch = env->scratch};
    if (!ts__has_op(fn, TS_OP_recursion))
        return TS_OK;
    ts_fn *fresh = ts__fn_create_like(fn);
    uint32_t n = fn->inst.n;
    c.map = TS_NEW_N(env->scratch, ts_val, n);
    c.known = TS_NEW_N(env->scratch, bool, n);
    c.crosses = TS_NEW_N(env->scratch, bool, n);
    c.slot = TS_NEW_N(env->scratch, ts_val, n);
    c.memory = TS_NEW_N(env->scratch, ts_val, n);
    if (!fresh || !c.map || !c.known || !c.crosses || !c.slot || !c.memory || !ts__shape_of(fn, env->scratch, &c.shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass recursion");
    ts__builder_init(&c.b, fresh);
    rec_find_all(&c);
    if (rec_gives_memory(&c))
        return ts_fail(err, TS_UNSUPPORTED, "@%s: a function that calls itself returns a local array, whose memory is "
                       "that of the call; make the array before the first call, and pass it on",
                       ts_str_get(fn->module, fn->name));
    uint64_t bytes = 0;
    for (ts_val v = 1, i = 0; v < n && !env->scratch->failed && !ts__module_failed(fn->module); v++) {
        c.b.loc = fn->loc.at[v];
        if (v == fn->n_params + 1)
            bytes = rec_make_arrays(&c);
        if (ts_at(fn, v)->op == TS_OP_recursion) {
            rec_one(&c, i++);
            v = rec_after(&c, v) - 1;
        } else
            ts__copy(&c.b, fn, v, c.map);
    }
    if (ts__module_failed(fn->module) || env->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory in pass recursion");
    if (bytes > RECURSION_LOCAL)
        return ts_fail(err, TS_UNSUPPORTED, "@%s: a call of its recursion keeps %llu bytes, local arrays among them, "
                       "and %u calls may be inside each other: with all recursions of the kernel these are %llu, more "
                       "than the %d bytes that a thread has; use smaller arrays, or a loop",
                       ts_str_get(fn->module, fn->name), (unsigned long long)c.frame_bytes, c.depth,
                       (unsigned long long)bytes, RECURSION_LOCAL);
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
