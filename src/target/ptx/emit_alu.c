/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX emitter: arithmetic, comparison, logic, selection, addresses. Rules that hold for all of it:
 *   - a float operation always names its rounding, because ptxas contracts the ones that do not;
 *   - a result may sit in the register of an operand, so it is written last;
 *   - i8 values sit in 16-bit registers with an undefined upper half, which the operations that would
 *     see it (division, right shift, comparison, ...) clear or sign-extend first;
 *   - f16 and bf16 forms that an architecture lacks are computed in f32, where the single extra
 *     rounding is harmless for + - * / sqrt (24 bits >= 2 * 11 + 2).
 * Next: emit_cvt.c.
 */
#include "target/ptx/emit.h"
#include <stdio.h>

const char *const ts__ptx_round[] = {
    [TS_RN] = ".rn", [TS_RZ] = ".rz", [TS_RM] = ".rm", [TS_RP] = ".rp",
    [TS_APPROX] = ".rn", [TS_FULL] = ".rn", [TS_RZI] = ".rz", [TS_RA] = ".rn",
};

static const char *alu_ftz(ts_type type, uint32_t attr)
{
    return type == TS_T_f32 && attr & TS_A_FTZ ? ".ftz" : "";
}

static bool alu_is_half(ts_type type)
{
    return type == TS_T_f16 || type == TS_T_bf16;
}

/* ---- narrow floats through f32 ------------------------------------------------------------------- */

/* An odd element of a vector of 16-bit elements that was loaded, perhaps in an `if`: the upper half of a word. */
static bool alu_is_upper_half(const ts_ptx *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v = ts__ptx_root(e, v));
    while (inst->op == TS_OP_res && ts_at(e->fn, inst->opnd[0])->op == TS_OP_if) {
        ts_val opener = inst->opnd[0], yield = e->shape.other[opener] - 1;
        if (ts_at(e->fn, yield)->op != TS_OP_yield)
            return false;
        inst = ts_at(e->fn, v = ts__ptx_opnd(e, yield, inst->aux));
    }
    return inst->op == TS_OP_res && ts_at(e->fn, inst->opnd[0])->op == TS_OP_ld && (v - inst->opnd[0]) % 2 == 0;
}

ts_reg ts__ptx_widen(ts_ptx *e, ts_val v, ts_type type)
{
    ts_reg wide = ts__ptx_temp(e, TS_RC_F);
    if (type == TS_T_bf16 && alu_is_upper_half(e, v)) { /* one instruction; cvt takes the half out of its word first */
        ts_reg zero = ts__ptx_temp(e, TS_RC_H), word = ts__ptx_temp(e, TS_RC_R);
        PUT("mov.b16 $r, 0;\nmov.b32 $r, {$r, $r};\nmov.b32 $r, $r;\n", zero, word, zero, ts__ptx_in_reg(e, v), wide,
            word);
        return wide;
    }
    if (type == TS_T_bf16)
        ts__ptx_need(e, 71);
    PUT("cvt.f32.$s $r, $r;\n", ts__ptx_type(e, type)->f, wide, ts__ptx_in_reg(e, v));
    return wide;
}

static void alu_narrow(ts_ptx *e, ts_val v, ts_type type, const char *round, ts_reg wide)
{
    PUT("cvt$s.$s.f32 $v, $r;\n", round, ts__ptx_type(e, type)->f, v, wide);
}

/* out = stem(x, y) computed in f32 by form `how`; a directed rounding applied twice rounds once. */
static void alu_via_f32(ts_ptx *e, ts_val v, const ts_inst *inst, const char *stem, const char *how, const char *round)
{
    ts_reg in[3] = {0}, out = ts__ptx_temp(e, TS_RC_F);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        in[i] = ts__ptx_widen(e, ts_opnds(e->fn, inst)[i], inst->type);
    PUT("$s$s.f32 $r, $r", stem, how, out, in[0]);
    for (uint32_t i = 1; i < inst->n_opnd; i++)
        PUT(", $r", in[i]);
    PUT(";\n");
    alu_narrow(e, v, inst->type, round, out);
}

/* ---- float ------------------------------------------------------------------------------------------ */

void ts__emit_unf(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    if (inst->type == TS_T_bf16 || inst->type == TS_T_f16)
        ts__ptx_need(e, 70);
    PUT("$s.$s $v, $r;\n", ts_info(inst)->ptx, ts__ptx_type(e, inst->type)->f, v, ts__ptx_in_reg(e, inst->opnd[0]));
}

void ts__emit_round(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const char *f = ts__ptx_type(e, inst->type)->f, *stem = ts_info(inst)->ptx;
    ts_reg x = ts__ptx_in_reg(e, inst->opnd[0]);
    if (inst->type != TS_T_bf16) {
        PUT("$s.$s.$s $v, $r;\n", stem, f, f, v, x);
        return;
    }
    ts_reg wide = ts__ptx_widen(e, inst->opnd[0], TS_T_bf16), out = ts__ptx_temp(e, TS_RC_F);
    PUT("$s.f32.f32 $r, $r;\n", stem, out, wide);
    alu_narrow(e, v, TS_T_bf16, ".rn", out);
}

