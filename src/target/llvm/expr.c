/* SPDX-License-Identifier: Apache-2.0
 *
 * cg_gen: the value of a tile at given coordinates, as one vector, made by following its definition down
 * to memory, constants and scalars. Shape operations only change the coordinates. What was made once
 * for the same coordinates in the same block is found again in the memo. See cg.h.
 */
#include "ir/note.h"
#include "target/llvm/cg.h"

#include <stdio.h>

enum { EXPR_GEN = 8, EXPR_MAP = 9, EXPR_WIDE = 10 }; /* kinds of keys in the memo; AFFINE_KEY is another */

/* ---- coordinates --------------------------------------------------------------------------------*/

cg_ix cg_ix_scalar(cg *e, uint32_t rank)
{
    cg_index index;
    memset(&index, 0, sizeof index);
    index.rank = rank;
    for (uint32_t k = 0; k < rank; k++)
        index.axis[k].base = cg_int(e, 0);
    return cg_intern(e, &index);
}

uint32_t cg_held(const cg *e, ts_type type)
{
    bool held = e->lanes && ts_type_kind(e->m, type) == TS_KIND_TILE && ts_type_rank(e->m, type) == 1 &&
                ts_type_count(e->m, type) == (int64_t)1 << e->lanes;
    return held ? e->lanes : 0;
}

cg_ix cg_ix_held(cg *e)
{
    cg_index index;
    memset(&index, 0, sizeof index);
    index.rank = 1;
    index.bits = e->lanes;
    index.axis[0].base = cg_int(e, 0);
    for (uint32_t b = 0; b < e->lanes; b++)
        index.axis[0].lane[b] = (int64_t)1 << b;
    return cg_intern(e, &index);
}

/* Row-major position of coordinates in a tile of these extents, as one axis. */
static cg_axis expr_linear(cg *e, const cg_index *at, const int64_t *dims)
{
    cg_axis sum = {.base = cg_int(e, 0)};
    int64_t stride = 1;
    for (uint32_t k = at->rank; k-- > 0; stride *= dims[k]) {
        sum.base = cg_add(e, cg_mul(e, at->axis[k].base, cg_int(e, stride)), sum.base);
        for (uint32_t b = 0; b < at->bits; b++)
            sum.lane[b] += at->axis[k].lane[b] * stride;
    }
    return sum;
}

/* The reverse. Extents are powers of two and lanes never carry into the base, so bits are cut out. */
static void expr_split(cg *e, const cg_axis *line, uint32_t bits, uint32_t rank, const int64_t *dims, cg_index *out)
{
    uint32_t shift = 0;
    memset(out, 0, sizeof *out);
    out->rank = rank;
    out->bits = bits;
    for (uint32_t k = rank; k-- > 0; shift += (uint32_t)ts_log2((uint64_t)dims[k])) {
        out->axis[k].base = cg_and(e, cg_shr(e, line->base, shift), dims[k] - 1);
        for (uint32_t b = 0; b < bits; b++)
            out->axis[k].lane[b] = line->lane[b] >> shift & (dims[k] - 1);
    }
}

/* Reshapes that only add or remove extents of 1 keep every other coordinate as it is. */
static bool expr_squeeze(cg *e, const cg_index *at, const int64_t *dims, uint32_t rank,
                         const int64_t *to, cg_index *out)
{
    uint32_t i = 0;
    memset(out, 0, sizeof *out);
    out->rank = rank;
    out->bits = at->bits;
    for (uint32_t k = 0; k < rank; k++) {
        out->axis[k].base = cg_int(e, 0);
        if (to[k] == 1)
            continue;
        while (i < at->rank && dims[i] == 1)
            i++;
        if (i == at->rank || dims[i] != to[k])
            return false;
        out->axis[k] = at->axis[i++];
    }
    while (i < at->rank && dims[i] == 1)
        i++;
    return i == at->rank;
}

static void expr_reshape(cg *e, const cg_index *at, ts_type from, ts_type to, cg_index *out)
{
    const int64_t *dims = ts_type_dims(e->m, from), *want = ts_type_dims(e->m, to);
    uint32_t rank = ts_type_rank(e->m, to);
    if (expr_squeeze(e, at, dims, rank, want, out))
        return;
    cg_axis line = expr_linear(e, at, dims);
    expr_split(e, &line, at->bits, rank, want, out);
}

/* Coordinates of operand 0 for shape operations that are pure maps. */
static void expr_map(cg *e, ts_val v, const cg_index *at, cg_index *out)
{
    const ts_inst *inst = ts_at(e->fn, v);
    ts_type from = ts_type_of(e->fn, ts_opnds(e->fn, inst)[0]);
    const int64_t *dims = ts_type_dims(e->m, from);
    *out = *at;
    if (inst->op == TS_OP_reshape)
        expr_reshape(e, at, inst->type, from, out);
    else if (inst->op == TS_OP_permute)
        for (uint32_t k = 0; k < at->rank; k++)
            out->axis[ts_pool(e->fn, inst)[1 + k]] = at->axis[k];
    else if (inst->op == TS_OP_broadcast)
        for (uint32_t k = 0; k < at->rank; k++) {
            if (dims[k] == 1) {
                out->axis[k] = (cg_axis){.base = cg_int(e, 0)};
            }
        }
    else if (inst->op == TS_OP_extract)
        for (uint32_t k = 0; k < at->rank; k++) {
            int64_t part = ts_type_dims(e->m, inst->type) ? ts_type_dims(e->m, inst->type)[k] : 1;
            cg_ref slice = cg_and(e, cg_scalar_i64(e, ts_opnds(e->fn, inst)[1 + k]), dims[k] / part - 1);
            out->axis[k].base = cg_add(e, cg_mul(e, slice, cg_int(e, part)), at->axis[k].base);
        }
}

cg_ix cg_mapped(cg *e, ts_val v, cg_ix ix)
{
    cg_index out, at = *cg_index_of(e, ix);
    cg_ref known = cg_known(e, CG_KEY(EXPR_MAP, v, 0), ix);
    if (known)
        return known - 1;
    memset(&out, 0, sizeof out);
    expr_map(e, v, &at, &out);
    cg_ix to = cg_intern(e, &out);
    cg_remember(e, CG_KEY(EXPR_MAP, v, 0), ix, to + 1);
    return to;
}

/* Values base + lane offsets, as a vector of i64 or narrower. */
static cg_ref expr_axis_value(cg *e, const cg_axis *axis, cg_reg reg, uint32_t bits)
{
    int64_t lane[1 << CG_LANE_BITS] = {0}, c;
    bool flat = true;
    for (uint32_t i = 0; i < 1u << bits; i++)
        for (uint32_t b = 0; b < bits; b++)
            lane[i] += (i >> b & 1) * axis->lane[b];
    for (uint32_t b = 0; b < bits; b++)
        flat &= axis->lane[b] == 0;
    if (cg_is_int(e, axis->base, &c)) {
        for (uint32_t i = 0; i < 1u << bits; i++)
            lane[i] += c;
        return flat ? cg_const(e, reg, bits, (uint64_t)lane[0]) : cg_lanes(e, reg, bits, lane);
    }
    cg_ref base = reg == CG_I64 ? axis->base : cg_new(e, "trunc i64 %r to %s", axis->base, cg_type(e, reg, 0));
    base = cg_splat(e, reg, bits, base);
    return flat ? base : cg_bin(e, "add", reg, bits, base, cg_lanes(e, reg, bits, lane));
}

