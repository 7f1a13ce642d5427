/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles of short rows, or of one, that stick out of their array, between it and a dense copy in scratch:
 *
 *     for each row:  inside = every other coordinate lies in the array
 *         for each vector of a row inside:  lanes that lie in the array, by a masked load or store
 *
 * What ts__rt_view_in and _out do for any tile; a call of them costs as much as some twenty such rows.
 *
 * And tiles that are read under masks where they lie, by what copies them anyway (mma.c).
 */
#include "target/llvm/cg.h"

enum { EDGE_ROW_BYTES = 256, EDGE_ONE_BYTES = 512 }; /* of each of some rows; of a tile that is one row */

typedef struct edge {
    cg *e;
    const cg_rows *a;
    cg_mem tile;
    cg_reg reg;
    uint32_t bits, n_vectors;
    cg_ref mask[EDGE_ONE_BYTES / 16]; /* lanes of each vector of a row */
    cg_index at;                      /* in the tile */
    bool in;
} edge;

bool cg_rows_fit(const cg *e, const cg_rows *a)
{
    uint32_t bytes = cg_elem_bytes(e, a->elem), rows = 0;
    int64_t stride;
    for (uint32_t k = 0; k < a->rank; k++)
        rows += (int)k != a->inner && a->dims[k] > 1;
    return a->inner >= 0 && (bytes == 4 || bytes == 8) &&
           a->dims[a->inner] * bytes <= (rows ? EDGE_ROW_BYTES : EDGE_ONE_BYTES) &&
           a->dims[a->inner] >= 4 && strncmp(e->host->triple, "x86_64", 6) == 0 && e->host->vector_bytes >= 32 &&
           cg_is_int(e, a->where[3 * a->inner + 2], &stride) && stride == 1;
}

/* Lanes of a row's vectors whose coordinate lies in the array. */
static void edge_masks(edge *s)
{
    cg *e = s->e;
    const cg_ref *where = s->a->where + 3 * s->a->inner;
    int64_t lane[1 << CG_LANE_BITS];
    for (uint32_t j = 0; j < s->n_vectors; j++) {
        for (int64_t l = 0; l < 1 << s->bits; l++)
            lane[l] = l + ((int64_t)j << s->bits);
        cg_ref x = cg_splat(e, CG_I64, s->bits, where[0]);
        x = cg_bin(e, "add", CG_I64, s->bits, x, cg_lanes(e, CG_I64, s->bits, lane));
        s->mask[j] = cg_cmp(e, "icmp ult", CG_I64, s->bits, x, cg_splat(e, CG_I64, s->bits, where[1]));
    }
}

/* A row inside of the array: the lanes that the masks let through. */
static void edge_row(edge *s, cg_ref offset)
{
    cg *e = s->e;
    for (uint32_t j = 0; j < s->n_vectors; j++) {
        cg_ref step = cg_int(e, (int64_t)j << s->bits);
        cg_ref p = cg_new(e, "getelementptr %s, ptr %r, i64 %r", cg_type(e, s->reg, 0), s->a->array,
                          cg_add(e, offset, step));
        s->at.axis[s->a->inner].base = step;
        cg_ix ix = cg_intern(e, &s->at);
        if (s->in)
            cg_store(e, &s->tile, ix,
                     cg_masked_load(e, s->a->elem, s->bits, p, s->mask[j], cg_const(e, s->reg, s->bits, s->a->pad)));
        else
            cg_masked_store(e, s->a->elem, s->bits, p, s->mask[j], cg_load(e, &s->tile, ix));
    }
}

static void edge_padding(edge *s)
{
    cg *e = s->e;
    for (uint32_t j = 0; j < s->n_vectors && s->in; j++) {
        s->at.axis[s->a->inner].base = cg_int(e, (int64_t)j << s->bits);
        cg_store(e, &s->tile, cg_intern(e, &s->at), cg_const(e, s->reg, s->bits, s->a->pad));
    }
}

/* Rows outside are branched around: what a mask of zeros hides may be no memory, which costs a processor an assist of
 * some hundred cycles a vector. */
static void edge_branch(edge *s, cg_ref inside, cg_ref offset)
{
    cg *e = s->e;
    if (!inside) {
        edge_row(s, offset);
        return;
    }
    uint32_t yes = cg_label(e), no = cg_label(e), on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b", inside, yes, no);
    cg_block(e, yes);
    cg_scope_open(e);
    edge_row(s, offset);
    cg_scope_close(e);
    cg_br(e, on);
    cg_block(e, no);
    cg_scope_open(e);
    edge_padding(s);
    cg_scope_close(e);
    cg_br(e, on);
    cg_block(e, on);
}

static void edge_loops(edge *s, uint32_t axis, cg_ref inside, cg_ref offset)
{
    cg *e = s->e;
    cg_loop l;
    if (axis == s->a->rank) {
        edge_branch(s, inside, offset);
        return;
    }
    const cg_ref *where = s->a->where + 3 * axis;
    if ((int)axis == s->a->inner) {
        edge_loops(s, axis + 1, inside, cg_add(e, offset, where[0]));
        return;
    }
    cg_loop_begin(e, &l, s->a->dims[axis], 1);
    s->at.axis[axis].base = l.var;
    cg_ref x = cg_add(e, where[0], l.var), ok = cg_cmp(e, "icmp ult", CG_I64, 0, x, where[1]);
    inside = inside ? cg_bin(e, "and", CG_I1, 0, inside, ok) : ok;
    edge_loops(s, axis + 1, inside, cg_add(e, offset, cg_mul(e, x, where[2])));
    cg_loop_end(e, &l);
}

