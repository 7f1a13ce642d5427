/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides, before any text is written, which tiles are kept in memory (plan.store). Everything else is
 * computed again where it is used. A tile is stored when
 *
 *     it is dear and wanted by roots that cannot share a loop nest, or inside a loop it is not defined in,
 *         or by a broadcast that would repeat it;
 *     it is wanted at several coordinates at once (a butterfly takes both halves of its operand, each of
 *         which takes both halves of theirs): few if it is dear, PLAN_PLACES at most, so that the code stays as long
 *         as the program;
 *     it is the end of a long chain of operations: the generator follows chains by recursion;
 *     it is a load of an order above weak, which must happen where it stands, once.
 *
 * One walk forward gives costs and sites (roots of one site can share a nest); one walk backward gives for
 * each value where it is wanted. Cost: linear. Which loads must be in memory because of later stores is not
 * decided here: see order.c. Read next: group.c, which forms the nests that the sites foresee.
 */
#include "target/llvm/cg.h"

enum { PLAN_DEAR = 6, PLAN_DEAR_IN_LOOP = 3, PLAN_COST_CAP = 10000, PLAN_MIXED = 0x7FFFFFFF };
enum { PLAN_PLACES = 4, PLAN_DEPTH = 400 };

typedef struct plan_use { /* where a value is wanted */
    uint32_t site_min, site_max, loop;
    bool used, repeated;
    uint8_t n_places;
    uint64_t place[PLAN_PLACES + 1]; /* different coordinates, each a hash of how a root leads to them */
} plan_use;

typedef struct plan_state {
    cg *e;
    const ts_fn *fn;
    uint32_t *site, *ready; /* of instructions; ready: first site that may use the value */
    uint16_t *depth;        /* lazy operations on the longest way down to memory */
    plan_use *use;
    bool *inert;            /* inside (and the end) of a reduce, scan or cold: part of its opener */
    uint32_t cur_site;
    ts_type space;          /* of the current site */
} plan_state;

bool cg_is_tile(const cg *e, ts_val v)
{
    ts_type type = ts_type_of(e->fn, v);
    return ts_type_kind(e->m, type) == TS_KIND_TILE && ts_type_count(e->m, type) > 1;
}

/* `res` of a cold region, or an instruction in one, or its opener with a tile condition. */
static bool plan_of_cold(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    return inst->op == TS_OP_res && ts_at(e->fn, inst->opnd[0])->op == TS_OP_cold;
}

/* A permutation that swaps the last two axes of a tile of blocks worth transposing. */
bool cg_swaps(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    uint32_t rank = ts_type_rank(e->m, inst->type), bytes = cg_elem_bytes(e, inst->type);
    if (inst->op != TS_OP_permute || rank < 2 || bytes < 2 || ts_at(e->fn, inst->opnd[0])->op == TS_OP_constant)
        return false;
    const int64_t *dims = ts_type_dims(e->m, inst->type);
    for (uint32_t k = 0; k + 2 < rank; k++)
        if (ts_pool(e->fn, inst)[1 + k] != k)
            return false;
    return ts_pool(e->fn, inst)[rank] == rank - 2 && dims[rank - 1] >= 4 && dims[rank - 2] >= 4;
}

bool cg_is_lazy(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    if (!cg_is_tile(e, v))
        return false;
    if (ts_info(inst)->flags & TS_ELEM || plan_of_cold(e, v))
        return true;
    switch ((int)inst->op) {
    case TS_OP_constant:
    case TS_OP_iota:
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_permute:
    case TS_OP_cat:
    case TS_OP_extract:
    case TS_OP_insert:
    case TS_OP_pack:
    case TS_OP_unpack:
    case TS_OP_assume:
    case TS_OP_load_view_tko:
    case TS_OP_load_ptr_tko:
        return true;
    default:
        return false;
    }
}

/* ---- cost ---------------------------------------------------------------------------------------*/

static uint32_t plan_own_cost(const cg *e, ts_val v)
{
    switch ((int)ts_at(e->fn, v)->op) {
    case TS_OP_constant:
    case TS_OP_iota:
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_permute:
    case TS_OP_extract:
    case TS_OP_assume:
    case TS_OP_bitcast:
        return 0;
    case TS_OP_divf:
    case TS_OP_sqrt:
        return 6;
    case TS_OP_divi:
    case TS_OP_remi:
        return 20;
    case TS_OP_load_ptr_tko:
        return 8;
    case TS_OP_cat:
    case TS_OP_insert:
    case TS_OP_pack:
    case TS_OP_unpack:
        return 4;
    default:
        return ts_type_elem(e->m, ts_type_of(e->fn, v)) == TS_T_f16 ? 3 : 1;
    }
}

