/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk over a tile function (lower.h): scalars are copied, control flow is rebuilt with tiles spread
 * into registers, everything else is looked up in one table. Values, their layouts and scopes live
 * here too. Cost: linear in the thread instructions produced.
 *
 *     %s = reduce %x ..          ─▶   adds, shuffles, st.shared, bar.sync, ld.shared, adds
 *     %f = for .. %acc : tile    ─▶   for .. with 2^n_reg carried thread values
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"
#include "gpu/lower/strategy.h"
#include "gpu/plan/resident.h"
#include "table/sm.h"
#include <stdio.h>

/* ---- errors and values ----------------------------------------------------------------------------------- */

bool ts__lower_fail(ts_lower *lw, ts_status status, ts_val v, const char *format, ...)
{
    if (lw->status != TS_OK)
        return false;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    uint32_t line = ts__loc_of(lw->tile, v)->line;
    const char *name = ts_str_get(lw->module, lw->tile->name);
    if (line)
        lw->status = ts_fail(lw->err, status, "kernel '%s', line %u: %s", name, line, text);
    else
        lw->status = ts_fail(lw->err, status, "kernel '%s': %s", name, text);
    return false;
}

ts_val *ts__lower_regs(ts_lower *lw, const ts_linear *layout)
{
    ts_val *regs = TS_NEW_N(lw->arena, ts_val, (size_t)1 << layout->n_reg);
    if (!regs && lw->status == TS_OK)
        lw->status = ts_fail(lw->err, TS_NOMEM, "out of memory while lowering a kernel");
    return regs ? regs : lw->values.nowhere;
}

uint32_t ts__lower_repeats(const ts_linear *layout)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        mask |= layout->reg[i] ? 0 : 1u << i;
    return mask;
}

static bool lower_is_tile(const ts_lower *lw, ts_val v)
{
    return ts_type_kind(lw->module, ts_type_of(lw->tile, v)) == TS_KIND_TILE;
}

static bool lower_is_token(const ts_lower *lw, ts_val v)
{
    return ts_type_of(lw->tile, v) == TS_T_token;
}

ts_type ts__lower_elem(const ts_lower *lw, ts_val v)
{
    return ts_type_elem(lw->module, ts_type_of(lw->tile, v));
}

ts_val ts__lower_scalar(ts_lower *lw, ts_val v)
{
    return lw->values.scalar[v];
}

void ts__lower_set(ts_lower *lw, ts_val v, const ts_linear *layout, const ts_val *reg)
{
    if (!lower_is_tile(lw, v)) {
        lw->values.scalar[v] = reg[0];
        return;
    }
    ts_assert(layout->n_warp == lw->assign.n_warp);
    ts_assert(ts_type_count(lw->module, ts_type_of(lw->tile, v)) == (int64_t)1 << layout->bits);
    layout = ts__assign_intern(&lw->assign, layout);
    if (TS_PUSH(lw->arena, &lw->values.held, ((ts_held){v, layout, reg, lw->values.newest[v]})))
        lw->values.newest[v] = lw->values.held.n;
}

const ts_linear *ts__lower_home(ts_lower *lw, ts_val v)
{
    ts_linear same = ts__linear_all_same(lw->assign.n_warp);
    if (!lower_is_tile(lw, v))
        return ts__assign_intern(&lw->assign, &same);
    if (lw->assign.home[v])
        return lw->assign.home[v];
    const ts_linear *usual = ts__assign_default(&lw->assign, lw->module, ts_type_of(lw->tile, v), TS_NO);
    if (!usual)
        ts__lower_fail(lw, TS_TILEVALUE, v,
                      "a tile of %lld elements does not fit the registers of %u threads; use smaller tiles",
                      (long long)ts_type_count(lw->module, ts_type_of(lw->tile, v)), 32u << lw->assign.n_warp);
    return usual ? usual : ts__assign_intern(&lw->assign, &same);
}

static const ts_val *lower_spread(ts_lower *lw, ts_val scalar, const ts_linear *layout)
{
    ts_val *regs = ts__lower_regs(lw, layout);
    for (uint32_t i = 0; i < 1u << layout->n_reg; i++)
        regs[i] = scalar;
    return regs;
}