/* bf16 sums and products before sm_90: as fma with 1 or -0, which changes nothing. */
static void alu_bf16_by_fma(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg one = ts__ptx_temp(e, TS_RC_H), x = ts__ptx_in_reg(e, inst->opnd[0]);
    ts_reg y = ts__ptx_in_reg(e, inst->opnd[1]);
    ts__ptx_need(e, 70);
    if (inst->op == TS_OP_mulf)
        PUT("mov.b16 $r, 0x8000;\nfma.rn.bf16 $v, $r, $r, $r;\n", one, v, x, y, one);
    else if (inst->op == TS_OP_addf)
        PUT("mov.b16 $r, 0x3F80;\nfma.rn.bf16 $v, $r, $r, $r;\n", one, v, x, one, y);
    else
        PUT("mov.b16 $r, 0xBF80;\nfma.rn.bf16 $v, $r, $r, $r;\n", one, v, y, one, x);
}

/* The x of x * 2: a sum is the same number without an immediate, as nvcc writes it. */
static ts_val alu_doubled(const ts_ptx *e, const ts_inst *inst)
{
    uint64_t bits, two = inst->type == TS_T_f64 ? UINT64_C(0x4000000000000000) : 0x40000000;
    if (inst->op != TS_OP_mulf || (inst->type != TS_T_f32 && inst->type != TS_T_f64))
        return 0;
    for (uint32_t i = 0; i < 2; i++)
        if (ts__ptx_const(e, inst->opnd[i], &bits) && bits == two)
            return inst->opnd[1 - i];
    return 0;
}

void ts__emit_binf(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const char *round = ts__ptx_round[TS_A_ROUND(inst->aux)], *stem = ts_info(inst)->ptx;
    bool nearest = round[2] == 'n';
    ts_val x = alu_doubled(e, inst);
    if (alu_is_half(inst->type) && !nearest)
        alu_via_f32(e, v, inst, stem, round, round);
    else if (inst->type == TS_T_bf16 && e->sm->number < 90)
        alu_bf16_by_fma(e, v, inst);
    else
        PUT("$s$s$s.$s $v, $v, $v;\n", x ? "add" : stem, round, alu_ftz(inst->type, inst->aux),
            ts__ptx_type(e, inst->type)->f, v, x ? x : inst->opnd[0], x ? x : inst->opnd[1]);
}

void ts__emit_fma(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const char *round = alu_is_half(inst->type) ? ".rn" : ts__ptx_round[TS_A_ROUND(inst->aux)];
    if (alu_is_half(inst->type) && ts__ptx_round[TS_A_ROUND(inst->aux)][2] != 'n')
        ts__ptx_fail(e, TS_UNSUPPORTED, "fma of %s rounds to nearest only", ts_scalar_name(inst->type));
    PUT("fma$s$s.$s $v, $v, $v, $v;\n", round, alu_ftz(inst->type, inst->aux), ts__ptx_type(e, inst->type)->f, v,
        inst->opnd[0], inst->opnd[1], inst->opnd[2]);
}

static bool alu_is_one(const ts_ptx *e, ts_val v)
{
    uint64_t bits, one = ts__ptx_type_of(e, v) == TS_T_f64 ? UINT64_C(0x3FF0000000000000) : 0x3F800000;
    return ts__ptx_const(e, v, &bits) && bits == one;
}

/* A quotient of 1 has an instruction of its own. */
void ts__emit_divf(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_round round = TS_A_ROUND(inst->aux);
    const char *how = round == TS_APPROX ? ".approx" : round == TS_FULL ? ".full" : ts__ptx_round[round];
    if (alu_is_half(inst->type)) {
        alu_via_f32(e, v, inst, "div", how, ts__ptx_round[round]);
        return;
    }
    if (inst->type == TS_T_f64)
        how = ts__ptx_round[round];
    if (alu_is_one(e, inst->opnd[0]) && round != TS_FULL) {
        PUT("rcp$s$s.$s $v, $v;\n", how, alu_ftz(inst->type, inst->aux), ts__ptx_type(e, inst->type)->f, v,
            inst->opnd[1]);
        return;
    }
    PUT("div$s$s.$s $v, $v, $v;\n", how, alu_ftz(inst->type, inst->aux), ts__ptx_type(e, inst->type)->f, v,
        inst->opnd[0], inst->opnd[1]);
}

void ts__emit_sqrt(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_round round = TS_A_ROUND(inst->aux);
    const char *how = round == TS_APPROX || round == TS_FULL ? ".approx" : ts__ptx_round[round];
    if (alu_is_half(inst->type)) {
        alu_via_f32(e, v, inst, "sqrt", how, ts__ptx_round[round]);
        return;
    }
    if (inst->type == TS_T_f64)
        how = ts__ptx_round[round];
    PUT("sqrt$s$s.$s $v, $r;\n", how, alu_ftz(inst->type, inst->aux), ts__ptx_type(e, inst->type)->f, v,
        ts__ptx_in_reg(e, inst->opnd[0]));
}

