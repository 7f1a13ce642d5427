/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX emitter: loads and stores, shared and local memory, asynchronous copies, mbarriers, TMA.
 *
 * A vector access of narrow elements moves 32-bit words and takes them apart in registers: PTX has no
 * v8 of 16 bits, and the word form costs the same. An access is split into pieces of at most 16 bytes.
 * Next: emit_atom.c.
 */
#include "target/ptx/emit.h"
#include <stdio.h>

/* ---- one access ------------------------------------------------------------------------------------- */

typedef struct mem_access {
    ts_val pointer, pred;   /* pred 0 = none */
    ts_type type;           /* of an element */
    uint32_t n, bits;       /* elements, bits of one in memory */
    const char *verb;       /* "ld.global.nc" */
    bool any;               /* masked-off elements need no value */
} mem_access;

static const char *mem_ld_modifier(uint32_t cache)
{
    static const char *const names[] = {[TS_CACHE_NONE] = "", [TS_CACHE_NC] = "", [TS_CACHE_L2] = "",
        [TS_CACHE_STREAM] = "", [TS_CACHE_VOLATILE] = ".volatile", [TS_CACHE_RELAXED] = ".relaxed.gpu",
        [TS_CACHE_ACQUIRE] = ".acquire.gpu", [TS_CACHE_RELEASE] = ".release.gpu"};
    return cache < TS_COUNT(names) ? names[cache] : "";
}

static const char *mem_ld_suffix(ts_ptx *e, uint32_t cache, bool store)
{
    if (cache == TS_CACHE_NC)
        return store ? "" : ".nc";
    if (cache == TS_CACHE_L2)
        return ".cg";
    if (cache != TS_CACHE_STREAM)
        return "";
    ts__ptx_need(e, 74);
    return ".L1::no_allocate";
}

/* The address `extra` bytes further. */
static void mem_address(ts_ptx *e, ts_val pointer, int extra)
{
    int64_t offset;
    ts_val base = ts__ptx_base(e, pointer, &offset);
    const ts_inst *inst = ts_at(e->fn, base);
    if (inst->op == TS_OP_shared && !e->reg[base]) {
        e->uses_shared = true;
        PUT("[smem+$i]", (int)(offset + extra + inst->aux));
    } else
        PUT("[$v+$i]", base, (int)(offset + extra));
}

/* A vector of narrow elements travels in words of 32 bits. */
static bool mem_in_words(const mem_access *m)
{
    return m->bits < 32 && m->n * m->bits >= 32;
}

static const char *mem_type(const ts_ptx *e, ts_type type, uint32_t bits)
{
    return bits == 8 ? "u8" : bits == 16 ? "b16" : ts__ptx_type(e, type)->b;
}

/* ---- loads --------------------------------------------------------------------------------------------- */

/* Takes the bytes of `word` apart into four 16-bit registers (upper halves are free). */
static void mem_unpack_bytes(ts_ptx *e, ts_reg word, const ts_reg out[4])
{
    PUT("mov.b32 {$r, $r}, $r;\n", out[0], out[2], word);
    PUT("shr.u16 $r, $r, 8;\nshr.u16 $r, $r, 8;\n", out[1], out[0], out[3], out[2]);
}

static void mem_byte_to_pred(ts_ptx *e, ts_reg pred, ts_reg byte)
{
    ts_reg clean = ts__ptx_temp(e, TS_RC_H);
    PUT("and.b16 $r, $r, 255;\nsetp.ne.u16 $r, $r, 0;\n", clean, byte, pred, clean);
}

/* A register with the bytes of the element as memory holds it. */
static ts_reg mem_st_reg(ts_ptx *e, ts_val v, ts_type type)
{
    if (type != TS_T_i1)
        return ts__ptx_in_reg(e, v);
    ts_reg byte = ts__ptx_temp(e, TS_RC_H);
    PUT("selp.u16 $r, 1, 0, $r;\n", byte, ts__ptx_in_reg(e, v));
    return byte;
}