/* ---- memory -------------------------------------------------------------------------------------*/

/* Address of a vector in memory: element offset of lane 0, and of each lane bit (0 = uniform). */
typedef struct expr_place {
    cg_ref base, lane[CG_LANE_BITS];
    bool dense;   /* lanes lie one after the other */
    bool uniform; /* all lanes are one element */
} expr_place;

static void expr_place_of(cg *e, const cg_mem *mem, const cg_index *at, expr_place *p)
{
    int64_t c;
    memset(p, 0, sizeof *p);
    p->base = cg_int(e, 0);
    for (uint32_t k = 0; k < at->rank; k++)
        p->base = cg_add(e, p->base, cg_mul(e, at->axis[k].base, mem->stride[k]));
    p->dense = p->uniform = true;
    for (uint32_t b = 0; b < at->bits; b++) {
        p->lane[b] = cg_int(e, 0);
        for (uint32_t k = 0; k < at->rank; k++)
            if (at->axis[k].lane[b])
                p->lane[b] = cg_add(e, p->lane[b], cg_mul(e, cg_int(e, at->axis[k].lane[b]), mem->stride[k]));
        bool known = cg_is_int(e, p->lane[b], &c);
        p->dense &= known && c == (int64_t)1 << b;
        p->uniform &= known && c == 0;
    }
}

/* Offset of one lane. */
static cg_ref expr_lane(cg *e, const expr_place *p, uint32_t bits, uint32_t lane)
{
    cg_ref at = p->base;
    for (uint32_t b = 0; b < bits; b++)
        if (lane >> b & 1)
            at = cg_add(e, at, p->lane[b]);
    return at;
}

static const char *expr_mem_type(cg *e, ts_type elem, uint32_t bits)
{
    cg_reg reg = cg_reg_of(e, elem);
    return cg_type(e, reg == CG_I1 ? CG_I8 : reg, bits);
}

static cg_ref expr_address(cg *e, const cg_mem *mem, cg_ref offset)
{
    int64_t c;
    if (cg_is_int(e, offset, &c) && c == 0)
        return mem->ptr;
    return cg_new(e, "getelementptr inbounds %s, ptr %r, i64 %r", expr_mem_type(e, mem->elem, 0), mem->ptr, offset);
}

/* Alias facts: memory of one scratch slot is only reached through that slot. */
static const char *expr_alias(cg *e, uint32_t slot)
{
    char text[64];
    if (!slot || slot > CG_SCOPES)
        return "";
    int n = snprintf(text, sizeof text, ", !alias.scope !%u, !noalias !%u", 10 * slot + 1, 10 * slot + 2);
    const char *copy = ts__arena_text(e->arena, text, (size_t)n);
    return copy ? copy : "";
}

static cg_ref expr_from_mem(cg *e, ts_type elem, uint32_t bits, cg_ref x)
{
    if (cg_reg_of(e, elem) != CG_I1)
        return x;
    return cg_cmp(e, "icmp ne", CG_I8, bits, x, cg_const(e, CG_I8, bits, 0));
}

static cg_ref expr_load_at(cg *e, const cg_mem *mem, uint32_t bits, cg_ref offset)
{
    cg_ref p = expr_address(e, mem, offset);
    cg_ref x = cg_new(e, "load %s, ptr %r, align %d%s", expr_mem_type(e, mem->elem, bits), p,
                      (int64_t)cg_elem_bytes(e, mem->elem), expr_alias(e, mem->slot));
    return expr_from_mem(e, mem->elem, bits, x);
}

/* Lanes that lie apart: load each distinct one, then spread. */
static cg_ref expr_load_apart(cg *e, const cg_mem *mem, uint32_t bits, const expr_place *p)
{
    cg_reg reg = cg_reg_of(e, mem->elem);
    uint32_t run = 0;
    int64_t c;
    while (run < bits && cg_is_int(e, p->lane[run], &c) && c == (int64_t)1 << run)
        run++;
    for (uint32_t b = run; b < bits; b++)
        if (cg_is_int(e, p->lane[b], &c) && c == 0) { /* this bit repeats lanes: load without it */
            expr_place less = *p;
            int32_t pick[1 << CG_LANE_BITS];
            memmove(less.lane + b, less.lane + b + 1, (CG_LANE_BITS - 1 - b) * sizeof *less.lane);
            for (int32_t i = 0; i < 1 << bits; i++)
                pick[i] = (i & ((1 << b) - 1)) | (i >> (b + 1) << b);
            return cg_pick(e, reg, bits - 1, expr_load_apart(e, mem, bits - 1, &less), bits, pick);
        }
    if (run == bits)
        return expr_load_at(e, mem, bits, p->base);
    if (run > 0) { /* halves, each with dense runs */
        expr_place high = *p;
        high.base = cg_add(e, p->base, p->lane[bits - 1]);
        cg_ref a = expr_load_apart(e, mem, bits - 1, p), b = expr_load_apart(e, mem, bits - 1, &high);
        return cg_join(e, reg, bits - 1, a, b);
    }
    const char *vector = cg_type(e, reg, bits);
    cg_ref all = cg_text(e, "poison");
    for (uint32_t i = 0; i < 1u << bits; i++) {
        cg_ref x = expr_load_at(e, mem, 0, expr_lane(e, p, bits, i));
        all = cg_new(e, "insertelement %s %r, %s %r, i64 %d", vector, all, cg_type(e, reg, 0), x, (int64_t)i);
    }
    return all;
}

/* A tile in scratch is there only until its slot is given to another. */
static void expr_check(const cg *e, const cg_mem *mem)
{
    const cg_slot *slot = mem->slot ? &e->slot.at[mem->slot - 1] : NULL;
    ts_assert(!slot || (slot->used && slot->turn == mem->turn));
    (void)slot;
}

cg_ref cg_load(cg *e, const cg_mem *mem, cg_ix ix)
{
    cg_index at = *cg_index_of(e, ix);
    expr_place p;
    if (mem->bounds)
        return cg_load_bounded(e, mem, ix);
    expr_check(e, mem);
    expr_place_of(e, mem, &at, &p);
    if (p.dense)
        return expr_load_at(e, mem, at.bits, p.base);
    if (p.uniform)
        return cg_splat(e, cg_reg_of(e, mem->elem), at.bits, expr_load_at(e, mem, 0, p.base));
    return expr_load_apart(e, mem, at.bits, &p);
}

static void expr_store_at(cg *e, const cg_mem *mem, uint32_t bits, cg_ref offset, cg_ref x)
{
    if (cg_reg_of(e, mem->elem) == CG_I1)
        x = cg_conv(e, "zext", CG_I1, CG_I8, bits, x);
    cg_ref p = expr_address(e, mem, offset);
    cg_line(e, "store %s %r, ptr %r, align %d%s", expr_mem_type(e, mem->elem, bits), x, p,
            (int64_t)cg_elem_bytes(e, mem->elem), expr_alias(e, mem->slot));
}

