/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products: c[m,n] += a[m,k] * b[k,n] on tiles.
 *
 *     a   packed row after row, in the type that is computed in (f32, f64 or i32)
 *     b   packed in panels of NR columns: [n / NR][k][NR], so that the kernel reads it in order
 *     c   in scratch; MR x NR of it sit in registers while k runs through the tile
 *
 * Packing is how a lazy operand is evaluated: a load goes from the array straight into the panel, with
 * conversions on the way. An operand that lies in memory as it is computed with, and is read too seldom to be worth a
 * copy, is read where it is. A tile carried round a k loop stays in its home and is updated in place.
 * Each element adds its products with k ascending by fma, which is what the evaluator does: same bits.
 *
 * An operand that is loaded for the product alone is copied from its array under masks, where it sticks out. What lies
 * beyond is zeros, and most of the work on them is left out: steps of k beyond both operands; rows beyond a and columns
 * beyond b, whose sums stay +0, unless infinities or NaN in the other operand would make NaN of them. Columns that end
 * within a panel go a vector at a time. What nothing looks at is not packed either.
 */
#include "target/llvm/cg.h"

#include <stdio.h>

enum { MMA_MAX_ROWS = 8, MMA_MAX_VECTORS = 4 }; /* of a block in registers */

typedef struct mma {
    cg *e;
    ts_val v, a, b;
    int64_t batch, m, n, k;
    uint32_t rank;
    ts_type work;            /* f32, f64, i32 */
    cg_reg reg;
    uint32_t bits, mr, nv;   /* lanes, rows and vectors of the register block */
    int64_t nr;
    cg_mem *ap, *bp, *c;
    const cg_mem *a_mem, *b_mem; /* operands that are read where they are, NULL: packed */
    bool zero;                   /* the accumulator is a constant, `start` */
    uint64_t start;
    cg_ref batch_at;
    uint32_t unroll;
    cg_ref m_end, n_end, k_end; /* i64: where work may stop; 0: at the end of the tile */
    cg_ref a_rows, a_cols, b_panels; /* i64: where packing may stop */
    uint32_t a_bits, a_copies;       /* lanes and vectors of one step of packing a */
    cg_ref within; /* i64: of a panel of b, where the block's columns begin; 0: at its beginning */
    cg_ref skipped; /* what the steps of k that were left out add: +0 makes +0 of -0, -0 changes nothing; 0: nothing */
} mma;

/* ---- operands -----------------------------------------------------------------------------------*/

static cg_ref mma_convert(mma *s, ts_type from, bool unsign, uint32_t bits, cg_ref x)
{
    cg *e = s->e;
    if (s->work == TS_T_i32)
        return cg_conv(e, unsign ? "zext" : "sext", cg_reg_of(e, from), CG_I32, bits, x);
    if (from == TS_T_f32 || from == TS_T_f64)
        return x;
    return cg_widen(e, from, bits, x);
}

/* Scale of an element: the scale tile has fewer entries along axis `axis` (k). */
static cg_ref mma_scale(mma *s, ts_val scale, cg_index at, uint32_t axis)
{
    cg *e = s->e;
    ts_type type = ts_type_of(e->fn, scale);
    int64_t entries = ts_type_dims(e->m, type)[axis];
    uint32_t shift = (uint32_t)ts_log2((uint64_t)(s->k / entries));
    at.axis[axis].base = cg_shr(e, at.axis[axis].base, shift);
    for (uint32_t b = 0; b < at.bits; b++)
        at.axis[axis].lane[b] >>= shift;
    cg_ref x = cg_is_tile(e, scale) ? cg_gen(e, scale, cg_intern(e, &at))
                                    : cg_splat(e, cg_reg_of(e, type), at.bits, cg_scalar(e, scale));
    ts_type elem = ts_type_elem(e->m, type);
    return elem == TS_T_f32 ? x : cg_widen(e, elem, at.bits, x);
}

