/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread-level IR to PTX text. The last step of the GPU back end: one walk over the instructions in
 * program order, each handed to the handler of its row in emit.def. Structured regions become labels
 * here and nowhere earlier. ptxas does register allocation and scheduling within a block well; it
 * unrolls loops nobody asked it to, so every loop says "nounroll".
 *
 * Here: the text writer, module header and entry, control flow. Read emit.h first, emit_reg.c next.
 * (PTX ISA 9.0; what each construct costs: measured on an H200.)
 */
#include "target/ptx/emit.h"

const ts_ptx_row ts__ptx_rows[TS_OP_COUNT] = {
#define TS_PTX(op, handler, imm, address, sm, version)                                             \
    [TS_OP_##op] = {ts__emit_##handler, (imm), (address), (sm), (version)},
#include "target/ptx/emit.def"
};

/* ---- failure ------------------------------------------------------------------------------------ */

void ts__ptx_fail(ts_ptx *e, ts_status status, const char *format, ...)
{
    if (e->status != TS_OK)
        return;
    va_list args;
    va_start(args, format);
    ts__vfail(e->err, status, format, args);
    va_end(args);
    e->status = status;
}

void ts__ptx_need(ts_ptx *e, uint32_t version)
{
    e->version = TS_MAX(e->version, version);
}

bool ts__ptx_need_sm(ts_ptx *e, uint32_t sm, const char *what)
{
    if (e->sm->number >= sm)
        return true;
    ts__ptx_fail(e, TS_UNSUPPORTED, "%s needs sm_%u or later, the target is %s", what, sm, e->sm->name);
    return false;
}

ts_reg ts__ptx_temp(ts_ptx *e, ts_reg_class class)
{
    return TS_REG(class, ++e->n_reg[class]);
}

/* ---- text writer --------------------------------------------------------------------------------- */

static void emit_reg(ts_text *text, ts_reg reg)
{
    ts__text_puts(text, ts__ptx_class_names[TS_REG_CLASS(reg)].prefix);
    ts__text_int(text, TS_REG_NUMBER(reg));
}

static void emit_hex(ts_text *text, const char *prefix, uint64_t bits, int digits)
{
    char out[16];
    ts__text_puts(text, prefix);
    for (int i = digits; i-- > 0; bits >>= 4)
        out[i] = "0123456789ABCDEF"[bits & 15];
    ts__text_put(text, out, (size_t)digits);
}

static void emit_const(ts_ptx *e, ts_val v, uint64_t bits)
{
    const ts_ptx_type *t = ts__ptx_type(e, ts__ptx_type_of(e, v));
    if (t->class == TS_RC_F)
        emit_hex(&e->text, "0f", bits, 8);
    else if (t->class == TS_RC_D)
        emit_hex(&e->text, "0d", bits, 16);
    else if (t->class == TS_RC_P || !t->s)
        emit_hex(&e->text, t->class == TS_RC_P ? "" : "0x", bits, t->class == TS_RC_P ? 1 : t->bits / 4);
    else
        ts__text_int(&e->text, t->bits == 64 ? (int64_t)bits
                              : (int64_t)(bits << (64 - t->bits)) >> (64 - t->bits));
}

/* A number stands for itself even where another reader made it have a register. */
static void emit_value(ts_ptx *e, ts_val v)
{
    uint64_t bits;
    v = e->alias[v];
    const ts_ptx_type *t = ts__ptx_type(e, ts__ptx_type_of(e, v));
    bool plain = t->s || t->class == TS_RC_F || t->class == TS_RC_D;
    if (plain && ts__ptx_const(e, v, &bits))
        emit_const(e, v, bits);
    else if (e->reg[v])
        emit_reg(&e->text, e->reg[v]);
    else if (ts__ptx_const(e, v, &bits))
        emit_const(e, v, bits);
    else
        ts__ptx_fail(e, TS_INTERNAL, "PTX: value %%%u (%s) has no register", v, ts_info(ts_at(e->fn, v))->name);
}

static void emit_address(ts_ptx *e, ts_val pointer)
{
    int64_t offset;
    ts_val base = ts__ptx_base(e, pointer, &offset);
    const ts_inst *inst = ts_at(e->fn, base);
    ts__text_putc(&e->text, '[');
    if (inst->op == TS_OP_shared && !e->reg[base]) {
        ts__text_puts(&e->text, "smem");
        offset += inst->aux;
        e->uses_shared = true;
    } else
        emit_value(e, base);
    if (offset) {
        ts__text_putc(&e->text, '+');
        ts__text_int(&e->text, offset);
    }
    ts__text_putc(&e->text, ']');
}

/* Nothing for a predicate that is known to hold; one that is known not to was moved to e->guard. */
static void emit_guard(ts_ptx *e, ts_val pred)
{
    uint64_t holds;
    if (!pred || (ts__ptx_const(e, e->alias[pred], &holds) && holds))
        return;
    ts_reg reg = e->reg[e->alias[pred]];
    ts__text_putc(&e->text, '@');
    emit_reg(&e->text, reg ? reg : e->guard);
    ts__text_putc(&e->text, ' ');
}

static void emit_one(ts_ptx *e, char code, va_list *args)
{
    switch (code) {
    case 'v': emit_value(e, va_arg(*args, ts_val)); break;
    case 'r': emit_reg(&e->text, va_arg(*args, ts_reg)); break;
    case 'a': emit_address(e, va_arg(*args, ts_val)); break;
    case 's': ts__text_puts(&e->text, va_arg(*args, const char *)); break;
    case 'i': ts__text_int(&e->text, va_arg(*args, int)); break;
    case 'x': emit_hex(&e->text, "0x", va_arg(*args, uint32_t), 8); break;
    case 'L': ts__text_int(&e->text, va_arg(*args, uint32_t)); break;
    case 'g': emit_guard(e, va_arg(*args, ts_val)); break;
    default: ts_assert(!"unknown code in a PTX format"); break;
    }
}

void ts__ptx_put(ts_ptx *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at = format; *at;) {
        const char *stop = at;
        while (*stop && *stop != '$')
            stop++;
        ts__text_put(&e->text, at, (size_t)(stop - at));
        if (*stop)
            emit_one(e, *++stop, &args);
        at = *stop ? stop + 1 : stop;
    }
    va_end(args);
}

