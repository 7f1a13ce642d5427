/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at tile level: the grid, structured control flow, regions of reduce, scan and cold,
 * elementwise operations. Operations on shapes, memory and matrices are in eval/tile_shape.c,
 * eval/tile_mem.c, eval/tile_mma.c.
 *
 * A region runs until a terminator; its index is left in t->term for the opener to look at. `if` hands
 * break, continue and return on to the loop or function they belong to.
 */
#include "eval/tile.h"
#include "math/math.h"

enum { EVAL_MAX_DEPTH = 200 };

static ts_status tile_run(eval_tile *t, ts_val from, ts_val to);

/* ---- values ---------------------------------------------------------------------------------------- */

ts_status eval_tile_nomem(eval_tile *t)
{
    return ts_fail(t->run.err, TS_NOMEM, "out of memory while evaluating");
}

static int64_t tile_words(const ts_module *m, ts_type type)
{
    switch (ts_type_kind(m, type)) {
    case TS_KIND_TENSOR_VIEW:
    case TS_KIND_PARTITION_VIEW:
    case TS_KIND_STRIDED_VIEW:
    case TS_KIND_GATHER_SCATTER_VIEW:
        return EVAL_VIEW_WORDS;
    default:
        return ts_type_count(m, type);
    }
}

/* Room for every value, so that nothing can fail for memory in the middle of a block. */
static bool tile_make_values(eval_tile *t)
{
    uint32_t n = t->fn->inst.n;
    t->value = TS_NEW_N(&t->run.arena, uint64_t *, n);
    t->scalar = TS_NEW_N(&t->run.arena, ts_scalar *, n);
    t->filled = TS_NEW_N(&t->run.arena, bool, n);
    if (!t->value || !t->scalar || !t->filled)
        return false;
    for (ts_val v = 0; v < n; v++) {
        t->value[v] = TS_NEW_N(&t->run.arena, uint64_t, tile_words(t->module, ts_type_of(t->fn, v)));
        if (!t->value[v])
            return false;
    }
    return true;
}

static void tile_copy(eval_tile *t, ts_val to, const uint64_t *from)
{
    memcpy(t->value[to], from, (size_t)tile_words(t->module, ts_type_of(t->fn, to)) * sizeof *from);
}

static ts_val tile_res(const eval_tile *t, ts_val opener, uint32_t i)
{
    return eval_find_res(t->fn, opener, eval_after(&t->run, opener), i);
}

/* Gives operands skip.. of `source` as if at once to the args of an opener from `first_arg` on, or, when that
 * is 0, to its results. */
static ts_status tile_assign(eval_tile *t, ts_val opener, ts_val first_arg, ts_val source, uint32_t skip)
{
    const ts_inst *inst = ts_at(t->fn, source);
    uint32_t n = inst->n_opnd - skip;
    ts_arena_mark mark = ts__arena_at(&t->scratch);
    uint64_t **copies = TS_NEW_N(&t->scratch, uint64_t *, n + 1);
    for (uint32_t i = 0; i < n && copies; i++) {
        ts_val from = ts_opnd(t->fn, source, i + skip);
        size_t bytes = (size_t)tile_words(t->module, ts_type_of(t->fn, from)) * sizeof(uint64_t);
        copies[i] = ts__arena_get(&t->scratch, bytes);
        if (!copies[i])
            return eval_tile_nomem(t);
        memcpy(copies[i], t->value[from], bytes);
    }
    ts_status status = copies ? TS_OK : eval_tile_nomem(t);
    for (uint32_t i = 0; i < n && status == TS_OK; i++) {
        ts_type from = ts_type_of(t->fn, ts_opnd(t->fn, source, i + skip));
        ts_val to = first_arg ? first_arg + i : tile_res(t, opener, i);
        if (to >= t->fn->inst.n || (to && ts_type_of(t->fn, to) != from))
            status = eval_fail(&t->run, source, TS_VERIFY, "value %u has not the type of its target", i);
        else if (to)
            tile_copy(t, to, copies[i]);
    }
    ts__arena_rewind(&t->scratch, mark);
    return status;
}

