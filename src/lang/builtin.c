/* SPDX-License-Identifier: Apache-2.0
 *
 * Python's builtins in kernels: range, len, min, max, abs, int, float, bool, tuple, divmod and
 * friends, and functions of `math`. Part of the front end (lower.h).
 */
#include "lang/lower.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool builtin_is_int(const fr *f, const fr_value *v)
{
    return (v->kind == FR_NUMBER && v->cat != FR_FLOAT) ||
           (v->kind == FR_TILE && fr_dtype_is_int((ts_dtype)v->dtype) && !fr_shape_of(f, v).rank);
}

static ts_status builtin_range(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value *parts = TS_NEW_N(f->arena, fr_value, 3);
    if (!parts)
        return fr_oom(f);
    for (uint32_t i = 0; i < c->n; i++)
        if (!builtin_is_int(f, &c->args[i]))
            return fr_error(f, c->node, TS_TILETYPE, "range() takes integer scalars, found %s",
                            fr_say(f, &c->args[i]));
    bool counter = f->dialect->counter != NULL; /* what is left out has no say in it */
    parts[0] = c->n > 1 ? c->args[0] : counter ? fr_strict(TS_DTYPE_bool_, 0) : fr_number(0);
    parts[1] = c->args[c->n > 1];
    parts[2] = c->n > 2 ? c->args[2] : counter ? fr_strict(TS_DTYPE_bool_, 1) : fr_number(1);
    *out = (fr_value){.kind = FR_RANGE, .as.items = parts};
    return TS_OK;
}

/* By a method of the user's class; `found` where there is one. */
static ts_status builtin_method(fr *f, const fr_builtin_call *c, const char *name, fr_value *out, bool *found)
{
    fr_value method;
    TS_TRY(fr_record_method(f, &c->args[0], name, &method, found));
    return *found ? fr_call_value(f, &method, c->node, 0, NULL, out) : TS_OK;
}

static ts_status builtin_len(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *v = &c->args[0];
    bool found;
    TS_TRY(builtin_method(f, c, "__len__", out, &found));
    if (found)
        return TS_OK;
    if (v->kind == FR_TUPLE || v->kind == FR_ITER || v->kind == FR_DICT)
        *out = fr_number(v->n);
    else if (v->kind == FR_STR)
        *out = fr_number(fr_characters(v->as.text));
    else if (v->kind == FR_LIST)
        *out = fr_tile(TS_DTYPE_int32, v->as.list->length);
    else
        return fr_error(f, c->node, TS_TILETYPE, "len() of %s%s", fr_say(f, v),
                        v->kind == FR_TILE || v->kind == FR_ARRAY
                            ? "\n  help: x.shape[0] is the first extent"
                            : "");
    return TS_OK;
}

/* Of two constants the first, unless the second is greater (or less): what Python does, with NaN too. */
static ts_status builtin_greater(fr *f, bool is_max, const fr_value *x, const fr_value *y, fr_value *out)
{
    fr_value room[2], second;
    bool truth;
    ts_dtype dtype;
    TS_TRY(fr_member_value(f, &x, &room[0]));
    TS_TRY(fr_member_value(f, &y, &room[1]));
    if (x->kind == FR_TILE || y->kind == FR_TILE)
        return fr_minmax(f, is_max, x, y, 0, out);
    TS_TRY(fr_compare(f, is_max ? TS_OPERATOR_Gt : TS_OPERATOR_Lt, y, x, &second));
    if (!fr_truth(&second, &truth))
        return fr_minmax(f, is_max, x, y, 0, out);
    second = truth ? *y : *x;
    if (second.kind == FR_NUMBER && (x->dtype || y->dtype)) {
        TS_TRY(fr_common_dtype(f, is_max ? "max" : "min", x, y, &dtype));
        return fr_convert(f, &second, dtype, TS_RN, out);
    }
    *out = second;
    return TS_OK;
}

