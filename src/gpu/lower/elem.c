/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations, constants, iota, and the operations that only rename elements (broadcast, reshape,
 * permute, cat), on registers (lower.h). A free value is written here in the layout its user wants; a
 * placed one in its home. Registers that repeat others are computed once.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/op.h"
#include "gpu/lower/strategy.h"
#include "pass/quick.h"

enum { ELEM_COLD_VALUES = 8 }; /* as many as ts_cold_begin takes */

/* ---- square roots ------------------------------------------------------------------------------------------ */

/* The exact root of f32 is written with its rare path apart (pass/quick.h), which is asked for once for several
 * registers. */
static bool elem_is_root(const ts_lower *lw, const ts_inst *inst, ts_val v, const ts_linear *layout)
{
    return inst->op == TS_OP_sqrt && inst->aux == TS_RN && ts__lower_elem(lw, v) == TS_T_f32 &&
           layout->n_reg > (uint32_t)__builtin_popcount(ts__lower_repeats(layout));
}

/* A result in f32 as one of `elem`. */
static ts_val elem_rounded(ts_lower *lw, ts_val x, ts_type elem)
{
    return elem == TS_T_f32 ? x : ts_cast(&lw->b, TS_OP_ftof, x, elem, 0);
}

/* One region for what is rare: where `rare` holds, the results in `opnds` (from 1 on) are made by `inst` itself, in
 * f32; they become those of the region. */
static void elem_or_cold(ts_lower *lw, const ts_inst *inst, const ts_linear *layout, ts_val rare, ts_vals *opnds,
                         const ts_val *const from[3])
{
    ts_vals yields = {0};
    if (!opnds->v.n)
        return;
    opnds->v.at[0] = rare;
    ts_type elem = opnds->v.n > 1 ? ts_type_of(lw->fn, opnds->v.at[1]) : TS_T_f32;
    ts_val opener = ts_emit(&lw->b, TS_OP_cold, TS_T_none, opnds->v.n, opnds->v.at, 0, 0);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val x[2] = {from[0][r], inst->n_opnd > 1 ? from[1][r] : 0};
        if (!(r & ts__lower_repeats(layout)))
            (void)TS_PUSH(lw->arena, &yields.v,
                          elem_rounded(lw, ts_emit(&lw->b, (ts_op)inst->op, TS_T_f32, inst->n_opnd, x, inst->aux, 0),
                                       elem));
    }
    ts_term(&lw->b, TS_OP_yield, yields.v.n, yields.v.at);
    ts_end_like(&lw->b, opener);
    for (uint32_t i = 1; i < opnds->v.n; i++)
        opnds->v.at[i] = lw->fn->inst.n - opnds->v.n + i;
}

/* The registers of `layout` with the results in `opnds`. */
static ts_val *elem_results(ts_lower *lw, const ts_linear *layout, const ts_vals *opnds)
{
    ts_val *out = ts__lower_regs(lw, layout);
    uint32_t repeats = ts__lower_repeats(layout);
    for (uint32_t r = 0, next = 1; opnds->v.n && r < 1u << layout->n_reg; r++)
        out[r] = r & repeats ? out[r & ~repeats] : opnds->v.at[next++];
    return out;
}

static ts_val *elem_roots(ts_lower *lw, const ts_inst *inst, const ts_val *const from[3], const ts_linear *layout)
{
    ts_val most = 0;
    ts_vals opnds = {0};
    (void)TS_PUSH(lw->arena, &opnds.v, 0);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
        if (!(r & ts__lower_repeats(layout))) {
            (void)TS_PUSH(lw->arena, &opnds.v, ts__quick_root(&lw->b, from[0][r]));
            ts_val word = ts__quick_root_word(&lw->b, from[0][r]);
            most = most ? ts_op2(&lw->b, TS_OP_maxi, most, word, TS_A_UNSIGNED) : word;
        }
    ts_val rare = ts_cmp(&lw->b, TS_OP_cmpi, TS_GE, most, ts__lower_i32(lw, TS_QUICK_ROOT), TS_A_UNSIGNED);
    elem_or_cold(lw, inst, layout, rare, &opnds, from);
    return elem_results(lw, layout, &opnds);
}

