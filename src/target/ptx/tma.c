/* SPDX-License-Identifier: Apache-2.0
 *
 * Which matrix products run on wgmma and which loads become TMA copies (tma.h). A product qualifies when
 *   - its types have a wgmma form, m is a multiple of 64, n and k fit, the accumulator fits registers;
 *   - operand b, and a unless it is computed, is a tile loaded through a partition view for products
 *     alone, perhaps reshaped by ones, transposed, or rounded to tf32 on the way;
 *   - the view obeys TMA's rules: base a parameter aligned to 16 bytes, unit stride along one axis, other
 *     strides multiples of 16 bytes, extents parameters or constants, padding zero or NaN;
 *   - nothing stored by this function may be what is loaded, since the loads run ahead;
 *   - what the producer must know (bounds, indices) is scalar arithmetic.
 * Products that do not qualify keep the general way (lower_mma.c). Cost: linear, a few passes.
 */
#include "target/ptx/tma_plan.h"
#include "target/ptx/rotate.h"

const ts_tma_load *ts__tma_load_at(const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; i < tma->loads.n; i++)
        if (tma->loads.at[i].load == v && !tma->loads.at[i].made)
            return &tma->loads.at[i];
    return NULL;
}

const ts_tma_load *ts_tma_load_of(const ts_tma *tma, ts_val v)
{
    return tma->active ? ts__tma_load_at(tma, v) : NULL;
}

const ts_wgmma *ts_wgmma_of(const ts_tma *tma, ts_val v)
{
    for (uint32_t i = 0; tma->active && i < tma->products.n; i++)
        if (tma->products.at[i].mma == v)
            return &tma->products.at[i];
    return NULL;
}

ts_val ts_tma_result_of(const ts_fn *fn, const ts_tma *tma, ts_type type)
{
    const ts_module *module = fn->module;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_type c = ts_type_of(fn, tma->products.at[i].mma);
        uint32_t rank = ts_type_rank(module, type), rank_c = ts_type_rank(module, c);
        bool same = ts_type_kind(module, type) == TS_KIND_TILE && rank >= 2 &&
                    ts_type_count(module, type) == ts_type_count(module, c);
        for (uint32_t k = 1; same && k <= 2; k++)
            same = ts_type_dims(module, type)[rank - k] == ts_type_dims(module, c)[rank_c - k];
        if (same)
            return tma->products.at[i].mma;
    }
    return 0;
}

/* ---- types of products ---------------------------------------------------------------------------- */

typedef struct tma_row {
    uint8_t row, a, c, log_k; /* ts_mma; element types; log2 of k of one instruction */
    uint8_t mn_major, fast;   /* operands may be MN-major; only with fast accumulation */
} tma_row;
static const tma_row tma_rows[] = {
    {TS_MMA_m64k16_f16, TS_T_f16, TS_T_f32, 4, 1, 0},
    {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, 4, 1, 0},
    {TS_MMA_m64k8_tf32, TS_T_tf32, TS_T_f32, 3, 0, 0},
    {TS_MMA_m64k32_e4m3, TS_T_f8E4M3FN, TS_T_f32, 5, 0, 1}, /* sums keep 14 bits */
    {TS_MMA_m64k32_e5m2, TS_T_f8E5M2, TS_T_f32, 5, 0, 1},
    {TS_MMA_m64k32_s8, TS_T_i8, TS_T_i32, 5, 0, 0},
};

static ts_type tma_elem(const tma_work *w, ts_val v)
{
    return ts_type_elem(w->module, ts_type_of(w->fn, v));
}

static const tma_row *tma_row_of(const tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_type a = tma_elem(w, inst->opnd[0]), b = tma_elem(w, inst->opnd[1]), c = tma_elem(w, v);
    for (size_t i = 0; i < TS_COUNT(tma_rows); i++) {
        const tma_row *row = &tma_rows[i];
        if (row->a == a && a == b && row->c == c && (!row->fast || inst->aux & TS_A_FAST_ACC))
            return row;
    }
    return NULL;
}

/* ---- where an operand comes from -------------------------------------------------------------------- */

/* Follows axis `axis` of `v` one step back into its operand. Reshapes may only drop or add extents of 1. */
static bool tma_reshape_axis(const tma_work *w, ts_val v, uint32_t *axis)
{
    ts_type to = ts_type_of(w->fn, v), from = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    const int64_t *t = ts_type_dims(w->module, to), *f = ts_type_dims(w->module, from);
    uint32_t i = 0, j = 0, n = ts_type_rank(w->module, to), m = ts_type_rank(w->module, from), found = TS_NO;
    for (;; i++, j++) {
        while (i < n && t[i] == 1)
            i++;
        while (j < m && f[j] == 1)
            j++;
        if (i == n || j == m)
            break;
        if (t[i] != f[j])
            return false;
        found = i == *axis ? j : found;
    }
    *axis = found;
    return i == n && j == m && found != TS_NO;
}

