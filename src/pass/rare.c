/* SPDX-License-Identifier: Apache-2.0
 *
 * Rare paths of calculations that do not need each other are asked for once.
 *
 *     %1 = cmpf ge %x, %most                               %1 = cmpf ge %x, %most
 *     %2 = cold %1 (%a) { .. yield %r }                    %4 = cmpf ge %y, %most
 *     %3 = addf %2, %x                             ->      %7 = ori %1, %4
 *     %4 = cmpf ge %y, %most                               %2, %5 = cold %7 (%a, %b) {
 *     %5 = cold %4 (%b) { .. yield %s }                      .. select %1, %r, %a .. select %4, %s, %b .. yield
 *                                                          }
 *                                                          %3 = addf %2, %x
 *
 * A branch, the mark where its threads meet again and their meeting are three instructions of a GPU; of those of three
 * `exp` one is left. Exact roots and reciprocals of f32 have a rare path of their own (quick.h) and join where there is
 * something to join. Only what is elementwise moves behind; where anything else needs a result, the group ends.
 * Cost: linear.
 */
#include "pass/pass.h"
#include "pass/quick.h"

enum { RARE_VALUES = 7, RARE_LATE = 64 }; /* results of a group; operations that wait for them */

/* Cold regions and operations with a rare path that become one region. */
typedef struct rare_group {
    ts_val first, before; /* its first region; the instruction before which it is written */
    uint32_t n_region, n_value, n_late;
} rare_group;

typedef struct rare_ctx {
    ts_shape shape;
    rare_group **group; /* of the instruction before which one is written */
    bool *late;         /* a region of a group with all that it holds, and what needs its results */
} rare_ctx;

/* Is it an exact root or reciprocal, whose rare path is its own? */
static bool rare_is_quick(const ts_fn *fn, ts_val v)
{
    const ts_inst *inst = ts_at(fn, v);
    uint64_t bits;
    if (inst->type != TS_T_f32 || inst->aux != TS_RN)
        return false;
    return inst->op == TS_OP_sqrt ||
           (inst->op == TS_OP_divf && ts__const_bits(fn, inst->opnd[0], &bits) && bits == 0x3F800000);
}