/* f64 has no NaN-propagating form: x + y is NaN exactly when one of them is (or inf - inf, excluded
 * by the test). */
static void alu_minmax_nan_f64(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg m = ts__ptx_temp(e, TS_RC_D), sum = ts__ptx_temp(e, TS_RC_D), p = ts__ptx_temp(e, TS_RC_P);
    PUT("$s.f64 $r, $v, $v;\n", ts_info(inst)->ptx, m, inst->opnd[0], inst->opnd[1]);
    PUT("add.rn.f64 $r, $v, $v;\n", sum, inst->opnd[0], inst->opnd[1]);
    PUT("setp.nan.f64 $r, $v, $v;\nselp.f64 $v, $r, $r, $r;\n", p, inst->opnd[0], inst->opnd[1], v, sum, m, p);
}

void ts__emit_minmaxf(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    bool nan = inst->aux & TS_A_NAN;
    if (nan && inst->type == TS_T_f64) {
        alu_minmax_nan_f64(e, v, inst);
        return;
    }
    PUT("$s$s$s.$s $v, $v, $v;\n", ts_info(inst)->ptx, alu_ftz(inst->type, inst->aux), nan ? ".NaN" : "",
        ts__ptx_type(e, inst->type)->f, v, inst->opnd[0], inst->opnd[1]);
}

/* ptxas knows a range of `v`: of |x|, exp2(x), sin(x) and the like, also negated and selected. */
static bool alu_has_range(const ts_ptx *e, ts_val v, int depth)
{
    const ts_inst *inst = ts_at(e->fn, e->alias[v]);
    switch ((int)inst->op) {
    case TS_OP_absf:
    case TS_OP_cos:
    case TS_OP_sin:
    case TS_OP_tanh:
    case TS_OP_exp:
    case TS_OP_exp2:
    case TS_OP_pow:
        return true;
    case TS_OP_negf:
        return depth && alu_has_range(e, inst->opnd[0], depth - 1);
    case TS_OP_select:
        return depth && (alu_has_range(e, inst->opnd[1], depth - 1) || alu_has_range(e, inst->opnd[2], depth - 1));
    default:
        return false;
    }
}

/* ptxas 13.0 forgets NaN where it knows the range of an f32: it takes |x| >= 0, exp2(x) > -1 and sin(x) < 2 for true.
 * It does not do so to the opposite, |x| < 0 or unordered, whose second result is the one that is wanted. */
void ts__emit_cmpf(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    static const char *const names[2][6] = {{"eq", "ne", "lt", "le", "gt", "ge"},
                                            {"equ", "neu", "ltu", "leu", "gtu", "geu"}};
    static const char *const opposites[6] = {"neu", "equ", "geu", "gtu", "leu", "ltu"};
    bool unordered = inst->aux & TS_A_UNORDERED;
    const char *name = names[unordered][TS_A_GET_PRED(inst->aux)];
    ts_type type = ts_type_of(e->fn, inst->opnd[0]);
    if (type == TS_T_bf16) {
        ts_reg x = ts__ptx_widen(e, inst->opnd[0], type), y = ts__ptx_widen(e, inst->opnd[1], type);
        PUT("setp.$s.f32 $v, $r, $r;\n", name, v, x, y);
        return;
    }
    bool ranges = alu_has_range(e, inst->opnd[0], 4) || alu_has_range(e, inst->opnd[1], 4);
    bool opposite = type == TS_T_f32 && !unordered && ranges;
    PUT("setp.$s$s.$s $s$v, $v, $v;\n", opposite ? opposites[TS_A_GET_PRED(inst->aux)] : name, alu_ftz(type, inst->aux),
        ts__ptx_type(e, type)->f, opposite ? "_|" : "", v, inst->opnd[0], inst->opnd[1]);
}

/* ---- approximate math: one or two instructions of the special function unit ------------------------ */

typedef struct alu_approx {
    const char *stem;       /* f32 instruction */
    uint32_t before, after; /* f32 factors around it, 0 = none */
} alu_approx;
static const alu_approx alu_approx_rows[TS_OP_COUNT] = {
    [TS_OP_cos] = {"cos.approx", 0, 0},
    [TS_OP_sin] = {"sin.approx", 0, 0},
    [TS_OP_tanh] = {"tanh.approx", 0, 0},
    [TS_OP_log2] = {"lg2.approx", 0, 0},
    [TS_OP_log] = {"lg2.approx", 0, 0x3F317218},
    [TS_OP_exp2] = {"ex2.approx", 0, 0},
    [TS_OP_exp] = {"ex2.approx", 0x3FB8AA3B, 0},
    [TS_OP_rsqrt] = {"rsqrt.approx", 0, 0},
};

