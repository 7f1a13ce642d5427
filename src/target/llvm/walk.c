/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over a function in program order. Scalars become SSA values where they stand, structured
 * control flow becomes blocks and phis, tiles wait (expr.c) until a root wants them (group.c).
 *
 * A tile carried by a loop, or given by an if, has a home in scratch that each way into the join
 * writes. Scalars travel as values of the edges (cg_edge), from which the join makes its phis.
 */
#include "ir/commute.h"
#include "pass/faults.h"
#include "target/llvm/cg.h"
#include "runtime/runtime.h"

#include <stdio.h>

typedef void walk_fn(cg *e, ts_val v);

/* ---- small things -------------------------------------------------------------------------------*/

static void walk_set(cg *e, ts_val v, cg_ref r)
{
    e->val[v].form = CG_SCALAR;
    e->val[v].ref = r;
}

static void walk_set_held(cg *e, ts_val v, cg_ref r)
{
    e->val[v].form = CG_HELD;
    e->val[v].ref = r;
}

/* A value that is kept in a register: a scalar, or a held tile. */
static cg_ref walk_value(cg *e, ts_val v)
{
    return cg_held(e, ts_type_of(e->fn, v)) ? cg_gen(e, v, cg_ix_held(e)) : cg_scalar(e, v);
}

static void walk_set_value(cg *e, ts_val v, cg_ref r)
{
    if (cg_held(e, ts_type_of(e->fn, v)))
        walk_set_held(e, v, r);
    else
        walk_set(e, v, r);
}

static const char *walk_type(cg *e, ts_type type)
{
    return cg_type(e, cg_reg_of(e, type), cg_held(e, type));
}

static void walk_settle_all(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        cg_settle(e, ts_opnds(e->fn, inst)[i]);
}

static void walk_param(cg *e, ts_val v)
{
    cg_reg reg = cg_reg_of(e, ts_type_of(e->fn, v));
    cg_ref p = cg_new(e, "getelementptr inbounds i64, ptr %r, i64 %d", e->params, (int64_t)ts_at(e->fn, v)->aux);
    cg_ref x = cg_new(e, "load %s, ptr %r, align 8, !invariant.load !0", reg == CG_I1 ? "i8" : cg_type(e, reg, 0), p);
    walk_set(e, v, reg == CG_I1 ? cg_new(e, "trunc i8 %r to i1", x) : x);
}

static void walk_scalar(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    uint32_t rank = ts_type_rank(e->m, inst->type);
    walk_settle_all(e, v);
    if (ts_info(inst)->flags & TS_ELEM && rank == 0) {
        cg_ref x[3] = {0};
        for (uint32_t i = 0; i < inst->n_opnd && i < 3; i++)
            x[i] = cg_scalar(e, inst->opnd[i]);
        walk_set(e, v, cg_elem(e, v, 0, x));
        return;
    }
    e->val[v].form = CG_LAZY;
    cg_ref r = cg_make(e, v, cg_ix_scalar(e, rank));
    walk_set(e, v, r);
}

static void walk_grid(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_ref x = inst->op == TS_OP_get_tile_block_id ? e->pid[inst->aux % 3] : e->grid[inst->aux % 3];
    walk_set(e, v, cg_new(e, "trunc i64 %r to i32", x));
}

static cg_ref walk_message(cg *e, const char *text)
{
    return cg_int(e, ts__fault_message(&e->messages, text));
}

void cg_fault(cg *e, const cg_faults *f)
{
    const ts_loc_info *place = ts__loc_of(e->fn, f->v);
    cg_ref zero = cg_int(e, 0), where[] = {
        cg_int(e, place->line), e->pid[0], e->pid[1], e->pid[2], walk_message(e, f->text),
        walk_message(e, ts_str_get(e->m, place->file)), walk_message(e, ts_str_get(e->m, place->function)),
        f->index ? f->index : zero, f->extent ? f->extent : zero, cg_int(e, f->thread[0] != 0),
        f->thread[0] ? f->thread[0] : zero, f->thread[0] ? f->thread[1] : zero, f->thread[0] ? f->thread[2] : zero};
    static_assert(TS_COUNT(where) == TS_RT_FAULT_WORDS, "words of runtime.h");
    for (size_t i = 0; i < TS_COUNT(where); i++)
        cg_line(e, "store i64 %r, ptr %r", where[i],
                cg_new(e, "getelementptr inbounds i64, ptr %r, i64 %d", e->where, (int64_t)i));
    cg_declare(e, "declare void @ts__rt_fault(ptr, i64, ptr)");
    cg_line(e, "call void @ts__rt_fault(ptr %r, i64 %r, ptr %r)", e->env, f->code, e->where);
}

/* All elements of the condition, as one and-reduction over its bytes in memory. */
static cg_ref walk_all(cg *e, ts_val cond)
{
    cg_mem *mem = cg_is_tile(e, cond) ? cg_dense(e, cond) : NULL;
    cg_loop l;
    if (!mem)
        return cg_scalar(e, cond);
    int64_t n = ts_type_count(e->m, ts_type_of(e->fn, cond));
    cg_loop_begin(e, &l, n, 1);
    cg_ref next = cg_name(e), acc = cg_int(e, 1);
    if (l.trip > 1)
        acc = cg_new(e, "phi i8 [ 1, %b ], [ %r, %b ]", l.from, next, l.latch);
    cg_ref p = cg_new(e, "getelementptr inbounds i8, ptr %r, i64 %r", mem->ptr, l.var);
    cg_ref x = cg_new(e, "load i8, ptr %r", p);
    cg_define(e, next, "and i8 %r, %r", acc, x);
    cg_loop_end(e, &l);
    return cg_new(e, "icmp ne i8 %r, 0", next);
}

/* The first index whose condition does not hold, as i64: the last one on the way back. */
static cg_ref walk_bad_index(cg *e, const cg_mem *cond, const cg_mem *index, ts_type type)
{
    int64_t bits = ts_type_bits(e->m, ts_type_elem(e->m, type)), n = ts_type_count(e->m, type);
    cg_loop l;
    cg_loop_begin(e, &l, n, 1);
    cg_ref next = cg_name(e), found = cg_int(e, 0);
    if (l.trip > 1)
        found = cg_new(e, "phi i64 [ 0, %b ], [ %r, %b ]", l.from, next, l.latch);
    cg_ref i = cg_new(e, "sub i64 %d, %r", n - 1, l.var);
    cg_ref ok = cg_new(e, "load i8, ptr %r", cg_new(e, "getelementptr inbounds i8, ptr %r, i64 %r", cond->ptr, i));
    cg_ref at = cg_new(e, "getelementptr inbounds i%d, ptr %r, i64 %r", bits, index->ptr, i);
    cg_ref x = cg_new(e, "load i%d, ptr %r", bits, at);
    if (bits < 64)
        x = cg_new(e, "sext i%d %r to i64", bits, x);
    cg_define(e, next, "select i1 %r, i64 %r, i64 %r", cg_new(e, "icmp ne i8 %r, 0", ok), found, x);
    cg_loop_end(e, &l);
    return next;
}

