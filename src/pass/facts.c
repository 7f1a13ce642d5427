/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts analysis: see facts.h for what the facts mean. One transfer function per operation,
 * found by table; sweeps over the function in program order until the facts of loop arguments stand
 * still. Those start at their first value and only get weaker (joined with what `continue` passes),
 * bounds jump to the type's range after a few changes, so the number of sweeps is small and
 * bounded. Axis facts are those of Triton's axis analysis, restated; arithmetic on them is in
 * facts_axis.c.
 */
#include "pass/facts_axis.h"
#include "tessera/compile.h"

enum { FACTS_PATIENCE = 3, FACTS_SWEEPS = 64 };

__extension__ typedef __int128 facts_wide; /* no product of two bounds overflows it */

/* ---- types ----------------------------------------------------------------------------------- */

static bool facts_tracks(const ts_module *m, ts_type t)
{
    ts_kind kind = ts_type_kind(m, t);
    return (kind == TS_KIND_SCALAR || kind == TS_KIND_TILE || kind == TS_KIND_PTR) &&
           (ts_type_is_int(m, t) || ts_type_is_ptr(m, t));
}

static void facts_range(const ts_module *m, ts_type t, int64_t *lo, int64_t *hi)
{
    ts_type elem = ts_type_elem(m, t);
    uint32_t bits = elem == TS_T_i1 || !ts_type_is_int(m, elem) ? 64 : ts_type_bits(m, elem);
    *lo = bits >= 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    *hi = bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    if (elem == TS_T_i1) {
        *lo = 0;
        *hi = 1;
    }
}

static ts_axis_fact *facts_axes(const ts_fact *f) /* the analysis owns them, readers do not write */
{
    return (ts_axis_fact *)f->axis;
}

static void facts_unknown(const facts_ctx *c, ts_val v, ts_fact *out)
{
    ts_type t = ts_type_of(c->fn, v);
    facts_range(c->m, t, &out->lo, &out->hi);
    out->divisor = 1;
    for (uint32_t d = 0; out->axis && d < ts_type_rank(c->m, t); d++)
        facts_axes(out)[d] = (ts_axis_fact){1, 1, 1};
}

/* Bounds from wider arithmetic; beyond the type's range nothing is known, unless it cannot wrap. */
static void facts_bound(const facts_ctx *c, ts_val v, ts_fact *out, facts_wide lo, facts_wide hi,
                        bool wraps)
{
    int64_t least, most;
    facts_range(c->m, ts_type_of(c->fn, v), &least, &most);
    if (wraps && (lo < least || hi > most)) {
        lo = least;
        hi = most;
    }
    out->lo = (int64_t)(lo < least ? least : lo > most ? most : lo);
    out->hi = (int64_t)(hi > most ? most : hi < least ? least : hi);
}

static const ts_fact *facts_opnd(const facts_ctx *c, ts_val v, uint32_t i)
{
    return &c->facts->at[ts_opnd(c->fn, v, i)];
}

static bool facts_wraps(const ts_inst *inst)
{
    return !(inst->aux & TS_A_NSW);
}

/* ---- sources --------------------------------------------------------------------------------- */

static void facts_exact(const facts_ctx *c, ts_val v, ts_fact *out, int64_t value)
{
    out->lo = out->hi = value;
    out->divisor = facts_pow2_of(value);
    ts_type t = ts_type_of(c->fn, v);
    for (uint32_t d = 0; out->axis && d < ts_type_rank(c->m, t); d++)
        facts_axes(out)[d] = (ts_axis_fact){1, out->divisor, ts_type_dims(c->m, t)[d]};
}

static void facts_constant(const facts_ctx *c, ts_val v, ts_fact *out)
{
    uint64_t bits;
    if (ts__const_bits(c->fn, v, &bits))
        facts_exact(c, v, out, (int64_t)bits);
}

static void facts_iota(const facts_ctx *c, ts_val v, ts_fact *out)
{
    int64_t n = ts_type_dims(c->m, ts_type_of(c->fn, v))[0];
    facts_bound(c, v, out, 0, n - 1, true);
    facts_axes(out)[0] = (ts_axis_fact){n, FACTS_ANY_DIVISOR, 1};
}

static void facts_grid(const facts_ctx *c, ts_val v, ts_fact *out)
{
    bool count = ts_at(c->fn, v)->op == TS_OP_get_num_tile_blocks;
    out->lo = count;
    out->hi = (c->most_blocks ? c->most_blocks : (1 << 24) - 1) - !count;
}

