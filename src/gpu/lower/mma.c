/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products (lower.h). mma.sync: accumulators stay in the fragments of assign_mma.c; operands are fetched
 * in the fragments' layouts, from registers when they are there (the second product of attention), else
 * through swizzled shared memory: by ldmatrix where 16-byte pieces of it lie along k (16-bit: along either
 * axis), else by 32-bit and 64-bit loads. Types and shapes that no instruction has: lower/fma.c.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/mma.h"
#include "gpu/lower/op.h"
#include "gpu/lower/strategy.h"

ts_mma_shape ts__mma_shape(const ts_lower *lw, ts_val v)
{
    ts_type a = ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0)), c = ts_type_of(lw->tile, v);
    uint32_t rank = ts_type_rank(lw->module, c);
    const int64_t *da = ts_type_dims(lw->module, a), *dc = ts_type_dims(lw->module, c);
    return (ts_mma_shape){rank == 3 ? (uint32_t)ts_log2((uint64_t)dc[0]) : 0, (uint32_t)ts_log2((uint64_t)dc[rank - 2]),
                          (uint32_t)ts_log2((uint64_t)dc[rank - 1]), (uint32_t)ts_log2((uint64_t)da[rank - 1])};
}

enum { MMA_MAX_OPERANDS = 12 };
enum { MMA_KEPT = 32768 }; /* bytes of operands that stay in shared memory between products */

/* One instruction: log2 of its shape, registers, elements of A and B in a 32-bit register (log2). */
typedef struct mma_row {
    uint8_t log_m, log_n, log_k, n_a, n_b, n_c, log_pack;
} mma_row;

static mma_row mma_row_of(uint32_t row)
{
    static const struct {
        uint8_t m, n, k, a, ra, rb, rc;
    } rows[] = {
#define TS_MMA(name, m, n, k, ta, tb, tc, ra, rb, rc, sm) {m, n, k, TS_T_##ta, ra, rb, rc},
#include "tessera/mma.def"
    };
    uint32_t pack = rows[row].a == TS_T_f16 || rows[row].a == TS_T_bf16 ? 1 : rows[row].k == 32 ? 2 : 0;
    return (mma_row){(uint8_t)ts_log2(rows[row].m), (uint8_t)ts_log2(rows[row].n), (uint8_t)ts_log2(rows[row].k),
                     rows[row].ra, rows[row].rb, rows[row].rc, (uint8_t)pack};
}

/* ---- operands ------------------------------------------------------------------------------------------------ */

/* Elements of a register packed, low part first; undoes a split that made them. */
static ts_val mma_pack(ts_lower *lw, const ts_val *x, uint32_t log_pack)
{
    ts_builder *b = &lw->b;
    ts_type type = ts_type_of(lw->fn, x[0]);
    if (log_pack == 0)
        return type == TS_T_tf32 ? ts_cast(b, TS_OP_bitcast, x[0], TS_T_f32, 0) : x[0];
    if (log_pack == 1)
        return ts_emit(b, TS_OP_pack2, TS_T_i32, 2, x, 0, 0);
    ts_val word = 0;
    for (uint32_t i = 0; i < 4; i++) {
        ts_val byte = type == TS_T_i8 ? x[i] : ts_cast(b, TS_OP_bitcast, x[i], TS_T_i8, 0);
        byte = ts_cast(b, TS_OP_exti, byte, TS_T_i32, TS_A_UNSIGNED);
        byte = ts_op2(b, TS_OP_shli, byte, ts__lower_i32(lw, 8 * i), 0);
        word = word ? ts_op2(b, TS_OP_ori, word, byte, 0) : byte;
    }
    return word;
}

/* Addresses of ldmatrix: which element starts the 16-byte row that this lane names. A row is what a 32-bit
 * register holds (2^log_pack elements), times four lanes; `trans` swaps these lanes with those of the rows. */