/* A vector of two or more registers stands in braces. */
static void mem_list(ts_ptx *e, const ts_reg *regs, uint32_t n)
{
    if (n > 1)
        ts__ptx_list(e, regs, n);
    else
        PUT("$r", regs[0]);
}

static void mem_vector(ts_ptx *e, uint32_t n)
{
    if (n > 1)
        PUT(".v$i", (int)n);
}

/* Loads n registers of `bits` each, at most 16 bytes an instruction. */
static void mem_ld_pieces(ts_ptx *e, const mem_access *m, const char *type, const ts_reg *regs, uint32_t n,
                          uint32_t bits)
{
    uint32_t step = TS_MIN(TS_MIN(128 / bits, 4u), n);
    for (uint32_t i = 0; i < n; i += step) {
        PUT("$g$s", m->pred, m->verb);
        mem_vector(e, step);
        PUT(".$s ", type);
        mem_list(e, regs + i, step);
        PUT(", ");
        mem_address(e, m->pointer, (int)(i * bits / 8));
        PUT(";\n");
    }
}

/* Narrow elements: words are loaded, over the padding where there is a guard, and taken apart. */
static void mem_ld_words(ts_ptx *e, const mem_access *m, const ts_reg *out, ts_val pad)
{
    ts_reg words[16];
    uint32_t n = m->n * m->bits / 32, each = 32 / m->bits;
    for (uint32_t i = 0; i < n; i++) {
        words[i] = ts__ptx_temp(e, TS_RC_R);
        if (!m->pred || m->any)
            continue;
        if (!pad)
            PUT("mov.b32 $r, 0;\n", words[i]);
        else if (each == 2)
            PUT("mov.b32 $r, {$r, $r};\n", words[i], ts__ptx_in_reg(e, pad), ts__ptx_in_reg(e, pad));
        else {
            ts_reg byte = mem_st_reg(e, pad, m->type), wide = ts__ptx_temp(e, TS_RC_R);
            PUT("cvt.u32.u16 $r, $r;\nprmt.b32 $r, $r, 0, 0x0000;\n", wide, byte, words[i], wide);
        }
    }
    mem_ld_pieces(e, m, "b32", words, n, 32);
    for (uint32_t i = 0; i < n; i++)
        if (each == 2)
            PUT("mov.b32 {$r, $r}, $r;\n", out[2 * i], out[2 * i + 1], words[i]);
        else
            mem_unpack_bytes(e, words[i], out + 4 * i);
}

static void mem_set_pad(ts_ptx *e, ts_reg reg, ts_val pad, ts_type type)
{
    if (pad && type == TS_T_i1)
        PUT("selp.u16 $r, 1, 0, $r;\n", reg, ts__ptx_in_reg(e, pad));
    else if (pad)
        ts__ptx_move(e, reg, pad);
    else
        PUT("mov.$s $r, 0;\n", ts__ptx_class_names[TS_REG_CLASS(reg)].bits, reg);
}

static mem_access mem_access_of(ts_ptx *e, const ts_inst *inst, ts_type type)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    uint32_t mask = ts__opnd_mask(inst);
    mem_access m = {.pointer = opnds[0], .pred = mask == TS_NO ? 0 : opnds[mask], .type = type};
    m.n = TS_MAX(1u, TS_S_NUMBER(inst->aux));
    m.bits = ts__ptx_type(e, type)->bits;
    return m;
}

/* The padding is written to the result before the load reads its address and guard: not into one of theirs. */
static bool mem_is_clash(const ts_ptx *e, const mem_access *m, ts_reg reg)
{
    int64_t offset;
    return m->pred && (reg == e->reg[ts__ptx_base(e, m->pointer, &offset)] || reg == e->reg[e->alias[m->pred]]);
}

