/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix product on wgmma (plan/tma.h): shared-memory descriptors, the
 * instructions, and the waits that tma_wait.c plans. A stage is released behind the wait for the last product that
 * reads it. Products end in the order in which they were issued: to wait for one, all but those issued after it.
 *
 * Operand a is a tile that TMA (or cp.async: plan/copied.c) brought, fragments in registers, or a transposed tile that
 * the consumers write to shared memory themselves (`by_consumers`), where all warpgroups read all of it.
 *
 * A descriptor names a swizzled tile: start >> 4, distance of panels (MN-major) or nothing (K-major),
 * distance of 8 rows, swizzle mode. Steps along k add to the start, since the swizzle is an XOR of absolute
 * address bits. (PTX ISA 9.0, matrix descriptor; every form checked on an H200.)
 */
#include "gpu/schedule/schedule.h"
#include "gpu/schedule/ring.h"
#include "gpu/schedule/wgmma.h"
#include "gpu/plan/rotate.h"
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"

/* ---- descriptors ----------------------------------------------------------------------------------- */

enum { WGMMA_ADDRESS = (1 << 18) - 1 }; /* bits of an address in a descriptor */

/* Bytes from the start of the tile to element (mn, k). */
static uint32_t wgmma_at(const ts_tma_load *load, bool mn_major, uint32_t mn, uint32_t k)
{
    ts_assert(load->span == 32 || load->span == 64 || load->span == 128); /* the swizzles of wgmma and TMA */
    uint32_t along = (mn_major ? mn : k) * load->elem_bytes, across = mn_major ? k : mn;
    return along / load->span * (load->rows * load->span) + across * load->span + along % load->span;
}

typedef struct wgmma_operand {
    const ts_tma_load *load;
    bool mn_major;
    ts_val descriptor; /* i64, of the tile's part for this warpgroup */
} wgmma_operand;

/* First byte of the warpgroup's part: the further warp bits, each with its distance. */
static ts_val wgmma_part(ts_lower *lw, const wgmma_operand *x, const uint32_t *extent)
{
    ts_val sum = 0, warp = 0;
    for (uint32_t i = 2; i < lw->assign.n_warp; i++) {
        if (!extent[i])
            continue;
        if (!warp)
            warp = ts__lower_warp(lw);
        ts_val bit = ts__lower_op(lw, TS_OP_andi, ts__lower_op(lw, TS_OP_shri, warp, i, TS_A_UNSIGNED), 1, 0);
        ts_val part = ts__lower_op(lw, TS_OP_muli, bit, wgmma_at(x->load, x->mn_major, extent[i], 0) >> 4, 0);
        sum = sum ? ts_op2(&lw->b, TS_OP_addi, sum, part, 0) : part;
    }
    return sum;
}

static void wgmma_describe(ts_lower *lw, wgmma_operand *x, const uint32_t *extent)
{
    const ts_tma_load *load = x->load;
    const ts_tma_group *group = &lw->assign.tma.groups.at[load->group];
    ts_builder *b = &lw->b;
    /* The swizzle is a function of the address: panels begin where its pattern does. */
    ts_assert((group->base + load->offset) % (TS_TMA_ROWS_LEAST * load->span) == 0);
    ts_assert(group->bytes % (TS_TMA_ROWS_LEAST * load->span) == 0 || group->stages == 1);
    ts_val at = ts__shared_pointer(lw, TS_T_i8, group->base + load->offset);
    at = ts_cast(b, TS_OP_ptr_to_int, at, TS_T_i32, 0);
    at = ts__lower_op(lw, TS_OP_shri, ts__lower_op(lw, TS_OP_andi, at, WGMMA_ADDRESS, 0), 4, TS_A_UNSIGNED);
    uint32_t panel = x->mn_major ? load->rows * load->span >> 4 : 1;
    at = ts__lower_op(lw, TS_OP_ori, at, (int64_t)panel << 16, 0);
    ts_val part = wgmma_part(lw, x, extent);
    if (part)
        at = ts_op2(b, TS_OP_addi, at, part, 0);
    ts_val stage = ts__ring_stage(lw, group);
    if (stage)
        at = ts_op2(b, TS_OP_addi, at, ts__lower_op(lw, TS_OP_muli, stage, group->bytes >> 4, 0), 0);
    uint32_t mode = load->span == 128 ? 1 : load->span == 64 ? 2 : 3; /* of the swizzle, by its width */
    ts_val high = ts__lower_i32(lw, (int32_t)(mode << 30 | TS_TMA_ROWS_LEAST * load->span >> 4));
    x->descriptor = ts_emit(b, TS_OP_pack2, TS_T_i64, 2, (ts_val[]){at, high}, 0, 0);
}

