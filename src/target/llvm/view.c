/* SPDX-License-Identifier: Apache-2.0
 *
 * Array views. A load settles where its tile is read from, at the place of the load: straight from the
 * array when the tile lies wholly inside and its last axis is dense there, otherwise from a dense copy
 * in scratch that ts__rt_view_in fills with the padding. Stores likewise. So the loops over elements
 * are written once, without masks, and what follows cannot tell the two cases apart.
 */
#include "ir/float.h"
#include "target/llvm/cg.h"
#include "runtime/runtime.h"

#include <stdio.h>

/* A tile access by axis of the tile. */
typedef struct view_access {
    const cg_view *view;
    ts_type elem;
    uint32_t rank;
    int64_t dims[TS_MAX_RANK];
    cg_ref start[TS_MAX_RANK], extent[TS_MAX_RANK], stride[TS_MAX_RANK];
    int sparse_axis;
    ts_val sparse;
    uint32_t promised; /* axes in bounds */
    ts_padding padding;
} view_access;

/* ---- making -------------------------------------------------------------------------------------*/

static void view_tensor(cg *e, ts_val v, cg_view *view)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const ts_type_info *t = ts_type_get(e->m, inst->type);
    const uint32_t *x = ts_opnds(e->fn, inst);
    uint32_t next = 1;
    view->rank = t->rank;
    view->elem = t->elem;
    view->base = cg_scalar(e, x[0]);
    for (uint32_t k = 0; k < t->rank; k++)
        view->dim[k] = t->dims[k] == TS_DYNAMIC ? cg_scalar_i64(e, x[next++]) : cg_int(e, t->dims[k]);
    for (uint32_t k = 0; k < t->rank; k++)
        view->stride[k] = t->strides[k] == TS_DYNAMIC ? cg_scalar_i64(e, x[next++]) : cg_int(e, t->strides[k]);
}

void cg_make_view(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    cg_view *view = TS_NEW(e->arena, cg_view);
    if (!view)
        return;
    if (inst->op == TS_OP_make_tensor_view)
        view_tensor(e, v, view);
    else if (e->val[inst->opnd[0]].view)
        *view = *e->val[inst->opnd[0]].view;
    view->type = inst->type;
    e->val[v].form = CG_VIEW;
    e->val[v].view = view;
}

/* Number of tiles along an axis: ceil(extent / step). Extents are never negative. */
static cg_ref view_count(cg *e, cg_ref extent, int64_t step)
{
    int64_t c;
    if (cg_is_int(e, extent, &c))
        return cg_int(e, (c + step - 1) / step);
    cg_ref up = cg_add(e, extent, cg_int(e, step - 1));
    return ts_is_pow2(step) ? cg_shr(e, up, (uint32_t)ts_log2((uint64_t)step)) : cg_new(e, "udiv i64 %r, %d", up, step);
}

void cg_space(cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const cg_view *view = e->val[inst->opnd[0]].view;
    if (!view)
        return;
    const ts_type_info *t = ts_type_get(e->m, view->type);
    uint32_t axis = inst->aux;
    cg_ref x = cg_int(e, 1);
    if (inst->op == TS_OP_get_tensor_shape)
        x = axis < view->rank ? view->dim[axis] : x;
    else if (axis < t->rank) {
        uint32_t d = t->dim_map ? (uint32_t)t->dim_map[axis] : axis;
        x = d < view->rank ? view_count(e, view->dim[d], ts_view_step(t, axis)) : x;
    }
    e->val[v].form = CG_SCALAR;
    e->val[v].ref = cg_conv(e, "trunc", CG_I64, cg_reg_of(e, inst->type), 0, x);
}

/* ---- describing an access -----------------------------------------------------------------------*/