static void mem_verb(ts_ptx *e, const ts_inst *inst, bool store, char out[64])
{
    uint32_t cache = TS_S_KIND(inst->aux);
    const char *space = ts__ptx_space(e, ts_opnds(e->fn, inst)[0]);
    bool global = space[1] == 'g';
    if (!global && cache != TS_CACHE_VOLATILE)
        cache = TS_CACHE_NONE; /* shared memory needs barriers, local memory nothing */
    const char *parts[] = {store ? "st" : "ld", mem_ld_modifier(cache), space, mem_ld_suffix(e, cache, store)};
    out[0] = 0;
    for (size_t i = 0; i < TS_COUNT(parts); i++)
        strcat(out, parts[i]);
}

void ts__emit_ld(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    char verb[64];
    ts_reg out[16];
    bool single = inst->type != TS_T_none;
    ts_type type = single ? inst->type : ts_type_of(e->fn, v + 1);
    mem_access m = mem_access_of(e, inst, type);
    uint32_t pad_at = ts__opnd_pad(inst);
    ts_val pad = pad_at == TS_NO ? 0 : ts_opnds(e->fn, inst)[pad_at];
    mem_verb(e, inst, false, verb);
    m.verb = verb;
    m.any = TS_S_EXTRA(inst->aux) & 1;
    if (m.n > 16 || !m.bits || (!single && ts__ptx_n_res(e, v) != m.n)) {
        ts__ptx_fail(e, TS_VERIFY, "ld of %u elements: 1, 2, 4, 8 or 16 with as many results", m.n);
        return;
    }
    for (uint32_t i = 0; i < m.n; i++) {
        ts_reg reg = e->reg[single ? v : v + 1 + i];
        out[i] = type == TS_T_i1 ? ts__ptx_temp(e, TS_RC_H)
                 : mem_is_clash(e, &m, reg) ? ts__ptx_temp(e, TS_REG_CLASS(reg)) : reg;
        if (m.pred && !m.any && !mem_in_words(&m))
            mem_set_pad(e, out[i], pad, type);
    }
    if (mem_in_words(&m))
        mem_ld_words(e, &m, out, pad);
    else
        mem_ld_pieces(e, &m, mem_type(e, m.type, m.bits), out, m.n, m.bits);
    for (uint32_t i = 0; i < m.n; i++) {
        ts_reg reg = e->reg[single ? v : v + 1 + i];
        if (type == TS_T_i1)
            mem_byte_to_pred(e, reg, out[i]);
        else if (reg != out[i])
            PUT("mov.$s $r, $r;\n", ts__ptx_type(e, type)->b, reg, out[i]);
    }
}

/* ---- stores ---------------------------------------------------------------------------------------------- */

/* Words of two 16-bit or four 8-bit elements. */
static uint32_t mem_st_words(ts_ptx *e, const mem_access *m, ts_reg *regs)
{
    uint32_t n = m->n * m->bits / 32;
    for (uint32_t i = 0; i < n; i++) {
        ts_reg word = ts__ptx_temp(e, TS_RC_R);
        if (m->bits == 16) {
            PUT("mov.b32 $r, {$r, $r};\n", word, regs[2 * i], regs[2 * i + 1]);
        } else {
            ts_reg even = ts__ptx_temp(e, TS_RC_R), odd = ts__ptx_temp(e, TS_RC_R), *b = regs + 4 * i;
            PUT("mov.b32 $r, {$r, $r};\nmov.b32 $r, {$r, $r};\n", even, b[0], b[2], odd, b[1], b[3]);
            PUT("prmt.b32 $r, $r, $r, 0x6240;\n", word, even, odd);
        }
        regs[i] = word;
    }
    return n;
}

/* The beginning of one store instruction, up to its values. */
static void mem_st_piece(ts_ptx *e, const mem_access *m, const char *type, uint32_t n, int offset)
{
    PUT("$g$s", m->pred, m->verb);
    mem_vector(e, n);
    PUT(".$s ", type);
    mem_address(e, m->pointer, offset);
    PUT(", ");
}