static void walk_assert(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    ts_val cond = ts_opnd(e->fn, v, 0), index = inst->n_opnd == 3 ? ts_opnd(e->fn, v, 1) : 0;
    cg_mem *conds = NULL, *indices = NULL;
    cg_ref bounds[2] = {0};
    walk_settle_all(e, v);
    cg_flush(e);
    if (index) {
        if (cg_is_tile(e, index)) {
            conds = cg_dense(e, cond);
            indices = cg_dense(e, index);
        } else
            bounds[0] = cg_scalar_i64(e, index);
        bounds[1] = cg_scalar_i64(e, ts_opnd(e->fn, v, 2));
    }
    cg_ref all = walk_all(e, cond);
    uint32_t bad = cg_label(e), on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b, !prof !2", all, on, bad);
    cg_block(e, bad);
    if (conds && indices)
        bounds[0] = walk_bad_index(e, conds, indices, ts_type_of(e->fn, index));
    cg_fault(e, &(cg_faults){.v = v, .code = cg_int(e, index ? TS_FAULT_BOUNDS : TS_FAULT_ASSERT),
                             .text = ts_str_get(e->m, inst->aux), .index = bounds[0], .extent = bounds[1]});
    cg_br(e, on);
    cg_block(e, on);
}

static void walk_fault(cg *e, ts_val v)
{
    cg_ref x[6];
    walk_settle_all(e, v);
    cg_flush(e);
    for (uint32_t i = 0; i < 6; i++)
        x[i] = cg_scalar_i64(e, ts_opnd(e->fn, v, i));
    cg_fault(e, &(cg_faults){v, ts_str_get(e->m, ts_at(e->fn, v)->aux), x[0], x[1], x[2], {x[3], x[4], x[5]}});
}

/* ---- constant data ------------------------------------------------------------------------------*/

static cg_ref walk_string(cg *e, const char *text)
{
    char name[32];
    size_t n = strlen(text) + 1;
    snprintf(name, sizeof name, "@t%u", ++e->n_data);
    ts__text_printf(&e->data, "%s = private unnamed_addr constant [%zu x i8] c\"", name, n);
    for (size_t i = 0; i < n; i++)
        ts__text_printf(&e->data, "\\%02X", (unsigned)(uint8_t)text[i]);
    ts__text_puts(&e->data, "\"\n");
    return cg_text(e, name);
}

cg_ref cg_words(cg *e, const int64_t *word, uint32_t n)
{
    char name[32];
    snprintf(name, sizeof name, "@t%u", ++e->n_data);
    ts__text_printf(&e->data, "%s = private unnamed_addr constant [%u x i64] [", name, n);
    for (uint32_t i = 0; i < n; i++)
        ts__text_printf(&e->data, "%si64 %lld", i ? ", " : "", (long long)word[i]);
    ts__text_puts(&e->data, "]\n");
    return cg_text(e, name);
}

enum { WALK_PRINTED = 32 };

static void walk_print(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    uint32_t n = inst->n_opnd - (inst->flags & TS_F_TOKEN ? 1u : 0u), at = 0;
    int64_t words[WALK_PRINTED * (2 + TS_MAX_RANK) + 1] = {0};
    if (n > WALK_PRINTED) {
        cg_fail(e, TS_UNSUPPORTED, "a print of %u values; the limit is %d: print them in several calls", n,
                WALK_PRINTED);
        return;
    }
    cg_ref format = walk_string(e, ts_str_get(e->m, inst->aux));
    for (uint32_t i = 0; i < n; i++) {
        ts_val x = ts_opnds(e->fn, inst)[i];
        ts_type type = ts_type_of(e->fn, x);
        cg_mem *mem = cg_dense(e, x);
        cg_ref p = cg_new(e, "getelementptr inbounds i64, ptr %r, i64 %d", e->where, (int64_t)i);
        if (mem)
            cg_line(e, "store ptr %r, ptr %r", mem->ptr, p);
        words[at++] = ts_type_elem(e->m, type);
        words[at++] = ts_type_rank(e->m, type);
        for (uint32_t k = 0; k < ts_type_rank(e->m, type); k++)
            words[at++] = ts_type_dims(e->m, type)[k];
    }
    cg_flush(e);
    e->prints = true;
    cg_declare(e, "declare void @ts__rt_print(ptr, ptr, ptr, ptr)");
    cg_line(e, "call void @ts__rt_print(ptr %r, ptr %r, ptr %r, ptr %r)", e->env, format,
            cg_words(e, words, at + 1), e->where);
}

static void walk_alloca(cg *e, ts_val v)
{
    const uint32_t *pool = ts_pool(e->fn, ts_at(e->fn, v));
    uint32_t slot = cg_slot_of(e, pool[0], pool[1], 0);
    if (!e->slot.n)
        return; /* memory is out */
    walk_set(e, v, cg_new(e, "ptrtoint ptr %r to i64", e->slot.at[slot - 1].ptr));
    e->val[v].slot = slot;
}

static void walk_global(cg *e, ts_val v)
{
    ts_str want = ts_at(e->fn, v)->aux;
    char name[24];
    for (uint32_t i = 0; i < e->m->globals.n; i++)
        if (e->m->globals.at[i].name == want) {
            snprintf(name, sizeof name, "@g%u", i);
            walk_set(e, v, cg_new(e, "ptrtoint ptr %s to i64", name));
            return;
        }
    cg_fail(e, TS_VERIFY, "no global named '%s'", ts_str_get(e->m, want));
}

/* ---- memory -------------------------------------------------------------------------------------*/

static void walk_load_view(cg *e, ts_val v)
{
    if (e->group.open && e->group.writes)
        cg_flush(e);
    walk_settle_all(e, v);
    cg_load_view(e, v);
}

static void walk_load_ptr(cg *e, ts_val v)
{
    if (e->group.open && e->group.writes)
        cg_flush(e);
    if (cg_is_tile(e, v)) {
        e->val[v].form = CG_LAZY;
        cg_order_load(e, v);
    } else
        walk_scalar(e, v);
}

