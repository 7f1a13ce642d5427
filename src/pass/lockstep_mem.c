/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory in lock step. An address, predicate and value that are the same in all threads make one access; else
 *
 *     %x = ld n=1 %p mask=%c : f32      ─▶  %x = load_ptr_tko %p mask=(%here and %c) : tile<32xf32>
 *     st n=2 %p, %x, %y                 ─▶  one store_ptr_tko for each of the neighbours
 *     %old = atom add relaxed device .. ─▶  atomic_rmw_tko, thread after thread, also at one address
 *
 * Shared memory is memory of the worker that runs the block: an alloca for each shared_alloc, one for the dynamic part;
 * or one for all, where addresses are handled as numbers. Local memory is an alloca with the copies side by side.
 */
#include "pass/lockstep.h"
#include "table/sm.h"

static ts_val mem_alloca(lockstep *c, uint32_t bytes, uint32_t align, ts_type elem)
{
    uint32_t words[] = {TS_MAX(bytes, 1u), TS_MAX(align, 16u), 0};
    return ts_emit(&c->b, TS_OP_alloca, ts_type_ptr(c->m, elem, TS_GLOBAL), 0, NULL, ts_pool_add(&c->b, 3, words), 0);
}

ts_val lock_memory_of(lockstep *c, ts_type elem, uint32_t n)
{
    return mem_alloca(c, n * ((ts_type_bits(c->m, elem) + 7) / 8), 64, elem);
}

ts_val lock_scratch(lockstep *c, ts_type elem)
{
    return lock_memory_of(c, elem, (uint32_t)c->width);
}

/* ---- addresses -------------------------------------------------------------------------------------- */

static ts_val mem_pointer_to(lockstep *c, ts_val p, ts_type elem)
{
    ts_type type = ts_type_ptr(c->m, elem, TS_GLOBAL);
    return ts_type_elem(c->m, ts_type_of(c->b.fn, p)) == type ? p : ts_cast(&c->b, TS_OP_ptr_to_ptr, p, type, 0);
}

ts_val lock_offset(lockstep *c, ts_val p, ts_val index)
{
    bool tile = lock_is_tile(c, p) || lock_is_tile(c, index);
    p = tile ? lock_spread(c, p) : p;
    index = tile ? lock_spread(c, index) : index;
    return ts_emit(&c->b, TS_OP_offset, ts_type_of(c->b.fn, p), 2, (ts_val[]){p, index}, 0, 0);
}

/* The k-th neighbour. */
static ts_val mem_neighbour(lockstep *c, ts_val p, uint32_t k)
{
    return k ? lock_offset(c, p, ts_int(&c->b, TS_T_i32, k)) : p;
}

static void mem_ptr_add(lockstep *c, ts_val v)
{
    bool tile = c->is.vary[v];
    ts_val p = mem_pointer_to(c, lock_value(c, ts_opnd(c->fn, v, 0), tile), TS_T_i8);
    p = lock_offset(c, p, lock_value(c, ts_opnd(c->fn, v, 1), tile));
    c->map[v] = mem_pointer_to(c, p, ts_type_get(c->m, ts_at(c->fn, v)->type)->elem);
}

/* ---- shared and local memory ---------------------------------------------------------------------------- */

static bool mem_counts_addresses(const lockstep *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        ts_type type = inst->op == TS_OP_ptr_to_int ? ts_type_of(c->fn, inst->opnd[0]) : inst->type;
        if ((inst->op == TS_OP_ptr_to_int || inst->op == TS_OP_int_to_ptr) &&
            ts_type_kind(c->m, type) == TS_KIND_PTR && ts_type_get(c->m, type)->space == TS_SHARED)
            return true;
    }
    return false;
}

/* Bytes for the dynamic part: as many as any GPU can have, so that a launch that gives too few does no more harm than
 * there. What is not touched costs nothing. Blocks that wait for each other have theirs at once: they get what they
 * asked for. */
static uint32_t mem_dynamic_room(const lockstep *c, uint32_t fixed)
{
    uint32_t most = ts__sm_most_shared();
    bool together = ts__has_op(c->fn, TS_OP_grid_sync);
    return together ? c->env->shared_bytes : TS_MAX(c->env->shared_bytes, most > fixed ? most - fixed : 0);
}

