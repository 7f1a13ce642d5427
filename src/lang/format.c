/* SPDX-License-Identifier: Apache-2.0
 *
 * format(x, spec) of numbers and texts that are known at compile time, as Python does it. Part of the front end
 * (lower.h).
 *
 *     [[fill]align][sign][#][0][width][, or _][.precision][type]
 */
#include "lang/lower.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct format_spec {
    const char *fill; /* the bytes of one character */
    int n_fill;
    char align, sign, group, type; /* 0: not given */
    bool alternate, zero;
    long width, precision; /* -1: not given */
} format_spec;

enum { FORMAT_WIDEST = 256 };

static int format_bytes(const char *text)
{
    int n = *text != 0;
    while ((text[n] & 0xC0) == 0x80)
        n++;
    return n;
}

static bool format_in(char c, const char *set)
{
    return c && strchr(set, c);
}

/* The number at *at, or -1. */
static long format_count(const char **at)
{
    char *end;
    if (**at < '0' || **at > '9')
        return -1;
    long n = strtol(*at, &end, 10);
    *at = end;
    return n > FORMAT_WIDEST ? FORMAT_WIDEST + 1 : n;
}

static bool format_parse(const char *text, format_spec *s)
{
    *s = (format_spec){.n_fill = 1, .precision = -1};
    int n = format_bytes(text);
    if (format_in(text[0] ? text[n] : 0, "<>^=")) {
        s->fill = text;
        s->n_fill = n;
        s->align = text[n];
        text += n + 1;
    } else if (format_in(*text, "<>^=")) {
        s->align = *text++;
    }
    if (format_in(*text, "+- "))
        s->sign = *text++;
    s->alternate = *text == '#';
    text += s->alternate;
    s->zero = *text == '0';
    text += s->zero;
    s->width = format_count(&text);
    if (format_in(*text, ",_"))
        s->group = *text++;
    if (*text == '.') {
        text++;
        s->precision = format_count(&text);
        if (s->precision < 0)
            return false;
    }
    s->type = *text;
    s->fill = s->fill ? s->fill : s->zero ? "0" : " ";
    return !*text || !text[1];
}

/* Fills `body`, behind its sign and prefix, to the width; `standard` is the alignment that is not given. */
static const char *format_pad(fr *f, const format_spec *s, char standard, const char *prefix, const char *body)
{
    char align = s->align ? s->align : standard;
    long lacks = s->width - fr_characters(prefix) - fr_characters(body), left;
    const char *pads[2] = {"", ""};
    if (lacks <= 0)
        return fr_textf(f, "%s%s", prefix, body);
    left = align == '<' ? 0 : align == '^' ? lacks / 2 : lacks;
    for (int side = 0; side < 2; side++)
        for (long i = side ? left : 0; i < (side ? lacks : left); i++)
            pads[side] = fr_textf(f, "%s%.*s", pads[side], s->n_fill, s->fill);
    return align == '=' ? fr_textf(f, "%s%s%s", prefix, pads[0], body)
                        : fr_textf(f, "%s%s%s%s", pads[0], prefix, body, pads[1]);
}

/* Separators between groups of digits before the point or exponent. */
static const char *format_group(fr *f, const char *digits, char group, uint32_t size)
{
    uint32_t n = (uint32_t)strspn(digits, "0123456789abcdefABCDEF");
    const char *out = "";
    if (strpbrk(digits, ".e") && size == 3)
        n = (uint32_t)strspn(digits, "0123456789");
    for (uint32_t i = 0; i < n; i++)
        out = fr_textf(f, "%s%.*s%c", out, i && (n - i) % size == 0, &group, digits[i]);
    return fr_textf(f, "%s%s", out, digits + n);
}

const char *fr_int_text(fr *f, fr_int x, int base)
{
    char room[140], *at = room + sizeof room - 1;
    fr_int rest = x < 0 ? -x : x; /* within 126 bits */
    *at = 0;
    do {
        *--at = "0123456789abcdef"[(int)(rest % base)];
        rest /= base;
    } while (rest);
    return fr_textf(f, "%s%s", x < 0 ? "-" : "", at);
}

static const char *format_sign(const format_spec *s, bool negative)
{
    return negative ? "-" : s->sign == '+' ? "+" : s->sign == ' ' ? " " : "";
}