static void walk_store_ptr(cg *e, ts_val v)
{
    cg_root root;
    ts_type space = ts_type_of(e->fn, ts_opnd(e->fn, v, 1));
    if (cg_held(e, space)) {
        cg_flush(e);
        cg_scatter(e, v, cg_ix_held(e));
        return;
    }
    if (ts_type_count(e->m, space) == 1) {
        walk_settle_all(e, v);
        cg_order(e, v, false);
        cg_scatter(e, v, cg_ix_scalar(e, ts_type_rank(e->m, space)));
        return;
    }
    cg_root_init(e, &root, CG_SCATTER, v, space);
    root.writes = true;
    cg_add_root(e, &root);
}

/* ---- reductions ---------------------------------------------------------------------------------*/

static void walk_fold_scalar(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_ref x[8], id[8], out[8];
    for (uint32_t i = 0; i < inst->n_opnd && i < 8; i++) {
        const uint32_t *pool = ts_pool(e->fn, inst);
        x[i] = cg_scalar(e, ts_opnds(e->fn, inst)[i]);
        id[i] = cg_const(e, cg_reg_of(e, ts_type_of(e->fn, ts_opnds(e->fn, inst)[i])), 0,
                         pool[3 + 2 * i] | (uint64_t)pool[4 + 2 * i] << 32);
    }
    cg_body(e, v, 0, x, id, out);
    for (uint32_t i = 0; i < inst->n_opnd && i < 8; i++)
        walk_set(e, e->shape.end[v] + 1 + i, out[i]);
}

/* Held tiles: the upper half of the elements into the lower one until one is left, or neighbours where the order
 * counts. Whether any or all of i1 are set is one comparison. */
static void walk_fold_held(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    uint32_t n = inst->n_opnd, body = ts_at(e->fn, v + 1 + 2 * n)->op;
    bool ordered = !ts__body_commutes(e->fn, v);
    cg_ref x[8], y[8];
    int32_t low[1 << CG_LANE_BITS], high[1 << CG_LANE_BITS];
    for (uint32_t k = 0; k < n; k++)
        x[k] = cg_gen(e, ts_opnd(e->fn, v, k), cg_ix_held(e));
    bool simple = n == 1 && e->shape.end[v] == v + 5 && ts_type_of(e->fn, v + 1) == TS_T_i1;
    if (simple && (body == TS_OP_ori || body == TS_OP_andi)) {
        cg_ref bits = cg_new(e, "bitcast %s %r to i%d", cg_type(e, CG_I1, e->lanes), x[0], (int64_t)1 << e->lanes);
        walk_set(e, e->shape.end[v] + 1, cg_new(e, "icmp %s i%d %r, %d", body == TS_OP_ori ? "ne" : "eq",
                                                (int64_t)1 << e->lanes, bits, (int64_t)(body == TS_OP_ori ? 0 : -1)));
        return;
    }
    for (uint32_t bits = e->lanes; bits-- > 0;) {
        for (int32_t l = 0; l < 1 << bits; l++)
            low[l] = ordered ? 2 * l : l, high[l] = ordered ? 2 * l + 1 : l + (1 << bits);
        for (uint32_t k = 0; k < n; k++) {
            cg_reg reg = cg_reg_of(e, ts_type_of(e->fn, ts_opnd(e->fn, v, k)));
            y[k] = cg_pick(e, reg, bits + 1, x[k], bits, high);
            x[k] = cg_pick(e, reg, bits + 1, x[k], bits, low);
        }
        cg_body(e, v, bits, y, x, x);
    }
    for (uint32_t k = 0; k < n; k++)
        walk_set(e, e->shape.end[v] + 1 + k, x[k]);
}

static void walk_fold(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_root root;
    uint32_t n = inst->n_opnd;
    if (n > 8) {
        cg_fail(e, TS_UNSUPPORTED, "a %s of %u tiles at once; the limit is 8", ts_info(inst)->name, n);
        return;
    }
    for (ts_val k = v + 1; k < e->shape.end[v]; k++) /* what the body takes from outside */
        for (uint32_t i = 0; i < ts_at(e->fn, k)->n_opnd; i++)
            if (ts_opnd(e->fn, k, i) < v)
                cg_settle(e, ts_opnd(e->fn, k, i));
    if (!cg_is_tile(e, ts_opnd(e->fn, v, 0))) {
        walk_settle_all(e, v);
        walk_fold_scalar(e, v);
        return;
    }
    if (cg_held(e, ts_type_of(e->fn, ts_opnd(e->fn, v, 0))) && inst->op == TS_OP_reduce) {
        walk_fold_held(e, v);
        return;
    }
    cg_root_init(e, &root, inst->op == TS_OP_scan ? CG_SCAN : CG_REDUCE, v, ts_type_of(e->fn, ts_opnd(e->fn, v, 0)));
    root.axis = ts_pool(e->fn, inst)[0];
    root.ordered = !ts__body_commutes(e->fn, v);
    root.n = n;
    root.out = TS_NEW_N(e->arena, cg_mem, n);
    for (uint32_t i = 0; i < n && root.out; i++) {
        ts_val r = e->shape.end[v] + 1 + i;
        if (!cg_is_tile(e, r))
            continue;
        cg_mem *mem = cg_alloc(e, ts_type_of(e->fn, r), r);
        if (mem)
            root.out[i] = *mem;
        e->val[r].form = CG_BUF;
        e->val[r].mem = mem;
    }
    if (!root.out)
        return;
    cg_add_root(e, &root);
    for (uint32_t i = 0; i < n; i++) {
        ts_val r = e->shape.end[v] + 1 + i;
        e->val[r].group = e->group.serial;
        if (e->val[r].form != CG_BUF)
            e->val[r].form = CG_SCALAR;
        /* a result is never at the coordinates of the nest that makes it, unless it is a scan */
    }
    if (inst->op == TS_OP_scan)
        cg_flush(e);
}

/* ---- joins --------------------------------------------------------------------------------------*/

/* A home is written until the region ends, even when its result has no use. */
static cg_mem *walk_home(cg *e, ts_val res)
{
    uint32_t end = e->shape.end[ts_at(e->fn, res)->opnd[0]];
    if (!cg_is_tile(e, res) || cg_held(e, ts_type_of(e->fn, res)))
        return NULL;
    e->plan.last[res] = TS_MAX(e->plan.last[res], end);
    return cg_alloc(e, ts_type_of(e->fn, res), res);
}

typedef struct walk_home_list {
    cg_mem *const *home;
    uint32_t n;
} walk_home_list;

