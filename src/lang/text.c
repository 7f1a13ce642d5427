/* SPDX-License-Identifier: Apache-2.0
 *
 * Values as text: str(), repr() and f-strings. What is known at compile time becomes a string; text with tiles in it
 * stays a list of parts (FR_FSTRING) until it is printed. Part of the front end (lower.h).
 */
#include "lang/lower.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As Python writes it: the shortest text that reads back. */
const char *fr_real_text(fr *f, double x)
{
    char room[40];
    int digits = 0;
    if (isnan(x) || isinf(x))
        return isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    do
        snprintf(room, sizeof room, "%.*e", digits, x);
    while (++digits < 17 && strtod(room, NULL) != x);
    int exponent = atoi(strchr(room, 'e') + 1);
    if (exponent < -4 || exponent >= 16)
        return fr_textf(f, "%s", room);
    return fr_textf(f, "%.*f", TS_MAX(1, digits - 1 - exponent), x);
}

/* "(1-2j)", or "2j" where there is no real part, as Python. */
static const char *text_complex(fr *f, double re, double im)
{
    const char *part[2];
    for (int i = 0; i < 2; i++) {
        const char *text = fr_real_text(f, i ? im : re);
        size_t n = strlen(text);
        part[i] = fr_textf(f, "%.*s", (int)(n > 2 && !strcmp(text + n - 2, ".0") ? n - 2 : n), text);
    }
    if (re == 0 && !signbit(re))
        return fr_textf(f, "%sj", part[1]);
    return fr_textf(f, "(%s%s%sj)", part[0], *part[1] == '-' ? "" : "+", part[1]);
}

const char *fr_plain_text(fr *f, const fr_value *v)
{
    int64_t i;
    switch (v->kind) {
    case FR_STR:
        return v->as.text;
    case FR_NONE:
        return "None";
    case FR_DTYPE:
        return ts_dtype_name((ts_dtype)v->dtype);
    case FR_ENUM:
        return fr_string(f, ts_pack_member(&f->pack, v->as.object, TS_ENUM_STR));
    case FR_NUMBER:
        if (v->cat == FR_BOOL)
            return v->as.i ? "True" : "False";
        if (v->cat == FR_INT)
            return fr_is_int(v, &i) ? fr_textf(f, "%lld", (long long)i) : fr_int_text(f, v->as.i, 10);
        if (v->cat == FR_COMPLEX)
            return text_complex(f, v->as.c[0], v->as.c[1]);
        return fr_real_text(f, v->as.f);
    default:
        return NULL;
    }
}

/* ---- parts --------------------------------------------------------------------------- */

typedef TS_VEC(fr_value) text_parts; /* pairs: value, format specification */

static ts_status text_add(fr *f, text_parts *parts, const fr_value *v, const char *spec)
{
    return TS_PUSH(f->arena, parts, *v) && TS_PUSH(f->arena, parts, fr_text(spec)) ? TS_OK : fr_oom(f);
}

static ts_status text_puts(fr *f, text_parts *parts, const char *text)
{
    fr_value v = fr_text(text);
    return text_add(f, parts, &v, "");
}

/* Text when all parts are, else an FR_FSTRING. */
static ts_status text_join(fr *f, const text_parts *parts, fr_value *out)
{
    size_t length = 0;
    const char **plain = TS_NEW_N(f->arena, const char *, (size_t)parts->n + 1);
    if (!plain)
        return fr_oom(f);
    for (uint32_t i = 0; i < parts->n; i += 2) {
        plain[i] = parts->at[i + 1].as.text[0] ? NULL : fr_plain_text(f, &parts->at[i]);
        if (!plain[i])
            return fr_container(f, FR_FSTRING, parts->n, parts->at, out);
        length += strlen(plain[i]);
    }
    char *text = ts__arena_get(f->arena, length + 1), *at = text;
    if (!text)
        return fr_oom(f);
    for (uint32_t i = 0; i < parts->n; i += 2)
        at += strlen(strcpy(at, plain[i]));
    *at = 0;
    *out = fr_text(text);
    return TS_OK;
}