/* ---- quotients ---------------------------------------------------------------------------------------------- */

/* Exact quotients of f32: with the correctly rounded reciprocal of its divisor (pass/quick.h) each one is a product,
 * and a correction by its remainder (Markstein, "Computation of elementary functions", 1990). That holds where nothing
 * over- or underflows on the way, which the results tell: what overflows, and infinities and NaN of operands, make them
 * NaN; the remainder is exact where dividends are 2^-100 or greater, as they are of a divisor from 2^-30 to 2^30 and
 * quotients from 2^-70 on; a divisor that has no normal reciprocal makes them 0 or NaN. What is off is looked for once
 * for several registers. Behind, zeros and quotients that are merely small are told from it by narrower limits of the
 * operands, divisors from 2^-30 to 2^30, dividends from 2^-90 to 2^90, or 0 by positive divisors; for the rest the
 * division is made as usual. */
enum { QUOTIENT_MOST = 90, QUOTIENT_DIVISOR = 30, QUOTIENT_REGS = 2, QUOTIENT_OWN_REGS = 3 };
enum { QUOTIENT_LEAST = -70, QUOTIENT_NORMAL = -125, QUOTIENT_DIVIDEND = -100 }; /* exponents of 2 */

/* Bits of the f32 2^exponent. */
static int32_t elem_power(int32_t exponent)
{
    return (127 + exponent) * (1 << 23);
}

/* Do all registers share a divisor? */
static bool elem_shares_divisor(const ts_val *by, const ts_linear *layout)
{
    for (uint32_t r = 1; r < 1u << layout->n_reg; r++)
        if (by[r] != by[0])
            return false;
    return true;
}

/* Are there enough registers of quotients for what is asked once? One divisor is asked once too. */
static bool elem_is_quotient(const ts_lower *lw, const ts_inst *inst, ts_val v, const ts_linear *layout,
                             const ts_val *by)
{
    ts_type elem = ts__lower_elem(lw, v);
    if (inst->op != TS_OP_divf || inst->aux != TS_RN || (elem != TS_T_f32 && elem != TS_T_f16 && elem != TS_T_bf16))
        return false;
    uint32_t least = elem_shares_divisor(by, layout) ? QUOTIENT_REGS : QUOTIENT_OWN_REGS;
    return layout->n_reg >= least + (uint32_t)__builtin_popcount(ts__lower_repeats(layout));
}

/* Twice a number's magnitude less that of 2^-least: what is above twice the span of those from 2^-least to 2^least is
 * zero, too small, or too great. */
static ts_val elem_magnitude(ts_lower *lw, ts_val x, int32_t least)
{
    ts_val bits = ts_cast(&lw->b, TS_OP_bitcast, x, TS_T_i32, 0), twice = ts_op2(&lw->b, TS_OP_addi, bits, bits, 0);
    return ts__lower_op(lw, TS_OP_subi, twice, (int32_t)(2u * (uint32_t)elem_power(-least)), 0);
}

/* i1: the greatest of some words is above `times` the span of numbers from 2^-least to 2^least. */
static ts_val elem_above_span(ts_lower *lw, ts_val word, int32_t least, uint32_t times)
{
    uint32_t span = times * ((uint32_t)elem_power(least) - (uint32_t)elem_power(-least));
    return ts_cmp(&lw->b, TS_OP_cmpi, TS_GT, word, ts__lower_i32(lw, (int32_t)span), TS_A_UNSIGNED);
}

static ts_val elem_greater(ts_builder *b, ts_val most, ts_val word)
{
    return most ? ts_op2(b, TS_OP_maxi, most, word, TS_A_UNSIGNED) : word;
}

