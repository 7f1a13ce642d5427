/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics, element after element in ascending order.
 *
 *     of integers and floats of 32 and 64 bits   atomicrmw, cmpxchg
 *     the same in memory of the worker           load, operation, store: shared memory of a block of threads is such
 *     narrow floats, and the rest                the runtime
 *
 * Held tiles take the lanes of their mask one by one:
 *
 *     %bits = bitcast <32 x i1> %mask to i32
 *     while %bits: %lane = its lowest one, which it loses; the address and value of %lane, from scratch
 *
 * Read next: tally.c, which counts by tables.
 */
#include "target/llvm/cg.h"

#include <stdio.h>

typedef struct atomic_op {
    ts_val v;
    ts_rmw mode;
    ts_type elem;
    bool own;   /* nobody but this worker sees the memory */
    int64_t count;
    cg_ref constant; /* the value of all elements; 0: in memory */
    cg_mem *at, *with, *compare, *mask, *old;
} atomic_op;

/* ---- one element --------------------------------------------------------------------------------*/

typedef struct atomic_row {
    const char *rmw;  /* of atomicrmw */
    const char *op;   /* of two values; NULL: compare and select */
    const char *pred; /* keeps the old value */
} atomic_row;

static const atomic_row atomic_rows[] = {
    [TS_RMW_AND] = {"and", "and", NULL},          [TS_RMW_OR] = {"or", "or", NULL},
    [TS_RMW_XOR] = {"xor", "xor", NULL},          [TS_RMW_ADD] = {"add", "add", NULL},
    [TS_RMW_ADDF] = {"fadd", "fadd", NULL},       [TS_RMW_MAX] = {"max", NULL, "icmp sgt"},
    [TS_RMW_MIN] = {"min", NULL, "icmp slt"},     [TS_RMW_UMAX] = {"umax", NULL, "icmp ugt"},
    [TS_RMW_UMIN] = {"umin", NULL, "icmp ult"},   [TS_RMW_XCHG] = {"xchg", NULL, NULL},
    [TS_RMW_CAS] = {NULL, NULL, "icmp ne"},
};

static const char *atomic_order(ts_order order)
{
    static const char *const names[] = {[TS_WEAK] = "monotonic", [TS_RELAXED] = "monotonic", [TS_ACQUIRE] = "acquire",
                                        [TS_RELEASE] = "release", [TS_ACQ_REL] = "acq_rel"};
    return names[order];
}

/* Floats that are only moved are integers here. */
static cg_reg atomic_reg(cg *e, const atomic_op *a)
{
    cg_reg reg = cg_reg_of(e, a->elem);
    return a->mode == TS_RMW_ADDF ? reg : reg == CG_F32 ? CG_I32 : reg == CG_F64 ? CG_I64 : reg;
}

static bool atomic_is_plain(const atomic_op *a)
{
    bool real = a->elem == TS_T_f32 || a->elem == TS_T_f64;
    return a->elem == TS_T_i32 || a->elem == TS_T_i64 ||
           (real && (a->mode == TS_RMW_ADDF || a->mode == TS_RMW_XCHG || a->mode == TS_RMW_CAS));
}

static cg_ref atomic_new_value(cg *e, const atomic_op *a, cg_reg reg, cg_ref was, cg_ref value, cg_ref compare)
{
    const atomic_row *row = &atomic_rows[a->mode];
    if (row->op)
        return cg_bin(e, row->op, reg, 0, was, value);
    if (!row->pred)
        return value;
    cg_ref keeps = cg_cmp(e, row->pred, reg, 0, was, a->mode == TS_RMW_CAS ? compare : value);
    return cg_sel(e, reg, 0, keeps, was, value);
}

/* At an address; gives what was there. */
static cg_ref atomic_one(cg *e, const atomic_op *a, cg_ref address, cg_ref value, cg_ref compare)
{
    cg_reg reg = atomic_reg(e, a);
    const char *type = cg_type(e, reg, 0), *order = atomic_order(TS_M_GET_ORDER(ts_at(e->fn, a->v)->aux));
    int64_t align = cg_elem_bytes(e, a->elem);
    cg_ref p = cg_pointer(e, ts_opnd(e->fn, a->v, 0), address);
    if (a->own) {
        cg_ref was = cg_new(e, "load %s, ptr %r, align %d", type, p, align);
        cg_line(e, "store %s %r, ptr %r, align %d", type, atomic_new_value(e, a, reg, was, value, compare), p, align);
        return was;
    }
    if (a->mode != TS_RMW_CAS)
        return cg_new(e, "atomicrmw %s ptr %r, %s %r %s, align %d", atomic_rows[a->mode].rmw, p, type, value, order,
                      align);
    cg_ref pair = cg_new(e, "cmpxchg ptr %r, %s %r, %s %r acq_rel acquire, align %d", p, type, compare, type, value,
                         align);
    return cg_new(e, "extractvalue { %s, i1 } %r, 0", type, pair);
}