/* ts_view_start; the clamp is for indices of 64 bits alone. */
static cg_ref view_start(cg *e, ts_val index, int64_t step)
{
    int64_t known, most = TS_VIEW_FAR / step;
    cg_ref x = cg_scalar_i64(e, index);
    if (cg_is_int(e, x, &known))
        return cg_int(e, ts_view_start(known, step));
    if (ts_type_bits(e->m, ts_type_elem(e->m, ts_type_of(e->fn, index))) == 64) {
        x = cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp sgt", CG_I64, 0, x, cg_int(e, most)), cg_int(e, most), x);
        x = cg_sel(e, CG_I64, 0, cg_cmp(e, "icmp slt", CG_I64, 0, x, cg_int(e, -most)), cg_int(e, -most), x);
    }
    return cg_mul(e, x, cg_int(e, step));
}

static void view_axis(cg *e, view_access *a, const ts_type_info *t, uint32_t k, ts_val index)
{
    uint32_t d = t->dim_map ? (uint32_t)t->dim_map[k] : k;
    bool sparse = t->kind == TS_KIND_GATHER_SCATTER_VIEW && k == t->sparse_dim;
    a->dims[k] = t->dims[k];
    a->extent[k] = a->view->dim[d];
    a->stride[k] = a->view->stride[d];
    a->start[k] = cg_int(e, 0);
    if (sparse) {
        a->sparse_axis = (int)k;
        a->sparse = index;
        return;
    }
    a->start[k] = view_start(e, index, ts_view_step(t, k));
}

/* `at`: position of the first index operand. */
static bool view_access_of(cg *e, ts_val v, uint32_t at, view_access *a)
{
    const ts_inst *inst = ts_at(e->fn, v);
    const uint32_t *x = ts_opnds(e->fn, inst);
    memset(a, 0, sizeof *a);
    a->view = e->val[x[0]].view;
    if (!a->view || ts_type_kind(e->m, a->view->type) == TS_KIND_TENSOR_VIEW) {
        cg_fail(e, TS_VERIFY, "%s needs a partition, strided or gather_scatter view", ts_info(inst)->name);
        return false;
    }
    const ts_type_info *t = ts_type_get(e->m, a->view->type);
    a->elem = a->view->elem;
    a->rank = t->rank;
    a->sparse_axis = -1;
    a->promised = TS_M_GET_INBOUNDS(inst->aux);
    a->padding = (ts_padding)t->padding;
    for (uint32_t k = 0; k < t->rank; k++)
        view_axis(e, a, t, k, x[at + k]);
    return true;
}

/* ---- straight or staged -------------------------------------------------------------------------*/

/* The last axis of more than one element: the one vectors lie along. */
static int view_inner(const view_access *a)
{
    for (uint32_t k = a->rank; k-- > 0;)
        if (a->dims[k] > 1)
            return (int)k;
    return -1;
}

static cg_ref view_both(cg *e, cg_ref a, cg_ref b)
{
    return a ? cg_bin(e, "and", CG_I1, 0, a, b) : b;
}

/* i1: may the tile be accessed in place? *always, *never when known now (then 0 is given). */
static cg_ref view_straight(cg *e, const view_access *a, bool *always, bool *never)
{
    cg_ref ok = 0;
    int64_t start, extent, stride;
    int inner = view_inner(a);
    *always = *never = false;
    if (ts_type_bits(e->m, a->elem) < 8 || a->sparse_axis >= 0)
        *never = true;
    for (uint32_t k = 0; k < a->rank && !*never; k++) {
        bool know_start = cg_is_int(e, a->start[k], &start), know_extent = cg_is_int(e, a->extent[k], &extent);
        if (a->promised >> k & 1 || (know_start && know_extent && start >= 0 && start + a->dims[k] <= extent))
            continue;
        if (!know_start || start < 0)
            ok = view_both(e, ok, cg_cmp(e, "icmp sge", CG_I64, 0, a->start[k], cg_int(e, 0)));
        ok = view_both(e, ok,
                       cg_cmp(e, "icmp sle", CG_I64, 0,
                              cg_add(e, a->start[k], cg_int(e, a->dims[k])), a->extent[k]));
    }
    if (inner >= 0 && cg_is_int(e, a->stride[inner], &stride))
        *never |= stride != 1;
    else if (inner >= 0 && !*never)
        ok = view_both(e, ok, cg_cmp(e, "icmp eq", CG_I64, 0, a->stride[inner], cg_int(e, 1)));
    *always = !*never && !ok;
    return *never ? 0 : ok;
}