void cg_store(cg *e, const cg_mem *mem, cg_ix ix, cg_ref value)
{
    cg_index at = *cg_index_of(e, ix);
    expr_place p;
    expr_check(e, mem);
    expr_place_of(e, mem, &at, &p);
    if (p.dense || !at.bits) {
        expr_store_at(e, mem, at.bits, p.base, value);
        return;
    }
    cg_reg reg = cg_reg_of(e, mem->elem);
    for (uint32_t i = 0; i < 1u << at.bits; i++) {
        cg_ref one = cg_new(e, "extractelement %s %r, i64 %d", cg_type(e, reg, at.bits), value, (int64_t)i);
        expr_store_at(e, mem, 0, expr_lane(e, &p, at.bits, i), one);
    }
}

void cg_fetch(cg *e, const cg_mem *mem, cg_ix ix, cg_ref delta)
{
    cg_index at = *cg_index_of(e, ix);
    expr_place p;
    expr_place_of(e, mem, &at, &p);
    if (!p.dense)
        return;
    cg_ref here = expr_address(e, mem, p.base);
    cg_ref there = cg_new(e, "getelementptr i8, ptr %r, i64 %r", here, delta);
    cg_declare(e, "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)");
    cg_line(e, "call void @llvm.prefetch.p0(ptr %r, i32 0, i32 2, i32 1)", there);
}

bool cg_store_stream(cg *e, const cg_mem *mem, cg_ix ix, cg_ref value)
{
    cg_index at = *cg_index_of(e, ix);
    expr_place p;
    int64_t bytes = (int64_t)cg_elem_bytes(e, mem->elem) << at.bits;
    expr_place_of(e, mem, &at, &p);
    if (!p.dense || cg_reg_of(e, mem->elem) == CG_I1 || bytes < 16 || bytes > e->host->vector_bytes)
        return false;
    e->streams = true;
    cg_line(e, "store %s %r, ptr %r, align %d, !nontemporal !4", expr_mem_type(e, mem->elem, at.bits), value,
            expr_address(e, mem, p.base), bytes);
    return true;
}

/* ---- pointers -----------------------------------------------------------------------------------*/

static uint32_t expr_root(const cg *e, ts_val ptr)
{
    return e->serial ? e->alias.root[ptr] : TS_ALIAS_UNKNOWN;
}

/* Of code for one thread as bytes from the array's first one: what LLVM compares loops and arrays by. */
cg_ref cg_pointer(cg *e, ts_val v, cg_ref at)
{
    uint32_t root = expr_root(e, v);
    if (root == TS_ALIAS_UNKNOWN || root == v)
        return cg_new(e, "inttoptr i64 %r to ptr", at);
    cg_ref base = cg_scalar(e, root);
    return cg_new(e, "getelementptr i8, ptr %r, i64 %r", cg_new(e, "inttoptr i64 %r to ptr", base),
                  cg_new(e, "sub i64 %r, %r", at, base));
}

/* Of code for one thread: its own arrays, of which LLVM would ask at run time, are apart from all others. */
static const char *expr_alias_of(cg *e, ts_val ptr)
{
    uint32_t root = expr_root(e, ptr);
    if (root == TS_ALIAS_UNKNOWN)
        return "";
    return ts_at(e->fn, root)->op == TS_OP_alloca ? expr_alias(e, e->val[root].slot) : ", !noalias !5";
}

/* Address of lane 0 when the pointers of a vector are consecutive elements. */
static bool expr_run(cg *e, ts_val ptrs, cg_ix ix, uint32_t bytes, cg_ref *first)
{
    cg_axis a;
    uint32_t bits = cg_index_of(e, ix)->bits;
    if (!cg_affine(e, ptrs, ix, &a))
        return false;
    for (uint32_t b = 0; b < bits; b++)
        if (a.lane[b] != (int64_t)bytes << b)
            return false;
    *first = cg_new(e, "inttoptr i64 %r to ptr", a.base);
    return true;
}

static cg_ref expr_true(cg *e, uint32_t bits)
{
    return cg_const(e, CG_I1, bits, bits ? (uint64_t)-1 : 1);
}

cg_ref cg_masked_load(cg *e, ts_type elem, uint32_t bits, cg_ref p, cg_ref mask, cg_ref pad)
{
    char line[240];
    const char *vector = expr_mem_type(e, elem, bits), *i1 = cg_type(e, CG_I1, bits);
    cg_reg reg = cg_reg_of(e, elem);
    const char *suffix = cg_suffix(e, reg == CG_I1 ? CG_I8 : reg, bits);
    snprintf(line, sizeof line, "declare %s @llvm.masked.load.%s.p0(ptr, i32, %s, %s)", vector, suffix, i1, vector);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.masked.load.%s.p0(ptr %r, i32 %d, %s %r, %s %r)", vector, suffix, p,
                  (int64_t)cg_elem_bytes(e, elem), i1, mask, vector, pad);
}

static cg_ref expr_gather(cg *e, ts_type elem, uint32_t bits, cg_ref at, cg_ref mask, cg_ref pad)
{
    char line[240];
    const char *vector = expr_mem_type(e, elem, bits), *i1 = cg_type(e, CG_I1, bits), *ptr = cg_type(e, CG_PTR, bits);
    cg_reg reg = cg_reg_of(e, elem);
    const char *suffix = cg_suffix(e, reg == CG_I1 ? CG_I8 : reg, bits), *from = cg_suffix(e, CG_PTR, bits);
    cg_ref p = cg_new(e, "inttoptr %s %r to %s", cg_type(e, CG_I64, bits), at, ptr);
    snprintf(line, sizeof line, "declare %s @llvm.masked.gather.%s.%s(%s, i32, %s, %s)", vector,
             suffix, from, ptr, i1, vector);
    cg_declare(e, line);
    return cg_new(e, "call %s @llvm.masked.gather.%s.%s(%s %r, i32 %d, %s %r, %s %r)", vector, suffix, from, ptr, p,
                  (int64_t)cg_elem_bytes(e, elem), i1, mask, vector, pad);
}

/* One element, under a branch when masked. */
static cg_ref expr_load_one(cg *e, ts_val ptr, ts_type elem, cg_ref at, cg_ref mask, cg_ref pad)
{
    const char *type = expr_mem_type(e, elem, 0);
    cg_ref p = cg_pointer(e, ptr, at);
    const char *alias = expr_alias_of(e, ptr);
    int64_t align = cg_elem_bytes(e, elem);
    if (!mask)
        return cg_new(e, "load %s, ptr %r, align %d%s", type, p, align, alias);
    uint32_t from = e->block, yes = cg_label(e), on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b", mask, yes, on);
    cg_block(e, yes);
    cg_ref x = cg_new(e, "load %s, ptr %r, align %d%s", type, p, align, alias);
    cg_br(e, on);
    cg_block(e, on);
    return cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", type, x, yes, pad, from);
}

static cg_ref expr_at(cg *e, ts_val v, cg_ix ix)
{
    return cg_is_tile(e, v) ? cg_gen(e, v, ix)
                            : cg_splat(e, cg_reg_of(e, ts_type_of(e->fn, v)),
                                       cg_index_of(e, ix)->bits, cg_scalar(e, v));
}

/* The address when all pointers of a vector are one. */
static bool expr_same(cg *e, ts_val ptrs, cg_ix ix, cg_ref *at)
{
    cg_axis a;
    uint32_t bits = cg_index_of(e, ix)->bits;
    if (e->val[ptrs].form != CG_HELD || !cg_affine(e, ptrs, ix, &a))
        return false;
    for (uint32_t b = 0; b < bits; b++)
        if (a.lane[b])
            return false;
    *at = a.base;
    return true;
}