static bool tma_looks_through(const ts_inst *inst)
{
    return inst->op == TS_OP_permute || inst->op == TS_OP_reshape || inst->op == TS_OP_ftof || inst->op == TS_OP_assume;
}

/* Counts the uses of every value that lead to operands of products, each once. */
static void tma_count_edges(tma_work *w)
{
    for (ts_val v = w->fn->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        for (uint32_t i = 0; product && i < 2; i++)
            w->edges[inst->opnd[i]]++;
        if (tma_looks_through(inst) && w->edges[v])
            w->edges[inst->opnd[0]]++;
    }
}

/* Operands of products that come down to `load`, by whatever way. */
static uint32_t tma_reached(const tma_work *w, ts_val load)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        for (uint32_t i = 0; product && i < 2; i++) {
            ts_val x = inst->opnd[i];
            while (tma_looks_through(ts_at(w->fn, x)))
                x = ts_opnd(w->fn, x, 0);
            n += x == load;
        }
    }
    return n;
}

/* Every reader of every load takes it from shared memory. */
static bool tma_all_from_shared(const tma_work *w)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < w->out->products.n; k++)
            n += (w->out->products.at[k].a == i ? 1u : 0u) + (w->out->products.at[k].b == i ? 1u : 0u);
        if (!w->out->loads.at[i].made && n != tma_reached(w, w->out->loads.at[i].load))
            return false;
    }
    return true;
}

/* The load behind an operand with its two axes, or 0. */
static ts_val tma_trace(const tma_work *w, ts_val v, ts_type want, uint32_t axes[2])
{
    for (uint32_t steps = 0; steps < 16; steps++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (w->uses[v] != w->edges[v])
            return 0;
        switch ((int)inst->op) {
        case TS_OP_load_view_tko:
            return v;
        case TS_OP_permute:
            axes[0] = ts_pool(w->fn, inst)[1 + axes[0]];
            axes[1] = ts_pool(w->fn, inst)[1 + axes[1]];
            break;
        case TS_OP_reshape:
            if (!tma_reshape_axis(w, v, &axes[0]) || !tma_reshape_axis(w, v, &axes[1]))
                return 0;
            break;
        case TS_OP_ftof: /* the copy itself rounds f32 to nearest tf32 */
            if (want != TS_T_tf32 || TS_A_ROUND(inst->aux) != TS_RN || tma_elem(w, inst->opnd[0]) != TS_T_f32)
                return 0;
            break;
        case TS_OP_assume:
            break;
        default:
            return 0;
        }
        v = inst->opnd[0];
    }
    return 0;
}

/* Adds the load behind operand `v`; TS_NO when it cannot be made by TMA. */
static uint32_t tma_operand(tma_work *w, ts_val v, uint32_t rank, const tma_row *row, uint32_t k_axis, bool *mn_major)
{
    ts_tma_load load;
    ts_plan_tmap map;
    uint32_t axes[2] = {rank - 2, rank - 1};
    ts_val from = tma_trace(w, v, row->a, axes);
    if (!from || w->env->plan->n_tmaps == TS_PLAN_TMAPS || !ts_tma_describe(w->fn, from, axes, row->a, &load, &map))
        return TS_NO;
    *mn_major = load.inner_axis != axes[k_axis];
    if (*mn_major && !row->mn_major)
        return TS_NO;
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (w->out->loads.at[i].load == from)
            return w->env->plan->tmap[w->out->loads.at[i].tmap].dtype == map.dtype ? i : TS_NO;
    load.tmap = w->env->plan->n_tmaps;
    load.group = TS_NO;
    if (!TS_PUSH(w->arena, &w->out->loads, load))
        return TS_NO;
    w->env->plan->tmap[w->env->plan->n_tmaps++] = map;
    return w->out->loads.n - 1;
}

bool ts__tma_is_made(const tma_work *w, const ts_wgmma *p)
{
    return p->a != TS_NO && w->out->loads.at[p->a].made;
}

/* A computed tile that the product wants transposed is put into shared memory, in a place of its own: there the
 * hardware reads either order. Adds that place; TS_NO when the operand is not so. */