/* The constant words of an access, as data of the object. */
static cg_ref view_what(cg *e, const view_access *a, int64_t mode)
{
    int64_t words[TS_RT_DIMS + TS_MAX_RANK] = {0};
    char name[32];
    uint32_t n = TS_RT_DIMS + a->rank;
    words[TS_RT_RANK] = a->rank;
    words[TS_RT_TYPE] = a->elem < TS_T_token ? a->elem : TS_T_i64;
    words[TS_RT_PAD] = (int64_t)ts__pad_bits(a->elem, (uint8_t)a->padding, e->fn->checked);
    words[TS_RT_MODE] = mode;
    words[TS_RT_SPARSE] = a->sparse_axis + 1;
    if (a->sparse_axis >= 0)
        words[TS_RT_SPARSE_BYTES] = cg_elem_bytes(e, ts_type_of(e->fn, a->sparse));
    memcpy(words + TS_RT_DIMS, a->dims, a->rank * sizeof *words);
    snprintf(name, sizeof name, "@t%u", ++e->n_data);
    ts__text_printf(&e->data, "%s = private unnamed_addr constant [%u x i64] [", name, n);
    for (uint32_t i = 0; i < n; i++)
        ts__text_printf(&e->data, "%si64 %lld", i ? ", " : "", (long long)words[i]);
    ts__text_puts(&e->data, "]\n");
    return cg_text(e, name);
}

static void view_call(cg *e, const char *name, cg_ref what, uint32_t rank, const cg_ref *where,
                      cg_ref array, cg_ref tile, cg_ref sparse)
{
    char line[96];
    for (uint32_t i = 0; i < 3 * rank; i++) {
        cg_ref p = cg_new(e, "getelementptr inbounds i64, ptr %r, i64 %d", e->where, (int64_t)i);
        cg_line(e, "store i64 %r, ptr %r", where[i], p);
    }
    snprintf(line, sizeof line, "declare void @ts__rt_%s(ptr, ptr, ptr, ptr, ptr)", name);
    cg_declare(e, line);
    cg_line(e, "call void @ts__rt_%s(ptr %r, ptr %r, ptr %r, ptr %r, ptr %r)", name, what, e->where,
            array, tile, sparse);
}

static void view_where(const view_access *a, cg_ref *where)
{
    for (uint32_t k = 0; k < a->rank; k++) {
        where[3 * k] = a->start[k];
        where[3 * k + 1] = a->extent[k];
        where[3 * k + 2] = a->stride[k];
    }
}

static cg_ref view_sparse(cg *e, const view_access *a)
{
    cg_mem *list = a->sparse_axis >= 0 ? cg_dense(e, a->sparse) : NULL;
    return list ? list->ptr : cg_text(e, "null");
}

/* Address of the tile's first element in the array. */
static cg_ref view_first(cg *e, const view_access *a)
{
    cg_ref at = cg_int(e, 0);
    for (uint32_t k = 0; k < a->rank; k++)
        at = cg_add(e, at, cg_mul(e, a->start[k], a->stride[k]));
    cg_ref base = cg_new(e, "inttoptr i64 %r to ptr", a->view->base);
    cg_reg reg = cg_reg_of(e, a->elem);
    return cg_new(e, "getelementptr %s, ptr %r, i64 %r", cg_type(e, reg == CG_I1 ? CG_I8 : reg, 0), base, at);
}

static cg_mem *view_in_place(cg *e, const view_access *a, cg_ref first)
{
    cg_mem *mem = TS_NEW(e->arena, cg_mem);
    if (!mem)
        return NULL;
    *mem = (cg_mem){.ptr = first, .elem = a->elem, .rank = a->rank};
    for (uint32_t k = 0; k < a->rank; k++)
        mem->stride[k] = a->dims[k] == 1 ? cg_int(e, 0) : (int)k == view_inner(a) ? cg_int(e, 1) : a->stride[k];
    return mem;
}