static void mem_st_regs(ts_ptx *e, const mem_access *m, const char *type, const ts_reg *regs, uint32_t n, uint32_t bits)
{
    uint32_t step = TS_MIN(TS_MIN(128 / bits, 4u), n);
    for (uint32_t i = 0; i < n; i += step) {
        mem_st_piece(e, m, type, step, (int)(i * bits / 8));
        mem_list(e, regs + i, step);
        PUT(";\n");
    }
}

static void mem_st_values(ts_ptx *e, const mem_access *m, const ts_val *values)
{
    uint32_t step = TS_MIN(TS_MIN(128 / m->bits, 4u), m->n);
    for (uint32_t i = 0; i < m->n; i += step) {
        mem_st_piece(e, m, mem_type(e, m->type, m->bits), step, (int)(i * m->bits / 8));
        PUT(step > 1 ? "{" : "");
        for (uint32_t j = 0; j < step; j++)
            PUT(j ? ", $v" : "$v", values[i + j]);
        PUT(step > 1 ? "};\n" : ";\n");
    }
}

void ts__emit_st(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    char verb[64];
    ts_reg regs[16];
    const ts_val *opnds = ts_opnds(e->fn, inst);
    mem_access m = mem_access_of(e, inst, ts_type_of(e->fn, opnds[1]));
    (void)v;
    mem_verb(e, inst, true, verb);
    m.verb = verb;
    if (m.n > 16 || !m.bits || m.n + 1 + (m.pred != 0) != inst->n_opnd) {
        ts__ptx_fail(e, TS_VERIFY, "st of %u elements: 1, 2, 4, 8 or 16 with as many values", m.n);
        return;
    }
    if (!mem_in_words(&m) && m.type != TS_T_i1) {
        mem_st_values(e, &m, opnds + 1);
        return;
    }
    for (uint32_t i = 0; i < m.n; i++)
        regs[i] = mem_st_reg(e, opnds[1 + i], m.type);
    if (mem_in_words(&m))
        mem_st_regs(e, &m, "b32", regs, mem_st_words(e, &m, regs), 32);
    else
        mem_st_regs(e, &m, mem_type(e, m.type, m.bits), regs, m.n, m.bits);
}

/* ---- where memory is --------------------------------------------------------------------------------------- */

void ts__emit_shared(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    e->uses_shared = true;
    PUT("mov.u32 $v, smem+$i;\n", v, (int)inst->aux);
}

void ts__emit_local(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const uint32_t *a = ts_pool(e->fn, inst);
    ts__text_printf(&e->locals, ".local .align %u .b8 local%u[%u];\n", TS_MAX(a[1], 8u), v, TS_MAX(a[0], 1u));
    PUT("mov.u64 $v, local$i;\n", v, (int)v);
}

/* Declares the global the first time it is met; several instructions may name it. */
static void mem_declare_global(ts_ptx *e, const ts_global *g)
{
    const ts_module *m = e->fn->module;
    const ts_dense *data = g->data ? &m->dense.at[g->data - 1] : NULL;
    char mark[160];
    snprintf(mark, sizeof mark, " g_%.128s[", ts_str_get(m, g->name));
    if (strstr(ts__text_get(&e->globals), mark))
        return;
    int64_t bytes = (ts_type_count(m, g->type) * ts_type_bits(m, ts_type_elem(m, g->type)) + 7) / 8;
    ts__text_printf(&e->globals, ".global .align %u .b8%s%lld]", TS_MAX(g->align, 16u), mark, (long long)bytes);
    for (size_t i = 0; data && i < data->n_bytes; i++)
        ts__text_printf(&e->globals, "%s%u", i ? "," : " = {", ((const uint8_t *)data->bytes)[i]);
    ts__text_puts(&e->globals, data && data->n_bytes ? "};\n" : ";\n");
}

void ts__emit_get_global(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_module *m = e->fn->module;
    for (uint32_t i = 0; i < m->globals.n; i++)
        if (m->globals.at[i].name == inst->aux) {
            mem_declare_global(e, &m->globals.at[i]);
            PUT("mov.u64 $v, g_$s;\n", v, ts_str_get(m, inst->aux));
            return;
        }
    ts__ptx_fail(e, TS_VERIFY, "get_global: the module has no global \"%s\"", ts_str_get(m, inst->aux));
}

