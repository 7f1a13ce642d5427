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
#include "target/ptx/assign.h"
#include "ir/note.h"

typedef struct assign_work {
    const ts_fn *fn;
    ts_module *module;
    ts_assign *out;
    ts_shape shape;
    uint8_t *depth;      /* length of the chain of free values behind a value */
    bool has_reduce, changed, last;
    ts_val failed;       /* a value that does not fit */
} assign_work;

enum { ASSIGN_MAX_WARPS = 5 /* log2, in a thread block */, ASSIGN_MAX_DEPTH = 48, ASSIGN_ROUNDS = 6 };

ts_axis_bits ts_axis_of(const ts_module *module, ts_type type, uint32_t axis)
{
    const int64_t *dims = ts_type_dims(module, type);
    ts_axis_bits bits = {0, 0};
    for (uint32_t i = ts_type_rank(module, type); i-- > axis + 1;)
        bits.first += (uint32_t)ts_log2((uint64_t)dims[i]);
    bits.n = (uint32_t)ts_log2((uint64_t)dims[axis]);
    return bits;
}

const ts_layout *ts_assign_intern(ts_assign *assign, const ts_layout *layout)
{
    for (uint32_t i = 0; i < assign->interned.n; i++)
        if (ts_layout_equal(assign->interned.at[i], layout))
            return assign->interned.at[i];
    ts_layout *copy = TS_NEW(assign->arena, ts_layout);
    if (!copy)
        return layout;
    *copy = *layout;
    (void)TS_PUSH(assign->arena, &assign->interned, copy);
    return copy;
}

/* Flat bits with axis `first` fastest, then the others from last to first. */
static void assign_order(const ts_module *module, ts_type type, uint32_t first, uint8_t *order)
{
    uint32_t n = 0, rank = ts_type_rank(module, type);
    for (uint32_t step = 0; step <= rank; step++) {
        uint32_t axis = step == 0 ? first : rank - step;
        if (axis >= rank || (step && axis == first))
            continue;
        ts_axis_bits bits = ts_axis_of(module, type, axis);
        for (uint32_t i = 0; i < bits.n; i++)
            order[n++] = (uint8_t)(bits.first + i);
    }
}

/* Moves the bits that would go to warps to the end and gives warps the uppermost ones: each warp then has one
 * piece of the tile, so that a scan crosses warps once. */
static void assign_warps_last(uint8_t *order, uint32_t bits, uint32_t first, uint32_t n_warp)
{
    uint8_t old[32];
    if (bits <= first + n_warp)
        return;
    memcpy(old, order, sizeof old);
    memcpy(order + first, old + bits - n_warp, n_warp);
    memcpy(order + first + n_warp, old + first, bits - n_warp - first);
}

/* The first bits of `order` are an axis of `n` bits: brings the first `vec` bits of the next one forward behind as many
 * of its own. */
static void assign_squares(uint8_t *order, uint32_t n, uint32_t vec)
{
    uint8_t rows[32];
    memcpy(rows, order + n, vec);
    memmove(order + 2 * vec, order + vec, n - vec);
    memcpy(order + vec, rows, vec);
}

/* Elements from axis `first` on dealt out in vectors of 2^vec, shorter ones where threads would idle; for `square`
 * each thread takes as many rows of them, so that it can pass them on along either axis. */
static const ts_layout *assign_blocked(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first,
                                       uint32_t vec, bool square)
{
    uint8_t order[32];
    ts_layout layout;
    uint32_t bits = (uint32_t)ts_log2((uint64_t)ts_type_count(module, type));
    uint32_t threads = TS_LAYOUT_LANES + assign->n_warp, idle = bits > threads ? bits - threads : 0;
    uint32_t n = first < ts_type_rank(module, type) ? ts_axis_of(module, type, first).n : 0;
    assign_order(module, type, first, order);
    if (square && n > vec && bits >= n + vec) {
        assign_squares(order, n, vec);
        vec *= 2;
    }
    if (assign->scans)
        assign_warps_last(order, bits, TS_MIN(vec, idle) + TS_LAYOUT_LANES, assign->n_warp);
    if (!ts_layout_blocked(&layout, bits, order, TS_MIN(vec, idle), assign->n_warp))
        return NULL;
    return ts_assign_intern(assign, &layout);
}

const ts_layout *ts_assign_default(ts_assign *assign, const ts_module *module, ts_type type, uint32_t first)
{
    return assign_blocked(assign, module, type, first, assign->vec, false);
}

const ts_layout *ts_assign_for_view(ts_assign *assign, const ts_fn *fn, ts_val view, ts_type type)
{
    uint32_t vec = assign->scans || ts_view_has_vectors(fn, view) ? assign->vec : 0;
    return assign_blocked(assign, fn->module, type, ts_view_unit_axis(fn, view), vec, false);
}

/* ---- views ------------------------------------------------------------------------------------------- */

