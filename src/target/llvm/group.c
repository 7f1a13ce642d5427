/* SPDX-License-Identifier: Apache-2.0
 *
 * Roots that visit the same elements become one loop nest. Roots are collected while the walk goes on
 * (cg_add_root) and written when something needs a result, or another shape comes (cg_flush).
 *
 * The nest of extents d0 .. dn (those of 1 left out), one vector of lanes at a time:
 *     no reduction              loops in order; lanes along the last axes; a few copies of the body
 *     reduction, last axis      the same; each copy has an accumulator; combined pairwise behind the loop
 *     reduction, other axis,    that axis is the innermost loop; lanes and copies along the other axes,
 *     and every scan            one accumulator for each result
 *
 * Order of a reduction along the last axis, which is fixed. A function that may not commute combines each
 * vector of lanes pairwise, neighbours first, and the result into one accumulator: ascending. One that surely
 * commutes has W lanes and U copies of accumulators: (u, l) takes elements u*W + l, + U*W, ...; then copies
 * 1..U-1 are folded into copy 0 in order, then the upper half of the lanes into the lower until one is left.
 * Along another axis: ascending.
 */
#include "target/llvm/cg.h"

enum { GROUP_INPUTS = 8 };
/* Straight code of hundreds of nests would be one basic block, on which LLVM takes quadratic time; a look at whether
 * the kernel shall end cuts it. */
enum { GROUP_NESTS_A_LOOK = 32 };

/* ---- scratch ------------------------------------------------------------------------------------*/

static void group_expire(cg *e)
{
    for (uint32_t i = 0; i < e->slot.n; i++) {
        cg_slot *s = &e->slot.at[i];
        if (s->used && s->owner && e->plan.last[s->owner] < e->at)
            s->used = false; /* every root that was collected before `at` is written now */
    }
}

uint32_t cg_slot_of(cg *e, uint64_t bytes, uint64_t align, ts_val owner)
{
    align = TS_MAX(align, 64u);
    e->scratch_bytes = (e->scratch_bytes + align - 1) / align * align;
    cg_slot s = {.offset = e->scratch_bytes, .bytes = (bytes + 63) / 64 * 64, .used = true, .owner = owner};
    s.ptr = cg_name(e);
    e->scratch_bytes += s.bytes;
    ts__text_printf(&e->entry, "  %%v%u = getelementptr inbounds i8, ptr %%scratch, i64 %llu\n", s.ptr,
                   (unsigned long long)s.offset);
    if (!TS_PUSH(e->arena, &e->slot, s))
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
    return e->slot.n;
}

static uint32_t group_slot(cg *e, uint64_t bytes, ts_val owner)
{
    for (uint32_t i = 0; i < e->slot.n; i++) {
        cg_slot *s = &e->slot.at[i];
        if (!s->used && s->bytes >= bytes && s->bytes <= 2 * bytes) {
            s->used = true;
            s->owner = owner;
            s->turn++;
            return i + 1;
        }
    }
    return cg_slot_of(e, bytes, 0, owner);
}

cg_mem *cg_alloc(cg *e, ts_type type, ts_val owner)
{
    cg_mem *mem = TS_NEW(e->arena, cg_mem);
    ts_type elem = ts_type_elem(e->m, type);
    const int64_t *dims = ts_type_dims(e->m, type);
    int64_t stride = 1;
    if (!mem)
        return NULL;
    mem->elem = elem;
    mem->rank = ts_type_rank(e->m, type);
    mem->slot = group_slot(e, (uint64_t)ts_type_count(e->m, type) * cg_elem_bytes(e, elem), owner);
    mem->ptr = e->slot.n ? e->slot.at[mem->slot - 1].ptr : 0;
    mem->turn = e->slot.n ? e->slot.at[mem->slot - 1].turn : 0;
    for (uint32_t k = mem->rank; k-- > 0; stride *= dims[k])
        mem->stride[k] = cg_int(e, stride);
    return mem;
}

/* ---- loops --------------------------------------------------------------------------------------*/

