/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter at tile level: views, loads, stores, atomics, assert and print. A view value is the
 * base address, then TS_MAX_RANK extents, then TS_MAX_RANK strides in elements; a tiled view carries the
 * words of its tensor view, the rest is in its type.
 */
#include "eval/tile.h"
#include "ir/float.h"

/* ---- making views ----------------------------------------------------------------------------------- */

ts_status eval_tile_make_tensor_view(eval_tile *t, ts_val v)
{
    const ts_type_info *info = ts_type_get(t->module, ts_type_of(t->fn, v));
    uint64_t *view = t->value[v];
    uint32_t next = 1;
    view[0] = *eval_tile_opnd(t, v, 0);
    for (uint32_t part = 0; part < 2; part++) { /* extents, then strides */
        const int64_t *known = part ? info->strides : info->dims;
        for (uint32_t d = 0; d < info->rank; d++) {
            bool dynamic = known[d] == TS_DYNAMIC;
            if (dynamic && next >= ts_at(t->fn, v)->n_opnd)
                return eval_fail(&t->run, v, TS_VERIFY, "fewer operands than dynamic extents and strides");
            view[1 + part * TS_MAX_RANK + d] = dynamic ? *eval_tile_opnd(t, v, next++) : (uint64_t)known[d];
        }
    }
    return TS_OK;
}

static ts_status mem_tiled_view(eval_tile *t, ts_val v)
{
    memcpy(t->value[v], eval_tile_opnd(t, v, 0), EVAL_VIEW_WORDS * sizeof(uint64_t));
    return TS_OK;
}

ts_status eval_tile_make_partition_view(eval_tile *t, ts_val v)
{
    return mem_tiled_view(t, v);
}

ts_status eval_tile_make_strided_view(eval_tile *t, ts_val v)
{
    return mem_tiled_view(t, v);
}

ts_status eval_tile_make_gather_scatter_view(eval_tile *t, ts_val v)
{
    return mem_tiled_view(t, v);
}

ts_status eval_tile_get_tensor_shape(eval_tile *t, ts_val v)
{
    uint32_t axis = ts_at(t->fn, v)->aux;
    if (axis >= TS_MAX_RANK)
        return eval_fail(&t->run, v, TS_VERIFY, "axis %u of a view", axis);
    *t->value[v] = ts__scalar_wrap(ts_type_of(t->fn, v), eval_tile_opnd(t, v, 0)[1 + axis]);
    return TS_OK;
}

/* Which tensor axis tile axis d of a view walks. */
static uint32_t mem_axis(const ts_type_info *view, uint32_t d)
{
    return view->dim_map ? (uint32_t)view->dim_map[d] % TS_MAX_RANK : d;
}

ts_status eval_tile_get_index_space_shape(eval_tile *t, ts_val v)
{
    const ts_type_info *view = ts_type_get(t->module, eval_tile_type(t, v, 0));
    uint32_t axis = ts_at(t->fn, v)->aux;
    if (axis >= view->rank)
        return eval_fail(&t->run, v, TS_VERIFY, "axis %u of a view of rank %u", axis, view->rank);
    int64_t extent = (int64_t)eval_tile_opnd(t, v, 0)[1 + mem_axis(view, axis)], step = ts_view_step(view, axis);
    *t->value[v] = ts__scalar_wrap(ts_type_of(t->fn, v), (uint64_t)((extent + step - 1) / step));
    return TS_OK;
}

/* ---- walking a view ----------------------------------------------------------------------------------- */

/* One access through a view: operand `view`, index operands from `first_index` on. */
typedef struct mem_walk {
    const ts_type_info *view, *tensor;
    const uint64_t *words;
    ts_type elem;
    ts_val at;
    uint32_t first_index;
    uint32_t promised; /* bit per tile axis: in bounds, says the program */
} mem_walk;

static ts_status mem_walk_begin(eval_tile *t, ts_val v, uint32_t first_index, mem_walk *w)
{
    const ts_inst *inst = ts_at(t->fn, v);
    const ts_type_info *view = ts_type_get(t->module, eval_tile_type(t, v, 0));
    if (view->kind < TS_KIND_PARTITION_VIEW || view->kind > TS_KIND_GATHER_SCATTER_VIEW ||
        inst->n_opnd < first_index + view->rank)
        return eval_fail(&t->run, v, TS_VERIFY, "needs a tiled view and an index for each of its axes");
    const ts_type_info *tensor = ts_type_get(t->module, view->elem);
    *w = (mem_walk){view, tensor, eval_tile_opnd(t, v, 0), tensor->elem, v, first_index, TS_M_GET_INBOUNDS(inst->aux)};
    return TS_OK;
}

