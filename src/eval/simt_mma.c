/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at thread level: tensor-core instructions. Fragments follow mma.def; a product is summed
 * as mmaf is (eval.h): from the accumulator on, k ascending, one fma each, so that a lowering that takes k
 * blocks in ascending order gives the same bits as tile level.
 *
 * wgmma reads shared memory when it is issued. Until wgmma_wait retires its group its results are marked
 * as in flight, and writing the bytes it read is an error. Each warp of a warpgroup computes its own 16
 * rows, so warps need not meet.
 */
#include "eval/simt.h"
#include "ir/float.h"
#include "ir/mma.h"
#include <math.h>

enum { MMA_MAX_N = 256, MMA_MAX_K = 32 };

/* A 16 x k, B k x n, C 16 x n of one warp, unpacked. */
typedef struct mma_tiles {
    double a[16][MMA_MAX_K], b[MMA_MAX_K][MMA_MAX_N];
    uint64_t c[16][MMA_MAX_N];
    uint32_t n, k;
} mma_tiles;

/* ---- fragments ----------------------------------------------------------------------------------------- */

/* Element `slot` of registers that hold several elements each, low part first. */
static uint64_t mma_slot(const simt_warp *w, ts_val v, uint32_t first, uint32_t bits, uint32_t lane, uint32_t slot)
{
    uint32_t per = bits < 32 ? 32 / bits : 1;
    uint64_t reg = simt_opnd(w, v, first + slot / per)[lane];
    return bits < 32 ? reg >> (slot % per * bits) & (((uint64_t)1 << bits) - 1) : reg;
}

/* The value of an input element; integers by the sign that the flag says. */
static double mma_value(ts_type type, uint64_t bits, bool is_unsigned)
{
    if (ts__float_format_of(type))
        return ts__float_to_f64(type, bits);
    return is_unsigned ? (double)(bits & 255) : (double)(int8_t)bits;
}

static void mma_take(const simt_warp *w, ts_val v, ts_mma_operand which, uint32_t first, const ts_mma_row *row,
                     mma_tiles *t)
{
    ts_type type = row->type[which];
    uint32_t bits = ts__scalar_bits(type), per = bits < 32 ? 32 / bits : 1;
    uint32_t slots = row->regs[which] * per,
             flags = TS_MMA_FLAGS(ts_at(simt_fn_of(w), v)->aux);
    bool is_unsigned = flags & (which == TS_MMA_A ? TS_MMA_U_A : TS_MMA_U_B);
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t i, j;
            ts__mma_place(which, bits, lane, slot, &i, &j);
            double x = mma_value(type, mma_slot(w, v, first, bits, lane, slot), is_unsigned);
            *(which == TS_MMA_A ? &t->a[i][j] : &t->b[i][j]) = x;
        }
}

/* ---- the product ----------------------------------------------------------------------------------------- */

static uint64_t mma_sum(const mma_tiles *t, ts_type acc, uint32_t i, uint32_t j)
{
    if (acc == TS_T_i32) {
        uint64_t sum = t->c[i][j];
        for (uint32_t k = 0; k < t->k; k++)
            sum += (uint64_t)(int64_t)(t->a[i][k] * t->b[k][j]);
        return ts__scalar_wrap(acc, sum);
    }
    if (acc == TS_T_f64) {
        double sum = ts_f64_of_bits(t->c[i][j]);
        for (uint32_t k = 0; k < t->k; k++)
            sum = fma(t->a[i][k], t->b[k][j], sum);
        return isnan(sum) ? ts__float_nan(acc) : ts_bits_of_f64(sum);
    }
    float sum = (float)ts__float_to_f64(acc, t->c[i][j]);
    for (uint32_t k = 0; k < t->k; k++)
        sum = fmaf((float)t->a[i][k], (float)t->b[k][j], sum);
    return ts__float_from_f64(acc, sum, TS_RN);
}

/* Accumulators of `n_regs` registers from operand 0 on (or `first`), `per` elements each. */
typedef struct mma_acc {
    ts_type type;
    uint32_t first, n_regs, per;
} mma_acc;

