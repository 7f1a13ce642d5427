/* SPDX-License-Identifier: Apache-2.0
 *
 * The pass `math`: replaces sin, cos, exp, pow, ... and `fn` by the functions of this folder (math.h).
 *
 *     %y = exp %x : tile<64xf16>        %a = ftof %x : tile<64xf32>
 *                                       ... the f32 function ...
 *                                       %y = ftof %b : tile<64xf16>
 *
 * On a GPU an operation marked APPROX, or any under the hint fastmath, becomes the machine's
 * approximate instruction instead (exp2, log2, sin, cos, tanh, rsqrt, sqrt, divf stay native with
 * APPROX; the others are written with those). So does exp2 that flushes to zero, for which the machine has an
 * instruction good to two ulps. Flush to zero is honoured on the way in and out.
 * Cost: one walk over the function. Runs before legalize; fold and dce clean up after it.
 */
#include "math/math.h"

static ts__math_x math_approx_exp, math_approx_log, math_approx_tan;
static ts__math_xx math_approx_pow;

/* How one function is written; `native` ones are instructions of the GPU when approximate. */
typedef struct math_row {
    uint16_t op;
    bool native, own; /* own: computed in f16 and bf16 themselves */
    bool integer;     /* the second operand */
    ts__math_x *unary, *fast_unary;
    ts__math_xx *binary, *fast_binary;
} math_row;

#define MATH_NONE(op) NULL
#define MATH_NATIVE(op) NULL
#define MATH_WRITTEN(op) math_approx_##op
#define MATH_X(name, fast) false, ts__math_##name, fast, NULL, NULL
#define MATH_XB(name, fast) false, ts__math_##name, fast, NULL, NULL
#define MATH_XI(name, fast) false, ts__math_##name, fast, NULL, NULL
#define MATH_XX(name, fast) false, NULL, NULL, ts__math_##name, fast
#define MATH_XN(name, fast) true, NULL, NULL, ts__math_##name, fast
#define MATH_IS_NONE false
#define MATH_IS_NATIVE true
#define MATH_IS_WRITTEN false
#define MATH_IN_F32 false
#define MATH_IN_ITSELF true

static const math_row math_ops[] = {
#define TS_MATH_OP(op, kind, approx, ...) {TS_OP_##op, MATH_IS_##approx, false, MATH_##kind(op, MATH_##approx(op))},
#include "table/math.def"
};

static const math_row math_fns[TS_MATH_COUNT] = {
#define TS_MATH(name, kind, narrow, ...) {TS_OP_fn, false, MATH_##narrow, MATH_##kind(name, NULL)},
#include "table/math.def"
};

/* ---- approximate forms for the GPU ----------------------------------------------------------------*/

static ts_val math_native(ts_math *m, ts_op op, ts_val x)
{
    return ts_op1(m->b, op, x, TS_APPROX);
}

static ts_val math_approx_exp(ts_math *m, ts_val x)
{
    return math_native(m, TS_OP_exp2, m_mul(m, x, m_c(m, 0x1.715476p+0)));
}

static ts_val math_approx_log(ts_math *m, ts_val x)
{
    return m_mul(m, math_native(m, TS_OP_log2, x), m_c(m, 0x1.62e43p-1));
}

static ts_val math_approx_tan(ts_math *m, ts_val x)
{
    return ts_op2(m->b, TS_OP_divf, math_native(m, TS_OP_sin, x), math_native(m, TS_OP_cos, x), TS_APPROX);
}

/* Positive x only, as everywhere with approximate pow. */
static ts_val math_approx_pow(ts_math *m, ts_val x, ts_val y)
{
    return math_native(m, TS_OP_exp2, m_mul(m, y, math_native(m, TS_OP_log2, x)));
}

/* ---- the walk -------------------------------------------------------------------------------------*/

typedef struct math_walk {
    ts_builder b;
    const ts_fn *from;
    const ts_pass_env *env; /* NULL: only `fn` is written */
    ts_val *map;
} math_walk;

static const math_row *math_find(const math_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    if (!(ts_info(inst)->flags & TS_WRITTEN))
        return NULL;
    if (inst->op == TS_OP_fn)
        return &math_fns[inst->aux];
    for (size_t i = 0; i < TS_COUNT(math_ops) && w->env; i++)
        if (math_ops[i].op == inst->op)
            return &math_ops[i];
    return NULL;
}

static bool math_is_fast(const math_walk *w)
{
    return w->env && w->env->hints && w->env->hints->fastmath;
}

