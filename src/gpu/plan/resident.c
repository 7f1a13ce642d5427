/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread blocks of a multiprocessor (resident.h): what registers and shared memory allow. Two estimates of registers:
 * before code is written, of what products hold (accumulators, operands a, and what every kernel needs beside them);
 * afterwards, of the values that are alive at once. Cost: one pass each.
 */
#include "gpu/plan/resident.h"
#include "ir/note.h"
#include "tessera/report.h"

/* Registers of a consumer's thread beside accumulators and operands: addresses, counters, a row's
 * state (measured with ptxas 13.0 on attention and products); of shared memory a block takes that is not its own. */
enum { RESIDENT_BESIDE = 40, RESIDENT_SYSTEM = 1024 };
/* Threads of a multiprocessor that hide the latency of loads in loops, registers of such a loop beside what it loads
 * and carries, and the most elements of a tile in a thread: more of them leave ptxas no choice anyway, and with half as
 * many more threads are better (measured on layer norms, RMS norms, softmax and sums on an H200). */
enum { RESIDENT_THREADS = 1024, RESIDENT_STREAM = 28, RESIDENT_ELEMENTS = 16, RESIDENT_MANY = UINT16_MAX };
/* One part in so many of the values alive at once may lie on the stack for the sake of another block: a running sum of
 * 2^27 f32 that keeps 28 bytes a thread there is 2.6 % faster with three blocks than with two (H100). */
enum { RESIDENT_SPARE = 10 };

uint32_t ts__resident_registers(uint32_t blocks, uint32_t threads)
{
    ts_machine machine;
    (void)ts_machine_of_target(TS_TARGET_SM90, &machine); /* the same on every GPU */
    return machine.registers / (blocks * threads) & ~7u;
}

uint32_t ts__resident_shared(ts_target target, uint32_t blocks)
{
    ts_machine machine;
    if (!ts_machine_of_target(target, &machine))
        return UINT32_MAX;
    uint32_t share = machine.shared_bytes / blocks;
    return share < RESIDENT_SYSTEM ? 0 : share - RESIDENT_SYSTEM;
}

uint32_t ts__resident_consumer(const ts_tma *tma, uint32_t blocks)
{
    uint32_t consumers = 32u << ts_tma_consumers(tma);
    uint32_t launch = ts__resident_registers(blocks, consumers + TS_WARPGROUP);
    if (launch <= TS_PRODUCER_REGISTERS || consumers == TS_WARPGROUP)
        return launch;
    return (launch + (launch - TS_PRODUCER_REGISTERS) * TS_WARPGROUP / consumers) & ~7u;
}

/* ---- before code is written ------------------------------------------------------------------------- */

static uint32_t resident_held(const ts_tma_work *w, ts_val v, uint32_t log_threads)
{
    return (uint32_t)(ts_type_count(w->module, ts_type_of(w->fn, v)) >> log_threads);
}

/* What the products of one region hold in a thread: accumulators, and operands a of 16 bits, two in a register. */
static uint32_t resident_region(const ts_tma_work *w, ts_val region)
{
    uint32_t sum = 0, log_threads = 5 + w->out->n_warp;
    for (uint32_t i = 0; i < w->out->products.n; i++) {
        const ts_wgmma *p = &w->out->products.at[i];
        if (w->shape.parent[p->mma] != region)
            continue;
        sum += resident_held(w, p->mma, log_threads);
        sum += p->a == TS_NO ? resident_held(w, ts_opnd(w->fn, p->mma, 0), log_threads + 1) : 0;
    }
    return sum;
}

uint32_t ts__resident_products(const ts_tma_work *w)
{
    uint32_t need = 0, blocks = ts__pass_plan(w->env) ? 1 : TS_MAX(1u, (uint32_t)w->fn->occupancy);
    for (uint32_t i = 0; i < w->out->products.n; i++)
        need = TS_MAX(need, resident_region(w, w->shape.parent[w->out->products.at[i].mma]));
    while (blocks > 1 && ts__resident_consumer(w->out, blocks) < need + RESIDENT_BESIDE)
        blocks--;
    return blocks;
}

/* ---- of code ------------------------------------------------------------------------------------------ */

/* Registers of a value: constants and parameters are operands of instructions, predicates have their own. */
static uint32_t resident_size(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    if (inst->type == TS_T_none || inst->op == TS_OP_constant || inst->op == TS_OP_param)
        return 0;
    uint32_t kind = ts_type_kind(fn->module, inst->type);
    if (kind == TS_KIND_PTR)
        return 2;
    return kind != TS_KIND_SCALAR || inst->type == TS_T_i1 ? 0 : (ts_type_bits(fn->module, inst->type) + 31) / 32;
}

/* Where a value is read at `reader` it must live up to the end of every loop that it was made outside of. */
static ts_val resident_until(const ts_fn *fn, const ts_shape *shape, ts_val v, ts_val reader)
{
    ts_val until = reader;
    for (ts_val p = shape->parent[reader]; p && p > v; p = shape->parent[p])
        if (ts_at(fn, p)->op == TS_OP_for || ts_at(fn, p)->op == TS_OP_loop)
            until = shape->end[p];
    return until;
}

