/* SPDX-License-Identifier: Apache-2.0
 *
 * What the threads of a warp do together, and operations on bits that tiles do not have:
 *
 *     vote any %c         reduction of the 32 threads: a scalar where the tile is one warp, else spread over its warps
 *     shfl bfly %x, 8     the halves of each 16 threads change places
 *     shfl idx %x, %lane  %x goes to memory of the worker, each thread reads the place of the other one
 *     bar_sync, warp_sync nothing: all threads of the tile have done what stands before
 *     popc, clz, brev ..  in shifts, ands and additions, where each thread works for itself
 */
#include "pass/lockstep.h"

/* ---- small things ----------------------------------------------------------------------------------- */

/* An operation with a constant of the other operand's shape. */
static ts_val warp_const(lockstep *c, ts_op op, ts_val x, int64_t y, uint32_t attr)
{
    return ts_op2(&c->b, op, x, ts_int(&c->b, ts_type_of(c->b.fn, x), y), attr);
}

static ts_val warp_scalar(lockstep *c, int64_t x)
{
    return ts_int(&c->b, TS_T_i32, x);
}

static ts_val warp_i32(lockstep *c, int64_t x)
{
    return ts_int(&c->b, lock_tile(c, TS_T_i32), x);
}

/* ---- reductions over a warp ------------------------------------------------------------------------------ */

/* Of a tile; a scalar, or a tile in which each warp has its own result. */
static ts_val warp_reduce(lockstep *c, ts_op op, uint32_t attr, uint64_t identity, ts_val x)
{
    if (c->by_warp)
        return lock_reduce(c, op, attr, identity, x);
    ts_type elem = ts_type_elem(c->m, ts_type_of(c->b.fn, x));
    int64_t dims[] = {c->width / LOCK_WARP, LOCK_WARP}, column[] = {c->width / LOCK_WARP, 1};
    ts_type square = ts_type_tile(c->m, elem, 2, dims);
    x = lock_reduce(c, op, attr, identity, ts_reshape(&c->b, x, square));
    x = ts_broadcast(&c->b, ts_reshape(&c->b, x, ts_type_tile(c->m, elem, 2, column)), square);
    return ts_reshape(&c->b, x, lock_tile(c, elem));
}

/* A bit for each thread of the warp with `cond`. */
static ts_val warp_ballot(lockstep *c, ts_val cond)
{
    ts_val bit = ts_op2(&c->b, TS_OP_shli, warp_i32(c, 1), lock_lane(c), 0);
    cond = lock_and(c, c->mask, cond);
    bit = cond ? ts_select(&c->b, lock_spread(c, cond), bit, warp_i32(c, 0)) : bit;
    return warp_reduce(c, TS_OP_ori, 0, 0, bit);
}

static ts_val warp_vote(lockstep *c, ts_val v)
{
    ts_val cond = lock_opnd_tile(c, v, 0);
    switch (TS_S_KIND(ts_at(c->fn, v)->aux)) {
    case TS_VOTE_ANY:
        return warp_reduce(c, TS_OP_ori, 0, 0, lock_and(c, c->mask, cond));
    case TS_VOTE_ALL:
        return warp_reduce(c, TS_OP_andi, 0, 1,
                           c->mask ? ts_op2(&c->b, TS_OP_ori, lock_not(c, c->mask), cond, 0) : cond);
    default:
        return warp_ballot(c, cond);
    }
}

static ts_val warp_redux(lockstep *c, ts_val v)
{
    static const struct {
        uint16_t op;
        uint32_t attr, identity;
    } rows[] = {
        [TS_RMW_AND] = {TS_OP_andi, 0, UINT32_MAX},       [TS_RMW_OR] = {TS_OP_ori, 0, 0},
        [TS_RMW_XOR] = {TS_OP_xori, 0, 0},                [TS_RMW_ADD] = {TS_OP_addi, 0, 0},
        [TS_RMW_MAX] = {TS_OP_maxi, 0, 0x80000000u},      [TS_RMW_MIN] = {TS_OP_mini, 0, 0x7FFFFFFF},
        [TS_RMW_UMAX] = {TS_OP_maxi, TS_A_UNSIGNED, 0},   [TS_RMW_UMIN] = {TS_OP_mini, TS_A_UNSIGNED, UINT32_MAX},
    };
    uint32_t kind = TS_S_KIND(ts_at(c->fn, v)->aux);
    ts_val x = lock_opnd_tile(c, v, 0);
    int64_t identity = (int32_t)rows[kind].identity;
    if (c->mask)
        x = ts_select(&c->b, c->mask, x, ts_int(&c->b, ts_type_of(c->b.fn, x), identity));
    return warp_reduce(c, (ts_op)rows[kind].op, rows[kind].attr, (uint64_t)identity, x);
}

