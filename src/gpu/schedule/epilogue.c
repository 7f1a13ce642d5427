/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise work between a product's result and its store (lower.h). Done operation by operation, each over all
 * registers of the tile, it would keep several times the accumulator alive; done register by register while
 * the store takes them, little more than one.
 *
 *     %y = mulf %acc, %acc     deferred: all its readers lead to one store in the same region
 *     %z = addf %y, %bias      deferred
 *     store %z                 asks for register 0: its chain is written; then register 1, ..
 *
 * A tile of the same shape that is loaded for this alone (a residual) comes unit by unit, the next one while the
 * store is at work on one: all of it would take as many registers as the accumulator. Cost: linear.
 */
#include "gpu/schedule/tma_store.h"
#include "gpu/lower/code.h"
#include "gpu/lower/op.h"
#include "gpu/lower/strategy.h"
#include "gpu/lower/view_access.h"

enum { EPILOGUE_CONFLICT = UINT32_MAX };

typedef struct epilogue_load epilogue_load;
/* The register of a deferred value that was made last. */
typedef struct epilogue_value {
    ts_val value;
    uint32_t stamp; /* register + 1, 0 = none */
} epilogue_value;

typedef struct epilogue_state {
    uint32_t *store;       /* [tile value] the store that makes it, 0 = made where it stands; NULL = all are */
    epilogue_value *newest;  /* [tile value] */
    epilogue_load *loads;
} epilogue_state;

static epilogue_state *epilogue_of(const ts_lower *lw)
{
    return ts_strategy_state(lw, TS_STRATEGY_epilogue);
}

static bool epilogue_is_result(const ts_lower *lw, ts_val v)
{
    return lw->assign.home[v] && ts__tma_result_of(lw->tile, &lw->assign.tma, ts_type_of(lw->tile, v)) != 0;
}

/* From an array that this kernel never writes, so that it does not matter when. */
static bool epilogue_is_load(ts_lower *lw, ts_val v)
{
    uint64_t set = ts__lower_alias_set(lw, ts_opnd(lw->tile, v, 0));
    return !ts__tma_load_of(&lw->assign.tma, v) && ts_type_bits(lw->module, ts__lower_elem(lw, v)) >= 8 &&
           TS_M_GET_ORDER(ts_at(lw->tile, v)->aux) == TS_WEAK &&
           !(set & (lw->order.ever_stored | (uint64_t)1 << TS_ALIAS_SET_UNKNOWN));
}

static bool epilogue_is_work(ts_lower *lw, ts_val v, ts_val store)
{
    const ts_inst *inst = ts_at(lw->tile, v);
    if (inst->op == TS_OP_load_view_tko)
        return epilogue_is_result(lw, v) && epilogue_is_load(lw, v) && lw->shape.parent[v] == lw->shape.parent[store];
    bool work = ts_info(inst)->flags & TS_ELEM || inst->op == TS_OP_reshape || inst->op == TS_OP_assume;
    return work && inst->n_opnd <= 3 && epilogue_is_result(lw, v) && lw->shape.parent[v] == lw->shape.parent[store];
}

static void epilogue_read(ts_lower *lw, ts_val v, uint32_t by)
{
    epilogue_of(lw)->store[v] = !epilogue_of(lw)->store[v] || epilogue_of(lw)->store[v] == by ? by : EPILOGUE_CONFLICT;
}

static void epilogue_plan(ts_lower *lw)
{
    epilogue_state *state = epilogue_of(lw);
    if (!lw->assign.tma.active || lw->assign.tma.split)
        return;
    state->store = TS_NEW_N(lw->arena, uint32_t, lw->tile->inst.n);
    state->newest = TS_NEW_N(lw->arena, epilogue_value, lw->tile->inst.n);
    if (!state->store || !state->newest) {
        lw->status = ts_fail(lw->err, TS_NOMEM, "out of memory while lowering a kernel");
        return;
    }
    for (ts_val v = lw->tile->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(lw->tile, v);
        bool store = inst->op == TS_OP_store_view_tko,
             work = !store && state->store[v] && state->store[v] != EPILOGUE_CONFLICT;
        if (!work || !epilogue_is_work(lw, v, epilogue_of(lw)->store[v]))
            epilogue_of(lw)->store[v] = 0;
        for (uint32_t i = 0; inst->op != TS_OP_token && i < inst->n_opnd; i++)
            epilogue_read(lw, ts_opnds(lw->tile, inst)[i],
                          store && i == 1 ? v : state->store[v] ? state->store[v] : EPILOGUE_CONFLICT);
    }
}

