/* SPDX-License-Identifier: Apache-2.0
 *
 * Compile-time values: making them, comparing them, taking them apart into leaves and back.
 * Part of the front end (lower.h).
 */
#include "lang/lower.h"
#include <stdlib.h>

fr_value fr_none(void)
{
    return (fr_value){.kind = FR_NONE};
}

fr_value fr_bool(bool x)
{
    return (fr_value){.kind = FR_NUMBER, .cat = FR_BOOL, .as.i = x};
}

fr_value fr_number(fr_int x)
{
    return (fr_value){.kind = FR_NUMBER, .cat = FR_INT, .as.i = x};
}

fr_value fr_real(double x)
{
    return (fr_value){.kind = FR_NUMBER, .cat = FR_FLOAT, .as.f = x};
}

fr_value fr_strict(ts_dtype dtype, fr_int i)
{
    uint32_t bits = fr_dtype_bits(dtype);
    fr_value v = {.kind = FR_NUMBER, .cat = FR_INT, .dtype = (uint8_t)dtype};
    if (dtype == TS_DTYPE_bool_) {
        v.cat = FR_BOOL;
        v.as.i = i != 0;
        return v;
    }
    uint64_t low = (uint64_t)i << (64 - bits);
    v.as.i = fr_dtype_is_signed(dtype) ? (fr_int)((int64_t)low >> (64 - bits))
                                       : (fr_int)(low >> (64 - bits));
    return v;
}

fr_value fr_tile(ts_dtype dtype, ts_val v)
{
    return (fr_value){.kind = FR_TILE, .dtype = (uint8_t)dtype, .as.v = v};
}

fr_value fr_text(const char *text)
{
    return (fr_value){.kind = FR_STR, .as.text = text};
}

fr_value fr_dtype_value(ts_dtype dtype)
{
    return (fr_value){.kind = FR_DTYPE, .dtype = (uint8_t)dtype};
}

ts_status fr_tuple(fr *f, uint32_t n, const fr_value *items, fr_value *out)
{
    fr_value *copy = TS_NEW_N(f->arena, fr_value, n ? n : 1);
    if (!copy)
        return fr_oom(f);
    if (n)
        memcpy(copy, items, n * sizeof *copy);
    return fr_container(f, FR_TUPLE, n, copy, out);
}

/* Nesting and sharing could make a small program's tuples endless; nobody needs more than this. */
enum { VALUE_MAX_DEPTH = 100, VALUE_MAX_WEIGHT = 1 << 17 };

ts_status fr_container(fr *f, fr_kind kind, uint32_t n, fr_value *items, fr_value *out)
{
    uint32_t depth = 0;
    uint64_t weight = n;
    *out = (fr_value){.kind = (uint8_t)kind,
                      .n = kind == FR_DICT || kind == FR_FSTRING ? n / 2 : n,
                      .as.items = items};
    for (uint32_t i = 0; i < n; i++) {
        depth = TS_MAX(depth, items[i].depth);
        weight += items[i].weight;
    }
    if (depth >= VALUE_MAX_DEPTH || weight > VALUE_MAX_WEIGHT)
        return fr_error(f, 0, TS_TILEVALUE,
                        "a value of %llu parts that nests %u deep is beyond %d parts and %d levels",
                        (unsigned long long)weight, depth + 1, VALUE_MAX_WEIGHT, VALUE_MAX_DEPTH);
    out->depth = (uint8_t)(depth + 1);
    out->weight = (uint32_t)weight;
    return TS_OK;
}

double fr_as_double(const fr_value *v)
{
    return v->cat >= FR_FLOAT ? v->as.f : (double)v->as.i;
}

bool fr_is_int(const fr_value *v, int64_t *out)
{
    if (v->kind != FR_NUMBER || v->cat >= FR_FLOAT || v->as.i < INT64_MIN || v->as.i > INT64_MAX)
        return false;
    *out = (int64_t)v->as.i;
    return true;
}

bool fr_truth(const fr_value *v, bool *out)
{
    switch (v->kind) {
    case FR_NUMBER:
        *out = v->cat == FR_FLOAT ? v->as.f != 0 : v->cat == FR_COMPLEX ? v->as.c[0] != 0 || v->as.c[1] != 0
                                                                        : v->as.i != 0;
        return true;
    case FR_STR:
        *out = v->as.text[0] != 0;
        return true;
    case FR_TUPLE:
    case FR_DICT:
        *out = v->n != 0;
        return true;
    case FR_RECORD:
    case FR_BOUND:
        *out = true;
        return true;
    case FR_NONE:
        *out = false;
        return true;
    case FR_ENUM:
    case FR_DTYPE:
    case FR_FUNC:
    case FR_OP:
        *out = true;
        return true;
    default:
        return false;
    }
}