/* ---- the elements of a tile ---------------------------------------------------------------------*/

static cg_ref atomic_get(cg *e, const cg_mem *from, cg_reg reg, cg_ref i)
{
    const char *type = cg_type(e, reg, 0);
    cg_ref p = cg_new(e, "getelementptr inbounds %s, ptr %r, i64 %r", type, from->ptr, i);
    return cg_new(e, "load %s, ptr %r", type, p);
}

static void atomic_element(cg *e, const atomic_op *a, cg_ref i)
{
    cg_reg reg = atomic_reg(e, a);
    cg_ref value = a->constant ? a->constant : atomic_get(e, a->with, reg, i);
    cg_ref compare = a->compare ? atomic_get(e, a->compare, reg, i) : 0;
    cg_ref was = atomic_one(e, a, atomic_get(e, a->at, CG_I64, i), value, compare);
    if (a->old) {
        const char *type = cg_type(e, reg, 0);
        cg_line(e, "store %s %r, ptr %r", type, was,
                cg_new(e, "getelementptr inbounds %s, ptr %r, i64 %r", type, a->old->ptr, i));
    }
}

/* The lanes of a held mask. */
static void atomic_lanes(cg *e, const atomic_op *a, cg_ref mask)
{
    int64_t n = (int64_t)1 << e->lanes;
    uint32_t from = e->block, head = cg_label(e), body = cg_label(e), done = cg_label(e);
    char line[64];
    snprintf(line, sizeof line, "declare i%d @llvm.cttz.i%d(i%d, i1)", (int)n, (int)n, (int)n);
    cg_declare(e, line);
    cg_ref all = cg_new(e, "bitcast %s %r to i%d", cg_type(e, CG_I1, e->lanes), mask, n), rest = cg_name(e);
    cg_br(e, head);
    cg_block(e, head);
    cg_ref bits = cg_new(e, "phi i%d [ %r, %b ], [ %r, %b ]", n, all, from, rest, body);
    cg_line(e, "br i1 %r, label %b, label %b", cg_new(e, "icmp ne i%d %r, 0", n, bits), body, done);
    cg_block(e, body);
    cg_scope_open(e);
    cg_ref lane = cg_new(e, "call i%d @llvm.cttz.i%d(i%d %r, i1 true)", n, n, n, bits);
    atomic_element(e, a, cg_new(e, "zext i%d %r to i64", n, lane));
    cg_define(e, rest, "and i%d %r, %r", n, bits, cg_new(e, "add i%d %r, -1", n, bits));
    cg_scope_close(e);
    cg_br(e, head);
    cg_block(e, done);
}

/* All elements, or those of a mask in memory. */
static void atomic_elements(cg *e, const atomic_op *a)
{
    cg_loop l;
    uint32_t does = cg_label(e), on = cg_label(e);
    cg_loop_begin(e, &l, a->count, 1);
    if (a->mask) {
        cg_ref yes = cg_cmp(e, "icmp ne", CG_I8, 0, atomic_get(e, a->mask, CG_I8, l.var), cg_int(e, 0));
        cg_line(e, "br i1 %r, label %b, label %b", yes, does, on);
        cg_block(e, does);
        cg_scope_open(e);
    }
    atomic_element(e, a, l.var);
    if (a->mask) {
        cg_scope_close(e);
        cg_br(e, on);
        cg_block(e, on);
    }
    cg_loop_end(e, &l);
}

static void atomic_call(cg *e, const atomic_op *a)
{
    int64_t words[] = {a->elem < TS_T_token ? a->elem : TS_T_i64, a->mode, a->count};
    cg_ref null = cg_text(e, "null");
    cg_declare(e, "declare void @ts__rt_atomic(ptr, ptr, ptr, ptr, ptr, ptr)");
    cg_line(e, "call void @ts__rt_atomic(ptr %r, ptr %r, ptr %r, ptr %r, ptr %r, ptr %r)", cg_words(e, words, 3),
            a->at->ptr, a->with->ptr, a->compare ? a->compare->ptr : null, a->mask ? a->mask->ptr : null,
            a->old ? a->old->ptr : null);
}