static ts_val wgmma_step(ts_lower *lw, const wgmma_operand *x, uint32_t mn, uint32_t k)
{
    uint32_t bytes = wgmma_at(x->load, x->mn_major, mn, k);
    ts_assert(bytes % 16 == 0); /* descriptors count in 16 bytes */
    return ts_op2(&lw->b, TS_OP_addi, x->descriptor, ts_int(&lw->b, TS_T_i64, bytes >> 4), 0);
}

/* ---- operand a in registers --------------------------------------------------------------------------- */

ts_val ts__wgmma_pair(ts_lower *lw, ts_val x, ts_val y)
{
    const ts_inst *p = ts_at(lw->fn, x), *q = ts_at(lw->fn, y);
    ts_assert(p->type == q->type && ts_type_bits(lw->module, p->type) == 16);
    bool fresh = p->op == TS_OP_ftof && q->op == TS_OP_ftof && TS_A_ROUND(p->aux) == TS_RN &&
                 TS_A_ROUND(q->aux) == TS_RN && ts_type_of(lw->fn, p->opnd[0]) == TS_T_f32 &&
                 ts_type_of(lw->fn, q->opnd[0]) == TS_T_f32;
    if (fresh)
        return ts_emit(&lw->b, TS_OP_cvt_pack, TS_T_i32, 2, (ts_val[]){p->opnd[0], q->opnd[0]}, TS_A_ELEM(p->type), 0);
    return ts_emit(&lw->b, TS_OP_pack2, TS_T_i32, 2, (ts_val[]){x, y}, 0, 0);
}

static void wgmma_extents(const ts_lower *lw, ts_val v, uint32_t log[3])
{
    ts_type c = ts_type_of(lw->tile, v), a = ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0));
    uint32_t rank = ts_type_rank(lw->module, c);
    log[0] = (uint32_t)ts_log2((uint64_t)ts_type_dims(lw->module, c)[rank - 2]);
    log[1] = (uint32_t)ts_log2((uint64_t)ts_type_dims(lw->module, c)[rank - 1]);
    log[2] = (uint32_t)ts_log2((uint64_t)ts_type_dims(lw->module, a)[rank - 1]);
}

/* Words of the fragments of all blocks and k steps, four each. */
const ts_val *ts__wgmma_fragments(ts_lower *lw, ts_val v, uint32_t *n)
{
    uint32_t log[3];
    wgmma_extents(lw, v, log);
    ts_linear layout = ts__wgmma_layout_a(log[0], log[1], log[2], lw->assign.n_warp);
    const ts_val *regs = ts__lower_get(lw, ts_opnd(lw->tile, v, 0), &layout);
    ts_val *words = ts__lower_regs(lw, &layout);
    *n = 1u << (layout.n_reg - 1);
    for (uint32_t i = 0; i < *n; i++)
        words[i] = ts__wgmma_pair(lw, regs[2 * i], regs[2 * i + 1]);
    return words;
}

/* ---- waiting and releasing ------------------------------------------------------------------------------ */

/* One arrival of every consumer warp on the empty barrier of the stage of step `count`, in each block that fills it:
 * a lane for each. */
static void wgmma_release(ts_lower *lw, const ts_tma_group *group, ts_val count, ts_val pred)
{
    uint32_t readers = lw->assign.tma.team;
    ts_val bar = ts__ring_barrier(lw, group, group->empty, count), lane = ts__lower_op(lw, TS_OP_andi, lw->tid, 31, 0);
    if (readers > 1) {
        ts_val opnds[] = {bar, ts__lower_op(lw, TS_OP_andi, lane, readers - 1, 0)};
        bar = ts_emit(&lw->b, TS_OP_mapa, ts_type_of(lw->fn, bar), 2, opnds, 0, 0);
    }
    ts_val one = readers > 1 ? ts_cmp(&lw->b, TS_OP_cmpi, TS_LT, lane, ts__lower_i32(lw, readers), 0)
                             : ts_cmp(&lw->b, TS_OP_cmpi, TS_EQ, lane, ts__lower_i32(lw, 0), 0);
    pred = ts__lower_and(lw, pred, one);
    ts_emit(&lw->b, TS_OP_mbar_arrive, TS_T_none, 2, (ts_val[]){bar, pred}, 0, TS_F_MASK);
}