/* The lowest thread that is here. */
static ts_val warp_elect(lockstep *c)
{
    ts_val lane = lock_lane(c), x = c->mask ? ts_select(&c->b, c->mask, lane, warp_i32(c, LOCK_WARP)) : lane;
    x = lock_spread(c, warp_reduce(c, TS_OP_mini, 0, INT32_MAX, x));
    return ts_cmp(&c->b, TS_OP_cmpi, TS_EQ, lane, x, 0);
}

/* ---- exchanges --------------------------------------------------------------------------------------------- */

/* Memory with an element for each thread of the tile, and the value in it. */
static ts_val warp_put(lockstep *c, ts_val x)
{
    ts_val at = lock_scratch(c, ts_type_elem(c->m, ts_type_of(c->b.fn, x)));
    ts_val number = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    lock_store(c, lock_offset(c, at, number), x, 0, 0);
    return at;
}

/* What the thread `lane` (0 to 31) of the same warp has put there. */
static ts_val warp_get(lockstep *c, ts_val at, ts_val lane)
{
    ts_val number = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    ts_val warp = ts_op2(&c->b, TS_OP_andi, number, warp_i32(c, ~(int64_t)(LOCK_WARP - 1)), 0);
    ts_val from = c->width == LOCK_WARP ? lock_spread(c, lane)
                                        : ts_op2(&c->b, TS_OP_ori, warp, lock_spread(c, lane), 0);
    return lock_load(c, lock_offset(c, at, from), 0, 0, 0);
}

/* The lane that each thread reads where it is *inside, else its own; `word`: clamp in bits 0-4, mask of segments in
 * bits 8-12. */
static ts_val warp_source(lockstep *c, uint32_t kind, ts_val b, uint32_t word, ts_val *inside)
{
    uint32_t clamp = word & 31, mask = word >> 8 & 31;
    ts_val lane = lock_lane(c), low = warp_const(c, TS_OP_andi, lane, mask, 0);
    ts_val high = warp_const(c, TS_OP_ori, low, clamp & ~mask, 0), from;
    b = warp_const(c, TS_OP_andi, b, kind == TS_SHFL_IDX ? 31 & ~mask : 31, 0);
    if (kind == TS_SHFL_UP)
        from = ts_op2(&c->b, TS_OP_subi, lane, b, 0);
    else
        from = ts_op2(&c->b, kind == TS_SHFL_DOWN ? TS_OP_addi : kind == TS_SHFL_BFLY ? TS_OP_xori : TS_OP_ori,
                      kind == TS_SHFL_IDX ? low : lane, b, 0);
    *inside = ts_cmp(&c->b, TS_OP_cmpi, kind == TS_SHFL_UP ? TS_GE : TS_LE, from, high, 0);
    return from;
}

ts_val lock_of_lane(lockstep *c, ts_val x, ts_val lane)
{
    return warp_get(c, warp_put(c, x), lane);
}

/* All lanes read as far away as this scalar says: neighbours, in the midst of memory for three warps. */
static ts_val warp_shift(lockstep *c, ts_val x, ts_val by, bool up)
{
    ts_val number = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    ts_val width = warp_scalar(c, LOCK_WARP);
    ts_val at = lock_memory_of(c, ts_type_elem(c->m, ts_type_of(c->b.fn, x)), 3 * LOCK_WARP);
    by = ts_op2(&c->b, TS_OP_andi, by, warp_scalar(c, LOCK_WARP - 1), 0);
    ts_val from = ts_op2(&c->b, up ? TS_OP_subi : TS_OP_addi, width, by, 0);
    lock_store(c, lock_offset(c, at, ts_op2(&c->b, TS_OP_addi, number, lock_spread(c, width), 0)), x, 0, 0);
    return lock_load(c, lock_offset(c, at, ts_op2(&c->b, TS_OP_addi, number, lock_spread(c, from), 0)), 0, 0, 0);
}

