/* SPDX-License-Identifier: Apache-2.0
 *
 * Inclusive scans along one axis (lower.h). The layout deals the axis out as registers, lanes, registers, warps:
 * each thread scans its runs, lanes add runs by doubling distances, the outer registers ("chunks") of a warp
 * follow one another with a carry, and warps exchange one total each through shared memory. `reverse` walks
 * everything from the other end. Blelloch's and Kogge-Stone's schemes; order fixed by the layout.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"

typedef struct scan_state {
    ts_val v;
    uint32_t n, axis;
    bool reverse;
    const ts_linear *layout;
    uint32_t low[TS_LAYOUT_REGS], high[TS_LAYOUT_REGS], kept[TS_LAYOUT_REGS]; /* register bits */
    uint32_t n_low, n_high, n_kept, lanes, warps; /* lane and warp bits of the axis */
    ts_val identity[TS_COMBINE_INPUTS];
    ts_val *out[TS_COMBINE_INPUTS];                     /* first the runs, then the results */
    ts_val *sum;                                  /* [kept * n + i]: the warp's total */
    ts_val at_first;                              /* i1: no lane of the axis before this one */
} scan_state;

static void scan_bits(scan_state *s)
{
    uint32_t in_threads = 0;
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++) {
        s->lanes += (s->layout->lane[i] & s->axis) != 0;
        in_threads |= s->layout->lane[i] & s->axis;
    }
    for (uint32_t i = 0; i < s->layout->n_warp; i++)
        s->warps += (s->layout->warp[i] & s->axis) != 0;
    for (uint32_t i = 0; i < s->layout->n_reg; i++) {
        uint32_t column = s->layout->reg[i];
        if (column & s->axis && (!in_threads || column < (in_threads & -in_threads)))
            s->low[s->n_low++] = 1u << i;
        else if (column & s->axis)
            s->high[s->n_high++] = 1u << i;
        else if (column)
            s->kept[s->n_kept++] = 1u << i;
    }
}

static uint32_t scan_reg(const scan_state *s, uint32_t kept, uint32_t chunk, uint32_t run)
{
    return ts_xor_of(s->kept, s->n_kept, kept) ^ ts_xor_of(s->high, s->n_high, chunk) ^
           ts_xor_of(s->low, s->n_low, run);
}

static uint32_t scan_step(const scan_state *s, uint32_t i, uint32_t n)
{
    return s->reverse ? n - 1 - i : i;
}

/* The run of one thread. */
static void scan_run(ts_lower *lw, const scan_state *s, uint32_t kept, uint32_t chunk)
{
    uint32_t n = 1u << s->n_low;
    for (uint32_t k = 1; k < n; k++) {
        ts_val acc[TS_COMBINE_INPUTS], x[TS_COMBINE_INPUTS], y[TS_COMBINE_INPUTS];
        uint32_t r = scan_reg(s, kept, chunk, scan_step(s, k, n)),
                 last = scan_reg(s, kept, chunk, scan_step(s, k - 1, n));
        for (uint32_t i = 0; i < s->n; i++) {
            acc[i] = s->out[i][last];
            x[i] = s->out[i][r];
        }
        ts__lower_combine(lw, s->v, acc, x, y);
        for (uint32_t i = 0; i < s->n; i++)
            s->out[i][r] = y[i];
    }
}

/* i1: at least `distance` lanes of the axis come before this one. */
static ts_val scan_has_before(ts_lower *lw, const scan_state *s, uint32_t distance)
{
    ts_val lane = ts_op2(&lw->b, TS_OP_andi, lw->tid, ts__lower_i32(lw, (1 << s->lanes) - 1), 0);
    if (s->reverse)
        return ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, lane, ts__lower_i32(lw, (1 << s->lanes) - distance), 0);
    return ts_cmp(&lw->b, TS_OP_cmpi, TS_GE, lane, ts__lower_i32(lw, distance), 0);
}