void cg_loop_begin(cg *e, cg_loop *l, int64_t extent, int64_t step)
{
    *l = (cg_loop){.trip = extent / step, .step = step, .from = e->block};
    if (l->trip <= 1) {
        l->var = cg_int(e, 0);
        return;
    }
    l->head = cg_label(e);
    l->latch = cg_label(e);
    l->next = cg_name(e);
    cg_br(e, l->head);
    cg_block(e, l->head);
    l->var = cg_new(e, "phi i64 [ 0, %b ], [ %r, %b ]", l->from, l->next, l->latch);
    cg_scope_open(e);
}

void cg_loop_end(cg *e, cg_loop *l)
{
    if (l->trip <= 1)
        return;
    uint32_t exit = cg_label(e);
    cg_br(e, l->latch);
    cg_block(e, l->latch);
    cg_define(e, l->next, "add nuw nsw i64 %r, %d", l->var, l->step);
    cg_ref more = cg_new(e, "icmp ult i64 %r, %r", l->next, l->limit ? l->limit : cg_int(e, l->trip * l->step));
    cg_line(e, "br i1 %r, label %b, label %b", more, l->head, exit);
    cg_scope_close(e);
    cg_block(e, exit);
}

/* ---- collecting ---------------------------------------------------------------------------------*/

uint32_t cg_vector_bits(const cg *e, uint32_t elem_bytes)
{
    return (uint32_t)ts_log2(e->host->vector_bytes / TS_MAX(elem_bytes, 4u));
}

void cg_root_init(cg *e, cg_root *root, cg_root_kind kind, ts_val inst, ts_type space)
{
    memset(root, 0, sizeof *root);
    root->kind = (uint8_t)kind;
    root->inst = inst;
    root->rank = ts_type_rank(e->m, space);
    if (root->rank)
        memcpy(root->dims, ts_type_dims(e->m, space), root->rank * sizeof *root->dims);
}

/* Does the value come out of the open group, where it is not yet: scalars and views at all, a tile at other
 * coordinates than the group's? */
static bool group_pending(cg *e, ts_val v, bool same, void *user)
{
    const cg_val *val = &e->val[v];
    (void)user;
    return val->group == e->group.serial && val->form != CG_LAZY && !(val->form == CG_BUF && same);
}

void cg_settle(cg *e, ts_val v)
{
    if (e->group.open && cg_reach(e, v, false, group_pending, NULL))
        cg_flush(e);
}

/* Position of an axis when extents of 1 are left out; TS_MAX_RANK for an extent of 1. */
static uint32_t group_axis(const cg_root *root, uint32_t axis)
{
    uint32_t at = 0;
    if (root->kind != CG_REDUCE && root->kind != CG_SCAN)
        return TS_MAX_RANK;
    for (uint32_t k = 0; k < axis; k++)
        at += root->dims[k] != 1;
    return root->dims[axis] == 1 ? TS_MAX_RANK : at;
}

static uint32_t group_squeeze(const cg_root *root, int64_t *dims)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < root->rank; k++)
        if (root->dims[k] != 1)
            dims[n++] = root->dims[k];
    return n;
}

static bool group_root_pending(cg *e, const cg_root *root)
{
    const ts_inst *inst = ts_at(e->fn, root->inst);
    if (root->kind == CG_STORE)
        return cg_reach(e, root->val, true, group_pending, NULL);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (cg_reach(e, ts_opnds(e->fn, inst)[i], true, group_pending, NULL))
            return true;
    return false;
}

static bool group_takes(cg *e, const cg_root *root)
{
    const cg_group *g = &e->group;
    int64_t dims[TS_MAX_RANK];
    uint32_t n = group_squeeze(root, dims), axis = group_axis(root, root->axis);
    if (g->root.n >= 2 * CG_ROOTS || n != g->rank || memcmp(dims, g->dims, n * sizeof *dims) != 0 ||
        g->scan || root->kind == CG_SCAN)
        return false;
    if (axis < TS_MAX_RANK && g->axis < TS_MAX_RANK && axis != g->axis)
        return false;
    return !group_root_pending(e, root);
}