static void facts_sreg(const facts_ctx *c, ts_val v, ts_fact *out)
{
    static const int64_t most[][2] = {
        [TS_SREG_TID] = {0, TS_BLOCK_THREADS - 1},
        [TS_SREG_TID_Y] = {0, TS_BLOCK_THREADS - 1},
        [TS_SREG_TID_Z] = {0, TS_BLOCK_THREADS_Z - 1},
        [TS_SREG_CTAID] = {0, INT32_MAX},
        [TS_SREG_CTAID_Y] = {0, 65535},
        [TS_SREG_CTAID_Z] = {0, 65535},
        [TS_SREG_NCTAID] = {1, INT32_MAX},
        [TS_SREG_NCTAID_Y] = {1, 65535},
        [TS_SREG_NCTAID_Z] = {1, 65535},
        [TS_SREG_NTID] = {1, TS_BLOCK_THREADS},
        [TS_SREG_NTID_Y] = {1, TS_BLOCK_THREADS},
        [TS_SREG_NTID_Z] = {1, TS_BLOCK_THREADS_Z},
        [TS_SREG_LANEID] = {0, 31},
        [TS_SREG_WARPID] = {0, TS_BLOCK_THREADS / 32 - 1},
        [TS_SREG_SHARED_BYTES] = {0, 1 << 24},
        [TS_SREG_SMID] = {0, INT32_MAX},
        [TS_SREG_CLUSTER_RANK] = {0, TS_CLUSTER_BLOCKS - 1},
        [TS_SREG_CLUSTER_ID] = {0, INT32_MAX},
        [TS_SREG_NCLUSTER] = {1, INT32_MAX},
        [TS_SREG_CLUSTER_SIZE] = {1, TS_CLUSTER_BLOCKS},
    };
    uint32_t kind = TS_S_KIND(ts_at(c->fn, v)->aux);
    if (kind < TS_COUNT(most) && most[kind][1]) { /* of others nothing is known */
        out->lo = most[kind][0];
        out->hi = most[kind][1];
        bool counts = kind >= TS_SREG_NCTAID && kind <= TS_SREG_NCTAID_Z;
        if (c->most_blocks && (counts || (kind >= TS_SREG_CTAID && kind <= TS_SREG_CTAID_Z)))
            out->hi = TS_MIN(out->hi, c->most_blocks - 1 + counts);
    }
}

static void facts_memory(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_inst *inst = ts_at(c->fn, v);
    if (inst->op == TS_OP_shared)
        out->divisor =
            TS_MIN(facts_pow2_of(inst->aux), 16); /* what every target aligns shared memory to */
    else
        out->divisor = TS_MAX(1, (int64_t)ts_pool(c->fn, inst)[1]);
}

static void facts_get_global(const facts_ctx *c, ts_val v, ts_fact *out)
{
    for (uint32_t i = 0; i < c->m->globals.n; i++)
        if (c->m->globals.at[i].name == ts_at(c->fn, v)->aux)
            out->divisor = TS_MAX(1, (int64_t)c->m->globals.at[i].align);
}

static void facts_extent(const facts_ctx *c, ts_val v, ts_fact *out)
{
    ts_val view = ts_opnd(c->fn, v, 0);
    uint32_t axis = ts_at(c->fn, v)->aux, dynamic = 0;
    const ts_type_info *t = ts_type_get(c->m, ts_type_of(c->fn, view));
    while (ts_at(c->fn, view)->op == TS_OP_assume)
        view = ts_opnd(c->fn, view, 0);
    out->lo = 0;
    if (t->dims[axis] != TS_DYNAMIC)
        facts_exact(c, v, out, t->dims[axis]);
    else if (ts_at(c->fn, view)->op == TS_OP_make_tensor_view) {
        for (uint32_t d = 0; d < axis; d++)
            dynamic += t->dims[d] == TS_DYNAMIC;
        const ts_fact *x = facts_opnd(c, view, 1 + dynamic);
        facts_bound(c, v, out, TS_MAX(x->lo, 0), TS_MAX(x->hi, 0), true);
        out->divisor = x->divisor;
    }
}

/* ceil(extent / tile), or over the step of a strided view, where the extent is static */
static void facts_index_space(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_type_info *view = ts_type_get(c->m, ts_type_of(c->fn, ts_opnd(c->fn, v, 0)));
    const ts_type_info *tensor = ts_type_get(c->m, view->elem);
    uint32_t axis = ts_at(c->fn, v)->aux,
             along = view->dim_map ? (uint32_t)view->dim_map[axis] : axis;
    out->lo = 0;
    if (tensor->dims[along] == TS_DYNAMIC)
        return;
    int64_t step = view->strides ? view->strides[axis] : view->dims[axis];
    facts_exact(c, v, out, tensor->dims[along] / step + (tensor->dims[along] % step != 0));
}