/* Element offset of tile position `index` from the base. *inside is false outside the array. */
static ts_status mem_walk_at(eval_tile *t, const mem_walk *w, const int64_t *index, int64_t *offset, bool *inside)
{
    uint64_t sum = 0;
    *inside = true;
    for (uint32_t d = 0; d < w->view->rank; d++) {
        const uint64_t *operand = eval_tile_opnd(t, w->at, w->first_index + d);
        bool sparse = w->view->kind == TS_KIND_GATHER_SCATTER_VIEW && d == w->view->sparse_dim;
        uint32_t axis = mem_axis(w->view, d);
        int64_t at = sparse ? (int64_t)operand[index[d]]
                            : ts_view_start((int64_t)*operand, ts_view_step(w->view, d)) + index[d];
        int64_t extent = (int64_t)w->words[1 + axis];
        if (at < 0 || at >= extent) {
            *inside = false;
            if (w->promised >> d & 1)
                return eval_fail(&t->run, w->at, TS_LAUNCH,
                                 "element %lld of axis %u (extent %lld) was promised in bounds",
                                 (long long)at, axis, (long long)extent);
        }
        sum += (uint64_t)at * w->words[1 + TS_MAX_RANK + axis]; /* wraps outside, where it is not used */
    }
    *offset = (int64_t)sum;
    return TS_OK;
}

ts_status eval_tile_load_view_tko(eval_tile *t, ts_val v)
{
    mem_walk w;
    TS_TRY(mem_walk_begin(t, v, 1, &w));
    int64_t index[TS_MAX_RANK] = {0}, offset;
    bool inside;
    for (int64_t i = 0; i < ts_type_count(t->module, ts_type_of(t->fn, v));
         i++, eval_next(index, w.view->dims, w.view->rank)) {
        TS_TRY(mem_walk_at(t, &w, index, &offset, &inside));
        t->value[v][i] = ts__pad_bits(w.elem, w.view->padding, t->fn->checked);
        if (inside)
            TS_TRY(eval_load(&t->run, v, w.elem, w.words[0], offset, &t->value[v][i]));
    }
    return TS_OK;
}

ts_status eval_tile_store_view_tko(eval_tile *t, ts_val v)
{
    mem_walk w;
    TS_TRY(mem_walk_begin(t, v, 2, &w));
    int64_t index[TS_MAX_RANK] = {0}, offset;
    bool inside;
    for (int64_t i = 0; i < ts_type_count(t->module, eval_tile_type(t, v, 1));
         i++, eval_next(index, w.view->dims, w.view->rank)) {
        TS_TRY(mem_walk_at(t, &w, index, &offset, &inside));
        if (inside)
            TS_TRY(eval_store(&t->run, v, w.elem, w.words[0], offset, eval_tile_opnd(t, v, 1)[i]));
    }
    return TS_OK;
}

ts_status eval_tile_atomic_red_view_tko(eval_tile *t, ts_val v)
{
    mem_walk w;
    TS_TRY(mem_walk_begin(t, v, 2, &w));
    ts_rmw mode = TS_M_GET_MODE(ts_at(t->fn, v)->aux);
    int64_t index[TS_MAX_RANK] = {0}, offset;
    for (int64_t i = 0; i < ts_type_count(t->module, eval_tile_type(t, v, 1));
         i++, eval_next(index, w.view->dims, w.view->rank)) {
        bool inside;
        uint64_t old;
        TS_TRY(mem_walk_at(t, &w, index, &offset, &inside));
        if (!inside)
            continue;
        TS_TRY(eval_load(&t->run, v, w.elem, w.words[0], offset, &old));
        uint64_t made = eval_rmw(t->module, mode, w.elem, old, eval_tile_opnd(t, v, 1)[i], 0);
        TS_TRY(eval_store(&t->run, v, w.elem, w.words[0], offset, made));
    }
    return TS_OK;
}

/* ---- pointers ------------------------------------------------------------------------------------------ */

static ts_type mem_pointee(const eval_tile *t, ts_val v)
{
    return ts_type_get(t->module, ts_type_elem(t->module, eval_tile_type(t, v, 0)))->elem;
}

/* The mask or padding operand, NULL when the instruction has none. */
static const uint64_t *mem_optional(eval_tile *t, ts_val v, uint32_t position)
{
    return position == TS_NO ? NULL : eval_tile_opnd(t, v, position);
}

ts_status eval_tile_load_ptr_tko(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    const uint64_t *mask = mem_optional(t, v, ts__opnd_mask(inst)), *pad = mem_optional(t, v, ts__opnd_pad(inst));
    const uint64_t *pointer = eval_tile_opnd(t, v, 0);
    for (int64_t i = 0; i < ts_type_count(t->module, inst->type); i++) {
        t->value[v][i] = pad ? pad[i] : 0;
        if (!mask || mask[i] & 1)
            TS_TRY(eval_load(&t->run, v, mem_pointee(t, v), pointer[i], 0, &t->value[v][i]));
    }
    return TS_OK;
}