void ts__wgmma_release(ts_lower *lw, const ts_tma_group *group, ts_val count)
{
    wgmma_release(lw, group, count, 0);
}

static ts_val wgmma_moved(ts_lower *lw, const ts_tma_loop *loop)
{
    return ts_cmp(&lw->b, TS_OP_cmpi, TS_NE, loop->count, loop->start, 0);
}

/* The product of its loop that is waited for first in each trip. */
static bool wgmma_waits_first(const ts_lower *lw, const ts_wgmma *product)
{
    for (uint32_t i = 0; i < lw->assign.tma.products.n; i++) {
        const ts_wgmma *other = &lw->assign.tma.products.at[i];
        if (!other->deferred && other->mma < product->mma &&
            lw->shape.parent[other->mma] == lw->shape.parent[product->mma])
            return false;
    }
    return !product->deferred;
}

/* A product's wait covers its own groups, and the first one in a trip those that the trip before deferred to it. */
static bool wgmma_covers(const ts_lower *lw, const ts_wgmma *product, const ts_tma_group *group)
{
    if (group->last == product->mma)
        return !product->deferred;
    const ts_wgmma *other = ts__wgmma_of(&lw->assign.tma, group->last);
    return other->deferred && wgmma_waits_first(lw, product) &&
           lw->shape.parent[other->mma] == lw->shape.parent[product->mma];
}

/* Behind the wait that follows product `mma`. */
static void wgmma_release_all(ts_lower *lw, const ts_wgmma *product)
{
    ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->groups.n; i++) {
        const ts_tma_group *group = &tma->groups.at[i];
        if (group->at == TS_NO || group->within || !wgmma_covers(lw, product, group))
            continue;
        const ts_tma_loop *loop = &tma->loops.at[group->at];
        if (group->waits_next_step)
            wgmma_release(lw, group, ts__lower_add(lw, loop->count, -1), wgmma_moved(lw, loop));
        else
            wgmma_release(lw, group, loop->count, 0);
    }
}

static uint32_t wgmma_next_step_in(const ts_lower *lw, ts_val loop)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < lw->assign.tma.products.n; i++)
        n += lw->assign.tma.products.at[i].waits_next_step && !lw->assign.tma.products.at[i].with &&
            lw->shape.parent[lw->assign.tma.products.at[i].mma] == loop;
    return n;
}

static bool wgmma_pending_in(const ts_lower *lw, ts_val loop)
{
    bool pending = wgmma_next_step_in(lw, loop) > 0;
    for (uint32_t i = 0; i < lw->assign.tma.products.n; i++)
        pending |=
            lw->assign.tma.products.at[i].deferred && lw->shape.parent[lw->assign.tma.products.at[i].mma] == loop;
    return pending;
}

void ts__wgmma_wait(ts_lower *lw, uint32_t pending)
{
    ts_assert(pending <= 7); /* PTX ISA, wgmma.wait_group */
    ts_emit(&lw->b, TS_OP_wgmma_wait, TS_T_none, 0, NULL, TS_S(0, pending, 0), 0);
}

/* Frees what was loaded in the loop around `loop` for the products in it. */
static void wgmma_leave(ts_lower *lw, ts_val loop)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; tma->active && i < tma->groups.n; i++)
        if (tma->groups.at[i].within == loop)
            ts__wgmma_release(lw, &tma->groups.at[i], tma->loops.at[tma->groups.at[i].at].count);
}

/* The products of a loop that wait a step later end here, and their stages are free. */
static void wgmma_finish(ts_lower *lw, ts_val loop)
{
    ts_tma *tma = &lw->assign.tma;
    if (!tma->active || !wgmma_pending_in(lw, loop))
        return;
    ts__wgmma_wait(lw, 0);
    for (uint32_t i = 0; ts_tma_produces(tma) && i < tma->groups.n; i++) {
        const ts_tma_group *group = &tma->groups.at[i];
        if (group->loop != loop || !group->waits_next_step || !lw->shape.parent[loop])
            continue; /* the producer does not wait for a stage that it never fills again */
        const ts_tma_loop *counter = &tma->loops.at[group->at];
        wgmma_release(lw, group, ts__lower_add(lw, counter->count, -1), wgmma_moved(lw, counter));
    }
}