static ts_status builtin_minmax(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *items = c->args;
    uint32_t n = c->n;
    if (n == 1 && items->kind == FR_TUPLE) {
        n = items->n;
        items = items->as.items;
    } else if (n == 1) {
        return fr_error(f, c->node, TS_TILETYPE, "%s() of %s\n  help: ct.%s(tile) reduces a tile",
                        c->name, fr_say(f, items), c->name);
    }
    if (n == 0)
        return fr_error(f, c->node, TS_TILEVALUE, "%s() of an empty tuple", c->name);
    *out = items[0];
    for (uint32_t i = 1; i < n; i++)
        TS_TRY(builtin_greater(f, c->name[1] == 'a', out, &items[i], out));
    return TS_OK;
}

static ts_status builtin_op(fr *f, const fr_builtin_call *c, fr_value *out)
{
    bool found = false;
    if (strcmp(c->name, "abs") == 0)
        TS_TRY(builtin_method(f, c, "__abs__", out, &found));
    if (!found && c->n == 1 && c->args->kind == FR_NUMBER && c->args->cat == FR_BOOL && !c->args->dtype) {
        *out = fr_number(c->args->as.i); /* abs(True) is 1 */
        return TS_OK;
    }
    return found ? TS_OK : fr_call_op(f, c->node, c->name, c->n, c->args, out);
}

/* A number as float("...") reads it: digits, "inf" and "nan" in any case, spaces around. */
static bool builtin_float_text(const char *text, double *out)
{
    char *end;
    if (strpbrk(text, "xXpP(")) /* C reads hexadecimal numbers and payloads, Python does not */
        return false;
    *out = strtod(text, &end);
    return end != text && end[strspn(end, " \t\n\r\f\v")] == 0;
}

static bool builtin_int_text(const char *text, fr_int *out)
{
    text += strspn(text, " \t\n\r\f\v");
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    size_t n = strspn(text, "0123456789");
    *out = 0;
    for (size_t i = 0; i < n && n < 36; i++)
        *out = *out * 10 + (text[i] - '0');
    *out = negative ? -*out : *out;
    return n > 0 && n < 36 && text[n + strspn(text + n, " \t\n\r\f\v")] == 0;
}

/* int(x), float(x), bool(x): numbers stay loose, tiles become int32, float32, bool_. */
static ts_status builtin_cast(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *v = &c->args[0];
    ts_dtype dtype = c->name[0] == 'i'   ? TS_DTYPE_int32
                     : c->name[0] == 'f' ? TS_DTYPE_float32
                                         : TS_DTYPE_bool_;
    bool truth, found;
    double real;
    fr_int whole;
    if (v->cls && dtype == TS_DTYPE_bool_) {
        TS_TRY(fr_record_truth(f, v, out, &found));
        if (found)
            return fr_call_builtin(f, c->node, "bool", 1, out, out);
    }
    TS_TRY(builtin_method(f, c, fr_textf(f, "__%s__", c->name), out, &found));
    if (!found && v->kind == FR_RECORD && dtype != TS_DTYPE_bool_)
        TS_TRY(builtin_method(f, c, "__index__", out, &found));
    if (found)
        return TS_OK;
    if (v->kind == FR_TILE)
        return fr_convert(f, v, dtype, TS_RN, out);
    if (dtype == TS_DTYPE_float32 && v->kind == FR_STR && builtin_float_text(fr_plain_text(f, v), &real)) {
        *out = fr_real(real);
        return TS_OK;
    }
    if (dtype == TS_DTYPE_int32 && v->kind == FR_STR && builtin_int_text(v->as.text, &whole)) {
        *out = fr_number(whole);
        return TS_OK;
    }
    if (dtype != TS_DTYPE_bool_ && v->kind == FR_STR)
        return fr_error(f, c->node, TS_TILETYPE, "%s() cannot read %s as a number", c->name, fr_say(f, v));
    if (dtype == TS_DTYPE_bool_ && fr_truth(v, &truth)) {
        *out = fr_bool(truth);
        return TS_OK;
    }
    if (v->kind != FR_NUMBER)
        return fr_error(f, c->node, TS_TILETYPE, "%s() takes a number or a tile, found %s", c->name,
                        fr_say(f, v));
    if (dtype == TS_DTYPE_float32)
        *out = fr_real(fr_as_double(v));
    else if (v->cat == FR_FLOAT && !(fabs(v->as.f) < 1e37))
        return fr_error(f, c->node, TS_TILEVALUE, "int() of %s", fr_say(f, v));
    else
        *out = fr_number(v->cat == FR_FLOAT ? (fr_int)v->as.f : v->as.i);
    return TS_OK;
}

