/* SPDX-License-Identifier: Apache-2.0
 *
 * See alias.h. Roots flow forward once: a value has the root of what it was computed from. Two sources with
 * different roots, and operations that cannot be followed, give TS_ALIAS_UNKNOWN.
 */
#include "pass/alias.h"

enum { ALIAS_STEP_MOST = 1 << 10 };

/* ---- roots --------------------------------------------------------------------------------------*/

int ts__alias_sources(const ts_inst *inst, uint32_t *first)
{
    *first = inst->op == TS_OP_select;
    switch ((ts_op)inst->op) {
    case TS_OP_constant:
    case TS_OP_alloca:
    case TS_OP_get_global:
    case TS_OP_shared:
    case TS_OP_shared_alloc:
    case TS_OP_local:
        return 0;
    case TS_OP_select:
    case TS_OP_cat:
    case TS_OP_insert:
        return 2;
    case TS_OP_make_tensor_view:
    case TS_OP_make_partition_view:
    case TS_OP_make_strided_view:
    case TS_OP_make_gather_scatter_view:
    case TS_OP_assume:
    case TS_OP_offset:
    case TS_OP_ptr_add:
    case TS_OP_mapa:
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_permute:
    case TS_OP_extract:
    case TS_OP_bitcast:
    case TS_OP_ptr_to_ptr:
    case TS_OP_ptr_to_int:
    case TS_OP_int_to_ptr:
    case TS_OP_load_ptr_tko: /* an address out of the table of a list: reached through the list */
        return 1;
    default:
        return -1;
    }
}

static uint32_t alias_root(const ts_alias *a, ts_val v)
{
    const ts_inst *inst = ts_at(a->fn, v);
    uint32_t first, root = 0;
    if (inst->op == TS_OP_param || inst->op == TS_OP_alloca || inst->op == TS_OP_get_global)
        return v;
    int n = inst->op == TS_OP_load_ptr_tko ? -1 : ts__alias_sources(inst, &first);
    for (int i = 0; i < n; i++) {
        uint32_t one = a->root[ts_opnd(a->fn, v, first + (uint32_t)i)];
        root = !root || root == one ? one : TS_ALIAS_UNKNOWN;
    }
    bool is_number = inst->op == TS_OP_int_to_ptr && root != TS_ALIAS_UNKNOWN &&
                     !ts_type_is_ptr(a->fn->module, ts_type_of(a->fn, root)); /* it may point to anything */
    return n > 0 && !is_number ? root : TS_ALIAS_UNKNOWN;
}

bool ts__alias_of(const ts_fn *fn, ts_arena *scratch, ts_alias *alias)
{
    *alias = (ts_alias){fn, TS_NEW_N(scratch, uint32_t, fn->inst.n)};
    for (ts_val v = 1; alias->root && v < fn->inst.n; v++)
        alias->root[v] = alias_root(alias, v);
    return alias->root != NULL;
}

/* A get_global is a root, and so are two of one name: the name decides. */
static bool alias_roots_apart(const ts_alias *a, uint32_t x, uint32_t y)
{
    if (x == y || x == TS_ALIAS_UNKNOWN || y == TS_ALIAS_UNKNOWN)
        return false;
    const ts_inst *p = ts_at(a->fn, x), *q = ts_at(a->fn, y);
    if (p->op == TS_OP_param && q->op == TS_OP_param)
        return !a->fn->overlap;
    return p->op != TS_OP_get_global || q->op != TS_OP_get_global || p->aux != q->aux;
}

/* ---- views --------------------------------------------------------------------------------------*/

/* An access through an indexed view; view 0 for one through pointers. */
typedef struct alias_view {
    ts_val view, tensor;
    const ts_type_info *type;
    const uint32_t *index;
} alias_view;