const ts_val *ts__lower_get(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    if (!lower_is_tile(lw, v))
        return lower_spread(lw, lw->values.scalar[v], layout);
    ts_assert(ts_linear_is_sound(layout));
    ts_assert(ts_type_count(lw->module, ts_type_of(lw->tile, v)) == (int64_t)1 << layout->bits);
    ts__hook_read(lw, v);
    layout = ts__assign_intern(&lw->assign, layout);
    const ts_held *first = NULL;
    for (uint32_t i = lw->values.newest[v]; i; i = lw->values.held.at[i - 1].next) {
        first = &lw->values.held.at[i - 1];
        if (first->layout == layout)
            return first->reg;
    }
    const ts_val *regs;
    if (first && lw->assign.home[v]) /* the oldest entry: where the value was made */
        regs = ts__lower_convert(lw, v, ts__lower_elem(lw, v), first->layout, first->reg, layout);
    else
        regs = ts__lower_free(lw, v, layout);
    ts__lower_set(lw, v, layout, regs);
    return regs;
}

void ts__lower_open(ts_lower *lw)
{
    (void)TS_PUSH(lw->arena, &lw->values.scope, lw->values.held.n);
    ts__shared_forget(lw);
    lw->order.loaded = lw->order.ever_loaded;
    lw->order.stored = lw->order.ever_stored;
}

void ts__lower_drop(ts_lower *lw, uint32_t keep)
{
    ts_assert(keep <= lw->values.held.n || lw->arena->failed);
    while (lw->values.held.n > keep) {
        const ts_held *held = &lw->values.held.at[--lw->values.held.n];
        lw->values.newest[held->value] = held->next;
    }
}

void ts__lower_close(ts_lower *lw)
{
    ts_assert(lw->values.scope.n || lw->arena->failed); /* each ts__lower_open has one ts__lower_close */
    ts__lower_drop(lw, lw->values.scope.n ? lw->values.scope.at[--lw->values.scope.n] : 0);
    ts__shared_forget(lw);
    lw->order.loaded = lw->order.ever_loaded;
    lw->order.stored = lw->order.ever_stored;
}

/* ---- structure ------------------------------------------------------------------------------------------- */

void ts__lower_expand(ts_lower *lw, ts_val v, ts_val as, ts_vals *out)
{
    if (lower_is_token(lw, v))
        return;
    if (!lower_is_tile(lw, v)) {
        (void)TS_PUSH(lw->arena, &out->v, lw->values.scalar[v]);
        return;
    }
    const ts_linear *home = ts__lower_home(lw, as);
    const ts_val *regs = ts__lower_get(lw, v, home);
    for (uint32_t r = 0; r < 1u << home->n_reg; r++)
        if (!(r & ts__lower_repeats(home)))
            (void)TS_PUSH(lw->arena, &out->v, regs[r]);
}

const ts_val *ts__lower_bind(ts_lower *lw, ts_val v, const ts_val *from)
{
    if (lower_is_token(lw, v))
        return from;
    if (!lower_is_tile(lw, v)) {
        lw->values.scalar[v] = *from;
        return from + 1;
    }
    const ts_linear *home = ts__lower_home(lw, v);
    ts_val *regs = ts__lower_regs(lw, home);
    uint32_t repeats = ts__lower_repeats(home);
    for (uint32_t r = 0; r < 1u << home->n_reg; r++)
        regs[r] = r & repeats ? regs[r & ~repeats] : *from++;
    ts__lower_set(lw, v, home, regs);
    return from;
}

/* Gives `v` the thread values from `next` on; returns the one after. */
static ts_val lower_collect(ts_lower *lw, ts_val v, ts_val next)
{
    ts_val values[1 << TS_LAYOUT_REGS];
    uint32_t n = 1u << ts__lower_home(lw, v)->n_reg;
    for (uint32_t i = 0; i < n; i++)
        values[i] = next + i;
    return next + (ts_val)(ts__lower_bind(lw, v, values) - values);
}

void ts__lower_result_types(ts_lower *lw, ts_val opener, ts_vals *types)
{
    for (ts_val v = lw->shape.end[opener] + 1; v < lw->tile->inst.n; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        if (inst->op != TS_OP_res || inst->opnd[0] != opener)
            break;
        if (lower_is_token(lw, v))
            continue;
        const ts_linear *home = ts__lower_home(lw, v);
        for (uint32_t r = 0; r < 1u << home->n_reg; r++)
            if (!(r & ts__lower_repeats(home)))
                (void)TS_PUSH(lw->arena, &types->v, ts__lower_elem(lw, v));
    }
    if (ts_at(lw->tile, opener)->op == TS_OP_for)
        ts__hook_loop_types(lw, opener, types);
}