/* ---- objects of the pack ------------------------------------------------------------- */

ts_status fr_hex(fr *f, const char *text, fr_value *out)
{
    bool negative = *text == '-';
    fr_int x = 0;
    text += negative;
    if (text[0] == '0' && text[1] == 'x')
        text += 2;
    if (strlen(text) > 31)
        return fr_error(f, 0, TS_TILEVALUE,
                        "an integer constant is beyond 124 bits\n  help: constants are computed "
                        "exactly up to there");
    for (; *text; text++) {
        int digit = *text <= '9' ? *text - '0' : (*text | 32) - 'a' + 10;
        if (digit < 0 || digit > 15)
            return ts_fail(f->err, TS_PARSE, "packed function: malformed integer");
        x = x * 16 + digit;
    }
    *out = fr_number(negative ? -x : x);
    return TS_OK;
}

static ts_status value_items(fr *f, uint32_t list, uint8_t kind, fr_value *out)
{
    uint32_t n;
    const uint32_t *items = ts_pack_list(&f->pack, list, &n);
    TS_TRY(fr_check_depth(f, 0));
    fr_value *copy = TS_NEW_N(f->arena, fr_value, n ? n : 1);
    if (!copy)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(fr_object(f, items[i], &copy[i]));
    return fr_container(f, (fr_kind)kind, n, copy, out);
}

static ts_status value_function(fr *f, uint32_t function, bool is_context, fr_value *out)
{
    const ts_pack_function *row = &f->pack.functions[function];
    if (!row->root)
        return fr_error(f, 0, TS_SYNTAX, "source of '%s' is not available",
                        fr_string(f, row->name));
    fr_function *fn = TS_NEW(f->arena, fr_function);
    if (!fn)
        return fr_oom(f);
    fn->function = function;
    fn->root = row->root;
    fn->is_context = is_context;
    fn->name = fr_string(f, row->name);
    *out = (fr_value){.kind = FR_FUNC, .as.function = fn};
    return TS_OK;
}

static ts_status value_typed(fr *f, const ts_object *o, fr_value *out)
{
    ts_dtype dtype = ts_dtype_find(fr_string(f, o->x));
    TS_TRY(fr_object(f, o->y, out));
    if (out->kind != FR_NUMBER || !dtype)
        return ts_fail(f->err, TS_PARSE, "packed function: malformed typed constant");
    return fr_round(f, out, dtype, out);
}

/* Two older objects, which are floats. */
static ts_status value_complex(fr *f, const ts_object *o, fr_value *out)
{
    fr_value part[2];
    for (int i = 0; i < 2; i++) {
        const ts_object *of = &f->pack.objects[i ? o->y : o->x];
        if (of->kind != TS_OBJ_FLOAT)
            return ts_fail(f->err, TS_PARSE, "packed function: malformed complex number");
        TS_TRY(fr_object(f, i ? o->y : o->x, &part[i]));
    }
    *out = (fr_value){.kind = FR_NUMBER, .cat = FR_COMPLEX, .as.c = {part[0].as.f, part[1].as.f}};
    return TS_OK;
}

static bool value_is_tuple(const fr *f, uint32_t record)
{
    uint32_t n;
    return ts_pack_list(&f->pack, f->pack.objects[record].z, &n)[0] & TS_RECORD_TUPLE;
}

/* Numbers and texts; false for other kinds. */
static bool value_plain(const ts_object *o, const fr *f, fr_value *out)
{
    uint64_t bits = o->x | (uint64_t)o->y << 32;
    double real;
    memcpy(&real, &bits, sizeof real);
    switch (o->kind) {
    case TS_OBJ_BOOL:
        *out = fr_bool(o->x != 0);
        return true;
    case TS_OBJ_INT:
        *out = fr_number((int64_t)bits);
        return true;
    case TS_OBJ_FLOAT:
        *out = fr_real(real);
        return true;
    case TS_OBJ_STR:
        *out = fr_text(fr_string(f, o->x));
        return true;
    case TS_OBJ_BYTES:
        *out = fr_text(fr_string(f, o->x));
        out->n = 1;
        return true;
    case TS_OBJ_BUILTIN:
        *out = (fr_value){.kind = FR_BUILTIN, .as.text = fr_string(f, o->x)};
        return true;
    case TS_OBJ_ELLIPSIS:
        *out = (fr_value){.kind = FR_ELLIPSIS};
        return true;
    default:
        *out = (fr_value){.kind = FR_NONE};
        return o->kind == TS_OBJ_NONE;
    }
}