static void plan_cost(plan_state *p, ts_val v)
{
    cg *e = p->e;
    const ts_inst *inst = ts_at(p->fn, v);
    if (!cg_is_lazy(e, v))
        return;
    uint32_t sum = plan_own_cost(e, v);
    if (plan_of_cold(e, v)) {
        inst = ts_at(p->fn, inst->opnd[0]);
        sum = 2;
    }
    if (ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_cold || sum == 0 || sum >= 4)
        for (uint32_t i = 0; i < inst->n_opnd; i++) {
            ts_val x = ts_opnds(p->fn, inst)[i];
            sum += e->plan.store[x] ? 1 : e->plan.cost[x];
        }
    e->plan.cost[v] = TS_MIN(sum, PLAN_COST_CAP);
}

/* A value that ends a chain of PLAN_DEPTH operations has depth 0 again: plan_decide stores it. */
static void plan_depth(plan_state *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    uint32_t depth = 0;
    if (!cg_is_lazy(p->e, v))
        return;
    if (inst->op == TS_OP_res)
        inst = ts_at(p->fn, inst->opnd[0]);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        depth = TS_MAX(depth, p->depth[ts_opnds(p->fn, inst)[i]]);
    p->depth[v] = (uint16_t)((depth + 1) % PLAN_DEPTH);
}

/* ---- forward: sites -----------------------------------------------------------------------------*/

bool cg_same_space(const cg *e, ts_type a, ts_type b)
{
    uint32_t i = 0, j = 0, ra = ts_type_rank(e->m, a), rb = ts_type_rank(e->m, b);
    const int64_t *da = ts_type_dims(e->m, a), *db = ts_type_dims(e->m, b);
    for (;;) {
        while (i < ra && da[i] == 1)
            i++;
        while (j < rb && db[j] == 1)
            j++;
        if (i == ra || j == rb)
            return i == ra && j == rb;
        if (da[i++] != db[j++])
            return false;
    }
}

/* The type whose elements a root visits; 0 for instructions that are no groupable root. */
static ts_type plan_space(const cg *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    switch ((int)inst->op) {
    case TS_OP_reduce:
    case TS_OP_scan:
        return ts_type_of(e->fn, ts_opnd(e->fn, v, 0));
    case TS_OP_store_view_tko:
    case TS_OP_store_ptr_tko:
        return ts_type_of(e->fn, ts_opnd(e->fn, v, 1));
    default:
        return 0;
    }
}

static uint32_t plan_ready_of(plan_state *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    uint32_t ready = 0;
    if (inst->op == TS_OP_res)
        return p->ready[inst->opnd[0]];
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        ready = TS_MAX(ready, p->ready[ts_opnds(p->fn, inst)[i]]);
    return ready;
}

static void plan_root(plan_state *p, ts_val v, ts_type space)
{
    bool same = p->space && cg_same_space(p->e, p->space, space) && p->ready[v] <= p->cur_site;
    if (!same)
        p->cur_site = TS_MAX(p->cur_site + 1, p->ready[v]);
    p->space = space;
    p->site[v] = p->cur_site;
    if (ts_at(p->fn, v)->op == TS_OP_reduce || ts_at(p->fn, v)->op == TS_OP_scan)
        p->ready[v] = p->cur_site + 1;
}

/* Anything that ends the open nest: structure, scalars made of tiles, products, atomics. */
static void plan_barrier(plan_state *p, ts_val v)
{
    p->cur_site = TS_MAX(p->cur_site + 1, p->ready[v]);
    p->space = 0;
    p->site[v] = p->cur_site++;
    p->ready[v] = p->cur_site;
}

static bool plan_takes_tile(const plan_state *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        if (cg_is_tile(p->e, ts_opnds(p->fn, inst)[i]))
            return true;
    return false;
}

static void plan_forward(plan_state *p, ts_val v)
{
    const ts_inst *inst = ts_at(p->fn, v);
    const ts_op_info *info = ts_info(inst);
    ts_type space = plan_space(p->e, v);
    p->ready[v] = plan_ready_of(p, v);
    plan_cost(p, v);
    plan_depth(p, v);
    if (cg_is_lazy(p->e, v))
        p->site[v] = p->cur_site;
    else if (space && ts_type_count(p->e->m, space) > 1)
        plan_root(p, v, space);
    else if (p->inert[v])
        p->site[v] = p->cur_site;
    else if ((info->flags & (TS_REGION | TS_TERM | TS_WRITE | TS_READ | TS_SIDE) && inst->op != TS_OP_cold) ||
             inst->op == TS_OP_end || inst->op == TS_OP_else || (plan_takes_tile(p, v) && inst->op != TS_OP_res))
        plan_barrier(p, v);
    else
        p->site[v] = p->cur_site;
}

/* ---- backward: where values are wanted ----------------------------------------------------------*/