static void alias_view_of(const ts_alias *a, ts_val v, alias_view *out)
{
    const ts_inst *inst = ts_at(a->fn, v);
    bool load = inst->op == TS_OP_load_view_tko;
    *out = (alias_view){0};
    if (!load && inst->op != TS_OP_store_view_tko && inst->op != TS_OP_atomic_red_view_tko)
        return;
    const uint32_t *x = ts_opnds(a->fn, inst);
    out->view = x[0];
    out->tensor = ts_at(a->fn, x[0])->op == TS_OP_make_tensor_view ? x[0] : ts_opnd(a->fn, x[0], 0);
    out->type = ts_type_get(a->fn->module, ts_type_of(a->fn, x[0]));
    out->index = x + (load ? 1 : 2);
}

static bool alias_same_value(const ts_fn *fn, ts_val x, ts_val y)
{
    int64_t a, b;
    return x == y || (ts_type_of(fn, x) == ts_type_of(fn, y) && ts__const_as_int(fn, x, &a) &&
                      ts__const_as_int(fn, y, &b) && a == b);
}

/* The same base, extents and strides. */
static bool alias_same_tensor(const ts_fn *fn, ts_val x, ts_val y)
{
    const ts_inst *p = ts_at(fn, x), *q = ts_at(fn, y);
    if (x == y)
        return true;
    if (p->op != TS_OP_make_tensor_view || q->op != p->op || p->type != q->type || p->n_opnd != q->n_opnd)
        return false;
    for (uint32_t i = 0; i < p->n_opnd; i++)
        if (!alias_same_value(fn, ts_opnds(fn, p)[i], ts_opnds(fn, q)[i]))
            return false;
    return true;
}

/* The same tiles for the same indices; the padding of a load plays no part. */
static bool alias_same_cut(const ts_type_info *s, const ts_type_info *t)
{
    if (s->kind != t->kind || s->rank != t->rank || s->sparse_dim != t->sparse_dim || !s->dim_map != !t->dim_map)
        return false;
    for (uint32_t k = 0; k < s->rank; k++)
        if (s->dims[k] != t->dims[k] || (s->dim_map && s->dim_map[k] != t->dim_map[k]) ||
            (s->kind == TS_KIND_STRIDED_VIEW && s->strides[k] != t->strides[k]))
            return false;
    return true;
}

/* An index as x + constant, where x may be 0 (none). */
static ts_val alias_index(const ts_fn *fn, ts_val v, uint64_t *plus)
{
    int64_t c;
    for (*plus = 0; v;) {
        const ts_inst *inst = ts_at(fn, v);
        if (ts__const_as_int(fn, v, &c)) {
            *plus += (uint64_t)c;
            return 0;
        }
        bool add = inst->op == TS_OP_addi, sub = inst->op == TS_OP_subi;
        if (inst->op == TS_OP_assume)
            v = inst->opnd[0];
        else if ((add || sub) && ts__const_as_int(fn, inst->opnd[1], &c)) {
            *plus += add ? (uint64_t)c : 0 - (uint64_t)c;
            v = inst->opnd[0];
        } else
            break;
    }
    return v;
}

/* Do two indices differ for sure? Modulo their own width, which is what they were computed in. */
static bool alias_index_differs(const ts_fn *fn, ts_val x, ts_val y)
{
    uint64_t a, b;
    ts_type type = ts_type_of(fn, x);
    if (ts_type_of(fn, y) != type || !ts_type_is_scalar(type) || alias_index(fn, x, &a) != alias_index(fn, y, &b))
        return false;
    uint32_t bits = ts_type_bits(fn->module, type);
    return bits < 64 ? (a - b) & (((uint64_t)1 << bits) - 1) : a != b;
}

static bool alias_tiles_apart(const ts_alias *a, const alias_view *x, const alias_view *y)
{
    if (!x->view || !y->view || x->type->kind != TS_KIND_PARTITION_VIEW || !alias_same_cut(x->type, y->type) ||
        !alias_same_tensor(a->fn, x->tensor, y->tensor))
        return false;
    for (uint32_t k = 0; k < x->type->rank; k++)
        if (alias_index_differs(a->fn, x->index[k], y->index[k]))
            return true;
    return false;
}

/* ---- pointers ----------------------------------------------------------------------------------- */