/* What the pack has a row for, and the value is no more than its number. */
static fr_value value_by_number(const ts_object *o, uint32_t object)
{
    bool is_member = o->kind == TS_OBJ_ENUM || o->kind == TS_OBJ_ENUM_VALUE;
    fr_kind kind = is_member ? FR_ENUM : o->kind == TS_OBJ_OPAQUE ? FR_OPAQUE : FR_MODULE;
    return (fr_value){.kind = kind, .as.object = object};
}

static ts_status value_op(fr *f, uint32_t object, fr_value *out)
{
    uint32_t row = fr_op_find(f, fr_string(f, f->pack.objects[object].x));
    if (row < f->dialect->n_ops)
        return fr_op_value(f, row, out);
    *out = (fr_value){.kind = FR_OPAQUE, .as.object = object};
    return TS_OK;
}

static ts_status value_captured(fr *f, const ts_object *o, fr_value *out)
{
    if (o->x >= f->captured.n)
        return fr_error(f, 0, TS_TILETYPE, "an array of a device that the kernel did not name when it was first "
                        "launched\n  help: pass it as an argument");
    *out = f->captured.at[o->x];
    return TS_OK;
}

ts_status fr_object(fr *f, uint32_t object, fr_value *out)
{
    const ts_object *o = &f->pack.objects[object];
    ts_dtype none;
    if (value_plain(o, f, out))
        return TS_OK;
    switch (o->kind) {
    case TS_OBJ_BIGINT:
        return fr_hex(f, fr_string(f, o->x), out);
    case TS_OBJ_COMPLEX:
        return value_complex(f, o, out);
    case TS_OBJ_TUPLE:
        return value_items(f, o->x, FR_TUPLE, out);
    case TS_OBJ_DICT:
        return value_items(f, o->x, FR_DICT, out);
    case TS_OBJ_DTYPE:
        *out = fr_dtype_value(ts_dtype_find(fr_string(f, o->x)));
        if (!out->dtype)
            *out = (fr_value){.kind = FR_OPAQUE, .as.object = object};
        return TS_OK;
    case TS_OBJ_FUNC:
        return value_function(f, o->x, o->y != 0, out);
    case TS_OBJ_TYPED:
        return value_typed(f, o, out);
    case TS_OBJ_OP:
        return value_op(f, object, out);
    case TS_OBJ_INSTANCE:
        TS_TRY(value_items(f, o->y, value_is_tuple(f, o->x) ? FR_TUPLE : FR_RECORD, out));
        out->cls = o->x;
        return TS_OK;
    case TS_OBJ_METHOD: /* of a class, without an instance */
        return fr_object(f, o->x, out);
    case TS_OBJ_STRUCT:
    case TS_OBJ_CHARS:
        out->kind = FR_ELEMENT;
        return fr_element_of(f, object, &none, &out->as.element);
    case TS_OBJ_ELEMENTS:
        if (f->dialect->constant_array)
            return f->dialect->constant_array(f, object, out);
        return fr_error(f, 0, TS_TILETYPE, "the %s has no arrays of records of the host\n  help: pass the array as an "
                        "argument", f->dialect->language);
    case TS_OBJ_CAPTURED:
        return value_captured(f, o, out);
    case TS_OBJ_ENUM:
    case TS_OBJ_ENUM_VALUE:
    case TS_OBJ_RECORD:
    case TS_OBJ_MODULE:
    case TS_OBJ_CLASS:
    case TS_OBJ_OPAQUE:
        *out = value_by_number(o, object);
        return TS_OK;
    default: /* nothing */
        return TS_OK;
    }
}

/* ---- comparing ----------------------------------------------------------------------- */

static bool value_same_items(const fr *f, const fr_value *a, const fr_value *b, uint32_t n,
                             bool (*same)(const fr *, const fr_value *, const fr_value *))
{
    for (uint32_t i = 0; i < n; i++)
        if (!same(f, &a[i], &b[i]))
            return false;
    return true;
}

