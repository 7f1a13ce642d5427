/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a pack (pack.h) that may come from anywhere: nothing is used before it has been checked.
 * Read next: lower.h.
 */
#include "lang/pack.h"
#include "tessera/compile.h"

static const struct {
    const char *name, *fields;
} pack_kinds[TS_AST_COUNT] = {
    {"none", ""},
#define TS_AST(kind, fields, names) {#kind, fields},
#include "lang/ast.def"
};

static const char *const pack_operator_names[TS_OPERATOR_COUNT] = {
    "?",
#define TS_AST_OPERATOR(name) #name,
#include "lang/ast.def"
};

const char *ts__ast_fields(uint32_t kind)
{
    return kind < TS_AST_COUNT ? pack_kinds[kind].fields : "";
}

const char *ts__ast_name(uint32_t kind)
{
    return kind < TS_AST_COUNT ? pack_kinds[kind].name : "?";
}

const char *ts__operator_name(uint32_t op)
{
    return op < TS_OPERATOR_COUNT ? pack_operator_names[op] : "?";
}

enum { PACK_HEAD = 8, PACK_NODE = 9, PACK_OBJECT = 4, PACK_FUNCTION = 9 };
_Static_assert(sizeof(ts_node) == PACK_NODE * 4 && sizeof(ts_object) == PACK_OBJECT * 4 &&
                   sizeof(ts_pack_function) == PACK_FUNCTION * 4,
               "sections are read in place");

static ts_status pack_bad(ts_error *err, const char *what, uint32_t at)
{
    return ts_fail(err, TS_PARSE, "packed function: %s %u is malformed", what, at);
}

static bool pack_is_list(const ts_pack *p, uint32_t list)
{
    return list < p->n_lists && p->lists[list] <= p->n_lists - list - 1;
}

/* Every item of `list` below `limit`; nodes and tuples must also be older than their user. */
static bool pack_items_below(const ts_pack *p, uint32_t list, uint32_t limit)
{
    uint32_t n;
    if (!pack_is_list(p, list))
        return false;
    const uint32_t *items = ts_pack_list(p, list, &n);
    for (uint32_t i = 0; i < n; i++)
        if (items[i] >= limit)
            return false;
    return true;
}

static bool pack_pairs_below(const ts_pack *p, uint32_t list, uint32_t first, uint32_t second)
{
    uint32_t n;
    if (!pack_is_list(p, list))
        return false;
    const uint32_t *items = ts_pack_list(p, list, &n);
    for (uint32_t i = 0; i + 1 < n; i += 2)
        if (items[i] >= first || items[i + 1] >= second)
            return false;
    return n % 2 == 0;
}

/* ---- nodes --------------------------------------------------------------------------- */

static bool pack_arguments(const ts_pack *p, uint32_t list, uint32_t node)
{
    uint32_t n;
    if (!pack_items_below(p, list, node))
        return false;
    const uint32_t *items = ts_pack_list(p, list, &n);
    for (uint32_t i = 0; i < n; i++)
        if (p->nodes[items[i]].kind != TS_AST_arg || p->nodes[items[i]].f[1] >= TS_PARAMETER_COUNT)
            return false;
    return true;
}

static bool pack_field(const ts_pack *p, char letter, uint32_t value, uint32_t node)
{
    switch (letter) {
    case 'n':
        return value < node;
    case 'l':
        return pack_items_below(p, value, node);
    case 'k':
        return pack_items_below(p, value, TS_OPERATOR_COUNT);
    case 's':
        return value < p->n_strings;
    case 'o':
        return value && value < p->n_objects;
    case 'e':
        return value < TS_OPERATOR_COUNT;
    case 'g':
        return pack_arguments(p, value, node);
    case 't':
        return pack_items_below(p, value, p->n_strings);
    default:
        return true;
    }
}

static bool pack_between(uint32_t op, ts_operator first, ts_operator last)
{
    return op >= (uint32_t)first && op <= (uint32_t)last;
}

/* Operators of the kind that the node takes. */
static bool pack_operators_fit(const ts_pack *p, const ts_node *node)
{
    uint32_t n;
    switch (node->kind) {
    case TS_AST_BinOp:
    case TS_AST_AugAssign:
        return pack_between(node->f[1], TS_OPERATOR_Add, TS_OPERATOR_BitAnd);
    case TS_AST_UnaryOp:
        return pack_between(node->f[0], TS_OPERATOR_UAdd, TS_OPERATOR_Not);
    case TS_AST_BoolOp:
        return pack_between(node->f[0], TS_OPERATOR_And, TS_OPERATOR_Or);
    case TS_AST_Compare: {
        const uint32_t *ops = ts_pack_list(p, node->f[1], &n);
        for (uint32_t i = 0; i < n; i++)
            if (!pack_between(ops[i], TS_OPERATOR_Eq, TS_OPERATOR_NotIn))
                return false;
        return true;
    }
    default:
        return true;
    }
}

