/* SPDX-License-Identifier: Apache-2.0
 *
 * Software pipelines of sm_80: in a `for` whose loads feed mma.sync, tiles travel from global to shared
 * memory by cp.async several steps ahead, and the products read them there.
 *
 *     before                           after (S stages)
 *     for i: a = load A[i]             for s < S-1: if (lower + s*step < upper) copy A[..] to stage s; commit
 *            store a, barrier          for i, stage: wait_group S-2; barrier
 *            ldmatrix, mma                           if (i + (S-1)*step < upper) copy to stage-1; commit
 *                                                    ldmatrix from stage, mma
 *
 * Where the loop has one product only, wait and barrier move down before its last k step (async_prefetch).
 *
 * What cp.async cannot place in shared memory as the product wants it (vectors along the other axis) is loaded to
 * registers when the copies are issued and stored when the step ends.
 *
 * A load qualifies when its tile goes to one product only (through permutes and reshapes), its index follows from the
 * induction variable and nothing in the loop stores to its array; what of a vector lies outside the array is filled
 * with zeros.
 * f32 that is rounded to tf32 on its way is copied as it is, and rounded where the product reads it.
 * Operands that the loop does not change are written to shared memory once, before it.
 *
 * Products on wgmma whose operands TMA cannot bring (plan/copied.c) have rings of the plan's: the wait is followed by a
 * fence, as wgmma reads by another proxy, and the stage that is filled is that of two steps before, since the product
 * of the step before still runs.
 * The pipeline of sm_90, by TMA, is schedule/producer.c.
 */
#include "gpu/schedule/schedule.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/mma.h"
#include "gpu/lower/op.h"
#include "gpu/lower/view_access.h"
#include "gpu/schedule/copy.h"
#include "gpu/schedule/wgmma.h"

/* Stages unless the kernel asks for a number; bytes left for moves between layouts; log2 of the registers that a tile
 * on its way may take. */
enum { ASYNC_MAX_STAGES = 4, ASYNC_KEEP_FREE = 16384, ASYNC_MAX_REGS = 5 };

/* Operands of products that live in shared memory during a loop. */
typedef struct async_operand {
    ts_val loop, load, x; /* x: the product's operand; load: 0 = made before the loop */
    ts_val chain[4];      /* permutes and reshapes from the load to x, 0 = none */
    ts_val rounds;        /* the one among them that makes tf32 of f32, 0 = none */
    const ts_linear *home; /* of the load: which thread copies what */
    uint32_t at, size;    /* first stage, bytes of a stage */
    uint32_t offset[TS_LAYOUT_BITS]; /* of the load's flat bits, in elements */
    bool by_regs;         /* through registers instead of cp.async, which cannot turn vectors */
    ts_vals regs;         /* that hold the step on its way */
} async_operand;
typedef struct async_loop {
    ts_val loop;
    uint32_t stages;
    uint32_t busy;  /* stages that are read: of the current step, and of products that still run */
    ts_val stage;   /* of the current step */
    ts_val filling; /* that copies go to */
    ts_val product; /* reads its first fragments a step ahead; 0 = none does */
    ts_prefetch early;
} async_loop;
typedef struct async_state {
    TS_VEC(async_operand) operand;
    TS_VEC(async_loop) loop;
    uint8_t *slice; /* [tile value] index arithmetic that is written anew for other steps */
} async_state;


static async_state *async_of(const ts_lower *lw)
{
    return ts_strategy_state(lw, TS_STRATEGY_cp_async);
}

/* ---- which loads ------------------------------------------------------------------------------------------------ */

/* The only user of `v` in the loop body; 0 when there are more or it lies elsewhere. */
static ts_val async_user(const ts_lower *lw, ts_val loop, ts_val v)
{
    if (lw->shape.uses[v] - lw->order.tokens[v] != 1)
        return 0;
    for (ts_val i = v + 1; i < lw->shape.end[loop]; i++) {
        const ts_inst *inst = ts_at(lw->tile, i);
        for (uint32_t k = 0; k < inst->n_opnd; k++)
            if (ts_opnds(lw->tile, inst)[k] == v && inst->op != TS_OP_token)
                return lw->shape.parent[i] == loop ? i : 0;
    }
    return 0;
}