static ts_reg alu_scaled(ts_ptx *e, ts_reg x, uint32_t factor)
{
    if (!factor)
        return x;
    ts_reg y = ts__ptx_temp(e, TS_RC_F);
    PUT("mul.rn.f32 $r, $r, 0f", y, x);
    char hex[9];
    snprintf(hex, sizeof hex, "%08X", factor);
    PUT("$s;\n", hex);
    return y;
}

static ts_reg alu_approx_of(ts_ptx *e, const alu_approx *row, ts_reg x, uint32_t attr, ts_reg out)
{
    ts_reg y = out && !row->after ? out : ts__ptx_temp(e, TS_RC_F);
    bool no_ftz = !strcmp(row->stem, "tanh.approx");
    x = alu_scaled(e, x, row->before);
    PUT("$s$s.f32 $r, $r;\n", row->stem, attr & TS_A_FTZ && !no_ftz ? ".ftz" : "", y, x);
    return alu_scaled(e, y, row->after);
}

static ts_reg alu_as_f32(ts_ptx *e, ts_val x, ts_type type)
{
    return type == TS_T_f32 ? ts__ptx_in_reg(e, x) : ts__ptx_widen(e, x, type);
}

static ts_reg alu_tan(ts_ptx *e, ts_reg x)
{
    ts_reg s = ts__ptx_temp(e, TS_RC_F), c = ts__ptx_temp(e, TS_RC_F), y = ts__ptx_temp(e, TS_RC_F);
    PUT("sin.approx.f32 $r, $r;\ncos.approx.f32 $r, $r;\ndiv.approx.f32 $r, $r, $r;\n", s, x, c, x, y, s, c);
    return y;
}

static ts_reg alu_pow(ts_ptx *e, ts_reg x, ts_reg y)
{
    ts_reg t = ts__ptx_temp(e, TS_RC_F), u = ts__ptx_temp(e, TS_RC_F), z = ts__ptx_temp(e, TS_RC_F);
    PUT("lg2.approx.f32 $r, $r;\nmul.rn.f32 $r, $r, $r;\nex2.approx.f32 $r, $r;\n", t, x, u, t, y, z, u);
    return z;
}

/* What is exact was written by the math pass; here only what the user allowed to be approximate. */
void ts__emit_math(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const alu_approx *row = &alu_approx_rows[inst->op];
    bool f32 = inst->type == TS_T_f32, approx = TS_A_ROUND(inst->aux) == TS_APPROX || TS_A_ROUND(inst->aux) == TS_FULL;
    bool known = row->stem || inst->op == TS_OP_tan || inst->op == TS_OP_pow;
    if (ts_info(inst)->attr != TS_ATTR_ARITH || !approx || !known || !(f32 || alu_is_half(inst->type))) {
        ts__ptx_fail(e, TS_UNSUPPORTED, "PTX has no instruction for %s of %s; the math pass writes it in others",
                     ts_info(inst)->name, ts_scalar_name(inst->type));
        return;
    }
    ts_reg x = alu_as_f32(e, inst->opnd[0], inst->type), y;
    if (inst->op == TS_OP_pow)
        y = alu_pow(e, x, alu_as_f32(e, inst->opnd[1], inst->type));
    else
        y = inst->op == TS_OP_tan ? alu_tan(e, x) : alu_approx_of(e, row, x, inst->aux, f32 ? e->reg[v] : 0);
    if (f32 && y == e->reg[v])
        return;
    if (f32)
        PUT("mov.f32 $v, $r;\n", v, y);
    else
        alu_narrow(e, v, inst->type, ".rn", y);
}

/* ---- integer ---------------------------------------------------------------------------------------- */

/* i8 with its upper half defined; other widths as they are. */
static ts_reg alu_clean(ts_ptx *e, ts_val v, ts_type type, bool is_unsigned)
{
    ts_reg x = ts__ptx_in_reg(e, v);
    if (type != TS_T_i8)
        return x;
    ts_reg y = ts__ptx_temp(e, TS_RC_H);
    PUT("cvt.$s $r, $r;\n", is_unsigned ? "u16.u8" : "s16.s8", y, x);
    return y;
}

static const char *alu_int(const ts_ptx *e, ts_type type, bool is_unsigned)
{
    const ts_ptx_type *t = ts__ptx_type(e, type);
    return is_unsigned ? t->u : t->s;
}

/* ptxas 13.0 takes neg.s16, and sub.s16 from a constant, for a value that needs no wrapping: -(-32768) is 32768 in
 * what compares, shifts or widens it. A product with -1 wraps, at the same price. */
static void alu_negate(ts_ptx *e, ts_type type, ts_reg to, ts_reg x)
{
    PUT(type == TS_T_i16 ? "mul.lo.$s $r, $r, -1;\n" : "neg.$s $r, $r;\n", alu_int(e, type, false), to, x);
}

/* -x for the second operand of a signed max or min. Where that max is an operand of another one, ptxas 13.0 makes the
 * two one VIMNMX3 and loses the negation there: max(max(a, -b), c) becomes max(a, b, c), and -(b + c), -(b << 1) and
 * 0 - b go the same way. (The first operand, unsigned ones and other widths are right.) It does not see -x in
 * x * -2 + x, which is one instruction too. */