static ts_op tile_term(const eval_tile *t)
{
    return (ts_op)ts_at(t->fn, t->term)->op;
}

/* ---- control flow ----------------------------------------------------------------------------------- */

static ts_status tile_if(eval_tile *t, ts_val v)
{
    ts_val other = t->run.shape.other[v], end = t->run.shape.end[v];
    if (!other)
        return eval_fail(&t->run, v, TS_VERIFY, "if without else");
    bool taken = *eval_tile_opnd(t, v, 0) & 1;
    TS_TRY(taken ? tile_run(t, v + 1, other) : tile_run(t, other + 1, end));
    if (!t->term)
        return eval_fail(&t->run, v, TS_VERIFY, "a region of `if` has no terminator");
    if (tile_term(t) != TS_OP_yield)
        return TS_OK; /* belongs to a loop around, or to the function */
    ts_val yield = t->term;
    t->term = 0;
    return tile_assign(t, v, 0, yield, 0);
}

/* Runs a loop's body once. *again: the loop goes on (carried values are updated). Otherwise it was left:
 * by break with the results set, or by return with t->term kept. */
static ts_status tile_body(eval_tile *t, ts_val v, ts_val first_carried, bool *again)
{
    *again = false;
    TS_TRY(tile_run(t, v + 1, t->run.shape.end[v]));
    ts_val term = t->term;
    if (!term)
        return eval_fail(&t->run, v, TS_VERIFY, "the body of a loop has no terminator");
    if (tile_term(t) == TS_OP_return)
        return TS_OK;
    t->term = 0;
    if (ts_at(t->fn, term)->op == TS_OP_break)
        return tile_assign(t, v, 0, term, 0);
    if (ts_at(t->fn, term)->op != TS_OP_continue)
        return eval_fail(&t->run, term, TS_VERIFY, "%s does not end a loop body", ts_info(ts_at(t->fn, term))->name);
    *again = true;
    return tile_assign(t, v, first_carried, term, 0);
}

static bool tile_for_goes_on(const ts_inst *inst, int64_t i, int64_t upper)
{
    return inst->aux & TS_A_UNSIGNED ? (uint64_t)i < (uint64_t)upper : i < upper;
}

static int64_t tile_bound(const eval_tile *t, ts_val v, const uint64_t *x)
{
    uint32_t bits = ts__scalar_bits(ts_type_of(t->fn, v + 1));
    bool cut = ts_at(t->fn, v)->aux & TS_A_UNSIGNED && bits < 64;
    return (int64_t)(cut ? *x & (((uint64_t)1 << bits) - 1) : *x);
}

static ts_status tile_for(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    int64_t i = tile_bound(t, v, eval_tile_opnd(t, v, 0)), upper = tile_bound(t, v, eval_tile_opnd(t, v, 1));
    int64_t step = tile_bound(t, v, eval_tile_opnd(t, v, 2));
    uint32_t n = inst->n_opnd - 3u;
    if (step <= 0)
        return eval_fail(&t->run, v, TS_LAUNCH, "the step of `for` is %lld; it must be positive", (long long)step);
    if (n)
        TS_TRY(tile_assign(t, v, v + 2, v, 3));
    while (tile_for_goes_on(inst, i, upper)) {
        bool again;
        *t->value[v + 1] = ts__scalar_wrap(ts_type_of(t->fn, v + 1), (uint64_t)i);
        TS_TRY(tile_body(t, v, v + 2, &again));
        if (!again)
            return TS_OK;
        /* the next value may lie beyond the type: the distance left decides */
        if ((uint64_t)upper - (uint64_t)i <= (uint64_t)step)
            break;
        i += step;
    }
    for (uint32_t k = 0; k < n; k++)
        if (tile_res(t, v, k))
            tile_copy(t, tile_res(t, v, k), t->value[v + 2 + k]);
    return TS_OK;
}