/* Is this a read of a home at other coordinates than its own? */
static bool walk_reads_home(cg *e, ts_val v, bool same, void *user)
{
    const walk_home_list *list = user;
    const cg_mem *mem = e->val[v].form == CG_BUF ? e->val[v].mem : NULL;
    for (uint32_t i = 0; i < list->n && mem && mem->slot && !same; i++)
        if (list->home[i] && mem->slot == list->home[i]->slot)
            return true;
    return false;
}

/* What the open group still reads of the homes in another order is read first: in between, one of the homes would be
 * written and another not. */
static void walk_flush_readers(cg *e, uint32_t n, cg_mem *const *home)
{
    for (uint32_t i = 0; i < n; i++)
        if (home[i] && cg_order_scratch(e, &(cg_root){.kind = CG_STORE, .mem = *home[i]})) {
            cg_flush(e);
            return;
        }
}

/* Writes n values to their homes as if at once: values that read homes in another order than they are
 * written, or in another nest, go through memory of their own first. */
static void walk_to_homes(cg *e, uint32_t n, const uint32_t *value, cg_mem *const *home)
{
    ts_type space = 0;
    bool apart = n >= CG_ROOTS; /* more than one nest takes */
    cg_val *kept = TS_NEW_N(e->arena, cg_val, n + 1);
    if (!kept) {
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        kept[i] = e->val[value[i]];
        if (!home[i])
            continue;
        apart |= (space && ts_type_of(e->fn, value[i]) !=
                               ts_type_with_elem(e->m, space,
                                                 ts_type_elem(e->m, ts_type_of(e->fn, value[i]))));
        apart |= cg_reach(e, value[i], true, walk_reads_home, &(walk_home_list){home, n});
        space = ts_type_of(e->fn, value[i]);
    }
    for (uint32_t i = 0; i < n && apart; i++)
        if (home[i]) {
            bool at_home = e->val[value[i]].form == CG_BUF && e->val[value[i]].mem->slot;
            for (uint32_t k = 0; k < n; k++)
                at_home &= !home[k] || e->val[value[i]].mem == NULL ||
                           e->val[value[i]].mem->slot != home[k]->slot || k == i;
            if (at_home)
                continue;
            cg_mem *own = cg_alloc(e, ts_type_of(e->fn, value[i]), 0);
            if (!own)
                return;
            cg_store_root(e, value[i], own);
            cg_flush(e);
            e->val[value[i]].form = CG_BUF;
            e->val[value[i]].mem = own;
        }
    walk_flush_readers(e, n, home);
    for (uint32_t i = 0; i < n; i++)
        if (home[i] && !(e->val[value[i]].form == CG_BUF && e->val[value[i]].mem->slot == home[i]->slot))
            cg_store_root(e, value[i], home[i]);
    cg_flush(e);
    for (uint32_t i = 0; i < n && apart; i++) /* the copies are known only on this path */
        e->val[value[i]] = kept[i];
}

