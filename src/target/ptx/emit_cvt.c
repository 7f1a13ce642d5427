/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX emitter: conversions between types. Where an architecture has no direct form the value goes
 * through f32; a narrowing that would then round twice first rounds to odd (truncate, and set the last
 * bit if anything was lost), after which the second rounding gives what one rounding would have given.
 * (Boldo and Melquiond, "When double rounding is odd", 2005.)
 * Next: emit_mem.c.
 */
#include "target/ptx/emit.h"

static bool cvt_is_fp8(ts_type type)
{
    return type == TS_T_f8E4M3FN || type == TS_T_f8E5M2;
}

static const char *cvt_fp8(ts_type type)
{
    return type == TS_T_f8E4M3FN ? "e4m3x2" : "e5m2x2";
}

static void cvt_unsupported(ts_ptx *e, const ts_inst *inst, ts_type from)
{
    ts__ptx_fail(e, TS_UNSUPPORTED, "%s from %s to %s has no form on %s; the legalize pass writes it in others",
                 ts_info(inst)->name, ts_scalar_name(from), ts_scalar_name(inst->type), e->sm->name);
}

/* ---- integers --------------------------------------------------------------------------------------- */

void ts__emit_bitcast(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    ts_reg x = ts__ptx_in_reg(e, inst->opnd[0]);
    ts_reg_class to = ts__ptx_class(e, inst->type);
    if (to == TS_RC_P && ts__ptx_class(e, from) == TS_RC_H) {
        ts_reg bit = ts__ptx_temp(e, TS_RC_H);
        PUT("and.b16 $r, $r, 1;\nsetp.ne.u16 $v, $r, 0;\n", bit, x, v, bit);
    } else if (to == TS_RC_H && ts__ptx_class(e, from) == TS_RC_P)
        PUT("selp.u16 $v, 1, 0, $r;\n", v, x);
    else
        PUT("mov.$s $v, $r;\n", ts__ptx_class_names[to].bits, v, x);
}

/* "u8", "s32": the type a cvt reads or writes. */
static const char *cvt_int(ts_type type, bool is_unsigned)
{
    static const char *const names[2][TS_T_i64 + 1] = {
        {[TS_T_i1] = "s8", [TS_T_i8] = "s8", [TS_T_i16] = "s16", [TS_T_i32] = "s32", [TS_T_i64] = "s64"},
        {[TS_T_i1] = "u8", [TS_T_i8] = "u8", [TS_T_i16] = "u16", [TS_T_i32] = "u32", [TS_T_i64] = "u64"}};
    return type <= TS_T_i64 ? names[is_unsigned][type] : "s8";
}

/* A predicate as an integer: 1, or -1 when signed. */
static void cvt_from_pred(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    PUT("selp.$s $v, $i, 0, $r;\n", ts__ptx_type(e, inst->type)->s, v, inst->aux & TS_A_UNSIGNED ? 1 : -1,
        ts__ptx_in_reg(e, inst->opnd[0]));
}

/* A 4-bit value lies in the low bits of a 16-bit register; what is above them is not defined. */
static void cvt_from_nibble(ts_ptx *e, ts_val v, const ts_inst *inst, bool is_unsigned)
{
    const ts_ptx_type *to = ts__ptx_type(e, inst->type);
    const char *type = is_unsigned ? "u16" : "s16";
    ts_reg x = ts__ptx_in_reg(e, inst->opnd[0]), y = ts__ptx_temp(e, TS_RC_H);
    PUT("shl.b16 $r, $r, 12;\nshr.$s $r, $r, 12;\n", y, x, type, y, y);
    if (to->class == TS_RC_H)
        PUT("mov.b16 $v, $r;\n", v, y);
    else
        PUT("cvt.$s.$s $v, $r;\n", is_unsigned ? to->u : to->s, type, v, y);
}

void ts__emit_exti(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    if (from == TS_T_i1)
        cvt_from_pred(e, v, inst);
    else if (from == TS_T_i4)
        cvt_from_nibble(e, v, inst, is_unsigned);
    else
        PUT("cvt.$s.$s $v, $r;\n", cvt_int(inst->type, is_unsigned), cvt_int(from, is_unsigned), v,
            ts__ptx_in_reg(e, inst->opnd[0]));
}