void ts__ptx_list(ts_ptx *e, const ts_reg *regs, uint32_t n)
{
    PUT("{");
    for (uint32_t i = 0; i < n; i++)
        PUT(i ? ", $r" : "$r", regs[i]);
    PUT("}");
}

uint32_t ts__ptx_string(ts_ptx *e, const char *bytes, size_t n)
{
    uint32_t number = e->n_strings++;
    ts__text_printf(&e->globals, ".global .align 1 .b8 ts%u[%zu] = {", number, n + 1);
    for (size_t i = 0; i < n; i++) {
        ts__text_int(&e->globals, (unsigned char)bytes[i]);
        ts__text_putc(&e->globals, ',');
    }
    ts__text_puts(&e->globals, "0};\n");
    return number;
}

/* ---- parameters ----------------------------------------------------------------------------------- */

static uint32_t emit_param_bytes(const ts_ptx *e, uint32_t i, ts_type type)
{
    uint32_t bits = ts__ptx_type(e, type)->bits;
    if (i < TS_PLAN_PARAMS && i < e->plan->n_params && e->plan->param_bytes[i])
        return e->plan->param_bytes[i];
    return bits / 8;
}

/* The table of a list: what is no address is a place among the parameters (ts_plan). */
static void emit_table(ts_ptx *e, ts_val v)
{
    const ts_plan *plan = e->plan;
    if (!plan->table_bytes || !memchr(plan->list, (int)v - 1, plan->n_lists))
        return;
    ts__ptx_need(e, 77); /* cvta.param */
    e->tables = e->tables ? e->tables : ts__ptx_temp(e, TS_RC_RD);
    ts_reg near = ts__ptx_temp(e, TS_RC_P);
    PUT("setp.lt.u64 $r, $v, $i;\n@$r add.s64 $v, $v, $r;\n", near, v, TS_PLAN_NEAR, near, v, v, e->tables);
}

