/* SPDX-License-Identifier: Apache-2.0
 *
 * x.name and x[index]: attributes of modules, tiles, arrays, views, dtypes and enums, methods (rows
 * of tile_op.def), and subscripts of tuples, tiles, lists. Part of the front end (lower.h).
 */
#include "lang/lower.h"

typedef struct attr_names {
    const fr *f;
    const fr_value *v;
} attr_names;

/* The i-th operation of a class of the language: "x" of threadIdx_x. */
static const char *attr_class_name(const attr_names *names, uint32_t i)
{
    const fr_dialect *dialect = names->f->dialect;
    const char *full = fr_string(names->f, names->f->pack.objects[names->v->as.object].x), *dot = strrchr(full, '.');
    size_t n = dot && strcmp(full, dialect->module) != 0 ? strlen(dot + 1) : 0; /* the language itself is no class */
    for (uint32_t row = 0; n && row < dialect->n_ops; row++) {
        const char *op = dialect->ops[row].name;
        if (strncmp(op, dot + 1, n) == 0 && op[n] == '_' && i-- == 0)
            return op + n + 1;
    }
    return NULL;
}

static const char *attr_name(const void *user, uint32_t i)
{
    const attr_names *names = user;
    if (names->v->kind == FR_MODULE || names->v->cls) {
        uint32_t n, n_fields = 0, object = names->v->cls ? names->v->cls : names->v->as.object;
        const ts_pack *pack = &names->f->pack;
        const uint32_t *fields = names->v->cls ? ts_pack_fields(pack, object, &n_fields) : NULL,
                       *pairs = ts_pack_list(pack, pack->objects[object].y, &n);
        if (i < n_fields)
            return ts_pack_string(pack, fields[TS_RECORD_FIELD * i]);
        i -= n_fields;
        if (2 * i < n)
            return ts_pack_string(pack, pairs[2 * i]);
        return names->v->cls ? NULL : attr_class_name(names, i - n / 2);
    }
    uint32_t n_members = 0;
    for (const char *const *members = names->f->dialect->members; members[n_members]; n_members++)
        if (n_members == i)
            return members[i];
    for (uint32_t m = 0, seen = n_members; m < names->f->dialect->n_methods; m++)
        if (names->f->dialect->methods[m].kind == names->v->kind && seen++ == i)
            return names->f->dialect->methods[m].name;
    return NULL;
}

/* Whether arrays of the language have the attribute or method. */
static bool attr_is_of_arrays(const fr *f, const char *name)
{
    bool found = false;
    for (const char *const *member = f->dialect->members; *member; member++)
        found |= strcmp(*member, name) == 0;
    for (uint32_t m = 0; m < f->dialect->n_methods; m++)
        found |= f->dialect->methods[m].kind == FR_ARRAY && strcmp(f->dialect->methods[m].name, name) == 0;
    return found;
}

/* What a class of the language has, where that is little. */
static const char *attr_list(fr *f, const attr_names *names)
{
    const char *text = "", *name;
    for (uint32_t i = 0; (name = attr_class_name(names, i)) != NULL; i++)
        text = i > 8 ? "" : fr_textf(f, "%s%s%s", text, i ? ", " : "\n  help: it has ", name);
    return text;
}

static const char *attr_help(fr *f, const fr_value *v, const char *name, const char *near)
{
    bool is_module = v->kind == FR_MODULE;
    const char *full = is_module ? fr_textf(f, "%s.%s", fr_string(f, f->pack.objects[v->as.object].x), name) : NULL;
    const char *help = fr_hint(f, is_module ? FR_HINT_CALL : FR_HINT_MEMBER, name);
    bool is_number = v->kind == FR_NONE || v->kind == FR_NUMBER || v->kind == FR_TILE;
    if (!*help && is_module)
        help = fr_hint(f, FR_HINT_CALL, full);
    if (!*help && v->kind == FR_OPAQUE)
        help = fr_opaque_help(f, v);
    if (!*help && is_number && attr_is_of_arrays(f, name))
        help = fr_textf(f, "\n  help: arrays have .%s; pass an array", name);
    if (!*help && v->kind == FR_TUPLE && v->n && attr_is_of_arrays(f, name))
        help = fr_textf(f, "\n  help: %s", f->dialect->tuples);
    if (!*help && is_module && !near)
        help = attr_list(f, &(attr_names){f, v});
    return *help ? help : fr_did_you_mean(f, near);
}

static ts_status attr_unknown(fr *f, uint32_t node, const fr_value *v, const char *name)
{
    attr_names names = {f, v};
    const char *near = ts__nearest(name, attr_name, &names), *op = fr_op_called(f, name);
    if (!near && v->kind == FR_MODULE)
        near = fr_op_nearest(f, name);
    if (!near && v->kind == FR_TILE && op)
        near = fr_textf(f, "ct.%s(tile)", op);
    return fr_error(f, node, TS_TILETYPE, "%s has no attribute '%s'%s", fr_say(f, v), name,
                    attr_help(f, v, name, near));
}