/* i1: some magnitude is below 2^exponent or NaN. Compared in pairs: a chain of comparisons would wait for each. */
static ts_val elem_any_below(ts_lower *lw, ts_vals *x, int32_t exponent)
{
    ts_builder *b = &lw->b;
    uint32_t n = x->v.n;
    for (uint32_t i = 0; i < n; i++)
        x->v.at[i] = ts_op1(b, TS_OP_absf, x->v.at[i], 0);
    for (; n > 1; n = (n + 1) / 2)
        for (uint32_t i = 0; 2 * i < n; i++)
            x->v.at[i] = 2 * i + 1 < n ? ts_op2(b, TS_OP_minf, x->v.at[2 * i], x->v.at[2 * i + 1], TS_A_NAN)
                                       : x->v.at[2 * i];
    ts_val least = ts_bits(b, TS_T_f32, (uint32_t)elem_power(exponent));
    return ts_cmp(b, TS_OP_cmpf, TS_LT, x->v.at[0], least, TS_A_UNORDERED);
}

/* i1: some dividend is none of these, nor zero. */
static ts_val elem_dividends_off(ts_lower *lw, const ts_val *x, const ts_linear *layout)
{
    ts_builder *b = &lw->b;
    ts_val great = 0, small = 0, most = ts_bits(b, TS_T_f32, (uint32_t)elem_power(QUOTIENT_MOST));
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        if (r & ts__lower_repeats(layout))
            continue;
        ts_val magnitude = ts_op1(b, TS_OP_absf, x[r], 0);
        great = great ? ts_op2(b, TS_OP_maxf, great, magnitude, 0) : magnitude;
        small = elem_greater(b, small, elem_magnitude(lw, x[r], QUOTIENT_MOST));
    }
    ts_val zero = ts__lower_i32(lw, (int32_t)(0u - 2u * (uint32_t)elem_power(-QUOTIENT_MOST)));
    ts_val off = ts_cmp(b, TS_OP_cmpi, TS_GT, small, zero, TS_A_UNSIGNED);
    return ts_op2(b, TS_OP_ori, off, ts_cmp(b, TS_OP_cmpf, TS_GT, great, most, 0), 0); /* a NaN's quotient is one */
}

/* i1: some divisor is negative, too small or too great. */
static ts_val elem_divisors_off(ts_lower *lw, const ts_val *by, const ts_linear *layout)
{
    ts_val most = 0;
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        if (r && (r & ts__lower_repeats(layout) || by[r] == by[0]))
            continue;
        ts_val bits = ts_cast(&lw->b, TS_OP_bitcast, by[r], TS_T_i32, 0);
        most = elem_greater(&lw->b, most, ts__lower_op(lw, TS_OP_subi, bits, elem_power(-QUOTIENT_DIVISOR), 0));
    }
    return elem_above_span(lw, most, QUOTIENT_DIVISOR, 1);
}

