/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX of the user's: `asm`. It stands in a block of its own, so that it may declare registers and labels. What it reads
 * are copies, and what it writes is copied behind it: it may write a result before it has read all values, and change
 * the registers of the values. ptxas takes the copies away.
 *
 *     %h, %l = asm "mul.hi.u32 $0, $2, $3; mul.lo.u32 $1, $2, $3;" %x, %y : i32, i32
 *
 *     mov.b32 %r5, %r1;  mov.b32 %r6, %r2;
 *     { mul.hi.u32 %r7, %r5, %r6; mul.lo.u32 %r8, %r5, %r6; }
 *     mov.b32 %r3, %r7;  mov.b32 %r4, %r8;
 *
 * A text that begins with ".version 8.6" and a new line needs that version of PTX, others 8.0.
 */
#include "ir/format.h"
#include "target/ptx/emit.h"
#include <stdio.h>
#include <string.h>

enum { ASM_VERSION = 80 };

/* The text behind the version that it needs. */
static const char *asm_version(ts_ptx *e, const char *text)
{
    unsigned major = 0, minor = 0;
    int n = 0;
    bool given = sscanf(text, ".version %2u.%1u%n", &major, &minor, &n) == 2;
    ts__ptx_need(e, given ? 10 * major + minor : ASM_VERSION);
    return given ? text + n : text;
}

static void asm_text(ts_ptx *e, const char *text, const ts_reg *regs)
{
    uint32_t number;
    PUT("{\n");
    while (*text) {
        size_t plain = strcspn(text, "$");
        ts__text_put(&e->text, text, plain);
        text += plain;
        if (!*text)
            break;
        text += ts__asm_place(text, &number);
        if (number == TS_NO)
            ts__text_puts(&e->text, "$");
        else
            PUT("$r", regs[number]);
    }
    PUT("\n}\n");
}

void ts__emit_asm(ts_ptx *e, ts_val v, const ts_inst *inst)
{
    uint32_t n_res = ts__ptx_n_res(e, v), n = n_res + inst->n_opnd;
    const ts_val *opnds = ts_opnds(e->fn, inst);
    const char *text = asm_version(e, ts_str_get(e->fn->module, inst->aux));
    ts_reg *regs = TS_NEW_N(&e->arena, ts_reg, n + 1);
    if (!regs)
        return;
    for (uint32_t i = 0; i < n_res; i++)
        regs[i] = ts__ptx_temp(e, ts__ptx_class(e, ts_type_of(e->fn, v + 1 + i)));
    for (uint32_t i = 0; i < inst->n_opnd; i++) {
        regs[n_res + i] = ts__ptx_temp(e, ts__ptx_class(e, ts_type_of(e->fn, opnds[i])));
        ts__ptx_move(e, regs[n_res + i], opnds[i]);
    }
    asm_text(e, text, regs);
    for (uint32_t i = 0; i < n_res; i++) {
        ts_reg to = e->reg[v + 1 + i]; /* 0: nobody reads it */
        if (to)
            PUT("mov.$s $r, $r;\n", ts__ptx_class_names[TS_REG_CLASS(to)].type, to, regs[i]);
    }
}