/* Most registers that values alive at once take, in the order of the code; when memory is out 0, and scratch->failed
 * says so. */
static uint32_t resident_pressure(const ts_fn *fn, ts_arena *scratch)
{
    uint32_t n = fn->inst.n, live = 0, most = 0;
    ts_val *last = TS_NEW_N(scratch, ts_val, n);
    uint32_t *ends = TS_NEW_N(scratch, uint32_t, n);
    ts_shape shape;
    if (!last || !ends || !ts__shape_of(fn, scratch, &shape))
        return 0;
    for (ts_val v = 1; v < n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        for (uint32_t i = 0; i < inst->n_opnd; i++) {
            ts_val x = ts_opnds(fn, inst)[i];
            last[x] = TS_MAX(last[x], resident_until(fn, &shape, x, v));
        }
    }
    for (ts_val v = 1; v < n; v++)
        if (last[v])
            ends[last[v]] += resident_size(fn, v);
    for (ts_val v = 1; v < n; v++) {
        live -= TS_MIN(live, ends[v]);
        live += last[v] ? resident_size(fn, v) : 0;
        most = TS_MAX(most, live);
    }
    return most;
}

uint32_t ts__resident_code(const ts_fn *fn, ts_target target, uint32_t wanted, uint32_t threads, uint32_t shared,
                           ts_arena *scratch)
{
    ts_machine machine;
    uint32_t blocks = wanted;
    if (blocks <= 1 || !ts_machine_of_target(target, &machine))
        return blocks;
    uint32_t pressure = resident_pressure(fn, scratch);
    pressure -= pressure / RESIDENT_SPARE;
    while (blocks > 1 && (ts__resident_shared(target, blocks) < shared || blocks * threads > machine.threads ||
                          ts__resident_registers(blocks, threads) < pressure))
        blocks--;
    return blocks;
}

/* Elements of a tile that a thread holds. */
static uint32_t resident_elements(const ts_fn *fn, ts_val v, uint32_t threads)
{
    ts_type type = ts_type_of(fn, v);
    return ts_type_kind(fn->module, type) == TS_KIND_TILE ? (uint32_t)(ts_type_count(fn->module, type) / threads) : 0;
}

/* Registers of what a loop loads and carries; RESIDENT_MANY where it loads no tiles of 9 to 16 elements a thread. */
static uint32_t resident_loop(const ts_fn *fn, const ts_shape *shape, ts_val loop, uint32_t threads)
{
    uint32_t sum = 0, most = 0;
    for (ts_val v = loop + 1; v < shape->end[loop]; v++) {
        const ts_inst *inst = ts_at(fn, v);
        uint32_t n = shape->parent[v] == loop ? resident_elements(fn, v, threads) : 0;
        bool load = inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko;
        uint32_t bits = n ? ts_type_bits(fn->module, ts_type_elem(fn->module, inst->type)) : 0;
        sum += load ? (n * bits + 31) / 32 : inst->op == TS_OP_arg ? n * ((bits + 31) / 32) : 0;
        most = load ? TS_MAX(most, n) : most;
    }
    return most > RESIDENT_ELEMENTS / 2 && most <= RESIDENT_ELEMENTS ? sum : RESIDENT_MANY;
}

uint32_t ts__resident_default(const ts_fn *tile, uint32_t threads, ts_arena *scratch)
{
    ts_shape shape;
    uint32_t need = 0;
    if (!ts__shape_of(tile, scratch, &shape))
        return 0;
    for (ts_val v = 1; v < tile->inst.n; v++) {
        ts_op op = (ts_op)ts_at(tile, v)->op;
        if (op == TS_OP_mmaf || op == TS_OP_mmai || op == TS_OP_mmaf_scaled)
            return 0;
        uint32_t one = op == TS_OP_for || op == TS_OP_loop ? resident_loop(tile, &shape, v, threads) : RESIDENT_MANY;
        need = one == RESIDENT_MANY ? need : TS_MAX(need, one);
    }
    uint32_t blocks = TS_MAX(1u, RESIDENT_THREADS / threads);
    while (blocks > 1 && ts__resident_registers(blocks, threads) < need + RESIDENT_STREAM)
        blocks--;
    return need ? blocks : 0;
}

uint32_t ts__resident_full(const ts_fn *fn, uint32_t threads, ts_arena *scratch)
{
    return resident_pressure(fn, scratch) >= ts__resident_registers(1, threads);
}

void ts__resident_note(const ts_fn *fn, ts_val v, uint32_t wanted, uint32_t blocks)
{
    if (blocks < wanted)
        ts__note(fn, v, TS_NOTE_missed, "occupancy",
                "%u thread blocks of a multiprocessor, not %u: registers or shared memory do not reach further", blocks,
                wanted);
}