/* Whether an axis has another stride in the array than in a staged tile: not the inner one, and one of a single
 * element has none. */
static bool view_varies(const view_access *a, uint32_t k)
{
    return (int)k != view_inner(a) && a->dims[k] > 1;
}

/* A tile that is either: pointer and strides from whichever block came. */
static void view_merge(cg *e, const view_access *a, cg_mem *mem, const cg_mem *staged, uint32_t from_straight,
                       uint32_t from_staged)
{
    mem->ptr = cg_new(e, "phi ptr [ %r, %b ], [ %r, %b ]", mem->ptr, from_straight, staged->ptr, from_staged);
    for (uint32_t k = 0; k < mem->rank; k++) {
        if (!view_varies(a, k))
            continue;
        mem->stride[k] = cg_new(e, "phi i64 [ %r, %b ], [ %r, %b ]", mem->stride[k], from_straight,
                                staged->stride[k], from_staged);
    }
}

/* The same access row by row; NULL where the runtime is to make it. */
static const cg_rows *view_rows(cg *e, const view_access *a)
{
    cg_rows *rows = TS_NEW(e->arena, cg_rows);
    if (!rows || a->sparse_axis >= 0)
        return NULL;
    *rows = (cg_rows){.elem = a->elem, .rank = a->rank, .inner = view_inner(a)};
    rows->pad = ts__pad_bits(a->elem, (uint8_t)a->padding, e->fn->checked);
    memcpy(rows->dims, a->dims, sizeof rows->dims);
    view_where(a, rows->where);
    return cg_rows_fit(e, rows) ? rows : NULL;
}

static cg_mem *view_staged_in(cg *e, const view_access *a, ts_type tile, ts_val owner, cg_ref sparse)
{
    cg_ref where[3 * TS_MAX_RANK];
    cg_mem *mem = cg_alloc(e, tile, owner);
    const cg_rows *rows = view_rows(e, a);
    cg_ref array = cg_new(e, "inttoptr i64 %r to ptr", a->view->base);
    if (!mem)
        return NULL;
    if (rows) {
        cg_rows here = *rows;
        here.array = array;
        cg_rows_copy(e, &here, mem, true);
        return mem;
    }
    view_where(a, where);
    view_call(e, "view_in", view_what(e, a, 0), a->rank, where, array, mem->ptr, sparse);
    return mem;
}

/* Is all that is done with load v that a product beside it copies it? */
static bool view_is_packed(cg *e, const view_access *a, ts_val v)
{
    int64_t stride;
    if (e->shape.uses[v] != 1 || e->plan.store[v] || view_inner(a) != (int)a->rank - 1 ||
        !cg_is_int(e, a->stride[a->rank - 1], &stride) || !cg_bounds_fit(e, a->elem))
        return false;
    for (ts_val u = v + 1; u < e->fn->inst.n; u++) {
        const ts_inst *inst = ts_at(e->fn, u);
        if (e->shape.parent[u] == e->shape.parent[v] && (inst->op == TS_OP_mmaf || inst->op == TS_OP_mmai))
            for (uint32_t i = 0; i < 2; i++)
                if (ts_opnd(e->fn, u, i) == v)
                    return cg_mma_packs(e, u, i == 1);
    }
    return false;
}

/* In place, whatever lies beyond the array. */
static cg_mem *view_masked(cg *e, const view_access *a, cg_mem *mem, cg_ref straight)
{
    cg_bounds *bounds = TS_NEW(e->arena, cg_bounds);
    if (!bounds)
        return NULL;
    bounds->straight = straight;
    bounds->pad = ts__pad_bits(a->elem, (uint8_t)a->padding, e->fn->checked);
    memcpy(bounds->start, a->start, sizeof bounds->start);
    memcpy(bounds->extent, a->extent, sizeof bounds->extent);
    mem->bounds = bounds;
    return mem;
}

