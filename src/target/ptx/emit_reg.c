/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the PTX emitter. PTX has as many as one likes, so the question is not which value gets
 * one but which values share one: a loop-carried value and its successor, the results of an `if` and
 * what its regions yield, the accumulator a tensor-core instruction reads and the one it writes. A
 * shared register means no move, and in a wgmma pipeline a move would stop the pipe.
 *
 * Method: live ranges over instruction numbers (read at 2i, written at 2i + 1; a value used in a loop
 * that it enters from outside lives to the end of the loop), then union of copy-related values whose
 * ranges do not meet, the most important copies first. What stays different becomes a parallel move.
 * (Coalescing by live-range interference: Chaitin, 1982.)
 */
#include "target/ptx/emit.h"

/* ---- types ----------------------------------------------------------------------------------- */

const ts_reg_names ts__ptx_class_names[TS_RC_COUNT] = {
    [TS_RC_NONE] = {"", "", ""},        [TS_RC_P] = {"%p", "pred", "pred"}, [TS_RC_H] = {"%h", "b16", "b16"},
    [TS_RC_R] = {"%r", "b32", "b32"},   [TS_RC_RD] = {"%rd", "b64", "b64"}, [TS_RC_F] = {"%f", "f32", "b32"},
    [TS_RC_D] = {"%d", "f64", "b64"},
};
static const ts_ptx_type reg_types[] = {
    [TS_T_i1] = {TS_RC_P, 8, "pred", NULL, NULL, NULL},
    [TS_T_i8] = {TS_RC_H, 8, "b16", "s16", "u16", NULL},
    [TS_T_i16] = {TS_RC_H, 16, "b16", "s16", "u16", NULL},
    [TS_T_i32] = {TS_RC_R, 32, "b32", "s32", "u32", NULL},
    [TS_T_i64] = {TS_RC_RD, 64, "b64", "s64", "u64", NULL},
    [TS_T_f16] = {TS_RC_H, 16, "b16", NULL, NULL, "f16"},
    [TS_T_bf16] = {TS_RC_H, 16, "b16", NULL, NULL, "bf16"},
    [TS_T_f32] = {TS_RC_F, 32, "f32", NULL, NULL, "f32"},
    [TS_T_tf32] = {TS_RC_R, 32, "b32", NULL, NULL, NULL},
    [TS_T_f64] = {TS_RC_D, 64, "f64", NULL, NULL, "f64"},
    [TS_T_f8E4M3FN] = {TS_RC_H, 8, "b16", NULL, NULL, NULL},
    [TS_T_f8E5M2] = {TS_RC_H, 8, "b16", NULL, NULL, NULL},
    [TS_T_f8E8M0FNU] = {TS_RC_H, 8, "b16", NULL, NULL, NULL},
    [TS_T_f4E2M1FN] = {TS_RC_H, 8, "b16", NULL, NULL, NULL},
    [TS_T_i4] = {TS_RC_H, 8, "b16", "s16", "u16", NULL},
    [TS_T_f8E5M3FNU] = {TS_RC_H, 8, "b16", NULL, NULL, NULL},
};
static const ts_ptx_type reg_pointers[] = {
    [TS_GLOBAL] = {TS_RC_RD, 64, "b64", "s64", "u64", NULL},
    [TS_SHARED] = {TS_RC_R, 32, "b32", "s32", "u32", NULL},
    [TS_LOCAL] = {TS_RC_RD, 64, "b64", "s64", "u64", NULL},
};
static const ts_ptx_type reg_nothing = {TS_RC_NONE, 0, "b32", NULL, NULL, NULL};

const ts_ptx_type *ts__ptx_type(const ts_ptx *e, ts_type type)
{
    if (ts_type_is_scalar(type))
        return &reg_types[type];
    if (type > TS_T_token && ts_type_kind(e->fn->module, type) == TS_KIND_PTR)
        return &reg_pointers[ts_type_get(e->fn->module, type)->space];
    return &reg_nothing;
}

ts_reg_class ts__ptx_class(const ts_ptx *e, ts_type type)
{
    return (ts_reg_class)ts__ptx_type(e, type)->class;
}

bool ts__ptx_const(const ts_ptx *e, ts_val v, uint64_t *bits)
{
    if (!ts__const_bits(e->fn, v, bits))
        return false;
    uint32_t width = ts__ptx_type(e, ts__ptx_type_of(e, v))->bits;
    if (width < 64)
        *bits &= (UINT64_C(1) << width) - 1;
    return true;
}

