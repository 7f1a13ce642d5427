/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products (lower.h). mma.sync: accumulators stay in the fragment layout of assign.c; operands are fetched
 * in the fragments' layouts, from registers when they are there (the second product of attention), else
 * through swizzled shared memory by ldmatrix (16-bit), or by 32-bit and 64-bit loads (others). Types and
 * shapes that no instruction has go through shared memory and fma.
 */
#include "target/ptx/lower_mma.h"

typedef struct mma_shape {
    uint32_t log_b, log_m, log_n, log_k;
} mma_shape;

static mma_shape mma_shape_of(const ts_lower *lw, ts_val v)
{
    ts_type a = ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0)), c = ts_type_of(lw->tile, v);
    uint32_t rank = ts_type_rank(lw->module, c);
    const int64_t *da = ts_type_dims(lw->module, a), *dc = ts_type_dims(lw->module, c);
    return (mma_shape){rank == 3 ? (uint32_t)ts_log2((uint64_t)dc[0]) : 0, (uint32_t)ts_log2((uint64_t)dc[rank - 2]),
                       (uint32_t)ts_log2((uint64_t)dc[rank - 1]), (uint32_t)ts_log2((uint64_t)da[rank - 1])};
}

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
#include "ir/mma.def"
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
        byte = ts_op2(b, TS_OP_shli, byte, ts_lower_i32(lw, 8 * i), 0);
        word = word ? ts_op2(b, TS_OP_ori, word, byte, 0) : byte;
    }
    return word;
}

/* Addresses of ldmatrix: which element starts the 16-byte row that this lane names. */
static bool mma_matrix_layout(const ts_layout *fragment, bool trans, ts_layout *out)
{
    uint32_t k[3] = {fragment->reg[0], fragment->lane[0], fragment->lane[1]};
    const uint32_t *row = fragment->lane + 2;
    *out = (ts_layout){.bits = fragment->bits, .n_warp = fragment->n_warp, .n_reg = 3};
    memcpy(out->reg, trans ? row : k, sizeof k);
    memcpy(out->lane, trans ? k : row, sizeof k);
    memcpy(out->warp, fragment->warp, sizeof out->warp);
    out->lane[3] = fragment->reg[1];
    out->lane[4] = fragment->n_reg > 2 ? fragment->reg[2] : 0;
    return out->reg[0] && out->reg[1] && out->reg[2];
}

/* The operand's elements lie side by side along the rows of A or columns of B rather than along k. */
static bool mma_prefers_trans(const ts_layout *from, const ts_layout *fragment)
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
    uint32_t fixed = ts_xor_of(box->offset, box->bits, flat) * box->bytes;
    ts_val at = box->thread;
    if (fixed & box->taken)
        at = ts_op2(&lw->b, TS_OP_xori, at, ts_lower_i32(lw, fixed & box->taken), 0);
    return ts_lower_ptr(lw, box->base, at, fixed & ~box->taken);
}

mma_box ts__mma_box(ts_lower *lw, ts_val base, const ts_layout *lanes, const uint32_t *offset, uint32_t bytes)
{
    mma_box box = {.base = base, .bits = lanes->bits, .offset = offset, .bytes = bytes};
    uint32_t lane[TS_LAYOUT_LANES], warp[TS_LAYOUT_WARPS] = {0};
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        box.taken |= lane[i] = ts_xor_of(offset, box.bits, lanes->lane[i]) * bytes;
    for (uint32_t i = 0; i < lanes->n_warp; i++)
        box.taken |= warp[i] = ts_xor_of(offset, box.bits, lanes->warp[i]) * bytes;
    box.thread = ts_lower_linear(lw, lane, warp);
    return box;
}

/* Reads the fragments of a 16-bit operand that lies in shared memory; out[reg >> 1]. */
void ts_lower_ldmatrix(ts_lower *lw, ts_val base, const ts_layout *fragment, const ts_layout *matrix, bool trans,
                       const uint32_t *offset, ts_val *out)
{
    mma_box box = ts__mma_box(lw, base, matrix, offset, 2);
    uint32_t n = fragment->n_reg > 2 ? 4 : 2, inner = fragment->n_reg > 2 ? 7 : 3, repeats = ts_lower_repeats(fragment) & ~7u;
    ts_type types[4] = {TS_T_i32, TS_T_i32, TS_T_i32, TS_T_i32};
    for (uint32_t r = 0; r < 1u << fragment->n_reg; r++) {
        if (r & (inner | repeats))
            continue;
        ts_val at = ts__mma_address(lw, &box, ts_lower_fixed(fragment, r));
        ts_val v = ts_emit_multi(&lw->b, TS_OP_ldmatrix, 1, &at, TS_S(0, n, trans), 0, n, types);
        for (uint32_t i = 0; i < n; i++)
            out[(r >> 1) + i] = v + 1 + i;
    }
    for (uint32_t r = 0; r < 1u << fragment->n_reg; r += 2)
        if (r & repeats)
            out[r >> 1] = out[(r & ~repeats) >> 1];
}

