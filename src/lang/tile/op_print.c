/* SPDX-License-Identifier: Apache-2.0
 *
 * printf and print. Both become one print_tko with a C format; narrow integers and bools are
 * printed as int32, narrow floats as float32. What values look like: lang/text.c. Part of the front end (lower.h);
 * rows in tile_op.def.
 */
#include "lang/lower.h"
#include "lang/tile/op.h"
#include <stdlib.h>

typedef struct print_out {
    ts_text format;
    TS_VEC(ts_val) values;
} print_out;

static void print_literal(print_out *p, const char *text)
{
    for (; *text; text++) {
        ts__text_putc(&p->format, *text);
        if (*text == '%')
            ts__text_putc(&p->format, '%');
    }
}

/* A tile as print_tko takes it: 32 or 64 bits wide. */
static ts_status print_widen(fr *f, fr_value *v)
{
    ts_dtype dtype = (ts_dtype)v->dtype, to = dtype;
    if (dtype == TS_DTYPE_bool_ || (fr_dtype_is_int(dtype) && fr_dtype_bits(dtype) < 32))
        to =
            fr_dtype_is_signed(dtype) || dtype == TS_DTYPE_bool_ ? TS_DTYPE_int32 : TS_DTYPE_uint32;
    if (fr_dtype_cat(dtype) == FR_FLOAT && dtype != TS_DTYPE_float64)
        to = TS_DTYPE_float32;
    return fr_convert(f, v, to, TS_RN, v);
}

static ts_status print_value(fr *f, print_out *p, const fr_value *v)
{
    return TS_PUSH(f->arena, &p->values, v->as.v) ? TS_OK : fr_oom(f);
}

enum { PRINT_WIDEST = 256 }; /* characters of one printed number */

/* Python's format specification as a C conversion: flags, width, precision, type. `pair`: v is the
 * real part of a complex number. */
static ts_status print_spec(fr *f, print_out *p, const fr_value *v, const char *spec, bool pair)
{
    const char *left = *spec == '<' ? "-" : "";
    spec += *spec == '<' || *spec == '>';
    size_t flags = strspn(spec, "+- #0"), width = strspn(spec + flags, "0123456789"), precision = 0;
    const char *rest = spec + flags + width;
    if (*rest == '.')
        precision = 1 + strspn(rest + 1, "0123456789");
    rest += precision;
    if (strtol(spec + flags, NULL, 10) > PRINT_WIDEST ||
        (precision && strtol(spec + flags + width + 1, NULL, 10) > PRINT_WIDEST))
        return fr_error(f, 0, TS_TILEVALUE, "format specification '%s': width and precision are at most %d", spec,
                        PRINT_WIDEST);
    bool real = fr_dtype_cat((ts_dtype)v->dtype) == FR_FLOAT,
         wide = fr_dtype_bits((ts_dtype)v->dtype) == 64;
    char type = *rest                                                                  ? *rest
                : real                                                                 ? 'f'
                : fr_dtype_is_signed((ts_dtype)v->dtype) || v->dtype == TS_DTYPE_bool_ ? 'd'
                                                                                       : 'u';
    if ((*rest && rest[1]) || !strchr(real ? "eEfFgG" : "duxXo", type))
        return fr_error(f, 0, TS_TILETYPE,
                        "format specification '%s' does not fit %s\n  help: < or >, flags, width, "
                        ".precision and one of %s",
                        spec, fr_say(f, v), real ? "e f g" : "d x o");
    if (type == 'd' && !fr_dtype_is_signed((ts_dtype)v->dtype) && v->dtype != TS_DTYPE_bool_)
        type = 'u';
    ts__text_printf(&p->format, "%%%s%.*s%s%c", left, (int)(flags + width + precision), spec,
                   pair ? "j" : !real && wide ? "ll" : "", type);
    return TS_OK;
}

/* The two values of a complex number. */
static ts_status print_parts(fr *f, print_out *p, const fr_value *v, fr_value *re)
{
    fr_value im;
    TS_TRY(fr_complex_parts(f, v, re, &im));
    TS_TRY(print_widen(f, re));
    TS_TRY(print_widen(f, &im));
    TS_TRY(print_value(f, p, re));
    return print_value(f, p, &im);
}

/* As Python and NumPy: "(1.000000+2.000000j)", with a specification 1.00+2.00j; of a tile
 * "[1.000000+2.000000j, 3.000000-4.000000j]". */
static ts_status print_complex(fr *f, print_out *p, const fr_value *v, const char *spec)
{
    fr_value re;
    TS_TRY(print_parts(f, p, v, &re));
    bool alone = !*spec && !fr_shape_of(f, &re).rank;
    print_literal(p, alone ? "(" : "");
    TS_TRY(print_spec(f, p, &re, spec, true));
    print_literal(p, alone ? ")" : "");
    return TS_OK;
}

