/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations as LLVM instructions on vectors of any width, one lane included. The meaning is
 * that of ir/scalar.h, also where LLVM leaves a case open (shifts by the width, division by zero,
 * maximum of zeros and NaN). No fast-math flag is ever written: what the IR says is what is computed.
 * f16 and bf16 live in registers as i16 and are computed in f32, see narrow.c.
 */
#include "ir/float.h"
#include "target/llvm/cg.h"

#include <stdio.h>

/* One operation in progress. */
typedef struct elem_op {
    cg *e;
    const ts_inst *inst;
    const char *text;   /* of the table row */
    ts_type from, to;   /* element types */
    cg_reg reg, out;    /* registers of operand 0 and of the result */
    uint32_t bits;
    ts_val v;
} elem_op;
typedef cg_ref elem_fn(const elem_op *o, const cg_ref *x);

/* ---- pieces -------------------------------------------------------------------------------------*/

cg_ref cg_bin(cg *e, const char *op, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y)
{
    return cg_new(e, "%s %s %r, %r", op, cg_type(e, reg, bits), x, y);
}

cg_ref cg_cmp(cg *e, const char *op, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y)
{
    return cg_bin(e, op, reg, bits, x, y);
}

cg_ref cg_sel(cg *e, cg_reg reg, uint32_t bits, cg_ref c, cg_ref x, cg_ref y)
{
    const char *type = cg_type(e, reg, bits);
    return cg_new(e, "select %s %r, %s %r, %s %r", cg_type(e, CG_I1, bits), c, type, x, type, y);
}

cg_ref cg_conv(cg *e, const char *op, cg_reg from, cg_reg to, uint32_t bits, cg_ref x)
{
    if (from == to)
        return x;
    return cg_new(e, "%s %s %r to %s", op, cg_type(e, from, bits), x, cg_type(e, to, bits));
}

cg_ref cg_call1(cg *e, const char *name, cg_reg reg, uint32_t bits, cg_ref x)
{
    char line[160];
    const char *type = cg_type(e, reg, bits), *suffix = cg_suffix(e, reg, bits);
    snprintf(line, sizeof line, "declare %s @llvm.%s.%s(%s)", type, name, suffix, type);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.%s.%s(%s %r)", type, name, suffix, type, x);
}

cg_ref cg_call2(cg *e, const char *name, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y)
{
    char line[160];
    const char *type = cg_type(e, reg, bits), *suffix = cg_suffix(e, reg, bits);
    snprintf(line, sizeof line, "declare %s @llvm.%s.%s(%s, %s)", type, name, suffix, type, type);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.%s.%s(%s %r, %s %r)", type, name, suffix, type, x, type, y);
}

cg_ref cg_fma(cg *e, cg_reg reg, uint32_t bits, cg_ref x, cg_ref y, cg_ref z)
{
    char line[160];
    const char *type = cg_type(e, reg, bits), *suffix = cg_suffix(e, reg, bits);
    snprintf(line, sizeof line, "declare %s @llvm.fma.%s(%s, %s, %s)", type, suffix, type, type, type);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.fma.%s(%s %r, %s %r, %s %r)", type, suffix, type, x, type, y, type, z);
}

static cg_reg elem_int_of(cg_reg reg)
{
    return reg == CG_F32 ? CG_I32 : reg == CG_F64 ? CG_I64 : reg;
}

static uint32_t elem_width(cg_reg reg)
{
    static const uint8_t width[CG_REGS] = {1, 8, 16, 32, 64, 32, 64, 64};
    return width[reg];
}

static bool elem_is_narrow(ts_type type)
{
    return type == TS_T_f16 || type == TS_T_bf16;
}

/* ---- floats -------------------------------------------------------------------------------------*/

/* Subnormals to zero of their sign, f32. */
static cg_ref elem_flush(cg *e, uint32_t bits, cg_ref x)
{
    cg_ref i = cg_conv(e, "bitcast", CG_F32, CG_I32, bits, x);
    cg_ref mag = cg_bin(e, "and", CG_I32, bits, i, cg_const(e, CG_I32, bits, 0x7F800000));
    cg_ref sub = cg_cmp(e, "icmp eq", CG_I32, bits, mag, cg_const(e, CG_I32, bits, 0));
    cg_ref sign = cg_bin(e, "and", CG_I32, bits, i, cg_const(e, CG_I32, bits, 0x80000000u));
    return cg_sel(e, CG_F32, bits, sub, cg_conv(e, "bitcast", CG_I32, CG_F32, bits, sign), x);
}

typedef cg_ref elem_float_fn(const elem_op *o, cg_reg reg, const cg_ref *x);

