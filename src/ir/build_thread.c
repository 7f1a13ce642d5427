/* SPDX-License-Identifier: Apache-2.0
 *
 * Short ways of the builder to what kernels of threads are made of: where a thread stands, memory of the block,
 * barriers, exchanges within a warp, atomics. Each is one instruction that ts_emit could make as well.
 */
#include "ir/ir.h"

/* Of the three registers that begin with `x`. */
static ts_val thread_sreg(ts_builder *b, ts_sreg x, uint32_t axis)
{
    uint32_t kind = axis < 3 ? (uint32_t)x + axis : UINT8_MAX; /* the verifier refuses this kind */
    return ts_emit(b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(kind, 0, 0), 0);
}

/* At the level of threads a register, at that of tiles an operation. */
static ts_val thread_grid(ts_builder *b, ts_sreg x, ts_op tile, uint32_t axis)
{
    return b->fn->level == TS_LEVEL_S ? thread_sreg(b, x, axis) : ts_emit(b, tile, TS_T_i32, 0, NULL, axis, 0);
}

ts_val ts_block_id(ts_builder *b, uint32_t axis)
{
    return thread_grid(b, TS_SREG_CTAID, TS_OP_get_tile_block_id, axis);
}

ts_val ts_num_blocks(ts_builder *b, uint32_t axis)
{
    return thread_grid(b, TS_SREG_NCTAID, TS_OP_get_num_tile_blocks, axis);
}

ts_val ts_thread_id(ts_builder *b, uint32_t axis)
{
    return thread_sreg(b, TS_SREG_TID, axis);
}

ts_val ts_num_threads(ts_builder *b, uint32_t axis)
{
    return thread_sreg(b, TS_SREG_NTID, axis);
}

ts_val ts_lane_id(ts_builder *b)
{
    return thread_sreg(b, TS_SREG_LANEID, 0);
}

ts_val ts_warp_id(ts_builder *b)
{
    return thread_sreg(b, TS_SREG_WARPID, 0);
}

ts_val ts_shared_dynamic_bytes(ts_builder *b)
{
    return thread_sreg(b, TS_SREG_SHARED_BYTES, 0);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static ts_val thread_array(ts_builder *b, ts_op op, ts_space space, ts_type elem, uint32_t count, uint32_t align)
{
    ts_module *m = b->fn->module;
    uint32_t bytes = (ts_type_bits(m, elem) + 7) / 8;
    uint64_t all = (uint64_t)bytes * count;
    uint32_t words[] = {all > UINT32_MAX ? 0 : (uint32_t)all, align ? align : bytes, 0}; /* the verifier refuses 0 */
    return ts_emit(b, op, ts_type_ptr(m, elem, space), 0, NULL, ts_pool_add(b, 3, words), 0);
}

ts_val ts_shared_array(ts_builder *b, ts_type elem, uint32_t count, uint32_t align)
{
    return thread_array(b, TS_OP_shared_alloc, TS_SHARED, elem, count, align);
}

ts_val ts_shared_dynamic(ts_builder *b, ts_type elem, uint32_t offset)
{
    return ts_emit(b, TS_OP_shared, ts_type_ptr(b->fn->module, elem, TS_SHARED), 0, NULL, offset, 0);
}

ts_val ts_local_array(ts_builder *b, ts_type elem, uint32_t count)
{
    return thread_array(b, TS_OP_local, TS_LOCAL, elem, count, 0);
}

ts_val ts_element(ts_builder *b, ts_val pointer, ts_val index)
{
    return ts_emit(b, TS_OP_offset, ts_type_of(b->fn, pointer), 2, (ts_val[]){pointer, index}, 0, 0);
}

/* What a pointer points to; none for another value, to which the verifier objects. */
static ts_type thread_pointee(const ts_builder *b, ts_val pointer)
{
    ts_type type = ts_type_of(b->fn, pointer);
    return ts_type_kind(b->fn->module, type) == TS_KIND_PTR ? ts_type_get(b->fn->module, type)->elem : TS_T_none;
}

ts_val ts_load(ts_builder *b, ts_val pointer, uint32_t cache)
{
    ts_type type = thread_pointee(b, pointer);
    return ts_emit_multi(b, TS_OP_ld, 1, &pointer, TS_S(cache, 1, 0), 0, 1, &type) + 1;
}

ts_val ts_load_if(ts_builder *b, ts_val pointer, ts_val cond, ts_val other, uint32_t cache)
{
    ts_type type = thread_pointee(b, pointer);
    return ts_emit_multi(b, TS_OP_ld, 3, (ts_val[]){pointer, cond, other}, TS_S(cache, 1, 0), TS_F_MASK | TS_F_PAD, 1,
                         &type) + 1;
}

void ts_store(ts_builder *b, ts_val pointer, ts_val value, uint32_t cache)
{
    ts_emit(b, TS_OP_st, TS_T_none, 2, (ts_val[]){pointer, value}, TS_S(cache, 1, 0), 0);
}

void ts_store_if(ts_builder *b, ts_val pointer, ts_val value, ts_val cond, uint32_t cache)
{
    ts_emit(b, TS_OP_st, TS_T_none, 3, (ts_val[]){pointer, value, cond}, TS_S(cache, 1, 0), TS_F_MASK);
}

ts_val ts_atomic(ts_builder *b, ts_rmw mode, ts_val pointer, ts_val value, uint32_t mem)
{
    return ts_emit(b, TS_OP_atom, ts_type_of(b->fn, value), 2, (ts_val[]){pointer, value}, TS_M_MODE(mode) | mem, 0);
}

ts_val ts_atomic_cas(ts_builder *b, ts_val pointer, ts_val compare, ts_val value, uint32_t mem)
{
    return ts_emit(b, TS_OP_atom, ts_type_of(b->fn, value), 3, (ts_val[]){pointer, compare, value},
                   TS_M_MODE(TS_RMW_CAS) | mem, 0);
}

/* ---- together ----------------------------------------------------------------------------------- */

void ts_barrier(ts_builder *b)
{
    ts_emit(b, TS_OP_bar_sync, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
}

void ts_warp_sync(ts_builder *b)
{
    ts_emit(b, TS_OP_warp_sync, TS_T_none, 0, NULL, 0, 0);
}

void ts_memory_fence(ts_builder *b, ts_fence scope)
{
    ts_emit(b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(scope, 0, 0), 0);
}

ts_val ts_warp_shuffle(ts_builder *b, ts_shfl kind, ts_val value, ts_val lane)
{
    return ts_emit(b, TS_OP_shfl, ts_type_of(b->fn, value), 2, (ts_val[]){value, lane},
                   TS_S(kind, kind == TS_SHFL_UP ? 0 : 31, 0), 0);
}

ts_val ts_warp_vote(ts_builder *b, ts_vote kind, ts_val cond)
{
    return ts_emit(b, TS_OP_vote, kind == TS_VOTE_BALLOT ? TS_T_i32 : TS_T_i1, 1, &cond, TS_S(kind, 0, 0), 0);
}
