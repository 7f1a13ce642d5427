/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `cooperate`: writes grid_sync, the barrier of all blocks of a launch, as what a GPU has. The launch is a
 * cooperative one, so that all blocks run, and adds a counter that begins at 0: each block counts itself once and waits
 * until all have. The counter only grows, so that no block has to reset it.
 *
 *     grid_sync   ─▶   bar_sync                                 the block has come
 *                      if tid == (0, 0, 0) {
 *                        fence gpu
 *                        %old = atom add acq_rel device %counter, 1
 *                        %goal = (%old / %n + 1) * %n           %n: blocks of the grid
 *                        loop { .. ld.acquire %counter >= %goal: break;  nanosleep .. }
 *                        fence gpu
 *                      }
 *                      bar_sync                                 what the others wrote is seen by all threads
 *
 * Cost: linear.
 */
#include "pass/pass.h"

enum { COOPERATE_SLEEP_NS = 32 };

/* The number of blocks as i64. */
static ts_val cooperate_blocks(ts_builder *b)
{
    ts_val n = 0;
    for (uint32_t axis = 0; axis < 3; axis++) {
        ts_val own = ts_cast(b, TS_OP_exti, ts_num_blocks(b, axis), TS_T_i64, TS_A_UNSIGNED);
        n = n ? ts_op2(b, TS_OP_muli, n, own, 0) : own;
    }
    return n;
}

static void cooperate_wait(ts_builder *b, ts_val counter, ts_val goal)
{
    ts_val loop = ts_loop_begin(b, 0, NULL);
    ts_val now = ts_load(b, counter, TS_CACHE_ACQUIRE);
    ts_val here = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_GE, now, goal, 0));
    ts_term(b, TS_OP_break, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, here, 0, NULL);
    ts_emit(b, TS_OP_nanosleep, TS_T_none, 0, NULL, TS_S(0, COOPERATE_SLEEP_NS, 0), 0);
    ts_term(b, TS_OP_continue, 0, NULL);
    ts_end(b, loop, 0, NULL);
}

static void cooperate_meet(ts_builder *b, ts_val counter)
{
    ts_val one = ts_int(b, TS_T_i64, 1), id = ts_thread_id(b, 0);
    ts_barrier(b);
    id = ts_op2(b, TS_OP_ori, id, ts_op2(b, TS_OP_ori, ts_thread_id(b, 1), ts_thread_id(b, 2), 0), 0);
    ts_val first = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_EQ, id, ts_int(b, TS_T_i32, 0), 0));
    ts_memory_fence(b, TS_FENCE_GPU);
    ts_val n = cooperate_blocks(b);
    ts_val old = ts_atomic(b, TS_RMW_ADD, counter, one, TS_M_ORDER(TS_ACQ_REL) | TS_M_SCOPE(TS_SCOPE_DEVICE));
    ts_val goal = ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_divi, old, n, TS_A_UNSIGNED | TS_RZ), one, 0);
    cooperate_wait(b, counter, ts_op2(b, TS_OP_muli, goal, n, 0));
    ts_memory_fence(b, TS_FENCE_GPU);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_else(b);
    ts_term(b, TS_OP_yield, 0, NULL);
    ts_end(b, first, 0, NULL);
    ts_barrier(b);
}

/* *user: the counter. */
static ts_val cooperate_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    ts_val *counter = user;
    (void)map;
    if (v == 1 + fn->n_params)
        *counter = ts_fn_param(b, ts_type_ptr(fn->module, TS_T_i64, TS_GLOBAL));
    if (ts_at(fn, v)->op != TS_OP_grid_sync)
        return 0;
    if (!ts_at(fn, v)->aux)
        cooperate_meet(b, *counter);
    return TS_NO;
}

ts_status ts__pass_cooperate(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_val counter = 0;
    if (!ts__has_op(fn, TS_OP_grid_sync))
        return TS_OK;
    if (env->plan)
        env->plan->cooperative = 1;
    return ts__rewrite(fn, env, "cooperate", cooperate_each, &counter, err);
}