void ts__emit_param(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    int i = (int)v - 1, bits = (int)emit_param_bytes(e, v - 1, inst->type) * 8;
    const ts_ptx_type *t = ts__ptx_type(e, inst->type);
    if (!e->fn->entry) {
        ts__ptx_take_param(e, v);
        return;
    }
    if (t->class == TS_RC_P) {
        ts_reg temp = ts__ptx_temp(e, TS_RC_R);
        PUT("ld.param.u$i $r, [p$i];\nsetp.ne.u32 $v, $r, 0;\n", bits, temp, i, v, temp);
    } else if (t->class == TS_RC_RD && bits < 64) {
        ts_reg temp = ts__ptx_temp(e, TS_RC_R);
        PUT("ld.param.u$i $r, [p$i];\ncvt.u64.u32 $v, $r;\n", bits, temp, i, v, temp);
    } else
        PUT("ld.param.$s$i $v, [p$i];\n", t->class == TS_RC_F || t->class == TS_RC_D ? "f" : bits < 16 ? "u" : "b",
            bits, v, i);
    emit_table(e, v);
}

/* ---- control flow ------------------------------------------------------------------------------------
 * Labels carry the opener's number: L body of a loop, C its latch, X else, E the end. */

void ts__emit_nothing(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    (void)e, (void)v, (void)inst;
}

/* The values that hold what `opener` gives, from `first` on. */
static void emit_moves_to(ts_ptx *e, ts_val first, uint32_t n, const ts_val *src)
{
    ts_arena_mark mark = ts__arena_at(&e->arena);
    ts_val *dst = TS_NEW_N(&e->arena, ts_val, n + 1);
    for (uint32_t i = 0; dst && i < n; i++)
        dst[i] = first + i;
    if (dst)
        ts__ptx_moves(e, n, dst, src);
    ts__arena_rewind(&e->arena, mark);
}

/* Whether a region of an `if` is nothing but a `yield` that moves nothing. */
static bool emit_is_empty(const ts_ptx *e, ts_val opener, ts_val before)
{
    ts_val v = before + 1;
    while (!e->need[v] && ts_at(e->fn, v)->op != TS_OP_yield && !(ts_info(ts_at(e->fn, v))->flags & TS_TERM))
        v++;
    const ts_inst *inst = ts_at(e->fn, v);
    if (inst->op != TS_OP_yield || e->shape.parent[v] != opener)
        return false;
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        ts_reg to = e->reg[ts__ptx_res(e, opener, i)];
        if (to && e->reg[ts__ptx_opnd(e, v, i)] != to)
            return false;
    }
    return true;
}

void ts__emit_if(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    bool no_else = emit_is_empty(e, v, e->shape.other[v]);
    bool no_then = emit_is_empty(e, v, v);
    if (no_then && no_else) /* two branches in a row to what follows end ptxas 13.0 with a segmentation fault */
        return;
    if (no_then)
        PUT("@$v bra E$L;\n", inst->opnd[0], v);
    else
        PUT("@!$v bra $s$L;\n", inst->opnd[0], no_else ? "E" : "X", v);
}

void ts__emit_else(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_val opener = e->shape.parent[v];
    (void)inst;
    if (emit_is_empty(e, opener, v) || emit_is_empty(e, opener, opener))
        return;
    if (ts_at(e->fn, v - 1)->op == TS_OP_yield)
        PUT("bra E$L;\n", opener);
    PUT("X$L:\n", opener);
}

void ts__emit_yield(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    emit_moves_to(e, ts__ptx_res(e, e->shape.parent[v], 0), inst->n_opnd, ts_opnds(e->fn, inst));
}