/* Runs fn on f32 or f64 registers, around it widening, flushing and rounding. */
static cg_ref elem_float(const elem_op *o, const cg_ref *x, uint32_t n, elem_float_fn *fn)
{
    cg *e = o->e;
    uint32_t attr = ts_info(o->inst)->attr == TS_ATTR_ARITH ? o->inst->aux : 0;
    bool narrow = elem_is_narrow(o->from), flush = (attr & TS_A_FTZ) && o->from == TS_T_f32;
    bool wide = narrow && o->inst->op == TS_OP_fma;
    cg_ref y[3];
    for (uint32_t i = 0; i < n; i++) {
        y[i] = narrow ? cg_widen(e, o->from, o->bits, x[i]) : flush ? elem_flush(e, o->bits, x[i]) : x[i];
        if (wide)
            y[i] = cg_conv(e, "fpext", CG_F32, CG_F64, o->bits, y[i]);
    }
    cg_reg reg = wide ? CG_F64 : narrow ? CG_F32 : o->reg;
    cg_ref r = fn(o, reg, y);
    if (ts_info(o->inst)->rule == TS_RULE_CMPF)
        return r;
    if (wide)
        r = cg_odd(e, o->bits, r);
    return narrow ? cg_narrow(e, o->from, TS_RN, o->bits, r) : flush ? elem_flush(e, o->bits, r) : r;
}

static cg_ref elem_plain2(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    return cg_bin(o->e, o->text, reg, o->bits, x[0], x[1]);
}
static cg_ref elem_plain1(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    return cg_call1(o->e, o->text, reg, o->bits, x[0]);
}
static cg_ref elem_plain_neg(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    return cg_new(o->e, "fneg %s %r", cg_type(o->e, reg, o->bits), x[0]);
}
static cg_ref elem_plain_fma(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    return cg_fma(o->e, reg, o->bits, x[0], x[1], x[2]);
}

/* The legalize pass writes directed roundings in operations that round to nearest. */
static bool elem_rounds_nearest(const elem_op *o)
{
    ts_round round = TS_A_ROUND(o->inst->aux);
    if (round == TS_RN || round == TS_APPROX || round == TS_FULL || round == TS_RZI)
        return true;
    cg_fail(o->e, TS_UNSUPPORTED, "%s with a directed rounding reached the CPU code generator; it must be legalized",
            ts_info(o->inst)->name);
    return false;
}

static cg_ref elem_float2(const elem_op *o, const cg_ref *x)
{
    return elem_rounds_nearest(o) ? elem_float(o, x, 2, elem_plain2) : x[0];
}
static cg_ref elem_float3(const elem_op *o, const cg_ref *x)
{
    return elem_rounds_nearest(o) ? elem_float(o, x, 3, elem_plain_fma) : x[0];
}
static cg_ref elem_sqrt(const elem_op *o, const cg_ref *x)
{
    return elem_rounds_nearest(o) ? elem_float(o, x, 1, elem_plain1) : x[0];
}
static cg_ref elem_call(const elem_op *o, const cg_ref *x)
{
    return elem_float(o, x, 1, elem_plain1);
}

/* Sign operations act on the bits. */
static cg_ref elem_sign(const elem_op *o, const cg_ref *x)
{
    if (!elem_is_narrow(o->from))
        return o->inst->op == TS_OP_negf ? elem_plain_neg(o, o->reg, x) : elem_plain1(o, o->reg, x);
    bool neg = o->inst->op == TS_OP_negf;
    return cg_bin(o->e, neg ? "xor" : "and", CG_I16, o->bits, x[0],
                  cg_const(o->e, CG_I16, o->bits, neg ? 0x8000 : 0x7FFF));
}

static cg_ref elem_compare(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    static const char *const names[2][6] = {
        {"fcmp oeq", "fcmp one", "fcmp olt", "fcmp ole", "fcmp ogt", "fcmp oge"},
        {"fcmp ueq", "fcmp une", "fcmp ult", "fcmp ule", "fcmp ugt", "fcmp uge"}};
    const char *name = names[!!(o->inst->aux & TS_A_UNORDERED)][TS_A_GET_PRED(o->inst->aux) % 6];
    return cg_cmp(o->e, name, reg, o->bits, x[0], x[1]);
}
static cg_ref elem_cmpf(const elem_op *o, const cg_ref *x)
{
    return elem_float(o, x, 2, elem_compare);
}

/* x86 with AVX-512 has the IEEE operation: one instruction for whole vectors, their halves and quarters. */
static bool elem_range_native(const elem_op *o, cg_reg reg)
{
    uint32_t bits = elem_width(reg) << o->bits;
    return o->e->host->vector_bytes == 64 && strstr(o->e->host->features, "+avx512dq") &&
           strstr(o->e->host->features, "+avx512vl") && (bits == 512 || bits == 256 || bits == 128);
}

