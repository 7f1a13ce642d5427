/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods of texts, which are known at compile time. upper and lower of letters beyond ASCII, which depend on Unicode's
 * tables, are refused. Part of the front end (lower.h); the rows are builtins named "str.<method>" (builtin.c).
 */
#include "lang/lower.h"

/* How many bytes of spaces stand at the begin or the end. */
static size_t text_spaces(const char *text, size_t n, bool end)
{
    size_t k = 0;
    while (k < n && strchr(" \t\n\r\f\v", text[end ? n - 1 - k : k]))
        k++;
    return k;
}

static bool text_is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return !*text;
}

/* Whether it begins or ends with a text, or with one of a tuple. */
static ts_status text_ends(fr *f, uint32_t node, const char *method, const char *text, const fr_value *what,
                           fr_value *out)
{
    const fr_value *parts = what->kind == FR_TUPLE ? what->as.items : what;
    uint32_t n_parts = what->kind == FR_TUPLE ? what->n : 1;
    bool found = false;
    size_t n = strlen(text);
    for (uint32_t i = 0; i < n_parts; i++) {
        if (parts[i].kind != FR_STR)
            return fr_error(f, node, TS_TILETYPE, "%s() takes a string or a tuple of strings, found %s", method,
                            fr_say(f, &parts[i]));
        const char *part = parts[i].as.text;
        size_t n_part = strlen(part), at = method[0] == 'e' && n_part <= n ? n - n_part : 0;
        found |= n_part <= n && strncmp(text + at, part, n_part) == 0;
    }
    *out = fr_bool(found);
    return TS_OK;
}

static ts_status text_case(fr *f, uint32_t node, const char *method, const char *text, fr_value *out)
{
    char low = method[0] == 'u' ? 'a' : 'A';
    char *made = ts__arena_text(f->arena, text, strlen(text));
    if (!made)
        return fr_oom(f);
    if (!text_is_ascii(text))
        return fr_error(f, node, TS_TILETYPE, "%s() of %s\n  help: letters beyond ASCII are left to Python: "
                        "ct.static_eval(text.%s())", method, fr_say(f, &(fr_value){.kind = FR_STR, .as.text = text}),
                        method);
    for (char *c = made; *c; c++)
        *c = *c >= low && *c <= low + 25 ? (char)(*c ^ 32) : *c;
    *out = fr_text(made);
    return TS_OK;
}

/* Every place of a text in another, with another text there. */
static ts_status text_replace(fr *f, const char *text, const char *old, const char *with, fr_value *out)
{
    size_t n = strlen(old);
    const char *made = "", *at;
    if (!n)
        return fr_error(f, 0, TS_TILEVALUE, "replace() of an empty string");
    while ((at = strstr(text, old))) {
        made = fr_textf(f, "%s%.*s%s", made, (int)(at - text), text, with);
        text = at + n;
    }
    *out = fr_text(fr_textf(f, "%s%s", made, text));
    return TS_OK;
}

/* Its parts between the separators, as a tuple. */
static ts_status text_split(fr *f, const char *text, const char *by, fr_value *out)
{
    size_t n = strlen(by);
    uint32_t count = 1, i = 0;
    if (!n)
        return fr_error(f, 0, TS_TILEVALUE, "split() by an empty string");
    for (const char *at = text; (at = strstr(at, by)); at += n)
        count++;
    fr_value *parts = TS_NEW_N(f->arena, fr_value, count);
    if (!parts)
        return fr_oom(f);
    for (const char *at; (at = strstr(text, by)); text = at + n)
        parts[i++] = fr_text(fr_textf(f, "%.*s", (int)(at - text), text));
    parts[i] = fr_text(text);
    return fr_container(f, FR_TUPLE, count, parts, out);
}

static ts_status text_join(fr *f, uint32_t node, const char *by, const fr_value *what, fr_value *out)
{
    fr_value items;
    const char *made = "";
    TS_TRY(fr_items(f, what, "join()", &items));
    for (uint32_t i = 0; i < items.n; i++) {
        if (items.as.items[i].kind != FR_STR)
            return fr_error(f, node, TS_TILETYPE, "join() takes strings, found %s", fr_say(f, &items.as.items[i]));
        made = fr_textf(f, "%s%s%s", made, i ? by : "", items.as.items[i].as.text);
    }
    *out = fr_text(made);
    return TS_OK;
}

static ts_status text_strip(fr *f, const char *method, const char *text, fr_value *out)
{
    size_t n = strlen(text), left = method[0] != 'r' ? text_spaces(text, n, false) : 0;
    size_t right = method[0] != 'l' && left < n ? text_spaces(text + left, n - left, true) : 0;
    *out = fr_text(fr_textf(f, "%.*s", (int)(n - left - right), text + left));
    return TS_OK;
}

static fr_int text_count(const char *text, const char *part)
{
    fr_int n = 0;
    size_t step = strlen(part);
    for (const char *at = text; step && (at = strstr(at, part)); at += step)
        n++;
    return n;
}

ts_status fr_text_method(fr *f, uint32_t node, const char *method, uint32_t n, const fr_value *args, fr_value *out)
{
    const char *text = args[0].as.text;
    if (strcmp(method, "startswith") == 0 || strcmp(method, "endswith") == 0)
        return text_ends(f, node, method, text, &args[1], out);
    if (strcmp(method, "join") == 0)
        return text_join(f, node, text, &args[1], out);
    for (uint32_t i = 1; i < n; i++)
        if (args[i].kind != FR_STR)
            return fr_error(f, node, TS_TILETYPE, "%s() takes strings, found %s", method, fr_say(f, &args[i]));
    if (strcmp(method, "upper") == 0 || strcmp(method, "lower") == 0)
        return text_case(f, node, method, text, out);
    if (strcmp(method, "replace") == 0)
        return text_replace(f, text, args[1].as.text, args[2].as.text, out);
    if (strcmp(method, "split") == 0)
        return text_split(f, text, args[1].as.text, out);
    if (strcmp(method, "count") == 0)
        *out = fr_number(text_count(text, args[1].as.text));
    else
        return text_strip(f, method, text, out);
    return TS_OK;
}
