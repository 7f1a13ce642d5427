/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout assignment (assign.h). One forward sweep gives every tile value a home or leaves it free; sweeps are
 * repeated until carried values of loops have found theirs. Cost: a few passes over the instructions.
 *
 *     %x = load_view_tko ..     coalesced home H           %y = addf %x, splat     H, the splat stays free
 *     %s = reduce %x axis 1     H without the axis bits    %b = broadcast %s       free: read through H's slice
 *     %a = arg 1 (accumulator)  the home of what `continue` hands back (here: the mma's fragments)
 *
 * Source of the idea: linear layouts with anchors, as described for Triton (Zhou et al., 2025). Next: lower.c.
 */
#include "ir/commute.h"
#include "gpu/plan/assign.h"
#include "gpu/plan/team.h"

typedef struct assign_work {
    const ts_fn *fn;
    ts_module *module;
    ts_assign *out;
    ts_shape shape;
    uint8_t *depth;      /* length of the chain of free values behind a value */
    bool changed, last;
    ts_val failed;       /* a value that does not fit */
} assign_work;

/* Longest chain of free values, which every reader writes anew; sweeps until carried values have settled, of which the
 * last two give a home to those that nothing else does. */
enum { ASSIGN_MAX_DEPTH = 240, ASSIGN_ROUNDS = 6 };

/* ---- homes ------------------------------------------------------------------------------------------- */

static bool assign_is_tile(const assign_work *w, ts_val v)
{
    return ts_type_kind(w->module, ts_type_of(w->fn, v)) == TS_KIND_TILE;
}

static void assign_set(assign_work *w, ts_val v, const ts_linear *layout)
{
    if (!assign_is_tile(w, v))
        return;
    if (!layout) {
        w->failed = w->failed ? w->failed : v;
        return;
    }
    w->changed = w->changed || w->out->home[v] != layout;
    w->out->home[v] = layout;
}

static void assign_set_copy(assign_work *w, ts_val v, const ts_linear *layout)
{
    assign_set(w, v, ts__assign_intern(w->out, layout));
}

static const ts_linear *assign_default(assign_work *w, ts_val v)
{
    const ts_linear *layout = ts__assign_default(w->out, w->module, ts_type_of(w->fn, v), TS_NO);
    if (!layout)
        w->failed = w->failed ? w->failed : v;
    return layout;
}

/* Work layout of an operation on operand `v`: its home, else the usual one. */
static const ts_linear *assign_work_layout(assign_work *w, ts_val v)
{
    return w->out->home[v] ? w->out->home[v] : assign_is_tile(w, v) ? assign_default(w, v) : NULL;
}

static void assign_free(assign_work *w, ts_val v, uint32_t depth)
{
    w->depth[v] = (uint8_t)TS_MIN(depth, 255u);
    if (depth >= ASSIGN_MAX_DEPTH && assign_is_tile(w, v)) {
        w->depth[v] = 0;
        assign_set(w, v, assign_default(w, v));
    }
}

/* The home of the first operand from `from` on that has one; *depth: of the chain of free values that ends here. */
static const ts_linear *assign_pick(const assign_work *w, const ts_inst *inst, uint32_t from, uint32_t *depth)
{
    const ts_linear *best = NULL;
    const uint32_t *opnds = ts_opnds(w->fn, inst);
    *depth = 0;
    for (uint32_t i = from; i < inst->n_opnd; i++) {
        const ts_linear *home = w->out->home[opnds[i]];
        if (home && !best)
            best = home;
        *depth = TS_MAX(*depth, w->depth[opnds[i]] + 1u);
    }
    return best;
}

/* The layout of the cold region around a value; NULL: there is none. All that is placed inside has it, because a change
 * of layout is a barrier, which the threads that pass by would not meet. */
static const ts_linear *assign_cold_around(const assign_work *w, ts_val v)
{
    ts_val opener = w->shape.parent[v];
    return opener && ts_at(w->fn, opener)->op == TS_OP_cold ? w->out->work[opener] : NULL;
}

static void assign_elementwise(assign_work *w, ts_val v)
{
    uint32_t depth;
    const ts_linear *home = assign_pick(w, ts_at(w->fn, v), 0, &depth), *around = assign_cold_around(w, v);
    home = home ? home : w->out->want[v];
    if (home)
        assign_set(w, v, around ? around : home);
    else
        assign_free(w, v, depth);
}

static void assign_constant(assign_work *w, ts_val v)
{
    assign_free(w, v, 0);
}

/* Read through the smaller tile's layout: free, whatever the operand is. */
static void assign_broadcast(assign_work *w, ts_val v)
{
    assign_free(w, v, w->depth[ts_opnd(w->fn, v, 0)] + 1u);
}

static void assign_reshape(assign_work *w, ts_val v)
{
    ts_val x = ts_opnd(w->fn, v, 0);
    if (w->out->home[x])
        assign_set(w, v, w->out->home[x]);
    else
        assign_free(w, v, w->depth[x] + 1u);
}

void ts__permute_bits(const ts_fn *fn, ts_val v, uint8_t *from)
{
    const uint32_t *axes = ts_pool(fn, ts_at(fn, v)) + 1;
    ts_type type = ts_type_of(fn, v), operand = ts_type_of(fn, ts_opnd(fn, v, 0));
    for (uint32_t axis = 0; axis < ts_type_rank(fn->module, type); axis++) {
        ts_axis_bits to = ts__axis_of(fn->module, type, axis), of = ts__axis_of(fn->module, operand, axes[axis]);
        for (uint32_t i = 0; i < to.n; i++)
            from[to.first + i] = (uint8_t)(of.first + i);
    }
}

static void assign_permute(assign_work *w, ts_val v)
{
    ts_val x = ts_opnd(w->fn, v, 0);
    uint8_t from[32] = {0};
    if (!w->out->home[x]) {
        assign_free(w, v, w->depth[x] + 1u);
        return;
    }
    ts__permute_bits(w->fn, v, from);
    ts_linear layout = ts__linear_permute(w->out->home[x], from);
    assign_set_copy(w, v, &layout);
}

/* Both halves in the layout of the first; the new flat bit is one more register. */
static void assign_cat(assign_work *w, ts_val v)
{
    ts_val x = ts_opnd(w->fn, v, 0), y = ts_opnd(w->fn, v, 1);
    const ts_linear *part = w->out->home[x] ? w->out->home[x] : assign_work_layout(w, y);
    ts_axis_bits axis = ts__axis_of(w->module, ts_type_of(w->fn, v), ts_at(w->fn, v)->aux);
    if (!part)
        return;
    uint32_t bit = 1u << (axis.first + axis.n - 1);
    ts_linear layout = ts__linear_insert(part, bit);
    if (layout.n_reg == TS_LAYOUT_REGS) {
        assign_set(w, v, NULL);
        return;
    }
    layout.reg[layout.n_reg++] = bit;
    w->out->work[v] = part;
    assign_set_copy(w, v, &layout);
}

static void assign_usual(assign_work *w, ts_val v)
{
    if (assign_is_tile(w, v))
        assign_set(w, v, assign_default(w, v));
}

static void assign_extract(assign_work *w, ts_val v)
{
    const ts_linear *from = w->out->home[ts_opnd(w->fn, v, 0)];
    ts_linear to;
    ts_part part;
    if (from && ts__extract_registers(w->fn, v, from, &to, &part))
        assign_set_copy(w, v, &to);
    else
        assign_usual(w, v);
}

/* A tile that TMA loads goes to shared memory and stays there. */
static void assign_load_view(assign_work *w, ts_val v)
{
    const ts_tma_load *tma = ts__tma_load_of(&w->out->tma, v);
    if (!tma || ts_tma_is_vector(tma))
        assign_set(w, v, ts__assign_load(w->out, w->fn, v));
}

/* Pointer operations work where their placed operands live: pointers first. */
static void assign_pointers(assign_work *w, ts_val v)
{
    uint32_t depth;
    if (!assign_is_tile(w, v))
        return;
    const ts_linear *home = assign_pick(w, ts_at(w->fn, v), 0, &depth);
    if (home && home->bits != (uint32_t)ts_log2((uint64_t)ts_type_count(w->module, ts_type_of(w->fn, v))))
        home = NULL;
    assign_set(w, v, home ? home : assign_default(w, v));
}

static void assign_results(assign_work *w, ts_val opener, const ts_linear *home)
{
    for (ts_val v = w->shape.end[opener] + 1; v < w->fn->inst.n && ts_at(w->fn, v)->op == TS_OP_res; v++)
        if (ts_at(w->fn, v)->opnd[0] == opener && home)
            assign_set(w, v, home);
}

static const ts_linear *assign_first_home(assign_work *w, const ts_inst *inst, uint32_t from)
{
    uint32_t depth;
    const ts_linear *home = assign_pick(w, inst, from, &depth);
    return home ? home : assign_work_layout(w, ts_opnds(w->fn, inst)[from]);
}

static void assign_reduce(assign_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_val x = ts_opnd(w->fn, v, 0);
    bool any_order = ts__body_commutes(w->fn, v);
    const ts_linear *work =
        any_order ? assign_first_home(w, inst, 0)
                  : ts__assign_default(w->out, w->module, ts_type_of(w->fn, x), ts_pool(w->fn, inst)[0]);
    if (!work)
        w->failed = any_order ? w->failed : x;
    if (!work)
        return;
    uint32_t mask =
        ts_axis_mask(ts__axis_of(w->module, ts_type_of(w->fn, ts_opnd(w->fn, v, 0)), ts_pool(w->fn, inst)[0]));
    ts_linear slice = ts__linear_slice(work, mask);
    w->out->work[v] = work;
    assign_results(w, v, ts__assign_intern(w->out, &slice));
}

/* Reductions in order and scans work on the axis in the order registers, lanes, registers, warps: the usual layout with
 * it first. */
static void assign_scan(assign_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_val x = ts_opnd(w->fn, v, 0);
    const ts_linear *work = ts__assign_default(w->out, w->module, ts_type_of(w->fn, x), ts_pool(w->fn, inst)[0]);
    w->out->work[v] = work;
    if (!work)
        w->failed = x;
    assign_results(w, v, work);
}

static void assign_cold(assign_work *w, ts_val v)
{
    const ts_linear *around = assign_cold_around(w, v);
    const ts_linear *work = around ? around : assign_first_home(w, ts_at(w->fn, v), 0);
    w->out->work[v] = work;
    assign_results(w, v, work);
}

/* ---- loops and ifs ------------------------------------------------------------------------------------- */

/* The i-th value that the terminators of kind `op` of this region hand on, preferring placed ones. */
static const ts_linear *assign_handed(assign_work *w, ts_val opener, ts_op op, uint32_t i)
{
    for (ts_val v = opener + 1; v < w->shape.end[opener]; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (inst->op != op || i >= inst->n_opnd)
            continue;
        uint32_t of = w->shape.parent[v];
        while (op != TS_OP_yield && of != opener && ts_at(w->fn, of)->op == TS_OP_if)
            of = w->shape.parent[of];
        const ts_linear *home = of == opener ? w->out->home[ts_opnds(w->fn, inst)[i]] : NULL;
        if (home)
            return home;
    }
    return NULL;
}

/* Home of a carried value: once found it stays, so that sweeps end. */
static void assign_carried(assign_work *w, ts_val v, const ts_linear *a, const ts_linear *b)
{
    if (!assign_is_tile(w, v) || w->out->home[v])
        return;
    if (a || b)
        assign_set(w, v, a ? a : b);
    else if (w->last)
        assign_set(w, v, assign_default(w, v));
}

static void assign_loop(assign_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    const uint32_t *opnds = ts_opnds(w->fn, inst);
    uint32_t skip = inst->op == TS_OP_for ? 3 : 0, args = inst->op == TS_OP_for ? 1 : 0;
    for (uint32_t i = 0; i + skip < inst->n_opnd; i++)
        assign_carried(w, v + 1 + args + i, assign_handed(w, v, TS_OP_continue, i), w->out->home[opnds[i + skip]]);
}

static void assign_end(assign_work *w, ts_val opener)
{
    const ts_inst *inst = ts_at(w->fn, opener);
    ts_op op = inst->op == TS_OP_if ? TS_OP_yield : inst->op == TS_OP_for ? TS_OP_continue : TS_OP_break;
    if (inst->op != TS_OP_if && inst->op != TS_OP_for && inst->op != TS_OP_loop)
        return;
    for (ts_val v = w->shape.end[opener] + 1; v < w->fn->inst.n && ts_at(w->fn, v)->op == TS_OP_res; v++) {
        if (ts_at(w->fn, v)->opnd[0] != opener)
            break;
        if (opener == w->out->tma.split) {
            assign_set(w, v, ts__split_share(w->out, w->fn));
            break;
        }
        uint32_t i = ts_at(w->fn, v)->aux;
        const ts_linear *arg = inst->op == TS_OP_for ? w->out->home[opener + 2 + i] : NULL;
        assign_carried(w, v, arg, assign_handed(w, opener, op, i));
    }
}

static void assign_mma(assign_work *w, ts_val v)
{
    assign_set(w, v, ts__assign_product(w->out, w->fn, v));
}

/* ---- the sweep ------------------------------------------------------------------------------------------- */

typedef void assign_fn(assign_work *w, ts_val v);
static assign_fn *const assign_table[TS_OP_COUNT] = {
    [TS_OP_constant] = assign_constant,
    [TS_OP_iota] = assign_constant,
    [TS_OP_broadcast] = assign_broadcast,
    [TS_OP_reshape] = assign_reshape,
    [TS_OP_assume] = assign_reshape,
    [TS_OP_permute] = assign_permute,
    [TS_OP_cat] = assign_cat,
    [TS_OP_extract] = assign_extract,
    [TS_OP_insert] = assign_usual,
    [TS_OP_pack] = assign_usual,
    [TS_OP_unpack] = assign_usual,
    [TS_OP_reduce] = assign_reduce,
    [TS_OP_scan] = assign_scan,
    [TS_OP_cold] = assign_cold,
    [TS_OP_mmaf] = assign_mma,
    [TS_OP_mmai] = assign_mma,
    [TS_OP_mmaf_scaled] = assign_usual,
    [TS_OP_load_view_tko] = assign_load_view,
    [TS_OP_load_ptr_tko] = assign_pointers,
    [TS_OP_atomic_cas_tko] = assign_pointers,
    [TS_OP_atomic_rmw_tko] = assign_pointers,
    [TS_OP_for] = assign_loop,
    [TS_OP_loop] = assign_loop,
};

static void assign_sweep(assign_work *w)
{
    ts_val open = 0; /* the innermost region */
    ts__split_apart(w->out);
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (ts_info(inst)->flags & TS_REGION)
            open = v;
        if (inst->op == TS_OP_end) {
            assign_end(w, open);
            open = w->shape.parent[open];
        } else if (assign_table[inst->op])
            assign_table[inst->op](w, v);
        else if (ts_info(inst)->flags & TS_ELEM && assign_is_tile(w, v))
            assign_elementwise(w, v);
    }
}