static bool mma_matrix_layout(const ts_linear *fragment, uint32_t log_pack, bool trans, ts_linear *out)
{
    const uint32_t *row = fragment->lane + 2, *k = fragment->lane, *more = fragment->reg + log_pack;
    ts_assert(log_pack <= 2 && log_pack <= fragment->n_reg);
    *out = (ts_linear){.bits = fragment->bits, .n_warp = fragment->n_warp, .n_reg = (uint8_t)(log_pack + 2)};
    memcpy(out->reg, fragment->reg, log_pack * sizeof *out->reg);
    memcpy(out->reg + log_pack, k, 2 * sizeof *k);
    memcpy(out->lane, row, 3 * sizeof *row);
    if (trans) { /* 16-bit: rows of memory run along what lanes 2 to 4 count */
        memcpy(out->reg, row, 3 * sizeof *row);
        out->lane[0] = fragment->reg[0];
        memcpy(out->lane + 1, k, 2 * sizeof *k);
    }
    memcpy(out->warp, fragment->warp, sizeof out->warp);
    for (uint32_t i = 0; i < 2 && log_pack + i < fragment->n_reg; i++)
        out->lane[3 + i] = more[i];
    for (uint32_t i = 0; i < out->n_reg; i++)
        if (!out->reg[i])
            return false;
    return true;
}

/* The operand's elements lie side by side along the rows of A or columns of B rather than along k. */
static bool mma_prefers_trans(const ts_linear *from, const ts_linear *fragment)
{
    for (uint32_t i = 0; i < from->n_reg; i++) {
        if (from->reg[i] == fragment->lane[2])
            return true;
        if (from->reg[i] == fragment->reg[0])
            return false;
    }
    return false;
}

ts_val ts__mma_address(ts_lower *lw, const mma_box *box, uint32_t flat)
{
    ts_assert(flat >> box->bits == 0);
    uint32_t fixed = ts_xor_of(box->offset, box->bits, flat) * box->bytes;
    ts_val at = box->thread;
    if (fixed & box->taken)
        at = ts_op2(&lw->b, TS_OP_xori, at, ts__lower_i32(lw, fixed & box->taken), 0);
    return ts__lower_ptr(lw, box->base, at, fixed & ~box->taken);
}

mma_box ts__mma_box(ts_lower *lw, ts_val base, const ts_linear *lanes, const uint32_t *offset, uint32_t bytes)
{
    mma_box box = {.base = base, .bits = lanes->bits, .offset = offset, .bytes = bytes};
    uint32_t lane[TS_LAYOUT_LANES], warp[TS_LAYOUT_WARPS] = {0};
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        box.taken |= lane[i] = ts_xor_of(offset, box.bits, lanes->lane[i]) * bytes;
    for (uint32_t i = 0; i < lanes->n_warp; i++)
        box.taken |= warp[i] = ts_xor_of(offset, box.bits, lanes->warp[i]) * bytes;
    box.thread = ts__lower_linear(lw, lane, warp);
    return box;
}

/* Rows of ldmatrix where memory has them: 16-byte pieces along k, or along the other axis (16-bit only). */
static void mma_plan_matrix(mma_source *s, uint32_t log_pack)
{
    if (s->bytes << log_pack != 4)
        return;
    s->trans = log_pack == 1 && mma_prefers_trans(s->from, &s->fragment) &&
               mma_matrix_layout(&s->fragment, 1, true, &s->matrix);
    s->by_matrix = s->trans || mma_matrix_layout(&s->fragment, log_pack, false, &s->matrix);
    if (log_pack != 1 && s->by_matrix) /* elements are taken one by one unless they come along k */
        s->by_matrix = s->from->n_reg && s->from->reg[0] == s->matrix.reg[0];
}

static void mma_plan(ts_lower *lw, mma_source *s, ts_val x, const ts_linear *fragment, uint32_t log_pack)
{
    *s = (mma_source){.x = x, .fragment = *fragment, .from = lw->assign.home[x],
                      .bytes = TS_MAX(1u, ts_type_bits(lw->module, ts__lower_elem(lw, x)) / 8)};
    if (s->from)
        ts__move_plan(s->from, fragment, s->bytes, &s->move);
    s->shared = s->move.kind == TS_MOVE_SHARED || s->move.kind == TS_MOVE_SHUFFLE;
    if (!s->shared)
        return;
    mma_plan_matrix(s, log_pack);
    s->size = s->bytes << s->from->bits;
    ts_whole whole = s->by_matrix || log_pack ? TS_WHOLE_LOAD : TS_WHOLE_STORE;
    ts__move_plan_shared(s->from, s->by_matrix ? &s->matrix : fragment, s->bytes, whole, &s->move);
}