void ts__emit_mapa(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    PUT("mapa.shared::cluster.u32 $v, $r, $v;\n", v, ts__ptx_in_reg(e, inst->opnd[0]), inst->opnd[1]);
}

void ts__emit_prefetch(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("$s $a;\n", ts_info(inst)->ptx, inst->opnd[0]);
}

/* ---- cp.async ------------------------------------------------------------------------------------------------ */

void ts__emit_cp_async(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    int bytes = (int)TS_S_NUMBER(inst->aux);
    (void)v;
    PUT("cp.async.$s.shared.global $a, $a, $i", bytes == 16 ? "cg" : "ca", opnds[0], opnds[1], bytes);
    if (inst->flags & TS_F_SRC)
        PUT(", $v", opnds[2]);
    PUT(";\n");
}

/* ---- mbarriers ------------------------------------------------------------------------------------------------ */

void ts__emit_mbar_init(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    if (inst->n_opnd > 1)
        PUT("mbarrier.init.shared.b64 $a, $v;\n", inst->opnd[0], inst->opnd[1]);
    else
        PUT("mbarrier.init.shared.b64 $a, $i;\n", inst->opnd[0], (int)TS_S_NUMBER(inst->aux));
}

void ts__emit_mbar_inval(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("mbarrier.inval.shared.b64 $a;\n", inst->opnd[0]);
}

static ts_val mem_pred(const ts_ptx *e, const ts_inst *inst)
{
    uint32_t at = ts__opnd_mask(inst);
    return at == TS_NO ? 0 : ts_opnds(e->fn, inst)[at];
}

void ts__emit_mbar_arrive(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    (void)v;
    if (e->sm->number < 90) { /* the form without a sink for the state is younger */
        PUT("$gmbarrier.arrive.shared.b64 $r, $a;\n", mem_pred(e, inst), ts__ptx_temp(e, TS_RC_RD), opnds[0]);
        return;
    }
    ts__ptx_need(e, 80);
    const char *space = ts__ptx_space(e, opnds[0]);
    PUT("$gmbarrier.arrive$s.b64 _, $a;\n", mem_pred(e, inst), space[7] ? space : ".shared::cta", opnds[0]);
}

void ts__emit_mbar_expect(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    (void)v;
    PUT("$gmbarrier.arrive.expect_tx.shared::cta.b64 _, $a, $v;\n", mem_pred(e, inst), opnds[0], opnds[1]);
}

void ts__emit_st_async(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    (void)v;
    PUT("$gst.async.shared::cluster.mbarrier::complete_tx::bytes.b$i $a, $r, $a;\n", mem_pred(e, inst),
        (int)ts_type_bits(e->fn->module, ts_type_of(e->fn, opnds[1])), opnds[0], ts__ptx_in_reg(e, opnds[1]), opnds[2]);
}

/* try_wait sleeps in hardware for a while; before sm_90 the test is polled. */
void ts__emit_mbar_wait(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_reg done = ts__ptx_temp(e, TS_RC_P);
    bool test = e->sm->number < 90;
    ts__ptx_need(e, test ? 71 : 78);
    PUT("W$L:\nmbarrier.$s.parity.shared.b64 $r, $a, $v;\n@!$r bra W$L;\n", v, test ? "test_wait" : "try_wait", done,
        inst->opnd[0], inst->opnd[1], done, v);
}

/* ---- TMA --------------------------------------------------------------------------------------------------------- */

static ts_reg mem_tmap(ts_ptx *e, const ts_inst *inst)
{
    uint32_t i = TS_S_KIND(inst->aux);
    if (i >= e->plan->n_tmaps || i >= TS_PLAN_TMAPS) {
        ts__ptx_fail(e, TS_VERIFY, "%s uses tensor map %u, the launch plan has %u", ts_info(inst)->name, i,
                     e->plan->n_tmaps);
        return TS_REG(TS_RC_RD, 0);
    }
    ts__ptx_need(e, 77);
    if (!e->tmap[i])
        e->tmap[i] = ts__ptx_temp(e, TS_RC_RD);
    return e->tmap[i];
}

