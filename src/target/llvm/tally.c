/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic additions that nobody waits for, as a histogram makes them. Each worker adds them up in a table of its own in
 * scratch, for the first elements of the array, and adds the table to the array when its blocks are done:
 *
 *     for a run of elements, by vectors:   slot = (address - base of the array) / size of an element
 *         below TALLY_SLOTS: slot and value are kept; any lane of a vector with another: ts__rt_atomic for those
 *     for the run, one by one:             table[slot] += value
 *
 * so a count costs a load and a store, and no two cores exchange a cache line for it. Nobody can tell, because
 * additions of integers commute and the kernel neither takes the old values nor touches the array otherwise; accesses
 * to other memory keep their place before the additions, which only become later.
 */
#include "target/llvm/cg.h"
#include "runtime/runtime.h"

enum { TALLY_SLOTS = 4096 /* the one behind them takes what is masked out */, TALLY_RUN = 1024 };
enum { TALLY_LEAST = 64 }; /* elements of a tile that are worth a table */

/* The address operand's root; 0: not followed. */
static ts_val tally_root(const cg *e, ts_val v)
{
    uint32_t root = e->alias.root[ts_opnd(e->fn, v, 0)];
    return root == TS_ALIAS_UNKNOWN || ts_at(e->fn, root)->op != TS_OP_param ? 0 : root;
}

static bool tally_counts(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    if (inst->op != TS_OP_atomic_rmw_tko || TS_M_GET_MODE(inst->aux) != TS_RMW_ADD || e->shape.uses[v])
        return false;
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, ts_opnd(e->fn, v, 1)));
    return (elem == TS_T_i32 || elem == TS_T_i64) && tally_root(e, v);
}

/* May instruction w stand beside additions to the array of `root` that are made later? */
static bool tally_apart(const cg *e, ts_val w, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, w);
    uint32_t flags = ts_info(inst)->flags;
    if (tally_counts(e, w) && tally_root(e, w) == tally_root(e, v))
        return ts_type_elem(e->m, ts_type_of(e->fn, ts_opnd(e->fn, w, 1))) ==
               ts_type_elem(e->m, ts_type_of(e->fn, ts_opnd(e->fn, v, 1)));
    if (inst->op == TS_OP_memory_fence_alias_tko)
        return false;
    if (!(flags & (TS_READ | TS_WRITE)))
        return true;
    return !ts__alias_orders(e->fn, w) && TS_M_GET_ORDER(inst->aux) == TS_WEAK && ts__alias_apart(&e->alias, v, w);
}

bool cg_tally_takes(cg *e, ts_val v)
{
    ts_type space = ts_type_of(e->fn, ts_opnd(e->fn, v, 1));
    uint32_t rank = ts_type_rank(e->m, space);
    if (!tally_counts(e, v) || ts_type_count(e->m, space) < TALLY_LEAST || ts_type_dims(e->m, space)[rank - 1] < 8 ||
        (e->tally.root && e->tally.root != tally_root(e, v)))
        return false;
    if (e->tally.root)
        return true;
    for (ts_val w = 1; w < e->fn->inst.n; w++)
        if (w != v && !tally_apart(e, w, v))
            return false;
    int64_t slots[] = {TALLY_SLOTS + 1}, run[] = {TALLY_RUN}, lanes[] = {64};
    ts_type elem = ts_type_elem(e->m, space);
    cg_mem *slot = cg_alloc(e, ts_type_tile(e->m, TS_T_i16, 1, run), 0);
    cg_mem *value = cg_alloc(e, ts_type_tile(e->m, elem, 1, run), 0);
    cg_mem *address = cg_alloc(e, ts_type_tile(e->m, TS_T_i64, 1, lanes), 0);
    cg_mem *mask = cg_alloc(e, ts_type_tile(e->m, TS_T_i8, 1, lanes), 0);
    cg_mem *table = cg_alloc(e, ts_type_tile(e->m, elem, 1, slots), 0);
    if (!table || !slot || !value || !address || !mask)
        return false;
    e->tally = (cg_tally){tally_root(e, v), elem, table->ptr, slot->ptr, value->ptr, address->ptr, mask->ptr};
    cg_declare(e, "declare void @ts__rt_tally_begin(ptr, i64)");
    ts__text_printf(&e->entry, "  call void @ts__rt_tally_begin(ptr %%v%u, i64 %d)\n", table->ptr,
                    (TALLY_SLOTS + 1) * (int)cg_elem_bytes(e, elem));
    return true;
}

void cg_tally_end(cg *e)
{
    const cg_tally *t = &e->tally;
    if (!t->root)
        return;
    cg_declare(e, "declare void @ts__rt_tally_end(i64, ptr, i64, i64)");
    cg_line(e, "call void @ts__rt_tally_end(i64 %r, ptr %r, i64 %d, i64 %d)", cg_scalar(e, t->root), t->table,
            (int64_t)TALLY_SLOTS, (int64_t)cg_elem_bytes(e, t->elem));
}