static ts_val *elem_quotients(ts_lower *lw, const ts_inst *inst, const ts_val *const from[3], const ts_linear *layout,
                              ts_type elem)
{
    ts_builder *b = &lw->b;
    ts_val divisor = 0, inverse = 0, minus = 0;
    const ts_val *by = from[1];
    bool shares = elem_shares_divisor(by, layout);
    ts_vals opnds = {0}, dividends = {0}, quotients = {0};
    (void)TS_PUSH(lw->arena, &opnds.v, 0);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        if (r & ts__lower_repeats(layout))
            continue;
        if (divisor != by[r]) {
            divisor = by[r];
            inverse = ts__quick_inverse(b, divisor);
            minus = ts_op1(b, TS_OP_negf, inverse, 0);
        }
        ts_val x = from[0][r], guess = ts_op2(b, TS_OP_mulf, x, inverse, 0);
        ts_val rest = ts_op3(b, TS_OP_fma, divisor, guess, ts_op1(b, TS_OP_negf, x, 0), 0);
        ts_val quotient = ts_op3(b, TS_OP_fma, rest, minus, guess, 0);
        if (!TS_PUSH(lw->arena, &opnds.v, elem_rounded(lw, quotient, elem)) ||
            !TS_PUSH(lw->arena, &quotients.v, quotient) || !TS_PUSH(lw->arena, &dividends.v, x))
            return elem_results(lw, layout, &(ts_vals){0});
    }
    if (!opnds.v.n)
        return elem_results(lw, layout, &opnds);
    ts_val off = shares ? elem_above_span(lw, elem_magnitude(lw, by[0], QUOTIENT_DIVISOR), QUOTIENT_DIVISOR, 2)
                        : elem_any_below(lw, &dividends, QUOTIENT_DIVIDEND);
    int32_t least = shares ? QUOTIENT_LEAST : QUOTIENT_NORMAL;
    opnds.v.at[0] = ts_op2(b, TS_OP_ori, off, elem_any_below(lw, &quotients, least), 0);
    ts_val opener = ts_emit(b, TS_OP_cold, TS_T_none, opnds.v.n, opnds.v.at, 0, 0);
    ts_val rare = ts_op2(b, TS_OP_ori, elem_divisors_off(lw, by, layout), elem_dividends_off(lw, from[0], layout), 0);
    elem_or_cold(lw, inst, layout, rare, &opnds, from);
    ts_term(b, TS_OP_yield, opnds.v.n - 1, opnds.v.at + 1);
    ts_end_like(b, opener);
    for (uint32_t i = 1; i < opnds.v.n; i++)
        opnds.v.at[i] = lw->fn->inst.n - opnds.v.n + i;
    return elem_results(lw, layout, &opnds);
}

/* Registers as f32, what is the same once. */
static const ts_val *elem_widened(ts_lower *lw, const ts_val *x, const ts_linear *layout)
{
    ts_val *out = ts__lower_regs(lw, layout);
    uint32_t repeats = ts__lower_repeats(layout);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        uint32_t same = r & repeats ? r & ~repeats : x[r] == x[0] ? 0 : r;
        out[r] = same != r ? out[same] : ts_cast(&lw->b, TS_OP_ftof, x[r], TS_T_f32, 0);
    }
    return out;
}

/* Of f16 and bf16 by way of f32, whose significands are long enough that rounding twice is rounding once. What is rare
 * is asked for behind the rounding, so that a thread keeps half as much for it. */
static ts_val *elem_any_quotients(ts_lower *lw, const ts_inst *inst, const ts_val *const from[3],
                                  const ts_linear *layout, ts_type elem)
{
    if (elem == TS_T_f32)
        return elem_quotients(lw, inst, from, layout, elem);
    const ts_val *const wide[3] = {elem_widened(lw, from[0], layout), elem_widened(lw, from[1], layout), NULL};
    return elem_quotients(lw, inst, wide, layout, elem);
}

/* ---- elementwise ------------------------------------------------------------------------------------------- */

/* Pointers keep the space of what they are made from: memory of the block (alloca) is shared memory here. */
static ts_type elem_pointer_type(ts_lower *lw, const ts_inst *inst, ts_type type, const ts_val *opnds)
{
    ts_type from = ts_type_of(lw->fn, opnds[inst->op == TS_OP_select ? 1 : 0]);
    if (inst->op == TS_OP_int_to_ptr)
        return type;
    return ts_type_ptr(lw->module, ts_type_get(lw->module, type)->elem, (ts_space)ts_type_get(lw->module, from)->space);
}

/* The 32-bit value that a 64-bit one extends without sign; 0 = none. */
static ts_val elem_word(ts_lower *lw, ts_val v)
{
    const ts_inst *inst = ts_at(lw->fn, v);
    int64_t value;
    if (ts__const_as_int(lw->fn, v, &value))
        return value >= 0 && value <= UINT32_MAX ? ts__lower_i32(lw, (int32_t)(uint32_t)value) : 0;
    bool extends = inst->op == TS_OP_exti && inst->aux & TS_A_UNSIGNED && ts_type_of(lw->fn, inst->opnd[0]) == TS_T_i32;
    return extends ? inst->opnd[0] : 0;
}

