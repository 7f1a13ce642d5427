/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes that lie two, three or four elements apart, as where each thread has that many neighbours: the stretch is
 * loaded in whole vectors, and each lane's element is taken out of them. Gathers of a few lanes cost as much as those
 * loads together. The last vector ends with the last lane's element, so that nothing behind it is read:
 *
 *     four lanes, step 2     v = x[0 .. 3], w = x[3 .. 6]     shufflevector v, w: v[0], v[2], w[1], w[3]
 *
 * Two loads, or two stores, of every second element that lie one element apart, as the parts of complex numbers do,
 * are one run. Loads take their lanes out of the same two vectors, which LLVM loads once; of stores the lanes of both
 * values are interleaved.
 *
 *     v, w of four lanes     x[0 .. 3] = v[0], w[0], v[1], w[1]     x[4 .. 7] = v[2], w[2], v[3], w[3]
 */
#include "ir/note.h"
#include "target/llvm/cg.h"

enum { STRIDE_MOST = 4 };

uint32_t cg_stride(const cg_axis *a, uint32_t bits, uint32_t bytes)
{
    int64_t step = bits ? a->lane[0] / (int64_t)bytes : 0;
    if (step < 1 || step > STRIDE_MOST || (step > 1 && bits < 2))
        return 0;
    for (uint32_t b = 0; b < bits; b++)
        if (a->lane[b] != step * (int64_t)bytes << b)
            return 0;
    return (uint32_t)step;
}

/* Are the pointers y those of x, one element further? */
static bool stride_follows(const cg *e, ts_val x, ts_val y)
{
    const ts_inst *inst = ts_at(e->fn, y);
    int64_t by;
    return inst->op == TS_OP_offset && inst->opnd[0] == x && ts__const_as_int(e->fn, inst->opnd[1], &by) && by == 1;
}

/* The operand that is a mask; 0: none. */
static ts_val stride_mask(const cg *e, ts_val v)
{
    uint32_t m = ts__opnd_mask(ts_at(e->fn, v));
    return m == TS_NO ? 0 : ts_opnd(e->fn, v, m);
}

/* Vector j of the stretch begins at this element. */
static int64_t stride_first(uint32_t j, uint32_t step, int64_t lanes)
{
    return j == step - 1 ? (lanes - 1) * (step - 1) : j * lanes;
}

cg_ref cg_stride_load(cg *e, cg_reg reg, uint32_t bits, cg_ref first, uint32_t step, uint32_t bytes)
{
    int64_t lanes = (int64_t)1 << bits, pick[1 << CG_LANE_BITS];
    const char *type = cg_type(e, reg, bits), *mask = cg_type(e, CG_I32, bits);
    cg_ref all = 0;
    for (uint32_t j = 0; j < step; j++) {
        int64_t at = stride_first(j, step, lanes);
        cg_ref p = at ? cg_new(e, "getelementptr i8, ptr %r, i64 %d", first, at * bytes) : first;
        cg_ref x = cg_new(e, "load %s, ptr %r, align %d", type, p, (int64_t)bytes);
        for (int64_t i = 0; i < lanes; i++) { /* of the vectors before: in place, from the second one on */
            int64_t element = i * step, of = element / lanes;
            bool here = of >= j && j > 0;
            pick[i] = here ? lanes + (element - at) % lanes : j == 1 ? element % lanes : i;
        }
        all = all ? cg_new(e, "shufflevector %s %r, %s %r, %s %r", type, all, type, x, mask,
                           cg_lanes(e, CG_I32, bits, pick)) : x;
    }
    return all;
}

/* Do loads v and w read neighbours, w behind v, whenever one of them does? */
static bool stride_beside(const cg *e, ts_val v, ts_val w)
{
    const ts_inst *a = ts_at(e->fn, v), *b = ts_at(e->fn, w);
    return a->op == TS_OP_load_ptr_tko && b->op == TS_OP_load_ptr_tko && a->type == b->type &&
           e->shape.parent[v] == e->shape.parent[w] && stride_mask(e, v) == stride_mask(e, w) &&
           TS_M_GET_ORDER(a->aux) == TS_WEAK && TS_M_GET_ORDER(b->aux) == TS_WEAK &&
           stride_follows(e, a->opnd[0], b->opnd[0]);
}