static ts_status builtin_tuple(fr *f, const fr_builtin_call *c, fr_value *out)
{
    return c->n ? fr_items(f, &c->args[0], "tuple()", out) : fr_tuple(f, 0, NULL, out);
}

static ts_status builtin_str(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *v = &c->args[0];
    TS_TRY(fr_text_of(f, v, c->name[0] == 'r', out));
    if (out->kind == FR_STR || out->kind == FR_FSTRING)
        return TS_OK;
    if (v->kind != FR_TILE)
        return fr_error(f, c->node, TS_TILETYPE, "%s() of %s", c->name, fr_say(f, v));
    fr_value empty = fr_text(""), *pair = TS_NEW_N(f->arena, fr_value, 2);
    if (!pair)
        return fr_oom(f);
    pair[0] = *v;
    pair[1] = empty;
    return fr_container(f, FR_FSTRING, 2, pair, out);
}

static ts_status builtin_getattr(fr *f, const fr_builtin_call *c, fr_value *out)
{
    if (c->args[1].kind != FR_STR)
        return fr_error(f, c->node, TS_TILETYPE,
                        "getattr() takes the name as a string known at compile time");
    ts_error *err = f->err;
    uint32_t node = f->node;
    if (c->n == 3)
        f->err = NULL;
    ts_status status = fr_attribute_of(f, c->node, &c->args[0], c->args[1].as.text, out);
    f->err = err;
    if (c->n < 3 || status == TS_OK || status == TS_NOMEM)
        return status;
    f->node = node;
    *out = c->args[2];
    return TS_OK;
}

static ts_status builtin_slice(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value *parts = TS_NEW_N(f->arena, fr_value, 3);
    if (!parts)
        return fr_oom(f);
    parts[0] = c->n > 1 ? c->args[0] : fr_none();
    parts[1] = c->args[c->n > 1];
    parts[2] = c->n > 2 ? c->args[2] : fr_none();
    return fr_container(f, FR_SLICE, 3, parts, out);
}

static ts_status builtin_sum(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value items;
    if (c->args[0].kind == FR_TILE)
        return fr_error(f, c->node, TS_TILETYPE, "sum() of %s\n  help: ct.sum(tile) reduces a tile",
                        fr_say(f, &c->args[0]));
    TS_TRY(fr_items(f, &c->args[0], "sum()", &items));
    *out = c->n > 1 ? c->args[1] : fr_number(0);
    for (uint32_t i = 0; i < items.n; i++)
        TS_TRY(fr_binary(f, TS_OPERATOR_Add, out, &items.as.items[i], (fr_options){0}, out));
    return TS_OK;
}

static ts_status builtin_enumerate(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value items, *made;
    if (c->n > 1 && (c->args[1].kind != FR_NUMBER || c->args[1].cat > FR_INT))
        return fr_error(f, c->node, TS_TILETYPE, "enumerate() starts at an integer known at compile time, found %s",
                        fr_say(f, &c->args[1]));
    fr_int start = c->n > 1 ? c->args[1].as.i : 0;
    TS_TRY(fr_items(f, &c->args[0], "enumerate()", &items));
    if (!(made = TS_NEW_N(f->arena, fr_value, items.n + 1)))
        return fr_oom(f);
    for (uint32_t i = 0; i < items.n; i++)
        TS_TRY(fr_tuple(f, 2, (fr_value[]){fr_number(start + i), items.as.items[i]}, &made[i]));
    return fr_tuple(f, items.n, made, out);
}

static ts_status builtin_zip(fr *f, const fr_builtin_call *c, fr_value *out)
{
    uint32_t n = UINT32_MAX;
    fr_value *columns = TS_NEW_N(f->arena, fr_value, c->n + 1),
             *row = TS_NEW_N(f->arena, fr_value, c->n + 1);
    if (!columns || !row)
        return fr_oom(f);
    for (uint32_t i = 0; i < c->n; i++) {
        TS_TRY(fr_items(f, &c->args[i], "zip()", &columns[i]));
        n = TS_MIN(n, columns[i].n);
    }
    n = c->n ? n : 0;
    fr_value *made = TS_NEW_N(f->arena, fr_value, (size_t)n + 1);
    if (!made)
        return fr_oom(f);
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < c->n; i++)
            row[i] = columns[i].as.items[k];
        TS_TRY(fr_tuple(f, c->n, row, &made[k]));
    }
    return fr_tuple(f, n, made, out);
}