/* ---- what shares a register by nature --------------------------------------------------------- */

/* `assume`, casts between pointers and integers, and bitcasts within a register class are names for
 * their operand. Constants keep their own type, because the text of an immediate depends on it. */
static bool reg_is_alias(const ts_ptx *e, const ts_inst *inst)
{
    switch ((int)inst->op) {
    case TS_OP_assume:
    case TS_OP_bitcast:
    case TS_OP_int_to_ptr:
    case TS_OP_ptr_to_int:
    case TS_OP_ptr_to_ptr:
        break;
    default:
        return false;
    }
    ts_val from = e->alias[inst->opnd[0]];
    if (ts_at(e->fn, from)->op == TS_OP_constant)
        return false;
    const ts_ptx_type *to = ts__ptx_type(e, inst->type), *of = ts__ptx_type(e, ts__ptx_type_of(e, from));
    return to->class == of->class && to->class != TS_RC_P;
}

static void reg_find_aliases(ts_ptx *e)
{
    for (uint32_t v = 0; v < e->fn->inst.n; v++) {
        const ts_inst *inst = ts_at(e->fn, v);
        e->alias[v] = v && reg_is_alias(e, inst) ? e->alias[inst->opnd[0]] : v;
    }
}

ts_val ts__ptx_base(const ts_ptx *e, ts_val pointer, int64_t *offset)
{
    *offset = 0;
    for (;;) {
        const ts_inst *inst = ts_at(e->fn, pointer = e->alias[pointer]);
        int64_t add;
        if (inst->op != TS_OP_ptr_add || !ts__const_as_int(e->fn, e->alias[inst->opnd[1]], &add))
            return pointer;
        if (add + *offset < INT32_MIN || add + *offset > INT32_MAX)
            return pointer;
        *offset += add;
        pointer = inst->opnd[0];
    }
}

ts_val ts__ptx_not(const ts_ptx *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    if (inst->op != TS_OP_xori || ts__ptx_class(e, inst->type) != TS_RC_R)
        return 0;
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t bits;
        if (ts__ptx_const(e, ts__ptx_opnd(e, v, i), &bits) && bits == UINT32_MAX)
            return ts__ptx_opnd(e, v, 1 - i);
    }
    return 0;
}

/* x where `v` is -x, that is 0 - x or x * -1 too, in 32 bits; otherwise 0. */
static ts_val reg_negated(const ts_ptx *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    int64_t by;
    if (inst->type != TS_T_i32)
        return 0;
    if (inst->op == TS_OP_negi)
        return ts__ptx_opnd(e, v, 0);
    if (inst->op == TS_OP_subi && ts__const_as_int(e->fn, ts__ptx_opnd(e, v, 0), &by) && by == 0)
        return ts__ptx_opnd(e, v, 1);
    if (inst->op == TS_OP_muli && ts__const_as_int(e->fn, ts__ptx_opnd(e, v, 1), &by) && by == -1)
        return ts__ptx_opnd(e, v, 0);
    return 0;
}

ts_val ts__ptx_read(const ts_ptx *e, ts_val user, uint32_t i)
{
    ts_val v = ts__ptx_opnd(e, user, i), x = 0;
    const ts_inst *inst = ts_at(e->fn, user);
    switch ((int)inst->op) {
    case TS_OP_andi:
    case TS_OP_ori:
    case TS_OP_xori:
        x = ts__ptx_not(e, user) ? 0 : ts__ptx_not(e, v);
        break;
    case TS_OP_maxi:
    case TS_OP_mini:
        x = i == 1 && !(inst->aux & TS_A_UNSIGNED) ? reg_negated(e, v) : 0;
        break;
    default:
        break;
    }
    return x ? x : v;
}

/* May the address in shared memory be that of another block? Not where it is seen to be the block's own. */
static bool reg_is_remote(const ts_ptx *e, ts_val from)
{
    for (;;) {
        const ts_inst *inst = ts_at(e->fn, from = e->alias[from]);
        if (inst->op == TS_OP_shared || inst->op == TS_OP_shared_alloc)
            return false;
        if (inst->op != TS_OP_ptr_add && inst->op != TS_OP_offset)
            return inst->op == TS_OP_mapa || ts__has_op(e->fn, TS_OP_mapa);
        from = inst->opnd[0];
    }
}