static void plan_place(plan_use *u, uint64_t place)
{
    for (uint32_t i = 0; i < u->n_places; i++)
        if (u->place[i] == place)
            return;
    if (u->n_places < TS_COUNT(u->place))
        u->place[u->n_places++] = place;
}

static void plan_want(plan_use *u, const plan_use *by)
{
    if (!by->used)
        return;
    if (!u->used)
        *u = *by;
    u->site_min = TS_MIN(u->site_min, by->site_min);
    u->site_max = TS_MAX(u->site_max, by->site_max);
    u->loop = u->loop == by->loop ? u->loop : PLAN_MIXED;
    u->repeated |= by->repeated;
    for (uint32_t i = 0; i < by->n_places; i++)
        plan_place(u, by->place[i]);
}

static bool plan_decide(plan_state *p, ts_val v)
{
    cg *e = p->e;
    const plan_use *u = &p->use[v];
    uint32_t cost = e->plan.cost[v];
    const ts_inst *inst = ts_at(p->fn, v);
    bool inner = u->loop != e->plan.loop[v];
    if (!u->used || inst->op == TS_OP_constant || inst->op == TS_OP_iota)
        return false;
    if (cg_swaps(e, v) || (ts_info(inst)->flags & TS_READ && TS_M_GET_ORDER(inst->aux) != TS_WEAK))
        return true;
    e->plan.again[v] = u->site_min != u->site_max;
    if (inst->op != TS_OP_load_view_tko && (u->n_places > PLAN_PLACES || !p->depth[v]))
        return true;
    if (cost > PLAN_DEAR_IN_LOOP && (inner || u->repeated))
        return true;
    return cost > PLAN_DEAR && (u->site_min != u->site_max || u->n_places > 1);
}

/* Does a broadcast repeat elements (not just splat few of them)? */
static bool plan_repeats(const plan_state *p, ts_val v)
{
    return ts_at(p->fn, v)->op == TS_OP_broadcast && cg_is_tile(p->e, ts_opnd(p->fn, v, 0));
}

/* How many coordinates of operand i one evaluation of lazy v looks at, and whether they are v's own. */
static uint32_t plan_ways(const plan_state *p, ts_val v, uint32_t i, bool *own)
{
    const ts_inst *inst = ts_at(p->fn, v);
    uint32_t width = ts_type_bits(p->e->m, ts_type_elem(p->e->m, inst->type));
    *own = false;
    switch ((int)inst->op) {
    case TS_OP_insert:
        *own = i == 0;
        return 1;
    case TS_OP_unpack:
        return TS_MAX(width / 8, 1u);
    case TS_OP_pack:
        return ts_type_bits(p->e->m, ts_type_elem(p->e->m, ts_type_of(p->fn, inst->opnd[0]))) < 8 ? 2 : 1;
    case TS_OP_broadcast:
    case TS_OP_reshape:
    case TS_OP_permute:
    case TS_OP_cat:
    case TS_OP_extract:
        return 1;
    default:
        *own = true;
        return 1;
    }
}

/* The same for all operations that map coordinates alike. */
static uint64_t plan_map_hash(const plan_state *p, ts_val v, uint32_t i)
{
    const ts_inst *inst = ts_at(p->fn, v);
    ts_type from = ts_type_of(p->fn, ts_opnds(p->fn, inst)[i]);
    size_t from_rank = ts_type_rank(p->e->m, from), rank = ts_type_rank(p->e->m, inst->type);
    uint64_t hash = ts__hash(ts_type_dims(p->e->m, from), from_rank * sizeof(int64_t), inst->op);
    hash = ts__hash(ts_type_dims(p->e->m, inst->type), rank * sizeof(int64_t), hash);
    if (inst->op == TS_OP_permute)
        return ts__hash(ts_pool(p->fn, inst), (1 + rank) * sizeof(uint32_t), hash);
    if (inst->op == TS_OP_cat)
        return ts_hash_mix(hash, inst->aux);
    for (uint32_t k = 1; k < inst->n_opnd; k++) /* of extract and insert: the indices */
        hash = ts_hash_mix(hash, k > i ? ts_opnds(p->fn, inst)[k] : 0);
    return hash;
}

/* Operand i is wanted where `here` wants v, seen through v. */
static void plan_through(const plan_state *p, ts_val v, uint32_t i, const plan_use *here, plan_use *out)
{
    bool own;
    uint32_t n = plan_ways(p, v, i, &own);
    *out = *here;
    if (own || !cg_is_lazy(p->e, v))
        return;
    uint64_t hash = plan_map_hash(p, v, i);
    out->n_places = 0;
    for (uint32_t k = 0; k < here->n_places; k++)
        for (uint32_t way = 0; way < n; way++)
            plan_place(out, ts_hash_mix(ts_hash_mix(here->place[k], hash), way));
}