static void scan_shift(ts_lower *lw, const scan_state *s, const ts_val *x, uint32_t distance, ts_val *out)
{
    for (uint32_t i = 0; i < s->n; i++)
        out[i] = ts__lower_shuffle(lw, x[i], ts__lower_i32(lw, distance), s->reverse ? TS_SHFL_DOWN : TS_SHFL_UP);
}

/* What the lanes before this one add up to in a chunk, and the whole warp. */
static void scan_lanes(ts_lower *lw, const scan_state *s, uint32_t kept, uint32_t chunk, ts_val *before, ts_val *total)
{
    uint32_t n = 1u << s->n_low;
    ts_val other[TS_COMBINE_INPUTS], both[TS_COMBINE_INPUTS];
    for (uint32_t i = 0; i < s->n; i++)
        total[i] = s->out[i][scan_reg(s, kept, chunk, scan_step(s, n - 1, n))];
    for (uint32_t bit = 0; bit < s->lanes; bit++) {
        scan_shift(lw, s, total, 1u << bit, other);
        ts__lower_combine(lw, s->v, other, total, both);
        ts_val has = scan_has_before(lw, s, 1u << bit);
        for (uint32_t i = 0; i < s->n; i++)
            total[i] = ts_select(&lw->b, has, both[i], total[i]);
    }
    if (!s->lanes)
        return;
    scan_shift(lw, s, total, 1, before);
    uint32_t last = s->reverse ? 0 : (1u << s->lanes) - 1;
    ts_val keep = ts_op2(&lw->b, TS_OP_andi, lw->tid, ts__lower_i32(lw, 31 & ~((1 << s->lanes) - 1)), 0);
    ts_val from = ts_op2(&lw->b, TS_OP_ori, keep, ts__lower_i32(lw, last), 0);
    for (uint32_t i = 0; i < s->n; i++)
        total[i] = ts__lower_shuffle(lw, total[i], from, TS_SHFL_IDX);
}

/* Adds `before` to a thread's run, in the first lane only if `first`. */
static void scan_apply(ts_lower *lw, const scan_state *s, uint32_t kept, uint32_t chunk, const ts_val *before,
                       bool first)
{
    for (uint32_t run = 0; run < 1u << s->n_low; run++) {
        uint32_t r = scan_reg(s, kept, chunk, run);
        ts_val x[TS_COMBINE_INPUTS], next[TS_COMBINE_INPUTS];
        for (uint32_t i = 0; i < s->n; i++)
            x[i] = s->out[i][r];
        ts__lower_combine(lw, s->v, before, x, next);
        for (uint32_t i = 0; i < s->n; i++)
            s->out[i][r] = first ? next[i] : ts_select(&lw->b, s->at_first, x[i], next[i]);
    }
}

/* The part of a tile that a warp has: runs, lanes, chunks with a carry. One chunk at a time, so that few registers
 * beside the elements are in use. */
static void scan_warp(ts_lower *lw, const scan_state *s, uint32_t kept)
{
    uint32_t n_chunks = 1u << s->n_high;
    ts_val *carry = s->sum + kept * s->n;
    bool carries = !s->warps; /* with more warps the identity comes in with those before */
    memcpy(carry, s->identity, s->n * sizeof *carry);
    for (uint32_t k = 0; k < n_chunks; k++, carries = true) {
        uint32_t chunk = scan_step(s, k, n_chunks);
        ts_val before[TS_COMBINE_INPUTS], total[TS_COMBINE_INPUTS], next[TS_COMBINE_INPUTS];
        scan_run(lw, s, kept, chunk);
        scan_lanes(lw, s, kept, chunk, before, total);
        if (s->lanes && carries)
            ts__lower_combine(lw, s->v, carry, before, next);
        for (uint32_t i = 0; i < s->n; i++)
            before[i] = !s->lanes ? carry[i] : carries ? ts_select(&lw->b, s->at_first, carry[i], next[i]) : before[i];
        if (s->lanes || carries)
            scan_apply(lw, s, kept, chunk, before, carries);
        if (carries)
            ts__lower_combine(lw, s->v, carry, total, next);
        memcpy(carry, carries ? next : total, s->n * sizeof *carry);
    }
}