static cg_ref elem_range(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    cg *e = o->e;
    bool wide = reg == CG_F64;
    uint32_t lanes = 1u << o->bits, all = elem_width(reg) << o->bits;
    const char *type = cg_type(e, reg, o->bits), *name = wide ? "pd" : "ps";
    const char *mask = lanes > 8 ? "i16" : "i8", *mode = all == 512 ? ", i32" : "", *four = all == 512 ? ", i32 4" : "";
    char line[200];
    snprintf(line, sizeof line, "declare %s @llvm.x86.avx512.mask.range.%s.%u(%s, %s, i32, %s, %s%s)", type, name, all,
             type, type, type, mask, mode);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.x86.avx512.mask.range.%s.%d(%s %r, %s %r, i32 %d, %s undef, %s -1%s)", type, name,
                  (int64_t)all, type, x[0], type, x[1], (int64_t)(o->inst->op == TS_OP_maxf ? 5 : 4), type, mask, four);
}

/* maximumNumber: the greater; of zeros +0 (and of the sign bits; or for the minimum); of NaN the other. */
static cg_ref elem_extreme(const elem_op *o, cg_reg reg, const cg_ref *x)
{
    cg *e = o->e;
    bool max = o->inst->op == TS_OP_maxf, nan = o->inst->aux & TS_A_NAN;
    cg_reg i = elem_int_of(reg);
    cg_ref r;
    if (elem_range_native(o, reg))
        r = elem_range(o, reg, x);
    else {
        cg_ref better = cg_cmp(e, max ? "fcmp ogt" : "fcmp olt", reg, o->bits, x[0], x[1]);
        cg_ref equal = cg_cmp(e, "fcmp oeq", reg, o->bits, x[0], x[1]);
        cg_ref lost = cg_cmp(e, "fcmp uno", reg, o->bits, x[1], x[1]);
        cg_ref zero = cg_bin(e, max ? "and" : "or", i, o->bits, cg_conv(e, "bitcast", reg, i, o->bits, x[0]),
                             cg_conv(e, "bitcast", reg, i, o->bits, x[1]));
        r = cg_sel(e, reg, o->bits, better, x[0], x[1]);
        r = cg_sel(e, reg, o->bits, equal, cg_conv(e, "bitcast", i, reg, o->bits, zero), r);
        r = cg_sel(e, reg, o->bits, lost, x[0], r);
    }
    if (!nan)
        return r;
    cg_ref any = cg_cmp(e, "fcmp uno", reg, o->bits, x[0], x[1]);
    return cg_sel(e, reg, o->bits, any,
                  cg_const(e, reg, o->bits, reg == CG_F32 ? 0x7FC00000u : 0x7FF8000000000000u), r);
}
static cg_ref elem_minmaxf(const elem_op *o, const cg_ref *x)
{
    return elem_float(o, x, 2, elem_extreme);
}

/* ---- integers -----------------------------------------------------------------------------------*/

static cg_ref elem_int2(const elem_op *o, const cg_ref *x)
{
    return cg_bin(o->e, o->text, o->reg, o->bits, x[0], x[1]);
}

static cg_ref elem_unary(const elem_op *o, const cg_ref *x)
{
    cg_ref neg = cg_bin(o->e, "sub", o->reg, o->bits, cg_const(o->e, o->reg, o->bits, 0), x[0]);
    if (o->inst->op == TS_OP_negi || o->reg == CG_I1)
        return o->inst->op == TS_OP_negi ? neg : x[0];
    cg_ref less = cg_cmp(o->e, "icmp slt", o->reg, o->bits, x[0], cg_const(o->e, o->reg, o->bits, 0));
    return cg_sel(o->e, o->reg, o->bits, less, neg, x[0]);
}

static cg_ref elem_minmaxi(const elem_op *o, const cg_ref *x)
{
    bool sign = !(o->inst->aux & TS_A_UNSIGNED), max = o->inst->op == TS_OP_maxi;
    const char *op = max ? (sign ? "icmp sgt" : "icmp ugt") : (sign ? "icmp slt" : "icmp ult");
    return cg_sel(o->e, o->reg, o->bits, cg_cmp(o->e, op, o->reg, o->bits, x[0], x[1]), x[0], x[1]);
}

/* The unsigned value is a constant below `width`, a power of two, or the bits that such a one leaves or changes. */
static bool elem_is_below(const ts_fn *fn, ts_val v, uint32_t width)
{
    const ts_inst *inst = ts_at(fn, v);
    uint64_t bits;
    if (ts__const_bits(fn, v, &bits))
        return bits < width;
    bool mask = inst->op == TS_OP_andi || inst->op == TS_OP_xori;
    if (!mask || !ts__const_bits(fn, ts_opnds(fn, inst)[1], &bits) || bits >= width)
        return false;
    return inst->op == TS_OP_andi || elem_is_below(fn, ts_opnds(fn, inst)[0], width);
}