static uint32_t value_n_items(const fr_value *v)
{
    switch (v->kind) {
    case FR_TUPLE:
    case FR_RECORD:
    case FR_BOUND:
    case FR_ITER:
    case FR_SEQUENCE:
        return v->n;
    case FR_DICT:
    case FR_FSTRING:
        return 2 * v->n;
    case FR_SLICE:
    case FR_RANGE:
        return 3;
    case FR_METHOD:
        return 1;
    default:
        return 0;
    }
}

/* Same in everything but leaves; `same` judges the items of containers. */
static bool value_alike(const fr *f, const fr_value *a, const fr_value *b,
                        bool (*same)(const fr *, const fr_value *, const fr_value *))
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case FR_STR:
    case FR_BUILTIN:
        return strcmp(a->as.text, b->as.text) == 0 && a->n == b->n;
    case FR_ELEMENT:
        return fr_same_element(a->as.element, b->as.element);
    case FR_TUPLE:
    case FR_RECORD:
    case FR_BOUND:
    case FR_ITER:
    case FR_SEQUENCE:
    case FR_DICT:
    case FR_FSTRING:
    case FR_SLICE:
    case FR_RANGE:
        return value_n_items(a) == value_n_items(b) && a->cls == b->cls && a->cat == b->cat &&
               value_same_items(f, a->as.items, b->as.items, value_n_items(a), same);
    case FR_METHOD:
        return a->n == b->n && same(f, a->as.items, b->as.items);
    case FR_DTYPE:
        return a->dtype == b->dtype;
    case FR_OP:
        return a->n == b->n;
    case FR_ENUM:
    case FR_MODULE:
    case FR_OPAQUE:
        return a->as.object == b->as.object;
    case FR_FUNC:
        return a->as.function == b->as.function ||
               (!a->as.function->lexical && !b->as.function->lexical &&
                a->as.function->root == b->as.function->root);
    case FR_LIST:
        return a->as.list == b->as.list;
    case FR_VIEW:
        return a->as.view == b->as.view;
    case FR_CONTEXT:
        return a->as.manager == b->as.manager;
    default:
        return true;
    }
}

bool fr_same(const fr *f, const fr_value *a, const fr_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case FR_NUMBER:
        if (a->cat != b->cat || a->dtype != b->dtype)
            return false;
        if (a->cat == FR_COMPLEX)
            return memcmp(a->as.c, b->as.c, sizeof a->as.c) == 0;
        return a->cat == FR_FLOAT ? memcmp(&a->as.f, &b->as.f, sizeof a->as.f) == 0
                                  : a->as.i == b->as.i;
    case FR_TILE:
        return a->as.v == b->as.v && a->dtype == b->dtype;
    case FR_ARRAY:
    case FR_RAW:
        return a->as.array == b->as.array;
    case FR_UNBOUND:
    case FR_CONFLICT:
        return a->as.text == b->as.text;
    default:
        return value_alike(f, a, b, fr_same);
    }
}

ts_status fr_member_value(fr *f, const fr_value **v, fr_value *room)
{
    if ((*v)->kind != FR_ENUM || f->pack.objects[(*v)->as.object].kind != TS_OBJ_ENUM_VALUE)
        return TS_OK;
    TS_TRY(fr_object(f, f->pack.objects[(*v)->as.object].z, room));
    *v = room;
    return TS_OK;
}

ts_status fr_find_key(fr *f, const fr_value *items, uint32_t n, const fr_value *key, uint32_t *at)
{
    bool equal = false;
    for (*at = 0; *at < n; *at += 1) {
        TS_TRY(fr_constants_equal(f, &items[2 * *at], key, &equal));
        if (equal)
            break;
    }
    return TS_OK;
}

/* ---- leaves -------------------------------------------------------------------------- */

/* The array behind a value whose leaves are an array's; NULL: the value has others. */
static fr_array *value_array(const fr_value *v)
{
    return v->kind == FR_ARRAY || v->kind == FR_RAW ? v->as.array : v->kind == FR_VIEW ? v->as.view->array : NULL;
}

static bool value_alike_arrays(const fr_array *a, const fr_array *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->index_dtype == b->index_dtype && a->align == b->align &&
           fr_same_element(a->element, b->element);
}

