/* SPDX-License-Identifier: Apache-2.0
 *
 * Frozen dataclasses and named tuples: values with named items that exist at compile time, as tuples do. Their class
 * is an object of the pack (RECORD) with fields, defaults and the attributes that the program names; an instance is a
 * container with an item for each field. Making one runs __post_init__ if the user wrote it. Part of the front end
 * (lower.h).
 */
#include "lang/lower.h"

static const char *record_name(const fr *f, uint32_t cls)
{
    return fr_string(f, f->pack.objects[cls].x);
}

uint32_t fr_record_flags(const fr *f, uint32_t cls)
{
    uint32_t n;
    return ts_pack_list(&f->pack, f->pack.objects[cls].z, &n)[0];
}

uint32_t fr_record_find(const fr *f, uint32_t cls, const char *name)
{
    uint32_t n;
    const uint32_t *pairs = ts_pack_list(&f->pack, f->pack.objects[cls].y, &n);
    for (uint32_t i = 0; i < n; i += 2)
        if (strcmp(fr_string(f, pairs[i]), name) == 0)
            return pairs[i + 1];
    return 0;
}

/* The position of the field, or how many there are. */
static uint32_t record_field(const fr *f, uint32_t cls, const char *name)
{
    uint32_t n, i = 0;
    const uint32_t *fields = ts_pack_fields(&f->pack, cls, &n);
    while (i < n && strcmp(fr_string(f, fields[TS_RECORD_FIELD * i]), name) != 0)
        i++;
    return i;
}

/* ---- attributes ---------------------------------------------------------------------- */

ts_status fr_bind(fr *f, const fr_value *function, const fr_value *self, fr_value *out)
{
    fr_value *items = TS_NEW_N(f->arena, fr_value, 2);
    if (!items)
        return fr_oom(f);
    items[0] = *function;
    items[1] = *self;
    return fr_container(f, FR_BOUND, 2, items, out);
}

/* What stands in the class, as its instance gives it. */
static ts_status record_member(fr *f, uint32_t node, uint32_t object, const fr_value *self, fr_value *out)
{
    const ts_object *o = &f->pack.objects[object];
    fr_value function, cls = {.kind = FR_MODULE, .as.object = self->cls};
    if (o->kind != TS_OBJ_METHOD)
        return fr_object(f, object, out);
    TS_TRY(fr_object(f, o->x, &function));
    switch ((ts_method_kind)o->y) {
    case TS_METHOD_PROPERTY:
        return fr_call_value(f, &function, node, 1, self, out);
    case TS_METHOD_PLAIN:
        return fr_bind(f, &function, self, out);
    case TS_METHOD_CLASS:
        return fr_bind(f, &function, &cls, out);
    default:
        *out = function;
        return TS_OK;
    }
}

ts_status fr_record_of_class(fr *f, const fr_value *cls, uint32_t object, fr_value *out)
{
    const ts_object *o = &f->pack.objects[object];
    fr_value function;
    TS_TRY(fr_object(f, object, &function));
    if (o->kind == TS_OBJ_METHOD && o->y == TS_METHOD_CLASS)
        return fr_bind(f, &function, cls, out);
    *out = function;
    return TS_OK;
}

ts_status fr_record_attribute(fr *f, uint32_t node, const fr_value *v, const char *name, fr_value *out, bool *found)
{
    uint32_t i = record_field(f, v->cls, name), object = fr_record_find(f, v->cls, name);
    *found = true;
    if (i < v->n)
        *out = v->as.items[i];
    else if (strcmp(name, "__class__") == 0)
        *out = (fr_value){.kind = FR_MODULE, .as.object = v->cls};
    else if (v->kind == FR_TUPLE && strcmp(name, "_replace") == 0)
        return fr_bind(f, &(fr_value){.kind = FR_BUILTIN, .as.text = "dataclasses.replace"}, v, out);
    else if (object)
        return record_member(f, node, object, v, out);
    else
        *found = false;
    return TS_OK;
}

ts_status fr_record_method(fr *f, const fr_value *v, const char *name, fr_value *out, bool *found)
{
    uint32_t object = v->cls ? fr_record_find(f, v->cls, name) : 0;
    *found = object != 0;
    return object ? record_member(f, f->node, object, v, out) : TS_OK;
}