/* i1: is any lane of the mask set? */
static cg_ref expr_any(cg *e, cg_ref mask, uint32_t bits)
{
    cg_ref all = cg_new(e, "bitcast %s %r to i%d", cg_type(e, CG_I1, bits), mask, (int64_t)1 << bits);
    return cg_new(e, "icmp ne i%d %r, 0", (int64_t)1 << bits, all);
}

/* One element for all lanes, read where one of them wants it. */
static cg_ref expr_load_same(cg *e, ts_val ptr, ts_type elem, uint32_t bits, cg_ref at, cg_ref mask, cg_ref pad)
{
    cg_reg reg = cg_reg_of(e, elem), in_mem = reg == CG_I1 ? CG_I8 : reg;
    cg_ref any = mask ? expr_any(e, mask, bits) : 0;
    cg_ref x = cg_splat(e, in_mem, bits, expr_load_one(e, ptr, elem, at, any, cg_const(e, in_mem, 0, 0)));
    return mask ? cg_sel(e, in_mem, bits, mask, x, pad) : x;
}

/* The lower or upper half of the lanes. */
static cg_ix expr_half(cg *e, cg_ix ix, bool upper)
{
    cg_index at = *cg_index_of(e, ix);
    at.bits--;
    for (uint32_t k = 0; k < at.rank; k++) {
        if (upper)
            at.axis[k].base = cg_add(e, at.axis[k].base, cg_int(e, at.axis[k].lane[at.bits]));
        at.axis[k].lane[at.bits] = 0;
    }
    return cg_intern(e, &at);
}

/* Are the pointers no run, but two of halves, or four of quarters, of 8 lanes or more? As of rows of threads. With
 * `same` one address for a half will do. */
static bool expr_runs(cg *e, ts_val ptrs, cg_ix ix, uint32_t bytes, bool same, uint32_t depth)
{
    enum { EXPR_LEAST = 3 };
    cg_ref first = 0;
    if (depth && (expr_run(e, ptrs, ix, bytes, &first) || (same && expr_same(e, ptrs, ix, &first))))
        return true;
    return depth < 2 && cg_index_of(e, ix)->bits > EXPR_LEAST && e->val[ptrs].form == CG_HELD &&
           expr_runs(e, ptrs, expr_half(e, ix, false), bytes, same, depth + 1) &&
           expr_runs(e, ptrs, expr_half(e, ix, true), bytes, same, depth + 1);
}

/* Two ways to an access: the run of neighbours, or of lanes a few elements apart that are all here, and behind `slow`,
 * where that is not so or an index of a lane that is here is negative, lane by lane. */
typedef struct expr_ways {
    cg_ref first;
    uint32_t step, slow, on, fast_end;
} expr_ways;

/* i1: are all lanes of the mask (0: none of them) set? */
static cg_ref expr_all(cg *e, cg_ref mask, uint32_t bits, bool set)
{
    cg_ref all = cg_new(e, "bitcast %s %r to i%d", cg_type(e, CG_I1, bits), mask, (int64_t)1 << bits);
    return cg_new(e, "icmp eq i%d %r, %d", (int64_t)1 << bits, all, (int64_t)(set ? -1 : 0));
}

static void expr_ways_part(cg *e, expr_ways *w, cg_ref cond)
{
    uint32_t fast = cg_label(e);
    w->slow = cg_label(e);
    w->on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b", cond, fast, w->slow);
    cg_block(e, fast);
}

/* Begins the first way, if there are two. */
static bool expr_ways_begin(cg *e, expr_ways *w, ts_val ptrs, cg_ix ix, uint32_t bytes, cg_ref mask, bool strides)
{
    cg_axis a;
    cg_ref negative;
    uint32_t bits = cg_index_of(e, ix)->bits;
    if (!bits || !cg_affine_wrapped(e, ptrs, ix, &a, &negative))
        return false;
    *w = (expr_ways){.step = cg_stride(&a, bits, bytes)};
    if (!w->step || (w->step > 1 && !strides))
        return false;
    w->first = cg_new(e, "inttoptr i64 %r to ptr", a.base);
    if (mask)
        negative = cg_bin(e, "and", CG_I1, bits, negative, mask);
    cg_ref fine = expr_all(e, negative, bits, false);
    if (mask && w->step > 1)
        fine = cg_bin(e, "and", CG_I1, 0, fine, expr_all(e, mask, bits, true));
    expr_ways_part(e, w, fine);
    return true;
}

/* The same of lanes that lie apart for sure; without a mask there is one way, and `step` alone is set. */
static bool expr_stride_begin(cg *e, expr_ways *w, ts_val ptrs, cg_ix ix, uint32_t bytes, cg_ref mask)
{
    cg_axis a;
    uint32_t bits = cg_index_of(e, ix)->bits;
    if (!bits || !cg_affine(e, ptrs, ix, &a))
        return false;
    *w = (expr_ways){.step = cg_stride(&a, bits, bytes)};
    if (w->step < 2)
        return false;
    w->first = cg_new(e, "inttoptr i64 %r to ptr", a.base);
    if (mask)
        expr_ways_part(e, w, expr_all(e, mask, bits, true));
    return true;
}

/* Begins the way through registers of a table of bytes, if there is one: where any of it is wanted. */
static bool expr_lookup_begin(cg *e, expr_ways *w, ts_val ptrs, ts_type elem, cg_ix ix, cg_ref mask, cg_lookup *look)
{
    uint32_t fast = cg_label(e), bits = cg_index_of(e, ix)->bits;
    if (!cg_lookup_of(e, ptrs, elem, bits, look))
        return false;
    cg_ref fits = cg_lookup_fits(e, look);
    if (mask)
        fits = cg_bin(e, "and", CG_I1, 0, fits, expr_any(e, mask, bits));
    *w = (expr_ways){.slow = cg_label(e), .on = cg_label(e)};
    cg_line(e, "br i1 %r, label %b, label %b, !prof !2", fits, fast, w->slow);
    cg_block(e, fast);
    return true;
}

static void expr_ways_slow(cg *e, expr_ways *w)
{
    w->fast_end = e->block;
    cg_br(e, w->on);
    cg_block(e, w->slow);
}

static cg_ref expr_load_run(cg *e, ts_type elem, uint32_t bits, cg_ref first, cg_ref mask, cg_ref pad)
{
    return mask ? cg_masked_load(e, elem, bits, first, mask, pad)
                : cg_new(e, "load %s, ptr %r, align %d", expr_mem_type(e, elem, bits), first,
                         (int64_t)cg_elem_bytes(e, elem));
}

/* What an access of threads, or of pointers of a tile, becomes: for inspect_cpu(). */
typedef enum expr_way { EXPR_ONE, EXPR_SAME, EXPR_RUN, EXPR_STRIDE, EXPR_TABLE, EXPR_APART } expr_way;