static void facts_assume(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const uint32_t *w = ts_pool(c->fn, ts_at(c->fn, v));
    const ts_fact *x = facts_opnd(c, v, 0);
    uint32_t rank = ts_type_rank(c->m, ts_type_of(c->fn, v));
    facts_copy(out, x, rank);
    if (w[0] == TS_ASSUME_DIV_BY && !w[3])
        out->divisor = TS_MAX(out->divisor, (int64_t)(w[1] | (uint64_t)w[2] << 32));
    if (w[0] == TS_ASSUME_BOUNDED && w[1])
        out->lo = TS_MAX(out->lo, (int64_t)(w[2] | (uint64_t)w[3] << 32));
    if (w[0] == TS_ASSUME_BOUNDED && w[4])
        out->hi = TS_MIN(out->hi, (int64_t)(w[5] | (uint64_t)w[6] << 32));
    if (out->lo > out->hi) /* a false promise: this code never runs */
        out->lo = out->hi;
    for (uint32_t d = 0; w[0] == TS_ASSUME_SAME && out->axis && d < rank; d++)
        if (ts_is_pow2(w[2 + d]) && w[2 + d] > 1)
            facts_axes(out)[d] =
                (ts_axis_fact){1, out->divisor, TS_MAX(x->axis[d].constancy, (int64_t)w[2 + d])};
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static uint32_t facts_rank(const facts_ctx *c, ts_val v)
{
    return ts_type_rank(c->m, ts_type_of(c->fn, v));
}

static void facts_add(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    bool sub = ts_at(c->fn, v)->op == TS_OP_subi;
    facts_wide lo = (facts_wide)x->lo + (sub ? -(facts_wide)y->hi : y->lo),
               hi = (facts_wide)x->hi + (sub ? -(facts_wide)y->lo : y->hi);
    if (sub && lo < 0 && c->flow && facts_is_part(c, ts_opnd(c->fn, v, 1), ts_opnd(c->fn, v, 0), 0))
        lo = 0;
    facts_bound(c, v, out, lo, hi, facts_wraps(ts_at(c->fn, v)));
    out->divisor = TS_MIN(x->divisor, y->divisor);
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d] = facts_axis_add(x->axis[d], y->axis[d], 1, sub);
}

static void facts_product(facts_wide *lo, facts_wide *hi, const ts_fact *x, const ts_fact *y)
{
    facts_wide p[] = {(facts_wide)x->lo * y->lo, (facts_wide)x->lo * y->hi,
                      (facts_wide)x->hi * y->lo, (facts_wide)x->hi * y->hi};
    *lo = *hi = p[0];
    for (int i = 1; i < 4; i++) {
        *lo = TS_MIN(*lo, p[i]);
        *hi = TS_MAX(*hi, p[i]);
    }
}

static void facts_mul(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    facts_wide lo, hi;
    facts_product(&lo, &hi, x, y);
    facts_bound(c, v, out, lo, hi, facts_wraps(ts_at(c->fn, v)));
    out->divisor = facts_pow2_product(x->divisor, y->divisor);
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d].constancy = TS_MIN(x->axis[d].constancy, y->axis[d].constancy);
}

static void facts_mul_wide(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    facts_wide lo, hi;
    bool negative = x->lo < 0 || y->lo < 0;
    out->divisor = facts_pow2_product(x->divisor, y->divisor);
    if (ts_at(c->fn, v)->aux & TS_A_UNSIGNED && negative)
        return;
    facts_product(&lo, &hi, x, y);
    facts_bound(c, v, out, lo, hi, true);
}

/* Shifts by a known count are products and quotients of a power of two. */
static bool facts_known(const ts_fact *f, int64_t lo, int64_t hi, int64_t *value)
{
    *value = f->lo;
    return f->lo == f->hi && f->lo >= lo && f->lo <= hi;
}

static void facts_shl(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0);
    int64_t count;
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d].constancy =
            TS_MIN(x->axis[d].constancy, facts_opnd(c, v, 1)->axis[d].constancy);
    out->divisor = x->divisor;
    if (!facts_known(facts_opnd(c, v, 1), 0, 62, &count))
        return;
    facts_bound(c, v, out, (facts_wide)x->lo * ((int64_t)1 << count),
                (facts_wide)x->hi * ((int64_t)1 << count), facts_wraps(ts_at(c->fn, v)));
    out->divisor = facts_pow2_product(x->divisor, (int64_t)1 << count);
}

static int64_t facts_divide(int64_t x, int64_t y, ts_round round) /* y > 0 */
{
    int64_t q = x / y, r = x % y;
    return q - (round == TS_RM && r < 0) + (round == TS_RP && r > 0);
}

static void facts_quotient(const facts_ctx *c, ts_val v, ts_fact *out, int64_t by, ts_round round)
{
    const ts_fact *x = facts_opnd(c, v, 0);
    out->lo = facts_divide(x->lo, by, round);
    out->hi = facts_divide(x->hi, by, round);
    if (!ts_is_pow2(by))
        return;
    out->divisor = TS_MAX(1, x->divisor / by);
    bool floors = round == TS_RM || x->lo >= 0;
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++) {
        int64_t run = TS_MIN(TS_MIN(x->axis[d].contiguity, x->axis[d].divisibility), by);
        if (floors && round != TS_RP)
            facts_axes(out)[d].constancy = TS_MAX(facts_axes(out)[d].constancy, run);
    }
}

