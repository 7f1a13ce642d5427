/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores and atomics through tiles of pointers (lower.h). Neighbouring registers whose pointers are the same
 * base plus 0, 1, 2, .. elements move as one vector; that is read off the thread code just written (base, sums of
 * terms, constants).
 */
#include "gpu/lower/code.h"
#include "gpu/lower/convert.h"
#include "gpu/lower/op.h"

/* Additions behind an offset that are looked at; what is taken to divide an offset without terms. */
enum { PTR_DEPTH = 12, PTR_ALIGN = 1 << 20 };

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

/* A number as constant + sum of terms; `terms` is a hash of the sum, `align` divides it. */
typedef struct ptr_sum {
    int64_t fixed, align;
    uint64_t terms;
} ptr_sum;

static void ptr_add_up(const ts_fn *fn, ts_val v, uint32_t depth, ptr_sum *sum)
{
    const ts_inst *inst = ts_at(fn, v);
    int64_t value;
    if (ts__const_as_int(fn, v, &value)) {
        sum->fixed += value;
    } else if (inst->op == TS_OP_addi && depth < PTR_DEPTH) {
        ptr_add_up(fn, inst->opnd[0], depth + 1, sum);
        ptr_add_up(fn, inst->opnd[1], depth + 1, sum);
    } else if (inst->op == TS_OP_exti && depth < PTR_DEPTH) {
        ptr_add_up(fn, inst->opnd[0], depth + 1, sum);
    } else {
        sum->terms += ts__hash(&v, sizeof v, 0);
        sum->align = TS_MIN(sum->align, ts__lower_divisor(fn, v));
    }
}

static ptr_sum ptr_sum_of(const ts_fn *fn, ts_val v)
{
    ptr_sum sum = {.align = PTR_ALIGN};
    ptr_add_up(fn, v, 0, &sum);
    return sum;
}

/* The base and element offset of a pointer made by `offset`. */
static ptr_sum ptr_offset_of(const ts_fn *fn, ts_val v, ts_val *base)
{
    const ts_inst *inst = ts_at(fn, v);
    *base = inst->op == TS_OP_offset ? inst->opnd[0] : v;
    return inst->op == TS_OP_offset ? ptr_sum_of(fn, inst->opnd[1]) : (ptr_sum){.align = PTR_ALIGN};
}

typedef struct ptr_access {
    ts_type elem;
    uint32_t bytes, log_vec, member[16], vector;
    const ts_linear *layout;
    const ts_val *pointer, *mask;
} ptr_access;

static bool ptr_follows(const ts_fn *fn, ts_val first, ts_val other, int64_t by, int64_t vec, uint32_t bytes)
{
    ts_val base, base_first;
    ptr_sum a = ptr_offset_of(fn, first, &base_first), b = ptr_offset_of(fn, other, &base);
    return base == base_first && a.terms == b.terms && b.fixed == a.fixed + by && a.align % vec == 0 &&
           a.fixed % vec == 0 && ts__lower_divisor(fn, base) % (vec * bytes) == 0;
}

/* One predicate may stand for the vector: the same value, or `i < n` with n a multiple of the vector. */
static bool ptr_mask_follows(const ts_fn *fn, ts_val first, ts_val other, int64_t by, int64_t vec)
{
    const ts_inst *a = ts_at(fn, first), *b = ts_at(fn, other);
    if (first == other)
        return true;
    if (a->op != TS_OP_cmpi || b->op != TS_OP_cmpi || a->aux != b->aux || TS_A_GET_PRED(a->aux) != TS_LT ||
        a->opnd[1] != b->opnd[1])
        return false;
    ptr_sum x = ptr_sum_of(fn, a->opnd[0]), y = ptr_sum_of(fn, b->opnd[0]);
    return x.terms == y.terms && y.fixed == x.fixed + by && x.align % vec == 0 && x.fixed % vec == 0 &&
           ts__lower_divisor(fn, a->opnd[1]) % vec == 0;
}

static bool ptr_vector_fits(const ts_lower *lw, const ptr_access *a, uint32_t vector, const uint32_t *member,
                            uint32_t log_n)
{
    uint32_t repeats = ts__lower_repeats(a->layout), n = 1u << log_n;
    for (uint32_t r = 0; r < 1u << a->layout->n_reg; r++) {
        if (r & (vector | repeats))
            continue;
        for (uint32_t k = 1; k < n; k++) {
            uint32_t other = r ^ member[k];
            if (!ptr_follows(lw->fn, a->pointer[r], a->pointer[other], k, n, a->bytes))
                return false;
            if (a->mask && !ptr_mask_follows(lw->fn, a->mask[r], a->mask[other], k, n))
                return false;
        }
    }
    return true;
}

