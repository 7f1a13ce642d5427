/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of NumPy and texts in arrays (lang/struct.c), and numbers that lie at any bytes. Such an array has a pointer
 * to bytes and strides in bytes; a record or a text is one without axes, a reference to memory as numba has it. A field
 * is an array of its own, further on:
 *
 *     a["h"]   a: shape (n,), strides (48,)    h: float64 (2, 3) at byte 10
 *              base + 10, shape (n, 2, 3), strides (48, 24, 8), aligned to 2
 *     load     float64 aligned to 2: four loads of 2 bytes, shifted together
 *
 * Part of the front end (lower.h).
 */
#include "lang/simt/op.h"

/* ---- addresses ---------------------------------------------------------------------------------------- */

static ts_val struct_cast(fr *f, ts_val address, ts_type elem)
{
    if (!address) /* memory ran out */
        return 0;
    ts_type old = ts_type_of(f->b.fn, address);
    ts_type type = ts_type_ptr(f->module, elem, (ts_space)ts_type_get(f->module, old)->space);
    return ts_type_of(f->b.fn, address) == type ? address : ts_cast(&f->b, TS_OP_ptr_to_ptr, address, type, 0);
}

static ts_val struct_at(fr *f, ts_val address, int64_t bytes)
{
    return bytes ? ts_element(&f->b, address, ts_int(&f->b, TS_T_i32, bytes)) : address;
}

static ts_type struct_word(uint32_t bytes)
{
    return bytes == 1 ? TS_T_i8 : bytes == 2 ? TS_T_i16 : bytes == 4 ? TS_T_i32 : TS_T_i64;
}

/* What the alignment is `offset` bytes further on. */
static uint32_t struct_align(uint32_t align, uint64_t offset)
{
    uint64_t bits = align | offset;
    return (uint32_t)(bits & -bits);
}

bool fr_simt_is_aligned(const fr_array *a)
{
    return !a->align || a->align >= ts_dtype_bytes((ts_dtype)a->dtype);
}

ts_val fr_simt_pointer(fr *f, const fr_array *a, ts_val address)
{
    return a->align ? struct_cast(f, address, fr_simt_storage((ts_dtype)a->dtype)) : address;
}

/* ---- numbers at any bytes --------------------------------------------------------------------------------- */

/* An unsigned integer of `bytes`, of pieces that are aligned. */
static ts_val struct_load_word(fr *f, ts_val address, uint32_t bytes, uint32_t align, uint32_t cache)
{
    ts_builder *b = &f->b;
    uint32_t piece = TS_MIN(bytes, align);
    ts_type word = struct_word(bytes);
    ts_val whole = 0;
    for (uint32_t i = 0; i < bytes; i += piece) {
        ts_val part = ts_load(b, struct_cast(f, struct_at(f, address, i), struct_word(piece)), cache);
        if (piece < bytes)
            part = ts_cast(b, TS_OP_exti, part, word, TS_A_UNSIGNED);
        if (i)
            part = ts_op2(b, TS_OP_shli, part, ts_int(b, word, 8 * i), 0);
        whole = whole ? ts_op2(b, TS_OP_ori, whole, part, 0) : part;
    }
    return whole;
}

static void struct_store_word(fr *f, ts_val address, ts_val value, uint32_t bytes, uint32_t align, uint32_t cache)
{
    ts_builder *b = &f->b;
    uint32_t piece = TS_MIN(bytes, align);
    ts_type word = struct_word(bytes);
    for (uint32_t i = 0; i < bytes; i += piece) {
        ts_val part = i ? ts_op2(b, TS_OP_shri, value, ts_int(b, word, 8 * i), TS_A_UNSIGNED) : value;
        if (piece < bytes)
            part = ts_cast(b, TS_OP_trunci, part, struct_word(piece), 0);
        ts_store(b, struct_cast(f, struct_at(f, address, i), struct_word(piece)), part, cache);
    }
}

static ts_val struct_bits(fr *f, ts_val v, ts_type type)
{
    return ts_type_of(f->b.fn, v) == type ? v : ts_cast(&f->b, TS_OP_bitcast, v, type, 0);
}

