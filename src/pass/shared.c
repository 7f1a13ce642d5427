/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `shared`: gives the shared memory that a kernel of threads asks for its place. Static memory comes first,
 * one piece after the other, then the dynamic memory whose size a launch says:
 *
 *     %2 = shared_alloc bytes=512 align=16 : ptr<f32, shared>       %2 = shared offset=0 : ptr<f32, shared>
 *     %3 = shared_alloc bytes=12 align=4 : ptr<i32, shared>   ->    %3 = shared offset=512 : ptr<i32, shared>
 *     %4 = shared offset=64 : ptr<f32, shared>                      %4 = shared offset=592 : ptr<f32, shared>
 *
 *     | %2: 512 bytes | %3: 12 | gap: 4 | dynamic: as the launch says, from a multiple of 16 |
 *
 * Both are one piece of memory for the GPU, asked for at the launch: static memory of its own is limited to 48 KiB on
 * every GPU. Pieces do not share bytes, even when they are never needed at the same time.
 * Cost: one copy of the function. Runs last, so that what nobody uses takes no room; the plan learns the static size.
 */
#include "ir/mma.h"
#include "pass/pass.h"

enum { SHARED_DYNAMIC_ALIGN = 16, SHARED_MOST = 1 << 24 };

static uint32_t shared_round(uint32_t at, uint32_t align)
{
    ts_assert(ts_is_pow2(align));
    return (at + align - 1) & ~(align - 1);
}

/* Offset of each shared_alloc in `at`; *total is where dynamic memory begins, or the end. Refuses offsets that no block
 * has. */
static ts_status shared_place(const ts_fn *fn, uint32_t *at, uint32_t *total, ts_error *err)
{
    uint32_t end = 0;
    bool is_dynamic = false;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        is_dynamic |= inst->op == TS_OP_shared;
        if (inst->op == TS_OP_shared && inst->aux > SHARED_MOST)
            return ts_fail(err, TS_UNSUPPORTED, "kernel '%s': offset %u in dynamic shared memory is more than a block "
                           "can have", ts_str_get(fn->module, fn->name), inst->aux);
        if (inst->op != TS_OP_shared_alloc)
            continue;
        const uint32_t *words = ts_pool(fn, inst);
        at[v] = shared_round(end, words[1]);
        if (words[0] > SHARED_MOST - at[v])
            return ts_fail(err, TS_UNSUPPORTED, "kernel '%s' asks for more than %d bytes of static shared memory (%u "
                           "of them in %%%u); use less", ts_str_get(fn->module, fn->name), SHARED_MOST, words[0], v);
        end = at[v] + words[0];
    }
    *total = is_dynamic ? shared_round(end, SHARED_DYNAMIC_ALIGN) : end;
    return TS_OK;
}

ts_status ts__pass_shared(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    uint32_t *at = TS_NEW_N(env->scratch, uint32_t, fn->inst.n), total = 0;
    if (!at)
        return ts_fail(err, TS_NOMEM, "out of memory in pass shared");
    TS_TRY(shared_place(fn, at, &total, err));
    if (env->plan) {
        env->plan->shared_bytes = total;
        env->plan->dynamic_shared = ts__has_op(fn, TS_OP_shared);
        env->plan->together = (uint8_t)ts__mma_threads(fn);
    }
    if (!total)
        return TS_OK;
    ts_builder b;
    ts_fn *fresh = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    if (!fresh || !map)
        return ts_fail(err, TS_NOMEM, "out of memory in pass shared");
    ts__builder_init(&b, fresh);
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        b.loc = fn->loc.at[v];
        if (inst->op == TS_OP_shared_alloc)
            map[v] = ts_emit(&b, TS_OP_shared, inst->type, 0, NULL, at[v], 0);
        else if (inst->op == TS_OP_shared)
            map[v] = ts_emit(&b, TS_OP_shared, inst->type, 0, NULL, inst->aux + total, 0);
        else
            ts__copy(&b, fn, v, map);
        if (ts__module_failed(fn->module))
            return ts_fail(err, TS_NOMEM, "out of memory in pass shared");
    }
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