static void facts_constancy2(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d].constancy = TS_MIN(x->axis[d].constancy, y->axis[d].constancy);
}

static void facts_div(const facts_ctx *c, ts_val v, ts_fact *out)
{
    uint32_t attr = ts_at(c->fn, v)->aux;
    int64_t by;
    facts_constancy2(c, v, out);
    if (facts_known(facts_opnd(c, v, 1), 1, INT64_MAX, &by) &&
        (!(attr & TS_A_UNSIGNED) || facts_opnd(c, v, 0)->lo >= 0))
        facts_quotient(c, v, out, by, TS_A_ROUND(attr));
    else if (facts_opnd(c, v, 0)->lo >= 0 && facts_opnd(c, v, 1)->lo >= 1) {
        out->lo = 0;
        out->hi = facts_opnd(c, v, 0)->hi;
    }
}

static void facts_shr(const facts_ctx *c, ts_val v, ts_fact *out)
{
    int64_t count, bits = (int64_t)ts_type_bits(c->m, ts_type_of(c->fn, v));
    facts_constancy2(c, v, out);
    if (facts_known(facts_opnd(c, v, 1), 0, TS_MIN(bits - 1, 62), &count) &&
        (!(ts_at(c->fn, v)->aux & TS_A_UNSIGNED) || facts_opnd(c, v, 0)->lo >= 0))
        facts_quotient(c, v, out, (int64_t)1 << count, TS_RM);
}

static void facts_rem(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    uint32_t attr = ts_at(c->fn, v)->aux;
    bool floors = TS_A_ROUND(attr) == TS_RM || x->lo >= 0;
    int64_t by;
    facts_constancy2(c, v, out);
    if (y->lo < 1 || (attr & TS_A_UNSIGNED && x->lo < 0) || TS_A_ROUND(attr) == TS_RP)
        return;
    out->lo = floors ? 0 : 1 - y->hi;
    out->hi = x->lo >= 0 ? TS_MIN(x->hi, y->hi - 1) : y->hi - 1;
    if (!facts_known(y, 1, INT64_MAX, &by))
        return;
    out->divisor = TS_MIN(x->divisor, facts_pow2_of(by));
    for (uint32_t d = 0; out->axis && floors && ts_is_pow2(by) && d < facts_rank(c, v); d++) {
        ts_axis_fact a = x->axis[d];
        int64_t run = TS_MIN(TS_MIN(a.contiguity, a.divisibility), by);
        if (run > 1)
            facts_axes(out)[d] = (ts_axis_fact){run, TS_MIN(a.divisibility, by), 1};
    }
}

static void facts_and(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    facts_constancy2(c, v, out);
    if (x->lo >= 0 || y->lo >= 0) {
        out->lo = 0;
        out->hi = TS_MIN(x->lo >= 0 ? x->hi : INT64_MAX, y->lo >= 0 ? y->hi : INT64_MAX);
    }
    out->divisor = TS_MAX(x->divisor, y->divisor);
}

static void facts_or(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    facts_constancy2(c, v, out);
    out->divisor = TS_MIN(x->divisor, y->divisor);
    if (x->lo >= 0 && y->lo >= 0) {
        int bits = 1 + ts_log2((uint64_t)TS_MAX(TS_MAX(x->hi, y->hi), 1));
        out->lo = 0;
        out->hi = TS_MIN(out->hi, bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1);
    }
}

static void facts_minmax(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    const ts_inst *inst = ts_at(c->fn, v);
    bool least = inst->op == TS_OP_mini;
    facts_constancy2(c, v, out);
    out->divisor = TS_MIN(x->divisor, y->divisor);
    if (inst->aux & TS_A_UNSIGNED && (x->lo < 0 || y->lo < 0))
        return;
    out->lo = least ? TS_MIN(x->lo, y->lo) : TS_MAX(x->lo, y->lo);
    out->hi = least ? TS_MIN(x->hi, y->hi) : TS_MAX(x->hi, y->hi);
}

static void facts_abs(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0);
    facts_wide a = x->lo < 0 ? -(facts_wide)x->lo : x->lo,
               b = x->hi < 0 ? -(facts_wide)x->hi : x->hi;
    bool neg = ts_at(c->fn, v)->op == TS_OP_negi;
    if (neg)
        facts_bound(c, v, out, -(facts_wide)x->hi, -(facts_wide)x->lo, true);
    else
        facts_bound(c, v, out, x->lo <= 0 && x->hi >= 0 ? 0 : TS_MIN(a, b), TS_MAX(a, b), true);
    out->divisor = x->divisor;
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d].constancy = x->axis[d].constancy;
}