static const char *format_upper(fr *f, const char *text)
{
    char *out = ts__arena_text(f->arena, text, strlen(text));
    for (char *c = out; c && *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
    return out ? out : "";
}

static const char *format_int(fr *f, const format_spec *s, fr_int x)
{
    char type = s->type ? s->type : 'd';
    int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
    const char *digits = fr_int_text(f, x, base), *prefix = s->alternate && base != 10 ? fr_textf(f, "0%c", type) : "";
    digits += *digits == '-';
    if (s->group)
        digits = format_group(f, digits, s->group, base == 10 ? 3 : 4);
    return format_pad(f, s, s->zero ? '=' : '>', fr_textf(f, "%s%s", format_sign(s, x < 0), prefix),
                      type == 'X' ? format_upper(f, digits) : digits);
}

/* "%.*g" without a type and with a precision, but with a digit after the point: 1e+02 for 100.0 in three digits. */
static const char *format_short(fr *f, double x, int precision)
{
    char room[FORMAT_WIDEST + 400];
    snprintf(room, sizeof room, "%.*e", precision - 1, x);
    int exponent = atoi(strchr(room, 'e') + 1);
    if (exponent < -4 || exponent >= precision - 1) {
        const char *end = strchr(room, 'e');
        int kept = (int)(end - room);
        while (strchr(room, '.') && (room[kept - 1] == '0' || room[kept - 1] == '.')) /* trailing zeros */
            if (room[--kept] == '.')
                break;
        return fr_textf(f, "%.*s%s", kept, room, end);
    }
    snprintf(room, sizeof room, "%.*g", precision, x);
    return fr_textf(f, "%s%s", room, strchr(room, '.') ? "" : ".0");
}

static const char *format_real(fr *f, const format_spec *s, double x)
{
    char type = s->type ? s->type : 0, lower = type >= 'A' && type <= 'Z' ? (char)(type + 32) : type;
    double size = fabs(x) * (type == '%' ? 100 : 1);
    int precision = s->precision < 0 ? 6 : (int)s->precision;
    const char *digits;
    if (isnan(x) || isinf(x))
        digits = isnan(x) ? "nan" : "inf";
    else if (!type && s->precision < 0)
        digits = fr_real_text(f, size);
    else if (!type)
        digits = format_short(f, size, precision ? precision : 1);
    else
        digits = fr_textf(f, fr_textf(f, "%%%s.*%c", s->alternate ? "#" : "", type == '%' ? 'f' : lower), precision,
                          size);
    if (s->group)
        digits = format_group(f, digits, s->group, 3);
    digits = fr_textf(f, "%s%s", digits, type == '%' ? "%" : "");
    return format_pad(f, s, s->zero ? '=' : '>', format_sign(s, signbit(x) && !isnan(x)),
                      type == lower ? digits : format_upper(f, digits));
}

/* Both parts, the second with a sign, filled as one. */
static const char *format_complex(fr *f, const format_spec *s, const fr_value *v)
{
    format_spec re = *s, im;
    re.width = 0;
    im = re;
    im.sign = '+';
    const char *text = !s->type && s->precision < 0
                           ? fr_plain_text(f, v)
                           : fr_textf(f, "%s%sj", format_real(f, &re, v->as.c[0]), format_real(f, &im, v->as.c[1]));
    return format_pad(f, s, '>', "", text);
}

static const char *format_text(fr *f, const format_spec *s, const char *text)
{
    const char *end = text;
    for (long i = 0; *end && (s->precision < 0 || i < s->precision); i++)
        end += format_bytes(end);
    return format_pad(f, s, '<', "", fr_textf(f, "%.*s", (int)(end - text), text));
}

static bool format_fits(const format_spec *s, const fr_value *v)
{
    if (s->width > FORMAT_WIDEST || s->precision > FORMAT_WIDEST || (s->group && s->zero))
        return false;
    if (v->kind == FR_STR)
        return !s->sign && !s->alternate && !s->group && s->align != '=' && (!s->type || s->type == 's');
    if (v->cat == FR_COMPLEX)
        return !s->zero && s->align != '=' &&
               (s->type ? format_in(s->type, "eEfFgG") : s->precision < 0 && !s->sign);
    if (v->cat > FR_COMPLEX)
        return false;
    if (v->cat < FR_FLOAT && (!s->type || format_in(s->type, "dboxX")))
        return s->precision < 0 && !(s->group == ',' && format_in(s->type, "boxX"));
    return (v->cat == FR_FLOAT && !s->type && !s->alternate) || format_in(s->type, "eEfFgG%");
}

ts_status fr_format(fr *f, const fr_value *v, const char *text, fr_value *out)
{
    format_spec s;
    if (!format_parse(text, &s) || !format_fits(&s, v))
        return fr_error(f, 0, TS_TILETYPE, "format specification '%s' does not fit %s\n  help: fill and align, sign, "
                        "width (at most %d), .precision and one of %s", text, fr_say(f, v), FORMAT_WIDEST,
                        v->kind == FR_STR ? "s" : v->cat == FR_FLOAT ? "e f g %" : "d b o x e f g %");
    bool whole = v->cat < FR_FLOAT && (!s.type || format_in(s.type, "dboxX"));
    *out = fr_text(v->kind == FR_STR ? format_text(f, &s, v->as.text)
                   : whole           ? format_int(f, &s, v->as.i)
                   : v->cat == FR_COMPLEX ? format_complex(f, &s, v)
                                     : format_real(f, &s, fr_as_double(v)));
    return TS_OK;
}
