/* SPDX-License-Identifier: Apache-2.0
 *
 * A loop that does nothing but try an atomic again, for a lock, sleeps between tries:
 *
 *     loop {                                            loop {
 *       %2 = atom cas acquire device %p, %0, %1           %2 = atom cas acquire device %p, %0, %1
 *       %3 = cmpi eq %2, %1                               %3 = cmpi eq %2, %1
 *       if %3 { yield } else { break }          ->        if %3 { yield } else { break }
 *       continue                                          nanosleep 64
 *     }                                                   continue
 *                                                       }
 *
 * Blocks that wait come to the lock's address in turn, and the one that holds it has to, too; an acquire empties the L1
 * of its multiprocessor, on which others still read. The atomic is the loop's only access to global memory, and the
 * loop carries nothing from trip to trip, so that all its trips are alike. Its memory order and that of others stay.
 * Cost: linear.
 */
#include "pass/pass.h"

/* Up to twice that passes. A lock's owner takes a microsecond or more; with 256 ns, layer norm's gradient on an H100
 * took 40 ms instead of 51 where 22 blocks wait for each lock, 28 instead of 42 with 18, but 4 to 10 % longer with
 * four, as it is with the 16 warps a block that it gets by itself. */
enum { SPIN_SLEEP_NS = 64 };

static bool spin_is_global(const ts_fn *fn, ts_val v)
{
    const ts_type_info *type = ts_type_get(fn->module, ts_type_of(fn, ts_opnd(fn, v, 0)));
    return !type || type->kind != TS_KIND_PTR || type->space != TS_SHARED;
}

/* What may stand in such a loop beside its atomic: what hands the old value to the other threads of the block, too. */
static bool spin_may_hold(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t flags = ts_info(inst)->flags;
    if (inst->op == TS_OP_ld || inst->op == TS_OP_st)
        return !spin_is_global(fn, v);
    return inst->op == TS_OP_if || inst->op == TS_OP_bar_sync || flags & TS_TERM || flags & TS_PURE ||
           inst->op == TS_OP_else || inst->op == TS_OP_end || inst->op == TS_OP_res;
}

static bool spin_is(const ts_fn *fn, const ts_shape *shape, ts_val loop)
{
    uint32_t atomics = 0;
    if (ts_at(fn, loop)->op != TS_OP_loop || ts_at(fn, loop)->n_opnd)
        return false;
    for (ts_val v = loop + 1; v < shape->end[loop]; v++)
        if (ts_at(fn, v)->op == TS_OP_atom && spin_is_global(fn, v))
            atomics++;
        else if (!spin_may_hold(fn, v))
            return false;
    return atomics == 1;
}

/* The loop that `continue` repeats: the innermost one around it. */
static ts_val spin_repeated(const ts_fn *fn, const ts_shape *shape, ts_val v)
{
    while (v && !ts__is_loop(ts_at(fn, v)->op))
        v = shape->parent[v];
    return v;
}

ts_status ts__pass_spin(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    ts_shape shape;
    ts_builder b;
    uint32_t n = fn->inst.n;
    if (!ts__has_op(fn, TS_OP_atom) || !ts__has_op(fn, TS_OP_loop))
        return TS_OK;
    ts_val *map = TS_NEW_N(env->scratch, ts_val, n);
    ts_fn *fresh = ts__fn_create_like(fn);
    if (!map || !fresh || !ts__shape_of(fn, env->scratch, &shape))
        return ts_fail(err, TS_NOMEM, "out of memory in pass spin");
    ts__builder_init(&b, fresh);
    for (ts_val v = 1; v < n && !ts__module_failed(fn->module); v++) {
        ts_val loop = ts_at(fn, v)->op == TS_OP_continue ? spin_repeated(fn, &shape, v) : 0;
        if (loop && spin_is(fn, &shape, loop))
            ts_emit(&b, TS_OP_nanosleep, TS_T_none, 0, NULL, TS_S(0, SPIN_SLEEP_NS, 0), 0);
        ts__copy(&b, fn, v, map);
    }
    if (!ts__module_failed(fn->module)) /* the runner says so */
        ts__fn_replace(fn, fresh);
    return TS_OK;
}