static cg_mem *view_open(cg *e, const view_access *a, ts_type tile, ts_val owner)
{
    bool always, never;
    cg_ref sparse = view_sparse(e, a), ok = view_straight(e, a, &always, &never);
    if (never)
        return view_staged_in(e, a, tile, owner, sparse);
    cg_mem *mem = view_in_place(e, a, view_first(e, a));
    if (always || !mem)
        return mem;
    if (view_is_packed(e, a, owner))
        return view_masked(e, a, mem, ok);
    uint32_t from = e->block, slow = cg_label(e), on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b, !prof !2", ok, on, slow);
    cg_block(e, slow);
    cg_scope_open(e);
    cg_mem *staged = view_staged_in(e, a, tile, owner, sparse);
    cg_scope_close(e);
    slow = e->block;
    cg_br(e, on);
    cg_block(e, on);
    if (staged)
        view_merge(e, a, mem, staged, from, slow);
    return mem;
}

/* A tile that is read several times comes from memory in the first pass and from the cache in the others,
 * which then could fetch the next block's tile: remembers how far that is. Only for the plain case that
 * one index is the block's own, and tiles that stay in the inner caches. */
static void view_ahead(cg *e, ts_val v, const view_access *a)
{
    const ts_inst *inst = ts_at(e->fn, v);
    int64_t bytes = ts_type_count(e->m, inst->type) * cg_elem_bytes(e, a->elem);
    if (!e->plan.again[v] || e->plan.store[v] || e->shape.parent[v] ||
        e->n_ahead == TS_COUNT(e->ahead) || bytes < 4096 || bytes > 128 << 10)
        return;
    for (uint32_t k = 0; k < a->rank; k++) {
        ts_val index = ts_opnds(e->fn, inst)[1 + k];
        while (ts_at(e->fn, index)->op == TS_OP_assume)
            index = ts_opnd(e->fn, index, 0);
        if (ts_at(e->fn, index)->op != TS_OP_get_tile_block_id || ts_at(e->fn, index)->aux != 0)
            continue;
        cg_ref delta = cg_mul(e, cg_int(e, a->dims[k] * cg_elem_bytes(e, a->elem)), a->stride[k]);
        e->ahead[e->n_ahead++] = (struct cg_ahead){.v = v, .delta = delta};
        return;
    }
}

/* ---- loads and stores ---------------------------------------------------------------------------*/

void cg_load_view(cg *e, ts_val v)
{
    view_access a;
    cg_val *val = &e->val[v];
    if (!view_access_of(e, v, 1, &a))
        return;
    val->source = view_open(e, &a, ts_type_of(e->fn, v), v);
    if (!val->source)
        return;
    if (cg_is_tile(e, v)) {
        val->form = CG_LAZY;
        cg_order_load(e, v);
        view_ahead(e, v, &a);
        return;
    }
    val->form = CG_SCALAR;
    val->ref = cg_load(e, val->source, cg_ix_scalar(e, a.rank));
}

void cg_copy_out(cg *e, const cg_out *out)
{
    uint32_t yes = cg_label(e), on = cg_label(e);
    if (out->staged) {
        cg_line(e, "br i1 %r, label %b, label %b, !prof !2", out->staged, on, yes);
        cg_block(e, yes);
    }
    if (out->rows) {
        cg_rows rows = *out->rows;
        rows.array = out->array;
        cg_rows_copy(e, &rows, &out->tile, false);
    } else
        view_call(e, "view_out", out->what, out->rank, out->where, out->array, out->tile.ptr, out->sparse);
    if (out->staged) {
        cg_br(e, on);
        cg_block(e, on);
    }
    if (out->tile.slot)
        e->slot.at[out->tile.slot - 1].used = false;
}