void lock_shared_begin(lockstep *c)
{
    uint32_t at = 0, first = 0;
    bool dynamic = false, one = mem_counts_addresses(c);
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        dynamic |= inst->op == TS_OP_shared;
        if (inst->op != TS_OP_shared_alloc)
            continue;
        const uint32_t *words = ts_pool(c->fn, inst);
        first = first ? first : v;
        at = (at + words[1] - 1) & ~(words[1] - 1);
        at += words[0];
    }
    uint32_t fixed = (at + 15) & ~15u, room = mem_dynamic_room(c, fixed);
    if (c->env->plan)
        c->env->plan->dynamic_shared = dynamic;
    if ((uint64_t)fixed + c->env->shared_bytes > (1u << 24)) {
        lock_fail(c, first, TS_UNSUPPORTED, "%u bytes of static and %u of dynamic shared memory are more than a block "
                  "can have (%u)", fixed, c->env->shared_bytes, 1u << 24);
        return;
    }
    if (one)
        c->shared = mem_alloca(c, fixed + room + 16, 1024, TS_T_i8);
    else if (dynamic)
        c->dynamic = mem_alloca(c, room + 16, 1024, TS_T_i8);
    at = 0;
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(c->fn, v);
        const uint32_t *words = inst->op == TS_OP_shared_alloc ? ts_pool(c->fn, inst) : NULL;
        if (!words)
            continue;
        ts_type elem = ts_type_get(c->m, inst->type)->elem;
        at = (at + words[1] - 1) & ~(words[1] - 1);
        c->map[v] = one ? mem_pointer_to(c, mem_neighbour(c, c->shared, at), elem)
                        : mem_alloca(c, words[0], words[1], elem);
        at += words[0];
    }
    if (one)
        c->dynamic = mem_neighbour(c, c->shared, fixed);
}

static void mem_shared(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    c->map[v] = mem_pointer_to(c, mem_neighbour(c, c->dynamic, inst->aux), ts_type_get(c->m, inst->type)->elem);
}

static uint32_t mem_local_each(const lockstep *c, ts_val v)
{
    const uint32_t *words = ts_pool(c->fn, ts_at(c->fn, v));
    uint32_t align = TS_MAX(words[1], 16u);
    return (words[0] + align - 1) & ~(align - 1);
}

ts_val lock_local_of(lockstep *c, ts_val v, uint32_t n)
{
    const uint32_t *words = ts_pool(c->fn, ts_at(c->fn, v));
    uint32_t each = mem_local_each(c, v);
    if ((uint64_t)each * n > (1u << 28))
        lock_fail(c, v, TS_UNSUPPORTED, "%u bytes of local memory for each thread are more than the CPU gives",
                  words[0]);
    return mem_alloca(c, each * n, TS_MAX(words[1], 16u), TS_T_i8);
}

static void mem_local(lockstep *c, ts_val v)
{
    uint32_t each = mem_local_each(c, v);
    bool kept = c->split.level;
    if (c->alone) {
        c->map[v] = mem_pointer_to(c, lock_local_of(c, v, 1), ts_type_get(c->m, ts_at(c->fn, v)->type)->elem);
        return;
    }
    ts_val base = kept ? c->split.slot[v] : lock_local_of(c, v, (uint32_t)c->width);
    ts_val number = kept ? c->number : ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    ts_val at = ts_op2(&c->b, TS_OP_muli, number, ts_bits(&c->b, lock_tile(c, TS_T_i32), each), 0);
    c->map[v] = mem_pointer_to(c, lock_offset(c, base, at), ts_type_get(c->m, ts_at(c->fn, v)->type)->elem);
}

/* ---- loads and stores ------------------------------------------------------------------------------------- */

static uint32_t mem_order(const ts_inst *inst)
{
    switch (TS_S_KIND(inst->aux)) {
    case TS_CACHE_VOLATILE:
    case TS_CACHE_RELAXED:
        return TS_M_ORDER(TS_RELAXED) | TS_M_SCOPE(TS_SCOPE_SYS);
    case TS_CACHE_ACQUIRE:
        return TS_M_ORDER(TS_ACQUIRE) | TS_M_SCOPE(TS_SCOPE_SYS);
    case TS_CACHE_RELEASE:
        return TS_M_ORDER(TS_RELEASE) | TS_M_SCOPE(TS_SCOPE_SYS);
    default:
        return 0;
    }
}

/* The mask of an access: who is here, and the predicate; 0 all. */
static ts_val mem_mask(lockstep *c, ts_val v, bool tile)
{
    uint32_t m = ts__opnd_mask(ts_at(c->fn, v));
    if (tile)
        return m == TS_NO ? c->mask : lock_and(c, c->mask, lock_opnd_tile(c, v, m));
    ts_val pred = m == TS_NO ? 0 : lock_opnd(c, v, m), some = lock_some(c);
    return pred && some ? ts_op2(&c->b, TS_OP_andi, pred, some, 0) : pred ? pred : some;
}

ts_val lock_load(lockstep *c, ts_val p, ts_val mask, ts_val pad, uint32_t mem)
{
    ts_val x[3] = {p};
    uint32_t n = 1;
    if (mask)
        x[n++] = mask;
    if (mask && pad)
        x[n++] = pad;
    ts_type pointer = ts_type_of(c->b.fn, p);
    ts_type type = ts_type_with_elem(c->m, pointer, ts_type_get(c->m, ts_type_elem(c->m, pointer))->elem);
    return ts_emit(&c->b, TS_OP_load_ptr_tko, type, n, x, mem, (mask ? TS_F_MASK : 0) | (mask && pad ? TS_F_PAD : 0));
}