static void facts_count(const facts_ctx *c, ts_val v, ts_fact *out)
{
    out->lo = 0;
    out->hi = (int64_t)ts_type_bits(c->m, ts_type_of(c->fn, ts_opnd(c->fn, v, 0)));
}

/* A comparison whose answer follows from the bounds. */
static void facts_decide(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    uint32_t attr = ts_at(c->fn, v)->aux;
    ts_pred pred = TS_A_GET_PRED(attr);
    if ((attr & TS_A_UNSIGNED && (x->lo < 0 || y->lo < 0)) ||
        ts_type_elem(c->m, ts_type_of(c->fn, ts_opnd(c->fn, v, 0))) == TS_T_i1)
        return;
    if (pred == TS_GT || pred == TS_GE) { /* as y < x, y <= x */
        const ts_fact *swap = x;
        x = y;
        y = swap;
        pred = pred == TS_GT ? TS_LT : TS_LE;
    }
    bool apart = x->hi < y->lo || y->hi < x->lo, one = x->lo == x->hi && y->lo == y->hi && x->lo == y->lo;
    bool yes = pred == TS_EQ   ? one
               : pred == TS_NE ? apart
               : pred == TS_LT ? x->hi < y->lo
                               : x->hi <= y->lo;
    bool no = pred == TS_EQ   ? apart
              : pred == TS_NE ? one
              : pred == TS_LT ? x->lo >= y->hi
                              : x->lo > y->hi;
    if (yes || no)
        out->lo = out->hi = yes;
}

/* x < y is the same in aligned runs where x rises from a multiple of the run and y is a multiple
 * too. */
static void facts_cmp(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0), *y = facts_opnd(c, v, 1);
    ts_pred pred = TS_A_GET_PRED(ts_at(c->fn, v)->aux);
    facts_constancy2(c, v, out);
    facts_decide(c, v, out);
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++) {
        ts_axis_fact rising = x->axis[d], flat = y->axis[d];
        if (pred == TS_GT || pred == TS_LE) {
            rising = y->axis[d];
            flat = x->axis[d];
        } else if (pred != TS_LT && pred != TS_GE)
            continue;
        int64_t run = TS_MIN(TS_MIN(rising.contiguity, rising.divisibility),
                             TS_MIN(flat.constancy, flat.divisibility));
        facts_axes(out)[d].constancy = TS_MAX(facts_axes(out)[d].constancy, run);
    }
}

/* ---- conversions, selection, shape ----------------------------------------------------------- */

static void facts_extend(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0);
    ts_type from = ts_type_of(c->fn, ts_opnd(c->fn, v, 0));
    bool extends = ts_at(c->fn, v)->op == TS_OP_exti, one = ts_type_elem(c->m, from) == TS_T_i1;
    bool keeps = extends && !one && (!(ts_at(c->fn, v)->aux & TS_A_UNSIGNED) || x->lo >= 0);
    out->divisor = extends && one ? 1 : x->divisor;
    if (keeps || !extends)
        facts_bound(c, v, out, x->lo, x->hi, true);
    else if (ts_at(c->fn, v)->aux & TS_A_UNSIGNED) {
        out->lo = 0;
        out->hi = one ? 1 : ((int64_t)1 << ts_type_bits(c->m, from)) - 1;
    }
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d] =
            facts_axis_unwrapped(x->axis[d], keeps && facts_never_wraps(c, ts_opnd(c->fn, v, 0)),
                                 !extends, out->divisor);
}

/* Pointers count contiguity in elements, integers in ones, divisors are bytes in both. */
static void facts_pointer(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *x = facts_opnd(c, v, 0);
    int64_t from = facts_unit(c, ts_opnd(c->fn, v, 0)), to = facts_unit(c, v);
    out->divisor = x->divisor;
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++)
        facts_axes(out)[d] =
            from == to ? x->axis[d] : (ts_axis_fact){1, x->divisor, x->axis[d].constancy};
}

static void facts_offset(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *p = facts_opnd(c, v, 0), *i = facts_opnd(c, v, 1);
    int64_t unit = facts_unit(c, v);
    bool safe = facts_never_wraps(c, ts_opnd(c->fn, v, 1));
    if (!unit)
        return;
    out->divisor = TS_MIN(p->divisor, facts_pow2_product(i->divisor, unit));
    for (uint32_t d = 0; out->axis && d < facts_rank(c, v); d++) {
        ts_axis_fact index = facts_axis_unwrapped(i->axis[d], safe, false, i->divisor);
        index.divisibility = facts_pow2_product(index.divisibility, unit);
        facts_axes(out)[d] = facts_axis_add(p->axis[d], index, unit, false);
    }
}