/* `maybe`: only where a condition of run time holds, else lane by lane. */
static void expr_note(const cg *e, ts_val v, bool store, expr_way way, bool maybe)
{
    static const char *const words[][2] = {[EXPR_ONE] = {"scalar", "one element"},
                                           [EXPR_SAME] = {"uniform", "one element for all threads of a vector"},
                                           [EXPR_RUN] = {"vector", "neighbours"},
                                           [EXPR_STRIDE] = {"strided", "elements a few apart, out of vectors"},
                                           [EXPR_TABLE] = {"table", "out of registers that hold a table of bytes"},
                                           [EXPR_APART] = {"gather", "elements that may lie apart, one by one"}};
    const char *what = store && way == EXPR_APART ? "scatter" : words[way][0];
    ts__note(e->fn, v, store ? TS_NOTE_store : TS_NOTE_load, what, "%s%s", words[way][1],
             maybe ? ", where no index is negative or the table fits; else one by one" : "");
}

/* Lanes that lie apart, or may. */
static cg_ref expr_load_lanes(cg *e, ts_val v, cg_ix ix, cg_ref mask, cg_ref pad)
{
    expr_ways ways;
    cg_lookup look;
    cg_ref fast = 0;
    ts_val ptrs = ts_opnd(e->fn, v, 0);
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, v));
    cg_reg reg = cg_reg_of(e, elem), in_mem = reg == CG_I1 ? CG_I8 : reg;
    uint32_t bits = cg_index_of(e, ix)->bits;
    uint32_t bytes = (uint32_t)cg_elem_bytes(e, elem);
    expr_way way = EXPR_STRIDE;
    bool is_second;
    ts_val pair = cg_stride_pair(e, v, ix, &is_second);
    if (expr_ways_begin(e, &ways, ptrs, ix, bytes, mask, true)) {
        way = ways.step > 1 ? EXPR_STRIDE : EXPR_RUN;
        fast = ways.step > 1 ? cg_stride_load(e, in_mem, bits, ways.first, ways.step, bytes)
                             : expr_load_run(e, elem, bits, ways.first, mask, pad);
    } else if (expr_stride_begin(e, &ways, pair ? pair : ptrs, ix, bytes, mask)) {
        fast = pair ? cg_stride_load_pair(e, in_mem, bits, ways.first, is_second, bytes)
                    : cg_stride_load(e, in_mem, bits, ways.first, ways.step, bytes);
        if (!mask) {
            expr_note(e, v, false, way, false);
            return fast;
        }
    } else if (expr_lookup_begin(e, &ways, ptrs, elem, ix, mask, &look)) {
        way = EXPR_TABLE;
        fast = cg_lookup_make(e, &look, ix);
        fast = mask ? cg_sel(e, in_mem, bits, mask, fast, pad) : fast;
    }
    expr_note(e, v, false, fast ? way : EXPR_APART, fast != 0);
    if (fast)
        expr_ways_slow(e, &ways);
    cg_scope_open(e);
    cg_ref r = expr_gather(e, elem, bits, expr_at(e, ptrs, ix), mask ? mask : expr_true(e, bits), pad);
    cg_scope_close(e);
    if (!fast)
        return r;
    uint32_t slow_end = e->block;
    cg_br(e, ways.on);
    cg_block(e, ways.on);
    return cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", expr_mem_type(e, elem, bits), fast, ways.fast_end, r, slow_end);
}

static cg_ref expr_load_ptr(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const uint32_t *x = ts_opnds(e->fn, inst);
    ts_type elem = ts_type_elem(e->m, inst->type);
    uint32_t bits = cg_index_of(e, ix)->bits, m = ts__opnd_mask(inst), d = ts__opnd_pad(inst);
    cg_reg reg = cg_reg_of(e, elem), in_mem = reg == CG_I1 ? CG_I8 : reg;
    cg_ref first = 0, r;
    bool run = bits && expr_run(e, x[0], ix, cg_elem_bytes(e, elem), &first);
    bool same = bits && !run && expr_same(e, x[0], ix, &first);
    if (bits && !run && !same && expr_runs(e, x[0], ix, cg_elem_bytes(e, elem), true, 0)) {
        cg_ref low = expr_load_ptr(e, v, expr_half(e, ix, false)), high = expr_load_ptr(e, v, expr_half(e, ix, true));
        return cg_join(e, reg, bits - 1, low, high);
    }
    if (!bits || run || same)
        expr_note(e, v, false, !bits ? EXPR_ONE : same ? EXPR_SAME : EXPR_RUN, false);
    cg_ref mask = m == TS_NO ? 0 : expr_at(e, x[m], ix);
    cg_ref pad = d == TS_NO ? cg_const(e, in_mem, bits, 0) : expr_at(e, x[d], ix);
    if (d != TS_NO && reg == CG_I1)
        pad = cg_conv(e, "zext", CG_I1, CG_I8, bits, pad);
    if (!bits)
        r = expr_load_one(e, x[0], elem, expr_at(e, x[0], ix), mask, pad);
    else if (same)
        r = expr_load_same(e, x[0], elem, bits, first, mask, pad);
    else if (run)
        r = expr_load_run(e, elem, bits, first, mask, pad);
    else
        r = expr_load_lanes(e, v, ix, mask, pad);
    return expr_from_mem(e, elem, bits, r);
}

static void expr_store_one(cg *e, ts_val ptr, ts_type elem, cg_ref at, cg_ref mask, cg_ref value)
{
    uint32_t yes = cg_label(e), on = cg_label(e);
    if (mask) {
        cg_line(e, "br i1 %r, label %b, label %b", mask, yes, on);
        cg_block(e, yes);
    }
    cg_ref p = cg_pointer(e, ptr, at);
    cg_line(e, "store %s %r, ptr %r, align %d%s", expr_mem_type(e, elem, 0), value, p,
            (int64_t)cg_elem_bytes(e, elem), expr_alias_of(e, ptr));
    if (mask) {
        cg_br(e, on);
        cg_block(e, on);
    }
}

void cg_masked_store(cg *e, ts_type elem, uint32_t bits, cg_ref p, cg_ref mask, cg_ref value)
{
    char line[240];
    cg_reg reg = cg_reg_of(e, elem);
    const char *vector = expr_mem_type(e, elem, bits), *i1 = cg_type(e, CG_I1, bits);
    const char *suffix = cg_suffix(e, reg == CG_I1 ? CG_I8 : reg, bits);
    snprintf(line, sizeof line, "declare void @llvm.masked.store.%s.p0(%s, ptr, i32, %s)", suffix, vector, i1);
    cg_declare(e, line);
    cg_line(e, "call void @llvm.masked.store.%s.p0(%s %r, ptr %r, i32 %d, %s %r)", suffix, vector, value, p,
            (int64_t)cg_elem_bytes(e, elem), i1, mask);
}

static void expr_store_run(cg *e, ts_type elem, uint32_t bits, cg_ref first, cg_ref mask, cg_ref value)
{
    if (mask)
        cg_masked_store(e, elem, bits, first, mask, value);
    else
        cg_line(e, "store %s %r, ptr %r, align %d", expr_mem_type(e, elem, bits), value, first,
                (int64_t)cg_elem_bytes(e, elem));
}