/* Lists of some fields hold only one kind of node, and some nodes occur nowhere else. */
static bool pack_lists_hold(const ts_pack *p, const ts_node *node)
{
    uint32_t n, list = 0, kind = 0;
    if (node->kind == TS_AST_Call) {
        list = node->f[2];
        kind = TS_AST_keyword;
    } else if (node->kind == TS_AST_GeneratorExp) {
        list = node->f[1];
        kind = TS_AST_comprehension;
    } else if (node->kind == TS_AST_With) {
        list = node->f[0];
        kind = TS_AST_withitem;
    } else if (node->kind == TS_AST_Match) {
        list = node->f[1];
        kind = TS_AST_match_case;
    }
    const uint32_t *items = ts_pack_list(p, list, &n);
    for (uint32_t i = 0; i < n; i++)
        if (p->nodes[items[i]].kind != kind)
            return false;
    if (node->kind == TS_AST_Compare)
        return p->lists[node->f[1]] == p->lists[node->f[2]];
    if (node->kind == TS_AST_Dict)
        return p->lists[node->f[0]] == p->lists[node->f[1]];
    if (node->kind == TS_AST_MatchClass)
        return p->lists[node->f[2]] == p->lists[node->f[3]];
    return true;
}

/* 1 + the depth of the deepest child; `depth` holds it for all older nodes. A child is taken from
 * it (set to 0), so that a second parent finds none: packs are trees. 0 when there is such a child.
 */
static uint32_t pack_depth(const ts_pack *p, const ts_node *node, uint16_t *depth)
{
    uint32_t deepest = 0;
    const char *letters = ts__ast_fields(node->kind);
    for (uint32_t f = 0; letters[f]; f++) {
        uint32_t n = 1;
        const uint32_t *items = &node->f[f];
        if (letters[f] == 'l' || letters[f] == 'g')
            items = ts_pack_list(p, node->f[f], &n);
        else if (letters[f] != 'n' || !node->f[f])
            n = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (!depth[items[i]])
                return 0;
            deepest = TS_MAX(deepest, depth[items[i]]);
            depth[items[i]] = 0;
        }
    }
    return deepest + 1;
}

static ts_status pack_check_nodes(ts_arena *arena, const ts_pack *p, ts_error *err)
{
    uint16_t *depth = TS_NEW_N(arena, uint16_t, p->n_nodes);
    if (!depth)
        return ts_fail(err, TS_NOMEM, "out of memory while reading a packed function");
    static const ts_node absent = {0};
    if (memcmp(&p->nodes[0], &absent, sizeof absent) != 0)
        return pack_bad(err, "node", 0);
    for (uint32_t v = 1; v < p->n_nodes; v++) {
        const ts_node *node = &p->nodes[v];
        if (node->kind == TS_AST_none || node->kind >= TS_AST_COUNT)
            return pack_bad(err, "node", v);
        const char *letters = ts__ast_fields(node->kind);
        for (uint32_t f = 0; letters[f]; f++)
            if (!pack_field(p, letters[f], node->f[f], v))
                return pack_bad(err, "node", v);
        if (!pack_lists_hold(p, node) || !pack_operators_fit(p, node))
            return pack_bad(err, "node", v);
        uint32_t deep = pack_depth(p, node, depth);
        if (!deep)
            return pack_bad(err, "node", v);
        if (deep > TS_PACK_MAX_DEPTH)
            return ts_fail(err, TS_SYNTAX,
                           "line %u: expressions nest deeper than %d; use intermediate variables",
                           node->line, TS_PACK_MAX_DEPTH);
        depth[v] = (uint16_t)deep;
    }
    return TS_OK;
}

/* ---- objects and functions ----------------------------------------------------------- */

static bool pack_record(const ts_pack *p, uint32_t list)
{
    uint32_t n;
    if (!pack_is_list(p, list))
        return false;
    const uint32_t *words = ts_pack_list(p, list, &n);
    if (n < TS_RECORD_HEAD || (n - TS_RECORD_HEAD) % TS_RECORD_FIELD || words[1] >= p->n_strings)
        return false;
    for (uint32_t i = TS_RECORD_HEAD; i < n; i += TS_RECORD_FIELD)
        if (words[i] >= p->n_strings || words[i + 1] >= p->n_objects)
            return false;
    return true;
}

static bool pack_member(const ts_pack *p, uint32_t list)
{
    uint32_t n;
    if (!pack_is_list(p, list))
        return false;
    const uint32_t *words = ts_pack_list(p, list, &n);
    if (n != TS_ENUM_WORDS || words[TS_ENUM_CLASS] >= p->n_objects)
        return false;
    for (uint32_t i = 0; i < TS_ENUM_CLASS; i++)
        if (words[i] >= p->n_strings)
            return false;
    return true;
}