static cg_ref mma_value(mma *s, bool is_b, const cg_index *at)
{
    cg *e = s->e;
    const ts_inst *inst = ts_at(e->fn, s->v);
    ts_val x = is_b ? s->b : s->a;
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, x));
    cg_ref raw = cg_is_tile(e, x) ? cg_gen(e, x, cg_intern(e, at))
                                  : cg_splat(e, cg_reg_of(e, elem), at->bits, cg_scalar(e, x));
    bool unsign = inst->op == TS_OP_mmai && inst->aux & (is_b ? TS_A_UNSIGNED_B : TS_A_UNSIGNED);
    cg_ref r = mma_convert(s, elem, unsign, at->bits, raw);
    if (inst->op != TS_OP_mmaf_scaled)
        return r;
    cg_ref scale = mma_scale(s, ts_opnds(e->fn, inst)[is_b ? 4 : 3], *at, is_b ? s->rank - 2 : s->rank - 1);
    return cg_bin(e, "fmul", CG_F32, at->bits, r, scale);
}

static void mma_index(const mma *s, cg_index *at, cg_ref row, cg_ref col, uint32_t bits)
{
    memset(at, 0, sizeof *at);
    at->rank = s->rank;
    at->bits = bits;
    if (s->rank == 3)
        at->axis[0].base = s->batch_at;
    at->axis[s->rank - 2].base = row;
    at->axis[s->rank - 1].base = col;
    for (uint32_t b = 0; b < bits; b++)
        at->axis[s->rank - 1].lane[b] = (int64_t)1 << b;
}

/* 2^bits elements side by side from `offset` on: sets the memory to one dimension, gives the index. */
static cg_ix mma_line(mma *s, cg_mem *line, cg_ref offset, uint32_t bits)
{
    cg_index at;
    memset(&at, 0, sizeof at);
    line->rank = at.rank = 1;
    line->stride[0] = cg_int(s->e, 1);
    at.bits = bits;
    at.axis[0].base = offset;
    for (uint32_t b = 0; b < bits; b++)
        at.axis[0].lane[b] = (int64_t)1 << b;
    return cg_intern(s->e, &at);
}

static void mma_put(mma *s, const cg_mem *to, cg_ref offset, uint32_t bits, cg_ref x)
{
    cg_mem line = *to;
    cg_ix at = mma_line(s, &line, offset, bits);
    cg_store(s->e, &line, at, x);
}

static cg_ref mma_get(mma *s, const cg_mem *from, cg_ref offset, uint32_t bits)
{
    cg_mem line = *from;
    cg_ix at = mma_line(s, &line, offset, bits);
    return cg_load(s->e, &line, at);
}

/* Rows of an array lie far apart, and each is short: what is copied some rows later is fetched now. */
static void mma_fetch(mma *s, bool is_b, const cg_index *at)
{
    enum { MMA_AHEAD = 8 };
    cg *e = s->e;
    ts_val x = is_b ? s->b : s->a;
    const cg_val *val = &e->val[x];
    if (val->form != CG_LAZY || ts_at(e->fn, x)->op != TS_OP_load_view_tko || !val->source)
        return;
    int64_t bytes = cg_elem_bytes(e, val->source->elem);
    cg_ref row = cg_mul(e, val->source->stride[s->rank - 2], cg_int(e, MMA_AHEAD * bytes));
    cg_fetch(e, val->source, cg_intern(e, at), row);
}

static void mma_copy_a(mma *s)
{
    cg *e = s->e;
    cg_loop rows, cols;
    uint32_t bits = s->a_bits;
    cg_loop_begin(e, &rows, s->m, 1);
    rows.limit = s->a_rows;
    cg_loop_begin(e, &cols, s->k, (int64_t)s->a_copies << bits);
    cols.limit = s->a_cols;
    for (uint32_t u = 0; u < s->a_copies; u++) {
        cg_index at;
        cg_ref col = cg_add(e, cols.var, cg_int(e, (int64_t)u << bits));
        mma_index(s, &at, rows.var, col, bits);
        mma_fetch(s, false, &at);
        mma_put(s, s->ap, cg_add(e, cg_mul(e, rows.var, cg_int(e, s->k)), col), bits, mma_value(s, false, &at));
    }
    cg_loop_end(e, &cols);
    cg_loop_end(e, &rows);
}

static void mma_copy_b(mma *s)
{
    cg *e = s->e;
    cg_loop rows, panels;
    cg_loop_begin(e, &rows, s->k, 1);
    rows.limit = s->k_end;
    cg_loop_begin(e, &panels, s->n, s->nr);
    panels.limit = s->b_panels;
    cg_ref to = cg_add(e, cg_mul(e, panels.var, cg_int(e, s->k)), cg_mul(e, rows.var, cg_int(e, s->nr)));
    for (uint32_t j = 0; j < s->nv; j++) {
        cg_index at;
        cg_ref step = cg_int(e, (int64_t)j << s->bits);
        mma_index(s, &at, rows.var, cg_add(e, panels.var, step), s->bits);
        mma_fetch(s, true, &at);
        mma_put(s, s->bp, cg_add(e, to, step), s->bits, mma_value(s, true, &at));
    }
    cg_loop_end(e, &panels);
    cg_loop_end(e, &rows);
}

