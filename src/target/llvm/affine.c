/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles of integers and pointers that are, at the coordinates asked for, a base plus a constant for each lane bit: what
 * loads and stores of consecutive elements are found by, and comparisons of thread numbers.
 */
#include "target/llvm/cg.h"

enum { AFFINE_KEY = 11 /* kind of key in the memo, beside those of expr.c */ };

static bool affine_sum(cg *e, ts_val v, cg_ix ix, int64_t scale, cg_axis *out)
{
    cg_axis y;
    if (!cg_affine(e, ts_opnd(e->fn, v, 0), ix, out) || !cg_affine(e, ts_opnd(e->fn, v, 1), ix, &y))
        return false;
    if (scale < 0)
        y.base = cg_mul(e, y.base, cg_int(e, -1));
    else
        y.base = cg_mul(e, y.base, cg_int(e, scale));
    out->base = cg_add(e, out->base, y.base);
    for (uint32_t b = 0; b < CG_LANE_BITS; b++)
        out->lane[b] += scale * y.lane[b];
    return true;
}

static bool affine_product(cg *e, ts_val v, cg_ix ix, cg_axis *out)
{
    cg_axis y;
    int64_t c;
    if (!cg_affine(e, ts_opnd(e->fn, v, 0), ix, out) || !cg_affine(e, ts_opnd(e->fn, v, 1), ix, &y))
        return false;
    bool flat_x = true, flat_y = true;
    for (uint32_t b = 0; b < CG_LANE_BITS; b++) {
        flat_x &= out->lane[b] == 0;
        flat_y &= y.lane[b] == 0;
    }
    if (flat_x && !flat_y) {
        cg_axis swap = *out;
        *out = y;
        y = swap;
    } else if (!flat_x && !flat_y)
        return false;
    if (!cg_is_int(e, y.base, &c) && !(flat_x && flat_y))
        return false;
    for (uint32_t b = 0; b < CG_LANE_BITS; b++)
        out->lane[b] *= flat_x && flat_y ? 0 : c;
    out->base = cg_mul(e, out->base, y.base);
    return true;
}

static bool affine_not_negative(const cg *e, ts_val v)
{
    return e->facts.n && e->facts.at[v].lo >= 0;
}

/* The low bits of each element. */
static bool affine_low(cg *e, ts_type elem, cg_axis *out)
{
    cg_reg reg = cg_reg_of(e, elem);
    int64_t c;
    if (elem != TS_T_i32)
        return elem == TS_T_i64;
    if (cg_is_int(e, out->base, &c))
        out->base = cg_int(e, (int32_t)c);
    else
        out->base = cg_conv(e, "sext", reg, CG_I64, 0, cg_conv(e, "trunc", CG_I64, reg, 0, out->base));
    return true;
}

/* Elements that do not change along the lanes. */
static bool affine_uniform(cg *e, ts_val v, cg_ix ix, cg_axis *out)
{
    cg_index at = *cg_index_of(e, ix);
    for (uint32_t k = 0; k < at.rank; k++)
        for (uint32_t b = 0; b < at.bits; b++)
            if (at.axis[k].lane[b])
                return false;
    at.bits = 0;
    cg_ref x = cg_gen(e, v, cg_intern(e, &at));
    *out = (cg_axis){.base = cg_conv(e, "sext", cg_reg_of(e, ts_type_of(e->fn, v)), CG_I64, 0, x)};
    return true;
}

/* Is v the index x, or y where x is negative? */
static bool affine_wraps(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v), *cond;
    int64_t zero;
    if (inst->op != TS_OP_select)
        return false;
    cond = ts_at(e->fn, inst->opnd[0]);
    return cond->op == TS_OP_cmpi && TS_A_GET_PRED(cond->aux) == TS_LT && !(cond->aux & TS_A_UNSIGNED) &&
           cond->opnd[0] == inst->opnd[2] && ts__const_as_int(e->fn, cond->opnd[1], &zero) && zero == 0;
}