/* Byte offset of this thread's row of warp totals, with or without its own warp's column. */
static ts_val scan_slot(ts_lower *lw, const scan_state *s, bool own, uint32_t bytes)
{
    uint32_t lane[TS_LAYOUT_LANES] = {0}, warp[TS_LAYOUT_WARPS] = {0}, at = s->warps, column = 0;
    for (uint32_t i = s->lanes; i < TS_LAYOUT_LANES; i++)
        lane[i] = bytes << at++;
    for (uint32_t i = 0; i < s->layout->n_warp; i++) {
        if (s->layout->warp[i] & s->axis)
            warp[i] = own ? bytes << column++ : 0;
        else
            warp[i] = bytes << at++;
    }
    return ts__lower_linear(lw, lane, warp);
}

static void scan_put_total(ts_lower *lw, const scan_state *s, uint32_t kept, uint32_t i, ts_val base, uint32_t row)
{
    ts_val x = s->sum[kept * s->n + i];
    uint32_t bytes = ts_type_bits(lw->module, ts__lower_memory_type(lw, ts_type_of(lw->fn, x))) / 8;
    x = ts__lower_to_memory(lw, x);
    ts__lower_st(lw, ts__lower_ptr(lw, base, scan_slot(lw, s, true, bytes), (int64_t)kept * row * bytes), 1, &x,
                TS_CACHE_NONE, 0);
}

static void scan_get_totals(ts_lower *lw, const scan_state *s, uint32_t kept, uint32_t i, ts_val base, uint32_t row,
                            ts_val *out)
{
    ts_type elem = ts_type_of(lw->fn, s->sum[kept * s->n + i]), memory = ts__lower_memory_type(lw, elem);
    uint32_t bytes = ts_type_bits(lw->module, memory) / 8, n = 1u << s->warps, step = TS_MIN(n, 16 / bytes);
    ts_val at = ts__lower_ptr(lw, base, scan_slot(lw, s, false, bytes), (int64_t)kept * row * bytes);
    for (uint32_t w = 0; w < n; w += step)
        ts__lower_ld(lw, memory, ts__lower_ptr(lw, at, 0, w * bytes), step, TS_CACHE_NONE, 0, 0, out + w);
    for (uint32_t w = 0; w < n; w++)
        out[w] = ts__lower_from_memory(lw, out[w], elem);
}

/* Totals of all warps of the axis: totals[(kept * n + i) * 2^warps + w]. */
static ts_val *scan_exchange(ts_lower *lw, const scan_state *s)
{
    uint32_t n_kept = 1u << s->n_kept, n_warps = 1u << s->warps,
             row = 1u << (TS_LAYOUT_LANES - s->lanes + s->layout->n_warp);
    ts_val *totals = TS_NEW_N(lw->arena, ts_val, (size_t)n_kept * s->n * n_warps), base[TS_COMBINE_INPUTS];
    uint32_t bytes = n_kept * s->n * row * 8, region = ts__shared_take(lw, bytes, s->v);
    if (!totals)
        return NULL;
    for (uint32_t i = 0; i < s->n; i++) {
        ts_type memory = ts__lower_memory_type(lw, ts_type_of(lw->fn, s->sum[i]));
        base[i] = ts__shared_pointer(lw, memory, region + i * n_kept * row * 8);
        for (uint32_t kept = 0; kept < n_kept; kept++)
            scan_put_total(lw, s, kept, i, base[i], row);
    }
    ts__lower_barrier(lw);
    for (uint32_t kept = 0; kept < n_kept; kept++)
        for (uint32_t i = 0; i < s->n; i++)
            scan_get_totals(lw, s, kept, i, base[i], row, totals + (kept * s->n + i) * n_warps);
    ts__shared_done(lw, region, bytes);
    return totals;
}