static void ptr_vectors(ts_lower *lw, ptr_access *a)
{
    uint32_t bit[4] = {0};
    a->log_vec = a->vector = a->member[0] = 0;
    for (uint32_t log_n = 1; a->bytes << log_n <= 16; log_n++) {
        uint32_t member[16], vector = 0;
        int reg = log_n <= a->layout->bits ? ts__linear_reg_bit(a->layout, log_n - 1) : -1;
        if (reg < 0)
            return;
        bit[log_n - 1] = 1u << reg;
        for (uint32_t k = 0; k < 1u << log_n; k++)
            member[k] = ts_xor_of(bit, log_n, k);
        for (uint32_t i = 0; i < log_n; i++)
            vector |= bit[i];
        if (!ptr_vector_fits(lw, a, vector, member, log_n))
            return;
        a->log_vec = log_n;
        a->vector = vector;
        memcpy(a->member, member, sizeof member);
    }
}

static void ptr_describe(ts_lower *lw, ptr_access *a, ts_val v, const ts_linear *layout)
{
    uint32_t mask = ts__opnd_mask(ts_at(lw->tile, v));
    ts_type pointer = ts_type_elem(lw->module, ts_type_of(lw->tile, ts_opnd(lw->tile, v, 0)));
    *a = (ptr_access){.layout = layout, .elem = ts_type_get(lw->module, pointer)->elem};
    a->bytes = TS_MAX(1u, ts_type_bits(lw->module, a->elem) / 8);
    ts_assert(ts_is_pow2(a->bytes) && a->bytes <= 8);
    a->pointer = ts__lower_get(lw, ts_opnd(lw->tile, v, 0), layout);
    a->mask = mask == TS_NO ? NULL : ts__lower_get(lw, ts_opnd(lw->tile, v, mask), layout);
}

ts_cache_use ts__lower_cache(uint32_t attr, bool load)
{
    switch (TS_M_GET_ORDER(attr)) {
    case TS_WEAK:
        return TS_CACHE_NONE;
    case TS_RELAXED:
        return TS_CACHE_RELAXED;
    default:
        return load ? TS_CACHE_ACQUIRE : TS_CACHE_RELEASE;
    }
}

bool ts__lower_releases(uint32_t attr)
{
    return TS_M_GET_ORDER(attr) == TS_RELEASE || TS_M_GET_ORDER(attr) == TS_ACQ_REL;
}

bool ts__lower_acquires(uint32_t attr)
{
    return TS_M_GET_ORDER(attr) == TS_ACQUIRE || TS_M_GET_ORDER(attr) == TS_ACQ_REL;
}

/* Pointers of a gather: what an access moves, and that only neighbours move together. */
static void ptr_note(const ts_lower *lw, const ptr_access *a, ts_val v, ts_note_kind kind)
{
    uint32_t bytes = a->bytes << a->log_vec;
    ts__note(lw->tile, v, kind, a->log_vec ? "vector" : "gather", "%u bytes an access, pointer by pointer", bytes);
    if (bytes < 16)
        ts__note(lw->tile, v, TS_NOTE_missed, "vector",
                "neighbouring pointers are not known to follow each other, aligned and under "
                "one mask");
}

ts_val ts__lower_reader(ts_lower *lw, uint32_t attr, const ts_linear *layout)
{
    return TS_M_GET_ORDER(attr) == TS_WEAK ? 0 : ts__lower_is_first(lw, ts__linear_replicas(layout));
}

/* ---- loads and stores ------------------------------------------------------------------------------------------- */

void ts__lower_load_ptr(ts_lower *lw, ts_val v)
{
    ptr_access a;
    const ts_linear *layout = ts__lower_home(lw, v);
    uint32_t attr = ts_at(lw->tile, v)->aux, pad = ts__opnd_pad(ts_at(lw->tile, v));
    uint32_t repeats = ts__lower_repeats(layout);
    ts__lower_before_load(lw, v);
    ptr_describe(lw, &a, v, layout);
    const ts_val *pads = pad == TS_NO ? NULL : ts__lower_get(lw, ts_opnd(lw->tile, v, pad), layout);
    ts_val *out = ts__lower_regs(lw, layout), only = ts__lower_reader(lw, attr, layout);
    ptr_vectors(lw, &a);
    if (pads && a.mask)
        for (uint32_t r = 1; r < 1u << layout->n_reg && a.log_vec; r++)
            if (pads[r] != pads[0]) /* one padding value for a vector */
                a.log_vec = a.vector = a.member[0] = 0;
    ptr_note(lw, &a, v, TS_NOTE_load);
    ts__lower_accesses(lw, v);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val values[16], mask = a.mask ? a.mask[r] : 0;
        if (r & (repeats | a.vector))
            continue;
        ts_val fill = !mask ? 0 : pads ? pads[r] : ts_bits(&lw->b, a.elem, 0);
        ts_val pred = ts__lower_and(lw, only, mask);
        ts__lower_ld(lw, a.elem, a.pointer[r], 1u << a.log_vec, ts__lower_cache(attr, true), pred,
                    pred && !fill ? TS_NO : fill, values);
        for (uint32_t k = 0; k < 1u << a.log_vec; k++)
            out[r ^ a.member[k]] = values[k];
    }
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++)
        out[r] = out[r & ~repeats];
    if (only) /* has a barrier, which an acquire wants anyway */
        out = ts__lower_share(lw, v, a.elem, layout, out, only);
    else if (ts__lower_acquires(attr))
        ts__lower_barrier(lw);
    ts__lower_set(lw, v, layout, out);
}

