/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer division and shifts for GPUs. ptxas turns even x / 8 into its general sequence of some 20
 * instructions, so division by a constant becomes a multiplication by its reciprocal here. (LLVM does
 * this itself; the CPU keeps divi and remi.)
 *
 * Unsigned x / d (Granlund and Montgomery, 1994): with s the least such that m = ceil(2^(N+s) / d) fits N
 * bits and m d - 2^(N+s) <= 2^s, the quotient is mulhi(x, m) >> s; if no m fits, N + 1 bits are used by
 * one subtraction and a halving. Signed division works on magnitudes: floor(x / d) = ~(~x / d) for x < 0.
 */
#include "pass/legalize.h"

typedef struct int_ctx {
    ts_builder *b;
    ts_type type;
    int bits;
} int_ctx;

static ts_val int_c(const int_ctx *c, int64_t value)
{
    return ts_int(c->b, c->type, value);
}
static ts_val int_op(const int_ctx *c, ts_op op, ts_val x, ts_val y)
{
    return ts_op2(c->b, op, x, y, op == TS_OP_shri ? TS_A_UNSIGNED : 0);
}
static ts_val int_shr(const int_ctx *c, ts_val x, int n)
{
    return n ? int_op(c, TS_OP_shri, x, int_c(c, n)) : x;
}
/* All ones where x < 0. */
static ts_val int_sign(const int_ctx *c, ts_val x)
{
    return ts_op2(c->b, TS_OP_shri, x, int_c(c, c->bits - 1), 0);
}

/* ---- unsigned, by a constant --------------------------------------------------------------------------*/

typedef struct int_magic {
    uint64_t m;  /* low N bits of the multiplier */
    int shift;
    bool extra;  /* the multiplier has bit N set too */
} int_magic;

static int_magic int_reciprocal(uint64_t d, int bits)
{
    __uint128_t one = 1;
    int log = 0;
    while ((one << log) < d)
        log++;
    for (int s = 0; s <= log; s++) {
        __uint128_t power = bits + s == 128 ? 0 : one << (bits + s);
        if (bits + s >= 128)
            break;
        __uint128_t m = (power + d - 1) / d;
        if (m >> bits == 0 && m * d - power <= one << s)
            return (int_magic){(uint64_t)m, s, false};
    }
    /* 2^N (2^log - d) / d + 1 is the multiplier less 2^N */
    __uint128_t m = (((one << log) - d) << bits) / d + 1;
    return (int_magic){(uint64_t)m, log, true};
}

static ts_val int_udiv(const int_ctx *c, ts_val x, uint64_t d)
{
    if ((d & (d - 1)) == 0)
        return int_shr(c, x, ts_log2(d));
    int_magic g = int_reciprocal(d, c->bits);
    ts_val high = int_op(c, TS_OP_mulhii, x, int_c(c, (int64_t)g.m));
    if (!g.extra)
        return int_shr(c, high, g.shift);
    ts_val half = int_shr(c, int_op(c, TS_OP_subi, x, high), 1);
    return int_shr(c, int_op(c, TS_OP_addi, half, high), g.shift - 1);
}

/* ---- signed, by a positive constant -------------------------------------------------------------------*/

static ts_val int_floor_div(const int_ctx *c, ts_val x, uint64_t d)
{
    if ((d & (d - 1)) == 0)
        return ts_op2(c->b, TS_OP_shri, x, int_c(c, ts_log2(d)), 0);
    ts_val sign = int_sign(c, x);
    return int_op(c, TS_OP_xori, int_udiv(c, int_op(c, TS_OP_xori, x, sign), d), sign);
}

static ts_val int_trunc_div(const int_ctx *c, ts_val x, uint64_t d)
{
    ts_val sign = int_sign(c, x);
    if ((d & (d - 1)) == 0 && d > 1) { /* d - 1 is added to negative ones */
        ts_val bias = int_shr(c, sign, c->bits - ts_log2(d));
        return ts_op2(c->b, TS_OP_shri, int_op(c, TS_OP_addi, x, bias), int_c(c, ts_log2(d)), 0);
    }
    ts_val magnitude = int_op(c, TS_OP_subi, int_op(c, TS_OP_xori, x, sign), sign), q = int_udiv(c, magnitude, d);
    return int_op(c, TS_OP_subi, int_op(c, TS_OP_xori, q, sign), sign);
}

/* floor + 1 unless the division is exact. */
static ts_val int_ceil_from_floor(const int_ctx *c, ts_val x, ts_val q, uint64_t d)
{
    ts_val back = int_op(c, TS_OP_muli, q, int_c(c, (int64_t)d));
    ts_val inexact = ts_cmp(c->b, TS_OP_cmpi, TS_NE, back, x, 0);
    return int_op(c, TS_OP_addi, q, ts_select(c->b, inexact, int_c(c, 1), int_c(c, 0)));
}

static ts_val int_divide_const(const int_ctx *c, ts_val x, uint64_t d, uint32_t attr)
{
    ts_round round = TS_A_ROUND(attr);
    ts_val floor = attr & TS_A_UNSIGNED ? int_udiv(c, x, d) : 0;
    if (!floor && round != TS_RM && round != TS_RP)
        return int_trunc_div(c, x, d);
    floor = floor ? floor : int_floor_div(c, x, d);
    return round == TS_RP ? int_ceil_from_floor(c, x, floor, d) : floor;
}