static bool pack_instance(const ts_pack *p, uint32_t at)
{
    const ts_object *o = &p->objects[at];
    uint32_t n_fields;
    if (o->x >= at || p->objects[o->x].kind != TS_OBJ_RECORD || !pack_items_below(p, o->y, at))
        return false;
    ts_pack_fields(p, o->x, &n_fields);
    return p->lists[o->y] == n_fields;
}

/* Extents of an array inside of others, which has less than 2 GiB. */
static bool pack_extents(const ts_pack *p, uint32_t list, uint64_t item, uint64_t *bytes)
{
    uint32_t n;
    if (!pack_is_list(p, list))
        return false;
    const uint32_t *extents = ts_pack_list(p, list, &n);
    *bytes = item;
    for (uint32_t i = 0; i < n && *bytes <= INT32_MAX; i++)
        *bytes *= extents[i];
    return n <= TS_ARRAY_RANK && *bytes <= INT32_MAX;
}

/* The bytes of an element that the object describes; 0: it does not describe one. */
static uint64_t pack_element(const ts_pack *p, uint32_t object)
{
    const ts_object *o = &p->objects[object];
    switch (o->kind) {
    case TS_OBJ_DTYPE:
        return ts_dtype_bytes(ts_dtype_find(ts_pack_string(p, o->x)));
    case TS_OBJ_CHARS:
        return (uint64_t)o->x * o->y;
    case TS_OBJ_RECORD: /* a date: an int64 in memory */
        return 8;
    default:
        return o->kind == TS_OBJ_STRUCT ? o->y : 0;
    }
}

static bool pack_struct(const ts_pack *p, uint32_t at)
{
    const ts_object *o = &p->objects[at];
    uint32_t n;
    uint64_t bytes;
    if (o->x >= p->n_strings || !o->y || o->y > INT32_MAX || !pack_is_list(p, o->z))
        return false;
    const uint32_t *words = ts_pack_list(p, o->z, &n);
    for (uint32_t i = 0; i < n; i += TS_STRUCT_FIELD) {
        uint32_t of = n - i < TS_STRUCT_FIELD ? UINT32_MAX : words[i + TS_STRUCT_OF];
        if (of >= at || words[i + TS_STRUCT_NAME] >= p->n_strings || !pack_element(p, of) ||
            !pack_extents(p, words[i + TS_STRUCT_SHAPE], pack_element(p, of), &bytes) ||
            words[i + TS_STRUCT_OFFSET] + bytes > o->y)
            return false;
    }
    return true;
}

static bool pack_elements(const ts_pack *p, uint32_t at)
{
    const ts_object *o = &p->objects[at];
    uint64_t bytes;
    return o->x < at && pack_element(p, o->x) && pack_extents(p, o->y, pack_element(p, o->x), &bytes) &&
           pack_is_list(p, o->z) && p->lists[o->z] == (bytes + 3) / 4;
}

static bool pack_object(const ts_pack *p, uint32_t at)
{
    const ts_object *o = &p->objects[at];
    switch (o->kind) {
    case TS_OBJ_BIGINT:
    case TS_OBJ_STR:
    case TS_OBJ_DTYPE:
    case TS_OBJ_OP:
    case TS_OBJ_BUILTIN:
    case TS_OBJ_BYTES:
        return o->x < p->n_strings;
    case TS_OBJ_OPAQUE:
        return o->x < p->n_strings && o->z < p->n_strings;
    case TS_OBJ_STRUCT:
        return pack_struct(p, at);
    case TS_OBJ_CHARS:
        return o->x && o->x <= INT32_MAX / 4 && (o->y == 1 || o->y == 4);
    case TS_OBJ_ELEMENTS:
        return pack_elements(p, at);
    case TS_OBJ_TUPLE:
        return pack_items_below(p, o->x, at);
    case TS_OBJ_ENUM:
    case TS_OBJ_ENUM_VALUE:
        return o->x < p->n_strings && o->z < p->n_objects && pack_member(p, o->y);
    case TS_OBJ_MODULE:
    case TS_OBJ_CLASS:
        return o->x < p->n_strings && pack_pairs_below(p, o->y, p->n_strings, p->n_objects);
    case TS_OBJ_FUNC:
        return o->x < p->n_functions;
    case TS_OBJ_COMPLEX:
        return o->x < at && o->y < at;
    case TS_OBJ_TYPED:
        return o->x < p->n_strings && o->y < at;
    case TS_OBJ_DICT:
        return pack_pairs_below(p, o->x, at, at);
    case TS_OBJ_RECORD:
        return o->x < p->n_strings && pack_pairs_below(p, o->y, p->n_strings, p->n_objects) && pack_record(p, o->z);
    case TS_OBJ_INSTANCE:
        return pack_instance(p, at);
    case TS_OBJ_METHOD:
        return o->x < p->n_objects && p->objects[o->x].kind != TS_OBJ_METHOD && o->y < TS_METHOD_COUNT;
    default:
        return o->kind < TS_OBJ_COUNT;
    }
}