/* Does a rare path begin here? */
static bool rare_begins(const ts_fn *fn, ts_val v)
{
    return ts_at(fn, v)->op == TS_OP_cold || rare_is_quick(fn, v);
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

static bool rare_waits(const rare_ctx *c, const ts_fn *fn, const rare_group *g, ts_val v)
{
    for (uint32_t i = 0; i < ts_at(fn, v)->n_opnd; i++)
        if (ts_opnd(fn, v, i) >= g->first && c->late[ts_opnd(fn, v, i)])
            return true;
    return false;
}

/* The last instruction of what begins at `v`, results left out. */
static ts_val rare_end(const rare_ctx *c, const ts_fn *fn, ts_val v)
{
    return ts_at(fn, v)->op == TS_OP_cold ? c->shape.end[v] : v;
}

static uint32_t rare_values(const ts_fn *fn, ts_val v)
{
    return ts_at(fn, v)->op == TS_OP_cold ? ts_at(fn, v)->n_opnd - 1u : 1;
}

static bool rare_any_waits(const rare_ctx *c, const ts_fn *fn, const rare_group *g, ts_val first)
{
    for (ts_val v = first; v <= rare_end(c, fn, first); v++)
        if (rare_waits(c, fn, g, v))
            return true;
    return false;
}

/* Ends a group before `v`; of a single region nothing moves. */
static bool rare_close(rare_ctx *c, rare_group *g, ts_val v, ts_arena *scratch)
{
    if (g->n_region > 1) {
        rare_group *kept = TS_NEW(scratch, rare_group);
        if (!kept)
            return false;
        *kept = *g;
        kept->before = v;
        c->group[v] = kept;
    } else if (g->n_region)
        memset(c->late + g->first, 0, (v - g->first) * sizeof *c->late);
    *g = (rare_group){0};
    return true;
}

/* A rare path joins the group; the last instruction of it. */
static ts_val rare_join(rare_ctx *c, const ts_fn *fn, rare_group *g, ts_val first)
{
    ts_val last = rare_end(c, fn, first);
    last += last == first ? 0 : ts__n_res(fn, last);
    g->first = g->n_region ? g->first : first;
    g->n_region++;
    g->n_value += rare_values(fn, first);
    for (ts_val v = first; v <= last; v++)
        c->late[v] = true;
    return last;
}

/* Looks at `v`; the last instruction that was looked at, 0: memory is out. */
static ts_val rare_look(rare_ctx *c, const ts_fn *fn, rare_group *g, ts_val v, ts_arena *scratch)
{
    const ts_inst *inst = ts_at(fn, v);
    uint32_t flags = ts_info(inst)->flags;
    if (rare_begins(fn, v) && rare_values(fn, v) <= RARE_VALUES) {
        bool fits = g->n_value + rare_values(fn, v) <= RARE_VALUES && !rare_any_waits(c, fn, g, v);
        if (g->n_region && !fits && !rare_close(c, g, v, scratch))
            return 0;
        return rare_join(c, fn, g, v);
    }
    bool waits = g->n_region && rare_waits(c, fn, g, v);
    bool moves = flags & TS_ELEM && g->n_late < RARE_LATE;
    if (waits && moves) {
        c->late[v] = true;
        g->n_late++;
    } else if ((waits || flags & (TS_REGION | TS_TERM) || inst->op == TS_OP_else || inst->op == TS_OP_end) &&
               !rare_close(c, g, v, scratch))
        return 0;
    return v;
}

static bool rare_plan(rare_ctx *c, const ts_fn *fn, ts_arena *scratch)
{
    rare_group g = {0};
    c->group = TS_NEW_N(scratch, rare_group *, fn->inst.n);
    c->late = TS_NEW_N(scratch, bool, fn->inst.n);
    if (!c->group || !c->late || !ts__shape_of(fn, scratch, &c->shape))
        return false;
    for (ts_val v = 1; v < fn->inst.n; v++)
        if (!(v = rare_look(c, fn, &g, v, scratch)))
            return false;
    return true;
}

/* ---- the code ------------------------------------------------------------------------------------------------- */

/* Without its rare path: values that a region is to improve, in `out`; i1: whether it has to. */
static ts_val rare_often(ts_builder *b, const ts_fn *fn, ts_val v, const ts_val *map, ts_val *out)
{
    const ts_inst *inst = ts_at(fn, v);
    for (uint32_t i = 1; inst->op == TS_OP_cold && i < inst->n_opnd; i++)
        out[i - 1] = map[ts_opnd(fn, v, i)];
    if (inst->op == TS_OP_cold)
        return map[ts_opnd(fn, v, 0)];
    bool root = inst->op == TS_OP_sqrt;
    ts_val x = map[inst->opnd[root ? 0 : 1]], word = root ? ts__quick_root_word(b, x) : ts__quick_inverse_word(b, x);
    ts_val bound = ts_int(b, TS_T_i32, root ? TS_QUICK_ROOT : (int32_t)TS_QUICK_INVERSE);
    out[0] = root ? ts__quick_root(b, x) : ts__quick_inverse(b, x);
    return ts_cmp(b, TS_OP_cmpi, TS_GE, word, bound, TS_A_UNSIGNED);
}

/* What the rare path gives where `cond` holds; elsewhere the values that are in `out` before. */
static void rare_body(const rare_ctx *c, ts_builder *b, const ts_fn *fn, ts_val v, ts_val cond, ts_val *map,
                      ts_val *out)
{
    if (ts_at(fn, v)->op != TS_OP_cold) {
        out[0] = ts__copy(b, fn, v, map);
        return;
    }
    ts_val yield = c->shape.end[v] - 1;
    for (ts_val i = v + 1; i < yield; i++) {
        b->loc = fn->loc.at[i];
        ts__copy(b, fn, i, map);
    }
    for (uint32_t i = 0; i < ts_at(fn, yield)->n_opnd; i++)
        out[i] = ts_select(b, cond, map[ts_opnd(fn, yield, i)], out[i]);
}

/* The next rare path of the group from `v` on; where the group is written: there is none. */
static ts_val rare_next(const rare_ctx *c, const ts_fn *fn, const rare_group *g, ts_val v)
{
    while (v < g->before && !(c->late[v] && rare_begins(fn, v)))
        v++;
    return v;
}

/* All paths as one region; its first result. */
static ts_val rare_region(const rare_ctx *c, ts_builder *b, const ts_fn *fn, const rare_group *g, ts_val *map)
{
    ts_val any = 0, cond[RARE_VALUES], value[RARE_VALUES];
    uint32_t n = 0, k = 0;
    for (ts_val v = rare_next(c, fn, g, g->first); v < g->before; v = rare_next(c, fn, g, rare_end(c, fn, v) + 1)) {
        b->loc = fn->loc.at[v];
        cond[k] = rare_often(b, fn, v, map, value + n);
        any = any ? ts_op2(b, TS_OP_ori, any, cond[k], 0) : cond[k];
        k++;
        n += rare_values(fn, v);
    }
    ts_val opener = ts_cold_begin(b, any, n, value);
    n = k = 0;
    for (ts_val v = rare_next(c, fn, g, g->first); v < g->before; v = rare_next(c, fn, g, rare_end(c, fn, v) + 1)) {
        rare_body(c, b, fn, v, cond[k++], map, value + n);
        n += rare_values(fn, v);
    }
    ts_term(b, TS_OP_yield, n, value);
    ts_end_like(b, opener);
    return ts_res(b, opener, 0);
}

static void rare_write(const rare_ctx *c, ts_builder *b, const ts_fn *fn, const rare_group *g, ts_val *map)
{
    ts_val result = rare_region(c, b, fn, g, map);
    for (ts_val v = g->first; v < g->before; v++) {
        if (!c->late[v])
            continue;
        b->loc = fn->loc.at[v];
        if (ts_at(fn, v)->op == TS_OP_res || rare_is_quick(fn, v))
            map[v] = result++;
        else if (ts_at(fn, v)->op == TS_OP_cold)
            v = c->shape.end[v];
        else
            ts__copy(b, fn, v, map);
    }
}

static ts_val rare_each(void *user, ts_builder *b, const ts_fn *fn, ts_val v, ts_val *map)
{
    const rare_ctx *c = user;
    if (c->group[v]) {
        rare_write(c, b, fn, c->group[v], map);
        b->loc = fn->loc.at[v];
    }
    return c->late[v] ? TS_NO : 0;
}

ts_status ts__pass_rare(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    rare_ctx c = {0};
    if (!ts__has_op(fn, TS_OP_cold) && !ts__has_op(fn, TS_OP_sqrt) && !ts__has_op(fn, TS_OP_divf))
        return TS_OK;
    if (!rare_plan(&c, fn, env->scratch))
        return ts_fail(err, TS_NOMEM, "out of memory in pass rare");
    return ts__rewrite(fn, env, "rare", rare_each, &c, err);
}
