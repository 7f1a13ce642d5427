/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products without a tensor-core instruction (lower.h): outer products in registers. Both operands lie in
 * shared memory, where a pipeline or this file has put them; a thread reads what its accumulators need
 * (assign_fma.c) in vectors, one step of k ahead of the multiplications.
 *
 *     for chunk of k:                          a loop only when K is longer than one chunk
 *       load a, b of step 0
 *       for k in chunk:                        written out
 *         load a, b of step k + 1              whole vectors: along k one load serves several steps
 *         c[i, j] = fma(a[i], b[j], c[i, j])
 *
 * Every accumulator adds its products in ascending k, as the interpreter does.
 */
#include "gpu/lower/code.h"
#include "gpu/lower/mma.h"
#include "gpu/lower/strategy.h"

enum { FMA_MAX_CHUNK = 5, FMA_UNROLL = 11 }; /* log2: of k, of multiplications written out */

/* An operand: where it lies, and what of it is in registers. */
typedef struct fma_side {
    mma_source source;
    ts_type elem;
    mma_box box;
    uint32_t k_bit;    /* flat bit of k */
    uint32_t log_vec;  /* elements a load takes, log2: the fragment's first registers */
    bool is_unsigned;
    ts_val *reg;       /* [register of the fragment] in the accumulators' type */
} fma_side;

typedef struct fma_job {
    ts_mma_shape shape;
    const ts_linear *c;
    ts_type type;      /* of the accumulators */
    uint32_t log_chunk;
    fma_side side[2];
    ts_val *acc;
    uint32_t *order;   /* of the multiplications of a step: accumulator registers */
    uint32_t column_mask; /* bits of an accumulator register that say its column */
} fma_job;

/* log2 of the k that are written out: fewer for more accumulators. */
static uint32_t fma_log_chunk(const ts_linear *c, uint32_t log_k)
{
    uint32_t fit = c->n_reg < FMA_UNROLL - 2 ? FMA_UNROLL - c->n_reg : 2;
    return TS_MIN(TS_MIN(fit, (uint32_t)FMA_MAX_CHUNK), log_k);
}

void ts__fma_source(ts_lower *lw, ts_val v, uint32_t side, mma_source *s)
{
    ts_mma_shape shape = ts__mma_shape(lw, v);
    const ts_linear *c = ts__lower_home(lw, v);
    uint32_t k_bit = side ? shape.log_n : 0;
    *s = (mma_source){.x = ts_opnd(lw->tile, v, side), .shared = true};
    s->from = ts__lower_home(lw, s->x);
    s->bytes = TS_MAX(1u, ts_type_bits(lw->module, ts__lower_elem(lw, s->x)) / 8);
    s->size = s->bytes << s->from->bits;
    uint32_t other = side ? 0 : shape.log_k; /* flat bit of n or m */
    bool k_first = s->from->n_reg && s->from->reg[0] == 1u << k_bit && ts__linear_reg_bit(s->from, other) < 0;
    s->fragment = ts__fma_layout_operand(c, &shape, side, k_first, fma_log_chunk(c, shape.log_k));
    ts__move_plan_shared(s->from, &s->fragment, s->bytes, TS_WHOLE_LOAD, &s->move);
}

/* ---- operands ------------------------------------------------------------------------------------------------ */

static ts_val fma_widen(ts_lower *lw, ts_val x, ts_type to, bool is_unsigned)
{
    ts_type from = ts_type_of(lw->fn, x);
    if (from == to)
        return x;
    if (to == TS_T_i32)
        return ts_cast(&lw->b, TS_OP_exti, x, to, is_unsigned ? TS_A_UNSIGNED : 0);
    if (from == TS_T_tf32 && to == TS_T_f32)
        return ts_cast(&lw->b, TS_OP_bitcast, x, to, 0);
    return ts_cast(&lw->b, TS_OP_ftof, x, to, 0);
}

static void fma_side_open(ts_lower *lw, fma_job *job, ts_val v, uint32_t at)
{
    fma_side *side = &job->side[at];
    mma_source *s = &side->source;
    side->elem = ts__lower_elem(lw, s->x);
    side->k_bit = at ? job->shape.log_n : 0;
    side->is_unsigned = ts_at(lw->tile, v)->aux & (at ? TS_A_UNSIGNED_B : TS_A_UNSIGNED);
    side->reg = ts__lower_regs(lw, &s->fragment);
    while (side->log_vec < s->move.vec_load &&
           s->move.offset[ts_log2(s->fragment.reg[side->log_vec])] == 1u << side->log_vec)
        side->log_vec++;
    ts_val base = s->placed ? s->placed : ts__shared_pointer(lw, side->elem, s->at);
    side->box = ts__mma_box(lw, base, &s->fragment, s->move.offset, s->bytes);
}