/* ---- attributes ---------------------------------------------------------------------- */

uint32_t fr_class_op(fr *f, const fr_value *cls, const char *name)
{
    const ts_object *o = &f->pack.objects[cls->as.object];
    const char *full = fr_string(f, o->x), *dot = strrchr(full, '.'), *module = f->dialect->module;
    size_t n = strlen(module);
    bool ours = o->kind == TS_OBJ_MODULE && dot && dot == full + n && strncmp(full, module, n) == 0;
    return ours ? fr_op_find(f, fr_textf(f, "%s_%s", dot + 1, name)) : f->dialect->n_ops;
}

ts_status fr_op_value(fr *f, uint32_t row, fr_value *out)
{
    const fr_op *op = &f->dialect->ops[row];
    *out = (fr_value){.kind = FR_OP, .n = row};
    return op->signature ? TS_OK : op->lower(f, &(fr_call){.op = op, .node = f->node}, out);
}

static ts_status attr_module(fr *f, uint32_t node, const fr_value *v, const char *name,
                             fr_value *out)
{
    uint32_t n;
    const ts_object *o = &f->pack.objects[v->as.object];
    const uint32_t *pairs = ts_pack_list(&f->pack, o->y, &n);
    for (uint32_t i = 0; i < n; i += 2)
        if (strcmp(fr_string(f, pairs[i]), name) == 0)
            return fr_record_of_class(f, v, pairs[i + 1], out);
    if (fr_class_op(f, v, name) < f->dialect->n_ops)
        return fr_op_value(f, fr_class_op(f, v, name), out);
    if (o->kind != TS_OBJ_MODULE && strcmp(name, "__name__") == 0) {
        *out = fr_text(fr_string(f, o->x));
        return TS_OK;
    }
    return attr_unknown(f, node, v, name);
}

static ts_status attr_shape_tuple(fr *f, const fr_shape *shape, fr_value *out)
{
    fr_value dims[TS_MAX_RANK];
    for (uint32_t i = 0; i < shape->rank; i++)
        dims[i] = fr_number(shape->dims[i]);
    return fr_tuple(f, shape->rank, dims, out);
}

/* 1 when `name` was one of these. */
static ts_status attr_tile(fr *f, const fr_value *v, const char *name, fr_value *out, bool *found)
{
    fr_shape shape = fr_shape_of(f, v);
    *found = true;
    if (strcmp(name, "dtype") == 0)
        *out = fr_dtype_value((ts_dtype)v->dtype);
    else if (strcmp(name, "ndim") == 0)
        *out = fr_number(shape.rank);
    else if (strcmp(name, "shape") == 0)
        return attr_shape_tuple(f, &shape, out);
    else if (strcmp(name, "T") == 0 && shape.rank == 2)
        *out = fr_tile((ts_dtype)v->dtype, ts_permute(&f->b, v->as.v, (uint32_t[]){1, 0}));
    else
        *found = false;
    return TS_OK;
}

static ts_status attr_view(fr *f, const fr_view *view, const char *name, fr_value *out, bool *found)
{
    *found = true;
    fr_shape steps = {.rank = view->tile.rank};
    memcpy(steps.dims, view->step, sizeof steps.dims);
    if (strcmp(name, "dtype") == 0)
        *out = fr_dtype_value((ts_dtype)view->array->dtype);
    else if (strcmp(name, "tile_shape") == 0)
        return attr_shape_tuple(f, &view->shape, out);
    else if (strcmp(name, "traversal_steps") == 0)
        return attr_shape_tuple(f, &steps, out);
    else
        *found = false;
    return TS_OK;
}

