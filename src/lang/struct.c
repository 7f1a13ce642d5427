/* SPDX-License-Identifier: Apache-2.0
 *
 * What arrays hold beside numbers: records of NumPy (structured dtypes), whose fields are numbers, texts, records or
 * arrays of these at given bytes, texts of a fixed length, and int64s that are instances of a class (dates). They come
 * as objects of the pack (ast.def); the languages that take them read them through pointers to bytes (simt/struct.c).
 * Part of the front end (lower.h).
 *
 *     [("x", "i2"), ("p", [("u", "f4"), ("v", "f4")]), ("h", "f8", (2, 3))]   packed:
 *     bytes    0..1 x    2..5 p.u    6..9 p.v    10..57 h
 */
#include "lang/lower.h"

enum { STRUCT_MOST_DEPTH = 32 };

static ts_status struct_make(fr *f, uint32_t object, uint32_t depth, const fr_element **out);

static ts_status struct_find(fr *f, uint32_t object, uint32_t depth, ts_dtype *dtype, const fr_element **element)
{
    const ts_object *o = &f->pack.objects[object];
    *element = NULL;
    *dtype = o->kind == TS_OBJ_DTYPE ? ts_dtype_find(fr_string(f, o->x)) : TS_DTYPE_NONE;
    return *dtype ? TS_OK : struct_make(f, object, depth, element);
}

static ts_status struct_field(fr *f, const uint32_t *words, uint32_t depth, fr_field *out)
{
    uint32_t rank;
    const uint32_t *extents = ts_pack_list(&f->pack, words[TS_STRUCT_SHAPE], &rank);
    out->name = fr_string(f, words[TS_STRUCT_NAME]);
    out->offset = words[TS_STRUCT_OFFSET];
    out->shape.rank = rank;
    for (uint32_t d = 0; d < rank; d++)
        out->shape.dims[d] = extents[d];
    return struct_find(f, words[TS_STRUCT_OF], depth + 1, &out->dtype, &out->element);
}

static ts_status struct_fields(fr *f, const ts_object *o, uint32_t depth, fr_element *out)
{
    uint32_t n;
    const uint32_t *words = ts_pack_list(&f->pack, o->z, &n);
    fr_field *fields = TS_NEW_N(f->arena, fr_field, n / TS_STRUCT_FIELD + 1);
    if (!fields)
        return fr_oom(f);
    if (depth > STRUCT_MOST_DEPTH)
        return fr_error(f, 0, TS_TILEVALUE, "records nest deeper than %d: '%.100s'\n  help: put fields of "
                        "inner records in the outer one", STRUCT_MOST_DEPTH, fr_string(f, o->x));
    out->name = fr_string(f, o->x);
    out->bytes = o->y;
    out->n_fields = n / TS_STRUCT_FIELD;
    out->fields = fields;
    for (uint32_t i = 0; i < out->n_fields; i++)
        TS_TRY(struct_field(f, words + (size_t)TS_STRUCT_FIELD * i, depth, &fields[i]));
    return TS_OK;
}

static ts_status struct_make(fr *f, uint32_t object, uint32_t depth, const fr_element **out)
{
    const ts_object *o = &f->pack.objects[object];
    for (uint32_t i = 0; i < f->elements.n; i++)
        if (f->elements.at[i].object == object) {
            *out = f->elements.at[i].element;
            return TS_OK;
        }
    bool stored = o->kind == TS_OBJ_RECORD && fr_record_find(f, object, "__stored__");
    if (o->kind != TS_OBJ_STRUCT && o->kind != TS_OBJ_CHARS && !stored)
        return fr_error(f, 0, TS_TILETYPE, "object %u of the pack describes no elements of an array", object);
    fr_element *made = TS_NEW(f->arena, fr_element);
    if (!made)
        return fr_oom(f);
    if (o->kind == TS_OBJ_CHARS)
        *made = (fr_element){.name = fr_textf(f, o->y == 1 ? "bytes of %u characters" : "text of %u characters", o->x),
                             .bytes = o->x * o->y, .chars = o->x, .char_bytes = o->y};
    else if (stored)
        *made = (fr_element){.name = fr_string(f, o->x), .bytes = 8, .cls = object};
    else
        TS_TRY(struct_fields(f, o, depth, made));
    *out = made;
    return TS_PUSH(f->arena, &f->elements, ((fr_known_element){object, made})) ? TS_OK : fr_oom(f);
}

ts_status fr_element_of(fr *f, uint32_t object, ts_dtype *dtype, const fr_element **element)
{
    return struct_find(f, object, 0, dtype, element);
}

static bool struct_same_field(const fr_field *a, const fr_field *b)
{
    return strcmp(a->name, b->name) == 0 && a->dtype == b->dtype && a->offset == b->offset &&
           fr_same_shape(&a->shape, &b->shape) && fr_same_element(a->element, b->element);
}

bool fr_same_element(const fr_element *a, const fr_element *b)
{
    if (a == b || !a || !b)
        return a == b;
    bool same = a->bytes == b->bytes && a->n_fields == b->n_fields && a->char_bytes == b->char_bytes &&
                a->cls == b->cls;
    for (uint32_t i = 0; i < a->n_fields && same; i++)
        same = struct_same_field(&a->fields[i], &b->fields[i]);
    return same;
}

const fr_field *fr_field_of(const fr_element *element, const char *name)
{
    for (uint32_t i = 0; element && i < element->n_fields; i++)
        if (strcmp(element->fields[i].name, name) == 0)
            return &element->fields[i];
    return NULL;
}

ts_status fr_struct_array(fr *f, uint32_t object, uint32_t align, const fr_value *bytes, fr_value *out)
{
    fr_array *a = TS_NEW(f->arena, fr_array);
    ts_dtype dtype;
    if (!a)
        return fr_oom(f);
    if (!f->dialect->has_structs)
        return fr_error(f, 0, TS_TILETYPE, "kernels of the %s take no arrays of records\n  help: pass "
                        "its fields as arrays, a[\"field\"]", f->dialect->language);
    *a = *bytes->as.array;
    TS_TRY(fr_element_of(f, object, &dtype, &a->element));
    a->dtype = (uint8_t)dtype;
    a->align = (uint8_t)align;
    *out = (fr_value){.kind = FR_ARRAY, .as.array = a};
    return TS_OK;
}