/* Element offset of chunk number `chunk` of k. */
static ts_val fma_chunk_offset(ts_lower *lw, const fma_job *job, fma_side *side, ts_val chunk)
{
    ts_builder *b = &lw->b;
    ts_val sum = ts__lower_i32(lw, 0);
    for (uint32_t i = 0; i + job->log_chunk < job->shape.log_k; i++) {
        uint32_t bytes = side->source.move.offset[side->k_bit + job->log_chunk + i] * side->source.bytes;
        ts_val bit = ts_op2(b, TS_OP_andi, ts_op2(b, TS_OP_shri, chunk, ts__lower_i32(lw, i), TS_A_UNSIGNED),
                            ts__lower_i32(lw, 1), 0);
        sum = ts_op2(b, TS_OP_xori, sum, ts_op2(b, TS_OP_muli, bit, ts__lower_i32(lw, bytes), 0), 0);
        side->box.taken |= bytes;
    }
    return sum;
}

/* The accumulator register that stands for the column that element `flat` of B belongs to. */
static uint32_t fma_column(const fma_job *job, uint32_t flat)
{
    const ts_mma_shape *s = &job->shape;
    uint32_t n = flat & ((1u << s->log_n) - 1), batch = flat >> (s->log_n + s->log_k);
    return ts__mma_reg(job->c, n | batch << (s->log_n + s->log_m));
}

/* Register `r` is the first of a vector that begins at step `k`, and of B, unless `column` is TS_NO, one whose last
 * column that is. */
static bool fma_begins(const fma_job *job, const fma_side *side, uint32_t r, uint32_t k, uint32_t column)
{
    uint32_t mask = ((1u << job->log_chunk) - 1) << side->k_bit, n = 1u << side->log_vec;
    return r % n == 0 && (ts_lower_fixed(&side->source.fragment, r) & mask) == k << side->k_bit &&
           (column == TS_NO || fma_column(job, ts_lower_fixed(&side->source.fragment, r + n - 1)) == column);
}

/* Loads the vectors that begin at step `k` of the chunk. */
static void fma_load(ts_lower *lw, const fma_job *job, fma_side *side, uint32_t k, uint32_t column)
{
    const ts_linear *fragment = &side->source.fragment;
    uint32_t n = 1u << side->log_vec;
    for (uint32_t r = 0; r < 1u << fragment->n_reg; r += n) {
        ts_val out[16];
        if (!fma_begins(job, side, r, k, column))
            continue;
        ts__lower_ld(lw, side->elem, ts__mma_address(lw, &side->box, ts_lower_fixed(fragment, r)), n, TS_CACHE_NONE, 0,
                    0, out);
        for (uint32_t i = 0; i < n; i++)
            side->reg[r + i] = fma_widen(lw, out[i], job->type, side->is_unsigned);
    }
}

/* The registers that hold the vectors of step 0, in a fixed order. Returns how many. */
static uint32_t fma_first_regs(const fma_job *job, const fma_side *side, uint32_t *regs)
{
    uint32_t found = 0;
    for (uint32_t r = 0; r < 1u << side->source.fragment.n_reg; r++)
        if (fma_begins(job, side, r >> side->log_vec << side->log_vec, 0, TS_NO))
            regs[found++] = r;
    return found;
}

/* ---- the product ----------------------------------------------------------------------------------------------- */

/* The operand register that accumulator register `r` needs in step `k`. */
static ts_val fma_operand(const fma_job *job, const fma_side *side, uint32_t r, uint32_t k)
{
    const ts_mma_shape *s = &job->shape;
    uint32_t flat = ts_lower_fixed(job->c, r), n = flat & ((1u << s->log_n) - 1),
             m = flat >> s->log_n & ((1u << s->log_m) - 1);
    uint32_t batch = flat >> (s->log_n + s->log_m);
    bool is_b = side == &job->side[1];
    flat =
        is_b ? n | k << s->log_n | batch << (s->log_n + s->log_k) : k | m << s->log_k | batch << (s->log_k + s->log_m);
    return side->reg[ts__mma_reg(&side->source.fragment, flat)];
}

/* Accumulator registers column by column, every other one backwards: each multiplication shares an operand with the
 * one before, which then comes from the operand cache instead of a register bank. */
