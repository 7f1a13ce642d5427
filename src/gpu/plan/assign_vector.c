/* SPDX-License-Identifier: Apache-2.0
 *
 * Homes of loaded vectors (assign.h): a row or column that is broadcast to a larger tile is loaded at once as that
 * wants it, by several threads where they share it, instead of being moved there through shared memory in every step.
 * Beside products on wgmma, where tiles are accumulators (a bias, the log-sum-exp of attention), of vectors that
 * are loaded before the loop that reads them (the weights of a norm of many rows), and wherever neighbouring lanes want
 * neighbouring elements, each of them once (the weights beside a row that does not begin at a multiple of 16 bytes), or
 * a thread loads all that it wants at once, of small elements (a bias of float16 in a loop over columns took 22.8 us
 * and takes 20.8, on an H200; of float32 it was as before, and with several loads up to twice as slow).
 *
 *     %b = load_view_tko ..  : tile<1x128xf32>        wanted: the home of %y without the bits of axis 0
 *     %c = broadcast %b      : tile<64x128xf32>
 *     %y = addf %x, %c
 *
 * Runs between two rounds of sweeps: the first says where %y lives. Cost: linear but for short chains.
 */
#include "gpu/plan/assign.h"

/* Most elements of a vector beside products, log2; steps of the way to it; before loops: its registers, log2. */
enum { VECTOR_BITS = 9, VECTOR_STEPS = 12, VECTOR_REGS = 4 };
enum { VECTOR_LOAD = 128, VECTOR_SMALL = 16 }; /* bits of a load, and of an element of which threads share loads */

typedef struct vector_work {
    const ts_fn *fn;
    ts_assign *out;
    const ts_shape *shape;
    ts_val reader;
    bool found;
} vector_work;

static bool vector_is_tile(const vector_work *w, ts_val v)
{
    return ts_type_kind(w->fn->module, ts_type_of(w->fn, v)) == TS_KIND_TILE;
}

/* One axis at most is longer than 1: then flat bits stay what they are under reshape and permute. */
static bool vector_is_one(const vector_work *w, ts_val v)
{
    ts_type type = ts_type_of(w->fn, v);
    const int64_t *dims = ts_type_dims(w->fn->module, type);
    uint32_t n = 0;
    for (uint32_t i = 0; i < ts_type_rank(w->fn->module, type); i++)
        n += dims[i] > 1;
    return n <= 1 && (!w->out->tma.active || ts_type_count(w->fn->module, type) <= 1 << VECTOR_BITS);
}

/* Is the load made before the outermost loop that its reader stands in? */
static bool vector_is_before(const vector_work *w, ts_val load)
{
    ts_val loop = 0;
    for (ts_val p = w->shape->parent[w->reader]; p; p = w->shape->parent[p])
        loop = ts_at(w->fn, p)->op == TS_OP_for || ts_at(w->fn, p)->op == TS_OP_loop ? p : loop;
    return load < loop && !w->shape->parent[load];
}

/* Flat bits of the axes along which `v` repeats its operand. */
static uint32_t vector_repeated(const vector_work *w, ts_val v)
{
    ts_type to = ts_type_of(w->fn, v), from = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    uint32_t mask = 0;
    for (uint32_t i = 0; i < ts_type_rank(w->fn->module, to); i++)
        if (ts_type_dims(w->fn->module, from)[i] == 1)
            mask |= ts_axis_mask(ts__axis_of(w->fn->module, to, i));
    return mask;
}

/* Each element once, and side by side over the lanes. */
static bool vector_is_direct(const ts_linear *layout)
{
    ts_place same = ts__linear_replicas(layout);
    bool direct = !(same.reg | same.lane | same.warp);
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        direct = direct && layout->lane[i] == 1u << i;
    return direct;
}

/* All of a thread in one load, of small elements: of 32 bits kernels wait for memory whatever they do. */
static bool vector_is_single(const vector_work *w, ts_val v, const ts_linear *layout)
{
    uint32_t bits = ts_type_bits(w->fn->module, ts_type_elem(w->fn->module, ts_type_of(w->fn, v)));
    bool whole = ts__linear_vector(layout, NULL) == layout->n_reg && bits << layout->n_reg <= VECTOR_LOAD;
    return bits <= VECTOR_SMALL && (!layout->n_reg || (whole && ts__view_has_vectors(w->fn, ts_opnd(w->fn, v, 0))));
}

static void vector_want(vector_work *w, ts_val v, const ts_linear *layout)
{
    const ts_tma_load *tma = ts__tma_load_of(&w->out->tma, v);
    if ((tma && !ts_tma_is_vector(tma)) || w->out->want[v] || ts__linear_equal(layout, w->out->home[v]) ||
        (!w->out->tma.active && !vector_is_direct(layout) && !vector_is_single(w, v, layout) &&
         (layout->n_reg > VECTOR_REGS || !vector_is_before(w, v))))
        return;
    w->out->want[v] = ts__assign_intern(w->out, layout);
    w->found = true;
}

/* Follows a vector back to the loads it is made of. */
static void vector_follow(vector_work *w, ts_val v, const ts_linear *layout, uint32_t steps)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (!vector_is_tile(w, v) || !vector_is_one(w, v) || steps == VECTOR_STEPS)
        return;
    bool same = ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_reshape || inst->op == TS_OP_permute ||
                inst->op == TS_OP_assume;
    if (inst->op == TS_OP_load_view_tko && w->out->home[v])
        vector_want(w, v, layout);
    for (uint32_t i = 0; same && i < inst->n_opnd; i++)
        vector_follow(w, ts_opnds(w->fn, inst)[i], layout, steps + 1);
}

/* Operand x of an elementwise operation that lives in `home`. */
static void vector_read(vector_work *w, ts_val x, const ts_linear *home)
{
    if (!vector_is_tile(w, x))
        return;
    if (w->out->home[x] && !w->out->tma.active && vector_is_direct(home))
        vector_follow(w, x, home, 0);
    if (ts_at(w->fn, x)->op != TS_OP_broadcast || w->out->home[x])
        return;
    ts_val from = ts_opnd(w->fn, x, 0);
    ts_linear slice = ts__linear_slice(home, vector_repeated(w, x));
    vector_follow(w, from, &slice, 0);
}

bool ts__assign_vectors(ts_assign *out, const ts_fn *fn, const ts_shape *shape)
{
    vector_work w = {.fn = fn, .out = out, .shape = shape};
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        w.reader = v;
        for (uint32_t i = 0; ts_info(inst)->flags & TS_ELEM && out->home[v] && i < inst->n_opnd; i++)
            vector_read(&w, ts_opnds(fn, inst)[i], out->home[v]);
    }
    return w.found;
}