const char *ts__ptx_space(const ts_ptx *e, ts_val pointer)
{
    static const char *const names[] = {".global", ".shared", ".local"};
    static const char generic[8] = ""; /* other code calls with pointers to whatever it has */
    ts_type type = ts__ptx_type_of(e, pointer);
    uint8_t space = ts_type_is_scalar(type) ? TS_GLOBAL : ts_type_get(e->fn->module, type)->space;
    if (space == TS_GLOBAL && !e->fn->entry)
        return generic;
    return space == TS_SHARED && reg_is_remote(e, pointer) ? ".shared::cluster" : names[space];
}

uint32_t ts__ptx_n_res(const ts_ptx *e, ts_val opener)
{
    return ts__n_res(e->fn, ts__ptx_res(e, opener, 0) - 1);
}

/* ---- live ranges -------------------------------------------------------------------------------- */

typedef struct reg_range {
    uint32_t from, to;
} reg_range;
typedef struct reg_web { /* disjoint ranges in order, of all values that share the register */
    reg_range *at;
    uint32_t n;
} reg_web;
typedef struct reg_state {
    ts_ptx *e;
    uint32_t *last;  /* time of the last read of each value */
    uint32_t *parent; /* union-find over values */
    reg_web *web;
} reg_state;

/* `value` is read at time `when` by instruction `at`; loops around it that do not contain the
 * definition will read it again. */
static void reg_read(reg_state *s, ts_val value, ts_val at, uint32_t when)
{
    const ts_ptx *e = s->e;
    for (ts_val p = e->shape.parent[at]; p > value; p = e->shape.parent[p])
        if (ts__is_loop(ts_at(e->fn, p)->op))
            when = TS_MAX(when, 2 * e->shape.end[p]);
    s->last[value] = TS_MAX(s->last[value], when);
}

static bool reg_imm_allowed(const ts_ptx *e, const ts_ptx_row *row, uint32_t i, ts_type type)
{
    const ts_ptx_type *t = ts__ptx_type(e, type);
    bool half = t->class == TS_RC_P || (t->class == TS_RC_H && !t->s) || type == TS_T_tf32;
    return (row->imm >> TS_MIN(i, 29) & 1) && (!half || row->imm & TS_IMM_HALF);
}

static void reg_use(reg_state *s, ts_val user, uint32_t i, uint32_t when)
{
    ts_ptx *e = s->e;
    const ts_inst *inst = ts_at(e->fn, user);
    const ts_ptx_row *row = &ts__ptx_rows[inst->op];
    ts_val v = ts__ptx_read(e, user, i);
    uint64_t bits;
    int64_t offset;
    if (ts__const_bits(e->fn, v, &bits) && reg_imm_allowed(e, row, i, ts__ptx_type_of(e, v)))
        return;
    if (i < 32 && row->address >> i & 1) {
        v = ts__ptx_base(e, v, &offset);
        if (ts_at(e->fn, v)->op == TS_OP_shared)
            return;
    }
    e->need[v] = 1;
    reg_read(s, v, user, when);
}

/* Reads of an instruction that is emitted. A `yield` or `break` reads only what somebody wants. */
static void reg_uses(reg_state *s, ts_val v)
{
    ts_ptx *e = s->e;
    const ts_inst *inst = ts_at(e->fn, v);
    ts_val opener = e->shape.parent[v];
    if (inst->op == TS_OP_break)
        while (opener && !ts__is_loop(ts_at(e->fn, opener)->op))
            opener = e->shape.parent[opener];
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        if ((inst->op == TS_OP_yield || inst->op == TS_OP_break) &&
            !e->need[ts__ptx_res(e, opener, i)])
            continue;
        bool at_latch = inst->op == TS_OP_for && (i == 1 || i == 2);
        reg_use(s, v, i, at_latch ? 2 * e->shape.end[v] : 2 * v);
    }
    if (inst->op == TS_OP_for) /* the latch adds to the counter, whoever else reads it */
        s->last[v + 1] = TS_MAX(s->last[v + 1], 2 * e->shape.end[v]);
}

static bool reg_is_kept(const ts_ptx *e, ts_val v, const ts_inst *inst)
{
    uint16_t flags = ts_info(inst)->flags;
    if (inst->op == TS_OP_cold)
        return true;
    if (flags & (TS_REGION | TS_TERM) || inst->op == TS_OP_arg)
        return true;
    return !(flags & TS_PURE) || e->need[v];
}