/* Where a store writes: in place or staged; *out is what copies it to the array later, or NULL. */
static cg_mem *view_target(cg *e, const view_access *a, ts_type tile, cg_out **out)
{
    bool always, never;
    cg_ref sparse = view_sparse(e, a), ok = view_straight(e, a, &always, &never);
    *out = NULL;
    if (always)
        return view_in_place(e, a, view_first(e, a));
    cg_out *o = *out = TS_NEW(e->arena, cg_out);
    cg_mem *staged = cg_alloc(e, tile, 0);
    if (!o || !staged)
        return NULL;
    *o = (cg_out){.staged = ok, .tile = *staged, .rank = a->rank, .sparse = sparse, .rows = view_rows(e, a)};
    o->what = o->rows ? 0 : view_what(e, a, 0);
    o->array = cg_new(e, "inttoptr i64 %r to ptr", a->view->base);
    view_where(a, o->where);
    if (never)
        return staged;
    cg_mem *mem = view_in_place(e, a, view_first(e, a));
    if (!mem)
        return NULL;
    mem->ptr = cg_sel(e, CG_PTR, 0, ok, mem->ptr, staged->ptr);
    for (uint32_t k = 0; k < mem->rank; k++) {
        if (view_varies(a, k))
            mem->stride[k] = cg_sel(e, CG_I64, 0, ok, mem->stride[k], staged->stride[k]);
    }
    return mem;
}

/* i1: is all that this store writes in the launch too much for the caches, and in whole lines? Then
 * writing around them saves reading the lines first (1.5 times the bandwidth in a stream). */
static cg_ref view_stream(cg *e, const view_access *a, const cg_mem *to, const cg_out *out)
{
    enum { VIEW_STREAM_BYTES = 8 << 20 };
    int64_t bytes = cg_elem_bytes(e, a->elem);
    int inner = view_inner(a);
    if (inner < 0 || a->dims[inner] * bytes < 4 * 64 ||
        strncmp(e->host->triple, "x86_64", 6) != 0 || (out && !out->staged))
        return 0;
    int64_t tile = bytes;
    cg_ref low = cg_new(e, "ptrtoint ptr %r to i64", to->ptr);
    for (uint32_t k = 0; k < a->rank; k++) {
        tile *= a->dims[k];
        if ((int)k != inner && a->dims[k] > 1)
            low = cg_bin(e, "or", CG_I64, 0, low, cg_mul(e, to->stride[k], cg_int(e, bytes)));
    }
    low = cg_bin(e, "and", CG_I64, 0, low, cg_int(e, 63));
    cg_ref even = cg_cmp(e, "icmp eq", CG_I64, 0, low, cg_int(e, 0));
    cg_ref much = cg_cmp(e, "icmp ugt", CG_I64, 0, e->n_blocks, cg_int(e, VIEW_STREAM_BYTES / tile));
    even = cg_bin(e, "and", CG_I1, 0, even, much);
    return out ? cg_bin(e, "and", CG_I1, 0, even, out->staged) : even;
}

void cg_store_view(cg *e, ts_val v)
{
    view_access a;
    ts_val tile = ts_opnd(e->fn, v, 1);
    cg_out *out;
    if (!view_access_of(e, v, 2, &a))
        return;
    cg_mem *to = view_target(e, &a, ts_type_of(e->fn, tile), &out);
    if (!to)
        return;
    if (!cg_is_tile(e, tile)) {
        cg_order(e, v, false);
        cg_store(e, to, cg_ix_scalar(e, a.rank), cg_scalar(e, tile));
        if (out)
            cg_copy_out(e, out);
        return;
    }
    cg_root root;
    cg_root_init(e, &root, CG_STORE, v, ts_type_of(e->fn, tile));
    root.val = tile;
    root.mem = *to;
    root.after = out;
    root.writes = true;
    root.stream = view_stream(e, &a, to, out);
    cg_add_root(e, &root);
}

void cg_red_view(cg *e, ts_val v)
{
    view_access a;
    cg_ref where[3 * TS_MAX_RANK];
    const ts_inst *inst = ts_at(e->fn, v);
    cg_mem *tile = cg_dense(e, ts_opnd(e->fn, v, 1));
    if (!tile || !view_access_of(e, v, 2, &a))
        return;
    cg_ref sparse = view_sparse(e, &a);
    cg_order(e, v, false);
    view_where(&a, where);
    view_call(e, "view_red", view_what(e, &a, TS_M_GET_MODE(inst->aux)), a.rank, where,
              cg_new(e, "inttoptr i64 %r to ptr", a.view->base), tile->ptr, sparse);
}