static void walk_leave(cg *e, cg_edges *edges, uint32_t n, const uint32_t *value, cg_mem *const *home, uint32_t target)
{
    cg_edge edge = {0, TS_NEW_N(e->arena, cg_ref, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        cg_settle(e, value[i]);
    walk_to_homes(e, n, value, home);
    if (!edge.value)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!home[i] && ts_type_of(e->fn, value[i]) != TS_T_token)
            edge.value[i] = walk_value(e, value[i]);
    edge.block = e->block;
    cg_br(e, target);
    if (!TS_PUSH(e->arena, edges, edge))
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
}

/* The block where edges meet; value i of it. A join that nothing reaches gets poison. */
static cg_ref walk_phi(cg *e, const cg_edges *edges, uint32_t i, ts_type type)
{
    const char *text = walk_type(e, type);
    if (!edges->n)
        return cg_text(e, "poison");
    cg_ref name = cg_name(e);
    ts__text_puts(&e->text, "  ");
    ts__text_printf(&e->text, "%%v%u = phi %s ", name, text);
    for (uint32_t k = 0; k < edges->n; k++) {
        cg_ref r = edges->at[k].value[i];
        ts__text_puts(&e->text, k ? ", [ " : "[ ");
        if (r & CG_LITERAL)
            ts__text_puts(&e->text, e->literal.at[r & ~CG_LITERAL].text);
        else
            ts__text_printf(&e->text, "%%v%u", r);
        ts__text_printf(&e->text, ", %%b%u ]", edges->at[k].block);
    }
    ts__text_putc(&e->text, '\n');
    return name;
}

/* Results behind `end`: homes for tiles, phis for scalars. */
static void walk_results(cg *e, ts_val opener, uint32_t n, cg_mem *const *home, const cg_edges *edges)
{
    ts_val r = e->shape.end[opener] + 1;
    for (uint32_t i = 0; i < n; i++, r++) {
        if (home[i]) {
            e->val[r].form = CG_BUF;
            e->val[r].mem = home[i];
        } else if (ts_type_of(e->fn, r) != TS_T_token)
            walk_set_value(e, r, walk_phi(e, edges, i, ts_type_of(e->fn, r)));
    }
}

static uint32_t walk_n_results(cg *e, ts_val opener)
{
    uint32_t n = 0;
    for (ts_val r = e->shape.end[opener] + 1; r < e->fn->inst.n; r++, n++)
        if (ts_at(e->fn, r)->op != TS_OP_res || ts_at(e->fn, r)->opnd[0] != opener)
            break;
    return n;
}

static cg_mem **walk_homes(cg *e, ts_val opener, uint32_t n)
{
    cg_mem **home = TS_NEW_N(e->arena, cg_mem *, n + 1);
    for (uint32_t i = 0; home && i < n; i++)
        home[i] = walk_home(e, e->shape.end[opener] + 1 + i);
    return home;
}

/* ---- if, cold -----------------------------------------------------------------------------------*/

/* One region of an if; its last instruction leaves it. */
static void walk_branch(cg *e, uint32_t from, uint32_t to, uint32_t block, uint32_t n,
                        cg_mem *const *home, cg_edges *edges, uint32_t on)
{
    cg_block(e, block);
    cg_scope_open(e);
    cg_walk(e, from, to);
    const ts_inst *last = ts_at(e->fn, to - 1);
    if (to > from && last->op == TS_OP_yield)
        walk_leave(e, edges, n, ts_opnds(e->fn, last), home, on);
    else if (to == from || !(ts_info(last)->flags & TS_TERM))
        walk_leave(e, edges, 0, NULL, home, on);
    cg_scope_close(e);
}

static void walk_if(cg *e, ts_val v)
{
    uint32_t n = walk_n_results(e, v), other = e->shape.other[v], end = e->shape.end[v];
    uint32_t yes = cg_label(e), no = cg_label(e), on = cg_label(e);
    cg_edges edges = {0};
    cg_settle(e, ts_opnd(e->fn, v, 0));
    cg_flush(e);
    cg_order_region(e, v);
    cg_mem **home = walk_homes(e, v, n);
    if (!home)
        return;
    cg_line(e, "br i1 %r, label %b, label %b", cg_scalar(e, ts_opnd(e->fn, v, 0)), yes, no);
    walk_branch(e, v + 1, other ? other : end, yes, n, home, &edges, on);
    if (other)
        walk_branch(e, other + 1, end, no, n, home, &edges, on);
    else
        walk_branch(e, end, end, no, 0, home, &edges, on);
    cg_block(e, on);
    walk_results(e, v, n, home, &edges);
}

/* A cold region of scalars: an if whose other side gives the operands. */
static void walk_cold(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    uint32_t n = inst->n_opnd - 1u, yes = cg_label(e), on = cg_label(e), end = e->shape.end[v];
    cg_mem *home[16] = {0};
    cg_edges edges = {0};
    if (cg_is_tile(e, ts_opnd(e->fn, v, 0)))
        return;
    walk_settle_all(e, v);
    cg_flush(e);
    cg_edge usual = {e->block, TS_NEW_N(e->arena, cg_ref, n)};
    if (!usual.value || n > TS_COUNT(home))
        return;
    for (uint32_t i = 0; i < n; i++)
        usual.value[i] = cg_scalar(e, ts_opnds(e->fn, inst)[1 + i]);
    usual.block = e->block;
    (void)TS_PUSH(e->arena, &edges, usual);
    cg_line(e, "br i1 %r, label %b, label %b, !prof !1", cg_scalar(e, ts_opnd(e->fn, v, 0)), yes, on);
    walk_branch(e, v + 1, end, yes, n, home, &edges, on);
    cg_block(e, on);
    walk_results(e, v, n, home, &edges);
}

/* ---- loops --------------------------------------------------------------------------------------*/

/* Code for one thread asks only now and then whether its kernel is to end (cg_look): LLVM takes a loop that asks in
 * each turn as it stands. Loops without loops inside are cut into strips:
 *
 *     strip:  phis; look; the index at which this strip ends
 *     head:   phis; behind the end of the strip: end; the body; next
 *     end:    to `strip`, with the phis of `head`
 */
typedef struct walk_strip {
    uint32_t head, end;  /* blocks; 0: the loop is not cut */
    cg_ref index, *name; /* of `head` */
} walk_strip;
enum { WALK_STRIP = 1 << 16 /* turns */ };

static bool walk_has_loops(const cg *e, ts_val v)
{
    for (ts_val k = v + 1; k < e->shape.end[v]; k++)
        if (ts_at(e->fn, k)->op == TS_OP_for || ts_at(e->fn, k)->op == TS_OP_loop)
            return true;
    return false;
}

/* Begins `strip`, where `start` becomes its phis; with a type it has an index that begins at `lower`, too. */
static cg_ref walk_strip_begin(cg *e, const cg_frame *f, walk_strip *s, const char *type, cg_ref lower, cg_ref *start)
{
    ts_val first = f->opener + 1 + (f->skip ? 1 : 0);
    uint32_t from = e->block;
    cg_ref index = 0;
    *s = (walk_strip){.name = TS_NEW_N(e->arena, cg_ref, f->n + 1)};
    if (!e->serial || walk_has_loops(e, f->opener) || !s->name)
        return 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->home[i])
            return 0;
    s->head = cg_label(e), s->end = cg_label(e), s->index = cg_name(e);
    cg_br(e, s->head);
    cg_block(e, s->head);
    if (type)
        index = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", type, lower, from, s->index, s->end);
    for (uint32_t i = 0; i < f->n; i++)
        if (start[i]) {
            s->name[i] = cg_name(e);
            start[i] = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", walk_type(e, ts_type_of(e->fn, first + i)), start[i],
                              from, s->name[i], s->end);
        }
    return index;
}

/* In `head`, whether the strip goes on. */
static void walk_strip_end(cg *e, const walk_strip *s, cg_ref more)
{
    uint32_t body = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b", more, body, s->end);
    cg_block(e, s->end);
    cg_br(e, s->head);
    cg_block(e, body);
}

/* The carried values at the head: phis of the initial value and of the block `next`; `name`: of these names. */
static void walk_carry(cg *e, cg_frame *f, uint32_t from, const cg_ref *start, cg_ref *next, const cg_ref *name)
{
    ts_val first = f->opener + 1 + (f->skip ? 1 : 0);
    for (uint32_t i = 0; i < f->n; i++) {
        ts_val arg = first + i;
        if (f->home[i]) {
            e->val[arg].form = CG_BUF;
            e->val[arg].mem = f->home[i];
            continue;
        }
        if (ts_type_of(e->fn, arg) == TS_T_token)
            continue;
        cg_ref phi = name && name[i] ? name[i] : cg_name(e);
        next[i] = cg_name(e);
        cg_define(e, phi, "phi %s [ %r, %b ], [ %r, %b ]", walk_type(e, ts_type_of(e->fn, arg)), start[i], from,
                  next[i], f->next);
        walk_set_value(e, arg, phi);
    }
}

/* The block `next`: where every continue meets, before the head. */
static void walk_next(cg *e, cg_frame *f, const cg_ref *next)
{
    ts_val first = f->opener + 1 + (f->skip ? 1 : 0);
    cg_ref *phi = TS_NEW_N(e->arena, cg_ref, f->n + 1);
    if (!phi) {
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
        return;
    }
    cg_block(e, f->next);
    for (uint32_t i = 0; i < f->n; i++) /* phis stand together at the top of a block */
        if (next[i])
            phi[i] = walk_phi(e, &f->continues, i, ts_type_of(e->fn, first + i));
    for (uint32_t i = 0; i < f->n; i++) {
        if (!next[i])
            continue;
        const char *type = walk_type(e, ts_type_of(e->fn, first + i));
        if (f->continues.n)
            cg_define(e, next[i], "bitcast %s %r to %s", type, phi[i], type);
        else
            cg_define(e, next[i], "freeze %s poison", type);
    }
}

