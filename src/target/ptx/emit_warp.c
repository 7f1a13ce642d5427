/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX emitter: what threads do together. Special registers, shuffles and votes, barriers and fences,
 * matrix fragments and tensor cores, register reallocation, printf.
 */
#include "target/ptx/emit.h"
#include <stdio.h>

/* ---- special registers ---------------------------------------------------------------------------- */

static const char *const warp_sregs[] = {
    [TS_SREG_TID] = "tid.x", [TS_SREG_TID_Y] = "tid.y", [TS_SREG_TID_Z] = "tid.z",
    [TS_SREG_CTAID] = "ctaid.x", [TS_SREG_CTAID_Y] = "ctaid.y", [TS_SREG_CTAID_Z] = "ctaid.z",
    [TS_SREG_NCTAID] = "nctaid.x", [TS_SREG_NCTAID_Y] = "nctaid.y", [TS_SREG_NCTAID_Z] = "nctaid.z",
    [TS_SREG_NTID] = "ntid.x", [TS_SREG_NTID_Y] = "ntid.y", [TS_SREG_NTID_Z] = "ntid.z",
    [TS_SREG_LANEID] = "laneid", [TS_SREG_WARPID] = "tid.x", [TS_SREG_SMID] = "smid",
    [TS_SREG_CLUSTER_RANK] = "cluster_ctarank", [TS_SREG_CLUSTER_ID] = "clusterid.x",
    [TS_SREG_NCLUSTER] = "nclusterid.x", [TS_SREG_CLOCK64] = "clock64", [TS_SREG_LANEMASK_LT] = "lanemask_lt",
    [TS_SREG_SHARED_BYTES] = "dynamic_smem_size", [TS_SREG_CLUSTER_SIZE] = "cluster_nctarank",
};

/* Of a block whose shape the launch decides; threads are counted x fastest. Without the broadcast below: the lanes of a
 * kernel of threads may be on different ways. */
static void warp_number(ts_ptx *e, ts_val v)
{
    ts_reg thread = ts__ptx_temp(e, TS_RC_R), axis = ts__ptx_temp(e, TS_RC_R), n = ts__ptx_temp(e, TS_RC_R);
    PUT("mov.u32 $r, %tid.z;\nmov.u32 $r, %ntid.y;\nmov.u32 $r, %tid.y;\n", thread, n, axis);
    PUT("mad.lo.u32 $r, $r, $r, $r;\n", thread, thread, n, axis);
    PUT("mov.u32 $r, %ntid.x;\nmov.u32 $r, %tid.x;\n", n, axis);
    PUT("mad.lo.u32 $r, $r, $r, $r;\nshr.u32 $v, $r, 5;\n", thread, thread, n, axis, v, thread);
}

void ts__emit_sreg(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    uint32_t kind = TS_S_KIND(inst->aux);
    if (kind >= TS_COUNT(warp_sregs)) {
        ts__ptx_fail(e, TS_VERIFY, "sreg %u does not exist", kind);
        return;
    }
    bool cluster = kind == TS_SREG_CLUSTER_RANK || kind == TS_SREG_CLUSTER_ID || kind == TS_SREG_NCLUSTER ||
                   kind == TS_SREG_CLUSTER_SIZE;
    if (cluster && !ts__ptx_need_sm(e, 90, "a cluster register"))
        return;
    ts__ptx_need(e, cluster ? 78 : 0);
    if (kind == TS_SREG_WARPID && e->plan->thread_kernel)
        warp_number(e, v);
    else if (kind == TS_SREG_WARPID) { /* the broadcast tells ptxas that it is the same in the whole warp */
        ts_reg tid = ts__ptx_temp(e, TS_RC_R), warp = ts__ptx_temp(e, TS_RC_R);
        PUT("mov.u32 $r, %tid.x;\nshr.u32 $r, $r, 5;\n", tid, warp, tid);
        PUT("shfl.sync.idx.b32 $v, $r, 0, 0x1f, 0xffffffff;\n", v, warp);
    } else if (kind == TS_SREG_SHARED_BYTES && e->plan->shared_bytes) { /* the GPU counts the static part, too */
        ts_reg bytes = ts__ptx_temp(e, TS_RC_R);
        PUT("mov.u32 $r, %dynamic_smem_size;\nsub.s32 $v, $r, $i;\n", bytes, v, bytes, (int)e->plan->shared_bytes);
    } else
        PUT("mov.u$s $v, %$s;\n", kind == TS_SREG_CLOCK64 ? "64" : "32", v, warp_sregs[kind]);
}

