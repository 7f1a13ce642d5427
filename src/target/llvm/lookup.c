/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of one byte that are gathered by indices of one byte, as tables of 256 grey levels or letters are read:
 *
 *     table[index], index 0 .. 255:   four registers hold the table; vpermi2b takes from two of them by seven bits,
 *                                     twice, and the eighth bit chooses
 *
 * which costs some ten instructions for a vector and not three for each of its lanes. Many arrays are shorter than
 * 256, so the way is taken where all 256 bytes lie in one page of memory: with one of them all are there.
 */
#include "target/llvm/cg.h"

enum { LOOKUP_BYTES = 256, LOOKUP_PAGE = 4096, LOOKUP_BITS = 6 /* log2 of the bytes of a register */ };

ts_val cg_one_for_all(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    for (; inst->op == TS_OP_broadcast || inst->op == TS_OP_reshape || inst->op == TS_OP_assume; inst = ts_at(e->fn, v))
        v = inst->opnd[0];
    return cg_is_tile(e, v) ? 0 : v;
}

/* The byte that an index is made of by widening; 0: it is not. */
static ts_val lookup_byte(const cg *e, ts_val index)
{
    bool widened = false;
    for (const ts_inst *inst = ts_at(e->fn, index); inst->op == TS_OP_exti; inst = ts_at(e->fn, index)) {
        index = inst->opnd[0];
        widened = inst->aux & TS_A_UNSIGNED; /* the innermost counts: its result is not negative */
    }
    ts_type type = ts_type_of(e->fn, index);
    return widened && ts_type_kind(e->m, type) == TS_KIND_TILE && ts_type_elem(e->m, type) == TS_T_i8 ? index : 0;
}

bool cg_lookup_of(const cg *e, ts_val ptrs, ts_type elem, uint32_t bits, cg_lookup *look)
{
    const ts_inst *inst = ts_at(e->fn, ptrs);
    if (!e->host->vbmi || cg_elem_bytes(e, elem) != 1 || bits < 3 || bits > LOOKUP_BITS || inst->op != TS_OP_offset)
        return false;
    look->base = cg_one_for_all(e, inst->opnd[0]);
    look->index = lookup_byte(e, inst->opnd[1]);
    return look->base && look->index;
}

cg_ref cg_lookup_fits(cg *e, const cg_lookup *look)
{
    cg_ref in_page = cg_and(e, cg_scalar(e, look->base), LOOKUP_PAGE - 1);
    return cg_cmp(e, "icmp ule", CG_I64, 0, in_page, cg_int(e, LOOKUP_PAGE - LOOKUP_BYTES));
}

/* Lanes of a register of bytes: the first 2^bits of them are x. */
static cg_ref lookup_widen(cg *e, cg_ref x, uint32_t bits)
{
    int32_t lane[1 << LOOKUP_BITS];
    for (int32_t i = 0; i < 1 << LOOKUP_BITS; i++)
        lane[i] = i & ((1 << bits) - 1);
    return bits == LOOKUP_BITS ? x : cg_pick(e, CG_I8, bits, x, LOOKUP_BITS, lane);
}

cg_ref cg_lookup_make(cg *e, const cg_lookup *look, cg_ix ix)
{
    static const char name[] = "@llvm.x86.avx512.vpermi2var.qi.512";
    int32_t lane[1 << LOOKUP_BITS];
    uint32_t bits = cg_index_of(e, ix)->bits;
    cg_ref at = lookup_widen(e, cg_gen(e, look->index, ix), bits), half[2], part[2];
    cg_ref table = cg_new(e, "inttoptr i64 %r to ptr", cg_scalar(e, look->base));
    cg_declare(e, "declare <64 x i8> @llvm.x86.avx512.vpermi2var.qi.512(<64 x i8>, <64 x i8>, <64 x i8>)");
    for (int64_t h = 0; h < 2; h++) {
        for (int64_t k = 0; k < 2; k++) {
            int64_t from = (2 * h + k) << LOOKUP_BITS;
            cg_ref p = cg_new(e, "getelementptr i8, ptr %r, i64 %d", table, from);
            part[k] = cg_new(e, "load <64 x i8>, ptr %r, align 1", p);
        }
        half[h] = cg_new(e, "call <64 x i8> %s(<64 x i8> %r, <64 x i8> %r, <64 x i8> %r)", name, part[0], at, part[1]);
    }
    cg_ref upper = cg_cmp(e, "icmp slt", CG_I8, LOOKUP_BITS, at, cg_const(e, CG_I8, LOOKUP_BITS, 0));
    cg_ref all = cg_sel(e, CG_I8, LOOKUP_BITS, upper, half[1], half[0]);
    for (int32_t i = 0; i < 1 << LOOKUP_BITS; i++)
        lane[i] = i;
    return bits == LOOKUP_BITS ? all : cg_pick(e, CG_I8, LOOKUP_BITS, all, bits, lane);
}