static ts_status tile_loop(eval_tile *t, ts_val v)
{
    bool again = true;
    TS_TRY(tile_assign(t, v, v + 1, v, 0));
    while (again)
        TS_TRY(tile_body(t, v, v + 1, &again));
    return TS_OK;
}

/* Arguments to parameters, the body, what it returns to the results. */
static ts_status tile_call(eval_tile *t, ts_val v)
{
    eval_linked callee = eval_callee(&t->run, v);
    ts_val params = callee.base + 1;
    if (t->depth >= EVAL_MAX_DEPTH)
        return eval_fail(&t->run, v, TS_VERIFY, "calls and regions nest more than %d deep", EVAL_MAX_DEPTH);
    TS_TRY(tile_assign(t, v, params, v, 0));
    t->depth++;
    TS_TRY(tile_run(t, params + callee.fn->n_params, callee.base + callee.fn->inst.n));
    t->depth--;
    ts_val term = t->term;
    t->term = 0;
    ts_assert(term && ts_at(t->fn, term)->op == TS_OP_return);
    return tile_assign(t, v, 0, term, 0);
}

/* ---- regions on data -------------------------------------------------------------------------------- */

static ts_status tile_yield_of(eval_tile *t, ts_val v, ts_val *yield)
{
    TS_TRY(tile_run(t, v + 1, t->run.shape.end[v]));
    *yield = t->term;
    t->term = 0;
    if (!*yield || ts_at(t->fn, *yield)->op != TS_OP_yield)
        return eval_fail(&t->run, v, TS_VERIFY, "the region must end in yield");
    return TS_OK;
}

/* One line of a reduction or scan: `at` is the line's first element, `stride` the distance of the next,
 * `out_at` and `out_stride` say where results go (stride 0: only the last stays). */
typedef struct tile_line {
    int64_t at, stride, n, out_at, out_stride;
} tile_line;

static ts_status tile_fold_line(eval_tile *t, ts_val v, const tile_line *line)
{
    const ts_inst *inst = ts_at(t->fn, v);
    const uint32_t *words = ts_pool(t->fn, inst);
    uint32_t n = inst->n_opnd;
    bool reverse = words[1];
    ts_val results[64];
    for (uint32_t k = 0; k < n; k++)
        results[k] = tile_res(t, v, k);
    for (uint32_t k = 0; k < n; k++)
        *t->value[v + 2 + 2 * k] = words[3 + 2 * k] | (uint64_t)words[4 + 2 * k] << 32;
    for (int64_t step = 0; step < line->n; step++) {
        int64_t i = reverse ? line->n - 1 - step : step;
        ts_val yield;
        for (uint32_t k = 0; k < n; k++)
            *t->value[v + 1 + 2 * k] = eval_tile_opnd(t, v, k)[line->at + i * line->stride];
        TS_TRY(tile_yield_of(t, v, &yield));
        uint64_t next[64];
        for (uint32_t k = 0; k < n; k++)
            next[k] = *eval_tile_opnd(t, yield, k);
        for (uint32_t k = 0; k < n; k++) {
            *t->value[v + 2 + 2 * k] = next[k];
            if (results[k])
                t->value[results[k]][line->out_at + i * line->out_stride] = next[k];
        }
    }
    return TS_OK;
}