static bool assign_tables(ts_assign *out, ts_arena *arena, uint32_t n)
{
    out->arena = arena;
    out->home = TS_NEW_N(arena, const ts_linear *, n);
    out->work = TS_NEW_N(arena, const ts_linear *, n);
    out->want = TS_NEW_N(arena, const ts_linear *, n);
    out->mma_path = TS_NEW_N(arena, uint8_t, n);
    out->row = TS_NEW_N(arena, uint8_t, n);
    return out->home && out->work && out->want && out->mma_path && out->row;
}

/* From nothing to homes that no longer change. */
static void assign_rounds(assign_work *w)
{
    memset(w->out->home, 0, w->fn->inst.n * sizeof *w->out->home);
    memset(w->out->work, 0, w->fn->inst.n * sizeof *w->out->work);
    memset(w->depth, 0, w->fn->inst.n * sizeof *w->depth);
    for (uint32_t round = 0; round < ASSIGN_ROUNDS; round++) {
        w->changed = false;
        w->last = round + 2 >= ASSIGN_ROUNDS;
        assign_sweep(w);
        if (!w->changed && w->last)
            break;
    }
}

ts_status ts__assign_run(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_assign *out, ts_error *err)
{
    assign_work w = {.fn = fn, .module = fn->module, .out = out};
    *out = (ts_assign){0};
    w.depth = TS_NEW_N(arena, uint8_t, fn->inst.n);
    if (!w.depth || !assign_tables(out, arena, fn->inst.n) || !ts__shape_of(fn, arena, &w.shape))
        return ts_fail(err, TS_NOMEM, "out of memory while assigning layouts");
    out->log_team = ts__team_rank(fn) ? (uint32_t)ts_log2(fn->num_ctas) : 0;
    TS_TRY(ts__tma_plan(fn, env, arena, &out->tma, err));
    TS_TRY(ts__copied_plan(fn, env, arena, &out->tma, err));
    ts__assign_warps(out, fn, env);
    ts__assign_mma_paths(out, fn, env->target);
    assign_rounds(&w);
    bool vectors = !w.failed && ts__assign_vectors(out, fn, &w.shape);
    bool early = !w.failed && ts__assign_early(out, fn, &w.shape);
    if (vectors || early)
        assign_rounds(&w);
    ts__split_apart(out);
    if (w.failed)
        return ts_fail(
            err, TS_TILEVALUE,
            "a tile of %lld elements does not fit the registers of %u threads (at most %u elements each); use "
            "smaller tiles",
            (long long)ts_type_count(fn->module, ts_type_of(fn, w.failed)), 32u << out->n_warp, 1u << TS_LAYOUT_REGS);
    return arena->failed ? ts_fail(err, TS_NOMEM, "out of memory while assigning layouts") : TS_OK;
}