static void expr_scatter(cg *e, ts_type elem, uint32_t bits, cg_ref at, cg_ref mask, cg_ref value)
{
    char line[240];
    const char *vector = expr_mem_type(e, elem, bits), *i1 = cg_type(e, CG_I1, bits), *ptr = cg_type(e, CG_PTR, bits);
    cg_reg reg = cg_reg_of(e, elem);
    const char *suffix = cg_suffix(e, reg == CG_I1 ? CG_I8 : reg, bits), *to = cg_suffix(e, CG_PTR, bits);
    cg_ref p = cg_new(e, "inttoptr %s %r to %s", cg_type(e, CG_I64, bits), at, ptr);
    snprintf(line, sizeof line, "declare void @llvm.masked.scatter.%s.%s(%s, %s, i32, %s)", suffix, to, vector, ptr,
             i1);
    cg_declare(e, line);
    cg_line(e, "call void @llvm.masked.scatter.%s.%s(%s %r, %s %r, i32 %d, %s %r)", suffix, to, vector, value, ptr, p,
            (int64_t)cg_elem_bytes(e, elem), i1, mask);
}

void cg_scatter(cg *e, ts_val v, cg_ix ix)
{
    expr_ways ways;
    const ts_inst *inst = ts_at(e->fn, v);
    const uint32_t *x = ts_opnds(e->fn, inst);
    ts_type elem = ts_type_elem(e->m, ts_type_of(e->fn, x[1]));
    uint32_t bits = cg_index_of(e, ix)->bits, m = ts__opnd_mask(inst);
    int64_t align = cg_elem_bytes(e, elem);
    cg_reg reg = cg_reg_of(e, elem);
    cg_ref first = 0;
    bool run = bits && expr_run(e, x[0], ix, (uint32_t)align, &first);
    if (bits && !run && expr_runs(e, x[0], ix, (uint32_t)align, false, 0)) {
        cg_scatter(e, v, expr_half(e, ix, false));
        cg_scatter(e, v, expr_half(e, ix, true));
        return;
    }
    cg_ref value = expr_at(e, x[1], ix), mask = m == TS_NO ? 0 : expr_at(e, x[m], ix);
    if (reg == CG_I1)
        value = cg_conv(e, "zext", CG_I1, CG_I8, bits, value);
    if (!bits || run)
        expr_note(e, v, true, bits ? EXPR_RUN : EXPR_ONE, false);
    if (!bits) {
        expr_store_one(e, x[0], elem, expr_at(e, x[0], ix), mask, value);
        return;
    }
    if (run) {
        expr_store_run(e, elem, bits, first, mask, value);
        return;
    }
    bool two = expr_ways_begin(e, &ways, x[0], ix, (uint32_t)align, mask, false);
    expr_note(e, v, true, two ? EXPR_RUN : EXPR_APART, two);
    if (two) {
        expr_store_run(e, elem, bits, ways.first, mask, value);
        expr_ways_slow(e, &ways);
    }
    cg_scope_open(e);
    expr_scatter(e, elem, bits, expr_at(e, x[0], ix), mask ? mask : expr_true(e, bits), value);
    cg_scope_close(e);
    if (two) {
        cg_br(e, ways.on);
        cg_block(e, ways.on);
    }
}

/* ---- cat, insert, pack, unpack ------------------------------------------------------------------*/

/* Lanes whose coordinate lies in [0, extent) after subtracting `from`: a mask; and the coordinate cut
 * into the extent. Both are aligned, so it is a comparison of the upper bits. */
static cg_ref expr_inside(cg *e, cg_axis *axis, uint32_t bits, cg_ref slice, int64_t extent)
{
    uint32_t shift = (uint32_t)ts_log2((uint64_t)extent);
    cg_axis upper = {.base = cg_shr(e, axis->base, shift)};
    for (uint32_t b = 0; b < bits; b++) {
        upper.lane[b] = axis->lane[b] >> shift;
        axis->lane[b] &= extent - 1;
    }
    axis->base = cg_and(e, axis->base, extent - 1);
    cg_ref at = expr_axis_value(e, &upper, CG_I64, bits);
    return cg_cmp(e, "icmp eq", CG_I64, bits, at, cg_splat(e, CG_I64, bits, slice));
}

static cg_ref expr_cat(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_index at = *cg_index_of(e, ix);
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    int64_t half = ts_type_dims(e->m, from)[inst->aux];
    cg_ref low = expr_inside(e, &at.axis[inst->aux], at.bits, cg_int(e, 0), half);
    cg_ix part = cg_intern(e, &at);
    cg_ref a = expr_at(e, inst->opnd[0], part), b = expr_at(e, inst->opnd[1], part);
    return cg_sel(e, cg_reg_of(e, from), at.bits, low, a, b);
}

static cg_ref expr_insert(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const uint32_t *x = ts_opnds(e->fn, inst);
    cg_index at = *cg_index_of(e, ix);
    const int64_t *part = ts_type_dims(e->m, ts_type_of(e->fn, x[1])), *all = ts_type_dims(e->m, inst->type);
    cg_ref inside = expr_true(e, at.bits);
    for (uint32_t k = 0; k < at.rank; k++) {
        int64_t extent = part ? part[k] : 1;
        cg_ref slice = cg_and(e, cg_scalar_i64(e, x[2 + k]), all[k] / extent - 1);
        inside = cg_bin(e, "and", CG_I1, at.bits, inside, expr_inside(e, &at.axis[k], at.bits, slice, extent));
    }
    if (!part)
        at.rank = 0;
    cg_ref new_one = expr_at(e, x[1], cg_intern(e, &at));
    return cg_sel(e, cg_reg_of(e, inst->type), at.bits, inside, new_one, expr_at(e, x[0], ix));
}

static cg_reg expr_int_reg(cg_reg reg)
{
    return reg == CG_F32 ? CG_I32 : reg == CG_F64 ? CG_I64 : reg;
}

/* Bits in a pack: i1 counts as a byte. */
static uint32_t expr_pack_bits(const cg *e, ts_type elem)
{
    return ts_type_bits(e->m, elem);
}

/* Coordinate of a 1-D index scaled by a power of two (negative: divided) plus a constant. */
static cg_ix expr_scaled(cg *e, const cg_axis *axis, uint32_t bits, int shift, int64_t plus, ts_type into)
{
    cg_axis line = *axis;
    cg_index out;
    line.base = shift >= 0 ? cg_mul(e, axis->base, cg_int(e, (int64_t)1 << shift))
                           : cg_shr(e, axis->base, (uint32_t)-shift);
    line.base = cg_add(e, line.base, cg_int(e, plus));
    for (uint32_t b = 0; b < bits; b++)
        line.lane[b] = shift >= 0 ? axis->lane[b] << shift : axis->lane[b] >> -shift;
    expr_split(e, &line, bits, ts_type_rank(e->m, into), ts_type_dims(e->m, into), &out);
    return cg_intern(e, &out);
}