void ts__emit_cold(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    emit_moves_to(e, ts__ptx_res(e, v, 0), inst->n_opnd - 1u, opnds + 1);
    PUT("@!$r bra E$L;\n", ts__ptx_in_reg(e, opnds[0]), v);
}

static bool emit_runs_once(const ts_ptx *e, const ts_val *bound, bool is_unsigned)
{
    int64_t lower, upper;
    if (!ts__const_as_int(e->fn, e->alias[bound[0]], &lower) || !ts__const_as_int(e->fn, e->alias[bound[1]], &upper))
        return false;
    return is_unsigned ? (uint64_t)lower < (uint64_t)upper : lower < upper;
}

/* What tile kernels repeat is made as long as it should be; loops of threads are as short as they were written. */
static void emit_loop_label(ts_ptx *e, ts_val opener)
{
    PUT("L$L:\n", opener);
    if (!e->plan->thread_kernel)
        PUT(".pragma \"nounroll\";\n");
}

void ts__emit_for(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_arena_mark mark = ts__arena_at(&e->arena);
    const ts_val *opnds = ts_opnds(e->fn, inst);
    uint32_t n = inst->n_opnd - 3u;
    ts_val *src = TS_NEW_N(&e->arena, ts_val, n + 1);
    if (!src)
        return;
    src[0] = opnds[0];
    memcpy(src + 1, opnds + 3, n * sizeof *src);
    emit_moves_to(e, v + 1, n + 1, src);
    ts__arena_rewind(&e->arena, mark);
    bool is_unsigned = inst->aux & TS_A_UNSIGNED;
    const ts_ptx_type *t = ts__ptx_type(e, ts__ptx_type_of(e, v + 1));
    if (!emit_runs_once(e, opnds, is_unsigned)) {
        ts_reg p = ts__ptx_temp(e, TS_RC_P);
        PUT("setp.ge.$s $r, $v, $v;\n@$r bra C$L;\n", is_unsigned ? t->u : t->s, p, v + 1, opnds[1], p, v);
    }
    emit_loop_label(e, v);
}

void ts__emit_loop(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    emit_moves_to(e, v + 1, inst->n_opnd, ts_opnds(e->fn, inst));
    emit_loop_label(e, v);
}

static ts_val emit_loop_of(const ts_ptx *e, ts_val v)
{
    ts_val p = e->shape.parent[v];
    while (p && ts_at(e->fn, p)->op != TS_OP_for && ts_at(e->fn, p)->op != TS_OP_loop)
        p = e->shape.parent[p];
    return p;
}

void ts__emit_continue(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_val loop = emit_loop_of(e, v);
    bool is_for = ts_at(e->fn, loop)->op == TS_OP_for;
    emit_moves_to(e, loop + 1 + is_for, inst->n_opnd, ts_opnds(e->fn, inst));
    if (!is_for)
        PUT("bra L$L;\n", loop);
    else if (v + 1 != e->shape.end[loop])
        PUT("bra N$L;\n", loop);
}

void ts__emit_break(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_val loop = emit_loop_of(e, v);
    emit_moves_to(e, ts__ptx_res(e, loop, 0), inst->n_opnd, ts_opnds(e->fn, inst));
    PUT("bra E$L;\n", loop);
}

void ts__emit_return(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    if (!e->fn->entry)
        ts__ptx_put_result(e, inst->n_opnd ? ts_opnd(e->fn, v, 0) : 0);
    PUT("ret;\n");
}

/* A wait for wgmma behind the loop stands before the way past the loop joins too: where the two ways meet ptxas may
 * copy the accumulators, and a copy under way would serialise them. */
static void emit_wait_of_loop(ts_ptx *e, ts_val opener)
{
    ts_val v = e->shape.end[opener] + 1;
    while (v < e->fn->inst.n && ts_at(e->fn, v)->op == TS_OP_res)
        v++;
    if (v < e->fn->inst.n && ts_at(e->fn, v)->op == TS_OP_wgmma_wait)
        PUT("wgmma.wait_group.sync.aligned $i;\n", (int)TS_S_NUMBER(ts_at(e->fn, v)->aux));
}