/* From the last instruction to the first: what is emitted, and until when each value is read. */
static void reg_liveness(reg_state *s)
{
    ts_ptx *e = s->e;
    for (uint32_t v = e->fn->inst.n; v-- > 1;) {
        const ts_inst *inst = ts_at(e->fn, v);
        if (inst->op == TS_OP_res) {
            if (e->need[v])
                e->need[inst->opnd[0]] = 1;
            continue;
        }
        if (e->alias[v] != v || !reg_is_kept(e, v, inst))
            continue;
        e->need[v] = 1;
        if (!(ts_info(inst)->flags & TS_REGION) && ts_info(inst)->n_result == TS_N)
            for (uint32_t i = 0, n = ts__ptx_n_res(e, v); i < n; i++)
                e->need[v + 1 + i] = 1;
        reg_uses(s, v);
    }
}

/* When the register of `v` is first written. */
static uint32_t reg_born(const ts_ptx *e, ts_val v)
{
    const ts_inst *inst = ts_at(e->fn, v);
    if (inst->op == TS_OP_arg)
        return 2 * e->shape.parent[v] + 1;
    if (inst->op != TS_OP_res)
        return 2 * v + 1;
    ts_val opener = inst->opnd[0];
    bool region = ts_info(ts_at(e->fn, opener))->flags & TS_REGION;
    if (region && ts_at(e->fn, opener)->op != TS_OP_cold)
        return 2 * e->shape.end[opener] + 1;
    return 2 * opener + 1;
}

/* ---- sharing ------------------------------------------------------------------------------------ */

static uint32_t reg_find(reg_state *s, uint32_t v)
{
    while (s->parent[v] != v)
        v = s->parent[v] = s->parent[s->parent[v]];
    return v;
}

static bool reg_meet(const reg_web *a, const reg_web *b)
{
    uint32_t i = 0, j = 0;
    while (i < a->n && j < b->n) {
        if (a->at[i].to < b->at[j].from)
            i++;
        else if (b->at[j].to < a->at[i].from)
            j++;
        else
            return true;
    }
    return false;
}

static bool reg_union(reg_state *s, reg_web *a, const reg_web *b)
{
    reg_range *both = TS_NEW_N(&s->e->arena, reg_range, a->n + b->n);
    uint32_t i = 0, j = 0, n = 0;
    if (!both)
        return false;
    while (i < a->n || j < b->n) {
        bool first = j == b->n || (i < a->n && a->at[i].from < b->at[j].from);
        both[n++] = first ? a->at[i++] : b->at[j++];
        if (n > 1 && both[n - 2].to + 1 >= both[n - 1].from) { /* touching: one range */
            both[n - 2].to = both[n - 1].to;
            n--;
        }
    }
    a->at = both;
    a->n = n;
    return true;
}

/* Lets `copy` and `of` share a register when no instruction needs both. */
static void reg_share(reg_state *s, ts_val copy, ts_val of)
{
    ts_ptx *e = s->e;
    of = e->alias[of];
    if (!e->need[copy] || !e->need[of] || ts_at(e->fn, of)->op == TS_OP_constant)
        return;
    if (ts__ptx_class(e, ts__ptx_type_of(e, copy)) != ts__ptx_class(e, ts__ptx_type_of(e, of)))
        return;
    uint32_t a = reg_find(s, copy), b = reg_find(s, of);
    if (a == b || reg_meet(&s->web[a], &s->web[b]) || !reg_union(s, &s->web[a], &s->web[b]))
        return;
    s->parent[b] = a;
}

/* Accumulators of mma_sync and wgmma: operand position of the first one. */
static uint32_t reg_accumulators(const ts_inst *inst, uint32_t *n)
{
    static const uint8_t ab[] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm) (ra) + (rb),
#include "tessera/mma.def"
    };
    if (inst->op == TS_OP_wgmma) {
        uint32_t a = TS_MMA_FLAGS(inst->aux) & TS_MMA_A_REGS ? 4 : 1;
        *n = inst->n_opnd - a - 2;
        return 0;
    }
    *n = inst->n_opnd - ab[TS_MMA_ROW(inst->aux)];
    return ab[TS_MMA_ROW(inst->aux)];
}