static void facts_ptr_add(const facts_ctx *c, ts_val v, ts_fact *out)
{
    out->divisor = TS_MIN(facts_opnd(c, v, 0)->divisor, facts_opnd(c, v, 1)->divisor);
}

static void facts_select(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const ts_fact *cond = facts_opnd(c, v, 0);
    uint32_t rank = facts_rank(c, v);
    facts_copy(out, facts_opnd(c, v, 1), rank);
    facts_join(out, facts_opnd(c, v, 2), rank, facts_unit(c, v));
    for (uint32_t d = 0; out->axis && d < rank; d++)
        facts_axes(out)[d] =
            facts_axis_cut(out->axis[d], cond->axis[d].constancy, facts_unit(c, v));
}

static void facts_broadcast(const facts_ctx *c, ts_val v, ts_fact *out)
{
    ts_val from = ts_opnd(c->fn, v, 0);
    uint32_t rank = facts_rank(c, v);
    facts_copy(out, &c->facts->at[from], rank);
    for (uint32_t d = 0; d < rank; d++) {
        int64_t n = ts_type_dims(c->m, ts_type_of(c->fn, v))[d];
        if (n != ts_type_dims(c->m, ts_type_of(c->fn, from))[d])
            facts_axes(out)[d] =
                (ts_axis_fact){1, TS_MAX(out->divisor, out->axis[d].divisibility), n};
    }
}

/* Axes of extent 1 may come and go; any other reshape only keeps what holds for the whole tile. */
static void facts_reshape(const facts_ctx *c, ts_val v, ts_fact *out)
{
    ts_val from = ts_opnd(c->fn, v, 0);
    const ts_fact *x = &c->facts->at[from];
    ts_type a = ts_type_of(c->fn, from), b = ts_type_of(c->fn, v);
    uint32_t na = ts_type_rank(c->m, a), nb = ts_type_rank(c->m, b), i = 0;
    out->lo = x->lo;
    out->hi = x->hi;
    out->divisor = x->divisor;
    for (uint32_t d = 0; d < nb; d++) {
        int64_t n = ts_type_dims(c->m, b)[d];
        facts_axes(out)[d] = (ts_axis_fact){1, out->divisor, n == 1 || x->lo == x->hi ? n : 1};
        while (n > 1 && i < na && ts_type_dims(c->m, a)[i] == 1)
            i++;
        if (n == 1)
            continue;
        if (i >= na || ts_type_dims(c->m, a)[i] != n)
            i = na + 1; /* no longer the same axes */
        else
            facts_axes(out)[d] = x->axis[i++];
    }
}

static void facts_permute(const facts_ctx *c, ts_val v, ts_fact *out)
{
    const uint32_t *axes = ts_pool(c->fn, ts_at(c->fn, v)) + 1;
    const ts_fact *x = facts_opnd(c, v, 0);
    out->lo = x->lo;
    out->hi = x->hi;
    out->divisor = x->divisor;
    for (uint32_t d = 0; d < facts_rank(c, v); d++)
        facts_axes(out)[d] = x->axis[axes[d]];
}

static void facts_extract(const facts_ctx *c, ts_val v, ts_fact *out)
{
    uint32_t rank = facts_rank(c, v);
    facts_copy(out, facts_opnd(c, v, 0), rank);
    for (uint32_t d = 0; d < rank; d++)
        facts_axes(out)[d] = facts_axis_cut(
            out->axis[d], ts_type_dims(c->m, ts_type_of(c->fn, v))[d], facts_unit(c, v));
}

static void facts_cat(const facts_ctx *c, ts_val v, ts_fact *out)
{
    uint32_t rank = facts_rank(c, v);
    facts_copy(out, facts_opnd(c, v, 0), rank);
    facts_join(out, facts_opnd(c, v, 1), rank, facts_unit(c, v));
}