static void mma_take_acc(const simt_warp *w, ts_val v, const mma_acc *acc, mma_tiles *t)
{
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
        for (uint32_t slot = 0; slot < acc->n_regs * acc->per; slot++) {
            uint32_t i, j;
            ts__mma_place(TS_MMA_C, 32, lane, slot, &i, &j);
            t->c[i][j] = mma_slot(w, v, acc->first, acc->per == 2 ? 16 : 32, lane, slot);
        }
}

static void mma_give(const simt_warp *w, ts_val v, const mma_acc *acc, const mma_tiles *t)
{
    for (uint32_t r = 0; r < acc->n_regs; r++) {
        uint64_t *out = simt_result(w, v, r);
        for (uint32_t lane = 0; lane < SIMT_LANES && out; lane++) {
            uint64_t bits = 0;
            for (uint32_t part = 0; part < acc->per; part++) {
                uint32_t i, j;
                ts__mma_place(TS_MMA_C, 32, lane, r * acc->per + part, &i, &j);
                bits |= mma_sum(t, acc->type, i, j) << (16 * part);
            }
            out[lane] = acc->per == 2 ? ts__scalar_wrap(TS_T_i32, bits) : bits;
        }
    }
}

/* The machine's one set of tiles, with C zero. */
static ts_status mma_make(const simt_warp *w, uint32_t n, uint32_t k, mma_tiles **out)
{
    simt_machine *machine = w->cta->machine;
    if (!machine->mma_tiles)
        machine->mma_tiles = ts__arena_get(&machine->run.arena, sizeof(mma_tiles));
    mma_tiles *t = *out = machine->mma_tiles;
    if (!t)
        return simt_nomem(w);
    memset(t->c, 0, sizeof t->c);
    t->n = n;
    t->k = k;
    return TS_OK;
}

ts_status simt_mma_sync(simt_warp *w, ts_val v)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    TS_TRY(simt_converged(w, v));
    if (TS_MMA_ROW(inst->aux) >= TS_MMA_COUNT)
        return eval_fail(simt_run(w), v, TS_VERIFY, "no such row of mma.def");
    const ts_mma_row *row = &ts__mma_rows[TS_MMA_ROW(inst->aux)];
    if (row->n == 0 || inst->n_opnd != row->regs[TS_MMA_A] + row->regs[TS_MMA_B] + row->regs[TS_MMA_C])
        return eval_fail(simt_run(w), v, TS_VERIFY, "%u registers do not fit this row of mma.def", inst->n_opnd);
    mma_tiles *t;
    TS_TRY(mma_make(w, row->n, row->k, &t));
    mma_acc acc = {row->type[TS_MMA_C], row->regs[TS_MMA_A] + row->regs[TS_MMA_B], row->regs[TS_MMA_C], 1};
    mma_take(w, v, TS_MMA_A, 0, row, t);
    mma_take(w, v, TS_MMA_B, row->regs[TS_MMA_A], row, t);
    mma_take_acc(w, v, &acc, t);
    mma_give(w, v, &acc, t);
    return TS_OK;
}

/* ---- wgmma ------------------------------------------------------------------------------------------------ */

/* A shared memory matrix descriptor, decoded. */
typedef struct mma_desc {
    uint32_t start, lbo, sbo, swizzle; /* bytes; swizzle span 0, 32, 64, 128 */
    bool mn_major;
    uint32_t elem_bytes;
} mma_desc;

static ts_status mma_decode(simt_warp *w, ts_val v, uint64_t bits, bool mn_major, uint32_t elem_bytes, mma_desc *d)
{
    static const uint32_t spans[] = {0, 128, 64, 32};
    *d = (mma_desc){.start = (uint32_t)(bits & 0x3FFF) << 4, .lbo = (uint32_t)(bits >> 16 & 0x3FFF) << 4,
                    .sbo = (uint32_t)(bits >> 32 & 0x3FFF) << 4, .swizzle = spans[bits >> 62],
                    .mn_major = mn_major, .elem_bytes = elem_bytes};
    if (bits >> 49 & 7)
        return eval_fail(simt_run(w), v, TS_LAUNCH,
                         "descriptor 0x%llx has a base offset; it must be 0",
                         (unsigned long long)bits);
    if (mn_major && elem_bytes != 2)
        return eval_fail(simt_run(w), v, TS_LAUNCH, "only 16-bit operands may be MN-major");
    return TS_OK;
}