static bool math_is_approx(const math_walk *w, const math_row *row, uint32_t attr)
{
    ts_round round = TS_A_ROUND(attr);
    bool flushes = row->op == TS_OP_exp2 && attr & TS_A_FTZ;
    return w->env && w->env->target != TS_TARGET_CPU &&
           (round == TS_APPROX || round == TS_FULL || flushes || math_is_fast(w));
}

/* Subnormals of an f32 value become zeros of their sign. */
static ts_val math_flush(ts_builder *b, ts_val x)
{
    return ts_op2(b, TS_OP_mulf, x, ts_float(b, ts_type_of(b->fn, x), 1), TS_A_FTZ);
}

/* Of what is rounded to f16, exp and exp2 beyond these are what they are at these, 0 and infinity; their results in f32
 * are normal, so that nothing is asked for. */
enum { MATH_HALF_LEAST = -26, MATH_HALF_MOST = 17 };

static bool math_is_limited(const math_row *row, ts_type elem)
{
    return elem == TS_T_f16 && (row->op == TS_OP_exp || row->op == TS_OP_exp2);
}

static ts_val math_limit(ts_builder *b, ts_val x)
{
    ts_type type = ts_type_of(b->fn, x);
    ts_val above = ts_op2(b, TS_OP_maxf, x, ts_float(b, type, MATH_HALF_LEAST), TS_A_NAN);
    return ts_op2(b, TS_OP_minf, above, ts_float(b, type, MATH_HALF_MOST), TS_A_NAN);
}

/* The function on f32 or f64 values, which stand for some of `elem`; y is 0 for one argument. */
static ts_val math_apply(math_walk *w, const math_row *row, ts_val x, ts_val y, uint32_t attr, ts_type elem)
{
    ts_math m;
    ts__math_init(&m, &w->b, x, true);
    m.near = math_is_limited(row, elem);
    if (!m.wide && math_is_approx(w, row, attr)) {
        if (row->native)
            return ts_op1(&w->b, (ts_op)row->op, x, TS_APPROX | (attr & TS_A_FTZ));
        if (row->fast_unary)
            return row->fast_unary(&m, x);
        if (row->fast_binary)
            return row->fast_binary(&m, x, y);
    }
    return row->unary ? row->unary(&m, x) : row->binary(&m, x, y);
}

/* The machine's approximate instructions flush by themselves; tanh cannot. */
static bool math_flushes(const math_walk *w, const math_row *row, uint32_t attr, ts_type elem)
{
    bool by_itself = row->native && row->op != TS_OP_tanh && math_is_approx(w, row, attr);
    return attr & TS_A_FTZ && elem == TS_T_f32 && !by_itself;
}

static ts_val math_rewrite(math_walk *w, const math_row *row, const ts_inst *inst)
{
    ts_builder *b = &w->b;
    ts_val x = w->map[ts_opnds(w->from, inst)[0]], y = row->binary ? w->map[ts_opnds(w->from, inst)[1]] : 0;
    ts_type elem = ts_type_elem(b->fn->module, ts_type_of(b->fn, x));
    uint32_t attr = ts__ops[inst->op].attr == TS_ATTR_ARITH ? inst->aux : 0;
    bool narrow = (elem == TS_T_f16 || elem == TS_T_bf16) && !row->own, flush = math_flushes(w, row, attr, elem);
    bool pair = y && !row->integer, keeps = ts_type_elem(b->fn->module, inst->type) == elem;
    if (narrow) {
        x = math_is_limited(row, elem) ? math_limit(b, x) : x;
        x = ts_cast(b, TS_OP_ftof, x, TS_T_f32, 0);
        y = pair ? ts_cast(b, TS_OP_ftof, y, TS_T_f32, 0) : y;
    }
    if (flush) {
        x = math_flush(b, x);
        y = pair ? math_flush(b, y) : y;
    }
    ts_val z = math_apply(w, row, x, y, attr, elem);
    if (flush)
        z = math_flush(b, z);
    return narrow && keeps ? ts_cast(b, TS_OP_ftof, z, elem, 0) : z;
}

/* What fastmath makes of arithmetic in f32 on a GPU, as attribute bits: division and square root are the machine's
 * quick ones, and what threads compute flushes subnormals. */
static uint32_t math_quick(const math_walk *w, const ts_inst *inst)
{
    static const uint8_t flushing[] = {TS_OP_addf, TS_OP_subf, TS_OP_mulf, TS_OP_fma,
                                       TS_OP_divf, TS_OP_sqrt, TS_OP_maxf, TS_OP_minf};
    if (!math_is_fast(w) || w->env->target == TS_TARGET_CPU || ts_type_elem(w->from->module, inst->type) != TS_T_f32)
        return 0;
    bool quick = (inst->op == TS_OP_divf || inst->op == TS_OP_sqrt) && TS_A_ROUND(inst->aux) == TS_RN;
    bool flushes = w->from->level == TS_LEVEL_S && memchr(flushing, (int)inst->op, sizeof flushing);
    return (quick ? (uint32_t)TS_APPROX : 0) | (flushes ? (uint32_t)TS_A_FTZ : 0);
}