/* Each thread with its partner at this distance, a power of two: the halves of each group change places. */
static ts_val warp_swap(lockstep *c, ts_val x, int64_t distance)
{
    int64_t whole[] = {c->width / (2 * distance), 2, distance}, half[] = {whole[0], 1, distance};
    ts_type tile = ts_type_of(c->b.fn, x), elem = ts_type_elem(c->m, tile), part = ts_type_tile(c->m, elem, 3, half);
    ts_type groups = ts_type_tile(c->m, elem, 3, whole);
    ts_val zero = ts_int(&c->b, TS_T_i32, 0), one = ts_int(&c->b, TS_T_i32, 1), side[2];
    x = ts_reshape(&c->b, x, groups);
    side[0] = ts_emit(&c->b, TS_OP_extract, part, 4, (ts_val[]){x, zero, one, zero}, 0, 0);
    side[1] = ts_emit(&c->b, TS_OP_extract, part, 4, (ts_val[]){x, zero, zero, zero}, 0, 0);
    return ts_reshape(&c->b, ts_emit(&c->b, TS_OP_cat, groups, 2, side, 1, 0), tile);
}

static ts_val warp_shfl(lockstep *c, ts_val v)
{
    uint32_t aux = ts_at(c->fn, v)->aux;
    int64_t by;
    if (TS_S_KIND(aux) == TS_SHFL_BFLY && TS_S_NUMBER(aux) == 31 &&
        ts__const_as_int(c->fn, ts_opnd(c->fn, v, 1), &by) &&
        by > 0 && by < LOCK_WARP && ts_is_pow2(by))
        return warp_swap(c, lock_opnd_tile(c, v, 0), by);
    if (!c->is.vary[ts_opnd(c->fn, v, 0)])
        return lock_opnd(c, v, 0);
    uint32_t kind = TS_S_KIND(aux);
    ts_val inside, from = warp_source(c, kind, lock_opnd_tile(c, v, 1), TS_S_NUMBER(aux), &inside);
    if ((kind == TS_SHFL_UP || kind == TS_SHFL_DOWN) && c->width == LOCK_WARP && !c->is.vary[ts_opnd(c->fn, v, 1)]) {
        ts_val x = lock_opnd_tile(c, v, 0);
        return ts_select(&c->b, inside, warp_shift(c, x, lock_opnd(c, v, 1), kind == TS_SHFL_UP), x);
    }
    from = ts_select(&c->b, inside, warp_const(c, TS_OP_andi, from, 31, 0), lock_lane(c));
    return warp_get(c, warp_put(c, lock_opnd_tile(c, v, 0)), from);
}

/* 32 comparisons, with each thread of the warp in turn. */
static ts_val warp_match(lockstep *c, ts_val v)
{
    ts_val x = lock_opnd_tile(c, v, 0), at = warp_put(c, x), none = warp_i32(c, 0);
    ts_val here = c->mask ? warp_put(c, ts_cast(&c->b, TS_OP_exti, c->mask, TS_T_i32, TS_A_UNSIGNED)) : 0;
    ts_val zero = ts_int(&c->b, TS_T_i32, 0), one = ts_int(&c->b, TS_T_i32, 1);
    ts_val opener = ts_for_begin(&c->b, zero, ts_int(&c->b, TS_T_i32, LOCK_WARP), one, 1, &none, 0);
    ts_val j = ts_region_arg(c->b.fn, opener, 0), sum = ts_region_arg(c->b.fn, opener, 1);
    ts_val same = ts_cmp(&c->b, TS_OP_cmpi, TS_EQ, warp_get(c, at, j), x, 0);
    if (here)
        same = lock_and(c, same, ts_cmp(&c->b, TS_OP_cmpi, TS_NE, warp_get(c, here, j), none, 0));
    ts_val bit = lock_spread(c, ts_op2(&c->b, TS_OP_shli, one, j, 0));
    sum = ts_op2(&c->b, TS_OP_ori, sum, ts_select(&c->b, same, bit, none), 0);
    ts_term(&c->b, TS_OP_continue, 1, &sum);
    ts_end_like(&c->b, opener);
    return ts_res(&c->b, opener, 0);
}

/* ---- bits ---------------------------------------------------------------------------------------------------- */

/* (x >> by) & mask op (x & mask) << by */
static ts_val warp_fold(lockstep *c, ts_val x, uint64_t mask, int64_t by, bool swaps)
{
    ts_val high = warp_const(c, TS_OP_andi, warp_const(c, TS_OP_shri, x, by, TS_A_UNSIGNED), (int64_t)mask, 0);
    ts_val low = warp_const(c, TS_OP_andi, x, (int64_t)mask, 0);
    return swaps ? ts_op2(&c->b, TS_OP_ori, high, warp_const(c, TS_OP_shli, low, by, 0), 0)
                 : ts_op2(&c->b, TS_OP_addi, high, low, 0);
}