static ts_status attr_small(fr *f, const fr_value *v, const char *name, fr_value *out, bool *found)
{
    *found = true;
    if (v->kind == FR_DTYPE && strcmp(name, "name") == 0)
        *out = fr_text(ts_dtype_name((ts_dtype)v->dtype));
    else if (v->kind == FR_DTYPE && strcmp(name, "bitwidth") == 0)
        *out = fr_number(fr_dtype_bits((ts_dtype)v->dtype));
    else if (v->kind == FR_DTYPE && f->dialect->level == TS_LEVEL_S && strcmp(name, "itemsize") == 0)
        *out = fr_number((fr_int)ts_dtype_bytes((ts_dtype)v->dtype));
    else if (v->kind == FR_DTYPE && f->dialect->level == TS_LEVEL_S && strcmp(name, "kind") == 0)
        *out = fr_text(fr_textf(f, "%c", ts_dtype_get((ts_dtype)v->dtype)->kind));
    else if (v->kind == FR_DTYPE && f->dialect->level == TS_LEVEL_S && strcmp(name, "type") == 0)
        *out = *v; /* NumPy's scalar type: called, it converts as the dtype does */
    else if (v->kind == FR_RAW && strcmp(name, "dtype") == 0)
        *out = fr_dtype_value((ts_dtype)v->as.array->dtype);
    else if (v->kind == FR_ENUM && strcmp(name, "name") == 0)
        *out = fr_text(fr_string(f, ts_pack_member(&f->pack, v->as.object, TS_ENUM_NAME)));
    else if (v->kind == FR_ENUM && strcmp(name, "value") == 0)
        return fr_object(f, f->pack.objects[v->as.object].z, out);
    else if (v->kind == FR_FUNC && strcmp(name, "__name__") == 0)
        *out = fr_text(v->as.function->name);
    else if (v->kind == FR_NUMBER && strcmp(name, "shape") == 0)
        return fr_tuple(f, 0, NULL, out);
    else if (v->kind == FR_NUMBER && strcmp(name, "ndim") == 0)
        *out = fr_number(0);
    else if (v->kind == FR_NUMBER && strcmp(name, "dtype") == 0) {
        ts_dtype dtype;
        TS_TRY(fr_default_dtype(f, v, &dtype));
        *out = fr_dtype_value(dtype);
    } else {
        *found = false;
    }
    return TS_OK;
}

static ts_status attr_method(fr *f, const fr_value *v, const char *name, fr_value *out, bool *found)
{
    const char *builtin = v->kind == FR_DICT  ? fr_textf(f, "dict.%s", name)
                          : v->kind == FR_STR ? fr_textf(f, "str.%s", name)
                                              : "";
    *found = fr_has_builtin(builtin);
    if (*found)
        return fr_bind(f, &(fr_value){.kind = FR_BUILTIN, .as.text = builtin}, v, out);
    fr_kind kind = v->kind == FR_NUMBER ? FR_TILE : (fr_kind)v->kind;
    for (uint32_t i = 0; i < f->dialect->n_methods; i++) {
        const fr_method *method = &f->dialect->methods[i];
        if (method->kind != kind || strcmp(method->name, name) != 0)
            continue;
        fr_value *self = TS_NEW(f->arena, fr_value);
        if (!self)
            return fr_oom(f);
        *self = *v;
        *out = (fr_value){.kind = FR_METHOD, .n = fr_op_find(f, method->op), .as.items = self};
        *found = true;
        return TS_OK;
    }
    *found = false;
    return TS_OK;
}

ts_status fr_attribute_of(fr *f, uint32_t node, const fr_value *v, const char *name, fr_value *out)
{
    bool found = false;
    if (v->kind == FR_MODULE)
        return attr_module(f, node, v, name, out);
    if (f->dialect->number_attribute && (v->kind == FR_TILE || v->kind == FR_NUMBER))
        TS_TRY(f->dialect->number_attribute(f, v, name, out, &found));
    if (found)
        return TS_OK;
    if (v->cls)
        TS_TRY(fr_record_attribute(f, node, v, name, out, &found));
    else if (v->kind == FR_TILE)
        TS_TRY(attr_tile(f, v, name, out, &found));
    else if (v->kind == FR_ARRAY)
        TS_TRY(f->dialect->array_attribute(f, v, name, out, &found));
    else if (v->kind == FR_VIEW)
        TS_TRY(attr_view(f, v->as.view, name, out, &found));
    else
        TS_TRY(attr_small(f, v, name, out, &found));
    if (!found)
        TS_TRY(attr_method(f, v, name, out, &found));
    if (!found && v->kind == FR_TUPLE && !v->cls && f->dialect->array_of) { /* an array of the host */
        fr_value *array = TS_NEW(f->arena, fr_value);
        if (!array)
            return fr_oom(f);
        TS_TRY(f->dialect->array_of(f, v, array, &found));
        return found ? fr_attribute_of(f, node, array, name, out) : attr_unknown(f, node, v, name);
    }
    return found ? TS_OK : attr_unknown(f, node, v, name);
}

ts_status fr_attribute(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value v;
    TS_TRY(fr_expr(f, n->f[0], &v));
    fr_at(f, node);
    return fr_attribute_of(f, node, &v, fr_string(f, n->f[1]), out);
}

/* ---- subscripts ---------------------------------------------------------------------- */

static ts_status attr_slice_tuple(fr *f, const fr_value *tuple, const fr_value *slice, fr_value *out)
{
    int64_t start, step, count;
    TS_TRY(fr_slice_range(f, slice, tuple->n, &start, &step, &count));
    fr_value *items = TS_NEW_N(f->arena, fr_value, tuple->n + 1);
    if (!items)
        return fr_oom(f);
    for (int64_t i = 0; i < count; i++)
        items[i] = tuple->as.items[start + i * step];
    return fr_tuple(f, (uint32_t)count, items, out);
}