static void alu_negate_second(ts_ptx *e, ts_type type, ts_reg to, ts_reg x)
{
    if (type == TS_T_i32)
        PUT("mad.lo.s32 $r, $r, -2, $r;\n", to, x, x);
    else
        alu_negate(e, type, to, x);
}

/* |x| is max(x, -x), because ptxas 13.0 mistakes the range of abs.s32 and abs.s64: it takes -|x| >= -1, which is
 * true of 0 and 1, for false, and |x| >= 0 for true even where x is the least integer and |x| wraps to it; and it
 * does not wrap abs.s16. */
void ts__emit_uni(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    if (inst->type == TS_T_i1) { /* -x = |x| = x modulo 2 */
        PUT("mov.pred $v, $v;\n", v, inst->opnd[0]);
        return;
    }
    ts_reg x = alu_clean(e, inst->opnd[0], inst->type, false);
    if (inst->op == TS_OP_negi) {
        alu_negate(e, inst->type, e->reg[v], x);
        return;
    }
    ts_reg y = ts__ptx_temp(e, ts__ptx_class(e, inst->type));
    alu_negate_second(e, inst->type, y, x);
    PUT("max.$s $v, $r, $r;\n", alu_int(e, inst->type, false), v, x, y);
}

void ts__emit_bini(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    int64_t from;
    if (inst->type == TS_T_i1)
        PUT("$s.pred $v, $r, $r;\n", inst->op == TS_OP_muli ? "and" : "xor", v, ts__ptx_in_reg(e, inst->opnd[0]),
            ts__ptx_in_reg(e, inst->opnd[1]));
    else if (inst->op == TS_OP_subi && inst->type == TS_T_i16 &&
             ts__const_as_int(e->fn, e->alias[inst->opnd[0]], &from))
        PUT("mad.lo.s16 $v, $v, -1, $v;\n", v, inst->opnd[1], inst->opnd[0]); /* see alu_negate */
    else
        PUT("$s.$s $v, $v, $v;\n", ts_info(inst)->ptx, alu_int(e, inst->type, false), v, inst->opnd[0], inst->opnd[1]);
}

/* High half of the unsigned product. */
void ts__emit_mulhi(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    if (inst->type == TS_T_i1) {
        PUT("setp.ne.u32 $v, 0, 0;\n", v);
        return;
    }
    if (inst->type != TS_T_i8) {
        PUT("mul.hi.$s $v, $v, $v;\n", alu_int(e, inst->type, true), v, inst->opnd[0], inst->opnd[1]);
        return;
    }
    ts_reg x = alu_clean(e, inst->opnd[0], TS_T_i8, true), y = alu_clean(e, inst->opnd[1], TS_T_i8, true);
    ts_reg z = ts__ptx_temp(e, TS_RC_H);
    PUT("mul.lo.u16 $r, $r, $r;\nshr.u16 $v, $r, 8;\n", z, x, y, v, z);
}

/* Quotient towards minus (or plus) infinity: the truncated one, corrected where the remainder is not
 * zero and its sign differs from (agrees with) the divisor's. */
static void alu_div_directed(ts_ptx *e, ts_val v, const ts_inst *inst, ts_reg x, ts_reg y, bool is_unsigned)
{
    const ts_ptx_type *t = ts__ptx_type(e, inst->type);
    const char *type = is_unsigned ? t->u : t->s;
    ts_reg_class class = (ts_reg_class)t->class;
    bool floor = TS_A_ROUND(inst->aux) == TS_RM;
    ts_reg q = ts__ptx_temp(e, class), r = ts__ptx_temp(e, class), s = ts__ptx_temp(e, class);
    ts_reg p = ts__ptx_temp(e, TS_RC_P), fix = ts__ptx_temp(e, TS_RC_P), c = ts__ptx_temp(e, class);
    PUT("div.$s $r, $r, $r;\nmul.lo.$s $r, $r, $r;\nsub.$s $r, $r, $r;\n", type, q, x, y, type, r, q, y, type, r, x, r);
    PUT("setp.ne.$s $r, $r, 0;\n", type, p, r);
    if (!is_unsigned) {
        PUT("xor.$s $r, $r, $r;\n", t->b, s, r, y);
        PUT("setp.$s.$s $r, $r, 0;\nand.pred $r, $r, $r;\n", floor ? "lt" : "ge", type, fix, s, p, p, fix);
    }
    PUT("selp.$s $r, $i, 0, $r;\nadd.$s $v, $r, $r;\n", t->b, c, floor ? -1 : 1, p, type, v, q, c);
}

void ts__emit_divi(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_round round = TS_A_ROUND(inst->aux);
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    if (inst->type == TS_T_i1) { /* only x / 1 is defined */
        PUT("mov.pred $v, $r;\n", v, ts__ptx_in_reg(e, inst->opnd[0]));
        return;
    }
    ts_reg x = alu_clean(e, inst->opnd[0], inst->type, is_unsigned);
    ts_reg y = alu_clean(e, inst->opnd[1], inst->type, is_unsigned);
    if (round == TS_RP || (round == TS_RM && !is_unsigned))
        alu_div_directed(e, v, inst, x, y, is_unsigned);
    else
        PUT("div.$s $v, $r, $r;\n", alu_int(e, inst->type, is_unsigned), v, x, y);
}

