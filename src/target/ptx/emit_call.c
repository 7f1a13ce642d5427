/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of functions of other code, which the driver or nvJitLink links to the kernel: `foreign "c name"` and
 * `foreign "numba name"`. Parameters and results of fewer than 32 bits travel as 32, as nvcc and LLVM pass them.
 *
 *     c       .extern .func (.param .b32 r) f (.param .b32 a0);            r = f(a0)
 *     numba   .extern .func (.param .b32 r) f (.param .b64 a0, .param .b32 a1);
 *             the result is stored where a0 points; r is the status, which numba's own functions set
 *
 * Without a result the name is "c void f" and "numba void f"; the instruction then gives 0.
 *
 * A function for other code (the hint `function`) takes its parameters and gives its result in the same way.
 */
#include "target/ptx/emit.h"
#include <string.h>

/* What the text of a `foreign` says. */
typedef struct call_name {
    const char *symbol;
    bool is_numba, is_void;
} call_name;

static call_name call_name_of(const char *text)
{
    call_name name = {.is_numba = strncmp(text, "numba ", 6) == 0};
    text = strchr(text, ' ') + 1; /* the verifier has seen it */
    name.is_void = strncmp(text, "void ", 5) == 0;
    name.symbol = name.is_void ? text + 5 : text;
    return name;
}

/* The type of a parameter: bits, for linkers compare prototypes. */
const char *ts__ptx_param_type(const ts_ptx *e, ts_type type)
{
    uint32_t class = ts__ptx_type(e, type)->class;
    return class == TS_RC_RD || class == TS_RC_D ? "b64" : "b32";
}

/* The type of its register, for st.param and ld.param. */
static const char *call_access(const ts_ptx *e, ts_type type)
{
    uint32_t class = ts__ptx_type(e, type)->class;
    return class == TS_RC_F ? "f32" : class == TS_RC_D ? "f64" : ts__ptx_param_type(e, type);
}

/* The value as it is passed: in a register of 32 bits or more. */
static ts_reg call_widen(ts_ptx *e, ts_val v)
{
    const ts_ptx_type *t = ts__ptx_type(e, ts_type_of(e->fn, v));
    ts_reg x = ts__ptx_in_reg(e, v), wide;
    if (t->class != TS_RC_P && t->class != TS_RC_H)
        return x;
    wide = ts__ptx_temp(e, TS_RC_R);
    if (t->class == TS_RC_P)
        PUT("selp.b32 $r, 1, 0, $r;\n", wide, x);
    else
        PUT("cvt.s32.$s $r, $r;\n", t->bits == 8 ? "s8" : "s16", wide, x);
    return wide;
}

/* Puts a result that came as `wide` where value v is. */
static void call_narrow(ts_ptx *e, ts_val v, ts_reg wide)
{
    const ts_ptx_type *t = ts__ptx_type(e, ts_type_of(e->fn, v));
    if (t->class == TS_RC_P) {
        PUT("and.b32 $r, $r, 255;\n", wide, wide);
        PUT("setp.ne.s32 $v, $r, 0;\n", v, wide);
    } else
        PUT("cvt.u16.u32 $v, $r;\n", v, wide);
}

/* Declared once in a module. */
static void call_declare(ts_ptx *e, const call_name *name, const ts_inst *inst, const char *result)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    ts_text line;
    ts__text_init(&line, e->arena.alloc);
    ts__text_puts(&line, ".extern .func ");
    if (result)
        ts__text_printf(&line, "(.param .%s r) ", result);
    ts__text_printf(&line, "%s (", name->symbol);
    if (name->is_numba)
        ts__text_puts(&line, ".param .b64 a0");
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        bool first = i == 0 && !name->is_numba;
        ts_type type = ts_type_of(e->fn, opnds[i]);
        ts__text_printf(&line, "%s.param .%s a%u", first ? "" : ", ", ts__ptx_param_type(e, type),
                        i + name->is_numba);
    }
    ts__text_puts(&line, ");\n");
    if (line.failed)
        e->globals.failed = true;
    else if (!e->globals.n || !strstr(ts__text_get(&e->globals), ts__text_get(&line)))
        ts__text_puts(&e->globals, ts__text_get(&line));
    ts__text_deinit(&line);
}

/* Where a function of numba's stores its result: local memory, by a generic address. */
static ts_reg call_result_room(ts_ptx *e, ts_val v, ts_reg *generic)
{
    ts_reg local = ts__ptx_temp(e, TS_RC_RD);
    *generic = ts__ptx_temp(e, TS_RC_RD);
    ts__text_printf(&e->locals, ".local .align 8 .b8 foreign%u[8];\n", v);
    PUT("mov.u64 $r, foreign$L;\ncvta.local.u64 $r, $r;\n", local, v, *generic, local);
    return local;
}