static void wgmma_loop_end(ts_lower *lw, ts_val loop)
{
    wgmma_finish(lw, loop);
    wgmma_leave(lw, loop);
}

/* ---- the product ------------------------------------------------------------------------------------------ */

typedef struct wgmma_sums {
    ts_val mma;
    uint32_t log_n;
    ts_linear layout;
    ts_val *acc; /* in, then out */
} wgmma_sums;

enum { WGMMA_PARTS = TS_WGMMA_COLUMNS / TS_WGMMA_COLUMNS_LEAST }; /* of a job, at most */

typedef struct wgmma_job {
    const ts_wgmma *product;
    ts_wgmma_split split;
    uint32_t log_k, step_k, n;   /* k of one instruction; columns of one instruction */
    wgmma_operand a, b;
    const ts_val *fragments;     /* a in registers */
    uint32_t n_parts;
    wgmma_sums parts[WGMMA_PARTS]; /* side by side: the product, and those that are issued with it */
} wgmma_job;

/* The accumulators of one instruction, which goes over all parts, or over some columns of the only one. */
static uint32_t wgmma_accumulators(const wgmma_job *job, uint32_t block, uint32_t columns, ts_val *out[128])
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < job->n_parts; p++) {
        const wgmma_sums *part = &job->parts[p];
        ts_val *acc = part->acc + ((size_t)block << (part->log_n - 1)) + columns / 2;
        for (uint32_t i = 0; i < TS_MIN(TS_WGMMA_COLUMNS, 1u << part->log_n) / 2; i++)
            out[n++] = acc + i;
    }
    ts_assert(n == job->n / 2 && job->n % 8 == 0);
    return n;
}

static void wgmma_one(ts_lower *lw, const wgmma_job *job, uint32_t block, uint32_t columns, uint32_t k)
{
    ts_val opnds[TS_WGMMA_COLUMNS / 2 + 6], *acc[TS_WGMMA_COLUMNS / 2];
    ts_type types[TS_WGMMA_COLUMNS / 2];
    uint32_t flags = job->product->trans_b ? TS_MMA_TRANS_B : 0;
    uint32_t n_acc = wgmma_accumulators(job, block, columns, acc), n = n_acc;
    for (uint32_t i = 0; i < n_acc; i++) {
        opnds[i] = *acc[i];
        types[i] = ts_type_of(lw->fn, *acc[i]);
    }
    if (job->fragments) {
        flags |= TS_MMA_A_REGS;
        memcpy(opnds + n, job->fragments + ((size_t)block << (job->log_k - 2)) + k / job->step_k * 4,
               4 * sizeof *opnds);
        n += 4;
    } else {
        flags |= job->product->trans_a ? TS_MMA_TRANS_A : 0;
        opnds[n++] = wgmma_step(lw, &job->a, 64 * block, k);
    }
    opnds[n++] = wgmma_step(lw, &job->b, columns, k);
    opnds[n++] = ts_int(&lw->b, TS_T_i1, !(job->product->zero && k == 0));
    ts_val v =
        ts_emit_multi(&lw->b, TS_OP_wgmma, n, opnds, TS_MMA_ATTR(job->product->row, job->n, flags), 0, n_acc, types);
    for (uint32_t i = 0; i < n_acc; i++)
        *acc[i] = v + 1 + i;
}

static void wgmma_issue(ts_lower *lw, const wgmma_job *job)
{
    uint32_t most = job->n_parts > 1 ? job->n : 1u << job->split.log_n;
    ts_emit(&lw->b, TS_OP_wgmma_fence, TS_T_none, 0, NULL, 0, 0);
    for (uint32_t block = 0; block < 1u << (job->split.log_m - 6); block++)
        for (uint32_t columns = 0; columns < most; columns += job->n)
            for (uint32_t k = 0; k < 1u << job->log_k; k += job->step_k)
                wgmma_one(lw, job, block, columns, k);
    ts_emit(&lw->b, TS_OP_wgmma_commit, TS_T_none, 0, NULL, 0, 0);
    lw->assign.tma.commits++;
}

