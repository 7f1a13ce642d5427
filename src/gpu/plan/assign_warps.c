/* SPDX-License-Identifier: Apache-2.0
 *
 * How many warps work on a tile, how many thread blocks share it, and how many elements a thread holds side by side
 * (assign.h): from the largest tile that is loaded or stored, the widths of its elements and the kernel's hints.
 */
#include "ir/commute.h"
#include "gpu/plan/again.h"
#include "gpu/plan/assign.h"

enum { WARPS_MOST = 5 }; /* log2, in a thread block */
/* Kernels that go over the same memory in one loop after another (again.h), in pieces up to so many elements, log2, in
 * vectors of at most so many: rows of 16-bit elements are half as long, and more blocks of them fit the caches (layer
 * norm f16 4096 x 8192 in pieces of 1024: 42 us with four warps, 50 with eight, 68 with 16; H200). */
enum { WARPS_AGAIN = 4, WARPS_PIECE = 11, WARPS_WIDE = 2 };

/* Nearly all of what is accessed: all but one part in so many. */
enum { WARPS_NEARLY = 8 };
/* Most elements of a warp, log2, 64 a thread, beside products that stand in no loop, with tiles larger than their
 * results (a Fourier transform of 4096 f16 in one block: 331 us with four warps, 234 with eight, 411 with 16; H200). */
enum { WARPS_SHARE = TS_LAYOUT_LANES + 6 };

typedef struct warps_sizes {
    uint32_t bits, least, most;          /* largest tile of a memory access; element bytes */
    uint64_t loaded[17], stored[17];     /* elements that one run of each load reads, store writes, by their bytes */
    uint32_t mma_bits, mma_rows, mma_log_regs, any_bits; /* words: of an accumulator, log2 */
    bool reduces, rows, scans;                                 /* rows: along the last axis of a tile */
} warps_sizes;

/* Bytes of an element of the accessed tile; 0: it is no tile. */
static uint32_t warps_measure_type(const ts_module *module, ts_type type, warps_sizes *sizes)
{
    if (ts_type_kind(module, type) != TS_KIND_TILE)
        return 0;
    uint32_t bytes = TS_MAX(1u, ts_type_bits(module, ts_type_elem(module, type)) / 8);
    sizes->bits = TS_MAX(sizes->bits, (uint32_t)ts_log2((uint64_t)ts_type_count(module, type)));
    if (bytes >= 2) {
        sizes->least = TS_MIN(sizes->least, bytes);
        sizes->most = TS_MAX(sizes->most, bytes);
    }
    return bytes;
}

/* Beside elements that are read in vectors, those of views that have none do not say how long vectors are (the parts of
 * a sum of f16, which its last block joins). */
static void warps_measure_access(const ts_fn *fn, const ts_inst *inst, ts_type type, uint64_t *elements,
                                 warps_sizes *sizes)
{
    uint32_t bytes = warps_measure_type(fn->module, type, sizes);
    bool by_view = inst->op == TS_OP_load_view_tko || inst->op == TS_OP_store_view_tko;
    if (bytes && (!by_view || ts__view_has_vectors(fn, ts_opnds(fn, inst)[0])))
        elements[TS_MIN(bytes, 16u)] += (uint64_t)ts_type_count(fn->module, type);
}

/* Bytes of the elements that most of what is stored consists of, or nearly all that is accessed, as of sums of many
 * rows of f32 that leave as one of bf16; 0: nothing is. */
static uint32_t warps_width(const warps_sizes *sizes)
{
    uint32_t found = 0;
    uint64_t all = 0;
    for (uint32_t bytes = 2; bytes <= 16; bytes++) {
        all += (sizes->loaded[bytes] + sizes->stored[bytes]) * bytes;
        if (sizes->stored[bytes] * bytes > sizes->stored[found] * found)
            found = bytes;
    }
    for (uint32_t bytes = 2; bytes <= 16; bytes++)
        if ((sizes->loaded[bytes] + sizes->stored[bytes]) * bytes > all - all / WARPS_NEARLY)
            found = bytes;
    return found;
}