static void lower_begin(ts_lower *lw, ts_val tile, ts_val opener)
{
    (void)TS_PUSH(lw->arena, &lw->open, ((ts_open){tile, opener}));
    ts__lower_open(lw);
}

static void lower_if(ts_lower *lw, ts_val v)
{
    lower_begin(lw, v, ts_if_begin(&lw->b, lw->values.scalar[ts_opnd(lw->tile, v, 0)]));
}

static void lower_else(ts_lower *lw, ts_val v)
{
    (void)v;
    ts__lower_close(lw);
    ts_else(&lw->b);
    ts__lower_open(lw);
}

static void lower_for(ts_lower *lw, ts_val v)
{
    ts_inst inst = *ts_at(lw->tile, v);
    const uint32_t *opnds = ts_opnds(lw->tile, ts_at(lw->tile, v));
    ts_vals inits = {0};
    for (uint32_t i = 3; i < inst.n_opnd; i++)
        ts__lower_expand(lw, opnds[i], v + 2 + i - 3, &inits);
    ts__hook_loop_values(lw, v, &inits);
    ts_val range[] = {lw->values.scalar[opnds[0]], lw->values.scalar[opnds[1]], lw->values.scalar[opnds[2]]};
    ts__hook_loop_range(lw, v, range);
    ts__hook_loop_open(lw, v);
    ts_val opener = ts_for_begin(&lw->b, range[0], range[1], range[2], inits.v.n, inits.v.at, inst.aux);
    lower_begin(lw, v, opener);
    ts_val next = opener + 1;
    for (uint32_t i = 0; i + 2 < inst.n_opnd; i++)
        next = lower_collect(lw, v + 1 + i, next);
    (void)ts__hook_loop_enter(lw, v, next);
}

static void lower_loop(ts_lower *lw, ts_val v)
{
    ts_inst inst = *ts_at(lw->tile, v);
    ts_vals inits = {0};
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        ts__lower_expand(lw, ts_opnd(lw->tile, v, i), v + 1 + i, &inits);
    ts_val opener = ts_loop_begin(&lw->b, inits.v.n, inits.v.at);
    lower_begin(lw, v, opener);
    ts_val next = opener + 1;
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        next = lower_collect(lw, v + 1 + i, next);
}

/* The value whose home the i-th operand of a terminator takes. */
static ts_val lower_target(ts_lower *lw, ts_op op, uint32_t i)
{
    for (uint32_t k = lw->open.n; k-- > 0;) {
        ts_val opener = lw->open.at[k].tile;
        ts_op kind = (ts_op)ts_at(lw->tile, opener)->op;
        if (op != TS_OP_yield && kind == TS_OP_if)
            continue;
        if (op == TS_OP_continue)
            return opener + 1 + i + (kind == TS_OP_for);
        return lw->shape.end[opener] + 1 + i;
    }
    return 0;
}

/* The loop that `continue` repeats. */
static ts_val lower_repeated(const ts_lower *lw)
{
    uint32_t k = lw->open.n;
    while (k-- > 0)
        if (ts_at(lw->tile, lw->open.at[k].tile)->op != TS_OP_if)
            return lw->open.at[k].tile;
    return 0;
}

static void lower_term(ts_lower *lw, ts_val v)
{
    ts_inst inst = *ts_at(lw->tile, v);
    ts_vals values = {0};
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        ts__lower_expand(lw, ts_opnd(lw->tile, v, i), lower_target(lw, (ts_op)inst.op, i), &values);
    if (inst.op == TS_OP_continue)
        ts__hook_loop_next(lw, lower_repeated(lw), &values);
    if (inst.op == TS_OP_return)
        ts__hook_leave(lw);
    ts_term(&lw->b, (ts_op)inst.op, values.v.n, values.v.at);
}

static void lower_end(ts_lower *lw, ts_val v)
{
    (void)v;
    if (!lw->open.n)
        return;
    ts_open top = lw->open.at[--lw->open.n];
    ts_vals types = {0};
    ts__lower_result_types(lw, top.tile, &types);
    ts__lower_close(lw);
    ts_end(&lw->b, top.opener, types.v.n, types.v.at);
    ts_val next = lw->fn->inst.n - types.v.n;
    for (ts_val r = lw->shape.end[top.tile] + 1; r < lw->tile->inst.n; r++) {
        if (ts_at(lw->tile, r)->op != TS_OP_res || ts_at(lw->tile, r)->opnd[0] != top.tile)
            break;
        next = lower_collect(lw, r, next);
    }
    if (ts_at(lw->tile, top.tile)->op == TS_OP_for) {
        (void)ts__hook_loop_results(lw, top.tile, next);
        ts__hook_loop_end(lw, top.tile);
    }
}