void ts__emit_trunci(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    const ts_ptx_type *t = ts__ptx_type(e, from);
    ts_reg x = ts__ptx_in_reg(e, inst->opnd[0]);
    if (inst->type == TS_T_i1) {
        ts_reg bit = ts__ptx_temp(e, (ts_reg_class)t->class);
        PUT("and.$s $r, $r, 1;\nsetp.ne.$s $v, $r, 0;\n", t->b, bit, x, t->u, v, bit);
    } else if (t->class == TS_RC_H)
        PUT("mov.b16 $v, $r;\n", v, x);
    else
        PUT("cvt.$s.$s $v, $r;\n", ts__ptx_type(e, inst->type)->u, t->u, v, x);
}

/* ---- rounding to odd ---------------------------------------------------------------------------------- */

/* Sets the last bit of the f32 `rough` where `inexact` (a predicate) is true. */
static ts_reg cvt_make_odd(ts_ptx *e, ts_reg rough, ts_reg inexact)
{
    ts_reg bits = ts__ptx_temp(e, TS_RC_R), one = ts__ptx_temp(e, TS_RC_R), odd = ts__ptx_temp(e, TS_RC_F);
    PUT("mov.b32 $r, $r;\nselp.b32 $r, 1, 0, $r;\nor.b32 $r, $r, $r;\nmov.b32 $r, $r;\n", bits, rough, one, inexact,
        bits, bits, one, odd, bits);
    return odd;
}

/* f64 -> f32, rounded to odd; NaN and infinity stay (a NaN compares unequal, its last bit is free). */
static ts_reg cvt_f64_odd(ts_ptx *e, ts_reg x)
{
    ts_reg f = ts__ptx_temp(e, TS_RC_F), back = ts__ptx_temp(e, TS_RC_D), p = ts__ptx_temp(e, TS_RC_P);
    PUT("cvt.rz.f32.f64 $r, $r;\ncvt.f64.f32 $r, $r;\nsetp.ne.f64 $r, $r, $r;\n", f, x, back, f, p, back, x);
    return cvt_make_odd(e, f, p);
}

/* Integer -> f32, rounded to odd. */
static ts_reg cvt_int_odd(ts_ptx *e, ts_val v, ts_type type, bool is_unsigned)
{
    const char *from = cvt_int(type, is_unsigned);
    ts_reg x = ts__ptx_in_reg(e, v), f = ts__ptx_temp(e, TS_RC_F), p = ts__ptx_temp(e, TS_RC_P);
    ts_reg back = ts__ptx_temp(e, ts__ptx_class(e, type));
    PUT("cvt.rz.f32.$s $r, $r;\n", from, f, x);
    if (type != TS_T_i32 && type != TS_T_i64) /* exact */
        return f;
    PUT("cvt.rzi.$s.f32 $r, $r;\nsetp.ne.$s $r, $r, $r;\n", from, back, f, from, p, back, x);
    return cvt_make_odd(e, f, p);
}

/* ---- integer <-> float --------------------------------------------------------------------------------- */

void ts__emit_itof(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    const char *round = ts__ptx_round[TS_A_ROUND(inst->aux)], *f = ts__ptx_type(e, inst->type)->f;
    if (!f) {
        cvt_unsupported(e, inst, from);
    } else if (from == TS_T_i1) {
        ts_reg i = ts__ptx_temp(e, TS_RC_R), w = ts__ptx_temp(e, TS_RC_F);
        PUT("selp.s32 $r, $i, 0, $r;\n", i, is_unsigned ? 1 : -1, ts__ptx_in_reg(e, inst->opnd[0]));
        if (inst->type == TS_T_bf16)
            PUT("cvt.rn.f32.s32 $r, $r;\ncvt.rn.bf16.f32 $v, $r;\n", w, i, v, w);
        else
            PUT("cvt.rn.$s.s32 $v, $r;\n", f, v, i);
    } else if (inst->type == TS_T_bf16) {
        PUT("cvt$s.bf16.f32 $v, $r;\n", round, v, cvt_int_odd(e, inst->opnd[0], from, is_unsigned));
    } else
        PUT("cvt$s.$s.$s $v, $r;\n", round, f, cvt_int(from, is_unsigned), v, ts__ptx_in_reg(e, inst->opnd[0]));
}