ts_status fr_record_truth(fr *f, const fr_value *v, fr_value *out, bool *found)
{
    fr_value method;
    TS_TRY(fr_record_method(f, v, "__bool__", &method, found));
    if (!*found)
        TS_TRY(fr_record_method(f, v, "__len__", &method, found));
    return *found ? fr_call_value(f, &method, f->node, 0, NULL, out) : TS_OK;
}

bool fr_record_of_items(const fr *f, uint32_t cls, fr_value *tuple)
{
    uint32_t n;
    ts_pack_fields(&f->pack, cls, &n);
    tuple->kind = fr_record_flags(f, cls) & TS_RECORD_TUPLE ? FR_TUPLE : FR_RECORD;
    tuple->cls = cls;
    return n == tuple->n;
}

/* ---- classes ------------------------------------------------------------------------- */

/* Of a number, text or container, the class of Python by name. */
static bool record_is_builtin(const fr *f, const fr_value *v, const char *name)
{
    bool number = v->kind == FR_NUMBER || (v->kind == FR_TILE && v->dtype && !fr_shape_of(f, v).rank);
    fr_cat cat = v->kind == FR_TILE ? fr_dtype_cat((ts_dtype)v->dtype) : (fr_cat)v->cat;
    static const struct {
        const char *name;
        fr_kind kind;
    } rows[] = {{"str", FR_STR}, {"tuple", FR_TUPLE}, {"dict", FR_DICT}, {"range", FR_RANGE}, {"slice", FR_SLICE}};
    for (size_t i = 0; i < TS_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return v->kind == rows[i].kind;
    return strcmp(name, "object") == 0    ? true
           : strcmp(name, "int") == 0     ? number && cat <= FR_INT
           : strcmp(name, "bool") == 0    ? number && cat == FR_BOOL
           : strcmp(name, "float") == 0   ? number && cat == FR_FLOAT
                                          : strcmp(name, "complex") == 0 && number && cat == FR_COMPLEX;
}

bool fr_is_instance(const fr *f, const fr_value *v, const fr_value *cls)
{
    const ts_object *member = v->kind == FR_ENUM ? &f->pack.objects[v->as.object] : NULL;
    uint32_t n = 0, mro = v->cls ? fr_record_find(f, v->cls, "__mro__") : 0;
    if (cls->kind == FR_BUILTIN && !member)
        return record_is_builtin(f, v, cls->as.text);
    if (cls->kind == FR_BUILTIN) {
        const ts_object *value = &f->pack.objects[member->z];
        bool number = value->kind == TS_OBJ_INT || value->kind == TS_OBJ_BOOL || value->kind == TS_OBJ_BIGINT;
        const char *name = member->kind != TS_OBJ_ENUM_VALUE     ? ""
                           : number                             ? "int"
                           : value->kind == TS_OBJ_FLOAT        ? "float"
                           : value->kind == TS_OBJ_STR          ? "str"
                                                                : "";
        return strcmp(cls->as.text, name) == 0 || strcmp(cls->as.text, "object") == 0;
    }
    if (cls->kind != FR_MODULE && cls->kind != FR_OPAQUE)
        return false;
    const char *name = fr_string(f, f->pack.objects[cls->as.object].x);
    if (v->kind == FR_TILE || v->kind == FR_ARRAY)
        return strcmp(name, v->kind == FR_TILE ? "ct.Tile" : "ct.Array") == 0;
    if (member)
        return ts_pack_member(&f->pack, v->as.object, TS_ENUM_CLASS) == cls->as.object;
    const uint32_t *bases = mro ? ts_pack_list(&f->pack, f->pack.objects[mro].x, &n) : NULL;
    for (uint32_t i = 0; i < n; i++)
        if (bases[i] == cls->as.object)
            return true;
    return false;
}

/* ---- making -------------------------------------------------------------------------- */

/* An instance of items that are kept; runs __post_init__. */
static ts_status record_build(fr *f, uint32_t node, uint32_t cls, uint32_t n, fr_value *items, fr_value *out)
{
    bool found, is_tuple = fr_record_flags(f, cls) & TS_RECORD_TUPLE;
    fr_value method, ignored;
    TS_TRY(fr_container(f, is_tuple ? FR_TUPLE : FR_RECORD, n, items, out));
    out->cls = cls;
    if (is_tuple)
        return TS_OK;
    TS_TRY(fr_record_method(f, out, "__post_init__", &method, &found));
    return found ? fr_call_value(f, &method, node, 0, NULL, &ignored) : TS_OK;
}

static ts_status record_keyword(fr *f, uint32_t cls, const fr_argument *arg, uint32_t n, fr_value *items)
{
    uint32_t i = record_field(f, cls, arg->name);
    if (i == n)
        return fr_error(f, arg->node, TS_TILETYPE, "'%s' has no field '%s'", record_name(f, cls), arg->name);
    if (items[i].kind != FR_UNBOUND)
        return fr_error(f, arg->node, TS_TILETYPE, "%s() got '%s' twice", record_name(f, cls), arg->name);
    items[i] = arg->value;
    return TS_OK;
}

static ts_status record_arguments(fr *f, uint32_t cls, const fr_arguments *args, uint32_t n, fr_value *items)
{
    const uint32_t *fields = ts_pack_fields(&f->pack, cls, &n);
    uint32_t next = 0, given = 0;
    for (; next < args->n_positional; next++, given++) {
        while (given < n && fields[TS_RECORD_FIELD * given + 2] & TS_FIELD_KEYWORD)
            given++;
        if (given == n)
            return fr_error(f, args->at.at[next].node, TS_TILETYPE,
                            "%s() takes at most %u argument%s by position, got %u",
                            record_name(f, cls), next, next == 1 ? "" : "s", args->n_positional);
        items[given] = args->at.at[next].value;
    }
    for (; next < args->at.n; next++)
        TS_TRY(record_keyword(f, cls, &args->at.at[next], n, items));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t standard = fields[TS_RECORD_FIELD * i + 1];
        if (items[i].kind == FR_UNBOUND && !standard)
            return fr_error(f, 0, TS_TILETYPE, "%s() misses its argument '%s'", record_name(f, cls),
                            fr_string(f, fields[TS_RECORD_FIELD * i]));
        if (items[i].kind == FR_UNBOUND)
            TS_TRY(fr_object(f, standard, &items[i]));
    }
    return TS_OK;
}