static bool async_is_product(const ts_lower *lw, ts_val v)
{
    ts_op op = (ts_op)ts_at(lw->tile, v)->op;
    return (op == TS_OP_mmaf || op == TS_OP_mmai) &&
           (lw->assign.mma_path[v] == TS_MMA_PATH_SYNC || lw->assign.mma_path[v] == TS_MMA_PATH_FMA);
}

/* Nothing in the loop stores to what `load` reads: copies begin with the loop and have ended where it does, so what is
 * stored before and after is behind a barrier. */
static bool async_loads_only(ts_lower *lw, ts_val loop, ts_val load)
{
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, load, 0));
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++) {
        const ts_inst *inst = ts_at(lw->tile, v);
        bool writes = ts_info(inst)->flags & TS_WRITE && inst->n_opnd;
        if (ts__alias_orders(lw->tile, v) ||
            (writes && ts__lower_meets(set, ts__lower_alias_set(lw, ts_opnds(lw->tile, inst)[0]))))
            return false;
    }
    return true;
}

/* Offsets of a permute's operand bits, from those of its result. */
static void async_offsets_before(const ts_lower *lw, ts_val permute, uint32_t *offset)
{
    const uint32_t *axes = ts_pool(lw->tile, ts_at(lw->tile, permute)) + 1;
    ts_type to = ts_type_of(lw->tile, permute), from = ts_type_of(lw->tile, ts_opnd(lw->tile, permute, 0));
    uint32_t after[TS_LAYOUT_BITS];
    memcpy(after, offset, sizeof after);
    for (uint32_t axis = 0; axis < ts_type_rank(lw->module, to); axis++) {
        ts_axis_bits x = ts__axis_of(lw->module, to, axis), of = ts__axis_of(lw->module, from, axes[axis]);
        for (uint32_t i = 0; i < x.n; i++)
            offset[of.first + i] = after[x.first + i];
    }
}

/* Offsets of the load's flat bits, from those of the operand it becomes. */
static void async_offsets(const ts_lower *lw, async_operand *o, const mma_source *s)
{
    memcpy(o->offset, s->move.offset, sizeof o->offset);
    for (uint32_t i = TS_COUNT(o->chain); i-- > 0;)
        if (o->chain[i] && ts_at(lw->tile, o->chain[i])->op == TS_OP_permute)
            async_offsets_before(lw, o->chain[i], o->offset);
}

/* ---- copying ---------------------------------------------------------------------------------------------------- */

/* The element that lies in shared memory. */
static ts_type async_elem(ts_lower *lw, const async_operand *o)
{
    return o->rounds ? TS_T_f32 : ts__lower_elem(lw, o->x);
}

static ts_val async_stage_pointer(ts_lower *lw, const async_operand *o, ts_val stage)
{
    ts_val base = ts__shared_pointer(lw, async_elem(lw, o), o->at);
    return stage ? ts__lower_ptr(lw, base, ts_op2(&lw->b, TS_OP_muli, stage, ts__lower_i32(lw, o->size), 0), 0) : base;
}

static void async_copy(ts_lower *lw, const async_operand *o, ts_val stage)
{
    ts__copy_tile(lw, o->load, o->home, o->offset, async_stage_pointer(lw, o, stage));
}