/* Byte i of a wide element, or two 4-bit ones. */
static cg_ref expr_pack(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_index at = *cg_index_of(e, ix);
    ts_type from = ts_type_of(e->fn, inst->opnd[0]);
    cg_reg reg = cg_reg_of(e, from), whole = expr_int_reg(reg);
    uint32_t width = expr_pack_bits(e, from);
    if (width == 4) {
        cg_ref low = expr_at(e, inst->opnd[0], expr_scaled(e, &at.axis[0], at.bits, 1, 0, from));
        cg_ref high = expr_at(e, inst->opnd[0], expr_scaled(e, &at.axis[0], at.bits, 1, 1, from));
        low = cg_bin(e, "and", CG_I8, at.bits, low, cg_const(e, CG_I8, at.bits, 15));
        return cg_bin(e, "or", CG_I8, at.bits, low,
                      cg_bin(e, "shl", CG_I8, at.bits, high, cg_const(e, CG_I8, at.bits, 4)));
    }
    int shift = ts_log2(width / 8);
    cg_ref x = expr_at(e, inst->opnd[0], expr_scaled(e, &at.axis[0], at.bits, -shift, 0, from));
    if (reg == CG_I1)
        return cg_conv(e, "zext", CG_I1, CG_I8, at.bits, x);
    if (!shift)
        return x;
    x = cg_conv(e, "bitcast", reg, whole, at.bits, x);
    cg_ref byte = expr_axis_value(e, &at.axis[0], whole, at.bits);
    byte = cg_bin(e, "and", whole, at.bits, byte, cg_const(e, whole, at.bits, (width / 8) - 1));
    byte = cg_bin(e, "shl", whole, at.bits, byte, cg_const(e, whole, at.bits, 3));
    return cg_conv(e, "trunc", whole, CG_I8, at.bits, cg_bin(e, "lshr", whole, at.bits, x, byte));
}

static cg_ref expr_unpack(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_index at = *cg_index_of(e, ix);
    ts_type bytes = ts_type_of(e->fn, inst->opnd[0]);
    cg_reg reg = cg_reg_of(e, inst->type), whole = expr_int_reg(reg);
    uint32_t width = expr_pack_bits(e, inst->type);
    cg_axis line = expr_linear(e, &at, ts_type_dims(e->m, inst->type));
    if (width == 4) {
        cg_ref x = expr_at(e, inst->opnd[0], expr_scaled(e, &line, at.bits, -1, 0, bytes));
        cg_ref odd = cg_bin(e, "and", CG_I8, at.bits, expr_axis_value(e, &line, CG_I8, at.bits),
                            cg_const(e, CG_I8, at.bits, 1));
        odd = cg_bin(e, "shl", CG_I8, at.bits, odd, cg_const(e, CG_I8, at.bits, 2));
        x = cg_bin(e, "lshr", CG_I8, at.bits, x, odd);
        return cg_bin(e, "and", CG_I8, at.bits, x, cg_const(e, CG_I8, at.bits, 15));
    }
    int shift = ts_log2(width / 8);
    cg_ref all = 0;
    for (uint32_t i = 0; i < width / 8; i++) {
        cg_ref x = expr_at(e, inst->opnd[0], expr_scaled(e, &line, at.bits, shift, i, bytes));
        if (reg == CG_I1)
            return cg_cmp(e, "icmp ne", CG_I8, at.bits, x, cg_const(e, CG_I8, at.bits, 0));
        x = cg_conv(e, "zext", CG_I8, whole, at.bits, x);
        if (i)
            x = cg_bin(e, "shl", whole, at.bits, x, cg_const(e, whole, at.bits, 8 * (uint64_t)i));
        all = all ? cg_bin(e, "or", whole, at.bits, all, x) : x;
    }
    return cg_conv(e, "bitcast", whole, reg, at.bits, all);
}

/* ---- cold ---------------------------------------------------------------------------------------*/

/* A branch on "any lane"; inside, the region's values at the same coordinates. All results at once. */
static cg_ref expr_cold(cg *e, ts_val opener, uint32_t want, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, opener);
    const uint32_t *x = ts_opnds(e->fn, inst);
    uint32_t bits = cg_index_of(e, ix)->bits, n = inst->n_opnd - 1u, yes = cg_label(e), on = cg_label(e);
    ts_val yield = e->shape.end[opener] - 1;
    cg_ref usual[16], slow[16], result = 0, cond = expr_at(e, x[0], ix), any;
    if (n > TS_COUNT(usual) || ts_at(e->fn, yield)->op != TS_OP_yield) {
        cg_fail(e, TS_INTERNAL, "cold region with %u values", n);
        return cg_int(e, 0);
    }
    for (uint32_t i = 0; i < n; i++)
        usual[i] = expr_at(e, x[1 + i], ix);
    any = bits ? expr_any(e, cond, bits) : cond;
    uint32_t from = e->block;
    cg_line(e, "br i1 %r, label %b, label %b, !prof !1", any, yes, on);
    cg_block(e, yes);
    cg_scope_open(e);
    for (uint32_t i = 0; i < n; i++) {
        slow[i] = expr_at(e, ts_opnds(e->fn, ts_at(e->fn, yield))[i], ix);
        slow[i] = cg_sel(e, cg_reg_of(e, ts_type_of(e->fn, x[1 + i])), bits, cond, slow[i], usual[i]);
    }
    cg_scope_close(e);
    uint32_t slow_end = e->block;
    cg_br(e, on);
    cg_block(e, on);
    for (uint32_t i = 0; i < n; i++) {
        cg_ref r = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]",
                          cg_type(e, cg_reg_of(e, ts_type_of(e->fn, x[1 + i])), bits), usual[i],
                          from, slow[i], slow_end);
        cg_remember(e, CG_KEY(EXPR_GEN, e->shape.end[opener] + 1 + i, 0), ix, r);
        if (i == want)
            result = r;
    }
    return result;
}

/* ---- the whole ----------------------------------------------------------------------------------*/

static cg_ref expr_dense(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const ts_dense *d = &e->m->dense.at[inst->aux - 1];
    ts_type elem = ts_type_elem(e->m, inst->type);
    uint32_t rank = ts_type_rank(e->m, inst->type);
    uint32_t bits = ts_type_bits(e->m, elem);
    int64_t n = ts_type_count(e->m, inst->type), stride = 1;
    char name[32];
    cg_mem mem = {.elem = elem, .rank = rank};
    if (!e->val[v].ref) { /* the data goes out once */
        snprintf(name, sizeof name, "@t%u", ++e->n_data);
        ts__text_printf(&e->data, "%s = private unnamed_addr constant [%lld x i8] c\"", name,
                       (long long)n * cg_elem_bytes(e, elem));
        for (int64_t i = 0; i < n * (int64_t)cg_elem_bytes(e, elem); i++) {
            const uint8_t *b = d->bytes;
            ts__text_printf(&e->data, "\\%02X", bits == 4 ? b[i / 2] >> 4 * (i & 1) & 15 : b[i]);
        }
        ts__text_puts(&e->data, "\", align 64\n");
        e->val[v].ref = cg_text(e, name);
    }
    mem.ptr = e->val[v].ref;
    for (uint32_t k = rank; k-- > 0; stride *= ts_type_dims(e->m, inst->type)[k])
        mem.stride[k] = cg_int(e, stride);
    return cg_load(e, &mem, ix);
}

static cg_ref expr_elem(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_ref x[3] = {0};
    if (inst->op == TS_OP_cmpi && e->lanes) {
        cg_ref r = cg_compare_rising(e, v, ix);
        if (r)
            return r;
    }
    for (uint32_t i = 0; i < inst->n_opnd && i < 3; i++)
        x[i] = expr_at(e, inst->opnd[i], ix);
    return cg_elem(e, v, cg_index_of(e, ix)->bits, x);
}