/* The array that an operand is read from under masks, where it sticks out; NULL: it is not. */
static cg_mem *mma_bounded(const mma *s, bool is_b)
{
    const cg *e = s->e;
    ts_val x = is_b ? s->b : s->a;
    const cg_val *val = &e->val[x];
    bool loads = val->form == CG_LAZY && ts_at(e->fn, x)->op == TS_OP_load_view_tko;
    return loads && val->source && val->source->bounds ? val->source : NULL;
}

/* Without masks where all of the operand is there. */
static void mma_pack(mma *s, bool is_b)
{
    cg *e = s->e;
    void (*copy)(mma *s) = is_b ? mma_copy_b : mma_copy_a;
    cg_mem *from = mma_bounded(s, is_b);
    if (!from) {
        copy(s);
        return;
    }
    const cg_bounds *bounds = from->bounds;
    uint32_t block[2] = {cg_label(e), cg_label(e)}, on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b, !prof !2", bounds->straight, block[0], block[1]);
    for (int way = 0; way < 2; way++) {
        cg_block(e, block[way]);
        cg_scope_open(e);
        from->bounds = way ? bounds : NULL;
        copy(s);
        cg_scope_close(e);
        cg_br(e, on);
    }
    cg_block(e, on);
}

/* ---- what need not be done ----------------------------------------------------------------------*/

static cg_ref mma_least(cg *e, cg_ref x, cg_ref y)
{
    return cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp slt", CG_I64, 0, x, y), x, y);
}

static cg_ref mma_most(cg *e, cg_ref x, cg_ref y)
{
    return cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp sgt", CG_I64, 0, x, y), x, y);
}

/* Elements along an axis up to the last one that is in the array: from 0 to `extent`. 0: all of them. */
static cg_ref mma_left(mma *s, bool is_b, uint32_t axis)
{
    cg *e = s->e;
    const cg_mem *from = mma_bounded(s, is_b);
    if (!from || from->bounds->pad != 0 || s->work == TS_T_f16)
        return 0;
    return cg_bin(e, "sub", CG_I64, 0, from->bounds->extent[axis], from->bounds->start[axis]);
}

/* Whole steps, one at least, that hold the first `left`. */
static cg_ref mma_whole(cg *e, cg_ref left, int64_t step, int64_t extent)
{
    left = mma_most(e, cg_int(e, 1), mma_least(e, left, cg_int(e, extent)));
    return cg_and(e, cg_add(e, left, cg_int(e, step - 1)), -step);
}

/* i1: are all elements of a packed operand finite? Rows of `length` elements, `stride` apart, the first ones up to
 * element `end` (0: all). Zero times each is added up, by several sums at once. */
static cg_ref mma_finite(mma *s, const cg_mem *mem, int64_t rows, int64_t stride, cg_ref length, cg_ref end)
{
    enum { MMA_SUMS = 4 };
    cg *e = s->e;
    cg_loop outer, inner;
    const char *type = cg_type(e, s->reg, s->bits);
    cg_ref zero = cg_const(e, s->reg, s->bits, 0);
    cg_ref sum[MMA_SUMS], after[MMA_SUMS] = {0}, next[MMA_SUMS];
    uint32_t n = (uint32_t)TS_MIN(MMA_SUMS, (s->nr * s->unroll) >> s->bits);
    cg_loop_begin(e, &outer, rows * stride, stride);
    outer.limit = end;
    for (uint32_t i = 0; i < n; i++) {
        after[i] = cg_name(e), next[i] = cg_name(e), sum[i] = zero;
        if (outer.trip > 1)
            sum[i] = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", type, zero, outer.from, after[i], outer.latch);
    }
    cg_loop_begin(e, &inner, stride, (int64_t)n << s->bits);
    inner.limit = length;
    for (uint32_t i = 0; i < n && inner.trip > 1; i++)
        sum[i] = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", type, sum[i], inner.from, next[i], inner.latch);
    for (uint32_t i = 0; i < n; i++) {
        cg_ref at = cg_add(e, cg_add(e, outer.var, inner.var), cg_int(e, (int64_t)i << s->bits));
        cg_ref x = cg_fma(e, s->reg, s->bits, mma_get(s, mem, at, s->bits), zero, sum[i]);
        cg_define(e, next[i], "bitcast %s %r to %s", type, x, type);
    }
    cg_loop_end(e, &inner);
    for (uint32_t i = 0; i < n; i++)
        cg_define(e, after[i], "bitcast %s %r to %s", type, next[i], type);
    cg_loop_end(e, &outer);
    cg_ref all = after[0];
    for (uint32_t i = 1; i < n; i++)
        all = cg_bin(e, "fadd", s->reg, s->bits, all, after[i]);
    cg_ref is = cg_cmp(e, "fcmp ord", s->reg, s->bits, all, all);
    if (!s->bits)
        return is;
    cg_ref word = cg_new(e, "bitcast %s %r to i%d", cg_type(e, CG_I1, s->bits), is, (int64_t)1 << s->bits);
    return cg_new(e, "icmp eq i%d %r, -1", (int64_t)1 << s->bits, word);
}