/* A count at or above the width gives 0, or the sign for arithmetic shifts right. */
static cg_ref elem_shift(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    bool left = o->inst->op == TS_OP_shli, sign = !left && !(o->inst->aux & TS_A_UNSIGNED);
    const char *op = left ? "shl" : sign ? "ashr" : "lshr";
    uint32_t width = o->from == TS_T_i4 ? 4 : elem_width(o->reg);
    if (elem_is_below(e->fn, ts_opnds(e->fn, o->inst)[1], width))
        return cg_bin(e, op, o->reg, o->bits, x[0], x[1]);
    cg_ref limit = cg_const(e, o->reg, o->bits, width - 1);
    cg_ref over = cg_cmp(e, "icmp ugt", o->reg, o->bits, x[1], limit);
    cg_ref safe = cg_sel(e, o->reg, o->bits, over, sign ? limit : cg_const(e, o->reg, o->bits, 0), x[1]);
    cg_ref r = cg_bin(e, op, o->reg, o->bits, x[0], safe);
    return sign ? r : cg_sel(e, o->reg, o->bits, over, cg_const(e, o->reg, o->bits, 0), r);
}

static cg_ref elem_mulhi(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    char wide[40];
    uint32_t width = elem_width(o->reg);
    const char *type = cg_type(e, o->reg, o->bits);
    if (o->bits)
        snprintf(wide, sizeof wide, "<%u x i%u>", 1u << o->bits, 2 * width);
    else
        snprintf(wide, sizeof wide, "i%u", 2 * width);
    cg_ref a = cg_new(e, "zext %s %r to %s", type, x[0], wide), b = cg_new(e, "zext %s %r to %s", type, x[1], wide);
    cg_ref p = cg_new(e, "mul %s %r, %r", wide, a, b);
    cg_ref count = o->bits ? 0 : cg_int(e, width);
    if (o->bits) {
        cg_ref one = cg_new(e, "insertelement %s poison, i%d %d, i64 0", wide, (int64_t)2 * width, (int64_t)width);
        count = cg_new(e, "shufflevector %s %r, %s poison, <%d x i32> zeroinitializer", wide, one,
                       wide, (int64_t)1 << o->bits);
    }
    cg_ref high = cg_new(e, "lshr %s %r, %r", wide, p, count);
    return cg_new(e, "trunc %s %r to %s", wide, high, type);
}

/* A scalar division by zero is a fault; in tiles such an element gives 0 and no fault, because the
 * elements outside an array that a tile reaches over are zero. */
static void elem_report_zero(const elem_op *o, cg_ref zero)
{
    cg *e = o->e;
    uint32_t bad = cg_label(e), on = cg_label(e);
    if (o->bits || e->in_body || e->group.open)
        return;
    cg_line(e, "br i1 %r, label %b, label %b", zero, bad, on);
    cg_block(e, bad);
    cg_fault(e, &(cg_faults){.v = o->v, .code = cg_int(e, TS_FAULT_DIV_ZERO), .text = ""});
    cg_br(e, on);
    cg_block(e, on);
}

/* Whether vectors are divided as floats, for processors divide integers one by one. LLVM multiplies by constants. */
static bool elem_divides_floats(const elem_op *o)
{
    const ts_llvm_host *host = o->e->host;
    bool is_signed = !(o->inst->aux & TS_A_UNSIGNED), rounds_up = TS_A_ROUND(o->inst->aux) == TS_RP;
    uint64_t c;
    if (!o->bits || o->reg == CG_I1 || ts__const_bits(o->e->fn, ts_opnds(o->e->fn, o->inst)[1], &c))
        return false;
    return o->reg != CG_I64 ||
           ((is_signed || !rounds_up) && host->vector_bytes == 64 && strstr(host->features, "+avx512dq"));
}

/* Makes the divisor harmless: 0 and (least / -1) become divisors that give what scalar.h says. Floats take the latter,
 * so that a divisor that stays does not change with x. */
static cg_ref elem_divisor(const elem_op *o, const cg_ref *x, cg_ref *zero)
{
    cg *e = o->e;
    uint64_t c;
    *zero = 0;
    if (ts__const_bits(e->fn, ts_opnds(e->fn, o->inst)[1], &c) && c != 0 && (int64_t)c != -1)
        return x[1];
    cg_ref one = cg_const(e, o->reg, o->bits, 1);
    *zero = cg_cmp(e, "icmp eq", o->reg, o->bits, x[1], cg_const(e, o->reg, o->bits, 0));
    cg_ref bad = *zero;
    if (!(o->inst->aux & TS_A_UNSIGNED) && o->reg != CG_I1 && !elem_divides_floats(o)) {
        cg_ref least = cg_const(e, o->reg, o->bits, (uint64_t)1 << (elem_width(o->reg) - 1));
        cg_ref a = cg_cmp(e, "icmp eq", o->reg, o->bits, x[0], least);
        cg_ref b = cg_cmp(e, "icmp eq", o->reg, o->bits, x[1], cg_const(e, o->reg, o->bits, (uint64_t)-1));
        bad = cg_bin(e, "or", CG_I1, o->bits, bad, cg_bin(e, "and", CG_I1, o->bits, a, b));
    }
    return cg_sel(e, o->reg, o->bits, bad, one, x[1]);
}