void ts__lower_inline(ts_lower *lw, ts_val opener, const ts_val *args, ts_val *out)
{
    ts_val v = opener + 1, end = lw->shape.end[opener], *scalar = lw->values.scalar;
    for (; v < end && ts_at(lw->tile, v)->op == TS_OP_arg; v++)
        scalar[v] = args[ts_at(lw->tile, v)->aux];
    for (; v < end; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        if (inst->op == TS_OP_yield && lw->shape.parent[v] == opener) {
            for (uint32_t i = 0; i < inst->n_opnd; i++)
                out[i] = scalar[ts_opnds(lw->tile, inst)[i]];
            return;
        }
        if (inst->n_opnd == 2 && ts__ops[inst->op].rule == TS_RULE_BINI)
            scalar[v] = ts_op2(&lw->b, (ts_op)inst->op, scalar[inst->opnd[0]], scalar[inst->opnd[1]], inst->aux);
        else
            ts__copy(&lw->b, lw->tile, v, scalar);
    }
}

void ts__lower_combine(ts_lower *lw, ts_val v, const ts_val *acc, const ts_val *x, ts_val *out)
{
    ts_val args[2 * TS_COMBINE_INPUTS];
    ts_assert(ts_at(lw->tile, v)->n_opnd <= TS_COMBINE_INPUTS);
    for (uint32_t i = 0; i < ts_at(lw->tile, v)->n_opnd; i++) {
        args[2 * i] = x[i];
        args[2 * i + 1] = acc[i];
    }
    ts__lower_inline(lw, v, args, out);
}

/* ---- scalars and the grid -------------------------------------------------------------------------------- */

static void lower_nothing(ts_lower *lw, ts_val v)
{
    (void)lw;
    (void)v;
}

static void lower_copy(ts_lower *lw, ts_val v)
{
    ts__copy(&lw->b, lw->tile, v, lw->values.scalar);
}

static void lower_grid(ts_lower *lw, ts_val v)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    bool id = inst->op == TS_OP_get_tile_block_id;
    uint32_t sreg = (id ? TS_SREG_CTAID : TS_SREG_NCTAID) + inst->aux;
    if ((lw->assign.n_cta || lw->assign.tma.split || lw->assign.log_team) && inst->aux == 0)
        sreg = id ? TS_SREG_CLUSTER_ID : TS_SREG_NCLUSTER;
    lw->values.scalar[v] = ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(sreg, 0, 0), 0);
}

/* ---- the table --------------------------------------------------------------------------------------------- */