/* Truncated and clamped to -1 .. 0, or 0 .. 1: a comparison. */
static void cvt_to_pred(ts_ptx *e, ts_val v, const ts_inst *inst, const char *f, ts_reg x)
{
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    ts_reg w = x;
    if (strcmp(f, "f16") == 0) { /* its constants have no text */
        w = ts__ptx_temp(e, TS_RC_F);
        PUT("cvt.f32.f16 $r, $r;\n", w, x);
        f = "f32";
    }
    const char *one = strcmp(f, "f64") == 0 ? (is_unsigned ? "0d3FF0000000000000" : "0dBFF0000000000000")
                                            : (is_unsigned ? "0f3F800000" : "0fBF800000");
    PUT("setp.$s.$s $v, $r, $s;\n", is_unsigned ? "ge" : "le", f, v, w, one);
}

/* Truncates and saturates in PTX; legalize has seen to NaN. */
void ts__emit_ftoi(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    const char *f = ts__ptx_type(e, from)->f, *to = cvt_int(inst->type, inst->aux & TS_A_UNSIGNED);
    ts_reg x = ts__ptx_in_reg(e, inst->opnd[0]);
    if (!f) {
        cvt_unsupported(e, inst, from);
        return;
    }
    if (from == TS_T_bf16) {
        x = ts__ptx_widen(e, inst->opnd[0], from);
        f = "f32";
    }
    if (inst->type == TS_T_i1)
        cvt_to_pred(e, v, inst, f, x);
    else
        PUT("cvt.rzi.$s.$s $v, $r;\n", to, f, v, x);
}

/* ---- float <-> float ------------------------------------------------------------------------------------- */

/* Any float in a register as f32; exact except from f64, which is rounded to odd. */
static ts_reg cvt_to_f32(ts_ptx *e, ts_val x, ts_type from, const ts_inst *inst)
{
    if (from == TS_T_f16 || from == TS_T_bf16)
        return ts__ptx_widen(e, x, from);
    ts_reg in = ts__ptx_in_reg(e, x), out, pair, half;
    if (from == TS_T_f32)
        return in;
    if (from == TS_T_f64)
        return cvt_f64_odd(e, in);
    out = ts__ptx_temp(e, TS_RC_F);
    if (from == TS_T_tf32) {
        PUT("mov.b32 $r, $r;\n", out, in);
    } else if (cvt_is_fp8(from) && e->sm->number >= 89) {
        ts__ptx_need(e, 81);
        pair = ts__ptx_temp(e, TS_RC_R), half = ts__ptx_temp(e, TS_RC_H);
        ts_reg other = ts__ptx_temp(e, TS_RC_H);
        PUT("cvt.rn.f16x2.$s $r, $r;\nmov.b32 {$r, $r}, $r;\n", cvt_fp8(from), pair, in, half, other, pair);
        PUT("cvt.f32.f16 $r, $r;\n", out, half);
    } else
        cvt_unsupported(e, inst, from);
    return out;
}

/* f32 to nearest tf32 by integers, for architectures without cvt.rn.tf32: adds half of the last kept
 * bit, less one when that bit is even. Infinity and NaN pass unchanged. */
static void cvt_tf32_by_hand(ts_ptx *e, ts_val v, ts_reg x)
{
    ts_reg b = ts__ptx_temp(e, TS_RC_R), lsb = ts__ptx_temp(e, TS_RC_R), r = ts__ptx_temp(e, TS_RC_R);
    ts_reg a = ts__ptx_temp(e, TS_RC_F), p = ts__ptx_temp(e, TS_RC_P);
    PUT("mov.b32 $r, $r;\nbfe.u32 $r, $r, 13, 1;\nadd.u32 $r, $r, 4095;\nadd.u32 $r, $r, $r;\n", b, x, lsb, b, r, b, r,
        r, lsb);
    PUT("and.b32 $r, $r, -8192;\nabs.f32 $r, $r;\nsetp.lt.f32 $r, $r, 0f7F800000;\nselp.b32 $v, $r, $r, $r;\n", r, r, a,
        x, p, a, v, r, b, p);
}

static void cvt_to_tf32(ts_ptx *e, ts_val v, const ts_inst *inst, ts_reg x)
{
    ts__ptx_need(e, 70);
    if (TS_A_ROUND(inst->aux) == TS_RA)
        PUT("cvt.rna.tf32.f32 $v, $r;\n", v, x);
    else if (e->sm->number == 90) {
        ts__ptx_need(e, 78);
        PUT("cvt.rn.tf32.f32 $v, $r;\n", v, x);
    } else
        cvt_tf32_by_hand(e, v, x);
}