/* Stride of an axis of the view, TS_DYNAMIC when it is not known. */
static int64_t assign_stride(const ts_fn *fn, ts_val view, const ts_type_info *tensor, uint32_t of)
{
    int64_t value;
    const ts_inst *make = ts_at(fn, ts_opnd(fn, view, 0));
    uint32_t at = 1;
    if (tensor->strides[of] != TS_DYNAMIC || make->op != TS_OP_make_tensor_view)
        return tensor->strides[of];
    for (uint32_t i = 0; i < tensor->rank; i++)
        at += tensor->dims[i] == TS_DYNAMIC;
    for (uint32_t i = 0; i < of; i++)
        at += tensor->strides[i] == TS_DYNAMIC;
    return at < make->n_opnd && ts_const_as_int(fn, ts_opnds(fn, make)[at], &value) ? value : TS_DYNAMIC;
}

/* An axis of the array with more than one element is preferred: the others have stride 1 by name only. */
uint32_t ts_view_unit_axis(const ts_fn *fn, ts_val view)
{
    const ts_type_info *info = ts_type_get(fn->module, ts_type_of(fn, view));
    const ts_type_info *tensor = ts_type_get(fn->module, info->elem);
    uint32_t found = TS_NO;
    for (uint32_t axis = info->rank; axis-- > 0;) {
        uint32_t of = info->dim_map && info->kind != TS_KIND_GATHER_SCATTER_VIEW ? (uint32_t)info->dim_map[axis] : axis;
        if (info->dims[axis] > 1 && assign_stride(fn, view, tensor, of) == 1 && (found == TS_NO || tensor->dims[of] != 1))
            found = axis;
    }
    return found;
}

/* ---- homes ------------------------------------------------------------------------------------------- */

static bool assign_is_tile(const assign_work *w, ts_val v)
{
    return ts_type_kind(w->module, ts_type_of(w->fn, v)) == TS_KIND_TILE;
}

static void assign_set(assign_work *w, ts_val v, const ts_layout *layout)
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

static void assign_set_copy(assign_work *w, ts_val v, const ts_layout *layout)
{
    assign_set(w, v, ts_assign_intern(w->out, layout));
}

static const ts_layout *assign_default(assign_work *w, ts_val v)
{
    const ts_layout *layout = ts_assign_default(w->out, w->module, ts_type_of(w->fn, v), TS_NO);
    if (!layout)
        w->failed = w->failed ? w->failed : v;
    return layout;
}

/* Work layout of an operation on operand `v`: its home, else the usual one. */
static const ts_layout *assign_work_layout(assign_work *w, ts_val v)
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

/* Elementwise: the home of the operands; among several the one with the most registers in use (an mma
 * fragment or a load rather than something sliced), and of equal ones the first. */
static const ts_layout *assign_pick(const assign_work *w, const ts_inst *inst, uint32_t from, uint32_t *depth)
{
    const ts_layout *best = NULL;
    const uint32_t *opnds = ts_opnds(w->fn, inst);
    *depth = 0;
    for (uint32_t i = from; i < inst->n_opnd; i++) {
        const ts_layout *home = w->out->home[opnds[i]];
        if (home && !best)
            best = home;
        *depth = TS_MAX(*depth, w->depth[opnds[i]] + 1u);
    }
    return best;
}