/* Are nearly all elements bytes, of which few results are made? */
static bool warps_reduces_bytes(const warps_sizes *sizes)
{
    uint64_t all = 0;
    for (uint32_t bytes = 1; bytes <= 16; bytes++)
        all += (sizes->loaded[bytes] + sizes->stored[bytes]) * bytes;
    return sizes->reduces && !sizes->mma_bits && sizes->loaded[1] > all - all / WARPS_NEARLY;
}

/* Elements a thread holds side by side: 16 bytes of the narrowest ones that are accessed, at most 32 of the widest.
 * Where most of what is stored is wider, 16 bytes of that: the threads' pieces of one store then lie side by side, and
 * none writes half a sector of L2 (sums of rows under locks that read f16 and add up f32). */
static uint32_t warps_vector(const warps_sizes *sizes)
{
    if (warps_reduces_bytes(sizes))
        return 16;
    uint32_t vec = TS_MIN(16u / sizes->least, TS_MAX(1u, 32u / sizes->most)), width = warps_width(sizes);
    return width ? TS_MIN(vec, TS_MAX(1u, 16u / width)) : vec;
}

static warps_sizes warps_measure(const ts_fn *fn)
{
    warps_sizes sizes = {.least = 16};
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        if (inst->op == TS_OP_load_view_tko || inst->op == TS_OP_load_ptr_tko)
            warps_measure_access(fn, inst, inst->type, sizes.loaded, &sizes);
        if (inst->op == TS_OP_store_view_tko || inst->op == TS_OP_store_ptr_tko)
            warps_measure_access(fn, inst, ts_type_of(fn, ts_opnd(fn, v, 1)), sizes.stored, &sizes);
        uint32_t bits = ts_type_kind(fn->module, inst->type) == TS_KIND_TILE
                            ? (uint32_t)ts_log2((uint64_t)ts_type_count(fn->module, inst->type)) : 0;
        if (inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai) {
            uint32_t rank = ts_type_rank(fn->module, inst->type);
            sizes.mma_bits = TS_MAX(sizes.mma_bits, bits);
            sizes.mma_log_regs = TS_MAX(sizes.mma_log_regs, ts_type_elem(fn->module, inst->type) == TS_T_f64 ? 1u : 0u);
            sizes.mma_rows =
                TS_MAX(sizes.mma_rows, (uint32_t)ts_log2((uint64_t)ts_type_dims(fn->module, inst->type)[rank - 2]));
        }
        sizes.any_bits = TS_MAX(sizes.any_bits, bits);
        sizes.reduces = sizes.reduces || inst->op == TS_OP_reduce;
        sizes.scans = sizes.scans || inst->op == TS_OP_scan;
        if (inst->op == TS_OP_reduce) { /* in ascending order */
            sizes.scans = sizes.scans || !ts__body_commutes(fn, v);
            uint32_t rank = ts_type_rank(fn->module, ts_type_of(fn, ts_opnd(fn, v, 0)));
            sizes.rows = sizes.rows || ts_pool(fn, inst)[0] + 1 == rank;
        }
    }
    if (sizes.least == 16)
        sizes.least = sizes.most = 4;
    sizes.bits = sizes.bits ? sizes.bits : sizes.any_bits;
    return sizes;
}

/* Products: accumulators of 64 x 64 words a warp, the most that leaves registers for operands, since the traffic
 * of shared memory falls with the size of a warp's part. With reductions rows matter more. */
static uint32_t warps_of_products(const warps_sizes *sizes, uint32_t warps)
{
    if (sizes->mma_bits < 11)
        return TS_MIN(warps, 2u);
    if (sizes->reduces)
        return sizes->mma_bits >= 14 ? 3 : 2;
    return sizes->mma_bits + sizes->mma_log_regs >= 15 ? 3 : 2;
}