void cg_add_root(cg *e, const cg_root *root)
{
    cg_group *g = &e->group;
    uint32_t axis = group_axis(root, root->axis);
    if (root->writes)
        cg_order(e, root->inst, true);
    if (g->open && (cg_order_scratch(e, root) || !group_takes(e, root)))
        cg_flush(e);
    if (!g->open) {
        g->open = true;
        g->serial++;
        g->root.n = g->read.n = 0;
        g->axis = TS_MAX_RANK;
        g->writes = false;
        g->scan = root->kind == CG_SCAN;
        g->rank = group_squeeze(root, g->dims);
    }
    if (axis < TS_MAX_RANK)
        g->axis = axis;
    g->writes |= root->writes;
    cg_order_reads(e, root, &g->read);
    if (!TS_PUSH(e->arena, &g->root, *root))
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
}

void cg_store_root(cg *e, ts_val v, const cg_mem *to)
{
    cg_root root;
    cg_root_init(e, &root, CG_STORE, v, ts_type_of(e->fn, v));
    root.val = v;
    root.mem = *to;
    cg_add_root(e, &root);
}

cg_mem *cg_dense(cg *e, ts_val v)
{
    cg_val *val = &e->val[v];
    if (cg_held(e, ts_type_of(e->fn, v))) {
        cg_mem *copy = cg_alloc(e, ts_type_of(e->fn, v), 0);
        if (copy)
            cg_store(e, copy, cg_ix_held(e), cg_gen(e, v, cg_ix_held(e)));
        return copy;
    }
    if (val->form != CG_BUF) {
        bool one = !cg_is_tile(e, v);
        cg_settle(e, v);
        cg_mem *mem = cg_alloc(e, ts_type_of(e->fn, v), one ? 0 : v);
        if (!mem)
            return NULL;
        if (one) {
            cg_store(e, mem, cg_ix_scalar(e, mem->rank), cg_scalar(e, v));
            return mem;
        }
        cg_store_root(e, v, mem);
        cg_flush(e);
        if (e->shape.parent[v] != e->shape.parent[e->at]) /* other paths do not come by here */
            return mem;
        val->form = CG_BUF;
        val->mem = mem;
    }
    cg_settle(e, v);
    return val->mem;
}

/* ---- writing the nest ---------------------------------------------------------------------------*/

typedef struct group_nest {
    cg *e;
    cg_group *g;
    uint32_t bits, lane_bits[TS_MAX_RANK]; /* lanes along each axis */
    uint32_t axis;        /* reduced, TS_MAX_RANK none */
    bool across;          /* the lanes lie along the reduced axis */
    uint32_t copy_axis, n_copies;
    uint32_t order[TS_MAX_RANK];
    cg_loop loop[TS_MAX_RANK];
    cg_ref var[TS_MAX_RANK];
    cg_ref stream;        /* i1, 0 never */
    cg_ref *acc, *next;   /* [(root * GROUP_INPUTS + input) * n_copies + copy] */
} group_nest;

static uint32_t group_cost(const cg *e, const cg_group *g)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < g->root.n; i++) {
        const cg_root *r = &g->root.at[i];
        const ts_inst *inst = ts_at(e->fn, r->inst);
        if (r->kind == CG_STORE)
            cost += e->plan.cost[r->val] + 1;
        else
            for (uint32_t k = 0; k < inst->n_opnd; k++)
                cost += e->plan.cost[ts_opnds(e->fn, inst)[k]] + 2;
    }
    return cost;
}

static uint32_t group_bits(const cg *e, const cg_group *g)
{
    uint32_t bytes = 1;
    for (uint32_t i = 0; i < g->root.n; i++) {
        const cg_root *r = &g->root.at[i];
        ts_val v = r->kind == CG_STORE     ? r->val
                   : r->kind == CG_SCATTER ? ts_opnd(e->fn, r->inst, 1)
                                           : ts_opnd(e->fn, r->inst, 0);
        bytes = TS_MAX(bytes, cg_elem_bytes(e, ts_type_of(e->fn, v)));
    }
    return cg_vector_bits(e, bytes);
}