static void cvt_to_fp8(ts_ptx *e, ts_val v, const ts_inst *inst, ts_reg x)
{
    ts__ptx_need(e, 81);
    PUT("cvt.rn.satfinite.$s.f32 $v, 0f00000000, $r;\n", cvt_fp8(inst->type), v, x);
}

void ts__emit_ftof(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]), to = inst->type;
    const char *round = ts__ptx_round[TS_A_ROUND(inst->aux)];
    const char *f = ts__ptx_type(e, from)->f, *t = ts__ptx_type(e, to)->f;
    bool bf16 = from == TS_T_bf16 || to == TS_T_bf16;
    if (from == to) {
        PUT("mov.$s $v, $r;\n", ts__ptx_type(e, to)->b, v, ts__ptx_in_reg(e, inst->opnd[0]));
        return;
    }
    if (f && t && !bf16) { /* between f16, f32, f64: one instruction */
        bool widens = ts_type_bits(e->fn->module, to) > ts_type_bits(e->fn->module, from);
        PUT("cvt$s.$s.$s $v, $r;\n", widens ? "" : round, t, f, v, ts__ptx_in_reg(e, inst->opnd[0]));
        return;
    }
    ts_reg x = cvt_to_f32(e, inst->opnd[0], from, inst);
    if (to == TS_T_f32)
        PUT("mov.f32 $v, $r;\n", v, x);
    else if (to == TS_T_tf32)
        cvt_to_tf32(e, v, inst, x);
    else if (cvt_is_fp8(to) && e->sm->number >= 89)
        cvt_to_fp8(e, v, inst, x);
    else if (t)
        PUT("cvt$s.$s.f32 $v, $r;\n", to == TS_T_f64 ? "" : round, t, v, x);
    else
        cvt_unsupported(e, inst, from);
}

/* ---- packs ------------------------------------------------------------------------------------------------ */

/* The first source of the instruction is the high half. */
void ts__emit_cvt_pack(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type elem = TS_A_GET_ELEM(inst->aux);
    const char *round = TS_A_ROUND(inst->aux) == TS_RZ ? ".rz" : ".rn";
    if (elem == TS_T_f16 || elem == TS_T_bf16) {
        ts__ptx_need(e, 70);
        PUT("cvt$s.$sx2.f32 $v, $v, $v;\n", round, ts__ptx_type(e, elem)->f, v, inst->opnd[1], inst->opnd[0]);
    } else if (cvt_is_fp8(elem) && ts__ptx_need_sm(e, 89, "cvt_pack to fp8")) {
        ts__ptx_need(e, 81);
        PUT("cvt.rn.satfinite.$s.f32 $v, $v, $v;\n", cvt_fp8(elem), v, inst->opnd[1], inst->opnd[0]);
    } else
        ts__ptx_fail(e, TS_UNSUPPORTED, "cvt_pack makes f16, bf16 and fp8 pairs, not %s", ts_scalar_name(elem));
}

/* Two bytes in a register of 16 bits, of each of which the upper half says nothing. */
static void cvt_pack_bytes(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg low = ts__ptx_temp(e, TS_RC_H), high = ts__ptx_temp(e, TS_RC_H);
    PUT("and.b16 $r, $r, 255;\nshl.b16 $r, $r, 8;\nor.b16 $v, $r, $r;\n", low, ts__ptx_in_reg(e, inst->opnd[0]), high,
        ts__ptx_in_reg(e, inst->opnd[1]), v, low, high);
}

void ts__emit_pack2(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    if (ts__ptx_class(e, inst->type) == TS_RC_H) {
        cvt_pack_bytes(e, v, inst);
        return;
    }
    const char *b = ts__ptx_class(e, inst->type) == TS_RC_RD || ts__ptx_class(e, inst->type) == TS_RC_D ? "b64" : "b32";
    PUT("mov.$s $v, {$r, $r};\n", b, v, ts__ptx_in_reg(e, inst->opnd[0]), ts__ptx_in_reg(e, inst->opnd[1]));
}

void ts__emit_unpack2(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    if (ts__ptx_class(e, from) == TS_RC_H) {
        ts_reg x = ts__ptx_in_reg(e, inst->opnd[0]);
        PUT("mov.b16 $v, $r;\nshr.u16 $v, $r, 8;\n", v + 1, x, v + 2, x);
        return;
    }
    PUT("mov.$s {$v, $v}, $r;\n", ts__ptx_type(e, from)->bits == 64 ? "b64" : "b32", v + 1, v + 2,
        ts__ptx_in_reg(e, inst->opnd[0]));
}