static ts_val elem_one(ts_lower *lw, const ts_inst *inst, ts_type type, const ts_val *opnds)
{
    if (inst->op == TS_OP_muli && type == TS_T_i64) {
        ts_val x = elem_word(lw, opnds[0]), y = x ? elem_word(lw, opnds[1]) : 0;
        if (y) /* ptxas adds up the zero upper halves of a product of 64 bits */
            return ts_op2(&lw->b, TS_OP_mul_wide, x, y, TS_A_UNSIGNED);
    }
    if (ts_type_is_ptr(lw->module, type))
        type = elem_pointer_type(lw, inst, type, opnds);
    if (ts__ops[inst->op].rule == TS_RULE_BINI)
        return ts_op2(&lw->b, (ts_op)inst->op, opnds[0], opnds[1], inst->aux);
    return ts_emit(&lw->b, (ts_op)inst->op, type, inst->n_opnd, opnds, inst->aux, inst->flags);
}

ts_val ts__lower_one(ts_lower *lw, ts_val v, const ts_val *opnds)
{
    ts_inst inst = *ts_at(lw->tile, v);
    return elem_one(lw, &inst, ts__lower_elem(lw, v), opnds);
}

/* Register bits along which all elements of `v` are known to be equal: those of `layout`, and steps within the runs
 * that facts know. A comparison of indices with a multiple of 8, for instance, is made once for eight of them. */
static uint32_t elem_repeats(const ts_lower *lw, ts_val v, const ts_linear *layout)
{
    const ts_axis_fact *axis = lw->facts.at[v].axis;
    ts_type type = ts_type_of(lw->tile, v);
    uint32_t mask = ts__lower_repeats(layout), within = 0;
    for (uint32_t d = 0; axis && d < ts_type_rank(lw->module, type); d++) {
        ts_axis_bits run = ts__axis_of(lw->module, type, d);
        run.n = TS_MIN(run.n, (uint32_t)ts_log2((uint64_t)axis[d].constancy));
        within |= ts_axis_mask(run);
    }
    for (uint32_t i = 0; i < layout->n_reg; i++)
        mask |= layout->reg[i] & ~within ? 0 : 1u << i;
    return mask;
}

static ts_val *elem_apply(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    ts_inst inst = *ts_at(lw->tile, v);
    const ts_val *from[3] = {0};
    uint32_t repeats = elem_repeats(lw, v, layout);
    for (uint32_t i = 0; i < inst.n_opnd && i < 3; i++)
        from[i] = ts__lower_get(lw, inst.opnd[i], layout);
    if (elem_is_root(lw, &inst, v, layout))
        return elem_roots(lw, &inst, from, layout);
    if (elem_is_quotient(lw, &inst, v, layout, from[1]))
        return elem_any_quotients(lw, &inst, from, layout, ts__lower_elem(lw, v));
    ts_val *out = ts__lower_regs(lw, layout);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val opnds[3] = {0};
        for (uint32_t i = 0; i < inst.n_opnd && i < 3; i++)
            opnds[i] = from[i][r];
        out[r] = r & repeats ? out[r & ~repeats] : elem_one(lw, &inst, ts__lower_elem(lw, v), opnds);
    }
    return out;
}

void ts__lower_elementwise(ts_lower *lw, ts_val v)
{
    if (ts_type_kind(lw->module, ts_type_of(lw->tile, v)) != TS_KIND_TILE) {
        ts_inst inst = *ts_at(lw->tile, v);
        ts_val opnds[3] = {0};
        for (uint32_t i = 0; i < inst.n_opnd && i < 3; i++)
            opnds[i] = lw->values.scalar[inst.opnd[i]];
        lw->values.scalar[v] = elem_one(lw, &inst, inst.type, opnds);
        return;
    }
    const ts_linear *home = lw->assign.home[v];
    if (home && !ts__hook_defers(lw, v))
        ts__lower_set(lw, v, home, elem_apply(lw, v, home));
}

/* ---- free values --------------------------------------------------------------------------------------------- */