void ts__mma_prepare(ts_lower *lw, mma_source *s)
{
    s->placed = s->shared ? ts__hook_operand(lw, s->x) : 0;
    s->rounds = s->placed ? ts__hook_rounds(lw, s->x) : 0;
    if (s->shared && !s->placed)
        s->at = ts__lower_to_shared(lw, s->x, ts__lower_elem(lw, s->x), s->from, ts__lower_get(lw, s->x, s->from),
                                   s->move.offset);
}

/* ---- operands of several products --------------------------------------------------------------------------- */

/* Does a product behind `v`, before control flow, read tile `x` too? */
static bool mma_reads_again(const ts_lower *lw, ts_val v, ts_val x)
{
    for (ts_val u = v + 1; u < lw->tile->inst.n; u++) {
        const ts_inst *inst = ts_at(lw->tile, u);
        if (inst->op == TS_OP_end || ts_info(inst)->flags & (TS_REGION | TS_TERM))
            return false;
        bool reads = lw->assign.mma_path[u] == TS_MMA_PATH_SYNC;
        if (reads && (ts_opnd(lw->tile, u, 0) == x || ts_opnd(lw->tile, u, 1) == x))
            return true;
    }
    return false;
}

/* Where a product before this one has left the operand, in the order that this one reads. */
static bool mma_find(const ts_lower *lw, mma_source *s)
{
    for (uint32_t i = 0; s->shared && i < lw->kept.n; i++) {
        const ts_kept *kept = &lw->kept.at[i];
        if (kept->x != s->x || kept->from != s->from ||
            memcmp(kept->offset, s->move.offset, s->from->bits * sizeof *kept->offset) != 0)
            continue;
        s->at = kept->at;
        return true;
    }
    return false;
}

static void mma_keep(ts_lower *lw, const mma_source *s)
{
    ts_kept kept = {.x = s->x, .from = s->from, .at = s->at, .bytes = s->size};
    memcpy(kept.offset, s->move.offset, sizeof kept.offset);
    (void)TS_PUSH(lw->arena, &lw->kept, kept);
}

static uint32_t mma_kept_bytes(const ts_lower *lw)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < lw->kept.n; i++)
        sum += lw->kept.at[i].bytes;
    return sum;
}

/* Gives back what product `v` has written and no later one reads, and what it was the last to read. */
static void mma_release(ts_lower *lw, ts_val v, const mma_source *s)
{
    if (s->shared && !s->placed && !s->kept) {
        if (mma_reads_again(lw, v, s->x) && mma_kept_bytes(lw) + s->size <= MMA_KEPT)
            mma_keep(lw, s);
        else
            ts__shared_done(lw, s->at, s->size);
    }
    for (uint32_t i = lw->kept.n; i-- > 0;)
        if (!mma_reads_again(lw, v, lw->kept.at[i].x)) {
            ts__shared_done(lw, lw->kept.at[i].at, lw->kept.at[i].bytes);
            lw->kept.at[i] = lw->kept.at[--lw->kept.n];
        }
}

uint32_t ts__mma_reg(const ts_linear *layout, uint32_t flat)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        r |= layout->reg[i] & flat ? 1u << i : 0;
    return r;
}

/* ---- mma.sync -------------------------------------------------------------------------------------------------- */

typedef struct mma_side {
    mma_source source;
    mma_box box;
    ts_type word;      /* what a register holds */
    uint32_t log_n;    /* registers a load fills, log2 */
    uint32_t k_bit;    /* flat bit of k */
    ts_val *reg;       /* [register of the fragment >> log_pack] */
} mma_side;

typedef struct mma_job {
    ts_mma_shape shape;
    mma_row row;
    const ts_linear *c;
    mma_side side[2];
    ts_val *acc;
    uint32_t attr;
} mma_job;