static void fma_order(fma_job *job)
{
    uint32_t n[2] = {0, 0}, m_mask = ((1u << job->shape.log_m) - 1) << job->shape.log_n, bit_of[2][TS_LAYOUT_REGS];
    for (uint32_t i = 0; i < job->c->n_reg; i++) {
        uint32_t outer = job->c->reg[i] & m_mask ? 0 : 1;
        bit_of[outer][n[outer]++] = 1u << i;
    }
    uint32_t last = (1u << n[0]) - 1;
    for (uint32_t i = 0; i < 1u << job->c->n_reg; i++) {
        uint32_t column = i >> n[0];
        job->order[i] =
            ts_xor_of(bit_of[0], n[0], column & 1 ? ~i & last : i & last) | ts_xor_of(bit_of[1], n[1], column);
    }
    job->column_mask = ts_xor_of(bit_of[1], n[1], (1u << n[1]) - 1);
}

static void fma_one(ts_lower *lw, fma_job *job, uint32_t r, uint32_t k)
{
    ts_val x = fma_operand(job, &job->side[0], r, k), y = fma_operand(job, &job->side[1], r, k), *acc = &job->acc[r];
    if (job->type == TS_T_i32)
        *acc = ts_op2(&lw->b, TS_OP_addi, ts_op2(&lw->b, TS_OP_muli, x, y, 0), *acc, 0);
    else
        *acc = ts_op3(&lw->b, TS_OP_fma, x, y, *acc, 0);
}

/* All multiplications of step `k`, and the loads of the next: of A before, since every column needs it; of B as soon
 * as its columns are through, which lets it stay in the same registers. */
static void fma_step(ts_lower *lw, fma_job *job, uint32_t k)
{
    uint32_t n = 1u << job->c->n_reg, repeats = ts__lower_repeats(job->c), next = k + 1;
    bool last = next >> job->log_chunk;
    if (!last)
        fma_load(lw, job, &job->side[0], next, TS_NO);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = job->order[i], column = r & job->column_mask;
        if (!(r & repeats))
            fma_one(lw, job, r, k);
        if (!last && (i + 1 == n || (job->order[i + 1] & job->column_mask) != column))
            fma_load(lw, job, &job->side[1], next, column);
    }
}

static void fma_chunk(ts_lower *lw, fma_job *job)
{
    for (uint32_t side = 0; side < 2; side++)
        fma_load(lw, job, &job->side[side], 0, TS_NO);
    for (uint32_t k = 0; k < 1u << job->log_chunk; k++)
        fma_step(lw, job, k);
}

/* The same with step 0 read by the step of the loop before (ts_prefetch). */
static void fma_ahead(ts_lower *lw, ts_val v, fma_job *job, ts_prefetch *early)
{
    ts_val next = early->carried;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *regs = ts__lower_regs(lw, &job->side[i].source.fragment);
        uint32_t n = fma_first_regs(job, &job->side[i], regs);
        for (uint32_t at = 0; at < n; at++)
            job->side[i].reg[regs[at]] = next++;
    }
    for (uint32_t k = 0; k < 1u << job->log_chunk; k++) {
        if (k + 1 == 1u << job->log_chunk) {
            ts__hook_advance(lw, v);
            ts__fma_first(lw, v, &early->next);
        }
        fma_step(lw, job, k);
    }
}

/* for chunk in 0 .. K / chunk: accumulators are carried. */
static void fma_chunks(ts_lower *lw, fma_job *job)
{
    ts_builder *b = &lw->b;
    uint32_t n = 1u << job->c->n_reg;
    ts_val opener = ts_for_begin(b, ts__lower_i32(lw, 0), ts__lower_i32(lw, 1 << (job->shape.log_k - job->log_chunk)),
                                 ts__lower_i32(lw, 1), n, job->acc, 0);
    for (uint32_t r = 0; r < n; r++)
        job->acc[r] = opener + 2 + r;
    for (uint32_t i = 0; i < 2; i++) {
        mma_box *box = &job->side[i].box;
        ts_val offset = fma_chunk_offset(lw, job, &job->side[i], opener + 1);
        box->thread = ts_op2(b, TS_OP_xori, box->thread, offset, 0);
    }
    fma_chunk(lw, job);
    ts_term(b, TS_OP_continue, n, job->acc);
    ts_end_like(b, opener);
    ts_val first = lw->fn->inst.n - n;
    for (uint32_t r = 0; r < n; r++)
        job->acc[r] = first + r;
}

