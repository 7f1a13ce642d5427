/* SPDX-License-Identifier: Apache-2.0
 *
 * Inlining: the body of a function in the place of each call of it, so that what follows sees one
 * function. It runs first, because every pass and both targets work on one function at a time.
 *
 *     func @f(%1: f32) : f32 {                 entry @k(%1: ptr<f32>) {
 *       %2 = mulf %1, %1 : f32                   %2 = load_ptr_tko %1 : f32
 *       return %2                                %3 = mulf %2, %2 : f32
 *     }                                          %4 = store_ptr_tko %1, %3 : token
 *     entry @k(%1: ptr<f32>) {                   return
 *       %2 = load_ptr_tko %1 : f32      ->     }
 *       %4 = call @f %2 : f32
 *       %5 = store_ptr_tko %1, %4 : token
 *       return
 *     }
 *
 * A function has one return, at its end (verify.c), so its body is a list of instructions whose last one
 * says what the results are: parameters stand for the arguments and results for the returned values, and
 * nothing is rewritten. Calls inside the body are replaced as they are met. The place of an instruction
 * gets the place of the call as its last caller, as the front end writes it for Python functions.
 * Cost: one look at each instruction when there is no call, else a copy.
 */
#include "ir/text.h"
#include "pass/pass.h"

enum { INLINE_MOST = 1 << 20 }; /* instructions of a kernel with all its functions */

typedef struct inline_ctx {
    ts_builder b;
    ts_arena *scratch;
    ts_error *err;
    uint32_t calls, regions; /* around what is being copied */
} inline_ctx;

static ts_status inline_nomem(const inline_ctx *c)
{
    return ts_fail(c->err, TS_NOMEM, "out of memory in pass inline");
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The place `loc` of a function called at `call`: the chain of its callers ends with the call's place. */
static ts_loc inline_loc(ts_module *m, ts_loc loc, ts_loc call)
{
    ts_loc_info frames[16];
    uint32_t n = 0;
    for (; loc && n < TS_COUNT(frames); loc = frames[n - 1].caller)
        frames[n++] = m->locs.at[loc];
    for (loc = call; n--;) {
        frames[n].caller = loc;
        loc = ts_loc_add(m, &frames[n]);
    }
    return loc;
}

/* ---- copying --------------------------------------------------------------------------------- */

static ts_status inline_call(inline_ctx *c, const ts_fn *from, ts_val call, ts_val *map);

static ts_status inline_limits(inline_ctx *c, const ts_fn *from, const ts_inst *inst)
{
    if (ts_info(inst)->flags & TS_REGION)
        c->regions++;
    if (inst->op == TS_OP_end)
        c->regions--;
    if (c->regions > TS__MAX_NEST || c->b.fn->inst.n > INLINE_MOST)
        return ts_fail(c->err, TS_UNSUPPORTED,
                       "@%s with the functions it calls has more than %d %s (in @%s); divide it into kernels",
                       ts_str_get(from->module, c->b.fn->name), c->regions > TS__MAX_NEST ? TS__MAX_NEST : INLINE_MOST,
                       c->regions > TS__MAX_NEST ? "regions inside each other" : "instructions",
                       ts_str_get(from->module, from->name));
    return TS_OK;
}

/* Copies from..to-1, calls replaced. `at`: the place of the call around it, 0 in the kernel itself. */
static ts_status inline_range(inline_ctx *c, const ts_fn *from, ts_val first, ts_val *map, ts_loc at)
{
    ts_loc seen = UINT32_MAX, place = 0; /* neighbours share their place */
    for (ts_val v = first; v < from->inst.n; v++) {
        const ts_inst *inst = ts_at(from, v);
        bool of_call = inst->op == TS_OP_res && ts_at(from, inst->opnd[0])->op == TS_OP_call;
        if (of_call || (c->calls && inst->op == TS_OP_return))
            continue; /* the values are in map */
        if (from->loc.at[v] != seen) {
            seen = from->loc.at[v];
            place = at ? inline_loc(from->module, seen, at) : seen;
        }
        c->b.loc = place;
        TS_TRY(inline_limits(c, from, inst));
        if (inst->op == TS_OP_call) {
            TS_TRY(inline_call(c, from, v, map));
        } else {
            ts_val made = ts__copy(&c->b, from, v, map);
            if (made)
                c->b.fn->loc.at[made] = place;
        }
        if (ts__module_failed(from->module))
            return inline_nomem(c);
    }
    return TS_OK;
}

/* What the verifier promises of a call, once more: a module built by a program may not have been verified. */
static ts_status inline_check(const inline_ctx *c, const ts_fn *from, ts_val call, const ts_fn *callee)
{
    const ts_inst *inst = ts_at(from, call);
    const ts_inst *last = callee ? ts_at(callee, callee->inst.n - 1) : NULL;
    if (!callee || callee->entry || inst->n_opnd != callee->n_params || last->op != TS_OP_return ||
        last->n_opnd != callee->n_results)
        return ts_fail(c->err, TS_VERIFY, "@%s, %%%u: call of @%s, which is no function of the module, takes other "
                       "arguments or does not end in return; verify the module first",
                       ts_str_get(from->module, from->name), call, ts_str_get(from->module, inst->aux));
    if (c->calls > TS__MAX_NEST)
        return ts_fail(c->err, TS_VERIFY, "@%s: calls are nested deeper than %d, or a function calls itself",
                       ts_str_get(from->module, callee->name), TS__MAX_NEST);
    return TS_OK;
}

static ts_status inline_call(inline_ctx *c, const ts_fn *from, ts_val call, ts_val *map)
{
    const ts_inst *inst = ts_at(from, call);
    const ts_fn *callee = ts__fn_find(from->module, inst->aux);
    ts_loc place = c->b.loc;
    c->calls++;
    TS_TRY(inline_check(c, from, call, callee));
    ts_val *inner = TS_NEW_N(c->scratch, ts_val, callee->inst.n);
    if (!inner)
        return inline_nomem(c);
    for (uint32_t i = 0; i < callee->n_params; i++)
        inner[1 + i] = map[ts_opnd(from, call, i)];
    TS_TRY(inline_range(c, callee, 1 + callee->n_params, inner, place));
    for (ts_val v = call + 1; v < from->inst.n && ts_at(from, v)->op == TS_OP_res && ts_opnd(from, v, 0) == call; v++) {
        ts_assert(ts_at(from, v)->aux < callee->n_results);
        map[v] = inner[ts_opnd(callee, callee->inst.n - 1, ts_at(from, v)->aux)];
    }
    c->calls--;
    return TS_OK;
}

ts_status ts__pass_inline(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    if (!ts__has_op(fn, TS_OP_call))
        return TS_OK;
    inline_ctx c = {.scratch = env->scratch, .err = err};
    ts_fn *fresh = ts__fn_create_like(fn);
    ts_val *map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    if (!fresh || !map)
        return inline_nomem(&c);
    ts__builder_init(&c.b, fresh);
    TS_TRY(inline_range(&c, fn, 1, map, 0));
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