static void mma_side_open(ts_lower *lw, mma_job *job, uint32_t at)
{
    mma_side *side = &job->side[at];
    mma_source *s = &side->source;
    uint32_t pack = job->row.log_pack;
    ts_type elem = ts__lower_elem(lw, s->x);
    side->word = pack ? TS_T_i32 : elem == TS_T_tf32 ? TS_T_f32 : elem;
    side->k_bit = at ? job->shape.log_n : 0;
    side->reg = ts__lower_regs(lw, &s->fragment);
    if (!s->shared) {
        const ts_val *regs = ts__lower_get(lw, s->x, &s->fragment);
        for (uint32_t r = 0; r < 1u << s->fragment.n_reg; r += 1u << pack)
            side->reg[r >> pack] = mma_pack(lw, regs + r, pack);
        return;
    }
    ts_val base = s->placed ? s->placed : ts__shared_pointer(lw, s->by_matrix ? elem : side->word, s->at);
    if (s->placed && !s->by_matrix && side->word != elem)
        base = ts_cast(&lw->b, TS_OP_ptr_to_ptr, base, ts_type_ptr(lw->module, side->word, TS_SHARED), 0);
    side->box = ts__mma_box(lw, base, s->by_matrix ? &s->matrix : &s->fragment, s->move.offset, s->bytes);
    side->log_n = s->by_matrix ? TS_MIN(2u, s->fragment.n_reg - pack) : 0;
}

/* f32 in a register as the nearest tf32. */
static ts_val mma_round(ts_lower *lw, ts_val conversion, ts_val x)
{
    if (ts_type_of(lw->fn, x) != TS_T_f32)
        x = ts_cast(&lw->b, TS_OP_bitcast, x, TS_T_f32, 0);
    x = ts_cast(&lw->b, TS_OP_ftof, x, TS_T_tf32, ts_at(lw->tile, conversion)->aux);
    return ts_cast(&lw->b, TS_OP_bitcast, x, TS_T_f32, 0);
}

/* Fills 2^log_n registers from `r` on. */
static void mma_load(ts_lower *lw, const mma_side *side, uint32_t r, ts_val *out)
{
    ts_val at = ts__mma_address(lw, &side->box, ts_lower_fixed(&side->source.fragment, r));
    ts_type types[4] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32};
    uint32_t n = 1u << side->log_n;
    if (!side->source.by_matrix) {
        ts__lower_ld(lw, side->word, at, 1, TS_CACHE_NONE, 0, 0, out);
    } else {
        ts_val v = ts_emit_multi(&lw->b, TS_OP_ldmatrix, 1, &at, TS_S(0, n, side->source.trans), 0, n, types);
        for (uint32_t i = 0; i < n; i++)
            out[i] = v + 1 + i;
    }
    for (uint32_t i = 0; side->source.rounds && i < n; i++)
        out[i] = mma_round(lw, side->source.rounds, out[i]);
}

/* How the fragments of a step come: by loads, from values that hold them already, or as loaded before. */
typedef enum mma_get { MMA_LOAD, MMA_TAKE, MMA_GIVE } mma_get;

/* Goes through what begins at step `k` (a load may serve later steps too), in one order whatever is done: loads it,
 * takes it from the values from *next on, or adds it to `out`. */
static void mma_fetch(ts_lower *lw, const mma_job *job, mma_side *side, uint32_t k, mma_get get, ts_val *next,
                      ts_vals *out)
{
    const ts_linear *fragment = &side->source.fragment;
    uint32_t pack = job->row.log_pack, inner = (1u << (side->log_n + pack)) - 1,
             repeats = ts__lower_repeats(fragment) & ~inner;
    uint32_t mask = ((1u << job->shape.log_k) - (1u << job->row.log_k)) << side->k_bit,
             at = k << (job->row.log_k + side->k_bit);
    for (uint32_t r = 0; side->source.shared && r < 1u << fragment->n_reg; r += inner + 1) {
        ts_val *reg = side->reg + (r >> pack);
        if ((ts_lower_fixed(fragment, r) & mask) != at)
            continue;
        if (r & repeats)
            memcpy(reg, side->reg + ((r & ~repeats) >> pack), sizeof *reg << side->log_n);
        else if (get == MMA_LOAD)
            mma_load(lw, side, r, reg);
        for (uint32_t i = 0; !(r & repeats) && get != MMA_LOAD && i < 1u << side->log_n; i++)
            if (get == MMA_TAKE)
                reg[i] = (*next)++;
            else
                (void)TS_PUSH(lw->arena, &out->v, reg[i]);
    }
}