/* Lanes: from the last axis on backwards, with or without the reduced one. */
static void group_lanes(group_nest *n)
{
    const cg_group *g = n->g;
    uint32_t left = group_bits(n->e, g), others = 0, last = g->rank ? g->rank - 1 : 0;
    n->axis = g->axis;
    for (uint32_t k = 0; k < g->rank; k++)
        others += k == n->axis ? 0 : (uint32_t)ts_log2((uint64_t)g->dims[k]);
    n->across = n->axis == last && g->rank && !g->scan &&
                (ts_log2((uint64_t)g->dims[last]) >= (int)left || others < left);
    for (uint32_t k = g->rank; k-- > 0 && left;) {
        if ((k == n->axis) != n->across && n->axis != TS_MAX_RANK)
            continue;
        n->lane_bits[k] = TS_MIN(left, (uint32_t)ts_log2((uint64_t)g->dims[k]));
        left -= n->lane_bits[k];
        n->bits += n->lane_bits[k];
        if (n->axis == TS_MAX_RANK && n->lane_bits[k] < (uint32_t)ts_log2((uint64_t)g->dims[k]))
            break;
    }
}

/* How many vectors one round of the innermost loop takes: as many as hide latencies and as registers hold. A reduction
 * of columns takes long runs of a row at a time, which is the order in which memory is fetched. */
static uint32_t group_copies(const group_nest *n, uint32_t cost)
{
    const cg_group *g = n->g;
    uint32_t n_acc = 0;
    if (n->axis == TS_MAX_RANK)
        return cost <= 4 ? 4 : cost <= 12 ? 2 : 1;
    for (uint32_t i = 0; i < g->root.n; i++)
        n_acc += g->root.at[i].n;
    if (n->copy_axis == g->rank - 1 && !n->across && cost <= 6 && n_acc == 1)
        return n->e->host->vector_regs / 2;
    return cost <= 14 ? 4 : cost <= 30 ? 2 : 1;
}

static void group_order(group_nest *n)
{
    const cg_group *g = n->g;
    uint32_t at = 0, inner = n->axis < TS_MAX_RANK ? n->axis : g->rank - 1, cost = group_cost(n->e, g);
    for (uint32_t k = 0; k < g->rank; k++)
        if (k != inner)
            n->order[at++] = k;
    if (g->rank)
        n->order[at] = inner;
    n->copy_axis = n->across || n->axis == TS_MAX_RANK ? inner : n->axis == g->rank - 1 ? g->rank - 2 : g->rank - 1;
    uint32_t want = group_copies(n, cost);
    n->n_copies = 1;
    if (g->rank && n->copy_axis < g->rank && !g->scan) {
        int64_t steps = g->dims[n->copy_axis] >> n->lane_bits[n->copy_axis];
        n->n_copies = (uint32_t)TS_MIN(steps, (int64_t)want);
    }
}

/* Coordinates of copy u, of the squeezed extents. */
static void group_at(group_nest *n, uint32_t u, cg_index *at)
{
    uint32_t bit = 0;
    memset(at, 0, sizeof *at);
    at->rank = n->g->rank;
    at->bits = n->bits;
    for (uint32_t k = n->g->rank; k-- > 0;) {
        at->axis[k].base = n->var[k];
        if (k == n->copy_axis && u)
            at->axis[k].base = cg_add(n->e, n->var[k], cg_int(n->e, (int64_t)u << n->lane_bits[k]));
        for (uint32_t b = 0; b < n->lane_bits[k]; b++)
            at->axis[k].lane[bit++] = (int64_t)1 << b;
    }
}