/* Does the accumulator hold +0 wherever only zeros were added so far: +0 in the beginning, and carried round a loop? */
static bool mma_begins_at_zero(const mma *s)
{
    const cg *e = s->e;
    uint64_t bits;
    ts_val c = ts_opnd(e->fn, s->v, 2), loop = e->shape.parent[s->v];
    const ts_inst *f = ts_at(e->fn, loop);
    if (!loop || f->op != TS_OP_for || ts_at(e->fn, c)->op != TS_OP_arg || c < loop + 2 ||
        c >= loop + f->n_opnd - 1u)
        return false;
    const ts_inst *last = ts_at(e->fn, e->shape.end[loop] - 1);
    uint32_t i = c - (loop + 2);
    for (ts_val v = loop + 1; v < e->shape.end[loop] - 1; v++) /* another way round? */
        if (ts_at(e->fn, v)->op == TS_OP_continue)
            return false;
    return last->op == TS_OP_continue && ts_opnds(e->fn, last)[i] == s->v &&
           ts__const_bits(e->fn, ts_opnds(e->fn, f)[3 + i], &bits) && bits == 0;
}

static cg_ref mma_finite_a(mma *s)
{
    cg *e = s->e;
    cg_ref k = cg_int(e, s->k), end = s->a_rows ? cg_mul(e, s->a_rows, k) : 0;
    if (s->a_cols)
        return mma_finite(s, s->ap, s->m, s->k, s->a_cols, end);
    return mma_finite(s, s->ap, 1, s->m * s->k, end ? end : cg_int(e, s->m * s->k), 0);
}

static cg_ref mma_finite_b(mma *s)
{
    cg *e = s->e;
    cg_ref k_end = s->k_end ? s->k_end : cg_int(e, s->k), end = s->b_panels;
    end = end ? cg_mul(e, end, cg_int(e, s->k)) : 0;
    return mma_finite(s, s->bp, s->n / s->nr, s->k * s->nr, cg_mul(e, k_end, cg_int(e, s->nr)), end);
}