void ts__wgmma_offsets(const ts_tma_load *load, uint32_t log_unit, uint32_t *offset)
{
    bool rows_first = load->rows_axis > load->inner_axis;
    uint32_t mask = (load->span >> 4) - 1, n = rows_first ? (uint32_t)ts_log2(load->rows) : 0;
    for (uint32_t column = 1u << log_unit; column < load->inner; column *= 2)
        offset[n++] = wgmma_at(load, true, column, 0) / load->elem_bytes >> log_unit;
    n = rows_first ? 0 : n;
    for (uint32_t row = 1; row < load->rows; row *= 2) {
        uint32_t at = wgmma_at(load, true, 0, row);
        offset[n++] = (at ^ (at >> 7 & mask) << 4) / load->elem_bytes >> log_unit;
    }
}

/* The layout of a tile's words when register bit 0 alone holds the two halves of each; false when it does not. */
static bool wgmma_word_layout(const ts_linear *layout, ts_linear *words)
{
    bool halves = layout->n_reg && layout->reg[0] == 1;
    *words = (ts_linear){.bits = (uint8_t)(layout->bits - 1), .n_warp = layout->n_warp};
    for (uint32_t i = 1; i < layout->n_reg; i++) {
        halves = halves && !(layout->reg[i] & 1);
        words->reg[words->n_reg++] = layout->reg[i] >> 1;
    }
    for (uint32_t i = 0; i < TS_LAYOUT_LANES; i++) {
        halves = halves && !(layout->lane[i] & 1);
        words->lane[i] = layout->lane[i] >> 1;
    }
    for (uint32_t i = 0; i < layout->n_warp; i++) {
        halves = halves && !(layout->warp[i] & 1);
        words->warp[i] = layout->warp[i] >> 1;
    }
    return halves;
}

static void wgmma_write_operand(ts_lower *lw, const ts_tma_load *load)
{
    const ts_linear *home = ts__lower_home(lw, load->load);
    const ts_val *regs = ts__lower_get(lw, load->load, home);
    uint32_t offset[TS_LAYOUT_BITS] = {0}, at = lw->assign.tma.groups.at[load->group].base;
    ts_val *word = ts__lower_regs(lw, home);
    ts_linear words;
    if (!wgmma_word_layout(home, &words)) {
        ts__wgmma_offsets(load, 0, offset);
        ts__lower_store_shared(lw, ts__lower_elem(lw, load->load), home, regs, offset, at);
        return;
    }
    for (uint32_t i = 0; i < 1u << words.n_reg; i++)
        word[i] = ts__wgmma_pair(lw, regs[2 * i], regs[2 * i + 1]);
    ts__wgmma_offsets(load, 1, offset);
    ts__lower_store_shared(lw, TS_T_i32, &words, word, offset, at);
}

/* Before the barrier every warp is through with what lay there, after it all of the tile is there for wgmma. */
static void wgmma_by_consumers(ts_lower *lw, const ts_tma_load *load)
{
    ts__lower_barrier(lw);
    wgmma_write_operand(lw, load);
    ts_emit(&lw->b, TS_OP_fence, TS_T_none, 0, NULL, TS_S(TS_FENCE_PROXY_ASYNC, 0, 0), 0);
    ts__lower_barrier(lw);
}

/* Another product of the same trip has waited for it before. */
static bool wgmma_is_here(const ts_lower *lw, const ts_tma_load *load, ts_val v)
{
    const ts_tma_group *group = &lw->assign.tma.groups.at[load->group];
    return group->first != v && group->loop == lw->shape.parent[v] && !ts__rotated(&lw->assign.tma, group->loop);
}

/* Operands: waits for those that TMA brings in the loop; others are here already. */
static void wgmma_operand_of(ts_lower *lw, ts_val v, wgmma_operand *x, uint32_t load, bool mn_major,
                             const uint32_t *extent)
{
    *x = (wgmma_operand){.load = &lw->assign.tma.loads.at[load], .mn_major = mn_major};
    if (x->load->by_consumers)
        wgmma_by_consumers(lw, x->load);
    else if (!wgmma_is_here(lw, x->load, v))
        ts__ring_await(lw, x->load);
    wgmma_describe(lw, x, extent);
}