static bool affine_of(cg *e, ts_val v, cg_ix ix, cg_axis *out)
{
    const ts_inst *inst = ts_at(e->fn, v);
    int64_t c;
    memset(out, 0, sizeof *out);
    if (!cg_is_tile(e, v)) {
        out->base = cg_scalar_i64(e, v);
        return true;
    }
    if (ts_type_elem(e->m, inst->type) == TS_T_i1)
        return false;
    if (ts__const_as_int(e->fn, v, &c)) {
        out->base = cg_int(e, c);
        return true;
    }
    if (e->val[v].form == CG_LAZY || e->val[v].form == CG_HELD)
        switch ((int)inst->op) {
        case TS_OP_iota:
            *out = cg_index_of(e, ix)->axis[0];
            return true;
        case TS_OP_broadcast:
        case TS_OP_reshape:
        case TS_OP_permute:
            return cg_affine(e, inst->opnd[0], cg_mapped(e, v, ix), out);
        case TS_OP_addi:
            return affine_sum(e, v, ix, 1, out);
        case TS_OP_subi:
            return affine_sum(e, v, ix, -1, out);
        case TS_OP_offset:
            return affine_sum(
                e, v, ix, cg_elem_bytes(e, ts_type_get(e->m, ts_type_elem(e->m, inst->type))->elem),
                out);
        case TS_OP_muli:
            return affine_product(e, v, ix, out);
        case TS_OP_exti:
            return (!(inst->aux & TS_A_UNSIGNED) || affine_not_negative(e, inst->opnd[0])) &&
                   cg_affine(e, inst->opnd[0], ix, out);
        case TS_OP_trunci:
            return cg_affine(e, inst->opnd[0], ix, out) && affine_low(e, ts_type_elem(e->m, inst->type), out);
        case TS_OP_assume:
        case TS_OP_ptr_to_ptr:
        case TS_OP_ptr_to_int:
        case TS_OP_int_to_ptr:
            return cg_affine(e, inst->opnd[0], ix, out);
        case TS_OP_select:
            if (e->wraps && affine_wraps(e, v))
                return cg_affine(e, inst->opnd[2], ix, out);
            break;
        default:
            break;
        }
    return affine_uniform(e, v, ix, out);
}

/* The answer, also that it is none, is kept: a sum may reach its operands by many ways. */
bool cg_affine(cg *e, ts_val v, cg_ix ix, cg_axis *out)
{
    cg_ref known = cg_known(e, CG_KEY(AFFINE_KEY, v, e->wraps), ix);
    if (known) {
        *out = known > 1 ? e->affine.at[known - 2] : (cg_axis){0};
        return known > 1;
    }
    bool found = affine_of(e, v, ix, out);
    if (found && !TS_PUSH(e->arena, &e->affine, *out))
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
    cg_remember(e, CG_KEY(AFFINE_KEY, v, e->wraps), ix, found ? e->affine.n + 1 : 1);
    return found;
}

/* The conditions of the indices that v is made of; false: too many. */
static bool affine_conditions(const cg *e, ts_val v, uint32_t depth, ts_val *cond, uint32_t *n)
{
    enum { AFFINE_CONDITIONS = 4, AFFINE_DEEP = 16 };
    const ts_inst *inst = ts_at(e->fn, v);
    if (!cg_is_tile(e, v))
        return true;
    if (depth == AFFINE_DEEP)
        return false;
    switch ((int)inst->op) {
    case TS_OP_addi:
    case TS_OP_subi:
    case TS_OP_offset:
    case TS_OP_muli:
        return affine_conditions(e, inst->opnd[0], depth + 1, cond, n) &&
               affine_conditions(e, inst->opnd[1], depth + 1, cond, n);
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_exti:
    case TS_OP_trunci:
    case TS_OP_assume:
    case TS_OP_ptr_to_ptr:
    case TS_OP_ptr_to_int:
    case TS_OP_int_to_ptr:
        return affine_conditions(e, inst->opnd[0], depth + 1, cond, n);
    case TS_OP_select:
        if (!affine_wraps(e, v))
            return true;
        for (uint32_t i = 0; i < *n; i++)
            if (cond[i] == inst->opnd[0])
                return true;
        if (*n == AFFINE_CONDITIONS)
            return false;
        cond[(*n)++] = inst->opnd[0];
        return affine_conditions(e, inst->opnd[2], depth + 1, cond, n);
    default:
        return true;
    }
}

bool cg_affine_wrapped(cg *e, ts_val v, cg_ix ix, cg_axis *out, cg_ref *negative)
{
    ts_val cond[4];
    uint32_t n = 0, bits = cg_index_of(e, ix)->bits;
    if (e->val[v].form != CG_HELD || ix != cg_ix_held(e) || !affine_conditions(e, v, 0, cond, &n) || !n)
        return false;
    e->wraps = true;
    bool found = cg_affine(e, v, ix, out);
    e->wraps = false;
    *negative = 0;
    for (uint32_t i = 0; i < n && found; i++) {
        cg_ref one = cg_is_tile(e, cond[i]) ? cg_gen(e, cond[i], ix) : cg_splat(e, CG_I1, bits, cg_scalar(e, cond[i]));
        *negative = *negative ? cg_bin(e, "or", CG_I1, bits, *negative, one) : one;
    }
    return found;
}