ts_status fr_index_tuple(fr *f, const fr_value *tuple, const fr_value *index, fr_value *out)
{
    int64_t i;
    if (index->kind == FR_SLICE)
        return attr_slice_tuple(f, tuple, index, out);
    if (!fr_is_int(index, &i) && f->dialect->index_tuple)
        return f->dialect->index_tuple(f, f->node, tuple, index, out);
    if (!fr_is_int(index, &i))
        return fr_error(f, 0, TS_TILETYPE,
                        "the index of a tuple must be an integer known at compile time, found %s\n  help: %s",
                        fr_say(f, index), f->dialect->tuples);
    if (i < -(int64_t)tuple->n || i >= (int64_t)tuple->n)
        return fr_error(f, 0, TS_TILETYPE, "index %lld is out of range for a tuple of %u items",
                        (long long)i, tuple->n);
    *out = tuple->as.items[i < 0 ? i + tuple->n : i];
    return TS_OK;
}

static ts_status attr_index_dict(fr *f, const fr_value *dict, const fr_value *key, fr_value *out)
{
    uint32_t at;
    TS_TRY(fr_find_key(f, dict->as.items, dict->n, key, &at));
    if (at == dict->n)
        return fr_error(f, 0, TS_TILETYPE, "the dict has no key %s", fr_say(f, key));
    *out = dict->as.items[2 * at + 1];
    return TS_OK;
}

static ts_status attr_index_record(fr *f, uint32_t node, const fr_value *v, const fr_value *index, fr_value *out)
{
    bool found;
    fr_value method;
    TS_TRY(fr_record_method(f, v, "__getitem__", &method, &found));
    if (!found)
        return fr_error(f, node, TS_TILETYPE, "%s has no items\n  help: give its class a method __getitem__",
                        fr_say(f, v));
    return fr_call_value(f, &method, node, 1, index, out);
}

static ts_status attr_index_tile(fr *f, const fr_value *tile, const fr_value *index, fr_value *out)
{
    const fr_value *s = index->kind == FR_SLICE ? index->as.items : NULL;
    if (index->kind == FR_ELLIPSIS || (s && s[0].kind == FR_NONE && s[1].kind == FR_NONE && s[2].kind == FR_NONE))
        return fr_error(f, 0, TS_TILETYPE,
                        "a tile indexed with %s alone is the tile itself\n  help: leave the index out; "
                        "t[:, None] adds an axis, t[0:4] takes a part", fr_say(f, index));
    return fr_index_tile(f, tile, index, out);
}

static ts_status attr_no_items(fr *f, uint32_t node, const fr_value *v)
{
    const char *help = v->kind == FR_OPAQUE ? fr_opaque_help(f, v)
                       : v->kind == FR_NONE ? "\n  help: an array or a tuple has items; pass one"
                       : v->kind == FR_FUNC ? "\n  help: kernels launch no kernels; call the function: f(...)" : "";
    return fr_error(f, node, TS_TILETYPE, "%s has no items%s", fr_say(f, v), help);
}

ts_status fr_item(fr *f, uint32_t node, const fr_value *v, const fr_value *index, fr_value *out)
{
    fr_value tile;
    switch (v->kind) {
    case FR_RECORD:
        return attr_index_record(f, node, v, index, out);
    case FR_TUPLE:
    case FR_ITER:
        return fr_index_tuple(f, v, index, out);
    case FR_TILE:
    case FR_NUMBER:
        TS_TRY(fr_as_tile(f, v, &tile));
        return attr_index_tile(f, &tile, index, out);
    case FR_LIST:
        return fr_list_item(f, v->as.list, index, out);
    case FR_DICT:
        return attr_index_dict(f, v, index, out);
    case FR_ARRAY:
        return f->dialect->get_item(f, node, v, index, out);
    case FR_MODULE: /* Color["red"] */
        if (f->pack.objects[v->as.object].kind == TS_OBJ_CLASS && index->kind == FR_STR)
            return attr_module(f, node, v, index->as.text, out);
        return attr_no_items(f, node, v);
    default:
        return attr_no_items(f, node, v);
    }
}

ts_status fr_subscript(fr *f, uint32_t node, fr_value *out)
{
    const ts_node *n = ts_pack_node(&f->pack, node);
    fr_value v, index, room;
    const fr_value *value = &index;
    TS_TRY(fr_expr(f, n->f[0], &v));
    TS_TRY(fr_expr(f, n->f[1], &index));
    fr_at(f, node);
    if (v.kind != FR_DICT && v.kind != FR_RECORD)
        TS_TRY(fr_member_value(f, &value, &room));
    index = *value;
    return fr_item(f, node, &v, &index, out);
}