/* ---- one vector ---------------------------------------------------------------------------------*/

static void tally_put(cg *e, const char *type, cg_ref x, cg_ref to, int64_t align)
{
    cg_line(e, "store %s %r, ptr %r, align %d", type, x, to, align);
}

static cg_ref tally_at(cg *e, ts_val v, cg_ix ix)
{
    uint32_t bits = cg_index_of(e, ix)->bits;
    return cg_is_tile(e, v) ? cg_gen(e, v, ix) : cg_splat(e, cg_reg_of(e, ts_type_of(e->fn, v)), bits, cg_scalar(e, v));
}

/* The lanes of `far` by the runtime, where there are any. Their values go to `place`. */
static void tally_far(cg *e, ts_val v, cg_ix ix, cg_ref far, cg_ref value, cg_ref place)
{
    const cg_tally *t = &e->tally;
    uint32_t some = cg_label(e), on = cg_label(e), bits = cg_index_of(e, ix)->bits;
    int64_t words[] = {t->elem, TS_RMW_ADD, (int64_t)1 << bits};
    cg_ref raw = cg_new(e, "bitcast %s %r to i%d", cg_type(e, CG_I1, bits), far, (int64_t)1 << bits);
    cg_ref any = cg_new(e, "icmp ne i%d %r, 0", (int64_t)1 << bits, raw);
    cg_line(e, "br i1 %r, label %b, label %b, !prof !1", any, some, on);
    cg_block(e, some);
    cg_scope_open(e);
    tally_put(e, cg_type(e, CG_I64, bits), tally_at(e, ts_opnd(e->fn, v, 0), ix), t->address, 64);
    tally_put(e, cg_type(e, cg_reg_of(e, t->elem), bits), value, place, cg_elem_bytes(e, t->elem));
    tally_put(e, cg_type(e, CG_I8, bits), cg_conv(e, "zext", CG_I1, CG_I8, bits, far), t->mask, 64);
    cg_declare(e, "declare void @ts__rt_atomic(ptr, ptr, ptr, ptr, ptr, ptr)");
    cg_line(e, "call void @ts__rt_atomic(ptr %r, ptr %r, ptr %r, ptr null, ptr %r, ptr null)", cg_words(e, words, 3),
            t->address, place, t->mask);
    cg_scope_close(e);
    cg_br(e, on);
    cg_block(e, on);
}

static cg_ref tally_place(cg *e, cg_reg reg, cg_ref first, cg_ref at)
{
    return cg_new(e, "getelementptr %s, ptr %r, i64 %r", cg_type(e, reg, 0), first, at);
}

static void tally_count_one(cg *e, cg_ref i, cg_ref constant)
{
    const cg_tally *t = &e->tally;
    cg_reg reg = cg_reg_of(e, t->elem);
    const char *type = cg_type(e, reg, 0);
    cg_ref slot = cg_new(e, "load i16, ptr %r", tally_place(e, CG_I16, t->slot, i)), add = constant;
    if (!add)
        add = cg_new(e, "load %s, ptr %r", type, tally_place(e, reg, t->value, i));
    cg_ref at = tally_place(e, reg, t->table, cg_new(e, "zext i16 %r to i64", slot));
    cg_ref sum = cg_new(e, "add %s %r, %r", type, cg_new(e, "load %s, ptr %r", type, at), add);
    cg_line(e, "store %s %r, ptr %r", type, sum, at);
}

/* Adds the values of a run to its slots. One element a round would take a cycle and, where the loop does not lie in
 * one line of the instruction cache, two to four; beside the making of slots, a vector a round, more than two. */
static void tally_count(cg *e, int64_t n, cg_ref constant)
{
    enum { TALLY_ROUND = 4 };
    cg_loop l;
    cg_loop_begin(e, &l, n, TALLY_ROUND);
    for (int64_t k = 0; k < TALLY_ROUND; k++)
        tally_count_one(e, cg_add(e, l.var, cg_int(e, k)), constant);
    cg_loop_end(e, &l);
}

/* The number that is added to the array's own address, if the addresses are made so, before it was widened: with its
 * sign or without, as an unsigned number of either width it is below TALLY_SLOTS or not. 0: they are not made so. */
static ts_val tally_index(const cg *e, ts_val address)
{
    const ts_inst *inst = ts_at(e->fn, address), *from;
    if (inst->op != TS_OP_offset)
        return 0;
    ts_val index = inst->opnd[1];
    if (cg_one_for_all(e, inst->opnd[0]) != e->tally.root)
        return 0;
    from = ts_at(e->fn, index);
    if (from->op == TS_OP_exti && e->val[index].form == CG_LAZY)
        index = from->opnd[0];
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, index));
    return elem == TS_T_i32 || elem == TS_T_i64 ? index : 0;
}