/* A divisor's inverse, of which a loop makes one where the divisor stays. */
static cg_ref elem_inverse(const elem_op *o, cg_reg wide, cg_ref y, bool sign)
{
    ts_type type = wide == CG_F64 ? TS_T_f64 : TS_T_f32;
    cg_ref one = cg_const(o->e, wide, o->bits, ts__float_from_f64(type, 1, TS_RN));
    cg_ref f = cg_conv(o->e, sign ? "sitofp" : "uitofp", o->reg, wide, o->bits, y);
    return cg_bin(o->e, "fdiv", wide, o->bits, one, f);
}

/* The truncated quotient of at most 32 bits, in a float of twice the digits: x is moved away from 0 by a half, so that
 * the quotient is 1 / 2y from whole numbers at least, which is more than two roundings. */
static cg_ref elem_divided(const elem_op *o, cg_ref x, cg_ref y, bool sign)
{
    cg *e = o->e;
    cg_reg wide = o->reg == CG_I32 ? CG_F64 : CG_F32;
    ts_type type = wide == CG_F64 ? TS_T_f64 : TS_T_f32;
    cg_ref half = cg_const(e, wide, o->bits, ts__float_from_f64(type, 0.5, TS_RN));
    cg_ref f = cg_conv(e, sign ? "sitofp" : "uitofp", o->reg, wide, o->bits, x);
    if (sign)
        half = cg_call2(e, "copysign", wide, o->bits, half, f);
    f = cg_bin(e, "fmul", wide, o->bits, cg_bin(e, "fadd", wide, o->bits, f, half), elem_inverse(o, wide, y, sign));
    cg_ref q = cg_conv(e, sign ? "fptosi" : "fptoui", wide, o->reg, o->bits, f);
    if (!sign)
        return q;
    cg_ref minus = cg_cmp(e, "icmp eq", o->reg, o->bits, y, cg_const(e, o->reg, o->bits, (uint64_t)-1));
    return cg_sel(e, o->reg, o->bits, minus, cg_bin(e, "sub", o->reg, o->bits, cg_const(e, o->reg, o->bits, 0), x), q);
}

/* The whole number nearest to x * inverse, at most the last that a float and 64 bits can be. */
static cg_ref elem_nearest(const elem_op *o, cg_ref x, cg_ref inverse, bool sign)
{
    cg *e = o->e;
    const double last = sign ? 0x1.fffffffffffffp62 : 0x1.fffffffffffffp63;
    cg_ref limit = cg_const(e, CG_F64, o->bits, ts__float_from_f64(TS_T_f64, last, TS_RN));
    cg_ref f = cg_conv(e, sign ? "sitofp" : "uitofp", CG_I64, CG_F64, o->bits, x);
    f = cg_bin(e, "fmul", CG_F64, o->bits, f, inverse);
    f = cg_sel(e, CG_F64, o->bits, cg_cmp(e, "fcmp olt", CG_F64, o->bits, f, limit), f, limit);
    f = cg_call1(e, "rint", CG_F64, o->bits, f);
    return cg_conv(e, sign ? "fptosi" : "fptoui", CG_F64, CG_I64, o->bits, f);
}

/* The quotient of 64 bits rounded to nearest: 51 bits of it first, then, from what they leave, the rest. An unsigned
 * divisor is below 2^63. */
static cg_ref elem_divided_wide(const elem_op *o, cg_ref x, cg_ref y, bool sign)
{
    cg *e = o->e;
    cg_ref inverse = elem_inverse(o, CG_F64, y, sign), q = elem_nearest(o, x, inverse, sign);
    cg_ref left = cg_bin(e, "sub", CG_I64, o->bits, x, cg_bin(e, "mul", CG_I64, o->bits, q, y));
    return cg_bin(e, "add", CG_I64, o->bits, q, elem_nearest(o, left, inverse, true));
}