static ts_status builtin_reversed(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value items;
    TS_TRY(fr_items(f, &c->args[0], "reversed()", &items));
    TS_TRY(fr_tuple(f, items.n, items.as.items, out));
    for (uint32_t i = 0; i < items.n; i++)
        out->as.items[i] = items.as.items[items.n - 1 - i];
    return TS_OK;
}

/* enumerate, zip and reversed: of tuples they are a tuple. */
static ts_status builtin_sequence(fr *f, const fr_builtin_call *c, fr_value *out)
{
    bool done;
    TS_TRY(fr_sequence_call(f, c->name, c->n, c->args, out, &done));
    if (done)
        return TS_OK;
    fr_builtin *of_tuples = c->name[0] == 'e' ? builtin_enumerate : c->name[0] == 'z' ? builtin_zip : builtin_reversed;
    return of_tuples(f, c, out);
}

static ts_status builtin_hasattr(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value missing = {.kind = FR_UNBOUND}, args[3] = {c->args[0], c->args[1], missing};
    TS_TRY(builtin_getattr(f, &(fr_builtin_call){c->node, 3, c->name, args}, out));
    *out = fr_bool(out->kind != FR_UNBOUND);
    return TS_OK;
}

static ts_status builtin_isinstance(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *classes = &c->args[1];
    uint32_t n = 1;
    if (classes->kind == FR_TUPLE) {
        n = classes->n;
        classes = classes->as.items;
    }
    *out = fr_bool(false);
    for (uint32_t i = 0; i < n; i++) {
        bool number = c->args->kind == FR_TILE || c->args->kind == FR_NUMBER;
        if (classes[i].kind == FR_DTYPE && f->dialect->level == TS_LEVEL_S) { /* numba's types are classes of numbers */
            *out = fr_bool(out->as.i || (number && classes[i].dtype == c->args->dtype));
            continue;
        }
        if (classes[i].kind != FR_BUILTIN && classes[i].kind != FR_MODULE && classes[i].kind != FR_OPAQUE)
            return fr_error(f, c->node, TS_TILETYPE, "isinstance() takes a class or a tuple of classes, found %s%s",
                            fr_say(f, &classes[i]),
                            classes[i].kind == FR_DTYPE ? "\n  help: x.dtype == ct.float32 compares dtypes" : "");
        if (fr_is_instance(f, &c->args[0], &classes[i]))
            *out = fr_bool(true);
    }
    return TS_OK;
}

/* The class of a constant. */
static ts_status builtin_type(fr *f, const fr_builtin_call *c, fr_value *out)
{
    static const char *const names[] = {"bool", "int", "float", "complex", "str", "tuple", "dict", "range", "slice"};
    const fr_value *v = &c->args[0];
    if (v->cls) {
        *out = (fr_value){.kind = FR_MODULE, .as.object = v->cls};
        return TS_OK;
    }
    if (v->kind == FR_ENUM)
        return fr_object(f, ts_pack_member(&f->pack, v->as.object, TS_ENUM_CLASS), out);
    for (size_t i = 0; i < TS_COUNT(names) && v->kind != FR_TILE; i++)
        if (fr_is_instance(f, v, &(fr_value){.kind = FR_BUILTIN, .as.text = names[i]})) {
            *out = (fr_value){.kind = FR_BUILTIN, .as.text = names[i]};
            return TS_OK;
        }
    return fr_error(f, c->node, TS_TILETYPE, "type() of %s\n  help: isinstance(x, ct.Tile), or x.dtype", fr_say(f, v));
}