static uint32_t tma_make(tma_work *w, ts_val v, bool *mn_major)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (inst->op != TS_OP_permute || ts_type_rank(w->module, inst->type) != 2 || ts_pool(w->fn, inst)[1] != 1)
        return TS_NO;
    const int64_t *dims = ts_type_dims(w->module, ts_type_of(w->fn, inst->opnd[0]));
    ts_tma_load load = {.load = inst->opnd[0], .inner_axis = 1, .rows = (uint32_t)dims[0], .inner = (uint32_t)dims[1],
                        .elem_bytes = 2, .made = true};
    load.span = TS_MIN(load.inner * load.elem_bytes, 128u);
    load.bytes = load.rows * load.inner * load.elem_bytes;
    load.group = TS_NO;
    if (load.span < 32 || load.rows < 8 || !TS_PUSH(w->arena, &w->out->loads, load))
        return TS_NO;
    *mn_major = true;
    return w->out->loads.n - 1;
}

/* ---- products ------------------------------------------------------------------------------------------- */

static bool tma_is_zero(const tma_work *w, ts_val v)
{
    uint64_t bits;
    while (ts_at(w->fn, v)->op == TS_OP_broadcast || ts_at(w->fn, v)->op == TS_OP_reshape)
        v = ts_opnd(w->fn, v, 0);
    return ts_const_bits(w->fn, v, &bits) && bits == 0;
}

/* Extents of the product as log2; false when a batch or an extent is out of range. */
static bool tma_extents(const tma_work *w, ts_val v, const tma_row *row, uint32_t log[3])
{
    ts_type tc = ts_type_of(w->fn, v), ta = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    uint32_t rank = ts_type_rank(w->module, tc);
    const int64_t *c = ts_type_dims(w->module, tc), *a = ts_type_dims(w->module, ta);
    if (rank == 3 && c[0] != 1)
        return false;
    log[0] = (uint32_t)ts_log2((uint64_t)c[rank - 2]);
    log[1] = (uint32_t)ts_log2((uint64_t)c[rank - 1]);
    log[2] = (uint32_t)ts_log2((uint64_t)a[rank - 1]);
    return log[0] >= 6 && log[1] >= 4 && log[2] >= row->log_k && log[0] + log[1] <= 15;
}

static void tma_product(tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    const tma_row *row = tma_row_of(w, v);
    uint32_t log[3], rank = ts_type_rank(w->module, ts_type_of(w->fn, v));
    ts_wgmma product = {.mma = v, .a = TS_NO};
    if (!row || inst->aux & (TS_A_UNSIGNED | TS_A_UNSIGNED_B)) {
        ts_note(w->fn, v, TS_NOTE_missed, "wgmma", "there is no wgmma for these element types%s",
                row                                                        ? " without sign"
                : ts_type_bits(w->module, tma_elem(w, inst->opnd[0])) == 8 ? " (fp8 needs fast accumulation)"
                                                                           : "");
        return;
    }
    if (!tma_extents(w, v, row, log)) {
        ts_note(w->fn, v, TS_NOTE_missed, "wgmma",
                "the product's extents: M at least 64, N 16, K %u, M*N at most 32768, no batch", 1u << row->log_k);
        return;
    }
    uint32_t n_tmaps = w->env->plan->n_tmaps, n_loads = w->out->loads.n;
    product.row = row->row;
    product.b = tma_operand(w, inst->opnd[1], rank, row, 0, &product.trans_b);
    product.a = product.b == TS_NO ? TS_NO : tma_operand(w, inst->opnd[0], rank, row, 1, &product.trans_a);
    if (product.b != TS_NO && product.a == TS_NO && row->log_k == 4)
        product.a = tma_make(w, inst->opnd[0], &product.trans_a);
    bool in_regs = product.a == TS_NO;
    if (product.b == TS_NO || (in_regs && row->log_k != 4)) {
        w->env->plan->n_tmaps = n_tmaps;
        w->out->loads.n = n_loads;
        ts_note(w->fn, v, TS_NOTE_missed, "wgmma", "operand %s does not come straight from an array by TMA",
                product.b == TS_NO ? "b" : "a");
        return;
    }
    product.zero = tma_is_zero(w, inst->opnd[2]);
    product.late = !in_regs && !ts__tma_is_made(w, &product) && ts__tma_is_late(w, v);
    (void)TS_PUSH(w->arena, &w->out->products, product);
}

/* 4 warps for each 64 rows, at most 8; one accumulator may take 128 registers of a thread. */
static bool tma_warps(tma_work *w)
{
    uint32_t rows = 0, hint = w->env->hints ? w->env->hints->num_worker_warps : 0, most = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_type type = ts_type_of(w->fn, w->out->products.at[i].mma);
        const int64_t *c = ts_type_dims(w->module, type);
        rows = TS_MAX(rows, (uint32_t)c[ts_type_rank(w->module, type) - 2]);
        most = TS_MAX(most, (uint32_t)ts_log2((uint64_t)ts_type_count(w->module, type)));
    }
    w->out->n_warp = rows > 64 || most > 14 || hint == 8 ? 3 : 2;
    return most <= 14 + (w->out->n_warp == 3);
}