static bool math_needed(const math_walk *w)
{
    for (ts_val v = 1; v < w->from->inst.n; v++)
        if (math_find(w, v) || math_quick(w, ts_at(w->from, v)))
            return true;
    return false;
}

bool ts__math_is_left(const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        bool approx = ts_info(inst)->attr == TS_ATTR_ARITH && inst->aux & TS_APPROX;
        if (ts_info(inst)->flags & TS_WRITTEN && !approx)
            return true;
    }
    return false;
}

/* The sine or cosine of the same value as `v`, which is the other one, before control flow; 0: there is none. */
static ts_val math_partner(const math_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    ts_op other = inst->op == TS_OP_sin ? TS_OP_cos : TS_OP_sin;
    for (ts_val u = v + 1; u < w->from->inst.n; u++) {
        const ts_inst *at = ts_at(w->from, u);
        if (at->op == TS_OP_end || ts_info(at)->flags & (TS_REGION | TS_TERM))
            return 0;
        if (at->op == other && at->opnd[0] == inst->opnd[0] && at->aux == inst->aux)
            return u;
    }
    return 0;
}

/* Sine and cosine of one value share the way of huge ones, which is longer than all the rest. */
static bool math_both(math_walk *w, const math_row *row, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    ts_type elem = ts_type_elem(w->from->module, inst->type);
    if ((inst->op != TS_OP_sin && inst->op != TS_OP_cos) || (elem != TS_T_f32 && elem != TS_T_f64) ||
        inst->aux & TS_A_FTZ || (elem == TS_T_f32 && math_is_approx(w, row, inst->aux)))
        return false;
    ts_val partner = math_partner(w, v), two[2];
    if (!partner)
        return false;
    ts_math m;
    ts__math_init(&m, &w->b, w->map[inst->opnd[0]], true);
    ts__math_sincos(&m, w->map[inst->opnd[0]], two);
    w->map[v] = two[inst->op == TS_OP_cos];
    w->map[partner] = two[inst->op != TS_OP_cos];
    return true;
}

static void math_one(math_walk *w, ts_val v)
{
    const ts_inst *inst = ts_at(w->from, v);
    const math_row *row = math_find(w, v);
    uint32_t quick = row ? 0 : math_quick(w, inst);
    ts_val x[3];
    w->b.loc = w->from->loc.at[v];
    for (uint32_t i = 0; quick && i < inst->n_opnd; i++)
        x[i] = w->map[inst->opnd[i]];
    if (row && (w->map[v] || math_both(w, row, v))) /* written already, with its partner */
        return;
    if (row)
        w->map[v] = math_rewrite(w, row, inst);
    else if (quick)
        w->map[v] = ts_emit(&w->b, (ts_op)inst->op, inst->type, inst->n_opnd, x, inst->aux | quick, 0);
    else
        ts__copy(&w->b, w->from, v, w->map);
}

/* The function with everything written; NULL when memory is out. */
static ts_fn *math_all(math_walk *w, ts_arena *scratch)
{
    w->map = TS_NEW_N(scratch, ts_val, w->from->inst.n);
    ts_fn *to = w->map ? ts__fn_create_like(w->from) : NULL;
    if (!to)
        return NULL;
    ts__builder_init(&w->b, to);
    w->b.fold = true;
    for (ts_val v = 1; v < w->from->inst.n; v++)
        math_one(w, v);
    return ts_builder_status(&w->b, NULL) == TS_OK ? to : NULL;
}

ts_status ts__pass_math(ts_fn *fn, ts_pass_env *env, ts_error *err)
{
    math_walk w = {.from = fn, .env = env};
    if (!math_needed(&w))
        return TS_OK;
    ts_fn *to = math_all(&w, env->scratch);
    if (!to)
        return ts_fail(err, TS_NOMEM, "out of memory while writing math functions");
    ts__fn_replace(fn, to);
    return TS_OK;
}

ts_status ts__math_expand(const ts_fn *fn, ts_arena *scratch, const ts_fn **out, ts_error *err)
{
    math_walk w = {.from = fn};
    *out = math_needed(&w) ? math_all(&w, scratch) : fn;
    return *out ? TS_OK : ts_fail(err, TS_NOMEM, "out of memory while writing math functions");
}