void lock_store(lockstep *c, ts_val p, ts_val value, ts_val mask, uint32_t mem)
{
    ts_val x[3] = {p, value, mask};
    ts_emit(&c->b, TS_OP_store_ptr_tko, TS_T_token, mask ? 3 : 2, x, mem, mask ? TS_F_MASK : 0);
}

static void mem_ld(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool tile = c->is.vary[v];
    uint32_t n = lock_n_results(c, v), d = ts__opnd_pad(inst);
    ts_val p = mem_pointer_to(c, lock_value(c, ts_opnd(c->fn, v, 0), tile), ts_type_of(c->fn, v + 1));
    ts_val mask = mem_mask(c, v, tile), pad = d == TS_NO ? 0 : lock_value(c, ts_opnd(c->fn, v, d), tile);
    for (uint32_t k = 0; k < n; k++)
        c->map[v + 1 + k] = lock_load(c, mem_neighbour(c, p, k), mask, pad, mem_order(inst));
}

static void mem_st(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    uint32_t n = TS_S_NUMBER(inst->aux);
    bool tile = false;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        tile |= c->is.vary[ts_opnd(c->fn, v, i)];
    ts_val p = lock_value(c, ts_opnd(c->fn, v, 0), tile), mask = mem_mask(c, v, tile);
    p = mem_pointer_to(c, p, ts_type_of(c->fn, ts_opnd(c->fn, v, 1)));
    for (uint32_t k = 0; k < n; k++)
        lock_store(c, mem_neighbour(c, p, k), lock_value(c, ts_opnd(c->fn, v, 1 + k), tile), mask, mem_order(inst));
}

static void mem_atom(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool cas = TS_M_GET_MODE(inst->aux) == TS_RMW_CAS, tile = !c->alone;
    ts_type elem = ts_type_of(c->fn, ts_opnd(c->fn, v, 1));
    ts_val x[4] = {mem_pointer_to(c, lock_value(c, ts_opnd(c->fn, v, 0), tile), elem),
                   lock_value(c, ts_opnd(c->fn, v, 1), tile)};
    uint32_t n = 2;
    if (cas)
        x[n++] = lock_value(c, ts_opnd(c->fn, v, 2), tile);
    ts_val mask = mem_mask(c, v, tile);
    if (mask)
        x[n++] = mask;
    uint32_t mem = inst->aux;
    if (!TS_M_GET_ORDER(mem))
        mem |= TS_M_ORDER(TS_RELAXED);
    if (!TS_M_GET_SCOPE(mem))
        mem |= TS_M_SCOPE(TS_SCOPE_DEVICE);
    if (cas)
        mem &= ~TS_M_MODE(15);
    c->map[v] = ts_emit(&c->b, cas ? TS_OP_atomic_cas_tko : TS_OP_atomic_rmw_tko, tile ? lock_tile(c, elem) : elem, n,
                        x, mem, mask ? TS_F_MASK : 0);
}

/* ---- asynchronous copies: done at once; those that wait for them find them done ------------------------------------
 * */

/* Element by element, in a loop; those that begin at `source` bytes or behind are zeros. */
static void mem_cp_part(lockstep *c, ts_val to, ts_val from, ts_val source, uint32_t bytes, ts_val mask)
{
    ts_type elem = ts_type_get(c->m, ts_type_elem(c->m, ts_type_of(c->b.fn, to)))->elem;
    int64_t unit = TS_MAX(ts_type_bits(c->m, elem) / 8, 1u);
    ts_val zero = ts_int(&c->b, TS_T_i32, 0), one = ts_int(&c->b, TS_T_i32, 1);
    ts_val opener = ts_for_begin(&c->b, zero, ts_int(&c->b, TS_T_i32, bytes / unit), one, 0, NULL, 0);
    ts_val k = ts_region_arg(c->b.fn, opener, 0), at = ts_op2(&c->b, TS_OP_muli, k, ts_int(&c->b, TS_T_i32, unit), 0);
    at = c->alone ? at : lock_spread(c, at);
    ts_val there = ts_cmp(&c->b, TS_OP_cmpi, TS_GT, source, at, 0), pad = lock_zero(c, elem);
    there = mask ? ts_op2(&c->b, TS_OP_andi, mask, there, 0) : there;
    ts_val x = lock_load(c, lock_offset(c, from, k), there, c->alone ? pad : lock_spread(c, pad), 0);
    lock_store(c, lock_offset(c, to, k), x, mask, 0);
    ts_term(&c->b, TS_OP_continue, 0, NULL);
    ts_end(&c->b, opener, 0, NULL);
}