/* Reads fragments with plain loads of 2^log_pack elements at once; out[reg >> log_pack]. */
static void mma_load_words(ts_lower *lw, ts_val base, const ts_layout *fragment, const uint32_t *offset, uint32_t bytes,
                           uint32_t log_pack, ts_type word, ts_val *out)
{
    mma_box box = ts__mma_box(lw, base, fragment, offset, bytes);
    for (uint32_t r = 0; r < 1u << fragment->n_reg; r += 1u << log_pack)
        ts_lower_ld(lw, word, ts__mma_address(lw, &box, ts_lower_fixed(fragment, r)), 1, TS_CACHE_NONE, 0, 0, &out[r >> log_pack]);
}

static void mma_plan(ts_lower *lw, mma_source *s, ts_val x, const ts_layout *fragment, const mma_row *row)
{
    const ts_layout *from = lw->assign.home[x];
    *s = (mma_source){.x = x, .fragment = *fragment, .bytes = TS_MAX(1u, ts_type_bits(lw->module, ts_lower_elem(lw, x)) / 8)};
    if (from)
        ts_move_plan(from, fragment, s->bytes, &s->move);
    s->shared = s->move.kind == TS_MOVE_SHARED || s->move.kind == TS_MOVE_SHUFFLE;
    if (!s->shared)
        return;
    if (row->log_pack == 1) {
        s->trans = mma_prefers_trans(from, fragment) && mma_matrix_layout(fragment, true, &s->matrix);
        s->by_matrix = s->trans || mma_matrix_layout(fragment, false, &s->matrix);
    }
    s->size = s->bytes << from->bits;
    ts_move_plan_shared(from, s->by_matrix ? &s->matrix : fragment, s->bytes, true, &s->move);
}

static void mma_prepare(ts_lower *lw, mma_source *s, ts_val x, const ts_layout *fragment, const mma_row *row)
{
    mma_plan(lw, s, x, fragment, row);
    s->placed = s->shared ? ts_cp_place(lw, x) : 0;
    if (!s->shared || s->placed)
        return;
    const ts_layout *from = lw->assign.home[x];
    s->at = ts_lower_to_shared(lw, x, ts_lower_elem(lw, x), from, ts_lower_get(lw, x, from), s->move.offset);
}

/* Registers of an operand, packed as the instruction wants them. */
static ts_val *mma_fetch(ts_lower *lw, const mma_source *s, const mma_row *row)
{
    ts_type elem = ts_lower_elem(lw, s->x), word = row->log_pack ? TS_T_i32 : elem == TS_T_tf32 ? TS_T_f32 : elem;
    uint32_t pack = row->log_pack;
    ts_val *out = ts_lower_regs(lw, &s->fragment);
    if (!s->shared) {
        const ts_val *regs = ts_lower_get(lw, s->x, &s->fragment);
        for (uint32_t r = 0; r < 1u << s->fragment.n_reg; r += 1u << pack)
            out[r >> pack] = mma_pack(lw, regs + r, pack);
        return out;
    }
    ts_val base = s->placed ? s->placed : ts_shared_pointer(lw, s->by_matrix ? elem : word, s->at);
    if (s->placed && !s->by_matrix && word != elem)
        base = ts_cast(&lw->b, TS_OP_ptr_to_ptr, base, ts_type_ptr(lw->module, word, TS_SHARED), 0);
    if (s->by_matrix)
        ts_lower_ldmatrix(lw, base, &s->fragment, &s->matrix, s->trans, s->move.offset, out);
    else
        mma_load_words(lw, base, &s->fragment, s->move.offset, s->bytes, pack, word, out);
    if (!s->placed)
        ts_shared_done(lw, s->at, s->size);
    return out;
}

/* ---- mma.sync -------------------------------------------------------------------------------------------------- */