/* The load as usual; zeros outside the array. */
static void async_load_regs(ts_lower *lw, async_operand *o)
{
    view_access a;
    const ts_linear *home = o->home;
    ts_val *regs = ts__lower_regs(lw, home);
    ts__view_describe(lw, &a, o->load, 1, home);
    if (!ts__view_whole_vectors(&a))
        ts__view_single(&a);
    for (uint32_t r = 0; r < 1u << home->n_reg; r++) {
        ts_val values[16], inside;
        if (r & a.vector)
            continue;
        inside = ts__view_inside(lw, &a, r);
        ts__lower_ld(lw, a.elem, ts__view_pointer(lw, &a, r), 1u << a.log_vec, TS_CACHE_NONE, inside,
                    inside ? ts_bits(&lw->b, a.elem, 0) : 0, values);
        for (uint32_t k = 0; k < 1u << a.log_vec; k++)
            regs[r ^ a.member[k]] = values[k];
    }
    o->regs.v.n = 0;
    for (uint32_t r = 0; r < 1u << home->n_reg; r++)
        (void)TS_PUSH(lw->arena, &o->regs.v, regs[r]);
}

/* The register bit that moves the element offset by `step`; -1 = none does. */
static int async_reg_at(const ts_linear *home, const uint32_t *offset, uint32_t step)
{
    for (uint32_t i = 0; i < home->n_reg; i++)
        if (ts_is_pow2(home->reg[i]) && offset[ts_log2(home->reg[i])] == step)
            return (int)i;
    return -1;
}

/* What async_load_regs loaded goes to its stage, in vectors of what lies together there. */
static void async_store_regs(ts_lower *lw, const async_operand *o, ts_val stage)
{
    const ts_linear *home = o->home;
    uint32_t bytes = TS_MAX(1u, ts_type_bits(lw->module, ts__lower_elem(lw, o->x)) / 8), n = 0, bit[4], vector = 0;
    mma_box box = ts__mma_box(lw, async_stage_pointer(lw, o, stage), home, o->offset, bytes);
    for (int reg; bytes << n < 16 && (reg = async_reg_at(home, o->offset, 1u << n)) >= 0;)
        vector |= bit[n++] = 1u << reg;
    for (uint32_t r = 0; r < 1u << home->n_reg; r++) {
        ts_val values[16];
        for (uint32_t k = 0; k < 1u << n; k++)
            values[k] = o->regs.v.at[r | ts_xor_of(bit, n, k)];
        if (!(r & vector))
            ts__lower_st(lw, ts__mma_address(lw, &box, ts_lower_fixed(home, r)), 1u << n, values, TS_CACHE_NONE, 0);
    }
}

static void async_store_all(ts_lower *lw, ts_val loop, ts_val stage)
{
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++)
        if (async_of(lw)->operand.at[i].loop == loop && async_of(lw)->operand.at[i].by_regs)
            async_store_regs(lw, &async_of(lw)->operand.at[i], stage);
}

/* The results of the `if` around loads by register: their values, or zeros behind the last step. */
static void async_yield(ts_lower *lw, ts_val loop, bool zeros, ts_vals *types)
{
    ts_vals values = {0};
    types->v.n = 0;
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++) {
        async_operand *o = &async_of(lw)->operand.at[i];
        ts_type elem = async_elem(lw, o);
        for (uint32_t k = 0; o->loop == loop && o->by_regs && k < o->regs.v.n; k++) {
            (void)TS_PUSH(lw->arena, &values.v, zeros ? ts_bits(&lw->b, elem, 0) : o->regs.v.at[k]);
            (void)TS_PUSH(lw->arena, &types->v, elem);
        }
    }
    ts_term(&lw->b, TS_OP_yield, values.v.n, values.v.at);
}

