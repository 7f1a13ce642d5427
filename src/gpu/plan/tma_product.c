/* SPDX-License-Identifier: Apache-2.0
 *
 * Which products run on wgmma, and which loads bring their operands (tma.h). Operand b, and a unless it stays in
 * registers, must lead back to a load for products alone:
 *
 *     %t = load_view_tko ..          becomes a copy by TMA
 *     %u = permute %t [1, 0]         the descriptor reads either order (MN-major)
 *     %v = reshape, assume           nothing moves, extents of 1 come and go
 *     %x = ftof %v to tf32           the copy rounds
 *     %y = mmaf %w, %x, %acc
 *
 * Cost: linear, times the few products of a function where readers are counted. Next: tma_wait.c.
 */
#include "gpu/plan/tma_plan.h"
#include "gpu/plan/assign.h"
#include "ir/note.h"

/* ---- types of products ---------------------------------------------------------------------------- */

typedef struct product_row {
    uint8_t row, a, c, log_k; /* ts_mma; element types; log2 of k of one instruction */
    uint8_t mn_major, fast;   /* operands may be MN-major; only with fast accumulation */
} product_row;
static const product_row product_rows[] = {
    {TS_MMA_m64k16_f16, TS_T_f16, TS_T_f32, 4, 1, 0},
    {TS_MMA_m64k16_bf16, TS_T_bf16, TS_T_f32, 4, 1, 0},
    {TS_MMA_m64k8_tf32, TS_T_tf32, TS_T_f32, 3, 0, 0},
    {TS_MMA_m64k32_e4m3, TS_T_f8E4M3FN, TS_T_f32, 5, 0, 1}, /* sums keep 14 bits */
    {TS_MMA_m64k32_e5m2, TS_T_f8E5M2, TS_T_f32, 5, 0, 1},
    {TS_MMA_m64k32_s8, TS_T_i8, TS_T_i32, 5, 0, 0},
};

/* Elements of 16 bits: operand a may come from registers, as the accumulator of another product has it. */
static bool product_is_half(const product_row *row)
{
    return row->a == TS_T_f16 || row->a == TS_T_bf16;
}

static ts_type product_elem(const ts_tma_work *w, ts_val v)
{
    return ts_type_elem(w->module, ts_type_of(w->fn, v));
}

static const product_row *product_row_of(const ts_tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    ts_type a = product_elem(w, inst->opnd[0]), b = product_elem(w, inst->opnd[1]), c = product_elem(w, v);
    for (size_t i = 0; i < TS_COUNT(product_rows); i++) {
        const product_row *row = &product_rows[i];
        if (row->a == a && a == b && row->c == c && (!row->fast || inst->aux & TS_A_FAST_ACC))
            return row;
    }
    return NULL;
}

/* ---- where an operand comes from -------------------------------------------------------------------- */

/* Follows axis `axis` of `v` one step back into its operand. Reshapes may only drop or add extents of 1. */
static bool product_reshape_axis(const ts_tma_work *w, ts_val v, uint32_t *axis)
{
    *axis = ts__type_axis_before(w->module, ts_type_of(w->fn, v), ts_type_of(w->fn, ts_opnd(w->fn, v, 0)), *axis);
    return *axis != TS_NO;
}

static bool product_looks_through(const ts_inst *inst)
{
    return inst->op == TS_OP_permute || inst->op == TS_OP_reshape || inst->op == TS_OP_ftof || inst->op == TS_OP_assume;
}

void ts__tma_count_edges(ts_tma_work *w)
{
    for (ts_val v = w->fn->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        for (uint32_t i = 0; product && i < 2; i++)
            w->edges[inst->opnd[i]]++;
        if (product_looks_through(inst) && w->edges[v])
            w->edges[inst->opnd[0]]++;
    }
}