/* A quotient rounded to nearest, towards 0: one back where what is left has the other sign than x. */
static cg_ref elem_towards_zero(const elem_op *o, cg_ref q, cg_ref x, cg_ref y, bool sign)
{
    cg *e = o->e;
    cg_ref zero = cg_const(e, CG_I64, o->bits, 0), one = cg_const(e, CG_I64, o->bits, 1);
    cg_ref left = cg_bin(e, "sub", CG_I64, o->bits, x, cg_bin(e, "mul", CG_I64, o->bits, q, y)), back = one;
    cg_ref other = cg_cmp(e, "icmp slt", CG_I64, o->bits, left, zero);
    if (sign) {
        cg_ref differ = cg_cmp(e, "icmp slt", CG_I64, o->bits, cg_bin(e, "xor", CG_I64, o->bits, left, x), zero);
        cg_ref signs = cg_bin(e, "xor", CG_I64, o->bits, x, y), most = cg_const(e, CG_I64, o->bits, 63);
        other = cg_bin(e, "and", CG_I1, o->bits, differ, cg_cmp(e, "icmp ne", CG_I64, o->bits, left, zero));
        back = cg_bin(e, "or", CG_I64, o->bits, cg_bin(e, "ashr", CG_I64, o->bits, signs, most), one);
    }
    q = cg_bin(e, "sub", CG_I64, o->bits, q, cg_sel(e, CG_I64, o->bits, other, back, zero));
    if (sign)
        return q;
    cg_ref fits = cg_conv(e, "zext", CG_I1, CG_I64, o->bits, cg_cmp(e, "icmp uge", CG_I64, o->bits, x, y));
    return cg_sel(e, CG_I64, o->bits, cg_cmp(e, "icmp slt", CG_I64, o->bits, y, zero), fits, q);
}

/* The quotient truncated or rounded to nearest; then one step towards the asked rounding where the division was not
 * exact. */
static cg_ref elem_quotient(const elem_op *o, cg_ref x, cg_ref y)
{
    cg *e = o->e;
    bool sign = !(o->inst->aux & TS_A_UNSIGNED), floats = elem_divides_floats(o), wide = floats && o->reg == CG_I64;
    ts_round round = TS_A_ROUND(o->inst->aux);
    cg_ref q = wide     ? elem_divided_wide(o, x, y, sign)
               : floats ? elem_divided(o, x, y, sign)
                        : cg_bin(e, sign ? "sdiv" : "udiv", o->reg, o->bits, x, y);
    if ((round != TS_RM && round != TS_RP) || (!sign && round == TS_RM))
        return wide ? elem_towards_zero(o, q, x, y, sign) : q;
    cg_ref zero = cg_const(e, o->reg, o->bits, 0);
    cg_ref left = cg_bin(e, "sub", o->reg, o->bits, x, cg_bin(e, "mul", o->reg, o->bits, q, y));
    cg_ref inexact = cg_cmp(e, "icmp ne", o->reg, o->bits, left, zero), step = inexact;
    if (sign) { /* the true quotient is negative where remainder and divisor differ in sign */
        cg_ref differ = cg_cmp(e, round == TS_RM ? "icmp slt" : "icmp sge", o->reg, o->bits,
                               cg_bin(e, "xor", o->reg, o->bits, left, y), zero);
        step = cg_bin(e, "and", CG_I1, o->bits, inexact, differ);
    }
    return cg_bin(e, round == TS_RM ? "sub" : "add", o->reg, o->bits, q,
                  cg_conv(e, "zext", CG_I1, o->reg, o->bits, step));
}

static cg_ref elem_div(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    cg_ref zero, y = elem_divisor(o, x, &zero);
    cg_ref r = elem_quotient(o, x[0], y);
    if (o->inst->op == TS_OP_remi)
        r = cg_bin(e, "sub", o->reg, o->bits, x[0], cg_bin(e, "mul", o->reg, o->bits, r, y));
    if (!zero)
        return r;
    elem_report_zero(o, zero);
    return cg_sel(e, o->reg, o->bits, zero, cg_const(e, o->reg, o->bits, 0), r);
}

static cg_ref elem_cmpi(const elem_op *o, const cg_ref *x)
{
    static const char *const names[2][6] = {
        {"icmp eq", "icmp ne", "icmp slt", "icmp sle", "icmp sgt", "icmp sge"},
        {"icmp eq", "icmp ne", "icmp ult", "icmp ule", "icmp ugt", "icmp uge"}};
    const char *name = names[!!(o->inst->aux & TS_A_UNSIGNED)][TS_A_GET_PRED(o->inst->aux) % 6];
    return cg_cmp(o->e, name, o->reg, o->bits, x[0], x[1]);
}

/* ---- conversions --------------------------------------------------------------------------------*/

static cg_ref elem_resize(const elem_op *o, const cg_ref *x)
{
    bool widen = o->inst->op == TS_OP_exti;
    const char *op = !widen ? "trunc" : o->inst->aux & TS_A_UNSIGNED ? "zext" : "sext";
    cg_ref r = cg_conv(o->e, op, o->reg, o->out, o->bits, x[0]);
    if (o->to != TS_T_i4)
        return r;
    cg_ref four = cg_const(o->e, CG_I8, o->bits, 4); /* i4 is kept sign-extended in i8 */
    return cg_bin(o->e, "ashr", CG_I8, o->bits, cg_bin(o->e, "shl", CG_I8, o->bits, r, four), four);
}

