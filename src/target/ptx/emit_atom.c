/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX emitter: atomics. atom returns the old value, red does not. What PTX cannot do in one instruction
 * (bf16 addition before sm_90, 16-bit integers, 8-bit anything) becomes a compare-and-swap loop; for 8
 * bits on the 32-bit word around the byte.
 * Next: emit_warp.c.
 */
#include "target/ptx/emit.h"

/* By mode: the stem, and for the CAS loop the same operation on registers. */
static const char *const atom_names[] = {
    [TS_RMW_AND] = "and", [TS_RMW_OR] = "or", [TS_RMW_XOR] = "xor", [TS_RMW_ADD] = "add", [TS_RMW_ADDF] = "add",
    [TS_RMW_MAX] = "max", [TS_RMW_MIN] = "min", [TS_RMW_UMAX] = "max", [TS_RMW_UMIN] = "min",
    [TS_RMW_XCHG] = "exch", [TS_RMW_CAS] = "cas",
};

/* Type suffix of the instruction; NULL when a loop is needed. */
static const char *atom_type(ts_ptx *e, ts_rmw mode, ts_type type)
{
    const ts_ptx_type *t = ts__ptx_type(e, type);
    bool wide = t->bits == 64, word = t->bits == 32;
    if (mode == TS_RMW_ADDF) {
        if (type == TS_T_f16)
            return "noftz.f16";
        if (type == TS_T_bf16 && e->sm->number >= 90) {
            ts__ptx_need(e, 78);
            return "noftz.bf16";
        }
        return type == TS_T_f32 ? "f32" : type == TS_T_f64 ? "f64" : NULL;
    }
    if (!wide && !word)
        return mode == TS_RMW_CAS && t->bits == 16 ? "b16" : NULL;
    switch ((int)mode) {
    case TS_RMW_MAX:
    case TS_RMW_MIN:
        return wide ? "s64" : "s32";
    case TS_RMW_ADD:
    case TS_RMW_UMAX:
    case TS_RMW_UMIN:
        return wide ? "u64" : "u32";
    default:
        return wide ? "b64" : "b32";
    }
}

static void atom_prefix(ts_ptx *e, const char *verb, const ts_inst *inst, const char *space)
{
    static const char *const orders[] = {".relaxed", ".relaxed", ".acquire", ".release", ".acq_rel"};
    static const char *const scopes[] = {".gpu", ".cta", ".gpu", ".sys"};
    uint32_t order = TS_M_GET_ORDER(inst->aux);
    const char *sem = order < TS_COUNT(orders) ? orders[order] : orders[0];
    if (verb[0] == 'r' && (order == TS_ACQUIRE || order == TS_ACQ_REL))
        sem = ".release"; /* nothing is read, so there is nothing to acquire; fences follow in the IR */
    PUT("$s$s$s$s.", verb, sem, scopes[TS_M_GET_SCOPE(inst->aux)], space);
}

/* ---- compare-and-swap loops ------------------------------------------------------------------------------ */

/* new := old `mode` value on 16-bit registers of the given type. */
static void atom_compute(ts_ptx *e, ts_rmw mode, ts_type type, ts_reg out, ts_reg old, ts_reg value)
{
    ts_reg one;
    switch ((int)mode) {
    case TS_RMW_XCHG:
        PUT("mov.b16 $r, $r;\n", out, value);
        return;
    case TS_RMW_AND:
    case TS_RMW_OR:
    case TS_RMW_XOR:
        PUT("$s.b16 $r, $r, $r;\n", atom_names[mode], out, old, value);
        return;
    case TS_RMW_ADDF:
        one = ts__ptx_temp(e, TS_RC_H);
        PUT("mov.b16 $r, 0x3F80;\nfma.rn.bf16 $r, $r, $r, $r;\n", one, out, old, one, value);
        return;
    default:
        break;
    }
    bool is_unsigned = mode == TS_RMW_UMAX || mode == TS_RMW_UMIN;
    if (type == TS_T_i8) {
        ts_reg x = ts__ptx_temp(e, TS_RC_H), y = ts__ptx_temp(e, TS_RC_H);
        const char *cvt = is_unsigned ? "u16.u8" : "s16.s8";
        PUT("cvt.$s $r, $r;\ncvt.$s $r, $r;\n", cvt, x, old, cvt, y, value);
        old = x;
        value = y;
    }
    PUT("$s.$s $r, $r, $r;\n", atom_names[mode], is_unsigned ? "u16" : "s16", out, old, value);
}