ts_status eval_tile_store_ptr_tko(eval_tile *t, ts_val v)
{
    const uint64_t *mask = mem_optional(t, v, ts__opnd_mask(ts_at(t->fn, v)));
    const uint64_t *pointer = eval_tile_opnd(t, v, 0), *value = eval_tile_opnd(t, v, 1);
    for (int64_t i = 0; i < ts_type_count(t->module, eval_tile_type(t, v, 0)); i++)
        if (!mask || mask[i] & 1)
            TS_TRY(eval_store(&t->run, v, mem_pointee(t, v), pointer[i], 0, value[i]));
    return TS_OK;
}

/* Both atomics: `value` is the operand written, `cmp` what cas expects (NULL otherwise) and gives for
 * masked elements. */
static ts_status mem_atomic(eval_tile *t, ts_val v, ts_rmw mode, const uint64_t *value, const uint64_t *cmp)
{
    const ts_inst *inst = ts_at(t->fn, v);
    const uint64_t *mask = mem_optional(t, v, ts__opnd_mask(inst)), *pointer = eval_tile_opnd(t, v, 0);
    ts_type elem = mem_pointee(t, v);
    for (int64_t i = 0; i < ts_type_count(t->module, inst->type); i++) {
        uint64_t old, expected = cmp ? cmp[i] : 0;
        t->value[v][i] = expected;
        if (mask && !(mask[i] & 1))
            continue;
        TS_TRY(eval_load(&t->run, v, elem, pointer[i], 0, &old));
        uint64_t made = eval_rmw(t->module, mode, elem, old, value[i], expected);
        TS_TRY(eval_store(&t->run, v, elem, pointer[i], 0, made));
        t->value[v][i] = old;
    }
    return TS_OK;
}

ts_status eval_tile_atomic_rmw_tko(eval_tile *t, ts_val v)
{
    return mem_atomic(t, v, TS_M_GET_MODE(ts_at(t->fn, v)->aux), eval_tile_opnd(t, v, 1), NULL);
}

ts_status eval_tile_atomic_cas_tko(eval_tile *t, ts_val v)
{
    return mem_atomic(t, v, TS_RMW_CAS, eval_tile_opnd(t, v, 2), eval_tile_opnd(t, v, 1));
}

ts_status eval_tile_alloca(eval_tile *t, ts_val v)
{
    const uint32_t *words = ts_pool(t->fn, ts_at(t->fn, v));
    void *at = eval_own(&t->run, words[0], words[1], 0xCD);
    if (!at)
        return eval_tile_nomem(t);
    *t->value[v] = (uint64_t)(uintptr_t)at;
    return TS_OK;
}

ts_status eval_tile_get_global(eval_tile *t, ts_val v)
{
    *t->value[v] = eval_global(&t->run, ts_at(t->fn, v)->aux);
    if (!*t->value[v])
        return eval_fail(&t->run, v, TS_VERIFY, "the module has no global \"%s\"",
                         ts_str_get(t->module, ts_at(t->fn, v)->aux));
    return TS_OK;
}

/* ---- assert and print ------------------------------------------------------------------------------------ */

ts_status eval_tile_assert(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    const uint64_t *cond = eval_tile_opnd(t, v, 0);
    int64_t n = ts_type_count(t->module, eval_tile_type(t, v, 0)), i = 0;
    while (i < n && cond[i] & 1)
        i++;
    if (i == n)
        return TS_OK;
    ts_fault fault = {.code = TS_FAULT_ASSERT};
    if (inst->n_opnd == 3)
        fault = (ts_fault){.code = TS_FAULT_BOUNDS,
                           .index = (int64_t)eval_tile_opnd(t, v, 1)[i],
                           .extent = (int64_t)eval_tile_opnd(t, v, 2)[0]};
    const char *text = ts_str_get(t->module, inst->aux);
    return eval_fault(&t->run, v, fault, *text || inst->n_opnd == 3 ? text : "assertion failed");
}

ts_status eval_tile_fault(eval_tile *t, ts_val v)
{
    uint64_t opnd[6];
    for (uint32_t i = 0; i < 6; i++)
        opnd[i] = *eval_tile_opnd(t, v, i);
    return eval_fault_op(&t->run, v, opnd);
}

ts_status eval_tile_print_tko(eval_tile *t, ts_val v)
{
    const ts_inst *inst = ts_at(t->fn, v);
    uint32_t n = inst->n_opnd - (ts__opnd_token(inst) == TS_NO ? 0u : 1u);
    eval_arg args[32];
    if (n > TS_COUNT(args))
        return eval_fail(&t->run, v, TS_VERIFY, "%u values in one print; at most %zu", n, TS_COUNT(args));
    for (uint32_t i = 0; i < n; i++)
        args[i] = (eval_arg){eval_tile_type(t, v, i), eval_tile_opnd(t, v, i)};
    return eval_print(&t->run, v, inst->aux, args, n);
}