/* ---- the operations -----------------------------------------------------------------------------------*/

/* remi towards minus or plus infinity, from the truncated one: y is added (taken) where needed. */
static ts_val int_directed_rem(const ts_legal *l, const int_ctx *c)
{
    ts_val r = ts_op2(l->b, TS_OP_remi, l->x[0], l->x[1], l->attr & TS_A_UNSIGNED), zero = int_c(c, 0);
    bool up = TS_A_ROUND(l->attr) == TS_RP;
    ts_val off = ts_cmp(l->b, TS_OP_cmpi, TS_NE, r, zero, 0);
    if (!(l->attr & TS_A_UNSIGNED)) {
        ts_val mixed = int_op(c, TS_OP_xori, r, l->x[1]);
        off = int_op(c, TS_OP_andi, off, ts_cmp(l->b, TS_OP_cmpi, up ? TS_GE : TS_LT, mixed, zero, 0));
    }
    ts_val step = ts_select(l->b, off, l->x[1], zero);
    return int_op(c, up ? TS_OP_subi : TS_OP_addi, r, step);
}

static bool int_rounds(uint32_t attr)
{
    ts_round round = TS_A_ROUND(attr);
    return round == TS_RP || (round == TS_RM && !(attr & TS_A_UNSIGNED));
}

/* The same integer in every element. */
static bool int_const(const ts_legal *l, ts_val v, int64_t *value)
{
    const ts_inst *inst = ts_at(l->b->fn, v);
    while (inst->op == TS_OP_broadcast || inst->op == TS_OP_reshape) {
        v = inst->opnd[0];
        inst = ts_at(l->b->fn, v);
    }
    return ts__const_as_int(l->b->fn, v, value);
}

/* i8 and i16 are divided as i32. */
static ts_val int_divide_wider(const ts_legal *l)
{
    uint32_t sign = l->attr & TS_A_UNSIGNED;
    ts_val x = ts_cast(l->b, TS_OP_exti, l->x[0], TS_T_i32, sign), y;
    int64_t d, mask = l->elem == TS_T_i8 ? 0xFF : 0xFFFF;
    if (int_const(l, l->x[1], &d))
        y = ts_int(l->b, ts_type_of(l->b->fn, x), sign ? d & mask : d);
    else
        y = ts_cast(l->b, TS_OP_exti, l->x[1], TS_T_i32, sign);
    ts_legal wide = *l;
    wide.type = ts_type_of(l->b->fn, x);
    wide.elem = wide.from = TS_T_i32;
    wide.x = (ts_val[]){x, y};
    ts_val q = ts__legal_divide(&wide);
    return ts_cast(l->b, TS_OP_trunci, q ? q : ts_op2(l->b, l->op, x, y, l->attr), l->elem, 0);
}

ts_val ts__legal_divide(const ts_legal *l)
{
    int64_t d;
    if (!ts__legal_is_gpu(l) || l->elem == TS_T_i1 || l->elem == TS_T_i4)
        return 0;
    if (l->elem == TS_T_i8 || l->elem == TS_T_i16)
        return int_divide_wider(l);
    int_ctx c = {l->b, l->type, l->elem == TS_T_i64 ? 64 : 32};
    bool is_unsigned = l->attr & TS_A_UNSIGNED, known = int_const(l, l->x[1], &d);
    uint64_t ud = !known ? 0 : c.bits == 32 ? (uint32_t)d : (uint64_t)d;
    if (is_unsigned ? ud != 0 : known && d > 0) {
        uint32_t attr = l->attr | (l->not_negative[0] ? TS_A_UNSIGNED : 0); /* then both agree: take the shorter */
        bool floors = attr & TS_A_UNSIGNED ? !int_rounds(attr) : TS_A_ROUND(attr) == TS_RM;
        if (l->op == TS_OP_remi && floors && (ud & (ud - 1)) == 0)
            return int_op(&c, TS_OP_andi, l->x[0], int_c(&c, (int64_t)(ud - 1)));
        ts_val q = int_divide_const(&c, l->x[0], ud, attr);
        if (l->op == TS_OP_divi)
            return q;
        return int_op(&c, TS_OP_subi, l->x[0], int_op(&c, TS_OP_muli, q, int_c(&c, (int64_t)ud)));
    }
    bool same = !is_unsigned && l->not_negative[0] && l->not_negative[1] && TS_A_ROUND(l->attr) != TS_RP;
    if (same) /* rounded down is towards zero, without a sign to look at */
        return ts_op2(l->b, l->op, l->x[0], l->x[1], TS_A_UNSIGNED | TS_RZ);
    return l->op == TS_OP_remi && int_rounds(l->attr) ? int_directed_rem(l, &c) : 0;
}

/* PTX takes the low 32 bits of a 64-bit count. */
ts_val ts__legal_shift(const ts_legal *l)
{
    int64_t count;
    if (!ts__legal_is_gpu(l) || l->elem != TS_T_i64 || int_const(l, l->x[1], &count))
        return 0;
    ts_val most = ts_int(l->b, l->type, 64), y = ts_op2(l->b, TS_OP_mini, l->x[1], most, TS_A_UNSIGNED);
    return ts_op2(l->b, l->op, l->x[0], y, l->attr);
}
