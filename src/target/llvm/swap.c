/* SPDX-License-Identifier: Apache-2.0
 *
 * Transposition of the last two axes, in square blocks of as many rows as a vector has lanes. A block is
 * read as rows, transposed in registers and written as rows:
 *
 *     for s = 1, 2, 4, ..: rows r and r + s (r without bit s) exchange the lanes that differ in bit s
 *
 * so that neither side is walked along a column. The source is the array itself where a load reads it
 * in place. Called by walk.c for a permute that plan.c chose to keep.
 */
#include "target/llvm/cg.h"

typedef struct swap {
    cg *e;
    cg_reg reg;
    uint32_t bits, rank;
    cg_ref outer[TS_MAX_RANK]; /* coordinates of the axes before the last two */
} swap;

/* Row `row` of the block whose first column is `col`: one vector's coordinates. */
static cg_ix swap_at(const swap *s, cg_ref row, cg_ref col)
{
    cg_index at;
    memset(&at, 0, sizeof at);
    at.rank = s->rank;
    at.bits = s->bits;
    for (uint32_t k = 0; k + 2 < s->rank; k++)
        at.axis[k].base = s->outer[k];
    at.axis[s->rank - 2].base = row;
    at.axis[s->rank - 1].base = col;
    for (uint32_t b = 0; b < s->bits; b++)
        at.axis[s->rank - 1].lane[b] = (int64_t)1 << b;
    return cg_intern(s->e, &at);
}

static cg_ref swap_mix(const swap *s, cg_ref a, cg_ref b, const int64_t *lane)
{
    const char *type = cg_type(s->e, s->reg, s->bits);
    cg_ref mask = cg_lanes(s->e, CG_I32, s->bits, lane);
    return cg_new(s->e, "shufflevector %s %r, %s %r, %s %r", type, a, type, b, cg_type(s->e, CG_I32, s->bits), mask);
}

static void swap_stage(const swap *s, cg_ref *row, uint32_t bit)
{
    int64_t low[1 << CG_LANE_BITS], high[1 << CG_LANE_BITS], n = (int64_t)1 << s->bits, step = (int64_t)1 << bit;
    for (int64_t l = 0; l < n; l++) {
        low[l] = l & step ? n + l - step : l;
        high[l] = l & step ? n + l : l + step;
    }
    for (int64_t r = 0; r < n; r++) {
        if (r & step)
            continue;
        cg_ref a = row[r], b = row[r + step];
        row[r] = swap_mix(s, a, b, low);
        row[r + step] = swap_mix(s, a, b, high);
    }
}

static void swap_block(const swap *s, const cg_mem *from, const cg_mem *to, cg_ref row, cg_ref col)
{
    cg_ref x[1 << CG_LANE_BITS];
    for (int64_t r = 0; r < 1 << s->bits; r++)
        x[r] = cg_load(s->e, from, swap_at(s, cg_add(s->e, row, cg_int(s->e, r)), col));
    for (uint32_t b = 0; b < s->bits; b++)
        swap_stage(s, x, b);
    for (int64_t r = 0; r < 1 << s->bits; r++)
        cg_store(s->e, to, swap_at(s, cg_add(s->e, col, cg_int(s->e, r)), row), x[r]);
}

static void swap_loops(swap *s, uint32_t axis, const int64_t *dims, const cg_mem *from, const cg_mem *to)
{
    cg *e = s->e;
    cg_loop l, c;
    if (axis + 2 < s->rank) {
        cg_loop_begin(e, &l, dims[axis], 1);
        s->outer[axis] = l.var;
        swap_loops(s, axis + 1, dims, from, to);
        cg_loop_end(e, &l);
        return;
    }
    cg_loop_begin(e, &l, dims[axis], (int64_t)1 << s->bits);
    cg_loop_begin(e, &c, dims[axis + 1], (int64_t)1 << s->bits);
    swap_block(s, from, to, l.var, c.var);
    cg_loop_end(e, &c);
    cg_loop_end(e, &l);
}

/* The tile to transpose, with its last axis dense. */
static const cg_mem *swap_source(cg *e, ts_val x)
{
    const cg_val *val = &e->val[x];
    int64_t c;
    if (val->form == CG_LAZY && val->source && ts_at(e->fn, x)->op == TS_OP_load_view_tko &&
        cg_is_int(e, val->source->stride[val->source->rank - 1], &c) && c == 1)
        return val->source;
    return cg_dense(e, x);
}

void cg_swap(cg *e, ts_val v, const cg_mem *to)
{
    ts_val x = ts_opnd(e->fn, v, 0);
    ts_type type = ts_type_of(e->fn, x);
    swap s = {.e = e, .reg = cg_reg_of(e, type), .rank = ts_type_rank(e->m, type)};
    const int64_t *dims = ts_type_dims(e->m, type);
    int64_t side = TS_MIN(dims[s.rank - 1], dims[s.rank - 2]);
    s.bits = TS_MIN(cg_vector_bits(e, cg_elem_bytes(e, type)), (uint32_t)ts_log2((uint64_t)side));
    cg_settle(e, x);
    cg_flush(e);
    const cg_mem *from = swap_source(e, x);
    if (!from)
        return;
    cg_scope_open(e);
    swap_loops(&s, 0, dims, from, to);
    cg_scope_close(e);
}