/* if (iv < upper) { all copies of the step } commit */
static void async_issue(ts_lower *lw, ts_val loop, ts_val iv, ts_val stage)
{
    ts_builder *b = &lw->b;
    ts_vals types = {0};
    const ts_inst *inst = ts_at(lw->tile, loop);
    ts_val upper = lw->values.scalar[ts_opnds(lw->tile, inst)[1]];
    ts_val opener = ts_if_begin(b, ts_cmp(b, TS_OP_cmpi, TS_LT, iv, upper, inst->aux & TS_A_UNSIGNED));
    ts__copy_rewrite(lw, async_of(lw)->slice, loop, iv);
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++) {
        async_operand *o = &async_of(lw)->operand.at[i];
        if (o->loop == loop && o->load && o->by_regs)
            async_load_regs(lw, o);
        else if (o->loop == loop && o->load)
            async_copy(lw, o, stage);
    }
    async_yield(lw, loop, false, &types);
    ts_else(b);
    async_yield(lw, loop, true, &types);
    ts_end(b, opener, types.v.n, types.v.at);
    ts_val next = lw->fn->inst.n - types.v.n;
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++)
        for (uint32_t k = 0; async_of(lw)->operand.at[i].loop == loop && k < async_of(lw)->operand.at[i].regs.v.n; k++)
            async_of(lw)->operand.at[i].regs.v.at[k] = next++;
    ts_emit(b, TS_OP_cp_async_commit, TS_T_none, 0, NULL, 0, 0);
}

/* ---- the plan of a loop ----------------------------------------------------------------------------------------- */

/* Makes tf32 of f32, which is as large. */
static bool async_rounds(const ts_lower *lw, ts_val v)
{
    return ts_at(lw->tile, v)->op == TS_OP_ftof && ts__lower_elem(lw, v) == TS_T_tf32 &&
           ts__lower_elem(lw, ts_opnd(lw->tile, v, 0)) == TS_T_f32;
}

static void async_try_load(ts_lower *lw, ts_val loop, ts_val load)
{
    ts_val user = async_user(lw, loop, load), x = load;
    const ts_inst *inst = ts_at(lw->tile, load);
    async_operand o = {.loop = loop, .load = load, .home = lw->assign.home[load]};
    for (uint32_t i = 0; user && i < TS_COUNT(o.chain); i++) {
        ts_op op = (ts_op)ts_at(lw->tile, user)->op;
        if (async_rounds(lw, user))
            o.rounds = user;
        else if (op != TS_OP_permute && op != TS_OP_reshape)
            break;
        x = o.chain[i] = user;
        user = async_user(lw, loop, x);
    }
    bool reads = user && async_is_product(lw, user) && !(o.rounds && lw->assign.mma_path[user] != TS_MMA_PATH_SYNC);
    if (!reads || TS_M_GET_ORDER(inst->aux) != TS_WEAK || !lw->assign.home[load] ||
        !async_loads_only(lw, loop, load) || !ts__copied_view_fits(lw->tile, loop, ts_opnd(lw->tile, load, 0))) {
        ts__note(lw->tile, load, TS_NOTE_missed, "cp.async",
                "the tile does not go to one product on mma.sync alone, straight from an "
                "array that is only read");
        return;
    }
    uint32_t side = ts_opnd(lw->tile, user, 0) == x ? 0 : 1;
    if (!ts__copy_slice(lw, loop, load, async_of(lw)->slice)) {
        ts__note(lw->tile, load, TS_NOTE_missed, "cp.async", "its index does not follow from the loop's counter");
        return;
    }
    mma_source source;
    o.x = x;
    if (ts_opnd(lw->tile, user, side) != x || ts_opnd(lw->tile, user, 2) == x ||
        !ts__mma_source(lw, user, side, &source))
        return;
    async_offsets(lw, &o, &source);
    o.size = source.size;
    (void)TS_PUSH(lw->arena, &async_of(lw)->operand, o);
}

/* Few enough registers to hold a tile while it travels, each element once. */
static bool async_fits_regs(const ts_linear *home)
{
    ts_place same = ts__linear_replicas(home);
    return home->n_reg <= ASYNC_MAX_REGS && !same.reg && !same.lane && !same.warp;
}