static ts_val *elem_constant(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    uint64_t bits;
    ts_val *out = ts__lower_regs(lw, layout);
    ts_type elem = ts__lower_elem(lw, v);
    if (ts__const_bits(lw->tile, v, &bits)) {
        ts_val x = ts_bits(&lw->b, elem, bits);
        for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
            out[r] = x;
        return out;
    }
    /* a dense constant is a table in global memory that every thread reads its elements from */
    ts_val table = ts__lower_dense(lw, v);
    uint32_t bytes = TS_MAX(1u, ts_type_bits(lw->module, elem) / 8);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val flat =
            ts_op2(&lw->b, TS_OP_xori, ts__lower_flat(lw, layout), ts__lower_i32(lw, ts_lower_fixed(layout, r)), 0);
        ts_val at = ts_op2(&lw->b, TS_OP_mul_wide, flat, ts__lower_i32(lw, bytes), TS_A_UNSIGNED);
        ts__lower_ld(lw, elem, ts__lower_ptr(lw, table, at, 0), 1, TS_CACHE_NONE, 0, 0, &out[r]);
    }
    return out;
}

static ts_val *elem_iota(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    ts_val *out = ts__lower_regs(lw, layout), flat = ts__lower_flat(lw, layout);
    ts_type elem = ts__lower_elem(lw, v);
    uint32_t threads = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++)
        threads |= layout->lane[i];
    for (uint32_t i = 0; i < layout->n_warp; i++)
        threads |= layout->warp[i];
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        uint32_t fixed = ts_lower_fixed(layout, r);
        ts_val x = ts_op2(&lw->b, fixed & threads ? TS_OP_xori : TS_OP_addi, flat, ts__lower_i32(lw, fixed), 0);
        if (elem != TS_T_i32)
            x = ts_cast(&lw->b, elem == TS_T_i64 ? TS_OP_exti : TS_OP_trunci, x, elem,
                        elem == TS_T_i64 ? TS_A_UNSIGNED : 0);
        out[r] = x;
    }
    return out;
}

/* Flat bits of the result that the operand does not have. */
static uint32_t elem_stretched(const ts_lower *lw, ts_val v)
{
    ts_type type = ts_type_of(lw->tile, v), from = ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0));
    uint32_t mask = 0;
    if (ts_type_rank(lw->module, from) == 0)
        return ~0u;
    for (uint32_t axis = 0; axis < ts_type_rank(lw->module, type); axis++)
        if (ts_type_dims(lw->module, from)[axis] == 1)
            mask |= ts_axis_mask(ts__axis_of(lw->module, type, axis));
    return mask;
}

static ts_val *elem_same(ts_lower *lw, ts_val x, const ts_linear *layout)
{
    ts_val *out = ts__lower_regs(lw, layout);
    const ts_val *in = ts__lower_get(lw, x, layout);
    memcpy(out, in, sizeof *out << layout->n_reg);
    return out;
}

static ts_val *elem_broadcast(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    ts_linear part = ts__linear_delete(layout, elem_stretched(lw, v));
    return elem_same(lw, ts_opnd(lw->tile, v, 0), &part);
}

/* back[i]: flat bit of the result that is flat bit i of the operand. */
static void elem_permute_back(const ts_lower *lw, ts_val v, uint8_t *back)
{
    const uint32_t *axes = ts_pool(lw->tile, ts_at(lw->tile, v)) + 1;
    ts_type type = ts_type_of(lw->tile, v), from = ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0));
    for (uint32_t axis = 0; axis < ts_type_rank(lw->module, type); axis++) {
        ts_axis_bits to = ts__axis_of(lw->module, type, axis), of = ts__axis_of(lw->module, from, axes[axis]);
        for (uint32_t i = 0; i < to.n; i++)
            back[of.first + i] = (uint8_t)(to.first + i);
    }
}