/* What the warps before this one add up to; the identity in the first. */
static void scan_warps(ts_lower *lw, const scan_state *s, uint32_t kept, const ts_val *totals, ts_val *before)
{
    uint32_t n_warps = 1u << s->warps;
    ts_val acc[TS_COMBINE_INPUTS], next[TS_COMBINE_INPUTS], x[TS_COMBINE_INPUTS];
    memcpy(before, s->identity, sizeof acc);
    memcpy(acc, s->identity, sizeof acc);
    ts_val warp = ts_op2(&lw->b, TS_OP_shri, lw->tid, ts__lower_i32(lw, 5), TS_A_UNSIGNED);
    warp = ts_op2(&lw->b, TS_OP_andi, warp, ts__lower_i32(lw, n_warps - 1), 0);
    for (uint32_t k = 0; k + 1 < n_warps; k++) {
        for (uint32_t i = 0; i < s->n; i++)
            x[i] = totals[(kept * s->n + i) * n_warps + scan_step(s, k, n_warps)];
        ts__lower_combine(lw, s->v, acc, x, next);
        memcpy(acc, next, sizeof acc);
        ts_val here = ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, warp, ts__lower_i32(lw, scan_step(s, k + 1, n_warps)), 0);
        for (uint32_t i = 0; i < s->n; i++)
            before[i] = ts_select(&lw->b, here, acc[i], before[i]);
    }
}

static bool scan_prepare(ts_lower *lw, scan_state *s)
{
    const uint32_t *attributes = ts_pool(lw->tile, ts_at(lw->tile, s->v));
    ts_val first = ts_opnd(lw->tile, s->v, 0);
    s->axis = ts_axis_mask(ts__axis_of(lw->module, ts_type_of(lw->tile, first), attributes[0]));
    s->reverse = attributes[1];
    scan_bits(s);
    for (uint32_t i = 0; i < s->n; i++) {
        ts_val x = ts_opnd(lw->tile, s->v, i);
        s->identity[i] = ts_bits(&lw->b, ts__lower_elem(lw, x),
                                 attributes[3 + 2 * i] | (uint64_t)attributes[4 + 2 * i] << 32);
        s->out[i] = ts__lower_regs(lw, s->layout);
        memcpy(s->out[i], ts__lower_get(lw, x, s->layout), sizeof *s->out[i] << s->layout->n_reg);
    }
    s->sum = TS_NEW_N(lw->arena, ts_val, s->n << s->n_kept);
    if (s->lanes) {
        ts_val has = scan_has_before(lw, s, 1);
        s->at_first = ts_op2(&lw->b, TS_OP_xori, has, ts_int(&lw->b, TS_T_i1, 1), 0);
    }
    return s->sum;
}

void ts__lower_scan(ts_lower *lw, ts_val v)
{
    scan_state s = {.v = v, .n = ts_at(lw->tile, v)->n_opnd, .layout = lw->assign.work[v]};
    if (s.n > TS_COMBINE_INPUTS) {
        ts__lower_fail(lw, TS_UNSUPPORTED, v, "a scan of %u tiles at once; at most %d", s.n, TS_COMBINE_INPUTS);
        return;
    }
    if (!scan_prepare(lw, &s))
        return;
    uint32_t n_kept = 1u << s.n_kept, n_chunks = 1u << s.n_high, repeats = ts__lower_repeats(s.layout);
    for (uint32_t kept = 0; kept < n_kept; kept++)
        scan_warp(lw, &s, kept);
    const ts_val *totals = s.warps ? scan_exchange(lw, &s) : NULL;
    for (uint32_t kept = 0; totals && kept < n_kept; kept++) {
        ts_val warps[TS_COMBINE_INPUTS];
        scan_warps(lw, &s, kept, totals, warps);
        for (uint32_t chunk = 0; chunk < n_chunks; chunk++)
            scan_apply(lw, &s, kept, chunk, warps, true);
    }
    for (uint32_t i = 0; i < s.n; i++) {
        for (uint32_t r = 0; r < 1u << s.layout->n_reg; r++)
            s.out[i][r] = s.out[i][r & ~repeats];
        ts__lower_set(lw, lw->shape.end[v] + 1 + i, s.layout, s.out[i]);
    }
}