/* N: next trip. C: done, the carried values become the results. E: behind the loop. */
static void emit_end_for(ts_ptx *e, ts_val opener)
{
    const ts_inst *inst = ts_at(e->fn, opener);
    const ts_val *opnds = ts_opnds(e->fn, inst);
    const ts_ptx_type *t = ts__ptx_type(e, ts__ptx_type_of(e, opener + 1));
    const char *type = inst->aux & TS_A_UNSIGNED ? t->u : t->s;
    ts_reg p = ts__ptx_temp(e, TS_RC_P);
    PUT("N$L:\nadd.$s $v, $v, $v;\n", opener, type, opener + 1, opener + 1, opnds[2]);
    PUT("setp.lt.$s $r, $v, $v;\n@$r bra L$L;\n", type, p, opener + 1, opnds[1], p, opener);
    emit_wait_of_loop(e, opener);
    PUT("C$L:\n", opener);
    ts_arena_mark mark = ts__arena_at(&e->arena);
    uint32_t n = inst->n_opnd - 3u;
    ts_val *src = TS_NEW_N(&e->arena, ts_val, n + 1);
    for (uint32_t i = 0; src && i < n; i++)
        src[i] = opener + 2 + i;
    if (src)
        emit_moves_to(e, ts__ptx_res(e, opener, 0), n, src);
    ts__arena_rewind(&e->arena, mark);
}

void ts__emit_end(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    ts_val opener = e->opener[v];
    (void)inst;
    if (ts_at(e->fn, opener)->op == TS_OP_for)
        emit_end_for(e, opener);
    PUT("E$L:\n", opener);
}

/* ---- module ------------------------------------------------------------------------------------------ */

static void emit_header(ts_ptx *e, ts_text *out)
{
    ts__text_printf(out, ".version %u.%u\n.target %s%s\n.address_size 64\n", e->version / 10, e->version % 10,
                    e->sm->name, e->fn->lines > 1 ? ", debug" : "");
    ts__ptx_files(e, out);
    if (e->uses_shared || e->plan->shared_bytes)
        ts__text_puts(out, ".extern .shared .align 1024 .b8 smem[];\n");
    if (e->uses_printf)
        ts__text_puts(out, ".extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);\n");
    ts__text_puts(out, ts__text_get(&e->globals));
}

static void emit_params(ts_ptx *e, ts_text *out)
{
    const char *comma = "";
    for (uint32_t i = 0; i < e->plan->n_tmaps; i++, comma = ",")
        ts__text_printf(out, "%s\n    .param .align 64 .b8 tm%u[128]", comma, i);
    for (uint32_t i = 0; i < e->fn->n_params; i++, comma = ",") {
        ts_type type = ts_type_of(e->fn, i + 1);
        uint32_t bits = emit_param_bytes(e, i, type) * 8;
        ts__text_printf(out, "%s\n    .param .%s%u p%u", comma,
                       ts_type_is_float(e->fn->module, type) && bits > 16 ? "f" : bits < 16 ? "u" : "b", bits, i);
    }
    if (e->plan->table_bytes)
        ts__text_printf(out, "%s\n    .param .align 8 .b8 tables[%u]", comma, e->plan->table_bytes);
}