static cg_ref elem_itof(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    bool narrow = o->to != TS_T_f32 && o->to != TS_T_f64;
    cg_reg via = narrow ? (elem_width(o->reg) > 16 ? CG_F64 : CG_F32) : o->out;
    if (!elem_rounds_nearest(o))
        return x[0];
    cg_ref r = cg_conv(e, o->inst->aux & TS_A_UNSIGNED ? "uitofp" : "sitofp", o->reg, via, o->bits, x[0]);
    if (!narrow)
        return r;
    return cg_narrow(e, o->to, TS_RN, o->bits, via == CG_F64 ? cg_odd(e, o->bits, r) : r);
}

/* Any float to f32 or f64, exactly; tells which. */
static cg_ref elem_exact(const elem_op *o, cg_ref x, cg_reg *reg)
{
    *reg = o->from == TS_T_f64 ? CG_F64 : CG_F32;
    return o->from == TS_T_f64 || o->from == TS_T_f32 ? x : cg_widen(o->e, o->from, o->bits, x);
}

/* A saturating conversion by comparisons. LLVM's own takes vectors apart before LLVM 19, so loops that convert stay
 * loops of single elements, too, where the processor has no instruction for it. What is too small becomes the least
 * number first, as does NaN; what is too great the greatest one, where a float can be that. */
static cg_ref elem_ftoi_by_limits(const elem_op *o, cg_reg reg, cg_ref y)
{
    cg *e = o->e;
    const bool is_unsigned = o->inst->aux & TS_A_UNSIGNED;
    const ts_type type = reg == CG_F64 ? TS_T_f64 : TS_T_f32;
    const uint32_t width = elem_width(o->out), digits = is_unsigned ? width : width - 1;
    const bool is_exact = digits <= (reg == CG_F64 ? 53u : 24u);
    const double end = (double)((uint64_t)1 << (digits - 1)) * 2;
    cg_ref least = cg_const(e, reg, o->bits, ts__float_from_f64(type, is_unsigned ? 0 : -end, TS_RN));
    cg_ref limit = cg_const(e, reg, o->bits, ts__float_from_f64(type, is_exact ? end - 1 : end, TS_RN));
    cg_ref in = cg_sel(e, reg, o->bits, cg_cmp(e, "fcmp ogt", reg, o->bits, y, least), y, least);
    if (is_exact)
        in = cg_sel(e, reg, o->bits, cg_cmp(e, "fcmp olt", reg, o->bits, in, limit), in, limit);
    cg_ref r = cg_conv(e, is_unsigned ? "fptoui" : "fptosi", reg, o->out, o->bits, in);
    if (!is_exact)
        r = cg_sel(e, o->out, o->bits, cg_cmp(e, "fcmp oge", reg, o->bits, y, limit),
                   cg_const(e, o->out, o->bits, UINT64_MAX >> (64 - digits)), r);
    return is_unsigned ? r : cg_sel(e, o->out, o->bits, cg_cmp(e, "fcmp uno", reg, o->bits, y, y),
                                    cg_const(e, o->out, o->bits, 0), r);
}

static cg_ref elem_ftoi(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    cg_reg reg;
    cg_ref y = elem_exact(o, x[0], &reg);
    char line[200];
    const char *name = o->inst->aux & TS_A_UNSIGNED ? "fptoui" : "fptosi";
    if (o->out != CG_I1 && (o->bits || strncmp(e->host->triple, "x86_64", 6) == 0))
        return elem_ftoi_by_limits(o, reg, y);
    const char *to = cg_type(e, o->out, o->bits), *from = cg_type(e, reg, o->bits);
    const char *a = cg_suffix(e, o->out, o->bits), *b = cg_suffix(e, reg, o->bits);
    snprintf(line, sizeof line, "declare %s @llvm.%s.sat.%s.%s(%s)", to, name, a, b, from);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.%s.sat.%s.%s(%s %r)", to, name, a, b, from, y);
}

static cg_ref elem_ftof(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    cg_reg reg;
    ts_round round = TS_A_ROUND(o->inst->aux);
    if (o->from == o->to)
        return x[0];
    cg_ref y = elem_exact(o, x[0], &reg);
    if (o->to == TS_T_f64)
        return cg_conv(e, "fpext", reg, CG_F64, o->bits, y);
    if (o->to != TS_T_f32)
        return cg_narrow(e, o->to, round, o->bits, reg == CG_F64 ? cg_odd(e, o->bits, y) : y);
    return reg == CG_F64 && !elem_rounds_nearest(o) ? y : cg_conv(e, "fptrunc", reg, CG_F32, o->bits, y);
}

static cg_ref elem_bitcast(const elem_op *o, const cg_ref *x)
{
    return cg_conv(o->e, "bitcast", o->reg, o->out, o->bits, x[0]);
}
static cg_ref elem_same(const elem_op *o, const cg_ref *x)
{
    (void)o;
    return x[0];
}
static cg_ref elem_select(const elem_op *o, const cg_ref *x)
{
    return cg_sel(o->e, o->out, o->bits, x[0], x[1], x[2]);
}