/* The bracketed part: parameters are stored, the function is called, `into` is its result. */
static void call_sequence(ts_ptx *e, const call_name *name, const ts_inst *inst, const ts_reg *args, ts_reg first,
                          const char *result, ts_reg into)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    uint32_t n = inst->n_opnd + name->is_numba;
    PUT("{\n");
    if (name->is_numba)
        PUT(".param .b64 a0;\nst.param.b64 [a0], $r;\n", first);
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        ts_type type = ts_type_of(e->fn, opnds[i]);
        uint32_t at = i + name->is_numba;
        PUT(".param .$s a$L;\nst.param.$s [a$L], $r;\n", ts__ptx_param_type(e, type), at, call_access(e, type), at,
            args[i]);
    }
    if (result)
        PUT(".param .$s rv;\ncall (rv), $s, (", result, name->symbol);
    else
        PUT("call $s, (", name->symbol);
    for (uint32_t i = 0; i < n; i++)
        PUT(i ? ", a$L" : "a$L", i);
    PUT(");\n");
    bool is_float = TS_REG_CLASS(into) == TS_RC_F || TS_REG_CLASS(into) == TS_RC_D;
    if (result)
        PUT("ld.param.$s $r, [rv];\n", is_float ? ts__ptx_class_names[TS_REG_CLASS(into)].type : result, into);
    PUT("}\n");
}

/* A result that a function of numba's has stored. */
static void call_load(ts_ptx *e, ts_val v, ts_reg local)
{
    const ts_ptx_type *t = ts__ptx_type(e, ts_type_of(e->fn, v));
    if (t->class == TS_RC_P) {
        ts_reg byte = ts__ptx_temp(e, TS_RC_H);
        PUT("ld.local.u8 $r, [$r];\nsetp.ne.s16 $v, $r, 0;\n", byte, local, v, byte);
    } else
        PUT("ld.local.$s $v, [$r];\n", t->bits == 8 ? "u8" : t->b, v, local);
}

void ts__emit_foreign(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    const ts_val *opnds = ts_opnds(e->fn, inst);
    call_name name = call_name_of(ts_str_get(e->fn->module, inst->aux));
    const ts_ptx_type *t = ts__ptx_type(e, ts_type_of(e->fn, v));
    const char *result = name.is_numba ? "b32" : name.is_void ? NULL : ts__ptx_param_type(e, ts_type_of(e->fn, v));
    bool narrow = t->class == TS_RC_P || t->class == TS_RC_H, is_direct = !name.is_numba && !name.is_void;
    ts_reg *args = TS_NEW_N(&e->arena, ts_reg, inst->n_opnd + 1), generic = 0, local = 0, into;
    if (!args)
        return;
    for (uint32_t i = 0; i < inst->n_opnd; i++)
        args[i] = call_widen(e, opnds[i]);
    if (name.is_numba)
        local = call_result_room(e, v, &generic);
    call_declare(e, &name, inst, result);
    into = is_direct && !narrow ? e->reg[v] : ts__ptx_temp(e, TS_RC_R);
    call_sequence(e, &name, inst, args, generic, result, into);
    if (is_direct && narrow)
        call_narrow(e, v, into);
    else if (name.is_void)
        PUT("mov.b32 $v, 0;\n", v);
    else if (name.is_numba)
        call_load(e, v, local);
}

/* ---- the other side: a function that other code calls ------------------------------------------------ */

void ts__ptx_take_param(ts_ptx *e, ts_val v)
{
    ts_type type = ts_type_of(e->fn, v);
    const ts_ptx_type *t = ts__ptx_type(e, type);
    bool narrow = t->class == TS_RC_P || t->class == TS_RC_H;
    ts_reg wide = narrow ? ts__ptx_temp(e, TS_RC_R) : e->reg[v];
    PUT("ld.param.$s $r, [p$i];\n", call_access(e, type), wide, (int)v - 1);
    if (narrow)
        call_narrow(e, v, wide);
}

/* Stored where numba's callers want it, and the status that they look at. */
static void call_put_numba(ts_ptx *e, ts_val v)
{
    ts_reg status = ts__ptx_temp(e, TS_RC_R);
    if (v) {
        const ts_ptx_type *t = ts__ptx_type(e, ts_type_of(e->fn, v));
        ts_reg at = ts__ptx_temp(e, TS_RC_RD), x = t->class == TS_RC_P ? call_widen(e, v) : ts__ptx_in_reg(e, v);
        PUT("ld.param.b64 $r, [result];\nst.$s [$r], $r;\n", at,
            t->class == TS_RC_P || t->bits == 8 ? "u8" : t->b, at, x);
    }
    PUT("mov.b32 $r, 0;\nst.param.b32 [func_retval0], $r;\n", status, status);
}

void ts__ptx_put_result(ts_ptx *e, ts_val v)
{
    if (e->plan->function == TS_FUNCTION_NUMBA)
        call_put_numba(e, v);
    else if (v) {
        ts_reg wide = call_widen(e, v);
        PUT("st.param.$s [func_retval0], $r;\n", call_access(e, ts_type_of(e->fn, v)), wide);
    }
}