/* Shared address of element (mn, k) of the operand. */
static uint32_t mma_address(const mma_desc *d, uint32_t mn, uint32_t k)
{
    static const uint8_t mode[] = {0, 1, 2, 0, 3}; /* span / 32 -> mode of simt_swizzle */
    uint32_t at;
    if (d->swizzle == 0) { /* 8 rows of 16 bytes, 128 contiguous bytes */
        uint32_t byte = (d->mn_major ? mn : k) * d->elem_bytes, row = d->mn_major ? k : mn;
        at = row / 8 * (d->mn_major ? d->lbo : d->sbo) + row % 8 * 16 +
             byte / 16 * (d->mn_major ? d->sbo : d->lbo) + byte % 16;
    } else if (d->mn_major) {
        uint32_t byte = mn * d->elem_bytes;
        at = byte / d->swizzle * d->lbo + k / 8 * d->sbo + k % 8 * d->swizzle + byte % d->swizzle;
    } else {
        at = mn / 8 * d->sbo + mn % 8 * d->swizzle + k * d->elem_bytes;
    }
    return simt_swizzle(d->start + at, mode[d->swizzle / 32]);
}

/* Reads `count` rows (first.. of M or N) and k columns through a descriptor and notes the bytes read. */
static ts_status mma_gather(simt_warp *w, ts_val v, const mma_desc *d, ts_mma_operand which,
                            const ts_mma_row *row, mma_tiles *t)
{
    uint32_t first = which == TS_MMA_A ? 16 * (w->index % 4) : 0, count = which == TS_MMA_A ? 16 : t->n;
    ts_type type = row->type[which];
    bool is_unsigned = TS_MMA_FLAGS(ts_at(simt_fn_of(w), v)->aux) & (which == TS_MMA_A ? TS_MMA_U_A : TS_MMA_U_B);
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < t->k; k++) {
            simt_place place;
            uint64_t rank = (uint64_t)w->cta->rank << SIMT_RANK_SHIFT;
            TS_TRY(simt_smem(w, v, mma_address(d, first + i, k) | rank, d->elem_bytes, SIMT_ASYNC_READ, &place));
            low = TS_MIN(low, place.offset);
            high = TS_MAX(high, place.offset + d->elem_bytes);
            double x = mma_value(type, ts__scalar_read(simt_bytes(&place), d->elem_bytes * 8, 0), is_unsigned);
            *(which == TS_MMA_A ? &t->a[i][k] : &t->b[k][i]) = x;
        }
    simt_reading reading = {w->cta->rank, low, high, 0, w->mma_open, v};
    return TS_PUSH(&w->cta->machine->arena, &w->mma_read, reading) ? TS_OK : simt_nomem(w);
}

static ts_status mma_uniform(simt_warp *w, ts_val v, uint32_t i, uint64_t *value)
{
    const uint64_t *x = simt_opnd(w, v, i);
    *value = x[__builtin_ctz(w->active)];
    for (uint32_t m = w->active; m;)
        if (x[simt_next(&m)] != *value)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "operand %u is not the same in all lanes of warp %u", i, w->index);
    return TS_OK;
}

/* How the operands of a wgmma lie: accumulators, A (descriptor or 4 registers), B, scale-d. */
static ts_status mma_layout(simt_warp *w, ts_val v, const ts_mma_row **row, mma_acc *acc, uint32_t *n)
{
    const ts_inst *inst = ts_at(simt_fn_of(w), v);
    if (TS_MMA_ROW(inst->aux) >= TS_MMA_COUNT)
        return eval_fail(simt_run(w), v, TS_VERIFY, "no such row of mma.def");
    *row = &ts__mma_rows[TS_MMA_ROW(inst->aux)];
    *n = TS_MMA_N(inst->aux);
    uint32_t others = (TS_MMA_FLAGS(inst->aux) & TS_MMA_A_REGS ? 4 : 1) + 2;
    *acc = (mma_acc){(*row)->type[TS_MMA_C], 0, inst->n_opnd - others, 1};
    if ((*row)->type[TS_MMA_C] == TS_T_f16 && acc->n_regs == *n / 4)
        acc->per = 2;
    if ((*row)->m != 64 || *n % 8 || *n == 0 || *n > MMA_MAX_N || acc->n_regs * acc->per != *n / 2)
        return eval_fail(simt_run(w), v, TS_VERIFY, "N %u with %u accumulator registers", *n, acc->n_regs);
    return TS_OK;
}