ts_val cg_stride_pair(cg *e, ts_val v, cg_ix ix, bool *is_second)
{
    enum { NEAR = 4 }; /* instructions: the pointers of the second one lie between */
    cg_axis at;
    uint32_t bits = cg_index_of(e, ix)->bits, bytes = cg_elem_bytes(e, ts_type_of(e->fn, v));
    ts_val first = 0;
    *is_second = false;
    for (ts_val u = v > NEAR ? v - NEAR : 1; u <= v + NEAR && u < e->fn->inst.n && !first; u++) {
        *is_second = stride_beside(e, u, v);
        first = *is_second ? u : stride_beside(e, v, u) ? v : 0;
    }
    ts_val pointers = first ? ts_opnd(e->fn, first, 0) : 0;
    return first && bits && cg_affine(e, pointers, ix, &at) && cg_stride(&at, bits, bytes) == 2 ? pointers : 0;
}

cg_ref cg_stride_load_pair(cg *e, cg_reg reg, uint32_t bits, cg_ref first, bool is_second, uint32_t bytes)
{
    int64_t lanes = (int64_t)1 << bits, pick[1 << CG_LANE_BITS];
    const char *type = cg_type(e, reg, bits);
    cg_ref behind = cg_new(e, "getelementptr i8, ptr %r, i64 %d", first, lanes * bytes);
    cg_ref x = cg_new(e, "load %s, ptr %r, align %d", type, first, (int64_t)bytes);
    cg_ref y = cg_new(e, "load %s, ptr %r, align %d", type, behind, (int64_t)bytes);
    for (int64_t i = 0; i < lanes; i++)
        pick[i] = 2 * i + is_second;
    return cg_new(e, "shufflevector %s %r, %s %r, %s %r", type, x, type, y, cg_type(e, CG_I32, bits),
                  cg_lanes(e, CG_I32, bits, pick));
}

/* Half of the lanes of x and y in turn. */
static cg_ref stride_mix(cg *e, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y, int64_t half)
{
    int64_t lanes = (int64_t)1 << bits, pick[1 << CG_LANE_BITS];
    const char *type = cg_type(e, reg, bits);
    for (int64_t i = 0; i < lanes; i++)
        pick[i] = half * lanes / 2 + i / 2 + i % 2 * lanes;
    return cg_new(e, "shufflevector %s %r, %s %r, %s %r", type, x, type, y, cg_type(e, CG_I32, bits),
                  cg_lanes(e, CG_I32, bits, pick));
}

bool cg_stride_store(cg *e, ts_val v, ts_val w, cg_ix ix)
{
    ts_val pointers = ts_opnd(e->fn, v, 0), values[] = {ts_opnd(e->fn, v, 1), ts_opnd(e->fn, w, 1)};
    ts_val mask = stride_mask(e, v);
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, values[0]));
    uint32_t bits = cg_index_of(e, ix)->bits, bytes = cg_elem_bytes(e, elem);
    cg_reg reg = cg_reg_of(e, elem);
    cg_axis at;
    if (!bits || reg == CG_I1 || ts_type_of(e->fn, values[1]) != ts_type_of(e->fn, values[0]) ||
        mask != stride_mask(e, w) || !stride_follows(e, pointers, ts_opnd(e->fn, w, 0)) ||
        !cg_affine(e, pointers, ix, &at) || cg_stride(&at, bits, bytes) != 2)
        return false;
    cg_ref x = cg_gen(e, values[0], ix), y = cg_gen(e, values[1], ix), stored = mask ? cg_gen(e, mask, ix) : 0;
    for (int64_t half = 0; half < 2; half++) {
        cg_ref to = cg_add(e, at.base, cg_int(e, half * ((int64_t)bytes << bits)));
        cg_ref p = cg_new(e, "inttoptr i64 %r to ptr", to), z = stride_mix(e, reg, bits, x, y, half);
        if (mask)
            cg_masked_store(e, elem, bits, p, stride_mix(e, CG_I1, bits, stored, stored, half), z);
        else
            cg_line(e, "store %s %r, ptr %r, align %d", cg_type(e, reg, bits), z, p, (int64_t)bytes);
    }
    ts__note(e->fn, w, TS_NOTE_store, "strided", "with the elements between, as vectors");
    return true;
}
