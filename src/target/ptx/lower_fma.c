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
#include "target/ptx/lower_mma.h"

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
    const ts_layout *c;
    ts_type type;      /* of the accumulators */
    uint32_t log_chunk;
    fma_side side[2];
    ts_val *acc;
} fma_job;

/* log2 of the k that are written out: fewer for more accumulators. */
static uint32_t fma_log_chunk(const ts_layout *c, uint32_t log_k)
{
    uint32_t fit = c->n_reg < FMA_UNROLL - 2 ? FMA_UNROLL - c->n_reg : 2;
    return TS_MIN(TS_MIN(fit, (uint32_t)FMA_MAX_CHUNK), log_k);
}

void ts__fma_source(ts_lower *lw, ts_val v, uint32_t side, mma_source *s)
{
    ts_mma_shape shape = ts__mma_shape(lw, v);
    const ts_layout *c = ts_lower_home(lw, v);
    uint32_t k_bit = side ? shape.log_n : 0;
    *s = (mma_source){.x = ts_opnd(lw->tile, v, side), .shared = true};
    s->from = ts_lower_home(lw, s->x);
    s->bytes = TS_MAX(1u, ts_type_bits(lw->module, ts_lower_elem(lw, s->x)) / 8);
    s->size = s->bytes << s->from->bits;
    bool k_first = s->from->n_reg && s->from->reg[0] == 1u << k_bit;
    s->fragment = ts_fma_layout_operand(c, &shape, side, k_first, fma_log_chunk(c, shape.log_k));
    ts_move_plan_shared(s->from, &s->fragment, s->bytes, TS_WHOLE_LOAD, &s->move);
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
    side->elem = ts_lower_elem(lw, s->x);
    side->k_bit = at ? job->shape.log_n : 0;
    side->is_unsigned = ts_at(lw->tile, v)->aux & (at ? TS_A_UNSIGNED_B : TS_A_UNSIGNED);
    side->reg = ts_lower_regs(lw, &s->fragment);
    while (side->log_vec < s->move.vec_load && s->move.offset[ts_log2(s->fragment.reg[side->log_vec])] == 1u << side->log_vec)
        side->log_vec++;
    ts_val base = s->placed ? s->placed : ts_shared_pointer(lw, side->elem, s->at);
    side->box = ts__mma_box(lw, base, &s->fragment, s->move.offset, s->bytes);
}

/* Element offset of chunk number `chunk` of k. */
static ts_val fma_chunk_offset(ts_lower *lw, const fma_job *job, fma_side *side, ts_val chunk)
{
    ts_builder *b = &lw->b;
    ts_val sum = ts_lower_i32(lw, 0);
    for (uint32_t i = 0; i + job->log_chunk < job->shape.log_k; i++) {
        uint32_t bytes = side->source.move.offset[side->k_bit + job->log_chunk + i] * side->source.bytes;
        ts_val bit = ts_op2(b, TS_OP_andi, ts_op2(b, TS_OP_shri, chunk, ts_lower_i32(lw, i), TS_A_UNSIGNED), ts_lower_i32(lw, 1), 0);
        sum = ts_op2(b, TS_OP_xori, sum, ts_op2(b, TS_OP_muli, bit, ts_lower_i32(lw, bytes), 0), 0);
        side->box.taken |= bytes;
    }
    return sum;
}

/* Loads the vectors that begin at step `k` of the chunk. */
static void fma_load(ts_lower *lw, const fma_job *job, fma_side *side, uint32_t k)
{
    const ts_layout *fragment = &side->source.fragment;
    uint32_t n = 1u << side->log_vec, mask = ((1u << job->log_chunk) - 1) << side->k_bit;
    for (uint32_t r = 0; r < 1u << fragment->n_reg; r += n) {
        uint32_t flat = ts_lower_fixed(fragment, r);
        ts_val out[16];
        if ((flat & mask) != k << side->k_bit)
            continue;
        ts_lower_ld(lw, side->elem, ts__mma_address(lw, &side->box, flat), n, TS_CACHE_NONE, 0, 0, out);
        for (uint32_t i = 0; i < n; i++)
            side->reg[r + i] = fma_widen(lw, out[i], job->type, side->is_unsigned);
    }
}