/* Sources and addresses of both operands; writes what is not there yet to shared memory. */
static void fma_open(ts_lower *lw, ts_val v, fma_job *job)
{
    ts_type elem = ts__lower_elem(lw, v);
    *job = (fma_job){.shape = ts__mma_shape(lw, v), .c = ts__lower_home(lw, v)};
    bool placed = true;
    job->type = elem == TS_T_f16 || elem == TS_T_bf16 ? TS_T_f32 : elem;
    job->log_chunk = fma_log_chunk(job->c, job->shape.log_k);
    for (uint32_t i = 0; i < 2; i++) {
        ts__fma_source(lw, v, i, &job->side[i].source);
        ts__mma_prepare(lw, &job->side[i].source);
        placed = placed && job->side[i].source.placed;
    }
    if (!placed)
        ts__lower_barrier(lw);
    for (uint32_t i = 0; i < 2; i++)
        fma_side_open(lw, job, v, i);
}

bool ts__fma_goes_ahead(ts_lower *lw, ts_val v)
{
    uint32_t log_k = ts__mma_shape(lw, v).log_k;
    return fma_log_chunk(ts__lower_home(lw, v), log_k) == log_k;
}

void ts__fma_first(ts_lower *lw, ts_val v, ts_vals *out)
{
    fma_job job;
    fma_open(lw, v, &job);
    for (uint32_t i = 0; i < 2; i++)
        fma_load(lw, &job, &job.side[i], 0, TS_NO);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *regs = ts__lower_regs(lw, &job.side[i].source.fragment), n = fma_first_regs(&job, &job.side[i], regs);
        for (uint32_t at = 0; at < n; at++)
            (void)TS_PUSH(lw->arena, &out->v, job.side[i].reg[regs[at]]);
    }
}

void ts__lower_fma(ts_lower *lw, ts_val v)
{
    ts_type elem = ts__lower_elem(lw, v);
    const ts_val *old = ts__lower_get(lw, ts_opnd(lw->tile, v, 2), ts__lower_home(lw, v));
    fma_job job;
    fma_open(lw, v, &job);
    ts_prefetch *early = ts__hook_prefetch(lw, v);
    job.acc = ts__lower_regs(lw, job.c);
    job.order = ts__lower_regs(lw, job.c);
    fma_order(&job);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.acc[r] = fma_widen(lw, old[r & ~ts__lower_repeats(job.c)], job.type, false);
    if (early)
        fma_ahead(lw, v, &job, early);
    else if (job.log_chunk < job.shape.log_k)
        fma_chunks(lw, &job);
    else
        fma_chunk(lw, &job);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.acc[r] = fma_widen(lw, job.acc[r & ~ts__lower_repeats(job.c)], elem, false);
    for (uint32_t i = 0; i < 2; i++)
        if (!job.side[i].source.placed)
            ts__shared_done(lw, job.side[i].source.at, job.side[i].source.size);
    ts__lower_set(lw, v, job.c, job.acc);
}

/* Vector stores want accumulators of one row in consecutive registers. ptxas then keeps them so in the loop too, where
 * every other multiplication reads one from the bank of its A operand, which costs up to a fifth of the speed. An XOR
 * with a zero that ptxas cannot know parts the two. */
void ts__fma_loosen(ts_lower *lw, ts_val loop, ts_val mma)
{
    ts_builder *b = &lw->b;
    const ts_linear *home = lw->assign.home[mma];
    if (lw->assign.mma_path[mma] != TS_MMA_PATH_FMA || ts__lower_elem(lw, mma) != TS_T_f32)
        return;
    ts_val lower = ts_emit(b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_LANEMASK_LT, 0, 0), 0);
    ts_val zero = ts_op2(b, TS_OP_shri, lower, ts__lower_i32(lw, 31), TS_A_UNSIGNED); /* no lane is below itself */
    for (ts_val v = lw->shape.end[loop] + 1; v < lw->tile->inst.n && ts_at(lw->tile, v)->op == TS_OP_res; v++) {
        if (ts_at(lw->tile, v)->opnd[0] != loop || lw->assign.home[v] != home || ts__lower_elem(lw, v) != TS_T_f32)
            continue;
        const ts_val *old = ts__lower_get(lw, v, home);
        ts_val *regs = ts__lower_regs(lw, home);
        for (uint32_t r = 0; r < 1u << home->n_reg; r++) {
            ts_val bits = ts_op2(b, TS_OP_xori, ts_cast(b, TS_OP_bitcast, old[r], TS_T_i32, 0), zero, 0);
            regs[r] = ts_cast(b, TS_OP_bitcast, bits, TS_T_f32, 0);
        }
        ts__lower_set(lw, v, home, regs);
    }
}