/* The register whose fixed part is `flat` (bits that are not in registers are ignored). */
static uint32_t mma_reg(const ts_layout *layout, uint32_t flat)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < layout->n_reg; i++)
        r |= layout->reg[i] & flat ? 1u << i : 0;
    return r;
}

typedef struct mma_job {
    mma_shape shape;
    mma_row row;
    const ts_layout *c, *a, *b;
    ts_val *ra, *rb, *rc;
    uint32_t attr;
} mma_job;

/* All k steps of one m x n block whose first accumulator is register `r`. */
static void mma_block(ts_lower *lw, const mma_job *job, uint32_t r)
{
    uint32_t flat = ts_lower_fixed(job->c, r), log_n = job->shape.log_n, log_m = job->shape.log_m, log_k = job->shape.log_k;
    uint32_t n = flat & ((1u << log_n) - 1), m = flat >> log_n & ((1u << log_m) - 1), b = flat >> (log_n + log_m);
    uint32_t n_a = job->row.n_a, n_b = job->row.n_b, n_c = job->row.n_c;
    ts_type types[4];
    for (uint32_t i = 0; i < n_c; i++)
        types[i] = ts_type_of(lw->fn, job->rc[r + i]);
    for (uint32_t k = 0; k < 1u << (log_k - job->row.log_k); k++) {
        ts_val opnds[12];
        uint32_t at_k = k << job->row.log_k;
        uint32_t ra = mma_reg(job->a, at_k | m << log_k | b << (log_k + log_m)) >> job->row.log_pack;
        uint32_t rb = mma_reg(job->b, n | at_k << log_n | b << (log_k + log_n)) >> job->row.log_pack;
        memcpy(opnds, job->ra + ra, n_a * sizeof *opnds);
        memcpy(opnds + n_a, job->rb + rb, n_b * sizeof *opnds);
        memcpy(opnds + n_a + n_b, job->rc + r, n_c * sizeof *opnds);
        ts_val v = ts_emit_multi(&lw->b, TS_OP_mma_sync, n_a + n_b + n_c, opnds, job->attr, 0, n_c, types);
        for (uint32_t i = 0; i < n_c; i++)
            job->rc[r + i] = v + 1 + i;
    }
}

bool ts__mma_source(ts_lower *lw, ts_val v, uint32_t side, mma_source *source)
{
    uint32_t row = lw->assign.row[v];
    mma_shape s = mma_shape_of(lw, v);
    mma_row info = mma_row_of(row);
    const ts_layout *c = ts_lower_home(lw, v);
    ts_layout fragment = side ? ts_mma_layout_b((ts_mma)row, c, s.log_b, s.log_m, s.log_n, s.log_k)
                              : ts_mma_layout_a((ts_mma)row, c, s.log_b, s.log_m, s.log_n, s.log_k);
    mma_plan(lw, source, ts_opnd(lw->tile, v, side), &fragment, &info);
    return source->shared;
}

static void mma_sync(ts_lower *lw, ts_val v)
{
    uint32_t row = lw->assign.row[v], attr = ts_at(lw->tile, v)->aux, flags = 0;
    mma_job job = {.shape = mma_shape_of(lw, v), .row = mma_row_of(row), .c = ts_lower_home(lw, v)};
    mma_shape s = job.shape;
    ts_layout a = ts_mma_layout_a((ts_mma)row, job.c, s.log_b, s.log_m, s.log_n, s.log_k);
    ts_layout b = ts_mma_layout_b((ts_mma)row, job.c, s.log_b, s.log_m, s.log_n, s.log_k);
    bool half = ts_lower_elem(lw, v) == TS_T_f16;
    job.a = &a;
    job.b = &b;
    mma_source from_a, from_b;
    mma_prepare(lw, &from_a, ts_opnd(lw->tile, v, 0), &a, &job.row);
    mma_prepare(lw, &from_b, ts_opnd(lw->tile, v, 1), &b, &job.row);
    if ((from_a.shared && !from_a.placed) || (from_b.shared && !from_b.placed))
        ts_lower_barrier(lw);
    job.ra = mma_fetch(lw, &from_a, &job.row);
    job.rb = mma_fetch(lw, &from_b, &job.row);
    job.rc = ts_lower_regs(lw, job.c);
    const ts_val *old = ts_lower_get(lw, ts_opnd(lw->tile, v, 2), job.c);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.rc[r] = half ? ts_cast(&lw->b, TS_OP_ftof, old[r], TS_T_f32, 0) : old[r];
    if (ts_at(lw->tile, v)->op == TS_OP_mmai)
        flags = (attr & TS_A_UNSIGNED ? TS_MMA_U_A : 0) | (attr & TS_A_UNSIGNED_B ? TS_MMA_U_B : 0);
    job.attr = TS_MMA_ATTR(row, 0, flags);
    uint32_t inner = job.row.n_c - 1u, repeats = ts_lower_repeats(job.c) & ~inner;
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        if (!(r & (inner | repeats)))
            mma_block(lw, &job, r);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.rc[r] = half ? ts_cast(&lw->b, TS_OP_ftof, job.rc[r & ~repeats], TS_T_f16, 0) : job.rc[r & ~repeats];
    ts_lower_set(lw, v, job.c, job.rc);
}