static bool pack_function(const ts_pack *p, const ts_pack_function *f)
{
    uint32_t kind = f->root < p->n_nodes ? p->nodes[f->root].kind : 0;
    if (f->name >= p->n_strings || f->file >= p->n_strings || f->source >= p->n_strings)
        return false;
    if (f->dialect >= TS_DIALECT_COUNT || f->is_library > 1)
        return false;
    if (f->root == 0) /* its source was missing; the object that leads here says why */
        return true;
    if (kind != TS_AST_FunctionDef && kind != TS_AST_Lambda)
        return false;
    if (!pack_pairs_below(p, f->free, p->n_strings, p->n_objects) ||
        !pack_items_below(p, f->defaults, p->n_objects))
        return false;
    uint32_t args = p->nodes[f->root].f[kind == TS_AST_FunctionDef ? 1 : 0];
    return p->lists[f->defaults] <= p->lists[args];
}

static ts_status pack_check_rest(const ts_pack *p, ts_error *err)
{
    for (uint32_t i = 0; i < p->n_strings; i++)
        if (p->offsets[i] >= p->n_bytes)
            return pack_bad(err, "string", i);
    if (p->n_bytes == 0 || p->bytes[p->n_bytes - 1] != 0 || p->n_strings == 0 ||
        p->bytes[p->offsets[0]] != 0)
        return pack_bad(err, "string", 0);
    if (p->n_lists == 0 || p->lists[0] != 0 || p->n_nodes == 0 || p->n_objects == 0 ||
        p->objects[0].kind != 0)
        return pack_bad(err, "list", 0);
    for (uint32_t i = 1; i < p->n_objects; i++)
        if (!pack_object(p, i))
            return pack_bad(err, "object", i);
    return TS_OK;
}

static ts_status pack_check_functions(const ts_pack *p, ts_error *err)
{
    for (uint32_t i = 0; i < p->n_functions; i++)
        if (!pack_function(p, &p->functions[i]))
            return pack_bad(err, "function", i);
    if (p->n_functions == 0 || p->functions[0].root == 0)
        return ts_fail(err, TS_PARSE, "packed function: it holds no function");
    return TS_OK;
}

ts_status ts__pack_read(ts_arena *arena, const void *bytes, size_t n, ts_pack *out, ts_error *err)
{
    uint32_t head[PACK_HEAD];
    if (!bytes || n < sizeof head)
        return ts_fail(err, TS_PARSE, "packed function: %zu bytes are too few", n);
    memcpy(head, bytes, sizeof head);
    if (head[0] != TS_PACK_MAGIC || head[1] != TS_PACK_VERSION)
        return ts_fail(
            err, TS_PARSE,
            "packed function: version %u is not %d; the Python and C parts of tessera differ",
            head[1], TS_PACK_VERSION);
    uint64_t words = (uint64_t)PACK_HEAD + head[2] + (uint64_t)PACK_NODE * head[3] + head[4] +
                     (uint64_t)PACK_OBJECT * head[5] + (uint64_t)PACK_FUNCTION * head[6];
    if (words * 4 + head[7] != n)
        return ts_fail(err, TS_PARSE, "packed function: %zu bytes, its head promises %llu", n,
                       (unsigned long long)(words * 4 + head[7]));
    uint32_t *copy = ts__arena_get(arena, n);
    if (!copy)
        return ts_fail(err, TS_NOMEM, "out of memory while reading a packed function");
    memcpy(copy, bytes, n);
    *out = (ts_pack){.n_strings = head[2],
                     .n_nodes = head[3],
                     .n_lists = head[4],
                     .n_objects = head[5],
                     .n_functions = head[6],
                     .n_bytes = head[7]};
    out->offsets = copy + PACK_HEAD;
    out->nodes = (const ts_node *)(const void *)(out->offsets + out->n_strings);
    out->lists = (const uint32_t *)(const void *)(out->nodes + out->n_nodes);
    out->objects = (const ts_object *)(const void *)(out->lists + out->n_lists);
    out->functions = (const ts_pack_function *)(const void *)(out->objects + out->n_objects);
    out->bytes = (const char *)(out->functions + out->n_functions);
    TS_TRY(pack_check_rest(out, err));
    TS_TRY(pack_check_nodes(arena, out, err));
    return pack_check_functions(out, err);
}