static void assign_elementwise(assign_work *w, ts_val v)
{
    uint32_t depth;
    const ts_layout *home = assign_pick(w, ts_at(w->fn, v), 0, &depth);
    if (home)
        assign_set(w, v, home);
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

/* from[i]: flat bit of the operand that becomes flat bit i of the result. */
static void assign_permute_bits(const ts_fn *fn, ts_val v, uint8_t *from)
{
    const uint32_t *axes = ts_pool(fn, ts_at(fn, v)) + 1;
    ts_type type = ts_type_of(fn, v), operand = ts_type_of(fn, ts_opnd(fn, v, 0));
    for (uint32_t axis = 0; axis < ts_type_rank(fn->module, type); axis++) {
        ts_axis_bits to = ts_axis_of(fn->module, type, axis), of = ts_axis_of(fn->module, operand, axes[axis]);
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
    assign_permute_bits(w->fn, v, from);
    ts_layout layout = ts_layout_permute(w->out->home[x], from);
    assign_set_copy(w, v, &layout);
}

/* Both halves in the layout of the first; the new flat bit is one more register. */
static void assign_cat(assign_work *w, ts_val v)
{
    ts_val x = ts_opnd(w->fn, v, 0), y = ts_opnd(w->fn, v, 1);
    const ts_layout *part = w->out->home[x] ? w->out->home[x] : assign_work_layout(w, y);
    ts_axis_bits axis = ts_axis_of(w->module, ts_type_of(w->fn, v), ts_at(w->fn, v)->aux);
    if (!part)
        return;
    uint32_t bit = 1u << (axis.first + axis.n - 1);
    ts_layout layout = ts_layout_insert(part, bit);
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

/* The product that is the first reader of `v`, through permutes and reshapes, and which operand of it v becomes;
 * 0 = there is none. */
static ts_val assign_product(const assign_work *w, ts_val v, uint32_t *side)
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
static bool assign_is_turned(const assign_work *w, ts_val product, uint32_t side)
{
    ts_val x = ts_opnd(w->fn, product, side);
    bool permuted = false;
    for (; ts_at(w->fn, x)->op == TS_OP_permute || ts_at(w->fn, x)->op == TS_OP_reshape; x = ts_opnd(w->fn, x, 0))
        permuted = permuted || ts_at(w->fn, x)->op == TS_OP_permute;
    if (w->out->way[product] != TS_MMA_WAY_FMA || ts_at(w->fn, x)->op != TS_OP_load_view_tko)
        return false;
    bool last = ts_view_unit_axis(w->fn, ts_opnd(w->fn, x, 0)) + 1 == ts_type_rank(w->module, ts_type_of(w->fn, x));
    return last == ((side == 0) != permuted) &&
           ts_type_bits(w->module, ts_type_elem(w->module, ts_type_of(w->fn, x))) >= 32;
}

/* The layout of a load for a product. It meets no other layout: vectors of 16 bytes, whatever else the function holds.
 * What has to be turned is copied element by element, or, as two such operands would be too many copies, in squares
 * that turn in registers (measured on an H200). NULL: no product reads the load. */
static const ts_layout *assign_load_operand(assign_work *w, ts_val v, uint32_t unit)
{
    ts_type type = ts_type_of(w->fn, v);
    uint32_t bytes = TS_MAX(1u, ts_type_bits(w->module, ts_type_elem(w->module, type)) / 8), side = 0;
    ts_val product = assign_product(w, v, &side);
    if (!product)
        return NULL;
    bool turned = assign_is_turned(w, product, side), both = turned && assign_is_turned(w, product, 1 - side);
    uint32_t vec = turned && !both ? 0 : (uint32_t)ts_log2(TS_MAX(1u, 16 / bytes));
    return assign_blocked(w->out, w->module, type, unit, vec, both);
}

/* The one instruction that reads `v`; 0 when there are none or several. */
static ts_val assign_reader(const assign_work *w, ts_val v)
{
    ts_val reader = 0;
    for (ts_val u = v + 1; u < w->fn->inst.n; u++) {
        const ts_inst *inst = ts_at(w->fn, u);
        for (uint32_t i = 0; inst->op != TS_OP_token && i < inst->n_opnd; i++)
            if (ts_opnds(w->fn, inst)[i] == v) {
                if (reader && reader != u)
                    return 0;
                reader = u;
            }
    }
    return reader;
}

/* Where the row or column `v`, perhaps after elementwise work, is spread over a result: that broadcast, or 0. */
static ts_val assign_spread(const assign_work *w, ts_val v)
{
    for (uint32_t steps = 0; v && steps < ASSIGN_MAX_DEPTH; steps++) {
        v = assign_reader(w, v);
        const ts_inst *inst = ts_at(w->fn, v);
        if (v && inst->op == TS_OP_broadcast)
            return ts_tma_result_of(w->fn, &w->out->tma, inst->type) ? v : 0;
        if (v && inst->op != TS_OP_reshape && (!(ts_info(inst)->flags & TS_ELEM) || !assign_is_tile(w, v)))
            return 0;
    }
    return 0;
}

/* A tile that only meets results of products on wgmma is loaded straight into their fragments: moving it there would
 * take a barrier of the block, and room beside the stages. */
static bool assign_to_result(assign_work *w, ts_val v)
{
    ts_type type = ts_type_of(w->fn, v);
    ts_val spread = 0, mma = w->out->tma.active ? ts_tma_result_of(w->fn, &w->out->tma, type) : 0;
    if (!mma && w->out->tma.active)
        spread = assign_spread(w, v);
    if (spread)
        mma = ts_tma_result_of(w->fn, &w->out->tma, ts_type_of(w->fn, spread));
    if (!mma)
        return false;
    ts_type c = ts_type_of(w->fn, mma), narrow = spread ? ts_type_of(w->fn, ts_opnd(w->fn, spread, 0)) : type;
    uint32_t rank = ts_type_rank(w->module, c), mask = 0, n = ts_type_rank(w->module, narrow);
    ts_layout layout =
        ts_wgmma_layout_c((uint32_t)ts_log2((uint64_t)ts_type_dims(w->module, c)[rank - 2]),
                          (uint32_t)ts_log2((uint64_t)ts_type_dims(w->module, c)[rank - 1]), w->out->n_warp);
    for (uint32_t k = 1; k <= 2; k++)
        if (ts_type_dims(w->module, narrow)[n - k] == 1)
            mask |= ts_axis_mask(ts_axis_of(w->module, c, rank - k));
    if (mask)
        layout = ts_layout_slice(&layout, mask);
    assign_set_copy(w, v, &layout);
    return true;
}

static void assign_load_view(assign_work *w, ts_val v)
{
    const ts_tma_load *tma = ts_tma_load_of(&w->out->tma, v);
    if ((tma && !ts_tma_is_vector(tma)) || assign_to_result(w, v))
        return; /* a tile that TMA loads goes to shared memory and stays there */
    uint32_t first = ts_view_unit_axis(w->fn, ts_opnd(w->fn, v, 0));
    const ts_layout *want = w->out->want[v] ? w->out->want[v] : assign_load_operand(w, v, first);
    assign_set(w, v, want ? want : ts_assign_for_view(w->out, w->fn, ts_opnd(w->fn, v, 0), ts_type_of(w->fn, v)));
}

/* Pointer operations work where their placed operands live: pointers first. */
static void assign_pointers(assign_work *w, ts_val v)
{
    uint32_t depth;
    if (!assign_is_tile(w, v))
        return;
    const ts_layout *home = assign_pick(w, ts_at(w->fn, v), 0, &depth);
    if (home && home->bits != (uint32_t)ts_log2((uint64_t)ts_type_count(w->module, ts_type_of(w->fn, v))))
        home = NULL;
    assign_set(w, v, home ? home : assign_default(w, v));
}

static void assign_results(assign_work *w, ts_val opener, const ts_layout *home)
{
    for (ts_val v = w->shape.end[opener] + 1; v < w->fn->inst.n && ts_at(w->fn, v)->op == TS_OP_res; v++)
        if (ts_at(w->fn, v)->opnd[0] == opener && home)
            assign_set(w, v, home);
}

static const ts_layout *assign_first_home(assign_work *w, const ts_inst *inst, uint32_t from)
{
    uint32_t depth;
    const ts_layout *home = assign_pick(w, inst, from, &depth);
    return home ? home : assign_work_layout(w, ts_opnds(w->fn, inst)[from]);
}

static void assign_reduce(assign_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    const ts_layout *work = assign_first_home(w, inst, 0);
    if (!work)
        return;
    uint32_t mask =
        ts_axis_mask(ts_axis_of(w->module, ts_type_of(w->fn, ts_opnd(w->fn, v, 0)), ts_pool(w->fn, inst)[0]));
    ts_layout slice = ts_layout_slice(work, mask);
    w->out->work[v] = work;
    assign_results(w, v, ts_assign_intern(w->out, &slice));
}

/* Scans work on the axis in the order registers, lanes, registers, warps: the usual layout with it first. */
static void assign_scan(assign_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_val x = ts_opnd(w->fn, v, 0);
    const ts_layout *work = ts_assign_default(w->out, w->module, ts_type_of(w->fn, x), ts_pool(w->fn, inst)[0]);
    w->out->work[v] = work;
    if (!work)
        w->failed = x;
    assign_results(w, v, work);
}

static void assign_cold(assign_work *w, ts_val v)
{
    const ts_layout *work = assign_first_home(w, ts_at(w->fn, v), 0);
    w->out->work[v] = work;
    assign_results(w, v, work);
}

/* ---- loops and ifs ------------------------------------------------------------------------------------- */

/* The i-th value that the terminators of kind `op` of this region hand on, preferring placed ones. */
static const ts_layout *assign_handed(assign_work *w, ts_val opener, ts_op op, uint32_t i)
{
    for (ts_val v = opener + 1; v < w->shape.end[opener]; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (inst->op != op || i >= inst->n_opnd)
            continue;
        uint32_t of = w->shape.parent[v];
        while (op != TS_OP_yield && of != opener && ts_at(w->fn, of)->op == TS_OP_if)
            of = w->shape.parent[of];
        const ts_layout *home = of == opener ? w->out->home[ts_opnds(w->fn, inst)[i]] : NULL;
        if (home)
            return home;
    }
    return NULL;
}

/* Home of a carried value: once found it stays, so that sweeps end. */
static void assign_carried(assign_work *w, ts_val v, const ts_layout *a, const ts_layout *b)
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
        uint32_t i = ts_at(w->fn, v)->aux;
        const ts_layout *arg = inst->op == TS_OP_for ? w->out->home[opener + 2 + i] : NULL;
        assign_carried(w, v, arg, assign_handed(w, opener, op, i));
    }
}

/* ---- mma ----------------------------------------------------------------------------------------------- */

/* Where the bits of an mma.sync fragment live: letter k, m or n, then the bit; registers, '|', lanes. */
typedef struct assign_fragment {
    const char *c, *a, *b;
} assign_fragment;

static const assign_fragment assign_16bit = {"n0m3|n1n2m0m1m2", "k0m3k3|k1k2m0m1m2", "k0k3|k1k2n0n1n2"};
static const assign_fragment assign_k8 = {"n0m3|n1n2m0m1m2", "m3k2|k0k1m0m1m2", "k2|k0k1n0n1n2"};
static const assign_fragment assign_8bit = {"n0m3|n1n2m0m1m2", "k0k1m3k4|k2k3m0m1m2", "k0k1k4|k2k3n0n1n2"};
static const assign_fragment assign_f64 = {"n0|n1n2m0m1m2", "|k0k1m0m1m2", "|k0k1n0n1n2"};
static const assign_fragment assign_f64_k4 = {"n0m3|n1n2m0m1m2", "m3|k0k1m0m1m2", "|k0k1n0n1n2"};

typedef struct assign_row {
    uint8_t a, c, log_m, log_k;
    const assign_fragment *fragment;
} assign_row;

static const assign_row assign_rows[] = {
    [TS_MMA_m16n8k16_f16] = {TS_T_f16, TS_T_f32, 4, 4, &assign_16bit},
    [TS_MMA_m16n8k16_bf16] = {TS_T_bf16, TS_T_f32, 4, 4, &assign_16bit},
    [TS_MMA_m16n8k8_tf32] = {TS_T_tf32, TS_T_f32, 4, 3, &assign_k8},
    [TS_MMA_m16n8k32_s8] = {TS_T_i8, TS_T_i32, 4, 5, &assign_8bit},
    [TS_MMA_m16n8k8_f64] = {TS_T_f64, TS_T_f64, 4, 3, &assign_k8},
    [TS_MMA_m16n8k4_f64] = {TS_T_f64, TS_T_f64, 4, 2, &assign_f64_k4},
    [TS_MMA_m8n8k4_f64] = {TS_T_f64, TS_T_f64, 3, 2, &assign_f64},
    [TS_MMA_m16n8k32_e4m3] = {TS_T_f8E4M3FN, TS_T_f32, 4, 5, &assign_8bit},
    [TS_MMA_m16n8k32_e5m2] = {TS_T_f8E5M2, TS_T_f32, 4, 5, &assign_8bit},
};

/* Flat bits of a matrix tile: [batch,] rows, columns with log2 extents. */
typedef struct assign_axes {
    char row, column;
    uint32_t log_b, log_row, log_column;
} assign_axes;

/* Column of one letter and bit; 0 when the tile is too small to have it. */
static uint32_t assign_letter(const assign_axes *axes, char letter, uint32_t bit)
{
    if (letter == axes->column)
        return bit < axes->log_column ? 1u << bit : 0;
    return letter == axes->row && bit < axes->log_row ? 1u << (axes->log_column + bit) : 0;
}

/* Fills the registers and lanes of one instruction's fragment. */
static void assign_atom(ts_layout *layout, const char *text, const assign_axes *axes)
{
    bool lanes = false;
    uint32_t n_lane = 0;
    for (; *text; text++) {
        if (*text == '|') {
            lanes = true;
            continue;
        }
        uint32_t column = assign_letter(axes, text[0], (uint32_t)(text[1] - '0'));
        text++;
        if (lanes)
            layout->lane[n_lane++] = column;
        else
            layout->reg[layout->n_reg++] = column;
    }
}

static void assign_reg(ts_layout *layout, uint32_t column)
{
    if (column && layout->n_reg < TS_LAYOUT_REGS)
        layout->reg[layout->n_reg++] = column;
}

ts_layout ts_mma_layout_c(ts_mma row, const int64_t *dims, uint32_t rank, uint32_t n_warp, bool rows_first)
{
    const assign_row *info = &assign_rows[row];
    assign_axes axes = {'m', 'n', rank == 3 ? (uint32_t)ts_log2((uint64_t)dims[0]) : 0,
                        (uint32_t)ts_log2((uint64_t)dims[rank - 2]), (uint32_t)ts_log2((uint64_t)dims[rank - 1])};
    uint32_t m = axes.log_row, n = axes.log_column, b = axes.log_b;
    ts_layout layout = {.bits = (uint8_t)(m + n + b), .n_warp = (uint8_t)n_warp};
    assign_atom(&layout, info->fragment->c, &axes);
    uint32_t m_left = m, n_left = n, b_left = b;
    for (uint32_t i = 0; i < n_warp; i++) {
        bool can_m = m_left > info->log_m, can_n = n_left > 3;
        if (can_m && (rows_first || !can_n || m_left >= n_left))
            layout.warp[i] = 1u << (n + --m_left);
        else if (b_left)
            layout.warp[i] = 1u << (n + m + --b_left);
        else if (can_n)
            layout.warp[i] = 1u << --n_left;
    }
    for (uint32_t i = 3; i < n_left; i++)
        assign_reg(&layout, 1u << i);
    for (uint32_t i = info->log_m; i < m_left; i++)
        assign_reg(&layout, 1u << (n + i));
    for (uint32_t i = 0; i < b_left; i++)
        assign_reg(&layout, 1u << (n + m + i));
    return layout;
}

/* Adds the registers and warps of an operand: axis bits of C beyond the fragment, and all of k. */
static void assign_operand(ts_layout *layout, const ts_layout *c, uint32_t c_first, uint32_t c_n, uint32_t first,
                           uint32_t k_first, uint32_t k_from, uint32_t k_n, uint32_t c_batch, uint32_t batch,
                           uint32_t log_b)
{
    uint32_t in_atom = 0;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        in_atom |= layout->reg[i];
    for (uint32_t i = 0; i < c->n_reg; i++)
        for (uint32_t bit = 0; bit < c_n; bit++)
            if (c->reg[i] == 1u << (c_first + bit) && !(in_atom >> (first + bit) & 1) && bit >= 3)
                assign_reg(layout, 1u << (first + bit));
    for (uint32_t i = 0; i < c->n_reg; i++)
        for (uint32_t bit = 0; bit < log_b; bit++)
            if (c->reg[i] == 1u << (c_batch + bit))
                assign_reg(layout, 1u << (batch + bit));
    for (uint32_t i = k_from; i < k_n; i++)
        assign_reg(layout, 1u << (k_first + i));
    for (uint32_t i = 0; i < c->n_warp; i++) {
        uint32_t axis = c->warp[i] >> c_first & ((1u << c_n) - 1), b = c->warp[i] >> c_batch & ((1u << log_b) - 1);
        layout->warp[i] = axis << first | b << batch;
    }
}

ts_layout ts_mma_layout_a(ts_mma row, const ts_layout *c, uint32_t log_b, uint32_t log_m, uint32_t log_n,
                          uint32_t log_k)
{
    assign_axes axes = {'m', 'k', log_b, log_m, log_k};
    ts_layout layout = {.bits = (uint8_t)(log_b + log_m + log_k), .n_warp = c->n_warp};
    assign_atom(&layout, assign_rows[row].fragment->a, &axes);
    assign_operand(&layout, c, log_n, log_m, log_k, 0, assign_rows[row].log_k, log_k, log_n + log_m, log_m + log_k,
                   log_b);
    return layout;
}

ts_layout ts_mma_layout_b(ts_mma row, const ts_layout *c, uint32_t log_b, uint32_t log_m, uint32_t log_n,
                          uint32_t log_k)
{
    assign_axes axes = {'k', 'n', log_b, log_k, log_n};
    ts_layout layout = {.bits = (uint8_t)(log_b + log_n + log_k), .n_warp = c->n_warp};
    assign_atom(&layout, assign_rows[row].fragment->b, &axes);
    assign_operand(&layout, c, 0, log_n, 0, log_n, assign_rows[row].log_k, log_k, log_n + log_m, log_n + log_k, log_b);
    return layout;
}

/* The row of mma.def for these types on this target; TS_MMA_COUNT when there is none. */
static uint32_t assign_mma_row(ts_target target, ts_type a, ts_type b, ts_type c, const int64_t *dims_a, uint32_t rank)
{
    static const uint8_t least[] = {
#define TS_MMA(name, m, n, k, ta, tb, tc, ra, rb, rc, sm) [TS_MMA_##name] = sm,
#include "ir/mma.def"
    };
    for (uint32_t row = 0; row < TS_COUNT(assign_rows); row++) {
        const assign_row *info = &assign_rows[row];
        if (info->a == a && a == b && (info->c == c || (info->c == TS_T_f32 && c == TS_T_f16)) &&
            (uint32_t)target >= least[row] && dims_a[rank - 1] >= (int64_t)1 << info->log_k)
            return row;
    }
    return TS_MMA_COUNT;
}

static void assign_mma(assign_work *w, ts_val v)
{
    ts_type tc = ts_type_of(w->fn, v);
    uint32_t rank = ts_type_rank(w->module, tc);
    const int64_t *dims = ts_type_dims(w->module, tc);
    if (w->out->way[v] == TS_MMA_WAY_WGMMA) {
        ts_layout layout = ts_wgmma_layout_c((uint32_t)ts_log2((uint64_t)dims[rank - 2]),
                                             (uint32_t)ts_log2((uint64_t)dims[rank - 1]), w->out->n_warp);
        assign_set_copy(w, v, &layout);
        return;
    }
    if (w->out->way[v] == TS_MMA_WAY_SYNC) {
        ts_layout layout = ts_mma_layout_c((ts_mma)w->out->row[v], dims, rank, w->out->n_warp, w->has_reduce);
        assign_set_copy(w, v, &layout);
        return;
    }
    ts_layout layout = ts_fma_layout_c(dims, rank, w->out->n_warp, w->has_reduce);
    assign_set(w, v, ts_layout_covers(&layout) ? ts_assign_intern(w->out, &layout) : NULL);
}

/* Decides the way of every mma before the sweeps. */
static void assign_ways(assign_work *w, ts_target target)
{
    const ts_fn *fn = w->fn;
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        w->has_reduce = w->has_reduce || inst->op == TS_OP_reduce;
        if (inst->op != TS_OP_mmaf && inst->op != TS_OP_mmai)
            continue;
        ts_type a = ts_type_of(fn, inst->opnd[0]), b = ts_type_of(fn, inst->opnd[1]), c = inst->type;
        uint32_t row =
            assign_mma_row(target, ts_type_elem(w->module, a), ts_type_elem(w->module, b), ts_type_elem(w->module, c),
                           ts_type_dims(w->module, a), ts_type_rank(w->module, a));
        w->out->way[v] = ts_wgmma_of(&w->out->tma, v) ? TS_MMA_WAY_WGMMA
                         : row < TS_MMA_COUNT         ? TS_MMA_WAY_SYNC
                                                      : TS_MMA_WAY_FMA;
        w->out->row[v] = (uint8_t)row;
        static const char *const names[] = {
            [TS_MMA_WAY_FMA] = "fma", [TS_MMA_WAY_SYNC] = "mma.sync", [TS_MMA_WAY_WGMMA] = "wgmma"};
        ts_note(fn, v, TS_NOTE_product, names[w->out->way[v]], "%u warps", 1u << w->out->n_warp);
    }
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
    [TS_OP_extract] = assign_usual,
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
    uint32_t open[512], depth = 0;
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (ts_info(inst)->flags & TS_REGION && depth < TS_COUNT(open))
            open[depth++] = v;
        if (inst->op == TS_OP_end && depth)
            assign_end(w, open[--depth]);
        else if (assign_table[inst->op])
            assign_table[inst->op](w, v);
        else if (ts_info(inst)->flags & TS_ELEM && assign_is_tile(w, v))
            assign_elementwise(w, v);
    }
}