ts_status fr_text_concat(fr *f, const fr_value *x, const fr_value *y, fr_value *out)
{
    text_parts parts = {0};
    for (uint32_t side = 0; side < 2; side++) {
        const fr_value *v = side ? y : x;
        for (uint32_t i = 0; v->kind == FR_FSTRING && i < v->n; i++)
            TS_TRY(text_add(f, &parts, &v->as.items[2 * i], v->as.items[2 * i + 1].as.text));
        if (v->kind == FR_STR)
            TS_TRY(text_add(f, &parts, v, ""));
    }
    return text_join(f, &parts, out);
}

/* ---- str() and repr() ---------------------------------------------------------------- */

/* As it stands between those quotes in Python's repr. */
static const char *text_escaped(fr *f, const char *text, char quote)
{
    char *out = ts__arena_get(f->arena, 4 * strlen(text) + 1), *at = out;
    if (!out)
        return "";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char *special = strchr("\n\t\r", c);
        if (c == quote || c == '\\' || (special && c)) {
            *at++ = '\\';
            *at++ = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : *text;
        } else if (c < 32 || c == 127) {
            at += sprintf(at, "\\x%02x", c);
        } else {
            *at++ = *text;
        }
    }
    *at = 0;
    return out;
}

/* In quotes: double ones where the known text holds single ones only. */
static ts_status text_quoted(fr *f, const fr_value *v, fr_value *out)
{
    uint32_t n = v->kind == FR_STR ? 1 : v->n;
    const fr_value *items = v->kind == FR_STR ? v : v->as.items;
    bool one = false, two = false;
    text_parts parts = {0};
    for (uint32_t i = 0; i < n; i++) {
        one |= items[2 * i].kind == FR_STR && strchr(items[2 * i].as.text, '\'');
        two |= items[2 * i].kind == FR_STR && strchr(items[2 * i].as.text, '"');
    }
    const char *quote = one && !two ? "\"" : "'";
    TS_TRY(text_puts(f, &parts, quote));
    for (uint32_t i = 0; i < n; i++)
        if (items[2 * i].kind == FR_STR)
            TS_TRY(text_puts(f, &parts, text_escaped(f, items[2 * i].as.text, *quote)));
        else
            TS_TRY(text_add(f, &parts, &items[2 * i], items[2 * i + 1].as.text));
    TS_TRY(text_puts(f, &parts, quote));
    return text_join(f, &parts, out);
}

static ts_status text_repr_of(fr *f, text_parts *parts, const fr_value *v)
{
    fr_value made;
    TS_TRY(fr_text_of(f, v, true, &made));
    return text_add(f, parts, &made, "");
}

static ts_status text_tuple(fr *f, const fr_value *v, text_parts *parts)
{
    TS_TRY(text_puts(f, parts, "("));
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            TS_TRY(text_puts(f, parts, ", "));
        TS_TRY(text_repr_of(f, parts, &v->as.items[i]));
    }
    return text_puts(f, parts, v->n == 1 ? ",)" : ")");
}

/* Name(field=value, ..), or that it is an object where its class wants no repr. */
static ts_status text_fields(fr *f, const fr_value *v, text_parts *parts)
{
    uint32_t n, n_shown = 0;
    const uint32_t *words = ts_pack_list(&f->pack, f->pack.objects[v->cls].z, &n), *fields;
    const char *name = fr_string(f, f->pack.objects[v->cls].x);
    if (!(words[0] & TS_RECORD_REPR))
        return text_puts(f, parts, fr_textf(f, "<%s object>", name));
    fields = ts_pack_fields(&f->pack, v->cls, &n);
    TS_TRY(text_puts(f, parts, fr_textf(f, "%s(", name)));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *field = fields + TS_RECORD_FIELD * i;
        if (!(field[2] & TS_FIELD_REPR))
            continue;
        TS_TRY(text_puts(f, parts, fr_textf(f, "%s%s=", n_shown++ ? ", " : "", fr_string(f, field[0]))));
        TS_TRY(text_repr_of(f, parts, &v->as.items[i]));
    }
    return text_puts(f, parts, ")");
}

/* By a method that the user wrote; false where there is none. */
static ts_status text_method(fr *f, const fr_value *v, const char *name, fr_value *out, bool *found)
{
    fr_value method;
    TS_TRY(fr_record_method(f, v, name, &method, found));
    if (!*found)
        return TS_OK;
    TS_TRY(fr_call_value(f, &method, f->node, 0, NULL, out));
    if (out->kind == FR_STR || out->kind == FR_FSTRING)
        return TS_OK;
    return fr_error(f, 0, TS_TILETYPE, "%s() of %s gives no text\n  found: %s", name, fr_say(f, v), fr_say(f, out));
}