/* `.entry` of a kernel; of a function for other code its result, and its parameters as C passes them. */
static void emit_prototype(ts_ptx *e, ts_text *out)
{
    const char *name = e->plan->name[0] ? e->plan->name : ts_str_get(e->fn->module, e->fn->name);
    if (e->fn->entry) {
        ts__text_printf(out, ".visible .entry %s(", name);
        emit_params(e, out);
    } else {
        bool numba = e->plan->function == TS_FUNCTION_NUMBA;
        ts__text_puts(out, ".visible .func ");
        if (numba || e->fn->n_results)
            ts__text_printf(out, "(.param .%s func_retval0) ",
                           numba ? "b32" : ts__ptx_param_type(e, e->fn->result[0]));
        ts__text_printf(out, "%s(%s", name, numba ? "\n    .param .b64 result" : "");
        for (uint32_t i = 0; i < e->fn->n_params; i++)
            ts__text_printf(out, "%s\n    .param .%s p%u", i || numba ? "," : "",
                            ts__ptx_param_type(e, ts_type_of(e->fn, i + 1)), i);
    }
    ts__text_puts(out, ")\n");
}

static void emit_directives(ts_ptx *e, ts_text *out)
{
    if (e->plan->cluster > 1)
        ts__text_printf(out, ".explicitcluster\n.reqnctapercluster %u, 1, 1\n", e->plan->cluster);
    bool bounded = e->fn->occupancy || e->uses_setmaxnreg; /* .minnctapersm needs a number of threads beside it */
    uint32_t threads = e->plan->thread_kernel && !e->plan->threads && bounded ? TS_BLOCK_THREADS : e->plan->threads;
    if (threads)
        ts__text_printf(out, e->plan->thread_kernel ? ".maxntid %u, 1, 1\n" : ".reqntid %u, 1, 1\n", threads);
    if (bounded)
        ts__text_printf(out, ".minnctapersm %u\n", e->fn->occupancy ? e->fn->occupancy : 1u);
    if (e->fn->max_registers)
        ts__text_printf(out, ".maxnreg %u\n", e->fn->max_registers);
}

static void emit_declarations(ts_ptx *e, ts_text *out)
{
    for (int class = TS_RC_P; class < TS_RC_COUNT; class++)
        if (e->n_reg[class])
            ts__text_printf(out, ".reg .%s %s<%u>;\n", ts__ptx_class_names[class].type,
                           ts__ptx_class_names[class].prefix, e->n_reg[class] + 1);
    ts__text_puts(out, ts__text_get(&e->locals));
    for (uint32_t i = 0; i < TS_PLAN_TMAPS; i++)
        if (e->tmap[i]) {
            uint32_t n = TS_REG_NUMBER(e->tmap[i]);
            ts__text_printf(out, "mov.b64 %%rd%u, tm%u;\ncvta.param.u64 %%rd%u, %%rd%u;\n", n, i, n, n);
        }
    if (e->tables) {
        uint32_t n = TS_REG_NUMBER(e->tables);
        ts__text_printf(out, "mov.b64 %%rd%u, tables;\ncvta.param.u64 %%rd%u, %%rd%u;\n", n, n, n);
    }
}

static void emit_module(ts_ptx *e, ts_text *out)
{
    emit_header(e, out);
    emit_prototype(e, out);
    if (e->fn->entry)
        emit_directives(e, out);
    ts__text_puts(out, "{\n");
    emit_declarations(e, out);
    ts__text_put(out, ts__text_get(&e->text), e->text.n);
    ts__text_puts(out, "}\n");
    if (e->fn->lines > 1)
        ts__ptx_dwarf(e, out);
}

/* A register for a guard that is constant and false. */
static void emit_prepare_guard(ts_ptx *e, ts_val v)
{
    uint32_t mask = ts__opnd_mask(ts_at(e->fn, v));
    ts_val pred = mask == TS_NO ? 0 : ts__ptx_opnd(e, v, mask);
    uint64_t holds;
    e->guard = pred && !e->reg[pred] && ts__ptx_const(e, pred, &holds) && !holds ? ts__ptx_in_reg(e, pred) : 0;
}