static ts_status print_item(fr *f, print_out *p, const fr_value *v, const char *spec)
{
    const char *text = fr_plain_text(f, v);
    fr_value made;
    if (*spec && v->kind != FR_NUMBER && v->kind != FR_TILE)
        return fr_error(f, 0, TS_TILETYPE, "format specification '%s' is for numbers and tiles, found %s", spec,
                        fr_say(f, v));
    if (text && !*spec) {
        print_literal(p, text);
        return TS_OK;
    }
    if (v->kind == FR_FSTRING) {
        for (uint32_t i = 0; i < v->n; i++)
            TS_TRY(print_item(f, p, &v->as.items[2 * i], v->as.items[2 * i + 1].as.text));
        return TS_OK;
    }
    made = *v;
    if (!*spec)
        TS_TRY(fr_text_of(f, v, false, &made));
    if (made.kind == FR_FSTRING || made.kind == FR_STR)
        return print_item(f, p, &made, "");
    fr_value tile;
    TS_TRY(fr_as_tile(f, v, &tile));
    if (fr_is_complex(&tile))
        return print_complex(f, p, &tile, spec);
    TS_TRY(print_widen(f, &tile));
    TS_TRY(print_spec(f, p, &tile, spec, false));
    return print_value(f, p, &tile);
}

static ts_status print_emit(fr *f, print_out *p)
{
    if (p->format.failed)
        return fr_oom(f);
    const char *format = ts__text_get(&p->format);
    ts_emit(&f->b, TS_OP_print_tko, TS_T_token, p->values.n, p->values.at,
            ts_intern(f->module, format, strlen(format)), 0);
    return TS_OK;
}

static ts_status print_all(fr *f, const fr_call *c, print_out *p)
{
    const char *sep = " ", *end = "\n";
    for (uint32_t i = 1; i < 3; i++)
        if (fr_given(c, i) && c->arg[i].kind != FR_STR)
            return fr_arg_error(f, c, i, "a string known at compile time");
    sep = fr_given(c, 1) ? c->arg[1].as.text : sep;
    end = fr_given(c, 2) ? c->arg[2].as.text : end;
    for (uint32_t i = 0; i < c->n_rest; i++) {
        if (i)
            print_literal(p, sep);
        TS_TRY(print_item(f, p, &c->rest[i], ""));
    }
    print_literal(p, end);
    return print_emit(f, p);
}

ts_status fr_op_print(fr *f, const fr_call *c, fr_value *out)
{
    print_out p = {0};
    ts__text_init(&p.format, f->arena->alloc);
    ts_status status = print_all(f, c, &p);
    ts__text_deinit(&p.format);
    *out = fr_none();
    return status;
}

/* ---- printf -------------------------------------------------------------------------- */

/* One conversion of the caller's format, from after the '%'; returns where it ends. */
static ts_status print_conversion(fr *f, const fr_call *c, print_out *p, const char **at,
                                  uint32_t *next)
{
    const char *s = *at;
    size_t n = strspn(s, "+- #0123456789.");
    size_t length = strspn(s + n, "hljzt");
    char type = s[n + length];
    if (!type || !strchr("diuoxXeEfFgGaA", type))
        return fr_error(f, c->at[0], TS_TILETYPE,
                        "printf(): conversion '%%%.*s' is not known\n  help: d i u o x X for "
                        "integers, e f g a for floats, %%%% for a per cent sign",
                        (int)(n + length + (type != 0)), s);
    if (*next >= c->n_rest)
        return fr_error(f, c->node, TS_TILETYPE,
                        "printf(): the format has more conversions than there are arguments (%u)",
                        c->n_rest);
    fr_value v;
    TS_TRY(fr_as_tile(f, &c->rest[(*next)++], &v));
    bool complex = fr_is_complex(&v), real = complex || fr_dtype_cat((ts_dtype)v.dtype) == FR_FLOAT;
    if (real != (strchr("eEfFgGaA", type) != NULL))
        return fr_error(f, c->node, TS_TILETYPE, "printf(): '%%%c' does not print %s", type,
                        fr_say(f, &v));
    *at = s + n + length + 1;
    if (complex) {
        ts__text_printf(&p->format, "%%%.*sj%c", (int)n, s, type);
        return print_parts(f, p, &v, &v);
    }
    TS_TRY(print_widen(f, &v));
    ts__text_printf(&p->format, "%%%.*s%s%c", (int)n, s,
                   !real && fr_dtype_bits((ts_dtype)v.dtype) == 64 ? "ll" : "",
                   type == 'i' ? 'd' : type);
    return print_value(f, p, &v);
}

static ts_status print_format(fr *f, const fr_call *c, print_out *p)
{
    uint32_t next = 0;
    for (const char *s = c->arg[0].as.text; *s;) {
        if (*s != '%') {
            ts__text_putc(&p->format, *s++);
        } else if (s[1] == '%') {
            ts__text_puts(&p->format, "%%");
            s += 2;
        } else {
            s++;
            TS_TRY(print_conversion(f, c, p, &s, &next));
        }
    }
    if (next != c->n_rest)
        return fr_error(f, c->node, TS_TILETYPE,
                        "printf(): the format has %u conversions for %u arguments", next,
                        c->n_rest);
    return print_emit(f, p);
}

ts_status fr_op_printf(fr *f, const fr_call *c, fr_value *out)
{
    print_out p = {0};
    if (c->arg[0].kind != FR_STR)
        return fr_arg_error(f, c, 0, "a string known at compile time");
    ts__text_init(&p.format, f->arena->alloc);
    ts_status status = print_format(f, c, &p);
    ts__text_deinit(&p.format);
    *out = fr_none();
    return status;
}
