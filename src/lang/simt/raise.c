/* SPDX-License-Identifier: Apache-2.0
 *
 * Exceptions of threads. What fails is reported, where the kernel is compiled for it (ts_hints.checked), and ends its
 * thread; the host raises it at the end of the launch:
 *
 *     assert x > 0, "text"        if %fine { } else { fault "text" ..; return }
 *     raise Error("text")         fault "Error: text" ..; return
 *
 * `return` ends the kernel from inside of functions as well, for their code stands where they are called. Part of the
 * front end (lower.h).
 */
#include "lang/simt/op.h"
#include "tessera/compile.h"

bool fr_simt_reports(const fr *f, uint32_t what)
{
    return f->hints && f->hints->checked & what && !f->pure;
}

static ts_val raise_wide(fr *f, ts_val x)
{
    return x ? x : ts_int(&f->b, TS_T_i64, 0);
}

static void raise_fault(fr *f, const fr_fault *fault)
{
    ts_val x[6] = {ts_int(&f->b, TS_T_i32, fault->code), raise_wide(f, fault->index), raise_wide(f, fault->extent)};
    for (uint32_t i = 0; i < 3; i++)
        x[3 + i] = ts_emit(&f->b, TS_OP_sreg, TS_T_i32, 0, NULL, TS_S(TS_SREG_TID + i, 0, 0), 0);
    ts_emit(&f->b, TS_OP_fault, TS_T_none, TS_COUNT(x), x, ts_intern(f->module, fault->text, strlen(fault->text)), 0);
}

void fr_simt_check(fr *f, ts_val fine, const fr_fault *fault)
{
    ts_val opener = ts_if_begin(&f->b, fine);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_else(&f->b);
    if (fr_simt_reports(f, TS_CHECK_ALL))
        raise_fault(f, fault);
    ts_term(&f->b, TS_OP_return, 0, NULL);
    ts_end(&f->b, opener, 0, NULL);
}

void fr_simt_tell(fr *f, ts_val fine, const fr_fault *fault)
{
    ts_val opener = ts_if_begin(&f->b, fine);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_else(&f->b);
    raise_fault(f, fault);
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_end(&f->b, opener, 0, NULL);
}

void fr_simt_check_zero(fr *f, ts_val y)
{
    int64_t known;
    ts_builder *b = &f->b;
    ts_type type = ts_type_of(b->fn, y);
    bool real = ts_type_is_float(f->module, type);
    if (!fr_simt_reports(f, TS_CHECK_IMPLIED) || (ts__const_as_int(b->fn, y, &known) && known) ||
        (real && f->hints->fastmath))
        return;
    ts_val zero = ts_bits(b, type, 0);
    ts_val fine = ts_cmp(b, real ? TS_OP_cmpf : TS_OP_cmpi, TS_NE, y, zero, real ? TS_A_UNORDERED : 0);
    fr_simt_check(f, fine, &(fr_fault){.code = TS_FAULT_DIV_ZERO, .text = "division by zero"});
}

void fr_simt_check_step(fr *f, ts_val fine)
{
    static const char text[] = "ValueError: range() arg 3 must not be zero";
    if (fr_simt_reports(f, TS_CHECK_IMPLIED))
        fr_simt_check(f, fine, &(fr_fault){.code = TS_FAULT_RAISE, .text = text});
}

ts_status fr_simt_bound(fr *f, const fr_call *c, fr_value *out)
{
    ts_val fine;
    int64_t known;
    *out = c->arg[1];
    if (!fr_simt_reports(f, TS_CHECK_IMPLIED))
        return TS_OK;
    TS_TRY(fr_simt_truth(f, &c->arg[0], &fine));
    if (!ts__const_as_int(f->b.fn, fine, &known) || !known)
        fr_simt_check(f, fine, &(fr_fault){.code = TS_FAULT_RAISE,
                                           .text = fr_textf(f, "UnboundLocalError: local variable '%s' has no value "
                                                            "here", c->arg[2].as.text)});
    return TS_OK;
}

void fr_simt_check_index(fr *f, ts_val index, ts_val extent, const fr_fault *fault)
{
    ts_builder *b = &f->b;
    ts_val negative = ts_cmp(b, TS_OP_cmpi, TS_LT, index, ts_int(b, TS_T_i64, 0), 0);
    ts_val from_end = ts_op2(b, TS_OP_addi, index, extent, 0), at = ts_select(b, negative, from_end, index);
    fr_simt_check(f, ts_cmp(b, TS_OP_cmpi, TS_LT, at, extent, TS_A_UNSIGNED), fault);
}

/* ---- statements ---------------------------------------------------------------------------------------- */

/* The text of constants; what the kernel computes stands there as dots. */
static ts_status raise_text(fr *f, const fr_value *v, const char **out)
{
    fr_value text = *v;
    *out = "...";
    if (v->kind != FR_FSTRING && v->kind != FR_TILE)
        TS_TRY(fr_text_of(f, v, false, &text));
    if (text.kind == FR_STR)
        *out = text.as.text;
    if (text.kind != FR_FSTRING)
        return TS_OK;
    *out = "";
    for (uint32_t i = 0; i < text.n; i++) {
        const fr_value *part = &text.as.items[2 * i];
        *out = fr_textf(f, "%s%s", *out, part->kind == FR_STR ? part->as.text : "...");
    }
    return TS_OK;
}

static ts_status raise_texts(fr *f, uint32_t list, const char **out)
{
    uint32_t n;
    const uint32_t *args = ts_pack_list(&f->pack, list, &n);
    *out = "";
    for (uint32_t i = 0; i < n; i++) {
        fr_value v;
        const char *text;
        TS_TRY(fr_expr(f, args[i], &v));
        TS_TRY(raise_text(f, &v, &text));
        *out = fr_textf(f, "%s%s%s", *out, i ? ", " : "", text);
    }
    return TS_OK;
}

ts_status fr_simt_raise(fr *f, uint32_t node, fr_flow *flow)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    const char *text, *name = fr_string(f, n->f[1]);
    if (f->pure)
        return fr_not_pure(f, f->pure, node, "a raise");
    if (fr_simt_reports(f, TS_CHECK_RAISES)) {
        TS_TRY(raise_texts(f, n->f[2], &text));
        fr_at(f, node);
        text = fr_textf(f, "%s%s%s", name, *text ? ": " : "", text);
        raise_fault(f, &(fr_fault){TS_FAULT_RAISE, text, ts_int(&f->b, TS_T_i64, n->f[0]), 0});
    }
    ts_term(&f->b, TS_OP_return, 0, NULL);
    *flow = FR_ENDS;
    return TS_OK;
}

ts_status fr_simt_assert(fr *f, uint32_t node)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value test, message;
    const char *text = "";
    ts_val fine;
    if (f->pure)
        return fr_not_pure(f, f->pure, node, "an assert");
    TS_TRY(fr_test(f, n->f[0], &test));
    TS_TRY(fr_simt_truth(f, &test, &fine));
    if (n->f[1] && fr_simt_reports(f, TS_CHECK_RAISES)) {
        TS_TRY(fr_expr(f, n->f[1], &message));
        TS_TRY(raise_text(f, &message, &text));
    }
    fr_at(f, node);
    fr_simt_check(f, fine, &(fr_fault){.code = TS_FAULT_ASSERT, .text = text});
    return TS_OK;
}