/* What elements have that are left out: what they are compared with, or 0. */
static void atomic_fill(cg *e, const atomic_op *a)
{
    int64_t bytes = a->count * cg_elem_bytes(e, a->elem);
    cg_declare(e, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)");
    cg_declare(e, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    if (a->compare)
        cg_line(e, "call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %r, i64 %d, i1 false)", a->old->ptr, a->compare->ptr,
                bytes);
    else
        cg_line(e, "call void @llvm.memset.p0.i64(ptr %r, i8 0, i64 %d, i1 false)", a->old->ptr, bytes);
}

static void atomic_make(cg *e, const atomic_op *a, uint32_t m)
{
    const ts_inst *inst = ts_at(e->fn, a->v);
    bool held = cg_held(e, ts_type_of(e->fn, ts_opnds(e->fn, inst)[1]));
    if (a->old && m != TS_NO && atomic_is_plain(a))
        atomic_fill(e, a);
    if (!atomic_is_plain(a))
        atomic_call(e, a);
    else if (held && m != TS_NO)
        atomic_lanes(e, a, cg_gen(e, ts_opnds(e->fn, inst)[m], cg_ix_held(e)));
    else
        atomic_elements(e, a);
}

/* One element that is surely there. */
static void atomic_scalar(cg *e, const atomic_op *a)
{
    const uint32_t *x = ts_opnds(e->fn, ts_at(e->fn, a->v));
    cg_ref y[3] = {0};
    cg_reg as = cg_reg_of(e, a->elem), reg = atomic_reg(e, a);
    for (uint32_t i = 0; i < (a->mode == TS_RMW_CAS ? 3u : 2u); i++) {
        cg_settle(e, x[i]);
        y[i] = cg_scalar(e, x[i]);
        if (i && reg != as)
            y[i] = cg_conv(e, "bitcast", as, reg, 0, y[i]);
    }
    cg_order(e, a->v, false);
    cg_ref was = a->mode == TS_RMW_CAS ? atomic_one(e, a, y[0], y[2], y[1]) : atomic_one(e, a, y[0], y[1], 0);
    e->val[a->v].form = CG_SCALAR;
    e->val[a->v].ref = reg != as ? cg_conv(e, "bitcast", reg, as, 0, was) : was;
}

void cg_atomic(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const uint32_t *x = ts_opnds(e->fn, inst);
    bool cas = inst->op == TS_OP_atomic_cas_tko;
    ts_val value = x[cas ? 2 : 1];
    ts_type type = ts_type_of(e->fn, value);
    uint32_t m = ts__opnd_mask(inst), root = e->alias.root[x[0]];
    if (!cas && cg_is_tile(e, value) && cg_tally_takes(e, v)) {
        cg_tally_add(e, v);
        return;
    }
    atomic_op a = {.v = v, .mode = cas ? TS_RMW_CAS : TS_M_GET_MODE(inst->aux), .elem = ts_type_elem(e->m, type),
                   .own = root != TS_ALIAS_UNKNOWN && ts_at(e->fn, root)->op == TS_OP_alloca,
                   .count = ts_type_count(e->m, type)};
    if (!cg_is_tile(e, value) && m == TS_NO && atomic_is_plain(&a)) {
        atomic_scalar(e, &a);
        return;
    }
    bool by_bits = cg_held(e, type) && atomic_is_plain(&a);
    uint64_t payload;
    if (atomic_is_plain(&a) && ts__const_bits(e->fn, value, &payload))
        a.constant = cg_const(e, atomic_reg(e, &a), 0, payload);
    a.at = cg_dense(e, x[0]), a.with = a.constant ? NULL : cg_dense(e, value);
    a.compare = cas ? cg_dense(e, x[1]) : NULL;
    a.mask = m != TS_NO && !by_bits ? cg_dense(e, x[m]) : NULL;
    cg_order(e, v, false);
    a.old = e->shape.uses[v] ? cg_alloc(e, inst->type, cg_is_tile(e, v) ? v : 0) : NULL;
    if (!a.at || (!a.with && !a.constant) || e->status != TS_OK)
        return;
    atomic_make(e, &a, m);
    if (a.old && cg_held(e, inst->type)) {
        e->val[v].form = CG_HELD;
        e->val[v].ref = cg_load(e, a.old, cg_ix_held(e));
    } else if (a.old && cg_is_tile(e, v)) {
        e->val[v].form = CG_BUF;
        e->val[v].mem = a.old;
    } else if (a.old) {
        e->val[v].form = CG_SCALAR;
        e->val[v].ref = cg_load(e, a.old, cg_ix_scalar(e, a.old->rank));
    }
}