static void mem_cp_async(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool part = inst->flags & TS_F_SRC, tile = !c->alone;
    uint32_t bytes = TS_S_NUMBER(inst->aux);
    ts_type elem = part ? ts_type_get(c->m, ts_type_of(c->fn, ts_opnd(c->fn, v, 0)))->elem : TS_T_i32;
    ts_val to = mem_pointer_to(c, lock_value(c, ts_opnd(c->fn, v, 0), tile), elem);
    ts_val from = mem_pointer_to(c, lock_value(c, ts_opnd(c->fn, v, 1), tile), elem), mask = mem_mask(c, v, tile);
    if (part)
        mem_cp_part(c, to, from, lock_value(c, ts_opnd(c->fn, v, 2), tile), bytes, mask);
    for (uint32_t k = 0; k < bytes / 4 && !part; k++)
        lock_store(c, mem_neighbour(c, to, k), lock_load(c, mem_neighbour(c, from, k), mask, 0, 0), mask, 0);
}

/* A copy of so many bytes between two places, scalars, by all lanes together. */
static void mem_copy_bytes(lockstep *c, ts_val to, ts_val from, ts_val bytes)
{
    ts_val zero = ts_int(&c->b, TS_T_i32, 0), step = ts_int(&c->b, TS_T_i32, c->width), mask = 0;
    ts_val words = ts_op2(&c->b, TS_OP_shri, bytes, ts_int(&c->b, TS_T_i32, 2), TS_A_UNSIGNED);
    ts_val opener = ts_for_begin(&c->b, zero, words, step, 0, NULL, 0), at = ts_region_arg(c->b.fn, opener, 0);
    if (!c->alone) {
        ts_val lane = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
        at = ts_op2(&c->b, TS_OP_addi, lock_spread(c, at), lane, 0);
        mask = ts_cmp(&c->b, TS_OP_cmpi, TS_LT, at, lock_spread(c, words), 0);
    }
    to = mem_pointer_to(c, to, TS_T_i32);
    from = mem_pointer_to(c, from, TS_T_i32);
    lock_store(c, lock_offset(c, to, at), lock_load(c, lock_offset(c, from, at), mask, 0, 0), mask, 0);
    ts_term(&c->b, TS_OP_continue, 0, NULL);
    ts_end(&c->b, opener, 0, NULL);
}

/* The copies of one thread after the other. */
static void mem_bulk(lockstep *c, ts_val v)
{
    bool load = ts_at(c->fn, v)->op == TS_OP_bulk_load;
    ts_val mask = mem_mask(c, v, !c->alone), at, branch = 0;
    ts_val x[3] = {lock_opnd(c, v, 0), lock_opnd(c, v, load ? 2 : 1), lock_opnd(c, v, load ? 3 : 2)};
    if (c->alone) {
        branch = mask ? ts_if_begin(&c->b, mask) : 0;
        mem_copy_bytes(c, x[0], x[1], x[2]);
        if (branch)
            ts_if_end(&c->b, branch);
        return;
    }
    ts_val opener = lock_each_begin(c, mask, &at, &branch);
    for (uint32_t i = 0; i < 3; i++)
        x[i] = lock_is_tile(c, x[i]) ? lock_element(c, x[i], at) : x[i];
    mem_copy_bytes(c, x[0], x[1], x[2]);
    lock_each_end(c, opener, branch);
}

bool lock_memory(lockstep *c, ts_val v)
{
    switch ((int)ts_at(c->fn, v)->op) {
    case TS_OP_ptr_add:
        mem_ptr_add(c, v);
        return true;
    case TS_OP_shared_alloc: /* lock_shared_begin */
        return true;
    case TS_OP_shared:
        mem_shared(c, v);
        return true;
    case TS_OP_local:
        mem_local(c, v);
        return true;
    case TS_OP_ld:
        mem_ld(c, v);
        return true;
    case TS_OP_st:
        mem_st(c, v);
        return true;
    case TS_OP_atom:
    case TS_OP_red:
        mem_atom(c, v);
        return true;
    case TS_OP_cp_async:
        mem_cp_async(c, v);
        return true;
    case TS_OP_bulk_load:
    case TS_OP_bulk_store:
        mem_bulk(c, v);
        return true;
    case TS_OP_mapa: /* a block is a cluster */
        c->map[v] = lock_value(c, ts_opnd(c->fn, v, 0), c->is.vary[v]);
        return true;
    case TS_OP_cp_async_commit:
    case TS_OP_cp_async_wait:
    case TS_OP_bulk_commit:
    case TS_OP_bulk_wait:
    case TS_OP_prefetch:
        return true;
    default:
        return false;
    }
}