static void reg_share_accumulators(reg_state *s, ts_val v, const ts_inst *inst)
{
    uint32_t n, first = reg_accumulators(inst, &n);
    for (uint32_t i = 0; i < n; i++)
        reg_share(s, v + 1 + i, ts_opnds(s->e->fn, inst)[first + i]);
}

static ts_val reg_loop_of(const ts_ptx *e, ts_val v)
{
    ts_val p = e->shape.parent[v];
    while (p && !ts__is_loop(ts_at(e->fn, p)->op))
        p = e->shape.parent[p];
    return p;
}

static void reg_share_continue(reg_state *s, ts_val v, const ts_inst *inst)
{
    ts_val loop = reg_loop_of(s->e, v);
    uint32_t first = ts_at(s->e->fn, loop)->op == TS_OP_for;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        reg_share(s, loop + 1 + first + i, ts_opnds(s->e->fn, inst)[i]);
}

static void reg_share_opener(reg_state *s, ts_val v, const ts_inst *inst)
{
    const uint32_t *opnds = ts_opnds(s->e->fn, inst);
    uint32_t n_res = ts__ptx_n_res(s->e, v);
    if (inst->op == TS_OP_for) {
        for (uint32_t i = 0; i + 3 < inst->n_opnd; i++)
            reg_share(s, v + 2 + i, opnds[3 + i]);
        for (uint32_t i = 0; i < n_res; i++)
            reg_share(s, ts__ptx_res(s->e, v, i), v + 2 + i);
        reg_share(s, v + 1, opnds[0]);
    }
    if (inst->op == TS_OP_loop)
        for (uint32_t i = 0; i < inst->n_opnd; i++)
            reg_share(s, v + 1 + i, opnds[i]);
    if (inst->op == TS_OP_cold)
        for (uint32_t i = 0; i < n_res; i++)
            reg_share(s, ts__ptx_res(s->e, v, i), opnds[1 + i]);
}

static void reg_share_result(reg_state *s, ts_val v, const ts_inst *inst)
{
    ts_val opener = inst->op == TS_OP_break ? reg_loop_of(s->e, v) : s->e->shape.parent[v];
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        reg_share(s, ts__ptx_res(s->e, opener, i), ts_opnds(s->e->fn, inst)[i]);
}

/* Most important copies first: tensor-core accumulators, loop back edges, loop entries, results. */
static void reg_coalesce(reg_state *s)
{
    const ts_fn *fn = s->e->fn;
    for (int round = 0; round < 4; round++)
        for (uint32_t v = 1; v < fn->inst.n; v++) {
            const ts_inst *inst = ts_at(fn, v);
            if (!s->e->need[v])
                continue;
            if (round == 0 && (inst->op == TS_OP_mma_sync || inst->op == TS_OP_wgmma))
                reg_share_accumulators(s, v, inst);
            if (round == 1 && inst->op == TS_OP_continue)
                reg_share_continue(s, v, inst);
            if (round == 2 && ts_info(inst)->flags & TS_REGION)
                reg_share_opener(s, v, inst);
            if (round == 3 && (inst->op == TS_OP_yield || inst->op == TS_OP_break))
                reg_share_result(s, v, inst);
        }
}

static bool reg_webs(reg_state *s)
{
    ts_ptx *e = s->e;
    uint32_t n = e->fn->inst.n;
    reg_range *ranges = TS_NEW_N(&e->arena, reg_range, n);
    if (!ranges)
        return false;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t born = v ? reg_born(e, v) : 0;
        s->parent[v] = v;
        ranges[v] = (reg_range){born, TS_MAX(born, s->last[v])};
        s->web[v] = (reg_web){&ranges[v], 1};
    }
    return true;
}

static void reg_number(reg_state *s)
{
    ts_ptx *e = s->e;
    for (uint32_t v = 1; v < e->fn->inst.n; v++) {
        ts_reg_class class = ts__ptx_class(e, ts__ptx_type_of(e, v));
        if (!e->need[v] || e->alias[v] != v || class == TS_RC_NONE)
            continue;
        uint32_t web = reg_find(s, v);
        if (!e->reg[web])
            e->reg[web] = ts__ptx_temp(e, class);
        e->reg[v] = e->reg[web];
    }
}