static void plan_pass_on(plan_state *p, ts_val v, const plan_use *here, uint32_t last)
{
    const ts_inst *inst = ts_at(p->fn, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        plan_use u;
        ts_val x = ts_opnds(p->fn, inst)[i];
        if (!x)
            continue;
        plan_through(p, v, i, here, &u);
        plan_want(&p->use[x], &u);
        p->e->plan.last[x] = TS_MAX(p->e->plan.last[x], last);
    }
}

static void plan_backward(plan_state *p, ts_val v)
{
    cg *e = p->e;
    const ts_inst *inst = ts_at(p->fn, v);
    plan_use here = {.site_min = p->site[v], .site_max = p->site[v], .loop = e->plan.loop[v], .used = true};
    plan_place(&here, p->site[v]);
    ts_val parent = e->shape.parent[v];
    bool in_cold = parent && ts_at(p->fn, parent)->op == TS_OP_cold && cg_is_tile(e, ts_opnd(p->fn, parent, 0));
    if (inst->op == TS_OP_cold && cg_is_tile(e, ts_opnd(p->fn, v, 0)))
        here = p->use[v];
    else if (inst->op == TS_OP_yield && in_cold)
        here = p->use[parent];
    else if (cg_is_lazy(e, v)) {
        e->plan.store[v] = !in_cold && plan_decide(p, v);
        if (!e->plan.store[v])
            here = p->use[v];
        here.repeated |= plan_repeats(p, v);
    }
    uint32_t last = e->plan.store[v] || !cg_is_lazy(e, v) ? v : e->plan.last[v];
    if (inst->op == TS_OP_cold && cg_is_tile(e, ts_opnd(p->fn, v, 0))) /* computed where its results are wanted */
        last = e->plan.last[v];
    if (in_cold && inst->op == TS_OP_yield)
        last = e->plan.last[parent];
    plan_pass_on(p, v, &here, TS_MAX(last, v));
}

/* ---- the whole ----------------------------------------------------------------------------------*/

/* Marks what belongs to its opener, and the innermost loop of each instruction. */
static void plan_regions(plan_state *p)
{
    for (ts_val v = 1; v < p->fn->inst.n; v++) {
        ts_val parent = p->e->shape.parent[v];
        uint8_t op = parent ? (uint8_t)ts_at(p->fn, parent)->op : 0;
        bool loop = op == TS_OP_for || op == TS_OP_loop;
        p->e->plan.loop[v] = loop ? parent : parent ? p->e->plan.loop[parent] : 0;
        op = (uint8_t)ts_at(p->fn, v)->op;
        if (op == TS_OP_reduce || op == TS_OP_scan || op == TS_OP_cold)
            memset(p->inert + v + 1, true, p->e->shape.end[v] - v);
    }
}

/* What is used inside a loop that began after it must live to the end of that loop. A value that is not used at all
 * lives where it is made: its memory is written all the same. */
static void plan_extend(plan_state *p)
{
    for (ts_val v = 1; v < p->fn->inst.n; v++) {
        p->e->plan.last[v] = TS_MAX(p->e->plan.last[v], v);
        uint32_t last = p->e->plan.last[v], loop = last ? p->e->plan.loop[last] : 0;
        for (; loop > v; loop = p->e->plan.loop[loop])
            p->e->plan.last[v] = TS_MAX(p->e->plan.last[v], p->e->shape.end[loop]);
    }
}

bool cg_plan_make(cg *e)
{
    uint32_t n = e->fn->inst.n;
    plan_state p = {.e = e, .fn = e->fn, .cur_site = 1};
    e->plan = (cg_plan){TS_NEW_N(e->arena, uint8_t, n), TS_NEW_N(e->arena, uint32_t, n),
                        TS_NEW_N(e->arena, uint32_t, n), TS_NEW_N(e->arena, uint32_t, n),
                        TS_NEW_N(e->arena, uint8_t, n)};
    p.site = TS_NEW_N(e->arena, uint32_t, n);
    p.ready = TS_NEW_N(e->arena, uint32_t, n);
    p.use = TS_NEW_N(e->arena, plan_use, n);
    p.depth = TS_NEW_N(e->arena, uint16_t, n);
    p.inert = TS_NEW_N(e->arena, bool, n);
    if (e->arena->failed)
        return false;
    plan_regions(&p);
    for (ts_val v = 1; v < n; v++)
        plan_forward(&p, v);
    for (ts_val v = n; v-- > 1;)
        plan_backward(&p, v);
    for (ts_val v = 1; v < n; v++) /* again, now that what is stored costs its readers a load */
        plan_cost(&p, v);
    plan_extend(&p);
    return true;
}