/* Constants decide where they can; of the others the truths are joined. */
static ts_status builtin_any(fr *f, const fr_builtin_call *c, fr_value *out)
{
    fr_value items;
    bool known, truth, is_any = c->name[1] == 'n', found = false;
    ts_val cond, all = 0;
    if (c->args->kind == FR_TILE && fr_shape_of(f, c->args).rank)
        return fr_error(f, c->node, TS_TILETYPE, "%s() of %s\n  help: ct.%s(tile) reduces a tile", c->name,
                        fr_say(f, c->args), c->name);
    TS_TRY(fr_items(f, &c->args[0], c->name, &items));
    for (uint32_t i = 0; i < items.n; i++) {
        TS_TRY(fr_condition(f, c->node, &items.as.items[i], &known, &truth, &cond));
        found |= known && truth == is_any;
        if (!known)
            all = all ? ts_op2(&f->b, is_any ? TS_OP_ori : TS_OP_andi, all, cond, 0) : cond;
    }
    *out = found || !all ? fr_bool(found == is_any) : fr_tile(TS_DTYPE_bool_, all);
    return TS_OK;
}

/* To an integer, halves to even, or to so many digits behind the point, as Python's round. */
static ts_status builtin_round(fr *f, const fr_builtin_call *c, fr_value *out)
{
    enum { MOST = 300 };
    const fr_value *v = c->args;
    char room[2 * MOST + 40];
    int64_t digits = 0;
    bool found = false, to_digits = c->n > 1 && c->args[1].kind != FR_NONE;
    TS_TRY(builtin_method(f, c, "__round__", out, &found));
    if (found)
        return TS_OK;
    if (to_digits && (!fr_is_int(&c->args[1], &digits) || digits < 0 || digits > MOST))
        return fr_error(f, c->node, TS_TILEVALUE, "round(): digits must be 0 to %d, found %s", MOST,
                        fr_say(f, &c->args[1]));
    if (v->kind == FR_NUMBER && v->cat < FR_FLOAT) {
        *out = fr_number(v->as.i);
        return TS_OK;
    }
    if (v->kind == FR_NUMBER && isfinite(v->as.f) && (to_digits || fabs(v->as.f) < 1e37)) {
        snprintf(room, sizeof room, "%.*f", (int)digits, v->as.f);
        *out = to_digits ? fr_real(strtod(room, NULL)) : fr_number((fr_int)rint(v->as.f));
        return TS_OK;
    }
    if (v->kind == FR_TILE && !to_digits && !fr_dtype_is_float((ts_dtype)v->dtype)) {
        *out = *v;
        return TS_OK;
    }
    if (v->kind != FR_TILE || to_digits)
        return fr_error(f, c->node, TS_TILEVALUE, "round() of %s%s", fr_say(f, v),
                        to_digits ? "\n  help: digits are for numbers known at compile time; ct.round(x * 100) / 100"
                                  : "");
    TS_TRY(fr_call_op(f, c->node, "round", 1, v, out));
    return fr_shape_of(f, out).rank ? TS_OK : fr_convert(f, out, TS_DTYPE_int32, TS_RN, out);
}

static ts_status builtin_get(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *dict = &c->args[0];
    *out = c->n > 2 ? c->args[2] : fr_none();
    uint32_t at;
    TS_TRY(fr_find_key(f, dict->as.items, dict->n, &c->args[1], &at));
    if (at < dict->n)
        *out = dict->as.items[2 * at + 1];
    return TS_OK;
}

/* Keys, values or pairs of a dict, as a tuple. */
static ts_status builtin_column(fr *f, const fr_builtin_call *c, fr_value *out)
{
    const fr_value *dict = &c->args[0];
    char which = c->name[strlen("dict.")];
    fr_value *made = TS_NEW_N(f->arena, fr_value, (size_t)dict->n + 1);
    if (!made)
        return fr_oom(f);
    for (uint32_t i = 0; i < dict->n; i++)
        if (which == 'i')
            TS_TRY(fr_tuple(f, 2, &dict->as.items[2 * i], &made[i]));
        else
            made[i] = dict->as.items[2 * i + (which == 'v')];
    return fr_container(f, FR_TUPLE, dict->n, made, out);
}