/* ---- stores --------------------------------------------------------------------------------------------------- */

/* Parameter index of the array behind a view or pointer; -1 when unknown. */
static int32_t tma_root(const ts_fn *fn, ts_val v)
{
    for (uint32_t steps = 0; steps < 64; steps++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_param)
            return (int32_t)v - 1;
        if (!inst->n_opnd || !(ts_info(inst)->flags & TS_PURE))
            return -1;
        v = ts_opnds(fn, inst)[0];
    }
    return -1;
}

bool ts__tma_is_stored(const tma_work *w, int32_t base)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        if (!(ts_info(inst)->flags & TS_WRITE) || !inst->n_opnd)
            continue;
        int32_t root = tma_root(w->fn, ts_opnds(w->fn, inst)[0]);
        if (root < 0 || root == base)
            return true;
    }
    return false;
}

/* ---- all together --------------------------------------------------------------------------------------------- */

/* All products go back to the general way. */
static bool tma_refuse(const tma_work *w, const char *why)
{
    for (uint32_t i = 0; i < w->out->products.n; i++)
        ts_note(w->fn, w->out->products.at[i].mma, TS_NOTE_missed, "wgmma", "%s", why);
    return false;
}

static bool tma_fits(tma_work *w)
{
    for (uint32_t i = 0; i < w->env->plan->n_tmaps; i++)
        if (ts__tma_is_stored(w, w->env->plan->tmap[i].base))
            return tma_refuse(w, "an array that is loaded is also stored to");
    ts__tma_plan_waits(w);
    if (!w->out->products.n || w->arena->failed)
        return false;
    if (!tma_all_from_shared(w))
        return tma_refuse(w, "a tile is read by a product on wgmma and by another that is not");
    if (!tma_warps(w))
        return tma_refuse(w, "the accumulator takes more than 128 registers of a thread");
    ts_rotate_plan(w->fn, &w->shape, w->uses, w->arena, w->out);
    if (!ts__tma_groups(w))
        return tma_refuse(w, "a tile is loaded in another loop than the product that reads it");
    ts__tma_join_vectors(w);
    ts__tma_share_ring(w);
    if (!ts__tma_slice(w))
        return tma_refuse(
            w, "an index of a load depends on data, on a `while` loop or on an early return, or the kernel waits "
               "for the grid before it inside control flow");
    ts__tma_teams(w);
    if (!ts__tma_stages(w, 232448))
        return tma_refuse(w, "the tiles do not fit shared memory");
    ts__tma_place(w);
    return true;
}

static void tma_count_uses(tma_work *w)
{
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        uint32_t n = inst->n_opnd - (inst->flags & TS_F_TOKEN ? 1u : 0u);
        if (inst->op == TS_OP_token || inst->op == TS_OP_join_tokens)
            continue;
        for (uint32_t i = 0; i < n; i++)
            w->uses[ts_opnds(w->fn, inst)[i]]++;
    }
}

ts_status ts_tma_plan(const ts_fn *fn, const ts_pass_env *env, ts_arena *arena, ts_tma *out, ts_error *err)
{
    tma_work w = {.fn = fn, .module = fn->module, .env = env, .arena = arena, .out = out};
    *out = (ts_tma){0};
    if (env->target != TS_TARGET_SM90)
        return TS_OK;
    uint32_t n_tmaps = env->plan->n_tmaps;
    w.uses = TS_NEW_N(arena, uint32_t, fn->inst.n);
    w.edges = TS_NEW_N(arena, uint32_t, fn->inst.n);
    out->slice = TS_NEW_N(arena, uint8_t, fn->inst.n);
    if (!w.uses || !w.edges || !out->slice || !ts_shape_of(fn, arena, &w.shape))
        return ts_fail(err, TS_NOMEM, "out of memory while planning TMA loads");
    tma_count_uses(&w);
    tma_count_edges(&w);
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (ts_at(fn, v)->op == TS_OP_mmaf || ts_at(fn, v)->op == TS_OP_mmai)
            tma_product(&w, v);
    out->active = tma_fits(&w);
    if (!out->active)
        env->plan->n_tmaps = n_tmaps;
    return arena->failed ? ts_fail(err, TS_NOMEM, "out of memory while planning TMA loads") : TS_OK;
}