static const uint64_t warp_masks[] = {0x5555555555555555u, 0x3333333333333333u, 0x0F0F0F0F0F0F0F0Fu,
                                      0x00FF00FF00FF00FFu, 0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu};

static ts_val warp_to_i32(lockstep *c, ts_val x)
{
    return ts_type_elem(c->m, ts_type_of(c->b.fn, x)) == TS_T_i32 ? x : ts_cast(&c->b, TS_OP_trunci, x, TS_T_i32, 0);
}

static uint32_t warp_bits(const lockstep *c, ts_val x)
{
    return ts_type_bits(c->m, ts_type_elem(c->m, ts_type_of(c->b.fn, x)));
}

static ts_val warp_popc(lockstep *c, ts_val x)
{
    uint32_t bits = warp_bits(c, x);
    for (uint32_t i = 0; 1u << i < bits; i++)
        x = warp_fold(c, x, warp_masks[i], 1 << i, false);
    return warp_to_i32(c, x);
}

static ts_val warp_brev(lockstep *c, ts_val x)
{
    uint32_t bits = warp_bits(c, x);
    for (uint32_t i = 0; 1u << i < bits; i++)
        x = warp_fold(c, x, warp_masks[i], 1 << i, true);
    return x;
}

/* The highest 1 is spread to all bits below; the zeros that are left are counted. */
static ts_val warp_clz(lockstep *c, ts_val x)
{
    uint32_t bits = warp_bits(c, x);
    for (int64_t i = 1; i < bits; i *= 2)
        x = ts_op2(&c->b, TS_OP_ori, x, warp_const(c, TS_OP_shri, x, i, TS_A_UNSIGNED), 0);
    return warp_popc(c, warp_const(c, TS_OP_xori, x, -1, 0));
}

static ts_type warp_int(uint32_t bits)
{
    return bits == 8 ? TS_T_i8 : bits == 16 ? TS_T_i16 : bits == 32 ? TS_T_i32 : TS_T_i64;
}

static ts_val warp_as(lockstep *c, ts_val x, ts_type elem)
{
    return ts_type_elem(c->m, ts_type_of(c->b.fn, x)) == elem ? x : ts_cast(&c->b, TS_OP_bitcast, x, elem, 0);
}

ts_val lock_join(lockstep *c, ts_val low, ts_val high, ts_type to)
{
    uint32_t bits = warp_bits(c, low);
    ts_type wide = warp_int(2 * bits);
    low = ts_cast(&c->b, TS_OP_exti, warp_as(c, low, warp_int(bits)), wide, TS_A_UNSIGNED);
    high = ts_cast(&c->b, TS_OP_exti, warp_as(c, high, warp_int(bits)), wide, TS_A_UNSIGNED);
    high = warp_const(c, TS_OP_shli, high, bits, 0);
    return warp_as(c, ts_op2(&c->b, TS_OP_ori, low, high, 0), to);
}

static void warp_unpack2(lockstep *c, ts_val v, bool tile)
{
    ts_type half = ts_type_of(c->fn, v + 1);
    uint32_t bits = ts_type_bits(c->m, half);
    ts_val x = warp_as(c, lock_value(c, ts_opnd(c->fn, v, 0), tile), warp_int(2 * bits));
    for (uint32_t i = 0; i < lock_n_results(c, v); i++) {
        ts_val part = i ? warp_const(c, TS_OP_shri, x, bits, TS_A_UNSIGNED) : x;
        c->map[v + 1 + i] = warp_as(c, ts_cast(&c->b, TS_OP_trunci, part, warp_int(bits), 0), half);
    }
}

static ts_val warp_cvt_pack(lockstep *c, ts_val v, bool tile)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_type elem = TS_A_GET_ELEM(inst->aux);
    uint32_t attr = inst->aux & 0xFFFF;
    ts_val x[2];
    for (uint32_t i = 0; i < 2; i++)
        x[i] = ts_cast(&c->b, TS_OP_ftof, lock_value(c, ts_opnd(c->fn, v, i), tile), elem, attr);
    return lock_join(c, x[0], x[1], inst->type);
}