/* "[map, {c0, c1}]" */
static void mem_tma_source(ts_ptx *e, const ts_inst *inst, const ts_val *coords)
{
    int rank = (int)TS_S_NUMBER(inst->aux);
    PUT("[$r, {", mem_tmap(e, inst));
    for (int i = 0; i < rank; i++)
        PUT(i ? ", $r" : "$r", e->reg[e->alias[coords[i]]]);
    PUT("}]");
}

static bool mem_tma_check(ts_ptx *e, const ts_inst *inst, uint32_t first)
{
    uint32_t rank = TS_S_NUMBER(inst->aux);
    if (rank >= 1 && rank <= 5 && inst->n_opnd == first + rank + !!(inst->flags & TS_F_MASK))
        return true;
    ts__ptx_fail(e, TS_VERIFY, "%s: rank %u wants as many coordinates, 1 to 5", ts_info(inst)->name, rank);
    return false;
}

void ts__emit_tma_load(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    (void)v;
    if (!mem_tma_check(e, inst, 2))
        return;
    int blocks = (int)TS_S_EXTRA(inst->aux);
    PUT("$gcp.async.bulk.tensor.$id.shared::cluster.global.tile.mbarrier::complete_tx::bytes$s $a, ",
        mem_pred(e, inst), (int)TS_S_NUMBER(inst->aux), blocks ? ".multicast::cluster" : "", opnds[0]);
    mem_tma_source(e, inst, opnds + 2);
    PUT(", $a", opnds[1]);
    if (blocks)
        PUT(", $i", blocks);
    PUT(";\n");
}

void ts__emit_tma_store(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    static const char *const modes[] = {[TS_RMW_AND] = "and", [TS_RMW_OR] = "or", [TS_RMW_XOR] = "xor",
        [TS_RMW_ADD] = "add", [TS_RMW_ADDF] = "add", [TS_RMW_MAX] = "max", [TS_RMW_MIN] = "min",
        [TS_RMW_UMAX] = "max", [TS_RMW_UMIN] = "min"};
    const ts_val *opnds = ts_opnds(e->fn, inst);
    int rank = (int)TS_S_NUMBER(inst->aux);
    uint32_t mode = TS_S_EXTRA(inst->aux);
    (void)v;
    if (!mem_tma_check(e, inst, 1))
        return;
    if (inst->op == TS_OP_tma_store)
        PUT("$gcp.async.bulk.tensor.$id.global.shared::cta.tile.bulk_group ", mem_pred(e, inst), rank);
    else if (mode < TS_COUNT(modes))
        PUT("$gcp.reduce.async.bulk.tensor.$id.global.shared::cta.$s.tile.bulk_group ", mem_pred(e, inst), rank,
            modes[mode]);
    else
        ts__ptx_fail(e, TS_UNSUPPORTED, "tma_reduce has no exchange or compare-and-swap");
    mem_tma_source(e, inst, opnds + 1);
    PUT(", $a;\n", opnds[0]);
}

void ts__emit_tma_prefetch(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("prefetch.tensormap [$r];\n", mem_tmap(e, inst));
}

void ts__emit_bulk_load(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    (void)v;
    PUT("$gcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes $a, $a, $v, $a;\n", mem_pred(e, inst),
        opnds[0], opnds[2], opnds[3], opnds[1]);
}

void ts__emit_bulk_store(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    (void)v;
    PUT("$gcp.async.bulk.global.shared::cta.bulk_group $a, $a, $v;\n", mem_pred(e, inst), opnds[0], opnds[1],
        opnds[2]);
}

void ts__emit_bulk_wait(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)v;
    PUT("cp.async.bulk.wait_group$s $i;\n", TS_S_EXTRA(inst->aux) & 1 ? ".read" : "", (int)TS_S_NUMBER(inst->aux));
}