/* The same in a root's own extents; `without`: an axis left out (TS_MAX_RANK none). */
static cg_ix group_root_at(group_nest *n, const cg_root *r, const cg_index *at, uint32_t without)
{
    cg_index out;
    uint32_t from = 0, to = 0;
    memset(&out, 0, sizeof out);
    out.bits = at->bits;
    for (uint32_t k = 0; k < r->rank; k++) {
        cg_axis axis = {.base = cg_int(n->e, 0)};
        if (r->dims[k] != 1)
            axis = at->axis[from++];
        if (k != without)
            out.axis[to++] = axis;
    }
    out.rank = to;
    return cg_intern(n->e, &out);
}

static uint64_t group_identity(const cg *e, const cg_root *r, uint32_t i)
{
    const uint32_t *pool = ts_pool(e->fn, ts_at(e->fn, r->inst));
    return pool[3 + 2 * i] | (uint64_t)pool[4 + 2 * i] << 32;
}

static cg_reg group_reg(const cg *e, const cg_root *r, uint32_t i)
{
    return cg_reg_of(e, ts_type_of(e->fn, ts_opnd(e->fn, r->inst, i)));
}

static uint32_t group_acc_at(const group_nest *n, uint32_t root, uint32_t input, uint32_t copy)
{
    return (root * GROUP_INPUTS + input) * n->n_copies + copy;
}

/* Is the root combined lane by lane in ascending order, into one accumulator without lanes? */
static bool group_ordered(const group_nest *n, const cg_root *r)
{
    return n->across && r->ordered;
}

/* Does the root keep accumulators through the innermost loop? */
static bool group_accumulates(const group_nest *n, const cg_root *r)
{
    return (r->kind == CG_REDUCE || r->kind == CG_SCAN) && group_axis(r, r->axis) == n->axis && n->axis < TS_MAX_RANK;
}

static void group_begin_acc(group_nest *n, const cg_loop *inner)
{
    cg *e = n->e;
    for (uint32_t i = 0; i < n->g->root.n; i++) {
        const cg_root *r = &n->g->root.at[i];
        uint32_t lanes = group_ordered(n, r) ? 0 : n->bits, n_acc = group_ordered(n, r) ? 1 : n->n_copies;
        for (uint32_t k = 0; group_accumulates(n, r) && k < r->n; k++)
            for (uint32_t u = 0; u < n_acc; u++) {
                uint32_t at = group_acc_at(n, i, k, u);
                cg_ref start = cg_const(e, group_reg(e, r, k), lanes, group_identity(e, r, k));
                n->acc[at] = start;
                if (inner->trip <= 1)
                    continue;
                n->next[at] = cg_name(e);
                n->acc[at] = cg_new(e, "phi %s [ %r, %b ], [ %r, %b ]", cg_type(e, group_reg(e, r, k), lanes), start,
                                    inner->from, n->next[at], inner->latch);
            }
    }
}

/* Every second lane of 2^(bits + 1), from lane `from` on. */
static cg_ref group_alternate(cg *e, cg_reg reg, uint32_t bits, cg_ref x, int32_t from)
{
    int32_t lane[1 << CG_LANE_BITS];
    for (int32_t l = 0; l < 1 << bits; l++)
        lane[l] = 2 * l + from;
    return cg_pick(e, reg, bits + 1, x, bits, lane);
}

/* The lanes of x combined to one element, each with its neighbour: in ascending order. */
static void group_combine(group_nest *n, const cg_root *r, cg_ref *x)
{
    cg_ref odd[GROUP_INPUTS];
    for (uint32_t bits = n->bits; bits-- > 0;) {
        for (uint32_t k = 0; k < r->n; k++) {
            cg_reg reg = group_reg(n->e, r, k);
            odd[k] = group_alternate(n->e, reg, bits, x[k], 1);
            x[k] = group_alternate(n->e, reg, bits, x[k], 0);
        }
        cg_body(n->e, r->inst, bits, odd, x, x);
    }
}

