/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods of texts, which are known at compile time. upper and lower of letters beyond ASCII, which depend on Unicode's
 * tables, are refused. Part of the front end (lower.h); the rows are builtins named "str.<method>" (builtin.c).
 */
#include "lang/lower.h"

static bool text_is_ascii(const char *text)
{
    while (*text && !(*text & 0x80))
        text++;
    return !*text;
}

static ts_status text_wants_texts(fr *f, const fr_builtin_call *c)
{
    for (uint32_t i = 1; i < c->n; i++)
        if (c->args[i].kind != FR_STR)
            return fr_error(f, c->node, TS_TILETYPE, "%s() takes strings, found %s", c->name + strlen("str."),
                            fr_say(f, &c->args[i]));
    return TS_OK;
}

/* ---- begin and end ----------------------------------------------------------------------------- */

/* What str.isspace holds of, in UTF-8. */
static const char *const text_spaces[] = {
    " ",            "\t",           "\n",           "\v",           "\f",           "\r",           "\x1c",
    "\x1d",         "\x1e",         "\x1f",         "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80",
    "\xe2\x80\x81", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86", "\xe2\x80\x87",
    "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f",
    "\xe3\x80\x80",
};

static bool text_is_at(const char *text, size_t n, bool end, const char *part)
{
    size_t n_part = strlen(part);
    return n_part <= n && memcmp(end ? text + n - n_part : text, part, n_part) == 0;
}

/* How many bytes the space at the begin or the end has; 0: there is none. */
static size_t text_space(const char *text, size_t n, bool end)
{
    for (size_t i = 0; i < TS_COUNT(text_spaces); i++)
        if (text_is_at(text, n, end, text_spaces[i]))
            return strlen(text_spaces[i]);
    return 0;
}

static ts_status text_without_spaces(fr *f, const fr_builtin_call *c, bool left, bool right, fr_value *out)
{
    const char *text = c->args[0].as.text;
    size_t n = strlen(text), space;
    for (; left && (space = text_space(text, n, false)); n -= space)
        text += space;
    for (; right && (space = text_space(text, n, true)); n -= space)
        continue;
    *out = fr_text(fr_textf(f, "%.*s", (int)n, text));
    return TS_OK;
}

ts_status fr_text_strip(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_without_spaces(f, c, true, true, out);
}

ts_status fr_text_lstrip(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_without_spaces(f, c, true, false, out);
}

ts_status fr_text_rstrip(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_without_spaces(f, c, false, true, out);
}

/* Whether it begins or ends with a text, or with one of a tuple. */
static ts_status text_has_at(fr *f, const fr_builtin_call *c, bool end, fr_value *out)
{
    const fr_value *what = &c->args[1], *parts = what->kind == FR_TUPLE ? what->as.items : what;
    const char *text = c->args[0].as.text;
    uint32_t n_parts = what->kind == FR_TUPLE ? what->n : 1;
    bool found = false;
    for (uint32_t i = 0; i < n_parts; i++) {
        if (parts[i].kind != FR_STR)
            return fr_error(f, c->node, TS_TILETYPE, "%s() takes a string or a tuple of strings, found %s",
                            c->name + strlen("str."), fr_say(f, &parts[i]));
        found |= text_is_at(text, strlen(text), end, parts[i].as.text);
    }
    *out = fr_bool(found);
    return TS_OK;
}

ts_status fr_text_startswith(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_has_at(f, c, false, out);
}

ts_status fr_text_endswith(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_has_at(f, c, true, out);
}

/* ---- letters ----------------------------------------------------------------------------------- */

/* The letters from `first`, a or A, become the others. */
static ts_status text_case(fr *f, const fr_builtin_call *c, char first, fr_value *out)
{
    const char *text = c->args[0].as.text, *method = c->name + strlen("str.");
    char *made = ts__arena_text(f->arena, text, strlen(text));
    if (!made)
        return fr_oom(f);
    if (!text_is_ascii(text))
        return fr_error(f, c->node, TS_TILETYPE, "%s() of %s\n  help: letters beyond ASCII are left to Python: "
                        "ct.static_eval(text.%s())", method, fr_say(f, &c->args[0]), method);
    for (char *at = made; *at; at++)
        *at = *at >= first && *at <= first + 25 ? (char)(*at ^ 32) : *at;
    *out = fr_text(made);
    return TS_OK;
}

ts_status fr_text_upper(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_case(f, c, 'a', out);
}

ts_status fr_text_lower(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return text_case(f, c, 'A', out);
}

/* ---- parts ------------------------------------------------------------------------------------- */

/* Every place of a text in another, with another text there. */
ts_status fr_text_replace(fr *f, const fr_builtin_call *c, fr_value *out)
{
    TS_TRY(text_wants_texts(f, c));
    const char *text = c->args[0].as.text, *old = c->args[1].as.text, *with = c->args[2].as.text, *made = "", *at;
    size_t n = strlen(old);
    if (!n)
        return fr_error(f, c->node, TS_TILEVALUE, "replace() of an empty string");
    while ((at = strstr(text, old))) {
        made = fr_textf(f, "%s%.*s%s", made, (int)(at - text), text, with);
        text = at + n;
    }
    *out = fr_text(fr_textf(f, "%s%s", made, text));
    return TS_OK;
}

/* How often a part, which is not empty, stands in a text, without overlaps. */
static uint32_t text_places(const char *text, const char *part)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

/* Its parts between the separators, as a tuple. */
ts_status fr_text_split(fr *f, const fr_builtin_call *c, fr_value *out)
{
    TS_TRY(text_wants_texts(f, c));
    const char *text = c->args[0].as.text, *by = c->args[1].as.text;
    if (!*by)
        return fr_error(f, c->node, TS_TILEVALUE, "split() by an empty string");
    uint32_t count = text_places(text, by) + 1, i = 0;
    fr_value *parts = TS_NEW_N(f->arena, fr_value, count);
    if (!parts)
        return fr_oom(f);
    for (const char *at; (at = strstr(text, by)); text = at + strlen(by))
        parts[i++] = fr_text(fr_textf(f, "%.*s", (int)(at - text), text));
    parts[i] = fr_text(text);
    return fr_container(f, FR_TUPLE, count, parts, out);
}

/* The empty text stands before every character and behind the last. */
ts_status fr_text_count(fr *f, const fr_builtin_call *c, fr_value *out)
{
    TS_TRY(text_wants_texts(f, c));
    const char *text = c->args[0].as.text, *part = c->args[1].as.text;
    *out = fr_number(*part ? text_places(text, part) : fr_characters(text) + 1);
    return TS_OK;
}

ts_status fr_text_join(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value items;
    const char *by = c->args[0].as.text, *made = "";
    TS_TRY(fr_items(f, &c->args[1], "join()", &items));
    for (uint32_t i = 0; i < items.n; i++) {
        if (items.as.items[i].kind != FR_STR)
            return fr_error(f, c->node, TS_TILETYPE, "join() takes strings, found %s", fr_say(f, &items.as.items[i]));
        made = fr_textf(f, "%s%s%s", made, i ? by : "", items.as.items[i].as.text);
    }
    *out = fr_text(made);
    return TS_OK;
}