/* Homes of a loop's carried tiles, kept to the end: the loop may come round after their last use. */
static cg_mem **walk_carried_homes(cg *e, ts_val opener, uint32_t n)
{
    cg_mem **home = TS_NEW_N(e->arena, cg_mem *, n + 1);
    for (uint32_t i = 0; home && i < n; i++)
        if (cg_is_tile(e, opener + 1 + i) && !cg_held(e, ts_type_of(e->fn, opener + 1 + i)))
            home[i] = cg_alloc(e, ts_type_of(e->fn, opener + 1 + i), 0);
    return home;
}

/* Initial values into homes and registers. */
static cg_ref *walk_enter(cg *e, cg_frame *f)
{
    const uint32_t *x = ts_opnds(e->fn, ts_at(e->fn, f->opener)) + f->skip;
    cg_ref *start = TS_NEW_N(e->arena, cg_ref, 2 * f->n + 2);
    walk_settle_all(e, f->opener);
    cg_flush(e);
    cg_order_region(e, f->opener);
    bool is_for = ts_at(e->fn, f->opener)->op == TS_OP_for;
    f->out = walk_homes(e, f->opener, walk_n_results(e, f->opener));
    f->home = is_for ? f->out : walk_carried_homes(e, f->opener, f->n);
    if (!start || !f->home || !f->out)
        return NULL;
    walk_to_homes(e, f->n, x, f->home);
    for (uint32_t i = 0; i < f->n; i++)
        if (!f->home[i] && ts_type_of(e->fn, x[i]) != TS_T_token)
            start[i] = walk_value(e, x[i]);
    f->next = cg_label(e);
    f->exit = cg_label(e);
    f->outer = e->frame;
    e->frame = f;
    return start;
}

/* Neither the read nor the call may look as if it touched tiles, which then would have to be in memory each time:
 * !5 lists the scopes of all of them, and an atomic load would be taken for a write. (The attributes are written as
 * LLVM 15 does; later ones read them too.) */
void cg_look(cg *e)
{
    uint32_t look = cg_label(e), on = cg_label(e);
    cg_ref word = cg_new(e, "load volatile i32, ptr %r, align 4, !noalias !5", e->attention);
    cg_ref raised = cg_new(e, "icmp ne i32 %r, 0", word);
    cg_line(e, "br i1 %r, label %b, label %b, !prof !1", raised, look, on);
    cg_block(e, look);
    cg_declare(e, "declare i32 @ts__rt_look(ptr) nounwind cold inaccessiblemem_or_argmemonly");
    cg_ref answer = cg_new(e, "call i32 @ts__rt_look(ptr %r)", e->env);
    cg_ref leave = cg_new(e, "icmp ne i32 %r, 0", answer);
    cg_line(e, "br i1 %r, label %b, label %b", leave, e->leave, on);
    cg_block(e, on);
}

static void walk_loop(cg *e, ts_val v)
{
    cg_frame f = {.opener = v, .n = ts_at(e->fn, v)->n_opnd};
    cg_ref *start = walk_enter(e, &f);
    if (!start)
        return;
    walk_strip strip;
    (void)walk_strip_begin(e, &f, &strip, NULL, 0, start);
    if (strip.head)
        cg_look(e);
    uint32_t head = cg_label(e), from = e->block;
    cg_ref next_turn = cg_name(e);
    cg_br(e, head);
    cg_block(e, head);
    cg_scope_open(e);
    if (strip.head)
        cg_define(e, strip.index, "phi i32 [ 0, %b ], [ %r, %b ]", from, next_turn, f.next);
    walk_carry(e, &f, from, start, start + f.n, strip.name);
    if (strip.head)
        walk_strip_end(e, &strip, cg_cmp(e, "icmp ult", CG_I32, 0, strip.index, cg_int(e, WALK_STRIP)));
    else
        cg_look(e);
    cg_walk(e, v + 1, e->shape.end[v]);
    walk_next(e, &f, start + f.n);
    if (strip.head)
        cg_define(e, next_turn, "add nuw nsw i32 %r, 1", strip.index);
    cg_br(e, head);
    cg_scope_close(e);
    cg_block(e, f.exit);
    e->frame = f.outer;
    walk_results(e, v, walk_n_results(e, v), f.out, &f.breaks);
}

/* Turns of a loop, those of the loops inside counted, up to `most` of them; one more where it is not known. */
static int64_t walk_turns(const cg *e, ts_val v, int64_t most)
{
    int64_t x[3], inside = 0;
    if (ts_at(e->fn, v)->op != TS_OP_for)
        return most + 1;
    for (uint32_t i = 0; i < 3; i++)
        if (!ts__const_as_int(e->fn, ts_opnd(e->fn, v, i), &x[i]))
            return most + 1;
    if (x[0] < 0 || x[1] >= INT32_MAX || x[2] <= 0)
        return most + 1;
    for (ts_val k = v + 1; k < e->shape.end[v] && inside <= most; k++)
        if (ts_at(e->fn, k)->op == TS_OP_for || ts_at(e->fn, k)->op == TS_OP_loop) {
            inside += walk_turns(e, k, most);
            k = e->shape.end[k];
        }
    int64_t turns = x[1] <= x[0] ? 0 : (x[1] - x[0] + x[2] - 1) / x[2];
    return TS_MIN(turns * TS_MAX(inside, 1), most + 1);
}

/* So few turns that the kernel may end behind them: of one thread all that a strip has, of tiles few without loops. */
static bool walk_is_short(const cg *e, ts_val v)
{
    enum { WALK_FEW = 64 };
    return e->serial ? walk_turns(e, v, WALK_STRIP) <= WALK_STRIP
                     : !walk_has_loops(e, v) && walk_turns(e, v, WALK_FEW) <= WALK_FEW;
}

typedef struct walk_count { /* of a `for` */
    const char *type, *below, *above; /* comparisons with its sign */
    cg_ref lower, upper, step, next;
    int64_t by; /* the step where it is known and above 0; else 0 */
    walk_strip strip;
    uint32_t head;
} walk_count;

/* A way out of a `for` that carries these values now. */
static void walk_for_leaves(cg *e, cg_frame *f, const cg_ref *value)
{
    cg_edge out = {e->block, TS_NEW_N(e->arena, cg_ref, f->n + 1)};
    for (uint32_t i = 0; i < f->n && out.value; i++)
        out.value[i] = f->home[i] ? 0 : value[i];
    (void)TS_PUSH(e->arena, &f->breaks, out);
}