/* Zeros in the panels of b that were not packed, for an a that is not finite. */
static void mma_fill_b(mma *s, cg_ref finite)
{
    cg *e = s->e;
    uint32_t fill = cg_label(e), on = cg_label(e);
    cg_ref bytes = cg_int(e, s->k * cg_elem_bytes(e, s->work)), from = cg_mul(e, s->b_panels, bytes);
    cg_declare(e, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    cg_line(e, "br i1 %r, label %b, label %b", finite, on, fill);
    cg_block(e, fill);
    cg_scope_open(e);
    cg_ref rest = cg_bin(e, "sub", CG_I64, 0, cg_mul(e, cg_int(e, s->n), bytes), from);
    cg_line(e, "call void @llvm.memset.p0.i64(ptr %r, i8 0, i64 %r, i1 false)",
            cg_new(e, "getelementptr i8, ptr %r, i64 %r", s->bp->ptr, from), rest);
    cg_scope_close(e);
    cg_br(e, on);
    cg_block(e, on);
}

/* Where rows or columns may stop: the end of the tile, where zeros times what is not finite must be computed. */
static cg_ref mma_stop(mma *s, cg_ref left, int64_t step, int64_t extent, bool other_is_b)
{
    cg *e = s->e;
    cg_ref whole = mma_whole(e, left, step, extent), end = cg_int(e, extent);
    if (s->work == TS_T_i32)
        return whole;
    uint32_t check = cg_label(e), on = cg_label(e), from = e->block;
    cg_line(e, "br i1 %r, label %b, label %b", cg_cmp(e, "icmp slt", CG_I64, 0, whole, end), check, on);
    cg_block(e, check);
    cg_scope_open(e);
    cg_ref finite = other_is_b ? mma_finite_b(s) : mma_finite_a(s);
    cg_ref stop = cg_sel(e, CG_I64, 0, finite, whole, end);
    if (s->b_panels && !other_is_b)
        mma_fill_b(s, finite);
    cg_scope_close(e);
    check = e->block;
    cg_br(e, on);
    cg_block(e, on);
    return cg_new(e, "phi i64 [ %r, %b ], [ %r, %b ]", end, from, stop, check);
}

static void mma_trim_k(mma *s)
{
    cg *e = s->e;
    cg_ref a = s->a_mem ? 0 : mma_left(s, false, s->rank - 1), b = s->b_mem ? 0 : mma_left(s, true, s->rank - 2);
    int64_t step = (int64_t)s->a_copies << s->a_bits;
    if (a && b && s->k > s->unroll)
        s->k_end = mma_whole(e, mma_most(e, a, b), s->unroll, s->k);
    if (s->k_end && s->k > step)
        s->a_cols = mma_whole(e, s->k_end, step, s->k);
    if (!s->k_end || s->work == TS_T_i32)
        return;
    uint64_t minus = (uint64_t)1 << (s->reg == CG_F64 ? 63 : 31);
    cg_ref less = cg_cmp(e, "icmp slt", CG_I64, 0, s->k_end, cg_int(e, s->k));
    s->skipped = cg_sel(e, s->reg, 0, less, cg_const(e, s->reg, 0, 0), cg_const(e, s->reg, 0, minus));
}

/* May rows and columns be left out at all? */
static bool mma_trims(const mma *s)
{
    return !s->a_mem && !s->b_mem && s->batch == 1 && (s->work == TS_T_i32 || mma_begins_at_zero(s));
}

/* Packs both operands, as much of them as is looked at: rows and columns beyond the arrays only if the other operand
 * is not finite. */
static void mma_pack_trimmed(mma *s)
{
    enum { MMA_LEAST_K = 16 };
    cg *e = s->e;
    cg_ref m = mma_left(s, false, s->rank - 2), n = mma_left(s, true, s->rank - 1);
    if (n && s->n > s->nr)
        s->b_panels = mma_whole(e, n, s->nr, s->n);
    mma_pack(s, true);
    if (m && s->m > s->mr)
        s->m_end = mma_stop(s, m, s->mr, s->m, true);
    if (s->m_end && s->m > MMA_MAX_ROWS && s->k >= MMA_LEAST_K)
        s->a_rows = mma_whole(e, s->m_end, MMA_MAX_ROWS, s->m);
    mma_pack(s, false);
    if (n && s->n > s->nr)
        s->n_end = mma_stop(s, n, (int64_t)1 << s->bits, s->n, false);
}

/* ---- the register block -------------------------------------------------------------------------*/

static cg_ref mma_c_at(mma *s, cg_ref row, cg_ref col, uint32_t r, uint32_t j)
{
    cg *e = s->e;
    cg_ref at = cg_add(e, cg_mul(e, row, cg_int(e, s->n)), s->within ? cg_add(e, col, s->within) : col);
    if (s->rank == 3)
        at = cg_add(e, cg_mul(e, s->batch_at, cg_int(e, s->m * s->n)), at);
    return cg_add(e, at, cg_int(e, (int64_t)r * s->n + ((int64_t)j << s->bits)));
}

static cg_ref mma_load_c(mma *s, cg_ref at)
{
    if (s->zero)
        return cg_const(s->e, s->reg, s->bits, s->start);
    cg_ref x = mma_get(s, s->c, at, s->bits);
    return s->c->elem == TS_T_f16 ? cg_widen(s->e, TS_T_f16, s->bits, x) : x;
}

static void mma_store_c(mma *s, cg_ref at, cg_ref x)
{
    if (s->c->elem == TS_T_f16)
        x = cg_narrow(s->e, TS_T_f16, TS_RN, s->bits, x);
    mma_put(s, s->c, at, s->bits, x);
}

/* Elements of an operand that is not packed. */
static cg_ref mma_read(mma *s, const cg_mem *mem, cg_ref row, cg_ref col, uint32_t bits)
{
    cg_index at;
    mma_index(s, &at, row, col, bits);
    return cg_load(s->e, mem, cg_intern(s->e, &at));
}

static cg_ref mma_a(mma *s, cg_ref row, cg_ref k)
{
    if (s->a_mem)
        return mma_read(s, s->a_mem, row, k, 0);
    return mma_get(s, s->ap, cg_add(s->e, cg_mul(s->e, row, cg_int(s->e, s->k)), k), 0);
}

static cg_ref mma_b(mma *s, cg_ref k, cg_ref col, uint32_t j)
{
    cg *e = s->e;
    cg_ref step = cg_int(e, (int64_t)j << s->bits);
    if (s->b_mem)
        return mma_read(s, s->b_mem, k, cg_add(e, col, step), s->bits);
    cg_ref panel = cg_mul(e, col, cg_int(e, s->k));
    if (s->within)
        panel = cg_add(e, panel, s->within);
    return mma_get(s, s->bp, cg_add(e, cg_add(e, panel, cg_mul(e, k, cg_int(e, s->nr))), step), s->bits);
}

/* One step of k: nv loads of b, mr broadcasts of a, mr * nv fused multiply-adds. */
static void mma_step(mma *s, cg_ref row, cg_ref col, cg_ref k, cg_ref *acc)
{
    cg *e = s->e;
    cg_ref b[MMA_MAX_VECTORS];
    for (uint32_t j = 0; j < s->nv; j++)
        b[j] = mma_b(s, k, col, j);
    for (uint32_t r = 0; r < s->mr; r++) {
        cg_ref a = cg_splat(e, s->reg, s->bits, mma_a(s, cg_add(e, row, cg_int(e, r)), k));
        for (uint32_t j = 0; j < s->nv; j++) {
            cg_ref *c = &acc[r * s->nv + j];
            *c = s->work == TS_T_i32 ? cg_bin(e, "add", CG_I32, s->bits, *c, cg_bin(e, "mul", CG_I32, s->bits, a, b[j]))
                                     : cg_fma(e, s->reg, s->bits, a, b[j], *c);
        }
    }
}

static void mma_block(mma *s, cg_ref row, cg_ref col)
{
    cg *e = s->e;
    cg_loop ks;
    cg_ref acc[MMA_MAX_ROWS * MMA_MAX_VECTORS], next[MMA_MAX_ROWS * MMA_MAX_VECTORS];
    const char *type = cg_type(e, s->reg, s->bits);
    uint32_t n = s->mr * s->nv;
    for (uint32_t i = 0; i < n; i++)
        acc[i] = mma_load_c(s, mma_c_at(s, row, col, i / s->nv, i % s->nv));
    cg_loop_begin(e, &ks, s->k, s->unroll);
    ks.limit = s->k_end;
    for (uint32_t i = 0; i < n && ks.trip > 1; i++) {
        next[i] = cg_name(e);
        acc[i] = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", type, acc[i], ks.from, next[i], ks.latch);
    }
    for (uint32_t u = 0; u < s->unroll; u++)
        mma_step(s, row, col, cg_add(e, ks.var, cg_int(e, u)), acc);
    for (uint32_t i = 0; i < n && ks.trip > 1; i++) {
        cg_define(e, next[i], "bitcast %s %r to %s", type, acc[i], type);
        acc[i] = next[i];
    }
    cg_loop_end(e, &ks);
    for (uint32_t i = 0; i < n; i++)
        if (s->skipped)
            acc[i] = cg_bin(e, "fadd", s->reg, s->bits, acc[i], cg_splat(e, s->reg, s->bits, s->skipped));
    for (uint32_t i = 0; i < n; i++)
        mma_store_c(s, mma_c_at(s, row, col, i / s->nv, i % s->nv), acc[i]);
}

static void mma_columns(mma *s, cg_ref col)
{
    cg_loop rows;
    cg_loop_begin(s->e, &rows, s->m, s->mr);
    rows.limit = s->m_end;
    mma_block(s, rows.var, col);
    cg_loop_end(s->e, &rows);
}

/* Of columns that end within a panel, its first ones: a vector at a time. */
static void mma_strips(mma *s, cg_ref panel)
{
    cg *e = s->e;
    mma strip = *s;
    cg_loop vectors;
    strip.nv = 1;
    strip.mr = (uint32_t)TS_MIN(MMA_MAX_ROWS, s->m);
    cg_loop_begin(e, &vectors, s->nr, (int64_t)1 << s->bits);
    vectors.limit = cg_bin(e, "sub", CG_I64, 0, s->n_end, panel);
    strip.within = vectors.var;
    mma_columns(&strip, panel);
    cg_loop_end(e, &vectors);
}

static void mma_panels(mma *s)
{
    cg *e = s->e;
    cg_loop panels;
    uint32_t whole = cg_label(e), rest = cg_label(e), strips = cg_label(e), on = cg_label(e);
    cg_ref end = s->n_end ? cg_and(e, s->n_end, -s->nr) : 0;
    if (end) {
        cg_line(e, "br i1 %r, label %b, label %b", cg_cmp(e, "icmp sgt", CG_I64, 0, end, cg_int(e, 0)), whole, rest);
        cg_block(e, whole);
        cg_scope_open(e);
    }
    cg_loop_begin(e, &panels, s->n, s->nr);
    panels.limit = end;
    mma_columns(s, panels.var);
    cg_loop_end(e, &panels);
    if (!end)
        return;
    cg_scope_close(e);
    cg_br(e, rest);
    cg_block(e, rest);
    cg_line(e, "br i1 %r, label %b, label %b", cg_cmp(e, "icmp slt", CG_I64, 0, end, s->n_end), strips, on);
    cg_block(e, strips);
    cg_scope_open(e);
    mma_strips(s, end);
    cg_scope_close(e);
    cg_br(e, on);
    cg_block(e, on);
}

static void mma_multiply(mma *s)
{
    cg *e = s->e;
    cg_loop batches;
    cg_loop_begin(e, &batches, s->batch, 1);
    s->batch_at = batches.var;
    mma_trim_k(s);
    if (mma_trims(s))
        mma_pack_trimmed(s);
    else {
        if (!s->b_mem)
            mma_pack(s, true);
        if (!s->a_mem)
            mma_pack(s, false);
    }
    mma_panels(s);
    cg_loop_end(e, &batches);
}

/* ---- the whole ----------------------------------------------------------------------------------*/

static void mma_shape(mma *s)
{
    cg *e = s->e;
    const uint32_t *x = ts_opnds(e->fn, ts_at(e->fn, s->v));
    ts_type a = ts_type_of(e->fn, x[0]), c = ts_type_of(e->fn, s->v), elem = ts_type_elem(e->m, c);
    s->a = x[0];
    s->b = x[1];
    s->rank = ts_type_rank(e->m, c);
    const int64_t *da = ts_type_dims(e->m, a), *dc = ts_type_dims(e->m, c);
    s->batch = s->rank == 3 ? dc[0] : 1;
    s->m = dc[s->rank - 2];
    s->n = dc[s->rank - 1];
    s->k = da[s->rank - 1];
    s->work = elem == TS_T_f16 ? TS_T_f32 : elem;
    s->reg = cg_reg_of(e, s->work);
    bool wide = e->host->vector_regs >= 32;
    s->bits = TS_MIN(cg_vector_bits(e, cg_elem_bytes(e, s->work)), (uint32_t)ts_log2((uint64_t)s->n));
    s->nv = (uint32_t)TS_MIN(wide ? 4 : 2, s->n >> s->bits);
    s->nr = (int64_t)s->nv << s->bits;
    s->mr = (uint32_t)TS_MIN(s->nv == 1 ? 8 : 4, s->m); /* sums in flight: what hides the latency of one */
    s->unroll = (uint32_t)TS_MIN(4, s->k);
    s->a_bits = TS_MIN(cg_vector_bits(e, cg_elem_bytes(e, s->work)), (uint32_t)ts_log2((uint64_t)s->k));
    s->a_copies = (uint32_t)TS_MIN(4, s->k >> s->a_bits);
}

/* The accumulator may be updated where it is when nobody else reads it. */
static bool mma_in_place(const mma *s, ts_val c)
{
    const cg *e = s->e;
    return e->shape.uses[c] == 1 && e->val[c].form == CG_BUF && e->val[c].mem && e->val[c].mem->slot &&
           e->plan.loop[c] == e->plan.loop[s->v] && e->shape.parent[c] == e->shape.parent[s->v];
}

static bool mma_accumulator(mma *s)
{
    cg *e = s->e;
    ts_val c = ts_opnd(e->fn, s->v, 2);
    cg_settle(e, c);
    s->zero = ts__const_bits(e->fn, c, &s->start) && ts_type_elem(e->m, ts_type_of(e->fn, c)) == s->work;
    if (s->zero) {
        s->c = cg_alloc(e, ts_type_of(e->fn, s->v), cg_is_tile(e, s->v) ? s->v : 0);
        return s->c != NULL;
    }
    if (mma_in_place(s, c)) {
        s->c = e->val[c].mem;
        cg_slot *slot = &e->slot.at[s->c->slot - 1];
        if (slot->owner == c)
            slot->owner = s->v;
        return true;
    }
    s->c = cg_alloc(e, ts_type_of(e->fn, s->v), cg_is_tile(e, s->v) ? s->v : 0);
    if (!s->c)
        return false;
    if (cg_is_tile(e, c))
        cg_store_root(e, c, s->c);
    else
        cg_store(e, s->c, cg_ix_scalar(e, s->rank), cg_scalar(e, c));
    return true;
}

/* Memory that holds an operand as it is computed with, its last axis dense; NULL: there is none. */
static const cg_mem *mma_in_memory(const mma *s, ts_val x)
{
    const cg *e = s->e;
    const cg_val *val = &e->val[x];
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, x));
    const cg_mem *mem = val->form == CG_BUF && !val->making ? val->mem
                        : val->form == CG_LAZY && ts_at(e->fn, x)->op == TS_OP_load_view_tko ? val->source : NULL;
    int64_t stride;
    if (!mem || mem->bounds || elem != s->work || s->work == TS_T_i32 || ts_at(e->fn, s->v)->op == TS_OP_mmaf_scaled ||
        mem->rank != s->rank || !cg_is_int(e, mem->stride[s->rank - 1], &stride) || stride != 1)
        return NULL;
    return mem;
}