static ts_val *elem_permute(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    uint8_t back[32] = {0};
    elem_permute_back(lw, v, back);
    ts_linear of = ts__linear_permute(layout, back);
    return elem_same(lw, ts_opnd(lw->tile, v, 0), &of);
}

const ts_val *ts__lower_free(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    switch ((int)inst->op) {
    case TS_OP_constant:
        return elem_constant(lw, v, layout);
    case TS_OP_iota:
        return elem_iota(lw, v, layout);
    case TS_OP_broadcast:
        return elem_broadcast(lw, v, layout);
    case TS_OP_reshape:
    case TS_OP_assume:
        return elem_same(lw, inst->opnd[0], layout);
    case TS_OP_permute:
        return elem_permute(lw, v, layout);
    case TS_OP_load_view_tko: /* was deferred, but its store takes another way */
        ts__hook_recalls(lw, v);
        ts__lower_load_view(lw, v);
        return ts__lower_get(lw, v, layout);
    default:
        break;
    }
    if (ts_info(inst)->flags & TS_ELEM)
        return elem_apply(lw, v, layout);
    ts__lower_fail(lw, TS_INTERNAL, v, "value of '%s' was used before it was lowered", ts_info(inst)->name);
    return ts__lower_regs(lw, layout);
}

void ts__lower_shape(ts_lower *lw, ts_val v)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    if (ts_type_kind(lw->module, inst->type) != TS_KIND_TILE) {
        if (inst->op == TS_OP_constant || inst->op == TS_OP_assume)
            ts__copy(&lw->b, lw->tile, v, lw->values.scalar);
        else { /* a reshape to rank 0 */
            ts_linear same = ts__linear_all_same(lw->assign.n_warp);
            lw->values.scalar[v] = ts__lower_get(lw, inst->opnd[0], &same)[0];
        }
        return;
    }
    const ts_linear *home = lw->assign.home[v];
    if (home && !ts__hook_defers(lw, v))
        ts__lower_set(lw, v, home, ts__lower_free(lw, v, home));
}

void ts__lower_cat(ts_lower *lw, ts_val v)
{
    const ts_linear *part = lw->assign.work[v], *home = ts__lower_home(lw, v);
    ts_val *out = ts__lower_regs(lw, home);
    for (uint32_t half = 0; half < 2; half++)
        memcpy(out + (half << part->n_reg), ts__lower_get(lw, ts_opnd(lw->tile, v, half), part),
               sizeof *out << part->n_reg);
    ts__lower_set(lw, v, home, out);
}

/* ---- cold ------------------------------------------------------------------------------------------------------- */

/* Values from outside are fetched before the branch, so that what is written inside is only the region's. */
static void elem_fetch_outside(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    for (ts_val i = v + 1; i < lw->shape.end[v]; i++) {
        const ts_inst *inst = ts_at(lw->tile, i);
        if (inst->op == TS_OP_broadcast && inst->opnd[0] < v)
            elem_broadcast(lw, i, layout);
        for (uint32_t k = 0; k < inst->n_opnd; k++) {
            ts_val x = ts_opnds(lw->tile, inst)[k];
            if (x < v && ts_type_kind(lw->module, ts_type_of(lw->tile, x)) == TS_KIND_TILE &&
                ts_type_count(lw->module, ts_type_of(lw->tile, x)) == (int64_t)1 << layout->bits)
                ts__lower_get(lw, x, layout);
        }
    }
}

/* Does i1 tile `part` hold only where `cond` does? */
static bool elem_implies(const ts_fn *fn, ts_val part, ts_val cond)
{
    const ts_inst *inst = ts_at(fn, part);
    return part == cond ||
           (inst->op == TS_OP_andi && (elem_implies(fn, inst->opnd[0], cond) || elem_implies(fn, inst->opnd[1], cond)));
}