static ts_val struct_load_number(fr *f, ts_dtype dtype, ts_val address, uint32_t align, uint32_t cache)
{
    ts_val v = struct_load_word(f, address, (uint32_t)ts_dtype_bytes(dtype), align, cache);
    return struct_bits(f, v, fr_simt_storage(dtype));
}

static ts_status struct_store_number(fr *f, const fr_array *a, ts_dtype dtype, ts_val address, const fr_value *value,
                                     uint32_t cache)
{
    uint32_t bytes = (uint32_t)ts_dtype_bytes(dtype);
    ts_val v;
    TS_TRY(fr_simt_stored(f, dtype, value, &v));
    struct_store_word(f, address, struct_bits(f, v, struct_word(bytes)), bytes, a->align, cache);
    return TS_OK;
}

static void struct_get_number(fr *f, const fr_array *a, ts_val address, uint32_t cache, fr_value *out)
{
    ts_dtype dtype = (ts_dtype)a->dtype, part = (ts_dtype)ts_dtype_get(dtype)->part;
    ts_val v = struct_load_number(f, part ? part : dtype, address, a->align, cache);
    *out = fr_tile(dtype, v);
    if (part) {
        ts_val next = struct_at(f, address, (int64_t)ts_dtype_bytes(part));
        *out = fr_complex_join(f, dtype, v, struct_load_number(f, part, next, a->align, cache));
    }
}

static ts_status struct_put_number(fr *f, const fr_array *a, ts_val address, const fr_value *value, uint32_t cache)
{
    ts_dtype dtype = (ts_dtype)a->dtype, part = (ts_dtype)ts_dtype_get(dtype)->part;
    fr_value made, re, im;
    if (!part)
        return struct_store_number(f, a, dtype, address, value, cache);
    TS_TRY(fr_simt_convert(f, value, dtype, &made));
    TS_TRY(fr_complex_parts(f, &made, &re, &im));
    TS_TRY(struct_store_number(f, a, part, address, &re, cache));
    return struct_store_number(f, a, part, struct_at(f, address, (int64_t)ts_dtype_bytes(part)), &im, cache);
}

/* ---- records and texts ------------------------------------------------------------------------------------- */

/* An array without axes at the address. */
static ts_status struct_one(fr *f, const fr_array *a, ts_val address, fr_value *out)
{
    fr_array *made = TS_NEW(f->arena, fr_array);
    if (!made)
        return fr_oom(f);
    *made = (fr_array){.dtype = a->dtype, .index_dtype = a->index_dtype, .align = a->align, .element = a->element,
                       .base = address};
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    return TS_OK;
}

enum { STRUCT_UNROLLED = 16 };

/* Copies bytes by the largest words that both are aligned to, in a loop where there are many. */
static void struct_copy(fr *f, ts_val to, ts_val from, uint32_t bytes, uint32_t align)
{
    ts_builder *b = &f->b;
    uint32_t word = TS_MIN(struct_align(align, 8), 8), i = 0, n = bytes / word;
    if (n > STRUCT_UNROLLED) {
        ts_val step = ts_int(b, TS_T_i32, word), stop = ts_int(b, TS_T_i32, (int64_t)n * word);
        ts_val loop = ts_for_begin(b, ts_int(b, TS_T_i32, 0), stop, step, 0, NULL, 0);
        ts_val at = ts_region_arg(b->fn, loop, 0);
        ts_val v = ts_load(b, struct_cast(f, ts_element(b, from, at), struct_word(word)), TS_CACHE_NONE);
        ts_store(b, struct_cast(f, ts_element(b, to, at), struct_word(word)), v, TS_CACHE_NONE);
        ts_term(b, TS_OP_continue, 0, NULL);
        ts_end_like(b, loop);
        i = n * word;
    }
    while (i < bytes) {
        while (word > bytes - i)
            word /= 2;
        ts_val v = ts_load(b, struct_cast(f, struct_at(f, from, i), struct_word(word)), TS_CACHE_NONE);
        ts_store(b, struct_cast(f, struct_at(f, to, i), struct_word(word)), v, TS_CACHE_NONE);
        i += word;
    }
}

/* The next character of UTF-8 text that is known to be whole. */
static uint32_t struct_character(const char **text)
{
    const unsigned char *c = (const unsigned char *)*text;
    uint32_t more = *c < 0x80 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3, code = more ? *c & (0x3fu >> more) : *c;
    for (c++; more && (*c & 0xc0) == 0x80; more--, c++)
        code = code << 6 | (*c & 0x3f);
    *text = (const char *)c;
    return code;
}