static bool value_alike_views(const fr_view *a, const fr_view *b)
{
    return a->padding == b->padding && fr_same_shape(&a->shape, &b->shape) && fr_same_shape(&a->tile, &b->tile) &&
           memcmp(a->step, b->step, a->tile.rank * sizeof *a->step) == 0;
}

static uint32_t value_flatten_array(const fr_array *a, fr_value *leaves)
{
    uint32_t n = 0;
    if (leaves)
        leaves[n] = fr_tile(TS_DTYPE_NONE, a->base);
    n++;
    for (uint32_t d = 0; d < a->rank; d++, n += 3)
        if (leaves) {
            leaves[n] = a->shape[d];
            leaves[n + 1] = a->stride[d];
            leaves[n + 2] = a->extent[d];
        }
    return n;
}

uint32_t fr_flatten(const fr_value *v, fr_value *leaves)
{
    uint32_t n = 0;
    if (v->kind == FR_NUMBER || v->kind == FR_TILE) {
        if (leaves)
            leaves[0] = *v;
        return 1;
    }
    if (value_array(v))
        return value_flatten_array(value_array(v), leaves);
    if (fr_closure_frame(v))
        return fr_closure_flatten(v, leaves);
    for (uint32_t i = 0; i < value_n_items(v); i++)
        n += fr_flatten(&v->as.items[i], leaves ? leaves + n : NULL);
    return n;
}

bool fr_same_skeleton(const fr *f, const fr_value *a, const fr_value *b)
{
    bool leaf_a = a->kind == FR_NUMBER || a->kind == FR_TILE,
         leaf_b = b->kind == FR_NUMBER || b->kind == FR_TILE;
    if (leaf_a && leaf_b)
        return true;
    if (value_array(a) && a->kind == b->kind)
        return value_alike_arrays(value_array(a), value_array(b)) &&
               (a->kind != FR_VIEW || value_alike_views(a->as.view, b->as.view));
    return value_alike(f, a, b, fr_same_skeleton) ||
           (a->kind == FR_FUNC && b->kind == FR_FUNC && fr_closures_alike(f, a, b));
}

/* *out is `old` where the leaves are its own. */
static ts_status value_rebuild_array(fr *f, fr_array *old, const fr_value **leaves, fr_array **out)
{
    fr_array same = *old, *a;
    same.base = (*leaves)++->as.v;
    for (uint32_t d = 0; d < old->rank; d++) {
        same.shape[d] = *(*leaves)++;
        same.stride[d] = *(*leaves)++;
        same.extent[d] = *(*leaves)++;
    }
    *out = old;
    if (memcmp(&same, old, sizeof same) == 0)
        return TS_OK;
    if (!(a = TS_NEW(f->arena, fr_array)))
        return fr_oom(f);
    *a = same;
    *out = a;
    return f->dialect->array ? f->dialect->array(f, a) : TS_OK;
}

static ts_status value_rebuild_view(fr *f, fr_view *old, const fr_value **leaves, fr_view **out)
{
    fr_array *array;
    *out = old;
    TS_TRY(value_rebuild_array(f, old->array, leaves, &array));
    if (array == old->array)
        return TS_OK;
    fr_view *view = TS_NEW(f->arena, fr_view);
    if (!view)
        return fr_oom(f);
    *view = *old;
    view->array = array;
    *out = view;
    return fr_tile_view(f, view);
}

ts_status fr_rebuild(fr *f, const fr_value *skeleton, const fr_value **leaves, fr_value *out)
{
    if (skeleton->kind == FR_NUMBER || skeleton->kind == FR_TILE) {
        *out = *(*leaves)++;
        return TS_OK;
    }
    if (value_array(skeleton)) {
        *out = *skeleton;
        return skeleton->kind == FR_VIEW ? value_rebuild_view(f, skeleton->as.view, leaves, &out->as.view)
                                         : value_rebuild_array(f, skeleton->as.array, leaves, &out->as.array);
    }
    if (fr_closure_frame(skeleton))
        return fr_closure_rebuild(f, skeleton, leaves, out);
    uint32_t n = value_n_items(skeleton);
    *out = *skeleton;
    if (!n)
        return TS_OK;
    fr_value *items = TS_NEW_N(f->arena, fr_value, n);
    if (!items)
        return fr_oom(f);
    for (uint32_t i = 0; i < n; i++)
        TS_TRY(fr_rebuild(f, &skeleton->as.items[i], leaves, &items[i]));
    out->as.items = items;
    return TS_OK;
}
