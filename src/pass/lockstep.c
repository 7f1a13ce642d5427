/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `lockstep`: writes a kernel of threads as a kernel of tiles, for the CPU (ADR 0020). Each value that may
 * differ between threads becomes a tile of rank 1 with an element for each thread; what is the same in all of them
 * stays a scalar:
 *
 *     thread entry @k(%x: ptr<f32>, %n: i32) {         entry @k(%x: ptr<f32>, %n: i32) {         blocks of 128 threads
 *       %t = sreg tid.x : i32                            for %w in (0, 4, 1) {
 *       %block = sreg ctaid.x : i32                        %lane = iota : tile<32xi32>
 *       %size = sreg ntid.x : i32                          %t = addi %lane, broadcast(%w * 32) : tile<32xi32>
 *       %at = muli %block, %size : i32             ─▶      %at = muli %block, 128 : i32
 *       %i = addi %at, %t : i32                            %i = addi broadcast(%at), %t : tile<32xi32>
 *       %in = cmpi lt %i, %n : i1                          %in = cmpi lt %i, broadcast(%n) : tile<32xi1>
 *       if %in {                                           if any(%in) {
 *         %p = offset %x, %i : ptr<f32>                      %p = offset broadcast(%x), %i : tile<32xptr<f32>>
 *         %v = ld n=1 %p : f32                               %v = load_ptr_tko %p mask=%in : tile<32xf32>
 *         ..                                                 ..
 *
 * A statement is done for all threads of the tile before the next one begins, so that a barrier of these threads needs
 * no code. The warps of a block come one after the other, between two barriers where the kernel has them; one whose
 * barriers stand where threads might part takes the whole block as one tile. The block's shape is part of the
 * specialisation: env->block.
 * Cost: linear, but for lockstep_vary.c. Read next: lockstep.h.
 */
#include "ir/mma.h"
#include "ir/note.h"
#include "pass/lockstep.h"
#include <stdarg.h>
#include <stdio.h>

void lock_fail(lockstep *c, ts_val v, ts_status status, const char *format, ...)
{
    char text[400];
    va_list args;
    if (c->status != TS_OK)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const ts_loc_info *at = ts__loc_of(c->fn, v);
    char where[64] = "";
    if (v && at->line)
        snprintf(where, sizeof where, ", line %u", at->line);
    c->status = ts_fail(c->err, status, "kernel '%s'%s: %s", ts_str_get(c->m, c->fn->name), where, text);
}

/* ---- types and values ----------------------------------------------------------------------------- */

ts_type lock_tile(const lockstep *c, ts_type elem)
{
    return ts_type_tile(c->m, elem, 1, &c->width);
}

ts_type lock_type(const lockstep *c, ts_type type, bool tile)
{
    if (ts_type_kind(c->m, type) == TS_KIND_PTR)
        type = ts_type_ptr(c->m, ts_type_get(c->m, type)->elem, TS_GLOBAL);
    return tile ? lock_tile(c, type) : type;
}

bool lock_is_tile(const lockstep *c, ts_val x)
{
    return ts_type_rank(c->m, ts_type_of(c->b.fn, x)) != 0;
}

ts_val lock_spread(lockstep *c, ts_val x)
{
    return ts_broadcast(&c->b, x, lock_tile(c, ts_type_elem(c->m, ts_type_of(c->b.fn, x))));
}

ts_val lock_value(lockstep *c, ts_val source, bool tile)
{
    ts_val x = c->map[source];
    if (!x) { /* made on a way that no thread takes */
        x = lock_zero(c, lock_type(c, ts_type_of(c->fn, source), tile));
        return x;
    }
    return tile ? lock_spread(c, x) : x;
}

ts_val lock_opnd(lockstep *c, ts_val v, uint32_t i)
{
    return lock_value(c, ts_opnd(c->fn, v, i), false);
}

ts_val lock_opnd_tile(lockstep *c, ts_val v, uint32_t i)
{
    return lock_value(c, ts_opnd(c->fn, v, i), true);
}

ts_val lock_zero(lockstep *c, ts_type type)
{
    ts_type elem = ts_type_elem(c->m, type);
    if (ts_type_kind(c->m, elem) != TS_KIND_PTR)
        return ts_bits(&c->b, type, 0);
    return ts_cast(&c->b, TS_OP_int_to_ptr, ts_bits(&c->b, ts_type_with_elem(c->m, type, TS_T_i64), 0), elem, 0);
}

uint32_t lock_n_results(const lockstep *c, ts_val v)
{
    return ts__n_res(c->fn, ts_info(ts_at(c->fn, v))->flags & TS_REGION ? c->shape.end[v] : v);
}

void lock_set_results(lockstep *c, ts_val v, uint32_t n, const ts_val *values)
{
    ts_val first = ts_info(ts_at(c->fn, v))->flags & TS_REGION ? c->shape.end[v] + 1 : v + 1;
    for (uint32_t i = 0; i < n; i++)
        c->map[first + i] = values[i];
}

/* ---- who a thread is ---------------------------------------------------------------------------------- */

/* A tile of 0, 1, .. `count` - 1, each `below` times, all of it repeated. */
static ts_val lock_pattern(lockstep *c, int64_t below, int64_t count)
{
    int64_t full[] = {c->width / (below * count), count, below}, one[] = {1, count, 1};
    ts_val x = ts_emit(&c->b, TS_OP_iota, ts_type_tile(c->m, TS_T_i32, 1, &count), 0, NULL, 0, 0);
    if (count == c->width)
        return x;
    x = ts_reshape(&c->b, x, ts_type_tile(c->m, TS_T_i32, 3, one));
    x = ts_broadcast(&c->b, x, ts_type_tile(c->m, TS_T_i32, 3, full));
    return ts_reshape(&c->b, x, lock_tile(c, TS_T_i32));
}

static ts_val lock_i32(lockstep *c, int64_t x)
{
    return ts_int(&c->b, TS_T_i32, x);
}

/* first / below % size, a scalar. */
static ts_val lock_base(lockstep *c, uint32_t below, uint32_t size)
{
    ts_val x = c->first ? c->first : lock_i32(c, 0);
    if (below > 1)
        x = ts_op2(&c->b, TS_OP_divi, x, lock_i32(c, below), TS_A_UNSIGNED);
    return size ? ts_op2(&c->b, TS_OP_remi, x, lock_i32(c, size), TS_A_UNSIGNED) : x;
}

/* The number of each thread along an axis: number / below % size, where `above` the remainder is needed. */
static ts_val lock_thread(lockstep *c, uint32_t axis)
{
    uint32_t below = 1, above = 1, size = c->block[axis], width = (uint32_t)c->width;
    for (uint32_t i = 0; i < 3; i++)
        *(i < axis ? &below : i > axis ? &above : &(uint32_t){0}) *= c->block[i];
    uint32_t rest = above > 1 ? size : 0; /* 0: the quotient is below `size` anyway */
    if (size == 1)
        return lock_i32(c, 0);
    if (c->by_warp && below % width == 0)
        return lock_base(c, below, rest);
    if (ts_is_pow2(below) && below < width && (!rest || size % (width / below) == 0))
        return ts_op2(&c->b, TS_OP_addi, lock_spread(c, lock_base(c, below, rest)),
                      lock_pattern(c, below, width / below), TS_A_NSW | TS_A_NUW);
    if (ts_is_pow2(below) && ts_is_pow2(size) && below * size <= width)
        return lock_pattern(c, below, size);
    ts_val x = c->number;
    if (below > 1)
        x = ts_op2(&c->b, TS_OP_divi, x, lock_spread(c, lock_i32(c, below)), TS_A_UNSIGNED);
    return rest ? ts_op2(&c->b, TS_OP_remi, x, lock_spread(c, lock_i32(c, size)), TS_A_UNSIGNED) : x;
}

ts_val lock_lane(lockstep *c)
{
    if (c->alone)
        return lock_i32(c, 0);
    return lock_pattern(c, 1, LOCK_WARP);
}

ts_val lock_warp_number(lockstep *c)
{
    return c->by_warp ? lock_base(c, LOCK_WARP, 0) : lock_pattern(c, LOCK_WARP, c->width / LOCK_WARP);
}

static ts_val lock_sreg(lockstep *c, ts_val v)
{
    uint32_t kind = TS_S_KIND(ts_at(c->fn, v)->aux), axis = kind % 3;
    if (kind <= TS_SREG_TID_Z)
        return lock_thread(c, axis);
    if (kind <= TS_SREG_CTAID_Z)
        return ts_emit(&c->b, TS_OP_get_tile_block_id, TS_T_i32, 0, NULL, axis, 0);
    if (kind <= TS_SREG_NCTAID_Z)
        return ts_emit(&c->b, TS_OP_get_num_tile_blocks, TS_T_i32, 0, NULL, axis, 0);
    if (kind <= TS_SREG_NTID_Z)
        return lock_i32(c, c->block[axis]);
    switch (kind) {
    case TS_SREG_LANEID:
        return lock_lane(c);
    case TS_SREG_WARPID:
        return lock_warp_number(c);
    case TS_SREG_LANEMASK_LT: {
        ts_val one = ts_bits(&c->b, lock_tile(c, TS_T_i32), 1);
        return ts_op2(&c->b, TS_OP_subi, ts_op2(&c->b, TS_OP_shli, one, lock_lane(c), 0), one, 0);
    }
    case TS_SREG_SHARED_BYTES:
        return lock_i32(c, c->env->shared_bytes);
    case TS_SREG_CLUSTER_SIZE:
        return lock_i32(c, 1); /* a block is a cluster */
    case TS_SREG_SMID:
    case TS_SREG_CLUSTER_RANK:
        return lock_i32(c, 0);
    default:
        lock_fail(c, v, TS_UNSUPPORTED, "sreg of %s is not there on the CPU; launch the kernel on a GPU",
                  kind == TS_SREG_CLOCK64 ? "the clock" : "a cluster");
        return 0;
    }
}

static bool lock_affine_sreg(lockstep *c, const ts_inst *inst, ts_val *base, int64_t *stride)
{
    uint32_t kind = TS_S_KIND(inst->aux), rest = c->block[1] * c->block[2];
    *stride = 1;
    *base = kind == TS_SREG_LANEID ? lock_i32(c, 0) : lock_base(c, 1, rest > 1 ? c->block[0] : 0);
    return kind == TS_SREG_LANEID || (kind == TS_SREG_TID && (rest == 1 || c->block[0] % LOCK_WARP == 0));
}

bool lock_affine(lockstep *c, ts_val v, ts_val *base, int64_t *stride)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val y;
    int64_t k = 0;
    *stride = 0;
    if (!c->by_warp)
        return false;
    if (!c->is.vary[v]) {
        *base = lock_value(c, v, false);
        return true;
    }
    switch ((int)inst->op) {
    case TS_OP_sreg:
        return lock_affine_sreg(c, inst, base, stride);
    case TS_OP_exti: /* of what surely does not wrap */
        if (ts_at(c->fn, inst->opnd[0])->op != TS_OP_sreg || !lock_affine(c, inst->opnd[0], base, stride))
            return false;
        *base = ts_cast(&c->b, TS_OP_exti, *base, inst->type, inst->aux);
        return true;
    case TS_OP_addi:
    case TS_OP_subi:
        if (!lock_affine(c, inst->opnd[0], base, stride) || !lock_affine(c, inst->opnd[1], &y, &k))
            return false;
        *base = ts_op2(&c->b, (ts_op)inst->op, *base, y, 0);
        *stride += inst->op == TS_OP_addi ? k : -k;
        return true;
    case TS_OP_muli:
        if (!ts__const_as_int(c->fn, inst->opnd[1], &k) || k < 0 || k > 64 ||
            !lock_affine(c, inst->opnd[0], base, stride))
            return false;
        *base = ts_op2(&c->b, TS_OP_muli, *base, lock_value(c, inst->opnd[1], false), 0);
        *stride *= k;
        return true;
    default:
        return false;
    }
}

/* ---- elementwise ----------------------------------------------------------------------------------------- */

/* Addresses of shared memory have 32 bits in the source: they count from the block's first byte. */
static ts_val lock_shared_cast(lockstep *c, ts_val v, bool tile)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val x = lock_value(c, inst->opnd[0], tile);
    ts_val base = ts_cast(&c->b, TS_OP_ptr_to_int, c->shared, TS_T_i64, 0);
    base = tile ? lock_spread(c, base) : base;
    if (inst->op == TS_OP_ptr_to_int) {
        x = ts_op2(&c->b, TS_OP_subi, ts_cast(&c->b, TS_OP_ptr_to_int, x, TS_T_i64, 0), base, 0);
        return ts_cast(&c->b, TS_OP_trunci, x, TS_T_i32, 0);
    }
    x = ts_op2(&c->b, TS_OP_addi, ts_cast(&c->b, TS_OP_exti, x, TS_T_i64, TS_A_UNSIGNED), base, 0);
    return ts_cast(&c->b, TS_OP_int_to_ptr, x, lock_type(c, inst->type, false), 0);
}

static bool lock_is_shared(const lockstep *c, ts_type type)
{
    return ts_type_kind(c->m, type) == TS_KIND_PTR && ts_type_get(c->m, type)->space == TS_SHARED;
}

/* A scalar divisor of 0 is a fault, but not where no thread gets to the division. */
static ts_val lock_divisor(lockstep *c, ts_val y)
{
    ts_val some = lock_some(c);
    return some ? ts_select(&c->b, some, y, ts_int(&c->b, ts_type_of(c->b.fn, y), 1)) : y;
}

static ts_val lock_elem(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    bool tile = c->is.vary[v], divides = inst->op == TS_OP_divi || inst->op == TS_OP_remi;
    ts_val x[3] = {0};
    if ((inst->op == TS_OP_int_to_ptr && lock_is_shared(c, inst->type)) ||
        (inst->op == TS_OP_ptr_to_int && lock_is_shared(c, ts_type_of(c->fn, inst->opnd[0]))))
        return lock_shared_cast(c, v, tile);
    for (uint32_t i = 0; i < inst->n_opnd && i < 3; i++)
        x[i] = lock_value(c, inst->opnd[i], tile);
    if (divides && !tile)
        x[1] = lock_divisor(c, x[1]);
    return ts_emit(&c->b, (ts_op)inst->op, lock_type(c, inst->type, tile), inst->n_opnd, x, inst->aux, inst->flags);
}

/* Promises about numbers hold for threads that are here. */
static ts_val lock_assume(lockstep *c, ts_val v)
{
    if (c->is.vary[v] || c->mask)
        return lock_opnd(c, v, 0);
    ts_val made = ts__copy(&c->b, c->fn, v, c->map);
    return made;
}

/* ---- the walk ---------------------------------------------------------------------------------------------- */

void lock_one(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    switch ((int)inst->op) {
    case TS_OP_constant:
    case TS_OP_get_global:
        ts__copy(&c->b, c->fn, v, c->map);
        return;
    case TS_OP_sreg:
        c->map[v] = lock_sreg(c, v);
        return;
    case TS_OP_assume:
        c->map[v] = lock_assume(c, v);
        return;
    case TS_OP_if:
        lock_if(c, v);
        return;
    case TS_OP_for:
    case TS_OP_loop:
        lock_for(c, v);
        return;
    case TS_OP_break:
    case TS_OP_continue:
    case TS_OP_return:
        lock_jump(c, v);
        return;
    case TS_OP_arg:
    case TS_OP_res:
    case TS_OP_yield:
        return;
    default:
        break;
    }
    if (inst->op == TS_OP_foreign)
        lock_fail(c, v, TS_UNSUPPORTED, "%s() is a function of other code, which is for GPUs; launch the kernel on a "
                  "GPU, or write the function in Python", strrchr(ts_str_get(c->m, inst->aux), ' ') + 1);
    else if (inst->op == TS_OP_asm)
        lock_fail(c, v, TS_UNSUPPORTED, "asm(\"%.60s\") is PTX, which is for GPUs; launch the kernel on a GPU, or "
                  "write it in Python", ts_str_get(c->m, inst->aux));
    else if (ts_info(inst)->flags & TS_ELEM)
        c->map[v] = lock_elem(c, v);
    else if (!lock_memory(c, v) && !lock_mma(c, v) && !lock_warp(c, v))
        lock_fail(c, v, TS_UNSUPPORTED,
                  "'%s' is not compiled for the CPU; launch the kernel on a GPU, or do without it",
                  ts_info(inst)->name);
}

void lock_walk(lockstep *c, ts_val from, ts_val to)
{
    for (ts_val v = from; v < to && c->status == TS_OK && !c->gone; v++) {
        c->b.loc = c->fn->loc.at[v];
        lock_one(c, v);
        if (ts__module_failed(c->m) || c->scratch->failed)
            c->status = ts_fail(c->err, TS_NOMEM, "out of memory in pass lockstep");
        if (ts_info(ts_at(c->fn, v))->flags & TS_REGION)
            v = c->shape.end[v];
    }
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

bool lock_is_barrier(const ts_inst *inst)
{
    return inst->op == TS_OP_bar_sync || inst->op == TS_OP_cluster_wait || inst->op == TS_OP_mbar_wait ||
           (inst->op == TS_OP_grid_sync && !inst->aux);
}

void lock_grid_sync(lockstep *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (c->env->plan)
        c->env->plan->cooperative = 1;
    if (!inst->aux)
        ts_emit(&c->b, TS_OP_grid_sync, TS_T_none, 0, NULL, 0, 0);
}

/* Does the kernel need all threads of its block at once? */
static bool lock_needs_block(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++)
        switch ((int)ts_at(fn, v)->op) {
        case TS_OP_bar_sync:
        case TS_OP_grid_sync:
        case TS_OP_cluster_wait:
        case TS_OP_mbar_wait:
        case TS_OP_shared:
        case TS_OP_shared_alloc:
            return true;
        default:
            break;
        }
    return false;
}

/* Does it exchange anything within warps? */
static bool lock_needs_warp(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        switch ((int)inst->op) {
        case TS_OP_vote:
        case TS_OP_shfl:
        case TS_OP_redux:
        case TS_OP_match:
        case TS_OP_elect:
            return true;
        case TS_OP_sreg:
            if (TS_S_KIND(inst->aux) == TS_SREG_LANEMASK_LT)
                return true;
            break;
        default:
            break;
        }
    }
    return false;
}

static void lock_start(lockstep *c)
{
    uint32_t whole = c->n_threads % (uint32_t)c->width;
    ts_val iota = ts_emit(&c->b, TS_OP_iota, lock_tile(c, TS_T_i32), 0, NULL, 0, 0);
    c->number = c->first ? ts_op2(&c->b, TS_OP_addi, lock_spread(c, c->first), iota, TS_A_NSW | TS_A_NUW) : iota;
    c->mask = c->alive = c->any_of = 0;
    c->gone = c->closed = false;
    c->any = true;
    if (whole)
        c->mask = ts_cmp(&c->b, TS_OP_cmpi, TS_LT, c->number, lock_spread(c, lock_i32(c, c->n_threads)), 0);
}

ts_val lock_tiles_begin(lockstep *c)
{
    uint32_t n_tiles = (c->n_threads + (uint32_t)c->width - 1) / (uint32_t)c->width;
    ts_val opener = 0, width = lock_i32(c, c->width);
    if (n_tiles > 1) {
        opener = ts_for_begin(&c->b, lock_i32(c, 0), lock_i32(c, (int64_t)n_tiles * c->width), width, 0, NULL, 0);
        c->first = ts_region_arg(c->b.fn, opener, 0);
    }
    lock_start(c);
    return opener;
}

void lock_tiles_end(lockstep *c, ts_val opener)
{
    if (opener) {
        ts_term(&c->b, TS_OP_continue, 0, NULL);
        ts_end(&c->b, opener, 0, NULL);
    }
    c->first = 0, c->any_of = 0;
}

static void lock_body(lockstep *c)
{
    if (c->split.level)
        lock_split_body(c);
    else {
        ts_val opener = lock_tiles_begin(c);
        lock_walk(c, 1 + c->fn->n_params, c->fn->inst.n);
        lock_tiles_end(c, opener);
    }
    ts_term(&c->b, TS_OP_return, 0, NULL);
}

static ts_status lock_block(lockstep *c)
{
    memcpy(c->block, c->env->block, sizeof c->block);
    if (!c->block[0] && c->fn->num_warps) /* as many as it promises */
        c->block[0] = LOCK_WARP * (uint32_t)c->fn->num_warps, c->block[1] = c->block[2] = 1;
    const char *name = ts_str_get(c->m, c->fn->name);
    uint64_t n = (uint64_t)c->block[0] * c->block[1];
    n = TS_MIN(n, (uint64_t)UINT32_MAX) * c->block[2];
    uint32_t together = ts__mma_threads(c->fn);
    if (together && n % together)
        return ts_fail(c->err, TS_VALUE, TS_MMA_BLOCK, name, c->block[0], c->block[1], c->block[2], together);
    if (n > TS_BLOCK_THREADS)
        return ts_fail(c->err, TS_VALUE, "kernel '%s': a block of (%u, %u, %u) threads; a block has at most %d "
                       "threads, use more blocks", name, c->block[0], c->block[1], c->block[2], TS_BLOCK_THREADS);
    if (!n)
        return ts_fail(c->err, TS_VALUE, "kernel '%s' is written for threads, found a block of (%u, %u, %u): say how "
                       "many threads a block has, 1 to %d, at the launch", name, c->block[0], c->block[1], c->block[2],
                       TS_BLOCK_THREADS);
    c->n_threads = (uint32_t)n;
    return TS_OK;
}

/* How wide a tile is, and what differs within it. False when memory is out. */
static bool lock_decide(lockstep *c)
{
    c->alone = c->n_threads == 1 && !lock_needs_warp(c->fn);
    c->width = c->alone ? 1 : LOCK_WARP;
    c->by_warp = !lock_needs_block(c->fn) || c->n_threads <= LOCK_WARP;
    if (c->by_warp)
        return ts__lock_vary(c);
    while (c->width < c->n_threads)
        c->width *= 2;
    return ts__lock_split(c);
}

/* How the threads of a block run, for inspect_cpu(). */
static void lock_note(const lockstep *c)
{
    ts_val at = c->fn->n_params + 1;
    if (c->alone)
        ts__note(c->fn, at, TS_NOTE_threads, "single", "the one thread of a block is a loop like C's");
    else if (c->width == LOCK_WARP && c->by_warp)
        ts__note(c->fn, at, TS_NOTE_threads, "warps", "%u threads at a time, each value a vector; runs of statements "
                 "between two barriers are loops over %u warps", LOCK_WARP, (c->n_threads + LOCK_WARP - 1) / LOCK_WARP);
    else
        ts__note(c->fn, at, TS_NOTE_threads, "block", "all %u threads at once, step by step: barriers stand where "
                 "threads may part, or threads end before them", c->n_threads);
}

ts_status ts__pass_lockstep(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    lockstep *c = TS_NEW(env->scratch, lockstep);
    if (!c)
        return ts_fail(err, TS_NOMEM, "out of memory in pass lockstep");
    *c = (lockstep){.fn = fn, .m = fn->module, .env = env, .scratch = env->scratch, .err = err};
    TS_TRY(lock_block(c));
    ts_fn *fresh = ts__fn_create_like(fn);
    c->map = TS_NEW_N(env->scratch, ts_val, fn->inst.n);
    if (!fresh || !c->map || !ts__shape_of(fn, env->scratch, &c->shape) || !lock_decide(c))
        return ts_fail(err, TS_NOMEM, "out of memory in pass lockstep");
    lock_note(c);
    fresh->level = TS_LEVEL_T;
    fresh->num_warps = 0;
    ts__builder_init(&c->b, fresh);
    for (ts_val v = 1; v <= fn->n_params; v++)
        c->map[v] = ts_fn_param(&c->b, ts_type_of(fn, v));
    lock_shared_begin(c);
    lock_body(c);
    if (c->status != TS_OK)
        return c->status;
    if (ts__module_failed(c->m) || c->scratch->failed)
        return ts_fail(err, TS_NOMEM, "out of memory in pass lockstep");
    env->lanes = c->width == LOCK_WARP ? LOCK_WARP : 0;
    env->serial = c->alone;
    env->by_rows = c->by_warp && c->n_threads > LOCK_WARP && c->block[0] <= LOCK_WARP;
    fn->level = TS_LEVEL_T;
    fn->num_warps = 0;
    ts__fn_replace(fn, fresh);
    return TS_OK;
}