/* reduce and scan: every line along the axis by itself. */
static ts_status tile_fold(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    ts_type type = ts_type_of(t->fn, ts_opnd(t->fn, v, 0));
    const int64_t *dims = ts_type_dims(t->module, type);
    uint32_t axis = ts_pool(t->fn, inst)[0], rank = ts_type_rank(t->module, type);
    if (axis >= rank || inst->n_opnd == 0 || inst->n_opnd > 64)
        return eval_fail(&t->run, v, TS_VERIFY, "axis %u of rank %u, %u inputs", axis, rank, inst->n_opnd);
    int64_t inner = 1, count = ts_type_count(t->module, type);
    for (uint32_t d = axis + 1; d < rank; d++)
        inner *= dims[d];
    for (int64_t i = 0; i < count / dims[axis]; i++) {
        int64_t at = i / inner * inner * dims[axis] + i % inner;
        bool scan = inst->op == TS_OP_scan;
        tile_line line = {at, inner, dims[axis], scan ? at : i, scan ? inner : 0};
        TS_TRY(tile_fold_line(t, v, &line));
    }
    return TS_OK;
}

static ts_status tile_cold(eval_tile *t, ts_val v)
{
    ts_val yield;
    TS_TRY(tile_yield_of(t, v, &yield));
    const uint64_t *cond = eval_tile_opnd(t, v, 0);
    for (uint32_t k = 0; k + 1 < ts_at(t->fn, v)->n_opnd; k++) {
        ts_val res = tile_res(t, v, k);
        if (!res)
            continue;
        const uint64_t *old = eval_tile_opnd(t, v, k + 1), *made = eval_tile_opnd(t, yield, k);
        uint64_t *out = t->value[res];
        for (int64_t i = 0; i < ts_type_count(t->module, ts_type_of(t->fn, res)); i++)
            out[i] = cond[i] & 1 ? made[i] : old[i];
    }
    return TS_OK;
}