const ts_linear *ts__ptr_store_layout(ts_lower *lw, ts_val v)
{
    ts_val pointer = ts_opnd(lw->tile, v, 0), value = ts_opnd(lw->tile, v, 1);
    if (lw->assign.home[pointer])
        return lw->assign.home[pointer];
    return lw->assign.home[value] ? lw->assign.home[value] : ts__lower_home(lw, pointer);
}

void ts__lower_store_ptr(ts_lower *lw, ts_val v)
{
    ptr_access a;
    const ts_linear *layout = ts__ptr_store_layout(lw, v);
    uint32_t attr = ts_at(lw->tile, v)->aux;
    ts_place same = ts__linear_replicas(layout);
    const ts_val *regs = ts__lower_get(lw, ts_opnd(lw->tile, v, 1), layout);
    ts__lower_before_store(lw, v);
    ptr_describe(lw, &a, v, layout);
    ptr_vectors(lw, &a);
    ptr_note(lw, &a, v, TS_NOTE_store);
    ts_val only = ts__lower_is_first(lw, same);
    if (ts__lower_releases(attr))
        ts__lower_barrier(lw);
    ts__lower_accesses(lw, v);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val values[16];
        if (r & (same.reg | a.vector))
            continue;
        for (uint32_t k = 0; k < 1u << a.log_vec; k++)
            values[k] = regs[r ^ a.member[k]];
        ts__lower_st(lw, a.pointer[r], 1u << a.log_vec, values, ts__lower_cache(attr, false),
                    ts__lower_and(lw, only, a.mask ? a.mask[r] : 0));
    }
}

/* ---- atomics ---------------------------------------------------------------------------------------------------- */

static ts_val ptr_atomic_one(ts_lower *lw, ts_val v, bool used, ts_val pointer, ts_val compare, ts_val value,
                             ts_val pred)
{
    uint32_t attr = TS_M_WITHOUT_INBOUNDS(ts_at(lw->tile, v)->aux), n = 0;
    ts_val opnds[4] = {pointer};
    ts_rmw mode = TS_M_GET_MODE(attr);
    n = 1;
    if (compare) {
        opnds[n++] = compare;
        attr = (attr & ~TS_M_MODE(15)) | TS_M_MODE(TS_RMW_CAS);
    }
    opnds[n++] = value;
    if (pred)
        opnds[n++] = pred;
    if (!used && !compare && mode != TS_RMW_XCHG) {
        ts_emit(&lw->b, TS_OP_red, TS_T_none, n, opnds, attr, pred ? TS_F_MASK : 0);
        return 0;
    }
    return ts_emit(&lw->b, TS_OP_atom, ts_type_of(lw->fn, value), n, opnds, attr, pred ? TS_F_MASK : 0);
}

/* Masked elements give what cas compares with, or zero. */
static void ptr_masked_results(ts_lower *lw, const ptr_access *a, const ts_val *compare, ts_val *out)
{
    for (uint32_t r = 0; a->mask && r < 1u << a->layout->n_reg; r++) {
        ts_val other = compare ? compare[r] : ts_bits(&lw->b, ts_type_of(lw->fn, out[r]), 0);
        out[r] = ts_select(&lw->b, a->mask[r], out[r], other);
    }
}

void ts__lower_atomic(ts_lower *lw, ts_val v)
{
    ptr_access a;
    bool cas = ts_at(lw->tile, v)->op == TS_OP_atomic_cas_tko, used = lw->shape.uses[v] > lw->order.tokens[v];
    const ts_linear *layout = used ? ts__lower_home(lw, v) : ts__ptr_store_layout(lw, v);
    uint32_t attr = ts_at(lw->tile, v)->aux;
    ts_place same = ts__linear_replicas(layout);
    const ts_val *value = ts__lower_get(lw, ts_opnd(lw->tile, v, cas ? 2 : 1), layout);
    const ts_val *compare = cas ? ts__lower_get(lw, ts_opnd(lw->tile, v, 1), layout) : NULL;
    ts__lower_before_store(lw, v);
    ptr_describe(lw, &a, v, layout);
    ts__note(lw->tile, v, TS_NOTE_store, "atomic", "%u bytes an access", a.bytes);
    ts_val only = ts__lower_is_first(lw, same), *out = ts__lower_regs(lw, layout);
    if (ts__lower_releases(attr))
        ts__lower_barrier(lw);
    ts__lower_accesses(lw, v);
    for (uint32_t r = 0; r < 1u << layout->n_reg; r++) {
        ts_val pred = ts__lower_and(lw, only, a.mask ? a.mask[r] : 0);
        out[r] = r & same.reg ? out[r & ~same.reg]
                              : ptr_atomic_one(lw, v, used, a.pointer[r], cas ? compare[r] : 0, value[r], pred);
    }
    if (used) {
        ptr_masked_results(lw, &a, compare, out);
        if (only)
            out = ts__lower_share(lw, v, ts__lower_elem(lw, v), layout, out, only);
        ts__lower_set(lw, v, layout, out);
    }
    if (ts__lower_acquires(attr))
        ts__lower_barrier(lw);
}