/* Step `k` of one m x n block whose first accumulator is register `r`. */
static void mma_block(ts_lower *lw, const mma_job *job, uint32_t r, uint32_t k)
{
    uint32_t flat = ts_lower_fixed(job->c, r), log_n = job->shape.log_n, log_m = job->shape.log_m,
             log_k = job->shape.log_k;
    uint32_t n = flat & ((1u << log_n) - 1), m = flat >> log_n & ((1u << log_m) - 1), b = flat >> (log_n + log_m);
    uint32_t n_a = job->row.n_a, n_b = job->row.n_b, n_c = job->row.n_c, at_k = k << job->row.log_k;
    uint32_t ra = ts__mma_reg(&job->side[0].source.fragment, at_k | m << log_k | b << (log_k + log_m));
    uint32_t rb = ts__mma_reg(&job->side[1].source.fragment, n | at_k << log_n | b << (log_k + log_n));
    ts_val opnds[MMA_MAX_OPERANDS];
    ts_type types[4];
    for (uint32_t i = 0; i < n_c; i++)
        types[i] = ts_type_of(lw->fn, job->acc[r + i]);
    memcpy(opnds, job->side[0].reg + (ra >> job->row.log_pack), n_a * sizeof *opnds);
    memcpy(opnds + n_a, job->side[1].reg + (rb >> job->row.log_pack), n_b * sizeof *opnds);
    memcpy(opnds + n_a + n_b, job->acc + r, n_c * sizeof *opnds);
    ts_val v = ts_emit_multi(&lw->b, TS_OP_mma_sync, n_a + n_b + n_c, opnds, job->attr, 0, n_c, types);
    for (uint32_t i = 0; i < n_c; i++)
        job->acc[r + i] = v + 1 + i;
}

/* All steps of k, each for all blocks, so that neighbours do not wait for each other; operands are fetched a
 * step ahead, those of the first step perhaps by the step of the loop before (ts_prefetch). */
static void mma_steps(ts_lower *lw, ts_val v, mma_job *job, uint32_t skip)
{
    uint32_t steps = 1u << (job->shape.log_k - job->row.log_k);
    ts_prefetch *early = ts__hook_prefetch(lw, v);
    ts_val next = early ? early->carried : 0;
    for (uint32_t i = 0; i < 2; i++)
        mma_fetch(lw, job, &job->side[i], 0, early ? MMA_TAKE : MMA_LOAD, &next, NULL);
    for (uint32_t k = 0; k < steps; k++) {
        for (uint32_t i = 0; i < 2 && k + 1 < steps; i++)
            mma_fetch(lw, job, &job->side[i], k + 1, MMA_LOAD, NULL, NULL);
        if (early && k + 1 == steps) {
            ts__hook_advance(lw, v);
            ts__mma_first(lw, v, &early->next);
        }
        for (uint32_t r = 0; r < 1u << job->c->n_reg; r++)
            if (!(r & skip))
                mma_block(lw, job, r, k);
    }
}

static ts_linear mma_fragment(ts_lower *lw, ts_val v, uint32_t side)
{
    ts_mma_shape s = ts__mma_shape(lw, v);
    const ts_linear *c = ts__lower_home(lw, v);
    ts_mma row = (ts_mma)lw->assign.row[v];
    return side ? ts__mma_layout_b(row, c, s.log_b, s.log_m, s.log_n, s.log_k)
                : ts__mma_layout_a(row, c, s.log_b, s.log_m, s.log_n, s.log_k);
}