/* ---- warps ------------------------------------------------------------------------------------------------ */

typedef struct assign_sizes {
    uint32_t bits, least, most; /* largest tile of a memory access; element bytes */
    uint32_t mma_bits, mma_rows, mma_words, any_bits; /* words: of an accumulator, log2 */
    bool reduces, scans;
} assign_sizes;

static void assign_measure_type(const ts_module *module, ts_type type, assign_sizes *sizes)
{
    if (ts_type_kind(module, type) != TS_KIND_TILE)
        return;
    uint32_t bytes = TS_MAX(1u, ts_type_bits(module, ts_type_elem(module, type)) / 8);
    sizes->bits = TS_MAX(sizes->bits, (uint32_t)ts_log2((uint64_t)ts_type_count(module, type)));
    if (bytes >= 2) {
        sizes->least = TS_MIN(sizes->least, bytes);
        sizes->most = TS_MAX(sizes->most, bytes);
    }
}

static assign_sizes assign_measure(const ts_fn *fn)
{
    assign_sizes sizes = {.least = 16};
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko)
            assign_measure_type(fn->module, inst->type, &sizes);
        if (inst->op == TS_OP_store_view_tko || inst->op == TS_OP_store_ptr_tko)
            assign_measure_type(fn->module, ts_type_of(fn, ts_opnd(fn, v, 1)), &sizes);
        uint32_t bits = ts_type_kind(fn->module, inst->type) == TS_KIND_TILE
                            ? (uint32_t)ts_log2((uint64_t)ts_type_count(fn->module, inst->type)) : 0;
        if (inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai) {
            uint32_t rank = ts_type_rank(fn->module, inst->type);
            sizes.mma_bits = TS_MAX(sizes.mma_bits, bits);
            sizes.mma_words = TS_MAX(sizes.mma_words, ts_type_elem(fn->module, inst->type) == TS_T_f64 ? 1u : 0u);
            sizes.mma_rows =
                TS_MAX(sizes.mma_rows, (uint32_t)ts_log2((uint64_t)ts_type_dims(fn->module, inst->type)[rank - 2]));
        }
        sizes.any_bits = TS_MAX(sizes.any_bits, bits);
        sizes.reduces = sizes.reduces || inst->op == TS_OP_reduce;
        sizes.scans = sizes.scans || inst->op == TS_OP_scan;
    }
    if (sizes.least == 16)
        sizes.least = sizes.most = 4;
    sizes.bits = sizes.bits ? sizes.bits : sizes.any_bits;
    return sizes;
}