static const struct {
    const char *name;
    uint32_t least, most;
    fr_builtin *call;
    bool is_complex;    /* takes complex numbers; what is called for it may still refuse them */
    bool keeps_members; /* takes members of enumerations as they are, not as their values */
} builtin_rows[] = {
    {"range", 1, 3, builtin_range, false, false},
    {"len", 1, 1, builtin_len, true, false},
    {"min", 1, 64, builtin_minmax, false, false},
    {"max", 1, 64, builtin_minmax, false, false},
    {"abs", 1, 1, builtin_op, true, false},
    {"divmod", 2, 2, builtin_op, false, false},
    {"pow", 2, 2, builtin_op, true, false},
    {"int", 1, 1, builtin_cast, false, false},
    {"float", 1, 1, builtin_cast, false, false},
    {"bool", 1, 1, builtin_cast, false, false},
    {"complex", 2, 2, builtin_op, true, false},
    {"tuple", 0, 1, builtin_tuple, true, false},
    {"str", 1, 1, builtin_str, true, true},
    {"repr", 1, 1, builtin_str, true, true},
    {"getattr", 2, 3, builtin_getattr, true, true},
    {"slice", 1, 3, builtin_slice, true, false},
    {"sum", 1, 2, builtin_sum, true, false},
    {"enumerate", 1, 2, builtin_sequence, true, false},
    {"zip", 0, 64, builtin_sequence, true, false},
    {"reversed", 1, 1, builtin_sequence, true, false},
    {"hasattr", 2, 2, builtin_hasattr, true, true},
    {"isinstance", 2, 2, builtin_isinstance, true, true},
    {"type", 1, 1, builtin_type, true, true},
    {"any", 1, 1, builtin_any, false, true},
    {"all", 1, 1, builtin_any, false, true},
    {"round", 1, 2, builtin_round, false, false},
    {"str.upper", 1, 1, fr_text_upper, true, false},
    {"str.lower", 1, 1, fr_text_lower, true, false},
    {"str.strip", 1, 1, fr_text_strip, true, false},
    {"str.lstrip", 1, 1, fr_text_lstrip, true, false},
    {"str.rstrip", 1, 1, fr_text_rstrip, true, false},
    {"str.startswith", 2, 2, fr_text_startswith, true, false},
    {"str.endswith", 2, 2, fr_text_endswith, true, false},
    {"str.replace", 3, 3, fr_text_replace, true, false},
    {"str.split", 2, 2, fr_text_split, true, false},
    {"str.count", 2, 2, fr_text_count, true, false},
    {"str.join", 2, 2, fr_text_join, true, false},
    {"dict.get", 2, 3, builtin_get, true, true},
    {"dict.keys", 1, 1, builtin_column, true, true},
    {"dict.values", 1, 1, builtin_column, true, true},
    {"dict.items", 1, 1, builtin_column, true, true},
};

/* ---- math ---------------------------------------------------------------------------- */

/* Functions of Python's module math. Of constants they are computed here with libm, as Python itself does (but for
 * gamma and lgamma, where the last bit may differ); of tiles they are an operation of the tile language. */
typedef struct builtin_math {
    const char *name;
    double (*one)(double);
    double (*two)(double, double); /* neither: not of constants */
    const char *op;                /* for tiles; NULL: the operation of the same name, unless there is help */
    const char *help;              /* why there is no operation for tiles */
    bool is_whole;                 /* the result is an integer */
} builtin_math;