static void group_step(group_nest *n, uint32_t i, uint32_t u, const cg_index *at)
{
    cg *e = n->e;
    const cg_root *r = &n->g->root.at[i];
    cg_ref x[GROUP_INPUTS], acc[GROUP_INPUTS], out[GROUP_INPUTS];
    cg_ix ix = group_root_at(n, r, at, TS_MAX_RANK);
    bool keeps = group_accumulates(n, r), ordered = keeps && group_ordered(n, r);
    u = ordered ? 0 : u;
    for (uint32_t k = 0; k < r->n; k++) {
        ts_val v = ts_opnd(e->fn, r->inst, k);
        x[k] = cg_is_tile(e, v) ? cg_gen(e, v, ix) : cg_splat(e, group_reg(e, r, k), n->bits, cg_scalar(e, v));
        acc[k] = keeps ? n->acc[group_acc_at(n, i, k, u)]
                       : cg_const(e, group_reg(e, r, k), n->bits, group_identity(e, r, k));
    }
    if (ordered)
        group_combine(n, r, x);
    cg_body(e, r->inst, ordered ? 0 : n->bits, x, acc, out);
    for (uint32_t k = 0; k < r->n; k++) {
        if (keeps)
            n->acc[group_acc_at(n, i, k, u)] = out[k];
        if (r->kind == CG_SCAN)
            cg_store(e, &r->out[k], ix, out[k]);
        else if (!keeps)
            cg_store(e, &r->out[k], group_root_at(n, r, at, r->axis), out[k]);
    }
}

/* Values of one copy; reductions take theirs at once. */
static void group_values(group_nest *n, uint32_t u, cg_ref *value)
{
    cg *e = n->e;
    cg_index at;
    group_at(n, u, &at);
    for (uint32_t i = 0; i < n->g->root.n; i++) {
        const cg_root *r = &n->g->root.at[i];
        cg_ix ix = group_root_at(n, r, &at, TS_MAX_RANK);
        if (r->kind == CG_STORE)
            value[i] = r->make ? cg_make(e, r->val, ix) : cg_gen(e, r->val, ix);
        else if (r->kind == CG_REDUCE || r->kind == CG_SCAN)
            group_step(n, i, u, &at);
        else if (cg_is_tile(e, ts_opnd(e->fn, r->inst, 1))) /* read before anything is written */
            (void)cg_gen(e, ts_opnd(e->fn, r->inst, 1), ix);
    }
}

static void group_stores(group_nest *n, const cg_ref *value, bool stream)
{
    cg *e = n->e;
    cg_index at;
    for (uint32_t u = 0; u < n->n_copies; u++) {
        group_at(n, u, &at);
        for (uint32_t i = 0; i < n->g->root.n; i++) {
            const cg_root *r = &n->g->root.at[i];
            cg_ix ix = group_root_at(n, r, &at, TS_MAX_RANK);
            const cg_root *next = i + 1 < n->g->root.n ? r + 1 : r;
            if (r->kind == CG_SCATTER && next != r && next->kind == CG_SCATTER &&
                cg_stride_store(e, r->inst, next->inst, ix))
                i++;
            else if (r->kind == CG_SCATTER)
                cg_scatter(e, r->inst, ix);
            else if (r->kind == CG_STORE &&
                     !(stream && r->stream &&
                       cg_store_stream(e, &r->mem, ix, value[u * n->g->root.n + i])))
                cg_store(e, &r->mem, ix, value[u * n->g->root.n + i]);
        }
    }
}

/* One flag for the group: all its stores to arrays go around the caches, or none. */
static cg_ref group_stream(const group_nest *n)
{
    cg_ref all = 0;
    for (uint32_t i = 0; i < n->g->root.n; i++)
        if (n->g->root.at[i].stream)
            all = all ? cg_bin(n->e, "and", CG_I1, 0, all, n->g->root.at[i].stream) : n->g->root.at[i].stream;
    return all;
}

static bool group_reads(const cg_group *g, ts_val load)
{
    for (uint32_t i = 0; i < g->read.n; i++)
        if (g->read.at[i].load == load)
            return true;
    return false;
}