bool ts__mma_source(ts_lower *lw, ts_val v, uint32_t side, mma_source *source)
{
    if (lw->assign.mma_path[v] == TS_MMA_PATH_FMA) {
        ts__fma_source(lw, v, side, source);
        return true;
    }
    ts_linear fragment = mma_fragment(lw, v, side);
    mma_plan(lw, source, ts_opnd(lw->tile, v, side), &fragment, mma_row_of(lw->assign.row[v]).log_pack);
    return source->shared;
}

/* Sources and addresses of both operands; writes what is not there yet to shared memory. */
static void mma_open(ts_lower *lw, ts_val v, mma_job *job)
{
    *job = (mma_job){.shape = ts__mma_shape(lw, v), .row = mma_row_of(lw->assign.row[v]), .c = ts__lower_home(lw, v)};
    bool placed = true;
    for (uint32_t i = 0; i < 2; i++) {
        mma_source *s = &job->side[i].source;
        ts__mma_source(lw, v, i, s);
        s->kept = mma_find(lw, s);
        if (!s->kept)
            ts__mma_prepare(lw, s);
        placed = placed && (!s->shared || s->placed || s->kept);
    }
    if (!placed)
        ts__lower_barrier(lw);
    for (uint32_t i = 0; i < 2; i++)
        mma_side_open(lw, job, i);
}

bool ts__mma_goes_ahead(ts_lower *lw, ts_val v)
{
    return lw->assign.mma_path[v] != TS_MMA_PATH_FMA || ts__fma_goes_ahead(lw, v);
}

void ts__mma_first(ts_lower *lw, ts_val v, ts_vals *out)
{
    if (lw->assign.mma_path[v] == TS_MMA_PATH_FMA) {
        ts__fma_first(lw, v, out);
        return;
    }
    mma_job job;
    mma_open(lw, v, &job);
    for (uint32_t i = 0; i < 2; i++)
        mma_fetch(lw, &job, &job.side[i], 0, MMA_LOAD, NULL, NULL);
    for (uint32_t i = 0; i < 2; i++)
        mma_fetch(lw, &job, &job.side[i], 0, MMA_GIVE, NULL, out);
}

static void mma_sync(ts_lower *lw, ts_val v)
{
    uint32_t row = lw->assign.row[v], attr = ts_at(lw->tile, v)->aux, flags = 0;
    mma_job job;
    mma_open(lw, v, &job);
    bool half = ts__lower_elem(lw, v) == TS_T_f16;
    job.acc = ts__lower_regs(lw, job.c);
    const ts_val *old = ts__lower_get(lw, ts_opnd(lw->tile, v, 2), job.c);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.acc[r] = half ? ts_cast(&lw->b, TS_OP_ftof, old[r], TS_T_f32, 0) : old[r];
    if (ts_at(lw->tile, v)->op == TS_OP_mmai)
        flags = (attr & TS_A_UNSIGNED ? TS_MMA_U_A : 0) | (attr & TS_A_UNSIGNED_B ? TS_MMA_U_B : 0);
    job.attr = TS_MMA_ATTR(row, 0, flags);
    uint32_t inner = job.row.n_c - 1u, repeats = ts__lower_repeats(job.c) & ~inner;
    mma_steps(lw, v, &job, inner | repeats);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.acc[r] = half ? ts_cast(&lw->b, TS_OP_ftof, job.acc[r & ~repeats], TS_T_f16, 0) : job.acc[r & ~repeats];
    for (uint32_t i = 0; i < 2; i++)
        mma_release(lw, v, &job.side[i].source);
    ts__lower_set(lw, v, job.c, job.acc);
}

void ts__lower_mma(ts_lower *lw, ts_val v)
{
    if (ts_at(lw->tile, v)->op == TS_OP_mmaf_scaled)
        ts__lower_fail(lw, TS_INTERNAL, v, "mmaf_scaled must be expanded before layouts are assigned");
    else if (ts__hook_product(lw, v))
        return;
    else if (lw->assign.mma_path[v] == TS_MMA_PATH_SYNC)
        mma_sync(lw, v);
    else
        ts__lower_fma(lw, v);
}
