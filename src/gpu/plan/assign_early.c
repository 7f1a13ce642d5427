/* SPDX-License-Identifier: Apache-2.0
 *
 * Homes of free values that much work leads to (assign.h): random numbers of a counter, for instance. Written anew
 * where they are read they stand behind the loads that they meet there, and wait with them; with a home they stand
 * where the program has them, and are computed while loads are on their way:
 *
 *     %k = .. long chain of %iota               wanted: the home of %y, which all readers have
 *     %x = load_view_tko ..
 *     %y = select %k, %x, %z
 *
 * Runs between two rounds of sweeps, as assign_vector.c does. Cost: linear.
 */
#include "gpu/plan/assign.h"

/* Longest chain of operations that is not worth a place of its own: masks and offsets have fewer, a random number of
 * Philox 60. */
enum { EARLY_CHAIN = 24, EARLY_MANY = UINT8_MAX };

typedef struct early_work {
    const ts_fn *fn;
    ts_assign *out;
    const ts_shape *shape;
    uint8_t *chain;             /* [value] operations in the longest chain of free values that ends here */
    const ts_linear **read;     /* [value] the home of its readers */
    uint8_t *apart;             /* [value] readers differ, or are in other regions */
} early_work;

static bool early_is_free(const early_work *w, ts_val v)
{
    return ts_info(ts_at(w->fn, v))->flags & TS_ELEM && !w->out->home[v] &&
           ts_type_kind(w->fn->module, ts_type_of(w->fn, v)) == TS_KIND_TILE;
}

static void early_measure(early_work *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->fn, v);
    uint32_t chain = 0;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        chain = TS_MAX(chain, w->chain[ts_opnds(w->fn, inst)[i]]);
    w->chain[v] = (uint8_t)(early_is_free(w, v) ? TS_MIN(chain + 1, (uint32_t)EARLY_MANY) : 0);
}

/* `reader` reads a value of a long chain. */
static void early_read(early_work *w, ts_val x, ts_val reader)
{
    const ts_linear *home = ts_info(ts_at(w->fn, reader))->flags & TS_ELEM ? w->out->home[reader] : NULL;
    bool other = w->read[x] && w->read[x] != home;
    w->apart[x] |= !home || other || w->shape->parent[reader] != w->shape->parent[x];
    w->read[x] = home;
}

bool ts__assign_early(ts_assign *out, const ts_fn *fn, const ts_shape *shape)
{
    uint32_t n = fn->inst.n;
    early_work w = {.fn = fn, .out = out, .shape = shape};
    w.chain = TS_NEW_N(out->arena, uint8_t, n);
    w.read = TS_NEW_N(out->arena, const ts_linear *, n);
    w.apart = TS_NEW_N(out->arena, uint8_t, n);
    bool found = false;
    if (!w.chain || !w.read || !w.apart)
        return false;
    for (ts_val v = 1; v < n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        early_measure(&w, v);
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            if (w.chain[ts_opnds(fn, inst)[i]] > EARLY_CHAIN)
                early_read(&w, ts_opnds(fn, inst)[i], v);
    }
    for (ts_val v = 1; v < n; v++)
        if (w.read[v] && !w.apart[v]) {
            out->want[v] = w.read[v];
            found = true;
        }
    return found;
}