static facts_fn *const facts_table[TS_OP_COUNT] = {
    [TS_OP_constant] = facts_constant,
    [TS_OP_iota] = facts_iota,
    [TS_OP_get_tile_block_id] = facts_grid,
    [TS_OP_get_num_tile_blocks] = facts_grid,
    [TS_OP_sreg] = facts_sreg,
    [TS_OP_shared] = facts_memory,
    [TS_OP_shared_alloc] = facts_memory,
    [TS_OP_local] = facts_memory,
    [TS_OP_alloca] = facts_memory,
    [TS_OP_get_global] = facts_get_global,
    [TS_OP_get_tensor_shape] = facts_extent,
    [TS_OP_get_index_space_shape] = facts_index_space,
    [TS_OP_assume] = facts_assume,
    [TS_OP_addi] = facts_add,
    [TS_OP_subi] = facts_add,
    [TS_OP_muli] = facts_mul,
    [TS_OP_mul_wide] = facts_mul_wide,
    [TS_OP_shli] = facts_shl,
    [TS_OP_shri] = facts_shr,
    [TS_OP_divi] = facts_div,
    [TS_OP_remi] = facts_rem,
    [TS_OP_andi] = facts_and,
    [TS_OP_ori] = facts_or,
    [TS_OP_xori] = facts_or,
    [TS_OP_maxi] = facts_minmax,
    [TS_OP_mini] = facts_minmax,
    [TS_OP_absi] = facts_abs,
    [TS_OP_negi] = facts_abs,
    [TS_OP_popc] = facts_count,
    [TS_OP_clz] = facts_count,
    [TS_OP_cmpi] = facts_cmp,
    [TS_OP_exti] = facts_extend,
    [TS_OP_trunci] = facts_extend,
    [TS_OP_int_to_ptr] = facts_pointer,
    [TS_OP_ptr_to_int] = facts_pointer,
    [TS_OP_ptr_to_ptr] = facts_pointer,
    [TS_OP_offset] = facts_offset,
    [TS_OP_ptr_add] = facts_ptr_add,
    [TS_OP_select] = facts_select,
    [TS_OP_broadcast] = facts_broadcast,
    [TS_OP_reshape] = facts_reshape,
    [TS_OP_permute] = facts_permute,
    [TS_OP_extract] = facts_extract,
    [TS_OP_cat] = facts_cat,
};

/* ---- flow ------------------------------------------------------------------------------------ */

/* Joins `with` into the fact of an arg or res; true when that weakened it. */
static bool facts_flow(facts_ctx *c, ts_val into, ts_val with)
{
    ts_fact *f = &c->facts->at[into];
    uint32_t rank = facts_rank(c, into);
    facts_conditions_drop(c, into);
    facts_gather(c, into, with);
    if (!c->seen[into]) {
        c->seen[into] = 1;
        facts_copy(f, &c->facts->at[with], rank);
        return true;
    }
    ts_fact old = *f;
    if (!facts_join(f, &c->facts->at[with], rank, facts_unit(c, into)))
        return false;
    int64_t least, most;
    facts_range(c->m, ts_type_of(c->fn, into), &least, &most);
    if (c->seen[into] < UINT8_MAX)
        c->seen[into]++;
    if (c->seen[into] > FACTS_PATIENCE) {
        f->lo = f->lo < old.lo ? least : f->lo;
        f->hi = f->hi > old.hi ? most : f->hi;
    }
    if (c->seen[into] > 4 * FACTS_PATIENCE)
        facts_unknown(c, into, f);
    return true;
}

/* The induction variable: lower <= i < upper wherever the body runs. */
static void facts_induction(facts_ctx *c, ts_val arg, ts_val opener)
{
    const ts_fact *lower = facts_opnd(c, opener, 0), *upper = facts_opnd(c, opener, 1),
                  *step = facts_opnd(c, opener, 2);
    ts_fact *f = &c->facts->at[arg];
    facts_unknown(c, arg, f);
    f->divisor = TS_MIN(lower->divisor, step->divisor);
    if (ts_at(c->fn, opener)->aux & TS_A_UNSIGNED && (lower->lo < 0 || upper->lo < 0))
        return;
    f->lo = lower->lo;
    f->hi = TS_MAX(upper->hi > INT64_MIN ? upper->hi - 1 : INT64_MIN, f->lo);
}

static void facts_arg(facts_ctx *c, ts_val v)
{
    ts_val opener = c->shape.parent[v];
    uint32_t op = ts_at(c->fn, opener)->op, i = ts_at(c->fn, v)->aux;
    if (op == TS_OP_for && i == 0)
        facts_induction(c, v, opener);
    else if (op == TS_OP_for)
        c->changed |= facts_flow(c, v, ts_opnd(c->fn, opener, i + 2));
    else if (op == TS_OP_loop)
        c->changed |= facts_flow(c, v, ts_opnd(c->fn, opener, i));
    else
        facts_unknown(c, v, &c->facts->at[v]);
}

/* Values that leave through a terminator flow to args of the loop or results of the opener. */
static void facts_term(facts_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_val opener = c->shape.parent[v], first;
    uint32_t op;
    while (inst->op != TS_OP_yield && opener &&
           (op = ts_at(c->fn, opener)->op, op != TS_OP_for && op != TS_OP_loop))
        opener = c->shape.parent[opener];
    op = ts_at(c->fn, opener)->op;
    if (inst->op == TS_OP_return || op == TS_OP_reduce || op == TS_OP_scan)
        return;
    first = inst->op == TS_OP_continue ? opener + 1 + (op == TS_OP_for) : c->shape.end[opener] + 1;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        c->changed |= facts_flow(c, first + i, ts_opnd(c->fn, v, i));
}