static ts_status struct_no_store(fr *f, const fr_value *value, const fr_element *e)
{
    return fr_error(f, 0, TS_TILETYPE, "%s cannot be stored in an element that is %s\n  help: %s", fr_say(f, value),
                    e->name, e->char_bytes == 1 ? "a text of bytes fits: b\"..\""
                             : e->chars ? "a text of str fits: \"..\""
                             : e->n_fields ? "assign a tuple of its fields, or one field: a[i].name = x"
                                           : "assign a value of its dtype");
}

static ts_status struct_put_text(fr *f, const fr_array *a, ts_val address, const fr_value *value)
{
    const fr_element *e = a->element;
    const char *text = value->as.text;
    if (!e->chars || (value->n == 1) != (e->char_bytes == 1))
        return struct_no_store(f, value, e);
    ts_type word = struct_word(e->char_bytes);
    uint32_t align = TS_MIN(a->align, e->char_bytes);
    for (uint32_t i = 0; i < e->chars; i++) { /* what is longer is cut off, as NumPy does it */
        uint32_t code = *text ? struct_character(&text) : 0;
        struct_store_word(f, struct_at(f, address, (int64_t)i * e->char_bytes), ts_int(&f->b, word, (int32_t)code),
                          e->char_bytes, align, TS_CACHE_NONE);
    }
    return TS_OK;
}

/* Items of a tuple, fields of a dataclass or of a record of another layout, by their positions. */
static ts_status struct_put_fields(fr *f, const fr_array *a, ts_val address, const fr_value *value)
{
    fr_value one, item;
    bool items = value->kind == FR_TUPLE || value->kind == FR_RECORD;
    uint32_t n = items ? value->n : value->as.array->element->n_fields;
    if (!a->element->n_fields || n != a->element->n_fields)
        return fr_error(f, 0, TS_TILETYPE, "%s of %u items cannot be stored in %s\n  help: give as many items as it "
                        "has fields, %u, or assign one field: a[i].name = x",
                        value->kind == FR_TUPLE ? "a tuple" : "a record", n, a->element->name, a->element->n_fields);
    TS_TRY(struct_one(f, a, address, &one));
    for (uint32_t i = 0; i < n; i++) {
        if (items)
            item = value->as.items[i];
        else
            TS_TRY(fr_simt_field(f, f->node, value, &value->as.array->element->fields[i], &item));
        TS_TRY(fr_simt_set_field(f, f->node, &one, &a->element->fields[i], &item));
    }
    return TS_OK;
}

/* Text of another length is cut off, or zeros follow it. */
static void struct_put_other_text(fr *f, const fr_array *a, ts_val address, const fr_array *from)
{
    const fr_element *e = a->element;
    uint32_t same = TS_MIN(e->bytes, from->element->bytes);
    struct_copy(f, address, from->base, same, TS_MIN(a->align, from->align));
    for (uint32_t i = same; i < e->bytes; i += e->char_bytes)
        struct_store_word(f, struct_at(f, address, i), ts_int(&f->b, struct_word(e->char_bytes), 0), e->char_bytes,
                          TS_MIN(a->align, e->char_bytes), TS_CACHE_NONE);
}

/* The instance of the element's class that the count is. */
static ts_status struct_instance(fr *f, const fr_element *e, ts_val count, fr_value *out)
{
    fr_value *item = TS_NEW(f->arena, fr_value);
    if (!item)
        return fr_oom(f);
    *item = fr_tile(TS_DTYPE_int64, count);
    TS_TRY(fr_container(f, FR_RECORD, 1, item, out));
    return fr_record_of_items(f, e->cls, out) ? TS_OK
                                              : fr_error(f, 0, TS_TILETYPE, "class '%s' has not one field", e->name);
}

