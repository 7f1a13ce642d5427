/* SPDX-License-Identifier: Apache-2.0
 *
 * Homes of loaded tiles (assign.h), which their readers decide:
 *
 *     only results of products on wgmma    their fragments, or a slice of those
 *     broadcast to such a fragment         as assign_vector.c wants it
 *     a product, through shared memory     vectors of 16 bytes, or such that turn
 *     parts of the tile alone              threads have both elements of a pair
 *     a store along another axis           two rows a thread, as assign_flip.c says
 *     all others                           coalesced
 *
 * Cost: for each load the instructions behind it until its reader is found.
 */
#include "gpu/plan/assign.h"

enum { LOAD_MAX_STEPS = 48 }; /* elementwise operations between a load and its broadcast */
enum { LOAD_VECTOR = 16, LOAD_COPY_LEAST = 4 }; /* bytes of the widest vector, and of the smallest copy by cp.async */

typedef struct load_work {
    const ts_fn *fn;
    ts_assign *out;
} load_work;

static bool load_is_tile(const load_work *w, ts_val v)
{
    return ts_type_kind(w->fn->module, ts_type_of(w->fn, v)) == TS_KIND_TILE;
}

/* The product that is the first reader of `v`, through permutes and reshapes, and which operand of it v becomes;
 * 0 = there is none. */
static ts_val load_product(const load_work *w, ts_val v, uint32_t *side)
{
    for (ts_val i = v + 1; i < w->fn->inst.n; i++) {
        const ts_inst *inst = ts_at(w->fn, i);
        for (uint32_t k = 0; k < inst->n_opnd; k++) {
            if (ts_opnds(w->fn, inst)[k] != v || inst->op == TS_OP_token)
                continue;
            *side = k;
            if (inst->op != TS_OP_permute && inst->op != TS_OP_reshape)
                return (inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai) && k < 2 ? i : 0;
            v = i;
        }
    }
    return 0;
}

/* The elements of operand `side` lie side by side along k in memory, but fma wants vectors along the other axis. */
static bool load_is_turned(const load_work *w, ts_val product, uint32_t side)
{
    ts_val x = ts_opnd(w->fn, product, side);
    bool permuted = false;
    for (; ts_at(w->fn, x)->op == TS_OP_permute || ts_at(w->fn, x)->op == TS_OP_reshape; x = ts_opnd(w->fn, x, 0))
        permuted = permuted || ts_at(w->fn, x)->op == TS_OP_permute;
    if (w->out->mma_path[product] != TS_MMA_PATH_FMA || ts_at(w->fn, x)->op != TS_OP_load_view_tko)
        return false;
    bool last = ts__view_unit_axis(w->fn, ts_opnd(w->fn, x, 0)) + 1 ==
                ts_type_rank(w->fn->module, ts_type_of(w->fn, x));
    return last == ((side == 0) != permuted) &&
           ts_type_bits(w->fn->module, ts_type_elem(w->fn->module, ts_type_of(w->fn, x))) >= 32;
}

/* Bytes of the vectors in which a load for a product travels. Small elements of lines that begin at multiples of 4 or 8
 * bytes: one copy a thread, so that those of a warp lie side by side. */
static uint32_t load_vector(const load_work *w, ts_val v, uint32_t bytes)
{
    int64_t align = ts__view_align(w->fn, ts_opnd(w->fn, v, 0));
    return bytes < LOAD_COPY_LEAST && (align == LOAD_COPY_LEAST || align == 2 * LOAD_COPY_LEAST) ? (uint32_t)align
                                                                                              : LOAD_VECTOR;
}

/* The layout of a load for a product. It meets no other layout: vectors of 16 bytes, whatever else the function holds.
 * What has to be turned is copied element by element, or, as two such operands would be too many copies, in squares
 * that turn in registers (measured on an H200). NULL: no product reads the load. */
static const ts_linear *load_operand(const load_work *w, ts_val v, uint32_t unit)
{
    ts_type type = ts_type_of(w->fn, v);
    uint32_t bytes = TS_MAX(1u, ts_type_bits(w->fn->module, ts_type_elem(w->fn->module, type)) / 8), side = 0;
    ts_val product = load_product(w, v, &side);
    if (!product)
        return NULL;
    bool turned = load_is_turned(w, product, side), both = turned && load_is_turned(w, product, 1 - side);
    uint32_t vec = turned && !both ? 0 : (uint32_t)ts_log2(TS_MAX(1u, load_vector(w, v, bytes) / bytes));
    return ts__assign_blocked(w->out, w->fn->module, type, unit, vec, both);
}