/* Is `v` equal to `old` wherever `cond` does not hold, by the way it is made? */
static bool elem_keeps(const ts_lower *lw, ts_val v, ts_val old, ts_val cond)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    if (v == old)
        return true;
    if (inst->op == TS_OP_select)
        return elem_implies(lw->tile, inst->opnd[0], cond) && elem_keeps(lw, inst->opnd[2], old, cond);
    ts_val opener = inst->op == TS_OP_res ? inst->opnd[0] : 0;
    return opener && ts_at(lw->tile, opener)->op == TS_OP_cold &&
           elem_implies(lw->tile, ts_opnd(lw->tile, opener, 0), cond) &&
           elem_keeps(lw, ts_opnd(lw->tile, opener, 1 + inst->aux), old, cond);
}

static void elem_cold_body(ts_lower *lw, ts_val v, const ts_linear *layout, const ts_val *cond, const ts_val **old,
                           uint32_t n)
{
    ts_vals yields = {0};
    uint32_t repeats = ts__lower_repeats(layout);
    ts_val i = v + 1;
    for (; ts_at(lw->tile, i)->op != TS_OP_yield; i++) {
        if (ts_at(lw->tile, i)->op == TS_OP_cold) {
            ts__lower_cold(lw, i);
            i = lw->shape.end[i];
        } else if (ts_info(ts_at(lw->tile, i))->flags & TS_ELEM)
            ts__lower_elementwise(lw, i);
        else if (ts_at(lw->tile, i)->op != TS_OP_res)
            ts__lower_shape(lw, i);
    }
    for (uint32_t k = 0; k < n; k++) {
        ts_val x = ts_opnd(lw->tile, i, k);
        const ts_val *now = ts__lower_get(lw, x, layout);
        bool keeps = elem_keeps(lw, x, ts_opnd(lw->tile, v, k + 1), ts_opnd(lw->tile, v, 0));
        for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
            if (!(r & repeats))
                (void)TS_PUSH(lw->arena, &yields.v, keeps ? now[r] : ts_select(&lw->b, cond[r], now[r], old[k][r]));
    }
    ts_term(&lw->b, TS_OP_yield, yields.v.n, yields.v.at);
}

void ts__lower_cold(ts_lower *lw, ts_val v)
{
    const ts_linear *layout = lw->assign.work[v];
    uint32_t n = ts_at(lw->tile, v)->n_opnd - 1u, repeats = ts__lower_repeats(layout);
    const ts_val *old[ELEM_COLD_VALUES], *cond = ts__lower_get(lw, ts_opnd(lw->tile, v, 0), layout);
    ts_val any = 0;
    ts_vals opnds = {0};
    if (n > ELEM_COLD_VALUES) {
        ts__lower_fail(lw, TS_UNSUPPORTED, v, "a cold region with %u values; at most %d", n, ELEM_COLD_VALUES);
        return;
    }
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
        if (!(r & repeats))
            any = any ? ts_op2(&lw->b, TS_OP_ori, any, cond[r], 0) : cond[r];
    (void)TS_PUSH(lw->arena, &opnds.v, any);
    for (uint32_t k = 0; k < n; k++) {
        old[k] = ts__lower_get(lw, ts_opnd(lw->tile, v, k + 1), layout);
        for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
            if (!(r & repeats))
                (void)TS_PUSH(lw->arena, &opnds.v, old[k][r]);
    }
    elem_fetch_outside(lw, v, layout);
    ts_val opener = ts_emit(&lw->b, TS_OP_cold, TS_T_none, opnds.v.n, opnds.v.at, 0, 0);
    (void)TS_PUSH(lw->arena, &lw->values.scope, lw->values.held.n);
    elem_cold_body(lw, v, layout, cond, old, n);
    ts__lower_drop(lw, lw->values.scope.n ? lw->values.scope.at[--lw->values.scope.n] : 0);
    ts_end_like(&lw->b, opener);
    ts_val next = lw->fn->inst.n - (opnds.v.n - 1);
    for (uint32_t k = 0; k < n; k++) {
        ts_val *out = ts__lower_regs(lw, layout);
        for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
            out[r] = r & repeats ? out[r & ~repeats] : next++;
        ts__lower_set(lw, lw->shape.end[v] + 1 + k, layout, out);
    }
}
