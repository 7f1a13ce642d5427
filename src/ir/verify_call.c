/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of calls: the callee exists, takes the arguments and gives the results (one instruction);
 * no function calls itself, directly or through others (the whole module). Part of the verifier, see
 * verify.h.
 *
 * The second is a walk along the calls, depth first: a function met again while it is still being walked
 * closes a cycle. Chains are at most TS__MAX_NEST functions long, so the walk and everything that follows
 * calls one by one (the evaluator, pass inline) may recurse.
 */
#include "ir/verify.h"

static const char *call_name(const ts_module *m, const ts_fn *fn)
{
    return ts_str_get(m, fn->name);
}

ts_status ts__verify_call(const ts__verify *c)
{
    const ts_fn *callee = ts__fn_find(c->m, c->inst->aux);
    uint32_t first = c->first_res[c->v], n = c->n_res[c->v];
    TS__WANT(c, callee, "the module has no function @%s", ts_str_get(c->m, c->inst->aux));
    TS__WANT(c, !callee->entry, "@%s is a kernel, which a launch starts; only a func can be called",
             call_name(c->m, callee));
    TS__WANT(c, ts__level_fits(c->fn, callee->level), "@%s is of the %s, @%s is of the %s", call_name(c->m, callee),
             ts__level_name(callee), call_name(c->m, c->fn), ts__level_name(c->fn));
    TS__WANT(c, c->n == callee->n_params, "@%s takes %u arguments, not %u", call_name(c->m, callee),
             callee->n_params, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        TS__SAME_TYPE(c, ts__verify_opnd(c, i), i + 1 < callee->inst.n ? ts_type_of(callee, i + 1) : TS_T_none,
                      "argument %u has another type than parameter %u of @%s", i, i, call_name(c->m, callee));
    TS__WANT(c, n == callee->n_results, "@%s gives %u results, not %u", call_name(c->m, callee), callee->n_results, n);
    for (uint32_t i = 0; i < n; i++)
        TS__SAME_TYPE(c, ts_type_of(c->fn, first + i), callee->result[i],
                      "result %u has another type than result %u of @%s", i, i, call_name(c->m, callee));
    return TS_OK;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

typedef struct call_walk {
    const ts_module *m;
    ts_error *err;
    uint32_t *height;  /* of a function: 0 not walked, else 1 + calls in its longest chain */
    uint32_t *path;    /* functions being walked, outermost first */
    uint32_t depth;
} call_walk;

static ts_status call_cycle(const call_walk *w, uint32_t first, const ts_fn *again)
{
    ts_text text;
    ts__text_init(&text, w->m->arena->alloc);
    for (uint32_t i = first; i < w->depth; i++)
        ts__text_printf(&text, "@%s -> ", call_name(w->m, w->m->fns.at[w->path[i]]));
    (void)ts_fail(w->err, TS_VERIFY, "@%s calls itself: %.1000s@%s; a function cannot, write a loop instead",
                  call_name(w->m, again), ts__text_get(&text), call_name(w->m, again));
    ts__text_deinit(&text);
    return TS_VERIFY;
}

static uint32_t call_index(const ts_module *m, ts_str name)
{
    uint32_t i = 0;
    while (i < m->fns.n && m->fns.at[i]->name != name)
        i++;
    return i;
}

static ts_status call_walk_fn(call_walk *w, uint32_t at)
{
    const ts_fn *fn = w->m->fns.at[at];
    uint32_t most = 0;
    for (uint32_t i = 0; i < w->depth; i++)
        if (w->path[i] == at)
            return call_cycle(w, i, fn);
    if (w->height[at])
        return TS_OK;
    w->path[w->depth++] = at;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        if (ts_at(fn, v)->op != TS_OP_call)
            continue;
        uint32_t callee = call_index(w->m, ts_at(fn, v)->aux);
        ts_assert(callee < w->m->fns.n); /* each function was verified */
        if (w->depth == TS__MAX_NEST)
            return ts_fail(w->err, TS_VERIFY, "@%s: calls are nested deeper than %d", call_name(w->m, fn),
                           TS__MAX_NEST);
        TS_TRY(call_walk_fn(w, callee));
        most = TS_MAX(most, w->height[callee]);
    }
    w->depth--;
    w->height[at] = most + 1;
    return most < TS__MAX_NEST ? TS_OK
                               : ts_fail(w->err, TS_VERIFY, "@%s: calls are nested deeper than %d",
                                         call_name(w->m, fn), TS__MAX_NEST);
}

ts_status ts__verify_calls(const ts_module *m, ts_error *err)
{
    ts_arena scratch;
    if (m->fns.n < 2 && (!m->fns.n || m->fns.at[0]->entry))
        return TS_OK;
    ts__arena_init(&scratch, m->arena->alloc);
    call_walk w = {.m = m, .err = err};
    w.height = TS_NEW_N(&scratch, uint32_t, m->fns.n);
    w.path = TS_NEW_N(&scratch, uint32_t, TS__MAX_NEST);
    ts_status status = w.height && w.path ? TS_OK : ts_fail(err, TS_NOMEM, "out of memory in the verifier");
    for (uint32_t i = 0; i < m->fns.n && status == TS_OK; i++)
        status = call_walk_fn(&w, i);
    ts__arena_deinit(&scratch);
    return status;
}