/* The strips of a `for` are as many turns, and end at the loop's end. */
static void walk_for_strip(cg *e, cg_frame *f, walk_count *k, cg_ref *start)
{
    uint32_t on = cg_label(e);
    if (!k->by || k->by > WALK_STRIP || walk_is_short(e, f->opener))
        return;
    cg_ref index = walk_strip_begin(e, f, &k->strip, k->type, k->lower, start);
    if (!k->strip.head)
        return;
    cg_ref more = cg_new(e, "icmp %s %s %r, %r", k->below, k->type, index, k->upper);
    cg_line(e, "br i1 %r, label %b, label %b", more, on, f->exit);
    walk_for_leaves(e, f, start);
    cg_block(e, on);
    cg_look(e);
    cg_ref left = cg_new(e, "sub %s %r, %r", k->type, k->upper, index);
    cg_ref far = cg_new(e, "icmp ugt %s %r, %d", k->type, left, WALK_STRIP * k->by);
    cg_ref near = cg_new(e, "add %s %r, %d", k->type, index, WALK_STRIP * k->by);
    k->upper = cg_new(e, "select i1 %r, %s %r, %s %r", far, k->type, near, k->type, k->upper);
    k->lower = index;
}

/* At the head: phis, and out of the loop where it has ended. */
static void walk_for_head(cg *e, cg_frame *f, walk_count *k, const cg_ref *start, cg_ref *next)
{
    uint32_t head = cg_label(e), from = e->block, body = cg_label(e);
    ts_val index = f->opener + 1;
    cg_br(e, head);
    cg_block(e, head);
    cg_scope_open(e);
    k->head = head;
    walk_set(e, index, k->strip.head ? k->strip.index : cg_name(e));
    cg_define(e, e->val[index].ref, "phi %s [ %r, %b ], [ %r, %b ]", k->type, k->lower, from, k->next, f->next);
    walk_carry(e, f, from, start, next, k->strip.name);
    cg_ref more = cg_new(e, "icmp %s %s %r, %r", k->below, k->type, e->val[index].ref, k->upper);
    if (k->strip.head) {
        walk_strip_end(e, &k->strip, more);
        return;
    }
    cg_ref *now = TS_NEW_N(e->arena, cg_ref, f->n + 1);
    for (uint32_t i = 0; i < f->n && now; i++)
        now[i] = next[i] ? e->val[index + 1 + i].ref : 0;
    cg_line(e, "br i1 %r, label %b, label %b", more, body, f->exit);
    walk_for_leaves(e, f, now);
    cg_block(e, body);
}

/* To the next turn. The last step may pass the greatest number of the type: the loop ends before it wraps. */
static void walk_for_next(cg *e, cg_frame *f, const walk_count *k, const cg_ref *next)
{
    cg_ref index = e->val[f->opener + 1].ref;
    if (k->by == 1) { /* to the end at most */
        cg_define(e, k->next, "add %s %s %r, 1", strcmp(k->below, "slt") == 0 ? "nsw" : "nuw", k->type, index);
        cg_br(e, k->head);
        return;
    }
    cg_define(e, k->next, "add %s %r, %r", k->type, index, k->step);
    cg_ref on = cg_new(e, "icmp %s %s %r, %r", k->above, k->type, k->next, index);
    cg_line(e, "br i1 %r, label %b, label %b", on, k->head, f->exit);
    walk_for_leaves(e, f, next);
}

static void walk_for(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_frame f = {.opener = v, .n = inst->n_opnd - 3u, .skip = 3};
    bool sign = !(inst->aux & TS_A_UNSIGNED);
    cg_ref *start = walk_enter(e, &f);
    if (!start)
        return;
    walk_count k = {.type = cg_type(e, cg_reg_of(e, ts_type_of(e->fn, ts_opnds(e->fn, inst)[0])), 0),
                    .below = sign ? "slt" : "ult", .above = sign ? "sgt" : "ugt"};
    k.lower = cg_scalar(e, ts_opnds(e->fn, inst)[0]), k.upper = cg_scalar(e, ts_opnds(e->fn, inst)[1]);
    k.step = cg_scalar(e, ts_opnds(e->fn, inst)[2]), k.next = cg_name(e);
    if (!cg_is_int(e, k.step, &k.by) || k.by < 0)
        k.by = 0;
    walk_for_strip(e, &f, &k, start);
    walk_for_head(e, &f, &k, start, start + f.n);
    if (!k.strip.head && !walk_is_short(e, v))
        cg_look(e);
    cg_walk(e, v + 1, e->shape.end[v]);
    walk_next(e, &f, start + f.n);
    walk_for_next(e, &f, &k, start + f.n);
    cg_scope_close(e);
    cg_block(e, f.exit);
    e->frame = f.outer;
    walk_results(e, v, walk_n_results(e, v), f.home, &f.breaks);
}

/* The loop that a break or continue means: the innermost open one. */
static void walk_jump(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_frame *f = e->frame;
    if (inst->op == TS_OP_return) {
        cg_flush(e);
        cg_br(e, e->latch);
        return;
    }
    if (!f) {
        cg_fail(e, TS_VERIFY, "%s outside a loop", ts_info(inst)->name);
        return;
    }
    bool leave = inst->op == TS_OP_break;
    walk_leave(e, leave ? &f->breaks : &f->continues, inst->n_opnd, ts_opnds(e->fn, inst),
               leave ? f->out : f->home, leave ? f->exit : f->next);
}

/* ---- the whole ----------------------------------------------------------------------------------*/

static void walk_nothing(cg *e, ts_val v)
{
    (void)e;
    (void)v;
}

static void walk_assume(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    e->val[v] = e->val[inst->opnd[0]];
    if (e->val[v].form == CG_NONE || ts__const_bits(e->fn, inst->opnd[0], &(uint64_t){0}))
        walk_scalar(e, v);
}

static void walk_fence(cg *e, ts_val v)
{
    cg_order(e, v, false);
    cg_line(e, "fence seq_cst");
}

static void walk_grid_sync(cg *e, ts_val v)
{
    cg_order(e, v, false);
    cg_flush(e);
    cg_declare(e, "declare void @ts__rt_meet(ptr)");
    cg_line(e, "call void @ts__rt_meet(ptr %r)", e->env);
}

static void walk_view_flush(cg *e, ts_val v)
{
    walk_settle_all(e, v);
    cg_make_view(e, v);
}

static void walk_store_view(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    for (uint32_t i = 2; i < inst->n_opnd; i++)
        cg_settle(e, ts_opnds(e->fn, inst)[i]);
    if (!cg_is_tile(e, ts_opnds(e->fn, inst)[1]))
        cg_settle(e, ts_opnds(e->fn, inst)[1]);
    cg_store_view(e, v);
}