/* Loads whose vectors do not fit, which only shows once the access has been described, go through registers. */
static void async_sift(ts_lower *lw, ts_val loop, uint32_t first)
{
    uint32_t n = first;
    ts__copy_rewrite(lw, async_of(lw)->slice, loop, lw->values.scalar[ts_opnd(lw->tile, loop, 0)]);
    for (uint32_t i = first; i < async_of(lw)->operand.n; i++) {
        view_access a;
        async_operand o = async_of(lw)->operand.at[i];
        ts__view_describe(lw, &a, o.load, 1, o.home);
        o.by_regs = !ts__copy_fits(&a, o.offset);
        if (!o.by_regs || async_fits_regs(o.home))
            async_of(lw)->operand.at[n++] = o;
        if (o.by_regs)
            ts__note(lw->tile, o.load, TS_NOTE_missed, "cp.async",
                    "no aligned vectors of 4 to 16 bytes that lie together in shared memory");
    }
    async_of(lw)->operand.n = n;
}

static uint32_t async_stages(const ts_lower *lw, uint32_t bytes)
{
    uint32_t want = lw->env->hints && lw->env->hints->num_stages ? lw->env->hints->num_stages : ASYNC_MAX_STAGES;
    while (want > 1 && (uint64_t)want * bytes + lw->shared.peak + ASYNC_KEEP_FREE > lw->shared.limit)
        want--;
    return want;
}

static const async_operand *async_find(const ts_lower *lw, ts_val x)
{
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++)
        if (async_of(lw)->operand.at[i].x == x)
            return &async_of(lw)->operand.at[i];
    return NULL;
}

static async_loop *async_loop_of(ts_lower *lw, ts_val loop)
{
    for (uint32_t i = 0; i < async_of(lw)->loop.n; i++)
        if (async_of(lw)->loop.at[i].loop == loop)
            return &async_of(lw)->loop.at[i];
    return NULL;
}

/* Pointer to the operand in shared memory; 0 = it is not there. */
static ts_val async_place(ts_lower *lw, ts_val x)
{
    const async_operand *o = async_find(lw, x);
    const async_loop *l = o && o->load ? async_loop_of(lw, o->loop) : NULL;
    return o ? async_stage_pointer(lw, o, l ? l->stage : 0) : 0;
}

static ts_val async_conversion(ts_lower *lw, ts_val x)
{
    const async_operand *o = async_find(lw, x);
    return o ? o->rounds : 0;
}

/* Operands made before the loop: one copy in shared memory that every step reads. */
static void async_invariants(ts_lower *lw, ts_val loop)
{
    bool any = false; /* written: a barrier stands before and after */
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++)
        for (uint32_t side = 0; async_is_product(lw, v) && side < 2; side++) {
            ts_val x = ts_opnd(lw->tile, v, side);
            mma_source s;
            if (x > loop || async_place(lw, x) || !ts__mma_source(lw, v, side, &s))
                continue;
            async_operand o = {.loop = loop, .x = x, .size = s.size};
            uint32_t at = ts__shared_fix(lw, s.size, 128, v);
            if (!any)
                ts__lower_barrier(lw);
            any = true;
            o.at = at;
            ts__lower_store_shared(lw, ts__lower_elem(lw, x), s.from, ts__lower_get(lw, x, s.from), s.move.offset, at);
            (void)TS_PUSH(lw->arena, &async_of(lw)->operand, o);
        }
    if (any)
        ts__lower_barrier(lw);
}

/* A `continue` of the loop stands within an `if`. */
static bool async_continues_early(const ts_lower *lw, ts_val loop)
{
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++) {
        ts_val of = lw->shape.parent[v];
        if (ts_at(lw->tile, v)->op != TS_OP_continue || of == loop)
            continue;
        while (ts_at(lw->tile, of)->op == TS_OP_if)
            of = lw->shape.parent[of];
        if (of == loop)
            return true;
    }
    return false;
}