/* An instance of the class, or what its __stored__ makes of another value. */
static ts_status struct_put_instance(fr *f, const fr_array *a, ts_val address, const fr_value *value)
{
    fr_value zero, method, made = *value;
    ts_val count;
    bool found = true;
    if (value->kind != FR_RECORD || value->cls != a->element->cls) {
        TS_TRY(struct_instance(f, a->element, ts_int(&f->b, TS_T_i64, 0), &zero));
        TS_TRY(fr_record_method(f, &zero, "__stored__", &method, &found));
        if (found)
            TS_TRY(fr_call_value(f, &method, f->node, 1, value, &made));
    }
    if (made.kind != FR_RECORD || made.cls != a->element->cls)
        return struct_no_store(f, value, a->element);
    TS_TRY(fr_simt_cast(f, &made.as.items[0], TS_DTYPE_int64, &count));
    struct_store_word(f, address, count, 8, a->align, TS_CACHE_NONE);
    return TS_OK;
}

static ts_status struct_put_element(fr *f, const fr_array *a, ts_val address, const fr_value *value)
{
    if (a->element->cls)
        return struct_put_instance(f, a, address, value);
    const fr_array *from = value->kind == FR_ARRAY && !value->as.array->rank ? value->as.array : NULL;
    const fr_element *e = a->element, *other = from ? from->element : NULL;
    if (value->kind == FR_STR)
        return struct_put_text(f, a, address, value);
    if (value->kind == FR_TUPLE || (value->kind == FR_RECORD && e->n_fields))
        return struct_put_fields(f, a, address, value);
    if (fr_same_element(e, other)) {
        struct_copy(f, address, from->base, e->bytes, TS_MIN(a->align, from->align));
        return TS_OK;
    }
    if (other && other->n_fields && e->n_fields)
        return struct_put_fields(f, a, address, value);
    if (!other || !e->chars || e->char_bytes != other->char_bytes)
        return struct_no_store(f, value, e);
    struct_put_other_text(f, a, address, from);
    return TS_OK;
}

/* ---- elements of any array ------------------------------------------------------------------------------------ */

ts_status fr_simt_get(fr *f, const fr_array *a, ts_val address, uint32_t cache, fr_value *out)
{
    if (a->element && a->element->cls)
        return struct_instance(f, a->element, struct_load_word(f, address, 8, a->align, cache), out);
    if (a->element)
        return struct_one(f, a, address, out);
    if (!fr_simt_is_aligned(a)) {
        struct_get_number(f, a, address, cache, out);
        return TS_OK;
    }
    *out = fr_simt_load(f, (ts_dtype)a->dtype, fr_simt_pointer(f, a, address), cache);
    return TS_OK;
}

ts_status fr_simt_put(fr *f, const fr_array *a, ts_val address, const fr_value *value, uint32_t cache)
{
    if (a->element)
        return struct_put_element(f, a, address, value);
    if (!fr_simt_is_aligned(a))
        return struct_put_number(f, a, address, value, cache);
    return fr_simt_store(f, (ts_dtype)a->dtype, fr_simt_pointer(f, a, address), value, cache);
}

uint32_t fr_simt_item_bytes(const fr_array *a)
{
    return a->element ? a->element->bytes : (uint32_t)ts_dtype_bytes((ts_dtype)a->dtype);
}

void fr_simt_move_bytes(fr *f, fr_array *a, int64_t bytes)
{
    a->base = struct_at(f, a->base, bytes);
    a->align = (uint8_t)struct_align(a->align, (uint64_t)bytes);
}

/* ---- fields -------------------------------------------------------------------------------------------------- */

static ts_status struct_field_array(fr *f, uint32_t node, const fr_array *a, const fr_field *field, fr_array *out)
{
    uint32_t inner = field->element ? field->element->bytes : (uint32_t)ts_dtype_bytes(field->dtype);
    if (a->rank + field->shape.rank > TS_ARRAY_RANK)
        return fr_error(f, node, TS_TILETYPE, "a view of more than %d axes\n  help: index the array "
                        "before its field: a[i].field", TS_ARRAY_RANK);
    *out = *a;
    out->dtype = (uint8_t)field->dtype;
    out->element = field->element;
    fr_simt_move_bytes(f, out, field->offset);
    out->rank = (uint8_t)(a->rank + field->shape.rank);
    if (field->shape.rank)
        out->align = (uint8_t)struct_align(out->align, inner);
    for (uint32_t d = field->shape.rank; d-- > 0;) {
        out->shape[a->rank + d] = out->extent[a->rank + d] = fr_strict(TS_DTYPE_int64, field->shape.dims[d]);
        out->stride[a->rank + d] = fr_strict(TS_DTYPE_int64, inner);
        inner *= (uint32_t)field->shape.dims[d];
    }
    return TS_OK;
}