/* ---- shuffles and votes ------------------------------------------------------------------------------ */

/* The lanes that take part, operand i, or all: the end of the instruction. */
static void warp_lanes(ts_ptx *e, const ts_inst *inst, uint32_t i)
{
    if (inst->n_opnd > i)
        PUT(" $v;\n", inst->opnd[i]);
    else
        PUT(" 0xffffffff;\n");
}

static void warp_shfl32(ts_ptx *e, const ts_inst *inst, ts_reg out, ts_reg in)
{
    static const char *const modes[] = {"idx", "up", "down", "bfly"};
    PUT("shfl.sync.$s.b32 $r, $r, $v, $i,", modes[TS_S_KIND(inst->aux) & 3], out, in, inst->opnd[1],
        (int)TS_S_NUMBER(inst->aux));
    warp_lanes(e, inst, 2);
}

/* 64 bits travel as two words, narrow values in one. */
void ts__emit_shfl(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg in = ts__ptx_in_reg(e, inst->opnd[0]);
    ts_reg a = ts__ptx_temp(e, TS_RC_R), b = ts__ptx_temp(e, TS_RC_R);
    switch (ts__ptx_class(e, inst->type)) {
    case TS_RC_P:
        PUT("selp.u32 $r, 1, 0, $r;\n", a, in);
        warp_shfl32(e, inst, b, a);
        PUT("setp.ne.u32 $v, $r, 0;\n", v, b);
        break;
    case TS_RC_H:
        PUT("cvt.u32.u16 $r, $r;\n", a, in);
        warp_shfl32(e, inst, b, a);
        PUT("cvt.u16.u32 $v, $r;\n", v, b);
        break;
    case TS_RC_RD:
    case TS_RC_D:
        PUT("mov.b64 {$r, $r}, $r;\n", a, b, in);
        warp_shfl32(e, inst, a, a);
        warp_shfl32(e, inst, b, b);
        PUT("mov.b64 $v, {$r, $r};\n", v, a, b);
        break;
    default:
        warp_shfl32(e, inst, e->reg[v], in);
    }
}

void ts__emit_vote(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    static const char *const forms[] = {"any.pred", "all.pred", "ballot.b32"};
    if (TS_S_KIND(inst->aux) == TS_VOTE_ACTIVE) {
        PUT("activemask.b32 $v;\n", v);
        return;
    }
    PUT("vote.sync.$s $v, $r,", forms[TS_MIN(TS_S_KIND(inst->aux), 2u)], v, ts__ptx_in_reg(e, inst->opnd[0]));
    warp_lanes(e, inst, 1);
}

void ts__emit_redux(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    static const char *const forms[] = {[TS_RMW_AND] = "and.b32", [TS_RMW_OR] = "or.b32", [TS_RMW_XOR] = "xor.b32",
        [TS_RMW_ADD] = "add.s32", [TS_RMW_MAX] = "max.s32", [TS_RMW_MIN] = "min.s32",
        [TS_RMW_UMAX] = "max.u32", [TS_RMW_UMIN] = "min.u32"};
    uint32_t kind = TS_S_KIND(inst->aux);
    if (kind >= TS_COUNT(forms) || !forms[kind]) {
        ts__ptx_fail(e, TS_VERIFY, "redux has no mode %u", kind);
        return;
    }
    PUT("redux.sync.$s $v, $r, 0xffffffff;\n", forms[kind], v, ts__ptx_in_reg(e, inst->opnd[0]));
}