static void facts_res(facts_ctx *c, ts_val v)
{
    ts_val owner = ts_opnd(c->fn, v, 0);
    uint32_t op = ts_at(c->fn, owner)->op, i = ts_at(c->fn, v)->aux;
    if (op == TS_OP_for)
        facts_copy(&c->facts->at[v], &c->facts->at[owner + 2 + i], facts_rank(c, v));
    else if (op == TS_OP_cold)
        c->changed |= facts_flow(c, v, ts_opnd(c->fn, owner, i + 1));
    else if (!c->seen[v])
        facts_unknown(c, v, &c->facts->at[v]);
}

/* In n bits an aligned run of more than 2^(n-1) values would cross from the greatest to the least.
 */
static void facts_fit(const facts_ctx *c, ts_val v, ts_fact *f)
{
    ts_type elem = ts_type_elem(c->m, ts_type_of(c->fn, v));
    uint32_t bits = elem == TS_T_i1              ? 1
                    : ts_type_is_int(c->m, elem) ? ts_type_bits(c->m, elem)
                                                 : 64;
    for (uint32_t d = 0; f->axis && d < facts_rank(c, v); d++)
        if (f->axis[d].contiguity > (int64_t)1 << TS_MIN(bits - 1, 62u)) {
            int64_t constancy = f->axis[d].constancy;
            facts_axes(f)[d] =
                facts_axis_cut(f->axis[d], (int64_t)1 << TS_MIN(bits - 1, 62u), facts_unit(c, v));
            facts_axes(f)[d].constancy = constancy;
        }
}

static void facts_visit(facts_ctx *c, ts_val v)
{
    const ts_inst *inst = ts_at(c->fn, v);
    ts_fact *f = &c->facts->at[v];
    if (ts_info(inst)->flags & TS_TERM)
        facts_term(c, v);
    if (!facts_tracks(c->m, inst->type))
        return;
    if (inst->op == TS_OP_arg)
        facts_arg(c, v);
    else if (inst->op == TS_OP_res)
        facts_res(c, v);
    else {
        facts_unknown(c, v, f);
        if (facts_table[inst->op])
            facts_table[inst->op](c, v, f);
    }
    facts_fit(c, v, f);
    facts_settle(f, facts_rank(c, v));
}

void facts_sweep(facts_ctx *c)
{
    for (ts_val v = 1; v < c->fn->inst.n; v++) {
        facts_conditions_end(c, v);
        facts_visit(c, v);
        facts_conditions(c, v);
    }
    facts_conditions_end(c, c->fn->inst.n);
}

static bool facts_allocate(facts_ctx *c, ts_arena *scratch)
{
    uint32_t n = c->fn->inst.n;
    c->facts->n = n;
    c->facts->at = TS_NEW_N(scratch, ts_fact, n);
    c->seen = TS_NEW_N(scratch, uint8_t, n);
    c->opener = TS_NEW_N(scratch, ts_val, n);
    if (!c->facts->at || !c->seen || !c->opener || !ts__shape_of(c->fn, scratch, &c->shape))
        return false;
    for (ts_val v = 0; v < n; v++) {
        ts_type t = ts_type_of(c->fn, v);
        c->facts->at[v] = (ts_fact){INT64_MIN, INT64_MAX, 1, NULL};
        if (!facts_tracks(c->m, t) || !ts_type_rank(c->m, t))
            continue;
        c->facts->at[v].axis = TS_NEW_N(scratch, ts_axis_fact, ts_type_rank(c->m, t));
        if (!c->facts->at[v].axis)
            return false;
        facts_unknown(c, v, &c->facts->at[v]);
    }
    return true;
}

/* Sweeps until nothing changes. */
bool facts_run(facts_ctx *c, ts_arena *scratch)
{
    if (!facts_allocate(c, scratch))
        return false;
    c->changed = true;
    for (int sweep = 0; c->changed; sweep++) {
        c->changed = false;
        if (sweep ==
            FACTS_SWEEPS) /* cannot happen while joins only weaken; give up on carried values */
            memset(c->seen, UINT8_MAX, c->fn->inst.n);
        facts_sweep(c);
        ts_assert(sweep <= 2 * FACTS_SWEEPS);
    }
    return true;
}

bool ts__facts_of(const ts_fn *fn, ts_arena *scratch, ts_facts *facts)
{
    facts_ctx c = {.fn = fn, .m = fn->module, .scratch = scratch, .facts = facts};
    return facts_run(&c, scratch);
}

int64_t ts__facts_vector(const ts_facts *facts, ts_val pointers, uint32_t axis, int64_t elem_bytes)
{
    const ts_fact *f = &facts->at[pointers];
    if (!f->axis || elem_bytes < 1)
        return 1;
    ts_axis_fact a = f->axis[axis];
    return TS_MAX(1, TS_MIN(a.contiguity, a.divisibility / elem_bytes));
}