/* ---- fma ---------------------------------------------------------------------------------------------------------- */

/* An operand in shared memory, row-major, and how its coordinates move addresses (bytes). */
typedef struct mma_plane {
    ts_val base;       /* of this thread: its row or column, and batch */
    ts_type elem;
    uint32_t bytes, at, size;
} mma_plane;

static mma_plane mma_plane_of(ts_lower *lw, ts_val x)
{
    const ts_layout *from = ts_lower_home(lw, x);
    uint32_t flat[TS_LAYOUT_BITS];
    mma_plane plane = {.elem = ts_lower_elem(lw, x)};
    for (uint32_t i = 0; i < TS_LAYOUT_BITS; i++)
        flat[i] = 1u << i;
    plane.bytes = TS_MAX(1u, ts_type_bits(lw->module, plane.elem) / 8);
    plane.size = plane.bytes << from->bits;
    plane.at = ts_lower_to_shared(lw, x, plane.elem, from, ts_lower_get(lw, x, from), flat);
    plane.base = ts_shared_pointer(lw, plane.elem, plane.at);
    return plane;
}

static ts_val mma_widen(ts_lower *lw, ts_val x, ts_type to, bool is_unsigned)
{
    ts_type from = ts_type_of(lw->fn, x);
    if (from == to)
        return x;
    if (to == TS_T_i32)
        return ts_cast(&lw->b, TS_OP_exti, x, to, is_unsigned ? TS_A_UNSIGNED : 0);
    if (from == TS_T_tf32 && to == TS_T_f32)
        return ts_cast(&lw->b, TS_OP_bitcast, x, to, 0);
    return ts_cast(&lw->b, TS_OP_ftof, x, to, 0);
}

/* Byte offset along an operand for coordinates of the accumulator: shifts of its flat bits. */
static uint32_t mma_fma_offset(uint32_t flat, const mma_shape *s, bool is_a, uint32_t bytes)
{
    uint32_t n = flat & ((1u << s->log_n) - 1), m = flat >> s->log_n & ((1u << s->log_m) - 1);
    uint32_t b = flat >> (s->log_n + s->log_m);
    return (is_a ? m << s->log_k | b << (s->log_k + s->log_m) : n | b << (s->log_k + s->log_n)) * bytes;
}

static ts_val mma_fma_base(ts_lower *lw, const mma_plane *plane, const ts_layout *c, const mma_shape *s, bool is_a)
{
    uint32_t lane[TS_LAYOUT_LANES], warp[TS_LAYOUT_WARPS] = {0};
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        lane[i] = mma_fma_offset(c->lane[i], s, is_a, plane->bytes);
    for (uint32_t i = 0; i < c->n_warp; i++)
        warp[i] = mma_fma_offset(c->warp[i], s, is_a, plane->bytes);
    return ts_lower_ptr(lw, plane->base, ts_lower_linear(lw, lane, warp), 0);
}

/* The element an accumulator register needs; equal offsets are loaded once. */
static ts_val mma_fma_element(ts_lower *lw, const mma_plane *plane, ts_val base, uint32_t offset, ts_type acc, bool is_unsigned,
                              ts_val *seen, uint32_t *seen_at, uint32_t *n_seen)
{
    for (uint32_t i = 0; i < *n_seen; i++)
        if (seen_at[i] == offset)
            return seen[i];
    ts_val x;
    ts_lower_ld(lw, plane->elem, ts_lower_ptr(lw, base, 0, offset), 1, TS_CACHE_NONE, 0, 0, &x);
    x = mma_widen(lw, x, acc, is_unsigned);
    seen_at[*n_seen] = offset;
    seen[(*n_seen)++] = x;
    return x;
}