/* Small operands stay where they are, and those of which nothing is read twice: rows of b are read m / mr times, those
 * of a n / nr times. */
static bool mma_may_stay(const mma *s, bool is_b)
{
    enum { MMA_SMALL = 64 };
    bool small = s->m <= MMA_SMALL && s->k <= MMA_SMALL && s->n <= s->nr;
    return small || (is_b ? s->m <= s->mr : s->n <= s->nr);
}

static void mma_operands(mma *s)
{
    s->a_mem = mma_may_stay(s, false) ? mma_in_memory(s, s->a) : NULL;
    s->b_mem = mma_may_stay(s, true) ? mma_in_memory(s, s->b) : NULL;
}

bool cg_mma_packs(cg *e, ts_val v, bool is_b)
{
    mma s = {.e = e, .v = v};
    mma_shape(&s);
    return !mma_may_stay(&s, is_b);
}

static cg_mem *mma_panel(mma *s, int64_t rows, int64_t cols)
{
    int64_t dims[] = {rows * cols};
    return cg_alloc(s->e, ts_type_tile(s->e->m, s->work, 1, dims), 0);
}

void cg_mma(cg *e, ts_val v)
{
    mma s = {.e = e, .v = v};
    const ts_inst *inst = ts_at(e->fn, v);
    mma_shape(&s);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        cg_settle(e, ts_opnds(e->fn, inst)[i]);
    if (!mma_accumulator(&s))
        return;
    cg_flush(e);
    mma_operands(&s);
    s.ap = s.a_mem ? NULL : mma_panel(&s, s.m, s.k);
    s.bp = s.b_mem ? NULL : mma_panel(&s, s.k, s.n);
    if ((!s.ap && !s.a_mem) || (!s.bp && !s.b_mem) || e->status != TS_OK)
        return;
    cg_scope_open(e);
    mma_multiply(&s);
    cg_scope_close(e);
    if (s.ap)
        e->slot.at[s.ap->slot - 1].used = false;
    if (s.bp)
        e->slot.at[s.bp->slot - 1].used = false;
    if (cg_is_tile(e, v)) {
        e->val[v].form = CG_BUF;
        e->val[v].mem = s.c;
        return;
    }
    e->val[v].form = CG_SCALAR;
    e->val[v].ref = cg_load(e, s.c, cg_ix_scalar(e, s.rank));
    e->slot.at[s.c->slot - 1].used = false;
}