/* The product that may read a step ahead: the only one of the loop, with both operands in shared memory. */
static ts_val async_only_product(ts_lower *lw, ts_val loop)
{
    ts_val product = 0;
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++) {
        ts_op op = (ts_op)ts_at(lw->tile, v)->op;
        if (op != TS_OP_mmaf && op != TS_OP_mmai)
            continue;
        if (product || lw->shape.parent[v] != loop)
            return 0;
        product = v;
    }
    bool fits =
        product && async_find(lw, ts_opnd(lw->tile, product, 0)) && async_find(lw, ts_opnd(lw->tile, product, 1));
    return fits && !async_continues_early(lw, loop) && ts__mma_goes_ahead(lw, product) ? product : 0;
}

/* The oldest stage in flight has arrived, for all threads. */
static void async_await(ts_lower *lw, const async_loop *l)
{
    ts_assert(l->stages > l->busy); /* some are on their way */
    ts_emit(&lw->b, TS_OP_cp_async_wait, TS_T_none, 0, NULL, TS_S(0, l->stages - l->busy - 1, 0), 0);
    if (lw->assign.tma.copied)
        ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0), 0);
    ts__lower_barrier(lw);
}

/* Fills the first stages. */
static void async_fill(ts_lower *lw, ts_val loop, uint32_t n)
{
    const uint32_t *opnds = ts_opnds(lw->tile, ts_at(lw->tile, loop));
    ts_val iv = lw->values.scalar[opnds[0]];
    ts__lower_barrier(lw); /* stages may still be read from an earlier run of the loop */
    for (uint32_t s = 0; s < n; s++) {
        async_issue(lw, loop, iv, ts__lower_i32(lw, s));
        async_store_all(lw, loop, ts__lower_i32(lw, s));
        iv = ts_op2(&lw->b, TS_OP_addi, iv, lw->values.scalar[opnds[2]], 0);
    }
}

/* The loads of the loop that may go through the pipeline; gives the bytes of a stage. */
static uint32_t async_loads(ts_lower *lw, ts_val loop)
{
    uint32_t first = async_of(lw)->operand.n, bytes = 0;
    for (ts_val v = loop + 1; v < lw->shape.end[loop]; v++)
        if (ts_at(lw->tile, v)->op == TS_OP_load_view_tko && lw->shape.parent[v] == loop)
            async_try_load(lw, loop, v);
    async_sift(lw, loop, first);
    for (uint32_t i = first; i < async_of(lw)->operand.n; i++)
        bytes += async_of(lw)->operand.at[i].size;
    return bytes;
}

static void async_open(ts_lower *lw, const async_loop *l, ts_vals *inits)
{
    async_fill(lw, l->loop, l->stages - l->busy);
    (void)TS_PUSH(lw->arena, &async_of(lw)->loop, *l);
    (void)TS_PUSH(lw->arena, &inits->v, l->stage);
}

/* Vectors of 16 bytes along the rows of the panels, fewer where threads would have nothing to do. */
static const ts_linear *async_panel_home(ts_lower *lw, const ts_tma_load *load)
{
    uint32_t vec = (uint32_t)ts_log2(16 / load->elem_bytes);
    return ts__assign_blocked(&lw->assign, lw->module, ts_type_of(lw->tile, load->load), load->inner_axis, vec, false);
}

/* Operands of products on wgmma, in the panels that these read (plan/copied.c). */
static void async_begin_panels(ts_lower *lw, ts_val loop, ts_vals *inits)
{
    const ts_tma *tma = &lw->assign.tma;
    async_loop l = {.loop = loop, .busy = 2};
    uint32_t first = async_of(lw)->operand.n;
    for (uint32_t i = 0; i < tma->loads.n; i++) {
        const ts_tma_load *load = &tma->loads.at[i];
        const ts_tma_group *group = &tma->groups.at[load->group];
        if (group->loop != loop)
            continue;
        async_operand o = {.loop = loop, .load = load->load, .x = load->load, .at = group->base + load->offset,
                           .size = group->bytes, .home = async_panel_home(lw, load)};
        bool follows = ts__copy_slice(lw, loop, load->load, async_of(lw)->slice);
        ts_assert(follows);
        (void)follows;
        ts__wgmma_offsets(load, 0, o.offset);
        l.stages = group->stages;
        (void)TS_PUSH(lw->arena, &async_of(lw)->operand, o);
    }
    if (!l.stages)
        return;
    uint32_t all = async_of(lw)->operand.n;
    async_sift(lw, loop, first);
    ts_assert(async_of(lw)->operand.n == all); /* vectors fit (plan/copied.c) */
    (void)all;
    l.stage = ts__lower_i32(lw, 0);
    async_open(lw, &l, inits);
}