/* Byte by byte. */
static ts_val warp_prmt(lockstep *c, ts_val v, bool tile)
{
    uint32_t selector = TS_S_NUMBER(ts_at(c->fn, v)->aux);
    ts_val x[2] = {lock_value(c, ts_opnd(c->fn, v, 0), tile), lock_value(c, ts_opnd(c->fn, v, 1), tile)}, out = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = selector >> 4 * i & 15;
        ts_val byte = warp_const(c, TS_OP_shri, x[nibble >> 2 & 1], 8 * (nibble & 3), TS_A_UNSIGNED);
        if (nibble & 8) /* its sign, eight times */
            byte = warp_const(c, TS_OP_shri, warp_const(c, TS_OP_shli, byte, 24, 0), 31, 0);
        byte = warp_const(c, TS_OP_shli, warp_const(c, TS_OP_andi, byte, 255, 0), 8 * i, 0);
        out = out ? ts_op2(&c->b, TS_OP_ori, out, byte, 0) : byte;
    }
    return out;
}

static ts_val warp_mul_wide(lockstep *c, ts_val v, bool tile)
{
    uint32_t sign = ts_at(c->fn, v)->aux & TS_A_UNSIGNED;
    ts_val x[2];
    for (uint32_t i = 0; i < 2; i++)
        x[i] = ts_cast(&c->b, TS_OP_exti, lock_value(c, ts_opnd(c->fn, v, i), tile),
                       ts_type_elem(c->m, ts_at(c->fn, v)->type), sign);
    return ts_op2(&c->b, TS_OP_muli, x[0], x[1], 0);
}

/* ---- effects ----------------------------------------------------------------------------------------------------- */

ts_val lock_element(lockstep *c, ts_val x, ts_val at)
{
    static const int64_t one = 1;
    ts_type elem = ts_type_elem(c->m, ts_type_of(c->b.fn, x)), part = ts_type_tile(c->m, elem, 1, &one);
    if (ts_type_kind(c->m, elem) == TS_KIND_PTR) /* as a number: pointers are not taken out of tiles */
        return ts_cast(&c->b, TS_OP_int_to_ptr, lock_element(c, ts_cast(&c->b, TS_OP_ptr_to_int, x, TS_T_i64, 0), at),
                       elem, 0);
    return ts_reshape(&c->b, ts_emit(&c->b, TS_OP_extract, part, 2, (ts_val[]){x, at}, 0, 0), elem);
}

ts_val lock_each_begin(lockstep *c, ts_val mask, ts_val *at, ts_val *branch)
{
    ts_val zero = ts_int(&c->b, TS_T_i32, 0), one = ts_int(&c->b, TS_T_i32, 1);
    ts_val last = ts_int(&c->b, TS_T_i32, TS_MIN(c->width, (int64_t)c->n_threads));
    mask = mask ? lock_spread(c, mask) : 0;
    ts_val opener = ts_for_begin(&c->b, zero, last, one, 0, NULL, 0);
    *at = ts_region_arg(c->b.fn, opener, 0);
    *branch = mask ? ts_if_begin(&c->b, lock_element(c, mask, *at)) : 0;
    return opener;
}

void lock_each_end(lockstep *c, ts_val opener, ts_val branch)
{
    if (branch)
        ts_if_end(&c->b, branch);
    ts_term(&c->b, TS_OP_continue, 0, NULL);
    ts_end(&c->b, opener, 0, NULL);
}

enum { WARP_PRINTED = 32 };

/* Thread after thread. */
static void warp_printf(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val x[WARP_PRINTED + 1], branch, j;
    if (inst->n_opnd > WARP_PRINTED) {
        lock_fail(c, v, TS_UNSUPPORTED, "a print of %u values; the limit is %d: print them in several calls",
                  inst->n_opnd, WARP_PRINTED);
        return;
    }
    ts_val opener = lock_each_begin(c, c->mask, &j, &branch);
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        x[i] = lock_opnd(c, v, i);
        x[i] = lock_is_tile(c, x[i]) ? lock_element(c, x[i], j) : x[i];
    }
    ts_emit(&c->b, TS_OP_print_tko, TS_T_token, inst->n_opnd, x, inst->aux, 0);
    lock_each_end(c, opener, branch);
}