static bool epilogue_defers(ts_lower *lw, ts_val v)
{
    const uint32_t *store = epilogue_of(lw)->store;
    return store && store[v];
}

static void epilogue_recalls(ts_lower *lw, ts_val v)
{
    if (epilogue_of(lw)->store)
        epilogue_of(lw)->store[v] = 0;
}

/* ---- loads ------------------------------------------------------------------------------------------ */

struct epilogue_load {
    epilogue_load *next;
    ts_val load, *regs; /* 0 = not there yet */
    view_access access;
    ts_val pad;
};

static epilogue_load *epilogue_open(ts_lower *lw, ts_val v, const ts_linear *layout)
{
    epilogue_load *l = epilogue_of(lw)->loads;
    while (l && l->load != v)
        l = l->next;
    if (l)
        return l;
    l = TS_NEW(lw->arena, epilogue_load);
    if (!l)
        return NULL;
    *l = (epilogue_load){.next = epilogue_of(lw)->loads, .load = v, .regs = ts__lower_regs(lw, layout)};
    ts__view_describe(lw, &l->access, v, 1, layout);
    if (!ts__view_whole_vectors(&l->access))
        ts__view_single(&l->access);
    l->pad = ts__view_pad(lw, &l->access);
    ts__note(lw->tile, v, TS_NOTE_load, l->access.log_vec ? "vector" : "scalar", "%u bytes an access, into fragments",
            l->access.bytes << l->access.log_vec);
    return epilogue_of(lw)->loads = l;
}

/* The vector that register r belongs to. */
static void epilogue_send(ts_lower *lw, epilogue_load *l, uint32_t r)
{
    const view_access *a = &l->access;
    ts_val values[16];
    if (l->regs[r])
        return;
    ts_val inside = ts__view_inside(lw, a, r & ~a->vector);
    ts__lower_ld(lw, a->elem, ts__view_pointer(lw, a, r & ~a->vector), 1u << a->log_vec,
                TS_CACHE_NONE, inside, inside ? l->pad : 0, values);
    for (uint32_t k = 0; k < 1u << a->log_vec; k++)
        l->regs[(r & ~a->vector) ^ a->member[k]] = values[k];
}

void ts__epilogue_fetch(ts_lower *lw, ts_val store, const ts_linear *layout, uint32_t first, uint32_t n)
{
    for (ts_val v = 1; epilogue_of(lw)->store && v < store; v++) {
        bool load = epilogue_of(lw)->store[v] == store && ts_at(lw->tile, v)->op == TS_OP_load_view_tko;
        epilogue_load *l = load ? epilogue_open(lw, v, layout) : NULL;
        for (uint32_t r = first; l && r < first + n; r++)
            epilogue_send(lw, l, r);
    }
}

/* ---- values ----------------------------------------------------------------------------------------- */

/* Register r of a deferred value, with what it is made of. */
static ts_val epilogue_make(ts_lower *lw, ts_val v, const ts_linear *layout, uint32_t r)
{
    ts_inst inst = *ts_at(lw->tile, v);
    ts_val opnds[3] = {0};
    if (inst.op == TS_OP_load_view_tko) {
        epilogue_load *l = epilogue_open(lw, v, layout);
        if (l)
            epilogue_send(lw, l, r);
        return l ? l->regs[r] : 0;
    }
    for (uint32_t i = 0; i < inst.n_opnd; i++)
        opnds[i] = ts__epilogue_reg(lw, inst.opnd[i], layout, r);
    if (inst.op == TS_OP_reshape || inst.op == TS_OP_assume)
        return opnds[0];
    return ts__lower_one(lw, v, opnds);
}

ts_val ts__epilogue_reg(ts_lower *lw, ts_val v, const ts_linear *layout, uint32_t r)
{
    if (!epilogue_defers(lw, v))
        return ts__lower_get(lw, v, layout)[r];
    epilogue_value *newest = &epilogue_of(lw)->newest[v];
    if (newest->stamp != r + 1) /* one register after the other: the newest is enough */
        *newest = (epilogue_value){epilogue_make(lw, v, layout, r), r + 1};
    return newest->value;
}

const ts_strategy ts__strategy_epilogue = {
    .name = "epilogue",
    .state = sizeof(epilogue_state),
    .plan = epilogue_plan,
    .defers = epilogue_defers,
    .recalls = epilogue_recalls,
    .store = ts__tma_store,
    .loop_end = ts__tma_store_after,
    .leave = ts__tma_store_leave,
};