/* max and min of i1: signed true is -1. */
static void alu_minmax_pred(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    bool is_or = (inst->op == TS_OP_maxi) == !!(inst->aux & TS_A_UNSIGNED);
    if (inst->op == TS_OP_remi)
        PUT("setp.ne.u32 $v, 0, 0;\n", v);
    else
        PUT("$s.pred $v, $r, $r;\n", is_or ? "or" : "and", v, ts__ptx_in_reg(e, inst->opnd[0]),
            ts__ptx_in_reg(e, inst->opnd[1]));
}

void ts__emit_signedi(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    if (inst->type == TS_T_i1)
        alu_minmax_pred(e, v, inst);
    else if (inst->type == TS_T_i8)
        PUT("$s.$s $v, $r, $r;\n", ts_info(inst)->ptx, is_unsigned ? "u16" : "s16", v,
            alu_clean(e, inst->opnd[0], TS_T_i8, is_unsigned), alu_clean(e, inst->opnd[1], TS_T_i8, is_unsigned));
    else if (ts__ptx_read(e, v, 1) != ts__ptx_opnd(e, v, 1)) {
        ts_reg y = ts__ptx_temp(e, TS_RC_R);
        alu_negate_second(e, inst->type, y, ts__ptx_in_reg(e, ts__ptx_read(e, v, 1)));
        PUT("$s.s32 $v, $v, $r;\n", ts_info(inst)->ptx, v, inst->opnd[0], y);
    } else
        PUT("$s.$s $v, $v, $v;\n", ts_info(inst)->ptx, alu_int(e, inst->type, is_unsigned), v, inst->opnd[0],
            inst->opnd[1]);
}

/* andi, ori or xori of x and y of which at least one is inverted, as `table` tells. ptxas 13.0 takes a lop3 that reads
 * x twice for one of x and 0 where another operation of bits reads it: x & (x & ~x) gave x, x ^ (x ^ ~x) gave -1. So
 * that one is written as what it is. */
static void alu_lop3(ts_ptx *e, ts_val v, ts_val x, ts_val y, uint32_t table)
{
    bool of_zeros = table & 1, of_ones = table & 0x80;
    if (x != y)
        PUT("lop3.b32 $v, $v, $v, 0, $x;\n", v, x, y, table);
    else if (of_zeros == of_ones)
        PUT("mov.b32 $v, $i;\n", v, of_zeros ? -1 : 0);
    else
        PUT("sub.s32 $v, -1, $v;\n", v, x); /* ~x & ~x */
}

/* ptxas 13.0 loses a NOT of 32 bits whose operand it knows from a branch: where x == 7 was the way here, ~x becomes 7
 * and ~x & y becomes 7 & y (xor with -1 and not.b32 alike; 64 bits written as xor are right). So ~x alone is -1 - x,
 * and what and, or, xor read as ~x goes into the table of a lop3, which is one instruction as before. */
void ts__emit_logic(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg_class class = ts__ptx_class(e, inst->type);
    ts_val x = ts__ptx_read(e, v, 0), y = ts__ptx_read(e, v, 1);
    uint32_t a = x == e->alias[inst->opnd[0]] ? 0xF0 : 0x0F, b = y == e->alias[inst->opnd[1]] ? 0xCC : 0x33;
    if (class == TS_RC_P)
        PUT("$s.pred $v, $r, $r;\n", ts_info(inst)->ptx, v, ts__ptx_in_reg(e, inst->opnd[0]),
            ts__ptx_in_reg(e, inst->opnd[1]));
    else if (ts__ptx_not(e, v))
        PUT("sub.s32 $v, -1, $v;\n", v, ts__ptx_not(e, v));
    else if (a == 0x0F || b == 0x33)
        alu_lop3(e, v, x, y, inst->op == TS_OP_andi ? a & b : inst->op == TS_OP_ori ? a | b : a ^ b);
    else
        PUT("$s.$s $v, $v, $v;\n", ts_info(inst)->ptx, ts__ptx_class_names[class].bits, v, inst->opnd[0],
            inst->opnd[1]);
}

/* PTX wants the count in 32 bits, whatever is shifted. */
static ts_reg alu_shift_count(ts_ptx *e, ts_val count)
{
    ts_type type = ts_type_of(e->fn, count);
    ts_reg x = alu_clean(e, count, type, true);
    if (ts__ptx_class(e, type) == TS_RC_R)
        return x;
    ts_reg y = ts__ptx_temp(e, TS_RC_R);
    PUT("cvt.u32.$s $r, $r;\n", alu_int(e, type, true), y, x);
    return y;
}