/* Is what cg_affine finds the value and not only its low bits: nothing on the way wraps? And is it far from the ends
 * of i64, so that differences do not wrap either? */
static bool affine_is_exact(const cg *e, ts_val v, uint32_t depth)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const int64_t far = (int64_t)1 << 61;
    const ts_fact *f = &e->facts.at[v];
    ts_type elem = ts_type_elem(e->m, inst->type);
    if (!ts_fact_within(&e->facts, v, -far, far) || (elem != TS_T_i32 && elem != TS_T_i64) || depth == 0)
        return false;
    switch ((int)inst->op) {
    case TS_OP_addi:
    case TS_OP_subi:
    case TS_OP_muli: /* what may wrap has the bounds of its type */
        if (elem == TS_T_i32 && f->lo <= INT32_MIN && f->hi >= INT32_MAX)
            return false;
        return affine_is_exact(e, inst->opnd[0], depth - 1) && affine_is_exact(e, inst->opnd[1], depth - 1);
    case TS_OP_trunci:
        return ts_fact_within(&e->facts, inst->opnd[0], INT32_MIN, INT32_MAX) &&
               affine_is_exact(e, inst->opnd[0], depth - 1);
    case TS_OP_exti:
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_assume:
        return affine_is_exact(e, inst->opnd[0], depth - 1);
    default:
        return true;
    }
}

/* Lanes l of 2^bits with l < n, from a number. */
static cg_ref affine_first_lanes(cg *e, uint32_t bits, cg_ref n)
{
    int64_t all = (int64_t)1 << bits;
    n = cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp sgt", CG_I64, 0, n, cg_int(e, 0)), n, cg_int(e, 0));
    n = cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp slt", CG_I64, 0, n, cg_int(e, all)), n, cg_int(e, all));
    cg_ref ones = cg_bin(e, "sub", CG_I64, 0, cg_bin(e, "shl", CG_I64, 0, cg_int(e, 1), n), cg_int(e, 1));
    cg_ref word = cg_new(e, "trunc i64 %r to i%d", ones, all);
    return cg_new(e, "bitcast i%d %r to %s", all, word, cg_type(e, CG_I1, bits));
}

static bool affine_axis_rises(const cg_axis *a, uint32_t bits, int64_t by)
{
    for (uint32_t b = 0; b < bits; b++)
        if (a->lane[b] != by << b)
            return false;
    return true;
}

cg_ref cg_compare_rising(cg *e, ts_val v, cg_ix ix)
{
    enum { AFFINE_WORD = 5, AFFINE_DEPTH = 16 };
    const ts_inst *inst = ts_at(e->fn, v);
    uint32_t bits = cg_index_of(e, ix)->bits;
    ts_pred pred = TS_A_GET_PRED(inst->aux);
    ts_val x = inst->opnd[0], y = inst->opnd[1];
    cg_axis a, b;
    if (bits != AFFINE_WORD || ix != cg_ix_held(e) || pred == TS_EQ || pred == TS_NE || inst->aux & TS_A_UNSIGNED ||
        !e->facts.n || !affine_is_exact(e, x, AFFINE_DEPTH) || !affine_is_exact(e, y, AFFINE_DEPTH) ||
        !cg_affine(e, x, ix, &a) || !cg_affine(e, y, ix, &b))
        return 0;
    if (affine_axis_rises(&a, bits, 0)) { /* y > x for x < y */
        static const ts_pred turned[] = {[TS_LT] = TS_GT, [TS_LE] = TS_GE, [TS_GT] = TS_LT, [TS_GE] = TS_LE};
        cg_axis swap = a;
        a = b, b = swap;
        pred = turned[pred];
    }
    if (!affine_axis_rises(&a, bits, 1) || !affine_axis_rises(&b, bits, 0))
        return 0;
    bool equal = pred == TS_LE || pred == TS_GT;
    cg_ref n = cg_bin(e, "sub", CG_I64, 0, b.base, a.base);
    cg_ref first = affine_first_lanes(e, bits, equal ? cg_bin(e, "add", CG_I64, 0, n, cg_int(e, 1)) : n);
    if (pred == TS_LT || pred == TS_LE)
        return first;
    return cg_bin(e, "xor", CG_I1, bits, first, cg_const(e, CG_I1, bits, (uint64_t)-1));
}