static ts_lower_fn *const lower_table[TS_OP_COUNT] = {
    [TS_OP_param] = lower_copy,
    [TS_OP_res] = lower_nothing, /* given by its opener */
    [TS_OP_arg] = lower_nothing,
    [TS_OP_if] = lower_if,
    [TS_OP_else] = lower_else,
    [TS_OP_for] = lower_for,
    [TS_OP_loop] = lower_loop,
    [TS_OP_cold] = ts__lower_cold,
    [TS_OP_end] = lower_end,
    [TS_OP_yield] = lower_term,
    [TS_OP_continue] = lower_term,
    [TS_OP_break] = lower_term,
    [TS_OP_return] = lower_term,
    [TS_OP_broadcast] = ts__lower_shape,
    [TS_OP_reshape] = ts__lower_shape,
    [TS_OP_permute] = ts__lower_shape,
    [TS_OP_assume] = ts__lower_shape,
    [TS_OP_constant] = ts__lower_shape,
    [TS_OP_iota] = ts__lower_shape,
    [TS_OP_cat] = ts__lower_cat,
    [TS_OP_extract] = ts__lower_extract,
    [TS_OP_insert] = ts__lower_insert,
    [TS_OP_pack] = ts__lower_pack,
    [TS_OP_unpack] = ts__lower_pack,
    [TS_OP_reduce] = ts__lower_reduce,
    [TS_OP_scan] = ts__lower_scan,
    [TS_OP_mmaf] = ts__lower_mma,
    [TS_OP_mmai] = ts__lower_mma,
    [TS_OP_mmaf_scaled] = ts__lower_mma,
    [TS_OP_get_tile_block_id] = lower_grid,
    [TS_OP_get_num_tile_blocks] = lower_grid,
    [TS_OP_make_tensor_view] = lower_nothing, /* read through by the accesses */
    [TS_OP_make_partition_view] = lower_nothing,
    [TS_OP_make_strided_view] = lower_nothing,
    [TS_OP_make_gather_scatter_view] = lower_nothing,
    [TS_OP_get_tensor_shape] = ts__lower_view_query,
    [TS_OP_get_index_space_shape] = ts__lower_view_query,
    [TS_OP_load_view_tko] = ts__lower_load_view,
    [TS_OP_store_view_tko] = ts__lower_store_view,
    [TS_OP_load_ptr_tko] = ts__lower_load_ptr,
    [TS_OP_store_ptr_tko] = ts__lower_store_ptr,
    [TS_OP_atomic_cas_tko] = ts__lower_atomic,
    [TS_OP_atomic_rmw_tko] = ts__lower_atomic,
    [TS_OP_atomic_red_view_tko] = ts__lower_atomic_view,
    [TS_OP_token] = lower_nothing,
    [TS_OP_make_token] = lower_nothing,
    [TS_OP_join_tokens] = lower_nothing,
    [TS_OP_memory_fence_alias_tko] = ts__lower_gdc,
    [TS_OP_gdc_launch_dependents_tko] = ts__lower_gdc,
    [TS_OP_gdc_wait_tko] = ts__lower_gdc,
    [TS_OP_assert] = ts__lower_assert,
    [TS_OP_fault] = ts__lower_fault,
    [TS_OP_print_tko] = ts__lower_print,
    [TS_OP_alloca] = ts__lower_alloca,
    [TS_OP_get_global] = lower_copy,
    [TS_OP_sreg] = lower_copy,
};

bool ts__lower_has(ts_op op)
{
    return lower_table[op] || ts__ops[op].flags & TS_ELEM;
}

ts_val ts__lower_inst(ts_lower *lw, ts_val v)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    lw->b.loc = lw->tile->loc.at[v];
    if (inst->op == TS_OP_cold && !lower_is_tile(lw, ts_opnd(lw->tile, v, 0))) {
        for (ts_val end = lw->shape.end[v]; v <= end; v++)
            ts__copy(&lw->b, lw->tile, v, lw->values.scalar);
        for (; v < lw->tile->inst.n && ts_at(lw->tile, v)->op == TS_OP_res; v++)
            ts__copy(&lw->b, lw->tile, v, lw->values.scalar);
        return v - 1;
    }
    if (ts__hook_skips(lw, v))
        return v;
    if (ts_info(inst)->flags & TS_REGION)
        ts__hook_region(lw, v);
    ts_val last = inst->op == TS_OP_for ? ts__hook_loop(lw, v) : 0;
    if (last)
        return last;
    if (ts__hook_load(lw, v))
        return v;
    if (lower_table[inst->op])
        lower_table[inst->op](lw, v);
    else if (ts_info(inst)->flags & TS_ELEM)
        ts__lower_elementwise(lw, v);
    else
        ts__lower_fail(lw, TS_INTERNAL, v, "operation '%s' has no lowering", ts_info(inst)->name);
    if (inst->op == TS_OP_reduce || inst->op == TS_OP_scan || inst->op == TS_OP_cold)
        return lw->shape.end[v];
    return v;
}

/* ---- the pass ----------------------------------------------------------------------------------------------- */

static bool lower_prepare(ts_lower *lw, ts_fn *fn)
{
    lw->tile = fn;
    lw->module = fn->module;
    lw->fn = ts__fn_create_like(fn);
    lw->values.scalar = TS_NEW_N(lw->arena, ts_val, fn->inst.n);
    lw->values.newest = TS_NEW_N(lw->arena, uint32_t, fn->inst.n);
    lw->values.nowhere = TS_NEW_N(lw->arena, ts_val, 1 << TS_LAYOUT_REGS);
    if (!lw->fn || !lw->values.nowhere || !lw->values.scalar || !lw->values.newest || !ts__order_init(lw) ||
        !ts__shape_of(fn, lw->arena, &lw->shape) || !ts__facts_of(fn, lw->arena, &lw->facts))
        return false;
    lw->fn->level = TS_LEVEL_S;
    ts__builder_init(&lw->b, lw->fn);
    lw->b.fold = true;
    const ts_sm *sm = ts__sm_find((uint32_t)lw->env->target);
    lw->shared.limit = sm ? sm->dynamic_shared : UINT32_MAX; /* the emitter says that it does not know the target */
    return true;
}