void ts__emit_shift(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_ptx_type *t = ts__ptx_type(e, inst->type);
    bool right = inst->op == TS_OP_shri, is_unsigned = inst->aux & TS_A_UNSIGNED;
    int64_t count;
    if (inst->type == TS_T_i1) { /* only a shift by 0 is defined */
        PUT("mov.pred $v, $r;\n", v, ts__ptx_in_reg(e, inst->opnd[0]));
        return;
    }
    const char *type = !right ? t->b : is_unsigned ? t->u : t->s;
    ts_reg x = right ? alu_clean(e, inst->opnd[0], inst->type, is_unsigned) : ts__ptx_in_reg(e, inst->opnd[0]);
    if (ts__const_as_int(e->fn, e->alias[inst->opnd[1]], &count) && count >= 0 && count < 64)
        PUT("$s.$s $v, $r, $i;\n", ts_info(inst)->ptx, type, v, x, (int)count);
    else
        PUT("$s.$s $v, $r, $r;\n", ts_info(inst)->ptx, type, v, x, alu_shift_count(e, inst->opnd[1]));
}

/* Comparison of i1 as of small integers: true is 1, or -1 when signed. */
static void alu_cmp_pred(ts_ptx *e, ts_val v, const ts_inst *inst, const char *name)
{
    ts_reg x = ts__ptx_temp(e, TS_RC_R), y = ts__ptx_temp(e, TS_RC_R);
    int truth = inst->aux & TS_A_UNSIGNED ? 1 : -1;
    PUT("selp.s32 $r, $i, 0, $r;\n", x, truth, ts__ptx_in_reg(e, inst->opnd[0]));
    PUT("selp.s32 $r, $i, 0, $r;\n", y, truth, ts__ptx_in_reg(e, inst->opnd[1]));
    PUT("setp.$s.s32 $v, $r, $r;\n", name, v, x, y);
}

void ts__emit_cmpi(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    static const char *const names[6] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const char *name = names[TS_A_GET_PRED(inst->aux)];
    ts_type type = ts_type_of(e->fn, inst->opnd[0]);
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    if (type == TS_T_i1)
        alu_cmp_pred(e, v, inst, name);
    else if (type == TS_T_i8)
        PUT("setp.$s.$s $v, $r, $r;\n", name, is_unsigned ? "u16" : "s16", v,
            alu_clean(e, inst->opnd[0], type, is_unsigned), alu_clean(e, inst->opnd[1], type, is_unsigned));
    else
        PUT("setp.$s.$s $v, $v, $v;\n", name, alu_int(e, type, is_unsigned), v, inst->opnd[0], inst->opnd[1]);
}

void ts__emit_mul_wide(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    PUT("mul.wide.$s $v, $v, $v;\n", alu_int(e, ts_type_of(e->fn, inst->opnd[0]), inst->aux & TS_A_UNSIGNED), v,
        inst->opnd[0], inst->opnd[1]);
}

/* popc and clz give 32 bits for any width; a narrow operand is counted in 32 bits. */
void ts__emit_count(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type type = ts_type_of(e->fn, inst->opnd[0]);
    const ts_ptx_type *t = ts__ptx_type(e, type);
    ts_reg x = alu_clean(e, inst->opnd[0], type, true), n = ts__ptx_temp(e, TS_RC_R);
    if (t->class == TS_RC_H) {
        ts_reg wide = ts__ptx_temp(e, TS_RC_R);
        PUT("cvt.u32.u16 $r, $r;\n", wide, x);
        x = wide;
    }
    PUT("$s.$s $r, $r;\n", ts_info(inst)->ptx, t->class == TS_RC_RD ? "b64" : "b32", n, x);
    if (inst->op == TS_OP_clz && t->class == TS_RC_H)
        PUT("sub.s32 $r, $r, $i;\n", n, n, 32 - t->bits);
    if (ts__ptx_class(e, inst->type) == TS_RC_R)
        PUT("mov.b32 $v, $r;\n", v, n);
    else
        PUT("cvt.$s.u32 $v, $r;\n", alu_int(e, inst->type, true), v, n);
}

void ts__emit_brev(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_ptx_type *t = ts__ptx_type(e, inst->type);
    ts_reg x = alu_clean(e, inst->opnd[0], inst->type, true);
    if (t->class != TS_RC_H) {
        PUT("brev.$s $v, $r;\n", t->b, v, x);
        return;
    }
    ts_reg wide = ts__ptx_temp(e, TS_RC_R), out = ts__ptx_temp(e, TS_RC_R);
    PUT("cvt.u32.u16 $r, $r;\nbrev.b32 $r, $r;\nshr.u32 $r, $r, $i;\ncvt.u16.u32 $v, $r;\n", wide, x, out, wide, out,
        out, 32 - t->bits, v, out);
}

void ts__emit_prmt(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    PUT("prmt.b32 $v, $v, $v, $x;\n", v, inst->opnd[0], inst->opnd[1], TS_S_NUMBER(inst->aux));
}

/* ---- selection, constants, addresses ---------------------------------------------------------------- */