/* The elements' numbers in the array, as unsigned numbers of *reg. */
static cg_ref tally_number(cg *e, ts_val address, cg_ix ix, cg_reg *reg)
{
    uint32_t bits = cg_index_of(e, ix)->bits, bytes = cg_elem_bytes(e, e->tally.elem);
    ts_val index = tally_index(e, address);
    *reg = index ? cg_reg_of(e, ts_type_of(e->fn, index)) : CG_I64;
    if (index)
        return tally_at(e, index, ix);
    cg_ref base = cg_splat(e, CG_I64, bits, cg_scalar(e, e->tally.root));
    cg_ref offset = cg_bin(e, "sub", CG_I64, bits, tally_at(e, address, ix), base);
    return cg_bin(e, "lshr", CG_I64, bits, offset, cg_const(e, CG_I64, bits, (uint64_t)ts_log2(bytes)));
}

/* Slots and values of one vector to their places in the run, from `to` on. */
static void tally_vector(cg *e, ts_val v, cg_ix ix, cg_ref to, bool constant)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const uint32_t *x = ts_opnds(e->fn, inst);
    uint32_t bits = cg_index_of(e, ix)->bits, m = ts__opnd_mask(inst);
    cg_reg reg, value_reg = cg_reg_of(e, e->tally.elem);
    cg_ref value = tally_at(e, x[1], ix), slot = tally_number(e, x[0], ix, &reg);
    cg_ref none = cg_const(e, reg, bits, TALLY_SLOTS), near = cg_cmp(e, "icmp ult", reg, bits, slot, none);
    cg_ref all = cg_const(e, CG_I1, bits, (uint64_t)-1), mask = m == TS_NO ? all : tally_at(e, x[m], ix);
    cg_ref far = cg_bin(e, "and", CG_I1, bits, mask, cg_bin(e, "xor", CG_I1, bits, near, all));
    cg_ref place = tally_place(e, value_reg, e->tally.value, to);
    slot = cg_sel(e, reg, bits, cg_bin(e, "and", CG_I1, bits, mask, near), slot, none);
    slot = cg_conv(e, "trunc", reg, CG_I16, bits, slot);
    tally_far(e, v, ix, far, value, place);
    tally_put(e, cg_type(e, CG_I16, bits), slot, tally_place(e, CG_I16, e->tally.slot, to), 2);
    if (!constant)
        tally_put(e, cg_type(e, value_reg, bits), value, place, cg_elem_bytes(e, e->tally.elem));
}

/* ---- the tile -----------------------------------------------------------------------------------*/

static void tally_run(cg *e, ts_val v, int64_t n, cg_ref from, cg_index *at)
{
    ts_val value = ts_opnd(e->fn, v, 1);
    uint64_t payload;
    bool constant = ts__const_bits(e->fn, value, &payload);
    cg_loop l;
    cg_loop_begin(e, &l, n, (int64_t)1 << at->bits);
    at->axis[at->rank - 1].base = cg_add(e, from, l.var);
    tally_vector(e, v, cg_intern(e, at), l.var, constant);
    cg_loop_end(e, &l);
    tally_count(e, n, constant ? cg_const(e, cg_reg_of(e, e->tally.elem), 0, payload) : 0);
}

static void tally_loops(cg *e, ts_val v, uint32_t axis, const int64_t *dims, cg_index *at)
{
    cg_loop l;
    bool last = axis + 1 == at->rank;
    int64_t run = TS_MIN(dims[axis], TALLY_RUN);
    cg_loop_begin(e, &l, dims[axis], last ? run : 1);
    at->axis[axis].base = l.var;
    if (last)
        tally_run(e, v, run, l.var, at);
    else
        tally_loops(e, v, axis + 1, dims, at);
    cg_loop_end(e, &l);
}

void cg_tally_add(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    ts_type space = ts_type_of(e->fn, ts_opnd(e->fn, v, 1));
    const int64_t *dims = ts_type_dims(e->m, space);
    cg_index at;
    memset(&at, 0, sizeof at);
    at.rank = ts_type_rank(e->m, space);
    at.bits = TS_MIN(cg_vector_bits(e, 4), (uint32_t)ts_log2((uint64_t)dims[at.rank - 1]));
    for (uint32_t b = 0; b < at.bits; b++)
        at.axis[at.rank - 1].lane[b] = (int64_t)1 << b;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        cg_settle(e, ts_opnds(e->fn, inst)[i]);
    cg_order(e, v, false);
    cg_flush(e);
    cg_scope_open(e);
    tally_loops(e, v, 0, dims, &at);
    cg_scope_close(e);
}