ts_val ts__only_reader(const ts_fn *fn, ts_val v)
{
    ts_val reader = 0;
    for (ts_val u = v + 1; u < fn->inst.n; u++) {
        const ts_inst *inst = ts_at(fn, u);
        for (uint32_t i = 0; inst->op != TS_OP_token && i < inst->n_opnd; i++)
            if (ts_opnds(fn, inst)[i] == v) {
                if (reader && reader != u)
                    return 0;
                reader = u;
            }
    }
    return reader;
}

/* Where the row or column `v`, perhaps after elementwise work, is spread over a result: that broadcast, or 0. */
static ts_val load_spread(const load_work *w, ts_val v)
{
    for (uint32_t steps = 0; v && steps < LOAD_MAX_STEPS; steps++) {
        v = ts__only_reader(w->fn, v);
        const ts_inst *inst = ts_at(w->fn, v);
        if (v && inst->op == TS_OP_broadcast)
            return ts__tma_result_of(w->fn, &w->out->tma, inst->type) ? v : 0;
        if (v && inst->op != TS_OP_reshape && (!(ts_info(inst)->flags & TS_ELEM) || !load_is_tile(w, v)))
            return 0;
    }
    return 0;
}

/* A tile that only meets results of products on wgmma is loaded straight into their fragments: moving it there would
 * take a barrier of the block, and room beside the stages. */
static const ts_linear *load_to_result(const load_work *w, ts_val v)
{
    ts_type type = ts_type_of(w->fn, v);
    /* or the blocks of a cluster have parts of results (schedule/split_k.c) */
    if (!w->out->tma.active || w->out->n_cta)
        return NULL;
    ts_val spread = 0, mma = ts__tma_result_of(w->fn, &w->out->tma, type);
    if (!mma)
        spread = load_spread(w, v);
    if (spread)
        mma = ts__tma_result_of(w->fn, &w->out->tma, ts_type_of(w->fn, spread));
    if (!mma)
        return NULL;
    ts_type c = ts_type_of(w->fn, mma), narrow = spread ? ts_type_of(w->fn, ts_opnd(w->fn, spread, 0)) : type;
    uint32_t rank = ts_type_rank(w->fn->module, c), mask = 0, n = ts_type_rank(w->fn->module, narrow);
    ts_linear layout = ts__wgmma_layout_of(w->fn->module, c, w->out->n_warp);
    for (uint32_t k = 1; k <= 2; k++)
        if (ts_type_dims(w->fn->module, narrow)[n - k] == 1)
            mask |= ts_axis_mask(ts__axis_of(w->fn->module, c, rank - k));
    if (mask)
        layout = ts__linear_slice(&layout, mask);
    return ts__assign_intern(w->out, &layout);
}

static bool load_is_read(const load_work *w, ts_val v, ts_val reader)
{
    const ts_inst *inst = ts_at(w->fn, reader);
    for (uint32_t i = 0; inst->op != TS_OP_token && i < inst->n_opnd; i++)
        if (ts_opnds(w->fn, inst)[i] == v)
            return true;
    return false;
}

/* Readers of `v`, through reshapes, are parts of it that threads take out of their registers in that layout. */
static bool load_is_parted(const load_work *w, ts_val v, const ts_linear *layout)
{
    bool found = false;
    for (ts_val u = v + 1; u < w->fn->inst.n; u++) {
        const ts_inst *inst = ts_at(w->fn, u);
        ts_linear to;
        ts_part part;
        if (!load_is_read(w, v, u))
            continue;
        bool parted = inst->op == TS_OP_reshape ? load_is_parted(w, u, layout)
                                                : inst->op == TS_OP_extract &&
                                                      ts__extract_registers(w->fn, u, layout, &to, &part);
        if (!parted)
            return false;
        found = true;
    }
    return found;
}

/* Pairs side by side, where the usual layout of the view would part them. */
static const ts_linear *load_pairs(const load_work *w, ts_val v, const ts_linear *usual)
{
    ts_type type = ts_type_of(w->fn, v);
    const ts_linear *pairs = ts__assign_blocked(w->out, w->fn->module, type, TS_NO, 1, false);
    return usual && pairs && !load_is_parted(w, v, usual) && load_is_parted(w, v, pairs) ? pairs : usual;
}

const ts_linear *ts__assign_load(ts_assign *out, const ts_fn *fn, ts_val v)
{
    load_work w = {.fn = fn, .out = out};
    ts_val view = ts_opnd(fn, v, 0);
    const ts_linear *found = load_to_result(&w, v);
    if (!found)
        found = out->want[v];
    if (!found)
        found = load_operand(&w, v, ts__view_unit_axis(fn, view));
    uint32_t across = found ? TS_NO : ts__flip_across(fn, v);
    if (across != TS_NO)
        found = ts__assign_pairs(out, fn->module, ts_type_of(fn, v), ts__view_unit_axis(fn, view), across);
    return found ? found : load_pairs(&w, v, ts__assign_for_view(out, fn, view, ts_type_of(fn, v)));
}