void ts__emit_match(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    bool wide = ts__ptx_type(e, ts_type_of(e->fn, inst->opnd[0]))->bits == 64;
    PUT("match.any.sync.$s $v, $r,", wide ? "b64" : "b32", v, ts__ptx_in_reg(e, inst->opnd[0]));
    warp_lanes(e, inst, 1);
}

void ts__emit_elect(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)inst;
    if (e->sm->number >= 90) {
        ts__ptx_need(e, 80);
        PUT("elect.sync _|$v, 0xffffffff;\n", v);
        return;
    }
    ts_reg lane = ts__ptx_temp(e, TS_RC_R);
    PUT("mov.u32 $r, %laneid;\nsetp.eq.u32 $v, $r, 0;\n", lane, v, lane);
}

/* ---- barriers, fences, waits ---------------------------------------------------------------------------- */

void ts__emit_bar(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    int threads = (int)TS_S_NUMBER(inst->aux);
    (void)v;
    if (inst->n_opnd)
        PUT("$s $v", ts_info(inst)->ptx, inst->opnd[0]);
    else
        PUT("$s $i", ts_info(inst)->ptx, (int)TS_S_KIND(inst->aux));
    if (threads)
        PUT(", $i", threads);
    PUT(";\n");
}

/* Operations that are one fixed line. */
void ts__emit_plain(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("$s;\n", ts_info(inst)->ptx);
}

void ts__emit_warp_sync(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("$s", ts_info(inst)->ptx);
    warp_lanes(e, inst, 0);
}

void ts__emit_cluster_arrive(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("$s$s;\n", ts_info(inst)->ptx, TS_S_KIND(inst->aux) ? ".relaxed" : "");
}

void ts__emit_fence(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    static const struct {
        const char *text;
        uint16_t sm, version;
    } rows[] = {
        [TS_FENCE_CTA] = {"fence.acq_rel.cta", 80, 0},
        [TS_FENCE_GPU] = {"fence.acq_rel.gpu", 80, 0},
        [TS_FENCE_SYS] = {"fence.acq_rel.sys", 80, 0},
        [TS_FENCE_PROXY_ASYNC] = {"fence.proxy.async.shared::cta", 90, 80},
        [TS_FENCE_MBAR_INIT] = {"fence.mbarrier_init.release.cluster", 90, 80},
    };
    uint32_t kind = TS_MIN(TS_S_KIND(inst->aux), (uint32_t)TS_FENCE_MBAR_INIT);
    (void)v;
    if (!ts__ptx_need_sm(e, rows[kind].sm, rows[kind].text))
        return;
    ts__ptx_need(e, rows[kind].version);
    PUT("$s;\n", rows[kind].text);
}

void ts__emit_wait(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("$s $i;\n", ts_info(inst)->ptx, (int)TS_S_NUMBER(inst->aux));
}

void ts__emit_nanosleep(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    if (inst->n_opnd)
        PUT("nanosleep.u32 $r;\n", ts__ptx_in_reg(e, inst->opnd[0]));
    else
        PUT("nanosleep.u32 $i;\n", (int)TS_S_NUMBER(inst->aux));
}

void ts__emit_setmaxnreg(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    int n = (int)TS_S_NUMBER(inst->aux);
    (void)v;
    e->uses_setmaxnreg = true;
    if (n < 24 || n > 256 || n % 8)
        ts__ptx_fail(e, TS_VERIFY, "setmaxnreg %d: multiples of 8 from 24 to 256", n);
    PUT("setmaxnreg.$s.sync.aligned.u32 $i;\n", TS_S_EXTRA(inst->aux) & 1 ? "inc" : "dec", n);
}

/* ---- matrix fragments -------------------------------------------------------------------------------------- */

static void warp_values(ts_ptx *e, ts_val first, uint32_t n)
{
    PUT("{");
    for (uint32_t i = 0; i < n; i++)
        PUT(i ? ", $v" : "$v", first + i);
    PUT("}");
}