/* Products: accumulators of 64 x 64 words a warp, the most that leaves registers for operands, since the traffic
 * of shared memory falls with the size of a warp's part. With reductions rows matter more. */
static uint32_t assign_mma_warps(const assign_sizes *sizes, uint32_t warps)
{
    if (sizes->mma_bits < 11)
        return TS_MIN(warps, 2u);
    if (sizes->reduces)
        return sizes->mma_bits >= 14 ? 3 : 2;
    return sizes->mma_bits + sizes->mma_words >= 15 ? 3 : 2;
}

/* Thread blocks for a tile block: what the kernel asks for, as far as each gets a warp's vectors. A cluster is one
 * large block to everything but products, whose loops they share (tma_split.c). */
static uint32_t assign_ctas(const ts_fn *fn, const ts_pass_env *env, const ts_assign *out, const assign_sizes *sizes)
{
    uint32_t least = TS_LAYOUT_LANES + out->vec;
    if (fn->num_ctas <= 1 || env->target < TS_TARGET_SM90 || out->tma.active || sizes->mma_bits || sizes->bits <= least)
        return 0;
    uint32_t wanted = (uint32_t)ts_log2(fn->num_ctas), most = TS_LAYOUT_WARPS - ASSIGN_MAX_WARPS;
    return TS_MIN(TS_MIN(wanted, most), sizes->bits - least);
}