static ts_status mma_operands(simt_warp *w, ts_val v, const ts_mma_row *row, const mma_acc *acc, mma_tiles *t)
{
    uint32_t flags = TS_MMA_FLAGS(ts_at(simt_fn_of(w), v)->aux), at = acc->n_regs;
    uint32_t elem_bytes = ts__scalar_bits(row->type[TS_MMA_A]) / 8;
    mma_desc d;
    uint64_t bits;
    if (flags & TS_MMA_A_REGS) {
        mma_take(w, v, TS_MMA_A, at, row, t);
    } else {
        TS_TRY(mma_uniform(w, v, at, &bits));
        TS_TRY(mma_decode(w, v, bits, flags & TS_MMA_TRANS_A, elem_bytes, &d));
        TS_TRY(mma_gather(w, v, &d, TS_MMA_A, row, t));
    }
    at += flags & TS_MMA_A_REGS ? 4 : 1;
    TS_TRY(mma_uniform(w, v, at, &bits));
    TS_TRY(mma_decode(w, v, bits, flags & TS_MMA_TRANS_B, elem_bytes, &d));
    TS_TRY(mma_gather(w, v, &d, TS_MMA_B, row, t));
    TS_TRY(mma_uniform(w, v, at + 1, &bits));
    if (bits & 1) /* scale-d: accumulate; otherwise from zero */
        mma_take_acc(w, v, acc, t);
    return TS_OK;
}

/* A register of A that a wgmma still writes cannot be an input of the next one. */
static ts_status mma_check_inputs(simt_warp *w, ts_val v, uint32_t first)
{
    for (uint32_t i = first; i < ts_at(simt_fn_of(w), v)->n_opnd; i++)
        if (w->flight[ts_opnd(simt_fn_of(w), v, i)] > w->mma_retired)
            return eval_fail(simt_run(w), v, TS_LAUNCH,
                             "warp %u: operand %u is still being written by a wgmma", w->index, i);
    return TS_OK;
}

ts_status simt_wgmma(simt_warp *w, ts_val v)
{
    const ts_mma_row *row = NULL;
    mma_acc acc;
    mma_tiles *t;
    uint32_t n = 0;
    TS_TRY(simt_converged(w, v));
    TS_TRY(mma_layout(w, v, &row, &acc, &n));
    TS_TRY(mma_check_inputs(w, v, acc.n_regs));
    TS_TRY(mma_make(w, n, row->k, &t));
    w->mma_used = true;
    TS_TRY(mma_operands(w, v, row, &acc, t));
    mma_give(w, v, &acc, t);
    for (uint32_t r = v + 1; r < simt_fn_of(w)->inst.n && ts_at(simt_fn_of(w), r)->op == TS_OP_res; r++)
        w->flight[r] = w->mma_open;
    return TS_OK;
}

ts_status simt_wgmma_commit(simt_warp *w, ts_val v)
{
    TS_TRY(simt_converged(w, v));
    w->mma_open++;
    return TS_OK;
}

ts_status simt_wgmma_wait(simt_warp *w, ts_val v)
{
    uint32_t allowed = TS_S_NUMBER(ts_at(simt_fn_of(w), v)->aux), kept = 0, committed = w->mma_open - 1;
    TS_TRY(simt_converged(w, v));
    if (committed > allowed)
        w->mma_retired = TS_MAX(w->mma_retired, committed - allowed);
    for (uint32_t i = 0; i < w->mma_read.n; i++)
        if (w->mma_read.at[i].group > w->mma_retired)
            w->mma_read.at[kept++] = w->mma_read.at[i];
    w->mma_read.n = kept;
    return TS_OK;
}