ts_status fr_record_make(fr *f, uint32_t node, uint32_t cls, const fr_arguments *args, fr_value *out)
{
    uint32_t n, n_words;
    const uint32_t *words = ts_pack_list(&f->pack, f->pack.objects[cls].z, &n_words);
    ts_pack_fields(&f->pack, cls, &n);
    fr_value *items = TS_NEW_N(f->arena, fr_value, n + 1);
    if (!items)
        return fr_oom(f);
    if (words[1])
        return fr_error(f, node, TS_TILETYPE, "kernels cannot make a '%s'\n  found: %s", record_name(f, cls),
                        fr_string(f, words[1]));
    TS_TRY(record_arguments(f, cls, args, n, items));
    fr_at(f, node);
    return record_build(f, node, cls, n, items, out);
}

ts_status fr_record_replace(fr *f, uint32_t node, const fr_arguments *args, fr_value *out)
{
    const fr_value *old = args->at.n ? &args->at.at[0].value : NULL;
    if (!old || args->n_positional != 1 || !old->cls)
        return fr_error(f, node, TS_TILETYPE, "replace() takes one instance of a dataclass, and fields by name\n"
                        "  found: %s", old ? fr_say(f, old) : "no argument");
    fr_value *items = TS_NEW_N(f->arena, fr_value, old->n + 1);
    if (!items)
        return fr_oom(f);
    for (uint32_t i = 1; i < args->at.n; i++)
        TS_TRY(record_keyword(f, old->cls, &args->at.at[i], old->n, items));
    for (uint32_t i = 0; i < old->n; i++)
        if (items[i].kind == FR_UNBOUND)
            items[i] = old->as.items[i];
    fr_at(f, node);
    return record_build(f, node, old->cls, old->n, items, out);
}