/* The first fault wins, so the first thread that is here reports its own. */
static void warp_fault(lockstep *c, ts_val v)
{
    ts_val x[6], opener = 0, branch = 0, at = ts_int(&c->b, TS_T_i32, 0);
    if (c->mask)
        opener = lock_each_begin(c, c->mask, &at, &branch);
    for (uint32_t i = 0; i < TS_COUNT(x); i++) {
        x[i] = lock_opnd(c, v, i);
        x[i] = lock_is_tile(c, x[i]) ? lock_element(c, x[i], at) : x[i];
    }
    ts_emit(&c->b, TS_OP_fault, TS_T_none, TS_COUNT(x), x, ts_at(c->fn, v)->aux, 0);
    if (opener)
        lock_each_end(c, opener, branch);
}

static void warp_trap(lockstep *c)
{
    static const char text[] = "trap (debug=True tells the reason)";
    ts_val cond = c->mask ? lock_not(c, c->mask) : ts_bits(&c->b, TS_T_i1, 0);
    ts_emit(&c->b, TS_OP_assert, TS_T_none, 1, &cond, ts_intern(c->m, text, sizeof text - 1), 0);
}

static void warp_fence(lockstep *c)
{
    ts_val token = ts_emit(&c->b, TS_OP_make_token, TS_T_token, 0, NULL, 0, 0);
    ts_emit(&c->b, TS_OP_memory_fence_alias_tko, TS_T_token, 1, &token, 0, 0);
}

static ts_val warp_value(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool tile = c->is.vary[v];
    switch ((int)inst->op) {
    case TS_OP_vote:
        return warp_vote(c, v);
    case TS_OP_redux:
        return warp_redux(c, v);
    case TS_OP_elect:
        return warp_elect(c);
    case TS_OP_match:
        return warp_match(c, v);
    case TS_OP_shfl:
        return warp_shfl(c, v);
    case TS_OP_mul_wide:
        return warp_mul_wide(c, v, tile);
    case TS_OP_cvt_pack:
        return warp_cvt_pack(c, v, tile);
    case TS_OP_pack2:
        return lock_join(c, lock_value(c, inst->opnd[0], tile), lock_value(c, inst->opnd[1], tile), inst->type);
    case TS_OP_prmt:
        return warp_prmt(c, v, tile);
    case TS_OP_popc:
        return warp_popc(c, lock_value(c, inst->opnd[0], tile));
    case TS_OP_clz:
        return warp_clz(c, lock_value(c, inst->opnd[0], tile));
    case TS_OP_brev:
        return warp_brev(c, lock_value(c, inst->opnd[0], tile));
    default:
        return 0;
    }
}

/* All threads of the block come here at once, or those that come first would wait for what the others have yet to do.
 * */
static void warp_wait(lockstep *c, ts_val v)
{
    bool together = true;
    for (ts_val at = c->shape.parent[v]; at; at = c->shape.parent[at]) {
        const ts_inst *inst = ts_at(c->fn, at);
        together &= inst->op == TS_OP_if ? !c->is.vary[inst->opnd[0]] : !lock_turns_part(c, at);
    }
    if (!together)
        lock_fail(c, v, TS_UNSUPPORTED, "threads wait for an mbarrier where not all of the block come; on the CPU all "
                  "threads of a block wait together: move the wait out of the branch, or launch the kernel on a GPU");
}

bool lock_warp(lockstep *c, ts_val v)
{
    switch ((int)ts_at(c->fn, v)->op) {
    case TS_OP_bar_sync:
    case TS_OP_cluster_arrive:
    case TS_OP_cluster_wait:
    case TS_OP_warp_sync:
    case TS_OP_nanosleep:
    case TS_OP_gdc_wait:
    case TS_OP_gdc_launch_dependents:
    case TS_OP_wgmma_fence:
    case TS_OP_wgmma_commit:
    case TS_OP_wgmma_wait:
    case TS_OP_mbar_init:
    case TS_OP_mbar_inval:
    case TS_OP_mbar_arrive:
    case TS_OP_mbar_expect:
        return true;
    case TS_OP_mbar_wait:
        warp_wait(c, v);
        return true;
    case TS_OP_grid_sync:
        lock_grid_sync(c, v);
        return true;
    case TS_OP_fence:
        warp_fence(c);
        return true;
    case TS_OP_trap:
        warp_trap(c);
        return true;
    case TS_OP_fault:
        warp_fault(c, v);
        return true;
    case TS_OP_printf:
        warp_printf(c, v);
        return true;
    case TS_OP_unpack2:
        warp_unpack2(c, v, c->is.vary[v]);
        return true;
    default:
        c->map[v] = warp_value(c, v);
        return c->map[v] != 0;
    }
}
