/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to the author of a kernel: file, line, column, the source line with a caret, what was
 * found and wanted, the way out, and the chain of calls that led there:
 *
 *     blur.py:12:9: cannot add a float16 tile and a bfloat16 tile
 *        12 |     c = a + b
 *           |         ^^^^^
 *       help: convert one side with ct.astype(x, ct.float32)
 *     blur.py:20:9: 'mix' is called here, in 'kernel'
 *        20 |     y = mix(x)
 *           |         ^^^^^^
 *
 * Where the place is in a function of Tessera's own, the message begins with the user's line that led there.
 *
 * Part of the front end (lower.h).
 */
#include "lang/lower.h"
#include <ctype.h>
#include <stdio.h>

const char *fr_string(const fr *f, uint32_t string)
{
    return ts_pack_string(&f->pack, string);
}

const char *fr_textf(fr *f, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *kept = ts__arena_get(f->arena, (size_t)TS_MAX(n, 0) + 1); /* strings of the kernel are of any length */
    if (kept)
        vsnprintf(kept, (size_t)TS_MAX(n, 0) + 1, format, again);
    va_end(again);
    return kept ? kept : "?";
}

ts_status fr_oom(fr *f)
{
    if (f->b.too_many)
        return ts_builder_status(&f->b, f->err);
    return ts_fail(f->err, TS_NOMEM, "out of memory while compiling '%s'",
                   f->frame ? f->frame->name : "a kernel");
}

/* ---- places -------------------------------------------------------------------------- */

ts_loc fr_at(fr *f, uint32_t node)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    ts_loc before = f->b.loc;
    f->node = node;
    if (!f->frame)
        return before;
    const ts_pack_function *fn = &f->pack.functions[f->frame->function];
    const char *file = fr_string(f, fn->file);
    f->b.loc = ts_loc_add(
        f->module,
        &(ts_loc_info){.file = ts_intern(f->module, file, strlen(file)),
                       .line = n->line,
                       .col = n->col,
                       .end_line = n->end_line,
                       .end_col = n->end_col,
                       .function = ts_intern(f->module, f->frame->name, strlen(f->frame->name)),
                       .caller = f->frame->call_loc});
    return before;
}

/* The text of line `line` of a packed function's file, without its end; NULL when it is not packed.
 */
static const char *diag_line(const fr *f, const ts_pack_function *fn, uint32_t line, int *n)
{
    const char *at = fr_string(f, fn->source);
    if (line < fn->first_line)
        return NULL;
    for (uint32_t i = fn->first_line; i < line && at; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at || !*at)
        return NULL;
    *n = (int)strcspn(at, "\r\n");
    return at;
}