static void warp_regs(ts_ptx *e, const ts_val *values, uint32_t n, ts_reg *regs)
{
    for (uint32_t i = 0; i < n; i++)
        regs[i] = ts__ptx_in_reg(e, values[i]);
}

void ts__emit_ldmatrix(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    uint32_t n = TS_S_NUMBER(inst->aux);
    bool trans = TS_S_EXTRA(inst->aux) & 1;
    if ((n != 1 && n != 2 && n != 4) || ts__ptx_n_res(e, v) != n) {
        ts__ptx_fail(e, TS_VERIFY, "ldmatrix loads 1, 2 or 4 matrices, not %u", n);
        return;
    }
    PUT("ldmatrix.sync.aligned.m8n8.x$i$s.shared.b16 ", (int)n, trans ? ".trans" : "");
    warp_values(e, v + 1, n);
    PUT(", $a;\n", ts_opnds(e->fn, inst)[0]);
}

void ts__emit_stmatrix(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    uint32_t n = TS_S_NUMBER(inst->aux);
    const ts_val *opnds = ts_opnds(e->fn, inst);
    ts_reg regs[4];
    (void)v;
    if ((n != 1 && n != 2 && n != 4) || inst->n_opnd != n + 1) {
        ts__ptx_fail(e, TS_VERIFY, "stmatrix stores 1, 2 or 4 matrices, not %u", n);
        return;
    }
    warp_regs(e, opnds + 1, n, regs);
    PUT("stmatrix.sync.aligned.m8n8.x$i$s.shared.b16 $a, ", (int)n, TS_S_EXTRA(inst->aux) & 1 ? ".trans" : "",
        opnds[0]);
    ts__ptx_list(e, regs, n);
    PUT(";\n");
}

/* ---- tensor cores --------------------------------------------------------------------------------------------- */

