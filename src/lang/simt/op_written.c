/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of functions that are IR as text, docs/guide/ir.md, as operators of programs in C are:
 *
 *     _written(text, dtype of the result, values..)  -->  %x = call @last %a, %b : f32
 *
 * The last function of the text is called; it is read once for a kernel. Pass `inline` does the rest.
 * Part of the front end (lower.h); its row is in simt_op.def.
 */
#include "lang/simt/op.h"

static ts_status written_fail(fr *f, const char *what)
{
    return ts_fail(f->err, TS_VERIFY, "the text of a function: %s", what);
}

/* Whether it can be asked of any values, in any order, and never ends a thread. */
static ts_status written_is_pure(fr *f, const ts_fn *fn)
{
    for (ts_val v = 1; v < fn->inst.n; v++) {
        const ts_inst *inst = ts_at(fn, v);
        const ts_op_info *info = ts_info(inst);
        if (inst->op != TS_OP_call && !(info->flags & (TS_PURE | TS_TERM | TS_REGION)))
            return ts_fail(f->err, TS_VERIFY, "the text of a function: @%s has '%s', which reads, writes or ends a "
                           "thread; it may compute, branch, loop and call", ts_str_get(f->module, fn->name),
                           info->name);
    }
    return TS_OK;
}

/* The functions of a text, which are the last ones of the module, from number `first` on. */
static ts_status written_check(fr *f, uint32_t first)
{
    ts_module *m = f->module;
    if (m->fns.n == first)
        return written_fail(f, "it has none; write func @name(%a: f32, %b: f32) : f32 { .. }");
    for (uint32_t i = first; i < m->fns.n; i++) {
        const ts_fn *fn = m->fns.at[i];
        if (fn->entry)
            return written_fail(f, "it has an entry, which nobody calls; write func instead");
        if (ts__fn_find(m, fn->name) != fn)
            return ts_fail(f->err, TS_VERIFY, "the text of a function: the kernel has an @%s, too; give another name",
                           ts_str_get(m, fn->name));
    }
    for (uint32_t i = first; i < m->fns.n; i++) {
        TS_TRY(ts_fn_verify(m->fns.at[i], f->err));
        TS_TRY(written_is_pure(f, m->fns.at[i]));
    }
    return TS_OK;
}

static ts_status written_find(fr *f, const char *text, ts_fn **out)
{
    uint32_t first = f->module->fns.n;
    for (uint32_t i = 0; i < f->written.n; i++) {
        *out = f->written.at[i].fn;
        if (!strcmp(f->written.at[i].text, text))
            return TS_OK;
    }
    TS_TRY(ts__module_add(f->module, text, strlen(text), f->err));
    TS_TRY(written_check(f, first));
    fr_written made = {.text = text, .fn = f->module->fns.at[f->module->fns.n - 1]};
    *out = made.fn;
    return TS_PUSH(f->arena, &f->written, made) ? TS_OK : fr_oom(f);
}

/* What it takes and gives, and what was wanted. */
static ts_status written_differs(fr *f, const fr_call *c, const ts_fn *fn, ts_dtype result)
{
    ts_text of = {0};
    ts__text_init(&of, ts_alloc_default());
    for (uint32_t i = 0; i < fn->n_params; i++) {
        ts__text_puts(&of, i ? ", " : "(");
        ts__type_print(f->module, ts_type_of(fn, i + 1), &of);
    }
    ts__text_puts(&of, fn->n_results ? ") : " : ")");
    for (uint32_t i = 0; i < fn->n_results; i++) {
        ts__text_puts(&of, i ? ", " : "");
        ts__type_print(f->module, fn->result[i], &of);
    }
    ts__text_puts(&of, "; it is called with (");
    for (uint32_t i = 0; i < c->n_rest; i++) {
        ts__text_puts(&of, i ? ", " : "");
        ts__text_puts(&of, ts_scalar_name(fr_ir((ts_dtype)c->rest[i].dtype)));
    }
    ts__text_puts(&of, ") and gives ");
    ts__text_puts(&of, ts_scalar_name(fr_ir(result)));
    ts_status status = ts_fail(f->err, TS_VERIFY, "the text of a function: @%s is %s", ts_str_get(f->module, fn->name),
                               ts__text_get(&of));
    ts__text_deinit(&of);
    return status;
}

ts_status fr_simt_written(fr *f, const fr_call *c, fr_value *out)
{
    ts_dtype result;
    ts_fn *fn;
    TS_TRY(fr_arg_dtype(f, c, 1, &result));
    TS_TRY(written_find(f, c->arg[0].as.text, &fn));
    ts_val *values = TS_NEW_N(f->arena, ts_val, c->n_rest + 1);
    if (!values)
        return fr_oom(f);
    bool fits = fn->n_params == c->n_rest && fn->n_results == 1 && fn->result[0] == fr_ir(result);
    for (uint32_t i = 0; fits && i < c->n_rest; i++) {
        const fr_value *v = &c->rest[i];
        if (!fr_simt_is_number(v))
            return fr_error(f, c->node, TS_TILETYPE, "%s() takes numbers, found %s", fr_op_name(c), fr_say(f, v));
        fits = ts_type_of(fn, i + 1) == fr_ir((ts_dtype)v->dtype);
        if (fits)
            TS_TRY(fr_simt_cast(f, v, (ts_dtype)v->dtype, &values[i]));
    }
    if (!fits)
        return written_differs(f, c, fn, result);
    fr_at(f, c->node);
    *out = fr_tile(result, ts_call(&f->b, fn, values) + 1); /* its result follows the call */
    return TS_OK;
}