/* ---- the product ----------------------------------------------------------------------------------------------- */

/* The operand register that accumulator register `r` needs in step `k`. */
static ts_val fma_operand(const fma_job *job, const fma_side *side, uint32_t r, uint32_t k)
{
    const ts_mma_shape *s = &job->shape;
    uint32_t flat = ts_lower_fixed(job->c, r), n = flat & ((1u << s->log_n) - 1), m = flat >> s->log_n & ((1u << s->log_m) - 1);
    uint32_t batch = flat >> (s->log_n + s->log_m);
    bool is_b = side == &job->side[1];
    flat = is_b ? n | k << s->log_n | batch << (s->log_n + s->log_k) : k | m << s->log_k | batch << (s->log_k + s->log_m);
    return side->reg[ts__mma_reg(&side->source.fragment, flat)];
}

static void fma_step(ts_lower *lw, fma_job *job, uint32_t k)
{
    ts_builder *b = &lw->b;
    for (uint32_t r = 0; r < 1u << job->c->n_reg; r++) {
        if (r & ts_lower_repeats(job->c))
            continue;
        ts_val x = fma_operand(job, &job->side[0], r, k), y = fma_operand(job, &job->side[1], r, k);
        job->acc[r] = job->type == TS_T_i32 ? ts_op2(b, TS_OP_addi, ts_op2(b, TS_OP_muli, x, y, 0), job->acc[r], 0)
                                            : ts_op3(b, TS_OP_fma, x, y, job->acc[r], 0);
    }
}

static void fma_chunk(ts_lower *lw, fma_job *job)
{
    for (uint32_t side = 0; side < 2; side++)
        fma_load(lw, job, &job->side[side], 0);
    for (uint32_t k = 0; k < 1u << job->log_chunk; k++) {
        for (uint32_t side = 0; side < 2 && k + 1 < 1u << job->log_chunk; side++)
            fma_load(lw, job, &job->side[side], k + 1);
        fma_step(lw, job, k);
    }
}

/* for chunk in 0 .. K / chunk: accumulators are carried. */
static void fma_chunks(ts_lower *lw, fma_job *job)
{
    ts_builder *b = &lw->b;
    uint32_t n = 1u << job->c->n_reg;
    ts_val opener = ts_for_begin(b, ts_lower_i32(lw, 0), ts_lower_i32(lw, 1 << (job->shape.log_k - job->log_chunk)),
                                 ts_lower_i32(lw, 1), n, job->acc, 0);
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

void ts_lower_fma(ts_lower *lw, ts_val v)
{
    ts_type elem = ts_lower_elem(lw, v);
    fma_job job = {.shape = ts__mma_shape(lw, v), .c = ts_lower_home(lw, v)};
    job.type = elem == TS_T_f16 || elem == TS_T_bf16 ? TS_T_f32 : elem;
    job.log_chunk = fma_log_chunk(job.c, job.shape.log_k);
    const ts_val *old = ts_lower_get(lw, ts_opnd(lw->tile, v, 2), job.c);
    bool placed = true;
    for (uint32_t i = 0; i < 2; i++) {
        ts__fma_source(lw, v, i, &job.side[i].source);
        ts__mma_prepare(lw, &job.side[i].source);
        placed = placed && job.side[i].source.placed;
    }
    if (!placed)
        ts_lower_barrier(lw);
    for (uint32_t i = 0; i < 2; i++)
        fma_side_open(lw, &job, v, i);
    job.acc = ts_lower_regs(lw, job.c);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.acc[r] = fma_widen(lw, old[r & ~ts_lower_repeats(job.c)], job.type, false);
    if (job.log_chunk < job.shape.log_k)
        fma_chunks(lw, &job);
    else
        fma_chunk(lw, &job);
    for (uint32_t r = 0; r < 1u << job.c->n_reg; r++)
        job.acc[r] = fma_widen(lw, job.acc[r & ~ts_lower_repeats(job.c)], elem, false);
    for (uint32_t i = 0; i < 2; i++)
        if (!job.side[i].source.placed)
            ts_shared_done(lw, job.side[i].source.at, job.side[i].source.size);
    ts_lower_set(lw, v, job.c, job.acc);
}