static void mma_fma_step(ts_lower *lw, ts_val v, const ts_layout *c, const mma_shape *s, const mma_plane *plane, const ts_val *base,
                         ts_val k, ts_val *acc)
{
    uint32_t n = 1u << c->n_reg, attr = ts_at(lw->tile, v)->aux, n_seen[2] = {0, 0};
    ts_type type = ts_type_of(lw->fn, acc[0]);
    ts_val *seen[2] = {ts_lower_regs(lw, c), ts_lower_regs(lw, c)}, at[2];
    uint32_t *seen_at[2] = {TS_NEW_N(lw->arena, uint32_t, n), TS_NEW_N(lw->arena, uint32_t, n)};
    if (!seen_at[0] || !seen_at[1])
        return;
    at[0] = ts_lower_ptr(lw, base[0], ts_op2(&lw->b, TS_OP_muli, k, ts_lower_i32(lw, plane[0].bytes), 0), 0);
    at[1] = ts_lower_ptr(lw, base[1], ts_op2(&lw->b, TS_OP_muli, k, ts_lower_i32(lw, plane[1].bytes << s->log_n), 0), 0);
    for (uint32_t r = 0; r < n; r++) {
        ts_val x[2];
        if (r & ts_lower_repeats(c))
            continue;
        for (uint32_t side = 0; side < 2; side++)
            x[side] = mma_fma_element(lw, &plane[side], at[side],
                                      mma_fma_offset(ts_lower_fixed(c, r), s, side == 0, plane[side].bytes), type,
                                      attr & (side ? TS_A_UNSIGNED_B : TS_A_UNSIGNED), seen[side], seen_at[side], &n_seen[side]);
        acc[r] = type == TS_T_i32 ? ts_op2(&lw->b, TS_OP_addi, ts_op2(&lw->b, TS_OP_muli, x[0], x[1], 0), acc[r], 0)
                                  : ts_op3(&lw->b, TS_OP_fma, x[0], x[1], acc[r], 0);
    }
}

static void mma_fma(ts_lower *lw, ts_val v)
{
    mma_shape s = mma_shape_of(lw, v);
    const ts_layout *c = ts_lower_home(lw, v);
    ts_type elem = ts_lower_elem(lw, v), type = elem == TS_T_f16 || elem == TS_T_bf16 ? TS_T_f32 : elem;
    const ts_val *old = ts_lower_get(lw, ts_opnd(lw->tile, v, 2), c);
    mma_plane plane[2] = {mma_plane_of(lw, ts_opnd(lw->tile, v, 0)), mma_plane_of(lw, ts_opnd(lw->tile, v, 1))};
    ts_val *acc = ts_lower_regs(lw, c), base[2];
    ts_lower_barrier(lw);
    for (uint32_t side = 0; side < 2; side++)
        base[side] = mma_fma_base(lw, &plane[side], c, &s, side == 0);
    for (uint32_t r = 0; r < 1u << c->n_reg; r++)
        acc[r] = mma_widen(lw, old[r], type, false);
    ts_val opener = ts_for_begin(&lw->b, ts_lower_i32(lw, 0), ts_lower_i32(lw, 1 << s.log_k), ts_lower_i32(lw, 1),
                                 1u << c->n_reg, acc, 0);
    for (uint32_t r = 0; r < 1u << c->n_reg; r++)
        acc[r] = opener + 2 + r;
    mma_fma_step(lw, v, c, &s, plane, base, opener + 1, acc);
    ts_term(&lw->b, TS_OP_continue, 1u << c->n_reg, acc);
    ts_end_like(&lw->b, opener);
    ts_val first = lw->fn->inst.n - (1u << c->n_reg);
    for (uint32_t r = 0; r < 1u << c->n_reg; r++)
        acc[r] = mma_widen(lw, first + (r & ~ts_lower_repeats(c)), elem, false);
    for (uint32_t side = 0; side < 2; side++)
        ts_shared_done(lw, plane[side].at, plane[side].size);
    ts_lower_set(lw, v, c, acc);
}

void ts_lower_mma(ts_lower *lw, ts_val v)
{
    if (ts_at(lw->tile, v)->op == TS_OP_mmaf_scaled)
        ts_lower_fail(lw, TS_INTERNAL, v, "mmaf_scaled must be expanded before layouts are assigned");
    else if (lw->assign.way[v] == TS_MMA_WAY_WGMMA)
        ts_lower_wgmma(lw, v);
    else if (lw->assign.way[v] == TS_MMA_WAY_SYNC)
        mma_sync(lw, v);
    else
        mma_fma(lw, v);
}