/* In the second nest that reads a tile: fetches what the next block will read in its place, see cg_ahead. */
static void group_fetch(group_nest *n)
{
    cg *e = n->e;
    cg_index at;
    for (uint32_t i = 0; i < e->n_ahead; i++) {
        struct cg_ahead *ahead = &e->ahead[i];
        const cg_val *val = &e->val[ahead->v];
        cg_root space;
        int64_t dims[TS_MAX_RANK];
        if (ahead->fetched || !val->source || !group_reads(n->g, ahead->v) || ahead->n_reads++ == 0)
            continue;
        cg_root_init(e, &space, CG_STORE, ahead->v, ts_type_of(e->fn, ahead->v));
        if (group_squeeze(&space, dims) != n->g->rank || memcmp(dims, n->g->dims, n->g->rank * sizeof *dims) != 0)
            continue;
        ahead->fetched = true;
        for (uint32_t u = 0; u < n->n_copies; u++) {
            group_at(n, u, &at);
            cg_fetch(e, val->source, group_root_at(n, &space, &at, TS_MAX_RANK), ahead->delta);
        }
    }
}

static void group_body(group_nest *n)
{
    cg *e = n->e;
    cg_ref *value = TS_NEW_N(e->arena, cg_ref, n->g->root.n * n->n_copies), stream = n->stream;
    if (!value) {
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
        return;
    }
    group_fetch(n);
    for (uint32_t u = 0; u < n->n_copies; u++)
        group_values(n, u, value + u * n->g->root.n);
    if (!stream) {
        group_stores(n, value, false);
        return;
    }
    uint32_t around = cg_label(e), through = cg_label(e), on = cg_label(e);
    cg_line(e, "br i1 %r, label %b, label %b", stream, around, through);
    for (int way = 0; way < 2; way++) {
        cg_block(e, way ? through : around);
        cg_scope_open(e);
        group_stores(n, value, !way);
        cg_scope_close(e);
        cg_br(e, on);
    }
    cg_block(e, on);
}

/* Accumulators of the copies to the phi's names, where the loop goes round. */
static void group_end_acc(group_nest *n, const cg_loop *inner)
{
    cg *e = n->e;
    for (uint32_t i = 0; i < n->g->root.n; i++) {
        const cg_root *r = &n->g->root.at[i];
        uint32_t lanes = group_ordered(n, r) ? 0 : n->bits, n_acc = group_ordered(n, r) ? 1 : n->n_copies;
        for (uint32_t k = 0; group_accumulates(n, r) && inner->trip > 1 && k < r->n; k++)
            for (uint32_t u = 0; u < n_acc; u++) {
                uint32_t at = group_acc_at(n, i, k, u);
                const char *type = cg_type(e, group_reg(e, r, k), lanes);
                cg_define(e, n->next[at], "bitcast %s %r to %s", type, n->acc[at], type);
                n->acc[at] = n->next[at];
            }
    }
}

/* Copies, then lanes, folded to one element each. */
static void group_fold(group_nest *n, uint32_t i, cg_ref *out)
{
    cg *e = n->e;
    const cg_root *r = &n->g->root.at[i];
    cg_ref x[GROUP_INPUTS];
    for (uint32_t k = 0; k < r->n; k++)
        out[k] = n->acc[group_acc_at(n, i, k, 0)];
    if (group_ordered(n, r))
        return;
    for (uint32_t u = 1; u < n->n_copies; u++) {
        for (uint32_t k = 0; k < r->n; k++)
            x[k] = n->acc[group_acc_at(n, i, k, u)];
        cg_body(e, r->inst, n->bits, x, out, out);
    }
    for (uint32_t bits = n->bits; bits-- > 0;) {
        for (uint32_t k = 0; k < r->n; k++) {
            int32_t low[1 << CG_LANE_BITS], high[1 << CG_LANE_BITS];
            for (int32_t l = 0; l < 1 << bits; l++)
                low[l] = l, high[l] = l + (1 << bits);
            cg_ref all = out[k];
            x[k] = cg_pick(e, group_reg(e, r, k), bits + 1, all, bits, high);
            out[k] = cg_pick(e, group_reg(e, r, k), bits + 1, all, bits, low);
        }
        cg_body(e, r->inst, bits, x, out, out);
    }
}