void ts__emit_select(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg c = ts__ptx_in_reg(e, inst->opnd[0]);
    const ts_ptx_type *t = ts__ptx_type(e, inst->type);
    if (t->class != TS_RC_P) {
        PUT("selp.$s $v, $v, $v, $r;\n", t->b, v, inst->opnd[1], inst->opnd[2], c);
        return;
    }
    uint64_t known;
    bool both = ts__ptx_const(e, ts__ptx_opnd(e, v, 2), &known) && !known, /* c and x */
         either = !both && ts__ptx_const(e, ts__ptx_opnd(e, v, 1), &known) && known;
    if (both || either) {
        PUT("$s.pred $v, $r, $r;\n", both ? "and" : "or", v, c, ts__ptx_in_reg(e, inst->opnd[both ? 1 : 2]));
        return;
    }
    ts_reg x = ts__ptx_temp(e, TS_RC_P), y = ts__ptx_temp(e, TS_RC_P), n = ts__ptx_temp(e, TS_RC_P);
    PUT("and.pred $r, $r, $r;\nnot.pred $r, $r;\n", x, c, ts__ptx_in_reg(e, inst->opnd[1]), n, c);
    PUT("and.pred $r, $r, $r;\nor.pred $v, $r, $r;\n", y, n, ts__ptx_in_reg(e, inst->opnd[2]), v, x, y);
}

void ts__emit_constant(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg reg = e->reg[v];
    (void)inst;
    e->reg[v] = 0; /* so that the text shows the constant itself */
    PUT("mov.$s $r, $v;\n", ts__ptx_class_names[TS_REG_CLASS(reg)].type, reg, v);
    e->reg[v] = reg;
}

/* A name for another value that could not simply share its register: a constant. */
void ts__emit_alias(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts__ptx_move(e, e->reg[v], inst->opnd[0]);
}

void ts__emit_ptr_cast(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_ptx_type *to = ts__ptx_type(e, inst->type), *from = ts__ptx_type(e, ts_type_of(e->fn, inst->opnd[0]));
    if (to->bits == from->bits)
        PUT("mov.$s $v, $v;\n", to->b, v, inst->opnd[0]);
    else
        PUT("cvt.$s.$s $v, $r;\n", to->u, from->u, v, ts__ptx_in_reg(e, inst->opnd[0]));
}

/* base + index * scale, sign-extended. Of two instructions ptxas makes one IMAD.WIDE, of one a pair of LEA: fewer to
 * issue where threads wait for memory, or a shorter way where the loops of tile kernels are scheduled by it. */
static void alu_wide_sum(ts_ptx *e, ts_val v, ts_reg index, uint32_t scale, ts_reg base)
{
    if (!e->plan->thread_kernel) {
        PUT("mad.wide.s32 $v, $r, $i, $r;\n", v, index, (int)scale, base);
        return;
    }
    ts_reg bytes = ts__ptx_temp(e, TS_RC_RD);
    PUT("mul.wide.s32 $r, $r, $i;\nadd.s64 $v, $r, $r;\n", bytes, index, (int)scale, v, base, bytes);
}

/* pointer + index: `scale` bytes each. The index is sign-extended to the pointer's width. */
static void alu_pointer(ts_ptx *e, ts_val v, const ts_inst *inst, uint32_t scale)
{
    const ts_ptx_type *p = ts__ptx_type(e, inst->type), *i = ts__ptx_type(e, ts_type_of(e->fn, inst->opnd[1]));
    int64_t constant;
    bool wide = p->class == TS_RC_RD;
    ts_reg base = ts__ptx_in_reg(e, inst->opnd[0]), index;
    if (ts__const_as_int(e->fn, e->alias[inst->opnd[1]], &constant) &&
        constant * scale == (int32_t)(constant * scale)) {
        PUT("add.$s $v, $r, $i;\n", p->s, v, base, (int)(constant * scale));
        return;
    }
    index = alu_clean(e, inst->opnd[1], ts_type_of(e->fn, inst->opnd[1]), false);
    if (i->class == TS_RC_H || i->class == (wide ? TS_RC_R : TS_RC_RD)) {
        if (wide && i->class == TS_RC_R && scale > 1) {
            alu_wide_sum(e, v, index, scale, base);
            return;
        }
        ts_reg cast = ts__ptx_temp(e, (ts_reg_class)p->class);
        PUT("cvt.$s.$s $r, $r;\n", p->s, i->s, cast, index);
        index = cast;
    }
    if (scale == 1)
        PUT("add.$s $v, $r, $r;\n", p->s, v, base, index);
    else
        PUT("mad.lo.$s $v, $r, $i, $r;\n", p->s, v, index, (int)scale, base);
}

void ts__emit_ptr_add(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    alu_pointer(e, v, inst, 1);
}

void ts__emit_offset(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    uint32_t bits = ts_type_bits(e->fn->module, ts_type_get(e->fn->module, inst->type)->elem);
    if (bits < 8)
        ts__ptx_fail(e, TS_UNSUPPORTED, "pointers to elements of less than a byte cannot be offset");
    alu_pointer(e, v, inst, bits / 8);
}