/* log2 of the elements that a thread wants: a vector, two of a tile that is stored along another axis. */
static uint32_t warps_share(const ts_assign *out, const ts_fn *fn)
{
    bool flips = false;
    for (ts_val v = 1; v < fn->inst.n; v++)
        flips = flips || ts__flip_across(fn, v) != TS_NO;
    return out->vec + (flips ? 1 : 0);
}

/* Thread blocks for a tile block: what the kernel asks for, as far as each gets a warp's vectors. A cluster is one
 * large block to everything but products, whose loops they share (schedule/split_k.c). */
static uint32_t warps_blocks(const ts_fn *fn, const ts_pass_env *env, const ts_assign *out, const warps_sizes *sizes)
{
    uint32_t least = TS_LAYOUT_LANES + out->vec;
    if (fn->num_ctas <= 1 || env->target < TS_TARGET_SM90 || out->tma.active || sizes->mma_bits || sizes->bits <= least)
        return 0;
    uint32_t wanted = (uint32_t)ts_log2(fn->num_ctas), most = TS_LAYOUT_WARPS - WARPS_MOST;
    return TS_MIN(TS_MIN(wanted, most), sizes->bits - least);
}

/* Vectors; then as many warps as that many
 * elements a thread leave busy: 1 to 16, and with a reduction, whose barriers cost more the more warps wait,
 * 1 to 4 until a thread has more than four vectors, then 8 until it has more than 64 elements (measured on an H200
 * and rows of 128 to 16384 elements). */
void ts__assign_warps(ts_assign *out, const ts_fn *fn, const ts_pass_env *env)
{
    warps_sizes sizes = warps_measure(fn);
    uint32_t warps = 0;
    uint32_t hint = fn->num_warps ? fn->num_warps : env->hints ? env->hints->num_worker_warps : 0;
    out->vec = (uint32_t)ts_log2(warps_vector(&sizes));
    out->scans = sizes.scans;
    out->reduces = sizes.reduces;
    out->rows = sizes.rows;
    out->n_cta = warps_blocks(fn, env, out, &sizes);
    sizes.bits -= out->n_cta;
    sizes.any_bits -= TS_MIN(sizes.any_bits, out->n_cta);
    uint32_t least = TS_LAYOUT_LANES + warps_share(out, fn);
    if (sizes.bits > least)
        warps = TS_MIN(!sizes.reduces ? 4u : sizes.bits > least + 4 ? 3u : 2u, sizes.bits - least);
    bool pieces = sizes.bits > TS_LAYOUT_LANES + WARPS_AGAIN && sizes.bits <= WARPS_PIECE;
    if (!sizes.mma_bits && sizes.reduces && pieces && out->vec <= WARPS_WIDE && ts__again(fn, env->scratch))
        warps = WARPS_AGAIN;
    if (sizes.mma_bits)
        warps = warps_of_products(&sizes, warps);
    bool loops = ts__has_op(fn, TS_OP_for) || ts__has_op(fn, TS_OP_loop);
    if (sizes.mma_bits && !loops && sizes.bits > TS_MAX(sizes.mma_bits, (uint32_t)WARPS_SHARE))
        warps = TS_MAX(warps, TS_MIN((uint32_t)WARPS_MOST, sizes.bits - WARPS_SHARE));
    if (sizes.mma_bits >= 11 && sizes.reduces && sizes.mma_rows > 4) /* attention: 16 whole rows a warp */
        warps = TS_MIN(3u, sizes.mma_rows - 4);
    if (sizes.any_bits > 14 && !sizes.mma_bits)
        warps = TS_MAX(warps, TS_MIN((uint32_t)WARPS_MOST, sizes.any_bits - 11u));
    if (hint)
        warps = (uint32_t)ts_log2(TS_MIN(hint, 1u << WARPS_MOST));
    out->n_warp = out->tma.active ? out->tma.n_warp : warps + out->n_cta;
}