/* Characters of a UTF-8 text of n bytes. */
static int diag_width(const char *text, int n)
{
    int width = 0;
    for (int i = 0; i < n; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

static void diag_snippet(ts_text *out, const fr *f, uint32_t function, const ts_node *node)
{
    int n, from = (int)TS_MIN(node->col, 100000u);
    const char *line = diag_line(f, &f->pack.functions[function], node->line, &n);
    if (!line)
        return;
    from = TS_MIN(from, n);
    int to = node->end_line == node->line ? (int)TS_MIN(node->end_col, (uint32_t)n) : n;
    to = TS_MAX(to, from);
    ts__text_printf(out, "\n%6u | %.*s\n       | %*s^", node->line, n, line, diag_width(line, from),
                   "");
    for (int i = 1; i < diag_width(line + from, to - from); i++)
        ts__text_putc(out, '~');
}

/* A line of a function, and the line itself. */
static void diag_place(ts_text *out, const fr *f, uint32_t function, const ts_node *node, const char *text)
{
    const ts_pack_function *fn = &f->pack.functions[function];
    ts__text_printf(out, "%s:%u:%u: %s", fr_string(f, fn->file), node->line, node->col + 1, text);
    diag_snippet(out, f, function, node);
}

/* The innermost frame that is the user's own, and the node in it; all of the library: the innermost. */
static const fr_frame *diag_users(const fr *f, uint32_t *node)
{
    uint32_t at = *node;
    for (const fr_frame *frame = f->frame; frame; at = frame->call_node, frame = frame->caller)
        if (!f->pack.functions[frame->function].is_library) {
            *node = at;
            return frame;
        }
    return f->frame;
}

/* The calls that led to the message, but for the one in frame `told`, which the message begins with. */
static void diag_notes(ts_text *out, fr *f, const fr_frame *told)
{
    int shown = 0;
    const fr_frame *before = NULL;
    for (const fr_frame *frame = f->frame; frame && frame->caller; before = frame, frame = frame->caller) {
        if (frame->caller == told && told != f->frame)
            continue;
        if (before && before->call_node == frame->call_node) /* of recursion once */
            continue;
        if (++shown > 8) {
            ts__text_puts(out, "\n  [... more callers]");
            return;
        }
        ts__text_putc(out, '\n');
        diag_place(out, f, frame->caller->function, ts_pack_node(&f->pack, frame->call_node),
                   fr_textf(f, "'%s' is called here, in '%s'", frame->name, frame->caller->name));
    }
}

/* Whether the line names a function of the module of another language, as its users call it. */
static bool diag_is_elsewhere(const fr *f, const char *line, const char *end)
{
    const char *other = f->dialect->level == TS_LEVEL_T ? "cuda." : "ct.";
    for (const char *at = line; (at = strstr(at, other)) != NULL && at < end; at++)
        if (at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            return true;
    return false;
}

/* Lines after the first. Help that names functions of one language's module is for that language. */
static void diag_more(ts_text *out, const fr *f, const char *more)
{
    for (const char *end; *more; more = *end ? end + 1 : end) {
        end = more + strcspn(more, "\n");
        if (strncmp(more, "  help:", 7) != 0 || !diag_is_elsewhere(f, more, end))
            ts__text_printf(out, "\n%.*s", (int)(end - more), more);
    }
}

ts_status fr_error(fr *f, uint32_t node, ts_status status, const char *format, ...)
{
    char message[3000];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!f->err)
        return status;
    uint32_t inner = node ? node : f->node, at = inner;
    const fr_frame *users = diag_users(f, &at);
    char *more = strchr(message, '\n');
    if (more)
        *more++ = 0;
    ts_text text;
    ts__text_init(&text, f->arena->alloc);
    diag_place(&text, f, users->function, ts_pack_node(&f->pack, at), message);
    if (more)
        diag_more(&text, f, more);
    if (users != f->frame) {
        ts__text_putc(&text, '\n');
        diag_place(&text, f, f->frame->function, ts_pack_node(&f->pack, inner),
                   fr_textf(f, "seen here, in '%s'", f->frame->name));
    }
    diag_notes(&text, f, users);
    ts_fail(f->err, status, "%s", text.failed ? message : ts__text_get(&text));
    ts__text_deinit(&text);
    return status;
}

ts_status fr_not_pure(fr *f, const char *op, uint32_t node, const char *found)
{
    return fr_error(f, node, TS_SYNTAX,
                    "%s(): the function must be pure: no memory, branches, loops or reductions\n  found: %s\n"
                    "  help: ct.where chooses between values", op, found);
}

/* Operations that begin with a kind of value are methods, not functions of the module: without it they are as they are
 * written. */
static const char *diag_written(const char *name)
{
    static const char *const kinds[] = {"array_", "view_", "raw_", "tile_"};
    for (size_t i = 0; i < TS_COUNT(kinds); i++)
        if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
            return name + strlen(kinds[i]);
    return name;
}

static bool diag_is_method(const char *name)
{
    return diag_written(name) != name;
}

const char *fr_op_name(const fr_call *c)
{
    static const char library[] = "libdevice_"; /* the module of cuda that the function is in */
    if (strncmp(c->op->name, library, strlen(library)) == 0)
        return c->op->name + strlen(library);
    return diag_written(c->op->name);
}

/* ---- naming values ------------------------------------------------------------------- */

const char *fr_say_shape(fr *f, const fr_shape *shape)
{
    char room[200];
    int n = 0;
    for (uint32_t i = 0; i < shape->rank; i++)
        n += snprintf(room + n, sizeof room - (size_t)n, "%s%lld", i ? ", " : "",
                      (long long)shape->dims[i]);
    return fr_textf(f, "(%.*s%s)", n, room, shape->rank == 1 ? "," : "");
}

static const char *diag_say_number(fr *f, const fr_value *v)
{
    const char *type = v->dtype ? ts_dtype_name((ts_dtype)v->dtype) : "";
    if (v->cat == FR_COMPLEX)
        return fr_textf(f, "constant %s%s", type, fr_plain_text(f, v));
    if (v->cat == FR_FLOAT)
        return fr_textf(f, "constant %s%s%s%s", type, *type ? "(" : "", fr_real_text(f, v->as.f),
                        *type ? ")" : "");
    if (v->cat == FR_BOOL)
        return v->as.i ? "constant True" : "constant False";
    int64_t small;
    if (!fr_is_int(v, &small))
        return "an integer constant beyond 64 bits";
    return fr_textf(f, "constant %s%s%lld%s", type, *type ? "(" : "", (long long)small,
                    *type ? ")" : "");
}

static const char *diag_say_tuple(fr *f, const fr_value *v)
{
    if (v->n > 6)
        return fr_textf(f, "tuple of %u items", v->n);
    const char *text = "";
    for (uint32_t i = 0; i < v->n; i++)
        text = fr_textf(f, "%s%s%s", text, i ? ", " : "", fr_say(f, &v->as.items[i]));
    return fr_textf(f, "tuple (%s%s)", text, v->n == 1 ? "," : "");
}

static const char *diag_say_tile(fr *f, const fr_value *v)
{
    fr_shape shape = fr_shape_of(f, v);
    const char *type = ts_dtype_name((ts_dtype)v->dtype);
    return shape.rank ? fr_textf(f, "%s tile of shape %s", type, fr_say_shape(f, &shape))
                      : fr_textf(f, "%s scalar", type);
}

static const char *diag_say_array(fr *f, const fr_array *a)
{
    if (a->element && !a->rank)
        return fr_textf(f, "%.120s", a->element->name);
    if (a->element)
        return fr_textf(f, "array of rank %u of %.120s", a->rank, a->element->name);
    return fr_textf(f, "%s array of rank %u", ts_dtype_name((ts_dtype)a->dtype), a->rank);
}

/* What has a name of its own; NULL for others. */
static const char *diag_say_named(fr *f, const fr_value *v)
{
    switch (v->kind) {
    case FR_RECORD:
        return fr_textf(f, "instance of '%s'", fr_string(f, f->pack.objects[v->cls].x));
    case FR_ELEMENT:
        return fr_textf(f, "dtype %.120s", v->as.element->name);
    case FR_DTYPE:
        return fr_textf(f, "dtype %s", ts_dtype_name((ts_dtype)v->dtype));
    case FR_ENUM:
        return fr_textf(f, "%s.%s", fr_string(f, f->pack.objects[v->as.object].x),
                        fr_string(f, ts_pack_member(&f->pack, v->as.object, TS_ENUM_NAME)));
    case FR_MODULE:
        return fr_textf(f, "'%s'", fr_string(f, f->pack.objects[v->as.object].x));
    case FR_OP:
        return fr_textf(f, "%s '%s'", f->dialect->operation, f->dialect->ops[v->n].name);
    case FR_METHOD:
        return fr_textf(f, "method '%s'", diag_written(f->dialect->ops[v->n].name));
    case FR_BUILTIN:
        return fr_textf(f, "builtin '%s'", v->as.text);
    case FR_FUNC:
        return fr_textf(f, "function '%s'", v->as.function->name);
    case FR_OPAQUE:
        return fr_textf(f, "a host object (%.200s)", fr_string(f, f->pack.objects[v->as.object].x));
    default:
        return NULL;
    }
}

const char *fr_say(fr *f, const fr_value *v)
{
    static const char *const plain[] = {[FR_UNBOUND] = "nothing",
                                        [FR_CONFLICT] = "a value whose type differs between paths",
                                        [FR_NONE] = "None",
                                        [FR_ELLIPSIS] = "...",
                                        [FR_LIST] = "list of arrays",
                                        [FR_VIEW] = "tiled view",
                                        [FR_RAW] = "raw memory",
                                        [FR_CONTEXT] = "a context manager",
                                        [FR_SLICE] = "a slice",
                                        [FR_RANGE] = "a range",
                                        [FR_GROUP] = "a group of threads",
                                        [FR_SEQUENCE] = "a sequence of run time",
                                        [FR_ITER] = "a static_iter",
                                        [FR_DICT] = "a dict",
                                        [FR_FSTRING] = "a formatted string"};
    if (v->kind == FR_ARRAY)
        return diag_say_array(f, v->as.array);
    const char *named = diag_say_named(f, v);
    if (named)
        return named;
    switch (v->kind) {
    case FR_NUMBER:
        return diag_say_number(f, v);
    case FR_STR:
        return fr_textf(f, "string \"%.60s\"", v->as.text);
    case FR_TUPLE:
        return diag_say_tuple(f, v);
    case FR_BOUND:
        return fr_textf(f, "method of %s", fr_say(f, &v->as.items[1]));
    case FR_TILE:
        return diag_say_tile(f, v);
    default:
        return plain[v->kind] ? plain[v->kind] : "a value";
    }
}

/* ---- what a language does not have ---------------------------------------------------- */

enum { DIAG_T = 1, DIAG_S = 2, DIAG_TS = 3 };

static const struct {
    uint8_t languages, of;
    const char *name, *help;
} diag_hints[] = {
#define TS_HINT(languages, of, name, help) {DIAG_##languages, FR_HINT_##of, name, help},
#include "lang/hint.def"
};

/* A name, or "module.*" for all of a module. */
static bool diag_is_named(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);
    return strcmp(pattern, name) == 0 || (pattern[n - 1] == '*' && strncmp(pattern, name, n - 1) == 0);
}

const char *fr_hint(fr *f, fr_hint_of of, const char *name)
{
    uint32_t language = f->dialect->level == TS_LEVEL_T ? DIAG_T : DIAG_S;
    for (size_t i = 0; i < TS_COUNT(diag_hints); i++)
        if (diag_hints[i].of == of && diag_hints[i].languages & language && diag_is_named(diag_hints[i].name, name))
            return fr_textf(f, "\n  help: %s", diag_hints[i].help);
    return "";
}

const char *fr_call_help(fr *f, const char *name, const char *op)
{
    const char *hint = fr_hint(f, FR_HINT_CALL, name);
    if (op && f->dialect->level == TS_LEVEL_T)
        return fr_textf(f, "\n  help: use ct.%s for tiles", op);
    return *hint ? hint : fr_textf(f, "\n  help: only %s can be called", f->dialect->callables);
}

const char *fr_opaque_help(fr *f, const fr_value *v)
{
    const char *help = fr_string(f, f->pack.objects[v->as.object].z);
    return *help ? fr_textf(f, "\n  help: %s", help) : "";
}

/* ---- names near a name ------------------------------------------------------------------ */

const char *fr_did_you_mean(fr *f, const char *near)
{
    return near ? fr_textf(f, "\n  help: did you mean '%s'?", near) : "";
}

/* ---- names of operations ------------------------------------------------------------- */

const char *fr_op_called(const fr *f, const char *name)
{
    for (const char *const(*pair)[2] = f->dialect->numpy; pair && (*pair)[0]; pair++)
        if (strcmp((*pair)[0], name) == 0)
            return (*pair)[1];
    return fr_op_find(f, name) < f->dialect->n_ops && !diag_is_method(name) ? name : NULL;
}

static const char *diag_op_name(const void *user, uint32_t i)
{
    const fr *f = user;
    return i >= f->dialect->n_ops ? NULL : diag_is_method(f->dialect->ops[i].name) ? "" : f->dialect->ops[i].name;
}

const char *fr_op_nearest(const fr *f, const char *name)
{
    return ts__nearest(name, diag_op_name, f);
}