static ts_status tile_region(eval_tile *t, ts_val v)
{
    static eval_tile_fn *const run[TS_OP_COUNT] = {
        [TS_OP_if] = tile_if,       [TS_OP_for] = tile_for,   [TS_OP_loop] = tile_loop,
        [TS_OP_reduce] = tile_fold, [TS_OP_scan] = tile_fold, [TS_OP_cold] = tile_cold,
    };
    ts_op op = (ts_op)ts_at(t->fn, v)->op;
    if (!run[op] || t->depth >= EVAL_MAX_DEPTH)
        return eval_fail(&t->run, v, TS_VERIFY, "regions nest more than %d deep", EVAL_MAX_DEPTH);
    t->depth++;
    ts_status status = run[op](t, v);
    t->depth--;
    return status;
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static ts_status tile_prepare(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    const ts_module *m = t->module;
    uint32_t first = inst->op == TS_OP_select; /* the condition has its own type */
    ts_type from = ts_type_elem(m, ts_type_of(t->fn, ts_opnd(t->fn, v, first)));
    ts_scalar *made = TS_NEW(&t->run.arena, ts_scalar);
    if (!made)
        return eval_tile_nomem(t);
    if (!ts__scalar_prepare(made, m, (ts_op)inst->op, inst->aux, from, ts_type_elem(m, inst->type)))
        return eval_fail(&t->run, v, TS_VERIFY, "not an operation on elements");
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (ts_type_count(m, ts_type_of(t->fn, ts_opnd(t->fn, v, i))) != ts_type_count(m, inst->type))
            return eval_fail(&t->run, v, TS_VERIFY, "operand %u has another shape than the result", i);
    t->scalar[v] = made;
    return TS_OK;
}

static ts_status tile_elem(eval_tile *t, ts_val v)
{
    if (!t->scalar[v])
        TS_TRY(tile_prepare(t, v));
    const ts_inst *inst = ts_at(t->fn, v);
    const uint64_t *x[3] = {0};
    uint64_t *out = t->value[v];
    for (uint32_t i = 0; i < inst->n_opnd && i < 3; i++)
        x[i] = eval_tile_opnd(t, v, i);
    ts_scalar_fault fault = TS_SCALAR_OK;
    for (int64_t i = 0; i < ts_type_count(t->module, inst->type); i++) {
        uint64_t in[3] = {x[0] ? x[0][i] : 0, x[1] ? x[1][i] : 0, x[2] ? x[2][i] : 0};
        out[i] = ts__scalar_run(t->scalar[v], in, &fault);
    }
    return fault ? eval_fault(&t->run, v, (ts_fault){.code = TS_FAULT_DIV_ZERO}, "integer division by zero") : TS_OK;
}

eval_tile_fn *eval_tile_op(ts_op op)
{
    static eval_tile_fn *const run[TS_OP_COUNT] = {
#define X(name) [TS_OP_##name] = eval_tile_##name,
        EVAL_TILE_OPS(X)
#undef X
    };
    return op < TS_OP_COUNT ? run[op] : NULL;
}

/* Tokens have no value, the rest of these orders accesses that are in program order anyway. */
static bool tile_is_silent(ts_op op)
{
    static const bool silent[TS_OP_COUNT] = {
        [TS_OP_none] = true,          [TS_OP_arg] = true,         [TS_OP_res] = true,
        [TS_OP_end] = true,           [TS_OP_else] = true,        [TS_OP_token] = true,
        [TS_OP_make_token] = true,    [TS_OP_join_tokens] = true, [TS_OP_memory_fence_alias_tko] = true,
        [TS_OP_gdc_wait_tko] = true,  [TS_OP_gdc_launch_dependents_tko] = true,
    };
    return silent[op];
}

static ts_status tile_one(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    eval_tile_fn *run = eval_tile_op((ts_op)inst->op);
    if (run)
        return run(t, v);
    if (inst->op == TS_OP_call)
        return tile_call(t, v);
    if (ts_info(inst)->flags & TS_ELEM)
        return tile_elem(t, v);
    if (tile_is_silent((ts_op)inst->op))
        return TS_OK;
    return eval_fail(&t->run, v, TS_VERIFY, "%s does not exist at tile level", ts_info(inst)->name);
}

/* Runs instructions from..to-1; stops at a terminator. */
static ts_status tile_run(eval_tile *t, ts_val from, ts_val to)
{
    t->term = 0;
    for (ts_val v = from; v < to; v++) {
        uint16_t flags = ts_info(ts_at(t->fn, v))->flags;
        TS_TRY(eval_step(&t->run, v));
        if (flags & TS_TERM) {
            t->term = v;
            return TS_OK;
        }
        if (!(flags & TS_REGION)) {
            TS_TRY(tile_one(t, v));
            continue;
        }
        TS_TRY(tile_region(t, v));
        if (t->term)
            return TS_OK;
        v = t->run.shape.end[v];
    }
    return TS_OK;
}

/* ---- the grid ----------------------------------------------------------------------------------------- */

static ts_status tile_grid(eval_tile *t, const uint32_t grid[3])
{
    uint32_t *b = t->run.block;
    for (b[2] = 0; b[2] < grid[2]; b[2]++)
        for (b[1] = 0; b[1] < grid[1]; b[1]++)
            for (b[0] = 0; b[0] < grid[0]; b[0]++)
                TS_TRY(tile_run(t, 1, t->fn->inst.n));
    return TS_OK;
}

ts_status ts__eval_grid(const ts_fn *fn, const uint64_t *params, size_t n, const uint32_t grid[3], ts_eval_env *env,
                       ts_error *err)
{
    eval_tile t = {.module = fn->module};
    ts__arena_init(&t.scratch, env->alloc);
    ts_status status = ts__math_expand(fn, &t.scratch, &t.fn, err);
    if (status != TS_OK) {
        ts__arena_deinit(&t.scratch);
        return status;
    }
    status = eval_run_init(&t.run, t.fn, env, err);
    t.fn = t.run.fn;
    t.run.params = params;
    t.run.n_params = n;
    memcpy(t.run.grid, grid, sizeof t.run.grid);
    if (status == TS_OK && !tile_make_values(&t))
        status = eval_tile_nomem(&t);
    if (status == TS_OK)
        status = tile_grid(&t, grid);
    ts__arena_deinit(&t.scratch);
    eval_run_deinit(&t.run);
    return status;
}