/* The product `v`, and those that are issued with it. */
static void wgmma_parts(ts_lower *lw, ts_val v, wgmma_job *job)
{
    const ts_tma *tma = &lw->assign.tma;
    for (uint32_t i = 0; i < tma->products.n; i++) {
        uint32_t log[3];
        ts_val mma = tma->products.at[i].mma;
        if (mma != v && tma->products.at[i].with != v)
            continue;
        ts_assert(job->n_parts < WGMMA_PARTS);
        wgmma_sums *part = &job->parts[job->n_parts++];
        wgmma_extents(lw, mma, log);
        part->mma = mma;
        part->layout = ts__wgmma_layout_c(log[0], log[1], lw->assign.n_warp);
        part->log_n = ts__wgmma_split_of(log[0], log[1], lw->assign.n_warp).log_n;
        part->acc = ts__lower_regs(lw, &part->layout);
        memcpy(part->acc, ts__lower_get(lw, ts_opnd(lw->tile, mma, 2), &part->layout),
               sizeof *part->acc << part->layout.n_reg);
        job->n += TS_MIN(TS_WGMMA_COLUMNS, 1u << part->log_n);
    }
}

const ts_val *ts__wgmma_start(ts_lower *lw, ts_val v, const ts_val *fragments)
{
    static const uint8_t ks[] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) (k),
#include "tessera/mma.def"
    };
    const ts_wgmma *product = ts__wgmma_of(&lw->assign.tma, v);
    uint32_t log[3];
    wgmma_extents(lw, v, log);
    wgmma_job job = {.product = product, .log_k = log[2], .step_k = ks[product->row]};
    job.split = ts__wgmma_split_of(log[0], log[1], lw->assign.n_warp);
    wgmma_parts(lw, v, &job);
    uint32_t n = 0;
    if (product->a == TS_NO && fragments)
        n = 1u << (ts__wgmma_layout_a(log[0], log[1], log[2], lw->assign.n_warp).n_reg - 1);
    if (product->a == TS_NO)
        job.fragments = fragments ? fragments : ts__wgmma_fragments(lw, v, &n);
    else
        wgmma_operand_of(lw, v, &job.a, product->a, product->trans_a, job.split.m);
    wgmma_operand_of(lw, v, &job.b, product->b, product->trans_b, job.split.n);
    wgmma_issue(lw, &job);
    for (uint32_t i = 0; i < job.n_parts; i++)
        ts__lower_set(lw, job.parts[i].mma, &job.parts[i].layout, job.parts[i].acc);
    return fragments ? fragments + n : NULL;
}

/* Waits for all but the products issued after commit `commits`; those before are done, and their stages free. */
static void wgmma_settle(ts_lower *lw, uint32_t commits)
{
    ts_tma *tma = &lw->assign.tma;
    ts__wgmma_wait(lw, tma->commits - commits);
    for (uint32_t i = 0; i < tma->products.n; i++) {
        ts_wgmma *p = &tma->products.at[i];
        if (!p->flying || p->flying > commits)
            continue;
        p->flying = 0;
        wgmma_release_all(lw, p);
    }
}

static void wgmma_read(ts_lower *lw, ts_val v)
{
    const ts_wgmma *p = lw->assign.tma.active ? ts__wgmma_of(&lw->assign.tma, v) : NULL;
    if (p && p->flying)
        wgmma_settle(lw, p->flying);
}

/* Which products of a region are issued is not known behind it. */
static void wgmma_region(ts_lower *lw, ts_val opener)
{
    const ts_tma *tma = &lw->assign.tma;
    bool holds = false, flying = false;
    for (uint32_t i = 0; tma->active && i < tma->products.n; i++) {
        holds = holds || (tma->products.at[i].mma > opener && tma->products.at[i].mma < lw->shape.end[opener]);
        flying = flying || tma->products.at[i].flying;
    }
    if (holds && flying)
        wgmma_settle(lw, tma->commits);
}

static bool wgmma_product(ts_lower *lw, ts_val v)
{
    if (lw->assign.mma_path[v] != TS_MMA_PATH_WGMMA)
        return false;
    ts_tma *tma = &lw->assign.tma;
    const ts_wgmma *product = ts__wgmma_of(tma, v);
    if (product->with) { /* it was issued with the other, whose wait covers what it reads */
        wgmma_release_all(lw, product);
        return true;
    }
    ts__wgmma_start(lw, v, NULL);
    if (product->lazy)
        tma->products.at[product - tma->products.at].flying = tma->commits;
    if (product->deferred || product->lazy)
        return true;
    ts__wgmma_wait(lw, product->waits_next_step ? wgmma_next_step_in(lw, lw->shape.parent[v]) : 0);
    wgmma_release_all(lw, product);
    return true;
}

const ts_strategy ts__strategy_wgmma = {
    .name = "wgmma",
    .loop_end = wgmma_loop_end,
    .region = wgmma_region,
    .product = wgmma_product,
    .read = wgmma_read,
};
