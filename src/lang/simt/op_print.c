/* SPDX-License-Identifier: Apache-2.0
 *
 * print: items with a space between them and a newline at the end, integers as 64 bits, floats with six digits, complex
 * numbers as (1.000000+2.000000j), tuples in parentheses; of a bool of run time there are two prints, one for each of
 * its texts. Part of the front end (lower.h).
 */
#include "lang/simt/op.h"

typedef struct print_part {
    const char *text; /* NULL: the value */
    fr_value value;
    bool has_plus;    /* of a float */
} print_part;

typedef TS_VEC(print_part) print_parts;

static ts_status print_text(fr *f, print_parts *parts, const char *text)
{
    return TS_PUSH(f->arena, parts, ((print_part){text, fr_none(), false})) ? TS_OK : fr_oom(f);
}

static ts_status print_complex(fr *f, print_parts *parts, const fr_value *v)
{
    fr_value re, im;
    if (v->kind == FR_NUMBER)
        return print_text(f, parts, fr_textf(f, "(%f%+fj)", v->as.c[0], v->as.c[1]));
    TS_TRY(fr_complex_parts(f, v, &re, &im));
    TS_TRY(print_text(f, parts, "("));
    if (!TS_PUSH(f->arena, parts, ((print_part){NULL, re, false})) ||
        !TS_PUSH(f->arena, parts, ((print_part){NULL, im, true})))
        return fr_oom(f);
    return print_text(f, parts, "j)");
}

static ts_status print_add(fr *f, print_parts *parts, const fr_value *v);

/* threadIdx and the like: (x, y, z) */
static ts_status print_axes(fr *f, print_parts *parts, const fr_value *v)
{
    static const char *const names[] = {"x", "y", "z"};
    fr_value axes[3], all;
    for (uint32_t i = 0; i < 3; i++)
        TS_TRY(fr_attribute_of(f, 0, v, names[i], &axes[i]));
    TS_TRY(fr_tuple(f, 3, axes, &all));
    return print_add(f, parts, &all);
}

static ts_status print_add(fr *f, print_parts *parts, const fr_value *v)
{
    if (v->kind == FR_MODULE && fr_class_op(f, v, "z") < f->dialect->n_ops)
        return print_axes(f, parts, v);
    if (v->kind == FR_TUPLE) {
        TS_TRY(print_text(f, parts, "("));
        for (uint32_t i = 0; i < v->n; i++) {
            TS_TRY(print_add(f, parts, &v->as.items[i]));
            if (i + 1 < v->n || v->n == 1)
                TS_TRY(print_text(f, parts, i + 1 < v->n ? ", " : ","));
        }
        return print_text(f, parts, ")");
    }
    if (v->kind == FR_FSTRING) {
        for (uint32_t i = 0; i < v->n; i++) {
            const fr_value *item = &v->as.items[2 * i];
            if (item[1].as.text[0])
                return fr_error(f, 0, TS_TILETYPE, "print() of threads formats no value of run time, found %s with the "
                                "format specification '%s'\n  help: leave it out; floats come with six digits, or "
                                "store the value in an array and format it on the host",
                                fr_say(f, item), item[1].as.text);
            TS_TRY(print_add(f, parts, item));
        }
        return TS_OK;
    }
    if (fr_is_complex(v))
        return print_complex(f, parts, v);
    if (v->kind == FR_NUMBER && v->cat == FR_FLOAT)
        return print_text(f, parts, fr_textf(f, "%f", v->as.f));
    if (fr_plain_text(f, v))
        return print_text(f, parts, fr_plain_text(f, v));
    if (!fr_simt_is_number(v))
        return fr_error(f, 0, TS_TILETYPE, "print() takes numbers, strings and tuples of them\n  found: %s",
                        fr_say(f, v));
    return TS_PUSH(f->arena, parts, ((print_part){NULL, *v, false})) ? TS_OK : fr_oom(f);
}

enum { PRINT_MOST = 32 /* values of one printf */ };

static ts_status print_emit(fr *f, const print_part *parts, uint32_t n)
{
    TS_VEC(ts_val) values = {0};
    ts_text format;
    ts_status status = TS_OK;
    ts__text_init(&format, f->arena->alloc);
    for (uint32_t i = 0; i < n && status == TS_OK; i++) {
        const print_part *p = &parts[i];
        for (const char *s = p->text; s && *s; s++)
            ts__text_puts(&format, *s == '%' ? "%%" : (char[]){*s, 0});
        if (p->text)
            continue;
        ts_val v = 0;
        ts_dtype own = (ts_dtype)p->value.dtype;
        bool real = fr_dtype_cat(own) == FR_FLOAT, with_sign = fr_dtype_is_signed(own);
        ts__text_puts(&format, p->has_plus ? "%+f" : real ? "%f" : with_sign ? "%lld" : "%llu");
        status = fr_simt_cast(f, &p->value, real ? TS_DTYPE_float64 : with_sign ? TS_DTYPE_int64 : TS_DTYPE_uint64, &v);
        if (status == TS_OK && !TS_PUSH(f->arena, &values, v))
            status = fr_oom(f);
    }
    if (status == TS_OK && format.failed)
        status = fr_oom(f);
    if (status == TS_OK) {
        const char *text = ts__text_get(&format);
        ts_emit(&f->b, TS_OP_printf, TS_T_none, values.n, values.at, ts_intern(f->module, text, strlen(text)), 0);
    }
    ts__text_deinit(&format);
    return status;
}

/* In several printfs where there are more values than one takes. */
static ts_status print_all(fr *f, const print_parts *parts)
{
    for (uint32_t from = 0, to = 0; from < parts->n; from = to) {
        for (uint32_t values = 0; to < parts->n && (parts->at[to].text || values < PRINT_MOST); to++)
            values += !parts->at[to].text;
        TS_TRY(print_emit(f, parts->at + from, to - from));
    }
    return TS_OK;
}

/* The parts from i on; of the first bool among them both texts. */
static ts_status print_from(fr *f, print_parts *parts, uint32_t i)
{
    while (i < parts->n && (parts->at[i].text || parts->at[i].value.dtype != TS_DTYPE_bool_))
        i++;
    if (i == parts->n)
        return print_all(f, parts);
    print_part own = parts->at[i];
    ts_val opener = ts_if_begin(&f->b, own.value.as.v);
    parts->at[i].text = "True";
    TS_TRY(print_from(f, parts, i + 1));
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_else(&f->b);
    parts->at[i].text = "False";
    TS_TRY(print_from(f, parts, i + 1));
    ts_term(&f->b, TS_OP_yield, 0, NULL);
    ts_end(&f->b, opener, 0, NULL);
    parts->at[i] = own;
    return TS_OK;
}

ts_status fr_simt_print(fr *f, const fr_call *c, fr_value *out)
{
    print_parts parts = {0};
    *out = fr_none();
    for (uint32_t i = 0; i < c->n_rest; i++) {
        if (i)
            TS_TRY(print_text(f, &parts, " "));
        TS_TRY(print_add(f, &parts, &c->rest[i]));
    }
    TS_TRY(print_text(f, &parts, "\n"));
    return print_from(f, &parts, 0);
}