ts_status fr_simt_field(fr *f, uint32_t node, const fr_value *of, const fr_field *field, fr_value *out)
{
    fr_array *made = TS_NEW(f->arena, fr_array);
    if (!made)
        return fr_oom(f);
    TS_TRY(struct_field_array(f, node, of->as.array, field, made));
    *out = (fr_value){.kind = FR_ARRAY, .as.array = made};
    return made->rank ? TS_OK : fr_simt_get(f, made, made->base, TS_CACHE_NONE, out);
}

ts_status fr_simt_set_field(fr *f, uint32_t node, const fr_value *of, const fr_field *field, const fr_value *value)
{
    fr_array made;
    TS_TRY(struct_field_array(f, node, of->as.array, field, &made));
    return made.rank ? fr_simt_fill(f, &made, value) : fr_simt_put(f, &made, made.base, value, TS_CACHE_NONE);
}

static const char *struct_name(const void *user, uint32_t i)
{
    const fr_element *e = user;
    return e && i < e->n_fields ? e->fields[i].name : NULL;
}

ts_status fr_simt_find_field(fr *f, uint32_t node, const fr_value *of, const char *name, const fr_field **out)
{
    const fr_element *element = of->as.array->element;
    *out = fr_field_of(element, name);
    return *out ? TS_OK
                : fr_error(f, node, TS_TILETYPE, "%s has no field '%s'%s", fr_say(f, of), name,
                           fr_did_you_mean(f, ts__nearest(name, struct_name, element)));
}

ts_status fr_simt_set_attribute(fr *f, uint32_t node, const fr_value *of, const char *name, const fr_value *value)
{
    const fr_field *field;
    TS_TRY(fr_simt_find_field(f, node, of, name, &field));
    return fr_simt_set_field(f, node, of, field, value);
}