/* 16 bits: atom.cas.b16 until nobody came between. */
static ts_reg atom_loop16(ts_ptx *e, ts_val v, const ts_inst *inst, const char *space, ts_val pointer, ts_reg value)
{
    ts_reg seen = ts__ptx_temp(e, TS_RC_H), want = ts__ptx_temp(e, TS_RC_H), got = ts__ptx_temp(e, TS_RC_H);
    ts_reg p = ts__ptx_temp(e, TS_RC_P);
    PUT("ld$s.b16 $r, $a;\nA$L:\n", space, seen, pointer, v);
    atom_compute(e, TS_M_GET_MODE(inst->aux), ts_type_of(e->fn, ts_opnds(e->fn, inst)[1]), want, seen, value);
    atom_prefix(e, "atom", inst, space);
    PUT("cas.b16 $r, $a, $r, $r;\n", got, pointer, seen, want);
    PUT("setp.ne.u16 $r, $r, $r;\nmov.b16 $r, $r;\n@$r bra A$L;\n", p, got, seen, seen, got, p, v);
    return got;
}

/* Splits the address of a byte into its word and the bits below it. */
static ts_reg atom_word(ts_ptx *e, ts_val pointer, ts_reg *shift)
{
    const ts_ptx_type *t = ts__ptx_type(e, ts_type_of(e->fn, pointer));
    ts_reg_class class = t->class == TS_RC_R ? TS_RC_R : TS_RC_RD;
    ts_reg at = ts__ptx_temp(e, class), low = ts__ptx_temp(e, TS_RC_R), base;
    int64_t offset;
    base = ts__ptx_in_reg(e, ts__ptx_base(e, pointer, &offset));
    PUT("add.$s $r, $r, $i;\n", class == TS_RC_R ? "s32" : "s64", at, base, (int)offset);
    *shift = ts__ptx_temp(e, TS_RC_R);
    if (class == TS_RC_R)
        PUT("mov.b32 $r, $r;\n", low, at);
    else
        PUT("cvt.u32.u64 $r, $r;\n", low, at);
    PUT("and.b32 $r, $r, 3;\nshl.b32 $r, $r, 3;\n", low, low, *shift, low);
    PUT("and.$s $r, $r, -4;\n", class == TS_RC_R ? "b32" : "b64", at, at);
    return at;
}

/* 8 bits: the byte is replaced within its word. For compare-and-swap the loop ends early when the byte
 * is not the expected one (then the word is written back as it was). */
static ts_reg atom_loop8(ts_ptx *e, ts_val v, const ts_inst *inst, const char *space, ts_reg value, ts_reg compare)
{
    ts_reg shift, at = atom_word(e, ts_opnds(e->fn, inst)[0], &shift);
    ts_reg seen = ts__ptx_temp(e, TS_RC_R), next = ts__ptx_temp(e, TS_RC_R), got = ts__ptx_temp(e, TS_RC_R);
    ts_reg part = ts__ptx_temp(e, TS_RC_R), old = ts__ptx_temp(e, TS_RC_H), new = ts__ptx_temp(e, TS_RC_H);
    ts_reg p = ts__ptx_temp(e, TS_RC_P);
    PUT("ld$s.b32 $r, [$r];\nA$L:\n", space, seen, at, v);
    PUT("shr.u32 $r, $r, $r;\ncvt.u16.u32 $r, $r;\nand.b16 $r, $r, 255;\n", part, seen, shift, old, part, old, old);
    if (compare) {
        ts_reg wanted = ts__ptx_temp(e, TS_RC_H), same = ts__ptx_temp(e, TS_RC_P);
        PUT("and.b16 $r, $r, 255;\nsetp.eq.u16 $r, $r, $r;\nselp.b16 $r, $r, $r, $r;\n", wanted, compare, same, old,
            wanted, new, value, old, same);
    } else
        atom_compute(e, TS_M_GET_MODE(inst->aux), TS_T_i8, new, old, value);
    PUT("cvt.u32.u16 $r, $r;\nbfi.b32 $r, $r, $r, $r, 8;\n", part, new, next, part, seen, shift);
    atom_prefix(e, "atom", inst, space);
    PUT("cas.b32 $r, [$r], $r, $r;\n", got, at, seen, next);
    PUT("setp.ne.u32 $r, $r, $r;\nmov.b32 $r, $r;\n@$r bra A$L;\n", p, got, seen, seen, got, p, v);
    return old;
}