static void group_result(cg *e, const cg_root *r, uint32_t k, cg_ix ix, cg_ref value)
{
    if (r->out[k].ptr) {
        cg_store(e, &r->out[k], ix, value);
        return;
    }
    cg_val *val = &e->val[e->shape.end[r->inst] + 1 + k];
    val->form = CG_SCALAR;
    val->ref = value;
}

static void group_finish(group_nest *n)
{
    cg *e = n->e;
    for (uint32_t i = 0; i < n->g->root.n; i++) {
        const cg_root *r = &n->g->root.at[i];
        cg_ref out[GROUP_INPUTS];
        cg_index at;
        if (r->kind != CG_REDUCE || !group_accumulates(n, r))
            continue;
        for (uint32_t u = 0; u < (n->across ? 1 : n->n_copies); u++) {
            group_at(n, u, &at);
            if (n->across) {
                at.bits = 0;
                group_fold(n, i, out);
            } else
                for (uint32_t k = 0; k < r->n; k++)
                    out[k] = n->acc[group_acc_at(n, i, k, u)];
            cg_ix ix = group_root_at(n, r, &at, r->axis);
            for (uint32_t k = 0; k < r->n; k++)
                group_result(e, r, k, ix, out[k]);
        }
    }
}

static int64_t group_step_of(const group_nest *n, uint32_t k)
{
    return ((int64_t)1 << n->lane_bits[k]) * (k == n->copy_axis ? n->n_copies : 1);
}

/* A scan that goes backwards counts its axis down. */
static void group_reverse(group_nest *n)
{
    const cg_root *r = &n->g->root.at[0];
    if (!n->g->scan || n->axis == TS_MAX_RANK || !ts_pool(n->e->fn, ts_at(n->e->fn, r->inst))[1])
        return;
    n->var[n->axis] = cg_new(n->e, "sub i64 %d, %r", n->g->dims[n->axis] - 1, n->var[n->axis]);
}

static void group_write(group_nest *n)
{
    cg *e = n->e;
    const cg_group *g = n->g;
    cg_loop none = {.trip = 1}, *inner = &none;
    for (uint32_t i = 0; i < g->rank; i++) {
        uint32_t k = n->order[i];
        cg_loop_begin(e, &n->loop[i], g->dims[k], group_step_of(n, k));
        n->var[k] = n->loop[i].var;
        inner = &n->loop[i];
    }
    group_begin_acc(n, inner);
    group_reverse(n);
    group_body(n);
    group_end_acc(n, inner);
    for (uint32_t i = g->rank; i-- > 0;) {
        cg_loop_end(e, &n->loop[i]);
        if (i + 1 == g->rank)
            group_finish(n);
    }
}

void cg_flush(cg *e)
{
    cg_group *g = &e->group;
    if (!g->open || e->status != TS_OK) {
        g->open = false;
        return;
    }
    g->open = false;
    group_nest n = {.e = e, .g = g};
    group_lanes(&n);
    group_order(&n);
    n.acc = TS_NEW_N(e->arena, cg_ref, g->root.n * GROUP_INPUTS * n.n_copies);
    n.next = TS_NEW_N(e->arena, cg_ref, g->root.n * GROUP_INPUTS * n.n_copies);
    if (!n.acc || !n.next) {
        cg_fail(e, TS_NOMEM, "out of memory while generating code");
        return;
    }
    cg_scope_open(e);
    n.stream = group_stream(&n);
    group_write(&n);
    cg_scope_close(e);
    for (uint32_t i = 0; i < g->root.n; i++) {
        if (g->root.at[i].after)
            cg_copy_out(e, g->root.at[i].after);
        if (g->root.at[i].make)
            e->val[g->root.at[i].val].making = false;
    }
    group_expire(e);
    if (++e->n_nests % GROUP_NESTS_A_LOOK == 0)
        cg_look(e);
}