bool ts__ptx_assign(ts_ptx *e)
{
    uint32_t n = e->fn->inst.n;
    reg_state s = {.e = e};
    e->alias = TS_NEW_N(&e->arena, uint32_t, n);
    e->need = TS_NEW_N(&e->arena, uint8_t, n);
    e->reg = TS_NEW_N(&e->arena, ts_reg, n);
    s.last = TS_NEW_N(&e->arena, uint32_t, n);
    s.parent = TS_NEW_N(&e->arena, uint32_t, n);
    s.web = TS_NEW_N(&e->arena, reg_web, n);
    if (!e->alias || !e->need || !e->reg || !s.last || !s.parent || !s.web)
        return false;
    reg_find_aliases(e);
    reg_liveness(&s);
    if (!reg_webs(&s))
        return false;
    reg_coalesce(&s);
    reg_number(&s);
    return !e->arena.failed;
}

/* ---- moves --------------------------------------------------------------------------------------- */

/* What loads a register is a line of its own: not in the middle of another. */
static bool reg_at_line(const ts_ptx *e)
{
    return e->text.failed || e->text.n == 0 || ts__text_get(&e->text)[e->text.n - 1] == '\n';
}

ts_reg ts__ptx_in_reg(ts_ptx *e, ts_val v)
{
    v = e->alias[v];
    if (e->reg[v])
        return e->reg[v];
    ts_assert(reg_at_line(e));
    ts_reg temp = ts__ptx_temp(e, ts__ptx_class(e, ts__ptx_type_of(e, v)));
    if (ts_at(e->fn, v)->op == TS_OP_shared) { /* otherwise folded into addresses */
        e->uses_shared = true;
        PUT("mov.u32 $r, smem+$i;\n", temp, (int)ts_at(e->fn, v)->aux);
    } else
        ts__ptx_move(e, temp, v);
    return temp;
}

static const char *reg_move_type(ts_reg reg)
{
    return ts__ptx_class_names[TS_REG_CLASS(reg)].type;
}

void ts__ptx_move(ts_ptx *e, ts_reg dst, ts_val src)
{
    src = e->alias[src];
    if (e->reg[src] != dst)
        PUT("mov.$s $r, $v;\n", reg_move_type(dst), dst, src);
}

/* One register move of a parallel set. */
typedef struct reg_move {
    ts_reg dst, src;
} reg_move;

/* Emits every move whose target nobody still reads; gives how many remain. */
static uint32_t reg_free_moves(ts_ptx *e, reg_move *m, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool read = false;
        for (uint32_t j = 0; j < n && !read; j++)
            read = j != i && m[j].dst && m[j].src == m[i].dst;
        if (read) {
            left++;
            continue;
        }
        PUT("mov.$s $r, $r;\n", reg_move_type(m[i].dst), m[i].dst, m[i].src);
        m[i].dst = 0;
    }
    for (uint32_t i = 0, k = 0; i < n; i++)
        if (m[i].dst)
            m[k++] = m[i];
    return left;
}

/* All remaining moves lie on cycles: one register is saved, and its readers read the copy. */
static void reg_break_cycle(ts_ptx *e, reg_move *m, uint32_t n)
{
    ts_reg saved = m[0].dst, temp = ts__ptx_temp(e, TS_REG_CLASS(saved));
    PUT("mov.$s $r, $r;\n", reg_move_type(saved), temp, saved);
    for (uint32_t i = 0; i < n; i++)
        if (m[i].src == saved)
            m[i].src = temp;
}

void ts__ptx_moves(ts_ptx *e, uint32_t n, const ts_val *dst, const ts_val *src)
{
    ts_arena_mark mark = ts__arena_at(&e->arena);
    reg_move *m = TS_NEW_N(&e->arena, reg_move, n + 1);
    uint32_t left = 0;
    for (uint32_t i = 0; m && i < n; i++) {
        ts_reg from = e->reg[e->alias[src[i]]], to = e->reg[dst[i]];
        if (to && from && to != from)
            m[left++] = (reg_move){to, from};
    }
    while (left) {
        uint32_t before = left;
        left = reg_free_moves(e, m, left);
        if (left == before)
            reg_break_cycle(e, m, left);
    }
    for (uint32_t i = 0; i < n; i++)
        if (e->reg[dst[i]] && !e->reg[e->alias[src[i]]])
            ts__ptx_move(e, e->reg[dst[i]], src[i]);
    ts__arena_rewind(&e->arena, mark);
}