static cg_ref expr_lazy(cg *e, ts_val v, cg_ix ix)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const cg_index *at = cg_index_of(e, ix);
    uint64_t payload;
    switch ((int)inst->op) {
    case TS_OP_constant:
        if (ts__const_bits(e->fn, v, &payload))
            return cg_const(e, cg_reg_of(e, inst->type), at->bits, payload);
        return expr_dense(e, v, ix);
    case TS_OP_iota:
        return expr_axis_value(e, &at->axis[0], cg_reg_of(e, inst->type), at->bits);
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_permute:
    case TS_OP_extract:
        return expr_at(e, ts_opnds(e->fn, inst)[0], cg_mapped(e, v, ix));
    case TS_OP_cat:
        return expr_cat(e, v, ix);
    case TS_OP_insert:
        return expr_insert(e, v, ix);
    case TS_OP_pack:
        return expr_pack(e, v, ix);
    case TS_OP_unpack:
        return expr_unpack(e, v, ix);
    case TS_OP_assume:
        return expr_at(e, inst->opnd[0], ix);
    case TS_OP_load_view_tko:
        return cg_load(e, e->val[v].source, ix);
    case TS_OP_load_ptr_tko:
        return expr_load_ptr(e, v, ix);
    case TS_OP_res:
        return expr_cold(e, inst->opnd[0], inst->aux, ix);
    default:
        return expr_elem(e, v, ix);
    }
}

/* Elements of a held tile: all of them, one, or some in another order. */
static cg_ref expr_held(cg *e, ts_val v, cg_ix ix)
{
    cg_index at = *cg_index_of(e, ix);
    cg_ref x = e->val[v].ref;
    cg_reg reg = cg_reg_of(e, ts_type_of(e->fn, v));
    int32_t pick[1 << CG_LANE_BITS] = {0};
    int64_t base;
    if (ix == cg_ix_held(e))
        return x;
    if (!at.bits)
        return cg_new(e, "extractelement %s %r, i64 %r", cg_type(e, reg, e->lanes), x, at.axis[0].base);
    if (!cg_is_int(e, at.axis[0].base, &base)) {
        cg_fail(e, TS_INTERNAL, "a part of a tile in registers at a place that is not known");
        return x;
    }
    for (uint32_t i = 0; i < 1u << at.bits; i++)
        for (uint32_t b = 0; b < at.bits; b++)
            pick[i] += (int32_t)((i >> b & 1) * at.axis[0].lane[b]) + (b == 0 ? (int32_t)base : 0);
    return cg_pick(e, reg, e->lanes, x, at.bits, pick);
}

cg_ref cg_gen(cg *e, ts_val v, cg_ix ix)
{
    if (e->val[v].form == CG_HELD)
        return expr_held(e, v, ix);
    cg_ref known = cg_known(e, CG_KEY(EXPR_GEN, v, 0), ix);
    if (known)
        return known;
    if (e->status != TS_OK)
        return cg_int(e, 0);
    const cg_val *val = &e->val[v];
    if (val->form != CG_BUF || val->making)
        return cg_make(e, v, ix);
    cg_ref r = cg_load(e, val->mem, ix);
    cg_remember(e, CG_KEY(EXPR_GEN, v, 0), ix, r);
    return r;
}

cg_ref cg_make(cg *e, ts_val v, cg_ix ix)
{
    cg_ref known = cg_known(e, CG_KEY(EXPR_GEN, v, 0), ix);
    if (known)
        return known;
    cg_ref r = expr_lazy(e, v, ix);
    cg_remember(e, CG_KEY(EXPR_GEN, v, 0), ix, r);
    return r;
}

/* ---- values of one element ----------------------------------------------------------------------*/

cg_ref cg_scalar(cg *e, ts_val v)
{
    const cg_val *val = &e->val[v];
    uint64_t payload;
    if (e->in_body && e->body[v])
        return e->body[v];
    if (val->form == CG_SCALAR)
        return val->ref;
    if (ts__const_bits(e->fn, v, &payload))
        return cg_const(e, cg_reg_of(e, ts_type_of(e->fn, v)), 0, payload);
    return cg_gen(e, v, cg_ix_scalar(e, ts_type_rank(e->m, ts_type_of(e->fn, v))));
}

cg_ref cg_scalar_i64(cg *e, ts_val v)
{
    int64_t c;
    if (ts__const_as_int(e->fn, v, &c))
        return cg_int(e, c);
    cg_ref x = cg_scalar(e, v);
    cg_ref known = cg_known(e, CG_KEY(EXPR_WIDE, x, 0), 0);
    if (known)
        return known;
    cg_ref r = cg_conv(e, "sext", cg_reg_of(e, ts_type_of(e->fn, v)), CG_I64, 0, x);
    cg_remember(e, CG_KEY(EXPR_WIDE, x, 0), 0, r);
    return r;
}

/* ---- bodies of reduce and scan ------------------------------------------------------------------*/

static cg_ref expr_body_value(cg *e, ts_val v, uint32_t bits)
{
    uint64_t payload;
    if (e->body[v])
        return e->body[v];
    if (ts__const_bits(e->fn, v, &payload))
        return cg_const(e, cg_reg_of(e, ts_type_of(e->fn, v)), bits, payload);
    return cg_splat(e, cg_reg_of(e, ts_type_of(e->fn, v)), bits, cg_scalar(e, v));
}

/* A cold region inside a body is simply computed. */
static void expr_body_inst(cg *e, ts_val v, uint32_t bits)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_ref x[3] = {0};
    if (inst->op == TS_OP_res) {
        ts_val opener = inst->opnd[0], yield = e->shape.end[opener] - 1;
        cg_ref c = expr_body_value(e, ts_opnd(e->fn, opener, 0), bits);
        cg_ref slow = expr_body_value(e, ts_opnd(e->fn, yield, inst->aux), bits);
        cg_ref usual = expr_body_value(e, ts_opnd(e->fn, opener, 1 + inst->aux), bits);
        e->body[v] = cg_sel(e, cg_reg_of(e, inst->type), bits, c, slow, usual);
    } else if (ts_info(inst)->flags & TS_ELEM) {
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            x[i] = expr_body_value(e, inst->opnd[i], bits);
        e->body[v] = cg_elem(e, v, bits, x);
    } else if (inst->op == TS_OP_assume || inst->op == TS_OP_broadcast || inst->op == TS_OP_reshape)
        e->body[v] = expr_body_value(e, inst->opnd[0], bits);
    else if (inst->op != TS_OP_cold && inst->op != TS_OP_end && inst->op != TS_OP_yield && inst->op != TS_OP_constant &&
             inst->op != TS_OP_arg)
        cg_fail(e, TS_UNSUPPORTED, "'%s' inside the body of a reduction", ts_info(inst)->name);
}

void cg_body(cg *e, ts_val opener, uint32_t bits, const cg_ref *element, const cg_ref *acc, cg_ref *out)
{
    uint32_t n = ts_at(e->fn, opener)->n_opnd, end = e->shape.end[opener];
    const ts_inst *yield = ts_at(e->fn, end - 1);
    e->in_body = true;
    for (ts_val v = opener + 1; v < end; v++)
        e->body[v] = 0;
    for (uint32_t i = 0; i < n; i++) {
        e->body[ts_region_arg(e->fn, opener, 2 * i)] = element[i];
        e->body[ts_region_arg(e->fn, opener, 2 * i + 1)] = acc[i];
    }
    for (ts_val v = opener + 1; v < end; v++)
        if (!e->body[v])
            expr_body_inst(e, v, bits);
    for (uint32_t i = 0; i < n; i++)
        out[i] = expr_body_value(e, ts_opnds(e->fn, yield)[i], bits);
    e->in_body = false;
}