/* The 64 bits that an index of 32 was made of without loss, where there are such: LLVM then sees how it moves from turn
 * to turn, which 32 bits that may wrap hide. 0: none. */
static cg_ref elem_whole_index(const elem_op *o, ts_val by)
{
    const ts_inst *inst = ts_at(o->e->fn, by);
    bool is_whole = !o->bits && inst->op == TS_OP_trunci && inst->aux & TS_A_NSW &&
                    ts_type_of(o->e->fn, inst->opnd[0]) == TS_T_i64;
    return is_whole ? cg_scalar(o->e, inst->opnd[0]) : 0;
}

static cg_ref elem_offset(const elem_op *o, const cg_ref *x)
{
    cg *e = o->e;
    ts_val by = ts_opnds(e->fn, o->inst)[1];
    cg_ref whole = elem_whole_index(o, by);
    cg_ref i = whole ? whole : cg_conv(e, "sext", cg_reg_of(e, ts_type_of(e->fn, by)), CG_I64, o->bits, x[1]);
    uint32_t bytes = cg_elem_bytes(e, ts_type_get(e->m, o->from)->elem);
    return cg_bin(e, "add", CG_I64, o->bits, x[0],
                  cg_bin(e, "mul", CG_I64, o->bits, i, cg_const(e, CG_I64, o->bits, bytes)));
}

/* ---- the table ----------------------------------------------------------------------------------*/

static const struct {
    elem_fn *fn;
    const char *text;
} elem_table[TS_OP_COUNT] = {
    [TS_OP_absf] = {elem_sign, "fabs"},      [TS_OP_negf] = {elem_sign, "fneg"},
    [TS_OP_ceil] = {elem_call, "ceil"},      [TS_OP_floor] = {elem_call, "floor"},
    [TS_OP_sqrt] = {elem_sqrt, "sqrt"},      [TS_OP_addf] = {elem_float2, "fadd"},
    [TS_OP_subf] = {elem_float2, "fsub"},    [TS_OP_mulf] = {elem_float2, "fmul"},
    [TS_OP_divf] = {elem_float2, "fdiv"},    [TS_OP_fma] = {elem_float3, 0},
    [TS_OP_maxf] = {elem_minmaxf, 0},        [TS_OP_minf] = {elem_minmaxf, 0},
    [TS_OP_cmpf] = {elem_cmpf, 0},           [TS_OP_absi] = {elem_unary, 0},
    [TS_OP_negi] = {elem_unary, 0},          [TS_OP_addi] = {elem_int2, "add"},
    [TS_OP_subi] = {elem_int2, "sub"},       [TS_OP_muli] = {elem_int2, "mul"},
    [TS_OP_mulhii] = {elem_mulhi, 0},        [TS_OP_divi] = {elem_div, 0},
    [TS_OP_remi] = {elem_div, 0},            [TS_OP_maxi] = {elem_minmaxi, 0},
    [TS_OP_mini] = {elem_minmaxi, 0},        [TS_OP_andi] = {elem_int2, "and"},
    [TS_OP_ori] = {elem_int2, "or"},         [TS_OP_xori] = {elem_int2, "xor"},
    [TS_OP_shli] = {elem_shift, 0},          [TS_OP_shri] = {elem_shift, 0},
    [TS_OP_cmpi] = {elem_cmpi, 0},           [TS_OP_bitcast] = {elem_bitcast, 0},
    [TS_OP_exti] = {elem_resize, 0},         [TS_OP_trunci] = {elem_resize, 0},
    [TS_OP_itof] = {elem_itof, 0},           [TS_OP_ftof] = {elem_ftof, 0},
    [TS_OP_ftoi] = {elem_ftoi, 0},           [TS_OP_int_to_ptr] = {elem_same, 0},
    [TS_OP_ptr_to_int] = {elem_same, 0},     [TS_OP_ptr_to_ptr] = {elem_same, 0},
    [TS_OP_select] = {elem_select, 0},       [TS_OP_offset] = {elem_offset, 0},
};

bool cg_elem_has(ts_op op)
{
    return elem_table[op].fn != NULL;
}

cg_ref cg_elem(cg *e, ts_val v, uint32_t bits, const cg_ref *x)
{
    const ts_inst *inst = ts_at(e->fn, v);
    if (!elem_table[inst->op].fn) {
        cg_fail(e, TS_UNSUPPORTED, "the CPU target has no code for '%s'; the math and legalize passes must rewrite it",
                ts_info(inst)->name);
        return x[0];
    }
    ts_type from = ts_type_elem(e->m, ts_type_of(e->fn, ts_opnds(e->fn, inst)[0]));
    ts_type to = ts_type_elem(e->m, inst->type);
    elem_op o = {e, inst, elem_table[inst->op].text, from, to, cg_reg_of(e, from), cg_reg_of(e, to), bits, v};
    return elem_table[inst->op].fn(&o, x);
}