static walk_fn *const walk_table[TS_OP_COUNT] = {
    [TS_OP_param] = walk_param,
    [TS_OP_arg] = walk_nothing,
    [TS_OP_res] = walk_nothing,
    [TS_OP_if] = walk_if,
    [TS_OP_for] = walk_for,
    [TS_OP_loop] = walk_loop,
    [TS_OP_cold] = walk_cold,
    [TS_OP_end] = walk_nothing,
    [TS_OP_yield] = walk_nothing, /* walk_branch sees to it */
    [TS_OP_continue] = walk_jump,
    [TS_OP_break] = walk_jump,
    [TS_OP_return] = walk_jump,
    [TS_OP_reduce] = walk_fold,
    [TS_OP_scan] = walk_fold,
    [TS_OP_mmaf] = cg_mma,
    [TS_OP_mmai] = cg_mma,
    [TS_OP_mmaf_scaled] = cg_mma,
    [TS_OP_get_tile_block_id] = walk_grid,
    [TS_OP_get_num_tile_blocks] = walk_grid,
    [TS_OP_make_tensor_view] = walk_view_flush,
    [TS_OP_make_partition_view] = walk_view_flush,
    [TS_OP_make_strided_view] = walk_view_flush,
    [TS_OP_make_gather_scatter_view] = walk_view_flush,
    [TS_OP_get_tensor_shape] = cg_space,
    [TS_OP_get_index_space_shape] = cg_space,
    [TS_OP_load_view_tko] = walk_load_view,
    [TS_OP_store_view_tko] = walk_store_view,
    [TS_OP_load_ptr_tko] = walk_load_ptr,
    [TS_OP_store_ptr_tko] = walk_store_ptr,
    [TS_OP_atomic_cas_tko] = cg_atomic,
    [TS_OP_atomic_rmw_tko] = cg_atomic,
    [TS_OP_atomic_red_view_tko] = cg_red_view,
    [TS_OP_token] = walk_nothing,
    [TS_OP_make_token] = walk_nothing,
    [TS_OP_join_tokens] = walk_nothing,
    [TS_OP_memory_fence_alias_tko] = walk_fence,
    [TS_OP_grid_sync] = walk_grid_sync,
    [TS_OP_gdc_launch_dependents_tko] = walk_nothing,
    [TS_OP_gdc_wait_tko] = walk_nothing,
    [TS_OP_assume] = walk_assume,
    [TS_OP_assert] = walk_assert,
    [TS_OP_fault] = walk_fault,
    [TS_OP_print_tko] = walk_print,
    [TS_OP_alloca] = walk_alloca,
    [TS_OP_get_global] = walk_global,
};

/* Shape operations have no row: expr.c makes them where they are used. */
bool cg_walk_has(ts_op op)
{
    static const uint16_t shapes[] = {TS_OP_constant, TS_OP_iota,   TS_OP_broadcast, TS_OP_reshape,
                                      TS_OP_permute,  TS_OP_cat,    TS_OP_extract,   TS_OP_insert,
                                      TS_OP_pack,     TS_OP_unpack, TS_OP_else};
    for (size_t i = 0; i < TS_COUNT(shapes); i++)
        if (op == shapes[i])
            return true;
    return walk_table[op] != NULL;
}

void cg_keep(cg *e, ts_val v)
{
    cg_root root;
    cg_mem *mem = cg_alloc(e, ts_type_of(e->fn, v), v);
    if (!mem)
        return;
    if (cg_swaps(e, v)) {
        cg_swap(e, v, mem);
        e->val[v].form = CG_BUF;
        e->val[v].mem = mem;
        return;
    }
    cg_root_init(e, &root, CG_STORE, v, ts_type_of(e->fn, v));
    root.val = v;
    root.make = true;
    root.mem = *mem;
    cg_add_root(e, &root);
    e->val[v].form = CG_BUF;
    e->val[v].group = e->group.serial;
    e->val[v].making = true;
    e->val[v].mem = mem;
}

/* Held tiles: what is more than a place among constants, scalars and other tiles. */
static bool walk_is_done_here(const ts_inst *inst)
{
    return (ts_info(inst)->flags & (TS_ELEM | TS_READ)) || inst->op == TS_OP_res || inst->op == TS_OP_insert ||
           inst->op == TS_OP_cat;
}

static void walk_one(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    e->at = v;
    if (ts_info(inst)->flags & TS_WRITE && ts__alias_orders(e->fn, v)) { /* a release: what is before stays there */
        cg_order(e, v, false);
        cg_line(e, "fence release");
    }
    if (cg_is_lazy(e, v) && cg_held(e, inst->type)) {
        e->val[v].form = CG_LAZY;
        if (ts_info(inst)->flags & TS_READ && e->group.open && e->group.writes)
            cg_flush(e);
        if (walk_is_done_here(inst))
            walk_set_held(e, v, cg_make(e, v, cg_ix_held(e)));
    } else if (cg_is_lazy(e, v)) {
        e->val[v].form = CG_LAZY;
        if (walk_table[inst->op] && inst->op != TS_OP_assume && inst->op != TS_OP_res)
            walk_table[inst->op](e, v);
        if (e->plan.store[v] && !e->lanes)
            cg_keep(e, v);
    } else if (walk_table[inst->op])
        walk_table[inst->op](e, v);
    else if (inst->op == TS_OP_constant)
        return; /* scalars of constants are written where they are used */
    else
        walk_scalar(e, v);
    if (ts_info(inst)->flags & TS_READ && ts__alias_orders(e->fn, v)) { /* an acquire: read now, before what follows */
        cg_flush(e);
        cg_line(e, "fence acquire");
    }
}

/* Cold regions of tiles and bodies of reductions are read by their users. */
static bool walk_enters(cg *e, ts_val v)
{
    uint32_t op = ts_at(e->fn, v)->op;
    return (ts_info(ts_at(e->fn, v))->flags & TS_REGION) &&
           !(op == TS_OP_cold && cg_is_tile(e, ts_opnd(e->fn, v, 0)));
}

void cg_walk(cg *e, uint32_t from, uint32_t to)
{
    for (uint32_t v = from; v < to && e->status == TS_OK; v++) {
        bool region = ts_info(ts_at(e->fn, v))->flags & TS_REGION;
        walk_one(e, v);
        if (region && !walk_enters(e, v)) /* values inside are expressions */
            for (uint32_t k = v + 1; k < e->shape.end[v]; k++)
                e->val[k].form = cg_is_tile(e, k) ? CG_LAZY : CG_NONE;
        if (region)
            v = e->shape.end[v] - 1;
    }
}