static void emit_body(ts_ptx *e)
{
    uint32_t n = e->fn->inst.n;
    for (uint32_t v = 1; v < n && e->status == TS_OK; v++) {
        const ts_inst *inst = ts_at(e->fn, v);
        const ts_ptx_row *row = &ts__ptx_rows[inst->op];
        bool structure = inst->op == TS_OP_end || inst->op == TS_OP_else;
        if (e->alias[v] != v || (!e->need[v] && !structure))
            continue;
        if (!row->emit)
            ts__ptx_fail(e, TS_UNSUPPORTED, "PTX: %s is an operation of the tile level; lower it first",
                         ts_info(inst)->name);
        else if (ts__ptx_need_sm(e, row->sm, ts_info(inst)->name)) {
            ts__ptx_need(e, row->version);
            emit_prepare_guard(e, v);
            if (e->fn->lines)
                ts__ptx_line(e, v);
            row->emit(e, v, inst);
        }
    }
    if (n < 2 || ts_at(e->fn, n - 1)->op != TS_OP_return)
        PUT("ret;\n");
}

static bool emit_openers(ts_ptx *e)
{
    e->opener = TS_NEW_N(&e->arena, uint32_t, e->fn->inst.n);
    for (uint32_t v = 1; e->opener && v < e->fn->inst.n; v++)
        if (ts_info(ts_at(e->fn, v))->flags & TS_REGION)
            e->opener[e->shape.end[v]] = v;
    return e->opener;
}

/* Every target object must be scalar: tiles have been taken apart by lowering. */
static ts_status emit_check(const ts_fn *fn, const ts_plan *plan, const ts_sm *sm, ts_error *err)
{
    if (!sm)
        return ts_fail(err, TS_VALUE, "PTX: %u is no GPU target; use 80, 86, 89, 90, 100 or 120", plan->target);
    for (uint32_t v = 1; v < fn->inst.n; v++)
        if (ts_type_kind(fn->module, ts_type_of(fn, v)) == TS_KIND_TILE)
            return ts_fail(err, TS_UNSUPPORTED, "PTX: %s (%%%u) still has a tile type; lower it to threads first",
                           ts_info(ts_at(fn, v))->name, v);
    if (!fn->entry && (plan->shared_bytes || plan->cooperative || plan->error_param))
        return ts_fail(err, TS_UNSUPPORTED, "a function that other code calls has no %s, which its kernel would have "
                       "to know of; pass a pointer to it",
                       plan->shared_bytes ? "shared memory" : "barriers of the grid");
    if (plan->shared_bytes > sm->dynamic_shared)
        return ts_fail(err, TS_UNSUPPORTED, "the kernel needs %u bytes of shared memory, %s has %u; use smaller %s",
                       plan->shared_bytes, sm->name, sm->dynamic_shared, plan->thread_kernel ? "arrays" : "tiles");
    return TS_OK;
}

static bool emit_failed(const ts_ptx *e)
{
    return e->arena.failed || e->text.failed || e->globals.failed || e->locals.failed;
}

ts_status ts__ptx_emit(const ts_fn *fn, const ts_plan *plan, ts_text *text, ts_error *err)
{
    const ts_sm *sm = ts__sm_find(plan->target);
    TS_TRY(emit_check(fn, plan, sm, err));
    ts_ptx e = {.fn = fn, .plan = plan, .sm = sm, .err = err, .version = sm->version};
    const ts_alloc *alloc = fn->module->arena->alloc;
    ts__arena_init(&e.arena, alloc);
    ts__text_init(&e.text, alloc);
    ts__text_init(&e.globals, alloc);
    ts__text_init(&e.locals, alloc);
    if (ts__shape_of(fn, &e.arena, &e.shape) && emit_openers(&e) && ts__ptx_assign(&e)) {
        emit_body(&e);
        if (e.status == TS_OK && !emit_failed(&e))
            emit_module(&e, text);
    }
    if (e.status == TS_OK && (emit_failed(&e) || text->failed))
        e.status = ts_fail(err, TS_NOMEM, "out of memory while writing PTX");
    ts__text_deinit(&e.text);
    ts__text_deinit(&e.globals);
    ts__text_deinit(&e.locals);
    ts__arena_deinit(&e.arena);
    return e.status;
}