/* The step of a tile of pointers, or of the integers that it is made of, whose elements rise evenly along its only
 * axis, in elements; 0 for others. */
static int64_t alias_step(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    int64_t c;
    if (inst->op == TS_OP_offset && ts_at(fn, inst->opnd[0])->op == TS_OP_broadcast)
        return ts_type_count(fn->module, ts_type_of(fn, ts_opnd(fn, inst->opnd[0], 0))) == 1
                 ? alias_step(fn, inst->opnd[1]) : 0;
    if (inst->op == TS_OP_exti)
        return alias_step(fn, inst->opnd[0]);
    if (inst->op == TS_OP_muli && ts_at(fn, inst->opnd[0])->type == ts_type_of(fn, v) &&
        ts__const_as_int(fn, inst->opnd[1], &c) && c > 0 && c <= ALIAS_STEP_MOST)
        return c * alias_step(fn, inst->opnd[0]);
    return inst->op == TS_OP_iota && ts_type_bits(fn->module, ts_type_elem(fn->module, inst->type)) >= 32;
}

/* Does tile y point to elements that lie between those of tile x, as imaginary parts between real ones? */
static bool alias_between(const ts_fn *fn, ts_val x, ts_val y)
{
    const ts_inst *inst = ts_at(fn, y);
    int64_t by, step;
    return inst->op == TS_OP_offset && inst->opnd[0] == x && ts__const_as_int(fn, inst->opnd[1], &by) &&
           (step = alias_step(fn, x)) > 0 && by % step != 0;
}

static ts_val alias_pointers(const ts_fn *fn, ts_val v)
{
    ts_op op = (ts_op)ts_at(fn, v)->op;
    return op == TS_OP_load_ptr_tko || op == TS_OP_store_ptr_tko ? ts_opnd(fn, v, 0) : 0;
}

/* ---- questions ----------------------------------------------------------------------------------*/

bool ts__alias_orders(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    switch ((ts_op)inst->op) {
    case TS_OP_memory_fence_alias_tko:
    case TS_OP_grid_sync:
        return true;
    case TS_OP_load_view_tko:
    case TS_OP_store_view_tko:
    case TS_OP_load_ptr_tko:
    case TS_OP_store_ptr_tko:
    case TS_OP_atomic_cas_tko:
    case TS_OP_atomic_rmw_tko:
        return TS_M_GET_ORDER(inst->aux) > TS_RELAXED;
    default:
        return false;
    }
}

bool ts__alias_apart(const ts_alias *a, ts_val x, ts_val y)
{
    return alias_roots_apart(a, a->root[ts_opnd(a->fn, x, 0)], a->root[ts_opnd(a->fn, y, 0)]);
}

bool ts__alias_meet(const ts_alias *a, ts_val x, ts_val y)
{
    alias_view p, q;
    if (ts__alias_orders(a->fn, x) || ts__alias_orders(a->fn, y))
        return true;
    if (ts__alias_apart(a, x, y))
        return false;
    ts_val from = alias_pointers(a->fn, x), to = alias_pointers(a->fn, y);
    if (from && to && (alias_between(a->fn, from, to) || alias_between(a->fn, to, from)))
        return false;
    alias_view_of(a, x, &p);
    alias_view_of(a, y, &q);
    return !alias_tiles_apart(a, &p, &q);
}

bool ts__alias_same_place(const ts_alias *a, ts_val x, ts_val y)
{
    alias_view p, q;
    alias_view_of(a, x, &p);
    alias_view_of(a, y, &q);
    if (ts__alias_orders(a->fn, x) || ts__alias_orders(a->fn, y))
        return false;
    if (!p.view || !q.view || p.type->kind == TS_KIND_GATHER_SCATTER_VIEW || !alias_same_cut(p.type, q.type) ||
        !alias_same_tensor(a->fn, p.tensor, q.tensor))
        return false;
    for (uint32_t k = 0; k < p.type->rank; k++)
        if (!alias_same_value(a->fn, p.index[k], q.index[k]))
            return false;
    return true;
}