/* 16 bytes a thread of the narrowest elements, at most 32 of the widest; then as many warps as that many
 * elements a thread leave busy: 1 to 16, and with a reduction, whose barriers cost more the more warps wait,
 * 1 to 4 until a thread has more than four vectors, then 8 until it has more than 64 elements (measured on an H200
 * and rows of 128 to 16384 elements). */
static void assign_threads(const ts_fn *fn, const ts_pass_env *env, ts_assign *out)
{
    assign_sizes sizes = assign_measure(fn);
    uint32_t vec = TS_MIN(16u / sizes.least, TS_MAX(1u, 32u / sizes.most)), warps = 0;
    uint32_t hint = fn->num_warps ? fn->num_warps : env->hints ? env->hints->num_worker_warps : 0;
    out->vec = (uint32_t)ts_log2(vec);
    out->scans = sizes.scans;
    out->n_cta = assign_ctas(fn, env, out, &sizes);
    sizes.bits -= out->n_cta;
    sizes.any_bits -= TS_MIN(sizes.any_bits, out->n_cta);
    if (sizes.bits > TS_LAYOUT_LANES + out->vec)
        warps = TS_MIN(!sizes.reduces ? 4u : sizes.bits > TS_LAYOUT_LANES + out->vec + 4 ? 3u : 2u,
                       sizes.bits - TS_LAYOUT_LANES - out->vec);
    if (sizes.mma_bits)
        warps = assign_mma_warps(&sizes, warps);
    if (sizes.mma_bits >= 11 && sizes.reduces && sizes.mma_rows > 4) /* attention: 16 whole rows a warp */
        warps = TS_MIN(3u, sizes.mma_rows - 4);
    if (sizes.any_bits > 14 && !sizes.mma_bits)
        warps = TS_MAX(warps, TS_MIN((uint32_t)ASSIGN_MAX_WARPS, sizes.any_bits - 11u));
    if (hint)
        warps = (uint32_t)ts_log2(TS_MIN(hint, 1u << ASSIGN_MAX_WARPS));
    out->n_warp = out->tma.active ? out->tma.n_warp : warps + out->n_cta;
}