typedef struct warp_mma {
    uint16_t m, n, k;
    uint8_t a, b, c, ra, rb, rc, sm;
} warp_mma;
static const warp_mma warp_mmas[] = {
#define TS_MMA(name, m, n, k, a, b, c, ra, rb, rc, sm)                                              \
    {(m), (n), (k), TS_T_##a, TS_T_##b, TS_T_##c, (ra), (rb), (rc), (sm)},
#include "tessera/mma.def"
};

static const char *warp_mma_type(ts_type type, bool is_unsigned)
{
    static const char *const names[] = {[TS_T_f16] = "f16", [TS_T_bf16] = "bf16", [TS_T_f32] = "f32",
        [TS_T_tf32] = "tf32", [TS_T_f64] = "f64", [TS_T_i8] = "s8", [TS_T_i32] = "s32",
        [TS_T_f8E4M3FN] = "e4m3", [TS_T_f8E5M2] = "e5m2"};
    return type == TS_T_i8 && is_unsigned ? "u8" : names[type];
}

/* Operands of tensor cores are bits: an f32 that carries tf32 goes through a 32-bit register. */
static ts_reg warp_bits(ts_ptx *e, ts_val v)
{
    ts_reg x = ts__ptx_in_reg(e, v);
    if (TS_REG_CLASS(x) != TS_RC_F)
        return x;
    ts_reg bits = ts__ptx_temp(e, TS_RC_R);
    PUT("mov.b32 $r, $r;\n", bits, x);
    return bits;
}

/* The accumulators are read and written in place: what did not get the result's register moves there. */
static void warp_move_accumulators(ts_ptx *e, ts_val v, const ts_val *from, uint32_t n)
{
    ts_arena_mark mark = ts__arena_at(&e->arena);
    ts_val *dst = TS_NEW_N(&e->arena, ts_val, n + 1);
    for (uint32_t i = 0; dst && i < n; i++)
        dst[i] = v + 1 + i;
    if (dst)
        ts__ptx_moves(e, n, dst, from);
    ts__arena_rewind(&e->arena, mark);
}

void ts__emit_mma_sync(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const warp_mma *row = &warp_mmas[TS_MMA_ROW(inst->aux)];
    const ts_val *opnds = ts_opnds(e->fn, inst);
    uint32_t flags = TS_MMA_FLAGS(inst->aux);
    ts_reg a[4], b[4];
    const char *ta = warp_mma_type(row->a, flags & TS_MMA_U_A), *tb = warp_mma_type(row->b, flags & TS_MMA_U_B);
    const char *tc = warp_mma_type(row->c, false);
    if (inst->n_opnd != row->ra + row->rb + row->rc || ts__ptx_n_res(e, v) != row->rc) {
        ts__ptx_fail(e, TS_VERIFY, "mma_sync: %u operands and %u results wanted", row->ra + row->rb + row->rc, row->rc);
        return;
    }
    if (!ts__ptx_need_sm(e, row->sm, "this mma shape"))
        return;
    ts__ptx_need(e, row->sm == 89 ? 84 : 70);
    for (uint32_t i = 0; i < row->ra; i++)
        a[i] = warp_bits(e, opnds[i]);
    for (uint32_t i = 0; i < row->rb; i++)
        b[i] = warp_bits(e, opnds[row->ra + i]);
    warp_move_accumulators(e, v, opnds + row->ra + row->rb, row->rc);
    PUT("mma.sync.aligned.m$in$ik$i.row.col.$s.$s.$s.$s ", row->m, row->n, row->k, tc, ta, tb, tc);
    warp_values(e, v + 1, row->rc);
    PUT(", ");
    ts__ptx_list(e, a, row->ra);
    PUT(", ");
    ts__ptx_list(e, b, row->rb);
    PUT(", ");
    warp_values(e, v + 1, row->rc);
    PUT(";\n");
}

static bool warp_need_wgmma(ts_ptx *e)
{
    if (e->sm->number == 90)
        return true;
    ts__ptx_fail(e, TS_UNSUPPORTED, "wgmma exists on sm_90a only, the target is %s", e->sm->name);
    return false;
}

void ts__emit_wgmma_plain(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    if (warp_need_wgmma(e))
        PUT("$s.sync.aligned;\n", inst->op == TS_OP_wgmma_fence ? "wgmma.fence" : "wgmma.commit_group");
}

void ts__emit_wgmma_wait(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    if (warp_need_wgmma(e))
        PUT("wgmma.wait_group.sync.aligned $i;\n", (int)TS_S_NUMBER(inst->aux));
}

/* Whether the accumulators count: an immediate when known, else a predicate. */
static void warp_scale_d(ts_ptx *e, ts_val scale)
{
    uint64_t bits;
    if (ts__ptx_const(e, e->alias[scale], &bits))
        PUT(", $i", (int)(bits & 1));
    else
        PUT(", $r", ts__ptx_in_reg(e, scale));
}

/* What follows scale-d depends on the type: signs, then transpositions for 16-bit operands. */
static void warp_wgmma_tail(ts_ptx *e, const warp_mma *row, uint32_t flags)
{
    bool half = row->a == TS_T_f16 || row->a == TS_T_bf16;
    if (row->a != TS_T_i8)
        PUT(", 1, 1");
    if (half && !(flags & TS_MMA_A_REGS))
        PUT(", $i", flags & TS_MMA_TRANS_A ? 1 : 0);
    if (half)
        PUT(", $i", flags & TS_MMA_TRANS_B ? 1 : 0);
    PUT(";\n");
}

void ts__emit_wgmma(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const warp_mma *row = &warp_mmas[TS_MMA_ROW(inst->aux)];
    const ts_val *opnds = ts_opnds(e->fn, inst);
    uint32_t flags = TS_MMA_FLAGS(inst->aux), n = TS_MMA_N(inst->aux);
    uint32_t n_a = flags & TS_MMA_A_REGS ? 4 : 1, n_acc = row->c == TS_T_f16 ? n / 4 : n / 2;
    ts_reg a[4], b;
    if (!warp_need_wgmma(e))
        return;
    if (row->m != 64 || inst->n_opnd != n_acc + n_a + 2 || ts__ptx_n_res(e, v) != n_acc || n % 8 || n > 256) {
        ts__ptx_fail(e, TS_VERIFY, "wgmma n%u: %u accumulators, a, b and scale wanted", n, n_acc);
        return;
    }
    for (uint32_t i = 0; i < n_a; i++)
        a[i] = warp_bits(e, opnds[n_acc + i]);
    b = ts__ptx_in_reg(e, opnds[n_acc + n_a]);
    warp_move_accumulators(e, v, opnds, n_acc);
    PUT("wgmma.mma_async.sync.aligned.m64n$ik$i.$s.$s.$s ", (int)n, row->k, warp_mma_type(row->c, false),
        warp_mma_type(row->a, flags & TS_MMA_U_A), warp_mma_type(row->b, flags & TS_MMA_U_B));
    warp_values(e, v + 1, n_acc);
    PUT(", ");
    if (n_a == 1)
        PUT("$r", a[0]);
    else
        ts__ptx_list(e, a, n_a);
    PUT(", $r", b);
    warp_scale_d(e, opnds[n_acc + n_a + 1]);
    warp_wgmma_tail(e, row, flags);
}

/* ---- printf ------------------------------------------------------------------------------------------------------ */

/* C varargs promotion: integers to 32 or 64 bits, floats to f64. Gives the slot's type. */
static const char *warp_promote(ts_ptx *e, ts_val v, ts_reg *out, uint32_t *bytes)
{
    ts_type type = ts_type_of(e->fn, v);
    const ts_ptx_type *t = ts__ptx_type(e, type);
    ts_reg x = ts__ptx_in_reg(e, v);
    *bytes = 8;
    *out = x;
    if (t->class == TS_RC_RD)
        return "b64";
    if (t->class == TS_RC_D)
        return "f64";
    if (t->f) {
        if (type == TS_T_bf16)
            x = ts__ptx_widen(e, v, type);
        *out = ts__ptx_temp(e, TS_RC_D);
        PUT("cvt.f64.$s $r, $r;\n", type == TS_T_f16 ? "f16" : "f32", *out, x);
        return "f64";
    }
    *bytes = 4;
    if (t->class == TS_RC_R)
        return "b32";
    *out = ts__ptx_temp(e, TS_RC_R);
    if (t->class == TS_RC_P)
        PUT("selp.s32 $r, 1, 0, $r;\n", *out, x);
    else
        PUT("cvt.s32.$s $r, $r;\n", t->bits == 8 ? "s8" : "s16", *out, x);
    return "b32";
}

/* Arguments go to local memory in a row, each at its natural alignment. */
void ts__emit_printf(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    const char *format = ts_str_get(e->fn->module, inst->aux);
    uint32_t at = 0, bytes, text = ts__ptx_string(e, format, strlen(format));
    ts_reg args = ts__ptx_temp(e, TS_RC_RD), generic = ts__ptx_temp(e, TS_RC_RD), string = ts__ptx_temp(e, TS_RC_RD);
    ts_reg value, status = ts__ptx_temp(e, TS_RC_R);
    e->uses_printf = true;
    PUT("mov.u64 $r, printf$L;\n", args, v);
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        const char *type = warp_promote(e, opnds[i], &value, &bytes);
        at = (at + bytes - 1) / bytes * bytes;
        PUT("st.local.$s [$r+$i], $r;\n", type, args, (int)at, value);
        at += bytes;
    }
    ts__text_printf(&e->locals, ".local .align 8 .b8 printf%u[%u];\n", v, TS_MAX(at, 8u));
    PUT("cvta.local.u64 $r, $r;\nmov.u64 $r, ts$L;\ncvta.global.u64 $r, $r;\n", generic, args, string, text, string,
        string);
    PUT("{\n.param .b64 a0;\n.param .b64 a1;\n.param .b32 rv;\nst.param.b64 [a0], $r;\nst.param.b64 [a1], $r;\n",
        string, generic);
    PUT("call.uni (rv), vprintf, (a0, a1);\nld.param.b32 $r, [rv];\n}\n", status);
}