ts_status fr_text_of(fr *f, const fr_value *v, bool repr, fr_value *out)
{
    text_parts parts = {0};
    bool found = false;
    fr_value kept = *v;
    TS_TRY(fr_check_depth(f, 0));
    if (v->kind == FR_STR || v->kind == FR_FSTRING) {
        *out = kept;
        return repr ? text_quoted(f, &kept, out) : TS_OK;
    }
    if (v->kind == FR_ENUM && repr) {
        *out = fr_text(fr_string(f, ts_pack_member(&f->pack, v->as.object, TS_ENUM_REPR)));
        return TS_OK;
    }
    if (v->cls && !repr)
        TS_TRY(text_method(f, v, "__str__", out, &found));
    if (v->cls && !found)
        TS_TRY(text_method(f, &kept, "__repr__", out, &found));
    if (found)
        return TS_OK;
    if (v->cls || v->kind == FR_TUPLE) {
        TS_TRY(v->cls ? text_fields(f, &kept, &parts) : text_tuple(f, &kept, &parts));
        return text_join(f, &parts, out);
    }
    const char *text = fr_plain_text(f, &kept);
    *out = text ? fr_text(text) : kept;
    return TS_OK;
}

/* ---- f-strings ----------------------------------------------------------------------- */

static ts_status text_spec(fr *f, uint32_t node, fr_value *out)
{
    TS_TRY(fr_expr(f, node, out));
    return out->kind == FR_STR ? TS_OK
                               : fr_error(f, node, TS_SYNTAX, "a format specification must be known at compile time\n"
                                          "  help: for example {x:5.2f}, or {x:{width}} with a constant width");
}

/* What an enumeration's member is formatted as: its format() where it stands alone, else its value where format() is
 * that, as for IntEnum and StrEnum. */
static ts_status text_member(fr *f, bool alone, fr_value *v)
{
    fr_value value, text = fr_text(fr_string(f, ts_pack_member(&f->pack, v->as.object, TS_ENUM_FORMAT)));
    TS_TRY(fr_object(f, f->pack.objects[v->as.object].z, &value));
    const char *plain = fr_plain_text(f, &value);
    *v = !alone && plain && strcmp(plain, text.as.text) == 0 ? value : text;
    return TS_OK;
}

static ts_status text_part(fr *f, uint32_t node, fr_value *pair)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    pair[1] = fr_text("");
    if (n->kind != TS_AST_FormattedValue)
        return fr_expr(f, node, &pair[0]);
    TS_TRY(fr_expr(f, n->f[0], &pair[0]));
    if (n->f[1] != UINT32_MAX)
        TS_TRY(fr_text_of(f, &pair[0], n->f[1] != 's', &pair[0]));
    else if (pair[0].cls && fr_record_find(f, pair[0].cls, "__format__"))
        return fr_error(f, node, TS_TILETYPE, "%s has a __format__ of its own, which kernels do not call\n"
                        "  help: write its fields, or str(x)", fr_say(f, &pair[0]));
    if (n->f[2])
        TS_TRY(text_spec(f, n->f[2], &pair[1]));
    bool alone = !pair[1].as.text[0];
    if (pair[0].kind == FR_ENUM)
        TS_TRY(text_member(f, alone, &pair[0]));
    if (alone)
        return fr_text_of(f, &pair[0], false, &pair[0]);
    if (pair[0].kind != FR_NUMBER && pair[0].kind != FR_STR)
        return TS_OK;
    TS_TRY(fr_format(f, &pair[0], pair[1].as.text, &pair[0]));
    pair[1] = fr_text("");
    return TS_OK;
}

ts_status fr_fstring(fr *f, uint32_t node, fr_value *out)
{
    uint32_t n;
    const uint32_t *parts = ts_pack_list(&f->pack, ts_pack_node(&f->pack, node)->f[0], &n);
    text_parts made = {0};
    for (uint32_t i = 0; i < n; i++) {
        fr_value pair[2];
        TS_TRY(text_part(f, parts[i], pair));
        TS_TRY(text_add(f, &made, &pair[0], pair[1].as.text));
    }
    return text_join(f, &made, out);
}