static bool assign_tables(ts_assign *out, ts_arena *arena, uint32_t n)
{
    out->arena = arena;
    out->home = TS_NEW_N(arena, const ts_layout *, n);
    out->work = TS_NEW_N(arena, const ts_layout *, n);
    out->want = TS_NEW_N(arena, const ts_layout *, n);
    out->way = TS_NEW_N(arena, uint8_t, n);
    out->row = TS_NEW_N(arena, uint8_t, n);
    return out->home && out->work && out->want && out->way && out->row;
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

ts_status ts_assign_run(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_assign *out, ts_error *err)
{
    assign_work w = {.fn = fn, .module = fn->module, .out = out};
    *out = (ts_assign){0};
    w.depth = TS_NEW_N(arena, uint8_t, fn->inst.n);
    if (!w.depth || !assign_tables(out, arena, fn->inst.n) || !ts_shape_of(fn, arena, &w.shape))
        return ts_fail(err, TS_NOMEM, "out of memory while assigning layouts");
    TS_TRY(ts_tma_plan(fn, env, arena, &out->tma, err));
    assign_threads(fn, env, out);
    assign_ways(&w, env->target);
    assign_rounds(&w);
    if (!w.failed && ts_assign_vectors(out, fn))
        assign_rounds(&w);
    if (w.failed)
        return ts_fail(
            err, TS_TILEVALUE,
            "a tile of %lld elements does not fit the registers of %u threads (at most %u elements each); use "
            "smaller tiles",
            (long long)ts_type_count(fn->module, ts_type_of(fn, w.failed)), 32u << out->n_warp, 1u << TS_LAYOUT_REGS);
    return arena->failed ? ts_fail(err, TS_NOMEM, "out of memory while assigning layouts") : TS_OK;
}