static const builtin_math builtin_maths[] = {
#define ONE(name) {#name, name, NULL, NULL, NULL, false}
#define TWO(name) {#name, NULL, name, NULL, NULL, false}
#define WHOLE(name)                                                                                                    \
    {#name, name, NULL, NULL,                                                                                          \
     "math." #name "() gives an integer; use ct." #name "(x), a float, and ct.astype for an integer", true}
#define HELP(name, help) {#name, NULL, NULL, NULL, help, false}
    ONE(acos),       ONE(acosh),    ONE(asin),      ONE(asinh),  ONE(atan),     ONE(atanh),     ONE(cbrt),
    ONE(cos),        ONE(cosh),     ONE(erf),       ONE(erfc),   ONE(exp),      ONE(exp2),      ONE(expm1),
    ONE(log),        ONE(log10),    ONE(log1p),     ONE(log2),   ONE(sin),      ONE(sinh),      ONE(sqrt),
    ONE(tan),        ONE(tanh),     TWO(atan2),     TWO(fmod),   TWO(hypot),    TWO(copysign),  TWO(nextafter),
    TWO(remainder),  WHOLE(ceil),   WHOLE(floor),   WHOLE(trunc),
    {"fabs", fabs, NULL, "abs", NULL, false},
    {"gamma", tgamma, NULL, "tgamma", NULL, false},
    {"lgamma", lgamma, NULL, NULL, NULL, false},
    {"pow", NULL, pow, NULL, "math.pow() gives a float even of integers; use x ** y or ct.pow(x, y)", false},
    HELP(prod, "math.prod() takes a sequence of numbers; use ct.prod(x, axis)"),
    HELP(degrees, "write x * (180 / math.pi)"),
    HELP(radians, "write x * (math.pi / 180)"),
#undef ONE
#undef TWO
#undef WHOLE
#undef HELP
};

/* The row of math.<name>; one without functions for names that are not in the table. */
static builtin_math builtin_math_find(const char *name)
{
    for (size_t i = 0; i < TS_COUNT(builtin_maths); i++)
        if (strcmp(builtin_maths[i].name, name) == 0)
            return builtin_maths[i];
    return (builtin_math){.name = name};
}

static ts_status builtin_math_constant(fr *f, const fr_builtin_call *c, const builtin_math *row, fr_value *out)
{
    double x = fr_as_double(&c->args[0]);
    x = row->one ? row->one(x) : row->two(x, fr_as_double(&c->args[1]));
    if (isnan(x) || (row->is_whole && !(fabs(x) < 1e37)))
        return fr_error(f, c->node, TS_TILEVALUE, "math.%s() is not defined for %s%s%s", row->name,
                        fr_say(f, &c->args[0]), row->one ? "" : " and ", row->one ? "" : fr_say(f, &c->args[1]));
    *out = row->is_whole ? fr_number((fr_int)x) : fr_real(x);
    return TS_OK;
}

static ts_status builtin_call_math(fr *f, const fr_builtin_call *c, const char *name, fr_value *out)
{
    const builtin_math row = builtin_math_find(name);
    const char *help = row.help ? row.help : "", *lead = row.help ? "\n  help: " : "";
    const char *op = row.op ? row.op : row.help ? NULL : fr_op_called(f, name);
    uint32_t takes = row.one ? 1 : row.two ? 2 : 0; /* how many constants it is computed of here */
    bool constant = takes > 0;
    for (uint32_t i = 0; i < c->n; i++)
        constant &= c->args[i].kind == FR_NUMBER;
    if (constant && c->n != takes)
        return fr_error(f, c->node, TS_TILETYPE, "math.%s() takes %u argument%s here, got %u", name, takes,
                        takes > 1 ? "s" : "", c->n);
    if (constant)
        return builtin_math_constant(f, c, &row, out);
    if (op)
        return fr_call_op(f, c->node, op, c->n, c->args, out);
    if (takes && c->n)
        return fr_error(f, c->node, TS_TILETYPE, "math.%s() takes constants here, found %s%s%s", name,
                        fr_say(f, &c->args[0]), lead, help);
    return fr_error(f, c->node, TS_TILETYPE, "math.%s() is not part of the %s%s%s", name, f->dialect->language, lead,
                    help);
}

/* ---- operator ------------------------------------------------------------------------ */

/* Functions of Python's module operator: the operators of the language. */
static const struct {
    const char *name;
    uint32_t n;
    ts_operator op;
} builtin_operators[] = {
    {"add", 2, TS_OPERATOR_Add},           {"sub", 2, TS_OPERATOR_Sub},     {"mul", 2, TS_OPERATOR_Mult},
    {"truediv", 2, TS_OPERATOR_Div},       {"mod", 2, TS_OPERATOR_Mod},     {"pow", 2, TS_OPERATOR_Pow},
    {"floordiv", 2, TS_OPERATOR_FloorDiv}, {"or_", 2, TS_OPERATOR_BitOr},   {"xor", 2, TS_OPERATOR_BitXor},
    {"matmul", 2, TS_OPERATOR_MatMult},    {"lt", 2, TS_OPERATOR_Lt},       {"le", 2, TS_OPERATOR_LtE},
    {"lshift", 2, TS_OPERATOR_LShift},     {"eq", 2, TS_OPERATOR_Eq},       {"ne", 2, TS_OPERATOR_NotEq},
    {"rshift", 2, TS_OPERATOR_RShift},     {"gt", 2, TS_OPERATOR_Gt},       {"ge", 2, TS_OPERATOR_GtE},
    {"and_", 2, TS_OPERATOR_BitAnd},       {"is_", 2, TS_OPERATOR_Is},      {"is_not", 2, TS_OPERATOR_IsNot},
    {"concat", 2, TS_OPERATOR_Add},        {"neg", 1, TS_OPERATOR_USub},    {"pos", 1, TS_OPERATOR_UAdd},
    {"invert", 1, TS_OPERATOR_Invert},     {"inv", 1, TS_OPERATOR_Invert},  {"not_", 1, TS_OPERATOR_Not},
};

static ts_status builtin_call_operator(fr *f, const fr_builtin_call *c, const char *name, fr_value *out)
{
    uint32_t i = 0;
    while (i < TS_COUNT(builtin_operators) && strcmp(builtin_operators[i].name, name) != 0)
        i++;
    if (strcmp(name, "abs") == 0)
        return fr_call_builtin(f, c->node, name, c->n, c->args, out);
    if (i == TS_COUNT(builtin_operators))
        return fr_error(f, c->node, TS_TILETYPE, "operator.%s() is not part of the %s", name, f->dialect->language);
    ts_operator op = builtin_operators[i].op;
    if (c->n != builtin_operators[i].n)
        return fr_error(f, c->node, TS_TILETYPE, "operator.%s() takes %u arguments, got %u", name,
                        builtin_operators[i].n, c->n);
    if (c->n == 1)
        return fr_unary(f, op, &c->args[0], out);
    return op >= TS_OPERATOR_Eq ? fr_compare(f, op, &c->args[0], &c->args[1], out)
                                : fr_binary(f, op, &c->args[0], &c->args[1], (fr_options){0}, out);
}

bool fr_has_builtin(const char *name)
{
    uint32_t i = 0;
    while (i < TS_COUNT(builtin_rows) && strcmp(builtin_rows[i].name, name) != 0)
        i++;
    return i < TS_COUNT(builtin_rows);
}

/* Members of enumerations of numbers and texts become what they are. */
static ts_status builtin_plain(fr *f, fr_builtin_call *c)
{
    const fr_value *value;
    fr_value room, *plain = TS_NEW_N(f->arena, fr_value, c->n + 1);
    if (!plain)
        return fr_oom(f);
    for (uint32_t i = 0; i < c->n; i++) {
        value = &c->args[i];
        TS_TRY(fr_member_value(f, &value, &room));
        plain[i] = *value;
    }
    c->args = plain;
    return TS_OK;
}

ts_status fr_call_builtin(fr *f, uint32_t node, const char *name, uint32_t n, const fr_value *args,
                          fr_value *out)
{
    fr_builtin_call c = {node, n, name, args};
    bool done = false;
    if (f->dialect->builtin)
        TS_TRY(f->dialect->builtin(f, node, name, n, args, out, &done));
    if (done)
        return TS_OK;
    if (strncmp(name, "operator.", 9) == 0)
        return builtin_call_operator(f, &c, name + 9, out);
    if (strncmp(name, "math.", 5) == 0) {
        TS_TRY(fr_only_real(f, node, name, n, args));
        return builtin_call_math(f, &c, name + 5, out);
    }
    for (uint32_t i = 0; i < TS_COUNT(builtin_rows); i++) {
        if (strcmp(builtin_rows[i].name, name) != 0)
            continue;
        if (!builtin_rows[i].keeps_members)
            TS_TRY(builtin_plain(f, &c));
        if (!builtin_rows[i].is_complex)
            TS_TRY(fr_only_real(f, node, name, n, c.args));
        if (n < builtin_rows[i].least || n > builtin_rows[i].most)
            return fr_error(f, node, TS_TILETYPE, "%s() takes %u to %u arguments, got %u", name,
                            builtin_rows[i].least, builtin_rows[i].most, n);
        return builtin_rows[i].call(f, &c, out);
    }
    const char *op = fr_op_called(f, name);
    return fr_error(f, node, TS_TILETYPE, "builtin '%s' is not part of the %s%s", name, f->dialect->language,
                    fr_call_help(f, name, op));
}

const char *fr_builtin_name(const void *unused, uint32_t i)
{
    (void)unused;
    return i < TS_COUNT(builtin_rows) ? builtin_rows[i].name : NULL;
}