/* The field that an index means: a name, or of a record its number. NULL: it is no such index. */
ts_status fr_simt_index_field(fr *f, uint32_t node, const fr_value *of, const fr_value *index, const fr_field **out)
{
    const fr_array *a = of->as.array;
    int64_t i;
    *out = NULL;
    if (index->kind == FR_STR)
        return fr_simt_find_field(f, node, of, index->as.text, out);
    if (!a->element || a->rank || a->element->chars || !fr_is_int(index, &i))
        return TS_OK;
    int64_t n = a->element->n_fields;
    if (i < -n || i >= n)
        return fr_error(f, node, TS_TILETYPE, "index %lld is out of range for %s, of %lld fields\n  help: fields count "
                        "from 0, or from -1 at the end", (long long)i, fr_say(f, of), (long long)n);
    *out = &a->element->fields[i < 0 ? i + n : i];
    return TS_OK;
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

/* Character i as an i32; 0 behind the end. */
static ts_val struct_char(fr *f, const fr_value *v, const char **text, uint32_t i)
{
    const fr_array *a = v->kind == FR_ARRAY ? v->as.array : NULL;
    if (!a)
        return ts_int(&f->b, TS_T_i32, **text ? (int64_t)struct_character(text) : 0);
    uint32_t size = a->element->char_bytes;
    if (i >= a->element->chars)
        return ts_int(&f->b, TS_T_i32, 0);
    ts_val c = struct_load_word(f, struct_at(f, a->base, (int64_t)i * size), size, TS_MIN(a->align, size),
                                TS_CACHE_NONE);
    return size == 4 ? c : ts_cast(&f->b, TS_OP_exti, c, TS_T_i32, TS_A_UNSIGNED);
}

static bool struct_is_text(const fr_value *v, uint32_t *chars, bool *bytes)
{
    const fr_element *e = v->kind == FR_ARRAY && !v->as.array->rank ? v->as.array->element : NULL;
    const char *text = v->as.text;
    *chars = e ? e->chars : 0;
    for (; v->kind == FR_STR && *text; *chars += 1)
        struct_character(&text);
    *bytes = e ? e->char_bytes == 1 : v->n == 1;
    return v->kind == FR_STR || (e && e->chars);
}

ts_status fr_simt_compare_array(fr *f, ts_operator op, const fr_value *x, const fr_value *y, fr_value *out, bool *done)
{
    uint32_t n, m;
    bool bytes, others;
    if (!struct_is_text(x, &n, &bytes) || !struct_is_text(y, &m, &others))
        return TS_OK;
    const char *a = x->as.text, *b = y->as.text;
    ts_val less = ts_int(&f->b, TS_T_i1, 0), equal = ts_int(&f->b, TS_T_i1, 1);
    *done = true;
    if (bytes != others)
        return fr_bad_operands(f, op, x, y, NULL);
    for (uint32_t i = 0; i < TS_MAX(n, m); i++) {
        ts_val c = struct_char(f, x, &a, i), d = struct_char(f, y, &b, i);
        ts_val lower = ts_cmp(&f->b, TS_OP_cmpi, TS_LT, c, d, TS_A_UNSIGNED);
        less = ts_op2(&f->b, TS_OP_ori, less, ts_op2(&f->b, TS_OP_andi, equal, lower, 0), 0);
        equal = ts_op2(&f->b, TS_OP_andi, equal, ts_cmp(&f->b, TS_OP_cmpi, TS_EQ, c, d, 0), 0);
    }
    bool below = op == TS_OPERATOR_Lt || op == TS_OPERATOR_GtE, at_most = op == TS_OPERATOR_LtE || op == TS_OPERATOR_Gt;
    ts_val v = below ? less : at_most ? ts_op2(&f->b, TS_OP_ori, less, equal, 0) : equal;
    *out = fr_tile(TS_DTYPE_bool_, v);
    bool turned = op == TS_OPERATOR_GtE || op == TS_OPERATOR_Gt || op == TS_OPERATOR_NotEq;
    return turned ? fr_unary(f, TS_OPERATOR_Not, out, out) : TS_OK;
}

/* Characters up to the last that is not zero. */
void fr_simt_text_length(fr *f, const fr_value *text, fr_value *out)
{
    const char *none = "";
    ts_val n = ts_int(&f->b, TS_T_i64, 0);
    for (uint32_t i = 0; i < text->as.array->element->chars; i++) {
        ts_val c = struct_char(f, text, &none, i);
        ts_val there = ts_cmp(&f->b, TS_OP_cmpi, TS_NE, c, ts_int(&f->b, TS_T_i32, 0), 0);
        n = ts_select(&f->b, there, ts_int(&f->b, TS_T_i64, i + 1), n);
    }
    *out = fr_tile(TS_DTYPE_int64, n);
}

/* ---- new arrays ------------------------------------------------------------------------------------------------ */

ts_status fr_simt_new_struct_array(fr *f, const fr_element *element, ts_val base, uint32_t rank, const fr_value *shape,
                                   fr_value *out)
{
    fr_value by = fr_number(element->bytes);
    TS_TRY(fr_simt_new_array(f, TS_DTYPE_uint8, base, rank, shape, out));
    fr_array *a = out->as.array;
    a->dtype = TS_DTYPE_NONE;
    a->element = element;
    a->align = (uint8_t)struct_align(16, rank ? element->bytes : 16);
    for (uint32_t d = 0; d < rank; d++)
        TS_TRY(fr_simt_binary(f, TS_OPERATOR_Mult, &a->stride[d], &by, (fr_options){0}, &a->stride[d]));
    return TS_OK;
}

ts_status fr_simt_constant_elements(fr *f, uint32_t object, fr_value *out)
{
    const ts_object *o = &f->pack.objects[object];
    const fr_element *element;
    ts_dtype dtype;
    uint32_t rank, n_words;
    const uint32_t *extents = ts_pack_list(&f->pack, o->y, &rank), *words = ts_pack_list(&f->pack, o->z, &n_words);
    fr_value shape[TS_ARRAY_RANK];
    ts_status status;
    for (uint32_t d = 0; d < rank; d++)
        shape[d] = fr_number(extents[d]);
    TS_TRY(fr_element_of(f, o->x, &dtype, &element));
    if (!element)
        return fr_error(f, 0, TS_TILETYPE, "elements of %s are no records or texts", ts_dtype_name(dtype));
    ts_val base = fr_simt_constant_bytes(f, words, 4 * (size_t)n_words, &status);
    TS_TRY(status);
    return fr_simt_new_struct_array(f, element, base, rank, shape, out);
}