static void atom_by_loop(ts_ptx *e, ts_val v, const ts_inst *inst, const char *space, ts_val pred)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    ts_rmw mode = TS_M_GET_MODE(inst->aux);
    ts_type type = ts_type_of(e->fn, opnds[1]);
    bool cas = mode == TS_RMW_CAS, eight = ts__ptx_type(e, type)->bits == 8;
    ts_reg value = ts__ptx_in_reg(e, opnds[cas ? 2 : 1]), old;
    if (pred)
        PUT("@!$r bra B$L;\n", ts__ptx_in_reg(e, pred), v);
    if (eight)
        old = atom_loop8(e, v, inst, space, value, cas ? ts__ptx_in_reg(e, opnds[1]) : 0);
    else
        old = atom_loop16(e, v, inst, space, opnds[0], value);
    if (e->reg[v])
        PUT("mov.b16 $v, $r;\n", v, old);
    if (pred)
        PUT("B$L:\n", v);
}

/* ---- the instruction --------------------------------------------------------------------------------------- */

/* Bits of a value for exch and cas, which know no float types. */
static void atom_plain(ts_ptx *e, ts_val v, const ts_inst *inst, const char *space, const char *type, ts_val pred)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    ts_rmw mode = TS_M_GET_MODE(inst->aux);
    bool red = inst->op == TS_OP_red && mode != TS_RMW_XCHG && mode != TS_RMW_CAS;
    ts_reg out = e->reg[v];
    if (!red && !out)
        out = ts__ptx_temp(e, ts__ptx_class(e, ts_type_of(e->fn, opnds[1])));
    PUT("$g", pred);
    atom_prefix(e, red ? "red" : "atom", inst, space);
    PUT("$s.$s ", atom_names[mode], type);
    if (!red)
        PUT("$r, ", out);
    PUT("$a, $v", opnds[0], opnds[1]);
    if (mode == TS_RMW_CAS)
        PUT(", $v", opnds[2]);
    PUT(";\n");
}

void ts__emit_atom(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    uint32_t mask = ts__opnd_mask(inst);
    ts_val pred = mask == TS_NO ? 0 : opnds[mask];
    ts_rmw mode = TS_M_GET_MODE(inst->aux);
    ts_type value = ts_type_of(e->fn, opnds[1]);
    const char *space = ts__ptx_space(e, opnds[0]);
    if (mode > TS_RMW_CAS || value == TS_T_i1 || space[1] == 'l') {
        ts__ptx_fail(e, TS_UNSUPPORTED, "atomics work on numbers in global or shared memory, not on %s in %s",
                     ts_type_is_scalar(value) ? ts_scalar_name(value) : "pointers", space + 1);
        return;
    }
    bool bits = mode == TS_RMW_XCHG || mode == TS_RMW_CAS;
    if (!bits && (mode == TS_RMW_ADDF) != ts_type_is_float(e->fn->module, value)) {
        ts__ptx_fail(e, TS_UNSUPPORTED, "atomic %s of %s: integers have it, floats only addf, xchg and cas",
                     atom_names[mode], ts_scalar_name(value));
        return;
    }
    const char *type = atom_type(e, mode, value);
    if (!type && mode == TS_RMW_ADDF && value != TS_T_bf16)
        ts__ptx_fail(e, TS_UNSUPPORTED, "no atomic addition of %s", ts_scalar_name(value));
    else if (type)
        atom_plain(e, v, inst, space, type, pred);
    else
        atom_by_loop(e, v, inst, space, pred);
}