static void async_begin(ts_lower *lw, ts_val loop, ts_vals *inits)
{
    if (ts_tma_produces(&lw->assign.tma) || lw->status != TS_OK)
        return;
    if (!async_of(lw)->slice)
        async_of(lw)->slice = TS_NEW_N(lw->arena, uint8_t, lw->tile->inst.n);
    if (!async_of(lw)->slice)
        return;
    if (lw->assign.tma.copied) {
        async_begin_panels(lw, loop, inits);
        return;
    }
    async_invariants(lw, loop);
    uint32_t loads = async_of(lw)->operand.n, bytes = async_loads(lw, loop), stages = async_stages(lw, bytes);
    if (loads == async_of(lw)->operand.n || stages < 2) {
        async_of(lw)->operand.n = loads;
        return;
    }
    ts__note(lw->tile, loop, TS_NOTE_pipeline, "cp.async", "%u stages of %u bytes", stages, bytes);
    for (uint32_t i = loads; i < async_of(lw)->operand.n; i++)
        async_of(lw)->operand.at[i].at = ts__shared_fix(lw, stages * async_of(lw)->operand.at[i].size, 128,
                                                        async_of(lw)->operand.at[i].load);
    async_loop l = {.loop = loop, .stages = stages, .busy = 1, .stage = ts__lower_i32(lw, 0)};
    l.product = async_only_product(lw, loop);
    async_open(lw, &l, inits);
    if (!l.product)
        return;
    async_await(lw, &l);
    ts__mma_first(lw, l.product, inits);
}

/* stage + 1, around at the end. */
static ts_val async_after(ts_lower *lw, const async_loop *l)
{
    ts_builder *b = &lw->b;
    ts_val last = ts_cmp(b, TS_OP_cmpi, TS_EQ, l->stage, ts__lower_i32(lw, l->stages - 1), 0);
    return ts_select(b, last, ts__lower_i32(lw, 0), ts__lower_add(lw, l->stage, 1));
}

/* The stage `n` before the current one, around at the beginning. */
static ts_val async_before(ts_lower *lw, const async_loop *l, uint32_t n)
{
    bool one = n == 1; /* only stage 0 has none before it */
    ts_val first = ts_cmp(&lw->b, TS_OP_cmpi, one ? TS_EQ : TS_LT, l->stage, ts__lower_i32(lw, one ? 0 : n), 0);
    uint32_t more = l->stages - n;
    ts_val last = one ? ts__lower_i32(lw, more) : ts__lower_add(lw, l->stage, more);
    return ts_select(&lw->b, first, last, ts__lower_add(lw, l->stage, -(int32_t)n));
}

static ts_val async_enter(ts_lower *lw, ts_val loop, ts_val stage)
{
    async_loop *l = async_loop_of(lw, loop);
    ts_builder *b = &lw->b;
    if (!l)
        return stage;
    l->stage = stage;
    l->early.carried = stage + 1;
    ts_val iv = lw->values.scalar[loop + 1], step = lw->values.scalar[ts_opnd(lw->tile, loop, 2)];
    for (uint32_t i = 0; lw->assign.tma.copied && i < lw->assign.tma.groups.n; i++)
        if (lw->assign.tma.groups.at[i].loop == loop)
            lw->assign.tma.groups.at[i].stage = stage;
    if (!l->product)
        async_await(lw, l);
    ts_val ahead = ts_op2(b, TS_OP_muli, step, ts_int(b, ts_type_of(lw->fn, step), l->stages - l->busy), 0);
    l->filling = async_before(lw, l, l->busy);
    async_issue(lw, loop, ts_op2(b, TS_OP_addi, iv, ahead, 0), l->filling);
    lw->values.scalar[loop + 1] = iv;
    return l->early.carried;
}