/* Operands of products that come down to `load`, by whatever path. */
static uint32_t product_reached(const ts_tma_work *w, ts_val load)
{
    uint32_t n = 0;
    for (ts_val v = 1; v < w->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(w->fn, v);
        bool product = inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai;
        for (uint32_t i = 0; product && i < 2; i++) {
            ts_val x = inst->opnd[i];
            while (product_looks_through(ts_at(w->fn, x)))
                x = ts_opnd(w->fn, x, 0);
            n += x == load;
        }
    }
    return n;
}

bool ts__tma_all_from_shared(const ts_tma_work *w)
{
    for (uint32_t i = 0; i < w->out->loads.n; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < w->out->products.n; k++)
            n += (w->out->products.at[k].a == i ? 1u : 0u) + (w->out->products.at[k].b == i ? 1u : 0u);
        if (!w->out->loads.at[i].by_consumers && n != product_reached(w, w->out->loads.at[i].load))
            return false;
    }
    return true;
}

enum { PRODUCT_STEPS = 16 }; /* operations between a load and the product */

/* The load behind an operand with its two axes, or 0. */
static ts_val product_trace(const ts_tma_work *w, ts_val v, ts_type want, uint32_t axes[2])
{
    for (uint32_t steps = 0; steps < PRODUCT_STEPS; steps++) {
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
            if (!product_reshape_axis(w, v, &axes[0]) || !product_reshape_axis(w, v, &axes[1]))
                return 0;
            break;
        case TS_OP_ftof: /* the copy itself rounds f32 to nearest tf32 */
            if (want != TS_T_tf32 || TS_A_ROUND(inst->aux) != TS_RN || product_elem(w, inst->opnd[0]) != TS_T_f32)
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

static bool product_may_be_short(const ts_tma_load *load, const ts_plan_tmap *map, bool mn_major)
{
    const ts_plan_num *rows = &map->dim[load->rows_dim];
    return !mn_major && !map->nan_fill && load->rows <= TS_TMA_BOX && (rows->param >= 0 || rows->value < load->rows);
}

/* A tile that all blocks of a team load: each brings so many of its panels, or of the rows of each. */
static void product_share(const ts_tma_work *w, ts_tma_load *load, ts_plan_tmap *map)
{
    uint32_t rank = ts_type_rank(w->module, ts_type_of(w->fn, load->load)), n = w->out->team;
    bool by_rows = load->inner * load->elem_bytes / load->span % n != 0;
    if (!w->out->rank || load->start || (by_rows && load->rows % (n * TS_TMA_ROWS_LEAST)))
        return;
    for (uint32_t i = 0; i < rank; i++)
        if (w->own[ts_opnd(w->fn, load->load, 1 + i)])
            return;
    load->shared = true;
    load->by_rows = by_rows;
    if (by_rows)
        map->box[load->rows_dim] = TS_MIN(load->rows / n, (uint32_t)TS_TMA_BOX);
}

/* Adds the load behind operand `v`; TS_NO when it cannot be made by TMA, or by copies. */
static uint32_t product_operand(ts_tma_work *w, ts_val v, uint32_t rank, const product_row *row, uint32_t k_axis,
                                bool *mn_major)
{
    ts_tma_load load;
    ts_plan_tmap map;
    uint32_t axes[2] = {rank - 2, rank - 1};
    bool copied = w->out->copied;
    ts_val from = product_trace(w, v, copied ? TS_T_none : row->a, axes);
    if (!from || (copied ? !ts__copied_describe(w->fn, from, axes, &load)
                         : w->env->plan->n_tmaps == TS_PLAN_TMAPS ||
                               !ts__tma_describe(w->fn, from, axes, row->a, &load, &map)))
        return TS_NO;
    *mn_major = load.inner_axis != axes[k_axis];
    if (*mn_major && !row->mn_major)
        return TS_NO;
    for (uint32_t i = 0; i < w->out->loads.n; i++)
        if (w->out->loads.at[i].load == from)
            return copied || w->env->plan->tmap[w->out->loads.at[i].tmap].dtype == map.dtype ? i : TS_NO;
    load.group = TS_NO;
    if (copied)
        return TS_PUSH(w->arena, &w->out->loads, load) ? w->out->loads.n - 1 : TS_NO;
    load.tmap = w->env->plan->n_tmaps;
    product_share(w, &load, &map);
    map.clip = !load.shared && product_may_be_short(&load, &map, *mn_major) ? (uint8_t)load.rows_dim : 0;
    if (!TS_PUSH(w->arena, &w->out->loads, load))
        return TS_NO;
    w->env->plan->tmap[w->env->plan->n_tmaps++] = map;
    return w->out->loads.n - 1;
}

bool ts__tma_by_consumers(const ts_tma_work *w, const ts_wgmma *p)
{
    return p->a != TS_NO && w->out->loads.at[p->a].by_consumers;
}

/* A computed tile that the product wants transposed is put into shared memory, in a place of its own: there the
 * hardware reads either order. Adds that place; TS_NO when the operand is not so. */
static uint32_t product_make(ts_tma_work *w, ts_val v, bool *mn_major)
{
    const ts_inst *inst = ts_at(w->fn, v);
    if (inst->op != TS_OP_permute || ts_type_rank(w->module, inst->type) != 2 || ts_pool(w->fn, inst)[1] != 1)
        return TS_NO;
    const int64_t *dims = ts_type_dims(w->module, ts_type_of(w->fn, inst->opnd[0]));
    ts_tma_load load = {.load = inst->opnd[0], .inner_axis = 1, .rows = (uint32_t)dims[0], .inner = (uint32_t)dims[1],
                        .elem_bytes = 2, .by_consumers = true};
    load.span = TS_MIN(load.inner * load.elem_bytes, (uint32_t)TS_TMA_SPAN);
    load.bytes = load.rows * load.inner * load.elem_bytes;
    load.group = TS_NO;
    if (load.span < TS_TMA_SPAN_LEAST || load.rows < TS_TMA_ROWS_LEAST || !TS_PUSH(w->arena, &w->out->loads, load))
        return TS_NO;
    *mn_major = true;
    return w->out->loads.n - 1;
}

/* ---- products ------------------------------------------------------------------------------------------- */

static bool product_is_zero(const ts_tma_work *w, ts_val v)
{
    uint64_t bits;
    while (ts_at(w->fn, v)->op == TS_OP_broadcast || ts_at(w->fn, v)->op == TS_OP_reshape)
        v = ts_opnd(w->fn, v, 0);
    return ts__const_bits(w->fn, v, &bits) && bits == 0;
}

/* log2: rows of an instruction, least columns, and most accumulators, of eight warps with 128 each a thread. */
enum { PRODUCT_LOG_M = 6, PRODUCT_LOG_N = 4, PRODUCT_LOG_MN = 15 };

/* Extents of the product as log2; false when a batch or an extent is out of range. */
static bool product_extents(const ts_tma_work *w, ts_val v, const product_row *row, uint32_t log[3])
{
    ts_type tc = ts_type_of(w->fn, v), ta = ts_type_of(w->fn, ts_opnd(w->fn, v, 0));
    uint32_t rank = ts_type_rank(w->module, tc);
    const int64_t *c = ts_type_dims(w->module, tc), *a = ts_type_dims(w->module, ta);
    if (rank == 3 && c[0] != 1)
        return false;
    log[0] = (uint32_t)ts_log2((uint64_t)c[rank - 2]);
    log[1] = (uint32_t)ts_log2((uint64_t)c[rank - 1]);
    log[2] = (uint32_t)ts_log2((uint64_t)a[rank - 1]);
    return log[0] >= PRODUCT_LOG_M && log[1] >= PRODUCT_LOG_N && log[2] >= row->log_k &&
           log[0] + log[1] <= PRODUCT_LOG_MN;
}

/* Columns of b behind those of the product before, which multiplies the same a, in lines along N: where they fill no
 * panel of the widest swizzle, one is copied all the same, so that one instruction can go over both (tma_join.c). */
static void product_widen(ts_tma_work *w, const ts_wgmma *p)
{
    ts_tma_load *load = &w->out->loads.at[p->b];
    uint32_t panel = TS_TMA_SPAN / load->elem_bytes;
    const ts_wgmma *q = w->out->products.n ? &w->out->products.at[w->out->products.n - 1] : NULL;
    if (!q || w->out->copied || p->a == TS_NO || q->a != p->a || !p->trans_b || !q->trans_b ||
        w->shape.parent[q->mma] != w->shape.parent[p->mma] || load->inner >= panel)
        return;
    const ts_type_info *before = ts_type_get(w->module, ts_type_of(w->fn, q->mma));
    if (before->dims[before->rank - 1] % panel)
        return;
    load->inner = panel, load->span = TS_TMA_SPAN, load->bytes = load->rows * load->span;
    w->env->plan->tmap[load->tmap].box[0] = panel;
    w->env->plan->tmap[load->tmap].swizzle = TS_TMA_WIDEST;
}

void ts__tma_product(ts_tma_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    const product_row *row = product_row_of(w, v);
    uint32_t log[3], rank = ts_type_rank(w->module, ts_type_of(w->fn, v));
    ts_wgmma product = {.mma = v, .a = TS_NO};
    if (!row || inst->aux & (TS_A_UNSIGNED | TS_A_UNSIGNED_B)) {
        bool eight = ts_type_bits(w->module, product_elem(w, inst->opnd[0])) == 8;
        ts__note(w->fn, v, TS_NOTE_missed, "wgmma", "there is no wgmma for these element types%s",
                row ? " without sign" : eight ? " (fp8 needs fast accumulation)" : "");
        return;
    }
    if (!product_extents(w, v, row, log)) {
        ts__note(w->fn, v, TS_NOTE_missed, "wgmma",
                "the product's extents: M at least 64, N 16, K %u, M*N at most 32768, no batch", 1u << row->log_k);
        return;
    }
    uint32_t n_tmaps = w->env->plan->n_tmaps, n_loads = w->out->loads.n;
    product.row = row->row;
    product.b = product_operand(w, inst->opnd[1], rank, row, 0, &product.trans_b);
    product.a = product.b == TS_NO ? TS_NO : product_operand(w, inst->opnd[0], rank, row, 1, &product.trans_a);
    if (product.b != TS_NO && product.a == TS_NO && product_is_half(row) && !w->out->copied)
        product.a = product_make(w, inst->opnd[0], &product.trans_a);
    bool in_regs = product.a == TS_NO;
    if (product.b == TS_NO || (in_regs && !product_is_half(row))) {
        w->env->plan->n_tmaps = n_tmaps;
        w->out->loads.n = n_loads;
        ts__note(w->fn, v, TS_NOTE_missed, "wgmma", "operand %s does not come straight from an array by TMA",
                product.b == TS_NO ? "b" : "a");
        return;
    }
    product.zero = product_is_zero(w, inst->opnd[2]);
    product.waits_next_step = !in_regs && !ts__tma_by_consumers(w, &product) && ts__tma_waits_next_step(w, v);
    product_widen(w, &product);
    (void)TS_PUSH(w->arena, &w->out->products, product);
}

bool ts__tma_warps(ts_tma_work *w)
{
    uint32_t rows = 0, hint = w->env->hints ? w->env->hints->num_worker_warps : 0, most = 0;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        ts_type type = ts_type_of(w->fn, w->out->products.at[i].mma);
        const int64_t *c = ts_type_dims(w->module, type);
        rows = TS_MAX(rows, (uint32_t)c[ts_type_rank(w->module, type) - 2]);
        most = TS_MAX(most, (uint32_t)ts_log2((uint64_t)ts_type_count(w->module, type)));
    }
    w->out->n_warp = rows > 64 || most >= PRODUCT_LOG_MN || hint == 8 ? 3 : 2;
    return most <= PRODUCT_LOG_MN - (w->out->n_warp == 2);
}