void cg_rows_copy(cg *e, const cg_rows *a, const cg_mem *tile, bool in)
{
    edge s = {.e = e, .a = a, .tile = *tile, .reg = cg_reg_of(e, a->elem), .in = in};
    int64_t n = a->dims[a->inner];
    s.bits = TS_MIN(cg_vector_bits(e, cg_elem_bytes(e, a->elem)), (uint32_t)ts_log2((uint64_t)n));
    s.n_vectors = (uint32_t)(n >> s.bits);
    s.at.rank = a->rank;
    s.at.bits = s.bits;
    for (uint32_t b = 0; b < s.bits; b++)
        s.at.axis[a->inner].lane[b] = (int64_t)1 << b;
    cg_scope_open(e);
    edge_masks(&s);
    edge_loops(&s, 0, 0, cg_int(e, 0));
    cg_scope_close(e);
}

/* ---- read under masks where they lie --------------------------------------------------------------*/

bool cg_bounds_fit(const cg *e, ts_type elem)
{
    uint32_t bytes = cg_elem_bytes(e, elem);
    return (bytes == 4 || bytes == 8) && e->host->vector_bytes >= 32 && strncmp(e->host->triple, "x86_64", 6) == 0;
}

/* i1: do the coordinates of all axes but `without` lie in the array? */
static cg_ref edge_inside(cg *e, const cg_mem *mem, const cg_index *at, uint32_t without)
{
    cg_ref all = 0;
    for (uint32_t k = 0; k < mem->rank; k++) {
        if (k == without)
            continue;
        cg_ref x = cg_add(e, mem->bounds->start[k], at->axis[k].base);
        cg_ref in = cg_cmp(e, "icmp ult", CG_I64, 0, x, mem->bounds->extent[k]);
        all = all ? cg_bin(e, "and", CG_I1, 0, all, in) : in;
    }
    return all ? all : cg_int(e, 1);
}

static cg_ref edge_address(cg *e, const cg_mem *mem, const cg_index *at)
{
    cg_ref offset = cg_int(e, 0);
    for (uint32_t k = 0; k < mem->rank; k++)
        offset = cg_add(e, offset, cg_mul(e, at->axis[k].base, mem->stride[k]));
    return cg_new(e, "getelementptr %s, ptr %r, i64 %r", cg_type(e, cg_reg_of(e, mem->elem), 0), mem->ptr, offset);
}

static cg_ref edge_load_one(cg *e, const cg_mem *mem, const cg_index *at)
{
    cg_reg reg = cg_reg_of(e, mem->elem);
    uint32_t yes = cg_label(e), on = cg_label(e);
    cg_ref inside = edge_inside(e, mem, at, TS_MAX_RANK), p = edge_address(e, mem, at);
    uint32_t from = e->block;
    cg_line(e, "br i1 %r, label %b, label %b", inside, yes, on);
    cg_block(e, yes);
    cg_ref x = cg_new(e, "load %s, ptr %r, align %d", cg_type(e, reg, 0), p, (int64_t)cg_elem_bytes(e, mem->elem));
    cg_br(e, on);
    cg_block(e, on);
    return cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", cg_type(e, reg, 0), x, yes,
                  cg_const(e, reg, 0, mem->bounds->pad), from);
}

/* Lanes that do not follow each other along the last axis. */
static cg_ref edge_load_apart(cg *e, const cg_mem *mem, const cg_index *at)
{
    cg_reg reg = cg_reg_of(e, mem->elem);
    const char *type = cg_type(e, reg, at->bits);
    cg_ref all = cg_text(e, "poison");
    for (uint32_t i = 0; i < 1u << at->bits; i++) {
        cg_index one = *at;
        one.bits = 0;
        for (uint32_t k = 0; k < at->rank; k++)
            for (uint32_t b = 0; b < at->bits; b++) {
                one.axis[k].base = cg_add(e, one.axis[k].base, cg_int(e, (i >> b & 1) * at->axis[k].lane[b]));
                one.axis[k].lane[b] = 0;
            }
        cg_ref x = edge_load_one(e, mem, &one);
        all = cg_new(e, "insertelement %s %r, %s %r, i64 %d", type, all, cg_type(e, reg, 0), x, (int64_t)i);
    }
    return all;
}

cg_ref cg_load_bounded(cg *e, const cg_mem *mem, cg_ix ix)
{
    cg_index at = *cg_index_of(e, ix);
    uint32_t last = mem->rank - 1;
    int64_t lane[1 << CG_LANE_BITS];
    if (!at.bits)
        return edge_load_one(e, mem, &at);
    for (uint32_t k = 0; k < at.rank; k++)
        for (uint32_t b = 0; b < at.bits; b++)
            if (at.axis[k].lane[b] != (k == last ? (int64_t)1 << b : 0))
                return edge_load_apart(e, mem, &at);
    for (int64_t l = 0; l < 1 << at.bits; l++)
        lane[l] = l;
    cg_ref x = cg_splat(e, CG_I64, at.bits, cg_add(e, mem->bounds->start[last], at.axis[last].base));
    x = cg_bin(e, "add", CG_I64, at.bits, x, cg_lanes(e, CG_I64, at.bits, lane));
    cg_ref mask = cg_cmp(e, "icmp ult", CG_I64, at.bits, x, cg_splat(e, CG_I64, at.bits, mem->bounds->extent[last]));
    if (mem->rank > 1)
        mask = cg_new(e, "select i1 %r, %s %r, %s zeroinitializer", edge_inside(e, mem, &at, last),
                      cg_type(e, CG_I1, at.bits), mask, cg_type(e, CG_I1, at.bits));
    return cg_masked_load(e, mem->elem, at.bits, edge_address(e, mem, &at), mask,
                          cg_const(e, cg_reg_of(e, mem->elem), at.bits, mem->bounds->pad));
}