static async_loop *async_loop_of_product(ts_lower *lw, ts_val product)
{
    for (uint32_t i = 0; i < async_of(lw)->loop.n; i++)
        if (async_of(lw)->loop.at[i].product == product)
            return &async_of(lw)->loop.at[i];
    return NULL;
}

/* The only product of a pipelined loop carries the fragments of its first k step from one step of the loop to the
 * next: before its last k step the next stage is waited for and becomes the current one, so that no product waits for a
 * barrier or for shared memory. */
static ts_prefetch *async_prefetch(ts_lower *lw, ts_val product)
{
    async_loop *l = async_loop_of_product(lw, product);
    return l ? &l->early : NULL;
}

static void async_advance(ts_lower *lw, ts_val product)
{
    async_loop *l = async_loop_of_product(lw, product);
    async_store_all(lw, l->loop, l->filling);
    async_await(lw, l);
    l->stage = async_after(lw, l);
}

static void async_next(ts_lower *lw, ts_val loop, ts_vals *values)
{
    const async_loop *l = async_loop_of(lw, loop);
    if (!l)
        return;
    if (!l->product)
        async_store_all(lw, loop, l->filling);
    (void)TS_PUSH(lw->arena, &values->v, l->product ? l->stage : async_after(lw, l));
    for (uint32_t i = 0; i < l->early.next.v.n; i++)
        (void)TS_PUSH(lw->arena, &values->v, l->early.next.v.at[i]);
}

static void async_types(ts_lower *lw, ts_val loop, ts_vals *types)
{
    const async_loop *l = async_loop_of(lw, loop);
    if (!l)
        return;
    (void)TS_PUSH(lw->arena, &types->v, TS_T_i32);
    for (uint32_t i = 0; i < l->early.next.v.n; i++)
        (void)TS_PUSH(lw->arena, &types->v, ts_type_of(lw->fn, l->early.next.v.at[i]));
}

static void async_leave(ts_lower *lw, ts_val loop)
{
    const async_loop *l = async_loop_of(lw, loop);
    if (l)
        ts_emit(&lw->b, TS_OP_cp_async_wait, TS_T_none, 0, NULL, TS_S(0, 0, 0), 0);
    if (l && l->product)
        ts__fma_loosen(lw, loop, l->product);
    /* Invariants are forgotten: their values may be placed anew. */
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++)
        if (async_of(lw)->operand.at[i].loop == loop && !async_of(lw)->operand.at[i].load)
            async_of(lw)->operand.at[i].x = 0;
}

static bool async_skips(ts_lower *lw, ts_val v)
{
    for (uint32_t i = 0; i < async_of(lw)->operand.n; i++) {
        const async_operand *o = &async_of(lw)->operand.at[i];
        bool in_chain = o->load && o->load == v;
        for (uint32_t k = 0; o->load && k < TS_COUNT(o->chain); k++)
            in_chain = in_chain || o->chain[k] == v;
        if (in_chain)
            return true;
    }
    return false;
}

const ts_strategy ts__strategy_cp_async = {
    .name = "cp_async",
    .state = sizeof(async_state),
    .loop_values = async_begin,
    .loop_enter = async_enter,
    .loop_next = async_next,
    .loop_types = async_types,
    .loop_end = async_leave,
    .skips = async_skips,
    .operand = async_place,
    .rounds = async_conversion,
    .prefetch = async_prefetch,
    .advance = async_advance,
};