/* The hint `occupancy`, once threads and shared memory are known: no more blocks than there is room for. */
static void lower_residents(ts_lower *lw)
{
    uint32_t wanted = lw->tile->occupancy, threads = ts__lower_threads(lw), blocks = wanted;
    if (ts__pass_plan(lw->env))
        blocks = 0;
    else if (lw->assign.tma.active)
        blocks = TS_MIN(wanted, lw->assign.tma.blocks);
    else if (!wanted)
        blocks = ts__resident_default(lw->tile, threads, lw->arena);
    else
        blocks = ts__resident_code(lw->fn, lw->env->target, wanted, threads, lw->shared.peak, lw->arena);
    if (!blocks && !lw->assign.tma.active)
        blocks = ts__resident_full(lw->fn, threads, lw->arena);
    lw->fn->occupancy = (uint8_t)blocks;
    ts__resident_note(lw->tile, 1, wanted, blocks);
}

/* Threads of the blocks that share a tile block are numbered through. */
static ts_val lower_thread(ts_lower *lw)
{
    ts_val tid = ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_TID, 0, 0), 0);
    if (!lw->assign.n_cta)
        return tid;
    ts_val rank = ts_emit(&lw->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_CLUSTER_RANK, 0, 0), 0);
    uint32_t shift = TS_LAYOUT_LANES + lw->assign.n_warp - lw->assign.n_cta;
    return ts_op2(&lw->b, TS_OP_ori, tid, ts_op2(&lw->b, TS_OP_shli, rank, ts__lower_i32(lw, shift), 0), 0);
}

/* Parameters, the error record, the thread index: what must come first. */
static ts_val lower_entry(ts_lower *lw)
{
    ts_val v = 1;
    bool faults = false;
    for (; v < lw->tile->inst.n && ts_at(lw->tile, v)->op == TS_OP_param; v++)
        lower_copy(lw, v);
    for (ts_val i = v; i < lw->tile->inst.n; i++)
        faults = faults || ts_at(lw->tile, i)->op == TS_OP_assert || ts_at(lw->tile, i)->op == TS_OP_fault;
    if (faults || lw->tile->checked) {
        lw->faults.record = ts_fn_param(&lw->b, ts_type_ptr(lw->module, TS_T_i32, TS_GLOBAL));
        lw->env->plan->error_param = 1;
    }
    lw->tid = lower_thread(lw);
    return v;
}

ts_status ts__lower_with(ts_fn *fn, ts_pass_env *env, const ts_strategies *strategies, ts_text *messages, ts_error *err)
{
    ts_lower lw = {.env = env, .err = err, .arena = env->scratch};
    TS_TRY(ts__assign_run(fn, env, env->scratch, &lw.assign, err));
    if (!lower_prepare(&lw, fn) || !ts__strategies_open(&lw, strategies))
        return ts_fail(err, TS_NOMEM, "out of memory while lowering a kernel");
    lw.faults.messages = *messages;
    ts__hook_plan(&lw);
    ts_val first = lower_entry(&lw);
    ts__hook_begin(&lw);
    for (ts_val v = first; v < fn->inst.n && lw.status == TS_OK && !lw.arena->failed; v++)
        v = ts__lower_inst(&lw, v);
    *messages = lw.faults.messages;
    if (lw.status != TS_OK)
        return lw.status;
    if (env->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while lowering a kernel");
    TS_TRY(ts_builder_status(&lw.b, err));
    ts_assert(!lw.open.n && !lw.values.scope.n); /* every region was closed */
    env->plan->threads = ts__lower_threads(&lw);
    uint32_t log_cluster = TS_MAX(lw.assign.n_cta, TS_MAX(lw.assign.tma.log_split, lw.assign.log_team));
    if (log_cluster)
        env->plan->cluster = 1u << log_cluster;
    env->plan->shared_bytes = lw.shared.peak;
    lower_residents(&lw);
    if (env->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory while lowering a kernel");
    if (lw.assign.tma.active && lw.assign.tma.pingpong && lw.shared.peak > lw.assign.tma.shared)
        return ts_fail(err, TS_INTERNAL, "a move through shared memory in a kernel whose warpgroups would share it");
    ts__fn_replace(fn, lw.fn);
    return TS_OK;
}
